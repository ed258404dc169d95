// SPDX-License-Identifier: GPL-2.0
/*
 * Kernels that clang compiles for the simulated GPU, without any library. Each work-group has 256 items in one
 * dimension. The results are compared with those of test-kernel.c.
 */
typedef unsigned int u32;
typedef unsigned long u64;

#define KERNEL	__attribute__((amdgpu_kernel))
#define GLOBAL	__attribute__((address_space(1)))
#define LDS	static __attribute__((loader_uninitialized, address_space(3)))
#define ITEM	__builtin_amdgcn_workitem_id_x()
#define GROUP	__builtin_amdgcn_workgroup_id_x()

static void barrier(void)
{
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

KERNEL void add(GLOBAL const u32 *a, GLOBAL const u32 *b, GLOBAL u32 *out, u32 n)
{
	u32 i = GROUP * 256 + ITEM;

	if (i < n)
		out[i] = a[i] + b[i];
}

KERNEL void copy(GLOBAL const u64 *a, GLOBAL const u32 *unused, GLOBAL u64 *out, u32 n)
{
	u32 i;

	for (i = GROUP * 256 + ITEM; i < n / 2; i += 1024)
		out[i] = a[i];
}

KERNEL void reduce(GLOBAL const u32 *a, GLOBAL const u32 *b, GLOBAL u32 *out, u32 n)
{
	LDS u32 part[256];
	u32 i, item = ITEM, sum = 0;

	for (i = GROUP * 256 + item; i < n; i += 1024)
		sum += a[i] * b[i];
	part[item] = sum;
	barrier();
	for (i = 128; i; i >>= 1) {
		if (item < i)
			part[item] += part[item + i];
		barrier();
	}
	if (!item)
		__atomic_fetch_add(out, part[0], __ATOMIC_RELAXED);
	__atomic_fetch_add(out + 1 + sum % 16, 1, __ATOMIC_RELAXED);
}

/* n is a multiple of 16; work-group g computes 16 * 16 elements */
KERNEL void gemm(GLOBAL const u32 *a, GLOBAL const u32 *b, GLOBAL u32 *out, u32 n)
{
	LDS u32 part_a[16][17], part_b[16][17];
	u32 x = ITEM & 15, y = ITEM >> 4, left = GROUP % (n / 16) * 16, top = GROUP / (n / 16) * 16;
	u32 i, k, sum = 0;

	for (k = 0; k < n; k += 16) {
		part_a[y][x] = a[(top + y) * n + k + x];
		part_b[y][x] = b[(k + y) * n + left + x];
		barrier();
		for (i = 0; i < 16; i++)
			sum += part_a[y][i] * part_b[i][x];
		barrier();
	}
	out[(top + y) * n + left + x] = sum;
}

/* Each item its own number of rounds, with division, 64 bits and bytes */
KERNEL void mixed(GLOBAL const u32 *a, GLOBAL const u32 *b, GLOBAL u32 *out, u32 n)
{
	u32 i = GROUP * 256 + ITEM, rounds, k;
	u64 x;

	if (i >= n)
		return;
	x = a[i] | (u64)b[i] << 32;
	rounds = a[i] % 23 + 1;
	for (k = 0; k < rounds; k++) {
		if (x & 1)
			x = x * 3 + 1;
		else
			x = (x >> 3) ^ (x << 17) ^ b[(i + k) % n] / (a[i] % 7 + 1);
		x += (signed char)(x >> 5) < (int)k ? -5 : 3;
	}
	out[i] = (u32)(x ^ x >> 32);
}

/* Does not end before others write to b; for the simulated GPU */
KERNEL void spin(GLOBAL const u32 *unused, GLOBAL const volatile u32 *b, GLOBAL u32 *out, u32 n)
{
	while (!*b)
		;
	out[ITEM] = n;
}

KERNEL void saxpy(GLOBAL const float *a, GLOBAL const float *b, GLOBAL float *out, u32 n)
{
	u32 i = GROUP * 256 + ITEM;

	if (i < n)
		out[i] = a[i] * 2.5f + b[i] * b[i];
}
