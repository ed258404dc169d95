// SPDX-License-Identifier: GPL-2.0
/*
 * f32 arithmetic against the host's, which rounds correctly as well: any difference is an error. Denormals that
 * are flushed are compared with the host's result of flushed operands.
 */
#include <math.h>
#include "fixture.h"

static float f(u32 a)
{
	float x;

	memcpy(&x, &a, 4);
	return x;
}

static u32 bits(float x)
{
	u32 a;

	memcpy(&a, &x, 4);
	return a;
}

/* Numbers near each other, denormals, infinities, what rounds to even */
static u32 number(void)
{
	static const u32 some[] = {
		0, 1, 2, 0x7fffff, 0x800000, 0x800001, 0x3f800000, 0x3f800001, 0x3f7fffff, 0x4b800000,
		0x7f7fffff, 0x7f800000, 0x7fc00000, 0x7f800001, 0x00400000, 0x33800000, 0x34000000,
	};
	u32 sign = rnd(2) << 31;

	switch (rnd(6)) {
	case 0:
		return some[rnd(sizeof(some) / sizeof(*some))] | sign;
	case 1:
		return rnd32();
	case 2:
		return sign | (126 + rnd(4)) << 23 | rnd(4) | (rnd(2) ? 0x7ffffc : 0);
	case 3:
		return sign | rnd(30) << 23 | (rnd32() & 0x7fffff);
	default:
		return sign | (100 + rnd(50)) << 23 | (rnd32() & 0x7fffff & ~(rnd(2) ? 0xfff : 0));
	}
}

static u32 flushed(u32 a)
{
	return a & 0x7f800000 ? a : a & 0x80000000;
}

static void same(const char *op, u32 a, u32 b, u32 c, u32 got, u32 want)
{
	if (isnan(f(got)) && isnan(f(want)) && got & 1 << 22)
		return;
	if (got != want)
		fail_msg("%s(%#x, %#x, %#x) is %#x, not %#x", op, a, b, c, got, want);
}

/* Execute an instruction of three sources in one lane */
static u32 run(u32 op, u32 a, u32 b, u32 c, bool denormals, u32 neg, u32 abs)
{
	struct isa_insn insn = { .op = (u16)op, .format = ISA_VOP3, .dwords = 2, .dst = ISA_VGPR + 3,
				 .sdst = ISA_NONE, .src = { ISA_VGPR, ISA_NONE, ISA_NONE },
				 .neg = (u8)neg, .abs = (u8)abs };
	const struct isa_row *row = &isa_rows[op];
	static struct isa_wave *w;

	if (!w)
		w = machine(64, &insn);
	w->s[ISA_EXEC] = 2;
	w->s[ISA_EXEC + 1] = 0;
	if (row->src[1])
		insn.src[1] = ISA_VGPR + 1;
	if (op == OP_v_fma_f32 || row->flags & (ISA_MK | ISA_AK))
		insn.src[2] = ISA_VGPR + 2;
	vgpr(0)[1] = a;
	vgpr(1)[1] = b;
	vgpr(2)[1] = c;
	vgpr(3)[1] = c;		/* v_fmac_f32 adds it */
	group()->denormals = denormals;
	reload(&insn);
	step();
	return vgpr(3)[1];
}

static void test_arithmetic(void **state)
{
	static const u32 fmas[] = { OP_v_fma_f32, OP_v_fmac_f32, OP_v_fmamk_f32, OP_v_fmaak_f32 };
	u32 a, b, c, i, n = option("STEPS", 20000), op;

	(void)state;
	/* the product is half way between two numbers, and what is far below it decides */
	for (i = 0; i < 8; i++) {
		a = i & 2 ? 0x3f800801 : 0x3f800800;
		b = 0x3f800800;
		c = (i & 4 ? 0x21000000 : 0x0d800000) | (i & 1) << 31;
		same("fma", a, b, c, run(OP_v_fma_f32, a, b, c, true, 0, 0), bits(fmaf(f(a), f(b), f(c))));
	}
	for (i = 0; i < n; i++) {
		a = number();
		b = number();
		c = rnd(3) ? number() : bits(-f(a) * f(b)) + rnd(3) - 1;
		same("add", a, b, 0, run(OP_v_add_f32, a, b, 0, true, 0, 0), bits(f(a) + f(b)));
		same("sub", a, b, 0, run(OP_v_sub_f32, a, b, 0, true, 0, 0), bits(f(a) - f(b)));
		same("subrev", a, b, 0, run(OP_v_subrev_f32, a, b, 0, true, 0, 0), bits(f(b) - f(a)));
		same("mul", a, b, 0, run(OP_v_mul_f32, a, b, 0, true, 0, 0), bits(f(a) * f(b)));
		op = fmas[i % 4];
		same("fma", a, b, c, run(op, a, b, c, true, 0, 0), bits(fmaf(f(a), f(b), f(c))));
		same("rcp", a, 0, 0, run(i % 2 ? OP_v_rcp_f32 : OP_v_rcp_iflag_f32, a, 0, 0, true, 0, 0),
		     bits(1 / f(a)));
		same("flushed fma", a, b, c, run(OP_v_fma_f32, a, b, c, false, 0, 0),
		     flushed(bits(fmaf(f(flushed(a)), f(flushed(b)), f(flushed(c))))));
	}
}

static void test_modifiers(void **state)
{
	u32 a, b, c, i, neg, abs, x, y, z;

	(void)state;
	for (i = 0; i < 2000; i++) {
		a = number();
		b = number();
		c = number();
		neg = rnd(8);
		abs = rnd(8);
		x = (abs & 1 ? a & ~(1u << 31) : a) ^ (neg & 1) << 31;
		y = (abs & 2 ? b & ~(1u << 31) : b) ^ (neg >> 1 & 1) << 31;
		z = (abs & 4 ? c & ~(1u << 31) : c) ^ (neg >> 2 & 1) << 31;
		same("fma", x, y, z, run(OP_v_fma_f32, a, b, c, true, neg, abs), bits(fmaf(f(x), f(y), f(z))));
	}
}

static u32 to_int(float x, bool is_signed)
{
	if (isnan(x))
		return 0;
	if (is_signed)
		return x >= 0x1p31f ? 0x7fffffff : x < -0x1p31f ? 0x80000000 : (u32)(s32)x;
	return x >= 0x1p32f ? ~0u : x <= 0 ? 0 : (u32)x;
}

static void test_conversions(void **state)
{
	u32 a, i, n = option("STEPS", 20000);

	(void)state;
	for (i = 0; i < n; i++) {
		a = (u32)interesting();
		same("from s32", a, 0, 0, run(OP_v_cvt_f32_i32, a, 0, 0, true, 0, 0), bits((float)(s32)a));
		same("from u32", a, 0, 0, run(OP_v_cvt_f32_u32, a, 0, 0, true, 0, 0), bits((float)a));
		a = rnd(2) ? number() : bits((float)(s32)a) + rnd(3) - 1;
		assert_int_equal(run(OP_v_cvt_i32_f32, a, 0, 0, true, 0, 0), to_int(f(a), true));
		assert_int_equal(run(OP_v_cvt_u32_f32, a, 0, 0, true, 0, 0), to_int(f(a), false));
	}
}

int float_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arithmetic), cmocka_unit_test(test_modifiers),
		cmocka_unit_test(test_conversions),
	};

	return cmocka_run_group_tests_name("f32", tests, NULL, NULL);
}
