# SPDX-License-Identifier: GPL-2.0
# tests/dkms/lib.sh - a Debian to install into, and TAP.  Sourced in a mount namespace of its own.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of the caller

n=0 failed=0
# result STATUS NAME [DIAGNOSTICS-FILE]
result() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
		return
	fi
	failed=1
	echo "not ok $n - $2"
	[ -z "${3-}" ] || tail -n 40 "$3" | sed 's/^/# /'
}
# check NAME COMMAND...
check() {
	local name=$1 status=0
	shift
	"$@" >"$work/check.log" 2>&1 || status=$?
	result "$status" "$name" "$work/check.log"
}
note() { echo "# $*"; }

# base_of SERIES: what tests/dkms/base prints; where nothing is left to make it is not waited for others who use it
base_of() {
	local dir abi
	abi=$(cat "$(tests/vm/fetch-kernel --quiet "$1")/abi") || return
	for dir in "$cache/dkms"/*-"$(sha256sum <"$here/base" | cut -c1-8)"; do
		if [ -e "$dir/.kfdprio/$abi" ] && compgen -G "$dir/.kfdprio/lib*" >/dev/null; then
			echo "$dir"
			return
		fi
	done
	"$here/base" "$1"
}

# new_host [UPPER WORK]: the base of $series, with a writable layer of its own (or that in directory UPPER), as $root; only the
# kernel $abi has headers there, unless $all_kernels is set
new_host() {
	local other
	end_host
	layers=$(mktemp -d "$work/host.XXXXXX")
	root=$layers/root
	mkdir "$layers/upper" "$layers/work" "$root"
	mount -t overlay overlay -o "lowerdir=$base,upperdir=${1:-$layers/upper},workdir=${2:-$layers/work}" "$root"
	mount -t proc proc "$root/proc"
	mount --bind /dev "$root/dev"
	mount -t tmpfs tmpfs "$root/tmp"
	mkdir -p "$root/var/cache/kfdprio-ccache"
	mount --bind "$ccache" "$root/var/cache/kfdprio-ccache"
	for other in "$root"/lib/modules/*; do
		[ -n "${all_kernels-}" ] || [ ! -d "$other" ] || [ "${other##*/}" = "$abi" ] || mount -t tmpfs tmpfs "$other"
	done
}
end_host() {
	local link
	[ -n "${root-}" ] || return 0
	# what DKMS has in the background when we are interrupted
	for link in /proc/[0-9]*/root; do
		if [ "$(readlink "$link" 2>/dev/null)" = "$root" ]; then
			link=${link%/root}
			kill "${link#/proc/}" 2>/dev/null
		fi
	done
	umount -R "$root" 2>/dev/null || umount -R -l "$root"
	rm -rf "$layers"
	root=
}

# host COMMAND...: in $root; through ccache, unless $use_ccache is empty
host() {
	chroot "$root" env -i HOME=/root LC_ALL=C PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
		"DEBIAN_KERNEL_USE_CCACHE=${use_ccache-1}" CCACHE_DIR=/var/cache/kfdprio-ccache CCACHE_NOHASHDIR=1 "$@"
}

would_load() { host modinfo -k "$abi" -n amdgpu; }
# modprobe would load the kernel's own, and nothing of ours lies about for it
stock_is_loadable() {
	local file
	file=$(would_load) || { echo "modprobe finds no amdgpu"; return 1; }
	case $file in */kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko*) ;; *) echo "modprobe would load $file"; return 1 ;; esac
	[ -s "$root$file" ] || { echo "$file is empty"; return 1; }
	host modprobe --set-version "$abi" --show-depends amdgpu || return 1
	if find "$root/lib/modules/$abi/updates" -name 'amdgpu*' 2>/dev/null | grep .; then
		echo "a module of ours is there"
		return 1
	fi
}
ours_is_loadable() {
	local file
	file=$(would_load) || { echo "modprobe finds no amdgpu"; return 1; }
	case $file in */updates/dkms/amdgpu.ko*) ;; *) echo "modprobe would load $file"; return 1 ;; esac
	host modinfo -F parm "$file" | grep '^kfd_preempt:'
}
# nothing that kfdprio brought is left
nothing_left() {
	local left
	left=$(ls -d "$root"/usr/src/kfdprio* "$root"/usr/src/.kfdprio* "$root"/var/lib/dkms/kfdprio "$root"/usr/*bin/kfdprio* \
		"$root"/usr/local/*bin/kfdprio* "$root"/usr/share/kfdprio* "$root"/usr/local/share/kfdprio* "$root"/etc/kernel/*/*kfdprio* \
		"$root"/var/lib/kfdprio* "$root"/run/kfdprio "$root"/var/tmp/*kfdprio* "$root"/tmp/kfdprio-check* \
		"$root/lib/modules/$abi/updates" 2>/dev/null)
	[ -z "$left" ] || { echo "left: $left"; return 1; }
}
# says FILE REGEX...: each is in a line of FILE
says() {
	local file=$1 regex status=0
	shift
	for regex; do
		grep -qE -- "$regex" "$file" || { echo "no line matches: $regex"; status=1; }
	done
	[ "$status" = 0 ] || cat "$file"
	return "$status"
}

# use_stub: DKMS builds tests/dkms/stub instead of amdgpu, for tests of what comes after
use_stub() {
	cp -r "$top/tests/dkms/stub" "$root/opt/stub"
	# shellcheck disable=SC2016 # DKMS expands them
	cat >"$root/etc/dkms/kfdprio.conf" <<-'END'
		MAKE[0]="/opt/stub/own $kernel_source_dir $PACKAGE_VERSION"
		PRE_BUILD=
	END
}
install_packages() { cp "$debs"/kfdprio-dkms_*.deb "$root/tmp/" && host dpkg -i "/tmp/$(basename "$debs"/kfdprio-dkms_*.deb)"; }
