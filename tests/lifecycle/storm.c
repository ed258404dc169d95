// SPDX-License-Identifier: GPL-2.0
/*
 * storm SECS - everything at once: processes that create and destroy queues with work on
 * them and die at random moments, one that sets random priorities on random
 * ones of them, one that lists, and children that inherit.  It ends after SECS seconds, on a slow machine later: not
 * before MIN_BORN processes and MIN_SETS priorities.  Exits 0 if no call failed that must not.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "kfd.h"
#include "kfdclient.h"

#define WORKERS 4
#define MIN_BORN 9
#define MIN_SETS 101

static unsigned int seed;

static unsigned int rnd(unsigned int n)
{
	return rand_r(&seed) % n;
}

/* Creates, loads, destroys; dies by itself in the middle of it one time in four. */
static void worker(int id)
{
	struct kfdc_queue *q[3];
	struct kfdc *c;
	int i, k;

	seed = getpid() * 7919 + id;
	if (kfdc_open(&c, 0))
		errx(1, "worker: %s", kfdc_error());
	for (i = 0; i < 4; i++) {
		for (k = 0; k < 3; k++) {
			struct kfdc_queue_attr attr = {
				.priority = rnd(16), .percentage = 100, .packets = 64,
			};

			if (kfdc_queue_create(c, &attr, &q[k]))
				errx(1, "create: %s", kfdc_error());
			kfdc_dispatch(q[k], &(struct kfdc_dispatch){ .ns = 200000 * (1 + rnd(20)) });
		}
		if (!rnd(4)) {
			if (!fork())
				_exit(0);
			kill(getpid(), SIGKILL);
		}
		if (kfdc_queue_update(q[0], 100 * rnd(2), rnd(16)))
			errx(1, "update: %s", kfdc_error());
		for (k = 0; k < 3; k++)
			if (kfdc_queue_destroy(q[k]))
				errx(1, "destroy: %s", kfdc_error());
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc == 2 ? atoi(argv[1]) : 5);
	struct kfd_prio_list_entry e[64];
	int kfd = open("/dev/kfd", O_ACCMODE | O_CLOEXEC);
	unsigned long sets = 0, born = 0, killed = 0;
	pid_t pid[WORKERS] = { 0 };
	int i, ret, status;

	if (kfd < 0)
		err(1, "/dev/kfd");
	seed = 1;
	while (time(NULL) < end || born < MIN_BORN || sets < MIN_SETS) {
		for (i = 0; i < WORKERS; i++) {
			if (!pid[i]) {
				pid[i] = fork();
				if (!pid[i])
					worker(i);
				born++;
			}
			/* it may be a zombie or gone by now */
			ret = kfd_set(pid[i], (int)rnd(17) - 1, NULL);
			if (ret && ret != ESRCH)
				errx(1, "set: errno %d", ret);
			sets++;
			if (!rnd(40))
				kill(pid[i], SIGKILL);
			if (waitpid(pid[i], &status, WNOHANG) == pid[i]) {
				pid[i] = 0;
				if (WIFSIGNALED(status))
					killed++;
				else if (WEXITSTATUS(status))
					errx(1, "a worker failed");
			}
		}
		/* we set our own, for the next worker to inherit */
		ret = kfd_set(getpid(), (int)rnd(17) - 1, NULL);
		if (ret)
			errx(1, "set ourselves: errno %d", ret);
		struct kfd_prio_list_args l = {
			.entries = (unsigned long)e, .entry_size = sizeof(*e), .nr_entries = 64,
		};
		if (ioctl(kfd, KFD_PRIO_IOC_LIST, &l))
			err(1, "list");
		usleep(rnd(5000));
	}
	for (i = 0; i < WORKERS; i++)
		if (pid[i]) {
			kill(pid[i], SIGKILL);
			waitpid(pid[i], NULL, 0);
		}
	printf("%lu processes, %lu killed, %lu priorities set\n", born, killed, sets);
	return 0;
}
