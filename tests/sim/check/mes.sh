#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# MES: gangs stop and go on, levels, quanta, a hang; on both generations of it
set -o pipefail
status=0
# a kernel knows the GPUs that were there before it
for gpu in $(tests/sim/gpus | cut -d' ' -f1 | grep -xE 'navi31|gfx12'); do
	tests/vm/run --icount --timeout 600 --gpu $gpu -- build/tests/bin/sim-mes || status=$?
done
exit $status
