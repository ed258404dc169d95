// SPDX-License-Identifier: GPL-2.0
/*
 * A third kind of source: a driver that has the events of contrib/rfc (events/amdkfd/).  Each of its events that matters here
 * is one of kfdprio's, without what only kfdprio has. The start of an operation is not needed where its end has all.
 */
#include <stdbool.h>
#include <linux/kfd_prio.h>

#include "upstream.h"

enum {
	CREATE_START,
	CREATE_END,
	MQD_INIT,
	UPDATE_END,
	DESTROY_END,
	RELEASE,
	EVICT_END,
	RESTORE_END,
	RUNLIST_UNMAP_START,
	RUNLIST_UNMAP_END,
	RUNLIST_QUEUE,
	RUNLIST_MAP_END,
	MES_ADD_END,
	MES_REMOVE_START,
	MES_REMOVE_END,
	HANG,
};

/* The numbers of AMDKFD_IOC_CREATE_QUEUE, which are the types of these events: <linux/kfd_ioctl.h> needs libdrm's headers */
enum { COMPUTE = 0, SDMA = 1, COMPUTE_AQL = 2, SDMA_XGMI = 3, SDMA_BY_ENGINE = 4 };

#define GPU	{ F_GPU_ID, "gpu_id" }
#define PROCESS GPU, { F_PID, "pid" }
#define QUEUE	PROCESS, { F_QUEUE_ID, "queue_id" }
#define MAPPED	QUEUE, { F_PRIO, "priority" }, { F_TYPE, "type" }, { F_DOORBELL, "doorbell" }, { F_MQD_ADDR, "mqd" }
#define COUNTS	{ F_PROCESSES, "processes" }, { F_QUEUES, "queues" }
#define RESULT	{ F_RET, "ret" }

const struct upstream_event upstream_events[NR_UPSTREAM_EVENTS] = {
	[CREATE_START] = { "amdkfd_queue_create_start", EV_CREATE_QUEUE,
			   { QUEUE, { F_PRIO, "priority" }, { F_TYPE, "type" }, { F_RING_BASE, "ring" },
			     { F_RING_SIZE, "ring_size" }, { F_CWSR_SIZE, "cwsr_size" }, { F_WPTR, "wptr" } } },
	[CREATE_END] = { "amdkfd_queue_create_end", EV_DESTROY_QUEUE, { QUEUE, RESULT } },
	[MQD_INIT] = { "amdkfd_queue_mqd_init", EV_INIT_MQD,
		       { QUEUE, { F_PRIO, "priority" }, { F_DOORBELL, "doorbell" }, { F_MQD_ADDR, "mqd" } } },
	[UPDATE_END] = { "amdkfd_queue_update_end", EV_UPDATE_QUEUE,
			 { QUEUE, { F_PRIO, "priority" }, { F_RING_BASE, "ring" }, { F_RING_SIZE, "ring_size" }, RESULT } },
	[DESTROY_END] = { "amdkfd_queue_destroy_end", EV_DESTROY_QUEUE, { QUEUE, RESULT } },
	[RELEASE] = { "amdkfd_queue_release", EV_DESTROY_QUEUE, { QUEUE } },
	[EVICT_END] = { "amdkfd_process_evict_end", EV_EVICT_PROCESS,
			{ PROCESS, { F_EVICTED, "evicted" }, { F_QUEUES, "queues" }, RESULT } },
	[RESTORE_END] = { "amdkfd_process_restore_end", EV_RESTORE_PROCESS,
			  { PROCESS, { F_EVICTED, "evicted" }, { F_QUEUES, "queues" }, RESULT } },
	[RUNLIST_UNMAP_START] = { "amdkfd_runlist_unmap_start", EV_UNMAP_QUEUES, { GPU, { F_FILTER, "filter" } } },
	[RUNLIST_UNMAP_END] = { "amdkfd_runlist_unmap_end", EV_UNMAP_QUEUES_DONE, { GPU, RESULT } },
	[RUNLIST_QUEUE] = { "amdkfd_runlist_queue", EV_MAP_QUEUE, { MAPPED } },
	[RUNLIST_MAP_END] = { "amdkfd_runlist_map_end", EV_MAP_QUEUES,
			      { GPU, COUNTS, { F_OVER_SUBSCRIBED, "oversubscribed" }, RESULT } },
	[MES_ADD_END] = { "amdkfd_mes_queue_add_end", EV_MAP_QUEUE, { MAPPED, RESULT } },
	[MES_REMOVE_START] = { "amdkfd_mes_queue_remove_start", EV_UNMAP_QUEUES, { QUEUE } },
	[MES_REMOVE_END] = { "amdkfd_mes_queue_remove_end", EV_UNMAP_QUEUES_DONE, { GPU, RESULT } },
	[HANG] = { "amdkfd_scheduler_hang", EV_HWS_HANG, { GPU, COUNTS } },
};

static void type_set(struct kfd_event *event)
{
	int64_t type = event->v[F_TYPE];

	event->v[F_FORMAT] = type == COMPUTE_AQL ? KFD_PRIO_FORMAT_AQL : KFD_PRIO_FORMAT_PM4;
	if (type == COMPUTE_AQL)
		event->v[F_TYPE] = KFD_PRIO_TYPE_COMPUTE;
	else if (type == SDMA_BY_ENGINE)
		event->v[F_TYPE] = KFD_PRIO_TYPE_SDMA;
	else if (type == SDMA_XGMI)
		event->v[F_TYPE] = KFD_PRIO_TYPE_SDMA_XGMI;
	else if (type != COMPUTE && type != SDMA)
		event->v[F_TYPE] = UINT32_MAX;	/* a number without a name */
}

/**
 * upstream_finish() - the fields of ours that an event of the series has not, or has in another form
 * @n: which of upstream_events[]
 * @event: its fields are there
 *
 * Return: whether it is one of our events; the end of a creation is one only if the creation has failed.
 */
bool upstream_finish(unsigned int n, struct kfd_event *event)
{
	int64_t prio = event->v[F_PRIO];

	switch (n) {
	case CREATE_START:
		type_set(event);
		event->v[F_REQ_PRIO] = prio;
		event->v[F_DOORBELL] = KFD_NOT_YET;
		break;
	case CREATE_END:
		event->v[F_REASON] = KFD_PRIO_DESTROY_CREATE_FAILED;
		event->v[F_PRIO] = KFD_NOT_YET;
		return event->v[F_RET];
	case MQD_INIT:
		event->v[F_PIPE_PRIO] = prio >= 11 ? KFD_PRIO_PIPE_HIGH : prio >= 7 ? KFD_PRIO_PIPE_MEDIUM : KFD_PRIO_PIPE_LOW;
		break;
	case UPDATE_END:
		event->v[F_REQ_PRIO] = prio;
		break;
	case DESTROY_END:
		event->v[F_REASON] = KFD_PRIO_DESTROY_IOCTL;
		event->v[F_PRIO] = KFD_NOT_YET;
		break;
	case RELEASE:
		event->v[F_REASON] = KFD_PRIO_DESTROY_EXIT;
		event->v[F_PRIO] = KFD_NOT_YET;
		event->v[F_RET] = 0;
		break;
	case EVICT_END:
	case RESTORE_END:
		event->v[F_PRIO] = KFD_PRIO_UNSET;
		break;
	case RUNLIST_UNMAP_START:
		event->v[F_PID] = -1;
		event->v[F_QUEUE_ID] = UINT32_MAX;
		break;
	case RUNLIST_UNMAP_END:
	case MES_REMOVE_END:
		event->v[F_DUR_NS] = KFD_NOT_YET;
		break;
	case RUNLIST_QUEUE:
		type_set(event);
		event->v[F_RET] = 0;
		break;
	case MES_ADD_END:
		type_set(event);
		break;
	case MES_REMOVE_START:
		event->v[F_FILTER] = KFD_PRIO_FILTER_MES_QUEUE;
		break;
	default:
		break;
	}
	return true;
}

/**
 * kfd_unmap_complete() - an unmap takes as long as from its start to its end, where its events do not have that
 * @unmaps: those that have begun, of the same recording
 * @event: decoded, with its time
 */
void kfd_unmap_complete(struct kfd_unmaps *unmaps, struct kfd_event *event)
{
	unsigned int i;

	if (event->type != EV_UNMAP_QUEUES && event->type != EV_UNMAP_QUEUES_DONE)
		return;
	for (i = 0; i < unmaps->nr && unmaps->gpu_id[i] != (uint32_t)event->v[F_GPU_ID]; i++)
		;
	if (event->type == EV_UNMAP_QUEUES_DONE) {
		if (event->v[F_DUR_NS] == KFD_NOT_YET)
			event->v[F_DUR_NS] = i < unmaps->nr && unmaps->ts[i] && event->ts > unmaps->ts[i] ?
						     (int64_t)(event->ts - unmaps->ts[i]) : 0;
		if (i < unmaps->nr)
			unmaps->ts[i] = 0;
		return;
	}
	if (i == KFD_MAX_UNMAPS)
		return;
	if (i == unmaps->nr)
		unmaps->gpu_id[unmaps->nr++] = event->v[F_GPU_ID];
	unmaps->ts[i] = event->ts;
}
