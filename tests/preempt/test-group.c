// SPDX-License-Identifier: GPL-2.0
/* Groups with shares: what is refused, and to whom */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "preempt.h"

#define PCT	100U
#define USER	65534

#define MAX	KFD_PRIO_SHARE_MAX
#define WEIGHT	KFD_PRIO_SHARE_WEIGHT
#define SOFT	KFD_PRIO_SHARE_SOFT
#define NEW	KFD_PRIO_SHARE_NEW

/* Arguments that no caller may use; those of a process are this program's */
static const struct bad {
	const char *what;
	struct kfd_prio_share_args a;
	int err;
} bad[] = {
	{ "nothing is named", { .flags = MAX, .max = 3000 }, EINVAL },
	{ "no such group", { .group = 1ULL << 60, .flags = MAX, .max = 3000 }, ENOENT },
	{ "a flag that does not exist", { .group = 1, .flags = 1U << 31 }, EINVAL },
	{ "a limit of 0", { .flags = KFD_PRIO_SHARE_PROCESS | MAX }, EINVAL },
	{ "a limit above 100 %", { .flags = KFD_PRIO_SHARE_PROCESS | MAX, .max = 10001 }, EINVAL },
	{ "a limit without its flag", { .flags = KFD_PRIO_SHARE_PROCESS, .max = 3000 }, EINVAL },
	{ "a weight above the highest", { .flags = KFD_PRIO_SHARE_PROCESS | WEIGHT, .weight = 10001 }, EINVAL },
	{ "a weight without its flag", { .flags = KFD_PRIO_SHARE_PROCESS, .weight = 5 }, EINVAL },
	{ "a soft weight", { .flags = KFD_PRIO_SHARE_PROCESS | WEIGHT | SOFT, .weight = 5 }, EINVAL },
	{ "a process and a cgroup", { .flags = KFD_PRIO_SHARE_PROCESS | KFD_PRIO_SHARE_CGROUP | MAX, .max = 3000 }, EINVAL },
	{ "a new group that has a number", { .group = 1, .flags = KFD_PRIO_SHARE_PROCESS | NEW }, EINVAL },
	{ "a new group of no process", { .group = 1, .flags = NEW }, EINVAL },
	{ "a descriptor that is not open", { .flags = KFD_PRIO_SHARE_CGROUP | MAX, .max = 3000, .cgroup = 1000 }, EBADF },
};

static int call(struct kfd_prio_share_args *a)
{
	int kfd = open("/dev/kfd", O_ACCMODE | O_CLOEXEC), err;

	err = ioctl(kfd, KFD_PRIO_IOC_SHARE, a) ? errno : 0;
	close(kfd);
	return err;
}

static void share_args(void)
{
	struct kfd_prio_share_args a;
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		a = bad[i].a;
		if (a.flags & KFD_PRIO_SHARE_PROCESS) {
			a.pid = getpid();
			a.pidfd = syscall(SYS_pidfd_open, getpid(), 0);
		}
		tap_eq(call(&a), bad[i].err, "share_args: %s", bad[i].what);
		if (a.pidfd)
			close(a.pidfd);
	}
	a = (struct kfd_prio_share_args){ .flags = KFD_PRIO_SHARE_PROCESS | MAX, .max = 3000, .pid = getpid(), .pidfd = 0 };
	tap_eq(call(&a), ESRCH, "share_args: a descriptor that is no pidfd of the process");
	tap_eq(kfd_shares(), 0, "share_args: no group was made");
}

static long act_user(long unused, long unused2)
{
	(void)unused;
	(void)unused2;
	return setresgid(USER, USER, USER) || setresuid(USER, USER, USER) ? -errno : 0;
}

/* It stays root by its UID, and has no capability, as root of a container without a user namespace has few */
static long act_bare_root(long unused, long unused2)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	(void)unused;
	(void)unused2;
	return syscall(SYS_capset, &head, none) ? -errno : 0;
}

/* KFD_PRIO_IOC_SHARE for itself */
static long act_share(long flags, long max)
{
	uint64_t group = 0;

	return -kfd_share(getpid(), flags, flags & MAX ? max : 0, flags & WEIGHT ? max : 0, &group);
}

static long act_share_pid(long pid, long max)
{
	uint64_t group = 0;

	return -kfd_share(pid, MAX, max, 0, &group);
}

static long act_share_group(long group, long max)
{
	uint64_t id = group;

	return -kfd_share(0, MAX, max, 0, &id);
}

static long act_join(long group, long unused)
{
	uint64_t id = group;

	(void)unused;
	return -kfd_share(getpid(), 0, 0, 0, &id);
}

static long act_share_cgroup(long unused, long unused2)
{
	uint64_t group = 0;

	(void)unused;
	(void)unused2;
	return -kfd_share_cgroup("/sys/fs/cgroup", MAX, 3000, 0, &group);
}

/* A process of an ordinary user, with a queue */
static struct actor user(void)
{
	/* before it is one: an actor reads debugfs to find its GPU */
	struct actor a = actor_start(0, 1, 7);

	if (actor_do(&a, act_user, 0, 0))
		tap_bail("cannot become another user");
	return a;
}

static void share_permission(void)
{
	struct actor a, b, root = actor_start(0, 1, 7), more[KFD_PRIO_SHARE_USER_MAX];
	uint64_t admins = 0, id;
	struct kfd_prio_list_entry row;
	unsigned int i;
	long r = 0;

	if (system("chmod 666 /dev/kfd /dev/dri/renderD*"))
		tap_bail("chmod");
	kfd_share(root.pid, NEW | MAX, 50 * PCT, 0, &admins);
	a = user();
	b = user();
	tap_eq(actor_do(&a, act_share, NEW | WEIGHT, 100), -EPERM, "share_permission: a user sets no weight");
	tap_eq(actor_do(&a, act_share, NEW | MAX, 30 * PCT), 0, "share_permission: he makes a group with a limit");
	if (kfd_list(a.pid, &row, 1) != 1)
		tap_bail("the user's process is not listed");
	tap_eq(actor_do(&a, act_share, NEW | MAX, 30 * PCT), -EBUSY, "share_permission: he does not leave it for a new one");
	tap_eq(actor_do(&a, act_join, admins, 0), -EPERM, "share_permission: nor for another one");
	tap_eq(actor_do(&a, act_share, MAX, 20 * PCT), 0, "share_permission: he lowers its limit");
	tap_eq(actor_do(&a, act_share, MAX, 21 * PCT), -EPERM, "share_permission: and does not raise it");
	tap_eq(actor_do(&a, act_share, MAX | SOFT, 20 * PCT), -EPERM, "share_permission: nor makes it soft");
	tap_eq(actor_do(&a, act_share, WEIGHT, 1), -EPERM, "share_permission: nor gives it a weight");
	tap_eq(actor_do(&a, act_share_pid, b.pid, 10 * PCT), 0, "share_permission: he limits another process of his");
	tap_eq(actor_do(&a, act_share_pid, root.pid, 10 * PCT), -EPERM, "share_permission: and none of another user");
	tap_eq(actor_do(&a, act_share_group, admins, 10 * PCT), -EPERM, "share_permission: nor a group that another user has made");
	tap_eq(actor_do(&a, act_share_cgroup, 0, 0), -EPERM, "share_permission: nor a cgroup");
	/* a weight that an administrator gave his group may be lowered */
	id = row.share;
	tap_eq(kfd_share(0, WEIGHT, 0, 100, &id), 0, "share_permission: an administrator gives it a weight");
	tap_eq(actor_do(&a, act_share, WEIGHT, 101), -EPERM, "share_permission: the user does not raise it");
	tap_eq(actor_do(&a, act_share, WEIGHT, 50), 0, "share_permission: he lowers it");
	tap_eq(actor_do(&a, act_share, WEIGHT, 0), -EPERM, "share_permission: and does not take it away");
	id = row.share;
	tap_eq(kfd_share(0, MAX, 90 * PCT, 0, &id), 0, "share_permission: an administrator raises the limit");
	/* he has two groups: a's and b's */
	for (i = 0; i < KFD_PRIO_SHARE_USER_MAX - 1; i++) {
		more[i] = user();
		r = actor_do(&more[i], act_share, NEW | MAX, 10 * PCT);
		if (r)
			break;
	}
	tap_ok(i == KFD_PRIO_SHARE_USER_MAX - 2 && r == -EDQUOT, "share_permission: he has %d groups at most (%u, %ld)",
	       KFD_PRIO_SHARE_USER_MAX, i, r);
	while (i + 1)
		actor_kill(&more[i--]);
	actor_kill(&a);
	actor_kill(&b);
	actor_kill(&root);
}

/* Root without CAP_SYS_NICE: the UID of an administrator's group is not enough */
static void share_bare_root(void)
{
	struct actor admin = actor_start(0, 1, 7), bare = actor_start(0, 1, 7), late = actor_start(0, 1, 7);
	struct kfd_prio_list_entry row;
	uint64_t group = 0;

	if (kfd_share(admin.pid, NEW | MAX | WEIGHT, 50 * PCT, 200, &group))
		tap_bail("no group");
	if (actor_do(&bare, act_bare_root, 0, 0) || actor_do(&late, act_bare_root, 0, 0))
		tap_bail("cannot drop the capabilities");
	tap_eq(actor_do(&bare, act_share_group, group, 10 * PCT), -EPERM,
	       "share_bare_root: root without CAP_SYS_NICE does not lower the limit of an administrator's group");
	tap_eq(actor_do(&bare, act_join, group, 0), -EPERM, "share_bare_root: nor joins the group");
	tap_ok(kfd_list(bare.pid, &row, 1) == 1 && !row.share, "share_bare_root: it is in no group");
	/* A group that it makes itself is its own, as that of any user, and that of other processes of that kind */
	tap_eq(actor_do(&bare, act_share, NEW | MAX, 30 * PCT), 0, "share_bare_root: it makes a group");
	if (kfd_list(bare.pid, &row, 1) != 1)
		tap_bail("the process is not listed");
	tap_eq(actor_do(&bare, act_share, MAX, 20 * PCT), 0, "share_bare_root: it lowers the limit of that group");
	tap_eq(actor_do(&late, act_join, row.share, 0), 0, "share_bare_root: another process of the same UID joins that group");
	actor_kill(&admin);
	actor_kill(&bare);
	actor_kill(&late);
}

/* In an actor: a shell starts a shell, which starts a program; returns the PID of that */
static long act_generations(long unused, long unused2)
{
	FILE *f = popen("sh -c 'sh -c \"exec sleep 1000 >/dev/null\" & echo $!'", "r");
	long pid = 0;

	(void)unused;
	(void)unused2;
	if (!f || fscanf(f, "%ld", &pid) != 1)
		return -ECHILD;
	pclose(f);
	return pid;
}

/* Children are in the group, and after execve(2), whatever is set for them */
static void share_inherit(void)
{
	struct actor a = actor_bare(0);
	struct kfd_prio_list_entry row;
	uint64_t group = 0, none = 0;
	pid_t pid;

	if (kfd_share(a.pid, NEW | MAX, 30 * PCT, 0, &group))
		tap_bail("no group");
	/* The guest's time passes while a busy host reads these files: not in the actor, which has to answer in time */
	if (system("sh -c 'exec sleep 0'"))
		tap_bail("no sh, or no sleep");
	pid = actor_do(&a, act_generations, 0, 0);
	tap_eq(kfd_share(pid, NEW, 0, 0, &none), EBUSY, "share_inherit: a program that a child of a child executes is in the group");
	tap_eq(kfd_set(pid, 3, NULL), 0, "share_inherit: it gets a priority");
	tap_eq(kfd_set(pid, KFD_PRIO_UNSET, NULL), 0, "share_inherit: and loses it");
	tap_eq(kfd_share(pid, NEW, 0, 0, &none), EBUSY, "share_inherit: it stays in the group");
	if (actor_do(&a, act_open, 1, 7))
		tap_bail("cannot use the GPU");
	tap_ok(kfd_list(a.pid, &row, 1) == 1 && row.share == group, "share_inherit: the group is listed for a process that opens KFD later");
	none = 0;
	tap_eq(kfd_share(a.pid, MAX, KFD_PRIO_MAX_NONE, 0, &none), 0, "share_inherit: an administrator takes its limit away");
	tap_eq(none, group, "share_inherit: it is the same group");
	kill(pid, SIGKILL);
	actor_kill(&a);
}

const struct test tests_group[] = {
	{ "share_args", share_args }, { "share_permission", share_permission }, { "share_bare_root", share_bare_root },
	{ "share_inherit", share_inherit }, {}
};
