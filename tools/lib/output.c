// SPDX-License-Identifier: GPL-2.0
/* Files that hold what not every user may know; see output.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "caller.h"
#include "output.h"

/**
 * output_device() - open a FIFO, a device or another file that cannot be replaced
 * @path: the file, which is there
 * @seen: what stat(2) said about it
 *
 * Nothing is made or truncated, and nothing else than what was seen is opened: where other users can replace
 * the file, it might be a link to a file of ours by now.
 *
 * Return: the descriptor, or -errno.
 */
int output_device(const char *path, const struct stat *seen)
{
	int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	struct stat opened;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &opened) || opened.st_dev != seen->st_dev || opened.st_ino != seen->st_ino) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

/**
 * output_own() - give a file that was made to the user who called sudo
 * @fd: the file, made by this program
 *
 * Return: 0 or -errno.
 */
int output_own(int fd)
{
	struct caller caller;

	caller_find(&caller);
	if (caller.uid == geteuid())
		return 0;
	return fchown(fd, caller.uid, caller.gid) ? -errno : 0;
}

/* A file that is there: of this user or of the user who called sudo, under one name. */
static int existing_open(const char *path, char *why)
{
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	struct caller caller;
	struct stat status;

	if (fd < 0) {
		snprintf(why, KFDLIB_WHY, "%s", errno == ELOOP ? "it is a symbolic link: name the file itself" :
						strerror(errno));
		return -1;
	}
	caller_find(&caller);
	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_nlink != 1 ||
	    (status.st_uid != geteuid() && status.st_uid != caller.uid))
		snprintf(why, KFDLIB_WHY, "it is there already, and belongs to another user or has several names: name a new file");
	else if (fchmod(fd, 0600) || ftruncate(fd, 0))
		snprintf(why, KFDLIB_WHY, "%s", strerror(errno));
	else
		return fd;
	close(fd);
	return -1;
}

/**
 * output_private() - open a file for writing that only its owner can read, whatever the umask is
 * @path: the file; a regular one that is there is emptied, a FIFO or a device is written to
 * @why: on failure, what is wrong with it; KFDLIB_WHY bytes
 *
 * Under sudo the file is the calling user's.
 *
 * Return: the descriptor, or -1.
 */
int output_private(const char *path, char *why)
{
	struct stat seen;
	int fd, ret;

	if (!stat(path, &seen) && !S_ISREG(seen.st_mode)) {
		fd = output_device(path, &seen);
		if (fd < 0)
			snprintf(why, KFDLIB_WHY, "%s", strerror(-fd));
		return fd < 0 ? -1 : fd;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOCTTY | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST)
		return existing_open(path, why);
	if (fd < 0) {
		snprintf(why, KFDLIB_WHY, "%s", strerror(errno));
		return -1;
	}
	ret = fchmod(fd, 0600) ? -errno : output_own(fd);
	if (!ret)
		return fd;
	snprintf(why, KFDLIB_WHY, "%s", strerror(-ret));
	close(fd);
	return -1;
}
