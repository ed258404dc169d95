#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests of the VM harness itself, TAP on stdout; about three minutes on two idle cores.
#
# shellcheck disable=SC2016 # what stands in single quotes is for the guest's shell

set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$(realpath "$here/../..")
run=$here/run
runs=$top/build/vm
tmp=$(mktemp -d "${TMPDIR:-/tmp}/kfdprio-vm-selftest.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
count=0 failed=0 status=0

result() { # 0|1 TEXT
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		failed=$((failed + 1))
		[ ! -s "$tmp/err" ] || tail -n 20 "$tmp/err" | sed 's/^/# stderr: /'
		[ ! -s "$tmp/out" ] || head -c 500 "$tmp/out" | tr -cd '\11\12\15\40-\176' | sed 's/^/# stdout: /'
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

# vm ARGUMENT...: a run; its results in $tmp/out, $tmp/err and $status
vm() {
	status=0
	"$run" --no-sim "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
}

is() { [ "$1" = "$2" ]; }
# qemus DIR-NAME-PART: QEMU processes of runs whose directory has this part in its name
qemus() { grep -lasE "qemu-system.*/build/vm/[0-9-]*$1/" /proc/[0-9]*/cmdline | grep -v "^/proc/$$/" || :; }
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

# --- reading the kernel's log, without a VM
check "kernel reports are told from noise (report-test)" "$here/report-test"

# --- usage
vm --frobnicate
check "unknown option: status 125" is "$status" 125
check "unknown option: named" grep -q -- --frobnicate "$tmp/err"
vm --out "$tmp/none" true
check "--out of a missing directory: status 125, named" grep -q "$tmp/none: no such directory" "$tmp/err"
vm --kernel 1.x true
check "bad kernel version: status 125" is "$status" 125
vm --allow-warn '(' true
check "bad --allow-warn: named" grep -q -- --allow-warn "$tmp/err"
"$run" --help >"$tmp/out"
for o in kernel gpu icount timeout no-sim stock param out env allow-warn smp mem append keep verbose; do
	check "--help has --$o" grep -q -- "--$o" "$tmp/out"
done

# --- one run, many facts
mkdir "$tmp/out dir" "$tmp/cwd"
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
args=('' ' ' "it's" '"$HOME"' $'new\nline' '*' '\\' '--' '--timeout' 'A=B' 'ä' $'\x01\x81\xff')
start=$SECONDS
(cd "$tmp/cwd" && KFDPRIO_TEST=1 NOT_PASSED=1 "$run" --no-sim --env "EXTRA=2 '3" --out "$tmp/out dir" -- \
	"$tmp/cwd/facts" "$tmp/out dir" "${args[@]}" >"$tmp/out" 2>"$tmp/err") || status=$?
took=$((SECONDS - start))
printf '%s\0' "${args[@]}" >"$tmp/args"
{ cat "$tmp/cwd/random"; printf dev; } >"$tmp/err.want"
facts=$tmp/out\ dir/facts
fact() { grep -qxF -- "$1" "$facts"; }
check "exit status is passed" is "$status" 42
check "stdout is the same 3 MB" cmp "$tmp/out" "$tmp/cwd/random"
check "stderr is the same 3 MB, and /dev/stderr opens" cmp "$tmp/err" "$tmp/err.want"
: >"$tmp/err"
: >"$tmp/out"
check "arguments survive, byte for byte" cmp "$tmp/args" "$tmp/out dir/args"
check "root" fact uid=0
check "in the caller's directory, though below /tmp" fact "cwd=$tmp/cwd"
check "stdin is empty" fact stdin=0
check "PATH has build/tools first" grep -q "^path=$top/build/tools:" "$facts"
check "KFDPRIO_* and --env are passed, others not" fact "mine=1,2 '3,"
abi=$(cat "$("$here/fetch-kernel" 6.12)/abi")
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
vm -- no-such-command
check "no such command: 127" is "$status" 127
vm -- sh -c 'kill -SEGV $$'
check "killed by SIGSEGV: 139, no kernel report" is "$status" 139
status=0
"$run" --no-sim -- yes 2>"$tmp/err" | head -n 1 >"$tmp/out" || status=$?
check "a reader that goes away ends the run: SIGPIPE" is "$status" 141
status=0
echo 'read -r x; exit $((x + 1))
6' | "$run" --no-sim >"$tmp/out" 2>"$tmp/err" || status=$?
check "without a command, stdin is a shell's" is "$status" 7
if command -v script >/dev/null; then
	status=0
	shell_started() { grep -q 'command starts' "$(run_of "$(cat "$tmp/pid")")/serial.log"; }
	(
		wait_for 100 shell_started
		sleep 3
		echo 'tty; stty size; echo "sum $((20 + 3))"; exit 9'
	) | timeout 120 script -qec "stty rows 33 cols 99; echo \$\$ >$tmp/pid; exec $run --no-sim" /dev/null \
		>"$tmp/out" 2>"$tmp/err" || status=$?
	check "an interactive shell on a terminal passes its status" is "$status" 9
	check "... runs what is typed" grep -q 'sum 23' "$tmp/out"
	check "... on a terminal of the caller's size" grep -q '33 99' "$tmp/out"
else
	skip "an interactive shell on a terminal" "no script(1)"
fi

# --- another kernel
if other=$(XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache} && find "$XDG_CACHE_HOME/kfdprio/kernels" -path "*/6.1.*/abi" 2>/dev/null | tail -n 1) &&
	[ -n "$other" ]; then
	vm --kernel 6.1 -- uname -r
	check "--kernel 6.1 boots it" is "$status $(cat "$tmp/out")" "0 $(cat "$other")"
else
	skip "--kernel 6.1 boots it" "not in the cache: tests/vm/fetch-kernel 6.1 gets it (210 MiB)"
fi

# --- timeout and crash
start=$SECONDS
vm --timeout 30 -- sh -c 'echo before; sleep 1000'
check "timeout: 124" is "$status" 124
check "... in time" test $((SECONDS - start)) -lt 40
check "... what was printed before arrives" grep -qx before "$tmp/out"
check "... the log's path is printed and exists" test -s "$(sed -n 's/.*kernel log: //p' "$tmp/err")"
vm -- sh -c 'echo before; sleep 1; echo c >/proc/sysrq-trigger; sleep 100'
check "panic: 125" is "$status" 125
check "... reported" grep -q 'Kernel panic' "$tmp/err"
check "... what was printed before arrives" grep -qx before "$tmp/out"
vm -- sh -c 'echo o >/proc/sysrq-trigger; sleep 100'
check "a guest that goes off without a status: 125" is "$status" 125

kernel=$("$here/fetch-kernel" 6.12)
mkdir "$tmp/mod"
cat >"$tmp/mod/kfdprio_warn.c" <<'END'
#include <linux/module.h>
static int __init kfdprio_warn_init(void)
{
	WARN_ON(1);
	return -ENODEV;
}
module_init(kfdprio_warn_init);
MODULE_LICENSE("GPL");
END
echo 'obj-m := kfdprio_warn.o' >"$tmp/mod/Kbuild"
if make -s -C "$kernel/build" M="$tmp/mod" modules >"$tmp/make.log" 2>&1; then
	vm -- sh -c 'insmod "$1"; echo after' sh "$tmp/mod/kfdprio_warn.ko"
	check "WARN_ON in a module: 125" is "$status" 125
	check "... reported with its place" grep -q 'WARNING.*kfdprio_warn' "$tmp/err"
	check "... the command went on" grep -qx after "$tmp/out"
	vm --allow-warn 'kfdprio_warn_init' -- sh -c 'insmod "$1"; exit 3' sh "$tmp/mod/kfdprio_warn.ko"
	check "... unless --allow-warn expects it" is "$status" 3
else
	skip "WARN_ON in a module" "no module can be built here: $(tail -n 1 "$tmp/make.log")"
fi

# --- two at once
"$run" --no-sim -- sh -c 'echo one; sleep 2; exit 11' >"$tmp/one" 2>"$tmp/err" & one=$!
"$run" --no-sim -- sh -c 'echo two; sleep 2; exit 12' >"$tmp/two" 2>"$tmp/err" & two=$!
s1=0 s2=0
wait $one || s1=$?
wait $two || s2=$?
check "two at once: both statuses" is "$s1 $s2" "11 12"
check "... both outputs" is "$(cat "$tmp/one" "$tmp/two")" "$(printf 'one\ntwo')"

# --- residue
"$run" --no-sim -- true >"$tmp/out" 2>"$tmp/err" & one=$!
wait $one && status=0 || status=$?
check "success leaves no directory" is "$status$(run_of $one)" 0
for sig in TERM INT KILL; do
	# setsid: a background job of a script ignores SIGINT
	setsid "$run" --no-sim -- sleep 1000 >"$tmp/out" 2>"$tmp/err" & one=$!
	wait_for 20 grep -qs 'command starts' "$runs"/*-$one/serial.log || :
	check "before SIG$sig there is a QEMU" test -n "$(qemus $one)"
	kill -$sig $one
	wait $one 2>/dev/null || :
	check "SIG$sig: no QEMU stays" wait_for 5 test -z "$(sleep 0.5; qemus $one)"
	[ $sig = KILL ] || check "SIG$sig: no directory stays" is "$(run_of $one)" ""
done
vm -- true
check "a later run clears what a killed one left" is "$(run_of $one)" ""

# --- instruction counting
cat >"$tmp/cwd/count.py" <<'END'
import time
best = 10 ** 12
for _ in range(60):
    t = time.monotonic_ns()
    for i in range(3000):
        pass
    best = min(best, time.monotonic_ns() - t)
print(best)
t = time.monotonic_ns()
time.sleep(600)
print(time.monotonic_ns() - t >= 600 * 10 ** 9)
END
for i in 1 2; do
	vm --icount --env PYTHONHASHSEED=0 -- python3 "$tmp/cwd/count.py"
	cp "$tmp/out" "$tmp/count$i"
done
check "--icount: the same figure twice ($(head -n 1 "$tmp/count1") ns)" cmp "$tmp/count1" "$tmp/count2"
check "--icount: ten idle minutes pass at once" grep -qx True "$tmp/count1"

# --- the simulated GPU
if [ -x "$top/tests/sim/build" ]; then
	status=0
	"$run" -- sh -c 'ls /dev/kfd && cat /sys/module/amdgpu/parameters/gpu && rmmod amdgpu && insmod "$KFDPRIO_SIM_KO" "gpu=$KFDPRIO_SIM_GPU"' \
		>"$tmp/out" 2>"$tmp/err" || status=$?
	check "the simulated GPU is there, goes and comes back" is "$status $(head -n 1 "$tmp/out")" "0 /dev/kfd"
	status=0
	"$run" --gpu nosuch -- true >"$tmp/out" 2>"$tmp/err" || status=$?
	check "an unknown profile: 125, named" sh -c "[ $status = 125 ] && grep -q nosuch '$tmp/err'"
else
	skip "the simulated GPU is there, goes and comes back" "no tests/sim/build"
fi

echo "1..$count"
[ $failed = 0 ]
