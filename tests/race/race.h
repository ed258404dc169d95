/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two operations at once, on the same process and its queues.
 *
 * Three processes act, each with two threads (lanes), lane i on CPU i: the subject has queues and may be
 * preempted, evicted, killed; the preemptor has priority 13 and rings; the root helper sets
 * priorities, resets, suspends and unloads.  The test itself, which opens nothing, tells two lanes what
 * to do, many rounds of it (an order).  They meet at a barrier, and each goes on by itself, with random pauses
 * that are shorter than the other's operation.  When each operation began and ended is written down: whether both were at
 * it at once is known, not hoped for.
 *
 *	main.c		options, the pairs, the table of rounds
 *	rounds.c	processes and orders
 *	look.c		what must be right afterwards
 *	lanes.c		the barrier, the while, the time stamps
 *	actors.c	the operations
 */
#ifndef TESTS_RACE_H
#define TESTS_RACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SUBJECT_PRIO	6	/* what its queue asks for */
#define PREEMPTOR_PRIO	13	/* above whatever the subject gets */
#define ROUNDS		256	/* of an order, by the slower lane, at most */
#define ROUNDS_MAX	16384	/* of an order, by the faster lane */

enum who { SUBJECT, PREEMPTOR, HELPER, WHO };

/*
 * An order is one of GO, HOLD and WORK.  GO means BEGIN, for each round PREPARE, a pause (MEET), GO, FINISH; and END.
 * Only GO is raced; the others happen beside it, too.
 */
enum phase { BEGIN, PREPARE, MEET, GO, FINISH, END, HOLD, WORK, PHASES };

enum op { OP_SET, OP_CREATE, OP_UPDATE, OP_DESTROY, OP_EVICT, OP_RESTORE, OP_PREEMPT, OP_EXIT, OP_RESET, OP_UNLOAD,
	  OP_SUSPEND, OP_SHARE, OP_PARK, OP_UNPARK, OPS };

/**
 * struct lane - what one lane shall do, and what came of it
 * @go: number of the order, a futex
 * @done: number of the last order that was carried out, a futex
 * @op, @phase: the order
 * @rounds: of GO, at least, by each lane; without FINISH if it is 0, and once
 * @other: what the other lane does
 * @number: random number of the order, other for each lane
 * @err: errno of the first that failed, or 0
 */
struct lane {
	atomic_uint go, done;
	enum op op, other;
	enum phase phase;
	unsigned int rounds;
	uint64_t number;
	int err;
};

/* When a lane began with GO of a round and when it had done it, ns of CLOCK_MONOTONIC; 0: it did not */
struct stamp {
	_Atomic uint64_t begin, end;
};

struct shared {
	struct lane lane[WHO][2];
	atomic_uint met;		/* lanes that came to the barrier, since the order */
	atomic_uint ready;		/* the same of its second half, which nobody sleeps before */
	atomic_uint round[2];		/* of the order, that are done; by lane */
	struct stamp stamp[2][ROUNDS_MAX + 1];
	_Atomic uint32_t took[OPS];	/* ns that GO takes, about */
	_Atomic uint64_t spent[2][PHASES];	/* ns, by lane */
	uint64_t hold_ns;		/* HOLD: how long the preemptor shall have work */
	bool extras;			/* the subject has what comes and goes */
	bool evict_by_fence;		/* evict: as by memory pressure */
	volatile bool bare;		/* no process has /dev/kfd open: for unload */
	volatile bool unloaded;		/* by an operation of this round */
	volatile int prio[2];		/* what each lane sets */
	volatile pid_t subject;
	_Atomic uint64_t parked;	/* parked_count of the subject when it was seen parked last */
	atomic_uint parks;		/* how often it was seen parked anew */
	atomic_uint refused;		/* CREATE_QUEUE that failed */
	char why[256];			/* what failed, in words */
};

extern struct shared *shared;

/**
 * struct operation - one of them
 * @name: on the command line
 * @who: whose lane does it
 * @burst: with it, an order has that many rounds at most
 * @dead: whoever was there before is of no use afterwards
 * @errors: any errno is right, for what happens at the same time too; otherwise 0 must come out
 */
struct operation {
	const char *name;
	enum who who;
	unsigned int burst;
	bool dead, errors;
};

extern const struct operation operations[OPS];

/**
 * struct score - what came of some rounds
 * @rounds: how many there were
 * @overlapped: those in which both operations were under way at once
 * @bare: those without a process on the GPU, so that the module could go
 * @unloaded: those in which it did
 * @parks: how often the subject was seen parked
 * @preempted: preemptions by the preemptor, as far as somebody looked
 * @ns: what they took in all
 * @order, @after, @look: how much of it the orders themselves took; putting right; looking
 */
struct score {
	unsigned long rounds, overlapped, bare, unloaded, parks;
	unsigned long long preempted;
	uint64_t ns, order, after, look;
};

/* settings.c */
void poll_seldom(void);
void parking(bool on);
void hurry(bool on);

/* rounds.c */
uint32_t rnd(uint32_t n);
void rounds_begin(uint64_t random);
bool rounds_run(enum op a, enum op b, double secs, unsigned long rounds, struct score *s);
void rounds_end(void);

/* look.c */
bool look_settled(pid_t pid, unsigned int secs);
void look_say(pid_t pid);
bool look_clean(long long *pages);
unsigned long long look_preemptions(pid_t pid);

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
