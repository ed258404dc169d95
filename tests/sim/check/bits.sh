#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A HIP program and a program that dispatches by PM4 give the same bits with the same kernels of hipcc, which are preempted in
# mid-kernel, and the host's. LONG=1: each program 10,000 times at least, 2,500 of them in each of the four kernels;
# PREEMPTIONS=N: so often in each kernel, default 30.
# BITS_GPU=PROFILE: on that GPU, mi210 (the default) or navi21: Debian's ROCr 5.2 knows no others. Arguments are options of
# tests/vm/run.
set -u
bin=build/tests/bin
preemptions=${PREEMPTIONS:-${LONG:+2500}}
make -s -C tests execute O="$PWD/$bin" >&2 || exit 1
gpu=${BITS_GPU:-mi210}
case $gpu in
mi210) target=gfx90a ;;
navi21) target=gfx1030 ;;
*) echo "bits: $gpu: neither mi210 nor navi21" >&2; exit 2 ;;
esac
# shellcheck disable=SC2016 # for the shell of the VM
tests/vm/run --icount --timeout "${TIMEOUT:-7200}" --param execute=1 --quick-saves --gpu "$gpu" "$@" -- sh -c '
	bin=$1 preemptions=$2 object=$1/hip-$3-O2.o gpu=$4
	status=0 n=0
	mkdir -p /tmp/hip /tmp/pm4
	# a dispatch lasts 20 ms, as those by PM4 do
	echo 20000000 >/sys/module/amdgpu/parameters/wave_ns
	$bin/sim-execute --disturb &
	disturb=$!
	$bin/bits $object $preemptions /tmp/hip || status=1
	kill $disturb
	$bin/sim-execute-pm4 $object $preemptions /tmp/pm4 || status=1
	for f in /tmp/hip/*; do
		n=$((n + 1))
		name=${f##*/}
		if cmp $f /tmp/pm4/$name >&2; then not=; else not="not " status=1; fi
		echo "${not}ok $n - $gpu: $name: HIP and PM4 give the same bits, preempted $preemptions times each"
	done
	modelled=$(awk "/^modelled_/ { n += \$2 } END { print n + 0 }" /sys/kernel/debug/kfdsim/0/counters)
	n=$((n + 1))
	[ $modelled -eq 0 ] && not= || { not="not " status=1; }
	echo "${not}ok $n - $gpu: no dispatch is modelled ($modelled are)"
	echo 1..$n
	[ $n -eq 5 ] || { echo "Bail out! $((n - 1)) of 4 kernels left a result"; status=1; }
	grep -E "^(executed|modelled|dispatches)" /sys/kernel/debug/kfdsim/0/counters | sed "s/^/# /"
	exit $status' - $bin "${preemptions:-30}" "$target" "$gpu"
