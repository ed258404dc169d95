// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "kfd_priv.h"

#define CREATE_TRACE_POINTS
#include "kfd_queue_trace.h"
