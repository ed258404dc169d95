# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # variables shared with run
#
# QEMU for one run: its command line, its life and its output.  Sourced by run.
#
# stdout and stderr of the command leave the guest through virtio-serial ports that end in files of the
# run's directory, and are copied to our own while they grow.  Files, not pipes, because a port whose
# reader is slow holds data back that a guest powering off would lose.

crash_grace=15

# qemu_command: sets $qemu
qemu_command() {
	local boot name nr=0 i=0 dir=${run_dir//,/,,} out ports=virtio-serial-pci,addr=4
	boot=(console=ttyS0 loglevel=7 panic=-1 mitigations=off tsc=reliable
		# When one CPU patches code that another runs, QEMU 7.2 executes a stale int3 now and then
		# ("Oops: int3").  So the kernel boots on one CPU, guest brings the others up, and what
		# would be patched later is patched before that: any trace event makes ftrace follow
		# context switches with jump labels in __schedule(), an event that never fires does, too.
		# Twice: 6.1 knows no trace_instance=, and tools switch off the events of the top instance.
		# Where amdkfd follows who forks and exits while a priority is set, a third listener
		# patches nothing any more; the first two do.  The driver's key of groups remains: it changes at most
		# twice a second.
		maxcpus=1
		trace_event=sched:sched_process_hang
		trace_instance=kfdprio-vm,sched:sched_process_hang,sched:sched_process_fork,sched:sched_process_exit
		trace_instance=kfdprio-vm-2,sched:sched_process_fork,sched:sched_process_exit
		# QEMU translates a library anew at each address; programs start two to three times faster so
		norandmaps
		# a starved host CPU is no fault of the guest
		rcupdate.rcu_cpu_stall_timeout=120 watchdog_thresh=60)
	# its details go to the log, where scan-log finds them.  With pci=noacpi, KASAN's kernel boots in 9 s instead of 63 s of the
	# emulated CPU: it took 16 s for each of three PCI devices to have ACPI choose an interrupt
	[ "$opt_debug" != kasan ] || boot+=(kmemleak.verbose=1 pci=noacpi)
	# Every 50th access of the driver is watched, as few as there are in a test; for longer than an emulated CPU
	# takes from one to the next.  Without early_enable nothing is: allnoconfig says so.
	[ "$opt_debug" != kcsan ] || boot+=(kcsan.early_enable=1 kcsan.skip_watch=50 kcsan.udelay_task=100)
	# la57 only makes page walks longer
	qemu=(qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot
		-m "$opt_mem" -smp "$opt_smp" -cpu 'max,-la57')
	[ -z "$opt_gdb" ] || boot+=(nokaslr)
	if [ -n "$opt_icount" ]; then
		# Whatever else could differ between runs is fixed too: the clock, random numbers, addresses.
		boot+=(nokaslr)
		qemu+=(-accel 'tcg,thread=single' -icount 'shift=0,sleep=off'
			-rtc 'base=2026-01-01T00:00:00,clock=vm' -seed "$opt_seed")
	else
		qemu+=(-accel 'tcg,thread=multi')
	fi
	# A port is written by the CPU that asks for it, not by QEMU's main loop, which answers when this machine lets it.
	# QEMU's threads have names: see main_loop_first
	[ ${#opt_initramfs[@]} = 0 ] || { ports+=,ioeventfd=off; qemu+=(-name kfdprio-vm,debug-threads=on); }
	qemu+=(-kernel "$kernel_image" -initrd "$run_dir/initrd" -append "${boot[*]} $opt_append"
		-chardev "file,id=log,path=$dir/serial.log" -serial chardev:log -device "$ports")
	[ -z "$interactive" ] ||
		qemu+=(-chardev 'stdio,id=tty,signal=off' -device 'virtconsole,chardev=tty,nr=0')
	for name in stdout stderr status; do
		nr=$((nr + 1))
		qemu+=(-chardev "file,id=$name,path=$dir/$name" -device "virtserialport,chardev=$name,nr=$nr")
	done
	[ -z "$opt_gdb" ] || gdb_qemu $((nr + 1))
	[ ${#opt_initramfs[@]} -gt 0 ] || share host / ,readonly=on 5
	for out in "${opt_out[@]}"; do
		share "out$i" "$out" '' $((6 + i))
		i=$((i + 1))
	done
	# fixed addresses: a GPU's place does not depend on other options
	for ((i = 0; i < gpus; i++)); do
		qemu+=(-object "memory-backend-ram,id=doorbell$i,size=${opt_doorbell_mb}M,share=on"
			-device "ivshmem-plain,memdev=doorbell$i,addr=$(printf %#x $((16 + i)))")
	done
}

# share TAG DIR OPTIONS PCI-SLOT: a directory over 9p
share() {
	qemu+=(-fsdev "local,id=$1,path=${2//,/,,},security_model=none,multidevs=remap$3"
		-device "virtio-9p-pci,fsdev=$1,mount_tag=$1,addr=$4")
}

# choose_cpu: sets $one_cpu, one of the CPUs that we may use
choose_cpu() {
	local list ranges range cpus=()
	list=$(sed -n 's/^Cpus_allowed_list:[[:blank:]]*//p' /proc/self/status)
	IFS=, read -ra ranges <<<"$list"
	for range in "${ranges[@]}"; do
		# shellcheck disable=SC2207 # numbers
		cpus+=($(seq "${range%-*}" "${range#*-}"))
	done
	one_cpu=${cpus[$$ % ${#cpus[@]}]}
}

# main_loop_first: QEMU's main loop has nothing left to do when its CPU thread runs, because both are on one CPU, and the
# main loop's thread is SCHED_FIFO.  When the guest is idle, the main loop of QEMU 7.2 moves guest time to the next timer
# (icount_start_warp_timer()).  The CPU thread says that the guest is idle before it adds the instructions that it has
# just executed to guest time.  If the main loop runs between the two, they come on top, and guest time is ahead by as
# many ns: on busy hosts in 3 of 26 boots.  Who may not use SCHED_FIFO has
# the main loop wait for the CPU thread (SCHED_IDLE), which is slower beside other load.
main_loop_first() {
	local thread name
	exec {lock}>&-
	while [ -e "/proc/$qemu_pid" ]; do
		for thread in "/proc/$qemu_pid/task/"*/comm; do
			read -r name 2>/dev/null <"$thread" || continue
			case $name in
			*CPU*)
				chrt --fifo --pid 1 "$qemu_pid" 2>/dev/null || chrt --idle --pid 0 "$qemu_pid" 2>/dev/null ||
					say "QEMU's main loop cannot be put before its CPU thread"
				return ;;
			esac
		done
		sleep 0.01
	done
}

# start_qemu: sets $qemu_pid, and $one_cpu if QEMU is to stay on one CPU.  QEMU dies with us, however we do.
start_qemu() {
	local pin=()
	one_cpu=''
	[ ${#opt_initramfs[@]} = 0 ] || [ -z "$opt_icount" ] || { choose_cpu; pin=(taskset --cpu-list "$one_cpu"); }
	if [ -n "$interactive" ]; then
		setpriv --pdeathsig KILL -- "${pin[@]}" "${qemu[@]}" <&3 2>"$run_dir/qemu.log" &
	else
		# a session of its own: a terminal's ^C is for us to act on
		setsid setpriv --pdeathsig KILL -- "${pin[@]}" "${qemu[@]}" </dev/null >"$run_dir/qemu.log" 2>&1 &
	fi
	qemu_pid=$!
}

# The followers let go of the lock: a run that was killed is over when its QEMU is.

# follow NAME: a file that QEMU appends to, to stdout, to its end.  The cat is there because tail
# gives up when its reader goes, written to or not.
follow() { tail -c +1 -s 0.05 -f --pid="$qemu_pid" "$run_dir/$1" 2>/dev/null | cat; }

# follow_output NAME: the same; the event "lost" if nobody reads it
follow_output() {
	exec {lock}>&-
	follow "$1" || echo lost >&"$events"
}

# follow_log: an event "crash" for each line of the kernel's log that tells of one
follow_log() {
	exec {lock}>&-
	follow serial.log | "$here/scan-log" --watch | while read -r _; do
		echo crash
	done >&"$events"
}

# clock: sets $clock, hundredths of a second that nobody can turn back
clock() {
	read -r clock _ </proc/uptime
	clock=$((10#${clock/./}))
}

# follow_life: an event "end" when QEMU, which alone holds the other side of a pipe, is gone
follow_life() {
	exec {lock}>&-
	read -r _ <&"$alive" || :
	echo end >&"$events"
}

# next_event UNTIL: sets $event to what a follower says, or "time" at UNTIL (a clock, or nothing)
next_event() {
	local wait=()
	if [ -n "$1" ]; then
		clock
		[ "$clock" -lt "$1" ] || { event='time'; return; }
		wait=(-t "$(printf '%d.%02d' $((($1 - clock) / 100)) $((($1 - clock) % 100)))")
	fi
	read -r "${wait[@]}" event <&"$events" || event='time'
}

# boot: QEMU from start to end.  Sets $decided to the exit status if the end already decides it.
boot() {
	local deadline='' grace='' until name
	decided=
	for name in stdout stderr serial.log status; do
		: >"$run_dir/$name"
	done
	mkfifo "$run_dir/events" "$run_dir/alive"
	# both ends of each, so that opening waits for nobody
	exec {events}<>"$run_dir/events" {qemu_end}<>"$run_dir/alive"
	[ -z "$opt_gdb" ] || exec {guest_end}<>"$run_dir/guest.out"
	clock
	[ -z "$timeout" ] || deadline=$((clock + timeout))
	start_qemu
	[ -z "$one_cpu" ] || main_loop_first &
	exec {alive}<"$run_dir/alive" {qemu_end}>&-
	[ -z "$opt_gdb" ] || exec {guest_out}<"$run_dir/guest.out" {guest_end}>&-
	follow_life &
	follow_output stdout &
	follow_output stderr >&2 &
	# who sits at a terminal sees a crash, and may want to look around
	[ -n "$interactive" ] || follow_log &
	[ -z "$opt_gdb" ] || follow_gdb &
	while :; do
		until=$deadline
		[ -z "$grace" ] || { [ -n "$until" ] && [ "$until" -lt "$grace" ]; } || until=$grace
		next_event "$until"
		clock
		if [ "$event" = end ]; then
			break
		elif [ -n "$decided" ]; then
			continue
		elif [ "$event" = lost ]; then
			decided=141
		elif [ "$event" = gdb ]; then
			decided=125
		elif [ "$event" = crash ]; then
			: "${grace:=$((clock + crash_grace * 100))}"
		elif [ -n "$deadline" ] && [ "$clock" -ge "$deadline" ]; then
			say "timed out after $opt_timeout s"
			decided=124
		elif [ -n "$grace" ] && [ "$clock" -ge "$grace" ]; then
			grace=
			if ! scan_log --fatal >/dev/null; then
				say "the kernel crashed, and $crash_grace s later the command had not ended"
				decided=125
			fi
		fi
		if [ -n "$decided" ]; then
			kill -KILL "$qemu_pid" 2>/dev/null || :
			deadline='' grace=''
		fi
	done
	# The followers end when QEMU is not even a zombie; that it was killed is no news.
	wait 2>/dev/null
	qemu_pid=
	while read -r -t 0.01 event <&"$events"; do
		[ "$event" != lost ] || : "${decided:=141}"
	done
}

# scan_log OPTION...: see there
scan_log() {
	local allow=() regex
	for regex in "${opt_allow[@]}"; do
		allow+=(--allow "$regex")
	done
	# Stock amdkfd copies a link of the topology with kmemdup() and forgets it when a GPU goes, which is found
	# when its functions have no names any more; nothing of ours calls kmemdup().  Each leak has a report.
	[ -z "$opt_debug" ] || allow+=(--allow 'kmemleak: +kmemdup_noprof\+' --allow 'kmemleak: [0-9]+ new suspected')
	"$here/scan-log" "$@" "${allow[@]}" "$run_dir/serial.log"
}
