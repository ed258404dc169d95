// SPDX-License-Identifier: GPL-2.0
/*
 * A model that follows a running system: what was there before the first event is put in,
 * and what is gone is taken out.
 */
#include <errno.h>
#include <stdlib.h>

#include "queue.h"
#include "store.h"

/**
 * model_sync_queue() - a queue is there, and mapped or not
 * @model: the model
 * @gpu_id: its GPU
 * @pid: its process
 * @queue_id: its number
 * @mapped: it is
 * @ts: now; not before the last event
 *
 * Return: 0 or -ENOMEM.
 */
int model_sync_queue(struct model *model, uint32_t gpu_id, int32_t pid, uint32_t queue_id,
		     bool mapped, uint64_t ts)
{
	struct queue *queue = store_queue(model, gpu_id, pid, queue_id, ts);

	if (!queue)
		return -ENOMEM;
	if (mapped && !queue->mapped)
		queue_on(queue, ts);
	else if (!mapped)
		return queue_off(queue, ts);
	return 0;
}

/**
 * model_sync_process() - a process is there
 * @model: the model
 * @gpu_id: a GPU that it uses
 * @pid: the process
 * @state: of it there
 * @ts: now; not before the last event
 *
 * Return: 0 or -ENOMEM.
 */
int model_sync_process(struct model *model, uint32_t gpu_id, int32_t pid, const struct model_state *state, uint64_t ts)
{
	struct client *client = store_client(model, gpu_id, pid);
	struct gpu *gpu;

	if (!client)
		return -ENOMEM;
	client->process->prio = state->prio;
	client->evicted = state->evicted;
	client->evicted_known = true;
	client->evicted_since = ts;
	client->parked = state->parked;
	client->parked_since = ts;
	if (state->throttled && client_throttled(client, ts))
		return -ENOMEM;
	if (!state->preempting)
		return 0;
	gpu = client->gpu;
	gpu->preempting = true;
	gpu->begin = (struct preemption){ .ts = ts, .seq = -1, .pid = pid, .prio = state->prio };
	return 0;
}

/**
 * model_sync_off() - events are missing: forget which queues there are and what is under way
 * @model: the model; its sums stay
 * @ts: now; not before the last event
 */
void model_sync_off(struct model *model, uint64_t ts)
{
	struct client *client;
	struct queue *queue;
	struct gpu *gpu;

	for (gpu = model->gpus; gpu; gpu = gpu->next) {
		gpu->preempting = gpu->unmapping = gpu->waking = gpu->over = false;
		gpu->take_left = 0;
		for (client = gpu->clients; client; client = client->next) {
			client_resume(client, ts);
			client_unpark(client, ts);
			throttle_forget(client, ts);
			client->evicted = false;
			while ((queue = client->queues)) {
				queue_settle(queue, ts);
				store_forget(model, queue);
			}
		}
	}
}

static void pairs_free(struct model *model, struct client *client)
{
	struct pair *pair;

	while ((pair = client->by)) {
		client->by = pair->next;
		HASH_DEL(model->pair_table, pair);
		free(pair);
	}
}

static void client_drop(struct model *model, struct client **at)
{
	struct client *client = *at, **of = &client->process->clients;

	*at = client->next;
	while (*of != client)
		of = &(*of)->process_next;
	*of = client->process_next;
	pairs_free(model, client);
	store_throttles_free(client);
	free(client);
}

static void process_drop(struct model *model, struct process **at)
{
	struct process *process = *at;

	*at = process->next;
	HASH_DEL(model->process_table, process);
	free(process);
}

/**
 * model_prune() - take out processes that are gone
 * @model: the model
 * @gone: tells whether a process is
 * @context: for @gone
 *
 * One that still has queues stays.  Pairs of preempting and preempted processes are forgotten, except those of a preemption that goes on.
 */
void model_prune(struct model *model, bool (*gone)(void *context, int32_t pid), void *context)
{
	struct client **at, *client;
	struct process **process;
	struct gpu *gpu;

	for (gpu = model->gpus; gpu; gpu = gpu->next) {
		throttle_released_end(gpu, false, model->last);
		for (at = &gpu->clients; (client = *at);) {
			if (!client->preempted)
				pairs_free(model, client);
			if (client->queues || client->preempted ||
			    !gone(context, client->process->pid)) {
				at = &client->next;
				continue;
			}
			client_drop(model, at);
		}
	}
	for (process = &model->processes; *process;)
		if (!(*process)->clients && gone(context, (*process)->pid))
			process_drop(model, process);
		else
			process = &(*process)->next;
}
