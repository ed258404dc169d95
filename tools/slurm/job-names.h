/* SPDX-License-Identifier: GPL-2.0 */
/* Options of the plugin of Slurm that give values to names of QOS or partitions.  Pure but for memory. */
#ifndef JOB_NAMES_H
#define JOB_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "kfdlib.h"

/**
 * struct job_name - NAME:VALUE of an option
 * @name: of a QOS or a partition
 * @priority: of an option for priorities: KFD_PRIO_MIN..KFD_PRIO_MAX
 * @share: of one for shares: a limit, hundredths of a percent, or a weight
 * @soft: of a limit: it is soft
 */
struct job_name {
	char *name;
	int priority;
	uint32_t share;
	bool soft;
};

/**
 * struct job_names - all of an option
 * @names: array of @nr
 * @nr: how many
 */
struct job_names {
	struct job_name *names;
	size_t nr;
};

/* accounts and QOS of Slurm are stored in lower case; names of partitions are as they are written */
typedef int (*job_compare_fn)(const char *left, const char *right);

/**
 * struct job_names_kind - what an option takes
 * @form: NAME:VALUE, for messages
 * @example: of one
 * @parse: reads a value; 0 or negative, with the whole reason in @why, KFDLIB_WHY bytes
 */
struct job_names_kind {
	const char *form, *example;
	int (*parse)(const char *text, struct job_name *name, char *why);
};

const struct job_name *job_name_find(const struct job_names *names, const char *name, job_compare_fn compare);
int job_names_parse(struct job_names *names, job_compare_fn compare, const char *key, const struct job_names_kind *kind,
		    const char *text, char *why);
void job_names_free(struct job_names *names);
int job_option_wrong(char *why, const char *key, const char *text, const char *is_wrong);
const char *job_option_value(const char *option, const char *key);

#endif /* JOB_NAMES_H */
