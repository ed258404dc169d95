// SPDX-License-Identifier: GPL-2.0
/*
 * kfdprio doctor --test and --soak: a test of a GPU through KFD.
 *
 * Two children use the GPU; this process only watches, so that an end of any kind leaves
 * nothing: KFD takes back what a process had.  Neither module parameters nor other processes are
 * touched, and nothing is reset.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "queue.h"
#include "test.h"

#define STEP_MS		2000	/* for a packet that nothing keeps from running */
#define GONE_MS		2000	/* for KFD to let go of a process that has ended */
#define VICTIM_PRIO	3	/* below 7: everybody may set it; pipe priority low */
#define NR_SIGNALS	4
#define MARGIN_S	20	/* an actor outlives the test by no more */

/* Dwords of cp_hqd_pipe_priority and cp_hqd_queue_priority in an MQD, GFX9 to GFX12 */
#define MQD_ROW		"00000200: " /* of the dump; has the dwords from 128 on */
#define MQD_PIPE_PRIO	(133 - 128)
#define MQD_QUEUE_PRIO	(134 - 128)

static bool queues(struct trial *t)
{
	struct answer a, b;

	if (!trial_do(t, &t->victim, ORDER_START, STEP_MS, &a, "create queues") ||
	    !trial_do(t, &t->victim, ORDER_PM4, STEP_MS, &b, "create queues"))
		return false;
	trial_say(t, FINDING_OK, "create queues", "AQL took %.1f ms, PM4 %.1f ms",
		  (a.at[1] - a.at[0]) / 1e6, (b.at[1] - b.at[0]) / 1e6);
	if (!trial_do(t, &t->victim, ORDER_PACKETS, STEP_MS, &a, "packets"))
		return false;
	trial_say(t, FINDING_OK, "packets", "AQL barrier, WRITE_DATA and RELEASE_MEM are done");
	/* Its failure spoils nothing that comes: there may be no SDMA queue left. */
	if (trial_do(t, &t->victim, ORDER_SDMA, STEP_MS, &a, "SDMA"))
		trial_say(t, FINDING_OK, "SDMA", "%s, on a queue of its own", t->gfx < 120000 ?
			  "a copy of 64 KiB is correct" : "a fence is done");
	return !trial_interrupted();
}

/* The priorities in the MQD of a process's first compute queue; false if it is not shown. */
static bool mqd_read(struct trial *t, pid_t pid, unsigned int *pipe_prio, unsigned int *queue_prio)
{
	char *all = doctor_slurp("/sys/kernel/debug/kfd/mqds"), *at, key[64];
	unsigned int dw[8];
	bool found = false;

	snprintf(key, sizeof(key), "Process %d PASID", pid);
	at = all ? strstr(all, key) : NULL;
	snprintf(key, sizeof(key), "Compute queue on device %x\n", t->gpu->gpu_id);
	at = at ? strstr(at, key) : NULL;
	at = at ? strstr(at, MQD_ROW) : NULL;
	if (at && sscanf(at + strlen(MQD_ROW), "%x %x %x %x %x %x %x %x", &dw[0], &dw[1], &dw[2],
			 &dw[3], &dw[4], &dw[5], &dw[6], &dw[7]) == 8) {
		*pipe_prio = dw[MQD_PIPE_PRIO];
		*queue_prio = dw[MQD_QUEUE_PRIO];
		found = true;
	}
	free(all);
	return found;
}

static bool priority(struct trial *t)
{
	struct kfd_prio_list_entry entry = { 0 };
	struct kfd_prio_set_args args;
	unsigned int pipe, queue;
	char why[KFDLIB_WHY];

	if (process_set(&t->d->dev, t->victim.pid, VICTIM_PRIO, 0, &args, why)) {
		trial_say(t, FINDING_FAIL, "priority", "%s", why);
		return false;
	}
	if (!trial_entry(t, t->victim.pid, &entry) || entry.effective != VICTIM_PRIO ||
	    entry.nr_queues != 2) {
		trial_say(t, FINDING_FAIL, "priority",
			  "the driver lists %u queues with priority %d instead of 2 with %d",
			  entry.nr_queues, entry.effective, VICTIM_PRIO);
		return false;
	}
	if (!mqd_read(t, t->victim.pid, &pipe, &queue))
		trial_say(t, FINDING_OK, "priority", "set and listed by the driver; the MQD cannot be read%s",
			  geteuid() ? " without root" : "");
	else if (pipe || queue != VICTIM_PRIO)
		trial_say(t, FINDING_FAIL, "priority", "the MQD has pipe priority %u and queue priority %u instead of 0 and %d",
			  pipe, queue, VICTIM_PRIO);
	else
		trial_say(t, FINDING_OK, "priority", "set, listed by the driver, and in the MQD: pipe %u, queue %u",
			  pipe, queue);
	return true;
}

static void destroy(struct trial *t)
{
	struct answer a;

	if (t->preemptor.pid && !trial_do(t, &t->preemptor, ORDER_STOP, STEP_MS, &a,
					  "destroy queues"))
		return;
	if (trial_do(t, &t->victim, ORDER_STOP, STEP_MS, &a, "destroy queues"))
		trial_say(t, FINDING_OK, "destroy queues", "two took %.1f ms",
			  (a.at[1] - a.at[0]) / 1e6);
}

/* Both actors end; KFD lets go of an ended process a little later. */
static void end(struct trial *t)
{
	uint64_t give_up = gpu_now() + GONE_MS * 1000000ull;
	pid_t pids[] = { t->preemptor.pid, t->victim.pid };
	struct kfd_prio_list_entry entry;
	size_t i;

	actor_end(&t->preemptor);
	actor_end(&t->victim);
	for (i = 0; i < 2; i++) {
		while (pids[i] && trial_entry(t, pids[i], &entry)) {
			if (gpu_now() >= give_up) {
				trial_say(t, FINDING_FAIL, "end",
					  "KFD still lists the test's process %d", pids[i]);
				return;
			}
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		}
	}
}

static bool refused(struct trial *t)
{
	uint64_t cores = 0;

	if (t->d->dev.fd < 0) {
		trial_say(t, FINDING_FAIL, "refused", "the test needs the driver of kfdprio");
		return true;
	}
	if (!kfd_topology_prop(t->gpu, "gfx_target_version", &t->gfx)) {
		trial_say(t, t->d->soak ? FINDING_FAIL : FINDING_INFO, "not tested",
			  "the kernel does not show the generation of the GPU");
		return true;
	}
	kfd_topology_prop(t->gpu, "cpu_cores_count", &cores);
	if (t->gfx < 90000 || cores) {
		trial_say(t, t->d->soak ? FINDING_FAIL : FINDING_INFO, "not tested",
			  "the test does not support %s",
			  cores ? "APUs that share their node with the CPU" : "GPUs before gfx9");
		return true;
	}
	t->others = doctor_users(t->gpu->gpu_id);
	if (!t->others)
		return false;
	if (!t->d->force) {
		trial_say(t, FINDING_FAIL, "refused",
			  "%zu other process%s queues on this GPU, which the test would preempt; use --force to test anyway",
			  t->others, t->others == 1 ? " has" : "es have");
		return true;
	}
	trial_say(t, FINDING_INFO, "with others",
		  "%zu other process%s queues on this GPU: times include the save of their waves",
		  t->others, t->others == 1 ? " has" : "es have");
	return false;
}

/* What the two processes do, as far as this driver and this user can preempt */
static void work(struct trial *t)
{
	struct soak saves = { 0 };

	if (!trial_preemptor(t)) {
		if (t->d->soak)
			trial_say(t, FINDING_FAIL, "soak", "not done: the driver preempts nothing here");
		return;
	}
	if (t->d->test) {
		if (!trial_preempt(t) || trial_interrupted())
			return;
		/* a dispatch of it would wait for kernels of the others, however long those are */
		if (t->others)
			trial_say(t, FINDING_INFO, "saves", "not measured beside other processes");
		else
			trial_soak(t, SAVES, "saves", &saves);
	}
	if (t->d->soak && !trial_interrupted() && !saves.stopped_by)
		trial_soak(t, t->d->soak, "soak", doctor_soak(t->d, t->gpu->gpu_id));
}

static void trial(struct trial *t)
{
	unsigned int seconds = t->d->seconds + MARGIN_S;
	pid_t victim, preemptor;
	char why[KFDLIB_WHY] = "";
	bool ran;

	if (refused(t))
		return;
	t->deadline = gpu_now() + t->d->seconds * 1000000000ull;
	/* No buffer holds the events of a soak. */
	if (t->d->test)
		t->trace = trace_start(why, sizeof(why));
	if (t->d->test && !t->trace)
		trial_say(t, FINDING_INFO, "events", "not recorded: %s", why);
	if (actor_start(&t->victim, &t->d->topo, t->gpu, seconds) ||
	    actor_start(&t->preemptor, &t->d->topo, t->gpu, seconds)) {
		trial_say(t, FINDING_FAIL, "start", "cannot start the processes of the test: %s",
			  strerror(errno));
		end(t);
		goto out;
	}
	victim = t->victim.pid;
	preemptor = t->preemptor.pid;
	ran = queues(t) && priority(t);
	if (ran) {
		work(t);
		destroy(t);
	}
	end(t);
	if (!trial_interrupted() && t->trace)
		trial_events(t, victim, preemptor, ran);
	if (trial_interrupted())
		trial_say(t, FINDING_FAIL, "interrupted", "by signal %d; the test has removed everything that it created",
			  trial_interrupted());
out:
	trace_free(t->trace);
}

/**
 * doctor_test() - test the GPUs, one after the other
 * @d: the examination
 */
void doctor_test(struct doctor *d)
{
	const struct sigaction action = { .sa_handler = trial_interrupt };
	/* SIGPIPE: of 'kfdprio doctor --test | head' */
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	struct sigaction before[NR_SIGNALS];
	size_t i;

	for (i = 0; i < NR_SIGNALS; i++)
		sigaction(signals[i], &action, &before[i]);
	for (i = 0; i < d->topo.nr && !trial_interrupted(); i++) {
		struct trial t = { .d = d, .gpu = &d->topo.gpus[i] };

		if (!d->only || t.gpu->gpu_id == d->only)
			trial(&t);
	}
	if (!d->topo.nr)
		doctor_say(d, FINDING_FAIL, "test", NULL, "no GPU to test");
	for (i = 0; i < NR_SIGNALS; i++)
		sigaction(signals[i], &before[i], NULL);
}
