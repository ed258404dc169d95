// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: f32 arithmetic in integers: exact, and the same on every host.
 *
 * The kernel's own floating point would need kernel_fpu_begin() around each instruction, and the result
 * would depend on the modes of the host's processor. Rounding is to nearest, ties to even, the only mode that a
 * kernel is accepted with.
 */
#include "isa-int.h"

#define F32_INF		0x7f800000u
#define F32_NAN		0x7fc00000u
#define F32_SIGN	0x80000000u
#define F32_ONE		0x3f800000u

static bool is_nan(u32 a)
{
	return (a & ~F32_SIGN) > F32_INF;
}

/* Shift right; bits that are lost set the lowest bit */
static u64 shift_jam(u64 m, u32 by)
{
	if (!by)
		return m;
	if (by > 63)
		return m != 0;
	return m >> by | ((m & ((1ULL << by) - 1)) != 0);
}

/* m * 2^e as f32; m != 0 */
static u32 pack(u32 sign, u64 m, s32 e, bool denormals)
{
	u32 zeros = __builtin_clzll(m), r;
	s32 exp = e - (s32)zeros + 63 + 127;

	m <<= zeros;
	if (exp >= 255)
		return sign | F32_INF;
	if (exp <= 0) {
		m = shift_jam(m, 1 - exp);
		exp = 1;
	}
	r = m >> 40;
	m &= (1ULL << 40) - 1;
	r += m > 1ULL << 39 || (m == 1ULL << 39 && r & 1);
	/* the leading bit, if there is one, is 1 in the exponent */
	r += (u32)(exp - 1) << 23;
	if (r >= F32_INF)
		r = F32_INF;
	if (r < 1 << 23 && !denormals)
		r = 0;
	return sign | r;
}

/* A finite number is m * 2^e */
static u32 unpack(u32 a, s32 *e)
{
	u32 exp = a >> 23 & 0xff;

	*e = (s32)(exp ? exp : 1) - 150;
	return (a & 0x7fffff) | (exp ? 1 << 23 : 0);
}

static u32 flush(u32 a, bool denormals)
{
	return !denormals && !(a & F32_INF) ? a & F32_SIGN : a;
}

/**
 * isa_fma - a * b + c, rounded once
 * @a: factor
 * @b: factor
 * @c: addend
 * @denormals: they are kept; otherwise sources and results that are denormal count as 0
 */
u32 isa_fma(u32 a, u32 b, u32 c, bool denormals)
{
	u32 sign, csign = c & F32_SIGN, ma, mb, mc;
	s32 ea, eb, ec, e;
	u64 p, q;

	if (is_nan(a) || is_nan(b) || is_nan(c))
		return (is_nan(a) ? a : is_nan(b) ? b : c) | 1 << 22;
	a = flush(a, denormals);
	b = flush(b, denormals);
	c = flush(c, denormals);
	sign = (a ^ b) & F32_SIGN;
	if ((a & F32_INF) == F32_INF || (b & F32_INF) == F32_INF) {
		if (!(a << 1) || !(b << 1) || ((c & ~F32_SIGN) == F32_INF && csign != sign))
			return F32_NAN;
		return sign | F32_INF;
	}
	if ((c & F32_INF) == F32_INF)
		return c;
	ma = unpack(a, &ea);
	mb = unpack(b, &eb);
	mc = unpack(c, &ec);
	/* 62 bits each: 14 and 38 below what is there, so that a sum of both fits and rounds once */
	p = (u64)ma * mb << 14;
	e = ea + eb - 14;
	q = (u64)mc << 38;
	ec -= 38;
	if (!p && !q)
		return sign == csign ? sign : 0;
	if (!p)
		return pack(csign, q, ec, denormals);
	if (!q)
		return pack(sign, p, e, denormals);
	/* a factor may be denormal: its leading bit is where that of others is */
	if (p < 1ULL << 60) {
		u32 zeros = __builtin_clzll(p) - 2;

		p <<= zeros;
		e -= (s32)zeros;
	}
	if (q < 1ULL << 60) {
		u32 zeros = __builtin_clzll(q) - 2;

		q <<= zeros;
		ec -= (s32)zeros;
	}
	if (e < ec) {
		p = shift_jam(p, (u32)(ec - e));
		e = ec;
	} else {
		q = shift_jam(q, (u32)(e - ec));
	}
	if (sign == csign)
		return pack(sign, p + q, e, denormals);
	if (p == q)
		return 0;
	return p > q ? pack(sign, p - q, e, denormals) : pack(csign, q - p, e, denormals);
}

/**
 * isa_fadd - a + b
 * @a: first
 * @b: second
 * @denormals: as in isa_fma()
 */
u32 isa_fadd(u32 a, u32 b, bool denormals)
{
	return isa_fma(a, F32_ONE, b, denormals);
}

/**
 * isa_fmul - a * b
 * @a: first
 * @b: second
 * @denormals: as in isa_fma()
 */
u32 isa_fmul(u32 a, u32 b, bool denormals)
{
	return isa_fma(a, b, F32_SIGN, denormals);	/* -0 changes no result, not even a zero */
}

/**
 * isa_frcp - 1 / a, correctly rounded; hardware may be off by 1 ulp
 * @a: divisor
 * @denormals: as in isa_fma()
 */
u32 isa_frcp(u32 a, bool denormals)
{
	u32 sign = a & F32_SIGN, m;
	u64 q, r;
	s32 e;

	if (is_nan(a))
		return a | 1 << 22;
	a = flush(a, denormals);
	if (!(a << 1))
		return sign | F32_INF;
	if ((a & F32_INF) == F32_INF)
		return sign;
	m = unpack(a, &e);
	/* 2^62 / m has 39 bits at least */
	q = (1ULL << 62) / m;
	r = (1ULL << 62) % m;
	return pack(sign, q << 1 | (r != 0), -e - 63, denormals);
}

/**
 * isa_fcmp - compare
 * @a: first
 * @b: second
 * @denormals: as in isa_fma()
 *
 * Return: ISA_LT, ISA_EQ, ISA_GT, or 0: unordered
 */
u32 isa_fcmp(u32 a, u32 b, bool denormals)
{
	s32 x, y;

	if (is_nan(a) || is_nan(b))
		return 0;
	a = flush(a, denormals);
	b = flush(b, denormals);
	x = a & F32_SIGN ? -(s32)(a & ~F32_SIGN) : (s32)a;
	y = b & F32_SIGN ? -(s32)(b & ~F32_SIGN) : (s32)b;
	return x < y ? ISA_LT : x > y ? ISA_GT : ISA_EQ;
}

/**
 * isa_from_int - an integer as f32
 * @a: the integer
 * @is_signed: it is an s32
 */
u32 isa_from_int(u32 a, bool is_signed)
{
	u32 sign = is_signed ? a & F32_SIGN : 0;

	return a ? pack(sign, sign ? -a : a, 0, true) : 0;
}

/**
 * isa_to_int - f32 as an integer, rounded to 0; a value out of range becomes the nearest in it, NaN is 0
 * @a: the number
 * @is_signed: to s32
 */
u32 isa_to_int(u32 a, bool is_signed)
{
	bool negative = a & F32_SIGN;
	u32 most = is_signed ? negative ? F32_SIGN : ~F32_SIGN : negative ? 0 : ~0u, m;
	s32 e;

	if (is_nan(a))
		return 0;
	if ((a & F32_INF) == F32_INF)
		return most;
	m = unpack(a, &e);
	if (e < -31)
		return 0;
	if (e > 8)
		return most;
	if (e < 0) {
		m >>= -e;
	} else {
		u64 wide = (u64)m << e;

		if (wide > (is_signed ? negative ? F32_SIGN : ~F32_SIGN : ~0u))
			return most;
		m = (u32)wide;
	}
	return !negative ? m : is_signed ? -m : 0;
}
