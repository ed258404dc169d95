// SPDX-License-Identifier: GPL-2.0
/*
 * The timeline in the trace event format of Chrome, which ui.perfetto.dev opens, too.
 *
 * A row per queue, among those of its process, and one for what happens to the process; rows of
 * the GPU, which is shown as a process whose number no process has, for preemptions and unmaps,
 * and counters of the queues that are mapped.  A flow goes from each preemption to its victims.
 */
#define _GNU_SOURCE
#include <inttypes.h>

#include "timeline.h"
#include "views/common/throttle.h"

enum {
	ROW_PREEMPTION = 1,
	ROW_UNMAP = 2
};

/* PIDs are smaller. */
#define GPU_PROCESS(gpu_id) (1000000000LL + (gpu_id))

/* The name of the row for what is no queue's. */
#define ROW_PROCESS 0

static uint64_t flows;

/* The load that was not printed yet. */
static bool load_changed;
static uint32_t load_gpu;
static uint64_t load_ts, load_nr;

/* Whole microseconds would hide an unmap; a double keeps ns for 100 days. */
static void json_us(const char *key, uint64_t ns)
{
	char text[48];

	snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
	json_literal(key, text);
}

static void event_open(const char *kind, const char *name, int64_t pid, int64_t row)
{
	json_open(NULL, '{');
	json_text("ph", kind);
	json_text("name", name);
	json_text("cat", "kfd");
	json_number("pid", pid);
	json_number("tid", row);
}

static void slice_open(const char *name, int64_t pid, int64_t row, uint64_t from, uint64_t to)
{
	event_open("X", name, pid, row);
	json_us("ts", from);
	json_us("dur", to - from);
}

/* Numbers of queues are used again, one after the other: they share a row. */
static int64_t row_of(const struct queue *queue)
{
	return queue->queue_id + 1;
}

static void flow(const char *kind, int64_t pid, int64_t row, uint64_t ts)
{
	event_open(kind, "preempts", pid, row);
	json_count("id", flows);
	json_us("ts", ts);
	if (*kind == 'f')
		json_text("bp", "e");
	json_close('}');
}

static void slice(struct timeline *timeline, const struct queue *queue, enum slice_kind kind,
		  uint64_t from, uint64_t to)
{
	static const char *const names[NR_SLICES] = {
		[SLICE_MAPPED] = "mapped",
		[SLICE_PREEMPTED] = "preempted",
		[SLICE_EVICTED] = "evicted",
		[SLICE_PARKED] = "parked",
		[SLICE_THROTTLED] = "throttled",
	};
	int64_t pid = queue->client->process->pid, gpu = GPU_PROCESS(queue->client->gpu->gpu_id);
	const struct throttling *throttling = &queue->client->throttling;

	(void)timeline;
	/* rows of their own: an eviction may overlap a preemption, which slices of a row must not */
	if (!names[kind])
		return;
	slice_open(names[kind], pid, kind == SLICE_EVICTED ? GPU_PROCESS(row_of(queue)) : row_of(queue),
		   from, to);
	json_open("args", '{');
	json_count("gpu_id", queue->client->gpu->gpu_id);
	json_priority("effective_priority", queue->prio);
	if (kind == SLICE_PREEMPTED) {
		json_number("by_pid", queue->left_for.pid);
		json_priority("by_priority", queue->left_for.prio);
		/* of a preemption that began before the recording, neither is known */
		json_text("reason", queue->left_for.seq < 0 ? NULL : kfd_reason_name(queue->left_for.reason));
		json_known_number("seq", queue->left_for.seq >= 0, queue->left_for.seq);
	}
	if (kind == SLICE_THROTTLED) {
		throttle_json(throttling->reason, throttling->share, throttling->cgroup_share);
		json_known_number("seq", throttling->seq >= 0, throttling->seq);
	}
	json_close('}');
	json_close('}');
	if (kind != SLICE_PREEMPTED)
		return;
	flow("s", gpu, ROW_PREEMPTION, queue->left_for.ts);
	flow("f", pid, row_of(queue), from);
	flows++;
}

static void preemption(struct timeline *timeline, uint32_t gpu_id, const struct preemption *begin,
		       const struct preemption_end *end)
{
	(void)timeline;
	/* slices that overlap and are not one inside the other are dropped by viewers */
	slice_open("preemption", GPU_PROCESS(gpu_id), ROW_PREEMPTION, begin->ts,
		   end->taken_over > begin->ts ? end->taken_over : begin->ts);
	json_open("args", '{');
	json_number("pid", begin->pid);
	json_priority("priority", begin->prio);
	json_known_number("seq", begin->seq >= 0, begin->seq);
	if (begin->reason >= 0) {
		json_text("reason", kfd_reason_name(begin->reason));
		json_number("victim_count", begin->victims);
		json_number("queue_count", begin->queues);
	}
	if (end->reason >= 0) {
		json_text("end_reason", kfd_reason_name(end->reason));
		json_number("ret", end->ret);
	}
	json_close('}');
	json_close('}');
}

static void instant(const char *name, int64_t pid, uint64_t ts, int64_t prio)
{
	event_open("i", name, pid, ROW_PROCESS);
	json_us("ts", ts);
	json_text("s", "p");
	json_open("args", '{');
	json_priority("priority", prio);
	json_close('}');
	json_close('}');
}

static void unmap(const struct kfd_event *event)
{
	uint64_t dur = event->v[F_DUR_NS];

	slice_open("unmap", GPU_PROCESS(event->v[F_GPU_ID]), ROW_UNMAP,
		   dur < event->ts ? event->ts - dur : 0, event->ts);
	json_open("args", '{');
	json_number("ret", event->v[F_RET]);
	json_close('}');
	json_close('}');
}

static void counter(const char *name, uint32_t gpu_id, uint64_t ts, const char *key, int64_t value)
{
	event_open("C", name, GPU_PROCESS(gpu_id), 0);
	json_us("ts", ts);
	json_open("args", '{');
	json_number(key, value);
	json_close('}');
	json_close('}');
}

/*
 * Compute queues on the GPU; HQDs are those of compute queues.  A runlist maps many at once: what
 * is printed is how many there are when something else happens.
 */
static void load_print(const struct timeline *timeline)
{
	const struct gpu *gpu;

	if (!load_changed)
		return;
	load_changed = false;
	for (gpu = timeline->view.model.gpus; gpu; gpu = gpu->next)
		if (gpu->gpu_id == load_gpu)
			counter("HQD load", gpu->gpu_id, load_ts, "compute queues", load_nr);
}

static void load(const struct timeline *timeline, const struct kfd_event *event)
{
	const struct gpu *gpu;

	if (event->type != EV_MAP_QUEUE || load_gpu != event->v[F_GPU_ID])
		load_print(timeline);
	for (gpu = timeline->view.model.gpus; gpu; gpu = gpu->next)
		if (gpu->gpu_id == event->v[F_GPU_ID])
			load_nr = gpu->mapped_compute;
	load_gpu = event->v[F_GPU_ID];
	load_ts = event->ts;
	load_changed = true;
}

static void event(struct timeline *timeline, const struct kfd_event *e)
{
	const struct pids *pids = &timeline->view.options->pids;

	switch (e->type) {
	case EV_UNMAP_QUEUES_DONE:
		unmap(e);
		load(timeline, e);
		break;
	case EV_MAP_QUEUE:
	case EV_DESTROY_QUEUE:
		load(timeline, e);
		break;
	case EV_MAP_QUEUES:
		counter("queues in the runlist", e->v[F_GPU_ID], e->ts, "queues", e->v[F_QUEUES]);
		break;
	case EV_HWS_HANG:
		instant("the scheduler does not answer", GPU_PROCESS(e->v[F_GPU_ID]), e->ts, NO_PRIO);
		break;
	case EV_DOORBELL_WAKE:
		if (pids_have(pids, e->v[F_PID]))
			instant("wake", e->v[F_PID], e->ts, e->v[F_PRIO]);
		break;
	case EV_SET_PRIORITY:
		if (pids_have(pids, e->v[F_PID]))
			instant("priority", e->v[F_PID], e->ts, e->v[F_PRIO]);
		break;
	default:
		break;
	}
}

static void begin(struct timeline *timeline)
{
	(void)timeline;
	json_stdout(JSON_ROWS);
	json_text("displayTimeUnit", "ns");
	json_open("traceEvents", '[');
}

static void name_print(const char *what, int64_t pid, int64_t row, const char *name)
{
	event_open("M", what, pid, row);
	json_open("args", '{');
	json_text("name", name);
	json_close('}');
	json_close('}');
}

static void order_print(int64_t pid, int64_t order)
{
	event_open("M", "process_sort_index", pid, 0);
	json_open("args", '{');
	json_number("sort_index", order);
	json_close('}');
	json_close('}');
}

static void processes_print(const struct timeline *timeline)
{
	const struct view *view = &timeline->view;
	const struct client *client;
	const struct gpu *gpu;
	char text[128];

	for (gpu = view->model.gpus; gpu; gpu = gpu->next) {
		const char *name = view_gpu_label(view, gpu->gpu_id);
		int hqds = view_gpu_hqds(view, gpu->gpu_id), used;

		used = snprintf(text, sizeof(text), "GPU %u %s", gpu->gpu_id, name ? name : "");
		if (hqds && used > 0 && (size_t)used < sizeof(text))
			snprintf(text + used, sizeof(text) - used, ", %d HQDs", hqds);
		name_print("process_name", GPU_PROCESS(gpu->gpu_id), 0, text);
		order_print(GPU_PROCESS(gpu->gpu_id), -1);
		name_print("thread_name", GPU_PROCESS(gpu->gpu_id), ROW_PREEMPTION, "preemptions");
		name_print("thread_name", GPU_PROCESS(gpu->gpu_id), ROW_UNMAP, "unmaps");
		for (client = gpu->clients; client; client = client->next) {
			if (!view_shows(view, client))
				continue;
			name_print("process_name", client->process->pid, 0,
				   view_command(view, client->process->pid));
			/* the highest priority comes first */
			order_print(client->process->pid, 15 - client->process->prio);
			name_print("thread_name", client->process->pid, ROW_PROCESS,
				   "priorities and doorbells");
		}
	}
}

/* Names of rows come last, when all processes are known. */
static void end(struct timeline *timeline)
{
	const struct view *view = &timeline->view;
	const struct trace_loss *loss = trace_loss(view->file);
	char text[128];
	uint64_t lost;
	bool known = view_lost(view, &lost);
	size_t i;

	load_print(timeline);
	processes_print(timeline);
	for (i = 0; i < view->model.nr_queues; i++) {
		const struct queue *queue = view->model.queues[i];
		const char *type = kfd_queue_type_name(queue->type);

		if (!view_shows(view, queue->client))
			continue;
		snprintf(text, sizeof(text), "queue %u, %s", queue->queue_id, type ? type : "type unknown");
		name_print("thread_name", queue->client->process->pid, row_of(queue), text);
		if (!queue->client->evictions)
			continue;
		snprintf(text, sizeof(text), "queue %u, evicted", queue->queue_id);
		name_print("thread_name", queue->client->process->pid, GPU_PROCESS(row_of(queue)), text);
	}
	json_close(']');
	json_open("otherData", '{');
	json_number("version", JSON_FORMAT);
	json_text("clock", trace_clock(view->file));
	json_simulated("simulated", view_simulated(view));
	json_known_count("lost_count", known, lost);
	json_count("gap_count", loss->gaps);
	json_count("damaged_count", view_damaged(view));
	json_count("cut_bytes", loss->cut);
	json_close('}');
	json_stdout_end();
}

const struct timeline_format timeline_json = {
	.begin = begin,
	.slice = slice,
	.event = event,
	.preemption = preemption,
	.end = end,
};
