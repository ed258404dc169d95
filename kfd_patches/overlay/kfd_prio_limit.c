// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: a limit on what the operations of a debugger cost a process that preempts.
 *
 * While a level is in force the processes below it are off the GPU, and what they do to their
 * queues changes MQDs only.  The operations of a debugger are different: KFD unmaps all queues of
 * the GPU for each of them, because registers of a VMID may change only while nothing of it runs.
 * A process needs no permission to be its own debugger.  So while a level is in force, callers of a
 * lower priority take turns, all together, each GPU's at least KFD_PRIO_DEBUG_NS apart.  Where a
 * process may preempt and has no work they take turns as well, KFD_PRIO_DEBUG_IDLE_NS apart: those
 * that wait for the DQM lock when it has work are few then.
 */
#include <linux/hrtimer.h>
#include <linux/sched/signal.h>
#include "kfd_prio_priv.h"

/* So far apart below a level, in ns: 100 a second, less than 10 ms of GPU time at 100 us each */
#define KFD_PRIO_DEBUG_NS	10000000ULL

/*
 * And so far apart, in ns, where a process that may preempt has no work: when it has some, callers
 * that have taken their turn already may hold it up
 */
#define KFD_PRIO_DEBUG_IDLE_NS	1000000ULL

/* How far apart are callers of @rank on a GPU?  0: they take no turns */
static u64 kfd_prio_limit_gap(const struct kfd_prio_dqm *d, int rank)
{
	if (kfd_prio_policy_victim(READ_ONCE(d->policy.level), rank))
		return KFD_PRIO_DEBUG_NS;
	return list_empty(&d->claims) ? 0 : KFD_PRIO_DEBUG_IDLE_NS;
}

/*
 * Take a turn on each GPU where one is needed, if it has come on all of them.  A caller that waits
 * reserves nothing: it may be killed.  Return: 0, or when to try again, ktime_get_ns()
 */
static u64 kfd_prio_limit_turn(int rank)
{
	u64 now = ktime_get_ns(), at = 0;
	struct kfd_prio_dqm *d;

	kfd_prio_gpu_lock();
	for (d = kfd_prio_gpu_first(); d; d = kfd_prio_gpu_next(d))
		if (kfd_prio_limit_gap(d, rank) && d->debug_at > now)
			at = max(at, d->debug_at);
	for (d = at ? NULL : kfd_prio_gpu_first(); d; d = kfd_prio_gpu_next(d))
		if (kfd_prio_limit_gap(d, rank))
			d->debug_at = now + kfd_prio_limit_gap(d, rank);
	kfd_prio_gpu_unlock();
	return at;
}

static void kfd_prio_limit_wait(void)
{
	ktime_t end;
	int rank;
	u64 at;

	if (!kfd_prio_table_used())
		return;
	rank = kfd_prio_policy_rank(kfd_prio_table_get(task_tgid(current)), KFD_PRIO_MAX);
	while (!fatal_signal_pending(current)) {
		at = kfd_prio_limit_turn(rank);
		if (!at)
			break;
		end = ns_to_ktime(at);
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
