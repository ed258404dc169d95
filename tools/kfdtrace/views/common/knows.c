// SPDX-License-Identifier: GPL-2.0
/*
 * What the events of a recording can show.
 *
 * An event that was not recorded did not happen 0 times: how often it happened is not known. The file has the formats
 * of the events that the driver has, and meta.json the events that were asked for.
 */
#define _GNU_SOURCE
#include <string.h>

#include "message.h"
#include "view.h"

/* Events of which a stock driver, whose events are of probes, has none */
static const enum kfd_event_type ours[] = { EV_SET_PRIORITY, EV_DOORBELL_WAKE, EV_PREEMPT_BEGIN, EV_PREEMPT_END,
					    EV_PARK, EV_UNPARK, EV_THROTTLE_BEGIN, EV_THROTTLE_END };
/* Events that each driver has */
static const enum kfd_event_type common[] = { EV_CREATE_QUEUE, EV_DESTROY_QUEUE, EV_MAP_QUEUES, EV_MAP_QUEUE,
					      EV_UNMAP_QUEUES, EV_UNMAP_QUEUES_DONE, EV_EVICT_PROCESS,
					      EV_RESTORE_PROCESS };

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* Whether a word of record --event names an event of kfd: SYSTEM or SYSTEM:EVENT */
static bool word_names(const char *word, enum kfd_event_type type)
{
	return !strcmp(word, "kfd") || (!strncmp(word, "kfd:", 4) && !strcmp(word + 4, kfd_event_name(type)));
}

/**
 * view_knows_read() - read which events were asked for
 * @view: the recording, whose file and meta.json are open; @asked and @asked_known are filled in
 */
void view_knows_read(struct view *view)
{
	struct json_object *list = view_meta_value(view, "events", json_type_array);
	size_t nr = list ? json_object_array_length(list) : 0, i;
	int type;

	view->asked_known = false;
	for (type = 0; type < NR_KFD_EVENTS; type++)
		view->asked[type] = false;
	for (i = 0; i < nr; i++) {
		struct json_object *word = json_object_array_get_idx(list, i);

		if (!json_object_is_type(word, json_type_string))
			continue;
		view->asked_known = true;
		for (type = 0; type < NR_KFD_EVENTS; type++)
			view->asked[type] |= word_names(json_object_get_string(word), type);
	}
}

/**
 * view_model_init() - an empty model of a recording; does not return if that fails
 * @view: the recording, after view_knows_read(); @model is filled in
 */
void view_model_init(struct view *view)
{
	int type;

	if (model_init(&view->model, view->options->slow_ns))
		errx(EXIT_FAILURE, "out of memory");
	for (type = 0; type < NR_KFD_EVENTS; type++)
		view->model.lacks[type] = !view_knows(view, type);
}

/**
 * view_knows() - whether an event was recorded if it happened
 * @view: the recording
 * @type: the event
 *
 * Return: whether the driver that was recorded has the event, and it was asked for. If not, what the event would show
 * is not known: it is not 0.
 */
bool view_knows(const struct view *view, enum kfd_event_type type)
{
	return trace_knows(view->file, type) &&
	       (!view->asked_known || view->asked[type] || view->model.events[type]);
}

/* Whether events of this kind may have happened that were not recorded */
static bool left_out(const struct view *view, enum kfd_event_type type)
{
	return trace_knows(view->file, type) && !view_knows(view, type);
}

/**
 * view_knows_maps() - whether it is known how long queues were mapped
 * @view: the recording
 *
 * Return: whether.
 */
bool view_knows_maps(const struct view *view)
{
	return view_knows(view, EV_MAP_QUEUE) && view_knows(view, EV_UNMAP_QUEUES) &&
	       view_knows(view, EV_UNMAP_QUEUES_DONE);
}

/**
 * view_knows_victims() - whether it is known which processes and queues were preempted
 * @view: the recording
 *
 * A victim is a process that is not mapped while a preemption is under way, and neither parked nor throttled.
 *
 * Return: whether.
 */
bool view_knows_victims(const struct view *view)
{
	return view_knows_maps(view) && view_knows(view, EV_PREEMPT_BEGIN) && view_knows(view, EV_PREEMPT_END) &&
	       !left_out(view, EV_PARK) && !left_out(view, EV_UNPARK) && !left_out(view, EV_THROTTLE_BEGIN) &&
	       !left_out(view, EV_THROTTLE_END);
}

/**
 * view_knows_throttles() - whether it is known how long processes were throttled
 * @view: the recording
 *
 * Return: whether.
 */
bool view_knows_throttles(const struct view *view)
{
	return view_knows(view, EV_THROTTLE_BEGIN) && view_knows(view, EV_THROTTLE_END);
}

/**
 * view_knows_anomalies() - whether all events that may be an anomaly were recorded
 * @view: the recording
 *
 * Return: whether.
 */
bool view_knows_anomalies(const struct view *view)
{
	unsigned int i;
	int type;

	for (i = 0; i < NR(common); i++)
		if (!view_knows(view, common[i]))
			return false;
	for (type = 0; type < NR_KFD_EVENTS; type++)
		if (left_out(view, type))
			return false;
	return true;
}

/**
 * view_driver() - whose events were recorded
 * @view: the recording
 *
 * Return: "kfdprio"; "stock" or "upstream", a driver without priorities and preemption (upstream: with trace events of its own); or
 * NULL if the recording does not show it.
 */
const char *view_driver(const struct view *view)
{
	struct json_object *driver = view_meta_value(view, "driver", json_type_string);
	unsigned int i;

	for (i = 0; i < NR(ours); i++)
		if (trace_knows(view->file, ours[i]))
			return "kfdprio";
	if (driver && !strcmp(json_object_get_string(driver), "stock"))
		return "stock";
	if (driver && !strcmp(json_object_get_string(driver), "upstream"))
		return "upstream";
	/* of a file that has the formats of some events, the driver may have others */
	for (i = 0; i < NR(common); i++)
		if (!trace_knows(view->file, common[i]))
			return NULL;
	return "stock";
}

/**
 * view_stock() - whether the recording is of a driver without priorities and preemption
 * @view: the recording
 *
 * Return: whether it is known to be.
 */
bool view_stock(const struct view *view)
{
	const char *driver = view_driver(view);

	return driver && strcmp(driver, "kfdprio");
}

/**
 * view_knows_warn() - print on stderr which events were not recorded
 * @view: the recording, read
 */
void view_knows_warn(const struct view *view)
{
	int type, lacking = 0, all = 0, first = -1;
	uint64_t events = 0;

	for (type = 0; type < NR_KFD_EVENTS; type++) {
		all += trace_knows(view->file, type);
		events += view->model.events[type];
		if (!left_out(view, type))
			continue;
		lacking++;
		if (first < 0)
			first = type;
	}
	if (lacking)
		warnx("%s: %d of %d kinds of kfd events were not recorded, as %s: what they would show is not known",
		      view->options->dir, lacking, all, kfd_event_name(first));
	else if (events && !view_driver(view))
		warnx("%s: it has the formats of %d kinds of kfd events only: what the others would show is not known",
		      view->options->dir, all);
	else if (!view->asked_known && events && trace_knows(view->file, EV_MAP_QUEUE) &&
		 !view->model.events[EV_MAP_QUEUE])
		warnx("%s: there is no kfd_map_queue, and %s whether that event was recorded: values that are 0 may be wrong",
		      view->options->dir,
		      view->meta ? "meta.json does not contain" : "without meta.json it is not known");
}
