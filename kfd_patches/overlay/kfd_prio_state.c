// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the table of the transitions, see kfd_prio_state.h. The diagram in
 * Documentation/design.rst is made from it.
 *
 * Two orders lead from COMMITTED to COMMITTED. With HWS, a step that takes work off sends its unmap
 * first and marks while the GPU saves (CHOSEN, UNMAPPING, CONFIRMED, MAPPING). Any other step marks
 * first (MARKED); with MES it then removes queues, and adds others (MAPPING). An operation of KFD
 * that updates the runlist goes through KFD_UNMAPPING, UNMAPPED and MAPPING, so that its runlist
 * preempts and restores as well.
 */
#include "kfd_prio_state.h"
#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/kernel.h>
#endif

#define S(state)		KFD_PRIO_STATE_##state
#define T(event, to, acts)	[KFD_PRIO_EVENT_##event] = { true, S(to), acts }

/* A process that is born or goes changes its own marks alone, and no state */
#define PROCESSES(state)	T(BORN, state, 0), T(GONE, state, 0)

#define MARK			KFD_PRIO_ACT_MARK
#define AGAIN			KFD_PRIO_ACT_AGAIN
#define RECALL			KFD_PRIO_ACT_RECALL
#define BACK			KFD_PRIO_ACT_BACK
#define RETRY			KFD_PRIO_ACT_RETRY
#define AT_ONCE			KFD_PRIO_ACT_AT_ONCE

static const struct kfd_prio_transition table[KFD_PRIO_STATES][KFD_PRIO_EVENTS] = {
	[S(OFF)] = {
		T(START, COMMITTED, 0),
	},
	[S(COMMITTED)] = {
		PROCESSES(COMMITTED),
		T(STOP, OFF, 0),
		T(CHOOSE, CHOSEN, 0),
		T(MARK, MARKED, MARK),
		T(SENT, KFD_UNMAPPING, 0),
		T(REFUSED, COMMITTED, 0),
		T(PREPARE, MAPPING, MARK),
		T(DONE, COMMITTED, 0),
		T(HANG, COMMITTED, 0),
	},
	[S(CHOSEN)] = {
		T(SENT, UNMAPPING, MARK),
		T(REFUSED, CHOSEN, 0),
		/* No queue was mapped, so that KFD has sent no unmap */
		T(PREPARE, MAPPING, MARK),
		T(FAILED, ROLLED_BACK, RETRY),
	},
	[S(MARKED)] = {
		T(KEEP, COMMITTED, 0),
		T(SENT, UNMAPPING, 0),
		T(REFUSED, MARKED, 0),
		T(REMOVED, MAPPING, 0),
		T(NOT_REMOVED, MAPPING, BACK),
		T(PREPARE, MAPPING, AGAIN),
		T(FAILED, ROLLED_BACK, BACK | RETRY),
		T(HANG, MARKED, 0),
	},
	[S(UNMAPPING)] = {
		T(CONFIRMED, CONFIRMED, 0),
		T(TIMED_OUT, LOST, 0),
		T(LEAVE, LEFT, 0),
	},
	[S(KFD_UNMAPPING)] = {
		T(CONFIRMED, UNMAPPED, 0),
		T(TIMED_OUT, ROLLED_BACK, RETRY),
	},
	[S(CONFIRMED)] = {
		T(PREPARE, MAPPING, AGAIN),
		/* KFD found that the firmware had given the unmap up */
		T(FAILED, ROLLED_BACK, RECALL | BACK | RETRY),
		T(HANG, CONFIRMED, 0),
	},
	[S(UNMAPPED)] = {
		PROCESSES(UNMAPPED),
		T(STOP, OFF, 0),
		T(MARK, MARKED, MARK),
		/* A fault had left the unmap before this one */
		T(SENT, KFD_UNMAPPING, 0),
		T(REFUSED, UNMAPPED, 0),
		T(PREPARE, MAPPING, MARK),
		/* KFD found that the firmware had given the unmap up */
		T(HANG, ROLLED_BACK, RETRY),
	},
	[S(MAPPING)] = {
		/* The ring has woken the thread */
		T(INTERRUPTED, ROLLED_BACK, 0),
		T(EMPTY, COMMITTED, 0),
		T(MAPPED, COMMITTED, 0),
		T(NOT_MAPPED, ROLLED_BACK, RETRY),
		T(DONE, COMMITTED, 0),
		T(FAILED, ROLLED_BACK, RETRY),
		T(HANG, MAPPING, 0),
	},
	[S(LEFT)] = {
		PROCESSES(LEFT),
		T(STOP, OFF, 0),
		T(SETTLED, UNMAPPED, 0),
		T(EXPIRED, LOST, 0),
		/* No queue is mapped, and KFD maps its queues when the reset is over */
		T(RESET, COMMITTED, 0),
		T(FAILED, LEFT, BACK | AT_ONCE),
	},
	[S(LOST)] = {
		T(SENT, LOST, 0),
		T(REFUSED, ROLLED_BACK, RETRY),
		T(TIMED_OUT, ROLLED_BACK, RETRY),
		T(FAILED, ROLLED_BACK, BACK | RETRY),
		T(HANG, LOST, 0),
	},
	[S(ROLLED_BACK)] = {
		PROCESSES(ROLLED_BACK),
		T(STOP, OFF, 0),
		T(MARK, MARKED, MARK),
		T(SENT, KFD_UNMAPPING, 0),
		T(REFUSED, ROLLED_BACK, 0),
		T(PREPARE, MAPPING, MARK),
		T(FAILED, ROLLED_BACK, 0),
		T(HANG, ROLLED_BACK, 0),
	},
};

static const char * const states[KFD_PRIO_STATES] = {
	"OFF", "COMMITTED", "CHOSEN", "MARKED", "UNMAPPING", "KFD_UNMAPPING", "CONFIRMED",
	"UNMAPPED", "MAPPING", "LEFT", "LOST", "ROLLED_BACK",
};

static const char * const events[KFD_PRIO_EVENTS] = {
	"START", "STOP", "CHOOSE", "MARK", "KEEP", "SENT", "REFUSED", "CONFIRMED", "TIMED_OUT",
	"HANG", "LEAVE", "SETTLED", "EXPIRED", "RESET", "REMOVED", "NOT_REMOVED", "INTERRUPTED", "PREPARE",
	"EMPTY", "MAPPED", "NOT_MAPPED", "DONE", "FAILED", "BORN", "GONE",
};

/**
 * kfd_prio_state_next() - the next state of a GPU
 * @state: the present state
 * @ev: the event
 *
 * In OFF every event but START changes nothing.
 *
 * Return: the transition. If it is not expected, the caller rolls back what is not confirmed and
 *	decides again, because the state does not describe the hardware any more
 */
struct kfd_prio_transition kfd_prio_state_next(enum kfd_prio_state state, enum kfd_prio_event ev)
{
	if (state == S(OFF) && ev != KFD_PRIO_EVENT_START)
		return (struct kfd_prio_transition) { true, S(OFF), 0 };
	if (!table[state][ev].expected)
		return (struct kfd_prio_transition) { false, S(ROLLED_BACK), BACK | AT_ONCE };
	return table[state][ev];
}

/**
 * kfd_prio_state_name() - the name of a state, for messages
 * @state: the state
 */
const char *kfd_prio_state_name(enum kfd_prio_state state)
{
	return states[state];
}

/**
 * kfd_prio_event_name() - the name of an event, for messages
 * @ev: the event
 */
const char *kfd_prio_event_name(enum kfd_prio_event ev)
{
	return events[ev];
}
