# SPDX-License-Identifier: GPL-2.0
# "PHASE NAME VALUE" lines of tests/bench/guest -> TAP: the bounds of preemption.

NF == 3 { v[$1 "_" $2] = $3 }

function check(name, got, relation, bound,   good) {
	n++
	good = got != "" && (relation == "<=" ? got + 0 <= bound + 0 : relation == ">=" ? got + 0 >= bound + 0 : got + 0 == bound + 0)
	if (!good) {
		failed = 1
		printf "not "
	}
	printf "ok %d - %s: %s %s %s (simulated)\n", n, name, got == "" ? "not measured" : got, relation, bound
}

END {
	save = 327	# us: SIM_SAVE_FULL_US of tests/sim/profiles.h, the measured median
	alone = v["alone_p99_us"]
	for (i = 4; i <= 12; i += 8) {
		check("online P50 beside " i ", us more than alone: the time to save and 15", v["preempt_" i "_p50_us"] - v["alone_p50_us"], "<=", save + 15)
		check("online P99 beside " i ", us more than alone: the time to save and 60", v["preempt_" i "_p99_us"] - alone, "<=", save + 60)
		check("offline work beside it got, of what it would have got without preemption",
			v["preempt_" i "_others_share"] / v["off_" i "_others_share"], ">=", 0.97)
		check("with preemption off that is not so: online P99 beside " i ", times alone", v["off_" i "_p99_us"] / alone, ">=", 1.5)
		check("packets repeated, beside " i, v["preempt_" i "_repeated"] + v["preempt_" i "_offline_repeated"], "==", 0)
		check("packets out of order, beside " i, v["preempt_" i "_disorder"] + v["preempt_" i "_offline_disorder"], "==", 0)
	}
	check("offline GPU time beside 4 without churn", v["preempt_4_nochurn_others_share"], ">=", 0.98)
	check("doorbell to UNMAP, 50 victims, lock free, P50 ns", v["ring_50_p50_ns"], "<=", 5000)
	check("rings that preempted nobody", v["ring_50_missed"], "==", 0)
	check("packets on the HIQ for a decision about 100 victims", v["ring_100_hiq_packets"] / (2 * (v["ring_100_n"] + v["ring_100_missed"])), "<=", 4)
	check("what marking a victim costs, ns", (v["ring_100_mark_p50_ns"] - v["ring_50_mark_p50_ns"]) / 50, "<=", 150)
	check("that was measured", v["ring_50_mark_p50_ns"], ">=", 1)
	check("preemptions", v["order_preemptions"], ">=", 2000)
	check("of dispatches in flight", v["order_saved_in_flight"], ">=", 500)
	check("packets lost", v["order_packets_lost"], "==", 0)
	check("packets repeated", v["order_packets_repeated"], "==", 0)
	check("packets out of order", v["order_packets_disorder"], "==", 0)
	check("launches too many", v["order_launches_too_many"], "==", 0)
	check("timers of ours while nobody has a priority", v["timers_unused_irqs"], "==", 0)
	check("with one they are seen", v["timers_used_irqs"], ">=", 1)
	print "1.." n
	exit failed
}
