// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: turns, see kfd_prio_turn.h. Pure functions, also tested in user space.
 *
 * In a cycle each group that takes part has one turn. Its part of the cycle is in proportion to its
 * weight. A turn has the time of one switch besides, because no work is done during a switch. What
 * a turn was exceeded by is taken from the next one. A turn of less than KFD_PRIO_TURN_SWITCHES
 * switches is left out, and the group has its turn in a later cycle, when its parts add up. The
 * next cycle begins when every group that takes part has had its turn. So a group that had its
 * turn, has no work for a moment and rings again waits for the turns of the others.
 *
 * Time in which a group runs without another one is not charged. It uses up what is left of the
 * group's part of the cycle, and no more. If a higher priority takes all groups off, the turn goes
 * on afterwards with what was left of it.
 *
 * A cycle is as long as its switches require that they cost cost_pct.
 */
#include "kfd_prio_turn.h"
#ifdef __KERNEL__
#include <linux/bits.h>
#include <linux/math64.h>
#else
#define BIT_ULL(n)	(1ULL << (n))
#define div_u64(dividend, divisor) ((u64)(dividend) / (divisor))
#define div64_u64	div_u64
#endif

/* Mask of the GPUs on which two or more groups have work */
static u64 contended(const struct kfd_prio_turns *t)
{
	u64 once = 0, twice = 0;
	u32 i;

	for (i = 0; i < t->n; i++) {
		twice |= once & t->ring[i]->gpus;
		once |= t->ring[i]->gpus;
	}
	return twice;
}

/**
 * kfd_prio_turns_count() - count the time up to @now
 * @t: the turns; the caller calls this function before it changes any &kfd_prio_turn.gpus
 * @now: the time; if it lies before the time that is counted already, nothing is counted
 *
 * The group in turn is charged while it has work on a contended GPU. A group that has work and
 * shares no GPU uses up its part. Another group is kept off, or runs in the place of the group in
 * turn, which is not charged.
 */
void kfd_prio_turns_count(struct kfd_prio_turns *t, u64 now)
{
	u64 gpus = contended(t);
	s64 ns = now - t->at;
	u32 i;

	if (now <= t->at)
		return;
	for (i = 0; i < t->n; i++) {
		struct kfd_prio_turn *g = t->ring[i];

		if (g->gpus && !(g->gpus & gpus)) {
			if (g->left_ns > 0)
				g->left_ns -= g->left_ns < ns ? g->left_ns : ns;
		} else if (t->runs && i == t->now && g->gpus) {
			g->left_ns -= ns;
		}
	}
	t->at = now;
}

/* A cycle: contended GPUs, sum of the weights that take part, a switch, and the time for work */
struct cycle {
	u64 gpus;
	u64 weights;
	u64 switch_ns;
	u64 ns;
};

static struct cycle cycle_of(const struct kfd_prio_turns *t, u64 switch_ns, u32 cost_pct)
{
	struct cycle c = { .gpus = contended(t), .switch_ns = switch_ns };
	u32 i, n = 0;

	for (i = 0; i < t->n; i++) {
		if (!(t->ring[i]->gpus & c.gpus))
			continue;
		c.weights += t->ring[i]->weight;
		n++;
	}
	/* The part of a cycle in which work is done */
	c.ns = div_u64(n * switch_ns * (100 - cost_pct), cost_pct);
	return c;
}

/* The part of a cycle that a group gets */
static s64 part(const struct cycle *c, const struct kfd_prio_turn *g)
{
	return div64_u64(c->ns * g->weight, c->weights);
}

/* Begins a cycle: each group that takes part gets its part, and no time is saved up */
static void begin(struct kfd_prio_turns *t, const struct cycle *c)
{
	s64 most = kfd_prio_turn_least(c->switch_ns);
	u32 i;

	for (i = 0; i < t->n; i++) {
		struct kfd_prio_turn *g = t->ring[i];
		bool takes_part = g->gpus & c->gpus;

		if (!takes_part && g->left_ns > 0)
			g->left_ns = 0;
		if (takes_part)
			g->left_ns = (g->left_ns < most ? g->left_ns : most) + part(c, g);
	}
}

/* Returns the next group in the order whose turn may begin in this cycle; -1 if there is none */
static int find(const struct kfd_prio_turns *t, const struct cycle *c)
{
	s64 least = kfd_prio_turn_least(c->switch_ns) - (s64)c->switch_ns;
	u32 i, at = t->now;

	for (i = 0; i < t->n; i++) {
		at = at + 1 < t->n ? at + 1 : 0;
		if (t->ring[at]->gpus & c->gpus && t->ring[at]->left_ns >= least)
			return at;
	}
	return -1;
}

/*
 * Begins the turn of the next group. Debts are one part at most, so that every group has its part
 * in the second of two cycles. The longest part is longer than a turn has to be.
 */
static void next(struct kfd_prio_turns *t, const struct cycle *c)
{
	int i = find(t, c), cycles;

	for (cycles = 0; i < 0 && cycles < 2; cycles++) {
		begin(t, c);
		i = find(t, c);
	}
	t->runs = i >= 0;
	if (!t->runs)
		return;
	t->now = i;
	t->begun = true;
	t->ring[i]->left_ns += c->switch_ns;
}

/*
 * Whether the group that was in turn last goes on: it has work and time. It may have been alone
 * since, or not in turn because no group could run.
 */
static bool goes_on(const struct kfd_prio_turns *t, const struct cycle *c)
{
	return t->begun && t->ring[t->now]->gpus & c->gpus && t->ring[t->now]->left_ns > 0;
}

/**
 * kfd_prio_turns_update() - find out which group is in turn
 * @t: the turns, counted up to @now
 * @switch_ns: measured time of a save and a restore; 0: not known
 * @cost_pct: share of GPU time that switches may cost, percent, 1..100; more than
 *	KFD_PRIO_TURN_COST_PCT counts as that
 * @now: the time
 *
 * A turn ends when its time is over, or when the group has no work and others go on; the rest of it
 * is not saved up.
 *
 * Return: when the turn ends, if nothing changes before; ~0ULL: no group is in turn
 */
u64 kfd_prio_turns_update(struct kfd_prio_turns *t, u64 switch_ns, u32 cost_pct, u64 now)
{
	struct kfd_prio_turn *g;
	struct cycle c;
	s64 most;
	u32 i;

	if (!switch_ns)
		switch_ns = KFD_PRIO_TURN_SWITCH_NS;
	if (cost_pct > KFD_PRIO_TURN_COST_PCT)
		cost_pct = KFD_PRIO_TURN_COST_PCT;
	c = cycle_of(t, switch_ns, cost_pct);
	if (!c.gpus) {
		t->runs = false;
		/* When another group rings, it follows the group that runs alone */
		for (i = 0; i < t->n; i++)
			if (t->ring[i]->gpus & ~t->held) {
				t->now = i;
				t->begun = true;
			}
		return ~0ULL;
	}
	for (i = 0; i < t->n; i++) {
		g = t->ring[i];
		most = part(&c, g);
		if (g->left_ns < -most)
			g->left_ns = -most;
	}
	if (goes_on(t, &c)) {
		t->runs = true;
	} else {
		if (t->ring[t->now]->left_ns > 0)
			t->ring[t->now]->left_ns = 0;
		next(t, &c);
	}
	return t->runs ? now + t->ring[t->now]->left_ns : ~0ULL;
}

/**
 * kfd_prio_turns_on() - the group whose processes run on a GPU
 * @t: the turns
 * @gpu: number of the GPU, the bit of &kfd_prio_turn.gpus
 *
 * Return: index of the group; -1 if no two groups have work there, so that none is kept off
 */
int kfd_prio_turns_on(const struct kfd_prio_turns *t, u32 gpu)
{
	u32 i, at;

	if (!t->runs || !(contended(t) & BIT_ULL(gpu)))
		return -1;
	for (i = 0, at = t->now; i < t->n; i++, at = at + 1 < t->n ? at + 1 : 0)
		if (t->ring[at]->gpus & BIT_ULL(gpu))
			return at;
	return -1;
}

/**
 * kfd_prio_turns_drop() - remove a group from the order
 * @t: the turns
 * @i: index of the group
 *
 * The next group follows it in the order. If the group was in turn, none is until
 * kfd_prio_turns_update().
 */
void kfd_prio_turns_drop(struct kfd_prio_turns *t, u32 i)
{
	if (t->now == i) {
		t->begun = false;
		t->runs = false;
	}
	/* The search for the next group begins after the index */
	if (t->now >= i)
		t->now = t->now ? t->now - 1 : t->n - 2;
	for (t->n--; i < t->n; i++)
		t->ring[i] = t->ring[i + 1];
}
