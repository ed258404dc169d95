/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of "kfdtrace live".
 *
 * open.c opens it all, events.c follows a trace instance, stock.c probes of a driver that has no events, list.c
 * reads what the driver lists; frame.c makes rows of that; text.c, json.c and screen.c show them.
 */
#ifndef KFDTRACE_LIVE_H
#define KFDTRACE_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "container.h"
#include "kfdlib.h"
#include "kfdtrace.h"
#include "list.h"
#include "model/model.h"
#include "record/record.h"

#define LIVE_CELL 128 /* bytes of a cell */

enum live_column {
	LIVE_PID,
	LIVE_GPU,
	LIVE_PRIORITY,
	LIVE_EFFECTIVE,
	LIVE_BAND,
	LIVE_STATE,
	LIVE_MAPPED,
	LIVE_PREEMPTED,
	LIVE_PREEMPTED_RATE,
	LIVE_PREEMPTING_RATE,
	LIVE_THROTTLED,
	LIVE_THROTTLED_RATE,
	LIVE_THROTTLE_REASON,
	LIVE_QUEUES,
	LIVE_ACTIVE,
	LIVE_REASON,
	LIVE_REASON_PID,
	/* in the order of enum container_column */
	LIVE_POD,
	LIVE_NAMESPACE,
	LIVE_CONTAINER,
	LIVE_CONTAINER_ID,
	LIVE_POD_UID,
	LIVE_COMMAND,
	NR_LIVE_COLUMNS
};

#define NR_LIVE_SORTS 6

enum live_source {
	LIVE_AUTO,
	LIVE_EVENTS, /* and what the driver counts */
	LIVE_STATS, /* what the driver counts */
};

/**
 * struct live_options - what was asked for
 * @delay_ns: from one frame to the next
 * @count: frames, 0 for no end
 * @batch: text, not a screen
 * @list: which columns, and whether as lines of JSON
 * @pids: show only these processes; none: all
 * @instance: name of a trace instance that exists, or NULL
 * @source: where from
 * @driver: whose events
 * @btf: file with the types of the driver, or NULL
 * @sort: order of the rows; one of live_sorts
 */
struct live_options {
	uint64_t delay_ns;
	uint64_t count;
	bool batch;
	struct list_choice list;
	struct pids pids;
	const char *instance;
	enum live_source source;
	enum record_driver driver;
	const char *btf;
	enum live_column sort;
};

/**
 * struct live_row - one process on one GPU, in one frame
 * @pid: in our PID namespace
 * @gpu_id: the GPU
 * @priority: set for it, or KFD_PRIO_UNSET
 * @effective: the highest of its queues, or KFD_PRIO_UNSET
 * @state: at the end of the frame
 * @queues, @active: how many it has, and those of them that may run
 * @mapped: percent of the time that a queue of it was mapped, < 0 if not known
 * @preempted: percent of the time that it was preempted, < 0 if not known
 * @suffered, @caused: preemptions of it, and for it, per second
 * @throttled: percent of the time that it was throttled, < 0 if not known
 * @throttles: how often it was throttled per second, < 0 if not known
 * @throttle_reason: why it was throttled last, "" if it was not or that is not known
 * @reason: of its last preemption or of the last for it, NULL if there was none or it is not known
 * @by: whose preemption that was, 0 for its own
 * @command: its name, raw bytes
 * @container: that it is in
 */
struct live_row {
	pid_t pid;
	uint32_t gpu_id;
	int priority, effective;
	enum kfd_state state;
	unsigned int queues, active;
	double mapped, preempted, suffered, caused, throttled, throttles;
	char throttle_reason[KFD_REASON_TEXT];
	const char *reason;
	pid_t by;
	char command[KFDLIB_NAME];
	struct container container;
};

/**
 * struct live_counts - what a frame takes differences of
 * @pid, @gpu_id: whose
 * @listed: the driver listed it
 * @any_ns: mapped, of the events
 * @preempted_ns, @suffered, @caused: the driver's, or the events' if it has ended
 * @throttled_ns, @throttles: likewise
 * @told_ns, @told_suffered, @told_caused, @told_throttled_ns, @told_throttles: the events'
 */
struct live_counts {
	pid_t pid;
	uint32_t gpu_id;
	bool listed;
	uint64_t any_ns;
	uint64_t preempted_ns, suffered, caused;
	uint64_t throttled_ns, throttles;
	uint64_t told_ns, told_suffered, told_caused, told_throttled_ns, told_throttles;
};

/**
 * struct live_cpu - what was read of one CPU's buffer
 * @page: the page
 * @kbuf: takes it apart
 * @data: the next record, NULL if there is none
 * @ts: its time
 */
struct live_cpu {
	void *page;
	struct kbuffer *kbuf;
	void *data;
	unsigned long long ts;
};

struct live_record;

/**
 * struct live_events - the trace instance that is followed, or probes
 * @options, @rec: as of record
 * @tep: the formats
 * @decoder: where the fields are
 * @unmaps: those that have begun
 * @cpus: one for each of @rec; NULL with probes
 * @pending: of probes: events that are not in the model yet, @nr_pending, room for @room_pending
 * @all: events so far, of all kinds
 * @lost: events that the kernel could not keep
 * @damaged: events that are impossible, and were left out
 * @open: it is
 */
struct live_events {
	struct record_options options;
	struct recording rec;
	struct tep_handle *tep;
	struct kfd_decoder decoder;
	struct kfd_unmaps unmaps;
	struct live_cpu *cpus;
	struct live_record *pending;
	size_t nr_pending, room_pending;
	uint64_t all, lost, damaged;
	bool open;
};

/**
 * struct live - all of it
 * @options: what was asked for
 * @dev: /dev/kfd
 * @topo: the GPUs
 * @modes: how each of them is scheduled
 * @events: not open if the source is what the driver counts
 * @model: of the events
 * @driver: which one is loaded
 * @stock: that has no statistics: queues are listed from KFD's directories
 * @note: why something is missing, "" if nothing is
 * @simulated: whether the GPU is
 * @ts: of the last frame, CLOCK_MONOTONIC, ns
 * @span_ns: its length
 * @event_rate: events per second of it
 * @lost: events, since the start
 * @rows: of the last frame, @nr_rows
 * @last: counts at its end, @nr_last
 * @list: what the driver listed at its end, @nr_list
 * @containers: of the rows so far
 */
struct live {
	const struct live_options *options;
	struct kfd_dev dev;
	struct kfd_topology topo;
	const char **modes;
	struct live_events events;
	struct model model;
	enum record_driver driver;
	bool stock;
	char note[KFDLIB_WHY];
	enum simulated simulated;
	uint64_t ts, span_ns;
	double event_rate;
	uint64_t seen, lost;
	struct live_row *rows;
	size_t nr_rows;
	struct live_counts *last;
	size_t nr_last;
	struct kfd_prio_list_entry *list;
	size_t nr_list;
	struct containers containers;
};

/* options.c */
void live_options_parse(int argc, char **argv, struct live_options *options);

/* events.c */
int live_events_open(struct live_events *events, const char *instance, enum record_driver driver, char *why);
int live_events_read(struct live_events *events, struct model *model, uint64_t until);
uint64_t live_events_lost(struct live_events *events);
void live_events_close(struct live_events *events);

/* stock.c */
int live_stock_open(struct live_events *events, const char *btf, char *why);
int live_stock_read(struct live_events *events, struct model *model, uint64_t until);
int live_stock_list(struct kfd_prio_list_entry **list, size_t *nr);
void live_stock_row(struct live_row *row, const struct client *client);

/* list.c */
int live_list(struct live *live, char *why);
int live_oom(char *why);

/* open.c */
int live_begin(struct live *live, char *why);
void live_end(struct live *live);

/* frame.c */
int live_rows(struct live *live, char *why);
int live_frame(struct live *live, char *why);
int live_drain(struct live *live, char *why);
void live_rows_sort(struct live *live, enum live_column sort, bool reverse);

/* sync.c */
int live_sync(struct live *live, uint64_t ts);

/* text.c */
extern const struct list_column live_columns[NR_LIVE_COLUMNS];
extern const enum live_column live_sorts[NR_LIVE_SORTS];
bool live_right(enum live_column column);
struct list live_list_of(const struct live *live);
void live_cell(const struct live_row *row, enum live_column column, char *text);
void live_head(const struct live *live, unsigned int line, char *text, size_t size);
unsigned int live_head_lines(const struct live *live);
void live_print(struct live *live);

/* json.c */
void live_print_json(const struct live *live);

/* screen.c */
int live_screen_open(enum live_column sort, char *why);
bool live_screen_key(uint64_t *delay_ns, bool *paused);
void live_screen_show(struct live *live, uint64_t delay_ns, bool paused);
void live_screen_resize(void);
void live_screen_close(void);

#endif /* KFDTRACE_LIVE_H */
