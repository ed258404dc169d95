/* SPDX-License-Identifier: GPL-2.0 */
/* Histograms of durations: constant memory, resolution better than 1 %. */
#ifndef KFDTRACE_HIST_H
#define KFDTRACE_HIST_H

#include <stdint.h>

#define HIST_SUB_BITS 7 /* each power of two in 128 parts */
#define HIST_BUCKETS  (64 << HIST_SUB_BITS)

/**
 * struct hist - durations
 * @count: how many
 * @sum: of them, ns; exact below 2^53
 * @min: shortest, exact
 * @max: longest, exact
 * @bucket: how many are in each part of each power of two
 */
struct hist {
	uint64_t count, min, max;
	double sum;
	uint64_t bucket[HIST_BUCKETS];
};

void hist_add(struct hist *hist, uint64_t ns);
void hist_merge(struct hist *into, const struct hist *from);
uint64_t hist_rank(const struct hist *hist, uint64_t rank);
uint64_t hist_percentile(const struct hist *hist, double percent);
uint64_t hist_octave(const struct hist *hist, unsigned int power);

#endif /* KFDTRACE_HIST_H */
