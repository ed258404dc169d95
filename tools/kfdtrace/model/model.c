// SPDX-License-Identifier: GPL-2.0
/* Events in, sums out; see model.h. */
#include <errno.h>
#include <stdlib.h>

#include "model.h"
#include "queue.h"
#include "store.h"

/**
 * anomaly_add() - note an anomaly
 * @model: the model
 * @kind: what
 * @ts: when, ns
 * @gpu_id: where
 * @pid: of the process, or -1
 * @queue_id: which, or -1
 * @value: ns, or a negative errno
 */
void anomaly_add(struct model *model, enum anomaly_kind kind, uint64_t ts, uint32_t gpu_id, int32_t pid,
		 int64_t queue_id, int64_t value)
{
	model->nr_anomalies[kind]++;
	if (model->kept_anomalies == MODEL_MAX_ANOMALIES)
		return;
	model->anomalies[model->kept_anomalies++] = (struct anomaly){
		.ts = ts, .kind = kind, .gpu_id = gpu_id, .pid = pid, .queue_id = queue_id, .value = value
	};
}

/* A thread begins to ask for a queue; what it asked for before came to nothing. */
static void ask_note(struct model *model, const struct kfd_event *event)
{
	unsigned int i;

	for (i = 0; i < MODEL_MAX_ASKED; i++)
		if (model->asked[i].ts && model->asked[i].task == event->task)
			break;
	if (i == MODEL_MAX_ASKED) {
		i = model->next_asked;
		model->next_asked = (i + 1) % MODEL_MAX_ASKED;
	}
	model->asked[i].task = event->task;
	model->asked[i].ts = event->ts;
}

/* When this thread began to ask for the queue that it gets now, 0 if that is not known. */
static uint64_t ask_take(struct model *model, int32_t task)
{
	unsigned int i;
	uint64_t ts;

	for (i = 0; i < MODEL_MAX_ASKED; i++) {
		ts = model->asked[i].ts;
		if (!ts || model->asked[i].task != task)
			continue;
		model->asked[i].ts = 0;
		return ts;
	}
	return 0;
}

static int on_create(struct model *model, struct queue *queue, const struct kfd_event *event)
{
	/* Its end was lost, or it could not be destroyed. */
	if (queue->created_seen) {
		queue_settle(queue, event->ts);
		queue->client->destroyed++;
		store_forget(model, queue);
		queue = store_queue(model, event->v[F_GPU_ID], event->v[F_PID],
				    event->v[F_QUEUE_ID], event->ts);
		if (!queue)
			return -ENOMEM;
		queue->prio = event->v[F_PRIO];
	} else if (queue->before) {
		queue_anew(queue, event->ts);
	}
	queue->created_seen = true;
	queue->asked = ask_take(model, event->task);
	queue->created = event->ts;
	queue->type = event->v[F_TYPE];
	queue->format = event->v[F_FORMAT];
	queue->req_prio = event->v[F_REQ_PRIO];
	if (event->v[F_DOORBELL] != KFD_NOT_YET)
		queue->doorbell = event->v[F_DOORBELL];
	queue->ring_base = event->v[F_RING_BASE];
	queue->ring_size = event->v[F_RING_SIZE];
	queue->cwsr_size = event->v[F_CWSR_SIZE];
	queue->wptr = event->v[F_WPTR];
	queue->client->created++;
	return 0;
}

static void on_destroy(struct model *model, struct queue *queue, const struct kfd_event *event)
{
	struct client *client = queue->client;

	if (event->v[F_RET])
		anomaly_add(model, ANOMALY_DESTROY_FAILED, event->ts, client->gpu->gpu_id,
			    client->process->pid, queue->queue_id, event->v[F_RET]);
	/* asked for by its owner it stays if that fails, but for a GPU that does not answer */
	if (event->v[F_REASON] == KFD_PRIO_DESTROY_IOCTL && event->v[F_RET] && event->v[F_RET] != -ETIME &&
	    event->v[F_RET] != -EIO)
		return;
	if (event->v[F_REASON] == KFD_PRIO_DESTROY_CREATE_FAILED)
		anomaly_add(model, ANOMALY_CREATE_FAILED, event->ts, client->gpu->gpu_id,
			    client->process->pid, queue->queue_id, event->v[F_RET]);
	queue_settle(queue, event->ts);
	queue->destroyed = event->ts;
	queue->destroy_reason = event->v[F_REASON];
	client->destroyed++;
	store_forget(model, queue);
	if (client->queues)
		return;
	client_resume(client, event->ts);
	client_unpark(client, event->ts);
	client_throttle_end(client, event->ts);
	/* a HIP program that exits is evicted as its memory goes, and nothing restores it */
	client_evicted_end(client, event->ts);
}

/* A queue whose creation was not recorded: whether it was mapped is unknown until an event shows it */
static void queue_older(struct queue *queue)
{
	const struct client *client = queue->client;

	queue->unknown = true;
	client->gpu->unknown = true;
	/* the eviction that has ended has kept it off as well */
	if (client->evicted_to)
		queue_evicted_past(queue);
	if (client->throttling.to && !client->throttled)
		queue_throttled_past(queue);
}

static int queue_event(struct model *model, const struct kfd_event *event)
{
	bool seen = store_find(model, event->v[F_GPU_ID], event->v[F_PID], event->v[F_QUEUE_ID]);
	struct queue *queue = store_queue(model, event->v[F_GPU_ID], event->v[F_PID],
					  event->v[F_QUEUE_ID], event->ts);

	if (!queue)
		return -ENOMEM;
	/* the MQD is initialised while the queue is created */
	if (!seen && event->type != EV_CREATE_QUEUE && event->type != EV_INIT_MQD)
		queue_older(queue);
	if (event->v[F_PRIO] != KFD_NOT_YET)
		queue->prio = event->v[F_PRIO];
	switch (event->type) {
	case EV_CREATE_QUEUE:
		return on_create(model, queue, event);
	case EV_INIT_MQD:
		queue->mqd_init = event->ts;
		queue->mqd_addr = event->v[F_MQD_ADDR];
		queue->pipe_prio = event->v[F_PIPE_PRIO];
		if (event->v[F_DOORBELL] != KFD_NOT_YET)
			queue->doorbell = event->v[F_DOORBELL];
		break;
	case EV_UPDATE_QUEUE:
		queue->req_prio = event->v[F_REQ_PRIO];
		queue->ring_base = event->v[F_RING_BASE];
		queue->ring_size = event->v[F_RING_SIZE];
		break;
	case EV_MAP_QUEUE:
		queue->type = event->v[F_TYPE];
		queue->doorbell = event->v[F_DOORBELL];
		queue->mqd_addr = event->v[F_MQD_ADDR];
		if (event->v[F_RET])
			anomaly_add(model, ANOMALY_MAP_FAILED, event->ts, event->v[F_GPU_ID],
				    event->v[F_PID], event->v[F_QUEUE_ID], event->v[F_RET]);
		else
			queue_on(queue, event->ts);
		break;
	default:
		on_destroy(model, queue, event);
		break;
	}
	return 0;
}

static void on_runlist(struct model *model, struct gpu *gpu, const struct kfd_event *event)
{
	if (event->v[F_RET]) {
		anomaly_add(model, ANOMALY_MAP_FAILED, event->ts, gpu->gpu_id, -1, -1, event->v[F_RET]);
		return;
	}
	gpu->runlists++;
	gpu->runlist_queues += event->v[F_QUEUES];
	if ((uint64_t)event->v[F_QUEUES] > gpu->max_queues)
		gpu->max_queues = event->v[F_QUEUES];
	if ((uint64_t)event->v[F_PROCESSES] > gpu->max_processes)
		gpu->max_processes = event->v[F_PROCESSES];
	if (event->v[F_OVER_SUBSCRIBED]) {
		gpu->over_subscribed++;
		gpu->over = true;
		gpu->over_since = event->ts;
	}
}

/**
 * over_end() - the runlist fits again, if it did not
 * @gpu: the GPU
 * @ts: now
 */
void over_end(struct gpu *gpu, uint64_t ts)
{
	if (gpu->over)
		gpu->over_ns += ts - gpu->over_since;
	gpu->over = false;
}

static void on_unmap(struct model *model, struct gpu *gpu, const struct kfd_event *event)
{
	/* the driver waits for one before it begins another */
	if (gpu->unmapping && !model->lacks[EV_UNMAP_QUEUES_DONE])
		anomaly_add(model, ANOMALY_UNMAP_OPEN, gpu->unmap_ts, gpu->gpu_id, -1, -1, event->ts - gpu->unmap_ts);
	gpu->unmapping = true;
	gpu->unmap_ts = event->ts;
	gpu->unmap_pid = event->v[F_PID];
	gpu->unmap_queue = event->v[F_QUEUE_ID];
	gpu->unmap_filter = event->v[F_FILTER];
}

/* All queues are off: those as well of which no event has told where they were */
static int unknown_off(struct gpu *gpu, uint64_t ts)
{
	struct client *client;
	struct queue *queue;
	int ret = 0;

	for (client = gpu->unknown ? gpu->clients : NULL; client; client = client->next)
		for (queue = client->queues; queue && !ret; queue = queue->client_next)
			if (queue->unknown)
				ret = queue_off(queue, ts);
	gpu->unknown = false;
	return ret;
}

static int on_unmapped(struct model *model, struct gpu *gpu, const struct kfd_event *event)
{
	bool one = gpu->unmapping && gpu->unmap_filter == KFD_PRIO_FILTER_MES_QUEUE;
	struct queue *queue, *next;
	int ret = 0;

	if (gpu->unmapping && is_too_long(event, gpu->unmap_ts)) {
		model->impossible++;
		return 0;
	}
	hist_add(&gpu->unmap, event->v[F_DUR_NS]);
	if (event->v[F_RET])
		anomaly_add(model, ANOMALY_UNMAP_FAILED, event->ts, gpu->gpu_id, -1, -1,
			    event->v[F_RET]);
	else if ((uint64_t)event->v[F_DUR_NS] > model->slow_unmap_ns)
		anomaly_add(model, ANOMALY_SLOW_UNMAP, event->ts, gpu->gpu_id, -1, -1,
			    event->v[F_DUR_NS]);
	if (one) {
		queue = store_queue(model, gpu->gpu_id, gpu->unmap_pid, gpu->unmap_queue, event->ts);
		if (!queue)
			return -ENOMEM;
		ret = queue_off(queue, event->ts);
	} else if (!gpu->unmapping || gpu->unmap_filter != KFD_PRIO_FILTER_PASID) {
		gpu->unmapped_ts = event->ts;
		over_end(gpu, event->ts);
		ret = unknown_off(gpu, event->ts);
		for (queue = gpu->mapped; queue && !ret; queue = next) {
			next = queue->mapped_next;
			ret = queue_off(queue, event->ts);
		}
	}
	gpu->unmapping = false;
	if (gpu->take_left) {
		gpu->take_left = one ? gpu->take_left - 1 : 0;
		if (!gpu->take_left)
			preempt_taken(gpu, event->ts);
	}
	return ret;
}

static int gpu_event(struct model *model, const struct kfd_event *event)
{
	struct gpu *gpu = store_gpu(model, event->v[F_GPU_ID]);

	if (!gpu)
		return -ENOMEM;
	if (event->type != EV_PREEMPT_BEGIN)
		throttle_released_end(gpu, false, event->ts);
	switch (event->type) {
	case EV_MAP_QUEUES:
		on_runlist(model, gpu, event);
		return 0;
	case EV_UNMAP_QUEUES:
		on_unmap(model, gpu, event);
		return 0;
	case EV_UNMAP_QUEUES_DONE:
		return on_unmapped(model, gpu, event);
	case EV_PREEMPT_BEGIN:
		return preempt_begin(model, gpu, event);
	case EV_PREEMPT_END:
		return preempt_end(model, gpu, event);
	default:
		gpu->hangs++;
		anomaly_add(model, ANOMALY_HANG, event->ts, gpu->gpu_id, -1, -1, 0);
		return 0;
	}
}

/*
 * The first eviction or restore of a process shows whether it was evicted before: that eviction is counted from the begin of
 * the recording on.
 */
static void evicted_before(const struct model *model, struct client *client, const struct kfd_event *event)
{
	bool before = event->type == EV_RESTORE_PROCESS || event->v[F_EVICTED] > 1;

	if (!client->evicted_known && !client->evicted && before) {
		client->evicted = true;
		client->evicted_since = model->first;
		client->evictions++;
	}
	client->evicted_known = true;
}

static int client_event(struct model *model, const struct kfd_event *event)
{
	struct client *client = store_client(model, event->v[F_GPU_ID], event->v[F_PID]);
	const struct queue *queue;

	if (!client)
		return -ENOMEM;
	if (event->type == EV_DOORBELL_WAKE) {
		client->wakes++;
		client->process->prio = event->v[F_PRIO];
		client->gpu->waking = true;
		client->gpu->wake_preempts = false;
		client->gpu->wake_ts = event->ts;
		client->gpu->wake_pid = event->v[F_PID];
		return 0;
	}
	client->process->prio = event->v[F_PRIO];
	evicted_before(model, client, event);
	if (event->type == EV_EVICT_PROCESS) {
		client->evictions++;
		if (!client->evicted)
			client->evicted_since = event->ts;
		client->evicted = true;
		client->evicted_queues = event->v[F_QUEUES];
	} else if (!event->v[F_EVICTED] && client->evicted) {
		for (queue = client->queues; queue; queue = queue->client_next)
			queue_evicted_tell(queue, event->ts);
		client_evicted_end(client, event->ts);
	}
	return 0;
}

/* From the begin of the recording on, if that it was parked was not recorded */
static void parked_before(struct model *model, struct client *client, uint64_t parked_ns, uint64_t ts)
{
	if (client->parked)
		return;
	client_park(client, true, ts);
	client->parked_since = parked_ns < ts - model->first ? ts - parked_ns : model->first;
}

static int park_event(struct model *model, const struct kfd_event *event)
{
	struct client *client = store_client(model, event->v[F_GPU_ID], event->v[F_PID]);
	uint64_t reason = event->v[F_REASON];
	struct queue *queue;
	int ret = 0;

	if (!client)
		return -ENOMEM;
	if (event->type == EV_PARK) {
		client->gpu->parks[reason < NR_KFD_PARK_REASONS ? reason : NR_KFD_PARK_REASONS]++;
		client_park(client, reason == KFD_PRIO_PARK_PREEMPTED, event->ts);
		return 0;
	}
	client->gpu->unparks[reason < NR_KFD_UNPARK_REASONS ? reason : NR_KFD_UNPARK_REASONS]++;
	if (reason == KFD_PRIO_UNPARK_RING)
		hist_add(&client->gpu->unpark, event->v[F_WAKE_NS]);
	parked_before(model, client, event->v[F_PARKED_NS], event->ts);
	client_unpark(client, event->ts);
	/* it stays off, and is preempted from now on */
	for (queue = client->queues; reason == KFD_PRIO_UNPARK_PREEMPT && queue && !ret; queue = queue->client_next)
		if (!queue->mapped)
			ret = queue_preempt(queue, event->ts);
	return ret;
}

/**
 * model_event() - take in an event
 * @model: the model
 * @event: not earlier than the one before
 *
 * Return: 0 or -ENOMEM.
 */
int model_event(struct model *model, const struct kfd_event *event)
{
	struct process *process;

	if (!model->first)
		model->first = event->ts;
	model->last = event->ts;
	model->events[event->type]++;
	switch (event->type) {
	case EV_CREATE_QUEUE:
	case EV_DESTROY_QUEUE:
	case EV_UPDATE_QUEUE:
	case EV_INIT_MQD:
	case EV_MAP_QUEUE:
		return queue_event(model, event);
	case EV_EVICT_PROCESS:
	case EV_RESTORE_PROCESS:
	case EV_DOORBELL_WAKE:
		return client_event(model, event);
	case EV_PARK:
	case EV_UNPARK:
		return park_event(model, event);
	case EV_THROTTLE_BEGIN:
	case EV_THROTTLE_END:
		return throttle_event(model, event);
	case EV_IOCTL_CREATE_QUEUE:
		ask_note(model, event);
		return 0;
	case EV_SET_PRIORITY:
		process = store_process(model, event->v[F_PID]);
		if (!process)
			return -ENOMEM;
		process->prio = event->v[F_PRIO];
		process->changes++;
		return 0;
	default:
		return gpu_event(model, event);
	}
}
