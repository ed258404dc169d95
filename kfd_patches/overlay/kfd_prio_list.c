// SPDX-License-Identifier: GPL-2.0 OR MIT
/* kfdprio: KFD_PRIO_IOC_LIST, the processes that use KFD. */
#include <linux/cred.h>
#include <linux/pid_namespace.h>
#include <linux/sort.h>
#include "kfd_prio_engine.h"
#include "kfd_prio_group.h"

/* Sizes of the structs in version 1.0, the first one */
#define KFD_PRIO_LIST_SIZE_1_0		24
#define KFD_PRIO_ENTRY_SIZE_1_0		32

/**
 * kfd_prio_list_count() - add queues, counts and flags of a process on a GPU to a list entry
 * @pdd: the process on the GPU
 * @e: the entry
 *
 * Context: process; takes the DQM lock
 * Return: false if the GPU was removed, and @e is unchanged
 */
bool kfd_prio_list_count(struct kfd_process_device *pdd, struct kfd_prio_list_entry *e)
{
	struct device_queue_manager *dqm = pdd->qpd.dqm;
	struct kfd_prio_qpd *prio = &pdd->qpd.prio;
	struct queue *q;

	if (!kfd_prio_gpu_hold(dqm))
		return false;
	e->gpu_id = dqm->dev->id;
	dqm_lock(dqm);
	list_for_each_entry(q, &pdd->qpd.queues_list, list) {
		e->nr_queues++;
		e->nr_active += q->properties.is_active;
		e->effective = max_t(int, e->effective, q->properties.priority);
	}
	/* kfdprio holds one count of evicted while the process is off or parked */
	if (pdd->qpd.evicted > prio->preempted)
		e->flags |= KFD_PRIO_LIST_EVICTED;
	if (prio->park.parked)
		e->flags |= KFD_PRIO_LIST_PARKED;
	else if (kfd_prio_is_preempted(prio))
		e->flags |= KFD_PRIO_LIST_PREEMPTED;
	if (dqm->prio.counted &&
	    dqm->prio.pid == pdd->process->lead_thread->tgid &&
	    (!kfd_prio_is_orphan(pdd->process) || prio->role == KFD_PRIO_ROLE_CLAIM))
		e->flags |= KFD_PRIO_LIST_PREEMPTING;
	if (dqm->prio.breaker != KFD_PRIO_BREAKER_CLOSED)
		e->flags |= KFD_PRIO_LIST_PREEMPT_OFF;
	e->preempted_count += prio->preempted_count;
	e->preempting_count += prio->preempting_count;
	e->preempted_ns += kfd_prio_preempted_ns(prio);
	e->parked_count += prio->park.count;
	e->parked_ns += kfd_prio_parked_ns(prio);
	e->saved_count += prio->save.count;
	e->saved_ns += prio->save.sum_ns;
	e->saved_max_ns = max(e->saved_max_ns, prio->save.max_ns);
	e->throttled_count += prio->share.count;
	e->throttled_ns += prio->share.ns;
	if (prio->share.throttle) {
		e->flags |= KFD_PRIO_LIST_THROTTLED;
		e->throttled_ns += ktime_get_ns() - prio->share.at;
	}
	dqm_unlock(dqm);
	kfd_prio_gpu_drop(dqm);
	return true;
}

static int kfd_prio_entry_cmp(const void *l, const void *r)
{
	const struct kfd_prio_list_entry *a = l, *b = r;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->gpu_id != b->gpu_id)
		return a->gpu_id < b->gpu_id ? -1 : 1;
	/* The last PID of an orphan may be that of another process by now */
	return a->serial < b->serial ? -1 : a->serial > b->serial;
}

/*
 * Merges the entries of each process and GPU into one, and returns how many are left. A process may
 * have several contexts (Linux 7.x), each with a kfd_process. They have one serial and one
 * priority, and are preempted together.
 */
static u32 kfd_prio_fold(struct kfd_prio_list_entry *e, u32 n)
{
	u32 i, last = 0;

	for (i = 1; i < n; i++) {
		if (kfd_prio_entry_cmp(&e[last], &e[i])) {
			e[++last] = e[i];
			continue;
		}
		e[last].effective = max(e[last].effective, e[i].effective);
		e[last].nr_queues += e[i].nr_queues;
		e[last].nr_active += e[i].nr_active;
		e[last].flags |= e[i].flags;
		e[last].preempted_count = max(e[last].preempted_count, e[i].preempted_count);
		e[last].preempting_count += e[i].preempting_count;
		e[last].preempted_ns = max(e[last].preempted_ns, e[i].preempted_ns);
		e[last].parked_count = max(e[last].parked_count, e[i].parked_count);
		e[last].parked_ns = max(e[last].parked_ns, e[i].parked_ns);
		e[last].saved_count = max(e[last].saved_count, e[i].saved_count);
		e[last].saved_ns = max(e[last].saved_ns, e[i].saved_ns);
		e[last].saved_max_ns = max(e[last].saved_max_ns, e[i].saved_max_ns);
		e[last].throttled_count = max(e[last].throttled_count, e[i].throttled_count);
		e[last].throttled_ns = max(e[last].throttled_ns, e[i].throttled_ns);
	}
	return last + 1;
}

/**
 * struct kfd_prio_rows - entries that are being filled in
 * @entries: the entries
 * @room: number of entries that fit in @entries; further ones are counted only
 * @n: number of entries
 */
struct kfd_prio_rows {
	struct kfd_prio_list_entry *entries;
	u32 room;
	u32 n;
};

/*
 * Adds the entries of a process, one for each GPU that it is bound to, or one without a GPU if it
 * is bound to none. @who has the members that do not depend on the GPU.
 */
static void kfd_prio_list_process(struct kfd_prio_rows *rows, struct kfd_process *p,
				  const struct kfd_prio_list_entry *who)
{
	u32 i;

	for (i = 0; i < max_t(u32, p->n_pdds, 1); i++) {
		struct kfd_prio_list_entry *e;

		if (rows->n >= rows->room) {
			rows->n++;
			continue;
		}
		e = &rows->entries[rows->n];
		*e = *who;
		if (!p->n_pdds || kfd_prio_list_count(p->pdds[i], e))
			rows->n++;
	}
}

/*
 * Fills in PID and effective UID of a thread group in @who. The credentials are read first, then
 * the mm, because execve(2) changes the mm before the credentials.
 * Return: true if a thread of the group has the mm of @p
 */
static bool kfd_prio_list_group(const struct kfd_process *p, struct pid *pid,
				struct kfd_prio_list_entry *who)
{
	struct task_struct *task;
	bool has = false;

	rcu_read_lock();
	who->pid = pid_nr_ns(pid, task_active_pid_ns(current));
	task = pid_task(pid, PIDTYPE_TGID);
	if (task) {
		who->euid = from_kuid_munged(current_user_ns(), __task_cred(task)->euid);
		/* The credentials, then the mm */
		smp_rmb();
		has = kfd_prio_identity_has_mm(task, p->prio.lead_mm);
	}
	rcu_read_unlock();
	return has;
}

/*
 * Adds the entries of an orphan: those of a process for each visible thread group that shares its
 * mm; once, with the PID of its lead group, if no group has the mm
 */
static void kfd_prio_list_orphan(struct kfd_prio_rows *rows, struct kfd_process *p,
				 struct kfd_prio_list_entry *who)
{
	struct pid *pids[KFD_PRIO_MAX_GROUPS];
	bool alive = false;
	u32 i, nr;

	who->flags |= KFD_PRIO_LIST_ORPHAN;
	who->nr_groups = kfd_prio_orphan_groups(p, pids, &nr);
	for (i = 0; i < nr; i++) {
		if (kfd_prio_list_group(p, pids[i], who)) {
			alive = true;
			if (who->pid)
				kfd_prio_list_process(rows, p, who);
		}
		put_pid(pids[i]);
	}
	if (alive)
		return;
	who->nr_groups = 0;
	who->euid = (u32)-1;
	who->pid = pid_nr_ns(p->prio.lead, task_active_pid_ns(current));
	if (who->pid)
		kfd_prio_list_process(rows, p, who);
}

/* Fills in the numbers of the groups of a process that share a limit or take turns */
static void kfd_prio_list_groups(const struct kfd_process *p, struct kfd_prio_list_entry *who)
{
	const struct kfd_prio_group *g;

	if (!static_branch_unlikely(&kfd_prio_shares_in_use.key))
		return;
	/* A reference may be dropped at any time, and the memory is freed after a grace period */
	rcu_read_lock();
	g = READ_ONCE(p->prio.group[KFD_PRIO_GROUP_OWN]);
	who->share = g ? g->id : 0;
	g = READ_ONCE(p->prio.group[KFD_PRIO_GROUP_CGROUP]);
	who->cgroup_share = g ? g->id : 0;
	rcu_read_unlock();
}

/*
 * Adds the entries of all processes that are visible in the caller's PID namespace, @room at most.
 * Returns their number.
 */
static u32 kfd_prio_collect(struct kfd_prio_list_entry *entries, u32 room)
{
	struct kfd_prio_rows rows = { .entries = entries, .room = room };
	struct kfd_process *p = NULL;

	while ((p = kfd_prio_processes_next(p))) {
		struct kfd_prio_list_entry who = {
			.effective = KFD_PRIO_UNSET,
			.serial = READ_ONCE(p->prio.family),
			.euid = (u32)-1,
		};
		struct kfd_prio_values v;

		kfd_prio_list_group(p, p->prio.lead, &who);
		/* A process that becomes an orphan now is listed with the priority of an orphan */
		if (kfd_prio_orphan_check(p))
			kfd_prio_process_orphans_now();
		v = kfd_prio_process_values(p);
		who.priority = v.prio;
		who.set_by = v.by;
		who.never_parked_by = v.never_by;
		kfd_prio_list_groups(p, &who);
		if (v.never_by)
			who.flags |= KFD_PRIO_LIST_PARK_NEVER;
		if (kfd_prio_is_orphan(p))
			kfd_prio_list_orphan(&rows, p, &who);
		else if (who.pid && !READ_ONCE(p->prio.gone))
			kfd_prio_list_process(&rows, p, &who);
	}
	return rows.n;
}

/**
 * kfd_prio_list_ioctl() - KFD_PRIO_IOC_LIST: copy an entry for each process on each GPU to the
 * caller
 * @arg: user address of struct kfd_prio_list_args, which is read and written
 * @size: size of the struct as the caller knows it
 *
 * The function first finds orphans and puts their priority in force, which can send updates to
 * GPUs. It then lists the processes that have /dev/kfd open and are visible in the caller's PID
 * namespace, whether they have a priority or not. No permission is needed.
 *
 * Context: process, may sleep; no lock; takes DQM locks
 * Return: 0, or an error that kfd_prio.h lists
 */
long kfd_prio_list_ioctl(void __user *arg, size_t size)
{
	struct kfd_prio_list_entry *entries = NULL;
	struct kfd_prio_list_args a;
	u32 room, n;
	int ret;

	if (size < KFD_PRIO_LIST_SIZE_1_0)
		return -EINVAL;
	ret = copy_struct_from_user(&a, sizeof(a), arg, size);
	if (ret)
		return ret;
	if (a.flags || a.pad || a.entry_size < KFD_PRIO_ENTRY_SIZE_1_0 || a.entry_size % 8)
		return -EINVAL;
	ret = kfd_prio_orphan_find();
	if (ret)
		return ret;
	kfd_prio_process_orphans_now();

	/* Allocate no more than there are entries, whatever the caller offers */
	room = min(a.nr_entries, kfd_prio_collect(NULL, 0));
	if (room) {
		entries = kvmalloc_array(room, sizeof(*entries), GFP_KERNEL_ACCOUNT);
		if (!entries)
			return -ENOMEM;
	}
	n = kfd_prio_collect(entries, room);
	room = min(room, n);
	if (room) {
		u32 left;

		sort(entries, room, sizeof(*entries), kfd_prio_entry_cmp, NULL);
		left = kfd_prio_fold(entries, room);
		n -= room - left;
		room = left;
	}

	ret = kfd_prio_entries_to_user(a.entries, &a.entry_size, entries, sizeof(*entries), room);
	kvfree(entries);
	if (ret)
		return ret;
	a.nr_entries = n;
	return copy_to_user(arg, &a, min(size, sizeof(a))) ? -EFAULT : 0;
}
