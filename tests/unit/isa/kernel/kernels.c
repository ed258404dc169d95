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

#define TABLE	24

/*
 * Each item has tables in scratch memory, in which it chooses elements at run time: by addresses there, and, as clang makes of
 * volatile, by flat ones. n is 64 at least.
 */
KERNEL void stack(GLOBAL const u32 *a, GLOBAL const u32 *b, GLOBAL u32 *out, u32 n)
{
	u32 i = GROUP * 256 + ITEM, k, sum = 0, words[TABLE];
	volatile u32 flat[TABLE];

	if (i >= n)
		return;
	for (k = 0; k < TABLE; k++) {
		words[k] = a[i] + k * k;
		flat[k] = b[i] ^ k;
	}
	for (k = 0; k < TABLE; k++) {
		words[b[(i + k) & 63] % TABLE] += words[k] ^ i;
		flat[b[(i + k) & 63] % TABLE] += words[k];
	}
	for (k = 0; k < TABLE; k++)
		sum = sum * 31 + words[k] + flat[k];
	out[i] = sum;
}

/* LDS whose size is that of the dispatch: n dwords are written, and those behind them, which are none, read */
extern __attribute__((address_space(3))) u32 dynamic_lds[];

KERNEL void dynamic(GLOBAL const u32 *a, GLOBAL const u32 *b, GLOBAL u32 *out, u32 n)
{
	u32 item = ITEM, k, sum = 0;

	_Pragma("clang loop vectorize(disable)")
	for (k = item; k < n; k += 256)
		dynamic_lds[k] = a[k & 4095] + k;
	barrier();
	_Pragma("clang loop vectorize(disable)")
	for (k = item; k < n; k += 256)
		sum = sum * 3 + dynamic_lds[n - 1 - k];
	out[GROUP * 256 + item] = sum + dynamic_lds[n + item] + b[item];
}

/* The last work-group sets the signal b to 0 and interrupts the host, as the device library does */
KERNEL void notify(GLOBAL const u32 *a, GLOBAL u64 *signal, GLOBAL u32 *out, u32 n)
{
	u32 i = GROUP * 256 + ITEM, event;

	out[i] = a[i] ^ n;
	barrier();
	if (ITEM || __atomic_fetch_sub(signal + 1, 1, __ATOMIC_ACQ_REL) != 1)
		return;
	event = (u32)signal[3];
	__atomic_store_n((GLOBAL u64 *)signal[2], event, __ATOMIC_RELEASE);
	__builtin_amdgcn_s_sendmsg(1, __builtin_amdgcn_readfirstlane(event) & 0xff);
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
