// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: what the firmware reads from an MQD. Its layout changed with GFX 10 (compute) and with
 * SDMA 6 and 7.
 */
#include "hws.h"
#include "v10_structs.h"
#include "v11_structs.h"

static uint mqd_times = 1;
module_param(mqd_times, uint, 0644);
MODULE_PARM_DESC(mqd_times, "time stamps of saves in MQDs: 0: none is written, as by firmware that does not know them; 1: as they are; 2: the end before the begin");

#define DW(type, member)	(offsetof(struct type, member) / 4)

/* Dwords of the fields of a compute MQD; the upper half of an address follows the lower */
struct cp_layout {
	u16 pipe_prio, queue_prio, base, control, rptr_addr, wptr_addr, aql_control;
	u16 stack_offset, stack_size, state_offset;
	u16 save_base, save_size;
	u16 save_start, save_end, restore_start, restore_end;
};

#define CP_LAYOUT(type) {							\
	.pipe_prio = DW(type, cp_hqd_pipe_priority),				\
	.queue_prio = DW(type, cp_hqd_queue_priority),				\
	.base = DW(type, cp_hqd_pq_base_lo),					\
	.control = DW(type, cp_hqd_pq_control),					\
	.rptr_addr = DW(type, cp_hqd_pq_rptr_report_addr_lo),			\
	.wptr_addr = DW(type, cp_hqd_pq_wptr_poll_addr_lo),			\
	.aql_control = DW(type, cp_hqd_aql_control),				\
	.stack_offset = DW(type, cp_hqd_cntl_stack_offset),			\
	.stack_size = DW(type, cp_hqd_cntl_stack_size),				\
	.state_offset = DW(type, cp_hqd_wg_state_offset),			\
	.save_base = DW(type, cp_hqd_ctx_save_base_addr_lo),			\
	.save_size = DW(type, cp_hqd_ctx_save_size),				\
	.save_start = DW(type, cp_mqd_save_start_time_lo),			\
	.save_end = DW(type, cp_mqd_save_end_time_lo),				\
	.restore_start = DW(type, cp_mqd_restore_start_time_lo),		\
	.restore_end = DW(type, cp_mqd_restore_end_time_lo),			\
}

static const struct cp_layout cp_v9 = CP_LAYOUT(v9_mqd);
static const struct cp_layout cp_v10 = CP_LAYOUT(v10_compute_mqd);
static const struct cp_layout cp_v11 = CP_LAYOUT(v11_compute_mqd);
static const struct cp_layout cp_v12 = CP_LAYOUT(v12_compute_mqd);

struct sdma_layout {
	u16 cntl, base, base_hi, rptr, wptr, ib_size, rptr_addr_lo, rptr_addr_hi;
};

#define SDMA_LAYOUT(type) {							\
	.cntl = DW(type, sdmax_rlcx_rb_cntl),					\
	.base = DW(type, sdmax_rlcx_rb_base),					\
	.base_hi = DW(type, sdmax_rlcx_rb_base_hi),				\
	.rptr = DW(type, sdmax_rlcx_rb_rptr),					\
	.wptr = DW(type, sdmax_rlcx_rb_wptr),					\
	.ib_size = DW(type, sdmax_rlcx_ib_size),				\
	.rptr_addr_lo = DW(type, sdmax_rlcx_rb_rptr_addr_lo),			\
	.rptr_addr_hi = DW(type, sdmax_rlcx_rb_rptr_addr_hi),			\
}

static const struct sdma_layout sdma_v9 = SDMA_LAYOUT(v9_sdma_mqd);
static const struct sdma_layout sdma_v10 = SDMA_LAYOUT(v10_sdma_mqd);
static const struct sdma_layout sdma_v11 = SDMA_LAYOUT(v11_sdma_mqd);
static const struct sdma_layout sdma_v12 = SDMA_LAYOUT(v12_sdma_mqd);

/*
 * What is left of an SDMA queue: behind the fields that amdkfd and hardware know, before
 * sdma_engine_id, which is amdkfd's
 */
#define SDMA_MQD_SAVE_DW	48
static_assert(SDMA_MQD_SAVE_DW * 4 + sizeof(struct sim_mqd_save) <=
	      offsetof(struct v9_sdma_mqd, sdma_engine_id));
static_assert(SDMA_MQD_SAVE_DW * 4 + sizeof(struct sim_mqd_save) <=
	      offsetof(struct v11_sdma_mqd, sdma_engine_id));
static_assert(SDMA_MQD_SAVE_DW * 4 + sizeof(struct sim_mqd_save) <=
	      offsetof(struct v12_sdma_mqd, sdma_engine_id));
static_assert(SIM_MQD_SAVE_DW * 4 + sizeof(struct sim_mqd_save) <=
	      sizeof(struct v11_compute_mqd));
static_assert(sizeof(struct v11_compute_mqd) <= sizeof(struct v9_mqd));

static u32 gfx(const struct sim_gpu *g)
{
	return IP_VERSION_MAJ(g->prof->gc);
}

static const struct cp_layout *cp_layout(const struct sim_gpu *g)
{
	switch (gfx(g)) {
	case 9:
		return &cp_v9;
	case 10:
		return &cp_v10;
	case 11:
		return &cp_v11;
	default:
		return &cp_v12;
	}
}

static const struct sdma_layout *sdma_layout(const struct sim_gpu *g)
{
	switch (gfx(g)) {
	case 9:
		return &sdma_v9;
	case 10:
		return &sdma_v10;
	case 11:
		return &sdma_v11;
	default:
		return &sdma_v12;
	}
}

/**
 * sim_mqd_bytes - size of an MQD that the firmware may touch
 * @g: the GPU
 * @sdma: of an SDMA queue
 */
size_t sim_mqd_bytes(const struct sim_gpu *g, bool sdma)
{
	if (sdma)
		return sizeof(struct v9_sdma_mqd);
	return gfx(g) == 9 ? sizeof(struct v9_mqd) : sizeof(struct v11_compute_mqd);
}

/**
 * sim_mqd_is_aql - is the compute queue one of AQL packets? Otherwise PM4
 * @g: the GPU
 * @mqd: its MQD
 */
bool sim_mqd_is_aql(const struct sim_gpu *g, const void *mqd)
{
	return ((const u32 *)mqd)[cp_layout(g)->aql_control];
}

static u64 addr(const u32 *mqd, u16 lo, u16 hi)
{
	return sim_q64(mqd[hi], mqd[lo]);
}

/**
 * sim_mqd_read - what amdkfd has written into an MQD
 * @g: the GPU
 * @q: @kind is set; gets priorities, ring and addresses
 * @mqd: its MQD
 *
 * SDMA queues get their write index from whoever maps them.
 */
void sim_mqd_read(const struct sim_gpu *g, struct sim_queue *q, const void *mqd)
{
	const struct sdma_layout *s = sdma_layout(g);
	const struct cp_layout *c = cp_layout(g);
	const u32 *m = mqd;

	if (q->kind == SIM_QUEUE_SDMA) {
		q->ring = addr(m, s->base, s->base_hi) << 8;
		q->mask = (4ULL << (m[s->cntl] >> 1 & 0x1f)) - 1;
		q->rptr_va = addr(m, s->rptr_addr_lo, s->rptr_addr_hi);
		q->save_dw = SDMA_MQD_SAVE_DW;
		q->eq.own_engine = true;
		return;
	}
	q->eq.pipe_prio = m[c->pipe_prio];
	q->eq.queue_prio = m[c->queue_prio];
	q->ring = addr(m, c->base, c->base + 1) << 8;
	q->mask = (2u << (m[c->control] & 0x3f)) / (q->kind == SIM_QUEUE_AQL ? 16 : 1) - 1;
	q->rptr_va = addr(m, c->rptr_addr, c->rptr_addr + 1);
	q->wptr_va = addr(m, c->wptr_addr, c->wptr_addr + 1);
	q->save_va = addr(m, c->save_base, c->save_base + 1);
	q->save_bytes = m[c->save_size];
	q->save_stack = m[c->stack_size];
	q->save_dw = SIM_MQD_SAVE_DW;
}

/* XCCs that have an MQD each. Without CWSR there is nothing to be told of them. */
static u32 mqds(const struct sim_gpu *g, const u32 *m)
{
	return m[cp_layout(g)->stack_size] ? g->prof->num_xcc : 1;
}

/*
 * Where the MQD of each XCC is behind the first one: kfd_mqd_manager_v9.c, mqd_stride_v9(). The
 * control stack lies between them.
 */
static u64 stride(const struct sim_gpu *g, const u32 *m)
{
	return ALIGN(sizeof(struct v9_mqd), PAGE_SIZE) +
	       ALIGN(m[cp_layout(g)->stack_size], PAGE_SIZE);
}

/*
 * Bytes of the control stack that a wave takes: what kfd_queue.c reserves (CNTL_STACK_BYTES_PER_WAVE, from Navi10 on 12), which is
 * the most that it can be. CWSR's own format; nothing else of it is modelled.
 */
static u32 stack_bytes_per_wave(const struct sim_gpu *g)
{
	return gfx(g) >= 10 ? 12 : 8;
}

/* Firmware counts in ticks of 10 ns, as sim_gpu_clock() */
static u64 ticks(u64 ns)
{
	return div_u64(ns, 10);
}

/* What CWSR leaves in the MQD of each XCC of a queue */
struct left {
	const struct cp_layout *c;
	u32 xccs;
	u64 stride;
	bool saved;
	u32 stack, state;
	u64 times[2];
};

static void leave(void *p, void *arg)
{
	const struct left *l = arg;
	u32 xcc, *m;

	for (xcc = 0; xcc < l->xccs; xcc++) {
		m = p + xcc * l->stride;
		if (l->saved) {
			m[l->c->stack_offset] = l->stack;
			m[l->c->state_offset] = l->state;
		}
		if (l->times[1])
			memcpy(&m[l->saved ? l->c->save_start : l->c->restore_start], l->times,
			       sizeof(l->times));
	}
}

static bool leave_all(struct sim_gpu *g, const struct sim_queue *q, const u32 *m, struct left *l)
{
	l->c = cp_layout(g);
	l->xccs = mqds(g, m);
	l->stride = stride(g, m);
	return sim_gart_change(g, q->mqd_addr, (l->xccs - 1) * l->stride + sim_mqd_bytes(g, false),
			       leave, l);
}

/**
 * sim_mqd_saved - tell amdkfd what CWSR has left of a compute queue, and when
 * @g: the GPU
 * @q: the queue, off the GPU
 * @waves: that an XCC has saved
 * @bytes: of its state
 *
 * The control stack grows down from its size, the wave state up from it. Of a queue without waves no
 * time is written; whether firmware does that is not known. All XCCs save at once
 * here, and take as long; those of a real GPU begin within 5 to 16 us of each other.
 */
bool sim_mqd_saved(struct sim_gpu *g, const struct sim_queue *q, u64 waves, u64 bytes)
{
	const u32 *m = sim_gart_ptr(g, q->mqd_addr, sim_mqd_bytes(g, false));
	const struct cp_layout *c = cp_layout(g);
	u32 size, as = READ_ONCE(mqd_times);
	struct left l = { .saved = true };

	if (!m)
		return false;
	size = m[c->stack_size];
	l.stack = size - min_t(u64, waves * stack_bytes_per_wave(g), size);
	l.state = size + min_t(u64, bytes, U32_MAX - size);
	/* as it was: this thread's own time would count as the hardware's, for each of many queues */
	if (!waves && m[c->stack_offset] == l.stack && m[c->state_offset] == l.state)
		return true;
	if (waves && as) {
		l.times[as == 2] = ticks(q->eq.save_at);
		l.times[as != 2] = ticks(q->eq.saved_at);
	}
	return leave_all(g, q, m, &l);
}

/**
 * sim_mqd_restored - the state of a compute queue was read
 * @g: the GPU
 * @q: the queue
 */
void sim_mqd_restored(struct sim_gpu *g, const struct sim_queue *q)
{
	const u32 *m = sim_gart_ptr(g, q->mqd_addr, sim_mqd_bytes(g, false));
	struct left l = { .times = { ticks(q->eq.restore_at), ticks(q->eq.restored_at) } };

	if (m)
		leave_all(g, q, m, &l);
}

/**
 * sim_mqd_sh_saved - leave in the MQD of a compute queue the registers that it has set
 * @g: the GPU
 * @q: the queue, off the GPU
 */
bool sim_mqd_sh_saved(struct sim_gpu *g, const struct sim_queue *q)
{
	u32 i;

	for (i = 0; i < SIM_SH_REGS; i++)
		if (sim_pm4_kept(g, i) &&
		    !sim_gart_write(g, q->mqd_addr + (SIM_SH_MQD_DW + i) * 4, &q->sh[i], sizeof(q->sh[i])))
			return false;
	return true;
}

/**
 * sim_mqd_sdma_saved - leave in the MQD of an SDMA queue how far it has come
 * @g: the GPU
 * @q: the queue, off the GPU
 *
 * A packet that was begun is executed again: the read index advances behind its effect.  Of an
 * indirect buffer, what is left is its size; whether hardware does that is not known.
 */
bool sim_mqd_sdma_saved(struct sim_gpu *g, const struct sim_queue *q)
{
	const struct sdma_layout *s = sdma_layout(g);
	u32 ib = q->stream.ib ? q->stream.ib_dw - q->stream.ib_pos : 0;

	return sim_gart_write(g, q->mqd_addr + s->ib_size * 4, &ib, sizeof(ib)) &&
	       sim_gart_write(g, q->mqd_addr + s->rptr * 4, &q->rptr, sizeof(q->rptr)) &&
	       sim_gart_write(g, q->mqd_addr + s->wptr * 4, &q->wptr, sizeof(q->wptr));
}
