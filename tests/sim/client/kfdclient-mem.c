// SPDX-License-Identifier: GPL-2.0
/* libkfdclient: userptrs, memory shared by processes and GPUs, what is available */
#define _GNU_SOURCE
#include "kfdclient-int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef AMDKFD_IOC_EXPORT_DMABUF	/* Linux 6.3 */
struct kfd_ioctl_export_dmabuf_args {
	__u64 handle;
	__u32 flags;
	__u32 dmabuf_fd;
};
#define AMDKFD_IOC_EXPORT_DMABUF AMDKFD_IOWR(0x24, struct kfd_ioctl_export_dmabuf_args)
#endif

static int free_handle(struct kfdc *c, uint64_t handle)
{
	struct kfd_ioctl_free_memory_of_gpu_args args = { .handle = handle };

	return KFDC_IOCTL(c, AMDKFD_IOC_FREE_MEMORY_OF_GPU, &args);
}

/**
 * kfdc_userptr - let the GPU use memory of the process where it is
 * @c: the GPU
 * @va: whole pages, writable
 * @size: bytes
 * @bo: set; give it back with kfdc_bo_release(), the memory itself stays the caller's
 */
int kfdc_userptr(struct kfdc *c, void *va, size_t size, struct kfdc_bo *bo)
{
	struct kfd_ioctl_alloc_memory_of_gpu_args alloc = {
		.gpu_id = c->gpu_id,
		.va_addr = (uintptr_t)va,
		.mmap_offset = (uintptr_t)va,
		.size = size,
		.flags = KFD_IOC_ALLOC_MEM_FLAGS_USERPTR | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE |
			 KFD_IOC_ALLOC_MEM_FLAGS_COHERENT,
	};
	int r = KFDC_IOCTL(c, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &alloc);

	if (r)
		return r;
	*bo = (struct kfdc_bo){ .va = va, .size = size, .handle = alloc.handle };
	r = kfdc_bo_map(c, bo);
	if (r)
		free_handle(c, alloc.handle);
	return r;
}

/**
 * kfdc_bo_release - unmap from its own GPU and free; unlike kfdc_bo_free() the addresses stay
 * @c: the GPU that it belongs to
 * @bo: a userptr, or a buffer that is not mapped on another GPU any more
 */
int kfdc_bo_release(struct kfdc *c, struct kfdc_bo *bo)
{
	int r = kfdc_bo_unmap(c, bo);

	if (!r)
		r = free_handle(c, bo->handle);
	if (!r)
		bo->va = NULL;
	return r;
}

/**
 * kfdc_bo_export - a dma-buf of a buffer
 * @c: the GPU that it belongs to
 * @bo: the buffer
 * @fd: set; close(2) it
 *
 * ENOTTY: the kernel is older than 6.3.
 */
int kfdc_bo_export(struct kfdc *c, const struct kfdc_bo *bo, int *fd)
{
	struct kfd_ioctl_export_dmabuf_args args = { .handle = bo->handle, .flags = O_CLOEXEC };
	int r = KFDC_IOCTL(c, AMDKFD_IOC_EXPORT_DMABUF, &args);

	if (!r)
		*fd = args.dmabuf_fd;
	return r;
}

/**
 * kfdc_dmabuf_info - what KFD says about a dma-buf
 * @c: any GPU
 * @fd: the dma-buf
 * @size: set, bytes
 * @flags: set, KFD_IOC_ALLOC_MEM_FLAGS_*
 * @gpu_id: set
 *
 * EINVAL: it is none of ours.
 */
int kfdc_dmabuf_info(struct kfdc *c, int fd, uint64_t *size, uint32_t *flags, uint32_t *gpu_id)
{
	struct kfd_ioctl_get_dmabuf_info_args args = { .dmabuf_fd = fd };
	int r = KFDC_IOCTL(c, AMDKFD_IOC_GET_DMABUF_INFO, &args);

	if (r)
		return r;
	*size = args.size;
	*flags = args.flags;
	*gpu_id = args.gpu_id;
	return 0;
}

/**
 * kfdc_bo_import - use the buffer behind a dma-buf
 * @c: the GPU
 * @fd: the dma-buf; may be closed afterwards
 * @bo: set, mapped for this CPU and GPU; kfdc_bo_free() it
 */
int kfdc_bo_import(struct kfdc *c, int fd, struct kfdc_bo *bo)
{
	struct kfd_ioctl_import_dmabuf_args args = { .gpu_id = c->gpu_id, .dmabuf_fd = fd };
	uint32_t flags, gpu_id;
	uint64_t size;
	void *va;
	int r;

	r = kfdc_dmabuf_info(c, fd, &size, &flags, &gpu_id);
	if (r)
		return r;
	va = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (va == MAP_FAILED)
		return kfdc_fail(errno, "mmap of a dma-buf of %llu bytes",
				 (unsigned long long)size);
	args.va_addr = (uintptr_t)va;
	r = KFDC_IOCTL(c, AMDKFD_IOC_IMPORT_DMABUF, &args);
	if (r)
		goto err_unmap;
	*bo = (struct kfdc_bo){ .va = va, .size = size, .handle = args.handle };
	r = kfdc_bo_map(c, bo);
	if (!r)
		return 0;
	free_handle(c, args.handle);
err_unmap:
	munmap(va, size);
	return r;
}

/**
 * kfdc_available - VRAM that KFD would still give
 * @c: the GPU
 * @bytes: set
 */
int kfdc_available(struct kfdc *c, uint64_t *bytes)
{
	struct kfd_ioctl_get_available_memory_args args = { .gpu_id = c->gpu_id };
	int r = KFDC_IOCTL(c, AMDKFD_IOC_AVAILABLE_MEMORY, &args);

	if (!r)
		*bytes = args.available;
	return r;
}

/**
 * kfdc_vram_usage - VRAM of this process, as sysfs tells it
 * @c: the GPU
 * @bytes: set
 */
int kfdc_vram_usage(struct kfdc *c, uint64_t *bytes)
{
	unsigned long long n;
	char path[96];
	int found;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d/vram_%u", getpid(), c->gpu_id);
	f = fopen(path, "re");
	if (!f)
		return kfdc_fail(errno, "%s", path);
	found = fscanf(f, "%llu", &n);
	fclose(f);
	if (found != 1)
		return kfdc_fail(EIO, "%s", path);
	*bytes = n;
	return 0;
}
