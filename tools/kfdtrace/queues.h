/* SPDX-License-Identifier: GPL-2.0 */
/* The table of queues, of "queues" and "report". */
#ifndef KFDTRACE_QUEUES_H
#define KFDTRACE_QUEUES_H

#include "output.h"
#include "view.h"

/**
 * struct queue_rows - what is in the table
 * @view: the recording
 * @queues: one per row
 */
struct queue_rows {
	const struct view *view;
	const struct queue **queues;
};

size_t queues_table(const struct view *view, size_t max, bool csv);
void queues_json(const struct view *view);

#endif /* KFDTRACE_QUEUES_H */
