#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# More than the firmware's thread can follow: over-subscribed, unequal priorities, and a competitor whose
# dispatches are short. The model's time is late then; the driver waits for nothing.
set -u
tests/vm/run --timeout "${TIMEOUT:-600}" -- sh -c '
	thread=$(pgrep -f "^\[?kfdsim-hws/0" || pgrep kfdsim-hws)
	cpu_ms() { awk "{ print (\$14 + \$15) * 10 }" /proc/$thread/stat; }
	counter() { awk -v n="$1" "\$1 == n { print \$2 }" /sys/kernel/debug/kfdsim/0/counters; }
	secs=6
	for i in 1 2 3 4 5 6 7 8 9; do
		build/client/kfdload --name "p$i" --queues 8 --rate 10 --dispatch-ns 300000 --secs $secs \
			--priority 5 >/dev/null &
	done
	cpu=$(cpu_ms)
	build/client/kfdload --name competitor --full --depth 64 --dispatch-ns 2000 --secs $secs --priority 15 >/dev/null &
	sleep 1
	# the driver beside it: 5 queues created and destroyed
	begun=$(date +%s%3N)
	build/client/kfdload --name late --queues 5 --rate 20 --dispatch-ns 10000 --secs 1 >/dev/null; r=$?
	took=$(($(date +%s%3N) - begun))
	wait
	cpu=$(($(cpu_ms) - cpu))
	n=0
	point() { n=$((n + 1)); if eval "$1"; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi; }
	echo "# $(counter steps) steps, $(counter events) events, $(counter visits) queues looked at, $(counter map_visits) of them for VMIDs and HQDs, GPU stood still for $(counter stalled_ns) ns"
	echo "# longest unmap $(counter unmap_max_ns) ns"
	point "[ $r -eq 0 ]" "a client beside 73 queues has its work done, in $took ms"
	point "[ $took -lt 20000 ]" "... within 20 s"
	point "[ $(counter resets) -eq 0 ]" "amdkfd saw no hang"
	point "[ $cpu -lt $((secs * 1000)) ]" "the firmware took $cpu ms of CPU in more than $((secs * 1000)) ms"
	point "[ $(counter unmap_max_ns) -lt 1000000000 ]" "... and the longest unmap took $(($(counter unmap_max_ns) / 1000000)) ms, less than 1 s"
	point "[ $(counter visits) -lt $((120 * $(counter events))) ]" "an event looks at $(($(counter visits) / $(counter events))) of 78 queues, again and again"
	echo "1..$n"'
