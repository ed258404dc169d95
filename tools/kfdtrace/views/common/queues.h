/* SPDX-License-Identifier: GPL-2.0 */
/* The list of queues, of "queues" and "report". */
#ifndef KFDTRACE_QUEUES_H
#define KFDTRACE_QUEUES_H

#include "view.h"

extern const struct list_column queue_columns[];
extern const unsigned int nr_queue_columns;

size_t queues_table(const struct view *view, size_t max, const struct list_choice *choice);
void queues_json(const struct view *view, const struct list_choice *choice);

#endif /* KFDTRACE_QUEUES_H */
