// SPDX-License-Identifier: GPL-2.0
/*
 * Groups that users make for their own processes: they change neither the period nor the places of the groups that an
 * administrator has made for others, except by the GPU time that they use.
 */
#include <string.h>
#include <unistd.h>
#include "hostile.h"
#include "busy.h"

/* The user's own process gets a group of its own, with a limit. Return: its number, -errno */
static long act_limit(long max, long unused)
{
	uint64_t group = 0;
	int err = kfd_share(getpid(), KFD_PRIO_SHARE_NEW | KFD_PRIO_SHARE_MAX, max, 0, &group);

	(void)unused;
	return err ? -err : (long)group;
}

/* @n dispatches of @ns */
static long act_work(long ns, long n)
{
	struct kfdc_queue_attr attr = { .priority = 7, .percentage = 100, .packets = 4096 };
	long r = kfdc_queue_create(me.c, &attr, &me.q[0]);

	return r ? r : act_submit(ns, n);
}

static struct actor user_limited(unsigned int max, uint64_t *group)
{
	struct actor a = user_start(0);
	long r = actor_do(&a, act_limit, max, 0);

	if (r < 0)
		tap_bail("a user's group: %s", strerror(-r));
	*group = r;
	return a;
}

/* The longest that requests of a tenant with half of the GPU take, us */
static long long longest_wait(struct actor *tenant)
{
	return requests(tenant, 40, MS, 55 * MS).max / 1000;
}

/* The lowest limit of a user's group, without work and with */
static void share_lowest(void)
{
	struct actor tenant = actor_start(0, 1, 7), user;
	long long alone, idle, busy;
	uint64_t group;

	limit(&tenant, 50 * PCT);
	alone = longest_wait(&tenant);
	user = user_limited(1, &group);
	nap_ns(2 * SEC);
	idle = longest_wait(&tenant);
	if (actor_do(&user, act_work, MS, 1000))
		tap_bail("no work");
	nap_ns(2 * SEC);
	busy = longest_wait(&tenant);
	tap_ok(alone < 60000, "share_lowest: a tenant of 50 %% waits for its place (%lld us)", alone);
	tap_ok(idle < 60000, "share_lowest: no longer if a user has a group of 0.01 %% (%lld us)", idle);
	tap_ok(busy < 60000, "share_lowest: nor if that group has work (%lld us)", busy);
	actor_kill(&user);
	actor_kill(&tenant);
	tap_ok(none_left(), "share_lowest: all groups end");
}

/* Work that uses no GPU: a packet that waits for a signal which is never set, and one behind it */
static long act_stuck(long unused, long unused2)
{
	static struct kfdc_signal *never;
	long r = kfdc_signal_create(me.c, false, &never);

	(void)unused, (void)unused2;
	if (r)
		return r;
	kfdc_signal_set(never, 1);
	r = act_work(MS, 1);
	return r ? r : kfdc_barrier(me.q[0], false, &never, 1, NULL) ?: act_submit(MS, 1);
}

/* The period of a limit, ms */
static unsigned long long period_of(uint64_t group)
{
	struct kfd_prio_share_entry e;

	if (!kfd_share_get(group, &e))
		tap_bail("group %llu has ended", (unsigned long long)group);
	return e.period_ns / MS;
}

/*
 * @n tenants, of which all but one always have work, and the wait of that one without users, and beside all groups that a user
 * may have, whose work uses no GPU: the period does not depend on these
 */
static void crowd(unsigned int n)
{
	struct actor tenant = actor_start(0, 1, 7), users[KFD_PRIO_SHARE_USER_MAX];
	struct group_time t[KFD_PRIO_SHARE_USER_MAX];
	uint64_t group, first = limit(&tenant, 100 * PCT / n);
	long long alone, wait, ran, most = 0;
	unsigned long long period;
	struct busy b[3];
	unsigned int i;

	for (i = 0; i < n - 1; i++) {
		b[i] = busy(MS);
		limit(&b[i].a, 100 * PCT / n);
	}
	nap_ns(3 * SEC);
	alone = longest_wait(&tenant);
	period = period_of(first);
	for (i = 0; i < KFD_PRIO_SHARE_USER_MAX; i++) {
		users[i] = user_limited(6 * PCT, &group);
		if (actor_do(&users[i], act_stuck, 0, 0))
			tap_bail("no work");
		t[i] = group_time(group);
	}
	for (i = 0; i < n - 1; i++)
		busy_done(&b[i]);
	nap_ns(3 * SEC);
	for (i = 0; i < KFD_PRIO_SHARE_USER_MAX; i++)
		group_ran(&t[i]);
	wait = longest_wait(&tenant);
	for (i = 0; i < KFD_PRIO_SHARE_USER_MAX; i++) {
		ran = group_ran(&t[i]);
		most = ran > most ? ran : most;
	}
	tap_ok(period_of(first) == period, "share_crowded: beside %u: the period stays %llu ms (%llu)", n - 1, period, period_of(first));
	tap_ok(wait < alone * 11 / 10, "share_crowded: beside %u: a tenant's request waits no longer (%lld us, %lld without users)", n - 1, wait,
	       alone);
	tap_ok(most <= 70, "share_crowded: beside %u: and each limit holds (%lld per mille)", n - 1, most);
	for (i = 0; i < KFD_PRIO_SHARE_USER_MAX; i++)
		actor_kill(&users[i]);
	for (i = 0; i < n - 1; i++)
		actor_kill(&b[i].a);
	actor_kill(&tenant);
	tap_ok(none_left(), "share_crowded: beside %u: all groups end", n - 1);
}

static void share_crowded(void)
{
	crowd(2);
	crowd(4);
}

/*
 * A user's groups beside two tenants of 50 %, made before, between and after them. @order: t: a tenant; u: a user, idle; w: a
 * user whose work uses no GPU
 */
static void tenants_among(const char *order)
{
	struct actor users[KFD_PRIO_SHARE_USER_MAX];
	unsigned int i, n = 0, tenants = 0;
	struct busy b[2];
	long long work[2];
	uint64_t ns;

	for (i = 0; order[i]; i++) {
		if (order[i] != 't') {
			users[n++] = user_limited(50 * PCT, &ns);
			if (order[i] == 'w' && actor_do(&users[n - 1], act_stuck, 0, 0))
				tap_bail("no work");
			continue;
		}
		b[tenants] = busy(MS);
		limit(&b[tenants++].a, 50 * PCT);
	}
	nap_ns(3 * SEC);
	ns = measure(b, 2, 2 * SEC, work);
	tap_ok(per_mille(work[0], ns) >= 470 && per_mille(work[1], ns) >= 470,
	       "share_places: %s: each tenant has its half (%lld and %lld per mille)", order, per_mille(work[0], ns), per_mille(work[1], ns));
	for (i = 0; i < n; i++)
		actor_kill(&users[i]);
	for (i = 0; i < tenants; i++)
		actor_kill(&b[i].a);
	tap_ok(none_left(), "share_places: %s: all groups end", order);
}

static void share_places(void)
{
	static const char *const orders[] = { "tt", "utut", "tuuut", "utuuut", "uuuutt", "wtwt", "twwwt", "wtwwwt" };
	unsigned int i;

	for (i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		tenants_among(orders[i]);
}

/* As act_limit(). Return: how long the call took, ns */
static long act_limit_timed(long max, long unused)
{
	uint64_t begin = kfdc_now();
	long r = act_limit(max, unused);

	return r < 0 ? r : (long)(kfdc_now() - begin);
}

#define MAKES 21 /* groups, one after the other */

/* How long it takes a user to make a group, which ends at once; the mean of all but the first, ns */
static long make_time(void)
{
	unsigned int i, others = kfd_shares();
	long ns, sum = 0;
	uint64_t end;

	for (i = 0; i < MAKES; i++) {
		struct actor a = user_start(0);

		ns = actor_do(&a, act_limit_timed, 30 * PCT, 0);
		if (ns < 0)
			tap_bail("a user's group: %s", strerror(-ns));
		sum += i ? ns : 0;
		actor_kill(&a);
		for (end = kfdc_now() + 20 * SEC; kfd_shares() != others; nap_ns(MS))
			if (kfdc_now() > end)
				tap_bail("a user's group does not end");
	}
	return sum / (MAKES - 1);
}

/*
 * The first group of the host switches on a static key, which patches code and interrupts all CPUs. A user who makes groups that
 * end at once does not cause that each time.
 */
static void share_first(void)
{
	long first, further;
	struct actor other;
	uint64_t group;

	first = make_time();
	other = user_limited(30 * PCT, &group);
	further = make_time();
	tap_ok(first < 3 * further / 2, "share_first: the only group of the host, again and again, is made as fast as a further one (%ld and %ld ns)",
	       first, further);
	actor_kill(&other);
	tap_ok(none_left(), "share_first: all groups end");
}

const struct test tests_share_places[] = {
	{ "share_lowest", share_lowest }, { "share_crowded", share_crowded }, { "share_places", share_places }, { "share_first", share_first }, {}
};
