// SPDX-License-Identifier: GPL-2.0
/*
 * Rules: which conditions can match a process at all.  Pure.
 *
 * A condition that no process can ever meet is an error of the file, with its place and the spelling
 * that would match.  What no process meets at present is none.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules-advice.h"

/* Where the hierarchy may be mounted: the path in it; NULL: a path is not below a mount */
static const char *mount_find(const char *path)
{
	/* the longest first */
	static const char *const mounts[] = { "/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup" };
	size_t i, len;

	for (i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		len = strlen(mounts[i]);
		if (!strncmp(path, mounts[i], len) && (!path[len] || path[len] == '/'))
			return path[len] ? path + len : "/";
	}
	return NULL;
}

/* A part that is the name of a template */
static int template_check(const char *pattern, size_t *at, struct rules_refusal *why)
{
	static const char *const templates[] = { "@.service", "@.scope" };
	char path[RULES_LINE_MAX + 2];
	const char *end;
	size_t i;

	for (i = 0; i < sizeof(templates) / sizeof(*templates); i++)
		for (end = strstr(pattern, templates[i]); end; end = strstr(end + 1, templates[i])) {
			if (end[-1] == '\\' || (end[strlen(templates[i])] && end[strlen(templates[i])] != '/'))
				continue;
			for (*at = end - pattern; *at && pattern[*at - 1] != '/';)
				--*at;
			snprintf(path, sizeof(path), "%.*s*%s", (int)(end + 1 - pattern), pattern, end + 1);
			return rules_refuse_as(why, ": write ", "cgroup", path, "a template runs no process, but its instances do");
		}
	return 0;
}

/**
 * rules_cgroup_check() - can a pattern match the cgroup of a process?
 * @pattern: of cgroup=, without slashes at its end
 * @at: out: where it is wrong
 * @why: out: what is wrong, and the spelling that matches
 *
 * Return: 0 or -EINVAL.
 */
int rules_cgroup_check(const char *pattern, size_t *at, struct rules_refusal *why)
{
	char path[RULES_LINE_MAX + 2];
	const char *below;
	size_t number = strspn(pattern, "0123456789");
	int ret;

	*at = 0;
	/* a line of /proc/PID/cgroup */
	if (number && pattern[number] == ':' && strstr(pattern, ":/")) {
		rules_path_normalize(strstr(pattern, ":/") + 1, path, sizeof(path));
		return rules_refuse_as(why, ": write ", "cgroup", path, "cgroup= needs a path that begins with '/'");
	}
	rules_path_normalize(pattern, path, sizeof(path));
	below = mount_find(path);
	if (below)
		return rules_refuse_as(why, ": write ", "cgroup", below,
				       "cgroup= is the path in the hierarchy, as in /proc/PID/cgroup, and not a directory");
	ret = rules_list_check("cgroup", pattern, at, why);
	if (ret)
		return ret;
	if (pattern[0] != '/')
		return rules_refuse_as(why, ": write ", "cgroup", path, "cgroup= needs a path that begins with '/'");
	ret = rules_path_check("cgroup", pattern, at, why);
	return ret ? ret : template_check(pattern, at, why);
}

/**
 * rules_exe_check() - can a pattern match the program of a process?
 * @pattern: of exe=
 * @at: out: where it is wrong
 * @why: out: what is wrong, and the spelling that matches
 *
 * Return: 0 or -EINVAL.
 */
int rules_exe_check(const char *pattern, size_t *at, struct rules_refusal *why)
{
	static const char deleted[] = " (deleted)";
	char path[RULES_LINE_MAX + 2];
	size_t len = strlen(pattern);
	int ret;

	*at = 0;
	if (!pattern[strspn(pattern, "/")])
		return rules_refuse(why, "exe=%.8s is a directory: exe= needs the path of a program, as in: exe=/usr/bin/python3*", pattern);
	if (pattern[0] != '/')
		return rules_refuse(why, "exe= needs the path of a program, which begins with '/', as in: exe=/usr/bin/python3*");
	ret = rules_list_check("exe", pattern, at, why);
	if (ret)
		return ret;
	if (len > strlen(deleted) && !strcmp(pattern + len - strlen(deleted), deleted)) {
		*at = len - strlen(deleted);
		snprintf(path, sizeof(path), "%.*s", (int)*at, pattern);
		return rules_refuse_as(why, ": write ", "exe", path, "a program that was deleted or replaced matches by its path");
	}
	if (pattern[len - 1] == '/') {
		rules_path_normalize(pattern, path, sizeof(path) - 2);
		strcat(path, strcmp(path, "/") ? "/*" : "*");
		return rules_refuse_as(why, ": for all programs in it write ", "exe", path,
				       "a path that ends with '/' is that of a directory, which no process runs");
	}
	return rules_path_check("exe", pattern, at, why);
}

static bool ends_with(const char *text, const char *suffix)
{
	size_t len = strlen(text), n = strlen(suffix);

	return len > n && !strcmp(text + len - n, suffix);
}

static int unit_type_check(const char *pattern, struct rules_refusal *why)
{
	static const char *const others[] = { ".socket", ".target", ".timer", ".path", ".mount", ".automount", ".swap", ".device" };
	static const char *const types[] = { ".service", ".scope", ".slice" };
	const char *dot = strrchr(pattern, '.');
	char name[RULES_LINE_MAX + 10];
	size_t i;

	if (ends_with(pattern, "@.service") || ends_with(pattern, "@.scope")) {
		snprintf(name, sizeof(name), "%.*s*%s", (int)(dot - pattern), pattern, dot);
		return rules_refuse_as(why, ": write ", "unit", name, "a template runs no process, but its instances do");
	}
	if (!strcmp(pattern, "-.slice"))
		return rules_refuse(why, "-.slice is the root, which every process is in: write cgroup=/");
	if (ends_with(pattern, ".service") || ends_with(pattern, ".scope") || ends_with(pattern, ".slice") ||
	    (rules_has_wildcard(pattern) && rules_unit_possible(pattern)))
		return 0;
	for (i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (dot && dot > pattern && !strcasecmp(dot, types[i])) {
			snprintf(name, sizeof(name), "%.*s%s", (int)(dot - pattern), pattern, types[i]);
			return rules_refuse_as(why, ": write ", "unit", name, "systemd writes the type of a unit in lower case");
		}
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (ends_with(pattern, others[i])) {
			snprintf(name, sizeof(name), "%.*s.service", (int)(dot - pattern), pattern);
			return rules_refuse_as(why, ", as ", "unit", name,
					       "unit=%.128s is no unit that processes run in: write the unit that it starts", pattern);
		}
	snprintf(name, sizeof(name), "%s.service", pattern);
	return rules_refuse_as(why, ", as ", "unit", *pattern == '.' ? NULL : name,
			       "unit=%.128s is no unit that processes run in: its name ends with .service, .scope or .slice", pattern);
}

/* A path in place of a unit: the unit that its processes belong to, or its last part */
static int unit_path_refuse(const char *pattern, struct rules_refusal *why)
{
	char path[RULES_LINE_MAX + 2], name[RULES_LINE_MAX];
	size_t at, len;

	rules_path_normalize(pattern, path, sizeof(path));
	at = rules_unit(path, &len);
	if (!len) {
		at = strrchr(path, '/') + 1 - path;
		len = strlen(path + at);
	}
	snprintf(name, sizeof(name), "%.*s", (int)len, path + at);
	return rules_refuse_as(why, ", as ", "unit", name,
			       "unit=%.128s is no unit, but a path, which goes with cgroup=: write the name of the unit alone", pattern);
}

/**
 * rules_unit_check() - can a pattern match the name of a unit that processes run in?
 * @pattern: of unit=
 * @at: out: where it is wrong
 * @why: out: what is wrong, and the spelling that matches
 *
 * Return: 0 or -EINVAL.
 */
int rules_unit_check(const char *pattern, size_t *at, struct rules_refusal *why)
{
	static const char chars[] = "*?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:-_.@\\";
	bool escaped;
	int ret;

	*at = 0;
	ret = rules_list_check("unit", pattern, at, why);
	if (ret)
		return ret;
	if (strchr(pattern, '/'))
		return unit_path_refuse(pattern, why);
	ret = unit_type_check(pattern, why);
	if (!ret)
		ret = rules_part_check("unit", pattern, at, chars + 2, why);
	if (ret)
		return ret;
	for (*at = 0; pattern[*at]; ++*at) {
		escaped = pattern[*at] == '\\' && pattern[*at + 1];
		*at += escaped;
		if (pattern[*at] == '[' && !escaped)
			*at = rules_bracket_end(pattern + *at, false, NULL) - pattern;
		else if (!strchr(escaped ? chars + 2 : chars, pattern[*at]))
			return rules_refuse(why, "no name of a unit has this character: there are letters of ASCII, digits and :-_.@; systemd-escape(1) prints how systemd writes another");
	}
	return 0;
}

/**
 * rules_name_check() - can a name be that of a user or group?
 * @key: user or group
 * @name: one that is not known
 * @at: out: where it is wrong
 * @why: out: what is wrong
 *
 * Directory services have names with blanks, a backslash, "@" and letters of any language.
 *
 * Return: 0: it may become known; -EINVAL: it never will.
 */
int rules_name_check(const char *key, const char *name, size_t *at, struct rules_refusal *why)
{
	char other[RULES_LINE_MAX];
	int ret = rules_list_check(key, name, at, why);

	if (ret)
		return ret;
	if (!name[strspn(name, "0123456789")])
		return rules_refuse(why, "%s=%.64s: the last number of a %s is %u", key, name, key, (uid_t)-2);
	if (name[0] == '@' || name[0] == '%' || name[0] == '+')
		return rules_refuse_as(why, ": for a group write ", "group", name + 1, "%s=%.64s is no name", key, name);
	if (name[0] == '-' || name[0] == '!')
		return rules_refuse(why, "%s=%.64s: no name begins with '%c', and a rule cannot exclude a %s", key, name, name[0], key);
	for (; name[*at]; ++*at) {
		if (strchr("*?[]", name[*at]))
			return rules_refuse(why, "%s= takes one name and no pattern: write a rule for each, or group=", key);
		if (name[*at] == '\\' && name[*at + 1] == '\\') {
			snprintf(other, sizeof(other), "%.*s%s", (int)*at, name, name + *at + 1);
			return rules_refuse_as(why, ": write ", key, other, "a backslash in a name is written once");
		}
		if (strchr(":/\"'(){};|&<>=#", name[*at]) || (unsigned char)name[*at] < ' ' || name[*at] == 0x7f)
			return rules_refuse(why, "%s=%.64s: there is no such %s, and no name has this character", key, name, key);
	}
	return 0;
}
