// SPDX-License-Identifier: GPL-2.0
/* kfdtrace report: the list of processes. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "message.h"
#include "report.h"

enum column_id {
	COL_GPU,
	COL_PID,
	COL_INNER,
	COL_PRIORITY,
	COL_CREATED,
	COL_DESTROYED,
	COL_MAX,
	COL_MAPS,
	COL_MAPPED_TIME,
	COL_PREEMPTED,
	COL_PREEMPTED_TIME,
	COL_PREEMPTING,
	COL_PREEMPTING_TIME,
	COL_WAKES,
	COL_PARKED,
	COL_PARKED_TIME,
	COL_THROTTLED,
	COL_THROTTLED_TIME,
	COL_LIMIT_TIME,
	COL_TURN_TIME,
	COL_EVICTED,
	COL_EVICTED_TIME,
	COL_COMMAND,
	COL_SIMULATED,
	NR_COLS
};

/* output.rst describes each column with its unit. */
const struct list_column client_columns[NR_COLS] = {
	[COL_GPU] = { "GPU", "gpu_id", LIST_COUNT, LIST_EVERYWHERE },
	[COL_PID] = { "PID", "pid", LIST_NUMBER, LIST_EVERYWHERE },
	[COL_INNER] = { "INNER-PID", "inner_pid", LIST_NUMBER, LIST_EVERYWHERE },
	[COL_PRIORITY] = { "PRIORITY", "priority", LIST_NUMBER, LIST_EVERYWHERE },
	[COL_CREATED] = { "CREATED-QUEUES", "created_queue_count", LIST_COUNT, LIST_EVERYWHERE },
	[COL_DESTROYED] = { "DESTROYED-QUEUES", "destroyed_queue_count", LIST_COUNT, LIST_WIDE },
	[COL_MAX] = { "MAX-QUEUES", "max_queue_count", LIST_COUNT, LIST_WIDE },
	[COL_MAPS] = { "MAPS", "map_count", LIST_COUNT, LIST_EVERYWHERE },
	[COL_MAPPED_TIME] = { "QUEUE-MAPPED-TIME", "queue_mapped_ns", LIST_DURATION, LIST_EVERYWHERE },
	[COL_PREEMPTED] = { "PREEMPTED", "preempted_count", LIST_COUNT, LIST_EVERYWHERE },
	[COL_PREEMPTED_TIME] = { "PREEMPTED-TIME", "preempted_ns", LIST_DURATION, LIST_EVERYWHERE },
	[COL_PREEMPTING] = { "PREEMPTING", "preempting_count", LIST_COUNT, LIST_EVERYWHERE },
	[COL_PREEMPTING_TIME] = { "PREEMPTING-TIME", "preempting_ns", LIST_DURATION, LIST_EVERYWHERE },
	[COL_WAKES] = { "WAKES", "wake_count", LIST_COUNT, LIST_EVERYWHERE },
	[COL_PARKED] = { "PARKED", "parked_count", LIST_COUNT, LIST_WIDE },
	[COL_PARKED_TIME] = { "PARKED-TIME", "parked_ns", LIST_DURATION, LIST_WIDE },
	[COL_THROTTLED] = { "THROTTLED", "throttled_count", LIST_COUNT, LIST_WIDE },
	[COL_THROTTLED_TIME] = { "THROTTLED-TIME", "throttled_ns", LIST_DURATION, LIST_WIDE },
	[COL_LIMIT_TIME] = { "THROTTLED-LIMIT", "throttled_limit_ns", LIST_DURATION, LIST_WIDE },
	[COL_TURN_TIME] = { "THROTTLED-TURN", "throttled_turn_ns", LIST_DURATION, LIST_WIDE },
	[COL_EVICTED] = { "EVICTED", "evicted_count", LIST_COUNT, LIST_EVERYWHERE },
	[COL_EVICTED_TIME] = { "EVICTED-TIME", "evicted_ns", LIST_DURATION, LIST_EVERYWHERE },
	[COL_COMMAND] = { "COMMAND", "command", LIST_TEXT, LIST_EVERYWHERE },
	[COL_SIMULATED] = { "SIMULATED", "simulated", LIST_FLAG, LIST_CSV },
};

const unsigned int nr_client_columns = NR_COLS;

/* What a recording that has no @event shows of it is not known: it is not 0. */
static void of_event(const struct view *view, enum kfd_event_type event, struct list_value *value, uint64_t count)
{
	list_known_count(value, view_knows(view, event), count);
}

/* What begins with one event and ends with another is known if both were recorded. */
static void of_events(const struct view *view, enum kfd_event_type begin, enum kfd_event_type end,
		      struct list_value *value, uint64_t count)
{
	list_known_count(value, view_knows(view, begin) && view_knows(view, end), count);
}

static void cell_times(const struct view *view, const struct client *client, unsigned int column,
		       struct list_value *value)
{
	switch (column) {
	case COL_MAPPED_TIME:
		list_known_count(value, !client->unknown && view_knows_maps(view), client->mapped_ns);
		break;
	case COL_PREEMPTED_TIME:
		list_known_count(value, view_knows_victims(view), client->preempted_ns);
		break;
	case COL_PREEMPTING_TIME:
		of_events(view, EV_PREEMPT_BEGIN, EV_PREEMPT_END, value, client->preempting_ns);
		break;
	case COL_PARKED_TIME:
		of_events(view, EV_PARK, EV_UNPARK, value, client->parked_ns);
		break;
	case COL_THROTTLED_TIME:
		list_known_count(value, view_knows_throttles(view), client->throttled_ns);
		break;
	case COL_LIMIT_TIME:
		list_known_count(value, view_knows_throttles(view), client->throttled_by_ns[KFD_PRIO_THROTTLE_MAX]);
		break;
	case COL_TURN_TIME:
		list_known_count(value, view_knows_throttles(view), client->throttled_by_ns[KFD_PRIO_THROTTLE_WEIGHT]);
		break;
	default:
		of_events(view, EV_EVICT_PROCESS, EV_RESTORE_PROCESS, value, client->evicted_ns);
	}
}

static void cell_counts(const struct view *view, const struct client *client, unsigned int column,
			struct list_value *value)
{
	switch (column) {
	case COL_CREATED:
		of_event(view, EV_CREATE_QUEUE, value, client->created);
		break;
	case COL_DESTROYED:
		of_event(view, EV_DESTROY_QUEUE, value, client->destroyed);
		break;
	case COL_MAX:
		of_events(view, EV_CREATE_QUEUE, EV_DESTROY_QUEUE, value, client->max_live);
		break;
	case COL_MAPS:
		of_event(view, EV_MAP_QUEUE, value, client->maps);
		break;
	case COL_PREEMPTED:
		list_known_count(value, view_knows_victims(view), client->preemptions);
		break;
	case COL_PREEMPTING:
		of_event(view, EV_PREEMPT_BEGIN, value, client->preempting);
		break;
	case COL_WAKES:
		of_event(view, EV_DOORBELL_WAKE, value, client->wakes);
		break;
	case COL_PARKED:
		of_event(view, EV_PARK, value, client->parks);
		break;
	case COL_THROTTLED:
		of_event(view, EV_THROTTLE_BEGIN, value, client->throttle_count);
		break;
	default:
		of_event(view, EV_EVICT_PROCESS, value, client->evictions);
	}
}

static void cell(void *context, size_t row, unsigned int column, struct list_value *value)
{
	const struct client_rows *rows = context;
	const struct client *client = rows->clients[row];
	bool known;
	int inner = 0;

	switch (column) {
	case COL_GPU:
		list_count(value, client->gpu->gpu_id);
		break;
	case COL_PID:
		list_number(value, true, client->process->pid);
		break;
	case COL_INNER:
		known = view_inner_pid(rows->view, client->process->pid, &inner);
		list_number(value, known, inner);
		break;
	case COL_PRIORITY:
		list_number(value, client->process->prio != NO_PRIO, client->process->prio);
		break;
	case COL_MAPPED_TIME:
	case COL_PREEMPTED_TIME:
	case COL_PREEMPTING_TIME:
	case COL_PARKED_TIME:
	case COL_THROTTLED_TIME:
	case COL_LIMIT_TIME:
	case COL_TURN_TIME:
	case COL_EVICTED_TIME:
		cell_times(rows->view, client, column, value);
		break;
	case COL_SIMULATED:
		view_simulated_value(rows->view, value);
		break;
	case COL_COMMAND:
		list_text(value, view_command(rows->view, client->process->pid));
		break;
	default:
		cell_counts(rows->view, client, column, value);
	}
}

/**
 * client_rows_list() - the list of processes
 * @rows: of client_rows_make()
 * @choice: how to print it
 *
 * Return: the list; @rows and @choice must outlive it.
 */
struct list client_rows_list(struct client_rows *rows, const struct list_choice *choice)
{
	/* Columns that a narrow terminal has no room for: another column has nearly the same, or most rows have the same value */
	static const unsigned int leave[] = { COL_INNER, COL_EVICTED_TIME, COL_MAPS, COL_WAKES, COL_CREATED, COL_PREEMPTING_TIME,
					      COL_EVICTED, COL_PREEMPTING, COL_MAPPED_TIME, COL_PREEMPTED };

	return (struct list){ .columns = client_columns, .nr_columns = NR_COLS, .nr_rows = rows->nr,
			      .value = cell, .context = rows, .choice = choice,
			      .leave = leave, .nr_leave = sizeof(leave) / sizeof(*leave) };
}

static int client_compare(const void *left, const void *right)
{
	const struct client *a = *(const struct client *const *)left;
	const struct client *b = *(const struct client *const *)right;

	if (a->process->pid != b->process->pid)
		return a->process->pid < b->process->pid ? -1 : 1;
	return (a->gpu->gpu_id > b->gpu->gpu_id) - (a->gpu->gpu_id < b->gpu->gpu_id);
}

/**
 * client_rows_make() - the processes to show, in the order of PID and GPU
 * @rows: filled in; @clients is to be freed with free(3)
 * @view: the recording, read
 */
void client_rows_make(struct client_rows *rows, const struct view *view)
{
	const struct client *client;
	const struct gpu *gpu;
	size_t room = 0;

	*rows = (struct client_rows){ .view = view };
	for (gpu = view->model.gpus; gpu; gpu = gpu->next)
		for (client = gpu->clients; client; client = client->next) {
			if (!view_shows(view, client))
				continue;
			if (rows->nr == room) {
				room = room ? 2 * room : 64;
				rows->clients =
					reallocarray(rows->clients, room, sizeof(struct client *));
				if (!rows->clients)
					errx(EXIT_FAILURE, "out of memory");
			}
			rows->clients[rows->nr++] = client;
		}
	if (rows->nr)
		qsort(rows->clients, rows->nr, sizeof(struct client *), client_compare);
}
