// SPDX-License-Identifier: GPL-2.0
/*
 * An unmap that takes long, or that is refused: until the scheduler has confirmed it, no queue may be freed, and no
 * buffer of a process may move. The simulated GPU counts both.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "hostile.h"

enum { ACT_DESTROY, ACT_EVICT };

static struct kfdc_bo pages;
static struct kfdc_queue *spare;

/* A queue with a kernel that nobody waits for */
static long act_spare(long unused, long unused2)
{
	long r = kfdc_queue_create(me.c, NULL, &spare);

	(void)unused, (void)unused2;
	return r ? r : kfdc_dispatch(spare, &(struct kfdc_dispatch){ .ns = 10 * SEC });
}

/* A user with a queue that rings, one that is to be destroyed, and a userptr */
static long act_prepare(long unused, long unused2)
{
	void *p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long r;

	(void)unused, (void)unused2;
	if (p == MAP_FAILED)
		return -errno;
	memset(p, 1, 65536);
	r = kfdc_userptr(me.c, p, 65536, &pages);
	r = r ? r : act_create(1, 7);
	r = r ? r : act_spare(0, 0);
	return r ? r : act_request(10 * US, 0) < 0 ? -EIO : 0;
}

/* At a time of CLOCK_MONOTONIC the process destroys its spare queue, or is evicted by the MMU notifier of its userptr */
static long act_beside(long what, long at)
{
	const struct timespec t = { .tv_sec = at / SEC, .tv_nsec = at % SEC };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	if (what == ACT_EVICT)
		return madvise(pages.va, pages.size, MADV_DONTNEED) ? -errno : 0;
	return kfdc_queue_destroy(spare);
}

static long act_ring_at(long at, long unused)
{
	(void)unused;
	while ((long)kfdc_now() < at)
		;
	return act_submit(10 * MS, 2);
}

/*
 * A user is at work; its save takes 20 ms, longer than the 5 ms for which a fault waits. The online process rings, and some
 * microseconds later, while its fault has the lock of the queues, the user waits for that lock, and has it when the fault is
 * over, and the unmap is not: before the engine's thread, which has the lowest real-time priority. On the only CPU it takes a
 * higher one to be before it, and several tries. Once it has the lock it must not keep that priority: KFD's wait for the
 * unmap would leave no CPU to the simulated GPU (on a debug kernel until KFD gives up).
 */
static void slow(const char *name, int what, unsigned int claims, long park_ms)
{
	const struct sched_param fifo = { .sched_priority = 2 }, above = { .sched_priority = 3 }, other = { };
	struct actor on[9], user = user_start(0);
	long long freed, moved, taken;
	unsigned int i;
	long r, at;

	/* the saves may take all of the GPU's time: the engine does not stop preempting because of them */
	param_set("max_switch_pct", 100);
	if (park_ms)
		param_set("idle_park_ms", park_ms);
	for (i = 0; i < claims; i++)
		on[i] = online_start(0, 12);
	if (actor_do(&user, act_prepare, 0, 0) || actor_do(&user, act_submit, 300 * MS, 20))
		tap_bail("%s: a user's queues", name);
	/* with parking, the other claims are off */
	nap_ns(park_ms * MS + 60 * MS);
	freed = sim_counter(0, "mapped_freed");
	moved = sim_counter(0, "mapped_moved");
	taken = stat_of(&user, "preempted_count");
	for (i = 0; i < 8; i++) {
		param_set("save_us", 20000);
		at = kfdc_now() + 2 * MS;
		if (sched_setscheduler(user.pid, SCHED_FIFO, &fifo) || sched_setscheduler(0, SCHED_FIFO, &above))
			tap_bail("sched_setscheduler: %s", strerror(errno));
		actor_tell(&user, act_beside, what, at + (5 + 5 * i) * US);
		actor_tell(&on[0], act_ring_at, at, 0);
		nap_ns(2 * MS + longer(10 * MS));
		sched_setscheduler(user.pid, SCHED_OTHER, &other);
		sched_setscheduler(0, SCHED_OTHER, &other);
		if (!actor_hear(&on[0], &r, 10000) || r || !actor_hear(&user, &r, 10000) || r)
			tap_bail("%s: %ld", name, r);
		nap_ns(60 * MS);
		param_set("save_us", 37);
		nap_ns(20 * MS);
		if (what == ACT_DESTROY && actor_do(&user, act_spare, 0, 0))
			tap_bail("%s: a queue", name);
	}
	tap_ok(stat_of(&user, "preempted_count") >= taken + 8, "%s: the user was preempted each time", name);
	tap_eq(sim_counter(0, "mapped_freed") - freed, 0, "%s: no queue was freed while it was mapped", name);
	tap_eq(sim_counter(0, "mapped_moved") - moved, 0, "%s: no buffer moved under a mapped queue", name);
	tap_ok(completes(&on[0]) && completes(&user), "%s: all work is complete, once", name);
	actor_kill(&user);
	for (i = 0; i < claims; i++)
		actor_kill(&on[i]);
}

static void slow_destroy(void) { slow("slow_destroy", ACT_DESTROY, 1, 0); }
static void slow_evict(void) { slow("slow_evict", ACT_EVICT, 1, 0); }
static void slow_parked(void) { slow("slow_parked", ACT_DESTROY, 9, 100); }

/* ---- an unmap that is refused ---- */

static long act_hold_reset_lock(long ms, long unused)
{
	char text[16];

	(void)unused;
	snprintf(text, sizeof(text), "%ld", ms);
	return -sim_write(0, "reset_lock", text);
}

/*
 * Two equals are at work, and one of them becomes lower. Another process holds the lock of resets, so that the unmap which
 * takes it off is refused with -EIO. Before the engine tries again, 10 ms later, the process is evicted
 */
static void refused_evict(void)
{
	struct actor holder = actor_bare(0), on = online_start(0, 12), off = user_start(0);
	long long moved;
	unsigned int i;
	long r;

	if (actor_do(&off, act_prepare, 0, 0) || actor_do(&off, act_submit, 20 * MS, 200))
		tap_bail("refused_evict: a user's queues");
	nap_ns(50 * MS);
	moved = sim_counter(0, "mapped_moved");
	for (i = 0; i < 5; i++) {
		if (kfd_set(off.pid, 12, NULL) || actor_do(&on, act_submit, 60 * MS, 1))
			tap_bail("refused_evict: two equals");
		nap_ns(10 * MS);
		actor_tell(&holder, act_hold_reset_lock, 8, 0);
		nap_ns(6 * MS);
		kfd_set(off.pid, 5, NULL);
		if (!actor_hear(&holder, &r, 10000) || r)
			tap_bail("reset_lock: %ld", r);
		if (actor_do(&off, act_beside, ACT_EVICT, 0))
			tap_bail("refused_evict: madvise");
		tap_ok(completes(&on), "refused_evict: the online work is complete");
		nap_ns(40 * MS);
	}
	tap_eq(sim_counter(0, "mapped_moved") - moved, 0, "refused_evict: no buffer moved under a mapped queue");
	actor_kill(&off);
	actor_kill(&on);
	actor_kill(&holder);
}

const struct test tests_unmap[] = {
	{ "slow_destroy", slow_destroy },
	{ "slow_evict", slow_evict },
	{ "slow_parked", slow_parked },
	{ "refused_evict", refused_evict },
	{}
};
