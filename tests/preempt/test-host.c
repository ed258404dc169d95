// SPDX-License-Identifier: GPL-2.0
/* The host's bad days: a GPU that goes, no memory, clocks that jump, a trace buffer that is full */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "preempt.h"

/* tests/vm/run puts the first GPU there */
#define PCI_GPU	"/sys/bus/pci/devices/0000:00:10.0"

/* A request of @ns that preempts: in time, and the other's work goes on after it */
static bool request_preempts(const struct actor *on, const struct actor *off, long ns)
{
	long long took = stat_of(on, "preempting_count"), had = stat_of(off, "preempted_count");
	long r = actor_do(on, act_request, ns, 0);
	bool fine = r >= ns && in_time(r, ns + MS);

	if (!fine)
		tap_diag("a request of %ld us took %ld", ns / 1000, r / 1000);
	if (!wait_mapped(on->gpu, 2))
		return false;
	took = stat_of(on, "preempting_count") - took;
	had = stat_of(off, "preempted_count") - had;
	if (took != 1 || had != 1)
		tap_diag("it preempts %lld times, the other is preempted %lld times", took, had);
	/* a debug kernel may take longer than linger_us until the store is repeated, which faults again then */
	return fine && took == had && (took == 1 || (took > 1 && sim_debug_kernel()));
}

/* ---- a GPU is removed ---- */

enum when { PREEMPTED, TRAPPED, RELEASED };

static void unplug(void)
{
	static const char * const names[] = { "while a preemption holds", "while doorbells are trapped",
					      "right after a preemption" };
	struct actor on, off;
	struct events *e;
	int when, i, err;

	for (when = PREEMPTED; when <= RELEASED; when++) {
		on = online_start(0, 12);
		off = offline_start(0, 50 * MS, 200);
		if (!wait_mapped(0, 2))
			tap_bail("the queues are not mapped");
		e = events_start("kfd");
		/* many short ones: equal indices end a claim where waves are not counted */
		if (when != TRAPPED && actor_do(&on, act_submit, longer(5 * MS), when == PREEMPTED ? 60 : 2))
			tap_bail("the online work was refused");
		if (when == PREEMPTED && !wait_mapped(0, 1))
			tap_bail("no preemption");
		if (when == RELEASED)
			actor_do(&on, act_wait, 1000, 0);
		err = sim_poke(PCI_GPU "/remove", "1");
		tap_ok(!err, "unplug: %s (%s)", names[when], strerror(err));
		tap_ok(actor_ends_by_sigbus(&on) & actor_ends_by_sigbus(&off), "unplug: both processes get SIGBUS, as on a stock kernel");
		tap_ok(!engine_thread(), "unplug: the engine's thread is gone");
		events_stop(e);
		tap_ok(paired(e), "unplug: each preemption that begins ends");
		events_free(e);
		err = sim_poke("/sys/bus/pci/rescan", "1");
		if (err)
			tap_bail("/sys/bus/pci/rescan: %s", strerror(err));
		for (i = 0; i < 200 && !sim_read(0, "state"); i++)
			nap_ns(20 * MS);
		on = online_start(0, 12);
		off = offline_start(0, 50 * MS, 3);
		tap_ok(wait_mapped(0, 2) && request_preempts(&on, &off, 5 * MS) && completes(&off),
		       "unplug: found again, it preempts");
		if (!tap_ok(engine_thread_named(0), "unplug: the engine's thread has the GPU's ID in its name"))
			system("cat /proc/[0-9]*/comm | grep kfd-prio | sed 's/^/# /'");
		actor_kill(&on);
		actor_kill(&off);
	}
}

/* ---- the clock jumps ---- */

static void clock_jump(long long seconds)
{
	struct timespec t;

	if (clock_gettime(CLOCK_REALTIME, &t))
		tap_bail("clock_gettime: %s", strerror(errno));
	t.tv_sec += seconds;
	if (clock_settime(CLOCK_REALTIME, &t))
		tap_bail("clock_settime: %s", strerror(errno));
}

/* What the engine counts on is CLOCK_MONOTONIC */
static void clock_jumps(void)
{
	static const long long jump[] = { 86400 * 365, -86400 * 730LL, 3600, -1, 86400 * 365 - 3599 };
	const unsigned int jumps = sizeof(jump) / sizeof(jump[0]);
	struct actor on = online_start(0, 12), off = offline_start(0, 20 * MS, 100);
	struct events *e = events_start("kfd");
	unsigned int i, fine = 0, held = 0;
	long long us;
	long r;

	wait_mapped(0, 2);
	for (i = 0; i < jumps; i++) {
		us = stat_of(&off, "preempted_us");
		actor_tell(&on, act_request, 20 * MS, 0);
		wait_mapped(0, 1);
		clock_jump(jump[i]);
		if (!actor_hear(&on, &r, 20000))
			tap_bail("no answer from the online process");
		wait_mapped(0, 2);
		us = stat_of(&off, "preempted_us") - us;
		if (us <= 15000 || us >= 22000)
			tap_diag("clock: jump %u: preempted for %lld us, the request took %ld ns", i, us, r);
		held += us > 15000 && us < 22000;
		fine += r >= (long)(20 * MS) && r < (long)(41 * MS);
		/* trapped and idle */
		clock_jump(-jump[i]);
		clock_jump(jump[i]);
		nap_ns(5 * MS);
	}
	clock_jump(0);
	events_stop(e);
	tap_eq(fine, jumps, "clock: requests take their time while CLOCK_REALTIME jumps");
	tap_eq(held, jumps, "clock: a preemption lasts as long, and is accounted so");
	tap_ok(paired(e) && events_count(e, "kfd_preempt_begin", NULL, 0) == jumps, "clock: a preemption each");
	events_free(e);
	tap_ok(completes(&off), "clock: the other's work is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

/* ---- the trace buffer is full ---- */

#define INSTANCE	"/sys/kernel/tracing/instances/kfdprio-full"

static void instance_write(const char *file, const char *text)
{
	char path[128];
	int err;

	snprintf(path, sizeof(path), INSTANCE "/%s", file);
	err = sim_poke(path, text);
	if (err)
		tap_bail("%s: %s", path, strerror(err));
}

/* Sum of a line of the statistics of the CPUs' buffers */
static long long instance_stat(const char *name)
{
	char path[128], line[128];
	long long sum = 0, v;
	bool found = false;
	FILE *f;
	int cpu;

	for (cpu = 0; cpu < 256; cpu++) {
		snprintf(path, sizeof(path), INSTANCE "/per_cpu/cpu%d/stats", cpu);
		f = fopen(path, "re");
		if (!f)
			break;
		while (fgets(line, sizeof(line), f))
			if (!strncmp(line, name, strlen(name)) &&
			    sscanf(line + strlen(name), ": %lld", &v) == 1) {
				sum += v;
				found = true;
			}
		fclose(f);
	}
	if (!found)
		tap_bail("%s: no line '%s'", path, name);
	return sum;
}

/* Nobody reads, nothing may be overwritten: events are dropped and counted, and nobody waits for them */
static void trace_full(void)
{
	struct actor on = online_start(0, 12), off = offline_start(0, 20 * MS, 50);
	bool fine = true;
	int i;

	if (mkdir(INSTANCE, 0700))
		tap_bail(INSTANCE ": %s", strerror(errno));
	instance_write("buffer_size_kb", "4");
	instance_write("options/overwrite", "0");
	instance_write("events/kfd/enable", "1");
	wait_mapped(0, 2);
	for (i = 0; i < 500 && !instance_stat("dropped events"); i++)
		fine &= request_preempts(&on, &off, MS);
	tap_ok(instance_stat("dropped events") > 0 && instance_stat("entries") > 0,
	       "trace_full: after %d preemptions the buffer is full, and says so", i);
	for (i = 0; i < 10; i++)
		fine &= request_preempts(&on, &off, MS);
	tap_ok(fine, "trace_full: requests preempt in time before and after");
	instance_write("events/kfd/enable", "0");
	if (rmdir(INSTANCE))
		tap_bail(INSTANCE ": %s", strerror(errno));
	tap_ok(completes(&off), "trace_full: the other's work is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

/* ---- no memory ---- */

/* Takes all the memory that there is, and is who the OOM killer is to take */
static int hog(int fd, void *arg)
{
	const size_t step = 1 << 20;
	char *p;

	(void)arg;
	if (sim_poke("/proc/self/oom_score_adj", "1000"))
		return 1;
	for (;;) {
		p = mmap(NULL, step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (p == MAP_FAILED)
			return 2;
		if (write(fd, "m", 1) != 1)
			return 3;
	}
}

static void no_memory(void)
{
	struct actor on = online_start(0, 12), off = offline_start(0, 20 * MS, 100);
	struct events *e = events_start("kfd");
	unsigned int mib = 0, requests = 0, fine = 0;
	struct sim_child ch;
	char byte;
	int status;

	wait_mapped(0, 2);
	ch = sim_child(hog, NULL);
	/* a request for every 16 MiB: the last ones when there is nothing left */
	while (sim_child_hear(&ch, &byte, 1, 20000)) {
		if (++mib % 16)
			continue;
		requests++;
		fine += actor_do(&on, act_request, MS, 0) >= (long)MS;
	}
	status = sim_child_end(&ch, 20000);
	tap_ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && mib > 256,
	       "no_memory: %u MiB were taken, then the OOM killer took who did (status %#x)", mib, status);
	tap_ok(requests && fine == requests, "no_memory: all %u requests are complete", requests);
	/* all memory took its time, and the work may be over: the process without work stays off */
	if (actor_do(&off, act_submit, 20 * MS, 20))
		tap_bail("no_memory: more work was refused");
	wait_mapped(0, 2);
	tap_ok(request_preempts(&on, &off, 5 * MS), "no_memory: the next preempts in time");
	events_stop(e);
	tap_ok(paired(e), "no_memory: each preemption that begins ends");
	events_free(e);
	tap_ok(completes(&off), "no_memory: the other's work is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

const struct test tests_host[] = {
	{ "unplug", unplug }, { "clock", clock_jumps, .waves = true }, { "trace_full", trace_full },
	{ "no_memory", no_memory }, {}
};
