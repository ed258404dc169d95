// SPDX-License-Identifier: GPL-2.0 OR MIT
/* kfdsim: scalar instructions of two sources and a destination: SOP2 */
#include "isa-int.h"

static u64 mask(u32 bits)
{
	return bits > 63 ? ~0ULL : (1ULL << bits) - 1;
}

static u64 sign_extend(u64 value, u32 bits)
{
	return !bits ? 0 : bits > 63 ? value : (u64)((s64)(value << (64 - bits)) >> (64 - bits));
}

static void sop2_wide(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn)
{
	const struct isa_row *row = &isa_rows[insn->op];
	u64 a = row->src[0] == 2 ? isa_scalar64(g, w, insn, insn->src[0]) :
				   isa_scalar32(w, insn, insn->src[0]);
	u64 b = row->src[1] == 2 ? isa_scalar64(g, w, insn, insn->src[1]) :
				   isa_scalar32(w, insn, insn->src[1]);
	u32 width = b >> 16 & 0x7f;
	u64 d;

	switch (insn->op) {
	case OP_s_cselect_b64:
		isa_write64(w, insn->dst, w->scc ? a : b);
		return;
	case OP_s_bfm_b64:
		isa_write64(w, insn->dst, mask(a & 63) << (b & 63));
		return;
	case OP_s_and_b64:
		d = a & b;
		break;
	case OP_s_or_b64:
		d = a | b;
		break;
	case OP_s_xor_b64:
		d = a ^ b;
		break;
	case OP_s_andn2_b64:
		d = a & ~b;
		break;
	case OP_s_orn2_b64:
		d = a | ~b;
		break;
	case OP_s_nand_b64:
		d = ~(a & b);
		break;
	case OP_s_nor_b64:
		d = ~(a | b);
		break;
	case OP_s_xnor_b64:
		d = ~(a ^ b);
		break;
	case OP_s_lshl_b64:
		d = a << (b & 63);
		break;
	case OP_s_lshr_b64:
		d = a >> (b & 63);
		break;
	case OP_s_ashr_i64:
		d = (u64)((s64)a >> (b & 63));
		break;
	case OP_s_bfe_u64:
		d = a >> (b & 63) & mask(width);
		break;
	default: /* s_bfe_i64 */
		d = sign_extend((u64)((s64)a >> (b & 63)), width);
	}
	isa_write64(w, insn->dst, d);
	w->scc = d != 0;
}

/**
 * isa_scalar_two - execute a scalar instruction of two sources and a destination
 * @g: the group
 * @w: the wave
 * @insn: the instruction
 */
void isa_scalar_two(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn)
{
	u32 a, b, d, width, scc = w->scc;
	u64 wide;

	if (isa_rows[insn->op].dst == 2) {
		sop2_wide(g, w, insn);
		return;
	}
	a = isa_scalar32(w, insn, insn->src[0]);
	b = isa_scalar32(w, insn, insn->src[1]);
	width = b >> 16 & 0x7f;
	switch (insn->op) {
	case OP_s_add_u32:
	case OP_s_addc_u32:
		wide = (u64)a + b + (insn->op == OP_s_addc_u32 ? w->scc : 0);
		d = (u32)wide;
		scc = wide >> 32;
		break;
	case OP_s_sub_u32:
	case OP_s_subb_u32:
		wide = (u64)a - b - (insn->op == OP_s_subb_u32 ? w->scc : 0);
		d = (u32)wide;
		scc = wide >> 63;
		break;
	case OP_s_add_i32:
		d = a + b;
		scc = isa_overflow(a, b, d);
		break;
	case OP_s_sub_i32:
		d = a - b;
		scc = isa_overflow(a, ~b, d);
		break;
	case OP_s_min_i32:
		scc = (s32)a < (s32)b;
		d = scc ? a : b;
		break;
	case OP_s_min_u32:
		scc = a < b;
		d = scc ? a : b;
		break;
	case OP_s_max_i32:
		scc = (s32)a > (s32)b;
		d = scc ? a : b;
		break;
	case OP_s_max_u32:
		scc = a > b;
		d = scc ? a : b;
		break;
	case OP_s_cselect_b32:
		d = w->scc ? a : b;
		break;
	case OP_s_and_b32:
		d = a & b;
		scc = d != 0;
		break;
	case OP_s_or_b32:
		d = a | b;
		scc = d != 0;
		break;
	case OP_s_xor_b32:
		d = a ^ b;
		scc = d != 0;
		break;
	case OP_s_andn2_b32:
		d = a & ~b;
		scc = d != 0;
		break;
	case OP_s_orn2_b32:
		d = a | ~b;
		scc = d != 0;
		break;
	case OP_s_nand_b32:
		d = ~(a & b);
		scc = d != 0;
		break;
	case OP_s_nor_b32:
		d = ~(a | b);
		scc = d != 0;
		break;
	case OP_s_xnor_b32:
		d = ~(a ^ b);
		scc = d != 0;
		break;
	case OP_s_lshl_b32:
		d = a << (b & 31);
		scc = d != 0;
		break;
	case OP_s_lshr_b32:
		d = a >> (b & 31);
		scc = d != 0;
		break;
	case OP_s_ashr_i32:
		d = (u32)((s32)a >> (b & 31));
		scc = d != 0;
		break;
	case OP_s_bfm_b32:
		d = (u32)mask(a & 31) << (b & 31);
		break;
	case OP_s_mul_i32:
		d = a * b;
		break;
	case OP_s_bfe_u32:
		d = a >> (b & 31) & (u32)mask(width);
		scc = d != 0;
		break;
	case OP_s_bfe_i32:
		d = (u32)sign_extend((u64)(s64)((s32)a >> (b & 31)), width);
		scc = d != 0;
		break;
	case OP_s_absdiff_i32:
		d = a - b;
		d = (s32)d < 0 ? -d : d;
		scc = d != 0;
		break;
	case OP_s_mul_hi_u32:
		d = (u32)((u64)a * b >> 32);
		break;
	case OP_s_mul_hi_i32:
		d = (u32)((u64)((s64)(s32)a * (s32)b) >> 32);
		break;
	case OP_s_lshl1_add_u32:
	case OP_s_lshl2_add_u32:
	case OP_s_lshl3_add_u32:
	case OP_s_lshl4_add_u32:
		wide = ((u64)a << (insn->op - OP_s_lshl1_add_u32 + 1)) + b;
		d = (u32)wide;
		scc = wide >> 32 != 0;
		break;
	case OP_s_pack_ll_b32_b16:
		d = (a & 0xffff) | b << 16;
		break;
	case OP_s_pack_lh_b32_b16:
		d = (a & 0xffff) | (b & 0xffff0000);
		break;
	default: /* s_pack_hh_b32_b16 */
		d = a >> 16 | (b & 0xffff0000);
	}
	isa_write32(w, insn->dst, d);
	w->scc = scc;
}
