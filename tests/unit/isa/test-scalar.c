// SPDX-License-Identifier: GPL-2.0
/*
 * Scalar instructions with random operands, against what C makes of them. Instructions are given as the decoder
 * would give them: test-decode.c has shown that it does.
 */
#include "fixture.h"

/* a, b: the sources, of as many bits as the instruction has. scc: before; *out: behind. d: the result before */
#define REF(op, expr, flag)							\
	static u64 ref_##op(u64 a, u64 b, u64 d, u32 scc, u32 *out)		\
	{									\
		(void)a, (void)b, (void)d, (void)scc;				\
		d = (expr);							\
		*out = (flag);							\
		return d;							\
	}

#define S32(x)	((s64)(s32)(x))
#define U32(x)	((u64)(u32)(x))
#define KEEP	scc
#define NONZERO	(d != 0)
#define FITS(x)	((x) != S32(x))	/* 1: the sum does not fit */

static u64 field(u64 a, u64 b, u32 bits, bool is_signed)
{
	u32 at = b & (bits - 1), width = b >> 16 & 0x7f, i;
	u64 d = 0;

	for (i = 0; i < width && i < bits; i++)
		d |= (at + i < bits ? a >> (at + i) & 1 : is_signed ? a >> (bits - 1) & 1 : 0) << i;
	if (is_signed && width && width < bits && d >> (width - 1) & 1)
		d |= ~0ULL << width;
	return bits == 64 ? d : U32(d);
}

static u64 reversed(u64 a, u32 bits)
{
	u64 d = 0;
	u32 i;

	for (i = 0; i < bits; i++)
		d = d << 1 | (a >> i & 1);
	return d;
}

static u64 ones(u64 a, u32 bits)
{
	u64 n = 0;

	for (; bits--; a >>= 1)
		n += a & 1;
	return n;
}

/* The number of the first bit of this value, from the left or right; -1: none */
static u64 first(u64 a, u32 bits, u32 value, bool left)
{
	u32 i;

	for (i = 0; i < bits; i++)
		if ((a >> (left ? bits - 1 - i : i) & 1) == value)
			return i;
	return U32(-1);
}

REF(s_add_u32, U32(a + b), (a + b) >> 32)
REF(s_sub_u32, U32(a - b), b > a)
REF(s_add_i32, U32(a + b), FITS(S32(a) + S32(b)))
REF(s_sub_i32, U32(a - b), FITS(S32(a) - S32(b)))
REF(s_addc_u32, U32(a + b + scc), (a + b + scc) >> 32)
REF(s_subb_u32, U32(a - b - scc), b + scc > a)
REF(s_min_i32, S32(a) < S32(b) ? a : b, S32(a) < S32(b))
REF(s_min_u32, a < b ? a : b, a < b)
REF(s_max_i32, S32(a) > S32(b) ? a : b, S32(a) > S32(b))
REF(s_max_u32, a > b ? a : b, a > b)
REF(s_cselect_b32, scc ? a : b, KEEP)
REF(s_cselect_b64, scc ? a : b, KEEP)
REF(s_and_b32, a & b, NONZERO)
REF(s_and_b64, a & b, NONZERO)
REF(s_or_b32, a | b, NONZERO)
REF(s_or_b64, a | b, NONZERO)
REF(s_xor_b32, a ^ b, NONZERO)
REF(s_xor_b64, a ^ b, NONZERO)
REF(s_andn2_b32, a & ~b, NONZERO)
REF(s_andn2_b64, a & ~b, NONZERO)
REF(s_orn2_b32, U32(a | ~b), NONZERO)
REF(s_orn2_b64, a | ~b, NONZERO)
REF(s_nand_b32, U32(~(a & b)), NONZERO)
REF(s_nand_b64, ~(a & b), NONZERO)
REF(s_nor_b32, U32(~(a | b)), NONZERO)
REF(s_nor_b64, ~(a | b), NONZERO)
REF(s_xnor_b32, U32(~(a ^ b)), NONZERO)
REF(s_xnor_b64, ~(a ^ b), NONZERO)
REF(s_lshl_b32, U32(a << b % 32), NONZERO)
REF(s_lshl_b64, a << b % 64, NONZERO)
REF(s_lshr_b32, a >> b % 32, NONZERO)
REF(s_lshr_b64, a >> b % 64, NONZERO)
REF(s_ashr_i32, U32(S32(a) >> b % 32), NONZERO)
REF(s_ashr_i64, (u64)((s64)a >> b % 64), NONZERO)
REF(s_bfm_b32, U32(((1ULL << a % 32) - 1) << b % 32), KEEP)
REF(s_bfm_b64, ((1ULL << a % 64) - 1) << b % 64, KEEP)
REF(s_mul_i32, U32(a * b), KEEP)
REF(s_bfe_u32, field(a, b, 32, false), NONZERO)
REF(s_bfe_i32, field(a, b, 32, true), NONZERO)
REF(s_bfe_u64, field(a, b, 64, false), NONZERO)
REF(s_bfe_i64, field(a, b, 64, true), NONZERO)
REF(s_absdiff_i32, S32(U32(a - b)) < 0 ? U32(b - a) : U32(a - b), NONZERO)
REF(s_mul_hi_u32, a * b >> 32, KEEP)
REF(s_mul_hi_i32, U32(S32(a) * S32(b) >> 32), KEEP)
REF(s_lshl1_add_u32, U32(a * 2 + b), a * 2 + b > U32(-1))
REF(s_lshl2_add_u32, U32(a * 4 + b), a * 4 + b > U32(-1))
REF(s_lshl3_add_u32, U32(a * 8 + b), a * 8 + b > U32(-1))
REF(s_lshl4_add_u32, U32(a * 16 + b), a * 16 + b > U32(-1))
REF(s_pack_ll_b32_b16, a % 65536 | b % 65536 << 16, KEEP)
REF(s_pack_lh_b32_b16, a % 65536 | b / 65536 << 16, KEEP)
REF(s_pack_hh_b32_b16, a / 65536 | b / 65536 << 16, KEEP)
REF(s_mov_b32, a, KEEP)
REF(s_mov_b64, a, KEEP)
REF(s_cmov_b32, scc ? a : d, KEEP)
REF(s_cmov_b64, scc ? a : d, KEEP)
REF(s_not_b32, U32(~a), NONZERO)
REF(s_not_b64, ~a, NONZERO)
REF(s_brev_b32, reversed(a, 32), KEEP)
REF(s_brev_b64, reversed(a, 64), KEEP)
REF(s_bcnt0_i32_b32, 32 - ones(a, 32), NONZERO)
REF(s_bcnt0_i32_b64, 64 - ones(a, 64), NONZERO)
REF(s_bcnt1_i32_b32, ones(a, 32), NONZERO)
REF(s_bcnt1_i32_b64, ones(a, 64), NONZERO)
REF(s_ff0_i32_b32, first(a, 32, 0, false), KEEP)
REF(s_ff0_i32_b64, first(a, 64, 0, false), KEEP)
REF(s_ff1_i32_b32, first(a, 32, 1, false), KEEP)
REF(s_ff1_i32_b64, first(a, 64, 1, false), KEEP)
REF(s_flbit_i32_b32, first(a, 32, 1, true), KEEP)
REF(s_flbit_i32_b64, first(a, 64, 1, true), KEEP)
REF(s_flbit_i32, first(a, 32, !(a >> 31), true), KEEP)
REF(s_flbit_i32_i64, first(a, 64, !(a >> 63), true), KEEP)
REF(s_sext_i32_i8, U32((s8)a), KEEP)
REF(s_sext_i32_i16, U32((s16)a), KEEP)
REF(s_bitset0_b32, d & ~(1ULL << a % 32), KEEP)
REF(s_bitset0_b64, d & ~(1ULL << a % 64), KEEP)
REF(s_bitset1_b32, d | 1ULL << a % 32, KEEP)
REF(s_bitset1_b64, d | 1ULL << a % 64, KEEP)
REF(s_abs_i32, S32(a) < 0 ? U32(-a) : a, NONZERO)
REF(s_cmp_eq_i32, 0, a == b)
REF(s_cmp_lg_i32, 0, a != b)
REF(s_cmp_gt_i32, 0, S32(a) > S32(b))
REF(s_cmp_ge_i32, 0, S32(a) >= S32(b))
REF(s_cmp_lt_i32, 0, S32(a) < S32(b))
REF(s_cmp_le_i32, 0, S32(a) <= S32(b))
REF(s_cmp_eq_u32, 0, a == b)
REF(s_cmp_lg_u32, 0, a != b)
REF(s_cmp_gt_u32, 0, a > b)
REF(s_cmp_ge_u32, 0, a >= b)
REF(s_cmp_lt_u32, 0, a < b)
REF(s_cmp_le_u32, 0, a <= b)
REF(s_bitcmp0_b32, 0, !(a >> b % 32 & 1))
REF(s_bitcmp1_b32, 0, a >> b % 32 & 1)
REF(s_bitcmp0_b64, 0, !(a >> b % 64 & 1))
REF(s_bitcmp1_b64, 0, a >> b % 64 & 1)
REF(s_cmp_eq_u64, 0, a == b)
REF(s_cmp_lg_u64, 0, a != b)
/* b: the constant, signed */
REF(s_movk_i32, U32(b), KEEP)
REF(s_cmovk_i32, scc ? U32(b) : d, KEEP)
REF(s_cmpk_eq_i32, 0, S32(a) == S32(b))
REF(s_cmpk_lg_i32, 0, S32(a) != S32(b))
REF(s_cmpk_gt_i32, 0, S32(a) > S32(b))
REF(s_cmpk_ge_i32, 0, S32(a) >= S32(b))
REF(s_cmpk_lt_i32, 0, S32(a) < S32(b))
REF(s_cmpk_le_i32, 0, S32(a) <= S32(b))
REF(s_cmpk_eq_u32, 0, a == (u16)b)
REF(s_cmpk_lg_u32, 0, a != (u16)b)
REF(s_cmpk_gt_u32, 0, a > (u16)b)
REF(s_cmpk_ge_u32, 0, a >= (u16)b)
REF(s_cmpk_lt_u32, 0, a < (u16)b)
REF(s_cmpk_le_u32, 0, a <= (u16)b)
REF(s_addk_i32, U32(d + b), FITS(S32(d - b) + S32(b)))
REF(s_mulk_i32, U32(d * b), KEEP)

#define ENTRY(op, ...) \
	[OP_##op] = ref_##op,

/* Those of the tables that have a result: what is missing does not compile, or is found below */
typedef u64 (*ref)(u64 a, u64 b, u64 d, u32 scc, u32 *out);

static const ref refs[ISA_OPS] = {
	/* cppcheck-suppress unknownMacro; of ops-scalar.h */
	ISA_SOP2_OPS(ENTRY)
	ISA_SOPC_OPS(ENTRY)
#define K(op) \
	[OP_##op] = ref_##op
	K(s_mov_b32), K(s_mov_b64), K(s_cmov_b32), K(s_cmov_b64), K(s_not_b32), K(s_not_b64),
	K(s_brev_b32), K(s_brev_b64), K(s_bcnt0_i32_b32), K(s_bcnt0_i32_b64), K(s_bcnt1_i32_b32),
	K(s_bcnt1_i32_b64), K(s_ff0_i32_b32), K(s_ff0_i32_b64), K(s_ff1_i32_b32), K(s_ff1_i32_b64),
	K(s_flbit_i32_b32), K(s_flbit_i32_b64), K(s_flbit_i32), K(s_flbit_i32_i64), K(s_sext_i32_i8),
	K(s_sext_i32_i16), K(s_bitset0_b32), K(s_bitset0_b64), K(s_bitset1_b32), K(s_bitset1_b64),
	K(s_abs_i32), K(s_movk_i32), K(s_cmovk_i32), K(s_cmpk_eq_i32), K(s_cmpk_lg_i32),
	K(s_cmpk_gt_i32), K(s_cmpk_ge_i32), K(s_cmpk_lt_i32), K(s_cmpk_le_i32), K(s_cmpk_eq_u32),
	K(s_cmpk_lg_u32), K(s_cmpk_gt_u32), K(s_cmpk_ge_u32), K(s_cmpk_lt_u32), K(s_cmpk_le_u32),
	K(s_addk_i32), K(s_mulk_i32),
};

/* A source of @width dwords with this value: a register, or the constant it happens to be */
static u32 operand(struct isa_wave *w, u32 reg, u32 width, u64 value)
{
	w->s[reg] = (u32)value;
	w->s[reg + 1] = width == 2 ? (u32)(value >> 32) : rnd32();
	if (rnd(2) && value <= 64)
		return ISA_INT_0 + (u32)value;
	if (rnd(2) && value == (width == 2 ? ~0ULL : ~0u))
		return ISA_INT_N1;
	return reg;
}

static void once(u32 op)
{
	const struct isa_row *row = &isa_rows[op];
	struct isa_insn insn = { .op = (u16)op, .format = row->format, .dwords = 1, .dst = ISA_NONE,
				 .sdst = ISA_NONE, .src = { ISA_NONE, ISA_NONE, ISA_NONE } };
	u64 a = interesting(), b = interesting(), d = interesting(), want, got, mask;
	struct isa_wave *w = machine(64, &insn);
	u32 scc = rnd(2), out = 2, before[ISA_SGPRS], i;

	a = row->src[0] == 2 ? a : U32(a);
	b = row->src[1] == 2 ? b : U32(b);
	mask = row->dst == 2 ? ~0ULL : U32(-1);
	d &= mask;
	if (row->format == ISA_SOPK)
		b = (u64)(s64)(s16)b;
	insn.imm = (s32)(s16)b;
	if (row->src[0])
		insn.src[0] = (u16)(row->format == ISA_SOPK ? 10 : operand(w, 10, row->src[0], a));
	if (row->format == ISA_SOPK)
		w->s[10] = (u32)a;
	if (row->src[1])
		insn.src[1] = (u16)operand(w, 20, row->src[1], b);
	if (rnd(8) == 0 && row->src[1] == 1) {	/* a literal */
		insn.src[1] = ISA_LITERAL;
		insn.literal = (u32)b;
	}
	if (row->dst)
		insn.dst = 30;
	w->s[30] = (u32)d;
	w->s[31] = (u32)(d >> 32);
	w->scc = scc;
	reload(&insn);
	memcpy(before, w->s, sizeof(before));
	step();
	want = refs[op](a, b, d, scc, &out) & mask;
	got = (w->s[30] | (u64)w->s[31] << 32) & mask;
	if (row->dst && got != want)
		fail_msg("%s(%#llx, %#llx) is %#llx, not %#llx", row->name[0] ? row->name[0] : "?",
			 (unsigned long long)a, (unsigned long long)b, (unsigned long long)got,
			 (unsigned long long)want);
	if (w->scc != !!out)
		fail_msg("%s(%#llx, %#llx): SCC is %u", isa_rows[op].name[0], (unsigned long long)a,
			 (unsigned long long)b, w->scc);
	for (i = 0; i < ISA_SGPRS; i++)
		if (i != 30 && !(i == 31 && row->dst == 2) && w->s[i] != before[i])
			fail_msg("%s changes s%u", row->name[0], i);
}

static void test_results(void **state)
{
	u32 op, i;

	(void)state;
	for (op = 0; op < ISA_OPS; op++)
		for (i = 0; refs[op] && i < 300; i++)
			once(op);
}

/* s_*_saveexec_*: the old EXEC is the result, the new one what the name says */
static void test_saveexec(void **state)
{
	struct isa_insn insn = { .format = ISA_SOP1, .dwords = 1, .dst = 4,
				 .src = { 8, ISA_NONE, ISA_NONE } };
	struct isa_wave *w;
	u32 i, k, wide;
	u64 a, exec, want[8], got;

	(void)state;
	for (i = 0; i < 2000; i++) {
		wide = rnd(2);
		k = rnd(8);
		a = interesting();
		exec = interesting();
		insn.op = (u16)((wide ? OP_s_and_saveexec_b64 : OP_s_and_saveexec_b32) + k);
		w = machine(wide ? 64 : 32, &insn);
		w->s[8] = (u32)a;
		w->s[9] = (u32)(a >> 32);
		w->s[ISA_EXEC] = (u32)exec;
		w->s[ISA_EXEC + 1] = (u32)(exec >> 32);
		step();
		want[0] = a & exec;
		want[1] = a | exec;
		want[2] = a ^ exec;
		want[3] = a & ~exec;
		want[4] = a | ~exec;
		want[5] = ~(a & exec);
		want[6] = ~(a | exec);
		want[7] = ~(a ^ exec);
		got = w->s[ISA_EXEC] | (u64)w->s[ISA_EXEC + 1] << 32;
		assert_int_equal(wide ? got : U32(got), wide ? want[k] : U32(want[k]));
		assert_int_equal(w->s[4], (u32)exec);
		assert_int_equal(w->s[5], wide ? (u32)(exec >> 32) : 0);
		assert_int_equal(w->scc, (wide ? want[k] : U32(want[k])) != 0);
	}
}

static void branch(u32 op, bool taken)
{
	struct isa_insn insn = { .op = (u16)op, .format = ISA_SOPP, .dwords = 1, .imm = 3 };
	struct isa_wave *w = machine(64, &insn);

	/* each condition alone */
	w->scc = op == OP_s_cbranch_scc0 ? !taken : op == OP_s_cbranch_scc1 ? taken : 0;
	memset(&w->s[ISA_VCC], 0, 8);
	memset(&w->s[ISA_EXEC], 0, 8);
	w->s[ISA_VCC + rnd(2)] = op == OP_s_cbranch_vccz ? !taken : op == OP_s_cbranch_vccnz ? taken : 0;
	w->s[ISA_EXEC + rnd(2)] = op == OP_s_cbranch_execz ? !taken : op == OP_s_cbranch_execnz ? taken : 0;
	step();
	assert_int_equal(w->pc, taken ? 3 : 1);
}

static void test_branches(void **state)
{
	u32 op, i;

	(void)state;
	branch(OP_s_branch, true);
	for (op = OP_s_cbranch_scc0; op <= OP_s_cbranch_execnz; op++)
		for (i = 0; i < 8; i++)
			branch(op, i % 2);
	/* the upper halves are no lanes of a wave of 32 */
	for (op = OP_s_cbranch_vccz; op <= OP_s_cbranch_execnz; op++) {
		struct isa_insn insn = { .op = (u16)op, .format = ISA_SOPP, .dwords = 1, .imm = 3 };
		struct isa_wave *w = machine(32, &insn);

		w->s[ISA_VCC] = w->s[ISA_EXEC] = 0;
		w->s[ISA_VCC + 1] = w->s[ISA_EXEC + 1] = 1;
		step();
		assert_int_equal(w->pc, op == OP_s_cbranch_vccz || op == OP_s_cbranch_execz ? 3 : 1);
	}
}

static void test_states(void **state)
{
	struct isa_insn insn = { .op = OP_s_trap, .format = ISA_SOPP, .dwords = 1, .imm = 2 };
	struct isa_wave *w = machine(64, &insn);

	(void)state;
	step();
	assert_int_equal(w->state, ISA_TRAPPED);
	assert_int_equal(w->trap, 2);
	insn.op = OP_s_sethalt;
	w = machine(64, &insn);
	step();
	assert_int_equal(w->state, ISA_RUNS);
	insn.imm = 1;
	w = machine(64, &insn);
	step();
	assert_int_equal(w->state, ISA_HALTED);
	insn.op = OP_s_endpgm;
	w = machine(64, &insn);
	step();
	assert_int_equal(w->state, ISA_ENDED);
	insn = (struct isa_insn){ .op = OP_s_getpc_b64, .format = ISA_SOP1, .dwords = 1, .dst = 2,
				  .src = { ISA_NONE, ISA_NONE, ISA_NONE } };
	w = machine(64, &insn);
	step();
	assert_int_equal(w->s[2] | (u64)w->s[3] << 32, ENTRY_VA + 4);
}

/* A register that is not there, apertures and constants of 64 bits */
static void test_operands(void **state)
{
	struct isa_insn insn = { .op = OP_s_mov_b64, .format = ISA_SOP1, .dwords = 1, .dst = 2,
				 .src = { ISA_NULL, ISA_NONE, ISA_NONE } };
	struct isa_wave *w = machine(64, &insn);

	(void)state;
	w->s[2] = w->s[3] = 7;
	step();
	assert_int_equal(w->s[2] | w->s[3], 0);
	insn.src[0] = ISA_INT_N1 + 15;
	w = machine(64, &insn);
	step();
	assert_int_equal(w->s[2] | (u64)w->s[3] << 32, -16LL);
	insn.src[0] = ISA_FLOAT + 2;
	w = machine(64, &insn);
	step();
	assert_int_equal(w->s[2] | (u64)w->s[3] << 32, 0x3ff0000000000000ULL);
	insn.src[0] = ISA_SHARED_BASE;
	w = machine(64, &insn);
	step();
	assert_int_equal(w->s[2] | (u64)w->s[3] << 32, (u64)SHARED_BASE << 32);
	insn.src[0] = ISA_LITERAL;
	insn.literal = 0x80000001;
	w = machine(64, &insn);
	step();
	assert_int_equal(w->s[2] | (u64)w->s[3] << 32, 0x80000001ULL);
	insn.op = OP_s_mov_b32;
	insn.dst = ISA_NULL;
	insn.src[0] = ISA_FLOAT;
	w = machine(64, &insn);
	step();
	assert_int_equal(w->s[ISA_NULL], 0);
	insn.dst = 2;
	w = machine(64, &insn);
	step();
	assert_int_equal(w->s[2], 0x3f000000);
}

int scalar_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_results), cmocka_unit_test(test_saveexec),
		cmocka_unit_test(test_branches), cmocka_unit_test(test_states),
		cmocka_unit_test(test_operands),
	};

	return cmocka_run_group_tests_name("scalar instructions", tests, NULL, NULL);
}
