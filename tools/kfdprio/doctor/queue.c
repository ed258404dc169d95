// SPDX-License-Identifier: GPL-2.0
/*
 * kfdprio doctor --test: memory and queues through KFD's ioctls.
 *
 * What sizes and layouts KFD and the command processor expect is taken from amdkfd's kfd_queue.c
 * and from what ROCr and libhsakmt do.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <linux/kfd_ioctl.h>

#include "queue.h"

#define PAGE		4096ul
#define RING_BYTES	4096	/* 64 AQL packets, 1024 dwords; the least that all accept */
#define EOP_BYTES	4096
#define DOORBELLS	8192	/* 1024 doorbells of 8 bytes: what KFD maps for a process */

/* amd_queue_t of ROCr, which the command processor finds from the address of its read index */
#define AQ_BASE		8	/* hsa_queue.base_address */
#define AQ_SIZE		24	/* hsa_queue.size, packets */
#define AQ_WPTR		56	/* write_dispatch_id */
#define AQ_RPTR		128	/* read_dispatch_id */
#define AQ_RPTR_OFFSET	136	/* read_dispatch_id_field_base_byte_offset */
#define AQ_PROPERTIES	180	/* queue_properties */
#define AQ_IS_PTR64	2

static int fail(struct gpu_client *c, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct gpu_client *c, int err, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(c->why, sizeof(c->why), format, args);
	va_end(args);
	if (len >= 0 && (size_t)len < sizeof(c->why))
		snprintf(c->why + len, sizeof(c->why) - len, ": %s", strerror(err));
	return -err;
}

static int call(struct gpu_client *c, unsigned long request, void *args, const char *what)
{
	int ret;

	do
		ret = ioctl(c->kfd, request, args);
	while (ret && (errno == EINTR || errno == EAGAIN));
	return ret ? fail(c, errno, "%s", what) : 0;
}

#define CALL(c, request, args)	call(c, request, args, #request)

/**
 * gpu_now() - CLOCK_MONOTONIC, ns
 */
uint64_t gpu_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* Linux 6.1 needs the VM of every GPU before it can restore a process (validation.rst). */
static int acquire(struct gpu_client *c, const struct kfd_gpu *gpu)
{
	struct kfd_ioctl_acquire_vm_args args = { .gpu_id = gpu->gpu_id };
	uint64_t minor = 0;
	char path[64];

	if (c->nr_drm == GPU_MAX)
		return fail(c, ENOSPC, "more than %d GPUs", GPU_MAX);
	if (!kfd_topology_prop(gpu, "drm_render_minor", &minor))
		return fail(c, ENOENT, "GPU %u: no drm_render_minor in the topology", gpu->gpu_id);
	snprintf(path, sizeof(path), "/dev/dri/renderD%u", (unsigned int)minor);
	c->drm[c->nr_drm] = open(path, O_RDWR | O_CLOEXEC);
	if (c->drm[c->nr_drm] < 0)
		return fail(c, errno, "GPU %u: %s", gpu->gpu_id, path);
	args.drm_fd = c->drm[c->nr_drm++];
	return CALL(c, AMDKFD_IOC_ACQUIRE_VM, &args);
}

/**
 * gpu_client_open() - become a process that may use a GPU
 * @c: filled in
 * @topo: all GPUs
 * @gpu: one of them
 *
 * Return: 0 or -errno; close it in either case.
 */
int gpu_client_open(struct gpu_client *c, const struct kfd_topology *topo,
		    const struct kfd_gpu *gpu)
{
	size_t i;
	int ret;

	memset(c, 0, sizeof(*c));
	c->gpu = gpu;
	kfd_topology_prop(gpu, "gfx_target_version", &c->gfx);
	c->kfd = open(KFDLIB_DEVICE, O_RDWR | O_CLOEXEC);
	if (c->kfd < 0)
		return fail(c, errno, KFDLIB_DEVICE);
	for (i = 0; i < topo->nr; i++) {
		if (&topo->gpus[i] == gpu)
			c->at = c->nr_drm;
		ret = acquire(c, &topo->gpus[i]);
		if (ret)
			return ret;
	}
	return gpu_memory_alloc(c, PAGE, false, &c->shared);
}

/**
 * gpu_client_close() - give back everything
 * @c: without live queues
 */
void gpu_client_close(struct gpu_client *c)
{
	if (c->doorbells)
		munmap(c->doorbells, DOORBELLS);
	gpu_memory_free(c, &c->shared);
	while (c->nr_drm)
		close(c->drm[--c->nr_drm]);
	if (c->kfd >= 0)
		close(c->kfd);
	c->kfd = -1;
}

/**
 * gpu_memory_alloc() - memory for the GPU
 * @c: the process
 * @size: bytes
 * @vram: in the GPU's own memory, which the CPU does not see; else memory of the host
 * @m: out
 *
 * Return: 0 or -errno.
 */
int gpu_memory_alloc(struct gpu_client *c, size_t size, bool vram, struct gpu_memory *m)
{
	uint32_t gpu_id = c->gpu->gpu_id;
	struct kfd_ioctl_alloc_memory_of_gpu_args alloc = {
		.gpu_id = gpu_id,
		/* Coherent: what either side writes the other sees without a flush. */
		.flags = (vram ? KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE :
				 KFD_IOC_ALLOC_MEM_FLAGS_GTT | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT) |
			 KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE | KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE,
	};
	struct kfd_ioctl_map_memory_to_gpu_args map = {
		.device_ids_array_ptr = (uintptr_t)&gpu_id,
		.n_devices = 1,
	};
	struct kfd_ioctl_free_memory_of_gpu_args undo = { 0 };
	void *va;
	int ret;

	size = (size + PAGE - 1) & ~(PAGE - 1);
	va = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (va == MAP_FAILED)
		return fail(c, errno, "%zu bytes of addresses", size);
	alloc.va_addr = (uintptr_t)va;
	alloc.size = size;
	ret = CALL(c, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &alloc);
	if (ret)
		goto err_unmap;
	map.handle = alloc.handle;
	undo.handle = alloc.handle;
	if (!vram && mmap(va, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, c->drm[c->at],
			  alloc.mmap_offset) == MAP_FAILED) {
		ret = fail(c, errno, "mmap of %zu bytes of GTT", size);
		goto err_free;
	}
	ret = CALL(c, AMDKFD_IOC_MAP_MEMORY_TO_GPU, &map);
	if (ret)
		goto err_free;
	*m = (struct gpu_memory){ .va = va, .size = size, .handle = alloc.handle };
	return 0;

err_free:
	ioctl(c->kfd, AMDKFD_IOC_FREE_MEMORY_OF_GPU, &undo);
err_unmap:
	munmap(va, size);
	return ret;
}

/**
 * gpu_memory_free() - give memory back; no queue may use it any more
 * @c: the process
 * @m: the memory; may be none
 */
void gpu_memory_free(struct gpu_client *c, struct gpu_memory *m)
{
	uint32_t gpu_id = c->gpu->gpu_id;
	struct kfd_ioctl_unmap_memory_from_gpu_args unmap = {
		.handle = m->handle,
		.device_ids_array_ptr = (uintptr_t)&gpu_id,
		.n_devices = 1,
	};
	struct kfd_ioctl_free_memory_of_gpu_args args = { .handle = m->handle };

	if (!m->va)
		return;
	ioctl(c->kfd, AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, &unmap);
	ioctl(c->kfd, AMDKFD_IOC_FREE_MEMORY_OF_GPU, &args);
	munmap(m->va, m->size);
	m->va = NULL;
}

/*
 * The save area of a compute queue: control stack and state of all waves of an XCC (@area), the
 * debugger's part, for all XCCs (@total).  Newer kernels tell the first two and compare all.
 */
static int cwsr_sizes(struct gpu_client *c, uint64_t *stack, uint64_t *area, uint64_t *total)
{
	uint64_t xcc = 1, simds = 0, per_cu = 0, arrays = 0, per_engine = 0, cus, waves, vgprs;

	kfd_topology_prop(c->gpu, "num_xcc", &xcc);
	kfd_topology_prop(c->gpu, "simd_count", &simds);
	kfd_topology_prop(c->gpu, "simd_per_cu", &per_cu);
	kfd_topology_prop(c->gpu, "array_count", &arrays);
	kfd_topology_prop(c->gpu, "simd_arrays_per_engine", &per_engine);
	if (!xcc || !simds || !per_cu || !per_engine)
		return fail(c, ENOENT, "the topology lacks the number of CUs");
	cus = simds / per_cu / xcc;
	waves = cus * 32;
	if (c->gfx < 100100) {
		waves = cus * 40;
		if (waves > arrays / per_engine * 512)
			waves = arrays / per_engine * 512;
	}
	vgprs = 0x40000;
	if (c->gfx == 90008 || c->gfx == 90010 || c->gfx / 100 == 904 || c->gfx / 100 == 905)
		vgprs = 0x80000;
	else if (c->gfx == 110000 || c->gfx == 110001 || c->gfx / 10000 >= 12)
		vgprs = 0x60000;
	if (!kfd_topology_prop(c->gpu, "ctl_stack_size", stack)) {
		*stack = (40 + waves * (c->gfx < 100100 ? 8 : 12) + 8 + PAGE - 1) & ~(PAGE - 1);
		if (c->gfx / 10000 == 10 && *stack > 0x7000)
			*stack = 0x7000;
	}
	if (!kfd_topology_prop(c->gpu, "cwsr_size", area))
		*area = *stack + cus * (vgprs + 0x4000 + 0x10000 + 0x1000);
	*total = (*area + ((waves * 32 + 63) & ~63ull)) * xcc;
	return 0;
}

static int memory_of_queue(struct gpu_client *c, struct gpu_queue *q,
			   struct kfd_ioctl_create_queue_args *args)
{
	uint64_t stack = 0, area = 0, total = 0;
	int ret;

	ret = gpu_memory_alloc(c, RING_BYTES, false, &q->ring);
	if (!ret)
		ret = gpu_memory_alloc(c, PAGE, false, &q->pointers);
	if (ret || q->kind == GPU_QUEUE_SDMA)
		return ret;
	ret = cwsr_sizes(c, &stack, &area, &total);
	if (!ret)
		ret = gpu_memory_alloc(c, EOP_BYTES, true, &q->eop);
	if (!ret)
		ret = gpu_memory_alloc(c, total, false, &q->cwsr);
	if (ret)
		return ret;
	args->eop_buffer_address = (uintptr_t)q->eop.va;
	args->eop_buffer_size = EOP_BYTES;
	args->ctx_save_restore_address = (uintptr_t)q->cwsr.va;
	args->ctx_save_restore_size = area;
	args->ctl_stack_size = stack;
	return 0;
}

/* What the command processor reads of amd_queue_t, and a ring without a packet */
static void aql_init(struct gpu_queue *q)
{
	char *queue = q->pointers.va;
	uint16_t *slot = q->ring.va;
	size_t i;

	*(uint64_t *)(queue + AQ_BASE) = (uintptr_t)q->ring.va;
	*(uint32_t *)(queue + AQ_SIZE) = RING_BYTES / 64;
	*(uint32_t *)(queue + AQ_RPTR_OFFSET) = AQ_RPTR;
	*(uint32_t *)(queue + AQ_PROPERTIES) = AQ_IS_PTR64;
	for (i = 0; i < RING_BYTES / 64; i++)
		slot[32 * i] = 1;	/* HSA_PACKET_TYPE_INVALID */
}

static int doorbell_map(struct gpu_client *c, struct gpu_queue *q, uint64_t offset)
{
	if (!c->doorbells) {
		void *va = mmap(NULL, DOORBELLS, PROT_READ | PROT_WRITE, MAP_SHARED, c->kfd,
				offset & ~(DOORBELLS - 1ull));

		if (va == MAP_FAILED)
			return fail(c, errno, "mmap of the doorbells");
		c->doorbells = va;
	}
	q->doorbell = (void *)((char *)c->doorbells + (offset & (DOORBELLS - 1)));
	return 0;
}

/**
 * gpu_queue_create() - create a queue
 * @c: the process
 * @kind: of its packets
 * @priority: 0..15
 * @q: out; zeroed before
 *
 * Return: 0 or -errno; destroy it in either case.
 */
int gpu_queue_create(struct gpu_client *c, enum gpu_queue_kind kind, uint32_t priority,
		     struct gpu_queue *q)
{
	static const uint32_t types[] = {
		[GPU_QUEUE_AQL] = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL,
		[GPU_QUEUE_PM4] = KFD_IOC_QUEUE_TYPE_COMPUTE,
		[GPU_QUEUE_SDMA] = KFD_IOC_QUEUE_TYPE_SDMA,
	};
	struct kfd_ioctl_create_queue_args args = {
		.ring_size = RING_BYTES,
		.gpu_id = c->gpu->gpu_id,
		.queue_type = types[kind],
		.queue_percentage = 100,
		.queue_priority = priority,
	};
	int ret;

	q->kind = kind;
	ret = memory_of_queue(c, q, &args);
	if (ret)
		return ret;
	/* Touched: the driver reads indices only where the process has them in its page table. */
	memset(q->pointers.va, 0, q->pointers.size);
	if (kind == GPU_QUEUE_AQL)
		aql_init(q);
	q->wptr = (void *)((char *)q->pointers.va + AQ_WPTR);
	q->rptr = (void *)((char *)q->pointers.va + AQ_RPTR);
	args.ring_base_address = (uintptr_t)q->ring.va;
	args.write_pointer_address = (uintptr_t)q->wptr;
	args.read_pointer_address = (uintptr_t)q->rptr;
	ret = CALL(c, AMDKFD_IOC_CREATE_QUEUE, &args);
	if (ret)
		return ret;
	q->id = args.queue_id;
	q->live = true;
	return doorbell_map(c, q, args.doorbell_offset);
}

/**
 * gpu_queue_destroy() - destroy a queue and give its memory back
 * @c: the process
 * @q: the queue; what is not there is left out
 *
 * Return: 0 or -errno; then KFD may still have the queue, and its memory is kept.
 */
int gpu_queue_destroy(struct gpu_client *c, struct gpu_queue *q)
{
	struct kfd_ioctl_destroy_queue_args args = { .queue_id = q->id };
	int ret = q->live ? CALL(c, AMDKFD_IOC_DESTROY_QUEUE, &args) : 0;

	if (ret)
		return ret;
	gpu_memory_free(c, &q->cwsr);
	gpu_memory_free(c, &q->eop);
	gpu_memory_free(c, &q->pointers);
	gpu_memory_free(c, &q->ring);
	memset(q, 0, sizeof(*q));
	return 0;
}
