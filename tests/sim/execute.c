// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: dispatches that are executed, with the parameter execute.
 *
 * How long a dispatch takes, and what a preemption of it costs, is the model's as for any other. Its instructions
 * are executed by the firmware thread meanwhile, work-group after work-group, at the pace of the model's time: after
 * a third of that a third of the work-groups have run. Where the host is slower than that, the GPU
 * stands still until it has followed (sim_exec_limit(), eng_stall()), unless amdkfd waits for an unmap: nothing is complete
 * that was not computed, and what a preemption interrupts is in the middle of its computation.
 *
 * What is not in tests/sim/isa is modelled time only. Runs in the firmware thread under sim_hws.lock and sim_gpu.vm_lock.
 */
#include "execute.h"
#include <linux/mm.h>
#include <linux/module.h>
#include <uapi/linux/kfd_ioctl.h>

bool sim_exec_wanted;
module_param_named(execute, sim_exec_wanted, bool, 0644);
MODULE_PARM_DESC(execute, "execute the code of dispatches that is known whole; otherwise they take time and compute nothing");

#define CHUNK		32	/* instructions between two looks at the clock */
#define RUN_NS		(200 * NSEC_PER_USEC)	/* host time of a call of sim_exec_run() */
#define ESTIMATE	1024	/* instructions of a work-group, before one was executed */
#define UNITS		1024	/* in which the progress of a work-group is counted */
#define BEHIND_NS	(20 * NSEC_PER_USEC)	/* more time for what is not executed when it should be */
#define SHARED_BASE	0x10000	/* upper half of the LDS aperture's address: kfd_flat_memory.c */
#define PRIVATE_BASE	0x20000	/* likewise of the scratch aperture */

/* amd_queue_t: amd_hsa_queue.h */
#define AMD_QUEUE_RPTR_OFFSET	128	/* read_dispatch_id */
#define AMD_QUEUE_TMPRING	140	/* compute_tmpring_size */
#define AMD_QUEUE_RESOURCE	144	/* scratch_resource_descriptor */
#define AMD_QUEUE_SCRATCH	160	/* scratch_backing_memory_location */

/* COMPUTE_TMPRING_SIZE: gc_*_sh_mask.h, si_state.c of Mesa */
#define TMPRING_WAVES(r)	((r) & 0xfff)
#define TMPRING_WAVE_BYTES(r, gc)	((gc) < IP_VERSION(11, 0, 0) ? ((r) >> 12 & 0x1fff) * 1024 : ((r) >> 12 & 0x7fff) * 256)

/* Reasons beside those of isa.h; EXEC_OFF: the parameter execute is not set */
enum { EXEC_OFF = ISA_OK, EXEC_TARGET = ISA_REASONS, EXEC_DESCRIPTOR, EXEC_AREA, EXEC_MEMORY, EXEC_SCRATCH, EXEC_REASONS };

static_assert(EXEC_REASONS <= SIM_EXEC_REASONS);

static const char *reason_name(u32 reason)
{
	static const char *const names[] = {
		[EXEC_TARGET - ISA_REASONS] = "gpu", [EXEC_DESCRIPTOR - ISA_REASONS] = "descriptor",
		[EXEC_AREA - ISA_REASONS] = "save_area", [EXEC_MEMORY - ISA_REASONS] = "memory",
		[EXEC_SCRATCH - ISA_REASONS] = "scratch",
	};

	if (reason == EXEC_OFF)
		return "off";
	return reason < ISA_REASONS ? isa_reason_name(reason) : names[reason - ISA_REASONS];
}

/* isa_memory.page */
static void *page(void *ctx, u64 va, enum isa_access access)
{
	struct sim_exec *x = ctx;
	struct sim_vm *vm = sim_vm_by_pd(x->h->g, to_sp(x->q->eq.proc)->pd);
	void *p = vm ? sim_vm_ptr(vm, va, ISA_PAGE, access == ISA_WRITE) : ERR_PTR(-EFAULT);

	if (!IS_ERR(p))
		return p;
	x->error = PTR_ERR(p);
	return NULL;
}

/* What the packet processor accepts; the packet may have been read from the CWSR area, which anybody can change */
static bool packet_ok(const struct sim_exec_packet *p)
{
	u64 items = 1;
	u32 i;

	for (i = 0; i < 3 && i < p->dims; i++) {
		if (!p->wg[i] || !p->grid[i])
			return false;
		items *= p->wg[i];
	}
	return p->dims && p->dims <= 3 && items <= 1024;
}

static void fill(struct sim_exec *x)
{
	const struct sim_exec_packet *p = &x->packet;
	struct isa_dispatch *d = &x->d;

	memcpy(d->grid, p->grid, sizeof(d->grid));
	memcpy(d->size, p->wg, sizeof(d->size));
	d->dims = p->dims;
	d->packet = p->va;
	d->queue = x->q->rptr_va - AMD_QUEUE_RPTR_OFFSET;
	d->kernarg = p->kernarg;
	d->id = p->id;
	d->group_bytes = p->group_bytes;
	d->private_bytes = p->private_bytes;
	d->user = p->pm4 ? p->user : NULL;
}

/* Fills sim_exec.d.descriptor, and finds the code. Return: 0, or a reason */
static int describe(struct sim_exec *x, u64 *entry)
{
	const struct sim_exec_packet *p = &x->packet;

	if (p->pm4) {
		isa_describe(&x->d, p->rsrc, p->wave32);
		*entry = p->kernel;
		return 0;
	}
	if (!p->kernel || !isa_read(&x->mem, p->kernel, x->d.descriptor, ISA_DESCRIPTOR, ISA_READ))
		return EXEC_DESCRIPTOR;
	*entry = isa_entry(&x->d, p->kernel);
	return 0;
}

/* s_sendmsg of an interrupt */
static void message(void *ctx, u32 data)
{
	struct sim_exec *x = ctx;

	sim_queue_message(x->h, x->q, data);
}

/*
 * Its scratch memory: of the slots of the queue, those of the part of the CWSR area that it has, so that no two dispatches in
 * flight have the same. Return: 0 or a reason
 */
static int scratch(struct sim_exec *x)
{
	struct sim_exec_packet *p = &x->packet;
	struct isa_scratch *s = &x->d.scratch;
	u32 bytes, slots;

	if (!isa_scratch_bytes(&x->d, &bytes))
		return 0;
	if (!p->pm4 && !p->tmpring &&
	    (!isa_read(&x->mem, x->d.queue + AMD_QUEUE_TMPRING, &p->tmpring, sizeof(p->tmpring), ISA_READ) ||
	     !isa_read(&x->mem, x->d.queue + AMD_QUEUE_RESOURCE, p->resource, sizeof(p->resource), ISA_READ) ||
	     !isa_read(&x->mem, x->d.queue + AMD_QUEUE_SCRATCH, &p->scratch, sizeof(p->scratch), ISA_READ)))
		return EXEC_SCRATCH;
	s->base = p->scratch;
	s->wave_bytes = TMPRING_WAVE_BYTES(p->tmpring, x->h->g->prof->gc);
	memcpy(s->rsrc, p->resource, sizeof(s->rsrc));
	slots = TMPRING_WAVES(p->tmpring) / ENG_INFLIGHT;
	s->first = x->part * slots;
	if (!s->wave_bytes || s->wave_bytes < (u64)bytes * x->g.lanes || slots < x->g.nwaves)
		return EXEC_SCRATCH;
	return 0;
}

/* Its code, registers and LDS. Return: 0, a reason, or -EAGAIN */
static int equip(struct sim_exec *x)
{
	const struct sim_exec_packet *p = &x->packet;
	struct isa_why why;
	u64 entry;
	int r;

	if (!packet_ok(p))
		return ISA_DISPATCH;
	r = describe(x, &entry);
	if (r)
		return r;
	fill(x);
	x->program = sim_program_get(x, entry, &why);
	if (!x->program)
		return why.reason == ISA_REASONS ? EXEC_TARGET : why.reason ? : EXEC_MEMORY;
	why.reason = isa_check(&x->program->prog, &x->d);
	if (why.reason)
		return why.reason;
	isa_groups(&x->d, x->count);
	if (check_mul_overflow((u64)x->count[0] * x->count[1], (u64)x->count[2], &x->groups) ||
	    x->groups > U64_MAX / UNITS)
		return ISA_DISPATCH;
	isa_group_init(&x->g, &x->program->prog, &x->mem, &x->d);
	x->g.shared_base = SHARED_BASE;
	x->g.private_base = PRIVATE_BASE;
	x->g.message = message;
	r = scratch(x);
	if (r)
		return r;
	x->space = kvmalloc(isa_group_bytes(&x->g), GFP_KERNEL | __GFP_NOMEMALLOC | __GFP_NOWARN);
	return x->space ? 0 : EXEC_MEMORY;
}

/**
 * sim_exec_new - prepare to execute a dispatch
 * @h: the firmware
 * @q: its queue
 * @p: its packet
 * @part: of the CWSR area
 * @why: gets the reason if it cannot be executed; -EAGAIN: ask again later
 *
 * Return: the dispatch, for sim_exec_free(); or NULL.
 */
struct sim_exec *sim_exec_new(struct sim_hws *h, struct sim_queue *q, const struct sim_exec_packet *p,
			      u32 part, int *why)
{
	struct sim_exec *x = kvzalloc(sizeof(*x), GFP_KERNEL | __GFP_NOMEMALLOC | __GFP_NOWARN);

	*why = EXEC_MEMORY;
	if (!x)
		return NULL;
	x->h = h;
	x->q = q;
	x->packet = *p;
	x->part = part;
	x->mem.page = page;
	x->mem.ctx = x;
	x->estimate = ESTIMATE;
	*why = equip(x);
	if (!*why)
		return x;
	if (x->error == -EAGAIN)
		*why = -EAGAIN;
	sim_exec_free(x);
	return NULL;
}

/**
 * sim_exec_free - it will not be executed any further
 * @x: the dispatch, may be NULL
 */
void sim_exec_free(struct sim_exec *x)
{
	if (!x)
		return;
	if (x->program)
		sim_program_put(x->program);
	kvfree(x->space);
	kvfree(x);
}

/**
 * sim_exec_unready - forget how the next dispatch of a queue would be executed
 * @q: the queue
 */
void sim_exec_unready(struct sim_queue *q)
{
	sim_exec_free(q->ready_exec);
	q->ready_exec = NULL;
	q->ready_why = EXEC_OFF;
}

/* A part of the CWSR area that no dispatch in flight has; fewer than ENG_INFLIGHT are when one is launched */
static u32 free_part(const struct sim_queue *q)
{
	u32 used = 0, i;

	for (i = 0; i < q->eq.nwork; i++)
		if (q->eq.work[i].user[WORK_EXEC])
			used |= 1u << (sim_exec_flags(&q->eq.work[i]) >> 1);
	return min_t(u32, ffz(used), ENG_INFLIGHT - 1);
}

/**
 * sim_exec_prepare - a dispatch may be launched: will it be executed?
 * @h: the firmware
 * @q: its queue, gets sim_queue.ready_exec, or ready_why
 * @p: its packet
 *
 * Return: false: that cannot be said now.
 */
bool sim_exec_prepare(struct sim_hws *h, struct sim_queue *q, const struct sim_exec_packet *p)
{
	struct sim_exec *x;
	int why, r;

	sim_exec_unready(q);
	if (!READ_ONCE(sim_exec_wanted))
		return true;
	x = sim_exec_new(h, q, p, free_part(q), &why);
	if (x) {
		r = sim_exec_area(x);
		if (!r) {
			q->ready_exec = x;
			return true;
		}
		why = r == -EAGAIN ? r : EXEC_AREA;
		sim_exec_free(x);
	}
	if (why == -EAGAIN)
		return false;
	q->ready_why = why;
	return true;
}

/**
 * sim_exec_launch - a dispatch is launched
 * @h: the firmware
 * @q: its queue
 * @w: its work
 */
void sim_exec_launch(struct sim_hws *h, struct sim_queue *q, struct eng_work *w)
{
	if (!q->ready_exec) {
		h->exec.modelled[q->ready_why]++;
		q->ready_why = EXEC_OFF;
		return;
	}
	w->user[WORK_EXEC] = (uintptr_t)q->ready_exec;
	q->ready_exec = NULL;
	h->exec.executed++;
	h->exec.used = true;
	h->exec.changed = true;
}

/* ---- its instructions ---- */

/**
 * sim_exec_begin_group - the next work-group begins
 * @x: the dispatch, not all of them have ended
 */
void sim_exec_begin_group(struct sim_exec *x)
{
	u64 rest = x->done;
	u32 id[3];

	id[0] = rest % x->count[0];
	rest /= x->count[0];
	id[1] = rest % x->count[1];
	id[2] = rest / x->count[1];
	isa_group_start(&x->g, &x->d, id, x->space);
	x->begun = true;
	x->insns = 0;
}

/* A wave cannot go on: a page is being looked for, and it will be tried again; or the queue is stopped */
static void met(struct sim_exec *x, const struct isa_wave *w)
{
	if (w->state == ISA_FAULTED && x->error == -EAGAIN) {
		x->g.wave[w - x->g.wave].state = ISA_RUNS;
		return;
	}
	x->stopped = true;
	if (w->state == ISA_FAULTED)
		sim_vm_fault(x->h, x->q, x->mem.fault_va, x->error == -EACCES);
	else
		sim_queue_error(x->h, x->q, EC_QUEUE_PACKET_DISPATCH_CODE_INVALID,
				"a wave stopped, state", w->state);
}

/* Some instructions. Return: false: it cannot go on now */
static bool chunk(struct sim_exec *x)
{
	const struct isa_wave *w;
	u32 n;

	if (!x->begun)
		sim_exec_begin_group(x);
	x->error = 0;
	n = isa_group_run(&x->g, CHUNK);
	x->insns += n;
	x->h->exec.instructions += n;
	w = isa_group_stopped(&x->g);
	if (w) {
		met(x, w);
		return false;
	}
	if (isa_group_ended(&x->g)) {
		x->begun = false;
		x->done++;
		x->estimate = max(x->insns, 1ULL);
	}
	return true;
}

static bool finished(const struct sim_exec *x)
{
	return x->stopped || x->done == x->groups;
}

/* The model's time that its progress is worth, of a dispatch that takes @ns; less than that until it is finished */
static u64 progress_ns(const struct sim_exec *x, u64 ns)
{
	u64 units = x->done * UNITS;

	if (finished(x))
		return ns;
	if (x->begun)
		units += min(x->insns * UNITS / x->estimate, UNITS - 1ULL);
	return mul_u64_u64_div_u64(ns, units, x->groups * UNITS);
}

/* Of a work that runs; NULL: it is modelled, or its state cannot be read now */
static struct sim_exec *exec_of(struct sim_hws *h, struct eng_queue *q, struct eng_work *w)
{
	if (!w->running || !w->slot || !w->user[WORK_EXEC])
		return NULL;
	if (EXEC_IS_SAVED(w->user[WORK_EXEC]))
		return sim_exec_restore(h, to_sq(q), w);
	return (struct sim_exec *)(uintptr_t)w->user[WORK_EXEC];
}

/* Is amdkfd waiting? The model's time must go on then, whatever is executed: it is to be taken off, or others are */
static bool driver_waits(const struct sim_hws *h)
{
	return h->hiq_stalled || h->mes_cmd;
}

/**
 * sim_exec_limit - up to when the model's time may go on
 * @h: the firmware
 *
 * Return: the earliest time at which a dispatch would have run for longer than its progress is worth;
 * ENG_NEVER: nothing is executed, or amdkfd waits for an unmap.
 */
u64 sim_exec_limit(struct sim_hws *h)
{
	u64 limit = ENG_NEVER, from, worth;
	const struct sim_exec *x;
	struct eng_queue *q;
	struct eng_work *w;
	u32 i;

	h->exec.changed = false;
	if (driver_waits(h))
		return ENG_NEVER;
	for (q = h->eng.busy; q; q = q->next_busy)
		for (i = 0; q->state == ENG_Q_ON && i < q->nwork; i++) {
			w = &q->work[i];
			if (!w->running || !w->slot || !w->user[WORK_EXEC])
				continue;
			from = max(h->eng.now, w->avail);
			x = (const void *)(uintptr_t)w->user[WORK_EXEC];
			worth = EXEC_IS_SAVED(w->user[WORK_EXEC]) ? 0 :
				finished(x) ? ENG_NEVER : progress_ns(x, w->ran_ns + w->left_ns);
			if (worth != ENG_NEVER)
				limit = min(limit, from + (worth > w->ran_ns ? worth - w->ran_ns : 0));
		}
	return limit;
}

/* Up to the model's time @until, or the host's @end */
static void follow(struct sim_exec *x, const struct eng_work *w, u64 now, u64 until, u64 end)
{
	u64 from = max(now, w->avail), ns = w->ran_ns + w->left_ns, want = w->ran_ns;

	if (until > from)
		want = min(want + (until - from), ns);
	isa_memory_forget(&x->mem);
	/* the ring of interrupts is sent before it is full: a work-group may cause one with each instruction */
	while (!finished(x) && progress_ns(x, ns) < want && !sim_hws_irqs_pending(x->h) && chunk(x) && ktime_get_ns() < end)
		;
}

/**
 * sim_exec_run - execute what the model's time is about to pass
 * @h: the firmware
 * @until: that time
 *
 * For RUN_NS of the host's time at most; sim_exec_limit() says how far it has got.
 */
void sim_exec_run(struct sim_hws *h, u64 until)
{
	u64 end = ktime_get_ns() + RUN_NS;
	struct sim_exec *x;
	struct eng_queue *q;
	u32 i;

	for (q = h->eng.busy; q; q = q->next_busy)
		for (i = 0; q->state == ENG_Q_ON && i < q->nwork; i++) {
			x = exec_of(h, q, &q->work[i]);
			if (x)
				follow(x, &q->work[i], h->eng.now, until, end);
		}
}

/**
 * sim_exec_complete - a dispatch has no time left
 * @h: the firmware
 * @q: its queue
 * @w: the argument of eng_ops.complete
 *
 * Return: true: it is executed, too. Otherwise it keeps its slot and gets more time.
 */
bool sim_exec_complete(struct sim_hws *h, struct sim_queue *q, struct eng_work *w)
{
	struct sim_exec *x = (struct sim_exec *)(uintptr_t)w->user[WORK_EXEC];
	struct eng_work *again = &q->eq.work[0];

	if (!EXEC_IS_SAVED(w->user[WORK_EXEC]) && finished(x)) {
		if (x->stopped)
			w->user[WORK_SIGNAL] = 0;
		w->user[WORK_EXEC] = 0;
		sim_exec_free(x);
		return true;
	}
	memmove(again + 1, again, q->eq.nwork++ * sizeof(*again));
	*again = *w;
	again->left_ns = driver_waits(h) ? BEHIND_NS : 1;
	h->exec.changed = !driver_waits(h);
	return false;
}

/**
 * sim_exec_drop - a queue is forgotten
 * @h: the firmware
 * @q: the queue; what is not saved is lost
 */
void sim_exec_drop(struct sim_hws *h, struct sim_queue *q)
{
	struct eng_work *w;
	u32 i;

	sim_exec_unready(q);
	for (i = 0; i < q->eq.nwork; i++) {
		w = &q->eq.work[i];
		if (!EXEC_IS_SAVED(w->user[WORK_EXEC]))
			sim_exec_free((struct sim_exec *)(uintptr_t)w->user[WORK_EXEC]);
		w->user[WORK_EXEC] = 0;
	}
}

/* A line of the log that tests/vm/guest writes, too, of what is still loaded when a run ends; tests/vm/run collects them */
static void log_dispatches(const struct sim_hws *h)
{
	char text[256];
	int n = 0;
	u32 i;

	for (i = 0; i < EXEC_REASONS; i++)
		if (h->exec.modelled[i])
			n += scnprintf(text + n, sizeof(text) - n, " modelled_%s %llu", reason_name(i), h->exec.modelled[i]);
	text[n] = 0;
	dev_info(h->g->adev.dev, "kfdsim: dispatches: executed %llu%s\n", h->exec.executed, text);
}

/**
 * sim_exec_fini - the firmware stops; no queue is left
 * @h: the firmware
 */
void sim_exec_fini(struct sim_hws *h)
{
	log_dispatches(h);
	sim_program_trim(h, 0);
}

/**
 * sim_exec_counters - for debugfs
 * @h: the firmware, its lock held
 * @m: where to
 */
void sim_exec_counters(struct sim_hws *h, struct seq_file *m)
{
	const struct sim_exec_gpu *e = &h->exec;
	u32 i;

	seq_printf(m, "executed %llu\nexecuted_instructions %llu\nexecuted_saved %llu\nexecuted_saved_running %llu\nexecuted_restored %llu\nexecuted_lost %llu\n",
		   e->executed, e->instructions, e->saved, e->saved_running, e->restored, e->lost);
	for (i = 0; i < EXEC_REASONS; i++)
		seq_printf(m, "modelled_%s %llu\n", reason_name(i), e->modelled[i]);
}
