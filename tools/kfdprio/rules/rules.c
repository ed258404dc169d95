// SPDX-License-Identifier: GPL-2.0
/* kfdprio rules: what stands in kfdprio.conf(5), and what it means for a process. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json-out.h"
#include "verbs.h"
#include "message.h"

enum column {
	COLUMN_FILE,
	COLUMN_LINE,
	COLUMN_STATE,
	COLUMN_PRIORITY,
	COLUMN_PARK,
	COLUMN_MAX,
	COLUMN_IS_SOFT,
	COLUMN_WEIGHT,
	COLUMN_CGROUP,
	COLUMN_UNIT,
	COLUMN_USER,
	COLUMN_GROUP,
	COLUMN_EXE,
	NR_COLUMNS
};

static const struct list_column columns[NR_COLUMNS] = {
	[COLUMN_FILE] = { "FILE", "file", LIST_TEXT, LIST_EVERYWHERE },
	[COLUMN_LINE] = { "LINE", "line", LIST_COUNT, LIST_EVERYWHERE },
	[COLUMN_STATE] = { "STATE", "state", LIST_TEXT, LIST_EVERYWHERE },
	[COLUMN_PRIORITY] = { "PRIORITY", "priority", LIST_NUMBER, LIST_EVERYWHERE },
	[COLUMN_PARK] = { "PARK", "park", LIST_TEXT, LIST_EVERYWHERE },
	[COLUMN_MAX] = { "MAX%", "max_percent", LIST_REAL, LIST_EVERYWHERE },
	[COLUMN_IS_SOFT] = { "IS-SOFT", "is_soft", LIST_FLAG, LIST_EVERYWHERE },
	[COLUMN_WEIGHT] = { "WEIGHT", "weight", LIST_COUNT, LIST_EVERYWHERE },
	[COLUMN_CGROUP] = { "CGROUP", "cgroup", LIST_TEXT, LIST_EVERYWHERE },
	[COLUMN_UNIT] = { "UNIT", "unit", LIST_TEXT, LIST_EVERYWHERE },
	[COLUMN_USER] = { "USER", "user", LIST_TEXT, LIST_EVERYWHERE },
	[COLUMN_GROUP] = { "GROUP", "group", LIST_TEXT, LIST_EVERYWHERE },
	[COLUMN_EXE] = { "EXE", "exe", LIST_TEXT, LIST_EVERYWHERE },
};

/**
 * struct wish - the command line
 * @verb: check, list or explain
 * @list: how to print the list; its json for all
 * @verbose: of -v
 * @arguments: NULL-terminated
 */
struct wish {
	const char *verb;
	struct list_choice list;
	bool verbose;
	char **arguments;
};

static void usage(void)
{
	fputs("\n"
	      "Usage:\n"
	      " kfdprio rules check [options] [FILE...]\n"
	      " kfdprio rules list [options]\n"
	      " kfdprio rules explain [options] PID\n"
	      "\n"
	      "Check and explain the rules by which kfdpriod gives processes priorities and shares\n"
	      "of GPU time.\n"
	      "check: errors and warnings of the rules. list: all rules in their order. explain:\n"
	      "which rule matches a process, and what kfdpriod would set.\n"
	      "\n"
	      "Options:\n"
	      " -J, --json           print JSON\n"
	      " -o, --output COLUMNS with list: these columns, with commas; +COLUMNS: these, too\n"
	      "     --noheadings     with list: no titles\n"
	      "     --raw            with list: one blank between columns, for scripts\n"
	      " -v, --verbose        check: how many rules there are; explain: those that do\n"
	      "                        not match, too, and why\n"
	      " -h, --help           display this help\n"
	      " -V, --version        display the version of this program\n"
	      "\n"
	      "For more details see kfdprio-rules(1) and kfdprio.conf(5).\n",
	      stdout);
}

static __attribute__((noreturn)) void usage_hint(void)
{
	fputs("Try 'kfdprio rules --help' for more information.\n", stderr);
	exit(EXIT_USAGE);
}

static void options_parse(int argc, char **argv, struct wish *wish)
{
	enum { NOHEADINGS = 256, RAW };
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'J' },
		{ "output", required_argument, NULL, 'o' },
		{ "noheadings", no_argument, NULL, NOHEADINGS },
		{ "raw", no_argument, NULL, RAW },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = option_next(argc, argv, "Jo:vhV", options)) != -1) {
		switch (option) {
		case 'J':
			wish->list.json = true;
			break;
		case 'o':
			wish->list.columns = optarg;
			break;
		case NOHEADINGS:
			wish->list.noheadings = true;
			break;
		case RAW:
			wish->list.raw = true;
			break;
		case 'v':
			wish->verbose = true;
			break;
		case 'h':
			usage();
			exit(stdout_check(EXIT_SUCCESS));
		case 'V':
			puts("kfdprio " KFDPRIO_VERSION);
			exit(stdout_check(EXIT_SUCCESS));
		default:
			usage_hint();
		}
	}
	if (optind == argc) {
		warnx("rules: give check, list or explain");
		usage_hint();
	}
	wish->verb = argv[optind];
	wish->arguments = argv + optind + 1;
}

static void wish_check(const struct wish *wish)
{
	bool list = !strcmp(wish->verb, "list"), explain = !strcmp(wish->verb, "explain");
	char why[KFDLIB_WHY];
	char *shown;

	if (!list && !explain && strcmp(wish->verb, "check")) {
		shown = text_printable(wish->verb);
		warnx("rules: there is no verb '%s': give check, list or explain", shown ? shown : "");
		free(shown);
		usage_hint();
	}
	if (!list && (wish->list.columns || wish->list.noheadings || wish->list.raw)) {
		warnx("--output, --noheadings and --raw go with 'rules list'");
		usage_hint();
	}
	if (list && *wish->arguments) {
		shown = text_printable(*wish->arguments);
		warnx("rules list takes no argument: '%s' is one too many", shown ? shown : "");
		free(shown);
		usage_hint();
	}
	if (explain && (!wish->arguments[0] || wish->arguments[1])) {
		warnx("rules explain takes one PID");
		usage_hint();
	}
	if (list && list_check(columns, NR_COLUMNS, &wish->list, why)) {
		warnx("%s", why);
		usage_hint();
	}
}

static void text_or_none(struct list_value *value, const char *text)
{
	if (text)
		list_text(value, text);
}

static void cell(void *context, size_t row, unsigned int column, struct list_value *value)
{
	const struct rules *rules = context;
	const struct rule *rule = &rules->rule[row];

	switch (column) {
	case COLUMN_FILE:
		list_text(value, rule->file);
		break;
	case COLUMN_LINE:
		list_count(value, rule->line);
		break;
	case COLUMN_STATE:
		/* a user or group that is not known yet: the rule matches nothing */
		list_text(value, rule->pending ? "pending" : "used");
		break;
	case COLUMN_PRIORITY:
		list_number(value, rule->priority != KFD_PRIO_UNSET, rule->priority);
		break;
	case COLUMN_PARK:
		text_or_none(value, park_name(rule->park));
		break;
	case COLUMN_MAX:
		list_real(value, rule_limits(rule), rule->max / 100.0);
		break;
	case COLUMN_IS_SOFT:
		value->known = rule_limits(rule);
		value->flag = rule->soft;
		break;
	case COLUMN_WEIGHT:
		list_known_count(value, rule->weight != KFD_PRIO_WEIGHT_NONE, rule->weight);
		break;
	case COLUMN_CGROUP:
		text_or_none(value, rule->cgroup);
		break;
	case COLUMN_UNIT:
		text_or_none(value, rule->unit);
		break;
	case COLUMN_USER:
		text_or_none(value, rule->user);
		break;
	case COLUMN_GROUP:
		text_or_none(value, rule->group);
		break;
	case COLUMN_EXE:
		text_or_none(value, rule->exe);
		break;
	}
}

static int list(struct rules *rules, const struct wish *wish)
{
	const struct list list = { .columns = columns, .nr_columns = NR_COLUMNS, .nr_rows = rules->nr,
				   .value = cell, .context = rules, .choice = &wish->list };

	if (!wish->list.json) {
		list_print(&list);
		return EXIT_SUCCESS;
	}
	json_stdout(JSON_ROWS);
	json_number("version", JSON_FORMAT);
	list_json_columns(&list);
	list_json(&list, "rules");
	json_stdout_end();
	return EXIT_SUCCESS;
}

/**
 * kfdprio_rules() - kfdprio rules
 * @argc: of the arguments, "rules" first
 * @argv: the arguments
 *
 * Return: the exit status.
 */
int kfdprio_rules(int argc, char **argv)
{
	struct wish wish = { 0 };
	struct rules rules = { 0 };
	int status = EXIT_FAILURE;
	char why[KFDLIB_WHY];
	pid_t pid = 0;
	char **file;

	argv[0] = "kfdprio rules";
	options_parse(argc, argv, &wish);
	wish_check(&wish);
	if (!strcmp(wish.verb, "explain") && pid_parse(wish.arguments[0], &pid, why))
		errx(EXIT_USAGE, "%s", why);
	if (*wish.arguments && !pid)
		for (file = wish.arguments; *file; file++)
			rules_load_file(&rules, *file);
	else
		rules_load(&rules);
	if (!strcmp(wish.verb, "check")) {
		status = rules_check(&rules, wish.list.json, wish.verbose);
	} else if (rules.nr_errors) {
		rules_errors_print(&rules);
		warnx("while a file has an error kfdpriod does not take these rules: it keeps those that it has, and does not start with them");
	} else if (pid) {
		status = rules_explain(&rules, pid, wish.list.json, wish.verbose);
	} else {
		status = list(&rules, &wish);
	}
	rules_free(&rules);
	return status;
}
