// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the model of a GPU's queue hardware: who holds a VMID and an HQD. The rules are in
 * engine.h.
 */
#include "engine-int.h"

/**
 * eng_proc_off - has no queue of the process an HQD?
 * @p: the process
 */
bool eng_proc_off(const struct eng_proc *p)
{
	return !p->nmapped;
}

static int free_vmid(const struct engine *e)
{
	u64 used = 0;
	u32 i;

	for (i = 0; i < e->nmapped_procs; i++)
		used |= 1ULL << e->mapped_procs[i]->vmid;
	for (i = 0; e->nmapped_procs < e->cfg.vmids && i < ENG_VMIDS; i++)
		if (!(used & 1ULL << i))
			return i;
	return -1;
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

	if (!e->leveled)
		return 0;
	for_each_queue(p, q) {
		e->visits++;
		if (!q->held && q->level > level)
			level = max_u64(level, queue_level(e, q));
	}
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
			eng_vmid(e, p, -1);
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
			e->visits++;
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
		eng_vmid(e, best, v);
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

	e->visits++;
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
		e->visits++;
		p->overdue = false;
		if (eng_proc_waits(p))
			waiting[proc_level(e, p)]++;
		leaving += p->vmid >= 0 && p->leaving;
	}
	for (; (level = unpromised(waiting, leaving)) >= 0; leaving++) {
		best = NULL;
		best_level = 0;
		for_each_proc(e, p)
			if (proc_yields(e, p, level, &has) && !p->nrestoring &&
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

/*
 * The best queues of one look at all of them: of the highest rank, there those that wait, or
 * have an HQD, longest
 */
#define BEST_MAX	32

struct best {
	struct eng_queue *q[BEST_MAX];
	u32 rank[BEST_MAX];
	u32 n, max;
};

static void best_add(struct best *b, struct eng_queue *q, u32 rank)
{
	u32 i = b->n, k;

	while (i && (b->rank[i - 1] < rank ||
		     (b->rank[i - 1] == rank && b->q[i - 1]->order > q->order)))
		i--;
	if (i >= b->max)
		return;
	b->n += b->n < b->max;
	for (k = b->n - 1; k > i; k--) {
		b->q[k] = b->q[k - 1];
		b->rank[k] = b->rank[k - 1];
	}
	b->q[i] = q;
	b->rank[i] = rank;
}

/* May its queues be given HQDs? */
static bool gets_hqds(struct engine *e, const struct eng_proc *p)
{
	e->visits++;
	return p->vmid >= 0 && !p->leaving && !p->overdue;
}

/* SDMA queues that do not run */
static void map_own(struct engine *e)
{
	struct eng_queue *q;
	struct eng_proc *p;

	for_each_proc(e, p) {
		if (!gets_hqds(e, p) || !p->own_waiting)
			continue;
		for_each_queue(p, q) {
			e->visits++;
			if (q->own_engine && q->waits)
				eng_restore_begin(e, q);
		}
	}
}

/* Free HQDs go to the queues of mapped processes that wait for one, as VMIDs do */
static void map_queues(struct engine *e)
{
	struct eng_queue *q;
	struct eng_proc *p;
	struct best best;
	u32 i;

	if (e->own_waiting)
		map_own(e);
	do {
		best.n = 0;
		best.max = e->nhqds < e->cfg.hqds ? min_u32(e->cfg.hqds - e->nhqds, BEST_MAX) : 0;
		for (i = 0; best.max && i < e->nmapped_procs; i++) {
			p = e->mapped_procs[i];
			if (!gets_hqds(e, p))
				continue;
			for (q = p->waiting; q; q = q->next_wait) {
				e->visits++;
				/* without levels all behind it have waited less */
				if (!e->leveled && best.n == best.max &&
				    q->order > best.q[best.n - 1]->order)
					break;
				best_add(&best, q, queue_level(e, q));
			}
		}
		for (i = 0; i < best.n; i++)
			eng_restore_begin(e, best.q[i]);
	} while (best.n == BEST_MAX);
}

/* How many wait for what those who leave do not free, at the best level of such: @level, or -1 */
static u32 unserved(const u32 *waiting, u32 leaving, int *level)
{
	for (*level = ENG_LEVELS - 1; *level >= 0; --*level) {
		if (waiting[*level] > leaving)
			return waiting[*level] - leaving;
		leaving -= waiting[*level];
	}
	return 0;
}

/* Give HQDs; begin to take them away from those who must yield to others who wait */
static void settle_queues(struct engine *e)
{
	u32 waiting[ENG_LEVELS] = {}, leaving, has, i;
	struct eng_queue *q;
	struct eng_proc *p;
	struct best best;
	int level;

	map_queues(e);
	leaving = e->nsaving;
	for (i = 0; i < e->nmapped_procs; i++) {
		p = e->mapped_procs[i];
		if (!gets_hqds(e, p))
			continue;
		if (!e->leveled)
			waiting[0] += p->nwaiting;
		for (q = e->leveled ? p->waiting : NULL; q; q = q->next_wait) {
			e->visits++;
			waiting[queue_level(e, q)]++;
		}
	}
	for (;;) {
		best.n = 0;
		best.max = min_u32(unserved(waiting, leaving, &level), BEST_MAX);
		if (level < 0)
			break;
		for (q = e->mapped; q; q = q->next_mapped) {
			e->visits++;
			if (q->state != ENG_Q_ON || q->own_engine)
				continue;
			has = queue_level(e, q);
			if (yields(e, has, queue_expired(e, q), level))
				best_add(&best, q, ENG_LEVELS - has);
		}
		for (i = 0; i < best.n; i++)
			eng_save_begin(e, best.q[i]);
		leaving += best.n;
		if (best.n < best.max)
			return;
	}
	if (!any(waiting))
		return;
	for (q = e->mapped; q; q = q->next_mapped) {
		e->visits++;
		if (q->state == ENG_Q_ON && queue_expired(e, q))
			q->since = e->now;	/* not needed: another quantum */
	}
}

/* When the next quantum of a process ends that a process waits for */
static u64 next_process(struct engine *e)
{
	const struct eng_proc *p;
	u64 t = ENG_NEVER, x;
	bool waits = false;
	u32 i;

	for_each_proc(e, p) {
		e->visits++;
		waits |= eng_proc_waits(p);
	}
	for (i = 0; waits && i < e->nmapped_procs; i++) {
		p = e->mapped_procs[i];
		x = p->since + eng_proc_quantum(e, p);
		if (!p->leaving && x > e->now && x < t)
			t = x;
	}
	return t;
}

/* The same of queues */
static u64 next_queue(struct engine *e)
{
	const struct eng_queue *q;
	const struct eng_proc *p;
	u64 t = ENG_NEVER, x;
	bool waits = false;
	u32 i;

	for (i = 0; i < e->nmapped_procs; i++) {
		e->visits++;
		p = e->mapped_procs[i];
		waits |= !p->leaving && (p->nwaiting || p->own_waiting);
	}
	for (q = waits ? e->mapped : NULL; q; q = q->next_mapped) {
		e->visits++;
		x = q->since + eng_queue_quantum(e, q);
		if (q->state == ENG_Q_ON && q->proc->vmid >= 0 && !q->proc->leaving &&
		    x > e->now && x < t)
			t = x;
	}
	return t;
}

/**
 * eng_settle_map - give and take VMIDs and HQDs as the rules say
 * @e: the engine
 *
 * VMIDs only if that may have changed: the cost of a queue that gets or leaves an HQD does not
 * depend on the number of processes, nor of queues that wait.
 */
void eng_settle_map(struct engine *e)
{
	bool procs = e->remap_procs || e->leveled || e->now >= e->procs_at;

	e->remap_procs = false;
	if (procs)
		settle_procs(e);
	settle_queues(e);
	if (procs)
		e->procs_at = next_process(e);
	e->map_at = min_u64(e->procs_at, next_queue(e));
}
