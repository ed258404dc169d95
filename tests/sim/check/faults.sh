#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# faults on request, resets, VM faults, removal, failing allocations: with HWS, then with MES
status=0
# shellcheck disable=SC2016
tests/vm/run --icount --timeout 900 --gpu mi210,mi210 --param queue_preemption_timeout_ms=300 -- sh -c '
	build/tests/bin/sim-faults 20; a=$?
	build/tests/bin/sim-removal 3; b=$?
	build/tests/bin/sim-allocfail; c=$?
	exit $((a | b | c))' || status=$?
tests/vm/run --icount --timeout 900 --gpu navi31,mi210 --param mes_timeout_ms=300 -- sh -c '
	build/tests/bin/sim-faults 20 mes; a=$?
	build/tests/bin/sim-removal 1; b=$?
	build/tests/bin/sim-allocfail; c=$?
	exit $((a | b | c))' || status=$?
exit $status
