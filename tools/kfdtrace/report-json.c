// SPDX-License-Identifier: GPL-2.0
/* The JSON of kfdtrace report; its form is described, and promised, in kfdtrace(1). */
#include <stdlib.h>

#include "output.h"
#include "queues.h"
#include "report.h"

/* Raised when the meaning of a member changes; new members do not count. */
#define JSON_FORMAT 1

static void client_json(const struct view *view, const struct client *client)
{
	const struct pair *pair;
	int inner;

	json_open(NULL, '{');
	json_count("gpu_id", client->gpu->gpu_id);
	json_number("pid", client->process->pid);
	if (view_inner_pid(view, client->process->pid, &inner))
		json_number("inner_pid", inner);
	else
		json_null("inner_pid");
	json_text("command", view_command(view, client->process->pid));
	if (client->process->prio == NO_PRIO)
		json_null("prio");
	else
		json_number("prio", client->process->prio);
	json_count("queues_created", client->created);
	json_count("queues_destroyed", client->destroyed);
	json_count("queues_at_once", client->max_live);
	json_count("maps", client->maps);
	json_count("mapped_ns", client->mapped_ns);
	json_count("preemptions", client->preemptions);
	json_count("preempted_ns", client->preempted_ns);
	json_count("preempting", client->preempting);
	json_count("preempting_ns", client->preempting_ns);
	json_count("wakes", client->wakes);
	json_count("evictions", client->evictions);
	json_count("evicted_ns", client->evicted_ns);
	json_open("preempted_by", '[');
	for (pair = client->by; pair; pair = pair->next) {
		json_open(NULL, '{');
		json_number("pid", pair->pid);
		json_count("count", pair->count);
		json_count("ns", pair->ns);
		json_close('}');
	}
	json_close(']');
	json_close('}');
}

static void hist_json(const char *key, const struct hist *hist)
{
	unsigned int power;

	json_open(key, '{');
	json_count("count", hist->count);
	if (hist->count) {
		json_count("min_ns", hist->min);
		json_real("mean_ns", (double)hist->sum / hist->count);
		json_count("p50_ns", hist_percentile(hist, 50));
		json_count("p90_ns", hist_percentile(hist, 90));
		json_count("p99_ns", hist_percentile(hist, 99));
		json_count("p999_ns", hist_percentile(hist, 99.9));
		json_count("max_ns", hist->max);
		json_open("histogram", '[');
		for (power = 0; power < 64; power++) {
			if (!hist_octave(hist, power))
				continue;
			json_open(NULL, '{');
			json_count("from_ns", power ? 1ULL << power : 0);
			json_count("count", hist_octave(hist, power));
			json_close('}');
		}
		json_close(']');
	}
	json_close('}');
}

static void reasons_json(const char *key, const uint64_t *counts)
{
	int i;

	json_open(key, '{');
	for (i = 0; i < NR_KFD_REASONS; i++)
		if (counts[i])
			json_count(kfd_reason_name(i), counts[i]);
	json_close('}');
}

static void gpu_json(const struct view *view, const struct gpu *gpu)
{
	int i;

	json_open(NULL, '{');
	json_count("gpu_id", gpu->gpu_id);
	json_text("name", view_gpu_name(view, gpu->gpu_id));
	json_text("gfx", view_gpu_gfx(view, gpu->gpu_id));
	json_count("runlists", gpu->runlists);
	json_count("runlist_queues", gpu->runlist_queues);
	json_count("max_queues", gpu->max_queues);
	json_count("max_processes", gpu->max_processes);
	json_count("over_subscribed", gpu->over_subscribed);
	json_count("over_subscribed_ns", gpu->over_ns);
	json_count("hangs", gpu->hangs);
	reasons_json("preemptions_began", gpu->begins);
	reasons_json("preemptions_ended", gpu->ends);
	json_open("latency", '{');
	for (i = 0; i < NR_LATENCIES; i++)
		hist_json(latencies[i].key, latencies[i].of(gpu));
	json_close('}');
	json_close('}');
}

static void anomalies_json(const struct model *model)
{
	size_t i;

	json_count("anomaly_count", anomalies_count(model));
	json_open("anomalies", '[');
	for (i = 0; i < model->kept_anomalies; i++) {
		const struct anomaly *anomaly = &model->anomalies[i];

		json_open(NULL, '{');
		json_text("what", anomaly_name(anomaly->kind));
		json_count("ts_ns", anomaly->ts);
		json_count("gpu_id", anomaly->gpu_id);
		json_number("pid", anomaly->pid);
		json_number("queue_id", anomaly->queue_id);
		json_number("value", anomaly->value);
		json_close('}');
	}
	json_close(']');
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
	struct client_rows rows;
	const struct gpu *gpu;
	size_t i;

	json_open(NULL, '{');
	json_number("version", JSON_FORMAT);
	view_simulated_json("simulated", view_simulated(view));
	json_text("clock", trace_clock(view->file));
	json_count("first_ns", model->first);
	json_count("last_ns", model->last);
	json_count("lost", loss->overrun);
	json_count("gaps", loss->gaps);
	json_count("damaged", loss->damaged);
	json_count("other_events", trace_foreign(view->file));
	json_open("events", '{');
	for (i = 0; i < NR_KFD_EVENTS; i++)
		json_count(kfd_event_name(i), model->events[i]);
	json_close('}');
	client_rows_make(&rows, view);
	json_open("processes", '[');
	for (i = 0; i < rows.nr; i++)
		client_json(view, rows.clients[i]);
	json_close(']');
	free(rows.clients);
	queues_json(view);
	json_open("gpus", '[');
	for (gpu = model->gpus; gpu; gpu = gpu->next)
		gpu_json(view, gpu);
	json_close(']');
	anomalies_json(model);
	if (paths)
		log_json(paths);
	json_close('}');
}
