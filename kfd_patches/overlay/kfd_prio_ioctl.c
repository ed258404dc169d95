// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: ioctls on /dev/kfd. kfd_prio.h (include/uapi/linux/kfd_prio.h) describes the wire
 * format.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include "kfd_prio_engine.h"
#include "kfd_prio_share.h"
#include "kfd_prio_events.h"

/* Sizes of the structs in version 1.0, the first one */
#define KFD_PRIO_SET_SIZE_1_0		24
#define KFD_PRIO_GET_SIZE_1_0		24

/**
 * kfd_prio_hook_open() - whether a file of /dev/kfd is for ioctls only
 * @filep: the file, which was just opened
 *
 * Access mode 3 of open(2) means "ioctl only". Such a file gets no kfd_process.
 *
 * Context: process, no lock
 */
bool kfd_prio_hook_open(struct file *filep)
{
	return (filep->f_flags & O_ACCMODE) == O_ACCMODE;
}

/**
 * kfd_prio_owns_ioctl() - whether kfdprio handles an ioctl
 * @filep: file of /dev/kfd
 * @cmd: ioctl command
 *
 * kfdprio handles every ioctl on a file without a kfd_process, because KFD would dereference it.
 * The hook comes before all of KFD's own code, so it also traces the begin of
 * AMDKFD_IOC_CREATE_QUEUE.
 *
 * Context: process, no lock
 */
bool kfd_prio_owns_ioctl(struct file *filep, unsigned int cmd)
{
	/* By the number alone, as KFD does: the size in @cmd grows with the struct */
	if (trace_kfd_ioctl_create_queue_enabled() && filep->private_data &&
	    _IOC_NR(cmd) == _IOC_NR(AMDKFD_IOC_CREATE_QUEUE))
		trace_kfd_ioctl_create_queue(current->tgid);
	/* A process that was moved to another cgroup since its last queue is in another group */
	if (static_branch_unlikely(&kfd_prio_shares_in_use.key) && filep->private_data &&
	    _IOC_NR(cmd) == _IOC_NR(AMDKFD_IOC_CREATE_QUEUE))
		kfd_prio_join_own(filep->private_data);
	return !filep->private_data ||
	       (_IOC_TYPE(cmd) == KFD_PRIO_IOC_MAGIC && _IOC_NR(cmd) >= KFD_PRIO_IOC_FIRST);
}

static long kfd_prio_ioctl_version(void __user *arg, size_t size)
{
	struct kfd_prio_version_args v = {
		.major = KFD_PRIO_VERSION_MAJOR,
		.minor = KFD_PRIO_VERSION_MINOR,
		.features = KFD_PRIO_FEATURE_PREEMPT | KFD_PRIO_FEATURE_RULES |
			    KFD_PRIO_FEATURE_SHARES |
			    (kfd_prio_table_inherits() ? KFD_PRIO_FEATURE_INHERIT : 0),
	};

	if (size < sizeof(v.major))
		return -EINVAL;
	if (copy_to_user(arg, &v, min(size, sizeof(v))))
		return -EFAULT;
	if (size > sizeof(v) && clear_user(arg + sizeof(v), size - sizeof(v)))
		return -EFAULT;
	return 0;
}

#define KFD_PRIO_SET_PARK	(KFD_PRIO_SET_PARK_NEVER | KFD_PRIO_SET_PARK_AUTO)
#define KFD_PRIO_SET_ALL	(KFD_PRIO_SET_PARK | KFD_PRIO_SET_KEEP | KFD_PRIO_SET_RULE | \
				 KFD_PRIO_SET_ORPHAN)

static bool kfd_prio_set_valid(const struct kfd_prio_set_args *a)
{
	if (a->flags & ~KFD_PRIO_SET_ALL || (a->flags & KFD_PRIO_SET_PARK) == KFD_PRIO_SET_PARK)
		return false;
	if (a->flags & KFD_PRIO_SET_ORPHAN && !a->serial)
		return false;
	return a->priority == KFD_PRIO_UNSET || (a->priority >= KFD_PRIO_MIN &&
			a->priority <= KFD_PRIO_MAX && !(a->flags & KFD_PRIO_SET_KEEP));
}

/*
 * How the caller sets a priority, KFD_PRIO_BY_*. This use of the capability grants nothing and is
 * not audited; the permission that the capability gives is checked in kfd_prio_set_group() and
 * kfd_prio_set_orphan().
 */
static u32 kfd_prio_set_by(u32 flags)
{
	if (flags & KFD_PRIO_SET_RULE)
		return KFD_PRIO_BY_RULE;
	return ns_capable_noaudit(&init_user_ns, CAP_SYS_NICE) ? KFD_PRIO_BY_ADMIN :
								 KFD_PRIO_BY_USER;
}

/*
 * Returns the process with a serial, held; NULL if there is none that is, or is not, an orphan as
 * @orphan requires. Contexts of one process have the same serial, and the first of them may have
 * ended.
 */
static struct kfd_process *kfd_prio_process_find(u64 serial, bool orphan)
{
	struct kfd_process *p = NULL;

	while ((p = kfd_prio_processes_next(p)))
		if (READ_ONCE(p->prio.family) == serial && kfd_prio_orphan_check(p) == orphan)
			break;
	return p;
}

/*
 * Returns the task that @a names, referenced.
 * @p: the process with the serial in @a; NULL if @a has no serial
 */
static struct task_struct *kfd_prio_set_task(const struct kfd_prio_set_args *a,
					     const struct kfd_process *p)
{
	struct task_struct *task = NULL;

	if (!p)
		return kfd_prio_task_get(a->pid, a->pidfd, a->start_ns);
	if (a->pid <= 0)
		return ERR_PTR(-EINVAL);
	rcu_read_lock();
	if (find_vpid(a->pid) == p->prio.lead)
		task = pid_task(p->prio.lead, PIDTYPE_TGID);
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	return task ?: ERR_PTR(-ESRCH);
}

/*
 * Applies the request @a to the thread group that it names.
 * @p: see kfd_prio_set_task(), held
 * @old: out: the priority that was set before
 */
static int kfd_prio_set_group(const struct kfd_prio_set_args *a, struct kfd_process *p,
			      const struct kfd_prio_setting *to, int *old, u32 *nr_queues)
{
	struct task_struct *task;
	struct pid *pid;
	int ret;

	task = kfd_prio_set_task(a, p);
	if (IS_ERR(task))
		return PTR_ERR(task);
	ret = -EPERM;
	if (!kfd_prio_may_touch(task))
		goto out;
	/* The credentials first, then the mm, because execve(2) changes the mm first */
	smp_rmb();
	ret = -ESRCH;
	if (p && (READ_ONCE(p->prio.gone) || kfd_prio_orphan_check(p)))
		goto out;
	/* The capability is checked, and so audited, only if it is needed */
	ret = kfd_prio_table_set(task, to, false, old);
	if (ret == -EPERM && capable(CAP_SYS_NICE))
		ret = kfd_prio_table_set(task, to, true, old);
	if (ret)
		goto out;

	/* The thread must run before a queue makes the process, or a child of it, a claim */
	kfd_prio_thread_use(a->priority);
	rcu_read_lock();
	pid = get_pid(task_tgid(task));
	rcu_read_unlock();
	if (pid)
		ret = kfd_prio_process_apply(pid, nr_queues);
	put_pid(pid);
	if (!to->keep)
		trace_kfd_set_priority(task_tgid_nr(task), a->priority, *old,
				       task_tgid_nr(current), KFD_PRIO_SOURCE_IOCTL,
				       *nr_queues, ret);
out:
	put_task_struct(task);
	return ret;
}

/*
 * Whether the caller has permission over an orphan: over one of the thread groups that share its
 * mm, or CAP_SYS_NICE
 */
static bool kfd_prio_may_touch_orphan(struct kfd_process *p)
{
	struct pid *pids[KFD_PRIO_MAX_GROUPS];
	struct task_struct *task;
	bool may = false, has;
	u32 i, nr;

	if (kfd_prio_orphan_find())
		return false;
	kfd_prio_orphan_groups(p, pids, &nr);
	for (i = 0; i < nr; i++) {
		task = may ? NULL : get_pid_task(pids[i], PIDTYPE_TGID);
		if (task) {
			may = kfd_prio_may_touch(task);
			/* The credentials first, then the mm, as in kfd_prio_set_group() */
			smp_rmb();
			rcu_read_lock();
			has = kfd_prio_identity_has_mm(task, p->prio.lead_mm);
			rcu_read_unlock();
			may &= has;
			put_task_struct(task);
		}
		put_pid(pids[i]);
	}
	return may || capable(CAP_SYS_NICE);
}

/* As kfd_prio_set_group(), for the orphan @p, which is held */
static int kfd_prio_set_orphan(const struct kfd_prio_set_args *a, struct kfd_process *p,
			       const struct kfd_prio_setting *to, int *old, u32 *nr_queues)
{
	int ret;

	if (!kfd_prio_may_touch_orphan(p))
		return -EPERM;
	ret = kfd_prio_orphan_set(p, to, false, old);
	if (ret == -EPERM && capable(CAP_SYS_NICE))
		ret = kfd_prio_orphan_set(p, to, true, old);
	if (ret)
		return ret;
	kfd_prio_thread_use(a->priority);
	ret = kfd_prio_process_apply_orphan(p->prio.family, nr_queues);
	if (!to->keep)
		trace_kfd_set_priority(p->lead_thread->tgid, a->priority, *old,
				       task_tgid_nr(current), KFD_PRIO_SOURCE_IOCTL,
				       *nr_queues, ret);
	return ret;
}

static long kfd_prio_ioctl_set(void __user *arg, size_t size)
{
	struct kfd_process *p = NULL;
	struct kfd_prio_setting to;
	struct kfd_prio_set_args a;
	int old = KFD_PRIO_UNSET;
	u32 nr_queues = 0;
	int ret;

	if (size < KFD_PRIO_SET_SIZE_1_0)
		return -EINVAL;
	ret = copy_struct_from_user(&a, sizeof(a), arg, size);
	if (ret)
		return ret;
	if (!kfd_prio_set_valid(&a))
		return -EINVAL;
	to = (struct kfd_prio_setting) {
		.prio = a.priority,
		.keep = a.flags & KFD_PRIO_SET_KEEP,
		.never = a.flags & KFD_PRIO_SET_PARK_NEVER,
		.parks = a.flags & KFD_PRIO_SET_PARK_AUTO,
		.by = kfd_prio_set_by(a.flags),
	};

	if (a.serial) {
		p = kfd_prio_process_find(a.serial, a.flags & KFD_PRIO_SET_ORPHAN);
		if (!p)
			return -ESRCH;
	}
	if (a.flags & KFD_PRIO_SET_ORPHAN)
		ret = kfd_prio_set_orphan(&a, p, &to, &old, &nr_queues);
	else
		ret = kfd_prio_set_group(&a, p, &to, &old, &nr_queues);
	if (p)
		kfd_prio_process_drop(p);
	if (ret && ret != -EIO && ret != -ETIME)
		return ret;

	a.old_priority = old;
	a.nr_queues = nr_queues;
	if (copy_to_user(arg, &a, min(size, sizeof(a))))
		return -EFAULT;
	return ret;
}

static long kfd_prio_ioctl_get(void __user *arg, size_t size)
{
	struct kfd_prio_list_entry sum = { .effective = KFD_PRIO_UNSET };
	struct kfd_prio_get_args a;
	struct kfd_prio_values v;
	struct task_struct *task;
	struct kfd_process *p = NULL;
	int i, ret;

	if (size < KFD_PRIO_GET_SIZE_1_0)
		return -EINVAL;
	ret = copy_struct_from_user(&a, sizeof(a), arg, size);
	if (ret)
		return ret;
	if (a.flags)
		return -EINVAL;
	task = kfd_prio_task_get(a.pid, a.pidfd, a.start_ns);
	if (IS_ERR(task))
		return PTR_ERR(task);

	rcu_read_lock();
	v = kfd_prio_table_read(task_tgid(task));
	rcu_read_unlock();
	while ((p = kfd_prio_processes_next(p)))
		if (same_thread_group(p->lead_thread, task) && !READ_ONCE(p->prio.gone) &&
		    !kfd_prio_orphan_check(p))
			for (i = 0; i < p->n_pdds; i++)
				kfd_prio_list_count(p->pdds[i], &sum);
	put_task_struct(task);

	a.priority = v.prio;
	a.set_by = v.by;
	a.never_parked_by = v.never_by;
	a.effective = sum.effective;
	a.nr_queues = sum.nr_queues;
	return copy_to_user(arg, &a, min(size, sizeof(a))) ? -EFAULT : 0;
}

/**
 * kfd_prio_hook_ioctl() - handle an ioctl for which kfd_prio_owns_ioctl() returns true
 * @filep: file of /dev/kfd
 * @cmd: ioctl command, with the size of the caller's struct
 * @arg: user address of the struct
 *
 * Context: process, may sleep; no lock
 * Return: 0, or an error that kfd_prio.h lists; -ENOTTY for a number in the range of kfdprio that
 *	does not exist; -EBADF for an ioctl of KFD on a file that is for ioctls of kfdprio only
 */
long kfd_prio_hook_ioctl(struct file *filep, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;
	size_t size = _IOC_SIZE(cmd);
	long ret;

	switch (cmd & ~IOCSIZE_MASK) {
	case KFD_PRIO_IOC_VERSION & ~IOCSIZE_MASK:
		return kfd_prio_ioctl_version(user, size);
	case KFD_PRIO_IOC_SET & ~IOCSIZE_MASK:
		ret = kfd_prio_ioctl_set(user, size);
		kfd_prio_process_orphans_now();
		return ret;
	case KFD_PRIO_IOC_GET & ~IOCSIZE_MASK:
		ret = kfd_prio_ioctl_get(user, size);
		kfd_prio_process_orphans_now();
		return ret;
	case KFD_PRIO_IOC_LIST & ~IOCSIZE_MASK:
		return kfd_prio_list_ioctl(user, size);
	case KFD_PRIO_IOC_NOTIFY & ~IOCSIZE_MASK:
		return kfd_prio_notify_ioctl(user, size);
	case KFD_PRIO_IOC_GPUS & ~IOCSIZE_MASK:
		return kfd_prio_totals_ioctl(user, size);
	case KFD_PRIO_IOC_SHARE & ~IOCSIZE_MASK:
		return kfd_prio_share_ioctl(user, size);
	case KFD_PRIO_IOC_SHARES & ~IOCSIZE_MASK:
		return kfd_prio_shares_ioctl(user, size);
	}
	if (_IOC_TYPE(cmd) == KFD_PRIO_IOC_MAGIC && _IOC_NR(cmd) >= KFD_PRIO_IOC_FIRST)
		return -ENOTTY;
	return -EBADF;
}
