// SPDX-License-Identifier: GPL-2.0
/* MES, mes_suspend: many queues are suspended at once before they are removed */
#include "preempt.h"

/* Queues that are removed without suspending all first, at most */
#define FEW	3
#define MANY	12

struct mes_counts {
	long long suspends, resumes, removes;
};

static struct mes_counts counts(void)
{
	return (struct mes_counts) { sim_counter(0, "mes_suspends"), sim_counter(0, "mes_resumes"), sim_counter(0, "mes_removes") };
}

/*
 * A request beside @n others with long dispatches in flight, and beside one of its own priority. Returns when its process has the
 * answer, ns; @c: commands of MES until all are back
 */
static long long preempts_many(const char *what, int n, bool suspends, struct mes_counts *c)
{
	struct actor on, equal, off[MANY];
	struct mes_counts before;
	bool all = true;
	long long took;
	int i;

	param_set("mes_suspend", suspends);
	on = online_start(0, 12);
	equal = online_start(0, 12);
	for (i = 0; i < n; i++)
		off[i] = offline_start(0, 100 * MS, 3);
	wait_mapped(0, n + 2);
	before = counts();
	actor_do(&equal, act_submit, 20 * MS, 2);
	took = actor_do(&on, act_request, MS, 0);
	tap_ok(took > 0 && completes(&equal), "%s: the request has its answer, and its equal's work is complete", what);
	for (i = 0; i < n; i++)
		all &= completes(&off[i]);
	tap_ok(all, "%s: all that was taken off is complete, once", what);
	*c = counts();
	c->suspends -= before.suspends;
	c->resumes -= before.resumes;
	c->removes -= before.removes;
	for (i = 0; i < n; i++)
		actor_kill(&off[i]);
	actor_kill(&equal);
	actor_kill(&on);
	return took;
}

static void mes_suspend(void)
{
	struct mes_counts c;
	long long one, all;

	if (!has_mes(0) || sim_old_kernel()) {
		tap_skip("mes_suspend", has_mes(0) ? "amdgpu of 6.1 suspends none" : "HWS");
		return;
	}
	one = preempts_many("mes_suspend: off", MANY, false, &c);
	tap_ok(!c.suspends && !c.resumes && c.removes >= 1, "mes_suspend: 0, as by default: none is suspended");
	preempts_many("mes_suspend: few", FEW, true, &c);
	tap_ok(!c.suspends && !c.resumes, "mes_suspend: 1: nor is any for %d queues", FEW);
	all = preempts_many("mes_suspend: on", MANY, true, &c);
	tap_ok(c.suspends >= 1 && c.suspends <= 2, "mes_suspend: 1: all are suspended by one command for %d queues (%lld)", MANY, c.suspends);
	/* that of the process that rang, that of its equal unless that has made room, and all */
	tap_ok(c.resumes >= 2 * c.suspends && c.resumes <= 3 * c.suspends,
	       "mes_suspend: 1: those that stay are resumed, one by one, and then all (%lld)", c.resumes);
	tap_ok(all < one, "mes_suspend: 1: the answer comes sooner (%lld us instead of %lld)", all / 1000, one / 1000);
}

/* Queues without work that make room are removed one by one: nobody is suspended for them */
static void mes_idle(void)
{
	enum { N = 12, QUEUES = 4 };
	struct actor busy, idle[N];
	struct mes_counts before, after;
	int i;

	if (!has_mes(0) || sim_old_kernel()) {
		tap_skip("mes_idle", has_mes(0) ? "amdgpu of 6.1 suspends none" : "HWS");
		return;
	}
	param_set("mes_suspend", 1);
	busy = online_start(0, 12);
	for (i = 0; i < N; i++) {
		idle[i] = actor_start(0, QUEUES, 7);
		prioritise(&idle[i], 12);
		actor_do(&idle[i], act_request, 20 * US, 0);
	}
	nap_ns(30 * MS);
	before = counts();
	actor_do(&busy, act_submit, 10 * MS, 20);
	for (i = 0; i < N; i++) {
		actor_do(&idle[i], act_request, 20 * US, 0);
		nap_ns(5 * MS);
	}
	after = counts();
	tap_ok(after.removes > before.removes, "mes_idle: queues without work make room (%lld)", after.removes - before.removes);
	tap_eq(after.suspends - before.suspends, 0, "mes_idle: and none is suspended for that");
	tap_ok(completes(&busy), "mes_idle: the work is complete, once");
	for (i = 0; i < N; i++)
		actor_kill(&idle[i]);
	actor_kill(&busy);
}

const struct test tests_mes[] = {
	{ "mes_suspend", mes_suspend }, { "mes_idle", mes_idle }, {}
};
