// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: which thread group a KFD process belongs to, and whether it still does; and what may be
 * set for a thread group or an orphan.
 *
 * KFD keys a process by its mm.  Its priority, PID and user are those of the thread group that
 * opened /dev/kfd, the lead group, for as long as a thread of that group has the mm.  The lead
 * group can lose the mm while the KFD process goes on: it ends or executes another program, and
 * another thread group shares the mm (CLONE_VM without CLONE_THREAD); or an open descriptor keeps
 * the KFD process after the mm (before 6.15; later a further context of a process).  The KFD
 * process is an orphan then, for good: a thread group does not get an mm back.
 * Documentation/design.rst says what each part of the interface means by a process.
 *
 * The mm is compared with the one that was pinned when the process was published.  kfd_process.mm
 * becomes NULL, as is that of every zombie and kernel thread, and an address that is not pinned may
 * be used again.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include "kfd_prio_priv.h"

/*
 * KFD destroys a process some time after its mm has gone, in a work that waits for SRCU.  One that
 * is still there after this time is kept by a descriptor.
 */
#define KFD_PRIO_GONE_GRACE	(HZ / 5)

/**
 * kfd_prio_identity_begin() - a process is about to be published
 * @p: the process, or a further context of one (Linux 7.x); made by a thread of the lead group
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
 * kfd_prio_identity_end() - a process is no longer published, and nobody holds it
 * @p: the process
 *
 * Context: process
 */
void kfd_prio_identity_end(struct kfd_process *p)
{
	put_pid(p->prio.lead);
	mmdrop(p->prio.lead_mm);
}

/**
 * kfd_prio_identity_has_mm() - has a thread of a thread group an mm?
 * @task: a thread of the group; the group may have ended
 * @mm: the mm, pinned; it is not looked into
 *
 * Context: RCU
 */
bool kfd_prio_identity_has_mm(struct task_struct *task, const struct mm_struct *mm)
{
	struct task_struct *t;

	/* in nearly all cases: no list is walked */
	if (READ_ONCE(task->mm) == mm)
		return true;
	for_each_thread(task, t)
		if (READ_ONCE(t->mm) == mm)
			return true;
	return false;
}

/**
 * kfd_prio_identity_going() - the mm of a process goes
 * @p: the process
 *
 * Context: any
 * Return: has it gone for so long that a descriptor must be what keeps the process?
 */
bool kfd_prio_identity_going(struct kfd_process *p)
{
	unsigned long at = READ_ONCE(p->prio.gone_at);

	/* 0 is none */
	if (!at)
		at = cmpxchg(&p->prio.gone_at, 0, jiffies | 1);
	return at && time_after(jiffies, at + KFD_PRIO_GONE_GRACE);
}

/**
 * kfd_prio_identity_lost() - has a process just been seen to be an orphan?
 * @p: the process, held; it may be known as an orphan already
 *
 * With the mm that has no user left KFD ends the process, or a descriptor keeps it.
 *
 * Context: any but NMI
 * Return: true if no thread of the lead group has the mm
 */
bool kfd_prio_identity_lost(struct kfd_process *p)
{
	bool has;

	if (READ_ONCE(p->prio.gone) || !atomic_read(&p->prio.lead_mm->mm_users))
		/* a further context ends with its descriptor, not with the mm */
		return p->prio.mm || kfd_prio_identity_going(p);
	rcu_read_lock();
	has = kfd_prio_identity_has_mm(p->lead_thread, p->prio.lead_mm);
	rcu_read_unlock();
	/* the last thread of a process that ends gives its mm up, and then its use of it */
	return !has && atomic_read(&p->prio.lead_mm->mm_users);
}

/*
 * Permission: what is asked for against what is, where no priority counts as @unset.  The queues of
 * a process may ask for anything, now or later, so one without a priority counts as normal.
 */
static bool kfd_prio_raises(int old, int prio, int unset)
{
	return kfd_prio_policy_rank(prio, unset) > kfd_prio_policy_rank(old, unset);
}

/* Does what was set otherwise stay, when a rule asks for @to?  See KFD_PRIO_SET_RULE. */
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
 * kfd_prio_values_change() - bring what is set to what is asked for
 * @v: what is set; changed unless this fails
 * @to: what is asked for
 * @may_raise: the caller may raise a priority
 * @unset: what no priority counts as, at most: KFD_PRIO_MAX, or KFD_PRIO_MIN of an orphan
 *
 * Context: any
 * Return: 0; -EPERM if this raises and @may_raise is false; -EEXIST if a rule asks
 * and what is set stays, see KFD_PRIO_SET_RULE
 */
int kfd_prio_values_change(struct kfd_prio_values *v, const struct kfd_prio_setting *to,
			   bool may_raise, int unset)
{
	if (kfd_prio_withstands(v, to, unset))
		return -EEXIST;
	if (!to->keep && kfd_prio_raises(v->prio, to->prio, unset) && !may_raise)
		return -EPERM;
	if (!to->keep) {
		v->prio = to->prio;
		v->by = to->prio == KFD_PRIO_UNSET ? KFD_PRIO_BY_NOBODY : to->by;
	}
	if (to->never || to->parks)
		v->never_by = to->never ? to->by : KFD_PRIO_BY_NOBODY;
	return 0;
}
