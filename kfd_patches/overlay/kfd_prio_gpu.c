// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the list of GPUs, and waking the thread of a GPU by a kick or by its timer.
 * kfd_prio_thread.c has the work of the thread.
 *
 * kfd_prio_gpu_mutex is outer to the DQM lock.
 */
#include <linux/kthread.h>
#include <linux/wait.h>
#include "kfd_prio_priv.h"
#include "kfd_prio_group.h"

static DEFINE_MUTEX(kfd_prio_gpu_mutex);
static LIST_HEAD(kfd_prio_gpus);	/* mutex and users_lock to write, either of them to read */
static DEFINE_SPINLOCK(kfd_prio_gpu_users_lock);
static DECLARE_BITMAP(kfd_prio_gpu_slots, KFD_PRIO_SLOTS);	/* in use; mutex */
static DECLARE_WAIT_QUEUE_HEAD(kfd_prio_gpu_wait_users);

/**
 * kfd_prio_gpu_kick() - wake the thread of a GPU, because something on the GPU has changed
 * @dqm: device queue manager of the GPU
 *
 * The thread observes what is due and runs a step, which marks again. If the GPU has no thread, the
 * kick stays recorded until the GPU gets one.
 *
 * Context: any
 */
void kfd_prio_gpu_kick(struct device_queue_manager *dqm)
{
	struct task_struct *thread;

	atomic_set(&dqm->prio.kicked, KFD_PRIO_KICKED);
	/* RCU keeps the thread in place: a GPU that is removed stops its thread */
	rcu_read_lock();
	thread = READ_ONCE(dqm->prio.thread);
	if (thread)
		wake_up_process(thread);
	rcu_read_unlock();
}

/* A timer of a GPU wakes its thread. A kick that is pending is kept. */
static enum hrtimer_restart kfd_prio_timer_wake(struct kfd_prio_dqm *d)
{
	struct task_struct *thread;

	atomic_cmpxchg(&d->kicked, KFD_PRIO_QUIET, KFD_PRIO_TIMER);
	/* The thread is stopped after the timers were cancelled */
	thread = READ_ONCE(d->thread);
	if (thread)
		wake_up_process(thread);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart kfd_prio_timer(struct hrtimer *timer)
{
	return kfd_prio_timer_wake(container_of(timer, struct kfd_prio_dqm, timer));
}

static enum hrtimer_restart kfd_prio_signal_timer(struct hrtimer *timer)
{
	return kfd_prio_timer_wake(container_of(timer, struct kfd_prio_dqm, signal_timer));
}

/**
 * kfd_prio_gpu_wake_at() - wake the thread of a GPU after an event, besides its timer
 * @d: the GPU, held
 * @at: when, ktime_get_ns(), unless an earlier call has not woken it yet
 *
 * Context: any
 */
void kfd_prio_gpu_wake_at(struct kfd_prio_dqm *d, u64 at)
{
	/*
	 * Orders the stores of the caller before the read of the timer's state: if the timer is
	 * queued, the thread that it wakes reads them
	 */
	smp_mb();
	if (!hrtimer_is_queued(&d->signal_timer))
		hrtimer_start(&d->signal_timer, ns_to_ktime(at), HRTIMER_MODE_ABS);
}

/**
 * kfd_prio_gpu_init() - initialise the lists and the timers of a new GPU
 * @dqm: device queue manager of the GPU
 *
 * Context: the GPU is being added, and no other code uses it yet
 */
void kfd_prio_gpu_init(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	d->dqm = dqm;
	INIT_LIST_HEAD(&d->claims);
	INIT_LIST_HEAD(&d->rung_claims);
	INIT_LIST_HEAD(&d->fresh_claims);
	INIT_LIST_HEAD(&d->trapped_claims);
	INIT_LIST_HEAD(&d->neighbours);
	INIT_LIST_HEAD(&d->quiet_neighbours);
	INIT_LIST_HEAD(&d->accounts);
	kfd_prio_timer_init(&d->timer, kfd_prio_timer);
	kfd_prio_timer_init(&d->signal_timer, kfd_prio_signal_timer);
}

/**
 * kfd_prio_gpu_wait() - wait until the GPU is kicked, its timer fires, or its thread shall stop
 * @d: the GPU
 *
 * Context: the GPU's thread
 * Return: the event; KFD_PRIO_QUIET if there was none: the thread waits again or stops
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
 * kfd_prio_gpu_has_grace() - whether the grace period of an unmap can be set
 * @dqm: device queue manager of the GPU
 *
 * KFD has the packet that sets it for the debugger, so the firmware must be one for which KFD
 * supports the debugger.
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
 * kfd_prio_gpu_lock() - lock the list of GPUs: none is added or removed until kfd_prio_gpu_unlock()
 *
 * Context: process, may sleep; outer to the DQM lock
 */
void kfd_prio_gpu_lock(void)
{
	mutex_lock(&kfd_prio_gpu_mutex);
}

/**
 * kfd_prio_gpu_unlock() - unlock the list of GPUs
 *
 * Context: kfd_prio_gpu_lock()
 */
void kfd_prio_gpu_unlock(void)
{
	mutex_unlock(&kfd_prio_gpu_mutex);
}

/**
 * kfd_prio_gpu_add() - add a GPU to the list
 * @d: the GPU
 *
 * Context: kfd_prio_gpu_lock()
 */
void kfd_prio_gpu_add(struct kfd_prio_dqm *d)
{
	lockdep_assert_held(&kfd_prio_gpu_mutex);
	d->slot = find_first_zero_bit(kfd_prio_gpu_slots, KFD_PRIO_SLOTS);
	if (d->slot < KFD_PRIO_SLOTS)
		__set_bit(d->slot, kfd_prio_gpu_slots);
	else
		d->slot = -1;
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
 * kfd_prio_gpu_del() - remove a GPU from the list, and wait until no user holds it
 * @d: the GPU
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
 * kfd_prio_gpu_slot_free() - give the number of a GPU to another one
 * @d: the GPU, which was removed from the list; no process on it has an account any more
 *
 * Context: kfd_prio_gpu_lock()
 */
void kfd_prio_gpu_slot_free(struct kfd_prio_dqm *d)
{
	lockdep_assert_held(&kfd_prio_gpu_mutex);
	if (d->slot >= 0)
		__clear_bit(d->slot, kfd_prio_gpu_slots);
	d->slot = -1;
}

/**
 * kfd_prio_gpu_kick_all() - kfd_prio_gpu_kick() for all GPUs
 *
 * Context: any but interrupts; DQM locks may be held
 */
void kfd_prio_gpu_kick_all(void)
{
	struct kfd_prio_dqm *d;

	spin_lock(&kfd_prio_gpu_users_lock);
	list_for_each_entry(d, &kfd_prio_gpus, link)
		kfd_prio_gpu_kick(d->dqm);
	spin_unlock(&kfd_prio_gpu_users_lock);
}

/**
 * kfd_prio_gpu_hold() - keep a GPU from being removed
 * @dqm: qcm_process_device.dqm of a process; only compared until the GPU is found in the list
 *
 * The PDD of a process outlives a GPU that is removed, and its pointers to the GPU are stale then.
 * The removal of a GPU waits for its holders under kfd_prio_gpu_lock().
 *
 * Context: process; any lock but kfd_prio_gpu_lock()
 * Return: true if the GPU is held, to be dropped with kfd_prio_gpu_drop(); false if it was removed
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
 * kfd_prio_gpu_drop() - drop a GPU that is held
 * @dqm: device queue manager of the GPU, which may be freed when this function returns
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
 * Return: the first GPU, or NULL
 */
struct kfd_prio_dqm *kfd_prio_gpu_first(void)
{
	lockdep_assert_held(&kfd_prio_gpu_mutex);
	return list_first_entry_or_null(&kfd_prio_gpus, struct kfd_prio_dqm, link);
}

/**
 * kfd_prio_gpu_next() - continue a walk over all GPUs
 * @d: the present GPU
 *
 * Context: kfd_prio_gpu_lock()
 * Return: the next GPU, or NULL
 */
struct kfd_prio_dqm *kfd_prio_gpu_next(struct kfd_prio_dqm *d)
{
	lockdep_assert_held(&kfd_prio_gpu_mutex);
	return list_is_last(&d->link, &kfd_prio_gpus) ? NULL : list_next_entry(d, link);
}
