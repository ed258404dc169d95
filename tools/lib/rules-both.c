// SPDX-License-Identifier: GPL-2.0
/*
 * Rules: two conditions that exclude each other.  Pure.
 *
 * Two patterns meet if there is a text that both match.  What is not certain counts as a meeting, so that no rule is
 * refused which a process may match.
 */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "rules-advice.h"

#define TOKENS_MAX 640 /* of a name, which has 255 bytes at most, with a '*' between each two */

/**
 * struct token - what stands for one character, or a '*'
 * @star: any text
 * @ascii: bit mask of the characters of ASCII that it stands for
 * @wide: it may stand for a character that is not of ASCII, or for one byte of it
 */
struct token {
	bool star, wide;
	uint64_t ascii[2];
};

static void ascii_add(struct token *token, unsigned char c)
{
	token->ascii[c / 64] |= 1ULL << c % 64;
}

/* A character that is not of ASCII counts as any text: in how many bytes it is depends on the locale. */
static struct token token_read(const char *pattern, size_t len)
{
	struct token token = { 0 };
	char text[RULES_LINE_MAX], one[2] = "";
	size_t i;

	for (i = 0; i < len; i++)
		token.star |= pattern[i] & 0x80;
	token.star |= *pattern == '*';
	if (token.star)
		return token;
	if (*pattern != '?' && (*pattern != '[' || len == 1)) {
		ascii_add(&token, pattern[len - 1]);
		return token;
	}
	snprintf(text, sizeof(text), "%.*s", (int)len, pattern);
	/* a range or a class has other characters in each locale */
	token.wide = *pattern == '?' || strpbrk(text, "-:!^");
	for (one[0] = 1; one[0] < 0x7f; one[0]++)
		if (!fnmatch(text, one, 0))
			ascii_add(&token, one[0]);
	return token;
}

static bool is_slash(const char *pattern, size_t len)
{
	return pattern[len - 1] == '/' && *pattern != '[';
}

/*
 * The tokens of a name, up to a slash or the end; several stars are one.  @rest: what follows.  A name with too many is
 * any text.
 */
static size_t tokens_read(const char *pattern, struct token *tokens, const char **rest)
{
	bool many = false;
	size_t nr = 0, len;

	for (; *pattern; pattern += len) {
		struct token token;

		len = rules_token_len(pattern);
		if (is_slash(pattern, len))
			break;
		token = token_read(pattern, len);
		if (token.star && nr && tokens[nr - 1].star)
			continue;
		many |= nr == TOKENS_MAX;
		if (!many)
			tokens[nr++] = token;
	}
	if (rest)
		*rest = pattern;
	if (!many)
		return nr;
	tokens[0] = (struct token){ .star = true };
	return 1;
}

static bool ascii_meet(const struct token *a, const struct token *b)
{
	return (a->ascii[0] & b->ascii[0]) || (a->ascii[1] & b->ascii[1]);
}

/* Is there a name that both match?  meet[j]: whether the tokens from i on meet those of the other name from j on */
static bool names_meet(const struct token *a, size_t nr_a, const struct token *b, size_t nr_b)
{
	bool meet[TOKENS_MAX + 1] = { false }, after, below;
	size_t i, j;

	meet[nr_b] = true;
	for (j = nr_b; j && b[j - 1].star; j--)
		meet[j - 1] = true;
	for (i = nr_a; i--;) {
		after = meet[nr_b];
		meet[nr_b] = after && a[i].star;
		for (j = nr_b; j--; after = below) {
			below = meet[j];
			if (a[i].star || b[j].star)
				meet[j] = below || meet[j + 1];
			else if (a[i].wide && b[j].wide) /* fnmatch(3) takes '?' for a character, and for a byte of one */
				meet[j] = after || below || meet[j + 1];
			else
				meet[j] = after && ascii_meet(&a[i], &b[j]);
		}
	}
	return meet[0];
}

/**
 * rules_unit_possible() - may a unit that processes run in have a name that a pattern matches?
 * @pattern: of unit=
 *
 * Return: whether.
 */
bool rules_unit_possible(const char *pattern)
{
	static const char *const types[] = { "?*.service", "?*.scope", "?*.slice" };
	struct token name[TOKENS_MAX], unit[TOKENS_MAX];
	size_t nr = tokens_read(pattern, name, NULL), nr_unit, i;

	for (i = 0; i < sizeof(types) / sizeof(*types); i++) {
		nr_unit = tokens_read(types[i], unit, NULL);
		if (names_meet(name, nr, unit, nr_unit))
			return true;
	}
	return false;
}

/*
 * May a process below a cgroup belong to a unit?  That is the first part of its path that is no slice, or a slice before
 * it.  systemd puts "_" before the names of some units.
 */
static bool unit_may_match(const char *cgroup, const char *unit)
{
	struct token name[TOKENS_MAX], plain[TOKENS_MAX], escaped[TOKENS_MAX], slice[TOKENS_MAX];
	size_t nr, nr_plain, nr_escaped, nr_slice;
	char text[RULES_LINE_MAX + 1];

	snprintf(text, sizeof(text), "_%s", unit);
	nr_plain = tokens_read(unit, plain, NULL);
	nr_escaped = tokens_read(text, escaped, NULL);
	nr_slice = tokens_read("?*.slice", slice, NULL);
	while (*cgroup) {
		cgroup += rules_token_len(cgroup);
		nr = tokens_read(cgroup, name, &cgroup);
		if (!nr || names_meet(plain, nr_plain, name, nr) || names_meet(escaped, nr_escaped, name, nr))
			return true;
		if (!names_meet(slice, nr_slice, name, nr))
			return false;
	}
	return true;
}

static bool ends_with(const char *text, const char *suffix)
{
	size_t len = strlen(text), n = strlen(suffix);

	return len > n && !strcmp(text + len - n, suffix);
}

/**
 * rules_both_check() - can a process of the cgroup of a rule belong to its unit?
 * @rule: the rule
 * @why: out: what is wrong, and the unit that matches
 *
 * From the first part of the path on that is no slice, all processes below belong to one unit, or to none.
 *
 * Return: 0 or -EINVAL.
 */
int rules_both_check(const struct rule *rule, struct rules_refusal *why)
{
	char cgroup[RULES_LINE_MAX + 2], name[RULES_LINE_MAX];
	const char *part;
	size_t at, len;

	if (!rule->cgroup || !rule->unit || unit_may_match(rule->cgroup, rule->unit))
		return 0;
	rules_plain_parts(rule->cgroup, cgroup);
	for (part = cgroup; *part; part += len) {
		part += strspn(part, "/");
		len = strcspn(part, "/");
		snprintf(name, sizeof(name), "%.*s", (int)len, part);
		if (*name && !ends_with(name, ".slice"))
			break;
	}
	at = rules_unit(cgroup, &len);
	snprintf(name, sizeof(name), "%.*s", (int)len, cgroup + at);
	if (!*part || !len)
		return rules_refuse(why, "no process of this cgroup= belongs to this unit=: remove one of them");
	return rules_refuse_as(why, ": write ", "unit", name, "each process of this cgroup= belongs to another unit");
}
