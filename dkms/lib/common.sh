# SPDX-License-Identifier: GPL-2.0
# dkms/lib/common.sh - messages, what is installed, jobs that can be interrupted
# shellcheck shell=bash disable=SC2034,SC2154 # variables of kfdprio-driver

say() { printable "kfdprio-driver: $*"; }
warn() { printable "kfdprio-driver: $*" >&2; }
die() { warn "$*"; exit 1; }

# what modprobe would load for a kernel, "(builtin)" if the kernel itself has it; fails if nothing
would_load() { modinfo -k "$1" -n amdgpu 2>/dev/null; }
used_now() {
	local file
	if ! file=$(would_load "$1"); then
		echo "this kernel has no other amdgpu"
	elif [ "$file" = '(builtin)' ]; then
		echo "amdgpu is built into this kernel"
	elif is_ours "$file"; then
		echo "modprobe loads $file, as before (kfdprio $(our_version "$file"))"
	else
		echo "modprobe loads $file, as before"
	fi
}
# the version of kfdprio in a module: field kfdprio, or MODULE_VERSION where there is no other
our_version() {
	local v
	v=$(modinfo -F kfdprio "$1" 2>/dev/null | tail -n 1)
	[ -n "$v" ] || v=$(modinfo -F version "$1" 2>/dev/null | grep '^kfdprio-' | tail -n 1)
	echo "${v#kfdprio-}"
}
is_ours() { modinfo -F parm "$1" 2>/dev/null | grep '^kfd_preempt:' >/dev/null; } # -q would end modinfo with SIGPIPE
# whole: while a package manager is at work the parts of it arrive one by one
has_headers() {
	local build=/lib/modules/$1/build makefile
	[ -e "$build/include" ] && [ -e "$build/scripts" ] && [ -e "$build/Makefile" ] || return
	makefile=$(sed -n 's/^include \(\/[^ ]*\)$/\1/p' "$build/Makefile" | head -n 1)
	[ -z "$makefile" ] || [ -e "$makefile" ]
}
# headers alone, and what DKMS made for them, are no kernel
is_kernel() { [ -e "/lib/modules/$1/modules.dep" ] && [ -d "/lib/modules/$1/kernel" ]; }
installed_kernels() {
	local dir
	for dir in /lib/modules/*; do
		! is_kernel "${dir##*/}" || echo "${dir##*/}"
	done | sort -V
}
package_owns() {
	case $(host_family) in
	fedora|suse) rpm -qf "$1" ;;
	arch) pacman -Qo "$1" ;;
	*) dpkg-query -S "$1" ;;
	esac >/dev/null 2>&1
}

# interruptible COMMAND...: DKMS's jobs ignore a terminal's ^C, so all below it are ended here
interruptible() {
	local pid status=0
	"$@" &
	pid=$!
	# shellcheck disable=SC2064 # now
	trap "interrupt $pid" INT TERM HUP
	wait "$pid" || status=$?
	trap - INT TERM HUP
	return "$status"
}
# A terminal's ^C ends the maintainer script that runs us, not dpkg, which goes on with its triggers; ours would build again.
# our_dpkg: the dpkg that we run below, as PID and start time; nothing if there is none
interrupted=/run/kfdprio/interrupted
our_dpkg() {
	local pid=$$
	while [ "${pid:-0}" -gt 1 ]; do
		if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dpkg ]; then
			echo "$pid $(cut -d' ' -f22 "/proc/$pid/stat")"
			return
		fi
		pid=$(sed -n 's/^PPid:[ \t]*//p' "/proc/$pid/status" 2>/dev/null)
	done
}
interrupted_in_this_dpkg() { [ -n "$dpkg_above" ] && [ -e "$interrupted" ] && [ "$(cat "$interrupted")" = "$dpkg_above" ]; }
# asked now: what is between dpkg and us has ended when an interrupt is handled
dpkg_above=$(our_dpkg)
# all below process $1, as PIDs
below() {
	# status shows a name on one line, whatever is in it; in stat, a name could look like the line of another process
	grep -sH '^PPid:' /proc/[0-9]*/status | sed 's/^[^0-9]*\([0-9]*\)[^0-9]*\([0-9]*\)$/\1 \2/' | awk -v top="$1" '
		{ parent[$1] = $2 }
		END {
			for (pid in parent) {
				for (up = pid; up in parent && up != top; up = parent[up])
					;
				if (up == top && pid != top)
					print pid
			}
		}'
}
# shellcheck disable=SC2317 # a trap
interrupt() {
	local list
	# run-parts, which reads what we say through a pipe, has been interrupted, too
	trap '' INT TERM HUP PIPE
	list=$(echo "$1"; below "$1")
	# shellcheck disable=SC2086 # PIDs
	kill $list 2>/dev/null
	wait "$1" 2>/dev/null
	echo >&2	# DKMS's dots
	warn "interrupted"
	[ -z "$dpkg_above" ] || { mkdir -p "${interrupted%/*}" && echo "$dpkg_above" >"$interrupted"; } 2>/dev/null
	[ -z "${replacing-}" ] || put_back "$replacing" "${old-}"
	[ -z "${building-}${replacing-}" ] || after_failure "${building:-$replacing}" '' 'to start again'
	exit 130
}

# after_failure KERNEL LOG [ADVICE]: print the reason from the log, the amdgpu in use, the next command, and the file for a report
after_failure() {
	local kernel=$1 log=$2 file build=$dkms_tree/$own/${own_version-$version}/build moved free
	# DKMS 3.1 and later may have moved the kernel's own module away
	for moved in "$dkms_tree/$own/original_module/$kernel/$arch"/amdgpu.ko*.origin; do
		[ -f "${moved%.origin}" ] && file=$(head -n 1 "$moved") && [ ! -e "$file" ] && mv "${moved%.origin}" "$file" &&
			rm -f "$moved" && depmod "$kernel"
	done
	if [ -n "$log" ] && [ -e "$log" ]; then
		grep -aE '^(kfdprio|find-source|prepare-tree|tar|xz|patch|cp|mv|mkdir): |: (fatal )?error: |No space left|^(E|e)rror|Killed|^  [^ ]+ .* no (place|such function)' "$log" |
			grep -av "$own/$version.*/build: No such" | head -n 12 | sed 's/^/  /' | printable_lines >&2
	fi
	# a log on a full disk ends before it could say so
	free=$(df -Pm "$dkms_tree" 2>/dev/null | awk 'END { print $4 }')
	[ "${free:-16}" -ge 16 ] || warn "No space left on device: $dkms_tree"
	# a gigabyte of objects that nothing uses
	[ ! -d "$build" ] || find "$build" -mindepth 1 -maxdepth 1 ! -name make.log -exec rm -rf {} +
	warn "$kernel: kfdprio's amdgpu was not installed; $(used_now "$kernel")"
	warn "$kernel: ${3:-fix the cause, then run}: kfdprio-driver install -k $kernel"
	if [ -n "$log" ] && [ -e "$log" ]; then
		warn "to report this, send $log"
	fi
}

# the log of a build that failed, in DKMS package $1 version $2 for kernel $3
build_log() {
	local log
	for log in "$dkms_tree/$1/$2/build/make.log" "$dkms_tree/$1/$2/$3/$arch/log/make.log"; do
		[ ! -e "$log" ] || { echo "$log"; return; }
	done
}
