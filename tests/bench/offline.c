// SPDX-License-Identifier: GPL-2.0
/*
 * offline NS DEPTH CHURN_MS SEED - offline work: DEPTH dispatches of NS of GPU time are always there.
 * With CHURN_MS, a second thread does one operation on another queue of its own every CHURN_MS on average (from
 * half to one and a half of it; SEED): create, update to 0 %, update to 100 %, destroy, and again.
 *
 * Each dispatch is checked: it completes once (its signal is at 0 when it is used again, 60 dispatches
 * later), in order, and after it was launched. Runs until SIGTERM; what is in flight then does not
 * count. Prints "ready" when its first dispatch is out, and at the end "NAME VALUE" lines; exit status 1 if
 * anything was wrong.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include "bench.h"

#define SIGNALS	64

static struct kfdc *c;
static struct kfdc_queue *q;
static struct kfdc_signal *sig[SIGNALS];
static uint64_t mean, seed, ops;
static volatile sig_atomic_t stop;

static void on_term(int unused)
{
	(void)unused;
	stop = 1;
}

static void *churn(void *unused)
{
	uint64_t state = seed, at = kfdc_now();
	struct kfdc_queue *x = NULL;
	int r;

	(void)unused;
	for (;; ops++) {
		at += mean / 2 + sim_random(&state) % mean;
		bench_sleep_until(at);
		switch (ops % 4) {
		case 0:
			r = kfdc_queue_create(c, NULL, &x);
			break;
		case 3:
			r = kfdc_queue_destroy(x);
			break;
		default:
			r = kfdc_queue_update(x, ops % 4 == 1 ? 0 : 100, 7);
		}
		if (r)
			errx(1, "operation %" PRIu64 ": %s", ops, kfdc_error());
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t ns, depth, sent = 0, done = 0, repeated = 0, disorder = 0, start, end, before = 0;
	unsigned int i;
	pthread_t t;

	if (argc != 5)
		errx(2, "usage: offline NS DEPTH CHURN_MS SEED");
	ns = bench_number(argv[1], "NS");
	depth = bench_number(argv[2], "DEPTH");
	mean = bench_number(argv[3], "CHURN_MS") * 1000000;
	seed = bench_number(argv[4], "SEED");
	if (!depth || depth > 4)
		errx(2, "DEPTH is 1 to 4");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, on_term);
	if (kfdc_open(&c, 0) || kfdc_queue_create(c, NULL, &q))
		errx(1, "%s", kfdc_error());
	for (i = 0; i < SIGNALS; i++)
		if (kfdc_signal_create(c, true, &sig[i]))
			errx(1, "%s", kfdc_error());
	if (mean && pthread_create(&t, NULL, churn, NULL))
		errx(1, "a thread");
	while (!stop) {
		for (; sent < done + depth; sent++) {
			struct kfdc_signal *s = sig[sent % SIGNALS];

			repeated += kfdc_signal_value(s) != 0;
			kfdc_signal_set(s, 1);
			if (kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = ns, .signal = s }))
				errx(1, "dispatch %" PRIu64 ": %s", sent, kfdc_error());
		}
		if (!done) {
			puts("ready");
			fflush(stdout);
		}
		/* SIGTERM: the wait is restarted, so look at least once a second */
		if (kfdc_signal_wait(sig[done % SIGNALS], NSEC)) {
			if (kfdc_signal_value(sig[done % SIGNALS]) > 0)
				continue;
		}
		kfdc_signal_times(sig[done % SIGNALS], &start, &end);
		disorder += end < before || end < start;
		before = end;
		done++;
	}
	printf("done %" PRIu64 "\nops %" PRIu64 "\nrepeated %" PRIu64 "\ndisorder %" PRIu64 "\n",
	       done, ops, repeated, disorder);
	fflush(stdout);
	_exit(repeated || disorder);	/* with work in flight */
}
