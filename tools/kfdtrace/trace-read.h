/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations for the reader of trace.dat: header, pages, and its callers. */
#ifndef KFDTRACE_TRACE_READ_H
#define KFDTRACE_TRACE_READ_H

#include <traceevent/event-parse.h>

#include "trace-file.h"

/**
 * struct stream - the pages of one CPU
 * @cpu: its number
 * @pos: offset in the file of what is not in the window yet
 * @end: offset of the end
 * @window: pages that were read, @have bytes
 * @have: bytes in @window
 * @page: offset in @window of the page in work
 * @at: offset in the page of the next record
 * @limit: end of the records in the page
 * @ts: time of the record
 * @data: the record that comes next, @size bytes
 * @size: its size
 * @gap: records after the last one are missing
 * @cut: pages after the last one are missing: the file is truncated
 */
struct stream {
	int cpu;
	uint64_t pos, end;
	char *window;
	size_t have, page;
	unsigned int at, limit;
	uint64_t ts;
	const char *data;
	unsigned int size;
	bool gap, cut;
};

/**
 * struct comm - a task's name
 * @pid: thread
 * @name: name, raw bytes
 */
struct comm {
	int32_t pid;
	char name[TRACE_COMM + 1];
};

struct trace_seven;

/**
 * struct trace_record - a record, of either version
 * @ts: ns
 * @cpu: it was recorded on
 * @data: @size bytes
 * @size: its size
 */
struct trace_record {
	uint64_t ts;
	int cpu;
	const char *data;
	unsigned int size;
};

struct trace_file {
	int fd;
	const char *path;
	uint64_t size, pos;
	uint32_t page_size;
	struct tep_handle *tep;
	struct kfd_decoder decoder;
	struct stream *streams;
	int nr_cpus;
	/* a heap of those that have a record, the earliest first */
	struct stream **heap;
	int nr_heap;
	bool taken; /* the record of heap[0] was given out */
	struct trace_loss loss;
	struct trace_gap gaps[TRACE_MAX_GAPS];
	size_t nr_gaps;
	uint64_t foreign;
	char *clock;
	struct comm *comms;
	size_t nr_comms;
	/* a file of version 7; without streams */
	struct trace_seven *seven;
	char *why;
};

__attribute__((format(printf, 2, 3))) void trace_say(struct trace_file *file, const char *format, ...);

/* Say what is wrong, and -err, a constant. A macro: it is seen not to be 0, also by an analyzer. */
#define trace_fail(file, err, ...) (trace_say(file, __VA_ARGS__), -(err))

void trace_gap_add(struct trace_file *file, int cpu, uint64_t from, uint64_t to);
int trace_seven_open(struct trace_file *file);
void trace_seven_close(struct trace_file *file);
int trace_seven_next(struct trace_file *file, struct trace_record *record);
const char *trace_seven_comm(const struct trace_file *file, int32_t pid);
int trace_head_read(struct trace_file *file);
int trace_pages_start(struct trace_file *file);
int trace_pages_next(struct trace_file *file, const struct stream **next);

#endif /* KFDTRACE_TRACE_READ_H */
