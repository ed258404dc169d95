// SPDX-License-Identifier: GPL-2.0
/* kfdprio doctor --test and --soak: what the steps of the test of a GPU share */
#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>

#include "test.h"

static volatile sig_atomic_t interrupted;

/**
 * trial_interrupt() - handler of the signals that end the test
 * @sig: the signal
 */
void trial_interrupt(int sig)
{
	interrupted = sig;
}

/**
 * trial_interrupted() - has a signal come that ends the test?
 *
 * Return: the signal, or 0.
 */
int trial_interrupted(void)
{
	return interrupted;
}

/**
 * trial_say() - a finding of the test
 * @t: the test
 * @level: what it means
 * @what: which step
 * @format: what was found, as for printf(3)
 */
void trial_say(struct trial *t, enum finding_level level, const char *what, const char *format, ...)
{
	char text[DOCTOR_TEXT], topic[128];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(topic, sizeof(topic), "GPU %u: test: %s", t->gpu->gpu_id, what);
	doctor_say(t->d, level, topic, NULL, "%s", text);
}

/**
 * trial_do() - have an actor do something; what fails is a finding
 * @t: the test
 * @a: the actor
 * @order: what
 * @timeout_ms: for what it waits for
 * @answer: out
 * @what: name of the step
 *
 * Return: whether it was done.
 */
bool trial_do(struct trial *t, struct actor *a, enum order order, unsigned int timeout_ms,
	      struct answer *answer, const char *what)
{
	if (interrupted)
		return false;
	if (!actor_do(a, order, timeout_ms, answer))
		return true;
	if (!interrupted)
		trial_say(t, FINDING_FAIL, what, "%s", answer->why);
	return false;
}

/**
 * trial_entry() - what the driver lists of a process on the GPU
 * @t: the test
 * @pid: the process
 * @entry: out
 *
 * Return: whether it is listed.
 */
bool trial_entry(struct trial *t, pid_t pid, struct kfd_prio_list_entry *entry)
{
	struct kfd_prio_list_entry *entries;
	bool found = false;
	size_t nr, i;

	if (kfd_dev_list(&t->d->dev, &entries, &nr))
		return false;
	for (i = 0; i < nr && !found; i++) {
		found = entries[i].pid == pid && entries[i].gpu_id == t->gpu->gpu_id;
		if (found)
			*entry = entries[i];
	}
	free(entries);
	return found;
}
