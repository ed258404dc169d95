// SPDX-License-Identifier: GPL-2.0
/*
 * preempt [-l | -q | -d | [-w] [-r RINGS] NAME...] - the tests of preemption, those that are quick (-q), all others (-d), or
 * those of these names; -l lists them.  With -w a process reads debugfs all the time.  -r is for the tests "rings" and
 * "park_cycles".
 *
 * Each begins with default parameters and an idle GPU, and must leave it so.  TAP.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "preempt.h"

static const struct test *const groups[] = {
	tests_basic, tests_policy, tests_held, tests_wake, tests_ring, tests_doorbell, tests_claim, tests_signal, tests_idle, tests_victim, tests_debug, tests_debug_exit,
	tests_park, tests_auto, tests_room, tests_share, tests_share_cases, tests_group, tests_unread, tests_mes, tests_compose, tests_reset, tests_refused, tests_breaker, tests_fault, tests_end, tests_host, tests_two,
};

long long refused_packets;
bool alone;
const char *left_by_stock;

static void run(const struct test *t)
{
	long long pages[2];
	const char *left;
	unsigned int i, gpus = sim_read(1, "counters") ? 2 : 1;

	if (t->gpus > gpus) {
		tap_skip(t->name, "needs two GPUs");
		return;
	}
	if (t->waves && !has_occupancy(0)) {
		tap_skip(t->name, "the GPU does not count waves in flight: a last kernel holds its claim for busy_budget_ms at most");
		return;
	}
	for (i = 0; i < gpus; i++)
		pages[i] = sim_counter(i, "ram_pages");
	params_reset();
	t->run();
	params_reset();
	left = left_by_stock;
	if (!left && sim_old_kernel() && has_mes(0))
		left = "stock 6.1 with MES keeps two pages for each queue of a process that was killed (validation.rst)";
	if (left)
		tap_skip(t->name, left);
	for (i = 0; i < gpus && !left; i++)
		tap_ok(sim_clean(i, pages[i]), "%s: nothing is left on GPU %u", t->name, i);
	tap_eq(sim_counter(0, "bad_packets") + sim_counter(0, "queue_errors") - refused_packets, 0,
	       "%s: no packet was refused", t->name);
}

/* Does not hold the module: where it is being unloaded there is no such file, or no data */
static void watch(void)
{
	char text[4096];
	FILE *f;

	fflush(stdout);
	switch (fork()) {
	case -1:
		tap_bail("fork: %s", strerror(errno));
	case 0:
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;; nap_ns(20 * MS)) {
			f = fopen("/sys/kernel/debug/kfd/preempt", "re");
			while (f && fgets(text, sizeof(text), f))
				;
			if (f)
				fclose(f);
		}
	}
}

int main(int argc, char **argv)
{
	bool list = argc > 1 && !strcmp(argv[1], "-l"), quick = argc > 1 && !strcmp(argv[1], "-q");
	bool rest = argc > 1 && !strcmp(argv[1], "-d"), slow = false;
	const struct test *t;
	unsigned int i;
	int done = 0;

	if (quick || rest)
		argc = 1;
	if (argc > 1 && !strcmp(argv[1], "-w")) {
		watch();
		argc--;
		argv++;
	}
	if (argc > 2 && !strcmp(argv[1], "-r")) {
		many_rings = park_wakes = strtoul(argv[2], NULL, 0);
		argc -= 2;
		argv += 2;
	}
	alone = argc == 2;
	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		/* from here on they wait for evictions, resets and reloads */
		slow |= groups[i] == tests_compose;
		for (t = groups[i]; t->name; t++) {
			if ((quick && (slow || t->deep)) || (rest && !slow && !t->deep))
				continue;
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
