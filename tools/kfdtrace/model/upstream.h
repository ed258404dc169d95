/* SPDX-License-Identifier: GPL-2.0 */
/* Events of the system "amdkfd", of a driver with the series that contrib/rfc offers upstream, as those of kfdprio. */
#ifndef KFDTRACE_UPSTREAM_H
#define KFDTRACE_UPSTREAM_H

#include "events.h"
#include "upstream-names.h"

/**
 * struct upstream_field - a field of an event
 * @field: which of ours it is
 * @name: its name there
 */
struct upstream_field {
	int8_t field;
	const char *name;
};

/**
 * struct upstream_event - an event of the series, and which of ours it is
 * @name: its name
 * @type: ours
 * @fields: a @name of NULL ends the list
 */
struct upstream_event {
	const char *name;
	enum kfd_event_type type;
	struct upstream_field fields[14];
};

extern const struct upstream_event upstream_events[NR_UPSTREAM_EVENTS];

bool upstream_finish(unsigned int n, struct kfd_event *event);

#endif /* KFDTRACE_UPSTREAM_H */
