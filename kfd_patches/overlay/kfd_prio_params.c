// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the module parameters of preemption, and what this module was built from.
 *
 * Each parameter of preemption can be given at load and changed at any time.  A value out
 * of range, or no number, is refused with EINVAL and changes nothing.
 */
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/time64.h>
#include "kfd_prio_priv.h"
#include "kfd_prio_tree.h"	/* made by prepare-tree */

/**
 * struct knob - a module parameter
 * @value: in the unit of the parameter's name; written under the module's parameter
 *	lock, read without
 * @min: lowest value accepted
 * @max: highest value accepted
 */
struct knob {
	u32 value;
	u32 min;
	u32 max;
};

static struct knob kfd_preempt;

static int param_set(const char *val, const struct kernel_param *kp)
{
	struct knob *knob = kp->arg;
	u32 value;

	/* kstrtouint() tells apart what no u32 can hold; we do not. */
	if (kstrtouint(val, 0, &value) || value < knob->min || value > knob->max)
		return -EINVAL;
	WRITE_ONCE(knob->value, value);
	/* at load there is no GPU yet, and nothing to do */
	kfd_prio_gpu_reconfigure(knob == &kfd_preempt);
	return 0;
}

static int knob_get(char *buffer, const struct kernel_param *kp)
{
	const struct knob *knob = kp->arg;

	return scnprintf(buffer, PAGE_SIZE, "%u\n", READ_ONCE(knob->value));
}

static const struct kernel_param_ops knob_ops = {
	.set = param_set,
	.get = knob_get,
};

static struct knob kfd_preempt = { .value = 1, .min = 0, .max = 1 };
module_param_cb(kfd_preempt, &knob_ops, &kfd_preempt, 0644);
__MODULE_PARM_TYPE(kfd_preempt, "uint");
MODULE_PARM_DESC(kfd_preempt,
		 "Processes with a high priority preempt those with a lower one (0 = no, put all back at once, 1 = yes, default)");

static struct knob preempt_min_prio = { .value = 11, .min = 0, .max = 15 };
module_param_cb(preempt_min_prio, &knob_ops, &preempt_min_prio, 0644);
__MODULE_PARM_TYPE(preempt_min_prio, "uint");
MODULE_PARM_DESC(preempt_min_prio,
		 "Lowest set priority of a process that preempts others (0..15, default 11)");

static struct knob linger_us = { .value = 200, .min = 0, .max = 1000000 };
module_param_cb(linger_us, &knob_ops, &linger_us, 0644);
__MODULE_PARM_TYPE(linger_us, "uint");
MODULE_PARM_DESC(linger_us,
		 "How long preempted processes are kept off after the last work of a higher one, in us (0..1000000, default 200)");

static struct knob floor_pct = { .value = 5, .min = 0, .max = 90 };
module_param_cb(floor_pct, &knob_ops, &floor_pct, 0644);
__MODULE_PARM_TYPE(floor_pct, "uint");
MODULE_PARM_DESC(floor_pct,
		 "Share of each second that each level of preempted processes gets at least, in percent (0 = none, up to 90, default 5)");

static struct knob max_preempt_per_s = { .value = 1000, .min = 1, .max = 10000 };
module_param_cb(max_preempt_per_s, &knob_ops, &max_preempt_per_s, 0644);
__MODULE_PARM_TYPE(max_preempt_per_s, "uint");
MODULE_PARM_DESC(max_preempt_per_s,
		 "How many preemptions may begin per second on a GPU, and at once after a second without (1..10000, default 1000)");

static struct knob safety_poll_us = { .value = 10000, .min = 1000, .max = 10000000 };
module_param_cb(safety_poll_us, &knob_ops, &safety_poll_us, 0644);
__MODULE_PARM_TYPE(safety_poll_us, "uint");
MODULE_PARM_DESC(safety_poll_us,
		 "How often idle processes with a high priority are looked at for doorbells that were rung by devices, in us (1000..10000000, default 10000)");

static struct knob busy_budget_ms = { .value = 100, .min = 1, .max = 60000 };
module_param_cb(busy_budget_ms, &knob_ops, &busy_budget_ms, 0644);
__MODULE_PARM_TYPE(busy_budget_ms, "uint");
MODULE_PARM_DESC(busy_budget_ms,
		 "How long a process with work but without progress may preempt others, in ms (1..60000, default 100)");

/* What was built: "PACKAGE-VERSION TREE"; kfdprio doctor compares file and loaded module */
#define KFD_PRIO_BUILD	KFD_PRIO_PACKAGE_VERSION " " KFD_PRIO_TREE

MODULE_INFO(kfdprio, KFD_PRIO_BUILD);

static int build_set(const char *val, const struct kernel_param *kp)
{
	return -EPERM;
}

static int build_get(char *buffer, const struct kernel_param *kp)
{
	return scnprintf(buffer, PAGE_SIZE, "%s\n", KFD_PRIO_BUILD);
}

static const struct kernel_param_ops build_ops = {
	.set = build_set,
	.get = build_get,
};

module_param_cb(kfd_prio_build, &build_ops, NULL, 0444);
__MODULE_PARM_TYPE(kfd_prio_build, "string");
MODULE_PARM_DESC(kfd_prio_build, "Version of kfdprio and tree that its hooks are for (read only)");

/**
 * kfd_prio_params_read() - the parameters of the judge
 * @k: out; each value is whole, but a change meanwhile may be in only some of them
 *
 * Context: any
 */
void kfd_prio_params_read(struct kfd_prio_params *k)
{
	k->enabled = READ_ONCE(kfd_preempt.value);
	k->min_prio = READ_ONCE(preempt_min_prio.value);
	k->linger_ns = (u64)READ_ONCE(linger_us.value) * NSEC_PER_USEC;
	k->floor_pct = READ_ONCE(floor_pct.value);
	k->max_per_s = READ_ONCE(max_preempt_per_s.value);
	k->budget_ns = (u64)READ_ONCE(busy_budget_ms.value) * NSEC_PER_MSEC;
}

/**
 * kfd_prio_safety_poll_ns() - how often claims that are armed are polled
 *
 * Context: any
 * Return: safety_poll_us, in ns
 */
u64 kfd_prio_safety_poll_ns(void)
{
	return (u64)READ_ONCE(safety_poll_us.value) * NSEC_PER_USEC;
}
