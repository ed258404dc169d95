// SPDX-License-Identifier: GPL-2.0
/* Rows: PID namespaces, user namespaces, containers */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "security.h"

static void new_namespace(struct attempt *a, int what)
{
	if (unshare(what))
		broken(a, "unshare");
}

/* The child goes on; the parent waits for it, so that whoever kills this one kills both */
static void go_on_in_child(struct attempt *a)
{
	pid_t pid = fork();

	if (pid < 0)
		broken(a, "fork");
	if (pid) {
		waitpid(pid, NULL, 0);
		_exit(0);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void write_file(struct attempt *a, const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		broken(a, path);
	close(fd);
}

/* Root in a user namespace of one's own: what "unshare -r" makes */
static void fake_root(struct attempt *a, uid_t uid)
{
	char map[32];

	become(a, uid);
	new_namespace(a, CLONE_NEWUSER);
	write_file(a, "/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", uid);
	write_file(a, "/proc/self/uid_map", map);
	write_file(a, "/proc/self/gid_map", map);
}

static void inside_on_outside(struct attempt *a)
{
	target(a, BOB, NULL);
	new_namespace(a, CLONE_NEWPID);
	go_on_in_child(a);
	attempt(a);
}

/* The first process of the namespace is the target, the second the caller */
static void inside_on_inside(struct attempt *a)
{
	pid_t host;

	new_namespace(a, CLONE_NEWPID);
	target(a, ALICE, NULL);
	host = a->host;
	go_on_in_child(a);
	become(a, ALICE);
	a->nr = 1;
	a->host = host;
	attempt(a);
}

static void outside_on_inside(struct attempt *a)
{
	new_namespace(a, CLONE_NEWPID);
	target(a, ALICE, NULL);
	/* this process is outside still */
	become(a, ALICE);
	attempt(a);
}

/* The number that it has inside means somebody else, here init, outside */
static void outside_by_inside_number(struct attempt *a)
{
	new_namespace(a, CLONE_NEWPID);
	target(a, ALICE, NULL);
	a->nr = 1;
	/* it is listed and found in sysfs under its own number */
	attempt_unlisted(a);
}

static void fake_root_own(struct attempt *a)
{
	target(a, ALICE, NULL);
	fake_root(a, ALICE);
	attempt(a);
}

static void fake_root_other(struct attempt *a)
{
	target(a, BOB, NULL);
	fake_root(a, ALICE);
	attempt(a);
}

static void fake_root_real_root(struct attempt *a)
{
	target(a, 0, NULL);
	fake_root(a, ALICE);
	attempt(a);
}

/*
 * A namespace of two users, as newuidmap makes it: 0 is Alice, 1 is Bob. The map is written from
 * outside, by root.
 */
static void fake_root_subuid(struct attempt *a)
{
	pid_t pid, me = getpid();
	char path[64];
	int fds[2], back[2];
	char ch;

	if (pipe(fds) || pipe(back))
		broken(a, "pipe");
	pid = fork();
	if (!pid) {
		if (read(fds[0], &ch, 1) != 1)
			_exit(1);
		snprintf(path, sizeof(path), "/proc/%d/uid_map", me);
		write_file(a, path, "0 1001 1\n1 1002 1\n");
		snprintf(path, sizeof(path), "/proc/%d/gid_map", me);
		write_file(a, path, "0 1001 1\n1 1002 1\n");
		if (write(back[1], "x", 1) != 1)
			_exit(1);
		_exit(0);
	}
	become(a, ALICE);
	new_namespace(a, CLONE_NEWUSER);
	if (write(fds[1], "x", 1) != 1 || read(back[0], &ch, 1) != 1)
		broken(a, "uid_map");
	if (setresgid(0, 0, 0) || setresuid(0, 0, 0))
		broken(a, "setresuid in the namespace");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	target(a, 1, NULL);
	attempt(a);
}

/*
 * /dev/kfd is all there is: no /sys, no /proc, namespaces of its own.  The target is in it, too.
 */
static void container(struct attempt *a)
{
	static const char dir[] = "/tmp/kfdprio-container";
	pid_t host;
	char path[64];

	mkdir(dir, 0755);
	fake_root(a, ALICE);
	new_namespace(a, CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS);
	target(a, 0, NULL);
	host = a->host;
	go_on_in_child(a);
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("none", dir, "tmpfs", 0, NULL))
		broken(a, "mount");
	snprintf(path, sizeof(path), "%s/dev", dir);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/dev/kfd", dir);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
	if (mount("/dev/kfd", path, NULL, MS_BIND, NULL))
		broken(a, "bind mount of /dev/kfd");
	if (chroot(dir) || chdir("/"))
		broken(a, "chroot");
	a->nr = 1;
	a->host = host;
	attempt(a);
}

const struct row rows_namespaces[] = {
	{ "root in a PID namespace, on a process outside", inside_on_outside, "ESRCH ESRCH ESRCH no yes yes yes" },
	{ "a user in a PID namespace, on their own inside", inside_on_inside, "yes yes EPERM yes yes EACCES EACCES" },
	{ "a user outside, on their own in a PID namespace", outside_on_inside, "yes yes EPERM yes yes EACCES EACCES" },
	{ "root outside, by the PID that it has inside", outside_by_inside_number, "ESRCH ESRCH ESRCH - - yes yes" },
	{ "root of a user namespace, on the user's own outside", fake_root_own, "yes yes EPERM yes yes EACCES EACCES" },
	{ "root of a user namespace, on another user's", fake_root_other, "yes EPERM EPERM yes yes EACCES EACCES" },
	{ "root of a user namespace, on root's", fake_root_real_root, "yes EPERM EPERM yes yes EACCES EACCES" },
	{ "root of a user namespace, on another UID in it (subuid)", fake_root_subuid,
	  "yes yes EPERM yes yes EACCES EACCES" },
	{ "in a container with /dev/kfd only, on its own", container, "yes yes EPERM yes ENOENT ENOENT ENOENT" },
	{}
};
