// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: PM4 packets that change memory: WRITE_DATA, COPY_DATA, ATOMIC_MEM. Each ends before the next packet begins.
 * A packet that reads or writes registers is refused.
 *
 * Formats: soc15d.h and nvd.h name the packets; selectors as in them for WRITE_DATA, of COPY_DATA as the kernel's own
 * users have them (amdgpu's *_ring_emit_rreg()); operations of ATOMIC_MEM: enum TC_OP of vega10_enum.h.
 * Runs in the firmware thread under sim_hws.lock and sim_gpu.vm_lock.
 */
#include "pm4.h"

#define SEL_DST(p)	((p) >> 8 & 0xf)
#define DST_SYNC	1		/* memory, directly */
#define DST_L2		2
#define DST_MEMORY	5		/* through the caches */
#define WRITE_ONE_ADDR	BIT(16)		/* WRITE_DATA: do not increment the address */

#define COPY_SRC(p)	((p) & 0xf)
#define COPY_64		BIT(16)
enum { SRC_MEMORY = 1, SRC_L2 = 2, SRC_DATA = 5, SRC_CLOCK = 9 };

#define ATOMIC_OP(p)	((p) & 0x1f)
#define ATOMIC_64	BIT(5)
#define ATOMIC_LOOP(p)	((p) >> 8 & 0xf)	/* COMMAND: 1: until the comparison holds */
enum {
	TC_SWAP = 0x07, TC_CMPSWAP = 0x08, TC_ADD = 0x0f, TC_SUB, TC_SMIN, TC_UMIN, TC_SMAX, TC_UMAX, TC_AND, TC_OR, TC_XOR,
	TC_INC, TC_DEC,
};

static bool is_memory(u32 dst)
{
	return dst == DST_MEMORY || dst == DST_SYNC || dst == DST_L2;
}

/**
 * sim_pm4_mem_peek - is such a packet one that can be executed?
 * @h: the firmware
 * @q: the queue
 * @p: its first two dwords
 */
bool sim_pm4_mem_peek(struct sim_hws *h, struct sim_queue *q, const u32 *p)
{
	u32 src = COPY_SRC(p[1]), op = ATOMIC_OP(p[1]);

	switch (PM4_OP(p[0])) {
	case IT_COPY_DATA:
		if (PM4_COUNT(p[0]) != 4 || (src != SRC_MEMORY && src != SRC_L2 && src != SRC_DATA && src != SRC_CLOCK))
			return sim_pm4_refuse(h, q, "COPY_DATA from no memory:", p[1]);
		fallthrough;
	case IT_WRITE_DATA:
		return is_memory(SEL_DST(p[1])) || sim_pm4_refuse(h, q, "a write to no memory:", p[1]);
	}
	if (PM4_COUNT(p[0]) != 7 || ATOMIC_LOOP(p[1]) > 1 ||
	    (op != TC_SWAP && op != TC_CMPSWAP && (op < TC_ADD || op > TC_DEC)))
		return sim_pm4_refuse(h, q, "ATOMIC_MEM with operation", p[1]);
	return true;
}

static bool write_data(struct sim_hws *h, struct sim_queue *q, u32 n)
{
	u32 i, v, p[4], *d;
	u64 va;

	if (!sim_pm4_get_n(h, q, p, 4))
		return q->error;
	va = sim_q64(p[3], p[2] & ~3u);
	for (i = 4; i < n; i++) {
		d = sim_pm4_get(h, q, i, &v) ? sim_user_ptr(h, q, va, 4) : NULL;
		if (!d)
			return q->error;
		smp_store_release(d, v);
		if (!(p[1] & WRITE_ONE_ADDR))
			va += 4;
	}
	return true;
}

static bool copy_data(struct sim_hws *h, struct sim_queue *q)
{
	bool wide;
	const void *from;
	void *to;
	u32 p[6];
	u64 v;

	if (!sim_pm4_get_n(h, q, p, 6))
		return q->error;
	wide = p[1] & COPY_64;
	v = sim_q64(p[3], p[2]);
	if (COPY_SRC(p[1]) == SRC_CLOCK) {
		v = sim_event_clock(h);
	} else if (COPY_SRC(p[1]) != SRC_DATA) {
		from = sim_user_read(h, q, v & (wide ? ~7ULL : ~3ULL), wide ? 8 : 4);
		if (!from)
			return q->error;
		v = wide ? READ_ONCE(*(const u64 *)from) : READ_ONCE(*(const u32 *)from);
	}
	to = sim_user_ptr(h, q, sim_q64(p[5], p[4]) & (wide ? ~7ULL : ~3ULL), wide ? 8 : 4);
	if (!to)
		return q->error;
	if (wide)
		smp_store_release((u64 *)to, v);
	else
		smp_store_release((u32 *)to, (u32)v);
	return true;
}

/* What @op makes of @old; signed comparisons are those of @bits */
static u64 combine(u32 op, u64 old, u64 src, u64 cmp, u32 bits)
{
	s64 s_old = (s64)(old << (64 - bits)), s_src = (s64)(src << (64 - bits));

	switch (op) {
	case TC_SWAP:
		return src;
	case TC_CMPSWAP:
		return old == cmp ? src : old;
	case TC_ADD:
		return old + src;
	case TC_SUB:
		return old - src;
	case TC_SMIN:
		return s_src < s_old ? src : old;
	case TC_UMIN:
		return src < old ? src : old;
	case TC_SMAX:
		return s_src > s_old ? src : old;
	case TC_UMAX:
		return src > old ? src : old;
	case TC_AND:
		return old & src;
	case TC_OR:
		return old | src;
	case TC_XOR:
		return old ^ src;
	case TC_INC:
		return old >= src ? 0 : old + 1;
	}
	return !old || old > src ? src : old - 1;	/* TC_DEC */
}

/* Other queues and CPUs may change the memory at the same time. Return: false: not now, or it is to be tried again */
static bool atomic_mem(struct sim_hws *h, struct sim_queue *q)
{
	u64 src, cmp, old, seen;
	u32 p[9];
	bool wide;
	void *at;

	if (!sim_pm4_get_n(h, q, p, 9))
		return q->error;
	wide = p[1] & ATOMIC_64;
	at = sim_user_ptr(h, q, sim_q64(p[3], p[2]) & (wide ? ~7ULL : ~3ULL), wide ? 8 : 4);
	if (!at)
		return q->error;
	src = wide ? sim_q64(p[5], p[4]) : p[4];
	cmp = wide ? sim_q64(p[7], p[6]) : p[6];
	do {
		old = wide ? READ_ONCE(*(u64 *)at) : READ_ONCE(*(u32 *)at);
		if (ATOMIC_LOOP(p[1]) && ATOMIC_OP(p[1]) == TC_CMPSWAP && old != cmp)
			return false;
		seen = combine(ATOMIC_OP(p[1]), old, src, cmp, wide ? 64 : 32);
		seen = wide ? cmpxchg((u64 *)at, old, seen) : cmpxchg((u32 *)at, (u32)old, (u32)seen);
	} while (seen != old);
	return true;
}

/**
 * sim_pm4_mem - such a packet has its effect
 * @h: the firmware
 * @q: the queue, at the packet
 * @op: which
 * @n: length of the packet
 *
 * Return: false: not now
 */
bool sim_pm4_mem(struct sim_hws *h, struct sim_queue *q, u32 op, u32 n)
{
	switch (op) {
	case IT_WRITE_DATA:
		return write_data(h, q, n);
	case IT_COPY_DATA:
		return copy_data(h, q);
	}
	return atomic_mem(h, q);
}
