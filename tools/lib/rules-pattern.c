// SPDX-License-Identifier: GPL-2.0
/*
 * Rules: which conditions can match a process at all.  Pure.
 *
 * A condition that no process can ever meet is an error of the file, with its place and the spelling
 * that would match.  What no process meets at present is none.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"

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

static __attribute__((format(printf, 2, 3))) int refuse(char *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, KFDLIB_WHY, format, args);
	va_end(args);
	return -EINVAL;
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

/* The end of the bracket that begins at @from, or NULL and @why.  @path: it cannot stand for a slash. */
static const char *bracket_end(const char *from, bool path, char *why)
{
	const char *at = from + 1, *first;

	at += *at == '!' || *at == '^';
	for (first = at; *at && (*at != ']' || at == first); at++) {
		if (*at == '/' && path) {
			refuse(why, "'[' has no ']' in the same part of the path: write \\[ for a '[' in a name");
			return NULL;
		}
		if (at[0] == '[' && at[1] == ':') {
			at = class_end(at);
			if (!at) {
				refuse(why, "there is no class of characters of this name: there are [:alpha:], [:digit:], [:xdigit:] and so on; see fnmatch(3)");
				return NULL;
			}
			continue;
		}
		if (at[0] == '[' && (at[1] == '.' || at[1] == '=')) {
			refuse(why, "'[%c' in brackets is not supported: write the characters", at[1]);
			return NULL;
		}
		at += at[0] == '\\' && at[1];
		if (at[1] == '-' && at[2] && at[2] != ']' && at[2] != '\\' && at[2] != '[') {
			if ((unsigned char)at[2] < (unsigned char)at[0]) {
				refuse(why, "the range %c-%c has no characters: write %c-%c", at[0], at[2], at[2], at[0]);
				return NULL;
			}
			at += 2;
		}
	}
	if (*at)
		return at;
	refuse(why, "'[' has no ']', so that it would only match a '[': write \\[ for that, or close it");
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

/* The path as the kernel writes it: no empty part, no "." and no ".." */
static void path_normalize(const char *path, char *to, size_t size)
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

/* What is wrong with the way a path is written; @path is shown as it should be */
static int path_refuse(const char *key, const char *path, const char *what, char *why)
{
	char spelling[256];

	path_normalize(path, spelling, sizeof(spelling));
	return refuse(why, "no path of a process has %s: write %s=%s", what, key, spelling);
}

/* A part of a path: its brackets, its length.  *@at: where it begins, then where it ends */
static int part_check(const char *pattern, size_t *at, bool path, char *why)
{
	size_t begin = *at, len = 0;
	const char *end;

	for (; pattern[*at] && (!path || pattern[*at] != '/'); ++*at) {
		if (pattern[*at] == '[') {
			end = bracket_end(pattern + *at, path, why);
			if (!end)
				return -EINVAL;
			*at = end - pattern;
		} else if (pattern[*at] == '\\' && pattern[*at + 1]) {
			++*at;
		}
		len += pattern[*at] != '*';
	}
	if (len <= PART_MAX)
		return 0;
	*at = begin;
	return refuse(why, "no name has more than %d bytes, and this one has %zu: shorten it, as with a '*'", PART_MAX, len);
}

static bool part_is(const char *part, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(part, name, len) && (!part[len] || part[len] == '/');
}

/* Slashes at the end have gone before */
static int path_check(const char *key, const char *pattern, size_t *at, char *why)
{
	int ret;

	for (*at = 0; pattern[*at];) {
		++*at;
		if (!pattern[*at])
			break;
		if (pattern[*at] == '/')
			return path_refuse(key, pattern, "an empty part", why);
		if (part_is(pattern + *at, "."))
			return path_refuse(key, pattern, "a part '.'", why);
		if (part_is(pattern + *at, ".."))
			return path_refuse(key, pattern, "a part '..'", why);
		ret = part_check(pattern, at, true, why);
		if (ret)
			return ret;
	}
	return 0;
}

/* The first comma that is not in brackets and has no backslash; NULL: none */
static const char *comma_find(const char *pattern)
{
	char why[KFDLIB_WHY];
	const char *end;

	for (; *pattern; pattern++) {
		end = *pattern == '[' ? bracket_end(pattern, false, why) : NULL;
		if (*pattern == ',')
			return pattern;
		if (end)
			pattern = end;
		else if (*pattern == '\\' && pattern[1])
			pattern++;
	}
	return NULL;
}

static int list_refuse(const char *key, const char *value, size_t *at, const char *comma, const char *otherwise, char *why)
{
	*at = comma - value;
	return refuse(why, "%s= takes one value, not a list with commas: write a rule for each, as %s=%.*s%s", key, key,
		      (int)(comma - value), value, otherwise);
}

/**
 * rules_cgroup_check() - can a pattern match the cgroup of a process?
 * @pattern: of cgroup=, without slashes at its end
 * @at: out: where it is wrong
 * @why: out: what is wrong, and the spelling that matches; KFDLIB_WHY bytes
 *
 * Return: 0 or -EINVAL.
 */
int rules_cgroup_check(const char *pattern, size_t *at, char *why)
{
	/* the longest first: where the hierarchy may be mounted */
	static const char *const mounts[] = { "/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup" };
	const char *comma = comma_find(pattern);
	char path[256];
	size_t i, len;

	*at = 0;
	for (i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		len = strlen(mounts[i]);
		if (strncmp(pattern, mounts[i], len) || (pattern[len] && pattern[len] != '/'))
			continue;
		path_normalize(pattern + len, path, sizeof(path));
		return refuse(why, "cgroup= is the path in the hierarchy, as in /proc/PID/cgroup, and not a directory: write cgroup=%s",
			      path);
	}
	if (comma)
		return list_refuse("cgroup", pattern, at, comma, ", or \\, for a comma in a name", why);
	/* a line of /proc/PID/cgroup */
	if (pattern[0] != '/' && strstr(pattern, ":/"))
		return refuse(why, "cgroup= needs a path that begins with '/': write cgroup=%.200s", strstr(pattern, ":/") + 1);
	if (pattern[0] != '/')
		return refuse(why, "cgroup= needs a path that begins with '/': write cgroup=/%.200s", pattern);
	return path_check("cgroup", pattern, at, why);
}

/**
 * rules_exe_check() - can a pattern match the program of a process?
 * @pattern: of exe=
 * @at: out: where it is wrong
 * @why: out: what is wrong, and the spelling that matches; KFDLIB_WHY bytes
 *
 * Return: 0 or -EINVAL.
 */
int rules_exe_check(const char *pattern, size_t *at, char *why)
{
	static const char deleted[] = " (deleted)";
	const char *comma = comma_find(pattern);
	size_t len = strlen(pattern);

	*at = 0;
	if (pattern[0] != '/' || len == 1)
		return refuse(why, "exe= needs the path of a program, which begins with '/', as in: exe=/usr/bin/python3*");
	/* a name may have a comma; one before a slash begins another path */
	if (comma && comma[1] == '/')
		return list_refuse("exe", pattern, at, comma, "", why);
	if (len > strlen(deleted) && !strcmp(pattern + len - strlen(deleted), deleted)) {
		*at = len - strlen(deleted);
		return refuse(why, "a program that was deleted or replaced matches by its path: write exe=%.*s", (int)*at, pattern);
	}
	if (pattern[len - 1] == '/')
		return path_refuse("exe", pattern, "a '/' at its end", why);
	return path_check("exe", pattern, at, why);
}

static bool ends_with(const char *text, const char *suffix)
{
	size_t len = strlen(text), n = strlen(suffix);

	return len > n && !strcmp(text + len - n, suffix);
}

static int unit_type_check(const char *pattern, char *why)
{
	static const char *const others[] = { ".socket", ".target", ".timer", ".path", ".mount", ".automount", ".swap", ".device" };
	const char *dot = strrchr(pattern, '.');
	size_t i;

	if (ends_with(pattern, "@.service") || ends_with(pattern, "@.scope"))
		return refuse(why, "a template runs no process, but its instances do: write unit=%.*s*%s",
			      (int)(dot - pattern), pattern, dot);
	if (!strcmp(pattern, "-.slice"))
		return refuse(why, "-.slice is the root, which every process is in: write cgroup=/");
	if (ends_with(pattern, ".service") || ends_with(pattern, ".scope") || ends_with(pattern, ".slice"))
		return 0;
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (ends_with(pattern, others[i]))
			return refuse(why, "unit=%.128s is no unit that processes run in: write the unit that it starts, as unit=%.*s.service",
				      pattern, (int)(dot - pattern < 128 ? dot - pattern : 128), pattern);
	return refuse(why, "unit=%.128s is no unit that processes run in: its name ends with .service, .scope or .slice, as unit=%.128s.service",
		      pattern, *pattern == '.' ? "serve" : pattern);
}

/**
 * rules_unit_check() - can a pattern match the name of a unit that processes run in?
 * @pattern: of unit=
 * @at: out: where it is wrong
 * @why: out: what is wrong, and the spelling that matches; KFDLIB_WHY bytes
 *
 * Return: 0 or -EINVAL.
 */
int rules_unit_check(const char *pattern, size_t *at, char *why)
{
	static const char chars[] = "*?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:-_.@\\";
	bool escaped;
	const char *comma = comma_find(pattern), *end;
	int ret;

	*at = 0;
	if (strchr(pattern, '/'))
		return refuse(why, "unit=%.128s is no unit: write its name alone, as unit=%.128s, or a path with cgroup=", pattern,
			      strrchr(pattern, '/')[1] ? strrchr(pattern, '/') + 1 : "serve.service");
	if (comma)
		return list_refuse("unit", pattern, at, comma, "", why);
	ret = unit_type_check(pattern, why);
	if (!ret)
		ret = part_check(pattern, at, false, why);
	if (ret)
		return ret;
	for (*at = 0; pattern[*at]; ++*at) {
		escaped = pattern[*at] == '\\' && pattern[*at + 1];
		*at += escaped;
		if (pattern[*at] == '[' && !escaped) {
			end = bracket_end(pattern + *at, false, why);
			*at = end - pattern;
		} else if (!strchr(escaped ? chars + 2 : chars, pattern[*at])) {
			return refuse(why, "no name of a unit has this character: there are letters of ASCII, digits and :-_.@; systemd-escape(1) prints how systemd writes another");
		}
	}
	return 0;
}

/**
 * rules_name_check() - can a name be that of a user or group?
 * @key: user or group
 * @name: one that is not known
 * @at: out: where it is wrong
 * @why: out: what is wrong; KFDLIB_WHY bytes
 *
 * Directory services have names with blanks, a backslash, "@" and letters of any language.
 *
 * Return: 0: it may become known; -EINVAL: it never will.
 */
int rules_name_check(const char *key, const char *name, size_t *at, char *why)
{
	const char *comma = strchr(name, ',');

	*at = 0;
	if (comma)
		return list_refuse(key, name, at, comma, "", why);
	if (!name[strspn(name, "0123456789")])
		return refuse(why, "%s=%.64s: the last number of a %s is %u", key, name, key, (uid_t)-2);
	if (name[0] == '@' || name[0] == '%' || name[0] == '+')
		return refuse(why, "%s=%.64s is no name: for a group write group=%.64s", key, name, name + 1);
	if (name[0] == '-' || name[0] == '!')
		return refuse(why, "%s=%.64s: no name begins with '%c', and a rule cannot exclude a %s", key, name, name[0], key);
	for (; name[*at]; ++*at) {
		if (strchr("*?[]", name[*at]))
			return refuse(why, "%s= takes one name and no pattern: write a rule for each, or group=", key);
		if (name[*at] == '\\' && name[*at + 1] == '\\')
			return refuse(why, "a backslash in a name is written once: write %s=%.*s%.64s", key, (int)*at, name,
				      name + *at + 1);
		if (strchr(":/\"'(){};|&<>=#", name[*at]) || (unsigned char)name[*at] < ' ' || name[*at] == 0x7f)
			return refuse(why, "%s=%.64s: there is no such %s, and no name has this character", key, name, key);
	}
	return 0;
}

/* Characters that are not seen, as they come with text from a page or a chat */
static const struct {
	unsigned int first, last;
	const char *name;
} unseen[] = {
	{ 0x80, 0x9f, "a control character" },
	{ 0xa0, 0xa0, "a no-break space" },
	{ 0xad, 0xad, "a soft hyphen" },
	{ 0x34f, 0x34f, "a joiner" },
	{ 0x61c, 0x61c, "a mark of direction" },
	{ 0x115f, 0x1160, "a filler" },
	{ 0x1680, 0x1680, "a space" },
	{ 0x17b4, 0x17b5, "a vowel without a shape" },
	{ 0x180b, 0x180f, "a separator or selector" },
	{ 0x2000, 0x200a, "a space" },
	{ 0x200b, 0x200b, "a space without a width" },
	{ 0x200c, 0x200d, "a joiner" },
	{ 0x200e, 0x200f, "a mark of direction" },
	{ 0x2028, 0x2029, "a separator of lines" },
	{ 0x202a, 0x202e, "a mark of direction" },
	{ 0x202f, 0x202f, "a narrow no-break space" },
	{ 0x205f, 0x205f, "a space" },
	{ 0x2060, 0x206f, "a character without a width" },
	{ 0x2800, 0x2800, "an empty pattern of Braille" },
	{ 0x3000, 0x3000, "a wide space" },
	{ 0x3164, 0x3164, "a filler" },
	{ 0xfe00, 0xfe0f, "a selector of shapes" },
	{ 0xfeff, 0xfeff, "a byte order mark" },
	{ 0xffa0, 0xffa0, "a filler" },
	{ 0xfff9, 0xfffb, "an annotation" },
	{ 0xe0000, 0xe0fff, "a character without a shape" },
};

/**
 * rules_text_check() - is there a character that nobody sees in a word?
 * @text: any bytes
 * @at: out: where
 * @why: out: what it is; KFDLIB_WHY bytes
 *
 * With a backslash before it, it is meant.
 *
 * Return: 0 or -EINVAL.
 */
int rules_text_check(const char *text, size_t *at, char *why)
{
	unsigned int code;
	size_t len, i;

	for (*at = 0; text[*at]; *at += len) {
		len = text_decode(text + *at, &code) ?: 1;
		if (len == 1 || (*at && text[*at - 1] == '\\'))
			continue;
		for (i = 0; i < sizeof(unseen) / sizeof(*unseen); i++)
			if (code >= unseen[i].first && code <= unseen[i].last)
				return refuse(why, "U+%04X, %s, stands here and is not seen: remove it, or write a blank; in a name that has it, a backslash before it",
					      code, unseen[i].name);
	}
	return 0;
}
