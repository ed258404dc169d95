// SPDX-License-Identifier: GPL-2.0
/*
 * compute SECONDS - HIP kernels whose results are compared bit by bit with the host's, again and again for
 * SECONDS: on the simulated GPU with its parameter execute. TAP; status 0 if all is right.
 */
#include "../unit/isa/kernel/kernels.hip"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#define N	64
#define ALL	(N * N)
#define OUT	(ALL + 64)

#define MUST(call) do {									\
	hipError_t e_ = (call);								\
	if (e_ != hipSuccess) {								\
		printf("Bail out! %s: %s\n", #call, hipGetErrorString(e_));		\
		exit(1);								\
	}										\
} while (0)

static std::vector<u32> a(ALL), b(ALL), out(OUT), want(OUT);

static void host_add()
{
	for (u32 i = 0; i < ALL; i++)
		want[i] = a[i] + b[i];
}

static void host_copy()
{
	want = a;
	want.resize(OUT);
}

static void host_reduce()
{
	for (u32 i = 0; i < 1024; i++) {
		u32 sum = 0;

		for (u32 k = i; k < ALL; k += 1024)
			sum += a[k] * b[k];
		want[0] += sum;
		want[1 + sum % 16]++;
	}
}

static void host_gemm()
{
	for (u32 i = 0; i < N; i++)
		for (u32 j = 0; j < N; j++)
			for (u32 k = 0; k < N; k++)
				want[i * N + j] += a[i * N + k] * b[k * N + j];
}

static u32 *dev_a, *dev_b, *dev_out;

static void launch(u32 which)
{
	switch (which) {
	case 0:
		hipLaunchKernelGGL(add, dim3(16), dim3(256), 0, 0, dev_a, dev_b, dev_out, ALL);
		break;
	case 1:
		hipLaunchKernelGGL(copy, dim3(4), dim3(256), 0, 0, (u64 *)dev_a, dev_b, (u64 *)dev_out, ALL);
		break;
	case 2:
		hipLaunchKernelGGL(reduce, dim3(4), dim3(256), 0, 0, dev_a, dev_b, dev_out, ALL);
		break;
	default:
		hipLaunchKernelGGL(gemm, dim3(16), dim3(256), 0, 0, dev_a, dev_b, dev_out, N);
	}
	MUST(hipGetLastError());
}

static const struct {
	const char *name;
	void (*host)();
} tests[] = {
	{ "vector add", host_add }, { "copy", host_copy }, { "reduction with atomics", host_reduce },
	{ "integer GEMM", host_gemm },
};

static double now()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1, end;
	unsigned int count[4] = {}, wrong[4] = {}, i, failed = 0;
	const size_t bytes = ALL * sizeof(u32);
	u32 seed = 1;

	MUST(hipSetDeviceFlags(hipDeviceScheduleBlockingSync));
	MUST(hipMalloc((void **)&dev_a, bytes));
	MUST(hipMalloc((void **)&dev_b, bytes));
	MUST(hipMalloc((void **)&dev_out, OUT * sizeof(u32)));
	end = now() + seconds;
	do {
		for (i = 0; i < ALL; i++) {
			a[i] = seed = seed * 1664525 + 1013904223;
			b[i] = seed = seed * 1664525 + 1013904223;
		}
		MUST(hipMemcpy(dev_a, a.data(), bytes, hipMemcpyHostToDevice));
		MUST(hipMemcpy(dev_b, b.data(), bytes, hipMemcpyHostToDevice));
		for (i = 0; i < 4; i++) {
			std::fill(out.begin(), out.end(), 0);
			std::fill(want.begin(), want.end(), 0);
			MUST(hipMemcpy(dev_out, out.data(), OUT * sizeof(u32), hipMemcpyHostToDevice));
			launch(i);
			MUST(hipDeviceSynchronize());
			MUST(hipMemcpy(out.data(), dev_out, OUT * sizeof(u32), hipMemcpyDeviceToHost));
			tests[i].host();
			wrong[i] += out != want;
			count[i]++;
		}
	} while (now() < end);
	for (i = 0; i < 4; i++) {
		printf("%sok %u - HIP: %s, %u times, %u times wrong\n", wrong[i] ? "not " : "", i + 1,
		       tests[i].name, count[i], wrong[i]);
		failed += wrong[i];
	}
	printf("1..4\n");
	return failed > 0;
}
