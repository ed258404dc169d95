// SPDX-License-Identifier: GPL-2.0
/*
 * Vector instructions with random operands and lanes, against what C makes of them. Instructions are given
 * as the decoder would give them: test-decode.c has shown that it does.
 */
#include "fixture.h"

/* a, b, c: the sources, of as many bits as the instruction has. lane: its number. in: one bit; *out: the other result */
#define REF(op, expr, bit)							\
	static u64 ref_##op(u64 a, u64 b, u64 c, u32 lane, u32 in, u32 *out)	\
	{									\
		(void)a, (void)b, (void)c, (void)lane, (void)in;		\
		*out = (bit);							\
		return expr;							\
	}

#define R(op, expr)	REF(op, expr, 0)
#define S32(x)	((s64)(s32)(x))
#define S64(x)	((s64)(x))
#define U32(x)	((u64)(u32)(x))
#define S24(x)	((s64)((s32)((u32)(x) << 8) >> 8))
#define U24(x)	((u64)((x) & 0xffffff))
#define MIN(x, y)	((x) < (y) ? (x) : (y))
#define MAX(x, y)	((x) > (y) ? (x) : (y))

static u64 middle(s64 a, s64 b, s64 c)
{
	return (u64)(MAX(MIN(a, b), MIN(MAX(a, b), c)));
}

static u64 field(u64 a, u32 at, u32 width, bool is_signed)
{
	u64 d = 0;
	u32 i;

	for (i = 0; i < width; i++)
		d |= (u64)(at + i < 32 ? a >> (at + i) & 1 : is_signed ? a >> 31 & 1 : 0) << i;
	return is_signed && width && d >> (width - 1) & 1 ? d | ~0ULL << width : d;
}

static u64 count(u64 a, u32 bits)
{
	u64 n = 0;

	for (; bits--; a >>= 1)
		n += a & 1;
	return n;
}

static u64 find(u64 a, u32 value, bool left)
{
	u32 i;

	for (i = 0; i < 32; i++)
		if ((a >> (left ? 31 - i : i) & 1) == value)
			return i;
	return U32(-1);
}

static u64 reversed(u64 a)
{
	u64 d = 0;
	u32 i;

	for (i = 0; i < 32; i++)
		d = d << 1 | (a >> i & 1);
	return d;
}

static u64 permuted(u64 a, u64 b, u64 c)
{
	u8 bytes[8], d[4], k;
	u64 all = a << 32 | b;
	u32 i, value;

	memcpy(bytes, &all, 8);
	for (i = 0; i < 4; i++) {
		k = (u8)(c >> 8 * i);
		d[i] = k > 12 ? 0xff : k == 12 ? 0 : k < 8 ? bytes[k] : (s8)bytes[1 + 2 * (k - 8)] < 0 ? 0xff : 0;
	}
	memcpy(&value, d, 4);
	return value;
}

/* by the host's own f32; NaN is any, compared as such */
static float f(u64 a)
{
	u32 word = (u32)a;
	float x;

	memcpy(&x, &word, 4);
	return x;
}

R(v_mov_b32, a)
R(v_mov_b64, a)
R(v_not_b32, U32(~a))
R(v_bfrev_b32, reversed(a))
R(v_ffbh_u32, find(a, 1, true))
R(v_ffbl_b32, find(a, 1, false))
R(v_ffbh_i32, find(a, !(a >> 31), true))
R(v_cndmask_b32, in ? b : a)
R(v_mul_i32_i24, U32(S24(a) * S24(b)))
R(v_mul_hi_i32_i24, U32(S24(a) * S24(b) >> 32))
R(v_mul_u32_u24, U32(U24(a) * U24(b)))
R(v_mul_hi_u32_u24, U24(a) * U24(b) >> 32)
R(v_min_i32, U32(MIN(S32(a), S32(b))))
R(v_max_i32, U32(MAX(S32(a), S32(b))))
R(v_min_u32, MIN(a, b))
R(v_max_u32, MAX(a, b))
R(v_lshrrev_b32, b >> a % 32)
R(v_ashrrev_i32, U32(S32(b) >> a % 32))
R(v_lshlrev_b32, U32(b << a % 32))
R(v_and_b32, a & b)
R(v_or_b32, a | b)
R(v_xor_b32, a ^ b)
R(v_xnor_b32, U32(~(a ^ b)))
R(v_add_u32, U32(a + b))
R(v_sub_u32, U32(a - b))
R(v_subrev_u32, U32(b - a))
R(v_add_i32, U32(a + b))
R(v_sub_i32, U32(a - b))
REF(v_add_co_u32, U32(a + b), (a + b) >> 32)
REF(v_add_co_u32_e64, U32(a + b), (a + b) >> 32)
REF(v_sub_co_u32, U32(a - b), b > a)
REF(v_sub_co_u32_e64, U32(a - b), b > a)
REF(v_subrev_co_u32, U32(b - a), a > b)
REF(v_subrev_co_u32_e64, U32(b - a), a > b)
REF(v_addc_co_u32, U32(a + b + in), (a + b + in) >> 32)
REF(v_subb_co_u32, U32(a - b - in), b + in > a)
REF(v_subbrev_co_u32, U32(b - a - in), a + in > b)
R(v_mad_i32_i24, U32(S24(a) * S24(b) + S32(c)))
R(v_mad_u32_u24, U32(U24(a) * U24(b) + c))
R(v_bfe_u32, field(a, b % 32, c % 32, false))
R(v_bfe_i32, U32(field(a, b % 32, c % 32, true)))
R(v_bfi_b32, (a & b) | (U32(~a) & c))
R(v_alignbit_b32, U32((a << 32 | b) >> c % 32))
R(v_alignbyte_b32, U32((a << 32 | b) >> 8 * (c % 4)))
R(v_min3_i32, U32(MIN(MIN(S32(a), S32(b)), S32(c))))
R(v_min3_u32, MIN(MIN(a, b), c))
R(v_max3_i32, U32(MAX(MAX(S32(a), S32(b)), S32(c))))
R(v_max3_u32, MAX(MAX(a, b), c))
R(v_med3_i32, U32(middle(S32(a), S32(b), S32(c))))
R(v_med3_u32, middle((s64)a, (s64)b, (s64)c))
R(v_sad_u32, U32(MAX(a, b) - MIN(a, b) + c))
R(v_mul_lo_u32, U32(a * b))
R(v_mul_hi_u32, a * b >> 32)
R(v_mul_hi_i32, U32(S32(a) * S32(b) >> 32))
R(v_lshlrev_b64, b << a % 64)
R(v_lshrrev_b64, b >> a % 64)
R(v_ashrrev_i64, (u64)(S64(b) >> a % 64))
REF(v_mad_u64_u32, a * b + c, b && a > (~0ULL - c) / b)
REF(v_mad_i64_i32, (u64)(S32(a) * S32(b)) + c,
    (__int128)(S32(a) * S32(b)) + S64(c) != S64((u64)(S32(a) * S32(b)) + c))
R(v_lshl_add_u32, U32((a << b % 32) + c))
R(v_add_lshl_u32, U32(U32(a + b) << c % 32))
R(v_add3_u32, U32(a + b + c))
R(v_lshl_or_b32, U32(a << b % 32) | c)
R(v_and_or_b32, (a & b) | c)
R(v_or3_b32, a | b | c)
R(v_xad_u32, U32((a ^ b) + c))
R(v_xor3_b32, a ^ b ^ c)
R(v_perm_b32, permuted(a, b, c))
R(v_bcnt_u32_b32, U32(count(a, 32) + b))
R(v_mbcnt_lo_u32_b32, U32(count(a, MIN(lane, 32)) + b))
R(v_mbcnt_hi_u32_b32, U32(count(a, lane > 32 ? lane - 32 : 0) + b))
R(v_bfm_b32, U32(((1ULL << a % 32) - 1) << b % 32))
R(v_lshl_add_u64, (a << b % 8) + c)

#define COMPARE(type, cast)							\
	REF(v_cmp_lt_##type, 0, cast(a) < cast(b))				\
	REF(v_cmp_eq_##type, 0, cast(a) == cast(b))				\
	REF(v_cmp_le_##type, 0, cast(a) <= cast(b))				\
	REF(v_cmp_gt_##type, 0, cast(a) > cast(b))				\
	REF(v_cmp_ge_##type, 0, cast(a) >= cast(b))

COMPARE(i32, S32)
COMPARE(u32, U32)
COMPARE(i64, S64)
COMPARE(u64, (u64))
COMPARE(f32, f)
REF(v_cmp_ne_i32, 0, a != b)
REF(v_cmp_ne_u32, 0, a != b)
REF(v_cmp_ne_i64, 0, a != b)
REF(v_cmp_ne_u64, 0, a != b)
REF(v_cmp_lg_f32, 0, f(a) < f(b) || f(a) > f(b))
REF(v_cmp_o_f32, 0, f(a) == f(a) && f(b) == f(b))
REF(v_cmp_u_f32, 0, f(a) != f(a) || f(b) != f(b))
REF(v_cmp_nge_f32, 0, !(f(a) >= f(b)))
REF(v_cmp_nlg_f32, 0, !(f(a) < f(b) || f(a) > f(b)))
REF(v_cmp_ngt_f32, 0, !(f(a) > f(b)))
REF(v_cmp_nle_f32, 0, !(f(a) <= f(b)))
REF(v_cmp_neq_f32, 0, !(f(a) == f(b)))
REF(v_cmp_nlt_f32, 0, !(f(a) < f(b)))

typedef u64 (*ref)(u64 a, u64 b, u64 c, u32 lane, u32 in, u32 *out);

#define K(op) \
	[OP_##op] = ref_##op
#define C(cmp) \
	[OP_v_cmp_##cmp] = ref_v_cmp_##cmp, [OP_v_cmpx_##cmp] = ref_v_cmp_##cmp

static const ref refs[ISA_OPS] = {
	K(v_mov_b32), K(v_mov_b64), K(v_not_b32), K(v_bfrev_b32), K(v_ffbh_u32), K(v_ffbl_b32),
	K(v_ffbh_i32), K(v_cndmask_b32), K(v_mul_i32_i24), K(v_mul_hi_i32_i24), K(v_mul_u32_u24),
	K(v_mul_hi_u32_u24), K(v_min_i32), K(v_max_i32), K(v_min_u32), K(v_max_u32), K(v_lshrrev_b32),
	K(v_ashrrev_i32), K(v_lshlrev_b32), K(v_and_b32), K(v_or_b32), K(v_xor_b32), K(v_xnor_b32),
	K(v_add_u32), K(v_sub_u32), K(v_subrev_u32), K(v_add_i32), K(v_sub_i32), K(v_add_co_u32),
	K(v_add_co_u32_e64), K(v_sub_co_u32), K(v_sub_co_u32_e64), K(v_subrev_co_u32),
	K(v_subrev_co_u32_e64), K(v_addc_co_u32), K(v_subb_co_u32), K(v_subbrev_co_u32),
	K(v_mad_i32_i24), K(v_mad_u32_u24), K(v_bfe_u32), K(v_bfe_i32), K(v_bfi_b32),
	K(v_alignbit_b32), K(v_alignbyte_b32), K(v_min3_i32), K(v_min3_u32), K(v_max3_i32),
	K(v_max3_u32), K(v_med3_i32), K(v_med3_u32), K(v_sad_u32), K(v_mul_lo_u32), K(v_mul_hi_u32),
	K(v_mul_hi_i32), K(v_lshlrev_b64), K(v_lshrrev_b64), K(v_ashrrev_i64), K(v_mad_u64_u32),
	K(v_mad_i64_i32), K(v_lshl_add_u32), K(v_add_lshl_u32), K(v_add3_u32), K(v_lshl_or_b32),
	K(v_and_or_b32), K(v_or3_b32), K(v_xad_u32), K(v_xor3_b32), K(v_perm_b32), K(v_bcnt_u32_b32),
	K(v_mbcnt_lo_u32_b32), K(v_mbcnt_hi_u32_b32), K(v_bfm_b32), K(v_lshl_add_u64),
	C(lt_i32), C(eq_i32), C(le_i32), C(gt_i32), C(ne_i32), C(ge_i32),
	C(lt_u32), C(eq_u32), C(le_u32), C(gt_u32), C(ne_u32), C(ge_u32),
	C(lt_i64), C(eq_i64), C(le_i64), C(gt_i64), C(ne_i64), C(ge_i64),
	C(lt_u64), C(eq_u64), C(le_u64), C(gt_u64), C(ne_u64), C(ge_u64),
	C(lt_f32), C(eq_f32), C(le_f32), C(gt_f32), C(lg_f32), C(ge_f32), C(o_f32), C(u_f32),
	C(nge_f32), C(nlg_f32), C(ngt_f32), C(nle_f32), C(neq_f32), C(nlt_f32),
};

/* Arithmetic of f32 is in test-float.c; the others of VOP1 to VOP3P are below */
static bool elsewhere(u32 op)
{
	switch (op) {
	case OP_v_nop:
	case OP_v_readfirstlane_b32:
	case OP_v_readlane_b32:
	case OP_v_writelane_b32:
	case OP_v_pk_mov_b32:
	case OP_v_cvt_f32_i32:
	case OP_v_cvt_f32_u32:
		return true;
	}
	return isa_rows[op].flags & ISA_FLOAT_OPS;
}

static void test_complete(void **state)
{
	u32 op;

	(void)state;
	for (op = OP_END_SMEM + 1; op < OP_END_VOP3P; op++)
		if (isa_rows[op].name[0] && !refs[op] && !elsewhere(op))
			fail_msg("%s is not tested", isa_rows[op].name[0]);
}

struct source {
	u32 reg, width;
	bool vector;
	u64 value;
};

/* A register, scalar register or constant with something in it */
static u32 source(struct isa_wave *w, struct source *s, u32 reg, u32 width, u32 lanes)
{
	u32 l;

	*s = (struct source){ .reg = reg, .width = width, .vector = rnd(4), .value = interesting() };
	if (width == 1)
		s->value = (u32)s->value;
	if (s->vector) {
		for (l = 0; l < lanes; l++) {
			u64 v = interesting();

			vgpr(reg)[l] = (u32)v;
			if (width == 2)
				vgpr(reg + 1)[l] = (u32)(v >> 32);
		}
		return ISA_VGPR + reg;
	}
	if (s->value <= 64)
		return ISA_INT_0 + (u32)s->value;
	w->s[reg] = (u32)s->value;
	w->s[reg + 1] = (u32)(s->value >> 32);
	return reg;
}

static u64 value(const struct source *s, u32 lane)
{
	if (!s->width)
		return 0;
	if (!s->vector)
		return s->value;
	return vgpr(s->reg)[lane] | (s->width == 2 ? (u64)vgpr(s->reg + 1)[lane] << 32 : 0);
}

#define DST	40
#define MASK_IN	60
#define MASK_OUT	70

static void once(u32 op, u32 lanes)
{
	const struct isa_row *row = &isa_rows[op];
	struct isa_insn insn = { .op = (u16)op, .format = ISA_VOP3, .dwords = 2, .dst = ISA_NONE,
				 .sdst = ISA_NONE, .src = { ISA_NONE, ISA_NONE, ISA_NONE } };
	struct isa_wave *w = machine(lanes, &insn);
	u64 exec, in, old[ISA_LANES], want, got, bits = 0, d;
	struct source s[3];
	u32 i, l, out;

	exec = rnd(2) ? ~0ULL : interesting();
	exec = lanes == 64 ? exec : U32(exec);
	in = interesting();
	for (i = 0; i < 3; i++) {
		s[i].width = 0;
		if (row->src[i])
			insn.src[i] = (u16)source(w, &s[i], 4 + 4 * i, row->src[i], lanes);
	}
	if (row->flags & ISA_CIN)
		insn.src[2] = MASK_IN;
	if (row->flags & (ISA_COUT | ISA_CMP))
		insn.sdst = row->flags & ISA_CMPX && lanes == 32 ? ISA_NONE : MASK_OUT;
	if (row->dst)
		/* it may be a source as well */
		insn.dst = (u16)(ISA_VGPR + (s[0].vector && s[0].width == row->dst && rnd(3) == 0 ? s[0].reg : DST));
	w->s[MASK_IN] = (u32)in;
	w->s[MASK_IN + 1] = (u32)(in >> 32);
	w->s[ISA_EXEC] = (u32)exec;
	w->s[ISA_EXEC + 1] = (u32)(exec >> 32);
	reload(&insn);
	for (l = 0; l < lanes; l++) {
		d = row->dst ? vgpr(insn.dst - ISA_VGPR)[l] : 0;
		if (row->dst == 2)
			d |= (u64)vgpr(insn.dst - ISA_VGPR + 1)[l] << 32;
		old[l] = d;
		if (exec >> l & 1) {
			old[l] = refs[op](value(&s[0], l), value(&s[1], l), value(&s[2], l), l, in >> l & 1, &out);
			bits |= (u64)!!out << l;
		}
	}
	step();
	for (l = 0; row->dst && l < lanes; l++) {
		got = vgpr(insn.dst - ISA_VGPR)[l];
		if (row->dst == 2)
			got |= (u64)vgpr(insn.dst - ISA_VGPR + 1)[l] << 32;
		want = old[l];
		if (got != want)
			fail_msg("%s: lane %u of %u is %#llx, not %#llx", row->name[0], l, lanes,
				 (unsigned long long)got, (unsigned long long)want);
	}
	got = w->s[MASK_OUT] | (u64)w->s[MASK_OUT + 1] << 32;
	if (insn.sdst != ISA_NONE && got != bits)
		fail_msg("%s: its bits are %#llx, not %#llx", row->name[0], (unsigned long long)got,
			 (unsigned long long)bits);
	got = w->s[ISA_EXEC] | (u64)w->s[ISA_EXEC + 1] << 32;
	if (got != (row->flags & ISA_CMPX ? bits : exec))
		fail_msg("%s: EXEC is %#llx", row->name[0], (unsigned long long)got);
}

static void test_results(void **state)
{
	u32 op, i;

	(void)state;
	for (op = 0; op < ISA_OPS; op++)
		for (i = 0; refs[op] && i < 24; i++)
			once(op, i % 3 ? 64 : 32);
}

static void test_lanes(void **state)
{
	struct isa_insn insn = { .op = OP_v_readfirstlane_b32, .format = ISA_VOP1, .dwords = 1, .dst = 5,
				 .sdst = ISA_NONE, .src = { ISA_VGPR + 3, ISA_NONE, ISA_NONE } };
	struct isa_wave *w = machine(64, &insn);
	u32 i, l;

	(void)state;
	step();
	assert_int_equal(w->s[5], vgpr(3)[0]);
	w->s[ISA_EXEC] = 0;
	w->s[ISA_EXEC + 1] = 8;
	reload(&insn);
	step();
	assert_int_equal(w->s[5], vgpr(3)[35]);
	w->s[ISA_EXEC + 1] = 0;
	reload(&insn);
	step();
	assert_int_equal(w->s[5], vgpr(3)[0]);
	insn.op = OP_v_readlane_b32;
	insn.src[1] = 6;
	w->s[6] = 64 + 17;
	reload(&insn);
	step();
	assert_int_equal(w->s[5], vgpr(3)[17]);
	insn.op = OP_v_writelane_b32;
	insn.dst = ISA_VGPR + 4;
	insn.src[0] = 7;
	w->s[7] = 0x1234567;
	for (i = 0; i < 2; i++) {
		u32 before = vgpr(4)[16];

		l = i ? 17 : 63;
		w->s[6] = l;
		reload(&insn);
		step();
		assert_int_equal(vgpr(4)[l], 0x1234567);
		assert_int_equal(vgpr(4)[16], before);
	}
}

static void test_pk_mov(void **state)
{
	struct isa_insn insn = { .op = OP_v_pk_mov_b32, .format = ISA_VOP3P, .dwords = 2,
				 .dst = ISA_VGPR + 10, .sdst = ISA_NONE,
				 .src = { ISA_VGPR + 2, ISA_VGPR + 4, ISA_NONE } };
	u32 i;

	(void)state;
	for (i = 0; i < 4; i++) {
		insn.mods = (u8)((i & 1 ? ISA_OPSEL_0 : 0) | (i & 2 ? ISA_OPSEL_1 : 0));
		machine(64, &insn);
		step();
		assert_int_equal(vgpr(10)[7], vgpr(2 + (i & 1))[7]);
		assert_int_equal(vgpr(11)[7], vgpr(4 + (i >> 1))[7]);
	}
}

/* Both halves of VOPD read before either writes */
static void test_dual(void **state)
{
	struct isa_insn insn[2] = {
		{ .op = OP_v_mov_b32, .format = ISA_VOPD, .dwords = 2, .dst = ISA_VGPR + 2, .sdst = ISA_NONE,
		  .src = { ISA_VGPR + 3, ISA_NONE, ISA_NONE } },
		{ .op = OP_v_add_u32, .format = ISA_VOPD, .dst = ISA_VGPR + 3, .sdst = ISA_NONE,
		  .src = { ISA_VGPR + 2, ISA_VGPR + 4, ISA_NONE } },
	};
	struct isa_wave *w = machine(32, insn);
	u32 a = vgpr(2)[5], b = vgpr(3)[5], c = vgpr(4)[5], other = vgpr(2)[6];

	(void)state;
	w->s[ISA_EXEC] = 1 << 5;
	step();
	assert_int_equal(vgpr(2)[5], b);
	assert_int_equal(vgpr(3)[5], a + c);
	assert_int_equal(vgpr(2)[6], other);
	assert_int_equal(w->pc, 2);
}

int vector_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_complete), cmocka_unit_test(test_results),
		cmocka_unit_test(test_lanes), cmocka_unit_test(test_pk_mov), cmocka_unit_test(test_dual),
	};

	return cmocka_run_group_tests_name("vector instructions", tests, NULL, NULL);
}
