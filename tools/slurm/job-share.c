// SPDX-License-Identifier: GPL-2.0
/* The share of GPU time of a Slurm job: options, and the choice. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "job-share.h"

/**
 * job_max_parse() - a limit of GPU time
 * @text: a percentage or none
 * @max: out: hundredths of a percent; KFD_PRIO_MAX_NONE: none
 * @why: on failure, what is wrong; KFDLIB_WHY bytes
 *
 * Return: 0 or -EINVAL.
 */
int job_max_parse(const char *text, uint32_t *max, char *why)
{
	char *shown;

	if (!kfd_max_parse(text, max))
		return 0;
	shown = text_printable(text);
	snprintf(why, KFDLIB_WHY, "'%.64s' is not a limit of GPU time: give a percentage from 0.01%% to 100%%, as 30%%, or none",
		 shown ? shown : "");
	free(shown);
	return -EINVAL;
}

static int weight_parse(const char *text, uint32_t *weight, char *why)
{
	char *shown;

	if (!kfd_weight_parse(text, weight))
		return 0;
	shown = text_printable(text);
	snprintf(why, KFDLIB_WHY, "'%.64s' is not a weight: give a number from %d to %d, or none", shown ? shown : "",
		 KFD_PRIO_WEIGHT_MIN, KFD_PRIO_WEIGHT_MAX);
	free(shown);
	return -EINVAL;
}

static int name_max(const char *text, struct job_name *name, char *why)
{
	return job_max_parse(text, &name->share, why);
}

static int name_max_soft(const char *text, struct job_name *name, char *why)
{
	name->soft = true;
	return job_max_parse(text, &name->share, why);
}

static int name_weight(const char *text, struct job_name *name, char *why)
{
	return weight_parse(text, &name->share, why);
}

static const struct job_names_kind max_kind = { "NAME:MAX", "batch:30%", name_max },
				   max_soft_kind = { "NAME:MAX", "batch:30%", name_max_soft },
				   weight_kind = { "NAME:WEIGHT", "batch:50", name_weight };

/* Of the options that give values to names; a name may be in one for max= or in one for max-soft= */
static int names_option(struct job_share_options *o, const char *option, char *why)
{
	const struct {
		const char *key;
		struct job_names *names;
		job_compare_fn compare;
		const struct job_names_kind *kind;
	} all[] = {
		{ "qos-max", &o->qos_max, strcasecmp, &max_kind },
		{ "qos-max-soft", &o->qos_max, strcasecmp, &max_soft_kind },
		{ "qos-weight", &o->qos_weight, strcasecmp, &weight_kind },
		{ "partition-max", &o->partition_max, strcmp, &max_kind },
		{ "partition-max-soft", &o->partition_max, strcmp, &max_soft_kind },
		{ "partition-weight", &o->partition_weight, strcmp, &weight_kind },
	};
	const char *value;
	char key[32];
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		value = job_option_value(option, all[i].key);
		snprintf(key, sizeof(key), "%s=", all[i].key);
		if (value)
			return job_names_parse(all[i].names, all[i].compare, key, all[i].kind, value, why);
	}
	return -ENOENT;
}

static int default_option(struct job_share_options *o, const char *option, char *why)
{
	const char *hard = job_option_value(option, "default-max"), *soft = job_option_value(option, "default-max-soft");
	const char *weight = job_option_value(option, "default-weight");
	char because[KFDLIB_WHY];
	int ret;

	if (!hard && !soft && !weight)
		return -ENOENT;
	if (weight ? o->has_weight : o->has_max) {
		snprintf(why, KFDLIB_WHY, "%s is given twice: remove one",
			 weight ? "default-weight=" : "default-max= or default-max-soft=");
		return -EINVAL;
	}
	if (weight) {
		ret = weight_parse(weight, &o->others.weight, because);
		o->has_weight = true;
	} else {
		ret = job_max_parse(hard ?: soft, &o->others.max, because);
		o->others.soft = soft;
		o->has_max = true;
	}
	if (ret)
		snprintf(why, KFDLIB_WHY, "%s: %.400s", weight ? "default-weight=" : hard ? "default-max=" : "default-max-soft=", because);
	return ret;
}

/**
 * job_share_option() - an option of the plugin
 * @options: zeroed before the first; in, out
 * @option: KEY=VALUE
 * @why: on failure, what is wrong; KFDLIB_WHY bytes
 *
 * Return: 0; -ENOENT: it is none for shares; -EINVAL or -ENOMEM.
 */
int job_share_option(struct job_share_options *options, const char *option, char *why)
{
	int ret = names_option(options, option, why);

	return ret == -ENOENT ? default_option(options, option, why) : ret;
}

/**
 * job_share_free() - free what job_share_option() allocated
 * @options: left without options
 */
void job_share_free(struct job_share_options *options)
{
	job_names_free(&options->qos_max);
	job_names_free(&options->partition_max);
	job_names_free(&options->qos_weight);
	job_names_free(&options->partition_weight);
	*options = (struct job_share_options){ 0 };
}

static bool max_by_name(const struct job_share_options *options)
{
	return options->qos_max.nr || options->partition_max.nr;
}

static bool weight_by_name(const struct job_share_options *options)
{
	return options->qos_weight.nr || options->partition_weight.nr;
}

/**
 * job_share_by_name() - whether QOS and partition of a job matter
 * @options: the line of plugstack.conf
 *
 * Return: false: slurmctld need not be asked.
 */
bool job_share_by_name(const struct job_share_options *options)
{
	return max_by_name(options) || weight_by_name(options);
}

/**
 * job_share_given() - whether jobs may have a share by the configuration
 * @options: the line of plugstack.conf
 *
 * Return: whether.
 */
bool job_share_given(const struct job_share_options *options)
{
	return options->has_max || options->has_weight || job_share_by_name(options);
}

/* The QOS decides before the partition. */
static const struct job_name *name_of(const struct job_names *qos, const struct job_names *partition, const struct job_share_job *job)
{
	const struct job_name *name = job_name_find(qos, job->qos, strcasecmp);

	return name ?: job_name_find(partition, job->partition, strcmp);
}

static void lowest(const struct job_names *names, struct share_setting *setting)
{
	size_t i;

	for (i = 0; i < names->nr; i++) {
		if (names->names[i].share > setting->max || (names->names[i].share == setting->max && names->names[i].soft))
			continue;
		setting->max = names->names[i].share;
		setting->soft = names->names[i].soft;
	}
}

static void max_choose(const struct job_share_options *o, const struct job_share_job *job, struct share_setting *setting)
{
	const struct job_name *name;

	setting->max = o->has_max ? o->others.max : KFD_PRIO_MAX_NONE;
	setting->soft = o->others.soft;
	if (!job->known) {
		/* it may be any of them: the lowest is no gain */
		lowest(&o->qos_max, setting);
		lowest(&o->partition_max, setting);
		return;
	}
	name = name_of(&o->qos_max, &o->partition_max, job);
	if (name) {
		setting->max = name->share;
		setting->soft = name->soft;
	}
}

static void weight_choose(const struct job_share_options *o, const struct job_share_job *job, struct share_setting *setting)
{
	const struct job_name *name;

	setting->weight = o->others.weight;
	if (!job->known) {
		if (weight_by_name(o) && setting->weight > KFD_PRIO_WEIGHT_DEFAULT)
			setting->weight = KFD_PRIO_WEIGHT_DEFAULT;
		return;
	}
	name = name_of(&o->qos_weight, &o->partition_weight, job);
	if (name)
		setting->weight = name->share;
}

/**
 * job_share_choose() - the share of a job and of a step
 * @options: the line of plugstack.conf
 * @job: the step
 * @choice: out
 *
 * The QOS decides before the partition, and the partition before the default, for limit and weight each.  While QOS and
 * partition are not known, the lowest of all limits holds, and no weight above that of other processes.  The job itself
 * can only lower, for a step.
 */
void job_share_choose(const struct job_share_options *options, const struct job_share_job *job,
		      struct job_share_choice *choice)
{
	*choice = (struct job_share_choice){ .given = job_share_given(options), .step_max = KFD_PRIO_MAX_NONE };
	max_choose(options, job, &choice->job);
	weight_choose(options, job, &choice->job);
	if (!job->asked)
		return;
	choice->refused = job->asked > choice->job.max;
	/* a hard limit is lower than a soft one */
	if (job->asked < choice->job.max || (job->asked == choice->job.max && choice->job.soft))
		choice->step_max = job->asked;
}
