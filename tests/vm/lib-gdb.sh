# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # variables shared with run
#
# A debugger on the VM, through QEMU's gdb stub.  Sourced by run.
#
# When the driver is loaded, guest tells a serial port where each section of it is, and waits; its
# other end is a pipe in the run's directory.  From it a script for gdb is made, which loads the symbols
# at these addresses, attaches (the VM stops), sets the breakpoints and lets guest go on to the command.
# With KASLR off the kernel's own symbols are at the same addresses in each boot: they are told once,
# and kept in the kernel's cache directory as an ELF file without code.

# gdb_options: judges --gdb, --break and --gdb-script; sets $gdb_batch and $gdb_port
gdb_options() {
	local name
	gdb_batch='' gdb_port=''
	if [ -z "$opt_gdb" ]; then
		[ ${#opt_break[@]} = 0 ] || bad "--break needs --gdb"
		[ -z "$opt_gdb_script" ] || bad "--gdb-script needs --gdb"
		return 0
	fi
	case $opt_gdb in
	batch) gdb_batch=1 ;;
	socket) ;;
	*)
		[[ $opt_gdb =~ ^[1-9][0-9]{0,4}$ && $opt_gdb -le 65535 ]] ||
			bad "--gdb '$opt_gdb': neither batch nor a TCP port from 1 to 65535"
		gdb_port=$opt_gdb
		# shellcheck disable=SC2188 # only whether it opens
		! (exec 5<>"/dev/tcp/127.0.0.1/$gdb_port") 2>/dev/null || die "--gdb $gdb_port: the port is in use" ;;
	esac
	for name in gdb:gdb as:binutils; do
		command -v "${name%:*}" >/dev/null || die "missing Debian packages: ${name#*:}"
	done
	[ -z "$gdb_batch" ] || [ ${#opt_command[@]} -gt 0 ] || bad "--gdb=batch needs a COMMAND"
	[ -z "$gdb_batch" ] || [ ${#opt_break[@]} -gt 0 ] || [ -n "$opt_gdb_script" ] ||
		bad "--gdb=batch needs --break or --gdb-script"
	for name in "${opt_break[@]}"; do
		[[ $name =~ ^[A-Za-z_][A-Za-z0-9_.]*$ ]] || bad "--break '$name': not the name of a function"
	done
	[ -z "$opt_gdb_script" ] || [ -r "$opt_gdb_script" ] || bad "--gdb-script $opt_gdb_script: cannot be read"
	[ -z "$opt_gdb_script" ] || opt_gdb_script=$(realpath -- "$opt_gdb_script")
}

# symbols_elf FILE: an ELF file with the symbols of a kernel, and no code, from lines as of /proc/kallsyms on stdin
symbols_elf() {
	local new=$1.$$ start=0xffffffff81000000 status
	# in the order of addresses, so that each section of the image is one run; all is put into one
	sort | awk -v start=$start '
		# not those of modules, whose addresses differ from boot to boot
		$4 == "" && $1 >= substr(start, 3) && $2 ~ /^[tTwWdDbBrRvV]$/ && $3 ~ /^[A-Za-z_][A-Za-z0-9_.]*$/ &&
				$3 !~ /^(_text|_stext|_etext|_end|__(pfx|cfi)_.*)$/ {
			top = $1
			# static ones may have the same name, which the assembler does not know
			if (seen[$3]++)
				next
			if (NR && !any++)
				print ".section .kernel, \"ax\", @nobits\n.Lstart:"
			print ".type " $3 ", @" ($2 ~ /[tTwW]/ ? "function" : "object")
			print $3 " = .Lstart + 0x" $1 " - " start
		}
		END {
			if (!any)
				exit 1
			print ".skip 0x" top " - " start " + 16"
		}' >"$new.s" && as -o "$new" "$new.s" && objcopy --change-section-address .kernel=$start "$new" && mv "$new" "$1"
	status=$?
	rm -f "$new.s" "$new"
	return $status
}

# gdb_prepare SIM: before the VM starts.  Sets $gdb_module, $gdb_kernel (an ELF file, which may have to be made when
# the guest has told), $gdb_ask (what guest is to tell), $gdb_socket; judges the names of --break as far as is possible
gdb_prepare() {
	local map=$kernel_dir/boot/System.map-$kernel_abi path sections
	gdb_module=''
	if [ -n "$1" ]; then
		gdb_module=${1%/*}/tree/drivers/gpu/drm/amd/kfdsim/amdgpu.ko
		# all of it first: to "grep -q", which leaves early, readelf would fail with SIGPIPE
		sections=$(readelf -SW "$gdb_module" 2>/dev/null) || :
		[[ $sections == *' .debug_info '* ]] ||
			die "$gdb_module: no debug info; remove $(dirname "$1"), it is built again"
	fi
	gdb_ask=sections
	# the name tells how it is made
	gdb_kernel=$kernel_dir/symbols-$(declare -f symbols_elf | cksum | cut -d ' ' -f 1).elf
	for path in "$kernel_dir/vmlinux" "/usr/lib/debug/boot/vmlinux-$kernel_abi"; do
		[ ! -s "$path" ] || { gdb_kernel=$path; break; }
	done
	if [ ! -s "$gdb_kernel" ]; then
		# Debian's is one line, which says where the real one is
		if [ -s "$map" ] && [ "$(head -c 100000 "$map" | wc -l)" -gt 1000 ]; then
			symbols_elf "$gdb_kernel" <"$map" || die "no symbols can be made from $map"
		else
			gdb_ask=kallsyms
		fi
	fi
	[ $gdb_ask = kallsyms ] || gdb_known
	gdb_socket=$run_dir/gdb.socket
	# the name of a socket has at most 107 characters
	if [ -z "$gdb_port" ] && [ ${#gdb_socket} -gt 107 ]; then
		gdb_temp=$(mktemp -d "${TMPDIR:-/tmp}/kfdprio-gdb.XXXXXX")
		gdb_socket=$gdb_temp/socket
	fi
}

# gdb_unknown: prints those functions of --break that neither the driver nor the kernel has.  gdb knows the
# inlined ones, which have no symbol, but reads all debug info for that; so only the rest is asked of it.
gdb_unknown() {
	local name said files=()
	[ -z "$gdb_module" ] || files+=("$gdb_module")
	files+=("$gdb_kernel")
	for name in "${opt_break[@]}"; do
		nm "${files[@]}" 2>/dev/null | awk -v name="$name" '$3 == name && $2 ~ /^[tTwW]$/ { found = 1 } END { exit !found }' ||
			{ [ -n "$gdb_module" ] && said=$(gdb -nx -batch -ex "info line $name" "$gdb_module" 2>&1) &&
				grep -q '^Line ' <<<"$said"; } ||
			echo "$name"
	done
}

gdb_known() {
	local name
	name=$(gdb_unknown)
	[ -z "$name" ] || { gdb_unknown_message "$name"; exit 125; }
}

# gdb_unknown_message NAMES
gdb_unknown_message() {
	say "--break ${1//$'\n'/, }: no such function in ${gdb_module:+the driver or in }the kernel $kernel_abi"
}

# gdb_qemu NUMBER: adds the stub and the port for guest, of that number, to $qemu
gdb_qemu() {
	mkfifo "$run_dir"/guest.{in,out}
	# both ends, so that opening waits for nobody
	exec {gdb_go}<>"$run_dir/guest.in"
	if [ -n "$gdb_port" ]; then
		qemu+=(-gdb "tcp:127.0.0.1:$gdb_port")
	else
		qemu+=(-chardev "socket,id=gdb,path=${gdb_socket//,/,,},server=on,wait=off" -gdb chardev:gdb)
	fi
	qemu+=(-chardev "pipe,id=told,path=${run_dir//,/,,}/guest"
		-device "virtserialport,chardev=told,nr=$1")
}

# gdb_symbols: the command that loads the driver's.  Sections that are thrown away after loading, or whose place
# nobody knows, are put where nothing is; gdb would put them at 0.
gdb_symbols() {
	readelf -SW "$gdb_module" | sed 's/^ *\[ *[0-9]*\] *//' | awk -v module="$gdb_module" '
		NR == FNR { if ($1 == "section") told[$2] = $3; next }
		$7 !~ /A/ || $1 ~ /[^A-Za-z0-9_.]/ { next }
		$1 ~ /^\.init/ || !($1 in told) { told[$1] = sprintf("0xffffffffffe%02x000", n++) }
		{ arguments = arguments " -s " $1 " " told[$1] }
		END { print "add-symbol-file " module arguments }' "$run_dir/gdb.told" -
}

# gdb_script: what gdb is to do, on stdout; $run_dir/gdb.told is complete
gdb_script() {
	local name colour=on
	[ -z "$gdb_batch" ] || colour=off
	printf '%s\n' "# made by tests/vm/run" 'set pagination off' 'set confirm off' 'set filename-display basename' \
		'set print pretty on' "set style enabled $colour" "symbol-file $gdb_kernel"
	# add-symbol-file lists all sections
	[ -z "$gdb_module" ] || echo "pipe $(gdb_symbols) | cat >/dev/null"
	echo "target remote ${gdb_port:+127.0.0.1:}${gdb_port:-$gdb_socket}"
	for name in "${opt_break[@]}"; do
		echo "break $name"
	done
	# guest goes on to the command as soon as the VM runs
	echo "shell echo go >'$run_dir/guest.in'"
	[ -z "$opt_gdb_script" ] || echo "source $opt_gdb_script"
	if [ -z "$gdb_batch" ]; then
		printf '%s\n' 'echo The VM is stopped before the command starts: "continue" starts it,\n' \
			'echo "detach" lets it go on without gdb, "kill" ends it.\n'
	else
		echo "source $here/gdb-batch.py"
	fi
}

# follow_gdb: waits until guest has told where everything is; then runs gdb, or says how to.  The event "gdb" if
# that comes to nothing
follow_gdb() {
	local symbols=$gdb_kernel unknown
	exec {lock}>&-
	sed '/^end$/q' <&"$guest_out" >"$run_dir/gdb.told"
	grep -qx end "$run_dir/gdb.told" || return 0
	if [ $gdb_ask = kallsyms ]; then
		# a cache that cannot be written is no reason to do without
		[ -w "$kernel_dir" ] || symbols=$run_dir/symbols.elf
		if ! grep -v '^section ' "$run_dir/gdb.told" | symbols_elf "$symbols"; then
			say "no symbols can be made from the guest's /proc/kallsyms"
			echo gdb >&"$events"
			return
		fi
		gdb_kernel=$symbols
		unknown=$(gdb_unknown)
		if [ -n "$unknown" ]; then
			gdb_unknown_message "$unknown"
			echo gdb >&"$events"
			return
		fi
	fi
	gdb_script >"$run_dir/gdb.commands"
	if [ -z "$gdb_batch" ]; then
		say "the driver is loaded; in another terminal:"$'\r\n'"  gdb -q -x $run_dir/gdb.commands"$'\r'
	elif ! gdb -nx -batch -x "$run_dir/gdb.commands" </dev/null >&2 && [ ! -s "$run_dir/status" ]; then
		# a VM that has ended closes gdb's connection; one that has not ends here
		say "gdb has failed"
		echo gdb >&"$events"
	fi
}
