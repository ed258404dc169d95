// SPDX-License-Identifier: GPL-2.0
/*
 * sim-memory: VRAM. Limits and accounting; what over-subscription does to processes.
 * To be run with vram_mb=64 queue_preemption_timeout_ms=1500 or so.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <linux/kfd_ioctl.h>
#include "events.h"
#include "kfdclient.h"
#include "simgpu.h"
#include "tap.h"

#define MS	1000000ULL
#define SEC	1000000000ULL
#define MB	(1ULL << 20)
#define VRAM	(KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC)
#define GTT	KFD_IOC_ALLOC_MEM_FLAGS_GTT
#define PARAM	"/sys/module/amdgpu/parameters/"

static long long pages;		/* ram_pages of the idle GPU */

static void nap(unsigned int ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS }, NULL);
}

static void pressure(unsigned long long bytes)
{
	char text[24];
	int err;

	snprintf(text, sizeof(text), "%llu", bytes);
	err = sim_write(0, "vram_pressure", text);
	if (err)
		tap_bail("vram_pressure %s: %s", text, strerror(err));
}

/* Waits for a counter to reach a value */
static bool reaches(const char *name, long long value, unsigned int ms)
{
	for (; sim_counter(0, name) < value && ms; ms -= ms < 10 ? ms : 10)
		nap(10);
	return sim_counter(0, name) >= value;
}

/* ---- one process: what it may have, and what it is told ---- */

struct limits {
	uint64_t avail[3], used[3];
	int too_much, all, more, self, gtt, gtt_again;
	long long evictions;
};

static int limits(int fd, void *unused)
{
	struct limits l = {};
	struct kfdc_bo a, b;
	struct kfdc *c;

	(void)unused;
	if (kfdc_open(&c, 0) || kfdc_available(c, &l.avail[0]) || kfdc_vram_usage(c, &l.used[0]) ||
	    kfdc_bo_alloc(c, 8 * MB, VRAM, &a) ||
	    kfdc_available(c, &l.avail[1]) || kfdc_vram_usage(c, &l.used[1]))
		goto err;
	kfdc_bo_free(c, &a);
	if (kfdc_available(c, &l.avail[2]) || kfdc_vram_usage(c, &l.used[2]))
		goto err;
	l.too_much = kfdc_bo_alloc(c, 64 * MB, VRAM, &a);
	l.all = kfdc_bo_alloc(c, l.avail[0], VRAM, &a);
	l.more = kfdc_bo_alloc(c, 4096, VRAM, &b);
	kfdc_bo_free(c, &a);

	/* its own buffers are not pushed out for it */
	l.evictions = sim_counter(0, "evictions");
	pressure(40 * MB);
	if (kfdc_bo_alloc(c, 16 * MB, VRAM, &a))
		goto err;
	l.self = kfdc_bo_alloc(c, 16 * MB, VRAM, &b);
	l.evictions = sim_counter(0, "evictions") - l.evictions;
	kfdc_bo_free(c, &a);
	pressure(0);

	sim_poke(PARAM "gtt_mb", "128");
	l.gtt = kfdc_bo_alloc(c, 256 * MB, GTT, &a);
	sim_poke(PARAM "gtt_mb", "0");
	l.gtt_again = kfdc_bo_alloc(c, 256 * MB, GTT, &a);
	if (!l.gtt_again)
		kfdc_bo_free(c, &a);
	kfdc_close(c);
	return write(fd, &l, sizeof(l)) != sizeof(l);
err:
	fprintf(stderr, "# limits: %s\n", kfdc_error());
	return 1;
}

static void test_limits(void)
{
	struct sim_child ch = sim_child(limits, NULL);
	struct limits l;

	if (!sim_child_hear(&ch, &l, sizeof(l), 60000))
		tap_bail("the process that allocates broke off");
	sim_child_end(&ch, 20000);
	tap_eq(l.avail[0], 56 * MB, "64 MB of VRAM, 8 kept for page tables: available memory");
	tap_ok(l.avail[1] == l.avail[0] - 8 * MB && l.avail[2] == l.avail[0],
	       "it says what 8 MB leave, and forgets them");
	tap_ok(!l.used[0] && l.used[1] == 8 * MB && !l.used[2], "so does vram_<gpu> in sysfs");
	tap_eq(l.too_much, -ENOMEM, "more than all VRAM");
	tap_eq(l.all, 0, "all that is available");
	tap_eq(l.more, -ENOMEM, "and one page more");
	tap_eq(l.self, -ENOMEM, "VRAM that only its own buffers could make room for");
	tap_eq(l.evictions, 0, "for which nothing was evicted");
	tap_eq(l.gtt, -ENOMEM, "more GTT than there is");
	tap_eq(l.gtt_again, 0, "once there is more");
	tap_ok(sim_clean(0, pages), "nothing is left");
}

/* ---- processes that do not fit together ---- */

#define WORKERS		2
#define BOS		6
#define BO_SIZE		(4 * MB)
#define CHUNK		65536

/* Shared with the children */
static struct shared {
	volatile bool stop;
	volatile unsigned int rounds[WORKERS];
} *shared;

struct report {
	unsigned int dispatches, bad, chunks;
	long long left;		/* completions that are missing; negative: too many */
	int err;
};

static uint32_t word(unsigned int bo, unsigned int chunk, unsigned int age)
{
	return (bo + 1) << 28 | chunk << 20 | age;
}

/*
 * Over and over: a dispatch; one chunk of one buffer is compared with what it must be, by SDMA and
 * CPU, and gets new contents, by SDMA. At the end all are compared.
 */
static int work(struct kfdc *c, unsigned int id, struct report *r, int fd)
{
	static unsigned int age[BOS][BO_SIZE / CHUNK];
	struct kfdc_bo bo[BOS], gtt;
	struct kfdc_signal *s;
	struct kfdc_queue *q;
	struct kfdc_ring *sdma;
	unsigned int i, k, n, chunk;
	uint32_t *p;

	if (kfdc_queue_create(c, NULL, &q) || kfdc_ring_create(c, NULL, &sdma) ||
	    kfdc_signal_create(c, true, &s) || kfdc_bo_alloc(c, CHUNK, GTT, &gtt))
		return 1;
	for (i = 0; i < BOS; i++) {
		if (kfdc_bo_alloc(c, BO_SIZE, VRAM, &bo[i]))
			return 1;
		for (p = bo[i].va, n = 0; n < BO_SIZE / 4; n++)
			p[n] = word(i, n / (CHUNK / 4), 0);
	}
	if (write(fd, "r", 1) != 1)
		return 1;
	p = gtt.va;
	for (n = 0; !shared->stop; n++) {
		kfdc_signal_set(s, 1);
		if (kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 2 * MS, .signal = s }))
			return 1;
		r->dispatches++;
		i = n % BOS;
		chunk = n / BOS % (BO_SIZE / CHUNK);
		memset(p, 0, CHUNK);
		if (kfdc_sdma_copy(sdma, p, (char *)bo[i].va + chunk * CHUNK, CHUNK))
			return 1;
		kfdc_ring_submit(sdma);
		if (kfdc_ring_wait(sdma, 60 * SEC))
			return 1;
		for (k = 0; k < CHUNK / 4; k++)
			r->bad += p[k] != word(i, chunk, age[i][chunk]);
		r->chunks++;
		if (kfdc_sdma_fill(sdma, (char *)bo[i].va + chunk * CHUNK,
				   word(i, chunk, ++age[i][chunk]), CHUNK))
			return 1;
		kfdc_ring_submit(sdma);
		if (kfdc_ring_wait(sdma, 60 * SEC) || kfdc_signal_wait(s, 60 * SEC))
			return 1;
		r->left += kfdc_signal_value(s);
		shared->rounds[id]++;
	}
	for (i = 0; i < BOS; i++)
		for (p = bo[i].va, n = 0; n < BO_SIZE / 4; n++)
			r->bad += p[n] != word(i, n / (CHUNK / 4), age[i][n / (CHUNK / 4)]);
	nap(20);
	r->left += kfdc_signal_value(s);	/* nothing completes twice */
	return kfdc_queue_destroy(q) || kfdc_ring_destroy(sdma);
}

/*
 * All GPUs, as ROCr does: restoring an evicted process without an address space on one of them
 * crashes the amdkfd of Linux 6.1
 */
static int open_all(struct kfdc **c)
{
	struct kfdc *other;
	unsigned int i;

	for (i = 1; sim_read(i, "counters"); i++)
		if (kfdc_open(&other, i))
			return 1;
	return kfdc_open(c, 0);
}

static int worker(int fd, void *arg)
{
	struct report r = {};
	struct kfdc *c;

	if (open_all(&c) || work(c, *(unsigned int *)arg, &r, fd)) {
		fprintf(stderr, "# worker: %s\n", kfdc_error());
		return 1;
	}
	kfdc_close(c);
	return write(fd, &r, sizeof(r)) != sizeof(r);
}

static struct sim_child start_worker(unsigned int id)
{
	struct sim_child ch = sim_child(worker, &id);
	char ready;

	if (!sim_child_hear(&ch, &ready, 1, 60000))
		tap_bail("a process that computes could not start");
	return ch;
}

static bool fits(void)
{
	return sim_counter(0, "vram_bytes") + sim_counter(0, "vram_pressure") <= (long long)(64 * MB);
}

static void test_oversubscribed(void)
{
	long long launched = sim_counter(0, "dispatches"), moved, before[WORKERS];
	struct sim_child ch[WORKERS];
	struct events *e = events_start("kfd");
	struct report r[WORKERS], sum = {};
	bool progress = true, fit = true;
	unsigned int i, k;

	shared->stop = false;
	for (i = 0; i < WORKERS; i++) {
		shared->rounds[i] = 0;
		ch[i] = start_worker(i);
	}
	tap_ok(sim_counter(0, "vram_bytes") >= (long long)(WORKERS * BOS * BO_SIZE),
	       "two processes of 24 MB each fit into VRAM");
	pressure(32 * MB);
	moved = sim_counter(0, "evictions");
	tap_ok(moved > 0 && fits(), "somebody takes 32 MB: %lld buffers had to go", moved);
	for (i = 0; i < WORKERS; i++)
		before[i] = shared->rounds[i];
	for (k = 0; k < 60; k++) {
		nap(50);
		fit &= fits();
	}
	for (i = 0; i < WORKERS; i++) {
		progress &= shared->rounds[i] >= before[i] + 10;
		tap_diag("process %u did %lld rounds meanwhile", i, shared->rounds[i] - before[i]);
	}
	tap_ok(progress, "both go on");
	tap_ok(fit, "and never have more than the rest of VRAM");
	shared->stop = true;
	for (i = 0; i < WORKERS; i++) {
		if (!sim_child_hear(&ch[i], &r[i], sizeof(r[i]), 90000))
			tap_bail("process %u broke off", i);
		sum.dispatches += r[i].dispatches;
		sum.bad += r[i].bad;
		sum.left += !!r[i].left;
		sum.chunks += r[i].chunks;
	}
	events_stop(e);
	for (i = 0; i < WORKERS; i++) {
		size_t ev = events_count(e, "kfd_evict_process", "pid", ch[i].pid);
		size_t re = events_count(e, "kfd_restore_process", "pid", ch[i].pid);

		tap_ok(ev >= 2 && re >= 2, "process %u was evicted %zu times and restored %zu times",
		       i, ev, re);
		sim_child_end(&ch[i], 20000);
	}
	events_free(e);
	tap_ok(sim_counter(0, "restores") > 0, "%lld buffers came back into VRAM",
	       sim_counter(0, "restores"));
	tap_eq(sum.bad, 0, "contents survive: %u chunks compared, and all at the end", sum.chunks);
	tap_eq(sum.left, 0, "no dispatch is lost or completes twice");
	tap_eq(sim_counter(0, "dispatches") - launched, sum.dispatches, "nor is launched twice");
	pressure(0);
	tap_ok(sim_clean(0, pages), "nothing is left");
}

/* A process that stays evicted: there is room for its buffers in neither VRAM nor GTT */
static struct sim_child start_stuck(void)
{
	long long failures = sim_counter(0, "restore_failures");
	struct sim_child ch;

	shared->stop = false;
	shared->rounds[0] = 0;
	ch = start_worker(0);
	sim_poke(PARAM "gtt_mb", "1");
	pressure(60 * MB);
	tap_ok(reaches("restore_failures", failures + 2, 20000),
	       "without room anywhere a process stays evicted, and is tried again");
	return ch;
}

static void unstick(void)
{
	pressure(0);
	sim_poke(PARAM "gtt_mb", "0");
}

static void test_stuck(void)
{
	struct sim_child ch = start_stuck();
	struct report r;
	unsigned int n, k;

	n = shared->rounds[0];
	nap(500);
	tap_eq(shared->rounds[0], n, "it does not run");
	tap_ok(sim_counter(0, "system_bytes") > 0, "its buffers are in system memory");
	unstick();
	for (k = 0; k < 1000 && shared->rounds[0] < n + 10; k++)
		nap(20);
	tap_ok(shared->rounds[0] >= n + 10, "with room it goes on");
	shared->stop = true;
	if (!sim_child_hear(&ch, &r, sizeof(r), 60000))
		tap_bail("the process broke off");
	sim_child_end(&ch, 20000);
	tap_ok(!r.bad && !r.left, "nothing of it is lost");
	tap_ok(sim_clean(0, pages), "nothing is left");
}

static void test_killed(void)
{
	struct sim_child ch = start_stuck();

	sim_child_kill(&ch);
	tap_ok(sim_clean(0, pages), "killed while it is evicted: nothing is left");
	unstick();
	ch = start_worker(0);
	pressure(60 * MB);		/* and in the middle of it */
	sim_child_kill(&ch);
	pressure(0);
	tap_ok(sim_clean(0, pages), "killed while it is being restored: nothing is left");
}

static void test_reset(void)
{
	struct sim_child ch = start_stuck();
	long long resets = sim_counter(0, "resets");

	sim_write(0, "reset", "1");
	tap_ok(reaches("resets", resets + 1, 20000), "a reset while a process is evicted");
	unstick();
	nap(300);
	shared->stop = true;
	sim_child_kill(&ch);
	tap_ok(sim_clean(0, pages), "leaves nothing of it");
	tap_eq(sim_use(0, true), 0, "and a GPU that works");
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	pages = sim_counter(0, "ram_pages");
	test_limits();
	test_oversubscribed();
	test_stuck();
	test_killed();
	test_reset();
	return tap_done();
}
