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
	q->quiet = false;
	q->pipe = 0;
	q->has_pipe = false;
	q->since = e->now;
	q->order = ++e->seq;
	q->idle = true;		/* until it is seen with work */
	for (i = 0; i < q->nwork; i++)
		q->work[i].running = false;
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
		eng_turn_over(e, q);
	}
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
