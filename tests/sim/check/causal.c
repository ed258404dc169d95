// SPDX-License-Identifier: GPL-2.0
/*
 * sim-causal [PACKETS]: is the model's time causal?
 *
 * No stamp of a packet precedes the write of the index that made it visible, nor, while no queue is mapped
 * anew, the ring of the doorbell. Not for --icount: the firmware's thread is to be late. PACKETS
 * (default 20000) of AQL in each of two passes: the second while another process makes amdkfd unmap and map
 * all queues, and a quarter of the packets is never rung for, so that the map shows them. SDMA likewise.
 */
#include "packets.h"
#include "simgpu.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#define BATCH		32
#define TIMESTAMP	(13 | 2 << 8)	/* SDMA: global time stamp */
#define TIMEOUT		(20 * SEC)

static uint64_t rnd = 88172645463325252ULL;

static uint64_t next_random(void)
{
	rnd ^= rnd << 13;
	rnd ^= rnd >> 7;
	return rnd ^= rnd << 17;
}

/* What was compared */
static struct {
	uint64_t packets, early, worst;	/* worst: ns by which a stamp was early */
} seen;

/* The GPU's clock has steps of 10 ns */
static void compare(uint64_t stamp, uint64_t not_before)
{
	seen.packets++;
	if (stamp / 10 >= not_before / 10)
		return;
	seen.early++;
	if (not_before - stamp > seen.worst)
		seen.worst = not_before - stamp;
}

static void report(const char *what)
{
	tap_eq(seen.early, 0, "%s: none of %llu stamps is early (worst: %llu ns)", what,
	       (unsigned long long)seen.packets, (unsigned long long)seen.worst);
	memset(&seen, 0, sizeof(seen));
}

/* One that amdkfd unmaps all queues for, again and again. Returns its PID */
static pid_t churn(void)
{
	struct kfdc_queue_attr attr = KFDC_QUEUE_DEFAULT;
	pid_t pid = fork();
	struct kfdc_queue *q;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	must(kfdc_open(&c, 0));
	must(kfdc_queue_create(c, &attr, &q));
	for (;;) {
		must(kfdc_queue_update(q, 0, 7));
		sleep_ns(next_random() % (200 * US));
		must(kfdc_queue_update(q, 100, 7));
		sleep_ns(next_random() % (200 * US));
	}
}

static void aql(uint64_t packets, bool mapped_anew)
{
	struct kfdc_queue_attr attr = KFDC_QUEUE_DEFAULT;
	uint64_t t[BATCH], rung, start, end, n;
	struct kfdc_signal *s[BATCH];
	struct kfdc_queue *q;
	int i;

	must(kfdc_queue_create(c, &attr, &q));
	for (i = 0; i < BATCH; i++)
		must(kfdc_signal_create(c, false, &s[i]));
	sleep_ns(5 * MS);	/* the queue is mapped: no packet is shown by that */
	for (n = 0; n < packets; n += BATCH) {
		for (i = 0; i < BATCH; i++) {
			kfdc_signal_set(s[i], 1);
			t[i] = kfdc_now();
			must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 2000, .signal = s[i],
								       .no_ring = true }));
		}
		rung = kfdc_now();
		if (!mapped_anew || next_random() % 4)
			kfdc_ring(q);
		must(kfdc_signal_wait(s[BATCH - 1], TIMEOUT));
		for (i = 0; i < BATCH; i++) {
			kfdc_signal_times(s[i], &start, &end);
			compare(start, mapped_anew ? t[i] : rung);
			if (end < start + 2000)
				tap_bail("a dispatch of 2000 ns took %lld",
					 (long long)(end - start));
		}
		if (next_random() % 8 == 0)
			sleep_ns(next_random() % MS);
	}
	for (i = 0; i < BATCH; i++)
		kfdc_signal_destroy(s[i]);
	must(kfdc_queue_destroy(q));
}

static void sdma(uint64_t packets)
{
	struct kfdc_ring_attr attr = KFDC_SDMA_DEFAULT;
	struct kfdc_bo bo;
	struct kfdc_ring *r;
	uint64_t *stamp, t, n;
	int i;

	must(kfdc_ring_create(c, &attr, &r));
	must(kfdc_bo_alloc(c, 4096, KFD_IOC_ALLOC_MEM_FLAGS_GTT | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE |
			   KFD_IOC_ALLOC_MEM_FLAGS_COHERENT, &bo));
	stamp = bo.va;
	for (n = 0; n < packets; n += BATCH) {
		for (i = 0; i < BATCH; i++) {
			uint32_t dw[] = { TIMESTAMP, (uintptr_t)&stamp[i],
					  (uintptr_t)&stamp[i] >> 32 };

			must(kfdc_ring_write(r, dw, 3));
		}
		t = kfdc_now();
		kfdc_ring_submit(r);
		must(kfdc_ring_wait(r, TIMEOUT));
		for (i = 0; i < BATCH; i++)
			compare(stamp[i] * 10, t + 500 * (i + 1));	/* each takes 500 ns */
	}
	kfdc_bo_free(c, &bo);
	must(kfdc_ring_destroy(r));
}

int main(int argc, char **argv)
{
	uint64_t packets = argc > 1 ? strtoull(argv[1], NULL, 0) : 20000;
	long long unmaps;
	pid_t pid;

	/* before this process opens the GPU */
	pid = churn();
	kill(pid, SIGSTOP);
	must(kfdc_open(&c, 0));
	aql(packets, false);
	report("AQL, by the ring");
	sdma(packets / 4);
	report("SDMA, by the write of the index");
	unmaps = sim_counter(0, "unmaps");
	kill(pid, SIGCONT);
	aql(packets, true);
	report("AQL while queues are unmapped and mapped");
	sdma(packets / 4);
	report("SDMA while queues are unmapped and mapped");
	unmaps = sim_counter(0, "unmaps") - unmaps;
	tap_ok(unmaps >= 20, "they were, %lld times", unmaps);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	kfdc_close(c);
	return tap_done();
}
