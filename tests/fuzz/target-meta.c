// SPDX-License-Identifier: GPL-2.0
/* meta.json: what is looked up in it. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "views/common/view.h"

static struct view view;

static void begin(void)
{
	fuzz_view(&view, "preempt");
	view_meta_close(&view);
}

static void one(const uint8_t *bytes, size_t size)
{
	const struct process *process;
	const struct gpu *gpu;
	const char *name;
	int inner;

	view_meta_open(&view, fuzz_file(bytes, size));
	for (process = view.model.processes; process; process = process->next) {
		/* a name there is whatever the file says */
		name = view_command(&view, process->pid);
		if (!name || strlen(name) > size + TRACE_COMM)
			abort();
		view_inner_pid(&view, process->pid, &inner);
	}
	for (gpu = view.model.gpus; gpu; gpu = gpu->next) {
		name = view_gpu_name(&view, gpu->gpu_id);
		if ((name && strlen(name) > size) || view_gpu_hqds(&view, gpu->gpu_id) < 0)
			abort();
	}
	view_simulated(&view);
	view_meta_close(&view);
}

const struct fuzz_target fuzz_meta = { "meta", begin, one };
