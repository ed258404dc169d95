// SPDX-License-Identifier: GPL-2.0
/*
 * kfdbasic: does the simulated GPU keep its promises? TAP on stdout, status 1 if not.
 * Times are checked with tolerance: a VM without KVM is slow. With --strict, for -icount,
 * the tolerance is 5 %.
 */
#define _GNU_SOURCE
#include "kfdclient.h"

#include <err.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS	1000000ULL
#define SEC	1000000000ULL

static unsigned int ntests, failed;
static bool strict;

static void ok(bool cond, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void ok(bool cond, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %u - ", cond ? "" : "not ", ++ntests);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	failed += !cond;
}

static void must(int r)
{
	if (r) {
		printf("Bail out! %s\n", kfdc_error());
		fflush(stdout);
		_exit(1);
	}
}

static void ms_sleep(unsigned int ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS }, NULL);
}

/* Not less than asked for (but for 2 %), and not much more */
static bool about(uint64_t ns, uint64_t want)
{
	return ns * 100 >= want * 98 &&
	       ns <= (strict ? want * 105 / 100 + 200000 : want * 3 / 2 + 50 * MS);
}

static void test_event(struct kfdc *c, struct kfdc_queue *q)
{
	struct kfdc_signal *s;
	uint64_t t;

	must(kfdc_signal_create(c, true, &s));
	kfdc_signal_set(s, 1);
	t = kfdc_now();
	must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 20 * MS, .signal = s }));
	must(kfdc_signal_wait(s, 5 * SEC));
	t = kfdc_now() - t;
	ok(about(t, 20 * MS), "a 20 ms dispatch signals an event after %.3f ms", t / 1e6);
	t = kfdc_signal_gpu_ns(s);
	ok(about(t, 20 * MS), "its time stamps are %.3f ms apart", t / 1e6);
	kfdc_signal_destroy(s);
}

static void test_chain(struct kfdc *c, struct kfdc_queue *q)
{
	struct kfdc_signal *s;
	uint64_t t;
	int i;

	must(kfdc_signal_create(c, true, &s));
	kfdc_signal_set(s, 8);
	t = kfdc_now();
	for (i = 0; i < 8; i++)
		must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 5 * MS, .signal = s }));
	must(kfdc_signal_wait(s, 5 * SEC));
	t = kfdc_now() - t;
	ok(about(t, 40 * MS), "8 dispatches of 5 ms take %.3f ms", t / 1e6);
	ok(*q->rptr == *q->wptr, "the read index has caught up (%llu)",
	   (unsigned long long)*q->rptr);
	kfdc_signal_destroy(s);
}

static void test_rptr_at_launch(struct kfdc *c, struct kfdc_queue *q)
{
	struct kfdc_signal *s;

	must(kfdc_signal_create(c, true, &s));
	kfdc_signal_set(s, 1);
	must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 200 * MS, .signal = s }));
	ms_sleep(50);
	ok(*q->rptr == *q->wptr && kfdc_signal_value(s) == 1,
	   "the read index advances at launch, not at completion");
	must(kfdc_signal_wait(s, 5 * SEC));
	kfdc_signal_destroy(s);
}

/* Off the GPU in the middle of a dispatch: it freezes, resumes, ends once */
static void test_freeze(struct kfdc *c, struct kfdc_queue *q)
{
	struct kfdc_signal *s;
	uint64_t t0, ran, rest;

	must(kfdc_signal_create(c, true, &s));
	kfdc_signal_set(s, 5);
	t0 = kfdc_now();
	must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 200 * MS, .signal = s }));
	ms_sleep(60);
	must(kfdc_queue_update(q, 0, 7));
	ran = kfdc_now() - t0;
	ms_sleep(400);
	ok(kfdc_signal_value(s) == 5, "an inactive queue does not run");
	t0 = kfdc_now();
	must(kfdc_queue_update(q, 100, 7));
	while (kfdc_signal_value(s) == 5 && kfdc_now() - t0 < 5 * SEC)
		ms_sleep(1);
	rest = kfdc_now() - t0;
	ok(ran + rest >= 196 * MS && (ran > 200 * MS || rest < 200 * MS),
	   "200 ms dispatch: ran %.1f ms, then %.1f ms after it was put back", ran / 1e6,
	   rest / 1e6);
	ms_sleep(50);
	ok(kfdc_signal_value(s) == 4, "it completed exactly once (%lld)",
	   (long long)kfdc_signal_value(s));
	kfdc_signal_destroy(s);
}

static void test_barriers(struct kfdc *c, struct kfdc_queue *q)
{
	struct kfdc_signal *dep[2], *s;

	must(kfdc_signal_create(c, false, &dep[0]));
	must(kfdc_signal_create(c, false, &dep[1]));
	must(kfdc_signal_create(c, true, &s));
	kfdc_signal_set(dep[0], 1);
	kfdc_signal_set(dep[1], 1);
	kfdc_signal_set(s, 2);
	must(kfdc_barrier(q, false, dep, 2, s));
	must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = MS, .signal = s }));
	ms_sleep(30);
	kfdc_signal_set(dep[0], 0);
	ms_sleep(30);
	ok(kfdc_signal_value(s) == 2, "barrier-AND waits for all of its signals");
	kfdc_signal_set(dep[1], 0);
	must(kfdc_signal_wait(s, 5 * SEC));
	ok(true, "barrier-AND opens, and what is behind it runs");

	kfdc_signal_set(dep[0], 1);
	kfdc_signal_set(dep[1], 1);
	kfdc_signal_set(s, 1);
	must(kfdc_barrier(q, true, dep, 2, s));
	ms_sleep(30);
	ok(kfdc_signal_value(s) == 1, "barrier-OR waits");
	kfdc_signal_set(dep[1], 0);
	must(kfdc_signal_wait(s, 5 * SEC));
	ok(true, "barrier-OR opens with one of its signals");
	kfdc_signal_set(s, 1);
	must(kfdc_barrier(q, false, NULL, 0, s));
	must(kfdc_signal_wait(s, 5 * SEC));
	ok(true, "a barrier without dependencies opens at once");
	kfdc_signal_destroy(s);
	kfdc_signal_destroy(dep[0]);
	kfdc_signal_destroy(dep[1]);
}

/* A dependency on another queue's dispatch */
static void test_cross(struct kfdc *c, struct kfdc_queue *q)
{
	struct kfdc_signal *a, *b;
	struct kfdc_queue *q2;

	must(kfdc_queue_create(c, NULL, &q2));
	must(kfdc_signal_create(c, true, &a));
	must(kfdc_signal_create(c, true, &b));
	kfdc_signal_set(a, 1);
	kfdc_signal_set(b, 1);
	must(kfdc_barrier(q2, false, &a, 1, b));
	ms_sleep(20);
	ok(kfdc_signal_value(b) == 1, "a barrier waits for another queue");
	must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 5 * MS, .signal = a }));
	must(kfdc_signal_wait(b, 5 * SEC));
	ok(kfdc_signal_value(a) == 0, "and opens when its dispatch is complete");
	kfdc_signal_destroy(a);
	kfdc_signal_destroy(b);
	must(kfdc_queue_destroy(q2));
}

static void test_invalid(struct kfdc *c, struct kfdc_queue *q)
{
	uint64_t w = *q->wptr;
	uint16_t packet[32] = { 1 };	/* INVALID: not published yet */
	uint16_t *slot = (uint16_t *)((char *)q->ring + w % q->attr.packets * 64);
	struct kfdc_signal *s;

	must(kfdc_signal_create(c, true, &s));
	kfdc_signal_set(s, 1);
	must(kfdc_packet(q, packet, false));
	must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = MS, .signal = s }));
	ms_sleep(50);
	ok(*q->rptr == w && kfdc_signal_value(s) == 1, "an INVALID packet is not consumed");
	__atomic_store_n(slot, 3, __ATOMIC_RELEASE);	/* an empty barrier-AND */
	kfdc_ring(q);
	must(kfdc_signal_wait(s, 5 * SEC));
	ok(*q->rptr == w + 2, "it is once it is published");
	kfdc_signal_destroy(s);
}

static void test_doorbell(struct kfdc *c, struct kfdc_queue *q)
{
	struct kfdc_signal *s;

	must(kfdc_signal_create(c, true, &s));
	kfdc_signal_set(s, 1);
	must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = MS, .signal = s, .no_ring = true }));
	ms_sleep(50);
	ok(kfdc_signal_value(s) == 1, "a mapped queue does nothing without a ring");
	kfdc_ring(q);
	must(kfdc_signal_wait(s, 5 * SEC));
	kfdc_signal_set(s, 1);
	must(kfdc_queue_update(q, 0, 7));
	must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = MS, .signal = s, .no_ring = true }));
	must(kfdc_queue_update(q, 100, 7));
	must(kfdc_signal_wait(s, 5 * SEC));
	ok(true, "mapping a queue looks at its write index");
	kfdc_signal_destroy(s);
}

static void test_error(struct kfdc *c)
{
	struct kfdc_queue *q;
	struct kfdc_signal *s;
	uint16_t packet[32] = { 99 };

	must(kfdc_queue_create(c, NULL, &q));
	must(kfdc_signal_create(c, true, &s));
	kfdc_signal_set(s, 1);
	must(kfdc_packet(q, packet, true));
	must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = MS, .signal = s }));
	ms_sleep(50);
	ok(*q->rptr == 0 && kfdc_signal_value(s) == 1, "an unknown packet stops the queue");
	must(kfdc_queue_update(q, 0, 7));
	must(kfdc_queue_update(q, 100, 7));
	ms_sleep(20);
	ok(*q->rptr == 0, "it stays stopped when it is unmapped and mapped again");
	must(kfdc_queue_destroy(q));
	kfdc_signal_destroy(s);
}

/*
 * Two queues always full, the one of high priority alone decides; with equal priorities
 * they share. Counts completions of 2 ms dispatches in 400 ms.
 */
static void test_priority(struct kfdc *c, uint32_t pa, uint32_t pb, const char *what, double lo,
			  double hi)
{
	struct kfdc_queue_attr a = KFDC_QUEUE_DEFAULT, b = KFDC_QUEUE_DEFAULT;
	struct kfdc_signal *sa, *sb;
	struct kfdc_queue *qa, *qb;
	int64_t na, nb;
	int i;

	a.priority = pa;
	b.priority = pb;
	must(kfdc_queue_create(c, &a, &qa));
	must(kfdc_queue_create(c, &b, &qb));
	must(kfdc_signal_create(c, false, &sa));
	must(kfdc_signal_create(c, false, &sb));
	kfdc_signal_set(sa, 1000);
	kfdc_signal_set(sb, 1000);
	for (i = 0; i < 1000; i++) {
		must(kfdc_dispatch(qa, &(struct kfdc_dispatch){ .ns = 2 * MS, .signal = sa,
								.no_ring = i < 999 }));
		must(kfdc_dispatch(qb, &(struct kfdc_dispatch){ .ns = 2 * MS, .signal = sb,
								.no_ring = i < 999 }));
	}
	ms_sleep(400);
	na = 1000 - kfdc_signal_value(sa);
	nb = 1000 - kfdc_signal_value(sb);
	ok(na + nb > 50 && na >= lo * (na + nb) && na <= hi * (na + nb),
	   "priorities %u and %u: %s (%lld and %lld dispatches)", pa, pb, what, (long long)na,
	   (long long)nb);
	must(kfdc_queue_destroy(qa));
	must(kfdc_queue_destroy(qb));
	kfdc_signal_destroy(sa);
	kfdc_signal_destroy(sb);
}

/* What runs is not taken off for a higher priority: that is arbitration at launch only */
static void test_no_preemption(struct kfdc *c, struct kfdc_queue *q)
{
	struct kfdc_queue_attr a = KFDC_QUEUE_DEFAULT;
	struct kfdc_signal *lo, *hi;
	struct kfdc_queue *qh;
	uint64_t t;

	a.priority = 15;
	must(kfdc_queue_create(c, &a, &qh));
	must(kfdc_signal_create(c, true, &lo));
	must(kfdc_signal_create(c, true, &hi));
	kfdc_signal_set(lo, 1);
	kfdc_signal_set(hi, 1);
	must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 200 * MS, .signal = lo }));
	ms_sleep(20);
	t = kfdc_now();
	must(kfdc_dispatch(qh, &(struct kfdc_dispatch){ .ns = MS, .signal = hi }));
	must(kfdc_signal_wait(hi, 5 * SEC));
	t = kfdc_now() - t;
	ok(kfdc_signal_value(lo) == 0 && t >= 100 * MS,
	   "priority 15 waits %.1f ms for what already runs", t / 1e6);
	kfdc_signal_destroy(lo);
	kfdc_signal_destroy(hi);
	must(kfdc_queue_destroy(qh));
}

int main(int argc, char **argv)
{
	struct kfdc_queue *q;
	struct kfdc *c;

	strict = argc > 1 && !strcmp(argv[1], "--strict");
	if (argc > 2 + strict)
		errx(2, "usage: kfdbasic [--strict] [NUMBER OF THE GPU]");
	must(kfdc_open(&c, argc > 1 + strict ? strtoul(argv[1 + strict], NULL, 10) : 0));
	must(kfdc_queue_create(c, NULL, &q));
	test_event(c, q);
	test_chain(c, q);
	test_rptr_at_launch(c, q);
	test_freeze(c, q);
	test_barriers(c, q);
	test_cross(c, q);
	test_invalid(c, q);
	test_doorbell(c, q);
	test_error(c);
	test_priority(c, 7, 7, "they share", 0.4, 0.6);
	test_priority(c, 15, 3, "the first has it all", 0.98, 1);
	if (kfdc_has_queue_priority())
		test_priority(c, 9, 7, "the same pipe priority, the queue priority decides", 0.98, 1);
	else
		test_priority(c, 9, 7, "the same pipe priority, and no other: they share", 0.4, 0.6);
	test_no_preemption(c, q);
	must(kfdc_queue_destroy(q));
	kfdc_close(c);
	printf("1..%u\n", ntests);
	return failed != 0;
}
