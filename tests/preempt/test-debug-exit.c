// SPDX-License-Identifier: GPL-2.0
/* A debugger that exits, or whose process does: AMDKFD_IOC_DBG_TRAP, Linux 6.5 and later */
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "debugger.h"
#include "preempt.h"

/* Does a process end by itself, within 20 s? */
static bool ends(struct actor *a)
{
	uint64_t end = kfdc_now() + 20 * SEC;

	shutdown(a->fd, SHUT_RDWR);
	close(a->fd);
	while (waitpid(a->pid, NULL, WNOHANG) != a->pid) {
		if (kfdc_now() >= end)
			return false;
		nap_ns(10 * MS);
	}
	a->pid = 0;
	return true;
}

/*
 * A process exits with a debugger attached, here itself, and amdgpu's interrupts have made no progress for a second, which is when
 * amdgpu sends KFD's fence.  Stock amdkfd, 7.3 included, waits for that interrupt, for which it cannot find the process any
 * more, and every later process with an MMU notifier waits for that one.  In the tests below, too
 */
static void debug_exit(void)
{
	struct actor a = actor_bare(0), later;
	long r = actor_do(&a, act_open, 1, 7);
	uint64_t begin;

	if (!r)
		r = actor_do(&a, act_attach, 0, 0);
	if (r == -EINVAL || r == -ENOTTY) {
		tap_skip("debug_exit", "this kernel's amdkfd has no AMDKFD_IOC_DBG_TRAP");
		actor_kill(&a);
		return;
	}
	tap_eq(r, 0, "debug_exit: a process attaches to itself");
	later = actor_start(0, 1, 7);
	param_try("ih_stuck", "1");
	begin = kfdc_now();
	if (!tap_ok(ends(&a), "debug_exit: it exits"))
		tap_diag("it waits for ever, and so will others: no test after this one means anything");
	tap_ok(in_time(kfdc_now() - begin, SEC), "debug_exit: at once");
	tap_ok(ends(&later), "debug_exit: so does a process that exits after it");
	param_try("ih_stuck", "0");
}

static long act_exit(long unused, long unused2)
{
	(void)unused, (void)unused2;
	_exit(0);
}

/*
 * A debugger exits, and while KFD detaches it from a process, that process ends.  KFD waits for an interrupt of the
 * process, with its table of processes held in place, and the process waits until the table may change
 */
static void debug_exit_both(void)
{
	struct actor dbg = actor_bare(0), a = actor_bare(0), later;
	uint64_t end;

	if (!debugged_by(&a, &dbg, "debug_exit_both"))
		return;
	later = actor_start(0, 1, 7);
	param_try("ih_stuck", "1");
	param_set("drain_us", 500 * MS / US);
	actor_tell(&dbg, act_exit, 0, 0);
	nap_ns(100 * MS);
	/* the debugger waits for the interrupt now */
	kill(a.pid, SIGKILL);
	end = kfdc_now() + 20 * SEC;
	while (waitpid(a.pid, NULL, WNOHANG) != a.pid && kfdc_now() < end)
		nap_ns(10 * MS);
	if (!tap_ok(kfdc_now() < end, "debug_exit_both: the process ends"))
		tap_diag("it waits for ever, and so will others: no test after this one means anything");
	a.pid = 0;
	tap_ok(ends(&dbg), "debug_exit_both: its debugger exits");
	param_set("drain_us", 0);
	param_try("ih_stuck", "0");
	tap_ok(ends(&later), "debug_exit_both: so does a process that exits after them");
}

/*
 * A debugger exits, or detaches, and KFD waits for an interrupt of the process.  The handler of stock amdkfd discards it
 * on GFX10: the debugger would wait for ever in its exit, and every later process with an MMU notifier for that one
 */
static void debug_exit_debugger(void)
{
	struct actor dbg = actor_bare(0), a = actor_bare(0), later;
	uint64_t begin;
	long r;

	if (!debugged_by(&a, &dbg, "debug_exit_debugger"))
		return;
	param_try("ih_stuck", "1");
	actor_tell(&dbg, act_detach, 0, 0);
	if (!tap_ok(actor_hear(&dbg, &r, 20000) && !r, "debug_exit_debugger: and detaches")) {
		param_try("ih_stuck", "0");
		actor_kill(&dbg);
		actor_kill(&a);
		return;
	}
	tap_eq(actor_do(&dbg, act_attach, 0, 0), 0, "debug_exit_debugger: it attaches again");
	later = actor_start(0, 1, 7);
	begin = kfdc_now();
	if (!tap_ok(ends(&dbg), "debug_exit_debugger: it exits"))
		tap_diag("it waits for ever, and so will others: no test after this one means anything");
	tap_ok(in_time(kfdc_now() - begin, SEC), "debug_exit_debugger: at once");
	tap_ok(ends(&later), "debug_exit_debugger: so does a process that exits after it");
	param_try("ih_stuck", "0");
	tap_ok(actor_do(&a, act_request, MS, 0) > 0, "debug_exit_debugger: the process works on");
	actor_kill(&a);
}

/*
 * A process without a VM on the GPU is debugged, here by itself, and the debugger detaches.  From 7.2 on it has no PASID on
 * the GPU then, and stock amdkfd waits for an interrupt that its handlers discard
 */
static void debug_no_vm(void)
{
	struct actor a = actor_bare(0), later;
	uint64_t begin;
	long r = actor_do(&a, act_open_kfd, 0, 0);

	if (!r)
		r = actor_do(&a, act_attach, 0, 0);
	if (r == -EINVAL || r == -ENOTTY) {
		tap_skip("debug_no_vm", "this kernel's amdkfd has no AMDKFD_IOC_DBG_TRAP");
		actor_kill(&a);
		return;
	}
	tap_eq(r, 0, "debug_no_vm: a process that has only opened /dev/kfd attaches to itself");
	later = actor_start(0, 1, 7);
	param_try("ih_stuck", "1");
	begin = kfdc_now();
	actor_tell(&a, act_detach, 0, 0);
	tap_ok(actor_hear(&a, &r, 20000) && !r, "debug_no_vm: it detaches");
	tap_ok(in_time(kfdc_now() - begin, SEC), "debug_no_vm: at once");
	actor_kill(&a);
	tap_ok(ends(&later), "debug_no_vm: a process that exits after it exits");
	param_try("ih_stuck", "0");
}

/* The interrupt is lost, as it is if KFD's queue of interrupts is full: KFD does not wait for ever */
static void debug_lost(void)
{
	struct actor dbg = actor_bare(0), a = actor_bare(0), later;
	uint64_t begin;

	if (!debugged_by(&a, &dbg, "debug_lost"))
		return;
	later = actor_start(0, 1, 7);
	if (param_try("drain_lost", "1") || param_try("ih_stuck", "1"))
		tap_bail("debug_lost: the simulated GPU has no drain_lost, or no ih_stuck");
	begin = kfdc_now();
	if (!tap_ok(ends(&dbg), "debug_lost: it exits"))
		tap_diag("it waits for ever, and so will others: no test after this one means anything");
	tap_ok(in_time(kfdc_now() - begin, 3 * SEC), "debug_lost: after two seconds");
	param_try("drain_lost", "0");
	param_try("ih_stuck", "0");
	tap_ok(ends(&later), "debug_lost: so does a process that exits after it");
	tap_ok(actor_do(&a, act_request, MS, 0) > 0, "debug_lost: the process works on");
	actor_kill(&a);
}

/* The same on a GPU whose interrupts are handled: amdgpu does not send the fence, and neither driver waits */
static void debug_exit_at_once(void)
{
	struct actor dbg = actor_bare(0), a = actor_bare(0), later;
	uint64_t begin;

	if (!debugged_by(&a, &dbg, "debug_exit_at_once"))
		return;
	later = actor_start(0, 1, 7);
	begin = kfdc_now();
	tap_ok(ends(&dbg) && in_time(kfdc_now() - begin, SEC), "debug_exit_at_once: the debugger exits");
	tap_ok(ends(&later), "debug_exit_at_once: so does a process that exits after it");
	tap_ok(actor_do(&a, act_request, MS, 0) > 0, "debug_exit_at_once: the process works on");
	actor_kill(&a);
}

const struct test tests_debug_exit[] = {
	{ "debug_exit", debug_exit }, { "debug_exit_at_once", debug_exit_at_once }, { "debug_exit_both", debug_exit_both },
	{ "debug_exit_debugger", debug_exit_debugger }, { "debug_no_vm", debug_no_vm }, { "debug_lost", debug_lost }, {}
};
