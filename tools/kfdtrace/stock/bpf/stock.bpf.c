// SPDX-License-Identifier: GPL-2.0
/*
 * kfd events of a driver that has none: kprobes on functions of amdkfd.
 *
 * A call is noted at its entry, per thread, and reported at its return, when its result is known.
 * What the driver does not know is not reported: no event of priorities, preemption or parking.
 *
 * There are two programs, one for entries and one for returns, so that all functions are probed at once where the
 * kernel can (BPF_TRACE_KPROBE_MULTI).  The cookie says which function it is.
 */
#include "stock.h"

static __always_inline void report_asked(void)
{
	EVENT(kfd_ioctl_create_queue) {
		e->pid = bpf_get_current_pid_tgid() >> 32;
		SEND();
	}
}

/* The queue has its doorbell and its MQD: at the latest before it is mapped. */
static __always_inline void report_created(struct call *call)
{
	struct queue *q = (struct queue *)call->args[1];
	__u32 prio;

	if (call->reported || !queue_typed(q))
		return;
	call->reported = 1;
	{
		EVENT(kfd_create_queue) {
			QUEUE(q);
			e->type = type_of(q);
			e->format = BPF_CORE_READ(q, properties.format) ==
				    bpf_core_enum_value(enum kfd_queue_format, KFD_QUEUE_FORMAT_AQL);
			e->req_prio = BPF_CORE_READ(q, properties.priority);
			e->doorbell = BPF_CORE_READ(q, properties.doorbell_off);
			e->ring_base = BPF_CORE_READ(q, properties.queue_address);
			e->ring_size = BPF_CORE_READ(q, properties.queue_size);
			e->rptr = (__u64)BPF_CORE_READ(q, properties.read_ptr);
			e->wptr = (__u64)BPF_CORE_READ(q, properties.write_ptr);
			e->cwsr_base = BPF_CORE_READ(q, properties.ctx_save_restore_area_address);
			e->cwsr_size = BPF_CORE_READ(q, properties.ctx_save_restore_area_size);
			SEND();
		}
	}
	{
		EVENT(kfd_init_mqd) {
			QUEUE(q);
			prio = BPF_CORE_READ(q, properties.priority);
			e->mqd_addr = BPF_CORE_READ(q, gart_mqd_addr);
			e->cwsr_base = BPF_CORE_READ(q, properties.ctx_save_restore_area_address);
			e->pipe_prio = prio < 7 ? KFD_PRIO_PIPE_LOW : prio < 11 ? KFD_PRIO_PIPE_MEDIUM : KFD_PRIO_PIPE_HIGH;
			e->queue_prio = prio;
			SEND();
		}
	}
}

/* Not inlined: several functions come here. */
static __noinline int report_created_now(void)
{
	struct call *call = call_now(STOCK_CREATE);

	if (call)
		report_created(call);
	return 0;
}

static __noinline int report_destroyed(struct queue *q, __u32 reason, __s32 ret)
{
	if (!queue_typed(q))
		return 0;
	EVENT(kfd_destroy_queue) {
		QUEUE(q);
		e->reason = reason;
		e->ret = ret;
		SEND();
	}
	return 0;
}

static __noinline int created(struct call *call, int ret)
{
	/* a queue that failed before it was complete was never reported */
	if (!ret)
		report_created(call);
	else if (call->reported)
		report_destroyed((struct queue *)call->args[1], KFD_PRIO_DESTROY_CREATE_FAILED, ret);
	return 0;
}

static __noinline int updated(struct queue *q, int ret)
{
	if (!queue_typed(q))
		return 0;
	EVENT(kfd_update_queue) {
		QUEUE(q);
		e->req_prio = BPF_CORE_READ(q, properties.priority);
		e->percent = BPF_CORE_READ(q, properties.queue_percent);
		e->ring_base = BPF_CORE_READ(q, properties.queue_address);
		e->ring_size = BPF_CORE_READ(q, properties.queue_size);
		e->active = BPF_CORE_READ(q, properties.is_active);
		e->ret = ret;
		SEND();
	}
	return 0;
}

/* @ts: when; 0: now */
static __always_inline void report_mapped(struct queue *q, __s32 ret, __u64 ts)
{
	EVENT(kfd_map_queue) {
		if (ts)
			room->record.ts = ts;
		QUEUE(q);
		e->type = type_of(q);
		e->doorbell = BPF_CORE_READ(q, properties.doorbell_off);
		e->mqd_addr = BPF_CORE_READ(q, gart_mqd_addr);
		e->gang_level = GANG_UNKNOWN;
		e->ret = ret;
		SEND();
	}
}

/* Where we are in the list of processes, and in the list of queues of one. */
struct walk {
	struct list_head *processes, *process;
	struct list_head *queues, *queue;
	bool done;
};

/* Of a variable alone: members of a structure of ours would be looked up in the driver, too. */
static __always_inline struct list_head *next_of(struct list_head *list)
{
	return BPF_CORE_READ(list, next);
}

static long walk_step(__u32 step, struct walk *walk)
{
	struct device_process_node *node;
	struct qcm_process_device *qpd;
	struct queue *q;

	if (walk->queue != walk->queues) {
		q = (struct queue *)((char *)walk->queue - bpf_core_field_offset(struct queue, list));
		if (queue_typed(q) && BPF_CORE_READ(q, properties.is_active))
			report_mapped(q, 0, 0);
		walk->queue = next_of(walk->queue);
		return 0;
	}
	if (walk->process == walk->processes || !walk->process) {
		walk->done = true;
		return 1;
	}
	node = (struct device_process_node *)((char *)walk->process -
					      bpf_core_field_offset(struct device_process_node, list));
	qpd = BPF_CORE_READ(node, qpd);
	walk->queues = (struct list_head *)((char *)qpd +
					    bpf_core_field_offset(struct qcm_process_device, queues_list));
	walk->queue = next_of(walk->queues);
	walk->process = next_of(walk->process);
	return 0;
}

static __noinline int runlist_sent(struct packet_manager *pm, int ret)
{
	struct device_queue_manager *dqm = BPF_CORE_READ(pm, dqm);
	struct walk walk = {};

	if (!dqm_typed(dqm))
		return 0;
	{
		EVENT(kfd_map_queues) {
			e->gpu_id = gpu_of(BPF_CORE_READ(dqm, dev));
			e->processes = BPF_CORE_READ(dqm, processes_count);
			e->queues = BPF_CORE_READ(dqm, active_queue_count);
			e->cp_queues = BPF_CORE_READ(dqm, active_cp_queue_count);
			if (!ret && BPF_CORE_READ(pm, allocated)) {
				e->runlist_size = BPF_CORE_READ(pm, ib_size_bytes);
				e->runlist_addr = BPF_CORE_READ(pm, ib_buffer_obj, gpu_addr);
				/* the chaining packet is the only extra */
				e->over_subscribed =
					e->runlist_size >
					e->processes * BPF_CORE_READ(pm, pmf, map_process_size) +
						e->queues * BPF_CORE_READ(pm, pmf, map_queues_size);
			}
			e->ret = ret;
			SEND();
		}
	}
	if (ret)
		return 0;
	walk.processes = (struct list_head *)((char *)dqm +
					      bpf_core_field_offset(struct device_queue_manager, queues));
	walk.process = next_of(walk.processes);
	/*
	 * No list of queues yet.  Before 6.7 the verifier looks at one step alone, and would remove what it cannot reach with
	 * values that it knows.
	 */
	walk.queues = walk.queue = walk.processes;
	bpf_loop(MAX_QUEUES, walk_step, &walk, 0);
	if (!walk.done)
		__sync_fetch_and_add(&not_walked, 1);
	return 0;
}

static __always_inline __u32 seq_next(__u64 dqm)
{
	__u32 *last = bpf_map_lookup_elem(&seqs, &dqm), first = 1;

	if (last)
		return ++*last;
	bpf_map_update_elem(&seqs, &dqm, &first, BPF_ANY);
	return first;
}

static __always_inline __u32 filter_of(__u32 filter)
{
	if (filter == bpf_core_enum_value(enum kfd_unmap_queues_filter, KFD_UNMAP_QUEUES_FILTER_ALL_QUEUES))
		return KFD_PRIO_FILTER_ALL;
	if (filter ==
	    bpf_core_enum_value(enum kfd_unmap_queues_filter, KFD_UNMAP_QUEUES_FILTER_DYNAMIC_QUEUES))
		return KFD_PRIO_FILTER_DYNAMIC;
	if (filter == bpf_core_enum_value(enum kfd_unmap_queues_filter, KFD_UNMAP_QUEUES_FILTER_BY_PASID))
		return KFD_PRIO_FILTER_PASID;
	return KFD_PRIO_FILTER_OTHER;
}

static __always_inline void report_unmapped(struct device_queue_manager *dqm, __u32 seq, __u64 begin,
					  __u64 end, __s32 ret)
{
	EVENT(kfd_unmap_queues_done) {
		room->record.ts = end;
		e->gpu_id = gpu_of(BPF_CORE_READ(dqm, dev));
		e->seq = seq;
		e->dur_ns = end - begin;
		e->ret = ret;
		SEND();
	}
}

/* The unmap itself begins here, and ends when the function around it has waited for its fence. */
static __noinline int unmap_sent(struct packet_manager *pm, __u32 filter, __u32 filter_param)
{
	struct device_queue_manager *dqm = BPF_CORE_READ(pm, dqm);
	struct call call = {};

	if (!dqm_typed(dqm))
		return 0;
	call.args[0] = (__u64)dqm;
	call.seq = seq_next((__u64)dqm);
	call.ts = bpf_ktime_get_ns();
	{
		EVENT(kfd_unmap_queues) {
			e->gpu_id = gpu_of(BPF_CORE_READ(dqm, dev));
			e->pid = -1;
			e->queue_id = ~0U;
			e->filter = filter_of(filter);
			e->filter_param = filter_param;
			e->seq = call.seq;
			SEND();
		}
	}
	call_note(STOCK_UNMAP, &call);
	return 0;
}

/* The compiler may have changed the arguments: a queue and a manager of two GPUs are neither. */
static __always_inline bool mes_asked(struct device_queue_manager *dqm, struct queue *q, int ret)
{
	if (!dqm_typed(dqm))
		return false;
	if (BPF_CORE_READ(dqm, dev) != BPF_CORE_READ(q, device)) {
		__sync_fetch_and_add(&not_understood, 1);
		return false;
	}
	/* a reset is on its way, or the scheduler is stopped: MES was not asked */
	if (ret == -EIO)
		return false;
	if (!mes_heeds_halt)
		return true;
	return BPF_CORE_READ(dqm, sched_running) &&
	       !(bpf_core_field_exists(dqm->sched_halt) && BPF_CORE_READ(dqm, sched_halt)) &&
	       !(bpf_core_field_exists(q->properties.is_reset) && BPF_CORE_READ(q, properties.is_reset));
}

static __noinline int mes_added(struct device_queue_manager *dqm, struct queue *q, int ret, __u64 end)
{
	if (mes_asked(dqm, q, ret))
		report_mapped(q, ret, end);
	return 0;
}

static __noinline int mes_removed(struct call *call, int ret, __u64 end)
{
	struct device_queue_manager *dqm = (struct device_queue_manager *)call->args[0];
	struct queue *q = (struct queue *)call->args[1];

	if (!mes_asked(dqm, q, ret))
		return 0;
	call->seq = seq_next((__u64)dqm);
	{
		EVENT(kfd_unmap_queues) {
			/* now it is known that MES was asked; it was asked when the call began */
			room->record.ts = call->ts;
			e->gpu_id = gpu_of(BPF_CORE_READ(dqm, dev));
			e->pid = pid_of(BPF_CORE_READ(q, process));
			e->queue_id = BPF_CORE_READ(q, properties.queue_id);
			e->filter = KFD_PRIO_FILTER_MES_QUEUE;
			e->filter_param = BPF_CORE_READ(q, properties.doorbell_off);
			e->seq = call->seq;
			SEND();
		}
	}
	report_unmapped(dqm, call->seq, call->ts, end, ret);
	return 0;
}

#define PROCESS(qpd)                                                      \
	do {                                                              \
		e->gpu_id = gpu_of(BPF_CORE_READ(qpd, dqm, dev));         \
		e->pid = pid_of(BPF_CORE_READ(qpd, pqm, process));        \
		e->prio = PRIO_UNSET;                                     \
		e->evicted = BPF_CORE_READ(qpd, evicted);                 \
		e->queues = BPF_CORE_READ(qpd, queue_count);              \
	} while (0)

static __noinline int evicted(struct device_queue_manager *dqm, struct qcm_process_device *qpd, int ret)
{
	if (!dqm_typed(dqm))
		return 0;
	EVENT(kfd_evict_process) {
		PROCESS(qpd);
		e->ret = ret;
		SEND();
	}
	return 0;
}

static __noinline int restored(struct device_queue_manager *dqm, struct qcm_process_device *qpd, int ret)
{
	if (!dqm_typed(dqm))
		return 0;
	EVENT(kfd_restore_process) {
		PROCESS(qpd);
		e->ret = ret;
		SEND();
	}
	return 0;
}

/* MES has not done what it was asked for; the call that asked it is reported when it returns, which is later */
static __always_inline void mes_ends(__u32 what, __u64 now)
{
	struct call *call = call_now(what);

	if (call)
		call->end = now;
}

static __noinline int hung(struct device_queue_manager *dqm)
{
	__u64 now = bpf_ktime_get_ns();

	if (!dqm_typed(dqm))
		return 0;
	mes_ends(STOCK_MES_ADD, now);
	mes_ends(STOCK_MES_REMOVE, now);
	EVENT(kfd_hws_hang) {
		e->gpu_id = gpu_of(BPF_CORE_READ(dqm, dev));
		e->processes = BPF_CORE_READ(dqm, processes_count);
		e->queues = BPF_CORE_READ(dqm, active_queue_count);
		SEND();
	}
	return 0;
}

SEC("kprobe")
int at_entry(struct pt_regs *ctx)
{
	__u64 what = bpf_get_attach_cookie(ctx);
	struct call call = { .args = { PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx) } };

	if (!on) {
		fired = true;
		return 0;
	}
	if (what == STOCK_RUNLIST || what == STOCK_UNMAP || what == STOCK_MES_ADD)
		report_created_now();
	if (what == STOCK_UNMAP)
		return unmap_has_type ?
			       unmap_sent((struct packet_manager *)call.args[0], call.args[2], PT_REGS_PARM4(ctx)) :
			       unmap_sent((struct packet_manager *)call.args[0], call.args[1], call.args[2]);
	if (what < NR_STOCK_CALLS) {
		call.ts = bpf_ktime_get_ns();
		call_note(what, &call);
	} else if (what == STOCK_IOCTL_CREATE) {
		report_asked();
	} else if (what == STOCK_DEL_QUEUE) {
		/* called for each queue of a process that ends, and by the ioctl that destroys one */
		if (call.args[0] && call_now(STOCK_UNINIT))
			report_destroyed((struct queue *)call.args[0], KFD_PRIO_DESTROY_EXIT, 0);
	} else if (what == STOCK_HANG) {
		hung((struct device_queue_manager *)call.args[0]);
	}
	return 0;
}

SEC("kprobe")
int at_return(struct pt_regs *ctx)
{
	/* before anything is sent, which takes a tenth of the time of a short unmap */
	__u64 end = bpf_ktime_get_ns();
	__u64 what = bpf_get_attach_cookie(ctx);
	int ret = PT_REGS_RC(ctx);
	struct call call;

	/* without an unmap before it, a wait for a fence is not the wait for one, or it was reported already */
	if (what >= NR_STOCK_CALLS || !call_end(what, &call))
		return 0;
	if (call.end)
		end = call.end;
	switch (what) {
	case STOCK_CREATE:
		return created(&call, ret);
	case STOCK_DESTROY:
		return report_destroyed((struct queue *)call.args[2], KFD_PRIO_DESTROY_IOCTL, ret);
	case STOCK_UPDATE:
		return updated((struct queue *)call.args[1], ret);
	case STOCK_RUNLIST:
		return runlist_sent((struct packet_manager *)call.args[0], ret);
	case STOCK_UNMAP:
		report_unmapped((struct device_queue_manager *)call.args[0], call.seq, call.ts, end, ret);
		return 0;
	case STOCK_MES_ADD:
		return mes_added((struct device_queue_manager *)call.args[0], (struct queue *)call.args[1], ret,
				 end);
	case STOCK_MES_REMOVE:
		return mes_removed(&call, ret, end);
	case STOCK_EVICT:
		return evicted((struct device_queue_manager *)call.args[0],
			       (struct qcm_process_device *)call.args[1], ret);
	case STOCK_RESTORE:
		return restored((struct device_queue_manager *)call.args[0],
				(struct qcm_process_device *)call.args[1], ret);
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
