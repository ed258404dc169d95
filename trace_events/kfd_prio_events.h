/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: trace events of amdkfd, events/kfd/.
 *
 * DOC: stability All events and fields below are a stable contract: fields are only appended, and a
 * value of an enum keeps its meaning. Every field is an integer of fixed width, and no field has a
 * hole before it. The enums are those of kfdprio, and their values are the same for every kernel.
 * No field is a kernel pointer: addresses are those of the process (ring, read and write pointer,
 * save area) or of the GPU (MQD, runlist).
 *
 * Common fields:
 *	gpu_id		as in topology/nodes/<n>/gpu_id
 *	pid		TGID of the process in the initial PID namespace
 *	queue_id	KFD's number of the queue in its process, as returned by
 *			AMDKFD_IOC_CREATE_QUEUE
 *	prio		priority in force, 0..15, 15 is the most important; -1: none set
 *	ret		0, or a negative errno
 *
 * Order of the events of a queue: kfd_ioctl_create_queue, kfd_create_queue, kfd_init_mqd,
 * kfd_map_queue (each time that it goes to the hardware), ..., kfd_destroy_queue.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kfd

#if !defined(KFD_PRIO_EVENTS_H_INCLUDED) || defined(TRACE_HEADER_MULTI_READ)
#define KFD_PRIO_EVENTS_H_INCLUDED

#include <linux/tracepoint.h>
#include "kfd_prio_priv.h"

/*
 * The numbers and the names of all enums. A "format" file in tracefs has the number, and not the
 * identifier, of an enum's value only if TRACE_DEFINE_ENUM() names the value.
 */
#define KFD_PRIO_DEFINE(value, name)	TRACE_DEFINE_ENUM(value);
#define KFD_PRIO_PAIR(value, name)	{ value, name },
#define KFD_PRIO_PAIR_LAST(value, name)	{ value, name }

KFD_PRIO_TYPE_NAMES(KFD_PRIO_DEFINE, KFD_PRIO_DEFINE)
KFD_PRIO_FORMAT_NAMES(KFD_PRIO_DEFINE, KFD_PRIO_DEFINE)
KFD_PRIO_FILTER_NAMES(KFD_PRIO_DEFINE, KFD_PRIO_DEFINE)
KFD_PRIO_DESTROY_NAMES(KFD_PRIO_DEFINE, KFD_PRIO_DEFINE)
KFD_PRIO_SOURCE_NAMES(KFD_PRIO_DEFINE, KFD_PRIO_DEFINE)
KFD_PRIO_WAKE_NAMES(KFD_PRIO_DEFINE, KFD_PRIO_DEFINE)
KFD_PRIO_REASON_NAMES(KFD_PRIO_DEFINE, KFD_PRIO_DEFINE)
KFD_PRIO_PARK_NAMES(KFD_PRIO_DEFINE, KFD_PRIO_DEFINE)
KFD_PRIO_UNPARK_NAMES(KFD_PRIO_DEFINE, KFD_PRIO_DEFINE)
KFD_PRIO_THROTTLE_NAMES(KFD_PRIO_DEFINE, KFD_PRIO_DEFINE)
KFD_PRIO_BREAKER_NAMES(KFD_PRIO_DEFINE, KFD_PRIO_DEFINE)
KFD_PRIO_PIPE_NAMES(KFD_PRIO_DEFINE, KFD_PRIO_DEFINE)

#define kfd_show_queue_type(v)						\
	__print_symbolic(v, KFD_PRIO_TYPE_NAMES(KFD_PRIO_PAIR, KFD_PRIO_PAIR_LAST))
#define kfd_show_queue_format(v)					\
	__print_symbolic(v, KFD_PRIO_FORMAT_NAMES(KFD_PRIO_PAIR, KFD_PRIO_PAIR_LAST))
#define kfd_show_unmap_filter(v)					\
	__print_symbolic(v, KFD_PRIO_FILTER_NAMES(KFD_PRIO_PAIR, KFD_PRIO_PAIR_LAST))
#define kfd_show_destroy_reason(v)					\
	__print_symbolic(v, KFD_PRIO_DESTROY_NAMES(KFD_PRIO_PAIR, KFD_PRIO_PAIR_LAST))
#define kfd_show_source(v)						\
	__print_symbolic(v, KFD_PRIO_SOURCE_NAMES(KFD_PRIO_PAIR, KFD_PRIO_PAIR_LAST))
#define kfd_show_wake(v)						\
	__print_symbolic(v, KFD_PRIO_WAKE_NAMES(KFD_PRIO_PAIR, KFD_PRIO_PAIR_LAST))
#define kfd_show_reason(v)						\
	__print_symbolic(v, KFD_PRIO_REASON_NAMES(KFD_PRIO_PAIR, KFD_PRIO_PAIR_LAST))
#define kfd_show_park(v)						\
	__print_symbolic(v, KFD_PRIO_PARK_NAMES(KFD_PRIO_PAIR, KFD_PRIO_PAIR_LAST))
#define kfd_show_unpark(v)						\
	__print_symbolic(v, KFD_PRIO_UNPARK_NAMES(KFD_PRIO_PAIR, KFD_PRIO_PAIR_LAST))
#define kfd_show_throttle(v)						\
	__print_symbolic(v, KFD_PRIO_THROTTLE_NAMES(KFD_PRIO_PAIR, KFD_PRIO_PAIR_LAST))
#define kfd_show_breaker(v)						\
	__print_symbolic(v, KFD_PRIO_BREAKER_NAMES(KFD_PRIO_PAIR, KFD_PRIO_PAIR_LAST))
#define kfd_show_pipe_priority(v)					\
	__print_symbolic(v, KFD_PRIO_PIPE_NAMES(KFD_PRIO_PAIR, KFD_PRIO_PAIR_LAST))

#define KFD_QUEUE_FIELDS						\
	__field(u32, gpu_id)						\
	__field(s32, pid)						\
	__field(u32, queue_id)						\
	__field(s32, prio)

#define kfd_queue_assign(q)						\
	do {								\
		__entry->gpu_id = (q)->device->id;			\
		__entry->pid = (q)->process->lead_thread->tgid;		\
		__entry->queue_id = (q)->properties.queue_id;		\
		__entry->prio = (q)->properties.priority;		\
	} while (0)

/*
 * Clears the padding after the last field of an event, whose size is a multiple of its alignment,
 * because padding goes to user space as well. There is none between fields, see kfd_prio_events.c.
 */
#define kfd_zero_after(last)						\
	memset((u8 *)__entry + offsetofend(typeof(*__entry), last), 0,	\
	       sizeof(*__entry) - offsetofend(typeof(*__entry), last))

#define KFD_QUEUE_FMT	"gpu_id=%u pid=%d queue_id=%u prio=%d"
#define kfd_queue_args	__entry->gpu_id, __entry->pid, __entry->queue_id, __entry->prio

/*
 * A process asks for a queue with AMDKFD_IOC_CREATE_QUEUE, before KFD checks the request. As for
 * kfd_create_queue, the recording task is the thread that asks.
 */
TRACE_EVENT(kfd_ioctl_create_queue,
	TP_PROTO(s32 pid),
	TP_ARGS(pid),
	TP_STRUCT__entry(
		__field(s32, pid)
	),
	TP_fast_assign(
		__entry->pid = pid;
	),
	TP_printk("pid=%d", __entry->pid)
);

/*
 * A queue was created, and its MQD was not filled in yet. If its creation fails later,
 * kfd_destroy_queue with the reason CREATE_FAILED follows.
 *	type, format	enum kfd_prio_type, enum kfd_prio_format
 *	req_prio	priority that its owner asks for
 *	ring_base	user address of the ring; ring_size: its bytes
 *	doorbell	doorbell index on the BAR, in dwords
 *	rptr, wptr	user addresses of the read and write pointer
 *	cwsr_base	user address of the save area of one XCC, 0 without CWSR
 *	cwsr_size	size of the save area, bytes
 */
TRACE_EVENT(kfd_create_queue,
	TP_PROTO(struct queue *q),
	TP_ARGS(q),
	TP_STRUCT__entry(
		KFD_QUEUE_FIELDS
		__field(u32, type)
		__field(u32, format)
		__field(u32, req_prio)
		__field(u32, doorbell)
		__field(u64, ring_base)
		__field(u64, ring_size)
		__field(u64, rptr)
		__field(u64, wptr)
		__field(u64, cwsr_base)
		__field(u32, cwsr_size)
	),
	TP_fast_assign(
		kfd_queue_assign(q);
		__entry->type = kfd_prio_type_of(q->properties.type);
		__entry->format = kfd_prio_format_of(q->properties.format);
		__entry->req_prio = q->prio.requested;
		__entry->doorbell = q->properties.doorbell_off;
		__entry->ring_base = q->properties.queue_address;
		__entry->ring_size = q->properties.queue_size;
		__entry->rptr = (u64)(uintptr_t)q->properties.read_ptr;
		__entry->wptr = (u64)(uintptr_t)q->properties.write_ptr;
		__entry->cwsr_base = q->properties.ctx_save_restore_area_address;
		__entry->cwsr_size = q->properties.ctx_save_restore_area_size;
		kfd_zero_after(cwsr_size);
	),
	TP_printk(KFD_QUEUE_FMT " type=%s format=%s req_prio=%u doorbell=0x%x ring_base=0x%llx ring_size=%llu rptr=0x%llx wptr=0x%llx cwsr_base=0x%llx cwsr_size=%u",
		kfd_queue_args, kfd_show_queue_type(__entry->type),
		kfd_show_queue_format(__entry->format), __entry->req_prio,
		__entry->doorbell, __entry->ring_base, __entry->ring_size,
		__entry->rptr, __entry->wptr, __entry->cwsr_base, __entry->cwsr_size)
);

/*
 * A queue was destroyed, or its destruction has failed (ret).
 *	reason		enum kfd_prio_destroy_reason
 */
TRACE_EVENT(kfd_destroy_queue,
	TP_PROTO(struct queue *q, u32 reason, int ret),
	TP_ARGS(q, reason, ret),
	TP_STRUCT__entry(
		KFD_QUEUE_FIELDS
		__field(u32, reason)
		__field(s32, ret)
	),
	TP_fast_assign(
		kfd_queue_assign(q);
		__entry->reason = reason;
		__entry->ret = ret;
	),
	TP_printk(KFD_QUEUE_FMT " reason=%s ret=%d", kfd_queue_args,
		kfd_show_destroy_reason(__entry->reason), __entry->ret)
);

/*
 * A queue was updated by its owner, or because another priority was set for its process.
 *	req_prio	priority that its owner asks for
 *	percent		queue percentage; 0 disables the queue
 *	active		the queue may run
 */
TRACE_EVENT(kfd_update_queue,
	TP_PROTO(struct queue *q, int ret),
	TP_ARGS(q, ret),
	TP_STRUCT__entry(
		KFD_QUEUE_FIELDS
		__field(u32, req_prio)
		__field(u32, percent)
		__field(u64, ring_base)
		__field(u64, ring_size)
		__field(u32, active)
		__field(s32, ret)
	),
	TP_fast_assign(
		kfd_queue_assign(q);
		__entry->req_prio = q->prio.requested;
		__entry->percent = q->properties.queue_percent;
		__entry->ring_base = q->properties.queue_address;
		__entry->ring_size = q->properties.queue_size;
		__entry->active = q->properties.is_active;
		__entry->ret = ret;
	),
	TP_printk(KFD_QUEUE_FMT " req_prio=%u percent=%u ring_base=0x%llx ring_size=%llu active=%u ret=%d",
		kfd_queue_args, __entry->req_prio, __entry->percent, __entry->ring_base,
		__entry->ring_size, __entry->active, __entry->ret)
);

/*
 * The MQD of a new queue was filled in.
 *	mqd_addr	GPU address (GART)
 *	pipe_prio	enum kfd_prio_pipe; queue_prio: 0..15; as KFD writes them to the MQD of
 *			a compute queue; since Linux 7 it writes pipe_prio only
 *	cwsr_base	user address of the save area, 0 without CWSR
 */
TRACE_EVENT(kfd_init_mqd,
	TP_PROTO(struct queue *q),
	TP_ARGS(q),
	TP_STRUCT__entry(
		KFD_QUEUE_FIELDS
		__field(u64, mqd_addr)
		__field(u64, cwsr_base)
		__field(u32, pipe_prio)
		__field(u32, queue_prio)
	),
	TP_fast_assign(
		kfd_queue_assign(q);
		__entry->mqd_addr = q->gart_mqd_addr;
		__entry->cwsr_base = q->properties.ctx_save_restore_area_address;
		__entry->pipe_prio = kfd_prio_pipe_of(pipe_priority_map[q->properties.priority]);
		__entry->queue_prio = q->properties.priority;
	),
	TP_printk(KFD_QUEUE_FMT " mqd_addr=0x%llx cwsr_base=0x%llx pipe_prio=%s queue_prio=%u",
		kfd_queue_args, __entry->mqd_addr, __entry->cwsr_base,
		kfd_show_pipe_priority(__entry->pipe_prio), __entry->queue_prio)
);

/*
 * A runlist was sent to HWS, which maps every active queue of the GPU.
 *	processes	processes in the runlist; queues: their active queues
 *	cp_queues	number of compute queues among these
 *	over_subscribed	the runlist exceeds the VMIDs or HQDs and chains to itself
 *	runlist_addr	GPU address (GART); runlist_size: bytes; both 0 if ret is not 0
 */
TRACE_EVENT(kfd_map_queues,
	TP_PROTO(struct device_queue_manager *dqm, int ret),
	TP_ARGS(dqm, ret),
	TP_STRUCT__entry(
		__field(u32, gpu_id)
		__field(u32, processes)
		__field(u32, queues)
		__field(u32, cp_queues)
		__field(u32, over_subscribed)
		__field(u32, runlist_size)
		__field(u64, runlist_addr)
		__field(s32, ret)
	),
	TP_fast_assign(
		struct packet_manager *pm = &dqm->packet_mgr;

		__entry->gpu_id = dqm->dev->id;
		__entry->processes = dqm->processes_count - dqm->prio.skipped;
		__entry->queues = dqm->active_queue_count;
		__entry->cp_queues = dqm->active_cp_queue_count;
		__entry->over_subscribed = 0;
		__entry->runlist_size = 0;
		__entry->runlist_addr = 0;
		if (!ret && pm->allocated) {
			__entry->runlist_size = pm->ib_size_bytes;
			__entry->runlist_addr = pm->ib_buffer_obj->gpu_addr;
			/* Only the packet that chains the runlist to itself is added to these */
			__entry->over_subscribed = pm->ib_size_bytes >
				__entry->processes * pm->pmf->map_process_size +
				dqm->active_queue_count * pm->pmf->map_queues_size;
		}
		__entry->ret = ret;
		kfd_zero_after(ret);
	),
	TP_printk("gpu_id=%u processes=%u queues=%u cp_queues=%u over_subscribed=%u runlist_addr=0x%llx runlist_size=%u ret=%d",
		__entry->gpu_id, __entry->processes, __entry->queues, __entry->cp_queues,
		__entry->over_subscribed, __entry->runlist_addr, __entry->runlist_size,
		__entry->ret)
);

/*
 * A queue of a runlist (after kfd_map_queues), or one that was added to MES.
 *	type		enum kfd_prio_type
 *	mqd_addr	GPU address (GART)
 *	doorbell	doorbell index on the BAR, in dwords
 *	gang_level	enum kfd_prio_gang: the level in MES; -1 with HWS
 */
TRACE_EVENT(kfd_map_queue,
	TP_PROTO(struct queue *q, s32 gang_level, int ret),
	TP_ARGS(q, gang_level, ret),
	TP_STRUCT__entry(
		KFD_QUEUE_FIELDS
		__field(u32, type)
		__field(u32, doorbell)
		__field(u64, mqd_addr)
		__field(s32, gang_level)
		__field(s32, ret)
	),
	TP_fast_assign(
		kfd_queue_assign(q);
		__entry->type = kfd_prio_type_of(q->properties.type);
		__entry->doorbell = q->properties.doorbell_off;
		__entry->mqd_addr = q->gart_mqd_addr;
		__entry->gang_level = gang_level;
		__entry->ret = ret;
	),
	TP_printk(KFD_QUEUE_FMT " type=%s mqd_addr=0x%llx doorbell=0x%x gang_level=%d ret=%d",
		kfd_queue_args, kfd_show_queue_type(__entry->type), __entry->mqd_addr,
		__entry->doorbell, __entry->gang_level, __entry->ret)
);

/*
 * KFD is about to ask HWS to unmap queues, or MES to remove a queue.
 *	filter		enum kfd_prio_filter
 *	filter_param	PASID if filter uses one; with MES the doorbell of the queue; else 0
 *	seq		joins the event to kfd_unmap_queues_done of the same GPU
 *	pid, queue_id	with MES those of the queue; else -1 and 0xffffffff
 */
TRACE_EVENT(kfd_unmap_queues,
	TP_PROTO(struct device_queue_manager *dqm, struct queue *q, u32 filter, u32 param),
	TP_ARGS(dqm, q, filter, param),
	TP_STRUCT__entry(
		__field(u32, gpu_id)
		__field(s32, pid)
		__field(u32, queue_id)
		__field(u32, filter)
		__field(u32, filter_param)
		__field(u32, seq)
	),
	TP_fast_assign(
		__entry->gpu_id = dqm->dev->id;
		__entry->pid = q ? q->process->lead_thread->tgid : -1;
		__entry->queue_id = q ? q->properties.queue_id : ~0U;
		__entry->filter = filter;
		__entry->filter_param = param;
		__entry->seq = dqm->prio.unmap_seq;
	),
	TP_printk("gpu_id=%u pid=%d queue_id=%d filter=%s filter_param=0x%x seq=%u",
		__entry->gpu_id, __entry->pid, (int)__entry->queue_id,
		kfd_show_unmap_filter(__entry->filter), __entry->filter_param,
		__entry->seq)
);

/*
 * The scheduler has confirmed an unmap, or the unmap has failed (ret).
 *	seq		as in its kfd_unmap_queues
 *	dur_ns		time from before the request was written to this event
 */
TRACE_EVENT(kfd_unmap_queues_done,
	TP_PROTO(struct device_queue_manager *dqm, int ret),
	TP_ARGS(dqm, ret),
	TP_STRUCT__entry(
		__field(u32, gpu_id)
		__field(u32, seq)
		__field(u64, dur_ns)
		__field(s32, ret)
	),
	TP_fast_assign(
		__entry->gpu_id = dqm->dev->id;
		__entry->seq = dqm->prio.unmap_seq;
		__entry->dur_ns = ktime_to_ns(ktime_sub(ktime_get(), dqm->prio.unmap_start));
		__entry->ret = ret;
		kfd_zero_after(ret);
	),
	TP_printk("gpu_id=%u seq=%u dur_ns=%llu ret=%d", __entry->gpu_id, __entry->seq,
		__entry->dur_ns, __entry->ret)
);

DECLARE_EVENT_CLASS(kfd_process_on_gpu,
	TP_PROTO(struct qcm_process_device *qpd, int ret),
	TP_ARGS(qpd, ret),
	TP_STRUCT__entry(
		__field(u32, gpu_id)
		__field(s32, pid)
		__field(s32, prio)
		__field(u32, evicted)
		__field(u32, queues)
		__field(s32, ret)
	),
	TP_fast_assign(
		__entry->gpu_id = qpd->dqm->dev->id;
		__entry->pid = qpd->pqm->process->lead_thread->tgid;
		__entry->prio = kfd_prio_of_process(qpd->pqm->process);
		__entry->evicted = qpd->evicted;
		__entry->queues = qpd->queue_count;
		__entry->ret = ret;
	),
	TP_printk("gpu_id=%u pid=%d prio=%d evicted=%u queues=%u ret=%d", __entry->gpu_id,
		__entry->pid, __entry->prio, __entry->evicted, __entry->queues,
		__entry->ret)
);

/*
 * KFD has evicted a process from a GPU, for memory management, suspend or a debugger.
 *	prio		priority that is set for the process, -1 if none is
 *	evicted		number of reasons that keep its queues inactive, with this one
 *	queues		number of its queues on this GPU
 */
DEFINE_EVENT(kfd_process_on_gpu, kfd_evict_process,
	TP_PROTO(struct qcm_process_device *qpd, int ret),
	TP_ARGS(qpd, ret)
);

/* KFD has restored an evicted process. Its queues run again when evicted is 0. */
DEFINE_EVENT(kfd_process_on_gpu, kfd_restore_process,
	TP_PROTO(struct qcm_process_device *qpd, int ret),
	TP_ARGS(qpd, ret)
);

/*
 * The priority of a process was set, taken away (prio -1) or inherited.
 *	old_prio	previous priority, -1 if none was set
 *	by_pid		process that has set it; the parent if it is inherited
 *	source		enum kfd_prio_source
 *	queues		number of queues that have it now
 *	ret		result of applying it to them; the priority is set in any case
 */
TRACE_EVENT(kfd_set_priority,
	TP_PROTO(s32 pid, s32 prio, s32 old_prio, s32 by_pid, u32 source, u32 queues,
		 int ret),
	TP_ARGS(pid, prio, old_prio, by_pid, source, queues, ret),
	TP_STRUCT__entry(
		__field(s32, pid)
		__field(s32, prio)
		__field(s32, old_prio)
		__field(s32, by_pid)
		__field(u32, source)
		__field(u32, queues)
		__field(s32, ret)
	),
	TP_fast_assign(
		__entry->pid = pid;
		__entry->prio = prio;
		__entry->old_prio = old_prio;
		__entry->by_pid = by_pid;
		__entry->source = source;
		__entry->queues = queues;
		__entry->ret = ret;
	),
	TP_printk("pid=%d prio=%d old_prio=%d by_pid=%d source=%s queues=%u ret=%d",
		__entry->pid, __entry->prio, __entry->old_prio, __entry->by_pid,
		kfd_show_source(__entry->source), __entry->queues, __entry->ret)
);

/*
 * The scheduler firmware (HWS or MES) does not answer, and KFD requests a GPU reset.
 *	processes	processes on this GPU; queues: their active queues
 */
TRACE_EVENT(kfd_hws_hang,
	TP_PROTO(struct device_queue_manager *dqm),
	TP_ARGS(dqm),
	TP_STRUCT__entry(
		__field(u32, gpu_id)
		__field(u32, processes)
		__field(u32, queues)
	),
	TP_fast_assign(
		__entry->gpu_id = dqm->dev->id;
		__entry->processes = dqm->processes_count;
		__entry->queues = dqm->active_queue_count;
	),
	TP_printk("gpu_id=%u processes=%u queues=%u", __entry->gpu_id,
		__entry->processes, __entry->queues)
);

/*
 * A process that may preempt has work, after it had none.
 *	prio		priority that is set for the process
 *	source		enum kfd_prio_wake
 *	handled		1: decided in the fault of its doorbell; 0: by the GPU's thread,
 *			or by an operation of KFD that held the lock
 */
TRACE_EVENT(kfd_doorbell_wake,
	TP_PROTO(struct qcm_process_device *qpd, u32 source, u32 handled),
	TP_ARGS(qpd, source, handled),
	TP_STRUCT__entry(
		__field(u32, gpu_id)
		__field(s32, pid)
		__field(s32, prio)
		__field(u32, source)
		__field(u32, handled)
	),
	TP_fast_assign(
		__entry->gpu_id = qpd->dqm->dev->id;
		__entry->pid = qpd->pqm->process->lead_thread->tgid;
		__entry->prio = qpd->prio.claim.prio;
		__entry->source = source;
		__entry->handled = handled;
	),
	TP_printk("gpu_id=%u pid=%d prio=%d source=%s handled=%u", __entry->gpu_id,
		__entry->pid, __entry->prio, kfd_show_wake(__entry->source), __entry->handled)
);

/*
 * Processes below a level are about to be taken off a GPU, and at least one of them has work.
 *	pid, prio	of the process that preempts; prio is the level
 *	seq		joins the event to kfd_preempt_end of the same GPU
 *	reason		enum kfd_prio_reason: WORK; FLOOR if higher claims are held for it; RATE if a
 *			claim of higher priority must wait for max_preempt_per_s
 *	victims		processes that are off now and have work, or may have some
 *	queues		queues that are taken off, including those of processes without work
 */
TRACE_EVENT(kfd_preempt_begin,
	TP_PROTO(struct device_queue_manager *dqm, u32 reason),
	TP_ARGS(dqm, reason),
	TP_STRUCT__entry(
		__field(u32, gpu_id)
		__field(s32, pid)
		__field(s32, prio)
		__field(u32, seq)
		__field(u32, reason)
		__field(u32, victims)
		__field(u32, queues)
	),
	TP_fast_assign(
		__entry->gpu_id = dqm->dev->id;
		__entry->pid = dqm->prio.pid;
		__entry->prio = dqm->prio.policy.level;
		__entry->seq = dqm->prio.seq;
		__entry->reason = reason;
		__entry->victims = dqm->prio.charged;
		__entry->queues = dqm->prio.victim_queues;
	),
	TP_printk("gpu_id=%u pid=%d prio=%d seq=%u reason=%s victims=%u queues=%u",
		__entry->gpu_id, __entry->pid, __entry->prio, __entry->seq,
		kfd_show_reason(__entry->reason), __entry->victims, __entry->queues)
);

/*
 * A preemption has ended: its victims were put back, or another preemption follows.
 *	pid, prio, seq	as in its kfd_preempt_begin
 *	reason		enum kfd_prio_reason: IDLE, BUDGET, FLOOR, OFF, GONE; WORK or
 *			RATE if another process or level takes over
 *	victims		preempted processes that were put back
 *	queues		queues that were put back (64 bits, so that no hole precedes dur_ns)
 *	dur_ns		time from kfd_preempt_begin to this event
 *	ret		result of the update, which is tried again after an error; 0 if the
 *			preemption has ended before the runlist is sent (ret of kfd_map_queues)
 *	save_ns		longest save of a queue (CWSR), measured by CP firmware; -1: not known
 */
TRACE_EVENT(kfd_preempt_end,
	TP_PROTO(struct device_queue_manager *dqm, s32 pid, s32 prio, u32 seq, u32 reason,
		 u32 victims, u32 queues, u64 dur_ns, int ret, u64 save_ns),
	TP_ARGS(dqm, pid, prio, seq, reason, victims, queues, dur_ns, ret, save_ns),
	TP_STRUCT__entry(
		__field(u32, gpu_id)
		__field(s32, pid)
		__field(s32, prio)
		__field(u32, seq)
		__field(u32, reason)
		__field(u32, victims)
		__field(u64, queues)
		__field(u64, dur_ns)
		__field(s32, ret)
		__field(s32, save_ns)
	),
	TP_fast_assign(
		__entry->gpu_id = dqm->dev->id;
		__entry->pid = pid;
		__entry->prio = prio;
		__entry->seq = seq;
		__entry->reason = reason;
		__entry->victims = victims;
		__entry->queues = queues;
		__entry->dur_ns = dur_ns;
		__entry->ret = ret;
		__entry->save_ns = save_ns ? min_t(u64, save_ns, S32_MAX) : -1;
		kfd_zero_after(save_ns);
	),
	TP_printk("gpu_id=%u pid=%d prio=%d seq=%u reason=%s victims=%u queues=%llu dur_ns=%llu ret=%d save_ns=%d",
		__entry->gpu_id, __entry->pid, __entry->prio, __entry->seq,
		kfd_show_reason(__entry->reason), __entry->victims, __entry->queues,
		__entry->dur_ns, __entry->ret, __entry->save_ns)
);

/*
 * The circuit breaker of a GPU was opened or closed. A breaker closes after off_ns, or when
 * kfd_preempt is written.
 *	cause		enum kfd_prio_breaker; CLOSED: preemption is on again
 *	pid, prio	of the process that preempts now and the level; 0 and -1 if none does
 *	seq		of the last kfd_preempt_begin of this GPU
 *	victims		processes that are off now, without parked ones; 0 if the fault of a doorbell
 *			has left the unmap, which revokes the marks: the kfd_preempt_begin of seq
 *			has how many it took off
 *	off_ns		for how long the breaker is open; 0: until kfd_preempt is written, or
 *			it is closed
 *	culprit		PID of the process whose queue the scheduler could not unmap or add; 0 if it
 *			is not known
 */
TRACE_EVENT(kfd_preempt_breaker,
	TP_PROTO(struct device_queue_manager *dqm),
	TP_ARGS(dqm),
	TP_STRUCT__entry(
		__field(u32, gpu_id)
		__field(s32, pid)
		__field(s32, prio)
		__field(u32, seq)
		__field(u32, cause)
		__field(u32, victims)
		__field(u64, off_ns)
		__field(s32, culprit)
	),
	TP_fast_assign(
		__entry->gpu_id = dqm->dev->id;
		__entry->pid = dqm->prio.pid;
		__entry->prio = dqm->prio.policy.level;
		__entry->seq = dqm->prio.seq;
		__entry->cause = dqm->prio.breaker;
		__entry->victims = dqm->prio.nr_off - dqm->prio.parked;
		__entry->off_ns = dqm->prio.breaker == KFD_PRIO_BREAKER_CLOSED ||
				  dqm->prio.breaker_until == KFD_PRIO_NEVER ? 0 :
				  dqm->prio.breaker_until - dqm->prio.breaker_at;
		__entry->culprit = dqm->prio.culprit.pid;
		kfd_zero_after(culprit);
	),
	TP_printk("gpu_id=%u pid=%d prio=%d seq=%u cause=%s victims=%u off_ns=%llu culprit=%d",
		__entry->gpu_id, __entry->pid, __entry->prio, __entry->seq,
		kfd_show_breaker(__entry->cause), __entry->victims, __entry->off_ns,
		__entry->culprit)
);

/*
 * A process without work is parked: its queues leave the GPU until it rings.
 *	queues		number of its queues on the GPU
 *	reason		enum kfd_prio_park_reason
 *	seq		joins the event to kfd_unpark of the same GPU
 *	idle_ns		for how long the process has had no work
 */
TRACE_EVENT(kfd_park,
	TP_PROTO(struct qcm_process_device *qpd, u32 reason, u64 idle_ns),
	TP_ARGS(qpd, reason, idle_ns),
	TP_STRUCT__entry(
		__field(u32, gpu_id)
		__field(s32, pid)
		__field(u32, queues)
		__field(u32, reason)
		__field(u64, idle_ns)
		__field(u32, seq)
	),
	TP_fast_assign(
		__entry->gpu_id = qpd->dqm->dev->id;
		__entry->pid = qpd->pqm->process->lead_thread->tgid;
		__entry->queues = qpd->queue_count;
		__entry->reason = reason;
		__entry->idle_ns = idle_ns;
		__entry->seq = qpd->prio.park.seq;
		kfd_zero_after(seq);
	),
	TP_printk("gpu_id=%u pid=%d queues=%u reason=%s idle_ns=%llu seq=%u", __entry->gpu_id,
		__entry->pid, __entry->queues, kfd_show_park(__entry->reason),
		__entry->idle_ns, __entry->seq)
);

/*
 * A process is parked no more. If it is to run, the runlist with its queues was sent, or MES has
 * them.
 *	queues		number of its queues on the GPU
 *	reason		enum kfd_prio_unpark_reason
 *	wake_ns		time from its ring to this event if the reason is RING; else 0
 *	parked_ns	for how long it was parked
 *	seq		as in its kfd_park
 */
TRACE_EVENT(kfd_unpark,
	TP_PROTO(struct qcm_process_device *qpd, u32 reason, u64 wake_ns, u64 parked_ns),
	TP_ARGS(qpd, reason, wake_ns, parked_ns),
	TP_STRUCT__entry(
		__field(u32, gpu_id)
		__field(s32, pid)
		__field(u32, queues)
		__field(u32, reason)
		__field(u64, wake_ns)
		__field(u64, parked_ns)
		__field(u32, seq)
	),
	TP_fast_assign(
		__entry->gpu_id = qpd->dqm->dev->id;
		__entry->pid = qpd->pqm->process->lead_thread->tgid;
		__entry->queues = qpd->queue_count;
		__entry->reason = reason;
		__entry->wake_ns = wake_ns;
		__entry->parked_ns = parked_ns;
		__entry->seq = qpd->prio.park.seq;
		kfd_zero_after(seq);
	),
	TP_printk("gpu_id=%u pid=%d queues=%u reason=%s wake_ns=%llu parked_ns=%llu seq=%u",
		__entry->gpu_id, __entry->pid, __entry->queues,
		kfd_show_unpark(__entry->reason), __entry->wake_ns, __entry->parked_ns,
		__entry->seq)
);

/*
 * A process with work is about to be taken off a GPU by its groups, or is off already and has work
 * now.
 *	queues		number of its queues on the GPU
 *	reason		enum kfd_prio_throttle
 *	share		number of the group that the process was put in, or has inherited; 0: none
 *	cgroup_share	number of the group of its cgroup; 0: none
 *	seq		joins the event to kfd_throttle_end of the same GPU
 */
TRACE_EVENT(kfd_throttle_begin,
	TP_PROTO(struct qcm_process_device *qpd, u32 reason, u64 share, u64 cgroup_share),
	TP_ARGS(qpd, reason, share, cgroup_share),
	TP_STRUCT__entry(
		__field(u32, gpu_id)
		__field(s32, pid)
		__field(u32, queues)
		__field(u32, reason)
		__field(u64, share)
		__field(u64, cgroup_share)
		__field(u32, seq)
	),
	TP_fast_assign(
		__entry->gpu_id = qpd->dqm->dev->id;
		__entry->pid = qpd->pqm->process->lead_thread->tgid;
		__entry->queues = qpd->queue_count;
		__entry->reason = reason;
		__entry->share = share;
		__entry->cgroup_share = cgroup_share;
		__entry->seq = qpd->prio.share.seq;
		kfd_zero_after(seq);
	),
	TP_printk("gpu_id=%u pid=%d queues=%u reason=%s share=%llu cgroup_share=%llu seq=%u",
		__entry->gpu_id, __entry->pid, __entry->queues,
		kfd_show_throttle(__entry->reason), __entry->share, __entry->cgroup_share,
		__entry->seq)
);

/*
 * A process is throttled no more: it is put back, another reason keeps it off, or it has no work.
 *	queues		number of its queues on the GPU
 *	reason		as in its kfd_throttle_begin
 *	throttled_ns	for how long it was throttled
 *	seq		as in its kfd_throttle_begin
 */
TRACE_EVENT(kfd_throttle_end,
	TP_PROTO(struct qcm_process_device *qpd, u32 reason, u64 throttled_ns),
	TP_ARGS(qpd, reason, throttled_ns),
	TP_STRUCT__entry(
		__field(u32, gpu_id)
		__field(s32, pid)
		__field(u32, queues)
		__field(u32, reason)
		__field(u64, throttled_ns)
		__field(u32, seq)
	),
	TP_fast_assign(
		__entry->gpu_id = qpd->dqm->dev->id;
		__entry->pid = qpd->pqm->process->lead_thread->tgid;
		__entry->queues = qpd->queue_count;
		__entry->reason = reason;
		__entry->throttled_ns = throttled_ns;
		__entry->seq = qpd->prio.share.seq;
		kfd_zero_after(seq);
	),
	TP_printk("gpu_id=%u pid=%d queues=%u reason=%s throttled_ns=%llu seq=%u",
		__entry->gpu_id, __entry->pid, __entry->queues,
		kfd_show_throttle(__entry->reason), __entry->throttled_ns, __entry->seq)
);

#endif /* KFD_PRIO_EVENTS_H_INCLUDED */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE kfd_prio_events
#ifndef KFD_PRIO_EVENTS_CHECK
#include <trace/define_trace.h>
#endif
