// SPDX-License-Identifier: GPL-2.0
/* The rules of tests/sim/engine.h, once more: VMIDs, HQDs, the copy path; see reference.h */
#include "reference-int.h"

void ref_push(struct line *l, int id)
{
	l->id[l->n++] = id;
}

static int place(const struct line *l, int id)
{
	for (int i = 0; i < l->n; i++)
		if (l->id[i] == id)
			return i;
	return -1;
}

void ref_drop(struct line *l, int id)
{
	int at = place(l, id);

	if (at < 0)
		return;
	l->n--;
	for (; at < l->n; at++)
		l->id[at] = l->id[at + 1];
}

void ref_requeue(struct line *from, struct line *to, int id)
{
	ref_drop(from, id);
	ref_drop(to, id);
	ref_push(to, id);
}

/* All queues of the runlist, process by process */
struct line ref_all_queues(const struct ref *r)
{
	struct line l = {};

	for (int i = 0; i < r->runlist.n; i++)
		for (int k = 0; k < r->proc[r->runlist.id[i]].queues.n; k++)
			ref_push(&l, r->proc[r->runlist.id[i]].queues.id[k]);
	return l;
}

/* ---- work ---- */

const struct script_item *ref_item(const struct ref *r, int q, const struct ref_work *w)
{
	return &r->script[q].item[w->item];
}

/* What the queue's ring would give next; NULL: nothing */
const struct script_item *ref_offered(const struct ref *r, int q)
{
	const struct script_item *i = &r->script[q].item[r->queue[q].next];

	if (r->queue[q].next == r->script[q].n)
		return NULL;
	if (i->dep_queue >= 0 && !r->rec[i->dep_queue].times[i->dep_item])
		return NULL;
	return i;
}

static u64 copy_ns(const struct ref *r, u64 fixed, u64 bytes)
{
	return fixed + (r->cfg.bytes_per_us ? bytes * 1000 / r->cfg.bytes_per_us : 0);
}

/* ---- the copy path ---- */

static void copy(struct ref *r, int q, u64 ns)
{
	r->path_left[q] = ns;
	ref_push(&r->path, q);
	r->queue[q].copying = true;
}

void ref_cut(struct ref *r, int q)
{
	ref_drop(&r->path, q);
	r->queue[q].copying = false;
	r->queue[q].state = ENG_Q_OFF;
	ref_requeue(&r->q_have, &r->q_wait, q);
}

void ref_save(struct ref *r, int q)
{
	struct ref_queue *x = &r->queue[q];
	u64 bytes = 0;
	bool live = false;

	for (u32 i = 0; i < x->nwork; i++)
		if (x->work[i].runs && ref_item(r, q, &x->work[i])->slot) {
			bytes += ref_item(r, q, &x->work[i])->bytes;
			live = true;
		}
	x->state = ENG_Q_SAVING;
	if (!live)
		return;
	copy(r, q, copy_ns(r, r->cfg.save_ns, bytes));
	x->saves++;
	r->saves++;
}

static void restore(struct ref *r, int q)
{
	struct ref_queue *x = &r->queue[q];
	struct ref_proc *p = &r->proc[x->proc];
	u64 bytes = 0;
	bool live = false;

	ref_requeue(&r->q_wait, &r->q_have, q);
	x->since = r->now;
	x->back = true;
	x->first = p->fresh && p->since == r->now;
	for (u32 i = 0; i < x->nwork; i++)
		if (ref_item(r, q, &x->work[i])->slot) {
			bytes += ref_item(r, q, &x->work[i])->bytes;
			live = true;
		}
	x->state = live ? ENG_Q_RESTORING : ENG_Q_ON;
	if (live)
		copy(r, q, copy_ns(r, r->cfg.restore_ns, bytes));
}

/* ---- who has what ---- */

static u32 level_of_queue(const struct ref *r, int q)
{
	const struct script_item *i = ref_offered(r, q);

	if (r->sees_rings && r->queue[q].next < r->script[q].n)
		return r->queue[q].level;
	return r->queue[q].nwork || (i && i->avail <= r->now) ? r->queue[q].level : 0;
}

static u32 level_of_proc(const struct ref *r, int p)
{
	u32 best = 0;

	for (int i = 0; i < r->proc[p].queues.n; i++) {
		int q = r->proc[p].queues.id[i];

		if (!r->queue[q].held && level_of_queue(r, q) > best)
			best = level_of_queue(r, q);
	}
	return best;
}

static bool all_held(const struct ref *r, int p)
{
	for (int i = 0; i < r->proc[p].queues.n; i++)
		if (!r->queue[r->proc[p].queues.id[i]].held)
			return false;
	return r->proc[p].queues.n > 0;
}

bool ref_proc_waits(const struct ref *r, int p)
{
	return !r->proc[p].has_vmid && !r->proc[p].held && !all_held(r, p);
}

static bool has_queue_in(const struct ref *r, int p, enum eng_qstate state)
{
	for (int i = 0; i < r->proc[p].queues.n; i++)
		if (r->queue[r->proc[p].queues.id[i]].state == state)
			return true;
	return false;
}

bool ref_off(const struct ref *r, int p)
{
	return !has_queue_in(r, p, ENG_Q_ON) && !has_queue_in(r, p, ENG_Q_SAVING) &&
	       !has_queue_in(r, p, ENG_Q_RESTORING);
}

static bool proc_expired(const struct ref *r, int p)
{
	u64 quantum = r->proc[p].quantum ? r->proc[p].quantum : r->cfg.process_quantum_ns;

	return r->now >= r->proc[p].since + quantum;
}

u64 ref_queue_quantum(const struct ref *r, int q)
{
	return r->queue[q].quantum ? r->queue[q].quantum : r->cfg.gang_quantum_ns;
}

static bool must_yield(const struct ref *r, u32 has, bool expired, u32 wants)
{
	if (has > wants)
		return false;
	return expired || (has < wants && r->cfg.level_preempt);
}

static bool proc_must_yield(const struct ref *r, int p, u32 wants)
{
	u32 has = all_held(r, p) ? 0 : level_of_proc(r, p);

	return !r->proc[p].leaving &&
	       must_yield(r, has, all_held(r, p) || proc_expired(r, p), wants);
}

/* Of those who wait in @levels (-1: does not wait), the one after @promised better ones */
static int next_level(const int *levels, int n, int promised)
{
	for (int level = ENG_LEVELS - 1; level >= 0; level--)
		for (int i = 0; i < n; i++)
			if (levels[i] == level && promised-- == 0)
				return level;
	return -1;
}

static void give_vmids(struct ref *r)
{
	for (int i = 0; i < r->runlist.n; i++) {
		int p = r->runlist.id[i];

		if (r->proc[p].leaving && ref_off(r, p)) {
			r->proc[p].leaving = false;
			r->proc[p].has_vmid = false;
			ref_requeue(&r->vm_have, &r->vm_wait, p);
		}
	}
	while ((u32)r->vm_have.n < r->cfg.vmids) {
		int best = -1;

		for (int i = 0; i < r->vm_wait.n; i++) {
			int p = r->vm_wait.id[i];

			if (ref_proc_waits(r, p) &&
			    (best < 0 || level_of_proc(r, p) > level_of_proc(r, best)))
				best = p;
		}
		if (best < 0)
			return;
		ref_requeue(&r->vm_wait, &r->vm_have, best);
		r->proc[best].has_vmid = true;
		r->proc[best].fresh = true;
		r->proc[best].since = r->now;
	}
}

static bool take_vmids(struct ref *r)
{
	int levels[REF_PROCS], n = 0, promised = 0, level;
	bool left = false;

	for (int i = 0; i < r->runlist.n; i++) {
		int p = r->runlist.id[i];

		r->proc[p].overdue = false;
		if (ref_proc_waits(r, p))
			levels[n++] = level_of_proc(r, p);
		promised += r->proc[p].has_vmid && r->proc[p].leaving;
	}
	while ((level = next_level(levels, n, promised)) >= 0) {
		int best = -1;

		for (int i = 0; i < r->vm_have.n; i++) {
			int p = r->vm_have.id[i];

			if (proc_must_yield(r, p, level) && !has_queue_in(r, p, ENG_Q_RESTORING) &&
			    (best < 0 || (all_held(r, p) ? 0 : level_of_proc(r, p)) <
					 (all_held(r, best) ? 0 : level_of_proc(r, best))))
				best = p;
		}
		if (best < 0)
			break;
		r->proc[best].leaving = true;
		for (int i = 0; i < r->proc[best].queues.n; i++)
			if (r->queue[r->proc[best].queues.id[i]].state == ENG_Q_ON)
				ref_save(r, r->proc[best].queues.id[i]);
		left |= ref_off(r, best);
		promised++;
	}
	for (int i = 0; i < r->vm_have.n; i++) {
		int p = r->vm_have.id[i];

		if (level >= 0)
			r->proc[p].overdue = proc_must_yield(r, p, level);
		else if (n && !r->proc[p].leaving && proc_expired(r, p))
			r->proc[p].since = r->now;
	}
	return left;
}

/* May the queue have an HQD, which it has not? */
static bool queue_waits(const struct ref *r, int q)
{
	const struct ref_queue *x = &r->queue[q];
	const struct ref_proc *p = &r->proc[x->proc];

	return x->state == ENG_Q_OFF && !x->held && p->has_vmid && !p->leaving && !p->overdue;
}

static int used_hqds(const struct ref *r)
{
	int n = 0;

	for (int i = 0; i < r->q_have.n; i++)
		n += !r->queue[r->q_have.id[i]].own_engine;
	return n;
}

static void give_hqds(struct ref *r)
{
	struct line l = ref_all_queues(r);

	/* engines of their own, in the order in which the others are looked at */
	for (;;) {
		int best = -1;

		for (int i = 0; i < l.n; i++)
			if (r->queue[l.id[i]].own_engine && queue_waits(r, l.id[i]))
				restore(r, l.id[i]);
		for (int i = 0; i < r->q_wait.n; i++) {
			int q = r->q_wait.id[i];

			if (queue_waits(r, q) &&
			    (best < 0 || level_of_queue(r, q) > level_of_queue(r, best)))
				best = q;
		}
		if (best < 0 || (u32)used_hqds(r) >= r->cfg.hqds)
			return;
		restore(r, best);
	}
}

static void take_hqds(struct ref *r)
{
	int levels[REF_QUEUES], n = 0, promised = 0, level;
	struct line l = ref_all_queues(r);

	for (int i = 0; i < l.n; i++) {
		if (r->queue[l.id[i]].own_engine)
			continue;
		if (queue_waits(r, l.id[i]))
			levels[n++] = level_of_queue(r, l.id[i]);
		promised += r->queue[l.id[i]].state == ENG_Q_SAVING;
	}
	while ((level = next_level(levels, n, promised)) >= 0) {
		int best = -1;

		for (int i = 0; i < r->q_have.n; i++) {
			int q = r->q_have.id[i];
			bool expired = r->now >= r->queue[q].since + ref_queue_quantum(r, q);

			if (r->queue[q].state == ENG_Q_ON && !r->queue[q].own_engine &&
			    must_yield(r, level_of_queue(r, q), expired, level) &&
			    (best < 0 || level_of_queue(r, q) < level_of_queue(r, best)))
				best = q;
		}
		if (best < 0)
			return;
		ref_save(r, best);
		promised++;
	}
	for (int i = 0; i < l.n && n; i++)
		if (r->queue[l.id[i]].state == ENG_Q_ON &&
		    r->now >= r->queue[l.id[i]].since + ref_queue_quantum(r, l.id[i]))
			r->queue[l.id[i]].since = r->now;
}

/* Who has a VMID and an HQD, now */
void ref_map(struct ref *r)
{
	do
		give_vmids(r);
	while (take_vmids(r));
	give_hqds(r);
	take_hqds(r);
}
