// SPDX-License-Identifier: GPL-2.0
/* nth: the operations */
#include <errno.h>
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kfd.h"
#include "kfdclient.h"
#include "nth.h"
#include "simgpu.h"
#include "tap.h"

static struct kfdc *gpu;
static struct kfdc_queue *queue;
static int kfd, pidfd;
static volatile uint64_t *bell;

/* Waits up to 5 s for a state of this process */
static void wait_until(bool (*reached)(void), const char *state)
{
	int i;

	for (i = 0; !reached(); i++) {
		if (i == 5000)
			tap_bail("not in 5 s: %s", state);
		usleep(1000);
	}
}

static void need_file(void)
{
	kfd = open("/dev/kfd", O_ACCMODE | O_CLOEXEC);
	pidfd = syscall(SYS_pidfd_open, getpid(), 0);
	if (kfd < 0 || pidfd < 0)
		tap_bail("/dev/kfd: %s", strerror(errno));
}

static void need_gpu(void)
{
	need_file();
	if (kfdc_open(&gpu, 0))
		tap_bail("%s", kfdc_error());
}

static void need_queue(void)
{
	struct kfdc_queue_attr attr = KFDC_QUEUE_DEFAULT;

	need_gpu();
	attr.packets = 64;
	if (kfdc_queue_create(gpu, &attr, &queue))
		tap_bail("%s", kfdc_error());
	bell = queue->doorbell;
}

static void need_priority(void)
{
	int err;

	need_queue();
	err = kfd_set(getpid(), 9, NULL);
	if (err)
		tap_bail("set: %s", strerror(err));
}

static void need_group(void)
{
	uint64_t group = 0;
	int err;

	need_queue();
	err = kfd_share(getpid(), KFD_PRIO_SHARE_NEW | KFD_PRIO_SHARE_MAX, 9999, 0, &group);
	if (err)
		tap_bail("share: %s", strerror(err));
}

static int do_ioctl(unsigned long cmd, void *arg)
{
	fault.cmd = cmd;
	return ioctl(kfd, cmd, arg) ? errno : 0;
}

static int do_version(void)
{
	struct kfd_prio_version_args v;

	return do_ioctl(KFD_PRIO_IOC_VERSION, &v);
}

static int do_get(void)
{
	struct kfd_prio_get_args g = { .pid = getpid(), .pidfd = pidfd };

	return do_ioctl(KFD_PRIO_IOC_GET, &g);
}

static int share(unsigned int flags, unsigned int max)
{
	struct kfd_prio_share_args a = {
		.flags = KFD_PRIO_SHARE_PROCESS | KFD_PRIO_SHARE_MAX | flags, .pid = getpid(), .pidfd = pidfd, .max = max,
	};

	return do_ioctl(KFD_PRIO_IOC_SHARE, &a);
}

/* A limit that takes nothing off while this program looks */
static int do_share(void)
{
	return share(KFD_PRIO_SHARE_NEW, 9999);
}

static int do_share_change(void)
{
	return share(0, 9998);
}

static int do_shares(void)
{
	struct kfd_prio_share_entry e[16];
	struct kfd_prio_shares_args a = { .entries = (unsigned long)e, .entry_size = sizeof(*e), .nr_entries = 16 };

	return do_ioctl(KFD_PRIO_IOC_SHARES, &a);
}

static int do_set_to(int prio)
{
	struct kfd_prio_set_args s = { .pid = getpid(), .pidfd = pidfd, .priority = prio };

	return do_ioctl(KFD_PRIO_IOC_SET, &s);
}

static int do_set(void)
{
	return do_set_to(13);
}

static int do_unset(void)
{
	return do_set_to(KFD_PRIO_UNSET);
}

static int do_list(void)
{
	struct kfd_prio_list_entry e[8];
	struct kfd_prio_list_args l = {
		.entries = (uintptr_t)e, .entry_size = sizeof(*e), .nr_entries = 8,
	};

	return do_ioctl(KFD_PRIO_IOC_LIST, &l);
}

static int do_create(void)
{
	struct kfdc_queue_attr attr = KFDC_QUEUE_DEFAULT;

	attr.packets = 64;
	fault.cmd = AMDKFD_IOC_CREATE_QUEUE;
	return -kfdc_queue_create(gpu, &attr, &queue);
}

static int do_update(void)
{
	fault.cmd = AMDKFD_IOC_UPDATE_QUEUE;
	return -kfdc_queue_update(queue, 100, 3);
}

static int do_destroy(void)
{
	struct kfd_ioctl_destroy_queue_args a = { .queue_id = queue->id };

	fault.cmd = AMDKFD_IOC_DESTROY_QUEUE;
	return ioctl(kfdc_fd(gpu), AMDKFD_IOC_DESTROY_QUEUE, &a) ? errno : 0;
}

static int do_open_as(int mode)
{
	int fd, err;

	arm();
	fd = syscall(SYS_openat, AT_FDCWD, "/dev/kfd", mode | O_CLOEXEC);
	disarm();
	err = fd < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	return err;
}

static int do_open(void)
{
	return do_open_as(O_RDWR);
}

static int do_open_ioctl_only(void)
{
	return do_open_as(O_ACCMODE);
}

/* The doorbells once more, and touched */
static int do_mmap(void)
{
	size_t size = 8192;
	void *p;

	arm();
	p = (void *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, kfdc_fd(gpu),
			    queue->doorbell_offset & ~(uint64_t)(size - 1));
	disarm();
	if (p == MAP_FAILED)
		return errno;
	munmap(p, size);
	return 0;
}

static int fork_one(bool inherits)
{
	int status, err;
	pid_t pid;

	arm();
	pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!pid) {
		fault.nth = 0;	/* fault.fd is the parent's; a child begins without */
		_exit(kfd_get(getpid()).priority == (inherits ? 9 : KFD_PRIO_UNSET) ? 0 : 1);
	}
	disarm();
	if (pid < 0)
		return errno;
	err = waitpid(pid, &status, 0) == pid && !status ? 0 : EPROTO;
	return err;
}

/* A child that inherits: it must, as the priority table has a reserve for it */
static int do_fork(void)
{
	return fork_one(true);
}

/* Unless the reserve is used up: then it has none, and that is logged */
static int do_fork_alone(void)
{
	return fork_one(!fault.nth || fault.nth > 1);
}

static struct kfdc_signal *done;
static pid_t other;	/* somebody to preempt */

#define PREEMPTION "/sys/kernel/debug/kfd/preempt"

/*
 * The doorbells are trapped some time after the priority was set. Only the fault of a trapped doorbell sends the runlist.
 * A driver that was loaded without debugfs does not say when: a second is longer than that takes.
 */
static bool is_trapped(void)
{
	char want[64], line[256];
	FILE *file = fopen(PREEMPTION, "re");
	bool found = false;

	if (!file && errno == ENOENT) {
		usleep(1000000);
		return true;
	}
	if (!file)
		tap_bail(PREEMPTION ": %s", strerror(errno));
	snprintf(want, sizeof(want), "may preempt: PID %d priority 13: idle, its doorbells are trapped", getpid());
	while (!found && fgets(line, sizeof(line), file))
		found = strstr(line, want);
	fclose(file);
	return found;
}

static void need_victim(void)
{
	need_file();
	/* before this process is in the runlist, so that it owns nothing of it */
	other = kfd_child(7, true);
	need_queue();
	if (kfdc_signal_create(gpu, false, &done) || kfd_set(getpid(), 13, NULL))
		tap_bail("%s", kfdc_error());
	wait_until(is_trapped, "its doorbells are trapped");
}

/* The next ring, of a trapped doorbell: the page fault, and what its engine does */
static int ring_trapped(void)
{
	struct kfdc_dispatch d = { .ns = 1000, .barrier = true, .signal = done, .no_ring = true };
	uint64_t at = *queue->wptr;
	int err;

	kfdc_signal_set(done, 1);
	err = kfdc_dispatch(queue, &d);
	if (err)
		return -err;
	arm();
	*bell = at;
	disarm();
	return -kfdc_signal_wait(done, 60000000000ULL);
}

/* The first ring after the priority was set: the preemption */
static int do_preempt(void)
{
	return ring_trapped();
}

static void undo_preempt(void)
{
	kfd_child_end(other);
}

#define IDLE_PARK_MS	"/sys/module/amdgpu/parameters/idle_park_ms"

static int park_fd;

/* Has a queue, had work, and may be parked when it has had none for @ms */
static void need_idle(const char *ms)
{
	need_queue();
	park_fd = open(IDLE_PARK_MS, O_WRONLY | O_CLOEXEC);
	if (park_fd < 0 || sim_poke(IDLE_PARK_MS, ms) || kfdc_signal_create(gpu, false, &done))
		tap_bail("parking: %s", strerror(errno));
	kfdc_signal_set(done, 1);
	if (kfdc_dispatch(queue, &(struct kfdc_dispatch){ .ns = 1000, .barrier = true, .signal = done }) ||
	    kfdc_signal_wait(done, 60000000000ULL))
		tap_bail("%s", kfdc_error());
}

static bool is_parked(void)
{
	struct kfd_prio_list_entry e;

	return kfd_list(getpid(), &e, 1) && e.flags & KFD_PRIO_LIST_PARKED;
}

static void need_parked(void)
{
	need_idle("1");
	wait_until(is_parked, "it is parked");
}

/* The ring of a process that may preempt sends the runlist in its own fault; that of another one wakes the GPU's thread */
static void need_parked_claim(void)
{
	need_idle("1");
	if (kfd_set(getpid(), 13, NULL))
		tap_bail("%s", kfdc_error());
	wait_until(is_parked, "it is parked");
}

/* Seen without work, which is looked at every 10 ms */
static void need_unparked(void)
{
	need_idle("60000");
	usleep(100000);
}

static int write_park_ms(const char *ms)
{
	int err;

	arm();
	err = write(park_fd, ms, strlen(ms)) < 0 ? errno : 0;
	disarm();
	return err;
}

/* The engine parks in the context of who writes the parameter, and puts back in it */
static int do_park(void)
{
	return write_park_ms("1");
}

static int do_unpark_all(void)
{
	return write_park_ms("0");
}

static int do_unpark(void)
{
	return ring_trapped();
}

static void undo_park(void)
{
	sim_poke(IDLE_PARK_MS, "0");
}

const struct op ops[] = {
	{ "version", need_file, do_version },
	{ "get", need_queue, do_get },
	{ "set", need_queue, do_set, NULL, LATE },
	{ "change", need_priority, do_set, NULL, LATE },
	{ "unset", need_priority, do_unset, NULL, LATE },
	{ "list", need_queue, do_list },
	{ "share", need_queue, do_share, NULL, LATE },
	{ "share-change", need_group, do_share_change, NULL, LATE },
	{ "shares", need_group, do_shares },
	/* what KFD allocates for its own files in sysfs it cannot do without: Documentation/testing.rst */
	{ "open", need_file, do_open, NULL, LATE, .within = "kfd_prio_hook_process_opened" },
	{ "open-priority", need_file, do_open, NULL, LATE, .within = "kfd_prio_hook_process_sysfs" },
	{ "open-stats", need_file, do_open, NULL, LATE, .within = "kfd_prio_hook_stats_sysfs" },
	{ "open-ioctl-only", need_file, do_open_ioctl_only },
	{ "create", need_gpu, do_create, NULL, LATE, .without = "kobject_init_and_add" },
	{ "update", need_queue, do_update, NULL, STOCK },
	{ "destroy", need_queue, do_destroy, NULL, LATE },
	{ "mmap", need_queue, do_mmap, NULL, REMAP },
	{ "fork", need_priority, do_fork },
	{ "fork-alone", need_priority, do_fork_alone, NULL, FUNCTION },
	{ "preempt", need_victim, do_preempt, undo_preempt },
	{ "park", need_unparked, do_park, undo_park },
	{ "unpark", need_parked_claim, do_unpark, undo_park },
	{ "unpark-all", need_parked, do_unpark_all, undo_park },
};

const unsigned int nr_ops = sizeof(ops) / sizeof(*ops);
