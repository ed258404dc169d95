// SPDX-License-Identifier: GPL-2.0
/* The soak's processes: work that is checked, on queues that come and go */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <linux/kfd_ioctl.h>
#include "soak.h"

#define VRAM	(KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC)
#define COPY	65536

/**
 * struct lane - a queue and its packets
 * @q: the queue
 * @s: a signal for each packet that is under way
 * @put: packets submitted
 * @got: packets seen complete, in order
 */
struct lane {
	struct kfdc_queue *q;
	struct kfdc_signal *s[DEPTH];
	unsigned long put, got;
};

static struct lane lane[LANES];
static struct kfdc *gpu;
static struct slot *slot;
static uint64_t seed;

static unsigned int rnd(unsigned int n)
{
	return sim_random(&seed) % n;
}

/* A call failed: no harm if the GPU is or was reset meanwhile */
static void failed(const char *what)
{
	if (shared->resets != slot->born)
		_exit(WORKER_RESET);
	snprintf(slot->why, sizeof(slot->why), "%s: %s", what, kfdc_error());
	_exit(WORKER_FAILED);
}

static void lane_open(struct lane *l)
{
	struct kfdc_queue_attr attr = { .priority = rnd(16), .percentage = 100, .packets = 64 };
	unsigned int i;

	if (kfdc_queue_create(gpu, &attr, &l->q))
		failed("create");
	for (i = 0; i < DEPTH; i++)
		if (!l->s[i] && kfdc_signal_create(gpu, i == 0, &l->s[i]))
			failed("signal");
	l->put = 0;
	l->got = 0;
}

/* Packets complete in order (they have the barrier bit), each once */
static void lane_look(struct lane *l)
{
	unsigned long k, last = l->got;
	int64_t v;

	for (k = l->got; k < l->put; k++) {
		v = kfdc_signal_value(l->s[k % DEPTH]);
		if (v < 0)
			slot->repeated++;
		if (v < 1)
			last = k + 1;
	}
	for (k = l->got; k < last; k++)
		if (kfdc_signal_value(l->s[k % DEPTH]) > 0)
			slot->disordered++;
	slot->done += last - l->got;
	l->got = last;
}

static void lane_submit(struct lane *l)
{
	static const unsigned int us[] = { 20, 100, 500, 2000, 8000 };
	struct kfdc_signal *s = l->s[l->put % DEPTH];

	lane_look(l);
	if (l->put - l->got == DEPTH)
		return;
	/* nothing may touch a signal after its packet was complete */
	if (l->put >= DEPTH && kfdc_signal_value(s))
		slot->repeated++;
	kfdc_signal_set(s, 1);
	if (kfdc_dispatch(l->q, &(struct kfdc_dispatch){
			.ns = us[rnd(5)] * US, .barrier = true, .signal = s }))
		failed("dispatch");
	l->put++;
	slot->sent++;
}

/* Until all is complete */
static void lane_drain(struct lane *l)
{
	uint64_t end = kfdc_now() + DRAIN_NS;

	while (lane_look(l), l->got < l->put) {
		if (shared->resets != slot->born)
			_exit(WORKER_RESET);
		if (kfdc_now() > end) {
			fprintf(stderr, "# worker %d: packet %lu of %lu is not complete, indices %llu and %llu\n",
				getpid(), l->got, l->put, (unsigned long long)*l->q->rptr,
				(unsigned long long)*l->q->wptr);
			slot->lost += l->put - l->got;
			return;
		}
		nap_ns(500 * US);
	}
}

/* SDMA and a userptr whose pages are replaced: contents are compared */
static struct kfdc_ring *sdma;
static struct kfdc_bo user, vram;
static uint32_t *pages;

static void memory_open(void)
{
	if (kfdc_ring_create(gpu, NULL, &sdma) || kfdc_bo_alloc(gpu, VRAM_BYTES, VRAM, &vram))
		failed("memory");
	pages = mmap(NULL, COPY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED || kfdc_userptr(gpu, pages, COPY, &user))
		failed("userptr");
}

static void memory_copy(void)
{
	uint32_t value = rnd(1 << 30), i;
	uint64_t end = kfdc_now() + DRAIN_NS;

	if (!rnd(3) && mmap(pages, COPY, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		failed("mmap");
	for (i = 0; i < COPY / 4; i += 256)
		pages[i] = value + i;
	if (kfdc_sdma_copy(sdma, vram.va, pages, COPY))
		failed("copy");
	kfdc_ring_submit(sdma);
	while (kfdc_ring_wait(sdma, 200 * MS)) {
		if (shared->resets != slot->born)
			_exit(WORKER_RESET);
		if (kfdc_now() > end) {
			slot->lost++;
			return;
		}
	}
	for (i = 0; i < COPY / 4; i += 256)
		slot->corrupt += ((volatile uint32_t *)vram.va)[i] != value + i;
	slot->copies++;
}

static void churn(unsigned int i)
{
	switch (rnd(3)) {
	case 0:
		if (kfdc_queue_update(lane[i].q, 100 * rnd(2), rnd(16)) ||
		    kfdc_queue_update(lane[i].q, 100, rnd(16)))
			failed("update");
		break;
	case 1:
		lane_drain(&lane[i]);
		if (kfdc_queue_destroy(lane[i].q))
			failed("destroy");
		lane_open(&lane[i]);
		break;
	default:
		/* with work on it: lost, and not counted */
		lane_look(&lane[i]);
		slot->sent -= lane[i].put - lane[i].got;
		if (kfdc_queue_destroy(lane[i].q))
			failed("destroy");
		lane_open(&lane[i]);
	}
}

/* Some are busy for as long as they can, some ring now and then */
void worker(struct slot *s, uint64_t number)
{
	unsigned int i, idle_us;
	struct kfdc *other;

	slot = s;
	seed = number;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_TIMERSLACK, 1);
	idle_us = rnd(2) ? 300 : 20000;
	for (i = 0; sim_read(i, "counters"); i++)
		if (kfdc_open(i ? &other : &gpu, i))
			failed("open");
	for (i = 0; i < LANES; i++)
		lane_open(&lane[i]);
	memory_open();
	while (!shared->stop) {
		if (shared->resets != slot->born)
			_exit(WORKER_RESET);
		i = rnd(LANES);
		lane_submit(&lane[i]);
		if (!rnd(100))
			churn(i);
		if (!rnd(40))
			memory_copy();
		if (!rnd(3))
			nap_ns(rnd(idle_us) * US);
	}
	for (i = 0; i < LANES; i++)
		lane_drain(&lane[i]);
	nap_ns(20 * MS);
	for (i = 0; i < LANES; i++) {
		lane_look(&lane[i]);
		if (kfdc_queue_destroy(lane[i].q))
			failed("destroy");
	}
	slot->finished = true;
	_exit(shared->resets == slot->born ? 0 : WORKER_RESET);
}
