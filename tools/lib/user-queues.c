// SPDX-License-Identifier: GPL-2.0
/*
 * DRM user queues: which processes have some.
 *
 * KFD has no part in them.  The kernel shows them in debugfs alone, from Linux 6.17 on: DRM has a directory
 * dri/client-ID for each open descriptor of a GPU, and amdgpu one for each user queue in it.  fdinfo has neither their number nor
 * the time that they use.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user-queues.h"

#define PARAMETER "/sys/module/amdgpu/parameters/user_queue"
#define DRI	  "/sys/kernel/debug/dri"

static FILE *file_open(const char *root, const char *dir, const char *file)
{
	char path[KFDLIB_PATH];

	if (snprintf(path, sizeof(path), "%s" DRI "/%s/%s", root, dir, file) >= (int)sizeof(path))
		return NULL;
	return fopen(path, "re");
}

/* The first line alone: the second has the name of the process, which may hold an end of a line and "pid:" */
static pid_t client_pid(const char *root, const char *client)
{
	FILE *file = file_open(root, client, "proc_info");
	pid_t pid = 0;

	if (!file)
		return 0;
	if (fscanf(file, "pid: %d", &pid) != 1 || pid < 0)
		pid = 0;
	fclose(file);
	return pid;
}

/* "../0000:03:00.0" */
static void client_pci(const char *root, const char *client, char *pci, size_t size)
{
	char path[KFDLIB_PATH], to[64];
	const char *name;
	ssize_t len;

	*pci = '\0';
	if (snprintf(path, sizeof(path), "%s" DRI "/%s/device", root, client) >= (int)sizeof(path))
		return;
	len = readlink(path, to, sizeof(to) - 1);
	if (len < 0)
		return;
	to[len] = '\0';
	name = strrchr(to, '/');
	name = name ? name + 1 : to;
	if (strlen(name) < size && !name[strspn(name, "0123456789abcdef:.")])
		strcpy(pci, name);
}

/* A number of amdgpu_drm.h, AMDGPU_HW_IP_*; -1 if the directory is none of a queue */
static int queue_type(const char *root, const char *client, const char *queue)
{
	char dir[2 * NAME_MAX + 2];
	unsigned int type;
	FILE *file;
	int ret;

	/* queue-1, or queue_1 in some releases */
	if (strncmp(queue, "queue", 5) || (queue[5] != '-' && queue[5] != '_'))
		return -1;
	snprintf(dir, sizeof(dir), "%s/%s", client, queue);
	file = file_open(root, dir, "mqd_info");
	if (!file)
		return errno == ENOENT ? -1 : USER_QUEUE_OTHER;
	ret = fscanf(file, "queue_type: %u", &type);
	fclose(file);
	return ret == 1 && type < USER_QUEUE_OTHER ? (int)type : USER_QUEUE_OTHER;
}

static unsigned int queues_count(const char *root, struct user_queue_client *client, const char *name)
{
	char path[KFDLIB_PATH];
	struct dirent *entry;
	int type;
	DIR *dir;

	if (snprintf(path, sizeof(path), "%s" DRI "/%s", root, name) >= (int)sizeof(path))
		return 0;
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		type = queue_type(root, name, entry->d_name);
		if (type < 0)
			continue;
		client->types[type]++;
		client->nr++;
	}
	if (dir)
		closedir(dir);
	return client->nr;
}

/* A process may have a GPU open several times: its queues are added up */
static int client_add(struct user_queues *found, const struct user_queue_client *client)
{
	struct user_queue_client *more;
	size_t i, type;

	for (i = 0; client->pid && i < found->nr; i++) {
		more = &found->clients[i];
		if (more->pid != client->pid || strcmp(more->pci, client->pci))
			continue;
		for (type = 0; type < USER_QUEUE_TYPES; type++)
			more->types[type] += client->types[type];
		more->nr += client->nr;
		return 0;
	}
	more = reallocarray(found->clients, found->nr + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	found->clients = more;
	more[found->nr++] = *client;
	return 0;
}

static bool is_client(const char *name)
{
	return !strncmp(name, "client-", 7) && name[7] && !name[7 + strspn(name + 7, "0123456789")];
}

/* Has a device of DRM a client? dri/DEVICE/clients has a line for each, after its title */
static bool device_used(const char *root, const char *device)
{
	FILE *file = file_open(root, device, "clients");
	unsigned int lines = 0;
	int c;

	while (file && (c = getc(file)) != EOF)
		lines += c == '\n';
	if (file)
		fclose(file);
	return lines > 1;
}

static int clients_read(const char *root, DIR *dir, struct user_queues *found, char *why)
{
	bool directories = false, used = false;
	struct dirent *entry;
	int ret = 0;

	while (!ret && (entry = readdir(dir))) {
		struct user_queue_client client = { 0 };

		if (!is_client(entry->d_name)) {
			used |= *entry->d_name != '.' && device_used(root, entry->d_name);
			continue;
		}
		directories = true;
		if (!queues_count(root, &client, entry->d_name))
			continue;
		client.pid = client_pid(root, entry->d_name);
		client_pci(root, entry->d_name, client.pci, sizeof(client.pci));
		ret = client_add(found, &client);
	}
	if (ret)
		snprintf(why, KFDLIB_WHY, "out of memory");
	else if (used && !directories) {
		snprintf(why, KFDLIB_WHY, "debugfs of this kernel has no directory for each DRM client, as Linux has from 6.17 on");
		ret = -EOPNOTSUPP;
	}
	return ret;
}

static int by_pid(const void *a, const void *b)
{
	const struct user_queue_client *one = a, *two = b;

	if (one->pid != two->pid)
		return one->pid < two->pid ? -1 : 1;
	return strcmp(one->pci, two->pci);
}

static bool parameter_read(const char *root, int *parameter)
{
	char path[KFDLIB_PATH];
	bool has;
	FILE *file;

	*parameter = 0;
	if (snprintf(path, sizeof(path), "%s" PARAMETER, root) >= (int)sizeof(path))
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	has = fscanf(file, "%d", parameter) == 1;
	fclose(file);
	return has;
}

/**
 * user_queues_read() - which processes have DRM user queues
 * @root: put before the paths, "" but for tests
 * @found: out: in the order of PIDs; to be freed with user_queues_free(), whatever is returned
 * @why: if that is not known, why; KFDLIB_WHY bytes
 *
 * Return: 0; -ENODEV if the loaded amdgpu has no user queues at all; else -errno: that is not known.
 */
int user_queues_read(const char *root, struct user_queues *found, char *why)
{
	char path[KFDLIB_PATH];
	DIR *dir;
	int ret;

	*found = (struct user_queues){ 0 };
	if (!parameter_read(root, &found->parameter))
		return -ENODEV;
	if (snprintf(path, sizeof(path), "%s" DRI, root) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	dir = opendir(path);
	if (!dir) {
		ret = -errno;
		if (ret == -EACCES)
			snprintf(why, KFDLIB_WHY, "only root may read " DRI ": run this as root");
		else if (ret == -ENOENT)
			snprintf(why, KFDLIB_WHY, "there is no " DRI ": as root, run 'mount -t debugfs debugfs /sys/kernel/debug'");
		else
			snprintf(why, KFDLIB_WHY, "cannot read " DRI ": %s", strerror(-ret));
		return ret;
	}
	ret = clients_read(root, dir, found, why);
	closedir(dir);
	if (found->nr)
		qsort(found->clients, found->nr, sizeof(*found->clients), by_pid);
	return ret;
}

/**
 * user_queues_free() - free what was found
 * @found: of user_queues_read()
 */
void user_queues_free(struct user_queues *found)
{
	free(found->clients);
	*found = (struct user_queues){ 0 };
}

/**
 * user_queues_text() - a process's user queues, for a message
 * @client: the process, on a GPU
 * @text: out: "3 DRM user queues (2 compute, 1 SDMA) on 0000:03:00.0"
 * @size: bytes of @text
 */
void user_queues_text(const struct user_queue_client *client, char *text, size_t size)
{
	static const char *const names[USER_QUEUE_TYPES] = { "graphics", "compute", "SDMA", "of another type" };
	char types[128] = "";
	size_t len = 0, i;

	for (i = 0; i < USER_QUEUE_TYPES; i++)
		if (client->types[i] && len < sizeof(types))
			len += snprintf(types + len, sizeof(types) - len, "%s%u %s", len ? ", " : "", client->types[i], names[i]);
	snprintf(text, size, "%u DRM user queue%s (%s)%s%s", client->nr, client->nr == 1 ? "" : "s", types,
		 *client->pci ? " on " : "", client->pci);
}
