// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the processes and queues that the firmware knows, whoever gave them to it: runlists
 * (fw_hws.c) or commands (fw_mes.c). All of it under sim_hws.lock and sim_gpu.vm_lock, but for
 * drops without saving, which need the former only.
 */
#include "hws.h"
#include "execute.h"

/**
 * sim_proc_new - a process without queues
 * @h: the firmware
 * @pd: page directory number
 * @pasid: its PASID
 *
 * Return: NULL without memory
 */
struct sim_proc *sim_proc_new(struct sim_hws *h, u64 pd, u32 pasid)
{
	struct sim_proc *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return NULL;
	p->pasid = pasid;
	p->pd = pd;
	eng_add_proc(&h->eng, &p->ep);
	h->nprocs++;
	return p;
}

/**
 * sim_queue_new - a queue of a process; goes on with what its MQD keeps
 * @h: the firmware
 * @p: the process
 * @sdma: not a compute queue
 * @mqd_addr: its MQD in GART
 * @doorbell: index of its doorbell, dwords
 * @wptr_va: where its write index is (compute: the MQD knows)
 * @now: the present time
 *
 * Return: NULL without memory, or after a message when amdkfd gave something wrong
 */
struct sim_queue *sim_queue_new(struct sim_hws *h, struct sim_proc *p, bool sdma, u64 mqd_addr,
				u32 doorbell, u64 wptr_va, u64 now)
{
	void *mqd = sim_gart_ptr(h->g, mqd_addr, sim_mqd_bytes(h->g, sdma));
	struct sim_queue *q;

	if (!mqd || doorbell >= h->g->adev.doorbell.size / 4 - 1) {
		dev_err(h->g->adev.dev, "kfdsim: queue with bad MQD %#llx or doorbell %#x\n",
			mqd_addr, doorbell);
		h->n_bad++;
		return NULL;
	}
	q = kzalloc(sizeof(*q), GFP_KERNEL);
	if (!q)
		return NULL;
	q->mqd_addr = mqd_addr;
	q->doorbell = doorbell;
	if (sdma)
		q->kind = SIM_QUEUE_SDMA;
	else if (!sim_mqd_is_aql(h->g, mqd))
		q->kind = SIM_QUEUE_PM4;
	q->wptr_va = wptr_va;
	q->eq.proc = &p->ep;
	sim_queue_load(h, q, mqd, now);
	eng_add_queue(&h->eng, &p->ep, &q->eq);
	h->nqueues++;
	return q;
}

/**
 * sim_queue_drop - forget a queue, whatever it does
 * @h: the firmware
 * @q: the queue
 * @save: keep what is in flight in its MQD; a queue of a kind that is not modelled has no
 *	state to keep
 */
void sim_queue_drop(struct sim_hws *h, struct sim_queue *q, bool save)
{
	lockdep_assert_held(&h->lock);
	if (save)
		sim_queue_save(h, q);
	sim_exec_drop(h, q);
	eng_remove_queue(&h->eng, &q->eq);
	h->nqueues--;
	kfree(q);
}

/**
 * sim_proc_drop - forget a process with its queues
 * @h: the firmware
 * @p: the process
 * @save: see sim_queue_drop()
 */
void sim_proc_drop(struct sim_hws *h, struct sim_proc *p, bool save)
{
	while (p->ep.queues)
		sim_queue_drop(h, to_sq(p->ep.queues), save);
	eng_remove_proc(&h->eng, &p->ep);
	h->nprocs--;
	kfree(p);
}

/**
 * sim_hws_drop - take processes off the runlist, whatever they do
 * @h: the firmware, its lock held
 * @only: one, or NULL for all
 * @save: see sim_queue_drop()
 */
void sim_hws_drop(struct sim_hws *h, struct eng_proc *only, bool save)
{
	struct eng_proc *p, *next;

	for (p = h->eng.procs; p; p = next) {
		next = p->next;
		if (!only || p == only)
			sim_proc_drop(h, to_sp(p), save);
	}
}
