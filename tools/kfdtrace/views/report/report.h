/* SPDX-License-Identifier: GPL-2.0 */
/* The output of "kfdtrace report", as text and as JSON. */
#ifndef KFDTRACE_REPORT_H
#define KFDTRACE_REPORT_H

#include "views/common/join.h"
#include "views/common/latency.h"
#include "views/common/view.h"

/**
 * struct client_rows - the processes to show
 * @view: the recording
 * @clients: sorted by PID and GPU
 * @nr: how many
 */
struct client_rows {
	const struct view *view;
	const struct client **clients;
	size_t nr;
};

/* rows.c */
extern const struct list_column client_columns[];
extern const unsigned int nr_client_columns;
struct list client_rows_list(struct client_rows *rows, const struct list_choice *choice);
void client_rows_make(struct client_rows *rows, const struct view *view);

/* anomalies.c */
void anomalies_print(const struct view *view);

/* hist.c */
void report_hist_json(const char *key, const struct hist *hist);

/* throttles.c */
void throttles_print(const struct client_rows *rows);
void throttles_json(const struct client_rows *rows);

/* saves.c */
void saves_print(const struct view *view);
void saves_json(const struct view *view);

/* claimed.c */
void claims_print(const struct view *view);
void claims_json(const struct view *view);

/* json.c */
void report_json(const struct view *view, const struct paths *paths);

#endif /* KFDTRACE_REPORT_H */
