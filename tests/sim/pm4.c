// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: PM4 packets, of compute queues that are not AQL and of the PM4-IB packet of AQL.
 *
 * Type-3 NOP, SET_SH_REG, DISPATCH_DIRECT, DISPATCH_INDIRECT, WRITE_DATA, COPY_DATA and ATOMIC_MEM of memory,
 * WAIT_REG_MEM of memory, INDIRECT_BUFFER, EVENT_WRITE, RELEASE_MEM, ACQUIRE_MEM; type-2 fillers. Any other packet, and
 * any but SET_SH_REG that would touch registers, stops the queue. Formats: amdgpu's soc15d.h and nvd.h and
 * amdkfd's pm4_mec_release_mem, which agree for GFX9 to GFX12 as far as they are read here.
 *
 * The packet processor reads in order. A dispatch and a RELEASE_MEM are under way while it
 * goes on, at most ENG_INFLIGHT of them; a RELEASE_MEM has its effect when all that was
 * launched before it is complete. Every other packet ends before the next one begins.
 * Indices count dwords. Ours never wraps; what is reported is 32 bits and wraps with the
 * ring, as CP_HQD_PQ_RPTR does.
 *
 * One level of indirect buffers: an HQD has room for the place in the ring and in one buffer
 * (CP_HQD_IB_BASE_ADDR, CP_HQD_IB_RPTR), so a buffer may chain to another, not call one.
 * Runs in the firmware thread under sim_hws.lock and sim_gpu.vm_lock.
 */
#include "pm4.h"
#include <uapi/linux/kfd_ioctl.h>

#define PM4_NOP_ONE	0x3fff		/* a NOP of this count is one dword */

#define WAIT_MEMORY	BIT(4)		/* WAIT_REG_MEM.MEM_SPACE */
#define IB_CHAIN	BIT(20)		/* INDIRECT_BUFFER: instead of what follows */
#define IB_DW		0xfffff
#define EVENT_CS_FLUSH	7		/* CS_PARTIAL_FLUSH */

/* A RELEASE_MEM behind something that is not complete: its time begins when it is first */
#define RELEASE_HELD	(1ULL << 61)

/* eng_work.user[WORK_ARG] of a RELEASE_MEM: the context ID of its interrupt, and */
#define RELEASE_DATA	32		/* DATA_SEL */
#define RELEASE_CLOCK	3		/* DATA_SEL: the GPU's clock */
#define RELEASE_INT	36		/* INT_SEL */

/* Shortest length of a packet in dwords, 0: not known */
static u32 min_dw(u32 op)
{
	switch (op) {
	case IT_NOP:
		return 1;
	case IT_EVENT_WRITE:
		return 2;
	case IT_SET_SH_REG:
		return 3;
	case IT_INDIRECT_BUFFER:
	case IT_DISPATCH_INDIRECT:
		return 4;
	case IT_WRITE_DATA:
	case IT_DISPATCH_DIRECT:
		return 5;
	case IT_COPY_DATA:
		return 6;
	case IT_WAIT_REG_MEM:
	case IT_ACQUIRE_MEM:
		return 7;
	case IT_RELEASE_MEM:
		return 8;
	case IT_ATOMIC_MEM:
		return 9;
	}
	return 0;
}

/**
 * sim_pm4_ib - read an INDIRECT_BUFFER
 * @p: four dwords
 * @s: its place in there is set
 *
 * Return: false: it is no such packet, or one of no length
 */
bool sim_pm4_ib(const u32 *p, struct sim_stream *s)
{
	if (PM4_TYPE(p[0]) != 3 || PM4_OP(p[0]) != IT_INDIRECT_BUFFER || PM4_COUNT(p[0]) != 2 ||
	    !(p[3] & IB_DW))
		return false;
	s->ib = sim_q64(p[2] & 0xffff, p[1] & ~3u);
	s->ib_dw = p[3] & IB_DW;
	s->ib_pos = 0;
	return true;
}

/**
 * sim_pm4_get - a dword of what is read
 * @h: the firmware
 * @q: the queue
 * @i: behind the present place
 * @v: gets it
 *
 * Return: false: its page cannot be had now, or the queue is stopped.
 */
bool sim_pm4_get(struct sim_hws *h, struct sim_queue *q, u32 i, u32 *v)
{
	struct sim_stream *s = &q->stream;
	const u32 *p;

	if (s->ib)
		p = sim_user_read(h, q, s->ib + (s->ib_pos + i) * 4ULL, 4);
	else
		p = sim_user_read(h, q, q->ring + ((q->next + i) & q->mask) * 4, 4);
	if (p)
		*v = READ_ONCE(*p);
	return p;
}

/**
 * sim_pm4_get_n - the first dwords of what is read
 * @h: the firmware
 * @q: the queue
 * @p: gets them
 * @n: how many
 *
 * Return: as sim_pm4_get()
 */
bool sim_pm4_get_n(struct sim_hws *h, struct sim_queue *q, u32 *p, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (!sim_pm4_get(h, q, i, &p[i]))
			return false;
	return true;
}

/* The packet at the present place: its length, and its first dwords. 0: not (all) there yet */
static u32 read_packet(struct sim_hws *h, struct sim_queue *q, u32 *p, u32 max)
{
	struct sim_stream *s = &q->stream;
	u64 room = s->ib ? s->ib_dw - s->ib_pos : q->wptr - q->next;
	u32 n;

	if (!room || !sim_pm4_get(h, q, 0, p))
		return 0;
	n = PM4_COUNT(p[0]) + 2;
	if (PM4_TYPE(p[0]) == 2 || (PM4_OP(p[0]) == IT_NOP && PM4_COUNT(p[0]) == PM4_NOP_ONE))
		n = 1;
	if (PM4_TYPE(p[0]) == 2)
		p[0] = 3u << 30 | PM4_NOP_ONE << 16 | IT_NOP << 8;
	if (PM4_TYPE(p[0]) != 3 || !min_dw(PM4_OP(p[0])) || n < min_dw(PM4_OP(p[0]))) {
		sim_queue_error(h, q, EC_QUEUE_PACKET_UNSUPPORTED, "PM4 header", p[0]);
		return 0;
	}
	if (n > room) {
		if (s->ib || n > q->mask)
			sim_queue_error(h, q, EC_QUEUE_PACKET_UNSUPPORTED, "PM4 packet too long:",
					p[0]);
		return 0;
	}
	return sim_pm4_get_n(h, q, p, min(n, max)) ? n : 0;
}

/**
 * sim_pm4_refuse - the queue stops
 * @h: the firmware
 * @q: the queue
 * @why: for the log
 * @what: behind it
 *
 * Return: false
 */
bool sim_pm4_refuse(struct sim_hws *h, struct sim_queue *q, const char *why, u32 what)
{
	sim_queue_error(h, q, EC_QUEUE_PACKET_UNSUPPORTED, why, what);
	return false;
}

static bool wait_true(u32 v, const u32 *p)
{
	v &= p[5];
	switch (p[1] & 7) {
	case 1:
		return v < p[4];
	case 2:
		return v <= p[4];
	case 3:
		return v == p[4];
	case 4:
		return v != p[4];
	case 5:
		return v >= p[4];
	case 6:
		return v > p[4];
	}
	return true;
}

static bool wait_peek(struct sim_hws *h, struct sim_queue *q, const u32 *p)
{
	const u32 *v;

	if (!(p[1] & WAIT_MEMORY) || p[1] >> 6 & 3)
		return sim_pm4_refuse(h, q, "WAIT_REG_MEM of a register:", p[1]);
	v = sim_user_read(h, q, sim_q64(p[3], p[2] & ~3u), 4);
	return v && wait_true(READ_ONCE(*v), p);
}

/*
 * The packet's own words go into the work: its place in the ring is the user's again by then. DATA_SEL 4 is a system counter in
 * soc15d.h and nvd.h, a performance counter of the CP in kfd_pm4_headers_ai.h: neither is modelled.
 */
static bool release_peek(struct sim_hws *h, struct sim_queue *q, const u32 *p, struct eng_work *w)
{
	u64 data = p[2] >> 29, irq = p[2] >> 24 & 7;

	if (PM4_COUNT(p[0]) != 6 || (p[2] >> 16 & 3) > 1 || data > RELEASE_CLOCK || irq > 3)
		return sim_pm4_refuse(h, q, "RELEASE_MEM with selectors", p[2]);
	w->blocks = false;
	w->user[WORK_SIGNAL] = sim_q64(p[4], p[3]);
	w->user[WORK_START] = sim_q64(p[6], p[5]);
	w->user[WORK_ARG] = p[7] | data << RELEASE_DATA | irq << RELEASE_INT;
	if (q->eq.nwork)
		w->left_ns = RELEASE_HELD;
	return true;
}

/**
 * sim_pm4_peek - eng_ops.peek
 * @h: the firmware
 * @q: the queue
 * @w: filled
 */
bool sim_pm4_peek(struct sim_hws *h, struct sim_queue *q, struct eng_work *w)
{
	struct sim_stream ib;
	u32 p[8], n;

	if (!q->stream.ib && q->next >= q->wptr)
		return false;
	n = read_packet(h, q, p, ARRAY_SIZE(p));
	if (!n)
		return false;
	w->blocks = true;
	w->left_ns = sim_packet_ns();
	w->user[WORK_TYPE] = SIM_WORK_PM4 | PM4_OP(p[0]);
	w->user[WORK_ARG] = n;
	switch (PM4_OP(p[0])) {
	case IT_WRITE_DATA:
	case IT_COPY_DATA:
	case IT_ATOMIC_MEM:
		return sim_pm4_mem_peek(h, q, p);
	case IT_EVENT_WRITE:
		return (p[1] & 0x3f) != EVENT_CS_FLUSH || !q->eq.nwork;
	case IT_WAIT_REG_MEM:
		return wait_peek(h, q, p);
	case IT_INDIRECT_BUFFER:
		if (!sim_pm4_ib(p, &ib) || (q->stream.ib && !(p[3] & IB_CHAIN)))
			return sim_pm4_refuse(h, q, "INDIRECT_BUFFER empty or in another one:", p[3]);
		break;
	case IT_DISPATCH_DIRECT:
	case IT_DISPATCH_INDIRECT:
		return sim_pm4_dispatch_peek(h, q, p, w);
	case IT_RELEASE_MEM:
		return release_peek(h, q, p, w);
	}
	return true;
}

static void report_rptr(struct sim_hws *h, struct sim_queue *q)
{
	u32 *rp;

	if (q->kind != SIM_QUEUE_PM4 || (!sim_rptr_at_launch() && (q->eq.nwork || q->stream.ib)))
		return;
	q->rptr = q->next;
	rp = sim_user_ptr(h, q, q->rptr_va, sizeof(*rp));
	if (rp)
		smp_store_release(rp, (u32)(q->rptr & q->mask));
}

/* Past a packet. The end of a buffer leads back to the ring; AQL does that itself */
static void advance(struct sim_queue *q, u32 n)
{
	struct sim_stream *s = &q->stream;

	if (!s->ib) {
		q->next += n;
		return;
	}
	s->ib_pos += n;
	if (s->ib_pos >= s->ib_dw && q->kind == SIM_QUEUE_PM4)
		s->ib = 0;
}

/* Is the packet left behind when it is launched? All others are when they are complete */
static bool async(const struct eng_work *w)
{
	return !w->blocks;
}

/**
 * sim_pm4_launch - eng_ops.launch
 * @h: the firmware
 * @q: the queue
 * @w: what was launched
 */
void sim_pm4_launch(struct sim_hws *h, struct sim_queue *q, struct eng_work *w)
{
	h->n_pm4++;
	q->ready_for = 0;
	if (!async(w))
		return;
	if (w->slot) {
		h->n_dispatch++;
		sim_exec_launch(h, q, w);
	}
	advance(q, min_dw(w->user[WORK_TYPE] & 0xff));
	report_rptr(h, q);
}

/* Return: false: not now */
static bool release(struct sim_hws *h, struct sim_queue *q, const struct eng_work *w)
{
	u32 data = w->user[WORK_ARG] >> RELEASE_DATA & 7, irq = w->user[WORK_ARG] >> RELEASE_INT & 7;
	u64 va = w->user[WORK_SIGNAL];
	void *p = NULL;

	if (data) {
		p = sim_user_ptr(h, q, va & (data == 1 ? ~3ULL : ~7ULL), data == 1 ? 4 : 8);
		if (!p)
			return q->error;
	}
	if (data == 1)
		smp_store_release((u32 *)p, (u32)w->user[WORK_START]);
	else if (data)
		smp_store_release((u64 *)p, data == RELEASE_CLOCK ? sim_event_clock(h) : w->user[WORK_START]);
	if (irq == 1 || irq == 2)
		sim_queue_eop(h, q, lower_32_bits(w->user[WORK_ARG]));
	return true;
}

/* What a packet that is read to its end does. Return: false: not now */
static bool execute(struct sim_hws *h, struct sim_queue *q, u32 op, u32 n)
{
	struct sim_stream to = q->stream;
	u32 p[4];

	switch (op) {
	case IT_WRITE_DATA:
	case IT_COPY_DATA:
	case IT_ATOMIC_MEM:
		if (!sim_pm4_mem(h, q, op, n))
			return false;
		break;
	case IT_SET_SH_REG:
		if (!sim_pm4_set_sh(h, q, n))
			return false;
		break;
	case IT_INDIRECT_BUFFER:
		if (!sim_pm4_get_n(h, q, p, 4))
			return q->error;
		sim_pm4_ib(p, &to);
		if (!q->stream.ib)
			q->next += n;
		q->stream = to;
		return true;
	}
	if (!q->error)
		advance(q, n);
	return true;
}

/**
 * sim_pm4_complete - eng_ops.complete: the packet has its effect
 * @h: the firmware
 * @q: the queue
 * @w: what has run
 */
void sim_pm4_complete(struct sim_hws *h, struct sim_queue *q, struct eng_work *w)
{
	u32 op = w->user[WORK_TYPE] & 0xff;
	struct eng_work *first = &q->eq.work[0];
	bool done = true;

	if (w->user[WORK_EXEC] && !sim_exec_complete(h, q, w))
		return;
	if (op == IT_RELEASE_MEM)
		done = release(h, q, w);
	else if (!async(w))
		done = execute(h, q, op, w->user[WORK_ARG]);
	if (!done) {
		sim_queue_retry(q, w);
		return;
	}
	if (q->eq.nwork && first->user[WORK_TYPE] == (SIM_WORK_PM4 | IT_RELEASE_MEM) &&
	    first->left_ns >= RELEASE_HELD / 2)
		first->left_ns = sim_packet_ns();
	report_rptr(h, q);
}
