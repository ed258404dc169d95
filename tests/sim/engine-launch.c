// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the model of a GPU's queue hardware: which queue launches next. The rules are
 * in engine.h.
 */
#include "engine-int.h"

/*
 * The next launch of a queue: a restored work that has no slot yet, or what the
 * owner offers. *restored tells them apart; NULL when there is neither.
 */
static struct eng_work *candidate(struct engine *e, struct eng_queue *q,
				  struct eng_work *tmp, bool *restored)
{
	u32 i;

	*restored = false;
	if (q->state != ENG_Q_ON)
		return NULL;
	for (i = 0; i < q->nwork; i++)
		if (!q->work[i].running) {
			*restored = true;
			return &q->work[i];
		}
	if (q->quiet || q->nwork == ENG_INFLIGHT || (q->nwork && q->work[q->nwork - 1].blocks))
		return NULL;
	*tmp = (struct eng_work){ .avail = e->now };
	return e->ops->peek(e->ctx, q, e->now, tmp) ? tmp : NULL;
}

/* GPU time that a queue has used or will have when what runs is complete */
static u64 committed(const struct eng_queue *q)
{
	u64 n = q->service;
	u32 i;

	for (i = 0; i < q->nwork; i++)
		if (q->work[i].running && q->work[i].slot)
			n += q->work[i].left_ns;
	return n;
}

/*
 * A queue that wants a slot and did not before cannot claim time that it did not want; one
 * that was off may catch up a little: see the rules in engine.h.
 */
static void admit(struct engine *e, struct eng_queue *q)
{
	u64 lag = q->idle ? 0 : ENG_LAG_QUANTA * e->cfg.process_quantum_ns, front;

	if (!q->idle && !q->back)
		return;
	q->idle = false;
	q->back = false;
	front = *eng_front(e, q);
	if (front > lag)
		q->service = max_u64(q->service, front - lag);
}

static void launch(struct engine *e, struct eng_queue *q, struct eng_work *w, bool restored)
{
	q->wants = false;
	if (restored) {
		w->avail = max_u64(w->avail, e->now);
		w->running = true;
		return;
	}
	q->work[q->nwork] = *w;
	w = &q->work[q->nwork++];
	w->running = true;
	w->avail = max_u64(w->avail, e->now);
	eng_busy_update(e, q);
	e->ops->launch(e->ctx, q, w, e->now);
}

/* Plain turns: those behind the present one in the runlist, then those before it; wraps */
static u32 turns_until(const struct engine *e, const struct eng_queue *q)
{
	const struct eng_queue *turn = e->turn[q->pipe];

	return q->place - (turn ? turn->place + 1 : 0);
}

/* a before b? Both want a slot now; see the rules in engine.h */
static bool beats(const struct engine *e, const struct eng_queue *a, u64 a_avail,
		  const struct eng_queue *b, u64 b_avail)
{
	bool a_now = a_avail <= e->now, b_now = b_avail <= e->now;

	if (a->pipe_prio != b->pipe_prio)
		return a->pipe_prio > b->pipe_prio;
	if (a->queue_prio != b->queue_prio)
		return a->queue_prio > b->queue_prio;
	if (a_now != b_now)
		return a_now;
	if (e->turn[a->pipe] == a && a->turn_ns < eng_queue_quantum(e, a))
		return true;
	if (e->turn[b->pipe] == b && b->turn_ns < eng_queue_quantum(e, b))
		return false;
	if (e->cfg.plain_turns)
		return turns_until(e, a) < turns_until(e, b);
	if (committed(a) != committed(b))
		return committed(a) < committed(b);
	return a->served < b->served;
}

/* Dispatches that each pipe runs; without pipes there is one, and slots are the only limit */
static void count_pipes(const struct engine *e, u32 *running)
{
	const struct eng_queue *q;
	u32 i;

	for (i = 0; i < ENG_PIPES; i++)
		running[i] = 0;
	for (q = e->cfg.pipes ? e->busy : NULL; q; q = q->next_busy)
		for (i = 0; i < q->nwork; i++)
			running[q->pipe] += q->work[i].running && q->work[i].slot;
}

/**
 * eng_settle_launches - launch what may be launched now
 * @e: the engine
 */
void eng_settle_launches(struct engine *e)
{
	u32 used = eng_used_slots(e), of_pipe = e->cfg.pipe_slots ? e->cfg.pipe_slots : 1;
	u32 running[ENG_PIPES];
	struct eng_work tmp, best_tmp, *w, *best_work = NULL;
	struct eng_queue *q, *best, *next;
	bool restored, again, room;
	u64 best_avail = 0;

	if (e->drain)
		return;
	count_pipes(e, running);
	do {
		again = false;
		best = NULL;
		for_each_active(e, q, next) {
			room = used < e->cfg.slots && running[q->pipe] < of_pipe;
			if (q->wants && !room)
				continue;
			w = candidate(e, q, &tmp, &restored);
			if (!w) {
				if (q->state != ENG_Q_ON || q->nwork)
					continue;
				q->idle = true;
				if (q->quiet)
					eng_deactivate(e, q);
				continue;
			}
			q->wants = w->slot;
			if (w->slot)
				admit(e, q);
			if (!w->slot) {
				launch(e, q, w, restored);
				again = true;
			} else if (room &&
				   (!best || beats(e, q, w->avail, best, best_avail))) {
				best = q;
				best_avail = w->avail;
				/* peek() looks at memory that others write: ask once */
				best_tmp = tmp;
				best_work = restored ? w : &best_tmp;
			}
		}
		if (again || !best)
			continue;
		w = best_work;
		restored = w != &best_tmp;
		if (e->turn[best->pipe] != best || best->turn_ns >= eng_queue_quantum(e, best)) {
			e->turn[best->pipe] = best;
			best->turn_ns = 0;
			best->front = max_u64(best->front, committed(best));
			*eng_front(e, best) = max_u64(*eng_front(e, best), best->front);
		}
		best->turn_ns += w->left_ns;
		best->served = ++e->seq;
		launch(e, best, w, restored);
		used++;
		running[best->pipe] += e->cfg.pipes ? 1 : 0;
		again = true;
	} while (again);
}
