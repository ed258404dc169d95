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

/* The bytes of such a quote at the end of the @len bytes of @text; it has one to three; 0: there is none */
static size_t last_quote_len(const char *text, size_t len)
{
	size_t n;

	for (n = 1; n <= 3 && n <= len; n++)
		if (quote_len(text + len - n) == n)
			return n;
	return 0;
}

/* Without the quotes at its ends.  Return: whether there is one at the end. */
static bool quotes_strip(const char *text, size_t len, char *to)
{
	size_t first = len ? quote_len(text) : 0, last = last_quote_len(text + first, len - first);

	sprintf(to, "%.*s", (int)(len - first - last), text + first);
	return last;
}

/**
 * rules_quoted_word() - a word in quotes that are none of a rule
 * @word: the word, where double quotes have gone
 * @key: out: its key without these quotes, as long as @word at most
 * @value: out: likewise; empty: where the word is meant to end is not known
 * @ends: another KEY=VALUE follows, so that the word ends here
 *
 * Return: whether it is KEY=VALUE and begins with such a quote.
 */
bool rules_quoted_word(const char *word, char *key, char *value, bool ends)
{
	const char *equals = strchr(word, '=');

	if (!equals || !quote_len(word))
		return false;
	ends |= quotes_strip(word, equals - word, key);
	ends |= quotes_strip(equals + 1, strlen(equals + 1), value);
	if (!ends)
		*value = '\0';
	return true;
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
	size_t first = quote_len(value);

	if (!first)
		return 0;
	return rules_refuse_as(why, ": write ", key, quotes_strip(value, strlen(value), inner) ? inner : NULL,
			       "%s= takes no quotes but double ones of ASCII, and these only round blanks", key);
}

/* The first @c that is not in brackets and has no backslash; NULL: none */
static const char *find(const char *pattern, char c)
{
	for (; *pattern; pattern += rules_token_len(pattern))
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
