# SPDX-License-Identifier: GPL-2.0
# timeline.awk - who held the GPU, from the trace; part of the reports of the demos. program[1] and [2] are the programs' names.
#
# On the GPU is whose queues were in the last runlist (kfd_map_queues, kfd_map_queue); it is
# nobody's between kfd_unmap_queues and the next runlist.  KFD does not see whose kernel
# runs: "shares" says that the hardware decides.

# The time since the last event counts for the state that lasted since then.
function account(now,   c, a, b, lo, hi, p, n, who) {
	n = 0
	for (p in mapped)
		n++
	lo = last < start ? start : last
	hi = now > stop ? stop : now
	for (c = int((lo - start) / step); c < COLS && start + c * step < hi; c++) {
		a = start + c * step
		b = a + step
		if (a < lo)
			a = lo
		if (b > hi)
			b = hi
		for (who = 1; who <= 2; who++)
			spent[who, c, !(pid[who] in mapped) ? "." : n == 1 ? "#" : "="] += b - a
	}
	last = now
}

# When an event was, in ms, and a field of it
function event_ms(line) {
	match(line, /[0-9]+\.[0-9]+: kfd_/)
	return substr(line, RSTART) * 1000
}

function event_field(line, name) {
	if (!match(line, " " name "=-?[0-9]+"))
		return ""
	return substr(line, RSTART + length(name) + 2, RLENGTH - length(name) - 2) + 0
}

function paint(s, code) {
	return color && s != "" ? "\033[" code "m" s "\033[0m" : s
}

# Runs of the same mark are painted as one.
function painted(cells,   out, mark, run) {
	while (cells != "") {
		mark = substr(cells, 1, 1)
		run = mark
		while (substr(cells, length(run) + 1, 1) == mark)
			run = run mark
		cells = substr(cells, length(run) + 1)
		out = out paint(run, mark == "#" ? 32 : mark == "." ? 31 : mark == "*" ? 36 : 0)
	}
	return out
}

function cells_of(who,   c, s, m, best, i) {
	for (c = 0; c < COLS; c++) {
		best = " "
		m = 0
		for (i = 1; i <= 3; i++)
			if (spent[who, c, substr("#=.", i, 1)] > m) {
				best = substr("#=.", i, 1)
				m = spent[who, c, best]
			}
		s = s best
	}
	return s
}

# Requests of the online program, from when they were due until they were done
function cells_of_requests(   line, f, c, wait, s) {
	delete wait
	while ((getline line <(out "/online.log")) > 0) {
		split(line, f, " ")
		if (f[2] < start || f[1] > stop)
			continue
		for (c = int((f[1] - start) / step); c * step < f[2] - start; c++)
			wait[c] = 1
	}
	close(out "/online.log")
	for (c = 0; c < COLS; c++)
		s = s (c in wait ? "*" : " ")
	return s
}

# timeline_of(PHASE, MS): reads COLS columns of MS from the middle of the phase
function timeline_of(phase, ms,   line) {
	COLS = 100
	step = ms
	start = int((from[phase] + to[phase]) / 2)
	stop = start + COLS * step
	delete spent
	delete mapped
	last = 0
	while ((getline line <(out "/trace.log")) > 0) {
		if (line !~ /: kfd_(map|unmap)_queues?: /)
			continue
		account(event_ms(line))
		if (line ~ / kfd_map_queue: /)
			mapped[event_field(line, "pid")]
		else
			delete mapped
	}
	close(out "/trace.log")
	account(stop)
}

# The part of a column for which a process is on the GPU
function on_gpu(who, c) { return (spent[who, c, "#"] + spent[who, c, "="]) / step }

# timeline(PHASE, TITLE, MS): the same, printed
function timeline(phase, title, ms) {
	timeline_of(phase, ms)
	printf "  %-14s %-100s\n", title, "|" COLS * step " ms, " step " ms a column"
	if (program[1] == "online")
		printf "  %-14s %s\n", "request waits", painted(cells_of_requests())
	printf "  %-14s %s\n", program[1], painted(cells_of(1))
	printf "  %-14s %s\n", program[2], painted(cells_of(2))
}

function timeline_legend() {
	printf "  %s has the GPU alone   = is on it with the other   %s is off it, %s", paint("#", 32), paint(".", 31),
		program[1] == "online" ? "preempted" : "throttled"
	print program[1] == "online" ? "   " paint("*", 36) " from when a request was due until it was done" : ""
}
