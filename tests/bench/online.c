// SPDX-License-Identifier: GPL-2.0
/*
 * online REQUESTS RATE NS SEED - an online service: open-loop arrivals.
 *
 * A thread submits a dispatch of NS of GPU time RATE times a second on average, the time between two
 * drawn from half to one and a half of the mean (SEED), whether or not earlier ones are complete; another waits
 * for each in turn with KFD events. Latency is from just before the packet is written and the doorbell
 * is rung to when the waiter has been told (gpu: to the time stamp of the signal; due: from when the
 * request was due). Five requests come first that do not count.
 * Prints "NAME VALUE" lines: latency, and what the GPU did between first and last request; how many requests a second
 * were served, and backlog 1 if they came faster than that; cpu_us, the time of a CPU that this
 * process (with the faults of its doorbells) and the engine's threads have used for a request, and that of the latter alone.
 */
#include <dirent.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include "bench.h"

#define SIGNALS	512	/* requests that can be outstanding */
#define WARM	5

static const char * const counted[] = {
	"runlists", "unmaps", "saves", "save_restore_ns", "busy_ns", "dispatches",
};

#define COUNTED	(sizeof(counted) / sizeof(*counted))

static struct {
	struct kfdc *c;
	struct kfdc_queue *q;
	struct kfdc_signal *sig[SIGNALS];
	uint64_t due[SIGNALS], out[SIGNALS];
	sem_t sent, room;
	unsigned int requests;
	struct samples lat, late, gpu;
	uint64_t last, last_due, twice, order;
} o;

static void *wait_for_all(void *unused)
{
	unsigned int i, s;
	uint64_t now, start, end, before = 0;

	(void)unused;
	for (i = 0; i < o.requests; i++) {
		s = i % SIGNALS;
		while (sem_wait(&o.sent))
			;
		if (kfdc_signal_wait(o.sig[s], WAIT_NS))
			errx(1, "request %u: %s", i, kfdc_error());
		now = kfdc_now();
		samples_add(&o.lat, now - o.out[s]);
		samples_add(&o.late, now - o.due[s]);
		kfdc_signal_times(o.sig[s], &start, &end);
		samples_add(&o.gpu, end > o.out[s] ? end - o.out[s] : 0);
		o.order += end < before;
		before = end;
		o.last = now;
		sem_post(&o.room);
	}
	return NULL;
}

static void request(unsigned int i, uint64_t ns, uint64_t due)
{
	unsigned int s = i % SIGNALS;

	while (sem_wait(&o.room))
		;
	o.twice += i >= SIGNALS && kfdc_signal_value(o.sig[s]);
	kfdc_signal_set(o.sig[s], 1);
	o.due[s] = due;
	o.out[s] = kfdc_now();
	if (kfdc_dispatch(o.q, &(struct kfdc_dispatch){ .ns = ns, .signal = o.sig[s] }))
		errx(1, "request %u: %s", i, kfdc_error());
	sem_post(&o.sent);
}

static void run(uint64_t ns, uint64_t mean, uint64_t seed, uint64_t first)
{
	uint64_t due = first, state = seed;
	pthread_t waiter;
	unsigned int i;

	if (pthread_create(&waiter, NULL, wait_for_all, NULL))
		errx(1, "a thread");
	for (i = 0; i < o.requests; i++) {
		due += mean / 2 + sim_random(&state) % mean;
		bench_sleep_until(due);
		request(i, ns, due);
	}
	o.last_due = due;
	pthread_join(waiter, NULL);
}

static void read_counters(long long *v)
{
	unsigned int i;

	for (i = 0; i < COUNTED; i++)
		v[i] = sim_counter(0, counted[i]);
}

static uint64_t own_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * NSEC + t.tv_nsec;
}

static bool read_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(line, size, f);

	if (f)
		fclose(f);
	return ok;
}

/* Time of a CPU that the engine's thread of each GPU has used so far, ns */
static uint64_t engine_cpu_ns(void)
{
	unsigned long long v;
	char path[80], line[64];
	uint64_t sum = 0;
	struct dirent *e;
	DIR *proc = opendir("/proc");

	while (proc && (e = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%.20s/comm", e->d_name);
		if (atoi(e->d_name) <= 0 || !read_line(path, line, sizeof(line)) || strncmp(line, "kfd-prio/", 9))
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/schedstat", e->d_name);
		if (read_line(path, line, sizeof(line)) && sscanf(line, "%llu", &v) == 1)
			sum += v;
	}
	if (proc)
		closedir(proc);
	return sum;
}

/* How often we preempted others on this GPU; -1 where nobody counts */
static long long preempting(void)
{
	return bench_stat(kfdc_gpu_id(o.c), "preempting_count");
}

/*
 * Did requests come faster than they were served? Then those of the second half waited more than twice as long in the mean
 * as those of the first (three times, if the wait grows evenly), and the last ones for others. To be called before the
 * samples are sorted
 */
static int backlog(uint64_t mean)
{
	uint64_t sum[2] = { 0 };
	unsigned int i;

	for (i = 0; i < o.late.n; i++)
		sum[i >= o.late.n / 2] += o.late.v[i];
	return sum[1] > 2 * sum[0] && o.last - o.last_due > 2 * mean;
}

int main(int argc, char **argv)
{
	uint64_t ns, mean, seed, first, left;
	long long before[COUNTED], after[COUNTED], preempted;
	uint64_t engine, own;
	unsigned int i;

	if (argc != 5)
		errx(2, "usage: online REQUESTS RATE NS SEED");
	o.requests = bench_number(argv[1], "REQUESTS");
	mean = NSEC / bench_number(argv[2], "RATE");
	ns = bench_number(argv[3], "NS");
	seed = bench_number(argv[4], "SEED");
	prctl(PR_SET_TIMERSLACK, 1);
	mlockall(MCL_CURRENT | MCL_FUTURE);	/* page faults of our own are not what is measured */
	samples_init(&o.lat, o.requests);
	samples_init(&o.late, o.requests);
	samples_init(&o.gpu, o.requests);
	sem_init(&o.sent, 0, 0);
	sem_init(&o.room, 0, SIGNALS);
	if (kfdc_open(&o.c, 0) || kfdc_queue_create(o.c, NULL, &o.q))
		errx(1, "%s", kfdc_error());
	for (i = 0; i < SIGNALS; i++)
		if (kfdc_signal_create(o.c, true, &o.sig[i]))
			errx(1, "%s", kfdc_error());
	for (i = 0; i < WARM; i++) {
		kfdc_signal_set(o.sig[i], 1);
		bench_sleep_until(kfdc_now() + mean / 4);
		if (kfdc_dispatch(o.q, &(struct kfdc_dispatch){ .ns = ns, .signal = o.sig[i] }) ||
		    kfdc_signal_wait(o.sig[i], WAIT_NS))
			errx(1, "%s", kfdc_error());
	}
	bench_sleep_until(kfdc_now() + mean);
	preempted = preempting();
	read_counters(before);
	engine = engine_cpu_ns();
	own = own_cpu_ns();
	first = kfdc_now();
	run(ns, mean, seed, first);
	own = own_cpu_ns() - own;
	engine = engine_cpu_ns() - engine;
	read_counters(after);
	printf("backlog %d\n", backlog(mean));
	samples_print(&o.lat, "", "us", 1e3);
	printf("gpu_p99_us %.6g\n", samples_pct(&o.gpu, 990) / 1e3);
	printf("due_p99_us %.6g\n", samples_pct(&o.late, 990) / 1e3);
	printf("secs %.6f\n", (o.last - first) / 1e9);
	printf("served_per_s %.2f\n", o.requests * 1e9 / (o.last - first));
	printf("cpu_us %.1f\n", (own + engine) / 1e3 / o.requests);
	printf("cpu_engine_us %.1f\n", engine / 1e3 / o.requests);
	for (i = 0; i < COUNTED; i++)
		printf("%s %lld\n", counted[i], after[i] - before[i]);
	/* what others had of the time that we left; saving and restoring is nobody's */
	left = o.last - first - o.requests * ns;
	printf("others_share %.6f\n", (after[4] - before[4] - (double)o.requests * ns) / left);
	printf("preempting %lld\n", preempted < 0 ? -1 : preempting() - preempted);
	printf("repeated %" PRIu64 "\n", o.twice);
	printf("disorder %" PRIu64 "\n", o.order);
	return 0;
}
