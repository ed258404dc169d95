/* SPDX-License-Identifier: GPL-2.0 */
/* What is remembered while ROCm's log is joined to a recording. */
#ifndef KFDTRACE_JOINER_H
#define KFDTRACE_JOINER_H

#include "join.h"

#define MAX_THREADS  64
#define MAX_UNJOINED 64
#define LINE_UNIT_NS 1000 /* the log has microseconds: a line may seem to be that much too early */
#define REPEAT_SLOTS 4096 /* a power of two */

/**
 * struct repeats - which dispatches are in the log more than once
 * @limit: hashes from here on are not kept
 * @nr: slots in use
 * @slot: open addressing; a hash of 0 is an empty slot
 *
 * Memory does not grow with the log: once half of the slots are in use, @limit is halved.  A hash below the last @limit was
 * kept from its first line on, so that its count is exact.
 */
struct repeats {
	uint64_t limit;
	unsigned int nr;
	struct repeat {
		uint64_t hash, count;
		int32_t pid;
	} slot[REPEAT_SLOTS];
};

/**
 * struct found - which queue a line is about
 * @path: NULL: none
 * @by_object: the line has the HSA queue, not the ring
 * @lives: the queue was there at that time
 * @other: another process that had a queue at that address at that time, -1: none
 */
struct found {
	struct queue_path *path;
	bool by_object, lives;
	int32_t other;
};

/**
 * struct joiner - what is remembered while the log is read
 * @paths: filled in
 * @view: the recording
 * @thread: the last threads that looked for a queue, and when
 * @next_thread: which of them is forgotten first
 * @stranger: names that are no queue of the recording, and the lowest PID of their lines
 * @forgot: a thread was forgotten
 * @newest: ns, the latest line about the search for a queue or the creation of one
 * @unsorted: a line of these is older than one before it
 * @last: what path_find() has found for the line before, and between which times that holds
 * @repeats: of all files
 */
struct joiner {
	struct paths *paths;
	const struct view *view;
	struct {
		uint64_t tid;
		int32_t pid;
		uint64_t ts;
	} thread[MAX_THREADS];
	unsigned int next_thread;
	struct {
		uint64_t hwq;
		int32_t pid;
	} stranger[MAX_UNJOINED];
	bool forgot, unsorted;
	uint64_t newest;
	struct {
		struct found found;
		uint64_t hwq, from, to;
		int32_t pid;
	} last;
	struct repeats repeats;
};

/* find.c */
struct found path_find(struct joiner *joiner, const struct amdlog_entry *entry);
void stranger_note(struct joiner *joiner, const struct amdlog_entry *entry);
void strangers_end(const struct joiner *joiner);

/* repeats.c */
void repeats_take(struct repeats *repeats, const struct amdlog_entry *entry);
void repeats_end(const struct repeats *repeats, struct paths *paths);

#endif /* KFDTRACE_JOINER_H */
