// SPDX-License-Identifier: GPL-2.0
/*
 * crowd PROCESSES QUEUES [DISPATCHES [NS]] - so many processes with so many queues in all, to be
 * preempted. The first queue of each process gets DISPATCHES dispatches (1) of NS each, an hour by
 * default: the GPU always has something to save, and nothing ends. Shorter ones are waited for.
 * Prints "ready PROCESSES QUEUES" with how many there are, and why if these are fewer than asked for; ends
 * when its stdin does.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "bench.h"

/* The end of dispatches that take less is waited for */
#define SHORT	NSEC

/* The dispatches of a process, to its first queue */
static void dispatch(struct kfdc *c, struct kfdc_queue *q, unsigned int n, uint64_t ns)
{
	struct kfdc_dispatch d = { .ns = ns };
	unsigned int i;

	if (ns < SHORT) {
		if (kfdc_signal_create(c, true, &d.signal))
			errx(1, "%s", kfdc_error());
		kfdc_signal_set(d.signal, n);
	}
	for (i = 0; i < n; i++)
		if (kfdc_dispatch(q, &d))
			errx(1, "%s", kfdc_error());
	if (d.signal && kfdc_signal_wait(d.signal, WAIT_NS))
		errx(1, "%s", kfdc_error());
}

/* a process; tells its number of queues through @fd */
static void member(int fd, unsigned int queues, unsigned int dispatches, uint64_t ns)
{
	const struct kfdc_queue_attr attr = { .priority = 7, .percentage = 100, .packets = 64 };
	char why[200] = "";
	unsigned int n = 0;
	struct kfdc_queue *q;
	struct kfdc *c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (kfdc_open(&c, 0)) {
		snprintf(why, sizeof(why), "%s", kfdc_error());
		goto out;
	}
	for (; n < queues; n++) {
		if (kfdc_queue_create(c, &attr, &q)) {
			snprintf(why, sizeof(why), "queue %u: %s", n + 1, kfdc_error());
			break;
		}
		if (!n && dispatches)
			dispatch(c, q, dispatches, ns);
	}
out:
	if (write(fd, &n, sizeof(n)) != sizeof(n) || write(fd, why, sizeof(why)) != sizeof(why))
		_exit(1);
	while (n)
		pause();
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned int procs, queues, dispatches, i, n, got = 0, sum = 0;
	char why[200] = "", text[200];
	uint64_t ns;
	int fd[2];
	char x;

	if (argc < 3 || argc > 5)
		errx(2, "usage: crowd PROCESSES QUEUES [DISPATCHES [NS]]");
	procs = bench_number(argv[1], "PROCESSES");
	queues = bench_number(argv[2], "QUEUES");
	dispatches = argc > 3 ? bench_number(argv[3], "DISPATCHES") : 1;
	ns = argc > 4 ? bench_number(argv[4], "NS") : 3600 * NSEC;
	if (!procs || queues < procs)
		errx(2, "at least one process, and a queue for each");
	setrlimit(RLIMIT_NPROC, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY });
	if (pipe(fd))
		err(1, "pipe");
	for (i = 0; i < procs; i++) {
		n = (uint64_t)queues * (i + 1) / procs - (uint64_t)queues * i / procs;
		switch (fork()) {
		case -1:
			err(1, "process %u", i + 1);
		case 0:
			member(fd[1], n, dispatches, ns);
		}
		/* one after the other: the runlist is theirs in this order */
		if (read(fd[0], &n, sizeof(n)) != sizeof(n) ||
		    read(fd[0], text, sizeof(text)) != sizeof(text))
			errx(1, "process %u says nothing", i + 1);
		got += n > 0;
		sum += n;
		if (*text) {
			snprintf(why, sizeof(why), "process %u: %.150s", i + 1, text);
			break;
		}
	}
	printf("ready %u %u %s\n", got, sum, why);
	fflush(stdout);
	while (read(0, &x, 1) > 0)
		;
	kill(0, SIGKILL);
	return 0;
}
