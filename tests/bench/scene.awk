# SPDX-License-Identifier: GPL-2.0
# "PHASE NAME VALUE" lines of the jobs scene and scene_kcq of tests/bench/run -> an SVG of the scene of ROCm/amdgpu issue 227: throughput and
# latency of a process that works, beside processes without work.
#
#	tests/bench/run scene scene_kcq
#	cat build/bench/scene.txt build/bench/scene_kcq.txt | awk -f tests/bench/scene.awk >Documentation/scene-227.svg

NF == 3 { v[$1 "_" $2] = $3 }

function text(x, y, what, more) { printf "<text x=\"%d\" y=\"%d\"%s>%s</text>\n", x, y, more ? " " more : "", what }

# a bar at @x, @y, as long as @value is of @most
function bar(x, y, value, most, fill, label,   width) {
	width = 300 * value / most
	printf "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"20\" fill=\"%s\"/>\n", x, y, width, fill
	text(x + width + 6, y + 15, label)
}

function panel(x, title, figure, format, most, scale,   n, i, y, key, alone) {
	alone = x + 300 * v["scene_alone_" figure] / scale / most
	text(x, 60, title, "font-weight=\"bold\"")
	for (n = 3; n <= 6; n += 3)
		for (i = 1; i <= settings; i++) {
			y = 70 + (n == 6) * 110 + 26 * i
			key = "scene_" phase[i] "_" n "_" figure
			if (!(key in v)) {
				printf "scene.awk: no figure %s\n", key >"/dev/stderr"
				exit 1
			}
			bar(x, y - 18, v[key] / scale, most, colour[i], sprintf(format, v[key] / scale))
		}
	# what it is alone
	printf "<line x1=\"%.1f\" y1=\"66\" x2=\"%.1f\" y2=\"266\" stroke=\"#444\" stroke-dasharray=\"4 3\"/>\n", alone, alone
	text(alone - 14, 282, "alone")
}

END {
	settings = split("off kcq auto", phase, " ")
	split("#b35806 #5e4fa2 #1a7f5a", colour, " ")
	split("idle_park_ms=0|num_kcq=1 (15 slots)|idle_park_ms=auto (default)", name, "|")
	print "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
	print "<!-- made by tests/bench/scene.awk from figures of tests/bench/run: simulated -->"
	print "<!-- SPDX-License-Identifier: GPL-2.0 -->"
	print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1000\" height=\"300\" viewBox=\"0 0 1000 300\" font-family=\"sans-serif\" font-size=\"13\">"
	print "<rect width=\"1000\" height=\"300\" fill=\"white\"/>"
	text(10, 26, "One process that works beside model servers without requests, three compute queues each; 8 slots (simulated Navi21)", "font-size=\"15\"")
	for (n = 3; n <= 6; n += 3) {
		y = 70 + (n == 6) * 110
		text(10, y + 20, n " servers", "font-weight=\"bold\"")
		text(10, y + 38, 3 * n + 1 " queues")
		for (i = 1; i <= settings; i++)
			text(96, y + 26 * i - 3, name[i], "fill=\"" colour[i] "\"")
	}
	panel(285, "dispatches of 1 ms a second", "per_s", "%.0f", 1000, 1)
	panel(660, "latency P99, ms", "p99_us", "%.1f", 6.2, 1000)
	print "</svg>"
}
