/* SPDX-License-Identifier: GPL-2.0 */
/* A recording that is looked at: its files, what they say, and the options of the verbs. */
#ifndef KFDTRACE_VIEW_H
#define KFDTRACE_VIEW_H

#include <stdbool.h>
#include <json-c/json.h>

#include "json-out.h"
#include "kfdlib.h"
#include "list.h"
#include "model/model.h"
#include "kfdtrace.h"
#include "read/trace.h"

/**
 * struct view_options - what was asked for
 * @verb: by whom
 * @dir: the recording, a directory or a trace.dat
 * @list: how to print lists, and whether as JSON
 * @pids: only these processes; none: all
 * @slow_ns: an unmap that takes longer is an anomaly
 * @amd_logs: ROCm's logs, array of @nr_amd_logs; none: that of the recording
 * @two: the verb wants two recordings
 * @other: the second of them
 * @output: file to write to, NULL for stdout
 * @zero: times in text count from the first event
 * @columns: of the list that --output is about, array of @nr_columns; NULL: it names a file
 */
struct view_options {
	const char *verb;
	const char *dir;
	struct list_choice list;
	struct pids pids;
	uint64_t slow_ns;
	const char **amd_logs;
	size_t nr_amd_logs;
	bool two;
	const char *other;
	const char *output;
	bool zero;
	const struct list_column *columns;
	unsigned int nr_columns;
};

/**
 * struct view_process - a process that meta.json tells of
 * @pid: in the initial PID namespace
 * @entry: what it tells
 */
struct view_process {
	int64_t pid;
	struct json_object *entry;
};

/**
 * struct view - a recording
 * @options: what was asked for
 * @trace_path: its trace.dat
 * @file: open
 * @meta: meta.json, NULL if there is none
 * @processes: that it tells of, array of @nr_processes in the order of PID
 * @asked: the events of kfd that were asked for, if @asked_known
 * @asked_known: meta.json has them
 * @model: of all its events
 */
struct view {
	const struct view_options *options;
	char *trace_path;
	struct trace_file *file;
	struct json_object *meta;
	struct view_process *processes;
	size_t nr_processes;
	bool asked[NR_KFD_EVENTS], asked_known;
	struct model model;
};

void view_open(struct view *view, const struct view_options *options);
void view_event(struct view *view, const struct kfd_event *event);
void view_others_warn(const struct view *view);
void view_read(struct view *view);
void view_slices(const struct view *view, slice_fn slice, void *context);
void view_state_begin(struct view *view);
void view_state_end(struct view *view);
bool view_early(const struct view *view, const struct kfd_event *event);
void view_knows_read(struct view *view);
void view_model_init(struct view *view);
bool view_knows(const struct view *view, enum kfd_event_type type);
bool view_knows_maps(const struct view *view);
bool view_knows_victims(const struct view *view);
bool view_knows_throttles(const struct view *view);
bool view_knows_anomalies(const struct view *view);
const char *view_driver(const struct view *view);
bool view_stock(const struct view *view);
void view_knows_warn(const struct view *view);
bool view_lacks(const struct view *view);
void view_close(struct view *view);
char *view_file(const struct view_options *options, const char *name);
bool view_lost(const struct view *view, uint64_t *count);
uint64_t view_damaged(const struct view *view);
void view_losses(const struct view *view);
void view_pids_find(struct view *view);
void view_pids_check(const struct view *view);
void view_meta_open(struct view *view, const char *path);
void view_meta_close(struct view *view);
void view_meta_warn(const struct view *view, const char *key, size_t nr);
const char *view_command(const struct view *view, int pid);
bool view_inner_pid(const struct view *view, int pid, int *inner);
const char *view_gpu_name(const struct view *view, uint32_t gpu_id);
const char *view_gpu_gfx(const struct view *view, uint32_t gpu_id);
const char *view_gpu_label(const struct view *view, uint32_t gpu_id);
const char *view_gpu_pci(const struct view *view, uint32_t gpu_id);
struct json_object *view_meta_value(const struct view *view, const char *key, enum json_type type);
int view_gpu_hqds(const struct view *view, uint32_t gpu_id);
enum simulated view_simulated(const struct view *view);
void view_simulated_print(const struct view *view);
void view_simulated_value(const struct view *view, struct list_value *value);
bool view_shows(const struct view *view, const struct client *client);

#endif /* KFDTRACE_VIEW_H */
