// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the settings that apply to a KFD process: those of its thread group in the priority
 * table, or its own if it is an orphan.
 */
#include "kfd_prio_priv.h"

/**
 * kfd_prio_process_values() - read the settings that apply to a KFD process
 * @p: the process; its lead thread may have ended
 *
 * The settings of an orphan (kfd_prio_identity.c) are stored in the kfd_process itself. Those of
 * every other process are the table's entry for its lead thread group.
 *
 * Context: any
 * Return: the settings
 */
struct kfd_prio_values kfd_prio_process_values(struct kfd_process *p)
{
	struct kfd_prio_values v;

	if (kfd_prio_is_orphan(p))
		return (struct kfd_prio_values) {
			.prio = READ_ONCE(p->prio.own.prio),
			.by = READ_ONCE(p->prio.own.by),
			.never_by = READ_ONCE(p->prio.own.never_by),
		};
	rcu_read_lock();
	v = kfd_prio_table_read(task_tgid(p->lead_thread));
	rcu_read_unlock();
	return v;
}

/**
 * kfd_prio_never_parks() - whether a process is set never to be parked
 * @p: the process; its lead thread may have ended
 *
 * Context: any
 * Return: true if the process must not be parked
 */
bool kfd_prio_never_parks(struct kfd_process *p)
{
	return kfd_prio_process_values(p).never_by;
}

/**
 * kfd_prio_of_process() - the priority in force for a KFD process
 * @p: the process; its lead thread may have ended
 *
 * Context: any
 * Return: 0..15, or KFD_PRIO_UNSET if the queues of the process keep the priorities that their
 *	owner asked for. An orphan for which no priority is set has KFD_PRIO_MIN
 */
int kfd_prio_of_process(struct kfd_process *p)
{
	int prio = kfd_prio_process_values(p).prio;

	return prio == KFD_PRIO_UNSET && kfd_prio_is_orphan(p) ? KFD_PRIO_MIN : prio;
}
