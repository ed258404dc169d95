// SPDX-License-Identifier: GPL-2.0
/* kfdtrace path */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "read/amdlog.h"
#include "kfdlib.h"
#include "kfdtrace.h"
#include "message.h"
#include "views/common/join.h"
#include "views/common/options.h"
#include "views/common/throttle.h"
#include "waits.h"

static const char *const step_names[NR_STEPS] = {
	[STEP_ALLOCATING] = "looks for a hardware queue",
	[STEP_IOCTL] = "ioctl, AMDKFD_IOC_CREATE_QUEUE",
	[STEP_CREATE] = "kfd_create_queue",
	[STEP_INIT_MQD] = "kfd_init_mqd",
	[STEP_MAP] = "first kfd_map_queue",
	[STEP_CREATED] = "created hardware queue",
	[STEP_ACQUIRED] = "acquireQueue",
	[STEP_DISPATCH] = "first dispatch",
	[STEP_LAST_DISPATCH] = "last dispatch",
	[STEP_DESTROY] = "kfd_destroy_queue",
};

static bool step_in_kernel(enum step step)
{
	return step == STEP_IOCTL || step == STEP_CREATE || step == STEP_INIT_MQD ||
	       step == STEP_MAP || step == STEP_DESTROY;
}

/* The first map of a queue that was there before the recording is not known. */
static const char *step_name(const struct queue_path *path, enum step step)
{
	return step == STEP_MAP && !path->queue->created_seen ? "kfd_map_queue, the first of the recording" :
								step_names[step];
}

/* The steps that there are, by time. */
static size_t steps_sort(const struct queue_path *path, enum step *order)
{
	size_t nr = 0, i;
	int step;

	for (step = 0; step < NR_STEPS; step++) {
		if (!path->ts[step])
			continue;
		for (i = nr++; i && path->ts[order[i - 1]] > path->ts[step]; i--)
			order[i] = order[i - 1];
		order[i] = step;
	}
	return nr;
}

static void step_text(const struct queue_path *path, enum step step, char *text, size_t size)
{
	const struct queue *queue = path->queue;
	const char *name;

	switch (step) {
	case STEP_CREATE:
		snprintf(text, size, " ring_base=0x%" PRIx64 " ring_size=%" PRIu64 " prio=%d",
			 queue->ring_base, queue->ring_size, queue->prio);
		break;
	case STEP_INIT_MQD:
		snprintf(text, size, " mqd_addr=0x%" PRIx64, queue->mqd_addr);
		break;
	case STEP_CREATED:
		snprintf(text, size, " 0x%" PRIx64 "%s", path->hwq,
			 path->by_object ? " (the HSA queue that holds its write index)" : "");
		break;
	case STEP_ACQUIRED:
		snprintf(text, size, " 0x%" PRIx64, path->hwq);
		break;
	case STEP_LAST_DISPATCH:
		snprintf(text, size, " (%" PRIu64 " in total)", path->dispatches);
		break;
	case STEP_DESTROY:
		name = kfd_destroy_name(queue->destroy_reason);
		snprintf(text, size, " reason=%s", name ? name : "unknown");
		break;
	default:
		*text = '\0';
	}
}

/* Below the step */
static void print_wait(const struct wait *wait)
{
	char text[THROTTLE_TEXT], lasted[32];

	if (!wait || !wait->ns)
		return;
	throttle_text(wait->reason, wait->share, wait->cgroup_share, text);
	duration_format(lasted, sizeof(lasted), wait->ns);
	printf("%35sits process %s for %s\n", "", text, lasted);
}

static void print_throttles(const struct client *client)
{
	const struct throttle *throttle;
	char text[THROTTLE_TEXT], lasted[32];

	for (throttle = client->throttles; throttle; throttle = throttle->next) {
		if (!throttle->count)
			continue;
		throttle_text(throttle->reason, throttle->share, throttle->cgroup_share, text);
		duration_format(lasted, sizeof(lasted), throttle->ns);
		printf("  its process %s: %" PRIu64 " times, for %s in all\n", text, throttle->count, lasted);
	}
}

static void print_path(const struct view *view, const struct paths *paths, size_t nr_path, const struct waits *waits)
{
	const struct queue_path *path = &paths->path[nr_path];
	const struct queue *queue = path->queue;
	char *name = text_printable(view_command(view, queue->client->process->pid));
	const char *type = kfd_queue_type_name(queue->type);
	enum step order[NR_STEPS];
	size_t nr = steps_sort(path, order), i;
	char text[128], delta[32], when[32];

	printf("Queue %u of process %d (%s) on GPU %u: %s\n", queue->queue_id,
	       queue->client->process->pid, name ? name : "?", queue->client->gpu->gpu_id,
	       type ? type : "type unknown");
	free(name);
	for (i = 0; i < nr; i++) {
		uint64_t ts = path->ts[order[i]];

		if (i)
			duration_format(delta, sizeof(delta), ts - path->ts[order[i - 1]]);
		step_text(path, order[i], text, sizeof(text));
		text_time(when, sizeof(when), ts, list_zero_ns);
		printf("  %13s %s%8s  %-6s  %s%s\n", when, i ? "+" : " ", i ? delta : "",
		       step_in_kernel(order[i]) ? "kernel" : "ROCm", step_name(path, order[i]), text);
		print_wait(waits_of(waits, nr_path, order[i]));
	}
	if (!queue->created_seen)
		puts("  the queue was there before the recording");
	print_throttles(queue->client);
	if (!path->hwq && paths->log)
		puts("  ROCm's log has no line about this queue");
	putchar('\n');
}

static void wait_json(const struct wait *wait)
{
	bool waited = wait && wait->ns;

	json_known_count("throttled_ns", wait && wait->known, wait ? wait->ns : 0);
	throttle_json(waited ? wait->reason : -1, waited ? wait->share : -1, waited ? wait->cgroup_share : -1);
}

static void path_json(const struct view *view, const struct paths *paths, size_t nr_path, const struct waits *waits)
{
	const struct queue_path *path = &paths->path[nr_path];
	const struct queue *queue = path->queue;
	enum step order[NR_STEPS];
	size_t nr = steps_sort(path, order), i;

	json_open(NULL, '{');
	json_count("gpu_id", queue->client->gpu->gpu_id);
	json_number("pid", queue->client->process->pid);
	json_text("command", view_command(view, queue->client->process->pid));
	json_count("queue_id", queue->queue_id);
	if (queue->ring_base)
		json_address("ring_base", queue->ring_base);
	else
		json_null("ring_base");
	if (path->hwq)
		json_address("hwq", path->hwq);
	else
		json_null("hwq");
	json_text("joined_by", !path->hwq ? NULL : path->by_object ? "hsa_queue" : "ring_base");
	if (paths->log)
		json_count("dispatch_count", path->dispatches);
	else
		json_null("dispatch_count");
	json_open("steps", '[');
	for (i = 0; i < nr; i++) {
		json_open(NULL, '{');
		json_text("what", step_name(path, order[i]));
		json_text("where", step_in_kernel(order[i]) ? "kernel" : "rocm");
		json_count("ts_ns", path->ts[order[i]]);
		wait_json(waits_of(waits, nr_path, order[i]));
		json_close('}');
	}
	json_close(']');
	json_close('}');
}

static void usage(void)
{
	fputs("\n"
	      "Usage:\n"
	      " kfdtrace path [options] [DIR]\n"
	      "\n"
	      "Print the steps of each queue in the order of time, from ROCm's log, if there is one,\n"
	      "and from the kernel. Address and PID join the log to the queues. Without DIR, the\n"
	      "newest recording in the current directory is read.\n"
	      "\n"
	      "Options:\n"
	      " -p, --pid PID           show only this process; may be repeated\n"
	      " -l, --amd-log FILE      read ROCm's log from this file, or from each FILE_PID; may\n"
	      "                           be repeated (default DIR/amd.log)\n"
	      " -z, --zero              print times in text from the first event on\n"
	      " -J, --json              print JSON\n"
	      " -h, --help              display this help\n"
	      " -V, --version           display the version of this program\n"
	      "\n"
	      "Without --zero, times are seconds of the trace clock, as in trace-cmd report.\n"
	      "For more details see kfdtrace(1).\n",
	      stdout);
}

static void print_json(const struct view *view, const struct paths *paths, const struct waits *waits)
{
	size_t i;

	json_stdout(JSON_ROWS);
	json_number("version", JSON_FORMAT);
	json_simulated("simulated", view_simulated(view));
	json_open("queues", '[');
	for (i = 0; i < paths->nr; i++)
		if (paths->path[i].shown)
			path_json(view, paths, i, waits);
	json_close(']');
	log_json(paths);
	json_stdout_end();
}

/**
 * kfdtrace_path() - the verb
 * @argc: number of @argv
 * @argv: options
 *
 * Return: the exit status.
 */
int kfdtrace_path(int argc, char **argv)
{
	struct view_options options = { .verb = "path" };
	struct paths paths;
	struct waits waits;
	struct view view;
	size_t i;

	view_options_parse(argc, argv, "p:l:zJhV", usage, &options);
	view_open(&view, &options);
	view_read(&view);
	view_losses(&view);
	view_pids_check(&view);
	paths_make(&paths, &view);
	waits_make(&waits, &view, &paths);
	if (options.list.json) {
		print_json(&view, &paths, &waits);
	} else {
		view_simulated_print(&view);
		for (i = 0; i < paths.nr; i++)
			if (paths.path[i].shown)
				print_path(&view, &paths, i, &waits);
		if (paths.log)
			log_print(&paths);
		else if (paths.unread)
			puts("ROCm's log was not read: record with the clock mono, as kfdtrace record does");
		else
			puts("no log of ROCm: record with --amd-log, or name a log with --amd-log FILE");
	}
	waits_free(&waits);
	paths_free(&paths);
	view_close(&view);
	return stdout_check(EXIT_SUCCESS);
}
