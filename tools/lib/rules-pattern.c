// SPDX-License-Identifier: GPL-2.0
/*
 * Rules: which conditions can match a process at all.  Pure.
 *
 * A condition that no process can ever meet is an error of the file, with its place and the spelling
 * that would match.  What no process meets at present is none.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules-advice.h"

#define PART_MAX 255 /* bytes of a name in a directory, and of a unit */

static bool lower_hex(char c)
{
	return c && strchr("0123456789abcdef", c);
}

/**
 * rules_pattern_literal() - a pattern in which the escapes of systemd stand for themselves
 * @pattern: of a cgroup or a unit
 *
 * systemd writes \x2d in the name of a unit, and of its cgroup, where "-" would mean something else.  In a
 * pattern a backslash takes the next character as it is: \x2d would be "x2d".
 *
 * Return: to be freed with free(3); NULL without memory.
 */
char *rules_pattern_literal(const char *pattern)
{
	char *copy = malloc(2 * strlen(pattern) + 1), *to = copy;

	if (!copy)
		return NULL;
	while (*pattern) {
		if (pattern[0] == '\\' && pattern[1]) {
			if (pattern[1] == 'x' && lower_hex(pattern[2]) && lower_hex(pattern[3]))
				*to++ = '\\';
			*to++ = *pattern++;
		}
		*to++ = *pattern++;
	}
	*to = '\0';
	return copy;
}

/* [:NAME:] at @from in brackets: its end; NULL: there is no such class */
static const char *class_end(const char *from)
{
	static const char *const classes[] = { "alnum", "alpha", "blank", "cntrl", "digit", "graph",
					       "lower", "print", "punct", "space", "upper", "xdigit" };
	const char *end = strstr(from, ":]");
	size_t i;

	for (i = 0; end && i < sizeof(classes) / sizeof(*classes); i++)
		if ((size_t)(end - from - 2) == strlen(classes[i]) && !strncmp(from + 2, classes[i], end - from - 2))
			return end + 1;
	return NULL;
}

/**
 * rules_bracket_end() - the end of a bracket in a pattern
 * @from: where it begins
 * @path: the pattern is that of a path: a bracket cannot stand for a slash
 * @why: out: what is wrong
 *
 * Return: its ']', or NULL.
 */
const char *rules_bracket_end(const char *from, bool path, struct rules_refusal *why)
{
	const char *at = from + 1, *first;

	at += *at == '!' || *at == '^';
	for (first = at; *at && (*at != ']' || at == first); at++) {
		if (path && (*at == '/' || (at[0] == '\\' && at[1] == '/'))) {
			rules_refuse(why, "a bracket in a path does not stand for '/', nor go across it");
			return NULL;
		}
		if (at[0] == '[' && at[1] == ':') {
			at = class_end(at);
			if (!at) {
				rules_refuse(why, "there is no class of characters of this name: there are [:alpha:], [:digit:], [:xdigit:] and so on; see fnmatch(3)");
				return NULL;
			}
			continue;
		}
		if (at[0] == '[' && (at[1] == '.' || at[1] == '=')) {
			rules_refuse(why, "'[%c' in brackets is not supported: write the characters", at[1]);
			return NULL;
		}
		at += at[0] == '\\' && at[1];
		if (at[1] == '-' && at[2] && at[2] != ']' && at[2] != '\\' && at[2] != '[' && (!path || at[2] != '/')) {
			if ((unsigned char)at[2] < (unsigned char)at[0]) {
				rules_refuse(why, "the range %c-%c has no characters: its first character comes after its last",
					     at[0], at[2]);
				return NULL;
			}
			at += 2;
		}
	}
	if (*at)
		return at;
	rules_refuse(why, "'[' has no ']', so that it would only match a '['");
	return NULL;
}

/**
 * rules_has_wildcard() - does a pattern stand for more than one text?
 * @pattern: the pattern
 *
 * Return: whether it does.
 */
bool rules_has_wildcard(const char *pattern)
{
	for (; *pattern; pattern++) {
		if (strchr("*?[", *pattern))
			return true;
		pattern += pattern[0] == '\\' && pattern[1];
	}
	return false;
}

/**
 * rules_path_normalize() - the path as the kernel writes it: no empty part, no "." and no ".."
 * @path: the path; without a slash at its beginning it gets one
 * @to: out
 * @size: bytes of @to
 */
void rules_path_normalize(const char *path, char *to, size_t size)
{
	size_t len = 0, part;

	for (; *path; path += part) {
		path += strspn(path, "/");
		part = strcspn(path, "/");
		if (!part || (part == 1 && path[0] == '.'))
			continue;
		if (part == 2 && path[0] == '.' && path[1] == '.') {
			while (len && to[--len] != '/')
				;
			continue;
		}
		if (len + part + 2 > size)
			break;
		to[len++] = '/';
		memcpy(to + len, path, part);
		len += part;
	}
	if (!len)
		to[len++] = '/';
	to[len] = '\0';
}

/**
 * rules_token_len() - the bytes of what stands for one character, or of a '*'
 * @pattern: from there on, not empty
 *
 * Return: one of a bracket that is not closed.
 */
size_t rules_token_len(const char *pattern)
{
	const char *end = *pattern == '[' ? rules_bracket_end(pattern, false, NULL) : NULL;

	if (end)
		return end + 1 - pattern;
	return pattern[0] == '\\' && pattern[1] ? 2 : 1;
}

/* A character of @chars (NULL: any of a name) but @no that a token stands for; 0: there is none */
static char token_example(const char *token, size_t len, const char *chars, char no)
{
	static const char names[] = "x0123456789abcdefghijklmnopqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWXYZ_@:-,+=~#%!\"$&'()*;<>?[\\]^`{|} .\t";
	char text[RULES_LINE_MAX], one[2] = "";
	const char *c;
	size_t i;

	/* a byte of a letter that is not of ASCII */
	for (i = 0; i < len; i++)
		if ((unsigned char)token[i] >= 0x80)
			return len == 1 ? *token : 'x';
	snprintf(text, sizeof(text), "%.*s", (int)len, token);
	for (c = chars ?: names; *c; c++) {
		one[0] = *c;
		if (*c != no && !fnmatch(text, one, FNM_PATHNAME))
			return *c;
	}
	if (chars)
		return '\0';
	/* a control character, which a backslash means; without it, one that is not of ASCII */
	for (one[0] = 1; one[0] < ' '; one[0]++)
		if (!fnmatch(text, one, FNM_PATHNAME))
			return one[0];
	return len > 1 && token[0] == '[' && strchr("!^", token[1]) ? 'x' : '\0';
}

/**
 * rules_pattern_example() - a text that a pattern stands for
 * @pattern: without an error
 * @text: out
 * @size: bytes of @text
 *
 * Return: whether there is one; one with letters in brackets that are not of ASCII may be none.
 */
bool rules_pattern_example(const char *pattern, char *text, size_t size)
{
	size_t at = 0, len;

	for (; *pattern; pattern += len) {
		len = rules_token_len(pattern);
		if (at + 2 > size)
			return false;
		text[at] = *pattern == '*' ? 'x' : *pattern == '/' ? '/' : token_example(pattern, len, NULL, '\0');
		if (!text[at])
			return false;
		at++;
	}
	text[at] = '\0';
	return true;
}

static bool is_slash(const char *pattern)
{
	return pattern[0] == '/' || (pattern[0] == '\\' && pattern[1] == '/');
}

/* What is wrong with a bracket, and the pattern with a '[' in its place, which a name may have */
static int bracket_refuse(const char *key, const char *pattern, size_t at, struct rules_refusal *why)
{
	char swapped[RULES_LINE_MAX + 1];
	struct rules_refusal what;
	const char *dash;

	if (!why)
		return -EINVAL;
	rules_bracket_end(pattern + at, strcmp(key, "unit"), &what);
	snprintf(swapped, sizeof(swapped), "%s", pattern);
	/* the first range whose ends are the wrong way round */
	dash = strncmp(what.text, "the range", 9) ? NULL : strchr(pattern + at + 2, '-');
	while (dash && dash[1] && (unsigned char)dash[1] >= (unsigned char)dash[-1])
		dash = strchr(dash + 1, '-');
	if (dash && dash[1]) {
		swapped[dash - pattern - 1] = dash[1];
		swapped[dash - pattern + 1] = dash[-1];
		return rules_refuse_as(why, ": write ", key, swapped, "%s", what.text);
	}
	snprintf(swapped, sizeof(swapped), "%.*s\\%s", (int)at, pattern, pattern + at);
	return rules_refuse_as(why, "; for a '[' in a name write ", key, strchr(what.text, ':') ? NULL : swapped, "%s", what.text);
}

/* A part that can only be "." or ".." */
static int dots_refuse(const char *key, const char *pattern, size_t begin, size_t end, size_t len, struct rules_refusal *why)
{
	char plain[RULES_LINE_MAX + 2], spelling[RULES_LINE_MAX + 2];

	snprintf(plain, sizeof(plain), "%.*s%.*s%s", (int)begin, pattern, (int)len, "..", pattern + end);
	rules_path_normalize(plain, spelling, sizeof(spelling));
	return rules_refuse_as(why, ": write ", key, spelling, "no path of a process has a part '%.*s'", (int)len, "..");
}

/**
 * rules_part_check() - can a part of a pattern stand for a name?
 * @key: of the pattern
 * @pattern: the pattern
 * @at: in: where the part begins; out: where it ends, or where it is wrong
 * @chars: which characters the name may have; NULL: it is one in a path, and may have any
 * @why: out: what is wrong
 *
 * Return: 0 or -EINVAL.
 */
int rules_part_check(const char *key, const char *pattern, size_t *at, const char *chars, struct rules_refusal *why)
{
	size_t begin = *at, len = 0, n;
	bool dots = !chars;

	for (; pattern[*at] && (chars || !is_slash(pattern + *at)); *at += n) {
		if (pattern[*at] == '[' && !rules_bracket_end(pattern + *at, !chars, NULL))
			return bracket_refuse(key, pattern, *at, why);
		n = rules_token_len(pattern + *at);
		if (pattern[*at] == '[' && !token_example(pattern + *at, n, chars, '\0'))
			return rules_refuse(why, "this bracket stands for no character that %s has",
					    chars ? "a name of a unit" : "a part of a path");
		dots &= pattern[*at] != '*' && !token_example(pattern + *at, n, NULL, '.');
		len += pattern[*at] != '*';
	}
	if (dots && (len == 1 || len == 2)) {
		n = *at;
		*at = begin;
		return dots_refuse(key, pattern, begin, n, len, why);
	}
	if (len <= PART_MAX)
		return 0;
	*at = begin;
	return rules_refuse(why, "no name has more than %d bytes, and this one has %zu: shorten it, as with a '*'", PART_MAX, len);
}

/* What is wrong with the way a path is written; @path is shown as it should be */
static int path_refuse(const char *key, const char *path, const char *what, struct rules_refusal *why)
{
	char spelling[RULES_LINE_MAX + 2];

	rules_path_normalize(path, spelling, sizeof(spelling));
	return rules_refuse_as(why, ": write ", key, spelling, "no path of a process has %s", what);
}

/**
 * rules_path_check() - can a pattern stand for a path?
 * @key: of the pattern
 * @pattern: the pattern, which begins with a slash and ends with none
 * @at: out: where it is wrong
 * @why: out: what is wrong, and the spelling that matches
 *
 * Return: 0 or -EINVAL.
 */
int rules_path_check(const char *key, const char *pattern, size_t *at, struct rules_refusal *why)
{
	size_t slash;
	int ret;

	for (*at = 0; pattern[*at];) {
		slash = *at;
		*at += pattern[*at] == '\\' ? 2 : 1;
		if (!pattern[*at]) {
			if (!slash)
				break;
			*at = slash;
			return path_refuse(key, pattern, "an empty part", why);
		}
		if (is_slash(pattern + *at))
			return path_refuse(key, pattern, "an empty part", why);
		ret = rules_part_check(key, pattern, at, NULL, why);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * rules_plain_parts() - the parts of a path before the first with a wildcard, as text
 * @pattern: the path
 * @plain: out: as long as @pattern at most
 *
 * Return: whether these are all.
 */
bool rules_plain_parts(const char *pattern, char *plain)
{
	char *slash = plain;
	bool wildcard = false;

	for (; *pattern && !wildcard; pattern++) {
		if (*pattern == '/')
			slash = plain;
		wildcard = strchr("*?[", *pattern);
		pattern += pattern[0] == '\\' && pattern[1];
		*plain++ = *pattern;
	}
	*(wildcard ? slash : plain) = '\0';
	return !wildcard;
}
