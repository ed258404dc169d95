# SPDX-License-Identifier: GPL-2.0
# report.awk -v out=DIR - the demo's report from the logs of its VM run.

# The whole of a file
function slurp(file,   line, text) {
	while ((getline line <(out "/" file)) > 0)
		text = text (text == "" ? "" : "\n") line
	close(out "/" file)
	return text
}

# Work that was done within [from, to): number, and sorted latencies in lat[]
function load(file, from, to,   line, f, n, i, j, v) {
	n = 0
	delete lat
	while ((getline line <(out "/" file)) > 0) {
		split(line, f, " ")
		if (f[2] >= from && f[2] < to)
			lat[++n] = f[2] - f[1]
	}
	close(out "/" file)
	for (i = 2; i <= n; i++) {	# insertion sort: a few hundred at most
		v = lat[i]
		for (j = i - 1; j > 0 && lat[j] > v; j--)
			lat[j + 1] = lat[j]
		lat[j + 1] = v
	}
	return n
}

function quantile(n, q,   i) {
	i = int(q * n)
	if (i < q * n)
		i++
	return lat[i < 1 ? 1 : i]
}

function bar(ms,   s, i) {
	for (i = 0; i < ms / 4 && i < 40; i++)
		s = s "#"
	return s
}

function row(name, from, to,   n) {
	n = load("online.log", from, to)
	if (!n) {
		print "demo: the online program did nothing in a phase" >"/dev/stderr"
		exit 1
	}
	p50 = quantile(n, 0.5)
	p99 = quantile(n, 0.99)
	off = load("offline.log", from, to) / (to - from) * 1000
	printf "  %-22s %8.1f %8.1f %12.1f %14.1f   %s\n", name, p50, p99, n / (to - from) * 1000, off, bar(p50)
}

# Keeps the first line of the trace that matches, for print_shown()
function show(re) { want[++wanted] = re }

# What show() asked for, in order of time, without the columns in front and some fields
function print_shown(file,   line, i) {
	while ((getline line <(out "/" file)) > 0)
		for (i = 1; i <= wanted; i++)
			if (!(i in seen) && line ~ want[i]) {
				seen[i] = 1
				sub(/^.*\] [^ ]+ +/, "", line)
				gsub(/ (gpu_id|doorbell|mqd_addr|ring_base|ring_size|rptr|wptr|cwsr_base|cwsr_size|percent|active|gang_level)=[^ ]*/, "", line)
				print "  " line
				break
			}
	close(out "/" file)
}

BEGIN {
	split(slurp("phases.txt"), t, " ")
	split(slurp("pids.txt"), pid, " ")
	kernel = slurp("kernel.txt")

	print ""
	print "SIMULATED GPU (MI210, gfx90a). The driver is the real amdkfd of Debian's " kernel ", with"
	print "kfdprio; hardware and firmware are a model: launches take modelled time, no product is computed."
	print ""
	print "  online   HIP, PID " pid[1] ": 4 requests/s, 8 small matrix products each (3.2 ms of GPU time in all)"
	print "  offline  HIP, PID " pid[2] ": 3 streams kept full of large products (25 ms each)"
	print ""
	print "                       online latency, ms        online       offline"
	print "                              P50      P99   requests/s     products/s"
	row("no priorities", t[1], t[2])
	before = p50
	off_before = off
	row("online 11, offline 0", t[3], t[4])
	print ""
	print "  $ kfdprio -n high -p " pid[1] "; kfdprio -n low -p " pid[2]
	printf "  The online requests' P50 went from %.1f to %.1f ms, the offline throughput from %.1f to %.1f products/s.\n", before, p50, off_before, off
	print "  What runs is not yet taken off the GPU: what remains is the wait for the product that"
	print "  runs, up to 25 ms. (Preemption with CWSR is what comes next.)"
	print ""
	print "$ kfdprio -l"
	list = slurp("list-after.txt")
	gsub(/\n/, "\n  ", list)
	print "  " list
	print ""
	print "The trace says why (all of it: build/demo/trace.log; some fields left out):"
	show("kfd_create_queue: .* pid=" pid[1] " ")
	show("kfd_init_mqd: .* pid=" pid[1] " ")
	show("kfd_update_queue: .* pid=" pid[1] " .* prio=11 ")
	show("kfd_map_queue: .* pid=" pid[1] " .* prio=11 ")
	show("kfd_set_priority: pid=" pid[1] " ")
	show("kfd_update_queue: .* pid=" pid[2] " .* prio=0 ")
	show("kfd_set_priority: pid=" pid[2] " ")
	print_shown("trace.log")
	if (p50 >= before) {
		print "demo: the priority had no effect" >"/dev/stderr"
		exit 1
	}
}
