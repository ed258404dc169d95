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

/**
 * eng_save_begin - stop a queue now; its state is written when the copy path is free
 * @e: the engine
 * @q: ENG_Q_ON
 */
void eng_save_begin(struct engine *e, struct eng_queue *q)
{
	u64 bytes = 0, cost = 0, start;
	bool live = false;
	u32 i;

	for (i = 0; i < q->nwork; i++)
		if (q->work[i].running && q->work[i].slot) {
			bytes += q->work[i].live_bytes;
			live = true;
		}
	start = e->now;
	if (live) {
		start = max_u64(start, e->dma_free);
		cost = e->cfg.save_ns + copy_time(e, bytes);
		e->dma_free = start + cost;
		e->saves++;
		q->saves++;
		e->save_time_ns += cost;
	}
	q->state = ENG_Q_SAVING;
	q->until = start + cost;
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
	q->since = e->now;
	q->order = ++e->seq;
}

static void restore_begin(struct engine *e, struct eng_queue *q)
{
	u64 bytes = 0, start, cost;
	bool live = false;
	u32 i;

	q->since = e->now;
	q->order = ++e->seq;
	for (i = 0; i < q->nwork; i++)
		if (q->work[i].slot) {
			bytes += q->work[i].live_bytes;
			live = true;
		}
	if (!live) {
		q->state = ENG_Q_ON;
		return;
	}
	start = max_u64(e->now, e->dma_free);
	cost = e->cfg.restore_ns + copy_time(e, bytes);
	e->dma_free = start + cost;
	e->save_time_ns += cost;
	q->state = ENG_Q_RESTORING;
	q->until = start + cost;
}

/**
 * eng_restore_end - its state is read. Quanta count from here
 * @e: the engine
 * @q: ENG_Q_RESTORING
 */
void eng_restore_end(struct engine *e, struct eng_queue *q)
{
	q->state = ENG_Q_ON;
	if (q->since == q->proc->since)		/* the first since it has its VMID */
		q->proc->since = e->now;
	q->since = e->now;
}

/**
 * eng_dma_recount - an unmap has cut restores short: free the copy path of them
 * @e: the engine
 */
void eng_dma_recount(struct engine *e)
{
	const struct eng_proc *p;
	const struct eng_queue *q;

	e->dma_free = e->now;
	for_each_proc(e, p)
		for_each_queue(p, q)
			if (q->state == ENG_Q_SAVING || q->state == ENG_Q_RESTORING)
				e->dma_free = max_u64(e->dma_free, q->until);
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
	u32 i;

	for_each_proc(e, p)
		if (p->vmid >= 0)
			used |= 1ULL << p->vmid;
	for (i = 0; i < e->cfg.vmids && i < 64; i++)
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

/* Free VMIDs go to those waiting longest */
static void map_procs(struct engine *e)
{
	struct eng_proc *p, *best;
	int v;

	for_each_proc(e, p)
		if (p->leaving && eng_proc_off(p)) {
			p->leaving = false;
			p->vmid = -1;
			p->since = e->now;
			p->order = ++e->seq;
		}
	for (;;) {
		best = NULL;
		for_each_proc(e, p)
			if (p->vmid < 0 && !p->held && (!best || p->order < best->order))
				best = p;
		v = best ? free_vmid(e) : -1;
		if (v < 0)
			return;
		best->vmid = v;
		best->since = e->now;
		best->order = ++e->seq;
	}
}

/* Give VMIDs; when quanta are over and others wait, begin to take them away */
static void settle_procs(struct engine *e)
{
	u32 waiting = 0, leaving = 0;
	struct eng_proc *p, *best;
	struct eng_queue *q;

	map_procs(e);
	for_each_proc(e, p) {
		waiting += p->vmid < 0 && !p->held;
		leaving += p->vmid >= 0 && p->leaving;
	}
	for (; leaving < waiting; leaving++) {
		best = NULL;
		for_each_proc(e, p)
			if (p->vmid >= 0 && !p->leaving && !proc_restoring(p) &&
			    p->since + e->cfg.process_quantum_ns <= e->now &&
			    (!best || p->order < best->order))
				best = p;
		if (!best)
			break;
		best->leaving = true;
		for_each_queue(best, q)
			if (q->state == ENG_Q_ON)
				eng_save_begin(e, q);
	}
	map_procs(e);
}

/* The same for HQDs among the queues of mapped processes */
static void settle_queues(struct engine *e)
{
	struct eng_queue *q, *best;
	u32 used = eng_used_hqds(e), waiting = 0, leaving = 0;
	struct eng_proc *p;

	for (;;) {
		best = NULL;
		for_each_proc(e, p) {
			if (p->vmid < 0 || p->leaving)
				continue;
			for_each_queue(p, q) {
				if (q->state != ENG_Q_OFF)
					continue;
				if (q->own_engine)
					restore_begin(e, q);
				else if (!best || q->order < best->order)
					best = q;
			}
		}
		if (!best || used >= e->cfg.hqds)
			break;
		restore_begin(e, best);
		used++;
	}
	for_each_proc(e, p)
		if (p->vmid >= 0 && !p->leaving)
			for_each_queue(p, q) {
				waiting += q->state == ENG_Q_OFF;
				leaving += q->state == ENG_Q_SAVING && !q->own_engine;
			}
	for (; leaving < waiting; leaving++) {
		best = NULL;
		for_each_proc(e, p)
			for_each_queue(p, q)
				if (q->state == ENG_Q_ON && !q->own_engine &&
				    q->since + e->cfg.gang_quantum_ns <= e->now &&
				    (!best || q->order < best->order))
					best = q;
		if (!best)
			return;
		eng_save_begin(e, best);
	}
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
