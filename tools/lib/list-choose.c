// SPDX-License-Identifier: GPL-2.0
/* Lists: which columns are printed; see list.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kfdlib.h"
#include "list.h"

/**
 * list_find() - a column by its name
 * @columns: array of @nr
 * @nr: how many
 * @name: in capitals or not
 * @len: its bytes
 *
 * Return: its index, or -1.
 */
int list_find(const struct list_column *columns, unsigned int nr, const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (strlen(columns[i].name) == len && !strncasecmp(columns[i].name, name, len))
			return i;
	return -1;
}

static bool shown(const struct list_column *column, const struct list_choice *choice)
{
	switch (column->place) {
	case LIST_EVERYWHERE:
		return true;
	case LIST_WIDE:
		return choice->csv || choice->json;
	case LIST_CSV:
		return choice->csv;
	default:
		return !choice->csv && !choice->json;
	}
}

/**
 * list_choose() - the columns to print, in their order
 * @columns: array of @nr
 * @nr: how many
 * @choice: what is wanted
 * @chosen: out: their indices, room for LIST_COLUMNS
 * @bad: out: on failure, the place of the name that is wrong
 *
 * A column is not given twice: an object of JSON would have two members of one name.
 *
 * Return: how many; -1 if a name is none of a column, -2 if it is given twice.
 */
int list_choose(const struct list_column *columns, unsigned int nr, const struct list_choice *choice,
		unsigned int *chosen, const char **bad)
{
	const char *at = choice->columns;
	int nr_chosen = 0, found;
	unsigned int i;

	if (!at || *at == '+')
		for (i = 0; i < nr; i++)
			if (shown(&columns[i], choice))
				chosen[nr_chosen++] = i;
	if (!at)
		return nr_chosen;
	at += *at == '+';
	for (;; at++) {
		size_t len = strcspn(at, ",");

		found = list_find(columns, nr, at, len);
		if (found < 0 || nr_chosen == LIST_COLUMNS) {
			*bad = at;
			return -1;
		}
		for (i = 0; i < (unsigned int)nr_chosen && chosen[i] != (unsigned int)found; i++)
			;
		if (i == (unsigned int)nr_chosen) {
			chosen[nr_chosen++] = found;
		} else if (*choice->columns != '+') {
			*bad = at;
			return -2;
		}
		at += len;
		if (!*at)
			return nr_chosen;
	}
}

/**
 * list_check() - whether what the user wants can be had
 * @columns: array of @nr
 * @nr: how many
 * @choice: what is wanted
 * @why: on failure, what is wrong; KFDLIB_WHY bytes
 *
 * Return: 0 or -EINVAL.
 */
int list_check(const struct list_column *columns, unsigned int nr, const struct list_choice *choice,
	       char *why)
{
	unsigned int chosen[LIST_COLUMNS], i;
	const char *bad;
	char *name;
	size_t used;
	int ret;

	if (choice->raw + choice->csv + choice->json > 1) {
		snprintf(why, KFDLIB_WHY, "%s and %s: give only one of them",
			 choice->raw ? "--raw" : "--csv", choice->json ? "--json" : "--csv");
		return -EINVAL;
	}
	if (choice->json && choice->noheadings) {
		snprintf(why, KFDLIB_WHY, "--noheadings cannot be combined with --json");
		return -EINVAL;
	}
	ret = list_choose(columns, nr, choice, chosen, &bad);
	if (ret >= 0)
		return 0;
	name = strndup(bad, strcspn(bad, ","));
	if (ret == -2) {
		snprintf(why, KFDLIB_WHY, "--output: column '%.40s' is given twice", name ? name : "");
		free(name);
		return -EINVAL;
	}
	snprintf(why, KFDLIB_WHY, "--output: unknown column '%.40s'; the columns are", name ? name : "");
	free(name);
	for (i = 0; i < nr; i++) {
		used = strlen(why);
		snprintf(why + used, KFDLIB_WHY - used, "%s%s", i ? "," : " ", columns[i].name);
	}
	return -EINVAL;
}
