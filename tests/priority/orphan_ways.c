// SPDX-License-Identifier: GPL-2.0
/*
 * orphan_test: the ways in which a process leaves its queue to others that share its memory.  A batch process has a helper
 * that shares its memory and is no thread of it.  The helper opens /dev/kfd and creates the queue.
 */
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#include "kfdclient.h"
#include "orphan.h"
#include "stallfs.h"

#define STACK	(1 << 18)

static struct kfdc *gpu;		/* in the memory of batch process and helper */
static struct kfdc_queue *queue;

struct orphan_case *s;

void nap_ms(unsigned int ms)
{
	usleep(ms * 1000);
}

bool wait_for(volatile int *flag)
{
	int i;

	for (i = 0; i < 20000 && !*flag; i++)
		nap_ms(1);
	return *flag > 0;
}

/* ---- ways; in the helper ---- */

static void way_exit(void)
{
	_exit(0);
}

static void way_killed(void)
{
	raise(SIGKILL);
}

static void exec(const char *program)
{
	execl(program, program, "60", NULL);
	_exit(1);
}

static void way_exec(void)
{
	exec("/bin/sleep");
}

static void way_suid(void)
{
	exec(SUID);
}

static void way_stalled(void)
{
	exec(STALLFS_PROGRAM);
}

static void *stack_new(void)
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return stack == MAP_FAILED ? NULL : stack + STACK;
}

static int thread_exec(void *unused)
{
	(void)unused;
	way_exec();
	return 0;
}

#define CLONE_A_THREAD	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)

static void way_thread_exec(void)
{
	clone(thread_exec, stack_new(), CLONE_A_THREAD, NULL);
	for (;;)
		pause();
}

static int thread_last(void *how)
{
	nap_ms(30);
	if (how)
		way_exec();
	syscall(SYS_exit, 0);
	return 0;
}

/* The main thread ends first, and so a while the group has the mm by its other thread alone */
static void way_main_first(void)
{
	clone(thread_last, stack_new(), CLONE_A_THREAD, NULL);
	syscall(SYS_exit, 0);
}

static void way_main_first_exec(void)
{
	clone(thread_last, stack_new(), CLONE_A_THREAD, s);
	syscall(SYS_exit, 0);
}

static int thread_stay(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return 0;
}

static void way_main_alone(void)
{
	clone(thread_stay, stack_new(), CLONE_A_THREAD, NULL);
	s->left = 1;
	syscall(SYS_exit, 0);
}

static int sharer(void *unused)
{
	(void)unused;
	s->sharer = getpid();
	for (;;)
		pause();
	return 0;
}

static void way_two_share(void)
{
	clone(sharer, stack_new(), CLONE_VM, NULL);
	_exit(0);
}

static void way_stay(void)
{
	s->left = 1;
	for (;;)
		pause();
}

static void way_vfork(void)
{
	pid_t pid = vfork();

	if (!pid)
		exec("/bin/sleep");
	s->sharer = pid;
	s->left = 1;
	for (;;)
		pause();
}

static void way_spawn(void)
{
	char *argv[] = { "sleep", "60", NULL };
	pid_t pid;

	if (!posix_spawn(&pid, "/bin/sleep", NULL, NULL, argv, NULL))
		s->sharer = pid;
	s->left = 1;
	for (;;)
		pause();
}

const struct way ways[] = {
	{ "exit", way_exit, 1, .claims = true },
	{ "killed", way_killed, 1 },
	{ "exec", way_exec, 1, .execs = true, .claims = true },
	{ "suid", way_suid, 1, .execs = true },
	{ "stalled", way_stalled, 1, .execs = true, .stalls = true, .claims = true },
	{ "thread_exec", way_thread_exec, 1, .execs = true, .claims = true },
	{ "main_first", way_main_first, 1 },
	{ "main_first_exec", way_main_first_exec, 1, .execs = true },
	{ "two_share", way_two_share, 2 },
	/* who is not hidden: the lead group has the mm */
	{ "main_alone", way_main_alone, .honest = true },
	{ "stays", way_stay, .honest = true },
	{ "vfork", way_vfork, .honest = true },
	{ "spawn", way_spawn, .honest = true },
	{}
};

static const struct way *way;

static int helper(void *unused)
{
	struct kfdc_queue_attr attr = { .priority = 15, .percentage = 100, .packets = 256 };

	(void)unused;
	/* after clone(2) libc's getpid() may be that of the parent */
	s->helper = syscall(SYS_getpid);
	if (kfdc_open(&gpu, 0) || kfdc_queue_create(gpu, &attr, &queue)) {
		fprintf(stderr, "# %s\n", kfdc_error());
		s->queue = -1;
		_exit(1);
	}
	s->queue = 1;
	wait_for(&s->leave);
	way->leave();
	return 0;
}

void user_become(uid_t uid)
{
	if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void batch(const struct way *w)
{
	struct kfdc_dispatch d = { .ns = 60000000000, .barrier = true };
	pid_t pid;
	int i;

	way = w;
	user_become(USER);
	pid = clone(helper, stack_new(), CLONE_VM | SIGCHLD, NULL);
	if (pid < 0 || !wait_for(&s->queue))
		_exit(1);
	wait_for(&s->left);
	for (i = 0; i < 3; i++)
		if (kfdc_dispatch(queue, &d))
			_exit(1);
	s->busy = 1;
	for (;;)
		pause();
}
