// SPDX-License-Identifier: GPL-2.0
/* The states of a queue: mapped, not mapped, preempted, destroyed; see model.h. */
#include <errno.h>

#include "queue.h"
#include "store.h"

static int client_preempt(struct client *client, uint64_t ts)
{
	struct gpu *gpu = client->gpu;

	if (client->preempted)
		return 0;
	client->preemptor = store_pair(client, gpu->begin.pid);
	if (!client->preemptor)
		return -ENOMEM;
	client->preempted = true;
	client->preempted_prev = NULL;
	client->preempted_next = gpu->preempted;
	if (gpu->preempted)
		gpu->preempted->preempted_prev = client;
	gpu->preempted = client;
	client->preempted_since = client->pair_since = ts;
	client->preemptions++;
	client->last_reason = gpu->begin.reason;
	client->last_by = gpu->begin.pid;
	client->preemptor->count++;
	return 0;
}

/**
 * client_resume() - a process is preempted no longer, if it was
 * @client: the process
 * @ts: now
 */
void client_resume(struct client *client, uint64_t ts)
{
	if (!client->preempted)
		return;
	client->preempted = false;
	if (client->preempted_prev)
		client->preempted_prev->preempted_next = client->preempted_next;
	else
		client->gpu->preempted = client->preempted_next;
	if (client->preempted_next)
		client->preempted_next->preempted_prev = client->preempted_prev;
	client->preempted_ns += ts - client->preempted_since;
	client->preemptor->ns += ts - client->pair_since;
}

/**
 * client_evicted_end() - a process is evicted no longer, if it was
 * @client: the process
 * @ts: now
 */
void client_evicted_end(struct client *client, uint64_t ts)
{
	if (client->evicted) {
		client->evicted_ns += ts - client->evicted_since;
		client->evicted_from = client->evicted_since;
		client->evicted_to = ts;
	}
	client->evicted = false;
}

static void slice_tell(const struct queue *queue, enum slice_kind kind, uint64_t from, uint64_t to)
{
	const struct model *model = queue->client->gpu->model;

	if (model->slice)
		model->slice(model->slice_context, queue, kind, from, to);
}

/* It was there before the recording */
static void unknown_tell(const struct queue *queue, uint64_t ts)
{
	uint64_t first = queue->client->gpu->model->first;

	if (first < ts)
		slice_tell(queue, SLICE_UNKNOWN, first, ts);
}

/**
 * queue_resume() - a queue is preempted no longer, if it was
 * @queue: the queue
 * @ts: now
 */
void queue_resume(struct queue *queue, uint64_t ts)
{
	if (!queue->preempted)
		return;
	queue->preempted = false;
	slice_tell(queue, SLICE_PREEMPTED, queue->preempted_since, ts);
	queue->preempted_ns += ts - queue->preempted_since;
	queue->told = ts;
}

/*
 * For how long a queue is off of the time for which its process is parked or throttled, since the queue came. The process
 * is parked or throttled a moment before its queues have left the GPU, and parked until a moment after they are back.
 * Return: ns
 */
static uint64_t queue_off_tell(struct queue *queue, enum slice_kind kind, uint64_t from, uint64_t ts)
{
	uint64_t to = queue->mapped ? queue->since : ts;

	if (from < queue->created)
		from = queue->created;
	if (from < queue->off)
		from = queue->off;
	if (from < queue->told)
		from = queue->told;
	if (from >= to)
		return 0;
	slice_tell(queue, kind, from, to);
	queue->told = to;
	return to - from;
}

static void queue_throttled_add(struct queue *queue, uint64_t from, uint64_t to)
{
	uint64_t lasted = queue_off_tell(queue, SLICE_THROTTLED, from, to);

	queue->throttled_ns += lasted;
	queue->throttles += lasted > 0;
}

/**
 * queue_throttled_past() - a queue is seen for the first time after its process was throttled
 * @queue: the queue, older than that
 */
void queue_throttled_past(struct queue *queue)
{
	queue_throttled_add(queue, queue->client->throttling.from, queue->client->throttling.to);
}

/**
 * client_throttle_end() - a process is throttled no longer, if it was
 * @client: the process
 * @ts: now
 */
void client_throttle_end(struct client *client, uint64_t ts)
{
	uint64_t lasted = ts - client->throttling.from;
	struct queue *queue;

	if (!client->throttled)
		return;
	for (queue = client->queues; queue; queue = queue->client_next)
		queue_throttled_add(queue, client->throttling.from, ts);
	client->throttled = false;
	client->throttling.to = ts;
	client->throttled_ns += lasted;
	client->throttled_by_ns[throttle_slot(client->throttling.reason)] += lasted;
	if (client->throttle) {
		client->throttle->count++;
		client->throttle->ns += lasted;
	}
}

/**
 * client_preempted_not() - a process has left the GPU in the time of a preemption, but not for that
 * @client: the process; nothing is changed if it does not count as preempted
 */
void client_preempted_not(struct client *client)
{
	struct queue *queue;

	if (!client->preempted)
		return;
	for (queue = client->queues; queue; queue = queue->client_next) {
		queue->preemptions -= queue->preempted;
		queue->preempted = false;
	}
	client->preemptions--;
	client->preemptor->count--;
	client_resume(client, client->preempted_since);
}

/**
 * client_park() - a process is parked from now on
 * @client: the process
 * @preempted: it was preempted until now
 * @ts: now
 */
void client_park(struct client *client, bool preempted, uint64_t ts)
{
	struct queue *queue;

	if (client->parked)
		return;
	client->parked = true;
	client->parked_since = ts;
	client->parks++;
	client_throttle_end(client, ts);
	if (!preempted)
		client_preempted_not(client);
	client_resume(client, ts);
	for (queue = client->queues; queue; queue = queue->client_next)
		queue_resume(queue, ts);
}

/**
 * client_unpark() - a process is parked no longer, if it was
 * @client: the process
 * @ts: now
 */
void client_unpark(struct client *client, uint64_t ts)
{
	struct queue *queue;

	if (!client->parked)
		return;
	for (queue = client->queues; queue; queue = queue->client_next)
		queue_off_tell(queue, SLICE_PARKED, client->parked_since, ts);
	client->parked = false;
	client->parked_ns += ts - client->parked_since;
}

static void mapped_unlink(struct queue *queue)
{
	if (queue->mapped_prev)
		queue->mapped_prev->mapped_next = queue->mapped_next;
	else
		queue->client->gpu->mapped = queue->mapped_next;
	if (queue->mapped_next)
		queue->mapped_next->mapped_prev = queue->mapped_prev;
	queue->client->gpu->mapped_compute -= queue->counted;
}

static void mapped_count(struct client *client, int change, uint64_t ts)
{
	if (!client->mapped_queues)
		client->any_since = ts;
	client->mapped_queues += change;
	if (!client->mapped_queues)
		client->any_ns += ts - client->any_since;
}

/**
 * queue_preempt() - a queue that is off the GPU is preempted, if a preemption is under way and its process a victim
 * @queue: the queue
 * @ts: now
 *
 * Return: 0 or -ENOMEM.
 */
int queue_preempt(struct queue *queue, uint64_t ts)
{
	struct client *client = queue->client;
	struct gpu *gpu = client->gpu;

	if (!gpu->preempting || client->parked || client->throttled || client->process->pid == gpu->begin.pid ||
	    store_prio(client) >= gpu->begin.prio)
		return 0;
	queue->preempted = true;
	queue->preempted_since = ts;
	queue->left_for = gpu->begin;
	queue->preemptions++;
	return client_preempt(client, ts);
}

/* Where it was until now is not known, and counts as neither */
static void queue_seen(struct queue *queue, uint64_t ts)
{
	if (queue->unknown) {
		unknown_tell(queue, ts);
		queue->since = ts;
	}
	queue->unknown = false;
}

/**
 * queue_off() - a queue is off the GPU; for a preemption that is under way if it is a victim's
 * @queue: the queue
 * @ts: now
 *
 * Return: 0 or -ENOMEM.
 */
int queue_off(struct queue *queue, uint64_t ts)
{
	struct client *client = queue->client;

	queue_seen(queue, ts);
	if (!queue->mapped)
		return 0;
	queue->mapped = false;
	queue->off = ts;
	queue->unmaps++;
	slice_tell(queue, SLICE_MAPPED, queue->since, ts);
	queue->mapped_ns += ts - queue->since;
	client->mapped_ns += ts - queue->since;
	queue->since = ts;
	mapped_unlink(queue);
	mapped_count(client, -1, ts);
	return queue_preempt(queue, ts);
}

/**
 * queue_place() - a queue is on the GPU from now on
 * @queue: the queue, which is off it
 * @ts: now
 */
void queue_place(struct queue *queue, uint64_t ts)
{
	struct gpu *gpu = queue->client->gpu;

	queue->mapped = true;
	queue->since = ts;
	queue->mapped_prev = NULL;
	queue->mapped_next = gpu->mapped;
	if (gpu->mapped)
		gpu->mapped->mapped_prev = queue;
	gpu->mapped = queue;
	queue->counted = queue->type <= 0;
	gpu->mapped_compute += queue->counted;
	mapped_count(queue->client, 1, ts);
}

/**
 * queue_on() - a queue is mapped, perhaps again
 * @queue: the queue
 * @ts: now
 */
void queue_on(struct queue *queue, uint64_t ts)
{
	queue->maps++;
	queue->client->maps++;
	if (queue->mapped)
		return;
	queue_seen(queue, ts);
	/* model_sync_queue() maps a queue for no time */
	if (queue->client->throttling.from < ts)
		client_throttle_end(queue->client, ts);
	if (!queue->first_map)
		queue->first_map = ts;
	queue->unmapped_ns += ts - queue->since;
	queue_place(queue, ts);
	queue_resume(queue, ts);
	client_resume(queue->client, ts);
}

/**
 * queue_anew() - a queue that was taken for older than the recording is created
 * @queue: the queue, of which nothing has happened
 * @ts: now
 */
void queue_anew(struct queue *queue, uint64_t ts)
{
	if (queue->mapped) {
		mapped_unlink(queue);
		mapped_count(queue->client, -1, ts);
	}
	queue->mapped = queue->preempted = queue->before = queue->unknown = false;
	queue->preemptions = 0;
	queue->since = ts;
}

/**
 * queue_evicted_tell() - its process is evicted no longer, or the queue ends
 * @queue: the queue
 * @ts: now
 */
void queue_evicted_tell(const struct queue *queue, uint64_t ts)
{
	const struct client *client = queue->client;

	slice_tell(queue, SLICE_EVICTED,
		   queue->created > client->evicted_since ? queue->created : client->evicted_since,
		   ts);
}

/**
 * queue_evicted_past() - a queue is seen for the first time after the last eviction of its process
 * @queue: the queue, older than that eviction
 */
void queue_evicted_past(const struct queue *queue)
{
	slice_tell(queue, SLICE_EVICTED, queue->client->evicted_from, queue->client->evicted_to);
}

/**
 * queue_settle() - the end of a queue, or of the recording: what is under way is counted
 * @queue: the queue
 * @ts: now
 */
void queue_settle(struct queue *queue, uint64_t ts)
{
	if (queue->client->evicted)
		queue_evicted_tell(queue, ts);
	if (queue->client->parked)
		queue_off_tell(queue, SLICE_PARKED, queue->client->parked_since, ts);
	if (queue->client->throttled)
		queue_throttled_add(queue, queue->client->throttling.from, ts);
	if (queue->mapped) {
		slice_tell(queue, SLICE_MAPPED, queue->since, ts);
		queue->mapped_ns += ts - queue->since;
		queue->client->mapped_ns += ts - queue->since;
		mapped_unlink(queue);
		mapped_count(queue->client, -1, ts);
		queue->mapped = false;
	} else if (!queue->unknown) {
		queue->unmapped_ns += ts - queue->since;
	}
	queue->client->unknown |= queue->unknown;
	if (queue->unknown)
		unknown_tell(queue, ts);
	queue->since = ts;
	queue_resume(queue, ts);
	slice_tell(queue, SLICE_ALIVE,
		   queue->created_seen ? queue->created : queue->client->gpu->model->first, ts);
}

/* A queue that is mapped for the first time in the recording, for the end of the preemption that ends now */
static bool is_back(const struct gpu *gpu, const struct queue *queue)
{
	return !queue->created_seen && queue->mapped && queue->first_map == queue->seen &&
	       queue->first_map >= gpu->unmapped_ts;
}

/**
 * gpu_preempted_before() - count a preemption that began before the recording
 * @gpu: the GPU
 * @event: the end of the preemption
 *
 * Its victims are known if as many queues of lower processes as it took off are back: they were off from the first
 * event on.
 *
 * Return: 0 or -ENOMEM.
 */
int gpu_preempted_before(struct gpu *gpu, const struct kfd_event *event)
{
	uint64_t first = gpu->model->first;
	struct client *client;
	struct queue *queue;
	int64_t nr = 0;

	for (client = gpu->clients; client; client = client->next)
		for (queue = client->queues; queue; queue = queue->client_next)
			nr += store_prio(client) < event->v[F_PRIO] && is_back(gpu, queue);
	if (!nr || nr != event->v[F_QUEUES])
		return 0;
	for (client = gpu->clients; client; client = client->next) {
		uint64_t back = UINT64_MAX;

		if (store_prio(client) >= event->v[F_PRIO])
			continue;
		for (queue = client->queues; queue; queue = queue->client_next) {
			if (!is_back(gpu, queue))
				continue;
			queue->preemptions++;
			queue->preempted_ns += queue->first_map - first;
			slice_tell(queue, SLICE_PREEMPTED, first, queue->first_map);
			if (queue->first_map < back)
				back = queue->first_map;
		}
		if (back == UINT64_MAX)
			continue;
		client->preemptor = store_pair(client, event->v[F_PID]);
		if (!client->preemptor)
			return -ENOMEM;
		client->preemptions++;
		client->preemptor->count++;
		client->preempted_ns += back - first;
		client->preemptor->ns += back - first;
	}
	return 0;
}
