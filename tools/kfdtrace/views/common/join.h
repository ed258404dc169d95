/* SPDX-License-Identifier: GPL-2.0 */
/* ROCm's log joined to the queues of a recording. */
#ifndef KFDTRACE_JOIN_H
#define KFDTRACE_JOIN_H

#include "read/amdlog.h"
#include "view.h"

enum step {
	STEP_ALLOCATING,
	STEP_IOCTL,
	STEP_CREATE,
	STEP_INIT_MQD,
	STEP_MAP,
	STEP_CREATED,
	STEP_ACQUIRED,
	STEP_DISPATCH,
	STEP_LAST_DISPATCH,
	STEP_DESTROY,
	NR_STEPS
};

/**
 * struct queue_path - the way of one queue
 * @queue: the queue
 * @shown: its process was asked for
 * @hwq: what the log calls it, 0 if it does not name it
 * @by_object: @hwq is not its ring but the HSA queue that points to it
 * @named: ns, the earliest line that names it
 * @created_alive: the line about its creation has a time at which the queue was there
 * @created_again: another such line has another time or thread
 * @creator_pid, @creator_tid: of the line about its creation
 * @ts: ns of each step, 0 if it is not known
 * @dispatches: dispatches that the log has, at times at which the queue was there
 */
struct queue_path {
	const struct queue *queue;
	uint64_t hwq;
	bool shown, by_object, created_alive, created_again;
	int32_t creator_pid;
	uint64_t named, creator_tid;
	uint64_t ts[NR_STEPS];
	uint64_t dispatches;
};

/**
 * struct paths - all of them
 * @path: array of @nr, also of processes that were not asked for
 * @log: what was read, NULL if there is none
 * @unread: there is one, which was not read because the clock of the recording is another one
 * @joined: queues that the log names; this and what follows about queues and lines of them is about @shown alone
 * @unjoined: names of the log that are no queue of the recording
 * @unjoined_more: there are more of them
 * @other_pid: of these, those that are the name of a queue of the recording under another PID
 * @log_pid, @recorded_pid: the PIDs of the first of them, in the log and in the recording
 * @pid_mapped: the recording has the PID that this process has for itself
 * @uncreated: of the joined queues, those whose creation has no line in the log
 * @created_again: of the joined queues, those whose creation has lines at different times or of different threads
 * @timed: of the joined queues, those whose creation is in the log and in the recording
 * @min_gap, @max_gap: ns from kfd_create_queue to the log's line about the creation, of those @timed
 * @placed: lines about a joined queue at times at which it was there
 * @misplaced: lines about a joined queue before its creation or after its end
 * @pidless: lines about queues whose PID is not known
 * @ambiguous: lines that queues of several processes fit
 * @ambiguous_pids: two of these processes, of the first line
 * @compared: dispatches that were compared with others
 * @repeated: of them, those that another line has already
 */
struct paths {
	struct queue_path *path;
	size_t nr;
	struct amdlog *log;
	bool unread;
	uint64_t joined, unjoined, other_pid, uncreated, created_again, timed;
	bool unjoined_more;
	int log_pid, recorded_pid;
	bool pid_mapped;
	int64_t min_gap, max_gap;
	uint64_t placed, misplaced, pidless, ambiguous, compared, repeated;
	int32_t ambiguous_pids[2];
};

/**
 * struct log_names - the files that ROCm's log consists of
 * @name: array of @nr: the path, and the PID in its name, -1 for none
 */
struct log_names {
	struct log_name {
		char *path;
		int32_t pid;
	} *name;
	size_t nr;
};

void log_names_find(struct log_names *names, const struct view *view);
void log_names_free(struct log_names *names);
FILE *log_open(const char *name);
void log_warn(const struct amdlog *log, const char *name, const struct amdlog *before);
void paths_make(struct paths *paths, const struct view *view);
void paths_free(struct paths *paths);
void log_print(const struct paths *paths);
void log_json(const struct paths *paths);

#endif /* KFDTRACE_JOIN_H */
