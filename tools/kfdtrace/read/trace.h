/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files in the format of trace.dat, version 6; see trace-cmd.dat.v6(5). Those of version 7 can be read
 * where the program was built with libtracecmd.
 */
#ifndef KFDTRACE_TRACE_H
#define KFDTRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/events.h"

#define TRACE_WHY  512 /* bytes of a message that says why */
#define TRACE_COMM 16  /* bytes of a task's name */

struct trace_file;

/**
 * struct trace_loss - what a recording lacks
 * @overrun: events that the kernel counted as lost, when the recording ended
 * @counted: CPUs whose statistics have this count
 * @miscounted: statistics with a count that is none
 * @gaps: places where the ring buffer itself says that events are missing
 * @damaged: pages and events that do not make sense and were skipped
 * @cut: bytes of events that a truncated file lacks, or has of pages that are not whole
 * @whole: bytes of events that it has
 */
struct trace_loss {
	uint64_t overrun;
	unsigned int counted, miscounted;
	uint64_t gaps;
	uint64_t damaged;
	uint64_t cut, whole;
};

/* More places than that become one long one. */
#define TRACE_MAX_GAPS 1000

/**
 * struct trace_gap - where events of one CPU are missing: lost, or damaged in the file
 * @cpu: its number
 * @from: ns, last record before, 0 if there is none
 * @to: ns, first record after, UINT64_MAX if there is none
 */
struct trace_gap {
	int cpu;
	uint64_t from, to;
};

struct trace_file *trace_open(const char *path, char *why);
void trace_close(struct trace_file *file);
int trace_next(struct trace_file *file, struct kfd_event *event, char *why);
bool trace_knows(const struct trace_file *file, enum kfd_event_type type);
const struct trace_loss *trace_loss(const struct trace_file *file);
size_t trace_gaps(const struct trace_file *file, const struct trace_gap **gaps);
uint64_t trace_foreign(const struct trace_file *file);
int trace_cpus(const struct trace_file *file);
const char *trace_clock(const struct trace_file *file);
bool trace_clock_is_log(const struct trace_file *file);
bool trace_others(const struct trace_file *file, char *text, size_t size);
const char *trace_comm(const struct trace_file *file, int32_t pid);
const char *trace_packed(const char *head, size_t size);

#endif /* KFDTRACE_TRACE_H */
