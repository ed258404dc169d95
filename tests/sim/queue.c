// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: what the packet processors of all queues share: the memory of processes, signals,
 * errors, what a dispatch costs, doorbells, what an MQD keeps.
 *
 * A ring of the doorbell makes a packet processor look at the write index; without one it
 * sees only what was there when the queue was mapped, as hardware.
 * All of this runs in the firmware thread under sim_hws.lock and sim_gpu.vm_lock.
 */
#include "hws.h"
#include "execute.h"
#include "fault.h"
#include "soc15_int.h"
#include <linux/module.h>
#include <uapi/linux/kfd_ioctl.h>

static ulong wave_ns = 20000;
module_param(wave_ns, ulong, 0644);
MODULE_PARM_DESC(wave_ns, "time of one full load of waves, ns; a dispatch takes as many as its grid fills");

static ulong dispatch_ns_min = 2000;
module_param(dispatch_ns_min, ulong, 0644);
MODULE_PARM_DESC(dispatch_ns_min, "shortest dispatch, ns");

static bool reserved2_ns = true;
module_param(reserved2_ns, bool, 0644);
MODULE_PARM_DESC(reserved2_ns, "a nonzero reserved2 of a dispatch packet is its time in ns");

static ulong packet_ns = 500;
module_param(packet_ns, ulong, 0644);
MODULE_PARM_DESC(packet_ns, "time to process a barrier or PM4 packet, ns");

static char *rptr_at = "launch";
module_param(rptr_at, charp, 0444);
MODULE_PARM_DESC(rptr_at, "when the read index advances: launch (as hardware) or completion");

#define DISPATCH_NS_MAX	(3600ULL * NSEC_PER_SEC)
#define RETRY_NS	(20 * NSEC_PER_USEC)

/* amd_signal_t of the ROCr runtime (amd_hsa_signal.h) */
struct amd_signal {
	s64 kind;
	s64 value;
	u64 mailbox;
	u32 event_id;
	u32 reserved;
	u64 start_ts, end_ts;
	u64 queue;
	u64 reserved2;
};

/*
 * amd_queue_t of the ROCr runtime (amd_hsa_queue.h), seen from its read_dispatch_id: the MQD
 * has the address of that (CP_HQD_PQ_RPTR_REPORT_ADDR), and the field behind it says how
 * far into the structure it is, which is how the CP finds the rest.
 */
struct amd_queue_from_rptr {
	u64 read_dispatch_id;
	u32 base_byte_offset;
	u32 tmpring_size;
	u32 scratch_descriptor[4];
	u64 scratch_location;
	u64 scratch_size;
	u32 scratch_lane_size;
	u32 properties;
	u32 reserved3[2];
	u64 inactive_signal;
};

#define AMD_QUEUE_RPTR_OFFSET	128	/* offsetof(amd_queue_t, read_dispatch_id) */

static_assert(offsetof(struct amd_queue_from_rptr, inactive_signal) == 192 - AMD_QUEUE_RPTR_OFFSET);

/**
 * sim_packet_ns - time to process a packet that is no dispatch
 */
u64 sim_packet_ns(void)
{
	return READ_ONCE(packet_ns);
}

/**
 * sim_event_clock - the GPU's clock counter at the event that is handled
 * @h: the firmware
 *
 * sim_gpu_clock() later than that by as much as the firmware thread is late.
 */
u64 sim_event_clock(const struct sim_hws *h)
{
	return div_u64(h->eng.now, 10);
}

/**
 * sim_rptr_at_launch - does the read index advance when a packet is launched?
 */
bool sim_rptr_at_launch(void)
{
	return strcmp(rptr_at, "completion");
}

/**
 * sim_dispatch_work - what a dispatch is and costs
 * @g: the GPU
 * @q: the queue; one of PM4 packets has one XCC, all others run on all of them
 * @wgs: its work-groups
 * @wg_waves: waves of a work-group
 * @ns: time that the packet asks for (reserved2 of AQL), 0: none
 * @w: set
 */
void sim_dispatch_work(struct sim_gpu *g, struct sim_queue *q, u64 wgs, u64 wg_waves, u64 ns,
		       struct eng_work *w)
{
	u64 loads, room = sim_xcc_max_waves(g->prof);

	wgs = min(wgs, WORK_GRID_WGS_MAX);
	wg_waves = min(wg_waves, WORK_GRID_WAVES_MAX);
	loads = sim_xcc_work(g->prof, wgs, wg_waves, w);
	if (q->kind == SIM_QUEUE_PM4 && g->prof->num_xcc > 1) {
		loads = DIV64_U64_ROUND_UP(wgs * wg_waves, room);
		w->user[WORK_WAVES] = min(wgs * wg_waves, room);
		w->live_bytes = div64_u64(w->user[WORK_WAVES] * g->prof->ctx_bytes_per_cu,
					  sim_waves_per_cu(g->prof));
	}
	if (!ns || !READ_ONCE(reserved2_ns))
		ns = loads * READ_ONCE(wave_ns);
	w->slot = true;
	w->blocks = false;
	w->left_ns = clamp(ns, (u64)READ_ONCE(dispatch_ns_min), DISPATCH_NS_MAX);
}

/* ---- memory of processes, signals, errors ---- */

/**
 * sim_user_access - memory of a queue's process
 * @h: the firmware
 * @q: the queue
 * @va: GPU virtual address
 * @len: bytes, must not cross a page
 * @write: it may be written to
 *
 * Return: NULL: not now (a page is being looked for), or never (a VM fault: sets sim_queue.error).
 */
void *sim_user_access(struct sim_hws *h, struct sim_queue *q, u64 va, size_t len, bool write)
{
	struct sim_vm *vm = sim_vm_by_pd(h->g, to_sp(q->eq.proc)->pd);
	void *p;

	p = vm ? sim_vm_ptr(vm, va, len, write) : ERR_PTR(-EFAULT);
	if (!IS_ERR(p) && q->eq.proc->vmid >= 0 && sim_fault(h->g, SIM_FAULT_VM_FAULT))
		p = ERR_PTR(-EFAULT);
	if (!IS_ERR(p))
		return p;
	if (p != ERR_PTR(-EAGAIN))
		sim_vm_fault(h, q, va, p == ERR_PTR(-EACCES));
	return NULL;
}

/**
 * sim_queue_eop - the end-of-pipe interrupt
 * @h: the firmware
 * @q: the queue
 * @ctxid: KFD: the event that is signalled
 */
void sim_queue_eop(struct sim_hws *h, struct sim_queue *q, u32 ctxid)
{
	sim_hws_irq(h, SOC15_IH_CLIENTID_GRBM_CP, SOC15_INTSRC_CP_END_OF_PIPE, q->eq.proc->vmid,
		    to_sp(q->eq.proc)->pasid, ctxid);
}

static void signal_notify(struct sim_hws *h, struct sim_queue *q, struct amd_signal *s)
{
	u64 *mailbox;

	if (!s->mailbox)
		return;
	mailbox = sim_user_ptr(h, q, s->mailbox, sizeof(*mailbox));
	if (mailbox)
		WRITE_ONCE(*mailbox, s->event_id);
	sim_queue_eop(h, q, s->event_id);	/* finds the event without its slot too */
}

/**
 * sim_signal_add - add to the value of a signal, with time stamps, and tell who waits
 * @h: the firmware
 * @q: the queue
 * @va: the signal
 * @n: what to add
 * @start: GPU clock at the begin of what is complete now
 *
 * Return: false: not now, try again
 */
bool sim_signal_add(struct sim_hws *h, struct sim_queue *q, u64 va, s64 n, u64 start)
{
	struct amd_signal *s = sim_user_ptr(h, q, va, sizeof(*s));

	if (!s)
		return q->error;	/* a fault: never */
	s->start_ts = start;
	s->end_ts = sim_event_clock(h);
	__atomic_fetch_add(&s->value, n, __ATOMIC_SEQ_CST);
	signal_notify(h, q, s);
	return true;
}

/**
 * sim_queue_retry - what a packet does at its end cannot be done now: again later
 * @q: the queue
 * @w: the argument of eng_ops.complete
 *
 * Its slot is free. It goes before what was launched later, so nothing overtakes it.
 */
void sim_queue_retry(struct sim_queue *q, const struct eng_work *w)
{
	struct eng_work *again = &q->eq.work[0];

	memmove(again + 1, again, q->eq.nwork++ * sizeof(*again));
	*again = *w;
	again->left_ns = RETRY_NS;
	again->live_bytes = 0;
	again->saved_bytes = 0;
	again->slot = false;
	again->user[WORK_WAVES] = 0;
}

/**
 * sim_queue_report - tell ROCr of an error, if that can be done now
 * @h: the firmware
 * @q: the queue, with an @error_code
 *
 * ROCr learns of it from amd_queue_t.queue_inactive_signal: the CP sets bits in it, and
 * ROCr stops the queue and calls the application's callback. The bits are those of its
 * DynamicScratchHandler(): exception code - 15 is the number of the bit.
 */
void sim_queue_report(struct sim_hws *h, struct sim_queue *q)
{
	struct amd_queue_from_rptr *aq;
	struct amd_signal *s;

	if (q->kind != SIM_QUEUE_AQL || offset_in_page(q->rptr_va) + sizeof(*aq) > PAGE_SIZE)
		goto done;
	aq = sim_user_ptr(h, q, q->rptr_va, sizeof(*aq));
	if (!aq)
		return;
	if (aq->base_byte_offset != AMD_QUEUE_RPTR_OFFSET || !aq->inactive_signal)
		goto done;		/* not a queue of ROCr */
	s = sim_user_ptr(h, q, aq->inactive_signal, sizeof(*s));
	if (!s)
		return;
	__atomic_fetch_or(&s->value, 1ULL << (q->error_code - 15), __ATOMIC_SEQ_CST);
	signal_notify(h, q, s);
done:
	q->error_code = 0;
}

/**
 * sim_queue_error - a queue stops for good, as the CP does; ROCr and amdkfd are told
 * @h: the firmware
 * @q: the queue
 * @code: EC_QUEUE_PACKET_*
 * @why: for the log
 * @what: for the log
 */
void sim_queue_error(struct sim_hws *h, struct sim_queue *q, u32 code, const char *why, u64 what)
{
	if (q->error)
		return;
	q->error = true;
	q->error_code = code;
	h->n_error++;
	dev_warn_ratelimited(h->g->adev.dev,
			     "kfdsim: queue of pasid %#x stopped at packet %llu: %s %#llx\n",
			     to_sp(q->eq.proc)->pasid, q->next, why, what);
	sim_queue_report(h, q);
	/* the doorbell's number in its process: 1024 of 8 bytes, see doorbell_bo() */
	sim_hws_irq(h, SOC15_IH_CLIENTID_GRBM_CP, SOC15_INTSRC_CP_BAD_OPCODE, q->eq.proc->vmid,
		    to_sp(q->eq.proc)->pasid, (q->doorbell / 2 & 0x3ff) | code << 10);
}

/* ---- what the engine asks ---- */

/*
 * The read index is reported once, whether its page is there or not: what is launched or complete
 * must not have to look for it. In a large userptr, pages are found when they are first touched.
 */
static bool rptr_there(struct sim_hws *h, struct sim_queue *q)
{
	struct sim_vm *vm;

	if (q->rptr_step == h->n_step)
		return true;	/* sim_gpu.vm_lock is held since */
	vm = sim_vm_by_pd(h->g, to_sp(q->eq.proc)->pd);
	if (vm && sim_vm_ptr(vm, q->rptr_va, 4, true) == ERR_PTR(-EAGAIN))
		return false;
	q->rptr_step = h->n_step;
	return true;
}

static bool queue_peek(void *ctx, struct eng_queue *eq, u64 t, struct eng_work *w)
{
	struct sim_queue *q = to_sq(eq);
	struct sim_hws *h = ctx;

	/* read_wptr() wakes it; a queue that has met an error never launches again */
	eq->quiet = q->error || (!q->stream.ib && q->next >= q->wptr);
	if (eq->quiet || q->stalled || !rptr_there(h, q))
		return false;
	w->avail = q->seen;
	switch (q->kind) {
	case SIM_QUEUE_SDMA:
		return sim_sdma_peek(h, q, w);
	case SIM_QUEUE_PM4:
		return sim_pm4_peek(h, q, w);
	default:
		return sim_aql_peek(h, q, w);
	}
}

static void queue_launch(void *ctx, struct eng_queue *eq, struct eng_work *w, u64 t)
{
	struct sim_queue *q = to_sq(eq);
	struct sim_hws *h = ctx;

	q->packets++;
	h->n_packet++;
	h->last_work = t;
	if (q->kind == SIM_QUEUE_SDMA) {
		sim_sdma_launch(h, q, w);
	} else if (w->user[WORK_TYPE] & SIM_WORK_PM4) {
		sim_pm4_launch(h, q, w);
	} else {
		w->user[WORK_START] = div_u64(w->avail, 10);
		sim_aql_launch(h, q, w);
	}
}

static void queue_complete(void *ctx, struct eng_queue *eq, struct eng_work *w, u64 t)
{
	struct sim_queue *q = to_sq(eq);
	struct sim_hws *h = ctx;

	h->last_work = t;
	if (q->kind == SIM_QUEUE_SDMA)
		sim_sdma_complete(h, q, w);
	else if (w->user[WORK_TYPE] & SIM_WORK_PM4)
		sim_pm4_complete(h, q, w);
	else
		sim_aql_complete(h, q, w);
}

/* eng_ops.ready: MES reads the write index of queues without an HQD too (wptr_mc_addr) */
static bool queue_ready(void *ctx, struct eng_queue *eq)
{
	struct sim_queue *q = to_sq(eq);

	return !q->error && (q->stream.ib || q->next < q->wptr);
}

static void queue_saved(void *ctx, struct eng_queue *eq)
{
	struct sim_hws *h = ctx;

	if (h->exec.used)
		sim_exec_saved(h, to_sq(eq));
}

static void queue_restored(void *ctx, struct eng_queue *eq)
{
	struct sim_hws *h = ctx;

	h->exec.changed |= h->exec.used;
	if (to_sq(eq)->kind != SIM_QUEUE_SDMA)
		sim_mqd_restored(h->g, to_sq(eq));
}

/*
 * Half of the interrupt ring is left for what one more moment may complete. Else hws.c says how much the
 * engine may do before the firmware has to look at the HIQ again
 */
static bool queue_full(void *ctx)
{
	struct sim_hws *h = ctx;

	return sim_hws_irqs_pending(h) || h->exec.changed || !h->events_left || !h->events_left--;
}

const struct eng_ops sim_queue_ops = {
	.peek = queue_peek,
	.launch = queue_launch,
	.complete = queue_complete,
	.ready = queue_ready,
	.saved = queue_saved,
	.restored = queue_restored,
	.full = queue_full,
};
