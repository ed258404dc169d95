// SPDX-License-Identifier: GPL-2.0
/*
 * order PREEMPTIONS PROCESSES SEED - is every dispatch of the preempted run once, and in order?
 *
 * PROCESSES children dispatch kernels of 5 to 400 us (SEED), each with a signal of its own. This process, which
 * kfdprio gives priority 12, rings for a short kernel whenever it has been idle for some microseconds, until
 * PREEMPTIONS have been seen. Then the children finish what they have begun and compare:
 *	each signal is at 0 after its dispatch (1: lost, below 0: repeated), 1000 dispatches later too;
 *	ends are in the order of the queue, no begin is after its end;
 *	the GPU has launched as many dispatches as all of us have written.
 * Prints "NAME VALUE" lines (dispatches_least: of the child that was served least), and what it is at every five
 * seconds of the guest's time on stderr.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "bench.h"

#define DEPTH	4
#define SIGNALS	1008

struct told {
	uint64_t sent, done, lost, repeated, disorder;
};

static volatile sig_atomic_t stop;

static void on_term(int unused)
{
	(void)unused;
	stop = 1;
}

static int child(int fd, void *arg)
{
	uint64_t state = *(uint64_t *)arg + getpid(), start, end, before = 0, seen = 0, waited;
	struct kfdc_signal *sig[SIGNALS], *s;
	struct told t = {};
	struct kfdc_queue *q;
	struct kfdc *c;
	unsigned int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, on_term);
	if (kfdc_open(&c, 0) || kfdc_queue_create(c, NULL, &q))
		errx(1, "%s", kfdc_error());
	for (i = 0; i < SIGNALS; i++)
		if (kfdc_signal_create(c, i % DEPTH == DEPTH - 1, &sig[i]))
			errx(1, "%s", kfdc_error());
	while (!stop || t.done < t.sent) {
		/* DEPTH at a time, then the last of them is waited for: few wake-ups */
		for (i = 0; i < DEPTH && !stop; i++, t.sent++) {
			s = sig[t.sent % SIGNALS];
			if (t.sent >= SIGNALS)
				t.repeated += kfdc_signal_value(s) < 0;
			kfdc_signal_set(s, 1);
			if (kfdc_dispatch(q, &(struct kfdc_dispatch){
					.ns = 5000 + sim_random(&state) % 395000, .signal = s,
					.no_ring = i < DEPTH - 1 }))
				errx(1, "%s", kfdc_error());
		}
		if (i)
			kfdc_ring(q);
		for (; t.done < t.sent; t.done++) {
			s = sig[t.done % SIGNALS];
			if (t.done % DEPTH != DEPTH - 1 && t.done != t.sent - 1)
				continue;
			/* while others are served first it may wait for long; when preemption has ended it may not */
			for (waited = 0; kfdc_signal_wait(s, NSEC) && kfdc_signal_value(s) > 0; waited += stop)
				if (waited >= 20) {
					t.lost += t.sent - t.done;
					goto out;
				}
		}
		for (; seen < t.done; seen++) {
			s = sig[seen % SIGNALS];
			t.lost += kfdc_signal_value(s) > 0;
			t.repeated += kfdc_signal_value(s) < 0;
			kfdc_signal_times(s, &start, &end);
			t.disorder += end < before || end < start;
			before = end;
		}
	}
out:
	return write(fd, &t, sizeof(t)) != sizeof(t);
}

/*
 * Nobody creates, updates or destroys a queue while we count, so that all unmaps are those of preemptions and
 * restores, in turn.
 */
static long long preemptions(long long unmaps)
{
	return (sim_counter(0, "unmaps") - unmaps) / 2;
}

int main(int argc, char **argv)
{
	uint64_t want, procs, seed, state, mine = 0, began, told = 0;
	long long launched, n = 0, saves, unmaps;
	struct sim_child ch[64];
	struct told t, sum = {};
	uint64_t least = UINT64_MAX;
	struct kfdc_signal *s;
	struct kfdc_queue *q;
	struct kfdc *c;
	unsigned int i;
	char cmd[64];

	if (argc != 4)
		errx(2, "usage: order PREEMPTIONS PROCESSES SEED");
	want = bench_number(argv[1], "PREEMPTIONS");
	procs = bench_number(argv[2], "PROCESSES");
	seed = state = bench_number(argv[3], "SEED");
	if (procs > 64)
		errx(2, "at most 64 processes");
	prctl(PR_SET_TIMERSLACK, 1);
	launched = sim_counter(0, "dispatches");
	saves = sim_counter(0, "saves");
	for (i = 0; i < procs; i++)
		ch[i] = sim_child(child, &seed);
	if (kfdc_open(&c, 0) || kfdc_queue_create(c, NULL, &q) || kfdc_signal_create(c, true, &s))
		errx(1, "%s", kfdc_error());
	/* not before: children inherit a priority */
	snprintf(cmd, sizeof(cmd), "kfdprio -n 12 -p %d", getpid());
	if (system(cmd))
		errx(1, "%s failed", cmd);
	bench_sleep_until(kfdc_now() + NSEC / 10);
	unmaps = sim_counter(0, "unmaps");
	began = kfdc_now();
	while ((uint64_t)n < want) {
		for (i = 0; i < 50; i++, mine++) {
			kfdc_signal_set(s, 1);
			if (kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 2000, .signal = s }) ||
			    kfdc_signal_wait(s, WAIT_NS))
				errx(1, "%s", kfdc_error());
			bench_sleep_until(kfdc_now() + 20000 + sim_random(&state) % 100000);
		}
		n = preemptions(unmaps);
		if (kfdc_now() - began > (told + 1) * 5 * NSEC) {
			told = (kfdc_now() - began) / (5 * NSEC);
			fprintf(stderr, "bench: order: %lld of %" PRIu64 " preemptions after %" PRIu64 " s of guest time\n",
				n, want, 5 * told);
			if (!n)
				errx(1, "nobody is preempted");
		}
	}
	printf("secs %.3f\n", (kfdc_now() - began) / 1e9);
	for (i = 0; i < procs; i++)
		kill(ch[i].pid, SIGTERM);
	for (i = 0; i < procs; i++) {
		if (!sim_child_hear(&ch[i], &t, sizeof(t), 600000))
			errx(1, "child %u says nothing", i);
		least = t.done < least ? t.done : least;
		sum.sent += t.sent;
		sum.done += t.done;
		sum.lost += t.lost;
		sum.repeated += t.repeated;
		sum.disorder += t.disorder;
	}
	launched = sim_counter(0, "dispatches") - launched - (long long)sum.sent - (long long)mine;
	printf("preemptions %lld\ndispatches %" PRIu64 "\ndispatches_least %" PRIu64 "\n", n, sum.done, least);
	printf("saved_in_flight %lld\n", sim_counter(0, "saves") - saves);
	printf("packets_lost %" PRIu64 "\npackets_repeated %" PRIu64 "\npackets_disorder %" PRIu64 "\n",
	       sum.lost, sum.repeated, sum.disorder);
	printf("launches_too_many %lld\n", launched);
	return sum.lost || sum.repeated || sum.disorder || launched;
}
