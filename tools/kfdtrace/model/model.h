/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The GPUs, processes and queues of a recording.
 *
 * Events go in, in the order of time; sums come out.  Memory depends on the numbers of GPUs,
 * processes and queues alone, and of queues that have ended only MODEL_MAX_QUEUES are kept.
 */
#ifndef KFDTRACE_MODEL_H
#define KFDTRACE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* without memory an element is not added; its hh.tbl stays NULL */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "events.h"
#include "hist.h"

#define MODEL_MAX_GPUS	    1024
#define MODEL_MAX_QUEUES    100000
#define MODEL_MAX_ANOMALIES 1000
#define MODEL_MAX_ASKED	    64 /* threads that ask for a queue at once */
#define MODEL_MAX_THROTTLES 64 /* reasons and groups of a process on a GPU that are told apart */
#define NO_PRIO		    (-1)

struct client;

/**
 * struct preemption - as its begin tells
 * @ts: ns
 * @seq: joins it to its end
 * @pid: of the process for which others leave the GPU
 * @prio: its priority
 * @reason: why
 * @victims: processes that leave, @queues of theirs
 */
struct preemption {
	uint64_t ts;
	int64_t seq;
	int32_t pid, prio;
	int64_t reason, victims, queues;
};

/**
 * struct model_key - of a queue that is alive, or of a pair; without padding
 * @gpu_id: the GPU
 * @pid: the process, of a pair the preempted one
 * @id: the queue, or the preempting process
 */
struct model_key {
	uint32_t gpu_id, pid, id;
};

/**
 * struct queue - one queue, from its creation to its end
 * @client: its process on its GPU
 * @queue_id: KFD's number in the process; used again after the queue has ended
 * @created_seen: its creation was recorded; else what only creation tells is unknown
 * @alive: its end was not recorded
 * @mapped: it is on the GPU, or in the runlist for it
 * @preempted: it is off the GPU because of a process of higher priority
 * @asked: when the ioctl began, ns; 0 if it was not recorded
 * @created, @mqd_init, @first_map, @destroyed: ns, 0 if it was not recorded
 * @seen: ns, of the first event about it
 * @since: ns, of @mapped or not
 * @off: ns, when it was mapped no longer the last time
 * @preempted_since: ns, of @preempted
 * @left_for: the preemption for which it left the GPU last
 * @type, @format: of linux/kfd_ioctl.h as the events number them, -1 if unknown
 * @before: it is older than the recording
 * @unknown: its creation was not recorded, and neither the state at the begin nor an event has shown whether it is mapped
 * @at_end: it was there when the recording ended
 * @counted: is one of the compute queues in the GPU's @mapped_compute
 * @prio: in force last
 * @req_prio: that its owner asked for
 * @pipe_prio: of its MQD, -1 if unknown
 * @doorbell: index
 * @ring_base, @ring_size, @wptr, @mqd_addr, @cwsr_size: addresses and bytes
 * @maps, @unmaps, @preemptions, @throttles: how often
 * @mapped_ns, @unmapped_ns, @preempted_ns, @throttled_ns: how long; preempted and throttled time is unmapped time too
 * @destroy_reason: of its end
 */
struct queue {
	struct model_key key;	/* private */
	UT_hash_handle hh;	/* private */
	struct client *client;
	uint32_t queue_id;
	bool created_seen, alive, mapped, preempted, counted;
	bool before, unknown, at_end;
	uint64_t asked, created, mqd_init, first_map, destroyed, seen;
	uint64_t since, off, preempted_since;
	struct preemption left_for;
	int32_t type, format, prio, req_prio, pipe_prio;
	uint32_t doorbell;
	uint64_t ring_base, ring_size, wptr, mqd_addr;
	uint32_t cwsr_size;
	uint64_t maps, unmaps, preemptions, throttles;
	uint64_t mapped_ns, unmapped_ns, preempted_ns, throttled_ns;
	int32_t destroy_reason;
	/* private */
	uint64_t told; /* ns, end of its last slice of a kind for which it is off */
	struct queue *client_prev, *client_next; /* those alive */
	struct queue *mapped_prev, *mapped_next; /* those mapped, of the GPU */
};

/**
 * struct process - a process on all GPUs
 * @pid: TGID in the initial PID namespace
 * @prio: set, NO_PRIO if none is or it is not known
 * @changes: how often its priority was changed
 * @clients: of it, one for each GPU it used
 * @next: another one
 */
struct process {
	UT_hash_handle hh; /* private */
	int32_t pid;
	int32_t prio;
	uint64_t changes;
	struct client *clients;
	struct process *next;
};

/**
 * struct pair - a process that preempted another
 * @client: the preempted process
 * @pid: the preempting process
 * @count: how often
 * @ns: how long in all
 * @next: another one of the same @client
 */
struct pair {
	struct model_key key; /* private */
	UT_hash_handle hh;    /* private */
	const struct client *client;
	int32_t pid;
	uint64_t count, ns;
	struct pair *next;
};

/**
 * struct throttle - how often and how long a process was throttled for one reason, in the same groups
 * @reason: enum kfd_prio_throttle, or a number that has no name; -1: not known
 * @share: number of the group that the process was put in or has inherited; 0: none, -1: not known
 * @cgroup_share: number of the group of its cgroup; 0: none, -1: not known
 * @count: how often
 * @ns: how long in all
 * @next: another one of the same process on the same GPU
 */
struct throttle {
	int64_t reason, share, cgroup_share;
	uint64_t count, ns;
	struct throttle *next;
};

/**
 * struct throttling - the last time that a process was throttled, or this time
 * @from: ns
 * @to: ns, when it was throttled no more; that of the time before while the process is throttled
 * @seq: joins the begin to the end; -1: not known
 * @open: no kfd_throttle_end of it was seen
 * @reason, @share, @cgroup_share: as in struct throttle
 */
struct throttling {
	uint64_t from, to;
	int64_t seq;
	bool open;
	int64_t reason, share, cgroup_share;
};

/**
 * struct client - a process on one GPU
 * @process: the process
 * @gpu: the GPU
 * @created, @destroyed: number of queues
 * @live: queues now, @max_live at most
 * @maps, @mapped_ns: sums over its queues
 * @mapped_queues: how many are mapped now
 * @any_ns: how long at least one of them was mapped, and since @any_since one is
 * @preemptions, @preempted_ns: how often and how long it was preempted, as a whole
 * @preempting, @preempting_ns: how often and how long others were preempted for it
 * @wakes: how often its doorbell woke the preemption
 * @parks, @parked_ns: how often and how long it was parked: off the GPU for having no work
 * @throttle_count, @throttled_ns: how often and how long it was throttled: off the GPU with work, by its groups
 * @throttled_by_ns: of @throttled_ns, by reason; the last is for reasons without a name or that are not known
 * @throttles: the same by reason and groups; once there are MODEL_MAX_THROTTLES, no other ones
 * @throttling: the last time
 * @evictions, @evicted_ns: by KFD: memory, suspend, debugger; until the restore or its last queue's end
 * @evicted_known: the state at the begin, an eviction or a restore has shown whether it was evicted before
 * @evicted_from, @evicted_to: the last eviction that has ended, ns
 * @unknown: whether one of its queues was ever mapped is unknown, so that @mapped_ns is not known
 * @by: the processes that preempted it
 * @preempted, @parked, @evicted: it is, since @preempted_since, @parked_since, @evicted_since
 * @throttled: it is, since @throttling.from
 * @evicted_queues: that it had when it was evicted last, also those that no other event names
 * @preemptor: the pair with the process that preempts it now, since @pair_since
 * @last_reason: of the last preemption of it, or by it, as it began or ended
 * @last_by: whose preemption that was, 0 if there was none
 * @end_evicted: it was evicted when the recording ended
 */
struct client {
	struct process *process;
	struct gpu *gpu;
	uint64_t created, destroyed, live, max_live;
	uint64_t maps, mapped_ns;
	uint64_t mapped_queues, any_ns, any_since;
	uint64_t preemptions, preempted_ns, preempting, preempting_ns, wakes;
	uint64_t parks, parked_ns;
	uint64_t throttle_count, throttled_ns, throttled_by_ns[NR_KFD_THROTTLES + 1];
	struct throttle *throttles;
	struct throttling throttling;
	uint64_t evictions, evicted_ns, evicted_queues;
	struct pair *by;
	bool preempted, parked, throttled, evicted, evicted_known, unknown;
	uint64_t evicted_from, evicted_to;
	uint64_t preempted_since, parked_since, evicted_since, pair_since;
	struct pair *preemptor;
	uint32_t last_reason;
	int32_t last_by;
	bool end_evicted;
	struct queue *queues;
	struct client *next; /* of the same GPU */
	/* private */
	struct client *process_next;
	struct client *preempted_prev, *preempted_next; /* those preempted, of the GPU */
	struct throttle *throttle; /* of @throttling, while it is throttled; NULL: there are too many */
	bool released; /* it is in the list of the GPU */
	struct client *released_next;
};

/**
 * struct gpu - one GPU
 * @gpu_id: KFD's number
 * @runlists: sent, @runlist_queues in all of them, @max_queues and @max_processes at most
 * @over_subscribed: runlists that did not fit at once, @over_ns how long one of them was in force
 * @hangs: of the scheduler
 * @unmap: ns that an unmap took
 * @take: from the begin of a preemption until the GPU was free of its victims
 * @preempt: from begin to end of a preemption
 * @save: the longest save of each preemption, as CP firmware measured it
 * @wake: from a doorbell that preempts to the first runlist without the victims
 * @unpark: from a doorbell of a parked process to the update that puts its queues back
 * @begins, @ends: preemptions by reason; the last are those of reasons that are not known
 * @parks, @unparks: parked processes by reason; the last as well
 * @throttles: throttled processes by reason; the last as well
 * @mapped_compute: compute queues that are mapped now
 * @unknown: it has queues of which no event has told whether they are mapped
 * @end_known: whether processes were preempted or evicted when the recording ended is known
 * @end_preempting: a preemption was under way then
 * @next: in the order of their first event
 */
struct gpu {
	uint32_t gpu_id;
	uint64_t runlists, runlist_queues, max_queues, max_processes;
	uint64_t over_subscribed, over_ns, hangs;
	struct hist unmap, take, preempt, wake, save, unpark;
	uint64_t begins[NR_KFD_REASONS + 1], ends[NR_KFD_REASONS + 1];
	uint64_t parks[NR_KFD_PARK_REASONS + 1], unparks[NR_KFD_UNPARK_REASONS + 1];
	uint64_t throttles[NR_KFD_THROTTLES + 1];
	uint64_t mapped_compute;
	bool unknown, end_known, end_preempting;
	struct gpu *next;
	/* private */
	struct model *model;
	struct client *clients, *preempted;
	struct client *released; /* throttled no more, in the step of the driver that goes on */
	struct queue *mapped;
	bool over, unmapping, preempting, waking, wake_preempts;
	uint64_t over_since, unmap_ts, unmapped_ts, wake_ts;
	int64_t unmap_pid, unmap_queue, unmap_filter;
	int32_t wake_pid;
	struct preemption begin;
	uint64_t take_left;
};

enum anomaly_kind {
	ANOMALY_HANG,
	ANOMALY_UNMAP_FAILED,
	ANOMALY_MAP_FAILED,
	ANOMALY_CREATE_FAILED,
	ANOMALY_DESTROY_FAILED,
	ANOMALY_SLOW_UNMAP,
	ANOMALY_UNMAP_OPEN,
	ANOMALY_PREEMPT_OPEN,
	ANOMALY_EVICT_OPEN,
	ANOMALY_NOT_DESTROYED,
	NR_ANOMALIES
};

/**
 * struct anomaly - something that should not be
 * @ts: when, ns
 * @kind: what
 * @gpu_id: where
 * @pid: of the process, or -1
 * @queue_id: which, -1 if none
 * @value: ns, or a negative errno
 */
struct anomaly {
	uint64_t ts;
	enum anomaly_kind kind;
	uint32_t gpu_id;
	int32_t pid;
	int64_t queue_id;
	int64_t value;
};

/**
 * struct under_way - how much had not ended when the recording did
 * @queues: that were there
 * @unmaps, @preemptions, @evictions: that had begun
 */
struct under_way {
	uint64_t queues, unmaps, preemptions, evictions;
};

/* A state of a queue from one time to another; slices of one kind do not overlap. */
enum slice_kind {
	SLICE_MAPPED,
	SLICE_PREEMPTED,
	SLICE_EVICTED, /* its process was, by KFD */
	SLICE_ALIVE, /* from its creation, or the begin of the recording */
	SLICE_PARKED, /* its process was: it had no work */
	SLICE_UNKNOWN, /* whether it was mapped is not known */
	SLICE_THROTTLED, /* its process was: its groups kept it off; client->throttling has the reason */
	NR_SLICES
};

/**
 * typedef slice_fn - is told of each slice when it ends
 * @context: the caller's
 * @queue: whose
 * @kind: what it was
 * @from: ns
 * @to: ns
 */
typedef void (*slice_fn)(void *context, const struct queue *queue, enum slice_kind kind,
			 uint64_t from, uint64_t to);

/**
 * struct model - all of it
 * @slow_unmap_ns: an unmap that takes longer is an anomaly
 * @slice: called for each slice, or NULL
 * @slice_context: its own
 * @first, @last: ns, of the first and last event, or of the recording if its state is known
 * @state_known: which queues there were when the recording began is known
 * @end_ts: when the state at the end was read, ns; 0 if it is not known
 * @events: how many of each kind
 * @gpus, @processes: lists; a process that has ended stays, unless model_prune() takes it out
 * @impossible: events that contradict earlier ones, which were left out
 * @too_many_gpus: why model_event() failed: the file cannot be right
 * @queues: array of @nr_queues, in the order of their first event
 * @lacks: events that would not be recorded if they happened; set after model_init()
 * @max_queues: with more than that, queues that end are left out
 * @queues_left_out: queues that have ended and are only in the sums of their processes
 * @anomalies: array, the first MODEL_MAX_ANOMALIES of them
 * @nr_anomalies: of each kind, all
 * @under_way: at the end
 */
struct model {
	uint64_t slow_unmap_ns;
	slice_fn slice;
	void *slice_context;
	uint64_t first, last, end_ts;
	bool state_known;
	uint64_t events[NR_KFD_EVENTS];
	bool lacks[NR_KFD_EVENTS];
	uint64_t impossible;
	struct gpu *gpus;
	bool too_many_gpus;
	struct process *processes;
	struct queue **queues;
	size_t nr_queues, room_queues, max_queues;
	uint64_t queues_left_out;
	struct anomaly *anomalies;
	size_t kept_anomalies;
	uint64_t nr_anomalies[NR_ANOMALIES];
	struct under_way under_way;
	/* private */
	/* tables of uthash: queues that are alive, processes, pairs */
	struct queue *queue_table;
	struct process *process_table;
	struct pair *pair_table;
	struct {
		int32_t task;
		uint64_t ts;
	} asked[MODEL_MAX_ASKED];
	unsigned int next_asked;
};

/* Whether a queue is on the GPU, or in the runlist for it */
enum queue_place {
	QUEUE_UNKNOWN,
	QUEUE_OFF,
	QUEUE_MAPPED,
};

/**
 * struct model_state - of a process on a GPU, at one moment
 * @prio: set for it, or NO_PRIO
 * @preempting: others are preempted for it
 * @evicted, @parked, @throttled: it is
 */
struct model_state {
	int32_t prio;
	bool preempting, evicted, parked, throttled;
};

int model_init(struct model *model, uint64_t slow_unmap_ns);
int model_event(struct model *model, const struct kfd_event *event);
void model_end(struct model *model);
void model_free(struct model *model);
void model_state_begin(struct model *model, uint64_t ts);
int model_state_process(struct model *model, uint32_t gpu_id, int32_t pid, const struct model_state *state, bool known);
int model_state_queue(struct model *model, uint32_t gpu_id, int32_t pid, uint32_t queue_id, int32_t type,
		      enum queue_place place, bool preempted);
void model_end_begin(struct model *model, uint64_t ts);
void model_end_process(struct model *model, uint32_t gpu_id, int32_t pid, const struct model_state *state, bool known);
void model_end_queue(struct model *model, uint32_t gpu_id, int32_t pid, uint32_t queue_id);
int model_sync_queue(struct model *model, uint32_t gpu_id, int32_t pid, uint32_t queue_id, bool mapped,
		     uint64_t ts);
int model_sync_process(struct model *model, uint32_t gpu_id, int32_t pid, const struct model_state *state, uint64_t ts);
void model_sync_off(struct model *model, uint64_t ts);
void model_prune(struct model *model, bool (*gone)(void *context, int32_t pid), void *context);
uint64_t anomalies_count(const struct model *model);
const char *anomaly_name(enum anomaly_kind kind);

#endif /* KFDTRACE_MODEL_H */
