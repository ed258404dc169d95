# SPDX-License-Identifier: GPL-2.0
# tests/dkms/real.sh - a whole real release of ROCm's amdgpu-dkms, of which the user has the source: make check-rocm.  AMD's
# source is built as it is, and with kfdprio in it.  See tests/dkms/run.
# shellcheck shell=bash disable=SC2154 # variables of the caller

# real_is VERSION: DKMS has installed exactly that version of amdgpu for the kernel, and modprobe would load what it has built
real_is() {
	local installed file built
	installed=$(host dkms status -k "$abi" | sed -nE 's/^((amdgpu|kfdprio)\/[^,]*),.*: installed.*/\1/p')
	[ "$installed" = "amdgpu/$1" ] || { echo "DKMS has installed: ${installed:-nothing}, not amdgpu/$1"; return 1; }
	for built in "$root/var/lib/dkms/amdgpu/$1/$abi"/*/module/*.ko*; do
		file=$(host modinfo -k "$abi" -n "$(basename "${built%%.ko*}")") && cmp "$built" "$root$file" || return 1
	done
	host modprobe --set-version "$abi" --show-depends amdgpu
}
# real_vm NAME MODE STEP...: load, look at and unload in the VM what is installed
real_vm() {
	local name=$1 mode=$2 step
	shift 2
	"$top/tests/vm/run" --no-sim --kernel "$abi" --timeout 1200 -- "$here/guest" "$mode" "$root" >"$work/vm.log" 2>&1
	echo "exit $?" >>"$work/vm.log"
	for step; do
		check "$name: VM: ${step#*: }" says "$work/vm.log" "^guest: ${step%%:*} ok"
	done
	check "$name: VM: the kernel reported nothing" says "$work/vm.log" "^exit 0"
	cp "$work/vm.log" "$top/build/tests/check-rocm-vm$mode.log"
}
real_kfdprio=("loads: modprobe loads it without a GPU" "version: it is kfdprio's, /dev/kfd answers the version ioctl"
	"events: events/kfd/ is there" "list: kfdprio -l reports that there is no GPU" "set: kfdprio -n 12 -p PID, -p PID, -r -p PID"
	"doctor: kfdprio doctor" "unload: all modules")

# real_as VERSION: the tree as the source of a package of that version
real_as() {
	local src=$root/usr/src/amdgpu-$1 file
	# Makefile and dkms.conf are links to those in amd/dkms, which AMD's pre-build.sh edits
	mkdir "$src" && cp -a "$tree/." "$src/" && chmod -R u+w "$src" || return
	sed -i --follow-symlinks "s/^PACKAGE_VERSION=.*/PACKAGE_VERSION=\"$1\"/" "$src/dkms.conf"
	# public copies lack the largest headers of registers, which every release and kernel has alike
	[ -z "${registers-}" ] || cp -rn "$registers/." "$src/amd/include/asic_reg/"
	file=$(grep -rhoE --include='*.[ch]' '^#include "(asic_reg/)?[a-z0-9]+/[a-z0-9_]+_(offset|sh_mask|d|enum)\.h"' "$src/amd" | sed 's/.*"\(asic_reg\/\)\?\(.*\)"/\2/' | sort -u |
		while read -r file; do [ -e "$src/amd/include/asic_reg/$file" ] || echo "$file"; done)
	[ -z "$file" ] || note "$name: not in the source: $(echo "$file" | wc -l) headers of registers, such as $(echo "$file" | head -n 1): REGISTERS=DIRECTORY may have them (drivers/gpu/drm/amd/include/asic_reg of a kernel)"
	host dkms add "amdgpu/$1"
}

test_real() {
	# AMD's configure of 6.14.14 takes the first word of the kernel's CC for the compiler; and each build is in a directory with
	# another name (/tmp/amd.XXXXXXXX), so that ccache would find nothing
	local use_ccache='' version name began next
	version=$(sed -n 's/^PACKAGE_VERSION="\{0,1\}\([^"]*\)"\{0,1\}/\1/p' "$tree/dkms.conf")
	[[ $version =~ ^[-+._~a-zA-Z0-9]+$ ]] || { result 1 "$tree: dkms.conf has a PACKAGE_VERSION"; return; }
	name="$series: amdgpu-dkms $version" next=$version.next
	# those of its own package's Depends, too
	check "$name: coccinelle, and what its package depends on, from apt" host sh -c \
		'apt-get -qq update && apt-get -qq -y install --no-install-recommends coccinelle autoconf automake libc6-dev'
	check "$name: DKMS takes it" real_as "$version"
	began=$SECONDS
	driver 0 "$name: DKMS builds it as it is" dkms install "amdgpu/$version" -k "$abi" --force
	[ -d "$root/var/lib/dkms/amdgpu/$version/$abi" ] || return
	check "$name: it is what modprobe loads" real_is "$version"
	note "$name: built in $((SECONDS - began)) s"
	real_vm "$name, as it is" --rocm-base "base: modprobe loads it, without kfdprio's events" "base-unload: all modules"

	cp "$debs"/kfdprio*_*.deb "$root/tmp/"
	began=$SECONDS
	check "$name: kfdprio's packages are installed" host sh -c 'dpkg -i /tmp/kfdprio-dkms_*.deb /tmp/kfdprio_*.deb'
	driver 0 "$name: kfdprio-driver install --rocm --spatch" kfdprio-driver install --rocm --spatch -k "$abi"
	check "$name: its version with kfdprio is what modprobe loads" real_is "$version+kfdprio$release"
	note "$name: built with kfdprio in $((SECONDS - began)) s, $(host dkms status -k "$abi" | tr '\n' ';')"
	cat "$root/var/lib/dkms/amdgpu/$version+kfdprio$release/$abi/x86_64/log/make.log" >"$work/make.log" 2>/dev/null
	check "$name: no warning from the compiler for files of kfdprio" sh -c "test -s $work/make.log && ! grep -n 'kfd_prio.*warning:' $work/make.log"
	real_vm "$name, with kfdprio" --rocm "${real_kfdprio[@]}"

	check "$name: a newer release of the base comes" real_as "$next"
	driver 0 "$name: it is installed" dkms install "amdgpu/$next" -k "$abi" --force
	driver 0 "$name: kfdprio-driver autoinstall follows it" kfdprio-driver autoinstall -k "$abi"
	check "$name: the newer one with kfdprio is what modprobe loads" real_is "$next+kfdprio$release"

	began=$SECONDS
	driver 0 "$name: kfdprio-driver uninstall" kfdprio-driver uninstall
	note "$name: uninstalled in $((SECONDS - began)) s"
	check "$name: the base is what modprobe loads" real_is "$next"
	real_vm "$name, after uninstall" --rocm-base "base: modprobe loads it, without kfdprio's events" "base-unload: all modules"
}
