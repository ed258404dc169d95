// SPDX-License-Identifier: GPL-2.0
/*
 * bits OBJECT PREEMPTIONS DIRECTORY - the kernels of tests/unit/isa/kernel in OBJECT, a code object of this GPU, launched
 * by HIP again and again on the simulated GPU with its parameter execute, until each was preempted so often in the middle of
 * a work-group. All results are compared with the host's; the last one of each kernel becomes the file DIRECTORY/KERNEL, to be
 * compared with that of sim-execute-pm4. Another process has to cause the preemptions. TAP; status 0 if all is right.
 */
#include "../sim/check/kernels.h"
#include "hip.h"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static void bail(const char *what, int error)
{
	printf("Bail out! %s: %s\n", what, strerror(error));
	exit(1);
}

static unsigned long counter(const char *wanted)
{
	const char *path = "/sys/kernel/debug/kfdsim/0/counters";
	FILE *f = fopen(path, "r");
	unsigned long v;
	char name[64];

	if (!f)
		bail(path, errno);
	while (fscanf(f, "%63s %lu", name, &v) == 2)
		if (!strcmp(name, wanted)) {
			fclose(f);
			return v;
		}
	bail(wanted, ENOENT);
	return 0;
}

static void write_file(const std::string &path, const std::vector<uint32_t> &words)
{
	FILE *f = fopen(path.c_str(), "w");

	if (!f || fwrite(words.data(), sizeof(uint32_t), words.size(), f) != words.size() || fclose(f))
		bail(path.c_str(), errno);
}

static uint32_t *dev_a, *dev_b, *dev_out;

/* One dispatch: is its result right? */
static bool launch(hipFunction_t kernel, const test &t, const std::vector<uint32_t> &want, std::vector<uint32_t> &out)
{
	uint32_t n = t.n;
	void *args[] = { &dev_a, &dev_b, &dev_out, &n };

	std::fill(out.begin(), out.end(), 0);
	MUST(hipMemcpy(dev_out, out.data(), OUT * sizeof(uint32_t), hipMemcpyHostToDevice));
	MUST(hipModuleLaunchKernel(kernel, t.groups, 1, 1, GROUP, 1, 1, 0, nullptr, args, nullptr));
	MUST(hipDeviceSynchronize());
	MUST(hipMemcpy(out.data(), dev_out, OUT * sizeof(uint32_t), hipMemcpyDeviceToHost));
	return out == want;
}

int main(int argc, char **argv)
{
	std::vector<uint32_t> a(ALL), b(ALL), out(OUT), want(OUT);
	unsigned long preemptions, before, saved, rounds, wrong;
	const size_t bytes = ALL * sizeof(uint32_t);
	hipFunction_t kernel;
	hipModule_t module;
	int failed = 0;
	size_t i;

	if (argc != 4) {
		fprintf(stderr, "usage: bits OBJECT PREEMPTIONS DIRECTORY\n");
		return 2;
	}
	preemptions = strtoul(argv[2], nullptr, 10);
	inputs(a.data(), b.data());
	MUST(hipSetDeviceFlags(hipDeviceScheduleBlockingSync));
	MUST(hipModuleLoad(&module, argv[1]));
	MUST(hipMalloc(reinterpret_cast<void **>(&dev_a), bytes));
	MUST(hipMalloc(reinterpret_cast<void **>(&dev_b), bytes));
	MUST(hipMalloc(reinterpret_cast<void **>(&dev_out), OUT * sizeof(uint32_t)));
	MUST(hipMemcpy(dev_a, a.data(), bytes, hipMemcpyHostToDevice));
	MUST(hipMemcpy(dev_b, b.data(), bytes, hipMemcpyHostToDevice));
	for (i = 0; i < TESTS; i++) {
		const test &t = tests[i];

		MUST(hipModuleGetFunction(&kernel, module, t.name));
		std::fill(want.begin(), want.end(), 0);
		t.host(a.data(), b.data(), want.data(), t.n);
		before = counter("executed_saved_running");
		rounds = wrong = 0;
		do {
			wrong += !launch(kernel, t, want, out);
			rounds++;
			saved = counter("executed_saved_running") - before;
		} while (saved < preemptions && rounds < preemptions);
		write_file(std::string(argv[3]) + "/" + t.name, out);
		printf("# HIP: %s: %lu dispatches, %lu preemptions in the middle of a work-group\n", t.name, rounds, saved);
		printf("%sok %zu - HIP: %s computes what the host does, preempted %lu times in mid-kernel\n",
		       wrong || saved < preemptions ? "not " : "", i + 1, t.name, preemptions);
		fflush(stdout);
		failed += wrong || saved < preemptions;
	}
	printf("1..%zu\n", TESTS);
	return failed > 0;
}
