// SPDX-License-Identifier: GPL-2.0 OR MIT
/* kfdsim: scalar instructions but loads */
#include "isa-int.h"

/**
 * isa_scalar32 - a scalar operand of one dword
 * @w: the wave
 * @insn: for its literal
 * @code: the operand
 */
u32 isa_scalar32(const struct isa_wave *w, const struct isa_insn *insn, u32 code)
{
	static const u32 floats[] = {
		0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000, 0xc0000000, 0x40800000,
		0xc0800000, 0x3e22f983,
	};

	if (code < ISA_SGPRS)
		return code == ISA_NULL ? 0 : w->s[code];
	if (code < ISA_INT_N1)
		return code - ISA_INT_0;
	if (code < ISA_FLOAT)
		return ISA_INT_N1 - 1 - code;
	return code == ISA_LITERAL ? insn->literal : floats[code - ISA_FLOAT];
}

/**
 * isa_scalar64 - a scalar operand of two dwords
 * @g: the group
 * @w: the wave
 * @insn: for its literal, which is extended by 0
 * @code: the operand
 */
u64 isa_scalar64(const struct isa_group *g, const struct isa_wave *w, const struct isa_insn *insn,
		 u32 code)
{
	static const u64 floats[] = {
		0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000, 0xbff0000000000000,
		0x4000000000000000, 0xc000000000000000, 0x4010000000000000, 0xc010000000000000,
		0x3fc45f306dc9c882,
	};

	/* no pair begins with the last one */
	if (code == ISA_SGPRS - 1)
		return w->s[code];
	if (code < ISA_SGPRS)
		return code == ISA_NULL ? 0 : w->s[code] | (u64)w->s[code + 1] << 32;
	if (code < ISA_INT_N1)
		return code - ISA_INT_0;
	if (code == ISA_SHARED_BASE)
		return (u64)g->shared_base << 32;
	if (code < ISA_FLOAT)
		return (u64)((s64)ISA_INT_N1 - 1 - code);
	return code == ISA_LITERAL ? insn->literal : floats[code - ISA_FLOAT];
}

static u64 mask(u32 bits)
{
	return bits > 63 ? ~0ULL : (1ULL << bits) - 1;
}

/* The first bit from the left that differs from the sign; -1: none */
static u32 first_other(u64 a, u32 bits)
{
	u64 other = a >> (bits - 1) & 1 ? ~a & mask(bits) : a;

	return other ? (u32)__builtin_clzll(other) - (64 - bits) : ~0u;
}

static u64 reverse(u64 a)
{
	u64 d = 0;
	u32 i;

	for (i = 0; i < 64; i++)
		d |= (a >> i & 1) << (63 - i);
	return d;
}

/* EXEC as an operand and result: s_*_saveexec_* */
static void saveexec(struct isa_wave *w, const struct isa_insn *insn, u64 a, bool wide, u32 kind)
{
	u64 exec = w->s[ISA_EXEC] | (wide ? (u64)w->s[ISA_EXEC + 1] << 32 : 0), d;

	switch (kind) {
	case 0:
		d = a & exec;
		break;
	case 1:
		d = a | exec;
		break;
	case 2:
		d = a ^ exec;
		break;
	case 3:
		d = a & ~exec;
		break;
	case 4:
		d = a | ~exec;
		break;
	case 5:
		d = ~(a & exec);
		break;
	case 6:
		d = ~(a | exec);
		break;
	default:
		d = ~(a ^ exec);
	}
	if (wide) {
		isa_write64(w, insn->dst, exec);
		isa_write64(w, ISA_EXEC, d);
		w->scc = d != 0;
	} else {
		isa_write32(w, insn->dst, (u32)exec);
		isa_write32(w, ISA_EXEC, (u32)d);
		w->scc = (u32)d != 0;
	}
}

static void sop1(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn)
{
	const struct isa_row *row = &isa_rows[insn->op];
	bool wide = row->src[0] == 2;
	u64 a = 0, d, ones;

	if (row->src[0])
		a = wide ? isa_scalar64(g, w, insn, insn->src[0]) :
			   isa_scalar32(w, insn, insn->src[0]);
	ones = wide ? ~0ULL : ~0u;
	switch (insn->op) {
	case OP_s_mov_b32:
	case OP_s_mov_b64:
		d = a;
		break;
	case OP_s_cmov_b32:
	case OP_s_cmov_b64:
		if (!w->scc)
			return;
		d = a;
		break;
	case OP_s_not_b32:
	case OP_s_not_b64:
		d = ~a & ones;
		w->scc = d != 0;
		break;
	case OP_s_brev_b32:
		d = reverse(a) >> 32;
		break;
	case OP_s_brev_b64:
		d = reverse(a);
		break;
	case OP_s_bcnt0_i32_b32:
	case OP_s_bcnt0_i32_b64:
		d = isa_count(~a & ones);
		w->scc = d != 0;
		break;
	case OP_s_bcnt1_i32_b32:
	case OP_s_bcnt1_i32_b64:
		d = isa_count(a);
		w->scc = d != 0;
		break;
	case OP_s_ff0_i32_b32:
	case OP_s_ff0_i32_b64:
		d = ~a & ones ? (u32)__builtin_ctzll(~a) : ~0u;
		break;
	case OP_s_ff1_i32_b32:
	case OP_s_ff1_i32_b64:
		d = a ? (u32)__builtin_ctzll(a) : ~0u;
		break;
	case OP_s_flbit_i32_b32:
		d = a ? (u32)__builtin_clzll(a) - 32 : ~0u;
		break;
	case OP_s_flbit_i32_b64:
		d = a ? (u32)__builtin_clzll(a) : ~0u;
		break;
	case OP_s_flbit_i32:
	case OP_s_flbit_i32_i64:
		d = first_other(a, wide ? 64 : 32);
		break;
	case OP_s_sext_i32_i8:
		d = (u32)(s8)a;
		break;
	case OP_s_sext_i32_i16:
		d = (u32)(s16)a;
		break;
	case OP_s_bitset0_b32:
		d = isa_scalar32(w, insn, insn->dst) & ~(1u << (a & 31));
		break;
	case OP_s_bitset1_b32:
		d = isa_scalar32(w, insn, insn->dst) | 1u << (a & 31);
		break;
	case OP_s_bitset0_b64:
		d = isa_scalar64(g, w, insn, insn->dst) & ~(1ULL << (a & 63));
		break;
	case OP_s_bitset1_b64:
		d = isa_scalar64(g, w, insn, insn->dst) | 1ULL << (a & 63);
		break;
	case OP_s_getpc_b64:
		d = g->prog->entry + 4ULL * w->pc;
		break;
	case OP_s_abs_i32:
		d = (s32)a < 0 ? -(u32)a : (u32)a;
		w->scc = d != 0;
		break;
	default:
		saveexec(w, insn, a, wide, insn->op - (wide ? OP_s_and_saveexec_b64 : OP_s_and_saveexec_b32));
		return;
	}
	if (row->dst == 2)
		isa_write64(w, insn->dst, d);
	else
		isa_write32(w, insn->dst, (u32)d);
}

/* Comparisons in the order of SOPC's rows: eq lg gt ge lt le */
static bool compare(s64 a, s64 b, u32 kind)
{
	switch (kind) {
	case 0:
		return a == b;
	case 1:
		return a != b;
	case 2:
		return a > b;
	case 3:
		return a >= b;
	case 4:
		return a < b;
	default:
		return a <= b;
	}
}

static void sopc(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn)
{
	bool wide = isa_rows[insn->op].src[0] == 2;
	u64 a = wide ? isa_scalar64(g, w, insn, insn->src[0]) : isa_scalar32(w, insn, insn->src[0]);
	u32 b = isa_scalar32(w, insn, insn->src[1]);

	switch (insn->op) {
	case OP_s_bitcmp0_b32:
	case OP_s_bitcmp1_b32:
		w->scc = (a >> (b & 31) & 1) == (insn->op == OP_s_bitcmp1_b32);
		return;
	case OP_s_bitcmp0_b64:
	case OP_s_bitcmp1_b64:
		w->scc = (a >> (b & 63) & 1) == (insn->op == OP_s_bitcmp1_b64);
		return;
	case OP_s_cmp_eq_u64:
	case OP_s_cmp_lg_u64:
		w->scc = (a == isa_scalar64(g, w, insn, insn->src[1])) == (insn->op == OP_s_cmp_eq_u64);
		return;
	}
	if (insn->op < OP_s_cmp_eq_u32)
		w->scc = compare((s32)a, (s32)b, insn->op - OP_s_cmp_eq_i32);
	else
		w->scc = compare((u32)a, b, insn->op - OP_s_cmp_eq_u32);
}

static void sopk(struct isa_wave *w, const struct isa_insn *insn)
{
	u32 a, d;

	if (isa_rows[insn->op].flags & ISA_WAIT)
		return;
	a = isa_scalar32(w, insn, insn->op >= OP_s_cmpk_eq_i32 && insn->op <= OP_s_cmpk_le_u32 ?
				  insn->src[0] : insn->dst);
	switch (insn->op) {
	case OP_s_cmovk_i32:
		if (!w->scc)
			return;
		fallthrough;
	case OP_s_movk_i32:
		d = (u32)insn->imm;
		break;
	case OP_s_addk_i32:
		d = a + (u32)insn->imm;
		w->scc = isa_overflow(a, (u32)insn->imm, d);
		break;
	case OP_s_mulk_i32:
		d = a * (u32)insn->imm;
		break;
	default:
		if (insn->op < OP_s_cmpk_eq_u32)
			w->scc = compare((s32)a, insn->imm, insn->op - OP_s_cmpk_eq_i32);
		else
			w->scc = compare(a, (u16)insn->imm, insn->op - OP_s_cmpk_eq_u32);
		return;
	}
	isa_write32(w, insn->dst, d);
}

/* The registers of the hardware that the decoder accepts */
static void hwreg(const struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn)
{
	if (insn->op == OP_s_getreg_b32)
		isa_write32(w, insn->dst, g->private_base >> 16);
	else
		w->s[isa_flat_scratch(g->prog->target) + ((insn->imm & 0x3f) != (ISA_HWREG_SCRATCH & 0x3f))] =
			isa_scalar32(w, insn, insn->src[0]);
}

static void sopp(const struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn)
{
	u64 vcc = w->s[ISA_VCC] | (g->lanes == 64 ? (u64)w->s[ISA_VCC + 1] << 32 : 0);
	bool taken = false;

	switch (insn->op) {
	case OP_s_endpgm:
		w->state = ISA_ENDED;
		break;
	case OP_s_barrier:
		w->state = ISA_WAITS;
		break;
	case OP_s_sethalt:
		if (insn->imm & 1)
			w->state = ISA_HALTED;
		break;
	case OP_s_trap:
		w->state = ISA_TRAPPED;
		w->trap = insn->imm & 0xff;
		break;
	case OP_s_sendmsg:
		if (insn->imm == ISA_MSG_INTERRUPT && g->message)
			g->message(g->mem->ctx, w->s[ISA_M0]);
		break;
	case OP_s_branch:
		taken = true;
		break;
	case OP_s_cbranch_scc0:
		taken = !w->scc;
		break;
	case OP_s_cbranch_scc1:
		taken = w->scc;
		break;
	case OP_s_cbranch_vccz:
		taken = !vcc;
		break;
	case OP_s_cbranch_vccnz:
		taken = vcc;
		break;
	case OP_s_cbranch_execz:
		taken = !isa_exec(g, w);
		break;
	case OP_s_cbranch_execnz:
		taken = isa_exec(g, w);
		break;
	}
	if (taken)
		w->pc = (u32)insn->imm;
}

/**
 * isa_scalar - execute a scalar instruction that is no load
 * @g: the group
 * @w: the wave, its PC behind the instruction
 * @insn: the instruction
 */
void isa_scalar(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn)
{
	switch (insn->format) {
	case ISA_SOP2:
		isa_scalar_two(g, w, insn);
		break;
	case ISA_SOP1:
		sop1(g, w, insn);
		break;
	case ISA_SOPC:
		sopc(g, w, insn);
		break;
	case ISA_SOPK:
		if (insn->op == OP_s_getreg_b32 || insn->op == OP_s_setreg_b32)
			hwreg(g, w, insn);
		else
			sopk(w, insn);
		break;
	default:
		sopp(g, w, insn);
	}
}
