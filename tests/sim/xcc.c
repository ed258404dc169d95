// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: a queue on several XCCs (gfx9.4.3, SPX mode).
 *
 * KFD gives an AQL queue one MQD for each XCC, cp_mqd_stride_size apart, and the packets name the
 * first. Every XCC has the queue on an HQD of its own, reads each packet and launches every
 * num_xcc-th work-group of it (MQD: compute_tg_chunk_size 1), beginning with the XCC whose
 * compute_current_logic_xcc_id is 0; that each dispatch begins there again is a guess. The first XCC
 * is the master: it alone reports the read index and completes, so progress is kept once, in
 * its MQD. Each XCC saves its own waves to its own part of the CWSR area, with its share of
 * the memory bandwidth, and the slowest decides.
 */
#include "hws.h"

/**
 * sim_xcc_waves - waves of a dispatch in flight on one XCC
 * @p: the GPU
 * @wgs: work-groups of the dispatch
 * @wg_waves: waves of a work-group
 * @logic: logical number of the XCC, 0 gets the first work-group
 */
u64 sim_xcc_waves(const struct sim_profile *p, u64 wgs, u32 wg_waves, u32 logic)
{
	u64 n = div_u64(wgs, p->num_xcc) + (logic < wgs % p->num_xcc);

	return min(n * wg_waves, (u64)sim_xcc_max_waves(p));
}

/**
 * sim_xcc_work - what a dispatch is on the fullest XCC
 * @p: the GPU
 * @wgs: its work-groups
 * @wg_waves: waves of a work-group
 * @w: gets the waves in flight on the whole GPU, the state that the fullest XCC has to save
 *
 * Return: how many full loads of waves the fullest XCC takes.
 */
u64 sim_xcc_work(const struct sim_profile *p, u64 wgs, u32 wg_waves, struct eng_work *w)
{
	u64 full = sim_xcc_waves(p, wgs, wg_waves, 0), all = 0;
	u32 x;

	for (x = 0; x < p->num_xcc; x++)
		all += sim_xcc_waves(p, wgs, wg_waves, x);
	w->user[WORK_WAVES] = all;
	w->user[WORK_ARG] = WORK_GRID(wgs, wg_waves);
	w->live_bytes = div_u64(full * p->ctx_bytes_per_cu, sim_waves_per_cu(p));
	return DIV64_U64_ROUND_UP(DIV64_U64_ROUND_UP(wgs, (u64)p->num_xcc) * wg_waves,
				  (u64)sim_xcc_max_waves(p));
}

/**
 * sim_xcc_occupancy - waves of a queue in flight on one XCC
 * @h: the firmware
 * @q: the queue
 * @xcc: physical number of the XCC
 */
u32 sim_xcc_occupancy(const struct sim_hws *h, const struct sim_queue *q, u32 xcc)
{
	const struct sim_profile *p = h->g->prof;
	u32 logic = (q->xcc_logic + xcc) % p->num_xcc, n = 0, i;
	const struct eng_work *w;
	u64 waves;

	for (i = 0; i < q->eq.nwork; i++) {
		w = &q->eq.work[i];
		if (q->kind == SIM_QUEUE_PM4 && p->num_xcc > 1)
			waves = w->running && xcc == q->xcc_logic ? w->user[WORK_WAVES] : 0;
		else if (w->running && w->slot)
			waves = sim_xcc_waves(p, WORK_GRID_WGS(w->user[WORK_ARG]),
					      WORK_GRID_WAVES(w->user[WORK_ARG]), logic);
		else
			continue;
		n += sim_share_waves(h, w, waves, sim_xcc_max_waves(p));
	}
	return n;
}

/**
 * sim_xcc_saved_waves - waves that the fullest XCC has saved of a piece of work
 * @p: the GPU
 * @q: its queue
 * @w: the work
 *
 * Each MQD shows the state of its XCC alone. All of them get the figures of the fullest one here, as with sim_xcc_work().
 */
u64 sim_xcc_saved_waves(const struct sim_profile *p, const struct sim_queue *q, const struct eng_work *w)
{
	if (p->num_xcc == 1 || q->kind != SIM_QUEUE_AQL || !w->slot)
		return w->user[WORK_WAVES];
	return sim_xcc_waves(p, WORK_GRID_WGS(w->user[WORK_ARG]), WORK_GRID_WAVES(w->user[WORK_ARG]), 0);
}

/* What all XCCs have to agree on: each arbitrates by its own MQD */
static bool same(const struct v9_mqd *a, const struct v9_mqd *b)
{
	return a->cp_hqd_pipe_priority == b->cp_hqd_pipe_priority &&
		a->cp_hqd_queue_priority == b->cp_hqd_queue_priority &&
		a->cp_hqd_pq_base_lo == b->cp_hqd_pq_base_lo &&
		a->cp_hqd_pq_base_hi == b->cp_hqd_pq_base_hi &&
		a->cp_hqd_pq_wptr_poll_addr_lo == b->cp_hqd_pq_wptr_poll_addr_lo &&
		a->cp_hqd_pq_wptr_poll_addr_hi == b->cp_hqd_pq_wptr_poll_addr_hi &&
		a->cp_hqd_pq_doorbell_control == b->cp_hqd_pq_doorbell_control &&
		SIM_NEWER(a, cp_mqd_stride_size) == SIM_NEWER(b, cp_mqd_stride_size);
}

/**
 * sim_xcc_load - read the MQDs of the other XCCs
 * @h: the firmware
 * @q: an AQL queue, @mqd_addr is set
 * @mqd: the first XCC's MQD
 *
 * MQDs that disagree are a bug of the driver: counted as bad packets and logged.
 */
void sim_xcc_load(struct sim_hws *h, struct sim_queue *q, const void *mqd)
{
	const struct sim_profile *p = h->g->prof;
	const struct v9_mqd *m0 = mqd, *m;
	u64 save0, save;
	u32 x;

	if (p->num_xcc == 1)
		return;
	q->xcc_logic = SIM_NEWER(m0, compute_current_logic_xcc_id);
	save0 = sim_q64(m0->cp_hqd_ctx_save_base_addr_hi, m0->cp_hqd_ctx_save_base_addr_lo);
	for (x = 1; x < p->num_xcc; x++) {
		m = sim_gart_ptr(h->g, q->mqd_addr + (u64)x * SIM_NEWER(m0, cp_mqd_stride_size),
				 sizeof(*m));
		if (m) {
			save = sim_q64(m->cp_hqd_ctx_save_base_addr_hi,
				       m->cp_hqd_ctx_save_base_addr_lo);
			if (same(m0, m) && SIM_NEWER(m, compute_tg_chunk_size) == 1 &&
			    SIM_NEWER(m, compute_current_logic_xcc_id) ==
			    (q->xcc_logic + x) % p->num_xcc &&
			    save == save0 + (save0 ? (u64)x * m0->cp_hqd_ctx_save_size : 0))
				continue;
		}
		dev_err(h->g->adev.dev, "kfdsim: the MQDs of XCC 0 and %u disagree\n", x);
		h->n_bad++;
		return;
	}
}
