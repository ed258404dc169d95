# SPDX-License-Identifier: GPL-2.0
# tests/dkms/apt.sh - what apt does on a host: kernels come, kfdprio comes, goes, is upgraded.  See tests/dkms/run.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of the caller
#
# A Debian without any kernel, and an archive in a directory with two real kernels of $series: image, headers and source as the
# distribution has them, with its maintainer scripts.  What takes minutes and is not asked for is taken out of them: modules
# that amdgpu does not need, source that is not amdgpu's.

# series of which the distribution's archive has two kernels with their source
has_archive() { case $series in 6.12|7.2) ;; *) false ;; esac; }

# the packages of a kernel: ABI VERSION.  Since 7.2 an image is several packages, which want a newer linux-base than the suite has
packages_of() {
	local abi=$1 version=$2 part
	echo "linux-image-$abi=$version linux-headers-$abi=$version linux-headers-${abi%-amd64}-common=$version" \
		"linux-kbuild-${abi%-amd64}=$version linux-source-$series=$version"
	for part in linux-binary linux-modules linux-base; do
		[ -z "$(host apt-cache madison "$part-$abi")" ] || echo "$part-$abi=$version"
	done
	part=$(host apt-cache madison linux-base | awk -F' *[|] *' '{ print $2; exit }')
	[ "$(host dpkg-query -W -f '${Version}' linux-base 2>/dev/null)" = "$part" ] || echo "linux-base=$part"
}

# slim DEB DIR: the same package in DIR, smaller
slim() {
	local deb=$1 x=$work/slim name f keep base
	rm -rf "$x"
	mkdir "$x"
	name=$(dpkg-deb -f "$deb" Package)
	case $name in
	linux-image-*|linux-modules-*)
		dpkg-deb -R "$deb" "$x"
		f=${name#linux-*-} base=$x
		[ ! -d "$x/usr/lib/modules" ] || base=$x/usr
		rm -f "$x"/boot/System.map-*.gz
		if [ -d "$base/lib/modules/$f" ]; then
			depmod -b "$base" "$f" 2>/dev/null
			keep=$(modprobe -d "$base" -S "$f" --show-depends amdgpu | awk '{ print $2 }')
			find "$base/lib/modules/$f" -name '*.ko*' | while read -r ko; do
				[[ $keep == *"$ko"* ]] || rm "$ko"
			done
			rm -f "$base/lib/modules/$f"/modules.{dep,alias,symbols,softdep,devname}* "$base/lib/modules/$f/modules.dep.bin"
		fi
		;;
	linux-source-*)
		dpkg-deb -R "$deb" "$x"
		f=$(echo "$x"/usr/src/linux-source-*.tar.xz)
		name=${f##*/} name=${name%.tar.xz}
		mkdir "$x/tree"
		tar -C "$x/tree" -xf "$f" "$name/drivers/gpu/drm/amd"
		rm "$f"
		tar -C "$x/tree" -c "$name" | xz -1 -T2 >"$f"
		rm -r "$x/tree"
		;;
	*)
		cp "$deb" "$2/"
		return ;;
	esac
	(cd "$x" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | xargs -0 md5sum >DEBIAN/md5sums)
	dpkg-deb --root-owner-group -Zxz -z1 -b "$x" "$2" >/dev/null
	rm -rf "$x"
}

# what an earlier version of this file made; another run may be using what is young
forget_old() { find "$@" -maxdepth 0 -mtime +2 -exec rm -rf {} + 2>/dev/null || :; }

# Sets $repo, a directory with Debian packages of two kernels of $series, $old_abi, $old_version, $abi, $version; made once
make_repo() {
	local debs=$work/kernels names v a pkg new new_repo
	repo=$cache/dkms/repo-$abi-$(declare -f packages_of slim | sha256sum | cut -c1-8)
	if [ ! -e "$repo/old" ]; then
		note "$series: making an archive of two kernels in $repo (once)"
		forget_old "$cache/dkms/repo-$abi"-*
		new_repo=$(mktemp -d "$repo.XXXXXX") || return
		mkdir -p "$debs"
		host apt-get -qq update >"$work/check.log" 2>&1 || return
		# the newest one before $version of which source, headers and image are there
		for v in $(host apt-cache madison "linux-source-$series" | awk -F' *[|] *' '{ print $2 }' | sort -ruV); do
			[ "$v" != "$version" ] || continue
			for a in $(host apt-cache pkgnames "linux-image-$series" | sed -n 's/^linux-image-\([0-9][^-]*\(-[0-9]*\)\?-amd64\)$/\1/p' | sort -rV); do
				[ "$a" != "$abi" ] || continue
				if host apt-cache madison "linux-headers-$a" | awk -F' *[|] *' -v v="$v" '$2 == v { ok = 1 } END { exit !ok }'; then
					break 2
				fi
			done
		done
		[ "${a-}" != "$abi" ] && [ -n "${a-}" ] || { echo "no older kernel of $series in the archive" >"$work/check.log"; return 1; }
		mkdir -p "$root/srv/debs"
		mount --bind "$debs" "$root/srv/debs"
		names=$( (packages_of "$abi" "$version"; packages_of "$a" "$v") | tr ' ' '\n' | sort -u | tr '\n' ' ')
		host sh -c "cd /srv/debs && apt-get -q -o APT::Sandbox::User=root download $names" >"$work/check.log" 2>&1 || return
		umount "$root/srv/debs"
		for pkg in $names; do
			new=${pkg#*=} new=${new//:/%3a}
			slim "$(echo "$debs/${pkg%%=*}_${new}_"*.deb)" "$new_repo" || return
		done
		# as large as the kernels themselves
		rm -rf "$debs"
		(cd "$new_repo" && dpkg-scanpackages -m . 2>/dev/null >Packages)
		echo "$a $v" >"$new_repo/old"
		chmod 755 "$new_repo"
		mv -T "$new_repo" "$repo" 2>/dev/null || rm -rf "$new_repo"	# another run was faster
	fi
	read -r old_abi old_version <"$repo/old"
}

# Sets $clean: a layer over $base that takes all kernels out of it; made once
make_clean() {
	local installed new_clean
	# shellcheck disable=SC2012 # names of ours
	clean=$cache/dkms/${base##*/}-clean-$( (ls "$base/.kfdprio"; declare -f make_clean) | sha256sum | cut -c1-8)
	[ ! -e "$clean/made" ] || return 0
	forget_old "$cache/dkms/${base##*/}"-clean-*
	new_clean=$(mktemp -d "$clean.XXXXXX") || return
	mkdir -p "$new_clean/upper" "$new_clean/work"
	new_host "$new_clean/upper" "$new_clean/work"
	umount "$root"/lib/modules/* 2>/dev/null
	installed=$(host dpkg-query -W -f '${Package}\n' 'linux-image-[0-9]*' 'linux-headers-[0-9]*' 'linux-kbuild-*' 'linux-source-*' \
		'linux-base-[0-9]*' 'linux-binary-[0-9]*' 'linux-modules-[0-9]*' 2>/dev/null)
	# shellcheck disable=SC2086 # a list
	host dpkg --purge --force-depends $installed >"$work/check.log" 2>&1
	rm -rf "$root"/lib/modules/* "$root"/usr/src/linux-* "${root:?}"/boot/* "$root/var/lib/apt/lists"
	mkdir -p "$root/var/lib/apt/lists/partial" "$root/srv/repo" "$root/srv/kfdprio"
	printf 'deb [trusted=yes] file:/srv/%s ./\n' repo kfdprio >"$root/etc/apt/sources.list"
	echo amdgpu >>"$root/etc/initramfs-tools/modules"
	echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/tests"
	end_host
	rm -rf "$new_clean/work"
	touch "$new_clean/made"
	mv -T "$new_clean" "$clean" 2>/dev/null || rm -rf "$new_clean"
}

# apt_host [LAYER]: a Debian without kernels, with the archive
apt_host() {
	local base=${1:+$1:}$clean/upper:$base all_kernels=1
	new_host
	mount --bind "$repo" "$root/srv/repo"
	mount --bind "$work/kfdprio" "$root/srv/kfdprio"
	host apt-get -qq update >"$work/check.log" 2>&1 || { cat "$work/check.log"; echo "Bail out! apt-get update"; exit 1; }
}

# package_as VERSION: the package kfdprio-dkms again, with another version; its contents can be changed in $work/as before
# it is put into the archive by put_package
package_as() {
	rm -rf "$work/as"
	dpkg-deb -R "$debs"/kfdprio-dkms_*.deb "$work/as"
	sed -i "s/^Version: .*/Version: $1/" "$work/as/DEBIAN/control" "$work/as/usr/share/kfdprio/driver/META"
}
put_package() {
	dpkg-deb --root-owner-group -b "$work/as" "$work/kfdprio/" >/dev/null
	(cd "$work/kfdprio" && dpkg-scanpackages -m . 2>/dev/null >Packages)
	host apt-get -qq update >/dev/null 2>&1
}
first_archive() {
	mkdir -p "$work/kfdprio"
	rm -f "$work/kfdprio"/*
	cp "$debs"/kfdprio*_*.deb "$work/kfdprio/"
	(cd "$work/kfdprio" && dpkg-scanpackages -m . 2>/dev/null >Packages)
}

# apt NAME ARGUMENT...: apt-get, its output in $work/out; it must succeed, and leave dpkg with nothing to do
apt() {
	local name=$1 began=$SECONDS
	shift
	driver 0 "$name" apt-get -y -o Dpkg::Use-Pty=0 --no-install-recommends "$@"
	check "$name: dpkg has nothing left to do" consistent
	note "$name: $((SECONDS - began)) s"
}
consistent() {
	host dpkg --audit >"$work/audit" 2>&1
	cat "$work/audit"
	[ ! -s "$work/audit" ]
}
module_of() { host modinfo -k "$1" -n amdgpu; }
# in_use ABI [VERSION]: kfdprio is what modprobe loads for that kernel and what its initramfs has
in_use() {
	local file list
	file=$(module_of "$1") || { echo "modprobe finds no amdgpu"; return 1; }
	case $file in */updates/dkms/amdgpu.ko*) ;; *) echo "modprobe would load $file"; return 1 ;; esac
	host modinfo -F parm "$file" | grep '^kfd_preempt:' || return
	if [ -n "${2-}" ]; then
		host modinfo -F version "$file" | grep -Fx "kfdprio-$2" || { host modinfo "$file"; return 1; }
	fi
	list=$(host lsinitramfs "/boot/initrd.img-$1") || return
	grep 'updates/dkms/amdgpu.ko' <<<"$list" || { grep amdgpu.ko <<<"$list"; echo "not in the initramfs"; return 1; }
	rm -rf "$root/tmp/initramfs"
	host unmkinitramfs "/boot/initrd.img-$1" /tmp/initramfs || return
	list=$(find "$root/tmp/initramfs" -path '*/updates/dkms/amdgpu.ko*')
	# newer initramfs-tools unpack modules
	cmp <(xz -dcf "$root$file") <(xz -dcf "$list") || { echo "the initramfs has another amdgpu"; return 1; }
	rm -rf "$root/tmp/initramfs"
}
# stock_in_use ABI: the kernel's own is what modprobe loads, and what the initramfs has
stock_in_use() {
	local abi=$1 list
	stock_is_loadable || return
	list=$(host lsinitramfs "/boot/initrd.img-$abi") || return
	grep 'kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko' <<<"$list" || { echo "not in the initramfs"; return 1; }
	! grep 'updates/dkms' <<<"$list"
}

# prepare_archive: sets $repo, $clean, and makes the archive with kfdprio in it
prepare_archive() {
	local status=0
	new_host
	make_repo >"$work/check.log" 2>&1 || status=$?
	result $status "$series: an archive with two kernels" "$work/check.log"
	[ $status = 0 ] || return
	make_clean >"$work/check.log" 2>&1 || status=$?
	result $status "$series: a Debian without a kernel" "$work/check.log"
	first_archive
	return $status
}
# apt_series NAME...: those tests
apt_series() {
	local name began=$SECONDS
	for name; do
		"test_$name"
	done
	note "$series: $((SECONDS - began)) s through apt"
}

# what the tests below start from: a host with the older kernel and kfdprio, from one apt install
prepare_apt() {
	[ -z "$apt_ready" ] || return 0
	apt_ready=failed
	prepare_archive || return
	rm -rf "$work/old" "$work/old.work"
	mkdir "$work/old" "$work/old.work"
	local base=$clean/upper:$base all_kernels=1
	new_host "$work/old" "$work/old.work"
	mount --bind "$repo" "$root/srv/repo"
	mount --bind "$work/kfdprio" "$root/srv/kfdprio"
	host apt-get -qq update >"$work/check.log" 2>&1
	use_stub
	apt "$series: one apt install of kernel, headers, source and kfdprio" install "linux-image-$old_abi" "linux-headers-$old_abi" \
		"linux-source-$series=$old_version" kfdprio-dkms kfdprio
	check "$series: one apt install: kfdprio is in /lib/modules and in the initramfs" in_use "$old_abi" "$release"
	end_host
	apt_ready=1
}
# host_with_old [real]: such a host; "real": if a real amdgpu.ko of $abi was built, that is what its stub gives for this kernel
host_with_old() {
	prepare_apt
	[ "$apt_ready" = 1 ] || return
	end_host
	first_archive
	apt_host "$work/old"
	[ "${1-}" != real ] || [ ! -e "$work/real/$abi.ko" ] || cp -r "$work/real" "$root/opt/stub/real"
}
# boots NAME ours|stock: with its newest kernel, $abi, the VM loads that amdgpu; where this is a real one
boots() {
	local name="$1: the VM boots its newest kernel and loads that amdgpu" steps=(loads version events list unload)
	[ -e "$work/real/$abi.ko" ] || return 0
	[ "$2" = ours ] || steps=(stock stock-unload)
	steps=("${steps[@]/#/^guest: }")
	[ "$(find "$root/lib/modules" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -V | tail -n 1)" = "$abi" ] || { result 1 "$name: $abi is not its newest kernel"; return; }
	"$top/tests/vm/run" --no-sim --kernel "$abi" --timeout 600 -- "$here/guest" "--$2" "$root" >"$work/vm.log" 2>&1
	echo "exit $?" >>"$work/vm.log"
	check "$name" says "$work/vm.log" "${steps[@]/%/ ok}" "^exit 0"
}
# make_real: sets $work/real/$abi.ko, the real amdgpu.ko with kfdprio, which DKMS built in $root
make_real() {
	local file
	file=$(would_load) || return
	mkdir -p "$work/real"
	xz -dcf "$root$file" >"$work/real/$abi.ko"
}

test_upgrade() {
	local name
	host_with_old real || return
	name="$series: kernel upgrade in one apt install"
	apt "$name" install "linux-image-$abi" "linux-headers-$abi" "linux-source-$series"
	check "$name: kfdprio is in /lib/modules and in the initramfs" in_use "$abi" "$release"
	check "$name: the older kernel keeps it" in_use "$old_abi" "$release"
	boots "$name" ours

	host_with_old real || return
	name="$series: kernel upgrade, image first"
	apt "$name" install "linux-image-$abi"
	check "$name: it says which headers are missing" says "$work/out" "${abi//+/[+]}: kfdprio is not built: its headers .*apt install linux-headers-${abi//+/[+]}"
	check "$name: the kernel's own is used" stock_in_use "$abi"
	apt "$name, then source" install "linux-source-$series"
	check "$name, then source: the kernel's own is used" stock_in_use "$abi"
	apt "$name, then headers" install "linux-headers-$abi"
	check "$name, then headers: kfdprio is in /lib/modules and in the initramfs" in_use "$abi" "$release"
	check "$name: the older kernel keeps it" in_use "$old_abi" "$release"
	boots "$name" ours

	host_with_old real || return
	name="$series: kernel upgrade, headers first"
	# on Debian 12 apt brings the image with them; it would bring the source, which comes from the same package
	apt "$name" install "linux-headers-$abi" "linux-source-$series=$old_version"
	if [ ! -e "$root/lib/modules/$abi/kernel" ]; then
		check "$name: nothing is said of a kernel that is not there" sh -c "! grep kfdprio-driver $work/out"
		apt "$name, then image" install "linux-image-$abi" "linux-source-$series=$old_version"
	fi
	check "$name: it says which source is missing" says "$work/out" "${abi//+/[+]}: kfdprio is not built: .*installed is ${old_version//+/[+]}: apt install linux-source-$series=${version//+/[+]}"
	check "$name: the kernel's own is used" stock_in_use "$abi"
	apt "$name, then source" install "linux-source-$series"
	check "$name, then source: kfdprio is in /lib/modules and in the initramfs" in_use "$abi" "$release"
	boots "$name" ours
	apt "$name, the older kernel goes" purge "linux-image-$old_abi" "linux-headers-$old_abi"
	check "$name, the older kernel goes: nothing of it is left in DKMS" sh -c "! ls -d $root/var/lib/dkms/kfdprio/*/$old_abi $root/var/lib/dkms/kfdprio/kernel-$old_abi-* 2>/dev/null | grep ."
	check "$name, the older kernel goes: kfdprio stays with the other" in_use "$abi" "$release"
}

test_package() {
	local name
	host_with_old || return
	name="$series: package installed again"
	apt "$name" install --reinstall kfdprio-dkms
	check "$name: nothing is built for what is in place" sh -c "! grep 'building' $work/out"
	check "$name: kfdprio is in use" in_use "$old_abi" "$release"
	name="$series: package removed"
	apt "$name" remove kfdprio-dkms
	check "$name: the kernel's own is in use" stock_in_use "$old_abi"
	name="$series: package installed after that"
	apt "$name" install kfdprio-dkms
	check "$name: kfdprio is in use" in_use "$old_abi" "$release"

	name="$series: upgrade to 90.2.0"
	package_as 90.2.0
	put_package
	: >"$root/opt/stub/fail"
	apt "$name that does not build" install kfdprio-dkms
	check "$name that does not build: it says so, with the log and the next command" says "$work/out" "error: this build is to fail" \
		"modprobe loads .*updates/dkms.*kfdprio $release" "kfdprio-driver install -k ${old_abi//+/[+]}" "send /var/lib/kfdprio/make-"
	check "$name that does not build: the older one stays in use" in_use "$old_abi" "$release"
	driver 0 "$name that does not build, once more" kfdprio-driver autoinstall
	check "$name that does not build, once more: it is not tried again in vain" sh -c "grep 'nothing has changed' $work/out && ! grep building $work/out"
	rm "$root/opt/stub/fail"
	driver 0 "$name, kfdprio-driver install" kfdprio-driver install
	check "$name: 90.2.0 is in use" in_use "$old_abi" 90.2.0
	check "$name: $release is gone" sh -c "! ls -d $root/usr/src/kfdprio-$release* $root/var/lib/dkms/kfdprio/$release* 2>/dev/null | grep ."
	package_as 90.3.0
	put_package
	name="$series: upgrade to 90.3.0 with a new kernel in one apt install"
	apt "$name" install kfdprio-dkms "linux-image-$abi" "linux-headers-$abi" "linux-source-$series"
	check "$name: the new kernel has 90.3.0" in_use "$abi" 90.3.0
	# its source went with the upgrade
	check "$name: the older kernel keeps 90.2.0" in_use "$old_abi" 90.2.0
	check "$name: it says why, and the next command" says "$work/out" "${old_abi//+/[+]}: kfdprio is not built: .*apt install linux-source-$series=${old_version//+/[+]}" \
		"${old_abi//+/[+]}: modprobe loads .*kfdprio 90.2.0"
	driver 0 "$name, status" kfdprio-driver status
	check "$name, status: it says so" says "$work/out" "installed: +kfdprio/90.2.0" "next: +kfdprio-driver install -k ${old_abi//+/[+]}" "installed: +kfdprio/90.3.0"
	name="$series: purge"
	apt "$name" purge kfdprio-dkms kfdprio
	for abi in "$old_abi" "$abi"; do
		check "$name: $abi: the kernel's own is in use" stock_in_use "$abi"
		check "$name: $abi: nothing is left" nothing_left
	done
}

# what a package does, with the real amdgpu.ko
test_boot() {
	local name
	if [ ! -e "$work/real/$abi.ko" ]; then
		real_host || return
		make_real
	fi
	host_with_old real || return
	apt "$series: a host with the newest kernel" install "linux-image-$abi" "linux-headers-$abi" "linux-source-$series"
	name="$series: package installed again on that"
	apt "$name" install --reinstall kfdprio-dkms
	check "$name: kfdprio is in use" in_use "$abi" "$release"
	boots "$name" ours
	name="$series: package removed from that"
	apt "$name" remove kfdprio-dkms
	check "$name: the kernel's own is in use" stock_in_use "$abi"
	boots "$name" stock
	name="$series: package installed after that"
	apt "$name" install kfdprio-dkms
	check "$name: kfdprio is in use" in_use "$abi" "$release"
	boots "$name" ours
	name="$series: a hook in a branch that is not compiled"
	dead_branch "$root/opt"
	mv "$root/etc/dkms/kfdprio.conf" "$root/tmp/"
	host dkms remove "kfdprio/$release" -k "$abi" >/dev/null 2>&1
	driver 1 "$name" env AMDGPU_SRC="/opt/linux-source-$series" kfdprio-driver install -k "$abi"
	check "$name: it says which" says "$work/out" "kfd_process.c: hook kfd_prio_hook_[a-z_]* was compiled 0 times" "modprobe loads /lib/modules/${abi//+/[+]}/kernel/"
	check "$name: the kernel's own is used" stock_is_loadable
	mv "$root/tmp/kfdprio.conf" "$root/etc/dkms/"

	name="$series: package upgraded to 90.2.0 on that"
	package_as 90.2.0
	put_package
	apt "$name" install kfdprio-dkms
	check "$name: kfdprio is in use" in_use "$abi"
	check "$name: it is of 90.2.0" sh -c "readlink $root/var/lib/dkms/kfdprio/kernel-$abi-* | grep '^90[.]2[.]0/'"
	boots "$name" ours
}
# dead_branch DIR: DIR/linux-source-$series has amdgpu's source with a hook's place in a branch that is not compiled
dead_branch() {
	local file=$1/linux-source-$series/drivers/gpu/drm/amd/amdkfd/kfd_process.c
	tar -C "$1" -xf "$root/usr/src/linux-source-$series.tar.xz"
	# the hook goes between this line and the one before it
	awk '
		/^\tcancel_delayed_work_sync\(&p->eviction_work\);/ { before = "#ifdef CONFIG_OF_NO_KERNEL\n" before; $0 = $0 "\n#endif" }
		NR > 1 { print before }
		{ before = $0 }
		END { print before }' "$file" >"$file.new" && mv "$file.new" "$file" && grep -q CONFIG_OF_NO_KERNEL "$file"
}

test_trouble() {
	local name
	host_with_old || return
	name="$series: apt upgrade to a kernel whose source has moved"
	cp -r "$root/usr/share/kfdprio/driver/kfd_patches" "$work/patches"
	sed -i 's/^ \(.*kfd_create_process.*\)$/ \1 drifted/; s/^-\(.*\)$/-\1 drifted/' "$root"/usr/share/kfdprio/driver/kfd_patches/*/hooks.patch
	apt "$name" install "linux-image-$abi" "linux-headers-$abi" "linux-source-$series"
	check "$name: it says so, and what is used" says "$work/out" "${abi//+/[+]}: kfdprio is not built: its source .* differs from what kfdprio knows" "modprobe loads /lib/modules/${abi//+/[+]}/kernel/"
	check "$name: the kernel's own is used" stock_in_use "$abi"
	check "$name: the older kernel keeps kfdprio" in_use "$old_abi" "$release"

	# bare DKMS, as after dkms add by hand: no hook of ours
	name="$series: DKMS's own autoinstall without kfdprio's hook"
	rm "$root"/etc/kernel/*/dkms-kfdprio
	host dkms add /usr/share/kfdprio/driver >/dev/null 2>&1
	driver 0 "$name, a source that has moved" dkms autoinstall -k "$abi"
	check "$name, a source that has moved: it says so" says "$work/out" "kfdprio: not built for ${abi//+/[+]}, which keeps its own amdgpu: its source .* differs"
	check "$name, a source that has moved: the kernel's own is used" stock_is_loadable

	host_with_old || return
	name="$series: /lib/modules is full when a kernel comes"
	apt "$name: the kernel" install "linux-image-$abi" "linux-source-$series"
	mkdir -p "$root/lib/modules/$abi/updates"
	mount -t tmpfs -o size=64k tmpfs "$root/lib/modules/$abi/updates"
	apt "$name" install "linux-headers-$abi"
	check "$name: it says so" says "$work/out" "/lib/modules/.*MiB free, the module needs" "modprobe loads /lib/modules/${abi//+/[+]}/kernel/" "kfdprio-driver install -k"
	check "$name: the kernel's own is used" stock_in_use "$abi"
	umount "$root/lib/modules/$abi/updates"
	rmdir "$root/lib/modules/$abi/updates"
	driver 0 "$name, room was made" kfdprio-driver install -k "$abi"
	check "$name, room was made: kfdprio is in use" in_use "$abi" "$release"

	host_with_old || return
	name="$series: ^C while apt builds"
	interrupt_apt
	check "$name: the older kernel keeps kfdprio" in_use "$old_abi" "$release"
	check "$name: the new kernel has a whole amdgpu" host modprobe --set-version "$abi" --show-depends amdgpu
	driver 0 "$name, dpkg --configure -a" dpkg --configure -a
	check "$name, dpkg --configure -a: dpkg has nothing left to do" consistent
	driver 0 "$name, kfdprio-driver install" kfdprio-driver install
	check "$name, kfdprio-driver install: kfdprio is in use" in_use "$abi" "$release"
}

# a build that takes its time, and ^C as a terminal sends it: to apt and all it has started
interrupt_apt() {
	local pid i
	echo 60 >"$root/opt/stub/slow"
	setsid chroot "$root" env -i --default-signal=INT HOME=/root LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
		apt-get -y -o Dpkg::Use-Pty=0 --no-install-recommends install "linux-image-$abi" "linux-headers-$abi" "linux-source-$series" >"$work/out" 2>&1 &
	pid=$!
	for ((i = 0; i < 1200; i++)); do
		[ ! -e "$root/opt/stub/sleeping" ] || break
		sleep 0.1
	done
	result $((i < 1200 ? 0 : 1)) "$name: it builds" "$work/out"
	kill -INT -- "-$pid"
	rm -f "$root/opt/stub/slow"
	for ((i = 0; i < 3000; i++)); do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	wait "$pid"
	rm -f "$root/opt/stub/sleeping"
	result $((i < 3000 ? 0 : 1)) "$name: apt ends" "$work/out"
	check "$name: dpkg's triggers, with which it goes on, do not build again" built_once
	check "$name: and say why" says "$work/out" "nothing is built, since a build was interrupted: dpkg --configure -a, then kfdprio-driver autoinstall"
	check "$name: nothing goes on" nobody_inside
}

built_once() {
	[ "$(grep -c ': building ' "$work/out")" = 1 ] || { grep -v "^\(Get\|Selecting\|Unpacking\|Preparing\)" "$work/out"; return 1; }
}

# Secure Boot of a chroot: a directory with the firmware's variable and a mokutil that knows what the file /etc/enrolled says
fake_secure_boot() {
	mkdir -p "$root/sys/firmware/efi/efivars"
	printf '\006\000\000\000\001' >"$root/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
	# apt's own PATH has no /usr/local
	cat >"$root/usr/bin/mokutil" <<-'END'
		#!/bin/sh
		[ "$1" = --test-key ] && [ -s "$2" ] || exit 255
		if [ -e /etc/enrolled ]; then echo "$2 is already enrolled"; exit 1; fi
		echo "$2 is not enrolled"
	END
	chmod +x "$root/usr/bin/mokutil"
}

test_key() {
	local name="$series: Secure Boot (faked), DKMS's key is not enrolled"
	host_with_old || return
	fake_secure_boot
	apt "$name" install "linux-image-$abi" "linux-headers-$abi" "linux-source-$series"
	check "$name: it says what to do" says "$work/out" "key is not enrolled.*mokutil --import /var/lib/dkms/mok.pub, reboot" "${abi//+/[+]}: built, but not installed; modprobe loads /lib/modules/[^ ]*/kernel/"
	check "$name: the kernel's own is used" stock_in_use "$abi"
	driver 1 "$name, kfdprio-driver install" kfdprio-driver install -k "$abi"
	check "$name, kfdprio-driver install: the kernel's own is used" stock_in_use "$abi"
	driver 0 "$name, status" kfdprio-driver status
	check "$name, status" says "$work/out" "Secure Boot: on" "key is not enrolled: mokutil --import"
	driver 0 "$name, --force" kfdprio-driver install -k "$abi" --force
	check "$name, --force: kfdprio is in use" in_use "$abi" "$release"
	name="$series: Secure Boot (faked), no mokutil"
	host dkms uninstall "kfdprio/$release" -k "$abi" >/dev/null 2>&1
	mv "$root/usr/bin/mokutil" "$root/tmp/"
	driver 1 "$name" kfdprio-driver install -k "$abi"
	check "$name: it says so" says "$work/out" "needs mokutil.*apt install mokutil"
	check "$name: the kernel's own is used" stock_is_loadable
	name="$series: Secure Boot (faked), DKMS's key is enrolled"
	mv "$root/tmp/mokutil" "$root/usr/bin/"
	touch "$root/etc/enrolled"
	driver 0 "$name" kfdprio-driver autoinstall
	check "$name: kfdprio is in use" in_use "$abi" "$release"
}
