// SPDX-License-Identifier: GPL-2.0
/* ROCm's log, joined to a recording of a HIP program. */
#include <stdlib.h>

#include "fuzz.h"
#include "views/common/join.h"

static struct view view;

static void begin(void)
{
	fuzz_view(&view, "hip");
}

static void one(const uint8_t *bytes, size_t size)
{
	const char *name = fuzz_file(bytes, size);
	struct view_options options = { .verb = "fuzz", .amd_logs = &name, .nr_amd_logs = 1 };
	struct paths paths;

	view.options = &options;
	paths_make(&paths, &view);
	if (paths.joined > paths.nr || paths.log->known > paths.log->headers ||
	    paths.log->headed > paths.log->lines || paths.repeated > paths.compared || paths.compared > paths.log->dispatches)
		abort();
	paths_free(&paths);
}

const struct fuzz_target fuzz_amdlog = { "amdlog", begin, one };
