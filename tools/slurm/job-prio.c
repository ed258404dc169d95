// SPDX-License-Identifier: GPL-2.0
/* The GPU priority of a Slurm job: options, and the choice. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "job-prio.h"

/* accounts and QOS of Slurm are stored in lower case; names of partitions are as they are written */
typedef int (*compare_fn)(const char *left, const char *right);

static const struct job_prio_name *name_find(const struct job_prio_names *names, const char *name,
					     compare_fn compare)
{
	size_t i;

	for (i = 0; name && i < names->nr; i++) {
		if (!compare(names->names[i].name, name))
			return &names->names[i];
	}
	return NULL;
}

static int out_of_memory(char *why)
{
	snprintf(why, KFDLIB_WHY, "out of memory");
	return -ENOMEM;
}

/* "KEY 'TEXT' IS_WRONG" */
static int wrong(char *why, const char *key, const char *text, const char *is_wrong)
{
	char *shown = text_printable(text);

	snprintf(why, KFDLIB_WHY, "%s '%.64s' %s", key, shown ? shown : "", is_wrong);
	free(shown);
	return -EINVAL;
}

static int name_add(struct job_prio_names *names, const char *name, int priority)
{
	struct job_prio_name *more;

	more = realloc(names->names, (names->nr + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	names->names = more;
	more[names->nr].name = strdup(name);
	if (!more[names->nr].name)
		return -ENOMEM;
	more[names->nr++].priority = priority;
	return 0;
}

/* @item: NAME:PRIO; the priority has no colon, so the last one is before it. */
static int item_parse(struct job_prio_names *names, compare_fn compare, const char *key, char *item,
		      char *why)
{
	char *colon = strrchr(item, ':');
	char because[KFDLIB_WHY];
	char *shown;
	int priority;

	if (!colon || colon == item)
		return wrong(why, key, item, "is not NAME:PRIO: write, for example, batch:low");
	*colon = '\0';
	if (prio_parse(colon + 1, &priority, because)) {
		shown = text_printable(item);
		snprintf(why, KFDLIB_WHY, "%s '%.64s': %.300s", key, shown ? shown : "", because);
		free(shown);
		return -EINVAL;
	}
	if (name_find(names, item, compare))
		return wrong(why, key, item, "is given twice: remove one");
	return name_add(names, item, priority) ? out_of_memory(why) : 0;
}

static int list_parse(struct job_prio_names *names, compare_fn compare, const char *key,
		      const char *text, char *why)
{
	char *copy, *rest, *item;
	int ret = 0;

	if (!*text) {
		snprintf(why, KFDLIB_WHY, "%s has no value: write NAME:PRIO, for example batch:low",
			 key);
		return -EINVAL;
	}
	copy = strdup(text);
	if (!copy)
		return out_of_memory(why);
	rest = copy;
	while (!ret && (item = strsep(&rest, ",")))
		ret = item_parse(names, compare, key, item, why);
	free(copy);
	return ret;
}

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
	const char *value = strchr(option, '=');
	size_t len = value ? value - option : 0;

	if (len == strlen("qos") && !strncmp(option, "qos", len))
		return list_parse(&options->qos, strcasecmp, "qos=", value + 1, why);
	if (len == strlen("partition") && !strncmp(option, "partition", len))
		return list_parse(&options->partition, strcmp, "partition=", value + 1, why);
	if (len == strlen("default") && !strncmp(option, "default", len))
		return default_parse(options, value + 1, why);
	return wrong(why, "option", option,
		     "is unknown: the options are qos=NAME:PRIO,..., partition=NAME:PRIO,... and default=PRIO");
}

/**
 * job_prio_parse() - the options of the plugin
 * @options: out, to be freed with job_prio_free(); on failure it has none
 * @argc: how many
 * @argv: qos=NAME:PRIO,..., partition=NAME:PRIO,... (both repeatable), default=PRIO
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

static void names_free(struct job_prio_names *names)
{
	size_t i;

	for (i = 0; i < names->nr; i++)
		free(names->names[i].name);
	free(names->names);
}

/**
 * job_prio_free() - free what job_prio_parse() allocated
 * @options: left without options
 */
void job_prio_free(struct job_prio_options *options)
{
	names_free(&options->qos);
	names_free(&options->partition);
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
	return options->qos.nr || options->partition.nr;
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
	const struct job_prio_name *name = NULL;

	*choice = (struct job_prio_choice){ .priority = options->others, .by = JOB_PRIO_BY_DEFAULT };
	if (job->known) {
		name = name_find(&options->qos, job->qos, strcasecmp);
		choice->by = JOB_PRIO_BY_QOS;
		if (!name) {
			name = name_find(&options->partition, job->partition, strcmp);
			choice->by = JOB_PRIO_BY_PARTITION;
		}
	} else if (job_prio_by_name(options)) {
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
