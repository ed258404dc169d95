// SPDX-License-Identifier: GPL-2.0
/* What a look at processes costs */
#include <stdio.h>
#include <string.h>
#include "preempt.h"

static long long reads(void)
{
	return sim_counter(0, "occupancy_reads");
}

static void wave_counts(void)
{
	struct actor on, off, other;
	long long before, n;
	long ns;

	knob_set("occupancy_us", 500);
	on = online_start(0, 12);
	other = actor_start(0, 1, 7);
	nap_ns(500 * MS);
	before = reads();
	nap_ns(500 * MS);
	tap_eq(reads() - before, 0, "wave_counts: an idle claim and an idle neighbour cost none in 500 ms");

	off = offline_start(0, 100 * MS, 3);
	before = reads();
	ns = actor_do(&on, act_request, 100 * MS, 0);
	n = reads() - before;
	tap_ok(ns > 0 && n >= 1 && n * 500 <= 100000 / 8,
	       "wave_counts: a kernel of 100 ms, alone in its queue, costs %lld counts of 500 us: an eighth of the time at most",
	       n);
	tap_ok(wait_mapped(0, 3) && completes(&off), "wave_counts: all is complete, once");
	actor_kill(&off);
	actor_kill(&other);
	actor_kill(&on);
}

/* There each register is a message to the host */
static void virtual_function(void)
{
	struct actor on, off;
	long long before;
	int err;

	err = sim_unload();
	err = err ? err : sim_load("virtual_function=1");
	if (err)
		tap_bail("the module cannot be loaded as a virtual function: %s", strerror(err));
	on = online_start(0, 12);
	off = offline_start(0, 20 * MS, 5);
	before = stat_of(&on, "preempting_count");
	if (actor_do(&on, act_request, 5 * MS, 0) < 0)
		tap_bail("no answer from the online process");
	nap_ns(50 * MS);
	tap_ok(stat_of(&on, "preempting_count") > before, "virtual_function: a request preempts");
	tap_eq(reads(), 0, "virtual_function: waves are never counted");
	tap_ok(completes(&off), "virtual_function: all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
	err = sim_unload();
	err = err ? err : sim_load("");
	if (err)
		tap_bail("the module cannot be loaded anew: %s", strerror(err));
}

const struct test tests_idle[] = {
	{ "wave_counts", wave_counts, .waves = true }, { "virtual_function", virtual_function, .waves = true }, {}
};
