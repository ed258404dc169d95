# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # of guest and lib.sh
# Pods of containerd through CRI: by CDI device, by a rule for the kubelet's cgroups, by annotation with the plugin of NRI, and what
# a pod could try.
besteffort=/kubepods.slice/kubepods-besteffort.slice

pods_by_device() {
	rules container-max=high
	check "$runtime: a pod starts" up plain
	check "$runtime: ... in the cgroup that the kubelet gives it" \
		grep -q "^0::$besteffort/kubepods-besteffort-pod[0-9a-f_]*.slice/cri-containerd-${container_of[plain]-}.scope" \
		"/proc/${pid_of[plain]-}/cgroup"
	check "$runtime: ... without a device of kfdprio it has no priority" pod_has plain unset
	check "$runtime: the CDI device kfdprio.org/priority=low: a pod starts" up low --cdi kfdprio.org/priority=low
	check "$runtime: ... its first process has it" pod_has low 0
	execs low by-exec
	check "$runtime: ... and a process of ExecSync has none" pid_has "$child" unset
	check "$runtime: the CDI device kfdprio.org/priority=high: a pod starts" up high --cdi kfdprio.org/priority=high
	check "$runtime: ... its first process has it" pod_has high 11
	rules container-max=normal
	mark
	check "$runtime: the same with container-max=normal: the pod starts" up refused --cdi kfdprio.org/priority=high
	check "$runtime: ... has no priority" pod_has refused unset
	check "$runtime: ... and the journal has the reason, in one line" said_once "above this host's limit for containers, 7 (normal)"
	rules container-max=high "cgroup=$besteffort priority=3" 'cgroup=/kubepods.slice/kubepods-burstable.slice priority=5'
	systemctl start kfdpriod
	check "$runtime: a rule for the kubelet's cgroup: the pod without a device has its priority" wait_for pod_has plain 3
	check "$runtime: ... so has the one with a device" wait_for pod_has high 3
	check "$runtime: ... and the process of ExecSync" wait_for pid_has "$child" 3
	execs high later-exec
	check "$runtime: ... and one that starts later" wait_for pid_has "$child" 3
	check "$runtime: a pod of another class starts" up burstable --class burstable
	check "$runtime: ... and has the priority of the rule for that class" wait_for pod_has burstable 5
	systemctl stop kfdpriod
	down plain low high refused burstable
}

pods_by_annotation() {
	rules container-max=high
	check "$runtime: the annotation low: a pod starts" up low --annotation org.kfdprio.priority=low
	check "$runtime: ... its first process has it" pod_has low 0
	check "$runtime: the annotation high: a pod starts" up high --annotation org.kfdprio.priority=high
	check "$runtime: ... its first process has it" pod_has high 11
	check "$runtime: a pod without the annotation starts" up plain
	check "$runtime: ... and has no priority" pod_has plain unset
	down low high plain
	mark
	check "$runtime: a hostile annotation: the pod starts" \
		up hostile --annotation $'org.kfdprio.priority=high\n\e[2Jkfdprio: oci-hook: container 0: process 1: priority 15'
	check "$runtime: ... has no priority" pod_has hostile unset
	check "$runtime: ... and is one line in the journal" said_once "not 'high.x0a.x1b.2Jkfdprio: oci-hook: container 0: process 1: priority 15'"
	down hostile
	# In the PID namespace of the host, the pod sees the processes of others.  Raising them needs CAP_SYS_NICE.
	up victim --annotation org.kfdprio.priority=low
	check "$runtime: a pod with hostPID starts" up host --host-pid --annotation org.kfdprio.priority=low
	check "$runtime: ... it is in the PID namespace of the host" [ "$(readlink "/proc/${pid_of[host]-}/ns/pid")" = "$(readlink /proc/self/ns/pid)" ]
	check "$runtime: ... its annotation is that of its own process" pod_has host 0
	check "$runtime: ... and no other one's" pod_has victim 0
	down victim host
}

pods_with_shares() {
	rules annotation-gpu-time=50% annotation-weight=100
	check "$runtime: the annotations max and weight: a pod starts" \
		up limited --annotation org.kfdprio.max=30% --annotation org.kfdprio.weight=50
	check "$runtime: ... its first process has both" share_is "${pid_of[limited]-}" "30 50"
	execs limited by-exec
	check "$runtime: ... so has a process of ExecSync" share_is "$child" "30 50"
	check "$runtime: ... its cgroup alone has a group, that of the pod has none" [ "$(kfdprio --groups --noheadings | wc -l)" = 1 ]
	mark
	check "$runtime: a limit above annotation-gpu-time=: the pod starts" up above --annotation org.kfdprio.max=60%
	check "$runtime: ... has no limit" share_is "${pid_of[above]-}" "null null"
	check "$runtime: ... and the journal has the reason, in one line" said_once "60% is above this host's limit for annotations, 50%"
	kfdprio --max 10% --cgroup $besteffort
	check "$runtime: the class of service has a limit: it holds for a pod without annotations" share_is "${pid_of[above]-}" "10 null"
	mark
	check "$runtime: ... a pod with a higher limit in its annotation starts" up inner --annotation org.kfdprio.max=30%
	check "$runtime: ... it has the limit of the class" share_is "${pid_of[inner]-}" "10 null"
	check "$runtime: ... and the journal has the reason, in one line" said_once "holds, which is that of the cgroup '/kubepods.slice/kubepods-besteffort.slice'"
	kfdprio --max none --cgroup $besteffort
	rules "cgroup=$besteffort max=20%" annotation-gpu-time=50%
	systemctl start kfdpriod
	check "$runtime: a rule for the class that is written later holds for the pod with annotations" wait_for share_is "${pid_of[limited]-}" "20 null"
	systemctl stop kfdpriod
	kfdprio --max none --cgroup $besteffort
	down limited above inner
	check "$runtime: no group is left" wait_for no_group
}

# requests NAME: of an online pod, 20 a second; the report of kfdload is in $tmp/NAME
requests() {
	pod "requests-$1" --annotation org.kfdprio.priority=high -- /bin/kfdload --json --secs 15 --rate 20 --dispatch-ns 3000000 ||
		return
	tail -f --pid="${pid_of[requests-$1]}" /dev/null
	in13 cat "/tmp/requests-$1.log" >"$tmp/$1"
	down "requests-$1"
	[ -n "$(json "$tmp/$1" p99)" ]
}

preempted() { kfdprio -l --json | grep "\"pid\":${pid_of[offline]-}," | grep -q '"preempted_count":[1-9]'; }

check "containerd starts, without NRI" containerd_begin off
check "the image is imported" image_import
note "$(cri version)"
for runtime in runc crun; do pods_by_device; done
runtime=runc
check "the annotation without NRI: a pod starts" up ignored --annotation org.kfdprio.priority=low
check "... and has no priority" pod_has ignored unset
down ignored
containerd_end

check "containerd starts, with NRI and kfdprio-nri-hooks" containerd_begin on
for runtime in runc crun; do
	pods_by_annotation
	pods_with_shares
done

# Work on the GPU
runtime=runc
rules container-max=high
pod offline --annotation org.kfdprio.priority=low -- /bin/kfdload --secs 3000 --dispatch-ns 25000000 --queues 3
pod online --annotation org.kfdprio.priority=high -- /bin/kfdload --secs 3000 --rate 20 --dispatch-ns 3000000
check "a pod with the annotation low is preempted for one with high" wait_for preempted
down online
check "requests of an online pod beside it, with kfd_preempt=1" requests preempting
echo 0 >/sys/module/amdgpu/parameters/kfd_preempt
check "... with kfd_preempt=0" requests waiting
echo 1 >/sys/module/amdgpu/parameters/kfd_preempt
down offline
check "... without the offline pod" requests lone
note "P99 of the requests, simulated: $(json "$tmp/lone" p99) us alone, $(json "$tmp/preempting" p99) us with preemption," \
	"$(json "$tmp/waiting" p99) us without"
check "the annotations alone shorten the requests' P99" \
	at_most "$(json "$tmp/preempting" p99)" "$(json "$tmp/waiting" p99 | awk '{ print $1 / 2 }')"
check "no pod is left" [ "$(cri count)" = "0 pods 0 containers" ]
containerd_end
