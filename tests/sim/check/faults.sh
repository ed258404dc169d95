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
# before 6.12 a queue that MES does not remove is half destroyed: its kobject goes twice, its buffers
# never, which the kernel reports and later checks of what is left find
kernel=$(tests/vm/fetch-kernel --quiet "${KFDPRIO_KERNEL:-6.12}")
if ! grep -q pqm_clean_queue_resource "$kernel/source/drivers/gpu/drm/amd/amdkfd/kfd_process_queue_manager.c"; then
	echo "ok 1 - faults with MES # SKIP the amdkfd of $(cat "$kernel/abi") does not survive a queue that MES does not remove"
	echo 1..1
	exit $status
fi
tests/vm/run --icount --timeout 900 --gpu navi31,mi210 --param mes_timeout_ms=300 -- sh -c '
	build/tests/bin/sim-faults 20 mes; a=$?
	build/tests/bin/sim-removal 1; b=$?
	build/tests/bin/sim-allocfail; c=$?
	exit $((a | b | c))' || status=$?
exit $status
