/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rules of tests/sim/engine.h once more, as slowly and as plainly as they can be written:
 * one nanosecond after the other, lists for who waits and who has, a list for the copy
 * path. Nothing of it is shared with the engine but the constants.
 */
#ifndef ENGINE_REFERENCE_H
#define ENGINE_REFERENCE_H

#include "engine.h"

#define REF_PROCS	6
#define REF_QUEUES	18
#define REF_ITEMS	64

/**
 * struct script_item - a packet
 * @ns: time it takes
 * @avail: when it came
 * @bytes: live state
 * @slot: a dispatch
 * @blocks: a barrier
 * @dep_queue: it is not launchable until item @dep_item of this queue is complete; -1: none
 * @dep_item: see @dep_queue
 */
struct script_item {
	u64 ns, avail, bytes;
	bool slot, blocks;
	int dep_queue;
	u32 dep_item;
};

/**
 * struct script - what a queue is given to do; the same for both models
 * @item: packets
 * @n: valid entries
 */
struct script {
	struct script_item item[REF_ITEMS];
	u32 n;
};

/**
 * struct record - what became of the packets of a queue, in one of the models
 * @launched: when it was launched
 * @completed: when it was complete
 * @times: how often it was
 */
struct record {
	u64 launched[REF_ITEMS], completed[REF_ITEMS];
	u32 times[REF_ITEMS];
};

struct line {
	int id[REF_QUEUES];
	int n;
};

struct ref_work {
	u32 item;
	u64 left, ran, avail;
	bool runs;
};

struct ref_queue {
	int proc;
	bool own_engine, held;
	u32 pipe, prio, level;
	u64 quantum;
	enum eng_qstate state;
	bool copying, first, idle, back;
	u64 since;
	struct ref_work work[ENG_INFLIGHT];
	u32 nwork, next;
	u64 turn, served, service, front, ran, saves;
};

struct ref_proc {
	struct line queues;
	bool in, has_vmid, leaving, held, fresh, overdue;
	u64 quantum, since;
};

struct ref {
	struct eng_config cfg;
	const struct script *script;
	bool sees_rings;		/* a packet counts for a level before it can be launched */
	u64 now;
	struct ref_proc proc[REF_PROCS];
	struct ref_queue queue[REF_QUEUES];
	struct record rec[REF_QUEUES];
	struct line runlist;		/* processes */
	struct line vm_wait, vm_have;	/* processes, in the order in which they began to */
	struct line q_wait, q_have;	/* queues, likewise */
	struct line path;		/* queues whose state is or will be copied */
	u64 path_left[REF_QUEUES];
	int turn;
	u64 serial;
	u64 busy, copied, saves;
};

void ref_init(struct ref *r, const struct eng_config *cfg, const struct script *script);
void ref_add_proc(struct ref *r, int p, u64 quantum);
void ref_add_queue(struct ref *r, int p, int q);
void ref_remove_proc(struct ref *r, int p);
void ref_remove_queue(struct ref *r, int q);
void ref_advance(struct ref *r, u64 now);
void ref_stall(struct ref *r, u64 ns);
void ref_unmap(struct ref *r, int p);
void ref_unmap_queue(struct ref *r, int q);
void ref_resume_queue(struct ref *r, int q);
bool ref_saved(const struct ref *r, int p);

#endif
