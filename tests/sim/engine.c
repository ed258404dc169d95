// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the model of a GPU's queue hardware. The rules are in engine.h.
 *
 * Everything is event driven: eng_advance() walks from one event (a work ends, a
 * save ends, a quantum ends) to the next and settles the machine at each: first who
 * holds a VMID and an HQD, if that may have changed, then what launches. Only the queues in
 * engine.active are looked at, but where the runlist, VMIDs or HQDs change.
 */
#include "engine-int.h"

/**
 * eng_init - an empty GPU
 * @e: the engine
 * @cfg: constants, copied
 * @ops: callbacks, must outlive @e
 * @ctx: for the callbacks
 * @now: the present time
 */
void eng_init(struct engine *e, const struct eng_config *cfg, const struct eng_ops *ops,
	      void *ctx, u64 now)
{
	*e = (struct engine){ .cfg = *cfg, .ops = ops, .ctx = ctx, .now = now, .dma_free = now,
			      .map_at = ENG_NEVER, .procs_at = ENG_NEVER };
}

/**
 * eng_used_slots - slots that work occupies now
 * @e: the engine
 *
 * A queue that is being saved keeps its slots until its state is written.
 */
u32 eng_used_slots(const struct engine *e)
{
	const struct eng_queue *q;
	u32 i, n = 0;

	for (q = e->busy; q; q = q->next_busy)
		for (i = 0; i < q->nwork; i++)
			n += q->work[i].slot && q->work[i].running;
	return n;
}

/**
 * eng_used_hqds - hardware queue slots in use
 * @e: the engine
 */
u32 eng_used_hqds(const struct engine *e)
{
	return e->nhqds;
}

/* Account the time up to t to what runs. Only ENG_Q_ON queues have time passing. */
static void credit(struct engine *e, u64 t)
{
	struct eng_queue *q, *next;
	struct eng_work *w;
	u64 from, d;
	u32 i;

	eng_share(e);
	for_each_busy(e, q, next) {
		if (q->state != ENG_Q_ON)
			continue;
		for (i = 0; i < q->nwork; i++) {
			w = &q->work[i];
			from = max_u64(e->now, w->avail);
			if (!w->running || t <= from)
				continue;
			d = e->cfg.interleave && w->slot ? eng_share_of(e, w, t - from) : t - from;
			if (d > w->left_ns)
				d = w->left_ns;
			w->left_ns -= d;
			w->ran_ns += d;
			q->ran_ns += d;
			if (w->slot) {
				e->busy_ns += d;
				q->service += d;
			}
		}
	}
	e->now = t;
}

/* When its time is over; one that shares the GPU and is not there yet: when it is */
static u64 work_end(const struct engine *e, const struct eng_work *w)
{
	if (e->cfg.interleave && w->slot)
		return w->avail > e->now ? w->avail : eng_share_end(e, w);
	return max_u64(e->now, w->avail) + w->left_ns;
}

static void settle(struct engine *e)
{
	u64 visits = e->visits;

	if (e->changed)
		eng_renumber(e);
	if (e->remap || e->now >= e->map_at || (e->leveled && !e->ops->ready)) {
		e->remap = false;
		eng_settle_map(e);
	}
	e->map_visits += e->visits - visits;
	eng_settle_launches(e);
}

/* Earliest time at which anything happens by itself; may be e->now */
static u64 next_event(struct engine *e)
{
	const struct eng_queue *q;
	u64 t = e->map_at, x;
	u32 i;

	eng_share(e);
	for (q = e->busy; q; q = q->next_busy) {
		e->visits++;
		if (q->state == ENG_Q_SAVING || q->state == ENG_Q_RESTORING) {
			t = q->until < t ? q->until : t;
			continue;
		}
		for (i = 0; i < q->nwork; i++) {
			if (!q->work[i].running)
				continue;
			x = work_end(e, &q->work[i]);
			t = x < t ? x : t;
		}
	}
	return t;
}

/* Complete what has run out at e->now, in order of launch within a queue */
static void fire(struct engine *e)
{
	struct eng_queue *q, *next;
	struct eng_work w;
	u32 i, k;

	for_each_busy(e, q, next) {
		if (q->state == ENG_Q_SAVING && q->until <= e->now)
			eng_save_end(e, q);
		else if (q->state == ENG_Q_RESTORING && q->until <= e->now)
			eng_restore_end(e, q);
		else if (q->state != ENG_Q_ON)
			continue;
		for (i = 0; q->state == ENG_Q_ON && i < q->nwork;) {
			if (!q->work[i].running || q->work[i].left_ns ||
			    q->work[i].avail > e->now) {
				i++;
				continue;
			}
			w = q->work[i];
			q->nwork--;
			for (k = i; k < q->nwork; k++)
				q->work[k] = q->work[k + 1];
			e->ops->complete(e->ctx, q, &w, e->now);
			q->wants = false;
			eng_busy_update(e, q);
			/* its level was that of its work */
			e->remap |= e->leveled && !q->nwork && e->ops->ready &&
				    !e->ops->ready(e->ctx, q);
		}
	}
}

/**
 * eng_advance - let the GPU run up to a time
 * @e: the engine
 * @now: not before the last call; what peek() finds is available from its avail on
 *
 * Return: the time of the next event if nothing new arrives, ENG_NEVER if none; not after @now if the
 * owner was full.
 */
u64 eng_advance(struct engine *e, u64 now)
{
	u64 t;

	now = max_u64(now, e->now);
	if (memcmp(&e->was, &e->cfg, sizeof(e->was))) {
		memcpy(&e->was, &e->cfg, sizeof(e->was));
		e->remap = true;
		e->remap_procs = true;
	}
	if (e->changed)
		settle(e);
	do {
		while ((t = next_event(e)) <= now) {
			if (e->ops->full && e->ops->full(e->ctx))
				return t;
			e->events++;
			credit(e, max_u64(t, e->now));
			fire(e);
			settle(e);
		}
		credit(e, now);
		settle(e);
		t = next_event(e);
	} while (t <= now);
	return t;
}

/**
 * eng_stall - the GPU stands still up to a time
 * @e: the engine
 * @now: not before the last call
 *
 * For an owner who cannot follow. Nothing has happened in the meantime: work, saves, restores
 * and quanta end later by as much.
 */
void eng_stall(struct engine *e, u64 now)
{
	struct eng_queue *q, *next;
	struct eng_proc *p;
	u64 d;

	if (now <= e->now)
		return;
	d = now - e->now;
	e->stalled_ns += d;
	if (e->dma_free > e->now)
		e->dma_free += d;
	if (e->map_at != ENG_NEVER)
		e->map_at += d;
	if (e->procs_at != ENG_NEVER)
		e->procs_at += d;
	for_each_proc(e, p) {
		p->since += d;
		for_each_queue(p, q)
			q->since += d;
	}
	for_each_busy(e, q, next)
		if (q->state == ENG_Q_SAVING || q->state == ENG_Q_RESTORING)
			q->until += d;
	e->now = now;
}

/**
 * eng_unmap - stop queues and begin to save them
 * @e: the engine
 * @only: one process, or NULL for all
 * @now: as for eng_advance(), which is called first
 *
 * Return: the time at which all of them are saved. Call eng_advance() with it, then
 * eng_saved() is true and the owner may keep @work and remove the queues.
 */
u64 eng_unmap(struct engine *e, const struct eng_proc *only, u64 now)
{
	struct eng_proc *p;
	struct eng_queue *q;
	u64 t;

	eng_advance(e, now);
	e->changed = true;
	t = e->now;
	for_each_proc(e, p)
		for_each_queue(p, q)
			if ((!only || p == only) && q->state == ENG_Q_RESTORING)
				eng_copy_cancel(e, q);	/* what was saved is still there */
	for_each_proc(e, p) {
		if (only && p != only)
			continue;
		p->leaving = true;
		p->held = true;
		for_each_queue(p, q) {
			if (q->state == ENG_Q_ON)
				eng_save_begin(e, q);
			if (q->state == ENG_Q_SAVING)
				t = max_u64(t, q->until);
		}
	}
	return t;
}

/**
 * eng_saved - are the queues off the GPU?
 * @e: the engine
 * @only: one process, or NULL for all
 */
bool eng_saved(const struct engine *e, const struct eng_proc *only)
{
	const struct eng_proc *p;

	for_each_proc(e, p)
		if ((!only || p == only) && !eng_proc_off(p))
			return false;
	return true;
}

/**
 * eng_unmap_queue - stop one queue and begin to save it; it is held until it is resumed
 * @e: the engine
 * @q: the queue, in any state
 * @now: as for eng_advance(), which is called first
 *
 * Return: the time at which it is saved. Call eng_advance() with it, then
 * eng_queue_saved() is true.
 */
u64 eng_unmap_queue(struct engine *e, struct eng_queue *q, u64 now)
{
	eng_advance(e, now);
	e->changed = true;
	q->held = true;
	eng_wait_update(e, q);
	if (q->state == ENG_Q_RESTORING)
		eng_copy_cancel(e, q);		/* what was saved is still there */
	if (q->state == ENG_Q_ON)
		eng_save_begin(e, q);
	return q->state == ENG_Q_SAVING ? q->until : e->now;
}

/**
 * eng_queue_saved - is the queue off the GPU?
 * @e: the engine
 * @q: the queue
 */
bool eng_queue_saved(const struct engine *e, const struct eng_queue *q)
{
	(void)e;
	return q->state == ENG_Q_OFF;
}

/**
 * eng_resume_queue - end what eng_unmap_queue() began; it waits for an HQD as a new one
 * @e: the engine
 * @q: the queue
 * @now: as for eng_advance(), which is to be called next
 */
void eng_resume_queue(struct engine *e, struct eng_queue *q, u64 now)
{
	eng_advance(e, now);
	if (!q->held)
		return;
	e->changed = true;
	if (q->proc->vmid < 0 && !eng_proc_waits(q->proc)) {
		q->proc->since = e->now;
		q->proc->order = ++e->seq;
	}
	q->held = false;
	if (q->state == ENG_Q_OFF) {
		q->since = e->now;
		q->order = ++e->seq;
	}
	eng_wait_update(e, q);
}
