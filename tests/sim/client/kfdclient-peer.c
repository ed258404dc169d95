// SPDX-License-Identifier: GPL-2.0
/*
 * libkfdclient: several GPUs of one process. KFD knows one process whatever it has open: a
 * handle of one GPU's buffer is good for the others, and there is one event page.
 */
#define _GNU_SOURCE
#include "kfdclient-int.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* the following */
static struct kfdc_bo event_page;
static pid_t event_page_pid;		/* a child has none of its parent's */

/**
 * kfdc_bo_map - map another GPU's buffer, at the same address
 * @c: the GPU that gets it
 * @bo: of another GPU
 *
 * EINVAL: it is VRAM and the GPUs do not reach each other's.
 */
int kfdc_bo_map(struct kfdc *c, const struct kfdc_bo *bo)
{
	struct kfd_ioctl_map_memory_to_gpu_args map = {
		.handle = bo->handle,
		.device_ids_array_ptr = (uintptr_t)&c->gpu_id,
		.n_devices = 1,
	};

	return KFDC_IOCTL(c, AMDKFD_IOC_MAP_MEMORY_TO_GPU, &map);
}

/**
 * kfdc_bo_unmap - undo kfdc_bo_map(); before kfdc_bo_free()
 * @c: the GPU that got it
 * @bo: of another GPU
 */
int kfdc_bo_unmap(struct kfdc *c, const struct kfdc_bo *bo)
{
	struct kfd_ioctl_unmap_memory_from_gpu_args unmap = {
		.handle = bo->handle,
		.device_ids_array_ptr = (uintptr_t)&c->gpu_id,
		.n_devices = 1,
	};

	return KFDC_IOCTL(c, AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, &unmap);
}

/**
 * kfdc_signal_share - let another GPU use all signals of one GPU, as completion or dependency
 * @owner: the GPU on which the signals are created
 * @c: the other one
 *
 * For as long as the process lives.
 */
int kfdc_signal_share(struct kfdc *owner, struct kfdc *c)
{
	return kfdc_bo_map(c, &owner->signals);
}

/*
 * The event page, made on first use and mapped to every GPU that has a signal with an event: the GPU
 * writes to it before it interrupts. *handle: for KFD, which has to be told once; otherwise 0
 */
int kfdc_event_page(struct kfdc *c, void **va, uint64_t *handle)
{
	int r = 0;

	*handle = 0;
	pthread_mutex_lock(&lock);
	if (event_page_pid != getpid()) {
		r = kfdc_bo_alloc(c, EVENT_PAGE_SIZE, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &event_page);
		if (!r) {
			event_page_pid = getpid();
			*handle = event_page.handle;
			c->events_mapped = true;
		}
	} else if (!c->events_mapped) {
		r = kfdc_bo_map(c, &event_page);
		c->events_mapped = !r;
	}
	*va = event_page.va;
	pthread_mutex_unlock(&lock);
	return r;
}
