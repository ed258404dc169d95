/* SPDX-License-Identifier: GPL-2.0 */
/* Names of the trace events that contrib/rfc offers upstream: by them a driver with these events is recognised. */
#ifndef UPSTREAM_NAMES_H
#define UPSTREAM_NAMES_H

#define UPSTREAM_SYSTEM "amdkfd"
/* AMD's package has events of its own in that system, whose names begin with kfd_ */
#define UPSTREAM_PREFIX "amdkfd_"
/* All of them, as an argument of kfdtrace record --event */
#define UPSTREAM_EVENTS UPSTREAM_SYSTEM ":" UPSTREAM_PREFIX "*"
/* A driver with the series has this one, which its documentation calls stable */
#define UPSTREAM_EVENT "amdkfd_queue_create_start"

#endif /* UPSTREAM_NAMES_H */
