// SPDX-License-Identifier: GPL-2.0
/* kfdprio rules explain: which rule matches a process, and what it has. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/capability.h>
#include <unistd.h>

#include "cgroup.h"
#include "explain.h"
#include "json-out.h"
#include "verbs.h"
#include "message.h"

/**
 * struct explanation - a process under the rules
 * @rules: the rules
 * @pid: the process
 * @process: what the rules look at
 * @result: what they say
 * @comm: its name, raw bytes
 * @known: the driver was asked
 * @now: what is set for it
 * @why: when it could not be asked, why
 * @share: its groups
 * @service: kfdpriod runs, as far as its unit's cgroup shows
 * @exe_hidden: it cannot see the program of the process
 */
struct explanation {
	const struct rules *rules;
	pid_t pid;
	struct rules_process process;
	struct rules_result result;
	char comm[KFDLIB_NAME];
	bool known;
	struct kfd_prio_get_args now;
	char why[KFDLIB_WHY];
	struct explained_share share;
	bool service, exe_hidden;
};

static void print_shown(const char *format, const char *raw)
{
	char *shown = text_printable(raw);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	printf(format, shown ? shown : "");
#pragma GCC diagnostic pop
	free(shown);
}

static void print_priority(const char *title, int priority)
{
	if (priority == KFD_PRIO_UNSET)
		printf("%s: none\n", title);
	else
		printf("%s: %d (%s)\n", title, priority, prio_band(priority));
}

static void print_rule(const char *title, const struct rule *rule)
{
	printf("%s: ", title);
	print_shown("%s", rule->file);
	printf(":%u: ", rule->line);
	print_shown("%s\n", rule->text);
}

/* Those before the one that ends the search. */
static bool passed_over(const struct explanation *e, const struct rule *rule, const char **key)
{
	if (e->result.rule && rule > e->result.rule)
		return false;
	*key = rule_mismatch(rule, &e->process.subject);
	return *key;
}

static bool not_known(const struct rule *rule, const char *key)
{
	return (rule->pending & RULE_PENDING_USER && !strcmp(key, "user")) ||
	       (rule->pending & RULE_PENDING_GROUP && !strcmp(key, "group"));
}

static void unit_copy(const struct explanation *e, char *unit, size_t size)
{
	size_t at, len = 0;

	*unit = '\0';
	if (!e->process.subject.cgroup)
		return;
	at = rules_unit(e->process.subject.cgroup, &len);
	if (len && len < size)
		snprintf(unit, size, "%.*s", (int)len, e->process.subject.cgroup + at);
}

static void print_never(const struct explanation *e)
{
	switch (e->now.never_parked_by) {
	case KFD_PRIO_BY_RULE:
		puts("never parked: set by a rule");
		break;
	case KFD_PRIO_BY_ADMIN:
		puts("never parked: set by hand, with CAP_SYS_NICE, or inherited from such a process: rules leave it alone");
		break;
	case KFD_PRIO_BY_USER:
		puts("never parked: set by hand, without CAP_SYS_NICE, or inherited from such a process: a rule with park=auto ends it");
		break;
	}
}

/* What kfdpriod would change: see rules_applies(), and for what is set by hand KFD_PRIO_SET_RULE. */
static int would_set(const struct explanation *e)
{
	if (!e->known || !rules_applies(&e->result, e->now.priority) || e->now.set_by == KFD_PRIO_BY_ADMIN)
		return KFD_PRIO_UNSET;
	if (e->now.set_by == KFD_PRIO_BY_USER && e->result.priority > e->now.priority)
		return KFD_PRIO_UNSET;
	return e->result.priority;
}

static const char *would_park(const struct explanation *e)
{
	unsigned int by = e->now.never_parked_by;

	if (!e->known || by == KFD_PRIO_BY_ADMIN || !rules_parks(&e->result, by != KFD_PRIO_BY_NOBODY))
		return NULL;
	return park_name(e->result.park);
}

static void print_would(const struct explanation *e)
{
	const char *park = would_park(e), *share;
	int priority = would_set(e);
	char text[3 * SHARE_TEXT];

	share = share_would(&e->share, text, sizeof(text));

	if (e->exe_hidden)
		puts("kfdpriod runs without CAP_SYS_PTRACE and does not see this program: rules with exe= do not match the process; see kfdpriod(8)");
	if (priority == KFD_PRIO_UNSET && !park && !share) {
		puts("kfdpriod would change nothing");
		return;
	}
	fputs("kfdpriod would set:", stdout);
	if (priority != KFD_PRIO_UNSET)
		printf(" priority %d", priority);
	if (park)
		printf(" park=%s", park);
	if (share)
		printf(" %s", share);
	putchar('\n');
}

static void print_text(const struct explanation *e, bool verbose)
{
	const struct rules_subject *subject = &e->process.subject;
	char user[KFDLIB_NAME], unit[256];
	const char *key;
	size_t i;

	user_name(subject->uid, user, sizeof(user));
	unit_copy(e, unit, sizeof(unit));
	printf("process %d (", e->pid);
	print_shown("%s)", e->comm);
	print_shown(": user %s", user);
	print_shown(", cgroup %s", subject->cgroup		  ? subject->cgroup :
				   subject->cgroup_hidden ? "too deep to be shown: rules for cgroups and units only lower" :
							    "unknown");
	if (*unit)
		print_shown(", unit %s", unit);
	print_shown(", program %s\n", *e->process.exe ? e->process.exe : "unknown");
	for (i = 0; verbose && i < e->rules->nr; i++)
		if (passed_over(e, &e->rules->rule[i], &key)) {
			print_rule("passed over", &e->rules->rule[i]);
			printf("  its %s= %s\n", key, not_known(&e->rules->rule[i], key) ? "is not known yet" : "does not match");
		}
	if (e->result.rule)
		print_rule("rule", e->result.rule);
	if (e->result.limit)
		print_rule("limit", e->result.limit);
	if (e->result.share_limit && e->result.share_limit != e->result.limit)
		print_rule("limit", e->result.share_limit);
	if (!e->result.rule && !e->result.limit && !e->result.share_limit)
		puts("no rule matches");
	print_priority("priority by the rules", e->result.priority);
	if (e->result.park)
		printf("park= by the rules: %s\n", park_name(e->result.park));
	share_print(&e->share);
	if (!e->known) {
		text_line(stdout, "priority that is set: unknown, %s", e->why);
		return;
	}
	print_priority("priority that is set", e->now.priority);
	if (e->now.set_by == KFD_PRIO_BY_RULE)
		puts("it was set by a rule");
	else if (e->now.set_by == KFD_PRIO_BY_ADMIN)
		puts("it was set by hand, with CAP_SYS_NICE, or inherited from such a process: rules leave it alone");
	else if (e->now.set_by == KFD_PRIO_BY_USER)
		puts("it was set by hand, without CAP_SYS_NICE, or inherited from such a process: rules may only lower it");
	print_never(e);
	print_would(e);
}

static void json_rule(const char *key, const struct rule *rule)
{
	if (!rule) {
		json_null(key);
		return;
	}
	json_open(key, '{');
	json_text("file", rule->file);
	json_count("line", rule->line);
	json_text("text", rule->text);
	json_close('}');
}

static void json_text_or_null(const char *key, const char *text)
{
	if (text && *text)
		json_text(key, text);
	else
		json_null(key);
}

static void print_json(const struct explanation *e)
{
	const struct rules_subject *subject = &e->process.subject;
	char user[KFDLIB_NAME], unit[256];
	const char *key;
	size_t i;

	unit_copy(e, unit, sizeof(unit));
	json_stdout(JSON_ROWS);
	json_number("version", JSON_FORMAT);
	json_number("pid", e->pid);
	json_text("command", e->comm);
	json_count("uid", subject->uid);
	json_text_or_null("user", user_name(subject->uid, user, sizeof(user)) ? user : NULL);
	json_text_or_null("cgroup", subject->cgroup);
	json_text_or_null("unit", unit);
	json_text_or_null("exe", e->process.exe);
	json_rule("rule", e->result.rule);
	json_rule("limit", e->result.limit);
	json_priority("rules_priority", e->result.priority);
	json_priority("priority", e->known ? e->now.priority : KFD_PRIO_UNSET);
	json_text_or_null("set_by", e->known ? set_by_name(e->now.set_by) : NULL);
	json_text_or_null("rules_park", park_name(e->result.park));
	json_text_or_null("never_parked_by", e->known ? set_by_name(e->now.never_parked_by) : NULL);
	json_priority("would_set_priority", would_set(e));
	json_text_or_null("would_set_park", would_park(e));
	share_json(&e->share);
	if (e->service)
		json_flag("kfdpriod_sees_exe", !e->exe_hidden);
	else
		json_null("kfdpriod_sees_exe");
	json_open("passed_over", '[');
	for (i = 0; i < e->rules->nr; i++)
		if (passed_over(e, &e->rules->rule[i], &key)) {
			json_open(NULL, '{');
			json_text("file", e->rules->rule[i].file);
			json_count("line", e->rules->rule[i].line);
			json_text("condition", key);
			json_close('}');
		}
	json_close(']');
	json_stdout_end();
}

static uint64_t status_number(pid_t pid, const char *key, int base)
{
	char path[64], *line = NULL;
	uint64_t number = 0;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0)
		if (!strncmp(line, key, strlen(key)))
			number = strtoull(line + strlen(key), NULL, base);
	free(line);
	if (file)
		fclose(file);
	return number;
}

static void first_pid(void *context, pid_t pid, int dir)
{
	pid_t *first = context;

	(void)dir;
	if (!*first)
		*first = pid;
}

/* A service without CAP_SYS_PTRACE sees programs of root alone, and of those that have no more capabilities than it. */
static void service_ask(struct explanation *e)
{
	char why[KFDLIB_WHY];
	pid_t service = 0;
	uint64_t has;

	cgroup_pids("/system.slice/kfdpriod.service", first_pid, &service, why);
	if (!service)
		return;
	has = status_number(service, "CapPrm:", 16);
	e->service = true;
	e->exe_hidden = !(has & 1ull << CAP_SYS_PTRACE) &&
			(status_number(e->pid, "Uid:", 10) || e->process.subject.uid || status_number(e->pid, "CapPrm:", 16) & ~has);
}

/* The rules can be looked at on a host without the driver. */
static void driver_ask(struct explanation *e)
{
	struct kfd_dev dev;

	if (kfd_dev_open(&dev, e->why))
		return;
	e->known = !process_get(&dev, e->pid, &e->now, e->why);
	share_ask(&e->share, &dev, e->pid);
	kfd_dev_close(&dev);
}

/**
 * rules_explain() - print which rule matches a process
 * @rules: the rules
 * @pid: the process
 * @json: as JSON
 * @verbose: those that do not match, too
 *
 * Return: the exit status: 1 if there is no such process.
 */
int rules_explain(const struct rules *rules, pid_t pid, bool json, bool verbose)
{
	struct explanation *e = calloc(1, sizeof(*e));
	struct proc_info info;
	char why[KFDLIB_WHY];
	int pidfd;

	if (!e)
		err(EXIT_FAILURE, "cannot explain");
	if (proc_open(pid, &pidfd, why))
		errx(EXIT_FAILURE, "%s", why);
	close(pidfd);
	if (rules_process_read(pid, RULES_LOOK_ALL, &e->process) || proc_read(pid, &info))
		errx(EXIT_FAILURE, "process %d has ended meanwhile", pid);
	e->rules = rules;
	e->pid = pid;
	memcpy(e->comm, info.comm, sizeof(e->comm));
	service_ask(e);
	if (e->exe_hidden)
		e->process.subject.exe = NULL;
	rules_match(rules, &e->process.subject, &e->result);
	e->share.result = &e->result;
	e->share.cgroup = e->process.subject.cgroup;
	driver_ask(e);
	if (json)
		print_json(e);
	else
		print_text(e, verbose);
	rules_process_free(&e->process);
	free(e);
	return EXIT_SUCCESS;
}
