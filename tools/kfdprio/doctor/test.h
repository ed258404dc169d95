/* SPDX-License-Identifier: GPL-2.0 */
/* kfdprio doctor --test: what its parts share */
#ifndef DOCTOR_TEST_H
#define DOCTOR_TEST_H

#include "doctor.h"
#include "actor.h"
#include "trace.h"

#define ROUNDS_MAX	50 /* preemptions of a test */
#define SAVES		10 /* and those whose saves are measured */

/**
 * struct round - a preemption; times are of CLOCK_MONOTONIC, ns
 * @ring: just before the preemptor's store to its doorbell
 * @rung: just after
 * @release: when the preemptor's work was let go
 * @done: when it was seen to be done
 * @beat: when the victim's next store was seen, which was submitted while it was off
 * @early: that was before @release
 * @off: the driver said that the victim is preempted
 */
struct round {
	uint64_t ring, rung, release, done, beat;
	bool early, off;
};

/**
 * struct trial - the test of a GPU
 * @d: the examination
 * @gpu: the GPU
 * @gfx: its gfx_target_version
 * @victim: the process that is preempted
 * @preemptor: the one that preempts
 * @trace: events, or NULL
 * @deadline: when no new round begins
 * @rounds: array of @nr
 * @nr: how many preemptions were tried
 * @others: other processes have queues on the GPU
 */
struct trial {
	struct doctor *d;
	const struct kfd_gpu *gpu;
	uint64_t gfx;
	struct actor victim, preemptor;
	struct trace *trace;
	uint64_t deadline;
	struct round rounds[ROUNDS_MAX];
	size_t nr, others;
};

/* trial.c */
void trial_interrupt(int sig);
int trial_interrupted(void);
void trial_say(struct trial *t, enum finding_level level, const char *what, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
bool trial_do(struct trial *t, struct actor *a, enum order order, unsigned int timeout_ms,
	      struct answer *answer, const char *what);
bool trial_entry(struct trial *t, pid_t pid, struct kfd_prio_list_entry *entry);

/* preempt.c */
long trial_parameter(const char *name);
bool trial_preemptor(struct trial *t);
bool trial_preempt(struct trial *t);

/* soak.c */
void trial_soak(struct trial *t, unsigned int wanted, const char *what, struct soak *s);

/* measure.c */
void trial_events(struct trial *t, pid_t victim, pid_t preemptor, bool ran);

#endif /* DOCTOR_TEST_H */
