#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# No time stamp precedes what caused it, in a VM whose clock is the host's: PACKETS=1000000 for the long form
set -u
# the client program makes the GPU's queues visible in three ways: by a ring, by a map, by both
exec tests/vm/run --quick-saves --timeout "${TIMEOUT:-600}" -- build/tests/bin/sim-causal "${PACKETS:-20000}"
