// SPDX-License-Identifier: GPL-2.0
/*
 * Containers: the names of pods and containers, from the files that their runtimes have written.
 *
 * A client of CRI would ask for the same over gRPC.  The files need none, and are there while the container runs.
 *
 * An annotation counts only where its writer is the runtime.  An author of a pod may choose annotations, the author of an
 * image labels, and some of them reach the same file; the runtimes write their own last:
 * - containerd, with which a kubelet works, sets io.kubernetes.cri.* after it has copied annotations of the pod;
 * - CRI-O sets the labels of the container last, which are the kubelet's.  Only those of the sandbox have labels of the
 *   pod among them, and the name of a container is none of the kubelet's labels there.
 * Docker and podman take any annotation and any label over.  Of their containers only the name is read.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "container.h"
#include "input.h"
#include "oci-json.h"
#include "rules.h"

#define CHILDREN_MAX 64 /* containers of a pod whose records are read for its name */

/* Where the records are, unless the configuration of the runtime has another place */
#define CONTAINERD "/run/containerd/io.containerd.runtime.v2.task/k8s.io/%s/config.json"
#define CRIO	   "/run/containers/storage/overlay-containers/%s/userdata/config.json"
#define DOCKER	   "/var/lib/docker/containers/%s/config.v2.json"
#define PODMAN	   "/var/lib/containers/storage/overlay-containers"

/**
 * struct keys - where a runtime for kubelets has names: its record, with the ID for %s, and annotations in it
 * @record: path of the file
 * @pod: name of the pod
 * @namespace: of the pod
 * @uid: of the pod
 * @container: name of the container
 * @type: "sandbox" if it is the container that holds the namespaces of the pod
 */
struct keys {
	const char *record, *pod, *namespace, *uid, *container, *type;
};

static const struct keys containerd_keys = {
	.record = CONTAINERD,
	.pod = "io.kubernetes.cri.sandbox-name",
	.namespace = "io.kubernetes.cri.sandbox-namespace",
	.uid = "io.kubernetes.cri.sandbox-uid", /* since containerd 1.7 */
	.container = "io.kubernetes.cri.container-name",
	.type = "io.kubernetes.cri.container-type",
};

static const struct keys crio_keys = {
	.record = CRIO,
	.pod = "io.kubernetes.pod.name",
	.namespace = "io.kubernetes.pod.namespace",
	.uid = "io.kubernetes.pod.uid",
	.container = "io.kubernetes.container.name",
	.type = "io.kubernetes.cri-o.ContainerType",
};

/* A document that only root may have written; NULL: there is none, or it is not for us. */
static struct json_object *file_read(const char *path, enum json_type type)
{
	struct json_object *document = NULL;
	char why[KFDLIB_WHY], *text = NULL;
	int fd = input_open(path);
	struct stat st;
	size_t size;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && st.st_uid == rules_owner && !(st.st_mode & 022) && !input_read(fd, OCI_JSON_MAX, &text, &size))
		document = oci_json_parse(text, size, type, path, why);
	free(text);
	close(fd);
	return document;
}

/* @record: with %s in the place of the ID */
static struct json_object *record_read(const char *record, const char *id)
{
	const char *rest = strstr(record, "%s");
	char path[KFDLIB_PATH];

	snprintf(path, sizeof(path), "%s%.*s%s%s", kfd_system_root, (int)(rest - record), record, id, rest + strlen("%s"));
	return file_read(path, json_type_object);
}

/* What is no text, or longer than a name, is as if it were not there: a part of a name would be another name. */
static void text_take(char *name, struct json_object *value)
{
	size_t len = json_object_is_type(value, json_type_string) ? json_object_get_string_len(value) : 0;

	if (len < CONTAINER_NAME && len && strlen(json_object_get_string(value)) == len)
		memcpy(name, json_object_get_string(value), len + 1);
}

static void member_take(char *name, struct json_object *object, const char *key)
{
	struct json_object *value;

	if (json_object_object_get_ex(object, key, &value))
		text_take(name, value);
}

/* Whether the record is there, and of a container of this pod */
static bool kubelet_names(const struct keys *keys, struct container *container)
{
	struct json_object *record = record_read(keys->record, container->place.id), *annotations;
	char uid[CONTAINER_NAME] = "", type[CONTAINER_NAME] = "";
	bool valid = record && json_object_object_get_ex(record, "annotations", &annotations) &&
		     json_object_is_type(annotations, json_type_object);

	if (valid) {
		member_take(uid, annotations, keys->uid);
		valid = !*uid || !*container->place.pod_uid || !strcmp(uid, container->place.pod_uid);
	}
	if (valid) {
		member_take(container->pod, annotations, keys->pod);
		member_take(container->namespace, annotations, keys->namespace);
		member_take(type, annotations, keys->type);
		if (strcmp(type, "sandbox"))
			member_take(container->container, annotations, keys->container);
	}
	json_object_put(record);
	return valid;
}

/* Docker has / before the name. */
static void docker_name(struct container *container)
{
	struct json_object *record = record_read(DOCKER, container->place.id);
	char *name = container->container;

	if (record)
		member_take(name, record, "Name");
	if (*name == '/')
		memmove(name, name + 1, strlen(name));
	json_object_put(record);
}

/* podman's storage has a file with all containers, and one with those of podman run --rm. */
static void podman_name(struct container *container)
{
	static const char *const files[] = { "containers.json", "volatile-containers.json" };
	char path[KFDLIB_PATH], id[CONTAINER_NAME];
	struct json_object *list, *entry, *names;
	size_t i, j;

	for (i = 0; i < sizeof(files) / sizeof(*files) && !*container->container; i++) {
		snprintf(path, sizeof(path), "%s" PODMAN "/%s", kfd_system_root, files[i]);
		list = file_read(path, json_type_array);
		for (j = 0; list && j < json_object_array_length(list); j++) {
			entry = json_object_array_get_idx(list, j);
			*id = '\0';
			if (!json_object_is_type(entry, json_type_object))
				continue;
			member_take(id, entry, "id");
			if (!strcmp(id, container->place.id) && json_object_object_get_ex(entry, "names", &names) &&
			    json_object_is_type(names, json_type_array) && json_object_array_length(names))
				text_take(container->container, json_object_array_get_idx(names, 0));
		}
		json_object_put(list);
	}
}

/* The cgroup of a pod: any container in it has the names of the pod. */
static void pod_names(const char *cgroup, struct container *container)
{
	struct container in = { .place.length = 0 };
	char path[KFDLIB_PATH + 256];
	struct dirent *entry;
	DIR *dir = NULL;
	int fd, i;

	snprintf(path, sizeof(path), "%.*s", (int)container->place.length, cgroup);
	fd = cgroup_open(path);
	if (fd >= 0)
		dir = fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (i = 0; i < CHILDREN_MAX && !*container->pod && (entry = readdir(dir));) {
		snprintf(path, sizeof(path), "%.*s/%s", (int)container->place.length, cgroup, entry->d_name);
		if (!container_parse(path, &in.place) || !*in.place.id)
			continue;
		i++;
		container_names(path, &in);
		memcpy(container->pod, in.pod, sizeof(in.pod));
		memcpy(container->namespace, in.namespace, sizeof(in.namespace));
	}
	closedir(dir);
}

/**
 * container_names() - what the runtime of a container has recorded
 * @cgroup: path of its cgroup, or of one below; only root can have made the container's
 * @container: with its place; the names that are known are filled in, the others are empty
 *
 * Where the caller may not read the records, or the runtime keeps them in another place, there is none.
 */
void container_names(const char *cgroup, struct container *container)
{
	*container->pod = *container->namespace = *container->container = '\0';
	if (!*container->place.id) {
		pod_names(cgroup, container);
		return;
	}
	switch (container->place.runtime) {
	case CONTAINER_CONTAINERD:
		kubelet_names(&containerd_keys, container);
		break;
	case CONTAINER_CRIO:
		kubelet_names(&crio_keys, container);
		break;
	case CONTAINER_UNKNOWN:
		/* both have no prefix with cgroupfs, and each has IDs of its own */
		if (!kubelet_names(&containerd_keys, container))
			docker_name(container);
		break;
	case CONTAINER_DOCKER:
		docker_name(container);
		break;
	case CONTAINER_PODMAN:
		podman_name(container);
		break;
	case CONTAINER_NERDCTL:
		break;
	}
}
