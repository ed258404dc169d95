// SPDX-License-Identifier: GPL-2.0 OR MIT
/* kfdsim: vector instructions of 64 bits, comparisons, carries, moves between lanes and scalar registers */
#include "isa-int.h"

/* A source of one or two dwords in each lane */
struct wide {
	const u32 *low, *high;
	u32 space[2][ISA_LANES];
};

static void fetch(const struct isa_group *g, const struct isa_wave *w, const struct isa_insn *insn,
		  u32 i, struct wide *x)
{
	u32 width = isa_rows[insn->op].src[i];

	/* cppcheck-suppress uninitvar; it is where the values go */
	x->low = width ? isa_source(g, w, insn, i, 0, x->space[0]) : NULL;
	x->high = width == 2 ? isa_source(g, w, insn, i, 1, x->space[1]) : NULL;
}

static u64 value(const struct wide *x, u32 l)
{
	return (x->low ? x->low[l] : 0) | (x->high ? (u64)x->high[l] << 32 : 0);
}

/* a * b + c; *out: what is lost above 64 bits */
static u64 mad(u32 a, u32 b, u64 c, bool is_signed, u64 *out)
{
	u64 product = is_signed ? (u64)((s64)(s32)a * (s32)b) : (u64)a * b, sum = product + c;

	/* signed: an overflow of the sum */
	*out = is_signed ? (~(product ^ c) & (product ^ sum)) >> 63 : sum < product;
	return sum;
}

/**
 * isa_vector_wide - execute a vector instruction whose result is 64 bits
 * @g: the group
 * @w: the wave
 * @insn: the instruction
 *
 * Return: whether it is one.
 */
bool isa_vector_wide(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn)
{
	u32 *low = isa_vgpr(g, w, insn->dst), *high = isa_vgpr(g, w, insn->dst + 1), l;
	u64 exec = isa_exec(g, w), d, out = 0, bit;
	struct wide a, b, c;

	fetch(g, w, insn, 0, &a);
	fetch(g, w, insn, 1, &b);
	fetch(g, w, insn, 2, &c);
	for (l = 0; l < g->lanes; l++) {
		if (!(exec >> l & 1))
			continue;
		switch (insn->op) {
		case OP_v_mov_b64:
			d = value(&a, l);
			break;
		case OP_v_lshlrev_b64:
			d = value(&b, l) << (a.low[l] & 63);
			break;
		case OP_v_lshrrev_b64:
			d = value(&b, l) >> (a.low[l] & 63);
			break;
		case OP_v_ashrrev_i64:
			d = (u64)((s64)value(&b, l) >> (a.low[l] & 63));
			break;
		case OP_v_lshl_add_u64:
			d = (value(&a, l) << (b.low[l] & 7)) + value(&c, l);
			break;
		case OP_v_mad_u64_u32:
		case OP_v_mad_i64_i32:
			d = mad(a.low[l], b.low[l], value(&c, l), insn->op == OP_v_mad_i64_i32, &bit);
			out |= bit << l;
			break;
		case OP_v_pk_mov_b32:
			d = (u32)(value(&a, l) >> (insn->mods & ISA_OPSEL_0 ? 32 : 0)) |
			    (value(&b, l) >> (insn->mods & ISA_OPSEL_1 ? 32 : 0)) << 32;
			break;
		default:
			return false;
		}
		low[l] = (u32)d;
		high[l] = (u32)(d >> 32);
	}
	if (isa_rows[insn->op].flags & ISA_COUT)
		isa_write_lanes(g, w, insn->sdst, out);
	return true;
}

/* Rows of VOPC come in pairs: v_cmp_, v_cmpx_; of integers in this order: lt eq le gt ne ge */
static const u8 integers[] = {
	ISA_LT, ISA_EQ, ISA_LT | ISA_EQ, ISA_GT, ISA_LT | ISA_GT, ISA_GT | ISA_EQ,
};

/* of f32: lt eq le gt lg ge o u nge nlg ngt nle neq nlt; what is unordered */
#define UNORDERED	8

static const u8 floats[] = {
	ISA_LT, ISA_EQ, ISA_LT | ISA_EQ, ISA_GT, ISA_LT | ISA_GT, ISA_GT | ISA_EQ,
	ISA_LT | ISA_EQ | ISA_GT, UNORDERED,
	UNORDERED | ISA_LT, UNORDERED | ISA_EQ, UNORDERED | ISA_LT | ISA_EQ, UNORDERED | ISA_GT,
	UNORDERED | ISA_LT | ISA_GT, UNORDERED | ISA_GT | ISA_EQ,
};

/**
 * isa_compare - execute a comparison
 * @g: the group
 * @w: the wave
 * @insn: the instruction
 *
 * Lanes that are not active have a result of 0.
 */
void isa_compare(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn)
{
	const struct isa_row *row = &isa_rows[insn->op];
	bool is_float = row->flags & ISA_FLOAT_OPS;
	bool is_signed = !is_float && insn->op < OP_v_cmp_lt_i64 ? insn->op < OP_v_cmp_lt_u32 :
			 insn->op < OP_v_cmp_lt_u64;
	u32 first = is_float ? OP_v_cmp_lt_f32 : row->src[0] == 2 ?
		    (is_signed ? OP_v_cmp_lt_i64 : OP_v_cmp_lt_u64) :
		    (is_signed ? OP_v_cmp_lt_i32 : OP_v_cmp_lt_u32);
	u32 want = (is_float ? floats : integers)[(insn->op - first) / 2], is, l;
	u64 exec = isa_exec(g, w), result = 0, x, y;
	struct wide a, b;

	fetch(g, w, insn, 0, &a);
	fetch(g, w, insn, 1, &b);
	for (l = 0; l < g->lanes; l++) {
		if (!(exec >> l & 1))
			continue;
		x = value(&a, l);
		y = value(&b, l);
		if (is_float) {
			is = isa_fcmp((u32)x, (u32)y, g->denormals);
			is = is ? is : UNORDERED;
		} else {
			if (is_signed) {	/* in the order of unsigned ones */
				x ^= 1ULL << (row->src[0] == 2 ? 63 : 31);
				y ^= 1ULL << (row->src[0] == 2 ? 63 : 31);
			}
			is = x < y ? ISA_LT : x > y ? ISA_GT : ISA_EQ;
		}
		result |= (u64)!!(is & want) << l;
	}
	if (insn->sdst != ISA_NONE)
		isa_write_lanes(g, w, insn->sdst, result);
	if (row->flags & ISA_CMPX)
		isa_write_lanes(g, w, ISA_EXEC, result);
}

/**
 * isa_lanes_mask - a scalar source that has a bit for each lane
 * @g: the group
 * @w: the wave
 * @insn: the instruction
 * @code: the source
 */
u64 isa_lanes_mask(const struct isa_group *g, const struct isa_wave *w,
		   const struct isa_insn *insn, u32 code)
{
	return g->lanes == 64 ? isa_scalar64(g, w, insn, code) : isa_scalar32(w, insn, code);
}

/**
 * isa_carry - execute a sum or difference with a carry for each lane
 * @g: the group
 * @w: the wave
 * @insn: the instruction
 * @exec: lanes that are active
 * @d: the result, which may be a source
 * @a: first source
 * @b: second source
 */
void isa_carry(const struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn,
	       u64 exec, u32 *d, const u32 *a, const u32 *b)
{
	bool in = isa_rows[insn->op].flags & ISA_CIN, add = false, swap = false;
	u64 mask = in ? isa_lanes_mask(g, w, insn, insn->src[2]) : 0, out = 0, sum;
	u32 l;

	switch (insn->op) {
	case OP_v_add_co_u32:
	case OP_v_add_co_u32_e64:
	case OP_v_addc_co_u32:
		add = true;
		break;
	case OP_v_subrev_co_u32:
	case OP_v_subrev_co_u32_e64:
	case OP_v_subbrev_co_u32:
		swap = true;
		break;
	}
	for (l = 0; l < g->lanes; l++) {
		if (!(exec >> l & 1))
			continue;
		if (add)
			sum = (u64)a[l] + b[l] + (mask >> l & 1);
		else
			sum = (u64)(swap ? b : a)[l] - (swap ? a : b)[l] - (mask >> l & 1);
		d[l] = (u32)sum;
		out |= (u64)(sum >> 32 & 1) << l;
	}
	isa_write_lanes(g, w, insn->sdst, out);
}

/**
 * isa_lane - execute a move between a lane and a scalar register
 * @g: the group
 * @w: the wave
 * @insn: the instruction
 * @exec: lanes that are active
 *
 * Return: whether it is one.
 */
bool isa_lane(const struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn, u64 exec)
{
	const u32 *v = isa_vgpr(g, w, insn->src[0] >= ISA_VGPR ? insn->src[0] : ISA_VGPR);

	switch (insn->op) {
	case OP_v_readfirstlane_b32:
		isa_write32(w, insn->dst, v[exec ? (u32)__builtin_ctzll(exec) : 0]);
		return true;
	case OP_v_readlane_b32:
		isa_write32(w, insn->dst,
			    v[isa_scalar32(w, insn, insn->src[1]) & (g->lanes - 1)]);
		return true;
	case OP_v_writelane_b32:
		isa_vgpr(g, w, insn->dst)[isa_scalar32(w, insn, insn->src[1]) & (g->lanes - 1)] =
			isa_scalar32(w, insn, insn->src[0]);
		return true;
	}
	return false;
}
