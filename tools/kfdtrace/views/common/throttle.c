// SPDX-License-Identifier: GPL-2.0
/* Why a process was throttled, as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "json-out.h"
#include "model/events.h"
#include "throttle.h"

/**
 * throttle_text() - why a process was throttled, in words
 * @reason: enum kfd_prio_throttle, or a number that has no name; -1: not known
 * @share: number of the group that the process was put in or has inherited; 0: none, -1: not known
 * @cgroup_share: number of the group of its cgroup; 0: none, -1: not known
 * @text: out: a predicate whose subject is the process; THROTTLE_TEXT bytes
 *
 * The event does not have which of two groups has the limit.
 */
void throttle_text(int64_t reason, int64_t share, int64_t cgroup_share, char *text)
{
	char number[KFD_REASON_TEXT];
	const char *name = kfd_throttle_text(reason, number);

	if (!name)
		snprintf(text, THROTTLE_TEXT, "was throttled for a reason that is not known");
	else if (reason == KFD_PRIO_THROTTLE_WEIGHT)
		snprintf(text, THROTTLE_TEXT, "waited for the turn of another group");
	else if (reason != KFD_PRIO_THROTTLE_MAX)
		snprintf(text, THROTTLE_TEXT, "was throttled for the reason %s", name);
	else if (share > 0 && cgroup_share > 0)
		snprintf(text, THROTTLE_TEXT, "was throttled by the limit of group %" PRId64 " or %" PRId64, share,
			 cgroup_share);
	else if (share > 0 || cgroup_share > 0)
		snprintf(text, THROTTLE_TEXT, "was throttled by the limit of group %" PRId64,
			 share > 0 ? share : cgroup_share);
	else
		snprintf(text, THROTTLE_TEXT, "was throttled by the limit of its group");
}

/**
 * throttle_json() - members "throttle_reason", "share" and "cgroup_share" of an object
 * @reason: as of throttle_text()
 * @share: likewise
 * @cgroup_share: likewise
 */
void throttle_json(int64_t reason, int64_t share, int64_t cgroup_share)
{
	char number[KFD_REASON_TEXT];

	json_text("throttle_reason", kfd_throttle_text(reason, number));
	json_known_number("share", share > 0, share);
	json_known_number("cgroup_share", cgroup_share > 0, cgroup_share);
}
