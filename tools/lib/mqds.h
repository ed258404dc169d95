/* SPDX-License-Identifier: GPL-2.0 */
/* Dumps of MQDs: what /sys/kernel/debug/kfd/mqds of any amdkfd prints, the stock driver's too. */
#ifndef MQDS_H
#define MQDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct mqd_times - when a queue was saved and restored on one XCC
 * @pid: its process, in the initial PID namespace
 * @gpu_id: KFD's number of the GPU
 * @queue: its place among the compute queues of the process on that GPU, from 0 on
 * @xcc: the XCC, from 0 on
 * @saved: it was saved, and the firmware has written down when
 * @restored: it was restored after that, and the firmware has written down when
 * @saved_at: the end of the save, in ticks of the firmware's clock
 * @rptr, @wptr: addresses of the queue's read and write index in its process, 0 if the dump ends before
 * @aql: its packets are AQL, as those of HSA; false also if the dump ends before the field
 * @ambiguous: the dump has several processes with this PID
 * @save_ns: from the beginning to the end of the save
 * @gap_ns: from the end of the save to the beginning of the restore
 * @restore_ns: of the restore, the CP's own part; waves are restored after it
 *
 * The durations are those of the last time: each MQD keeps no others.
 */
struct mqd_times {
	unsigned int pid, gpu_id, queue, xcc;
	bool saved, restored;
	uint64_t saved_at, save_ns, gap_ns, restore_ns;
	uint64_t rptr, wptr;
	bool aql, ambiguous;
};

/**
 * struct mqds - a dump
 * @times: array of @nr, malloc(3)ed
 * @nr: MQDs of compute queues
 * @sdma: queues of SDMA engines, whose MQDs have no times
 */
struct mqds {
	struct mqd_times *times;
	size_t nr;
	size_t sdma;
};

int mqds_read(FILE *in, struct mqds *mqds, char *why, size_t size);

#endif /* MQDS_H */
