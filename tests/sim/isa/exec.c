// SPDX-License-Identifier: GPL-2.0 OR MIT
/* kfdsim: the waves of a work-group take turns */
#include "isa-int.h"

/* Up to @count instructions of a wave that runs; how many */
static u32 run(struct isa_group *g, struct isa_wave *w, u32 count)
{
	const struct isa_insn *insn;
	u32 n;

	for (n = 0; n < count && w->state == ISA_RUNS; n++) {
		insn = &g->prog->insn[w->pc];
		w->pc += insn->dwords;
		switch (insn->format) {
		case ISA_SMEM:
			isa_smem(g, w, insn);
			break;
		case ISA_VOP1:
		case ISA_VOP2:
		case ISA_VOPC:
		case ISA_VOP3:
		case ISA_VOP3P:
			isa_vector(g, w, insn);
			break;
		case ISA_VOPD:
			isa_dual(g, w, insn);
			break;
		case ISA_DS:
			isa_lds(g, w, insn);
			break;
		case ISA_FLAT:
		case ISA_GLOBAL:
		case ISA_MUBUF:
		case ISA_SCRATCH:
			isa_vmem(g, w, insn);
			break;
		default:
			isa_scalar(g, w, insn);
		}
	}
	w->count += n;
	return n;
}

/* When all that have not ended are at the barrier, they go on */
static bool pass_barrier(struct isa_group *g)
{
	bool any = false;
	u32 i;

	for (i = 0; i < g->nwaves; i++) {
		if (g->wave[i].state != ISA_WAITS && g->wave[i].state != ISA_ENDED)
			return false;
		any |= g->wave[i].state == ISA_WAITS;
	}
	for (i = 0; any && i < g->nwaves; i++)
		if (g->wave[i].state == ISA_WAITS)
			g->wave[i].state = ISA_RUNS;
	return any;
}

/**
 * isa_group_stopped - a wave that has met something
 * @g: the group
 *
 * Return: the first that is halted, trapped, faulted or refused; NULL: none.
 */
const struct isa_wave *isa_group_stopped(const struct isa_group *g)
{
	u32 i;

	for (i = 0; i < g->nwaves; i++)
		if (g->wave[i].state > ISA_ENDED)
			return &g->wave[i];
	return NULL;
}

/**
 * isa_group_ended - is it complete?
 * @g: the group
 */
bool isa_group_ended(const struct isa_group *g)
{
	u32 i;

	for (i = 0; i < g->nwaves; i++)
		if (g->wave[i].state != ISA_ENDED)
			return false;
	return true;
}

/**
 * isa_group_run - execute
 * @g: the group
 * @count: instructions at most, of all its waves
 *
 * The order does not depend on how a group's instructions are divided into calls.
 *
 * Return: how many instructions; fewer than @count: the group has ended, or a wave has stopped.
 */
u32 isa_group_run(struct isa_group *g, u32 count)
{
	struct isa_wave *w;
	u32 done = 0, n, idle = 0;

	while (done < count) {
		w = &g->wave[g->turn];
		n = count - done < g->turn_left ? count - done : g->turn_left;
		if (w->state == ISA_RUNS && n) {
			n = run(g, w, n);
			g->turn_left -= n;
			done += n;
			idle = 0;
			if (w->state > ISA_ENDED)
				break;
			continue;
		}
		g->turn = g->turn + 1 < g->nwaves ? g->turn + 1 : 0;
		g->turn_left = ISA_TURN;
		if (++idle <= g->nwaves)
			continue;
		idle = 0;
		if (!pass_barrier(g))
			break;
	}
	return done;
}
