// SPDX-License-Identifier: GPL-2.0
/*
 * kfdpriod: a new group for a process that is in another one.
 *
 * The driver makes a group for a process that is in none, and ends it with its last process.  So a child makes the
 * group for itself, and ends when the process has joined.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kfdpriod.h"

/**
 * struct answer - what the child reports
 * @ret: 0 or -errno
 * @group: number of the group
 */
struct answer {
	int ret;
	uint64_t group;
};

static __attribute__((noreturn)) void child_run(const struct kfd_dev *dev, const struct share_setting *setting, int in, int out)
{
	struct kfd_prio_share_args args = { .flags = KFD_PRIO_SHARE_PROCESS | KFD_PRIO_SHARE_NEW, .pid = getpid() };
	struct answer answer = { 0 };
	ssize_t got;
	char end;

	share_args_set(&args, setting);
	args.pidfd = pidfd_open(args.pid, 0);
	answer.ret = args.pidfd < 0 ? -errno : kfd_dev_share(dev, &args);
	answer.group = args.group;
	got = write(out, &answer, sizeof(answer));
	/* until the other end is closed, by an end of the service, too */
	if (got == sizeof(answer))
		got = read(in, &end, 1);
	_exit(got < 0);
}

/**
 * anchor_begin() - make a group with a child in it
 * @dev: the device
 * @setting: of the group
 * @anchor: out: to be ended with anchor_end()
 * @group: out: number of the group
 *
 * Return: 0 or -errno: there is neither group nor child.
 */
int anchor_begin(const struct kfd_dev *dev, const struct share_setting *setting, struct anchor *anchor, uint64_t *group)
{
	struct answer answer = { .ret = -EPIPE };
	int down[2], up[2], ret;

	if (pipe2(down, O_CLOEXEC))
		return -errno;
	if (pipe2(up, O_CLOEXEC)) {
		ret = -errno;
		close(down[0]);
		close(down[1]);
		return ret;
	}
	anchor->pid = fork();
	ret = anchor->pid < 0 ? -errno : 0;
	if (!anchor->pid) {
		close(down[1]);
		close(up[0]);
		child_run(dev, setting, down[0], up[1]);
	}
	close(down[0]);
	close(up[1]);
	anchor->fd = down[1];
	if (!ret && read(up[0], &answer, sizeof(answer)) == sizeof(answer))
		*group = answer.group;
	close(up[0]);
	if (!ret && answer.ret) {
		anchor_end(anchor);
		return answer.ret;
	}
	if (ret)
		close(anchor->fd);
	return ret;
}

/**
 * anchor_end() - end the child
 * @anchor: the group ends, too, unless another process has joined it
 */
void anchor_end(struct anchor *anchor)
{
	close(anchor->fd);
	while (waitpid(anchor->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
