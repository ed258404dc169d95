// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the code of kernels, decoded once and kept. The process may have changed it since, or freed it and put
 * other code there: a hash of all of it is compared at each dispatch.
 * All of it under sim_hws.lock; what looks at code under sim_gpu.vm_lock, too.
 */
#include "execute.h"
#include <linux/jhash.h>
#include <linux/mm.h>

#define PROGRAMS	32	/* most that are kept; 128 KiB each */

/* Of the bytes of the code. Return: false: not readable, see sim_exec.error */
static bool hash(struct sim_exec *x, const struct isa_program *prog, u32 *value)
{
	u64 va = prog->entry, end = va + 4ULL * prog->dwords;
	u32 n;
	u8 *p;

	*value = 0;
	for (; va < end; va += n) {
		n = min_t(u64, end - va, ISA_PAGE - (va & (ISA_PAGE - 1)));
		p = x->mem.page(x->mem.ctx, va & ~(u64)(ISA_PAGE - 1), ISA_FETCH);
		if (!p)
			return false;
		*value = jhash(p + (va & (ISA_PAGE - 1)), n, *value);
	}
	return true;
}

static enum isa_target target(const struct sim_gpu *g)
{
	switch (g->prof->gc) {
	case IP_VERSION(9, 4, 2):
		return ISA_GFX90A;
	case IP_VERSION(9, 4, 3):
		return ISA_GFX942;
	case IP_VERSION(10, 3, 0):
		return ISA_GFX1030;
	case IP_VERSION(11, 0, 0):
		return ISA_GFX1100;
	}
	return ISA_TARGETS;
}

static struct sim_program *find(struct sim_exec *x, u64 entry, u32 lanes)
{
	u64 pd = to_sp(x->q->eq.proc)->pd;
	struct sim_program *p;
	u32 now;

	list_for_each_entry(p, &x->h->exec.programs, link)
		if (p->pd == pd && p->prog.entry == entry && p->prog.lanes == lanes)
			return hash(x, &p->prog, &now) && now == p->hash ? p : NULL;
	return NULL;
}

/**
 * sim_program_trim - forget decoded code that no dispatch has
 * @h: the firmware
 * @keep: how many programs may stay
 */
void sim_program_trim(struct sim_hws *h, u32 keep)
{
	struct sim_program *p, *next;

	list_for_each_entry_safe_reverse(p, next, &h->exec.programs, link) {
		if (h->exec.nprograms <= keep)
			return;
		if (p->users)
			continue;
		list_del(&p->link);
		h->exec.nprograms--;
		kvfree(p);
	}
}

/**
 * sim_program_put - a dispatch does not need its code any more
 * @p: the code
 */
void sim_program_put(struct sim_program *p)
{
	p->users--;
}

/**
 * sim_program_get - the decoded code of a kernel
 * @x: the dispatch, its memory can be accessed
 * @entry: GPU virtual address of the first instruction
 * @why: gets the reason of a refusal; ISA_OK: there is no memory for it; ISA_REASONS: instructions of this
 *	GPU are not known
 *
 * Return: the code, for sim_program_put(); or NULL.
 */
struct sim_program *sim_program_get(struct sim_exec *x, u64 entry, struct isa_why *why)
{
	struct sim_exec_gpu *e = &x->h->exec;
	enum isa_target t = target(x->h->g);
	struct sim_program *p;
	u32 lanes;

	*why = (struct isa_why){ .reason = ISA_REASONS };
	if (t == ISA_TARGETS)
		return NULL;
	lanes = isa_lanes(t, &x->d);
	p = find(x, entry, lanes);
	if (p) {
		list_move(&p->link, &e->programs);
		p->users++;
		return p;
	}
	*why = (struct isa_why){};
	p = kvmalloc(sizeof(*p), GFP_KERNEL | __GFP_NOMEMALLOC | __GFP_NOWARN);
	if (!p)
		return NULL;
	if (!isa_scan(&p->prog, t, lanes, &x->mem, entry, why) || !hash(x, &p->prog, &p->hash)) {
		kvfree(p);
		return NULL;
	}
	p->pd = to_sp(x->q->eq.proc)->pd;
	p->users = 1;
	list_add(&p->link, &e->programs);
	e->nprograms++;
	sim_program_trim(x->h, PROGRAMS);
	return p;
}
