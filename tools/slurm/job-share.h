/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The share of GPU time of a Slurm job: the options of the plugin in plugstack.conf, and the choice.
 *
 * Without types of Slurm.  Pure but for memory.
 */
#ifndef JOB_SHARE_H
#define JOB_SHARE_H

#include "job-names.h"
#include "share.h"

/**
 * struct job_share_options - those of the line of plugstack.conf
 * @qos_max: of qos-max= and qos-max-soft=
 * @partition_max: of partition-max= and partition-max-soft=
 * @qos_weight: of qos-weight=
 * @partition_weight: of partition-weight=
 * @others: of default-max=, default-max-soft= and default-weight=
 * @has_max: there is a default-max= or default-max-soft=
 * @has_weight: there is a default-weight=
 */
struct job_share_options {
	struct job_names qos_max, partition_max, qos_weight, partition_weight;
	struct share_setting others;
	bool has_max, has_weight;
};

/**
 * struct job_share_job - a step of a job
 * @known: slurmctld has answered
 * @qos: as slurmctld has it; NULL: none
 * @partition: as slurmctld has it; NULL: none
 * @asked: of --gpu-max, hundredths of a percent; 0: not given
 */
struct job_share_job {
	bool known;
	const char *qos, *partition;
	uint32_t asked;
};

/**
 * struct job_share_choice - the share of a job and of a step
 * @given: jobs may have a share by the configuration
 * @job: of all processes of the job on the node
 * @step_max: what the step is to have beside it, hundredths of a percent; KFD_PRIO_MAX_NONE: nothing
 * @refused: --gpu-max was above the limit of the job, and was ignored
 */
struct job_share_choice {
	bool given;
	struct share_setting job;
	uint32_t step_max;
	bool refused;
};

int job_share_option(struct job_share_options *options, const char *option, char *why);
void job_share_free(struct job_share_options *options);
bool job_share_by_name(const struct job_share_options *options);
bool job_share_given(const struct job_share_options *options);
void job_share_choose(const struct job_share_options *options, const struct job_share_job *job,
		      struct job_share_choice *choice);
int job_max_parse(const char *text, uint32_t *max, char *why);

#endif /* JOB_SHARE_H */
