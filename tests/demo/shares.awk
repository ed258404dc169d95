# SPDX-License-Identifier: GPL-2.0
# shares.awk -v out=DIR -v model=shared|slots - the report of make demo-shares, from the logs of its VM run; and the picture
# DIR/shares.svg.

# What a tenant did in a phase: GPU time of its products, alone, of each second, and of all that both did
function row(phase, command,   n) {
	n = load("first.log", from[phase], to[phase])
	did[phase, 1] = n * MS1 / (to[phase] - from[phase])
	n = load("second.log", from[phase], to[phase])
	did[phase, 2] = n * MS2 / (to[phase] - from[phase])
	if (!did[phase, 1] || !did[phase, 2])
		die("a tenant did nothing in the phase '" phase "'")
	first[phase] = did[phase, 1] / (did[phase, 1] + did[phase, 2]) * 100
	printf "  %-46s %9.1f %9.1f %11.1f : %.1f\n", command, did[phase, 1] * 100, did[phase, 2] * 100, first[phase], 100 - first[phase]
}

# The lanes of the picture for a phase, at @y: a column is as opaque as the part of it for which the tenant is on the GPU
function bars(phase, y,   i, x) {
	timeline_of(phase, 5)
	for (i = 1; i <= 2; i++) {
		text(10, y + 16 + 26 * (i - 1), program[i], "fill=\"" colour[i] "\"")
		printf "<rect x=\"110\" y=\"%d\" width=\"800\" height=\"20\" fill=\"#eee\"/>\n", y + 26 * (i - 1) >svg
		for (x = 0; x < COLS; x++)
			if (on_gpu(i, x) > 0)
				printf "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"20\" fill=\"%s\" fill-opacity=\"%.2f\"/>\n", 110 + 8 * x,
					y + 26 * (i - 1), 8, colour[i], on_gpu(i, x) >svg
	}
}

function text(x, y, what, more) { printf "<text x=\"%d\" y=\"%d\"%s>%s</text>\n", x, y, more ? " " more : "", what >svg }

function picture(   i, n, phase, title) {
	svg = out "/shares.svg"
	n = split("none weights limit", phase, " ")
	split("no shares|--weight 70 and 30|--max 30% for the second", title, "|")
	split("#5e4fa2 #b35806", colour, " ")
	print "<?xml version=\"1.0\" encoding=\"UTF-8\"?>" >svg
	print "<!-- made by make demo-shares: simulated -->" >svg
	print "<!-- SPDX-License-Identifier: GPL-2.0 -->" >svg
	print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1000\" height=\"330\" viewBox=\"0 0 1000 330\" font-family=\"sans-serif\" font-size=\"13\">" >svg
	print "<rect width=\"1000\" height=\"330\" fill=\"white\"/>" >svg
	text(10, 26, "Two tenants that always have work: when each is on the GPU, in half a second (simulated MI210)", "font-size=\"15\"")
	for (i = 1; i <= n; i++) {
		text(110, 54 + 92 * (i - 1), title[i] sprintf(": GPU time %.0f : %.0f", first[phase[i]], 100 - first[phase[i]]), "font-weight=\"bold\"")
		bars(phase[i], 62 + 92 * (i - 1))
	}
	print "</svg>" >svg
	close(svg)
}

BEGIN {
	load_phases()
	split("first second", program, " ")
	# a full load of waves takes 0.2 ms; products of 5184 and of 1024 are 127 and 5 of them
	MS1 = 25.4
	MS2 = 1.0

	print ""
	print "SIMULATED GPU (MI210, gfx90a). The driver is the real amdkfd of Debian's " slurp("kernel.txt") ", with"
	print "kfdprio; hardware and firmware are a model: launches take modelled time."
	if (model == "shared")
		print "Kernels of several queues share the GPU, one of each of its 4 pipes (interleave=1, Documentation/simulator.rst)."
	else
		print "A kernel owns the whole GPU while it runs (DEMO_MODEL=slots)."
	print ""
	print "  first    HIP, PID " pid[1] ", cgroup first.slice: a stream kept full of products of 25.4 ms"
	print "  second   HIP, PID " pid[2] ", cgroup second.slice: a stream kept full of products of 1 ms"
	print ""
	print "                                                  GPU time, % of a second    of what both did"
	print "                                                     first    second     first : second"
	row("none", "no shares")
	row("weights", "kfdprio --weight 70, --weight 30")
	row("limit", "kfdprio --max 30% for the second")
	print ""
	timeline("none", "no shares", 5)
	timeline("weights", "weights", 5)
	timeline("limit", "limit", 5)
	timeline_legend()
	print ""
	print "# kfdprio --weight 70 --cgroup first.slice"
	print "# kfdprio --weight 30 --cgroup second.slice"
	print "$ kfdprio --groups"
	list = slurp("groups.txt")
	gsub(/\n/, "\n  ", list)
	print "  " list
	picture()
	print ""
	print "The same as a picture: build/demo-shares/shares.svg. How it works, and what is not promised: Documentation/shares.rst."
	if (first["weights"] < 68 || first["weights"] > 72)
		die("the shares are not 70:30")
	if (did["limit", 2] > 0.31)
		die("the limit of 30 % was exceeded")
}
