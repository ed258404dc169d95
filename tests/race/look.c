// SPDX-License-Identifier: GPL-2.0
/* What must be right after a round */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kfd.h"
#include "kfdclient.h"
#include "race.h"
#include "simgpu.h"
#include "tap.h"

#define SEC	1000000000ULL

/* Does the hardware have a queue of that priority mapped? */
static bool on_hardware(int prio)
{
	const char *state = sim_read(0, "state");
	char text[32];

	snprintf(text, sizeof(text), " queue_prio %d ", prio);
	return state && strstr(state, text);
}

#define WRONG(...)	(snprintf(shared->why, sizeof(shared->why), __VA_ARGS__), false)

/*
 * It has its two queues, with the priority that is set, or that it asked for; the active one's MQD has it, too; and
 * within so many seconds neither preemption nor eviction holds it off
 */
bool look_settled(pid_t pid, unsigned int secs)
{
	uint64_t until = kfdc_now() + secs * SEC;
	struct kfd_prio_list_entry e = { 0 };
	int want;

	for (;;) {
		if (!kfd_list(pid, &e, 1))
			return WRONG("process %d is not listed", pid);
		want = e.priority == KFD_PRIO_UNSET ? SUBJECT_PRIO : e.priority;
		if (e.nr_queues != 2)
			return WRONG("it has %u queues instead of 2", e.nr_queues);
		if (e.effective != want)
			return WRONG("priority %d, its queue has %d", e.priority, e.effective);
		if (e.nr_active == 1 && !e.flags && (!kfdc_has_queue_priority() || on_hardware(want)))
			return true;
		if (kfdc_now() > until)
			return WRONG("priority %d: %u active, flags %#x, its MQD is %s", want, e.nr_active, e.flags,
				     on_hardware(want) ? "right" : "not mapped or not right");
		usleep(200);
	}
}

/* Print what the driver and the GPU know of a process that does not work, before it is killed */
void look_say(pid_t pid)
{
	struct kfd_prio_list_entry e = { 0 };
	const char *text = sim_read(0, "state");
	char line[512];
	FILE *f;

	if (kfd_list(pid, &e, 1))
		tap_diag("process %d: priority %d, effective %d, %u of %u queues active, flags %#x", pid, e.priority,
			 e.effective, e.nr_active, e.nr_queues, e.flags);
	tap_diag("%s", text ? text : "no state");
	f = fopen("/sys/kernel/debug/kfd/preempt", "re");
	while (f && fgets(line, sizeof(line), f))
		tap_diag("%.*s", (int)strcspn(line, "\n"), line);
	if (f)
		fclose(f);
}

/* Preemptions that a process has begun since it was asked for last, or since it lives */
unsigned long long look_preemptions(pid_t pid)
{
	static unsigned long long before;
	static pid_t whose;
	struct kfd_prio_list_entry e = { 0 };
	unsigned long long n;

	if (!pid || !kfd_list(pid, &e, 1))
		return 0;
	n = e.preempting_count - (whose == e.pid ? before : 0);
	whose = e.pid;
	before = e.preempting_count;
	return n;
}

/*
 * Is nothing of any process left?  @pages: of an idle GPU, becomes what it has now.
 *
 * On GPUs with MES stock pqm_create_queue() leaks two pages, a gang context and the page of the write index, for each
 * queue that MES does not take, because of a reset for example. So many may be left for each creation that failed.
 */
bool look_clean(long long *pages)
{
	long long now, most = sim_counter(0, "mes_adds") ? 2LL * atomic_load(&shared->refused) : 0;
	uint64_t end = kfdc_now() + 2 * SEC;
	const char *text;
	char sum[32];

	while (most && sim_counter(0, "ram_pages") != *pages && kfdc_now() < end)
		usleep(20000);
	now = sim_counter(0, "ram_pages");
	if (most && now > *pages && now <= *pages + most && now % 2 == *pages % 2) {
		tap_diag("%lld pages are left, of %u queues that MES did not take: a leak of the stock driver", now - *pages,
			 atomic_load(&shared->refused));
		text = sim_read(0, "left_by_stock");
		snprintf(sum, sizeof(sum), "%lld", (text ? atoll(text) : 0) + now - *pages);
		if (sim_write(0, "left_by_stock", sum))
			tap_bail("left_by_stock of debugfs cannot be written");
		*pages = now;
	}
	return sim_clean(0, *pages);
}
