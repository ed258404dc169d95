// SPDX-License-Identifier: GPL-2.0 OR MIT
/* kfdsim: encodings of instructions that reach memory, each 2 dwords */
#include "isa-int.h"

#define BITS(w, high, low)	((w) >> (low) & (0xffffffffu >> (31 - (high) + (low))))

static s32 sign(u32 value, u32 bits)
{
	return (s32)(value << (32 - bits)) >> (32 - bits);
}

/* Cache policy bits */
static u8 mods(u32 glc, u32 slc, u32 dlc, u32 sc1)
{
	return (glc ? ISA_GLC : 0) | (slc ? ISA_SLC : 0) | (dlc ? ISA_DLC : 0) |
	       (sc1 ? ISA_SC1 : 0);
}

/* An SGPR, of an even number if it is one of two, ... */
static bool sgprs_ok(enum isa_target target, u32 first, u32 width)
{
	return first < ISA_VCC && isa_scalar_ok(target, first, width, true);
}

/**
 * isa_decode_smem - scalar loads
 * @target: whose
 * @words: the instruction
 * @insn: filled; @op is there
 */
enum isa_reason isa_decode_smem(enum isa_target target, const u32 *words, struct isa_insn *insn)
{
	const struct isa_row *row = &isa_rows[insn->op];
	u32 w = words[0], w1 = words[1], generation = isa_generation(target);
	u32 base = BITS(w, 5, 0) * 2, soffset = BITS(w1, 31, 25);
	bool imm = true, off = soffset != (generation == 2 ? 124 : 125);

	if (row->flags & ISA_BARE)
		return (w & 0x3ffff) || w1 ? ISA_OPERAND : ISA_OK;
	insn->dst = BITS(w, 12, 6);
	insn->imm = sign(BITS(w1, 20, 0), 21);
	if (BITS(w, 13, 13) && generation != 2)
		return ISA_OPERAND;
	switch (generation) {
	case 0:
		imm = BITS(w, 17, 17);
		off = BITS(w, 14, 14);
		if (BITS(w, 15, 15) || (off && !imm) || (!off && soffset) || BITS(w1, 24, 21))
			return ISA_OPERAND;
		if (!imm) {	/* the register is where the constant would be */
			if (BITS(w1, 20, 7))
				return ISA_OPERAND;
			off = true;
			soffset = BITS(w1, 6, 0);
			insn->imm = 0;
		}
		insn->mods = mods(BITS(w, 16, 16), 0, 0, 0);
		break;
	case 1:
		if (BITS(w, 15, 15) || BITS(w, 17, 17) || BITS(w1, 24, 21))
			return ISA_OPERAND;
		insn->mods = mods(BITS(w, 16, 16), 0, BITS(w, 14, 14), 0);
		break;
	default:
		if (BITS(w, 17, 15) || BITS(w1, 24, 21))
			return ISA_OPERAND;
		insn->mods = mods(BITS(w, 14, 14), 0, BITS(w, 13, 13), 0);
	}
	insn->src[0] = base;
	insn->src[1] = off ? soffset : ISA_NONE;
	if (row->src[0] == 4 && insn->imm < 0)
		return ISA_OPERAND;
	if (!sgprs_ok(target, base, row->src[0]) || (off && !sgprs_ok(target, soffset, 1)))
		return ISA_OPERAND;
	/* VCC is where two SGPRs could be */
	if (insn->dst >= ISA_VCC && insn->dst + row->dst > ISA_VCC + 2)
		return ISA_OPERAND;
	return isa_scalar_ok(target, insn->dst, row->dst, true) ? ISA_OK : ISA_OPERAND;
}

/**
 * isa_decode_ds - LDS
 * @target: whose
 * @words: the instruction
 * @insn: filled; @op is there
 */
enum isa_reason isa_decode_ds(enum isa_target target, const u32 *words, struct isa_insn *insn)
{
	const struct isa_row *row = &isa_rows[insn->op];
	u32 w = words[0], w1 = words[1], i;
	bool other = isa_generation(target) ? BITS(w, 17, 16) : BITS(w, 25, 25) || BITS(w, 16, 16);
	u32 data[2] = { BITS(w1, 15, 8), BITS(w1, 23, 16) };

	/* GDS, and accumulation registers */
	if (other)
		return ISA_OPERAND;
	insn->imm = BITS(w, 15, 0);
	insn->src[0] = ISA_VGPR + BITS(w1, 7, 0);
	for (i = 0; i < 2; i++) {
		if (!row->src[i] && data[i])
			return ISA_OPERAND;
		if (row->src[i] && !isa_vgprs_ok(target, data[i], row->src[i]))
			return ISA_OPERAND;
		insn->src[1 + i] = row->src[i] ? ISA_VGPR + data[i] : ISA_NONE;
	}
	insn->dst = ISA_NONE;
	if (!row->dst)
		return BITS(w1, 31, 24) ? ISA_OPERAND : ISA_OK;
	insn->dst = ISA_VGPR + BITS(w1, 31, 24);
	return isa_vgprs_ok(target, BITS(w1, 31, 24), row->dst) ? ISA_OK : ISA_OPERAND;
}

/* Data and result of FLAT, GLOBAL and MUBUF; @data: both in one field */
static enum isa_reason vmem_data(enum isa_target target, struct isa_insn *insn, u32 data, u32 dst,
				 bool one)
{
	const struct isa_row *row = &isa_rows[insn->op];
	bool returns = row->dst && (!(row->flags & ISA_ATOMIC) || insn->mods & ISA_GLC);

	insn->dst = returns ? ISA_VGPR + dst : ISA_NONE;
	insn->src[1] = row->src[0] ? ISA_VGPR + data : ISA_NONE;
	if (!one && ((!returns && dst) || (!row->src[0] && data)))
		return ISA_OPERAND;
	if (returns && !isa_vgprs_ok(target, dst, row->dst))
		return ISA_OPERAND;
	if (row->src[0] && !isa_vgprs_ok(target, data, row->src[0]))
		return ISA_OPERAND;
	/* of GFX942 sc1 has another meaning for an atomic operation, which GFX90A has not */
	return ISA_OK;
}

/* Scratch memory, of the targets that set up its base themselves; kernels of the others use MUBUF */
static enum isa_reason decode_scratch(enum isa_target target, const u32 *words, struct isa_insn *insn, u32 bits, u32 none)
{
	u32 w = words[0], w1 = words[1], addr = BITS(w1, 7, 0), saddr = BITS(w1, 22, 16);
	bool vector = target == ISA_GFX942 ? BITS(w, 13, 13) : BITS(w1, 23, 23);
	bool other = target == ISA_GFX942 ? BITS(w1, 23, 23) : BITS(w, 25, 25);

	if (!isa_architected(target) || other || isa_rows[insn->op].flags & ISA_ATOMIC || (!vector && addr))
		return ISA_OPERAND;
	insn->format = ISA_SCRATCH;
	insn->imm = sign(BITS(w, 12, 0), bits);
	insn->src[0] = vector ? ISA_VGPR + addr : ISA_NONE;
	insn->src[2] = saddr == none ? ISA_NONE : saddr;
	if (saddr != none && !sgprs_ok(target, saddr, 1))
		return ISA_OPERAND;
	return vmem_data(target, insn, BITS(w1, 15, 8), BITS(w1, 31, 24), false);
}

/**
 * isa_decode_flat - flat, global and scratch memory
 * @target: whose
 * @words: the instruction
 * @insn: @op is set by the caller; the rest is filled, @format too
 */
enum isa_reason isa_decode_flat(enum isa_target target, const u32 *words, struct isa_insn *insn)
{
	u32 w = words[0], w1 = words[1], generation = isa_generation(target), seg, none, bits = 13;
	u32 addr = BITS(w1, 7, 0), saddr = BITS(w1, 22, 16);
	bool other = BITS(w1, 23, 23);

	switch (generation) {
	case 0:
		seg = BITS(w, 15, 14);
		none = 127;
		insn->mods = mods(BITS(w, 16, 16), BITS(w, 17, 17), 0,
				  target == ISA_GFX942 && BITS(w, 25, 25));
		other |= BITS(w, 13, 13) || (target != ISA_GFX942 && BITS(w, 25, 25));
		break;
	case 1:
		seg = BITS(w, 15, 14);
		none = 125;
		bits = 12;
		insn->mods = mods(BITS(w, 16, 16), BITS(w, 17, 17), BITS(w, 12, 12), 0);
		other |= BITS(w, 13, 13) || BITS(w, 25, 25);
		break;
	default:
		seg = BITS(w, 17, 16);
		none = 124;
		insn->mods = mods(BITS(w, 14, 14), BITS(w, 15, 15), BITS(w, 13, 13), 0);
		other |= BITS(w, 25, 25);
	}
	if (seg == 1)
		return decode_scratch(target, words, insn, bits, none);
	/* LDS as the destination, accumulation registers */
	if (other || (seg != 0 && seg != 2))
		return ISA_OPERAND;
	insn->format = seg ? ISA_GLOBAL : ISA_FLAT;
	insn->imm = sign(BITS(w, 12, 0), bits);
	insn->src[2] = ISA_NONE;
	if (!seg) {
		/* on GFX9 the field is not looked at */
		if (insn->imm < 0 || saddr != (generation ? none : 0))
			return ISA_OPERAND;
	} else if (saddr != none) {
		if (!sgprs_ok(target, saddr, 2))
			return ISA_OPERAND;
		insn->src[2] = saddr;
	}
	if (!isa_vgprs_ok(target, addr, insn->src[2] == ISA_NONE ? 2 : 1))
		return ISA_OPERAND;
	insn->src[0] = ISA_VGPR + addr;
	return vmem_data(target, insn, BITS(w1, 15, 8), BITS(w1, 31, 24), false);
}

/**
 * isa_decode_mubuf - buffers, and what concerns caches
 * @target: whose
 * @words: the instruction
 * @insn: filled; @op is there
 */
enum isa_reason isa_decode_mubuf(enum isa_target target, const u32 *words, struct isa_insn *insn)
{
	const struct isa_row *row = &isa_rows[insn->op];
	u32 w = words[0], w1 = words[1], generation = isa_generation(target), width;
	u32 offen = BITS(w, 12, 12), idxen = BITS(w, 13, 13), addr = BITS(w1, 7, 0);
	u32 rsrc = BITS(w1, 20, 16) * 4, data = BITS(w1, 15, 8), soffset = BITS(w1, 31, 24);
	bool other;

	/* the scope of writing back a cache, which changes nothing here; LLVM does not write it either */
	if (insn->op == OP_buffer_wbl2 && target == ISA_GFX90A)
		w &= ~(3u << 14);
	switch (generation) {
	case 0:
		insn->mods = mods(BITS(w, 14, 14), BITS(w, 17, 17), 0,
				  target == ISA_GFX942 && BITS(w, 15, 15));
		/* LDS, TFE, accumulation registers */
		other = BITS(w, 16, 16) || BITS(w, 25, 25) || BITS(w1, 23, 21) ||
			(target != ISA_GFX942 && BITS(w, 15, 15));
		break;
	case 1:
		insn->mods = mods(BITS(w, 14, 14), BITS(w1, 22, 22), BITS(w, 15, 15), 0);
		other = BITS(w, 17, 16) || BITS(w1, 23, 23) || BITS(w1, 21, 21) ||
			(row->flags & ISA_ATOMIC && BITS(w, 15, 15));
		break;
	default:
		insn->mods = mods(BITS(w, 14, 14), BITS(w, 12, 12), BITS(w, 13, 13), 0);
		offen = BITS(w1, 22, 22);
		idxen = BITS(w1, 23, 23);
		other = BITS(w, 17, 15) || BITS(w1, 21, 21);
		/* GFX11 swaps two scalar operands */
		if (soffset == 124 || soffset == 125)
			soffset ^= 1;
	}
	insn->format = ISA_MUBUF;
	insn->imm = BITS(w, 11, 0);
	if (row->flags & ISA_BARE)
		return other || w1 || insn->imm || offen || idxen ||
		       insn->mods & ~(target == ISA_GFX942 ? ISA_GLC | ISA_SC1 : 0) ?
			       ISA_OPERAND : ISA_OK;
	insn->mods |= (offen ? ISA_OFFEN : 0) | (idxen ? ISA_IDXEN : 0);
	width = !!offen + !!idxen;
	if (other || !sgprs_ok(target, rsrc, 4) || !isa_scalar_ok(target, soffset, 1, false) ||
	    (!width && addr) || (width && !isa_vgprs_ok(target, addr, width)))
		return ISA_OPERAND;
	insn->src[0] = width ? ISA_VGPR + addr : ISA_NONE;
	insn->src[2] = rsrc;
	insn->sdst = soffset;
	return vmem_data(target, insn, data, data, true);
}
