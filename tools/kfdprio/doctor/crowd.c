// SPDX-License-Identifier: GPL-2.0
/*
 * kfdprio doctor: is the runlist of a GPU over-subscribed, and by processes without work?
 *
 * Whether it is over-subscribed is in debugfs, kfd/preempt. Where the indices of a compute queue are, in
 * the memory of its process, is in its MQD (kfd/mqds). A process whose indices are equal, and are the same a second later,
 * had no work in that second, but for a kernel that took longer.  The process may write any value there, and can
 * block a read of its memory: claimed-work.c reads in a process of its own.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "claimed-work.h"
#include "doctor.h"
#include "mqds.h"

#define SAMPLE_US	1000000
#define SAMPLES		2
#define WAIT_NS		2500000000ull	/* for two processes that block, and the others */

/* Is the runlist of a GPU over-subscribed? *@processes: how many are in it */
static bool over_subscribed(const struct kfd_gpu *gpu, unsigned int *processes)
{
	char *all = doctor_slurp("/sys/kernel/debug/kfd/preempt");
	char *line, *save = NULL;
	unsigned int id = 0;
	bool over = false;

	for (line = all ? strtok_r(all, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "GPU ", 4))
			id = strtoul(line + 4, NULL, 10);
		if (id == gpu->gpu_id && sscanf(line, " runlist: %u processes", processes) == 1)
			over = strstr(line, "; over-subscribed");
	}
	free(all);
	return over;
}

/**
 * struct crowd - the processes on a GPU
 * @idle: those of whose queues none had work
 * @unknown: those that did not show work, and of which a queue could not be read
 */
struct crowd {
	unsigned int idle, unknown;
};

static bool dump(struct mqds *mqds)
{
	char path[DOCTOR_PATH], why[KFDLIB_WHY];
	FILE *in;
	int ret;

	snprintf(path, sizeof(path), "%s/sys/kernel/debug/kfd/mqds", doctor_root);
	in = fopen(path, "re");
	if (!in)
		return false;
	ret = mqds_read(in, mqds, why, sizeof(why));
	fclose(in);
	return !ret;
}

/* Takes two samples, a second apart. A process can block each of them for WAIT_NS at most */
static bool sample(struct claimed *claimed, struct mqds *mqds)
{
	uint64_t ticks = claimed_ticks();
	struct timespec now;

	if (!dump(mqds))
		return false;
	clock_gettime(CLOCK_MONOTONIC, &now);
	claimed_sample(claimed, mqds, ticks, now.tv_sec * 1000000000ULL + now.tv_nsec);
	claimed_wait(claimed, WAIT_NS);
	usleep(SAMPLE_US);
	clock_gettime(CLOCK_MONOTONIC, &now);
	claimed_sample(claimed, mqds, ticks, now.tv_sec * 1000000000ULL + now.tv_nsec);
	claimed_wait(claimed, WAIT_NS);
	return true;
}

static bool of_process(const struct claimed_queue *queue, const struct mqd_times *t)
{
	return queue->pid == t->pid && queue->gpu_id == t->gpu_id;
}

static bool first_of_process(const struct mqds *mqds, size_t at)
{
	size_t i;

	for (i = 0; i < at; i++)
		if (mqds->times[i].pid == mqds->times[at].pid && mqds->times[i].gpu_id == mqds->times[at].gpu_id)
			return false;
	return true;
}

static bool had_work(const struct claimed_queue *queue)
{
	return queue->work || queue->moved;
}

static bool was_read(const struct claimed_queue *queue)
{
	return queue->samples == SAMPLES && !queue->unknown;
}

static void count(struct crowd *crowd, const struct claimed *claimed, const struct mqds *mqds, const struct kfd_gpu *gpu)
{
	const struct claimed_queue *queues;
	size_t nr, i, q;

	queues = claimed_queues(claimed, &nr);
	for (i = 0; i < mqds->nr; i++) {
		const struct mqd_times *t = &mqds->times[i];
		bool work = false, read = true;
		size_t found = 0;

		if (t->gpu_id != gpu->gpu_id || !first_of_process(mqds, i))
			continue;
		for (q = 0; q < nr; q++)
			if (of_process(&queues[q], t)) {
				found++;
				work |= had_work(&queues[q]);
				read &= was_read(&queues[q]);
			}
		crowd->idle += !work && read && found;
		crowd->unknown += !work && (!read || !found);
	}
}

/* Which processes on a GPU have had no work for a while; false: that cannot be told */
static bool without_work(struct crowd *crowd, const struct kfd_gpu *gpu)
{
	struct claimed *claimed = claimed_begin(claimed_device());
	struct mqds mqds = { 0 };
	bool known;

	*crowd = (struct crowd){ 0 };
	known = claimed && sample(claimed, &mqds) && mqds.nr;
	if (known)
		count(crowd, claimed, &mqds, gpu);
	claimed_end(claimed);
	free(mqds.times);
	return known;
}

#define ALLOW "processes with yes in 'kfdprio -l -o +IS-NEVER-PARKED' may leave after 'kfdprio --park=auto -p PID'"

/**
 * doctor_crowd() - examine whether processes without work over-subscribe a GPU
 * @d: the examination
 * @gpu: the GPU
 *
 * Takes a second if the GPU is over-subscribed, no time if not; up to six seconds if processes do not let their memory be
 * read. Nothing is found without debugfs.
 */
void doctor_crowd(struct doctor *d, const struct kfd_gpu *gpu)
{
	char what[64], park[16] = "", unseen[64] = "";
	unsigned int processes;
	struct crowd crowd;
	bool known;

	if (!over_subscribed(gpu, &processes))
		return;
	snprintf(what, sizeof(what), "GPU %u: over-subscription", gpu->gpu_id);
	known = without_work(&crowd, gpu);
	doctor_read(park, sizeof(park), DOCTOR_PARK_MS);
	if (crowd.unknown)
		snprintf(unseen, sizeof(unseen), " (whether %u more have work cannot be seen)", crowd.unknown);
	if (!known)
		doctor_say(d, FINDING_WARN, what, NULL,
			   "%u processes take turns on the GPU; whether they have work cannot be seen", processes);
	else if (!crowd.idle)
		doctor_say(d, FINDING_WARN, what, "run fewer processes at a time, or set priorities",
			   "%u processes take turns on the GPU, and %s%s", processes,
			   crowd.unknown ? "none of them is without work" : "all of them have work", unseen);
	else if (!strcmp(park, "auto"))
		doctor_say(d, FINDING_WARN, what, "run it again in a few seconds; " ALLOW,
			   "%u processes take turns on the GPU, and %u of them have no work%s: they have not been idle for a second, which idle_park_ms=auto waits for, or are never parked",
			   processes, crowd.idle, unseen);
	else if (!*park || strcmp(park, "0"))
		doctor_say(d, FINDING_WARN, what, *park ? "lower idle_park_ms; " ALLOW : NULL,
			   "%u processes take turns on the GPU, and %u of them have no work%s%s%s", processes, crowd.idle,
			   unseen, *park ? ": they are never parked, or have not been idle for idle_park_ms, which is " : "", park);
	else
		doctor_say(d, FINDING_WARN, what,
			   "as root, run 'echo auto >" DOCTOR_PARK_MS "': processes without work then leave the GPU until they have some (parking.rst)",
			   "%u processes take turns on the GPU, and %u of them have no work%s", processes, crowd.idle, unseen);
}
