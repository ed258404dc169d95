/* SPDX-License-Identifier: GPL-2.0 */
/* The output of "kfdtrace report", as text and as JSON. */
#ifndef KFDTRACE_REPORT_H
#define KFDTRACE_REPORT_H

#include "views/common/join.h"
#include "views/common/view.h"

/**
 * struct latency - one histogram of a GPU
 * @key: in JSON
 * @title: in words
 * @of: the histogram
 */
struct latency {
	const char *key;
	const char *title;
	const struct hist *(*of)(const struct gpu *gpu);
};

enum {
	NR_LATENCIES = 6
};
extern const struct latency latencies[NR_LATENCIES];

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

struct list client_rows_list(struct client_rows *rows, const struct list_choice *choice);
void client_rows_make(struct client_rows *rows, const struct view *view);
uint64_t anomalies_count(const struct model *model);
void anomalies_print(const struct model *model);
void report_hist_json(const char *key, const struct hist *hist);
void saves_print(const struct view *view);
void saves_json(const struct view *view);
void report_json(const struct view *view, const struct paths *paths);

#endif /* KFDTRACE_REPORT_H */
