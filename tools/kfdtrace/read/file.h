/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations for the reader of trace.dat: header, pages, and its callers. */
#ifndef KFDTRACE_READ_FILE_H
#define KFDTRACE_READ_FILE_H

#include <traceevent/event-parse.h>

#include "trace.h"

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
 * @last: time of the last record that was given out; 0: none was
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
	uint64_t ts, last;
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

/* Options of a trace.dat, see trace-cmd.dat.v7(5) */
enum option {
	OPTION_DONE = 0,
	OPTION_DATE = 1,
	OPTION_CPUSTAT = 2,
	OPTION_BUFFER = 3,
	OPTION_TRACECLOCK = 4,
	OPTION_OFFSET = 7,
	OPTION_TSC2NSEC = 14,
};

/**
 * struct trace_buffer - a buffer of a trace.dat
 * @name: its name, any bytes; "" is the main one
 * @clock: its clock, NULL if the file does not tell
 */
struct trace_buffer {
	char *name, *clock;
};

/**
 * struct other_name - an event that is not of kfd
 * @id: its number in the file
 * @system: its system, any bytes
 * @name: its name, the same
 */
struct other_name {
	unsigned int id;
	char system[64], name[64];
};

struct trace_file {
	int fd;
	const char *path;
	uint64_t size, pos;
	uint32_t page_size;
	struct tep_handle *tep;
	struct kfd_decoder decoder;
	struct kfd_unmaps unmaps;
	struct stream *streams;
	int nr_cpus;
	/* a heap of those that have a record, the earliest first */
	struct stream **heap;
	int nr_heap;
	bool taken; /* the record of heap[0] was given out */
	struct trace_loss loss;
	uint64_t last; /* ns, of the last event */
	struct trace_gap gaps[TRACE_MAX_GAPS];
	size_t nr_gaps;
	uint64_t foreign;
	/* of other systems, by number; their names in a file of version 6 */
	uint64_t *others;
	struct other_name *names;
	size_t nr_names;
	char *clock;
	/* what a reader that obeys the file adds to each time, ns */
	uint64_t added;
	bool converted; /* to ns, by the library */
	bool no_kfd;	/* no format of an event of kfd */
	struct trace_buffer *buffers;
	size_t nr_buffers;
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
void trace_format_note(struct trace_file *file, const char *system, const char *text);
void trace_other_count(struct trace_file *file, const struct trace_record *record);
const char *trace_kind(int fd);
void trace_option(struct trace_file *file, unsigned int option, const char *text, uint32_t size, int version);
bool trace_option_wanted(unsigned int option);
void trace_options_seven(struct trace_file *file);
const char *trace_buffer_clock(const struct trace_file *file, const char *name);
int trace_clock_check(struct trace_file *file);
struct tep_handle *trace_seven_tep(const struct trace_file *file);
int trace_seven_open(struct trace_file *file);
void trace_seven_close(struct trace_file *file);
int trace_seven_next(struct trace_file *file, struct trace_record *record);
const char *trace_seven_comm(const struct trace_file *file, int32_t pid);
int trace_head_read(struct trace_file *file);
int trace_pages_start(struct trace_file *file);
int trace_pages_next(struct trace_file *file, const struct stream **next);

#endif /* KFDTRACE_READ_FILE_H */
