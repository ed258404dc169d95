/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kfdprio doctor --test: a GPU through KFD's ioctls alone, without ROCm.
 *
 * The GPU executes only packets that need no program: barriers, stores, copies.  GFX9 and
 * later.  Functions return 0 or -errno; then gpu_client.why says what failed.
 */
#ifndef DOCTOR_QUEUE_H
#define DOCTOR_QUEUE_H

#include "kfdlib.h"

#define GPU_MAX		64	/* GPUs of a host, as far as this is concerned */
#define COPY_BYTES	65536	/* what gpu_sdma_copy() copies */

/**
 * struct gpu_memory - memory at the same address for CPU and GPU
 * @va: its address; NULL if there is none
 * @size: bytes
 * @handle: KFD's
 */
struct gpu_memory {
	void *va;
	size_t size;
	uint64_t handle;
};

enum gpu_queue_kind { GPU_QUEUE_AQL, GPU_QUEUE_PM4, GPU_QUEUE_SDMA };

/**
 * struct gpu_queue - a queue
 * @kind: of its packets
 * @id: KFD's number; valid if @live
 * @live: KFD has it
 * @rptr: read index, which the GPU writes
 * @wptr: write index
 * @doorbell: to be written after @wptr
 * @put: packets (AQL) or dwords written
 * @ring: memory; likewise the others
 */
struct gpu_queue {
	enum gpu_queue_kind kind;
	uint32_t id;
	bool live;
	volatile uint64_t *rptr, *wptr, *doorbell;
	uint64_t put;
	struct gpu_memory ring, pointers, eop, cwsr;
};

/**
 * struct gpu_client - a process on a GPU
 * @gpu: which
 * @gfx: its gfx_target_version
 * @kfd: /dev/kfd
 * @drm: render nodes of all GPUs: KFD wants each of them acquired
 * @nr_drm: how many
 * @at: which of them is @gpu's
 * @shared: a page for signals and results, of the process's memory
 * @doorbells: mapping of the process's doorbells on the GPU
 * @why: what the last failure was
 */
struct gpu_client {
	const struct kfd_gpu *gpu;
	uint64_t gfx;
	int kfd, drm[GPU_MAX];
	size_t nr_drm, at;
	struct gpu_memory shared;
	void *doorbells;
	char why[KFDLIB_WHY];
};

/**
 * struct gpu_dispatch - a dispatch of an AQL queue, in one dimension
 * @descriptor: of the kernel
 * @arguments: of the kernel
 * @groups: work-groups
 * @group_items: work-items of each
 * @lds_bytes: of each
 * @completes: slot of the signal that is decremented when it is done
 */
struct gpu_dispatch {
	const void *descriptor, *arguments;
	uint32_t groups;
	uint16_t group_items;
	uint32_t lds_bytes;
	unsigned int completes;
};

uint64_t gpu_now(void);
int gpu_client_open(struct gpu_client *c, const struct kfd_topology *topo,
		    const struct kfd_gpu *gpu);
void gpu_client_close(struct gpu_client *c);
int gpu_memory_alloc(struct gpu_client *c, size_t size, bool vram, struct gpu_memory *m);
void gpu_memory_free(struct gpu_client *c, struct gpu_memory *m);
int gpu_queue_create(struct gpu_client *c, enum gpu_queue_kind kind, uint32_t priority,
		     struct gpu_queue *q);
int gpu_queue_destroy(struct gpu_client *c, struct gpu_queue *q);

/* packet.c */
volatile int64_t *gpu_signal(struct gpu_client *c, unsigned int slot);
volatile uint32_t *gpu_word(struct gpu_client *c, unsigned int slot);
void gpu_aql_barrier(struct gpu_client *c, struct gpu_queue *q, int waits_for, int completes);
void gpu_aql_dispatch(struct gpu_client *c, struct gpu_queue *q, const struct gpu_dispatch *d);
void gpu_pm4_store(struct gpu_queue *q, volatile uint32_t *at, uint32_t value);
void gpu_pm4_write(struct gpu_client *c, struct gpu_queue *q, unsigned int slot, uint32_t value);
void gpu_pm4_release(struct gpu_client *c, struct gpu_queue *q, unsigned int slot, uint64_t value);
void gpu_sdma_copy(struct gpu_client *c, struct gpu_queue *q, void *to, const void *from);
void gpu_sdma_store(struct gpu_queue *q, volatile uint32_t *at, uint32_t value);
void gpu_sdma_fence(struct gpu_client *c, struct gpu_queue *q, unsigned int slot, uint32_t value);
void gpu_queue_ring(struct gpu_queue *q, uint64_t *before, uint64_t *after);

#endif /* DOCTOR_QUEUE_H */
