// SPDX-License-Identifier: GPL-2.0
/*
 * totals_test - KFD_PRIO_IOC_GPUS: totals of a GPU agree with those of its processes, and stay when a process
 * ends.  Runs in the VM, alone on the simulated GPU.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "kfd.h"
#include "simgpu.h"
#include "tap.h"

#define PARAM "/sys/module/amdgpu/parameters/"

static int kfd;

static void param(const char *name, const char *value)
{
	char path[128];
	int err;

	snprintf(path, sizeof(path), PARAM "%s", name);
	err = sim_poke(path, value);
	if (err)
		tap_bail("%s: %s", path, strerror(err));
}

static int gpus(struct kfd_prio_gpus_args *a)
{
	return ioctl(kfd, KFD_PRIO_IOC_GPUS, a) ? errno : 0;
}

/* Of an entry in version 1.5 of the interface, the first that has it */
#define SIZE_1_5	96

static struct kfd_prio_gpu_entry totals(void)
{
	struct kfd_prio_gpu_entry e = { 0 };
	struct kfd_prio_gpus_args a = { .entries = (unsigned long)&e, .entry_size = sizeof(e), .nr_entries = 1 };
	int err = gpus(&a);

	if (err || a.nr_entries != 1)
		tap_bail("KFD_PRIO_IOC_GPUS: %s, %u GPUs", strerror(err), a.nr_entries);
	return e;
}

static struct kfd_prio_list_entry entry(pid_t pid)
{
	struct kfd_prio_list_entry e = { 0 };

	kfd_list(pid, &e, 1);
	return e;
}

/* Until so many processes are preempted and parked, 10 s at most */
static struct kfd_prio_gpu_entry wait_totals(unsigned int preempted, unsigned int parked)
{
	struct kfd_prio_gpu_entry e;
	int tries;

	for (tries = 0; tries < 10000; tries++) {
		e = totals();
		if (e.nr_preempted == preempted && e.nr_parked == parked)
			break;
		usleep(1000);
	}
	return e;
}

static bool falls(const struct kfd_prio_gpu_entry *from, const struct kfd_prio_gpu_entry *to)
{
	return to->preemption_count < from->preemption_count || to->preempted_count < from->preempted_count ||
	       to->preempted_ns < from->preempted_ns || to->parked_count < from->parked_count ||
	       to->parked_ns < from->parked_ns || to->saved_count < from->saved_count ||
	       to->saved_ns < from->saved_ns || to->saved_max_ns < from->saved_max_ns ||
	       to->update_ns < from->update_ns || to->throttled_count < from->throttled_count ||
	       to->throttled_ns < from->throttled_ns;
}

static void test_wire(void)
{
	struct kfd_prio_gpu_entry e[2];
	struct kfd_prio_gpus_args a = { .entry_size = sizeof(*e) };
	struct { struct kfd_prio_gpu_entry e; unsigned long more[2]; } longer;

	tap_eq(gpus(&a), 0, "no room: 0");
	tap_eq(a.nr_entries, 1, "... one GPU");
	memset(e, 0xa5, sizeof(e));
	a = (struct kfd_prio_gpus_args){ .entries = (unsigned long)e, .entry_size = sizeof(*e), .nr_entries = 2 };
	tap_eq(gpus(&a), 0, "room for two");
	tap_ok(a.nr_entries == 1 && e[0].gpu_id && e[0].gpu_id != 0xa5a5a5a5 && e[1].gpu_id == 0xa5a5a5a5,
	       "... one is written");
	memset(&longer, 0xa5, sizeof(longer));
	a = (struct kfd_prio_gpus_args){ .entries = (unsigned long)&longer, .entry_size = sizeof(longer), .nr_entries = 1 };
	tap_eq(gpus(&a), 0, "a caller that knows a longer entry");
	tap_ok(a.entry_size == sizeof(*e) && longer.e.gpu_id == e[0].gpu_id && longer.more[0] == 0xa5a5a5a5a5a5a5a5,
	       "... gets the size that was written");
	a = (struct kfd_prio_gpus_args){ .entry_size = sizeof(*e), .flags = 1 };
	tap_eq(gpus(&a), EINVAL, "a flag: EINVAL");
	a = (struct kfd_prio_gpus_args){ .entry_size = sizeof(*e), .pad = 1 };
	tap_eq(gpus(&a), EINVAL, "a pad that is not 0: EINVAL");
	memset(e, 0xa5, sizeof(e));
	a = (struct kfd_prio_gpus_args){ .entries = (unsigned long)e, .entry_size = SIZE_1_5, .nr_entries = 1 };
	tap_eq(gpus(&a), 0, "a caller that knows the entry of 1.5");
	tap_ok(a.entry_size == SIZE_1_5 && e[0].gpu_id == longer.e.gpu_id && e[0].throttled_count == 0xa5a5a5a5a5a5a5a5,
	       "... gets no more");
	a = (struct kfd_prio_gpus_args){ .entry_size = SIZE_1_5 - 8 };
	tap_eq(gpus(&a), EINVAL, "an entry that is too short: EINVAL");
	a = (struct kfd_prio_gpus_args){ .entry_size = sizeof(*e) + 4 };
	tap_eq(gpus(&a), EINVAL, "a size that is no multiple of 8: EINVAL");
	a = (struct kfd_prio_gpus_args){ .entry_size = sizeof(*e), .nr_entries = 1 };
	tap_eq(gpus(&a), EFAULT, "entries at NULL: EFAULT");
	tap_eq(gpus(NULL), EFAULT, "NULL: EFAULT");
}

static void test_preempted(void)
{
	pid_t low = kfd_child_set(7, -1, 2), high = kfd_child_set(7, -1, 2);
	struct kfd_prio_gpu_entry before = totals(), e, late;
	struct kfd_prio_list_entry from, to;

	tap_ok(before.nr_processes == 2 && before.nr_queues == 2 && !before.nr_preempted,
	       "two processes: %u, %u queues", before.nr_processes, before.nr_queues);
	kfd_set(high, 12, NULL);
	e = wait_totals(1, 0);
	tap_ok(e.nr_preempted == 1 && e.preempted_count == before.preempted_count + 1 &&
	       e.preemption_count == before.preemption_count + 1, "one preemption of one process");
	tap_ok(e.update_ns > before.update_ns, "the update took %llu ns",
	       (unsigned long long)(e.update_ns - before.update_ns));
	usleep(10000);
	from = entry(low);
	e = totals();
	to = entry(low);
	tap_ok(e.preempted_ns - before.preempted_ns >= from.preempted_ns &&
	       e.preempted_ns - before.preempted_ns <= to.preempted_ns,
	       "preempted time is that of the process, and runs: %llu, %llu, %llu ns",
	       (unsigned long long)from.preempted_ns, (unsigned long long)(e.preempted_ns - before.preempted_ns),
	       (unsigned long long)to.preempted_ns);
	kfd_child_end(low);
	late = wait_totals(0, 0);
	tap_ok(!late.nr_preempted && late.nr_processes == 1, "the preempted process has ended");
	tap_ok(!falls(&e, &late) && late.preempted_ns > e.preempted_ns, "... the totals stay");
	e = totals();
	tap_ok(e.preempted_ns == late.preempted_ns, "... and stand still");
	kfd_child_end(high);
	late = wait_totals(0, 0);
	tap_ok(!falls(&e, &late), "the other has ended: the totals stay");
}

static void test_parked(void)
{
	struct kfd_prio_gpu_entry before = totals(), e, late;
	pid_t idle = kfd_child(7, false);

	param("idle_park_ms", "10");
	e = wait_totals(0, 1);
	tap_ok(e.nr_parked == 1 && !e.nr_preempted && e.parked_count > before.parked_count, "a process is parked");
	usleep(2000);
	late = totals();
	tap_ok(late.parked_ns > e.parked_ns, "... its time runs");
	kfd_child_end(idle);
	e = wait_totals(0, 0);
	tap_ok(!e.nr_parked && !falls(&late, &e), "it has ended: the totals stay");
	param("idle_park_ms", "0");
}

int main(void)
{
	kfd = open("/dev/kfd", O_ACCMODE | O_CLOEXEC);
	if (kfd < 0)
		tap_bail("/dev/kfd: %s", strerror(errno));
	param("floor_pct", "0");
	param("busy_budget_ms", "60000");
	test_wire();
	test_preempted();
	test_parked();
	param("floor_pct", "5");
	param("busy_budget_ms", "100");
	return tap_done();
}
