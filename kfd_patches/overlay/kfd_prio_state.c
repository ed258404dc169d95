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

#define S(state)		KFD_PRIO_STATE_##state
#define E(event)		KFD_PRIO_EVENT_##event
#define T(to, acts)		{ .expected = true, .next = S(to), .act = (acts) }

#define MARK			KFD_PRIO_ACT_MARK
#define AGAIN			KFD_PRIO_ACT_AGAIN
#define RECALL			KFD_PRIO_ACT_RECALL
#define BACK			KFD_PRIO_ACT_BACK
#define RETRY			KFD_PRIO_ACT_RETRY
#define AT_ONCE			KFD_PRIO_ACT_AT_ONCE

static const struct kfd_prio_transition table[KFD_PRIO_STATES][KFD_PRIO_EVENTS] = {
	[S(OFF)] = {
		[E(START)] = T(COMMITTED, 0),
	},
	[S(COMMITTED)] = {
		[E(BORN)] = T(COMMITTED, 0),
		[E(GONE)] = T(COMMITTED, 0),
		[E(STOP)] = T(OFF, 0),
		[E(CHOOSE)] = T(CHOSEN, 0),
		[E(MARK)] = T(MARKED, MARK),
		[E(SENT)] = T(KFD_UNMAPPING, 0),
		[E(REFUSED)] = T(COMMITTED, 0),
		[E(PREPARE)] = T(MAPPING, MARK),
		[E(DONE)] = T(COMMITTED, 0),
		[E(HANG)] = T(COMMITTED, 0),
	},
	[S(CHOSEN)] = {
		[E(SENT)] = T(UNMAPPING, MARK),
		[E(REFUSED)] = T(CHOSEN, 0),
		/* No queue was mapped, so that KFD has sent no unmap */
		[E(PREPARE)] = T(MAPPING, MARK),
		[E(FAILED)] = T(ROLLED_BACK, RETRY),
	},
	[S(MARKED)] = {
		[E(KEEP)] = T(COMMITTED, 0),
		[E(SENT)] = T(UNMAPPING, 0),
		[E(REFUSED)] = T(MARKED, 0),
		[E(REMOVED)] = T(MAPPING, 0),
		[E(NOT_REMOVED)] = T(MAPPING, BACK),
		[E(PREPARE)] = T(MAPPING, AGAIN),
		[E(FAILED)] = T(ROLLED_BACK, BACK | RETRY),
		[E(HANG)] = T(MARKED, 0),
	},
	[S(UNMAPPING)] = {
		[E(CONFIRMED)] = T(CONFIRMED, 0),
		[E(TIMED_OUT)] = T(LOST, 0),
		[E(LEAVE)] = T(LEFT, 0),
	},
	[S(KFD_UNMAPPING)] = {
		[E(CONFIRMED)] = T(UNMAPPED, 0),
		[E(TIMED_OUT)] = T(ROLLED_BACK, RETRY),
	},
	[S(CONFIRMED)] = {
		[E(PREPARE)] = T(MAPPING, AGAIN),
		/* KFD found that the firmware had given the unmap up */
		[E(FAILED)] = T(ROLLED_BACK, RECALL | BACK | RETRY),
		[E(HANG)] = T(CONFIRMED, 0),
	},
	[S(UNMAPPED)] = {
		[E(BORN)] = T(UNMAPPED, 0),
		[E(GONE)] = T(UNMAPPED, 0),
		[E(STOP)] = T(OFF, 0),
		[E(MARK)] = T(MARKED, MARK),
		/* A fault had left the unmap before this one */
		[E(SENT)] = T(KFD_UNMAPPING, 0),
		[E(REFUSED)] = T(UNMAPPED, 0),
		[E(PREPARE)] = T(MAPPING, MARK),
		/* KFD found that the firmware had given the unmap up */
		[E(HANG)] = T(ROLLED_BACK, RETRY),
	},
	[S(MAPPING)] = {
		/* The ring has woken the thread */
		[E(INTERRUPTED)] = T(ROLLED_BACK, 0),
		[E(EMPTY)] = T(COMMITTED, 0),
		[E(MAPPED)] = T(COMMITTED, 0),
		[E(NOT_MAPPED)] = T(ROLLED_BACK, RETRY),
		[E(DONE)] = T(COMMITTED, 0),
		[E(FAILED)] = T(ROLLED_BACK, RETRY),
		[E(HANG)] = T(MAPPING, 0),
	},
	[S(LEFT)] = {
		[E(BORN)] = T(LEFT, 0),
		[E(GONE)] = T(LEFT, 0),
		[E(STOP)] = T(OFF, 0),
		[E(SETTLED)] = T(UNMAPPED, 0),
		[E(EXPIRED)] = T(LOST, 0),
		/* No queue is mapped, and KFD maps its queues when the reset is over */
		[E(RESET)] = T(COMMITTED, 0),
		[E(FAILED)] = T(LEFT, BACK | AT_ONCE),
	},
	[S(LOST)] = {
		[E(SENT)] = T(LOST, 0),
		[E(REFUSED)] = T(ROLLED_BACK, RETRY),
		[E(TIMED_OUT)] = T(ROLLED_BACK, RETRY),
		[E(FAILED)] = T(ROLLED_BACK, BACK | RETRY),
		[E(HANG)] = T(LOST, 0),
	},
	[S(ROLLED_BACK)] = {
		[E(BORN)] = T(ROLLED_BACK, 0),
		[E(GONE)] = T(ROLLED_BACK, 0),
		[E(STOP)] = T(OFF, 0),
		[E(MARK)] = T(MARKED, MARK),
		[E(SENT)] = T(KFD_UNMAPPING, 0),
		[E(REFUSED)] = T(ROLLED_BACK, 0),
		[E(PREPARE)] = T(MAPPING, MARK),
		/* The runlist of the step could not be sent, which has arranged the retry */
		[E(FAILED)] = T(ROLLED_BACK, 0),
		[E(HANG)] = T(ROLLED_BACK, 0),
	},
};

static const char * const states[KFD_PRIO_STATES] = {
	[S(OFF)] = "OFF",
	[S(COMMITTED)] = "COMMITTED",
	[S(CHOSEN)] = "CHOSEN",
	[S(MARKED)] = "MARKED",
	[S(UNMAPPING)] = "UNMAPPING",
	[S(KFD_UNMAPPING)] = "KFD_UNMAPPING",
	[S(CONFIRMED)] = "CONFIRMED",
	[S(UNMAPPED)] = "UNMAPPED",
	[S(MAPPING)] = "MAPPING",
	[S(LEFT)] = "LEFT",
	[S(LOST)] = "LOST",
	[S(ROLLED_BACK)] = "ROLLED_BACK",
};

static const char * const events[KFD_PRIO_EVENTS] = {
	[E(START)] = "START",
	[E(STOP)] = "STOP",
	[E(CHOOSE)] = "CHOOSE",
	[E(MARK)] = "MARK",
	[E(KEEP)] = "KEEP",
	[E(SENT)] = "SENT",
	[E(REFUSED)] = "REFUSED",
	[E(CONFIRMED)] = "CONFIRMED",
	[E(TIMED_OUT)] = "TIMED_OUT",
	[E(HANG)] = "HANG",
	[E(LEAVE)] = "LEAVE",
	[E(SETTLED)] = "SETTLED",
	[E(EXPIRED)] = "EXPIRED",
	[E(RESET)] = "RESET",
	[E(REMOVED)] = "REMOVED",
	[E(NOT_REMOVED)] = "NOT_REMOVED",
	[E(INTERRUPTED)] = "INTERRUPTED",
	[E(PREPARE)] = "PREPARE",
	[E(EMPTY)] = "EMPTY",
	[E(MAPPED)] = "MAPPED",
	[E(NOT_MAPPED)] = "NOT_MAPPED",
	[E(DONE)] = "DONE",
	[E(FAILED)] = "FAILED",
	[E(BORN)] = "BORN",
	[E(GONE)] = "GONE",
};

/**
 * kfd_prio_state_next() - the next state of a GPU
 * @state: the present state
 * @ev: the event
 *
 * The function only reads the table: the caller stores the next state and carries out the actions.
 * In OFF every event but START is expected and changes nothing.
 *
 * Return: the transition. For an event that @state does not expect, @expected is false, @next is
 *	ROLLED_BACK, and @act has KFD_PRIO_ACT_BACK and KFD_PRIO_ACT_AT_ONCE: the state does not
 *	describe the hardware any more, so the caller rolls back and decides again
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
