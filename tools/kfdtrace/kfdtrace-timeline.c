// SPDX-License-Identifier: GPL-2.0
/*
 * kfdtrace timeline: the trace event format of Chrome, which ui.perfetto.dev opens, too.
 *
 * A row per queue, among those of its process; rows of the GPU, which is shown as a process whose
 * number no process has, for preemptions, unmaps and the number of queues in the runlist.
 * Written as it is read, in constant memory.
 */
#define _GNU_SOURCE
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>

#include "kfdtrace.h"
#include "output.h"
#include "view-options.h"

enum {
	ROW_PREEMPTION = 1,
	ROW_UNMAP = 2
};

/* PIDs are smaller. */
#define GPU_PROCESS(gpu_id) (1000000000LL + (gpu_id))

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

static void slice(void *context, const struct queue *queue, enum slice_kind kind, uint64_t from,
		  uint64_t to)
{
	const struct view *view = context;

	if (kind > SLICE_PREEMPTED || !view_shows(view, queue->client))
		return;
	slice_open(kind == SLICE_MAPPED ? "mapped" : "preempted", queue->client->process->pid,
		   row_of(queue), from, to);
	json_open("args", '{');
	json_count("gpu_id", queue->client->gpu->gpu_id);
	json_number("prio", queue->prio);
	if (kind == SLICE_PREEMPTED)
		json_number("by_pid", queue->client->preemptor ? queue->client->preemptor->pid : -1);
	json_close('}');
	json_close('}');
}

static void instant(const char *name, int64_t pid, uint64_t ts, int64_t prio)
{
	event_open("i", name, pid, 0);
	json_us("ts", ts);
	json_text("s", "p");
	json_open("args", '{');
	json_number("prio", prio);
	json_close('}');
	json_close('}');
}

static void gpu_slice(const struct kfd_event *event, const char *name, int row)
{
	uint64_t dur = event->v[F_DUR_NS];

	slice_open(name, GPU_PROCESS(event->v[F_GPU_ID]), row,
		   dur < event->ts ? event->ts - dur : 0, event->ts);
	json_open("args", '{');
	if (row == ROW_PREEMPTION) {
		json_number("pid", event->v[F_PID]);
		json_number("prio", event->v[F_PRIO]);
		json_text("end", kfd_reason_name(event->v[F_REASON]));
	}
	json_number("ret", event->v[F_RET]);
	json_close('}');
	json_close('}');
}

/* What is no slice of a queue. */
static void event_print(const struct view *view, const struct kfd_event *event)
{
	int pid = view->options->pid;

	switch (event->type) {
	case EV_PREEMPT_END:
		gpu_slice(event, "preemption", ROW_PREEMPTION);
		break;
	case EV_UNMAP_QUEUES_DONE:
		gpu_slice(event, "unmap", ROW_UNMAP);
		break;
	case EV_MAP_QUEUES:
		event_open("C", "queues in the runlist", GPU_PROCESS(event->v[F_GPU_ID]), 0);
		json_us("ts", event->ts);
		json_open("args", '{');
		json_number("queues", event->v[F_QUEUES]);
		json_close('}');
		json_close('}');
		break;
	case EV_HWS_HANG:
		instant("the scheduler does not answer", GPU_PROCESS(event->v[F_GPU_ID]), event->ts,
			NO_PRIO);
		break;
	case EV_DOORBELL_WAKE:
		if (!pid || pid == event->v[F_PID])
			instant("wake", event->v[F_PID], event->ts, event->v[F_PRIO]);
		break;
	case EV_SET_PRIORITY:
		if (!pid || pid == event->v[F_PID])
			instant("priority", event->v[F_PID], event->ts, event->v[F_PRIO]);
		break;
	default:
		break;
	}
}

static void name_print(const char *what, int64_t pid, int64_t row, const char *name)
{
	event_open("M", what, pid, row);
	json_open("args", '{');
	json_text("name", name);
	json_close('}');
	json_close('}');
}

/* Names of rows come last: who is there is known then. */
static void names_print(const struct view *view)
{
	const struct client *client;
	const struct gpu *gpu;
	char text[128];
	size_t i;

	for (gpu = view->model.gpus; gpu; gpu = gpu->next) {
		const char *name = view_gpu_name(view, gpu->gpu_id);

		snprintf(text, sizeof(text), "GPU %u %s", gpu->gpu_id, name ? name : "");
		name_print("process_name", GPU_PROCESS(gpu->gpu_id), 0, text);
		name_print("thread_name", GPU_PROCESS(gpu->gpu_id), ROW_PREEMPTION, "preemptions");
		name_print("thread_name", GPU_PROCESS(gpu->gpu_id), ROW_UNMAP, "unmaps");
		for (client = gpu->clients; client; client = client->next)
			if (view_shows(view, client))
				name_print("process_name", client->process->pid, 0,
					   view_command(view, client->process->pid));
	}
	for (i = 0; i < view->model.nr_queues; i++) {
		const struct queue *queue = view->model.queues[i];

		if (!view_shows(view, queue->client))
			continue;
		snprintf(text, sizeof(text), "queue %u, %s", queue->queue_id,
			 queue->type < 0 ? "?" : kfd_queue_type_name(queue->type));
		name_print("thread_name", queue->client->process->pid, row_of(queue), text);
	}
}

static void usage(void)
{
	fputs("\n"
	      "Usage:\n"
	      " kfdtrace timeline [options] DIR\n"
	      "\n"
	      "Who had the GPU when: JSON in the trace event format, for ui.perfetto.dev or\n"
	      "chrome://tracing.\n"
	      "\n"
	      "Options:\n"
	      " -o, --output FILE       write to this file (default: standard output)\n"
	      " -p, --pid PID           only this process, and the GPUs\n"
	      " -h, --help              display this help\n"
	      "\n"
	      "For more details see kfdtrace(1).\n",
	      stdout);
}

/**
 * kfdtrace_timeline() - the verb
 * @argc: number of @argv
 * @argv: options
 *
 * Return: the exit status.
 */
int kfdtrace_timeline(int argc, char **argv)
{
	struct view_options options = { .verb = "timeline" };
	struct kfd_event event;
	struct view view;
	char why[TRACE_WHY];
	int ret;

	view_options_parse(argc, argv, "o:p:h", usage, &options);
	view_open(&view, &options);
	if (options.output && !freopen(options.output, "w", stdout))
		err(EXIT_FAILURE, "%s", options.output);
	view.model.slice = slice;
	view.model.slice_context = &view;
	json_open(NULL, '{');
	json_text("displayTimeUnit", "ns");
	json_open("traceEvents", '[');
	while ((ret = trace_next(view.file, &event, why)) > 0) {
		if (model_event(&view.model, &event))
			errx(EXIT_FAILURE, "out of memory");
		event_print(&view, &event);
	}
	if (ret)
		errx(EXIT_FAILURE, "%s", why);
	model_end(&view.model);
	names_print(&view);
	json_close(']');
	json_close('}');
	view_losses(&view);
	view_close(&view);
	return stdout_check(EXIT_SUCCESS);
}
