// SPDX-License-Identifier: GPL-2.0
/*
 * sim-accounting: does work get the time that it takes, no more and no less, and whose turn is it?
 *
 * For --icount: what is measured is the guest's time. The default parameters are assumed: one slot,
 * VMIDs and HQDs of the profile, 10 ms and 1 ms of quantum. Figures are printed.
 */
#include "kfdclient.h"
#include "simgpu.h"
#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define US	1000ULL
#define MS	1000000ULL
#define SEC	1000000000ULL
#define UNMAPS	1000
#define PROCS	16
#define QUEUES	4	/* of each */

/* a doorbell is looked at every 50 us, 100 us after 20 ms without work; and the code around */
#define NOTICED	(250 * US)

static struct kfdc *c;
static bool mes;

static void must(int r)
{
	if (r)
		tap_bail("%s", kfdc_error());
}

static void nap(uint64_t ns)
{
	nanosleep(&(struct timespec){ .tv_sec = ns / SEC, .tv_nsec = ns % SEC }, NULL);
}

static struct kfdc_queue *new_queue(uint32_t prio)
{
	struct kfdc_queue_attr attr = { .priority = prio, .percentage = 100, .packets = 1024 };
	struct kfdc_queue *q;

	must(kfdc_queue_create(c, &attr, &q));
	return q;
}

static struct kfdc_signal *new_signal(bool event)
{
	struct kfdc_signal *s;

	must(kfdc_signal_create(c, event, &s));
	kfdc_signal_set(s, 1);
	return s;
}

static void dispatch(struct kfdc_queue *q, uint64_t ns, struct kfdc_signal *s)
{
	must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = ns, .signal = s }));
}

/* ---- 8 x 1 ms ---- */

static void test_deep_queue(void)
{
	struct kfdc_queue *q = new_queue(7);
	uint64_t t, begin[8], end[8], bad = 0, busy = sim_counter(0, "busy_ns");
	struct kfdc_signal *s[8];
	int i;

	for (i = 0; i < 8; i++) {
		s[i] = new_signal(i == 7);
		must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = MS, .signal = s[i],
							       .no_ring = true }));
	}
	t = kfdc_now();
	kfdc_ring(q);
	must(kfdc_signal_wait(s[7], 5 * SEC));
	t = kfdc_now() - t;
	for (i = 0; i < 8; i++) {
		kfdc_signal_times(s[i], &begin[i], &end[i]);
		bad += end[i] - begin[i] != MS || (i && begin[i] != end[i - 1]);
		kfdc_signal_destroy(s[i]);
	}
	tap_diag("8 x 1 ms: %.6f ms by their signals, %.6f ms from doorbell to event",
		 (end[7] - begin[0]) / 1e6, t / 1e6);
	tap_ok(end[7] - begin[0] >= 7840 * US && end[7] - begin[0] <= 8160 * US,
	       "8 x 1 ms take 8 ms within 2 %% by their signals");
	tap_eq(bad, 0, "... each 1 ms, one right after the other");
	tap_ok(t >= 7840 * US && t <= 8160 * US + NOTICED, "... and by the client's clock");
	tap_eq(sim_counter(0, "busy_ns") - busy, 8 * MS, "... busy for 8 ms");
	must(kfdc_queue_destroy(q));
}

static void test_gaps(void)
{
	struct kfdc_queue *q = new_queue(7);
	uint64_t rung, begin, end, late, worst = 0, busy = sim_counter(0, "busy_ns");
	struct kfdc_signal *s = new_signal(true);
	int i, early = 0, inexact = 0;

	for (i = 0; i < 8; i++) {
		nap(i % 2 ? 700 * US : 30 * MS);
		kfdc_signal_set(s, 1);
		rung = kfdc_now();
		dispatch(q, MS, s);
		must(kfdc_signal_wait(s, 5 * SEC));
		kfdc_signal_times(s, &begin, &end);
		early += begin + 10 < rung;	/* the GPU's clock has steps of 10 ns */
		inexact += end - begin != MS;
		late = begin > rung ? begin - rung : 0;
		worst = late > worst ? late : worst;
	}
	tap_diag("8 x 1 ms with gaps: noticed after %.3f us at most", worst / 1e3);
	tap_eq(early, 0, "with gaps between: none begins before its doorbell was rung");
	tap_ok(worst < NOTICED, "... nor much later");
	tap_eq(inexact, 0, "... each takes 1 ms");
	tap_eq(sim_counter(0, "busy_ns") - busy, 8 * MS, "... in all 8 ms");
	kfdc_signal_destroy(s);
	must(kfdc_queue_destroy(q));
}

/* ---- 100 ms, unmapped and mapped 1,000 times ---- */

/* Of the only dispatch in flight */
static bool in_flight(unsigned long long *left, unsigned long long *ran)
{
	const char *p = strstr(sim_read(0, "state"), " left_ns ");

	return p && sscanf(p, " left_ns %llu ran_ns %llu", left, ran) == 2;
}

static void test_unmaps(void)
{
	struct kfdc_queue *q = new_queue(7);
	struct kfdc_signal *s = new_signal(true);
	long long busy = sim_counter(0, "busy_ns"), dispatches = sim_counter(0, "dispatches");
	long long saves = sim_counter(0, "saves"), takes_off;
	const char *off = mes ? "mes_removes" : "unmaps";
	unsigned long long left = 0, ran = 0, before = 0;
	int i, cycles = 0, seen = 0, unequal = 0;
	uint64_t begin, end;

	takes_off = sim_counter(0, off);
	dispatch(q, 100 * MS, s);
	nap(MS);
	for (i = 0; i < UNMAPS; i++) {
		must(kfdc_queue_update(q, 0, 7));
		cycles += kfdc_signal_value(s) == 1;
		if (i % 10 == 0)
			nap(MS);
		must(kfdc_queue_update(q, 100, 7));
		nap(90 * US);	/* most of it is the restore */
		if (i % 50 == 0 && in_flight(&left, &ran)) {
			seen++;
			unequal += left + ran != 100 * MS || ran < before;
			before = ran;
		}
	}
	must(kfdc_signal_wait(s, 10 * SEC));
	nap(10 * MS);
	kfdc_signal_times(s, &begin, &end);
	busy = sim_counter(0, "busy_ns") - busy;
	saves = sim_counter(0, "saves") - saves;
	takes_off = sim_counter(0, off) - takes_off;
	tap_diag("100 ms, off %d times: %lld ns of running time, %lld saves, %.3f ms from launch to end",
		 cycles, busy, saves, (end - begin) / 1e6);
	tap_eq(cycles, UNMAPS, "a 100 ms dispatch is in flight at each of %d unmaps", UNMAPS);
	tap_ok(takes_off >= UNMAPS, "... which the firmware saw (%lld)", takes_off);
	/* a reading of the state may make it late, then there is a restore to cut short */
	tap_ok(saves > UNMAPS * 9 / 10 && saves <= UNMAPS, "... and saved what ran (%lld)", saves);
	tap_eq(sim_counter(0, "dispatches") - dispatches, 1, "... it is launched once");
	tap_eq(kfdc_signal_value(s), 0, "... complete once");
	tap_eq(busy, 100 * MS, "... its running time adds up to 100 ms");
	tap_ok(seen >= 10 && !unequal, "... what ran and what is left were 100 ms each of %d times",
	       seen);
	kfdc_signal_destroy(s);
	must(kfdc_queue_destroy(q));
}

/* ---- priority: arbitration at launch ---- */

static void test_priority(void)
{
	struct kfdc_queue *lo = new_queue(0), *hi = new_queue(15);
	struct kfdc_signal *first = new_signal(true), *s[6];
	long long saves = sim_counter(0, "saves");
	uint64_t begin[6], end[6], b, e;
	int i, wrong = 0;

	dispatch(lo, 50 * MS, first);
	nap(10 * MS);
	saves = sim_counter(0, "saves") - saves;
	for (i = 0; i < 6; i++) {	/* 0..2: behind the first one of lo; 3..5: of hi */
		s[i] = new_signal(i == 2);
		dispatch(i < 3 ? lo : hi, 2 * MS, s[i]);
	}
	must(kfdc_signal_wait(s[2], 5 * SEC));
	kfdc_signal_times(first, &b, &e);
	for (i = 0; i < 6; i++)
		kfdc_signal_times(s[i], &begin[i], &end[i]);
	tap_eq(e - b, 50 * MS, "a higher priority takes nothing off that runs");
	tap_eq(begin[3] - e, 0, "it launches next");
	for (i = 0; i < 3; i++)
		wrong += begin[i] < end[5];
	tap_eq(wrong, 0, "all of it before the lower one goes on");
	tap_eq(saves, 0, "nothing was saved for it");
	for (i = 0; i < 6; i++)
		kfdc_signal_destroy(s[i]);
	kfdc_signal_destroy(first);
	must(kfdc_queue_destroy(lo));
	must(kfdc_queue_destroy(hi));
}

/* ---- CU occupancy ---- */

/* -1: the file is not there */
static int occupancy(void)
{
	char path[128];
	int n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d/stats_%u/cu_occupancy", getpid(),
		 kfdc_gpu_id(c));
	f = fopen(path, "r");
	if (f) {
		if (fscanf(f, "%d", &n) != 1)
			n = -2;
		fclose(f);
	}
	return n;
}

static void test_occupancy(void)
{
	struct kfdc_queue *q = new_queue(7);
	struct kfdc_signal *s = new_signal(true);
	int flying, unmapped, mapped;
	bool caught_up;

	if (mes) {
		/* amdgpu_amdkfd_gfx_v11.c has no get_cu_occupancy: amdkfd makes no file */
		tap_ok(occupancy() < 0, "cu_occupancy: nobody answers on a GPU with MES");
		goto out;
	}
	tap_eq(occupancy(), 0, "cu_occupancy of an idle queue");
	dispatch(q, 100 * MS, s);
	nap(5 * MS);
	caught_up = *q->rptr == *q->wptr;
	flying = occupancy();
	must(kfdc_queue_update(q, 0, 7));
	unmapped = occupancy();
	must(kfdc_queue_update(q, 100, 7));
	nap(MS);
	mapped = occupancy();
	must(kfdc_signal_wait(s, 5 * SEC));
	tap_ok(caught_up && flying > 0,
	       "... while waves are in flight and the read index has caught up: %d CUs", flying);
	tap_eq(unmapped, 0, "... when they are unmapped");
	tap_eq(mapped, flying, "... when they are back");
	tap_eq(occupancy(), 0, "... when they are done");
out:
	kfdc_signal_destroy(s);
	must(kfdc_queue_destroy(q));
}

/* ---- 64 queues of 16 processes ---- */

/*
 * A signal (amd_signal_t: kind, value) in a page that all processes share: the gate in front of
 * the work of all queues. So they begin together, with full rings and without a history.
 */
static volatile int64_t *gate;

/* Four queues whose rings are full of dispatches of these lengths, behind the gate */
static int busy_child(int fd, void *arg)
{
	const uint64_t *len = arg;
	struct {
		uint16_t header, reserved0;
		uint32_t reserved1;
		uint64_t dep[5], reserved2, signal;
	} barrier = { .header = 3, .dep = { (uintptr_t)gate } };	/* barrier-AND */
	struct kfdc_bo bo;
	int i, k;

	if (kfdc_open(&c, 0))
		return 1;
	must(kfdc_userptr(c, (void *)gate, 4096, &bo));
	for (i = 0; i < QUEUES; i++) {
		struct kfdc_queue *q = new_queue(7);

		must(kfdc_packet(q, &barrier, false));
		for (k = 0; k < 1000; k++)
			must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = len[i],
								       .no_ring = true }));
		kfdc_ring(q);
	}
	if (write(fd, "x", 1) != 1)
		return 1;
	pause();
	return 0;
}

/* running time of each queue, in the order of the runlist; returns how many queues there are */
static int queue_times(uint64_t *ran)
{
	const char *p = sim_read(0, "state");
	unsigned long long v;
	int n = 0;

	while (n < PROCS * QUEUES && (p = strstr(p, "\n queue doorbell "))) {
		p = strstr(p, " ran_ns ");
		if (!p || sscanf(p, " ran_ns %llu", &v) != 1)
			break;
		ran[n++] = v;
	}
	return n;
}

/* Numbers of the state that have limits */
static void limits(unsigned int *hqds, unsigned int *max_hqds, unsigned int *vmids)
{
	const char *p = sim_read(0, "state"), *q = strstr(p, " hqds ");
	unsigned int used, max;
	int vmid;

	if (!q || sscanf(q, " hqds %u/%u", &used, &max) != 2)
		tap_bail("no HQDs in the state");
	*hqds = used > *hqds ? used : *hqds;
	*max_hqds = max;
	for (used = 0; (p = strstr(p, " vmid ")); p++)
		used += sscanf(p, " vmid %d", &vmid) == 1 && vmid >= 0;
	*vmids = used > *vmids ? used : *vmids;
}

static void worst(const char *what, const uint64_t *v, int n)
{
	double sum = 0, min = 1e9, max = 0;
	int i, least = 0, most = 0;

	for (i = 0; i < n; i++)
		sum += v[i];
	for (i = 0; i < n; i++) {
		double x = v[i] * n / sum;

		least = x < min ? i : least;
		most = x > max ? i : most;
		min = x < min ? x : min;
		max = x > max ? x : max;
	}
	tap_diag("%s: %.4f (number %d) to %.4f (number %d) of a fair share", what, min, least, max,
		 most);
	tap_ok(min > 0.95 && max < 1.05, "%s: within 5 %% of fair", what);
}

static void test_shares(const char *what, uint64_t *len, uint64_t secs)
{
	uint64_t first[PROCS * QUEUES], last[PROCS * QUEUES], proc[PROCS] = {}, t, busy;
	struct sim_child child[PROCS];
	unsigned int hqds = 0, max_hqds = 0, vmids = 0;
	char text[100], ch;
	int i;

	gate = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (gate == MAP_FAILED)
		tap_bail("%s: no memory", what);
	gate[1] = 1;
	for (i = 0; i < PROCS; i++)
		child[i] = sim_child(busy_child, len);
	for (i = 0; i < PROCS; i++)
		if (!sim_child_hear(&child[i], &ch, 1, 60000))
			tap_bail("%s: child %d of %d does not begin", what, i, PROCS);
	nap(50 * MS);	/* what followed the last map */
	gate[1] = 0;
	if (queue_times(first) != PROCS * QUEUES)
		tap_bail("%s: not %d queues in the runlist", what, PROCS * QUEUES);
	busy = sim_counter(0, "busy_ns");
	t = kfdc_now();
	while (kfdc_now() < t + secs * SEC) {
		nap(97 * MS);
		limits(&hqds, &max_hqds, &vmids);
	}
	queue_times(last);
	t = kfdc_now() - t;
	busy = sim_counter(0, "busy_ns") - busy;
	for (i = 0; i < PROCS * QUEUES; i++) {
		last[i] -= first[i];
		proc[i / QUEUES] += last[i];
	}
	tap_diag("%s: %d queues of %d processes, %.3f s, GPU busy for %.1f %% of it", what,
		 PROCS * QUEUES, PROCS, t / 1e9, busy * 100.0 / t);
	snprintf(text, sizeof(text), "%s, GPU time of queues", what);
	worst(text, last, PROCS * QUEUES);
	snprintf(text, sizeof(text), "%s, GPU time of processes", what);
	worst(text, proc, PROCS);
	tap_ok(hqds && hqds <= max_hqds && vmids && vmids <= 15,
	       "... never more than %u HQDs and %u VMIDs", hqds, vmids);
	for (i = 0; i < PROCS; i++)
		sim_child_kill(&child[i]);
}

/* ---- evicted processes ---- */

static int quiet_child(int fd, void *arg)
{
	(void)arg;
	if (kfdc_open(&c, 0))
		return 1;
	new_queue(7);
	if (write(fd, "x", 1) != 1)
		return 1;
	pause();
	return 0;
}

static void count_state(int *procs, int *queues)
{
	const char *s = sim_read(0, "state"), *p;

	for (*procs = 0, p = s; (p = strstr(p, "\nprocess pasid ")); p++)
		++*procs;
	for (*queues = 0, p = s; (p = strstr(p, "\n queue doorbell ")); p++)
		++*queues;
}

static void test_evicted(void)
{
	struct sim_child a = sim_child(quiet_child, NULL), b = sim_child(quiet_child, NULL);
	int procs, queues, err;
	char ch, pid[16];

	if (!sim_child_hear(&a, &ch, 1, 60000) || !sim_child_hear(&b, &ch, 1, 60000))
		tap_bail("a child does not begin");
	nap(20 * MS);
	count_state(&procs, &queues);
	tap_ok(procs == 2 && queues == 2, "two processes, two queues (%d, %d)", procs, queues);
	snprintf(pid, sizeof(pid), "%d", a.pid);
	err = sim_write(0, "evict", pid);
	tap_eq(err, 0, "one is evicted");
	nap(20 * MS);	/* its restore is due after 100 ms */
	count_state(&procs, &queues);
	tap_diag("while it is evicted: %d processes and %d queues", procs, queues);
	/* HWS: the runlist names it, with no queue (pm_create_runlist_ib()). MES knows queues only */
	tap_eq(queues, 1, "its queue is not mapped");
	tap_eq(procs, mes ? 1 : 2, mes ? "MES no longer knows it" :
	       "the runlist has a MAP_PROCESS for it all the same");
	nap(500 * MS);
	count_state(&procs, &queues);
	tap_ok(procs == 2 && queues == 2, "it is restored (%d, %d)", procs, queues);
	sim_child_kill(&a);
	sim_child_kill(&b);
}

int main(int argc, char **argv)
{
	static uint64_t equal[QUEUES] = { 500 * US, 500 * US, 500 * US, 500 * US };
	static uint64_t unequal[QUEUES] = { 200 * US, 900 * US, 3 * MS, 40 * MS };

	mes = argc > 1 && !strcmp(argv[1], "mes");
	prctl(PR_SET_TIMERSLACK, 1);
	must(kfdc_open(&c, 0));
	test_deep_queue();
	test_gaps();
	test_unmaps();
	test_priority();
	test_occupancy();
	kfdc_close(c);
	test_evicted();
	test_shares("0.5 ms", equal, 4);
	test_shares("0.2 to 40 ms", unequal, 4);
	return tap_done();
}
