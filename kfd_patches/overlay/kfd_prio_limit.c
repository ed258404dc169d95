// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: a limit on how much the operations of a debugger delay a process that preempts.
 *
 * While a level is in force, the processes below it are off the GPU, and their updates of queues
 * change MQDs only. For each operation of a debugger, however, KFD unmaps all queues of the GPU,
 * because registers of a VMID may change only while no queue with that VMID runs. A process needs
 * no permission to debug itself.
 *
 * So while a level is in force on a GPU, the operations of callers below it are at least
 * KFD_PRIO_DEBUG_NS apart on that GPU, of all callers together. While a GPU has a claim, and no
 * level above the caller is in force, they are KFD_PRIO_DEBUG_IDLE_NS apart, and each of them
 * follows the runlist of the one before, so that few callers wait for the DQM lock when a claim
 * gets work.
 */
#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include "kfd_prio_priv.h"

/*
 * Interval below a level, ns: 100 operations a second, which take less than 10 ms of GPU time at
 * 100 us each
 */
#define KFD_PRIO_DEBUG_NS	10000000ULL

/*
 * Interval while a GPU has a claim and the caller is below no level, ns. When a claim gets work,
 * callers that have taken their turn already may delay it.
 */
#define KFD_PRIO_DEBUG_IDLE_NS	1000000ULL

/*
 * The callers of each rank wait in turn for a mutex, so that only its holder wakes up to check
 * whether its turn has come. Callers of another rank may have their turn earlier.
 */
static struct mutex kfd_prio_limit_queues[KFD_PRIO_RANKS];

/* Returns the interval between operations of callers of @rank on a GPU, ns; 0: no limit */
static u64 kfd_prio_limit_gap(const struct kfd_prio_dqm *d, int rank)
{
	if (kfd_prio_policy_victim(READ_ONCE(d->policy.level), rank))
		return KFD_PRIO_DEBUG_NS;
	return list_empty(&d->claims) ? 0 : KFD_PRIO_DEBUG_IDLE_NS;
}

/*
 * Returns when callers of @rank may take the next turn on a GPU, ktime_get_ns(), or 0: now.
 * An operation can take longer than the interval. No turn is given before the last operation has
 * sent its runlist, or while the DQM lock is held: otherwise all callers would wait for the lock
 * when a level begins, and unmap all queues one after the other. There is a turn every
 * KFD_PRIO_DEBUG_NS all the same: operations may send no runlist, and others may hold the lock all
 * the time.
 */
static u64 kfd_prio_limit_next(struct kfd_prio_dqm *d, int rank, u64 now)
{
	bool sent = kfd_prio_uses_mes(d->dqm) || READ_ONCE(d->mapped_at) > d->debugged_at;
	u64 gap = kfd_prio_limit_gap(d, rank);

	if (!gap || d->debugged_at + KFD_PRIO_DEBUG_NS <= now)
		return 0;
	if (d->debugged_at + gap > now)
		return d->debugged_at + gap;
	return !sent || mutex_is_locked(&d->dqm->lock_hidden) ? now + KFD_PRIO_DEBUG_IDLE_NS : 0;
}

/*
 * Takes a turn on each GPU that limits callers of @rank, if the turn has come on all of them. A
 * caller that waits reserves no turn, because it may be killed. The caller holds the mutex of
 * @rank.
 * Return: 0 if the turn was taken, or when to try again, ktime_get_ns()
 */
static u64 kfd_prio_limit_turn(int rank)
{
	u64 now = ktime_get_ns(), at = 0;
	struct kfd_prio_dqm *d;

	kfd_prio_gpu_lock();
	for (d = kfd_prio_gpu_first(); d; d = kfd_prio_gpu_next(d))
		at = max(at, kfd_prio_limit_next(d, rank, now));
	for (d = at ? NULL : kfd_prio_gpu_first(); d; d = kfd_prio_gpu_next(d))
		if (kfd_prio_limit_gap(d, rank))
			d->debugged_at = now;
	kfd_prio_gpu_unlock();
	return at;
}

/* Whether a GPU limits callers of @rank */
static bool kfd_prio_limits(int rank)
{
	struct kfd_prio_dqm *d;
	bool limits = false;

	kfd_prio_gpu_lock();
	for (d = kfd_prio_gpu_first(); d && !limits; d = kfd_prio_gpu_next(d))
		limits = kfd_prio_limit_gap(d, rank);
	kfd_prio_gpu_unlock();
	return limits;
}

/*
 * Waits until the calling process may begin an operation of a debugger, or a fatal signal is
 * pending. Its rank is its set priority, or KFD_PRIO_NORMAL without one.
 */
static void kfd_prio_limit_wait(void)
{
	ktime_t end;
	int rank;
	u64 at;

	if (!kfd_prio_table_used())
		return;
	rank = kfd_prio_policy_rank(kfd_prio_table_get(task_tgid(current)), KFD_PRIO_MAX);
	if (!kfd_prio_limits(rank) || mutex_lock_killable(&kfd_prio_limit_queues[rank]))
		return;
	while (!fatal_signal_pending(current)) {
		at = kfd_prio_limit_turn(rank);
		if (!at)
			break;
		end = ns_to_ktime(at);
		set_current_state(TASK_KILLABLE);
		schedule_hrtimeout(&end, HRTIMER_MODE_ABS);
	}
	mutex_unlock(&kfd_prio_limit_queues[rank]);
}

/**
 * kfd_prio_limit_init() - initialise the mutexes in which callers wait
 *
 * Context: module load
 */
void kfd_prio_limit_init(void)
{
	int rank;

	for (rank = 0; rank < KFD_PRIO_RANKS; rank++)
		mutex_init(&kfd_prio_limit_queues[rank]);
}

/**
 * kfd_prio_hook_debug_trap() - AMDKFD_IOC_DBG_TRAP begins: wait until it is permitted
 * @op: enum kfd_dbg_trap_operations; those that only read are not limited
 *
 * On each GPU on which a level above the calling process is in force, or which has a claim, the
 * operations of all callers together are a minimum time apart (see the top of this file). The hook
 * waits until its turn has come on all these GPUs. If there is none, it returns at once.
 *
 * Context: process, no lock; sleeps. If a fatal signal is pending the wait ends early, and KFD
 *	carries out the operation all the same
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
 * kfd_prio_hook_runtime_enable() - AMDKFD_IOC_RUNTIME_ENABLE begins: wait until it is permitted
 *
 * Context: process, no lock; the wait also ends when a fatal signal is pending
 */
void kfd_prio_hook_runtime_enable(void)
{
	kfd_prio_limit_wait();
}
