# SPDX-License-Identifier: GPL-2.0
# dkms/lib/status.sh - kfdprio-driver status
# shellcheck shell=bash disable=SC2034,SC2154 # variables of kfdprio-driver

loaded=/sys/module/amdgpu

loaded_is_ours() { [ -e "$loaded/parameters/kfd_preempt" ]; }
# is the module that is loaded another than the file that modprobe would load now?
loaded_differs() {
	local file have want
	[ -d "$loaded" ] && file=$(would_load "$(uname -r)") || return 1
	have=$(cat "$loaded/srcversion" 2>/dev/null)
	want=$(modinfo -F srcversion "$file" 2>/dev/null)
	if [ -n "$have" ] && [ -n "$want" ]; then
		[ "$have" != "$want" ]
	elif is_ours "$file"; then
		! loaded_is_ours
	else
		loaded_is_ours
	fi
}
reboot_hint() { ! loaded_differs || say "the loaded amdgpu is not $(would_load "$(uname -r)"): reboot to load that file"; }

status_of() {
	local kernel=$1 running=$2 file rocm installed next='' in_file='' why link
	rocm=$(rocm_version "$kernel")
	file=$(would_load "$kernel") || file=
	installed=$(own_installed "$kernel")
	if [ -n "$rocm" ]; then
		installed="amdgpu/$rocm (ROCm's amdgpu-dkms$([[ $rocm != *+kfdprio* ]] || echo ' with kfdprio'))"
		[[ $rocm == *+kfdprio* ]] || next="kfdprio-driver install -k $kernel"
	elif [ -n "$installed" ]; then
		installed="$own/$installed"
	else
		installed="none"
		next="kfdprio-driver install -k $kernel"
		has_headers "$kernel" || next="$(install_hint "$(headers_package "$kernel")"), then $next"
	fi
	echo "kernel $kernel$([ "$kernel" != "$running" ] || echo ' (running)')"
	echo "  installed:  $installed"
	if [ -z "$file" ]; then
		echo "  modprobe:   finds no amdgpu"
	elif [ "$file" = '(builtin)' ]; then
		echo "  modprobe:   loads none, since amdgpu is built into this kernel"
	elif is_ours "$file"; then
		in_file=$(our_version "$file")
		echo "  modprobe:   $file (kfdprio${in_file:+, kfdprio-$in_file})"
		[ -n "$next" ] || [ -z "$in_file" ] || [[ $in_file == "$version"* ]] || [[ $installed == "$own/$version"* ]] || next="kfdprio-driver install -k $kernel (version $version)"
	else
		echo "  modprobe:   $file (without kfdprio)"
		[ -n "$next" ] || next="kfdprio-driver install -k $kernel"
	fi
	link=$dkms_tree/amdgpu/kernel-$kernel-$arch
	[ ! -L "$link" ] || [ -e "$link" ] ||
		echo "  left over:  DKMS's link to a version of amdgpu-dkms that was deleted; run: rm $link"
	if why=$(refused "$kernel" ${rocm:+rocm}); then
		echo "  refused:    $why"
		next=''
	fi
	if [ -n "$next" ] && [ -e "$state/failed-$kernel" ]; then
		echo "  failed:     the build of $(date -r "$state/failed-$kernel" '+%F %H:%M')$([ ! -e "$state/make-$kernel.log" ] || echo "; log: $state/make-$kernel.log")"
	fi
	# before "make install" the program is in the source alone
	command -v kfdprio-driver >/dev/null || next=${next//kfdprio-driver install/$top/dkms/kfdprio-driver install}
	[ -z "$next" ] || echo "  next:       $next"
}

status_print() {
	local kernel kernels running what=none file
	running=$(uname -r)
	kernels=$(installed_kernels)
	if loaded_is_ours; then
		what="kfdprio's, version $(cat "$loaded/version" 2>/dev/null || echo unknown)"
	elif [ -d "$loaded" ]; then
		what="one without kfdprio"
	fi
	echo "kfdprio $version"
	[ -n "$kernels" ] || echo "no kernel is installed: /lib/modules has none"
	for kernel in $kernels; do
		status_of "$kernel" "$running"
	done
	echo "loaded amdgpu: $what"
	if loaded_differs; then
		file=$(would_load "$running")
		echo "  next:       reboot: the loaded module is not $file$([ "$(find "/boot/initrd.img-$running" "/boot/initramfs-$running.img" -newer "$file" 2>/dev/null)" ] || echo ' (or an older initramfs has it)')"
	fi
	secure_boot_state
	echo "Secure Boot: $secure_boot"
	secure_boot_advice | sed 's/^kfdprio-driver: /  /'
	return 0
}

do_status() { status_print | printable_lines; }
