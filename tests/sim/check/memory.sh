#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# limits, VRAM pressure, userptrs, shared memory; what programs that are not ours do to it
status=0
tests/vm/run --timeout 900 --gpu mi210,mi210 --param vram_mb=64 --param queue_preemption_timeout_ms=1500 \
	-- sh -c '
	build/tests/bin/sim-memory; a=$?
	build/tests/bin/sim-userptr; b=$?
	build/tests/bin/sim-strangers; c=$?
	exit $((a | b | c))' || status=$?
exit $status
