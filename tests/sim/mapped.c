// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: memory that goes while a queue that uses it is on the GPU.
 *
 * amdkfd may free the MQD of a queue, and amdgpu may move the buffers of a process, once no queue of them is mapped:
 * the firmware saves the waves of a queue until its unmap is confirmed. A driver that does it earlier is counted, and
 * named in the log. Buffers that a process frees by itself while they are used do not count, but for the rings: amdkfd
 * holds these.
 */
#include "hws.h"

/* Is there a queue of the firmware for which @is holds? One that MES holds does not run */
static bool any_queue(struct sim_gpu *g, bool (*is)(struct sim_hws *h, struct sim_queue *q, const void *arg), const void *arg)
{
	struct sim_hws *h = g->hws;
	struct eng_queue *q;
	struct eng_proc *p;
	bool found = false;

	if (!h)
		return false;
	mutex_lock(&h->lock);
	mutex_lock(&g->vm_lock);
	for (p = h->eng.procs; p; p = p->next)
		for (q = p->queues; q; q = q->next)
			found |= !q->held && is(h, to_sq(q), arg);
	mutex_unlock(&g->vm_lock);
	mutex_unlock(&h->lock);
	return found;
}

struct sim_span {
	u64 pd, start, size;
};

static bool has_mqd_in(struct sim_hws *h, struct sim_queue *q, const void *arg)
{
	const struct sim_span *r = arg;

	return q->mqd_addr >= r->start && q->mqd_addr - r->start < r->size;
}

static bool has_ring_in(struct sim_hws *h, struct sim_queue *q, const void *arg)
{
	const struct sim_span *r = arg;

	return to_sp(q->eq.proc)->pd == r->pd && q->ring >= r->start && q->ring - r->start < r->size;
}

static bool is_of(struct sim_hws *h, struct sim_queue *q, const void *arg)
{
	struct sim_vm *vm = sim_vm_by_pd(h->g, to_sp(q->eq.proc)->pd);

	return vm && vm->fpriv.vm.process_info == arg;
}

/**
 * sim_mapped_free - memory of the kernel is freed
 * @g: the GPU
 * @addr: in GART, 0: it has none
 * @size: bytes
 *
 * Context: may sleep
 */
void sim_mapped_free(struct sim_gpu *g, u64 addr, size_t size)
{
	const struct sim_span r = { .start = addr, .size = size };

	if (!addr || !any_queue(g, has_mqd_in, &r))
		return;
	atomic64_inc(&g->mapped_freed);
	dev_err(g->adev.dev, "kfdsim: the MQD of a queue is freed while the queue is mapped\n");
}

/**
 * sim_mapped_unmap - memory of a process is unmapped
 * @vm: the address space
 * @va: where
 * @size: bytes
 *
 * Context: may sleep; no lock of the firmware is held
 */
void sim_mapped_unmap(struct sim_vm *vm, u64 va, size_t size)
{
	const struct sim_span r = { .pd = vm->pd, .start = va, .size = size };

	if (!any_queue(vm->gpu, has_ring_in, &r))
		return;
	atomic64_inc(&vm->gpu->mapped_freed);
	dev_err(vm->gpu->adev.dev, "kfdsim: the ring of a queue is unmapped while the queue is mapped\n");
}

/**
 * sim_mapped_move - amdkfd has said that a process is evicted: its buffers move
 * @g: the GPU
 * @info: the process; only compared
 *
 * Context: may sleep; no lock of the firmware is held
 */
void sim_mapped_move(struct sim_gpu *g, const struct amdkfd_process_info *info)
{
	if (atomic_read(&g->adev.reset_domain->in_gpu_reset) || !any_queue(g, is_of, info))
		return;
	atomic64_inc(&g->mapped_moved);
	dev_err(g->adev.dev, "kfdsim: buffers of a process move while a queue of it is mapped\n");
}
