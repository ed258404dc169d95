// SPDX-License-Identifier: GPL-2.0
/* A frame as a line of JSON. */
#define _GNU_SOURCE
#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <json-c/json.h>

#include "live.h"

/* Raised when the meaning of a member changes; new members do not count. */
#define LIVE_FORMAT 1

static void add(struct json_object *object, const char *key, struct json_object *value)
{
	if (!value || json_object_object_add(object, key, value))
		errx(EXIT_FAILURE, "out of memory");
}

static void add_null(struct json_object *object, const char *key)
{
	if (json_object_object_add(object, key, NULL))
		errx(EXIT_FAILURE, "out of memory");
}

static void add_text(struct json_object *object, const char *key, const char *raw)
{
	char *text = text_utf8(raw);

	if (!text)
		errx(EXIT_FAILURE, "out of memory");
	add(object, key, json_object_new_string(text));
	free(text);
}

/* Six digits are more than a frame knows. */
static void add_real(struct json_object *object, const char *key, double value)
{
	add(object, key, json_object_new_double(round(value * 1e6) / 1e6));
}

static void add_prio(struct json_object *object, const char *key, int prio)
{
	if (prio == KFD_PRIO_UNSET)
		add_null(object, key);
	else
		add(object, key, json_object_new_int(prio));
}

static struct json_object *made(struct json_object *object)
{
	if (!object)
		errx(EXIT_FAILURE, "out of memory");
	return object;
}

static struct json_object *row_json(const struct live_row *row)
{
	struct json_object *object = made(json_object_new_object());

	add(object, "pid", json_object_new_int(row->pid));
	add(object, "gpu_id", json_object_new_int64(row->gpu_id));
	add_text(object, "command", row->command);
	add_prio(object, "priority", row->priority);
	add_prio(object, "effective", row->effective);
	add_text(object, "state", live_state_name(row->state));
	if (row->mapped < 0)
		add_null(object, "mapped");
	else
		add_real(object, "mapped", row->mapped);
	add_real(object, "preempted", row->preempted);
	add_real(object, "preemptions_per_s", row->suffered);
	add_real(object, "preempting_per_s", row->caused);
	add(object, "queues", json_object_new_int64(row->queues));
	add(object, "active_queues", json_object_new_int64(row->active));
	if (row->reason)
		add_text(object, "reason", row->reason);
	else
		add_null(object, "reason");
	if (row->reason)
		add(object, "reason_pid", json_object_new_int(row->by ? row->by : row->pid));
	else
		add_null(object, "reason_pid");
	return object;
}

static struct json_object *gpus_json(const struct live *live)
{
	struct json_object *array = made(json_object_new_array()), *object;
	size_t i;

	for (i = 0; i < live->topo.nr; i++) {
		object = made(json_object_new_object());
		add(object, "gpu_id", json_object_new_int64(live->topo.gpus[i].gpu_id));
		add_text(object, "name", live->topo.gpus[i].name);
		add_text(object, "pci", live->topo.gpus[i].pci);
		add_text(object, "scheduler", live->modes[i]);
		if (json_object_array_add(array, object))
			errx(EXIT_FAILURE, "out of memory");
	}
	return array;
}

/**
 * live_print_json() - print a frame, as one line
 * @live: with a frame
 */
void live_print_json(const struct live *live)
{
	struct json_object *object = made(json_object_new_object());
	struct json_object *array = made(json_object_new_array());
	char *text;
	size_t i;

	add(object, "version", json_object_new_int(LIVE_FORMAT));
	add_text(object, "source", live->events.open ? "events" : "stats");
	if (live->simulated == SIMULATED_UNKNOWN)
		add_null(object, "simulated");
	else
		add(object, "simulated", json_object_new_boolean(live->simulated == SIMULATED_YES));
	add(object, "ts", json_object_new_uint64(live->ts));
	add(object, "span_ns", json_object_new_uint64(live->span_ns));
	add(object, "events", json_object_new_uint64(live->events.all));
	add_real(object, "events_per_s", live->event_rate);
	add(object, "lost", json_object_new_uint64(live->lost));
	add(object, "gpus", gpus_json(live));
	for (i = 0; i < live->nr_rows; i++)
		if (json_object_array_add(array, row_json(&live->rows[i])))
			errx(EXIT_FAILURE, "out of memory");
	add(object, "processes", array);
	text = json_printable(object, false);
	if (!text)
		errx(EXIT_FAILURE, "out of memory");
	puts(text);
	free(text);
	json_object_put(object);
}
