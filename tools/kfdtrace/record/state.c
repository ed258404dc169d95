// SPDX-License-Identifier: GPL-2.0
/*
 * Which queues there are at one moment: events tell only what changes.  KFD's directories in sysfs list the queues; what keeps
 * them off the GPU, and whose priority is which, the list of our driver.  What neither tells stays unknown.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json-out.h"
#include "kfdlib.h"
#include "record.h"
#include "rls.h"

#define KFD_PROC "/sys/class/kfd/kfd/proc"
#define OFF	 (KFD_PRIO_LIST_EVICTED | KFD_PRIO_LIST_PREEMPTED | KFD_PRIO_LIST_PARKED | KFD_PRIO_LIST_THROTTLED)

#define UNKNOWN	 (1U << 31) /* in flags: these are not known */

/**
 * struct state_queue - a queue
 * @pid: its process
 * @gpu_id: its GPU
 * @queue_id: KFD's number in the process
 * @type: as KFD numbers types
 * @pasid: of its process, 0 if the driver does not tell
 */
struct state_queue {
	int32_t pid;
	uint32_t gpu_id, queue_id, type, pasid;
};

/**
 * struct record_state - what there was at one moment
 * @ts: before it was read; CLOCK_MONOTONIC, ns
 * @list: of our driver, array of @nr_list
 * @rls: the runlists of HWS, if @rls_known; not read where there is @list
 * @queues: array of @nr
 */
struct record_state {
	uint64_t ts;
	struct kfd_prio_list_entry *list;
	size_t nr_list;
	bool rls_known;
	struct rls rls;
	struct state_queue *queues;
	size_t nr;
};

static bool number_read(const char *pid, const char *queue, const char *name, uint32_t *number)
{
	char path[1024];
	FILE *file;
	bool got;

	snprintf(path, sizeof(path), KFD_PROC "/%s/queues/%s/%s", pid, queue, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	got = fscanf(file, "%" SCNu32, number) == 1;
	fclose(file);
	return got;
}

static int queue_add(struct record_state *state, const struct state_queue *queue)
{
	struct state_queue *grown;

	if (!(state->nr & (state->nr - 1))) {
		grown = reallocarray(state->queues, state->nr ? 2 * state->nr : 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		state->queues = grown;
	}
	state->queues[state->nr++] = *queue;
	return 0;
}

static uint32_t pasid_read(const char *pid)
{
	uint32_t pasid = 0;
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), KFD_PROC "/%s/pasid", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%" SCNu32, &pasid) != 1)
		pasid = 0;
	fclose(file);
	return pasid;
}

/* A queue that goes meanwhile is left out. */
static int queues_read(struct record_state *state, const char *pid)
{
	uint32_t pasid = state->list ? 0 : pasid_read(pid);
	struct dirent *entry;
	char path[512];
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), KFD_PROC "/%s/queues", pid);
	dir = opendir(path);
	while (dir && !ret && (entry = readdir(dir))) {
		struct state_queue queue = { .pid = atoi(pid), .pasid = pasid,
					     .queue_id = strtoul(entry->d_name, NULL, 10) };

		if (*entry->d_name < '0' || *entry->d_name > '9' ||
		    !number_read(pid, entry->d_name, "gpuid", &queue.gpu_id) ||
		    !number_read(pid, entry->d_name, "type", &queue.type))
			continue;
		ret = queue_add(state, &queue);
	}
	if (dir)
		closedir(dir);
	return ret;
}

static int queue_compare(const void *left, const void *right)
{
	const struct state_queue *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->gpu_id != b->gpu_id)
		return a->gpu_id < b->gpu_id ? -1 : 1;
	return (a->queue_id > b->queue_id) - (a->queue_id < b->queue_id);
}

static int list_read(struct record_state *state)
{
	struct kfd_prio_list_entry *list;
	char why[KFDLIB_WHY];
	size_t nr, i, kept = 0;
	struct kfd_dev dev;
	int ret;

	/* Another driver has no list. */
	if (!record_driver_is_ours() || kfd_dev_open(&dev, why))
		return 0;
	ret = kfd_dev_list(&dev, &list, &nr);
	kfd_dev_close(&dev);
	if (ret)
		return ret == -ENOMEM ? ret : 0;
	/* an orphan once, not for each process that shares its memory */
	for (i = 0; i < nr; i++)
		if (!kfd_entry_again(list, i))
			list[kept++] = list[i];
	state->list = list;
	state->nr_list = kept;
	return 0;
}

/**
 * state_free() - free a state
 * @state: of state_read(), or NULL
 */
void state_free(struct record_state *state)
{
	if (!state)
		return;
	free(state->list);
	rls_free(&state->rls);
	free(state->queues);
	free(state);
}

/**
 * state_read() - which queues there are now
 *
 * Return: the state, to be freed with state_free(); NULL if it cannot be known: KFD is not there, PIDs are those of a container,
 * or there is no memory.
 */
struct record_state *state_read(void)
{
	struct record_state *state;
	struct dirent *entry;
	int ret = 0;
	DIR *dir;

	if (!proc_outer_namespace())
		return NULL;
	dir = opendir(KFD_PROC);
	if (!dir)
		return NULL;
	state = calloc(1, sizeof(*state));
	if (!state) {
		closedir(dir);
		return NULL;
	}
	state->ts = record_now();
	/* first the list: a process that is preempted after it was read has events that tell so */
	ret = list_read(state);
	while (!ret && (entry = readdir(dir)))
		if (*entry->d_name >= '1' && *entry->d_name <= '9')
			ret = queues_read(state, entry->d_name);
	closedir(dir);
	if (!ret && !state->list)
		state->rls_known = rls_read(&state->rls);
	if (ret) {
		state_free(state);
		return NULL;
	}
	if (state->nr)
		qsort(state->queues, state->nr, sizeof(*state->queues), queue_compare);
	return state;
}

/**
 * state_ts() - when a state was read
 * @state: of state_read()
 *
 * Return: ns, CLOCK_MONOTONIC.
 */
uint64_t state_ts(const struct record_state *state)
{
	return state->ts;
}

/**
 * state_preempting() - whether a preemption is under way that was at an earlier state
 * @state: of state_read(), or NULL
 * @before: likewise, the earlier one; NULL: any preemption
 *
 * Return: whether; false if that is not known.
 */
bool state_preempting(const struct record_state *state, const struct record_state *before)
{
	size_t i, j;

	for (i = 0; state && i < state->nr_list; i++) {
		const struct kfd_prio_list_entry *now = &state->list[i];

		if (!(now->flags & KFD_PRIO_LIST_PREEMPTING))
			continue;
		if (!before)
			return true;
		for (j = 0; j < before->nr_list; j++)
			if (before->list[j].pid == now->pid && before->list[j].gpu_id == now->gpu_id &&
			    before->list[j].flags & KFD_PRIO_LIST_PREEMPTING &&
			    before->list[j].preempting_count == now->preempting_count)
				return true;
	}
	return false;
}

/**
 * state_settle() - take a state for that of an earlier moment
 * @state: of state_read(); is changed
 * @before: the state before that moment, or NULL
 * @ts: the moment
 *
 * Whatever has changed between @before and @state is not known at @ts, but for which queues there are: those that were created
 * since have events.
 */
void state_settle(struct record_state *state, const struct record_state *before, uint64_t ts)
{
	size_t i, j;

	state->ts = ts;
	for (i = 0; i < state->nr_list; i++) {
		struct kfd_prio_list_entry *now = &state->list[i];
		bool same = false;

		for (j = 0; before && j < before->nr_list && !same; j++) {
			const struct kfd_prio_list_entry *then = &before->list[j];

			same = then->pid == now->pid && then->gpu_id == now->gpu_id && then->flags == now->flags &&
			       then->nr_active == now->nr_active && then->nr_queues == now->nr_queues &&
			       then->preempted_count == now->preempted_count &&
			       then->preempting_count == now->preempting_count && then->parked_count == now->parked_count &&
			       then->throttled_count == now->throttled_count;
		}
		if (!same)
			now->flags |= UNKNOWN;
	}
}

static const struct kfd_prio_list_entry *entry_of(const struct record_state *state, const struct state_queue *queue)
{
	size_t i;

	for (i = 0; i < state->nr_list; i++)
		if (state->list[i].pid == queue->pid && state->list[i].gpu_id == queue->gpu_id)
			return &state->list[i];
	return NULL;
}

static void flag_or_null(const char *key, const struct kfd_prio_list_entry *entry, uint32_t flag)
{
	if (entry && !(entry->flags & UNKNOWN))
		json_flag(key, entry->flags & flag);
	else
		json_null(key);
}

/* How many queues there are on a GPU: of a process, or, without one, of all */
static uint32_t queues_count(const struct record_state *state, uint32_t gpu_id, int32_t pid)
{
	uint32_t nr = 0;
	size_t i;

	for (i = 0; i < state->nr; i++)
		nr += state->queues[i].gpu_id == gpu_id && (!pid || state->queues[i].pid == pid);
	return nr;
}

static bool has_hws(uint32_t gpu_id)
{
	const struct kfd_gpu *gpu;
	struct kfd_topology topo;
	bool hws;

	if (kfd_topology_read(&topo))
		return false;
	gpu = kfd_topology_find(&topo, gpu_id);
	hws = gpu && kfd_scheduler(gpu, "", NULL) == KFD_SCHEDULER_HWS;
	kfd_topology_free(&topo);
	return hws;
}

/* By the runlist: all queues of the GPU or of the process are in it, or none is; which ones of several it does not tell */
static bool listed(const struct record_state *state, const struct state_queue *queue, bool *mapped)
{
	uint32_t all, own, pasid = queue->pasid;

	if (!state->rls_known || !has_hws(queue->gpu_id))
		return false;
	all = rls_queues(&state->rls, queue->gpu_id, 0);
	*mapped = all;
	if (!all || all == queues_count(state, queue->gpu_id, 0))
		return true;
	own = pasid ? rls_queues(&state->rls, queue->gpu_id, pasid) : 0;
	*mapped = own;
	return own && own == queues_count(state, queue->gpu_id, queue->pid);
}

/* If some of the queues of a process are active, which ones KFD does not tell. */
static void mapped_json(const struct record_state *state, const struct state_queue *queue,
			const struct kfd_prio_list_entry *entry)
{
	bool off = entry && (entry->flags & OFF || !entry->nr_active), mapped;

	if (entry && !(entry->flags & UNKNOWN) && (off || entry->nr_active == entry->nr_queues))
		json_flag("mapped", !off);
	else if (!entry && listed(state, queue, &mapped))
		json_flag("mapped", mapped);
	else
		json_null("mapped");
}

/**
 * state_json() - a state as a member of meta.json
 * @key: its name
 * @state: of state_read(), or NULL, which is not known
 */
void state_json(const char *key, const struct record_state *state)
{
	size_t i, first;

	if (!state) {
		json_null(key);
		return;
	}
	json_open(key, '{');
	json_count("ts_ns", state->ts);
	json_open("processes", '[');
	for (first = 0; first < state->nr; first = i) {
		const struct state_queue *queue = &state->queues[first];
		const struct kfd_prio_list_entry *entry = entry_of(state, queue);

		json_open(NULL, '{');
		json_number("pid", queue->pid);
		json_count("gpu_id", queue->gpu_id);
		if (entry && entry->priority != KFD_PRIO_UNSET)
			json_number("priority", entry->priority);
		else
			json_null("priority");
		flag_or_null("preempting", entry, KFD_PRIO_LIST_PREEMPTING);
		flag_or_null("preempted", entry, KFD_PRIO_LIST_PREEMPTED);
		flag_or_null("parked", entry, KFD_PRIO_LIST_PARKED);
		flag_or_null("throttled", entry, KFD_PRIO_LIST_THROTTLED);
		flag_or_null("evicted", entry, KFD_PRIO_LIST_EVICTED);
		json_open("queues", '[');
		for (i = first; i < state->nr && state->queues[i].pid == queue->pid &&
				state->queues[i].gpu_id == queue->gpu_id; i++) {
			json_open(NULL, '{');
			json_count("queue_id", state->queues[i].queue_id);
			json_count("kfd_type", state->queues[i].type);
			mapped_json(state, queue, entry);
			json_close('}');
		}
		json_close(']');
		json_close('}');
	}
	json_close(']');
	json_close('}');
}
