# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# tests/lib/busy.sh - sourced by tests that run beside other load
busy=()
# busy_start N: N processes that keep CPUs busy until busy_end, or until this shell is gone
busy_start() {
	local i
	for ((i = 0; i < $1; i++)); do
		while [ -e "/proc/$$" ]; do for ((k = 0; k < 100000; k++)); do :; done; done &
		busy+=($!)
	done
}
# shellcheck disable=SC2317 # called by traps
busy_end() { [ ${#busy[@]} -eq 0 ] || kill "${busy[@]}" 2>/dev/null; busy=(); }
