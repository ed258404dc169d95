// SPDX-License-Identifier: GPL-2.0
/*
 * sim-strangers: what programs that are not ours ask of the simulated GPU: command submission by
 * libdrm_amdgpu beside KFD, memory that is read-only, a death in the middle of a copy between two GPUs,
 * doorbells that a GPU rings.  GPUs 0 and 1, with 64 MB of VRAM each.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <amdgpu.h>
#include <drm/amdgpu_drm.h>
#include <linux/kfd_ioctl.h>
#include "kfdclient.h"
#include "simgpu.h"
#include "tap.h"

#define MS	1000000ULL
#define SEC	1000000000ULL
#define MB	(1ULL << 20)
#define PUBLIC_VRAM	(KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC)
#define BIG	(40 * MB)	/* two of them do not fit into VRAM */
#define STEP	(64 << 10)

static long long pages[2];	/* ram_pages of the idle GPUs */

static void nap(unsigned int ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS }, NULL);
}

static void must(int r)
{
	if (r) {
		fprintf(stderr, "# %s\n", kfdc_error());
		_exit(99);
	}
}

/* Waits, up to 20 s, until a counter is @value or more */
static bool reaches(const char *name, long long value)
{
	int i;

	for (i = 0; i < 2000 && sim_counter(0, name) < value; i++)
		nap(10);
	return i < 2000;
}

/* ---- DRM ---- */

static volatile bool *stop;		/* shared with the child */
static volatile long *rounds;

/* Dispatches and 40 MB of VRAM; says whether the memory stayed as it was */
static int compute(int fd, void *unused)
{
	struct kfdc_signal *s;
	struct kfdc_queue *q;
	struct kfdc_bo bo;
	struct kfdc *c, *other;
	bool good = true;
	uint64_t i;

	(void)unused;
	must(kfdc_open(&other, 1));	/* see open_all() of memory.c */
	must(kfdc_open(&c, 0));
	must(kfdc_queue_create(c, NULL, &q));
	must(kfdc_signal_create(c, false, &s));
	must(kfdc_bo_alloc(c, BIG, PUBLIC_VRAM, &bo));
	for (i = 0; i < BIG; i += STEP)
		*(uint64_t *)((char *)bo.va + i) = i + 1;
	if (write(fd, "r", 1) != 1)
		return 99;
	while (!*stop) {
		kfdc_signal_set(s, 1);
		must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = MS, .signal = s }));
		must(kfdc_signal_wait(s, 60 * SEC));
		++*rounds;
	}
	for (i = 0; i < BIG; i += STEP)
		good &= *(uint64_t *)((char *)bo.va + i) == i + 1;
	return good;
}

struct drm {
	amdgpu_device_handle dev;
	amdgpu_context_handle ctx;
	amdgpu_bo_list_handle list;
	amdgpu_bo_handle bo[2];		/* 40 MB of VRAM, and a page of GTT: an indirect buffer */
	uint64_t va[2];
	void *cpu[2];
};

static int drm_buffer(struct drm *d, int i, uint64_t size, uint32_t heap)
{
	struct amdgpu_bo_alloc_request req = { .alloc_size = size, .phys_alignment = 4096, .preferred_heap = heap };
	amdgpu_va_handle range;
	int r;

	r = amdgpu_bo_alloc(d->dev, &req, &d->bo[i]);
	r = r ? : amdgpu_va_range_alloc(d->dev, amdgpu_gpu_va_range_general, size, 4096, 0, &d->va[i], &range, 0);
	r = r ? : amdgpu_bo_va_op(d->bo[i], 0, size, d->va[i], 0, AMDGPU_VA_OP_MAP);
	return r ? : amdgpu_bo_cpu_map(d->bo[i], &d->cpu[i]);
}

static int drm_open_gpu(struct drm *d, int fd)
{
	struct drm_amdgpu_info_hw_ip ip;
	uint32_t major, minor;
	int r = amdgpu_device_initialize(fd, &major, &minor, &d->dev);

	r = r ? : amdgpu_query_hw_ip_info(d->dev, AMDGPU_HW_IP_DMA, 0, &ip);
	if (!r && !ip.available_rings)
		return -ENOENT;
	return r ? : amdgpu_cs_ctx_create(d->dev, &d->ctx);
}

/* Submits the indirect buffer; the time-out of the wait is 5 s */
static int drm_submit(struct drm *d, uint64_t va)
{
	struct amdgpu_cs_ib_info ib = { .ib_mc_address = va, .size = 16 };
	struct amdgpu_cs_request req = { .ip_type = AMDGPU_HW_IP_DMA, .resources = d->list,
		.number_of_ibs = 1, .ibs = &ib, .fence_info = { .handle = d->bo[1], .offset = 256 } };
	struct amdgpu_cs_fence fence = { .context = d->ctx, .ip_type = AMDGPU_HW_IP_DMA };
	uint32_t expired = 0;
	int r = amdgpu_cs_submit(d->ctx, 0, &req, 1);

	fence.fence = req.seq_no;
	r = r ? : amdgpu_cs_query_fence_status(&fence, 5 * SEC, 0, &expired);
	if (r || !expired)
		return r ? : -ETIME;
	/* the sequence number in memory, in qwords from there */
	return *(volatile uint64_t *)((char *)d->cpu[1] + 256 * 8) == req.seq_no ? 0 : -EPROTO;
}

static void test_drm(void)
{
	struct sim_child ch = sim_child(compute, NULL);
	int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC), r, i;
	struct drm d = {};
	uint64_t flags, n;
	bool good = true;
	long long ev = sim_counter(0, "evictions"), restored = sim_counter(0, "restored_processes");
	long was;
	char c;

	if (!sim_child_hear(&ch, &c, 1, 60000) || fd < 0)
		tap_bail("a process that computes, and a render node: %s", strerror(errno));
	tap_eq(drm_open_gpu(&d, fd), 0, "libdrm_amdgpu knows the GPU; a context for its SDMA ring");
	r = drm_buffer(&d, 1, 4096, AMDGPU_GEM_DOMAIN_GTT);
	tap_eq(r, 0, "an indirect buffer in GTT");
	tap_eq(sim_counter(0, "evictions"), ev, "nothing was in the way");
	r = drm_buffer(&d, 0, BIG, AMDGPU_GEM_DOMAIN_VRAM);
	tap_eq(r, 0, "40 MB of VRAM, beside KFD's 40 of 64");
	if (r)
		tap_bail("no buffer");
	tap_ok(sim_counter(0, "evictions") > ev, "for which KFD's had to go");
	for (n = 0; n < BIG; n += STEP)
		*(uint64_t *)((char *)d.cpu[0] + n) = ~n;
	tap_ok(reaches("restored_processes", restored + 1), "KFD's process comes back");
	tap_eq(amdgpu_bo_list_create(d.dev, 2, d.bo, NULL, &d.list), 0, "a list of buffers");
	for (i = 0; i < 3; i++) {
		ev = sim_counter(0, "evictions");
		was = *rounds;
		r = drm_submit(&d, d.va[1]);
		if (r || sim_counter(0, "evictions") == ev)
			break;
		for (r = 0; r < 2000 && *rounds < was + 20; r++)
			nap(10);
		if (r == 2000)
			break;
	}
	tap_eq(i, 3, "submissions bring the buffer back, which evicts the process; it goes on each time");
	tap_ok(drm_submit(&d, d.va[1] + (1 << 30)) != 0, "an indirect buffer that is not mapped is refused");
	tap_ok(!amdgpu_cs_query_reset_state2(d.ctx, &flags) && !flags, "no reset");
	for (n = 0; n < BIG; n += STEP)
		good &= *(uint64_t *)((char *)d.cpu[0] + n) == ~n;
	tap_ok(good, "the DRM client's memory is as it was");
	*stop = true;
	tap_eq(sim_child_end(&ch, 60000) >> 8, 1, "and the process's");
	tap_eq(amdgpu_bo_list_destroy(d.list) | amdgpu_bo_va_op(d.bo[0], 0, BIG, d.va[0], 0, AMDGPU_VA_OP_UNMAP) |
	       amdgpu_bo_free(d.bo[0]) | amdgpu_bo_cpu_unmap(d.bo[1]) | amdgpu_cs_ctx_free(d.ctx), 0,
	       "what it had is freed");
	amdgpu_device_deinitialize(d.dev);
	close(fd);	/* the indirect buffer goes with it */
	tap_ok(sim_clean(0, pages[0]), "nothing is left");
}

/* ---- memory that is read-only ---- */

struct readonly {
	bool user;	/* memory of the process; else GTT */
	bool big;	/* looked up by parts, see userptr.c */
};

enum { RO_READ = 1, RO_EVENT = 2, RO_REASON = 4, RO_KEPT = 8 };

/* A buffer of the process's memory, or in GTT, without KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE */
static void alloc_readonly(struct kfdc *c, void *va, size_t size, bool user)
{
	struct kfd_ioctl_alloc_memory_of_gpu_args a = { .gpu_id = kfdc_gpu_id(c), .va_addr = (uintptr_t)va,
		.size = size, .mmap_offset = (uintptr_t)va, .flags = user ? KFD_IOC_ALLOC_MEM_FLAGS_USERPTR :
		KFD_IOC_ALLOC_MEM_FLAGS_GTT };
	struct kfdc_bo bo = { .va = va, .size = size };

	if (ioctl(kfdc_fd(c), AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &a)) {
		fprintf(stderr, "# ALLOC_MEMORY_OF_GPU, read-only: %s\n", strerror(errno));
		_exit(98);
	}
	bo.handle = a.handle;
	must(kfdc_bo_map(c, &bo));
}

static int readonly(int fd, void *arg)
{
	const struct readonly *what = arg;
	const size_t size = what->big ? 8 * MB : STEP;
	struct kfd_ioctl_create_event_args e = { .event_type = KFD_IOC_EVENT_MEMORY, .auto_reset = 1 };
	struct kfd_event_data data = {};
	struct kfd_ioctl_wait_events_args wait = { .events_ptr = (uintptr_t)&data, .num_events = 1, .timeout = 5000 };
	struct kfdc_bo buf;
	struct kfdc_ring *sdma;
	struct kfdc *c, *other;
	int found = 0;
	char *p;

	(void)fd;
	must(kfdc_open(&other, 1));
	must(kfdc_open(&c, 0));
	must(kfdc_ring_create(c, NULL, &sdma));
	must(kfdc_bo_alloc(c, STEP, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &buf));
	if (what->user)	/* the kernel's page of zeros, again and again: nobody's to write to */
		p = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	else
		p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return 99;
	alloc_readonly(c, p, size, what->user);
	memset(buf.va, 0x55, STEP);
	must(kfdc_sdma_copy(sdma, buf.va, p + size - STEP, STEP));
	kfdc_ring_submit(sdma);
	must(kfdc_ring_wait(sdma, 10 * SEC));
	found |= (!*(char *)buf.va && !memcmp(buf.va, (char *)buf.va + 1, STEP - 1)) * RO_READ;
	if (ioctl(kfdc_fd(c), AMDKFD_IOC_CREATE_EVENT, &e))
		return 99;
	data.event_id = e.event_id;
	must(kfdc_sdma_fill(sdma, p + size - STEP, 0x12345678, STEP));
	kfdc_ring_submit(sdma);
	while (ioctl(kfdc_fd(c), AMDKFD_IOC_WAIT_EVENTS, &wait) && errno == EINTR)
		;
	found |= (wait.wait_result == KFD_IOC_WAIT_RESULT_COMPLETE) * RO_EVENT;
	found |= (data.memory_exception_data.failure.ReadOnly == 1 &&
		  !data.memory_exception_data.failure.NotPresent &&
		  data.memory_exception_data.va == (uintptr_t)(p + size - STEP)) * RO_REASON;
	if (what->user)
		found |= (!p[size - STEP] && !memcmp(p, p + 1, size - 1)) * RO_KEPT;
	else
		found |= RO_KEPT;	/* it cannot be seen from here */
	return found;
}

static void test_readonly(void)
{
	static const char * const name[] = { "a small userptr", "a large one", "GTT" };
	struct readonly what[] = { { true, false }, { true, true }, { false, false } };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct sim_child ch = sim_child(readonly, &what[i]);
		int found = sim_child_end(&ch, 60000) >> 8;

		tap_eq(found, RO_READ | RO_EVENT | RO_REASON | RO_KEPT,
		       "read-only: %s: it is read; a write is a memory exception that says so, and writes nothing",
		       name[i]);
	}
	tap_ok(sim_clean(0, pages[0]), "nothing is left");
	tap_eq(sim_use(0, true), 0, "and the GPU works");
}

/* ---- a copy between two GPUs ---- */

/*
 * From the VRAM of one to that of the other, both ways at once, by memory that both reach: GPUs without
 * peer access are used like that.  For ever.
 */
static int copy_between(int fd, void *unused)
{
	struct kfdc *c[2];
	struct kfdc_ring *sdma[2];
	struct kfdc_bo vram[2], mid[2];
	int i;

	(void)unused;
	for (i = 0; i < 2; i++) {
		must(kfdc_open(&c[i], i));
		must(kfdc_ring_create(c[i], NULL, &sdma[i]));
		must(kfdc_bo_alloc(c[i], 8 * MB, PUBLIC_VRAM, &vram[i]));
		must(kfdc_bo_alloc(c[i], 8 * MB, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &mid[i]));
	}
	for (i = 0; i < 2; i++)
		must(kfdc_bo_map(c[!i], &mid[i]));
	for (;;) {
		for (i = 0; i < 2; i++) {
			must(kfdc_sdma_copy(sdma[i], mid[i].va, vram[i].va, 8 * MB));
			must(kfdc_sdma_copy(sdma[i], vram[i].va, mid[!i].va, 8 * MB));
			kfdc_ring_submit(sdma[i]);
		}
		if (fd >= 0 && write(fd, "r", 1) != 1)
			return 99;
		fd = -1;
		for (i = 0; i < 2; i++)
			must(kfdc_ring_wait(sdma[i], 10 * SEC));
	}
}

static void test_killed(void)
{
	long long resets = sim_counter(0, "resets") + sim_counter(1, "resets");
	uint64_t seed = sim_seed();
	unsigned int i;
	bool began = true;
	char c;

	for (i = 0; i < 8; i++) {
		struct sim_child ch = sim_child(copy_between, NULL);

		began &= sim_child_hear(&ch, &c, 1, 60000);
		usleep(sim_random(&seed) % 4000);
		sim_child_kill(&ch);
	}
	tap_ok(began, "8 processes that copy between two GPUs");
	tap_ok(sim_clean(0, pages[0]) && sim_clean(1, pages[1]), "killed in the middle of it they leave nothing");
	tap_eq(sim_counter(0, "resets") + sim_counter(1, "resets") - resets, 0, "and neither GPU is reset");
	tap_eq(sim_use(0, true) | sim_use(1, true), 0, "both work");
}

/* ---- a doorbell that the GPU rings ---- */

enum { DB_QUIET = 1, DB_RUNG = 2, DB_AGAIN = 4 };

static int ring_by_gpu(int fd, void *unused)
{
	struct kfd_ioctl_alloc_memory_of_gpu_args a = { .size = 8192, .flags = KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL |
		KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT };
	struct kfdc_bo bells = { .size = 8192 }, buf;
	struct kfdc_signal *s;
	struct kfdc_ring *sdma;
	struct kfdc_queue *q;
	struct kfdc *c, *other;
	uint64_t bell;
	int found = 0;

	(void)fd, (void)unused;
	must(kfdc_open(&other, 1));
	must(kfdc_open(&c, 0));
	must(kfdc_queue_create(c, NULL, &q));
	must(kfdc_ring_create(c, NULL, &sdma));
	must(kfdc_signal_create(c, false, &s));
	must(kfdc_bo_alloc(c, 4096, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &buf));
	bells.va = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	a.gpu_id = kfdc_gpu_id(c);
	a.va_addr = (uintptr_t)bells.va;
	if (bells.va == MAP_FAILED || ioctl(kfdc_fd(c), AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &a))
		return 99;
	bells.handle = a.handle;
	must(kfdc_bo_map(c, &bells));
	bell = (uintptr_t)bells.va + (q->doorbell_offset & 8191);
	/* 64 bits by a copy, and 32 by a fence, which is enough for a ring */
	kfdc_signal_set(s, 1);
	must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = MS, .signal = s, .no_ring = true }));
	nap(300);
	found |= (kfdc_signal_value(s) == 1) * DB_QUIET;
	*(uint64_t *)buf.va = 0;
	must(kfdc_sdma_copy(sdma, (void *)bell, buf.va, 8));
	kfdc_ring_submit(sdma);
	found |= !kfdc_signal_wait(s, 5 * SEC) * DB_RUNG;
	kfdc_signal_set(s, 1);
	must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = MS, .signal = s, .no_ring = true }));
	must(kfdc_sdma_fence(sdma, (uint32_t *)bell, 1));
	kfdc_ring_submit(sdma);
	found |= !kfdc_signal_wait(s, 5 * SEC) * DB_AGAIN;
	must(kfdc_queue_destroy(q));
	must(kfdc_ring_destroy(sdma));
	must(kfdc_bo_unmap(c, &bells));
	return found;
}

static void test_doorbell(void)
{
	struct sim_child ch = sim_child(ring_by_gpu, NULL);

	tap_eq(sim_child_end(&ch, 60000) >> 8, DB_QUIET | DB_RUNG | DB_AGAIN,
	       "an SDMA queue rings the doorbell of a compute queue");
	tap_ok(sim_clean(0, pages[0]), "nothing is left");
}

int main(void)
{
	void *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	rounds = shared;
	stop = (bool *)shared + 64;
	pages[0] = sim_counter(0, "ram_pages");
	pages[1] = sim_counter(1, "ram_pages");
	test_drm();
	test_readonly();
	test_killed();
	test_doorbell();
	return tap_done();
}
