// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of libtraceevent: names in the kfd events that trace-cmd report prints.
 *
 * An event is printed as its own format says, whatever its fields are in this version of the
 * driver; then a name is put behind each number that has one.  A number itself stays as it
 * is, with a blank after it, so that what looked for "ret=0" or "dur_ns=123 " still finds it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include "model/events.h"
#include "kfdlib.h"

#define NAME 64 /* bytes of a name */

/* All else is hidden: the program that loads us may have functions of the same name. */
__attribute__((visibility("default"))) int TEP_PLUGIN_LOADER(struct tep_handle *tep);
__attribute__((visibility("default"))) void TEP_PLUGIN_UNLOADER(struct tep_handle *tep);

/* The name of a number, which may be written into @room; NULL if it has none. */
typedef const char *(*name_fn)(const struct tep_event *event, int64_t value, char *room);

static const char *name_of_band(const struct tep_event *event, int64_t value, char *room)
{
	(void)event;
	(void)room;
	if (value == -1)
		return "none set";
	return value >= KFD_PRIO_MIN && value <= KFD_PRIO_MAX ? prio_band(value) : NULL;
}

static const char *name_of_error(const struct tep_event *event, int64_t value, char *room)
{
	(void)event;
	(void)room;
	return value < 0 && value > -4096 ? strerrorname_np(-value) : NULL;
}

static const char *name_of_duration(const struct tep_event *event, int64_t value, char *room)
{
	(void)event;
	/* nanoseconds are there already */
	if (value < 1000)
		return NULL;
	duration_format(room, NAME, value);
	return room;
}

static const char *name_of_size(const struct tep_event *event, int64_t value, char *room)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	double size = value / 1024.0;
	unsigned int unit = 0;

	(void)event;
	if (value < 1024)
		return NULL;
	while (size >= 1024 && unit < 3) {
		size /= 1024;
		unit++;
	}
	snprintf(room, NAME, "%.*f %s", size < 100 && size != (int64_t)size, size, units[unit]);
	return room;
}

/* enum kfd_prio_gang; an event prints its number */
static const char *name_of_gang(const struct tep_event *event, int64_t value, char *room)
{
	static const char *const levels[] = {
		[KFD_PRIO_GANG_LOW] = "LOW",	   [KFD_PRIO_GANG_NORMAL] = "NORMAL",
		[KFD_PRIO_GANG_MEDIUM] = "MEDIUM", [KFD_PRIO_GANG_HIGH] = "HIGH",
		[KFD_PRIO_GANG_REALTIME] = "REALTIME",
	};

	(void)event;
	(void)room;
	if (value == KFD_PRIO_GANG_NONE)
		return "HWS";
	return value >= KFD_PRIO_GANG_LOW && value <= KFD_PRIO_GANG_REALTIME ? levels[value] : NULL;
}

static const char *name_of_task(const struct tep_event *event, int64_t value, char *room)
{
	const char *comm = NULL;
	char *printable;

	if (value > 0 && value <= INT32_MAX)
		comm = tep_data_comm_from_pid(event->tep, value);
	if (!comm || !*comm || *comm == '<')
		return NULL;
	printable = text_printable(comm);
	if (!printable)
		return NULL;
	snprintf(room, NAME, "%s", printable);
	free(printable);
	return room;
}

/* The others are printed by name; not so if libtraceevent does not understand the format. */
static const char *name_of_type(const struct tep_event *event, int64_t value, char *room)
{
	(void)event;
	(void)room;
	return kfd_queue_type_name(value);
}

static const char *name_of_format(const struct tep_event *event, int64_t value, char *room)
{
	(void)event;
	(void)room;
	return kfd_queue_format_name(value);
}

static const char *name_of_pipe(const struct tep_event *event, int64_t value, char *room)
{
	(void)event;
	(void)room;
	return kfd_pipe_name(value);
}

static const char *name_of_reason(const struct tep_event *event, int64_t value, char *room)
{
	static const struct {
		enum kfd_event_type type;
		const char *(*name)(int64_t value);
	} own[] = {
		{ EV_DESTROY_QUEUE, kfd_destroy_name }, { EV_PARK, kfd_park_name }, { EV_UNPARK, kfd_unpark_name },
		{ EV_THROTTLE_BEGIN, kfd_throttle_name }, { EV_THROTTLE_END, kfd_throttle_name },
	};
	size_t i;

	(void)room;
	for (i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (!strcmp(event->name, kfd_event_name(own[i].type)))
			return own[i].name(value);
	return kfd_reason_name(value);
}

static const char *name_of_filter(const struct tep_event *event, int64_t value, char *room)
{
	(void)event;
	(void)room;
	return kfd_filter_name(value);
}

static const char *name_of_source(const struct tep_event *event, int64_t value, char *room)
{
	(void)room;
	return strcmp(event->name, kfd_event_name(EV_DOORBELL_WAKE)) ? kfd_source_name(value) : kfd_wake_name(value);
}

static const struct {
	const char *key;
	name_fn name;
} keys[] = {
	{ "prio", name_of_band },	  { "old_prio", name_of_band },
	{ "req_prio", name_of_band },	  { "queue_prio", name_of_band },
	{ "pid", name_of_task },	  { "by_pid", name_of_task },
	{ "ret", name_of_error },	  { "dur_ns", name_of_duration },
	{ "ring_size", name_of_size },	  { "cwsr_size", name_of_size },
	{ "runlist_size", name_of_size }, { "gang_level", name_of_gang },
	{ "type", name_of_type },	  { "format", name_of_format },
	{ "pipe_prio", name_of_pipe },	  { "reason", name_of_reason },
	{ "filter", name_of_filter },	  { "source", name_of_source },
	{ "throttled_ns", name_of_duration },
};

/* @word: "key=value" of @size bytes */
static const char *name_find(struct tep_event *event, const char *word, size_t size, char *room)
{
	const char *sign = memchr(word, '=', size);
	char value[32], *end;
	size_t i, key, bytes;
	int64_t number;

	if (!sign)
		return NULL;
	key = sign - word;
	bytes = size - key - 1;
	if (!bytes || bytes >= sizeof(value))
		return NULL;
	memcpy(value, sign + 1, bytes);
	value[bytes] = '\0';
	errno = 0;
	number = strtoll(value, &end, 0);
	if (errno || *end)
		return NULL;
	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (strlen(keys[i].key) == key && !memcmp(keys[i].key, word, key))
			return keys[i].name(event, number, room);
	return NULL;
}

static bool record_whole(const struct tep_record *record, const struct tep_event *event)
{
	const struct tep_format_field *field;

	for (field = event->format.fields; field; field = field->next)
		if (field->offset < 0 || field->size < 0 ||
		    (int64_t)field->offset + field->size > record->size)
			return false;
	return true;
}

/* 0: printed; else libtraceevent prints it, as without us */
static int print(struct trace_seq *seq, struct tep_record *record, struct tep_event *event,
		 void *context)
{
	char room[NAME];
	struct trace_seq own;
	int flags = event->flags;
	const char *at, *name;
	size_t size;

	(void)context;
	if (!record_whole(record, event)) {
		trace_seq_printf(seq,
				 "DAMAGED: the format has fields beyond the %d bytes of the record",
				 record->size);
		return 0;
	}
	trace_seq_init(&own);
	event->flags |= TEP_EVENT_FL_NOHANDLE;
	tep_print_event(event->tep, &own, record, "%s", TEP_PRINT_INFO);
	event->flags = flags;
	trace_seq_terminate(&own);
	if (own.state != TRACE_SEQ__GOOD) {
		trace_seq_destroy(&own);
		return 1;
	}
	for (at = own.buffer; *at; at += size) {
		size = strspn(at, " ");
		if (!size) {
			size = strcspn(at, " ");
			name = name_find(event, at, size, room);
			if (name) {
				trace_seq_printf(seq, "%.*s (%s)", (int)size, at, name);
				continue;
			}
		}
		trace_seq_printf(seq, "%.*s", (int)size, at);
	}
	trace_seq_destroy(&own);
	return 0;
}

/**
 * TEP_PLUGIN_LOADER() - called when libtraceevent has loaded the plugin
 * @tep: its handle
 *
 * Return: 0.
 */
int TEP_PLUGIN_LOADER(struct tep_handle *tep)
{
	int type;

	for (type = 0; type < NR_KFD_EVENTS; type++)
		tep_register_event_handler(tep, -1, "kfd", kfd_event_name(type), print, NULL);
	return 0;
}

/**
 * TEP_PLUGIN_UNLOADER() - called before the plugin is unloaded
 * @tep: its handle
 */
void TEP_PLUGIN_UNLOADER(struct tep_handle *tep)
{
	int type;

	for (type = 0; type < NR_KFD_EVENTS; type++)
		tep_unregister_event_handler(tep, -1, "kfd", kfd_event_name(type), print, NULL);
}
