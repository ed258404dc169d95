// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: scratch memory, which is private to each lane: by SCRATCH, by flat addresses of its aperture, and by the buffer
 * resource that runtimes make for it. LLVM's "User Guide for AMDGPU Backend", "Private Segment", has the layout.
 *
 * Not modelled: that an access behind the end of a wave's slot is one to nothing; it goes to the next slot.
 */
#include "isa-int.h"

/**
 * isa_buffer_swizzled - is an access to a buffer one that is swizzled, or has the lane's number in the address?
 * @g: the group
 * @w: the wave
 * @insn: the instruction, MUBUF
 */
bool isa_buffer_swizzled(const struct isa_group *g, const struct isa_wave *w, const struct isa_insn *insn)
{
	const u32 *rsrc = &w->s[insn->src[2]];

	return rsrc[1] >> (isa_generation(g->prog->target) == 2 ? 30 : 31) || rsrc[3] >> 23 & 1;
}

/**
 * isa_buffer_scratch - is it scratch memory, as runtimes describe that?
 * @g: the group
 * @w: the wave
 * @insn: the instruction, of a buffer that is swizzled: no other is executed, and no access of more than a dword
 */
bool isa_buffer_scratch(const struct isa_group *g, const struct isa_wave *w, const struct isa_insn *insn)
{
	const u32 *rsrc = &w->s[insn->src[2]];
	const struct isa_row *row = &isa_rows[insn->op];

	return rsrc[1] >> (isa_generation(g->prog->target) == 2 ? 30 : 31) == 1 && rsrc[3] >> 23 & 1 &&
	       !(rsrc[1] >> 16 & 0x3fff) && 8u << (rsrc[3] >> 21 & 3) == g->lanes && rsrc[2] &&
	       !(insn->mods & ISA_IDXEN) && !(row->flags & ISA_ATOMIC) && row->dst <= 1 && row->src[0] <= 1;
}

/* The begin of a wave's scratch memory, and the place in there that a lane accesses */
static u64 place(const struct isa_group *g, const struct isa_wave *w, const struct isa_insn *insn, u32 l, u32 *at)
{
	u32 flat = isa_flat_scratch(g->prog->target);
	const u32 *rsrc;

	*at = insn->src[0] == ISA_NONE ? 0 : isa_vgpr(g, w, insn->src[0])[l];
	if (insn->format == ISA_MUBUF) {
		rsrc = &w->s[insn->src[2]];
		*at = (insn->mods & ISA_OFFEN ? *at : 0) + (u32)insn->imm;
		return (rsrc[0] | (u64)(rsrc[1] & 0xffff) << 32) + isa_scalar32(w, insn, insn->sdst);
	}
	*at += (u32)insn->imm;
	if (insn->format == ISA_SCRATCH && insn->src[2] != ISA_NONE)
		*at += isa_scalar32(w, insn, insn->src[2]);
	return w->s[flat] | (u64)w->s[flat + 1] << 32;
}

/* The address of a byte of a lane's scratch memory: dwords of the lanes alternate */
static u64 lane_va(const struct isa_group *g, u64 base, u32 l, u32 at)
{
	return base + ((u64)(at / 4) * g->lanes + l) * 4 + at % 4;
}

static bool copy(struct isa_group *g, u64 base, u32 l, u32 at, u8 *data, u32 bytes, enum isa_access access)
{
	u32 n;

	for (; bytes; bytes -= n) {
		n = 4 - at % 4 < bytes ? 4 - at % 4 : bytes;
		if (!isa_memory_copy(g->mem, lane_va(g, base, l, at), data, n, access))
			return false;
		data += n;
		at += n;
	}
	return true;
}

/**
 * isa_scratch_there - is what a lane accesses there?
 * @g: the group
 * @w: the wave
 * @insn: the instruction
 * @l: the lane
 * @bytes: of it
 * @access: what for
 */
bool isa_scratch_there(const struct isa_group *g, const struct isa_wave *w, const struct isa_insn *insn, u32 l, u32 bytes,
		       enum isa_access access)
{
	u32 at, i;
	u64 base = place(g, w, insn, l, &at);

	for (i = 0; i < bytes; i++)
		if (!isa_memory_find(g->mem, lane_va(g, base, l, at + i), access))
			return false;
	return true;
}

/**
 * isa_scratch - one lane's access to scratch memory
 * @g: the group
 * @w: the wave
 * @insn: the instruction, no atomic operation
 * @l: the lane
 *
 * Return: false: it faults.
 */
bool isa_scratch(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn, u32 l)
{
	const struct isa_row *row = &isa_rows[insn->op];
	u32 data[4] = { 0 }, i, bytes, at;
	bool is_signed;
	u64 base;

	base = place(g, w, insn, l, &at);
	bytes = isa_small(insn->op, &is_signed);
	if (row->src[0]) {
		for (i = 0; i < row->src[0]; i++)
			data[i] = isa_vgpr(g, w, insn->src[1] + i)[l];
		return copy(g, base, l, at, (u8 *)data, bytes ? bytes : 4 * row->src[0], ISA_WRITE);
	}
	if (!copy(g, base, l, at, (u8 *)data, bytes ? bytes : 4 * row->dst, ISA_READ))
		return false;
	isa_loaded(g, w, insn, l, data, bytes, is_signed);
	return true;
}
