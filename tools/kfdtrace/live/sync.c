// SPDX-License-Identifier: GPL-2.0
/*
 * The state before the first event, and after lost events: queues are read from KFD's
 * directories, preempted processes from the driver's list.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "live.h"

#define KFD_PROC "/sys/class/kfd/kfd/proc"
#define OFF	 (KFD_PRIO_LIST_EVICTED | KFD_PRIO_LIST_PREEMPTED | KFD_PRIO_LIST_PARKED | KFD_PRIO_LIST_THROTTLED)

static bool queue_on_gpu(pid_t pid, const char *queue, uint32_t gpu_id)
{
	unsigned int found = 0;
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), KFD_PROC "/%d/queues/%s/gpuid", pid, queue);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fscanf(file, "%u", &found) != 1)
		found = 0;
	fclose(file);
	return found == gpu_id;
}

/* Each queue is mapped first, as it was, then off if it is: so the model knows why. */
static int process_sync(struct live *live, const struct kfd_prio_list_entry *entry, uint64_t ts)
{
	bool on = entry->nr_active || (entry->flags & OFF);
	struct dirent *queue;
	char path[64];
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), KFD_PROC "/%d/queues", entry->pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while (!ret && (queue = readdir(dir))) {
		unsigned int id;

		if (sscanf(queue->d_name, "%u", &id) != 1 ||
		    !queue_on_gpu(entry->pid, queue->d_name, entry->gpu_id))
			continue;
		ret = model_sync_queue(&live->model, entry->gpu_id, entry->pid, id, on, ts);
		if (!ret && (entry->flags & OFF))
			ret = model_sync_queue(&live->model, entry->gpu_id, entry->pid, id, false,
					       ts);
	}
	closedir(dir);
	return ret;
}

/**
 * live_sync() - bring the model to what is there now
 * @live: its list is of now
 * @ts: now, and not before the last event
 *
 * Which of the queues of a process are mapped is not known if not all of them are active: all
 * are taken for it until the next runlist.
 *
 * Return: 0 or -ENOMEM.
 */
int live_sync(struct live *live, uint64_t ts)
{
	const struct kfd_prio_list_entry *entry;
	int ret = 0;
	size_t i;

	model_sync_off(&live->model, ts);
	for (i = 0; i < live->nr_list && !ret; i++) {
		struct model_state state;

		entry = &live->list[i];
		if (!entry->gpu_id)
			continue;
		state = (struct model_state){ .prio = entry->priority,
					      .preempting = entry->flags & KFD_PRIO_LIST_PREEMPTING,
					      .evicted = entry->flags & KFD_PRIO_LIST_EVICTED,
					      .parked = entry->flags & KFD_PRIO_LIST_PARKED,
					      .throttled = entry->flags & KFD_PRIO_LIST_THROTTLED };
		ret = model_sync_process(&live->model, entry->gpu_id, entry->pid, &state, ts);
	}
	for (i = 0; i < live->nr_list && !ret; i++)
		if (live->list[i].gpu_id)
			ret = process_sync(live, &live->list[i], ts);
	return ret;
}
