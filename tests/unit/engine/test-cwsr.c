// SPDX-License-Identifier: GPL-2.0
/* Save and restore: what it costs, that nothing is lost or done twice */
#include "fixture.h"

/* ---- unmap and map: CWSR ---- */

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

/* Returns the number of failures */
int cwsr_tests(void)
{
	const struct CMUnitTest tests[] = {
		T(test_save_restore_accounting),
		T(test_idle_queue_unmaps_at_once),
		T(test_unmapped_stays_off),
		T(test_restored_waits_for_a_slot),
	};

	return cmocka_run_group_tests_name("cwsr", tests, NULL, NULL);
}
