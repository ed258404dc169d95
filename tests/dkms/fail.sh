# SPDX-License-Identifier: GPL-2.0
# tests/dkms/fail.sh - what fails on the way leaves the kernel's own amdgpu, and says why.  See tests/dkms/run.
# shellcheck shell=bash disable=SC2154 # variables of the caller

# build_errors FILE: prints the compiler's errors from the make.log that DKMS names in FILE, since the log is deleted with $root
build_errors() {
	local log
	log=$(sed -n 's/.*Consult \(.*\) for more information.*/\1/p' "$1" | tail -n 1)
	[ -z "$log" ] || grep -E -m 20 'error:|Error [0-9]|No rule' "$root$log" || tail -n 20 "$root$log"
}

# driver STATUS NAME COMMAND...: kfdprio-driver in $root, its output in $work/out; it must end with that status
driver() {
	local want=$1 name=$2 status=0
	shift 2
	host "$@" >"$work/out" 2>&1 || status=$?
	[ "$status" = "$want" ] || { echo "exit status $status, not $want"; build_errors "$work/out"; } >>"$work/out"
	result $((status == want ? 0 : 1)) "$name: exit status $want" "$work/out"
}

# no process has $root for its root, within four seconds: of DKMS 3.2, which draws dots, a "sleep 3" may be left
nobody_inside() {
	local i
	for ((i = 0; i < 40; i++)); do
		! inside >/dev/null || { sleep 0.1; continue; }
		return 0
	done
	inside
	return 1
}
# a process whose root is the host's
inside() {
	local link
	for link in /proc/[0-9]*/root; do
		if [ "$(readlink "$link" 2>/dev/null)" = "$root" ]; then
			tr '\0' ' ' <"${link%root}cmdline"
			return
		fi
	done
	return 1
}

# as a checkout has it, without git and what was built
copy_checkout() {
	mkdir "$root/opt/kfdprio"
	(cd "$top" && git ls-files -z | tar --null -T - -cf - 2>/dev/null) | tar -xf - -C "$root/opt/kfdprio"
}

test_source() {
	local name="$series: no linux-source"
	host dpkg --purge "linux-source-$series" >/dev/null 2>&1
	install_packages >"$work/out" 2>&1
	result $? "$name: the package is configured" "$work/out"
	check "$name: the package is configured: dpkg says so, too" sh -c "chroot $root dpkg-query -W -f '\${Status}' kfdprio-dkms | grep 'ok installed'"
	check "$name: it says what to install" says "$work/out" "${abi//+/[+]}: kfdprio is not built: .*apt install linux-source-$series=${version//+/[+]}" "kfdprio-driver install -k ${abi//+/[+]}"
	check "$name: modprobe loads the kernel's own" stock_is_loadable
	# what the package of a new kernel runs when it is configured
	driver 0 "$name, a kernel's package is configured: DKMS's hook" /etc/kernel/postinst.d/dkms "$abi"
	driver 0 "$name, a kernel's package is configured" /etc/kernel/postinst.d/dkms-kfdprio "$abi"
	check "$name, a kernel's package is configured: it says what is not built, and why" says "$work/out" \
		"${abi//+/[+]}: kfdprio is not built: .*apt install linux-source-$series=${version//+/[+]}" "kfdprio-driver install -k ${abi//+/[+]}"
	driver 0 "$name, headers without their kernel" /etc/kernel/header_postinst.d/dkms-kfdprio 6.9.1-none
	driver 0 "$name, headers without their kernel: autoinstall" dkms autoinstall -k 6.9.1-none
	driver 1 "$name, kfdprio-driver install" kfdprio-driver install
	check "$name: the exact apt command, the driver that is used" says "$work/out" \
		"apt install linux-source-$series=${version//+/[+]}" "modprobe loads /lib/modules/[^ ]*/kernel/"
	check "$name: purge" host dpkg --purge kfdprio-dkms
	check "$name: nothing is left" nothing_left
	name="$series: a kernel with PREEMPT_RT"
	install_packages >"$work/check.log" 2>&1
	touch "$root/boot/config-$abi"
	cp "$root/boot/config-$abi" "$work/config"
	echo CONFIG_PREEMPT_RT=y >>"$root/boot/config-$abi"
	driver 0 "$name, autoinstall" kfdprio-driver autoinstall
	check "$name, autoinstall: it says so" says "$work/out" "${abi//+/[+]}: kfdprio is not built: kfdprio does not support kernels with PREEMPT_RT"
	driver 1 "$name, install" kfdprio-driver install
	check "$name: modprobe loads the kernel's own" stock_is_loadable
	cp "$work/config" "$root/boot/config-$abi"
	host dpkg --purge kfdprio-dkms >/dev/null 2>&1
	name="$series: no linux-source"
	driver 1 "$name, AMDGPU_SRC that is not there" env AMDGPU_SRC=/nowhere /opt/kfdprio/dkms/kfdprio-driver install -k "$abi"
	check "$name: it says so" says "$work/out" "AMDGPU_SRC=/nowhere: no such directory"
	driver 2 "$name, uninstall -k" /opt/kfdprio/dkms/kfdprio-driver uninstall -k "$abi"
	driver 2 "$name, install --prefix of a relative path" /opt/kfdprio/dkms/kfdprio-driver install --prefix usr/local
	driver 2 "$name, install --prefix of a name for the shell" /opt/kfdprio/dkms/kfdprio-driver install --prefix '/usr/a b'
	driver 1 "$name, install -k of a path" /opt/kfdprio/dkms/kfdprio-driver install -k ../../tmp
	driver 0 "$name, uninstall" /opt/kfdprio/dkms/kfdprio-driver uninstall
	check "$name, uninstall: nothing is left" nothing_left
}

test_hook() {
	local name="$series: a broken hook" patch
	install_packages_unbuilt
	for patch in "$root"/usr/share/kfdprio/driver/kfd_patches/*/hooks.patch; do
		sed -i 's/^ \(.*kfd_create_process.*\)$/ \1 drifted/; s/^-\(.*\)$/-\1 drifted/' "$patch"
	done
	driver 1 "$name" kfdprio-driver install
	check "$name: it names file, hook and function" says "$work/out" "differs from what kfdprio knows" "kfd_.*\.c +[a-z_]+ +kfd_prio_hook_.* no place" "[0-9]+ of [0-9]+ hooks do not fit"
	check "$name: modprobe loads the kernel's own" stock_is_loadable
	host dpkg --purge kfdprio-dkms >/dev/null 2>&1
	check "$name: nothing is left" nothing_left
}

# unpacked, not configured: DKMS has not run
install_packages_unbuilt() {
	cp "$debs"/kfdprio-dkms_*.deb "$root/tmp/"
	host dpkg --unpack "/tmp/$(basename "$debs"/kfdprio-dkms_*.deb)" >"$work/check.log" 2>&1
}

test_disk() {
	local name="$series: no room in /var/lib/dkms" version
	install_packages_unbuilt
	mount -t tmpfs -o size=200m tmpfs "$root/var/lib/dkms"
	driver 1 "$name" kfdprio-driver install
	check "$name: it says where and how much" says "$work/out" "MiB free on /var/lib/dkms" "modprobe loads /lib/modules/[^ ]*/kernel/"
	check "$name: modprobe loads the kernel's own" stock_is_loadable
	# room enough for the check, and then not
	name="$series: /var/lib/dkms runs full while it builds"
	mount -o remount,size=1500m "$root/var/lib/dkms"
	fill_later "$root/var/lib/dkms"
	driver 1 "$name" kfdprio-driver install
	wait "$filler" 2>/dev/null
	check "$name: it says so" says "$work/out" "No space left on device" "modprobe loads /lib/modules/[^ ]*/kernel/"
	check "$name: modprobe loads the kernel's own" stock_is_loadable
	# what the failed build left behind may still run there for a moment
	umount "$root/var/lib/dkms" 2>/dev/null || umount -l "$root/var/lib/dkms"

	name="$series: no room in /lib/modules"
	use_stub
	mkdir -p "$root/lib/modules/$abi/updates"
	mount -t tmpfs -o size=64k tmpfs "$root/lib/modules/$abi/updates"
	driver 1 "$name" kfdprio-driver install
	check "$name: it says so" says "$work/out" "/lib/modules/.*MiB free, the module needs"
	check "$name: modprobe loads the kernel's own" stock_is_loadable
	umount "$root/lib/modules/$abi/updates"
	rmdir "$root/lib/modules/$abi/updates"

	name="$series: a copy of the module that is not whole"
	version=$(basename "$(printf '%s\n' "$root"/usr/src/kfdprio-* | sort -V | tail -n 1)")
	version=${version#kfdprio-}
	host dkms build "kfdprio/$version" -k "$abi" >"$work/check.log" 2>&1
	truncate -s 1000 "$root/var/lib/dkms/kfdprio/$version/$abi"/x86_64/module/amdgpu.ko*
	# DKMS 3.0 says that it did, whatever its scripts say
	host dkms install "kfdprio/$version" -k "$abi" >"$work/out" 2>&1
	check "$name: it says so" says "$work/out" "differs from the built module|no complete amdgpu module" "^kfdprio: nothing is installed for "
	check "$name: DKMS does not have it as installed" sh -c "! chroot $root dkms status -m kfdprio -k $abi | grep installed"
	check "$name: modprobe loads the kernel's own" stock_is_loadable
	rm -r "$root/etc/dkms/kfdprio.conf" "$root/opt/stub"
	# dpkg runs no prerm of a package that was never configured
	host dkms remove "kfdprio/$version" --all >/dev/null 2>&1
	host dpkg --purge kfdprio-dkms >/dev/null 2>&1
	check "$name: nothing is left" nothing_left
}

# fill_later DIR: when the compiler has begun there, take what is left
fill_later() {
	local dir=$1
	(
		for ((i = 0; i < 1200; i++)); do
			if grep -qs 'CC \[M\]' "$dir"/kfdprio/*/build/make.log; then
				head -c 2G /dev/zero >"$dir/filler" 2>/dev/null
				break
			fi
			sleep 0.1
		done
	) &
	filler=$!
}

test_interrupt() {
	local name="$series: ^C while it compiles" status=0 i
	# on a terminal ^C reaches everybody; what is in the background ignores it
	chroot "$root" env -i --default-signal=INT HOME=/root LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		/opt/kfdprio/dkms/kfdprio-driver install --prefix /usr/local >"$work/out" 2>&1 &
	driver_pid=$!
	for ((i = 0; i < 1200; i++)); do
		! grep -qs 'CC \[M\]' "$root"/var/lib/dkms/kfdprio/*/build/make.log || break
		sleep 0.1
	done
	result $((i < 1200 ? 0 : 1)) "$name: it compiles" "$work/out"
	kill -INT "$driver_pid"
	for ((i = 0; i < 300; i++)); do
		kill -0 "$driver_pid" 2>/dev/null || break
		sleep 0.1
	done
	wait "$driver_pid" || status=$?
	driver_pid=
	result $((status == 130 && i < 300 ? 0 : 1)) "$name: exit status 130 within 30 s (it was $status)" "$work/out"
	check "$name: no compiler goes on" nobody_inside
	check "$name: it says what is used" says "$work/out" "interrupted" "modprobe loads /lib/modules/[^ ]*/kernel/" "to start again: kfdprio-driver install -k [0-9]"
	check "$name: modprobe loads the kernel's own" stock_is_loadable
	driver 0 "$name, uninstall" kfdprio-driver uninstall --prefix /usr/local
	check "$name, uninstall: nothing is left" nothing_left
}

# make install's own ways, with the stub in amdgpu's place
test_driver() {
	local name="$series: install from a checkout"
	use_stub
	driver 0 "$name" /opt/kfdprio/dkms/kfdprio-driver install --prefix /usr/local
	check "$name: modprobe would load it" ours_is_loadable
	check "$name: the kernel's own is where it was" test -s "$(echo "$root/lib/modules/$abi"/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko*)"
	driver 0 "$name, again" kfdprio-driver install
	check "$name, again: modprobe would load it" ours_is_loadable
	driver 0 "$name, status" kfdprio-driver status
	check "$name, status: says so" says "$work/out" "installed: +kfdprio/" "modprobe: .*updates/dkms" "loaded amdgpu:" "Secure Boot:"
	driver 0 "$name, uninstall" kfdprio-driver uninstall --prefix /usr/local
	check "$name, uninstall: nothing is left" nothing_left
	check "$name, uninstall: modprobe loads the kernel's own" stock_is_loadable
	driver 0 "$name, uninstall again" /opt/kfdprio/dkms/kfdprio-driver uninstall
	driver 2 "an unknown command" /opt/kfdprio/dkms/kfdprio-driver upgrade
	driver 1 "a kernel that is not installed" /opt/kfdprio/dkms/kfdprio-driver install -k 5.10.0-1-amd64
	check "it says so" says "$work/out" "kernel 5.10.0-1-amd64 is not installed"
	rm -r "$root/etc/dkms/kfdprio.conf" "$root/opt/stub"
	driver 0 "uninstall after that" /opt/kfdprio/dkms/kfdprio-driver uninstall
	check "uninstall after that: nothing is left" nothing_left
}

fast_series() {
	local began=$SECONDS name
	new_host
	copy_checkout
	for name in "${tests[@]}"; do
		if [[ " ${apt_tests[*]} " != *" $name "* ]]; then
			"test_$name"
		elif has_archive; then
			"test_$name"
			new_host
			copy_checkout
		else
			note "$series: $name: there is one kernel of this series in the archive; see has_archive in tests/dkms/apt.sh"
		fi
	done
	note "$series: $((SECONDS - began)) s without a build"
}
