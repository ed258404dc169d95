/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ROCm's log (AMD_LOG_LEVEL) as a stream of what concerns queues.
 *
 * Its lines differ from release to release; the patterns of amdlog.c know those of
 * HIP 5.2 to those of 2026.  What matches none is counted.  Memory does not grow with the log.
 */
#ifndef KFDTRACE_AMDLOG_H
#define KFDTRACE_AMDLOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define AMDLOG_STREAMS 2 /* stdout and stderr */
#define AMDLOG_LINE 65536 /* bytes of a line; what is longer is cut */
#define AMDLOG_PREFIX 256 /* bytes of what a program that collects logs puts before a line, with its 0; more is none */
#define AMDLOG_PENDING 32 /* headers that wait for their message: one for each rank, process or container */
#define AMDLOG_WAIT 1000  /* lines that one of them waits: a record of the journal has dozens */
#define AMDLOG_SAMPLE 121  /* bytes of a line that a message shows, with their 0 */

enum amdlog_kind {
	AMDLOG_ALLOCATING, /* a hardware queue is looked for or made */
	AMDLOG_CREATED,	   /* a hardware queue was made */
	AMDLOG_ACQUIRED,   /* a user of the queue is added */
	AMDLOG_SELECTED,   /* another user of the queue is added */
	AMDLOG_RELEASED,
	AMDLOG_DELETED,
	AMDLOG_DISPATCH, /* a packet that starts a kernel was written to it */
	AMDLOG_BARRIER,	 /* a packet that waits */
	AMDLOG_PACKET,	 /* a packet, no matter which */
	AMDLOG_COMMAND,	 /* a command of HIP was enqueued */
	NR_AMDLOG_KINDS
};

enum amdlog_field {
	LOG_HWQ,     /* the queue: its ring, or the object of it */
	LOG_SWQ,     /* the software queue */
	LOG_COMMAND, /* the command */
	LOG_QUEUE,   /* the command queue of HIP */
	LOG_REFS,
	LOG_SIZE, /* packets */
	LOG_PRIO, /* HIP's */
	LOG_ID,
	NR_LOG_FIELDS
};

/**
 * struct amdlog_entry - a line that was understood
 * @kind: what it says
 * @ts: ns since boot
 * @pid: as the process sees itself, -1 if the line does not tell
 * @tid: the thread's handle, 0 if the line does not tell
 * @has: bit mask of the fields that are in it
 * @v: the fields
 * @message: the text behind the bracket; valid until the next line is read
 * @cut: the message ends within what a line about a queue has: a terminal or another program has shortened it
 * @name_last: the name of the queue is the last in the message
 * @detailed: the line is of a level that has dispatches
 */
struct amdlog_entry {
	enum amdlog_kind kind;
	uint64_t ts;
	int32_t pid;
	uint64_t tid;
	unsigned int has;
	uint64_t v[NR_LOG_FIELDS];
	const char *message;
	bool cut, name_last, detailed;
};

/**
 * struct amdlog_header - a header whose message is in a later line
 * @entry: ts, pid and tid; ts is 0 after its message was found
 * @origin: of amdlog_unwrap()
 * @line: number of its line
 * @seen: a line that may be its message was there
 * @doubtful: which of several headers the next message is of is not known
 * @prefix: what is before it in its line
 */
struct amdlog_header {
	struct amdlog_entry entry;
	uint64_t origin, line;
	bool seen, doubtful;
	char prefix[AMDLOG_PREFIX];
};

/**
 * struct amdlog_part - what there is so far of a line that a container runtime has cut
 * @length: of @text, 0: nothing
 * @cut: there is more than fits
 * @text: with the prefix of its first record
 */
struct amdlog_part {
	size_t length;
	bool cut;
	char text[AMDLOG_LINE];
};

/**
 * struct amdlog - a log that is read, of one file or several
 * @file: from here
 * @files: those that amdlog_file() was called for
 * @lines: all
 * @headed: those that have a header of ROCm
 * @headers: all headers: a line may have several
 * @known: messages that were given out
 * @dispatches: of them
 * @orphans: messages about queues that have no header, and so no time
 * @cut_off: files whose last line is of ROCm and has no newline
 * @cut: those that are longer than AMDLOG_LINE
 * @partial: those that a container runtime has cut, and whose last record is missing
 * @shortened: messages about queues that are not whole, and are left out
 * @first, @last: ns, the earliest and the latest time
 * @first_line: the first line of this file that is not empty, cut; any bytes
 * @first_rocm: the first of ROCm, cut
 * @first_detailed: the first of a level that has dispatches, cut
 * @first_shortened: the first message that is not whole
 * @first_packet: the first about a packet of no known kind, cut
 * @first_orphan: the first message without a header, cut
 */
struct amdlog {
	FILE *file;
	uint64_t files, lines, headed, headers, known, dispatches, orphans, cut_off, cut, partial, shortened;
	uint64_t first, last;
	char first_line[AMDLOG_SAMPLE], first_rocm[AMDLOG_SAMPLE], first_packet[AMDLOG_SAMPLE],
		first_orphan[AMDLOG_SAMPLE], first_detailed[AMDLOG_SAMPLE], first_shortened[AMDLOG_SAMPLE];
	/* private */
	size_t prefix, size_left;
	uint64_t origin;
	int32_t pid;
	unsigned int nr_pending;
	struct amdlog_header pending[AMDLOG_PENDING];
	struct amdlog_entry head;
	char *rest;
	bool unended, held; /* @held: @next is read, and not yet looked at */
	char line[AMDLOG_LINE], next[AMDLOG_LINE];
	struct amdlog_part parts[AMDLOG_STREAMS];
};

void amdlog_init(struct amdlog *log);
void amdlog_file(struct amdlog *log, FILE *file, int32_t pid);
int amdlog_next(struct amdlog *log, struct amdlog_entry *entry);
const char *amdlog_line(const char *line, struct amdlog_entry *entry, const char **message);
bool amdlog_message(const char *message, struct amdlog_entry *entry);
void amdlog_plain(char *line);
uint64_t amdlog_unwrap(char *line);
size_t amdlog_record(const char *line, bool *more);
const char *amdlog_after(const char *prefix, const char *line);

#endif /* KFDTRACE_AMDLOG_H */
