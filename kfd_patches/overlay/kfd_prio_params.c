// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the values of the module parameters of preemption, and their ranges.  How they are given
 * and changed: kfd_prio_modparam.c.
 */
#include <linux/kernel.h>
#include <linux/time64.h>
#include "kfd_prio_priv.h"

/* default, lowest, highest */
struct kfd_prio_param kfd_prio_param_kfd_preempt = { 1, 0, 1 };
struct kfd_prio_param kfd_prio_param_preempt_min_prio = { 11, 0, 15 };
struct kfd_prio_param kfd_prio_param_linger_us = { 200, 0, 1000000 };
struct kfd_prio_param kfd_prio_param_floor_pct = { 5, 0, 90 };
struct kfd_prio_param kfd_prio_param_max_preempt_per_s = { 1000, 1, 10000 };
struct kfd_prio_param kfd_prio_param_safety_poll_us = { 10000, 1000, 10000000 };
struct kfd_prio_param kfd_prio_param_busy_budget_ms = { 100, 1, 60000 };
struct kfd_prio_param kfd_prio_param_max_switch_pct = { 10, 0, 100 };
struct kfd_prio_param kfd_prio_param_short_grace = { 1, 0, 1 };
struct kfd_prio_param kfd_prio_param_idle_park_ms = { 0, 0, 60000 };

/**
 * kfd_prio_param_set() - give a module parameter another value
 * @p: the parameter
 * @value: in the unit of the parameter's name
 *
 * Context: the module's parameter lock
 * Return: 0; -EINVAL if @value is out of range, and nothing changes
 */
int kfd_prio_param_set(struct kfd_prio_param *p, u32 value)
{
	if (value < p->min || value > p->max)
		return -EINVAL;
	WRITE_ONCE(p->value, value);
	return 0;
}

/**
 * kfd_prio_params_read() - the parameters of the policy
 * @k: out; each value is whole, but a change meanwhile may be in only some of them
 *
 * Context: any
 */
void kfd_prio_params_read(struct kfd_prio_params *k)
{
	k->enabled = READ_ONCE(kfd_prio_param_kfd_preempt.value);
	k->min_prio = READ_ONCE(kfd_prio_param_preempt_min_prio.value);
	k->linger_ns = (u64)READ_ONCE(kfd_prio_param_linger_us.value) * NSEC_PER_USEC;
	k->floor_pct = READ_ONCE(kfd_prio_param_floor_pct.value);
	k->max_per_s = READ_ONCE(kfd_prio_param_max_preempt_per_s.value);
	k->budget_ns = (u64)READ_ONCE(kfd_prio_param_busy_budget_ms.value) * NSEC_PER_MSEC;
	k->switch_pct = READ_ONCE(kfd_prio_param_max_switch_pct.value);
	k->park_ns = (u64)READ_ONCE(kfd_prio_param_idle_park_ms.value) * NSEC_PER_MSEC;
}

/**
 * kfd_prio_safety_poll_ns() - how often claims that are armed are polled
 *
 * Context: any
 * Return: safety_poll_us, in ns
 */
u64 kfd_prio_safety_poll_ns(void)
{
	return (u64)READ_ONCE(kfd_prio_param_safety_poll_us.value) * NSEC_PER_USEC;
}
