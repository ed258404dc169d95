// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: PM4 packets, of compute queues that are not AQL and of the PM4-IB packet of AQL.
 *
 * Type-3 NOP, SET_SH_REG, DISPATCH_DIRECT, WRITE_DATA, WAIT_REG_MEM of memory, INDIRECT_BUFFER,
 * EVENT_WRITE, RELEASE_MEM, ACQUIRE_MEM; type-2 fillers. Anything else, and what in these
 * would touch registers, stops the queue. Formats: amdgpu's soc15d.h and nvd.h and amdkfd's
 * pm4_mec_release_mem, which agree for GFX9 to GFX12 as far as they are read here.
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
#include "hws.h"
#include "kfd_pm4_opcodes.h"
#include <uapi/linux/kfd_ioctl.h>

#define PM4_TYPE(h)	((h) >> 30)
#define PM4_OP(h)	((h) >> 8 & 0xff)
#define PM4_COUNT(h)	((h) >> 16 & 0x3fff)
#define PM4_NOP_ONE	0x3fff		/* a NOP of this count is one dword */

#define SH_NUM_THREAD_X	0x207		/* COMPUTE_NUM_THREAD_X among the SH registers */
#define DISPATCH_EN	BIT(0)		/* COMPUTE_DISPATCH_INITIATOR.COMPUTE_SHADER_EN */
#define DISPATCH_THREADS BIT(5)		/* .USE_THREAD_DIMENSIONS */
#define WRITE_MEMORY	5		/* WRITE_DATA.DST_SEL: memory, through the caches */
#define WRITE_MEMORY_SYNC 1		/* memory, directly */
#define WRITE_ONE_ADDR	BIT(16)		/* WRITE_DATA: do not increment the address */
#define WAIT_MEMORY	BIT(4)		/* WAIT_REG_MEM.MEM_SPACE */
#define IB_CHAIN	BIT(20)		/* INDIRECT_BUFFER: instead of what follows */
#define IB_DW		0xfffff
#define EVENT_CS_FLUSH	7		/* CS_PARTIAL_FLUSH */

/* A RELEASE_MEM behind something that is not complete: its time begins when it is first */
#define RELEASE_HELD	(1ULL << 61)

/* eng_work.user[WORK_ARG] of a RELEASE_MEM: the context ID of its interrupt, and */
#define RELEASE_DATA	32		/* DATA_SEL */
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
		return 4;
	case IT_WRITE_DATA:
	case IT_DISPATCH_DIRECT:
		return 5;
	case IT_WAIT_REG_MEM:
	case IT_ACQUIRE_MEM:
		return 7;
	case IT_RELEASE_MEM:
		return 8;
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

/* One dword of what is read, @i behind the present place */
static bool get(struct sim_hws *h, struct sim_queue *q, u32 i, u32 *v)
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

static bool get_n(struct sim_hws *h, struct sim_queue *q, u32 *p, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (!get(h, q, i, &p[i]))
			return false;
	return true;
}

/* The packet at the present place: its length, and its first dwords. 0: not (all) there yet */
static u32 read_packet(struct sim_hws *h, struct sim_queue *q, u32 *p, u32 max)
{
	struct sim_stream *s = &q->stream;
	u64 room = s->ib ? s->ib_dw - s->ib_pos : q->wptr - q->next;
	u32 n;

	if (!room || !get(h, q, 0, p))
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
	return get_n(h, q, p, min(n, max)) ? n : 0;
}

static bool refuse(struct sim_hws *h, struct sim_queue *q, const char *why, u32 what)
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
		return refuse(h, q, "WAIT_REG_MEM of a register:", p[1]);
	v = sim_user_read(h, q, sim_q64(p[3], p[2] & ~3u), 4);
	return v && wait_true(READ_ONCE(*v), p);
}

static bool dispatch_peek(struct sim_hws *h, struct sim_queue *q, const u32 *p, struct eng_work *w)
{
	u64 groups = 1, items = 1, n;
	u32 i, threads;

	if (PM4_COUNT(p[0]) != 3)
		return refuse(h, q, "DISPATCH_DIRECT of wrong length", p[0]);
	if (!(p[4] & DISPATCH_EN) || !p[1] || !p[2] || !p[3])
		return true;		/* nothing is dispatched */
	for (i = 0; i < 3; i++) {
		threads = q->stream.thread[i] & 0xffff;
		if (!threads)
			return refuse(h, q, "DISPATCH_DIRECT without COMPUTE_NUM_THREAD", i);
		items *= threads;
		n = p[4] & DISPATCH_THREADS ? DIV_ROUND_UP_ULL(p[1 + i], threads) : p[1 + i];
		if (check_mul_overflow(groups, n, &groups))
			groups = U64_MAX;
	}
	sim_dispatch_work(h->g, q, groups, DIV64_U64_ROUND_UP(items, h->g->prof->wave_size), 0, w);
	return true;
}

/* The packet's own words go into the work: its place in the ring is the user's again by then */
static bool release_peek(struct sim_hws *h, struct sim_queue *q, const u32 *p, struct eng_work *w)
{
	u64 data = p[2] >> 29, irq = p[2] >> 24 & 7;

	if (PM4_COUNT(p[0]) != 6 || (p[2] >> 16 & 3) > 1 || data > 4 || irq > 3)
		return refuse(h, q, "RELEASE_MEM with selectors", p[2]);
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
		if ((p[1] >> 8 & 0xf) != WRITE_MEMORY && (p[1] >> 8 & 0xf) != WRITE_MEMORY_SYNC)
			return refuse(h, q, "WRITE_DATA to no memory:", p[1]);
		break;
	case IT_EVENT_WRITE:
		return (p[1] & 0x3f) != EVENT_CS_FLUSH || !q->eq.nwork;
	case IT_WAIT_REG_MEM:
		return wait_peek(h, q, p);
	case IT_INDIRECT_BUFFER:
		if (!sim_pm4_ib(p, &ib) || (q->stream.ib && !(p[3] & IB_CHAIN)))
			return refuse(h, q, "INDIRECT_BUFFER empty or in another one:", p[3]);
		break;
	case IT_DISPATCH_DIRECT:
		return dispatch_peek(h, q, p, w);
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
	if (!async(w))
		return;
	if (w->slot)
		h->n_dispatch++;
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
		smp_store_release((u64 *)p, data == 2 ? w->user[WORK_START] : sim_event_clock(h));
	if (irq == 1 || irq == 2)
		sim_queue_eop(h, q, lower_32_bits(w->user[WORK_ARG]));
	return true;
}

static bool write_data(struct sim_hws *h, struct sim_queue *q, u32 n)
{
	u32 i, v, p[4], *d;
	u64 va;

	if (!get_n(h, q, p, 4))
		return q->error;
	va = sim_q64(p[3], p[2] & ~3u);
	for (i = 4; i < n; i++) {
		d = get(h, q, i, &v) ? sim_user_ptr(h, q, va, 4) : NULL;
		if (!d)
			return q->error;
		smp_store_release(d, v);
		if (!(p[1] & WRITE_ONE_ADDR))
			va += 4;
	}
	return true;
}

static bool set_sh_reg(struct sim_hws *h, struct sim_queue *q, u32 n)
{
	u32 i, reg, v;

	if (!get(h, q, 1, &reg))
		return q->error;
	reg &= 0xffff;
	for (i = 2; i < n; i++, reg++) {
		if (reg < SH_NUM_THREAD_X || reg > SH_NUM_THREAD_X + 2)
			continue;	/* of no meaning here */
		if (!get(h, q, i, &v))
			return q->error;
		q->stream.thread[reg - SH_NUM_THREAD_X] = v;
	}
	return true;
}

/* What a packet that is read to its end does. Return: false: not now */
static bool execute(struct sim_hws *h, struct sim_queue *q, u32 op, u32 n)
{
	struct sim_stream to = q->stream;
	u32 p[4];

	switch (op) {
	case IT_WRITE_DATA:
		if (!write_data(h, q, n))
			return false;
		break;
	case IT_SET_SH_REG:
		if (!set_sh_reg(h, q, n))
			return false;
		break;
	case IT_INDIRECT_BUFFER:
		if (!get_n(h, q, p, 4))
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
