// SPDX-License-Identifier: GPL-2.0
/* The options that the verbs share which look at a recording. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kfdtrace.h"
#include "message.h"
#include "options.h"

#define SLOW_MS_DEFAULT 100
#define SLOW_MS_MAX	1000000

/* Letters of options that have none of their own. */
enum {
	NOHEADINGS = '1',
	RAW = '2'
};

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

static bool later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* The directory here whose trace.dat was written last; NULL if there is none. */
static char *newest(void)
{
	struct timespec best = { 0 };
	char *found = NULL, *path;
	struct dirent *entry;
	struct stat status;
	DIR *dir = opendir(".");

	while (dir && (entry = readdir(dir))) {
		if (*entry->d_name == '.' || asprintf(&path, "%s/trace.dat", entry->d_name) < 0)
			continue;
		if (!stat(path, &status) && S_ISREG(status.st_mode) &&
		    (!found || later(&status.st_mtim, &best))) {
			best = status.st_mtim;
			free(found);
			found = strdup(entry->d_name);
		}
		free(path);
	}
	if (dir)
		closedir(dir);
	return found;
}

static void recordings_parse(int argc, char **argv, struct view_options *options)
{
	int given = argc - optind;

	if (given > (options->two ? 2 : 1))
		usage_error(options->verb, "too many arguments: remove '%s'",
			    argv[optind + (options->two ? 2 : 1)]);
	if (options->two && given < 2)
		usage_error(options->verb, "give two recordings to compare");
	options->dir = given ? argv[optind] : newest();
	options->other = options->two ? argv[optind + 1] : NULL;
	if (!options->dir)
		usage_error(options->verb, "no recording in the current directory: give DIR");
	if (!given)
		warnx("reading the newest recording, %s", options->dir);
}

static void log_add(struct view_options *options, const char *name)
{
	options->amd_logs = reallocarray(options->amd_logs, options->nr_amd_logs + 1, sizeof(*options->amd_logs));
	if (!options->amd_logs)
		errx(EXIT_FAILURE, "out of memory");
	options->amd_logs[options->nr_amd_logs++] = name;
}

/**
 * view_options_parse() - parse them; does not return if they are wrong
 * @argc: number of @argv
 * @argv: the verb's arguments
 * @letters: which of the options it has, as for getopt(3)
 * @usage: prints its help
 * @options: filled in but for @verb, @two and @columns
 */
void view_options_parse(int argc, char **argv, const char *letters, void (*usage)(void),
			struct view_options *options)
{
	static const struct option all[] = {
		{ "pid", required_argument, NULL, 'p' },
		{ "json", no_argument, NULL, 'J' },
		{ "csv", no_argument, NULL, 'C' },
		{ "noheadings", no_argument, NULL, NOHEADINGS },
		{ "raw", no_argument, NULL, RAW },
		{ "slow-ms", required_argument, NULL, 's' },
		{ "output", required_argument, NULL, 'o' },
		{ "amd-log", required_argument, NULL, 'l' },
		{ "zero", no_argument, NULL, 'z' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
	};
	struct option longs[sizeof(all) / sizeof(*all) + 1] = { 0 };
	char why[KFDLIB_WHY];
	size_t i, nr = 0;
	int option;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (strchr(letters, all[i].val) ||
		    (options->columns && (all[i].val == NOHEADINGS || all[i].val == RAW)))
			longs[nr++] = all[i];
	options->slow_ns = SLOW_MS_DEFAULT * 1000000ULL;
	while ((option = option_next(argc, argv, letters, longs)) != -1) {
		switch (option) {
		case 'p':
			option_pids(&options->pids, optarg);
			break;
		case 'J':
			options->list.json = true;
			break;
		case 'C':
			options->list.csv = true;
			break;
		case NOHEADINGS:
			options->list.noheadings = true;
			break;
		case RAW:
			options->list.raw = true;
			break;
		case 's':
			options->slow_ns = slow_parse(options->verb, optarg);
			break;
		case 'o':
			if (options->columns)
				options->list.columns = optarg;
			else
				options->output = optarg;
			break;
		case 'l':
			log_add(options, optarg);
			break;
		case 'z':
			options->zero = true;
			break;
		case 'h':
			usage();
			exit(stdout_check(EXIT_SUCCESS));
		case 'V':
			option_version();
			break;
		default:
			usage_error(options->verb, NULL);
		}
	}
	if (options->columns &&
	    list_check(options->columns, options->nr_columns, &options->list, why))
		usage_error(options->verb, "%s", why);
	recordings_parse(argc, argv, options);
}
