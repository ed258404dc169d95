// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the values and ranges of the module parameters of preemption. kfd_prio_modparam.c
 * declares them to the kernel and handles a write to one.
 */
#include <linux/kernel.h>
#include <linux/time64.h>
#include "kfd_prio_priv.h"

/* Each initialiser: default, lowest and highest value, in the unit of the parameter's name */
struct kfd_prio_param kfd_prio_param_kfd_preempt = { 1, 0, 1 };
struct kfd_prio_param kfd_prio_param_preempt_min_prio = { 11, 0, 15 };
struct kfd_prio_param kfd_prio_param_linger_us = { 200, 0, 1000000 };
struct kfd_prio_param kfd_prio_param_floor_pct = { 5, 0, 90 };
struct kfd_prio_param kfd_prio_param_floor_period_ms = { 250, 50, 10000 };
struct kfd_prio_param kfd_prio_param_max_preempt_per_s = { 1000, 1, 10000 };
struct kfd_prio_param kfd_prio_param_safety_poll_us = { 10000, 1000, 10000000 };
struct kfd_prio_param kfd_prio_param_busy_budget_ms = { 100, 1, 60000 };
struct kfd_prio_param kfd_prio_param_max_switch_pct = { 10, 0, 100 };
struct kfd_prio_param kfd_prio_param_max_switch_policy = { KFD_PRIO_SWITCH_HOLD,
	KFD_PRIO_SWITCH_SHARE, KFD_PRIO_SWITCH_HOLD };
struct kfd_prio_param kfd_prio_param_short_grace = { 1, 0, 1 };
struct kfd_prio_param kfd_prio_param_mes_suspend = { 0, 0, 1 };
struct kfd_prio_param kfd_prio_param_idle_park_ms = { KFD_PRIO_PARK_AUTO, 0, 60000 };

/**
 * kfd_prio_param_set() - store a new value of a module parameter
 * @p: the parameter
 * @value: the new value, in the unit of the parameter's name
 *
 * Context: the module's parameter lock
 * Return: 0, or -EINVAL if @value is out of range; @p is unchanged then
 */
int kfd_prio_param_set(struct kfd_prio_param *p, u32 value)
{
	if (value < p->min || value > p->max)
		return -EINVAL;
	WRITE_ONCE(p->value, value);
	return 0;
}

/**
 * kfd_prio_params_read() - read the module parameters that the policy uses
 * @k: out: the parameters; no cost of a save is known, and no process is parked, because both
 *	depend on the GPU, see kfd_prio_gpu_params(). Each member is read once. If a parameter is
 *	written concurrently, some members may have the old and some the new value
 *
 * Context: any
 */
void kfd_prio_params_read(struct kfd_prio_params *k)
{
	k->enabled = READ_ONCE(kfd_prio_param_kfd_preempt.value);
	k->min_prio = READ_ONCE(kfd_prio_param_preempt_min_prio.value);
	k->linger_ns = (u64)READ_ONCE(kfd_prio_param_linger_us.value) * NSEC_PER_USEC;
	k->floor_pct = READ_ONCE(kfd_prio_param_floor_pct.value);
	k->period_ns = (u64)READ_ONCE(kfd_prio_param_floor_period_ms.value) * NSEC_PER_MSEC;
	k->max_per_s = READ_ONCE(kfd_prio_param_max_preempt_per_s.value);
	k->budget_ns = (u64)READ_ONCE(kfd_prio_param_busy_budget_ms.value) * NSEC_PER_MSEC;
	k->switch_pct = READ_ONCE(kfd_prio_param_max_switch_pct.value);
	k->hold = READ_ONCE(kfd_prio_param_max_switch_policy.value) == KFD_PRIO_SWITCH_HOLD;
	k->switch_ns = 0;
	k->park_ns = 0;
}

/**
 * kfd_prio_safety_poll_ns() - interval at which processes with trapped doorbells are polled
 *
 * Context: any
 * Return: safety_poll_us, in ns
 */
u64 kfd_prio_safety_poll_ns(void)
{
	return (u64)READ_ONCE(kfd_prio_param_safety_poll_us.value) * NSEC_PER_USEC;
}
