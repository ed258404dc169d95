// SPDX-License-Identifier: GPL-2.0
// Small products whose results are compared bit by bit with the host's; the simulated GPU has to execute
// them (execute=1).  Prints how many there were, how many were wrong, and how often one of them was preempted
// in mid-kernel.
//
//	product SECONDS N
#include "gemm.h"
#include <cmath>
#include <cstring>
#include <vector>

// What the kernel does: a sum of fused products, in their order
static void on_host(const std::vector<float> &a, const std::vector<float> &b, std::vector<float> &c, int n)
{
	for (int row = 0; row < n; row++)
		for (int col = 0; col < n; col++) {
			float sum = 0;

			for (int k = 0; k < n; k++)
				sum = fmaf(a[row * n + k], b[k * n + col], sum);
			c[row * n + col] = sum;
		}
}

// Work-groups that were saved before their end, of all processes
static long saved()
{
	FILE *f = fopen("/sys/kernel/debug/kfdsim/0/counters", "r");
	char name[64];
	long v;

	while (f && fscanf(f, "%63s %ld", name, &v) == 2)
		if (!strcmp(name, "executed_saved_running")) {
			fclose(f);
			return v;
		}
	fprintf(stderr, "no counters of the simulated GPU\n");
	exit(1);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: product SECONDS N\n");
		return 2;
	}
	int secs = number(argv[1], "SECONDS", 1, 3600), n = number(argv[2], "N", TILE, 1024) / TILE * TILE;
	size_t bytes = sizeof(float) * n * n;
	std::vector<float> a(n * n), b(n * n), c(n * n), want(n * n);
	int count = 0, wrong = 0;
	long preempted = 0, before;
	hipStream_t stream;

	CHECK(hipSetDeviceFlags(hipDeviceScheduleBlockingSync));
	CHECK(hipStreamCreate(&stream));
	matrices m(n);
	for (int i = 0; i < n * n; i++) {
		a[i] = static_cast<float>(i * 7919 % 10007) / 3;
		b[i] = static_cast<float>(i * 104729 % 9973) / 7;
	}
	on_host(a, b, want, n);
	CHECK(hipMemcpy(m.a, a.data(), bytes, hipMemcpyHostToDevice));
	CHECK(hipMemcpy(m.b, b.data(), bytes, hipMemcpyHostToDevice));
	m.launch(stream);	// loads the code object
	CHECK(hipStreamSynchronize(stream));
	for (double end = now_ms() + secs * 1000.0; now_ms() < end; count++) {
		std::fill(c.begin(), c.end(), 0.0f);
		CHECK(hipMemcpy(m.c, c.data(), bytes, hipMemcpyHostToDevice));
		before = saved();
		m.launch(stream);
		CHECK(hipStreamSynchronize(stream));
		preempted += saved() - before;
		CHECK(hipMemcpy(c.data(), m.c, bytes, hipMemcpyDeviceToHost));
		wrong += memcmp(c.data(), want.data(), bytes) != 0;
	}
	printf("%d %d %ld\n", count, wrong, preempted);
	return wrong > 0;
}
