// SPDX-License-Identifier: GPL-2.0
/* An actor as a debugger, of itself or of another process */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>
#include "dbgtrap.h"
#include "debugger.h"
#include "preempt.h"

static int bare_kfd;		/* /dev/kfd of an actor that has opened nothing else */
static pid_t debugged;	/* whom an actor debugs, if not itself */

long debug_trap(enum dbgtrap_op op, struct dbgtrap *t)
{
	return dbgtrap(bare_kfd ? : kfdc_fd(me.c), debugged ? : getpid(), op, t);
}

long act_open_kfd(long unused, long unused2)
{
	(void)unused, (void)unused2;
	bare_kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	return bare_kfd < 0 ? -errno : 0;
}

long act_attach(long unused, long unused2)
{
	struct dbgtrap_runtime_info info;
	struct dbgtrap t = { .enable = { .info = (uintptr_t)&info, .info_size = sizeof(info) } };
	int fds[2];

	(void)unused, (void)unused2;
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	t.enable.fd = fds[1];
	return debug_trap(TRAP_ENABLE, &t);
}

long act_detach(long unused, long unused2)
{
	struct dbgtrap t = {};

	(void)unused, (void)unused2;
	return debug_trap(TRAP_DISABLE, &t);
}

long act_trace(long pid, long unused)
{
	(void)unused;
	debugged = pid;
	return ptrace(PTRACE_SEIZE, pid, NULL, NULL) ? -errno : 0;
}

long act_runtime(long unused, long unused2)
{
	struct dbgtrap_runtime on = { .mode = 1 };

	(void)unused, (void)unused2;
	if (!ioctl(kfdc_fd(me.c), IOC_RUNTIME_ENABLE, &on))
		return 0;
	return errno == EINVAL ? -ENOTTY : -errno;
}

bool debugged_by(struct actor *a, struct actor *dbg, const char *test)
{
	long r = actor_do(a, act_open, 0, 0);

	if (!r)
		r = actor_do(a, act_runtime, 0, 0);
	if (r == -ENOTTY) {
		tap_skip(test, "this kernel's amdkfd has no AMDKFD_IOC_DBG_TRAP");
		actor_kill(a);
		actor_kill(dbg);
		return false;
	}
	if (r || actor_do(a, act_create, 1, 7) || actor_do(dbg, act_open, 0, 0) || actor_do(dbg, act_trace, a->pid, 0))
		tap_bail("%s: a process and its debugger: %s", test, strerror(-r));
	tap_eq(actor_do(dbg, act_attach, 0, 0), 0, "%s: a debugger attaches", test);
	return true;
}
