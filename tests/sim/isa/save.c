// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: a work-group's state is saved and restored.
 *
 * A wave's state is its vector registers, its scalar registers (VCC, M0 and EXEC among them) and HWREGS dwords of the
 * rest, in the order of the areas that CWSR saves; LDS follows the last wave. The format is the
 * simulator's own. Sizes are not in it: they are the kernel's. What is restored may have been
 * changed by anybody, and never makes the executor leave its own memory.
 */
#include "isa-int.h"

#define HWREGS	8
#define WAVE_REGS(g)	((size_t)(g)->vgprs * (g)->lanes)

/**
 * isa_save_bytes - size of a group's state
 * @g: the group
 */
size_t isa_save_bytes(const struct isa_group *g)
{
	return g->nwaves * (WAVE_REGS(g) + ISA_SGPRS + HWREGS) * 4 + g->lds_bytes;
}

static void wave_out(const struct isa_group *g, u32 i, u32 *hw)
{
	const struct isa_wave *w = &g->wave[i];

	/* cppcheck-suppress ctuArrayIndex; an array of the caller */
	hw[0] = w->pc;
	hw[1] = w->scc;
	hw[2] = w->state;
	hw[3] = w->trap;
	hw[4] = (u32)w->count;
	hw[5] = (u32)(w->count >> 32);
	hw[6] = g->turn;
	hw[7] = g->turn_left;
}

static bool wave_in(struct isa_group *g, u32 i, const u32 *hw)
{
	struct isa_wave *w = &g->wave[i];

	/* cppcheck-suppress ctuArrayIndex; an array of the caller */
	if (hw[0] >= ISA_CODE_DWORDS || hw[1] > 1 || hw[2] > ISA_REFUSED || hw[6] >= g->nwaves ||
	    hw[7] > ISA_TURN)
		return false;
	/* only where an instruction begins; that of a wave that has ended may be past the last */
	if (hw[2] != ISA_ENDED && !g->prog->insn[hw[0]].dwords)
		return false;
	w->pc = hw[0];
	w->scc = hw[1];
	w->state = hw[2];
	w->trap = hw[3] & 0xff;
	w->count = hw[4] | (u64)hw[5] << 32;
	g->turn = hw[6];
	g->turn_left = hw[7];
	return true;
}

/**
 * isa_save - save a group
 * @g: the group; not changed
 * @copy: takes the state piece by piece; false: it could not
 * @ctx: for @copy
 *
 * Return: whether all of it was taken.
 */
bool isa_save(struct isa_group *g, isa_copy copy, void *ctx)
{
	u32 i, hw[HWREGS];

	for (i = 0; i < g->nwaves; i++) {
		wave_out(g, i, hw);
		if (!copy(ctx, g->wave[i].v, WAVE_REGS(g) * 4) ||
		    !copy(ctx, g->wave[i].s, sizeof(g->wave[i].s)) || !copy(ctx, hw, sizeof(hw)))
			return false;
	}
	return !g->lds_bytes || copy(ctx, g->lds, g->lds_bytes);
}

/**
 * isa_restore - restore a group
 * @g: started as the one that was saved
 * @copy: gives the state piece by piece; false: it could not
 * @ctx: for @copy
 *
 * Return: false: it could not, or what it gave is not the state of a group of this kernel.
 */
bool isa_restore(struct isa_group *g, isa_copy copy, void *ctx)
{
	u32 i, hw[HWREGS];

	for (i = 0; i < g->nwaves; i++)
		if (!copy(ctx, g->wave[i].v, WAVE_REGS(g) * 4) ||
		    !copy(ctx, g->wave[i].s, sizeof(g->wave[i].s)) || !copy(ctx, hw, sizeof(hw)) ||
		    !wave_in(g, i, hw))
			return false;
	return !g->lds_bytes || copy(ctx, g->lds, g->lds_bytes);
}
