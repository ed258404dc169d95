#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# the numbers and limits of every profile, with guest time counting instructions
set -eu
status=0
tests/vm/run --icount --timeout 600 --gpu mi210,mi300x,navi21,navi31,gfx12 -- sh -c '
	build/tests/bin/sim-profiles; r=$?
	build/tests/bin/sim-profiles 0x740f 0x74a1 0x73bf 0x744c 0x7550 && exit $r' || status=$?
exit $status
