/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libkfdclient: a small client of /dev/kfd for tests. No ROCm library is needed.
 *
 * One struct kfdc is one GPU used by this process (KFD knows one KFD process per process;
 * open several struct kfdc for several GPUs). It has memory, AQL queues, signals. A
 * dispatch carries the time that it shall take on the simulated GPU (reserved2 of the
 * packet; see the module parameter reserved2_ns); on real hardware it must not be used.
 *
 *	struct kfdc *c;
 *	struct kfdc_queue *q;
 *	struct kfdc_signal *s;
 *
 *	if (kfdc_open(&c, 0) || kfdc_queue_create(c, NULL, &q) || kfdc_signal_create(c, true, &s))
 *		errx(1, "%s", kfdc_error());
 *	kfdc_signal_set(s, 1);
 *	kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 1000000, .signal = s });
 *	if (kfdc_signal_wait(s, 1000000000))
 *		errx(1, "%s", kfdc_error());
 *
 * Functions return 0 or a negative errno; kfdc_error() then says what failed and why.
 * Not thread-safe per object: one thread per queue and signal. Everything is released by
 * kfdc_close() and at exit. A struct kfdc must not be used by a child after fork(2).
 *
 * Building: Debian's <linux/kfd_ioctl.h> includes <drm/drm.h>, which libdrm-dev keeps in
 * /usr/include/libdrm; this header includes neither. cc ... -lkfdclient, see Makefile.
 */
#ifndef KFDCLIENT_H
#define KFDCLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kfdc;
struct kfdc_signal;

/**
 * struct kfdc_bo - a buffer object, mapped for the CPU and the GPU at the same address
 * @va: the address
 * @size: bytes
 * @handle: KFD's handle
 */
struct kfdc_bo {
	void *va;
	size_t size;
	uint64_t handle;
};

/**
 * struct kfdc_queue_attr - what kfdc_queue_create() asks for
 * @priority: 0..15, 15 is the most important
 * @percentage: 0 creates the queue inactive, 100 is the default of KFD's users
 * @packets: ring size in packets, a power of two, at least 64
 */
struct kfdc_queue_attr {
	uint32_t priority;
	uint32_t percentage;
	uint32_t packets;
};

#define KFDC_QUEUE_DEFAULT	{ .priority = 7, .percentage = 100, .packets = 1024 }

/**
 * struct kfdc_queue - an AQL queue
 * @c: where it is
 * @id: KFD's queue ID
 * @attr: what was asked for, and later set
 * @rptr: the read index, written by the GPU
 * @wptr: the write index
 * @doorbell: the doorbell
 * @doorbell_offset: as KFD returned it
 * @ring: 64-byte packets, @attr.packets of them
 * @ring_bo: memory of the ring; likewise for the others
 */
struct kfdc_queue {
	struct kfdc *c;
	uint32_t id;
	struct kfdc_queue_attr attr;
	volatile uint64_t *rptr, *wptr;
	volatile uint64_t *doorbell;
	uint64_t doorbell_offset;
	void *ring;
	struct kfdc_bo ring_bo, ptr_bo, eop_bo, cwsr_bo;
	uint64_t cwsr_size;		/* of an XCC, as CREATE_QUEUE was told */
};

/**
 * struct kfdc_dispatch - a kernel dispatch
 * @ns: time it takes, in ns; 0: what the simulated GPU makes of @waves
 * @waves: work-groups of one wave, 0: as many as the whole GPU holds
 * @barrier: wait for all earlier packets of the queue
 * @signal: decremented at completion, may be NULL
 * @no_ring: write the packet and the write index, do not ring the doorbell
 */
struct kfdc_dispatch {
	uint64_t ns;
	uint32_t waves;
	bool barrier;
	struct kfdc_signal *signal;
	bool no_ring;
};

/**
 * struct kfdc_ring_attr - what kfdc_ring_create() asks for
 * @sdma: an SDMA queue; otherwise a compute queue of PM4 packets
 * @priority: 0..15
 * @percentage: 0 creates the queue inactive
 * @bytes: size of the ring, a power of two, at least 1024
 */
struct kfdc_ring_attr {
	bool sdma;
	uint32_t priority;
	uint32_t percentage;
	uint32_t bytes;
};

#define KFDC_PM4_DEFAULT	{ .priority = 7, .percentage = 100, .bytes = 65536 }
#define KFDC_SDMA_DEFAULT	{ .sdma = true, .priority = 7, .percentage = 100, .bytes = 65536 }

/**
 * struct kfdc_ring - a queue whose ring is a stream of dwords: PM4 or SDMA
 * @c: where it is
 * @id: KFD's queue ID
 * @attr: what was asked for, and later set
 * @ring: the ring
 * @rptr: read index, written by the GPU. SDMA: bytes, never wraps. PM4: dwords, 32 bits,
 *	wraps with the ring
 * @wptr: write index in memory: SDMA bytes, PM4 dwords, never wraps
 * @doorbell: the doorbell
 * @doorbell_offset: as KFD returned it
 * @put: dwords written by kfdc_ring_write()
 * @got: dwords known to have been read by the GPU
 * @ring_bo: memory of the ring; likewise for the others
 */
struct kfdc_ring {
	struct kfdc *c;
	uint32_t id;
	struct kfdc_ring_attr attr;
	volatile uint32_t *ring;
	volatile uint64_t *rptr, *wptr;
	volatile uint64_t *doorbell;
	uint64_t doorbell_offset;
	uint64_t put, got;
	struct kfdc_bo ring_bo, ptr_bo, eop_bo, cwsr_bo;
};

const char *kfdc_error(void);

bool kfdc_has_queue_priority(void);
int kfdc_open(struct kfdc **c, unsigned int index);
int kfdc_open_context(struct kfdc **c, unsigned int index);
void kfdc_close(struct kfdc *c);
int kfdc_fd(const struct kfdc *c);
uint32_t kfdc_gpu_id(const struct kfdc *c);
int kfdc_prop(const struct kfdc *c, const char *name, uint64_t *value);
uint32_t kfdc_max_waves(const struct kfdc *c);
uint32_t kfdc_vmids(const struct kfdc *c);

int kfdc_bo_alloc(struct kfdc *c, size_t size, uint32_t flags, struct kfdc_bo *bo);
void kfdc_bo_free(struct kfdc *c, struct kfdc_bo *bo);
int kfdc_bo_map(struct kfdc *c, const struct kfdc_bo *bo);
int kfdc_bo_unmap(struct kfdc *c, const struct kfdc_bo *bo);
int kfdc_bo_release(struct kfdc *c, struct kfdc_bo *bo);
int kfdc_bo_export(struct kfdc *c, const struct kfdc_bo *bo, int *fd);
int kfdc_bo_import(struct kfdc *c, int fd, struct kfdc_bo *bo);
int kfdc_dmabuf_info(struct kfdc *c, int fd, uint64_t *size, uint32_t *flags, uint32_t *gpu_id);
int kfdc_userptr(struct kfdc *c, void *va, size_t size, struct kfdc_bo *bo);
int kfdc_available(struct kfdc *c, uint64_t *bytes);
int kfdc_vram_usage(struct kfdc *c, uint64_t *bytes);

int kfdc_queue_create(struct kfdc *c, const struct kfdc_queue_attr *attr, struct kfdc_queue **q);
int kfdc_queue_update(struct kfdc_queue *q, uint32_t percentage, uint32_t priority);
int kfdc_queue_destroy(struct kfdc_queue *q);
bool kfdc_queue_full(const struct kfdc_queue *q);

int kfdc_dispatch(struct kfdc_queue *q, const struct kfdc_dispatch *d);
int kfdc_barrier(struct kfdc_queue *q, bool any, struct kfdc_signal *const *dep, unsigned int n,
		 struct kfdc_signal *signal);
int kfdc_packet(struct kfdc_queue *q, const void *packet, bool ring);
void kfdc_ring(struct kfdc_queue *q);
int kfdc_doorbells_remap(struct kfdc_queue *q);

int kfdc_ring_create(struct kfdc *c, const struct kfdc_ring_attr *attr, struct kfdc_ring **r);
int kfdc_ring_update(struct kfdc_ring *r, uint32_t percentage, uint32_t priority);
int kfdc_ring_destroy(struct kfdc_ring *r);
uint32_t kfdc_ring_room(struct kfdc_ring *r);
int kfdc_ring_write(struct kfdc_ring *r, const uint32_t *dw, uint32_t n);
void kfdc_ring_submit(struct kfdc_ring *r);
int kfdc_ring_wait(struct kfdc_ring *r, uint64_t timeout_ns);

int kfdc_sdma_copy(struct kfdc_ring *r, void *dst, const void *src, uint64_t bytes);
int kfdc_sdma_fill(struct kfdc_ring *r, void *dst, uint32_t value, uint64_t bytes);
int kfdc_sdma_fence(struct kfdc_ring *r, volatile uint32_t *va, uint32_t value);
int kfdc_sdma_signal(struct kfdc_ring *r, struct kfdc_signal *s);
int kfdc_sdma_trap(struct kfdc_ring *r, uint32_t event_id);

int kfdc_pm4_nop(struct kfdc_ring *r, uint32_t dwords);
int kfdc_pm4_write(struct kfdc_ring *r, volatile uint32_t *va, uint32_t value);
int kfdc_pm4_release(struct kfdc_ring *r, volatile uint64_t *va, uint64_t value,
		     uint32_t event_id);
int kfdc_pm4_signal(struct kfdc_ring *r, struct kfdc_signal *s);
int kfdc_pm4_wait(struct kfdc_ring *r, volatile uint32_t *va, uint32_t value);
int kfdc_pm4_ib(struct kfdc_ring *r, const void *va, uint32_t dwords);
int kfdc_pm4_dispatch(struct kfdc_ring *r, uint32_t waves);

/**
 * struct kfdc_pm4_code - what the registers of a PM4 queue say of code
 * @entry: its first instruction, a multiple of 256
 * @rsrc: COMPUTE_PGM_RSRC1, 2, 3
 * @tmpring: COMPUTE_TMPRING_SIZE: slots of scratch memory
 * @scratch: the first of them, for GPUs that take that from a register; a multiple of 256
 * @size: work-items of a work-group
 * @user: COMPUTE_USER_DATA_0 and the following
 * @nuser: how many, at most 16
 * @wave32: waves of 32 lanes
 */
struct kfdc_pm4_code {
	uint64_t entry;
	uint32_t rsrc[3];
	uint32_t tmpring;
	uint64_t scratch;
	uint32_t size[3];
	uint32_t user[16];
	uint32_t nuser;
	bool wave32;
};

int kfdc_pm4_code(struct kfdc_ring *r, const struct kfdc_pm4_code *code);
int kfdc_pm4_groups(struct kfdc_ring *r, const struct kfdc_pm4_code *code, const uint32_t groups[3],
		    const uint32_t *at);

int kfdc_signal_share(struct kfdc *owner, struct kfdc *c);
int kfdc_signal_create(struct kfdc *c, bool event, struct kfdc_signal **s);
void kfdc_signal_destroy(struct kfdc_signal *s);
void kfdc_signal_set(struct kfdc_signal *s, int64_t value);
void *kfdc_signal_mem(const struct kfdc_signal *s);
int64_t kfdc_signal_value(const struct kfdc_signal *s);
int kfdc_signal_wait(struct kfdc_signal *s, uint64_t timeout_ns);
uint64_t kfdc_signal_gpu_ns(const struct kfdc_signal *s);
void kfdc_signal_times(const struct kfdc_signal *s, uint64_t *start, uint64_t *end);

uint64_t kfdc_now(void);

#endif
