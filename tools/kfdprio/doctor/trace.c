// SPDX-License-Identifier: GPL-2.0
/* kfdprio doctor --test: recording and reading trace events with libtracefs */
#define _GNU_SOURCE
#include <errno.h>
#include <event-parse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>
#include <unistd.h>

#include "trace.h"
#include "kfdlib.h"

/**
 * struct trace - a recording
 * @instance: of tracefs
 * @tep: describes the events
 * @events: array of @nr, in order of time
 * @nr: how many
 * @lost: some were lost
 */
struct trace {
	struct tracefs_instance *instance;
	struct tep_handle *tep;
	struct trace_event *events;
	size_t nr;
	bool lost;
};

/**
 * trace_start() - record all events of kfd from now on
 * @why: on failure, why not
 * @size: bytes of @why
 *
 * Return: to be freed with trace_free(); NULL on failure.
 */
struct trace *trace_start(char *why, size_t size)
{
	const char *systems[] = { "kfd", NULL };
	struct trace *t = calloc(1, sizeof(*t));
	struct tracing tracing;
	char name[64];

	if (!t)
		return NULL;
	if (geteuid()) {
		snprintf(why, size, "needs root");
		free(t);
		return NULL;
	}
	tep_set_loglevel(TEP_LOG_NONE);
	tracefs_set_loglevel(TEP_LOG_NONE);
	if (tracing_find("", &tracing)) {
		snprintf(why, size, "%s", tracing.why);
		free(t);
		return NULL;
	}
	snprintf(name, sizeof(name), "kfdprio-doctor-%d", getpid());
	tracefs_set_tracing_dir(tracing.dir);
	t->tep = tracefs_local_events_system(tracing.dir, systems);
	if (!t->tep || !tracefs_event_file_exists(NULL, "kfd", "kfd_create_queue", "format")) {
		snprintf(why, size, "the kernel has no kfd events");
		goto err_free;
	}
	t->instance = tracefs_instance_create(name);
	if (!t->instance) {
		snprintf(why, size, "cannot make a tracing instance: %s", strerror(errno));
		goto err_free;
	}
	if (tracefs_instance_file_write(t->instance, "trace_clock", "mono") < 0 ||
	    tracefs_event_enable(t->instance, "kfd", NULL)) {
		snprintf(why, size, "cannot switch the events on: %s", strerror(errno));
		goto err_free;
	}
	return t;

err_free:
	trace_free(t);
	return NULL;
}

static int64_t field(struct tep_event *type, const char *name, void *data, int64_t otherwise)
{
	struct tep_format_field *f = tep_find_any_field(type, name);
	unsigned long long value;

	if (!f || tep_read_number_field(f, data, &value))
		return otherwise;
	if ((f->flags & TEP_FIELD_IS_SIGNED) && f->size == 4)
		return (int32_t)value;
	return value;
}

static int keep(struct tep_event *type, struct tep_record *record, int cpu, void *data)
{
	struct trace *t = data;
	struct trace_event *grown;

	(void)cpu;
	grown = reallocarray(t->events, t->nr + 1, sizeof(*grown));
	if (!grown)
		return -1;
	t->events = grown;
	t->events[t->nr++] = (struct trace_event){
		.name = type->name,
		.ns = record->ts,
		.gpu_id = field(type, "gpu_id", record->data, 0),
		.pid = field(type, "pid", record->data, -1),
		.seq = field(type, "seq", record->data, -1),
		.dur_ns = field(type, "dur_ns", record->data, -1),
		.ret = field(type, "ret", record->data, 0),
	};
	t->lost |= record->missed_events;
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct trace_event *a = left, *b = right;

	return a->ns < b->ns ? -1 : a->ns > b->ns;
}

/**
 * trace_stop() - end the recording and read it
 * @t: the recording
 *
 * Return: whether all of it could be read.
 */
bool trace_stop(struct trace *t)
{
	tracefs_trace_off(t->instance);
	if (tracefs_iterate_raw_events(t->tep, t->instance, NULL, 0, keep, t))
		return false;
	qsort(t->events, t->nr, sizeof(*t->events), by_time);
	return !t->lost;
}

/**
 * trace_free() - free a recording and remove its instance
 * @t: the recording, or NULL
 */
void trace_free(struct trace *t)
{
	if (!t)
		return;
	if (t->instance) {
		tracefs_event_disable(t->instance, NULL, NULL);
		tracefs_instance_destroy(t->instance);
		tracefs_instance_free(t->instance);
	}
	tep_free(t->tep);
	free(t->events);
	free(t);
}

/**
 * trace_find() - the next event of a name
 * @t: the recording
 * @after: from the one behind it on; NULL: from the first on
 * @name: of the event
 * @pid: that the event must have; -1: any
 *
 * Return: the event, or NULL.
 */
const struct trace_event *trace_find(const struct trace *t, const struct trace_event *after,
				     const char *name, int64_t pid)
{
	const struct trace_event *event = after ? after + 1 : t->events;

	for (; event < t->events + t->nr; event++)
		if (!strcmp(event->name, name) && (pid < 0 || event->pid == pid))
			return event;
	return NULL;
}

/**
 * trace_count() - how many events of a name there are
 * @t: the recording
 * @name: of the event
 * @pid: that the event must have; -1: any
 */
size_t trace_count(const struct trace *t, const char *name, int64_t pid)
{
	const struct trace_event *event = NULL;
	size_t nr = 0;

	while ((event = trace_find(t, event, name, pid)))
		nr++;
	return nr;
}
