// SPDX-License-Identifier: GPL-2.0
/*
 * kfdprio doctor --test: preemptions.
 *
 * The victim's barrier waits for a signal that is given at the end.  In each round the preemptor
 * submits a barrier that waits, too: that is work, for which the victim is taken off.  A store
 * that the victim submits then must not happen until the preemptor's barrier is let go.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "queue.h"
#include "test.h"

#define MS		1000000ull
#define STEP_MS		2000
#define OFF_MS		5	/* for how long a victim's store must not happen */
#define PAUSE_MS	10	/* besides linger_us: until the next ring is trapped */
#define PRIO		12	/* of the preemptor, if preempt_min_prio is not above it */
#define PARAMETERS	"/sys/module/amdgpu/parameters"

/**
 * trial_parameter() - a parameter of amdgpu
 * @name: of it
 *
 * Return: -1: there is none
 */
long trial_parameter(const char *name)
{
	char text[32];

	return doctor_read(text, sizeof(text), PARAMETERS "/%s", name) ? atol(text) : -1;
}

static void pause_ms(uint64_t ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS }, NULL);
}

/* The reason why no process is preempted on this host; NULL if preemption is possible */
static const char *why_not(struct trial *t)
{
	struct kfd_prio_list_entry entry;

	if (!(t->d->dev.version.features & KFD_PRIO_FEATURE_PREEMPT))
		return "this driver has no preemption";
	if (trial_parameter("kfd_preempt") == 0)
		return "kfd_preempt is 0";
	if (trial_parameter("sched_policy") == 2)
		return "there is no hardware scheduler (sched_policy=2)";
	if (trial_parameter("cwsr_enable") == 0)
		return "CWSR is off (cwsr_enable=0)";
	if (trial_entry(t, t->victim.pid, &entry) && entry.flags & KFD_PRIO_LIST_PREEMPT_OFF)
		return "the circuit breaker of the GPU is open";
	return NULL;
}

static bool round_do(struct trial *t, struct round *r)
{
	struct kfd_prio_list_entry entry;
	struct answer a;

	if (!trial_do(t, &t->preemptor, ORDER_BLOCK, STEP_MS, &a, "preemption"))
		return false;
	r->ring = a.at[0];
	r->rung = a.at[1];
	/* With MES it is the driver's thread that preempts, a moment later. */
	pause_ms(1);
	if (!trial_do(t, &t->victim, ORDER_BEAT, STEP_MS, &a, "preemption"))
		return false;
	r->off = trial_entry(t, t->victim.pid, &entry) && entry.flags & KFD_PRIO_LIST_PREEMPTED;
	if (!actor_do(&t->victim, ORDER_BEAT_SEEN, OFF_MS, &a)) {
		r->early = true;
		r->beat = a.at[0];
	} else if (a.ret != -ETIME) {
		return false;
	}
	if (!trial_do(t, &t->preemptor, ORDER_RELEASE, STEP_MS, &a, "preemption"))
		return false;
	r->release = a.at[0];
	r->done = a.at[1];
	if (r->early)
		return true;
	if (!trial_do(t, &t->victim, ORDER_BEAT_SEEN, STEP_MS, &a, "victim goes on"))
		return false;
	r->beat = a.at[0];
	return true;
}

static void verdict(struct trial *t, uint64_t count)
{
	size_t off = 0, early = 0, i;

	for (i = 0; i < t->nr; i++) {
		off += t->rounds[i].off;
		early += t->rounds[i].early;
	}
	if (count < t->nr || off < t->nr)
		trial_say(t, FINDING_FAIL, "preemption",
			  "the driver preempted the victim %llu times in %zu rounds, and listed it as preempted %zu times",
			  (unsigned long long)count, t->nr, off);
	else if (early)
		trial_say(t, FINDING_FAIL, "preemption",
			  "in %zu of %zu rounds the victim ran while it was preempted", early, t->nr);
	else
		trial_say(t, FINDING_OK, "preemption",
			  "%zu rounds: each time the victim was off the GPU while the other process had work, and resumed afterwards",
			  t->nr);
}

/**
 * trial_preemptor() - give the preemptor a priority that preempts, and a queue
 * @t: the test; its victim has queues and a priority
 *
 * Return: false: it has none; a finding says why
 */
bool trial_preemptor(struct trial *t)
{
	const char *reason = why_not(t);
	long min = trial_parameter("preempt_min_prio");
	struct kfd_prio_set_args args;
	char why[KFDLIB_WHY];
	struct answer a;
	int ret;

	if (reason) {
		trial_say(t, FINDING_INFO, "preemption", "not tested: %s", reason);
		return false;
	}
	ret = process_set(&t->d->dev, t->preemptor.pid, min > PRIO ? min : PRIO, 0, &args, why);
	if (ret == -EPERM) {
		trial_say(t, FINDING_INFO, "preemption",
			  "not tested: raising a priority needs CAP_SYS_NICE; run the test as root");
		return false;
	}
	if (ret) {
		trial_say(t, FINDING_FAIL, "preemption", "%s", why);
		return false;
	}
	return trial_do(t, &t->preemptor, ORDER_START, STEP_MS, &a, "preemption");
}

/**
 * trial_preempt() - preempt the victim, many times
 * @t: the test; its victim has queues and a priority, its preemptor what trial_preemptor() gives
 *
 * Return: false: something hangs, or does not do what it is told
 */
bool trial_preempt(struct trial *t)
{
	struct kfd_prio_list_entry before = { 0 }, after = { 0 };
	long linger = trial_parameter("linger_us");
	struct answer a;

	if (!trial_do(t, &t->victim, ORDER_BLOCK, STEP_MS, &a, "preemption"))
		return false;
	trial_entry(t, t->victim.pid, &before);
	while (t->nr < ROUNDS_MAX && (!t->nr || gpu_now() < t->deadline)) {
		/* A process cannot find out whether its next ring will be trapped. */
		pause_ms(linger / 1000 + PAUSE_MS);
		if (!round_do(t, &t->rounds[t->nr]))
			return false;
		t->nr++;
	}
	trial_entry(t, t->victim.pid, &after);
	verdict(t, after.preempted_count - before.preempted_count);
	if (!trial_do(t, &t->victim, ORDER_RELEASE, STEP_MS, &a, "victim's work"))
		return false;
	trial_say(t, FINDING_OK, "victim's work",
		  "the packet that waited in its queue during all preemptions is done");
	return true;
}
