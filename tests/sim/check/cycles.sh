#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# load, use, reset, unload: nothing may leak.  tests/sim/soak does more of them
exec tests/sim/soak 30
