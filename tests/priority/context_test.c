// SPDX-License-Identifier: GPL-2.0
/*
 * context_test - a process with several contexts (Linux 7.2 and later): each is a kfd_process of its own
 * in the driver, with one priority for all of them.  Runs in the VM, alone on the simulated GPU.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kfd.h"
#include "kfdclient.h"
#include "simgpu.h"
#include "tap.h"

#define PROC "/sys/class/kfd/kfd/proc"
#define TRACING "/sys/kernel/tracing/"

struct user {
	struct kfdc *gpu;
	struct kfdc_queue *queue;
	struct kfdc_signal *done;
};

static int user_open(struct user *u, bool context)
{
	struct kfdc_queue_attr attr = { .priority = 7, .percentage = 100, .packets = 64 };
	int err = context ? kfdc_open_context(&u->gpu, 0) : kfdc_open(&u->gpu, 0);

	if (err)
		return err;
	if (kfdc_queue_create(u->gpu, &attr, &u->queue) || kfdc_signal_create(u->gpu, false, &u->done))
		tap_bail("%s", kfdc_error());
	return 0;
}

static void user_close(struct user *u)
{
	kfdc_signal_destroy(u->done);
	kfdc_queue_destroy(u->queue);
	kfdc_close(u->gpu);
}

/* A kernel of 2 ms, awaited for 20 s; is it done? */
static bool user_run(struct user *u)
{
	struct kfdc_dispatch d = { .ns = 2000000, .barrier = true, .signal = u->done };

	kfdc_signal_set(u->done, 1);
	if (kfdc_dispatch(u->queue, &d) || kfdc_signal_wait(u->done, 20000000000)) {
		tap_diag("%s", kfdc_error());
		return false;
	}
	return true;
}

static int priority_in(const char *dir)
{
	char path[128];
	int value = -2;
	FILE *f;

	snprintf(path, sizeof(path), PROC "/%d/%spriority", getpid(), dir);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%d", &value) != 1)
		tap_diag("%s: %s", path, strerror(errno));
	if (f)
		fclose(f);
	return value;
}

/* How often has this process preempted others? Until it is more than @than, 10 s at most */
static unsigned long long preempting(unsigned long long than)
{
	struct kfd_prio_list_entry e = { 0 };
	int tries;

	for (tries = 0; tries < 1000; tries++) {
		kfd_list(getpid(), &e, 1);
		if (e.preempting_count > than)
			break;
		usleep(10000);
	}
	return e.preempting_count;
}

/* Rings of this process that faulted, as the trace has them */
static unsigned int faults(void)
{
	char line[512], pid[32];
	unsigned int n = 0;
	FILE *f = fopen(TRACING "trace", "r");

	if (!f)
		tap_bail(TRACING "trace: %s", strerror(errno));
	snprintf(pid, sizeof(pid), " pid=%d ", getpid());
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "kfd_doorbell_wake:") && strstr(line, pid) && strstr(line, "source=FAULT");
	fclose(f);
	return n;
}

static void test_preempts(struct user *first, struct user *second)
{
	/* it would inherit ours */
	pid_t low = kfd_child_set(0, 0, 2);
	unsigned long long before, after;
	struct kfd_prio_list_entry e;
	unsigned int traced;
	int i;

	if (sim_poke(TRACING "events/kfd/kfd_doorbell_wake/enable", "1"))
		tap_bail("no event kfd_doorbell_wake");
	before = preempting(0);
	tap_ok(user_run(first), "the first context runs beside a lower process");
	after = preempting(before);
	tap_ok(after > before, "its ring preempts: %llu, then %llu times", before, after);
	traced = faults();
	for (i = 0; i < 3; i++) {
		before = after;
		/* idle for longer than linger_us: its doorbells are trapped again */
		usleep(20000);
		tap_ok(user_run(second), "the second context runs");
		after = preempting(before);
		tap_ok(after > before, "its ring preempts: %llu, then %llu times", before, after);
	}
	tap_eq(faults() - traced, 3, "each ring of the second context was heard: its doorbells were trapped");
	sim_poke(TRACING "events/kfd/kfd_doorbell_wake/enable", "0");
	tap_eq(kfd_list(low, &e, 1), 1, "the lower process is listed once");
	kfd_child_end(low);
}

/* Contexts come and go, and end with their process */
static void test_ends(struct user *first)
{
	struct kfd_prio_list_entry e;
	struct user u;
	int i, status;
	bool ran = true;
	pid_t pid;

	for (i = 0; i < 10 && ran; i++) {
		if (user_open(&u, true))
			tap_bail("%s", kfdc_error());
		ran = user_run(&u);
		user_close(&u);
	}
	tap_ok(ran, "ten contexts, one after the other");
	for (i = 0; i < 3; i++) {
		pid = fork();
		if (!pid) {
			struct user mine, more;

			/* it ends without closing either */
			_exit(user_open(&mine, false) || user_open(&more, true) || !user_run(&mine) ||
			      !user_run(&more));
		}
		tap_ok(waitpid(pid, &status, 0) == pid && !status, "a process ends with a context of work");
	}
	tap_ok(user_run(first), "the first context runs as before");
	tap_eq(kfd_list(getpid(), &e, 1), 1, "one row");
	tap_eq(e.nr_queues, 1, "one queue");
}

int main(void)
{
	struct kfd_prio_list_entry e = { 0 };
	struct kfd_prio_set_args set;
	struct user first, second;
	int err;

	if (user_open(&first, false))
		tap_bail("%s", kfdc_error());
	err = user_open(&second, true);
	if (err == -ENOTTY || err == -EINVAL) {
		user_close(&first);
		tap_skip("a process with several contexts", "this kernel has none");
		return tap_done();
	}
	if (err)
		tap_bail("%s", kfdc_error());

	tap_ok(user_run(&first) && user_run(&second), "both contexts run");
	tap_eq(kfd_list(getpid(), &e, 1), 1, "the list has one row for both");
	tap_eq(e.nr_queues, 2, "with the queues of both");
	tap_eq(priority_in(""), -1, "sysfs: no priority");
	tap_eq(priority_in("context_0/"), -1, "nor for the context");

	tap_eq(kfd_set(getpid(), 12, &set), 0, "a priority is set");
	tap_eq(set.nr_queues, 2, "for the queues of both");
	tap_eq(kfd_get(getpid()).effective, 12, "they have it");
	tap_ok(priority_in("") == 12 && priority_in("context_0/") == 12, "sysfs tells it for both");
	test_preempts(&first, &second);

	user_close(&second);
	tap_ok(user_run(&first), "the first runs when the second is closed");
	test_ends(&first);
	user_close(&first);
	return tap_done();
}
