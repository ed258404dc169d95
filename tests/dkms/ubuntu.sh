# SPDX-License-Identifier: GPL-2.0
# tests/dkms/ubuntu.sh - where find-source looks on Ubuntu: packages of the names and the layout that Ubuntu's have, with
# nothing in them but what is looked for.  See tests/dkms/run.
# shellcheck shell=bash disable=SC2154 # variables of the caller

# fake_package NAME VERSION SOURCE [DIRECTORY]: a package with what is in the directory
fake_package() {
	local dir=$work/pkg
	rm -rf "$dir"
	mkdir -p "$dir/DEBIAN"
	[ -z "${4-}" ] || cp -r "$4/." "$dir/"
	printf 'Package: %s\nVersion: %s\nSource: %s\nArchitecture: all\nMaintainer: tests <tests@kfdprio.invalid>\nDescription: empty\n' \
		"$1" "$2" "$3" >"$dir/DEBIAN/control"
	dpkg-deb --root-owner-group -b "$dir" "$root/tmp/$1.deb" >/dev/null && host dpkg -i "/tmp/$1.deb"
}
# fake_headers KERNEL VERSION SOURCE
fake_headers() {
	rm -rf "$work/headers"
	mkdir -p "$work/headers/usr/src/linux-headers-$1/include"
	fake_package "linux-headers-$1" "$2" "$3" "$work/headers"
}

test_ubuntu() {
	local name="$series: Ubuntu's packages" find=/opt/kfdprio/kfd_patches/find-source tree=$work/ubuntu pkg
	cp "$root/usr/lib/os-release" "$work/os-release"
	sed -i 's/^ID=.*/ID=ubuntu/' "$root/usr/lib/os-release"
	rm -rf "$tree"
	mkdir -p "$tree/linux-source-6.8.0/drivers/gpu/drm/amd/amdkfd" "$tree/root/usr/src/linux-source-6.8.0"
	touch "$tree/linux-source-6.8.0/drivers/gpu/drm/amd/amdkfd/kfd_priv.h"
	tar -C "$tree" -cjf "$tree/root/usr/src/linux-source-6.8.0/linux-source-6.8.0.tar.bz2" linux-source-6.8.0
	ln -s linux-source-6.8.0/linux-source-6.8.0.tar.bz2 "$tree/root/usr/src/linux-source-6.8.0.tar.bz2"

	driver 1 "$name, none" "$find" 6.8.0-45-generic
	check "$name, none: apt command" says "$work/out" "apt install linux-headers-6.8.0-45-generic$"
	check "$name: headers" fake_headers 6.8.0-45-generic 6.8.0-45.45 linux
	driver 1 "$name, no source" "$find" 6.8.0-45-generic
	check "$name, no source: apt command" says "$work/out" "apt install linux-source-6.8.0=6.8.0-45.45$"
	check "$name: a source of another version" fake_package linux-source-6.8.0 6.8.0-44.44 linux "$tree/root"
	driver 1 "$name, another version" "$find" 6.8.0-45-generic
	check "$name, another version: named" says "$work/out" "linux-source-6.8.0 6.8.0-45.45, installed is 6.8.0-44.44"
	check "$name: the source" fake_package linux-source-6.8.0 6.8.0-45.45 linux "$tree/root"
	if [ -e "$root/bin/bzip2" ]; then
		driver 0 "$name" "$find" 6.8.0-45-generic
		check "$name: it is what is printed" test -e "$root$(tail -n 1 "$work/out")/drivers/gpu/drm/amd/amdkfd/kfd_priv.h"
	else
		driver 1 "$name, no bzip2" "$find" 6.8.0-45-generic
		check "$name, no bzip2: it says so" says "$work/out" "bzip2: Cannot exec" "cannot unpack"
	fi
	check "$name: headers of an HWE kernel" fake_headers 6.11.0-9-generic 6.11.0-9.9~24.04.1 linux-hwe-6.11
	driver 1 "$name, HWE" "$find" 6.11.0-9-generic
	# Ubuntu 24.04 has no linux-hwe-6.11-source-6.11.0
	check "$name, HWE: no package that does not exist; apt source, and where to" sh -c "! grep 'apt install' '$work/out' &&
		grep -F 'apt source linux-hwe-6.11=6.11.0-9.9~24.04.1,' '$work/out' && grep -F 'as /usr/src/linux-6.11.0-9-generic,' '$work/out'"
	# the archive of HWE has the name of its package
	rm -rf "$tree"
	pkg=linux-hwe-6.11-source-6.11.0
	mkdir -p "$tree/$pkg/drivers/gpu/drm/amd/amdkfd" "$tree/root/usr/src/$pkg"
	touch "$tree/$pkg/drivers/gpu/drm/amd/amdkfd/kfd_priv.h"
	tar -C "$tree" -cJf "$tree/root/usr/src/$pkg/$pkg.tar.xz" "$pkg"
	check "$name, HWE: the source" fake_package $pkg 6.11.0-9.9~24.04.1 linux-hwe-6.11 "$tree/root"
	driver 0 "$name, HWE, installed" "$find" 6.11.0-9-generic
	check "$name, HWE, installed: it is what is printed" test -e "$root$(tail -n 1 "$work/out")/drivers/gpu/drm/amd/amdkfd/kfd_priv.h"
	check "$name: headers of a newer HWE kernel" fake_headers 6.11.0-10-generic 6.11.0-10.10~24.04.1 linux-hwe-6.11
	driver 1 "$name, HWE, another version" "$find" 6.11.0-10-generic
	check "$name, HWE, another version: apt command" says "$work/out" "apt install linux-hwe-6.11-source-6.11.0=6.11.0-10.10~24.04.1$"
	host dpkg --purge linux-headers-6.8.0-45-generic linux-headers-6.11.0-9-generic linux-headers-6.11.0-10-generic linux-source-6.8.0 $pkg >/dev/null 2>&1
	cp "$work/os-release" "$root/usr/lib/os-release"
}
