// SPDX-License-Identifier: GPL-2.0
/* Save and restore: what it costs, that nothing is lost or done twice */
#include "fixture.h"

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
	/* the owner was told once, with what was in flight */
	assert_int_equal(q->saved, 1);
	assert_int_equal(q->saved_left_ns, 70 * MS);
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
	assert_int_equal(q->saved, 1);
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

static void test_eight_take_eight_ms(void **state)
{
	struct eng_proc *p = proc();
	struct tq *q = queue(p, 1, 0);
	u64 t;

	(void)state;
	add_n(q, 8, MS);
	eng_advance(&w.e, 0);
	t = unmap(p, 3 * MS + 500 * US);	/* within the fourth */
	assert_int_equal(t, 3 * MS + 520 * US);
	remap(p, q);
	eng_advance(&w.e, 100 * MS);
	/* 20 us to save, 30 us to restore, nothing else */
	assert_int_equal(q->item[7].completed, 8 * MS + 50 * US);
	assert_int_equal(done(q), 8);
	assert_int_equal(w.e.busy_ns, 8 * MS);
}

/* complete() asserts that it is complete once, with exactly its time */
static void test_once_after_1000_unmaps(void **state)
{
	struct eng_proc *p = proc();
	struct tq *q = queue(p, 1, 0);
	u64 now = 0, off = 0, t, gap;
	u32 i;

	(void)state;
	add(q, 100 * MS)->bytes = 7777;
	eng_advance(&w.e, 0);
	for (i = 0; i < 1000; i++) {
		/* sometimes in the middle of the restore, which must cost no progress */
		now += i % 10 ? 100 * US : 10 * US;
		t = unmap(p, now);
		gap = i % 3 * 777;
		if (q->q.nwork)
			assert_int_equal(q->q.work[0].left_ns + q->q.work[0].ran_ns, 100 * MS);
		off += t - now + gap;
		now = t + gap;
		eng_advance(&w.e, now);
		remap(p, q);
		eng_advance(&w.e, now);
	}
	assert_int_equal(done(q), 0);
	eng_advance(&w.e, now + 200 * MS);
	assert_int_equal(done(q), 1);
	assert_int_equal(w.launches, 1);
	assert_int_equal(w.e.busy_ns, 100 * MS);
	/* 99 came during a restore, and had nothing to save */
	assert_int_equal(w.e.saves, 901);
	/* time off; restores: 900 whole ones of 37.777 us, 99 cut after 10 us, the last */
	assert_int_equal(q->item[0].completed,
			 100 * MS + off + 901 * 37777 + 99 * 10 * US);
}

static void test_copies_share_one_path(void **state)
{
	struct eng_proc *p = proc();
	struct tq *a = queue(p, 1, 0), *b = queue(p, 1, 0), *c = queue(p, 1, 0);

	(void)state;
	w.e.cfg.slots = 2;
	add(a, 10 * MS)->bytes = 40000;
	add(b, 10 * MS)->bytes = 0;
	add(c, 10 * MS)->bytes = 90000;		/* never had a slot */
	eng_advance(&w.e, 0);
	/* 20 + 40 us, then 20 us: nothing live costs the fixed part; nothing in flight nothing */
	assert_int_equal(eng_unmap(&w.e, NULL, MS), MS + 80 * US);
	assert_int_equal(c->q.until, MS);
	eng_advance(&w.e, MS + 80 * US - 1);
	assert_int_equal(a->q.state, ENG_Q_OFF);
	assert_int_equal(b->q.state, ENG_Q_SAVING);
	assert_false(eng_saved(&w.e, NULL));
	/* slots are free when the state is written */
	assert_int_equal(eng_used_slots(&w.e), 1);
	eng_advance(&w.e, MS + 80 * US);
	assert_true(eng_saved(&w.e, NULL));
	assert_int_equal(w.e.saves, 2);
	assert_int_equal(w.e.save_time_ns, 80 * US);
}

static void test_barriers_cost_nothing(void **state)
{
	struct eng_proc *p = proc();
	struct tq *q = queue(p, 1, 0);

	(void)state;
	*add(q, 500) = (struct item){ .ns = 10 * US, .blocks = true, .bytes = 1000000 };
	eng_advance(&w.e, 0);
	assert_int_equal(unmap(p, 4 * US), 4 * US);
	assert_int_equal(q->q.work[0].left_ns, 6 * US);
	remap(p, q);
	eng_advance(&w.e, 10 * US);
	eng_advance(&w.e, 20 * US);
	assert_int_equal(q->item[0].completed, 10 * US);
	assert_int_equal(w.e.saves, 0);
	assert_int_equal(w.e.save_time_ns, 0);
}

/* A restore that is cut short frees the path for the one behind it, and is not charged */
static void test_cut_restore_frees_the_path(void **state)
{
	struct eng_proc *p = proc();
	struct tq *a = queue(p, 1, 0), *b = queue(p, 1, 0);

	(void)state;
	w.e.cfg.slots = 2;
	add(a, 10 * MS)->bytes = 100000;
	add(b, 10 * MS)->bytes = 0;
	eng_advance(&w.e, 0);
	eng_unmap_queue(&w.e, &a->q, MS);
	eng_unmap_queue(&w.e, &b->q, MS);
	eng_advance(&w.e, 2 * MS);
	assert_int_equal(w.e.save_time_ns, 140 * US);
	eng_resume_queue(&w.e, &a->q, 2 * MS);
	eng_resume_queue(&w.e, &b->q, 2 * MS);
	eng_advance(&w.e, 2 * MS);
	assert_int_equal(b->q.until, 2 * MS + 160 * US);
	eng_unmap_queue(&w.e, &a->q, 2 * MS + 10 * US);
	assert_int_equal(b->q.until, 2 * MS + 40 * US);
	eng_advance(&w.e, 3 * MS);
	assert_int_equal(b->item[0].completed, 0);
	eng_advance(&w.e, 20 * MS);
	assert_int_equal(b->item[0].completed, 2 * MS + 40 * US + 9 * MS);
	assert_int_equal(w.e.save_time_ns, 180 * US);
	/* so does a queue that is removed while it is saved, as in a reset */
	eng_resume_queue(&w.e, &a->q, 20 * MS);
	eng_advance(&w.e, 21 * MS);
	eng_unmap_queue(&w.e, &a->q, 21 * MS);
	assert_true(w.e.dma_free > 21 * MS);
	eng_remove_queue(&w.e, &a->q);
	assert_int_equal(w.e.dma_free, 21 * MS);
	free(a);
}

/* Returns the number of failures */
int cwsr_tests(void)
{
	const struct CMUnitTest tests[] = {
		T(test_save_restore_accounting),
		T(test_idle_queue_unmaps_at_once),
		T(test_unmapped_stays_off),
		T(test_restored_waits_for_a_slot),
		T(test_eight_take_eight_ms),
		T(test_once_after_1000_unmaps),
		T(test_copies_share_one_path),
		T(test_barriers_cost_nothing),
		T(test_cut_restore_frees_the_path),
	};

	return cmocka_run_group_tests_name("cwsr", tests, NULL, NULL);
}
