// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the packets of AQL queues.
 *
 * Packets are launched in order. The read index advances, and the slot becomes INVALID,
 * when a packet is launched (rptr_at=launch, as hardware does) or when it is complete.
 * A dispatch takes the time that its grid would need (sim_dispatch_work()). Its code is executed meanwhile if
 * the parameter execute asks for that and the code is known whole, see execute.c.
 * Runs in the firmware thread under sim_hws.lock and sim_gpu.vm_lock.
 */
#include "hws.h"
#include "execute.h"
#include <linux/module.h>
#include <uapi/linux/kfd_ioctl.h>

/*
 * rocm-systems pull request 10377: a queue that is mapped reads its write index again, and the CP fetches a packet that its
 * producer has not written yet. The INVALID header makes the CP fetch it once more, and on some hosts the 64 bytes come
 * in two halves, from before and after the header was written. Here that happens each time.
 */
static bool torn_fetch;
module_param(torn_fetch, bool, 0644);
MODULE_PARM_DESC(torn_fetch, "the second half of a packet that is not written when its queue is mapped stays as it was then");

enum aql_type {
	AQL_VENDOR = 0, AQL_INVALID = 1, AQL_DISPATCH = 2, AQL_BARRIER_AND = 3,
	AQL_AGENT_DISPATCH = 4, AQL_BARRIER_OR = 5,
};

/* formats of AMD's vendor packets, in the byte after the header */
enum aql_amd_format { AQL_AMD_PM4_IB = 1, AQL_AMD_BARRIER_VALUE = 2 };

#define AQL_TYPE(h)	((h) & 0xff)
#define AQL_BARRIER(h)	((h) & 0x100)
#define AQL_DIMS(setup)	((setup) & 3)
#define AQL_WG_MAX	1024		/* work-items of a work-group: what ROCr reports */

/* HSA Platform System Architecture specification, 2.9; vendor packets: ROCr's hsa_ext_amd.h */
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
		struct {
			u8 format;
			u8 reserved0;
			u32 jump[4];	/* PM4 INDIRECT_BUFFER */
			u32 dw_remain;
			u32 reserved[8];
		} __packed pm4;
	};
	u64 signal;
} __packed;

static_assert(sizeof(struct aql_packet) == 2 * SIM_AQL_HALF);

#define SIGNAL_VALUE	8	/* offset in amd_signal_t, see queue.c */

static void dispatch_work(struct sim_gpu *g, struct sim_queue *q, const struct aql_packet *p,
			  struct eng_work *w)
{
	u64 wgs = 1, items = 1, n;
	int i;

	for (i = 0; i < AQL_DIMS(p->dispatch.setup); i++) {
		n = DIV_ROUND_UP_ULL(p->dispatch.grid[i], p->dispatch.wg[i]);
		if (check_mul_overflow(wgs, n, &wgs))
			wgs = U64_MAX;
		items *= p->dispatch.wg[i];
	}
	sim_dispatch_work(g, q, wgs, DIV_ROUND_UP_ULL(items, g->prof->wave_size),
			  p->dispatch.reserved2, w);
}

/* What the CP refuses in a dispatch; 0 if nothing */
static u32 dispatch_error(const struct aql_packet *p)
{
	u64 items = 1;
	int i;

	if (!AQL_DIMS(p->dispatch.setup))
		return EC_QUEUE_PACKET_DISPATCH_DIM_INVALID;
	for (i = 0; i < AQL_DIMS(p->dispatch.setup); i++) {
		if (!p->dispatch.wg[i] || !p->dispatch.grid[i])
			return EC_QUEUE_PACKET_DISPATCH_DIM_INVALID;
		items *= p->dispatch.wg[i];
	}
	return items > AQL_WG_MAX ? EC_QUEUE_PACKET_DISPATCH_WORK_GROUP_SIZE_INVALID : 0;
}

/* Prepare to execute a dispatch. Return: false: not now */
static bool dispatch_exec(struct sim_hws *h, struct sim_queue *q, const struct aql_packet *p)
{
	struct sim_exec_packet e = {
		.va = q->ring + (q->next & q->mask) * sizeof(*p),
		.id = q->next,
		.dims = AQL_DIMS(p->dispatch.setup),
		.kernel = p->dispatch.kernel_object,
		.kernarg = p->dispatch.kernarg,
		.private_bytes = p->dispatch.private_size,
		.group_bytes = p->dispatch.group_size,
	};
	int i;

	for (i = 0; i < 3; i++) {
		e.wg[i] = p->dispatch.wg[i];
		e.grid[i] = p->dispatch.grid[i];
	}
	return sim_exec_prepare(h, q, &e);
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

static s64 *signal_value(struct sim_hws *h, struct sim_queue *q, u64 signal)
{
	return sim_user_ptr(h, q, signal + SIGNAL_VALUE, sizeof(s64));
}

/* Dependencies of a barrier: a signal of 0 is done, a handle of 0 does not count */
static bool barrier_open(struct sim_hws *h, struct sim_queue *q, const struct aql_packet *p,
			 bool any)
{
	int i, n = 0, done = 0;
	s64 *v;

	for (i = 0; i < 5; i++) {
		if (!p->barrier.dep[i])
			continue;
		n++;
		v = signal_value(h, q, p->barrier.dep[i]);
		done += v && !READ_ONCE(*v);
	}
	return any ? !n || done : done == n;
}

static struct aql_packet *packet(struct sim_hws *h, struct sim_queue *q, u64 idx)
{
	return sim_user_ptr(h, q, q->ring + (idx & q->mask) * sizeof(struct aql_packet),
			sizeof(struct aql_packet));
}

/**
 * sim_aql_mapped - a queue was mapped: the fetch of its first packet
 * @h: the firmware
 * @q: the queue; its write index was read
 */
void sim_aql_mapped(struct sim_hws *h, struct sim_queue *q)
{
	const struct aql_packet *p;

	q->torn_for = 0;
	if (!READ_ONCE(torn_fetch) || q->next >= q->wptr)
		return;
	p = packet(h, q, q->next);
	if (!p || AQL_TYPE(READ_ONCE(p->header)) != AQL_INVALID)
		return;
	memcpy(q->torn, (const u8 *)p + SIM_AQL_HALF, sizeof(q->torn));
	q->torn_for = q->next + 1;
}

static bool vendor_peek(struct sim_hws *h, struct sim_queue *q, const struct aql_packet *p)
{
	struct sim_stream ib;
	s64 *v;

	switch (p->value.format) {
	case AQL_AMD_PM4_IB:
		if (sim_pm4_ib(p->pm4.jump, &ib))
			return true;
		sim_queue_error(h, q, EC_QUEUE_PACKET_VENDOR_UNSUPPORTED,
				"no INDIRECT_BUFFER in a PM4-IB packet:", p->pm4.jump[0]);
		return false;
	case AQL_AMD_BARRIER_VALUE:
		v = signal_value(h, q, p->value.signal);
		return v && value_true(READ_ONCE(*v), p);
	}
	sim_queue_error(h, q, EC_QUEUE_PACKET_VENDOR_UNSUPPORTED, "vendor packet of unknown format",
			p->value.format);
	return false;
}

/* In the indirect buffer of a PM4-IB packet, or at its end, which signals */
static bool ib_peek(struct sim_hws *h, struct sim_queue *q, struct eng_work *w)
{
	if (q->stream.ib_pos < q->stream.ib_dw)
		return sim_pm4_peek(h, q, w);
	if (q->eq.nwork)
		return false;
	w->blocks = true;
	w->user[WORK_TYPE] = SIM_WORK_IB_END;
	w->user[WORK_SIGNAL] = q->stream.signal;
	return true;
}

/**
 * sim_aql_peek - eng_ops.peek: the packet at sim_queue.next, if it may be launched now
 * @h: the firmware
 * @q: the queue
 * @w: filled
 */
bool sim_aql_peek(struct sim_hws *h, struct sim_queue *q, struct eng_work *w)
{
	struct aql_packet *p, torn;
	u16 header;
	u32 code;

	if (q->stream.ib)
		return ib_peek(h, q, w);
	if (q->next >= q->wptr)
		return false;
	if (q->next < q->old_wptr)
		w->avail = q->old_seen;
	/* read once: while it waits for a slot, each event asks for it */
	if (q->ready_for == q->next + 1) {
		if (q->ready_barrier && q->eq.nwork)
			return false;
		q->ready.avail = w->avail;
		*w = q->ready;
		return true;
	}
	p = packet(h, q, q->next);
	if (!p)
		return false;
	header = smp_load_acquire(&p->header);	/* pairs with the producer's release */
	if (AQL_TYPE(header) == AQL_INVALID || (AQL_BARRIER(header) && q->eq.nwork))
		return false;
	if (q->torn_for == q->next + 1) {
		torn = *p;
		memcpy((u8 *)&torn + SIM_AQL_HALF, q->torn, sizeof(q->torn));
		p = &torn;
	}
	w->user[WORK_TYPE] = AQL_TYPE(header);
	w->user[WORK_SIGNAL] = p->signal;
	w->left_ns = sim_packet_ns();
	w->blocks = true;
	switch (AQL_TYPE(header)) {
	case AQL_DISPATCH:
		code = dispatch_error(p);
		if (code) {
			sim_queue_error(h, q, code, "dispatch with setup", p->dispatch.setup);
			return false;
		}
		if ((READ_ONCE(sim_exec_wanted) || q->ready_exec) && !dispatch_exec(h, q, p))
			return false;
		dispatch_work(h->g, q, p, w);
		q->ready = *w;
		q->ready_for = q->next + 1;
		q->ready_barrier = AQL_BARRIER(header);
		return true;
	case AQL_BARRIER_AND:
	case AQL_BARRIER_OR:
		return barrier_open(h, q, p, AQL_TYPE(header) == AQL_BARRIER_OR);
	case AQL_VENDOR:
		return vendor_peek(h, q, p);
	default:		/* agent dispatch too: not for this kind of agent */
		sim_queue_error(h, q, EC_QUEUE_PACKET_UNSUPPORTED, "packet of unknown type",
				AQL_TYPE(header));
		return false;
	}
}

static void report_rptr(struct sim_hws *h, struct sim_queue *q)
{
	u64 *rp = sim_user_ptr(h, q, q->rptr_va, sizeof(*rp));

	if (rp)
		smp_store_release(rp, q->rptr);	/* after the slots became INVALID */
}

/**
 * sim_aql_launch - eng_ops.launch
 * @h: the firmware
 * @q: the queue
 * @w: what was launched
 */
void sim_aql_launch(struct sim_hws *h, struct sim_queue *q, struct eng_work *w)
{
	struct aql_packet *p;

	if (w->user[WORK_TYPE] == SIM_WORK_IB_END)
		return;
	p = packet(h, q, q->next++);
	if (w->user[WORK_TYPE] == AQL_DISPATCH) {
		h->n_dispatch++;
		sim_exec_launch(h, q, w);
	} else {
		h->n_barrier++;
	}
	if (p && w->user[WORK_TYPE] == AQL_VENDOR && p->pm4.format == AQL_AMD_PM4_IB &&
	    sim_pm4_ib(p->pm4.jump, &q->stream)) {
		q->stream.signal = w->user[WORK_SIGNAL];
		w->user[WORK_SIGNAL] = 0;	/* at the end of the buffer */
	}
	if (p)
		smp_store_release(&p->header, AQL_INVALID);	/* all of it was read */
	if (sim_rptr_at_launch()) {
		q->rptr = q->next;
		report_rptr(h, q);
	}
}

/**
 * sim_aql_complete - eng_ops.complete
 * @h: the firmware
 * @q: the queue
 * @w: what has run
 */
void sim_aql_complete(struct sim_hws *h, struct sim_queue *q, struct eng_work *w)
{
	if (w->user[WORK_EXEC] && !sim_exec_complete(h, q, w))
		return;
	if (w->user[WORK_SIGNAL] &&
	    !sim_signal_add(h, q, w->user[WORK_SIGNAL], -1, w->user[WORK_START])) {
		sim_queue_retry(q, w);
		return;
	}
	if (w->user[WORK_TYPE] == SIM_WORK_IB_END)
		q->stream = (struct sim_stream){};
	if (!sim_rptr_at_launch()) {
		q->rptr = q->next - (q->stream.ib ? 1 : q->eq.nwork);
		report_rptr(h, q);
	}
}
