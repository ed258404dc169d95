// SPDX-License-Identifier: GPL-2.0
/* The kernels of kernels.c in HIP, for hipcc */
#include <hip/hip_runtime.h>

typedef unsigned int u32;
typedef unsigned long u64;

#define KERNEL	extern "C" __global__ void

KERNEL add(const u32 *a, const u32 *b, u32 *out, u32 n)
{
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = a[i] + b[i];
}

KERNEL copy(const u64 *a, const u32 *, u64 *out, u32 n)
{
	for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 2; i += blockDim.x * gridDim.x)
		out[i] = a[i];
}

KERNEL reduce(const u32 *a, const u32 *b, u32 *out, u32 n)
{
	__shared__ u32 part[256];
	u32 item = threadIdx.x, sum = 0;

	for (u32 i = blockIdx.x * blockDim.x + item; i < n; i += blockDim.x * gridDim.x)
		sum += a[i] * b[i];
	part[item] = sum;
	__syncthreads();
	for (u32 i = 128; i; i >>= 1) {
		if (item < i)
			part[item] += part[item + i];
		__syncthreads();
	}
	if (!item)
		atomicAdd(out, part[0]);
	atomicAdd(out + 1 + sum % 16, 1);
}

KERNEL gemm(const u32 *a, const u32 *b, u32 *out, u32 n)
{
	__shared__ u32 part_a[16][17], part_b[16][17];
	u32 x = threadIdx.x & 15, y = threadIdx.x >> 4, sum = 0;
	u32 left = blockIdx.x % (n / 16) * 16, top = blockIdx.x / (n / 16) * 16;

	for (u32 k = 0; k < n; k += 16) {
		part_a[y][x] = a[(top + y) * n + k + x];
		part_b[y][x] = b[(k + y) * n + left + x];
		__syncthreads();
		for (u32 i = 0; i < 16; i++)
			sum += part_a[y][i] * part_b[i][x];
		__syncthreads();
	}
	out[(top + y) * n + left + x] = sum;
}
