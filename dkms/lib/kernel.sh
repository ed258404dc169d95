# SPDX-License-Identifier: GPL-2.0
# dkms/lib/kernel.sh - kernels that kfdprio's amdgpu can have no effect on, or is not made for, by their configuration.
# Sourced by kfdprio-driver, can-build and prepare; defines functions only.
# shellcheck shell=bash

# config_files KERNEL: the files that may have its configuration
config_files() {
	printf '%s\n' "/lib/modules/$1/build/.config" "/lib/modules/$1/build/include/config/auto.conf" "/boot/config-$1" "/lib/modules/$1/config"
}
# config_of KERNEL OPTION: y, m or n; nothing if no file states it
config_of() {
	local file value
	for file in $(config_files "$1"); do
		[ -r "$file" ] || continue
		value=$(sed -n "s/^$2=\([ym]\)\$/\1/p; s/^# $2 is not set\$/n/p" "$file" | tail -n 1)
		# Kconfig leaves out an option that depends on one that is off
		[ -n "$value" ] || ! grep -qx CONFIG_MODULES=y "$file" || value=n
		[ -z "$value" ] || { echo "$value"; return; }
	done
}
is_realtime() {
	local file
	for file in $(config_files "$1"); do
		! grep -qsx CONFIG_PREEMPT_RT=y "$file" || return 0
	done
	return 1
}
is_builtin() { [ "$(config_of "$1" CONFIG_DRM_AMDGPU)" = y ] || grep -qs '/amdgpu\.ko$' "/lib/modules/$1/modules.builtin"; }

# refused KERNEL [rocm]: prints why no module of ours is built for a kernel, and what to do; fails if nothing speaks against it.
# rocm: amdgpu is that of ROCm's package, which does not depend on the configuration of the kernel's own
refused() {
	if [ "$(config_of "$1" CONFIG_MODULES)" = n ]; then
		echo "this kernel loads no modules (CONFIG_MODULES is off): boot a kernel that has amdgpu as a module"
	elif is_builtin "$1"; then
		echo "amdgpu is built into this kernel, and no module can replace it: boot a kernel with CONFIG_DRM_AMDGPU=m"
	elif is_realtime "$1"; then
		echo "kfdprio does not support kernels with PREEMPT_RT: boot one without it"
	elif [ "${2-}" = rocm ]; then
		return 1
	elif [ "$(config_of "$1" CONFIG_DRM_AMDGPU)" = n ]; then
		echo "this kernel is configured without amdgpu (CONFIG_DRM_AMDGPU is off): boot a kernel with CONFIG_DRM_AMDGPU=m and CONFIG_HSA_AMD=y"
	elif [ "$(config_of "$1" CONFIG_HSA_AMD)" = n ]; then
		echo "this kernel is configured without KFD, amdgpu's compute driver (CONFIG_HSA_AMD is off): boot a kernel with CONFIG_HSA_AMD=y"
	else
		return 1
	fi
}
