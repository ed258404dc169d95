// SPDX-License-Identifier: GPL-2.0
/* kfdprio -l: processes with DRM user queues.  KFD does not know them, so they have no row of the table. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "json-out.h"
#include "message.h"
#include "queues.h"

/**
 * list_queues_read() - look for them
 * @queues: filled in; to be freed with list_queues_free()
 */
void list_queues_read(struct list_queues *queues)
{
	*queues->why = '\0';
	queues->ret = user_queues_read(kfd_system_root, &queues->found, queues->why);
}

/* Its name, if its PID is one that /proc here shows, and if it has not ended */
static bool name_read(pid_t pid, struct proc_info *info)
{
	return pid && proc_outer_namespace() && !proc_read(pid, info);
}

static void client_json(const struct user_queue_client *client, const struct kfd_topology *topo)
{
	unsigned int gpu_id = 0;
	struct proc_info info;
	size_t i;

	for (i = 0; *client->pci && i < topo->nr; i++)
		if (!strcmp(topo->gpus[i].pci, client->pci))
			gpu_id = topo->gpus[i].gpu_id;
	json_open(NULL, '{');
	json_known_number("pid", client->pid, client->pid);
	json_known_count("gpu_id", gpu_id, gpu_id);
	if (*client->pci)
		json_text("pci", client->pci);
	else
		json_null("pci");
	json_count("queue_count", client->nr);
	json_count("compute_queue_count", client->types[USER_QUEUE_COMPUTE]);
	json_count("graphics_queue_count", client->types[USER_QUEUE_GRAPHICS]);
	json_count("sdma_queue_count", client->types[USER_QUEUE_SDMA]);
	if (name_read(client->pid, &info))
		json_text("command", info.comm);
	else
		json_null("command");
	json_close('}');
}

/**
 * list_queues_json() - a member of the document: null if that is not known, absent if amdgpu has no user queues
 * @queues: of list_queues_read()
 * @topo: the GPUs
 */
void list_queues_json(const struct list_queues *queues, const struct kfd_topology *topo)
{
	size_t i;

	if (queues->ret == -ENODEV)
		return;
	if (queues->ret) {
		json_null("user_queue_processes");
		return;
	}
	json_open("user_queue_processes", '[');
	for (i = 0; i < queues->found.nr; i++)
		client_json(&queues->found.clients[i], topo);
	json_close(']');
}

/**
 * list_queues_note() - on standard error, a line for each process
 * @queues: of list_queues_read()
 */
void list_queues_note(const struct list_queues *queues)
{
	char text[256], who[KFDLIB_NAME + 32];
	struct proc_info info;
	size_t i;

	if (queues->ret == -ENODEV)
		return;
	if (queues->ret && queues->found.parameter > 0)
		warnx("which processes have DRM user queues is unknown (user_queue=%d): %s", queues->found.parameter, queues->why);
	for (i = 0; !queues->ret && i < queues->found.nr; i++) {
		const struct user_queue_client *client = &queues->found.clients[i];

		user_queues_text(client, text, sizeof(text));
		if (name_read(client->pid, &info))
			snprintf(who, sizeof(who), "PID %d (%s)", client->pid, info.comm);
		else if (client->pid)
			snprintf(who, sizeof(who), "PID %d", client->pid);
		else
			snprintf(who, sizeof(who), "a process that cannot be named");
		warnx("%s: %s: outside KFD, so without priority and preemption", who, text);
	}
}

/**
 * list_queues_free() - free what was found
 * @queues: of list_queues_read()
 */
void list_queues_free(struct list_queues *queues)
{
	user_queues_free(&queues->found);
}
