/* SPDX-License-Identifier: GPL-2.0 */
/* What the checks of packets share; included by each of these programs once */
#ifndef CHECK_PACKETS_H
#define CHECK_PACKETS_H

#include "kfdclient.h"
#include "tap.h"

#include <linux/kfd_ioctl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define US	1000ULL
#define MS	1000000ULL
#define SEC	1000000000ULL
#define MB	(1ULL << 20)

static struct kfdc *c;

static inline void must(int r)
{
	if (r)
		tap_bail("%s", kfdc_error());
}

static inline void sleep_ns(uint64_t ns)
{
	nanosleep(&(struct timespec){ .tv_sec = ns / SEC, .tv_nsec = ns % SEC }, NULL);
}

/* Publish what was written to a ring, wait until it was read */
static inline void run(struct kfdc_ring *r)
{
	kfdc_ring_submit(r);
	must(kfdc_ring_wait(r, 60 * SEC));
}

/* Until a dword of memory has a value; false: it has not after 5 s */
static inline bool becomes(volatile uint32_t *p, uint32_t value)
{
	uint64_t end = kfdc_now() + 5 * SEC;

	while (__atomic_load_n(p, __ATOMIC_ACQUIRE) != value) {
		if (kfdc_now() > end)
			return false;
		sleep_ns(20 * US);
	}
	return true;
}

/* A counter of the first simulated GPU, from debugfs */
static inline uint64_t counter(const char *name)
{
	FILE *f = fopen("/sys/kernel/debug/kfdsim/0/counters", "r");
	unsigned long long v;
	char key[64];

	if (!f)
		tap_bail("no counters of the simulated GPU: %s", strerror(errno));
	while (fscanf(f, "%63s %llu", key, &v) == 2)
		if (!strcmp(key, name)) {
			fclose(f);
			return v;
		}
	tap_bail("the simulated GPU has no counter %s", name);
}

static inline void param(const char *name, unsigned int value)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/amdgpu/parameters/%s", name);
	f = fopen(path, "w");
	if (!f || fprintf(f, "%u", value) < 0 || fclose(f))
		tap_bail("%s: %s", path, strerror(errno));
}

/* Let the GPU of @c see memory of this process, at its own address */
static inline uint64_t userptr(struct kfdc *gpu, void *p, size_t size)
{
	uint32_t id = kfdc_gpu_id(gpu);
	struct kfd_ioctl_alloc_memory_of_gpu_args alloc = {
		.va_addr = (uintptr_t)p, .size = size, .mmap_offset = (uintptr_t)p, .gpu_id = id,
		.flags = KFD_IOC_ALLOC_MEM_FLAGS_USERPTR | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE |
			 KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT,
	};
	struct kfd_ioctl_map_memory_to_gpu_args map = {
		.device_ids_array_ptr = (uintptr_t)&id, .n_devices = 1,
	};

	if (ioctl(kfdc_fd(gpu), AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &alloc))
		tap_bail("userptr: %s", strerror(errno));
	map.handle = alloc.handle;
	if (ioctl(kfdc_fd(gpu), AMDKFD_IOC_MAP_MEMORY_TO_GPU, &map))
		tap_bail("userptr: mapping: %s", strerror(errno));
	return alloc.handle;
}

static inline void userptr_free(struct kfdc *gpu, uint64_t handle)
{
	uint32_t id = kfdc_gpu_id(gpu);
	struct kfd_ioctl_unmap_memory_from_gpu_args unmap = {
		.handle = handle, .device_ids_array_ptr = (uintptr_t)&id, .n_devices = 1,
	};
	struct kfd_ioctl_free_memory_of_gpu_args args = { .handle = handle };

	if (ioctl(kfdc_fd(gpu), AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, &unmap) ||
	    ioctl(kfdc_fd(gpu), AMDKFD_IOC_FREE_MEMORY_OF_GPU, &args))
		tap_bail("userptr: freeing: %s", strerror(errno));
}

#endif
