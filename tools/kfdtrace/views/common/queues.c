// SPDX-License-Identifier: GPL-2.0
/* The list of queues, of "queues" and "report". */
#define _GNU_SOURCE
#include <stdlib.h>

#include "claimed.h"
#include "message.h"
#include "queues.h"

enum column_id {
	COL_GPU,
	COL_PID,
	COL_QUEUE,
	COL_TYPE,
	COL_FORMAT,
	COL_EFFECTIVE,
	COL_REQUESTED,
	COL_PIPE,
	COL_CREATED,
	COL_DESTROYED,
	COL_REASON,
	COL_RING,
	COL_RING_SIZE,
	COL_MQD,
	COL_DOORBELL,
	COL_CWSR_SIZE,
	COL_MAPS,
	COL_UNMAPS,
	COL_MAPPED_TIME,
	COL_UNMAPPED_TIME,
	COL_PREEMPTED,
	COL_PREEMPTED_TIME,
	COL_THROTTLED,
	COL_THROTTLED_TIME,
	COL_CLAIMED,
	COL_CLAIMED_SAMPLES,
	COL_CLAIMED_UNKNOWN,
	COL_COMMAND,
	COL_SIMULATED,
	NR_COLS
};

/* output.rst describes each column with its unit. */
const struct list_column queue_columns[NR_COLS] = {
	[COL_GPU] = { "GPU", "gpu_id", LIST_COUNT, LIST_EVERYWHERE },
	[COL_PID] = { "PID", "pid", LIST_NUMBER, LIST_EVERYWHERE },
	[COL_QUEUE] = { "QUEUE", "queue_id", LIST_COUNT, LIST_EVERYWHERE },
	[COL_TYPE] = { "TYPE", "type", LIST_WORD, LIST_EVERYWHERE },
	[COL_FORMAT] = { "FORMAT", "format", LIST_WORD, LIST_EVERYWHERE },
	[COL_EFFECTIVE] = { "EFFECTIVE", "effective_priority", LIST_NUMBER, LIST_EVERYWHERE },
	[COL_REQUESTED] = { "REQUESTED", "requested_priority", LIST_NUMBER, LIST_WIDE },
	[COL_PIPE] = { "PIPE", "pipe_priority", LIST_WORD, LIST_EVERYWHERE },
	[COL_CREATED] = { "CREATED-AT", "created_ts_ns", LIST_TIME, LIST_EVERYWHERE },
	[COL_DESTROYED] = { "DESTROYED-AT", "destroyed_ts_ns", LIST_TIME, LIST_EVERYWHERE },
	[COL_REASON] = { "DESTROY-REASON", "destroy_reason", LIST_WORD, LIST_WIDE },
	[COL_RING] = { "RING", "ring_base", LIST_ADDRESS, LIST_EVERYWHERE },
	[COL_RING_SIZE] = { "RING-SIZE", "ring_size_bytes", LIST_COUNT, LIST_EVERYWHERE },
	[COL_MQD] = { "MQD", "mqd_addr", LIST_ADDRESS, LIST_EVERYWHERE },
	[COL_DOORBELL] = { "DOORBELL", "doorbell_index", LIST_COUNT, LIST_WIDE },
	[COL_CWSR_SIZE] = { "CWSR-SIZE", "cwsr_size_bytes", LIST_COUNT, LIST_WIDE },
	[COL_MAPS] = { "MAPS", "map_count", LIST_COUNT, LIST_EVERYWHERE },
	[COL_UNMAPS] = { "UNMAPS", "unmap_count", LIST_COUNT, LIST_WIDE },
	[COL_MAPPED_TIME] = { "MAPPED-TIME", "mapped_ns", LIST_DURATION, LIST_EVERYWHERE },
	[COL_UNMAPPED_TIME] = { "UNMAPPED-TIME", "unmapped_ns", LIST_DURATION, LIST_EVERYWHERE },
	[COL_PREEMPTED] = { "PREEMPTED", "preempted_count", LIST_COUNT, LIST_EVERYWHERE },
	[COL_PREEMPTED_TIME] = { "PREEMPTED-TIME", "preempted_ns", LIST_DURATION, LIST_EVERYWHERE },
	[COL_THROTTLED] = { "THROTTLED", "throttled_count", LIST_COUNT, LIST_WIDE },
	[COL_THROTTLED_TIME] = { "THROTTLED-TIME", "throttled_ns", LIST_DURATION, LIST_WIDE },
	[COL_CLAIMED] = { "CLAIMED-WORK", "claimed_work_count", LIST_COUNT, LIST_WIDE },
	[COL_CLAIMED_SAMPLES] = { "CLAIMED-SAMPLES", "claimed_sample_count", LIST_COUNT, LIST_WIDE },
	[COL_CLAIMED_UNKNOWN] = { "CLAIMED-UNKNOWN", "claimed_unknown_count", LIST_COUNT, LIST_WIDE },
	[COL_COMMAND] = { "COMMAND", "command", LIST_TEXT, LIST_EVERYWHERE },
	[COL_SIMULATED] = { "SIMULATED", "simulated", LIST_FLAG, LIST_CSV },
};

const unsigned int nr_queue_columns = NR_COLS;

/**
 * struct queue_rows - what is in the list
 * @view: the recording
 * @queues: one per row
 * @nr: how many
 * @claims: whether they had work, as their processes claim
 */
struct queue_rows {
	const struct view *view;
	const struct queue **queues;
	size_t nr;
	struct claims claims;
};

/* Values that only the event of the creation has. */
static void cell_created(const struct queue *queue, unsigned int column, struct list_value *value)
{
	bool known = queue->created_seen;

	switch (column) {
	case COL_REQUESTED:
		list_number(value, known, queue->req_prio);
		break;
	case COL_RING:
		list_known_count(value, known && queue->ring_base, queue->ring_base);
		break;
	case COL_RING_SIZE:
		list_known_count(value, known, queue->ring_size);
		break;
	case COL_DOORBELL:
		list_known_count(value, known, queue->doorbell);
		break;
	default:
		list_known_count(value, known, queue->cwsr_size);
	}
}

static void cell_name(struct list_value *value, int64_t number, const char *(*name_of)(int64_t))
{
	list_text(value, number < 0 ? NULL : name_of(number));
}

static void cell_times(const struct view *view, const struct queue *queue, unsigned int column,
		       struct list_value *value)
{
	switch (column) {
	case COL_CREATED:
		list_known_count(value, queue->created_seen, queue->created);
		break;
	case COL_DESTROYED:
		list_known_count(value, queue->destroyed, queue->destroyed);
		break;
	case COL_MAPPED_TIME:
		list_known_count(value, !queue->unknown && view_knows_maps(view), queue->mapped_ns);
		break;
	case COL_UNMAPPED_TIME:
		list_known_count(value, !queue->unknown && view_knows_maps(view), queue->unmapped_ns);
		break;
	case COL_THROTTLED_TIME:
		list_known_count(value, view_knows_maps(view) && view_knows_throttles(view), queue->throttled_ns);
		break;
	default:
		list_known_count(value, view_knows_victims(view), queue->preempted_ns);
	}
}

static void cell_claimed(const struct claim *claim, unsigned int column, struct list_value *value)
{
	switch (column) {
	case COL_CLAIMED:
		list_known_count(value, claim && claim->work >= 0, claim ? claim->work : 0);
		break;
	case COL_CLAIMED_SAMPLES:
		list_known_count(value, claim, claim ? claim->samples : 0);
		break;
	default:
		list_known_count(value, claim, claim ? claim->unknown : 0);
	}
}

static void cell(void *context, size_t row, unsigned int column, struct list_value *value)
{
	const struct queue_rows *rows = context;
	const struct queue *queue = rows->queues[row];

	switch (column) {
	case COL_GPU:
		list_count(value, queue->client->gpu->gpu_id);
		break;
	case COL_PID:
		list_number(value, true, queue->client->process->pid);
		break;
	case COL_QUEUE:
		list_count(value, queue->queue_id);
		break;
	case COL_TYPE:
		cell_name(value, queue->type, kfd_queue_type_name);
		break;
	case COL_FORMAT:
		cell_name(value, queue->format, kfd_queue_format_name);
		break;
	case COL_EFFECTIVE:
		list_number(value, queue->prio >= 0, queue->prio);
		break;
	case COL_PIPE:
		cell_name(value, queue->pipe_prio, kfd_pipe_name);
		break;
	case COL_REASON:
		cell_name(value, queue->destroyed ? queue->destroy_reason : -1, kfd_destroy_name);
		break;
	case COL_MQD:
		list_known_count(value, queue->mqd_addr, queue->mqd_addr);
		break;
	case COL_MAPS:
		list_known_count(value, view_knows(rows->view, EV_MAP_QUEUE), queue->maps);
		break;
	case COL_UNMAPS:
		list_known_count(value, view_knows_maps(rows->view), queue->unmaps);
		break;
	case COL_PREEMPTED:
		list_known_count(value, view_knows_victims(rows->view), queue->preemptions);
		break;
	case COL_THROTTLED:
		list_known_count(value, view_knows_maps(rows->view) && view_knows_throttles(rows->view), queue->throttles);
		break;
	case COL_CREATED:
	case COL_DESTROYED:
	case COL_MAPPED_TIME:
	case COL_UNMAPPED_TIME:
	case COL_PREEMPTED_TIME:
	case COL_THROTTLED_TIME:
		cell_times(rows->view, queue, column, value);
		break;
	case COL_CLAIMED:
	case COL_CLAIMED_SAMPLES:
	case COL_CLAIMED_UNKNOWN:
		cell_claimed(claims_of(&rows->claims, queue), column, value);
		break;
	case COL_COMMAND:
		list_text(value, view_command(rows->view, queue->client->process->pid));
		break;
	case COL_SIMULATED:
		view_simulated_value(rows->view, value);
		break;
	default:
		cell_created(queue, column, value);
	}
}

/* The queues to show, up to @max; how many there are. */
static size_t rows_make(struct queue_rows *rows, const struct view *view, size_t max)
{
	size_t i, all = 0;

	*rows = (struct queue_rows){ .view = view };
	rows->queues = calloc(view->model.nr_queues + 1, sizeof(struct queue *));
	if (!rows->queues)
		errx(EXIT_FAILURE, "out of memory");
	for (i = 0; i < view->model.nr_queues; i++) {
		if (!view_shows(view, view->model.queues[i]->client))
			continue;
		if (rows->nr < max)
			rows->queues[rows->nr++] = view->model.queues[i];
		all++;
	}
	claims_read(&rows->claims, view);
	return all;
}

static void rows_free(struct queue_rows *rows)
{
	claims_free(&rows->claims);
	free(rows->queues);
}

static struct list list_of(struct queue_rows *rows, const struct list_choice *choice)
{
	/* Columns that a narrow terminal has no room for: addresses first, then columns as in the list of processes */
	static const unsigned int leave[] = { COL_MQD, COL_RING, COL_RING_SIZE, COL_FORMAT, COL_PIPE, COL_MAPS, COL_UNMAPPED_TIME,
					      COL_DESTROYED, COL_CREATED, COL_PREEMPTED, COL_EFFECTIVE };

	return (struct list){ .columns = queue_columns, .nr_columns = NR_COLS, .nr_rows = rows->nr,
			      .value = cell, .context = rows, .choice = choice,
			      .leave = leave, .nr_leave = sizeof(leave) / sizeof(*leave) };
}

/**
 * queues_table() - a line per queue
 * @view: the recording, read
 * @max: lines at most
 * @choice: how to print them
 *
 * Return: how many were left out because of @max.
 */
size_t queues_table(const struct view *view, size_t max, const struct list_choice *choice)
{
	struct queue_rows rows;
	size_t all = rows_make(&rows, view, max);
	struct list list = list_of(&rows, choice);

	list_print(&list);
	rows_free(&rows);
	return all - rows.nr;
}

/**
 * queues_json() - members "queues" and "left_out_queue_count" of the document
 * @view: the recording, read
 * @choice: which columns
 */
void queues_json(const struct view *view, const struct list_choice *choice)
{
	struct queue_rows rows;
	struct list list;

	rows_make(&rows, view, SIZE_MAX);
	list = list_of(&rows, choice);
	list_json_columns(&list);
	list_json(&list, "queues");
	json_count("left_out_queue_count", view->model.queues_left_out);
	rows_free(&rows);
}
