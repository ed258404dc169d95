// SPDX-License-Identifier: GPL-2.0 OR MIT
/* kfdprio: the process that the caller of an ioctl names, and the permission over it. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/pid_namespace.h>
#include "kfd_prio_priv.h"

/*
 * Checks that a PID and a pidfd name the same process.
 *
 * The kernel exports no function that resolves a pidfd, so the function only compares it. Both
 * kinds of pidfd hold the struct pid: older ones in the file, newer ones in the inode. Neither
 * pointer is followed. The result grants no permission; permission is checked for the task.
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

/**
 * kfd_prio_task_get() - find the process that the caller of an ioctl names
 * @nr: its PID in the caller's PID namespace
 * @pidfd: a pidfd of it; ignored if @start_ns is not 0
 * @start_ns: 0, or when the process began, as in struct kfd_prio_set_args
 *
 * Context: process, may sleep
 * Return: the task that leads the thread group, referenced; -EINVAL, -EBADF or -ESRCH, see
 *	kfd_prio_set_args
 */
struct task_struct *kfd_prio_task_get(int nr, int pidfd, u64 start_ns)
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
		err = -EINVAL;		/* a thread that leads no group */
	rcu_read_unlock();
	if (!task)
		goto err_pid;
	/* READ_ONCE(): the task may change other flags of itself now, as dqm_lock() does */
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

/**
 * kfd_prio_may_touch() - whether the caller has permission over a process
 * @task: the process
 *
 * As for nice(2): a process of the caller's user, or CAP_SYS_NICE over the user namespace of the
 * process.
 *
 * Context: process
 */
bool kfd_prio_may_touch(struct task_struct *task)
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
