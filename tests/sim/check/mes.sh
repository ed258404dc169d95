#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# MES: gangs stop and go on, levels, quanta, a hang; on both generations of it
status=0
for gpu in navi31 gfx12; do
	tests/vm/run --icount --timeout 600 --gpu $gpu -- build/tests/bin/sim-mes || status=$?
done
exit $status
