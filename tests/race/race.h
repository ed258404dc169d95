/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two operations at once, on the same process and its queues.
 *
 * Three processes act, each with two threads (lanes), lane i on CPU i: the subject has queues and may be
 * preempted, evicted, killed; the preemptor has priority 13 and rings; the root helper sets
 * priorities, resets, suspends and unloads.  The test itself, which opens nothing, tells two lanes what
 * to do; they meet at a barrier, wait a random while and do it.
 */
#ifndef TESTS_RACE_H
#define TESTS_RACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SUBJECT_PRIO	6	/* what its queue asks for */
#define PREEMPTOR_PRIO	13	/* above whatever the subject gets */

enum who { SUBJECT, PREEMPTOR, HELPER, WHO };
enum phase { PREPARE, GO, FINISH, HOLD, WORK };

enum op { OP_SET, OP_CREATE, OP_UPDATE, OP_DESTROY, OP_EVICT, OP_RESTORE, OP_PREEMPT, OP_EXIT, OP_RESET, OP_UNLOAD,
	  OP_SUSPEND, OPS };

/**
 * struct lane - what one lane shall do, and what came of it
 * @go: number of the order, a futex
 * @done: number of the last order that was carried out, a futex
 * @op, @phase: the order. GO means PREPARE, the barrier, GO and FINISH, @rounds times
 * @rounds: see @phase; without FINISH if it is 0, and once
 * @number: random number of the round, other for each lane
 * @err: errno of the first that failed, or 0
 */
struct lane {
	atomic_uint go, done;
	enum op op;
	enum phase phase;
	unsigned int rounds;
	uint64_t number;
	int err;
};

struct shared {
	struct lane lane[WHO][2];
	atomic_uint met;		/* how often a lane came to the barrier, since the order */
	uint32_t window_us;		/* longest wait behind it */
	bool evict_by_fence;		/* evict: as by memory pressure */
	volatile bool bare;		/* no process has /dev/kfd open: for unload */
	volatile bool unloaded;		/* by an operation of this round */
	volatile int prio[2];		/* what each lane sets */
	volatile pid_t subject;
	char why[256];			/* what failed, in words */
};

extern struct shared *shared;

/**
 * struct operation - one of them
 * @name: on the command line
 * @who: whose lane does it
 * @window_us: with it, lanes wait up to so long after the barrier
 * @heavy: a round takes tens of ms and more: fewer are asked for
 * @dead: whoever was there before is of no use afterwards
 * @errors: any errno is right, for what happens at the same time too; otherwise 0 must come out
 */
struct operation {
	const char *name;
	enum who who;
	uint32_t window_us;
	bool heavy, dead, errors;
};

extern const struct operation operations[OPS];

/* The life of a subject, a preemptor, a helper; ready when a byte is written to @fd */
void subject(int fd) __attribute__((noreturn));
void preemptor(int fd) __attribute__((noreturn));
void helper(int fd) __attribute__((noreturn));

/* Its two lanes, each of which does @fn for every phase of an order */
void lanes_run(enum who who, int (*fn)(struct lane *l, int nr, enum phase phase), int fd)
	__attribute__((noreturn));

/* A lane's random numbers */
uint32_t lane_random(struct lane *l, uint32_t n);

#endif
