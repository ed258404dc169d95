// SPDX-License-Identifier: GPL-2.0
/*
 * sim-determinism: a random but seeded load of three processes, and what amdkfd's trace events say
 * of it: a line per event with its time since the beginning, name and fields. PIDs become 1, 2, ..
 * in order of appearance. check/determinism.sh compares two boots.
 *
 * The load is done twice and only the second is shown: by then all that it needs from the host's
 * file system is in the page cache, so that no time passes that the host decides on.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <event-parse.h>
#include "events.h"
#include "kfd.h"
#include "kfdclient.h"
#include "simgpu.h"
#include "tap.h"

#define MS	1000000ULL
#define SEC	1000000000ULL
#define PROCS	3
#define STEPS	25

/**
 * struct proc - one of the processes
 * @start: when it begins, CLOCK_MONOTONIC
 * @seed: its random numbers
 * @prio: of its queue
 */
struct proc {
	uint64_t start, seed;
	unsigned int prio;
};

static void sleep_until(uint64_t ns)
{
	struct timespec t = { .tv_sec = ns / SEC, .tv_nsec = ns % SEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		;
}

static int run(int fd, void *arg)
{
	struct proc *p = arg;
	struct kfdc_queue_attr attr = { .priority = p->prio, .percentage = 100, .packets = 64 };
	struct kfdc_signal *s;
	struct kfdc_queue *q;
	struct kfdc *c;
	uint64_t t = p->start;
	int i, r;

	(void)fd;
	sleep_until(t);
	if (kfdc_open(&c, 0) || kfdc_queue_create(c, &attr, &q) || kfdc_signal_create(c, true, &s))
		return 1;
	for (i = 0; i < STEPS; i++) {
		t += 20 * MS + sim_random(&p->seed) % (10 * MS);
		sleep_until(t);
		switch (sim_random(&p->seed) % 8) {
		case 0:
			r = kfdc_queue_update(q, 0, p->prio) || kfdc_queue_update(q, 100, p->prio);
			break;
		case 1:
			r = kfdc_queue_destroy(q) || kfdc_queue_create(c, &attr, &q);
			break;
		default:
			kfdc_signal_set(s, 1);
			r = kfdc_dispatch(q, &(struct kfdc_dispatch){
				.ns = MS + sim_random(&p->seed) % (6 * MS), .signal = s }) ||
			    kfdc_signal_wait(s, 10 * SEC);
		}
		if (r) {
			fprintf(stderr, "# %s\n", kfdc_error());
			return 1;
		}
	}
	return kfdc_queue_destroy(q) != 0;
}

static void load(uint64_t seed, uint64_t start)
{
	struct sim_child ch[PROCS];
	struct proc p;
	int i, status;

	for (i = 0; i < PROCS; i++) {
		p = (struct proc){ .start = start + i * 3 * MS, .seed = seed + i, .prio = 3 + 4 * i };
		ch[i] = sim_child(run, &p);
		/* the last one preempts, where amdkfd is patched */
		kfd_set(ch[i].pid, i == PROCS - 1 ? 12 : 2, NULL);
	}
	for (i = 0; i < PROCS; i++) {
		status = sim_child_end(&ch[i], 120000);
		if (status)
			tap_bail("a process of the load failed: %#x", status);
	}
}

static unsigned int pid_number(long long pid)
{
	static long long pids[64];
	unsigned int i;

	for (i = 0; i < 64 && pids[i] && pids[i] != pid; i++)
		;
	if (i < 64)
		pids[i] = pid;
	return i + 1;
}

/* The number of an unmap or of a preemption, from 1: how many the first load had is the host's noise */
static long long number(const char *event, long long seq)
{
	static long long first[2];
	long long *f = &first[!strncmp(event, "kfd_preempt", 11)];

	if (!*f)
		*f = seq;
	return seq - *f + 1;
}

static void show(const struct event *ev, uint64_t start)
{
	struct tep_format_field **f = tep_event_fields(ev->type);
	long long v, dur = 0;
	int i;

	if (event_has(ev, "dur_ns"))
		dur = event_field(ev, "dur_ns");
	printf("%lld %lld %s", (long long)(ev->ns - start), dur, ev->name);
	for (i = 0; f && f[i]; i++) {
		if (!strcmp(f[i]->name, "dur_ns") || !strcmp(f[i]->name, "save_ns") ||
		    f[i]->flags & TEP_FIELD_IS_ARRAY)
			continue;
		v = event_field(ev, f[i]->name);
		if ((!strcmp(f[i]->name, "pid") || !strcmp(f[i]->name, "by_pid")) && v > 0)
			v = pid_number(v);
		if (!strcmp(f[i]->name, "seq"))
			v = number(ev->name, v);
		printf(" %s=%lld", f[i]->name, v);
	}
	putchar('\n');
	free(f);
}

int main(void)
{
	uint64_t seed = sim_seed(), start, now;
	struct events *e;
	size_t i;

	now = kfdc_now();
	load(seed, (now / SEC + 1) * SEC);
	e = events_start("kfd");
	events_stop(e);
	events_free(e);
	e = events_start("kfd");
	mlockall(MCL_CURRENT);
	/* a tick and a second later, on a boundary of both: the phase of the timers is the same */
	now = kfdc_now();
	start = (now / SEC + 2) * SEC;
	sleep_until(start - SEC);
	load(seed, start);
	events_stop(e);
	for (i = 0; i < e->nr; i++)
		show(&e->event[i], start);
	return 0;
}
