// SPDX-License-Identifier: GPL-2.0
/* What launches when: one queue, slots, priority */
#include "fixture.h"

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

/* Returns the number of failures */
int launch_tests(void)
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
	};

	return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}
