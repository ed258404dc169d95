// SPDX-License-Identifier: GPL-2.0
/*
 * orphan_test [NAME...] - KFD processes whose lead thread group has lost their mm: none is hidden, none keeps a claim, and
 * none gets the priority of what the lead group has become.  Runs in the VM, alone on the simulated GPU.  STORM=N in the
 * environment: as many helpers in the last test, storm.
 *
 * A batch process of UID 65534 has a helper that shares its memory and is no thread of it.  The helper opens /dev/kfd and
 * creates a queue, and leaves it to the batch process in one of the ways of the table.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/kfd_prio.h>
#include "kfd.h"
#include "kfdclient.h"
#include "orphan.h"
#include "simgpu.h"
#include "stallfs.h"
#include "tap.h"

#define OTHER	1000
#define ROWS	64

/* ---- what the driver says ---- */

static struct kfd_prio_list_entry rows[ROWS];

static unsigned int list(void)
{
	struct kfd_prio_list_args l = { .entries = (unsigned long)rows, .entry_size = sizeof(*rows), .nr_entries = ROWS };
	int fd = open("/dev/kfd", O_ACCMODE | O_CLOEXEC), err;

	memset(rows, 0, sizeof(rows));
	err = ioctl(fd, KFD_PRIO_IOC_LIST, &l) ? errno : 0;
	close(fd);
	if (err || l.nr_entries > ROWS)
		tap_bail("KFD_PRIO_IOC_LIST: %s, %u rows", strerror(err), l.nr_entries);
	return l.nr_entries;
}

/* The row of a process that is an orphan or none; NULL: it has none */
static const struct kfd_prio_list_entry *row_of(pid_t pid, bool orphan)
{
	unsigned int i, n = list();

	for (i = 0; i < n; i++)
		if (rows[i].pid == pid && !(rows[i].flags & KFD_PRIO_LIST_ORPHAN) == !orphan)
			return &rows[i];
	return NULL;
}

/* The same, waited for: for a second, as a descriptor may keep what seems to end */
static const struct kfd_prio_list_entry *row_wait(pid_t pid, bool orphan)
{
	const struct kfd_prio_list_entry *e;
	int i;

	for (i = 0; i < 100; i++) {
		e = row_of(pid, orphan);
		if (e)
			return e;
		nap_ms(10);
	}
	return NULL;
}

/* KFD_PRIO_IOC_SET by serial, as user @uid; returns 0 or an errno */
static int set_as(uid_t uid, pid_t pid, uint64_t serial, int prio, unsigned int flags)
{
	struct kfd_prio_set_args a = { .pid = pid, .pidfd = -1, .priority = prio, .flags = flags, .serial = serial };
	int fd, status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		if (uid)
			user_become(uid);
		fd = open("/dev/kfd", O_ACCMODE | O_CLOEXEC);
		_exit(fd < 0 ? 255 : ioctl(fd, KFD_PRIO_IOC_SET, &a) ? errno : 0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		tap_bail("a child: %s", strerror(errno));
	return WEXITSTATUS(status);
}

/* ---- cases ---- */

static pid_t batch_start(const struct way *w)
{
	pid_t pid;

	memset(s, 0, sizeof(*s));
	fflush(stdout);
	pid = fork();
	if (!pid)
		batch(w);
	if (pid < 0 || !wait_for(&s->queue))
		tap_bail("%s: no queue", w->name);
	return pid;
}

static void batch_end(pid_t pid)
{
	if (s->sharer)
		kill(s->sharer, SIGKILL);
	kill(s->helper, SIGKILL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (s->keeper)
		kill(s->keeper, SIGKILL);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* Nobody has rows any more: KFD has destroyed all */
static bool all_gone(void)
{
	int i;

	for (i = 0; i < 2000 && list(); i++)
		nap_ms(10);
	if (i == 2000)
		tap_diag("there is a row of PID %d, flags %#x", rows[0].pid, rows[0].flags);
	return i < 2000;
}

/* Is another process kept off the GPU for the work of an orphan or, before, of its owner? */
static bool off(pid_t pid)
{
	const struct kfd_prio_list_entry *e = row_of(pid, false);

	return e && e->flags & KFD_PRIO_LIST_PREEMPTED;
}

/* Is it for good?  The floor takes turns. */
static bool stays_on(pid_t pid)
{
	int i, on = 0;

	for (i = 0; i < 300 && on < 50; i++) {
		on = off(pid) ? 0 : on + 1;
		nap_ms(10);
	}
	return on == 50;
}

/* The same as sysfs has it, which notices no orphan */
static bool ends(pid_t pid)
{
	char path[128], text[32] = "", last[32];
	int i, same = 0;

	snprintf(path, sizeof(path), "cat /sys/class/kfd/kfd/proc/%d/stats_*/preempted_us", pid);
	for (i = 0; i < 300 && same < 50; i++) {
		FILE *f = popen(path, "r");

		strcpy(last, text);
		if (!f || !fgets(text, sizeof(text), f))
			tap_bail("%s", path);
		pclose(f);
		same = strcmp(text, last) ? 0 : same + 1;
		nap_ms(10);
	}
	return same == 50;
}

static void honest(const struct way *w)
{
	pid_t pid = batch_start(w);
	const struct kfd_prio_list_entry *e;
	uint64_t serial;

	s->leave = 1;
	if (!wait_for(&s->left))
		tap_bail("%s: the helper", w->name);
	nap_ms(100);
	e = row_of(s->helper, false);
	serial = e ? e->serial : 0;
	tap_ok(e && e->nr_queues == 1 && e->effective == 15 && serial && e->euid == USER && !e->nr_groups,
	       "%s: the process has its row, and is no orphan", w->name);
	tap_eq(set_as(0, s->helper, serial, 9, 0), 0, "%s: its priority is set by serial", w->name);
	e = row_of(s->helper, false);
	tap_ok(e && e->effective == 9 && e->priority == 9, "%s: its queue has the priority", w->name);
	tap_eq(set_as(0, s->helper, serial, 3, KFD_PRIO_SET_ORPHAN), ESRCH, "%s: not as that of an orphan", w->name);
	tap_eq(set_as(0, pid, serial, 3, 0), ESRCH, "%s: not with another PID", w->name);
	tap_ok(!row_of(pid, true) && !row_of(pid, false), "%s: who shares its memory has no row", w->name);
	batch_end(pid);
	tap_ok(all_gone(), "%s: KFD has ended it", w->name);
}

/* What the queue of an orphan has; -2: it is hidden */
static int effective(pid_t pid)
{
	const struct kfd_prio_list_entry *e = row_of(pid, true);

	return e ? e->effective : -2;
}

static void rights(const struct way *w, pid_t pid, uint64_t serial)
{
	tap_eq(set_as(USER, 0, serial, 5, KFD_PRIO_SET_ORPHAN), EPERM, "%s: its user may not raise it", w->name);
	tap_eq(set_as(0, 0, serial, 5, KFD_PRIO_SET_ORPHAN), 0, "%s: CAP_SYS_NICE raises it", w->name);
	tap_eq(effective(pid), 5, "%s: its queue has the priority", w->name);
	tap_eq(set_as(OTHER, 0, serial, 2, KFD_PRIO_SET_ORPHAN), EPERM, "%s: another user may not lower it", w->name);
	tap_eq(set_as(0, 0, serial, 2, KFD_PRIO_SET_ORPHAN | KFD_PRIO_SET_RULE), EEXIST, "%s: nor a rule, what was set by hand",
	       w->name);
	tap_eq(set_as(USER, 0, serial, 3, KFD_PRIO_SET_ORPHAN), w->groups ? 0 : EPERM, "%s: its user may, if it has one", w->name);
	tap_eq(set_as(0, 0, serial, KFD_PRIO_UNSET, KFD_PRIO_SET_ORPHAN), 0, "%s: its priority is taken away", w->name);
	tap_eq(effective(pid), 0, "%s: it counts as the lowest again", w->name);
}

/* With a claim: the helper has priority 12, and another process waits for it */
static void orphan(const struct way *w, bool claim)
{
	pid_t pid, victim = claim ? kfd_child(7, true) : 0;
	const struct kfd_prio_list_entry *e;
	uint64_t serial;
	int i;

	pid = batch_start(w);
	e = row_of(s->helper, false);
	if (!e)
		tap_bail("%s: no row", w->name);
	serial = e->serial;
	if (claim) {
		if (kfd_set(s->helper, 12, NULL))
			tap_bail("%s: priority 12", w->name);
		s->left = 1;
		for (i = 0; i < 2000 && !off(victim); i++)
			nap_ms(5);
		tap_ok(off(victim), "%s: a claim: it preempts", w->name);
	}
	if (w->stalls && !stallfs_start(&s->stalled)) {
		tap_skip(w->name, "this kernel has no FUSE");
		batch_end(pid);
		if (claim)
			kfd_child_end(victim);
		return;
	}
	s->leave = 1;
	if (w->groups == 2)
		wait_for((volatile int *)&s->sharer);
	/* with a claim: nothing but the poll notices, as nobody asks for the list */
	if (w->stalls)
		tap_ok(wait_for(&s->stalled), "%s: exec has come to where it stalls", w->name);
	if (w->stalls && claim)
		tap_ok(ends(victim), "%s: its claim ends while it is stalled", w->name);
	e = row_wait(pid, true);
	tap_ok(e && e->nr_queues == 1 && e->nr_groups == w->groups && e->euid == USER && e->priority == KFD_PRIO_UNSET,
	       "%s: it is listed with the PID of who shares its memory%s", w->name, claim ? ", a claim" : "");
	tap_ok(!serial || (e && e->serial == serial), "%s: its serial is the one that it had", w->name);
	if (w->groups == 2)
		tap_ok(row_of(s->sharer, true), "%s: and of the other one", w->name);
	s->left = 1;
	wait_for(&s->busy);
	if (claim)
		tap_ok(stays_on(victim), "%s: its claim has ended", w->name);
	if (w->execs) {
		tap_eq(kfd_set(s->helper, 11, NULL), 0, "%s: the program that its owner has become gets a priority", w->name);
		e = row_wait(pid, true);
		tap_ok(e && e->effective != 11 && e->priority == KFD_PRIO_UNSET, "%s: its queue does not", w->name);
		tap_eq(set_as(0, s->helper, serial, 11, 0), ESRCH, "%s: its serial is refused for that program", w->name);
	}
	if (!claim)
		rights(w, pid, serial);
	if (w->stalls)
		stallfs_end();
	batch_end(pid);
	if (claim)
		kfd_child_end(victim);
	tap_ok(all_gone(), "%s: KFD has ended it", w->name);
}

/* A forked worker has a copy of the descriptor; its parent, the owner, is killed */
static void descriptor(void)
{
	static const struct way w = { .name = "descriptor" };
	struct kfdc_queue *queue;
	struct kfdc *gpu;
	const struct kfd_prio_list_entry *e;
	pid_t pid;
	uint64_t serial;
	int fds[2];
	char ch;

	memset(s, 0, sizeof(*s));
	if (pipe(fds))
		tap_bail("pipe");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct kfdc_queue_attr attr = { .priority = 15, .percentage = 100, .packets = 256 };

		user_become(USER);
		if (kfdc_open(&gpu, 0) || kfdc_queue_create(gpu, &attr, &queue))
			_exit(1);
		if (!fork()) {
			s->keeper = getpid();
			for (;;)
				pause();
		}
		wait_for((volatile int *)&s->keeper);
		if (write(fds[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(fds[1]);
	if (read(fds[0], &ch, 1) != 1)
		tap_bail("descriptor: no queue");
	close(fds[0]);
	e = row_of(pid, false);
	serial = e ? e->serial : 0;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (sim_new_kernel()) {
		tap_ok(all_gone(), "descriptor: its queues end with its memory");
	} else {
		e = row_wait(pid, true);
		tap_ok(e && e->nr_queues == 1 && !e->nr_groups && e->serial == serial && e->euid == (__u32)-1,
		       "descriptor: it is listed with its last PID, and that nobody is left");
		tap_eq(kfd_set(s->keeper, 9, NULL), 0, "descriptor: the worker gets a priority");
		e = row_wait(pid, true);
		tap_ok(e && e->priority == KFD_PRIO_UNSET, "descriptor: the queues of its parent do not");
		rights(&w, pid, serial);
	}
	kill(s->keeper, SIGKILL);
	tap_ok(all_gone(), "descriptor: KFD has ended it");
}

/* Helpers that end or execute a program, while others list and set, and end the memory */
static void storm(unsigned int rounds)
{
	unsigned int i, j, n;
	pid_t others, pid;

	fflush(stdout);
	others = fork();
	if (!others) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			n = list();
			for (j = 0; j < n; j++) {
				bool is_orphan = rows[j].flags & KFD_PRIO_LIST_ORPHAN;

				set_as(0, rows[j].pid, rows[j].serial, j % 13, is_orphan ? KFD_PRIO_SET_ORPHAN : 0);
			}
		}
	}
	for (i = 0; i < rounds; i++) {
		if (i && i % 1000 == 0) {
			tap_diag("storm: %u of %u helpers", i, rounds);
			fflush(stdout);
		}
		pid = batch_start(&ways[i % 4]);
		s->leave = s->left = 1;
		if (i % 3)
			nap_ms(i % 5);
		if (i % 7 == 0)
			row_wait(pid, true);
		batch_end(pid);
	}
	kill(others, SIGKILL);
	waitpid(others, NULL, 0);
	tap_ok(all_gone(), "storm: nothing is left of %u helpers", rounds);
}

/* Is there a kernel thread of the driver for a GPU? */
static bool has_thread(void)
{
	return !system("grep -qs ^kfd-prio/ /proc/[0-9]*/comm");
}

/*
 * No priority that may preempt was ever set, so no thread of the driver acts on an orphan: the ioctl that notices it
 * does.  This test must run before any other
 */
static void first(void)
{
	const struct way *w = &ways[0];
	const struct kfd_prio_list_entry *e;
	pid_t pid;

	if (has_thread())
		tap_bail("first: a priority was set before");
	pid = batch_start(w);
	e = row_of(s->helper, false);
	tap_ok(e && e->effective == 15, "first: a queue has the priority that it asked for");
	s->leave = 1;
	e = row_wait(pid, true);
	tap_ok(e && e->nr_queues == 1, "first: its process is an orphan");
	tap_eq(e ? e->effective : -2, 0, "first: the queue has the lowest priority when the orphan is listed");
	tap_ok(!has_thread(), "first: there is no thread for it");
	batch_end(pid);
	tap_ok(all_gone(), "first: KFD has ended it");
}

int main(int argc, char **argv)
{
	const struct way *w;

	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED || system("chmod 666 /dev/kfd /dev/dri/renderD*") ||
	    system("cp /bin/sleep " SUID " && chmod 4755 " SUID))
		tap_bail("cannot prepare: %s", strerror(errno));
	/* the orphans of this program's children are its own */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (w = ways; w->name; w++) {
		if (!tap_wanted(w->name, argv + 1, argc - 1))
			continue;
		if (w->honest) {
			honest(w);
			continue;
		}
		orphan(w, false);
		if (w->claims)
			orphan(w, true);
	}
	if (argc > 1 && tap_wanted("first", argv + 1, argc - 1))
		first();
	if (tap_wanted("descriptor", argv + 1, argc - 1))
		descriptor();
	if (tap_wanted("storm", argv + 1, argc - 1))
		storm(getenv("STORM") ? strtoul(getenv("STORM"), NULL, 10) : 20);
	return tap_done();
}
