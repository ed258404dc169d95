/* SPDX-License-Identifier: GPL-2.0 */
/* kfdprio doctor --test: the kfd trace events of the test, in a tracing instance of its own */
#ifndef DOCTOR_TRACE_H
#define DOCTOR_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct trace_event - an event, as far as the test looks at it
 * @name: of the event
 * @ns: CLOCK_MONOTONIC
 * @gpu_id: of the event, 0 if it has none; likewise the others, -1
 */
struct trace_event {
	const char *name;
	uint64_t ns;
	uint32_t gpu_id;
	int64_t pid, seq, dur_ns, ret;
};

struct trace;

struct trace *trace_start(char *why, size_t size);
bool trace_stop(struct trace *t);
void trace_free(struct trace *t);
const struct trace_event *trace_find(const struct trace *t, const struct trace_event *after,
				     const char *name, int64_t pid);
size_t trace_count(const struct trace *t, const char *name, int64_t pid);

#endif /* DOCTOR_TRACE_H */
