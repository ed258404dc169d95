// SPDX-License-Identifier: GPL-2.0
/* Containers: those that processes and groups belong to. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "container.h"
#include "rules.h"

#define KNOWN_MAX 4096 /* that are kept; a program that runs for days sees any number */

/**
 * struct container_known - a cgroup that was looked up
 * @cgroup: its path, up to the end of the container's
 * @container: what it is
 */
struct container_known {
	char *cgroup;
	struct container container;
};

/*
 * Has only root been able to make the cgroup?  A user whom systemd has given a cgroup gives those below it any names.  So
 * has root of a user namespace in a container.
 */
static bool is_made_by_root(const char *cgroup, size_t length)
{
	char above[KFDLIB_PATH];
	struct stat st;
	uint64_t id;
	bool made;
	int fd;

	if (length >= sizeof(above))
		return false;
	memcpy(above, cgroup, length);
	above[length] = '\0';
	*strrchr(above, '/') = '\0';
	fd = cgroup_name_open(above, &id);
	if (fd < 0)
		return false;
	made = !fstat(fd, &st) && st.st_uid == rules_owner && !(st.st_mode & 022);
	close(fd);
	return made;
}

static const struct container *known_find(const struct containers *known, const char *cgroup, size_t length)
{
	size_t i;

	for (i = 0; i < known->nr; i++)
		if (known->all[i].container.place.length == length && !strncmp(known->all[i].cgroup, cgroup, length))
			return &known->all[i].container;
	return NULL;
}

/* Without memory it is read again the next time. */
static void known_add(struct containers *known, const char *cgroup, const struct container *container)
{
	struct container_known *more;
	char *copy;

	if (known->nr == KNOWN_MAX)
		containers_free(known);
	copy = strndup(cgroup, container->place.length);
	more = copy ? reallocarray(known->all, known->nr + 1, sizeof(*more)) : NULL;
	if (!more) {
		free(copy);
		return;
	}
	known->all = more;
	known->all[known->nr++] = (struct container_known){ .cgroup = copy, .container = *container };
}

/**
 * container_find() - the container, or the pod, that a cgroup belongs to
 * @known: those that were looked up before
 * @cgroup: its path in the hierarchy
 * @container: out; empty if there is none
 *
 * Names are those that the runtime has recorded, which only root may read.  Of a cgroup that a user other than root
 * may have made there is no container, as of one that is outside of the caller's cgroup namespace.
 *
 * Return: whether there is one.
 */
bool container_find(struct containers *known, const char *cgroup, struct container *container)
{
	const struct container *found;

	*container = (struct container){ .place.length = 0 };
	if (!container_parse(cgroup, &container->place))
		return false;
	found = known_find(known, cgroup, container->place.length);
	if (found) {
		*container = *found;
		return true;
	}
	if (!is_made_by_root(cgroup, container->place.length)) {
		*container = (struct container){ .place.length = 0 };
		return false;
	}
	container_names(cgroup, container);
	known_add(known, cgroup, container);
	return true;
}

/**
 * container_of() - the container that a process is in
 * @known: those that were looked up before
 * @pid: PID in the caller's PID namespace
 * @container: out; empty if there is none
 *
 * Return: whether there is one.
 */
bool container_of(struct containers *known, pid_t pid, struct container *container)
{
	char cgroup[KFDLIB_PATH];

	*container = (struct container){ .place.length = 0 };
	return !cgroup_of(pid, cgroup, sizeof(cgroup)) && container_find(known, cgroup, container);
}

/**
 * containers_free() - forget those that were looked up
 * @known: empty afterwards
 */
void containers_free(struct containers *known)
{
	while (known->nr)
		free(known->all[--known->nr].cgroup);
	free(known->all);
	known->all = NULL;
}
