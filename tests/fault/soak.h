/* SPDX-License-Identifier: GPL-2.0 */
/* The soak: its processes, and what they share with the one that torments them */
#ifndef TESTS_FAULT_SOAK_H
#define TESTS_FAULT_SOAK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "../preempt/preempt.h"

#define WORKERS		6
#define LANES		2		/* queues of each */
#define DEPTH		8		/* packets of a queue under way */
#define VRAM_BYTES	(2UL << 20)
#define DRAIN_NS	(60 * SEC)

/* Exit statuses of a worker */
enum { WORKER_FAILED = 1, WORKER_RESET = 42 };

/**
 * struct slot - one worker
 * @pid: its PID, 0 if there is none
 * @born: shared.resets when it began: with another value its queues are dead
 * @sent: packets, without those on queues destroyed on purpose
 * @done: packets complete
 * @lost: not complete after a minute
 * @repeated: completed twice
 * @disordered: overtaken by a later one
 * @copies, @corrupt: SDMA copies, words of them that are wrong
 * @finished: it was stopped and has waited for all
 * @why: which call failed, and how
 */
struct slot {
	pid_t pid;
	volatile unsigned int born;
	volatile long sent, done, lost, repeated, disordered, copies, corrupt;
	volatile bool finished;
	char why[128];
};

struct shared {
	volatile bool stop;
	volatile unsigned int resets;
	struct slot slot[WORKERS];
};

extern struct shared *shared;

/* The life of one, with random numbers from @number; does not return */
void worker(struct slot *s, uint64_t number) __attribute__((noreturn));

#endif
