// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the protocol of the scheduler firmware in MES mode (GFX 11 and later).
 *
 * amdkfd gives single queues, each of them a gang of one, through amdgpu_mes.funcs. A command is
 * handed to the firmware's thread and its caller sleeps until it is answered, as with
 * mes_v11_0.c, which polls: a MES that does not answer in mes_timeout_ms, or refuses, makes
 * -ETIMEDOUT, and amdkfd then asks for a reset. What runs when is the engine's business.
 *
 * Called under amdkfd's DQM lock and the MES lock (amdgpu_mes_lock()), maybe from memory reclaim:
 * nothing here or in the thread may wait for reclaim on the way to the answer. Commands run in the
 * firmware's thread under sim_hws.lock and sim_gpu.vm_lock.
 */
#include "mes.h"
#include "mes_v11_api_def.h"
#include <linux/sched/mm.h>

#define MES_QUANTUM_NS		100	/* unit of quanta in ADD_QUEUE */

const char * const sim_mes_op_names[] = {
	[MES_ADD] = "ADD_QUEUE", [MES_REMOVE] = "REMOVE_QUEUE", [MES_SUSPEND] = "SUSPEND",
	[MES_RESUME] = "RESUME", [MES_MISC] = "MISC",
};

static struct sim_proc *find_proc(struct sim_hws *h, u64 ctx)
{
	struct eng_proc *p;

	for (p = h->eng.procs; p; p = p->next)
		if (to_sp(p)->ctx == ctx)
			return to_sp(p);
	return NULL;
}

static struct sim_queue *find_gang(struct sim_hws *h, u64 gang)
{
	struct eng_queue *q;
	struct eng_proc *p;

	for (p = h->eng.procs; p; p = p->next)
		for (q = p->queues; q; q = q->next)
			if (to_sq(q)->gang == gang)
				return to_sq(q);
	return NULL;
}

/* Why the input of ADD_QUEUE is refused, or NULL */
static const char *bad_add(struct sim_hws *h, const struct mes_add_queue_input *in)
{
	if (!in->is_kfd_process)
		return "not of KFD";
	if (in->queue_type != MES_QUEUE_TYPE_COMPUTE && in->queue_type != MES_QUEUE_TYPE_SDMA)
		return "queue type";
	if (in->gang_global_priority_level >= ENG_LEVELS)
		return "priority level";
	if (!sim_gart_ptr(h->g, in->process_context_addr, AMDGPU_MES_PROC_CTX_SIZE))
		return "process context";
	if (!sim_gart_ptr(h->g, in->gang_context_addr, AMDGPU_MES_GANG_CTX_SIZE))
		return "gang context";
	if (!sim_gart_ptr(h->g, in->wptr_mc_addr, sizeof(u64)))
		return "write index not in GART";
	if (!sim_vm_by_pd(h->g, in->page_table_base_addr))
		return "page table";
	if (find_gang(h, in->gang_context_addr))
		return "gang added already";
	return NULL;
}

static int add_queue(struct sim_hws *h, const struct mes_add_queue_input *in, u64 now)
{
	struct sim_proc *p = find_proc(h, in->process_context_addr);
	const char *why = bad_add(h, in);
	struct sim_queue *q;

	h->n_mes_add++;
	if (!why && p && (p->pd != in->page_table_base_addr || p->pasid != in->process_id))
		why = "process context of another process";
	if (why) {
		dev_err(h->g->adev.dev, "kfdsim: ADD_QUEUE, doorbell %#x: %s\n",
			in->doorbell_offset, why);
		h->n_bad++;
		return -EINVAL;
	}
	if (!p) {
		p = sim_proc_new(h, in->page_table_base_addr, in->process_id);
		if (!p)
			return -ENOMEM;
		p->ctx = in->process_context_addr;
	}
	p->ep.quantum_ns = in->process_quantum * MES_QUANTUM_NS;
	q = sim_queue_new(h, p, in->queue_type == MES_QUEUE_TYPE_SDMA, in->mqd_addr,
			  in->doorbell_offset, in->wptr_addr, now);
	if (!q) {
		if (!p->ep.queues)
			sim_proc_drop(h, p, false);
		return -EINVAL;
	}
	q->gang = in->gang_context_addr;
	q->inprocess_prio = in->inprocess_gang_priority;
	q->eq.level = in->gang_global_priority_level;
	q->eq.quantum_ns = in->gang_quantum * MES_QUANTUM_NS;
	h->last_work = now;
	return 0;
}

/* Begins to save a queue, whose answer has to wait for that */
static void stop_queue(struct sim_hws *h, struct sim_mes_cmd *c, struct sim_queue *q, u64 now)
{
	c->until = max(c->until, eng_unmap_queue(&h->eng, &q->eq, now));
	if (sim_fault_pid(h->g, SIM_FAULT_NO_PREEMPT, sim_proc_pid(h, to_sp(q->eq.proc))) ||
	    sim_fault(h->g, SIM_FAULT_NO_PREEMPT))
		c->until = ENG_NEVER;
}

/*
 * Is a queue among the gangs of "suspend all"? mes_v12_api_def.h of 7.3 limits that bit to the compute gangs and has another one
 * for those of SDMA, which amdgpu sets for GC 12.1 only. mes_v11_api_def.h has one bit, for all gangs.
 */
static bool among_all(const struct sim_hws *h, const struct sim_queue *q)
{
	return q->kind != SIM_QUEUE_SDMA || IP_VERSION_MAJ(h->g->prof->gc) < 12;
}

/* Calls @f for the gangs that SUSPEND or RESUME name. Return: -EINVAL if there is no such gang */
static int for_gangs(struct sim_hws *h, struct sim_mes_cmd *c, bool all, u64 gang, u64 now,
		     void (*f)(struct sim_hws *h, struct sim_mes_cmd *c, struct sim_queue *q,
			       u64 now))
{
	struct sim_queue *one = all ? NULL : find_gang(h, gang);
	struct eng_queue *q;
	struct eng_proc *p;

	if (!all && !one) {
		dev_err(h->g->adev.dev, "kfdsim: %s: no gang %#llx\n", sim_mes_op_names[c->op], gang);
		h->n_bad++;
		return -EINVAL;
	}
	for (p = h->eng.procs; p; p = p->next)
		for (q = p->queues; q; q = q->next)
			if (all ? among_all(h, to_sq(q)) : to_sq(q) == one)
				f(h, c, to_sq(q), now);
	return 0;
}

static void suspend_queue(struct sim_hws *h, struct sim_mes_cmd *c, struct sim_queue *q, u64 now)
{
	if (!q->eq.held)
		stop_queue(h, c, q, now);
}

/* All of it was saved: the MQD has what is left, as amdkfd's readers of it expect */
static void suspend_done(struct sim_hws *h, struct sim_mes_cmd *c, struct sim_queue *q, u64 now)
{
	sim_queue_save(h, q);
}

static void resume_queue(struct sim_hws *h, struct sim_mes_cmd *c, struct sim_queue *q, u64 now)
{
	void *mqd = sim_gart_ptr(h->g, q->mqd_addr,
				 sim_mqd_bytes(h->g, q->kind == SIM_QUEUE_SDMA));

	if (!q->eq.held)
		return;
	if (mqd)
		sim_queue_load(h, q, mqd, now);
	eng_resume_queue(&h->eng, &q->eq, now);
	h->last_work = now;
}

static int remove_queue(struct sim_hws *h, struct sim_mes_cmd *c, u64 now)
{
	struct sim_queue *q = find_gang(h, c->remove->gang_context_addr);

	h->n_mes_remove++;
	if (!q || q->doorbell != c->remove->doorbell_offset) {
		dev_err(h->g->adev.dev, "kfdsim: REMOVE_QUEUE: no queue with doorbell %#x\n",
			c->remove->doorbell_offset);
		h->n_bad++;
		return -EINVAL;
	}
	c->queue = q;
	stop_queue(h, c, q, now);
	return 0;
}

/*
 * A fault is -ETIMEDOUT, as of mes_v11_0_submit_pkt_and_poll_completion() where MES does not answer or answers that it failed.
 * Return: 0 if the rest is to wait until the time is over and all is saved; else the answer
 */
static int begin(struct sim_hws *h, struct sim_mes_cmd *c, u64 now)
{
	c->until = now + sim_unmap_ns();
	switch (c->op) {
	case MES_ADD:
		c->until = now;
		return sim_fault(h->g, SIM_FAULT_MES_ADD) ? -ETIMEDOUT : add_queue(h, c->add, now);
	case MES_REMOVE:
		h->n_unmap++;
		return sim_fault(h->g, SIM_FAULT_MES_REMOVE) ? -ETIMEDOUT : remove_queue(h, c, now);
	case MES_SUSPEND:
		h->n_mes_suspend++;
		if (sim_fault(h->g, SIM_FAULT_MES_SUSPEND))
			return -ETIMEDOUT;
		return for_gangs(h, c, c->suspend->suspend_all_gangs,
				 c->suspend->gang_context_addr, now, suspend_queue);
	case MES_RESUME:
		h->n_mes_resume++;
		c->until = now;
		if (sim_fault(h->g, SIM_FAULT_MES_RESUME))
			return -ETIMEDOUT;
		return for_gangs(h, c, c->resume->resume_all_gangs, c->resume->gang_context_addr,
				 now, resume_queue);
	case MES_MISC:
		h->n_mes_misc++;
		c->until = now;
		return sim_debugger_misc(h, c->misc);
	}
	return -EINVAL;
}

static bool saved(struct sim_hws *h, const struct sim_mes_cmd *c)
{
	struct eng_queue *q;
	struct eng_proc *p;

	if (c->op == MES_REMOVE)
		return eng_queue_saved(&h->eng, &c->queue->eq);
	if (c->op != MES_SUSPEND)
		return true;
	for (p = h->eng.procs; p; p = p->next)
		for (q = p->queues; q; q = q->next)
			if (q->held && !eng_queue_saved(&h->eng, q))
				return false;
	return true;
}

static void finish(struct sim_hws *h, struct sim_mes_cmd *c, u64 now)
{
	struct eng_proc *p;

	switch (c->op) {
	case MES_REMOVE:
		p = c->queue->eq.proc;
		sim_queue_drop(h, c->queue, true);
		if (!p->queues)
			sim_proc_drop(h, to_sp(p), true);
		h->unmap_last_ns = now - c->at;
		h->unmap_max_ns = max(h->unmap_max_ns, h->unmap_last_ns);
		h->unmap_sum_ns += h->unmap_last_ns;
		break;
	case MES_SUSPEND:
		for_gangs(h, c, c->suspend->suspend_all_gangs, c->suspend->gang_context_addr, now,
			  suspend_done);
		h->suspend_max_ns = max(h->suspend_max_ns, c->until - c->at);
		if (c->suspend->suspend_fence_addr)
			sim_gart_write(h->g, c->suspend->suspend_fence_addr,
				       &c->suspend->suspend_fence_value, sizeof(u32));
		break;
	default:
		break;
	}
}

static void answer(struct sim_hws *h, struct sim_mes_cmd *c, int ret)
{
	h->mes_cmd = NULL;
	c->ret = ret;
	complete(&c->done);
}

/**
 * sim_mes_run - one step of MES
 * @h: the firmware, the engine is at @now
 * @now: the present time
 *
 * Return: when to look again, ENG_NEVER if the engine's next event will do
 */
u64 sim_mes_run(struct sim_hws *h, u64 now)
{
	struct sim_mes_cmd *c = h->mes_cmd;
	unsigned int flags;
	u64 next = ENG_NEVER;
	int r;

	if (!c)
		return ENG_NEVER;
	flags = memalloc_noreclaim_save();	/* the caller may be reclaim */
	if (!c->begun) {
		if (sim_fault(h->g, SIM_FAULT_HANG)) {
			WRITE_ONCE(h->hiq_dead, true);
			goto out;
		}
		c->begun = true;
		c->at = now;
		r = begin(h, c, now);
		if (r) {
			answer(h, c, r);
			goto out;
		}
	}
	if (now < c->until) {
		next = c->until;
	} else if (saved(h, c)) {
		finish(h, c, now);
		answer(h, c, 0);
	}
out:
	memalloc_noreclaim_restore(flags);
	return next;
}

/**
 * sim_mes_abort - a reset: whoever waits for an answer gets an error
 * @h: the firmware, its lock held
 */
void sim_mes_abort(struct sim_hws *h)
{
	lockdep_assert_held(&h->lock);
	if (h->mes_cmd)
		answer(h, h->mes_cmd, -EIO);
}
