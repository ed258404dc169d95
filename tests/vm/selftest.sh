#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests of the VM harness itself, TAP on stdout; about a minute on two idle cores.
#
# Runs of a VM are jobs, started in the background, as many at once as there are cores; the checks
# below wait for the job that they are about.
#
# shellcheck disable=SC2016 # what stands in single quotes is for the guest's shell
# shellcheck disable=SC2317 # jobs are called by name

set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$(realpath "$here/../..")
run=$here/run
runs=$top/build/vm
slots=$(nproc)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/kfdprio-vm-selftest.XXXXXX")
count=0 failed=0 scheduler=
cleanup() {
	local pids
	[ -z "$scheduler" ] || kill "$scheduler" 2>/dev/null || :
	pids=$(cat "$tmp"/*/pid 2>/dev/null) || :
	# shellcheck disable=SC2086 # a list of numbers
	[ -z "$pids" ] || kill $pids 2>/dev/null || :
	wait
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

result() { # 0|1 TEXT
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		failed=$((failed + 1))
		[ ! -s "$err" ] || tail -n 20 "$err" | sed 's/^/# stderr: /'
		[ ! -s "$out" ] || head -c 500 "$out" | tr -cd '\11\12\15\40-\176' | sed 's/^/# stdout: /'
	fi
}

skip() { count=$((count + 1)); echo "ok $count - $1 # SKIP $2"; }

# check TEXT COMMAND...: ok if COMMAND succeeds
check() {
	local text=$1 rc=0
	shift
	"$@" >/dev/null 2>&1 || rc=1
	result $rc "$text"
}

is() { [ "$1" = "$2" ]; }
# qemus PID: QEMU processes of the run that was process PID
qemus() { grep -lasE "qemu-system.*/build/vm/[0-9-]*-$1/" /proc/[0-9]*/cmdline | grep -v "^/proc/$$/" || :; }
run_of() { find "$runs" -maxdepth 1 -name "*-$1"; }

# wait_for SECONDS COMMAND...
wait_for() {
	local n=$(($1 * 10))
	shift
	while ! "$@" >/dev/null 2>&1; do
		[ $((n -= 1)) -gt 0 ] || return 1
		sleep 0.1
	done
}

# start NAME COMMAND...: a job; what it leaves is in $tmp/NAME: out, err, status, took, pid
start() {
	local dir=$tmp/$1
	shift
	mkdir -p "$dir"
	(
		status=0
		begun=$SECONDS
		"$@" >"$dir/out" 2>"$dir/err" &
		echo $! >"$dir/pid"
		wait $! || status=$?
		rm "$dir/pid"
		echo $((SECONDS - begun)) >"$dir/took"
		echo $status >"$dir/status.new"
		mv "$dir/status.new" "$dir/status"
	) &
}

# start_busy NAME COMMAND...: a job that needs a core; start is for those which sleep most of the time
start_busy() {
	while [ "$(jobs -rp | wc -l)" -ge $((slots + sleepers)) ]; do
		wait -n || :
		# those which sleep end, too
		sleepers=$(find "$tmp"/{timeout,oops,allow} -name pid 2>/dev/null | wc -l)
	done
	start "$@"
}

# look_at NAME: waits for a job; sets $out, $err, $status and $took
look_at() {
	out=$tmp/$1/out err=$tmp/$1/err
	until [ -e "$tmp/$1/status" ]; do
		kill -0 "$scheduler" 2>/dev/null || { echo "Bail out! job $1 was never started"; exit 1; }
		sleep 0.1
	done
	status=$(<"$tmp/$1/status")
	took=$(<"$tmp/$1/took")
}

# refused ARGUMENT...: a call that ends before there is a VM
refused() {
	status=0 out=$tmp/refused.out err=$tmp/refused.err
	"$run" "$@" >"$out" 2>"$err" </dev/null || status=$?
}

# --- what the jobs need
mkdir "$tmp/out dir" "$tmp/cwd" "$tmp/mod"
head -c 3000000 /dev/urandom >"$tmp/cwd/random"
cat >"$tmp/cwd/facts" <<'END'
#!/bin/bash
out=$1; shift
printf '%s\0' "$@" >"$out/args"
cat random
cat random >&2
{
	echo "uid=$(id -u)"
	echo "cwd=$(pwd)"
	echo "stdin=$(wc -c)"
	echo "path=$PATH"
	echo "mine=$KFDPRIO_TEST,$EXTRA,$NOT_PASSED"
	echo "cpus=$(nproc)"
	echo "kernel=$(uname -r)"
	echo "module=$(modinfo -k "$(uname -r)" -F name drm)"
	for f in proc sys dev/pts dev/shm sys/kernel/debug sys/kernel/tracing sys/fs/cgroup; do
		mountpoint -q /$f && echo "mount=$f"
	done
	[ -t 1 ] || echo notty
	touch /etc/kfdprio-test "$HOME/kfdprio-test" && echo written
	echo -n dev >/dev/stderr && echo reopened
} >"$out/facts"
sleep 1000 &
exit 42
END
chmod +x "$tmp/cwd/facts"
# shellcheck disable=SC1003 # a lone backslash
args=('' ' ' "it's" '"$HOME"' $'new\nline' '*' '\\' '--' '--timeout' 'A=B' 'ä' $'\x01\x81\xff' $'\n' "'" $'end\n')
printf '%s\0' "${args[@]}" >"$tmp/args"

# the shortest of many loops in nanoseconds, then ten idle minutes
cat >"$tmp/cwd/count.c" <<'END'
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(void)
{
	long best = 1000000000, start, took;

	for (int n = 0; n < 1000; n++) {
		start = now();
		for (volatile int i = 0; i < 10000; i++)
			;
		took = now() - start;
		if (took < best)
			best = took;
	}
	printf("%ld\n", best);
	start = now();
	sleep(600);
	if (now() - start >= 600 * 1000000000L)
		puts("passed");
}
END
counts=1
cc -O1 -o "$tmp/cwd/count" "$tmp/cwd/count.c" >"$tmp/cc.log" 2>&1 || counts=

kernel=$("$here/fetch-kernel" 6.12)
abi=$(<"$kernel/abi")
for m in warn oops; do
	cat >"$tmp/mod/kfdprio_$m.c" <<END
#include <linux/module.h>
static int *volatile nowhere;
static int __init kfdprio_${m}_init(void)
{
	$([ $m = warn ] && echo 'WARN_ON(!nowhere)' || echo '*nowhere = 1');
	return -ENODEV;
}
module_init(kfdprio_${m}_init);
MODULE_LICENSE("GPL");
END
done
echo 'obj-m := kfdprio_warn.o kfdprio_oops.o' >"$tmp/mod/Kbuild"
modules=1
make -s -C "$kernel/build" M="$tmp/mod" modules >"$tmp/make.log" 2>&1 || modules=
old_kernel=$(find "${kernel%/*}" -path '*/6.1.*/abi' | tail -n 1)

# --- jobs
facts() {
	cd "$tmp/cwd"
	KFDPRIO_TEST=1 NOT_PASSED=1 exec "$run" --no-sim --env "EXTRA=2 '3" --out "$tmp/out dir" -- \
		"$tmp/cwd/facts" "$tmp/out dir" "${args[@]}"
}

# two runs at once; prints their statuses behind their outputs
pair() {
	local one s1=0 s2=0
	"$run" --no-sim -- sh -c 'echo one; sleep 2; kill -SEGV $$' >"$tmp/one" & one=$!
	"$run" --no-sim >"$tmp/two" <<<'read -r x; echo two; exit $((x + 1))
6' || s2=$?
	wait $one || s1=$?
	cat "$tmp/one" "$tmp/two"
	echo "$s1 $s2"
}

reader_goes_away() { "$run" --no-sim -- yes | head -n 1; }

terminal() {
	local pidfile=$tmp/terminal.pid
	started() { grep -q 'command starts' "$(run_of "$(<"$pidfile")")/serial.log"; }
	(
		wait_for 100 started
		sleep 2
		echo 'tty; stty size; echo "sum $((20 + 3))"; exit 9'
	) | timeout 120 script -qec "stty rows 33 cols 99; echo \$\$ >$pidfile; exec $run --no-sim" /dev/null
}

# signal NAME: sends it to a run and prints what it found before and after
signal() {
	local one ready='command starts'
	# one of them in the middle, the others early
	[ "$1" = TERM ] || ready='Linux version'
	setsid "$run" --no-sim -- sleep 1000 & one=$!
	wait_for 60 eval "grep -qs '$ready' $runs/*-$one/serial.log" || :
	[ -z "$(qemus $one)" ] || echo "QEMU before"
	kill -"$1" $one
	wait $one 2>/dev/null || :
	! wait_for 5 eval '[ -z "$(qemus '$one')" ]' || echo "no QEMU after"
	[ -n "$(run_of $one)" ] || echo "no directory after"
	[ "$1" = KILL ] || return 0
	"$run" --no-sim -- no-such-command || echo "status $?"
	[ -n "$(run_of $one)" ] || echo "no directory later"
}

# a run without this machine's files: what it sees of them, and which are mounted over 9p
initramfs() {
	cd "$tmp/cwd"
	exec "$run" --no-sim --initramfs "$tmp/args" --initramfs /bin/bash -- bash -c 'pwd; [ -e /etc/passwd ] || echo "no /etc"
		while read -r _ _ type _; do [ "$type" != 9p ] || echo 9p; done </proc/mounts
		cat "$1"; exit 7' bash "$tmp/args"
}

# two boots of systemd: what the first has changed is there in the second
boots() {
	local changes=$tmp/changes.tar status=0
	"$run" --no-sim --init systemd --changes "$changes" -- sh -c \
		'echo "1: $(cat /proc/1/comm)"; systemctl is-active basic.target; echo kept >/etc/kfdprio-test; rm /etc/motd; exit 7' || status=$?
	echo "status $status"
	"$run" --no-sim --init systemd --changes "$changes" -- sh -c 'cat /etc/kfdprio-test; [ -e /etc/motd ] || echo removed'
}

# prints the process of a run that succeeds, then its status
success() {
	local one
	"$run" --no-sim -- true & one=$!
	wait $one && echo $one 0 || echo $one $?
}

schedule() {
	# "kill" ends the jobs by their pid files
	trap - EXIT
	trap 'exit 143' TERM
	sleepers=0
	start timeout "$run" --no-sim --timeout 120 -- sh -c 'echo before; sleep 1000'
	if [ -n "$modules" ]; then
		start oops "$run" --no-sim --timeout 200 -- sh -c 'insmod "$1"; echo after; sleep 1000' sh "$tmp/mod/kfdprio_oops.ko"
	fi
	sleepers=2
	start_busy facts facts
	if [ -n "$modules" ]; then
		start_busy allow "$run" --no-sim --allow-warn kfdprio_warn_init --allow-warn kfdprio_oops_init -- \
			sh -c 'insmod "$1"; insmod "$2"; sleep 20; exit 3' sh "$tmp/mod/kfdprio_warn.ko" "$tmp/mod/kfdprio_oops.ko"
		start_busy warn "$run" --no-sim -- sh -c 'insmod "$1"; echo after' sh "$tmp/mod/kfdprio_warn.ko"
	fi
	[ ! -x "$top/tests/sim/build" ] || {
		start_busy sim "$run" -- sh -c 'ls /dev/kfd && cat /sys/module/amdgpu/parameters/gpu && rmmod amdgpu && insmod "$KFDPRIO_SIM_KO" "gpu=$KFDPRIO_SIM_GPU"'
		start_busy profile "$run" --gpu nosuch -- true
	}
	start_busy pair pair
	start_busy reader reader_goes_away
	! command -v script >/dev/null || start_busy terminal terminal
	start_busy initramfs initramfs
	[ -z "$old_kernel" ] || start_busy old "$run" --no-sim --kernel 6.1 -- uname -r
	start_busy panic "$run" --no-sim -- sh -c 'echo before; sleep 1; echo c >/proc/sysrq-trigger; sleep 100'
	start_busy off "$run" --no-sim -- sh -c 'echo o >/proc/sysrq-trigger; sleep 100'
	for sig in TERM INT KILL; do
		start_busy $sig signal $sig
	done
	start_busy success success
	[ ! -x /lib/systemd/systemd ] || start_busy boots boots
	if [ -n "$counts" ]; then
		start_busy count1 "$run" --no-sim --icount -- "$tmp/cwd/count"
		start_busy count2 "$run" --no-sim --icount -- "$tmp/cwd/count"
	fi
	wait
}
schedule & scheduler=$!

# --- reading the kernel's log, without a VM
out=$tmp/report-test err=/dev/null
check "kernel reports are told from noise (report-test)" eval "'$here/report-test' >'$out'"

# --- usage
refused --frobnicate
check "unknown option: status 125" is "$status" 125
check "unknown option: named" grep -q -- --frobnicate "$err"
refused --no-sim --out "$tmp/none" true
check "--out of a missing directory: status 125, named" grep -q "$tmp/none: no such directory" "$err"
refused --no-sim --kernel 1.x true
check "bad kernel version: status 125" is "$status" 125
refused --allow-warn '(' true
check "bad --allow-warn: named" grep -q -- --allow-warn "$err"
for bad in --seed=x --seed=-1 --timeout=x --timeout=0 --timeout=-1 --timeout=1e3 --timeout= --smp= --smp=0 --smp=two --mem=lots --doorbell-mb=3 --gpu=a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a \
	--param=x '--param=a=b c' --env=x --stock=1 --init=upstart "--changes=$tmp/none/file" \
	"--initramfs=$tmp/none" "--initramfs=$tmp"; do
	refused "$bad" -- true
	check "$bad: status 125, named" eval "is $status 125 && { grep -qF -- '${bad%%=*}' '$err' || grep -qF -- \"'${bad#*=}'\" '$err'; }"
done
refused --no-sim --initramfs /bin/true --out "$tmp" -- true
check "--initramfs excludes --out: status 125, named" eval "is $status 125 && grep -q -- '--initramfs excludes --out' '$err'"
refused --no-sim --initramfs /bin/true
check "--initramfs without a COMMAND: status 125, named" eval "is $status 125 && grep -q -- '--initramfs needs a COMMAND' '$err'"
refused --mem
check "an option without its argument: status 125, named" eval "is $status 125 && grep -q -- --mem '$err'"
refused --help
for o in kernel gpu icount seed timeout no-sim stock param initramfs out env allow-warn smp mem doorbell-mb append init changes keep verbose; do
	check "--help has --$o" grep -q -- "--$o" "$out"
done
check "--help ends with the place of the logs" grep -qF "$runs/" <(tail -n 1 "$out")

# --- one run, many facts
look_at facts
facts=$tmp/out\ dir/facts
fact() { grep -qxF -- "$1" "$facts"; }
check "exit status is passed" is "$status" 42
check "stdout is the same 3 MB" cmp "$out" "$tmp/cwd/random"
check "stderr is the same 3 MB, and /dev/stderr opens" cmp "$err" <(cat "$tmp/cwd/random"; printf dev)
: >"$err"
: >"$out"
check "arguments survive, byte for byte" cmp "$tmp/args" "$tmp/out dir/args"
check "root" fact uid=0
check "in the caller's directory, though below /tmp" fact "cwd=$tmp/cwd"
check "stdin is empty" fact stdin=0
check "PATH has build/tools first" grep -q "^path=$top/build/tools:" "$facts"
check "KFDPRIO_* and --env are passed, others not" fact "mine=1,2 '3,"
check "two CPUs" fact cpus=2
check "the kernel is Debian's" fact "kernel=$abi"
check "its modules are in place" fact module=drm
for f in proc sys dev/pts dev/shm sys/kernel/debug sys/kernel/tracing sys/fs/cgroup; do
	check "/$f is mounted" fact "mount=$f"
done
check "output is no terminal" fact notty
check "the root is writable inside" fact written
check "--out reached the host, nothing else did" \
	test -s "$facts" -a ! -e /etc/kfdprio-test -a ! -e "$HOME/kfdprio-test"
check "what the command leaves running does not hold the run up ($took s)" test "$took" -lt 60

# --- how commands end
look_at pair
check "killed by SIGSEGV: 139, no kernel report" grep -q '^139 ' "$out"
check "without a command, stdin is a shell's" grep -q ' 7$' "$out"
check "two at once: both outputs, both statuses" is "$(tr '\n' ' ' <"$out")" 'one two 139 7 '
look_at reader
check "a reader that goes away ends the run: SIGPIPE" is "$status" 141
if command -v script >/dev/null; then
	look_at terminal
	check "an interactive shell on a terminal passes its status" is "$status" 9
	check "... runs what is typed" grep -q 'sum 23' "$out"
	check "... on a terminal of the caller's size" grep -q '33 99' "$out"
else
	skip "an interactive shell on a terminal" "no script(1)"
fi

# --- nothing of this machine
look_at initramfs
check "--initramfs: the command's status" is "$status" 7
check "... in the caller's directory, without the host's files and 9p, but for the FILE" \
	cmp "$out" <(printf '%s\nno /etc\n' "$tmp/cwd"; cat "$tmp/args")

# --- another kernel
if [ -n "$old_kernel" ]; then
	look_at old
	check "--kernel 6.1 boots it" is "$status $(<"$out")" "0 $(<"$old_kernel")"
else
	skip "--kernel 6.1 boots it" "not in the cache: tests/vm/fetch-kernel 6.1 gets it (210 MiB)"
fi

# --- systemd
if [ -x /lib/systemd/systemd ]; then
	look_at boots
	check "--init systemd: it is PID 1, and the system has booted" is "$(sed -n '1,2p' "$out" | tr '\n' ' ')" '1: systemd active '
	check "... the status of the command is passed" grep -qx 'status 7' "$out"
	check "--changes: what was written and removed stays so in a second boot" is "$(tail -n 2 "$out" | tr '\n' ' ')" 'kept removed '
	check "... and the host is as it was" test ! -e /etc/kfdprio-test
else
	skip "--init systemd" "this machine has no systemd"
fi

# --- timeout and crash
look_at timeout
check "timeout: 124" is "$status" 124
check "... in time ($took s)" test "$took" -lt 150
check "... what was printed before arrives" grep -qx before "$out"
check "... the log's path is printed and exists" test -s "$(sed -n 's/.*kernel log: //p' "$err")"
look_at panic
check "panic: 125" is "$status" 125
check "... reported" grep -q 'Kernel panic' "$err"
check "... what was printed before arrives" grep -qx before "$out"
look_at off
check "a guest that goes off without a status: 125" is "$status" 125
if [ -n "$modules" ]; then
	look_at warn
	check "WARN_ON in a module: 125" is "$status" 125
	check "... reported with its place" grep -q 'WARNING.*kfdprio_warn' "$err"
	check "... the command went on" grep -qx after "$out"
	look_at oops
	check "an Oops, and a command that does not end: 125" is "$status" 125
	check "... reported with its place" grep -q 'RIP.*kfdprio_oops' "$err"
	check "... long before the time is out ($took s)" test "$took" -lt 100
	check "... what was printed before arrives" grep -qx after "$out"
	look_at allow
	check "... unless --allow-warn expects them, Oops and WARN_ON" is "$status" 3
else
	skip "WARN_ON and Oops in a module" "no module can be built here: $(tail -n 1 "$tmp/make.log")"
fi

# --- residue
for sig in TERM INT KILL; do
	look_at $sig
	check "before SIG$sig there is a QEMU" grep -qx 'QEMU before' "$out"
	check "SIG$sig: no QEMU stays" grep -qx 'no QEMU after' "$out"
	[ $sig = KILL ] || check "SIG$sig: no directory stays" grep -qx 'no directory after' "$out"
done
check "no such command: 127" grep -qx 'status 127' "$out"
check "a later run clears what a killed one left" grep -qx 'no directory later' "$out"

look_at success
read -r pid status <"$out"
check "success leaves no directory" is "$status$(run_of "$pid")" 0

# --- instruction counting
if [ -n "$counts" ]; then
	look_at count1
	look_at count2
	check "--icount: the same figure twice ($(head -n 1 "$out") ns)" cmp "$tmp/count1/out" "$out"
	check "--icount: ten idle minutes pass at once ($took s)" grep -qx passed "$out"
else
	skip "--icount: the same figure twice" "no C program can be built here: $(tail -n 1 "$tmp/cc.log")"
fi

# --- the simulated GPU
if [ -x "$top/tests/sim/build" ]; then
	look_at sim
	check "the simulated GPU is there, goes and comes back" is "$status $(head -n 1 "$out")" "0 /dev/kfd"
	look_at profile
	check "an unknown profile: 125, named" eval "is $status 125 && grep -q nosuch '$err'"
else
	skip "the simulated GPU is there, goes and comes back" "no tests/sim/build"
fi

echo "1..$count"
[ $failed = 0 ]
