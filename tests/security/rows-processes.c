// SPDX-License-Identifier: GPL-2.0
/* Rows: processes that are dead, new, changed, stopped, or none */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/sched.h>
#include "security.h"

/* Ends it; whoever is to be found under its number is nobody's victim of the check afterwards */
static void end(struct attempt *a, pid_t pid, bool reap)
{
	siginfo_t info;

	kill(pid, SIGKILL);
	if (waitid(P_PID, pid, &info, WEXITED | (reap ? 0 : WNOWAIT)))
		broken(a, "waitid");
	a->host = 0;
}

static void zombie(struct attempt *a)
{
	end(a, target(a, ALICE, NULL), false);
	become(a, ALICE);
	/* KFD lists it until its release worker has run */
	attempt_unlisted(a);
}

static void stale(struct attempt *a)
{
	end(a, target(a, ALICE, NULL), true);
	attempt_unlisted(a);
}

/* A new process gets the number of one that is gone, whose pidfd is still there */
static void reused(struct attempt *a)
{
	pid_t old = target(a, ALICE, NULL), pid;
	struct clone_args c = {
		.exit_signal = SIGCHLD, .set_tid = (unsigned long)&old, .set_tid_size = 1,
	};
	int pidfd = a->pidfd;

	end(a, old, true);
	pid = syscall(SYS_clone3, &c, sizeof(c));
	if (pid < 0)
		broken(a, "clone3 with set_tid");
	if (!pid) {
		become(a, ALICE);
		for (;;)
			pause();
	}
	a->pidfd = pidfd;
	attempt_unlisted(a);
}

static void two_processes(struct attempt *a)
{
	int pidfd;

	target(a, ALICE, NULL);
	pidfd = a->pidfd;
	target(a, ALICE, NULL);
	a->pidfd = pidfd;
	attempt_unlisted(a);
}

static void kernel_thread(struct attempt *a)
{
	a->nr = 2;
	a->pidfd = syscall(SYS_pidfd_open, 2, 0);
	attempt(a);
}

static void init_by_user(struct attempt *a)
{
	a->nr = 1;
	a->pidfd = syscall(SYS_pidfd_open, 1, 0);
	become(a, ALICE);
	attempt(a);
}

static void *sleeps(void *tid)
{
	*(volatile pid_t *)tid = syscall(SYS_gettid);
	for (;;)
		pause();
	return NULL;
}

static void thread(struct attempt *a)
{
	static volatile pid_t tid;
	pthread_t t;

	if (pthread_create(&t, NULL, sleeps, (void *)&tid))
		broken(a, "pthread_create");
	while (!tid)
		sched_yield();
	a->nr = tid;
	/* PIDFD_THREAD, where there is such a thing (Linux 6.9): the pidfd of a thread itself */
	a->pidfd = syscall(SYS_pidfd_open, tid, O_EXCL);
	if (a->pidfd < 0)
		a->pidfd = syscall(SYS_pidfd_open, getpid(), 0);
	attempt(a);
}

/*
 * A set-user-ID program: /bin/sleep, copied, owned by root.  It runs with the real UID of who
 * started it.
 */
static const char suid_dir[] = "/run/kfdprio-suid", suid_program[] = "/run/kfdprio-suid/sleep";

static void copy_setuid(struct attempt *a)
{
	char buf[65536];
	int in, out;
	ssize_t n;

	/* /tmp and /run may be mounted nosuid: a file system of its own is not */
	mkdir(suid_dir, 0755);
	if (mount("none", suid_dir, "tmpfs", 0, "mode=755"))
		broken(a, "tmpfs");
	in = open("/bin/sleep", O_RDONLY | O_CLOEXEC);
	out = open(suid_program, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, n) != n)
			broken(a, suid_program);
	if (n || close(out) || chmod(suid_program, 04755))
		broken(a, suid_program);
	close(in);
}

/* Its effective UID, as /proc has it */
static long euid_of(pid_t pid)
{
	char path[64], line[256];
	long euid = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Uid: %*d %ld", &euid) == 1)
			break;
	if (f)
		fclose(f);
	return euid;
}

static bool runs(pid_t pid, const char *program)
{
	char path[64], exe[128] = "";

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return readlink(path, exe, sizeof(exe) - 1) > 0 && !strcmp(exe, program);
}

static void setuid_target(struct attempt *a)
{
	int tries;
	pid_t pid;

	copy_setuid(a);
	pid = fork();
	if (!pid) {
		become(a, ALICE);
		execl(suid_program, "sleep", "1000", NULL);
		broken(a, "execl");
	}
	for (tries = 0; !runs(pid, suid_program) || euid_of(pid); tries++) {
		if (tries > 20000)
			broken(a, "the program does not run with root's effective UID");
		usleep(1000);
	}
	umount2(suid_dir, MNT_DETACH);
	a->nr = pid;
	a->host = 0;
	a->pidfd = syscall(SYS_pidfd_open, pid, 0);
	become(a, ALICE);
	attempt(a);
	kill(pid, SIGKILL);
}

/* As a set-user-ID program that gives up its real UID, too, as su and sudo do */
static void setuid_whole(struct attempt *a)
{
	if (setresuid(ALICE, 0, 0) || setresuid(0, 0, 0))
		broken(a, "setresuid");
}

static void now_root(struct attempt *a)
{
	target(a, 0, setuid_whole);
	become(a, ALICE);
	attempt(a);
}

static void stopped(struct attempt *a)
{
	pid_t pid = target(a, ALICE, NULL);
	int status;

	become(a, ALICE);
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) || ptrace(PTRACE_INTERRUPT, pid, NULL, NULL))
		broken(a, "ptrace");
	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		broken(a, "it does not stop");
	attempt(a);
}

/* Who is traced by root has no more rights than before */
static void traced_caller(struct attempt *a)
{
	pid_t tracee;
	int status;

	target(a, BOB, NULL);
	tracee = fork();
	if (!tracee) {
		become(a, ALICE);
		raise(SIGSTOP);
		attempt(a);
		for (;;)
			pause();
	}
	if (waitpid(tracee, &status, WUNTRACED) != tracee || ptrace(PTRACE_SEIZE, tracee, NULL, NULL))
		broken(a, "ptrace");
	kill(tracee, SIGCONT);
	while (!a->done && waitpid(tracee, &status, __WALL) == tracee && WIFSTOPPED(status))
		ptrace(PTRACE_CONT, tracee, NULL,
		       WSTOPSIG(status) == SIGTRAP || WSTOPSIG(status) == SIGSTOP ? 0 : WSTOPSIG(status));
}

const struct row rows_processes[] = {
	{ "a user, on a zombie of theirs", zombie, "yes ESRCH EPERM - - EACCES EACCES" },
	{ "root, with the pidfd of a process that is gone", stale, "ESRCH ESRCH ESRCH - - yes yes" },
	{ "root, with that pidfd, its PID taken by another process", reused, "ESRCH ESRCH ESRCH - - yes yes" },
	{ "root, with PID and pidfd of two processes", two_processes, "ESRCH ESRCH ESRCH - - yes yes" },
	{ "root, on a kernel thread", kernel_thread, "EINVAL EINVAL EINVAL no ENOENT yes yes" },
	{ "root, on a thread", thread, "EINVAL EINVAL EINVAL no ENOENT yes yes" },
	{ "a user, on init", init_by_user, "yes EPERM EPERM no ENOENT EACCES EACCES" },
	{ "a user, on a set-user-ID program they started", setuid_target, "yes yes EPERM no ENOENT EACCES EACCES" },
	{ "a user, on a process that has become root's altogether", now_root, "yes EPERM EPERM yes yes EACCES EACCES" },
	{ "a user, on their own that ptrace has stopped", stopped, "yes yes EPERM yes yes EACCES EACCES" },
	{ "a user traced by root, on another's", traced_caller, "yes EPERM EPERM yes yes EACCES EACCES" },
	{}
};
