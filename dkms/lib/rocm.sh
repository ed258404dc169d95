# SPDX-License-Identifier: GPL-2.0
# dkms/lib/rocm.sh - versions of ROCm's amdgpu-dkms with kfdprio in them
#
# The base is ROCm's package, amdgpu/B in DKMS; the derived version is amdgpu/B+kfdprioOURS, made from it by prepare-tree.
# DKMS keeps one link per kernel to the version that it has installed.  It does not keep the modules of one version together:
# it leaves a module in place if version or srcversion are the same or higher, and moves its link all the same.  So the
# link is never believed: see rocm_whole.  Documentation/rocm.rst describes all of it for administrators.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of kfdprio-driver

# In $state: rocm-KERNEL.failed has what was tried in vain, make-KERNEL.log the compiler's words.
# The kernel that is worked on, the version that it had before, the derived version, its tree while it is made; see rocm_undo.
# rocm_places: where the modules of the version before were, by their names
declare -A rocm_places=()
rocm_doing='' rocm_before='' rocm_derived='' rocm_new='' rocm_undoing=''
rocm_failed() { echo "$state/rocm-$1.failed"; }
rocm_log=$state/rocm-dkms.log

# version of ROCm's package that is installed for a kernel, ours of it too; nothing if none is
rocm_version() {
	local link
	# not kernel-$1-*, which is 6.8.1-custom's for 6.8.1 as well
	link=$dkms_tree/amdgpu/kernel-$1-$arch
	# a version that was deleted by hand leaves a link that leads nowhere
	[ ! -L "$link" ] || [ ! -e "$link" ] || { link=$(readlink "$link"); echo "${link%%/*}"; }
}

# rocm_in_dkms VERSION: DKMS has it, and its source is that of an amdgpu-dkms
rocm_in_dkms() { [ -d "$dkms_tree/amdgpu/$1/source/amd/amdkfd" ]; }

# ROCm's own versions that DKMS has, oldest first
rocm_bases() {
	local dir
	for dir in "$dkms_tree"/amdgpu/*/source; do
		dir=${dir%/source} dir=${dir##*/}
		case $dir in *+kfdprio*) continue ;; esac
		! rocm_in_dkms "$dir" || echo "$dir"
	done | sort -V
}
# versions with kfdprio in them that DKMS has, or only /usr/src
rocm_deriveds() {
	local dir
	for dir in "$dkms_tree"/amdgpu/*+kfdprio*/ /usr/src/amdgpu-*+kfdprio*/; do
		[ -d "$dir" ] || continue
		dir=${dir%/} dir=${dir##*/}
		echo "${dir#amdgpu-}"
	done | sort -Vu
}

# rocm_base KERNEL: the version of ROCm's package that this kernel's amdgpu is to come from; nothing if it is none of ROCm's
rocm_base() {
	local active base newest
	active=$(rocm_version "$1")
	base=${active%+kfdprio*}
	if [ -n "$base" ] && rocm_in_dkms "$base"; then
		echo "$base"
		return
	fi
	base=$(rocm_bases | tail -n 1)
	[ -n "$base" ] || return 0
	if [ -z "$active" ]; then
		# A new kernel.  DKMS 3.1 and later looks at the highest version only, which is ours, and goes past the base.  An
		# older kernel without ROCm's driver was left without it by ROCm's package.
		[ -n "$(rocm_deriveds)" ] || return 0
		newest=$(for link in "$dkms_tree"/amdgpu/kernel-*; do
			[ ! -L "$link" ] || [ ! -e "$link" ] || { link=$(readlink "$link"); link=${link#*/}; echo "${link%/*}"; }
		done | sort -V | tail -n 1)
		[ "$(printf '%s\n' "$newest" "$1" | sort -V | tail -n 1)" = "$1" ] || return 0
	fi
	echo "$base"
}

# the module files that DKMS has built of version $2 for kernel $1
rocm_built() {
	local file
	for file in "$dkms_tree/amdgpu/$2/$1"/*/module/*.ko*; do
		[ ! -f "$file" ] || echo "$file"
	done
}
unpacked() {
	case $1 in
	*.xz) xz -dc "$1" ;;
	*.gz) gzip -dc "$1" ;;
	*.zst) zstd -qdc "$1" ;;
	*) cat "$1" ;;
	esac 2>/dev/null
}
same_module() { cmp -s "$1" "$2" || { [ "${1##*.}" != "${2##*.}" ] && cmp -s <(unpacked "$1") <(unpacked "$2"); }; }
module_name() {
	local name=${1##*/}
	echo "${name%%.ko*}"
}

# rocm_whole KERNEL VERSION: DKMS's link names it, and every module that modprobe would load is the one that was built
rocm_whole() {
	local file place found=''
	[ "$(rocm_version "$1")" = "$2" ] || return 1
	for file in $(rocm_built "$1" "$2"); do
		found=1
		place=$(modinfo -k "$1" -n "$(module_name "$file")" 2>/dev/null) && [ -s "$place" ] && same_module "$file" "$place" || return 1
	done
	[ -n "$found" ]
}

# rocm_settle KERNEL VERSION: put the modules of a version in place, all of them; DKMS builds them if it has not
rocm_settle() {
	local kernel=$1 version_wanted=$2 active file place name
	rocm_drop_own "$kernel"
	! rocm_whole "$kernel" "$version_wanted" || return 0
	active=$(rocm_version "$kernel")
	# --force: its modules have the version numbers of those in place, which DKMS would keep
	mkdir -p "$state"
	${rocm_undoing:-interruptible} dkms install "amdgpu/$version_wanted" -k "$kernel" --force </dev/null >"$rocm_log" 2>&1 || :
	# DKMS copies over what is there and forgets modules that only the version before had
	if [ -n "$active" ] && [ "$active" != "$version_wanted" ] && [ "$(rocm_version "$kernel")" = "$version_wanted" ]; then
		for file in $(rocm_built "$kernel" "$active"); do
			name=$(module_name "$file")
			! compgen -G "$dkms_tree/amdgpu/$version_wanted/$kernel/*/module/$name.ko*" >/dev/null || continue
			place=$(modinfo -k "$kernel" -n "$name" 2>/dev/null) || continue
			! same_module "$file" "$place" || rm -f "$place"
		done
		depmod "$kernel"
	fi
	rocm_whole "$kernel" "$version_wanted"
}

# rocm_drop_copied KERNEL VERSION: DKMS 3.1 and later takes the version before away first, and leaves what an install that
# fails had copied by then, without a link
rocm_drop_copied() {
	local file place
	[ -z "$(rocm_version "$1")" ] || return 0
	for file in $(rocm_built "$1" "$2"); do
		place=$(modinfo -k "$1" -n "$(module_name "$file")" 2>/dev/null) && same_module "$file" "$place" || continue
		rm -f "$place"
	done
	depmod "$1"
}
# rocm_put_back KERNEL: the modules of the version before go where they were, without DKMS, and its link as well
rocm_put_back() {
	local file place
	[ ${#rocm_places[@]} -gt 0 ] || return
	for file in $(rocm_built "$1" "$rocm_before"); do
		place=${rocm_places[$(module_name "$file")]-}
		[ -n "$place" ] || continue
		same_module "$file" "$place" || { mkdir -p "${place%/*}" && cp -f "$file" "$place"; } || return
	done 2>>"$rocm_log"
	ln -sfn "$rocm_before/$1/$arch" "$dkms_tree/amdgpu/kernel-$1-$arch" && depmod "$1" && rocm_whole "$1" "$rocm_before"
}

# the kernel's own amdgpu with kfdprio, of the package kfdprio, goes where ROCm's comes
rocm_drop_own() {
	local link=$dkms_tree/$own/kernel-$1-$arch
	[ ! -L "$link" ] || {
		link=$(readlink "$link")
		remove_quietly "${link%%/*}" "$1"
	}
}

# rocm_forget VERSION [KERNEL]: a derived version goes from DKMS and /usr/src; of one kernel, if others use it
rocm_forget() {
	local dir
	case $1 in *+kfdprio*) ;; *) return 1 ;; esac
	if [ -n "${2-}" ]; then
		dkms remove "amdgpu/$1" -k "$2" >/dev/null 2>&1
		rm -rf "${dkms_tree:?}/amdgpu/$1/$2"
		for dir in "$dkms_tree/amdgpu/$1"/*/*/module; do
			if [ -d "$dir" ]; then
				find "$dkms_tree/amdgpu/$1/build" -mindepth 1 -maxdepth 1 -exec rm -rf {} + 2>/dev/null
				return 0
			fi
		done
	fi
	dkms remove "amdgpu/$1" --all >/dev/null 2>&1
	rm -rf "${dkms_tree:?}/amdgpu/$1"
	rmdir "$dkms_tree/amdgpu" 2>/dev/null
	package_owns "/usr/src/amdgpu-$1/dkms.conf" || rm -rf "/usr/src/amdgpu-$1"
	rocm_hold
}

# rocm_prune [VERSION]: derived versions that no kernel uses go; VERSION stays if it is built for a kernel
rocm_prune() {
	local derived keep=${1-}
	for derived in $(rocm_deriveds); do
		! find "$dkms_tree"/amdgpu/kernel-* -maxdepth 0 -xtype d -printf '%l\n' 2>/dev/null | grep "^${derived//+/[+]}/" >/dev/null || continue
		if [ "$derived" = "$keep" ] && compgen -G "$dkms_tree/amdgpu/$derived/*/*/module" >/dev/null; then
			continue
		fi
		rocm_forget "$derived"
		say "removed amdgpu/$derived, which no kernel uses"
	done
	rocm_hold
}

# rocm_stamp BASE: what a derived version is made from
rocm_stamp() {
	{
		(cd "$top" && find kfd_patches trace_events include META -type f -print0 | sort -z | xargs -0 sha256sum)
		find "$dkms_tree/amdgpu/$1/source/" -type f ! -name dkms.conf -printf '%P %s %T@\n' | sort
		without_hold "$dkms_tree/amdgpu/$1/source/dkms.conf"
	} | sha256sum | cut -c1-64
}
# rocm_try BASE KERNEL STAMP: what a failure depends on besides
rocm_try() { echo "$3 $(stat -Lc %Y "/lib/modules/$2/build/Module.symvers" 2>/dev/null) $(command -v spatch)"; }

# rocm_prepare KERNEL BASE STAMP: sets $rocm_derived to the derived version of that content, in DKMS; makes it if there is none
rocm_prepare() {
	local kernel=$1 base=$2 stamp=$3 i name tree=/usr/src/amdgpu-$2 conf
	[ -d "$tree/amd/amdkfd" ] || tree=$(readlink -f "$dkms_tree/amdgpu/$base/source")
	for ((i = 0; ; i++)); do
		name=$base+kfdprio$version
		((i == 0)) || name+=+$i
		if ! rocm_in_dkms "$name"; then
			rm -rf "/usr/src/amdgpu-$name" "${dkms_tree:?}/amdgpu/$name"
			break
		fi
		if [ "$(cat "/usr/src/amdgpu-$name/kfdprio-stamp" 2>/dev/null)" = "$stamp" ]; then
			rocm_derived=$name
			return 0
		fi
	done
	rocm_new=/usr/src/.kfdprio-amdgpu-$base
	rm -rf "$rocm_new"
	say "$kernel: ROCm's amdgpu-dkms $base is installed; making amdgpu/$name from it"
	if ! "$top/kfd_patches/prepare-tree" "$tree" "$rocm_new"; then
		rm -rf "$rocm_new"
		warn "$kernel: kfdprio does not fit $tree (see above)"
		command -v spatch >/dev/null ||
			warn "$kernel: run '$(install_hint coccinelle)', then 'kfdprio-driver install -k $kernel': spatch then places the hooks by rules"
		return 1
	fi
	conf=$rocm_new/dkms.conf
	if [ "$(conf_value PACKAGE_NAME "$conf")/$(conf_value PACKAGE_VERSION "$conf")" != "amdgpu/$base+kfdprio$version" ] ||
		[ -n "$(conf_value AUTOINSTALL "$conf")" ]; then
		rm -rf "$rocm_new"
		warn "$kernel: prepare-tree wrote another $conf than expected: report this"
		return 1
	fi
	if ! { sed -i "s/^PACKAGE_VERSION=.*/PACKAGE_VERSION=\"$name\"/" "$conf" &&
		rm -f "$rocm_new/kfdprio-stamp" && echo "$stamp" >"$rocm_new/kfdprio-stamp" &&
		mv -T "$rocm_new" "/usr/src/amdgpu-$name" && dkms add "amdgpu/$name" >/dev/null; }; then
		rm -rf "$rocm_new"
		rocm_forget "$name"
		warn "$kernel: amdgpu/$name could not be put into /usr/src and DKMS (see above)"
		return 1
	fi
	rocm_new='' rocm_derived=$name
}
conf_value() { sed -n "s/^$1=\"\{0,1\}\([^\"]*\)\"\{0,1\}[ \t]*\$/\1/p" "$2"; }

# rocm_room KERNEL VERSION: what was built has room below /lib/modules, beside what is there
rocm_room() {
	local need free dir
	# shellcheck disable=SC2046 # a list
	need=$(($(du -cmL $(rocm_built "$1" "$2") | awk 'END { print $1 }') + 8))
	dir=$(module_filesystem "$1")
	free=$(df -Pm "$dir" | awk 'END { print $4 }')
	[ "$free" -ge "$need" ] || { warn "$1: $dir has $free MiB free, the modules need $need: make room there"; return 1; }
}

# install_rocm KERNEL [BASE]: the derived version is built, then installed.  Status 1: it was not, which was said, and all
# modules of what was there before, or of ROCm's own, are in place.  Where amdgpu-dkms is gone it is install_own's
install_rocm() {
	local status=0
	rocm_bring "$1" '' || status=$?
	[ "$status" = 2 ] && [ -z "$rocm_only" ] || return $status
	install_own "$1"
}
# autoinstall_rocm KERNEL: the same, but what failed once is not tried again until something of it changes, and a kernel
# that is none of ROCm's is left to the caller: status 0, and rocm_version has no answer
autoinstall_rocm() {
	local status=0
	rocm_bring "$1" auto || status=$?
	[ "$status" != 2 ] || return 0
	return $status
}

# 0: in place; 1: not; 2: this kernel's amdgpu is none of ROCm's
rocm_bring() {
	local kernel=$1 auto=$2 base stamp file status=0 log='' was why
	base=$(rocm_base "$kernel")
	was=$(rocm_version "$kernel")
	if [ -z "$base" ]; then
		if rocm_unpacked && [ -n "$(rocm_version "$kernel")" ]; then
			warn "$kernel: amdgpu-dkms is unpacked, and not added to DKMS yet: finish its installation; $(used_now "$kernel")"
			return 1
		fi
		rocm_orphan "$kernel"
		rocm_prune
		return 2
	fi
	[ -z "${AMDGPU_SRC-}" ] || warn "$kernel: AMDGPU_SRC is not used, since amdgpu-dkms $base is installed"
	! why=$(refused "$kernel" rocm) || { warn "$kernel: kfdprio is not built for amdgpu-dkms $base: $why"; return 1; }
	stamp=$(rocm_stamp "$base")
	if [ -n "$auto" ] && [ "$(cat "$(rocm_failed "$kernel")" 2>/dev/null)" = "$(rocm_try "$base" "$kernel" "$stamp")" ]; then
		[ -n "$(rocm_version "$kernel")" ] || return 2
		rocm_begin "$kernel"
		rocm_fall_back "$kernel" "$base" || :
		rocm_end
		warn "$kernel: kfdprio is not built again for amdgpu-dkms $base: its build failed, and nothing has changed since$([ ! -e "$state/make-$kernel.log" ] || echo "; read $state/make-$kernel.log")"
		warn "$kernel: to try again: kfdprio-driver install -k $kernel"
		return 1
	fi
	rocm_begin "$kernel"
	if ! has_headers "$kernel"; then
		rocm_fall_back "$kernel" "$base" || :
		rocm_end
		[[ $(rocm_version "$kernel") == "$base+kfdprio$version"* ]] ||
			warn "$kernel: kfdprio is not built for amdgpu-dkms $base: the headers are not installed: $(install_hint "$(headers_package "$kernel")")"
		[ -n "$(rocm_version "$kernel")" ] || return 2
		return 1
	fi
	rocm_prepare "$kernel" "$base" "$stamp" || status=1
	if [ $status = 0 ] && rocm_whole "$kernel" "$rocm_derived"; then
		[ -n "$auto" ] || say "$kernel: amdgpu/$rocm_derived is installed: $(would_load "$kernel")"
		rocm_drop_own "$kernel"
		rocm_prune "$rocm_derived"
		rocm_end
		return 0
	fi
	if [ $status = 0 ] && [ -z "$(rocm_built "$kernel" "$rocm_derived")" ]; then
		say "$kernel: building all modules of amdgpu/$rocm_derived (10 to 30 minutes on two cores)"
		rm -rf "${dkms_tree:?}/amdgpu/$rocm_derived/$kernel"
		interruptible dkms build "amdgpu/$rocm_derived" -k "$kernel" </dev/null || status=1
		[ -n "$(rocm_built "$kernel" "$rocm_derived")" ] || status=1
	fi
	if [ $status = 0 ] && secure_boot_refuses; then
		warn "$kernel: amdgpu/$rocm_derived is built, but not installed; then run: kfdprio-driver install -k $kernel (--force installs it anyway)"
		status=3
	fi
	[ $status != 0 ] || rocm_room "$kernel" "$rocm_derived" || status=3
	if [ $status = 0 ]; then
		if rocm_settle "$kernel" "$rocm_derived" && file=$(would_load "$kernel") && is_ours "$file"; then
			say "$kernel: installed amdgpu/$rocm_derived: $file"
			rm -f "$(rocm_failed "$kernel")" "$state/failed-$kernel" "$state/make-$kernel.log"
			rocm_prune "$rocm_derived"
			rocm_end
			"$top/dkms/initramfs" "$kernel"
			return 0
		fi
		warn "$kernel: some modules in /lib/modules/$kernel differ from the built ones"
		log=$rocm_log
		status=1
	fi
	if [ $status = 1 ]; then
		[ -n "$log" ] || log=$(build_log amdgpu "${rocm_derived:-none}" "$kernel")
		mkdir -p "$state"
		if [ -n "$log" ] && [ -e "$log" ] && cp "$log" "$state/make-$kernel.log" 2>/dev/null; then
			log=$state/make-$kernel.log
		fi
		{ rocm_try "$base" "$kernel" "$stamp" >"$(rocm_failed "$kernel")" && echo rocm >"$state/failed-$kernel"; } 2>/dev/null
		rocm_give_up "$kernel"
	fi
	rocm_fall_back "$kernel" "$base" || :
	if [ $status = 1 ]; then
		after_failure "$kernel" "$log"
	fi
	rocm_prune "$rocm_derived"
	rocm_end
	# where ROCm's was and could not be put back, the next step is the administrator's
	[ -n "$was$(rocm_version "$kernel")" ] || return 2
	return 1
}

# the derived version that failed for a kernel goes: from the kernel, and from DKMS if no other kernel has it
rocm_give_up() {
	local failed=$rocm_derived
	[ -n "$failed" ] || return 0
	rocm_derived=''
	if [ "$(rocm_version "$1")" = "$failed" ]; then
		if [ -z "$rocm_before" ] || [ "$rocm_before" = "$failed" ] || ! rocm_settle "$1" "$rocm_before"; then
			dkms uninstall "amdgpu/$failed" -k "$1" >/dev/null 2>&1
			rocm_originals "$1"
		fi
	fi
	[ "$rocm_before" != "$failed" ] || rocm_before=''
	rocm_drop_copied "$1" "$failed"
	rocm_forget "$failed" "$1"
}

# rocm_fall_back KERNEL BASE: all modules of what was there before, or of ROCm's own
rocm_fall_back() {
	local kernel=$1 base=$2 version_wanted active
	for version_wanted in $rocm_before "$base"; do
		! rocm_whole "$kernel" "$version_wanted" || return 0
		[ -n "$(rocm_built "$kernel" "$version_wanted")" ] || { [ "$version_wanted" = "$base" ] && has_headers "$kernel"; } || continue
		if rocm_settle "$kernel" "$version_wanted" || { [ "$version_wanted" = "$rocm_before" ] && rocm_put_back "$kernel"; }; then
			say "$kernel: all modules of amdgpu/$version_wanted are installed"
			"$top/dkms/initramfs" "$kernel"
			return 0
		fi
		rocm_drop_copied "$kernel" "$version_wanted"
	done
	# half of one version and half of another must not be loaded
	active=$(rocm_version "$kernel")
	[ -z "$active" ] || dkms uninstall "amdgpu/$active" -k "$kernel" >/dev/null 2>&1
	rocm_originals "$kernel"
	! grep -aE 'rror|No space left' "$rocm_log" 2>/dev/null | head -n 4 | sed 's/^/  /' >&2 || :
	warn "$kernel: ROCm's own amdgpu-dkms $base could not be installed either: $(used_now "$kernel")"
	warn "$kernel: to try that again: dkms install amdgpu/$base -k $kernel --force"
	return 1
}

# is a package's source in /usr/src that DKMS does not have?  In an upgrade the old one goes before the new one is configured
rocm_unpacked() {
	local dir
	for dir in /usr/src/amdgpu-*/amd/amdkfd; do
		[[ $dir == *+kfdprio* ]] || [ ! -e "$dir/../../dkms.conf" ] || return 0
	done
	return 1
}
# rocm_orphan KERNEL: amdgpu-dkms was removed while ours was in place
rocm_orphan() {
	local active
	active=$(rocm_version "$1")
	case $active in *+kfdprio*) ;; *) return 0 ;; esac
	rocm_begin "$1"
	dkms uninstall "amdgpu/$active" -k "$1" >/dev/null 2>&1
	rocm_originals "$1"
	say "$1: removed the version of amdgpu-dkms with kfdprio, since amdgpu-dkms is no longer installed; modprobe loads $(would_load "$1" || echo 'no amdgpu')"
	rocm_before=''
	rocm_end
	"$top/dkms/initramfs" "$1"
}

# DKMS 3.1 and later moves the kernel's own modules away while others are installed, and puts them back only with a link
rocm_originals() {
	local moved file
	[ -z "$(rocm_version "$1")" ] || return 0
	find "$dkms_tree/amdgpu/original_module/$1" -name '*.origin' 2>/dev/null | while read -r moved; do
		file=$(head -n 1 "$moved")
		[ -e "$file" ] || [ ! -f "${moved%.origin}" ] || mv "${moved%.origin}" "$file"
	done
	depmod "$1"
}

# between these two an interrupt puts back what was there
rocm_begin() {
	local file place
	rocm_doing=$1 rocm_derived='' rocm_places=()
	rocm_before=$(rocm_version "$1")
	for file in $(rocm_built "$1" "$rocm_before"); do
		place=$(modinfo -k "$1" -n "$(module_name "$file")" 2>/dev/null) && same_module "$file" "$place" || continue
		rocm_places[$(module_name "$file")]=${place%/*}/${file##*/}
	done
	trap rocm_undo EXIT
}
rocm_end() {
	rocm_doing=''
	rm -f "$rocm_log"
	rmdir "$state" 2>/dev/null
	trap - EXIT
	return 0
}
# shellcheck disable=SC2317 # a trap
rocm_undo() {
	local kernel=$rocm_doing base
	[ -n "$kernel" ] || return 0
	trap '' INT TERM HUP
	rocm_doing='' rocm_undoing=env
	[ -z "$rocm_new" ] || rm -rf "$rocm_new" "$rocm_new".*
	base=$(rocm_base "$kernel")
	[ "$rocm_before" = "$rocm_derived" ] || rocm_give_up "$kernel"
	[ -z "$base" ] || rocm_fall_back "$kernel" "$base"
	rocm_prune
	rm -f "$rocm_log"
	rmdir "$state" 2>/dev/null
	warn "$kernel: kfdprio's amdgpu was not installed; $(used_now "$kernel")"
	warn "$kernel: to start again: kfdprio-driver install -k $kernel"
}

# remove_rocm: ROCm's own is installed again where ours is, and nothing of ours stays; 1 if a kernel is left without ROCm's own
remove_rocm() {
	local link kernel active base failed=0
	for link in "$dkms_tree/amdgpu"/kernel-*; do
		[ -L "$link" ] && [ -e "$link" ] || continue
		active=$(readlink "$link")
		kernel=${active#*/} kernel=${kernel%/*}
		active=${active%%/*}
		case $active in *+kfdprio*) ;; *) continue ;; esac
		base=$(rocm_base "$kernel")
		if [ -n "$base" ] && rocm_settle "$kernel" "$base"; then
			say "$kernel: ROCm's amdgpu-dkms $base is installed again"
		else
			dkms uninstall "amdgpu/$active" -k "$kernel" >/dev/null 2>&1
			rocm_originals "$kernel"
			if [ -n "$base" ]; then
				failed=1
				tail -n 3 "$rocm_log" 2>/dev/null | sed 's/^/  /' >&2
				warn "$kernel: amdgpu-dkms $base could not be installed again; modprobe loads $(would_load "$kernel" || echo 'no amdgpu')"
				warn "$kernel: to try that again: dkms install amdgpu/$base -k $kernel --force"
			fi
		fi
		"$top/dkms/initramfs" "$kernel"
	done
	for active in $(rocm_deriveds); do
		rocm_forget "$active"
	done
	rm -rf "$state"/rocm-* /usr/src/.kfdprio-amdgpu-*
	rmdir "$state" 2>/dev/null
	rocm_hold
	return $failed
}
