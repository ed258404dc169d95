// SPDX-License-Identifier: GPL-2.0
/* Rules: values that are meant as lists, or have quotes that are none.  Pure. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "rules-advice.h"

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
 * @why: out: what is wrong, and the spelling that matches
 *
 * Return: 0 or -EINVAL.
 */
int rules_quotes_check(const char *key, const char *value, struct rules_refusal *why)
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

static int braces_check(const char *key, const char *value, size_t *at, struct rules_refusal *why)
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
 * @why: out: what is wrong, and the spelling that matches
 *
 * The name of a program may have a comma; one before a slash begins another path.
 *
 * Return: 0 or -EINVAL.
 */
int rules_list_check(const char *key, const char *value, size_t *at, struct rules_refusal *why)
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
