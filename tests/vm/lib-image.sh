# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # variables shared with run
#
# What a test VM boots: a fetched kernel and an initramfs.  Sourced by run; needs its $here, $top,
# $run_dir, die and capture.
#
# An initramfs is a row of cpio archives.  Those which are the same in each run (busybox, modules) are
# kept in the kernel's cache directory under a name that tells what is inside; the last one is made
# for the run.

guest_modules=(virtio_pci virtio_console 9pnet_virtio 9p overlay)
guest_applets=(sh mount insmod mkdir ln cat chroot mkfifo env setsid poweroff ifconfig hostname stty dmesg tail rmmod sleep cp find tar rm mv umount)

# kernel_find VERSION: sets $kernel_dir, $kernel_abi, $kernel_image and $kernel_modules
kernel_find() {
	capture "fetching kernel $1" "$here/fetch-kernel" "$1"
	use_kernel "$captured"
}

# debug_kernel_find VARIANT: the same
debug_kernel_find() {
	capture "building the debug kernel $1" "$here/build-debug-kernel" "$1"
	use_kernel "$captured"
}

use_kernel() {
	kernel_dir=$1
	kernel_abi=$(<"$kernel_dir/abi")
	kernel_image=$kernel_dir/boot/vmlinuz-$kernel_abi
	kernel_modules=$kernel_dir/lib/modules/$kernel_abi
}

# load_order MODULE...: files of modules, dependencies first; one that modules.dep lacks is built in
load_order() {
	awk -v wanted="$*" '
		{ sub(":", ""); deps[name($1)] = $0 }
		END {
			n = split(wanted, want, " ")
			for (i = 1; i <= n; i++)
				for (k = split(deps[name(want[i])], file, " "); k > 0; k--)
					if (!seen[file[k]]++)
						print file[k]
		}
		function name(path) {
			sub(".*/", "", path)
			sub("[.]ko.*", "", path)
			gsub("-", "_", path)
			return path
		}' "$kernel_modules/modules.dep"
}

# module_name FILE
module_name() {
	local name=${1##*/}
	name=${name%%.ko*}
	echo "${name//-/_}"
}

# unpack_modules DIR NUMBERED FILE...: modules without compression into DIR; with NUMBERED, in order
unpack_modules() {
	local dir=$1 numbered=$2 file name i=0
	shift 2
	for file; do
		name=$(module_name "$file").ko
		[ -z "$numbered" ] || printf -v name '%02d-%s' $((i++)) "$name"
		case $file in
		*.ko) cat "$kernel_modules/$file" ;;
		*.ko.xz) xz -dc "$kernel_modules/$file" ;;
		*.ko.zst) zstd -qdc "$kernel_modules/$file" ;;	# of Ubuntu's kernels
		*) die "$file: unknown compression" ;;
		esac >"$dir/$name" || die "$file: cannot be read"
	done
}

# pack DIR: a cpio archive that depends on names, modes and contents only
pack() (
	cd "$1" || exit
	find . -exec touch -h -d @0 {} +
	find . -mindepth 1 -printf '%P\n' | sort |
		busybox cpio -o -H newc -R 0:0 --renumber-inodes --ignore-devno 2>/dev/null
)

# cached_part NAME FUNCTION ARGUMENT...: prints the path of a cpio archive of what FUNCTION puts into $tree
cached_part() {
	local part=$kernel_dir/initrd/$1.cpio tree=$run_dir/part
	shift
	if [ ! -e "$part" ]; then
		mkdir -p "${part%/*}" "$tree"
		"$@"
		pack "$tree" >"$part.$$" || die "cannot write $part"
		mv "$part.$$" "$part"
		rm -rf "$tree"
		find "${part%/*}" -name '*.cpio*' -mtime +30 -delete
	fi
	echo "$part"
}

fill_base() {
	local applet files
	mkdir "$tree"/{bin,dev,ko}
	cp /bin/busybox "$tree/bin"
	for applet in "${guest_applets[@]}"; do
		ln -s busybox "$tree/bin/$applet"
	done
	mapfile -t files < <(load_order "${guest_modules[@]}")
	unpack_modules "$tree/ko" numbered "${files[@]}"
}

fill_sim() {
	mkdir -p "$tree/vm/sim"
	unpack_modules "$tree/vm/sim" '' "$@"
}

# quote WORD...: for sh, byte for byte, a blank behind each
quote() { printf '%s\0' "$@" | sed -z "s/'/'\\\\''/g; s/^/'/; s/\$/'/" | tr '\0' ' '; }

# setting NAME VALUE: a line for a file that sh sources
setting() {
	printf '%s=' "$1"
	quote "$2"
	echo
}

# command_script SIM: COMMAND as a shell script
command_script() {
	local env name command=("${opt_command[@]}")
	env=("PATH=$guest_path"
		"HOME=${HOME:-/root}" "TERM=${TERM:-dumb}" LANG=C.UTF-8 USER=root LOGNAME=root)
	for name in "${!KFDPRIO_@}"; do
		env+=("$name=${!name}")
	done
	# of a name given twice, env takes the last
	env+=(KFDPRIO_VM=1 "KFDPRIO_SIM_GPU=$opt_gpu" "KFDPRIO_SIM_KO=$1" "${opt_env[@]}")
	[ ${#command[@]} -gt 0 ] || command=(bash ${interactive:+-i})
	[ -n "$interactive" ] || [ ${#opt_command[@]} -gt 0 ] || command+=(-s)
	printf 'cd '
	quote "$cwd"
	printf '|| exit 126\nexec env -i '
	quote "${env[@]}"
	# an argument like A=B would be env's; sh -c passes it on, and gives 126 and 127 their meaning
	# shellcheck disable=SC2016
	printf '/bin/sh -c '\''exec "$@"'\'' sh '
	quote "${command[@]}"
	echo
}

# uncovered DIRECTORY WORD...: nothing of ours lies below /DIRECTORY, so that a tmpfs may cover it
uncovered() {
	local dir=/$1 path
	shift
	for path; do
		case $path in "$dir"|"$dir"/*) return 1 ;; esac
	done
}

# guest_conf SIM SIM-MODULE-FILE...: the settings that init and guest read
guest_conf() {
	local sim=$1 file dir deps='' cover='' i=0
	shift
	for file; do
		deps+="$(module_name "$file").ko "
	done
	for dir in tmp run; do
		! uncovered $dir "$cwd" "$top" "$kernel_dir" "$sim" "${opt_out[@]}" "${opt_command[@]}" || cover+="$dir "
	done
	setting VM_ABI "$kernel_abi"
	setting VM_MODULES "$kernel_modules"
	setting VM_DEBUG "$opt_debug"
	setting VM_COVERAGE "${coverage:+$coverage/${run_dir##*/}-$kernel_abi-$opt_debug}"
	setting VM_GPU "$opt_gpu"
	setting VM_SIM "$sim"
	setting VM_SIM_DEPS "$deps"
	setting VM_SIM_PARAMS "${opt_param[*]}"
	setting VM_COVER "$cover"
	setting VM_INITRAMFS "${opt_initramfs[*]+1}"
	setting VM_INIT "$opt_init"
	setting VM_CHANGES "$opt_changes"
	setting VM_GDB "${gdb_ask-}"
	setting VM_SHELL "$interactive"
	# a terminal that nobody gave a size has 0 0
	setting VM_STTY "$([ -z "$interactive" ] || stty size | awk '{ print "rows", $1 ? $1 : 24, "cols", $2 ? $2 : 80 }')"
	setting VM_STDIN "$([ -e "$run_dir/root/vm/stdin" ] && echo /run/kfdprio-vm/stdin || echo /dev/null)"
	setting VM_OUTS ${#opt_out[@]}
	for dir in "${opt_out[@]}"; do
		setting "VM_OUT_$i" "$dir"
		i=$((i + 1))
	done
}

# put_file FILE: into $root at its own path
put_file() {
	mkdir -p "$root${1%/*}"
	cp -L -- "$1" "$root$1" || die "$1: cannot be copied"
}

# put_own_files: $own_files and the libraries that they load
put_own_files() {
	local file line
	for file in "${own_files[@]}"; do
		put_file "$file"
		while read -r line; do
			case $line in
			*'=> not found'*) die "$file: its library ${line%% *} is missing" ;;
			*'=> /'*) line=${line#*=> } ;;
			/*) ;;
			*) continue ;;
			esac
			put_file "${line% (*}"
		done < <(ldd "$file" 2>/dev/null)
	done
	mkdir -p "$root$cwd"
}

# write_initrd FILE SIM: SIM is the module to load, or nothing
write_initrd() {
	local root=$run_dir/root sim=$2 files=() depends base parts
	base=base-$(cat "$here/lib-image.sh" /bin/busybox | cksum | cut -d ' ' -f 1)
	parts=$(cached_part "$base" fill_base) || exit
	mkdir -p "$root/vm/sim"
	if [ -n "$sim" ]; then
		depends=$(modinfo -F depends "$sim") || die "$sim: not a module"
		# of ROCm's amdgpu-dkms, beside it: see guest
		[ ! -e "${sim%/*}/amdkcl.ko" ] || depends+=,$(modinfo -F depends "${sim%/*}/amdkcl.ko")
		# shellcheck disable=SC2046,SC2086 # lists of names
		mapfile -t files < <(load_order ${depends//,/ })
		parts+=$'\n'$(cached_part "sim-$(echo "${files[@]}" | cksum | cut -d ' ' -f 1)" fill_sim "${files[@]}") || exit
	fi
	cp "$here/init" "$root/init"
	cp "$here/guest" "$root/vm/guest"
	chmod 755 "$root/init" "$root/vm/guest"
	[ -n "$interactive" ] || [ ${#opt_command[@]} -gt 0 ] || cat >"$root/vm/stdin"
	if [ ${#opt_initramfs[@]} -gt 0 ]; then
		put_own_files
		[ -z "$sim" ] || put_file "$sim"
	fi
	guest_conf "$sim" "${files[@]}" >"$root/vm/conf"
	command_script "$sim" >"$root/vm/command"
	{
		while read -r part; do
			cat "$part"
		done <<<"$parts"
		pack "$root"
	} >"$1"
}
