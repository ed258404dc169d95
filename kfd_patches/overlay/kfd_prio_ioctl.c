// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: ioctls on /dev/kfd.  The wire is described in
 * kfd_prio.h (include/uapi/linux/kfd_prio.h).
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/pid_namespace.h>
#include <linux/sort.h>
#include "kfd_prio_priv.h"
#include "kfd_prio_events.h"

/* The size of each struct at version 1.0: shorter ones never existed */
#define KFD_PRIO_SET_SIZE_1_0		24
#define KFD_PRIO_GET_SIZE_1_0		24
#define KFD_PRIO_LIST_SIZE_1_0		24
#define KFD_PRIO_ENTRY_SIZE_1_0		32

/**
 * kfd_prio_hook_open() - is this file for ioctls alone?
 * @filep: just opened
 *
 * Access mode 3 of open(2) means "ioctl only"; such a file gets no kfd_process.
 */
bool kfd_prio_hook_open(struct file *filep)
{
	return (filep->f_flags & O_ACCMODE) == O_ACCMODE;
}

/**
 * kfd_prio_owns_ioctl() - is this call ours?
 * @filep: of /dev/kfd
 * @cmd: ioctl command
 *
 * Every call on a file that has no kfd_process is: KFD would dereference it.  KFD looks at
 * none before this one, so that here is where a call for a queue begins.
 */
bool kfd_prio_owns_ioctl(struct file *filep, unsigned int cmd)
{
	/* the number alone, as KFD does: the size grows with the struct */
	if (trace_kfd_ioctl_create_queue_enabled() && filep->private_data &&
	    _IOC_NR(cmd) == _IOC_NR(AMDKFD_IOC_CREATE_QUEUE))
		trace_kfd_ioctl_create_queue(current->tgid);
	return !filep->private_data ||
	       (_IOC_TYPE(cmd) == KFD_PRIO_IOC_MAGIC && _IOC_NR(cmd) >= KFD_PRIO_IOC_FIRST);
}

/*
 * Do a PID and a pidfd name the same process?
 *
 * The kernel lets no module resolve a pidfd, so it is only compared: both
 * kinds of pidfd hold the struct pid, the older in the file, the newer in the
 * inode.  Neither pointer is followed.  No right hangs on the result: what the
 * caller may do is checked on the task.
 *
 * Return: 0, -EBADF or -ESRCH
 */
static int kfd_prio_pidfd_check(const struct pid *pid, int pidfd)
{
	struct file *f = fget(pidfd);
	bool same;

	if (!f)
		return -EBADF;
	same = f->private_data == pid || file_inode(f)->i_private == pid;
	fput(f);
	return same ? 0 : -ESRCH;
}

/*
 * The process that a number in the caller's PID namespace and a pidfd agree on; or, with @start_ns,
 * the number and the time at which it began.
 */
static struct task_struct *kfd_prio_task_get(int nr, int pidfd, u64 start_ns)
{
	struct task_struct *task;
	struct pid *pid;
	int err;

	if (nr <= 0)
		return ERR_PTR(-EINVAL);
	pid = find_get_pid(nr);
	if (!pid)
		return ERR_PTR(-ESRCH);

	err = start_ns ? 0 : kfd_prio_pidfd_check(pid, pidfd);
	if (err)
		goto err_pid;

	err = -ESRCH;
	rcu_read_lock();
	task = pid_task(pid, PIDTYPE_TGID);
	if (task)
		get_task_struct(task);
	else if (pid_task(pid, PIDTYPE_PID))
		err = -EINVAL;		/* a thread */
	rcu_read_unlock();
	if (!task)
		goto err_pid;
	/* its own business, which may change other bits now: dqm_lock() does */
	if (READ_ONCE(task->flags) & PF_KTHREAD) {
		put_task_struct(task);
		err = -EINVAL;
		goto err_pid;
	}
	if (start_ns && start_ns != kfd_prio_notify_start(task)) {
		put_task_struct(task);
		goto err_pid;
	}
	put_pid(pid);
	return task;

err_pid:
	put_pid(pid);
	return ERR_PTR(err);
}

/* As for nice(2): one's own, or CAP_SYS_NICE over the namespace of the other */
static bool kfd_prio_may_touch(struct task_struct *task)
{
	const struct cred *mine = current_cred(), *theirs;
	bool ok;

	rcu_read_lock();
	theirs = __task_cred(task);
	ok = uid_eq(theirs->uid, mine->euid) || uid_eq(theirs->euid, mine->euid) ||
	     ns_capable(theirs->user_ns, CAP_SYS_NICE);
	rcu_read_unlock();
	return ok;
}

static long kfd_prio_ioctl_version(void __user *arg, size_t size)
{
	struct kfd_prio_version_args v = {
		.major = KFD_PRIO_VERSION_MAJOR,
		.minor = KFD_PRIO_VERSION_MINOR,
		.features = KFD_PRIO_FEATURE_PREEMPT | KFD_PRIO_FEATURE_RULES |
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
#define KFD_PRIO_SET_ALL	(KFD_PRIO_SET_PARK | KFD_PRIO_SET_KEEP | KFD_PRIO_SET_RULE)

static bool kfd_prio_set_valid(const struct kfd_prio_set_args *a)
{
	if (a->flags & ~KFD_PRIO_SET_ALL || (a->flags & KFD_PRIO_SET_PARK) == KFD_PRIO_SET_PARK)
		return false;
	return a->priority == KFD_PRIO_UNSET || (a->priority >= KFD_PRIO_MIN &&
			a->priority <= KFD_PRIO_MAX && !(a->flags & KFD_PRIO_SET_KEEP));
}

/*
 * How the caller sets a priority.  The capability is not used for that, and so not audited: the
 * permission that it gives is checked in kfd_prio_ioctl_set().
 */
static u32 kfd_prio_set_by(u32 flags)
{
	if (flags & KFD_PRIO_SET_RULE)
		return KFD_PRIO_BY_RULE;
	return ns_capable_noaudit(&init_user_ns, CAP_SYS_NICE) ? KFD_PRIO_BY_ADMIN :
								 KFD_PRIO_BY_USER;
}

static long kfd_prio_ioctl_set(void __user *arg, size_t size)
{
	struct kfd_prio_setting to;
	struct kfd_prio_set_args a;
	struct task_struct *task;
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

	task = kfd_prio_task_get(a.pid, a.pidfd, a.start_ns);
	if (IS_ERR(task))
		return PTR_ERR(task);

	ret = -EPERM;
	if (kfd_prio_may_touch(task)) {
		/* the capability is asked for, and so audited, only when needed */
		ret = kfd_prio_table_set(task, &to, false, &old);
		if (ret == -EPERM && capable(CAP_SYS_NICE))
			ret = kfd_prio_table_set(task, &to, true, &old);
	}
	if (!ret) {
		struct pid *pid;

		/* before a queue of it, or of a child, can ask for its claim */
		kfd_prio_thread_use(a.priority);
		rcu_read_lock();
		pid = get_pid(task_tgid(task));
		rcu_read_unlock();
		if (pid)
			ret = kfd_prio_process_apply(pid, &nr_queues);
		put_pid(pid);
		if (!to.keep)
			trace_kfd_set_priority(task_tgid_nr(task), a.priority, old,
					       task_tgid_nr(current), KFD_PRIO_SOURCE_IOCTL,
					       nr_queues, ret);
	}
	put_task_struct(task);
	if (ret && ret != -EIO && ret != -ETIME)
		return ret;

	a.old_priority = old;
	a.nr_queues = nr_queues;
	if (copy_to_user(arg, &a, min(size, sizeof(a))))
		return -EFAULT;
	return ret;
}

/* Adds the queues of one process on one GPU to @e.  Return: false if the GPU is gone */
static bool kfd_prio_count(struct kfd_process_device *pdd, struct kfd_prio_list_entry *e)
{
	struct device_queue_manager *dqm = pdd->qpd.dqm;
	struct kfd_prio_qpd *prio = &pdd->qpd.prio;
	struct queue *q;

	if (!kfd_prio_gpu_hold(dqm))
		return false;
	e->gpu_id = pdd->dev->id;
	dqm_lock(dqm);
	list_for_each_entry(q, &pdd->qpd.queues_list, list) {
		e->nr_queues++;
		e->nr_active += q->properties.is_active;
		e->effective = max_t(int, e->effective, q->properties.priority);
	}
	/* one count of evicted is ours while the process is preempted or parked */
	if (pdd->qpd.evicted > prio->preempted)
		e->flags |= KFD_PRIO_LIST_EVICTED;
	if (prio->parked)
		e->flags |= KFD_PRIO_LIST_PARKED;
	else if (kfd_prio_is_preempted(prio))
		e->flags |= KFD_PRIO_LIST_PREEMPTED;
	if (dqm->prio.counted &&
	    dqm->prio.pid == pdd->process->lead_thread->tgid)
		e->flags |= KFD_PRIO_LIST_PREEMPTING;
	if (dqm->prio.breaker != KFD_PRIO_BREAKER_CLOSED)
		e->flags |= KFD_PRIO_LIST_PREEMPT_OFF;
	e->preempted_count += prio->preempted_count;
	e->preempting_count += prio->preempting_count;
	e->preempted_ns += kfd_prio_preempted_ns(prio);
	e->parked_count += prio->parked_count;
	e->parked_ns += kfd_prio_parked_ns(prio);
	e->saved_count += prio->save.count;
	e->saved_ns += prio->save.sum_ns;
	e->saved_max_ns = max(e->saved_max_ns, prio->save.max_ns);
	dqm_unlock(dqm);
	kfd_prio_gpu_drop(dqm);
	return true;
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
		if (same_thread_group(p->lead_thread, task) && !READ_ONCE(p->prio.gone))
			for (i = 0; i < p->n_pdds; i++)
				kfd_prio_count(p->pdds[i], &sum);
	put_task_struct(task);

	a.priority = v.prio;
	a.set_by = v.by;
	a.never_parked_by = v.never_by;
	a.effective = sum.effective;
	a.nr_queues = sum.nr_queues;
	return copy_to_user(arg, &a, min(size, sizeof(a))) ? -EFAULT : 0;
}

static int kfd_prio_entry_cmp(const void *l, const void *r)
{
	const struct kfd_prio_list_entry *a = l, *b = r;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->gpu_id < b->gpu_id ? -1 : a->gpu_id > b->gpu_id;
}

/*
 * One entry per process and GPU: a process may have several contexts, with a kfd_process each
 * (Linux 7.x).  They have one priority and are preempted together.  Returns how many are left.
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
	}
	return last + 1;
}

/*
 * Fills up to @room entries with what is visible in the caller's PID namespace.
 * Returns how many there are.
 */
static u32 kfd_prio_collect(struct kfd_prio_list_entry *entries, u32 room)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct kfd_prio_values v;
	struct kfd_process *p = NULL;
	int i, pid, rows;
	u32 n = 0;

	while ((p = kfd_prio_processes_next(p))) {
		rcu_read_lock();
		pid = pid_nr_ns(task_tgid(p->lead_thread), ns);
		v = kfd_prio_table_read(task_tgid(p->lead_thread));
		rcu_read_unlock();
		if (!pid || READ_ONCE(p->prio.gone))
			continue;
		rows = max_t(int, p->n_pdds, 1);
		for (i = 0; i < rows; i++) {
			struct kfd_prio_list_entry *e = &entries[n];

			if (n >= room) {
				n++;
				continue;
			}
			memset(e, 0, sizeof(*e));
			e->pid = pid;
			e->priority = v.prio;
			e->set_by = v.by;
			e->never_parked_by = v.never_by;
			e->effective = KFD_PRIO_UNSET;
			if (v.never_by)
				e->flags |= KFD_PRIO_LIST_PARK_NEVER;
			if (!p->n_pdds || kfd_prio_count(p->pdds[i], e))
				n++;
		}
	}
	return n;
}

static long kfd_prio_ioctl_list(void __user *arg, size_t size)
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

	/* never more memory than there is to say, whatever the caller offers */
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

/**
 * kfd_prio_hook_ioctl() - an ioctl that KFD must not see
 * @filep: of /dev/kfd
 * @cmd: command; its size says how long the caller's struct is
 * @arg: user address of the struct
 *
 * Return: 0 or what kfd_prio.h says; -ENOTTY for a number of ours that does not
 * exist, -EBADF for one of KFD's on a file that is for our ioctls alone
 */
long kfd_prio_hook_ioctl(struct file *filep, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;
	size_t size = _IOC_SIZE(cmd);

	switch (cmd & ~IOCSIZE_MASK) {
	case KFD_PRIO_IOC_VERSION & ~IOCSIZE_MASK:
		return kfd_prio_ioctl_version(user, size);
	case KFD_PRIO_IOC_SET & ~IOCSIZE_MASK:
		return kfd_prio_ioctl_set(user, size);
	case KFD_PRIO_IOC_GET & ~IOCSIZE_MASK:
		return kfd_prio_ioctl_get(user, size);
	case KFD_PRIO_IOC_LIST & ~IOCSIZE_MASK:
		return kfd_prio_ioctl_list(user, size);
	case KFD_PRIO_IOC_NOTIFY & ~IOCSIZE_MASK:
		return kfd_prio_notify_ioctl(user, size);
	case KFD_PRIO_IOC_GPUS & ~IOCSIZE_MASK:
		return kfd_prio_totals_ioctl(user, size);
	}
	if (_IOC_TYPE(cmd) == KFD_PRIO_IOC_MAGIC && _IOC_NR(cmd) >= KFD_PRIO_IOC_FIRST)
		return -ENOTTY;
	return -EBADF;
}
