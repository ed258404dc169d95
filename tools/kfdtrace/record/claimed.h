/* SPDX-License-Identifier: GPL-2.0 */
/*
 * record --mqd: whether queues had work, as the memory of their processes claims.
 *
 * The read and the write index of an AQL queue are in memory of its process.  The process can write any value
 * there, and the GPU may see another page at that address.  So a sample of them is a claim of the process, never a
 * measurement.
 */
#ifndef KFDTRACE_CLAIMED_H
#define KFDTRACE_CLAIMED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mqds.h"

#define CLAIMED_SLOTS	 4096		/* queues of a dump that are sampled */
#define CLAIMED_QUEUES	 4096		/* queues in meta.json */
#define CLAIMED_BOUND_NS 1000000000ull	/* reading one process's memory takes no longer, or the process blocks */

enum claimed_answer {
	CLAIMED_UNKNOWN,
	CLAIMED_IDLE, /* the indices are equal */
	CLAIMED_WORK,
};

/**
 * struct claimed_slot - one queue of a dump
 * @pid: its process, in the initial PID namespace
 * @gpu_id, @queue: for the recorder, as in struct mqd_times
 * @rptr, @wptr: addresses of the indices
 * @refused: a process with this PID and start time is not read; CLAIMED_ANY_START: no process with this PID is read
 * @start: out: start time of the process, 0 as long as it is not known, or if it is not older than the dump
 * @ts: out: when the indices were read
 * @answer: out: enum claimed_answer
 */
struct claimed_slot {
	unsigned int pid, gpu_id, queue;
	uint64_t rptr, wptr, refused;
	uint64_t start, ts;
	unsigned int answer;
};

#define CLAIMED_ANY_START UINT64_MAX

/**
 * struct claimed_shared - memory that the recorder and one reader share
 * @device: device number of /dev/kfd
 * @before: a process that started at this time, or later, is not the one of the dump; as @start
 * @nr: slots, those of one process together; set by the recorder while the reader waits
 * @done: slots that have an answer; set by the reader
 * @slots: the queues
 */
struct claimed_shared {
	dev_t device;
	uint64_t before;
	size_t nr;
	_Atomic size_t done;
	struct claimed_slot slots[CLAIMED_SLOTS];
};

/* claimed-read.c: the reader, a process of its own */
void claimed_read(struct claimed_shared *shared, int wake) __attribute__((noreturn));

/* claimed.c: the recorder */
struct claimed;

struct claimed *claimed_begin(dev_t device);
uint64_t claimed_ticks(void);
void claimed_sample(struct claimed *claimed, const struct mqds *mqds, uint64_t before, uint64_t ts);
uint64_t claimed_collect(struct claimed *claimed);
void claimed_json(const struct claimed *claimed);
void claimed_end(struct claimed *claimed);

#endif /* KFDTRACE_CLAIMED_H */
