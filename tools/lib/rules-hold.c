// SPDX-License-Identifier: GPL-2.0
/* Rules: what holds them, and their errors, in memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"

/**
 * rules_fail() - note an error
 * @rules: with it, they are not to be used
 * @file: where
 * @line: 0: with the whole file
 * @column: 0: with the whole line
 * @format: what is wrong
 *
 * Return: 0 or -ENOMEM.
 */
int rules_fail(struct rules *rules, const char *file, unsigned int line, unsigned int column, const char *format, ...)
{
	struct rules_error *errors, *error;
	va_list args;
	int ret;

	errors = reallocarray(rules->errors, rules->nr_errors + 1, sizeof(*errors));
	if (!errors)
		return -ENOMEM;
	rules->errors = errors;
	error = &errors[rules->nr_errors];
	error->line = line;
	error->column = column;
	va_start(args, format);
	ret = vasprintf(&error->why, format, args);
	va_end(args);
	error->file = strdup(file);
	if (ret < 0 || !error->file) {
		if (ret >= 0)
			free(error->why);
		free(error->file);
		return -ENOMEM;
	}
	rules->nr_errors++;
	return 0;
}

/**
 * rule_free() - free what a rule points to
 * @rule: empty afterwards
 */
void rule_free(struct rule *rule)
{
	free(rule->cgroup);
	free(rule->unit);
	free(rule->user);
	free(rule->group);
	free(rule->exe);
	free(rule->file);
	free(rule->text);
	memset(rule, 0, sizeof(*rule));
}

/**
 * rules_free() - free rules
 * @rules: empty afterwards
 */
void rules_free(struct rules *rules)
{
	size_t i;

	for (i = 0; i < rules->nr; i++)
		rule_free(&rules->rule[i]);
	for (i = 0; i < rules->nr_files; i++)
		free(rules->files[i]);
	for (i = 0; i < rules->nr_errors; i++) {
		free(rules->errors[i].file);
		free(rules->errors[i].why);
	}
	free(rules->rule);
	free(rules->files);
	free(rules->errors);
	free(rules->again_file);
	memset(rules, 0, sizeof(*rules));
}

