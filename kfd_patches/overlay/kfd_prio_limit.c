// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: a limit on what the operations of a debugger cost a process that preempts.
 *
 * While a level is in force the processes below it are off the GPU, and what they do to their
 * queues changes MQDs only.  The operations of a debugger are different: KFD unmaps all queues of
 * the GPU for each of them, because registers of a VMID may change only while nothing of it runs.
 * A process needs no permission to be its own debugger.  So while a level is in force, callers of a
 * lower priority take turns, all together, each GPU's at least KFD_PRIO_DEBUG_NS apart.
 */
#include <linux/hrtimer.h>
#include <linux/sched/signal.h>
#include "kfd_prio_priv.h"

/* So far apart, in ns: 100 a second, which cost the GPU less than 10 ms at some 100 us each */
#define KFD_PRIO_DEBUG_NS	10000000ULL

/* Take a turn on each GPU where a level above @rank is in force.  Return: when it comes */
static u64 kfd_prio_limit_turn(int rank)
{
	u64 now = ktime_get_ns(), at = now;
	struct kfd_prio_dqm *d;

	kfd_prio_gpu_lock();
	for (d = kfd_prio_gpu_first(); d; d = kfd_prio_gpu_next(d)) {
		if (!kfd_prio_policy_victim(READ_ONCE(d->policy.level), rank))
			continue;
		d->debug_at = max(d->debug_at, now);
		at = max(at, d->debug_at);
		d->debug_at += KFD_PRIO_DEBUG_NS;
	}
	kfd_prio_gpu_unlock();
	return at;
}

static void kfd_prio_limit_wait(void)
{
	int prio;
	u64 at;

	if (!kfd_prio_table_used())
		return;
	prio = kfd_prio_table_get(task_tgid(current));
	at = kfd_prio_limit_turn(kfd_prio_policy_rank(prio, KFD_PRIO_MAX));
	while (ktime_get_ns() < at && !fatal_signal_pending(current)) {
		ktime_t end = ns_to_ktime(at);

		set_current_state(TASK_KILLABLE);
		schedule_hrtimeout(&end, HRTIMER_MODE_ABS);
	}
}

/**
 * kfd_prio_hook_debug_trap() - AMDKFD_IOC_DBG_TRAP begins
 * @op: enum kfd_dbg_trap_operations
 *
 * What only reads is not limited.
 *
 * Context: process, no lock; waits, a signal that kills ends it
 */
void kfd_prio_hook_debug_trap(u32 op)
{
#ifdef KFD_PRIO_HAVE_DBG_TRAP
	switch (op) {
	case KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT:
	case KFD_IOC_DBG_TRAP_QUERY_EXCEPTION_INFO:
	case KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT:
	case KFD_IOC_DBG_TRAP_GET_DEVICE_SNAPSHOT:
		return;
	}
#endif
	kfd_prio_limit_wait();
}

/**
 * kfd_prio_hook_runtime_enable() - AMDKFD_IOC_RUNTIME_ENABLE begins
 *
 * Context: process, no lock; waits, a signal that kills ends it
 */
void kfd_prio_hook_runtime_enable(void)
{
	kfd_prio_limit_wait();
}
