// SPDX-License-Identifier: GPL-2.0
/* kfdprio -l: what the table does not show, a line each on standard error. */
#define _GNU_SOURCE
#include "message.h"
#include "notes.h"

/**
 * list_note_breakers() - a line for each GPU whose circuit breaker is open: the table has a line for each process
 * @entries: array of @nr
 * @nr: how many
 */
void list_note_breakers(const struct kfd_prio_list_entry *entries, size_t nr)
{
	size_t i, before;

	for (i = 0; i < nr; i++) {
		if (!(entries[i].flags & KFD_PRIO_LIST_PREEMPT_OFF))
			continue;
		for (before = 0; before < i; before++)
			if (entries[before].gpu_id == entries[i].gpu_id)
				break;
		if (before == i)
			warnx("GPU %u: preemption is off because its circuit breaker is open: run 'kfdprio doctor' for the reason",
			      entries[i].gpu_id);
	}
}

/**
 * list_note_orphans() - a line for each orphan
 * @entries: array of @nr
 * @nr: how many
 */
void list_note_orphans(const struct kfd_prio_list_entry *entries, size_t nr)
{
	size_t i, before;

	for (i = 0; i < nr; i++) {
		if (!(entries[i].flags & KFD_PRIO_LIST_ORPHAN))
			continue;
		for (before = 0; before < i && entries[before].serial != entries[i].serial; before++)
			;
		if (before < i)
			continue;
		if (!entries[i].nr_groups)
			warnx("PID %d: an orphan (serial %llu): its process has ended, and an open descriptor keeps its queues; it counts as the lowest unless a priority is set",
			      entries[i].pid, (unsigned long long)entries[i].serial);
		else
			warnx("PID %d: an orphan (serial %llu): the process that opened " KFDLIB_DEVICE " has ended or executes another program, and %u other%s its memory; it counts as the lowest unless a priority is set",
			      entries[i].pid, (unsigned long long)entries[i].serial, entries[i].nr_groups,
			      entries[i].nr_groups == 1 ? " has" : "s have");
	}
}
