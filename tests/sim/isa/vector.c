// SPDX-License-Identifier: GPL-2.0 OR MIT
/* kfdsim: vector instructions of 32 bits. Those of 64 bits, comparisons, carries: vector-wide.c */
#include "isa-int.h"

/**
 * isa_source - a source of a vector instruction, in each lane
 * @g: the group
 * @w: the wave
 * @insn: the instruction
 * @i: which source
 * @half: 1: the upper dword
 * @space: for what is no vector register or has a modifier, ISA_LANES dwords
 *
 * Return: its value in each lane.
 */
const u32 *isa_source(const struct isa_group *g, const struct isa_wave *w,
		      const struct isa_insn *insn, u32 i, u32 half, u32 *space)
{
	u32 code = insn->src[i], n = g->lanes, l, value, clear, flip;
	const u32 *v;

	if (code >= ISA_VGPR) {
		v = isa_vgpr(g, w, code + half);
		if (!(insn->neg | insn->abs))
			return v;
	} else {
		if (isa_rows[insn->op].src[i] == 2)
			value = (u32)(isa_scalar64(g, w, insn, code) >> 32 * half);
		else
			value = isa_scalar32(w, insn, code);
		for (l = 0; l < n; l++)
			space[l] = value;
		v = space;
	}
	clear = insn->abs >> i & 1 ? 1u << 31 : 0;
	flip = insn->neg >> i & 1 ? 1u << 31 : 0;
	if (!(clear | flip))
		return v;
	for (l = 0; l < n; l++)
		space[l] = (v[l] & ~clear) ^ flip;
	return space;
}

/* For each active lane; most often all are */
#define EACH(expr)								\
	do {									\
		if (exec == all) {						\
			for (l = 0; l < n; l++)					\
				d[l] = (expr);					\
		} else {							\
			for (l = 0; l < n; l++)					\
				if (exec >> l & 1)				\
					d[l] = (expr);				\
		}								\
	} while (0)

static u32 min3(u32 a, u32 b, u32 c)
{
	return a < b ? (a < c ? a : c) : (b < c ? b : c);
}

static u32 max3(u32 a, u32 b, u32 c)
{
	return a > b ? (a > c ? a : c) : (b > c ? b : c);
}

static u32 med3(u32 a, u32 b, u32 c)
{
	return a > b ? (c > a ? a : c > b ? c : b) : (c > b ? b : c > a ? c : a);
}

/* Signed numbers in the order of unsigned ones */
#define S(x)	((x) ^ 0x80000000u)

static u32 mask32(u32 bits)
{
	return (1u << (bits & 31)) - 1;
}

static u32 bfe_i32(u32 a, u32 offset, u32 width)
{
	u32 shifted = (u32)((s32)a >> (offset & 31));

	width &= 31;
	return width ? (u32)((s32)(shifted << (32 - width)) >> (32 - width)) : 0;
}

static s32 s24(u32 a)
{
	return (s32)(a << 8) >> 8;
}

static u32 u24(u32 a)
{
	return a & 0xffffff;
}

static u32 perm(u32 a, u32 b, u32 select)
{
	u64 bytes = (u64)a << 32 | b;
	u32 d = 0, i, k, byte;

	for (i = 0; i < 4; i++) {
		k = select >> 8 * i & 0xff;
		if (k < 8)
			byte = (u32)(bytes >> 8 * k) & 0xff;
		else if (k < 12)
			byte = bytes >> (15 + 16 * (k - 8)) & 1 ? 0xff : 0;
		else
			byte = k == 12 ? 0 : 0xff;
		d |= byte << 8 * i;
	}
	return d;
}

static u32 first_other(u32 a)
{
	a = (s32)a < 0 ? ~a : a;
	return a ? (u32)__builtin_clz(a) : ~0u;
}

static u32 reverse(u32 a)
{
	u32 d = 0, i;

	for (i = 0; i < 32; i++)
		d |= (a >> i & 1) << (31 - i);
	return d;
}

/* Lanes below this one */
static u64 below(u32 lane)
{
	return (1ULL << lane) - 1;
}

/* One source; false: it is another instruction */
static bool one(const struct isa_group *g, const struct isa_insn *insn, u64 exec, u64 all, u32 *d,
		const u32 *a)
{
	u32 n = g->lanes, l;

	switch (insn->op) {
	case OP_v_mov_b32:
		EACH(a[l]);
		return true;
	case OP_v_cvt_f32_i32:
		EACH(isa_from_int(a[l], true));
		return true;
	case OP_v_cvt_f32_u32:
		EACH(isa_from_int(a[l], false));
		return true;
	case OP_v_cvt_u32_f32:
		EACH(isa_to_int(a[l], false));
		return true;
	case OP_v_cvt_i32_f32:
		EACH(isa_to_int(a[l], true));
		return true;
	case OP_v_rcp_f32:
	case OP_v_rcp_iflag_f32:
		EACH(isa_frcp(a[l], g->denormals));
		return true;
	case OP_v_not_b32:
		EACH(~a[l]);
		return true;
	case OP_v_bfrev_b32:
		EACH(reverse(a[l]));
		return true;
	case OP_v_ffbh_u32:
		EACH(a[l] ? (u32)__builtin_clz(a[l]) : ~0u);
		return true;
	case OP_v_ffbl_b32:
		EACH(a[l] ? (u32)__builtin_ctz(a[l]) : ~0u);
		return true;
	case OP_v_ffbh_i32:
		EACH(first_other(a[l]));
		return true;
	}
	return false;
}

/* Two sources */
static bool two(const struct isa_group *g, const struct isa_insn *insn, u64 exec, u64 all, u32 *d,
		const u32 *a, const u32 *b)
{
	u32 n = g->lanes, l;

	switch (insn->op) {
	case OP_v_add_f32:
		EACH(isa_fadd(a[l], b[l], g->denormals));
		return true;
	case OP_v_sub_f32:
		EACH(isa_fadd(a[l], S(b[l]), g->denormals));
		return true;
	case OP_v_subrev_f32:
		EACH(isa_fadd(b[l], S(a[l]), g->denormals));
		return true;
	case OP_v_mul_f32:
		EACH(isa_fmul(a[l], b[l], g->denormals));
		return true;
	case OP_v_mul_i32_i24:
		EACH((u32)s24(a[l]) * (u32)s24(b[l]));
		return true;
	case OP_v_mul_hi_i32_i24:
		EACH((u32)((u64)((s64)s24(a[l]) * s24(b[l])) >> 32));
		return true;
	case OP_v_mul_u32_u24:
		EACH(u24(a[l]) * u24(b[l]));
		return true;
	case OP_v_mul_hi_u32_u24:
		EACH((u32)((u64)u24(a[l]) * u24(b[l]) >> 32));
		return true;
	case OP_v_min_i32:
		EACH(S(a[l]) < S(b[l]) ? a[l] : b[l]);
		return true;
	case OP_v_max_i32:
		EACH(S(a[l]) > S(b[l]) ? a[l] : b[l]);
		return true;
	case OP_v_min_u32:
		EACH(a[l] < b[l] ? a[l] : b[l]);
		return true;
	case OP_v_max_u32:
		EACH(a[l] > b[l] ? a[l] : b[l]);
		return true;
	case OP_v_lshrrev_b32:
		EACH(b[l] >> (a[l] & 31));
		return true;
	case OP_v_ashrrev_i32:
		EACH((u32)((s32)b[l] >> (a[l] & 31)));
		return true;
	case OP_v_lshlrev_b32:
		EACH(b[l] << (a[l] & 31));
		return true;
	case OP_v_and_b32:
		EACH(a[l] & b[l]);
		return true;
	case OP_v_or_b32:
		EACH(a[l] | b[l]);
		return true;
	case OP_v_xor_b32:
		EACH(a[l] ^ b[l]);
		return true;
	case OP_v_xnor_b32:
		EACH(~(a[l] ^ b[l]));
		return true;
	case OP_v_add_u32:
	case OP_v_add_i32:
		EACH(a[l] + b[l]);
		return true;
	case OP_v_sub_u32:
	case OP_v_sub_i32:
		EACH(a[l] - b[l]);
		return true;
	case OP_v_subrev_u32:
		EACH(b[l] - a[l]);
		return true;
	case OP_v_mul_lo_u32:
		EACH(a[l] * b[l]);
		return true;
	case OP_v_mul_hi_u32:
		EACH((u32)((u64)a[l] * b[l] >> 32));
		return true;
	case OP_v_mul_hi_i32:
		EACH((u32)((u64)((s64)(s32)a[l] * (s32)b[l]) >> 32));
		return true;
	case OP_v_bcnt_u32_b32:
		EACH(isa_count(a[l]) + b[l]);
		return true;
	case OP_v_mbcnt_lo_u32_b32:
		EACH(isa_count(a[l] & (u32)below(l)) + b[l]);
		return true;
	case OP_v_mbcnt_hi_u32_b32:
		EACH(isa_count(a[l] & (u32)(below(l) >> 32)) + b[l]);
		return true;
	case OP_v_bfm_b32:
		EACH(mask32(a[l]) << (b[l] & 31));
		return true;
	}
	return false;
}

/* Three sources */
static bool three(const struct isa_group *g, const struct isa_insn *insn, u64 exec, u64 all, u32 *d,
		  const u32 *a, const u32 *b, const u32 *c)
{
	u32 n = g->lanes, l;

	switch (insn->op) {
	case OP_v_fma_f32:
	case OP_v_fmac_f32:
	case OP_v_fmamk_f32:
	case OP_v_fmaak_f32:
		EACH(isa_fma(a[l], b[l], c[l], g->denormals));
		return true;
	case OP_v_mad_i32_i24:
		EACH((u32)s24(a[l]) * (u32)s24(b[l]) + c[l]);
		return true;
	case OP_v_mad_u32_u24:
		EACH(u24(a[l]) * u24(b[l]) + c[l]);
		return true;
	case OP_v_bfe_u32:
		EACH(a[l] >> (b[l] & 31) & mask32(c[l]));
		return true;
	case OP_v_bfe_i32:
		EACH(bfe_i32(a[l], b[l], c[l]));
		return true;
	case OP_v_bfi_b32:
		EACH((a[l] & b[l]) | (~a[l] & c[l]));
		return true;
	case OP_v_alignbit_b32:
		EACH((u32)(((u64)a[l] << 32 | b[l]) >> (c[l] & 31)));
		return true;
	case OP_v_alignbyte_b32:
		EACH((u32)(((u64)a[l] << 32 | b[l]) >> 8 * (c[l] & 3)));
		return true;
	case OP_v_min3_i32:
		EACH(S(min3(S(a[l]), S(b[l]), S(c[l]))));
		return true;
	case OP_v_min3_u32:
		EACH(min3(a[l], b[l], c[l]));
		return true;
	case OP_v_max3_i32:
		EACH(S(max3(S(a[l]), S(b[l]), S(c[l]))));
		return true;
	case OP_v_max3_u32:
		EACH(max3(a[l], b[l], c[l]));
		return true;
	case OP_v_med3_i32:
		EACH(S(med3(S(a[l]), S(b[l]), S(c[l]))));
		return true;
	case OP_v_med3_u32:
		EACH(med3(a[l], b[l], c[l]));
		return true;
	case OP_v_sad_u32:
		EACH((a[l] > b[l] ? a[l] - b[l] : b[l] - a[l]) + c[l]);
		return true;
	case OP_v_lshl_add_u32:
		EACH((a[l] << (b[l] & 31)) + c[l]);
		return true;
	case OP_v_add_lshl_u32:
		EACH((a[l] + b[l]) << (c[l] & 31));
		return true;
	case OP_v_add3_u32:
		EACH(a[l] + b[l] + c[l]);
		return true;
	case OP_v_lshl_or_b32:
		EACH(a[l] << (b[l] & 31) | c[l]);
		return true;
	case OP_v_and_or_b32:
		EACH((a[l] & b[l]) | c[l]);
		return true;
	case OP_v_or3_b32:
		EACH(a[l] | b[l] | c[l]);
		return true;
	case OP_v_xad_u32:
		EACH((a[l] ^ b[l]) + c[l]);
		return true;
	case OP_v_xor3_b32:
		EACH(a[l] ^ b[l] ^ c[l]);
		return true;
	case OP_v_perm_b32:
		EACH(perm(a[l], b[l], c[l]));
		return true;
	}
	return false;
}

/* @d: where the result goes, which may be a source */
static void execute(const struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn,
		    u64 exec, u64 all, u32 *d)
{
	const struct isa_row *row = &isa_rows[insn->op];
	u32 space[3][ISA_LANES], n = g->lanes, l;
	const u32 *a, *b, *c = NULL;
	u64 mask;

	a = isa_source(g, w, insn, 0, 0, space[0]);
	if (!row->src[1]) {
		one(g, insn, exec, all, d, a);
		return;
	}
	b = isa_source(g, w, insn, 1, 0, space[1]);
	if (insn->op == OP_v_cndmask_b32) {
		mask = isa_lanes_mask(g, w, insn, insn->src[2]);
		EACH(mask >> l & 1 ? b[l] : a[l]);
		return;
	}
	if (row->flags & ISA_COUT) {
		isa_carry(g, w, insn, exec, d, a, b);
		return;
	}
	if (row->flags & ISA_ACC)
		c = isa_vgpr(g, w, insn->dst);
	else if (insn->src[2] != ISA_NONE)
		c = isa_source(g, w, insn, 2, 0, space[2]);
	if (c)
		three(g, insn, exec, all, d, a, b, c);
	else
		two(g, insn, exec, all, d, a, b);
}

/**
 * isa_vector - execute a vector instruction
 * @g: the group
 * @w: the wave
 * @insn: the instruction
 */
void isa_vector(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn)
{
	const struct isa_row *row = &isa_rows[insn->op];
	u64 exec = isa_exec(g, w), all = g->lanes == 64 ? ~0ULL : ~0u;

	if (row->flags & ISA_BARE)
		return;
	if (row->flags & ISA_CMP) {
		isa_compare(g, w, insn);
		return;
	}
	if (row->flags & (ISA_SDST | ISA_WLANE)) {
		isa_lane(g, w, insn, exec);
		return;
	}
	if (!exec && !(row->flags & ISA_COUT))
		return;
	if (row->dst == 2)
		isa_vector_wide(g, w, insn);
	else
		execute(g, w, insn, exec, all, isa_vgpr(g, w, insn->dst));
}

/**
 * isa_dual - execute VOPD: both halves read before either writes
 * @g: the group
 * @w: the wave
 * @insn: the first half; the second is behind it
 */
void isa_dual(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn)
{
	u64 exec = isa_exec(g, w);
	u32 space[ISA_LANES], n = g->lanes, l, *d = isa_vgpr(g, w, insn->dst);

	if (!exec)
		return;
	execute(g, w, insn, exec, ~0u, space);
	execute(g, w, insn + 1, exec, ~0u, isa_vgpr(g, w, insn[1].dst));
	for (l = 0; l < n; l++)
		if (exec >> l & 1)
			d[l] = space[l];
}
