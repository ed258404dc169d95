// SPDX-License-Identifier: GPL-2.0
/*
 * streams [COPIES] - the unmodified HIP runtime of the distribution: streams of high and low
 * priority, asynchronous copies both ways with the data compared, managed and pinned memory,
 * events, hipStreamWaitEvent. The simulated GPU executes no kernel, so none is waited
 * for but for its end. TAP; status 0 if all is as it must be.
 */
#include "hip.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static int tests, failed;

static void ok(bool pass, const char *name)
{
	printf("%sok %d - HIP: %s\n", pass ? "" : "not ", ++tests, name);
	fflush(stdout);
	failed += !pass;
}

__global__ void nothing(int *p)
{
	p[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

static void fill(unsigned char *p, size_t n, unsigned int seed)
{
	for (size_t i = 0; i < n; i++, seed = seed * 1664525 + 1013904223)
		p[i] = seed >> 24;
}

/* Host, device, host, in one stream; odd sizes and offsets */
static bool there_and_back(hipStream_t s, const size_t n, unsigned int seed, bool pinned)
{
	std::vector<unsigned char> pageable(2 * n);
	unsigned char *host = pageable.data(), *dev;

	if (pinned)
		MUST(hipHostMalloc((void **)&host, 2 * n, 0));
	MUST(hipMalloc((void **)&dev, n + 64));
	fill(host, n, seed);
	memset(host + n, 0, n);
	MUST(hipMemcpyAsync(dev + 7, host, n, hipMemcpyHostToDevice, s));
	MUST(hipMemcpyAsync(host + n, dev + 7, n, hipMemcpyDeviceToHost, s));
	MUST(hipStreamSynchronize(s));
	bool same = !memcmp(host, host + n, n);

	MUST(hipFree(dev));
	if (pinned)
		MUST(hipHostFree(host));
	return same;
}

int main(int argc, char **argv)
{
	int least, greatest, copies = argc > 1 ? atoi(argv[1]) : 2, *out;
	hipStream_t low, high, plain[2];
	hipEvent_t begin, end, done;
	bool same;

	MUST(hipDeviceGetStreamPriorityRange(&least, &greatest));
	ok(greatest < least, "priorities have a range");
	MUST(hipStreamCreateWithPriority(&low, hipStreamNonBlocking, least));
	MUST(hipStreamCreateWithPriority(&high, hipStreamNonBlocking, greatest));
	for (auto &s : plain)
		MUST(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));

	same = true;
	for (int i = 0; i < copies; i++) {
		same = there_and_back(low, 100003 + 4099 * i, 1 + i, true) && same;
		same = there_and_back(high, 70001 + 17 * i, 100 + i, false) && same;
	}
	ok(same, "asynchronous copies both ways on streams of low and high priority compare equal");
	ok(there_and_back(plain[0], (3 << 20) + 5, 7, true), "3 MB from pinned memory");
	ok(there_and_back(plain[1], (1 << 20) + 1, 8, false), "1 MB from pageable memory");

	MUST(hipMalloc((void **)&out, 1 << 20));
	MUST(hipEventCreate(&begin));
	MUST(hipEventCreate(&end));
	MUST(hipEventCreateWithFlags(&done, hipEventDisableTiming));
	MUST(hipEventRecord(begin, low));
	for (int i = 0; i < 8; i++)
		nothing<<<1024, 256, 0, low>>>(out);
	MUST(hipGetLastError());
	MUST(hipEventRecord(end, low));
	/* the high stream waits for the low one's event */
	MUST(hipStreamWaitEvent(high, end, 0));
	nothing<<<16, 64, 0, high>>>(out);
	MUST(hipEventRecord(done, high));
	MUST(hipEventSynchronize(done));
	ok(hipEventQuery(end) == hipSuccess, "hipStreamWaitEvent: what was waited for has happened");
	MUST(hipEventSynchronize(end));
	float ms = -1;
	MUST(hipEventElapsedTime(&ms, begin, end));
	printf("# 8 kernels: %.3f ms between the events\n", ms);
	ok(ms > 0.015 && ms < 5000, "the time between two events is sane");

	for (auto s : { low, high, plain[0], plain[1] })
		for (int i = 0; i < 4; i++)
			nothing<<<64, 64, 0, s>>>(out);
	MUST(hipDeviceSynchronize());
	ok(true, "kernels on four streams end");

	unsigned char *managed = nullptr;
	hipError_t e = hipMallocManaged((void **)&managed, 1 << 20);
	if (e == hipSuccess) {
		fill(managed, 1 << 20, 42);
		MUST(hipMemcpyAsync(out, managed, 1 << 20, hipMemcpyDefault, high));
		MUST(hipStreamSynchronize(high));
		std::vector<unsigned char> back(1 << 20);
		MUST(hipMemcpy(back.data(), out, 1 << 20, hipMemcpyDeviceToHost));
		ok(!memcmp(back.data(), managed, 1 << 20), "managed memory, copied and read back");
		MUST(hipFree(managed));
	} else {
		ok(false, hipGetErrorString(e));
	}
	MUST(hipMemset(out, 0x5a, 1 << 16));
	MUST(hipFree(out));
	for (auto s : { low, high, plain[0], plain[1] })
		MUST(hipStreamDestroy(s));
	printf("1..%d\n", tests);
	return failed != 0;
}
