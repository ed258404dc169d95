/* SPDX-License-Identifier: GPL-2.0 */
/* kfdprio -l: processes with DRM user queues, which have no row. */
#ifndef LIST_QUEUES_H
#define LIST_QUEUES_H

#include "user-queues.h"

/**
 * struct list_queues - which processes have DRM user queues
 * @found: of user_queues_read(); those of amdgpu with user queues
 * @ret: what it returned
 * @why: its reason
 */
struct list_queues {
	struct user_queues found;
	int ret;
	char why[KFDLIB_WHY];
};

void list_queues_read(struct list_queues *queues);
void list_queues_json(const struct list_queues *queues, const struct kfd_topology *topo);
void list_queues_note(const struct list_queues *queues);
void list_queues_free(struct list_queues *queues);

#endif /* LIST_QUEUES_H */
