// SPDX-License-Identifier: GPL-2.0
/*
 * compute SECONDS - HIP kernels whose results are compared bit by bit with the host's, again and again for
 * SECONDS: on the simulated GPU with its parameter execute. TAP; status 0 if all is right.
 */
#include "../sim/check/kernels.h"
#include "../unit/isa/kernel/kernels.hip"
#include "hip.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

static std::vector<u32> a(ALL), b(ALL), out(OUT), want(OUT);

static u32 *dev_a, *dev_b, *dev_out;

static void launch(u32 which)
{
	const test &t = tests[which];
	const dim3 groups(t.groups), items(GROUP);

	switch (which) {
	case 0:
		hipLaunchKernelGGL(add, groups, items, 0, 0, dev_a, dev_b, dev_out, t.n);
		break;
	case 1:
		hipLaunchKernelGGL(copy, groups, items, 0, 0, (u64 *)dev_a, dev_b, (u64 *)dev_out, t.n);
		break;
	case 2:
		hipLaunchKernelGGL(reduce, groups, items, 0, 0, dev_a, dev_b, dev_out, t.n);
		break;
	default:
		hipLaunchKernelGGL(gemm, groups, items, 0, 0, dev_a, dev_b, dev_out, t.n);
	}
	MUST(hipGetLastError());
}

static double now()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1, end;
	unsigned int count[TESTS] = {}, wrong[TESTS] = {}, i, failed = 0;
	const size_t bytes = ALL * sizeof(u32);

	MUST(hipSetDeviceFlags(hipDeviceScheduleBlockingSync));
	MUST(hipMalloc((void **)&dev_a, bytes));
	MUST(hipMalloc((void **)&dev_b, bytes));
	MUST(hipMalloc((void **)&dev_out, OUT * sizeof(u32)));
	end = now() + seconds;
	do {
		inputs(a.data(), b.data());
		MUST(hipMemcpy(dev_a, a.data(), bytes, hipMemcpyHostToDevice));
		MUST(hipMemcpy(dev_b, b.data(), bytes, hipMemcpyHostToDevice));
		for (i = 0; i < TESTS; i++) {
			std::fill(out.begin(), out.end(), 0);
			std::fill(want.begin(), want.end(), 0);
			MUST(hipMemcpy(dev_out, out.data(), OUT * sizeof(u32), hipMemcpyHostToDevice));
			launch(i);
			MUST(hipDeviceSynchronize());
			MUST(hipMemcpy(out.data(), dev_out, OUT * sizeof(u32), hipMemcpyDeviceToHost));
			tests[i].host(a.data(), b.data(), want.data(), tests[i].n);
			wrong[i] += out != want;
			count[i]++;
		}
	} while (now() < end);
	for (i = 0; i < TESTS; i++) {
		printf("%sok %u - HIP: %s, %u times, %u times wrong\n", wrong[i] ? "not " : "", i + 1,
		       tests[i].name, count[i], wrong[i]);
		failed += wrong[i];
	}
	printf("1..%zu\n", TESTS);
	return failed > 0;
}
