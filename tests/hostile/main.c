// SPDX-License-Identifier: GPL-2.0
/*
 * hostile [-l | [-L] [NAME...]] - an ordinary user tries to defeat preemption: all tests, or those of these names;
 * -l lists them, -L runs their long forms.
 *
 * Each test begins with default parameters and an idle GPU, and must leave it so. TAP.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "hostile.h"

static const struct test *const groups[] = {
	tests_hide, tests_timers, tests_crowd, tests_unmap, tests_parked, tests_share, tests_share_places, tests_fuzz,
};

bool long_form;
const char *test_name, *stock_leaks;

/* Of preempt.h, which has them for the tests of preemption alone */
long long refused_packets;

static void run(const struct test *t)
{
	long long pages = sim_counter(0, "ram_pages"), bad = sim_counter(0, "bad_packets"), resets = sim_counter(0, "resets");

	test_name = t->name;
	memset(shared, 0, sizeof(*shared));
	params_reset();
	stock_leaks = sim_old_kernel() && has_mes(0) ?
		"stock 6.1 with MES keeps two pages for each queue of a process that was killed (validation.rst)" : NULL;
	t->run();
	params_reset();
	if (stock_leaks)
		tap_skip(t->name, stock_leaks);
	else
		tap_ok(sim_clean(0, pages), "%s: nothing is left on the GPU", t->name);
	tap_eq(sim_counter(0, "bad_packets") - bad, 0, "%s: the scheduler refused no packet", t->name);
	tap_eq(sim_counter(0, "resets") - resets, 0, "%s: the GPU was not reset", t->name);
}

int main(int argc, char **argv)
{
	bool list = argc > 1 && !strcmp(argv[1], "-l");
	const struct test *t;
	unsigned int i;
	int done = 0;

	if (argc > 1 && !strcmp(argv[1], "-L")) {
		long_form = true;
		argc--;
		argv++;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		for (t = groups[i]; t->name; t++) {
			if (list) {
				puts(t->name);
			} else if (tap_wanted(t->name, argv + 1, argc - 1)) {
				run(t);
				done++;
			}
		}
	}
	if (list)
		return 0;
	if (done < (argc > 1 ? argc - 1 : 1))
		tap_bail("%s; -l lists them", done ? "some of these tests do not exist" : "no test of that name");
	return tap_done();
}
