#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# the numbers and limits of every profile, with guest time counting instructions
set -euo pipefail
gpus=$(tests/sim/gpus)	# a kernel knows those that were there before it
status=0
# shellcheck disable=SC2046 # one argument a GPU
tests/vm/run --icount --timeout 600 --gpu "$(cut -d' ' -f1 <<<"$gpus" | paste -sd,)" -- sh -c '
	build/tests/bin/sim-profiles; r=$?
	build/tests/bin/sim-profiles "$@" && exit $r' - $(cut -d' ' -f2 <<<"$gpus") || status=$?
exit $status
