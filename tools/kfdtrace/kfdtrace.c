// SPDX-License-Identifier: GPL-2.0
/*
 * kfdtrace - record and explain what the GPU scheduler did
 *
 * This file: the table of verbs.  Each has a file <verb>.c in the folder of what it does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "kfdtrace.h"
#include "message.h"
#include "stock/stock.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
} verbs[] = {
	{ "record", kfdtrace_record, "record the events of all processes while a command or process runs" },
	{ "report", kfdtrace_report, "summarise a recording: processes, queues, latencies, anomalies" },
	{ "queues", kfdtrace_queues, "print one line per queue" },
	{ "path", kfdtrace_path, "print the steps of each queue through ROCm and the kernel" },
	{ "timeline", kfdtrace_timeline, "write which process had the GPU when, as a page or as JSON" },
	{ "live", kfdtrace_live, "show which process has the GPU now, and which are preempted" },
	{ "compare", kfdtrace_compare,
	  "compare two recordings" },
	{ "doctor", kfdtrace_doctor, "report whether the stock driver can be recorded" },
	{ "btf", kfdtrace_btf, "make the types (BTF) of the stock driver from its source, where the kernel has none" },
};

#define NR_VERBS (sizeof(verbs) / sizeof(*verbs))

static void usage(void)
{
	size_t i;

	fputs("\n"
	      "Usage:\n"
	      " kfdtrace VERB [options]\n"
	      " kfdtrace help [VERB]\n"
	      "\n"
	      "Record and show what the scheduler of AMD GPUs did (KFD, ROCm).\n"
	      "\n"
	      "Verbs (kfdtrace VERB --help for the options of each):\n",
	      stdout);
	for (i = 0; i < NR_VERBS; i++)
		printf(" %-10s %s\n", verbs[i].name, verbs[i].what);
	fputs("\n"
	      "Options:\n"
	      " -h, --help           display this help\n"
	      " -V, --version        display the version of this program\n"
	      "\n"
	      "For more details see kfdtrace(1).\n",
	      stdout);
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : NULL;
	size_t i;

	setlocale(LC_CTYPE, "");
	if (!verb)
		usage_error(NULL, "no verb: give one, such as record or report");
	if (!strcmp(verb, "-h") || !strcmp(verb, "--help")) {
		usage();
		return stdout_check(EXIT_SUCCESS);
	}
	if (!strcmp(verb, "-V") || !strcmp(verb, "--version")) {
		puts("kfdtrace " KFDPRIO_VERSION);
		if (stock_missing())
			puts(stock_missing());
		return stdout_check(EXIT_SUCCESS);
	}
	/* kfdtrace help [VERB] is kfdtrace [VERB] --help */
	if (!strcmp(verb, "help")) {
		static char help[] = "--help";

		if (argc > 3)
			usage_error(NULL, "help takes one argument: remove '%s'", argv[3]);
		if (argc == 2 || !strcmp(argv[2], "-h") || !strcmp(argv[2], "--help")) {
			usage();
			return stdout_check(EXIT_SUCCESS);
		}
		argv[1] = argv[2];
		argv[2] = help;
		verb = argv[1];
	}
	if (*verb == '-')
		usage_error(NULL, "unknown option '%s'", verb);
	for (i = 0; i < NR_VERBS; i++)
		if (!strcmp(verb, verbs[i].name)) {
			/* getopt(3) begins its messages with this. */
			argv[1] = program_invocation_short_name;
			return verbs[i].run(argc - 1, argv + 1);
		}
	usage_error(NULL, "unknown verb '%s'", verb);
}
