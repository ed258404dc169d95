# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # of guest and lib.sh
# Containers of podman 5: by annotation, by CDI device, and shares of GPU time by annotation.  More of podman, of Debian 12:
# tests/services/containers.sh.
podman() { in13 podman --runtime "$runtime" "$@"; }
runs() { # NAME OPTION...
	local name=$1
	shift
	podman run -d --name "$name" --network none --device /dev/kfd --device /dev/dri/renderD128 "$@" \
		--rootfs /run/rootfs /bin/sh -c "$opens" &&
		pid_of[$name]=$(podman inspect -f '{{.State.Pid}}' "$name") && wait_for kfd_open "${pid_of[$name]-}"
}
removes() { podman rm -f -t 0 "$@" >/dev/null; }

cp -a "$out/rootfs" /run/rootfs
in13 sh -c 'mkdir -p /etc/containers; printf "[containers]\nseccomp_profile = \"unconfined\"\n[engine]\nevents_logger = \"file\"\n" >/etc/containers/containers.conf
printf "[storage]\ndriver = \"vfs\"\nrunroot = \"/run/containers/storage\"\ngraphroot = \"/var/lib/containers/storage\"\n" >/etc/containers/storage.conf
[ -e /etc/containers/policy.json ] || echo "{\"default\":[{\"type\":\"insecureAcceptAnything\"}]}" >/etc/containers/policy.json'
runtime=crun
note "$(podman --version)"
for runtime in crun runc; do
	rules container-max=high
	check "podman, $runtime: the annotation low: a container starts" runs low --annotation org.kfdprio.priority=low
	check "podman, $runtime: ... its first process has it" pod_has low 0
	check "podman, $runtime: the CDI device kfdprio.org/priority=high: a container starts" runs high --device kfdprio.org/priority=high
	check "podman, $runtime: ... its first process has it" pod_has high 11
	removes low high
	rules annotation-gpu-time=50%
	check "podman, $runtime: the annotation max: a container starts" runs limited --annotation org.kfdprio.max=30%
	check "podman, $runtime: ... its first process has the limit" share_is "${pid_of[limited]-}" "30 null"
	podman exec -d limited sh -c ": by-exec; $opens" >/dev/null
	wait_for pgrep -f '^sh -c : by-exec'
	check "podman, $runtime: ... so has a process of podman exec" wait_for share_is "$(pgrep -f '^sh -c : by-exec')" "30 null"
	removes limited
	check "podman, $runtime: no group is left" wait_for no_group
done
# runc cannot do that
runtime=crun
mark
check "podman, crun: --cgroups=disabled with the annotation: the container starts" \
	runs open --cgroups=disabled --annotation org.kfdprio.max=30%
check "podman, crun: ... has no limit" share_is "${pid_of[open]-}" "null null"
check "podman, crun: ... and the journal has the reason, in one line" said_once "the container has no cgroup of its own"
removes open
