#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# packets and times, what users do to the GPU, with guest time counting instructions; packets and
# times on the other GPUs
set -u
status=0
tests/vm/run --icount --timeout 900 --param queue_preemption_timeout_ms=1500 -- sh -c '
	build/client/kfdbasic --strict; r=$?
	tests/sim/guest-selftest && exit $r' || status=$?
others=$(tests/sim/gpus | cut -d' ' -f1 | grep -vx mi210)
# shellcheck disable=SC2046,SC2086 # one argument a GPU
tests/vm/run --icount --timeout 600 --gpu "$(paste -sd, <<<"$others")" -- sh -c '
	r=0
	n=0
	for gpu; do build/client/kfdbasic --strict $n || r=1; n=$((n + 1)); done
	exit $r' - $others || status=$?
exit $status
