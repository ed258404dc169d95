#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# faults on request, resets, VM faults, removal, failing allocations
status=0
tests/vm/run --icount --timeout 900 --gpu mi210,mi210 --param queue_preemption_timeout_ms=300 -- sh -c '
	build/tests/bin/sim-faults; a=$?
	build/tests/bin/sim-removal; b=$?
	build/tests/bin/sim-allocfail; c=$?
	exit $((a | b | c))' || status=$?
exit $status
