// SPDX-License-Identifier: GPL-2.0
/*
 * A batch process that hides its work, alone beside one online process whose requests of 1 ms come now and then: a
 * request takes no longer than beside an honest batch process, but for the time of one save.
 *
 * How the batch process hides is in disguise.c.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include "disguise.h"

#define REQUESTS	(long_form ? 400 : 40)
#define REQUEST_NS	MS
#define PAUSE_NS	(17 * MS)

static void show(const char *what, const struct times *t)
{
	tap_diag("%s: %llu requests of 1 ms: P50 %llu us, P99 %llu us, longest %llu us", what, (unsigned long long)t->n,
		 (unsigned long long)t->p50 / 1000, (unsigned long long)t->p99 / 1000, (unsigned long long)t->max / 1000);
}

/* A debugger that never continues it, of the same user */
static struct actor stop(const struct actor *off, enum stop how)
{
	struct actor tracer = {};

	if (how == STOP_SIGNAL) {
		kill(off->pid, SIGSTOP);
	} else if (how == STOP_TRACED) {
		tracer = user_bare(0);
		if (actor_do(&tracer, act_trace_stop, off->pid, 0))
			tap_bail("a user cannot trace its own process");
	}
	return tracer;
}

/* A batch process at work, hidden; false: it cannot hide so here, which was told */
static bool batch(struct actor *off, int which)
{
	long r;

	*off = user_start(0);
	r = actor_do(off, act_batch, which, 0);
	if (r == NOT_HERE) {
		tap_skip(disguises[which].name, user_why());
		actor_kill(off);
		return false;
	}
	if (r)
		tap_bail("%s: %s", disguises[which].name, strerror(-r));
	/* the engine looks at it several times */
	nap_ns(60 * MS);
	return true;
}

/* The times of requests beside an honest batch process, and what a save took there: measured once in a run */
static const struct times *honest(const struct actor *on, uint64_t *save_ns)
{
	static struct times t;
	static uint64_t save;
	struct actor off;
	long long n;

	if (!t.n) {
		t = requests(on, REQUESTS, REQUEST_NS, PAUSE_NS);
		show("alone", &t);
		batch(&off, HONEST);
		t = requests(on, REQUESTS, REQUEST_NS, PAUSE_NS);
		show("beside an honest batch process", &t);
		n = stat_of(&off, "saved_count");
		if (n <= 0)
			tap_bail("the honest batch process was not preempted");
		save = stat_of(&off, "saved_us") * US / n;
		tap_diag("a save took %llu us", (unsigned long long)save / 1000);
		actor_kill(&off);
		wait_mapped(0, 1);
	}
	*save_ns = save;
	return &t;
}

static void hide(void)
{
	int which = disguise_of(test_name);
	const struct disguise *d = &disguises[which];
	struct actor on = online_start(0, 12), off, tracer;
	const struct times *h;
	struct times t;
	uint64_t save;

	h = honest(&on, &save);
	if (batch(&off, which)) {
		tracer = stop(&off, d->stop);
		t = requests(&on, REQUESTS, REQUEST_NS, PAUSE_NS);
		show(d->what, &t);
		tap_ok(no_later(&t, h, save),
		       "%s: a request takes a save more at most than beside an honest batch process", d->name);
		/* a traced process is its tracer's to wait for first */
		actor_kill(&tracer);
		actor_kill(&off);
	}
	actor_kill(&on);
}

/*
 * SDMA queues do not take a compute queue's place, so that no request is late: what they must not do is to go on
 * while the online process has work
 */
static void hide_sdma(void)
{
	struct actor on = online_start(0, 12), off;
	long before, inside, after;
	int i;

	param_set("sdma_gbs", 1);	/* real bytes move */
	if (!batch(&off, disguise_of(test_name)))
		goto out;
	for (i = 0; i < 3; i++) {
		before = actor_do(&off, act_sdma_done, 0, 0);
		nap_ns(20 * MS);
		after = actor_do(&off, act_sdma_done, 0, 0);
		if (!tap_ok(after > before, "hide_sdma: the copies go on while the online process has no work"))
			break;
		if (actor_do(&on, act_submit, 40 * MS, 1))
			tap_bail("the online process");
		nap_ns(8 * MS);
		before = actor_do(&off, act_sdma_done, 0, 0);
		nap_ns(20 * MS);
		inside = actor_do(&off, act_sdma_done, 0, 0) - before;
		tap_ok(inside <= 1, "hide_sdma: they do not while it has (%ld copies in 20 ms)", inside);
		tap_ok(completes(&on), "hide_sdma: the online process's work is complete");
		nap_ns(20 * MS);
	}
	actor_kill(&off);
out:
	actor_kill(&on);
}

const struct test tests_hide[] = {
	{ "hide_page", hide },
	{ "hide_equal", hide },
	{ "hide_backwards", hide },
	{ "hide_flip", hide },
	{ "hide_write", hide },
	{ "hide_late", hide },
	{ "hide_signal", hide },
	{ "hide_packet", hide },
	{ "hide_pretend", hide },
	{ "hide_absent", hide },
	{ "hide_unmapped", hide },
	{ "hide_none", hide },
	{ "hide_uffd", hide },
	{ "hide_fuse", hide },
	{ "hide_stopped", hide },
	{ "hide_traced", hide },
	{ "hide_unrung", hide },
	{ "hide_gpu_rings", hide },
	{ "hide_pm4", hide },
	{ "hide_sdma", hide_sdma },
	{}
};
