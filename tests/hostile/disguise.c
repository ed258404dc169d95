// SPDX-License-Identifier: GPL-2.0
/*
 * Ways in which a batch process hides its work. The driver reads the indices of a queue at the addresses that
 * CREATE_QUEUE was given, with the page table of the CPU. The GPU has a page table of its own, and goes on with the
 * pages that it has mapped.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/kfd_ioctl.h>
#include <linux/userfaultfd.h>
#include "disguise.h"

#define BATCH_NS	(25 * MS)
#define BATCH		4000
#define LONG_NS		(100 * SEC)
#define COPY		(4ull << 20)

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

/* What the driver reads: the write index, and the read index 128 bytes behind */
static volatile uint64_t *shown;

static void show_both(uint64_t rptr, uint64_t wptr)
{
	shown[16] = rptr;
	shown[0] = wptr;
}

/* The page of the indices moves to another address, where this process has it from then on. Where it was is a hole */
static void *move_away(struct kfdc_queue *q)
{
	char *old = q->ptr_bo.va, *new = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (new == MAP_FAILED || mremap(old, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, new) == MAP_FAILED)
		return NULL;
	q->wptr = (void *)new;
	q->rptr = (void *)(new + 128);
	return old;
}

static long show_page(struct kfdc_queue *q, int prot)
{
	void *at = move_away(q);

	if (!at || mmap(at, 4096, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return -errno;
	shown = at;
	return 0;
}

static long show_absent(struct kfdc_queue *q)
{
	return show_page(q, PROT_READ | PROT_WRITE);
}

static long show_zero(struct kfdc_queue *q)
{
	long r = show_absent(q);

	return r ? r : (long)*shown;	/* the page of zeros is there now */
}

static long show_equal(struct kfdc_queue *q)
{
	long r = show_absent(q);

	if (!r)
		show_both(7, 7);
	return r;
}

static long show_unmapped(struct kfdc_queue *q)
{
	return move_away(q) ? 0 : -errno;
}

static long show_none(struct kfdc_queue *q)
{
	return show_page(q, PROT_NONE);
}

/* A page that user space is to fill in, and never does */
static long show_uffd(struct kfdc_queue *q)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	long r;

	if (fd < 0)
		return not_here("userfaultfd(2) of an ordinary user: %s", strerror(errno));
	r = show_absent(q);
	if (r)
		return r;
	reg.range.start = (uintptr_t)shown;
	reg.range.len = 4096;
	return ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg) ? -errno : 0;
}

static long show_fuse(struct kfdc_queue *q)
{
	void *at = move_away(q);

	return at ? fuse_page(at) : -errno;
}

static void backwards(struct kfdc_queue *q, unsigned int n)
{
	(void)q;
	show_both(1000000 - n, 1000000 - n);
}

/* Honest and idle in turns */
static void flip(struct kfdc_queue *q, unsigned int n)
{
	show_both(*q->rptr, n % 2 ? *q->rptr : *q->wptr);
}

/* amd_queue_t.write_dispatch_id: the GPU has read it */
static void forge_write(struct kfdc_queue *q, unsigned int n)
{
	(void)n;
	*q->wptr = *q->rptr;
}

/* An honest process at first */
static void hide_later(struct kfdc_queue *q, unsigned int n)
{
	if (n == 1)
		show_equal(q);
}

/* The packet that runs: as if it had never been, and another one's completion signal, which is 0 */
static void forge_packet(struct kfdc_queue *q, unsigned int n)
{
	uint64_t *packet = (uint64_t *)((char *)q->ring + (*q->rptr - 1) % q->attr.packets * 64);

	(void)n;
	if (!*q->rptr)
		return;
	packet[7] = (uintptr_t)kfdc_signal_mem(me.s);
	packet[1] = packet[2] = packet[3] = 0;
	*(uint16_t *)packet = 1;
}

/* Nothing to do, and indices that differ: what is not written yet */
static long pretend(struct kfdc_queue *q)
{
	*q->wptr += 5;
	return 0;
}

/* ---- work that no CPU has rung for ---- */

static struct kfdc_ring *sdma;
static uint32_t *flag;
static void *bells;

/* After a while in which the process is idle, its other queue changes: HWS maps all of them again */
static void update_other(struct kfdc_queue *q, unsigned int n)
{
	static struct kfdc_queue *other;

	(void)q;
	if (n == 0)
		kfdc_queue_create(me.c, NULL, &other);
	else if (n == 2 && other)
		kfdc_queue_update(other, 99, 7);
}

/* An SDMA queue waits for a word of memory and rings the doorbell of @q then. Its indices are hidden, too */
static long ring_by_gpu(struct kfdc_queue *q)
{
	struct kfd_ioctl_alloc_memory_of_gpu_args a = { .size = 8192, .flags = KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL |
		KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT };
	struct kfdc_bo buf, map = { .size = 8192 };
	uint64_t bell;
	long r;

	r = show_zero(q);
	r = r ? r : kfdc_ring_create(me.c, NULL, &sdma);
	r = r ? r : kfdc_bo_alloc(me.c, 4096, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &buf);
	if (r)
		return r;
	bells = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	a.gpu_id = kfdc_gpu_id(me.c);
	a.va_addr = (uintptr_t)bells;
	if (bells == MAP_FAILED || ioctl(kfdc_fd(me.c), AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &a))
		return not_here("doorbells mapped for the GPU: %s", strerror(errno));
	map.va = bells;
	map.handle = a.handle;
	r = kfdc_bo_map(me.c, &map);
	if (r)
		return r;
	bell = (uintptr_t)bells + (q->doorbell_offset & 8191);
	flag = buf.va;
	/* POLL_REGMEM: memory, until it is equal */
	r = kfdc_ring_write(sdma, (uint32_t []){ 8 | 3u << 28 | 1u << 31, (uintptr_t)flag, (uintptr_t)flag >> 32, 1, ~0u,
						 0xfff << 16 | 10 }, 6);
	return r ? r : kfdc_sdma_fence(sdma, (uint32_t *)bell, 1);
}

static long submit_sdma(struct kfdc_queue *q)
{
	char *old = sdma->ptr_bo.va, *new = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)q;
	if (new == MAP_FAILED || mremap(old, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, new) == MAP_FAILED ||
	    mmap(old, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return -errno;
	sdma->wptr = (void *)new;
	sdma->rptr = (void *)(new + 128);
	memset(old, 0, 4096);
	kfdc_ring_submit(sdma);
	return 0;
}

static void raise_flag(struct kfdc_queue *q, unsigned int n)
{
	(void)q;
	if (n == 1)
		*(volatile uint32_t *)flag = 1;
}

/* The same, from when no indices can be read */
static void raise_unseen(struct kfdc_queue *q, unsigned int n)
{
	if (n == 1)
		munmap((void *)shown, 4096);
	raise_flag(q, n);
}

/* ---- kernels that are over whenever waves are counted ---- */

#define GATES	1000
#define GATED_NS	(8 * MS)

static struct kfdc_signal *gates[GATES];

/* /proc/PID/status of the engine's thread of the first GPU; empty: there is none */
static char engine[64];

static void engine_find(void)
{
	char line[64];
	struct dirent *e;
	DIR *d = opendir("/proc");
	FILE *f;

	while (d && !*engine && (e = readdir(d))) {
		snprintf(line, sizeof(line), "/proc/%.16s/comm", e->d_name);
		f = e->d_name[0] >= '0' && e->d_name[0] <= '9' ? fopen(line, "re") : NULL;
		if (f && fgets(line, sizeof(line), f) && !strncmp(line, "kfd-prio/", 9))
			snprintf(engine, sizeof(engine), "/proc/%.16s/status", e->d_name);
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
}

static long switches(const char *path)
{
	FILE *f = fopen(path, "re");
	char line[256];
	long n = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %ld", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

/*
 * Each time that the engine's thread has run, one kernel more may begin, which ends before the thread is expected to run again.
 * While the process is off, it rings now and then, so that it is put back
 */
static void *gate(void *queue)
{
	struct kfdc_queue *q = queue;
	long was = switches(engine);
	uint64_t done;
	int i;

	for (i = 0; i < GATES; i++) {
		while (switches(engine) == was)
			nap_ns(20 * US);
		done = *q->rptr;
		kfdc_signal_set(gates[i], 0);
		nap_ns(GATED_NS);
		while (*q->rptr == done) {
			nap_ns(17 * MS);
			if (*q->rptr == done)
				kfdc_ring(q);
			nap_ns(17 * MS);
		}
		was = switches(engine);
	}
	return NULL;
}

static long start_gated(void)
{
	const struct kfdc_queue_attr attr = { .priority = 7, .percentage = 100, .packets = 4096 };
	struct kfdc_queue *q;
	pthread_t thread;
	long i, r;

	engine_find();
	if (!*engine)
		return not_here("no thread kfd-prio in /proc");
	r = kfdc_queue_create(me.c, &attr, &q);
	r = r ? r : show_equal(q);
	for (i = 0; i < GATES && !r; i++) {
		r = kfdc_signal_create(me.c, false, &gates[i]);
		if (r)
			break;
		kfdc_signal_set(gates[i], 1);
		r = kfdc_barrier(q, false, &gates[i], 1, NULL);
		r = r ? r : kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = GATED_NS, .barrier = true, .no_ring = i < GATES - 1 });
	}
	return r ? r : -pthread_create(&thread, NULL, gate, q);
}

/* ---- queues of PM4 and SDMA packets ---- */

static long start_pm4(void)
{
	const struct kfdc_ring_attr attr = { .priority = 7, .percentage = 100, .bytes = 1 << 19 };
	struct kfdc_ring *ring;
	long i, r;

	r = kfdc_ring_create(me.c, &attr, &ring);
	if (r)
		return r;
	sdma = ring;
	/* a full load of waves takes 20 us */
	for (i = 0; i < BATCH && !r; i++)
		r = kfdc_pm4_dispatch(ring, kfdc_max_waves(me.c) * (BATCH_NS / (20 * US)));
	return r ? r : submit_sdma(NULL);
}

static long start_sdma(void)
{
	struct kfdc_bo bo[2];
	long i, r;

	r = kfdc_ring_create(me.c, NULL, &sdma);
	for (i = 0; i < 2 && !r; i++)
		r = kfdc_bo_alloc(me.c, COPY, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &bo[i]);
	for (i = 0; i < 1000 && !r; i++)
		r = kfdc_sdma_copy(sdma, bo[1].va, bo[0].va, COPY);
	return r ? r : submit_sdma(NULL);
}

long act_sdma_done(long unused, long unused2)
{
	(void)unused, (void)unused2;
	return *sdma->rptr / 28;	/* a copy has 7 dwords */
}

/* ---- all of them ---- */

const struct disguise disguises[] = {
	{ "honest", "an honest batch process" },
	{ "hide_page", "indices in a page of zeros", .before = show_zero },
	{ "hide_equal", "indices that are equal", .before = show_equal },
	{ "hide_backwards", "indices that run backwards", .before = show_absent, .again = backwards, .every = 300 * US },
	{ "hide_flip", "honest and idle in turns", .before = show_absent, .again = flip, .every = 2900 * US },
	{ "hide_write", "the write index is set back", .again = forge_write, .every = 200 * US },
	{ "hide_late", "indices that are equal after a while", .again = hide_later, .every = 50 * MS },
	{ "hide_signal", "one long kernel whose signal is done", .dispatches = 1, .signalled = true },
	{ "hide_packet", "one long kernel whose packet is overwritten", .dispatches = 1, .again = forge_packet, .every = MS },
	{ "hide_pretend", "indices that differ, and no work", .dispatches = -1, .after = pretend },
	{ "hide_absent", "indices in a page that was never touched", .before = show_absent },
	{ "hide_unmapped", "indices in a hole", .before = show_unmapped },
	{ "hide_none", "indices in a page without access", .before = show_none },
	{ "hide_uffd", "indices in a page of userfaultfd", .before = show_uffd },
	{ "hide_fuse", "indices in a page of a FUSE file", .before = show_fuse },
	{ "hide_stopped", "stopped by a signal", .before = show_zero, .stop = STOP_SIGNAL },
	{ "hide_traced", "stopped by ptrace", .before = show_zero, .stop = STOP_TRACED },
	{ "hide_unrung", "work that nobody rang for", .before = show_zero, .silent = true, .again = update_other,
	  .every = 20 * MS },
	{ "hide_gpu_rings", "an SDMA queue rings", .before = ring_by_gpu, .silent = true, .after = submit_sdma,
	  .again = raise_flag, .every = 25 * MS },
	{ "hide_gpu_unmapped", "an SDMA queue rings, indices in a hole", .before = ring_by_gpu, .silent = true,
	  .after = submit_sdma, .again = raise_unseen, .every = 25 * MS },
	{ "hide_between", "kernels between two observations, indices that are equal", .start = start_gated },
	{ "hide_pm4", "a queue of PM4 packets, indices in a page of zeros", .start = start_pm4 },
	{ "hide_sdma", "an SDMA queue, indices in a page of zeros", .start = start_sdma },
	{}
};

int disguise_of(const char *name)
{
	int i;

	for (i = 0; disguises[i].name; i++)
		if (!strcmp(disguises[i].name, name))
			return i;
	tap_bail("no disguise %s", name);
}

struct again {
	const struct disguise *d;
	struct kfdc_queue *q;
};

static void *again(void *arg)
{
	const struct again *a = arg;
	unsigned int n;

	/* behind all others: the guest has one CPU */
	setpriority(PRIO_PROCESS, syscall(SYS_gettid), 19);
	prctl(PR_SET_TIMERSLACK, 1);
	for (n = 0;; n++) {
		nap_ns(a->d->every);
		a->d->again(a->q, n);
	}
	return NULL;
}

static long dispatch_all(const struct disguise *d, struct kfdc_queue *q, long ns)
{
	long i, r = 0, n = d->dispatches ? d->dispatches : BATCH;

	for (i = 0; !r && i < n; i++)
		r = kfdc_dispatch(q, &(struct kfdc_dispatch){
			.ns = d->dispatches == 1 ? LONG_NS : ns ? (uint64_t)ns : BATCH_NS, .barrier = true,
			.signal = d->signalled ? me.s : NULL, .no_ring = d->silent || i < n - 1,
		});
	return r;
}

long act_batch(long which, long ns)
{
	struct kfdc_queue_attr attr = { .priority = 7, .percentage = 100, .packets = 4096 };
	const struct disguise *d = &disguises[which];
	static struct again a;
	pthread_t thread;
	long r;

	a.d = d;
	if (d->start)
		return d->start();
	r = kfdc_queue_create(me.c, &attr, &a.q);
	if (!r && d->before)
		r = d->before(a.q);
	r = r ? r : dispatch_all(d, a.q, ns);
	if (!r && d->after)
		r = d->after(a.q);
	if (!r && d->again && pthread_create(&thread, NULL, again, &a))
		r = -EAGAIN;
	return r;
}

long act_trace_stop(long pid, long unused)
{
	(void)unused;
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) || ptrace(PTRACE_INTERRUPT, pid, NULL, NULL))
		return -errno;
	return waitpid(pid, NULL, 0) == pid ? 0 : -errno;
}
