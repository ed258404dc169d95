// SPDX-License-Identifier: GPL-2.0 OR MIT
/* kfdprio: the trace events of kfd_prio_events.h, made here and nowhere else. */
#include "kfd_prio_priv.h"

#define CREATE_TRACE_POINTS
#include "kfd_prio_events.h"
