// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <event-parse.h>
#include <tracefs.h>
#include "events.h"
#include "tap.h"

struct events *events_start(const char *system)
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
	if (tracefs_event_enable(e->instance, system, NULL))
		tap_bail("there are no events/%s: is this the patched amdkfd?", system);
	return e;
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
