#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Kernels that the simulated GPU executes: right results, preempted in the middle; memory exceptions; HIP programs beside a
# process whose queue comes and goes; a GPU whose instructions are not known. PREEMPTIONS=N: of each kernel, at least, default
# 30. LONG=1: 10,000, HIP programs at -O1, too, each for 20 s, and navi21. GPUS="PROFILE:TARGET...": only these GPUs. Arguments
# are options of tests/vm/run.
set -u
status=0
bin=build/tests/bin
secs=1
levels=O2
gpus="mi210:gfx90a mi300x:gfx942 navi31:gfx1100 gfx12:gfx1100"
preemptions=${PREEMPTIONS:-30}
timeout=900
if [ -n "${LONG:-}" ]; then
	secs=20
	levels="O1 O2"
	gpus="$gpus navi21:gfx1030"
	preemptions=${PREEMPTIONS:-10000}
	timeout=3600
fi
make -s -C tests execute O="$PWD/$bin" >&2 || exit 1
known=$(tests/sim/gpus | cut -d' ' -f1)	# a kernel knows those that were there before it
for gpu in ${GPUS:-$gpus}; do
	if ! grep -qx "${gpu%:*}" <<<"$known"; then
		echo "# ${gpu%:*}: the amdkfd of this kernel does not know it"
		continue
	fi
	# with MES the amdkfd of 6.12 leaks a process of which a queue stopped, which a debug kernel reports: none is stopped on purpose
	only=''
	[[ " $* " != *" --debug "* || $gpu != navi31:* ]] || only=--results
	# shellcheck disable=SC2016 # for the shell of the VM
	tests/vm/run --icount --timeout "${TIMEOUT:-$timeout}" --param execute=1 --quick-saves --gpu "${gpu%:*}" "$@" -- sh -c '
		bin=$1 preemptions=$2 secs=$3 levels=$4 gpu=$5 target=$6 only=$7
		status=0
		if [ $gpu = gfx12 ]; then
			exec $bin/sim-execute $bin/kernels-$target.o --unknown
		fi
		$bin/sim-execute $bin/kernels-$target.o $only $preemptions || status=1
		for o in O1 O2; do
			[ -e $bin/hip-$target-$o.o ] || continue
			echo "# hipcc -$o for $target on $gpu"
			$bin/sim-execute $bin/hip-$target-$o.o --results $preemptions || status=1
		done
		$bin/sim-execute-pm4 $bin/kernels-$target.o $preemptions || status=1
		$bin/sim-execute-segments $bin/kernels-$target.o $preemptions || status=1
		$bin/sim-exceptions $bin/kernels-$target.o || status=1
		saved() { awk "\$1 == \"executed_saved_running\" { print \$2 }" /sys/kernel/debug/kfdsim/0/counters; }
		modelled() { awk "/^modelled_/ { n += \$2 } END { print n + 0 }" /sys/kernel/debug/kfdsim/0/counters; }
		if [ $gpu = mi210 ]; then
			$bin/sim-execute --disturb &
			disturb=$!
			for o in $levels; do
				before=$(saved) not_before=$(modelled)
				$bin/compute-$o $secs || status=1
				n=$(($(saved) - before))
				echo "# compute-$o: $n preemptions in the middle of a work-group"
				[ $n -gt 0 ] && not= || { not="not " status=1; }
				echo "${not}ok 5 - HIP programs of -$o are preempted in mid-kernel"
				n=$(($(modelled) - not_before))
				[ $n -eq 0 ] && not= || { not="not " status=1; }
				echo "${not}ok 6 - HIP programs of -$o: no dispatch is modelled ($n are)"
				echo 1..2
			done
			kill $disturb
		fi
		grep -E "^(executed|modelled)" /sys/kernel/debug/kfdsim/0/counters | sed "s/^/# /"
		exit $status' - $bin "$preemptions" $secs "$levels" "${gpu%:*}" "${gpu#*:}" "$only" || status=$?
done
exit $status
