// SPDX-License-Identifier: GPL-2.0
/*
 * Groups that the hook of containers has made for annotations: the file that has them.
 *
 *	NUMBER CGROUP-NUMBER CGROUP	a line for each, none longer than a path
 *
 * Only root enters the directory.  A line counts only if the driver lists that group with that cgroup.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "oci-groups.h"
#include "rules.h"

#define DIRECTORY "/run/kfdprio-oci"
#define LINE_MORE 48		     /* bytes of a line beside the path */
#define FILE_MAX  (KFD_PRIO_SHARE_ALL_MAX * (KFDLIB_PATH + LINE_MORE))

/* The file, locked; -errno.  @flags: LOCK_SH or LOCK_EX, which makes it */
static int file_open(int flags)
{
	char path[KFDLIB_PATH];
	struct stat st;
	int dir, fd;

	snprintf(path, sizeof(path), "%s" DIRECTORY, kfd_system_root);
	if (flags == LOCK_EX && mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	if (fstat(dir, &st) || st.st_uid != rules_owner || st.st_mode & 022) {
		close(dir);
		return -EACCES;
	}
	fd = openat(dir, "groups", (flags == LOCK_EX ? O_RDWR | O_CREAT : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && flock(fd, flags)) {
		close(fd);
		fd = -1;
	}
	if (fd < 0)
		fd = -errno;
	close(dir);
	return fd;
}

/* A line, of a group that the driver has */
static bool line_take(const char *line, const struct kfd_prio_share_entry *entries, size_t nr, struct oci_group *group)
{
	const struct kfd_prio_share_entry *entry;
	int at = 0;

	if (sscanf(line, "%" SCNu64 " %" SCNu64 " %n", &group->number, &group->cgroup_id, &at) != 2 || !at || line[at] != '/')
		return false;
	entry = share_entry_find(entries, nr, group->number);
	if (!entry || !group->cgroup_id || entry->cgroup != group->cgroup_id)
		return false;
	group->cgroup = strdup(line + at);
	return group->cgroup;
}

static size_t lines_take(char *text, const struct kfd_prio_share_entry *entries, size_t nr, struct oci_group *groups)
{
	size_t n = 0;
	char *line;

	while (n < KFD_PRIO_SHARE_ALL_MAX && (line = strsep(&text, "\n")))
		n += line_take(line, entries, nr, &groups[n]);
	return n;
}

static int groups_read(int fd, const struct kfd_prio_share_entry *entries, size_t nr, struct oci_group **groups, size_t *found)
{
	char *text, *ended;
	size_t size;
	int ret;

	ret = input_read(fd, FILE_MAX, &text, &size);
	if (ret) {
		free(text);
		return ret;
	}
	*groups = calloc(KFD_PRIO_SHARE_ALL_MAX, sizeof(**groups));
	ended = realloc(text, size + 1);
	if (!*groups || !ended) {
		free(ended ? ended : text);
		free(*groups);
		return -ENOMEM;
	}
	ended[size] = '\0';
	*found = lines_take(ended, entries, nr, *groups);
	free(ended);
	return 0;
}

static void line_write(FILE *out, const struct oci_group *group)
{
	fprintf(out, "%" PRIu64 " %" PRIu64 " %s\n", group->number, group->cgroup_id, group->cgroup);
}

/**
 * oci_groups_note() - note that a group is that of an annotation
 * @group: the group
 * @entries: of kfd_dev_shares()
 * @nr: how many
 *
 * Groups that have ended are forgotten.
 *
 * Return: 0 or -errno.
 */
int oci_groups_note(const struct oci_group *group, const struct kfd_prio_share_entry *entries, size_t nr)
{
	struct oci_group *groups = NULL;
	int fd = file_open(LOCK_EX), ret;
	size_t found = 0, i;
	FILE *out;

	if (fd < 0)
		return fd;
	ret = strchr(group->cgroup, '\n') ? -EINVAL : groups_read(fd, entries, nr, &groups, &found);
	if (!ret && (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET)))
		ret = -errno;
	out = ret ? NULL : fdopen(fd, "w");
	if (!out) {
		ret = ret ? ret : -errno;
		close(fd);
	} else {
		for (i = 0; i < found; i++)
			if (groups[i].number != group->number)
				line_write(out, &groups[i]);
		line_write(out, group);
		ret = ferror(out) ? -EIO : 0;
		if (fclose(out))
			ret = -errno;
	}
	oci_groups_free(groups, found);
	return ret;
}

/**
 * oci_groups_read() - the groups of annotations that there are
 * @entries: of kfd_dev_shares()
 * @nr: how many
 * @groups: out: array, to be freed with oci_groups_free(); NULL: there is none
 *
 * Return: how many.
 */
size_t oci_groups_read(const struct kfd_prio_share_entry *entries, size_t nr, struct oci_group **groups)
{
	int fd = file_open(LOCK_SH);
	size_t found = 0;

	*groups = NULL;
	if (fd < 0)
		return 0;
	if (groups_read(fd, entries, nr, groups, &found))
		*groups = NULL;
	close(fd);
	return *groups ? found : 0;
}

/**
 * oci_groups_free() - free groups
 * @groups: of oci_groups_read(), or NULL
 * @nr: how many
 */
void oci_groups_free(struct oci_group *groups, size_t nr)
{
	size_t i;

	for (i = 0; groups && i < nr; i++)
		free(groups[i].cgroup);
	free(groups);
}
