// SPDX-License-Identifier: GPL-2.0
/*
 * kfdprio doctor: is the runlist of a GPU over-subscribed, and by processes without work?
 *
 * Whether it is over-subscribed is in debugfs, kfd/preempt. Where the indices of a compute queue are, in
 * the memory of its process, is in its MQD (kfd/mqds). A process whose indices are equal, and are the same a second later,
 * had no work in that second, but for a kernel that took longer.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "doctor.h"
#include "mqds.h"

#define PARK_MS		"/sys/module/amdgpu/parameters/idle_park_ms"
#define SAMPLE_US	1000000

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

static bool word(unsigned int pid, uint64_t addr, uint64_t *value)
{
	struct iovec to = { value, sizeof(*value) }, from = { (void *)(uintptr_t)addr, sizeof(*value) };

	return process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)sizeof(*value);
}

/* The indices of queue @t, or false: its process has ended, or they are not equal */
static bool rests(const struct mqd_times *t, uint64_t *index)
{
	uint64_t w;

	return word(t->pid, t->rptr, index) && word(t->pid, t->wptr, &w) && *index == w;
}

/* How many processes on a GPU have had no work for a while; -1: that cannot be told */
static int without_work(const struct kfd_gpu *gpu)
{
	char path[DOCTOR_PATH], why[KFDLIB_WHY];
	uint64_t *index, now;
	struct mqds mqds;
	size_t i, j;
	int n = 0;
	FILE *in;

	snprintf(path, sizeof(path), "%s/sys/kernel/debug/kfd/mqds", doctor_root);
	in = fopen(path, "re");
	if (!in)
		return -1;
	if (mqds_read(in, &mqds, why, sizeof(why)))
		mqds.nr = 0;
	fclose(in);
	index = calloc(mqds.nr + 1, sizeof(*index));
	/* a queue that has work is known by an address of 0 from here on */
	for (i = 0; index && i < mqds.nr; i++)
		if (mqds.times[i].gpu_id == gpu->gpu_id && !rests(&mqds.times[i], &index[i]))
			mqds.times[i].rptr = 0;
	usleep(SAMPLE_US);
	for (i = 0; index && i < mqds.nr; i++)
		if (mqds.times[i].rptr && (!rests(&mqds.times[i], &now) || now != index[i]))
			mqds.times[i].rptr = 0;
	for (i = 0; index && i < mqds.nr; i++) {
		const struct mqd_times *t = &mqds.times[i];
		bool first = true, works = false;

		for (j = 0; j < mqds.nr; j++)
			if (mqds.times[j].pid == t->pid && mqds.times[j].gpu_id == gpu->gpu_id) {
				first &= j >= i;
				works |= !mqds.times[j].rptr;
			}
		n += t->gpu_id == gpu->gpu_id && first && !works;
	}
	if (!mqds.nr || !index)
		n = -1;
	free(index);
	free(mqds.times);
	return n;
}

/**
 * doctor_crowd() - examine whether processes without work over-subscribe a GPU
 * @d: the examination
 * @gpu: the GPU
 *
 * Takes a second if the GPU is over-subscribed, no time if not. Nothing is found without debugfs.
 */
void doctor_crowd(struct doctor *d, const struct kfd_gpu *gpu)
{
	char what[64], park[16] = "";
	unsigned int processes;
	int idle;

	if (!over_subscribed(gpu, &processes))
		return;
	snprintf(what, sizeof(what), "GPU %u: over-subscription", gpu->gpu_id);
	idle = without_work(gpu);
	doctor_read(park, sizeof(park), PARK_MS);
	if (idle < 0)
		doctor_say(d, FINDING_WARN, what, NULL,
			   "%u processes take turns on the GPU; whether they have work cannot be seen", processes);
	else if (!idle)
		doctor_say(d, FINDING_WARN, what, "run fewer processes at a time, or set priorities",
			   "%u processes take turns on the GPU, and all of them have work", processes);
	else if (!*park || strcmp(park, "0"))
		doctor_say(d, FINDING_WARN, what,
			   *park ? "lower idle_park_ms, or allow it with 'kfdprio --park=auto -p PID' for those that 'kfdprio -l -o +IS-NEVER-PARKED' shows" : NULL,
			   "%u processes take turns on the GPU, and %d of them have no work%s%s", processes, idle,
			   *park ? ": they have not been idle for idle_park_ms, which is " : "", park);
	else
		doctor_say(d, FINDING_WARN, what,
			   "as root, run 'echo 1000 >" PARK_MS "': processes without work then leave the GPU until they have some (parking.rst)",
			   "%u processes take turns on the GPU, and %d of them have no work", processes, idle);
}
