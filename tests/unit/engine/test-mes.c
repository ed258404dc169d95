// SPDX-License-Identifier: GPL-2.0
/* What MES asks for: levels, quanta of their own, one queue at a time */
#include "fixture.h"

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
	eng_advance(&w.e, 100 * US);
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
		eng_advance(&w.e, MS);
		hi = level_queue(2, 1, 30 * MS);
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

/* Returns the number of failures */
int mes_tests(void)
{
	const struct CMUnitTest tests[] = {
		T(test_unmap_queue_leaves_the_others),
		T(test_unmap_queue_cuts_a_restore),
		T(test_held_queues_give_up_the_vmid),
		T(test_free_hqd_goes_to_the_best_level),
		T(test_level_preempt),
		T(test_level_preempt_takes_a_vmid),
		T(test_level_starves_lower_while_it_has_work),
		T(test_equal_levels_share),
		T(test_quanta_of_their_own),
	};

	return cmocka_run_group_tests_name("mes", tests, NULL, NULL);
}
