// SPDX-License-Identifier: GPL-2.0
/* The directory of a recording. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "record.h"

static void part_name(char *name, size_t size, int cpu)
{
	snprintf(name, size, ".cpu%d.part", cpu);
}

/**
 * dir_make() - make the directory of a recording, and everything in it
 * @rec: the recording; dir_fd and part_fds are filled in
 * @trace_fd: out: trace.dat
 * @meta_fd: out: meta.json
 *
 * Everything in DIR is made before DIR is given to the user who called sudo: later, one
 * of them might be a link to a file of root's.
 *
 * Return: 0 or -errno, which was printed.
 */
int dir_make(struct recording *rec, int *trace_fd, int *meta_fd)
{
	const char *dir = rec->options->dir;
	char name[64];
	int cpu;

	if (mkdir(dir, 0755)) {
		warnx("%s: %s%s", dir, strerror(errno),
		      errno == EEXIST ? "; give a new directory with --output" : "");
		return -errno;
	}
	rec->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (rec->dir_fd < 0)
		goto err_why;
	*trace_fd = openat(rec->dir_fd, "trace.dat", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	*meta_fd = openat(rec->dir_fd, "meta.json", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (*trace_fd < 0 || *meta_fd < 0)
		goto err_why;
	for (cpu = 0; cpu < rec->nr_cpus; cpu++) {
		part_name(name, sizeof(name), cpu);
		rec->part_fds[cpu] =
			openat(rec->dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (rec->part_fds[cpu] < 0)
			goto err_why;
	}
	if (rec->caller.uid != geteuid() &&
	    (fchown(*trace_fd, rec->caller.uid, rec->caller.gid) || fchown(*meta_fd, rec->caller.uid, rec->caller.gid) ||
	     fchown(rec->dir_fd, rec->caller.uid, rec->caller.gid)))
		goto err_why;
	return 0;

err_why:
	warn("%s", dir);
	return -errno;
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
	rmdir(rec->options->dir);
}
