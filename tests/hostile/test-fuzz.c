// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that the driver reads, rewritten at random by its process while preemption runs: rings, packets, indices,
 * signals. There is no report of the kernel, and no time gained: the online process's requests take no longer than
 * beside an honest batch process, but for a save.
 *
 * A packet of an unknown type, or an address that is not mapped, ends a queue, or the process's work, for good: there
 * is a new process from time to time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "hostile.h"

#define REWRITES	(long_form ? 1000000ul : 20000ul)
#define ROUNDS		(long_form ? 100u : 4u)
#define REQUESTS	15

enum { COUNT_DONE, COUNT_STOP, COUNT_RINGS };

static struct kfdc_queue *queue[2];
static struct kfdc_signal *signals[8];

static uint64_t some(uint64_t *state, struct kfdc_queue *q)
{
	uint64_t r = sim_random(state);

	switch (r % 9) {
	case 0:
		return 0;
	case 1:
		return ~0ull;
	case 2:
		return r >> 8 & 0xff;
	case 3:
		return (uintptr_t)kfdc_signal_mem(signals[r >> 8 & 7]);
	case 4:
		return *q->wptr + (r >> 8 & 7);
	case 5:
		return *q->rptr - (r >> 8 & 7);
	case 6:
		return 1ull << (r >> 8 & 63);
	case 7:
		return (uintptr_t)q->ring + (r >> 8 & 0xfff);
	default:
		return sim_random(state);
	}
}

/* A dispatch of up to a few ms, or a barrier packet, as a program would write it */
static void packet(uint64_t *state, struct kfdc_queue *q)
{
	uint64_t r = sim_random(state);
	struct kfdc_signal *s = signals[r & 7];

	if (kfdc_queue_full(q))
		return;
	if (r & 0x300)
		kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = (r >> 16) % (5 * MS), .barrier = r & 0x800,
							  .signal = r & 0x400 ? s : NULL, .no_ring = r & 0x1000 });
	else
		kfdc_barrier(q, r & 0x400, &s, 1, signals[r >> 16 & 7]);
}

static void rewrite(uint64_t *state)
{
	uint64_t r = sim_random(state);
	struct kfdc_queue *q = queue[r & 1];
	uint64_t *slot;

	switch (r >> 8 & 15) {
	case 0:
		*q->wptr = some(state, q);
		break;
	case 1:
		*q->rptr = some(state, q);
		break;
	case 2:
		kfdc_signal_set(signals[r >> 16 & 7], some(state, q));
		break;
	case 3:		/* what the packet processor reads next: it may end the queue */
		slot = (uint64_t *)((char *)q->ring + (*q->rptr + (r >> 16 & 3)) % q->attr.packets * 64);
		if ((r >> 20 & 15) == 0)
			slot[r >> 24 & 7] = some(state, q);
		break;
	case 4: case 5: case 6:		/* what it has read */
		slot = (uint64_t *)((char *)q->ring + (*q->rptr - 1 - (r >> 16 & 3)) % q->attr.packets * 64);
		slot[r >> 24 & 7] = some(state, q);
		break;
	case 7:
		kfdc_ring(q);
		shared->count[COUNT_RINGS]++;
		break;
	default:
		packet(state, q);
	}
	shared->count[COUNT_DONE]++;
}

static long act_fuzz(long n, long seed)
{
	struct kfdc_queue_attr attr = { .priority = 15, .percentage = 100, .packets = 256 };
	uint64_t state = seed;
	long i, r = 0;

	for (i = 0; i < 8 && !r; i++)
		r = kfdc_signal_create(me.c, false, &signals[i]);
	for (i = 0; i < 2 && !r; i++)
		r = kfdc_queue_create(me.c, &attr, &queue[i]);
	if (r)
		return r;
	setpriority(PRIO_PROCESS, 0, 19);
	/* some at a time: the guest has one CPU */
	for (i = 0; !shared->count[COUNT_STOP]; i++) {
		if (i < n)
			rewrite(&state);
		if (i % 64 == 0 || i >= n)
			nap_ns(MS);
	}
	return 0;
}

static long act_honest(long unused, long unused2)
{
	/* Two queues, as the fuzzer: MES removes one after the other */
	long i, r = act_create(2, 7);

	(void)unused, (void)unused2;
	for (i = 0; i < 1000 && !r; i++)
		r = kfdc_dispatch(me.q[0], &(struct kfdc_dispatch){ .ns = 25 * MS, .barrier = true });
	return r;
}

static void fuzz(void)
{
	struct actor on = online_start(0, 12), off = user_start(0);
	struct times h, t, worst = {};
	uint64_t save, seed = sim_seed(), done = 0, rings = 0;
	unsigned int i, tries;
	long r;

	/* Tests before this one may have had long saves, which limit preemption until shorter ones have been measured */
	param_set("max_switch_pct", 100);
	if (actor_do(&off, act_honest, 0, 0))
		tap_bail("the honest batch process");
	nap_ns(60 * MS);
	requests(&on, 2 * REQUESTS, MS, 17 * MS);
	h = requests(&on, REQUESTS, MS, 17 * MS);
	if (stat_of(&off, "saved_count") <= 0)
		tap_bail("the honest batch process was not preempted");
	save = stat_of(&off, "saved_us") * US / stat_of(&off, "saved_count");
	actor_kill(&off);
	for (i = 0; i < ROUNDS; i++) {
		off = user_start(0);
		memset((void *)shared->count, 0, sizeof(shared->count));
		actor_tell(&off, act_fuzz, REWRITES / ROUNDS, sim_random(&seed));
		/* Until half of the rewrites are done, for which a busy host needs more time */
		tries = 0;
		do {
			t = requests(&on, REQUESTS, MS, 17 * MS);
			if (t.max > worst.max)
				worst = t;
		} while (shared->count[COUNT_DONE] < REWRITES / ROUNDS / 2 && ++tries < 30);
		done += shared->count[COUNT_DONE];
		rings += shared->count[COUNT_RINGS];
		shared->count[COUNT_STOP] = 1;
		if (!actor_hear(&off, &r, 60000) || r)
			tap_bail("the fuzzer: %s", strerror(-r));
		actor_kill(&off);
	}
	tap_diag("%llu rewrites, %llu rings; honest: P50 %llu us, longest %llu us; a save: %llu us; beside the fuzzer: P50 %llu us, longest %llu us",
		 (unsigned long long)done, (unsigned long long)rings, (unsigned long long)h.p50 / 1000,
		 (unsigned long long)h.max / 1000, (unsigned long long)save / 1000, (unsigned long long)worst.p50 / 1000,
		 (unsigned long long)worst.max / 1000);
	tap_ok(done * 2 >= REWRITES, "fuzz: memory was rewritten (%llu times)", (unsigned long long)done);
	tap_ok(no_later(&worst, &h, save),
	       "fuzz: a request takes a save more at most than beside an honest batch process");
	actor_kill(&on);
	if (has_mes(0))
		stock_leaks = "stock amdkfd with MES keeps a process one of whose queues had a bad packet (testing.rst)";
}

const struct test tests_fuzz[] = {
	{ "fuzz", fuzz },
	{}
};
