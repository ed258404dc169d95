// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the state of a dispatch that is executed is in the CWSR area of its queue while that is off the GPU,
 * and nowhere else.
 *
 * It lies behind the control stack of the first XCC, in one of ENG_INFLIGHT parts: a header, which is the
 * simulator's own, then the state of the work-group that was interrupted, see isa/save.c. Of it the MQD
 * says only that it is there, and in which part. What is read back may have been changed by the process: it is
 * checked, and never more than a wrong result or a stopped queue.
 *
 * Not modelled: that the hardware's waves of all work-groups are saved: one work-group runs at a time.
 * Runs in the firmware thread under sim_hws.lock and sim_gpu.vm_lock.
 */
#include "execute.h"
#include <linux/mm.h>
#include <uapi/linux/kfd_ioctl.h>

#define MAGIC	0x6578656373696dULL

/* At the begin of a part */
struct header {
	u64 magic;
	struct sim_exec_packet packet;
	u64 done;
	u64 insns;
	u64 estimate;
	u64 begun;
};

/* A place in the area */
struct place {
	struct sim_hws *h;
	struct sim_queue *q;
	u64 va, end;
	bool write;
	int error;
};

static u64 part_bytes(const struct sim_queue *q)
{
	if (!q->save_va || q->save_bytes <= q->save_stack)
		return 0;
	return (q->save_bytes - q->save_stack) / ENG_INFLIGHT & PAGE_MASK;
}

static struct place place(struct sim_hws *h, struct sim_queue *q, u32 part, bool write)
{
	u64 va = q->save_va + q->save_stack + part * part_bytes(q);

	return (struct place){ .h = h, .q = q, .va = va, .end = va + part_bytes(q), .write = write };
}

/* isa_copy: between @data, if there is any, and the area, page by page */
static bool copy(void *ctx, void *data, size_t bytes)
{
	struct place *p = ctx;
	struct sim_vm *vm = sim_vm_by_pd(p->h->g, to_sp(p->q->eq.proc)->pd);
	size_t n;
	void *at;

	if (!vm || bytes > p->end - p->va) {
		p->error = -EFAULT;
		return false;
	}
	for (; bytes; bytes -= n) {
		n = min_t(size_t, bytes, PAGE_SIZE - offset_in_page(p->va));
		at = sim_vm_ptr(vm, p->va, n, true);
		if (IS_ERR(at)) {
			p->error = PTR_ERR(at);
			return false;
		}
		if (data && p->write)
			memcpy(at, data, n);
		else if (data)
			memcpy(data, at, n);
		p->va += n;
		data = data ? data + n : NULL;
	}
	return true;
}

/**
 * sim_exec_area - is there room for a dispatch's state?
 * @x: the dispatch
 *
 * The pages of its part are made now: a save must not wait for memory. Return: 0, -EAGAIN: ask again
 * later, or another error.
 */
int sim_exec_area(struct sim_exec *x)
{
	u64 bytes = sizeof(struct header) + isa_save_bytes(&x->g);
	struct place p = place(x->h, x->q, x->part, true);

	return copy(&p, NULL, bytes) ? 0 : p.error;
}

/* It never completes, and the queue stops, as after a VM fault of the trap handler */
static void lose(struct sim_hws *h, struct sim_queue *q, struct eng_work *w)
{
	h->exec.lost++;
	w->user[WORK_EXEC] = 0;
	w->user[WORK_SIGNAL] = 0;
	sim_queue_error(h, q, EC_QUEUE_PACKET_DISPATCH_CODE_INVALID, "state lost, part", 0);
}

static bool save(struct sim_exec *x)
{
	struct place p = place(x->h, x->q, x->part, true);
	struct header hd = {
		.magic = MAGIC, .packet = x->packet, .done = x->done, .insns = x->insns,
		.estimate = x->estimate, .begun = x->begun,
	};

	return copy(&p, &hd, sizeof(hd)) && (!x->begun || isa_save(&x->g, copy, &p));
}

/**
 * sim_exec_saved - a queue is off the GPU: what it executes goes to its CWSR area
 * @h: the firmware
 * @q: the queue
 */
void sim_exec_saved(struct sim_hws *h, struct sim_queue *q)
{
	struct sim_exec *x;
	struct eng_work *w;
	u32 i;

	for (i = 0; i < q->eq.nwork; i++) {
		w = &q->eq.work[i];
		if (!w->user[WORK_EXEC] || EXEC_IS_SAVED(w->user[WORK_EXEC]))
			continue;
		x = (struct sim_exec *)(uintptr_t)w->user[WORK_EXEC];
		if (save(x)) {
			h->exec.saved++;
			h->exec.saved_running += x->begun;
			w->user[WORK_EXEC] = EXEC_SAVED(x->part);
		} else {
			lose(h, q, w);
		}
		sim_exec_free(x);
	}
}

/* What @p has. Return: 0, -EAGAIN, or another error: it is none of this kernel's states */
static int load(struct sim_exec *x, struct place *p, const struct header *hd)
{
	if (hd->done > x->groups || hd->begun > (hd->done < x->groups) || !hd->estimate ||
	    hd->estimate > U32_MAX || hd->insns > U32_MAX)
		return -EINVAL;
	x->done = hd->done;
	if (hd->begun) {
		sim_exec_begin_group(x);
		if (!isa_restore(&x->g, copy, p))
			return p->error ? : -EINVAL;
	}
	x->insns = hd->insns;
	x->estimate = hd->estimate;
	return 0;
}

/**
 * sim_exec_restore - a dispatch runs again: its state is read from the CWSR area
 * @h: the firmware
 * @q: the queue
 * @w: its work, EXEC_IS_SAVED()
 *
 * Return: the dispatch; or NULL: not now, or it is lost and @q stopped.
 */
struct sim_exec *sim_exec_restore(struct sim_hws *h, struct sim_queue *q, struct eng_work *w)
{
	u32 part = EXEC_PART(w->user[WORK_EXEC]);
	struct place p = place(h, q, part, false);
	struct sim_exec *x = NULL;
	struct header hd;
	int r;

	if (copy(&p, &hd, sizeof(hd)))
		r = hd.magic == MAGIC ? 0 : -EINVAL;
	else
		r = p.error;
	if (!r)
		x = sim_exec_new(h, q, &hd.packet, part, &r);
	if (x)
		r = load(x, &p, &hd);
	if (r) {
		sim_exec_free(x);
		if (r != -EAGAIN)
			lose(h, q, w);
		return NULL;
	}
	w->user[WORK_EXEC] = (uintptr_t)x;
	h->exec.restored++;
	return x;
}

/**
 * sim_exec_flags - what an MQD keeps of the execution of a work; its state is in the CWSR area
 * @w: the work
 */
u32 sim_exec_flags(const struct eng_work *w)
{
	u64 user = w->user[WORK_EXEC];
	u32 part;

	if (!user)
		return 0;
	part = EXEC_IS_SAVED(user) ? EXEC_PART(user) : ((struct sim_exec *)(uintptr_t)user)->part;
	return 1 | part << 1;
}

/**
 * sim_exec_load - what sim_exec_flags() had to say
 * @h: the firmware
 * @w: the work
 * @flags: those
 */
void sim_exec_load(struct sim_hws *h, struct eng_work *w, u32 flags)
{
	w->user[WORK_EXEC] = flags & 1 ? EXEC_SAVED(flags >> 1 & (ENG_INFLIGHT - 1)) : 0;
	h->exec.used |= flags & 1;
	h->exec.changed |= flags & 1;
}
