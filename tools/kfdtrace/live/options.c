// SPDX-License-Identifier: GPL-2.0
/* The options of kfdtrace live. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "kfdtrace.h"
#include "live.h"
#include "message.h"

#define DELAY_MIN     0.1
#define DELAY_MAX     3600
#define DELAY_DEFAULT 2000000000ULL

static void usage(void)
{
	fputs("\n"
	      "Usage:\n"
	      " kfdtrace live [options]\n"
	      "\n"
	      "Show which process has the GPU now, which are preempted, and for which process.\n"
	      "Press h for the keys and q to quit.\n"
	      "\n"
	      "Options:\n"
	      " -d, --delay SECONDS     time between two views (default 2)\n"
	      " -n, --count COUNT       end after this number of views\n"
	      " -b, --batch             print plain text, one view after the other (default without\n"
	      "                         a terminal)\n"
	      "     --once              print one view, as --batch --count 1 does\n"
	      " -J, --json              print a line of JSON for each view\n"
	      " -p, --pid PID           show only this process; may be repeated\n"
	      " -x, --sort COLUMN       PRIORITY (default), PID, MAPPED%, PREEMPTED%, PREEMPTED/S,\n"
	      "                           PREEMPTING/S\n"
	      " -o, --output COLUMNS    in text and JSON, print these columns; +COLUMNS adds columns\n"
	      "     --noheadings        print no header line\n"
	      "     --raw               separate columns by one blank, for scripts\n"
	      " -s, --source SOURCE     events, stats, or auto (default: events if accessible)\n"
	      " -i, --instance NAME     use this trace instance, which root made for you\n"
	      "     --driver WHICH      whose events: kfdprio, upstream (KFD's own, amdkfd_*), stock (kprobes on\n"
	      "                           the distribution's or ROCm's driver), or auto (default auto: the\n"
	      "                           first of them that the loaded driver has)\n"
	      "     --btf FILE          with the stock driver: BTF of its module, where the kernel has none\n"
	      " -h, --help              display this help\n"
	      " -V, --version           display the version of this program\n"
	      "\n"
	      "For more details see kfdtrace(1).\n",
	      stdout);
}

static uint64_t delay_parse(const char *text)
{
	char *end;
	double seconds;

	errno = 0;
	seconds = strtod(text, &end);
	if (errno || end == text || *end || !(seconds >= DELAY_MIN && seconds <= DELAY_MAX))
		usage_error("live", "--delay '%s': not a number of seconds from %g to %d", text,
			    DELAY_MIN, DELAY_MAX);
	return seconds * 1e9;
}

static uint64_t count_parse(const char *text)
{
	unsigned long long count;
	char *end;

	errno = 0;
	count = strtoull(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || !count)
		usage_error("live", "--count '%s': not a number greater than 0", text);
	return count;
}

static enum live_column sort_parse(const char *text)
{
	int found = list_find(live_columns, NR_LIVE_COLUMNS, text, strlen(text)), i;

	for (i = 0; i < NR_LIVE_SORTS; i++)
		if (found == (int)live_sorts[i])
			return found;
	usage_error("live",
		    "--sort '%s': not one of PRIORITY, PID, MAPPED%%, PREEMPTED%%, PREEMPTED/S, PREEMPTING/S",
		    text);
}

static enum live_source source_parse(const char *text)
{
	if (!strcmp(text, "auto"))
		return LIVE_AUTO;
	if (!strcmp(text, "events"))
		return LIVE_EVENTS;
	if (!strcmp(text, "stats"))
		return LIVE_STATS;
	usage_error("live", "--source '%s': not one of events, stats, auto", text);
}

/**
 * live_options_parse() - parse them; does not return if they are wrong
 * @argc: number of @argv
 * @argv: the verb's arguments
 * @options: filled in
 */
void live_options_parse(int argc, char **argv, struct live_options *options)
{
	enum { DRIVER = 256, BTF };
	static const struct option longs[] = {
		{ "delay", required_argument, NULL, 'd' },
		{ "count", required_argument, NULL, 'n' },
		{ "batch", no_argument, NULL, 'b' },
		{ "once", no_argument, NULL, '1' },
		{ "json", no_argument, NULL, 'J' },
		{ "pid", required_argument, NULL, 'p' },
		{ "sort", required_argument, NULL, 'x' },
		{ "output", required_argument, NULL, 'o' },
		{ "noheadings", no_argument, NULL, '2' },
		{ "raw", no_argument, NULL, '3' },
		{ "source", required_argument, NULL, 's' },
		{ "instance", required_argument, NULL, 'i' },
		{ "driver", required_argument, NULL, DRIVER },
		{ "btf", required_argument, NULL, BTF },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	bool once = false;
	char why[KFDLIB_WHY];
	int option;

	*options = (struct live_options){ .delay_ns = DELAY_DEFAULT, .sort = LIVE_PRIORITY };
	while ((option = option_next(argc, argv, "d:n:bJp:x:o:s:i:hV", longs)) != -1) {
		switch (option) {
		case 'd':
			options->delay_ns = delay_parse(optarg);
			break;
		case 'n':
			options->count = count_parse(optarg);
			break;
		case 'b':
			options->batch = true;
			break;
		case '1':
			once = true;
			break;
		case 'J':
			options->list.json = true;
			break;
		case 'p':
			option_pids(&options->pids, optarg);
			break;
		case 'x':
			options->sort = sort_parse(optarg);
			break;
		case 'o':
			options->list.columns = optarg;
			break;
		case '2':
			options->list.noheadings = true;
			break;
		case '3':
			options->list.raw = true;
			break;
		case 's':
			options->source = source_parse(optarg);
			break;
		case 'i':
			options->instance = option_instance("live", optarg);
			break;
		case DRIVER:
			options->driver = record_driver_parse("live", optarg);
			break;
		case BTF:
			options->btf = optarg;
			break;
		case 'h':
			usage();
			exit(stdout_check(EXIT_SUCCESS));
		case 'V':
			option_version();
			break;
		default:
			usage_error("live", NULL);
		}
	}
	if (optind < argc)
		usage_error("live", "live takes no argument: remove '%s'", argv[optind]);
	if (list_check(live_columns, NR_LIVE_COLUMNS, &options->list, why))
		usage_error("live", "%s", why);
	if (once && options->count > 1)
		usage_error("live", "--once and --count: give only one of them");
	if (options->instance && options->source == LIVE_STATS)
		usage_error("live", "--instance needs --source events");
	if ((options->driver == RECORD_STOCK || options->driver == RECORD_UPSTREAM) && options->source == LIVE_STATS)
		usage_error("live", "--driver=%s cannot be combined with --source stats: that driver has no statistics",
			    options->driver == RECORD_STOCK ? "stock" : "upstream");
	if (options->driver == RECORD_STOCK && options->instance)
		usage_error("live", "--driver=stock cannot be combined with --instance: it uses no trace instance");
	if ((options->driver == RECORD_KFDPRIO || options->driver == RECORD_UPSTREAM) && options->btf)
		usage_error("live", "--btf cannot be combined with --driver=%s, which needs none",
			    options->driver == RECORD_KFDPRIO ? "kfdprio" : "upstream");
	if (options->instance)
		options->source = LIVE_EVENTS;
	if (once)
		options->count = 1;
	options->batch |= once || options->list.json || options->list.raw ||
			  options->list.noheadings || options->list.columns;
}
