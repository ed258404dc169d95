# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # of guest, for the parts
# The Debian 13 in the VM, containerd in it, and what the parts ask about containers.  Sourced by guest.

# debian13_begin: a mount namespace whose root is the Debian 13, with the VM's /proc, /sys, /dev, /run and rules.  It exists as long as
# the process $anchor.
debian13_begin() {
	tar -C "$root" -cf - . | tar -C "$debian13" --keep-directory-symlink --no-overwrite-dir -mxf -
	mkdir -p "$debian13$top" "$debian13/etc/kfdprio.conf.d" "$debian13/etc/cdi" "$debian13/old"
	printf '127.0.0.1 localhost\n' >"$debian13/etc/hosts"
	: >"$debian13/etc/resolv.conf"
	ln -sf /usr/share/kfdprio/cdi/kfdprio.yaml "$debian13/etc/cdi/"
	chmod 666 /dev/dri/renderD*
	# the managers of cgroups talk to systemd over it; see boot_systemd of tests/vm/guest
	rm -f /run/systemd/system/dbus.*
	systemctl daemon-reload
	systemctl start dbus
	# shellcheck disable=SC2016 # for the shell in the namespace
	unshare --mount --propagation private bash -euc '
		mount --bind "$1" "$1"
		for dir in proc sys dev run; do mount --rbind "/$dir" "$1/$dir"; done
		mount --rbind "$2" "$1$2"
		mount --bind /etc/kfdprio.conf.d "$1/etc/kfdprio.conf.d"
		for dir in tmp var/lib; do mount -t tmpfs -o mode=755 tmpfs "$1/$dir"; done
		cd "$1"
		pivot_root . old
		umount -l /old
		: >/run/debian13
		exec sleep 1000000' - "$debian13" "$top" &
	anchor=$!
	wait_for test -e /run/debian13 || exit 125
}

# in13 COMMAND...: in the Debian 13
# shellcheck disable=SC2016 # for the shell there
in13() { nsenter "--mount=/proc/$anchor/ns/mnt" -- sh -c 'cd / && exec "$@"' - "$@"; }

# cri ARGUMENT...
cri() { in13 "$out/cri/cri" "$@"; }

containerd=
# containerd_begin NRI: containerd with its plugins of NRI (on), or without (off).  It waits 5 s for a plugin to start otherwise,
# and 2 s for an answer, which an emulated CPU does not always manage.
containerd_begin() {
	local disable=true
	if [ "$1" = on ]; then
		disable=false
		mkdir -p "$debian13/opt/nri/plugins"
		cp "$out/kfdprio-nri-hooks" "$debian13/opt/nri/plugins/10-kfdprio-nri-hooks"
	fi
	mkdir -p "$debian13/etc/containerd"
	cat >"$debian13/etc/containerd/config.toml" <<-END
		version = 2
		[plugins."io.containerd.grpc.v1.cri"]
		  sandbox_image = "localhost/kfd:1"
		  enable_cdi = true
		  cdi_spec_dirs = ["/etc/cdi"]
		  disable_hugetlb_controller = true
		  [plugins."io.containerd.grpc.v1.cri".containerd]
		    default_runtime_name = "runc"
		    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
		      runtime_type = "io.containerd.runc.v2"
		      pod_annotations = ["org.kfdprio.*"]
		      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
		        SystemdCgroup = true
		    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.crun]
		      runtime_type = "io.containerd.runc.v2"
		      pod_annotations = ["org.kfdprio.*"]
		      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.crun.options]
		        BinaryName = "/usr/bin/crun"
		        SystemdCgroup = true
		[plugins."io.containerd.nri.v1.nri"]
		  disable = $disable
		  plugin_registration_timeout = "10m"
		  plugin_request_timeout = "10m"
	END
	in13 containerd >>/run/containerd.log 2>&1 &
	containerd=$!
	wait_for cri version && return
	tail -n 5 /run/containerd.log | sed 's/^/# /'
	return 1
}
containerd_end() {
	kill "$containerd"
	wait "$containerd" 2>/dev/null
}

image_import() { in13 ctr -n k8s.io images import "$out/image.tar"; }

opens='exec 3<>/dev/kfd; while :; do sleep 1000; done'
declare -A sandbox_of=() container_of=() pid_of=()
runtime=runc
# pod NAME OPTION... -- COMMAND...: with the devices of the GPU
pod() {
	local name=$1 options=() ids
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	cri run --runtime "$runtime" --device /dev/kfd --device /dev/dri/renderD128 "${options[@]}" "$name" "$@" >"$tmp/pod" || return
	read -r ids <"$tmp/pod"
	read -r "sandbox_of[$name]" "container_of[$name]" "pid_of[$name]" <<<"$ids"
}
# up NAME OPTION...: a pod whose first process has KFD open, once it has
up() {
	pod "$@" -- /bin/sh -c "$opens" && wait_for kfd_open "${pid_of[$1]}"
}
kfd_open() { [ -n "$(find "/proc/$1/fd" -lname /dev/kfd)" ]; }
down() {
	local name ids=()
	for name; do ids+=("${sandbox_of[$name]-}"); done
	cri remove "${ids[@]}"
}

pid_has() { # PID PRIORITY
	local is
	is=$(kfdprio -p "$1" | sed -n 's/^PID [0-9]*: priority \([0-9a-z]*\).*/\1/p')
	[ "$is" = "$2" ] || { echo "process $1 has '$is', not '$2'"; return 1; }
}
# share_is PID "LIMIT WEIGHT": the limit and the weight of the groups of a process; null: none
share_is() {
	local is
	is=$(kfdprio -l --json | sed -n "s/.*\"pid\":$1,.*\"max_percent\":\([0-9.a-z]*\),.*\"weight\":\([0-9a-z]*\),.*/\1 \2/p" | head -n 1)
	[ "$is" = "$2" ] || { echo "process $1 has '$is', not '$2'"; return 1; }
}
no_group() { [ -z "$(kfdprio --groups --noheadings)" ]; }
pod_has() { pid_has "${pid_of[$1]-0}" "$2"; }
# execs NAME WORD: a process of ExecSync in that pod that has KFD open; $child is it
execs() {
	cri exec "${container_of[$1]-}" sh -c ": $2; $opens" &
	wait_for pgrep -f "^sh -c : $2" || return
	child=$(pgrep -f "^sh -c : $2")
}

# Lines of the hook in the journal since the last mark.  No cursor: with a filter, journalctl 252 leaves out the first after it.
mark() { seen=$(journalctl -q -t kfdprio -o cat --no-pager | wc -l); }
hook_lines() { journalctl -q -t kfdprio -o cat --no-pager | tail -n +$((seen + 1)); }
# said_once PATTERN: that, and nothing else
said_once() {
	wait_for some_lines
	hook_lines
	hook_lines | grep -qe "$1" && [ "$(hook_lines | wc -l)" = 1 ]
}
some_lines() { hook_lines | grep -q .; }
