// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the file /sys/kernel/debug/kfd/preempt, which shows the last decision on each GPU and
 * its reason.
 *
 * People and kfdprio doctor read it. Its format is not stable; stable data are in sysfs,
 * KFD_PRIO_IOC_LIST and the trace events.
 *
 * KFD removes its directory, and this file with it, before the module is unloaded.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include "kfd_prio_priv.h"
#include "kfd_prio_role.h"
#include "kfd_prio_group.h"

static const char *const kfd_prio_reasons[] = {
	[KFD_PRIO_REASON_NONE] = "NONE: no process of high priority has a queue",
	[KFD_PRIO_REASON_WORK] = "WORK: work of high priority, now or within linger_us",
	[KFD_PRIO_REASON_IDLE] = "IDLE: no process of high priority has work",
	[KFD_PRIO_REASON_BUDGET] = "BUDGET: work made no progress for busy_budget_ms",
	[KFD_PRIO_REASON_FLOOR] = "FLOOR: preempted processes get their share, floor_pct",
	[KFD_PRIO_REASON_RATE] = "RATE: max_preempt_per_s or max_switch_pct is reached",
	[KFD_PRIO_REASON_OFF] = "OFF: kfd_preempt is 0, or the circuit breaker is open",
	[KFD_PRIO_REASON_GONE] = "GONE: the preempting process has ended or lost its priority",
};

/* Prints @ns as "1.234 ms" */
static void kfd_prio_put_ms(struct seq_file *m, u64 ns)
{
	u64 us = div_u64(ns, NSEC_PER_USEC);
	u32 rest;

	us = div_u64_rem(us, USEC_PER_MSEC, &rest);
	seq_printf(m, "%llu.%03u ms", us, rest);
}

/* Prints the time since @then as "1.234 ms ago" */
static void kfd_prio_put_ago(struct seq_file *m, u64 then, u64 now)
{
	kfd_prio_put_ms(m, now > then ? now - then : 0);
	seq_puts(m, " ago");
}

static int kfd_prio_pid(struct qcm_process_device *qpd)
{
	return qpd_to_pdd(qpd)->process->lead_thread->tgid;
}

static const char *kfd_prio_scheduler(struct device_queue_manager *dqm)
{
	if (kfd_prio_uses_mes(dqm))
		return "MES";
	return dqm->sched_policy == KFD_SCHED_POLICY_NO_HWS ? "no hardware scheduler" : "HWS";
}

static void kfd_prio_put_decision(struct seq_file *m, struct kfd_prio_dqm *d, u64 now)
{
	struct kfd_prio_params k;
	const char *state;

	kfd_prio_gpu_params(d->dqm, &k);
	state = k.hold && d->last.reason == KFD_PRIO_REASON_RATE ?
		"no work, and its level is held (max_switch_policy)" : "work";
	if (d->throttle != KFD_PRIO_LEVEL_NONE) {
		seq_printf(m, "  now: floor_pct: preempted processes get their share; processes of priority %d and above are off the GPU",
			   d->throttle);
		if (d->policy.level != KFD_PRIO_LEVEL_NONE)
			seq_printf(m, "; PID %d has priority %d and work", d->pid, d->policy.level);
		seq_puts(m, "\n");
	} else if (d->charged && d->policy.level != KFD_PRIO_LEVEL_NONE) {
		seq_printf(m, "  now: PID %d has priority %d and %s; %u processes of lower priority are preempted, for ",
			   d->pid, d->policy.level, state, d->charged);
		kfd_prio_put_ms(m, now > d->begun_at ? now - d->begun_at : 0);
		seq_puts(m, "\n");
	} else if (d->policy.level != KFD_PRIO_LEVEL_NONE) {
		seq_printf(m, "  now: PID %d has priority %d and %s; no process of lower priority has work\n",
			   d->pid, d->policy.level, state);
	} else {
		seq_puts(m, "  now: no process is preempted\n");
	}

	if (!d->last_at) {
		seq_puts(m, "  last decision: none\n");
		return;
	}
	seq_puts(m, "  last decision: ");
	kfd_prio_put_ago(m, d->last_at, now);
	seq_printf(m, ", %s\n  next: ", kfd_prio_reasons[d->last.reason]);
	if (d->last.decide_at == KFD_PRIO_NEVER) {
		seq_puts(m, "at the next event");
	} else {
		seq_puts(m, "in ");
		kfd_prio_put_ms(m, d->last.decide_at > now ? d->last.decide_at - now : 0);
		seq_puts(m, ", or at the next event");
	}
	seq_puts(m, d->state == KFD_PRIO_STATE_ROLLED_BACK ?
		 "; the last runlist failed and will be sent again\n" : "\n");
	if (d->unexpected)
		seq_printf(m, "  unexpected events: %llu\n", d->unexpected);
	if (d->save.count) {
		seq_puts(m, "  saves, measured by the firmware: mean ");
		kfd_prio_put_ms(m, div64_u64(d->save.sum_ns, d->save.count));
		seq_puts(m, ", longest ");
		kfd_prio_put_ms(m, d->save.max_ns);
		seq_printf(m, ", count %llu; limits that follow: %u preemptions per second, linger %llu us\n",
			   d->save.count, k.max_per_s, div_u64(k.linger_ns, NSEC_PER_USEC));
	}
	seq_printf(m, "  preemptions: %llu; preempted time in the last %llu ms, for the floor: ",
		   d->begun, div_u64(k.period_ns, NSEC_PER_MSEC));
	kfd_prio_put_ms(m, d->lowest < KFD_PRIO_RANKS ? d->policy.floor.sum[d->lowest] : 0);
	seq_puts(m, "\n");
}

static void kfd_prio_put_claims(struct seq_file *m, struct kfd_prio_dqm *d, u64 now)
{
	struct kfd_prio_qpd *prio;

	list_for_each_entry(prio, &d->claims, link) {
		struct qcm_process_device *qpd;
		bool armed = kfd_prio_trap_armed(prio);

		qpd = container_of(prio, struct qcm_process_device, prio);
		seq_printf(m, "  may preempt: PID %d priority %d: ", kfd_prio_pid(qpd),
			   prio->claim.prio);
		if (armed) {
			seq_puts(m, "idle, its doorbells are trapped");
		} else if (prio->work) {
			seq_puts(m, "has work, its last progress was ");
			kfd_prio_put_ago(m, prio->progress_at, now);
		} else {
			seq_puts(m, "idle, its last work was ");
			kfd_prio_put_ago(m, prio->claim.work_at, now);
		}
		seq_printf(m, "; has preempted others %llu times\n", prio->preempting_count);
	}
}

static void kfd_prio_put_neighbours(struct seq_file *m, struct device_queue_manager *dqm)
{
	struct device_process_node *cur;
	u32 idle = 0, other = 0;

	list_for_each_entry(cur, &dqm->queues, list) {
		if (cur->qpd->prio.role == KFD_PRIO_ROLE_CLAIM)
			continue;
		if (kfd_prio_seems_idle(cur->qpd))
			idle++;
		else
			other++;
	}
	seq_printf(m, "  may be preempted: %u processes that may have work, %u without work, whose doorbells are trapped\n",
		   other, idle);
}

static void kfd_prio_put_parked(struct seq_file *m, struct qcm_process_device *qpd, u64 now)
{
	const struct kfd_prio_qpd *prio = &qpd->prio;

	seq_printf(m, "  parked: PID %d, %u queues, for ", kfd_prio_pid(qpd), qpd->queue_count);
	kfd_prio_put_ms(m, now > prio->park.at ? now - prio->park.at : 0);
	seq_printf(m, "; %llu times, in all ", prio->park.count);
	kfd_prio_put_ms(m, kfd_prio_parked_ns(prio));
	seq_puts(m, qpd->evicted > 1 ? "; KFD has evicted it, too\n" : "\n");
}

static const char *kfd_prio_off_as(const struct kfd_prio_qpd *prio)
{
	switch (prio->share.throttle) {
	case KFD_PRIO_THROTTLE_MAX:
		return "throttled by a limit";
	case KFD_PRIO_THROTTLE_WEIGHT:
		return "throttled, another group has its turn";
	default:
		return prio->counted ? "preempted" : "off";
	}
}

/* Prints the groups with processes on a GPU */
static void kfd_prio_put_shares(struct seq_file *m, struct kfd_prio_dqm *d)
{
	struct kfd_prio_account *a;

	kfd_prio_share_lock();
	list_for_each_entry(a, &d->accounts, link) {
		const struct kfd_prio_group *g = a->group;

		seq_printf(m, "  group %llu: %u processes, %u with work, %u of these mapped",
			   g->id, a->users, a->works, a->runs);
		if (kfd_prio_quota_limits(&g->quota))
			seq_printf(m, "; max %u.%02u %%%s, %s", g->quota.max / 100,
				   g->quota.max % 100, g->quota.soft ? " (soft)" : "",
				   a->unenforced ? "not enforced" :
				   a->closed ? "may not run now" : "may run now");
		if (g->turn.weight)
			seq_printf(m, "; weight %u%s", g->turn.weight,
				   d->takes_turns && d->turn == &g->turn ? ", has its turn" : "");
		seq_puts(m, a->unrung ? "; has had work without a ring\n" : "\n");
	}
	kfd_prio_share_unlock();
}

static void kfd_prio_put_victims(struct seq_file *m, struct device_queue_manager *dqm, u64 now)
{
	struct device_process_node *cur;

	list_for_each_entry(cur, &dqm->queues, list) {
		struct kfd_prio_qpd *prio = &cur->qpd->prio;
		u64 since;

		if (!prio->preempted)
			continue;
		if (prio->park.parked) {
			kfd_prio_put_parked(m, cur->qpd, now);
			continue;
		}
		seq_printf(m, "  %s: PID %d priority %d, %u queues, for ",
			   kfd_prio_off_as(prio), kfd_prio_pid(cur->qpd),
			   prio->prio, cur->qpd->queue_count);
		since = prio->share.throttle ? prio->share.at :
			prio->counted ? prio->preempted_at : prio->marked_at;
		kfd_prio_put_ms(m, now > since ? now - since : 0);
		seq_printf(m, "; %llu times, total ", prio->preempted_count);
		kfd_prio_put_ms(m, kfd_prio_preempted_ns(prio));
		if (kfd_prio_is_idle(cur->qpd))
			seq_puts(m, "; it has no work, and returns at its next doorbell");
		if (cur->qpd->evicted > 1)
			seq_puts(m, "; KFD has also evicted it");
		seq_puts(m, "\n");
	}
}

/* Prints the size of KFD's next runlist; kfdprio doctor reads this line */
static void kfd_prio_put_runlist(struct seq_file *m, struct device_queue_manager *dqm)
{
	unsigned int processes = dqm->processes_count - dqm->prio.skipped;
	bool over = kfd_prio_over_subscribes(dqm, processes, dqm->active_cp_queue_count);

	if (kfd_prio_uses_mes(dqm) || dqm->sched_policy == KFD_SCHED_POLICY_NO_HWS)
		return;
	seq_printf(m, "  runlist: %u processes, %u compute queues%s\n", processes,
		   dqm->active_cp_queue_count,
		   over ? "; over-subscribed: the processes take turns" : "");
}

/*
 * Prints the open breaker; kfdprio doctor reads this line. The name of the culprit comes last, and
 * contains no semicolon.
 */
static void kfd_prio_put_breaker(struct seq_file *m, struct kfd_prio_dqm *d, u64 now)
{
	char culprit[KFD_PRIO_CULPRIT_SIZE];

	seq_printf(m, "  breaker: open, preemption is off: %s, ",
		   kfd_prio_breaker_cause(d->breaker));
	kfd_prio_put_ago(m, d->breaker_at, now);
	if (d->breaker_until == KFD_PRIO_NEVER) {
		seq_puts(m, "; write 1 to kfd_preempt to switch it on\n");
		return;
	}
	seq_printf(m, "; on again in %llu s, or write 1 to kfd_preempt",
		   div_u64(d->breaker_until > now ? d->breaker_until - now : 0, NSEC_PER_SEC));
	kfd_prio_breaker_culprit(d->dqm, culprit);
	seq_printf(m, "; %s\n", culprit);
}

static void kfd_prio_put_gpu(struct seq_file *m, struct kfd_prio_dqm *d)
{
	struct device_queue_manager *dqm = d->dqm;
	u64 now;

	seq_printf(m, "\nGPU %u (%s)\n", dqm->dev->id, kfd_prio_scheduler(dqm));
	dqm_lock(dqm);
	now = ktime_get_ns();
	kfd_prio_put_runlist(m, dqm);
	if (d->breaker != KFD_PRIO_BREAKER_CLOSED)
		kfd_prio_put_breaker(m, d, now);
	if (d->crowd.parks) {
		seq_puts(m, "  idle_park_ms=auto: processes are parked, over-subscribed ");
		kfd_prio_put_ago(m, d->crowd.over_at, now);
		seq_puts(m, "\n");
	}
	if (!d->thread) {
		seq_puts(m, "  now: asleep, no priority of preempt_min_prio or more was set, no process was parked and no group was made since the module was loaded\n");
	} else {
		kfd_prio_put_decision(m, d, now);
		kfd_prio_put_claims(m, d, now);
		kfd_prio_put_neighbours(m, dqm);
		kfd_prio_put_shares(m, d);
		kfd_prio_put_victims(m, dqm, now);
	}
	dqm_unlock(dqm);
}

static int kfd_prio_preempt_show(struct seq_file *m, void *unused)
{
	u32 park = READ_ONCE(kfd_prio_param_idle_park_ms.value);
	struct kfd_prio_params k;
	struct kfd_prio_dqm *d;

	kfd_prio_params_read(&k);
	seq_printf(m, "kfd_preempt %d, preempt_min_prio %d, linger_us %llu, floor_pct %u, max_preempt_per_s %u, safety_poll_us %llu, busy_budget_ms %llu, max_switch_pct %u, max_switch_policy %s, floor_period_ms %llu, short_grace %u, mes_suspend %u, idle_park_ms ",
		   k.enabled, k.min_prio, div_u64(k.linger_ns, NSEC_PER_USEC), k.floor_pct,
		   k.max_per_s, div_u64(kfd_prio_safety_poll_ns(), NSEC_PER_USEC),
		   div_u64(k.budget_ns, NSEC_PER_MSEC), k.switch_pct,
		   k.hold ? "hold" : "share", div_u64(k.period_ns, NSEC_PER_MSEC),
		   READ_ONCE(kfd_prio_param_short_grace.value),
		   READ_ONCE(kfd_prio_param_mes_suspend.value));
	if (park == KFD_PRIO_PARK_AUTO)
		seq_puts(m, "auto\n");
	else
		seq_printf(m, "%u\n", park);
	kfd_prio_gpu_lock();
	for (d = kfd_prio_gpu_first(); d; d = kfd_prio_gpu_next(d))
		kfd_prio_put_gpu(m, d);
	kfd_prio_gpu_unlock();
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(kfd_prio_preempt);

/**
 * kfd_prio_debugfs_init() - create the file "preempt" in the directory that KFD has just created
 *
 * Does nothing if the kernel has no debugfs.
 *
 * Context: module load
 */
void kfd_prio_debugfs_init(void)
{
	struct dentry *dir = debugfs_lookup("kfd", NULL);

	if (IS_ERR_OR_NULL(dir))
		return;
	debugfs_create_file("preempt", 0444, dir, NULL, &kfd_prio_preempt_fops);
	dput(dir);
}
