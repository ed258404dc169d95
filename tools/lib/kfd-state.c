// SPDX-License-Identifier: GPL-2.0
/* The state of a process on a GPU. */
#include "kfdlib.h"

/**
 * kfd_state() - what a process is on a GPU
 * @entry: what the driver lists
 *
 * Return: what the driver does with it; else what its queues are.
 */
enum kfd_state kfd_state(const struct kfd_prio_list_entry *entry)
{
	if (entry->flags & KFD_PRIO_LIST_EVICTED)
		return KFD_STATE_EVICTED;
	if (entry->flags & KFD_PRIO_LIST_THROTTLED)
		return KFD_STATE_THROTTLED;
	if (entry->flags & KFD_PRIO_LIST_PREEMPTED)
		return KFD_STATE_PREEMPTED;
	if (entry->flags & KFD_PRIO_LIST_PARKED)
		return KFD_STATE_PARKED;
	if (entry->flags & KFD_PRIO_LIST_PREEMPTING)
		return KFD_STATE_PREEMPTING;
	if (entry->nr_active)
		return KFD_STATE_ACTIVE;
	return entry->nr_queues ? KFD_STATE_INACTIVE : KFD_STATE_NONE;
}

/**
 * kfd_state_name() - its word
 * @state: the state
 *
 * Return: the word; NULL for KFD_STATE_NONE.
 */
const char *kfd_state_name(enum kfd_state state)
{
	static const char *const names[] = {
		[KFD_STATE_INACTIVE] = "inactive",     [KFD_STATE_ACTIVE] = "active",
		[KFD_STATE_PREEMPTING] = "preempting", [KFD_STATE_PREEMPTED] = "preempted",
		[KFD_STATE_PARKED] = "parked",	       [KFD_STATE_THROTTLED] = "throttled",
		[KFD_STATE_EVICTED] = "evicted",       [KFD_STATE_ENDED] = "ended",
	};

	return names[state];
}
