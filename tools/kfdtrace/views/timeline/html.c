// SPDX-License-Identifier: GPL-2.0
/*
 * The timeline as a page: timeline/page.html with the recording in it.
 *
 * The recording is two islands.  "stream" has a line per thing, in the order of time as far as it
 * is told in that order: a JSON array of numbers after a letter.  Times are ns after the first
 * event.
 *	["s", (row, kind, ns since the last end, ns it lasted)...]	slices of queues
 *	["p", from, gpu_id, pid, prio, seq, reason, to, end reason, victims, queues, ret]
 *	["t", from, gpu_id, pid, reason, share, cgroup_share]		why a process was throttled; before its slices
 *	["w", at, gpu_id, pid]						doorbells
 *	["c", at, pid, prio, old prio, by pid]				priorities
 *	["h", at, gpu_id]						hangs
 * "head" is an object with values that are known at the end: processes, and missing events.
 */
#define _GNU_SOURCE
#include <libgen.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "timeline.h"

#define SLICES_PER_LINE 4096

/**
 * struct row - a number of a queue of a process; one after the other has it
 * @gpu_id, @pid, @queue_id: of the queue
 * @nr: of the row
 * @type: as events number it, -1 if unknown
 * @prio: in force last
 */
struct row {
	uint32_t gpu_id;
	int32_t pid;
	uint32_t queue_id;
	size_t nr;
	int32_t type, prio;
};

static void *tree;
static struct row **rows;
static size_t nr_rows, room_rows;
static unsigned int slices;
static uint64_t last_end;

static int row_compare(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->gpu_id != b->gpu_id)
		return a->gpu_id < b->gpu_id ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->queue_id < b->queue_id ? -1 : a->queue_id > b->queue_id;
}

static struct row *row_make(const struct row *key)
{
	struct row *row = malloc(sizeof(*row)), **grown = rows;

	if (nr_rows == room_rows) {
		room_rows = room_rows ? 2 * room_rows : 64;
		/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
		grown = reallocarray(rows, room_rows, sizeof(*rows));
	}
	if (!row || !grown)
		errx(EXIT_FAILURE, "out of memory");
	rows = grown;
	*row = *key;
	row->nr = nr_rows;
	rows[nr_rows++] = row;
	if (!tsearch(row, &tree, row_compare))
		errx(EXIT_FAILURE, "out of memory");
	return row;
}

static struct row *row_of(const struct queue *queue)
{
	struct row key = {
		.gpu_id = queue->client->gpu->gpu_id,
		.pid = queue->client->process->pid,
		.queue_id = queue->queue_id,
		.type = -1,
	};
	struct row **found = tfind(&key, &tree, row_compare);

	return found ? *found : row_make(&key);
}

/* A line of the stream: an array that begins with the letter of its kind. */
static void line_begin(const char *kind)
{
	json_begin(stdout, JSON_LINE);
	json_open(NULL, '[');
	json_text(NULL, kind);
}

static void line_end(void)
{
	json_close(']');
	if (json_end())
		errx(EXIT_FAILURE, "out of memory");
}

static void slices_end(void)
{
	if (slices)
		line_end();
	slices = 0;
}

static uint64_t after_first(const struct timeline *timeline, uint64_t ts)
{
	return ts > timeline->view.model.first ? ts - timeline->view.model.first : 0;
}

static void begin(struct timeline *timeline)
{
	const char *data = strstr(timeline_page, "<!--data-->");

	(void)timeline;
	fwrite(timeline_page, 1, data - timeline_page, stdout);
	puts("<script type=\"application/json\" id=\"stream\">");
}

static void number_or_null(int64_t value)
{
	if (value < 0)
		json_null(NULL);
	else
		json_number(NULL, value);
}

/* Once for all queues of the process, as a rule */
static void throttling(struct timeline *timeline, const struct client *client)
{
	static const struct client *last;
	static struct throttling told;
	const struct throttling *now = &client->throttling;
	char number[KFD_REASON_TEXT];

	if (client == last && now->from == told.from && now->reason == told.reason)
		return;
	last = client;
	told = *now;
	slices_end();
	line_begin("t");
	json_count(NULL, after_first(timeline, now->from));
	json_count(NULL, client->gpu->gpu_id);
	json_number(NULL, client->process->pid);
	json_text(NULL, kfd_throttle_text(now->reason, number));
	number_or_null(now->share);
	number_or_null(now->cgroup_share);
	line_end();
}

static void slice(struct timeline *timeline, const struct queue *queue, enum slice_kind kind,
		  uint64_t from, uint64_t to)
{
	struct row *row = row_of(queue);
	uint64_t end = after_first(timeline, to);

	if (kind == SLICE_THROTTLED)
		throttling(timeline, queue->client);
	if (queue->type >= 0)
		row->type = queue->type;
	row->prio = queue->prio;
	if (!slices)
		line_begin("s");
	json_count(NULL, row->nr);
	json_number(NULL, kind);
	json_number(NULL, end - last_end);
	json_count(NULL, to - from);
	last_end = end;
	if (++slices == SLICES_PER_LINE)
		slices_end();
}

static void reason(int64_t value)
{
	const char *name = kfd_reason_name(value);

	json_text(NULL, value < 0 || name ? name : "UNKNOWN");
}

static void preemption(struct timeline *timeline, uint32_t gpu_id, const struct preemption *start,
		       const struct preemption_end *end)
{
	slices_end();
	line_begin("p");
	json_count(NULL, after_first(timeline, start->ts));
	json_count(NULL, gpu_id);
	json_number(NULL, start->pid);
	json_number(NULL, start->prio);
	json_number(NULL, start->seq);
	reason(start->reason);
	json_count(NULL, after_first(timeline, end->ts > start->ts ? end->ts : start->ts));
	reason(end->reason);
	number_or_null(start->victims);
	number_or_null(start->queues);
	json_number(NULL, end->ret);
	line_end();
}

static void event(struct timeline *timeline, const struct kfd_event *e)
{
	uint64_t at = after_first(timeline, e->ts);
	const struct pids *pids = &timeline->view.options->pids;

	if (e->type == EV_HWS_HANG) {
		slices_end();
		line_begin("h");
		json_count(NULL, at);
		json_number(NULL, e->v[F_GPU_ID]);
		line_end();
	}
	if ((e->type != EV_DOORBELL_WAKE && e->type != EV_SET_PRIORITY) || !pids_have(pids, e->v[F_PID]))
		return;
	slices_end();
	line_begin(e->type == EV_DOORBELL_WAKE ? "w" : "c");
	json_count(NULL, at);
	if (e->type == EV_DOORBELL_WAKE) {
		json_number(NULL, e->v[F_GPU_ID]);
		json_number(NULL, e->v[F_PID]);
	} else {
		json_number(NULL, e->v[F_PID]);
		json_number(NULL, e->v[F_PRIO]);
		json_number(NULL, e->v[F_OLD_PRIO]);
		json_number(NULL, e->v[F_BY_PID]);
	}
	line_end();
}

static void rows_json(void)
{
	size_t i;

	json_open("rows", '[');
	for (i = 0; i < nr_rows; i++) {
		const struct row *row = rows[i];
		const char *type = kfd_queue_type_name(row->type);

		json_open(NULL, '[');
		json_count(NULL, row->gpu_id);
		json_number(NULL, row->pid);
		json_count(NULL, row->queue_id);
		json_text(NULL, type ? type : "?");
		json_number(NULL, row->prio);
		json_close(']');
	}
	json_close(']');
}

static void who_json(const struct view *view)
{
	const struct client *client;
	const struct gpu *gpu;
	int inner;

	json_open("gpus", '[');
	for (gpu = view->model.gpus; gpu; gpu = gpu->next) {
		int hqds = view_gpu_hqds(view, gpu->gpu_id);

		json_open(NULL, '{');
		json_count("gpu_id", gpu->gpu_id);
		json_text("name", view_gpu_label(view, gpu->gpu_id));
		json_text("pci", view_gpu_pci(view, gpu->gpu_id));
		if (hqds)
			json_number("compute_hqds", hqds);
		else
			json_null("compute_hqds");
		json_close('}');
	}
	json_close(']');
	json_open("processes", '[');
	for (gpu = view->model.gpus; gpu; gpu = gpu->next)
		for (client = gpu->clients; client; client = client->next) {
			const struct process *process = client->process;

			if (!view_shows(view, client))
				continue;
			json_open(NULL, '{');
			json_count("gpu_id", gpu->gpu_id);
			json_number("pid", process->pid);
			if (view_inner_pid(view, process->pid, &inner))
				json_number("inner_pid", inner);
			else
				json_null("inner_pid");
			json_text("command", view_command(view, process->pid));
			json_priority("prio", process->prio);
			json_close('}');
		}
	json_close(']');
}

static void losses_json(const struct timeline *timeline)
{
	const struct trace_loss *loss = trace_loss(timeline->view.file);
	const struct model *model = &timeline->view.model;
	const struct trace_gap *gaps;
	uint64_t lost;
	bool known = view_lost(&timeline->view, &lost);
	size_t i, nr = trace_gaps(timeline->view.file, &gaps);

	json_known_count("lost", known || lost, lost);
	json_flag("lost_known", known);
	json_count("damaged", view_damaged(&timeline->view));
	json_count("cut", loss->cut);
	json_count("whole", loss->whole);
	json_open("gaps", '[');
	for (i = 0; i < nr; i++) {
		uint64_t to = gaps[i].to < UINT64_MAX ? gaps[i].to : model->last;

		/* nothing is known of the time before */
		if (!model->first)
			break;

		json_open(NULL, '{');
		json_number("cpu", gaps[i].cpu);
		json_count("from", after_first(timeline, gaps[i].from));
		json_count("to", after_first(timeline, to > gaps[i].from ? to : gaps[i].from));
		json_close('}');
	}
	json_close(']');
}

static void head_json(const struct timeline *timeline)
{
	const struct view *view = &timeline->view;
	struct json_object *command = view_meta_value(view, "command", json_type_array);
	struct json_object *kernel = view_meta_value(view, "kernel", json_type_string);
	struct json_object *offset = view_meta_value(view, "realtime_offset_ns", json_type_int);
	char *name = realpath(view->options->dir, NULL);
	const char *clock = trace_clock(view->file);
	size_t i;

	json_open(NULL, '{');
	json_number("version", JSON_FORMAT);
	json_text("title", name ? basename(name) : view->options->dir);
	free(name);
	if (command) {
		json_open("command", '[');
		for (i = 0; i < json_object_array_length(command); i++)
			json_text(NULL, json_object_get_string(json_object_array_get_idx(command, i)));
		json_close(']');
	}
	json_text("kernel", kernel ? json_object_get_string(kernel) : NULL);
	json_text("clock", clock ? clock : "clock");
	json_simulated("simulated", view_simulated(view));
	json_text("driver", view_driver(view));
	json_open("pids", '[');
	for (i = 0; i < view->options->pids.nr; i++)
		json_number(NULL, view->options->pids.pid[i]);
	json_close(']');
	json_count("first_ns", view->model.first);
	json_count("last_ns", view->model.last);
	if (offset)
		json_number("recorded", (json_object_get_int64(offset) + (int64_t)view->model.first) /
						1000000000);
	who_json(view);
	rows_json();
	losses_json(timeline);
	json_close('}');
}

static void end(struct timeline *timeline)
{
	slices_end();
	puts("</script>\n<script type=\"application/json\" id=\"head\">");
	json_begin(stdout, JSON_LINE);
	json_in_page(true);
	head_json(timeline);
	if (json_end())
		errx(EXIT_FAILURE, "out of memory");
	fputs("</script>", stdout);
	fputs(strstr(timeline_page, "<!--data-->") + strlen("<!--data-->"), stdout);
	tdestroy(tree, free);
	free(rows);
}

const struct timeline_format timeline_html = {
	.others = true,
	.begin = begin,
	.slice = slice,
	.event = event,
	.preemption = preemption,
	.end = end,
};
