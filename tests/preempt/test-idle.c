// SPDX-License-Identifier: GPL-2.0
/* Processes without work cost a process that preempts nothing; what a look at them costs */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "preempt.h"

#define DEPTH		4
#define LOAD_NS		MS
#define LOAD_MS		2000	/* the floor, if one is given, is in each second */
#define MAX_LATENCIES	8192
#define MANY		1000

/* ---- a saturated client ---- */

/* What a saturated client has had, in shared memory */
struct load {
	uint64_t count, p50_ns, p99_ns, max_ns;
};

static struct load *load;

static int by_value(const void *l, const void *r)
{
	const uint64_t *a = l, *b = r;

	return *a < *b ? -1 : *a > *b;
}

/*
 * DEPTH dispatches of LOAD_NS in flight for @ms; their time to the GPU's end goes to *load.  Before
 * other programs of the guest, which has one CPU, but behind the engine's thread.
 */
static long act_saturate(long ms, long unused)
{
	static struct kfdc_signal *s[DEPTH];
	static uint64_t took[MAX_LATENCIES];
	uint64_t at[DEPTH], start, end, until;
	unsigned int i, n = 0, sent;
	long r = 0;

	(void)unused;
	setpriority(PRIO_PROCESS, 0, -20);
	for (i = 0; i < DEPTH && !s[i] && !r; i++)
		r = kfdc_signal_create(me.c, true, &s[i]);
	until = kfdc_now() + ms * MS;
	for (sent = 0; !r && n < MAX_LATENCIES; n++) {
		for (; !r && sent < n + DEPTH && kfdc_now() < until; sent++) {
			i = sent % DEPTH;
			kfdc_signal_set(s[i], 1);
			at[i] = kfdc_now();
			r = kfdc_dispatch(me.q[0], &(struct kfdc_dispatch){ .ns = LOAD_NS, .signal = s[i] });
		}
		if (n == sent)
			break;
		r = r ? r : kfdc_signal_wait(s[n % DEPTH], 10 * SEC);
		kfdc_signal_times(s[n % DEPTH], &start, &end);
		took[n] = end - at[n % DEPTH];
	}
	if (r || !n)
		return r ? r : -ENODATA;
	qsort(took, n, sizeof(took[0]), by_value);
	setpriority(PRIO_PROCESS, 0, 0);
	*load = (struct load){ n, took[n / 2], took[(uint64_t)n * 99 / 100], took[n - 1] };
	return 0;
}

static void load_share(void)
{
	load = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (load == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
}

/*
 * The quietest of three runs: a busy host stops the VM for some ms now and then, which is seen without
 * neighbours as well.  What neighbours cost, a floor in each second, is in every run.
 */
static struct load saturate(const struct actor *on)
{
	struct load best = {};
	int i;

	for (i = 0; i < 3; i++) {
		if (actor_do(on, act_saturate, LOAD_MS, 0))
			tap_bail("the saturated client failed");
		if (!i || load->max_ns < best.max_ns)
			best = *load;
	}
	return best;
}

/* Without others on the GPU; traced as it will be with them, which has its cost */
static struct load saturate_alone(const struct actor *on)
{
	struct events *e = events_start("kfd");
	struct load l;

	actor_do(on, act_saturate, LOAD_MS, 0);	/* all code has run once */
	nap_ns(param("safety_poll_us") * US * 3);
	l = saturate(on);
	events_stop(e);
	events_free(e);
	return l;
}

/* Is @b within 1 % of @a?  In either direction it would be another experiment */
static bool close_to(uint64_t a, uint64_t b)
{
	return a && (a > b ? a - b : b - a) * 100 <= a;
}

/*
 * The longest dispatch: one sample, which without neighbours is now and then the longer one.  It is
 * one of the first, and may just miss a poll of the simulated firmware, which has been idle.
 */
static bool most_close_to(uint64_t a, uint64_t b)
{
	return b <= a || close_to(a, b) || b - a <= (uint64_t)param("poll_idle_us") * US;
}

static void same_load(const struct load *alone, const struct load *beside, const char *what)
{
	tap_ok(close_to(alone->count, beside->count) && close_to(alone->p50_ns, beside->p50_ns) &&
	       close_to(alone->p99_ns, beside->p99_ns) && most_close_to(alone->max_ns, beside->max_ns),
	       "%s: within 1 %% of alone: %llu dispatches (%llu), P50 %llu us (%llu), P99 %llu (%llu), most %llu (%llu)",
	       what, (unsigned long long)beside->count, (unsigned long long)alone->count,
	       (unsigned long long)beside->p50_ns / 1000, (unsigned long long)alone->p50_ns / 1000,
	       (unsigned long long)beside->p99_ns / 1000, (unsigned long long)alone->p99_ns / 1000,
	       (unsigned long long)beside->max_ns / 1000, (unsigned long long)alone->max_ns / 1000);
}

/* ---- neighbours that have a queue and never use it ---- */

static void no_preemption(const struct actor *on, const struct events *e, const char *what)
{
	bool fine = !events_count(e, "kfd_preempt_begin", NULL, 0) &&
		!events_count(e, "kfd_preempt_end", NULL, 0) && stat_of(on, "preempted_count") == 0;

	if (!tap_ok(fine, "%s: no preemption, no FLOOR, and the client is never off", what))
		events_print(e);
}

/*
 * Idle -> busy -> idle, six times: what the scheduler is told, and how long a request of 100 us takes.
 * The first time takes all neighbours off by one update: that they seem idle proves nothing.  Their
 * MQDs prove it, and they stay off.
 */
static void bursts(const struct actor *on, unsigned int neighbours, const char *what)
{
	/* MES takes off one queue at a time */
	unsigned int most_unmaps = has_mes(0) && neighbours ? neighbours : 1;
	struct commands first = commands(0), before = {}, after;
	long ns, most = 0;
	int i;

	for (i = -1; i < 5; i++) {
		if (!i)
			before = commands(0);
		ns = actor_do(on, act_request, 100 * US, 0);
		if (ns < 0)
			tap_bail("no answer from the online process");
		if (i >= 0 && ns > most)
			most = ns;
		nap_ns(5 * MS);
	}
	after = commands(0);
	tap_ok(before.unmaps - first.unmaps <= most_unmaps && before.maps - first.maps <= 1,
	       "%s: the first burst sends one update at most, with MES one for a queue (%lld unmaps, %lld maps)", what,
	       before.unmaps - first.unmaps, before.maps - first.maps);
	tap_ok(after.unmaps == before.unmaps && after.maps == before.maps,
	       "%s: idle to busy and back sends nothing to the scheduler from then on (%lld unmaps, %lld maps; a request of 100 us takes %ld us at most)",
	       what, after.unmaps - before.unmaps, after.maps - before.maps, most / 1000);
}

static void scene(const struct actor *on, const struct load *alone, const char *what)
{
	struct commands before, after;
	struct load beside;
	struct events *e;

	before = commands(0);
	e = events_start("kfd");
	nap_ns(100 * MS);	/* what that leaves to do takes CPU time */
	beside = saturate(on);
	events_stop(e);
	after = commands(0);
	same_load(alone, &beside, what);
	tap_ok(after.unmaps - before.unmaps <= 1 && after.maps - before.maps <= 1,
	       "%s: at most one unmap (%lld unmaps, %lld maps)", what,
	       after.unmaps - before.unmaps, after.maps - before.maps);
	no_preemption(on, e, what);
	events_free(e);
}

/* Doorbell BAR of the GPU, bytes */
static uint64_t doorbell_bytes(void)
{
	struct stat st;

	return stat("/sys/bus/pci/devices/0000:00:10.0/resource2", &st) ? 0 : st.st_size;
}

/* A process takes 8 KiB of doorbells, and some 63 MB of GTT, which is half of host_mb, for saved waves */
static bool has_room(int processes)
{
	return doorbell_bytes() >= (processes + 64) * 8192ull && param("host_mb") >= (processes + 64) * 128;
}

/*
 * The simulated firmware looks at each doorbell that is mapped every poll_us: 1000 of them take more
 * CPU time than that.  While neighbours are started nobody rings.
 */
static void poll_seldom(bool on)
{
	static long poll_us, poll_idle_us;

	if (sim_old_kernel())
		return;		/* there the HIQ is polled, too */
	if (on) {
		poll_us = param("poll_us");
		poll_idle_us = param("poll_idle_us");
	}
	param_set("poll_us", on ? 20000 : poll_us);
	param_set("poll_idle_us", on ? 20000 : poll_idle_us);
}

static void idle(void)
{
	static const int counts[] = { 1, 50, MANY };
	static struct actor other[MANY];
	struct actor on, high;
	struct load alone;
	unsigned int i;
	char what[64];
	int n = 0;

	load_share();
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 2 * MANY, 2 * MANY });
	on = online_start(0, 12);
	alone = saturate_alone(&on);
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		snprintf(what, sizeof(what), "idle: %d neighbours", counts[i]);
		if (!has_room(counts[i])) {
			tap_skip(what, "needs tests/vm/run --doorbell-mb 16 --mem 6G --param host_mb=262144");
			continue;
		}
		poll_seldom(true);
		for (; n < counts[i]; n++)
			other[n] = actor_start(0, 1, 7);
		/* the engine looks at some of them at a time */
		nap_ns(param("safety_poll_us") * US * (3 + n / 8));
		poll_seldom(false);
		bursts(&on, counts[i], what);
		scene(&on, &alone, what);
	}
	/* one that is off without work runs at once when it rings */
	if (n > 0)
		tap_ok(in_time(actor_do(&other[0], act_request, MS, 0), 2 * MS) &&
		       in_time(actor_do(&other[n - 1], act_request, MS, 0), 2 * MS),
		       "idle: neighbours that ring while nobody preempts run at once");
	/* where waves are not counted, the next preemption takes them off to see that they are done */
	actor_do(&on, act_request, 50 * MS, 0);
	high = actor_start(0, 1, 15);
	nap_ns(param("safety_poll_us") * US * 3);
	scene(&on, &alone, "idle: and a queue of priority 15");
	actor_kill(&high);
	/* without a claim all come back */
	poll_seldom(true);
	actor_kill(&on);
	while (n > 0)
		actor_kill(&other[--n]);
	munmap(load, 4096);
}

/* A neighbour that rings while the client has work stays off, and is free again when it is done */
static void neighbour_rings(void)
{
	struct actor on = online_start(0, 12), other = actor_start(0, 1, 7);
	struct commands before;
	long ns, left, quiet;
	struct events *e;

	param_set("floor_pct", 0);
	nap_ns(param("safety_poll_us") * US * 3);
	quiet = actor_do(&on, act_request, 60 * MS, 0);
	nap_ns(5 * MS);
	e = events_start("kfd");
	actor_tell(&on, act_request, 60 * MS, 0);
	nap_ns(10 * MS);
	tap_eq(mapped(0), 1, "neighbour_rings: an idle neighbour is off");
	tap_eq(stat_of(&other, "preempted_count"), 0, "neighbour_rings: which is no preemption");
	before = commands(0);
	tap_eq(actor_do(&other, act_submit, 5 * MS, 3), 0, "neighbour_rings: it rings");
	nap_ns(2 * MS);
	tap_eq(commands(0).unmaps - before.unmaps, 0, "neighbour_rings: the ring sends nothing to the scheduler");
	tap_eq(stat_of(&other, "preempted_count"), 1, "neighbour_rings: it counts as preempted");
	left = actor_do(&other, act_left, 0, 0);
	if (!actor_hear(&on, &ns, 20000))
		tap_bail("no answer from the online process");
	tap_eq(left, 3, "neighbour_rings: before anything of it is complete");
	tap_ok(ns > (long)(60 * MS) && in_time(ns, 61 * MS) && in_time(quiet, 61 * MS),
	       "neighbour_rings: the online work does not notice (%ld us; %ld us without a ring)",
	       ns / 1000, quiet / 1000);
	tap_ok(wait_mapped(0, 2) && completes(&other), "neighbour_rings: it runs when the work is done");
	nap_ns(param("safety_poll_us") * US * 3);
	events_stop(e);
	tap_ok(paired(e) && events_count(e, "kfd_preempt_begin", "pid", on.pid) == 1,
	       "neighbour_rings: that is one preemption");
	events_free(e);
	bursts(&on, 1, "neighbour_rings: idle again");
	actor_kill(&on);
	actor_kill(&other);
}

/* A process that comes while another has work starts off: it is owed nothing before it has work */
static void idle_newborn(void)
{
	struct actor on = online_start(0, 12), young;
	struct commands before, after;
	struct events *e;
	long ns;

	/* longer than the process waits, so that no floor is due but for time for which it had no work */
	param_set("floor_period_ms", 1000);
	e = events_start("kfd");
	actor_tell(&on, act_request, 2500 * MS, 0);
	nap_ns(10 * MS);
	before = commands(0);
	young = actor_start(0, 2, 7);
	nap_ns(2 * SEC);
	after = commands(0);
	tap_ok(before.unmaps == after.unmaps && before.maps == after.maps,
	       "idle_newborn: no command in 2 s for a process that came and has no work (%lld unmaps, %lld maps)",
	       after.unmaps - before.unmaps, after.maps - before.maps);
	actor_do(&young, act_submit, 5 * MS, 1);
	nap_ns(50 * MS);
	tap_eq(actor_do(&young, act_left, 0, 0), 1, "idle_newborn: it rings, and does not run");
	if (!actor_hear(&on, &ns, 20000))
		tap_bail("no answer from the online process");
	tap_ok(completes(&young), "idle_newborn: until the work is done");
	events_stop(e);
	tap_eq(events_count(e, "kfd_preempt_end", "reason", REASON_FLOOR), 0, "idle_newborn: no floor for it");
	if (!tap_ok(events_count(e, "kfd_preempt_begin", "pid", on.pid) == 1 && paired(e),
		    "idle_newborn: that is one preemption"))
		events_print(e);
	events_free(e);
	actor_kill(&on);
	actor_kill(&young);
}

/* The last kernel of a process was preempted: its indices are equal, and it is work all the same */
static void neighbour_saved(void)
{
	struct actor on = online_start(0, 12), off;
	long ns;

	off = offline_start(0, 100 * MS, 1);
	nap_ns(5 * MS);
	actor_tell(&on, act_request, 60 * MS, 0);
	tap_ok(wait_mapped(0, 1), "neighbour_saved: a process with one kernel leaves");
	if (!actor_hear(&on, &ns, 20000))
		tap_bail("no answer from the online process");
	tap_ok(wait_mapped(0, 2), "neighbour_saved: and returns, without a ring");
	tap_ok(completes(&off), "neighbour_saved: its kernel goes on");
	actor_kill(&on);
	actor_kill(&off);
}

/* A packet in a queue that is off is no work: its process cannot run it */
static void dead_queue(void)
{
	struct load alone, beside;
	struct actor on, other;
	struct events *e;
	long long before;
	long ns;

	load_share();
	on = online_start(0, 12);
	alone = saturate_alone(&on);
	other = actor_start(0, 1, 7);
	if (actor_do(&other, act_update, 0, 0) || actor_do(&other, act_submit, MS, 1))
		tap_bail("a queue cannot be turned off");
	nap_ns(param("safety_poll_us") * US * 3);
	e = events_start("kfd");
	nap_ns(100 * MS);
	beside = saturate(&on);
	events_stop(e);
	same_load(&alone, &beside, "dead_queue");
	no_preemption(&on, e, "dead_queue");
	events_free(e);
	/* its packet is work from now on, without a ring: the safety poll finds it */
	before = stat_of(&other, "preempted_count");
	actor_tell(&on, act_request, 60 * MS, 0);
	nap_ns(20 * MS);
	if (actor_do(&other, act_update, 0, 100))
		tap_bail("a queue cannot be turned on");
	nap_ns(param("safety_poll_us") * US * 2);
	tap_eq(stat_of(&other, "preempted_count") - before, 1, "dead_queue: turned on beside work, it is preempted");
	if (!actor_hear(&on, &ns, 20000))
		tap_bail("no answer from the online process");
	tap_ok(completes(&other), "dead_queue: it runs when the work is done");
	actor_kill(&on);
	actor_kill(&other);
	munmap(load, 4096);
}

/* ---- counting waves ---- */

static long long reads(void)
{
	return sim_counter(0, "occupancy_reads");
}

static void wave_counts(void)
{
	struct actor on, off, other;
	long long before, n;
	long ns;

	param_set("occupancy_us", 500);
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
	/* at times that double: 4.5 ms, 9, 18, 36, then every quarter of busy_budget_ms */
	tap_ok(ns > 0 && n >= 1 && n <= 12,
	       "wave_counts: a kernel of 100 ms with a signal, alone in its queue, costs %lld counts of 500 us: 12 at most", n);
	/* the idle neighbour stays off */
	tap_ok(wait_mapped(0, 2) && completes(&off), "wave_counts: all is complete, once");
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
	{ "idle", idle, .deep = true }, { "neighbour_rings", neighbour_rings }, { "neighbour_saved", neighbour_saved },
	{ "dead_queue", dead_queue, .deep = true },
	{ "idle_newborn", idle_newborn, .waves = true },
	{ "wave_counts", wave_counts, .waves = true }, { "virtual_function", virtual_function, .waves = true }, {}
};
