// SPDX-License-Identifier: GPL-2.0
/* The directory of a recording. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "record.h"

static void part_name(char *name, size_t size, int cpu)
{
	snprintf(name, size, ".cpu%d.part", cpu);
}

/* The directory that DIR is in, and the name of DIR there. */
static int parent_open(struct recording *rec)
{
	const char *path = rec->options->dir, *slash;
	size_t len = strlen(path);
	char *parent;

	while (len > 1 && path[len - 1] == '/')
		len--;
	slash = memrchr(path, '/', len);
	/* the root directory is the slash itself */
	parent = slash ? strndup(path, slash > path ? slash - path : 1) : strdup(".");
	rec->name = strndup(slash ? slash + 1 : path, slash ? len - (slash + 1 - path) : len);
	if (!parent || !rec->name) {
		free(parent);
		errno = ENOMEM;
		return -ENOMEM;
	}
	rec->parent_fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(parent);
	return rec->parent_fd < 0 ? -errno : 0;
}

/* Whether a user who is neither root nor the recording's owner can rename what is in a directory. */
static bool renamable(const struct recording *rec, const struct stat *dir)
{
	bool by_root = !rec->caller.uid || rec->options->root;

	if (dir->st_uid && dir->st_uid != geteuid() && dir->st_uid != rec->caller.uid)
		return true;
	if (dir->st_mode & S_ISVTX)
		return false;
	/* the groups of a user are up to that user, but not where the command is root's */
	return dir->st_mode & 0002 || (by_root && dir->st_gid && dir->st_mode & 0020);
}

/*
 * ROCm opens its log by its path, in the command's process.  Others must not be able to replace a directory
 * of that path: the command would write to a file of their choice.
 */
static int path_check(const struct recording *rec)
{
	int fd = openat(rec->parent_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC), up;
	struct stat dir, above;
	bool bad, top;

	for (;;) {
		if (fd < 0 || fstat(fd, &dir))
			goto err_why;
		up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up < 0 || fstat(up, &above))
			goto err_why;
		bad = renamable(rec, &dir);
		top = dir.st_dev == above.st_dev && dir.st_ino == above.st_ino;
		if (bad || top)
			break;
		close(fd);
		fd = up;
	}
	if (bad) {
		char link[64], path[PATH_MAX];
		ssize_t used;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		used = readlink(link, path, sizeof(path) - 1);
		path[used < 0 ? 0 : used] = '\0';
		warnx("%s: other users can rename or replace directories in '%s', and --amd-log opens amd.log by its path: give a directory of your own with --output",
		      rec->options->dir, path);
	}
	close(up);
	close(fd);
	return bad ? -EPERM : 0;

err_why:
	warn("%s", rec->options->dir);
	return -errno;
}

/* Whether there is nothing in the directory. */
static bool is_empty(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool empty = dir;

	if (!dir && fd >= 0)
		close(fd);
	while (empty && (entry = readdir(dir)))
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	if (dir)
		closedir(dir);
	return empty;
}

/*
 * Opens what was just made.  Where others may rename it, it may be replaced meanwhile; a directory that is
 * empty, ours and closed to others is as good as the one that was made.
 */
static int made_open(struct recording *rec)
{
	const char *dir = rec->options->dir;
	struct stat made;

	rec->dir_fd = openat(rec->parent_fd, rec->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (rec->dir_fd >= 0 && fstat(rec->dir_fd, &made))
		return -errno;
	if (rec->dir_fd < 0 || made.st_uid != geteuid() || !is_empty(rec->dir_fd)) {
		if (rec->dir_fd < 0 && errno != ENOTDIR && errno != ELOOP && errno != ENOENT)
			return -errno;
		warnx("%s: it was replaced while it was made: give a directory of your own with --output", dir);
		/* nothing of it is ours to remove */
		if (rec->dir_fd >= 0)
			close(rec->dir_fd);
		rec->dir_fd = -1;
		return -ESTALE;
	}
	if (!rec->options->share && made.st_mode & 0077) {
		warnx("%s: the file system cannot keep others from reading it: record elsewhere, or give --share", dir);
		return -ESTALE;
	}
	return 0;
}

static int file_make(struct recording *rec, const char *name, bool share)
{
	int fd = openat(rec->dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0 && share && fchmod(fd, 0644)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int files_make(struct recording *rec, int *trace_fd, int *meta_fd)
{
	char name[64];
	int cpu;

	*trace_fd = file_make(rec, "trace.dat", rec->options->share);
	*meta_fd = file_make(rec, "meta.json", rec->options->share);
	if (*trace_fd < 0 || *meta_fd < 0)
		return -errno;
	for (cpu = 0; cpu < rec->nr_cpus; cpu++) {
		part_name(name, sizeof(name), cpu);
		rec->part_fds[cpu] = file_make(rec, name, false);
		if (rec->part_fds[cpu] < 0)
			return -errno;
	}
	if (rec->options->share && fchmod(rec->dir_fd, 0755))
		return -errno;
	if (rec->caller.uid == geteuid())
		return 0;
	if (fchown(*trace_fd, rec->caller.uid, rec->caller.gid) || fchown(*meta_fd, rec->caller.uid, rec->caller.gid) ||
	    fchown(rec->dir_fd, rec->caller.uid, rec->caller.gid))
		return -errno;
	return 0;
}

/**
 * dir_make() - make the directory of a recording, and everything in it
 * @rec: the recording; dir_fd, parent_fd, name and part_fds are filled in
 * @trace_fd: out: trace.dat
 * @meta_fd: out: meta.json
 *
 * Only the owner can read it, whatever the umask is, unless the recording is to be shared.  DIR may be in a
 * directory in which others can rename it.  Therefore it is named once, and opened without
 * following a link; the rest is done from there.  Everything in DIR is made before DIR is given to the user
 * who called sudo: later, one of them might be a link to a file of root's.
 *
 * Return: 0 or -errno, which was printed.
 */
int dir_make(struct recording *rec, int *trace_fd, int *meta_fd)
{
	const char *dir = rec->options->dir;
	mode_t mask;
	int ret;

	if (parent_open(rec)) {
		ret = -errno;
		warn("%s", dir);
		return ret;
	}
	if (rec->options->amd_log) {
		ret = path_check(rec);
		if (ret)
			return ret;
	}
	mask = umask(0077);
	ret = mkdirat(rec->parent_fd, rec->name, 0700) ? -errno : 0;
	if (ret)
		warnx("%s: %s%s", dir, strerror(-ret),
		      ret == -EEXIST ? "; give a new directory with --output" : "");
	if (!ret) {
		ret = made_open(rec);
		if (!ret)
			ret = files_make(rec, trace_fd, meta_fd);
		if (ret && ret != -ESTALE)
			warnx("%s: %s", dir, strerror(-ret));
	}
	umask(mask);
	return ret;
}

/**
 * parts_remove() - remove what was read but is not in trace.dat
 * @rec: the recording
 */
void parts_remove(struct recording *rec)
{
	char name[64];
	int cpu;

	for (cpu = 0; cpu < rec->nr_cpus; cpu++) {
		if (rec->part_fds[cpu] < 0)
			continue;
		part_name(name, sizeof(name), cpu);
		unlinkat(rec->dir_fd, name, 0);
		close(rec->part_fds[cpu]);
		rec->part_fds[cpu] = -1;
	}
}

/**
 * dir_remove() - as if nothing had been asked for
 * @rec: the recording
 */
void dir_remove(struct recording *rec)
{
	if (rec->dir_fd < 0)
		return;
	parts_remove(rec);
	unlinkat(rec->dir_fd, "trace.dat", 0);
	unlinkat(rec->dir_fd, "meta.json", 0);
	unlinkat(rec->dir_fd, AMD_LOG_FILE, 0);
	unlinkat(rec->parent_fd, rec->name, AT_REMOVEDIR);
}

/**
 * dir_close() - forget the directory of a recording
 * @rec: the recording
 */
void dir_close(struct recording *rec)
{
	if (rec->dir_fd >= 0)
		close(rec->dir_fd);
	if (rec->parent_fd >= 0)
		close(rec->parent_fd);
	rec->dir_fd = -1;
	rec->parent_fd = -1;
	free(rec->name);
	rec->name = NULL;
}
