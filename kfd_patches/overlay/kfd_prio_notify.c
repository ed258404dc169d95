// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: descriptors that report processes which open and leave KFD, KFD_PRIO_IOC_NOTIFY.
 *
 * A process is reported at its first open of /dev/kfd, before it has a queue. Fork is too early,
 * because most processes never use KFD. A service that polls would be late.
 *
 * Cost: while no descriptor is open, one static key that is off, at each open of /dev/kfd and at
 * each end of a process that uses it. Each descriptor has KFD_PRIO_NOTIFY_ROOM records, allocated
 * when it is opened. No event allocates memory, waits or fails.
 *
 * Lock: kfd_prio_notify_lock is a leaf and protects the list of descriptors and their records. It
 * is taken in process context only. read(2) copies to user space without it.
 *
 * Unload: an open descriptor holds a reference to the module.
 */
#include <linux/anon_inodes.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/time_namespace.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include "kfd_prio_priv.h"

/* Bit of kfd_prio_process.notified */
#define KFD_PRIO_NOTIFIED_OPENED	0

/* Sizes of the structs in version 1.5, the first one that has them */
#define KFD_PRIO_NOTIFY_SIZE_1_5	16
#define KFD_PRIO_RECORD_SIZE_1_5	32

/* Number of records that one pass of read(2) copies */
#define KFD_PRIO_NOTIFY_BATCH		16

/**
 * struct kfd_prio_notify - an open descriptor
 * @list: link in kfd_prio_notify_list
 * @ns: PID namespace of the process that opened the descriptor, referenced
 * @offset_ns: offset of that process's CLOCK_BOOTTIME, ns
 * @record_size: bytes of a record, a constant
 * @flags: KFD_PRIO_NOTIFY_NO_GONE, a constant
 * @wait: readers that wait for a record
 * @lost: number of records that were dropped since @records became full
 * @first: index of the oldest record
 * @nr: number of records
 * @records: ring buffer
 */
struct kfd_prio_notify {
	struct list_head list;
	struct pid_namespace *ns;
	u64 offset_ns;
	u32 record_size;
	u32 flags;
	wait_queue_head_t wait;
	u64 lost;
	u32 first, nr;
	struct kfd_prio_notify_record records[KFD_PRIO_NOTIFY_ROOM];
};

DEFINE_STATIC_KEY_FALSE(kfd_prio_notify_in_use);
static DEFINE_SPINLOCK(kfd_prio_notify_lock);
static LIST_HEAD(kfd_prio_notify_list);		/* kfd_prio_notify_lock */

/*
 * Adds a record to a descriptor. After one record was dropped, all further ones are dropped until
 * the reader has read the overflow record, so that records stay in order.
 */
static void kfd_prio_notify_add(struct kfd_prio_notify *n,
				const struct kfd_prio_notify_record *record)
{
	lockdep_assert_held(&kfd_prio_notify_lock);
	if (n->lost || n->nr == KFD_PRIO_NOTIFY_ROOM) {
		n->lost++;
	} else {
		n->records[(n->first + n->nr) % KFD_PRIO_NOTIFY_ROOM] = *record;
		n->nr++;
	}
	wake_up_interruptible(&n->wait);
}

/* Adds a record of a process to each descriptor in whose PID namespace the process is visible */
static void kfd_prio_notify_all(struct kfd_process *p, u32 type)
{
	struct kfd_prio_notify_record record = {
		.type = type,
		.serial = READ_ONCE(p->prio.family),
	};
	u64 start_ns = p->lead_thread->start_boottime;
	struct kfd_prio_notify *n;

	if (type == KFD_PRIO_NOTIFY_OPENED) {
		rcu_read_lock();
		record.euid = from_kuid_munged(&init_user_ns, __task_cred(p->lead_thread)->euid);
		rcu_read_unlock();
	}
	spin_lock(&kfd_prio_notify_lock);
	list_for_each_entry(n, &kfd_prio_notify_list, list) {
		if (type == KFD_PRIO_NOTIFY_GONE && n->flags & KFD_PRIO_NOTIFY_NO_GONE)
			continue;
		record.pid = pid_nr_ns(p->prio.lead, n->ns);
		record.start_ns = start_ns + n->offset_ns;
		if (record.pid)
			kfd_prio_notify_add(n, &record);
	}
	spin_unlock(&kfd_prio_notify_lock);
}

/**
 * kfd_prio_notify_opened() - report that a process has opened /dev/kfd, unless it was reported
 * before
 * @p: the process
 *
 * Context: process
 */
void kfd_prio_notify_opened(struct kfd_process *p)
{
	if (!test_and_set_bit(KFD_PRIO_NOTIFIED_OPENED, &p->prio.notified))
		kfd_prio_notify_all(p, KFD_PRIO_NOTIFY_OPENED);
}

/**
 * kfd_prio_notify_gone() - report that the mm of a process has lost its last user
 * @p: the process; further contexts of a process (Linux 7.x) are not reported
 *
 * Descriptors with KFD_PRIO_NOTIFY_NO_GONE get no record.
 *
 * Context: process
 */
void kfd_prio_notify_gone(struct kfd_process *p)
{
	if (!p->prio.mm)
		kfd_prio_notify_all(p, KFD_PRIO_NOTIFY_GONE);
}

/* Moves up to @room records to @to, an overflow record last. Returns their number. */
static u32 kfd_prio_notify_take(struct kfd_prio_notify *n, struct kfd_prio_notify_record *to,
				u32 room)
{
	u32 taken = 0;

	spin_lock(&kfd_prio_notify_lock);
	while (taken < room && n->nr) {
		to[taken++] = n->records[n->first];
		n->first = (n->first + 1) % KFD_PRIO_NOTIFY_ROOM;
		n->nr--;
	}
	if (taken < room && n->lost) {
		to[taken++] = (struct kfd_prio_notify_record){
			.type = KFD_PRIO_NOTIFY_OVERFLOW,
			.lost = n->lost,
		};
		n->lost = 0;
	}
	spin_unlock(&kfd_prio_notify_lock);
	return taken;
}

static bool kfd_prio_notify_ready(struct kfd_prio_notify *n)
{
	bool ready;

	spin_lock(&kfd_prio_notify_lock);
	ready = n->nr || n->lost;
	spin_unlock(&kfd_prio_notify_lock);
	return ready;
}

/* read(2): returns whole records, as many as fit; waits for the first without O_NONBLOCK */
static ssize_t kfd_prio_notify_read(struct file *file, char __user *buf, size_t count,
				    loff_t *ppos)
{
	struct kfd_prio_notify_record batch[KFD_PRIO_NOTIFY_BATCH];
	struct kfd_prio_notify *n = file->private_data;
	size_t done = 0;
	u32 i, taken;
	int ret;

	if (count < n->record_size)
		return -EINVAL;
	do {
		taken = kfd_prio_notify_take(n, batch,
					     min_t(size_t, (count - done) / n->record_size,
						   KFD_PRIO_NOTIFY_BATCH));
		/* If the reader's address is bad, the records that were taken for it are lost */
		for (i = 0; i < taken; i++, done += n->record_size)
			if (copy_to_user(buf + done, &batch[i], n->record_size))
				return done ? done : -EFAULT;
		if (taken || done)
			continue;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		ret = wait_event_interruptible(n->wait, kfd_prio_notify_ready(n));
		if (ret)
			return ret;
	} while (!done || (taken && count - done >= n->record_size));
	return done;
}

static __poll_t kfd_prio_notify_poll(struct file *file, poll_table *wait)
{
	struct kfd_prio_notify *n = file->private_data;

	poll_wait(file, &n->wait, wait);
	return kfd_prio_notify_ready(n) ? EPOLLIN | EPOLLRDNORM : 0;
}

static int kfd_prio_notify_release(struct inode *inode, struct file *file)
{
	struct kfd_prio_notify *n = file->private_data;

	spin_lock(&kfd_prio_notify_lock);
	list_del(&n->list);
	spin_unlock(&kfd_prio_notify_lock);
	static_branch_dec(&kfd_prio_notify_in_use);
	put_pid_ns(n->ns);
	kvfree(n);
	return 0;
}

static const struct file_operations kfd_prio_notify_fops = {
	.owner = THIS_MODULE,
	.read = kfd_prio_notify_read,
	.poll = kfd_prio_notify_poll,
	.release = kfd_prio_notify_release,
};

/* Offset from task_struct.start_boottime to the CLOCK_BOOTTIME of current, ns */
static u64 kfd_prio_notify_offset(void)
{
	return timens_add_boottime_ns(0);
}

/**
 * kfd_prio_notify_start() - start time of a process, as a record reports it to current
 * @task: the leader of the thread group
 *
 * Context: process
 * Return: ns of the CLOCK_BOOTTIME of current
 */
u64 kfd_prio_notify_start(const struct task_struct *task)
{
	return task->start_boottime + kfd_prio_notify_offset();
}

/*
 * Opens a descriptor.
 * @a: flags; record_size: in: bytes of a record as the caller knows it; out: bytes of a record that
 *	read(2) returns
 * @filep: out: file of the descriptor, which the caller installs
 */
static int kfd_prio_notify_open(struct kfd_prio_notify_args *a, struct file **filep)
{
	struct kfd_prio_notify *n;

	n = kvzalloc(sizeof(*n), GFP_KERNEL_ACCOUNT);
	if (!n)
		return -ENOMEM;
	init_waitqueue_head(&n->wait);
	n->ns = get_pid_ns(task_active_pid_ns(current));
	n->offset_ns = kfd_prio_notify_offset();
	n->flags = a->flags;
	n->record_size = min_t(u32, a->record_size, sizeof(struct kfd_prio_notify_record));
	*filep = anon_inode_getfile("kfd_prio_notify", &kfd_prio_notify_fops, n, O_RDONLY);
	if (IS_ERR(*filep)) {
		put_pid_ns(n->ns);
		kvfree(n);
		return PTR_ERR(*filep);
	}
	static_branch_inc(&kfd_prio_notify_in_use);
	spin_lock(&kfd_prio_notify_lock);
	list_add_tail(&n->list, &kfd_prio_notify_list);
	spin_unlock(&kfd_prio_notify_lock);
	a->record_size = n->record_size;
	return 0;
}

/**
 * kfd_prio_notify_ioctl() - KFD_PRIO_IOC_NOTIFY: open a descriptor that reports processes of KFD
 * @arg: user address of struct kfd_prio_notify_args, which is read and written
 * @size: size of the struct as the caller knows it
 *
 * read(2) on the descriptor returns a record for each process that opens KFD, and for each that
 * leaves it unless the caller has set KFD_PRIO_NOTIFY_NO_GONE. The descriptor is returned in *@arg.
 * The function checks that the caller has CAP_SYS_NICE.
 *
 * Context: process, may sleep; no lock
 * Return: 0, or an error that kfd_prio.h lists
 */
long kfd_prio_notify_ioctl(void __user *arg, size_t size)
{
	struct kfd_prio_notify_args a;
	struct file *file;
	int ret;

	if (size < KFD_PRIO_NOTIFY_SIZE_1_5)
		return -EINVAL;
	ret = copy_struct_from_user(&a, sizeof(a), arg, size);
	if (ret)
		return ret;
	if (a.flags & ~KFD_PRIO_NOTIFY_NO_GONE || a.pad ||
	    a.record_size < KFD_PRIO_RECORD_SIZE_1_5 || a.record_size % 8)
		return -EINVAL;
	if (!capable(CAP_SYS_NICE))
		return -EPERM;

	a.fd = get_unused_fd_flags(O_CLOEXEC);
	if (a.fd < 0)
		return a.fd;
	ret = kfd_prio_notify_open(&a, &file);
	if (ret)
		goto err_fd;
	ret = -EFAULT;
	if (copy_to_user(arg, &a, min(size, sizeof(a))))
		goto err_file;
	/* Last step: from here on another thread can close the descriptor */
	fd_install(a.fd, file);
	return 0;

err_file:
	fput(file);
err_fd:
	put_unused_fd(a.fd);
	return ret;
}
