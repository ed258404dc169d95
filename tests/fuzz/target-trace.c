// SPDX-License-Identifier: GPL-2.0
/* A whole trace.dat: its head, its pages, the model, the report. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "views/common/queues.h"
#include "views/report/report.h"

static void one(const uint8_t *bytes, size_t size)
{
	static const struct view_options options = { .verb = "fuzz", .slow_ns = 100000000 };
	struct view view = { .options = &options };
	char why[TRACE_WHY] = "";
	const char *path = fuzz_file(bytes, size);

	view.file = trace_open(path, why);
	if (!view.file) {
		/* what is refused is named, and the reason told */
		if (strncmp(why, path, strlen(path)) || strlen(why) < strlen(path) + 4)
			abort();
		return;
	}
	fuzz_events(&view);
	/* slow beside the rest, and it repeats itself */
	if (size % 8 == 0) {
		report_json(&view, NULL);
		queues_table(&view, 50, &(struct list_choice){ 0 });
	}
	model_free(&view.model);
	trace_close(view.file);
}

const struct fuzz_target fuzz_trace = { "trace", NULL, one };
