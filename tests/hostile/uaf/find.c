// SPDX-License-Identifier: GPL-2.0
/* Those that find processes of KFD while they end before they were made. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/kfd_ioctl.h>
#include <linux/kfd_prio.h>
#include "dbgtrap.h"
#include "tap.h"
#include "uaf.h"

bool is_ours(void)
{
	return !access("/sys/module/amdgpu/parameters/kfd_preempt", F_OK);
}

/* /dev/kfd for our ioctls alone */
static int prio_fd(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open("/dev/kfd", O_ACCMODE | O_CLOEXEC);
	if (fd < 0)
		tap_bail("/dev/kfd: %s", strerror(errno));
	return fd;
}

void do_list(void)
{
	static struct kfd_prio_list_entry e[64];
	struct kfd_prio_list_args a = { .entries = (unsigned long)e, .entry_size = sizeof(e[0]), .nr_entries = 64 };
	unsigned int i;

	if (ioctl(prio_fd(), KFD_PRIO_IOC_LIST, &a))
		count(&st->bad);
	for (i = 0; i < a.nr_entries && i < 64; i++)
		if (e[i].nr_queues || e[i].preempted_count || e[i].pid <= 0)
			count(&st->bad);	/* nobody has a queue */
	count(&st->lists);
	nap_us(20);
}

static void do_get(void)
{
	pid_t pid = st->opener[st->gets % OPENERS];
	struct kfd_prio_get_args g = { .pid = pid, .pidfd = pid ? (int)syscall(SYS_pidfd_open, pid, 0) : -1 };

	if (g.pidfd >= 0) {
		if (!ioctl(prio_fd(), KFD_PRIO_IOC_GET, &g) && g.nr_queues)
			count(&st->bad);
		close(g.pidfd);
		count(&st->gets);
	}
	nap_us(20);
}

static void do_set(void)
{
	pid_t pid = st->opener[st->sets % OPENERS];
	struct kfd_prio_set_args a = {
		.pid = pid, .pidfd = pid ? (int)syscall(SYS_pidfd_open, pid, 0) : -1, .priority = 5,
	};

	if (a.pidfd >= 0) {
		if (!ioctl(prio_fd(), KFD_PRIO_IOC_SET, &a) && a.nr_queues)
			count(&st->bad);
		close(a.pidfd);
		count(&st->sets);
	}
	nap_us(50);
}

void read_file(const char *dir, const char *name)
{
	char path[512], buf[64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (read(fd, buf, sizeof(buf)) > 0)
		count(&st->reads);
	close(fd);
}

/* The file "priority" of each process, and a count of each of its GPUs */
void do_sysfs(void)
{
	DIR *procs = opendir(PROC), *gpus;
	char dir[256], sub[512];
	struct dirent *p, *g;

	while (procs && (p = readdir(procs))) {
		if (p->d_name[0] == '.')
			continue;
		snprintf(dir, sizeof(dir), PROC "/%.16s", p->d_name);
		read_file(dir, "priority");
		gpus = opendir(dir);
		while (gpus && (g = readdir(gpus)))
			if (!strncmp(g->d_name, "stats_", 6)) {
				snprintf(sub, sizeof(sub), "%s/%.64s", dir, g->d_name);
				read_file(sub, "preempted_count");
			}
		if (gpus)
			closedir(gpus);
	}
	if (procs)
		closedir(procs);
	nap_us(20);
}

/* The debugger's ioctl on processes that this one does not trace: it must be refused */
static void do_trap(void)
{
	struct dbgtrap t = { .pid = st->opener[st->traps % OPENERS], .op = TRAP_DISABLE };
	static int fd = -1;

	if (fd < 0) {
		fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
		if (fd < 0)
			tap_bail("the debugger: /dev/kfd: %s", strerror(errno));
		st->debugs = true;
	}
	if (t.pid) {
		if (!ioctl(fd, IOC_DBG_TRAP, &t))
			count(&st->bad);
		count(&st->traps);
	}
	nap_us(20);
}

void (*const finders[FINDERS])(void) = { do_list, do_get, do_set, do_sysfs, do_trap };
