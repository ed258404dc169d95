// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the scheduler firmware of HWS mode, protocol only.
 *
 * A thread reads the PM4 packets that the real packet manager writes to the HIQ, builds
 * the runlist from MAP_PROCESS and MAP_QUEUES, stops it at UNMAP_QUEUES, and answers
 * QUERY_STATUS once everything is saved. What runs when is the engine's business.
 *
 * When it wakes: at the engine's next event; every poll_us while queues are mapped and
 * something happened lately, every poll_idle_us while they are idle (doorbells are RAM
 * and cannot wake anybody); when amdkfd is about to ring the HIQ. With no queue in the
 * runlist it sleeps.
 */
#include "hws.h"
#include "kfd_pm4_headers_ai.h"
#include "kfd_pm4_headers_aldebaran.h"
#include "kfd_pm4_opcodes.h"
#include <linux/kthread.h>
#include <linux/module.h>

static uint poll_us = 50;
module_param(poll_us, uint, 0644);
MODULE_PARM_DESC(poll_us, "interval at which doorbells of mapped queues are looked at, us");

static uint poll_idle_us = 100;
module_param(poll_idle_us, uint, 0644);
MODULE_PARM_DESC(poll_idle_us, "the same once nothing has run for 20 ms, us");

static uint slots = 1;
module_param(slots, uint, 0644);
MODULE_PARM_DESC(slots, "dispatches that run at once; 1: each owns the whole GPU");

static uint hqds;
module_param(hqds, uint, 0644);
MODULE_PARM_DESC(hqds, "hardware queue slots, 0: the profile's (24: 4 pipes x 8 queues less the kernel's 8)");

static uint process_quantum_us = 10000;
module_param(process_quantum_us, uint, 0644);
MODULE_PARM_DESC(process_quantum_us, "time slice of a process when there are more of them than VMIDs (MAP_PROCESS: 10 ms)");

static uint gang_quantum_us = 1000;
module_param(gang_quantum_us, uint, 0644);
MODULE_PARM_DESC(gang_quantum_us, "time slice of a queue when there are more of them than HQDs, and length of a turn among equals (MES: 1 ms)");

static uint save_us = 20;
module_param(save_us, uint, 0644);
MODULE_PARM_DESC(save_us, "fixed time to save a queue with a dispatch in flight (CWSR; no published figure)");

static uint restore_us = 20;
module_param(restore_us, uint, 0644);
MODULE_PARM_DESC(restore_us, "fixed time to restore it");

static uint save_gbs;
module_param(save_gbs, uint, 0644);
MODULE_PARM_DESC(save_gbs, "rate at which wave state is saved and restored, GB/s, 0: the profile's peak memory bandwidth");

static uint unmap_us = 5;
module_param(unmap_us, uint, 0644);
MODULE_PARM_DESC(unmap_us, "fixed time of an UNMAP_QUEUES, even with nothing in flight");

#define IDLE_AFTER_NS	(20 * NSEC_PER_MSEC)
/*
 * The kick comes before the ring, and the firmware may have taken the CPU of whoever is
 * about to ring: look again after 10 us, then twice as long each time, for a second.
 */
#define HIQ_EXPECT_NS	NSEC_PER_SEC
#define HIQ_RETRY_NS	(10 * NSEC_PER_USEC)
#define HIQ_RETRY_MAX	NSEC_PER_MSEC

static void read_config(struct sim_hws *h)
{
	struct eng_config *c = &h->eng.cfg;
	u32 gbs = READ_ONCE(save_gbs);

	c->slots = max(READ_ONCE(slots), 1u);
	c->hqds = READ_ONCE(hqds) ? : h->g->prof->hqds;
	c->process_quantum_ns = max(READ_ONCE(process_quantum_us), 100u) * 1000ULL;
	c->gang_quantum_ns = max(READ_ONCE(gang_quantum_us), 100u) * 1000ULL;
	c->save_ns = READ_ONCE(save_us) * 1000ULL;
	c->restore_ns = READ_ONCE(restore_us) * 1000ULL;
	c->bytes_per_us = (gbs ? : h->g->prof->mem_bw_gbs) * 1000ULL;
}

/* ---- interrupts ---- */

/**
 * sim_hws_irq - queue an interrupt; sent when the firmware has dropped its locks
 * @h: the firmware, its lock held
 * @client: SOC15_IH_CLIENTID_*
 * @source: SOC15_INTSRC_*
 * @vmid: VMID index of the process
 * @pasid: its PASID
 * @ctxid: context ID
 */
void sim_hws_irq(struct sim_hws *h, u32 client, u32 source, u32 vmid, u32 pasid, u32 ctxid)
{
	u32 *e;

	if (h->nirq == SIM_IRQ_RING) {
		h->n_irq_lost++;	/* as a full IH ring; events are found by their slots */
		return;
	}
	e = h->irqs[h->nirq++];
	memset(e, 0, sizeof(h->irqs[0]));
	e[0] = client | source << 8 | (h->g->adev.vm_manager.first_kfd_vmid + vmid) << 24;
	e[3] = pasid;
	e[4] = ctxid;
	h->n_irq++;
}

static void send_irqs(struct sim_hws *h, u32 n)
{
	u32 i;

	mutex_lock(&h->irq_lock);
	for (i = 0; i < n && h->irq_on; i++)
		kgd2kfd_interrupt(h->g->adev.kfd.dev, h->irqs[i]);
	mutex_unlock(&h->irq_lock);
}

/**
 * sim_hws_irq_enable - may interrupts be sent to amdkfd?
 * @g: the GPU
 * @on: after this returns with false, none is being sent
 */
void sim_hws_irq_enable(struct sim_gpu *g, bool on)
{
	mutex_lock(&g->hws->irq_lock);
	g->hws->irq_on = on;
	mutex_unlock(&g->hws->irq_lock);
}

/* ---- runlist ---- */

/* A queue of a kind that is not modelled has no state to keep */
static void drop_proc(struct sim_hws *h, struct eng_proc *p, bool save)
{
	struct eng_queue *q;

	while ((q = p->queues)) {
		if (save && to_sq(q)->kind != SIM_QUEUE_OTHER)
			sim_queue_save(h, to_sq(q));
		eng_remove_queue(&h->eng, q);
		h->nqueues--;
		kfree(to_sq(q));
	}
	eng_remove_proc(&h->eng, p);
	h->nprocs--;
	kfree(to_sp(p));
}

static void drop_procs(struct sim_hws *h, struct eng_proc *only, bool save)
{
	struct eng_proc *p, *next;

	for (p = h->eng.procs; p; p = next) {
		next = p->next;
		if (!only || p == only)
			drop_proc(h, p, save);
	}
}

static void map_process(struct sim_hws *h, struct pm4_mes_map_process_aldebaran *m,
			struct sim_proc **proc)
{
	struct sim_proc *p = kzalloc(sizeof(*p), GFP_KERNEL);

	*proc = p;
	if (!p)
		return;
	p->pasid = m->bitfields2.pasid;
	p->pd = sim_q64(m->vm_context_page_table_base_addr_hi32,
			m->vm_context_page_table_base_addr_lo32);
	eng_add_proc(&h->eng, &p->ep);
	h->nprocs++;
}

static void map_queue(struct sim_hws *h, struct pm4_mes_map_queues *m, struct sim_proc *p, u64 now)
{
	struct sim_queue *q;
	void *mqd;
	bool sdma = m->bitfields2.engine_sel || m->bitfields2.extended_engine_sel;

	if (!p)
		return;
	q = kzalloc(sizeof(*q), GFP_KERNEL);
	if (!q)
		return;
	q->mqd_addr = sim_q64(m->mqd_addr_hi, m->mqd_addr_lo);
	mqd = sim_gart_ptr(h->g, q->mqd_addr,
			   sdma ? sizeof(struct v9_sdma_mqd) : sizeof(struct v9_mqd));
	q->doorbell = m->bitfields3.doorbell_offset;
	if (!mqd || q->doorbell >= h->g->adev.doorbell.size / 4 - 1) {
		dev_err(h->g->adev.dev, "kfdsim: MAP_QUEUES with bad MQD %#llx or doorbell %#x\n",
			q->mqd_addr, q->doorbell);
		h->n_bad++;
		kfree(q);
		return;
	}
	if (sdma)
		q->kind = SIM_QUEUE_SDMA;
	else if (!((struct v9_mqd *)mqd)->cp_hqd_aql_control)
		q->kind = SIM_QUEUE_OTHER;
	q->wptr_va = sim_q64(m->wptr_addr_hi, m->wptr_addr_lo);
	q->eq.proc = &p->ep;
	if (q->kind != SIM_QUEUE_OTHER)
		sim_queue_load(h, q, mqd, now);
	eng_add_queue(&h->eng, &p->ep, &q->eq);
	h->nqueues++;
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
	h->oversubscribed = false;
	if (!p) {
		dev_err(h->g->adev.dev, "kfdsim: runlist %#llx, %u dwords, not in GART\n", ib, dw);
		h->n_bad++;
		return;
	}
	drop_procs(h, NULL, true);	/* amdkfd unmaps before; a runlist replaces the last */
	h->eng.cfg.vmids = clamp((u32)m->bitfields4.process_cnt, 1u, 8u);
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

static void unmap_done(struct sim_hws *h, u64 now)
{
	drop_procs(h, h->unmap_only, true);
	h->unmap_only = NULL;
	WRITE_ONCE(h->hiq_stalled, false);
	h->unmap_last_ns = now - h->unmap_began;
	h->unmap_max_ns = max(h->unmap_max_ns, h->unmap_last_ns);
	h->unmap_sum_ns += h->unmap_last_ns;
}

static void unmap_queues(struct sim_hws *h, struct pm4_mes_unmap_queues *m, u64 now)
{
	struct eng_proc *p, *only = NULL;
	u64 until;

	h->n_unmap++;
	if (m->bitfields2.queue_sel ==
	    queue_sel__mes_unmap_queues__perform_request_on_pasid_queues) {
		for (p = h->eng.procs; p; p = p->next)
			if (to_sp(p)->pasid == m->bitfields3a.pasid)
				only = p;
		if (!only)
			return;
	}
	if (m->bitfields2.action == action__mes_unmap_queues__reset_queues) {
		drop_procs(h, only, false);	/* what was in flight is lost */
		return;
	}
	until = eng_unmap(&h->eng, only, now);
	h->unmap_only = only;
	h->unmap_began = now;
	h->unmap_until = max(until, now + READ_ONCE(unmap_us) * 1000ULL);
	WRITE_ONCE(h->hiq_stalled, true);
}

static void hiq_packet(struct sim_hws *h, u32 *p, u64 now)
{
	struct pm4_mes_query_status *qs = (void *)p;
	u64 fence;

	switch (pm4_op(*p)) {
	case IT_SET_RESOURCES:
	case IT_NOP:
	case IT_WRITE_DATA:	/* grace period: registers that are not there */
		break;
	case IT_RUN_LIST:
		run_list(h, (void *)p, now);
		break;
	case IT_UNMAP_QUEUES:
		unmap_queues(h, (void *)p, now);
		break;
	case IT_QUERY_STATUS:
		h->n_query++;
		fence = sim_q64(qs->data_hi, qs->data_lo);
		if (!sim_gart_write(h->g, sim_q64(qs->addr_hi, qs->addr_lo), &fence, sizeof(fence)))
			h->n_bad++;
		break;
	default:
		h->n_bad++;
		dev_err(h->g->adev.dev, "kfdsim: unknown PM4 opcode %#x on the HIQ\n", pm4_op(*p));
	}
}

/* Takes the HIQ's doorbell and processes packets until there are none or one must wait */
static void run_hiq(struct sim_hws *h, u64 now)
{
	u64 *db = (__force u64 *)((__force u32 *)h->g->db + h->hiq_db);
	struct v9_mqd *m = h->hiq;
	u32 *ring, *rp, mask, buf[64], n, i;

	if (READ_ONCE(*db) != ~0ULL) {
		h->hiq_wptr = xchg(db, ~0ULL);
		h->hiq_expect = 0;
	}
	if (h->hiq_rptr >= h->hiq_wptr)
		return;
	if (h->fault_hang) {
		dev_warn(h->g->adev.dev, "kfdsim: the scheduler hangs, as asked for\n");
		h->fault_hang = false;
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
}

/* ---- the thread ---- */

/* One step at time now. Return: when to wake next, ENG_NEVER: only when kicked */
static u64 step(struct sim_hws *h, u64 now)
{
	u64 next, poll;
	struct eng_queue *q;
	struct eng_proc *p;

	h->n_step++;
	if (h->hiq_dead)
		return ENG_NEVER;
	read_config(h);
	for (p = h->eng.procs; p; p = p->next)
		for (q = p->queues; q; q = q->next)
			sim_queue_poll(h, to_sq(q), now);
	next = eng_advance(&h->eng, now);
	if (h->hiq_stalled && now >= h->unmap_until && eng_saved(&h->eng, h->unmap_only))
		unmap_done(h, now);
	if (h->hiq && !h->hiq_stalled) {
		run_hiq(h, now);
		next = eng_advance(&h->eng, now);
	}
	if (h->hiq_dead)
		return ENG_NEVER;
	if (h->hiq_stalled)
		next = min(next, max(h->unmap_until, now + 1));
	if (h->hiq_expect && !h->hiq_stalled) {
		if (now < h->hiq_expect)
			next = min(next, now + h->hiq_retry);
		else
			h->hiq_expect = 0;
		h->hiq_retry = min(2 * h->hiq_retry, (u64)HIQ_RETRY_MAX);
	}
	if (h->nqueues || (h->hiq && !SIM_HIQ_KICK)) {
		if (now - h->last_work < IDLE_AFTER_NS)
			poll = READ_ONCE(poll_us);
		else
			poll = READ_ONCE(poll_idle_us);
		next = min(next, now + max_t(u64, poll, 1) * 1000);
	}
	return next;
}

static int hws_thread(void *data)
{
	struct sim_hws *h = data;
	ktime_t at;
	u64 next;
	u32 n;

	sched_set_fifo(current);	/* hardware is not delayed by the load on the host */
	while (!kthread_should_stop()) {
		mutex_lock(&h->lock);
		if (xchg(&h->kick, 0)) {
			h->hiq_expect = ktime_get_ns() + HIQ_EXPECT_NS;
			h->hiq_retry = HIQ_RETRY_NS;
		}
		mutex_lock(&h->g->vm_lock);
		next = step(h, ktime_get_ns());
		mutex_unlock(&h->g->vm_lock);
		n = h->nirq;
		mutex_unlock(&h->lock);
		if (n) {
			send_irqs(h, n);
			h->nirq = 0;	/* only this thread fills the ring */
		}
		set_current_state(TASK_INTERRUPTIBLE);
		if (READ_ONCE(h->kick) || kthread_should_stop()) {
			__set_current_state(TASK_RUNNING);
			continue;
		}
		if (next == ENG_NEVER) {
			schedule();
			continue;
		}
		at = ns_to_ktime(next);
		schedule_hrtimeout_range(&at, 0, HRTIMER_MODE_ABS);
	}
	return 0;
}

/**
 * sim_hws_wake - make the firmware look around now
 * @h: the firmware
 */
void sim_hws_wake(struct sim_hws *h)
{
	WRITE_ONCE(h->kick, 1);
	wake_up_process(h->thread);
}

/**
 * sim_hws_kick - amdkfd is about to ring the HIQ, or waits for a fence
 * @g: the GPU
 *
 * Any context. While an unmap is under way the firmware wakes by itself.
 */
void sim_hws_kick(struct sim_gpu *g)
{
	struct sim_hws *h = g->hws;

	if (!h || READ_ONCE(h->hiq_dead) || READ_ONCE(h->hiq_stalled) || READ_ONCE(h->kick))
		return;
	h->n_kick++;
	sim_hws_wake(h);
}

/**
 * sim_hws_load_hiq - amdkfd has put the HIQ on its HQD
 * @g: the GPU
 * @mqd: its MQD
 * @doorbell_off: index of its doorbell, dwords
 */
void sim_hws_load_hiq(struct sim_gpu *g, void *mqd, u32 doorbell_off)
{
	struct sim_hws *h = g->hws;

	mutex_lock(&h->lock);
	h->hiq = mqd;
	h->hiq_db = doorbell_off;
	h->hiq_rptr = h->hiq_wptr = 0;
	writeq(~0ULL, (u64 __iomem *)((u32 __iomem *)g->db + doorbell_off));
	mutex_unlock(&h->lock);
	if (!SIM_HIQ_KICK)
		sim_hws_wake(h);
}

/**
 * sim_hws_unload_hiq - amdkfd takes the HIQ off
 * @g: the GPU
 */
void sim_hws_unload_hiq(struct sim_gpu *g)
{
	mutex_lock(&g->hws->lock);
	g->hws->hiq = NULL;
	mutex_unlock(&g->hws->lock);
}

/**
 * sim_hws_reset - the GPU is reset: everything in flight is lost, faults are over
 * @g: the GPU
 */
void sim_hws_reset(struct sim_gpu *g)
{
	struct sim_hws *h = g->hws;

	mutex_lock(&h->lock);
	h->hiq = NULL;
	drop_procs(h, NULL, false);
	h->unmap_only = NULL;
	WRITE_ONCE(h->hiq_stalled, false);
	WRITE_ONCE(h->hiq_dead, false);
	h->fault_hang = false;
	mutex_unlock(&h->lock);
}

/**
 * sim_hws_occupancy - waves in flight, for kfd2kgd_calls.get_cu_occupancy
 * @g: the GPU
 * @occ: array of AMDGPU_MAX_QUEUES, zeroed
 * @max_waves_per_cu: set
 */
void sim_hws_occupancy(struct sim_gpu *g, struct kfd_cu_occupancy *occ, int *max_waves_per_cu)
{
	struct sim_hws *h = g->hws;
	struct eng_queue *q;
	struct eng_proc *p;
	int n = 0;
	u32 i;

	mutex_lock(&h->lock);
	for (p = h->eng.procs; p; p = p->next)
		for (q = p->queues; q && n < AMDGPU_MAX_QUEUES; q = q->next, n++) {
			occ[n].doorbell_off = to_sq(q)->doorbell;
			for (i = 0; i < q->nwork; i++)
				if (q->work[i].running)
					occ[n].wave_cnt += q->work[i].user[WORK_WAVES];
		}
	mutex_unlock(&h->lock);
	*max_waves_per_cu = sim_waves_per_cu(g->prof);
}

/**
 * sim_hws_init - start the firmware
 * @g: the GPU
 */
int sim_hws_init(struct sim_gpu *g)
{
	struct eng_config cfg = { .slots = 1, .hqds = 1, .vmids = 8 };
	struct sim_hws *h = kvzalloc(sizeof(*h), GFP_KERNEL);
	int r;

	if (!h)
		return -ENOMEM;
	h->g = g;
	mutex_init(&h->lock);
	mutex_init(&h->irq_lock);
	eng_init(&h->eng, &cfg, &sim_aql_ops, h, ktime_get_ns());
	read_config(h);
	h->thread = kthread_create(hws_thread, h, "kfdsim-hws/%u", g->index);
	if (IS_ERR(h->thread)) {
		r = PTR_ERR(h->thread);
		kvfree(h);
		return r;
	}
	g->hws = h;
	wake_up_process(h->thread);
	return 0;
}

/**
 * sim_hws_fini - stop the firmware; amdkfd is gone
 * @g: the GPU
 */
void sim_hws_fini(struct sim_gpu *g)
{
	struct sim_hws *h = g->hws;

	kthread_stop(h->thread);
	g->hws = NULL;
	drop_procs(h, NULL, false);
	mutex_destroy(&h->lock);
	mutex_destroy(&h->irq_lock);
	kvfree(h);
}
