#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Kernels that the simulated GPU executes: right results, preempted in the middle; HIP programs beside a process
# whose queue comes and goes. PREEMPTIONS=N: of each kernel, at least, default 30. LONG=1: HIP at -O1, too, each for 20 s, and navi21.
set -u
status=0
bin=build/tests/bin
preemptions=${PREEMPTIONS:-30}
secs=1
levels=O2
gpus=navi31:gfx1100
[ -z "${LONG:-}" ] || { secs=20; levels="O1 O2"; gpus="navi21:gfx1030 $gpus"; }
make -s -C tests execute O="$PWD/$bin" >&2 || exit 1
# shellcheck disable=SC2016 # for the shell of the VM
tests/vm/run --icount --timeout "${TIMEOUT:-900}" --param execute=1 --quick-saves -- sh -c '
	bin=$1 preemptions=$2 secs=$3 levels=$4
	status=0
	$bin/sim-execute $bin/kernels-gfx90a.o $preemptions || status=1
	saved() { awk "\$1 == \"executed_saved_running\" { print \$2 }" /sys/kernel/debug/kfdsim/0/counters; }
	$bin/sim-execute --disturb &
	disturb=$!
	for o in $levels; do
		before=$(saved)
		$bin/compute-$o $secs || status=1
		n=$(($(saved) - before))
		echo "# compute-$o: $n preemptions in the middle of a work-group"
		[ $n -gt 0 ] || { echo "not ok 5 - HIP programs of -$o are preempted in mid-kernel"; status=1; }
	done
	kill $disturb
	grep -E "^(executed|modelled)" /sys/kernel/debug/kfdsim/0/counters | sed "s/^/# /"
	exit $status' - $bin "$preemptions" $secs "$levels" || status=$?
for gpu in $gpus; do
	tests/vm/run --icount --timeout "${TIMEOUT:-900}" --param execute=1 --quick-saves --gpu "${gpu%:*}" -- \
		$bin/sim-execute $bin/kernels-"${gpu#*:}".o "$preemptions" || status=$?
done
exit $status
