// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the hooks in the life of a queue and of a runlist.  Each traces what happens and calls
 * the one function below that acts on it.  Other hooks are beside what they need: those of /dev/kfd
 * in kfd_prio_ioctl.c, of doorbells in kfd_prio_fault.c.
 *
 * The priority that hardware sees is always queue_properties.priority; KFD makes
 * the MQD and MES input from it.  It is what is set for the process, or else what
 * the owner has asked for (kfd_prio_queue.requested).  Both are joined under the DQM
 * lock, in kfd_prio_hook_create_queue(), _resolve_priority() and
 * kfd_prio_dqm_apply(): the last of them to run reads the table last.
 */
#include "kfd_prio_priv.h"
#include "kfd_prio_events.h"

/* The priority that a queue must have now.  DQM lock */
static u32 kfd_prio_of_queue(struct queue *q)
{
	int prio = kfd_prio_of_process(q->process);

	return prio == KFD_PRIO_UNSET ? q->prio.requested : prio;
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
	kfd_prio_process_queue_created(dqm, qpd, q);
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
	kfd_prio_process_queue_changed(q);
}

/**
 * kfd_prio_hook_destroy_queue() - a queue is gone, or could not be destroyed
 * @q: the queue; NULL for a kernel queue or one that never came to be
 * @reason: why it is destroyed
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
		kfd_prio_process_queue_changed(q);
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
	kfd_prio_runlist_sent(dqm, ret);
	kfd_prio_engine_mapped(dqm, ret);
	if (ret || !trace_kfd_map_queue_enabled())
		return;
	list_for_each_entry(cur, &dqm->queues, list)
		list_for_each_entry(q, &cur->qpd->queues_list, list)
			if (q->properties.is_active)
				trace_kfd_map_queue(q, KFD_PRIO_GANG_NONE, 0);
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
	kfd_prio_runlist_unmap(dqm);
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
		kfd_prio_unmap_done(dqm, ret);
	else
		kfd_prio_engine_unmapping(dqm);
}

/**
 * kfd_prio_hook_unmap_wait() - KFD is about to wait for the unmap that was sent
 * @dqm: of its GPU
 * @ret: out: what KFD's function returns
 *
 * Context: DQM lock
 * Return: true if KFD shall return at once, see kfd_prio_unmap_wait()
 */
bool kfd_prio_hook_unmap_wait(struct device_queue_manager *dqm, int *ret)
{
	if (!kfd_prio_unmap_wait(dqm, ret))
		return false;
	/* KFD, which has not waited, does not know of the hang */
	if (*ret == -ETIME)
		kfd_prio_dqm_hang(dqm);
	return true;
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
	kfd_prio_unmap_done(dqm, ret);
}

/**
 * kfd_prio_hook_map_prepare() - an operation of KFD is about to send its runlist
 * @dqm: of its GPU
 *
 * Context: DQM lock
 */
void kfd_prio_hook_map_prepare(struct device_queue_manager *dqm)
{
	kfd_prio_engine_mapping(dqm);
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
	kfd_prio_evicted(dqm, qpd);
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
	trace_kfd_restore_process(qpd, ret);
	kfd_prio_restored(dqm, qpd);
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
 * kfd_prio_hook_drain_interrupts() - KFD is about to send an interrupt and to wait until it is
 * handled
 * @p: the process for which; irq_drain_is_open is set
 *
 * KFD finds the process of an interrupt in its table.  A process that exits has left the table when
 * KFD detaches its debugger, so the wait would have no end.  Neither would the SRCU section of the
 * MMU notifier, in which KFD waits: every later process with an MMU notifier would hang in its
 * exit.  Interrupts of such a process have no effect, so KFD need not wait for them.  A process
 * that leaves the table later ends the wait: kfd_prio_hook_process_unhashed().
 *
 * Context: process lock, or the mm of the process or of its debugger goes
 * Return: true if KFD shall not wait
 */
bool kfd_prio_hook_drain_interrupts(struct kfd_process *p)
{
	/* irq_drain_is_open, then the table: pairs with kfd_prio_hook_process_unhashed() */
	smp_mb();
	if (!hlist_unhashed_lockless(&p->kfd_processes))
		return false;
	kfd_prio_drain_end(p);
	return true;
}

/**
 * kfd_prio_hook_process_unhashed() - a process has left KFD's table
 * @p: the process; its creation had succeeded
 *
 * A debugger that exits detaches itself from @p in an SRCU section of KFD's table.  If it waits for
 * an interrupt there, the interrupt may find @p no more.  The debugger would then wait for the
 * interrupt, and the caller, which waits for a grace period next, for the debugger.
 *
 * Context: kfd_processes_mutex
 */
void kfd_prio_hook_process_unhashed(struct kfd_process *p)
{
	/* the table, then irq_drain_is_open: pairs with kfd_prio_hook_drain_interrupts() */
	smp_mb();
	kfd_prio_drain_end(p);
}

/**
 * kfd_prio_hook_queue_nameless() - KFD is about to remove the sysfs directory of a queue
 * @q: the queue
 *
 * A process without a directory (kfd_prio_hook_process_nameless()) makes none for its queues, and
 * KFD would remove a kobject that was never initialised.  A kobject whose addition failed was given
 * back already.
 *
 * Context: process lock, or the last release of the process
 * Return: true if there is no directory
 */
bool kfd_prio_hook_queue_nameless(struct queue *q)
{
	return !q->kobj.state_in_sysfs;
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
	if (ret)
		kfd_prio_breaker_suspect(dqm, q);
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
	dqm->prio.mes_queue = q;
	trace_kfd_unmap_queues(dqm, q, KFD_PRIO_FILTER_MES_QUEUE, q->properties.doorbell_off);
}
