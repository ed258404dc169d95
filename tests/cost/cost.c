// SPDX-License-Identifier: GPL-2.0
/*
 * cost ROUNDS - CPU time of this thread for creating and destroying a queue, in ns.
 * Under tests/vm/run --icount one ns is one guest instruction of ours: user space, the
 * ioctls, and waiting for the (simulated) firmware, but not the firmware's own thread.
 * Prints "median MEDIAN min MIN rounds ROUNDS mean MEAN" after a warm-up of a fifth more rounds.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "kfdclient.h"

static long long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int cmp(const void *l, const void *r)
{
	long long a = *(const long long *)l, b = *(const long long *)r;

	return a < b ? -1 : a > b;
}

int main(int argc, char **argv)
{
	struct kfdc_queue_attr attr = KFDC_QUEUE_DEFAULT;
	int i, rounds = argc == 2 ? atoi(argv[1]) : 0;
	struct kfdc_queue *q;
	long long *t, began, sum = 0;
	struct kfdc *c;

	if (rounds < 1)
		errx(2, "usage: cost ROUNDS");
	t = calloc(rounds, sizeof(*t));
	if (!t || kfdc_open(&c, 0))
		errx(1, "%s", kfdc_error());
	for (i = -rounds / 5; i < rounds; i++) {
		began = cpu_ns();
		if (kfdc_queue_create(c, &attr, &q) || kfdc_queue_destroy(q))
			errx(1, "%s", kfdc_error());
		if (i >= 0)
			t[i] = cpu_ns() - began;
	}
	for (i = 0; i < rounds; i++)
		sum += t[i];
	qsort(t, rounds, sizeof(*t), cmp);
	printf("median %lld min %lld rounds %d mean %lld\n", t[rounds / 2], t[0], rounds, sum / rounds);
	return 0;
}
