# SPDX-License-Identifier: GPL-2.0
# tests/dkms/rocm.sh - a host with ROCm's amdgpu-dkms: .deb packages of its shape, made by tests/trees/make-rocm-shape from
# the kernel's own source, which DKMS builds with stubs for modules.  See tests/dkms/run.
# shellcheck shell=bash disable=SC2154 # variables of the caller

rocm_modules=(amdgpu amdttm amdkcl amd-sched amddrm_ttm_helper amddrm_buddy amdxcp)

# rocm_is VERSION [KERNEL]: DKMS has exactly that version of amdgpu installed for the kernel and no kfdprio, and every
# module that modprobe would load was built of it
rocm_is() {
	local want=$1 kernel=${2-$abi} module have status=0 installed
	installed=$(host dkms status -k "$kernel" | sed -nE 's/^((amdgpu|kfdprio)\/[^,]*),.*: installed.*/\1/p')
	[ "$installed" = "amdgpu/$want" ] || { echo "DKMS has installed: ${installed:-nothing}, not amdgpu/$want"; status=1; }
	for module in "${rocm_modules[@]}"; do
		have=$(host modinfo -k "$kernel" -F build "$module" 2>&1)
		[ "$have" = "$want" ] || { echo "$module is of '$have', not of $want"; status=1; }
	done
	[ "$status" = 0 ] || { host dkms status; cat "$work/out"; }
	return $status
}
# rocm_stands VERSION: amdgpu is that one
rocm_stands() {
	host dkms status -m amdgpu -v "$1" -k "$abi" | grep ': installed' && [ "$(host modinfo -k "$abi" -F build amdgpu)" = "$1" ] || { cat "$work/out"; return 1; }
}
# nothing with kfdprio in it is in DKMS for ROCm's package, nor in /usr/src, nor /etc/dkms
rocm_no_derived() {
	local left
	left=$(ls -d "$root"/usr/src/.kfdprio* "$root"/usr/src/amdgpu-*+kfdprio* "$root"/var/lib/dkms/amdgpu/*+kfdprio* 2>/dev/null
		grep -l kfdprio "$root"/usr/src/amdgpu-*/dkms.conf 2>/dev/null)
	[ -z "$left" ] || { echo "left: $left"; return 1; }
}
# the only version with kfdprio in it that is anywhere
rocm_only_derived() {
	local left
	left=$(cd "$root" && for f in usr/src/amdgpu-*+kfdprio* var/lib/dkms/amdgpu/*+kfdprio*; do [ ! -e "$f" ] || basename "$f"; done | sed 's/^amdgpu-//' | sort -u)
	[ "$left" = "$1" ] || { echo "there is: $left"; return 1; }
}
rocm_nothing_left() {
	local left
	rocm_no_derived || return 1
	left=$(ls -d "$root"/usr/src/kfdprio* "$root"/var/lib/dkms/kfdprio "$root"/var/lib/kfdprio "$root"/run/kfdprio "$root"/usr/*bin/kfdprio* \
		"$root"/usr/share/kfdprio "$root"/usr/local/share/kfdprio "$root"/usr/local/*bin/kfdprio* "$root"/etc/kernel/*.d/*kfdprio* 2>/dev/null)
	[ -z "$left" ] || { echo "left: $left"; return 1; }
}
configured() {
	[ "$(host dpkg-query -W -f '${db:Status-Status}' "$1")" = installed ] || { host dpkg -l "$1"; cat "$work/out"; return 1; }
}
# rocm_conf_is_asis VERSION: its dkms.conf is a link, as in AMD's releases, and has nothing of ours in it
rocm_conf_is_asis() {
	local conf=$root/usr/src/amdgpu-$1/dkms.conf
	ls -l "$conf"
	[ -L "$conf" ] && ! grep -n kfdprio "$conf"
}
# said by its maintainer scripts: in $work/out
package() { host dpkg -i "/tmp/$1" >"$work/out" 2>&1; }
purge() { host dpkg --purge "$1" >"$work/out" 2>&1; }
not_says() { ! grep -E -- "$2" "$1"; }

# a kernel that is new: the one that there is by another name
rocm_new_kernel() {
	local from=$root/lib/modules/$abi to=$root/lib/modules/$1
	mkdir -p "$to/kernel/drivers/gpu/drm/amd"
	cp -a "$from"/modules.{order,builtin,builtin.modinfo} "$from/build" "$to/"
	cp -a "$from/kernel/drivers/gpu/drm/amd/amdgpu" "$to/kernel/drivers/gpu/drm/amd/"
	host depmod "$1"
}

rocm_setup() {
	local version other modules=$root/lib/modules/$abi
	# DKMS runs depmod for whatever it does: four thousand modules of a kernel would take most of the time
	mount -t tmpfs tmpfs "$work/probe"
	mkdir -p "$work/probe/kernel/drivers/gpu/drm"
	cp -a "$modules"/modules.{order,builtin,builtin.modinfo} "$modules/build" "$work/probe/" &&
		cp -a "$modules"/kernel/drivers/gpu/drm/{amd,ttm,scheduler,*.ko*} "$work/probe/kernel/drivers/gpu/drm/" || return
	mount --move "$work/probe" "$modules" && host depmod "$abi" || return
	rm -rf "$work/shape" "$work/rocm"
	for version in "$v1" "$v2"; do
		tests/trees/make-rocm-shape --light --deb "$work/rocm" "$source" "$work/shape" "$version" && rm -rf "$work/shape" || return
	done
	tests/trees/make-rocm-shape --light --new --deb "$work/rocm" "$source" "$work/shape" "$v3" && rm -rf "$work/shape" || return
	cp "$work"/rocm/*.deb "$debs"/kfdprio-dkms_*.deb "$root/tmp/"
	cp -r "$top/tests/dkms/stub" "$root/opt/stub"
	# shellcheck disable=SC2016 # DKMS expands it
	printf 'MAKE[0]="/opt/stub/package $kernel_source_dir"\nPRE_BUILD=\nCLEAN=true\n' >"$root/etc/dkms/amdgpu.conf"
	# common.postinst builds for the newest of these
	for other in "$root"/boot/config-*; do
		[ "${other##*/}" = "config-$abi" ] || rm "$other"
	done
}

test_rocm() {
	local name="$series: with amdgpu-dkms" abi_re=${abi//+/[+]} ko='' source v1=6.99.0-1.shape v2=6.100.0-2.shape v3=6.101.0-3.shape ours kfdprio_deb
	source=$(tests/vm/fetch-kernel --quiet "$series")/source
	ours=+kfdprio$(sed -n 's/^Version: //p' META)
	kfdprio_deb=$(basename "$debs"/kfdprio-dkms_*.deb)
	rocm_setup >"$work/out" 2>&1
	result $? "$name: packages of its shape" "$work/out"
	package "amdgpu-dkms_${v1}_all.deb"
	# DKMS 3.0 leaves amdxcp, which has no version, as the kernel has it
	check "$name: it is installed, by DKMS's common.postinst" rocm_stands "$v1"
	ko=$(echo "$root/lib/modules/$abi"/updates/dkms/amdgpu.ko*) ko=${ko##*/amdgpu}
	rocm_types
	rocm_checkout
	rocm_packages
	rocm_kernels
	rocm_orders
	rm -rf "$root/etc/dkms/amdgpu.conf" "$root/opt/stub"
	check "$name: it goes, and the kernel's own is used" stock_is_loadable
	umount "$root/lib/modules/$abi"
}

# kfdtrace btf, an ordinary user's: the types of the driver of which DKMS has stripped the module
rocm_types() {
	local name="$series: amdgpu-dkms, kfdtrace btf" dir amd=$root/usr/src/amdgpu-$v1/amd
	for dir in include display pm; do
		cp -a "$source/drivers/gpu/drm/amd/$dir" "$amd/" || return
	done
	cp "$top/tools/kfdtrace/stock/make-btf" "$root/opt/"
	# the cache of compiled objects is root's
	driver 0 "$name" env CCACHE_DISABLE=1 chroot --userspec=nobody / /opt/make-btf -k "$abi" -o /tmp/amdgpu.btf
	check "$name: it says what it has made" says "$work/out" "/tmp/amdgpu.btf: the types of amdgpu for kernel $abi_re"
	check "$name: the types are those of the driver" sh -c "chroot '$root' pahole -C device_queue_manager /tmp/amdgpu.btf | grep -w lock_hidden"
	for dir in include display pm; do
		rm -rf "${amd:?}/$dir"
	done
}

# make install's way, with $v1 installed
rocm_checkout() {
	local name="$series: amdgpu-dkms and a checkout" driver=/opt/kfdprio/dkms/kfdprio-driver i status overlay=$root/opt/kfdprio/kfd_patches/overlay/kfd_prio_main.c
	touch "$root/opt/stub/fail"
	driver 1 "$name, the build fails" "$driver" install --prefix /usr/local
	check "$name, the build fails: ROCm's own stays" rocm_is "$v1"
	check "$name, the build fails: DKMS has nothing of ours that it would build instead of ROCm's" rocm_no_derived
	check "$name, the build fails: the error, the next command and a log" says "$work/out" "error: this build is to fail" \
		"kfdprio-driver install -k $abi_re" "send /var/lib/kfdprio/make-.*[.]log"
	check "$name, the build fails: the log is there" sh -c "test -s $root\$(sed -n 's/.* send //p' $work/out)"
	driver 0 "$name, autoinstall after that" kfdprio-driver autoinstall
	check "$name, autoinstall after that: what failed is not tried again" not_says "$work/out" "building"
	check "$name, autoinstall after that: it says so" says "$work/out" "nothing has changed" "to try again: kfdprio-driver install -k $abi_re"
	rm "$root/opt/stub/fail"

	driver 0 "$name" kfdprio-driver install
	check "$name: all modules are of the version with kfdprio" rocm_is "$v1$ours"
	check "$name: ROCm's dkms.conf is the link that it was" [ -L "$root/usr/src/amdgpu-$v1/dkms.conf" ]
	# a kernel whose name begins as the other's does
	rocm_new_kernel "${abi%?}"
	driver 1 "$name, a kernel without it: install --rocm" kfdprio-driver install --rocm -k "${abi%?}"
	check "$name, a kernel without it: install --rocm says so" says "$work/out" "ROCm's amdgpu-dkms is not installed for this kernel"
	driver 1 "$name, a kernel without it: install" env AMDGPU_SRC=/none kfdprio-driver install -k "${abi%?}"
	check "$name, a kernel without it: install names the command for ROCm's" says "$work/out" "for ROCm's run first: dkms install amdgpu/${v1//./[.]} -k ${abi_re%?}"
	driver 0 "$name, a kernel without it: status" kfdprio-driver status
	check "$name, a kernel without it: status has none installed" sh -c "sed -n '/^kernel ${abi%?}\$/,/^kernel/p' '$work/out' | tee /dev/stderr | grep -E '^  installed: +none'"
	rm -rf "${root:?}/lib/modules/${abi%?}"
	driver 0 "$name, status" kfdprio-driver status
	check "$name, status: says so" says "$work/out" "amdgpu/${v1//./[.]}[+]kfdprio.*ROCm's amdgpu-dkms with kfdprio"
	driver 0 "$name, again" kfdprio-driver install
	check "$name, again: nothing is built" not_says "$work/out" "building"
	driver 0 "$name, DKMS's autoinstall as at boot" dkms autoinstall -k "$abi"
	check "$name, DKMS's autoinstall as at boot: it stays" rocm_is "$v1$ours"

	# one module cannot be replaced: none may be
	echo '/* another */' >>"$overlay"
	mount --bind "$root/lib/modules/$abi/updates/dkms/amdttm$ko" "$root/lib/modules/$abi/updates/dkms/amdttm$ko"
	mount -o remount,bind,ro "$root/lib/modules/$abi/updates/dkms/amdttm$ko"
	driver 1 "$name, one module cannot be replaced" "$driver" install
	check "$name, one module cannot be replaced: all are of the version before" rocm_is "$v1$ours"
	umount "$root/lib/modules/$abi/updates/dkms/amdttm$ko"
	check "$name, one module cannot be replaced: nothing else is in DKMS" rocm_only_derived "$v1$ours"

	mount -t tmpfs -o size=4m tmpfs "$work/probe"
	cp -a "$root/lib/modules/$abi/updates/." "$work/probe/"
	mount --move "$work/probe" "$root/lib/modules/$abi/updates"
	driver 1 "$name, no room in /lib/modules" "$driver" install
	check "$name, no room in /lib/modules: it says so" says "$work/out" "MiB free, the modules need"
	check "$name, no room in /lib/modules: all are of the version before" rocm_is "$v1$ours"
	umount "$root/lib/modules/$abi/updates"

	mkdir -p "$root/sys/firmware/efi/efivars"
	printf '\6\0\0\0\1' >"$root/sys/firmware/efi/efivars/SecureBoot-0"
	driver 1 "$name, Secure Boot and no key" "$driver" install
	check "$name, Secure Boot and no key: it says so" says "$work/out" "Secure Boot is on" "built, but not installed"
	check "$name, Secure Boot and no key: all are of the version before" rocm_is "$v1$ours"
	rm -r "$root/sys/firmware"

	mkdir -p "$root/sys/module/module/parameters"
	echo Y >"$root/sys/module/module/parameters/sig_enforce"
	driver 1 "$name, signed modules only" "$driver" install
	check "$name, signed modules only: it says so" says "$work/out" "signed modules only" "built, but not installed"
	check "$name, signed modules only: all are of the version before" rocm_is "$v1$ours"
	rm -r "$root/sys/module"

	touch "$root/opt/stub/slow"
	echo '/* another */' >>"$overlay"
	chroot "$root" env -i --default-signal=INT HOME=/root LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin "$driver" install >"$work/out" 2>&1 &
	driver_pid=$!
	for ((i = 0; i < 600; i++)); do
		compgen -G "$root/var/lib/dkms/amdgpu/*+kfdprio*+*/build/make.log" >/dev/null && break
		sleep 0.1
	done
	kill -INT "$driver_pid"
	wait "$driver_pid"
	status=$?
	driver_pid=
	result $((status == 130 && i < 600 ? 0 : 1)) "$name, ^C while it builds: exit status 130 (it was $status)" "$work/out"
	check "$name, ^C while it builds: it says what is used" says "$work/out" "interrupted" "modprobe loads /lib/modules/[^ ]*/updates/dkms"
	check "$name, ^C while it builds: all are of the version before" rocm_is "$v1$ours"
	check "$name, ^C while it builds: nothing else is in DKMS" rocm_only_derived "$v1$ours"
	rm "$root/opt/stub/slow"

	driver 0 "$name, other content of the same version" "$driver" install
	check "$name, other content of the same version: it is used" rocm_is "$v1$ours+1"
	check "$name, other content of the same version: the one before is gone" rocm_only_derived "$v1$ours+1"

	sed -i 's/^Version: .*/Version: 90.2.0/' "$root/opt/kfdprio/META"
	touch "$root/opt/stub/fail"
	driver 1 "$name, a newer kfdprio that does not build" "$driver" install
	check "$name, a newer kfdprio that does not build: the older stays" rocm_is "$v1$ours+1"
	rm "$root/opt/stub/fail"
	driver 0 "$name, a newer kfdprio" "$driver" install
	check "$name, a newer kfdprio: it is used" rocm_is "$v1+kfdprio90.2.0"
	check "$name, a newer kfdprio: the older is gone" rocm_only_derived "$v1+kfdprio90.2.0"
	sed -i "s/^Version: .*/Version: ${ours#+kfdprio}/" "$root/opt/kfdprio/META"

	package "amdgpu-dkms_${v2}_all.deb"
	check "$name, amdgpu-dkms is upgraded: its package is configured" configured amdgpu-dkms
	touch "$root/opt/stub/fail"
	driver 0 "$name, amdgpu-dkms is upgraded, and ours does not build: autoinstall" "$driver" autoinstall
	check "$name, amdgpu-dkms is upgraded, and ours does not build: all modules are of ROCm's new one" rocm_is "$v2"
	check "$name, amdgpu-dkms is upgraded, and ours does not build: nothing of the older one is left" rocm_no_derived
	rm "$root/opt/stub/fail"
	driver 0 "$name, amdgpu-dkms is upgraded" "$driver" install
	check "$name, amdgpu-dkms is upgraded: all modules are of the new version" rocm_is "$v2$ours"

	driver 0 "$name, uninstall" "$driver" uninstall --prefix /usr/local
	check "$name, uninstall: ROCm's own is used again" rocm_is "$v2"
	check "$name, uninstall: nothing is left" rocm_nothing_left
	check "$name, uninstall: ROCm's dkms.conf is as it was" rocm_conf_is_asis "$v2"
	(cd "$top" && cp kfd_patches/overlay/kfd_prio_main.c "$overlay")
}

# packages, and dpkg's trigger; with $v2 installed
rocm_packages() {
	local name="$series: amdgpu-dkms and kfdprio-dkms"
	host dpkg --purge amdgpu-dkms >/dev/null 2>&1
	package "amdgpu-dkms_${v1}_all.deb"
	package "$kfdprio_deb"
	check "$name: all modules are of the version with kfdprio" rocm_is "$v1$ours"
	check "$name: configured" configured kfdprio-dkms
	package "amdgpu-dkms_${v2}_all.deb"
	check "$name, amdgpu-dkms is upgraded: all modules are of the new version with kfdprio" rocm_is "$v2$ours"
	check "$name, amdgpu-dkms is upgraded: the old one is gone" rocm_only_derived "$v2$ours"
	check "$name, amdgpu-dkms is upgraded: configured" configured amdgpu-dkms
	package "amdgpu-dkms_${v2}_all.deb"
	check "$name, amdgpu-dkms is reinstalled: all modules are of the version with kfdprio" rocm_is "$v2$ours"
	touch "$root/opt/stub/fail-base"
	package "amdgpu-dkms_${v1}_all.deb"
	check "$name, amdgpu-dkms is changed for one that does not build, ours does: all modules are of it" rocm_is "$v1$ours"
	touch "$root/opt/stub/fail"
	host dpkg --unpack "/tmp/amdgpu-dkms_${v2}_all.deb" >"$work/out" 2>&1
	host dpkg --configure -a >>"$work/out" 2>&1
	check "$name, amdgpu-dkms is changed for one that does not build, nor does ours: what worked stays" rocm_is "$v1$ours"
	check "$name, amdgpu-dkms is changed for one that does not build, nor does ours: kfdprio-dkms is configured" configured kfdprio-dkms
	rm "$root/opt/stub/fail" "$root/opt/stub/fail-base"
	host dpkg --configure -a >"$work/out" 2>&1
	driver 0 "$name, and when that is mended" kfdprio-driver install
	check "$name, and when that is mended: all modules are of it" rocm_is "$v2$ours"
}

# a kernel more; with $v2 and kfdprio-dkms installed
rocm_kernels() {
	local name="$series: amdgpu-dkms and a new kernel" new=9.9.9-new
	rocm_new_kernel "$new"
	touch "$root/opt/stub/fail"
	driver 0 "$name that ours does not build for: DKMS's hook" /etc/kernel/postinst.d/dkms "$new"
	driver 0 "$name that ours does not build for: our hook" /etc/kernel/postinst.d/dkms-kfdprio "$new"
	check "$name that ours does not build for: ROCm's own is in place" rocm_is "$v2" "$new"
	check "$name that ours does not build for: ours is, for the other" rocm_is "$v2$ours"
	driver 0 "$name that ours does not build for: dkms autoinstall" dkms autoinstall -k "$new"
	check "$name that ours does not build for, dkms autoinstall: ROCm's own is in place" rocm_is "$v2" "$new"
	rm "$root/opt/stub/fail"
	driver 0 "$name, install -k" kfdprio-driver install -k "$new"
	check "$name, install -k: all modules are of the version with kfdprio" rocm_is "$v2$ours" "$new"
	package "amdgpu-dkms_${v1}_all.deb"
	check "$name, amdgpu-dkms is changed: all modules of the one are of the new version" rocm_is "$v1$ours"
	check "$name, amdgpu-dkms is changed: and of the other" rocm_is "$v1$ours" "$new"
	check "$name, amdgpu-dkms is changed: the old one is gone" rocm_only_derived "$v1$ours"
	driver 0 "$name goes: DKMS's hook" /etc/kernel/prerm.d/dkms "$new"
	rm -rf "${root:?}/lib/modules/$new" "$root"/var/lib/dkms/amdgpu/*"$new"*
	check "$name goes: ours is, for the other" rocm_is "$v1$ours"
}

# both purged, in either order; with $v1 and kfdprio-dkms installed
rocm_orders() {
	local name="$series: amdgpu-dkms and kfdprio-dkms"
	purge kfdprio-dkms
	check "$name, kfdprio-dkms is purged: ROCm's own is used again" rocm_is "$v1"
	check "$name, kfdprio-dkms is purged: nothing is left" rocm_nothing_left
	package "$kfdprio_deb"
	check "$name, installed again: all modules are of the version with kfdprio" rocm_is "$v1$ours"
	rm -rf "$root/opt/stub"
	use_stub
	purge amdgpu-dkms
	check "$name, amdgpu-dkms is purged: nothing of it is left" rocm_no_derived
	check "$name, amdgpu-dkms is purged: kfdprio on the kernel's own amdgpu is used" ours_is_loadable
	check "$name, amdgpu-dkms is purged: configured" configured kfdprio-dkms
	package "amdgpu-dkms_${v1}_all.deb"
	check "$name, amdgpu-dkms is installed again: all modules are of the version with kfdprio" rocm_is "$v1$ours"
	purge amdgpu-dkms
	purge kfdprio-dkms
	check "$name, both are purged: nothing is left" rocm_nothing_left
	check "$name, both are purged: modprobe loads the kernel's own" stock_is_loadable
	rm -f "$root/etc/dkms/kfdprio.conf"

	package "amdgpu-dkms_${v3}_all.deb"
	package "$kfdprio_deb"
	check "$name, no patch fits and there is no spatch: configured" configured kfdprio-dkms
	check "$name, no patch fits and there is no spatch: ROCm's own stays" rocm_is "$v3"
	check "$name, no patch fits and there is no spatch: the next commands" says "$work/out" "apt install coccinelle" "kfdprio-driver install -k $abi_re"
	purge kfdprio-dkms
	check "$name, no patch fits, purge: nothing is left" rocm_nothing_left
	purge amdgpu-dkms
}
