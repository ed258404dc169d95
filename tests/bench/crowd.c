// SPDX-License-Identifier: GPL-2.0
/*
 * crowd PROCESSES QUEUES [DISPATCHES] - so many processes with so many queues in all, to be preempted.
 * The first queue of each process gets a dispatch that takes an hour: the GPU always has something to save, and nothing
 * ends. With DISPATCHES it gets so many of them, after each queue has had one of 20 us.
 * Prints "ready PROCESSES QUEUES" with how many there are, and why if these are fewer than asked for; ends
 * when its stdin does.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "bench.h"

/* Each queue has a dispatch of 20 us, and all are waited for */
static void use(struct kfdc *c, struct kfdc_queue *const *q, unsigned int queues)
{
	struct kfdc_dispatch d = { .ns = 20000 };
	unsigned int i;

	if (kfdc_signal_create(c, true, &d.signal))
		errx(1, "%s", kfdc_error());
	kfdc_signal_set(d.signal, queues);
	for (i = 0; i < queues; i++)
		if (kfdc_dispatch(q[i], &d))
			errx(1, "%s", kfdc_error());
	if (kfdc_signal_wait(d.signal, WAIT_NS))
		errx(1, "%s", kfdc_error());
}

/* a process; tells its number of queues through @fd */
static void member(int fd, unsigned int queues, unsigned int dispatches, bool used)
{
	const struct kfdc_queue_attr attr = { .priority = 7, .percentage = 100, .packets = 64 };
	struct kfdc_queue **q = calloc(queues, sizeof(void *));
	char why[200] = "";
	unsigned int n = 0;
	struct kfdc *c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!q)
		err(1, "memory");
	if (kfdc_open(&c, 0)) {
		snprintf(why, sizeof(why), "%s", kfdc_error());
		goto out;
	}
	for (; n < queues; n++) {
		if (kfdc_queue_create(c, &attr, &q[n])) {
			snprintf(why, sizeof(why), "queue %u: %s", n + 1, kfdc_error());
			break;
		}
		if (!used && !n && kfdc_dispatch(q[0], &(struct kfdc_dispatch){ .ns = 3600 * NSEC }))
			errx(1, "%s", kfdc_error());
	}
	if (used && n)
		use(c, q, n);
	while (used && n && dispatches--)
		if (kfdc_dispatch(q[0], &(struct kfdc_dispatch){ .ns = 3600 * NSEC }))
			errx(1, "%s", kfdc_error());
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
	int fd[2];
	char x;

	if (argc < 3 || argc > 4)
		errx(2, "usage: crowd PROCESSES QUEUES [DISPATCHES]");
	procs = bench_number(argv[1], "PROCESSES");
	queues = bench_number(argv[2], "QUEUES");
	dispatches = argc > 3 ? bench_number(argv[3], "DISPATCHES") : 1;
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
			member(fd[1], n, dispatches, argc > 3);
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
