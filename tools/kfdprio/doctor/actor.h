/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kfdprio doctor --test: processes that do on the GPU what they are told.
 *
 * Each is a child of the doctor with its own KFD process.  It ends, and gives everything back,
 * when the doctor closes its socket; it is killed when the doctor is.
 */
#ifndef DOCTOR_ACTOR_H
#define DOCTOR_ACTOR_H

#include "kfdlib.h"

/**
 * enum order - what an actor can do; the times that it answers are of CLOCK_MONOTONIC
 * @ORDER_START: open the GPU, create an AQL queue; times: before and after its creation
 * @ORDER_PM4: create a PM4 queue, too; times: likewise
 * @ORDER_PACKETS: barrier, WRITE_DATA and RELEASE_MEM on its queues; times: ring, and barrier seen
 * @ORDER_SDMA: a copy on an SDMA queue of its own; times: ring, and fence seen
 * @ORDER_BLOCK: submit a barrier that waits; times: before and after the store to the doorbell
 * @ORDER_RELEASE: let that barrier go on, and wait for it; times: release, and barrier seen
 * @ORDER_BEAT: submit a WRITE_DATA on the PM4 queue; times: before and after the store
 * @ORDER_BEAT_SEEN: wait for that; times: when it was seen. ETIME: not in time
 * @ORDER_WORK_OPEN: prepare the work of work_open(); at[0]: enum work_kind, why: the reason for it
 * @ORDER_WORK_FIRST: submit the first half of a round's work; the value is the round
 * @ORDER_WORK_SECOND: submit the second half
 * @ORDER_WORK_CHECK: let all of it go on, wait for it and compare; EIO: a result is not right
 * @ORDER_STOP: destroy the queues; times: before and after
 */
enum order {
	ORDER_START,
	ORDER_PM4,
	ORDER_PACKETS,
	ORDER_SDMA,
	ORDER_BLOCK,
	ORDER_RELEASE,
	ORDER_BEAT,
	ORDER_BEAT_SEEN,
	ORDER_WORK_OPEN,
	ORDER_WORK_FIRST,
	ORDER_WORK_SECOND,
	ORDER_WORK_CHECK,
	ORDER_STOP,
};

/**
 * struct answer - what an actor answers
 * @ret: 0 or -errno
 * @at: two times, ns
 * @why: with -errno, what failed
 */
struct answer {
	int ret;
	uint64_t at[2];
	char why[KFDLIB_WHY];
};

/**
 * struct actor - a child
 * @pid: of it; 0: none
 * @socket: to it
 */
struct actor {
	pid_t pid;
	int socket;
};

int actor_start(struct actor *a, const struct kfd_topology *topo, const struct kfd_gpu *gpu,
		unsigned int seconds);
int actor_do(struct actor *a, enum order order, unsigned int timeout_ms, struct answer *answer);
int actor_do_with(struct actor *a, enum order order, uint32_t value, unsigned int timeout_ms,
		  struct answer *answer);
void actor_end(struct actor *a);

#endif /* DOCTOR_ACTOR_H */
