// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the list of published KFD processes, and the count that keeps one of them in place.
 *
 * kfd_processes_table holds a process before create_process() has succeeded, and the error paths of
 * create_process() free it at once.  This list holds a process from the success of create_process()
 * until the release of the process, with everything that belongs to it: its PDDs, its queues, its
 * task.
 *
 * A holder is counted in kfd_prio_process.users, and not in kfd_process.ref: kfd_create_process()
 * flushes the releases that are queued before it makes another process with the same PID (after
 * exec).  A release that a holder of kfd_process.ref delays would not be queued yet.  A release
 * that waits for a holder here is queued, and so waited for.
 *
 * The release waits for all holders.  A holder may sleep and may take DQM locks; it must not wait
 * for a release, nor for the creation of a process.
 */
#include <linux/delay.h>
#include <linux/wait.h>
#include "kfd_prio_priv.h"

static LIST_HEAD(kfd_prio_processes);
static DEFINE_SPINLOCK(kfd_prio_processes_lock);
static DECLARE_WAIT_QUEUE_HEAD(kfd_prio_processes_wait);
static u64 kfd_prio_processes_serial;	/* kfd_prio_processes_lock */

/**
 * kfd_prio_hook_process_created() - create_process() is about to return a process
 * @p: the process, or a further context of one (Linux 7.x)
 *
 * Context: kfd_processes_mutex
 */
void kfd_prio_hook_process_created(struct kfd_process *p)
{
	kfd_prio_drain_init(p);
	kfd_prio_identity_begin(p);
	spin_lock(&kfd_prio_processes_lock);
	p->prio.family = kfd_prio_processes_serial + 1;
	p->prio.users = 1;
	p->prio.live = true;
	/* what was made, then the number: pairs with kfd_prio_hook_process_found() */
	smp_store_release(&p->prio.serial, ++kfd_prio_processes_serial);
	list_add_tail(&p->prio.link, &kfd_prio_processes);
	spin_unlock(&kfd_prio_processes_lock);
}

/**
 * kfd_prio_hook_process_found() - KFD has looked up the process of a task
 * @p: in: the process, or NULL; out: NULL if it is not published
 *
 * A process that is still being made is not for ioctls and mmap(2): a debugger could attach to it,
 * and a thread of it that has a file from before exec could map its doorbells and trap handler,
 * which the error path of create_process() frees.
 *
 * Context: kfd_processes_srcu
 */
void kfd_prio_hook_process_found(struct kfd_process **p)
{
	/* the number, then what was made: pairs with kfd_prio_hook_process_created() */
	if (*p && !smp_load_acquire(&(*p)->prio.serial))
		*p = NULL;
}

/**
 * kfd_prio_hook_process_failed() - create_process() fails, KFD's table has had the process
 * @p: the process, in no table any more; create_process() frees it next
 * @processes_mutex: kfd_processes_mutex, which is static in older trees
 * @refs: references that create_process() has at this point, and does not drop
 *
 * KFD finds processes in its table by PASID, at suspend, at a reset and in debugfs, and would use
 * what is freed.  Look-ups end with a grace period.  References that are left then are those of
 * interrupts and notifiers, for a moment.  No debugger has one: kfd_prio_hook_process_found().
 *
 * Each open and each exit of a KFD process needs kfd_processes_mutex, so it is not held here.
 * Nobody depends on it: the process is in no table, and the callers of create_process() only unlock
 * the mutex after an error.  Its PDDs keep GPUs as those of a process that exits do.
 *
 * Context: kfd_processes_mutex, which is dropped and taken again
 */
void kfd_prio_hook_process_failed(struct kfd_process *p, struct mutex *processes_mutex,
				  unsigned int refs)
{
	lockdep_assert_held(processes_mutex);
	mutex_unlock(processes_mutex);
	synchronize_srcu(&kfd_processes_srcu);
	while (kref_read(&p->ref) > refs)
		usleep_range(500, 1000);
	WARN_ON_ONCE(kref_read(&p->ref) != refs);
	/* the others' last use of the process, then its end */
	smp_mb();
	/* resume and restore are by table; nothing queues them now */
	cancel_delayed_work_sync(&p->eviction_work);
	cancel_delayed_work_sync(&p->restore_work);
	mutex_lock(processes_mutex);
}

/**
 * kfd_prio_hook_process_nameless() - KFD could not make the sysfs directory of a process
 * @p: the process; its directory was given back
 *
 * A process that has executed another program with a descriptor of /dev/kfd open has left the
 * directory of its PID behind.  KFD would free the new one a second time when the process ends.
 *
 * Context: kfd_processes_mutex
 */
void kfd_prio_hook_process_nameless(struct kfd_process *p)
{
	p->kobj = NULL;
}

static bool kfd_prio_process_unused(struct kfd_process *p)
{
	bool unused;

	spin_lock(&kfd_prio_processes_lock);
	unused = !p->prio.users;
	spin_unlock(&kfd_prio_processes_lock);
	return unused;
}

/**
 * kfd_prio_hook_process_release() - KFD is about to destroy the queues of a process and free it
 * @p: the process; its last reference is gone
 *
 * There is no new holder from now on.  Nothing of the process is destroyed before the last holder
 * has dropped it.
 *
 * Context: KFD's workqueue, no lock
 */
void kfd_prio_hook_process_release(struct kfd_process *p)
{
	/* no new holder: users who hold it in turns must not keep it for ever */
	spin_lock(&kfd_prio_processes_lock);
	p->prio.live = false;
	spin_unlock(&kfd_prio_processes_lock);
	/* the count that the list has had */
	kfd_prio_process_drop(p);
	wait_event(kfd_prio_processes_wait, kfd_prio_process_unused(p));
	spin_lock(&kfd_prio_processes_lock);
	list_del(&p->prio.link);
	spin_unlock(&kfd_prio_processes_lock);
	kfd_prio_identity_end(p);
}

/**
 * kfd_prio_process_hold() - keep a process from being released
 * @p: the process, whose memory the caller knows to be there: it holds the DQM lock of a GPU where
 *	the process is registered, for example
 *
 * Context: process; any lock of the engine
 * Return: false if the process is not published, or its release has begun
 */
bool kfd_prio_process_hold(struct kfd_process *p)
{
	bool held;

	spin_lock(&kfd_prio_processes_lock);
	held = p->prio.live;
	p->prio.users += held;
	spin_unlock(&kfd_prio_processes_lock);
	return held;
}

/**
 * kfd_prio_process_drop() - let a process that is held be released
 * @p: the process; it may be gone when this returns
 *
 * Context: process; any lock of the engine
 */
void kfd_prio_process_drop(struct kfd_process *p)
{
	bool unused;

	spin_lock(&kfd_prio_processes_lock);
	unused = !--p->prio.users;
	spin_unlock(&kfd_prio_processes_lock);
	/* the process may be gone */
	if (unused)
		wake_up_all(&kfd_prio_processes_wait);
}

/**
 * kfd_prio_processes_next() - walk over all published processes
 * @prev: the process that the last call returned; NULL begins the walk.  It is dropped
 *
 * A walk that ends early drops the process that it has.  A process that is published meanwhile is
 * found by the walk, as new ones are at the end.
 *
 * Context: process, may not hold a DQM lock: the next process may be of any GPU
 * Return: the next process, held; NULL at the end
 */
struct kfd_process *kfd_prio_processes_next(struct kfd_process *prev)
{
	struct list_head *at = prev ? &prev->prio.link : &kfd_prio_processes;
	struct kfd_process *next = NULL, *p;

	spin_lock(&kfd_prio_processes_lock);
	for (at = at->next; at != &kfd_prio_processes; at = at->next) {
		p = list_entry(at, struct kfd_process, prio.link);
		if (p->prio.live) {
			p->prio.users++;
			next = p;
			break;
		}
	}
	spin_unlock(&kfd_prio_processes_lock);
	if (prev)
		kfd_prio_process_drop(prev);
	return next;
}
