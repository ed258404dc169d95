/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of "kfdtrace record". */
#ifndef KFDTRACE_RECORD_H
#define KFDTRACE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tracefs.h>

#include "caller.h"
#include "kfdlib.h"
#include "kfdtrace.h"

#define RECORD_WHY     1024	  /* bytes of a message that says why */
#define RECORD_UNKNOWN UINT64_MAX /* of a count: the kernel's statistics cannot be read */
#define MAX_NS_LEVELS  32	  /* the kernel's own limit of nested PID namespaces */
#define RECORD_CLOCK   "mono"

/* Why a recording ended. */
enum record_end {
	RECORD_END_SIGNAL,
	RECORD_END_COMMAND,
	RECORD_END_PROCESS,    /* of --pid */
	RECORD_END_SIZE,       /* --max-size */
	RECORD_END_PREEMPTION, /* --slow-preemption-ms */
	RECORD_END_UNLOADED,   /* the driver that was probed */
};

/* Whose events are recorded. */
enum record_driver {
	RECORD_AUTO,
	RECORD_KFDPRIO,
	RECORD_UPSTREAM, /* the events of contrib/rfc */
	RECORD_STOCK,	 /* none: probes */
};

/**
 * struct record_options - what was asked for
 * @verb: the calling verb, for messages
 * @prefix: of the name of a trace instance of our own
 * @dir: where to record to; NULL for a name made of the date
 * @events: event systems or SYSTEM:EVENT, ends with NULL
 * @buffer_kb: wanted per CPU, 0 for what is sensible
 * @instance: name of a trace instance that exists, or NULL
 * @pids: record until these processes have ended; none: do not wait for any
 * @amd_log: AMD_LOG_LEVEL of the command, 0 for none
 * @max_bytes: end when so much was recorded, 0 for no limit
 * @loop: keep the last events alone, in the kernel's buffer, until the end
 * @slow_ns: with @loop: end when a preemption took longer, 0 for never
 * @root: the command is root's under sudo, too
 * @share: everybody may read the recording
 * @driver: whose events
 * @btf: file with the types of the driver, or NULL
 * @mqd_ns: how often to read the time stamps of saves, 0 for never
 * @quiet: do not say what was recorded
 * @command: to run, ends with NULL; NULL if there is none
 */
struct record_options {
	const char *verb;
	const char *prefix;
	char *dir;
	char **events;
	unsigned long buffer_kb;
	const char *instance;
	struct pids pids;
	int amd_log;
	uint64_t max_bytes;
	bool loop;
	uint64_t slow_ns;
	bool root, share;
	enum record_driver driver;
	const char *btf;
	uint64_t mqd_ns;
	bool quiet;
	char **command;
};

/**
 * struct seen_process - a process that used KFD while we recorded
 * @pid: in our PID namespace
 * @nspid: its PID in each PID namespace that it is in, outermost first
 * @nr_ns: how many
 * @uid: effective UID
 * @comm: its name, raw bytes
 */
struct seen_process {
	pid_t pid;
	int nspid[MAX_NS_LEVELS];
	unsigned int nr_ns;
	uid_t uid;
	char comm[64];
};

/**
 * struct recording - one recording in work
 * @options: what was asked for
 * @instance: our trace instance
 * @driver: whose events, never RECORD_AUTO
 * @stock: probes of a driver without events, or NULL
 * @owned: we made it and must remove it
 * @prepared: root has made it and switched its events on, and we may only start and stop it
 * @nr_cpus: CPUs with a ring buffer
 * @raw_fds: their trace_pipe_raw, -1 for a CPU that is off
 * @part_fds: what was read so far
 * @parts: the same, of probes: streams, so that events are written many at a time; NULL until there is one
 * @buffer_kb: got, per CPU
 * @wanted_kb: asked for, per CPU
 * @bytes: read so far
 * @full: there is more than was asked for
 * @abandoned: the user does not want to wait for the command
 * @armed: the kernel stops tracing at a slow preemption
 * @ended_by: why it ended
 * @lost: per CPU, events that the kernel could not keep, or RECORD_UNKNOWN
 * @entries: per CPU, events that were read, or RECORD_UNKNOWN
 * @oldest_ns: per CPU, in a loop: the first event that was read
 * @complete_ns: in a loop: from then on, no event was overwritten; 0: none was
 * @begin, @end: state of the queues then, NULL if it is not known
 * @states, @nr_states: in a loop, @begin and states since
 * @scan_ns: when the next one is due
 * @dir_fd: the directory, -1 until it is made; everything in it is opened from here, nothing by its path
 * @parent_fd: the directory that it is in, -1 until it is made
 * @name: its name there
 * @start_ns, @end_ns: CLOCK_MONOTONIC
 * @start_real_ns: CLOCK_REALTIME at @start_ns
 * @boot_offset_ns: CLOCK_BOOTTIME - CLOCK_MONOTONIC, to the millisecond
 * @child: PID of the command, or 0
 * @child_status: of waitpid(2), -1 while it runs
 * @caller: the owner of the recording, and the user of the command
 * @seen, @nr_seen: processes that used KFD
 * @mqd: time stamps of saves, or NULL
 */
struct recording {
	const struct record_options *options;
	struct tracefs_instance *instance;
	enum record_driver driver;
	struct stock *stock;
	bool owned, prepared;
	int nr_cpus;
	int *raw_fds;
	int *part_fds;
	FILE **parts;
	unsigned long buffer_kb, wanted_kb;
	uint64_t bytes;
	bool full, armed, abandoned;
	enum record_end ended_by;
	uint64_t *lost;
	uint64_t *entries;
	uint64_t *oldest_ns, complete_ns;
	struct record_state *begin, *end;
	struct record_state **states;
	size_t nr_states;
	uint64_t scan_ns;
	int dir_fd, parent_fd;
	char *name;
	uint64_t start_ns, end_ns, start_real_ns;
	int64_t boot_offset_ns;
	pid_t child;
	int child_status;
	struct caller caller;
	struct seen_process *seen;
	size_t nr_seen;
	struct record_mqd *mqd;
};

/* options.c */
void record_options_parse(int argc, char **argv, struct record_options *options);
enum record_driver record_driver_parse(const char *verb, const char *text);

/* instance.c */
int record_cpus(struct recording *rec, char *why);
int instance_open(struct recording *rec, char *why);
int instance_size(struct recording *rec, char *why);
int instance_events(struct recording *rec, char *why);
int instance_drain(struct recording *rec, int cpu, char *why);
char *instance_stats(struct recording *rec, int cpu);
void instance_close(struct recording *rec);

/* state.c: which queues there are at one moment */
struct record_state;

struct record_state *state_read(void);
void state_free(struct record_state *state);
uint64_t state_ts(const struct record_state *state);
bool state_preempting(const struct record_state *state, const struct record_state *before);
void state_settle(struct record_state *state, const struct record_state *before, uint64_t ts);
void state_json(const char *key, const struct record_state *state);

/* watch.c: the states of a recording; slow preemptions */
int watch_open(struct recording *rec, char *why);
void watch_begin(struct recording *rec);
void watch_scan(struct recording *rec);
bool watch_stopped(struct recording *rec);
void watch_end(struct recording *rec);
const struct record_state *watch_state(struct recording *rec);
void watch_free(struct recording *rec);

/* end.c: the teardown after the end of a process */
bool teardown_done(const struct recording *rec);
void teardown_tell(const struct recording *rec);

/* clock.c */
uint64_t record_now(void);
void record_began(struct recording *rec);

/* driver.c */
enum record_driver record_driver_find(const char *root, enum record_driver driver, const char *instance);
const char *record_driver_lacks_upstream(const char *root);
bool record_driver_is_ours(void);

/* source.c: an instance, or probes of a driver without events */
struct trace_texts;

int record_open(struct recording *rec, char *why);
int record_start(struct recording *rec);
void record_stop(struct recording *rec);
bool record_over(struct recording *rec);
int record_drain(struct recording *rec, int cpu, char *why);
int record_stats(struct recording *rec, char **stats, char *why);
struct trace_texts *record_texts(void);
void record_texts_free(struct trace_texts *texts);
void record_close(struct recording *rec);

/* dir.c */
int dir_make(struct recording *rec, int *trace_fd, int *meta_fd);
void parts_remove(struct recording *rec);
void dir_remove(struct recording *rec);
void dir_close(struct recording *rec);

/* finish.c */
int finish(struct recording *rec, int trace_fd, int meta_fd);

/* child.c */
int child_fork(struct recording *rec, int *go_fd, char *why);
int child_go(struct recording *rec, int go_fd, int *exec_errno);

/* mqd.c */
int mqd_begin(struct recording *rec, char *why);
void mqd_sample(struct recording *rec, bool last);
void mqd_json(const struct recording *rec);
void mqd_end(struct recording *rec);

/* claimed-json.c */
struct claimed;
void claimed_json(const struct claimed *claimed);

/* meta.c */
int processes_scan(struct recording *rec);
void process_see(struct recording *rec, pid_t pid);
int meta_write(struct recording *rec, int fd, char *why);

#endif /* KFDTRACE_RECORD_H */
