#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what the queues can execute, with guest time counting instructions
set -eu
tests/vm/run --icount --timeout 600 -- build/tests/bin/sim-packets
