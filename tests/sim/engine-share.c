// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the model of a GPU's queue hardware: how dispatches that run at once share it. The
 * rules are in engine.h.
 */
#include "engine-int.h"

static u64 divide(u64 n, u64 by, u64 *rest)
{
#ifdef __KERNEL__
	return div64_u64_rem(n, by, rest);
#else
	*rest = n % by;
	return n / by;
#endif
}

/* Has it a part of the GPU now? */
static bool shares(const struct engine *e, const struct eng_queue *q, const struct eng_work *w)
{
	return (q->state == ENG_Q_ON || q->state == ENG_Q_SAVING) && w->running && w->slot &&
	       w->avail <= e->now;
}

/**
 * eng_share - weights of the dispatches that run now
 * @e: the engine
 */
void eng_share(struct engine *e)
{
	u64 shortest = ENG_NEVER, sum = 0, ns;
	struct eng_queue *q;
	struct eng_work *w;
	u32 i;

	if (!e->cfg.interleave)
		return;
	for (q = e->busy; q; q = q->next_busy)
		for (i = 0; i < q->nwork; i++) {
			w = &q->work[i];
			ns = w->left_ns + w->ran_ns;
			if (shares(e, q, w) && ns < shortest)
				shortest = ns;
		}
	for (q = e->busy; q; q = q->next_busy)
		for (i = 0; i < q->nwork; i++) {
			w = &q->work[i];
			ns = w->left_ns + w->ran_ns;
			w->weight = 0;
			if (shares(e, q, w))
				w->weight = ns >= ENG_LONG_RATIO * shortest ? ENG_LONG_WEIGHT : 1;
			sum += w->weight;
		}
	if (sum == e->share_sum)
		return;
	e->share_sum = sum;
	for (q = e->busy; q; q = q->next_busy)
		for (i = 0; i < q->nwork; i++)
			q->work[i].carry = 0;
}

/**
 * eng_share_of - how far a dispatch comes
 * @e: the engine, after eng_share()
 * @w: the dispatch; what is less than a ns is kept in it
 * @d: in this time
 */
u64 eng_share_of(const struct engine *e, struct eng_work *w, u64 d)
{
	return divide(d * w->weight + w->carry, e->share_sum, &w->carry);
}

/**
 * eng_share_part - what a dispatch has of something of the GPU that it fills: state, waves
 * @e: the engine
 * @w: a dispatch that has a slot; its share is that of the last call of eng_advance()
 * @own: what it has when it is alone
 * @full: what the GPU has
 *
 * Return: @own without interleave.
 */
u64 eng_share_part(const struct engine *e, const struct eng_work *w, u64 own, u64 full)
{
	u64 rest;

	if (!e->cfg.interleave)
		return own;
	return w->weight ? min_u64(own, divide(full * w->weight, e->share_sum, &rest)) : 0;
}

/**
 * eng_share_end - when a dispatch is complete if nothing changes
 * @e: the engine, after eng_share()
 * @w: the dispatch; it runs
 */
u64 eng_share_end(const struct engine *e, const struct eng_work *w)
{
	u64 parts = w->left_ns * e->share_sum, rest;

	if (parts <= w->carry)
		return e->now;
	parts = divide(parts - w->carry + w->weight - 1, w->weight, &rest);
	return e->now + parts;
}
