// SPDX-License-Identifier: GPL-2.0
/* libkfdclient: opening a GPU, its properties, memory */
#define _GNU_SOURCE
#include "kfdclient-int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define TOPOLOGY	"/sys/class/kfd/kfd/topology/nodes"
#define MAX_GPUS	64

/* Since Linux 7.2; not in the header of Debian 12 */
#ifndef AMDKFD_IOC_CREATE_PROCESS
#define AMDKFD_IOC_CREATE_PROCESS	AMDKFD_IO(0x27)
#endif

static _Thread_local char error[256];

/**
 * kfdc_error - what the last failed call of this thread has to say
 */
const char *kfdc_error(void)
{
	return error;
}

/**
 * kfdc_has_queue_priority - does amdkfd tell the GPU the priority of a queue?
 *
 * Since Linux 7 it writes the band (pipe priority) into the MQD, no longer cp_hqd_queue_priority.
 */
bool kfdc_has_queue_priority(void)
{
	struct utsname u;

	return !uname(&u) && strtol(u.release, NULL, 10) < 7;
}

/* Keeps a message, returns -err */
int kfdc_fail(int err, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(error, sizeof(error), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(error))
		snprintf(error + n, sizeof(error) - n, ": %s", strerror(err));
	return -err;
}

int kfdc_ioctl(struct kfdc *c, unsigned long request, void *arg, const char *what)
{
	int r;

	do
		r = ioctl(c->kfd, request, arg);
	while (r && (errno == EINTR || errno == EAGAIN));
	return r ? kfdc_fail(errno, "%s", what) : 0;
}

/**
 * kfdc_now - CLOCK_MONOTONIC in ns
 */
uint64_t kfdc_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static char *read_file(const char *path)
{
	char *buf = malloc(16384);
	ssize_t n = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && buf)
		n = read(fd, buf, 16383);
	if (fd >= 0)
		close(fd);
	if (n < 0) {
		free(buf);
		return NULL;
	}
	buf[n] = 0;
	return buf;
}

static int find_node(struct kfdc *c)
{
	char path[128], *id;
	int n;

	for (n = 0; n < 256; n++) {
		snprintf(path, sizeof(path), TOPOLOGY "/%d/gpu_id", n);
		id = read_file(path);
		if (!id)
			break;
		if (strtoul(id, NULL, 10) == c->gpu_id) {
			free(id);
			c->node = n;
			snprintf(path, sizeof(path), TOPOLOGY "/%d/properties", n);
			c->props = read_file(path);
			return c->props ? 0 : kfdc_fail(EIO, "%s", path);
		}
		free(id);
	}
	return kfdc_fail(ENODEV, "no topology node has GPU ID %u", c->gpu_id);
}

/**
 * kfdc_prop - a property of the GPU's topology node
 * @c: the GPU
 * @name: its name in .../topology/nodes/<n>/properties
 * @value: set
 */
int kfdc_prop(const struct kfdc *c, const char *name, uint64_t *value)
{
	size_t len = strlen(name);
	const char *s;

	for (s = c->props; s && *s; s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL)
		if (!strncmp(s, name, len) && s[len] == ' ') {
			*value = strtoull(s + len, NULL, 10);
			return 0;
		}
	return kfdc_fail(ENOENT, "topology node %d has no property %s", c->node, name);
}

static int open_gpu(struct kfdc **cp, unsigned int index, bool context)
{
	struct kfd_process_device_apertures ap[MAX_GPUS];
	struct kfd_ioctl_get_process_apertures_new_args get = {
		.kfd_process_device_apertures_ptr = (uintptr_t)ap,
	};
	struct kfd_ioctl_acquire_vm_args vm;
	struct kfdc *c = calloc(1, sizeof(*c));
	uint64_t minor, wave_size;
	char path[64];
	int r;

	if (!c)
		return kfdc_fail(ENOMEM, "kfdc_open");
	c->drm = -1;
	c->kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (c->kfd < 0) {
		r = kfdc_fail(errno, "/dev/kfd");
		goto err;
	}
	if (context) {
		r = KFDC_IOCTL(c, AMDKFD_IOC_CREATE_PROCESS, NULL);
		if (r)
			goto err;
	}
	/* first how many there are: KFD refuses room for more */
	r = KFDC_IOCTL(c, AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, &get);
	if (!r && get.num_of_nodes) {
		if (get.num_of_nodes > MAX_GPUS)
			get.num_of_nodes = MAX_GPUS;
		r = KFDC_IOCTL(c, AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, &get);
	}
	if (r)
		goto err;
	if (index >= get.num_of_nodes) {
		r = kfdc_fail(ENODEV, "no GPU %u, there are %u", index, get.num_of_nodes);
		goto err;
	}
	c->gpu_id = ap[index].gpu_id;
	r = find_node(c);
	if (!r)
		r = kfdc_prop(c, "drm_render_minor", &minor);
	if (!r)
		r = kfdc_prop(c, "wave_front_size", &wave_size);
	if (r)
		goto err;
	c->wave_size = wave_size;
	snprintf(path, sizeof(path), "/dev/dri/renderD%u", (unsigned int)minor);
	c->drm = open(path, O_RDWR | O_CLOEXEC);
	if (c->drm < 0) {
		r = kfdc_fail(errno, "%s", path);
		goto err;
	}
	vm = (struct kfd_ioctl_acquire_vm_args){ .drm_fd = c->drm, .gpu_id = c->gpu_id };
	r = KFDC_IOCTL(c, AMDKFD_IOC_ACQUIRE_VM, &vm);
	if (r)
		goto err;
	r = kfdc_bo_alloc(c, SIGNAL_BO_SIZE, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &c->signals);
	if (r)
		goto err;
	*cp = c;
	return 0;
err:
	kfdc_close(c);
	return r;
}

/**
 * kfdc_open - use a GPU
 * @cp: set
 * @index: which, in KFD's order
 *
 * ENODEV: there is no such GPU.
 */
int kfdc_open(struct kfdc **cp, unsigned int index)
{
	return open_gpu(cp, index, false);
}

/**
 * kfdc_open_context - use a GPU in another context of this process, with an address space and
 *	queues of its own
 * @cp: set
 * @index: which GPU
 *
 * -ENOTTY or -EINVAL: before Linux 7.2 there are no contexts.
 */
int kfdc_open_context(struct kfdc **cp, unsigned int index)
{
	return open_gpu(cp, index, true);
}

/**
 * kfdc_close - release everything
 * @c: destroy its queues before
 */
void kfdc_close(struct kfdc *c)
{
	if (!c)
		return;
	if (c->doorbells)
		munmap(c->doorbells, c->doorbells_size);
	/* the event page belongs to KFD until the process is gone */
	if (c->signals.va)
		kfdc_bo_free(c, &c->signals);
	if (c->drm >= 0)
		close(c->drm);
	if (c->kfd >= 0)
		close(c->kfd);
	free(c->props);
	free(c);
}

/**
 * kfdc_fd - the descriptor of /dev/kfd, for ioctls of one's own
 * @c: the GPU
 */
int kfdc_fd(const struct kfdc *c)
{
	return c->kfd;
}

/**
 * kfdc_gpu_id - KFD's ID of the GPU
 * @c: the GPU
 */
uint32_t kfdc_gpu_id(const struct kfdc *c)
{
	return c->gpu_id;
}

/**
 * kfdc_max_waves - waves that the whole GPU holds
 * @c: the GPU
 */
uint32_t kfdc_max_waves(const struct kfdc *c)
{
	uint64_t simds = 0, waves = 0;

	kfdc_prop(c, "simd_count", &simds);
	kfdc_prop(c, "max_waves_per_simd", &waves);
	return simds * waves;
}

/**
 * kfdc_vmids - processes that the GPU runs at once
 * @c: the GPU
 *
 * KFD does not publish it: 13 on gfx9.4.x (amdgpu's gmc_v9_0.c), 8 elsewhere.
 */
uint32_t kfdc_vmids(const struct kfdc *c)
{
	uint64_t gfx = 0;

	kfdc_prop(c, "gfx_target_version", &gfx);
	return gfx / 100 == 904 ? 13 : 8;
}

/**
 * kfdc_bo_alloc - memory for CPU and GPU
 * @c: the GPU
 * @size: bytes, rounded up to pages
 * @flags: KFD_IOC_ALLOC_MEM_FLAGS_GTT or _VRAM (| ..._PUBLIC, to touch it from the CPU)
 * @bo: set
 */
int kfdc_bo_alloc(struct kfdc *c, size_t size, uint32_t flags, struct kfdc_bo *bo)
{
	struct kfd_ioctl_alloc_memory_of_gpu_args alloc = {
		.gpu_id = c->gpu_id,
		.flags = flags | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE |
			 KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE,
	};
	struct kfd_ioctl_map_memory_to_gpu_args map = {
		.device_ids_array_ptr = (uintptr_t)&c->gpu_id,
		.n_devices = 1,
	};
	void *va;
	int r;

	size = (size + 4095) & ~4095UL;
	va = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (va == MAP_FAILED)
		return kfdc_fail(errno, "mmap of %zu bytes", size);
	alloc.va_addr = (uintptr_t)va;
	alloc.size = size;
	r = KFDC_IOCTL(c, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &alloc);
	if (r)
		goto err_unmap;
	*bo = (struct kfdc_bo){ .va = va, .size = size, .handle = alloc.handle };
	if (mmap(va, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, c->drm,
		 alloc.mmap_offset) == MAP_FAILED) {
		r = kfdc_fail(errno, "mmap of a BO of %zu bytes", size);
		goto err_free;
	}
	map.handle = alloc.handle;
	r = KFDC_IOCTL(c, AMDKFD_IOC_MAP_MEMORY_TO_GPU, &map);
	if (!r)
		return 0;
err_free:
	ioctl(c->kfd, AMDKFD_IOC_FREE_MEMORY_OF_GPU,
	      &(struct kfd_ioctl_free_memory_of_gpu_args){ .handle = alloc.handle });
	bo->va = NULL;
err_unmap:
	munmap(va, size);
	return r;
}

/**
 * kfdc_bo_free - unmap and free; no queue may use it any more
 * @c: the GPU
 * @bo: the buffer
 */
void kfdc_bo_free(struct kfdc *c, struct kfdc_bo *bo)
{
	struct kfd_ioctl_unmap_memory_from_gpu_args unmap = {
		.handle = bo->handle,
		.device_ids_array_ptr = (uintptr_t)&c->gpu_id,
		.n_devices = 1,
	};
	struct kfd_ioctl_free_memory_of_gpu_args args = { .handle = bo->handle };

	if (!bo->va)
		return;
	KFDC_IOCTL(c, AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, &unmap);
	KFDC_IOCTL(c, AMDKFD_IOC_FREE_MEMORY_OF_GPU, &args);
	munmap(bo->va, bo->size);
	bo->va = NULL;
}
