// SPDX-License-Identifier: GPL-2.0
/* Histograms against sorted numbers. */
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "model/hist.h"

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static void percentiles(void **state)
{
	static const double wanted[] = { 0, 1, 25, 50, 90, 99, 99.9, 100 };
	static uint64_t values[5000];
	static struct hist hist;
	unsigned int round, i, n;

	(void)state;
	srandom(1);
	for (round = 0; round < 64; round++) {
		memset(&hist, 0, sizeof(hist));
		n = 1 + random() % 5000;
		for (i = 0; i < n; i++) {
			values[i] = ((uint64_t)random() << 31 | random()) >> random() % 62;
			hist_add(&hist, values[i]);
		}
		qsort(values, n, sizeof(*values), compare);
		assert_int_equal(hist.min, values[0]);
		assert_int_equal(hist.max, values[n - 1]);
		for (i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
			double rank = n * wanted[i] / 100;
			unsigned int at = (unsigned int)rank < rank ? rank + 1 : rank;
			uint64_t exact = values[at ? at - 1 : 0], got = hist_percentile(&hist, wanted[i]);

			assert_true(got >= exact);
			assert_true(got <= exact + exact / 100);
		}
	}
}

static void octaves(void **state)
{
	static struct hist hist;
	unsigned int power;
	uint64_t sum = 0;

	(void)state;
	memset(&hist, 0, sizeof(hist));
	for (power = 0; power < 64; power++) {
		hist_add(&hist, 1ULL << power);
		hist_add(&hist, (1ULL << power) + ((1ULL << power) - 1));
	}
	for (power = 0; power < 64; power++) {
		assert_int_equal(hist_octave(&hist, power), 2);
		sum += hist_octave(&hist, power);
	}
	assert_int_equal(sum, hist.count);
}

static void merged(void **state)
{
	static struct hist parts[2], whole;
	unsigned int i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		hist_add(&parts[i % 3 == 0], i * i);
		hist_add(&whole, i * i);
	}
	hist_merge(&parts[0], &parts[1]);
	assert_memory_equal(&parts[0], &whole, sizeof(whole));
	assert_int_equal(hist_rank(&whole, 1000), 999 * 999);
}

static void empty(void **state)
{
	static const struct hist hist;

	(void)state;
	assert_int_equal(hist_percentile(&hist, 50), 0);
}

int run_hist(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles),
		cmocka_unit_test(octaves),
		cmocka_unit_test(merged),
		cmocka_unit_test(empty),
	};

	return cmocka_run_group_tests_name("hist", tests, NULL, NULL);
}
