// SPDX-License-Identifier: GPL-2.0
/* The options of kfdtrace record. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "kfdtrace.h"
#include "message.h"
#include "record.h"

#define AMD_LOG_LEVEL_DEFAULT 4 /* what all of ROCm's releases know; shows commands and queues */
#define MAX_BUFFER_KB	      (64UL << 20)

static void usage(void)
{
	fputs("\n"
	      "Usage:\n"
	      " kfdtrace record [options] [--] COMMAND [ARG]...   until the command ends\n"
	      " kfdtrace record [options] -p PID [-p PID]...      until the processes end, or Ctrl-C\n"
	      " kfdtrace record [options]                         until Ctrl-C\n"
	      "\n"
	      "Record the kfd trace events of all processes into a directory. A stock driver shows which\n"
	      "queues are mapped, not which of them run; --mqd samples when they had work.\n"
	      "\n"
	      "Options:\n"
	      " -o, --output DIR        a new directory (default kfdtrace-DATE-TIME)\n"
	      " -e, --event EVENTS      kfd, amdgpu, drm_sched, any SYSTEM or SYSTEM:EVENT; a list,\n"
	      "                           or repeated (default kfd)\n"
	      " -b, --buffer-size SIZE  buffer of each CPU, such as 512K (default 8M, or less)\n"
	      "     --max-size SIZE     end when this size was recorded, such as 100M or 2G\n"
	      "     --loop              keep only the last events, as many as the buffers have room\n"
	      "                           for; SIGUSR1 ends the recording\n"
	      "     --slow-preemption-ms MS  with --loop: end when a preemption took longer\n"
	      " -i, --instance NAME     use this trace instance, which root made for you\n"
	      " -p, --pid PID           record until this process ends; may be repeated\n"
	      "     --amd-log[=LEVEL]   write ROCm's log of the command (default level 4)\n"
	      "     --driver WHICH      whose events: kfdprio, upstream (KFD's own, amdkfd_*), stock (kprobes on\n"
	      "                           the distribution's or ROCm's driver), or auto (default auto: the\n"
	      "                           first of them that the loaded driver has)\n"
	      "     --btf FILE          with the stock driver: BTF of its module, where the kernel has none\n"
	      "     --mqd[=MS]          read how long saves and restores of waves (CWSR) took, and whether\n"
	      "                           queues have work, as their processes claim, every MS\n"
	      "                           milliseconds (default 200)\n"
	      "     --root              under sudo, run the command as root, not as the calling user\n"
	      "     --share             let all users read the recording (default: its owner only)\n"
	      " -q, --quiet             do not print a summary; lost events are still reported\n"
	      " -h, --help              display this help\n"
	      " -V, --version           display the version of this program\n"
	      "\n"
	      "For more details see kfdtrace(1).\n",
	      stdout);
}

static void events_add(struct record_options *options, size_t *nr, char *list)
{
	char *word, *rest = NULL;

	/* only --amd-log may have no argument: NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
	if (!*list || strspn(list, ","))
		usage_error("record", "--event '%s': not a name of an event", list);
	for (word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		if (strchr(word, '/') || *word == '.' || strlen(word) > 100)
			usage_error("record", "--event '%s': not SYSTEM or SYSTEM:EVENT", word);
		/* the module drm_sched calls its system so */
		if (!strcmp(word, "drm_sched"))
			word = "gpu_scheduler";
		options->events = reallocarray(options->events, *nr + 2, sizeof(char *));
		if (!options->events)
			errx(EXIT_OWN, "out of memory");
		options->events[(*nr)++] = word;
		options->events[*nr] = NULL;
	}
}

static unsigned long size_parse(const char *what, const char *text)
{
	unsigned long long number;
	unsigned long kb = 0;
	char *end;

	errno = 0;
	/* likewise: NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker) */
	number = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || errno || number > MAX_BUFFER_KB)
		end = "?";
	if (!strcmp(end, "") || !strcmp(end, "K") || !strcmp(end, "k"))
		kb = number;
	else if (!strcmp(end, "M") || !strcmp(end, "m"))
		kb = number << 10;
	else if (!strcmp(end, "G") || !strcmp(end, "g"))
		kb = number << 20;
	if (!kb || kb > MAX_BUFFER_KB)
		usage_error("record", "%s '%s': not a size such as 512K or 8M, up to 64G", what, text);
	return kb;
}

static uint64_t slow_parse(const char *text)
{
	char *end;
	double ms;

	errno = 0;
	ms = strtod(text, &end);
	if (errno || end == text || *end || !(ms >= 0.001 && ms <= 1000000))
		usage_error("record", "--slow-preemption-ms '%s': not a number from 0.001 to 1000000", text);
	return ms * 1000000;
}

static uint64_t mqd_parse(const char *text)
{
	unsigned long ms;
	char *end;

	errno = 0;
	ms = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || ms < 10 || ms > 60000)
		usage_error("record", "--mqd '%s': not a number of milliseconds from 10 to 60000", text);
	return ms * 1000000ULL;
}

/**
 * record_driver_parse() - the argument of --driver; does not return if it is wrong
 * @verb: the calling verb, for messages
 * @text: the argument
 *
 * Return: whose events.
 */
enum record_driver record_driver_parse(const char *verb, const char *text)
{
	static const char *const names[] = {
		[RECORD_AUTO] = "auto", [RECORD_KFDPRIO] = "kfdprio", [RECORD_UPSTREAM] = "upstream", [RECORD_STOCK] = "stock",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(text, names[i]))
			return i;
	usage_error(verb, "--driver '%s': not auto, kfdprio, upstream or stock", text);
}

/* Of probes there are the kfd events alone, and one ring buffer that is not overwritten. */
static void stock_check(const struct record_options *options)
{
	if ((options->driver == RECORD_KFDPRIO || options->driver == RECORD_UPSTREAM) && options->btf)
		usage_error("record", "--btf cannot be combined with --driver=%s, which needs none",
			    options->driver == RECORD_KFDPRIO ? "kfdprio" : "upstream");
	if (options->driver == RECORD_UPSTREAM && options->slow_ns)
		usage_error("record", "--driver=upstream cannot be combined with --slow-preemption-ms: that driver preempts no processes");
	if (options->driver != RECORD_STOCK)
		return;
	if (options->loop)
		usage_error("record", "--driver=stock cannot be combined with --loop");
	if (options->instance)
		usage_error("record", "--driver=stock cannot be combined with --instance: it uses no trace instance");
	if (options->events && (strcmp(options->events[0], "kfd") || options->events[1]))
		usage_error("record", "--driver=stock records the events of kfd, all of them: remove --event");
}

/**
 * record_options_parse() - parse them; does not return if they are wrong
 * @argc: number of @argv
 * @argv: the verb's arguments
 * @options: all zero but for its verb and prefix; filled in
 */
void record_options_parse(int argc, char **argv, struct record_options *options)
{
	enum { MAX_SIZE = 256, LOOP, SLOW, ROOT, DRIVER, BTF, MQD, SHARE };
	static const struct option longs[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "event", required_argument, NULL, 'e' },
		{ "buffer-size", required_argument, NULL, 'b' },
		{ "max-size", required_argument, NULL, MAX_SIZE },
		{ "loop", no_argument, NULL, LOOP },
		{ "slow-preemption-ms", required_argument, NULL, SLOW },
		{ "instance", required_argument, NULL, 'i' },
		{ "pid", required_argument, NULL, 'p' },
		{ "amd-log", optional_argument, NULL, 'a' },
		{ "driver", required_argument, NULL, DRIVER },
		{ "btf", required_argument, NULL, BTF },
		{ "mqd", optional_argument, NULL, MQD },
		{ "root", no_argument, NULL, ROOT },
		{ "share", no_argument, NULL, SHARE },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	static char *kfd_alone[] = { "kfd", NULL };
	size_t nr_events = 0;
	int option;

	while ((option = option_next(argc, argv, "+o:e:b:i:p:qhV", longs)) != -1) {
		switch (option) {
		case 'o':
			/* likewise: NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
			if (!*optarg)
				usage_error("record", "--output: the name is empty");
			if (!strcmp(optarg, "-"))
				usage_error("record", "--output -: a recording is a directory; give the name of a new directory");
			options->dir = optarg;
			break;
		case 'e':
			events_add(options, &nr_events, optarg);
			break;
		case 'b':
			options->buffer_kb = size_parse("--buffer-size", optarg);
			break;
		case 'i':
			options->instance = option_instance("record", optarg);
			break;
		case MAX_SIZE:
			options->max_bytes = size_parse("--max-size", optarg) * 1024ULL;
			break;
		case LOOP:
			options->loop = true;
			break;
		case SLOW:
			options->slow_ns = slow_parse(optarg);
			break;
		case 'p':
			option_pids(&options->pids, optarg);
			break;
		case 'a':
			options->amd_log = AMD_LOG_LEVEL_DEFAULT;
			if (optarg) {
				if (strlen(optarg) != 1 || *optarg < '1' || *optarg > '7')
					usage_error("record",
						    "--amd-log '%s': not a level from 1 to 7", optarg);
				options->amd_log = *optarg - '0';
			}
			break;
		case DRIVER:
			options->driver = record_driver_parse("record", optarg);
			break;
		case BTF:
			options->btf = optarg;
			break;
		case MQD:
			options->mqd_ns = mqd_parse(optarg ? optarg : "200");
			break;
		case ROOT:
			options->root = true;
			break;
		case SHARE:
			options->share = true;
			break;
		case 'q':
			options->quiet = true;
			break;
		case 'h':
			usage();
			exit(stdout_check(EXIT_SUCCESS));
		case 'V':
			option_version();
			break;
		default:
			usage_error("record", NULL);
		}
	}
	if (optind < argc)
		options->command = argv + optind;
	if (options->command && options->pids.nr)
		usage_error("record", "-p %d and a command ('%s'): give only one of them",
			    options->pids.pid[0], *options->command);
	if (options->slow_ns && !options->loop)
		usage_error("record", "--slow-preemption-ms needs --loop");
	if (options->loop && options->max_bytes)
		usage_error("record", "--loop cannot be combined with --max-size: use --buffer-size");
	if (options->amd_log && !options->command)
		usage_error("record",
			    "--amd-log needs a command: the log of a running process cannot be switched on");
	stock_check(options);
	if (!options->events)
		options->events = kfd_alone;
}
