/* SPDX-License-Identifier: GPL-2.0 */
/* How long queues waited because their processes were throttled, of "path". */
#ifndef KFDTRACE_WAITS_H
#define KFDTRACE_WAITS_H

#include "views/common/join.h"

/**
 * struct wait - how long the work of a step waited because its process was throttled
 * @known: the recording has it
 * @ns: of the time from the step until the queue was mapped, or until its end; 0 if it was mapped at the step
 * @longest_ns: of the longest throttling of this time, to which the following belong
 * @reason, @share, @cgroup_share: as in struct throttle
 * @done: the queue was mapped since (private)
 */
struct wait {
	bool known, done;
	uint64_t ns, longest_ns;
	int64_t reason, share, cgroup_share;
};

/**
 * struct waits - of all queues
 * @of: for each path and step; NULL if no process was throttled, or if that is not known
 * @none: what there is in that case
 */
struct waits {
	struct wait (*of)[NR_STEPS];
	struct wait none;
};

void waits_make(struct waits *waits, const struct view *view, const struct paths *paths);
const struct wait *waits_of(const struct waits *waits, size_t path, enum step step);
void waits_free(struct waits *waits);

#endif /* KFDTRACE_WAITS_H */
