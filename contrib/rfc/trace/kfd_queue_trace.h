/* SPDX-License-Identifier: GPL-2.0 OR MIT */
//@ comment Template of the header: a line "//@ N" begins what patch N adds, "//@ comment" a line of ours.
/*
 * Trace events of amdkfd: queues, eviction, the runlist and MES.
 */

#if !defined(KFD_QUEUE_TRACE_H_INCLUDED) || defined(TRACE_HEADER_MULTI_READ)
#define KFD_QUEUE_TRACE_H_INCLUDED

#include <linux/tracepoint.h>

#include "kfd_priv.h"
#include "kfd_device_queue_manager.h"

#undef TRACE_SYSTEM
#define TRACE_SYSTEM amdkfd
#define TRACE_INCLUDE_FILE kfd_queue_trace

/**
 * DOC: trace events
 *
 * The events in ``events/amdkfd/`` show when KFD puts the queues of a process on
 * a GPU, and when it takes them off.  Most operations have two events: ``_start``
 * before KFD acts, and ``_end`` with the result (``ret``, 0 or a negative errno).
 * The thread that performs the operation records both.
 *
 * These events are meant to be stable: their names, and the names and the
 * meaning of their fields, do not change, and a new field is appended.
 *
 * - ``amdkfd_queue_create_start``, ``amdkfd_queue_create_end``
 * - ``amdkfd_queue_update_start``, ``amdkfd_queue_update_end``
 * - ``amdkfd_queue_destroy_start``, ``amdkfd_queue_destroy_end``
 * - ``amdkfd_queue_release``
//@ 2
 * - ``amdkfd_process_evict_start``, ``amdkfd_process_evict_end``
 * - ``amdkfd_process_restore_start``, ``amdkfd_process_restore_end``
//@ 4
 * - ``amdkfd_queue_reset``
 * - ``amdkfd_gpu_reset_start``, ``amdkfd_gpu_reset_end``
//@ 1
 *
 * All other events show internals of KFD, or how it drives one kind of
 * scheduler.  They may change, or go, when the driver or the firmware does.
 *
 * Common fields:
 *
 * - ``dev``: dev_name() of the device
 * - ``gpu_id``: as in ``topology/nodes/<n>/gpu_id``; each partition of a device
 *   has its own
 * - ``xcc_mask``: XCCs of that partition
 * - ``pid``: PID, in the initial namespace, of the process that owns the queue
 * - ``pasid``: PASID of that process on the device.  A process may have several
 *   contexts (AMDKFD_IOC_CREATE_PROCESS); each has a PASID of its own
 * - ``queue_id``: number of the queue in its process or context, as returned by
 *   AMDKFD_IOC_CREATE_QUEUE.  With ``gpu_id`` and ``pasid`` it identifies the queue
 */

/* The header is read again for each stage of the events, and functions once. */
#ifndef KFD_QUEUE_TRACE_FUNCTIONS
#define KFD_QUEUE_TRACE_FUNCTIONS

/* A queue has a process device as long as it exists. */
static inline u32 kfd_trace_queue_pasid(const struct queue *q)
{
	struct kfd_process_device *pdd;

	pdd = kfd_get_process_device_data(q->device, q->process);
	return pdd ? pdd->pasid : 0;
}

/* The type as user space knows it: unlike enum kfd_queue_type it is uAPI. */
static inline u32 kfd_trace_queue_type(const struct queue_properties *p)
{
	switch (p->type) {
	case KFD_QUEUE_TYPE_COMPUTE:
		return p->format == KFD_QUEUE_FORMAT_AQL ? KFD_IOC_QUEUE_TYPE_COMPUTE_AQL :
							   KFD_IOC_QUEUE_TYPE_COMPUTE;
	case KFD_QUEUE_TYPE_SDMA:
		return KFD_IOC_QUEUE_TYPE_SDMA;
	case KFD_QUEUE_TYPE_SDMA_XGMI:
		return KFD_IOC_QUEUE_TYPE_SDMA_XGMI;
	case KFD_QUEUE_TYPE_SDMA_BY_ENG_ID:
		return KFD_IOC_QUEUE_TYPE_SDMA_BY_ENG_ID;
	default:
		return U32_MAX;
	}
}

#endif /* KFD_QUEUE_TRACE_FUNCTIONS */

#define kfd_trace_show_queue_type(type)					\
	__print_symbolic(type,						\
			 { KFD_IOC_QUEUE_TYPE_COMPUTE, "COMPUTE" },	\
			 { KFD_IOC_QUEUE_TYPE_SDMA, "SDMA" },		\
			 { KFD_IOC_QUEUE_TYPE_COMPUTE_AQL, "COMPUTE_AQL" },	\
			 { KFD_IOC_QUEUE_TYPE_SDMA_XGMI, "SDMA_XGMI" },	\
			 { KFD_IOC_QUEUE_TYPE_SDMA_BY_ENG_ID, "SDMA_BY_ENG_ID" })

DECLARE_EVENT_CLASS(amdkfd_queue,
		    TP_PROTO(struct queue *q),
		    TP_ARGS(q),
		    TP_STRUCT__entry(__string(dev, dev_name(q->device->adev->dev))
				     __field(u32, gpu_id)
				     __field(u32, xcc_mask)
				     __field(s32, pid)
				     __field(u32, pasid)
				     __field(u32, queue_id)),
		    TP_fast_assign(__assign_str(dev);
				   __entry->gpu_id = q->device->id;
				   __entry->xcc_mask = q->device->xcc_mask;
				   __entry->pid = q->process->lead_thread->tgid;
				   __entry->pasid = kfd_trace_queue_pasid(q);
				   __entry->queue_id = q->properties.queue_id;),
		    TP_printk("dev=%s gpu_id=%u xcc_mask=0x%x pid=%d pasid=%u queue_id=%u",
			      __get_str(dev), __entry->gpu_id, __entry->xcc_mask,
			      __entry->pid, __entry->pasid, __entry->queue_id)
);

DECLARE_EVENT_CLASS(amdkfd_queue_result,
		    TP_PROTO(struct queue *q, int ret),
		    TP_ARGS(q, ret),
		    TP_STRUCT__entry(__string(dev, dev_name(q->device->adev->dev))
				     __field(u32, gpu_id)
				     __field(u32, xcc_mask)
				     __field(s32, pid)
				     __field(u32, pasid)
				     __field(u32, queue_id)
				     __field(s32, ret)),
		    TP_fast_assign(__assign_str(dev);
				   __entry->gpu_id = q->device->id;
				   __entry->xcc_mask = q->device->xcc_mask;
				   __entry->pid = q->process->lead_thread->tgid;
				   __entry->pasid = kfd_trace_queue_pasid(q);
				   __entry->queue_id = q->properties.queue_id;
				   __entry->ret = ret;),
		    TP_printk("dev=%s gpu_id=%u xcc_mask=0x%x pid=%d pasid=%u queue_id=%u ret=%d",
			      __get_str(dev), __entry->gpu_id, __entry->xcc_mask,
			      __entry->pid, __entry->pasid, __entry->queue_id, __entry->ret)
);

/*
 * KFD has accepted the request of a process, and gives the queue to the device
 * queue manager.  Addresses are those of the process.
 *	type		KFD_IOC_QUEUE_TYPE_*
 *	priority	0 to 15; percent: 0 disables the queue
 *	ring, ring_size	the ring, bytes
 *	rptr, wptr	the read and the write pointer
 *	cwsr, cwsr_size	area for the state of preempted waves, bytes
 */
TRACE_EVENT(amdkfd_queue_create_start,
	    TP_PROTO(struct queue *q),
	    TP_ARGS(q),
	    TP_STRUCT__entry(__string(dev, dev_name(q->device->adev->dev))
			     __field(u32, gpu_id)
			     __field(u32, xcc_mask)
			     __field(s32, pid)
			     __field(u32, pasid)
			     __field(u32, queue_id)
			     __field(u64, ring)
			     __field(u64, ring_size)
			     __field(u64, rptr)
			     __field(u64, wptr)
			     __field(u64, cwsr)
			     __field(u32, cwsr_size)
			     __field(u32, type)
			     __field(u32, priority)
			     __field(u32, percent)),
	    TP_fast_assign(__assign_str(dev);
			   __entry->gpu_id = q->device->id;
			   __entry->xcc_mask = q->device->xcc_mask;
			   __entry->pid = q->process->lead_thread->tgid;
			   __entry->pasid = kfd_trace_queue_pasid(q);
			   __entry->queue_id = q->properties.queue_id;
			   __entry->ring = q->properties.queue_address;
			   __entry->ring_size = q->properties.queue_size;
			   __entry->rptr = (uintptr_t)q->properties.read_ptr;
			   __entry->wptr = (uintptr_t)q->properties.write_ptr;
			   __entry->cwsr = q->properties.ctx_save_restore_area_address;
			   __entry->cwsr_size = q->properties.ctx_save_restore_area_size;
			   __entry->type = kfd_trace_queue_type(&q->properties);
			   __entry->priority = q->properties.priority;
			   __entry->percent = q->properties.queue_percent;),
	    TP_printk("dev=%s gpu_id=%u xcc_mask=0x%x pid=%d pasid=%u queue_id=%u type=%s priority=%u percent=%u ring=0x%llx ring_size=%llu rptr=0x%llx wptr=0x%llx cwsr=0x%llx cwsr_size=%u",
		      __get_str(dev), __entry->gpu_id, __entry->xcc_mask,
		      __entry->pid, __entry->pasid, __entry->queue_id,
		      kfd_trace_show_queue_type(__entry->type), __entry->priority,
		      __entry->percent, __entry->ring, __entry->ring_size,
		      __entry->rptr, __entry->wptr, __entry->cwsr, __entry->cwsr_size)
);

DEFINE_EVENT(amdkfd_queue_result, amdkfd_queue_create_end,
	     TP_PROTO(struct queue *q, int ret),
	     TP_ARGS(q, ret)
);

/*
 * The MQD of a new queue was filled in, or restored by CRIU.
 *	mqd		GPU address (GART)
 *	doorbell	index on the BAR, in dwords
 *	priority	as in the MQD
 */
TRACE_EVENT(amdkfd_queue_mqd_init,
	    TP_PROTO(struct queue *q),
	    TP_ARGS(q),
	    TP_STRUCT__entry(__string(dev, dev_name(q->device->adev->dev))
			     __field(u32, gpu_id)
			     __field(u32, xcc_mask)
			     __field(s32, pid)
			     __field(u32, pasid)
			     __field(u32, queue_id)
			     __field(u64, mqd)
			     __field(u32, doorbell)
			     __field(u32, priority)),
	    TP_fast_assign(__assign_str(dev);
			   __entry->gpu_id = q->device->id;
			   __entry->xcc_mask = q->device->xcc_mask;
			   __entry->pid = q->process->lead_thread->tgid;
			   __entry->pasid = kfd_trace_queue_pasid(q);
			   __entry->queue_id = q->properties.queue_id;
			   __entry->mqd = q->gart_mqd_addr;
			   __entry->doorbell = q->properties.doorbell_off;
			   __entry->priority = q->properties.priority;),
	    TP_printk("dev=%s gpu_id=%u xcc_mask=0x%x pid=%d pasid=%u queue_id=%u mqd=0x%llx doorbell=0x%x priority=%u",
		      __get_str(dev), __entry->gpu_id, __entry->xcc_mask,
		      __entry->pid, __entry->pasid, __entry->queue_id,
		      __entry->mqd, __entry->doorbell, __entry->priority)
);

DEFINE_EVENT(amdkfd_queue, amdkfd_queue_update_start,
	     TP_PROTO(struct queue *q),
	     TP_ARGS(q)
);

/*
 * KFD has updated a queue, or has failed to.
 *	priority, percent, ring, ring_size	as in amdkfd_queue_create_start
 *	active		the queue may run
 */
TRACE_EVENT(amdkfd_queue_update_end,
	    TP_PROTO(struct queue *q, int ret),
	    TP_ARGS(q, ret),
	    TP_STRUCT__entry(__string(dev, dev_name(q->device->adev->dev))
			     __field(u32, gpu_id)
			     __field(u32, xcc_mask)
			     __field(s32, pid)
			     __field(u32, pasid)
			     __field(u32, queue_id)
			     __field(u64, ring)
			     __field(u64, ring_size)
			     __field(u32, priority)
			     __field(u32, percent)
			     __field(u32, active)
			     __field(s32, ret)),
	    TP_fast_assign(__assign_str(dev);
			   __entry->gpu_id = q->device->id;
			   __entry->xcc_mask = q->device->xcc_mask;
			   __entry->pid = q->process->lead_thread->tgid;
			   __entry->pasid = kfd_trace_queue_pasid(q);
			   __entry->queue_id = q->properties.queue_id;
			   __entry->ring = q->properties.queue_address;
			   __entry->ring_size = q->properties.queue_size;
			   __entry->priority = q->properties.priority;
			   __entry->percent = q->properties.queue_percent;
			   __entry->active = q->properties.is_active;
			   __entry->ret = ret;),
	    TP_printk("dev=%s gpu_id=%u xcc_mask=0x%x pid=%d pasid=%u queue_id=%u priority=%u percent=%u ring=0x%llx ring_size=%llu active=%u ret=%d",
		      __get_str(dev), __entry->gpu_id, __entry->xcc_mask,
		      __entry->pid, __entry->pasid, __entry->queue_id,
		      __entry->priority, __entry->percent, __entry->ring,
		      __entry->ring_size, __entry->active, __entry->ret)
);

DEFINE_EVENT(amdkfd_queue, amdkfd_queue_destroy_start,
	     TP_PROTO(struct queue *q),
	     TP_ARGS(q)
);

/*
 * With a ret of -ETIME or -EIO the queue is destroyed all the same, with any
 * other error it is not.
 */
DEFINE_EVENT(amdkfd_queue_result, amdkfd_queue_destroy_end,
	     TP_PROTO(struct queue *q, int ret),
	     TP_ARGS(q, ret)
);

/* The process has ended, or has closed a context of its own, and left this queue. */
DEFINE_EVENT(amdkfd_queue, amdkfd_queue_release,
	     TP_PROTO(struct queue *q),
	     TP_ARGS(q)
);

//@ 2
/*
 * KFD evicts a process from a GPU, or restores it: for memory management,
 * suspend or CRIU, or after a fault.
 *	evicted		reasons that keep its queues off the GPU
 *	queues		queues that it has created on the GPU, mapped or not
 */
DECLARE_EVENT_CLASS(amdkfd_process,
		    TP_PROTO(struct kfd_process_device *pdd),
		    TP_ARGS(pdd),
		    TP_STRUCT__entry(__string(dev, dev_name(pdd->dev->adev->dev))
				     __field(u32, gpu_id)
				     __field(u32, xcc_mask)
				     __field(s32, pid)
				     __field(u32, pasid)
				     __field(u32, evicted)
				     __field(u32, queues)),
		    TP_fast_assign(__assign_str(dev);
				   __entry->gpu_id = pdd->dev->id;
				   __entry->xcc_mask = pdd->dev->xcc_mask;
				   __entry->pid = pdd->process->lead_thread->tgid;
				   __entry->pasid = pdd->pasid;
				   __entry->evicted = pdd->qpd.evicted;
				   __entry->queues = pdd->qpd.queue_count;),
		    TP_printk("dev=%s gpu_id=%u xcc_mask=0x%x pid=%d pasid=%u evicted=%u queues=%u",
			      __get_str(dev), __entry->gpu_id, __entry->xcc_mask,
			      __entry->pid, __entry->pasid, __entry->evicted, __entry->queues)
);

DECLARE_EVENT_CLASS(amdkfd_process_result,
		    TP_PROTO(struct kfd_process_device *pdd, int ret),
		    TP_ARGS(pdd, ret),
		    TP_STRUCT__entry(__string(dev, dev_name(pdd->dev->adev->dev))
				     __field(u32, gpu_id)
				     __field(u32, xcc_mask)
				     __field(s32, pid)
				     __field(u32, pasid)
				     __field(u32, evicted)
				     __field(u32, queues)
				     __field(s32, ret)),
		    TP_fast_assign(__assign_str(dev);
				   __entry->gpu_id = pdd->dev->id;
				   __entry->xcc_mask = pdd->dev->xcc_mask;
				   __entry->pid = pdd->process->lead_thread->tgid;
				   __entry->pasid = pdd->pasid;
				   __entry->evicted = pdd->qpd.evicted;
				   __entry->queues = pdd->qpd.queue_count;
				   __entry->ret = ret;),
		    TP_printk("dev=%s gpu_id=%u xcc_mask=0x%x pid=%d pasid=%u evicted=%u queues=%u ret=%d",
			      __get_str(dev), __entry->gpu_id, __entry->xcc_mask,
			      __entry->pid, __entry->pasid, __entry->evicted,
			      __entry->queues, __entry->ret)
);

DEFINE_EVENT(amdkfd_process, amdkfd_process_evict_start,
	     TP_PROTO(struct kfd_process_device *pdd),
	     TP_ARGS(pdd)
);

DEFINE_EVENT(amdkfd_process_result, amdkfd_process_evict_end,
	     TP_PROTO(struct kfd_process_device *pdd, int ret),
	     TP_ARGS(pdd, ret)
);

DEFINE_EVENT(amdkfd_process, amdkfd_process_restore_start,
	     TP_PROTO(struct kfd_process_device *pdd),
	     TP_ARGS(pdd)
);

DEFINE_EVENT(amdkfd_process_result, amdkfd_process_restore_end,
	     TP_PROTO(struct kfd_process_device *pdd, int ret),
	     TP_ARGS(pdd, ret)
);

//@ 3
TRACE_DEFINE_ENUM(KFD_UNMAP_QUEUES_FILTER_ALL_QUEUES);
TRACE_DEFINE_ENUM(KFD_UNMAP_QUEUES_FILTER_DYNAMIC_QUEUES);
TRACE_DEFINE_ENUM(KFD_UNMAP_QUEUES_FILTER_BY_PASID);

#define kfd_trace_show_unmap_filter(filter)				\
	__print_symbolic(filter,					\
			 { KFD_UNMAP_QUEUES_FILTER_ALL_QUEUES, "ALL" },	\
			 { KFD_UNMAP_QUEUES_FILTER_DYNAMIC_QUEUES, "DYNAMIC" },	\
			 { KFD_UNMAP_QUEUES_FILTER_BY_PASID, "PASID" })

DECLARE_EVENT_CLASS(amdkfd_node,
		    TP_PROTO(struct kfd_node *node),
		    TP_ARGS(node),
		    TP_STRUCT__entry(__string(dev, dev_name(node->adev->dev))
				     __field(u32, gpu_id)
				     __field(u32, xcc_mask)),
		    TP_fast_assign(__assign_str(dev);
				   __entry->gpu_id = node->id;
				   __entry->xcc_mask = node->xcc_mask;),
		    TP_printk("dev=%s gpu_id=%u xcc_mask=0x%x",
			      __get_str(dev), __entry->gpu_id, __entry->xcc_mask)
);

DECLARE_EVENT_CLASS(amdkfd_node_result,
		    TP_PROTO(struct kfd_node *node, int ret),
		    TP_ARGS(node, ret),
		    TP_STRUCT__entry(__string(dev, dev_name(node->adev->dev))
				     __field(u32, gpu_id)
				     __field(u32, xcc_mask)
				     __field(s32, ret)),
		    TP_fast_assign(__assign_str(dev);
				   __entry->gpu_id = node->id;
				   __entry->xcc_mask = node->xcc_mask;
				   __entry->ret = ret;),
		    TP_printk("dev=%s gpu_id=%u xcc_mask=0x%x ret=%d",
			      __get_str(dev), __entry->gpu_id, __entry->xcc_mask, __entry->ret)
);

/*
 * KFD asks HWS to unmap the runlist.
 *	filter		which queues; filter_param: the PASID if it takes one
 */
TRACE_EVENT(amdkfd_runlist_unmap_start,
	    TP_PROTO(struct device_queue_manager *dqm, u32 filter, u32 filter_param),
	    TP_ARGS(dqm, filter, filter_param),
	    TP_STRUCT__entry(__string(dev, dev_name(dqm->dev->adev->dev))
			     __field(u32, gpu_id)
			     __field(u32, xcc_mask)
			     __field(u32, filter)
			     __field(u32, filter_param)),
	    TP_fast_assign(__assign_str(dev);
			   __entry->gpu_id = dqm->dev->id;
			   __entry->xcc_mask = dqm->dev->xcc_mask;
			   __entry->filter = filter;
			   __entry->filter_param = filter_param;),
	    TP_printk("dev=%s gpu_id=%u xcc_mask=0x%x filter=%s filter_param=%u",
		      __get_str(dev), __entry->gpu_id, __entry->xcc_mask,
		      kfd_trace_show_unmap_filter(__entry->filter), __entry->filter_param)
);

/*
 * HWS has written the fence of the unmap, or has not in time. KFD may report
 * the unmap as failed later, for example if a queue has not left the GPU.
 */
DEFINE_EVENT(amdkfd_node_result, amdkfd_runlist_unmap_end,
	     TP_PROTO(struct kfd_node *node, int ret),
	     TP_ARGS(node, ret)
);

DEFINE_EVENT(amdkfd_node, amdkfd_runlist_map_start,
	     TP_PROTO(struct kfd_node *node),
	     TP_ARGS(node)
);

/*
 * A queue is in the runlist that is being built. Its fields are those of
 * amdkfd_queue_create_start and amdkfd_queue_mqd_init, for a trace that began
 * after these. A queue that was created as SDMA_BY_ENG_ID is SDMA or SDMA_XGMI
 * here.
 */
TRACE_EVENT(amdkfd_runlist_queue,
	    TP_PROTO(struct queue *q),
	    TP_ARGS(q),
	    TP_STRUCT__entry(__string(dev, dev_name(q->device->adev->dev))
			     __field(u32, gpu_id)
			     __field(u32, xcc_mask)
			     __field(s32, pid)
			     __field(u32, pasid)
			     __field(u32, queue_id)
			     __field(u64, mqd)
			     __field(u32, doorbell)
			     __field(u32, type)
			     __field(u32, priority)),
	    TP_fast_assign(__assign_str(dev);
			   __entry->gpu_id = q->device->id;
			   __entry->xcc_mask = q->device->xcc_mask;
			   __entry->pid = q->process->lead_thread->tgid;
			   __entry->pasid = kfd_trace_queue_pasid(q);
			   __entry->queue_id = q->properties.queue_id;
			   __entry->mqd = q->gart_mqd_addr;
			   __entry->doorbell = q->properties.doorbell_off;
			   __entry->type = kfd_trace_queue_type(&q->properties);
			   __entry->priority = q->properties.priority;),
	    TP_printk("dev=%s gpu_id=%u xcc_mask=0x%x pid=%d pasid=%u queue_id=%u type=%s priority=%u mqd=0x%llx doorbell=0x%x",
		      __get_str(dev), __entry->gpu_id, __entry->xcc_mask,
		      __entry->pid, __entry->pasid, __entry->queue_id,
		      kfd_trace_show_queue_type(__entry->type), __entry->priority,
		      __entry->mqd, __entry->doorbell)
);

/*
 * KFD has sent a runlist, or has failed to.
 *	processes	processes with queues; queues: their active queues
 *	oversubscribed	the runlist needs more VMIDs or HQDs than there are, so that
 *			HWS must alternate between its queues
 *	ib, ib_size	GPU address (GART), bytes; 0 if ret is not 0
 */
TRACE_EVENT(amdkfd_runlist_map_end,
	    TP_PROTO(struct device_queue_manager *dqm, int ret),
	    TP_ARGS(dqm, ret),
	    TP_STRUCT__entry(__string(dev, dev_name(dqm->dev->adev->dev))
			     __field(u32, gpu_id)
			     __field(u32, xcc_mask)
			     __field(u32, ib_size)
			     __field(u64, ib)
			     __field(u32, processes)
			     __field(u32, queues)
			     __field(u32, oversubscribed)
			     __field(s32, ret)),
	    TP_fast_assign(__assign_str(dev);
			   __entry->gpu_id = dqm->dev->id;
			   __entry->xcc_mask = dqm->dev->xcc_mask;
			   __entry->ib_size = ret ? 0 : dqm->packet_mgr.ib_size_bytes;
			   __entry->ib = ret ? 0 : dqm->packet_mgr.ib_buffer_obj->gpu_addr;
			   __entry->processes = dqm->processes_count;
			   __entry->queues = dqm->active_queue_count;
			   __entry->oversubscribed = !ret && dqm->packet_mgr.is_over_subscription;
			   __entry->ret = ret;),
	    TP_printk("dev=%s gpu_id=%u xcc_mask=0x%x processes=%u queues=%u oversubscribed=%u ib=0x%llx ib_size=%u ret=%d",
		      __get_str(dev), __entry->gpu_id, __entry->xcc_mask,
		      __entry->processes, __entry->queues, __entry->oversubscribed,
		      __entry->ib, __entry->ib_size, __entry->ret)
);

DEFINE_EVENT(amdkfd_queue, amdkfd_mes_queue_add_start,
	     TP_PROTO(struct queue *q),
	     TP_ARGS(q)
);

/* Fields as in amdkfd_runlist_queue */
TRACE_EVENT(amdkfd_mes_queue_add_end,
	    TP_PROTO(struct queue *q, int ret),
	    TP_ARGS(q, ret),
	    TP_STRUCT__entry(__string(dev, dev_name(q->device->adev->dev))
			     __field(u32, gpu_id)
			     __field(u32, xcc_mask)
			     __field(s32, pid)
			     __field(u32, pasid)
			     __field(u32, queue_id)
			     __field(u64, mqd)
			     __field(u32, doorbell)
			     __field(u32, type)
			     __field(u32, priority)
			     __field(s32, ret)),
	    TP_fast_assign(__assign_str(dev);
			   __entry->gpu_id = q->device->id;
			   __entry->xcc_mask = q->device->xcc_mask;
			   __entry->pid = q->process->lead_thread->tgid;
			   __entry->pasid = kfd_trace_queue_pasid(q);
			   __entry->queue_id = q->properties.queue_id;
			   __entry->mqd = q->gart_mqd_addr;
			   __entry->doorbell = q->properties.doorbell_off;
			   __entry->type = kfd_trace_queue_type(&q->properties);
			   __entry->priority = q->properties.priority;
			   __entry->ret = ret;),
	    TP_printk("dev=%s gpu_id=%u xcc_mask=0x%x pid=%d pasid=%u queue_id=%u type=%s priority=%u mqd=0x%llx doorbell=0x%x ret=%d",
		      __get_str(dev), __entry->gpu_id, __entry->xcc_mask,
		      __entry->pid, __entry->pasid, __entry->queue_id,
		      kfd_trace_show_queue_type(__entry->type), __entry->priority,
		      __entry->mqd, __entry->doorbell, __entry->ret)
);

DEFINE_EVENT(amdkfd_queue, amdkfd_mes_queue_remove_start,
	     TP_PROTO(struct queue *q),
	     TP_ARGS(q)
);

DEFINE_EVENT(amdkfd_queue_result, amdkfd_mes_queue_remove_end,
	     TP_PROTO(struct queue *q, int ret),
	     TP_ARGS(q, ret)
);

//@ 4
/*
 * KFD requests a reset of the GPU: HWS or MES does not answer or has refused a
 * command, or a queue could not be reset.
 *	processes, queues	as in amdkfd_runlist_map_end
 */
TRACE_EVENT(amdkfd_scheduler_hang,
	    TP_PROTO(struct device_queue_manager *dqm),
	    TP_ARGS(dqm),
	    TP_STRUCT__entry(__string(dev, dev_name(dqm->dev->adev->dev))
			     __field(u32, gpu_id)
			     __field(u32, xcc_mask)
			     __field(u32, processes)
			     __field(u32, queues)),
	    TP_fast_assign(__assign_str(dev);
			   __entry->gpu_id = dqm->dev->id;
			   __entry->xcc_mask = dqm->dev->xcc_mask;
			   __entry->processes = dqm->processes_count;
			   __entry->queues = dqm->active_queue_count;),
	    TP_printk("dev=%s gpu_id=%u xcc_mask=0x%x processes=%u queues=%u",
		      __get_str(dev), __entry->gpu_id, __entry->xcc_mask,
		      __entry->processes, __entry->queues)
);

/* KFD has reset a single queue, which stays off the GPU. */
DEFINE_EVENT(amdkfd_queue, amdkfd_queue_reset,
	     TP_PROTO(struct queue *q),
	     TP_ARGS(q)
);

/* A reset of the device begins; all queues are about to leave the GPU. */
DEFINE_EVENT(amdkfd_node, amdkfd_gpu_reset_start,
	     TP_PROTO(struct kfd_node *node),
	     TP_ARGS(node)
);

/*
 * KFD works on the GPU again, or cannot. If it cannot on one partition, those
 * after it have no such event. None has one if the reset itself has failed.
 */
DEFINE_EVENT(amdkfd_node_result, amdkfd_gpu_reset_end,
	     TP_PROTO(struct kfd_node *node, int ret),
	     TP_ARGS(node, ret)
);

//@ 1
#endif /* KFD_QUEUE_TRACE_H_INCLUDED */

/* This part must be outside protection */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#include <trace/define_trace.h>
