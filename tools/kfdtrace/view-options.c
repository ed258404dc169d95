// SPDX-License-Identifier: GPL-2.0
/* The options that the verbs share which look at a recording. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "kfdtrace.h"
#include "view-options.h"

#define SLOW_MS_DEFAULT 100
#define SLOW_MS_MAX	1000000

static uint64_t slow_parse(const char *verb, const char *text)
{
	char *end;
	double ms;

	errno = 0;
	ms = strtod(text, &end);
	if (errno || end == text || *end || !(ms >= 0 && ms <= SLOW_MS_MAX))
		usage_error(verb, "--slow-ms '%s': not a number from 0 to %d", text, SLOW_MS_MAX);
	return ms * 1000000;
}

/**
 * view_options_parse() - parse them; does not return if they are wrong
 * @argc: number of @argv
 * @argv: the verb's arguments
 * @letters: which of the options it has, as for getopt(3)
 * @usage: prints its help
 * @options: filled in but for @verb and @two
 */
void view_options_parse(int argc, char **argv, const char *letters, void (*usage)(void),
			struct view_options *options)
{
	static const struct option all[] = {
		{ "pid", required_argument, NULL, 'p' },
		{ "json", no_argument, NULL, 'J' },
		{ "csv", no_argument, NULL, 'C' },
		{ "slow-ms", required_argument, NULL, 's' },
		{ "output", required_argument, NULL, 'o' },
		{ "amd-log", required_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
	};
	struct option longs[sizeof(all) / sizeof(*all) + 1] = { 0 };
	size_t i, nr = 0;
	int option, wanted;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (strchr(letters, all[i].val))
			longs[nr++] = all[i];
	options->slow_ns = SLOW_MS_DEFAULT * 1000000ULL;
	while ((option = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		switch (option) {
		case 'p':
			options->pid = option_pid(optarg);
			break;
		case 'J':
			options->json = true;
			break;
		case 'C':
			options->csv = true;
			break;
		case 's':
			options->slow_ns = slow_parse(options->verb, optarg);
			break;
		case 'o':
			options->output = optarg;
			break;
		case 'l':
			options->amd_log = optarg;
			break;
		case 'h':
			usage();
			exit(stdout_check(EXIT_SUCCESS));
		default:
			usage_error(options->verb, NULL);
		}
	}
	if (options->json && options->csv)
		usage_error(options->verb, "--json and --csv: give only one of them");
	wanted = options->two ? 2 : 1;
	if (optind + wanted > argc)
		usage_error(options->verb, "which recording%s",
			    options->two ? "s? two are compared" : "? its directory is missing");
	if (optind + wanted < argc)
		usage_error(options->verb, "'%s' is one argument too many", argv[optind + wanted]);
	options->dir = argv[optind];
	options->other = options->two ? argv[optind + 1] : NULL;
}
