// SPDX-License-Identifier: GPL-2.0
/* Room for a level, beside processes of which the driver cannot read the indices: their page is not present */
#include <errno.h>
#include <sys/mman.h>
#include <linux/kfd_ioctl.h>
#include "preempt.h"

#define IDLE	12

static struct kfdc_ring *pm4;
static volatile uint64_t *pm4_done;

/* A dispatch in a queue of PM4 packets: nothing of the AQL queue shows that it runs */
static long act_kernel(long ms, long unused)
{
	const struct kfdc_ring_attr attr = KFDC_PM4_DEFAULT;
	struct kfdc_bo bo;
	long r;

	(void)unused;
	r = kfdc_ring_create(me.c, &attr, &pm4);
	r = r ? r : kfdc_bo_alloc(me.c, 4096, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &bo);
	if (r)
		return r;
	pm4_done = bo.va;
	/* a full load of waves takes 20 us */
	r = kfdc_pm4_dispatch(pm4, kfdc_max_waves(me.c) * 50 * ms);
	r = r ? r : kfdc_pm4_release(pm4, pm4_done, 1, 0);
	if (!r)
		kfdc_ring_submit(pm4);
	return r;
}

static long act_runs(long unused, long unused2)
{
	(void)unused, (void)unused2;
	return !*pm4_done;
}

/* The page of the indices of the AQL queue, or of the PM4 queue */
static long act_drop(long of_pm4, long unused)
{
	struct kfdc_bo *bo = of_pm4 ? &pm4->ptr_bo : &me.q[0]->ptr_bo;

	(void)unused;
	return madvise(bo->va, bo->size, MADV_DONTNEED) ? -errno : 0;
}

/* Does its kernel end within @ns? */
static bool ends_within(const struct actor *a, uint64_t ns)
{
	uint64_t end = kfdc_now() + ns;

	while (actor_do(a, act_runs, 0, 0))
		if (kfdc_now() >= end)
			return false;
		else
			nap_ns(2 * MS);
	return true;
}

/* Its last kernel is saved when it makes room: it returns, although its indices cannot be read */
static void unread_kernel(void)
{
	struct actor busy = online_start(0, 12), last = online_start(0, 12), idle[IDLE];
	int i;

	for (i = 0; i < IDLE; i++)
		idle[i] = online_start(0, 12);
	actor_do(&last, act_kernel, 100, 0);
	nap_ns(param("linger_us") * US + 10 * MS);
	tap_eq(actor_do(&last, act_drop, 1, 0), 0, "unread_kernel: the page of its indices is not present");
	actor_do(&busy, act_submit, 20 * MS, 100);
	tap_ok(ends_within(&last, SEC) && actor_do(&busy, act_left, 0, 0) > 1, "unread_kernel: its kernel ends beside the one that works");
	for (i = 0; i < IDLE; i++)
		actor_kill(&idle[i]);
	actor_kill(&last);
	actor_kill(&busy);
}

/* There is room for all. A higher level takes it off, and ends: it returns beside its equal */
static void unread_below(void)
{
	struct actor high = online_start(0, 14), busy = online_start(0, 12), last = online_start(0, 12);

	actor_do(&last, act_kernel, 200, 0);
	nap_ns(param("linger_us") * US + 10 * MS);
	actor_do(&last, act_drop, 1, 0);
	actor_do(&busy, act_submit, 20 * MS, 80);
	nap_ns(10 * MS);
	actor_do(&high, act_request, 2 * MS, 0);
	tap_ok(ends_within(&last, SEC) && actor_do(&busy, act_left, 0, 0) > 1, "unread_below: its kernel ends when the level is its own again");
	actor_kill(&high);
	actor_kill(&busy);
	actor_kill(&last);
}

/* They are never proved to have no work, and return with the end of each level: ten times, and then they stay */
static void unread_often(void)
{
	enum { REQUESTS = 60 };
	struct commands before, after;
	struct actor on = online_start(0, 12), idle[IDLE];
	int i;

	for (i = 0; i < IDLE; i++) {
		idle[i] = online_start(0, 12);
		actor_do(&idle[i], act_drop, 0, 0);
	}
	before = commands(0);
	for (i = 0; i < REQUESTS; i++) {
		if (actor_do(&on, act_request, MS, 0) < 0)
			tap_bail("no answer from the online process");
		nap_ns(4 * MS);
	}
	after = commands(0);
	tap_ok(after.unmaps - before.unmaps <= (has_mes(0) ? IDLE : 2) * 14, "unread_often: %d levels cost %lld unmaps", REQUESTS,
	       after.unmaps - before.unmaps);
	for (i = 0; i < IDLE; i++)
		actor_kill(&idle[i]);
	actor_kill(&on);
}

const struct test tests_unread[] = {
	{ "unread_kernel", unread_kernel }, { "unread_below", unread_below }, { "unread_often", unread_often, .deep = true }, {}
};
