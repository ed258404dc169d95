// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the list of published KFD processes, and the holder count that delays their release.
 *
 * kfd_processes_table contains a process before create_process() has succeeded, and the error paths
 * of create_process() free it at once. This list contains a process from the success of
 * create_process() until the release of the process. For that time its PDDs, its queues and its
 * task stay in place.
 *
 * Holders are counted in kfd_prio_process.users and not in kfd_process.ref. After an exec,
 * kfd_create_process() flushes the queued releases before it creates another process with the same
 * PID. A release that is delayed by a holder of kfd_process.ref would not be queued yet, and so not
 * be flushed. A release that waits for a holder in kfd_prio_process.users is queued already.
 *
 * The release of a process waits for all its holders. A holder may sleep and may take DQM locks. It
 * must not wait for a release, nor for the creation of a process.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/wait.h>
#include "kfd_prio_priv.h"

static LIST_HEAD(kfd_prio_processes);
static DEFINE_SPINLOCK(kfd_prio_processes_lock);
static DECLARE_WAIT_QUEUE_HEAD(kfd_prio_processes_wait);
static u64 kfd_prio_processes_serial;	/* kfd_prio_processes_lock */

/*
 * For so long kfd_process_drain_interrupts() waits for an interrupt at most, ns. On the simulated
 * GPU the interrupt took milliseconds.
 */
#define KFD_PRIO_DRAIN_NS	(2ULL * NSEC_PER_SEC)

static enum hrtimer_restart kfd_prio_drain_timer(struct hrtimer *timer)
{
	kfd_prio_drain_end(container_of(timer, struct kfd_process, prio.drain_timer));
	return HRTIMER_NORESTART;
}

/**
 * kfd_prio_process_drains() - limit the time for which KFD waits for an interrupt of a process
 * @p: the process, published
 *
 * If the wait is ended early, KFD may handle an interrupt from before a debugger was detached after
 * that, and report its exception to the next debugger.
 *
 * Context: any
 */
void kfd_prio_process_drains(struct kfd_process *p)
{
	hrtimer_start(&p->prio.drain_timer, ktime_add_ns(ktime_get(), KFD_PRIO_DRAIN_NS),
		      HRTIMER_MODE_ABS);
}

/**
 * kfd_prio_hook_process_created() - create_process() is about to return a process
 * @p: the process, or a further context of one (Linux 7.x)
 *
 * Publishes the process: pins its mm and the PID of the thread group that created it (its lead
 * group), gives it its serial, and adds it to the list of all processes. From now on
 * kfd_prio_hook_process_found() shows it to KFD. kfd_prio_hook_process_release() undoes this.
 *
 * Context: kfd_processes_mutex
 */
void kfd_prio_hook_process_created(struct kfd_process *p)
{
	kfd_prio_drain_init(p);
	kfd_prio_timer_init(&p->prio.drain_timer, kfd_prio_drain_timer);
	kfd_prio_identity_begin(p);
	spin_lock(&kfd_prio_processes_lock);
	p->prio.family = kfd_prio_processes_serial + 1;
	p->prio.users = 1;
	p->prio.live = true;
	/* The members of @p, then its serial: pairs with kfd_prio_hook_process_found() */
	smp_store_release(&p->prio.serial, ++kfd_prio_processes_serial);
	list_add_tail(&p->prio.link, &kfd_prio_processes);
	spin_unlock(&kfd_prio_processes_lock);
}

/**
 * kfd_prio_hook_process_found() - KFD has looked up the process of a task
 * @p: in: the process, or NULL; out: NULL if the process is not published yet
 *
 * Hides a process that is still being created from ioctls and mmap(2). Otherwise a debugger could
 * attach to it, and a thread of it with a file from before an exec could map its doorbells and its
 * trap handler, which the error path of create_process() frees.
 *
 * Context: kfd_processes_srcu
 */
void kfd_prio_hook_process_found(struct kfd_process **p)
{
	/* The serial of *@p, then its other members: pairs with kfd_prio_hook_process_created() */
	if (*p && !smp_load_acquire(&(*p)->prio.serial))
		*p = NULL;
}

/**
 * kfd_prio_hook_process_failed() - create_process() fails after it has added a process to KFD's
 * table
 * @p: the process, already removed from the table; create_process() frees it next
 * @processes_mutex: kfd_processes_mutex, which is static in older trees
 * @refs: number of references that create_process() has at this point and does not drop
 *
 * KFD looks processes up in its table by PASID, at suspend, at a GPU reset and in debugfs, and
 * would use the freed process. The hook waits until such lookups have ended, which takes a grace
 * period, and then until only @refs references are left. Interrupts and notifiers hold the other
 * references for a short time. No debugger has one, see kfd_prio_hook_process_found().
 *
 * Each open of /dev/kfd and each exit of a KFD process needs kfd_processes_mutex, so the hook drops
 * it while it waits. Nothing depends on the mutex then: the process is in no table, and after
 * an error the callers of create_process() only unlock it. The PDDs of the process keep its GPUs in
 * place, as those of an exiting process do.
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
	/* The last use of @p by another CPU, then its end */
	smp_mb();
	/* Only lookups in the table queue these works, and no lookup finds @p any more */
	cancel_delayed_work_sync(&p->eviction_work);
	cancel_delayed_work_sync(&p->restore_work);
	mutex_lock(processes_mutex);
}

/**
 * kfd_prio_hook_process_nameless() - KFD could not create the sysfs directory of a process
 * @p: the process; KFD has dropped its kobject
 *
 * If a process executes another program while a descriptor of /dev/kfd is open, the directory of
 * its PID still exists, and creating the new one fails. KFD would drop the kobject a second time
 * when the process ends.
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
 * @p: the process, which has no reference left
 *
 * Refuses new holders, waits until the last holder has dropped the process, and unpublishes it.
 *
 * Context: KFD's workqueue, no lock
 */
void kfd_prio_hook_process_release(struct kfd_process *p)
{
	/* Callers that hold @p in turns must not keep it for ever */
	spin_lock(&kfd_prio_processes_lock);
	p->prio.live = false;
	spin_unlock(&kfd_prio_processes_lock);
	/* Drop the count that the list has */
	kfd_prio_process_drop(p);
	wait_event(kfd_prio_processes_wait, kfd_prio_process_unused(p));
	spin_lock(&kfd_prio_processes_lock);
	list_del(&p->prio.link);
	spin_unlock(&kfd_prio_processes_lock);
	kfd_prio_identity_end(p);
}

/**
 * kfd_prio_process_hold() - keep a process from being released
 * @p: the process. The caller guarantees that its memory is valid, for example by holding the DQM
 *	lock of a GPU on which the process is registered
 *
 * A holder may sleep; the release of the process waits for it. kfd_prio_process_drop() ends this.
 *
 * Context: process; any lock of the engine may be held
 * Return: true if the process is held; false if it is not published or its release has begun
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
 * kfd_prio_process_drop() - drop a process that is held
 * @p: the process, which may be freed when this function returns
 *
 * Context: process; any lock of the engine may be held
 */
void kfd_prio_process_drop(struct kfd_process *p)
{
	bool unused;

	spin_lock(&kfd_prio_processes_lock);
	unused = !--p->prio.users;
	spin_unlock(&kfd_prio_processes_lock);
	/* @p may be freed by now */
	if (unused)
		wake_up_all(&kfd_prio_processes_wait);
}

/**
 * kfd_prio_processes_next() - walk over all published processes
 * @prev: the process that the last call returned, which is dropped; NULL begins the walk
 *
 * A caller that ends the walk early drops the process that it has. A process that is published
 * during the walk is found, because new processes are added at the end of the list.
 *
 * Context: process; no DQM lock: the caller may take those of the GPUs of each process in turn
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
