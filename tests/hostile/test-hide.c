// SPDX-License-Identifier: GPL-2.0
/*
 * A batch process that hides its work, alone beside one online process whose requests of 1 ms come now and then: each
 * request takes no longer than beside an honest batch process, but for the time of one save.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "hostile.h"

#define REQUESTS	(long_form ? 1000 : 100)
#define REQUEST_NS	MS
#define PAUSE_NS	(33 * MS)
#define BATCH_NS	(25 * MS)
#define BATCH		4000	/* of them: 100 s */
#define MARGIN_NS	(15 * US)

/**
 * struct disguise - what a batch process does to look idle
 * @name: of the test
 * @what: for the reader
 * @before: done once the queue is there, before its work
 * @after: done once its work was submitted
 * @again: done by a thread every @every ns from then on
 * @dispatches: of BATCH_NS; 0: BATCH
 */
struct disguise {
	const char *name, *what;
	long (*before)(struct kfdc_queue *q);
	long (*after)(struct kfdc_queue *q);
	void (*again)(struct kfdc_queue *q, unsigned int n);
	uint64_t every;
	long dispatches;
};

/* ---- disguises; all of them in the batch process ---- */

/*
 * Another page where the driver has the indices. The GPU goes on with the one that it has mapped, and so does this
 * process at another address. What the driver reads is the result.
 */
static volatile uint64_t *move_indices(struct kfdc_queue *q, int prot)
{
	char *old = q->ptr_bo.va, *new = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (new == MAP_FAILED || mremap(old, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, new) == MAP_FAILED)
		return NULL;
	q->wptr = (void *)new;
	q->rptr = (void *)(new + 128);
	if (prot < 0)
		return (void *)old;
	return mmap(old, 4096, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ? NULL : (void *)old;
}

static volatile uint64_t *shown;	/* the write index that the driver reads; the read index is 128 bytes behind */

static long show_zero(struct kfdc_queue *q)
{
	shown = move_indices(q, PROT_READ | PROT_WRITE);
	if (!shown)
		return -errno;
	return *shown;	/* the page of zeros */
}

static const struct disguise disguises[] = {
	{ "hide_page", "the indices are in a page of zeros, for the driver", .before = show_zero },
	{}
};

static void *disguise_thread(void *arg)
{
	(void)arg;
	return NULL;
}

static long act_batch(long which, long unused)
{
	const struct disguise *d = which < 0 ? &(struct disguise){ "honest" } : &disguises[which];
	struct kfdc_queue_attr attr = { .priority = 7, .percentage = 100, .packets = 4096 };
	long i, r, n = d->dispatches ? d->dispatches : BATCH;
	struct kfdc_queue *q;
	pthread_t thread;

	(void)unused;
	r = kfdc_queue_create(me.c, &attr, &q);
	if (!r && d->before)
		r = d->before(q);
	for (i = 0; !r && i < n; i++)
		r = kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = BATCH_NS, .barrier = true, .no_ring = i < n - 1 });
	if (!r && d->after)
		r = d->after(q);
	if (!r && d->again && pthread_create(&thread, NULL, disguise_thread, q))
		r = -EAGAIN;
	return r;
}

/* ---- beside it, the online process ---- */

static void show(const char *what, const struct times *t)
{
	tap_diag("%s: %llu requests of 1 ms: P50 %llu us, P99 %llu us, longest %llu us", what, (unsigned long long)t->n,
		 (unsigned long long)t->p50 / 1000, (unsigned long long)t->p99 / 1000, (unsigned long long)t->max / 1000);
}

/* Each request's time beside an honest batch process, and what a save took there: measured once in a run */
static const struct times *honest(const struct actor *on, uint64_t *save_ns)
{
	static struct times t;
	static uint64_t save;
	struct actor off;

	if (!t.n) {
		t = requests(on, REQUESTS, REQUEST_NS, PAUSE_NS);
		show("alone", &t);
		off = user_start(0);
		if (actor_do(&off, act_batch, -1, 0))
			tap_bail("the honest batch process");
		nap_ns(100 * MS);
		t = requests(on, REQUESTS, REQUEST_NS, PAUSE_NS);
		save = stat_of(&off, "saved_count") > 0 ?
			stat_of(&off, "saved_us") * 1000 / stat_of(&off, "saved_count") : 0;
		show("beside an honest batch process", &t);
		tap_diag("a save took %llu us", (unsigned long long)save / 1000);
		if (!save)
			tap_bail("the honest batch process was not preempted");
		actor_kill(&off);
		wait_mapped(0, 1);
	}
	*save_ns = save;
	return &t;
}

static void hide(unsigned int which)
{
	const struct disguise *d = &disguises[which];
	struct actor on = online_start(0, 12), off;
	const struct times *h;
	struct times t;
	uint64_t save;
	long r;

	h = honest(&on, &save);
	off = user_start(0);
	r = actor_do(&off, act_batch, which, 0);
	if (r == NOT_HERE) {
		tap_skip(d->name, user_why());
	} else if (r) {
		tap_bail("%s: %s", d->name, strerror(-r));
	} else {
		nap_ns(100 * MS);
		t = requests(&on, REQUESTS, REQUEST_NS, PAUSE_NS);
		show(d->what, &t);
		tap_ok(t.p50 <= h->p50 + save + MARGIN_NS && t.p99 <= h->p99 + save + MARGIN_NS,
		       "%s: a request takes a save more at most than beside an honest batch process", d->name);
	}
	actor_kill(&off);
	actor_kill(&on);
}

static void hide_page(void) { hide(0); }

const struct test tests_hide[] = {
	{ "hide_page", hide_page },
	{}
};
