// SPDX-License-Identifier: GPL-2.0
/*
 * Rules: from a text to rules, and the spelling that a message advises.  Pure but for memory.
 *
 * A message names a spelling only if that is a rule without an error, and an example of what it stands for matches it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules-advice.h"

/* KEY=VALUE as it stands in a file: blanks and double quotes have a backslash */
static char *word_spell(const char *key, const char *value)
{
	char *word = malloc(strlen(key) + 2 * strlen(value) + 2), *to;

	if (!word)
		return NULL;
	to = stpcpy(stpcpy(word, key), "=");
	for (; *value; value++) {
		if (strchr(" \t\r\f\v\"", *value))
			*to++ = '\\';
		*to++ = *value;
	}
	*to = '\0';
	return word;
}

/* Does a rule match an example of what its pattern stands for? */
static bool example_matches(const struct rule *rule)
{
	char cgroup[RULES_LINE_MAX + 2] = "/", exe[RULES_LINE_MAX + 2] = "", normal[RULES_LINE_MAX + 2];
	const struct rules_subject subject = { .cgroup = cgroup, .exe = exe, .uid = rule->uid, .gids = &rule->gid, .nr_gids = 1 };

	/* a name that is not known yet is none that can be tried */
	if (rule->pending)
		return true;
	if (rule->cgroup && !rules_pattern_example(rule->cgroup, cgroup, sizeof(cgroup)))
		return false;
	if (rule->unit && !rule->cgroup && !rules_pattern_example(rule->unit, cgroup + 1, sizeof(cgroup) - 1))
		return false;
	if (rule->exe && !rules_pattern_example(rule->exe, exe, sizeof(exe)))
		return false;
	rules_path_normalize(cgroup, normal, sizeof(normal));
	if (strcmp(cgroup, normal))
		return false;
	rules_path_normalize(exe, normal, sizeof(normal));
	return (!rule->exe || !strcmp(exe, normal)) && !rule_mismatch(rule, &subject);
}

/* Numbers are known: any may be one of a user or group. */
static int number_parse(const char *name, unsigned int *id)
{
	char *end;

	errno = 0;
	*id = strtoul(name, &end, 10);
	return *end || end == name || errno || strtoul(name, NULL, 10) >= (uid_t)-1 ? -ENOENT : 0;
}

/* What makes a line of a word */
static const char *rest_of_line(const char *key)
{
	static const char *const alone[] = { "container-max", "annotation-gpu-time", "annotation-weight" };
	static const char *const gives[] = { "priority", "park", "max", "max-soft", "weight" };
	size_t i;

	for (i = 0; i < sizeof(alone) / sizeof(*alone); i++)
		if (!strcmp(key, alone[i]))
			return "";
	for (i = 0; i < sizeof(gives) / sizeof(*gives); i++)
		if (!strcmp(key, gives[i]))
			return " cgroup=/";
	return " priority=0";
}

/**
 * rules_spelling() - a word of a rule that a message may advise
 * @key: of the word
 * @value: of the word, as it is without quotes
 *
 * Return: the word as it stands in a file, to be freed with free(3); NULL: it has an error or cannot match.
 */
char *rules_spelling(const char *key, const char *value)
{
	static const struct rules_names numbers = { .user = number_parse, .group = number_parse };
	char *word = word_spell(key, value), *line = NULL;
	char *shown = text_printable(value);
	struct rules rules = { 0 };
	bool good;

	/* A message escapes such bytes, so that the user would copy another word */
	good = shown && !strcmp(shown, value);
	free(shown);
	if (!good) {
		free(word);
		return NULL;
	}
	if (!word || asprintf(&line, "%s%s", word, rest_of_line(key)) < 0) {
		free(word);
		return NULL;
	}
	good = strlen(line) < RULES_LINE_MAX && !rules_line_parse(&rules, "", 1, line, true, &numbers, NULL) &&
	       (rules.has_container_max || rules.annotation_max || rules.has_annotation_weight || (rules.nr == 1 && example_matches(&rules.rule[0])));
	rules_free(&rules);
	free(line);
	if (good)
		return word;
	free(word);
	return NULL;
}

/* A spelling that cannot match, or that does not fit, is left out. */
static int refusal_add(struct rules *rules, const char *file, unsigned int line, const struct rules_refusal *why)
{
	char *spelling = *why->value ? rules_spelling(why->key, why->value) : NULL;
	bool fits = spelling && strlen(why->text) + strlen(why->lead) + strlen(spelling) < KFDLIB_WHY;
	int ret;

	ret = rules_fail(rules, file, line, why->column, "%s%s%s", why->text, fits ? why->lead : "", fits ? spelling : "");
	free(spelling);
	return ret;
}

/**
 * rules_parse() - add the rules of a text
 * @rules: those that come before; in, out
 * @file: the name of the text
 * @text: any bytes
 * @size: how many
 * @names: how users and groups are looked up
 *
 * What is wrong is added to @rules->errors, one error a line, and the rest is read all the same.
 *
 * Return: 0 or -ENOMEM.
 */
int rules_parse(struct rules *rules, const char *file, const char *text, size_t size,
		const struct rules_names *names)
{
	const char *end = text + size, *stop, *wide = rules_text_wide(text, size);
	bool newlines = size && memchr(text, '\n', size);
	char copy[RULES_LINE_MAX];
	struct rules_refusal why;
	unsigned int line = 0;
	int ret = 0;

	if (wide)
		return rules_fail(rules, file, 1, 1, "the file is text in %s: save it as UTF-8, as iconv -f %s -t UTF-8 does", wide, wide);
	for (; !ret && text < end; text = stop + 1) {
		line++;
		stop = memchr(text, '\n', end - text);
		if (!stop)
			stop = end;
		if ((size_t)(stop - text) >= sizeof(copy)) {
			ret = rules_fail(rules, file, line, 0, "the line is longer than %u bytes", RULES_LINE_MAX - 1);
			continue;
		}
		memcpy(copy, text, stop - text);
		copy[stop - text] = '\0';
		if (strlen(copy) != (size_t)(stop - text)) {
			ret = rules_fail(rules, file, line, 0, "there is a byte 0 in the line: this is no text");
			continue;
		}
		ret = rules_line_parse(rules, file, line, copy, newlines, names, &why);
		if (ret == -EINVAL)
			ret = refusal_add(rules, file, line, &why);
	}
	return ret;
}
