// SPDX-License-Identifier: GPL-2.0
/* Whether queues had work, as their processes claim, joined to the queues of the recording. */
#include <stdlib.h>

#include "claimed.h"
#include "message.h"

static int64_t number_of(struct json_object *entry, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(entry, key, &value) || !json_object_is_type(value, json_type_int))
		return -1;
	return json_object_get_int64(value);
}

/* Addresses are texts in JSON. */
static uint64_t address_of(struct json_object *entry, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(entry, key, &value) || !json_object_is_type(value, json_type_string))
		return 0;
	return strtoull(json_object_get_string(value), NULL, 16);
}

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* By GPU, process and address of the write index, which both the dump of MQDs and the event of the creation have */
static int claim_compare(const void *left, const void *right)
{
	const struct claim *a = left, *b = right;
	int by = compare(a->gpu_id, b->gpu_id);

	if (!by)
		by = compare(a->pid, b->pid);
	return by ? by : (a->wptr > b->wptr) - (a->wptr < b->wptr);
}

static struct claim key_of(const struct queue *queue)
{
	return (struct claim){ .gpu_id = queue->client->gpu->gpu_id, .pid = queue->client->process->pid,
			       .wptr = queue->wptr };
}

static bool claim_read(struct claim *claim, struct json_object *entry)
{
	if (!json_object_is_type(entry, json_type_object))
		return false;
	*claim = (struct claim){
		.pid = number_of(entry, "pid"),
		.gpu_id = number_of(entry, "gpu_id"),
		.index = number_of(entry, "compute_queue_index"),
		.wptr = address_of(entry, "write_index_addr"),
		.samples = number_of(entry, "claimed_sample_count"),
		.unknown = number_of(entry, "claimed_unknown_count"),
		.work = number_of(entry, "claimed_work_count"),
		.first = number_of(entry, "claimed_first_sample_ts_ns"),
		.last = number_of(entry, "claimed_last_sample_ts_ns"),
		.first_work = number_of(entry, "claimed_work_first_ts_ns"),
		.last_work = number_of(entry, "claimed_work_last_ts_ns"),
	};
	return claim->pid > 0 && claim->gpu_id >= 0 && claim->index >= 0 && claim->samples > 0 && claim->unknown >= 0 &&
	       claim->unknown <= claim->samples && claim->work <= claim->samples - claim->unknown &&
	       (claim->work >= 0) == (claim->unknown < claim->samples) && claim->first >= 0 && claim->last >= claim->first &&
	       (claim->work > 0) == (claim->first_work >= 0) && (claim->work > 0) == (claim->last_work >= 0);
}

/* The one claim with a key, or NULL: there is none, or several */
static struct claim *claim_find(const struct claims *claims, const struct claim *key)
{
	struct claim *found = claims->nr ? bsearch(key, claims->list, claims->nr, sizeof(*key), claim_compare) : NULL;

	if (!found || (found > claims->list && !claim_compare(found - 1, found)) ||
	    (found + 1 < claims->list + claims->nr && !claim_compare(found, found + 1)))
		return NULL;
	return found;
}

/*
 * A process may create a queue with the indices of one that it has destroyed, of which the samples do not show it.
 * So a claim is of a queue if it is the only queue with this address, and no sample is older than the queue.
 */
static void claims_join(struct claims *claims, const struct model *model)
{
	bool *twice = calloc(claims->nr + 1, sizeof(*twice));
	const struct queue *queue;
	struct claim key, *claim;
	size_t i;

	if (!twice)
		errx(EXIT_FAILURE, "out of memory");
	for (i = 0; i < model->nr_queues && !model->queues_left_out; i++) {
		queue = model->queues[i];
		key = key_of(queue);
		claim = queue->created_seen && queue->wptr ? claim_find(claims, &key) : NULL;
		if (!claim)
			continue;
		twice[claim - claims->list] |= claim->queue != NULL;
		claim->queue = queue;
	}
	for (i = 0; i < claims->nr; i++) {
		claim = &claims->list[i];
		if (twice[i] || (claim->queue && (uint64_t)claim->first < claim->queue->created))
			claim->queue = NULL;
	}
	free(twice);
}

/**
 * claims_known() - whether a recording has them
 * @view: the recording
 *
 * Return: whether it was made with --mqd, by a kfdtrace that takes these samples.
 */
bool claims_known(const struct view *view)
{
	return view_meta_value(view, "claimed_work", json_type_array);
}

/**
 * claims_read() - read them; those of processes that are not shown, and damaged ones, are left out
 * @claims: filled in, to be freed with claims_free()
 * @view: the recording, read
 */
void claims_read(struct claims *claims, const struct view *view)
{
	struct json_object *array = view_meta_value(view, "claimed_work", json_type_array);
	size_t all = array ? json_object_array_length(array) : 0, i;

	*claims = (struct claims){ .known = array };
	claims->list = calloc(all + 1, sizeof(*claims->list));
	if (!claims->list)
		errx(EXIT_FAILURE, "out of memory");
	for (i = 0; i < all; i++) {
		struct claim *claim = &claims->list[claims->nr];

		if (!claim_read(claim, json_object_array_get_idx(array, i)))
			claims->damaged++;
		else if (pids_have(&view->options->pids, claim->pid))
			claims->nr++;
	}
	qsort(claims->list, claims->nr, sizeof(*claims->list), claim_compare);
	claims_join(claims, &view->model);
}

/**
 * claims_warn() - print on stderr how many are damaged
 * @view: the recording, read
 */
void claims_warn(const struct view *view)
{
	struct claims claims;

	claims_read(&claims, view);
	view_meta_warn(view, "claimed_work", claims.damaged);
	claims_free(&claims);
}

/**
 * claims_of() - those of a queue
 * @claims: all
 * @queue: the queue
 *
 * Return: the claim, or NULL: it is not certain which one.
 */
const struct claim *claims_of(const struct claims *claims, const struct queue *queue)
{
	struct claim key = key_of(queue);
	const struct claim *claim = claim_find(claims, &key);

	return claim && claim->queue == queue ? claim : NULL;
}

/**
 * claims_free() - free them
 * @claims: of claims_read()
 */
void claims_free(struct claims *claims)
{
	free(claims->list);
}
