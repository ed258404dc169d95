// SPDX-License-Identifier: GPL-2.0
/* Rows: users and capabilities; descriptors of /dev/kfd and how one comes by them */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/capability.h>
#include "security.h"

#define BIT(n)	(1U << (n))

/* CAP_SYS_NICE and nothing else, or everything but that */
static void capabilities(struct attempt *a, bool nice_only)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &h, d))
		broken(a, "capget");
	if (nice_only) {
		memset(d, 0, sizeof(d));
		d[0].permitted = BIT(CAP_SYS_NICE);
	} else {
		d[0].permitted &= ~BIT(CAP_SYS_NICE);
	}
	d[0].effective = d[0].permitted;
	d[1].effective = d[1].permitted;
	if (syscall(SYS_capset, &h, d))
		broken(a, "capset");
}

static void own(struct attempt *a)
{
	target(a, ALICE, NULL);
	become(a, ALICE);
	attempt(a);
}

static void another_user(struct attempt *a)
{
	target(a, BOB, NULL);
	become(a, ALICE);
	attempt(a);
}

static void root_owned(struct attempt *a)
{
	target(a, 0, NULL);
	become(a, ALICE);
	attempt(a);
}

static void with_nice(struct attempt *a)
{
	target(a, BOB, NULL);
	prctl(PR_SET_KEEPCAPS, 1);
	become(a, ALICE);
	capabilities(a, true);
	attempt(a);
}

static void root(struct attempt *a)
{
	target(a, BOB, NULL);
	attempt(a);
}

static void root_without(struct attempt *a)
{
	target(a, BOB, NULL);
	capabilities(a, false);
	attempt(a);
}

static void no_access(struct attempt *a)
{
	target(a, ALICE, NULL);
	if (chmod("/dev/kfd", 0660))
		broken(a, "chmod");
	become(a, ALICE);
	attempt(a);
}

static void read_only(struct attempt *a)
{
	target(a, ALICE, NULL);
	if (chmod("/dev/kfd", 0444))
		broken(a, "chmod");
	become(a, ALICE);
	/* reading is not enough for the mode that is for ioctls alone */
	if (open("/dev/kfd", O_ACCMODE | O_CLOEXEC) >= 0) {
		errno = 0;
		broken(a, "access mode 3 asks for no right to write");
	}
	a->kfd = open("/dev/kfd", O_RDONLY | O_CLOEXEC);
	if (a->kfd < 0)
		broken(a, "/dev/kfd");
	attempt(a);
}

/* One descriptor through a socket: from a child that opens it as @from */
static int passed(struct attempt *a, uid_t from, int mode)
{
	char room[CMSG_SPACE(sizeof(int))] = "", ch = 0;
	struct iovec io = { &ch, 1 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room) };
	struct cmsghdr *c;
	int sv[2], fd;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		broken(a, "socketpair");
	if (!fork()) {
		become(a, from);
		fd = open("/dev/kfd", mode | O_CLOEXEC);
		if (fd < 0)
			broken(a, "/dev/kfd");
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
		if (sendmsg(sv[0], &m, 0) != 1)
			broken(a, "sendmsg");
		/* whose descriptor it was lives on */
		pause();
		_exit(0);
	}
	if (recvmsg(sv[1], &m, 0) != 1 || !(c = CMSG_FIRSTHDR(&m)))
		broken(a, "recvmsg");
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

static void passed_by_root(struct attempt *a)
{
	target(a, BOB, NULL);
	a->kfd = passed(a, 0, O_RDWR);
	become(a, ALICE);
	attempt(a);
}

static void passed_to_root(struct attempt *a)
{
	target(a, BOB, NULL);
	a->kfd = passed(a, ALICE, O_RDWR);
	attempt(a);
}

/* The descriptor of a process of its own for nothing but ioctls is of no other use to others */
static void passed_mode_3(struct attempt *a)
{
	target(a, ALICE, NULL);
	a->kfd = passed(a, 0, O_ACCMODE);
	become(a, ALICE);
	attempt(a);
}

static void opened_as_root(struct attempt *a)
{
	target(a, BOB, NULL);
	a->kfd = open("/dev/kfd", O_ACCMODE | O_CLOEXEC);
	if (a->kfd < 0)
		broken(a, "/dev/kfd");
	become(a, ALICE);
	attempt(a);
}

const struct row rows_users[] = {
	{ "a user, on their own process", own, "yes yes EPERM yes yes EACCES EACCES" },
	{ "a user, on another user's", another_user, "yes EPERM EPERM yes yes EACCES EACCES" },
	{ "a user, on root's", root_owned, "yes EPERM EPERM yes yes EACCES EACCES" },
	{ "a user with CAP_SYS_NICE, on another user's", with_nice, "yes yes yes yes yes EACCES EACCES" },
	{ "root, on a user's", root, "yes yes yes yes yes yes yes" },
	{ "root without CAP_SYS_NICE, on a user's", root_without, "yes EPERM EPERM yes yes yes yes" },
	{ "a user who may not open /dev/kfd", no_access, "EACCES EACCES EACCES EACCES yes EACCES EACCES" },
	{ "a user who may only read /dev/kfd, on their own", read_only, "yes yes EPERM yes yes EACCES EACCES" },
	{ "a user with root's descriptor (SCM_RIGHTS), on another's", passed_by_root,
	  "yes EPERM EPERM yes yes EACCES EACCES" },
	{ "root with a user's descriptor (SCM_RIGHTS), on another's", passed_to_root, "yes yes yes yes yes yes yes" },
	{ "a user with root's descriptor of mode 3, on their own", passed_mode_3, "yes yes EPERM yes yes EACCES EACCES" },
	{ "a user who opened /dev/kfd as root, on another's", opened_as_root, "yes EPERM EPERM yes yes EACCES EACCES" },
	{}
};
