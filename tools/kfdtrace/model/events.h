/* SPDX-License-Identifier: GPL-2.0 */
/* The events of the system "kfd", as plain numbers. */
#ifndef KFDTRACE_EVENTS_H
#define KFDTRACE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/kfd_prio_trace.h>
#include <traceevent/event-parse.h>

#define KFD_MAX_PID (1 << 22) /* of Linux: PID_MAX_LIMIT */

enum kfd_event_type {
	EV_CREATE_QUEUE,
	EV_DESTROY_QUEUE,
	EV_UPDATE_QUEUE,
	EV_INIT_MQD,
	EV_MAP_QUEUES,
	EV_MAP_QUEUE,
	EV_UNMAP_QUEUES,
	EV_UNMAP_QUEUES_DONE,
	EV_EVICT_PROCESS,
	EV_RESTORE_PROCESS,
	EV_SET_PRIORITY,
	EV_HWS_HANG,
	EV_DOORBELL_WAKE,
	EV_PREEMPT_BEGIN,
	EV_PREEMPT_END,
	EV_IOCTL_CREATE_QUEUE,
	EV_PARK,
	EV_UNPARK,
	EV_THROTTLE_BEGIN,
	EV_THROTTLE_END,
	NR_KFD_EVENTS
};

enum {
	NR_UPSTREAM_EVENTS = 16, /* upstream.h */
	KFD_NOT_YET = -2,	 /* a field that the event does not have, and another one may */
	KFD_MAX_UNMAPS = 64,	 /* GPUs that may unmap at once */
	KFD_REASON_TEXT = 24	 /* bytes of what kfd_throttle_text() writes */
};

enum kfd_field {
	F_GPU_ID,
	F_PID,
	F_QUEUE_ID,
	F_PRIO,
	F_TYPE,
	F_FORMAT,
	F_REQ_PRIO,
	F_DOORBELL,
	F_RING_BASE,
	F_RING_SIZE,
	F_CWSR_SIZE,
	F_WPTR,
	F_MQD_ADDR,
	F_PIPE_PRIO,
	F_REASON,
	F_RET,
	F_PROCESSES,
	F_QUEUES,
	F_OVER_SUBSCRIBED,
	F_FILTER,
	F_SEQ,
	F_DUR_NS,
	F_EVICTED,
	F_OLD_PRIO,
	F_BY_PID,
	F_VICTIMS,
	F_PARKED_NS,
	F_THROTTLED_NS,
	F_SHARE,
	F_CGROUP_SHARE,
	F_WAKE_NS,
	F_SAVE_NS, /* -1 also where the recording has no such field */
	NR_KFD_FIELDS
};

/**
 * struct kfd_event - one event
 * @ts: ns, of the recording's clock
 * @type: which event
 * @cpu: it was recorded on
 * @task: thread that it was recorded in
 * @v: the fields that the event has; the others are stale
 */
struct kfd_event {
	uint64_t ts;
	enum kfd_event_type type;
	int cpu;
	int32_t task;
	int64_t v[NR_KFD_FIELDS];
};

/**
 * struct kfd_decoder - where the fields are in a record, found once per file
 * @type_of: enum kfd_event_type by the event's number in the file, -1 for others
 * @form_of: by the same number, which of @event it is; the first NR_KFD_EVENTS are kfdprio's, then those of upstream.h
 * @idle: by the same number: an event of a driver that is read, but no event that matters
 * @size: bytes that a record must have
 * @nr: number of fields
 */
struct kfd_decoder {
	int8_t type_of[65536];
	uint8_t form_of[65536];
	bool idle[65536];
	struct {
		uint16_t size;
		uint16_t nr;
		struct {
			uint16_t offset;
			uint8_t bytes;
			uint8_t is_signed;
			uint8_t field;
		} fields[NR_KFD_FIELDS];
	} event[NR_KFD_EVENTS + NR_UPSTREAM_EVENTS];
};

/**
 * struct kfd_unmaps - the unmaps that have begun
 * @nr: GPUs that have had one
 * @gpu_id: of each
 * @ts: when its unmap began, 0: it has ended
 */
struct kfd_unmaps {
	unsigned int nr;
	uint32_t gpu_id[KFD_MAX_UNMAPS];
	uint64_t ts[KFD_MAX_UNMAPS];
};

/**
 * struct kfd_name - a value of an enum of the events and its word
 * @value: the number
 * @name: as the events print it
 */
struct kfd_name {
	int64_t value;
	const char *name;
};

/* Names of the numbers in events; NULL for a number that has none. */
const char *kfd_queue_type_name(int64_t value);
const char *kfd_queue_format_name(int64_t value);
const char *kfd_reason_name(int64_t value);
const char *kfd_park_name(int64_t value);
const char *kfd_unpark_name(int64_t value);
const char *kfd_throttle_name(int64_t value);
const char *kfd_throttle_text(int64_t value, char *text);
const char *kfd_pipe_name(int64_t value);
const char *kfd_destroy_name(int64_t value);
const char *kfd_filter_name(int64_t value);
const char *kfd_source_name(int64_t value);
const char *kfd_wake_name(int64_t value);
const char *kfd_event_name(enum kfd_event_type type);
enum {
	NR_KFD_REASONS = KFD_PRIO_REASON_GONE + 1,
	NR_KFD_PARK_REASONS = KFD_PRIO_PARK_PREEMPTED + 1,
	NR_KFD_UNPARK_REASONS = KFD_PRIO_UNPARK_GONE + 1,
	NR_KFD_THROTTLES = KFD_PRIO_THROTTLE_WEIGHT + 1
};

int kfd_decoder_init(struct kfd_decoder *decoder, struct tep_handle *tep);
int kfd_decode(const struct kfd_decoder *decoder, const void *data, unsigned int size,
	       struct kfd_event *event);
bool kfd_is_idle(const struct kfd_decoder *decoder, const void *data, unsigned int size);
void kfd_unmap_complete(struct kfd_unmaps *unmaps, struct kfd_event *event);

#endif /* KFDTRACE_EVENTS_H */
