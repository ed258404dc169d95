// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the packets of an AQL queue, which show whether work that was launched still runs.
 *
 * Hardware advances the read index when it launches a packet, and leaves the packet in the ring,
 * but for its header. Two packets show whether a kernel still runs, also on a GPU that cannot count
 * waves:
 * - the last launched packet names a signal, whose value is above 0 until the packet is complete;
 * - the next packet, if it is a dispatch, waits only for packets before it.
 *
 * A packet without a signal shows nothing. Packets and signals are in memory of the process, as the
 * indices are. They are read without faulting pages in, and they decide only about that process:
 * whether its claim holds, and whether it may be parked.
 *
 * Formats: HSA Platform System Architecture Specification 1.2, 2.9 (packets); amd_hsa_signal.h of
 * ROCr (amd_signal_t).
 */
#include <linux/uaccess.h>
#include "kfd_prio_priv.h"

/* hsa_packet_type_t, the low byte of the header */
#define AQL_DISPATCH		2
#define AQL_BARRIER_AND		3
#define AQL_BARRIER_OR		5

/*
 * Bytes: size of a packet; offsets of a barrier's dependencies and of the completion signal in it;
 * offset of a signal's value
 */
#define AQL_SIZE		64
#define AQL_DEPENDENCIES	8
#define AQL_SIGNAL		56
#define SIGNAL_VALUE		8

/* Number of signal handles in a barrier packet */
#define AQL_DEPENDENCY_COUNT	5

enum signal { SIGNAL_UNKNOWN, SIGNAL_PENDING, SIGNAL_DONE };

/*
 * Reads the signal whose handle is at a user address. SIGNAL_UNKNOWN: the packet names no signal,
 * or the handle or the value cannot be read
 */
static enum signal signal_of(const void __user *at)
{
	u64 handle;
	s64 value;

	if (copy_from_user_nofault(&handle, at, sizeof(handle)) || !handle ||
	    copy_from_user_nofault(&value, (const void __user *)(uintptr_t)handle + SIGNAL_VALUE,
				   sizeof(value)))
		return SIGNAL_UNKNOWN;
	return value > 0 ? SIGNAL_PENDING : SIGNAL_DONE;
}

/*
 * Whether a packet that was not launched waits only for packets before it: any dispatch, a
 * barrier-AND packet if all signals that it names are done, a barrier-OR packet if one of them is
 * or it names none
 */
static bool waits_for_others(const void __user *packet)
{
	int i, named = 0, done = 0;
	enum signal dep;
	u64 handle;
	u16 header;

	if (copy_from_user_nofault(&header, packet, sizeof(header)))
		return false;
	switch (header & 0xff) {
	case AQL_DISPATCH:
		return true;
	case AQL_BARRIER_AND:
	case AQL_BARRIER_OR:
		break;
	default:	/* not written yet, or a packet type of AMD, which may wait for a value */
		return false;
	}
	for (i = 0; i < AQL_DEPENDENCY_COUNT; i++) {
		const void __user *at = packet + AQL_DEPENDENCIES + i * sizeof(handle);

		if (copy_from_user_nofault(&handle, at, sizeof(handle)))
			return false;
		if (!handle)
			continue;
		dep = signal_of(at);
		named++;
		done += dep == SIGNAL_DONE;
	}
	return (header & 0xff) == AQL_BARRIER_OR ? !named || done : done == named;
}

/**
 * kfd_prio_aql_read() - read the packets of an AQL queue
 * @x: the queue
 * @r: its read index
 * @w: its write index
 * @seen: in and out: the queue sets one of @runs, @pending and @ended, or none
 *
 * Context: kernel thread that uses the mm of the process
 */
void kfd_prio_aql_read(const struct kfd_prio_index *x, u64 r, u64 w, struct kfd_prio_seen *seen)
{
	enum signal last;

	/* No packets to be read, or no packet was launched */
	if (!x->ring || !r)
		return;
	last = signal_of(x->ring + ((r - 1) & x->packets_mask) * AQL_SIZE + AQL_SIGNAL);
	if (last == SIGNAL_DONE) {
		seen->ended = true;
		return;
	}
	if (r != w && waits_for_others(x->ring + (r & x->packets_mask) * AQL_SIZE))
		seen->runs = true;
	else if (last == SIGNAL_PENDING)
		seen->pending = true;
}
