// SPDX-License-Identifier: GPL-2.0
/* kfdtrace doctor: can record --driver=stock work here? */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kfdtrace.h"
#include "message.h"
#include "stock.h"

static void usage(void)
{
	fputs("\n"
	      "Usage:\n"
	      " kfdtrace doctor [options]\n"
	      "\n"
	      "Report whether 'kfdtrace record --driver=stock' can work here: which functions of the\n"
	      "driver it would probe. Nothing is probed. Such a recording shows which queues are mapped,\n"
	      "not which of them run.\n"
	      "\n"
	      "Options:\n"
	      "     --btf FILE          BTF of the driver's module, where the kernel has none\n"
	      " -h, --help              display this help\n"
	      " -V, --version           display the version of this program\n"
	      "\n"
	      "For more details see kfdtrace(1).\n",
	      stdout);
}

static void print_probe(const struct stock_probe *probe, const struct stock_symbol *symbol)
{
	if (!*symbol->name)
		printf("%-9s %-40s %s\n", probe->optional ? "absent" : "MISSING", *probe->names, probe->what);
	else if (!symbol->address && symbol->same > 1)
		printf("%-9s %-40s %s: %u functions have this name, %s\n", "AMBIGUOUS", symbol->name, probe->what,
		       symbol->same, stock_hidden());
	else
		printf("%-9s %-40s %s\n", "found", symbol->name, probe->what);
}

static void print_check(const char *what, int ret, const char *why)
{
	text_line(stdout, "%-9s %s", ret ? "FAILED" : "ok", ret ? why : what);
}

static int check(const char *btf)
{
	struct stock_symbol symbols[NR_STOCK_PROBES];
	struct stock_types types;
	char why[STOCK_WHY];
	const char *missing = stock_missing();
	int ret, failed;
	size_t i;

	if (missing)
		print_check(NULL, -1, missing);
	/* as record does: the iterator of BPF gives addresses that /proc/kallsyms hides */
	stock_listen();
	ret = stock_ksyms(symbols) ? 0 : stock_symbols_read(symbols, why);
	if (ret) {
		warnx("%s", why);
		return EXIT_FAILURE;
	}
	for (i = 0; i < NR_STOCK_PROBES; i++)
		print_probe(&stock_probes[i], &symbols[i]);
	failed = !stock_found(symbols);
	if (missing)
		return EXIT_FAILURE;
	stock_listen();
	ret = stock_btf(btf, &types, why);
	print_check("BTF of the driver", ret, why);
	failed |= ret;
	if (types.fd >= 0)
		close(types.fd);
	ret = stock_access(why);
	print_check("this process may attach BPF programs", ret, why);
	failed |= ret;
	ret = stock_silent(stock_has_multi(), why);
	print_check("nothing is known that keeps probes from firing", ret, why);
	return failed || ret ? EXIT_FAILURE : EXIT_SUCCESS;
}

/**
 * kfdtrace_doctor() - the verb
 * @argc: number of @argv
 * @argv: options
 *
 * Return: the exit status.
 */
int kfdtrace_doctor(int argc, char **argv)
{
	enum { BTF = 256 };
	static const struct option longs[] = {
		{ "btf", required_argument, NULL, BTF },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	const char *btf = NULL;
	int option;

	while ((option = option_next(argc, argv, "hV", longs)) != -1) {
		switch (option) {
		case BTF:
			btf = optarg;
			break;
		case 'h':
			usage();
			return stdout_check(EXIT_SUCCESS);
		case 'V':
			option_version();
			break;
		default:
			usage_error("doctor", NULL);
		}
	}
	if (optind < argc)
		usage_error("doctor", "unexpected argument '%s'", argv[optind]);
	return stdout_check(check(btf));
}
