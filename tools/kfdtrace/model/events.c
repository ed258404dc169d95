// SPDX-License-Identifier: GPL-2.0
/* Numbers out of records: fields are found by name once, then read by offset. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <linux/kfd_prio.h>

#include "events.h"
#include "upstream.h"

#define NO_FIELD (-1)

static const char *const field_names[NR_KFD_FIELDS] = {
	[F_GPU_ID] = "gpu_id",
	[F_PID] = "pid",
	[F_QUEUE_ID] = "queue_id",
	[F_PRIO] = "prio",
	[F_TYPE] = "type",
	[F_FORMAT] = "format",
	[F_REQ_PRIO] = "req_prio",
	[F_DOORBELL] = "doorbell",
	[F_RING_BASE] = "ring_base",
	[F_RING_SIZE] = "ring_size",
	[F_CWSR_SIZE] = "cwsr_size",
	[F_WPTR] = "wptr",
	[F_MQD_ADDR] = "mqd_addr",
	[F_PIPE_PRIO] = "pipe_prio",
	[F_REASON] = "reason",
	[F_RET] = "ret",
	[F_PROCESSES] = "processes",
	[F_QUEUES] = "queues",
	[F_OVER_SUBSCRIBED] = "over_subscribed",
	[F_FILTER] = "filter",
	[F_SEQ] = "seq",
	[F_DUR_NS] = "dur_ns",
	[F_EVICTED] = "evicted",
	[F_OLD_PRIO] = "old_prio",
	[F_BY_PID] = "by_pid",
	[F_VICTIMS] = "victims",
	[F_PARKED_NS] = "parked_ns",
	[F_THROTTLED_NS] = "throttled_ns",
	[F_SHARE] = "share",
	[F_CGROUP_SHARE] = "cgroup_share",
	[F_WAKE_NS] = "wake_ns",
	[F_SAVE_NS] = "save_ns",
};

#define QUEUE_FIELDS F_GPU_ID, F_PID, F_QUEUE_ID, F_PRIO

/* The fields that are read of each event; NO_FIELD ends the list. */
static const struct {
	const char *name;
	int8_t fields[16];
} defs[NR_KFD_EVENTS] = {
	[EV_CREATE_QUEUE] = { "kfd_create_queue",
			      { QUEUE_FIELDS, F_TYPE, F_FORMAT, F_REQ_PRIO, F_DOORBELL, F_RING_BASE,
				F_RING_SIZE, F_CWSR_SIZE, F_WPTR, NO_FIELD } },
	[EV_DESTROY_QUEUE] = { "kfd_destroy_queue", { QUEUE_FIELDS, F_REASON, F_RET, NO_FIELD } },
	[EV_UPDATE_QUEUE] = { "kfd_update_queue",
			      { QUEUE_FIELDS, F_REQ_PRIO, F_RING_BASE, F_RING_SIZE, F_RET, NO_FIELD } },
	[EV_INIT_MQD] = { "kfd_init_mqd", { QUEUE_FIELDS, F_MQD_ADDR, F_PIPE_PRIO, NO_FIELD } },
	[EV_MAP_QUEUES] = { "kfd_map_queues",
			    { F_GPU_ID, F_PROCESSES, F_QUEUES, F_OVER_SUBSCRIBED, F_RET, NO_FIELD } },
	[EV_MAP_QUEUE] = { "kfd_map_queue",
			   { QUEUE_FIELDS, F_TYPE, F_DOORBELL, F_MQD_ADDR, F_RET, NO_FIELD } },
	[EV_UNMAP_QUEUES] = { "kfd_unmap_queues",
			      { F_GPU_ID, F_PID, F_QUEUE_ID, F_FILTER, F_SEQ, NO_FIELD } },
	[EV_UNMAP_QUEUES_DONE] = { "kfd_unmap_queues_done",
				   { F_GPU_ID, F_SEQ, F_DUR_NS, F_RET, NO_FIELD } },
	[EV_EVICT_PROCESS] = { "kfd_evict_process",
			       { F_GPU_ID, F_PID, F_PRIO, F_EVICTED, F_QUEUES, F_RET, NO_FIELD } },
	[EV_RESTORE_PROCESS] = { "kfd_restore_process",
				 { F_GPU_ID, F_PID, F_PRIO, F_EVICTED, F_QUEUES, F_RET, NO_FIELD } },
	[EV_SET_PRIORITY] = { "kfd_set_priority",
			      { F_PID, F_PRIO, F_OLD_PRIO, F_BY_PID, F_QUEUES, F_RET, NO_FIELD } },
	[EV_HWS_HANG] = { "kfd_hws_hang", { F_GPU_ID, F_PROCESSES, F_QUEUES, NO_FIELD } },
	[EV_DOORBELL_WAKE] = { "kfd_doorbell_wake", { F_GPU_ID, F_PID, F_PRIO, NO_FIELD } },
	[EV_PREEMPT_BEGIN] = { "kfd_preempt_begin",
			       { F_GPU_ID, F_PID, F_PRIO, F_SEQ, F_REASON, F_VICTIMS, F_QUEUES,
				 NO_FIELD } },
	[EV_PREEMPT_END] = { "kfd_preempt_end",
			     { F_GPU_ID, F_PID, F_PRIO, F_SEQ, F_REASON, F_VICTIMS, F_QUEUES,
			       F_DUR_NS, F_RET, F_SAVE_NS, NO_FIELD } },
	[EV_IOCTL_CREATE_QUEUE] = { "kfd_ioctl_create_queue", { F_PID, NO_FIELD } },
	[EV_PARK] = { "kfd_park", { F_GPU_ID, F_PID, F_QUEUES, F_REASON, NO_FIELD } },
	[EV_UNPARK] = { "kfd_unpark",
			{ F_GPU_ID, F_PID, F_QUEUES, F_REASON, F_WAKE_NS, F_PARKED_NS, NO_FIELD } },
	[EV_THROTTLE_BEGIN] = { "kfd_throttle_begin",
				{ F_GPU_ID, F_PID, F_QUEUES, F_REASON, F_SHARE, F_CGROUP_SHARE, F_SEQ, NO_FIELD } },
	[EV_THROTTLE_END] = { "kfd_throttle_end",
			      { F_GPU_ID, F_PID, F_QUEUES, F_REASON, F_THROTTLED_NS, F_SEQ, NO_FIELD } },
};

static const char *name_of(const struct kfd_name *names, int64_t value)
{
	for (; names->name; names++)
		if (names->value == value)
			return names->name;
	return NULL;
}

/* The names that the events print. */
#define PAIR(value, name) { value, name },
#define NAMES(list) { list(PAIR, PAIR) { 0, NULL } }

const char *kfd_queue_type_name(int64_t value)
{
	static const struct kfd_name names[] = NAMES(KFD_PRIO_TYPE_NAMES);

	return name_of(names, value);
}

const char *kfd_queue_format_name(int64_t value)
{
	static const struct kfd_name names[] = NAMES(KFD_PRIO_FORMAT_NAMES);

	return name_of(names, value);
}

const char *kfd_reason_name(int64_t value)
{
	static const struct kfd_name names[] = NAMES(KFD_PRIO_REASON_NAMES);

	return name_of(names, value);
}

const char *kfd_park_name(int64_t value)
{
	static const struct kfd_name names[] = NAMES(KFD_PRIO_PARK_NAMES);

	return name_of(names, value);
}

const char *kfd_unpark_name(int64_t value)
{
	static const struct kfd_name names[] = NAMES(KFD_PRIO_UNPARK_NAMES);

	return name_of(names, value);
}

const char *kfd_throttle_name(int64_t value)
{
	static const struct kfd_name names[] = NAMES(KFD_PRIO_THROTTLE_NAMES);

	return name_of(names, value);
}

/**
 * kfd_throttle_text() - the reason of a throttling, also one that a later driver has added
 * @value: the number, < 0 if it is not known
 * @text: room for a number, KFD_REASON_TEXT bytes
 *
 * Return: the name; the number as the event prints it (0x7) if it has no name; NULL if it is not known.
 */
const char *kfd_throttle_text(int64_t value, char *text)
{
	const char *name = kfd_throttle_name(value);

	if (name || value < 0)
		return name;
	snprintf(text, KFD_REASON_TEXT, "0x%" PRIx64, (uint64_t)value);
	return text;
}

const char *kfd_pipe_name(int64_t value)
{
	static const struct kfd_name names[] = NAMES(KFD_PRIO_PIPE_NAMES);

	return name_of(names, value);
}

const char *kfd_destroy_name(int64_t value)
{
	static const struct kfd_name names[] = NAMES(KFD_PRIO_DESTROY_NAMES);

	return name_of(names, value);
}

const char *kfd_filter_name(int64_t value)
{
	static const struct kfd_name names[] = NAMES(KFD_PRIO_FILTER_NAMES);

	return name_of(names, value);
}

const char *kfd_source_name(int64_t value)
{
	static const struct kfd_name names[] = NAMES(KFD_PRIO_SOURCE_NAMES);

	return name_of(names, value);
}

const char *kfd_wake_name(int64_t value)
{
	static const struct kfd_name names[] = NAMES(KFD_PRIO_WAKE_NAMES);

	return name_of(names, value);
}

/**
 * kfd_event_name() - the name of an event in its system
 * @type: the event
 *
 * Return: the name.
 */
const char *kfd_event_name(enum kfd_event_type type)
{
	return defs[type].name;
}

static int field_resolve(struct kfd_decoder *decoder, struct tep_event *event, int form, int field, const char *name)
{
	struct tep_format_field *format = tep_find_field(event, name);
	unsigned int n = decoder->event[form].nr;

	/* came later: earlier recordings are without it */
	if (!format && field == F_SAVE_NS)
		return 0;
	if (!format || format->offset < 0 || format->offset > 4096 || (format->size != 4 && format->size != 8))
		return -EPROTO;
	decoder->event[form].fields[n].offset = format->offset;
	decoder->event[form].fields[n].bytes = format->size;
	decoder->event[form].fields[n].is_signed = !!(format->flags & TEP_FIELD_IS_SIGNED);
	decoder->event[form].fields[n].field = field;
	if (format->offset + format->size > decoder->event[form].size)
		decoder->event[form].size = format->offset + format->size;
	decoder->event[form].nr = n + 1;
	return 0;
}

static int event_resolve(struct kfd_decoder *decoder, struct tep_event *event, int form)
{
	const struct upstream_field *there;
	const int8_t *field;
	int ret = 0;

	decoder->event[form].nr = 0;
	decoder->event[form].size = 0;
	if (form < NR_KFD_EVENTS) {
		for (field = defs[form].fields; *field != NO_FIELD && !ret; field++)
			ret = field_resolve(decoder, event, form, *field, field_names[*field]);
		return ret;
	}
	for (there = upstream_events[form - NR_KFD_EVENTS].fields; there->name && !ret; there++)
		ret = field_resolve(decoder, event, form, there->field, there->name);
	return ret;
}

/* Those of the series that are none of ours: their file is one of a driver that is read */
static void idle_find(struct kfd_decoder *decoder, struct tep_handle *tep)
{
	int i, nr = tep_get_events_count(tep);

	for (i = 0; i < nr; i++) {
		struct tep_event *event = tep_get_event(tep, i);

		if (event && event->id >= 0 && event->id <= 65535 && decoder->type_of[event->id] < 0 &&
		    !strcmp(event->system, UPSTREAM_SYSTEM) &&
		    !strncmp(event->name, UPSTREAM_PREFIX, sizeof(UPSTREAM_PREFIX) - 1))
			decoder->idle[event->id] = true;
	}
}

/**
 * kfd_decoder_init() - find the fields
 * @decoder: filled in
 * @tep: knows the formats of the file
 *
 * Return: the number of kfd events that the file describes, or -EPROTO if one of them
 * lacks a field that it always had.
 */
int kfd_decoder_init(struct kfd_decoder *decoder, struct tep_handle *tep)
{
	int form, ret, found = 0;

	memset(decoder->type_of, -1, sizeof(decoder->type_of));
	memset(decoder->idle, 0, sizeof(decoder->idle));
	for (form = 0; form < NR_KFD_EVENTS + NR_UPSTREAM_EVENTS; form++) {
		bool ours = form < NR_KFD_EVENTS;
		struct tep_event *event = tep_find_event_by_name(tep, ours ? "kfd" : UPSTREAM_SYSTEM, ours ?
								 defs[form].name : upstream_events[form - NR_KFD_EVENTS].name);

		if (!event || event->id < 0 || event->id > 65535)
			continue;
		ret = event_resolve(decoder, event, form);
		if (ret)
			return ret;
		decoder->type_of[event->id] = ours ? form : (int)upstream_events[form - NR_KFD_EVENTS].type;
		decoder->form_of[event->id] = form;
		found++;
	}
	idle_find(decoder, tep);
	return found;
}

/**
 * kfd_is_idle() - whether a record for which kfd_decode() returned 0 is of the driver that is read
 * @decoder: of the record's file
 * @data: the record
 * @size: its bytes
 *
 * Return: true for the start of an operation, whose end has all of it, and the end of a creation that has succeeded.
 */
bool kfd_is_idle(const struct kfd_decoder *decoder, const void *data, unsigned int size)
{
	uint16_t id;

	if (size < sizeof(id))
		return false;
	memcpy(&id, data, sizeof(id));
	return decoder->idle[id] || decoder->type_of[id] >= 0;
}

/* Limits of fields. No driver writes a value outside, but a damaged or forged record may have one. Other fields may have any value. */
static const struct {
	bool limited;
	int64_t min, max;
} limits[NR_KFD_FIELDS] = {
	[F_PID] = { true, 1, KFD_MAX_PID },
	[F_PRIO] = { true, -1, KFD_PRIO_MAX },
	[F_OLD_PRIO] = { true, -1, KFD_PRIO_MAX },
	[F_REQ_PRIO] = { true, -1, KFD_PRIO_MAX },
	/* 64 bits without a sign */
	[F_QUEUES] = { true, 0, INT64_MAX },
	[F_DUR_NS] = { true, 0, INT64_MAX },
	[F_PARKED_NS] = { true, 0, INT64_MAX },
	[F_THROTTLED_NS] = { true, 0, INT64_MAX },
	[F_SHARE] = { true, 0, INT64_MAX },
	[F_CGROUP_SHARE] = { true, 0, INT64_MAX },
	[F_WAKE_NS] = { true, 0, INT64_MAX },
	[F_SAVE_NS] = { true, -1, INT64_MAX },
};

static bool is_possible(enum kfd_event_type type, unsigned int field, int64_t value)
{
	/* an unmap of the queues of all processes has no PID */
	if (field == F_PID && type == EV_UNMAP_QUEUES)
		return value >= -1 && value <= KFD_MAX_PID;
	return !limits[field].limited || (value >= limits[field].min && value <= limits[field].max);
}

/**
 * kfd_decode() - read one record
 * @decoder: of the record's file
 * @data: the record, from its common_type on
 * @size: its bytes
 * @event: filled in but for ts and cpu
 *
 * Return: 1 if it is a kfd event, 0 if not, -EPROTO if it is too short for one, or has a value that is impossible.
 */
int kfd_decode(const struct kfd_decoder *decoder, const void *data, unsigned int size,
	       struct kfd_event *event)
{
	unsigned int i;
	unsigned int form;
	uint16_t id;
	int type;

	if (size < 8)
		return -EPROTO;
	memcpy(&id, data, sizeof(id));
	/* signed on purpose: -1 is an event that is not ours */
	type = decoder->type_of[id];	/* NOLINT(bugprone-signed-char-misuse,cert-str34-c) */
	if (type < 0)
		return 0;
	form = decoder->form_of[id];
	if (size < decoder->event[form].size)
		return -EPROTO;
	event->type = type;
	event->v[F_SAVE_NS] = -1;
	event->v[F_DOORBELL] = KFD_NOT_YET;
	memcpy(&event->task, (const char *)data + 4, sizeof(event->task));
	for (i = 0; i < decoder->event[form].nr; i++) {
		const char *from = (const char *)data + decoder->event[form].fields[i].offset;
		int64_t *to = &event->v[decoder->event[form].fields[i].field];

		if (decoder->event[form].fields[i].bytes == 8) {
			memcpy(to, from, 8);
		} else {
			uint32_t word;

			memcpy(&word, from, 4);
			*to = decoder->event[form].fields[i].is_signed ? (int64_t)(int32_t)word : word;
		}
		if (!is_possible(type, decoder->event[form].fields[i].field, *to))
			return -EPROTO;
	}
	return form < NR_KFD_EVENTS || upstream_finish(form - NR_KFD_EVENTS, event);
}
