// SPDX-License-Identifier: GPL-2.0
/* Shares among equals */
#include "fixture.h"

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

/* Returns the number of failures */
int fair_tests(void)
{
	const struct CMUnitTest tests[] = {
		T(test_equals_take_turns),
		T(test_turn_lasts_a_quantum),
	};

	return cmocka_run_group_tests_name("fair", tests, NULL, NULL);
}
