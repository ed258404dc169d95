// SPDX-License-Identifier: GPL-2.0
/*
 * What was there before the first event of a recording, and what is there after its last one.
 *
 * What was under way at either end is counted from the begin, and to the end; it is no anomaly.
 */
#include <errno.h>

#include "queue.h"
#include "store.h"

/**
 * model_state_begin() - the recording begins with a state
 * @model: the model, without events
 * @ts: when, ns
 */
void model_state_begin(struct model *model, uint64_t ts)
{
	model->first = model->last = ts;
	model->state_known = true;
}

/**
 * model_state_process() - a process is there when the recording begins; first all processes, then their queues
 * @model: the model, after model_state_begin()
 * @gpu_id: a GPU that it uses
 * @pid: the process
 * @state: of it there
 * @known: whether it is evicted is known
 *
 * Return: 0 or -ENOMEM.
 */
int model_state_process(struct model *model, uint32_t gpu_id, int32_t pid, const struct model_state *state, bool known)
{
	struct client *client = store_client(model, gpu_id, pid);
	struct gpu *gpu;

	if (!client)
		return -ENOMEM;
	client->process->prio = state->prio;
	client->evicted = state->evicted;
	client->evicted_known = known;
	client->evicted_since = model->first;
	client->evictions += state->evicted;
	client->parked = state->parked;
	client->parked_since = model->first;
	client->parks += state->parked;
	if (state->throttled && client_throttled(client, model->first))
		return -ENOMEM;
	if (!state->preempting)
		return 0;
	client->preempting++;
	gpu = client->gpu;
	gpu->preempting = true;
	gpu->begin = (struct preemption){ .ts = model->first, .seq = -1, .pid = pid, .prio = state->prio };
	return 0;
}

/**
 * model_state_queue() - a queue is there when the recording begins
 * @model: the model
 * @gpu_id: its GPU
 * @pid: its process
 * @queue_id: its number
 * @type: as the events number types, -1 if unknown
 * @place: whether it is mapped
 * @preempted: its process is preempted
 *
 * Return: 0 or -ENOMEM.
 */
int model_state_queue(struct model *model, uint32_t gpu_id, int32_t pid, uint32_t queue_id, int32_t type,
		      enum queue_place place, bool preempted)
{
	struct queue *queue = store_queue(model, gpu_id, pid, queue_id, model->first);

	if (!queue)
		return -ENOMEM;
	queue->before = true;
	queue->prio = NO_PRIO;
	queue->type = type;
	queue->unknown = place == QUEUE_UNKNOWN;
	queue->client->gpu->unknown |= queue->unknown;
	if (place == QUEUE_MAPPED)
		queue_place(queue, model->first);
	else if (place == QUEUE_OFF && preempted)
		return queue_preempt(queue, model->first);
	return 0;
}

/**
 * model_end_begin() - the state at the end of the recording is known
 * @model: the model, after all events
 * @ts: when it was read, ns
 */
void model_end_begin(struct model *model, uint64_t ts)
{
	struct gpu *gpu;

	model->end_ts = ts;
	for (gpu = model->gpus; gpu; gpu = gpu->next)
		gpu->end_known = true;
}

/**
 * model_end_process() - a process is there when the recording ends
 * @model: the model, after model_end_begin()
 * @gpu_id: a GPU that it uses
 * @pid: the process
 * @state: of it there
 * @known: what keeps it off the GPU, and whether others are, is known
 */
void model_end_process(struct model *model, uint32_t gpu_id, int32_t pid, const struct model_state *state, bool known)
{
	struct client *client;
	struct gpu *gpu;

	for (gpu = model->gpus; gpu && gpu->gpu_id != gpu_id;)
		gpu = gpu->next;
	if (!gpu)
		return;
	if (!known)
		gpu->end_known = false;
	gpu->end_preempting |= state->preempting;
	for (client = gpu->clients; client; client = client->next)
		if (client->process->pid == pid)
			client->end_evicted = state->evicted;
}

/**
 * model_end_queue() - a queue is there when the recording ends
 * @model: the model, after model_end_begin()
 * @gpu_id: its GPU
 * @pid: its process
 * @queue_id: its number
 */
void model_end_queue(struct model *model, uint32_t gpu_id, int32_t pid, uint32_t queue_id)
{
	struct queue *queue = store_find(model, gpu_id, pid, queue_id);

	if (queue)
		queue->at_end = true;
}

/* Without an end in the recording, and not there when it ended */
static bool queue_gone(const struct model *model, const struct queue *queue)
{
	return model->end_ts && !model->lacks[EV_DESTROY_QUEUE] && !queue->at_end && queue->created < model->end_ts;
}

static void client_end(struct model *model, struct client *client)
{
	const struct gpu *gpu = client->gpu;
	struct queue *queue;

	if (gpu->preempting && gpu->begin.pid == client->process->pid)
		client->preempting_ns += model->last - gpu->begin.ts;
	client_resume(client, model->last);
	client_throttle_end(client, model->last);
	if (client->parked)
		client->parked_ns += model->last - client->parked_since;
	/* without queues nothing of it is off, and its end is not recorded */
	if (client->evicted && (client->queues || client->evicted_queues)) {
		client->evicted_ns += model->last - client->evicted_since;
		model->under_way.evictions += !model->lacks[EV_RESTORE_PROCESS];
		if (model->end_ts && !model->lacks[EV_RESTORE_PROCESS] && gpu->end_known && !client->end_evicted &&
		    client->evicted_since < model->end_ts)
			anomaly_add(model, ANOMALY_EVICT_OPEN, client->evicted_since, gpu->gpu_id,
				    client->process->pid, -1, model->last - client->evicted_since);
	}
	for (queue = client->queues; queue; queue = queue->client_next) {
		queue_settle(queue, model->last);
		if (queue_gone(model, queue))
			anomaly_add(model, ANOMALY_NOT_DESTROYED, queue->created, gpu->gpu_id, client->process->pid,
				    queue->queue_id, 0);
		else
			model->under_way.queues += !model->lacks[EV_DESTROY_QUEUE];
	}
}

/**
 * model_end() - the recording ends: what is under way is counted until now
 * @model: the model
 */
void model_end(struct model *model)
{
	struct client *client;
	struct gpu *gpu;

	for (gpu = model->gpus; gpu; gpu = gpu->next) {
		model->under_way.unmaps += gpu->unmapping && !model->lacks[EV_UNMAP_QUEUES_DONE];
		model->under_way.preemptions += gpu->preempting && !model->lacks[EV_PREEMPT_END];
		if (gpu->preempting && model->end_ts && !model->lacks[EV_PREEMPT_END] && gpu->end_known &&
		    !gpu->end_preempting && gpu->begin.ts < model->end_ts)
			anomaly_add(model, ANOMALY_PREEMPT_OPEN, gpu->begin.ts, gpu->gpu_id,
				    gpu->begin.pid, -1, model->last - gpu->begin.ts);
		over_end(gpu, model->last);
		for (client = gpu->clients; client; client = client->next)
			client_end(model, client);
	}
}
