// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "kfd_prio_backoff.h"

/* Returns @b as of @now: the time is halved once for each period of that length that has passed */
static struct kfd_prio_backoff kfd_prio_backoff_at(const struct kfd_prio_backoff *b, u64 now)
{
	struct kfd_prio_backoff at = *b;

	if (at.ns < KFD_PRIO_BACKOFF_MIN_NS)
		at.ns = KFD_PRIO_BACKOFF_MIN_NS;
	while (at.ns > KFD_PRIO_BACKOFF_MIN_NS && now > at.since && now - at.since >= at.ns) {
		at.since += at.ns;
		at.ns /= 2;
	}
	return at;
}

/**
 * kfd_prio_backoff_next() - for how long a failure would switch preemption off
 * @b: the failures so far, unchanged
 * @now: time of the failure, ns
 *
 * Return: ns
 */
u64 kfd_prio_backoff_next(const struct kfd_prio_backoff *b, u64 now)
{
	return kfd_prio_backoff_at(b, now).ns;
}

/**
 * kfd_prio_backoff_fail() - record a failure, which switches preemption off
 * @b: the failures so far
 * @now: time of the failure, ns
 *
 * The next failure switches preemption off for twice as long, KFD_PRIO_BACKOFF_MAX_NS at most. If
 * preemption is on again earlier or later than returned, the caller calls kfd_prio_backoff_on().
 *
 * Return: for how long preemption is off, ns
 */
u64 kfd_prio_backoff_fail(struct kfd_prio_backoff *b, u64 now)
{
	u64 ns = kfd_prio_backoff_next(b, now);

	b->ns = ns < KFD_PRIO_BACKOFF_MAX_NS / 2 ? 2 * ns : KFD_PRIO_BACKOFF_MAX_NS;
	b->since = now + ns;
	return ns;
}

/**
 * kfd_prio_backoff_on() - record that preemption is on again
 * @b: the failures so far
 * @now: time since which preemption is on, ns
 */
void kfd_prio_backoff_on(struct kfd_prio_backoff *b, u64 now)
{
	b->since = now;
}
