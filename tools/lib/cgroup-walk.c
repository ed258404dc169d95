// SPDX-License-Identifier: GPL-2.0
/*
 * Cgroups: all processes of one, and of those below it.
 *
 * A path that is longer than PATH_MAX can be reached only one directory after the other, and there may
 * be more of them than a process may have descriptors: one is open at a time.  Their names come back by
 * "..", which must be the directory that was left.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"

#define SHOWN	  96	 /* bytes of each end of a path in a message */
#define VISIT_MAX 100000 /* cgroups that a search by number visits; a user may make any number of them */

/**
 * struct level - a cgroup that is being walked through
 * @names: of the cgroups in it, array of @nr
 * @nr: how many
 * @next: the next one of them; the one before it is the one that the walk is in
 * @dev: of the directory
 * @ino: of the directory
 */
struct level {
	char **names;
	size_t nr, next;
	dev_t dev;
	ino_t ino;
};

/**
 * struct walk - a walk
 * @levels: from the top to where it is, array of @nr
 * @nr: how many
 * @room: of @levels
 * @fd: the directory that it is in
 * @top: path of the top
 * @each: called for each process; NULL: the walk searches for @ids
 * @context: for @each
 * @ids: cgroups that are searched for, array of @nr_ids
 * @nr_ids: how many
 * @nr_left: how many of them were not found yet
 * @nr_visited: cgroups that were visited
 * @failed: cgroups that could not be read
 * @why: about the first of them
 */
struct walk {
	struct level *levels;
	size_t nr, room;
	int fd;
	const char *top;
	cgroup_each_fn each;
	void *context;
	struct cgroup_id *ids;
	size_t nr_ids, nr_left, nr_visited;
	size_t failed;
	char *why;
};

/* The path of the directory that the walk is in, and of @name in it; NULL without memory. */
static char *walk_path(const struct walk *walk, const char *name)
{
	char *text = NULL;
	size_t size, i;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	fputs(walk->top, file);
	for (i = 0; i + 1 < walk->nr; i++)
		fprintf(file, "/%s", walk->levels[i].names[walk->levels[i].next - 1]);
	if (name)
		fprintf(file, "/%s", name);
	return fclose(file) ? NULL : text;
}

/* @name: of a cgroup in the directory, or NULL: itself */
static void walk_fail(struct walk *walk, const char *name, int err)
{
	char *path, *shown;
	size_t len;

	if (walk->failed++)
		return;
	path = walk_path(walk, name);
	shown = path ? text_printable(*path ? path : "/") : NULL;
	len = shown ? strlen(shown) : 0;
	if (len > 2 * SHOWN)
		snprintf(walk->why, KFDLIB_WHY, "cannot read the cgroup '%.*s...%s' (%zu bytes): %s", SHOWN, shown,
			 shown + len - SHOWN, strlen(path), strerror(err));
	else
		snprintf(walk->why, KFDLIB_WHY, "cannot read the cgroup '%s': %s", shown ? shown : "", strerror(err));
	free(shown);
	free(path);
}

static void level_free(struct level *level)
{
	while (level->nr)
		free(level->names[--level->nr]);
	free(level->names);
}

/* 0, or -errno if the names could not be read: those that were are in @level. */
static int level_read(struct level *level, int fd)
{
	struct dirent *entry;
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret = 0;
	size_t room = 0;
	char **more;
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);

	if (!dir) {
		ret = -errno;
		if (copy >= 0)
			close(copy);
		return ret;
	}
	while (errno = 0, (entry = readdir(dir))) {
		if ((entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) || !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (level->nr == room) {
			room = room ? 2 * room : 16;
			more = reallocarray(level->names, room, sizeof(*more));
			if (!more)
				break;
			level->names = more;
		}
		level->names[level->nr] = strdup(entry->d_name);
		if (!level->names[level->nr])
			break;
		level->nr++;
	}
	ret = -errno;
	closedir(dir);
	return ret;
}

/* A cgroup that is gone has no processes; those of a threaded one are listed further up. */
static bool is_empty(int err, bool top)
{
	return err == ENOENT || err == ENODEV || (err == EOPNOTSUPP && !top);
}

static FILE *procs_open(int dir)
{
	int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (!file && fd >= 0)
		close(fd);
	return file;
}

static void procs_read(struct walk *walk)
{
	FILE *file = procs_open(walk->fd);
	bool top = walk->nr == 1;
	pid_t pid;

	if (!file) {
		if (!is_empty(errno, top))
			walk_fail(walk, NULL, errno);
		return;
	}
	while (errno = 0, fscanf(file, "%d", &pid) == 1)
		walk->each(walk->context, pid, walk->fd);
	if (ferror(file) && !is_empty(errno, top))
		walk_fail(walk, NULL, errno ? errno : EIO);
	fclose(file);
}

/* Is the directory that the walk is in one of those that are searched for? */
static void id_match(struct walk *walk, uint64_t id)
{
	size_t i;

	walk->nr_visited++;
	for (i = 0; i < walk->nr_ids; i++) {
		if (walk->ids[i].id != id || walk->ids[i].path)
			continue;
		walk->ids[i].path = walk->nr == 1 ? strdup("/") : walk_path(walk, NULL);
		walk->nr_left--;
	}
}

/* Goes on in @fd; takes it. */
static int walk_enter(struct walk *walk, int fd)
{
	struct level *more;
	struct stat st;
	int ret;

	if (walk->nr == walk->room) {
		walk->room = walk->room ? 2 * walk->room : 16;
		more = reallocarray(walk->levels, walk->room, sizeof(*more));
		if (!more) {
			close(fd);
			return -ENOMEM;
		}
		walk->levels = more;
	}
	if (fstat(fd, &st)) {
		ret = -errno;
		close(fd);
		return ret;
	}
	if (walk->fd >= 0)
		close(walk->fd);
	walk->fd = fd;
	walk->levels[walk->nr++] = (struct level){ .dev = st.st_dev, .ino = st.st_ino };
	if (walk->each)
		procs_read(walk);
	else
		id_match(walk, st.st_ino);
	ret = level_read(&walk->levels[walk->nr - 1], fd);
	if (ret && !is_empty(-ret, false))
		walk_fail(walk, NULL, -ret);
	return 0;
}

static int walk_leave(struct walk *walk)
{
	struct level *above;
	struct stat st;
	int fd;

	level_free(&walk->levels[--walk->nr]);
	if (!walk->nr)
		return 0;
	above = &walk->levels[walk->nr - 1];
	fd = openat(walk->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(walk->fd);
	walk->fd = fd;
	if (fstat(fd, &st))
		return -errno;
	return st.st_dev == above->dev && st.st_ino == above->ino ? 0 : -ESTALE;
}

/* From @fd, which is taken, down to its end, or until nothing is left to be found.  Frees the levels. */
static int walk_all(struct walk *walk, int fd)
{
	int ret = walk_enter(walk, fd);

	while (!ret && walk->nr && (walk->each || (walk->nr_left && walk->nr_visited < VISIT_MAX))) {
		struct level *level = &walk->levels[walk->nr - 1];
		const char *name;

		if (level->next == level->nr) {
			ret = walk_leave(walk);
			continue;
		}
		name = level->names[level->next++];
		fd = openat(walk->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0)
			ret = walk_enter(walk, fd);
		else if (errno != ENOENT && errno != ENODEV && errno != ENOTDIR)
			walk_fail(walk, name, errno);
	}
	if (ret)
		walk_fail(walk, NULL, -ret);
	while (walk->nr)
		level_free(&walk->levels[--walk->nr]);
	free(walk->levels);
	if (walk->fd >= 0)
		close(walk->fd);
	return ret;
}

/**
 * cgroup_pids() - the processes of a cgroup and of all cgroups below it
 * @path: of cgroup_check()
 * @each: called for each
 * @context: for @each
 * @why: what is wrong, if anything is; KFDLIB_WHY bytes
 *
 * Goes on after a cgroup that cannot be read.  A cgroup that is gone has no processes.
 *
 * Return: 0, or -errno: of the top, of a walk that could not go on, or -EIO: some could not be read.
 */
int cgroup_pids(const char *path, cgroup_each_fn each, void *context, char *why)
{
	struct walk walk = { .fd = -1, .top = path, .each = each, .context = context, .why = why };
	int fd = cgroup_open(path), ret;

	if (fd == -ENOENT)
		return 0;
	if (fd < 0) {
		walk_fail(&walk, NULL, -fd);
		return fd;
	}
	ret = walk_all(&walk, fd);
	return ret ? ret : walk.failed ? -EIO : 0;
}

/**
 * cgroup_find() - the paths of cgroups that are known by their numbers
 * @ids: array of @nr; their paths are set
 * @nr: how many
 *
 * A cgroup that is above the root of the caller's cgroup namespace, or that the caller may not read, is not found.
 */
void cgroup_find(struct cgroup_id *ids, size_t nr)
{
	char why[KFDLIB_WHY];
	struct walk walk = { .fd = -1, .top = "", .ids = ids, .nr_ids = nr, .nr_left = nr, .why = why };
	size_t i;
	int fd;

	for (i = 0; i < nr; i++)
		ids[i].path = NULL;
	fd = nr ? cgroup_open("") : -1;
	if (fd < 0)
		return;
	/* of another hierarchy the same number is another cgroup */
	if (cgroup_is_v2(fd))
		walk_all(&walk, fd);
	else
		close(fd);
}

/**
 * cgroup_has() - is a process in a cgroup?
 * @dir: descriptor of the cgroup
 * @pid: PID in the caller's PID namespace
 *
 * Return: whether it is.
 */
bool cgroup_has(int dir, pid_t pid)
{
	FILE *file = procs_open(dir);
	bool found = false;
	pid_t listed;

	while (file && !found && fscanf(file, "%d", &listed) == 1)
		found = listed == pid;
	if (file)
		fclose(file);
	return found;
}
