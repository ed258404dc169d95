/* SPDX-License-Identifier: GPL-2.0 */
/* An actor as a debugger, of itself or of another process */
#ifndef KFDPRIO_TESTS_DEBUGGER_H
#define KFDPRIO_TESTS_DEBUGGER_H

#include <stdbool.h>
#include "dbgtrap.h"

struct actor;

/* ---- what an actor does ---- */

/* AMDKFD_IOC_DBG_TRAP on the process that act_trace() has named, or on itself */
long debug_trap(enum dbgtrap_op op, struct dbgtrap *t);
/* Opens /dev/kfd and nothing else */
long act_open_kfd(long unused, long unused2);
long act_attach(long unused, long unused2);
long act_detach(long unused, long unused2);
/* Be the tracer of a process, without which KFD lets nobody debug it */
long act_trace(long pid, long unused);
/* The runtime of a process says that it can be debugged, before it has queues; -ENOTTY without DBG_TRAP */
long act_runtime(long unused, long unused2);
/* Of a debuggee(): suspend or resume all queues; how many were */
long act_suspend(long unused, long unused2);
long act_resume(long unused, long unused2);

/* ---- what a test does ---- */

/* Starts a process with a queue that is its own debugger; false, and a skipped test, if this kernel has no such thing */
bool debuggee(struct actor *a, const char *test);

/* Has @dbg debug @a, two bare actors.  Return: false if this kernel cannot; both have ended then */
bool debugged_by(struct actor *a, struct actor *dbg, const char *test);

#endif
