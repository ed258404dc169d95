# SPDX-License-Identifier: GPL-2.0
# lib.awk - what the reports of the demos share: reads logs of a run in the VM, in the directory @out.

# The whole of a file
function slurp(file,   line, text) {
	while ((getline line <(out "/" file)) > 0)
		text = text (text == "" ? "" : "\n") line
	close(out "/" file)
	return text
}

# Work that was done within [from, to): number, and sorted latencies in lat[]; of the first and the last half the sums
function load(file, from, to,   line, f, n, i, j, v) {
	n = early = late = 0
	delete lat
	while ((getline line <(out "/" file)) > 0) {
		split(line, f, " ")
		if (f[2] < from || f[2] >= to)
			continue
		lat[++n] = f[2] - f[1]
		if (f[2] < (from + to) / 2)
			early += lat[n]
		else
			late += lat[n]
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

function die(why) {
	print "demo: " why >"/dev/stderr"
	exit 1
}

# When each phase began and ended, ms: from[], to[]; the two programs: pid[]
function load_phases(   t, n, i) {
	n = split(slurp("phases.txt"), t, /[ \n]/)
	for (i = 1; i < n; i += 4) {
		from[t[i]] = t[i + 1]
		to[t[i]] = t[i + 2]
	}
	split(slurp("pids.txt"), pid, " ")
}
