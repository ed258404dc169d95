/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Containers: what the path of a cgroup shows of one, and the names that its runtime has recorded.
 *
 * All of it is hostile text: users name pods and containers, and cgroups below their own.
 */
#ifndef CONTAINER_H
#define CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "list.h"

#define CONTAINER_ID	  64  /* hexadecimal digits of an ID */
#define CONTAINER_POD_UID 36  /* bytes of the UID of a pod at most */
#define CONTAINER_NAME	  256 /* bytes of a name, with the byte 0 at its end; a longer one is not known */

/* The program that made the cgroup of a container. */
enum container_runtime {
	CONTAINER_UNKNOWN, /* the cgroup has the ID for its name: containerd or Docker, without systemd */
	CONTAINER_CONTAINERD, /* for a kubelet */
	CONTAINER_CRIO,
	CONTAINER_DOCKER,
	CONTAINER_PODMAN,
	CONTAINER_NERDCTL,
};

/**
 * struct container_place - what the path of a cgroup shows
 * @runtime: of the container
 * @id: of the container; "": the cgroup is that of a pod, and of none of its containers
 * @pod_uid: UID of its pod in Kubernetes; "": it is in none
 * @length: bytes of the path to the end of the container's cgroup, or of the pod's
 */
struct container_place {
	enum container_runtime runtime;
	char id[CONTAINER_ID + 1];
	char pod_uid[CONTAINER_POD_UID + 1];
	size_t length;
};

/**
 * struct container - a container, or a pod
 * @place: its cgroup; if its @length is 0, there is no container
 * @pod: name of its pod, raw; "": not known, or in none
 * @namespace: of the pod, raw; likewise
 * @container: name of the container, raw; likewise
 */
struct container {
	struct container_place place;
	char pod[CONTAINER_NAME], namespace[CONTAINER_NAME], container[CONTAINER_NAME];
};

/**
 * struct containers - those that were looked up, so that none is read again
 * @all: array of @nr, with their cgroups
 * @nr: how many
 */
struct containers {
	struct container_known *all;
	size_t nr;
};

/* Columns of lists, which have them in this order */
enum container_column {
	CONTAINER_COLUMN_POD,
	CONTAINER_COLUMN_NAMESPACE,
	CONTAINER_COLUMN_CONTAINER,
	CONTAINER_COLUMN_ID,
	CONTAINER_COLUMN_POD_UID,
	NR_CONTAINER_COLUMNS
};

#define CONTAINER_COLUMNS(first)                                                                               \
	[(first) + CONTAINER_COLUMN_POD] = { "POD", "pod", LIST_WORD, LIST_WIDE },                             \
	[(first) + CONTAINER_COLUMN_NAMESPACE] = { "NAMESPACE", "namespace", LIST_WORD, LIST_WIDE },           \
	[(first) + CONTAINER_COLUMN_CONTAINER] = { "CONTAINER", "container", LIST_WORD, LIST_WIDE },           \
	[(first) + CONTAINER_COLUMN_ID] = { "CONTAINER-ID", "container_id", LIST_WORD, LIST_WIDE },            \
	[(first) + CONTAINER_COLUMN_POD_UID] = { "POD-UID", "pod_uid", LIST_WORD, LIST_WIDE }

/* container.c */
bool container_parse(const char *cgroup, struct container_place *place);

/* container-find.c */
bool container_find(struct containers *known, const char *cgroup, struct container *container);
bool container_of(struct containers *known, pid_t pid, struct container *container);
void containers_free(struct containers *known);

/* container-names.c */
void container_names(const char *cgroup, struct container *container);

/* container-cell.c */
void container_cell(const struct container *container, enum container_column column, bool table, struct list_value *value);
void container_columns_show(const struct container *container, struct list_column *columns, unsigned int first);

#endif /* CONTAINER_H */
