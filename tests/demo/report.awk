# SPDX-License-Identifier: GPL-2.0
# report.awk -v out=DIR -v model=shared|slots -v rate=REQUESTS_PER_SECOND - the demo's report from the logs of its VM run.

# While requests come faster than they are served, each one waits longer than the one before, and the percentiles depend on the
# length of the phase. The row of such a phase has none
function row(phase, name,   n, served) {
	n = load("online.log", from[phase], to[phase])
	if (!n)
		die("the online program did nothing in the phase '" phase "'")
	served = n / (to[phase] - from[phase]) * 1000
	backlog[phase] = n + 1 < 0.95 * rate * (to[phase] - from[phase]) / 1000 || late > 2 * early && quantile(n, 1) > 2000 / rate
	p50[phase] = quantile(n, 0.5)
	p99[phase] = quantile(n, 0.99)
	off[phase] = load("offline.log", from[phase], to[phase]) / (to[phase] - from[phase]) * 1000
	if (backlog[phase])
		printf "  %-33s %16s %12.1f %14.1f\n", name, "backlog", served, off[phase]
	else
		printf "  %-33s %7.2f %8.2f %12.1f %14.1f\n", name, p50[phase], p99[phase], served, off[phase]
}

# The queues that a process has created, from the trace
function queues_of(pid,   line, n) {
	n["COMPUTE"] = n["SDMA"] = 0
	while ((getline line <(out "/trace.log")) > 0)
		if (line ~ " kfd_create_queue: .* pid=" pid " " && match(line, / type=[A-Z]+/))
			n[substr(line, RSTART + 6, RLENGTH - 6)]++
	close(out "/trace.log")
	return n["COMPUTE"] " compute queues, " n["SDMA"] " of SDMA"
}

# Keeps the first line of the trace that matches, of those not before @ms, for print_shown()
function show(re, ms) {
	want[++wanted] = re
	not_before[wanted] = ms
}

# What show() asked for, in order of time, without the columns in front and some fields
function print_shown(file,   line, i) {
	while ((getline line <(out "/" file)) > 0)
		for (i = 1; i <= wanted; i++)
			if (!(i in seen) && line ~ want[i] && event_ms(line) >= not_before[i] &&
			    (i == 1 || !not_before[i] || i - 1 in seen)) {
				seen[i] = 1
				sub(/^.*\] [^ ]+ +/, "", line)
				gsub(/ (gpu_id|doorbell|mqd_addr|ring_base|ring_size|[rw]ptr|cwsr_base|cwsr_size|percent|active|runlist_addr)=[^ ]*/, "", line)
				print "  " line
				break
			}
	close(out "/" file)
}

BEGIN {
	load_phases()
	split("online offline", program, " ")

	print ""
	print "SIMULATED GPU (MI210, gfx90a). The driver is the real amdkfd of Debian's " slurp("kernel.txt") ", with"
	print "kfdprio; hardware and firmware are a model: launches take modelled time, products are computed only for the last line."
	if (model == "shared") {
		print "The model is the one that reproduces measurements of an MI308X (interleave=1, Documentation/simulator.rst): kernels of"
		print "several queues share the GPU, one of each of its 4 pipes."
	} else {
		print "The model is the worst case for a kernel that waits (DEMO_MODEL=slots): a kernel owns the whole GPU while it runs."
	}
	print "To save the waves of a full GPU takes 327 us, the median that was measured on MI308X GPUs."
	print ""
	print "  online   HIP, PID " pid[1] ": " rate " requests/s, 8 small matrix products each (3.2 ms of GPU time in all);"
	print "           " queues_of(pid[1])
	print "  offline  HIP, PID " pid[2] ": a stream kept full of large products (25 ms each); it gets the VM's one CPU"
	print "           only while the online program does not need it; " queues_of(pid[2])
	print ""
	print "                                    online latency, ms        online       offline"
	print "                                        P50      P99   requests/s     products/s"
	row("alone", "online alone")
	row("shared", "both, no priorities")
	row("priority", "kfdprio -n 12, kfd_preempt 0")
	row("preempt", "kfdprio -n 12, kfd_preempt 1")
	print ""
	printf "  With preemption the online requests' P99 is %.2f times what it is alone; without, %s;\n", p99["preempt"] / p99["alone"],
		backlog["priority"] ? "they are not served in time" : sprintf("%.1f times", p99["priority"] / p99["alone"])
	printf "  the offline throughput goes from %.1f to %.1f products/s.\n", off["priority"], off["preempt"]
	print ""
	timeline("priority", "kfd_preempt 0", 2)
	timeline("preempt", "kfd_preempt 1", 2)
	timeline_legend()
	print ""
	print "$ kfdprio -l"
	list = slurp("list.txt")
	gsub(/\n/, "\n  ", list)
	print "  " list
	print ""
	print "The trace says why (all of it: build/demo/trace.log; some fields left out):"
	show("kfd_create_queue: .* pid=" pid[1] " ")
	show("kfd_init_mqd: .* pid=" pid[1] " ")
	show("kfd_set_priority: pid=" pid[1] " ")
	# one preemption, one step after the other
	show("kfd_doorbell_wake: .* pid=" pid[1] " ", start)
	show("kfd_preempt_begin: ", start)
	show("kfd_unmap_queues_done: ", start)
	show("kfd_map_queues: ", start)
	show("kfd_map_queues: ", start)
	show("kfd_preempt_end: ", start)
	print_shown("trace.log")
	rules = slurp("rules.txt")
	if (rules != "") {
		gsub(/\n/, "\n  ", rules)
		set = slurp("by_rules.txt")
		gsub(/\n/, "\n  ", set)
		print ""
		print "For good, over restarts and reboots, without a PID (Documentation/services.rst):"
		print ""
		print "# cat /etc/kfdprio.conf"
		print "  " rules
		print "# systemctl enable --now kfdpriod"
		print "$ kfdprio -p " pid[1] " " pid[2] "     # set by kfdpriod, after 'kfdprio -r -p " pid[1] "'"
		print "  " set
	}
	# products, wrong ones, preemptions of one
	if (split(slurp("product.txt"), made, / /) != 3)
		die("no product was computed: see product.err")
	print ""
	printf "The simulated GPU also computed %d products of 64 x 64 (execute=1), preempted in mid-kernel %d times: %s\n",
		made[1], made[3], made[2] ? made[2] " ARE WRONG" : "all are right, bit by bit."
	if (made[2])
		die("a computed product is wrong")
	if (!made[1] || !made[3])
		die("no product was preempted while it was computed")
	if (backlog["alone"] || backlog["preempt"] || (!backlog["priority"] && p99["preempt"] >= p99["priority"]))
		die("preemption had no effect")
}
