# SPDX-License-Identifier: GPL-2.0
# Shares of GPU time in the report of tests/bench/run: keys, bounds and tables. Read beside report.awk, whose figures are in v[].

# The worst difference of a share from what its weight gives, as a part of that
function share_error(phase, list,   w, n, i, sum, want, worst) {
	if (!have(phase "_work"))
		return
	n = split(list, w, ":")
	for (i = 1; i <= n; i++)
		sum += w[i]
	for (i = 1; i <= n; i++) {
		want = w[i] / sum
		worst = larger(worst, v[phase "_" i - 1 "_share_most"] / want - 1)
		worst = larger(worst, 1 - v[phase "_" i - 1 "_share_least"] / want)
	}
	derive(phase "_share_error", worst)
	derive("share_error_max", larger(v["share_error_max"], worst))
}

# By how much the first @n groups were mapped with work for longer than @limit
function max_exceeded(phase, n, limit,   i) {
	for (i = 0; i < n; i++)
		if (have(phase "_" i "_ran_10s")) {
			derive("max_exceeded_max", larger(v["max_exceeded_max"], v[phase "_" i "_ran_10s"] - limit))
			derive("max_exceeded_1s_max", larger(v["max_exceeded_1s_max"], v[phase "_" i "_ran_1s"] - limit))
		}
}

# What is lost of GPU time that somebody wants, in percent
function throttle_lost(key, phase, wanted) {
	if (have(phase "_work"))
		derive(key, larger(v[key], (wanted - v[phase "_work"]) * 100))
}

function least(key, value) {
	if (value != "")
		derive(key, key in v && v[key] < value ? v[key] : value)
}

function judge_least(key, fewest) {
	if (have(key) && v[key] < fewest) {
		printf "%s is %g, of %g at least: NOT HELD\n", key, v[key], fewest
		broken = 1
	}
}

function shares_keys(   m, i, j, k, n, pre, phase) {
	nlengths = split("1 25 100", lengths, " ")
	nmixes = split("1_1 25_1 1_25", mixes, " ")
	nweights = split("1:9 5:95 30:70 1:1:2", weights, " ")
	for (m = 0; m < 2; m++) {
		pre = m ? "shared_" : ""
		for (i = 1; i <= nlengths; i++)
			for (j = 1; j <= split("0 1 12", k, " "); j++) {
				phase = pre "max_" lengths[i] "_" k[j]
				max_exceeded(phase, 1, 0.3)
				if (k[j] == 0)
					least("max_alone_ran_least", v[phase "_0_ran"])
				if (k[j] == 1)
					throttle_lost(pre "throttle_lost_pct", phase, 1)
			}
		max_exceeded(pre "max_halves", 2, 0.5)
		least("max_halves_work_least", v[pre "max_halves_0_work_least"])
		least("max_halves_work_least", v[pre "max_halves_1_work_least"])
		max_exceeded(pre "max_twelve", 12, 0.08)
		throttle_lost(pre "throttle_lost_pct", pre "max_twelve", 12 * 0.08)
		for (i = 1; i <= nmixes; i++)
			for (j = 1; j <= nweights; j++) {
				phase = weights[j]
				gsub(/:/, "_", phase)
				share_error(pre "weight_" phase "_" mixes[i], weights[j])
			}
		share_error(pre "weight_30_70_25_25", "30:70")
		if (have(pre "weights_4_p99_us"))
			derive(pre "weights_online_p99_ratio", v[pre "weights_4_p99_us"] / v[pre "noweights_4_p99_us"])
	}
	max_exceeded("two_max", 1, 0.3)
	max_exceeded("two_max_beside", 1, 0.3)
	if (have("two_alone_0_work_least")) {
		least("max_two_gpus_progress", v["two_max_0_work_least"] / v["two_alone_0_work_most"])
		least("max_two_gpus_progress", v["two_max_beside_0_work_least"] / v["two_alone_0_work_most"])
	}
	judge("share_error_max", 0.03)
	judge("max_exceeded_max", 0.01)
	judge("max_exceeded_1s_max", 0.05)
	judge_least("max_alone_ran_least", 0.29)
	judge_least("max_halves_work_least", 0.48)
	judge("throttle_lost_pct", 2)
	judge_least("max_two_gpus_progress", 0.29)
}

function percent(key) { return have(key) ? sprintf("%.2f", v[key] * 100) : "-" }

function shares_tables(   m, i, j, k, n, pre, phase, line, group) {
	for (m = 0; m < 2; m++) {
		pre = m ? "shared_" : ""
		if (have(pre "max_1_0_work")) {
			printf "\n  %-46s %9s %9s %9s %9s\n", "max=30%, always busy; " (m ? "calibrated model" : "slots=1") ", %", "mapped", "any 10 s", "any 1 s", "all work"
			for (i = 1; i <= nlengths; i++)
				for (j = 1; j <= split("0 1 12", k, " "); j++) {
					phase = pre "max_" lengths[i] "_" k[j]
					printf "  %-46s %9s %9s %9s %9s\n", "kernels of " lengths[i] " ms, beside " k[j] " others", percent(phase "_0_ran"),
						percent(phase "_0_ran_10s"), percent(phase "_0_ran_1s"), percent(phase "_work")
				}
			printf "  %-46s %9s %9s %9s %9s\n", "max=50%, kernels of 1 ms, beside the next", percent(pre "max_halves_0_ran"),
				percent(pre "max_halves_0_ran_10s"), percent(pre "max_halves_0_ran_1s"), percent(pre "max_halves_work")
			printf "  %-46s %9s %9s %9s\n", "max=50%, kernels of 25 ms", percent(pre "max_halves_1_ran"),
				percent(pre "max_halves_1_ran_10s"), percent(pre "max_halves_1_ran_1s")
			printf "  %-46s %9s %9s %9s %9s\n", "twelve of max=8%, kernels of 5 ms: the first", percent(pre "max_twelve_0_ran"),
				percent(pre "max_twelve_0_ran_10s"), percent(pre "max_twelve_0_ran_1s"), percent(pre "max_twelve_work")
		}
		if (have(pre "weight_1_9_1_1_work")) {
			printf "\n  %-46s %27s %9s %9s\n", "weights; " (m ? "calibrated model" : "slots=1"), "least share in any 10 s, %", "error", "all work"
			for (j = 1; j <= nweights; j++)
				for (i = 1; i <= nmixes; i++) {
					phase = weights[j]
					n = gsub(/:/, "_", phase) + 1
					phase = pre "weight_" phase "_" mixes[i]
					line = ""
					for (group = 0; group < n; group++)
						line = line (line == "" ? "" : " : ") percent(phase "_" group "_share_least")
					printf "  %-46s %27s %9s %9s\n", weights[j] ", kernels of " mix_text(mixes[i], n) " ms", line,
						percent(phase "_share_error"), percent(phase "_work")
				}
		}
		if (have(pre "weight_30_70_25_25_work"))
			printf "  %-46s %27s %9s %9s\n", "30:70, kernels of 25 and 25 ms", percent(pre "weight_30_70_25_25_0_share_least") " : " \
				percent(pre "weight_30_70_25_25_1_share_least"), percent(pre "weight_30_70_25_25_share_error"),
				percent(pre "weight_30_70_25_25_work")
	}
	if (have("two_alone_work"))
		printf "\n  %-46s %s of its progress alone, %s beside one of max=50%% on both\n", "two GPUs, a barrier, max=30%",
			percent2("two_max_0_work_least", "two_alone_0_work_most"), percent2("two_max_beside_0_work_least", "two_alone_0_work_most")
}

function percent2(a, b) { return have(a) && have(b) ? sprintf("%.2f %%", v[a] / v[b] * 100) : "-" }

# as tests/bench/guest has them: the third group has the kernels of the first
function mix_text(mix, n,   f) {
	split(mix, f, "_")
	return f[1] " and " f[2] (n > 2 ? " and " f[1] : "")
}
