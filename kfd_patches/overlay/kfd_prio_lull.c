// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: whether a process without work is parked, see struct kfd_prio_lull, and whether
 * idle_park_ms=auto parks at all, see struct kfd_prio_crowd. Pure functions, also tested in user
 * space.
 */
#include "kfd_prio_policy.h"

/**
 * kfd_prio_policy_parks() - whether a process is to be parked, or to stay parked
 * @g: parking on the GPU
 * @l: the process
 *
 * A parked process stays parked until it rings or may not be parked any more. Parking a process
 * that is off already costs nothing. For any other process it takes an update of the runlist, for
 * which HWS unmaps every queue of the GPU. So a process is not parked again before
 * kfd_prio_parking.after_ns have passed since its last parking ended, whatever ended it: a user can
 * end it at any time (KFD_PRIO_SET_PARK_NEVER).
 */
bool kfd_prio_policy_parks(const struct kfd_prio_parking *g, const struct kfd_prio_lull *l)
{
	if (!g->after_ns)
		return false;
	if (l->ends)
		return l->parked;
	if (!l->quiet || l->exempt)
		return false;
	if (l->parked)
		return true;
	if (l->evicted || g->now < l->hold_until || g->now < l->quiet_at ||
	    g->now - l->quiet_at < g->after_ns ||
	    (l->ended_at && g->now < l->ended_at + g->after_ns))
		return false;
	return l->off || g->free || g->pays;
}

/**
 * kfd_prio_policy_crowd() - whether idle_park_ms=auto parks processes from now on
 * @c: state of the GPU
 * @over: the runlist would be over-subscribed if no process were taken off
 * @now: the time, ns
 *
 * Return: whether @c->parks has changed
 */
bool kfd_prio_policy_crowd(struct kfd_prio_crowd *c, bool over, u64 now)
{
	bool was = c->parks;

	if (over)
		c->over_at = now;
	c->check_at = now + KFD_PRIO_CROWD_CHECK_NS;
	c->parks = over || (was && now - c->over_at < KFD_PRIO_CROWD_HOLD_NS);
	return c->parks != was;
}

/**
 * kfd_prio_policy_park_woke() - record that a process has work which was parked or had made room
 * @w: the wakes of the process
 * @waves: the process had saved waves, so it should not have been taken off
 * @now: the time, ns
 */
void kfd_prio_policy_park_woke(struct kfd_prio_wakes *w, bool waves, u64 now)
{
	u64 oldest = w->at[w->next];

	if (waves || (oldest && now - oldest < KFD_PRIO_PARK_PERIOD_NS))
		w->hold_until = now + KFD_PRIO_PARK_HOLD_NS;
	w->at[w->next] = now;
	w->next = (w->next + 1) % KFD_PRIO_PARK_WAKES;
}
