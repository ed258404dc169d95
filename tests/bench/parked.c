// SPDX-License-Identifier: GPL-2.0
/*
 * The effect of parking on processes without work, and on one with work beside them. "NAME VALUE" lines, times in ns or us.
 *
 * parked idle PROCESSES QUEUES
 *	So many, with so many queues each, that have had one dispatch and have nothing to do. Prints "ready"; ends when
 *	its stdin does.
 * parked busy SECS NS
 *	One that always has two dispatches of NS in flight: how many a second, and the latency of each, from just before
 *	its packet is written to when the process knows that it is complete.
 * parked wake RINGS GAP_US NS SEED
 *	Rings for one dispatch of NS, waits for it, sleeps GAP_US (half to one and a half of it; SEED), and again. From
 *	just before the store to the first RUN_LIST (MES: ADD_QUEUE) that follows, by the time stamp counter, as in
 *	rings.c. Rings without one before the dispatch is complete are counted (missed): nobody was parked.
 * parked cycles PROCESSES ROUNDS GAP_US SEED
 *	In each round, of GAP_US, each of them rings for one to three dispatches of 5 to 50 us, at a time of its own.
 *	Packets are counted by the signal of each process: above 0 some are lost, below 0 repeated.
 */
#include <sys/prctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "bench.h"

#define MAX_PROCESSES	1000

static unsigned int queues_each = 1;
static struct kfdc *c;
static struct kfdc_queue *q;

static void need_queue(unsigned int packets)
{
	struct kfdc_queue_attr attr = KFDC_QUEUE_DEFAULT;

	attr.packets = packets;
	if (kfdc_open(&c, 0) || kfdc_queue_create(c, &attr, &q))
		errx(1, "%s", kfdc_error());
}

static struct kfdc_signal *need_signal(void)
{
	struct kfdc_signal *s;

	if (kfdc_signal_create(c, true, &s))
		errx(1, "%s", kfdc_error());
	return s;
}

static void dispatch(struct kfdc_signal *s, uint64_t ns, bool rings)
{
	if (kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = ns, .signal = s, .no_ring = !rings }))
		errx(1, "%s", kfdc_error());
}

static void wait_for(struct kfdc_signal *s)
{
	if (kfdc_signal_wait(s, WAIT_NS))
		errx(1, "%s", kfdc_error());
}

/* ---- children: one order is a number of packets, the answer is what was parked, lost and repeated so far ---- */

struct tally {
	long long parked, lost, repeated;
};

static struct child {
	int order, answer;
} child[MAX_PROCESSES];
static unsigned int children;

static void child_life(int order, int answer, uint64_t state)
{
	struct kfdc_signal *s;
	struct tally t = { 0 };
	unsigned int n, i;
	int64_t left;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	need_queue(64);
	for (i = 1; i < queues_each; i++) {
		struct kfdc_queue_attr attr = KFDC_QUEUE_DEFAULT;
		struct kfdc_queue *unused;

		if (kfdc_queue_create(c, &attr, &unused))
			errx(1, "%s", kfdc_error());
	}
	s = need_signal();
	kfdc_signal_set(s, 1);
	dispatch(s, 1000, true);
	wait_for(s);
	if (write(answer, &t, sizeof(t)) != sizeof(t))
		_exit(1);
	while (read(order, &n, sizeof(n)) == sizeof(n)) {
		/* below 0 from the round before: completed twice */
		left = kfdc_signal_value(s);
		t.repeated += left < 0 ? -left : 0;
		kfdc_signal_set(s, n);
		for (i = 0; i < n; i++)
			dispatch(s, 5000 + sim_random(&state) % 45000, true);
		kfdc_signal_wait(s, 10 * NSEC);
		left = kfdc_signal_value(s);
		t.lost += left > 0 ? left : 0;
		t.parked = bench_stat(kfdc_gpu_id(c), "parked_count");
		if (write(answer, &t, sizeof(t)) != sizeof(t))
			break;
	}
	_exit(0);
}

static struct tally hear(unsigned int i)
{
	struct tally t;

	if (read(child[i].answer, &t, sizeof(t)) != sizeof(t))
		errx(1, "process %u has ended", i);
	return t;
}

static void children_start(unsigned int n, uint64_t seed)
{
	int order[2], answer[2];

	if (!n || n > MAX_PROCESSES)
		errx(2, "PROCESSES is 1 to %d", MAX_PROCESSES);
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 4096, 4096 });
	for (; children < n; children++) {
		if (pipe(order) || pipe(answer))
			err(1, "pipe");
		switch (fork()) {
		case -1:
			err(1, "process %u", children);
		case 0:
			close(order[1]);
			close(answer[0]);
			child_life(order[0], answer[1], seed + children);
		}
		close(order[0]);
		close(answer[1]);
		child[children] = (struct child){ order[1], answer[0] };
		/* one after the other: the runlist is theirs in this order */
		hear(children);
	}
}

/* ---- what it does ---- */

static int idle(char **arg)
{
	char x;

	queues_each = bench_number(arg[1], "QUEUES");
	children_start(bench_number(arg[0], "PROCESSES"), 0);
	puts("ready");
	fflush(stdout);
	while (read(0, &x, 1) > 0)
		;
	return 0;
}

static int busy(char **arg)
{
	enum { DEPTH = 2, SIGNALS = 8, WARM = 20 };
	uint64_t secs = bench_number(arg[0], "SECS"), ns = bench_number(arg[1], "NS"), sent = 0, done = 0, from = 0, out[SIGNALS];
	struct kfdc_signal *s[SIGNALS];
	uint64_t repeated = 0, now = 0;
	struct samples lat;
	unsigned int i;

	mlockall(MCL_CURRENT | MCL_FUTURE);
	samples_init(&lat, secs * NSEC / ns + WARM);
	need_queue(64);
	for (i = 0; i < SIGNALS; i++)
		s[i] = need_signal();
	while (!from || now - from < secs * NSEC) {
		for (; sent < done + DEPTH; sent++) {
			i = sent % SIGNALS;
			repeated += kfdc_signal_value(s[i]) != 0;
			kfdc_signal_set(s[i], 1);
			out[i] = kfdc_now();
			dispatch(s[i], ns, true);
		}
		wait_for(s[done % SIGNALS]);
		now = kfdc_now();
		if (from)
			samples_add(&lat, now - out[done % SIGNALS]);
		if (++done == WARM)
			from = now;
	}
	samples_print(&lat, "", "us", 1e3);
	printf("per_s %.6g\nrepeated %" PRIu64 "\nparked %lld\n", lat.n * 1e9 / (now - from), repeated,
	       bench_stat(kfdc_gpu_id(c), "parked_count"));
	fflush(stdout);
	/* with work in flight */
	_exit(repeated != 0);
}

static int wake(char **arg)
{
	uint64_t rings = bench_number(arg[0], "RINGS"), gap = bench_number(arg[1], "GAP_US") * 1000;
	uint64_t ns = bench_number(arg[2], "NS"), state = bench_number(arg[3], "SEED");
	uint64_t i, k, n, missed = 0, *ring = calloc(rings, sizeof(*ring)), *seen = calloc(rings, sizeof(*seen));
	struct submit *v = calloc(MAX_SUBMITS, sizeof(*v));
	struct samples to_runlist, store;
	struct kfdc_signal *s;
	long long parked;
	double per_us;

	if (!ring || !seen || !v)
		err(1, "memory");
	prctl(PR_SET_TIMERSLACK, 1);
	mlockall(MCL_CURRENT | MCL_FUTURE);
	samples_init(&to_runlist, rings);
	samples_init(&store, rings);
	per_us = bench_tsc_per_us();
	need_queue(64);
	s = need_signal();
	parked = bench_stat(kfdc_gpu_id(c), "parked_count");
	for (i = 0; i < rings; i++) {
		bench_sleep_until(kfdc_now() + gap / 2 + sim_random(&state) % (gap + 1));
		kfdc_signal_set(s, 1);
		dispatch(s, ns, false);
		ring[i] = bench_tsc();
		kfdc_ring(q);
		samples_add(&store, (bench_tsc() - ring[i]) * 1e3 / per_us);
		wait_for(s);
		seen[i] = bench_tsc();
	}
	parked = bench_stat(kfdc_gpu_id(c), "parked_count") - parked;
	n = bench_submits(v);
	if (n == MAX_SUBMITS && v[0].tsc > ring[0])
		errx(1, "more packets than are known: something goes round in circles");
	for (i = 0, k = 0; i < rings; i++) {
		while (k < n && (v[k].what == 'U' || v[k].tsc < ring[i]))
			k++;
		if (k == n || v[k].tsc > seen[i])
			missed++;
		else
			samples_add(&to_runlist, (v[k].tsc - ring[i]) * 1e3 / per_us);
	}
	samples_print(&to_runlist, "", "ns", 1);
	samples_print(&store, "store_", "ns", 1);
	printf("missed %" PRIu64 "\nparked %lld\n", missed, parked);
	return 0;
}

static int cycles(char **arg)
{
	unsigned int n = bench_number(arg[0], "PROCESSES"), rounds = bench_number(arg[1], "ROUNDS"), i, r, packets;
	uint64_t gap = bench_number(arg[2], "GAP_US") * 1000, state = bench_number(arg[3], "SEED"), t, sent = 0;
	struct tally sum = { 0 }, one;

	children_start(n, state);
	for (r = 0; r <= rounds; r++) {
		/* the last round sends nothing: a repeat of a packet of the round before is counted by then */
		packets = r < rounds ? 1 + sim_random(&state) % 3 : 0;
		t = kfdc_now() + gap;
		for (i = 0; i < n; i++) {
			bench_sleep_until(kfdc_now() + sim_random(&state) % (2 * gap / n + 1));
			if (write(child[i].order, &packets, sizeof(packets)) != sizeof(packets))
				err(1, "process %u", i);
		}
		sent += (uint64_t)packets * n;
		for (i = 0; i < n; i++) {
			one = hear(i);
			if (r < rounds)
				continue;
			sum.parked += one.parked;
			sum.lost += one.lost;
			sum.repeated += one.repeated;
		}
		bench_sleep_until(t);
	}
	printf("parked %lld\npackets %" PRIu64 "\nlost %lld\nrepeated %lld\n", sum.parked, sent, sum.lost, sum.repeated);
	return sum.lost || sum.repeated;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int args, (*run)(char **arg);
	} modes[] = { { "idle", 2, idle }, { "busy", 2, busy }, { "wake", 4, wake }, { "cycles", 4, cycles } };
	unsigned int i;

	for (i = 0; argc > 1 && i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(argv[1], modes[i].name) && argc == modes[i].args + 2)
			return modes[i].run(argv + 2);
	errx(2, "usage: parked idle PROCESSES QUEUES | busy SECS NS | wake RINGS GAP_US NS SEED | cycles PROCESSES ROUNDS GAP_US SEED");
}
