// SPDX-License-Identifier: GPL-2.0
/* The histograms of a GPU. */
#include "latency.h"

static const struct hist *of_unmap(const struct gpu *gpu)
{
	return &gpu->unmap;
}

static const struct hist *of_take(const struct gpu *gpu)
{
	return &gpu->take;
}

static const struct hist *of_preempt(const struct gpu *gpu)
{
	return &gpu->preempt;
}

static const struct hist *of_wake(const struct gpu *gpu)
{
	return &gpu->wake;
}

static const struct hist *of_save(const struct gpu *gpu)
{
	return &gpu->save;
}

static const struct hist *of_unpark(const struct gpu *gpu)
{
	return &gpu->unpark;
}

const struct latency latencies[NR_LATENCIES] = {
	{ "unmap", "unmap, request to confirmation", of_unmap },
	{ "take", "preemption, begin to victims unmapped", of_take },
	{ "wake", "doorbell to victims unmapped", of_wake },
	{ "preempt", "preemption, begin to end", of_preempt },
	{ "unpark", "doorbell of a parked process to its queues' return", of_unpark },
	{ "save", "save of waves (CWSR), measured by the GPU's firmware", of_save },
};
