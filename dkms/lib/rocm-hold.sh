# SPDX-License-Identifier: GPL-2.0
# dkms/lib/rocm-hold.sh - what keeps DKMS before 3.1 from putting ROCm's amdgpu-dkms over its version with kfdprio
# shellcheck shell=bash disable=SC2034,SC2154 # variables of kfdprio-driver

# DKMS before 3.1 puts the base over ours whenever something runs "dkms autoinstall" for a kernel that has ours, as
# dkms.service does on each boot: the base is not installed then, and wants to be.  The base's dkms.conf is the only file that
# all versions of DKMS ask for AUTOINSTALL.  Some lines at its end keep the base from that, for kernels that have ours.
# rocm_hold: they are there while a derived version of it is, and only then
rocm_hold() {
	local base conf new want
	for conf in /usr/src/amdgpu-*/dkms.conf; do
		base=${conf#/usr/src/amdgpu-} base=${base%/dkms.conf}
		[ -f "$conf" ] && [[ $base != *+kfdprio* ]] || continue
		want=''
		! rocm_deriveds | grep -F "$base+kfdprio" | grep "^${base//+/[+]}[+]kfdprio" >/dev/null || want=1
		if grep "^$rocm_hold_begin" "$conf" >/dev/null; then
			[ -z "$want" ] || continue
		else
			[ -n "$want" ] || continue
		fi
		# never in place: derived trees have hard links to files of the base
		# In AMD's releases it is a link to amd/dkms/dkms.conf, and stays one
		conf=$(readlink -f "$conf")
		new=$(mktemp "$conf.XXXXXX") || continue
		if without_hold "$conf" >"$new" && { [ -z "$want" ] || rocm_hold_lines >>"$new"; } && chmod --reference="$conf" "$new"; then
			mv "$new" "$conf"
		else
			rm -f "$new"
		fi
	done
}
rocm_hold_begin='# kfdprio-driver: from here' rocm_hold_end='# kfdprio-driver: to here'
without_hold() { sed -e "/^$rocm_hold_begin/,/^$rocm_hold_end/d" -e '$a\' "$1"; }
rocm_hold_lines() {
	cat <<-END
		$rocm_hold_begin, added by kfdprio-driver, removed by kfdprio-driver uninstall.
		# While a version with kfdprio is installed for a kernel, "dkms autoinstall" leaves it there.
	END
	cat <<-'END'
		kfdprio_for=${kernelver-}
		if [[ ${action-} == autoinstall || ${action-} == kernel_postinst ]]; then
			# DKMS 3.0 reads this for each kernel that it has built for; the one it was asked for is a scope further out
			kfdprio_for=$(unset -v kernelver; echo "${kernelver-}")
		fi
		kfdprio_link=/var/lib/dkms/amdgpu/kernel-"$kfdprio_for"-$(uname -m)
		[[ ! -e $kfdprio_link || $(readlink "$kfdprio_link") != *+kfdprio* ]] || AUTOINSTALL=
	END
	echo "$rocm_hold_end"
}
