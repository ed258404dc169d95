// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the list of the GPUs, and how the thread of a GPU is woken: by a kick from anywhere, or
 * by its timer.  What the thread does is in kfd_prio_thread.c.
 *
 * kfd_prio_gpu_mutex is outer to the DQM lock.
 */
#include <linux/kthread.h>
#include <linux/wait.h>
#include "kfd_prio_priv.h"

static DEFINE_MUTEX(kfd_prio_gpu_mutex);
static LIST_HEAD(kfd_prio_gpus);	/* both locks for writing, one of them for reading */
static DEFINE_SPINLOCK(kfd_prio_gpu_users_lock);
static DECLARE_WAIT_QUEUE_HEAD(kfd_prio_gpu_wait_users);

/**
 * kfd_prio_gpu_kick() - something has changed on a GPU: its thread shall look
 * @dqm: of the GPU
 *
 * Context: any
 */
void kfd_prio_gpu_kick(struct device_queue_manager *dqm)
{
	struct task_struct *thread;

	atomic_set(&dqm->prio.kicked, KFD_PRIO_KICKED);
	/* RCU: a GPU that goes stops its thread */
	rcu_read_lock();
	thread = READ_ONCE(dqm->prio.thread);
	if (thread)
		wake_up_process(thread);
	rcu_read_unlock();
}

static enum hrtimer_restart kfd_prio_timer(struct hrtimer *timer)
{
	struct kfd_prio_dqm *d = container_of(timer, struct kfd_prio_dqm, timer);
	struct task_struct *thread;

	atomic_cmpxchg(&d->kicked, KFD_PRIO_QUIET, KFD_PRIO_TIMER);
	/* it is stopped only after us */
	thread = READ_ONCE(d->thread);
	if (thread)
		wake_up_process(thread);
	return HRTIMER_NORESTART;
}

/**
 * kfd_prio_gpu_init() - a GPU comes: what it needs to be kicked
 * @dqm: of the GPU
 */
void kfd_prio_gpu_init(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	d->dqm = dqm;
	INIT_LIST_HEAD(&d->claims);
	INIT_LIST_HEAD(&d->neighbours);
	INIT_LIST_HEAD(&d->resting);
	kfd_prio_timer_init(&d->timer, kfd_prio_timer);
}

/**
 * kfd_prio_gpu_wait() - wait until a GPU is kicked, its timer fires, or its thread shall stop
 * @d: of the GPU
 *
 * Context: the GPU's thread
 * Return: which of them; KFD_PRIO_QUIET if none: wait again, or stop
 */
enum kfd_prio_kick kfd_prio_gpu_wait(struct kfd_prio_dqm *d)
{
	set_current_state(TASK_IDLE);
	if (!atomic_read(&d->kicked) && !kthread_should_stop())
		schedule();
	__set_current_state(TASK_RUNNING);
	return atomic_xchg(&d->kicked, KFD_PRIO_QUIET);
}

/**
 * kfd_prio_gpu_has_grace() - can the grace period of an unmap be set?
 * @dqm: of the GPU
 *
 * The packet that sets it is the debugger's, so the firmware must be one with which KFD lets a
 * debugger be used.
 *
 * Context: process, may sleep; not under the DQM lock
 */
bool kfd_prio_gpu_has_grace(struct device_queue_manager *dqm)
{
#ifdef HSA_CAP_TRAP_DEBUG_FIRMWARE_SUPPORTED
	struct kfd_topology_device *t = kfd_topology_device_by_id(dqm->dev->id);

	return t && (t->node_props.capability & HSA_CAP_TRAP_DEBUG_FIRMWARE_SUPPORTED) &&
	       !kfd_prio_uses_mes(dqm) && kfd_prio_tree_has_grace(dqm);
#else
	return false;
#endif
}

/**
 * kfd_prio_gpu_lock() - GPUs neither come nor go before kfd_prio_gpu_unlock()
 *
 * Context: process, may sleep; outer to the DQM lock
 */
void kfd_prio_gpu_lock(void)
{
	mutex_lock(&kfd_prio_gpu_mutex);
}

/**
 * kfd_prio_gpu_unlock() - GPUs may come and go again
 */
void kfd_prio_gpu_unlock(void)
{
	mutex_unlock(&kfd_prio_gpu_mutex);
}

/**
 * kfd_prio_gpu_add() - a GPU comes
 * @d: of the GPU
 *
 * Context: kfd_prio_gpu_lock()
 */
void kfd_prio_gpu_add(struct kfd_prio_dqm *d)
{
	lockdep_assert_held(&kfd_prio_gpu_mutex);
	spin_lock(&kfd_prio_gpu_users_lock);
	list_add_tail(&d->link, &kfd_prio_gpus);
	spin_unlock(&kfd_prio_gpu_users_lock);
}

static bool kfd_prio_gpu_unused(struct kfd_prio_dqm *d)
{
	bool unused;

	spin_lock(&kfd_prio_gpu_users_lock);
	unused = !d->users;
	spin_unlock(&kfd_prio_gpu_users_lock);
	return unused;
}

/**
 * kfd_prio_gpu_del() - a GPU goes; waits for those who hold it
 * @d: of the GPU
 *
 * Context: kfd_prio_gpu_lock(), no DQM lock
 */
void kfd_prio_gpu_del(struct kfd_prio_dqm *d)
{
	lockdep_assert_held(&kfd_prio_gpu_mutex);
	spin_lock(&kfd_prio_gpu_users_lock);
	list_del(&d->link);
	spin_unlock(&kfd_prio_gpu_users_lock);
	wait_event(kfd_prio_gpu_wait_users, kfd_prio_gpu_unused(d));
}

/**
 * kfd_prio_gpu_hold() - keep the GPU of a process from going
 * @dqm: qcm_process_device.dqm of the process; not followed before the GPU is known to be there
 *
 * A process keeps its PDD of a GPU that was removed, whose pointers to the GPU are stale.
 *
 * Context: process; any lock but kfd_prio_gpu_lock()
 * Return: false if the GPU is gone; else call kfd_prio_gpu_drop()
 */
bool kfd_prio_gpu_hold(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d;
	bool held = false;

	spin_lock(&kfd_prio_gpu_users_lock);
	list_for_each_entry(d, &kfd_prio_gpus, link) {
		if (d->dqm == dqm) {
			d->users++;
			held = true;
			break;
		}
	}
	spin_unlock(&kfd_prio_gpu_users_lock);
	return held;
}

/**
 * kfd_prio_gpu_drop() - let a GPU that is held go
 * @dqm: of the GPU; it may be gone when this returns
 *
 * Context: as kfd_prio_gpu_hold()
 */
void kfd_prio_gpu_drop(struct device_queue_manager *dqm)
{
	bool unused;

	spin_lock(&kfd_prio_gpu_users_lock);
	unused = !--dqm->prio.users;
	spin_unlock(&kfd_prio_gpu_users_lock);
	if (unused)
		wake_up_all(&kfd_prio_gpu_wait_users);
}

/**
 * kfd_prio_gpu_first() - begin a walk over all GPUs
 *
 * Context: kfd_prio_gpu_lock()
 * Return: ours of the first GPU, or NULL
 */
struct kfd_prio_dqm *kfd_prio_gpu_first(void)
{
	lockdep_assert_held(&kfd_prio_gpu_mutex);
	return list_first_entry_or_null(&kfd_prio_gpus, struct kfd_prio_dqm, link);
}

/**
 * kfd_prio_gpu_next() - the next GPU of a walk
 * @d: this one
 *
 * Context: kfd_prio_gpu_lock()
 * Return: ours of the next GPU, or NULL
 */
struct kfd_prio_dqm *kfd_prio_gpu_next(struct kfd_prio_dqm *d)
{
	lockdep_assert_held(&kfd_prio_gpu_mutex);
	return list_is_last(&d->link, &kfd_prio_gpus) ? NULL : list_next_entry(d, link);
}
