/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: the states of the update of a GPU, and the table of their transitions. Pure: no lock, no
 * clock, no kernel function, so that user space can compile it, and tests/unit/state tests it.
 *
 * Preemption changes two things that must agree: the marks of the processes on a GPU
 * (kfd_prio_qpd.preempted, queue_properties.is_active), by which KFD acts, and the queues that the
 * hardware has. The state describes how far both agree. Each hook in the path of an unmap or a
 * runlist is an event, and so is each action of a step (kfd_prio_engine_step()).
 * kfd_prio_engine_event() is the only caller of kfd_prio_state_next().
 *
 * Context of all of it in the kernel: DQM lock.
 */
#ifndef KFD_PRIO_STATE_H_INCLUDED
#define KFD_PRIO_STATE_H_INCLUDED

#include <linux/types.h>
#ifndef __KERNEL__
#include <stdbool.h>
#endif

/**
 * enum kfd_prio_state - how far the hardware of a GPU agrees with the marks of its processes
 * @KFD_PRIO_STATE_OFF: the GPU has no thread: kfdprio marks nothing
 * @KFD_PRIO_STATE_COMMITTED: the hardware has the queues that are marked as on, and no others
 * @KFD_PRIO_STATE_CHOSEN: HWS: a step has decided to take processes off, has marked none, and sends
 *	its unmap
 * @KFD_PRIO_STATE_MARKED: a step has marked processes; the hardware was not asked yet
 * @KFD_PRIO_STATE_UNMAPPING: HWS: the unmap of a step was sent, and processes are marked
 * @KFD_PRIO_STATE_KFD_UNMAPPING: HWS: an unmap of KFD was sent; no process is marked for it
 * @KFD_PRIO_STATE_CONFIRMED: HWS has confirmed the unmap of a step: no queue is mapped
 * @KFD_PRIO_STATE_UNMAPPED: HWS has confirmed another unmap: no queue is mapped. A runlist is due
 * @KFD_PRIO_STATE_MAPPING: processes are marked as the next runlist has them; MES: all removals are
 *	confirmed, and queues are being added
 * @KFD_PRIO_STATE_LEFT: HWS: the fault of a doorbell did not wait for the end of its unmap. No
 *	process is marked for it any more
 * @KFD_PRIO_STATE_LOST: HWS did not confirm an unmap in time
 * @KFD_PRIO_STATE_ROLLED_BACK: an update has failed, and each process whose unmap was not confirmed
 *	is marked as on; or a ring has interrupted the update. It is to be tried again
 *
 * While the DQM lock is free the state is OFF, COMMITTED, UNMAPPED, LEFT or ROLLED_BACK. In each of
 * these the hardware has no queue that is marked as off.
 */
enum kfd_prio_state {
	KFD_PRIO_STATE_OFF,
	KFD_PRIO_STATE_COMMITTED,
	KFD_PRIO_STATE_CHOSEN,
	KFD_PRIO_STATE_MARKED,
	KFD_PRIO_STATE_UNMAPPING,
	KFD_PRIO_STATE_KFD_UNMAPPING,
	KFD_PRIO_STATE_CONFIRMED,
	KFD_PRIO_STATE_UNMAPPED,
	KFD_PRIO_STATE_MAPPING,
	KFD_PRIO_STATE_LEFT,
	KFD_PRIO_STATE_LOST,
	KFD_PRIO_STATE_ROLLED_BACK,
};

#define KFD_PRIO_STATES		(KFD_PRIO_STATE_ROLLED_BACK + 1)

/**
 * enum kfd_prio_event - what changes the state of a GPU
 * @KFD_PRIO_EVENT_START: the GPU gets its thread
 * @KFD_PRIO_EVENT_STOP: the GPU is removed
 * @KFD_PRIO_EVENT_CHOOSE: a step sends its unmap, and marks while the GPU saves waves
 * @KFD_PRIO_EVENT_MARK: a step marks, and sends the update after that
 * @KFD_PRIO_EVENT_KEEP: the marks of the step need no update
 * @KFD_PRIO_EVENT_SENT: an unmap of all queues was sent to HWS
 * @KFD_PRIO_EVENT_REFUSED: an unmap could not be sent
 * @KFD_PRIO_EVENT_CONFIRMED: HWS has written the fence of the unmap
 * @KFD_PRIO_EVENT_TIMED_OUT: HWS has not written the fence of the unmap in time
 * @KFD_PRIO_EVENT_HANG: KFD takes the scheduler to hang, and asks for a reset
 * @KFD_PRIO_EVENT_LEAVE: the fault of a doorbell does not wait any longer for its unmap
 * @KFD_PRIO_EVENT_SETTLED: HWS has confirmed the unmap that a fault has left
 * @KFD_PRIO_EVENT_EXPIRED: HWS has not confirmed that unmap in time
 * @KFD_PRIO_EVENT_RESET: a reset of the GPU has ended the unmap that a fault has left
 * @KFD_PRIO_EVENT_REMOVED: MES has removed each queue that is marked as off
 * @KFD_PRIO_EVENT_NOT_REMOVED: MES has refused to remove such a queue, or does not answer
 * @KFD_PRIO_EVENT_INTERRUPTED: MES was not asked to add all queues, because a process has rung
 * @KFD_PRIO_EVENT_PREPARE: KFD is about to send a runlist, for itself or for a step
 * @KFD_PRIO_EVENT_EMPTY: no queue is marked as on, so that KFD sends no runlist
 * @KFD_PRIO_EVENT_MAPPED: the runlist was sent
 * @KFD_PRIO_EVENT_NOT_MAPPED: the runlist could not be sent: no queue is mapped
 * @KFD_PRIO_EVENT_DONE: the update of a step has ended without an error
 * @KFD_PRIO_EVENT_FAILED: the update of a step has ended with an error
 * @KFD_PRIO_EVENT_BORN: the first queue of a process is created while a level keeps the process off
 * @KFD_PRIO_EVENT_GONE: a process that is marked as off leaves the GPU
 */
enum kfd_prio_event {
	KFD_PRIO_EVENT_START,
	KFD_PRIO_EVENT_STOP,
	KFD_PRIO_EVENT_CHOOSE,
	KFD_PRIO_EVENT_MARK,
	KFD_PRIO_EVENT_KEEP,
	KFD_PRIO_EVENT_SENT,
	KFD_PRIO_EVENT_REFUSED,
	KFD_PRIO_EVENT_CONFIRMED,
	KFD_PRIO_EVENT_TIMED_OUT,
	KFD_PRIO_EVENT_HANG,
	KFD_PRIO_EVENT_LEAVE,
	KFD_PRIO_EVENT_SETTLED,
	KFD_PRIO_EVENT_EXPIRED,
	KFD_PRIO_EVENT_RESET,
	KFD_PRIO_EVENT_REMOVED,
	KFD_PRIO_EVENT_NOT_REMOVED,
	KFD_PRIO_EVENT_INTERRUPTED,
	KFD_PRIO_EVENT_PREPARE,
	KFD_PRIO_EVENT_EMPTY,
	KFD_PRIO_EVENT_MAPPED,
	KFD_PRIO_EVENT_NOT_MAPPED,
	KFD_PRIO_EVENT_DONE,
	KFD_PRIO_EVENT_FAILED,
	KFD_PRIO_EVENT_BORN,
	KFD_PRIO_EVENT_GONE,
};

#define KFD_PRIO_EVENTS		(KFD_PRIO_EVENT_GONE + 1)

/**
 * DOC: Actions of a transition
 *
 * KFD_PRIO_ACT_MARK
 *	mark the processes by a new decision
 * KFD_PRIO_ACT_AGAIN
 *	the same, if a process has rung since the step has marked, or no ring waits for the step
 * KFD_PRIO_ACT_RECALL
 *	the last unmap counts as not confirmed, although HWS has written its fence: KFD has found
 *	that the firmware gave the unmap up
 * KFD_PRIO_ACT_BACK
 *	roll back: mark as on each process whose unmap is not confirmed
 * KFD_PRIO_ACT_RETRY
 *	have the thread try again after KFD_PRIO_RETRY_NS
 * KFD_PRIO_ACT_AT_ONCE
 *	have the thread try again as soon as the DQM lock is free
 */
#define KFD_PRIO_ACT_MARK	0x01
#define KFD_PRIO_ACT_AGAIN	0x02
#define KFD_PRIO_ACT_RECALL	0x04
#define KFD_PRIO_ACT_BACK	0x08
#define KFD_PRIO_ACT_RETRY	0x10
#define KFD_PRIO_ACT_AT_ONCE	0x20

/**
 * struct kfd_prio_transition - an entry of the table
 * @expected: the event can come in the state; false in all entries that the table does not name
 * @next: the next state
 * @act: KFD_PRIO_ACT_*
 */
struct kfd_prio_transition {
	bool expected;
	__u8 next;
	__u8 act;
};

struct kfd_prio_transition kfd_prio_state_next(enum kfd_prio_state state, enum kfd_prio_event ev);
const char *kfd_prio_state_name(enum kfd_prio_state state);
const char *kfd_prio_event_name(enum kfd_prio_event ev);

/**
 * kfd_prio_state_owes() - whether an update of the hardware is due, whatever the next decision is
 * @state: the state
 */
static inline bool kfd_prio_state_owes(enum kfd_prio_state state)
{
	return state == KFD_PRIO_STATE_UNMAPPED || state == KFD_PRIO_STATE_LEFT ||
	       state == KFD_PRIO_STATE_ROLLED_BACK;
}

#endif /* KFD_PRIO_STATE_H_INCLUDED */
