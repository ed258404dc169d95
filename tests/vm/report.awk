# SPDX-License-Identifier: GPL-2.0
#
# Cuts reports out of a kernel's log, for scan-log.  The files named by the variables heads, fatal and
# allowed hold numbers of lines: those which give a report away, those which tell of a crash, and
# those which make a report an expected one.
#
# A report is shown from two lines before the line that gives it away to its "end trace" or "</TASK>"
# marker, those of KASAN and KCSAN to the line that closes them, a leak to the end of its backtrace; one
# without a marker is short.  Exit status 1 if there is a report.

BEGIN {
	BEFORE = 2
	LONGEST = 200
	SHORT = 8
	SHOWN = 3
	load(heads, is_head)
	load(fatal, is_fatal)
	load(allowed, is_allowed)
}

{ line[NR] = $0 }

END {
	for (i = 1; i <= NR; i = last + 1) {
		last = i
		if (!(i in is_head))
			continue
		last = end_of(i)
		if (any(is_allowed, i, last) || (only_fatal && !any(is_fatal, i, last)))
			continue
		if (++found > SHOWN)
			continue
		print "the kernel reported:"
		for (n = (i > BEFORE ? i - BEFORE : 1); n <= last; n++)
			print "  " line[n]
	}
	if (found > SHOWN)
		print "and " found - SHOWN " more reports"
	exit found > 0
}

function load(file, set,	n) {
	while ((getline n < file) > 0)
		set[n + 0] = 1
	close(file)
}

function any(set, from, to,	n) {
	for (n = from; n <= to; n++)
		if (n in set)
			return 1
	return 0
}

function end_of(from,	to, n) {
	to = from + LONGEST - 1
	if (to > NR)
		to = NR
	if (line[from] ~ /K[AC]SAN: /)
		for (n = from; n <= to; n++)
			if (line[n] ~ /\] =+$/)
				return n
	if (line[from] ~ /kmemleak: unreferenced/) {
		for (n = from; n < to && line[n + 1] ~ /\] kmemleak: / && line[n + 1] !~ /unreferenced|new suspected/; n++)
			;
		return n
	}
	for (n = from; n <= to; n++)
		if (line[n] ~ /---\[ end (trace|Kernel panic)/)
			return n
	for (n = from; n <= to; n++)
		if (index(line[n], "</TASK>"))
			return n
	return from + SHORT < to ? from + SHORT : to
}
