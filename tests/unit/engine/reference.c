// SPDX-License-Identifier: GPL-2.0
/* The rules of tests/sim/engine.h, once more: launches, time; see reference.h */
#include <string.h>

#include "reference-int.h"

/* ---- launches ---- */

struct candidate {
	int q, restored;	/* index of a restored work, or -1 */
	u64 avail, ns;
	bool slot;
};

static bool find_candidate(const struct ref *r, int q, struct candidate *c)
{
	const struct ref_queue *x = &r->queue[q];
	const struct script_item *i = ref_offered(r, q);

	*c = (struct candidate){ .q = q, .restored = -1 };
	if (x->state != ENG_Q_ON)
		return false;
	for (u32 k = 0; k < x->nwork; k++)
		if (!x->work[k].runs) {
			c->restored = k;
			c->avail = x->work[k].avail;
			c->ns = x->work[k].left;
			c->slot = ref_item(r, q, &x->work[k])->slot;
			return true;
		}
	if (x->nwork == ENG_INFLIGHT || !i ||
	    (x->nwork && ref_item(r, q, &x->work[x->nwork - 1])->blocks))
		return false;
	c->avail = i->avail;
	c->ns = i->ns;
	c->slot = i->slot;
	return true;
}

static void launch(struct ref *r, const struct candidate *c)
{
	struct ref_queue *x = &r->queue[c->q];
	struct ref_work *w = &x->work[c->restored < 0 ? (int)x->nwork : c->restored];

	if (c->restored < 0) {
		x->nwork++;
		*w = (struct ref_work){ .item = x->next, .left = c->ns, .avail = c->avail };
		r->rec[c->q].launched[x->next++] = r->now;
	}
	w->runs = true;
	if (w->avail < r->now)
		w->avail = r->now;
}

static u64 committed(const struct ref *r, int q)
{
	const struct ref_queue *x = &r->queue[q];
	u64 n = x->service;

	for (u32 i = 0; i < x->nwork; i++)
		if (x->work[i].runs && ref_item(r, q, &x->work[i])->slot)
			n += x->work[i].left;
	return n;
}

static void wants_a_slot(struct ref *r, int q)
{
	struct ref_queue *x = &r->queue[q];
	u64 front = 0, lag = x->idle ? 0 : ENG_LAG_QUANTA * r->cfg.process_quantum_ns;
	struct line l = ref_all_queues(r);

	if (x->idle || x->back)
		for (int i = 0; i < l.n; i++) {
			const struct ref_queue *y = &r->queue[l.id[i]];

			if (y->pipe == x->pipe && y->prio == x->prio && y->front > front)
				front = y->front;
		}
	x->idle = false;
	x->back = false;
	if (front > lag && x->service < front - lag)
		x->service = front - lag;
}

static bool has_turn(const struct ref *r, int q)
{
	return r->turn == q && r->queue[q].turn < ref_queue_quantum(r, q);
}

/* Plain turns: how many steps it is from the queue whose turn it is to this one */
static u64 steps(const struct ref *r, int q)
{
	int order[REF_QUEUES], n = 0, p, i, from = -1, to = 0;

	for (p = 0; p < r->runlist.n; p++)
		for (i = 0; i < r->proc[r->runlist.id[p]].queues.n; i++)
			order[n++] = r->proc[r->runlist.id[p]].queues.id[i];
	for (i = 0; i < n; i++) {
		from = order[i] == r->turn ? i : from;
		to = order[i] == q ? i : to;
	}
	return to > from ? to - from : to - from + n;
}

/* Keep those of @c that are best by one criterion after the other, until one is left */
static struct candidate choose(const struct ref *r, const struct candidate *c, int n)
{
	struct candidate in[REF_QUEUES];
	int step, i, m;
	u64 key, best;

	memcpy(in, c, n * sizeof(*c));
	for (step = 0; step < 6; step++)
		for (best = ENG_NEVER, m = 0, i = 0; i < n; i++) {
			const struct ref_queue *x = &r->queue[in[i].q];

			key = step == 0 ? 1000 - x->pipe : step == 1 ? 1000 - x->prio :
			      step == 2 ? in[i].avail > r->now : step == 3 ? !has_turn(r, in[i].q) :
			      r->cfg.plain_turns ? steps(r, in[i].q) :
			      step == 4 ? committed(r, in[i].q) : x->served;
			if (key < best) {
				best = key;
				m = 0;
			}
			if (key == best)
				in[m++] = in[i];
			if (i == n - 1)
				n = m;
		}
	return in[0];
}

static u32 used_slots(const struct ref *r)
{
	struct line l = ref_all_queues(r);
	u32 used = 0;

	for (int i = 0; i < l.n; i++)
		for (u32 k = 0; k < r->queue[l.id[i]].nwork; k++) {
			const struct ref_work *w = &r->queue[l.id[i]].work[k];

			used += w->runs && ref_item(r, l.id[i], w)->slot;
		}
	return used;
}

static void launches(struct ref *r)
{
	struct candidate c, in[REF_QUEUES];
	struct line l = ref_all_queues(r);
	bool again;
	int n;

	do {
		again = false;
		n = 0;
		for (int i = 0; i < l.n; i++) {
			struct ref_queue *x = &r->queue[l.id[i]];

			if (!find_candidate(r, l.id[i], &c)) {
				if (x->state == ENG_Q_ON && !x->nwork)
					x->idle = true;
			} else if (!c.slot) {
				launch(r, &c);
				again = true;
			} else {
				wants_a_slot(r, l.id[i]);
				in[n++] = c;
			}
		}
		if (again || !n || used_slots(r) >= r->cfg.slots)
			continue;
		c = choose(r, in, n);
		if (!has_turn(r, c.q)) {
			r->turn = c.q;
			r->queue[c.q].turn = 0;
			if (committed(r, c.q) > r->queue[c.q].front)
				r->queue[c.q].front = committed(r, c.q);
		}
		r->queue[c.q].turn += c.ns;
		r->queue[c.q].served = ++r->serial;
		launch(r, &c);
		again = true;
	} while (again);
}

/* ---- time ---- */

/* What comes to its end now */
static bool ends(struct ref *r)
{
	struct line l = ref_all_queues(r);
	bool any = false;

	while (r->path.n && !r->path_left[r->path.id[0]]) {
		r->queue[r->path.id[0]].copying = false;
		ref_drop(&r->path, r->path.id[0]);
	}
	for (int i = 0; i < l.n; i++) {
		struct ref_queue *x = &r->queue[l.id[i]];

		if (x->state == ENG_Q_SAVING && !x->copying) {
			x->state = ENG_Q_OFF;
			for (u32 k = 0; k < x->nwork; k++)
				x->work[k].runs = false;
			ref_requeue(&r->q_have, &r->q_wait, l.id[i]);
			any = true;
		} else if (x->state == ENG_Q_RESTORING && !x->copying) {
			x->state = ENG_Q_ON;
			x->since = r->now;
			if (x->first && r->proc[x->proc].fresh) {
				r->proc[x->proc].fresh = false;
				r->proc[x->proc].since = r->now;
			}
			any = true;
		}
		for (u32 k = 0; x->state == ENG_Q_ON && k < x->nwork;) {
			struct ref_work *w = &x->work[k];

			if (!w->runs || w->left || w->avail > r->now) {
				k++;
				continue;
			}
			r->rec[l.id[i]].completed[w->item] = r->now;
			r->rec[l.id[i]].times[w->item]++;
			x->nwork--;
			memmove(w, w + 1, (x->nwork - k) * sizeof(*w));
			any = true;
		}
	}
	return any;
}

static void settle(struct ref *r)
{
	do {
		ref_map(r);
		launches(r);
	} while (ends(r));
}

/* One nanosecond passes */
static void pass(struct ref *r)
{
	struct line l = ref_all_queues(r);

	if (r->path.n) {
		r->path_left[r->path.id[0]]--;
		r->copied++;
	}
	for (int i = 0; i < l.n; i++) {
		struct ref_queue *x = &r->queue[l.id[i]];

		for (u32 k = 0; x->state == ENG_Q_ON && k < x->nwork; k++) {
			struct ref_work *w = &x->work[k];

			if (!w->runs || w->avail > r->now)
				continue;
			w->left--;
			w->ran++;
			x->ran++;
			if (ref_item(r, l.id[i], w)->slot) {
				x->service++;
				r->busy++;
			}
		}
	}
	r->now++;
}

void ref_advance(struct ref *r, u64 now)
{
	settle(r);
	while (r->now < now) {
		pass(r);
		ends(r);
		settle(r);
	}
}

/* Nothing happens for a time, and nothing counts it */
void ref_stall(struct ref *r, u64 ns)
{
	struct line l = ref_all_queues(r);

	r->now += ns;
	for (int i = 0; i < r->runlist.n; i++)
		r->proc[r->runlist.id[i]].since += ns;
	for (int i = 0; i < l.n; i++)
		r->queue[l.id[i]].since += ns;
}

/* ---- the runlist ---- */

void ref_init(struct ref *r, const struct eng_config *cfg, const struct script *script)
{
	*r = (struct ref){ .cfg = *cfg, .script = script, .turn = -1 };
}

void ref_add_proc(struct ref *r, int p, u64 quantum)
{
	r->proc[p] = (struct ref_proc){ .in = true, .quantum = quantum };
	ref_push(&r->runlist, p);
	ref_push(&r->vm_wait, p);
}

/* What describes the queue and what is left of its work is there already */
void ref_add_queue(struct ref *r, int p, int q)
{
	struct ref_queue *x = &r->queue[q];

	x->proc = p;
	x->state = ENG_Q_OFF;
	x->copying = false;
	x->idle = true;
	x->back = false;
	x->first = false;
	x->turn = x->served = x->service = x->front = x->ran = x->saves = 0;
	for (u32 i = 0; i < x->nwork; i++)
		x->work[i].runs = false;
	ref_push(&r->proc[p].queues, q);
	ref_push(&r->q_wait, q);
}

void ref_remove_queue(struct ref *r, int q)
{
	ref_drop(&r->path, q);
	ref_drop(&r->q_wait, q);
	ref_drop(&r->q_have, q);
	ref_drop(&r->proc[r->queue[q].proc].queues, q);
	if (r->turn == q)
		r->turn = -1;
}

void ref_remove_proc(struct ref *r, int p)
{
	while (r->proc[p].queues.n)
		ref_remove_queue(r, r->proc[p].queues.id[0]);
	ref_drop(&r->runlist, p);
	ref_drop(&r->vm_wait, p);
	ref_drop(&r->vm_have, p);
	r->proc[p].in = false;
}

/* @p: -1: all */
void ref_unmap(struct ref *r, int p)
{
	struct line l = ref_all_queues(r);

	for (int i = 0; i < l.n; i++)
		if ((p < 0 || r->queue[l.id[i]].proc == p) &&
		    r->queue[l.id[i]].state == ENG_Q_RESTORING)
			ref_cut(r, l.id[i]);
	for (int i = 0; i < r->runlist.n; i++)
		if (p < 0 || r->runlist.id[i] == p) {
			r->proc[r->runlist.id[i]].leaving = true;
			r->proc[r->runlist.id[i]].held = true;
		}
	for (int i = 0; i < l.n; i++)
		if ((p < 0 || r->queue[l.id[i]].proc == p) && r->queue[l.id[i]].state == ENG_Q_ON)
			ref_save(r, l.id[i]);
}

bool ref_saved(const struct ref *r, int p)
{
	for (int i = 0; i < r->runlist.n; i++)
		if ((p < 0 || r->runlist.id[i] == p) && !ref_off(r, r->runlist.id[i]))
			return false;
	return true;
}

void ref_unmap_queue(struct ref *r, int q)
{
	r->queue[q].held = true;
	if (r->queue[q].state == ENG_Q_RESTORING)
		ref_cut(r, q);
	if (r->queue[q].state == ENG_Q_ON)
		ref_save(r, q);
}

void ref_resume_queue(struct ref *r, int q)
{
	int p = r->queue[q].proc;
	bool waited = ref_proc_waits(r, p);

	if (!r->queue[q].held)
		return;
	if (!r->proc[p].has_vmid && !waited) {
		ref_drop(&r->vm_wait, p);
		ref_push(&r->vm_wait, p);
	}
	r->queue[q].held = false;
	if (r->queue[q].state == ENG_Q_OFF) {
		ref_drop(&r->q_wait, q);
		ref_push(&r->q_wait, q);
	}
}
