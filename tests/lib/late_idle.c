// SPDX-License-Identifier: GPL-2.0
/*
 * late_idle.so: preloaded into QEMU (7.2, TCG), it makes a busy host's rare order of QEMU's threads a frequent one. QEMU's CPU
 * thread leaves the guest's code with a longjmp, also when the guest is idle; after it the thread adds the instructions
 * that it has executed to guest time. Each EVERYth time the thread is late with that by LATE_NS of its CPU's time, and the main
 * loop, which moves guest time while the guest is idle, by LOOP_NS. tests/vm/lib-qemu.sh (main_loop_first) says what follows.
 */
#include <dlfcn.h>
#include <poll.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EVERY	400
#define LATE_NS	300000
#define LOOP_NS	50000

static __thread unsigned int times;

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* The thread uses its CPU and does not sleep: whether another thread runs meanwhile is the scheduler's decision */
static void late(int64_t ns)
{
	int64_t end;

	if (++times % EVERY)
		return;
	end = cpu_ns() + ns;
	while (cpu_ns() < end)
		;
}

static bool main_loop(void)
{
	return syscall(SYS_gettid) == getpid();
}

/* What siglongjmp() is with _FORTIFY_SOURCE */
void __longjmp_chk(sigjmp_buf env, int val);

__attribute__((noreturn)) void __longjmp_chk(sigjmp_buf env, int val)
{
	static void (*next)(sigjmp_buf, int);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "__longjmp_chk");
	late(LATE_NS);
	next(env, val);
	abort();
}

int ppoll(struct pollfd *fds, nfds_t nfds, const struct timespec *timeout, const sigset_t *mask)
{
	static int (*next)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
	int ready;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "ppoll");
	ready = next(fds, nfds, timeout, mask);
	if (main_loop())
		late(LOOP_NS);
	return ready;
}
