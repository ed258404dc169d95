/* SPDX-License-Identifier: GPL-2.0 */
/* kfdprio -l: what the table does not show. */
#ifndef LIST_NOTES_H
#define LIST_NOTES_H

#include "kfdlib.h"

void list_note_breakers(const struct kfd_prio_list_entry *entries, size_t nr);
void list_note_orphans(const struct kfd_prio_list_entry *entries, size_t nr);

#endif /* LIST_NOTES_H */
