# SPDX-License-Identifier: GPL-2.0
# tests/dkms/rocm.sh - a host with ROCm's amdgpu-dkms: a package of its shape, made by tests/trees/make-rocm-shape from the
# kernel's own source, installed by DKMS with stubs for modules.  See tests/dkms/run.
# shellcheck shell=bash disable=SC2154 # variables of the caller

# rocm_installed VERSION-REGEX: DKMS has that version of amdgpu installed for the kernel, and no other, nor kfdprio
rocm_installed() {
	host dkms status
	host dkms status | grep -E "^amdgpu/$1, $abi_re, x86_64: installed" &&
		[ "$(host dkms status -k "$abi" | grep -cE '^(amdgpu|kfdprio)/.*: installed')" = 1 ]
}

test_rocm() {
	local name="$series: with amdgpu-dkms" own before conf package version_re
	abi_re=${abi//+/[+]}
	if [ ! -x "$top/tests/trees/make-rocm-shape" ]; then
		n=$((n + 1))
		echo "ok $n - $name # SKIP no tests/trees/make-rocm-shape"
		return
	fi
	rm -rf "$work/shape"
	if ! "$top/tests/trees/make-rocm-shape" "$(tests/vm/fetch-kernel --quiet "$series")/source" "$work/shape" >"$work/out" 2>&1; then
		result 1 "$name: a package of its shape" "$work/out"
		return
	fi
	conf=$work/shape/dkms.conf
	own=$(sed -n 's/^PACKAGE_VERSION="\?\([^"]*\)"\?/\1/p' "$conf")
	version_re=${own//./[.]}
	package=/usr/src/amdgpu-$own
	cp -r "$work/shape" "$root$package"
	cp -r "$top/tests/dkms/stub" "$root/opt/stub"
	# shellcheck disable=SC2016 # DKMS expands it
	printf 'MAKE[0]="/opt/stub/package $kernel_source_dir"\nPRE_BUILD=\nCLEAN=true\n' >"$root/etc/dkms/amdgpu.conf"
	check "$name: DKMS installs it" host dkms install "amdgpu/$own" -k "$abi"
	check "$name: it is what is used" rocm_installed "$version_re"
	before=$(host modinfo -k "$abi" -F srcversion amdgpu)

	touch "$root/opt/stub/fail"
	driver 1 "$name, a version of it cannot be built" /opt/kfdprio/dkms/kfdprio-driver install --sbin /usr/local/sbin
	check "$name, a version of it cannot be built: ROCm's own stays" rocm_installed "$version_re"
	check "$name, a version of it cannot be built: it says why" says "$work/out" "error: this build is to fail" "send /var/lib/dkms/amdgpu/.*make.log"
	rm "$root/opt/stub/fail"

	driver 0 "$name, install" /opt/kfdprio/dkms/kfdprio-driver install --sbin /usr/local/sbin
	check "$name, install: a version of it is used" rocm_installed "${version_re}[+]kfdprio[^,]*"
	check "$name, install: modprobe would load ours" ours_is_loadable
	driver 0 "$name, status" kfdprio-driver status
	check "$name, status: says so" says "$work/out" "amdgpu/${version_re}[+]kfdprio.*ROCm's amdgpu-dkms with kfdprio"
	driver 0 "$name, install again" kfdprio-driver install
	check "$name, install again: a version of it is used" rocm_installed "${version_re}[+]kfdprio[^,]*"
	driver 0 "$name, uninstall" kfdprio-driver uninstall --sbin /usr/local/sbin
	check "$name, uninstall: ROCm's own is used again" rocm_installed "$version_re"
	check "$name, uninstall: and it is the same" test "$(host modinfo -k "$abi" -F srcversion amdgpu)" = "$before"
	check "$name, uninstall: nothing is left" rocm_nothing_left

	cp "$debs"/kfdprio-dkms_*.deb "$root/tmp/"
	check "$name, as a package" host sh -c 'dpkg -i /tmp/kfdprio-dkms_*.deb'
	check "$name, as a package: a version of it is used" rocm_installed "${version_re}[+]kfdprio[^,]*"
	check "$name, as a package: purge" host dpkg --purge kfdprio-dkms
	check "$name, as a package: ROCm's own is used again" rocm_installed "$version_re"
	check "$name, as a package: nothing is left" rocm_nothing_left

	host dkms remove "amdgpu/$own" --all >"$work/check.log" 2>&1
	rm -rf "${root:?}$package" "$root/etc/dkms/amdgpu.conf" "$root/opt/stub"
	check "$name: it goes, and the kernel's own is used" stock_is_loadable
}

rocm_nothing_left() {
	local left
	left=$(ls -d "$root"/usr/src/kfdprio* "$root"/usr/src/.kfdprio* "$root"/usr/src/amdgpu-*+kfdprio* "$root"/var/lib/dkms/kfdprio \
		"$root"/var/lib/dkms/amdgpu/*+kfdprio* "$root"/usr/*bin/kfdprio* "$root"/usr/local/*bin/kfdprio* 2>/dev/null)
	[ -z "$left" ] || { echo "left: $left"; return 1; }
}
