/* SPDX-License-Identifier: GPL-2.0 */
/* The histograms of a GPU, of "report" and "compare". */
#ifndef KFDTRACE_LATENCY_H
#define KFDTRACE_LATENCY_H

#include "model/model.h"

/**
 * struct latency - one histogram of a GPU
 * @key: in JSON
 * @title: in words
 * @of: the histogram
 */
struct latency {
	const char *key;
	const char *title;
	const struct hist *(*of)(const struct gpu *gpu);
};

enum {
	NR_LATENCIES = 6
};
extern const struct latency latencies[NR_LATENCIES];

#endif /* KFDTRACE_LATENCY_H */
