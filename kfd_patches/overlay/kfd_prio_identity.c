// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: which thread group a KFD process belongs to, whether it still does, and which changes of
 * the settings of a thread group or an orphan are permitted.
 *
 * KFD identifies a process by its mm. The priority, PID and user of a KFD process are those of its
 * lead group, the thread group that opened /dev/kfd, while a thread of that group has the mm. The
 * lead group can lose the mm before the KFD process ends:
 * - the lead group ends or executes another program while another thread group shares the mm
 *   (CLONE_VM without CLONE_THREAD); or
 * - an open descriptor keeps the KFD process after the mm is gone (before Linux 6.15; later a
 *   further context of a process).
 *
 * The KFD process is then an orphan, permanently, because a thread group does not get an mm back.
 * Documentation/design.rst lists what each part of the interface means by a process.
 *
 * The mm of a thread is compared with the mm that was pinned when the process was published.
 * kfd_process.mm would not do: it becomes NULL, which is also the mm of zombies and kernel threads.
 * The address of an mm that is not pinned may be reused.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include "kfd_prio_priv.h"

/*
 * KFD destroys a process some time after its mm is gone, in a work that waits for SRCU. A process
 * that still exists after this time, in jiffies, is kept by a descriptor.
 */
#define KFD_PRIO_GONE_GRACE	(HZ / 5)

/**
 * kfd_prio_identity_begin() - pin the mm and the lead group of a process that is about to be
 * published
 * @p: the process, or a further context of one (Linux 7.x), created by a thread of the lead group
 *
 * Context: process
 */
void kfd_prio_identity_begin(struct kfd_process *p)
{
	mmgrab(p->mm);
	p->prio.lead_mm = p->mm;
	rcu_read_lock();
	p->prio.lead = get_pid(task_tgid(p->lead_thread));
	rcu_read_unlock();
	p->prio.own.prio = KFD_PRIO_UNSET;
}

/**
 * kfd_prio_identity_end() - unpin the mm and the lead group of a process
 * @p: the process, which is not published any more and has no holder
 *
 * Context: process
 */
void kfd_prio_identity_end(struct kfd_process *p)
{
	put_pid(p->prio.lead);
	mmdrop(p->prio.lead_mm);
}

/**
 * kfd_prio_identity_has_mm() - whether a thread of a thread group has an mm
 * @task: a thread of the group; the group may have ended
 * @mm: the mm, pinned; only its address is used
 *
 * Context: RCU
 */
bool kfd_prio_identity_has_mm(struct task_struct *task, const struct mm_struct *mm)
{
	struct task_struct *t;

	/* The usual case: no walk over the threads */
	if (READ_ONCE(task->mm) == mm)
		return true;
	for_each_thread(task, t)
		if (READ_ONCE(t->mm) == mm)
			return true;
	return false;
}

/**
 * kfd_prio_identity_going() - whether the mm of a process lost its last user some time ago
 * @p: the process, whose mm has no user any more
 *
 * The first call records the time, and returns false.
 *
 * Context: any
 * Return: true if the first call was longer than KFD_PRIO_GONE_GRACE ago, so that a descriptor must
 *	be keeping the process
 */
bool kfd_prio_identity_going(struct kfd_process *p)
{
	unsigned long at = READ_ONCE(p->prio.gone_at);

	/* 0 means that no time was recorded */
	if (!at)
		at = cmpxchg(&p->prio.gone_at, 0, jiffies | 1);
	return at && time_after(jiffies, at + KFD_PRIO_GONE_GRACE);
}

/**
 * kfd_prio_identity_lost() - whether the lead group of a process has lost its mm
 * @p: the process, held
 *
 * When the mm has no user left, KFD either ends the process soon, or a descriptor keeps it. Marks
 * nothing: kfd_prio_orphan_check() does.
 *
 * Context: any but NMI
 * Return: true if no thread of the lead group has the mm, and the process is not about to end with
 *	the mm: the process is an orphan
 */
bool kfd_prio_identity_lost(struct kfd_process *p)
{
	bool has;

	if (READ_ONCE(p->prio.gone) || !atomic_read(&p->prio.lead_mm->mm_users))
		/* A further context ends with its descriptor and not with the mm */
		return p->prio.mm || kfd_prio_identity_going(p);
	rcu_read_lock();
	has = kfd_prio_identity_has_mm(p->lead_thread, p->prio.lead_mm);
	rcu_read_unlock();
	/* The last thread of an exiting process clears task->mm before it drops mm_users */
	return !has && atomic_read(&p->prio.lead_mm->mm_users);
}

/*
 * Whether a change from @old to @prio raises a priority, where a priority that is not set ranks as
 * @unset at most. The queues of a process may ask for any priority, now or later, so a thread group
 * without a set priority ranks as KFD_PRIO_NORMAL.
 */
static bool kfd_prio_raises(int old, int prio, int unset)
{
	return kfd_prio_policy_rank(prio, unset) > kfd_prio_policy_rank(old, unset);
}

/*
 * Whether a request raises the priority of a process. After a priority was taken away, the queues
 * have the priorities that they ask for, up to @unset. So taking one away raises, unless it is
 * @unset or higher.
 */
static bool kfd_prio_request_raises(const struct kfd_prio_values *v,
				    const struct kfd_prio_setting *to, int unset)
{
	if (to->prio == KFD_PRIO_UNSET)
		return v->prio != KFD_PRIO_UNSET && v->prio < unset;
	return kfd_prio_raises(v->prio, to->prio, unset);
}

/* Whether the present settings @v outrank a rule that requests @to, see KFD_PRIO_SET_RULE */
static bool kfd_prio_withstands(const struct kfd_prio_values *v, const struct kfd_prio_setting *to,
				int unset)
{
	if (to->by != KFD_PRIO_BY_RULE)
		return false;
	if (!to->keep && v->by == KFD_PRIO_BY_ADMIN)
		return true;
	if (!to->keep && v->by == KFD_PRIO_BY_USER && !kfd_prio_raises(to->prio, v->prio, unset))
		return true;
	return ((to->never || to->parks) && v->never_by == KFD_PRIO_BY_ADMIN) ||
	       (to->never && v->never_by == KFD_PRIO_BY_USER);
}

/**
 * kfd_prio_values_change() - apply a requested change to settings
 * @v: the settings, unchanged on error
 * @to: the requested change
 * @may_raise: whether the caller may raise a priority
 * @unset: highest rank of a priority that is not set: KFD_PRIO_MAX, or KFD_PRIO_MIN for an orphan
 *
 * Context: any
 * Return: 0; -EPERM if the change raises the priority and @may_raise is false; -EEXIST if a rule
 *	requests the change and the present settings outrank it, see KFD_PRIO_SET_RULE
 */
int kfd_prio_values_change(struct kfd_prio_values *v, const struct kfd_prio_setting *to,
			   bool may_raise, int unset)
{
	if (kfd_prio_withstands(v, to, unset))
		return -EEXIST;
	if (!to->keep && kfd_prio_request_raises(v, to, unset) && !may_raise)
		return -EPERM;
	if (!to->keep) {
		v->prio = to->prio;
		v->by = to->prio == KFD_PRIO_UNSET ? KFD_PRIO_BY_NOBODY : to->by;
	}
	if (to->never || to->parks)
		v->never_by = to->never ? to->by : KFD_PRIO_BY_NOBODY;
	if (to->joins)
		v->group = to->group;
	return 0;
}
