// SPDX-License-Identifier: GPL-2.0
/* The JSON of kfdtrace report; its form is described, and promised, in kfdtrace(1). */
#include <stdlib.h>

#include "views/common/queues.h"
#include "report.h"

/* The processes that preempted each row of "processes", by GPU and PID. */
static void pairs_json(const struct client_rows *rows)
{
	const struct pair *pair;
	size_t i;

	if (!view_knows_victims(rows->view) && !view_stock(rows->view)) {
		json_null("preempted_by");
		return;
	}
	json_open("preempted_by", '[');
	for (i = 0; i < rows->nr; i++)
		for (pair = rows->clients[i]->by; pair; pair = pair->next) {
			json_open(NULL, '{');
			json_count("gpu_id", rows->clients[i]->gpu->gpu_id);
			json_number("pid", rows->clients[i]->process->pid);
			json_number("by_pid", pair->pid);
			json_count("preempted_count", pair->count);
			json_count("preempted_ns", pair->ns);
			json_close('}');
		}
	json_close(']');
}

static void reasons_json(const struct view *view, enum kfd_event_type event, const char *key, const uint64_t *counts,
			 int nr, const char *(*name)(int64_t reason))
{
	int i;

	if (!view_knows(view, event)) {
		json_null(key);
		return;
	}
	json_open(key, '{');
	for (i = 0; i <= nr; i++)
		if (counts[i])
			json_count(i < nr ? name(i) : "UNKNOWN", counts[i]);
	json_close('}');
}

static void gpu_json(const struct view *view, const struct gpu *gpu)
{
	bool runlists = view_knows(view, EV_MAP_QUEUES);
	int i;

	json_open(NULL, '{');
	json_count("gpu_id", gpu->gpu_id);
	json_text("name", view_gpu_name(view, gpu->gpu_id));
	json_text("gfx", view_gpu_gfx(view, gpu->gpu_id));
	json_known_count("runlist_count", runlists, gpu->runlists);
	json_known_count("runlist_queue_count", runlists, gpu->runlist_queues);
	json_known_count("max_runlist_queue_count", runlists, gpu->max_queues);
	json_known_count("max_runlist_process_count", runlists, gpu->max_processes);
	json_known_count("over_subscribed_count", runlists, gpu->over_subscribed);
	json_known_count("over_subscribed_ns", runlists && (!gpu->over_subscribed || view_knows(view, EV_UNMAP_QUEUES_DONE)),
			 gpu->over_ns);
	json_known_count("hang_count", view_knows(view, EV_HWS_HANG), gpu->hangs);
	reasons_json(view, EV_PREEMPT_BEGIN, "preemption_begin_counts", gpu->begins, NR_KFD_REASONS, kfd_reason_name);
	reasons_json(view, EV_PREEMPT_END, "preemption_end_counts", gpu->ends, NR_KFD_REASONS, kfd_reason_name);
	reasons_json(view, EV_PARK, "park_counts", gpu->parks, NR_KFD_PARK_REASONS, kfd_park_name);
	reasons_json(view, EV_UNPARK, "unpark_counts", gpu->unparks, NR_KFD_UNPARK_REASONS, kfd_unpark_name);
	reasons_json(view, EV_THROTTLE_BEGIN, "throttle_counts", gpu->throttles, NR_KFD_THROTTLES, kfd_throttle_name);
	json_open("latencies", '{');
	for (i = 0; i < NR_LATENCIES; i++)
		report_hist_json(latencies[i].key, latencies[i].of(gpu));
	json_close('}');
	json_close('}');
}

static void anomalies_json(const struct view *view)
{
	const struct model *model = &view->model;
	size_t i;

	json_known_count("anomaly_count", view_knows_anomalies(view), anomalies_count(model));
	json_open("anomalies", '[');
	for (i = 0; i < model->kept_anomalies; i++) {
		const struct anomaly *anomaly = &model->anomalies[i];

		json_open(NULL, '{');
		json_text("what", anomaly_name(anomaly->kind));
		json_known_number("ts_ns", anomaly->ts, anomaly->ts);
		json_count("gpu_id", anomaly->gpu_id);
		json_known_number("pid", anomaly->pid >= 0, anomaly->pid);
		json_known_number("queue_id", anomaly->queue_id >= 0, anomaly->queue_id);
		json_known_number("duration_ns", anomaly->value > 0, anomaly->value);
		json_known_number("error", anomaly->value < 0, anomaly->value);
		json_close('}');
	}
	json_close(']');
}

static void under_way_json(const struct view *view)
{
	const struct under_way *open = &view->model.under_way;

	json_open("under_way", '{');
	json_known_count("queue_count", view_knows(view, EV_CREATE_QUEUE) && view_knows(view, EV_DESTROY_QUEUE),
			 open->queues);
	json_known_count("preemption_count", view_knows(view, EV_PREEMPT_BEGIN) && view_knows(view, EV_PREEMPT_END),
			 open->preemptions);
	json_known_count("eviction_count", view_knows(view, EV_EVICT_PROCESS) && view_knows(view, EV_RESTORE_PROCESS),
			 open->evictions);
	json_known_count("unmap_count", view_knows(view, EV_UNMAP_QUEUES) && view_knows(view, EV_UNMAP_QUEUES_DONE),
			 open->unmaps);
	json_close('}');
}

/**
 * report_json() - the whole document
 * @view: the recording, read
 * @paths: ROCm's log joined to it, NULL for none
 */
void report_json(const struct view *view, const struct paths *paths)
{
	const struct trace_loss *loss = trace_loss(view->file);
	const struct model *model = &view->model;
	static const struct list_choice all = { .json = true };
	struct client_rows rows;
	const struct gpu *gpu;
	struct list list;
	uint64_t lost;
	bool known = view_lost(view, &lost);
	size_t i;

	json_stdout(JSON_ROWS);
	json_number("version", JSON_FORMAT);
	json_simulated("simulated", view_simulated(view));
	json_text("driver", view_driver(view));
	json_text("clock", trace_clock(view->file));
	json_known_count("first_ts_ns", model->last, model->first);
	json_known_count("last_ts_ns", model->last, model->last);
	json_known_count("lost_count", known, lost);
	json_count("gap_count", loss->gaps);
	json_count("damaged_count", view_damaged(view));
	json_count("cut_bytes", loss->cut);
	json_count("other_event_count", trace_foreign(view->file));
	json_open("event_counts", '{');
	for (i = 0; i < NR_KFD_EVENTS; i++)
		if (view_knows(view, i))
			json_count(kfd_event_name(i), model->events[i]);
	json_close('}');
	client_rows_make(&rows, view);
	list = client_rows_list(&rows, &view->options->list);
	list_json_columns(&list);
	list_json(&list, "processes");
	pairs_json(&rows);
	throttles_json(&rows);
	free(rows.clients);
	queues_json(view, &all);
	json_open("gpus", '[');
	for (gpu = model->gpus; gpu; gpu = gpu->next)
		gpu_json(view, gpu);
	json_close(']');
	anomalies_json(view);
	under_way_json(view);
	saves_json(view);
	claims_json(view);
	if (paths)
		log_json(paths);
	else
		json_null("log");
	json_stdout_end();
}
