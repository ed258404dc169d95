#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# several and different GPUs in one machine, with guest time counting instructions
set -eu
gpus=mi210,mi300x,navi21
# shellcheck disable=SC2016 # for the shell in the VM
tests/vm/run --icount --timeout 600 --gpu $gpus --param queue_preemption_timeout_ms=1500 -- sh -c '
	bin=build/tests/bin
	nodes=/sys/class/kfd/kfd/topology/nodes
	$bin/sim-multi && $bin/sim-multi reset || exit
	echo "TAP version 13"
	n=0
	ok() { n=$((n + 1)); [ "$1" = "$2" ] && r=ok || r="not ok"; echo "$r $n - $3: $1"; }
	for gpus in navi21,mi210 mi300x,navi21,mi210; do
		rmmod amdgpu || exit
		ok "$(ls $nodes 2>/dev/null | wc -l)" 0 "topology nodes without the module"
		insmod $KFDPRIO_SIM_KO gpu=$gpus || exit
		ok "$(cat $nodes/*/properties | sed -n "s/^device_id //p" | tr "\n" " ")" "$want" x
	done
'
