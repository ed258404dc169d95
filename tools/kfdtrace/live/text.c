// SPDX-License-Identifier: GPL-2.0
/* A frame as text: cells and head lines, for the screen as well, and one frame after the other. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "live.h"
#include "message.h"

#define PARAMETERS "/sys/module/amdgpu/parameters"
#define HEAD_FIXED 2 /* lines that are not of a GPU */

/* output.rst describes each column with its unit. */
const struct list_column live_columns[NR_LIVE_COLUMNS] = {
	[LIVE_PID] = { "PID", "pid", LIST_NUMBER, LIST_EVERYWHERE },
	[LIVE_GPU] = { "GPU", "gpu_id", LIST_COUNT, LIST_EVERYWHERE },
	[LIVE_PRIORITY] = { "PRIORITY", "priority", LIST_NUMBER, LIST_EVERYWHERE },
	[LIVE_EFFECTIVE] = { "EFFECTIVE", "effective_priority", LIST_NUMBER, LIST_WIDE },
	[LIVE_BAND] = { "BAND", "band", LIST_WORD, LIST_EVERYWHERE },
	[LIVE_STATE] = { "STATE", "state", LIST_WORD, LIST_EVERYWHERE },
	[LIVE_MAPPED] = { "MAPPED%", "mapped_percent", LIST_PERCENT, LIST_EVERYWHERE },
	[LIVE_PREEMPTED] = { "PREEMPTED%", "preempted_percent", LIST_PERCENT, LIST_EVERYWHERE },
	[LIVE_PREEMPTED_RATE] = { "PREEMPTED/S", "preempted_per_s", LIST_RATE, LIST_EVERYWHERE },
	[LIVE_PREEMPTING_RATE] = { "PREEMPTING/S", "preempting_per_s", LIST_RATE, LIST_EVERYWHERE },
	[LIVE_THROTTLED] = { "THROTTLED%", "throttled_percent", LIST_PERCENT, LIST_WIDE },
	[LIVE_THROTTLED_RATE] = { "THROTTLED/S", "throttled_per_s", LIST_RATE, LIST_WIDE },
	[LIVE_THROTTLE_REASON] = { "THROTTLE-REASON", "throttle_reason", LIST_WORD, LIST_WIDE },
	[LIVE_QUEUES] = { "QUEUES", "queue_count", LIST_COUNT, LIST_EVERYWHERE },
	[LIVE_ACTIVE] = { "ACTIVE", "active_queue_count", LIST_COUNT, LIST_EVERYWHERE },
	[LIVE_REASON] = { "REASON", "reason", LIST_WORD, LIST_EVERYWHERE },
	[LIVE_REASON_PID] = { "REASON-PID", "reason_pid", LIST_NUMBER, LIST_EVERYWHERE },
	CONTAINER_COLUMNS(LIVE_POD),
	[LIVE_COMMAND] = { "COMMAND", "command", LIST_TEXT, LIST_EVERYWHERE },
};

/* The columns that rows can be sorted by, in the order of the key s. */
const enum live_column live_sorts[NR_LIVE_SORTS] = {
	LIVE_PRIORITY, LIVE_PID, LIVE_MAPPED, LIVE_PREEMPTED, LIVE_PREEMPTED_RATE, LIVE_PREEMPTING_RATE
};

bool live_right(enum live_column column)
{
	switch (live_columns[column].kind) {
	case LIST_TEXT:
	case LIST_WORD:
		return false;
	default:
		return true;
	}
}

static void value_priority(const struct live_row *row, enum live_column column, struct list_value *value)
{
	int priority = row->priority != KFD_PRIO_UNSET ? row->priority : row->effective;

	switch (column) {
	case LIVE_PRIORITY:
		list_number(value, row->priority != KFD_PRIO_UNSET, row->priority);
		break;
	case LIVE_EFFECTIVE:
		list_number(value, row->effective != KFD_PRIO_UNSET, row->effective);
		break;
	default:
		list_text(value, priority == KFD_PRIO_UNSET ? NULL : prio_band(priority));
	}
}

/* @table: the cell is one of a table, or of the screen */
static void value_get(const struct live_row *row, enum live_column column, bool table, struct list_value *value)
{
	switch (column) {
	case LIVE_PID:
		list_number(value, true, row->pid);
		break;
	case LIVE_GPU:
		list_count(value, row->gpu_id);
		break;
	case LIVE_STATE:
		list_text(value, kfd_state_name(row->state));
		break;
	case LIVE_MAPPED:
		list_real(value, row->mapped >= 0, row->mapped);
		break;
	case LIVE_PREEMPTED:
		list_real(value, row->preempted >= 0, row->preempted);
		break;
	case LIVE_PREEMPTED_RATE:
		list_real(value, row->suffered >= 0, row->suffered);
		break;
	case LIVE_PREEMPTING_RATE:
		list_real(value, row->caused >= 0, row->caused);
		break;
	case LIVE_THROTTLED:
		list_real(value, row->throttled >= 0, row->throttled);
		break;
	case LIVE_THROTTLED_RATE:
		list_real(value, row->throttles >= 0, row->throttles);
		break;
	case LIVE_THROTTLE_REASON:
		list_text(value, *row->throttle_reason ? row->throttle_reason : NULL);
		break;
	case LIVE_QUEUES:
		list_count(value, row->queues);
		break;
	case LIVE_ACTIVE:
		list_count(value, row->active);
		break;
	case LIVE_REASON:
		list_text(value, row->reason);
		break;
	case LIVE_REASON_PID:
		list_number(value, row->by, row->by);
		break;
	case LIVE_POD ... LIVE_POD_UID:
		container_cell(&row->container, column - LIVE_POD, table, value);
		break;
	case LIVE_COMMAND:
		list_text(value, *row->command ? row->command : NULL);
		break;
	default:
		value_priority(row, column, value);
	}
}

/**
 * live_cell() - what is in a cell
 * @row: of a frame
 * @column: which
 * @text: filled in, LIVE_CELL bytes; does nothing to a terminal but show itself
 */
void live_cell(const struct live_row *row, enum live_column column, char *text)
{
	struct list_value value = { .kind = live_columns[column].kind };

	value_get(row, column, true, &value);
	list_cell(&value, text, LIVE_CELL);
}

static void cell(void *context, size_t row, unsigned int column, struct list_value *value)
{
	const struct live *live = context;

	value_get(&live->rows[row], column, !live->options->list.json && !live->options->list.csv, value);
}

/**
 * live_list_of() - the rows of a frame
 * @live: with a frame
 *
 * Return: the list; @live must outlive it.
 */
struct list live_list_of(const struct live *live)
{
	return (struct list){ .columns = live_columns, .nr_columns = NR_LIVE_COLUMNS,
			      .nr_rows = live->nr_rows, .value = cell, .context = (void *)live,
			      .choice = &live->options->list };
}

static void parameter_add(char *text, size_t size, const char *name)
{
	char path[128], value[32] = "?";
	size_t used = strlen(text);
	FILE *file;

	snprintf(path, sizeof(path), PARAMETERS "/%s", name);
	file = fopen(path, "re");
	if (file && fgets(value, sizeof(value), file))
		value[strcspn(value, "\n")] = '\0';
	if (file)
		fclose(file);
	snprintf(text + used, size - used, "%s%s %s", used ? ", " : "", name, value);
}

static void head_source(const struct live *live, char *text, size_t size)
{
	time_t now = time(NULL);
	uint64_t damaged = live->events.damaged + live->model.impossible;
	char clock[16], lost[64] = "", wrong[64] = "";
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	if (live->lost)
		snprintf(lost, sizeof(lost), ", LOST %" PRIu64 " EVENTS", live->lost);
	if (damaged)
		snprintf(wrong, sizeof(wrong), ", %" PRIu64 " DAMAGED", damaged);
	if (live->events.open)
		snprintf(text, size, "%s  %.3g s, %.1f events/s%s%s", clock, live->span_ns / 1e9,
			 live->span_ns ? live->event_rate : 0, *lost ? lost : ", none lost", wrong);
	else
		snprintf(text, size, "%s  %.3g s, statistics only, without MAPPED%% and REASON: %s", clock,
			 live->span_ns / 1e9, live->note);
}

static void head_gpu(const struct live *live, size_t index, char *text, size_t size)
{
	const struct kfd_gpu *gpu = &live->topo.gpus[index];
	const struct live_row *row;
	size_t i, used;

	snprintf(text, size, "GPU %u  %s, %s, %s%s", gpu->gpu_id, kfd_gpu_name(gpu),
		 live->modes[index], gpu->pci, live->simulated == SIMULATED_YES ? ", simulated" : "");
	used = strlen(text);
	for (i = 0; i < live->nr_rows; i++) {
		row = &live->rows[i];
		if (row->gpu_id == gpu->gpu_id && row->state == KFD_STATE_PREEMPTING) {
			snprintf(text + used, size - used, "; process %d, priority %d, has work",
				 row->pid, row->priority);
			break;
		}
	}
}

/**
 * live_head_lines() - lines over the rows
 * @live: with a frame
 *
 * Return: how many.
 */
unsigned int live_head_lines(const struct live *live)
{
	return HEAD_FIXED + (live->topo.nr ? live->topo.nr : 1);
}

/* With whatever is foreign in it. */
static void head_make(const struct live *live, unsigned int line, char *text, size_t size)
{
	static const char *const names[] = { "kfd_preempt",	   "preempt_min_prio", "linger_us",
					     "floor_pct",	   "max_preempt_per_s", "safety_poll_us",
					     "busy_budget_ms" };
	size_t i;

	*text = '\0';
	if (!line)
		head_source(live, text, size);
	else if (line > 1 && line - 2 < live->topo.nr)
		head_gpu(live, line - 2, text, size);
	else if (line > 1)
		snprintf(text, size, "no GPU");
	else if (live->stock)
		snprintf(text, size, "%s: no priorities of processes, no preemption",
			 live->driver == RECORD_UPSTREAM ? "KFD's own trace events" : "stock driver");
	else
		for (i = 0; i < sizeof(names) / sizeof(*names); i++)
			parameter_add(text, size, names[i]);
}

/**
 * live_head() - a line over the rows
 * @live: with a frame
 * @line: 0 and up to live_head_lines()
 * @text: filled in; does nothing to a terminal but show itself
 * @size: its bytes
 */
void live_head(const struct live *live, unsigned int line, char *text, size_t size)
{
	char *safe;

	head_make(live, line, text, size);
	safe = text_printable(text);
	text_copy(text, size, safe ? safe : "out of memory");
	free(safe);
}

/**
 * live_print() - print a frame
 * @live: with a frame
 */
void live_print(struct live *live)
{
	char text[512];
	unsigned int line;
	struct list list = live_list_of(live);

	for (line = 0; line < live_head_lines(live) && !live->options->list.raw; line++) {
		live_head(live, line, text, sizeof(text));
		puts(text);
	}
	list_print(&list);
	putchar('\n');
}
