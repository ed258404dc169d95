// SPDX-License-Identifier: GPL-2.0
// What the two HIP programs of the demo share: a plain matrix product, and a
// log of when each piece of work began and ended.
#ifndef DEMO_GEMM_H
#define DEMO_GEMM_H

#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <vector>

#define TILE 16

#define CHECK(call)								\
	do {									\
		hipError_t e_ = (call);						\
		if (e_ != hipSuccess) {						\
			fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(e_)); \
			exit(1);						\
		}								\
	} while (0)

// c = a * b, n x n, n a multiple of TILE, one thread per element of c
__global__ void gemm(const float *a, const float *b, float *c, int n)
{
	int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
	float sum = 0;

	for (int k = 0; k < n; k++)
		sum += a[row * n + k] * b[k * n + col];
	c[row * n + col] = sum;
}

// The matrices are not filled: on the simulated GPU nothing is computed. One row is copied, so that the runtime creates the
// queue with which a program copies its data: SDMA for the 20 KB of the offline program, compute for the 2 KB of the online one.
struct matrices {
	float *a, *b, *c;
	int n;

	explicit matrices(int n_) : n(n_)
	{
		size_t bytes = sizeof(float) * n * n;

		CHECK(hipMalloc(&a, bytes));
		CHECK(hipMalloc(&b, bytes));
		CHECK(hipMalloc(&c, bytes));
		std::vector<float> row(n);
		CHECK(hipMemcpy(a, row.data(), sizeof(float) * n, hipMemcpyHostToDevice));
	}

	void launch(hipStream_t stream)
	{
		hipLaunchKernelGGL(gemm, dim3(n / TILE, n / TILE), dim3(TILE, TILE), 0, stream,
				   a, b, c, n);
		CHECK(hipGetLastError());
	}
};

static inline double now_ms()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

// One line per piece of work: when it was due and when it was done, in ms since boot.
class work_log {
public:
	// lives as long as the program, whose end closes the file
	// cppcheck-suppress noCopyConstructor
	// cppcheck-suppress noOperatorEq
	// cppcheck-suppress noDestructor
	explicit work_log(const char *path) : file(fopen(path, "w"))
	{
		if (!file) {
			perror(path);
			exit(1);
		}
		setvbuf(file, nullptr, _IOLBF, 0);
	}

	void add(double due, double done)
	{
		std::lock_guard<std::mutex> guard(lock);

		fprintf(file, "%.3f %.3f\n", due, done);
	}

private:
	FILE *file;
	std::mutex lock;
};

static inline int number(const char *text, const char *name, int lo, int hi)
{
	char *end;
	long v = strtol(text, &end, 10);

	if (*end || end == text || v < lo || v > hi) {
		fprintf(stderr, "%s: '%s' is not a number in %d..%d\n", name, text, lo, hi);
		exit(2);
	}
	return v;
}

#endif
