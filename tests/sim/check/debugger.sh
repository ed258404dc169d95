#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# the shader debugger's ioctls, with HWS and with MES
status=0
for gpu in mi210 navi31; do
	tests/vm/run --icount --timeout 300 --gpu $gpu -- build/tests/bin/sim-debugger || status=$?
done
exit $status
