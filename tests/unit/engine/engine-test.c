// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of tests/sim/engine.c: the model of the GPU's queue hardware.
 *
 * A queue of the test is a list of dispatches of given times; the model's clock is driven
 * by hand. Times are in ns, written with the macros US and MS.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine.h"

#define US		1000ULL
#define MS		1000000ULL
#define MAX_ITEMS	512

struct item {
	u64 ns, avail, bytes;
	bool slot, blocks, hold;	/* hold: not launchable yet */
	u64 launched, completed;
	unsigned int completions;
};

struct tq {
	struct eng_queue q;		/* first */
	struct item item[MAX_ITEMS];
	u32 n, next;
};

struct world {
	struct engine e;
	u64 launches;
	u32 running, max_running;
	char order[1024];		/* first letter of the name of each queue that launched */
	u32 norder;
};

static struct world w;

static bool peek(void *ctx, struct eng_queue *q, u64 t, struct eng_work *work)
{
	struct tq *tq = (struct tq *)q;
	struct item *i = &tq->item[tq->next];

	(void)ctx;
	(void)t;
	if (tq->next == tq->n || i->hold)
		return false;
	work->left_ns = i->ns;
	work->avail = i->avail;
	work->live_bytes = i->bytes;
	work->slot = i->slot;
	work->blocks = i->blocks;
	work->user[0] = tq->next;
	return true;
}

static void launch(void *ctx, struct eng_queue *q, struct eng_work *work, u64 t)
{
	struct world *x = ctx;
	struct tq *tq = (struct tq *)q;

	assert_int_equal(work->user[0], tq->next);
	assert_true(q->state == ENG_Q_ON);
	tq->item[tq->next++].launched = t > work->avail ? t : work->avail;
	x->launches++;
	if (x->norder < sizeof(x->order) - 1)
		x->order[x->norder++] = 'a' + q->queue_prio % 26;
}

static void complete(void *ctx, struct eng_queue *q, struct eng_work *work, u64 t)
{
	struct tq *tq = (struct tq *)q;
	struct item *i = &tq->item[work->user[0]];

	(void)ctx;
	assert_int_equal(work->left_ns, 0);
	assert_int_equal(work->ran_ns, i->ns);
	i->completions++;
	i->completed = t;
	assert_int_equal(i->completions, 1);
	/* never before it could have run for all of its time */
	assert_true(t >= i->launched + i->ns);
}

static const struct eng_ops ops = { peek, launch, complete };

static const struct eng_config config = {
	.slots = 1, .hqds = 24, .vmids = 8,
	.process_quantum_ns = 10 * MS, .gang_quantum_ns = 1 * MS,
	.save_ns = 20 * US, .restore_ns = 30 * US, .bytes_per_us = 1000,
};

static int setup(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	eng_init(&w.e, &config, &ops, &w, 0);
	return 0;
}

static struct eng_proc *proc(void)
{
	struct eng_proc *p = calloc(1, sizeof(*p));

	eng_add_proc(&w.e, p);
	return p;
}

static struct tq *queue(struct eng_proc *p, u32 pipe, u32 prio)
{
	struct tq *q = calloc(1, sizeof(*q));

	q->q.pipe_prio = pipe;
	q->q.queue_prio = prio;
	eng_add_queue(&w.e, p, &q->q);
	return q;
}

static struct item *add(struct tq *q, u64 ns)
{
	struct item *i = &q->item[q->n++];

	assert_true(q->n <= MAX_ITEMS);
	*i = (struct item){ .ns = ns, .slot = true };
	return i;
}

static void add_n(struct tq *q, u32 n, u64 ns)
{
	while (n--)
		add(q, ns);
}

static int teardown(void **state)
{
	struct eng_proc *p;
	struct eng_queue *q;

	(void)state;
	while ((p = w.e.procs)) {
		while ((q = p->queues)) {
			eng_remove_queue(&w.e, q);
			free(q);
		}
		eng_remove_proc(&w.e, p);
		free(p);
	}
	return 0;
}

static u32 done(const struct tq *q)
{
	u32 i, n = 0;

	for (i = 0; i < q->n; i++)
		n += q->item[i].completions;
	return n;
}

/* ---- one queue ---- */

static void test_empty(void **state)
{
	(void)state;
	assert_int_equal(eng_advance(&w.e, 5 * MS), ENG_NEVER);
	proc();
	assert_int_equal(eng_advance(&w.e, 6 * MS), ENG_NEVER);
}

static void test_chain_is_exact(void **state)
{
	struct tq *q = queue(proc(), 1, 0);

	(void)state;
	add_n(q, 8, MS);
	assert_int_equal(eng_advance(&w.e, 0), MS);
	/* late by much: the chain was known, so it is credited as it ran */
	assert_int_equal(eng_advance(&w.e, 100 * MS), ENG_NEVER);
	assert_int_equal(done(q), 8);
	assert_int_equal(q->item[7].completed, 8 * MS);
	assert_int_equal(w.e.busy_ns, 8 * MS);
}

static void test_no_credit_before_arrival(void **state)
{
	struct tq *q = queue(proc(), 1, 0);

	(void)state;
	eng_advance(&w.e, 0);
	add(q, MS)->avail = 10 * MS;
	assert_int_equal(eng_advance(&w.e, 10 * MS), 11 * MS);
	eng_advance(&w.e, 20 * MS);
	assert_int_equal(q->item[0].completed, 11 * MS);
	/* arrived while the caller slept: it starts when it was seen, not earlier */
	add(q, MS)->avail = 30 * MS;
	eng_advance(&w.e, 30 * MS);
	assert_int_equal(q->item[1].launched, 30 * MS);
	assert_int_equal(w.e.busy_ns, MS);
}

static void test_barrier_blocks(void **state)
{
	struct tq *q = queue(proc(), 1, 0);
	struct item *b;

	(void)state;
	b = add(q, 500);
	b->slot = false;
	b->blocks = true;
	b->hold = true;
	add(q, MS);
	assert_int_equal(eng_advance(&w.e, MS), ENG_NEVER);
	assert_int_equal(w.launches, 0);
	b->hold = false;
	assert_int_equal(eng_advance(&w.e, 2 * MS), 2 * MS + 500);
	assert_int_equal(w.launches, 1);
	eng_advance(&w.e, 10 * MS);
	assert_int_equal(q->item[1].launched, 2 * MS + 500);
	assert_int_equal(done(q), 2);
}

/* ---- slots ---- */

static void test_slots_limit(void **state)
{
	struct tq *a, *b;
	u32 slots;

	(void)state;
	for (slots = 1; slots <= 3; slots++) {
		setup(NULL);
		w.e.cfg.slots = slots;
		a = queue(proc(), 1, 0);
		b = queue(proc(), 1, 1);
		add_n(a, 3, MS);
		add_n(b, 3, MS);
		eng_advance(&w.e, 0);
		assert_int_equal(eng_used_slots(&w.e), slots);
		assert_int_equal(w.launches, slots);
		eng_advance(&w.e, 100 * MS);
		assert_int_equal(done(a) + done(b), 6);
		assert_int_equal(w.e.busy_ns, 6 * MS);
		teardown(NULL);
	}
}

static void test_inflight_limit(void **state)
{
	struct tq *q = queue(proc(), 1, 0);

	(void)state;
	w.e.cfg.slots = 64;
	add_n(q, 10, MS);
	eng_advance(&w.e, 0);
	assert_int_equal(q->q.nwork, ENG_INFLIGHT);
	eng_advance(&w.e, 100 * MS);
	assert_int_equal(done(q), 10);
	assert_int_equal(q->item[9].completed, 3 * MS);
}

/* ---- priority ---- */

static void test_pipe_priority_decides_at_launch(void **state)
{
	struct tq *lo = queue(proc(), 0, 15), *hi = queue(proc(), 2, 0);

	(void)state;
	add_n(lo, 5, MS);
	add_n(hi, 5, MS);
	eng_advance(&w.e, 0);
	eng_advance(&w.e, 100 * MS);
	assert_int_equal(hi->item[4].completed, 5 * MS);
	assert_int_equal(lo->item[0].launched, 5 * MS);
}

static void test_queue_priority_decides_within_a_pipe(void **state)
{
	struct tq *lo = queue(proc(), 1, 7), *hi = queue(proc(), 1, 9);

	(void)state;
	add_n(lo, 2, MS);
	add_n(hi, 2, MS);
	eng_advance(&w.e, 0);
	eng_advance(&w.e, 100 * MS);
	assert_int_equal(lo->item[0].launched, 2 * MS);
}

static void test_priority_never_takes_off(void **state)
{
	struct tq *lo = queue(proc(), 0, 0), *hi = queue(proc(), 2, 15);

	(void)state;
	add(lo, 100 * MS);
	eng_advance(&w.e, 0);
	add(hi, MS)->avail = 10 * MS;
	eng_advance(&w.e, 10 * MS);
	eng_advance(&w.e, 99 * MS);
	assert_int_equal(done(hi), 0);
	assert_int_equal(w.e.saves, 0);
	eng_advance(&w.e, 101 * MS);
	assert_int_equal(lo->item[0].completed, 100 * MS);
	assert_int_equal(hi->item[0].completed, 101 * MS);
}

/* The waker is late: what arrived meanwhile and matters more wins, but is not credited */
static void test_late_wakeup_prefers_priority(void **state)
{
	struct tq *lo = queue(proc(), 0, 0), *hi = queue(proc(), 2, 0);

	(void)state;
	add_n(lo, 2, MS);
	eng_advance(&w.e, 0);
	add(hi, MS)->avail = MS + 50 * US;
	eng_advance(&w.e, MS + 50 * US);
	assert_int_equal(hi->item[0].launched, MS + 50 * US);
	eng_advance(&w.e, 10 * MS);
	assert_int_equal(hi->item[0].completed, 2 * MS + 50 * US);
	assert_int_equal(lo->item[1].launched, 2 * MS + 50 * US);
}

/* ---- fairness ---- */

static void test_equals_take_turns(void **state)
{
	struct tq *a = queue(proc(), 1, 0), *b = queue(proc(), 1, 0), *c = queue(proc(), 1, 0);

	(void)state;
	add_n(a, 300, 5 * MS);
	add_n(b, 300, 5 * MS);
	add_n(c, 300, 5 * MS);
	eng_advance(&w.e, 0);
	eng_advance(&w.e, 900 * MS);
	assert_int_equal(done(a), 60);
	assert_int_equal(done(b), 60);
	assert_int_equal(done(c), 60);
}

static void test_turn_lasts_a_quantum(void **state)
{
	struct tq *a = queue(proc(), 1, 0), *b = queue(proc(), 1, 0);
	u32 i;

	(void)state;
	add_n(a, 100, 100 * US);
	add_n(b, 100, 100 * US);
	eng_advance(&w.e, 0);
	eng_advance(&w.e, 100 * MS);
	/* 10 launches of 100 us fill a turn of 1 ms */
	for (i = 1; i < 10; i++)
		assert_int_equal(a->item[i].launched, a->item[0].launched + i * 100 * US);
	assert_true(a->item[10].launched >= a->item[0].launched + 2 * MS);
}

/* ---- unmap and map: CWSR ---- */

/* Takes the queue off as the firmware does and returns what the MQD would keep */
static u64 unmap(struct eng_proc *p, u64 now)
{
	u64 t = eng_unmap(&w.e, p, now);

	eng_advance(&w.e, t);
	assert_true(eng_saved(&w.e, p));
	return t;
}

static void remap(struct eng_proc *p, struct tq *q)
{
	eng_remove_queue(&w.e, &q->q);
	eng_remove_proc(&w.e, p);
	memset(p, 0, sizeof(*p));
	eng_add_proc(&w.e, p);
	eng_add_queue(&w.e, p, &q->q);
}

static void test_save_restore_accounting(void **state)
{
	struct eng_proc *p = proc();
	struct tq *q = queue(p, 1, 0);
	u64 t;

	(void)state;
	add(q, 100 * MS)->bytes = 50000;	/* 50 us at 1000 bytes per us */
	eng_advance(&w.e, 0);
	t = unmap(p, 30 * MS);
	assert_int_equal(t, 30 * MS + 20 * US + 50 * US);
	assert_int_equal(w.e.saves, 1);
	assert_int_equal(eng_used_slots(&w.e), 0);
	assert_int_equal(q->q.nwork, 1);
	assert_int_equal(q->q.work[0].left_ns, 70 * MS);
	/* off for long: no progress */
	eng_advance(&w.e, 500 * MS);
	assert_int_equal(q->q.work[0].left_ns, 70 * MS);
	remap(p, q);
	eng_advance(&w.e, 500 * MS);
	assert_int_equal(q->q.state, ENG_Q_RESTORING);
	eng_advance(&w.e, 600 * MS);
	assert_int_equal(q->item[0].completed, 500 * MS + 30 * US + 50 * US + 70 * MS);
	assert_int_equal(w.e.save_time_ns, 150 * US);
	assert_int_equal(w.launches, 1);
}

static void test_idle_queue_unmaps_at_once(void **state)
{
	struct eng_proc *p = proc();

	(void)state;
	queue(p, 1, 0);
	eng_advance(&w.e, 0);
	assert_int_equal(eng_unmap(&w.e, p, MS), MS);
	eng_advance(&w.e, MS);
	assert_true(eng_saved(&w.e, NULL));
	assert_int_equal(w.e.saves, 0);
}

static void test_unmapped_stays_off(void **state)
{
	struct eng_proc *p = proc(), *other = proc();
	struct tq *q = queue(p, 1, 0), *o = queue(other, 1, 0);

	(void)state;
	add(q, 100 * MS);
	add(o, 5 * MS);
	eng_advance(&w.e, 0);
	unmap(p, MS);
	assert_int_equal(eng_advance(&w.e, 50 * MS), ENG_NEVER);
	assert_int_equal(q->q.state, ENG_Q_OFF);
	assert_int_equal(done(o), 1);
	assert_int_equal(o->item[0].launched, MS + 20 * US);
}

static void test_restored_waits_for_a_slot(void **state)
{
	struct eng_proc *p = proc(), *other = proc();
	struct tq *q = queue(p, 0, 0), *o = queue(other, 2, 0);

	(void)state;
	add(q, 10 * MS);
	eng_advance(&w.e, 0);
	unmap(p, 4 * MS);
	add(o, 20 * MS);
	eng_advance(&w.e, 5 * MS);
	remap(p, q);
	eng_advance(&w.e, 20 * MS);
	assert_int_equal(q->q.work[0].left_ns, 6 * MS);
	assert_false(q->q.work[0].running);
	eng_advance(&w.e, 100 * MS);
	assert_int_equal(q->item[0].completed, o->item[0].completed + 6 * MS);
}

/* ---- over-subscription ---- */

static void test_vmids_rotate_evenly(void **state)
{
	struct tq *q[12];
	u64 lo = ~0ULL, hi = 0;
	u32 i;

	(void)state;
	for (i = 0; i < 12; i++) {
		q[i] = queue(proc(), 1, 0);
		add_n(q[i], MAX_ITEMS, MS);
	}
	eng_advance(&w.e, 0);
	assert_int_equal(eng_used_hqds(&w.e), 8);
	eng_advance(&w.e, 2000 * MS);
	for (i = 0; i < 12; i++) {
		lo = q[i]->q.ran_ns < lo ? q[i]->q.ran_ns : lo;
		hi = q[i]->q.ran_ns > hi ? q[i]->q.ran_ns : hi;
	}
	assert_true(lo > 130 * MS);
	assert_true(hi < 200 * MS);
}

/* A process without work takes its quantum all the same, as far as is known */
static void test_empty_processes_count(void **state)
{
	struct tq *q = queue(proc(), 1, 0);
	u32 i;

	(void)state;
	for (i = 0; i < 11; i++)
		proc();
	add_n(q, MAX_ITEMS, MS);
	eng_advance(&w.e, 0);
	eng_advance(&w.e, 300 * MS);
	assert_true(q->q.ran_ns < 220 * MS);
	assert_true(q->q.ran_ns > 180 * MS);
}

static void test_hqds_rotate(void **state)
{
	struct eng_proc *p = proc();
	struct tq *q[6];
	u32 i;

	(void)state;
	w.e.cfg.hqds = 4;
	for (i = 0; i < 6; i++) {
		q[i] = queue(p, 1, 0);
		add_n(q[i], MAX_ITEMS, 200 * US);
	}
	eng_advance(&w.e, 0);
	assert_int_equal(eng_used_hqds(&w.e), 4);
	for (i = 1; i < 400; i++) {
		eng_advance(&w.e, i * MS);
		assert_true(eng_used_hqds(&w.e) <= 4);
	}
	for (i = 0; i < 6; i++)
		assert_true(q[i]->q.ran_ns > 40 * MS);
}

/* ---- one queue at a time: MES ---- */

static u64 unmap_queue(struct tq *q, u64 now)
{
	u64 t = eng_unmap_queue(&w.e, &q->q, now);

	eng_advance(&w.e, t);
	assert_true(eng_queue_saved(&w.e, &q->q));
	return t;
}

static void resume(struct tq *q, u64 now)
{
	eng_resume_queue(&w.e, &q->q, now);
	eng_advance(&w.e, now);
}

static void test_unmap_queue_leaves_the_others(void **state)
{
	struct eng_proc *p = proc();
	struct tq *a = queue(p, 1, 0), *b = queue(p, 1, 0);
	u64 t;

	(void)state;
	add(a, 10 * MS)->bytes = 50000;
	add(b, 5 * MS);
	eng_advance(&w.e, 0);
	t = unmap_queue(a, 4 * MS);
	assert_int_equal(t, 4 * MS + 20 * US + 50 * US);
	assert_int_equal(a->q.work[0].left_ns, 6 * MS);
	assert_int_equal(b->q.state, ENG_Q_ON);
	eng_advance(&w.e, 50 * MS);
	assert_int_equal(b->item[0].completed, t + 5 * MS);
	assert_int_equal(a->q.work[0].left_ns, 6 * MS);
	assert_int_equal(w.e.saves, 1);
	resume(a, 50 * MS);
	assert_int_equal(a->q.state, ENG_Q_RESTORING);
	eng_advance(&w.e, 100 * MS);
	assert_int_equal(a->item[0].completed, 50 * MS + 30 * US + 50 * US + 6 * MS);
	assert_int_equal(w.launches, 2);
}

static void test_unmap_queue_cuts_a_restore(void **state)
{
	struct tq *q = queue(proc(), 1, 0);

	(void)state;
	add(q, 10 * MS)->bytes = 50000;
	eng_advance(&w.e, 0);
	unmap_queue(q, 4 * MS);
	resume(q, 5 * MS);
	assert_int_equal(q->q.state, ENG_Q_RESTORING);
	assert_int_equal(unmap_queue(q, 5 * MS + 10 * US), 5 * MS + 10 * US);
	assert_int_equal(eng_advance(&w.e, 40 * MS), ENG_NEVER);
	resume(q, 40 * MS);
	eng_advance(&w.e, 100 * MS);
	assert_int_equal(q->item[0].completed, 40 * MS + 80 * US + 6 * MS);
	/* resuming what was not unmapped changes nothing */
	add(q, MS)->avail = 100 * MS;
	eng_advance(&w.e, 100 * MS);
	resume(q, 100 * MS + 500 * US);
	eng_advance(&w.e, 200 * MS);
	assert_int_equal(q->item[1].completed, 101 * MS);
}

static void test_held_queues_give_up_the_vmid(void **state)
{
	struct tq *a, *b;

	(void)state;
	w.e.cfg.vmids = 1;
	a = queue(proc(), 1, 0);
	b = queue(proc(), 1, 0);
	add(a, 5 * MS);
	add(b, 5 * MS);
	eng_advance(&w.e, 0);
	unmap_queue(a, MS);
	assert_int_equal(b->q.state, ENG_Q_ON);
	eng_advance(&w.e, 30 * MS);
	assert_int_equal(b->item[0].completed, MS + 20 * US + 5 * MS);
	/* b is idle and past its quantum */
	resume(a, 30 * MS);
	eng_advance(&w.e, 100 * MS);
	assert_int_equal(a->item[0].completed, 30 * MS + 30 * US + 4 * MS);
}

/* ---- levels: MES ---- */

static struct tq *level_queue(u32 level, u32 n, u64 ns)
{
	struct tq *q = queue(proc(), 1, level);

	q->q.level = level;
	add_n(q, n, ns);
	return q;
}

static void test_free_hqd_goes_to_the_best_level(void **state)
{
	struct tq *first, *lo, *hi;

	(void)state;
	w.e.cfg.hqds = 1;
	first = level_queue(1, 1, 3 * MS);
	eng_advance(&w.e, 0);
	lo = level_queue(0, 1, MS);
	hi = level_queue(3, 1, MS);
	eng_advance(&w.e, 100 * US);
	assert_int_equal(first->q.state, ENG_Q_ON);
	/* its quantum of 1 ms over, it gives way to hi, to lo only when idle */
	eng_advance(&w.e, 100 * MS);
	assert_int_equal(hi->item[0].launched, MS + 20 * US);
	assert_true(first->item[0].completed <= lo->item[0].launched);
	assert_int_equal(done(first) + done(lo) + done(hi), 3);
}

static void test_level_preempt(void **state)
{
	struct tq *lo, *hi;

	(void)state;
	w.e.cfg.level_preempt = true;
	w.e.cfg.hqds = 1;
	lo = level_queue(0, 1, 3 * MS);
	eng_advance(&w.e, 0);
	hi = level_queue(3, 1, 5 * MS);
	eng_advance(&w.e, 100 * US);
	assert_int_equal(lo->q.state, ENG_Q_SAVING);
	eng_advance(&w.e, 100 * MS);
	assert_int_equal(hi->item[0].launched, 100 * US + 20 * US);
	/* equal levels do not preempt each other */
	assert_int_equal(hi->q.saves, 0);
	assert_int_equal(done(lo), 1);
}

static void test_level_preempt_takes_a_vmid(void **state)
{
	struct tq *lo, *hi;
	u32 preempt;

	(void)state;
	for (preempt = 0; preempt < 2; preempt++) {
		setup(NULL);
		w.e.cfg.level_preempt = preempt;
		w.e.cfg.vmids = 1;
		lo = level_queue(1, 1, 30 * MS);
		eng_advance(&w.e, 0);
		hi = level_queue(2, 1, 30 * MS);
		eng_advance(&w.e, MS);
		eng_advance(&w.e, 100 * MS);
		/* with it at once, without it when the process quantum of 10 ms is over */
		assert_int_equal(hi->item[0].launched, (preempt ? MS : 10 * MS) + 20 * US);
		assert_int_equal(hi->q.saves, 0);
		assert_int_equal(done(lo), 1);
		teardown(NULL);
	}
}

static void test_level_starves_lower_while_it_has_work(void **state)
{
	struct tq *lo, *hi;

	(void)state;
	w.e.cfg.hqds = 1;
	hi = level_queue(3, 50, MS);
	lo = level_queue(0, 5, MS);
	eng_advance(&w.e, 0);
	eng_advance(&w.e, 50 * MS - 1);
	assert_int_equal(done(lo), 0);
	assert_int_equal(hi->q.saves, 0);
	/* idle, its quantum long over: it keeps nobody waiting */
	eng_advance(&w.e, 60 * MS);
	assert_int_equal(lo->item[0].launched, 50 * MS);
	assert_int_equal(done(lo), 5);
}

/* Equal levels above 0 share as HWS's queues do */
static void test_equal_levels_share(void **state)
{
	struct tq *q[3];
	u32 i;

	(void)state;
	w.e.cfg.hqds = 1;
	w.e.cfg.level_preempt = true;
	for (i = 0; i < 3; i++)
		q[i] = level_queue(1, MAX_ITEMS, MS);
	eng_advance(&w.e, 0);
	eng_advance(&w.e, 300 * MS);
	for (i = 0; i < 3; i++) {
		assert_true(q[i]->q.ran_ns > 90 * MS);
		assert_true(q[i]->q.ran_ns < 101 * MS);
	}
}

static void test_quanta_of_their_own(void **state)
{
	struct tq *a, *b;

	(void)state;
	w.e.cfg.hqds = 1;
	w.e.cfg.save_ns = w.e.cfg.restore_ns = 0;
	a = level_queue(1, 1, 200 * MS);
	b = level_queue(1, 1, 200 * MS);
	a->q.quantum_ns = 3 * MS;
	b->q.quantum_ns = 6 * MS;
	eng_advance(&w.e, 0);
	eng_advance(&w.e, 90 * MS);
	assert_int_equal(a->q.ran_ns, 30 * MS);
	assert_int_equal(b->q.ran_ns, 60 * MS);
	teardown(NULL);

	setup(NULL);
	w.e.cfg.vmids = 1;
	w.e.cfg.save_ns = w.e.cfg.restore_ns = 0;
	a = level_queue(1, 1, 200 * MS);
	b = level_queue(1, 1, 200 * MS);
	a->q.proc->quantum_ns = 20 * MS;
	eng_advance(&w.e, 0);
	eng_advance(&w.e, 90 * MS);
	assert_int_equal(a->q.ran_ns, 60 * MS);
	assert_int_equal(b->q.ran_ns, 30 * MS);
}

/* ---- whatever happens ---- */

static u32 rnd(u32 n)
{
	return (u32)(random() >> 8) % n;
}

/*
 * Random arrivals, steps, unmaps and maps. Invariants: slots, HQDs and VMIDs are never
 * exceeded; every dispatch completes exactly once (checked in complete()) with exactly
 * its time (there too); the slots were busy for the sum of what completed or ran.
 */
static void random_schedule(unsigned int seed)
{
	struct eng_proc *p[12];
	struct tq *q[12][2];
	u64 now = 0, sum = 0, t;
	bool levels = seed % 2;
	u32 i, k, n, used;

	srandom(seed);
	setup(NULL);
	w.e.cfg.slots = 1 + rnd(3);
	w.e.cfg.hqds = 2 + rnd(20);
	w.e.cfg.vmids = 1 + rnd(8);
	w.e.cfg.level_preempt = rnd(2);
	for (i = 0; i < 12; i++) {
		p[i] = proc();
		for (k = 0; k < 2; k++) {
			q[i][k] = queue(p[i], rnd(3), rnd(16));
			q[i][k]->q.level = levels ? rnd(ENG_LEVELS) : 0;
		}
	}
	for (n = 0; n < 600; n++) {
		now += rnd(3) ? rnd(2 * MS) : rnd(200);
		i = rnd(12);
		k = rnd(2);
		if (q[i][k]->n < 100) {
			struct item *it = add(q[i][k], 1 + rnd(rnd(4) ? 500 * US : 8 * MS));

			it->avail = now;
			it->bytes = rnd(1000000);
			it->slot = rnd(5);
			it->blocks = !it->slot;
		}
		if (!rnd(10)) {
			i = rnd(12);
			now = unmap(p[i], now);
			for (k = 0; k < 2; k++)
				eng_remove_queue(&w.e, &q[i][k]->q);
			eng_remove_proc(&w.e, p[i]);
			memset(p[i], 0, sizeof(*p[i]));
			if (rnd(2)) {
				now += rnd(3 * MS);
				eng_advance(&w.e, now);
			}
			eng_add_proc(&w.e, p[i]);
			for (k = 0; k < 2; k++)
				eng_add_queue(&w.e, p[i], &q[i][k]->q);
		}
		if (!rnd(10)) {
			i = rnd(12);
			k = rnd(2);
			t = eng_unmap_queue(&w.e, &q[i][k]->q, now);
			if (rnd(2)) {
				now = t;
				eng_advance(&w.e, now);
				assert_true(eng_queue_saved(&w.e, &q[i][k]->q));
			}
		}
		if (!rnd(5))
			eng_resume_queue(&w.e, &q[rnd(12)][rnd(2)]->q, now);
		assert_true(eng_advance(&w.e, now) > now);
		assert_true(eng_used_slots(&w.e) <= w.e.cfg.slots);
		assert_true(eng_used_hqds(&w.e) <= w.e.cfg.hqds);
		for (used = i = 0; i < 12; i++)
			used += p[i]->vmid >= 0;
		assert_true(used <= w.e.cfg.vmids);
	}
	for (i = 0; i < 12; i++)
		for (k = 0; k < 2; k++)
			eng_resume_queue(&w.e, &q[i][k]->q, now);
	for (n = used = 0; used < 24 && n < 200; n++) {
		now += 1000 * MS;
		eng_advance(&w.e, now);
		for (used = i = 0; i < 12; i++)
			for (k = 0; k < 2; k++)
				used += done(q[i][k]) == q[i][k]->n;
	}
	for (i = 0; i < 12; i++)
		for (k = 0; k < 2; k++) {
			assert_int_equal(done(q[i][k]), q[i][k]->n);
			for (n = 0; n < q[i][k]->n; n++)
				sum += q[i][k]->item[n].slot ? q[i][k]->item[n].ns : 0;
		}
	assert_int_equal(w.e.busy_ns, sum);
	teardown(NULL);
}

static void test_random(void **state)
{
	unsigned int seed;

	(void)state;
	for (seed = 1; seed <= 200; seed++)
		random_schedule(seed);
}

#define T(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_empty),
		T(test_chain_is_exact),
		T(test_no_credit_before_arrival),
		T(test_barrier_blocks),
		T(test_slots_limit),
		T(test_inflight_limit),
		T(test_pipe_priority_decides_at_launch),
		T(test_queue_priority_decides_within_a_pipe),
		T(test_priority_never_takes_off),
		T(test_late_wakeup_prefers_priority),
		T(test_equals_take_turns),
		T(test_turn_lasts_a_quantum),
		T(test_save_restore_accounting),
		T(test_idle_queue_unmaps_at_once),
		T(test_unmapped_stays_off),
		T(test_restored_waits_for_a_slot),
		T(test_vmids_rotate_evenly),
		T(test_empty_processes_count),
		T(test_hqds_rotate),
		T(test_unmap_queue_leaves_the_others),
		T(test_unmap_queue_cuts_a_restore),
		T(test_held_queues_give_up_the_vmid),
		T(test_free_hqd_goes_to_the_best_level),
		T(test_level_preempt),
		T(test_level_preempt_takes_a_vmid),
		T(test_level_starves_lower_while_it_has_work),
		T(test_equal_levels_share),
		T(test_quanta_of_their_own),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
