// SPDX-License-Identifier: GPL-2.0
/*
 * Throttling: groups keep a process with work off a GPU; see model.h.
 *
 * The order of the events in one step of the driver: kfd_park, then the kfd_throttle_end of the same process; kfd_unpark,
 * then its kfd_throttle_begin; kfd_throttle_end, then the kfd_preempt_begin of the GPU. A process that is preempted, parked
 * or mapped is not throttled.
 */
#include <errno.h>

#include "queue.h"
#include "store.h"

/* ns; a process that was preempted for less than that before it was throttled was not: both are of one step */
#define MODEL_STEP_NS 1000000

/* The numbers of the driver wrap around */
static bool is_older(int64_t seq, int64_t other)
{
	return (int32_t)((uint32_t)seq - (uint32_t)other) < 0;
}

/* No preemption keeps it off any more */
static void preempted_end(struct client *client, uint64_t ts)
{
	struct queue *queue;

	if (!client->preempted)
		return;
	if (client->preempted_since + MODEL_STEP_NS > ts) {
		client_preempted_not(client);
		return;
	}
	client_resume(client, ts);
	for (queue = client->queues; queue; queue = queue->client_next)
		queue_resume(queue, ts);
}

static int throttle_start(struct client *client, const struct throttling *throttling)
{
	if (store_throttle(client, throttling))
		return -ENOMEM;
	client->throttled = true;
	client->throttle_count++;
	client->throttling.from = throttling->from;
	client->throttling.seq = throttling->seq;
	client->throttling.open = true;
	client->throttling.reason = throttling->reason;
	client->throttling.share = throttling->share;
	client->throttling.cgroup_share = throttling->cgroup_share;
	preempted_end(client, throttling->from);
	return 0;
}

/**
 * client_throttled() - a process is throttled, as a list of the driver shows, which has neither reason nor number
 * @client: the process
 * @ts: now
 *
 * Return: 0 or -ENOMEM.
 */
int client_throttled(struct client *client, uint64_t ts)
{
	const struct throttling unknown = { .from = ts, .seq = -1, .reason = -1, .share = -1, .cgroup_share = -1 };

	return throttle_start(client, &unknown);
}

/**
 * throttle_begin() - a process is throttled from now on
 * @model: the model
 * @client: the process on its GPU
 * @event: EV_THROTTLE_BEGIN
 *
 * Return: 0 or -ENOMEM.
 */
static int throttle_begin(struct model *model, struct client *client, const struct kfd_event *event)
{
	const struct throttling begin = {
		.from = event->ts, .seq = event->v[F_SEQ], .reason = event->v[F_REASON], .share = event->v[F_SHARE],
		.cgroup_share = event->v[F_CGROUP_SHARE]
	};

	/* the same number twice */
	if (client->throttling.open && client->throttling.seq == begin.seq) {
		model->impossible++;
		return 0;
	}
	client->gpu->throttles[throttle_slot(begin.reason)]++;
	if (client->throttled && client->throttling.seq < 0) {
		/* the list of the driver was read a moment after this event */
		client->throttled = false;
		client->throttle_count--;
	}
	/* the events about these ends were lost */
	client_throttle_end(client, event->ts);
	client_unpark(client, event->ts);
	return throttle_start(client, &begin);
}

/*
 * It stays off, and a preemption that goes on is the reason now. The event of one that begins in the same step comes after
 * this one.
 */
static int throttle_released(struct client *client, uint64_t ts)
{
	struct queue *queue;

	for (queue = client->queues; queue; queue = queue->client_next)
		if (!queue->mapped && queue_preempt(queue, ts))
			return -ENOMEM;
	if (client->preempted || client->released)
		return 0;
	client->released = true;
	client->released_next = client->gpu->released;
	client->gpu->released = client;
	return 0;
}

/* Its begin was lost, or was before the recording: what the event tells is counted, as far as it is in no sum yet */
static int throttle_begun_before(struct client *client, const struct kfd_event *event)
{
	uint64_t least = client->gpu->model->first, lasted = event->v[F_THROTTLED_NS];
	struct throttling before = {
		.seq = event->v[F_SEQ], .reason = event->v[F_REASON], .share = -1, .cgroup_share = -1
	};

	if (least < client->throttling.to)
		least = client->throttling.to;
	if (client->throttled && least < client->throttling.from)
		least = client->throttling.from;
	before.from = lasted < event->ts - least ? event->ts - lasted : least;
	client_throttle_end(client, before.from);
	return throttle_start(client, &before);
}

/**
 * throttle_end() - a process is throttled no more
 * @model: the model
 * @client: the process on its GPU
 * @event: EV_THROTTLE_END
 *
 * Return: 0 or -ENOMEM.
 */
static int throttle_end(struct model *model, struct client *client, const struct kfd_event *event)
{
	struct throttling *now = &client->throttling;
	int64_t seq = event->v[F_SEQ];
	bool was = client->throttled;

	if (now->open && now->seq >= 0 && now->seq != seq && is_older(seq, now->seq)) {
		model->impossible++;
		return 0;
	}
	if (now->open && now->seq == seq && was &&
	    (uint64_t)event->v[F_THROTTLED_NS] > event->ts - now->from + MODEL_SLACK_NS) {
		model->impossible++;
		return 0;
	}
	/* the same end twice */
	if (!now->open && client->throttle_count && now->seq == seq) {
		model->impossible++;
		return 0;
	}
	if (!now->open || (now->seq >= 0 && now->seq != seq)) {
		if (throttle_begun_before(client, event))
			return -ENOMEM;
		was = true;
	} else if (was && now->reason < 0) {
		now->reason = event->v[F_REASON];
		if (store_throttle(client, now))
			return -ENOMEM;
	}
	now->seq = seq;
	now->open = false;
	client_throttle_end(client, event->ts);
	/* else a kfd_park or a map has ended it */
	return was ? throttle_released(client, event->ts) : 0;
}

/**
 * throttle_event() - a process is throttled, or is so no more
 * @model: the model
 * @event: EV_THROTTLE_BEGIN or EV_THROTTLE_END
 *
 * Return: 0 or -ENOMEM.
 */
int throttle_event(struct model *model, const struct kfd_event *event)
{
	struct client *client = store_client(model, event->v[F_GPU_ID], event->v[F_PID]);

	if (!client)
		return -ENOMEM;
	return event->type == EV_THROTTLE_BEGIN ? throttle_begin(model, client, event) :
						  throttle_end(model, client, event);
}

/**
 * throttle_released_end() - the step of the driver in which processes were throttled no more has ended
 * @gpu: the GPU
 * @preempted: a preemption has begun in that step: those that are still off are preempted
 * @ts: now
 *
 * Return: 0 or -ENOMEM.
 */
int throttle_released_end(struct gpu *gpu, bool preempted, uint64_t ts)
{
	struct client *client;
	struct queue *queue;
	int ret = 0;

	while ((client = gpu->released)) {
		gpu->released = client->released_next;
		client->released = false;
		for (queue = client->queues; preempted && queue && !ret; queue = queue->client_next)
			if (!queue->mapped)
				ret = queue_preempt(queue, ts);
	}
	return ret;
}

/**
 * throttle_forget() - events are missing: whether a process is throttled is not known any more
 * @client: the process; its sums stay
 * @ts: now
 */
void throttle_forget(struct client *client, uint64_t ts)
{
	client_throttle_end(client, ts);
	client->throttling.open = false;
	client->throttling.seq = -1;
}
