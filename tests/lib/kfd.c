// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kfd.h"
#include "kfdclient.h"
#include "tap.h"

/* One of our ioctls on a file that is for nothing else; returns 0 or an errno. */
static int call(unsigned long cmd, void *arg)
{
	int kfd = open("/dev/kfd", O_ACCMODE | O_CLOEXEC), err;

	if (kfd < 0)
		return errno;
	err = ioctl(kfd, cmd, arg) ? errno : 0;
	close(kfd);
	return err;
}

static int set(pid_t pid, int prio, unsigned int flags, struct kfd_prio_set_args *out)
{
	struct kfd_prio_set_args a = {
		.pid = pid, .pidfd = syscall(SYS_pidfd_open, pid, 0), .priority = prio, .flags = flags,
	};
	int err;

	if (a.pidfd < 0)
		return errno;
	err = call(KFD_PRIO_IOC_SET, &a);
	close(a.pidfd);
	if (out)
		*out = a;
	return err;
}

int kfd_set(pid_t pid, int prio, struct kfd_prio_set_args *out)
{
	return set(pid, prio, 0, out);
}

int kfd_may_park(pid_t pid, bool may)
{
	return set(pid, KFD_PRIO_UNSET, KFD_PRIO_SET_KEEP | (may ? KFD_PRIO_SET_PARK_AUTO : KFD_PRIO_SET_PARK_NEVER), NULL);
}

static int share(struct kfd_prio_share_args *a, unsigned int flags, unsigned int max, unsigned int weight, uint64_t *group)
{
	int err;

	a->flags = flags;
	a->max = max;
	a->weight = weight;
	a->group = group ? *group : 0;
	err = call(KFD_PRIO_IOC_SHARE, a);
	if (group && !err)
		*group = a->group;
	return err;
}

int kfd_share(pid_t pid, unsigned int flags, unsigned int max, unsigned int weight, uint64_t *group)
{
	struct kfd_prio_share_args a = { .pid = pid };
	int err;

	if (!pid)
		return share(&a, flags, max, weight, group);
	a.pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (a.pidfd < 0)
		return errno;
	err = share(&a, flags | KFD_PRIO_SHARE_PROCESS, max, weight, group);
	close(a.pidfd);
	return err;
}

int kfd_share_cgroup(const char *dir, unsigned int flags, unsigned int max, unsigned int weight, uint64_t *group)
{
	struct kfd_prio_share_args a = { .cgroup = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	int err;

	if (a.cgroup < 0)
		return errno;
	err = share(&a, flags | KFD_PRIO_SHARE_CGROUP, max, weight, group);
	close(a.cgroup);
	return err;
}

static unsigned int shares(struct kfd_prio_share_entry *e, unsigned int n)
{
	struct kfd_prio_shares_args a = { .entries = (unsigned long)e, .entry_size = sizeof(*e), .nr_entries = n };
	int err = call(KFD_PRIO_IOC_SHARES, &a);

	if (err)
		tap_bail("KFD_PRIO_IOC_SHARES: %s", strerror(err));
	return a.nr_entries;
}

bool kfd_share_get(uint64_t group, struct kfd_prio_share_entry *e)
{
	struct kfd_prio_share_entry all[KFD_PRIO_SHARE_ALL_MAX];
	unsigned int i, n = shares(all, KFD_PRIO_SHARE_ALL_MAX);

	for (i = 0; i < n; i++)
		if (all[i].group == group) {
			*e = all[i];
			return true;
		}
	return false;
}

unsigned int kfd_shares(void)
{
	return shares(NULL, 0);
}

struct kfd_prio_get_args kfd_get(pid_t pid)
{
	struct kfd_prio_get_args g = { .pid = pid, .pidfd = syscall(SYS_pidfd_open, pid, 0) };
	int err = call(KFD_PRIO_IOC_GET, &g);

	if (err)
		tap_bail("KFD_PRIO_IOC_GET of %d: %s", pid, strerror(err));
	close(g.pidfd);
	return g;
}

unsigned int kfd_list(pid_t pid, struct kfd_prio_list_entry *rows, unsigned int max)
{
	struct kfd_prio_list_entry e[64] = { 0 };
	struct kfd_prio_list_args l = {
		.entries = (unsigned long)e, .entry_size = sizeof(*e), .nr_entries = 64,
	};
	int err = call(KFD_PRIO_IOC_LIST, &l);
	unsigned int i, n = 0;

	if (err)
		tap_bail("KFD_PRIO_IOC_LIST: %s", strerror(err));
	if (l.nr_entries > 64)
		tap_bail("KFD_PRIO_IOC_LIST: %u rows, room for 64", l.nr_entries);
	for (i = 0; i < l.nr_entries; i++)
		if (e[i].pid == pid && n++ < max)
			rows[n - 1] = e[i];
	return n;
}

bool kfd_mes(struct kfdc *gpu)
{
	uint64_t version;

	if (kfdc_prop(gpu, "gfx_target_version", &version))
		tap_bail("%s", kfdc_error());
	return version >= 110000;
}

pid_t kfd_child(uint32_t prio, bool busy)
{
	return kfd_child_set(prio, KFD_PRIO_UNSET, busy);
}

pid_t kfd_child_set(uint32_t prio, int set, unsigned int dispatches)
{
	struct kfdc_queue_attr attr = { .priority = prio, .percentage = 100, .packets = 64 };
	int fds[2];
	pid_t pid;
	char ch;

	if (pipe(fds))
		tap_bail("pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		struct kfdc_dispatch d = { .ns = 60000000000, .barrier = true };
		struct kfdc_queue *q;
		struct kfdc *c;

		if (set != KFD_PRIO_UNSET && kfd_set(getpid(), set, NULL))
			_exit(1);
		if (kfdc_open(&c, 0) || kfdc_queue_create(c, &attr, &q))
			goto err;
		while (dispatches--)
			if (kfdc_dispatch(q, &d))
				goto err;
		if (write(fds[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
err:
		fprintf(stderr, "child: %s\n", kfdc_error());
		_exit(1);
	}
	close(fds[1]);
	if (pid < 0 || read(fds[0], &ch, 1) != 1)
		tap_bail("the child could not create its queue");
	close(fds[0]);
	return pid;
}

void kfd_child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void kfd_wait_released(pid_t pid)
{
	char path[64];
	int i;

	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d", pid);
	for (i = 0; i < 1000 && !access(path, F_OK); i++)
		usleep(10000);
	if (!access(path, F_OK))
		tap_bail("process %d was not released", pid);
}
