// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the model of a GPU's queue hardware: what saving and restoring costs, on the path
 * that all queues share. The rules are in engine.h.
 */
#include "engine-int.h"

static u64 copy_time(const struct engine *e, u64 bytes)
{
	if (!e->cfg.bytes_per_us)
		return 0;
#ifdef __KERNEL__
	return div64_u64(bytes * 1000, e->cfg.bytes_per_us);
#else
	return bytes * 1000 / e->cfg.bytes_per_us;
#endif
}

/* The HQD goes to the pipe that has the fewest, so that they fill row by row */
static void pipe_take(struct engine *e, struct eng_queue *q)
{
	u32 i, pipe = 0;

	q->has_pipe = e->cfg.pipes && !q->own_engine;
	for (i = 1; q->has_pipe && i < min_u32(e->cfg.pipes, ENG_PIPES); i++)
		if (e->pipe_queues[i] < e->pipe_queues[pipe])
			pipe = i;
	if (pipe != q->pipe)
		eng_turn_over(e, q);
	q->pipe = pipe;
	e->pipe_queues[pipe] += q->has_pipe;
}

static void hqd_free(struct engine *e, struct eng_queue *q)
{
	eng_state(e, q, ENG_Q_OFF);
	if (q->has_pipe)
		e->pipe_queues[q->pipe]--;
	q->has_pipe = false;
}

/* Queue a copy on the path. Returns when it ends */
static u64 copy_begin(struct engine *e, struct eng_queue *q, u64 cost)
{
	q->copy_ns = cost;
	e->dma_free = max_u64(e->now, e->dma_free) + cost;
	e->save_time_ns += cost;
	return e->dma_free;
}

/**
 * eng_copy_cancel - cut a save or restore short; the queue is off, the copy path free of it
 * @e: the engine
 * @q: in any state
 *
 * Copies that were to follow on the path move up.
 */
void eng_copy_cancel(struct engine *e, struct eng_queue *q)
{
	struct eng_queue *x, *next;
	u64 cut = 0;

	if ((q->state == ENG_Q_SAVING || q->state == ENG_Q_RESTORING) && q->until > e->now) {
		cut = q->until - max_u64(q->until - q->copy_ns, e->now);
		for_each_busy(e, x, next)
			if (x != q && x->until >= q->until &&
			    (x->state == ENG_Q_SAVING || x->state == ENG_Q_RESTORING))
				x->until -= cut;
		e->dma_free -= cut;
		e->save_time_ns -= cut;
	}
	hqd_free(e, q);
	eng_deactivate(e, q);
}

/**
 * eng_save_begin - stop a queue now; its state is written when the copy path is free
 * @e: the engine
 * @q: ENG_Q_ON
 */
void eng_save_begin(struct engine *e, struct eng_queue *q)
{
	struct eng_work *w;
	u64 bytes = 0;
	bool live = false;
	u32 i;

	for (i = 0; i < q->nwork; i++) {
		w = &q->work[i];
		if (!w->running || !w->slot)
			continue;
		w->saved_bytes = eng_share_part(e, w, w->live_bytes, e->cfg.full_bytes);
		bytes += w->saved_bytes;
		live = true;
	}
	eng_state(e, q, ENG_Q_SAVING);
	eng_activate(e, q);
	q->save_at = e->now;
	q->until = e->now;
	if (!live)
		return;
	q->until = copy_begin(e, q, e->cfg.save_ns + copy_time(e, bytes));
	e->saves++;
	q->saves++;
}

/**
 * eng_save_end - its state is written, its HQD free
 * @e: the engine
 * @q: ENG_Q_SAVING
 */
void eng_save_end(struct engine *e, struct eng_queue *q)
{
	u32 i;

	for (i = 0; i < q->nwork; i++)
		q->work[i].running = false;
	if (e->ops->saved)
		e->ops->saved(e->ctx, q);
	q->saved_at = e->now;
	q->since = e->now;
	q->order = ++e->seq;
	hqd_free(e, q);
	eng_deactivate(e, q);
	e->remap = true;
	e->remap_procs |= q->proc->leaving;
}

static void restored(struct engine *e, struct eng_queue *q)
{
	eng_state(e, q, ENG_Q_ON);
	q->restored_at = e->now;
	if (e->ops->restored)
		e->ops->restored(e->ctx, q);
}

/**
 * eng_restore_begin - a queue has got an HQD; its state is read when the copy path is free
 * @e: the engine
 * @q: ENG_Q_OFF
 */
void eng_restore_begin(struct engine *e, struct eng_queue *q)
{
	u64 bytes = 0;
	bool live = false;
	u32 i;

	q->since = e->now;
	q->restore_at = e->now;
	q->order = ++e->seq;
	q->back = true;
	pipe_take(e, q);
	eng_activate(e, q);
	q->first = q->proc->fresh && q->proc->since == e->now;
	for (i = 0; i < q->nwork; i++)
		if (q->work[i].slot) {
			bytes += q->work[i].saved_bytes;
			live = true;
		}
	if (!live) {
		eng_state(e, q, ENG_Q_ON);
		return;
	}
	eng_state(e, q, ENG_Q_RESTORING);
	q->until = copy_begin(e, q, e->cfg.restore_ns + copy_time(e, bytes));
}

/**
 * eng_restore_end - its state is read. Quanta count from here
 * @e: the engine
 * @q: ENG_Q_RESTORING
 */
void eng_restore_end(struct engine *e, struct eng_queue *q)
{
	struct eng_proc *p = q->proc;

	e->remap = true;
	e->remap_procs |= p->overdue;
	restored(e, q);
	if (q->first && p->fresh) {
		e->remap_procs = true;
		p->since = e->now;
		p->fresh = false;
	}
	q->since = e->now;
}
