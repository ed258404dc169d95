// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the life of a queue, its priority and its trace.
 *
 * The priority that hardware sees is always queue_properties.priority; KFD makes
 * the MQD and MES input from it.  It is what is set for the process, or else what
 * the owner has asked for (kfd_prio_queue.requested).  Both are joined under the DQM
 * lock, in kfd_prio_hook_create_queue(), _resolve_priority() and
 * kfd_prio_dqm_apply(): whoever comes last reads the table last.
 */
#include "kfd_prio_priv.h"
#include "kfd_prio_events.h"

/**
 * kfd_prio_of_process() - priority set for the process behind a kfd_process
 * @p: its KFD side; its task may have ended
 *
 * Context: any
 * Return: 0..15, or KFD_PRIO_UNSET
 */
int kfd_prio_of_process(struct kfd_process *p)
{
	int prio;

	rcu_read_lock();
	prio = kfd_prio_table_get(task_tgid(p->lead_thread));
	rcu_read_unlock();
	return prio;
}

/**
 * kfd_prio_of_queue() - priority that a queue must have now
 * @q: user queue
 *
 * Context: DQM lock
 */
u32 kfd_prio_of_queue(struct queue *q)
{
	int prio = kfd_prio_of_process(q->process);

	return prio == KFD_PRIO_UNSET ? q->prio.requested : prio;
}

/**
 * kfd_prio_apply() - bring the live queues of a thread group to its priority
 * @pid: the thread group
 * @nr_queues: out: number of its queues
 *
 * Every GPU is tried, also after an error.
 *
 * Context: process, may sleep; takes DQM locks, one after the other
 * Return: 0, or the first error of a GPU (-EIO in reset, -ETIME no answer)
 */
int kfd_prio_apply(struct pid *pid, u32 *nr_queues)
{
	struct kfd_process *p;
	unsigned int bkt;
	int i, r, idx, ret = 0;
	bool same;

	*nr_queues = 0;
	idx = srcu_read_lock(&kfd_processes_srcu);
	hash_for_each_rcu(kfd_processes_table, bkt, p, kfd_processes) {
		rcu_read_lock();
		same = task_tgid(p->lead_thread) == pid;
		rcu_read_unlock();
		if (!same)
			continue;
		for (i = 0; i < p->n_pdds; i++) {
			r = kfd_prio_dqm_apply(p->pdds[i], nr_queues);
			if (!ret)
				ret = r;
		}
	}
	srcu_read_unlock(&kfd_processes_srcu, idx);
	return ret;
}

/**
 * kfd_prio_hook_request_priority() - the owner asks for another priority
 * @q: its queue
 * @priority: 0..15; kfd_prio_hook_resolve_priority(), which comes next, decides what
 *	becomes of it
 *
 * Context: process lock
 * Return: true: KFD must not store it, which it would do without the DQM lock
 */
bool kfd_prio_hook_request_priority(struct queue *q, u32 priority)
{
	WRITE_ONCE(q->prio.asked, priority);
	return true;
}

/**
 * kfd_prio_hook_create_queue() - a queue is complete but for its MQD
 * @dqm: of its GPU
 * @qpd: its process on that GPU
 * @q: the queue; is_evicted tells if it may run
 *
 * Context: DQM lock
 */
void kfd_prio_hook_create_queue(struct device_queue_manager *dqm, struct qcm_process_device *qpd,
				struct queue *q)
{
	q->prio.asked = q->properties.priority;
	q->prio.requested = q->properties.priority;
	q->properties.priority = kfd_prio_of_queue(q);
	q->prio.announced = true;
	trace_kfd_create_queue(q);
	kfd_prio_engine_queue_created(dqm, qpd, q);
}

/**
 * kfd_prio_hook_init_mqd() - the MQD of a new queue was made
 * @dqm: of its GPU
 * @q: the queue
 * @restored: by CRIU, from an image that has the priority of its time in it
 *
 * Context: DQM lock
 */
void kfd_prio_hook_init_mqd(struct device_queue_manager *dqm, struct queue *q, bool restored)
{
	if (restored && q->properties.priority != q->prio.requested) {
		enum KFD_MQD_TYPE type = q->properties.type == KFD_QUEUE_TYPE_COMPUTE ?
					 KFD_MQD_TYPE_CP : KFD_MQD_TYPE_SDMA;
		bool active = q->properties.is_active;

		dqm->mqd_mgrs[type]->update_mqd(dqm->mqd_mgrs[type], q->mqd,
						&q->properties, NULL);
		q->properties.is_active = active;
	}
	trace_kfd_init_mqd(q);
}

/**
 * kfd_prio_hook_resolve_priority() - a queue is about to be updated
 * @dqm: of its GPU
 * @q: the queue
 *
 * Context: DQM lock
 */
void kfd_prio_hook_resolve_priority(struct device_queue_manager *dqm, struct queue *q)
{
	q->prio.requested = READ_ONCE(q->prio.asked);
	q->properties.priority = kfd_prio_of_queue(q);
}

/**
 * kfd_prio_hook_update_queue() - a queue was updated
 * @dqm: of its GPU
 * @q: the queue
 * @ret: 0, or why it failed
 *
 * Context: DQM lock
 */
void kfd_prio_hook_update_queue(struct device_queue_manager *dqm, struct queue *q, int ret)
{
	trace_kfd_update_queue(q, ret);
	kfd_prio_engine_queue_changed(q);
}

/**
 * kfd_prio_hook_destroy_queue() - a queue is gone, or could not be destroyed
 * @q: the queue; NULL for a kernel queue or one that never came to be
 * @reason: who destroys it
 * @ret: 0, or the error; but for -ETIME and -EIO a failed destruction leaves
 *	the queue in place
 *
 * Context: process lock, or the last release of the process
 */
void kfd_prio_hook_destroy_queue(struct queue *q, enum kfd_prio_destroy_reason reason, int ret)
{
	if (!q || !q->prio.announced)
		return;
	if (reason != KFD_PRIO_DESTROY_IOCTL || !ret || ret == -ETIME || ret == -EIO)
		q->prio.announced = false;
	trace_kfd_destroy_queue(q, reason, ret);
	if (reason == KFD_PRIO_DESTROY_IOCTL)
		kfd_prio_engine_queue_changed(q);
}

/* The unmap that a fault has left is over, or lost */
static void kfd_prio_unmap_settled(struct device_queue_manager *dqm, int ret)
{
	if (!dqm->prio.unmap_pending)
		return;
	dqm->prio.unmap_pending = false;
	kfd_prio_hook_unmap_done(dqm, ret);
}

/*
 * A runlist was sent, whoever has unmapped all queues.  None of them has run meanwhile, which may
 * take longer than linger_us: that time counts for no claim.
 */
static void kfd_prio_mapped(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	u64 now = ktime_get_ns();

	if (!d->unmapped_at)
		return;
	kfd_prio_claim_skip(dqm, d->unmapped_at);
	WRITE_ONCE(d->restored_at, now + min(now - d->unmapped_at, KFD_PRIO_RESTORE_MAX_NS));
	d->unmapped_at = 0;
}

/**
 * kfd_prio_hook_map_queues() - a runlist was sent
 * @dqm: of its GPU
 * @ret: 0, or why it was not
 *
 * Context: DQM lock
 */
void kfd_prio_hook_map_queues(struct device_queue_manager *dqm, int ret)
{
	struct device_process_node *cur;
	struct queue *q;

	trace_kfd_map_queues(dqm, ret);
	/* a reset came first: KFD sends no runlist before all is unmapped */
	kfd_prio_unmap_settled(dqm, -EIO);
	if (!ret)
		kfd_prio_mapped(dqm);
	kfd_prio_over_subscribed_keep(dqm);
	kfd_prio_engine_mapped(dqm, ret);
	if (ret || !trace_kfd_map_queue_enabled())
		return;
	list_for_each_entry(cur, &dqm->queues, list)
		list_for_each_entry(q, &cur->qpd->queues_list, list)
			if (q->properties.is_active)
				trace_kfd_map_queue(q, KFD_PRIO_GANG_NONE, 0);
}

static void kfd_prio_unmap_begin(struct device_queue_manager *dqm)
{
	dqm->prio.unmap_seq++;
	dqm->prio.unmap_running = trace_kfd_unmap_queues_enabled() ||
				  trace_kfd_unmap_queues_done_enabled();
	if (dqm->prio.unmap_running)
		dqm->prio.unmap_start = ktime_get();
}

/**
 * kfd_prio_hook_unmap_queues() - HWS is about to be told to unmap
 * @dqm: of its GPU
 * @filter: enum kfd_unmap_queues_filter
 * @param: a PASID if @filter says so
 *
 * Context: DQM lock
 */
void kfd_prio_hook_unmap_queues(struct device_queue_manager *dqm, u32 filter, u32 param)
{
	kfd_prio_unmap_settle(dqm);
	kfd_prio_unmap_begin(dqm);
	if (!dqm->prio.unmapped_at)
		dqm->prio.unmapped_at = ktime_get_ns();
	trace_kfd_unmap_queues(dqm, NULL, kfd_prio_filter_of(filter), param);
}

/**
 * kfd_prio_hook_unmap_sent() - HWS was told; an error ends the unmap
 * @dqm: of its GPU
 * @ret: 0, or why it was not
 *
 * Context: DQM lock
 */
void kfd_prio_hook_unmap_sent(struct device_queue_manager *dqm, int ret)
{
	if (ret)
		kfd_prio_hook_unmap_done(dqm, ret);
	else if (dqm->prio.unmap_first)
		kfd_prio_engine_unmapping(dqm);
}

/* Has HWS written the fence of the last unmap? */
static bool kfd_prio_unmapped(struct device_queue_manager *dqm)
{
	return READ_ONCE(*dqm->fence_addr) == KFD_FENCE_COMPLETED;
}

/**
 * kfd_prio_hook_unmap_wait() - KFD is about to wait for the unmap that was sent
 * @dqm: of its GPU
 * @ret: out: what KFD's function returns
 *
 * The fault of a doorbell waits for a few milliseconds.  It runs under the VMA lock or mmap_lock,
 * and no signal ends it: KFD's own wait, queue_preemption_timeout_ms, is too long there.
 *
 * Context: DQM lock
 * Return: true if KFD shall return at once: the unmap goes on, and must be settled before the
 * next one, see kfd_prio_unmap_settle()
 */
bool kfd_prio_hook_unmap_wait(struct device_queue_manager *dqm, int *ret)
{
	u64 end;

	if (!dqm->prio.in_fault)
		return false;
	end = ktime_get_ns() + KFD_PRIO_FAULT_WAIT_NS;
	while (!kfd_prio_unmapped(dqm)) {
		if (ktime_get_ns() >= end) {
			dqm->prio.unmap_pending = true;
			*ret = -EINPROGRESS;
			return true;
		}
		schedule();
	}
	return false;
}

/**
 * kfd_prio_unmap_settle() - wait for the unmap that a fault has left, if there is one
 * @dqm: of the GPU
 *
 * Two queries must not be under way at once: the fence would not say which of them is done.
 *
 * Context: DQM lock; waits as long as KFD does
 * Return: 0, or -ETIME if HWS does not answer
 */
int kfd_prio_unmap_settle(struct device_queue_manager *dqm)
{
	u64 end;

	lockdep_assert_held(&dqm->lock_hidden);
	if (!dqm->prio.unmap_pending || !dqm->active_runlist || !dqm->sched_running)
		return 0;
	end = ktime_get_ns() + (u64)queue_preemption_timeout_ms * NSEC_PER_MSEC;
	while (!kfd_prio_unmapped(dqm)) {
		if (ktime_get_ns() >= end || kfd_prio_resetting(dqm)) {
			kfd_prio_unmap_settled(dqm, -ETIME);
			return -ETIME;
		}
		kfd_prio_hook_fence_wait();
		schedule();
	}
	kfd_prio_unmap_settled(dqm, 0);
	return 0;
}

/**
 * kfd_prio_hook_unmap_done() - HWS or MES has answered, or not in time
 * @dqm: of its GPU
 * @ret: 0, or the error
 *
 * Context: DQM lock
 */
void kfd_prio_hook_unmap_done(struct device_queue_manager *dqm, int ret)
{
	/* -EIO: a reset is on its way already; -ENOMEM: nothing was sent */
	if (ret && ret != -EIO && ret != -ENOMEM && !kfd_prio_resetting(dqm))
		kfd_prio_breaker_trip(dqm, KFD_PRIO_BREAKER_UNMAP);
	if (!dqm->prio.unmap_running)
		return;
	dqm->prio.unmap_running = false;
	trace_kfd_unmap_queues_done(dqm, ret);
}

/**
 * kfd_prio_hook_evict_process() - the queues of a process were taken off a GPU
 * @dqm: of the GPU
 * @qpd: the process on that GPU
 * @ret: 0, or the error
 *
 * Context: DQM lock
 */
void kfd_prio_hook_evict_process(struct device_queue_manager *dqm,
				 struct qcm_process_device *qpd, int ret)
{
	trace_kfd_evict_process(qpd, ret);
	/* before a reset KFD evicts all processes */
	if (qpd->prio.preempted && kfd_prio_resetting(dqm))
		kfd_prio_breaker_trip(dqm, KFD_PRIO_BREAKER_RESET);
	/*
	 * KFD finds the queues off already and does nothing more.  What it does for its
	 * first reason is done here: the start of its own statistics, MQDs that hibernation
	 * would lose and, on MES, the flush without which memory could be freed under a late
	 * access.
	 */
	if (qpd->prio.preempted && qpd->evicted == 2) {
		qpd_to_pdd(qpd)->last_evict_timestamp = get_jiffies_64();
		kfd_prio_dqm_unpin(dqm, qpd);
		if (kfd_prio_uses_mes(dqm))
			kfd_prio_flush_tlb(qpd_to_pdd(qpd));
	}
	/* nobody owes it anything meanwhile */
	if (qpd->prio.preempted)
		kfd_prio_gpu_kick(dqm);
}

/**
 * kfd_prio_hook_restore_process() - the queues of a process were put back
 * @dqm: of the GPU
 * @qpd: the process on that GPU
 * @ret: 0, or the error
 *
 * Context: DQM lock
 */
void kfd_prio_hook_restore_process(struct device_queue_manager *dqm,
				   struct qcm_process_device *qpd, int ret)
{
	struct kfd_process_device *pdd = qpd_to_pdd(qpd);

	trace_kfd_restore_process(qpd, ret);
	if (qpd->prio.preempted && qpd->evicted == 1) {
		kfd_prio_dqm_inherit(dqm, qpd);
		atomic64_add(get_jiffies_64() - pdd->last_evict_timestamp,
			     &pdd->evict_duration_counter);
		kfd_prio_dqm_repin(dqm, qpd);
	}
	/* it may have rung before it was evicted */
	if (qpd->prio.mm)
		kfd_prio_gpu_kick(dqm);
}

/**
 * kfd_prio_hook_hws_hang() - the scheduler firmware does not answer
 * @dqm: of its GPU; KFD asks for a GPU reset next
 *
 * Context: DQM lock
 */
void kfd_prio_hook_hws_hang(struct device_queue_manager *dqm)
{
	trace_kfd_hws_hang(dqm);
	kfd_prio_breaker_trip(dqm, KFD_PRIO_BREAKER_HANG);
}

/**
 * kfd_prio_hook_queue_reset() - a queue that was in the way of an unmap was reset alone
 * @q: the queue; KFD takes it off for good, which may be while we preempt it
 *
 * Context: DQM lock
 */
void kfd_prio_hook_queue_reset(struct queue *q)
{
	q->prio.dead = true;
	q->prio.off = false;
}

/**
 * kfd_prio_hook_mes_priority() - KFD asks for the same level for every gang
 * @q: the queue that goes to MES
 * @level: in: what KFD chose; out: the level of the process, if one is set.
 *	KFD's three bands (pipe_priority_map) become LOW, NORMAL and HIGH; REALTIME
 *	stays free: MES lets it starve every other gang, its own kernel queues too
 *
 * Context: DQM lock
 */
void kfd_prio_hook_mes_priority(struct queue *q, u32 *level)
{
	static const u8 levels[] = {
		[KFD_PIPE_PRIORITY_CS_LOW] = AMDGPU_MES_PRIORITY_LEVEL_LOW,
		[KFD_PIPE_PRIORITY_CS_MEDIUM] = AMDGPU_MES_PRIORITY_LEVEL_NORMAL,
		[KFD_PIPE_PRIORITY_CS_HIGH] = AMDGPU_MES_PRIORITY_LEVEL_HIGH,
	};
	int prio = kfd_prio_of_process(q->process);

	if (prio != KFD_PRIO_UNSET)
		*level = levels[pipe_priority_map[prio]];
}

/**
 * kfd_prio_hook_mes_added() - MES has taken a queue, or not
 * @dqm: of its GPU
 * @q: the queue
 * @level: enum amdgpu_mes_priority_level of its gang
 * @ret: 0, or the error
 *
 * Context: DQM lock, MES lock
 */
void kfd_prio_hook_mes_added(struct device_queue_manager *dqm, struct queue *q, u32 level,
			     int ret)
{
	trace_kfd_map_queue(q, kfd_prio_gang_of(level), ret);
}

/**
 * kfd_prio_hook_mes_remove() - MES is about to be told to remove a queue
 * @dqm: of its GPU
 * @q: the queue
 *
 * Context: DQM lock, MES lock
 */
void kfd_prio_hook_mes_remove(struct device_queue_manager *dqm, struct queue *q)
{
	kfd_prio_unmap_begin(dqm);
	trace_kfd_unmap_queues(dqm, q, KFD_PRIO_FILTER_MES_QUEUE, q->properties.doorbell_off);
}
