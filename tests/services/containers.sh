# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # of guest and lib.sh
# Containers of podman with crun and runc: by annotation, by CDI, by a rule for the cgroup, podman exec, rootless.
# Inside are a shell and kfdload, and of the host /dev/kfd and the render node.
install_kfdprio
rootfs=/run/rootfs
mkdir -p $rootfs/{bin,etc,dev,proc,sys,run,tmp,var/tmp,lib64,lib} /etc/containers /etc/cdi
cp /bin/busybox $rootfs/bin/
for name in sh sleep ls cat; do ln -s busybox $rootfs/bin/$name; done
cp "$load" $rootfs/bin/kfdload
ldd "$load" | grep -o '/[^ ]*' | while read -r file; do
	mkdir -p "$rootfs${file%/*}"
	cp -L "$file" "$rootfs$file"
done
chmod 666 /dev/dri/renderD*
printf '[storage]\ndriver = "vfs"\nrunroot = "/run/containers/storage"\ngraphroot = "/run/containers/graph"\n' >/etc/containers/storage.conf
printf '[containers]\nseccomp_profile = "unconfined"\n[engine]\nevents_logger = "file"\n' >/etc/containers/containers.conf
[ -e /etc/containers/policy.json ] || echo '{"default":[{"type":"insecureAcceptAnything"}]}' >/etc/containers/policy.json
ln -s /usr/share/kfdprio/cdi/kfdprio.yaml /etc/cdi/
# the managers of cgroups talk to systemd over it; see boot_systemd of tests/vm/guest
rm -f /run/systemd/system/dbus.*
systemctl daemon-reload
systemctl start dbus

opens='exec 3<>/dev/kfd; while :; do sleep 1000; done'
# up NAME OPTION...: a container that has KFD open; prints what podman writes
up() {
	local name=$1
	shift
	"${podman[@]}" run -d --name "$name" --network none --device /dev/kfd --device /dev/dri/renderD128 "$@" \
		--rootfs $rootfs /bin/sh -c "$opens"
}
down() { "${podman[@]}" rm -f -t 0 "$@" >/dev/null; }
init_of() { "${podman[@]}" inspect -f '{{.State.Pid}}' "$1"; }
pid_has() { # PID PRIORITY
	local is
	is=$(kfdprio -p "$1" | sed -n 's/^PID [0-9]*: priority \([0-9a-z]*\).*/\1/p')
	[ "$is" = "$2" ] || { echo "process $1 has '$is', not '$2'"; return 1; }
}
# inside NAME PRIORITY: the first process of a container, and its child
inside() {
	local pid kid
	pid=$(init_of "$1") || return
	pid_has "$pid" "$2" || return
	kid=$(wait_for pgrep -P "$pid" && pgrep -P "$pid")
	pid_has "$kid" "$2"
}
# Lines of the hook in the journal since the last mark.  No cursor: with a filter, journalctl 252 leaves out the first after it.
mark() { seen=$(journalctl -q -t kfdprio -o cat --no-pager | wc -l); }
hook_lines() { journalctl -q -t kfdprio -o cat --no-pager | tail -n +$((seen + 1)); }
# said_once PATTERN: that, and nothing else
said_once() {
	local i
	# shellcheck disable=SC2034 # counted only
	for i in {1..10}; do
		! hook_lines | grep -q . || break
		sleep 0.2
	done
	hook_lines
	hook_lines | grep -qe "$1" && [ "$(hook_lines | wc -l)" = 1 ]
}

container_tests() { # RUNTIME
	local rt=$1 pid
	podman=(podman --runtime "$1")
	rm -f /etc/kfdprio.conf.d/*
	mark
	check "$rt: a container starts" up plain
	check "$rt: ... with /dev/kfd and the render node, and no other device of a GPU" \
		[ "$("${podman[@]}" exec plain sh -c 'ls /dev /dev/dri' | grep -E '^(kfd|card.*|renderD.*)$' | paste -sd ' ')" = "kfd renderD128" ]
	check "$rt: ... without an annotation it has no priority" inside plain unset
	check "$rt: ... and the hook was not called" [ -z "$(hook_lines)" ]
	up low --annotation org.kfdprio.priority=low >/dev/null
	check "$rt: the annotation low" inside low 0
	check "$rt: ... is set by a rule" sh -c 'kfdprio rules explain "$0" | grep -q "^it was set by a rule"' "$(init_of low)"
	mark
	check "$rt: the annotation high, without container-max=: the container starts" up refused --annotation org.kfdprio.priority=high
	check "$rt: ... has no priority" inside refused unset
	check "$rt: ... and the journal says why, in one line" said_once "above this host's limit for containers, 7 (normal)"
	down refused low plain

	rules container-max=high
	up high --annotation org.kfdprio.priority=high >/dev/null
	check "$rt: with container-max=high it is given, and a child inherits it" inside high 11
	up device --device kfdprio.org/priority=high >/dev/null
	check "$rt: the CDI device kfdprio.org/priority=high" inside device 11
	up both --device kfdprio.org/priority=high --annotation org.kfdprio.priority=low >/dev/null
	check "$rt: CDI device and annotation: the lower one" inside both 0
	down device both
	mark
	# in quotes: podman takes the option as a line of CSV, which would end at the line feed
	check "$rt: a hostile annotation: the container starts" \
		up hostile --annotation $'"org.kfdprio.priority=high\n\e[2Jkfdprio: oci-hook: container 0: process 1: priority 15"'
	check "$rt: ... has no priority" inside hostile unset
	check "$rt: ... and is one line in the journal" said_once "not 'high.x0a.x1b.2Jkfdprio: oci-hook: container 0: process 1: priority 15'"
	down hostile
	rules container-max=high nonsense
	mark
	up broken --annotation org.kfdprio.priority=high >/dev/null
	check "$rt: rules with an error: high is refused" inside broken unset
	check "$rt: ... with the reason" said_once "kfdprio.conf has an error"
	down broken

	# podman exec: not a child of the container's first process
	"${podman[@]}" exec -d high sh -c ": by-exec; $opens"
	wait_for pgrep -f '^sh -c : by-exec'
	check "$rt: podman exec: its process has no priority" pid_has "$(pgrep -f '^sh -c : by-exec')" unset
	rules container-max=high 'cgroup=/machine.slice/libpod-*.scope priority=9'
	systemctl start kfdpriod
	check "$rt: ... until a rule for the container's cgroup is in force" wait_for pid_has "$(pgrep -f '^sh -c : by-exec')" 9
	check "$rt: ... which holds for the annotated process, too" wait_for inside_first high 9
	"${podman[@]}" exec -d high sh -c ": later-exec; $opens"
	wait_for pgrep -f '^sh -c : later-exec'
	check "$rt: ... and for what podman exec starts later" wait_for pid_has "$(pgrep -f '^sh -c : later-exec')" 9
	up byrule >/dev/null
	check "$rt: a container without annotation has the priority of its cgroup's rule" wait_for inside_first byrule 9
	systemctl stop kfdpriod
	down high byrule
}
inside_first() { pid_has "$(init_of "$1")" "$2"; }

for runtime in crun runc; do container_tests $runtime; done

# Work on the GPU: one container is preempted for another
rules container-max=high
podman=(podman)
works() { # NAME OPTION OF kfdload...
	local name=$1
	shift
	"${podman[@]}" run -d --name "$name" --network none --device /dev/kfd --device /dev/dri/renderD128 \
		--annotation "org.kfdprio.priority=$name" --rootfs $rootfs /bin/kfdload --secs 3000 "$@" >/dev/null
}
works low --dispatch-ns 25000000 --queues 3
works high --rate 20 --dispatch-ns 3000000
preempted() { kfdprio -l --json | grep "\"pid\":$(init_of low)," | grep -q '"preempted_count":[1-9]'; }
check "a container with the annotation low is preempted for one with high" wait_for preempted
down low high

# Rootless
useradd -m -d /srv/carl -u 1234 carl
cp -a $rootfs /srv/carl/rootfs
rootfs=/srv/carl/rootfs
mkdir -p /run/user/1234 /srv/carl/.config/containers
chown -R carl: /run/user/1234 /srv/carl
as_carl() { setpriv --reuid=1234 --regid=1234 --clear-groups env -i -C /srv/carl HOME=/srv/carl USER=carl XDG_RUNTIME_DIR=/run/user/1234 "PATH=$PATH" "$@"; }
podman=(as_carl podman --runtime crun --cgroup-manager cgroupfs --hooks-dir /usr/share/containers/oci/hooks.d --storage-driver vfs --root /srv/carl/graph --runroot /run/user/1234/c)
mark
check "rootless: high: the container starts" up r-high --cgroups disabled --annotation org.kfdprio.priority=high
check "rootless: ... has no priority" inside r-high unset
check "rootless: ... and the journal says that raising needs CAP_SYS_NICE" said_once "needs CAP_SYS_NICE in the initial user namespace"
up r-low --cgroups disabled --annotation org.kfdprio.priority=low >/dev/null
check "rootless: low is given" inside r-low 0
up r-device --cgroups disabled --device kfdprio.org/priority=low >/dev/null
check "rootless: by CDI, too" inside r-device 0
down r-high r-low r-device

# A user who forges exe=: in a mount namespace of theirs, their program has the path of another
mkdir -p /opt/trusted /etc/systemd/system/kfdpriod.service.d
cp /bin/true /opt/trusted/serve
printf '[Service]\nCapabilityBoundingSet=CAP_SYS_PTRACE\n' >/etc/systemd/system/kfdpriod.service.d/exe.conf
systemctl daemon-reload
cp /bin/dash /srv/carl/mine
forge() { as_carl unshare -rm sh -c "mount --bind /srv/carl/mine /opt/trusted/serve && exec /opt/trusted/serve -c '$1'"; }
rules 'exe=/opt/trusted/serve priority=normal' 'user=carl priority=3'
systemctl start kfdpriod
forge ": forged; $opens" &
wait_for pgrep -f '^/opt/trusted/serve'
pid=$(pgrep -f '^/opt/trusted/serve')
check "a forged exe=: the program has the path of the rule" [ "$(readlink "/proc/$pid/exe")" = /opt/trusted/serve ]
check "... and the priority of the rule for its user" wait_for pid_has "$pid" 3
rules 'exe=/opt/trusted/serve priority=high' 'user=carl priority=3'
check "... a rule with exe= that raises is an error" sh -c '! kfdprio rules check'
kill "$pid"
