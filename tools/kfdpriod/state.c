// SPDX-License-Identifier: GPL-2.0
/*
 * kfdpriod: the file that keeps which groups are those of rules, while the service does not run.
 *
 *	kfdpriod groups 1 DRIVER	DRIVER: changes when the driver is loaded again, and numbers begin anew
 *	group NUMBER CGROUP-NUMBER	for each group, then as far as it has them:
 *	cgroup PATH
 *	rule CONDITIONS
 *	limit
 *
 * PATH and CONDITIONS are any bytes but a newline, which neither a cgroup nor a rule can have.  What the file has is
 * compared with what the driver lists.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kfdpriod.h"

#define DIRECTORY "/run/kfdpriod"
#define STATE_MAX (1 << 22) /* bytes: 256 groups with the longest paths and conditions are less */

static void path_of(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s" DIRECTORY "%s", kfd_system_root, name);
}

/* A number that the directory of KFD's class has; 0 if it has none */
static uint64_t driver_id(void)
{
	char path[KFDLIB_PATH];
	struct stat st;

	snprintf(path, sizeof(path), "%s/sys/class/kfd/kfd", kfd_system_root);
	return stat(path, &st) ? 0 : st.st_ino;
}

static void group_write(FILE *out, const struct group *group)
{
	fprintf(out, "group %" PRIu64 " %" PRIu64 "\n", group->number, group->cgroup_id);
	if (group->cgroup)
		fprintf(out, "cgroup %s\n", group->cgroup);
	if (group->key)
		fprintf(out, "rule %s\n", group->key);
	if (group->limit)
		fputs("limit\n", out);
}

/**
 * groups_save() - write the groups to the file
 * @groups: the groups
 * @why: on failure, what is wrong; KFDLIB_WHY bytes
 *
 * A service that begins at any time finds the old file or the new one.
 *
 * Return: 0 or -errno.
 */
int groups_save(const struct groups *groups, char *why)
{
	char dir[KFDLIB_PATH], temp[KFDLIB_PATH], path[KFDLIB_PATH];
	int fd = -1, ret = 0;
	FILE *out = NULL;
	size_t i;

	path_of(dir, sizeof(dir), "");
	path_of(temp, sizeof(temp), "/groups.new");
	path_of(path, sizeof(path), "/groups");
	/* systemd makes it, with RuntimeDirectory= */
	if (mkdir(dir, 0700) && errno != EEXIST)
		ret = -errno;
	if (!ret)
		fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (!ret && fd >= 0)
		out = fdopen(fd, "w");
	if (!ret && !out) {
		ret = -errno;
		if (fd >= 0)
			close(fd);
	}
	if (!ret) {
		fprintf(out, "kfdpriod groups 1 %" PRIu64 "\n", driver_id());
		for (i = 0; i < groups->nr; i++)
			group_write(out, &groups->all[i]);
		ret = ferror(out) ? -EIO : 0;
		if (fclose(out) || (!ret && rename(temp, path)))
			ret = -errno;
	}
	if (ret)
		snprintf(why, KFDLIB_WHY, "cannot write %.300s: %s", path, strerror(-ret));
	return ret;
}

/* Notes a group of the file, if the driver has it as the file does. */
static void group_take(struct groups *groups, const struct group *group, const struct kfd_prio_share_entry *entries, size_t nr)
{
	const struct kfd_prio_share_entry *entry = share_entry_find(entries, nr, group->number);

	if (!entry || entry->euid != rules_owner || entry->cgroup != group->cgroup_id || group_of_number(groups, group->number))
		return;
	if (group->cgroup_id ? group->cgroup && !group->key : !!group->key)
		group_add(groups, group);
}

/* A line of a group; returns whether it is one. */
static bool line_take(const char *line, struct group *group)
{
	char **text = !strncmp(line, "cgroup /", 8) ? &group->cgroup : !strncmp(line, "rule ", 5) ? &group->key : NULL;

	if (!strcmp(line, "limit")) {
		group->limit = true;
		return true;
	}
	if (!text || *text)
		return false;
	*text = strdup(strchr(line, ' ') + 1);
	return *text;
}

static int lines_read(FILE *file, struct groups *groups, const struct kfd_prio_share_entry *entries, size_t nr)
{
	struct group group = { 0 };
	char *line = NULL, end;
	size_t room = 0;
	uint64_t id;
	ssize_t len;
	int ret = 0;

	if (getline(&line, &room, file) < 0 || sscanf(line, "kfdpriod groups 1 %" SCNu64 "%c", &id, &end) != 2 || end != '\n')
		ret = -EINVAL;
	else if (id != driver_id())
		nr = 0;
	while (!ret && (len = getline(&line, &room, file)) > 0) {
		line[len - 1] = '\0';
		if (!strncmp(line, "group ", 6)) {
			group_take(groups, &group, entries, nr);
			free(group.cgroup);
			free(group.key);
			group = (struct group){ 0 };
			if (sscanf(line, "group %" SCNu64 " %" SCNu64 "%c", &group.number, &group.cgroup_id, &end) != 2)
				ret = -EINVAL;
		} else if (!group.number || !line_take(line, &group)) {
			ret = -EINVAL;
		}
	}
	if (!ret)
		group_take(groups, &group, entries, nr);
	free(group.cgroup);
	free(group.key);
	free(line);
	return ret;
}

/**
 * groups_load() - note the groups that the file has
 * @groups: empty; in, out
 * @entries: all groups of the driver: one that is not among them, has another owner or another cgroup, is ignored
 * @nr: how many
 * @why: on failure, what is wrong; KFDLIB_WHY bytes
 *
 * Return: 0, also if there is no file; or -errno: no group is noted.
 */
int groups_load(struct groups *groups, const struct kfd_prio_share_entry *entries, size_t nr, char *why)
{
	char path[KFDLIB_PATH];
	const char *is = NULL;
	struct stat st;
	FILE *file;
	int fd, ret;

	path_of(path, sizeof(path), "/groups");
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0;
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file || fstat(fd, &st)) {
		ret = -errno;
		snprintf(why, KFDLIB_WHY, "cannot read %.300s: %s; no group is known from before", path, strerror(-ret));
		if (file)
			fclose(file);
		else if (fd >= 0)
			close(fd);
		return ret;
	}
	ret = -EINVAL;
	if (!S_ISREG(st.st_mode) || st.st_size > STATE_MAX)
		is = "is no file of this program";
	else if (st.st_uid != rules_owner || st.st_mode & 022)
		is = "belongs to another user than root, or users other than root may write it";
	else
		ret = lines_read(file, groups, entries, nr);
	if (ret && !is)
		is = "is damaged";
	fclose(file);
	if (!ret)
		return 0;
	groups_free(groups);
	snprintf(why, KFDLIB_WHY, "%.300s %s: it is ignored, and no group is known from before", path, is);
	return ret;
}
