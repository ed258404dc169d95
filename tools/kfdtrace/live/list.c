// SPDX-License-Identifier: GPL-2.0
/* What the driver lists. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live.h"

/**
 * live_oom() - there is no memory
 * @why: filled in; RECORD_WHY bytes
 *
 * Return: -ENOMEM.
 */
int live_oom(char *why)
{
	snprintf(why, RECORD_WHY, "out of memory");
	return -ENOMEM;
}

/**
 * live_list() - read the list of KFD processes from the driver
 * @live: with an open device; its list is renewed
 * @why: on failure, what is wrong; RECORD_WHY bytes
 *
 * Return: 0 or -errno.
 */
int live_list(struct live *live, char *why)
{
	struct kfd_prio_list_entry *list;
	size_t nr, i, kept = 0;
	int ret = live->stock ? live_stock_list(&list, &nr) : kfd_dev_list(&live->dev, &list, &nr);

	if (ret) {
		snprintf(why, RECORD_WHY, "cannot list the processes that use KFD: %s",
			 strerror(-ret));
		return ret;
	}
	/* an orphan once, not for each process that shares its memory */
	for (i = 0; i < nr; i++)
		if (!kfd_entry_again(list, i))
			list[kept++] = list[i];
	free(live->list);
	live->list = list;
	live->nr_list = kept;
	return 0;
}
