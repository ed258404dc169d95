// SPDX-License-Identifier: GPL-2.0
/* kfdprio doctor: groups whose limit or weight is not enforced on a GPU */
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "share.h"

#define NAMED 8 /* groups that the finding names */

/**
 * doctor_groups() - is the limit, or the weight, of each group enforced?
 * @d: the examination; the driver is known
 */
void doctor_groups(struct doctor *d)
{
	struct kfd_prio_share_entry *entries;
	char names[NAMED * 24] = "";
	size_t nr, i, bad = 0, len = 0;

	if (d->dev.fd < 0 || !kfd_dev_has_shares(&d->dev, NULL) || kfd_dev_shares(&d->dev, &entries, &nr))
		return;
	for (i = 0; i < nr; i++) {
		if (!share_entry_unenforced(&entries[i]))
			continue;
		if (bad++ < NAMED)
			len += snprintf(names + len, sizeof(names) - len, "%s%llu", len ? ", " : "",
					(unsigned long long)entries[i].group);
	}
	free(entries);
	if (bad)
		doctor_say(d, FINDING_WARN, "groups",
			   "kfd_preempt=0, cwsr_enable=0, sched_policy=2 and an open circuit breaker do that: see the findings on these, and kfd/preempt in debugfs",
			   "%zu of %zu groups have their limit or weight not enforced on a GPU: group%s %s%s", bad, nr,
			   bad == 1 ? "" : "s", names, bad > NAMED ? " and others" : "");
}
