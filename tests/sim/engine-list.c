// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the model of a GPU's queue hardware: the runlist, and of its queues those that do
 * something. The rules are in engine.h.
 */
#include "engine-int.h"

/**
 * eng_activate - a queue has an HQD and may do something
 * @e: the engine
 * @q: the queue; it is in the runlist since before the last settle()
 */
void eng_activate(struct engine *e, struct eng_queue *q)
{
	struct eng_queue *prev = NULL, *next = e->active;

	if (q->active)
		return;
	for (; next && next->place < q->place; next = next->next_active)
		prev = next;
	q->active = true;
	q->prev_active = prev;
	q->next_active = next;
	if (next)
		next->prev_active = q;
	if (prev)
		prev->next_active = q;
	else
		e->active = q;
}

/**
 * eng_deactivate - a queue does nothing, and has nothing to do
 * @e: the engine
 * @q: the queue
 */
void eng_deactivate(struct engine *e, struct eng_queue *q)
{
	if (!q->active)
		return;
	if (q->next_active)
		q->next_active->prev_active = q->prev_active;
	if (q->prev_active)
		q->prev_active->next_active = q->next_active;
	else
		e->active = q->next_active;
	q->active = false;
}

/**
 * eng_busy_update - a queue was launched, completed, or has another state
 * @e: the engine
 * @q: the queue
 */
void eng_busy_update(struct engine *e, struct eng_queue *q)
{
	bool busy = q->state == ENG_Q_SAVING || q->state == ENG_Q_RESTORING ||
		    (q->state == ENG_Q_ON && q->nwork);
	struct eng_queue *prev = NULL, *next = e->busy;

	if (busy == q->busy)
		return;
	q->busy = busy;
	if (!busy) {
		if (q->next_busy)
			q->next_busy->prev_busy = q->prev_busy;
		if (q->prev_busy)
			q->prev_busy->next_busy = q->next_busy;
		else
			e->busy = q->next_busy;
		return;
	}
	for (; next && next->place < q->place; next = next->next_busy)
		prev = next;
	q->prev_busy = prev;
	q->next_busy = next;
	if (next)
		next->prev_busy = q;
	if (prev)
		prev->next_busy = q;
	else
		e->busy = q;
}

static void wait_add(struct eng_queue *q)
{
	struct eng_proc *p = q->proc;
	struct eng_queue *prev = p->last_waiting, *next;

	/* they come in their order, but for those whose restore was cut short */
	while (prev && prev->order > q->order)
		prev = prev->prev_wait;
	next = prev ? prev->next_wait : p->waiting;
	q->prev_wait = prev;
	q->next_wait = next;
	if (next)
		next->prev_wait = q;
	else
		p->last_waiting = q;
	if (prev)
		prev->next_wait = q;
	else
		p->waiting = q;
	p->nwaiting++;
}

static void wait_del(struct eng_queue *q)
{
	struct eng_proc *p = q->proc;

	if (q->next_wait)
		q->next_wait->prev_wait = q->prev_wait;
	else
		p->last_waiting = q->prev_wait;
	if (q->prev_wait)
		q->prev_wait->next_wait = q->next_wait;
	else
		p->waiting = q->next_wait;
	p->nwaiting--;
}

static void wait_set(struct engine *e, struct eng_queue *q, bool waits)
{
	if (waits == q->waits)
		return;
	q->waits = waits;
	if (q->own_engine) {
		q->proc->own_waiting += waits ? 1 : -1;
		e->own_waiting += waits ? 1 : -1;
	} else if (waits) {
		wait_add(q);
	} else {
		wait_del(q);
	}
}

/**
 * eng_wait_update - a queue is held, or is no more, or its order is another one
 * @e: the engine
 * @q: the queue
 */
void eng_wait_update(struct engine *e, struct eng_queue *q)
{
	wait_set(e, q, false);
	wait_set(e, q, q->state == ENG_Q_OFF && !q->held);
}

static void mapped_set(struct engine *e, struct eng_queue *q, bool mapped)
{
	if (mapped) {
		q->prev_mapped = NULL;
		q->next_mapped = e->mapped;
		if (e->mapped)
			e->mapped->prev_mapped = q;
		e->mapped = q;
	} else {
		if (q->next_mapped)
			q->next_mapped->prev_mapped = q->prev_mapped;
		if (q->prev_mapped)
			q->prev_mapped->next_mapped = q->next_mapped;
		else
			e->mapped = q->next_mapped;
	}
	q->proc->nmapped += mapped ? 1 : -1;
	if (!q->own_engine)
		e->nhqds += mapped ? 1 : -1;
}

/**
 * eng_state - a queue gets another state
 * @e: the engine
 * @q: the queue, in the runlist
 * @state: the state; ENG_Q_OFF: eng_queue.order is set already
 */
void eng_state(struct engine *e, struct eng_queue *q, enum eng_qstate state)
{
	bool was_off = q->state == ENG_Q_OFF, off = state == ENG_Q_OFF;
	enum eng_qstate was = q->state;

	q->state = state;
	q->wants = false;
	q->proc->nrestoring += (state == ENG_Q_RESTORING) - (was == ENG_Q_RESTORING);
	if (!q->own_engine)
		e->nsaving += (state == ENG_Q_SAVING) - (was == ENG_Q_SAVING);
	if (was_off != off) {
		mapped_set(e, q, !off);
		wait_set(e, q, off && !q->held);
	}
	eng_busy_update(e, q);
}

/**
 * eng_vmid - a process gets a VMID or gives it up
 * @e: the engine
 * @p: the process
 * @vmid: the VMID, or -1
 */
void eng_vmid(struct engine *e, struct eng_proc *p, int vmid)
{
	struct eng_proc *last;

	if (p->vmid < 0 && vmid >= 0) {
		p->at = e->nmapped_procs++;
		e->mapped_procs[p->at] = p;
	} else if (p->vmid >= 0 && vmid < 0) {
		last = e->mapped_procs[--e->nmapped_procs];
		e->mapped_procs[p->at] = last;
		last->at = p->at;
	}
	p->vmid = vmid;
}

/**
 * eng_wake - a queue that was quiet may have something to launch
 * @e: the engine
 * @q: the queue; takes effect with the next eng_advance()
 */
void eng_wake(struct engine *e, struct eng_queue *q)
{
	q->quiet = false;
	e->remap |= e->leveled;
	if (q->state == ENG_Q_ON)
		eng_activate(e, q);
}

/**
 * eng_add_proc - append a process without queues to the runlist
 * @e: the engine
 * @p: zeroed by the owner
 */
void eng_add_proc(struct engine *e, struct eng_proc *p)
{
	struct eng_proc **pp = &e->procs;

	while (*pp)
		pp = &(*pp)->next;
	*pp = p;
	e->changed = true;
	p->next = NULL;
	p->waiting = NULL;
	p->last_waiting = NULL;
	p->nwaiting = 0;
	p->own_waiting = 0;
	p->nmapped = 0;
	p->nrestoring = 0;
	p->vmid = -1;
	p->leaving = false;
	p->held = false;
	p->since = e->now;
	p->order = ++e->seq;
}

/**
 * eng_add_queue - append a queue to a process of the runlist
 * @e: the engine
 * @p: the process
 * @q: the owner sets the priorities, the level, @held, and @nwork and @work if it was saved;
 *	takes effect at the present time, with the next eng_advance()
 */
void eng_add_queue(struct engine *e, struct eng_proc *p, struct eng_queue *q)
{
	struct eng_queue **qp = &p->queues;
	u32 i;

	while (*qp)
		qp = &(*qp)->next;
	*qp = q;
	e->changed = true;
	q->next = NULL;
	q->proc = p;
	q->state = ENG_Q_OFF;
	q->active = false;
	q->busy = false;
	q->waits = false;
	q->wants = false;
	q->quiet = false;
	q->pipe = 0;
	q->has_pipe = false;
	q->since = e->now;
	q->order = ++e->seq;
	q->idle = true;		/* until it is seen with work */
	for (i = 0; i < q->nwork; i++)
		q->work[i].running = false;
	eng_wait_update(e, q);
}

/**
 * eng_turn_over - it is not the turn of a queue
 * @e: the engine
 * @q: the queue; it leaves, or it leaves its pipe
 */
void eng_turn_over(struct engine *e, const struct eng_queue *q)
{
	u32 i;

	for (i = 0; i < ENG_PIPES; i++)
		if (e->turn[i] == q)
			e->turn[i] = NULL;
}

/**
 * eng_remove_proc - take a process off the runlist
 * @e: the engine
 * @p: its queues go with it, whatever their state: unmap them first
 */
void eng_remove_proc(struct engine *e, struct eng_proc *p)
{
	struct eng_proc **pp = &e->procs;
	struct eng_queue *q;

	for_each_queue(p, q) {
		eng_copy_cancel(e, q);
		wait_set(e, q, false);
		eng_turn_over(e, q);
	}
	eng_vmid(e, p, -1);
	while (*pp && *pp != p)
		pp = &(*pp)->next;
	if (*pp)
		*pp = p->next;
	e->changed = true;
}

/**
 * eng_remove_queue - take one queue off the runlist
 * @e: the engine
 * @q: unmap it first
 */
void eng_remove_queue(struct engine *e, struct eng_queue *q)
{
	struct eng_queue **qp = &q->proc->queues;

	eng_copy_cancel(e, q);
	wait_set(e, q, false);
	while (*qp && *qp != q)
		qp = &(*qp)->next;
	if (*qp)
		*qp = q->next;
	e->changed = true;
	eng_turn_over(e, q);
}

/**
 * eng_renumber - the runlist is another one: places in it, and what depends on all queues
 * @e: the engine
 */
void eng_renumber(struct engine *e)
{
	struct eng_queue *q;
	struct eng_proc *p;
	u32 place = 0;
	u64 *front;

	e->changed = false;
	e->remap = true;
	e->remap_procs = true;
	e->leveled = false;
	memset(e->front, 0, sizeof(e->front));
	for_each_proc(e, p)
		for_each_queue(p, q) {
			e->visits++;
			q->place = place++;
			e->leveled |= q->level;
			front = eng_front(e, q);
			*front = max_u64(*front, q->front);
		}
}
