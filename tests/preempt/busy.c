// SPDX-License-Identifier: GPL-2.0
/* Groups, and processes that always have work, for the tests of shares */
#include <string.h>
#include "busy.h"

uint64_t limit(const struct actor *a, unsigned int max)
{
	uint64_t group = 0;
	int err = kfd_share(a->pid, KFD_PRIO_SHARE_NEW | KFD_PRIO_SHARE_MAX, max, 0, &group);

	if (err)
		tap_bail("a group with a limit of %u: %s", max, strerror(err));
	return group;
}

uint64_t weigh(const struct actor *a, unsigned int weight)
{
	uint64_t group = 0;
	int err = kfd_share(a->pid, KFD_PRIO_SHARE_NEW | KFD_PRIO_SHARE_WEIGHT, 0, weight, &group);

	if (err)
		tap_bail("a group with a weight of %u: %s", weight, strerror(err));
	return group;
}

bool none_left(void)
{
	uint64_t end = kfdc_now() + 20 * SEC;
	struct kfd_prio_share_entry e;
	unsigned int i;

	while (kfd_shares() && kfdc_now() < end)
		nap_ns(10 * MS);
	for (i = 0; i < 1000; i++)
		if (kfd_share_get(i, &e))
			tap_diag("group %u is left: cgroup %llu, limit %u, weight %u, %u processes", i, (unsigned long long)e.cgroup, e.max,
				 e.weight, e.nr_processes);
	return !kfd_shares();
}

struct busy busy(long ns)
{
	struct busy b = { .a = actor_start(0, 1, 7), .ns = ns, .n = ns < 2 * (long)MS ? 1000 : 400 };

	b.left = b.n;
	if (actor_do(&b.a, act_submit, ns, b.n))
		tap_bail("no work");
	return b;
}

long long busy_done(struct busy *b)
{
	long left = actor_do(&b->a, act_left, 0, 0), more;
	long long ns = (b->left - left) * b->ns;

	more = b->n - left;
	if (more && actor_do(&b->a, act_submit, b->ns, more))
		tap_bail("no work");
	b->left = b->n;
	return ns;
}

uint64_t measure(struct busy *b, unsigned int n, uint64_t ns, long long *work)
{
	uint64_t begin;
	unsigned int i;

	for (i = 0; i < n; i++) {
		busy_done(&b[i]);
		work[i] = 0;
	}
	begin = kfdc_now();
	while (kfdc_now() < begin + ns) {
		nap_ns(250 * MS);
		for (i = 0; i < n; i++)
			work[i] += busy_done(&b[i]);
	}
	return kfdc_now() - begin;
}

long long per_mille(long long part, long long all)
{
	return all ? part * 1000 / all : 0;
}

struct group_time group_time(uint64_t group)
{
	struct group_time t = { .group = group };

	group_ran(&t);
	return t;
}

long long group_ran(struct group_time *t)
{
	struct kfd_prio_share_entry e;
	uint64_t now = kfdc_now();
	long long part;

	if (!kfd_share_get(t->group, &e))
		tap_bail("group %llu has ended", (unsigned long long)t->group);
	part = per_mille(e.ran_ns - t->ns, now - t->at);
	t->ns = e.ran_ns;
	t->at = now;
	return part;
}
