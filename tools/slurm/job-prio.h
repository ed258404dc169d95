/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The GPU priority of a Slurm job: the options of the plugin in plugstack.conf, and the choice.
 *
 * Without types of Slurm.  Pure but for memory.
 */
#ifndef JOB_PRIO_H
#define JOB_PRIO_H

#include <stdbool.h>
#include <stddef.h>

#include "job-share.h"

/**
 * struct job_prio_options - the line of plugstack.conf
 * @qos: of qos=
 * @partition: of partition=
 * @others: of default=, or KFD_PRIO_UNSET
 * @share: of the options for shares of GPU time
 */
struct job_prio_options {
	struct job_names qos, partition;
	int others;
	struct job_share_options share;
};

/* The reason for a priority. */
enum job_prio_by {
	JOB_PRIO_BY_NOTHING, /* the plugin sets none */
	JOB_PRIO_BY_QOS,
	JOB_PRIO_BY_PARTITION,
	JOB_PRIO_BY_DEFAULT,
	JOB_PRIO_BY_JOB, /* --gpu-priority */
};

/**
 * struct job_prio_job - a step of a job, before its tasks begin
 * @known: slurmctld has answered
 * @qos: as slurmctld has it; NULL: none
 * @partition: as slurmctld has it; NULL: none
 * @asked: of --gpu-priority, or KFD_PRIO_UNSET
 * @inherited: the priority of slurmstepd, or KFD_PRIO_UNSET
 */
struct job_prio_job {
	bool known;
	const char *qos, *partition;
	int asked, inherited;
};

/**
 * struct job_prio_choice - the priority of all tasks of a step
 * @priority: KFD_PRIO_MIN..KFD_PRIO_MAX; KFD_PRIO_UNSET: it is not touched
 * @by: the reason
 * @limit: the highest priority that --gpu-priority may have
 * @refused: --gpu-priority was above @limit, and was ignored
 */
struct job_prio_choice {
	int priority;
	enum job_prio_by by;
	int limit;
	bool refused;
};

int job_prio_parse(struct job_prio_options *options, int argc, char **argv, char *why);
void job_prio_free(struct job_prio_options *options);
bool job_prio_by_name(const struct job_prio_options *options);
void job_prio_choose(const struct job_prio_options *options, const struct job_prio_job *job,
		     struct job_prio_choice *choice);

#endif /* JOB_PRIO_H */
