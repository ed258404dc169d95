/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kfdprio doctor --soak: work whose results are compared bit by bit.
 *
 * A round has two halves.  The first is submitted before the process is preempted, the second while
 * it is off.  Afterwards each packet must have had its effect, once and in order.
 */
#ifndef DOCTOR_WORK_H
#define DOCTOR_WORK_H

#include "queue.h"

/**
 * enum work_kind - what runs besides packets
 * @WORK_SHADER: a shader, whose results are compared
 * @WORK_WAVES: dispatches that complete, but no code runs in them: the simulated GPU
 * @WORK_PACKETS: nothing
 */
enum work_kind { WORK_SHADER, WORK_WAVES, WORK_PACKETS };

/**
 * struct work - what is needed
 * @c: the process
 * @aql: its AQL queue
 * @pm4: its PM4 queue
 * @sdma: a queue of its own; not live: none was left
 * @data: source and destinations of SDMA, and what PM4 packets write
 * @code: the shader, its arguments
 * @results: of the shader
 * @kind: what runs
 * @groups: work-groups of a dispatch
 * @rounds: of the shader
 * @dispatches: in a round
 * @round: the present one
 * @open: work_open() was successful
 */
struct work {
	struct gpu_client *c;
	struct gpu_queue *aql, *pm4, sdma;
	struct gpu_memory data, code, results;
	enum work_kind kind;
	uint32_t groups, rounds, dispatches;
	uint32_t round;
	bool open;
};

int work_open(struct work *w, struct gpu_client *c, struct gpu_queue *aql, struct gpu_queue *pm4,
	      unsigned int timeout_ms, char *note, size_t size);
void work_submit(struct work *w, uint32_t round, bool second);
int work_check(struct work *w, unsigned int timeout_ms);
void work_close(struct work *w);

#endif /* DOCTOR_WORK_H */
