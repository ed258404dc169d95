// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: dispatches by PM4: DISPATCH_DIRECT, DISPATCH_INDIRECT, and the registers that they start from.
 *
 * The registers of a queue are in its MQD while it is not mapped, as on hardware. A dispatch takes the time that its
 * grid would need, and its code is executed meanwhile, as that of an AQL packet is (execute.c). COMPUTE_PGM_LO,
 * _RSRC1, _RSRC2 and _RSRC3 stand for the kernel descriptor, and COMPUTE_USER_DATA has the registers that a wave begins with.
 * Runs in the firmware thread under sim_hws.lock and sim_gpu.vm_lock.
 */
#include "pm4.h"
#include "amdgpu.h"

/* Registers, from COMPUTE_DISPATCH_INITIATOR on: gc_9_0_offset.h to gc_12_0_0_offset.h */
#define SH_START	0x04		/* _X, _Y, _Z */
#define SH_NUM_THREAD	0x07		/* _X, _Y, _Z */
#define SH_PGM		0x0c		/* _LO, _HI */
#define SH_SCRATCH	0x10		/* COMPUTE_DISPATCH_SCRATCH_BASE_LO, _HI: of the GPUs that set up scratch memory */
#define SH_RSRC		0x12		/* 1, 2 */
#define SH_TMPRING	0x18		/* COMPUTE_TMPRING_SIZE */
#define SH_RSRC3	0x28		/* GFX10 to GFX12 */
#define SH_RSRC3_GFX9	0x2d		/* GFX 9.4.2 and 9.4.3 */
#define SH_USER_DATA	0x40		/* 0 to 15 */

/* COMPUTE_DISPATCH_INITIATOR */
#define INIT_EN		BIT(0)		/* COMPUTE_SHADER_EN */
#define INIT_PARTIAL	BIT(1)		/* PARTIAL_TG_EN */
#define INIT_START_0	BIT(2)		/* FORCE_START_AT_000 */
#define INIT_THREADS	BIT(5)		/* USE_THREAD_DIMENSIONS */
#define INIT_WAVE32	BIT(15)		/* CS_W32_EN, from GFX10 on */

#define READY_IN_IB	BIT_ULL(63)

static u32 rsrc3(const struct sim_gpu *g)
{
	return IP_VERSION_MAJ(g->prof->gc) == 9 ? SH_RSRC3_GFX9 : SH_RSRC3;
}

/**
 * sim_pm4_kept - is a register of a compute queue its own? Others are amdkfd's, or of no meaning here
 * @g: the GPU
 * @i: which, from SIM_SH_BASE on
 */
bool sim_pm4_kept(const struct sim_gpu *g, u32 i)
{
	return (i >= SH_START && i < SH_NUM_THREAD + 3) || (i >= SH_PGM && i < SH_PGM + 2) ||
	       (i >= SH_SCRATCH && i < SH_SCRATCH + 2) || i == SH_TMPRING ||
	       (i >= SH_RSRC && i < SH_RSRC + 2) || i == rsrc3(g) || (i >= SH_USER_DATA && i < SIM_SH_REGS);
}

/**
 * sim_pm4_set_sh - SET_SH_REG
 * @h: the firmware
 * @q: the queue
 * @n: length of the packet
 *
 * Return: false: not now
 */
bool sim_pm4_set_sh(struct sim_hws *h, struct sim_queue *q, u32 n)
{
	u32 i, reg, v;

	if (!sim_pm4_get(h, q, 1, &reg))
		return q->error;
	reg = (reg & 0xffff) - SIM_SH_BASE;
	for (i = 2; i < n; i++, reg++) {
		if (!sim_pm4_kept(h->g, reg))
			continue;
		if (!sim_pm4_get(h, q, i, &v))
			return q->error;
		q->sh[reg] = v;
		q->sh_set = true;
	}
	return true;
}

/* Prepare to execute a dispatch of @dim by @init. Return: false: not now */
static bool prepare(struct sim_hws *h, struct sim_queue *q, const u32 *dim, u32 init)
{
	const u32 *sh = q->sh;
	struct sim_exec_packet e = {
		.pm4 = 1,
		.id = q->next,
		.dims = 3,
		.kernel = sim_q64(sh[SH_PGM + 1] & 0xff, sh[SH_PGM]) << 8,
		.wave32 = !!(init & INIT_WAVE32),
		.rsrc = { sh[SH_RSRC], sh[SH_RSRC + 1], sh[rsrc3(h->g)] },
		.tmpring = sh[SH_TMPRING],
		.scratch = sim_q64(sh[SH_SCRATCH + 1] & 0xff, sh[SH_SCRATCH]) << 8,
	};
	u64 items;
	u32 i;

	memcpy(e.user, &sh[SH_USER_DATA], sizeof(e.user));
	for (i = 0; i < 3; i++) {
		e.wg[i] = sh[SH_NUM_THREAD + i];
		items = init & INIT_THREADS ? dim[i] : (u64)dim[i] * e.wg[i];
		/* packet_ok() refuses a dispatch without dimensions, which is then counted as not executed */
		if (items > U32_MAX || init & INIT_PARTIAL || (sh[SH_START + i] && !(init & INIT_START_0)))
			e.dims = 0;
		e.grid[i] = items;
	}
	return sim_exec_prepare(h, q, &e);
}

static bool work(struct sim_hws *h, struct sim_queue *q, const u32 *dim, u32 init, struct eng_work *w)
{
	u64 groups = 1, items = 1, n;
	u32 i, threads;

	for (i = 0; i < 3; i++) {
		threads = q->sh[SH_NUM_THREAD + i] & 0xffff;
		if (!threads)
			return sim_pm4_refuse(h, q, "a dispatch without COMPUTE_NUM_THREAD", i);
		items *= threads;
		n = init & INIT_THREADS ? DIV_ROUND_UP_ULL(dim[i], threads) : dim[i];
		/* COMPUTE_START is the first work-group, and the dimension the one behind the last */
		n -= init & INIT_START_0 ? 0 : min_t(u64, q->sh[SH_START + i], n);
		if (check_mul_overflow(groups, n, &groups))
			groups = U64_MAX;
	}
	if ((READ_ONCE(sim_exec_wanted) || q->ready_exec) && !prepare(h, q, dim, init))
		return false;
	sim_dispatch_work(h->g, q, groups, DIV64_U64_ROUND_UP(items, h->g->prof->wave_size), 0, w);
	return true;
}

/**
 * sim_pm4_dispatch_peek - DISPATCH_DIRECT or DISPATCH_INDIRECT is next
 * @h: the firmware
 * @q: the queue
 * @p: its first dwords
 * @w: filled
 *
 * Return: may it be launched now?
 */
bool sim_pm4_dispatch_peek(struct sim_hws *h, struct sim_queue *q, const u32 *p, struct eng_work *w)
{
	u64 at = q->stream.ib ? READY_IN_IB | (q->stream.ib + q->stream.ib_pos * 4ULL) : q->next + 1;
	bool direct = PM4_OP(p[0]) == IT_DISPATCH_DIRECT;
	u32 init = direct ? p[4] : p[3], dim[3] = { p[1], p[2], p[3] };
	const u32 *from;
	int i;

	if (PM4_COUNT(p[0]) != (direct ? 3 : 2))
		return sim_pm4_refuse(h, q, "a dispatch of wrong length", p[0]);
	/* prepared once: while it waits for a slot, each event asks for it */
	if (q->ready_for == at) {
		q->ready.avail = w->avail;
		*w = q->ready;
		return true;
	}
	for (i = 0; !direct && i < 3; i++) {
		from = sim_user_read(h, q, sim_q64(p[2], p[1] & ~3u) + i * 4, sizeof(*from));
		if (!from)
			return false;
		dim[i] = READ_ONCE(*from);
	}
	if (!(init & INIT_EN) || !dim[0] || !dim[1] || !dim[2])
		return true;		/* nothing is dispatched */
	if (!work(h, q, dim, init, w))
		return false;
	q->ready = *w;
	q->ready_for = at;
	return true;
}
