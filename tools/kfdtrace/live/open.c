// SPDX-License-Identifier: GPL-2.0
/* The sources of "kfdtrace live": the driver, its GPUs, and the events if the user has access to them. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live.h"

static const char *mode_of(const struct kfd_gpu *gpu)
{
	static const char *const names[] = {
		[KFD_SCHEDULER_NONE] = "no HWS",
		[KFD_SCHEDULER_HWS] = "HWS",
		[KFD_SCHEDULER_MES] = "MES",
		[KFD_SCHEDULER_UNKNOWN] = "unknown scheduler",
	};

	return names[kfd_scheduler(gpu, "", NULL)];
}

static int source_open(struct live *live, char *why)
{
	enum live_source want = live->options->source;
	int ret;

	if (want == LIVE_STATS) {
		snprintf(live->note, sizeof(live->note), "--source stats");
		return 0;
	}
	if (!proc_outer_namespace()) {
		ret = -EPERM;
		snprintf(why, RECORD_WHY,
			 "events have PIDs of the host's PID namespace, and this is another one");
	} else if (live->driver == RECORD_STOCK && live->stock) {
		ret = live_stock_open(&live->events, live->options->btf, why);
	} else {
		ret = live_events_open(&live->events, live->options->instance, live->driver, why);
	}
	if (!ret)
		return 0;
	live_events_close(&live->events);
	/* without statistics there is nothing else to show */
	if (want == LIVE_EVENTS || live->stock)
		return ret;
	if (ret == -EACCES)
		snprintf(why, RECORD_WHY,
			 "no access to trace events: use sudo kfdtrace live, or --instance");
	snprintf(live->note, sizeof(live->note), "%.*s", (int)strcspn(why, "\n"), why);
	return 0;
}

/**
 * live_begin() - open everything, and count from now on
 * @live: its options are set; filled in, to be ended with live_end() also on failure
 * @why: on failure, what is wrong; RECORD_WHY bytes
 *
 * Return: 0 or -errno.
 */
int live_begin(struct live *live, char *why)
{
	int ret = 0;
	size_t i;

	live->driver = record_driver_find("", live->options->driver, live->options->instance);
	live->stock = live->options->source != LIVE_STATS &&
		      (live->driver == RECORD_UPSTREAM || (live->driver == RECORD_STOCK && !live->options->instance));
	if (!live->stock)
		ret = kfd_dev_open(&live->dev, why);
	if (ret)
		return ret;
	if (kfd_topology_read(&live->topo) || model_init(&live->model, UINT64_MAX))
		return live_oom(why);
	/* of queues that have ended, none is wanted */
	live->model.max_queues = 0;
	live->modes = calloc(live->topo.nr + 1, sizeof(*live->modes));
	if (!live->modes)
		return live_oom(why);
	for (i = 0; i < live->topo.nr; i++)
		live->modes[i] = mode_of(&live->topo.gpus[i]);
	live->simulated = kfd_simulated("");
	ret = source_open(live, why);
	if (ret)
		return ret;
	ret = live_drain(live, why);
	if (!ret)
		ret = live_list(live, why);
	live->ts = record_now();
	if (!ret && live->events.open && live_sync(live, live->ts))
		return live_oom(why);
	if (!ret)
		ret = live_rows(live, why);
	live->seen = live->events.all;
	return ret;
}

/**
 * live_end() - close and free everything; a trace instance of our own is removed
 * @live: of live_begin()
 */
void live_end(struct live *live)
{
	live_events_close(&live->events);
	kfd_dev_close(&live->dev);
	kfd_topology_free(&live->topo);
	model_free(&live->model);
	free(live->modes);
	free(live->rows);
	free(live->last);
	free(live->list);
	containers_free(&live->containers);
}
