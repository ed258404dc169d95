// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the packet processor of AQL queues, and what all queues share.
 *
 * Packets are launched in order. The read index advances, and the slot becomes INVALID,
 * when a packet is launched (rptr_at=launch, as hardware does) or when it is complete.
 * A dispatch runs no code: it takes the time that its grid would need (dispatch_ns()).
 * A ring of the doorbell makes the packet processor look at the write index; without one
 * it sees only what was there when the queue was mapped, as hardware.
 * All of this runs in the firmware thread under sim_hws.lock and sim_gpu.vm_lock.
 */
#include "hws.h"
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
MODULE_PARM_DESC(packet_ns, "time to process a barrier packet, ns");

static char *rptr_at = "launch";
module_param(rptr_at, charp, 0444);
MODULE_PARM_DESC(rptr_at, "when the read index advances: launch (as hardware) or completion");

#define DISPATCH_NS_MAX	(3600ULL * NSEC_PER_SEC)

enum aql_type {
	AQL_VENDOR = 0, AQL_INVALID = 1, AQL_DISPATCH = 2, AQL_BARRIER_AND = 3,
	AQL_AGENT_DISPATCH = 4, AQL_BARRIER_OR = 5,
};

/* formats of AMD's vendor packets, in the byte after the header */
enum aql_amd_format { AQL_AMD_PM4_IB = 1, AQL_AMD_BARRIER_VALUE = 2 };

#define AQL_TYPE(h)	((h) & 0xff)
#define AQL_BARRIER(h)	((h) & 0x100)

/* HSA Platform System Architecture specification, 2.9 */
struct aql_packet {
	u16 header;
	union {
		struct {
			u16 setup;
			u16 wg[3];
			u16 reserved0;
			u32 grid[3];
			u32 private_size, group_size;
			u64 kernel_object;
			u64 kernarg;
			u64 reserved2;
		} __packed dispatch;
		struct {
			u16 reserved0;
			u32 reserved1;
			u64 dep[5];
			u64 reserved2;
		} __packed barrier;
		struct {
			u8 format;
			u8 reserved0;
			u32 reserved1;
			u64 signal;
			s64 value, mask;
			u32 cond;	/* 0 EQ, 1 NE, 2 LT, 3 GTE */
			u32 reserved2;
			u64 reserved3[2];
		} __packed value;
	};
	u64 signal;
} __packed;

static_assert(sizeof(struct aql_packet) == 64);

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

static struct sim_vm *queue_vm(struct sim_hws *h, struct sim_queue *q)
{
	return sim_vm_by_pd(h->g, to_sp(q->eq.proc)->pd);
}

/**
 * sim_user_ptr - memory of a queue's process
 * @h: the firmware
 * @q: the queue
 * @va: GPU virtual address
 * @len: bytes, must not cross a page
 *
 * Return: NULL: not now (its mmap lock is taken), or never (a VM fault, which stops the queue).
 */
void *sim_user_ptr(struct sim_hws *h, struct sim_queue *q, u64 va, size_t len)
{
	struct sim_vm *vm = queue_vm(h, q);
	void *p;

	p = vm ? sim_vm_ptr(vm, va, len) : ERR_PTR(-EFAULT);
	if (!IS_ERR(p) && q->eq.proc->vmid >= 0 && sim_fault(h->g, SIM_FAULT_VM_FAULT))
		p = ERR_PTR(-EFAULT);
	if (!IS_ERR(p))
		return p;
	if (p != ERR_PTR(-EAGAIN))
		sim_vm_fault(h, q, va);
	return NULL;
}

/**
 * sim_queue_error - a queue stops for good, as the CP does; amdkfd gets an interrupt
 * @h: the firmware
 * @q: the queue
 * @why: for the log
 * @what: for the log
 */
void sim_queue_error(struct sim_hws *h, struct sim_queue *q, const char *why, u64 what)
{
	if (q->error)
		return;
	q->error = true;
	h->n_error++;
	dev_warn(h->g->adev.dev, "kfdsim: queue of pasid %#x stopped at packet %llu: %s %#llx\n",
		 to_sp(q->eq.proc)->pasid, q->next, why, what);
	sim_hws_irq(h, SOC15_IH_CLIENTID_GRBM_CP, SOC15_INTSRC_CP_BAD_OPCODE, q->eq.proc->vmid,
		    to_sp(q->eq.proc)->pasid,
		    (q->doorbell & 0x3ff) | EC_QUEUE_PACKET_UNSUPPORTED << 10);
}

/* ---- what a packet costs ---- */

/* What a dispatch is and costs */
static void dispatch_work(struct sim_gpu *g, const struct aql_packet *p, struct eng_work *w)
{
	u64 wgs = 1, items = 1, ns;
	int i;

	for (i = 0; i < 3; i++) {
		u32 wg = p->dispatch.wg[i] ? : 1, grid = p->dispatch.grid[i] ? : 1;

		if (check_mul_overflow(wgs, (u64)DIV_ROUND_UP(grid, wg), &wgs))
			wgs = U64_MAX;
		items *= wg;
	}
	items = DIV_ROUND_UP_ULL(items, g->prof->wave_size);
	ns = sim_xcc_work(g->prof, min(wgs, WORK_GRID_WGS_MAX), min(items, WORK_GRID_WAVES_MAX), w) *
		READ_ONCE(wave_ns);
	if (READ_ONCE(reserved2_ns) && p->dispatch.reserved2)
		ns = p->dispatch.reserved2;
	w->slot = true;
	w->left_ns = clamp(ns, (u64)READ_ONCE(dispatch_ns_min), DISPATCH_NS_MAX);
}

static bool value_true(s64 v, const struct aql_packet *p)
{
	v &= p->value.mask;
	switch (p->value.cond) {
	case 0:
		return v == p->value.value;
	case 1:
		return v != p->value.value;
	case 2:
		return v < p->value.value;
	default:
		return v >= p->value.value;
	}
}

/* Dependencies of a barrier: a signal of 0 is done, a handle of 0 does not count */
static bool barrier_open(struct sim_hws *h, struct sim_queue *q, const struct aql_packet *p,
			 bool any)
{
	struct amd_signal *s;
	int i, n = 0, done = 0;

	for (i = 0; i < 5; i++) {
		if (!p->barrier.dep[i])
			continue;
		n++;
		s = sim_user_ptr(h, q, p->barrier.dep[i], sizeof(*s));
		done += s && !READ_ONCE(s->value);
	}
	return any ? !n || done : done == n;
}

static struct aql_packet *packet(struct sim_hws *h, struct sim_queue *q, u64 idx)
{
	return sim_user_ptr(h, q, q->ring + (idx & q->mask) * sizeof(struct aql_packet),
			sizeof(struct aql_packet));
}

/* eng_ops.peek: the packet at q->next, if it may be launched now */
static bool aql_peek(void *ctx, struct eng_queue *eq, u64 t, struct eng_work *w)
{
	struct sim_queue *q = to_sq(eq);
	struct sim_hws *h = ctx;
	struct aql_packet *p;
	struct amd_signal *s;
	u16 header;

	if (q->kind == SIM_QUEUE_SDMA)
		return sim_sdma_peek(h, q, w);
	if (q->kind != SIM_QUEUE_AQL || q->error || q->next >= q->wptr)
		return false;
	p = packet(h, q, q->next);
	if (!p)
		return false;
	header = smp_load_acquire(&p->header);	/* pairs with the producer's release */
	if (AQL_TYPE(header) == AQL_INVALID || (AQL_BARRIER(header) && eq->nwork))
		return false;
	w->avail = q->seen;
	w->user[WORK_TYPE] = AQL_TYPE(header);
	w->user[WORK_SIGNAL] = p->signal;
	w->left_ns = READ_ONCE(packet_ns);
	switch (AQL_TYPE(header)) {
	case AQL_DISPATCH:
		dispatch_work(h->g, p, w);
		return true;
	case AQL_BARRIER_AND:
	case AQL_BARRIER_OR:
		w->blocks = true;
		return barrier_open(h, q, p, AQL_TYPE(header) == AQL_BARRIER_OR);
	case AQL_VENDOR:
		w->blocks = true;
		if (p->value.format == AQL_AMD_PM4_IB)
			return true;	/* ROCr: cache maintenance. No caches here */
		if (p->value.format == AQL_AMD_BARRIER_VALUE) {
			s = sim_user_ptr(h, q, p->value.signal, sizeof(*s));
			return s && value_true(READ_ONCE(s->value), p);
		}
		sim_queue_error(h, q, "vendor packet of unknown format", p->value.format);
		return false;
	default:
		sim_queue_error(h, q, "packet of unknown type", AQL_TYPE(header));
		return false;
	}
}

static void report_rptr(struct sim_hws *h, struct sim_queue *q)
{
	u64 *rp = sim_user_ptr(h, q, q->rptr_va, sizeof(*rp));

	if (rp)
		smp_store_release(rp, q->rptr);	/* after the slots became INVALID */
}

static bool rptr_at_launch(void)
{
	return strcmp(rptr_at, "completion");
}

static void aql_launch(void *ctx, struct eng_queue *eq, struct eng_work *w, u64 t)
{
	struct sim_queue *q = to_sq(eq);
	struct sim_hws *h = ctx;
	struct aql_packet *p;

	w->user[WORK_START] = sim_gpu_clock();
	q->packets++;
	h->n_packet++;
	h->last_work = t;
	if (q->kind == SIM_QUEUE_SDMA) {
		h->n_sdma++;
		q->next += w->user[WORK_ARG];
		return;
	}
	p = packet(h, q, q->next++);
	if (w->user[WORK_TYPE] == AQL_DISPATCH)
		h->n_dispatch++;
	else
		h->n_barrier++;
	if (p)
		smp_store_release(&p->header, AQL_INVALID);	/* all of it was read */
	if (rptr_at_launch()) {
		q->rptr = q->next;
		report_rptr(h, q);
	}
}

static void aql_complete(void *ctx, struct eng_queue *eq, struct eng_work *w, u64 t)
{
	struct sim_queue *q = to_sq(eq);
	struct sim_hws *h = ctx;
	struct amd_signal *s;
	u64 *mailbox;

	h->last_work = t;
	if (q->kind == SIM_QUEUE_SDMA) {
		sim_sdma_complete(h, q, w);
		return;
	}
	if (!rptr_at_launch()) {
		q->rptr = q->next - eq->nwork;
		report_rptr(h, q);
	}
	if (!w->user[WORK_SIGNAL])
		return;
	s = sim_user_ptr(h, q, w->user[WORK_SIGNAL], sizeof(*s));
	if (!s)
		return;
	s->start_ts = w->user[WORK_START];
	s->end_ts = sim_gpu_clock();
	__atomic_fetch_sub(&s->value, 1, __ATOMIC_SEQ_CST);
	if (!s->mailbox)
		return;
	mailbox = sim_user_ptr(h, q, s->mailbox, sizeof(*mailbox));
	if (mailbox)
		WRITE_ONCE(*mailbox, s->event_id);
	sim_hws_irq(h, SOC15_IH_CLIENTID_GRBM_CP, SOC15_INTSRC_CP_END_OF_PIPE, eq->proc->vmid,
		    to_sp(eq->proc)->pasid, s->event_id);
}

/* eng_ops.ready: MES reads the write index of queues without an HQD too (wptr_mc_addr) */
static bool queue_ready(void *ctx, struct eng_queue *eq)
{
	struct sim_queue *q = to_sq(eq);

	return q->kind != SIM_QUEUE_OTHER && !q->error && q->next < q->wptr;
}

const struct eng_ops sim_aql_ops = {
	.peek = aql_peek,
	.launch = aql_launch,
	.complete = aql_complete,
	.ready = queue_ready,
};

/* ---- queues coming and going ---- */

static bool read_wptr(struct sim_hws *h, struct sim_queue *q, u64 now)
{
	u64 *wp = sim_user_ptr(h, q, q->wptr_va, sizeof(*wp)), v;

	if (!wp)
		return false;
	v = smp_load_acquire(wp);	/* before the packets */
	if (v > q->wptr) {
		q->wptr = v;
		q->seen = now;
	}
	return true;
}

/**
 * sim_queue_load - a queue is in a runlist: read its MQD
 * @h: the firmware
 * @q: @kind, @mqd_addr, @doorbell and, for SDMA, @wptr_va are set
 * @mqd: the MQD
 * @now: the present time
 */
void sim_queue_load(struct sim_hws *h, struct sim_queue *q, const void *mqd, u64 now)
{
	const struct sim_mqd_save *save;
	struct eng_work *w;
	u32 i;

	sim_mqd_read(h->g, q, mqd);
	if (q->kind == SIM_QUEUE_AQL)
		sim_xcc_load(h, q, mqd);
	save = (const void *)((const u32 *)mqd + q->save_dw);
	q->next = save->next;
	q->rptr = save->rptr;
	q->wptr = q->next;
	q->error = save->error;
	q->eq.nwork = min_t(u32, save->nwork, ENG_INFLIGHT);
	for (i = 0; i < q->eq.nwork; i++) {
		w = &q->eq.work[i];
		w->left_ns = save->work[i].left_ns;
		w->live_bytes = save->work[i].live_bytes;
		w->ran_ns = save->work[i].ran_ns;
		w->user[WORK_SIGNAL] = save->work[i].signal;
		w->user[WORK_WAVES] = save->work[i].waves;
		w->user[WORK_TYPE] = save->work[i].type;
		w->user[WORK_START] = save->work[i].start;
		w->user[WORK_ARG] = save->work[i].arg;
		w->slot = save->work[i].flags & 1;
		w->blocks = save->work[i].flags & 2;
	}
	q->rung = !read_wptr(h, q, now);
}

/**
 * sim_queue_save - a queue is off the GPU: write its MQD
 * @h: the firmware
 * @q: its engine state is ENG_Q_OFF
 */
void sim_queue_save(struct sim_hws *h, struct sim_queue *q)
{
	struct sim_mqd_save save = {
		.next = q->next,
		.rptr = q->rptr,
		.error = q->error,
		.nwork = q->eq.nwork,
	};
	struct eng_work *w;
	u32 i;

	for (i = 0; i < q->eq.nwork; i++) {
		w = &q->eq.work[i];
		save.work[i].left_ns = w->left_ns;
		save.work[i].live_bytes = w->live_bytes;
		save.work[i].ran_ns = w->ran_ns;
		save.work[i].signal = w->user[WORK_SIGNAL];
		save.work[i].waves = w->user[WORK_WAVES];
		save.work[i].type = w->user[WORK_TYPE];
		save.work[i].start = w->user[WORK_START];
		save.work[i].arg = w->user[WORK_ARG];
		save.work[i].flags = w->slot | w->blocks << 1;
	}
	if (!sim_gart_write(h->g, q->mqd_addr + q->save_dw * 4, &save, sizeof(save)))
		h->n_bad++;
}

/**
 * sim_queue_poll - take the queue's doorbell, if it was rung
 * @h: the firmware
 * @q: the queue
 * @now: the present time
 *
 * The BAR is RAM, so a ring cannot interrupt us; it stays there until it is taken, and
 * taking it is atomic, so none is lost. Return: whether there was one.
 */
bool sim_queue_poll(struct sim_hws *h, struct sim_queue *q, u64 now)
{
	u64 *db = (__force u64 *)((__force u32 *)h->g->db + q->doorbell);
	u64 v = READ_ONCE(*db);

	if (q->kind == SIM_QUEUE_OTHER)
		return false;
	if (v == ~0ULL && !q->rung)
		return false;
	if (v != ~0ULL) {
		xchg(db, ~0ULL);
		h->n_db++;
	}
	/* the value says less than the write index: with several producers it may go back */
	q->rung = !read_wptr(h, q, now);
	h->last_work = now;
	return true;
}
