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
				    "hide_absent", "hide_none", "hide_unrung", "hide_gpu_rings", "hide_gpu_unmapped", "hide_between" };

/* One for each way in which a process is found or not: waves with an armed trap, no waves after a save, work without a ring */
static const char *const some_ways[] = { "hide_page", "hide_signal", "hide_gpu_rings", "hide_gpu_unmapped" };

/* A process at work with kernels of @ns, 0: of 25 ms, hidden; false: it cannot hide so here */
static bool hidden(struct actor *off, const char *way, long ns)
{
	long r;

	*off = user_start(0);
	r = actor_do(off, act_batch, disguise_of(way), ns);
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
		if (!hidden(&off, ways[i], 0))
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
		if (!strcmp(ways[i], "hide_between"))
			tap_ok(work >= 50, "%s: %s: it has work all the same", what, ways[i]);
		tap_ok(ran >= work - 5 && ran <= 310, "%s: %s: and its time is charged (%lld per mille)", what, ways[i], ran);
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
		if (hidden(&off, ways[i], 0)) {
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

#define STEPS	20	/* of a second */
#define SECONDS	6

/*
 * Measures the time that the GPU was at work from now on. @most: in any second. Return: in all, thousandths of the time
 */
static long long low_busy(long long *most)
{
	long long busy[SECONDS * STEPS + 1], second;
	uint64_t at[SECONDS * STEPS + 1];
	unsigned int i;

	*most = 0;
	for (i = 0; i <= SECONDS * STEPS; i++) {
		if (i)
			nap_ns(SEC / STEPS);
		busy[i] = sim_counter(0, "busy_ns");
		at[i] = kfdc_now();
		if (i < STEPS)
			continue;
		second = per_mille(busy[i] - busy[i - STEPS], at[i] - at[i - STEPS]);
		*most = second > *most ? second : *most;
	}
	return per_mille(busy[SECONDS * STEPS] - busy[0], at[SECONDS * STEPS] - at[0]);
}

/*
 * A limit whose place ends long before waves are counted again. One count is late for once: the second in which the process
 * is found has 10 ms more (safety_poll_us). @max: hundredths of a percent
 */
static void hidden_low(unsigned int max, long ns)
{
	unsigned int i, n = long_form ? sizeof(ways) / sizeof(ways[0]) : sizeof(some_ways) / sizeof(some_ways[0]);
	long long work, most, honest = 0, second = 0;
	struct group_time t;
	struct actor off;
	long long ran;

	for (i = 0; i <= n; i++) {
		const char *way = !i ? "honest" : long_form ? ways[i - 1] : some_ways[i - 1];

		if (!hidden(&off, way, ns))
			continue;
		t = group_time(limit(&off, max));
		nap_ns(3 * SEC);
		group_ran(&t);
		work = low_busy(&most);
		ran = group_ran(&t);
		if (!i) {
			honest = work;
			second = most;
		}
		tap_ok(work <= honest + 2 && most <= second + 10,
		       "share_hidden_low: %s: a limit of %u.%02u %%, kernels of %ld us: holds (%lld per mille, %lld of any second; honest %lld and %lld)",
		       way, max / PCT, max % PCT, ns / 1000, work, most, honest, second);
		tap_ok(ran >= work - 2, "share_hidden_low: %s: and its time is charged (%lld per mille)", way, ran);
		if (!i)
			tap_ok(!debugfs_shows(0, "without a ring"), "share_hidden_low: an honest process is not found to have work without a ring");
		if (!strcmp(way, "hide_signal"))
			tap_ok(!debugfs_shows(0, "without a ring"), "share_hidden_low: hide_signal: while its waves are restored it is not taken for idle");
		actor_kill(&off);
	}
}

static void share_hidden_low(void)
{
	hidden_low(30, MS);
	hidden_low(3 * PCT, MS);
	hidden_low(3 * PCT, 200 * US);
	tap_ok(none_left(), "share_hidden_low: all groups end");
}

const struct test tests_share[] = {
	{ "share_hidden_max", share_hidden_max }, { "share_hidden_claim", share_hidden_claim }, { "share_hidden_weight", share_hidden_weight },
	{ "share_hidden_low", share_hidden_low }, {}
};
