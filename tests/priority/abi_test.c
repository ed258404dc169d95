// SPDX-License-Identifier: GPL-2.0
/*
 * abi_test - the wire format of include/uapi/linux/kfd_prio.h, byte by byte: sizes,
 * extension, pads, bad addresses, the two kinds of files.  Runs in the VM.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/kfd_prio.h>
#include "kfd.h"
#include "tap.h"

static int kfd, kfd_full;

/* The number of an ioctl with another size of struct */
static unsigned long sized(unsigned long cmd, unsigned int size)
{
	return _IOC(_IOC_DIR(cmd), _IOC_TYPE(cmd), _IOC_NR(cmd), size);
}

static int errno_of(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? errno : 0;
}

static int kfd_processes(void)
{
	DIR *d = opendir("/sys/class/kfd/kfd/proc");
	struct dirent *e;
	int n = 0;

	if (!d)
		tap_bail("no /sys/class/kfd/kfd/proc");
	while ((e = readdir(d)))
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static void test_sizes(void)
{
	tap_eq(sizeof(struct kfd_prio_version_args), 16, "size of kfd_prio_version_args");
	tap_eq(sizeof(struct kfd_prio_set_args), 40, "size of kfd_prio_set_args");
	tap_eq(sizeof(struct kfd_prio_get_args), 40, "size of kfd_prio_get_args");
	tap_eq(sizeof(struct kfd_prio_list_args), 24, "size of kfd_prio_list_args");
	tap_eq(sizeof(struct kfd_prio_list_entry), 152, "size of kfd_prio_list_entry");
	tap_ok(offsetof(struct kfd_prio_list_entry, preempted_count) == 32 &&
	       offsetof(struct kfd_prio_list_entry, preempting_count) == 40 &&
	       offsetof(struct kfd_prio_list_entry, preempted_ns) == 48,
	       "what 1.1 added to it comes after the 32 bytes of 1.0");
	tap_ok(offsetof(struct kfd_prio_list_entry, saved_count) == 56 &&
	       offsetof(struct kfd_prio_list_entry, saved_ns) == 64 &&
	       offsetof(struct kfd_prio_list_entry, saved_max_ns) == 72, "and what 1.3 added after the 56 of 1.1");
	tap_ok(offsetof(struct kfd_prio_list_entry, parked_count) == 80 &&
	       offsetof(struct kfd_prio_list_entry, parked_ns) == 88, "and what 1.4 added after the 80 of 1.3");
	tap_ok(offsetof(struct kfd_prio_list_entry, set_by) == 96 &&
	       offsetof(struct kfd_prio_list_entry, never_parked_by) == 100, "and what 1.5 added after the 96 of 1.4");
	tap_ok(offsetof(struct kfd_prio_set_args, start_ns) == 24 &&
	       offsetof(struct kfd_prio_get_args, start_ns) == 32, "and start_ns after all that was before it");
	tap_ok(offsetof(struct kfd_prio_set_args, serial) == 32 && offsetof(struct kfd_prio_list_entry, serial) == 104 &&
	       offsetof(struct kfd_prio_list_entry, euid) == 112 && offsetof(struct kfd_prio_list_entry, nr_groups) == 116 &&
	       offsetof(struct kfd_prio_notify_record, serial) == 32, "and what 1.6 added after that");
	tap_ok(offsetof(struct kfd_prio_list_entry, share) == 120 && offsetof(struct kfd_prio_list_entry, cgroup_share) == 128 &&
	       offsetof(struct kfd_prio_list_entry, throttled_count) == 136 &&
	       offsetof(struct kfd_prio_list_entry, throttled_ns) == 144, "and what 1.7 added after that");
	tap_eq(KFD_PRIO_IOC_VERSION, 0x80104bf0, "number of _VERSION");
	tap_eq(KFD_PRIO_IOC_SET, 0xc0284bf1, "number of _SET");
	tap_eq(KFD_PRIO_IOC_GET, 0xc0284bf2, "number of _GET");
	tap_eq(KFD_PRIO_IOC_LIST, 0xc0184bf3, "number of _LIST");
	tap_eq(sizeof(struct kfd_prio_gpus_args), 24, "size of kfd_prio_gpus_args");
	tap_eq(sizeof(struct kfd_prio_gpu_entry), 112, "size of kfd_prio_gpu_entry");
	tap_eq(offsetof(struct kfd_prio_gpu_entry, throttled_count), 96, "what 1.7 added to it is behind what 1.5 has");
	tap_eq(KFD_PRIO_IOC_GPUS, 0xc0184bf5, "number of _GPUS");
	tap_eq(sizeof(struct kfd_prio_share_args), 40, "size of kfd_prio_share_args");
	tap_eq(sizeof(struct kfd_prio_shares_args), 24, "size of kfd_prio_shares_args");
	tap_eq(sizeof(struct kfd_prio_share_entry), 80, "size of kfd_prio_share_entry");
	tap_eq(KFD_PRIO_IOC_SHARE, 0xc0284bf6, "number of _SHARE");
	tap_eq(KFD_PRIO_IOC_SHARES, 0xc0184bf7, "number of _SHARES");
}

static void test_files(void)
{
	/* AMDKFD_IOC_GET_VERSION, without its header */
	unsigned long kfd_version = _IOC(_IOC_READ, 'K', 1, 8);
	char buf[256];
	int before, tries = 3000;

	/* KFD ends a process in a workqueue: those of the tests before may still be there */
	while ((before = kfd_processes()) && --tries)
		usleep(10000);
	tap_eq(before, 0, "no KFD process is left of the tests before");
	kfd = open("/dev/kfd", O_ACCMODE | O_CLOEXEC);
	if (kfd < 0)
		tap_bail("/dev/kfd: %s", strerror(errno));
	tap_eq(kfd_processes(), before, "access mode 3 makes no KFD process");
	tap_eq(errno_of(kfd, kfd_version, buf), EBADF, "KFD's own ioctls are refused on it");
	tap_eq(errno_of(kfd, _IO('Z', 1), buf), EBADF, "others, too");
	tap_ok(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, kfd, 0) == MAP_FAILED,
	       "it cannot be mapped");
	tap_ok(read(kfd, buf, 1) < 0 && write(kfd, buf, 1) < 0, "nor read, nor written");
	kfd_full = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	tap_eq(kfd_processes(), before + 1, "an ordinary file does make one");
	tap_eq(errno_of(kfd_full, kfd_version, buf), 0, "KFD's own ioctls work on that");
	tap_eq(errno_of(kfd_full, _IOC(_IOC_READ | _IOC_WRITE, 'K', KFD_PRIO_IOC_LAST + 1, 24), buf), ENOTTY,
	       "a number of ours that is not taken: ENOTTY");
	tap_eq(errno_of(kfd, _IOC(_IOC_READ | _IOC_WRITE, 'K', 0xff, 24), buf), ENOTTY,
	       "also on the file of mode 3");
	tap_eq(errno_of(kfd_full, _IOC(_IOC_WRITE, 'K', 0xf1, 24), buf), ENOTTY,
	       "a number of ours with another direction: ENOTTY");
	tap_eq(errno_of(kfd_full, _IOC(_IOC_READ | _IOC_WRITE, 'Q', 0xf1, 24), buf), ENOTTY,
	       "another type with a number of ours: KFD's answer");
}

static void test_version(void)
{
	struct { struct kfd_prio_version_args v; char more[16]; } big;
	struct kfd_prio_version_args v;
	int i, set = 0;
	char *page2;

	memset(&v, 0xff, sizeof(v));
	tap_eq(errno_of(kfd, KFD_PRIO_IOC_VERSION, &v), 0, "_VERSION");
	tap_ok(v.major == KFD_PRIO_VERSION_MAJOR && v.minor == KFD_PRIO_VERSION_MINOR &&
	       v.features == (KFD_PRIO_FEATURE_INHERIT | KFD_PRIO_FEATURE_PREEMPT | KFD_PRIO_FEATURE_RULES |
			     KFD_PRIO_FEATURE_SHARES) && !v.pad, "_VERSION: %u.%u, features %#x",
	       v.major, v.minor, v.features);
	memset(&v, 0xff, sizeof(v));
	tap_ok(!ioctl(kfd_full, KFD_PRIO_IOC_VERSION, &v) && v.major == KFD_PRIO_VERSION_MAJOR,
	       "_VERSION on an ordinary file");
	memset(&big, 0xff, sizeof(big));
	tap_eq(errno_of(kfd, sized(KFD_PRIO_IOC_VERSION, sizeof(big)), &big), 0,
	       "_VERSION with a longer struct");
	for (i = 0; i < 16; i++)
		set |= big.more[i];
	tap_ok(big.v.major == KFD_PRIO_VERSION_MAJOR && !set, "_VERSION: the rest of it is 0");
	tap_eq(errno_of(kfd, KFD_PRIO_IOC_VERSION, NULL), EFAULT, "_VERSION to NULL: EFAULT");
	page2 = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page2 + 4096, 4096);
	tap_eq(errno_of(kfd, sized(KFD_PRIO_IOC_VERSION, sizeof(big)), page2 + 4096 - sizeof(big.v)), EFAULT,
	       "_VERSION to a longer one that ends outside of memory: EFAULT");
	munmap(page2, 4096);
}

static void test_set_get(void)
{
	int pidfd = syscall(SYS_pidfd_open, getpid(), 0);
	struct { struct kfd_prio_set_args a; char more[16]; } big = {
		.a = { .pid = getpid(), .pidfd = pidfd, .priority = 3 },
	};
	struct kfd_prio_set_args good = big.a, a;
	struct kfd_prio_get_args g = { .pid = getpid(), .pidfd = pidfd };
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *page2;
	int other;
	pid_t pid;

#define REFUSED(change, err, name)						\
	do {									\
		a = good;							\
		change;								\
		tap_eq(errno_of(kfd, KFD_PRIO_IOC_SET, &a), err, "_SET: " name);	\
	} while (0)
	REFUSED(a.priority = 16, EINVAL, "priority 16: EINVAL");
	REFUSED(a.priority = -2, EINVAL, "priority -2: EINVAL");
	REFUSED(a.priority = 0x7fffffff, EINVAL, "priority INT_MAX: EINVAL");
	REFUSED(a.flags = 8, EINVAL, "an unknown flag: EINVAL");
	REFUSED(a.flags = KFD_PRIO_SET_PARK_NEVER | KFD_PRIO_SET_PARK_AUTO, EINVAL, "never and auto: EINVAL");
	REFUSED(a.flags = KFD_PRIO_SET_KEEP, EINVAL, "a priority, and to keep the present one: EINVAL");
	REFUSED(a.pid = 0, EINVAL, "pid 0: EINVAL");
	REFUSED(a.pid = -1, EINVAL, "pid -1: EINVAL");
	REFUSED(a.pid = 0x3fffff, ESRCH, "no such process: ESRCH");
	REFUSED(a.pidfd = -1, EBADF, "pidfd -1: EBADF");
	REFUSED(a.pidfd = 999, EBADF, "pidfd not open: EBADF");
	REFUSED(a.pidfd = kfd, ESRCH, "not a pidfd: ESRCH");
	REFUSED(a.pid = 1, ESRCH, "pid and pidfd of different processes: ESRCH");
	REFUSED(a.start_ns = 1, ESRCH, "a process that began at another time: ESRCH");
	REFUSED(a.pid = 2; a.pidfd = syscall(SYS_pidfd_open, 2, 0), EINVAL,
		"a kernel thread: EINVAL");
	tap_ok(!ioctl(kfd, KFD_PRIO_IOC_GET, &g) && g.priority == KFD_PRIO_UNSET,
	       "none of these has changed anything");

	pid = fork();
	if (!pid)
		_exit(0);
	other = syscall(SYS_pidfd_open, pid, 0);
	usleep(100000);
	a = (struct kfd_prio_set_args){ .pid = pid, .pidfd = other, .priority = 3 };
	tap_eq(errno_of(kfd, KFD_PRIO_IOC_SET, &a), ESRCH, "_SET: a zombie: ESRCH");
	waitpid(pid, NULL, 0);
	tap_eq(errno_of(kfd, KFD_PRIO_IOC_SET, &a), ESRCH, "_SET: it is gone: ESRCH");
	close(other);

	tap_eq(errno_of(kfd, sized(KFD_PRIO_IOC_SET, 23), &good), EINVAL,
	       "_SET: a struct shorter than that of 1.0: EINVAL");
	tap_eq(errno_of(kfd, sized(KFD_PRIO_IOC_SET, sizeof(big)), &big), 0,
	       "_SET: a longer one, the rest 0");
	tap_eq(big.a.old_priority, KFD_PRIO_UNSET, "_SET: none was set before");
	a = good;
	a.start_ns = ~0ULL;
	tap_eq(errno_of(kfd, sized(KFD_PRIO_IOC_SET, 24), &a), 0, "_SET: the struct of 1.0, and what is behind it is not looked at");
	big.more[15] = 1;
	big.a.priority = 4;
	tap_eq(errno_of(kfd, sized(KFD_PRIO_IOC_SET, sizeof(big)), &big), E2BIG,
	       "_SET: a longer one, the rest not 0: E2BIG");
	page2 = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page2 + 4096, 4096);
	big.a.priority = 3;
	memcpy(page2 + 4096 - sizeof(big.a), &big.a, sizeof(big.a));
	tap_eq(errno_of(kfd, sized(KFD_PRIO_IOC_SET, sizeof(big)), page2 + 4096 - sizeof(big.a)),
	       EFAULT, "_SET: a longer one that ends outside of memory: EFAULT");
	tap_eq(errno_of(kfd, KFD_PRIO_IOC_SET, NULL), EFAULT, "_SET from NULL: EFAULT");
	tap_eq(errno_of(kfd, KFD_PRIO_IOC_GET, page), EINVAL, "_GET: pid 0: EINVAL");

	g.priority = 99;
	tap_ok(!ioctl(kfd, KFD_PRIO_IOC_GET, &g) && g.priority == 3 &&
	       g.effective == KFD_PRIO_UNSET && !g.nr_queues,
	       "_GET: priority %d, effective %d, %u queues", g.priority, g.effective, g.nr_queues);
	/* a program of 1.0: its struct is the first 24 bytes of ours */
	g.set_by = g.never_parked_by = 99;
	tap_ok(!ioctl(kfd, sized(KFD_PRIO_IOC_GET, 24), &g) && g.priority == 3 && g.set_by == 99 && g.never_parked_by == 99,
	       "_GET: the struct of 1.0, and not a byte more");
	tap_ok(!ioctl(kfd, KFD_PRIO_IOC_GET, &g) && g.set_by == KFD_PRIO_BY_ADMIN && !g.never_parked_by, "_GET: set by us");
	g.flags = 1;
	tap_eq(errno_of(kfd, KFD_PRIO_IOC_GET, &g), EINVAL, "_GET: an unknown flag: EINVAL");
	a = good;
	a.priority = KFD_PRIO_UNSET;
	tap_ok(!ioctl(kfd, KFD_PRIO_IOC_SET, &a) && a.old_priority == 3, "_SET: unset returns 3");
	close(pidfd);
}

/* Flags of our only row of _LIST, and of a child's that has opened /dev/kfd */
static unsigned int listed_flags(pid_t pid)
{
	struct kfd_prio_list_entry e;

	return kfd_list(pid, &e, 1) ? e.flags : ~0U;
}

/* Whether a process may be parked: beside a priority or alone, inherited, kept over exec */
static void test_park(void)
{
	struct kfd_prio_set_args a = {
		.pid = getpid(), .pidfd = syscall(SYS_pidfd_open, getpid(), 0), .priority = KFD_PRIO_UNSET,
		.flags = KFD_PRIO_SET_KEEP | KFD_PRIO_SET_PARK_NEVER,
	}, b;
	pid_t pid;

	tap_eq(listed_flags(getpid()), 0, "park: a process may be parked");
	b = a;
	tap_ok(!ioctl(kfd, KFD_PRIO_IOC_SET, &b) && listed_flags(getpid()) == KFD_PRIO_LIST_PARK_NEVER &&
	       kfd_get(getpid()).priority == KFD_PRIO_UNSET, "park: never, and no priority is set");
	b = a;
	b.flags = 0;
	b.priority = 3;
	tap_ok(!ioctl(kfd, KFD_PRIO_IOC_SET, &b) && b.old_priority == KFD_PRIO_UNSET &&
	       listed_flags(getpid()) == KFD_PRIO_LIST_PARK_NEVER, "park: a priority leaves it as it is");
	pid = fork();
	if (!pid) {
		execlp("sh", "sh", "-c", "exec 3<>/dev/kfd; kill -STOP $$", NULL);
		_exit(1);
	}
	while (listed_flags(pid) == ~0U && !waitpid(pid, NULL, WNOHANG))
		usleep(1000);
	tap_ok(listed_flags(pid) == KFD_PRIO_LIST_PARK_NEVER && kfd_get(pid).priority == 3,
	       "park: a child inherits it, and exec keeps it");
	b = a;
	b.flags = KFD_PRIO_SET_KEEP | KFD_PRIO_SET_PARK_AUTO;
	tap_ok(!ioctl(kfd, KFD_PRIO_IOC_SET, &b) && listed_flags(getpid()) == 0 && kfd_get(getpid()).priority == 3,
	       "park: auto, and the priority stays");
	tap_eq(listed_flags(pid), KFD_PRIO_LIST_PARK_NEVER, "park: the child is another process");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	b = a;
	b.flags = KFD_PRIO_SET_PARK_NEVER;
	tap_ok(!ioctl(kfd, KFD_PRIO_IOC_SET, &b) && b.old_priority == 3 && kfd_get(getpid()).priority == KFD_PRIO_UNSET &&
	       listed_flags(getpid()) == KFD_PRIO_LIST_PARK_NEVER, "park: never, and the priority is taken away, in one");
	b = a;
	b.flags = KFD_PRIO_SET_PARK_AUTO;
	tap_ok(!ioctl(kfd, KFD_PRIO_IOC_SET, &b) && listed_flags(getpid()) == 0, "park: and auto again");
	close(a.pidfd);
}

static void test_list(void)
{
	struct { struct kfd_prio_list_entry e; unsigned long long more; } wide[16];
	struct { struct kfd_prio_list_entry e; char old[32]; } narrow;
	struct kfd_prio_list_entry e[16];
	struct kfd_prio_list_args l, good = {
		.entries = (unsigned long)e, .entry_size = sizeof(*e), .nr_entries = 16,
	};

	memset(e, 0xff, sizeof(e));
	l = good;
	tap_eq(errno_of(kfd, KFD_PRIO_IOC_LIST, &l), 0, "_LIST");
	tap_ok(l.nr_entries == 1 && l.entry_size == sizeof(*e) && e[0].pid == getpid() &&
	       e[0].gpu_id && e[0].priority == KFD_PRIO_UNSET && !e[0].nr_queues && !e[0].pad,
	       "_LIST: ourselves, on one GPU");
	tap_ok(!e[0].flags && !e[0].preempted_count && !e[0].preempting_count && !e[0].preempted_ns,
	       "_LIST: never preempted");
	tap_eq(e[1].pid, -1, "_LIST: and not a byte more");
	l = good;
	l.nr_entries = 0;
	tap_ok(!ioctl(kfd, KFD_PRIO_IOC_LIST, &l) && l.nr_entries == 1, "_LIST: no room, the number");
	l = good;
	l.nr_entries = 0xffffffff;
	tap_ok(!ioctl(kfd, KFD_PRIO_IOC_LIST, &l) && l.nr_entries == 1,
	       "_LIST: more room than memory is no problem");
	memset(wide, 0xff, sizeof(wide));
	l = good;
	l.entries = (unsigned long)wide;
	l.entry_size = sizeof(*wide);
	tap_ok(!ioctl(kfd, KFD_PRIO_IOC_LIST, &l) && l.entry_size == sizeof(*e) &&
	       wide[0].e.pid == getpid() && wide[0].more == ~0ULL, "_LIST: wider entries");
	/* a program of 1.0: its entries are the first 32 bytes of ours */
	memset(&narrow, 0xff, sizeof(narrow));
	l = good;
	l.entries = (unsigned long)&narrow;
	l.entry_size = 32;
	tap_ok(!ioctl(kfd, KFD_PRIO_IOC_LIST, &l) && l.entry_size == 32 && l.nr_entries == 1 &&
	       !memcmp(&narrow, e, 32), "_LIST: entries of 1.0");
	tap_ok(narrow.e.preempted_count == ~0ULL && narrow.e.preempting_count == ~0ULL &&
	       narrow.e.preempted_ns == ~0ULL, "_LIST: and not a byte more");
#define LIST_REFUSED(change, err, name)						\
	do {									\
		l = good;							\
		change;								\
		tap_eq(errno_of(kfd, KFD_PRIO_IOC_LIST, &l), err, "_LIST: " name);	\
	} while (0)
	LIST_REFUSED(l.entry_size = 24, EINVAL, "narrower entries than 1.0's: EINVAL");
	LIST_REFUSED(l.entry_size = 36, EINVAL, "entries not a multiple of 8: EINVAL");
	LIST_REFUSED(l.flags = 1, EINVAL, "an unknown flag: EINVAL");
	LIST_REFUSED(l.pad = 1, EINVAL, "a pad that is not 0: EINVAL");
	LIST_REFUSED(l.entries = 8, EFAULT, "a bad address: EFAULT");
	LIST_REFUSED(l.entries = ~0ULL - 7, EFAULT, "a kernel address: EFAULT");
}

int main(void)
{
	test_sizes();
	test_files();
	test_version();
	test_set_get();
	test_park();
	test_list();
	return tap_done();
}
