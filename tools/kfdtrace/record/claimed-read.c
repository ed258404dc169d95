// SPDX-License-Identifier: GPL-2.0
/*
 * record --mqd: the process that reads the indices of queues in the memory of their owners.
 *
 * process_vm_readv(2) takes a page fault where a page is not present, and a process can make its faults last for
 * ever: with userfaultfd(2), or with a mapped file of its own FUSE file system.  No flag makes the call return
 * instead.  Whether a page is present (/proc/PID/pagemap) can change between that look and the read.  A thread of
 * the recorder would keep the recorder from ending during such a fault, which SIGKILL does not always interrupt (a
 * read that FUSE waits for).  So another process reads.  It has no descriptor of the recorder but a socket: while
 * it is blocked, it holds neither a trace instance nor the recorder's stdout.  The recorder never waits for it, see
 * claimed.c.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "claimed.h"
#include "kfdlib.h"

#define HINTS 256

/**
 * struct target - the process whose queues are read now
 * @pid: its PID, 0 for none
 * @pidfd: of it, or -1
 * @start: its start time, as in /proc/PID/stat; 0 if it is not older than the dump
 * @trusted: it is the process that the dump has
 */
struct target {
	unsigned int pid;
	int pidfd;
	uint64_t start;
	bool trusted;
};

/* The descriptor of /dev/kfd that a process had at its last sample: its other descriptors need not be read again. */
static struct hint {
	unsigned int pid;
	int fd;
} hints[HINTS];

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* AT_STATX_DONT_SYNC: no file system is asked, such as FUSE */
static bool is_device(int dir, const char *name, dev_t device)
{
	struct statx status;

	return !statx(dir, name, AT_STATX_DONT_SYNC, STATX_TYPE, &status) && S_ISCHR(status.stx_mode) &&
	       makedev(status.stx_rdev_major, status.stx_rdev_minor) == device;
}

static bool has_open(unsigned int pid, dev_t device)
{
	struct hint *hint = &hints[pid % HINTS];
	struct dirent *entry;
	char name[64];
	bool found;
	DIR *dir;

	if (!device)
		return false;
	snprintf(name, sizeof(name), "/proc/%u/fd", pid);
	dir = opendir(name);
	if (!dir)
		return false;
	snprintf(name, sizeof(name), "%d", hint->fd);
	found = hint->pid == pid && is_device(dirfd(dir), name, device);
	while (!found && (entry = readdir(dir))) {
		found = *entry->d_name != '.' && is_device(dirfd(dir), entry->d_name, device);
		if (found)
			*hint = (struct hint){ pid, atoi(entry->d_name) };
	}
	closedir(dir);
	return found;
}

static void target_close(struct target *target)
{
	if (target->pidfd >= 0)
		close(target->pidfd);
	*target = (struct target){ .pidfd = -1 };
}

/*
 * The PID of the dump may be that of another process by now, whose memory must not be read at addresses that the
 * owner of the queue has chosen.  The process counts as the owner if it is older than the dump and has /dev/kfd
 * open.  A process that shares the memory of an owner that has ended, or that executes another program, is not
 * found: unknown.
 */
static void target_open(struct target *target, const struct claimed_shared *shared, struct claimed_slot *slot)
{
	struct proc_task task;

	target_close(target);
	target->pid = slot->pid;
	target->pidfd = pidfd_open(slot->pid, 0);
	if (target->pidfd < 0)
		return;
	if (!proc_stat_read(slot->pid, &task) && task.start < shared->before)
		target->start = task.start;
	/* The next read may block: the recorder must know by which process */
	slot->start = target->start;
	if (!target->start || slot->refused == target->start || slot->refused == CLAIMED_ANY_START)
		return;
	target->trusted = has_open(slot->pid, shared->device);
}

static bool has_ended(const struct target *target)
{
	struct pollfd fd = { .fd = target->pidfd, .events = POLLIN };

	return poll(&fd, 1, 0) != 0;
}

/*
 * The read index comes first: if the write index was not larger later, there was no work at that moment.  Equal
 * indices do not prove that the GPU is idle: it advances the read index when it launches a dispatch, not when the
 * dispatch ends.
 */
static void slot_read(const struct claimed_shared *shared, struct claimed_slot *slot, struct target *target)
{
	uint64_t index[2];
	struct iovec to = { index, sizeof(index) };
	struct iovec from[2] = { { (void *)(uintptr_t)slot->rptr, sizeof(*index) },
				 { (void *)(uintptr_t)slot->wptr, sizeof(*index) } };
	bool whole = false;

	if (target->pid != slot->pid)
		target_open(target, shared, slot);
	slot->start = target->start;
	if (target->trusted)
		whole = process_vm_readv(slot->pid, &to, 1, from, 2, 0) == (ssize_t)sizeof(index);
	slot->ts = now_ns();
	/* a pidfd of a process that has not ended: the PID was its own all the time */
	if (target->pidfd < 0 || has_ended(target))
		slot->start = 0;
	else if (whole)
		slot->answer = index[0] == index[1] ? CLAIMED_IDLE : CLAIMED_WORK;
}

/* All descriptors but @keep, which is none of stdin, stdout and stderr */
static bool others_close(int keep)
{
	DIR *dir = opendir("/proc/self/fd");
	int null = open("/dev/null", O_RDWR), fd;
	struct dirent *entry;

	if (!dir || null < 0)
		return false;
	for (fd = 0; fd < 3; fd++)
		if (dup2(null, fd) < 0)
			return false;
	while ((entry = readdir(dir))) {
		fd = atoi(entry->d_name);
		if (fd > 2 && fd != keep && fd != dirfd(dir))
			close(fd);
	}
	closedir(dir);
	return true;
}

/**
 * claimed_read() - read the slots, each time the recorder says so; does not return
 * @shared: the slots
 * @wake: a descriptor from which a byte can be read when there are slots; its end of file is the end of this process
 */
void claimed_read(struct claimed_shared *shared, int wake)
{
	struct target target = { .pidfd = -1 };
	size_t at;
	char byte;

	/* signals of the terminal are for the recorder */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "kfdtrace-mqd");
	/* the current directory would keep its file system mounted */
	if (chdir("/") || !others_close(wake))
		_exit(1);
	while (read(wake, &byte, 1) == 1) {
		while ((at = atomic_load(&shared->done)) < shared->nr) {
			slot_read(shared, &shared->slots[at], &target);
			atomic_store(&shared->done, at + 1);
		}
		target_close(&target);
	}
	_exit(0);
}
