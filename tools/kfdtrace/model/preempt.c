// SPDX-License-Identifier: GPL-2.0
/* Preemptions of a GPU: their begin and end, and when the GPU is free of the victims; see model.h. */
#include <errno.h>

#include "queue.h"
#include "store.h"

/**
 * preempt_taken() - the GPU is free of the victims of a preemption
 * @gpu: the GPU
 * @ts: now
 */
void preempt_taken(struct gpu *gpu, uint64_t ts)
{
	hist_add(&gpu->take, ts - gpu->begin.ts);
	if (gpu->waking && gpu->wake_preempts) {
		hist_add(&gpu->wake, ts - gpu->wake_ts);
		gpu->waking = false;
	}
}

/**
 * preempt_begin() - a preemption begins
 * @model: the model
 * @gpu: its GPU
 * @event: EV_PREEMPT_BEGIN
 *
 * Return: 0 or -ENOMEM.
 */
int preempt_begin(struct model *model, struct gpu *gpu, const struct kfd_event *event)
{
	struct client *client = store_client(model, gpu->gpu_id, event->v[F_PID]);
	uint64_t reason = event->v[F_REASON];

	if (!client)
		return -ENOMEM;
	client->preempting++;
	client->last_reason = reason;
	client->last_by = event->v[F_PID];
	gpu->begins[reason < NR_KFD_REASONS ? reason : NR_KFD_REASONS]++;
	gpu->preempting = true;
	gpu->begin = (struct preemption){
		.ts = event->ts, .seq = event->v[F_SEQ], .pid = event->v[F_PID],
		.prio = event->v[F_PRIO], .reason = reason, .victims = event->v[F_VICTIMS],
		.queues = event->v[F_QUEUES]
	};
	gpu->take_left = event->v[F_QUEUES];
	gpu->wake_preempts = gpu->waking && gpu->wake_pid == gpu->begin.pid;
	/* processes that are off already are preempted by this one from now on */
	for (client = gpu->preempted; client; client = client->preempted_next) {
		client->preemptor->ns += event->ts - client->pair_since;
		client->last_reason = reason;
		client->last_by = gpu->begin.pid;
		client->preemptor = store_pair(client, gpu->begin.pid);
		if (!client->preemptor)
			return -ENOMEM;
		client->pair_since = event->ts;
	}
	return throttle_released_end(gpu, true, event->ts);
}

/**
 * preempt_end() - a preemption ends
 * @model: the model
 * @gpu: its GPU
 * @event: EV_PREEMPT_END
 *
 * Return: 0 or -ENOMEM.
 */
int preempt_end(struct model *model, struct gpu *gpu, const struct kfd_event *event)
{
	struct client *client = store_client(model, gpu->gpu_id, event->v[F_PID]);
	uint64_t reason = event->v[F_REASON];
	uint64_t lasted = event->v[F_DUR_NS];
	struct queue *queue;

	if (!client)
		return -ENOMEM;
	if (gpu->preempting && gpu->begin.seq == event->v[F_SEQ] && is_too_long(event, gpu->begin.ts)) {
		model->impossible++;
		return 0;
	}
	/* The time before the recording is in no sum. */
	if (lasted > event->ts - model->first) {
		lasted = event->ts - model->first;
		/* the state at the begin, or its own begin as the first event, has counted it already */
		client->preempting += !gpu->preempting ||
				      (gpu->begin.seq >= 0 && gpu->begin.seq != event->v[F_SEQ]);
		if (!gpu->preempting && gpu_preempted_before(gpu, event))
			return -ENOMEM;
	}
	gpu->ends[reason < NR_KFD_REASONS ? reason : NR_KFD_REASONS]++;
	hist_add(&gpu->preempt, event->v[F_DUR_NS]);
	if (event->v[F_SAVE_NS] >= 0)
		hist_add(&gpu->save, event->v[F_SAVE_NS]);
	client->preempting_ns += lasted;
	client->last_reason = reason;
	client->last_by = event->v[F_PID];
	/* another one took over, and has begun; of one that was not seen to begin, seq is not known */
	if (gpu->preempting && gpu->begin.seq >= 0 && gpu->begin.seq != event->v[F_SEQ])
		return 0;
	gpu->preempting = false;
	gpu->take_left = 0;
	/* a queue without work is not mapped again, and no process preempts it */
	while ((client = gpu->preempted)) {
		client_resume(client, event->ts);
		for (queue = client->queues; queue; queue = queue->client_next)
			queue_resume(queue, event->ts);
	}
	return 0;
}
