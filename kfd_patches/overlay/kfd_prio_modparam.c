// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the module parameters of preemption, and the build of this module.
 *
 * Each parameter of preemption can be given at load and changed at any time. A value that is no
 * number or is out of range is refused with EINVAL, and changes nothing.
 */
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include "kfd_prio_engine.h"
#include "kfd_prio_tree.h"	/* written by prepare-tree */

static int param_set(const char *val, const struct kernel_param *kp)
{
	struct kfd_prio_param *p = kp->arg;
	u32 value;

	/*
	 * kstrtouint() returns another error if the number exceeds an u32; here both are -EINVAL.
	 */
	if (kstrtouint(val, 0, &value) || kfd_prio_param_set(p, value))
		return -EINVAL;
	/* At load there is no GPU yet, so this does nothing */
	kfd_prio_thread_reconfigure(p == &kfd_prio_param_kfd_preempt);
	return 0;
}

static int param_get(char *buffer, const struct kernel_param *kp)
{
	const struct kfd_prio_param *p = kp->arg;

	return scnprintf(buffer, PAGE_SIZE, "%u\n", READ_ONCE(p->value));
}

static const struct kernel_param_ops param_ops = {
	.set = param_set,
	.get = param_get,
};

module_param_cb(kfd_preempt, &param_ops, &kfd_prio_param_kfd_preempt, 0644);
__MODULE_PARM_TYPE(kfd_preempt, "uint");
MODULE_PARM_DESC(kfd_preempt,
		 "Processes of high priority preempt processes of lower priority (0 = no, and resume all preempted ones at once, 1 = yes, default)");

module_param_cb(preempt_min_prio, &param_ops, &kfd_prio_param_preempt_min_prio, 0644);
__MODULE_PARM_TYPE(preempt_min_prio, "uint");
MODULE_PARM_DESC(preempt_min_prio,
		 "Lowest set priority with which a process preempts others (0..15, default 11)");

module_param_cb(linger_us, &param_ops, &kfd_prio_param_linger_us, 0644);
__MODULE_PARM_TYPE(linger_us, "uint");
MODULE_PARM_DESC(linger_us,
		 "Time without work after which a process no longer preempts others, in us (0..1000000, default 200)");

module_param_cb(floor_pct, &param_ops, &kfd_prio_param_floor_pct, 0644);
__MODULE_PARM_TYPE(floor_pct, "uint");
MODULE_PARM_DESC(floor_pct,
		 "Share of each period that is guaranteed to each level of preempted processes, in percent (0 = none, up to 90, default 5)");

module_param_cb(floor_period_ms, &param_ops, &kfd_prio_param_floor_period_ms, 0644);
__MODULE_PARM_TYPE(floor_period_ms, "uint");
MODULE_PARM_DESC(floor_period_ms,
		 "Period of which floor_pct is a share, in ms (50..10000, default 250)");

module_param_cb(max_preempt_per_s, &param_ops, &kfd_prio_param_max_preempt_per_s, 0644);
__MODULE_PARM_TYPE(max_preempt_per_s, "uint");
MODULE_PARM_DESC(max_preempt_per_s,
		 "Number of preemptions that may begin per second on a GPU (1..10000, default 1000)");

module_param_cb(safety_poll_us, &param_ops, &kfd_prio_param_safety_poll_us, 0644);
__MODULE_PARM_TYPE(safety_poll_us, "uint");
MODULE_PARM_DESC(safety_poll_us,
		 "Interval at which idle processes of high priority are checked for doorbells that devices rang, in us (1000..10000000, default 10000)");

module_param_cb(busy_budget_ms, &param_ops, &kfd_prio_param_busy_budget_ms, 0644);
__MODULE_PARM_TYPE(busy_budget_ms, "uint");
MODULE_PARM_DESC(busy_budget_ms,
		 "Time for which a process with work and without progress preempts others, in ms (1..60000, default 100)");

module_param_cb(max_switch_pct, &param_ops, &kfd_prio_param_max_switch_pct, 0644);
__MODULE_PARM_TYPE(max_switch_pct, "uint");
MODULE_PARM_DESC(max_switch_pct,
		 "Share of the GPU's time that saves and restores for preemption may cost, as measured, in percent (0 = no limit, up to 100, default 10)");

/* The names of the values of max_switch_policy */
static const char *const switch_policies[] = {
	[KFD_PRIO_SWITCH_SHARE] = "share",
	[KFD_PRIO_SWITCH_HOLD] = "hold",
};

static int switch_policy_set(const char *val, const struct kernel_param *kp)
{
	int value = sysfs_match_string(switch_policies, val);

	if (value < 0)
		return -EINVAL;
	kfd_prio_param_set(kp->arg, value);
	kfd_prio_thread_reconfigure(false);
	return 0;
}

static int switch_policy_get(char *buffer, const struct kernel_param *kp)
{
	const struct kfd_prio_param *p = kp->arg;

	return scnprintf(buffer, PAGE_SIZE, "%s\n", switch_policies[READ_ONCE(p->value)]);
}

static const struct kernel_param_ops switch_policy_ops = {
	.set = switch_policy_set,
	.get = switch_policy_get,
};

module_param_cb(max_switch_policy, &switch_policy_ops, &kfd_prio_param_max_switch_policy, 0644);
__MODULE_PARM_TYPE(max_switch_policy, "string");
MODULE_PARM_DESC(max_switch_policy,
		 "When requests are too many for max_switch_pct: keep the others off in the shorter gaps (hold, default), or do not preempt for some requests (share)");

module_param_cb(short_grace, &param_ops, &kfd_prio_param_short_grace, 0644);
__MODULE_PARM_TYPE(short_grace, "uint");
MODULE_PARM_DESC(short_grace,
		 "Preemption saves waves at once (1, default) or after the grace period of HWS, in which waves may end (0)");

module_param_cb(mes_suspend, &param_ops, &kfd_prio_param_mes_suspend, 0644);
__MODULE_PARM_TYPE(mes_suspend, "uint");
MODULE_PARM_DESC(mes_suspend,
		 "With MES, suspend all queues before many are taken off, instead of removing each while it runs: 1, or 0 (default)");

static int park_set(const char *val, const struct kernel_param *kp)
{
	struct kfd_prio_param *p = kp->arg;

	if (!sysfs_streq(val, "auto"))
		return param_set(val, kp);
	/* Out of the range of the numbers */
	WRITE_ONCE(p->value, KFD_PRIO_PARK_AUTO);
	kfd_prio_thread_reconfigure(false);
	return 0;
}

static int park_get(char *buffer, const struct kernel_param *kp)
{
	const struct kfd_prio_param *p = kp->arg;

	if (READ_ONCE(p->value) == KFD_PRIO_PARK_AUTO)
		return scnprintf(buffer, PAGE_SIZE, "auto\n");
	return param_get(buffer, kp);
}

static const struct kernel_param_ops park_ops = {
	.set = park_set,
	.get = park_get,
};

module_param_cb(idle_park_ms, &park_ops, &kfd_prio_param_idle_park_ms, 0644);
__MODULE_PARM_TYPE(idle_park_ms, "string");
MODULE_PARM_DESC(idle_park_ms,
		 "Processes without work for that long leave the GPU until they ring, in ms (auto = after 1000 where a GPU is over-subscribed, 0 = never, up to 60000, default auto)");

/*
 * The build, "PACKAGE-VERSION TREE"; kfdprio doctor compares that of the file and of the loaded
 * module
 */
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
MODULE_PARM_DESC(kfd_prio_build, "Version of kfdprio, and the tree that its hooks are for (read only)");
