// SPDX-License-Identifier: GPL-2.0
/* kfdtrace report: anomalies, and what was under way at the end. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <string.h>

#include "report.h"

#define MAX_LINES 50 /* --json has more */

static void print_anomaly(const struct anomaly *anomaly)
{
	char text[32];

	if (anomaly->ts) {
		text_time(text, sizeof(text), anomaly->ts, list_zero_ns);
		printf("  %s: ", text);
	} else {
		printf("  ");
	}
	printf("%s: GPU %u", anomaly_name(anomaly->kind), anomaly->gpu_id);
	if (anomaly->pid >= 0)
		printf(", process %d", anomaly->pid);
	if (anomaly->queue_id >= 0)
		printf(", queue %" PRId64, anomaly->queue_id);
	if (anomaly->value < 0) {
		printf(", error %" PRId64 " (%s)", anomaly->value, strerror(-anomaly->value));
	} else if (anomaly->value) {
		duration_format(text, sizeof(text), anomaly->value);
		printf(", %s", text);
	}
	putchar('\n');
}

/* What had not ended when the recording did */
static void print_under_way(const struct under_way *open)
{
	const struct {
		uint64_t count;
		const char *what;
	} parts[] = {
		{ open->queues, "queue" },
		{ open->preemptions, "preemption" },
		{ open->evictions, "eviction" },
		{ open->unmaps, "unmap" },
	};
	const char *comma = " ";
	size_t i;

	if (!(open->queues || open->preemptions || open->evictions || open->unmaps))
		return;
	printf("\nUnder way at the end:");
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i].count) {
			printf("%s%" PRIu64 " %s%s", comma, parts[i].count, parts[i].what, parts[i].count == 1 ? "" : "s");
			comma = ", ";
		}
	putchar('\n');
}

/**
 * anomalies_print() - print them, and what had not ended when the recording did
 * @view: the recording, read
 */
void anomalies_print(const struct view *view)
{
	const struct model *model = &view->model;
	bool known = view_knows_anomalies(view);
	uint64_t all = anomalies_count(model);
	size_t i;

	printf("\nAnomalies:%s\n", !known ? " - (not all events were recorded)" : all ? "" : " none");
	for (i = 0; i < model->kept_anomalies && i < MAX_LINES; i++)
		print_anomaly(&model->anomalies[i]);
	if (all > i)
		printf("  and %" PRIu64 " more\n", all - i);
	print_under_way(&model->under_way);
}
