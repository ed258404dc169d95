// SPDX-License-Identifier: GPL-2.0
/* A frame as a line of JSON. */
#include "json-out.h"
#include "live.h"

/**
 * live_print_json() - print a frame, as one line
 * @live: with a frame
 */
void live_print_json(const struct live *live)
{
	struct list list = live_list_of(live);
	size_t i;

	json_stdout(JSON_LINE);
	json_number("version", JSON_FORMAT);
	json_text("source", live->events.open ? "events" : "stats");
	if (live->stock)
		json_text("driver", live->driver == RECORD_UPSTREAM ? "upstream" : "stock");
	json_simulated("simulated", live->simulated);
	json_count("ts_ns", live->ts);
	json_count("span_ns", live->span_ns);
	if (live->events.open) {
		json_count("event_count", live->events.all);
		json_real("events_per_s", live->event_rate);
		json_count("lost_count", live->lost);
		json_count("damaged_count", live->events.damaged + live->model.impossible);
	} else {
		json_null("event_count");
		json_null("events_per_s");
		json_null("lost_count");
		json_null("damaged_count");
	}
	json_open("gpus", '[');
	for (i = 0; i < live->topo.nr; i++) {
		const struct kfd_gpu *gpu = &live->topo.gpus[i];

		json_open(NULL, '{');
		json_count("gpu_id", gpu->gpu_id);
		json_text("name", gpu->name);
		json_text("gfx", *gpu->gfx ? gpu->gfx : NULL);
		json_text("pci", gpu->pci);
		json_text("scheduler", live->modes[i]);
		json_close('}');
	}
	json_close(']');
	list_json_columns(&list);
	list_json(&list, "processes");
	json_stdout_end();
}
