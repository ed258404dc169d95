// SPDX-License-Identifier: GPL-2.0
/* kfdtrace queues */
#define _GNU_SOURCE
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "kfdtrace.h"
#include "queues.h"
#include "view-options.h"

enum column_id {
	COL_GPU,
	COL_PID,
	COL_QUEUE,
	COL_TYPE,
	COL_FORMAT,
	COL_PRIO,
	COL_PIPE,
	COL_CREATED,
	COL_ENDED,
	COL_RING,
	COL_RING_SIZE,
	COL_MQD,
	COL_MAPS,
	COL_MAPPED,
	COL_UNMAPPED,
	COL_PREEMPTIONS,
	COL_PREEMPTED,
	COL_COMMAND,
	COL_SIMULATED,
	NR_COLS
};

static const struct column columns[NR_COLS] = {
	[COL_GPU] = { "GPU", "gpu_id", true },
	[COL_PID] = { "PID", "pid", true },
	[COL_QUEUE] = { "QUEUE", "queue_id", true },
	[COL_TYPE] = { "TYPE", "type", false },
	[COL_FORMAT] = { "FORMAT", "format", false },
	[COL_PRIO] = { "PRIO", "prio", true },
	[COL_PIPE] = { "PIPE", "pipe_prio", false },
	[COL_CREATED] = { "CREATED", "created_ns", true },
	[COL_ENDED] = { "ENDED", "destroyed_ns", true },
	[COL_RING] = { "RING", "ring_base", true },
	[COL_RING_SIZE] = { "SIZE", "ring_size", true },
	[COL_MQD] = { "MQD", "mqd_addr", true },
	[COL_MAPS] = { "MAPS", "maps", true },
	[COL_MAPPED] = { "MAPPED", "mapped_ns", true },
	[COL_UNMAPPED] = { "UNMAPPED", "unmapped_ns", true },
	[COL_PREEMPTIONS] = { "PREEMPTIONS", "preemptions", true },
	[COL_PREEMPTED] = { "PREEMPTED", "preempted_ns", true },
	[COL_COMMAND] = { "COMMAND", "command", false },
	[COL_SIMULATED] = { NULL, "simulated", false },
};

static void cell(void *context, size_t row, unsigned int column, bool csv, char *text)
{
	const struct queue_rows *rows = context;
	const struct queue *queue = rows->queues[row];

	switch (column) {
	case COL_GPU:
		cell_count(text, queue->client->gpu->gpu_id);
		break;
	case COL_PID:
		cell_number(text, true, queue->client->process->pid, csv);
		break;
	case COL_QUEUE:
		cell_count(text, queue->queue_id);
		break;
	case COL_TYPE:
		cell_name(text, queue->type, kfd_queue_type_name, csv);
		break;
	case COL_FORMAT:
		cell_name(text, queue->format, kfd_queue_format_name, csv);
		break;
	case COL_PRIO:
		cell_number(text, true, queue->prio, csv);
		break;
	case COL_PIPE:
		cell_name(text, queue->pipe_prio, kfd_pipe_name, csv);
		break;
	case COL_CREATED:
		cell_when(text, queue->created, csv);
		break;
	case COL_ENDED:
		cell_when(text, queue->destroyed, csv);
		break;
	case COL_RING:
		cell_address(text, queue->ring_base, csv);
		break;
	case COL_RING_SIZE:
		if (queue->ring_size || !csv)
			cell_count(text, queue->ring_size);
		break;
	case COL_MQD:
		cell_address(text, queue->mqd_addr, csv);
		break;
	case COL_MAPS:
		cell_count(text, queue->maps);
		break;
	case COL_MAPPED:
		cell_duration(text, queue->mapped_ns, csv);
		break;
	case COL_UNMAPPED:
		cell_duration(text, queue->unmapped_ns, csv);
		break;
	case COL_PREEMPTIONS:
		cell_count(text, queue->preemptions);
		break;
	case COL_PREEMPTED:
		cell_duration(text, queue->preempted_ns, csv);
		break;
	case COL_SIMULATED:
		snprintf(text, CELL, "%s", view_simulated_word(view_simulated(rows->view)));
		break;
	default:
		cell_command(text, rows->view, queue->client->process->pid, csv);
	}
}

/**
 * queues_table() - a line per queue
 * @view: the recording, read
 * @max: lines at most
 * @csv: CSV instead of a table
 *
 * Return: how many were left out because of @max.
 */
size_t queues_table(const struct view *view, size_t max, bool csv)
{
	struct queue_rows rows = { .view = view };
	size_t i, nr = 0, all = 0;

	rows.queues = calloc(view->model.nr_queues + 1, sizeof(struct queue *));
	if (!rows.queues)
		errx(EXIT_FAILURE, "out of memory");
	for (i = 0; i < view->model.nr_queues; i++) {
		if (!view_shows(view, view->model.queues[i]->client))
			continue;
		if (nr < max)
			rows.queues[nr++] = view->model.queues[i];
		all++;
	}
	table_print(columns, NR_COLS, nr, cell, &rows, csv);
	free(rows.queues);
	return all - nr;
}

static void queue_json(const struct view *view, const struct queue *queue)
{
	json_open(NULL, '{');
	json_count("gpu_id", queue->client->gpu->gpu_id);
	json_number("pid", queue->client->process->pid);
	json_text("command", view_command(view, queue->client->process->pid));
	json_count("queue_id", queue->queue_id);
	json_text("type", queue->type < 0 ? NULL : kfd_queue_type_name(queue->type));
	json_text("format", queue->format < 0 ? NULL : kfd_queue_format_name(queue->format));
	json_number("prio", queue->prio);
	if (queue->created_seen)
		json_number("requested_prio", queue->req_prio);
	else
		json_null("requested_prio");
	json_text("pipe_prio", queue->pipe_prio < 0 ? NULL : kfd_pipe_name(queue->pipe_prio));
	if (queue->created)
		json_count("created_ns", queue->created);
	else
		json_null("created_ns");
	if (queue->destroyed)
		json_count("destroyed_ns", queue->destroyed);
	else
		json_null("destroyed_ns");
	json_text("end", queue->destroyed ? kfd_destroy_name(queue->destroy_reason) : NULL);
	json_address("ring_base", queue->ring_base);
	json_count("ring_size", queue->ring_size);
	json_address("mqd_addr", queue->mqd_addr);
	json_count("doorbell", queue->doorbell);
	json_count("cwsr_size", queue->cwsr_size);
	json_count("maps", queue->maps);
	json_count("unmaps", queue->unmaps);
	json_count("mapped_ns", queue->mapped_ns);
	json_count("unmapped_ns", queue->unmapped_ns);
	json_count("preemptions", queue->preemptions);
	json_count("preempted_ns", queue->preempted_ns);
	json_close('}');
}

/**
 * queues_json() - a member "queues" of the document
 * @view: the recording, read
 */
void queues_json(const struct view *view)
{
	size_t i;

	json_open("queues", '[');
	for (i = 0; i < view->model.nr_queues; i++)
		if (view_shows(view, view->model.queues[i]->client))
			queue_json(view, view->model.queues[i]);
	json_close(']');
	json_count("queues_left_out", view->model.queues_left_out);
}

static void usage(void)
{
	fputs("\n"
	      "Usage:\n"
	      " kfdtrace queues [options] DIR\n"
	      "\n"
	      "One line per queue of a recording. DIR may be a trace.dat, too.\n"
	      "\n"
	      "Options:\n"
	      " -p, --pid PID           only this process\n"
	      " -J, --json              print JSON\n"
	      " -C, --csv               print CSV\n"
	      " -h, --help              display this help\n"
	      "\n"
	      "Times are seconds of the recording's clock, as in trace-cmd report.\n"
	      "For more details see kfdtrace(1).\n",
	      stdout);
}

/**
 * kfdtrace_queues() - the verb
 * @argc: number of @argv
 * @argv: options
 *
 * Return: the exit status.
 */
int kfdtrace_queues(int argc, char **argv)
{
	struct view_options options = { .verb = "queues" };
	struct view view;

	view_options_parse(argc, argv, "p:JCh", usage, &options);
	view_open(&view, &options);
	view_read(&view);
	view_losses(&view);
	if (options.json) {
		json_open(NULL, '{');
		json_number("version", 1);
		view_simulated_json("simulated", view_simulated(&view));
		queues_json(&view);
		json_close('}');
	} else {
		if (!options.csv)
			view_simulated_print(&view);
		queues_table(&view, SIZE_MAX, options.csv);
		if (view.model.queues_left_out)
			warnx("%" PRIu64
			      " more queues have ended and are not listed: only the first %d are kept",
			      view.model.queues_left_out, MODEL_MAX_QUEUES);
	}
	view_close(&view);
	return stdout_check(EXIT_SUCCESS);
}
