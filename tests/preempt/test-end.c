// SPDX-License-Identifier: GPL-2.0
/* Ends: of who preempts, of who is preempted, of the module */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "preempt.h"

#define KILLS	20

/* Its claim ends with it; the others run again, and that is all */
static void kill_preemptor(void)
{
	uint64_t seed = sim_seed(), wait;
	struct actor off = offline_start(0, 20 * MS, 1000), on;
	size_t begun, ended, maps;
	struct events *e;
	int i;

	for (i = 0; i < KILLS; i++) {
		on = online_start(0, 12);
		wait_mapped(0, 2);
		nap_ns(5 * MS);
		e = events_start("kfd");
		if (actor_do(&on, act_submit, 100 * MS, 3))
			tap_bail("the online work was refused");
		wait = sim_random(&seed) % (4 * MS);
		if (i)
			nap_ns(wait);
		else
			wait_mapped(0, 1);
		actor_kill(&on);
		wait_mapped(0, 1);
		nap_ns(300 * MS);
		events_stop(e);
		begun = events_count(e, "kfd_preempt_begin", NULL, 0);
		ended = events_count(e, "kfd_preempt_end", NULL, 0);
		maps = events_count(e, "kfd_map_queues", NULL, 0);
		if (!tap_ok(begun <= 1 && ended == begun && paired(e) && maps <= 6 && mapped(0) == 1,
			    "kill_preemptor: %d, after %llu us: %zu preemption, %zu ends, %zu runlists", i,
			    (unsigned long long)wait / 1000, begun, ended, maps))
			events_print(e);
		if (!i)
			tap_eq(event_field(events_find(e, NULL, "kfd_preempt_end", NULL, 0), "reason"),
			       REASON_GONE, "kill_preemptor: the reason is in the event");
		events_free(e);
	}
	tap_ok(completes(&off), "kill_preemptor: the other's work is complete, once");
	actor_kill(&off);
}

/* A kernel that has a signal, and a longer one on another queue that has none; it is launched once the GPU is free */
static long act_beside(long ns, long unused)
{
	long r = act_submit(MS, 1);

	(void)unused;
	return r ? r : kfdc_dispatch(me.q[1], &(struct kfdc_dispatch){ .ns = ns });
}

/* The signal that says that one queue has done its work says nothing of the other queue */
static void ended(void)
{
	struct actor on = online_start(0, 12), off = offline_start(0, 100 * MS, 20);
	const struct event *begin, *end;
	struct events *e;

	if (actor_do(&on, act_create, 1, 7))
		tap_bail("the second queue was refused");
	e = events_start("kfd");
	if (actor_do(&on, act_beside, 20 * MS, 0))
		tap_bail("the work was refused");
	nap_ns(40 * MS);
	events_stop(e);
	begin = events_find(e, NULL, "kfd_preempt_begin", "pid", on.pid);
	end = begin ? events_find(e, begin, "kfd_preempt_end", "pid", on.pid) : NULL;
	if (!tap_ok(end && events_count(e, "kfd_preempt_begin", NULL, 0) == 1 && end->ns - begin->ns >= 20 * MS &&
		    in_time(end->ns - begin->ns, 25 * MS) && event_field(end, "reason") == REASON_IDLE,
		    "ended: the others are off until a kernel of 20 ms ends, not only one of 1 ms before it on another queue"))
		events_print(e);
	events_free(e);
	tap_ok(completes(&on) && completes(&off), "ended: all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

/* It ends by itself with work on its queue, closing its files in the order of exit */
static void exit_preemptor(void)
{
	struct actor on = online_start(0, 12), off;
	struct events *e = events_start("kfd");

	off = offline_start(0, 20 * MS, 20);
	if (actor_do(&on, act_submit, 100 * MS, 3))
		tap_bail("the online work was refused");
	wait_mapped(0, 1);
	actor_end(&on);
	tap_ok(completes(&off), "exit_preemptor: the other's work is complete, once");
	events_stop(e);
	tap_ok(paired(e) && events_count(e, "kfd_preempt_begin", NULL, 0) == 1,
	       "exit_preemptor: one preemption");
	events_free(e);
	actor_kill(&off);
}

static int orphan_pipe[2];

/* A child with the file of /dev/kfd, which lives until the test closes its pipe */
static long act_bequeath(long unused, long unused2)
{
	pid_t pid = fork();
	char c;

	(void)unused, (void)unused2;
	if (!pid) {
		close(orphan_pipe[1]);
		_exit(read(orphan_pipe[0], &c, 1) != 0);
	}
	return pid < 0 ? -errno : 0;
}

/* Its queues outlive it: KFD destroys them with the last reference, or with the mm (Linux 6.15) */
static void orphan(void)
{
	struct actor off, on;
	const struct event *end;
	struct events *e;
	long long off_us;
	uint64_t killed;

	if (pipe2(orphan_pipe, O_CLOEXEC))
		tap_bail("pipe2: %s", strerror(errno));
	on = online_start(0, 12);
	/* its claim must not end with its budget */
	param_set("busy_budget_ms", 60000);
	param_set("floor_pct", 0);
	if (actor_do(&on, act_bequeath, 0, 0))
		tap_bail("fork: %s", strerror(errno));
	/* before the work begins: under --icount that takes a second */
	e = events_start("kfd");
	off = offline_start(0, 20 * MS, 50);
	nap_ns(20 * MS);
	if (actor_do(&on, act_submit, 5 * SEC, 1))
		tap_bail("the online work was refused");
	tap_ok(wait_mapped(0, 1), "orphan: a preemption holds");
	killed = kfdc_now();
	actor_kill(&on);
	nap_ns(20 * MS);
	off_us = stat_of(&off, "preempted_us");
	nap_ns(200 * MS);
	tap_eq(stat_of(&off, "preempted_us"), off_us, "orphan: the other is back when who preempts is killed");
	events_stop(e);
	end = events_find(e, NULL, "kfd_preempt_end", NULL, 0);
	tap_ok(end && event_field(end, "reason") == REASON_GONE && in_time(end->ns - killed, 20 * MS),
	       "orphan: its claim ends with it, not with the files that a child has of it (%lld us)",
	       end ? (long long)(end->ns - killed) / 1000 : -1);
	tap_eq(events_count(e, "kfd_preempt_begin", NULL, 0), 1, "orphan: and does not come back");
	events_free(e);
	close(orphan_pipe[0]);
	close(orphan_pipe[1]);
	tap_ok(completes(&off), "orphan: the other's work is complete, once");
	actor_kill(&off);
}

/* The most queues that were mapped at any time in @ns */
static int mapped_in(long ns)
{
	uint64_t end = kfdc_now() + ns;
	int n, most = 0;

	while (kfdc_now() < end) {
		n = mapped(0);
		most = n > most ? n : most;
		nap_ns(MS);
	}
	return most;
}

/*
 * The queues of a low process outlive its memory, before Linux 6.15. KFD_PRIO_IOC_LIST does not
 * show it at once, but it can be preempted all the time
 */
static void orphan_victim(void)
{
	struct actor off, on = online_start(0, 12);
	long long us;
	int i;

	param_set("busy_budget_ms", 60000);
	param_set("floor_pct", 0);
	for (i = 0; i < 2; i++) {
		if (pipe2(orphan_pipe, O_CLOEXEC))
			tap_bail("pipe2: %s", strerror(errno));
		off = offline_start(0, 20 * MS, 200);
		if (actor_do(&off, act_bequeath, 0, 0))
			tap_bail("fork: %s", strerror(errno));
		tap_ok(wait_mapped(0, 2), "orphan_victim: both are on the GPU");
		/* while it is on the GPU, or off */
		if (i) {
			if (actor_do(&on, act_submit, 600 * MS, 1))
				tap_bail("the online work was refused");
			tap_ok(wait_mapped(0, 1), "orphan_victim: it is preempted");
			actor_kill(&off);
			tap_eq(mapped_in(400 * MS), 1, "orphan_victim: it stays off when its memory is gone");
			tap_eq(actor_do(&on, act_wait, 2000, 0), 0, "orphan_victim: the online work is complete");
		} else {
			actor_kill(&off);
			if (!sim_new_kernel())
				tap_eq(mapped(0), 2, "orphan_victim: its queue outlives its memory");
			us = actor_do(&on, act_request, 20 * MS, 0) / 1000;
			tap_ok(us > 0 && in_time(us * US, 21 * MS),
			       "orphan_victim: a request right after its memory is gone preempts it (%lld us)", us);
		}
		close(orphan_pipe[0]);
		close(orphan_pipe[1]);
		tap_ok(wait_mapped(0, 1), "orphan_victim: its queue is destroyed with its last descriptor");
	}
	actor_kill(&on);
}

/* A process ends, and another one keeps its descriptor: its priority counts for 0.2 s more at most, before Linux 6.15 */
static void orphan_rank(void)
{
	struct actor dead, on = online_start(0, 12);
	long long us, most = 0;
	int i;

	param_set("busy_budget_ms", 60000);
	param_set("floor_pct", 0);
	if (pipe2(orphan_pipe, O_CLOEXEC))
		tap_bail("pipe2: %s", strerror(errno));
	dead = online_start(0, 14);
	if (actor_do(&dead, act_bequeath, 0, 0))
		tap_bail("fork: %s", strerror(errno));
	if (actor_do(&dead, act_submit, 25 * MS, 60))
		tap_bail("the work of 14 was refused");
	tap_ok(wait_mapped(0, 1), "orphan_rank: a process of 14 has work, one of 12 is off");
	actor_kill(&dead);
	/* several, because not each of them meets the work of 14 */
	for (i = 0; i < 5; i++) {
		us = actor_do(&on, act_request, 1 * MS, 0) / 1000;
		most = us > most ? us : most;
		nap_ns(2 * MS);
	}
	tap_ok(most > 0 && in_time(most * US, 230 * MS), "orphan_rank: requests of 12 right after the end wait 0.2 s at most (%lld us)", most);
	nap_ns(200 * MS);
	us = actor_do(&on, act_request, 1 * MS, 0) / 1000;
	tap_ok(us > 0 && in_time(us * US, 2 * MS), "orphan_rank: later ones do not wait (%lld us)", us);
	close(orphan_pipe[0]);
	close(orphan_pipe[1]);
	actor_kill(&on);
}

static void kill_victim(void)
{
	uint64_t seed = sim_seed();
	struct actor off, on = online_start(0, 12), other = offline_start(0, 20 * MS, 500);
	struct events *e = events_start("kfd");
	bool fine = true;
	long ns;
	int i;

	for (i = 0; i < KILLS; i++) {
		off = offline_start(0, 20 * MS, 20);
		wait_mapped(0, 3);
		actor_tell(&on, act_request, 20 * MS, 0);
		nap_ns(sim_random(&seed) % (21 * MS));
		actor_kill(&off);
		fine &= actor_hear(&on, &ns, 20000) && in_time(ns, 21 * MS);
		if (!fine)
			tap_diag("request %d took %ld us", i, ns / 1000);
		fine &= wait_mapped(0, 2);
	}
	tap_ok(fine, "kill_victim: %d at any time in a preemption do not disturb it", KILLS);
	tap_ok(completes(&other), "kill_victim: another's work is complete, once");
	events_stop(e);
	tap_ok(paired(e), "kill_victim: each preemption that begins ends");
	events_free(e);
	actor_kill(&on);
	actor_kill(&other);
}

static void unload(void)
{
	struct actor off, on;
	int i, err;

	for (i = 0; i < 4; i++) {
		on = online_start(0, 12);
		off = offline_start(0, 20 * MS, 20);
		wait_mapped(0, 2);
		/* while a preemption holds; right after; while trapped */
		if (i < 3 && actor_do(&on, act_submit, i ? 2 * MS : 200 * MS, 1))
			tap_bail("the online work was refused");
		if (!i)
			wait_mapped(0, 1);
		if (i == 1)
			actor_do(&on, act_wait, 1000, 0);
		actor_kill(i & 1 ? &off : &on);
		actor_kill(i & 1 ? &on : &off);
		err = sim_unload();
		tap_ok(!err && !engine_thread(), "unload: %d: the module goes, and its thread (%s)", i,
		       strerror(err));
		err = sim_load("");
		if (err)
			tap_bail("the module cannot be loaded anew: %s", strerror(err));
	}
	tap_eq(sim_use(0, false), 0, "unload: the GPU works");
}

const struct test tests_end[] = {
	{ "kill_preemptor", kill_preemptor }, { "exit_preemptor", exit_preemptor },
	{ "orphan", orphan }, { "orphan_victim", orphan_victim },
	{ "orphan_rank", orphan_rank }, { "ended", ended, .waves = true },
	{ "kill_victim", kill_victim }, { "unload", unload }, {}
};

/* ---- two GPUs ---- */

/* KFD_PRIO_IOC_LIST has a row for each GPU of a process, by GPU */
static bool listed_twice(const struct actor *a, int prio)
{
	struct kfd_prio_list_entry e[2];
	bool fine = kfd_list(a->pid, e, 2) == 2;
	unsigned int i, last = 0;

	for (i = 0; fine && i < 2; i++) {
		fine &= e[i].gpu_id > last && e[i].priority == prio &&
			e[i].nr_queues == (e[i].gpu_id == gpu_id(a->gpu));
		last = e[i].gpu_id;
	}
	return fine;
}

static void two_gpus(void)
{
	struct actor on0 = online_start(0, 12), off0 = offline_start(0, 50 * MS, 20),
		off1 = offline_start(1, 50 * MS, 200), on1;
	struct events *e = events_start("kfd");
	struct commands before, after;
	long ns, left;
	size_t n;

	wait_mapped(0, 2);
	wait_mapped(1, 1);
	before = commands(1);
	actor_tell(&on0, act_request, 120 * MS, 0);
	tap_ok(wait_mapped(0, 1), "two_gpus: a preemption on the first");
	left = actor_do(&off1, act_left, 0, 0);
	nap_ns(110 * MS);
	after = commands(1);
	tap_ok(mapped(1) == 1 && actor_do(&off1, act_left, 0, 0) < left &&
	       after.unmaps == before.unmaps && after.maps == before.maps,
	       "two_gpus: the second does not notice");
	if (!actor_hear(&on0, &ns, 20000))
		tap_bail("no answer from the online process");
	on1 = online_start(1, 14);
	actor_tell(&on0, act_request, 40 * MS, 0);
	actor_tell(&on1, act_request, 40 * MS, 0);
	tap_ok(wait_mapped(0, 1) && wait_mapped(1, 1), "two_gpus: on both at once");
	tap_ok(actor_hear(&on0, &ns, 20000) && in_time(ns, 41 * MS) &&
	       actor_hear(&on1, &ns, 20000) && in_time(ns, 41 * MS), "two_gpus: neither waits");
	tap_ok(wait_mapped(0, 2) && wait_mapped(1, 2), "two_gpus: all return");
	tap_ok(completes(&off0) && completes(&on0), "two_gpus: all of the first is complete, once");
	/* KFD evicts the processes of all GPUs for the reset of one, and restores none of them */
	actor_tell(&on0, act_submit, 40 * MS, 1);
	tap_ok(wait_mapped(0, 1) && !sim_write(1, "reset", "1"), "two_gpus: the second is reset");
	tap_ok(actor_hear(&on0, &ns, 20000) && !ns && wait_mapped(0, 0),
	       "two_gpus: KFD evicts all of the first as well");
	actor_kill(&on0);
	actor_kill(&off0);
	on0 = online_start(0, 12);
	off0 = offline_start(0, 50 * MS, 5);
	wait_mapped(0, 2);
	actor_tell(&on0, act_request, 40 * MS, 0);
	tap_ok(wait_mapped(0, 1) && actor_hear(&on0, &ns, 20000) && in_time(ns, 41 * MS),
	       "two_gpus: new processes of the first preempt");
	tap_ok(wait_mapped(0, 2) && completes(&off0), "two_gpus: and return");
	events_stop(e);
	n = events_count(e, "kfd_preempt_begin", "gpu_id", gpu_id(1));
	tap_ok(events_count(e, "kfd_preempt_begin", "gpu_id", gpu_id(0)) >= 4 &&
	       n >= 1 && n == events_count(e, "kfd_preempt_begin", "pid", on1.pid),
	       "two_gpus: the events name the GPU");
	if (!tap_ok(paired(e), "two_gpus: each preemption that begins ends"))
		events_print(e);
	events_free(e);
	actor_kill(&on0);
	actor_kill(&on1);
	actor_kill(&off0);
	actor_kill(&off1);
}

static void list_two(void)
{
	struct actor on0 = online_start(0, 12), on1 = online_start(1, 14);

	tap_ok(listed_twice(&on0, 12) && listed_twice(&on1, 14),
	       "list_two: the list has a process on both GPUs, in their order");
	actor_kill(&on0);
	actor_kill(&on1);
}

const struct test tests_two[] = { { "two_gpus", two_gpus, 2 }, { "list_two", list_two, 2 }, {} };
