/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the host computes in place of the kernels of tests/unit/isa/kernel, for programs in C and in C++: all of
 * them have the same inputs, and the same results.
 */
#ifndef CHECK_KERNELS_H
#define CHECK_KERNELS_H

#include <stdint.h>
#include <string.h>

#define N		64
#define ALL		(N * N)
#define OUT		(ALL + 64)
#define GROUP		256	/* work-items */

/* The arguments of each kernel */
struct arguments {
	const uint32_t *a, *b;
	uint32_t *out;
	uint32_t n;
};

static inline void host_add(const uint32_t *a, const uint32_t *b, uint32_t *want, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		want[i] = a[i] + b[i];
}

static inline void host_copy(const uint32_t *a, const uint32_t *b, uint32_t *want, uint32_t n)
{
	(void)b;
	memcpy(want, a, n / 2 * 8);
}

static inline void host_reduce(const uint32_t *a, const uint32_t *b, uint32_t *want, uint32_t n)
{
	uint32_t i, k, sum;

	for (i = 0; i < 1024; i++) {
		sum = 0;
		for (k = i; k < n; k += 1024)
			sum += a[k] * b[k];
		want[0] += sum;
		want[1 + sum % 16]++;
	}
}

static inline void host_gemm(const uint32_t *a, const uint32_t *b, uint32_t *want, uint32_t n)
{
	uint32_t i, j, k;

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			for (k = 0; k < n; k++)
				want[i * n + j] += a[i * n + k] * b[k * n + j];
}

/**
 * struct test - a kernel
 * @name: its name
 * @groups: work-groups of a dispatch, in one dimension
 * @n: its last argument
 * @host: adds what it computes to @want, which is OUT dwords
 * @lds: bytes of LDS beside the kernel's own
 */
struct test {
	const char *name;
	uint32_t groups, n;
	void (*host)(const uint32_t *a, const uint32_t *b, uint32_t *want, uint32_t n);
	uint32_t lds;
};

static const struct test tests[] = {
	{ "add", 16, ALL, host_add, 0 }, { "copy", 4, ALL, host_copy, 0 }, { "reduce", 4, ALL, host_reduce, 0 },
	{ "gemm", 16, N, host_gemm, 0 },
};

#define TESTS	(sizeof(tests) / sizeof(*tests))

static inline uint32_t rnd(void)
{
	static uint64_t seed = 88172645463325252ULL;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 16);
}

/* The first ALL pairs of random numbers of a program */
static inline void inputs(uint32_t *a, uint32_t *b)
{
	uint32_t i;

	for (i = 0; i < ALL; i++) {
		a[i] = rnd();
		b[i] = rnd();
	}
}

#endif
