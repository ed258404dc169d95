// SPDX-License-Identifier: GPL-2.0
/* Rules: from text to rules.  Pure but for memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"

#define BLANKS " \t\r\f\v"

/**
 * struct parser - a line that is read
 * @rules: where the rule or the error goes
 * @file: of the line
 * @line: its number
 * @names: for users and groups
 * @rule: what was read of it so far
 * @container_max: of container-max=, if the line has that
 * @failed: an error was found in the line
 */
struct parser {
	struct rules *rules;
	const char *file;
	unsigned int line;
	const struct rules_names *names;
	struct rule rule;
	int container_max;
	bool failed;
};

/**
 * rules_fail() - note an error
 * @rules: with it, they are not to be used
 * @file: where
 * @line: 0: with the whole file
 * @format: what is wrong
 *
 * Return: 0 or -ENOMEM.
 */
int rules_fail(struct rules *rules, const char *file, unsigned int line, const char *format, ...)
{
	struct rules_error *errors, *error;
	va_list args;
	int ret;

	errors = reallocarray(rules->errors, rules->nr_errors + 1, sizeof(*errors));
	if (!errors)
		return -ENOMEM;
	rules->errors = errors;
	error = &errors[rules->nr_errors];
	error->line = line;
	va_start(args, format);
	ret = vasprintf(&error->why, format, args);
	va_end(args);
	error->file = strdup(file);
	if (ret < 0 || !error->file) {
		if (ret >= 0)
			free(error->why);
		free(error->file);
		return -ENOMEM;
	}
	rules->nr_errors++;
	return 0;
}

static void rule_free(struct rule *rule)
{
	free(rule->cgroup);
	free(rule->unit);
	free(rule->user);
	free(rule->group);
	free(rule->exe);
	free(rule->file);
	free(rule->text);
	memset(rule, 0, sizeof(*rule));
}

/**
 * rules_free() - free rules
 * @rules: empty afterwards
 */
void rules_free(struct rules *rules)
{
	size_t i;

	for (i = 0; i < rules->nr; i++)
		rule_free(&rules->rule[i]);
	for (i = 0; i < rules->nr_files; i++)
		free(rules->files[i]);
	for (i = 0; i < rules->nr_errors; i++) {
		free(rules->errors[i].file);
		free(rules->errors[i].why);
	}
	free(rules->rule);
	free(rules->files);
	free(rules->errors);
	memset(rules, 0, sizeof(*rules));
}

static __attribute__((format(printf, 2, 3))) int fail(struct parser *p, const char *format, ...)
{
	char why[KFDLIB_WHY];
	va_list args;

	p->failed = true;
	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	return rules_fail(p->rules, p->file, p->line, "%s", why);
}

/* What was written, fit for a message; the first bytes of it. */
static int fail_value(struct parser *p, const char *format, const char *value)
{
	char *shown = text_printable(value);
	int ret;

	if (!shown)
		return -ENOMEM;
	if (strlen(shown) > 128)
		strcpy(shown + 125, "...");
	p->failed = true;
	/* the formats are the callers', with one %s each */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	ret = rules_fail(p->rules, p->file, p->line, format, shown);
#pragma GCC diagnostic pop
	free(shown);
	return ret;
}

/* A path from the root, with patterns between the slashes. */
static int path_set(struct parser *p, char **to, const char *key, const char *value)
{
	size_t len = strlen(value);

	if (value[0] != '/')
		return fail(p, "%s= needs a path that begins with '/'", key);
	while (len > 1 && value[len - 1] == '/')
		len--;
	*to = strndup(value, len);
	return *to ? 0 : -ENOMEM;
}

static int cgroup_set(struct parser *p, const char *value)
{
	return path_set(p, &p->rule.cgroup, "cgroup", value);
}

static int exe_set(struct parser *p, const char *value)
{
	return path_set(p, &p->rule.exe, "exe", value);
}

static bool unit_like(const char *name)
{
	static const char *const types[] = { ".service", ".scope", ".slice" };
	size_t i, len = strlen(name);

	for (i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (len > strlen(types[i]) && !strcmp(name + len - strlen(types[i]), types[i]))
			return true;
	return false;
}

static int unit_set(struct parser *p, const char *value)
{
	if (strchr(value, '/') || !unit_like(value))
		return fail_value(p, "unit=%s is no unit that processes run in: its name ends with .service, .scope or .slice",
				  value);
	p->rule.unit = strdup(value);
	return p->rule.unit ? 0 : -ENOMEM;
}

static int user_set(struct parser *p, const char *value)
{
	if (p->names->user(value, &p->rule.uid))
		return fail_value(p, "user=%s: there is no such user", value);
	p->rule.user = strdup(value);
	return p->rule.user ? 0 : -ENOMEM;
}

static int group_set(struct parser *p, const char *value)
{
	if (p->names->group(value, &p->rule.gid))
		return fail_value(p, "group=%s: there is no such group", value);
	p->rule.group = strdup(value);
	return p->rule.group ? 0 : -ENOMEM;
}

static int priority_set(struct parser *p, const char *value)
{
	char why[KFDLIB_WHY];

	if (prio_parse(value, &p->rule.priority, why))
		return fail(p, "%s", why);
	return 0;
}

static int park_set(struct parser *p, const char *value)
{
	if (park_parse(value, &p->rule.park))
		return fail_value(p, "park= is never or auto, not '%s'", value);
	return 0;
}

static int weight_refuse(struct parser *p, const char *value)
{
	(void)value;
	return fail(p, "weight= is reserved for a later version of kfdprio: remove it");
}

static int container_max_set(struct parser *p, const char *value)
{
	char why[KFDLIB_WHY];

	if (prio_parse(value, &p->container_max, why))
		return fail(p, "container-max=: %s", why);
	return 0;
}

enum key {
	KEY_CGROUP,
	KEY_UNIT,
	KEY_USER,
	KEY_GROUP,
	KEY_EXE,
	KEY_PRIORITY,
	KEY_PARK,
	KEY_WEIGHT,
	KEY_CONTAINER_MAX,
	NR_KEYS
};

static const struct {
	const char *name;
	int (*set)(struct parser *p, const char *value);
} keys[NR_KEYS] = {
	[KEY_CGROUP] = { "cgroup", cgroup_set },
	[KEY_UNIT] = { "unit", unit_set },
	[KEY_USER] = { "user", user_set },
	[KEY_GROUP] = { "group", group_set },
	[KEY_EXE] = { "exe", exe_set },
	[KEY_PRIORITY] = { "priority", priority_set },
	[KEY_PARK] = { "park", park_set },
	[KEY_WEIGHT] = { "weight", weight_refuse },
	[KEY_CONTAINER_MAX] = { "container-max", container_max_set },
};

/*
 * The next word, unquoted in place: a backslash takes the next character as it is, and blanks may
 * stand between double quotes.  NULL: none, or a comment.  -EINVAL in @ret: a quote that does not end.
 */
static char *word_next(char **rest, int *ret)
{
	char *from = *rest + strspn(*rest, BLANKS), *to = from, *word = from;
	bool quoted = false;

	*ret = 0;
	if (!*from || *from == '#')
		return NULL;
	for (; *from && (quoted || !strchr(BLANKS, *from)); from++) {
		if (*from == '"') {
			quoted = !quoted;
			continue;
		}
		if (*from == '\\') {
			if (!from[1]) {
				*ret = -EINVAL;
				return NULL;
			}
			/* fnmatch(3) takes what is after a backslash as it is, too */
			if (!strchr(BLANKS "\"", from[1]))
				*to++ = *from;
			from++;
		}
		*to++ = *from;
	}
	if (quoted) {
		*ret = -EINVAL;
		return NULL;
	}
	*rest = *from ? from + 1 : from;
	*to = '\0';
	return word;
}

static int word_parse(struct parser *p, char *word, bool given[NR_KEYS])
{
	char *value = strchr(word, '=');
	enum key key;

	if (!value)
		return fail_value(p, "'%s' is not KEY=VALUE; as in: cgroup=/inference.slice priority=high", word);
	*value++ = '\0';
	for (key = 0; key < NR_KEYS; key++)
		if (!strcmp(word, keys[key].name))
			break;
	if (key == NR_KEYS)
		return fail_value(p, "'%s=' is unknown: there are cgroup=, unit=, user=, group=, exe=, priority=, park= and container-max=",
				  word);
	if (given[key])
		return fail(p, "%s= is given twice", keys[key].name);
	given[key] = true;
	if (!*value)
		return fail(p, "%s= has no value", keys[key].name);
	return keys[key].set(p, value);
}

/* container-max= is no rule: the line has nothing else. */
static void container_max_take(struct parser *p, const bool given[NR_KEYS], int *ret)
{
	enum key key;

	for (key = 0; key < NR_KEYS; key++)
		if (key != KEY_CONTAINER_MAX && given[key]) {
			*ret = fail(p, "container-max= stands alone on its line: remove %s=", keys[key].name);
			return;
		}
	/* as with rules, the first holds */
	if (!p->rules->has_container_max)
		p->rules->container_max = p->container_max;
	p->rules->has_container_max = true;
}

static void rule_check(struct parser *p, const bool given[NR_KEYS], int *ret)
{
	if (!given[KEY_PRIORITY] && !given[KEY_PARK])
		*ret = fail(p, "priority= is missing (or park=)");
	else if (!given[KEY_CGROUP] && !given[KEY_UNIT] && !given[KEY_USER] && !given[KEY_GROUP] &&
		 !given[KEY_EXE])
		*ret = fail(p, "there is no condition; for all processes, give cgroup=/");
	else if (given[KEY_EXE] && given[KEY_PARK])
		*ret = fail(p, "park= cannot be combined with exe=, which only lowers a priority: give cgroup=, unit= or user= instead");
	else if (given[KEY_EXE] && p->rule.priority > KFD_PRIO_NORMAL)
		*ret = fail(p, "exe= may only lower, since a user can run any program under any path: give a priority up to %d, or cgroup=, unit= or user= instead",
			    KFD_PRIO_NORMAL);
}

static int rule_add(struct parser *p)
{
	struct rule *all = reallocarray(p->rules->rule, p->rules->nr + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	p->rules->rule = all;
	p->rule.file = strdup(p->file);
	p->rule.line = p->line;
	if (!p->rule.file)
		return -ENOMEM;
	all[p->rules->nr++] = p->rule;
	memset(&p->rule, 0, sizeof(p->rule));
	return 0;
}

/* @line ends with a 0 and is changed */
static int line_parse(struct parser *p, char *line)
{
	bool given[NR_KEYS] = { false };
	char *word, *rest;
	size_t len;
	int ret = 0;

	line += strspn(line, BLANKS);
	if (!*line || *line == '#' || *line == ';')
		return 0;
	len = strlen(line);
	while (strchr(BLANKS, line[len - 1]) && (len < 2 || line[len - 2] != '\\'))
		len--;
	p->rule.priority = KFD_PRIO_UNSET;
	p->rule.text = strndup(line, len);
	if (!p->rule.text)
		return -ENOMEM;
	if (line[0] == '[')
		return fail(p, "there are no sections: a rule is one line");
	rest = line;
	while (!ret && !p->failed && (word = word_next(&rest, &ret)))
		ret = word_parse(p, word, given);
	if (ret == -EINVAL)
		ret = fail(p, "a quote or a backslash is not finished at the end of the line");
	if (!ret && !p->failed && given[KEY_CONTAINER_MAX]) {
		container_max_take(p, given, &ret);
		return ret;
	}
	if (!ret && !p->failed)
		rule_check(p, given, &ret);
	if (!ret && !p->failed && p->rules->nr >= RULES_MAX)
		ret = fail(p, "there are more than %u rules", RULES_MAX);
	if (!ret && !p->failed)
		ret = rule_add(p);
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
	struct parser p = { .rules = rules, .file = file, .names = names };
	const char *end = text + size, *stop;
	char line[RULES_LINE_MAX];
	int ret = 0;

	for (; !ret && text < end; text = stop + 1) {
		p.line++;
		p.failed = false;
		stop = memchr(text, '\n', end - text);
		if (!stop)
			stop = end;
		if ((size_t)(stop - text) >= sizeof(line)) {
			ret = fail(&p, "the line is longer than %u bytes", RULES_LINE_MAX - 1);
			continue;
		}
		memcpy(line, text, stop - text);
		line[stop - text] = '\0';
		if (strlen(line) != (size_t)(stop - text))
			ret = fail(&p, "there is a byte 0 in the line: this is no text");
		else
			ret = line_parse(&p, line);
		rule_free(&p.rule);
	}
	return ret;
}
