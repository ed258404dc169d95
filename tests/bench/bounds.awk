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
	# dispatches share the GPU: together they have its waves, 290 us, and each of four queues takes 37 us
	save = v["shared_preempt_nochurn_save_max_us"]
	check("four dispatches that share the GPU are saved in that of one GPU, and 37 for each, us", save, "==", 290 + 4 * 37)
	now = "shared_preempt_4_nochurn"
	# P99 of 60 requests is the longest, and a tick of the timer near the end of the save decides about it: make bench asserts P99 of 250
	check("online P50 beside 4 that share the GPU, us more than P99 alone: the time to save and 15", v[now "_p50_us"] - v["shared_alone_p99_us"], "<=", save + 15)
	printf "# online P99 there, us more than alone: %.1f (simulated)\n", v[now "_p99_us"] - v["shared_alone_p99_us"]
	check("offline GPU time beside it, of what online leaves", v[now "_others_share"], ">=", 0.97)
	check("with preemption off that is not so: online P99 beside 4, times alone", v["shared_off_4_nochurn_p99_us"] / v["shared_alone_p99_us"], ">=", 1.5)
	check("packets repeated there", v[now "_repeated"] + v[now "_offline_repeated"], "==", 0)
	check("packets out of order there", v[now "_disorder"] + v[now "_offline_disorder"], "==", 0)
	# slots=1: one dispatch owns the GPU
	save = v["preempt_nochurn_save_max_us"]
	check("the GPU saves in the median of what was measured on MI308X GPUs, us", save, "==", 327)
	alone = v["alone_p99_us"]
	for (i = 4; i <= 12; i += 8) {
		now = "preempt_" i "_nochurn"
		off = "off_" i "_nochurn"
		# as above: a tick of the timer near the end of a save, as 4 of 100 requests meet one, uses up the last us, and whether one
		# of 60 does depends on when the VM has booted. make bench asserts the P99 of 250 beside 4
		check("online P50 beside " i ", us more than P99 alone: the time to save and 15", v[now "_p50_us"] - alone, "<=", save + 15)
		printf "# online P99 there, us more than alone: %.1f (simulated)\n", v[now "_p99_us"] - alone
		check("offline GPU time beside it, of what online leaves", v[now "_others_share"], ">=", 0.98)
		check("with preemption off that is not so: online P99 beside " i ", times alone", v[off "_p99_us"] / alone, ">=", 1.5)
		check("packets repeated, beside " i, v[now "_repeated"] + v[now "_offline_repeated"], "==", 0)
		check("packets out of order, beside " i, v[now "_disorder"] + v[now "_offline_disorder"], "==", 0)
	}
	# on the one CPU a look that counts waves, 22 us, may be in the way of each request: they are all of one length
	check("online P50 beside 12 with churn, us more than alone: the time to save and 25", v["preempt_12_p50_us"] - v["alone_p50_us"], "<=", save + 25)
	printf "# online P99 beside 12 with churn, us more than alone: %.0f (simulated; no bound: KFD's own updates are in the way)\n", v["preempt_12_p99_us"] - alone
	check("packets repeated there", v["preempt_12_repeated"] + v["preempt_12_offline_repeated"], "==", 0)
	check("packets out of order there", v["preempt_12_disorder"] + v["preempt_12_offline_disorder"], "==", 0)
	check("doorbell to UNMAP, 50 victims, lock free, P50 ns", v["ring_50_p50_ns"], "<=", 5000)
	check("rings that preempted nobody", v["ring_50_missed"], "==", 0)
	check("faults of a doorbell for a ring beside 20 processes with 160 queues", v["ring_queues_marked_rings"] ? v["ring_queues_faults"] / v["ring_queues_marked_rings"] : "", "==", 1)
	check("packets on the HIQ for a decision about 100 victims", v["ring_100_hiq_packets"] / (2 * (v["ring_100_n"] + v["ring_100_missed"])), "<=", 4)
	check("what marking a victim costs, ns", (v["ring_100_mark_p50_ns"] - v["ring_50_mark_p50_ns"]) / 50, "<=", 150)
	check("that was measured", v["ring_50_mark_p50_ns"], ">=", 1)
	none = v["ring_50_stamps_none_p50_ns"]
	check("reading the time stamps of saves of 50 victims: the DQM lock is held, ns", v["ring_50_stamps_part_p50_ns"] - none, "<=", 2000)
	check("the same in all, ns, in the thread, the online work is on the GPU", v["ring_50_stamps_p50_ns"] - v["ring_50_stamps_parts"] * none, "<=", 8000)
	check("so often was it let go meanwhile", v["ring_50_stamps_parts"], ">=", 2)
	check("MQDs that had some", v["ring_50_stamped_queues"], ">=", 25)
	check("how often that began between a doorbell's fault and the runlist without the victims", v["ring_50_stamps_before_runlist"], "==", 0)
	check("faults that were looked at", v["ring_50_faults"], ">=", 5)
	check("preemptions", v["order_preemptions"], ">=", 2000)
	check("of dispatches in flight", v["order_saved_in_flight"], ">=", 500)
	check("packets lost", v["order_packets_lost"], "==", 0)
	check("packets repeated", v["order_packets_repeated"], "==", 0)
	check("packets out of order", v["order_packets_disorder"], "==", 0)
	check("launches too many", v["order_launches_too_many"], "==", 0)
	check("timers of ours while nobody has a priority", v["timers_unused_irqs"], "==", 0)
	check("with one they are seen", v["timers_used_irqs"], ">=", 1)
	check("CPU share of kfdprio's thread beside 40 idle processes that may preempt, 4 queues each", v["looks_idle_cpu_share"], "<=", 0.04)
	check("the same beside a busy one on each of 8 GPUs", 8 * v["looks_busy_cpu_share"], "<=", 0.05)
	check("that was measured", v["looks_busy_wakes_per_s"], ">=", 50)
	check("kfdprio's thread, each time that it wakes, beside 1 busy and 40 idle ones, ns", v["looks_busy_idle_nopoll_wake_ns"], "<=", 55000)
	print "1.." n
	exit failed
}
