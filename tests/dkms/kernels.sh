# SPDX-License-Identifier: GPL-2.0
# tests/dkms/kernels.sh - kernels of others, kernels on which no module can have an effect, and what administrators delete by
# hand.  See tests/dkms/run; the packages are those of ubuntu.sh.
# shellcheck shell=bash disable=SC2154 # variables of the caller

# other_kernel KERNEL CONFIG-LINE...: a kernel with headers of no package and that configuration, and modules if it has any
other_kernel() {
	local to=$root/lib/modules/$1
	rm -rf "$to"
	mkdir -p "$to/kernel/drivers/gpu/drm/amd" "$to/build/include" "$to/build/scripts"
	: >"$to/build/Makefile"
	cp -a "$root/lib/modules/$abi/kernel/drivers/gpu/drm/amd/amdgpu" "$to/kernel/drivers/gpu/drm/amd/"
	: >"$to/modules.order"
	: >"$to/modules.builtin"
	: >"$to/modules.builtin.modinfo"
	printf '%s\n' "${@:2}" >"$to/build/.config"
	host depmod "$1"
}
# other_kernel, whose kernel has amdgpu built in
builtin_kernel() {
	other_kernel "$@"
	rm -r "$root/lib/modules/$1/kernel/drivers"
	echo kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko >"$root/lib/modules/$1/modules.builtin"
	printf 'amdgpu.license=GPL\0amdgpu.file=drivers/gpu/drm/amd/amdgpu/amdgpu\0' >"$root/lib/modules/$1/modules.builtin.modinfo"
	host depmod "$1"
}

# refused_kernel NAME PATTERN: kernel $own_kernel is refused by install, autoinstall and status, before its source is asked for
refused_kernel() {
	local name="$series: a kernel $1" driver=/opt/kfdprio/dkms/kfdprio-driver
	driver 1 "$name, install" env "AMDGPU_SRC=$taken" "$driver" install -k "$own_kernel"
	check "$name, install: the reason, and nothing is built" sh -c \
		"grep -E -- '$own_kernel: kfdprio is not built: $2' '$work/out' && ! grep building '$work/out'"
	driver 0 "$name, autoinstall" env "AMDGPU_SRC=$taken" "$driver" autoinstall -k "$own_kernel"
	check "$name, autoinstall: the reason" says "$work/out" "$own_kernel: kfdprio is not built: $2"
	driver 0 "$name, status" "$driver" status
	sed -n "/^kernel $own_kernel/,/^[^ ]/p" "$work/out" >"$work/status"
	check "$name, status: the reason, and no command that has no effect" sh -c \
		"cat '$work/status'; grep -E -- '^  refused: +$2' '$work/status' && ! grep '^  next:' '$work/status'"
}

test_config() {
	local own_kernel=6.12.99-own taken=/opt/source
	# a source that the hooks fit, so that nothing but the kernel is in the way
	mkdir -p "$root$taken/drivers/gpu/drm/amd"
	cp -r "$(tests/vm/fetch-kernel --quiet "$series")/source/drivers/gpu/drm/amd/amdkfd" "$root$taken/drivers/gpu/drm/amd/"
	other_kernel $own_kernel CONFIG_MODULES=y CONFIG_DRM_AMDGPU=m CONFIG_HSA_AMD=y
	check "$series: a kernel with KFD as a module: it can be built for" host env "AMDGPU_SRC=$taken" /opt/kfdprio/dkms/can-build $own_kernel
	# in a directory whose own time stays as it is
	cp "$root$taken/drivers/gpu/drm/amd/amdkfd/kfd_process.c" "$work/kfd_process.c"
	echo broken >"$root$taken/drivers/gpu/drm/amd/amdkfd/kfd_process.c"
	driver 1 "$series: a source that does not fit" env "AMDGPU_SRC=$taken" /opt/kfdprio/dkms/can-build $own_kernel
	cat "$work/kfd_process.c" >"$root$taken/drivers/gpu/drm/amd/amdkfd/kfd_process.c"
	driver 0 "$series: a source that does not fit, mended" env "AMDGPU_SRC=$taken" /opt/kfdprio/dkms/can-build $own_kernel
	builtin_kernel $own_kernel CONFIG_MODULES=y CONFIG_DRM_AMDGPU=y CONFIG_HSA_AMD=y
	refused_kernel "with amdgpu built in" 'amdgpu is built into this kernel.*CONFIG_DRM_AMDGPU=m'
	check "$series: a kernel with amdgpu built in, status: modprobe loads no amdgpu" says "$work/status" 'modprobe: +loads none, since amdgpu is built into'
	# no file of the configuration
	builtin_kernel $own_kernel
	rm "$root/lib/modules/$own_kernel/build/.config"
	refused_kernel "with amdgpu built in, of unknown configuration" 'amdgpu is built into this kernel'
	other_kernel $own_kernel CONFIG_DRM_AMDGPU=m '# CONFIG_HSA_AMD is not set'
	refused_kernel "without KFD" '.*without KFD.*CONFIG_HSA_AMD=y'
	other_kernel $own_kernel CONFIG_MODULES=y '# CONFIG_DRM_AMDGPU is not set'
	refused_kernel "without amdgpu" '.*without amdgpu .*CONFIG_DRM_AMDGPU=m'
	# what depends on an option that is off is left out
	other_kernel $own_kernel CONFIG_MODULES=y '# CONFIG_DRM is not set'
	refused_kernel "without DRM" '.*without amdgpu .*CONFIG_DRM_AMDGPU=m'
	other_kernel $own_kernel '# CONFIG_MODULES is not set'
	refused_kernel "without modules" '.*loads no modules .*CONFIG_MODULES'
	# the configuration where a kernel that was built without a package leaves it
	other_kernel $own_kernel
	rm "$root/lib/modules/$own_kernel/build/.config"
	echo '# CONFIG_HSA_AMD is not set' >"$root/boot/config-$own_kernel"
	refused_kernel "without KFD, by /boot" '.*without KFD'
	rm -rf "${root:?}/lib/modules/$own_kernel" "$root/boot/config-$own_kernel" "${root:?}$taken"
}

# os ID: the distribution that the host takes itself for
os() { sed -i "s/^ID=.*/ID=$1/" "$root/usr/lib/os-release"; }

# by_hand NAME OS KERNEL PACKAGE VERSION SOURCE: the headers are of that package; no linux-source package is named
by_hand() {
	local name="$series: $1" find=/opt/kfdprio/kfd_patches/find-source
	os "$2"
	rm -rf "$work/headers"
	mkdir -p "$work/headers/usr/src/$4/include"
	mkdir -p "$root/lib/modules/$3"
	ln -sfn "/usr/src/$4" "$root/lib/modules/$3/build"
	[ -z "$5" ] || check "$name: headers" fake_package "$4" "$5" "$6" "$work/headers"
	[ -n "$5" ] || mkdir -p "$root/usr/src/$4/include"
	driver 1 "$name" "$find" --query "$3"
	check "$name: whose it is, and a whole example; no package that does not exist" sh -c "grep -F -- '(its headers are of ${6:+the source package $6 $5}' '$work/out' &&
		grep -F -- 'AMDGPU_SRC=/path/of/linux kfdprio-driver install -k $3' '$work/out' && ! grep 'apt install' '$work/out'"
	mkdir -p "$root/usr/src/linux-$3/drivers/gpu/drm/amd/amdkfd"
	touch "$root/usr/src/linux-$3/drivers/gpu/drm/amd/amdkfd/kfd_priv.h"
	driver 0 "$name, unpacked in /usr/src" "$find" --query "$3"
	check "$name, unpacked in /usr/src: it is taken" says "$work/out" "^/usr/src/linux-$3/drivers/gpu/drm/amd\$"
	rm -rf "$root/usr/src/linux-$3" "${root:?}/lib/modules/$3"
	if [ -n "$5" ]; then host dpkg --purge "$4" >/dev/null 2>&1; else rm -r "$root/usr/src/$4"; fi
}

test_others() {
	cp "$root/usr/lib/os-release" "$work/os-release"
	by_hand Proxmox debian 6.8.12-7-pve proxmox-headers-6.8.12-7-pve 6.8.12-7 proxmox-kernel-6.8
	by_hand "Proxmox before 8" debian 5.15.149-1-pve pve-headers-5.15.149-1-pve 5.15.149-1 pve-kernel-5.15
	by_hand "Ubuntu's for Azure" ubuntu 6.8.0-1031-azure linux-headers-6.8.0-1031-azure 6.8.0-1031.36 linux-azure
	by_hand "Ubuntu's lowlatency" ubuntu 6.8.0-60-lowlatency linux-headers-6.8.0-60-lowlatency 6.8.0-60.63.1 linux-lowlatency
	by_hand "a mainline build" ubuntu 6.15.9-061509-generic linux-headers-6.15.9-061509-generic 6.15.9-061509.202508011000 linux
	by_hand "a mainline build on Debian" debian 6.15.9-061509-generic linux-headers-6.15.9-061509-generic 6.15.9-061509.202508011000 linux
	by_hand "Ubuntu's on Debian" debian 6.8.0-60-generic linux-headers-6.8.0-60-generic 6.8.0-60.63 linux
	by_hand Liquorix debian 6.15.9-1-liquorix-amd64 linux-headers-6.15.9-1-liquorix-amd64 6.15-12.1~bookworm linux-liquorix
	by_hand XanMod debian 6.15.9-x64v3-xanmod1 linux-headers-6.15.9-x64v3-xanmod1 6.15.9-x64v3-xanmod1-0~20250801.g1 linux-upstream
	by_hand "make bindeb-pkg" debian 6.15.9 linux-headers-6.15.9 6.15.9-2 linux-upstream
	by_hand "make install" debian 6.15.9-mine linux-6.15.9-of-mine '' ''
	os debian
	mkdir -p "$root/lib/modules/6.8.12-8-pve"
	driver 1 "$series: Proxmox without headers" /opt/kfdprio/kfd_patches/find-source 6.8.12-8-pve
	check "$series: Proxmox without headers: the package's name" says "$work/out" "apt install proxmox-headers-6.8.12-8-pve"
	rm -r "$root/lib/modules/6.8.12-8-pve"
	cp "$work/os-release" "$root/usr/lib/os-release"
}

# not_version NAME: what DKMS's dangling link names is no installed version
not_version() {
	driver 0 "$series: $1, status" /opt/kfdprio/dkms/kfdprio-driver status
	check "$series: $1, status: nothing is installed; how the link goes" sh -c "cat '$work/out'; grep -E '^  installed: +none' '$work/out' && grep -F 'run: rm $link' '$work/out' &&
		! grep 6.99.0 '$work/out'"
	check "$series: $1, status: the next step is that of the source, which alone has the program" \
		says "$work/out" "next: .*/opt/kfdprio/dkms/kfdprio-driver install -k ${abi//+/[+]}"
	driver 0 "$series: $1, the source" /opt/kfdprio/kfd_patches/find-source --query "$abi"
	check "$series: $1, the source: the kernel's own" says "$work/out" "/linux-source-${series}[.]tar"
	# shellcheck disable=SC2016 # for the shell of the host
	check "$series: $1, dkms.conf: DKMS may build kfdprio" host env kernelver="$abi" bash -c '. /opt/kfdprio/dkms.conf; [ "$AUTOINSTALL" = yes ] && [ -z "${BUILD_EXCLUSIVE_KERNEL-}" ]'
}
test_deleted() {
	local dkms=$root/var/lib/dkms/amdgpu link=/var/lib/dkms/amdgpu/kernel-$abi-x86_64
	mkdir -p "$dkms"
	ln -s "6.99.0-1.shape/$abi/x86_64" "$root$link"
	not_version "amdgpu-dkms was deleted from /var/lib/dkms"
	mkdir -p "$dkms/6.99.0-1.shape/source"
	not_version "amdgpu-dkms was deleted for one kernel"
	rm -r "$dkms/6.99.0-1.shape"
	ln -sfn "6.99.0-1.shape+kfdprio90.1.0/$abi/x86_64" "$root$link"
	not_version "the version with kfdprio was deleted"
	mkdir -p "$dkms/6.99.0-1.shape/$abi/x86_64"
	ln -sfn "6.99.0-1.shape/$abi/x86_64" "$root$link"
	driver 1 "$series: /usr/src/amdgpu-VERSION was deleted" /opt/kfdprio/kfd_patches/find-source --query "$abi"
	check "$series: /usr/src/amdgpu-VERSION was deleted: the next command" says "$work/out" "install the package amdgpu-dkms again, .*dkms remove amdgpu/6.99.0-1.shape --all"
	rm -r "$dkms"
}
