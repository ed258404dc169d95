// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: which gaps between requests are worth a switch, see kfd_prio_gaps.h. Pure functions,
 * also tested in user space.
 *
 * A gap begins when the last work of a level ends, and ends with the next work of that level. If
 * the level ends in the gap, other processes run until the gap ends, less the time of a switch,
 * which is a save and a restore. How long a gap will be is not known when it begins, so it is
 * estimated from the gaps of the past: a gap that is already t long is expected to be as long as
 * the mean of those in the class of t and in the longer ones. The time that it is expected to leave
 * after a switch is its worth.
 *
 * When there are more gaps than max_switch_pct permits switches, the permitted ones are spent where
 * they leave most. At the begin of a gap, kfd_prio_gaps_begin() selects the length at which ending
 * the level in every gap that reaches it leaves most time in total. If no length leaves any, the
 * level is held until the gap is longer than all of the past.
 *
 * The gaps of the past are no promise: if requests come more often than before, no gap may be as
 * long as those for which switches are saved. So while half of the switches of a second are left,
 * the length is selected as if all gaps were permitted one.
 */
#include "kfd_prio_gaps.h"
#ifdef __KERNEL__
#include <linux/math64.h>
#else
#define div_u64(dividend, divisor) ((u64)(dividend) / (divisor))
#endif

#define CLASSES		KFD_PRIO_GAPS_CLASSES
#define NSEC		1000000000ULL

/* A gap is worth a switch if it is expected to leave this part of what the best gaps leave */
#define WORTH_PART	2

/* Begin of a class */
static u64 class_begin(u32 i)
{
	return KFD_PRIO_GAPS_MIN_NS << i;
}

static u32 class_of(u64 ns)
{
	u32 i = 0;

	while (i + 1 < CLASSES && ns >= class_begin(i + 1))
		i++;
	return i;
}

/* What @n gaps of @sum ns in all leave on average after a switch, if the level ends after @ns */
static u64 worth(const struct kfd_prio_price *c, u32 n, u64 sum, u64 ns)
{
	u64 mean = div_u64(sum, n), cost = ns + c->switch_ns;

	return mean > cost ? mean - cost : 0;
}

/* Takes the choice @ns if @n gaps that leave @left each leave more in total than @best */
static void choose(struct kfd_prio_gaps_choice *choice, u64 *best, u64 n, u64 left, u64 ns)
{
	if (n * left < *best)
		return;
	*best = n * left;
	choice->hold_ns = ns;
	choice->worth_ns = left;
}

/**
 * kfd_prio_gaps_begin() - a gap begins: select the length from which on it is worth a switch
 * @g: the gaps; none is in progress
 * @c: the price of a switch
 * @level: the level in force, which has no more work
 * @since: when the last work of @level ended, at most the present time; not 0, which means that no
 *	gap is in progress
 *
 * Sets @g->scarce and @g->plenty from the lengths of the gaps of the past. kfd_prio_gaps_pays()
 * uses them while the gap lasts.
 */
void kfd_prio_gaps_begin(struct kfd_prio_gaps *g, const struct kfd_prio_price *c, int level,
			 u64 since)
{
	u64 permitted = div_u64(c->per_s * g->span_ns, NSEC) + 1;
	u32 first = class_of(c->linger_ns), i, n = 0;
	u64 sum = 0, left, best_scarce = 0, best_plenty = 0, ns;

	g->level = level;
	g->since = since;
	g->scarce = (struct kfd_prio_gaps_choice) { .hold_ns = c->linger_ns };
	g->plenty = g->scarce;
	for (i = CLASSES; i-- > first;) {
		n += g->count[i];
		sum += g->sum_ns[i];
		if (!n)
			continue;
		ns = i > first ? class_begin(i) : c->linger_ns;
		left = worth(c, n, sum, ns);
		if (!left)
			continue;
		choose(&g->scarce, &best_scarce, n < permitted ? n : permitted, left, ns);
		choose(&g->plenty, &best_plenty, n, left, ns);
	}
}

/**
 * kfd_prio_gaps_end() - the gap in progress ends, because its level has work again
 * @g: the gaps
 * @now: the time, ns
 */
void kfd_prio_gaps_end(struct kfd_prio_gaps *g, u64 now)
{
	u64 most = 2 * class_begin(CLASSES - 1), ns = now > g->since ? now - g->since : 0;
	u32 i;

	/* The time since the last gap, also if that was long ago, counts as the time of one gap */
	g->span_ns += now > g->at && now - g->at < most ? now - g->at : most;
	g->at = now;
	g->since = 0;
	if (ns > most)
		ns = most;
	i = class_of(ns);
	g->count[i]++;
	g->sum_ns[i] += ns;
	if (++g->total < 2 * KFD_PRIO_GAPS_PAST)
		return;
	g->total = 0;
	g->span_ns /= 2;
	for (i = 0; i < CLASSES; i++) {
		g->sum_ns[i] -= g->count[i] ? div_u64(g->sum_ns[i], g->count[i]) *
					      (g->count[i] - g->count[i] / 2) : 0;
		g->count[i] /= 2;
		g->total += g->count[i];
		if (!g->count[i])
			g->sum_ns[i] = 0;
	}
}

/**
 * kfd_prio_gaps_pays() - from when on the gap in progress is expected to be worth a switch
 * @g: the gaps; one is in progress
 * @c: the price of a switch
 * @plenty: switches need not be saved for other gaps
 * @now: the time, ns
 *
 * Return: @now: it is now; else the time at which to ask again, as far as it follows from the clock
 */
u64 kfd_prio_gaps_pays(const struct kfd_prio_gaps *g, const struct kfd_prio_price *c, bool plenty,
		       u64 now)
{
	const struct kfd_prio_gaps_choice *choice = plenty ? &g->plenty : &g->scarce;
	u64 ns = now > g->since ? now - g->since : 0, sum = 0, left;
	u32 first = class_of(ns), i, n = 0;

	if (ns < choice->hold_ns)
		return g->since + choice->hold_ns;
	for (i = first; i < CLASSES; i++) {
		n += g->count[i];
		sum += g->sum_ns[i];
	}
	/* No gap of the past was longer */
	if (!n || first == CLASSES - 1)
		return now;
	left = worth(c, n, sum, ns);
	if (left && WORTH_PART * left >= choice->worth_ns)
		return now;
	return g->since + class_begin(first + 1);
}
