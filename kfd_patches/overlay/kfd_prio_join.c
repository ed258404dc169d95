// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: which groups a KFD process is in.
 *
 * A process is in the group of the thread group that opened /dev/kfd, which is in the priority
 * table, and in the group of a cgroup. Both are looked up when the process opens /dev/kfd and each
 * time that it creates a queue, so that a process which was moved to another cgroup is in the group
 * of that one from then on. The kernel calls no driver when a process moves. An orphan
 * (kfd_prio_identity.c) stays in the group that it was in.
 */
#include "kfd_prio_engine.h"
#include "kfd_prio_group.h"
#include "kfd_prio_share.h"

/* Charges a process on one GPU to its groups, unless the GPU was removed */
static void kfd_prio_join_on(struct kfd_process_device *pdd)
{
	struct device_queue_manager *dqm = pdd->qpd.dqm;

	if (!kfd_prio_gpu_hold(dqm))
		return;
	dqm_lock(dqm);
	kfd_prio_share_detach(&pdd->qpd);
	if (!list_empty(&pdd->qpd.queues_list)) {
		kfd_prio_share_attach(&pdd->qpd);
		kfd_prio_gpu_kick(dqm);
	}
	dqm_unlock(dqm);
	kfd_prio_gpu_drop(dqm);
}

/**
 * kfd_prio_join() - put a KFD process in a group, on all GPUs
 * @p: the process, held, or in an ioctl of its own
 * @kind: which group of it changes
 * @g: the group; NULL: none. A reference is taken over
 *
 * Context: kfd_prio_group_lock(); takes DQM locks, one after the other
 */
void kfd_prio_join(struct kfd_process *p, enum kfd_prio_group_kind kind, struct kfd_prio_group *g)
{
	struct kfd_prio_group *was = p->prio.group[kind];
	u32 i;

	if (g == was) {
		kfd_prio_group_put(g);
		return;
	}
	WRITE_ONCE(p->prio.group[kind], g);
	for (i = 0; i < p->n_pdds; i++)
		kfd_prio_join_on(p->pdds[i]);
	/* Last: no account of the process has it any more */
	kfd_prio_group_put(was);
}

/**
 * kfd_prio_join_thread_group() - put the KFD processes of a thread group in a group
 * @pid: the thread group
 * @g: the group; NULL: none
 *
 * Orphans that the thread group has opened are not changed.
 *
 * Context: kfd_prio_group_lock(); takes DQM locks, one after the other
 */
void kfd_prio_join_thread_group(struct pid *pid, struct kfd_prio_group *g)
{
	struct kfd_process *p = NULL;

	while ((p = kfd_prio_processes_next(p))) {
		if (p->prio.lead != pid || READ_ONCE(p->prio.gone) || kfd_prio_orphan_check(p))
			continue;
		if (g)
			kref_get(&g->ref);
		kfd_prio_join(p, KFD_PRIO_GROUP_OWN, g);
	}
}

/**
 * kfd_prio_join_cgroups() - put all KFD processes in the groups of their cgroups
 *
 * Context: kfd_prio_group_lock(); takes DQM locks, one after the other
 */
void kfd_prio_join_cgroups(void)
{
	struct kfd_process *p = NULL;

	while ((p = kfd_prio_processes_next(p)))
		if (!READ_ONCE(p->prio.gone) && !kfd_prio_orphan_check(p))
			kfd_prio_join(p, KFD_PRIO_GROUP_CGROUP,
				      kfd_prio_group_of_task(p->lead_thread));
}

/**
 * kfd_prio_join_own() - put a KFD process in the groups that it belongs to now
 * @p: the process; if it is not that of the caller, nothing is done
 *
 * Does nothing, at no cost, while no group exists.
 *
 * Context: process, no lock
 */
void kfd_prio_join_own(struct kfd_process *p)
{
	if (!static_branch_unlikely(&kfd_prio_shares_in_use.key) ||
	    p->lead_thread != current->group_leader || kfd_prio_is_orphan(p))
		return;
	kfd_prio_group_lock();
	kfd_prio_join(p, KFD_PRIO_GROUP_OWN, kfd_prio_table_group(p->prio.lead));
	kfd_prio_join(p, KFD_PRIO_GROUP_CGROUP, kfd_prio_group_of_task(current));
	kfd_prio_group_unlock();
}
