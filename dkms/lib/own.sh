# SPDX-License-Identifier: GPL-2.0
# dkms/lib/own.sh - the DKMS package kfdprio: amdgpu from the source of the kernel itself
# shellcheck shell=bash disable=SC2034,SC2154 # variables of kfdprio-driver
#
# What a package, or make install, brings ($top) is copied to /usr/src/kfdprio-VERSION and added to DKMS as kfdprio/VERSION.
# Other content of the same VERSION is VERSION+1, VERSION+2, ...  DKMS builds a version beside the one that is installed, and
# only then that one is replaced: the working module stays until there is a better one.

# what DKMS needs of $top
own_files=(dkms.conf Kbuild META LICENSES kfd_patches trace_events include dkms)

# content_of DIR: a hash of these files there, but for the version that dkms.conf gives itself
content_of() {
	{
		(cd "$1" && find "${own_files[@]}" -type f ! -name dkms.conf ! -name '*~' -print0 | sort -z | xargs -0 sha256sum)
		sed 's/^PACKAGE_VERSION=.*//' "$1/dkms.conf"
	} 2>/dev/null | sha256sum | cut -c1-16
}

# Sets $own_version, the version in DKMS that has the content of $top, and makes /usr/src/kfdprio-$own_version and DKMS's
# entry for it, if they are not there
add_own() {
	local new n=0 content dir f
	if [ -z "${own_version-}" ]; then
		content=$(content_of "$top")
		own_version=$version dir=/usr/src/$own-$version
		while [ -e "$dir" ] && [ "$top" != "$dir" ] && [ "$(content_of "$dir")" != "$content" ]; do
			# whatever an interrupted copy left, or a package of before that shipped it there
			n=$((n + 1))
			own_version=$version+$n dir=/usr/src/$own-$own_version
		done
		if [ ! -e "$dir" ]; then
			new=$(mktemp -d /usr/src/.kfdprio.XXXXXX) || { own_version=; warn "cannot write to /usr/src"; return 1; }
			for f in "${own_files[@]}"; do
				[ "$f" != LICENSES ] || [ -e "$top/$f" ] || continue	# a package has them elsewhere
				cp -a --no-preserve=ownership "$top/$f" "$new/" || break
			done
			chmod 755 "$new"
			sed -i "s/^PACKAGE_VERSION=.*/PACKAGE_VERSION=\"$own_version\"/" "$new/dkms.conf"
			if [ "$(content_of "$new")" != "$content" ] || ! mv -T "$new" "$dir"; then
				rm -rf "$new"
				own_version=
				warn "$dir: not installed, see above ($(df -Pm /usr/src | awk 'END { print $4 }') MiB are free there)"
				return 1
			fi
			say "source: $dir"
		fi
	fi
	source_dir=/usr/src/$own-$own_version
	[ -e "$dkms_tree/$own/$own_version/source/dkms.conf" ] || {
		rm -rf "${dkms_tree:?}/$own/$own_version"
		dkms add "$own/$own_version" >/dev/null || { warn "dkms add $own/$own_version failed, see above"; return 1; }
	}
}

# version of kfdprio that DKMS has installed for a kernel; nothing if none is
own_installed() {
	local link=$dkms_tree/$own/kernel-$1-$arch
	[ -L "$link" ] && [ -e "$link" ] || return 0
	link=$(readlink "$link")
	echo "${link%%/*}"
}
# does modprobe load for kernel $1 what DKMS built of version $2?
own_in_place() {
	local file built
	[ "$(own_installed "$1")" = "$2" ] && file=$(would_load "$1") || return 1
	for built in "$dkms_tree/$own/$2/$1/$arch/module/amdgpu.ko"*; do
		! cmp -s "$built" "$file" || return 0
	done
	return 1
}

# What a build of kernel $1 depends on, for not trying the same in vain again
attempt_key() { echo "$own_version $(content_of "$source_dir") $("$source_dir/dkms/can-build" --key "$1") $(stat -Lc '%i %Y' "/lib/modules/$1/build/." 2>/dev/null)"; }
# a build for kernel $1 failed; it is repeated only after a change, or on request
note_failure() { mkdir -p "$state" && attempt_key "$1" >"$state/failed-$1"; } 2>/dev/null

# install_own KERNEL [auto]: build it and then put it in place of what is there.  Status 0: it is in place; 1: something
# failed, which is printed, and the module that was there is in place; with "auto", 0 as well for a kernel that it cannot be
# built for, which is printed
install_own() {
	local kernel=$1 auto=${2-} file status=0 old why log details=--details
	[ -z "$auto" ] || details=''
	add_own || return 1
	if own_in_place "$kernel" "$own_version"; then
		[ -n "$auto" ] || say "$kernel: kfdprio $own_version is installed: $(would_load "$kernel")"
		return 0
	fi
	old=$(own_installed "$kernel")
	if ! why=$("$source_dir/dkms/can-build" ${details:+"$details"} "$kernel" 2>&1); then
		printable_lines <<<"kfdprio-driver: $kernel: kfdprio is not built: $why" >&2
		warn "$kernel: $(used_now "$kernel"); then run: kfdprio-driver install -k $kernel"
		[ -n "$auto" ]
		return
	fi
	if [ -n "$auto" ] && [ -e "$state/failed-$kernel" ] && [ "$(attempt_key "$kernel")" = "$(cat "$state/failed-$kernel")" ]; then
		warn "$kernel: kfdprio $own_version is not built again: its build failed on $(date -r "$state/failed-$kernel" +%F), and nothing has changed since; $(used_now "$kernel")"
		warn "$kernel: to try again: kfdprio-driver install -k $kernel"
		return 0
	fi
	if ! built_whole "$kernel"; then
		# a half of it, of an interrupted build or a full disk
		[ ! -e "$dkms_tree/$own/$own_version/$kernel" ] || remove_quietly "$own_version" "$kernel"
		add_own || return 1
		say "$kernel: building kfdprio $own_version (5 to 15 minutes on two cores)"
		building=$kernel
		interruptible dkms build "$own/$own_version" -k "$kernel" </dev/null || status=$?
		building=
		if [ "$status" = 77 ]; then
			warn "$kernel: kfdprio is not built: DKMS excludes this kernel ($source_dir/dkms.conf: BUILD_EXCLUSIVE); $(used_now "$kernel")"
			[ -n "$auto" ]
			return
		fi
		if ! built_whole "$kernel"; then
			log=$(keep_log "$kernel")
			note_failure "$kernel"
			after_failure "$kernel" "$log"
			return 1
		fi
	fi
	rm -f "$state/failed-$kernel"
	if secure_boot_refuses; then
		warn "$kernel: built, but not installed; $(used_now "$kernel"); then run: kfdprio-driver install -k $kernel (--force installs it anyway)"
		[ -n "$auto" ]
		return
	fi
	# --force: DKMS would keep a module that has a higher version, and would not stop for PRE_INSTALL
	replacing=$kernel
	if [ -n "$old" ] && [ "$old" = "$own_version" ]; then
		KFDPRIO_KEEP_INITRAMFS=1 dkms uninstall "$own/$old" -k "$kernel" >/dev/null 2>&1
	fi
	"$dkms_tree/$own/$own_version/source/dkms/check-module" room "$kernel" || status=$?
	[ "$status" != 0 ] || interruptible dkms install "$own/$own_version" -k "$kernel" --force </dev/null || status=$?
	replacing=
	if [ "$status" = 0 ] && own_in_place "$kernel" "$own_version" && file=$(would_load "$kernel") && is_ours "$file"; then
		[ -z "$old" ] || [ "$old" = "$own_version" ] || remove_quietly "$old" "$kernel"
		say "$kernel: installed $file"
		return 0
	fi
	put_back "$kernel" "$old"
	after_failure "$kernel" "$(build_log "$own" "$own_version" "$kernel")"
	return 1
}

# is there a whole module of $own_version for kernel $1 in DKMS's tree?
built_whole() {
	local file
	for file in "$dkms_tree/$own/$own_version/$1/$arch/module/amdgpu.ko"*; do
		[ -s "$file" ] && [[ "$(modinfo -F vermagic "$file" 2>/dev/null) " == "$1 "* ]] && is_ours "$file" && return
	done
	return 1
}
# put_back KERNEL OLD: what was not installed whole must not be loaded; version OLD, still built, is installed again
put_back() {
	[ "$(own_installed "$1")" != "$own_version" ] || KFDPRIO_KEEP_INITRAMFS=1 dkms uninstall "$own/$own_version" -k "$1" >/dev/null 2>&1
	[ -z "$2" ] || [ "$2" = "$own_version" ] || own_in_place "$1" "$2" ||
		dkms install "$own/$2" -k "$1" --force </dev/null >/dev/null 2>&1
	depmod "$1" 2>/dev/null
}
# a build that failed for kernel $1: its log where the next one does not overwrite it; prints the file
keep_log() {
	local log
	log=$(build_log "$own" "$own_version" "$1")
	[ -n "$log" ] || return
	if mkdir -p "$state" 2>/dev/null && cp "$log" "$state/make-$1.log" 2>/dev/null; then
		log=$state/make-$1.log
	fi
	echo "$log"
}
remove_quietly() { KFDPRIO_KEEP_INITRAMFS=1 dkms remove "$own/$1" -k "$2" >/dev/null 2>&1; }

# versions that no installed kernel uses any more, but for $own_version
prune_own() {
	local dir old link used kernel
	for dir in "$dkms_tree/$own"/*/source "/usr/src/$own"-[0-9]*/dkms.conf; do
		[ -e "$dir" ] || [ -L "$dir" ] || continue
		dir=${dir%/*} old=${dir##*/} old=${old#"$own-"}
		[ "$old" != "${own_version-}" ] || continue
		used=''
		for link in "$dkms_tree/$own"/kernel-*-"$arch"; do
			kernel=${link##*/kernel-} kernel=${kernel%-"$arch"}
			[ "$(own_installed "$kernel")" != "$old" ] || ! is_kernel "$kernel" || used=1
		done
		[ -z "$used" ] || continue
		KFDPRIO_KEEP_INITRAMFS=1 dkms remove "$own/$old" --all >/dev/null 2>&1
		rm -rf "${dkms_tree:?}/$own/$old"
		package_owns "/usr/src/$own-$old/dkms.conf" || rm -rf "/usr/src/$own-$old"
		say "removed version $old, which no kernel uses"
	done
	for link in "$state"/failed-* "$state"/make-*.log; do
		kernel=${link##*/} kernel=${kernel#*-} kernel=${kernel%.log}
		is_kernel "$kernel" || rm -f "$link"
	done
}
