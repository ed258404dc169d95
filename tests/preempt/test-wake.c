// SPDX-License-Identifier: GPL-2.0
/* Rings of trapped doorbells: each of them wakes the engine, whatever else its process does */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "preempt.h"

#define RINGS	60

/* ---- rings beside a storm of changes to the address space ---- */

#define STORM_BYTES	(192UL << 20)

static volatile bool storm_stop;
static pthread_t storm_thread[2];

static void *protect(void *unused)
{
	char *p = mmap(NULL, STORM_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	(void)unused;
	if (p == MAP_FAILED)
		return p;
	madvise(p, STORM_BYTES, MADV_NOHUGEPAGE);
	/* page tables, and no memory for it: the zero page */
	for (i = 0; i < STORM_BYTES; i += 4096)
		(void)*(volatile char *)(p + i);
	while (!storm_stop) {
		mprotect(p, STORM_BYTES, PROT_NONE);
		mprotect(p, STORM_BYTES, PROT_READ);
	}
	munmap(p, STORM_BYTES);
	return NULL;
}

static void *map(void *unused)
{
	void *p;

	(void)unused;
	while (!storm_stop) {
		p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (p == MAP_FAILED)
			return p;
		munmap(p, 1 << 20);
	}
	return NULL;
}

static long act_storm(long on, long unused)
{
	(void)unused;
	storm_stop = !on;
	if (on)
		return -(pthread_create(&storm_thread[0], NULL, protect, NULL) ||
			 pthread_create(&storm_thread[1], NULL, map, NULL));
	pthread_join(storm_thread[0], NULL);
	pthread_join(storm_thread[1], NULL);
	return 0;
}

/* The thread that rings is the online model's; the storm is another's */
static long act_nice(long level, long unused)
{
	(void)unused;
	return setpriority(PRIO_PROCESS, 0, level) ? -errno : 0;
}

static uint64_t rung_at;	/* in shared memory */
static uint64_t *rung = &rung_at;

/* A request; when the doorbell was written goes to shared memory */
static long act_ring_timed(long ns, long unused)
{
	uint64_t *value = (uint64_t *)kfdc_signal_mem(me.s) + 1;
	long r;

	(void)unused;
	__atomic_fetch_add(value, 1, __ATOMIC_SEQ_CST);
	r = kfdc_dispatch(me.q[0], &(struct kfdc_dispatch){ .ns = ns, .signal = me.s, .no_ring = true });
	if (r)
		return r;
	*rung = kfdc_now();
	kfdc_ring(me.q[0]);
	return kfdc_signal_wait(me.s, 60 * SEC);
}

static int by_value(const void *l, const void *r)
{
	const uint64_t *a = l, *b = r;

	return *a < *b ? -1 : *a > *b;
}

/* P90 of the time from a ring to the event that says it woke the engine */
static uint64_t ring_to_wake(const struct actor *on)
{
	const struct event *wake = NULL;
	uint64_t at[RINGS], took[RINGS];
	struct events *e = events_start("kfd");
	unsigned int i, n = 0;

	for (i = 0; i < RINGS; i++) {
		nap_ns(param("linger_us") * US + 7 * MS);
		if (actor_do(on, act_ring_timed, 100 * US, 0))
			tap_bail("a request failed");
		at[i] = *rung;
	}
	events_stop(e);
	for (i = 0; i < RINGS; i++) {
		while ((wake = events_find(e, wake, "kfd_doorbell_wake", "pid", on->pid)) &&
		       wake->ns < at[i])
			;
		if (!wake || (i + 1 < RINGS && wake->ns > at[i + 1]))
			continue;
		took[n++] = wake->ns - at[i];
	}
	if (!tap_ok(n == RINGS, "storm: %u of %u rings have their event", n, RINGS)) {
		events_print(e);
		events_free(e);
		return 0;
	}
	events_free(e);
	qsort(took, n, sizeof(took[0]), by_value);
	tap_diag("ring to wake, simulated: P50 %llu ns, P90 %llu ns, most %llu ns",
		 (unsigned long long)took[n / 2], (unsigned long long)took[n * 9 / 10],
		 (unsigned long long)took[n - 1]);
	return took[n * 9 / 10];
}

static void storm(void)
{
	struct actor on;
	uint64_t calm, wild;

	if (sim_old_kernel()) {
		tap_skip("storm", "before Linux 6.4 no fault is handled without the mm's lock");
		return;
	}
	rung = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (rung == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	on = online_start(0, 12);
	actor_do(&on, act_nice, -20, 0);
	calm = ring_to_wake(&on);
	actor_do(&on, act_nice, 0, 0);		/* the threads inherit it */
	if (actor_do(&on, act_storm, 1, 0))
		tap_bail("no threads");
	actor_do(&on, act_nice, -20, 0);
	nap_ns(300 * MS);
	wild = ring_to_wake(&on);
	actor_do(&on, act_storm, 0, 0);
	tap_ok(calm && wild < 4 * calm + 20 * US,
	       "storm: mprotect and mmap in other threads do not delay rings (P90 %llu and %llu ns)",
	       (unsigned long long)calm, (unsigned long long)wild);
	actor_kill(&on);
	munmap(rung, 4096);
	rung = &rung_at;
}

/* ---- each ring that faults wakes ---- */

#define SWEEP		600
#define WIDE_QUEUES	12

/* What one process did, in shared memory: when it rang, if that faulted, how long the work took */
struct rings {
	struct {
		uint64_t at, took;
		bool faulted;
	} ring[SWEEP];
};

static struct rings *rings;

static long faults_so_far(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_minflt + u.ru_majflt;
}

/*
 * SWEEP requests of 2 us, the i-th @base + i * @step ns after the end of the one before it, above
 * the engine's thread, so that they ring whenever that gives the CPU away, and below the
 * simulated firmware's (50), which the fault waits for
 */
static long act_sweep(long base, long step)
{
	const struct sched_param high = { .sched_priority = 10 }, none = {};
	uint64_t start, end;
	long i, faults, r;

	r = sched_setscheduler(0, SCHED_FIFO, &high) ? -errno : 0;
	for (i = 0; i < SWEEP && !r; i++) {
		nap_ns(base + i * step);
		__atomic_fetch_add((uint64_t *)kfdc_signal_mem(me.s) + 1, 1, __ATOMIC_SEQ_CST);
		/* from here on the poll may see the packet, before the ring */
		rings->ring[i].at = kfdc_now();
		r = kfdc_dispatch(me.q[0], &(struct kfdc_dispatch){ .ns = 2000, .signal = me.s, .no_ring = true });
		faults = faults_so_far();
		kfdc_ring(me.q[0]);
		rings->ring[i].faulted = faults_so_far() != faults;
		/* an event that is set already would be waited for in a loop, above all others */
		while (!r && kfdc_signal_value(me.s) > 0)
			nap_ns(20 * US);
		kfdc_signal_times(me.s, &start, &end);
		rings->ring[i].took = end - rings->ring[i].at;
	}
	sched_setscheduler(0, SCHED_OTHER, &none);
	return r;
}

/* Is a preemption in force at that time?  One that follows another begins before the end of that one is traced */
static bool in_force(const struct events *e, uint64_t ns)
{
	const struct event *ev;
	long long seq = -1;

	for (ev = e->event; ev < e->event + e->nr && ev->ns <= ns; ev++) {
		if (!strcmp(ev->name, "kfd_preempt_begin"))
			seq = event_field(ev, "seq");
		else if (!strcmp(ev->name, "kfd_preempt_end") && event_field(ev, "seq") == seq)
			seq = -1;
	}
	return seq >= 0;
}

/*
 * Two processes may preempt, so that the thread looks at one while the other rings; @wide has many
 * queues, so that this takes long
 */
static void wake_sweep(const struct actor *on, long linger_us, long base, long step)
{
	const struct event *wake;
	unsigned int i, faulted = 0, lost = 0;
	uint64_t most = 0, until;
	struct events *e;

	param_set("linger_us", linger_us);
	nap_ns(20 * MS);
	e = events_start("kfd");
	if (actor_do(on, act_sweep, base, step))
		tap_bail("a request failed");
	events_stop(e);
	wake = events_find(e, NULL, "kfd_doorbell_wake", "pid", on->pid);
	for (i = 0; i < SWEEP; i++) {
		if (rings->ring[i].took > most)
			most = rings->ring[i].took;
		if (!rings->ring[i].faulted)
			continue;
		faulted++;
		until = i + 1 < SWEEP ? rings->ring[i + 1].at : ~0ull;
		while (wake && wake->ns < rings->ring[i].at)
			wake = events_find(e, wake, "kfd_doorbell_wake", "pid", on->pid);
		/* awake: the poll has seen the packet of the ring before it after the trap */
		if ((wake && wake->ns < until) || in_force(e, rings->ring[i].at))
			continue;
		if (!lost++)
			tap_diag("ring %u, at %llu, took %llu us", i, (unsigned long long)rings->ring[i].at,
				 (unsigned long long)rings->ring[i].took / 1000);
	}
	tap_ok(faulted > SWEEP / 10 && !lost, "wake: linger_us %ld: of %u rings that fault %u wake nobody",
	       linger_us, faulted, lost);
	if (lost && lost < 5)
		events_print(e);
	tap_ok(in_time(most, 10 * MS), "wake: linger_us %ld: none waits for a kernel of 100 ms (at most %llu us)",
	       linger_us, (unsigned long long)most / 1000);
	events_free(e);
}

static void wake(void)
{
	struct actor on, wide, off;

	rings = mmap(NULL, sizeof(*rings), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (rings == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	memset(rings, 0, sizeof(*rings));
	wide = actor_start(0, WIDE_QUEUES, 7);
	prioritise(&wide, 11);
	on = online_start(0, 12);
	/* to the end of both sweeps: without work it would not be preempted */
	off = offline_start(0, 100 * MS, 80);
	param_set("floor_pct", 0);
	param_set("max_preempt_per_s", 10000);
	wake_sweep(&on, 200, 150 * US, 1000);
	wake_sweep(&on, 0, 50 * US, 1000);
	tap_ok(completes(&off), "wake: all is complete, once");
	actor_kill(&on);
	actor_kill(&wide);
	actor_kill(&off);
	munmap(rings, sizeof(*rings));
}

/* ---- many rings ---- */

#define BATCH		250
#define LATE_NS		(2 * SEC)
#define MANY_WIDE	4

unsigned long many_rings = 2000;

/* What a batch of rings has found, in shared memory */
struct many {
	uint64_t seed, rings, faults, late, most_ns, most_fault_ns;
};

static struct many *many;

/* xorshift64: each batch goes on with it */
static uint64_t many_random(uint64_t below)
{
	many->seed ^= many->seed << 13;
	many->seed ^= many->seed >> 7;
	many->seed ^= many->seed << 17;
	return many->seed % below;
}

/*
 * BATCH requests of 2 us, each @base to @base + @width ns after the end of the one before it; see
 * act_sweep() for the priority.  The victim's kernel has no end, and the safety poll comes after
 * 10 s: a ring that finds the engine asleep is answered by that poll.
 */
static long act_many(long base, long width)
{
	const struct sched_param high = { .sched_priority = 10 }, none = {};
	uint64_t start, end, at, took;
	long i, faults, r;
	bool faulted;

	r = sched_setscheduler(0, SCHED_FIFO, &high) ? -errno : 0;
	for (i = 0; i < BATCH && !r && !many->late; i++) {
		nap_ns(base + many_random(width));
		__atomic_fetch_add((uint64_t *)kfdc_signal_mem(me.s) + 1, 1, __ATOMIC_SEQ_CST);
		r = kfdc_dispatch(me.q[0], &(struct kfdc_dispatch){ .ns = 2000, .signal = me.s, .no_ring = true });
		faults = faults_so_far();
		at = kfdc_now();
		kfdc_ring(me.q[0]);
		faulted = faults_so_far() != faults;
		many->faults += faulted;
		while (!r && kfdc_signal_value(me.s) > 0)
			nap_ns(20 * US);
		kfdc_signal_times(me.s, &start, &end);
		many->rings++;
		/* a mapped queue's write index may be read before the ring */
		took = end > at ? end - at : 0;
		many->late += took > LATE_NS;
		if (took > many->most_ns)
			many->most_ns = took;
		if (faulted && took > many->most_fault_ns)
			many->most_fault_ns = took;
	}
	sched_setscheduler(0, SCHED_OTHER, &none);
	return r;
}

/* @n rings, with the storm in other threads or without */
static void many_part(const struct actor *on, const struct actor *off, long linger_us, bool wild, unsigned long n)
{
	unsigned long next = n / 10;
	long long took = stat_of(on, "preempting_count");

	*many = (struct many){ .seed = many->seed };
	param_set("linger_us", linger_us);
	if (wild && actor_do(on, act_storm, 1, 0))
		tap_bail("no threads");
	nap_ns(20 * MS);
	while (many->rings < n && !many->late) {
		if (actor_do(on, act_many, linger_us ? 15 * US : 5 * US, 60 * US))
			tap_bail("a request failed");
		if (n < 100000 || many->rings < next)
			continue;
		next += n / 10;
		tap_diag("rings: %llu, %llu faults, %llu late", (unsigned long long)many->rings,
			 (unsigned long long)many->faults, (unsigned long long)many->late);
		fflush(stdout);
	}
	if (wild)
		actor_do(on, act_storm, 0, 0);
	tap_ok(!many->late && many->faults > many->rings / 10 && actor_do(off, act_left, 0, 0) == 1,
	       "rings: linger_us %ld%s: of %llu rings, %llu of which fault, %llu find the engine asleep (most %llu us, %llu after a fault, %lld preemptions)",
	       linger_us, wild ? ", in a storm" : "", (unsigned long long)many->rings,
	       (unsigned long long)many->faults, (unsigned long long)many->late,
	       (unsigned long long)many->most_ns / 1000,
	       (unsigned long long)many->most_fault_ns / 1000, stat_of(on, "preempting_count") - took);
}

/* -r says how many; half of them with linger_us 0, and a quarter in a storm, which costs more time */
static void rings_many(void)
{
	const char *seed = getenv("KFDPRIO_SEED");
	struct actor on, wide, off;
	int part;

	many = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (many == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	/* not 0, from which there is no way on */
	many->seed = 88172645463325252ull ^ (seed ? strtoull(seed, NULL, 0) : 0);
	wide = actor_start(0, MANY_WIDE, 7);
	prioritise(&wide, 11);
	on = online_start(0, 12);
	off = offline_start(0, 100000 * SEC, 1);
	/* the doorbells that the simulated firmware looks at cost most of the CPU's time */
	param_set("poll_us", 200);
	param_set("floor_pct", 0);
	param_set("max_preempt_per_s", 10000);
	param_set("max_switch_pct", 0);
	param_set("safety_poll_us", 10000000);
	for (part = 0; part < 4; part++)
		many_part(&on, &off, part & 1 ? 0 : 20, part & 2, many_rings * (part & 2 ? 1 : 3) / 8);
	actor_kill(&on);
	actor_kill(&wide);
	actor_kill(&off);
	munmap(many, 4096);
}

const struct test tests_wake[] = {
	{ "storm", storm, .deep = true }, { "wake", wake, .deep = true }, { "rings", rings_many }, {}
};
