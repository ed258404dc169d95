// SPDX-License-Identifier: GPL-2.0
/*
 * For how long the circuit breaker stays open: examples, what holds for any history, and a comparison with a
 * reference that goes from second to second.
 */
#include "fixture.h"

#define MIN	KFD_PRIO_BACKOFF_MIN_NS
#define MAX	KFD_PRIO_BACKOFF_MAX_NS
#define T0	(77 * SEC + 1234567)

/* A failure at @now, and the time that it costs passes; when preemption is on again */
static u64 fail_and_wait(struct kfd_prio_backoff *b, u64 now, u64 want)
{
	u64 ns = kfd_prio_backoff_fail(b, now);

	assert_int_equal(ns, want);
	kfd_prio_backoff_on(b, now + ns);
	return now + ns;
}

/* One failure after the other: a minute, two, four, ..., and no more than an hour and four minutes */
static void test_doubles(void **state)
{
	struct kfd_prio_backoff b = {};
	u64 now = T0, want = MIN;
	int i;

	(void)state;
	assert_int_equal(kfd_prio_backoff_next(&b, now), MIN);
	for (i = 0; i < 100; i++) {
		now = fail_and_wait(&b, now, want);
		want = want < MAX ? 2 * want : MAX;
		assert_int_equal(kfd_prio_backoff_next(&b, now), want);
	}
	assert_int_equal(want, MAX);
	assert_int_equal(MAX, 64 * 60 * SEC);
}

/* It halves after as long without a failure, at that ns and not before, down to the least */
static void test_halves(void **state)
{
	struct kfd_prio_backoff b = {}, at_max;
	u64 now = T0, ns;

	(void)state;
	now = fail_and_wait(&b, now, MIN);
	now = fail_and_wait(&b, now, 2 * MIN);
	/* four minutes are next */
	assert_int_equal(kfd_prio_backoff_next(&b, now + 4 * MIN - 1), 4 * MIN);
	assert_int_equal(kfd_prio_backoff_next(&b, now + 4 * MIN), 2 * MIN);
	assert_int_equal(kfd_prio_backoff_next(&b, now + 6 * MIN - 1), 2 * MIN);
	assert_int_equal(kfd_prio_backoff_next(&b, now + 6 * MIN), MIN);
	assert_int_equal(kfd_prio_backoff_next(&b, ~0ull), MIN);
	now += 4 * MIN;
	now = fail_and_wait(&b, now, 2 * MIN);
	assert_int_equal(kfd_prio_backoff_next(&b, now), 4 * MIN);

	at_max = (struct kfd_prio_backoff) { MAX, now };
	for (ns = MAX; ns > MIN; ns /= 2) {
		assert_int_equal(kfd_prio_backoff_next(&at_max, now), ns);
		now += ns;
	}
	assert_int_equal(kfd_prio_backoff_next(&at_max, now), MIN);
}

/* Time in which preemption is off is not time without a failure; a clock that goes back changes nothing */
static void test_since(void **state)
{
	struct kfd_prio_backoff b = {};
	u64 ns;

	(void)state;
	ns = kfd_prio_backoff_fail(&b, T0);
	assert_int_equal(kfd_prio_backoff_next(&b, T0 + ns + 2 * MIN - 1), 2 * MIN);
	assert_int_equal(kfd_prio_backoff_next(&b, T0 + ns + 2 * MIN), MIN);
	/* closed late: the time begins then */
	kfd_prio_backoff_on(&b, T0 + 10 * MIN);
	assert_int_equal(kfd_prio_backoff_next(&b, T0 + 12 * MIN - 1), 2 * MIN);
	assert_int_equal(kfd_prio_backoff_next(&b, T0 + 12 * MIN), MIN);
	assert_int_equal(kfd_prio_backoff_next(&b, 0), 2 * MIN);
}

/* Failures at random, beside a reference that counts minutes */
static void test_random(void **state)
{
	struct kfd_prio_backoff b = {};
	unsigned int i, quiet = 0, level = 0;	/* the next failure costs MIN << level */
	u64 now = T0;

	(void)state;
	srand(1);
	for (i = 0; i < 20000; i++) {
		/* in minutes, as a person would do it */
		unsigned int pause = rand() % 4 ? rand() % 10 : rand() % 300, m;

		for (m = 0; m < pause; m++)
			if (level && ++quiet == 1u << level) {
				level--;
				quiet = 0;
			}
		now += pause * MIN;
		assert_int_equal(kfd_prio_backoff_next(&b, now), MIN << level);
		now = fail_and_wait(&b, now, MIN << level);
		level += level < 6;
		quiet = 0;
	}
}

int backoff_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_doubles), cmocka_unit_test(test_halves),
		cmocka_unit_test(test_since), cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("backoff", tests, NULL, NULL);
}
