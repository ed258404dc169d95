// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <event-parse.h>
#include <tracefs.h>
#include "events.h"
#include "tap.h"

/* Each CPU's buffer full of bytes of ones, then empty: what is not written to now still has them */
static void fill(struct tracefs_instance *instance)
{
	char *path = tracefs_instance_get_file(instance, "trace_marker"), ones[2048];
	int fd = open(path, O_WRONLY | O_CLOEXEC), cpu, i, n = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t old, one;

	if (fd < 0 || sched_getaffinity(0, sizeof(old), &old))
		tap_bail("%s: %s", path, strerror(errno));
	tracefs_put_tracing_file(path);
	memset(ones, 0xff, sizeof(ones));
	if (tracefs_instance_file_write(instance, "buffer_size_kb", "512") < 0)
		tap_bail("buffer_size_kb: %s", strerror(errno));
	for (cpu = 0; cpu < n; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one))
			tap_bail("CPU %d: %s", cpu, strerror(errno));
		for (i = 0; i < 2 * 512 * 1024 / (int)sizeof(ones); i++)
			if (write(fd, ones, sizeof(ones)) < 0)
				tap_bail("trace_marker: %s", strerror(errno));
	}
	close(fd);
	sched_setaffinity(0, sizeof(old), &old);
	if (tracefs_instance_file_write(instance, "trace", "") < 0)
		tap_bail("the trace cannot be emptied: %s", strerror(errno));
}

static struct events *start(const char *system, const char *event, bool in_ones)
{
	struct events *e = calloc(1, sizeof(*e));
	char name[64];

	if (!e)
		tap_bail("out of memory");
	snprintf(name, sizeof(name), "kfdtest-%d", getpid());
	e->tep = tracefs_local_events(NULL);
	e->instance = tracefs_instance_create(name);
	if (!e->tep || !e->instance)
		tap_bail("tracefs: %s", strerror(errno));
	tracefs_instance_file_write(e->instance, "trace_clock", "mono");
	if (in_ones)
		fill(e->instance);
	if (tracefs_event_enable(e->instance, system, event))
		tap_bail("there are no events/%s: is this the patched amdkfd?", system);
	return e;
}

struct events *events_start(const char *system)
{
	return start(system, NULL, false);
}

struct events *events_start_one(const char *system, const char *event)
{
	return start(system, event, false);
}

struct events *events_start_in_ones(const char *system)
{
	return start(system, NULL, true);
}

static int add(struct tep_event *type, struct tep_record *record, int cpu, void *data)
{
	struct events *e = data;
	struct event *ev;

	(void)cpu;
	e->event = realloc(e->event, (e->nr + 1) * sizeof(*e->event));
	if (!e->event)
		tap_bail("out of memory");
	ev = &e->event[e->nr++];
	ev->type = type;
	ev->name = type->name;
	ev->ns = record->ts;
	ev->size = record->size;
	ev->data = malloc(record->size);
	if (!ev->data)
		tap_bail("out of memory");
	memcpy(ev->data, record->data, record->size);
	if (record->missed_events)
		tap_bail("%lld events were lost", record->missed_events);
	return 0;
}

static int by_time(const void *l, const void *r)
{
	const struct event *a = l, *b = r;

	return a->ns < b->ns ? -1 : a->ns > b->ns;
}

void events_stop(struct events *e)
{
	tracefs_trace_off(e->instance);
	if (tracefs_iterate_raw_events(e->tep, e->instance, NULL, 0, add, e))
		tap_bail("reading the trace: %s", strerror(errno));
	qsort(e->event, e->nr, sizeof(*e->event), by_time);
}

void events_free(struct events *e)
{
	size_t i;

	for (i = 0; i < e->nr; i++)
		free(e->event[i].data);
	free(e->event);
	tracefs_event_disable(e->instance, NULL, NULL);
	tracefs_instance_destroy(e->instance);
	tracefs_instance_free(e->instance);
	tep_free(e->tep);
	free(e);
}

long long event_field(const struct event *ev, const char *field)
{
	struct tep_format_field *f = tep_find_any_field(ev->type, field);
	unsigned long long v;

	if (!f || tep_read_number_field(f, ev->data, &v))
		tap_bail("event %s has no number '%s'", ev->name, field);
	if ((f->flags & TEP_FIELD_IS_SIGNED) && f->size < 8)
		v = (long long)(v << (64 - 8 * f->size)) >> (64 - 8 * f->size);
	return v;
}

bool event_has(const struct event *ev, const char *field)
{
	return tep_find_any_field(ev->type, field);
}

const struct event *events_find(const struct events *e, const struct event *after,
				const char *name, const char *field, long long value)
{
	size_t i;

	for (i = after ? (size_t)(after - e->event) + 1 : 0; i < e->nr; i++)
		if (!strcmp(e->event[i].name, name) &&
		    (!field || event_field(&e->event[i], field) == value))
			return &e->event[i];
	return NULL;
}

size_t events_count(const struct events *e, const char *name, const char *field,
		    long long value)
{
	const struct event *ev = NULL;
	size_t n = 0;

	while ((ev = events_find(e, ev, name, field, value)))
		n++;
	return n;
}

void events_print(const struct events *e)
{
	struct trace_seq s;
	size_t i;

	trace_seq_init(&s);
	for (i = 0; i < e->nr; i++) {
		struct tep_record record = {
			.ts = e->event[i].ns, .size = e->event[i].size,
			.data = e->event[i].data,
		};

		trace_seq_reset(&s);
		tep_print_event(e->tep, &s, &record, "%s", TEP_PRINT_INFO);
		trace_seq_terminate(&s);
		tap_diag("%llu %s: %s", e->event[i].ns, e->event[i].name, s.buffer);
	}
	trace_seq_destroy(&s);
}
