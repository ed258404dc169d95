// SPDX-License-Identifier: GPL-2.0
/* The GPU priority of a Slurm job: options, and the choice. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "job-prio.h"

static int priority_parse(const char *text, struct job_name *name, char *why)
{
	return prio_parse(text, &name->priority, why);
}

static const struct job_names_kind priorities = { "NAME:PRIO", "batch:low", priority_parse };

static int default_parse(struct job_prio_options *options, const char *text, char *why)
{
	char because[KFDLIB_WHY];

	if (options->others != KFD_PRIO_UNSET) {
		snprintf(why, KFDLIB_WHY, "default= is given twice: remove one");
		return -EINVAL;
	}
	if (!prio_parse(text, &options->others, because))
		return 0;
	snprintf(why, KFDLIB_WHY, "default=: %.400s", because);
	return -EINVAL;
}

static int option_parse(struct job_prio_options *options, const char *option, char *why)
{
	const char *value;
	int ret;

	value = job_option_value(option, "qos");
	if (value)
		return job_names_parse(&options->qos, strcasecmp, "qos=", &priorities, value, why);
	value = job_option_value(option, "partition");
	if (value)
		return job_names_parse(&options->partition, strcmp, "partition=", &priorities, value, why);
	value = job_option_value(option, "default");
	if (value)
		return default_parse(options, value, why);
	ret = job_share_option(&options->share, option, why);
	if (ret != -ENOENT)
		return ret;
	return job_option_wrong(why, "option", option,
				"is unknown: the options are qos=NAME:PRIO,..., partition=NAME:PRIO,... and default=PRIO, and for shares qos-max=, qos-max-soft=, qos-weight=, partition-max=, partition-max-soft=, partition-weight=, default-max=, default-max-soft= and default-weight=");
}

/**
 * job_prio_parse() - the options of the plugin
 * @options: out, to be freed with job_prio_free(); on failure it has none
 * @argc: how many
 * @argv: qos=NAME:PRIO,..., partition=NAME:PRIO,... (both repeatable), default=PRIO, and those of job-share.c
 * @why: on failure, what is wrong; KFDLIB_WHY bytes
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int job_prio_parse(struct job_prio_options *options, int argc, char **argv, char *why)
{
	int i, ret;

	*options = (struct job_prio_options){ .others = KFD_PRIO_UNSET };
	for (i = 0; i < argc; i++) {
		ret = option_parse(options, argv[i], why);
		if (ret) {
			job_prio_free(options);
			return ret;
		}
	}
	return 0;
}

/**
 * job_prio_free() - free what job_prio_parse() allocated
 * @options: left without options
 */
void job_prio_free(struct job_prio_options *options)
{
	job_names_free(&options->qos);
	job_names_free(&options->partition);
	job_share_free(&options->share);
	*options = (struct job_prio_options){ .others = KFD_PRIO_UNSET };
}

/**
 * job_prio_by_name() - whether QOS and partition of a job matter
 * @options: the line of plugstack.conf
 *
 * Return: false: slurmctld need not be asked.
 */
bool job_prio_by_name(const struct job_prio_options *options)
{
	return options->qos.nr || options->partition.nr || job_share_by_name(&options->share);
}

static int lower(int left, int right)
{
	return left < right ? left : right;
}

/**
 * job_prio_choose() - the priority of the tasks of a step
 * @options: the line of plugstack.conf
 * @job: the job
 * @choice: out
 *
 * The QOS decides before the partition, and the partition before default=.  While QOS and partition
 * are not known, no job gets more than normal.  The job itself can only lower.
 */
void job_prio_choose(const struct job_prio_options *options, const struct job_prio_job *job,
		     struct job_prio_choice *choice)
{
	const struct job_name *name = NULL;

	*choice = (struct job_prio_choice){ .priority = options->others, .by = JOB_PRIO_BY_DEFAULT };
	if (job->known) {
		name = job_name_find(&options->qos, job->qos, strcasecmp);
		choice->by = JOB_PRIO_BY_QOS;
		if (!name) {
			name = job_name_find(&options->partition, job->partition, strcmp);
			choice->by = JOB_PRIO_BY_PARTITION;
		}
	} else if (options->qos.nr || options->partition.nr) {
		choice->priority = lower(options->others, KFD_PRIO_NORMAL);
	}
	if (name)
		choice->priority = name->priority;
	else
		choice->by = options->others == KFD_PRIO_UNSET ? JOB_PRIO_BY_NOTHING :
								 JOB_PRIO_BY_DEFAULT;

	choice->limit = choice->priority;
	if (choice->limit == KFD_PRIO_UNSET)
		choice->limit = job->inherited == KFD_PRIO_UNSET ? KFD_PRIO_NORMAL : job->inherited;
	if (job->asked == KFD_PRIO_UNSET)
		return;
	choice->refused = job->asked > choice->limit;
	if (!choice->refused) {
		choice->priority = job->asked;
		choice->by = JOB_PRIO_BY_JOB;
	}
}
