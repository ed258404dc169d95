// SPDX-License-Identifier: GPL-2.0
/* What a recording lacks. */
#define _GNU_SOURCE
#include <inttypes.h>

#include "message.h"
#include "view.h"

/**
 * view_others_warn() - tell which events a recording without events of kfd has
 * @view: the recording, read
 */
void view_others_warn(const struct view *view)
{
	char others[TRACE_WHY];

	if (trace_others(view->file, others, sizeof(others)))
		warnx("%s: no kfd event was recorded; the recording has %s", view->trace_path, others);
	else
		warnx("%s: no event was recorded", view->trace_path);
}

/* The sum of cpu_lost_counts in meta.json, which may be damaged */
static bool meta_lost(const struct view *view, uint64_t *count)
{
	struct json_object *list = view_meta_value(view, "cpu_lost_counts", json_type_array), *entry;
	size_t nr = list ? json_object_array_length(list) : 0, i;
	int64_t lost;

	*count = 0;
	for (i = 0; i < nr; i++) {
		entry = json_object_array_get_idx(list, i);
		lost = json_object_is_type(entry, json_type_int) ? json_object_get_int64(entry) : -1;
		if (lost < 0 || lost == INT64_MAX || (uint64_t)lost > INT64_MAX - *count)
			return false;
		*count += lost;
	}
	return nr;
}

/**
 * view_lost() - events that the kernel counted as lost
 * @view: the recording
 * @count: out: how many, or as many as are known
 *
 * The statistics in trace.dat count them, and meta.json does for a file without.
 *
 * Return: whether the number is known.
 */
bool view_lost(const struct view *view, uint64_t *count)
{
	const struct trace_loss *loss = trace_loss(view->file);
	bool known = loss->counted >= (unsigned int)trace_cpus(view->file) && !loss->miscounted;
	uint64_t told;

	*count = loss->overrun;
	if (meta_lost(view, &told)) {
		known |= !loss->miscounted;
		if (told > *count)
			*count = told;
	}
	return known;
}

/**
 * view_damaged() - damaged places of the file, and events that are impossible
 * @view: the recording, read
 *
 * Return: how many were skipped.
 */
uint64_t view_damaged(const struct view *view)
{
	return trace_loss(view->file)->damaged + view->model.impossible;
}

/**
 * view_losses() - shout about what is missing, on stderr
 * @view: the recording, read
 */
void view_losses(const struct view *view)
{
	const struct trace_loss *loss = trace_loss(view->file);
	uint64_t damaged = view_damaged(view), lost;
	bool known = view_lost(view, &lost);

	view_knows_warn(view);
	if (lost)
		warnx("LOST %s%" PRIu64 " EVENTS during the recording: numbers and times below are too small or wrong",
		      known ? "" : "AT LEAST ", lost);
	else if (!known)
		warnx("%s: whether events were lost is not known: the statistics of the trace buffer are %s",
		      view->trace_path, loss->miscounted ? "damaged" : "not in the file");
	if (!lost && loss->gaps)
		warnx("EVENTS ARE MISSING at %" PRIu64
		      " places: numbers and times below are too small or wrong",
		      loss->gaps);
	if (loss->cut)
		warnx("%s: TRUNCATED: %" PRIu64 " of %" PRIu64
		      " bytes of events are missing (%.1f %%): numbers and times below are from the rest",
		      view->trace_path, loss->cut, loss->cut + loss->whole,
		      100.0 * loss->cut / (loss->cut + loss->whole));
	if (damaged)
		warnx("%s: DAMAGED at %" PRIu64 " places, which were skipped", view->trace_path, damaged);
}

/**
 * view_lacks() - whether events are missing, or may be
 * @view: the recording, read
 *
 * Return: whether.
 */
bool view_lacks(const struct view *view)
{
	const struct trace_loss *loss = trace_loss(view->file);
	uint64_t lost;

	return !view_lost(view, &lost) || lost || loss->gaps || loss->cut || view_damaged(view);
}
