/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* kfdprio: the data that an observation of a process on a GPU reads, and its result */
#ifndef KFD_PRIO_OBSERVE_H_INCLUDED
#define KFD_PRIO_OBSERVE_H_INCLUDED

#include "kfd_prio_compat.h"

/* Most queues that a process has on a GPU, KFD_MAX_NUM_OF_QUEUES_PER_PROCESS */
#define KFD_PRIO_MAX_INDEX	1024

/**
 * struct kfd_prio_index - where the indices of a queue are in the memory of its process
 * @rptr: address of the read index
 * @wptr: address of the write index
 * @mask: mask for both indices; ~0 if they have 64 bits
 * @ring: address of the ring if its packets are to be read, else NULL
 * @packets_mask: number of packets in the ring, less one
 */
struct kfd_prio_index {
	const void __user *rptr;
	const void __user *wptr;
	u64 mask;
	const void __user *ring;
	u32 packets_mask;
};

/**
 * struct kfd_prio_snapshot - copy of the data that observing a process without the DQM lock needs
 * @nr: number of entries in @index
 * @packets: the packets decide whether work is in flight, because a count of waves does not show it
 * @index: the indices of each queue
 * @occupancy: buffer for kfd_prio_compat_count()
 * @counted: the last count of waves was not zero
 */
struct kfd_prio_snapshot {
	u32 nr;
	bool packets;
	struct kfd_prio_index index[KFD_PRIO_MAX_INDEX];
	u64 occupancy[DIV_ROUND_UP(KFD_PRIO_OCCUPANCY_SIZE, sizeof(u64))];
	bool counted;
};

/**
 * struct kfd_prio_seen - result of observing a process
 * @work: the read and write indices of a queue differ
 * @waves: the process has waves in flight
 * @runs: the packets show that a kernel runs, and that the next packet waits for it
 * @pending: the signal of the last launched packet is not complete; the process may use the signal
 *	for another purpose by now
 * @in_flight: value of @runs or @pending, also where waves are counted
 * @ended: the signal of the last launched packet of a queue is complete, and not @in_flight; an
 *	earlier packet may still run
 * @counted: waves were counted in this observation
 * @unreadable: the indices of a queue could not be read
 * @unused: no packet was ever launched from the queues
 * @rptr_sum: sum of the read indices
 * @wptr_sum: sum of the write indices
 */
struct kfd_prio_seen {
	bool work;
	bool waves;
	bool runs;
	bool pending;
	bool in_flight;
	bool ended;
	bool counted;
	bool unreadable;
	bool unused;
	u64 rptr_sum;
	u64 wptr_sum;
};

/**
 * enum kfd_prio_shown - work that the MQDs of a process show while it is off the GPU
 * @KFD_PRIO_SHOWN_NONE: no work
 * @KFD_PRIO_SHOWN_WORK: work
 * @KFD_PRIO_SHOWN_PART: no work so far; not all MQDs were read, because a kick or an unmap that is
 *	not confirmed comes first
 */
enum kfd_prio_shown {
	KFD_PRIO_SHOWN_NONE,
	KFD_PRIO_SHOWN_WORK,
	KFD_PRIO_SHOWN_PART,
};

#endif /* KFD_PRIO_OBSERVE_H_INCLUDED */
