// SPDX-License-Identifier: GPL-2.0
/* Options of the plugin of Slurm that give values to names of QOS or partitions. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job-names.h"

/**
 * job_name_find() - what an option has for a name
 * @names: of the option
 * @name: NULL: none
 * @compare: how names are compared
 *
 * Return: it, or NULL.
 */
const struct job_name *job_name_find(const struct job_names *names, const char *name, job_compare_fn compare)
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

/**
 * job_option_wrong() - "KEY 'TEXT' IS_WRONG"
 * @why: out, KFDLIB_WHY bytes
 * @key: of the option
 * @text: any bytes
 * @is_wrong: what is wrong with it
 *
 * Return: -EINVAL.
 */
int job_option_wrong(char *why, const char *key, const char *text, const char *is_wrong)
{
	char *shown = text_printable(text);

	snprintf(why, KFDLIB_WHY, "%s '%.64s' %.300s", key, shown ? shown : "", is_wrong);
	free(shown);
	return -EINVAL;
}

/**
 * job_option_value() - the value of an option
 * @option: KEY=VALUE
 * @key: the key
 *
 * Return: where it begins in @option; NULL: the option has another key.
 */
const char *job_option_value(const char *option, const char *key)
{
	size_t len = strlen(key);

	return !strncmp(option, key, len) && option[len] == '=' ? option + len + 1 : NULL;
}

static int name_add(struct job_names *names, const struct job_name *name)
{
	struct job_name *more;

	more = realloc(names->names, (names->nr + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	names->names = more;
	more[names->nr] = *name;
	more[names->nr].name = strdup(name->name);
	if (!more[names->nr].name)
		return -ENOMEM;
	names->nr++;
	return 0;
}

/* @item: NAME:VALUE; the value has no colon, so the last one is before it. */
static int item_parse(struct job_names *names, job_compare_fn compare, const char *key, const struct job_names_kind *kind,
		      char *item, char *why)
{
	struct job_name name = { .name = item };
	char *colon = strrchr(item, ':');
	char because[KFDLIB_WHY];
	char *shown;

	if (!colon || colon == item) {
		snprintf(because, sizeof(because), "is not %s: write, for example, %s", kind->form, kind->example);
		return job_option_wrong(why, key, item, because);
	}
	*colon = '\0';
	if (kind->parse(colon + 1, &name, because)) {
		shown = text_printable(item);
		snprintf(why, KFDLIB_WHY, "%s '%.64s': %.300s", key, shown ? shown : "", because);
		free(shown);
		return -EINVAL;
	}
	if (job_name_find(names, item, compare))
		return job_option_wrong(why, key, item, "is given twice: remove one");
	return name_add(names, &name) ? out_of_memory(why) : 0;
}

/**
 * job_names_parse() - add what an option has
 * @names: in, out
 * @compare: how names are compared
 * @key: of the option, with "="
 * @kind: of the option
 * @text: NAME:VALUE,...
 * @why: on failure, what is wrong; KFDLIB_WHY bytes
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int job_names_parse(struct job_names *names, job_compare_fn compare, const char *key, const struct job_names_kind *kind,
		    const char *text, char *why)
{
	char *copy, *rest, *item;
	int ret = 0;

	if (!*text) {
		snprintf(why, KFDLIB_WHY, "%s has no value: write %s, for example %s", key, kind->form, kind->example);
		return -EINVAL;
	}
	copy = strdup(text);
	if (!copy)
		return out_of_memory(why);
	rest = copy;
	while (!ret && (item = strsep(&rest, ",")))
		ret = item_parse(names, compare, key, kind, item, why);
	free(copy);
	return ret;
}

/**
 * job_names_free() - free what job_names_parse() allocated
 * @names: empty afterwards
 */
void job_names_free(struct job_names *names)
{
	size_t i;

	for (i = 0; i < names->nr; i++)
		free(names->names[i].name);
	free(names->names);
	*names = (struct job_names){ 0 };
}
