// SPDX-License-Identifier: GPL-2.0
/*
 * shares SECS GPUS SPEC... - processes that always have work, each in a group of its own, and what they get.
 * SPEC is WHAT:NS or WHAT=N:NS, with kernels of NS of GPU time, two of which are always there:
 *	none		no group
 *	max=N		a limit of N hundredths of a percent
 *	weight=N	a weight
 * With GPUS 2 each kernel is one on each of two GPUs, and the next one begins when both have ended.
 *
 * Prints "NAME VALUE" lines after five seconds in which they settle (the period and the places follow from what was used in
 * the second before; a longer place has its budget a period later), for each process I in the order of the arguments:
 *	I_work_least, I_work_most	part of ten seconds in which its kernels ran: the least and the most of any
 *	I_share_least, I_share_most	of what all processes did in ten seconds
 *	I_ran_10s, I_ran_1s		most of any ten seconds, of any second, in which its group was mapped with work
 *	I_ran				in all
 *	work				GPU time of dispatches on the first GPU, as the model has it
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/kfd_prio.h>
#include "bench.h"

#define MAX_PROCESSES	16
#define DEPTH		2
#define MAX_DONE	65536
#define STEP_NS		50000000ULL	/* windows begin in such steps */
#define WINDOW_NS	(10 * NSEC)
#define SETTLE_NS	(5 * NSEC)

/**
 * struct process - one of them, in memory that it shares with its parent
 * @flags, @max, @weight: of KFD_PRIO_IOC_SHARE; no group without @flags
 * @group: its number
 * @ns: of a kernel
 * @n: kernels that have ended
 * @end: when each has ended, ns of CLOCK_MONOTONIC
 * @ready: it has work
 */
struct process {
	unsigned int flags, max, weight;
	uint64_t group, ns;
	volatile unsigned int n;
	uint64_t end[MAX_DONE];
	volatile int ready;
};

static struct process *procs;
static unsigned int nprocs, gpus;
static int kfd;

static void join(struct process *p)
{
	struct kfd_prio_share_args a = {
		.flags = KFD_PRIO_SHARE_PROCESS | KFD_PRIO_SHARE_NEW | p->flags, .pid = getpid(),
		.pidfd = syscall(SYS_pidfd_open, getpid(), 0), .max = p->max, .weight = p->weight,
	};

	if (!p->flags)
		return;
	if (ioctl(kfd, KFD_PRIO_IOC_SHARE, &a))
		err(1, "KFD_PRIO_IOC_SHARE");
	p->group = a.group;
	close(a.pidfd);
}

static void work(struct process *p)
{
	struct kfdc_signal *s[2][DEPTH];
	struct kfdc_queue *q[2];
	struct kfdc *c[2];
	unsigned int sent = 0, i, g;
	uint64_t start, end;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	join(p);
	for (g = 0; g < gpus; g++) {
		if (kfdc_open(&c[g], g) || kfdc_queue_create(c[g], NULL, &q[g]))
			errx(1, "%s", kfdc_error());
		for (i = 0; i < DEPTH; i++)
			if (kfdc_signal_create(c[g], true, &s[g][i]))
				errx(1, "%s", kfdc_error());
	}
	while (p->n < MAX_DONE) {
		/* with a barrier no kernel is sent before the last one has ended everywhere */
		for (; sent < p->n + (gpus == 1 ? DEPTH : 1); sent++)
			for (g = 0; g < gpus; g++) {
				kfdc_signal_set(s[g][sent % DEPTH], 1);
				if (kfdc_dispatch(q[g], &(struct kfdc_dispatch){ .ns = p->ns, .signal = s[g][sent % DEPTH] }))
					errx(1, "%s", kfdc_error());
			}
		p->ready = 1;
		for (g = 0; g < gpus; g++)
			while (kfdc_signal_value(s[g][p->n % DEPTH]) > 0)
				kfdc_signal_wait(s[g][p->n % DEPTH], NSEC);
		kfdc_signal_times(s[0][p->n % DEPTH], &start, &end);
		p->end[p->n] = gpus == 1 ? end : kfdc_now();
		p->n++;
	}
	errx(1, "more than %u kernels", MAX_DONE);
}

static void parse(struct process *p, char *spec)
{
	char *ns = strchr(spec, ':'), *value = strchr(spec, '=');

	if (!ns)
		errx(2, "'%s': no kernel's time", spec);
	*ns++ = '\0';
	p->ns = bench_number(ns, "NS");
	if (!strcmp(spec, "none"))
		return;
	if (!value)
		errx(2, "'%s' is none of none, max=N and weight=N", spec);
	*value++ = '\0';
	if (!strcmp(spec, "max")) {
		p->flags = KFD_PRIO_SHARE_MAX;
		p->max = bench_number(value, "a limit");
	} else if (!strcmp(spec, "weight")) {
		p->flags = KFD_PRIO_SHARE_WEIGHT;
		p->weight = bench_number(value, "a weight");
	} else {
		errx(2, "'%s' is none of none, max=N and weight=N", spec);
	}
}

/*
 * Returns the work of a process from @from to @to, ns. Between the first and the last end of a kernel in that time whole
 * kernels have run, and the rest of the time counts at the same rate.
 */
static double did(const struct process *p, uint64_t from, uint64_t to)
{
	unsigned int i, first = 0, n = p->n;
	double rate;

	for (i = 0; i < n && p->end[i] <= from; i++)
		first = i + 1;
	for (i = first; i < n && p->end[i] <= to; i++)
		;
	if (i <= first + 1)
		return 0;
	rate = (double)(i - first - 1) * p->ns / (p->end[i - 1] - p->end[first]);
	return rate * (to - from);
}

/* Time that each group was mapped with work, in steps */
static uint64_t (*ran)[MAX_PROCESSES];
static unsigned int steps;

static void sample(unsigned int step)
{
	struct kfd_prio_share_entry e[MAX_PROCESSES + 1];
	struct kfd_prio_shares_args a = { .entries = (unsigned long)e, .entry_size = sizeof(*e), .nr_entries = MAX_PROCESSES + 1 };
	unsigned int i, j;

	if (ioctl(kfd, KFD_PRIO_IOC_SHARES, &a))
		err(1, "KFD_PRIO_IOC_SHARES");
	for (i = 0; i < nprocs; i++)
		for (j = 0; j < a.nr_entries; j++)
			if (e[j].group == procs[i].group)
				ran[step][i] = e[j].ran_ns;
}

static double most_ran(unsigned int i, uint64_t window)
{
	unsigned int n = window / STEP_NS, s;
	uint64_t most = 0;

	for (s = n; s < steps; s++)
		if (ran[s][i] - ran[s - n][i] > most)
			most = ran[s][i] - ran[s - n][i];
	return (double)most / window;
}

static void report(uint64_t begin, uint64_t secs)
{
	double least[MAX_PROCESSES][2], most[MAX_PROCESSES][2], d[MAX_PROCESSES], sum;
	uint64_t at, end = begin + secs * NSEC;
	unsigned int i, v;

	for (i = 0; i < nprocs; i++)
		for (v = 0; v < 2; v++) {
			least[i][v] = 1e9;
			most[i][v] = 0;
		}
	for (at = begin; at + WINDOW_NS <= end; at += STEP_NS * 10) {
		for (i = 0, sum = 0; i < nprocs; i++)
			sum += d[i] = did(&procs[i], at, at + WINDOW_NS);
		for (i = 0; i < nprocs; i++)
			for (v = 0; v < 2; v++) {
				double x = d[i] / (v ? sum : WINDOW_NS);

				least[i][v] = x < least[i][v] ? x : least[i][v];
				most[i][v] = x > most[i][v] ? x : most[i][v];
			}
	}
	for (i = 0; i < nprocs; i++) {
		printf("%u_work_least %.5f\n%u_work_most %.5f\n", i, least[i][0], i, most[i][0]);
		printf("%u_share_least %.5f\n%u_share_most %.5f\n", i, least[i][1], i, most[i][1]);
		if (!procs[i].group)
			continue;
		printf("%u_ran_10s %.5f\n%u_ran_1s %.5f\n", i, most_ran(i, WINDOW_NS), i, most_ran(i, NSEC));
		printf("%u_ran %.5f\n", i, (double)(ran[steps - 1][i] - ran[0][i]) /
		       (double)((steps - 1) * STEP_NS));
	}
}

int main(int argc, char **argv)
{
	uint64_t secs, begin, busy_from = 0;
	long long busy = 0;
	unsigned int i;
	pid_t pids[MAX_PROCESSES];

	if (argc < 4 || argc - 3 > MAX_PROCESSES)
		errx(2, "usage: shares SECS GPUS SPEC...");
	secs = bench_number(argv[1], "SECS");
	gpus = bench_number(argv[2], "GPUS");
	if (secs < 10 || secs > 1000 || !gpus || gpus > 2)
		errx(2, "SECS is 10 or more, GPUS 1 or 2");
	nprocs = argc - 3;
	steps = secs * NSEC / STEP_NS + 1;
	kfd = open("/dev/kfd", O_ACCMODE | O_CLOEXEC);
	procs = mmap(NULL, nprocs * sizeof(*procs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ran = calloc(steps, sizeof(*ran));
	if (kfd < 0 || procs == MAP_FAILED || !ran)
		err(1, "/dev/kfd, or memory");
	for (i = 0; i < nprocs; i++) {
		parse(&procs[i], argv[3 + i]);
		pids[i] = fork();
		if (!pids[i])
			work(&procs[i]);
		while (!procs[i].ready && !waitpid(pids[i], NULL, WNOHANG))
			usleep(10000);
		if (!procs[i].ready)
			errx(1, "process %u has ended", i);
	}
	begin = kfdc_now() + SETTLE_NS;
	for (i = 0; i < steps; i++) {
		bench_sleep_until(begin + i * STEP_NS);
		if (!i) {
			busy = sim_counter(0, "busy_ns");
			busy_from = kfdc_now();
		}
		sample(i);
	}
	busy = sim_counter(0, "busy_ns") - busy;
	printf("work %.5f\n", (double)busy / (kfdc_now() - busy_from));
	report(begin, secs);
	for (i = 0; i < nprocs; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	return 0;
}
