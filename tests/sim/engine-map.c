// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the model of a GPU's queue hardware: who holds a VMID and an HQD, and what
 * saving and restoring costs. The rules are in engine.h.
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
	struct eng_queue *x;
	struct eng_proc *p;
	u64 cut = 0;

	if ((q->state == ENG_Q_SAVING || q->state == ENG_Q_RESTORING) && q->until > e->now) {
		cut = q->until - max_u64(q->until - q->copy_ns, e->now);
		for_each_proc(e, p)
			for_each_queue(p, x)
				if (x != q && x->until >= q->until &&
				    (x->state == ENG_Q_SAVING || x->state == ENG_Q_RESTORING))
					x->until -= cut;
		e->dma_free -= cut;
		e->save_time_ns -= cut;
	}
	q->state = ENG_Q_OFF;
}

/**
 * eng_save_begin - stop a queue now; its state is written when the copy path is free
 * @e: the engine
 * @q: ENG_Q_ON
 */
void eng_save_begin(struct engine *e, struct eng_queue *q)
{
	u64 bytes = 0;
	bool live = false;
	u32 i;

	for (i = 0; i < q->nwork; i++)
		if (q->work[i].running && q->work[i].slot) {
			bytes += q->work[i].live_bytes;
			live = true;
		}
	q->state = ENG_Q_SAVING;
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
	q->state = ENG_Q_OFF;
	q->saved_at = e->now;
	q->since = e->now;
	q->order = ++e->seq;
}

static void restored(struct engine *e, struct eng_queue *q)
{
	q->state = ENG_Q_ON;
	q->restored_at = e->now;
	if (e->ops->restored)
		e->ops->restored(e->ctx, q);
}

static void restore_begin(struct engine *e, struct eng_queue *q)
{
	u64 bytes = 0;
	bool live = false;
	u32 i;

	q->since = e->now;
	q->restore_at = e->now;
	q->order = ++e->seq;
	q->back = true;
	q->first = q->proc->fresh && q->proc->since == e->now;
	for (i = 0; i < q->nwork; i++)
		if (q->work[i].slot) {
			bytes += q->work[i].live_bytes;
			live = true;
		}
	if (!live) {
		q->state = ENG_Q_ON;
		return;
	}
	q->state = ENG_Q_RESTORING;
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

	restored(e, q);
	if (q->first && p->fresh) {
		p->since = e->now;
		p->fresh = false;
	}
	q->since = e->now;
}

/**
 * eng_proc_off - has no queue of the process an HQD?
 * @p: the process
 */
bool eng_proc_off(const struct eng_proc *p)
{
	const struct eng_queue *q;

	for_each_queue(p, q)
		if (q->state != ENG_Q_OFF)
			return false;
	return true;
}

static int free_vmid(const struct engine *e)
{
	const struct eng_proc *p;
	u64 used = 0;
	u32 i, n = 0;

	for_each_proc(e, p)
		if (p->vmid >= 0) {
			used |= 1ULL << p->vmid;
			n++;
		}
	for (i = 0; n < e->cfg.vmids && i < 64; i++)
		if (!(used & 1ULL << i))
			return i;
	return -1;
}

static bool proc_restoring(const struct eng_proc *p)
{
	const struct eng_queue *q;

	for_each_queue(p, q)
		if (q->state == ENG_Q_RESTORING)
			return true;
	return false;
}

/* Level at which a queue competes now; neither callback has an effect */
static u32 queue_level(struct engine *e, struct eng_queue *q)
{
	struct eng_work tmp = { .avail = e->now };

	if (!q->level || q->nwork)
		return q->level;
	if (e->ops->ready)
		return e->ops->ready(e->ctx, q) ? q->level : 0;
	return e->ops->peek(e->ctx, q, e->now, &tmp) && tmp.avail <= e->now ? q->level : 0;
}

static u32 proc_level(struct engine *e, struct eng_proc *p)
{
	struct eng_queue *q;
	u32 level = 0;

	for_each_queue(p, q)
		if (!q->held && q->level > level)
			level = max_u64(level, queue_level(e, q));
	return level;
}

/* Has it queues, and every one of them is held? */
static bool all_held(const struct eng_proc *p)
{
	const struct eng_queue *q;

	for_each_queue(p, q)
		if (!q->held)
			return false;
	return p->queues;
}

/**
 * eng_proc_waits - does the process wait for a VMID?
 * @p: the process
 */
bool eng_proc_waits(const struct eng_proc *p)
{
	return p->vmid < 0 && !p->held && !all_held(p);
}

/*
 * Who gives up what he has: those who wait, best level first, are promised what @leaving
 * others are about to free. Returns the level of the first one without a promise.
 */
static int unpromised(const u32 *waiting, u32 leaving)
{
	int level;

	for (level = ENG_LEVELS - 1; level >= 0; level--) {
		if (waiting[level] > leaving)
			return level;
		leaving -= waiting[level];
	}
	return -1;
}

/* May one of @level who waits take it from one of level @has? */
static bool yields(const struct engine *e, u32 has, bool expired, u32 level)
{
	return has < level ? expired || e->cfg.level_preempt : has == level && expired;
}

/* Free VMIDs go to the best level, there to those waiting longest */
static void map_procs(struct engine *e)
{
	struct eng_proc *p, *best;
	u32 level, best_level;
	int v;

	for_each_proc(e, p)
		if (p->leaving && eng_proc_off(p)) {
			p->leaving = false;
			p->vmid = -1;
			p->since = e->now;
			p->order = ++e->seq;
		}
	for (;;) {
		v = free_vmid(e);
		if (v < 0)
			return;
		best = NULL;
		best_level = 0;
		for_each_proc(e, p) {
			if (!eng_proc_waits(p))
				continue;
			level = proc_level(e, p);
			if (!best || level > best_level ||
			    (level == best_level && p->order < best->order)) {
				best = p;
				best_level = level;
			}
		}
		if (!best)
			return;
		best->vmid = v;
		best->fresh = true;
		best->overdue = false;
		best->since = e->now;
		best->order = ++e->seq;
	}
}

static bool proc_expired(const struct engine *e, const struct eng_proc *p)
{
	return p->since + eng_proc_quantum(e, p) <= e->now;
}

static bool queue_expired(const struct engine *e, const struct eng_queue *q)
{
	return q->since + eng_queue_quantum(e, q) <= e->now;
}

static bool any(const u32 *waiting)
{
	u32 i, n = 0;

	for (i = 0; i < ENG_LEVELS; i++)
		n += waiting[i];
	return n;
}

/* May @p be made to give its VMID to one of @level who waits? */
static bool proc_yields(struct engine *e, struct eng_proc *p, u32 level, u32 *has)
{
	bool held = all_held(p);

	if (p->vmid < 0 || p->leaving)
		return false;
	*has = held ? 0 : proc_level(e, p);
	return yields(e, *has, held || proc_expired(e, p), level);
}

/*
 * Begin to take VMIDs away from those who must yield to others who wait. Whoever has a
 * restore under way finishes it first, and begins no other. Returns whether anybody left
 * at once: then there are others who wait.
 */
static bool evict_procs(struct engine *e)
{
	u32 waiting[ENG_LEVELS] = {}, leaving = 0, best_level, has;
	struct eng_proc *p, *best;
	struct eng_queue *q;
	bool left = false;
	int level;

	for_each_proc(e, p) {
		p->overdue = false;
		if (eng_proc_waits(p))
			waiting[proc_level(e, p)]++;
		leaving += p->vmid >= 0 && p->leaving;
	}
	for (; (level = unpromised(waiting, leaving)) >= 0; leaving++) {
		best = NULL;
		best_level = 0;
		for_each_proc(e, p)
			if (proc_yields(e, p, level, &has) && !proc_restoring(p) &&
			    (!best || has < best_level ||
			     (has == best_level && p->order < best->order))) {
				best = p;
				best_level = has;
			}
		if (!best)
			break;
		best->leaving = true;
		for_each_queue(best, q)
			if (q->state == ENG_Q_ON)
				eng_save_begin(e, q);
		left |= eng_proc_off(best);
	}
	for_each_proc(e, p)
		if (level >= 0)
			p->overdue = proc_yields(e, p, level, &has);
		else if (any(waiting) && p->vmid >= 0 && !p->leaving && proc_expired(e, p))
			p->since = e->now;	/* not needed: another quantum */
	return left;
}

/* Give VMIDs and take them away */
static void settle_procs(struct engine *e)
{
	do
		map_procs(e);
	while (evict_procs(e));
}

/* Free HQDs go to the queues of mapped processes that wait for one, as VMIDs do */
static void map_queues(struct engine *e)
{
	u32 used = eng_used_hqds(e), level, best_level;
	struct eng_queue *q, *best;
	struct eng_proc *p;

	for (;;) {
		best = NULL;
		best_level = 0;
		for_each_proc(e, p) {
			if (p->vmid < 0 || p->leaving || p->overdue)
				continue;
			for_each_queue(p, q) {
				if (q->state != ENG_Q_OFF || q->held)
					continue;
				if (q->own_engine) {
					restore_begin(e, q);
					continue;
				}
				if (used >= e->cfg.hqds)
					continue;
				level = queue_level(e, q);
				if (!best || level > best_level ||
				    (level == best_level && q->order < best->order)) {
					best = q;
					best_level = level;
				}
			}
		}
		if (!best)
			return;
		restore_begin(e, best);
		used++;
	}
}

/* Give HQDs; begin to take them away from those who must yield to others who wait */
static void settle_queues(struct engine *e)
{
	u32 waiting[ENG_LEVELS] = {}, leaving = 0, best_level, has;
	struct eng_queue *q, *best;
	struct eng_proc *p;
	int level;

	map_queues(e);
	for_each_proc(e, p)
		for_each_queue(p, q) {
			if (p->vmid >= 0 && !p->leaving && !p->overdue &&
			    q->state == ENG_Q_OFF && !q->held && !q->own_engine)
				waiting[queue_level(e, q)]++;
			leaving += q->state == ENG_Q_SAVING && !q->own_engine;
		}
	for (; (level = unpromised(waiting, leaving)) >= 0; leaving++) {
		best = NULL;
		best_level = 0;
		for_each_proc(e, p)
			for_each_queue(p, q) {
				if (q->state != ENG_Q_ON || q->own_engine)
					continue;
				has = queue_level(e, q);
				if (yields(e, has, queue_expired(e, q), level) &&
				    (!best || has < best_level ||
				     (has == best_level && q->order < best->order))) {
					best = q;
					best_level = has;
				}
			}
		if (!best)
			return;
		eng_save_begin(e, best);
	}
	for_each_proc(e, p)
		for_each_queue(p, q)
			if (any(waiting) && q->state == ENG_Q_ON && queue_expired(e, q))
				q->since = e->now;	/* not needed: another quantum */
}

/**
 * eng_settle_map - give and take VMIDs and HQDs as the rules say
 * @e: the engine
 */
void eng_settle_map(struct engine *e)
{
	settle_procs(e);
	settle_queues(e);
}
