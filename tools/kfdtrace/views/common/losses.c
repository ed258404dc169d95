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
	uint64_t damaged = view_damaged(view);

	view_knows_warn(view);
	if (loss->overrun)
		warnx("LOST %" PRIu64
		      " EVENTS during the recording: numbers and times below are too small or wrong",
		      loss->overrun);
	else if (loss->gaps)
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
 * view_lacks() - whether events are missing
 * @view: the recording, read
 *
 * Return: whether.
 */
bool view_lacks(const struct view *view)
{
	const struct trace_loss *loss = trace_loss(view->file);

	return loss->overrun || loss->gaps || loss->cut || view_damaged(view);
}
