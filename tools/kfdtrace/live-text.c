// SPDX-License-Identifier: GPL-2.0
/* A frame as text: cells and head lines, for the screen as well, and one frame after the other. */
#define _GNU_SOURCE
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "live.h"
#include "output.h"

#define PARAMETERS "/sys/module/amdgpu/parameters"
#define HEAD_FIXED 2 /* lines that are not of a GPU */

static const struct column columns[NR_LIVE_COLUMNS] = {
	[LIVE_PID] = { "PID", "pid", true },
	[LIVE_GPU] = { "GPU", "gpu_id", true },
	[LIVE_PRIO] = { "PRIO", "prio", true },
	[LIVE_BAND] = { "BAND", "band", false },
	[LIVE_STATE] = { "STATE", "state", false },
	[LIVE_MAPPED] = { "MAP%", "mapped", true },
	[LIVE_PREEMPTED] = { "PRE%", "preempted", true },
	[LIVE_SUFFERED] = { "PRE/S", "suffered", true },
	[LIVE_CAUSED] = { "BY/S", "caused", true },
	[LIVE_QUEUES] = { "QUEUES", "queues", true },
	[LIVE_REASON] = { "REASON", "reason", false },
	[LIVE_COMMAND] = { "COMMAND", "command", false },
};

/* What the names say is in kfdtrace(1). */
const char *live_title(enum live_column column)
{
	return columns[column].title;
}

bool live_right(enum live_column column)
{
	return columns[column].right;
}

const char *live_sort_name(enum live_sort sort)
{
	static const char *const names[NR_SORTS] = { "prio",	  "pid",      "mapped",
						     "preempted", "suffered", "caused" };

	return names[sort];
}

const char *live_state_name(enum live_state state)
{
	static const char *const names[NR_STATES] = { "idle",	   "running", "preempting",
						      "preempted", "evicted", "ended" };

	return names[state];
}

static void percent(char *text, double value)
{
	if (value < 0)
		snprintf(text, LIVE_CELL, "-");
	else
		snprintf(text, LIVE_CELL, "%.1f", 100 * value);
}

static void per_second(char *text, double value)
{
	if (value < 0)
		snprintf(text, LIVE_CELL, "-");
	else
		snprintf(text, LIVE_CELL, "%.*f", value < 99.95, value);
}

/**
 * live_cell() - what is in a cell
 * @row: of a frame
 * @column: which
 * @text: filled in, LIVE_CELL bytes; does nothing to a terminal but show itself
 */
void live_cell(const struct live_row *row, enum live_column column, char *text)
{
	int prio = row->priority != KFD_PRIO_UNSET ? row->priority : row->effective;
	char *printable;

	switch (column) {
	case LIVE_PID:
		snprintf(text, LIVE_CELL, "%d", row->pid);
		break;
	case LIVE_GPU:
		snprintf(text, LIVE_CELL, "%u", row->gpu_id);
		break;
	case LIVE_PRIO:
		if (row->priority == KFD_PRIO_UNSET)
			snprintf(text, LIVE_CELL, "-");
		else
			snprintf(text, LIVE_CELL, "%d", row->priority);
		break;
	case LIVE_BAND:
		snprintf(text, LIVE_CELL, "%s", prio == KFD_PRIO_UNSET ? "-" : prio_band(prio));
		break;
	case LIVE_STATE:
		snprintf(text, LIVE_CELL, "%s", live_state_name(row->state));
		break;
	case LIVE_MAPPED:
		percent(text, row->mapped);
		break;
	case LIVE_PREEMPTED:
		percent(text, row->preempted);
		break;
	case LIVE_SUFFERED:
		per_second(text, row->suffered);
		break;
	case LIVE_CAUSED:
		per_second(text, row->caused);
		break;
	case LIVE_QUEUES:
		snprintf(text, LIVE_CELL, "%u/%u", row->active, row->queues);
		break;
	case LIVE_REASON:
		if (!row->reason)
			snprintf(text, LIVE_CELL, "-");
		else if (row->by)
			snprintf(text, LIVE_CELL, "%s by %d", row->reason, row->by);
		else
			snprintf(text, LIVE_CELL, "%s", row->reason);
		break;
	default:
		printable = text_printable(row->command);
		if (!printable)
			errx(EXIT_FAILURE, "out of memory");
		/* a name has 15 bytes, 60 if none of them can be printed */
		snprintf(text, LIVE_CELL, "%s", printable);
		free(printable);
	}
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
	char clock[16], lost[64] = "";
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	if (live->lost)
		snprintf(lost, sizeof(lost), ", LOST %" PRIu64 " EVENTS", live->lost);
	if (live->events.open)
		snprintf(text, size, "%s  %.3g s, %.1f events/s%s", clock, live->span_ns / 1e9,
			 live->span_ns ? live->event_rate : 0, *lost ? lost : ", none lost");
	else
		snprintf(text, size, "%s  %.3g s, no MAP%% nor REASON: statistics only, %s", clock,
			 live->span_ns / 1e9, live->note);
}

static void head_gpu(const struct live *live, size_t index, char *text, size_t size)
{
	const struct kfd_gpu *gpu = &live->topo.gpus[index];
	char *name = text_printable(kfd_gpu_name(gpu));
	const struct live_row *row;
	size_t i, used;

	snprintf(text, size, "GPU %u  %s, %s, %s%s", gpu->gpu_id, name ? name : "?",
		 live->modes[index], gpu->pci, live->simulated == SIMULATED_YES ? ", simulated" : "");
	free(name);
	used = strlen(text);
	for (i = 0; i < live->nr_rows; i++) {
		row = &live->rows[i];
		if (row->gpu_id == gpu->gpu_id && row->state == STATE_PREEMPTING) {
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

/**
 * live_head() - a line over the rows
 * @live: with a frame
 * @line: 0 and up to live_head_lines()
 * @text: filled in; does nothing to a terminal but show itself
 * @size: its bytes
 */
void live_head(const struct live *live, unsigned int line, char *text, size_t size)
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
	else
		for (i = 0; i < sizeof(names) / sizeof(*names); i++)
			parameter_add(text, size, names[i]);
}

static void cell(void *context, size_t row, unsigned int column, bool csv, char *text)
{
	const struct live *live = context;

	(void)csv;
	live_cell(&live->rows[row], column, text);
}

/**
 * live_print() - print a frame
 * @live: with a frame
 */
void live_print(struct live *live)
{
	char text[512];
	unsigned int line;

	for (line = 0; line < live_head_lines(live); line++) {
		live_head(live, line, text, sizeof(text));
		puts(text);
	}
	table_print(columns, NR_LIVE_COLUMNS, live->nr_rows, cell, live, false);
	putchar('\n');
}
