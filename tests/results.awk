# SPDX-License-Identifier: GPL-2.0
# results.awk -v junit=FILE -v ktap=FILE - "SUITE FILE" lines, FILE with "MICROSECONDS TAP-LINE" lines of tests/run -> all
# results as JUnit's XML and as KTAP; prints the ten tests that took longest. The time of a test is that since the one before.

function xml(text) {
	gsub(/&/, "\\&amp;", text)
	gsub(/</, "\\&lt;", text)
	gsub(/>/, "\\&gt;", text)
	gsub(/"/, "\\&quot;", text)
	gsub(/[\001-\010\013-\037]/, "?", text)
	return text
}

# In KTAP a "#" begins a directive, wherever it is, and cannot be escaped
function plain(name,   at, skip) {
	at = match(name, / # SKIP/)
	skip = at ? substr(name, at) : ""
	name = at ? substr(name, 1, at - 1) : name
	gsub(/#/, "_", name)
	return name skip
}

function longest(took, name,   i) {
	if (slowest < 10)
		slowest++
	else if (slow[10] >= took)
		return
	for (i = slowest; i > 1 && slow[i - 1] < took; i--) {
		slow[i] = slow[i - 1]
		slow_name[i] = slow_name[i - 1]
	}
	slow[i] = took
	slow_name[i] = name
}

{
	suite = $1
	file = substr($0, length($1) + 2)
	n = failed = skipped = before = 0
	cases = points = ""
	while ((getline line <file) > 0) {
		at = line + 0
		sub(/^[0-9]+ /, "", line)
		bad = line ~ /^not ok /
		name = line
		sub(/^(not )?ok [0-9]* *-* */, "", name)
		skip = name ~ /# SKIP/
		took = (at - before) / 1000000
		before = at
		n++
		failed += bad
		skipped += skip
		points = points "  " (bad ? "not ok " : "ok ") n " " plain(name) "\n"
		cases = cases sprintf("    <testcase classname=\"%s\" name=\"%s\" time=\"%.3f\"", xml(suite), xml(name), took) \
			(bad ? "><failure/></testcase>\n" : skip ? "><skipped/></testcase>\n" : "/>\n")
		longest(took, suite ": " name)
	}
	close(file)
	suites++
	all = all "  KTAP version 1\n  # Subtest: " suite "\n  1.." n "\n" points (failed || !n ? "not ok " : "ok ") suites " " suite "\n"
	out = out sprintf("  <testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" skipped=\"%d\" time=\"%.3f\">\n", xml(suite), n, failed, skipped,
		before / 1000000) cases "  </testsuite>\n"
}

END {
	printf "KTAP version 1\n1..%d\n%s", suites, all >ktap
	printf "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n%s</testsuites>\n", out >junit
	if (slowest)
		print "the slowest tests:"
	for (i = 1; i <= slowest; i++)
		printf "  %7.1f s  %s\n", slow[i], substr(slow_name[i], 1, 110)
}
