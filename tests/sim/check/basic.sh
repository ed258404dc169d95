#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# packets and times with guest time counting instructions, then what users do to it
status=0
tests/vm/run --icount --timeout 400 -- build/client/kfdbasic --strict || status=$?
tests/vm/run --timeout 400 --param queue_preemption_timeout_ms=1500 -- tests/sim/guest-selftest || status=$?
exit $status
