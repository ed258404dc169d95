// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: queues coming and going: what an MQD keeps, doorbells, write indices.
 * All of this runs in the firmware thread under sim_hws.lock and sim_gpu.vm_lock.
 */
#include "hws.h"
#include "execute.h"

/*
 * The time of what it finds is when it has found it: the producer wrote the index some time before,
 * maybe after this thread took its last time stamp, and nothing may start before that. What was seen earlier
 * keeps its time.
 */
static bool read_wptr(struct sim_hws *h, struct sim_queue *q)
{
	u64 *wp = sim_user_ptr(h, q, q->wptr_va, sizeof(*wp)), v;

	if (!wp)
		return false;
	v = smp_load_acquire(wp);	/* before the packets */
	/*
	 * There is no more than a ring, however far ahead garbage says: a stream of fillers would never end, and this
	 * thread with it.  An AQL packet is INVALID once it was taken, and its producers may well be ahead.
	 */
	if (q->kind != SIM_QUEUE_AQL)
		v = min(v, q->next + q->mask + 1);
	if (v > q->wptr) {
		if (q->next >= q->old_wptr) {
			q->old_wptr = q->wptr;
			q->old_seen = q->seen;
		}
		q->wptr = v;
		q->seen = ktime_get_ns();
		eng_wake(&h->eng, &q->eq);
	}
	return true;
}

/**
 * sim_queue_load - a queue is in a runlist: read its MQD
 * @h: the firmware
 * @q: @kind, @mqd_addr, @doorbell and, for SDMA, @wptr_va are set
 * @mqd: the MQD
 * @now: the present time
 */
void sim_queue_load(struct sim_hws *h, struct sim_queue *q, const void *mqd, u64 now)
{
	const struct sim_mqd_save *save;
	struct eng_work *w;
	u32 i;

	sim_mqd_read(h->g, q, mqd);
	if (q->kind == SIM_QUEUE_AQL)
		sim_xcc_load(h, q, mqd);
	if (q->kind == SIM_QUEUE_PM4 && h->g->prof->num_xcc > 1)
		q->xcc_logic = SIM_NEWER((const struct v9_mqd *)mqd, pm4_target_xcc_in_xcp);
	save = (const void *)((const u32 *)mqd + q->save_dw);
	q->next = save->next;
	q->rptr = save->rptr;
	/* what was seen before it was unmapped is there at once */
	q->wptr = max(save->wptr, q->next);
	q->seen = now;
	q->old_wptr = 0;
	q->ready_for = 0;
	sim_exec_unready(q);
	q->rptr_step = 0;
	q->error = save->error & 1;
	q->error_code = save->error >> 1;
	q->stream = save->stream;
	if (q->kind != SIM_QUEUE_SDMA)
		memcpy(q->sh, (const u32 *)mqd + SIM_SH_MQD_DW, sizeof(q->sh));
	q->sh_set = false;
	q->eq.nwork = min_t(u32, save->nwork, ENG_INFLIGHT);
	for (i = 0; i < q->eq.nwork; i++) {
		w = &q->eq.work[i];
		w->left_ns = save->work[i].left_ns;
		w->live_bytes = save->work[i].live_bytes;
		w->saved_bytes = save->work[i].saved_bytes;
		w->ran_ns = save->work[i].ran_ns;
		w->user[WORK_SIGNAL] = save->work[i].signal;
		w->user[WORK_WAVES] = save->work[i].waves;
		w->user[WORK_TYPE] = save->work[i].type;
		w->user[WORK_START] = save->work[i].start;
		w->user[WORK_ARG] = save->work[i].arg;
		w->slot = save->work[i].flags & 1;
		w->blocks = save->work[i].flags & 2;
		sim_exec_load(h, w, save->work[i].flags >> 2);
	}
	q->rung = !read_wptr(h, q);
	if (q->kind == SIM_QUEUE_AQL)
		sim_aql_mapped(h, q);
	eng_wake(&h->eng, &q->eq);
}

/* Waves whose state was saved: of those of a dispatch that shared the GPU, the ones that it had there */
static u64 saved_waves(const struct sim_profile *p, const struct sim_queue *q, const struct eng_work *w)
{
	u64 waves = sim_xcc_saved_waves(p, q, w);

	return w->live_bytes ? DIV64_U64_ROUND_UP(waves * w->saved_bytes, w->live_bytes) : waves;
}

/**
 * sim_queue_save - a queue is off the GPU: write its MQD
 * @h: the firmware
 * @q: its engine state is ENG_Q_OFF
 */
void sim_queue_save(struct sim_hws *h, struct sim_queue *q)
{
	struct sim_mqd_save save = {
		.next = q->next,
		.rptr = q->rptr,
		.wptr = q->wptr,
		.error = q->error | q->error_code << 1,
		.nwork = q->eq.nwork,
		.stream = q->stream,
	};
	u64 waves = 0, bytes = 0;
	struct eng_work *w;
	u32 i;

	if (h->exec.used)
		sim_exec_saved(h, q);
	for (i = 0; i < q->eq.nwork; i++) {
		w = &q->eq.work[i];
		/* launched, and its packet consumed: without waves, too, it is state that was saved */
		waves += max_t(u64, saved_waves(h->g->prof, q, w), 1);
		bytes += w->saved_bytes;
		save.work[i].left_ns = w->left_ns;
		save.work[i].live_bytes = w->live_bytes;
		save.work[i].saved_bytes = w->saved_bytes;
		save.work[i].ran_ns = w->ran_ns;
		save.work[i].signal = w->user[WORK_SIGNAL];
		save.work[i].waves = w->user[WORK_WAVES];
		save.work[i].type = w->user[WORK_TYPE];
		save.work[i].start = w->user[WORK_START];
		save.work[i].arg = w->user[WORK_ARG];
		save.work[i].flags = w->slot | w->blocks << 1 | sim_exec_flags(w) << 2;
	}
	if (!sim_gart_write(h->g, q->mqd_addr + q->save_dw * 4, &save, sizeof(save)) ||
	    (q->sh_set && !sim_mqd_sh_saved(h->g, q)) ||
	    !(q->kind == SIM_QUEUE_SDMA ? sim_mqd_sdma_saved(h->g, q) :
					  sim_mqd_saved(h->g, q, waves, bytes)))
		h->n_bad++;
}

/**
 * sim_queue_poll - take the queue's doorbell, if it was rung
 * @h: the firmware
 * @q: the queue
 * @now: the present time
 *
 * The BAR is RAM, so a ring cannot interrupt us; it stays there until it is taken, and
 * taking it is atomic, so none is lost. Return: whether there was one.
 */
bool sim_queue_poll(struct sim_hws *h, struct sim_queue *q, u64 now)
{
	u64 *db = (__force u64 *)((__force u32 *)h->g->db + q->doorbell);
	u64 v = READ_ONCE(*db);

	q->stalled = false;
	if (q->error_code)
		sim_queue_report(h, q);
	if (v == ~0ULL && !q->rung)
		return false;
	if (v != ~0ULL) {
		xchg(db, ~0ULL);
		h->n_db++;
	}
	/* the value says less than the write index: with several producers it may go back */
	q->rung = !read_wptr(h, q);
	h->last_work = now;
	return true;
}
