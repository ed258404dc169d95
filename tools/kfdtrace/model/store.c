// SPDX-License-Identifier: GPL-2.0
/* Finds, makes and forgets what the model is made of. */
#include <errno.h>
#include <stdlib.h>

#include "store.h"

/**
 * store_gpu() - find or make a GPU
 * @model: the model
 * @gpu_id: its number
 *
 * Return: the GPU, or NULL without memory, or if there are too many.
 */
struct gpu *store_gpu(struct model *model, uint32_t gpu_id)
{
	struct gpu **at = &model->gpus;
	unsigned int nr = 0;

	for (; *at; at = &(*at)->next, nr++)
		if ((*at)->gpu_id == gpu_id)
			return *at;
	/* each has histograms: a damaged file must not make a fortune of them */
	if (nr == MODEL_MAX_GPUS) {
		model->too_many_gpus = true;
		return NULL;
	}
	*at = calloc(1, sizeof(**at));
	if (*at) {
		(*at)->gpu_id = gpu_id;
		(*at)->model = model;
	}
	return *at;
}

/**
 * store_process() - find or make a process
 * @model: the model
 * @pid: its PID
 *
 * Return: the process, or NULL without memory.
 */
struct process *store_process(struct model *model, int32_t pid)
{
	struct process *process;

	HASH_FIND_INT(model->process_table, &pid, process);
	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	HASH_ADD_INT(model->process_table, pid, process);
	if (!process->hh.tbl) {
		free(process);
		return NULL;
	}
	process->prio = NO_PRIO;
	process->next = model->processes;
	model->processes = process;
	return process;
}

/**
 * store_client() - find or make a process on a GPU
 * @model: the model
 * @gpu_id: the GPU
 * @pid: the process
 *
 * Return: the client, or NULL without memory.
 */
struct client *store_client(struct model *model, uint32_t gpu_id, int32_t pid)
{
	struct gpu *gpu = store_gpu(model, gpu_id);
	struct process *process = gpu ? store_process(model, pid) : NULL;
	struct client *client;

	if (!process)
		return NULL;
	for (client = process->clients; client; client = client->process_next)
		if (client->gpu == gpu)
			return client;
	client = calloc(1, sizeof(*client));
	if (!client)
		return NULL;
	client->process = process;
	client->process_next = process->clients;
	process->clients = client;
	client->gpu = gpu;
	client->next = gpu->clients;
	gpu->clients = client;
	return client;
}

static int queues_append(struct model *model, struct queue *queue)
{
	struct queue **grown;
	size_t room;

	if (model->nr_queues == model->room_queues) {
		room = model->room_queues ? 2 * model->room_queues : 256;
		grown = reallocarray(model->queues, room, sizeof(struct queue *));
		if (!grown)
			return -1;
		model->queues = grown;
		model->room_queues = room;
	}
	model->queues[model->nr_queues++] = queue;
	return 0;
}

/**
 * store_find() - find a queue that is alive
 * @model: the model
 * @gpu_id: its GPU
 * @pid: its process
 * @queue_id: its number
 *
 * Return: the queue, or NULL.
 */
struct queue *store_find(const struct model *model, uint32_t gpu_id, int32_t pid, uint32_t queue_id)
{
	const struct model_key key = { gpu_id, pid, queue_id };
	struct queue *queue;

	HASH_FIND(hh, model->queue_table, &key, sizeof(key), queue);
	return queue;
}

/**
 * store_queue() - find or make a queue that is alive
 * @model: the model
 * @gpu_id: its GPU
 * @pid: its process
 * @queue_id: its number
 * @ts: now
 *
 * Return: the queue, or NULL without memory.
 */
struct queue *store_queue(struct model *model, uint32_t gpu_id, int32_t pid, uint32_t queue_id,
			  uint64_t ts)
{
	const struct model_key key = { gpu_id, pid, queue_id };
	struct client *client;
	struct queue *queue;

	HASH_FIND(hh, model->queue_table, &key, sizeof(key), queue);
	if (queue)
		return queue;
	client = store_client(model, gpu_id, pid);
	if (!client)
		return NULL;
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return NULL;
	if (queues_append(model, queue))
		goto err_free;
	queue->key = key;
	HASH_ADD(hh, model->queue_table, key, sizeof(queue->key), queue);
	if (!queue->hh.tbl)
		goto err_append;
	queue->client = client;
	queue->queue_id = queue_id;
	queue->alive = true;
	queue->since = queue->seen = ts;
	queue->type = queue->format = queue->pipe_prio = queue->req_prio = -1;
	queue->client_next = client->queues;
	if (client->queues)
		client->queues->client_prev = queue;
	client->queues = queue;
	client->live++;
	if (client->live > client->max_live)
		client->max_live = client->live;
	return queue;

err_append:
	model->nr_queues--;
err_free:
	free(queue);
	return NULL;
}

/* Too many have ended: this one, the last, is only in the sums. */
static void queue_leave_out(struct model *model, struct queue *queue)
{
	size_t i;

	/* it was made lately as a rule */
	for (i = model->nr_queues; i-- > 0;)
		if (model->queues[i] == queue)
			break;
	for (model->nr_queues--; i < model->nr_queues; i++)
		model->queues[i] = model->queues[i + 1];
	model->queues_left_out++;
	free(queue);
}

/**
 * store_forget() - a queue has ended: its number may be used again
 * @model: the model
 * @queue: the queue; is gone if there are more than the model keeps
 */
void store_forget(struct model *model, struct queue *queue)
{
	struct client *client = queue->client;

	HASH_DEL(model->queue_table, queue);
	if (queue->client_prev)
		queue->client_prev->client_next = queue->client_next;
	else
		client->queues = queue->client_next;
	if (queue->client_next)
		queue->client_next->client_prev = queue->client_prev;
	client->live--;
	queue->alive = false;
	if (model->nr_queues > model->max_queues)
		queue_leave_out(model, queue);
}

/**
 * store_pair() - find or make the account of one preemptor
 * @client: the preempted process
 * @pid: the preempting process
 *
 * Return: the pair, or NULL without memory.
 */
struct pair *store_pair(struct client *client, int32_t pid)
{
	struct model *model = client->gpu->model;
	const struct model_key key = { client->gpu->gpu_id, client->process->pid, pid };
	struct pair *pair;

	HASH_FIND(hh, model->pair_table, &key, sizeof(key), pair);
	if (pair)
		return pair;
	pair = calloc(1, sizeof(*pair));
	if (!pair)
		return NULL;
	pair->key = key;
	HASH_ADD(hh, model->pair_table, key, sizeof(pair->key), pair);
	if (!pair->hh.tbl) {
		free(pair);
		return NULL;
	}
	pair->client = client;
	pair->pid = pid;
	pair->next = client->by;
	client->by = pair;
	return pair;
}

/**
 * store_throttle() - find or make the account of a reason and of groups
 * @client: the throttled process; its @throttle is set, to NULL if it has too many
 * @throttling: the reason and the groups
 *
 * Return: 0 or -ENOMEM.
 */
int store_throttle(struct client *client, const struct throttling *throttling)
{
	struct throttle **at = &client->throttles, *throttle;
	unsigned int nr = 0;

	for (; (throttle = *at); at = &throttle->next, nr++)
		if (throttle->reason == throttling->reason && throttle->share == throttling->share &&
		    throttle->cgroup_share == throttling->cgroup_share)
			break;
	/* a damaged file must not make a fortune of them */
	if (!throttle && nr < MODEL_MAX_THROTTLES) {
		throttle = calloc(1, sizeof(*throttle));
		if (!throttle)
			return -ENOMEM;
		throttle->reason = throttling->reason;
		throttle->share = throttling->share;
		throttle->cgroup_share = throttling->cgroup_share;
		*at = throttle;
	}
	client->throttle = throttle;
	return 0;
}

/**
 * store_throttles_free() - free them all
 * @client: the process, which is freed next
 */
void store_throttles_free(struct client *client)
{
	struct throttle *throttle;

	while ((throttle = client->throttles)) {
		client->throttles = throttle->next;
		free(throttle);
	}
}

/**
 * store_prio() - the priority that decides whether a process is a victim
 * @client: the process
 *
 * Return: what was set; an unset one counts as that of the highest queue.
 */
int32_t store_prio(const struct client *client)
{
	const struct queue *queue;
	int32_t prio = client->process->prio;

	if (prio != NO_PRIO)
		return prio;
	for (queue = client->queues; queue; queue = queue->client_next)
		if (queue->prio > prio)
			prio = queue->prio;
	return prio;
}

/**
 * anomalies_count() - all of them
 * @model: the model
 *
 * Return: their number.
 */
uint64_t anomalies_count(const struct model *model)
{
	uint64_t sum = 0;
	int kind;

	for (kind = 0; kind < NR_ANOMALIES; kind++)
		sum += model->nr_anomalies[kind];
	return sum;
}

/**
 * anomaly_name() - a kind in words
 * @kind: the kind
 *
 * Return: the words.
 */
const char *anomaly_name(enum anomaly_kind kind)
{
	static const char *const names[NR_ANOMALIES] = {
		[ANOMALY_HANG] = "the scheduler does not answer",
		[ANOMALY_UNMAP_FAILED] = "unmap failed",
		[ANOMALY_MAP_FAILED] = "map failed",
		[ANOMALY_CREATE_FAILED] = "creation of a queue failed",
		[ANOMALY_DESTROY_FAILED] = "destruction of a queue failed",
		[ANOMALY_SLOW_UNMAP] = "slow unmap",
		[ANOMALY_UNMAP_OPEN] = "unmap without an end",
		[ANOMALY_PREEMPT_OPEN] = "preemption without an end",
		[ANOMALY_EVICT_OPEN] = "eviction without a restore",
		[ANOMALY_NOT_DESTROYED] = "queue without an end",
	};

	return names[kind];
}

/**
 * model_init() - an empty model
 * @model: the model, to be freed with model_free()
 * @slow_unmap_ns: an unmap that takes longer is an anomaly
 *
 * Return: 0 or -ENOMEM.
 */
int model_init(struct model *model, uint64_t slow_unmap_ns)
{
	*model = (struct model){ .slow_unmap_ns = slow_unmap_ns, .max_queues = MODEL_MAX_QUEUES };
	model->anomalies = calloc(MODEL_MAX_ANOMALIES, sizeof(*model->anomalies));
	return model->anomalies ? 0 : -ENOMEM;
}

/**
 * model_free() - free what a model holds
 * @model: the model
 */
void model_free(struct model *model)
{
	struct process *process;
	struct client *client;
	struct pair *pair;
	struct gpu *gpu;
	size_t i;

	/* of the tables, not of what is in them */
	HASH_CLEAR(hh, model->queue_table);
	HASH_CLEAR(hh, model->process_table);
	HASH_CLEAR(hh, model->pair_table);
	while ((gpu = model->gpus)) {
		model->gpus = gpu->next;
		while ((client = gpu->clients)) {
			gpu->clients = client->next;
			while ((pair = client->by)) {
				client->by = pair->next;
				free(pair);
			}
			store_throttles_free(client);
			free(client);
		}
		free(gpu);
	}
	while ((process = model->processes)) {
		model->processes = process->next;
		free(process);
	}
	for (i = 0; i < model->nr_queues; i++)
		free(model->queues[i]);
	free(model->queues);
	free(model->anomalies);
}
