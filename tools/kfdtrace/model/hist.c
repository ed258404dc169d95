// SPDX-License-Identifier: GPL-2.0
/* Histograms of durations. */
#include "hist.h"

#define SUB (1U << HIST_SUB_BITS)

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int power;

	if (ns < SUB)
		return ns;
	power = 63 - __builtin_clzll(ns);
	return ((power - HIST_SUB_BITS + 1) << HIST_SUB_BITS) +
	       ((ns >> (power - HIST_SUB_BITS)) & (SUB - 1));
}

/* The largest duration of a bucket. */
static uint64_t bucket_top(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < SUB)
		return bucket;
	shift = (bucket >> HIST_SUB_BITS) - 1;
	return (((uint64_t)(bucket & (SUB - 1)) + SUB + 1) << shift) - 1;
}

/**
 * hist_add() - count a duration
 * @hist: all zero at first
 * @ns: the duration
 */
void hist_add(struct hist *hist, uint64_t ns)
{
	if (!hist->count || ns < hist->min)
		hist->min = ns;
	if (ns > hist->max)
		hist->max = ns;
	hist->count++;
	hist->sum += (double)ns;
	hist->bucket[bucket_of(ns)]++;
}

/**
 * hist_merge() - add all durations of another histogram
 * @into: to this one
 * @from: the other
 */
void hist_merge(struct hist *into, const struct hist *from)
{
	unsigned int i;

	if (!from->count)
		return;
	if (!into->count || from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
	into->count += from->count;
	into->sum += from->sum;
	for (i = 0; i < HIST_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
}

/**
 * hist_rank() - the duration at a place of the sorted ones
 * @hist: the histogram
 * @rank: from 1, the shortest, to the number of durations
 *
 * Return: ns, less than 1 % more than exact, never more than the longest; 0 without any.
 */
uint64_t hist_rank(const struct hist *hist, uint64_t rank)
{
	uint64_t seen = 0;
	unsigned int i;

	for (i = 0; i < HIST_BUCKETS; i++) {
		seen += hist->bucket[i];
		if (seen >= rank)
			return bucket_top(i) < hist->max ? bucket_top(i) : hist->max;
	}
	return hist->max;
}

/**
 * hist_percentile() - the duration that so many percent do not exceed
 * @hist: the histogram
 * @percent: 0 to 100
 *
 * Return: ns, less than 1 % more than exact, never more than the longest; 0 without any.
 */
uint64_t hist_percentile(const struct hist *hist, double percent)
{
	uint64_t rank = (uint64_t)(hist->count * percent / 100);

	if (rank < hist->count * percent / 100 || !rank)
		rank++;
	return hist_rank(hist, rank);
}

/**
 * hist_octave() - how many durations are in [2^power, 2^(power+1)) ns
 * @hist: the histogram
 * @power: 0 to 63; 0 has those of 0 ns too
 *
 * Return: how many.
 */
uint64_t hist_octave(const struct hist *hist, unsigned int power)
{
	uint64_t count = 0;
	unsigned int i;

	if (power < HIST_SUB_BITS) {
		for (i = power ? 1U << power : 0; i < 2U << power; i++)
			count += hist->bucket[i];
		return count;
	}
	for (i = 0; i < SUB; i++)
		count += hist->bucket[((power - HIST_SUB_BITS + 1) << HIST_SUB_BITS) + i];
	return count;
}
