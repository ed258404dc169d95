// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the protocol of the scheduler firmware in HWS mode.
 *
 * Reads the PM4 packets that the real packet manager writes to the HIQ, builds the runlist
 * from MAP_PROCESS and MAP_QUEUES, stops it at UNMAP_QUEUES, and answers QUERY_STATUS once
 * everything is saved. What runs when is the engine's business, when to look hws.c's.
 * All of it runs in the firmware thread under sim_hws.lock and sim_gpu.vm_lock.
 */
#include "hws.h"
#include "kfd_pm4_headers_ai.h"
#include "kfd_pm4_headers_aldebaran.h"
#include "kfd_pm4_opcodes.h"

/* ---- runlist ---- */

/* Two layouts (gfx9.4.2 and up in gfx9, all others); what is read here lies at the same place */
static_assert(offsetof(struct pm4_mes_map_process, vm_context_page_table_base_addr_lo32) ==
	      offsetof(struct pm4_mes_map_process_aldebaran, vm_context_page_table_base_addr_lo32));
static_assert(offsetof(struct pm4_mes_map_process, bitfields2) ==
	      offsetof(struct pm4_mes_map_process_aldebaran, bitfields2));

/* The longer layout has the debugger's settings of the process */
static bool debugger_in_map(const struct sim_profile *p)
{
	return p->gc >= IP_VERSION(9, 4, 2) && p->gc < IP_VERSION(10, 0, 0);
}

static void map_process(struct sim_hws *h, struct pm4_mes_map_process_aldebaran *m,
			struct sim_proc **proc)
{
	*proc = sim_proc_new(h, sim_q64(m->vm_context_page_table_base_addr_hi32,
					m->vm_context_page_table_base_addr_lo32),
			     m->bitfields2.pasid);
	if (*proc && debugger_in_map(h->g->prof))
		sim_debugger_map(*proc, m->spi_gdbg_per_vmid_cntl, m->tcp_watch_cntl);
}

static void map_queue(struct sim_hws *h, struct pm4_mes_map_queues *m, struct sim_proc *p, u64 now)
{
	bool sdma = m->bitfields2.engine_sel || m->bitfields2.extended_engine_sel;

	if (p)
		sim_queue_new(h, p, sdma, sim_q64(m->mqd_addr_hi, m->mqd_addr_lo),
			      m->bitfields3.doorbell_offset,
			      sim_q64(m->wptr_addr_hi, m->wptr_addr_lo), now);
}

/* Length of a PM4 packet in dwords; fillers of one dword have an impossible count */
static u32 pm4_len(u32 header)
{
	u32 n = (header >> 16 & 0x3fff) + 2;

	return header >> 30 != 3 || n == 0x4001 ? 1 : n;
}

static u32 pm4_op(u32 header)
{
	return header >> 30 == 3 ? header >> 8 & 0xff : IT_NOP;
}

static void run_list(struct sim_hws *h, struct pm4_mes_runlist *m, u64 now)
{
	u32 dw = m->bitfields4.ib_size, i, n;
	u64 ib = sim_q64(m->ib_base_hi, m->ordinal2 & ~3u);
	u32 *p = sim_gart_ptr(h->g, ib, dw * 4);
	struct sim_proc *proc = NULL;

	h->n_runlist++;
	sim_submit_log(h, 'R', READ_ONCE(h->hiq_rung));
	h->oversubscribed = false;
	if (!p) {
		dev_err(h->g->adev.dev, "kfdsim: runlist %#llx, %u dwords, not in GART\n", ib, dw);
		h->n_bad++;
		return;
	}
	sim_hws_drop(h, NULL, true);	/* amdkfd unmaps before; a runlist replaces the last */
	eng_advance(&h->eng, now);
	h->eng.cfg.vmids = clamp((u32)m->bitfields4.process_cnt, 1u, sim_vmids(h->g->prof));
	for (i = 0; i < dw; i += n) {
		n = pm4_len(p[i]);
		if (i + n > dw)
			break;
		switch (pm4_op(p[i])) {
		case IT_MAP_PROCESS:
			map_process(h, (void *)&p[i], &proc);
			break;
		case IT_MAP_QUEUES:
			map_queue(h, (void *)&p[i], proc, now);
			break;
		case IT_RUN_LIST:
			h->oversubscribed = true;	/* chained to itself */
			break;
		case IT_NOP:
			break;
		default:
			h->n_bad++;
			dev_err_ratelimited(h->g->adev.dev, "kfdsim: opcode %#x in a runlist\n",
					    pm4_op(p[i]));
		}
	}
	h->last_work = now;
}

/* ---- HIQ ---- */

/* How long the firmware waits for a queue before it gives it up; a guess */
#define GIVE_UP_NS	(10 * NSEC_PER_MSEC)

/* A compute queue with a dispatch in flight that does not preempt, if that is asked for */
static struct sim_queue *hanging(struct sim_hws *h, const struct eng_proc *only)
{
	struct eng_proc *p;
	struct eng_queue *q;

	for (p = h->eng.procs; p; p = p->next)
		for (q = p->queues; q && (!only || p == only); q = q->next)
			if (to_sq(q)->kind == SIM_QUEUE_AQL && q->nwork &&
			    (sim_fault_pid(h->g, SIM_FAULT_HANG_QUEUE, sim_proc_pid(h, to_sp(p))) ||
			     sim_fault(h->g, SIM_FAULT_HANG_QUEUE)))
				return to_sq(q);
	return NULL;
}

/*
 * Queues that have nothing to save are off at once, others when they are saved. To forget them now, while others are
 * saved, keeps our own CPU time, which is not the model's, out of the time until the fence.
 */
static void drop_idle(struct sim_hws *h, struct eng_proc *only)
{
	struct eng_proc *p, *next_proc;
	struct eng_queue *q, *next;

	for (p = h->eng.procs; p; p = next_proc) {
		next_proc = p->next;
		for (q = p->queues; q && (!only || p == only); q = next) {
			next = q->next;
			if (q->state == ENG_Q_OFF ||
			    (q->state == ENG_Q_SAVING && q->until <= h->eng.now))
				sim_queue_drop(h, to_sq(q), true);
		}
		if (!only && !p->queues)
			sim_proc_drop(h, to_sp(p), true);
	}
}

/**
 * sim_hiq_unmap_done - end an UNMAP_QUEUES if its queues are saved; until then forget those that are
 * @h: the firmware, its engine up to date; the grace period is over
 * @now: the present time
 */
void sim_hiq_unmap_done(struct sim_hws *h, u64 now)
{
	if (now < h->unmap_until || !eng_saved(&h->eng, h->unmap_only)) {
		if (h->unmap_until != ENG_NEVER && !h->hanging.ring)
			drop_idle(h, h->unmap_only);
		return;
	}
	if (h->hanging.ring) {
		/* the HIQ's MQD says that a queue was given up; its HQD has it until it is reset */
		h->hiq_mqd->queue_doorbell_id0 = h->hanging.doorbell;
		WRITE_ONCE(h->hung_hqd, ~0U);
		WRITE_ONCE(h->hung_ring, h->hanging.ring);
		h->hanging.ring = 0;
	}
	sim_hws_drop(h, h->unmap_only, true);
	h->unmap_only = NULL;
	WRITE_ONCE(h->hiq_stalled, false);
	h->unmap_last_ns = now - h->unmap_began;
	h->unmap_max_ns = max(h->unmap_max_ns, h->unmap_last_ns);
	h->unmap_sum_ns += h->unmap_last_ns;
}

/* Does one of the queues not preempt? */
static bool stubborn(struct sim_hws *h, const struct eng_proc *only)
{
	struct eng_proc *p;
	bool queues = false;

	for (p = h->eng.procs; p; p = p->next) {
		if (!p->queues || (only && p != only))
			continue;
		queues = true;
		if (sim_fault_pid(h->g, SIM_FAULT_NO_PREEMPT, sim_proc_pid(h, to_sp(p))))
			return true;
	}
	return queues && sim_fault(h->g, SIM_FAULT_NO_PREEMPT);
}

/* Stop the queues and begin to save them */
static void unmap_begin(struct sim_hws *h, struct eng_proc *only, u64 now)
{
	struct sim_queue *hung = hanging(h, only);
	u64 until = eng_unmap(&h->eng, only, now);

	h->unmap_only = only;
	h->unmap_until = max(until, h->unmap_began + sim_unmap_ns());
	if (hung) {
		h->hanging.ring = hung->ring;
		h->hanging.doorbell = hung->doorbell;
		h->unmap_until = max(h->unmap_until, now + GIVE_UP_NS);
	} else if (stubborn(h, only)) {
		h->unmap_until = ENG_NEVER;	/* the rest of it goes off; only a reset helps */
	} else {
		drop_idle(h, only);
	}
}

/**
 * sim_hiq_drained - the grace period of an UNMAP_QUEUES is over, or no waves are left
 * @h: the firmware
 * @now: the present time
 */
void sim_hiq_drained(struct sim_hws *h, u64 now)
{
	h->drain_until = 0;
	unmap_begin(h, NULL, now);
	h->eng.drain = false;
}

/*
 * How long waves may go on before they are saved. The least that amdkfd sets, 1000 cycles, is half a us: less
 * than the model can tell apart, and a step of this thread for each queue
 */
static u64 grace_ns(const struct sim_hws *h)
{
	u32 thousands = (h->wait_time2 & SIM_SCH_WAVE_MASK) >> SIM_SCH_WAVE_SHIFT;

	return thousands > 1 ? thousands * 1000000ULL / h->g->prof->engine_mhz : 0;
}

static void unmap_queues(struct sim_hws *h, struct pm4_mes_unmap_queues *m, u64 now)
{
	struct eng_proc *p, *only = NULL;

	h->n_unmap++;
	sim_submit_log(h, 'U', READ_ONCE(h->hiq_rung));
	if (m->bitfields2.queue_sel ==
	    queue_sel__mes_unmap_queues__perform_request_on_pasid_queues) {
		for (p = h->eng.procs; p; p = p->next)
			if (to_sp(p)->pasid == m->bitfields3a.pasid)
				only = p;
		if (!only)
			return;
	}
	if (m->bitfields2.action == action__mes_unmap_queues__reset_queues) {
		sim_hws_drop(h, only, false);	/* what was in flight is lost */
		return;
	}
	h->unmap_began = now;
	eng_advance(&h->eng, now);
	if (!only && grace_ns(h) && eng_used_slots(&h->eng)) {
		h->eng.drain = true;
		h->unmap_only = NULL;
		h->drain_until = now + grace_ns(h);
		h->unmap_until = h->drain_until;
	} else {
		unmap_begin(h, only, now);
	}
	WRITE_ONCE(h->hiq_stalled, true);
}

/* WRITE_DATA to the one register that amdkfd sets so: its number, 18 bits, and the value (6.1 never does) */
static void write_data(struct sim_hws *h, const u32 *p)
{
	h->n_write++;
	if ((p[2] & 0x3ffff) == SIM_IQ_WAIT_TIME2)
		h->wait_time2 = p[4];
	else
		h->n_bad++;
}

static void hiq_packet(struct sim_hws *h, u32 *p, u64 now)
{
	struct pm4_mes_query_status *qs = (void *)p;
	u64 fence;

	switch (pm4_op(*p)) {
	case IT_SET_RESOURCES:
	case IT_NOP:
		break;
	case IT_WRITE_DATA:
		write_data(h, p);
		break;
	case IT_RUN_LIST:
		run_list(h, (void *)p, now);
		break;
	case IT_UNMAP_QUEUES:
		unmap_queues(h, (void *)p, now);
		break;
	case IT_QUERY_STATUS:
		h->n_query++;
		if (sim_fault(h->g, SIM_FAULT_NO_FENCE))
			break;
		fence = sim_q64(qs->data_hi, qs->data_lo);
		if (!sim_gart_write(h->g, sim_q64(qs->addr_hi, qs->addr_lo), &fence, sizeof(fence)))
			h->n_bad++;
		break;
	default:
		h->n_bad++;
		dev_err(h->g->adev.dev, "kfdsim: unknown PM4 opcode %#x on the HIQ\n", pm4_op(*p));
	}
}

/**
 * sim_hiq_run - take the HIQ's doorbell, process packets until none is left or one must wait
 * @h: the firmware, with an HIQ
 * @now: the present time
 */
void sim_hiq_run(struct sim_hws *h, u64 now)
{
	u64 *db = (__force u64 *)((__force u32 *)h->g->db + h->hiq_db);
	struct v9_mqd *m = h->hiq;
	u32 *ring, *rp, mask, buf[64], n, i;

	if (READ_ONCE(*db) == ~0ULL) {
		h->hiq_looked_ns = now;
	} else {
		h->hiq_wptr = xchg(db, ~0ULL);
		/* it may be the ring before the one that the kick was for */
		if (!xchg(&h->hiq_behind, 0))
			h->hiq_expect = 0;
	}
	if (h->hiq_rptr >= h->hiq_wptr)
		return;
	if (sim_fault(h->g, SIM_FAULT_HANG)) {
		WRITE_ONCE(h->hiq_dead, true);
		return;
	}
	mask = (2u << (m->cp_hqd_pq_control & 0x3f)) - 1;
	ring = sim_gart_ptr(h->g, sim_q64(m->cp_hqd_pq_base_hi, m->cp_hqd_pq_base_lo) << 8,
			    (mask + 1) * 4);
	rp = sim_gart_ptr(h->g, sim_q64(m->cp_hqd_pq_rptr_report_addr_hi,
					m->cp_hqd_pq_rptr_report_addr_lo), 4);
	if (!ring || !rp) {
		h->n_bad++;
		h->hiq_rptr = h->hiq_wptr;
		return;
	}
	while (h->hiq_rptr < h->hiq_wptr && !h->hiq_stalled) {
		n = pm4_len(ring[h->hiq_rptr & mask]);
		for (i = 0; i < n && i < ARRAY_SIZE(buf); i++)
			buf[i] = ring[(h->hiq_rptr + i) & mask];
		h->hiq_rptr += n;
		hiq_packet(h, buf, now);
		WRITE_ONCE(*rp, (u32)h->hiq_rptr & mask);
	}
	if (h->hiq_rptr >= h->hiq_wptr)
		WRITE_ONCE(h->hiq_rung, 0);
	/* nothing will tell of the runlist that follows an unmap */
	if (!SIM_HIQ_KICK)
		h->last_work = now;
}
