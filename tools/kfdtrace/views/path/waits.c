// SPDX-License-Identifier: GPL-2.0
/*
 * How long queues waited because their processes were throttled.
 *
 * The steps of ROCm's log are known after the events were read. So the events are read a second time, for their slices, and
 * memory does not depend on how often processes were throttled.
 */
#include <stdlib.h>

#include "message.h"
#include "waits.h"

/**
 * struct waiting - a queue that is looked for
 * @gpu_id, @pid, @queue_id: of the queue; another one may have them later
 * @seen: ns, of its first event
 * @path: its path
 * @wait: of its steps
 */
struct waiting {
	uint32_t gpu_id;
	int32_t pid;
	uint32_t queue_id;
	uint64_t seen;
	const struct queue_path *path;
	struct wait *wait;
};

struct search {
	struct waiting *list;
	size_t nr;
};

/* Steps after which the queue has work, or after which it is mapped for the first time */
static bool step_waits(enum step step)
{
	return step == STEP_CREATE || step == STEP_DISPATCH || step == STEP_LAST_DISPATCH;
}

static int compare(const void *left, const void *right)
{
	const struct waiting *a = left, *b = right;

	if (a->gpu_id != b->gpu_id)
		return a->gpu_id < b->gpu_id ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->queue_id != b->queue_id)
		return a->queue_id < b->queue_id ? -1 : 1;
	return (a->seen > b->seen) - (a->seen < b->seen);
}

static struct waiting key_of(const struct queue *queue)
{
	return (struct waiting){ .gpu_id = queue->client->gpu->gpu_id, .pid = queue->client->process->pid,
				 .queue_id = queue->queue_id, .seen = queue->seen };
}

static void throttled(struct wait *wait, uint64_t ts, const struct throttling *throttling, uint64_t from, uint64_t to)
{
	uint64_t lasted = to - (from > ts ? from : ts);

	wait->ns += lasted;
	if (lasted <= wait->longest_ns)
		return;
	wait->longest_ns = lasted;
	wait->reason = throttling->reason;
	wait->share = throttling->share;
	wait->cgroup_share = throttling->cgroup_share;
}

/* A slice is told when it ends: what has kept a queue off the GPU comes before the time for which it was mapped next */
static void slice(void *context, const struct queue *queue, enum slice_kind kind, uint64_t from, uint64_t to)
{
	const struct search *search = context;
	const struct waiting key = key_of(queue);
	struct waiting *found;
	int step;

	if (kind != SLICE_THROTTLED && kind != SLICE_MAPPED)
		return;
	found = bsearch(&key, search->list, search->nr, sizeof(key), compare);
	for (step = 0; found && step < NR_STEPS; step++) {
		uint64_t ts = found->path->ts[step];

		if (!step_waits(step) || !ts || found->wait[step].done || to <= ts)
			continue;
		if (kind == SLICE_THROTTLED)
			throttled(&found->wait[step], ts, &queue->client->throttling, from, to);
		else
			found->wait[step].done = true;
	}
}

static bool any_throttled(const struct view *view)
{
	const struct client *client;
	const struct gpu *gpu;

	for (gpu = view->model.gpus; gpu; gpu = gpu->next)
		for (client = gpu->clients; client; client = client->next)
			if (client->throttle_count)
				return true;
	return false;
}

/**
 * waits_make() - find out how long the work of each step waited; does not return if that fails
 * @waits: filled in, to be freed with waits_free()
 * @view: the recording, read
 * @paths: made
 */
void waits_make(struct waits *waits, const struct view *view, const struct paths *paths)
{
	struct search search = { 0 };
	size_t i;
	int step;

	*waits = (struct waits){ .none.known = view_knows_maps(view) && view_knows_throttles(view) };
	if (!waits->none.known || !any_throttled(view) || !paths->nr)
		return;
	waits->of = calloc(paths->nr, sizeof(*waits->of));
	search.list = calloc(paths->nr, sizeof(*search.list));
	if (!waits->of || !search.list)
		errx(EXIT_FAILURE, "out of memory");
	for (i = 0; i < paths->nr; i++) {
		for (step = 0; step < NR_STEPS; step++)
			waits->of[i][step].known = true;
		if (!paths->path[i].shown)
			continue;
		search.list[search.nr] = key_of(paths->path[i].queue);
		search.list[search.nr].path = &paths->path[i];
		search.list[search.nr++].wait = waits->of[i];
	}
	qsort(search.list, search.nr, sizeof(*search.list), compare);
	view_slices(view, slice, &search);
	free(search.list);
}

/**
 * waits_of() - how long the work of a step waited
 * @waits: made
 * @path: index of the path
 * @step: one of its steps
 *
 * Return: the wait; NULL for a step after which no work waits.
 */
const struct wait *waits_of(const struct waits *waits, size_t path, enum step step)
{
	if (!step_waits(step))
		return NULL;
	return waits->of ? &waits->of[path][step] : &waits->none;
}

/**
 * waits_free() - free what waits_make() allocated
 * @waits: made
 */
void waits_free(struct waits *waits)
{
	free(waits->of);
}
