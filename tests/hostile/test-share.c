// SPDX-License-Identifier: GPL-2.0
/*
 * A batch process that hides its work and has a limit, or a weight beside an honest process: it gets no more GPU time
 * than an honest one, and is charged for it.
 */
#include <string.h>
#include "disguise.h"
#include "busy.h"

/* Those that may be taken for idle */
static const char *const ways[] = { "hide_page", "hide_equal", "hide_flip", "hide_write", "hide_late", "hide_signal", "hide_packet",
				    "hide_absent", "hide_none", "hide_unrung", "hide_gpu_rings" };

/* A process at work, hidden; false: it cannot hide so here */
static bool hidden(struct actor *off, const char *way)
{
	long r;

	*off = user_start(0);
	r = actor_do(off, act_batch, disguise_of(way), 0);
	if (r && r != NOT_HERE)
		tap_bail("%s: %s", way, strerror(-r));
	if (!r)
		return true;
	tap_diag("%s cannot be: %s", way, user_why());
	actor_kill(off);
	return false;
}

/* Part of the time that the GPU was at work in @ns from now on, thousandths */
static long long gpu_busy(uint64_t ns)
{
	long long was = sim_counter(0, "busy_ns");
	uint64_t begin = kfdc_now();

	nap_ns(ns);
	return per_mille(sim_counter(0, "busy_ns") - was, kfdc_now() - begin);
}

/* @prio: of the hidden processes; KFD_PRIO_UNSET: none */
static void hidden_max(const char *what, int prio)
{
	struct group_time t;
	struct actor off;
	long long ran, work;
	unsigned int i;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (!hidden(&off, ways[i]))
			continue;
		if (prio != KFD_PRIO_UNSET)
			prioritise(&off, prio);
		t = group_time(limit(&off, 30 * PCT));
		nap_ns(500 * MS);
		group_ran(&t);
		work = gpu_busy(2 * SEC);
		ran = group_ran(&t);
		tap_ok(work <= 310, "%s: %s: a limit of 30 %% holds (the GPU was at work for %lld per mille)", what, ways[i],
		       work);
		/* A claim that was put back is charged when its waves are counted next, 3 ms later in a place of 30 ms */
		tap_ok(ran >= (prio == KFD_PRIO_UNSET ? work - 5 : work * 8 / 10) && ran <= 310, "%s: %s: and its time is charged (%lld per mille)", what, ways[i], ran);
		actor_kill(&off);
	}
	tap_ok(none_left(), "%s: all groups end", what);
}

static void share_hidden_max(void)
{
	hidden_max("share_hidden_max", KFD_PRIO_UNSET);
}

/* The same, if its administrator has given it a priority */
static void share_hidden_claim(void)
{
	hidden_max("share_hidden_claim", 12);
}

static void share_hidden_weight(void)
{
	long long all, work;
	struct actor off;
	struct busy b;
	unsigned int i;
	uint64_t ns;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		b = busy(MS);
		weigh(&b.a, 70);
		if (hidden(&off, ways[i])) {
			weigh(&off, 30);
			nap_ns(500 * MS);
			all = sim_counter(0, "busy_ns");
			ns = measure(&b, 1, 2 * SEC, &work);
			all = sim_counter(0, "busy_ns") - all;
			tap_ok(per_mille(work, ns) >= 670, "share_hidden_weight: %s: an honest process beside it has its 70 %% (%lld per mille of %lld)",
			       ways[i], per_mille(work, ns), per_mille(all, ns));
			actor_kill(&off);
		}
		actor_kill(&b.a);
	}
	tap_ok(none_left(), "share_hidden_weight: all groups end");
}

const struct test tests_share[] = {
	{ "share_hidden_max", share_hidden_max }, { "share_hidden_claim", share_hidden_claim }, { "share_hidden_weight", share_hidden_weight }, {}
};
