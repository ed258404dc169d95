// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the hooks in the life of a queue and of a runlist. Each traces the event and calls one
 * function of a lower layer that acts on it. Other hooks are in the files whose state they use:
 * those of /dev/kfd in kfd_prio_ioctl.c, those of doorbells in kfd_prio_fault.c.
 *
 * The priority that hardware gets is always queue_properties.priority, from which KFD makes the MQD
 * and the input of MES. It is the priority that is set for the process, or else the one that the
 * owner has asked for (kfd_prio_queue.requested). kfd_prio_hook_create_queue(),
 * kfd_prio_hook_resolve_priority() and kfd_prio_dqm_apply() compute it under the DQM lock, so the
 * last of them to run uses the latest setting.
 */
#include "kfd_prio_engine.h"
#include "kfd_prio_events.h"

/* The priority in force for a queue. DQM lock */
static u32 kfd_prio_of_queue(struct queue *q)
{
	int prio = kfd_prio_of_process(q->process);

	return prio == KFD_PRIO_UNSET ? q->prio.requested : prio;
}

/**
 * kfd_prio_hook_request_priority() - the owner of a queue asks for another priority
 * @q: the queue
 * @priority: 0..15
 *
 * Records the request. kfd_prio_hook_resolve_priority(), which follows, computes the priority in
 * force.
 *
 * Context: process lock
 * Return: true: KFD must not store the priority, which it would do without the DQM lock
 */
bool kfd_prio_hook_request_priority(struct queue *q, u32 priority)
{
	WRITE_ONCE(q->prio.asked, priority);
	return true;
}

/**
 * kfd_prio_hook_create_queue() - a queue was created, but its MQD was not filled in yet
 * @dqm: device queue manager of its GPU
 * @qpd: its process on the GPU
 * @q: the queue; the hook sets its priority in force, and is_evicted if it must not run
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
 * kfd_prio_hook_init_mqd() - the MQD of a new queue was filled in
 * @dqm: device queue manager of its GPU
 * @q: the queue
 * @restored: CRIU has restored the MQD from an image, which contains the priority at the time of
 *	the dump
 *
 * Writes the priority in force to a restored MQD, if it is not the one that the owner asks for.
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
 * kfd_prio_hook_resolve_priority() - compute the priority of a queue that is about to be updated
 * @dqm: device queue manager of its GPU
 * @q: the queue, whose properties.priority the hook sets; KFD then makes the MQD from it
 *
 * Context: DQM lock
 */
void kfd_prio_hook_resolve_priority(struct device_queue_manager *dqm, struct queue *q)
{
	q->prio.requested = READ_ONCE(q->prio.asked);
	q->properties.priority = kfd_prio_of_queue(q);
}

/**
 * kfd_prio_hook_update_queue() - a queue was updated, or could not be
 * @dqm: device queue manager of its GPU
 * @q: the queue
 * @ret: 0, or the error
 *
 * The next decision computes the rank of the process again; a neighbour is observed again.
 *
 * Context: DQM lock
 */
void kfd_prio_hook_update_queue(struct device_queue_manager *dqm, struct queue *q, int ret)
{
	trace_kfd_update_queue(q, ret);
	kfd_prio_process_queue_changed(q);
}

/**
 * kfd_prio_hook_destroy_queue() - a queue was destroyed, or could not be
 * @q: the queue; NULL for a kernel queue or one whose creation failed early
 * @reason: why it is destroyed
 * @ret: 0, or the error; after any error but -ETIME and -EIO the queue still exists
 *
 * Traces the event only for a queue that kfd_create_queue has announced. If the owner has destroyed
 * the queue, the next decision computes the rank of the process again.
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
 * kfd_prio_hook_map_queues() - a runlist was sent, or has failed
 * @dqm: device queue manager of its GPU
 * @ret: 0, or the error
 *
 * After a failed runlist the engine arranges a retry. The time since the unmap before a runlist
 * that was sent does not count for the claims.
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
 * kfd_prio_hook_unmap_queues() - KFD is about to ask HWS for an unmap
 * @dqm: device queue manager of its GPU
 * @filter: enum kfd_unmap_queues_filter
 * @param: a PASID if @filter uses one
 *
 * First waits for an unmap that the fault of a doorbell has left.
 *
 * Context: DQM lock
 */
void kfd_prio_hook_unmap_queues(struct device_queue_manager *dqm, u32 filter, u32 param)
{
	kfd_prio_engine_unmap(dqm);
	trace_kfd_unmap_queues(dqm, NULL, kfd_prio_filter_of(filter), param);
}

/**
 * kfd_prio_hook_unmap_sent() - KFD has asked HWS for an unmap, or could not
 * @dqm: device queue manager of its GPU
 * @ret: 0, or the error, after which no unmap is in progress
 *
 * If a step has sent the unmap, the hook may decide and mark processes while the GPU saves waves,
 * see kfd_prio_engine_unmap_sent(). The next runlist has the processes as marked then.
 *
 * Context: DQM lock
 */
void kfd_prio_hook_unmap_sent(struct device_queue_manager *dqm, int ret)
{
	kfd_prio_engine_unmap_sent(dqm, ret);
}

/**
 * kfd_prio_hook_unmap_wait() - KFD is about to wait for the unmap that was sent
 * @dqm: device queue manager of its GPU
 * @ret: out: the result of KFD's function if this one returns true
 *
 * Context: DQM lock
 * Return: true if KFD shall return at once, see kfd_prio_engine_unmap_wait()
 */
bool kfd_prio_hook_unmap_wait(struct device_queue_manager *dqm, int *ret)
{
	return kfd_prio_engine_unmap_wait(dqm, ret);
}

/**
 * kfd_prio_hook_unmap_done() - HWS or MES has confirmed an unmap, or the unmap has failed
 * @dqm: device queue manager of its GPU
 * @ret: 0, or the error
 *
 * Context: DQM lock
 */
void kfd_prio_hook_unmap_done(struct device_queue_manager *dqm, int ret)
{
	kfd_prio_engine_unmap_done(dqm, ret);
}

/**
 * kfd_prio_hook_map_prepare() - KFD is about to send a runlist: decide which processes it has
 * @dqm: device queue manager of its GPU
 *
 * Context: DQM lock
 */
void kfd_prio_hook_map_prepare(struct device_queue_manager *dqm)
{
	kfd_prio_engine_mapping(dqm);
}

/**
 * kfd_prio_hook_evict_process() - KFD has evicted a process from a GPU
 * @dqm: device queue manager of the GPU
 * @qpd: the process on the GPU
 * @ret: 0, or the error
 *
 * For a process that kfdprio has taken off, the hook does what KFD leaves out (kfd_prio_evicted()).
 *
 * Context: DQM lock
 */
void kfd_prio_hook_evict_process(struct device_queue_manager *dqm,
				 struct qcm_process_device *qpd, int ret)
{
	trace_kfd_evict_process(qpd, ret);
	kfd_prio_evicted(dqm, qpd);
	kfd_prio_engine_charge(dqm);
}

/**
 * kfd_prio_hook_restore_process() - KFD has restored an evicted process on a GPU
 * @dqm: device queue manager of the GPU
 * @qpd: the process on the GPU
 * @ret: 0, or the error
 *
 * A process that kfdprio has taken off stays so (kfd_prio_restored()).
 *
 * Context: DQM lock
 */
void kfd_prio_hook_restore_process(struct device_queue_manager *dqm,
				   struct qcm_process_device *qpd, int ret)
{
	trace_kfd_restore_process(qpd, ret);
	kfd_prio_restored(dqm, qpd);
	kfd_prio_engine_charge(dqm);
}

/**
 * kfd_prio_hook_hws_hang() - the scheduler firmware does not answer: open the breaker of the GPU
 * @dqm: device queue manager of its GPU; KFD requests a GPU reset next
 *
 * The cause is KFD_PRIO_BREAKER_UNMAP if MES has not removed a queue before.
 *
 * Context: DQM lock
 */
void kfd_prio_hook_hws_hang(struct device_queue_manager *dqm)
{
	trace_kfd_hws_hang(dqm);
	kfd_prio_engine_event(dqm, KFD_PRIO_EVENT_HANG);
	kfd_prio_breaker_trip(dqm, dqm->prio.mes_failed ? KFD_PRIO_BREAKER_UNMAP :
							  KFD_PRIO_BREAKER_HANG);
}

/**
 * kfd_prio_hook_drain_interrupts() - KFD is about to send an interrupt and wait until it is handled
 * @pdd: the process of the interrupt, on the GPU; irq_drain_is_open is set
 *
 * KFD waits only if amdgpu's ring of interrupts has made no progress for a second: otherwise
 * amdgpu_amdkfd_send_close_event_drain_irq() does not send the interrupt.
 *
 * The handler of the interrupt looks its process up in KFD's table. A process that exits has left
 * the table when KFD detaches its debugger, so the wait would never end. KFD waits in the SRCU
 * section of the MMU notifier, which would not end either, so every later process with an MMU
 * notifier would hang in its exit. Interrupts of a process that has left the table have no effect,
 * so KFD need not wait for them. If the process leaves the table during the wait,
 * kfd_prio_hook_process_unhashed() ends the wait. On a GPU whose handler discards the interrupt
 * (GFX10, and each GPU on which the process has no VM), a debugger that exits would hang in the
 * same way.
 *
 * For any other reason for which the interrupt may be lost, for example because KFD's queue of
 * interrupts is full, which a process can bring about, a timer ends the wait.
 *
 * The hook does not ask whether the node of the process is in the table: when amdgpu is unloaded,
 * KFD moves the nodes of all processes to a list of its own, before it detaches their debuggers.
 *
 * Context: process lock, or the mm of the process or of its debugger goes
 * Return: true if KFD must not wait
 */
bool kfd_prio_hook_drain_interrupts(struct kfd_process_device *pdd)
{
	struct kfd_process *p = pdd->process;

	/* irq_drain_is_open, then unhashed: pairs with kfd_prio_hook_process_unhashed() */
	smp_mb();
	if (!READ_ONCE(p->prio.unhashed) && kfd_prio_drain_ends(pdd)) {
		kfd_prio_process_drains(p);
		return false;
	}
	kfd_prio_drain_end(p);
	return true;
}

/**
 * kfd_prio_hook_process_unhashed() - a process has left KFD's table
 * @p: the process, whose creation had succeeded
 *
 * A debugger that exits detaches itself from @p in an SRCU section of KFD's table. If it waits for
 * an interrupt there, the handler may not find @p any more. The debugger would then wait for the
 * interrupt, and the caller of this hook, which waits for a grace period next, for the debugger. So
 * the hook ends the debugger's wait. From now on kfd_prio_hook_drain_interrupts() has KFD begin no
 * such wait for @p.
 *
 * Context: kfd_processes_mutex
 */
void kfd_prio_hook_process_unhashed(struct kfd_process *p)
{
	WRITE_ONCE(p->prio.unhashed, true);
	/* unhashed, then irq_drain_is_open: pairs with kfd_prio_hook_drain_interrupts() */
	smp_mb();
	kfd_prio_drain_end(p);
}

/**
 * kfd_prio_hook_queue_nameless() - whether a queue has no sysfs directory
 * @q: the queue, whose directory KFD is about to remove
 *
 * A process without a directory (kfd_prio_hook_process_nameless()) makes none for its queues, and
 * KFD would remove a kobject that was never initialised. If adding the kobject failed, KFD has
 * dropped it already.
 *
 * Context: process lock, or the last release of the process
 * Return: true if KFD must not remove the directory
 */
bool kfd_prio_hook_queue_nameless(struct queue *q)
{
	return !q->kobj.state_in_sysfs;
}

/**
 * kfd_prio_hook_queue_reset() - KFD has reset a single queue that HWS could not unmap
 * @q: the queue. KFD makes it inactive for good, possibly during an unmap for preemption; kfdprio
 *	does not make it active again
 *
 * Context: DQM lock
 */
void kfd_prio_hook_queue_reset(struct queue *q)
{
	q->prio.dead = true;
	q->prio.off = false;
}

/**
 * kfd_prio_hook_mes_priority() - choose the priority level of the gang of a queue
 * @q: the queue that KFD is about to add to MES
 * @level: in: the level that KFD uses for every gang; out: the level for the priority that is set
 *	for the process, if one is
 *
 * KFD's three bands (pipe_priority_map) become LOW, NORMAL and HIGH. REALTIME is not used, because
 * MES lets it starve every other gang, including the kernel's own queues.
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
 * kfd_prio_hook_mes_added() - MES has added a queue, or has refused it
 * @dqm: device queue manager of its GPU
 * @q: the queue
 * @level: enum amdgpu_mes_priority_level of its gang
 * @ret: 0, or the error
 *
 * After an error the hook records the process of the queue, for the breaker. With
 * idle_park_ms=auto, parking may begin.
 *
 * Context: DQM lock, MES lock
 */
void kfd_prio_hook_mes_added(struct device_queue_manager *dqm, struct queue *q, u32 level,
			     int ret)
{
	trace_kfd_map_queue(q, kfd_prio_gang_of(level), ret);
	kfd_prio_crowd_see(dqm);
	dqm->prio.mes_failed = false;
	if (ret)
		kfd_prio_breaker_suspect(dqm, q);
}

/**
 * kfd_prio_hook_mes_remove() - KFD is about to ask MES to remove a queue
 * @dqm: device queue manager of its GPU
 * @q: the queue
 *
 * kfd_prio_hook_unmap_done() follows, and uses the queue that is recorded here.
 *
 * Context: DQM lock, MES lock
 */
void kfd_prio_hook_mes_remove(struct device_queue_manager *dqm, struct queue *q)
{
	kfd_prio_unmap_begin(dqm);
	dqm->prio.mes_queue = q;
	trace_kfd_unmap_queues(dqm, q, KFD_PRIO_FILTER_MES_QUEUE, q->properties.doorbell_off);
}
