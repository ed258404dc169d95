// SPDX-License-Identifier: GPL-2.0
/* kfdtrace report: a histogram in JSON. */
#include "report.h"

/**
 * report_hist_json() - a distribution of times
 * @key: its name
 * @hist: the times, ns
 */
void report_hist_json(const char *key, const struct hist *hist)
{
	unsigned int power;

	if (!hist->count) {
		json_null(key);
		return;
	}
	json_open(key, '{');
	json_count("count", hist->count);
	json_count("min_ns", hist->min);
	json_real("mean_ns", hist->sum / hist->count);
	json_count("p50_ns", hist_percentile(hist, 50));
	json_count("p90_ns", hist_percentile(hist, 90));
	json_count("p99_ns", hist_percentile(hist, 99));
	json_count("p999_ns", hist_percentile(hist, 99.9));
	json_count("max_ns", hist->max);
	json_open("histogram", '[');
	for (power = 0; power < 64; power++) {
		if (!hist_octave(hist, power))
			continue;
		json_open(NULL, '{');
		json_count("from_ns", power ? 1ULL << power : 0);
		json_count("count", hist_octave(hist, power));
		json_close('}');
	}
	json_close(']');
	json_close('}');
}
