/* SPDX-License-Identifier: GPL-2.0 */
/* What the clients of tests/bench share: numbers of arguments, sorted samples, "NAME VALUE" lines. */
#ifndef TESTS_BENCH_H
#define TESTS_BENCH_H

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kfdclient.h"
#include "simgpu.h"

#define NSEC		1000000000ULL
#define WAIT_NS		(120 * NSEC)	/* nothing takes that long: ETIME then */

/**
 * struct samples - measured values
 * @v: @n of @room values
 */
struct samples {
	uint64_t *v;
	unsigned int n, room;
};

static inline void samples_init(struct samples *s, unsigned int room)
{
	*s = (struct samples){ .v = calloc(room, sizeof(*s->v)), .room = room };
	if (!s->v)
		err(1, "memory for %u values", room);
}

static inline void samples_add(struct samples *s, uint64_t v)
{
	if (s->n == s->room)
		errx(1, "more than %u values", s->room);
	s->v[s->n++] = v;
}

static inline int samples_cmp(const void *l, const void *r)
{
	uint64_t a = *(const uint64_t *)l, b = *(const uint64_t *)r;

	return a < b ? -1 : a > b;
}

/* @permille of the values are not greater (nearest rank); sorts */
static inline uint64_t samples_pct(struct samples *s, unsigned int permille)
{
	unsigned int rank = ((uint64_t)s->n * permille + 999) / 1000;

	qsort(s->v, s->n, sizeof(*s->v), samples_cmp);
	return s->n ? s->v[rank ? rank - 1 : 0] : 0;
}

/* P50, P99, P99.9, the greatest and how many there are; each value divided by @unit */
static inline void samples_print(struct samples *s, const char *name, const char *suffix, double unit)
{
	printf("%sn %u\n", name, s->n);
	if (!s->n)
		return;
	printf("%sp50_%s %.6g\n", name, suffix, samples_pct(s, 500) / unit);
	printf("%sp99_%s %.6g\n", name, suffix, samples_pct(s, 990) / unit);
	printf("%sp999_%s %.6g\n", name, suffix, samples_pct(s, 999) / unit);
	printf("%smax_%s %.6g\n", name, suffix, samples_pct(s, 1000) / unit);
}

static inline uint64_t bench_number(const char *text, const char *what)
{
	char *end;
	unsigned long long v;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || end == text || *end)
		errx(2, "%s: '%s' is not a number", what, text);
	return v;
}

static inline void bench_sleep_until(uint64_t t)
{
	struct timespec ts = { .tv_sec = t / NSEC, .tv_nsec = t % NSEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* The time stamp counter, when all before is done; on the simulated GPU's machine it is an x86's */
static inline uint64_t bench_tsc(void)
{
	uint32_t lo, hi;

	__asm__ volatile("lfence; rdtsc; lfence" : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

/* Ticks of it in a microsecond */
static inline double bench_tsc_per_us(void)
{
	uint64_t t = kfdc_now(), c = bench_tsc();

	bench_sleep_until(t + NSEC / 20);
	return (bench_tsc() - c) / ((kfdc_now() - t) / 1e3);
}

#define MAX_SUBMITS	32768	/* that the simulated GPU keeps: SIM_SUBMITS */

/**
 * struct submit - a packet or command of amdkfd, see debugfs file submits of the simulated GPU
 * @what: U: UNMAP_QUEUES (MES: REMOVE_QUEUE), R: RUN_LIST, A: ADD_QUEUE of MES
 * @tsc: when the HIQ was rung for it, or MES was called
 */
struct submit {
	char what;
	uint64_t tsc;
};

/* The last of them; @v has room for MAX_SUBMITS */
static inline unsigned int bench_submits(struct submit *v)
{
	FILE *f = fopen("/sys/kernel/debug/kfdsim/0/submits", "r");
	unsigned int n = 0;

	if (!f)
		err(1, "the simulated GPU's file submits");
	while (n < MAX_SUBMITS && fscanf(f, " %c %" SCNu64, &v[n].what, &v[n].tsc) == 2)
		n++;
	fclose(f);
	return n;
}

/* A figure of this process on a GPU, in sysfs; -1 where it is not counted */
static inline long long bench_stat(unsigned int gpu_id, const char *name)
{
	long long n = -1;
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d/stats_%u/%s", getpid(), gpu_id, name);
	f = fopen(path, "r");
	if (!f)
		return -1;
	if (fscanf(f, "%lld", &n) != 1)
		n = -1;
	fclose(f);
	return n;
}

#endif
