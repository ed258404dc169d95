// SPDX-License-Identifier: GPL-2.0
/*
 * Rules: the spelling that a message advises.  Pure but for memory.
 *
 * A message names a spelling only if that is a rule without an error, and an example of what it stands for matches it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules-advice.h"

/**
 * rules_refuse() - say what is wrong with a condition
 * @why: out: KFDLIB_WHY bytes; NULL: nothing is said
 * @format: what is wrong
 *
 * Return: -EINVAL.
 */
int rules_refuse(char *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (why)
		vsnprintf(why, KFDLIB_WHY, format, args);
	va_end(args);
	return -EINVAL;
}

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
	if (!strcmp(key, "container-max"))
		return "";
	return strcmp(key, "priority") && strcmp(key, "park") ? " priority=0" : " cgroup=/";
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
	struct rules rules = { 0 };
	bool good;

	if (!word || asprintf(&line, "%s%s", word, rest_of_line(key)) < 0) {
		free(word);
		return NULL;
	}
	good = !rules_parse_quietly(&rules, line, &numbers) && !rules.nr_errors &&
	       (rules.has_container_max || (rules.nr == 1 && example_matches(&rules.rule[0])));
	rules_free(&rules);
	free(line);
	if (good)
		return word;
	free(word);
	return NULL;
}

/**
 * rules_refuse_as() - say what is wrong with a condition, and the spelling that matches
 * @why: out: KFDLIB_WHY bytes; NULL: nothing is said
 * @lead: what stands before the spelling, as ": write "
 * @key: of the spelling
 * @value: of the spelling, without quotes; NULL: none is known
 * @format: what is wrong
 *
 * A spelling that cannot match, or that does not fit, is left out.
 *
 * Return: -EINVAL.
 */
int rules_refuse_as(char *why, const char *lead, const char *key, const char *value, const char *format, ...)
{
	char *spelling;
	va_list args;
	size_t len;

	if (!why)
		return -EINVAL;
	va_start(args, format);
	vsnprintf(why, KFDLIB_WHY, format, args);
	va_end(args);
	len = strlen(why);
	spelling = value ? rules_spelling(key, value) : NULL;
	if (spelling && len + strlen(lead) + strlen(spelling) < KFDLIB_WHY)
		snprintf(why + len, KFDLIB_WHY - len, "%s%s", lead, spelling);
	free(spelling);
	return -EINVAL;
}

/* The bytes of a quote that is none of a rule, at the beginning of @text; 0: there is none */
static size_t quote_len(const char *text)
{
	static const char *const quotes[] = { "'", "`", "\u00b4", "\u2018", "\u2019", "\u201a", "\u201b", "\u201c", "\u201d",
					      "\u201e", "\u201f", "\u00ab", "\u00bb", "\u2039", "\u203a" };
	size_t i;

	for (i = 0; i < sizeof(quotes) / sizeof(*quotes); i++)
		if (!strncmp(text, quotes[i], strlen(quotes[i])))
			return strlen(quotes[i]);
	return 0;
}

/**
 * rules_quotes_check() - does a value begin with a quote?
 * @key: of the value
 * @value: the value, where double quotes have gone
 * @why: out: what is wrong, and the spelling that matches; KFDLIB_WHY bytes
 *
 * Return: 0 or -EINVAL.
 */
int rules_quotes_check(const char *key, const char *value, char *why)
{
	char inner[RULES_LINE_MAX];
	size_t len = strlen(value), first = quote_len(value), last = 0, n;

	if (!first)
		return 0;
	/* the last one has one to three bytes */
	for (n = 1; n <= 3 && n + first < len && !last; n++)
		last = quote_len(value + len - n) == n ? n : 0;
	snprintf(inner, sizeof(inner), "%.*s", last ? (int)(len - first - last) : 0, value + first);
	return rules_refuse_as(why, ": write ", key, last ? inner : NULL,
			       "%s= takes no quotes but double ones of ASCII, and these only round blanks", key);
}

/* What ends a character, a \C or a bracket at @at: the next one */
static const char *next(const char *at)
{
	const char *end = *at == '[' ? rules_bracket_end(at, false, NULL) : NULL;

	if (end)
		return end + 1;
	return at + (at[0] == '\\' && at[1] ? 2 : 1);
}

/* The first @c that is not in brackets and has no backslash; NULL: none */
static const char *find(const char *pattern, char c)
{
	for (; *pattern; pattern = next(pattern))
		if (*pattern == c)
			return pattern;
	return NULL;
}

static int braces_check(const char *key, const char *value, size_t *at, char *why)
{
	const char *open = find(value, '{'), *close = open ? find(open, '}') : NULL, *stop = close ? find(open, ',') : NULL;
	char first[RULES_LINE_MAX];

	/* a name may have braces: what is meant to be a list has a comma, or dots in a unit, which has no braces */
	if (close && !stop && !strcmp(key, "unit"))
		stop = strstr(open, "..");
	if (!close || !stop || stop > close)
		return 0;
	*at = open - value;
	snprintf(first, sizeof(first), "%.*s%.*s%s", (int)(open - value), value, (int)(stop - open - 1), open + 1, close + 1);
	return rules_refuse_as(why, ", as ", key, first, "%s= has no braces%s: write a rule for each", key,
			       strcmp(key, "unit") ? " (\\{ and \\, are a brace and a comma in a name)" : "");
}

/**
 * rules_list_check() - is a value a list?
 * @key: of the value
 * @value: the value
 * @at: out: where the list begins
 * @why: out: what is wrong, and the spelling that matches; KFDLIB_WHY bytes
 *
 * The name of a program may have a comma; one before a slash begins another path.
 *
 * Return: 0 or -EINVAL.
 */
int rules_list_check(const char *key, const char *value, size_t *at, char *why)
{
	bool pattern = strcmp(key, "user") && strcmp(key, "group"), exe = !strcmp(key, "exe");
	const char *comma = pattern ? find(value, ',') : strchr(value, ',');
	char first[RULES_LINE_MAX];
	int ret;

	*at = 0;
	ret = pattern ? braces_check(key, value, at, why) : 0;
	if (ret || !comma || (exe && comma[1] != '/'))
		return ret;
	*at = comma - value;
	snprintf(first, sizeof(first), "%.*s", (int)*at, value);
	return rules_refuse_as(why, ", as ", key, first, "%s= takes one value, not a list with commas%s: write a rule for each", key,
			       strcmp(key, "cgroup") && !exe ? "" : " (\\, is a comma in a name)");
}
