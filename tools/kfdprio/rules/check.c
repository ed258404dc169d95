// SPDX-License-Identifier: GPL-2.0
/* kfdprio rules check: what is wrong with the rules, and what matches no process at present. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "json-out.h"
#include "verbs.h"
#include "message.h"

/* Warnings are kept as the errors of rules that have nothing else. */
#define add(warnings, rule, ...)                                                               \
	do {                                                                                   \
		if (rules_fail(warnings, (rule)->file, (rule)->line, 0, __VA_ARGS__))          \
			errx(EXIT_FAILURE, "out of memory");                                   \
	} while (0)

/* A pattern without wildcards as the text that it matches; @size is enough for any line */
static void pattern_plain(const char *pattern, char *plain)
{
	for (; *pattern; pattern++) {
		pattern += pattern[0] == '\\' && pattern[1];
		*plain++ = *pattern;
	}
	*plain = '\0';
}

static bool exists(const char *directory, const char *name)
{
	char path[2 * KFDLIB_PATH];

	snprintf(path, sizeof(path), "%s%s/%s", kfd_system_root, directory, name);
	return !access(path, F_OK);
}

static bool unit_has_file(const char *name)
{
	static const char *const directories[] = {
		"/etc/systemd/system",	  "/etc/systemd/system.control", "/run/systemd/system",	     "/run/systemd/system.control",
		"/run/systemd/transient", "/run/systemd/generator",	 "/run/systemd/generator.early", "/run/systemd/generator.late",
		"/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system",
	};
	size_t i;

	for (i = 0; i < sizeof(directories) / sizeof(*directories); i++)
		if (exists(directories[i], name))
			return true;
	return false;
}

/* Where systemd puts a slice: a-b.slice into a.slice. */
static void slice_path(const char *name, char *path, size_t size)
{
	size_t len = strlen(name) - strlen(".slice"), i, at = 0;

	for (i = 1; i <= len && at < size; i++)
		if (i == len || name[i] == '-')
			at += snprintf(path + at, size - at, "/%.*s.slice", (int)i, name);
}

static bool slice_runs(const char *name)
{
	char path[2 * KFDLIB_PATH];
	int fd;

	slice_path(name, path, sizeof(path));
	fd = cgroup_open(path);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool ends(const char *name, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len > n && !memcmp(name + len - n, suffix, n);
}

/* One that is not installed and does not run.  Of a host without systemd nothing is known. */
/* The names of systemd: dashes stand between names */
static bool slice_valid(const char *name, size_t len)
{
	len -= strlen(".slice");
	return *name != '-' && name[len - 1] != '-' && !memmem(name, len, "--", 2);
}

/* Is the unit a slice that systemd cannot have?  That of a pattern is not known. */
static bool slice_unit_warn(struct rules *warnings, const struct rule *rule)
{
	size_t len = strlen(rule->unit);
	const char *why;

	if (!ends(rule->unit, len, ".slice"))
		return false;
	if (memchr(rule->unit, '@', len))
		why = "a slice is no instance of a template";
	else if (!slice_valid(rule->unit, len))
		why = "a '-' in its name stands between two names";
	else
		return false;
	add(warnings, rule, "systemd has no slice %.200s, since %s: the rule matches only a cgroup that something else makes",
	    rule->unit, why);
	return true;
}

static void unit_warn(struct rules *warnings, const struct rule *rule)
{
	char name[KFDLIB_PATH], template[KFDLIB_PATH];
	const char *at, *dot;

	if (!rule->unit || rules_has_wildcard(rule->unit) || slice_unit_warn(warnings, rule) ||
	    !exists("/run/systemd", "system"))
		return;
	pattern_plain(rule->unit, name);
	if (unit_has_file(name) || (ends(name, strlen(name), ".slice") && slice_runs(name)))
		return;
	at = strchr(name, '@');
	dot = strrchr(name, '.');
	if (at && dot > at) {
		snprintf(template, sizeof(template), "%.*s@%s", (int)(at - name), name, dot);
		if (unit_has_file(template))
			return;
	}
	add(warnings, rule, "unit=%.200s: there is no such unit now: the rule matches once there is one", rule->unit);
}

static void pending_warn(struct rules *warnings, const struct rule *rule)
{
	if (rule->pending & RULE_PENDING_USER)
		add(warnings, rule, "user=%.200s: there is no such user now: the rule matches once there is one", rule->user);
	if (rule->pending & RULE_PENDING_GROUP)
		add(warnings, rule, "group=%.200s: there is no such group now: the rule matches once there is one", rule->group);
}

/* Has the user of a rule UIDs of subuid(5), with which a process of theirs is another user's? */
static bool user_has_subuids(const struct rule *rule)
{
	char path[KFDLIB_PATH], *line = NULL, uid[16], *end;
	bool found = false;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/etc/subuid", kfd_system_root);
	snprintf(uid, sizeof(uid), "%u", rule->uid);
	file = fopen(path, "re");
	while (file && !found && getline(&line, &room, file) > 0) {
		end = strchrnul(line, ':');
		*end = '\0';
		found = !strcmp(line, rule->user) || !strcmp(line, uid);
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

static void left_warn(struct rules *warnings, const struct rule *rule)
{
	if (rule_is_left(rule))
		add(warnings, rule,
		    "a process can leave this group in a user namespace: lower it by cgroup= or unit=, which it cannot leave");
	if (rule->user && !rule->pending && rule_lowers(rule) && user_has_subuids(rule))
		add(warnings, rule,
		    "this user has UIDs in /etc/subuid, and leaves the rule with a process of such a UID: lower it by cgroup= or unit=, as cgroup=/user.slice/user-%u.slice",
		    rule->uid);
}

static void before_warn(struct rules *warnings, const struct rules *rules, const struct rule *rule)
{
	const struct rule *before = rule_before(rules, rule);

	if (before)
		add(warnings, rule, "this rule is never reached: %.300s:%u matches each process that it matches, and stands before it",
		    before->file, before->line);
}

/*
 * A rule before one that binds a cgroup to a group matches processes of that cgroup: they are in that group, too, unless
 * they are in a cgroup that has one of its own.
 */
static void inside_warn(struct rules *warnings, const struct rules *rules, const struct rule *rule)
{
	const struct rule *inside = rule_inside(rules, rule);

	if (inside && !rule_before(rules, rule))
		add(warnings, rule, "the processes of %.300s:%u are in a cgroup of this rule, and share what it gives%s", inside->file,
		    inside->line, inside->user || inside->group ? "" : ": to except them, give them max= or weight= there");
}

/* The path without links of what there is; @real: PATH_MAX bytes.  Return: whether there is something. */
static bool path_resolve(const char *name, char *real, bool *directory)
{
	char path[2 * KFDLIB_PATH];
	size_t root = strlen(kfd_system_root);
	struct stat stat_buf;

	snprintf(path, sizeof(path), "%s%s", kfd_system_root, name);
	if (!realpath(path, real) || stat(real, &stat_buf))
		return false;
	*directory = S_ISDIR(stat_buf.st_mode);
	if (!strncmp(real, kfd_system_root, root))
		memmove(real, real + root, strlen(real + root) + 1);
	return true;
}

/* Text as a pattern that stands for it */
static void pattern_quote(const char *plain, char *pattern)
{
	for (; *plain; plain++) {
		if (strchr("*?[\\", *plain))
			*pattern++ = '\\';
		*pattern++ = *plain;
	}
	*pattern = '\0';
}

/* /proc/PID/exe has the path without links, of the program itself and of its directory. */
static void exe_warn(struct rules *warnings, const struct rule *rule)
{
	char name[KFDLIB_PATH], real[PATH_MAX], advice[3 * PATH_MAX];
	bool wildcard = rule->exe && rules_has_wildcard(rule->exe), directory = false;
	size_t len = 0, i;
	char *spelling;

	if (!rule->exe)
		return;
	for (i = 0; wildcard && !strchr("*?[", rule->exe[i]); i += rule->exe[i] == '\\' ? 2 : 1)
		if (rule->exe[i] == '/')
			len = i;
	if (!wildcard)
		len = strlen(rule->exe);
	snprintf(name, sizeof(name), "%.*s", (int)len, rule->exe);
	pattern_plain(name, name);
	if (!strncmp(name, "/proc/", 6)) {
		add(warnings, rule, "exe=%.200s is no program: the files below /proc differ for each process, and the path of a process is that of its program",
		    rule->exe);
		return;
	}
	if (!*name || !path_resolve(name, real, &directory) || (wildcard && !directory))
		return;
	if (!strcmp(real, name) && (wildcard || !directory))
		return;
	pattern_quote(real, advice);
	strcat(advice, !wildcard && directory ? "/*" : rule->exe + len);
	spelling = rules_spelling("exe", advice);
	if (directory && !wildcard)
		add(warnings, rule, "exe=%.200s is a directory, which no process runs%s%s", rule->exe,
		    spelling ? ": for all programs in it write " : "", spelling ?: "");
	else
		add(warnings, rule, "exe=%.200s is a link, and the path of a process is that of the program%s%s", name,
		    spelling ? ": write " : "", spelling ?: "");
	free(spelling);
}

/* The slices that systemd puts a slice into, with slashes round them; of a pattern those that its text before a wildcard names */
static void slice_above(const char *name, char *path, size_t size)
{
	size_t len = strcspn(name, "*?[\\"), i, at = 0;

	*path = '\0';
	for (i = 1; i < len && at < size; i++)
		if (name[i] == '-')
			at += snprintf(path + at, size - at, "/%.*s.slice", (int)i, name);
	if (at < size)
		snprintf(path + at, size - at, "/");
}

/* Can units of a manager be below this part?  Slices below it are its own. */
static bool part_is_root(const char *part, size_t len)
{
	char name[RULES_LINE_MAX];

	snprintf(name, sizeof(name), "%.*s", (int)len, part);
	return ends(part, len, ".service") || ends(part, len, ".scope") || !rules_has_wildcard(name);
}

/**
 * struct moved - a slice that systemd puts elsewhere than a path says
 * @name: its name
 * @path: the path as it should be; empty: systemd has no slice of the name
 */
struct moved {
	char name[RULES_LINE_MAX], path[3 * RULES_LINE_MAX];
};

static bool slice_find(const char *cgroup, struct moved *moved)
{
	const char *part = cgroup, *base = cgroup;
	char above[2 * RULES_LINE_MAX], between[RULES_LINE_MAX];
	bool wildcard;
	size_t len;

	for (; *part; part += len) {
		part += strspn(part, "/");
		len = strcspn(part, "/");
		if (!ends(part, len, ".slice")) {
			/* of what may be a slice it is not known what is below */
			base = part_is_root(part, len) ? part + len : NULL;
			continue;
		}
		snprintf(moved->name, sizeof(moved->name), "%.*s", (int)len, part);
		if (!base || !strcmp(moved->name, "-.slice"))
			continue;
		wildcard = rules_has_wildcard(moved->name);
		*moved->path = '\0';
		if (!wildcard && !slice_valid(part, len))
			return true;
		snprintf(between, sizeof(between), "%.*s", (int)(part - base), base);
		slice_above(moved->name, above, sizeof(above));
		/* one without a dash may be in any that was made by hand */
		if (!strcmp(above, "/") || rules_has_wildcard(between) || !strcmp(between, above) ||
		    (wildcard && !strncmp(between, above, strlen(above))))
			continue;
		snprintf(moved->path, sizeof(moved->path), "%.*s%s%s", (int)(base - cgroup), cgroup, above, part);
		return true;
	}
	return false;
}

/* Only a path that is right itself is advised. */
static void slice_warn(struct rules *warnings, const struct rule *rule)
{
	struct moved moved, again;
	char *spelling;

	if (!rule->cgroup || !slice_find(rule->cgroup, &moved))
		return;
	if (!*moved.path) {
		add(warnings, rule,
		    "systemd has no slice %.200s, since a '-' in its name stands between two names: the rule matches only a cgroup that something else makes",
		    moved.name);
		return;
	}
	spelling = slice_find(moved.path, &again) ? NULL : rules_spelling("cgroup", moved.path);
	add(warnings, rule, "systemd puts the slice %.200s elsewhere%s%s", moved.name, spelling ? ": write " : "", spelling ?: "");
	free(spelling);
}

/* Two '*' without a '/' between them, which stand for any number of directories elsewhere */
static void stars_warn(struct rules *warnings, const struct rule *rule)
{
	if (rule->cgroup && strstr(rule->cgroup, "**"))
		add(warnings, rule, "cgroup=%.200s: '**' is as '*', which stands for one name without '/'; a rule matches the cgroups below one that it matches, too",
		    rule->cgroup);
}

static void warnings_find(const struct rules *rules, struct rules *warnings)
{
	const struct rule *rule;

	for (rule = rules->rule; rule < rules->rule + rules->nr; rule++) {
		pending_warn(warnings, rule);
		unit_warn(warnings, rule);
		left_warn(warnings, rule);
		before_warn(warnings, rules, rule);
		inside_warn(warnings, rules, rule);
		exe_warn(warnings, rule);
		slice_warn(warnings, rule);
		stars_warn(warnings, rule);
	}
	if (rules->again_file)
		rules_fail(warnings, rules->again_file, rules->again_line, 0,
			   "this %s= has no effect: another one stands before it, and the first holds", rules->again_key);
}

static void messages_print(const struct rules *rules, const char *kind)
{
	const struct rules_error *error;

	for (error = rules->errors; error < rules->errors + rules->nr_errors; error++) {
		if (error->column)
			warnx("%s:%u:%u: %s%s", error->file, error->line, error->column, kind, error->why);
		else if (error->line)
			warnx("%s:%u: %s%s", error->file, error->line, kind, error->why);
		else
			warnx("%s: %s%s", error->file, kind, error->why);
	}
}

/**
 * rules_errors_print() - print what is wrong with rules
 * @rules: the rules
 */
void rules_errors_print(const struct rules *rules)
{
	messages_print(rules, "");
}

static void count_or_null(const char *key, unsigned int value)
{
	if (value)
		json_count(key, value);
	else
		json_null(key);
}

static void errors_json(const struct rules *rules)
{
	size_t i;

	json_open("errors", '[');
	for (i = 0; i < rules->nr_errors; i++) {
		json_open(NULL, '{');
		json_text("file", rules->errors[i].file);
		count_or_null("line", rules->errors[i].line);
		count_or_null("column", rules->errors[i].column);
		json_text("error", rules->errors[i].why);
		json_close('}');
	}
	json_close(']');
}

static void warnings_json(const struct rules *warnings)
{
	size_t i;

	json_open("warnings", '[');
	for (i = 0; i < warnings->nr_errors; i++) {
		json_open(NULL, '{');
		json_text("file", warnings->errors[i].file);
		json_count("line", warnings->errors[i].line);
		json_text("warning", warnings->errors[i].why);
		json_close('}');
	}
	json_close(']');
}

static void check_json(const struct rules *rules, const struct rules *warnings)
{
	size_t i;

	json_stdout(JSON_ROWS);
	json_number("version", JSON_FORMAT);
	json_count("rule_count", rules->nr);
	json_number("container_max", rules_container_max(rules));
	if (rules->annotation_max)
		json_real("annotation_max_percent", rules->annotation_max / 100.0);
	else
		json_null("annotation_max_percent");
	count_or_null("annotation_weight", rules->annotation_weight);
	json_open("files", '[');
	for (i = 0; i < rules->nr_files; i++)
		json_text(NULL, rules->files[i]);
	json_close(']');
	errors_json(rules);
	warnings_json(warnings);
	json_stdout_end();
}

static void annotations_print(const struct rules *rules)
{
	char max[16];

	if (rules->annotation_max)
		printf("annotations may ask for a limit of GPU time up to %s\n",
		       rules->annotation_max < KFD_PRIO_MAX_NONE ? kfd_max_text(rules->annotation_max, max, sizeof(max)) : "100%");
	if (rules->annotation_weight)
		printf("annotations may ask for a weight up to %u\n", rules->annotation_weight);
}

/**
 * rules_check() - print what is wrong with rules, and what matches no process at present
 * @rules: the rules
 * @json: as JSON
 * @verbose: how many there are, too
 *
 * Return: the exit status: 1 if there are errors.
 */
int rules_check(const struct rules *rules, bool json, bool verbose)
{
	int max = rules_container_max(rules);
	struct rules warnings = { 0 };

	warnings_find(rules, &warnings);
	if (json) {
		check_json(rules, &warnings);
	} else {
		messages_print(rules, "");
		messages_print(&warnings, "warning: ");
		if (verbose) {
			printf("%zu rule%s in %zu file%s\ncontainers may ask for a priority up to %d (%s)\n",
			       rules->nr, rules->nr == 1 ? "" : "s", rules->nr_files,
			       rules->nr_files == 1 ? "" : "s", max, prio_band(max));
			annotations_print(rules);
		}
	}
	rules_free(&warnings);
	return rules->nr_errors ? EXIT_FAILURE : EXIT_SUCCESS;
}
