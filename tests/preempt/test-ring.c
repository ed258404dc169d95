// SPDX-License-Identifier: GPL-2.0
/* How work is noticed that rings no doorbell; mappings of doorbells; the fault's wait for the hardware */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "preempt.h"

/* ---- what rings no doorbell ---- */

/* The indices move and nothing faults, as when a device rings */
static void silent(void)
{
	struct actor on = online_start(0, 12), off = offline_start(0, 100 * MS, 20);
	const struct event *wake;
	struct events *e;
	uint64_t at, limit;

	param_set("safety_poll_us", 20000);
	nap_ns(30 * MS);
	e = events_start("kfd");
	at = kfdc_now();
	if (actor_do(&on, act_submit_silently, 10 * MS, 0))
		tap_bail("the packet was refused");
	tap_ok(wait_mapped(0, 1), "silent: work without a ring preempts");
	if (actor_do(&on, act_faults, 0, 0) < 0 || !completes(&on))
		tap_ok(false, "silent: the packet completes");
	events_stop(e);
	wake = events_find(e, NULL, "kfd_doorbell_wake", "pid", on.pid);
	limit = 20 * MS + 2 * MS;
	tap_ok(wake && event_field(wake, "source") == 1 && wake->ns - at < limit,
	       "silent: it is the poll that sees it, within safety_poll_us (%lld us)",
	       wake ? (long long)(wake->ns - at) / 1000 : -1);
	events_free(e);
	tap_ok(completes(&off), "silent: all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

#define IDLE		32	/* processes without work that may preempt */
#define POLLED		8	/* so many of them are examined every safety_poll_us */

/*
 * The same of one of many: each has its turn, beside one that rings and works all the time
 */
static void silent_many(void)
{
	struct actor on[IDLE], rings = online_start(0, 12);
	long long ns, worst = 0, most = (IDLE / POLLED + 1) * 10 * MS + 2 * MS;
	const struct event *wake;
	struct events *e;
	unsigned int i;
	uint64_t at;
	bool all = true;

	for (i = 0; i < IDLE; i++)
		on[i] = online_start(0, 12);
	for (i = 0; i < IDLE; i += IDLE / 4) {
		e = events_start("kfd");
		at = kfdc_now();
		if (actor_do(&on[i], act_submit_silently, MS, 0))
			tap_bail("the packet was refused");
		while (kfdc_now() < at + most)
			if (actor_do(&rings, act_request, 100 * US, 0) < 0)
				tap_bail("no answer from a process");
		events_stop(e);
		wake = events_find(e, NULL, "kfd_doorbell_wake", "pid", on[i].pid);
		ns = wake ? (long long)(wake->ns - at) : -1;
		all &= wake && event_field(wake, "source") == 1 && ns >= 0;
		worst = ns > worst ? ns : worst;
		events_free(e);
		if (actor_do(&on[i], act_faults, 0, 0) < 0)
			tap_bail("no answer from a process");
		all &= completes(&on[i]);
	}
	tap_ok(all, "silent_many: work without a ring of one of %d idle processes is found, and completes", IDLE);
	tap_ok(all && in_time(worst, most), "silent_many: it is found in %lld us, less than %lld", worst / 1000, most / 1000);
	for (i = 0; i < IDLE; i++)
		actor_kill(&on[i]);
	actor_kill(&rings);
}

/* ---- the mapping ---- */

/* Offset of the doorbells' mapping as /proc/self/maps has it, less that given to mmap */
static long act_pgoff(long unused, long unused2)
{
	uintptr_t va = (uintptr_t)me.q[0]->doorbell - (me.q[0]->doorbell_offset & 8191);
	uint64_t want = me.q[0]->doorbell_offset & ~8191ull;
	unsigned long start, end;
	unsigned long long off;
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	long r = -ENOENT;

	(void)unused, (void)unused2;
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %llx", &start, &end, &off) == 3 && start <= va &&
		    end > va)
			r = off != want + (start - va);
	if (f)
		fclose(f);
	return r;
}

enum { ODD_SECOND, ODD_MOVED, ODD_SPLIT, ODD_PRIVATE, ODD_READ, ODD_FORK };

/* Doorbells mapped twice, moved, half of them unmapped, rung by read(2), after a fork */
static long act_odd(long what, long unused)
{
	uint64_t base = me.q[0]->doorbell_offset & ~8191ull, in = me.q[0]->doorbell_offset & 8191;
	char *p, *at = (char *)me.q[0]->doorbell - in;
	int fds[2];
	uint64_t w;
	long r;
	pid_t pid;

	(void)unused;
	switch (what) {
	case ODD_PRIVATE:
		p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, kfdc_fd(me.c), base);
		if (p != MAP_FAILED)
			munmap(p, 8192);
		return 0;	/* refused or not, it must do no harm */
	case ODD_SECOND:
		p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, kfdc_fd(me.c), base);
		if (p == MAP_FAILED)
			return -errno;
		me.q[0]->doorbell = (void *)(p + in);
		break;
	case ODD_MOVED:
		p = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED ||
		    mremap(at, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, p) != p)
			return -errno;
		me.q[0]->doorbell = (void *)(p + in);
		break;
	case ODD_SPLIT:
		if (munmap(in < 4096 ? at + 4096 : at, 4096))
			return -errno;
		break;
	case ODD_FORK:
		pid = fork();
		if (!pid) {
			/* longer than the test, not longer than its parent */
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pause();
		}
		if (pid < 0)
			return -errno;
		break;
	}
	if (what != ODD_READ)
		return act_request(MS, 0);
	__atomic_fetch_add((uint64_t *)kfdc_signal_mem(me.s) + 1, 1, __ATOMIC_SEQ_CST);
	w = *me.q[0]->wptr;
	r = kfdc_dispatch(me.q[0], &(struct kfdc_dispatch){ .ns = MS, .signal = me.s, .no_ring = true });
	if (r || pipe(fds) || write(fds[1], &w, 8) != 8)
		return -EIO;
	/* the kernel writes the doorbell: the fault is its own */
	if (read(fds[0], (void *)me.q[0]->doorbell, 8) != 8)
		kfdc_ring(me.q[0]);
	return kfdc_signal_wait(me.s, 10 * SEC);
}

static void mapping(void)
{
	static const char * const names[] = {
		"a second mapping", "moved by mremap", "half of it unmapped", "a private mapping",
		"rung by read(2)", "after a fork",
	};
	struct actor on = online_start(0, 12), off = offline_start(0, 50 * MS, 300);
	struct events *e;
	unsigned int i;
	long r;

	tap_eq(actor_do(&on, act_pgoff, 0, 0), 0,
	       "mapping: /proc/PID/maps has the offset that was given to mmap");
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		/* a new mapping has its pages until they are taken away: the first ring is free */
		r = i == ODD_READ ? 0 : actor_do(&on, act_odd, i, 0);
		nap_ns(param("safety_poll_us") * US + param("linger_us") * US + 10 * MS);
		e = events_start("kfd");
		if (r >= 0)
			r = actor_do(&on, i == ODD_READ ? act_odd : act_request, i == ODD_READ ? i : MS, 0);
		events_stop(e);
		if (!tap_ok(r >= 0 && events_count(e, "kfd_preempt_begin", "pid", on.pid) == 1 &&
			    events_count(e, "kfd_doorbell_wake", "source", 0) == 1,
			    "mapping: %s: a ring faults", names[i]))
			events_print(e);
		events_free(e);
		nap_ns(param("linger_us") * US + 10 * MS);
	}
	tap_ok(completes(&off) && completes(&on), "mapping: all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

/* ---- who waits for the hardware ---- */

static volatile uint64_t *gap;

/* The longest time that this thread did not run, in shared memory */
static long act_count(long ms, long unused)
{
	uint64_t last = kfdc_now(), end = last + ms * MS, now;

	(void)unused;
	/* the last gap, too, which may outlast the time */
	do {
		now = kfdc_now();
		if (now - last > *gap)
			*gap = now - last;
		last = now;
	} while (now < end);
	return 0;
}

/* An unmap that takes 300 ms: nobody may spin for it at real-time priority */
static void patience(void)
{
	struct actor on, off, normal;
	const struct event *wake, *done;
	struct events *e;
	long r;
	int way;

	/* before the actors are born */
	gap = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (gap == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	normal = actor_bare(0);
	on = online_start(0, 12);
	/* to the end of the test: only what runs takes time to save */
	off = offline_start(0, 400 * MS, 30);
	/* decided by the ring; by the thread, after a poll */
	for (way = 0; way < 2; way++) {
		wait_mapped(0, 2);
		nap_ns(20 * MS);
		param_set("save_us", 300000);
		*gap = 0;
		e = events_start("kfd");
		actor_tell(&normal, act_count, 500, 0);
		nap_ns(10 * MS);
		actor_tell(&on, way ? act_submit_silently : act_submit, MS, 1);
		if (!actor_hear(&normal, &r, 20000) || !actor_hear(&on, &r, 20000))
			tap_bail("an actor does not answer");
		param_set("save_us", 20);
		events_stop(e);
		wake = events_find(e, NULL, "kfd_doorbell_wake", "pid", on.pid);
		done = wake ? events_find(e, wake, "kfd_unmap_queues_done", NULL, 0) : NULL;
		tap_ok(wake && event_field(wake, "source") == way && done &&
		       event_field(done, "dur_ns") > (long long)(290 * MS),
		       "patience: it is %s that begins the unmap, which takes %lld us",
		       way ? "the thread" : "the ring", done ? event_field(done, "dur_ns") / 1000 : -1);
		events_free(e);
		tap_ok(*gap > 0 && *gap < 60 * MS,
		       "patience: with an unmap of 300 ms, begun %s, others have the CPU (longest gap %llu us)",
		       way ? "by the thread" : "by a ring", (unsigned long long)*gap / 1000);
		actor_do(&on, act_faults, 0, 0);
		tap_ok(completes(&on), "patience: the request is complete");
	}
	tap_ok(actor_do(&off, act_left, 0, 0) > 0, "patience: the other had work all the time");
	actor_kill(&normal);
	actor_kill(&on);
	actor_kill(&off);
	munmap((void *)gap, 4096);
}

/* ---- the store is repeated ---- */

/* KFD_PRIO_REPEAT: the doorbells of a process are not trapped again for that long after a fault, ns */
#define STORE_REPEAT	(200 * US)

static long too_many;	/* page faults of act_ring_nothing() that the time of their rings does not explain */

/*
 * @n rings without a packet, @ns apart; returns how many took a page fault. A store may fault again each STORE_REPEAT, if its
 * thread did not have the CPU for as long
 */
static long act_ring_nothing(long n, long ns)
{
	struct rusage before, after;
	long faults, rings = 0;
	uint64_t begin;

	too_many = 0;
	while (n--) {
		nap_ns(ns);
		begin = kfdc_now();
		getrusage(RUSAGE_SELF, &before);
		kfdc_ring(me.q[0]);
		getrusage(RUSAGE_SELF, &after);
		faults = after.ru_minflt - before.ru_minflt;
		rings += faults > 0;
		faults -= 1 + (kfdc_now() - begin) / STORE_REPEAT;
		if (faults > 0)
			too_many += faults;
	}
	return rings;
}

static long act_too_many(long unused, long unused2)
{
	(void)unused, (void)unused2;
	return too_many;
}

/*
 * A process that leaves the CPU for 20 to 59 us and takes it for 100, before all but the threads of the driver and of the simulated
 * firmware: some stores are repeated after the engine has looked, but sooner than 200 us after the fault.
 */
static pid_t delayer_start(void)
{
	const struct sched_param low = { .sched_priority = 1 };
	unsigned int i;
	uint64_t end;
	pid_t pid = fork();

	if (pid < 0)
		tap_bail("fork: %s", strerror(errno));
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (sched_setscheduler(0, SCHED_FIFO, &low))
		_exit(1);
	for (i = 0;; i++) {
		nap_ns((20 + i % 40) * US);
		for (end = kfdc_now() + 100 * US; kfdc_now() < end;)
			;
	}
}

/* An unmap that takes longer than linger_us, and work that is done before the store is repeated */
static void repeat(void)
{
	struct actor on = online_start(0, 12), off = offline_start(0, 50 * MS, 60);
	long linger[] = { 3000, param("linger_us"), 0 }, r;
	unsigned int i, way, answered;
	long long before, off_us;
	pid_t delayer;

	/* or linger_us would be longer after saves of 1 ms, longer than these */
	param_set("max_switch_pct", 0);
	param_set("save_us", 1000);
	for (way = 0; way < 3; way++) {
		param_set("linger_us", linger[way]);
		before = stat_of(&on, "preempting_count");
		off_us = stat_of(&off, "preempted_us");
		for (i = answered = 0; i < 10 && answered == i; i++) {
			nap_ns(10 * MS);
			actor_tell(&on, act_submit, 2 * US, 1);
			answered += actor_hear(&on, &r, 2000) && !r;
		}
		tap_eq(answered, 10, "repeat: linger_us %ld: rings return", linger[way]);
		tap_eq(stat_of(&on, "preempting_count") - before, 10,
		       "repeat: linger_us %ld: each preempts once", linger[way]);
		off_us = (stat_of(&off, "preempted_us") - off_us) / 10;
		tap_ok(off_us >= 1000 + linger[way] * 9 / 10,
		       "repeat: linger_us %ld: it counts from when the others are off (%lld us)",
		       linger[way], off_us);
		if (answered < i)
			break;
	}
	param_set("save_us", 20);
	if (way == 3)
		tap_ok(completes(&on) && completes(&off), "repeat: all is complete, once");
	actor_kill(&off);
	/* no unmap, no work, no linger time: the engine looks 20 us after the fault */
	delayer = delayer_start();
	r = -1;
	actor_tell(&on, act_ring_nothing, 200, MS);
	answered = actor_hear(&on, &r, 20000);
	tap_ok(!waitpid(delayer, NULL, WNOHANG), "repeat: alone, with stores that are delayed");
	tap_ok(answered && r >= 100, "repeat: at least 100 of 200 rings without a packet fault (%ld)", r);
	kill(delayer, SIGKILL);
	waitpid(delayer, NULL, 0);
	if (answered)
		tap_eq(actor_do(&on, act_too_many, 0, 0), 0,
		       "repeat: they fault once each at most, and once more each 200 us that they take");
	actor_kill(&on);
}

const struct test tests_ring[] = {
	{ "silent", silent }, { "silent_many", silent_many }, { "mapping", mapping, .deep = true }, { "patience", patience, .deep = true },
	{ "repeat", repeat }, {}
};
