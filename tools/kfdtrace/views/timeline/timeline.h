/* SPDX-License-Identifier: GPL-2.0 */
/* The timeline: what its two formats, JSON and the page, are told. */
#ifndef KFDTRACE_TIMELINE_H
#define KFDTRACE_TIMELINE_H

#include "views/common/view.h"

/**
 * struct open_preemption - a preemption that has not ended
 * @gpu_id: of the GPU
 * @begin: as its begin tells, or as much of it as its end does
 * @next: another one
 */
struct open_preemption {
	uint32_t gpu_id;
	struct preemption begin;
	struct open_preemption *next;
};

/**
 * struct preemption_end - how a preemption ended
 * @ts: ns
 * @taken_over: ns, when another one of the same GPU began before, else @ts
 * @reason: why, -1 if the end was not recorded
 * @ret: of the runlist without it
 */
struct preemption_end {
	uint64_t ts, taken_over;
	int64_t reason;
	int64_t ret;
};

struct timeline;

/**
 * struct timeline_format - writes to stdout as it is told
 * @begin: first of all
 * @others: wants to know when queues are mapped that were not asked for, too
 * @slice: of a queue, when it ends, in the order of the ends
 * @event: of those that are no slices and no preemptions
 * @preemption: when it ends; reason and numbers are -1 if the begin was not recorded
 * @end: last of all; the model is complete
 */
struct timeline_format {
	bool others;
	void (*begin)(struct timeline *timeline);
	void (*slice)(struct timeline *timeline, const struct queue *queue, enum slice_kind kind,
		      uint64_t from, uint64_t to);
	void (*event)(struct timeline *timeline, const struct kfd_event *event);
	void (*preemption)(struct timeline *timeline, uint32_t gpu_id, const struct preemption *begin,
			   const struct preemption_end *end);
	void (*end)(struct timeline *timeline);
};

/**
 * struct timeline - one being written
 * @view: the recording
 * @format: of what is written
 * @open: preemptions that have not ended
 */
struct timeline {
	struct view view;
	const struct timeline_format *format;
	struct open_preemption *open;
};

/* page/page.html and its parts; see the Makefile. */
extern const char timeline_page[];

extern const struct timeline_format timeline_json;
extern const struct timeline_format timeline_html;

#endif /* KFDTRACE_TIMELINE_H */
