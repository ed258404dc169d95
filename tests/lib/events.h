/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kfd trace events of a stretch of time, in a tracing instance of their own,
 * read through libtracefs and libtraceevent.
 */
#ifndef TESTS_LIB_EVENTS_H
#define TESTS_LIB_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

struct tep_event;
struct tracefs_instance;

/**
 * struct event - one event
 * @type: its description
 * @name: of the event
 * @ns: when, in nanoseconds of the trace clock
 * @data: its raw record, @size bytes
 */
struct event {
	struct tep_event *type;
	const char *name;
	unsigned long long ns;
	void *data;
	int size;
};

/**
 * struct events - a stretch
 * @event: the events, in order of time
 * @nr: how many
 */
struct events {
	struct tracefs_instance *instance;
	struct tep_handle *tep;
	struct event *event;
	size_t nr;
};

/* Begin to record all events of @system; ends the program if that cannot be. */
struct events *events_start(const char *system);

/* Record one event only */
struct events *events_start_one(const char *system, const char *event);

/* The same as events_start(), in a buffer whose every byte has been 0xff: what an event does not write shows */
struct events *events_start_in_ones(const char *system);

/* Stop, and read what there is. Fails the program when events were lost. */
void events_stop(struct events *e);

/* Free all, and remove the instance. */
void events_free(struct events *e);

/* Value of a field; signed fields are sign-extended. Ends the program if there is none. */
long long event_field(const struct event *ev, const char *field);

/* Does the event have such a field? */
bool event_has(const struct event *ev, const char *field);

/**
 * events_find() - the next event of a name
 * @e: the stretch
 * @after: start behind this one; NULL: from the beginning
 * @name: of the event
 * @field: field that must be @value; NULL: any
 * @value: see @field
 *
 * Return: the event, or NULL
 */
const struct event *events_find(const struct events *e, const struct event *after,
				const char *name, const char *field, long long value);

/* How many events of that name there are, with field @field being @value if it is not NULL */
size_t events_count(const struct events *e, const char *name, const char *field,
		    long long value);

/* All of them, as trace-cmd would print them, behind "# " */
void events_print(const struct events *e);

#endif
