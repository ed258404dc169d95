// SPDX-License-Identifier: GPL-2.0
/* Rules: from text to rules.  Pure but for memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules-advice.h"

#define BLANKS " \t\r\f\v"

enum key {
	KEY_CGROUP,
	KEY_UNIT,
	KEY_USER,
	KEY_GROUP,
	KEY_EXE,
	KEY_PRIORITY,
	KEY_PARK,
	KEY_MAX,
	KEY_MAX_SOFT,
	KEY_WEIGHT,
	/* for containers; each stands alone on its line */
	KEY_CONTAINER_MAX,
	KEY_ANNOTATION_MAX,
	KEY_ANNOTATION_WEIGHT,
	NR_KEYS
};

/**
 * struct parser - a line that is read
 * @rules: where the rule or the error goes
 * @file: of the line
 * @line: its number
 * @text: the line, which is unquoted in place
 * @columns: of each byte of @text, in characters
 * @at: in @text: what is read at present; NULL: the whole line
 * @values: in @text: the value of each key
 * @joined: in @text: a blank that a backslash or quotes took into a value, and KEY= after it; NULL: none
 * @joined_by: what took it
 * @names: for users and groups
 * @newlines: the text has some
 * @rule: what was read of it so far
 * @container_max: of container-max=, if the line has that
 * @annotation_max: of annotation-gpu-time=, if the line has that
 * @annotation_weight: of annotation-weight=, if the line has that
 * @failed: an error was found in the line
 * @why: of the error; NULL: it is not kept
 */
struct parser {
	struct rules *rules;
	const char *file;
	unsigned int line;
	char text[RULES_LINE_MAX];
	unsigned short columns[RULES_LINE_MAX];
	const char *at, *values[NR_KEYS];
	const char *joined, *joined_by;
	const struct rules_names *names;
	bool newlines;
	struct rule rule;
	int container_max;
	uint32_t annotation_max, annotation_weight;
	bool failed;
	struct rules_refusal *why;
};

static int failed(struct parser *p)
{
	p->failed = true;
	if (p->why)
		p->why->column = p->at ? p->columns[p->at - p->text] : 0;
	return 0;
}

static __attribute__((format(printf, 2, 3))) int fail(struct parser *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (p->why) {
		vsnprintf(p->why->text, sizeof(p->why->text), format, args);
		*p->why->value = '\0';
	}
	va_end(args);
	return failed(p);
}

/* What was refused is @at bytes after what is read. */
static int failed_at(struct parser *p, size_t at)
{
	p->at += at;
	return failed(p);
}

static int copy_to(char **to, const char *value)
{
	*to = strdup(value);
	return *to ? 0 : -ENOMEM;
}

static int cgroup_set(struct parser *p, char *value)
{
	size_t len = strlen(value), at;
	int ret;

	/* one slash at the end may be there */
	if (len > 1 && value[len - 1] == '/' && !strchr("/\\", value[len - 2]))
		value[len - 1] = '\0';
	ret = rules_cgroup_check(value, &at, p->why);
	if (ret)
		return failed_at(p, at);
	p->rule.cgroup = rules_pattern_literal(value);
	return p->rule.cgroup ? 0 : -ENOMEM;
}

static int unit_set(struct parser *p, char *value)
{
	size_t at;
	int ret = rules_unit_check(value, &at, p->why);

	if (ret)
		return failed_at(p, at);
	p->rule.unit = rules_pattern_literal(value);
	return p->rule.unit ? 0 : -ENOMEM;
}

static int exe_set(struct parser *p, char *value)
{
	size_t at;
	int ret = rules_exe_check(value, &at, p->why);

	return ret ? failed_at(p, at) : copy_to(&p->rule.exe, value);
}

/* One that is not known yet is none that the rule is void for: it waits. */
static int user_set(struct parser *p, char *value)
{
	size_t at = 0;
	int ret = 0;

	if (p->names->user(value, &p->rule.uid)) {
		p->rule.pending |= RULE_PENDING_USER;
		ret = rules_name_check("user", value, &at, p->why);
	}
	return ret ? failed_at(p, at) : copy_to(&p->rule.user, value);
}

static int group_set(struct parser *p, char *value)
{
	size_t at = 0;
	int ret = 0;

	if (p->names->group(value, &p->rule.gid)) {
		p->rule.pending |= RULE_PENDING_GROUP;
		ret = rules_name_check("group", value, &at, p->why);
	}
	return ret ? failed_at(p, at) : copy_to(&p->rule.group, value);
}

static int priority_set(struct parser *p, char *value)
{
	return rules_priority_check("priority", value, &p->rule.priority, p->why) ? failed(p) : 0;
}

static int park_set(struct parser *p, char *value)
{
	if (park_parse(value, &p->rule.park))
		return fail(p, "park= is never or auto, not '%.128s'", value);
	return 0;
}

static int max_set(struct parser *p, char *value)
{
	return rules_max_check("max", value, &p->rule.max, p->why) ? failed(p) : 0;
}

static int max_soft_set(struct parser *p, char *value)
{
	p->rule.soft = true;
	return rules_max_check("max-soft", value, &p->rule.max, p->why) ? failed(p) : 0;
}

static int weight_set(struct parser *p, char *value)
{
	return rules_weight_check("weight", value, &p->rule.weight, p->why) ? failed(p) : 0;
}

static int container_max_set(struct parser *p, char *value)
{
	return rules_priority_check("container-max", value, &p->container_max, p->why) ? failed(p) : 0;
}

static int annotation_max_set(struct parser *p, char *value)
{
	return rules_max_check("annotation-gpu-time", value, &p->annotation_max, p->why) ? failed(p) : 0;
}

static int annotation_weight_set(struct parser *p, char *value)
{
	return rules_weight_check("annotation-weight", value, &p->annotation_weight, p->why) ? failed(p) : 0;
}

static const struct {
	const char *name;
	int (*set)(struct parser *p, char *value);
} keys[NR_KEYS] = {
	[KEY_CGROUP] = { "cgroup", cgroup_set },
	[KEY_UNIT] = { "unit", unit_set },
	[KEY_USER] = { "user", user_set },
	[KEY_GROUP] = { "group", group_set },
	[KEY_EXE] = { "exe", exe_set },
	[KEY_PRIORITY] = { "priority", priority_set },
	[KEY_PARK] = { "park", park_set },
	[KEY_MAX] = { "max", max_set },
	[KEY_MAX_SOFT] = { "max-soft", max_soft_set },
	[KEY_WEIGHT] = { "weight", weight_set },
	[KEY_CONTAINER_MAX] = { "container-max", container_max_set },
	[KEY_ANNOTATION_MAX] = { "annotation-gpu-time", annotation_max_set },
	[KEY_ANNOTATION_WEIGHT] = { "annotation-weight", annotation_weight_set },
};

/* Does a word begin here that was meant as one? */
static bool key_begins(const char *from)
{
	enum key key;
	size_t len;

	for (key = 0; key < NR_KEYS; key++) {
		len = strlen(keys[key].name);
		if (!strncmp(from, keys[key].name, len) && from[len] == '=')
			return true;
	}
	return false;
}

static void joined_note(struct parser *p, const char *to, const char *from, const char *by)
{
	if (p->joined || !key_begins(from))
		return;
	p->joined = to;
	p->joined_by = by;
}

/*
 * The next word, unquoted in place: a backslash takes the next character as it is, and blanks may
 * stand between double quotes.  NULL: none, or a comment.  -EINVAL in @ret: a quote that does not end.
 */
static char *word_next(struct parser *p, char **rest, int *ret)
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
			if (!strchr(BLANKS "\"", from[1])) {
				p->columns[to - p->text] = p->columns[from - p->text];
				*to++ = *from;
			} else if (from[1] != '"') {
				joined_note(p, to, from + 2, "backslash");
			}
			from++;
		} else if (quoted && strchr(BLANKS, *from)) {
			joined_note(p, to, from + 1, "quote");
		}
		p->columns[to - p->text] = p->columns[from - p->text];
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

static int joined_fail(struct parser *p)
{
	p->at = p->joined;
	return fail(p, "the %s before this blank takes what follows into the value: remove it, so that the next word begins after the blank",
		    p->joined_by);
}

static enum key key_find(const char *name)
{
	enum key key;

	for (key = 0; key < NR_KEYS; key++)
		if (!strcmp(name, keys[key].name))
			break;
	return key;
}

/* A word in quotes that are none, and what it is without them; rules_quotes_check() is for those round a value. */
static bool quoted_refuse(struct parser *p, const char *word, const char *rest)
{
	char name[RULES_LINE_MAX], value[RULES_LINE_MAX];
	enum key key;

	if (!rules_quoted_word(word, name, value, key_begins(rest + strspn(rest, BLANKS))))
		return false;
	key = key_find(name);
	rules_refuse_as(p->why, ": write ", key == NR_KEYS ? "" : keys[key].name, key == NR_KEYS ? NULL : value,
			"a word takes no quotes but double ones of ASCII, and these only round blanks");
	return true;
}

static int word_parse(struct parser *p, char *word, const char *rest, bool given[NR_KEYS])
{
	char *value = strchr(word, '=');
	enum key key;
	size_t at;

	p->at = word;
	if (rules_text_check(word, &at, p->why))
		return failed_at(p, at);
	if (quoted_refuse(p, word, rest))
		return failed(p);
	if (!value)
		return fail(p, "'%.128s' is not KEY=VALUE; as in: cgroup=/inference.slice priority=high", word);
	*value++ = '\0';
	key = key_find(word);
	if (key == NR_KEYS)
		return fail(p, "'%.128s=' is unknown: there are cgroup=, unit=, user=, group=, exe=, priority=, park=, max=, max-soft=, weight=, container-max=, annotation-gpu-time= and annotation-weight=",
				  word);
	if (given[key])
		return fail(p, "%s= is given twice%s", keys[key].name,
			    key < KEY_PRIORITY ? ", and all conditions of a rule must hold: write a rule for each" : "");
	given[key] = true;
	if (!*value)
		return fail(p, "%s= has no value", keys[key].name);
	p->at = p->values[key] = value;
	if (rules_quotes_check(keys[key].name, value, p->why))
		return failed(p);
	/* no value of the others has such a text */
	if (key != KEY_CGROUP && key != KEY_EXE && p->joined > value)
		return joined_fail(p);
	return keys[key].set(p, value);
}

/* The key of a line that is no rule; NR_KEYS: it is one */
static enum key alone_find(const bool given[NR_KEYS])
{
	enum key key;

	for (key = KEY_CONTAINER_MAX; key < NR_KEYS && !given[key]; key++)
		;
	return key;
}

/* Returns false if there is such a line already: as with rules, the first holds. */
static bool alone_keep(struct rules *rules, const struct parser *p, enum key key)
{
	bool first;

	switch (key) {
	case KEY_ANNOTATION_MAX:
		first = !rules->annotation_max;
		if (first)
			rules->annotation_max = p->annotation_max;
		break;
	case KEY_ANNOTATION_WEIGHT:
		first = !rules->has_annotation_weight;
		if (first)
			rules->annotation_weight = p->annotation_weight;
		rules->has_annotation_weight = true;
		break;
	default:
		first = !rules->has_container_max;
		if (first)
			rules->container_max = p->container_max;
		rules->has_container_max = true;
	}
	return first;
}

/* It is no rule: the line has nothing else. */
static void alone_take(struct parser *p, enum key alone, const bool given[NR_KEYS], int *ret)
{
	enum key key;

	for (key = 0; key < NR_KEYS; key++)
		if (key != alone && given[key]) {
			p->at = p->values[key];
			*ret = fail(p, "%s= stands alone on its line: remove %s=", keys[alone].name, keys[key].name);
			return;
		}
	if (alone_keep(p->rules, p, alone))
		return;
	free(p->rules->again_file);
	p->rules->again_key = keys[alone].name;
	p->rules->again_file = strdup(p->file);
	p->rules->again_line = p->line;
}

static void rule_check(struct parser *p, const bool given[NR_KEYS], int *ret)
{
	bool condition = given[KEY_CGROUP] || given[KEY_UNIT] || given[KEY_USER] || given[KEY_GROUP] || given[KEY_EXE];
	bool share = given[KEY_MAX] || given[KEY_MAX_SOFT] || given[KEY_WEIGHT];
	bool gives = given[KEY_PRIORITY] || given[KEY_PARK] || share;

	if (p->joined && (!gives || !condition)) {
		*ret = joined_fail(p);
	} else if (!gives) {
		*ret = fail(p, "priority= is missing (or park=, max=, max-soft=, weight=)");
	} else if (!condition) {
		*ret = fail(p, "there is no condition; for all processes, give cgroup=/");
	} else if (given[KEY_MAX] && given[KEY_MAX_SOFT]) {
		p->at = p->values[KEY_MAX_SOFT];
		*ret = fail(p, "max= and max-soft= are two kinds of the same limit: remove one of them");
	} else if (given[KEY_EXE] && given[KEY_WEIGHT]) {
		p->at = p->values[KEY_WEIGHT];
		*ret = fail(p, "weight= cannot be combined with exe=, which only lowers, and a weight may raise: give max=, or cgroup=, unit= or user= instead");
	} else if (given[KEY_EXE] && given[KEY_PARK]) {
		p->at = p->values[KEY_PARK];
		*ret = fail(p, "park= cannot be combined with exe=, which only lowers a priority: give cgroup=, unit= or user= instead");
	} else if (given[KEY_EXE] && p->rule.priority > KFD_PRIO_NORMAL) {
		p->at = p->values[KEY_PRIORITY];
		*ret = fail(p, "exe= may only lower, since a user can run any program under any path: give a priority up to %d, or cgroup=, unit= or user= instead",
			    KFD_PRIO_NORMAL);
	} else if (rules_both_check(&p->rule, p->why)) {
		p->at = p->values[KEY_UNIT];
		*ret = failed(p);
	}
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

static void columns_count(struct parser *p)
{
	unsigned short column = 0;
	size_t i;

	for (i = 0; p->text[i]; i++) {
		column += (p->text[i] & 0xc0) != 0x80;
		p->columns[i] = column;
	}
	p->columns[i] = column + 1;
}

static int line_parse(struct parser *p)
{
	char *line = p->text + strspn(p->text, BLANKS), *word, *rest;
	bool given[NR_KEYS] = { false };
	enum key alone;
	size_t len;
	int ret = 0;

	columns_count(p);
	/* a file whose lines end with it alone would be one line, and perhaps one comment */
	p->at = strchr(p->text, '\r');
	if (p->at && p->at[1] && p->newlines)
		return fail(p, "a carriage return stands within the line and is not seen: remove it, or write a newline if another line begins after it");
	if (p->at && p->at[1])
		return fail(p, "a carriage return stands within the line: end each line with a newline, as \"tr '\\r' '\\n'\" does");
	p->at = NULL;
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
	while (!ret && !p->failed && (word = word_next(p, &rest, &ret)))
		ret = word_parse(p, word, rest, given);
	if (p->failed)
		return ret;
	p->at = NULL;
	if (ret == -EINVAL)
		return fail(p, "a quote or a backslash is not finished at the end of the line");
	alone = alone_find(given);
	if (!ret && alone < NR_KEYS) {
		alone_take(p, alone, given, &ret);
		return ret;
	}
	if (!ret)
		rule_check(p, given, &ret);
	if (!ret && !p->failed && p->rules->nr >= RULES_MAX) {
		/* one message, for the first of them */
		if (!p->rules->full)
			fail(p, "there are more than %u rules in all files: no rule after them is read", RULES_MAX);
		p->rules->full = true;
		return 0;
	}
	if (!ret && !p->failed)
		ret = rule_add(p);
	return ret;
}

/**
 * rules_line_parse() - add the rule of a line
 * @rules: in, out
 * @file: the name of its text
 * @line: its number
 * @text: less than RULES_LINE_MAX bytes
 * @newlines: the text has some
 * @names: how users and groups are looked up
 * @why: out: what is wrong; NULL: nobody asks
 *
 * Return: 0, -ENOMEM or -EINVAL: the line has an error.
 */
int rules_line_parse(struct rules *rules, const char *file, unsigned int line, const char *text, bool newlines,
		     const struct rules_names *names, struct rules_refusal *why)
{
	struct parser p = { .rules = rules, .file = file, .line = line, .names = names, .newlines = newlines, .why = why };
	int ret;

	strcpy(p.text, text);
	ret = line_parse(&p);
	rule_free(&p.rule);
	return ret ? ret : p.failed ? -EINVAL : 0;
}
