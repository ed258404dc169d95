// SPDX-License-Identifier: GPL-2.0
/*
 * stats_test - what is told of preemption: KFD_PRIO_IOC_LIST, sysfs, debugfs agree with
 * each other and with who is off the GPU.  Runs in the VM, alone on the simulated GPU.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "kfd.h"
#include "kfdclient.h"
#include "simgpu.h"
#include "tap.h"

#define PARAM "/sys/module/amdgpu/parameters/"
#define DEBUGFS "/sys/kernel/debug/kfd/preempt"

static void param(const char *name, const char *value)
{
	char path[128];
	int err;

	snprintf(path, sizeof(path), PARAM "%s", name);
	err = sim_poke(path, value);
	if (err)
		tap_bail("%s: %s", path, strerror(err));
}

/* A process with work for minutes, also for a GPU that cannot tell whether waves are in flight */
static pid_t client(int set_prio)
{
	return kfd_child_set(7, set_prio, 2);
}

static struct kfd_prio_list_entry entry(pid_t pid)
{
	struct kfd_prio_list_entry e = { 0 };

	kfd_list(pid, &e, 1);
	return e;
}

/* Until the flags of @mask are @flags, 10 s at most: the last look at it */
static struct kfd_prio_list_entry wait_flags(pid_t pid, unsigned int mask, unsigned int flags)
{
	struct kfd_prio_list_entry e;
	int tries;

	for (tries = 0; tries < 10000; tries++) {
		e = entry(pid);
		if ((e.flags & mask) == flags)
			break;
		usleep(1000);
	}
	return e;
}

static unsigned long long stat_of(pid_t pid, const char *name)
{
	unsigned long long value;
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d/stats_%u/%s", pid,
		 entry(pid).gpu_id, name);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%llu", &value) != 1)
		tap_bail("%s: %s", path, strerror(errno));
	fclose(f);
	return value;
}

/* Does the file in debugfs say so? */
static bool told(const char *format, int pid)
{
	char text[8192], want[128];
	size_t n;
	FILE *f = fopen(DEBUGFS, "r");

	if (!f)
		tap_bail(DEBUGFS ": %s", strerror(errno));
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	/* the formats are those of the callers: what has no PID in it ignores it */
	/* cppcheck-suppress wrongPrintfScanfArgNum */
	snprintf(want, sizeof(want), format, pid);
	if (strstr(text, want))
		return true;
	tap_diag("not told: %s", want);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		tap_diag("%s", line);
	return false;
}

static bool wait_told(const char *text)
{
	char line[512];
	int tries;
	bool there = false;

	for (tries = 0; tries < 5000 && !there; tries++) {
		FILE *f = fopen(DEBUGFS, "r");

		while (f && fgets(line, sizeof(line), f))
			there |= !!strstr(line, text);
		if (f)
			fclose(f);
		usleep(1000);
	}
	return there || told(text, 0);
}

#define ALL (KFD_PRIO_LIST_EVICTED | KFD_PRIO_LIST_PREEMPTED | KFD_PRIO_LIST_PREEMPTING)

static void test_preempted(pid_t low, pid_t high)
{
	struct kfd_prio_list_entry e, h;
	unsigned long long us;

	e = entry(low);
	tap_ok(!e.flags && e.nr_active == 1 && !e.preempted_count && !e.preempted_ns,
	       "before: not preempted, never was");
	tap_ok(told("asleep", 0), "debugfs: before a priority was set it is asleep");

	kfd_set(high, 12, NULL);
	e = wait_flags(low, ALL, KFD_PRIO_LIST_PREEMPTED);
	h = entry(high);
	tap_ok(e.flags == KFD_PRIO_LIST_PREEMPTED && !e.nr_active && e.nr_queues == 1,
	       "the lower one is preempted, not evicted: flags %#x, %u of %u queues active", e.flags,
	       e.nr_active, e.nr_queues);
	tap_ok(h.flags == KFD_PRIO_LIST_PREEMPTING && h.nr_active == 1,
	       "the higher one preempts: flags %#x", h.flags);
	tap_eq(e.preempted_count, 1, "preempted once");
	tap_eq(e.preempting_count, 0, "it preempted nobody");
	tap_eq(h.preempting_count, 1, "the higher one preempted once");
	tap_ok(!h.preempted_count && !h.preempted_ns, "and was not preempted");
	tap_ok(told("now: PID %d has priority 12", high) && told("  preempted: PID %d ", low),
	       "debugfs names both");

	e = entry(low);
	us = stat_of(low, "preempted_us");
	h = entry(low);
	tap_ok(e.preempted_ns && e.preempted_ns / 1000 <= us && us <= h.preempted_ns / 1000 + 1 &&
	       h.preempted_ns > e.preempted_ns, "its time runs: %llu ns, then sysfs %llu us, then %llu ns",
	       (unsigned long long)e.preempted_ns, us, (unsigned long long)h.preempted_ns);
	tap_ok(stat_of(low, "preempted_count") == 1 && !stat_of(low, "preempting_count"),
	       "sysfs: preempted once");
	tap_ok(!stat_of(high, "preempted_count") && stat_of(high, "preempting_count") == 1,
	       "sysfs: the higher one preempted once");
}

static void test_newcomers(void)
{
	struct kfd_prio_list_entry e;
	pid_t late = client(-1), equal = client(12);

	e = wait_flags(late, ALL, KFD_PRIO_LIST_PREEMPTED);
	tap_ok(e.flags == KFD_PRIO_LIST_PREEMPTED && e.preempted_count == 1,
	       "one that comes meanwhile is preempted once");
	e = entry(equal);
	tap_ok(!(e.flags & KFD_PRIO_LIST_PREEMPTED) && !e.preempted_count,
	       "one of the same priority is not");
	kfd_child_end(equal);
	kfd_child_end(late);
}

/* KFD's own eviction lasts 100 ms or more: its worker restores no sooner.  A busy host may miss it */
static void test_evicted(pid_t low)
{
	struct kfd_prio_list_entry e = { 0 };
	int tries, looks, err = 0;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", low);
	for (tries = 0; tries < 5 && !err && !(e.flags & KFD_PRIO_LIST_EVICTED); tries++) {
		err = sim_write(0, "evict", pid);
		for (looks = 0; looks < 1000 && !(e.flags & KFD_PRIO_LIST_EVICTED); looks++) {
			e = entry(low);
			usleep(1000);
		}
	}
	tap_eq(err, 0, "memory pressure on the preempted one");
	tap_eq(e.flags, KFD_PRIO_LIST_EVICTED | KFD_PRIO_LIST_PREEMPTED, "evicted and preempted");
	e = wait_flags(low, KFD_PRIO_LIST_EVICTED, 0);
	tap_eq(e.flags, KFD_PRIO_LIST_PREEMPTED, "KFD puts it back: it is still preempted");
	tap_ok(!e.nr_active && e.preempted_count == 1, "off the GPU, since the first time");
}

static void test_off_and_on(pid_t low, pid_t high)
{
	struct kfd_prio_list_entry e, h;
	unsigned long long ns;

	param("kfd_preempt", "0");
	e = wait_flags(low, ALL, 0);
	tap_ok(!e.flags && e.nr_active == 1, "kfd_preempt 0: it is back");
	ns = e.preempted_ns;
	h = entry(high);
	tap_ok(!h.flags && h.nr_active == 1, "nobody preempts");
	usleep(10000);
	e = entry(low);
	tap_ok(e.preempted_ns == ns && e.preempted_count == 1, "its time stands still");
	tap_ok(wait_told("OFF: kfd_preempt is 0"), "debugfs says why");
	param("kfd_preempt", "1");
	e = wait_flags(low, ALL, KFD_PRIO_LIST_PREEMPTED);
	tap_ok(e.preempted_count == 2 && e.preempted_ns >= ns, "kfd_preempt 1: preempted again, the second time");
	tap_eq(entry(high).preempting_count, 2, "by the same");
}

/* Both have work without end: each gets its share, and who is off is counted. */
static void test_floor(pid_t low, pid_t high)
{
	struct kfd_prio_list_entry h, e;

	param("floor_pct", "50");
	h = wait_flags(high, KFD_PRIO_LIST_PREEMPTED, KFD_PRIO_LIST_PREEMPTED);
	tap_ok((h.flags & ALL) == KFD_PRIO_LIST_PREEMPTED && h.preempted_count,
	       "floor_pct 50: the turn of the lower one, the higher one is off: flags %#x", h.flags);
	tap_ok(wait_told("now: floor_pct: "), "debugfs says so");
	param("floor_pct", "0");
	e = wait_flags(low, ALL, KFD_PRIO_LIST_PREEMPTED);
	h = wait_flags(high, ALL, KFD_PRIO_LIST_PREEMPTING);
	tap_ok(e.flags == KFD_PRIO_LIST_PREEMPTED && h.flags == KFD_PRIO_LIST_PREEMPTING,
	       "floor_pct 0: the higher one preempts for good");
}

/* A file that is open when its process ends must give an error, not what is left there. */
static void test_gone(pid_t low, pid_t high)
{
	struct kfd_prio_list_entry e;
	char path[128], text[32];
	int fd, err, tries;

	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d/stats_%u/preempting_count", high,
		 entry(high).gpu_id);
	fd = open(path, O_RDONLY);
	tap_ok(fd >= 0 && read(fd, text, sizeof(text)) > 0, "a file of the higher one, open");
	kfd_child_end(high);
	e = wait_flags(low, ALL, 0);
	tap_ok(!e.flags && e.nr_active == 1,
	       "the one that preempted is killed: the other is back");
	tap_ok(told("now: no process is preempted", 0), "debugfs: no process is preempted");
	for (tries = 0; tries < 5000 && !access(path, F_OK); tries++)
		usleep(1000);
	tap_ok(access(path, F_OK), "its files go");
	err = pread(fd, text, sizeof(text), 0) < 0 ? errno : 0;
	tap_ok(err == ENODEV || err == ESRCH, "the open one answers with an error: %s",
	       strerror(err));
	close(fd);
}

int main(void)
{
	pid_t low, high;
	char path[64];
	int tries;

	param("floor_pct", "0");
	param("busy_budget_ms", "60000");
	low = client(-1);
	high = client(-1);
	test_preempted(low, high);
	test_newcomers();
	test_evicted(low);
	test_off_and_on(low, high);
	test_floor(low, high);
	test_gone(low, high);
	kfd_child_end(low);
	/* a process goes after its death: the next test counts them */
	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d", low);
	for (tries = 0; tries < 5000 && !access(path, F_OK); tries++)
		usleep(1000);
	tap_ok(access(path, F_OK), "nothing is left of it");
	param("floor_pct", "5");
	param("busy_budget_ms", "100");
	return tap_done();
}
