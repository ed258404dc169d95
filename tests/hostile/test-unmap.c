// SPDX-License-Identifier: GPL-2.0
/*
 * An unmap that takes long, or that is refused: until the scheduler has confirmed it, no queue may be freed, and no
 * buffer of a process may move. The simulated GPU counts both.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "hostile.h"

enum { ACT_DESTROY, ACT_EVICT };

static struct kfdc_bo pages;
static struct kfdc_queue *spare;

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
	r = r ? r : kfdc_queue_create(me.c, NULL, &spare);
	return r ? r : act_request(10 * US, 0) < 0 ? -EIO : 0;
}

static volatile bool rings;
static long helped;

/* Beside the ring, which waits in its fault: DESTROY_QUEUE, or an eviction by the MMU notifier of the userptr */
static void *help(void *what)
{
	while (!rings)
		nap_ns(100 * US);
	nap_ns(2 * MS);
	if ((long)what == ACT_DESTROY)
		helped = kfdc_queue_destroy(spare);
	else
		helped = madvise(pages.va, pages.size, MADV_DONTNEED) ? -errno : 0;
	return NULL;
}

static long act_ring_beside(long what, long unused)
{
	pthread_t thread;
	long r;

	(void)unused;
	if (pthread_create(&thread, NULL, help, (void *)what))
		return -EAGAIN;
	nap_ns(MS);
	rings = true;
	r = act_submit(10 * US, 1);
	pthread_join(thread, NULL);
	return r ? r : helped;
}

/*
 * The online process is at work; its save takes 20 ms, longer than a fault may wait. A user below rings, and another
 * thread of it waits for the lock of the queues meanwhile
 */
static void slow(const char *name, int what, unsigned int claims, long park_ms)
{
	struct actor on[9], user = user_start(0);
	long long freed, moved;
	unsigned int i;
	long r;

	if (park_ms)
		param_set("idle_park_ms", park_ms);
	for (i = 0; i < claims; i++)
		on[i] = online_start(0, 12);
	if (actor_do(&user, act_prepare, 0, 0))
		tap_bail("%s: a user's queues", name);
	/* its idleness is seen, and its doorbells are trapped; with parking it is off */
	nap_ns(park_ms * MS + 60 * MS);
	freed = sim_counter(0, "mapped_freed");
	moved = sim_counter(0, "mapped_moved");
	param_set("save_us", 20000);
	if (actor_do(&on[0], act_submit, 300 * MS, 2))
		tap_bail("%s: the online process's work", name);
	nap_ns(40 * MS);
	r = actor_do(&user, act_ring_beside, what, 0);
	tap_ok(!r, "%s: the user rings, and %s", name, what == ACT_DESTROY ? "destroys a queue" : "is evicted");
	nap_ns(60 * MS);
	param_set("save_us", 37);
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

static long act_evict(long unused, long unused2)
{
	(void)unused, (void)unused2;
	return madvise(pages.va, pages.size, MADV_DONTNEED) ? -errno : 0;
}

/*
 * Another holds the lock of resets while the online process rings: the unmap is refused with -EIO. Before the engine
 * tries again, 10 ms later, the process that it could not take off is evicted
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
		actor_tell(&holder, act_hold_reset_lock, 8, 0);
		nap_ns(6 * MS);
		actor_do(&on, act_submit, 5 * MS, 1);
		if (!actor_hear(&holder, &r, 10000) || r)
			tap_bail("reset_lock: %ld", r);
		if (actor_do(&off, act_evict, 0, 0))
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
