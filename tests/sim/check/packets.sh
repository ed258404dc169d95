#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what the queues can execute, with guest time counting instructions
set -eu
tests/vm/run --icount --timeout 900 -- sh -c '
	status=0
	for i in packets pm4 sdma; do build/tests/bin/sim-$i || status=1; done
	exit $status'
