// SPDX-License-Identifier: GPL-2.0
/*
 * toggle ROUNDS - CPU time of this thread for two updates of a queue, to 0 % and to 100 %: each is an
 * unmap and a new runlist. See tests/cost/cost.c. Prints "median MEDIAN min MIN rounds ROUNDS", ns.
 */
#include "bench.h"

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * NSEC + t.tv_nsec;
}

int main(int argc, char **argv)
{
	struct kfdc_queue *q, *other;
	struct samples s;
	uint64_t began;
	struct kfdc *c;
	int i, rounds;

	if (argc != 2)
		errx(2, "usage: toggle ROUNDS");
	rounds = bench_number(argv[1], "ROUNDS");
	samples_init(&s, rounds);
	if (kfdc_open(&c, 0) || kfdc_queue_create(c, NULL, &q) || kfdc_queue_create(c, NULL, &other))
		errx(1, "%s", kfdc_error());
	for (i = -rounds / 5; i < rounds; i++) {
		began = cpu_ns();
		if (kfdc_queue_update(q, 0, 7) || kfdc_queue_update(q, 100, 7))
			errx(1, "%s", kfdc_error());
		if (i >= 0)
			samples_add(&s, cpu_ns() - began);
	}
	printf("median %" PRIu64 " min %" PRIu64 " rounds %d\n", samples_pct(&s, 500),
	       samples_pct(&s, 0), rounds);
	return 0;
}
