// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the packets of SDMA queues.
 *
 * NOP, linear copy, linear write, constant fill, fence, trap, poll of memory, 32 and 64-bit add,
 * global time stamp, indirect buffer; from SDMA 5 on GCR_REQ, for which there is nothing to do.
 * Anything else stops the queue. Formats: vega10_sdma_pkt_open.h (SDMA 4),
 * navi10_sdma_pkt_open.h (5), sdma_v6_0_0_pkt_open.h (6, 7), which differ in the widths of
 * counts and in bits for caches only.
 *
 * A packet runs for its modelled time and has its effect at the end of it; a large copy, fill or
 * write does so in pieces, and what is done of it is kept over an unmap, as
 * SDMA_RLC_MIDCMD_DATA does. Indices count bytes and do not wrap.
 * Runs in the firmware thread under sim_hws.lock and sim_gpu.vm_lock.
 */
#include "hws.h"
#include "soc15_int.h"
#include "vega10_sdma_pkt_open.h"
#include <linux/module.h>
#include <uapi/linux/kfd_ioctl.h>

static uint sdma_gbs = 25;
module_param(sdma_gbs, uint, 0644);
MODULE_PARM_DESC(sdma_gbs, "rate of SDMA copies and fills, GB/s (order of PCIe 4.0 x16)");

#define SDMA_ATOMIC_ADD_32	15
#define SDMA_ATOMIC_ADD_64	47
#define SDMA_OP_GCR_REQ		17		/* SDMA 5 and up */
#define SDMA_SUBOP_USER_GCR	1		/* of user queues: ROCr; amdgpu's own rings have 0 */
#define SDMA_PACKET_NS		500
#define SDMA_MAX_DW		8		/* of a packet without its data */
#define SDMA_PIECE		(256 << 10)	/* bytes; 10 us at 25 GB/s */
#define SDMA_BROADCAST		BIT(27)		/* copy to two places */
#define SDMA_BACKWARDS		BIT(25)		/* copy from the end, SDMA 5 and up */
#define SDMA_FILL_DWORDS	2		/* CONST_FILL.FILLSIZE; amdgpu writes 0 for the same */

/* SDMA 4.4, 5.2 and later count 30 bits (ROCr relies on it), the others 22 */
static u32 count_mask(struct sim_gpu *g)
{
	u32 v = g->prof->sdma;

	if (v < IP_VERSION(4, 4, 0) || (v >= IP_VERSION(5, 0, 0) && v < IP_VERSION(5, 2, 0)))
		return 0x3fffff;
	return 0x3fffffff;
}

static u32 sub_op(const u32 *p)
{
	return p[0] >> 8 & 0xff;
}

/* Length of a packet in dwords, 0: not known. Reads two dwords, of WRITE four */
static u32 packet_dw(struct sim_gpu *g, const u32 *p)
{
	u32 atomic = p[0] >> 25, fill = p[0] >> 30;

	switch (p[0] & 0xff) {
	case SDMA_OP_NOP:
		return 1 + (p[0] >> 16 & 0x3fff);
	case SDMA_OP_COPY:
		return sub_op(p) == SDMA_SUBOP_COPY_LINEAR &&
		       !(p[0] & (SDMA_BROADCAST | SDMA_BACKWARDS)) ? 7 : 0;
	case SDMA_OP_WRITE:
		return sub_op(p) == SDMA_SUBOP_WRITE_LINEAR ? 4 : 0;
	case SDMA_OP_INDIRECT:
		return 6;
	case SDMA_OP_CONST_FILL:
		return !sub_op(p) && (!fill || fill == SDMA_FILL_DWORDS) ? 5 : 0;
	case SDMA_OP_FENCE:
		return 4;
	case SDMA_OP_TRAP:
		return 2;
	case SDMA_OP_POLL_REGMEM:
		return sub_op(p) ? 0 : 6;
	case SDMA_OP_ATOMIC:
		return atomic == SDMA_ATOMIC_ADD_32 || atomic == SDMA_ATOMIC_ADD_64 ? 8 : 0;
	case SDMA_OP_TIMESTAMP:
		return sub_op(p) == SDMA_SUBOP_TIMESTAMP_GET_GLOBAL ? 3 : 0;
	case SDMA_OP_GCR_REQ:
		return g->prof->sdma >= IP_VERSION(5, 0, 0) && sub_op(p) <= SDMA_SUBOP_USER_GCR ? 5 : 0;
	}
	return 0;
}

/* One dword, @i behind the present place */
static bool get(struct sim_hws *h, struct sim_queue *q, u32 i, u32 *v)
{
	struct sim_stream *s = &q->stream;
	const u32 *p;

	if (s->ib)
		p = sim_user_read(h, q, s->ib + (s->ib_pos + i) * 4ULL, 4);
	else
		p = sim_user_read(h, q, q->ring + ((q->next + i * 4ULL) & q->mask), 4);
	if (p)
		*v = READ_ONCE(*p);
	return p;
}

static u32 refuse(struct sim_hws *h, struct sim_queue *q, const char *why, u32 what)
{
	sim_queue_error(h, q, EC_QUEUE_PACKET_UNSUPPORTED, why, what);
	return 0;
}

/* The packet at the present place, but for its data. 0: not (all) there yet, else its length */
static u32 read_packet(struct sim_hws *h, struct sim_queue *q, u32 *p)
{
	struct sim_stream *s = &q->stream;
	u64 room = s->ib ? s->ib_dw - s->ib_pos : (q->wptr - q->next) / 4;
	u32 i, n, len;

	if (!room || !get(h, q, 0, p))
		return 0;
	len = packet_dw(h->g, p);
	if (!len)
		return refuse(h, q, "SDMA header", p[0]);
	n = (p[0] & 0xff) == SDMA_OP_NOP ? 1 : len;
	for (i = 1; i < n && n <= room; i++)
		if (!get(h, q, i, &p[i]))
			return 0;
	if ((p[0] & 0xff) == SDMA_OP_WRITE && n <= room)
		len += (p[3] & 0xfffff) + 1;
	if (len > room) {
		if (s->ib || len > q->mask / 4)
			return refuse(h, q, "SDMA packet too long:", p[0]);
		return 0;
	}
	return len;
}

static bool poll_true(u32 v, const u32 *p)
{
	v &= p[4];
	switch (p[0] >> 28 & 7) {
	case 1:
		return v < p[3];
	case 2:
		return v <= p[3];
	case 3:
		return v == p[3];
	case 4:
		return v != p[3];
	case 5:
		return v >= p[3];
	case 6:
		return v > p[3];
	}
	return true;
}

/* Bytes that a packet moves */
static u64 data_bytes(struct sim_gpu *g, const u32 *p)
{
	switch (p[0] & 0xff) {
	case SDMA_OP_COPY:
		return (p[1] & count_mask(g)) + 1ULL;
	case SDMA_OP_CONST_FILL:
		return (p[4] & count_mask(g) & ~3u) + 4ULL;
	case SDMA_OP_WRITE:
		return ((p[3] & 0xfffff) + 1ULL) * 4;
	}
	return 0;
}

/* Bytes of its next piece */
static u64 piece(struct sim_gpu *g, const struct sim_queue *q, const u32 *p)
{
	return min(data_bytes(g, p) - q->stream.done, (u64)SDMA_PIECE);
}

/**
 * sim_sdma_peek - eng_ops.peek of SDMA queues
 * @h: the firmware
 * @q: the queue
 * @w: filled
 */
bool sim_sdma_peek(struct sim_hws *h, struct sim_queue *q, struct eng_work *w)
{
	u32 p[SDMA_MAX_DW], n;
	const u32 *v;

	if (q->eq.nwork || (!q->stream.ib && q->next >= q->wptr))
		return false;
	n = read_packet(h, q, p);
	if (!n)
		return false;
	w->blocks = true;
	w->left_ns = q->stream.done ? 0 : SDMA_PACKET_NS;
	w->user[WORK_TYPE] = p[0] & 0xff;
	w->user[WORK_ARG] = n;
	switch (p[0] & 0xff) {
	case SDMA_OP_COPY:
	case SDMA_OP_CONST_FILL:
	case SDMA_OP_WRITE:
		w->left_ns += div64_u64(piece(h->g, q, p), max(READ_ONCE(sdma_gbs), 1u));
		break;
	case SDMA_OP_INDIRECT:
		if (q->stream.ib || !(p[3] & 0xfffff))
			return refuse(h, q, "SDMA INDIRECT empty or in another one:", p[3]);
		break;
	case SDMA_OP_POLL_REGMEM:
		if (!(p[0] >> 31))
			break;		/* a register: flush of the HDP cache, there is none */
		v = sim_user_read(h, q, sim_q64(p[2], p[1]), 4);
		return v && poll_true(READ_ONCE(*v), p);
	}
	return true;
}

/**
 * sim_sdma_launch - eng_ops.launch of SDMA queues
 * @h: the firmware
 * @q: the queue
 * @w: what was launched; it is left behind when it is complete
 */
void sim_sdma_launch(struct sim_hws *h, struct sim_queue *q, struct eng_work *w)
{
	if (!q->stream.done)
		h->n_sdma++;
}

/*
 * memcpy() of x86 is "rep movsb", which is fast on hardware and costs an instruction a byte
 * where the emulator counts them. Ranges that overlap are copied forwards, as by the engine.
 */
struct any_u64 {
	u64 v;
} __packed;

static void copy(void *dst, const void *src, u64 n)
{
	struct any_u64 *d = dst;
	const struct any_u64 *s = src;
	u64 i;

	for (i = 0; i + 4 <= n / 8; i += 4) {
		d[i].v = s[i].v;
		d[i + 1].v = s[i + 1].v;
		d[i + 2].v = s[i + 2].v;
		d[i + 3].v = s[i + 3].v;
	}
	for (i *= 8; i < n; i++)
		((u8 *)dst)[i] = ((const u8 *)src)[i];
}

/* The next piece of a copy, fill or write, as far as its pages can be had now */
static void move(struct sim_hws *h, struct sim_queue *q, const u32 *p)
{
	u64 left = piece(h->g, q, p), n, src = 0, dst, *done = &q->stream.done;
	bool from = (p[0] & 0xff) == SDMA_OP_COPY;
	const void *s = NULL;
	void *d;
	u32 v = p[3];

	for (; left; left -= n, *done += n) {
		dst = (from ? sim_q64(p[6], p[5]) : sim_q64(p[2], p[1] & ~3u)) + *done;
		n = min(left, (u64)PAGE_SIZE - offset_in_page(dst));
		if (from) {
			src = sim_q64(p[4], p[3]) + *done;
			n = min(n, (u64)PAGE_SIZE - offset_in_page(src));
			s = sim_user_read(h, q, src, n);
			if (!s)
				return;
		} else if ((p[0] & 0xff) == SDMA_OP_WRITE) {
			n = 4;
			if (!get(h, q, 4 + *done / 4, &v))
				return;
		}
		d = sim_user_ptr(h, q, dst, n);
		if (!d)
			return;
		if (from)
			copy(d, s, n);
		else
			memset32(d, v, n / 4);
	}
}

/* Return: false: not now */
static bool atomic_op(struct sim_hws *h, struct sim_queue *q, const u32 *p)
{
	bool wide = p[0] >> 25 == SDMA_ATOMIC_ADD_64;
	void *a = sim_user_ptr(h, q, sim_q64(p[2], p[1] & (wide ? ~7u : ~3u)), wide ? 8 : 4);

	if (!a)
		return false;
	if (wide)
		__atomic_fetch_add((u64 *)a, sim_q64(p[4], p[3]), __ATOMIC_SEQ_CST);
	else
		__atomic_fetch_add((u32 *)a, p[3], __ATOMIC_SEQ_CST);
	return true;
}

static void trap(struct sim_hws *h, struct sim_queue *q, u32 ctxid)
{
	bool soc21 = h->g->prof->gc >= IP_VERSION(11, 0, 0);

	sim_hws_irq(h, soc21 ? SOC21_IH_CLIENTID_GFX : SOC15_IH_CLIENTID_SDMA0,
		    soc21 ? SOC21_INTSRC_SDMA_TRAP : SOC15_INTSRC_SDMA_TRAP,
		    q->eq.proc->vmid, to_sp(q->eq.proc)->pasid, ctxid & 0xfffffff);
}

/* Return: false: something of it is still to be done */
static bool execute(struct sim_hws *h, struct sim_queue *q, const u32 *p)
{
	u32 *a;
	u64 *ts;

	switch (p[0] & 0xff) {
	case SDMA_OP_COPY:
	case SDMA_OP_CONST_FILL:
	case SDMA_OP_WRITE:
		move(h, q, p);
		return q->stream.done == data_bytes(h->g, p);
	case SDMA_OP_FENCE:
		a = sim_user_ptr(h, q, sim_q64(p[2], p[1] & ~3u), 4);
		if (a)
			smp_store_release(a, p[3]);	/* after the copies */
		return a;
	case SDMA_OP_ATOMIC:
		return atomic_op(h, q, p);
	case SDMA_OP_TIMESTAMP:
		ts = sim_user_ptr(h, q, sim_q64(p[2], p[1] & ~7u), 8);
		if (ts)
			WRITE_ONCE(*ts, sim_event_clock(h));
		return ts;
	case SDMA_OP_TRAP:
		trap(h, q, p[1]);
		break;
	}
	return true;
}

/**
 * sim_sdma_complete - eng_ops.complete of SDMA queues: the packet, or a piece, has its effect
 * @h: the firmware
 * @q: the queue
 * @w: what has run
 *
 * The packet is read again: its place in the ring is the user's only after this. What cannot
 * be done now is left where it is; sim_sdma_peek() finds it again.
 */
void sim_sdma_complete(struct sim_hws *h, struct sim_queue *q, struct eng_work *w)
{
	struct sim_stream *s = &q->stream;
	u32 p[SDMA_MAX_DW], n = read_packet(h, q, p);
	u64 *rp, done;

	if (!n) {
		q->stalled = true;	/* who gets us the memory needs a CPU */
		return;
	}
	done = s->done;
	if (!execute(h, q, p)) {
		q->stalled = s->done == done;
		return;
	}
	s->done = 0;
	if (s->ib) {
		s->ib_pos += n;
		if (s->ib_pos >= s->ib_dw)
			s->ib = 0;
		return;
	}
	q->next += n * 4;
	if ((p[0] & 0xff) == SDMA_OP_INDIRECT) {
		s->ib = sim_q64(p[2], p[1] & ~31u);
		s->ib_dw = p[3] & 0xfffff;
		s->ib_pos = 0;
	}
	q->rptr = q->next;
	rp = sim_user_ptr(h, q, q->rptr_va, sizeof(*rp));
	if (rp)
		smp_store_release(rp, q->rptr);	/* after the packet's effect */
}
