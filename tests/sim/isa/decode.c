// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: instructions are decoded.
 *
 * An instruction that is not understood to the last bit is refused: an unused field must be 0, a modifier must be one that
 * the executor knows.
 */
#include "isa-int.h"

#define BITS(w, high, low)	((w) >> (low) & (0xffffffffu >> (31 - (high) + (low))))

/**
 * isa_scalar_ok - is it a scalar operand of the subset?
 * @target: whose
 * @code: the operand
 * @width: its dwords
 * @dst: it is written
 */
bool isa_scalar_ok(enum isa_target target, u32 code, u32 width, bool dst)
{
	u32 generation = isa_generation(target), sgprs = generation ? 106 : 102;

	/* FLAT_SCRATCH is behind the SGPRs of others than GFX942 */
	if (!generation && target != ISA_GFX942 && width <= 2)
		sgprs += 2;
	if (code < ISA_VCC)
		return code + width <= sgprs && code % (width > 4 ? 4 : width) == 0;
	switch (code) {
	case ISA_VCC:
	case ISA_EXEC:
		return width <= 2;
	case ISA_VCC + 1:
	case ISA_EXEC + 1:
	case ISA_M0:
		return width == 1;
	case ISA_NULL:
		return generation && width <= 2;
	case ISA_LITERAL:
		return !dst && width <= 2;
	case ISA_SHARED_BASE:
		return !dst && width == 2;
	}
	if (dst || width > 2)
		return false;
	return (code >= ISA_INT_0 && code <= 208) || (code >= ISA_FLOAT && code <= ISA_FLOAT + 8);
}

/**
 * isa_vgprs_ok - are these vector registers there?
 * @target: whose
 * @first: the first
 * @width: how many
 */
bool isa_vgprs_ok(enum isa_target target, u32 first, u32 width)
{
	if ((target == ISA_GFX90A || target == ISA_GFX942) && width > 1 && first % 2)
		return false;
	return first + width <= ISA_VGPRS;
}

/* GFX11 has M0 and null the other way round */
static u32 scalar(enum isa_target target, u32 code)
{
	return isa_generation(target) == 2 && (code == ISA_M0 || code == ISA_NULL) ? code ^ 1 : code;
}

/* A source; @vector: it may be a vector register */
static bool source(enum isa_target target, struct isa_insn *insn, u32 i, u32 code, u32 width,
		   bool vector)
{
	insn->src[i] = code = scalar(target, code);
	if (code >= ISA_VGPR)
		return vector && isa_vgprs_ok(target, code - ISA_VGPR, width);
	/* how a vector instruction extends a literal depends on its type */
	if (vector && width == 2 && code == ISA_LITERAL)
		return false;
	if (vector && code == ISA_SHARED_BASE)
		return false;
	return isa_scalar_ok(target, code, width, false);
}

static bool scalar_dst(enum isa_target target, u16 *dst, u32 code, u32 width)
{
	*dst = scalar(target, code);
	return isa_scalar_ok(target, *dst, width, true);
}

static bool vector_dst(enum isa_target target, struct isa_insn *insn, u32 vgpr)
{
	insn->dst = ISA_VGPR + vgpr;
	return isa_vgprs_ok(target, vgpr, isa_rows[insn->op].dst);
}

/* The operand that has one bit a lane: the scalar register or pair */
static bool lanes_dst(enum isa_target target, u32 lanes, u16 *dst, u32 code)
{
	return scalar_dst(target, dst, code, lanes / 32);
}

static enum isa_reason ok(bool is)
{
	return is ? ISA_OK : ISA_OPERAND;
}

static bool find(enum isa_target target, enum isa_format format, u32 code, struct isa_insn *insn)
{
	insn->format = format;
	insn->op = isa_find(target, format, code);
	return insn->op != ISA_OPS;
}

static enum isa_reason decode_sopp(enum isa_target target, u32 w, u32 at, struct isa_insn *insn)
{
	const struct isa_row *row;

	if (!find(target, ISA_SOPP, BITS(w, 22, 16), insn))
		return ISA_UNKNOWN;
	row = &isa_rows[insn->op];
	insn->imm = BITS(w, 15, 0);
	if (row->flags & ISA_BRANCH)
		insn->imm = (s32)at + 1 + (s16)BITS(w, 15, 0);
	/* the host's interrupt; the end of a wave gives its registers back; other messages are for debuggers */
	if (insn->op == OP_s_sendmsg)
		return ok(insn->imm == ISA_MSG_INTERRUPT || (insn->imm == 3 && isa_generation(target) == 2));
	return ok(!(row->flags & ISA_BARE) || !insn->imm);
}

static enum isa_reason decode_sopk(enum isa_target target, u32 w, struct isa_insn *insn)
{
	const struct isa_row *row;

	if (!find(target, ISA_SOPK, BITS(w, 27, 23), insn))
		return ISA_UNKNOWN;
	row = &isa_rows[insn->op];
	insn->imm = (s16)BITS(w, 15, 0);
	/* only what a kernel needs to find its scratch memory */
	if (insn->op == OP_s_getreg_b32 && BITS(w, 15, 0) != ISA_HWREG_APERTURES)
		return ISA_OPERAND;
	if (insn->op == OP_s_setreg_b32 && BITS(w, 15, 0) != ISA_HWREG_SCRATCH && BITS(w, 15, 0) != ISA_HWREG_SCRATCH + 1)
		return ISA_OPERAND;
	if (!row->dst)
		insn->src[0] = scalar(target, BITS(w, 22, 16));
	if (row->flags & ISA_WAIT)
		return ok(insn->src[0] == ISA_NULL);
	if (!row->dst)
		return ok(isa_scalar_ok(target, insn->src[0], 1, true));
	return ok(scalar_dst(target, &insn->dst, BITS(w, 22, 16), 1));
}

static enum isa_reason decode_sop(enum isa_target target, u32 w, u32 at, struct isa_insn *insn)
{
	const struct isa_row *row;

	if (BITS(w, 29, 23) == 0x7f)
		return decode_sopp(target, w, at, insn);
	if (BITS(w, 29, 23) == 0x7e) {
		if (!find(target, ISA_SOPC, BITS(w, 22, 16), insn))
			return ISA_UNKNOWN;
		row = &isa_rows[insn->op];
		return ok(source(target, insn, 0, BITS(w, 7, 0), row->src[0], false) &&
			  source(target, insn, 1, BITS(w, 15, 8), row->src[1], false));
	}
	if (BITS(w, 29, 23) == 0x7d) {
		if (!find(target, ISA_SOP1, BITS(w, 15, 8), insn))
			return ISA_UNKNOWN;
		row = &isa_rows[insn->op];
		if (!row->src[0] && BITS(w, 7, 0))
			return ISA_OPERAND;
		return ok((!row->src[0] || source(target, insn, 0, BITS(w, 7, 0), row->src[0], false)) &&
			  scalar_dst(target, &insn->dst, BITS(w, 22, 16), row->dst));
	}
	if (BITS(w, 29, 28) == 3)
		return decode_sopk(target, w, insn);
	if (!find(target, ISA_SOP2, BITS(w, 29, 23), insn))
		return ISA_UNKNOWN;
	row = &isa_rows[insn->op];
	/* how a literal is extended depends on the type */
	if ((insn->op == OP_s_ashr_i64 || insn->op == OP_s_bfe_i64) && BITS(w, 7, 0) == ISA_LITERAL)
		return ISA_OPERAND;
	return ok(source(target, insn, 0, BITS(w, 7, 0), row->src[0], false) &&
		  source(target, insn, 1, BITS(w, 15, 8), row->src[1], false) &&
		  scalar_dst(target, &insn->dst, BITS(w, 22, 16), row->dst));
}

static enum isa_reason decode_vopc(enum isa_target target, u32 w, struct isa_insn *insn)
{
	const struct isa_row *row;

	if (!find(target, ISA_VOPC, BITS(w, 24, 17), insn))
		return ISA_UNKNOWN;
	row = &isa_rows[insn->op];
	insn->sdst = row->flags & ISA_CMPX && isa_generation(target) ? ISA_NONE : ISA_VCC;
	return ok(source(target, insn, 0, BITS(w, 8, 0), row->src[0], true) &&
		  source(target, insn, 1, ISA_VGPR + BITS(w, 16, 9), row->src[1], true));
}

static enum isa_reason decode_vop12(enum isa_target target, u32 w, struct isa_insn *insn)
{
	bool one = BITS(w, 30, 25) == 0x3f;
	const struct isa_row *row;

	if (!find(target, one ? ISA_VOP1 : ISA_VOP2, one ? BITS(w, 16, 9) : BITS(w, 30, 25), insn))
		return ISA_UNKNOWN;
	row = &isa_rows[insn->op];
	if (row->flags & ISA_BARE)
		return ok(!(w & 0x1fe01ff));
	if (!source(target, insn, 0, BITS(w, 8, 0), row->src[0], true))
		return ISA_OPERAND;
	if (row->flags & ISA_SDST)
		return ok(insn->src[0] >= ISA_VGPR &&
			  scalar_dst(target, &insn->dst, BITS(w, 24, 17), 1));
	if (row->flags & ISA_CIN)
		insn->src[2] = ISA_VCC;
	if (row->flags & ISA_COUT)
		insn->sdst = ISA_VCC;
	if (!one)
		insn->src[1] = ISA_VGPR + BITS(w, 16, 9);
	if (row->flags & ISA_MK) {
		insn->src[2] = insn->src[1];
		insn->src[1] = ISA_LITERAL;
	}
	if (row->flags & ISA_AK)
		insn->src[2] = ISA_LITERAL;
	return ok(vector_dst(target, insn, BITS(w, 24, 17)));
}

/* The row of VOP3, or that of the instruction that has this form as well */
static bool find_vop3(enum isa_target target, u32 code, struct isa_insn *insn)
{
	u32 one = isa_generation(target) ? 0x180 : 0x140;

	if (code < 0x100 && find(target, ISA_VOPC, code, insn))
		return true;
	if (code >= 0x100 && code < 0x140 && find(target, ISA_VOP2, code - 0x100, insn))
		return !(isa_rows[insn->op].flags & (ISA_MK | ISA_AK));
	if (code >= one && code < one + 0x80 && find(target, ISA_VOP1, code - one, insn))
		return !(isa_rows[insn->op].flags & (ISA_BARE | ISA_SDST));
	return find(target, ISA_VOP3, code, insn);
}

static enum isa_reason decode_vop3(enum isa_target target, u32 lanes, const u32 *words,
				   struct isa_insn *insn)
{
	u32 w = words[0], w1 = words[1], i, neg = BITS(w1, 31, 29), abs = BITS(w, 10, 8), mods, code;
	const struct isa_row *row;
	bool vector;

	if (!find_vop3(target, BITS(w, 25, 16), insn))
		return ISA_UNKNOWN;
	insn->format = ISA_VOP3;
	row = &isa_rows[insn->op];
	mods = BITS(w, 15, 11) | BITS(w1, 28, 27);
	if (row->flags & ISA_COUT) {
		if (!lanes_dst(target, lanes, &insn->sdst, BITS(w, 14, 8)))
			return ISA_OPERAND;
		mods = BITS(w, 15, 15) | BITS(w1, 28, 27);
		abs = 0;
	}
	for (i = 0; i < 3; i++) {
		code = w1 >> 9 * i & 0x1ff;
		if (!row->src[i]) {
			if (code && !(i == 2 && row->flags & ISA_CIN))
				return ISA_OPERAND;
			continue;
		}
		vector = !(row->flags & ISA_WLANE) && !(row->flags & ISA_SDST && i);
		if (!source(target, insn, i, code, row->src[i], vector))
			return ISA_OPERAND;
		if (insn->src[i] == ISA_LITERAL && (!isa_generation(target) || !vector))
			return ISA_OPERAND;
	}
	if (mods || ((neg || abs) && !(row->flags & ISA_FLOAT_OPS)))
		return ISA_OPERAND;
	for (i = 0; i < 3; i++)
		if (!row->src[i] && ((neg | abs) & 1 << i))
			return ISA_OPERAND;
	insn->neg = neg;
	insn->abs = abs;
	if (row->flags & ISA_CIN &&
	    !lanes_dst(target, lanes, &insn->src[2], BITS(w1, 26, 18)))
		return ISA_OPERAND;
	if (row->flags & ISA_CMP) {
		/* EXEC is the result in any case; LLVM has written both */
		if (row->flags & ISA_CMPX && isa_generation(target))
			return ok(!BITS(w, 7, 0) || BITS(w, 7, 0) == ISA_EXEC);
		return ok(lanes_dst(target, lanes, &insn->sdst, BITS(w, 7, 0)));
	}
	if (row->flags & ISA_SDST)
		return ok(insn->src[0] >= ISA_VGPR &&
			  scalar_dst(target, &insn->dst, BITS(w, 7, 0), 1));
	return ok(vector_dst(target, insn, BITS(w, 7, 0)));
}

/* v_pk_mov_b32 alone, of registers */
static enum isa_reason decode_vop3p(enum isa_target target, const u32 *words, struct isa_insn *insn)
{
	u32 w = words[0], w1 = words[1], i;

	if (!find(target, ISA_VOP3P, BITS(w, 22, 16), insn))
		return ISA_UNKNOWN;
	/* of op_sel_hi, which means nothing here, all bits are set */
	if (BITS(w, 10, 8) || BITS(w, 15, 13) != 2 || BITS(w1, 31, 18) != 3 << 9)
		return ISA_OPERAND;
	insn->mods = BITS(w, 11, 11) * ISA_OPSEL_0 | BITS(w, 12, 12) * ISA_OPSEL_1;
	for (i = 0; i < 2; i++)
		if (!source(target, insn, i, w1 >> 9 * i & 0x1ff, 2, true) ||
		    (insn->src[i] < ISA_VGPR && insn->src[i] > ISA_VCC))
			return ISA_OPERAND;
	return ok(vector_dst(target, insn, BITS(w, 7, 0)));
}

/* Opcodes of VOPD's halves; of the first, those from 16 on are not */
static const u16 dual[32] = {
	[0] = OP_v_fmac_f32, [1] = OP_v_fmaak_f32, [2] = OP_v_fmamk_f32, [3] = OP_v_mul_f32,
	[4] = OP_v_add_f32, [5] = OP_v_sub_f32, [6] = OP_v_subrev_f32, [7] = ISA_OPS,
	[8] = OP_v_mov_b32, [9] = OP_v_cndmask_b32, [10 ... 15] = ISA_OPS,
	[16] = OP_v_add_u32, [17] = OP_v_lshlrev_b32, [18] = OP_v_and_b32, [19 ... 31] = ISA_OPS,
};

static enum isa_reason decode_half(struct isa_insn *insn, u32 code, u32 dst, u32 src0, u32 src1)
{
	const struct isa_row *row;

	*insn = (struct isa_insn){ .op = dual[code], .format = ISA_VOPD, .sdst = ISA_NONE,
				   .src = { ISA_NONE, ISA_NONE, ISA_NONE } };
	if (insn->op == ISA_OPS)
		return ISA_UNKNOWN;
	row = &isa_rows[insn->op];
	insn->dst = ISA_VGPR + dst;
	if (!source(ISA_GFX1100, insn, 0, src0, 1, true))
		return ISA_OPERAND;
	if (!row->src[1])
		return ok(!src1);
	insn->src[1] = ISA_VGPR + src1;
	if (row->flags & ISA_CIN)
		insn->src[2] = ISA_VCC;
	if (row->flags & ISA_MK) {
		insn->src[2] = insn->src[1];
		insn->src[1] = ISA_LITERAL;
	}
	if (row->flags & ISA_AK)
		insn->src[2] = ISA_LITERAL;
	return ISA_OK;
}

static enum isa_reason decode_vopd(u32 lanes, const u32 *words, struct isa_insn insn[2])
{
	u32 w = words[0], w1 = words[1], x = BITS(w1, 31, 24);
	enum isa_reason r;

	if (lanes != 32)
		return ISA_OPERAND;
	if (BITS(w, 25, 22) == 15)
		return ISA_UNKNOWN;
	r = decode_half(insn, BITS(w, 25, 22), x, BITS(w, 8, 0), BITS(w, 16, 9));
	if (r)
		return r;
	/* one of the destinations is even, the other odd */
	return decode_half(insn + 1, BITS(w, 21, 17), BITS(w1, 23, 17) * 2 + !(x & 1), BITS(w1, 8, 0),
			   BITS(w1, 16, 9));
}

static enum isa_reason decode_long(enum isa_target target, u32 lanes, const u32 *words,
				   struct isa_insn insn[2])
{
	u32 w = words[0], generation = isa_generation(target), code;

	switch (BITS(w, 31, 26)) {
	case 0x30:
	case 0x3d:
		if (BITS(w, 31, 26) != (generation ? 0x3d : 0x30))
			return ISA_UNKNOWN;
		return find(target, ISA_SMEM, BITS(w, 25, 18), insn) ?
			       isa_decode_smem(target, words, insn) : ISA_UNKNOWN;
	case 0x34:
	case 0x35:
		if (BITS(w, 31, 26) != (generation ? 0x35 : 0x34))
			return ISA_UNKNOWN;
		return decode_vop3(target, lanes, words, insn);
	case 0x32:
		return generation == 2 ? decode_vopd(lanes, words, insn) : ISA_UNKNOWN;
	case 0x36:
		code = generation ? BITS(w, 25, 18) : BITS(w, 24, 17);
		return find(target, ISA_DS, code, insn) ? isa_decode_ds(target, words, insn) : ISA_UNKNOWN;
	case 0x37:
		return find(target, ISA_VMEM, BITS(w, 24, 18), insn) ?
			       isa_decode_flat(target, words, insn) : ISA_UNKNOWN;
	case 0x38:
		code = generation ? BITS(w, 25, 18) : BITS(w, 24, 18);
		if (!find(target, ISA_VMEM, code, insn) && !find(target, ISA_MUBUF, code, insn))
			return ISA_UNKNOWN;
		return isa_decode_mubuf(target, words, insn);
	}
	return ISA_UNKNOWN;
}

/* Does any source of it mean the dword that follows? */
static bool literal(const struct isa_insn *insn)
{
	return insn->src[0] == ISA_LITERAL || insn->src[1] == ISA_LITERAL ||
	       insn->src[2] == ISA_LITERAL || insn->sdst == ISA_LITERAL;
}

/**
 * isa_decode - decode one instruction
 * @target: whose
 * @lanes: of a wave, 64 or 32
 * @words: the code from the instruction on
 * @n: dwords that are there
 * @at: where it is, in dwords from the entry
 * @insn: filled; two of them with VOPD
 *
 * Return: ISA_OK, ISA_UNKNOWN, ISA_OPERAND, or ISA_TOO_LONG: @n is too small.
 */
enum isa_reason isa_decode(enum isa_target target, u32 lanes, const u32 *words, u32 n, u32 at,
			   struct isa_insn insn[2])
{
	u32 w, dwords = 1;
	enum isa_reason r;

	if (!n)
		return ISA_TOO_LONG;
	w = words[0];
	insn[0] = (struct isa_insn){ .dst = ISA_NONE, .sdst = ISA_NONE,
				     .src = { ISA_NONE, ISA_NONE, ISA_NONE } };
	insn[1] = insn[0];
	if (BITS(w, 31, 30) == 2) {
		r = decode_sop(target, w, at, insn);
	} else if (!(w >> 31)) {
		r = BITS(w, 30, 25) == 0x3e ? decode_vopc(target, w, insn) :
					      decode_vop12(target, w, insn);
	} else {
		dwords = 2;
		if (n < 2)
			return ISA_TOO_LONG;
		r = BITS(w, 31, 23) == 0x1a7 && !isa_generation(target) ?
			    decode_vop3p(target, words, insn) :
			    decode_long(target, lanes, words, insn);
	}
	if (r)
		return r;
	if (literal(insn) || (insn->format == ISA_VOPD && literal(insn + 1))) {
		/* which MUBUF cannot have */
		if (insn->format == ISA_MUBUF)
			return ISA_OPERAND;
		if (n <= dwords)
			return ISA_TOO_LONG;
		insn[0].literal = words[dwords];
		insn[1].literal = words[dwords];
		dwords++;
	}
	insn[0].dwords = dwords;
	return ISA_OK;
}
