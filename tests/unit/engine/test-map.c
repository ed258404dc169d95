// SPDX-License-Identifier: GPL-2.0
/* Over-subscription: VMIDs, HQDs, quanta */
#include "fixture.h"

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

/* Returns the number of failures */
int map_tests(void)
{
	const struct CMUnitTest tests[] = {
		T(test_vmids_rotate_evenly),
		T(test_empty_processes_count),
		T(test_hqds_rotate),
	};

	return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
