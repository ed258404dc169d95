// SPDX-License-Identifier: GPL-2.0
/* Files that hold what not every user may know; see output.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "caller.h"
#include "output.h"

#define FDS		256 /* descriptors of the caller that are looked at */
#define READER_MS	2000 /* how long the reader of a FIFO may take to open it */
#define STEP_MS		20

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether a file of this user is no surprise here: a file of root, of this user, or of the user who called sudo. */
static bool is_ours(uid_t uid)
{
	struct caller caller;

	caller_find(&caller);
	return !uid || uid == geteuid() || uid == caller.uid;
}

/**
 * output_inherited() - the descriptor that a path such as /dev/stdout names
 * @path: the file
 *
 * The caller of this program has opened it, for writing: it is used as it is, whoever owns the pipe, and from the place on
 * that it is at.
 *
 * Return: a copy of the descriptor, or -1: no open descriptor is of this file.
 */
int output_inherited(const char *path)
{
	struct stat named, open_file;
	int fd, flags;

	if (stat(path, &named))
		return -1;
	for (fd = 0; fd < FDS; fd++) {
		flags = fcntl(fd, F_GETFL);
		if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
			continue;
		if (!fstat(fd, &open_file) && same_file(&named, &open_file))
			return fcntl(fd, F_DUPFD_CLOEXEC, 0);
	}
	return -1;
}

/* An open without O_NONBLOCK would wait for a reader without an end. */
static int open_wait(const char *path)
{
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000L };
	int fd, ms;

	for (ms = 0;; ms += STEP_MS) {
		fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0 || errno != ENXIO || ms >= READER_MS)
			return fd;
		nanosleep(&step, NULL);
	}
}

/**
 * output_device() - open a FIFO, a device or another file that cannot be replaced
 * @path: the file, which is there
 * @why: out: on failure, the cause; KFDLIB_WHY bytes
 *
 * Nothing is made or truncated.  The file, and a symbolic link to it, must be of root, of this user or of the user who called
 * sudo: another user would read what is written, or would choose the device that it goes to.
 *
 * Return: the descriptor, or -1.
 */
int output_device(const char *path, char *why)
{
	struct stat link, seen, opened;
	int fd;

	if (lstat(path, &link) || stat(path, &seen)) {
		snprintf(why, KFDLIB_WHY, "%s", strerror(errno));
		return -1;
	}
	if (!is_ours(link.st_uid) || !is_ours(seen.st_uid)) {
		snprintf(why, KFDLIB_WHY, "%s belongs to another user: name a file of your own",
			 S_ISLNK(link.st_mode) ? "it is a symbolic link, and the link or its target" :
						 "it is there already, and");
		return -1;
	}
	fd = open_wait(path);
	if (fd < 0) {
		snprintf(why, KFDLIB_WHY, "%s",
			 errno == ENXIO && S_ISFIFO(seen.st_mode) ? "no process reads this FIFO: start the reader first" :
								    strerror(errno));
		return -1;
	}
	/* where other users can replace the file, the name may be that of another file by now */
	if (fstat(fd, &opened) || !same_file(&opened, &seen))
		snprintf(why, KFDLIB_WHY, "another file has its name now: try again");
	else if (fcntl(fd, F_SETFL, O_WRONLY))
		snprintf(why, KFDLIB_WHY, "%s", strerror(errno));
	else
		return fd;
	close(fd);
	return -1;
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
 * @path: the file; a regular one that is there is emptied, a FIFO, a device or a descriptor of the caller is written to
 * @why: out: on failure, the cause; KFDLIB_WHY bytes
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
		fd = output_inherited(path);
		return fd < 0 ? output_device(path, why) : fd;
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
