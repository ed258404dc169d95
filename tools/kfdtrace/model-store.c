// SPDX-License-Identifier: GPL-2.0
/* Finds, makes and forgets what the model is made of. */
#include <errno.h>
#include <stdlib.h>

#include "model-store.h"

#define FIRST_HASH 1024

static size_t hash_of(uint32_t gpu_id, int32_t pid, uint32_t queue_id)
{
	uint64_t key = ((uint64_t)gpu_id << 32 | (uint32_t)pid) * 0x9e3779b97f4a7c15ULL;

	key = (key ^ key >> 29 ^ queue_id) * 0xbf58476d1ce4e5b9ULL;
	return key ^ key >> 32;
}

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
	struct process **slot = &model->process_hash[(uint32_t)pid % 4096], *process;

	for (process = *slot; process; process = process->hash_next)
		if (process->pid == pid)
			return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->prio = NO_PRIO;
	process->hash_next = *slot;
	*slot = process;
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
	struct client **at, *client;

	if (!gpu)
		return NULL;
	for (at = &gpu->clients; *at; at = &(*at)->next)
		if ((*at)->process->pid == pid) {
			/* who is asked for once is asked for again */
			client = *at;
			*at = client->next;
			client->next = gpu->clients;
			gpu->clients = client;
			return client;
		}
	client = calloc(1, sizeof(*client));
	if (!client)
		return NULL;
	client->process = store_process(model, pid);
	if (!client->process) {
		free(client);
		return NULL;
	}
	client->gpu = gpu;
	client->next = gpu->clients;
	gpu->clients = client;
	return client;
}

static int hash_grow(struct model *model)
{
	size_t size = model->queue_hash_size ? 2 * model->queue_hash_size : FIRST_HASH, i;
	struct queue **grown, *queue, *next;

	grown = calloc(size, sizeof(struct queue *));
	if (!grown)
		return -1;
	for (i = 0; i < model->queue_hash_size; i++)
		for (queue = model->queue_hash[i]; queue; queue = next) {
			struct queue **slot =
				&grown[hash_of(queue->client->gpu->gpu_id,
					       queue->client->process->pid, queue->queue_id) &
				       (size - 1)];

			next = queue->hash_next;
			queue->hash_next = *slot;
			*slot = queue;
		}
	free(model->queue_hash);
	model->queue_hash = grown;
	model->queue_hash_size = size;
	return 0;
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

/* A queue with this number that has not ended. */
static struct queue *queue_find(const struct model *model, uint32_t gpu_id, int32_t pid,
				uint32_t queue_id)
{
	struct queue *queue;

	if (!model->queue_hash_size)
		return NULL;
	queue = model->queue_hash[hash_of(gpu_id, pid, queue_id) & (model->queue_hash_size - 1)];
	for (; queue; queue = queue->hash_next)
		if (queue->queue_id == queue_id && queue->client->process->pid == pid &&
		    queue->client->gpu->gpu_id == gpu_id)
			return queue;
	return NULL;
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
	struct queue *queue = queue_find(model, gpu_id, pid, queue_id), **slot;
	struct client *client;

	if (queue)
		return queue;
	client = store_client(model, gpu_id, pid);
	if (!client || (model->hashed_queues >= model->queue_hash_size && hash_grow(model)))
		return NULL;
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return NULL;
	if (queues_append(model, queue)) {
		free(queue);
		return NULL;
	}
	queue->client = client;
	queue->queue_id = queue_id;
	queue->alive = true;
	queue->since = ts;
	queue->type = queue->format = queue->pipe_prio = queue->req_prio = -1;
	slot = &model->queue_hash[hash_of(gpu_id, pid, queue_id) & (model->queue_hash_size - 1)];
	queue->hash_next = *slot;
	*slot = queue;
	model->hashed_queues++;
	queue->client_next = client->queues;
	if (client->queues)
		client->queues->client_prev = queue;
	client->queues = queue;
	client->live++;
	if (client->live > client->max_live)
		client->max_live = client->live;
	return queue;
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
	struct queue **slot =
		&model->queue_hash[hash_of(client->gpu->gpu_id, client->process->pid, queue->queue_id) &
				   (model->queue_hash_size - 1)];

	while (*slot != queue)
		slot = &(*slot)->hash_next;
	*slot = queue->hash_next;
	model->hashed_queues--;
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
 * @client: who is preempted
 * @pid: who preempts
 *
 * Return: the pair, or NULL without memory.
 */
struct pair *store_pair(struct client *client, int32_t pid)
{
	struct pair *pair;

	for (pair = client->by; pair; pair = pair->next)
		if (pair->pid == pid)
			return pair;
	pair = calloc(1, sizeof(*pair));
	if (!pair)
		return NULL;
	pair->pid = pid;
	pair->next = client->by;
	client->by = pair;
	return pair;
}

/**
 * store_prio() - the priority that decides who is a victim
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

	while ((gpu = model->gpus)) {
		model->gpus = gpu->next;
		while ((client = gpu->clients)) {
			gpu->clients = client->next;
			while ((pair = client->by)) {
				client->by = pair->next;
				free(pair);
			}
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
	free(model->queue_hash);
	free(model->anomalies);
}
