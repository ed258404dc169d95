#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# running time, shares, limits, occupancy, with guest time counting instructions; HWS and MES
status=0
tests/vm/run --quick-saves --icount --timeout 900 -- build/tests/bin/sim-accounting || status=$?
tests/vm/run --quick-saves --icount --timeout 900 --gpu navi31 -- build/tests/bin/sim-accounting mes || status=$?
exit $status
