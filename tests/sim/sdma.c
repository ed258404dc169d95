// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the packets of SDMA queues, as ROCr writes them for SDMA 4.x.
 *
 * NOP, linear copy, constant fill, fence, trap, poll of memory, 32 and 64-bit add, global
 * time stamp; anything else stops the queue. A packet runs for its modelled time and has
 * its effect at the end of it, all at once. Indices count bytes and do not wrap.
 * Runs in the firmware thread under sim_hws.lock and sim_gpu.vm_lock.
 */
#include "hws.h"
#include "soc15_int.h"
#include "vega10_sdma_pkt_open.h"
#include <linux/module.h>

static uint sdma_gbs = 25;
module_param(sdma_gbs, uint, 0644);
MODULE_PARM_DESC(sdma_gbs, "rate of SDMA copies and fills, GB/s (order of PCIe 4.0 x16)");

#define SDMA_ATOMIC_ADD_32	15
#define SDMA_ATOMIC_ADD_64	47
#define SDMA_PACKET_NS		500
#define SDMA_MAX_DW		8

static u32 packet_dw(u32 h)
{
	switch (h & 0xff) {
	case SDMA_OP_NOP:
		return 1 + (h >> 16 & 0x3fff);
	case SDMA_OP_COPY:
		return (h >> 8 & 0xff) == SDMA_SUBOP_COPY_LINEAR ? 7 : 0;
	case SDMA_OP_CONST_FILL:
		return 5;
	case SDMA_OP_FENCE:
		return 4;
	case SDMA_OP_TRAP:
		return 2;
	case SDMA_OP_POLL_REGMEM:
		return 6;
	case SDMA_OP_ATOMIC:
		h = h >> 25;
		return h == SDMA_ATOMIC_ADD_32 || h == SDMA_ATOMIC_ADD_64 ? 8 : 0;
	case SDMA_OP_TIMESTAMP:
		return (h >> 8 & 0xff) == SDMA_SUBOP_TIMESTAMP_GET_GLOBAL ? 3 : 0;
	}
	return 0;
}

/* Reads the packet at a byte index. 0: nothing (yet), else its length in dwords */
static u32 read_packet(struct sim_hws *h, struct sim_queue *q, u64 at, u32 *p)
{
	u32 i, n = 1, *src;

	for (i = 0; i < n && i < SDMA_MAX_DW; i++) {
		src = sim_user_ptr(h, q, q->ring + ((at + i * 4) & q->mask), 4);
		if (!src)
			return 0;
		p[i] = READ_ONCE(*src);
		if (i)
			continue;
		n = packet_dw(p[0]);
		if (!n) {
			sim_queue_error(h, q, "SDMA header", p[0]);
			return 0;
		}
		if (at + n * 4 > q->wptr)
			return 0;
	}
	return n;
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

static u64 copy_bytes(const u32 *p)
{
	if ((p[0] & 0xff) == SDMA_OP_COPY)
		return (p[1] & 0x3fffffff) + 1ULL;
	return ((p[4] & 0x3fffffff) & ~3u) + 4ULL;
}

/* Is all of a range there? Its pages are made or pinned. False: not now, or an error */
static bool reachable(struct sim_hws *h, struct sim_queue *q, u64 va, u64 len)
{
	u64 a;

	for (a = va; a < va + len; a = (a & PAGE_MASK) + PAGE_SIZE) {
		struct sim_vm *vm = sim_vm_by_pd(h->g, to_sp(q->eq.proc)->pd);
		void *p = vm ? sim_vm_ptr(vm, a, 1) : ERR_PTR(-EFAULT);

		if (p == ERR_PTR(-EAGAIN))
			return false;
		if (IS_ERR(p)) {
			sim_queue_error(h, q, "no memory at", a);
			return false;
		}
	}
	return true;
}

/**
 * sim_sdma_peek - eng_ops.peek of SDMA queues
 * @h: the firmware
 * @q: the queue
 * @w: filled
 */
bool sim_sdma_peek(struct sim_hws *h, struct sim_queue *q, struct eng_work *w)
{
	u32 p[SDMA_MAX_DW], n, *v;
	u64 bytes;

	if (q->error || q->eq.nwork || q->next >= q->wptr)
		return false;
	n = read_packet(h, q, q->next, p);
	if (!n)
		return false;
	w->avail = q->seen;
	w->blocks = true;
	w->left_ns = SDMA_PACKET_NS;
	w->user[WORK_TYPE] = p[0] & 0xff;
	w->user[WORK_ARG] = n * 4;
	switch (p[0] & 0xff) {
	case SDMA_OP_COPY:
		bytes = copy_bytes(p);
		if (!reachable(h, q, sim_q64(p[4], p[3]), bytes) ||
		    !reachable(h, q, sim_q64(p[6], p[5]), bytes))
			return false;
		w->left_ns += div64_u64(bytes, max(READ_ONCE(sdma_gbs), 1u));
		break;
	case SDMA_OP_CONST_FILL:
		bytes = copy_bytes(p);
		if (!reachable(h, q, sim_q64(p[2], p[1]), bytes))
			return false;
		w->left_ns += div64_u64(bytes, max(READ_ONCE(sdma_gbs), 1u));
		break;
	case SDMA_OP_POLL_REGMEM:
		if (!(p[0] >> 31))
			break;		/* a register: flush of the HDP cache, there is none */
		v = sim_user_ptr(h, q, sim_q64(p[2], p[1]), 4);
		return v && poll_true(READ_ONCE(*v), p);
	}
	return true;
}

static void copy(struct sim_hws *h, struct sim_queue *q, u64 dst, u64 src, u64 len)
{
	void *d, *s;
	u64 n;

	for (; len; len -= n, dst += n, src += n) {
		n = min3(len, (u64)PAGE_SIZE - offset_in_page(dst),
			 (u64)PAGE_SIZE - offset_in_page(src));
		d = sim_user_ptr(h, q, dst, n);
		s = sim_user_ptr(h, q, src, n);
		if (!d || !s) {
			sim_queue_error(h, q, "no memory at", d ? src : dst);
			return;
		}
		memcpy(d, s, n);
	}
}

static void fill(struct sim_hws *h, struct sim_queue *q, u64 dst, u32 data, u64 len)
{
	void *d;
	u64 n;

	for (; len; len -= n, dst += n) {
		n = min(len, (u64)PAGE_SIZE - offset_in_page(dst));
		d = sim_user_ptr(h, q, dst, n);
		if (!d) {
			sim_queue_error(h, q, "no memory at", dst);
			return;
		}
		memset32(d, data, n / 4);
	}
}

static void atomic_op(struct sim_hws *h, struct sim_queue *q, const u32 *p)
{
	void *a = sim_user_ptr(h, q, sim_q64(p[2], p[1]), 8);

	if (!a)
		return;
	if (p[0] >> 25 == SDMA_ATOMIC_ADD_64)
		__atomic_fetch_add((u64 *)a, sim_q64(p[4], p[3]), __ATOMIC_SEQ_CST);
	else
		__atomic_fetch_add((u32 *)a, p[3], __ATOMIC_SEQ_CST);
}

/**
 * sim_sdma_complete - eng_ops.complete of SDMA queues: the packet has its effect
 * @h: the firmware
 * @q: the queue
 * @w: what has run
 *
 * The packet is read again: its place in the ring is the user's only after this.
 */
void sim_sdma_complete(struct sim_hws *h, struct sim_queue *q, struct eng_work *w)
{
	u64 at = q->next - w->user[WORK_ARG], *rp;
	u32 p[SDMA_MAX_DW], *a;
	bool soc21;
	u64 *ts;

	if (read_packet(h, q, at, p)) {
		switch (p[0] & 0xff) {
		case SDMA_OP_COPY:
			copy(h, q, sim_q64(p[6], p[5]), sim_q64(p[4], p[3]), copy_bytes(p));
			break;
		case SDMA_OP_CONST_FILL:
			fill(h, q, sim_q64(p[2], p[1]), p[3], copy_bytes(p));
			break;
		case SDMA_OP_FENCE:
			a = sim_user_ptr(h, q, sim_q64(p[2], p[1]), 4);
			if (a)
				smp_store_release(a, p[3]);	/* after the copies */
			break;
		case SDMA_OP_ATOMIC:
			atomic_op(h, q, p);
			break;
		case SDMA_OP_TIMESTAMP:
			ts = sim_user_ptr(h, q, sim_q64(p[2], p[1]), 8);
			if (ts)
				WRITE_ONCE(*ts, sim_gpu_clock());
			break;
		case SDMA_OP_TRAP:
			soc21 = h->g->prof->gc >= IP_VERSION(11, 0, 0);
			sim_hws_irq(h, soc21 ? SOC21_IH_CLIENTID_GFX : SOC15_IH_CLIENTID_SDMA0,
				    soc21 ? SOC21_INTSRC_SDMA_TRAP : SOC15_INTSRC_SDMA_TRAP,
				    q->eq.proc->vmid, to_sp(q->eq.proc)->pasid, p[1] & 0xfffffff);
			break;
		}
	}
	q->rptr = q->next;
	rp = sim_user_ptr(h, q, q->rptr_va, sizeof(*rp));
	if (rp)
		smp_store_release(rp, q->rptr);	/* after the packet's effect */
}
