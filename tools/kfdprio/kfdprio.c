// SPDX-License-Identifier: GPL-2.0
/*
 * kfdprio - show and set the priority of processes on AMD GPUs
 *
 * This file: options in, one verb out.  Everything on the command line is
 * checked before the device is opened, so that a mistake changes nothing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "doctor/doctor.h"
#include "metrics/metrics.h"
#include "oci-hook.h"
#include "rules/verbs.h"
#include "message.h"
#include "share.h"

/* Of the interface, from which on KFD_PRIO_IOC_SET knows of parking */
#define PARK_MINOR 4

static void usage(void)
{
	fputs("\n"
	      "Usage:\n"
	      " kfdprio [options] -p PID...                     show\n"
	      " kfdprio [options] -n PRIO -p PID...             set\n"
	      " kfdprio [options] -n PRIO [--] COMMAND [ARG]... run with a priority\n"
	      " kfdprio [options] -r -p PID...                  remove the priority\n"
	      " kfdprio [options] -r [--] COMMAND [ARG]...      run without a priority\n"
	      " kfdprio [options] -n PRIO --tree -p PID...      set, with all descendants\n"
	      " kfdprio [options] -n PRIO --cgroup PATH         set all of a cgroup\n"
	      " kfdprio [options] -n PRIO --user NAME           set all of a user\n"
	      " kfdprio [options] SHARE [--] COMMAND [ARG]...   run in a new group with a share\n"
	      " kfdprio [options] SHARE -p PID...               set the share of a process's group\n"
	      " kfdprio [options] SHARE --cgroup PATH           set the share of a cgroup\n"
	      " kfdprio [options] SHARE --group N               set the share of a group\n"
	      " kfdprio [options] --group N -p PID...           put into a group\n"
	      " kfdprio [options] --group N [--] COMMAND [ARG]... run in a group\n"
	      " kfdprio [options] -l                            list\n"
	      " kfdprio [options] --groups                      list groups\n"
	      " kfdprio doctor [options]                        examine the driver and the GPUs\n"
	      " kfdprio rules check|list|explain [options]      rules of kfdprio.conf(5)\n"
	      " kfdprio oci-hook [options]                      called by container runtimes\n"
	      " kfdprio metrics [options]                       totals of GPUs, for Prometheus\n"
	      " kfdprio help [doctor|rules|oci-hook|metrics]    display a help text\n"
	      "\n"
	      "Show or set the priority and the share of processes on AMD GPUs (KFD, ROCm).\n"
	      "\n"
	      "Options:\n"
	      " -n, --priority PRIO  0..15, or low (0), normal (7), high (11)\n"
	      "                        15 is the MOST important: the opposite of nice\n"
	      " -p, --pid PID...     act on these running processes\n"
	      "     --tree           with -p: act on all their descendants, too\n"
	      "     --cgroup PATH    act on the processes of a cgroup and of those below it\n"
	      "     --user NAME      act on the processes of a user\n"
	      " -r, --reset          remove the priority: queues return to their own\n"
	      "     --park=never     never remove it from the GPU for having no work\n"
	      "     --park=auto      remove it as the parameter idle_park_ms says (the default)\n"
	      "     --max PERCENT    SHARE: limit of GPU time, 0.01% to 100%, or none\n"
	      "     --max-soft PERCENT  SHARE: limit while another process has work\n"
	      "     --weight WEIGHT  SHARE: proportion of GPU time, 1..10000, or none\n"
	      "     --group N        act on the group with this number\n"
	      "     --root           under sudo, run the command as root, not as the calling user\n"
	      " -l, --list           list the processes that use a GPU\n"
	      "     --groups         list the groups with shares of GPU time\n"
	      " -J, --json           print JSON, with -l, --groups or -p\n"
	      " -o, --output COLUMNS of a list: print these columns; +COLUMNS adds columns\n"
	      "     --noheadings     of a list: print no header line\n"
	      "     --raw            of a list: separate columns by one blank\n"
	      " -v, --verbose        print each change\n"
	      " -h, --help           display this help\n"
	      " -V, --version        display the versions of this program and of the driver\n"
	      "\n"
	      "For more details see kfdprio(1).\n",
	      stdout);
}

static void version(void)
{
	char why[KFDLIB_WHY];
	struct kfd_dev dev;

	printf("kfdprio " KFDPRIO_VERSION " (interface %d.%d)\n", KFD_PRIO_VERSION_MAJOR,
	       KFD_PRIO_VERSION_MINOR);
	/* Not an error: the version of the program was asked for. */
	if (kfd_dev_open(&dev, why)) {
		text_line(stdout, "driver: not available: %s", why);
		return;
	}
	printf("driver: interface %u.%u%s%s%s\n", dev.version.major, dev.version.minor,
	       dev.version.features & KFD_PRIO_FEATURE_INHERIT ? ", children inherit" : "",
	       dev.version.features & KFD_PRIO_FEATURE_PREEMPT ? ", preemption" : "",
	       dev.version.features & KFD_PRIO_FEATURE_SHARES ? ", shares" : "");
	kfd_dev_close(&dev);
}

static __attribute__((noreturn, format(printf, 1, 2))) void usage_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vwarnx(format, args);
	va_end(args);
	fputs("Try 'kfdprio --help' for more information.\n", stderr);
	exit(EXIT_USAGE);
}

static void pid_add(struct kfdprio_request *request, const char *text)
{
	char why[KFDLIB_WHY];

	if (pid_parse(text, &request->pids[request->nr_pids], why))
		errx(EXIT_USAGE, "%s", why);
	request->nr_pids++;
}

static void group_add(struct kfdprio_request *request, enum kfdprio_group group, bool twice)
{
	if (twice)
		usage_error("--%s can be given once only", group == GROUP_USER ? "user" : "cgroup");
	request->group = group;
	request->group_text = optarg;
}

/* @option: --max or --max-soft; the last one of its name counts */
static void max_set(struct kfdprio_share *share, const char *option, bool other, bool soft)
{
	char why[KFDLIB_WHY];

	if (other)
		usage_error("--max and --max-soft: give only one of them");
	if (share_max_parse(optarg, &share->max, why))
		errx(EXIT_USAGE, "%s: %s", option, why);
	share->flags &= ~KFD_PRIO_SHARE_SOFT;
	share->flags |= KFD_PRIO_SHARE_MAX;
	/* no limit holds whoever has work */
	if (soft && share->max != KFD_PRIO_MAX_NONE)
		share->flags |= KFD_PRIO_SHARE_SOFT;
}

/* Whether the group is there; does not return if not. */
static void group_find(struct kfdprio_request *request)
{
	char why[KFDLIB_WHY];
	int ret = 0;

	if (request->group == GROUP_USER)
		ret = user_find(request->group_text, &request->uid, why);
	else if (request->group == GROUP_CGROUP)
		ret = cgroup_check(request->group_text, request->cgroup, sizeof(request->cgroup), why);
	if (ret)
		errx(EXIT_FAILURE, "%s", why);
}

/**
 * struct choice - which options were given
 * @set: -n
 * @reset: -r
 * @list: -l
 * @pid: -p
 * @tree: --tree
 * @cgroup: --cgroup
 * @user: --user
 * @columns: -o, --noheadings or --raw
 * @park: --park
 * @max: --max
 * @soft: --max-soft
 * @weight: --weight
 * @group: --group
 * @groups: --groups
 */
struct choice {
	bool set, reset, list, pid, tree, cgroup, user, columns, park, max, soft, weight, group, groups;
};

/* Options of groups; does not return if they make no sense together. */
static void choice_check_shares(const struct choice *choice, const struct kfdprio_request *request)
{
	if (choice->tree || choice->user)
		usage_error("--max, --max-soft, --weight and --group cannot be combined with --tree or --user: a group has the processes that are put into it with -p PID, and their later children");
	if (choice->group && choice->cgroup)
		usage_error("--group and --cgroup each name a group: give only one of them");
	if (choice->pid || choice->cgroup || *request->command)
		return;
	if (!choice->group)
		usage_error("%s needs -p PID, --cgroup PATH, --group N or a command to run",
			    choice->max ? "--max" : choice->soft ? "--max-soft" : "--weight");
	if (request->sets)
		usage_error("%s needs -p PID or a command to run: --group names no processes",
			    choice->set ? "-n" : choice->reset ? "-r" : "--park");
	if (!request->share.flags)
		usage_error("--group needs --max, --max-soft, --weight, -p PID or a command to run; 'kfdprio --groups' prints the groups");
}

/* Whether the options make sense together; does not return if not. */
static void choice_check(const struct choice *choice, const struct kfdprio_request *request)
{
	bool change = request->sets || request->shares;
	bool group = choice->tree || choice->cgroup || choice->user;
	bool list = choice->list || choice->groups;

	if (choice->set && choice->reset)
		usage_error("-n sets a priority and -r removes it: give only one of them");
	if (choice->cgroup + choice->user + choice->pid > 1)
		usage_error("-p, --cgroup and --user each name processes: give only one of them");
	if (choice->tree && !choice->pid)
		usage_error("--tree needs -p PID");
	if (choice->list && choice->groups)
		usage_error("-l and --groups are two lists: give only one of them");
	if (group && choice->park)
		usage_error("--park cannot be combined with --tree, --cgroup or --user");
	if (group && !change)
		usage_error("--tree, --cgroup and --user need -n PRIO or -r; --cgroup can have --max, --max-soft or --weight instead");
	if (group && *request->command)
		usage_error("--cgroup and --user cannot be combined with a command: remove '%s'",
			    *request->command);
	if (list && (change || choice->pid))
		usage_error("%s cannot be combined with -n, -r, --park, --max, --max-soft, --weight, --group or -p",
			    choice->list ? "-l" : "--groups");
	if (list && *request->command)
		usage_error("%s takes no argument: remove '%s'", choice->list ? "-l" : "--groups", *request->command);
	if (request->root && (!change || !*request->command))
		usage_error("--root needs a command to run");
	if (choice->columns && !list)
		usage_error("--output, --noheadings and --raw need -l or --groups");
	if (request->list.json && change)
		usage_error("--json needs -l, --groups or -p PID, and cannot be combined with a change");
	if (request->shares)
		choice_check_shares(choice, request);
	if (request->sets && !choice->pid && !group && !*request->command)
		usage_error("%s needs -p PID%s or a command to run",
			    choice->set ? "-n" : choice->reset ? "-r" : "--park",
			    choice->set || choice->reset ? ", --cgroup PATH, --user NAME" : "");
	if (!change && !list && !choice->pid && *request->command)
		usage_error("'%s' is a command to run, which needs -n PRIO, -r, --park, --max, --max-soft, --weight or --group; to show a process, use -p PID",
			    *request->command);
	if (!change && !list && !choice->pid)
		usage_error("nothing to do: give -p PID, -l or --groups, or a change: -n PRIO, -r, --park, --max, --max-soft, --weight or --group");
}

static void options_parse(int argc, char **argv, struct choice *choice, struct kfdprio_request *request)
{
	enum { NOHEADINGS = 256, RAW, TREE, CGROUP, USER, PARK, ROOT, MAX, MAX_SOFT, WEIGHT, GROUP, GROUPS };
	static const struct option options[] = {
		{ "priority", required_argument, NULL, 'n' },
		{ "pid", required_argument, NULL, 'p' },
		{ "tree", no_argument, NULL, TREE },
		{ "cgroup", required_argument, NULL, CGROUP },
		{ "user", required_argument, NULL, USER },
		{ "reset", no_argument, NULL, 'r' },
		{ "park", required_argument, NULL, PARK },
		{ "max", required_argument, NULL, MAX },
		{ "max-soft", required_argument, NULL, MAX_SOFT },
		{ "weight", required_argument, NULL, WEIGHT },
		{ "group", required_argument, NULL, GROUP },
		{ "groups", no_argument, NULL, GROUPS },
		{ "root", no_argument, NULL, ROOT },
		{ "list", no_argument, NULL, 'l' },
		{ "json", no_argument, NULL, 'J' },
		{ "output", required_argument, NULL, 'o' },
		{ "noheadings", no_argument, NULL, NOHEADINGS },
		{ "raw", no_argument, NULL, RAW },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	char why[KFDLIB_WHY];

	for (;;) {
		int option = option_next(argc, argv, "+n:p:rlJo:vhV", options);
		switch (option) {
		case 'n':
			if (prio_parse(optarg, &request->priority, why))
				errx(EXIT_USAGE, "%s", why);
			choice->set = true;
			break;
		case 'p':
			pid_add(request, optarg);
			choice->pid = true;
			break;
		case TREE:
			choice->tree = true;
			request->group = GROUP_TREE;
			break;
		case CGROUP:
			group_add(request, GROUP_CGROUP, choice->cgroup);
			choice->cgroup = true;
			break;
		case USER:
			group_add(request, GROUP_USER, choice->user);
			choice->user = true;
			break;
		case 'r':
			request->priority = KFD_PRIO_UNSET;
			choice->reset = true;
			break;
		case PARK:
			if (park_parse(optarg, &request->flags))
				usage_error("--park is never or auto, not '%s'", optarg);
			choice->park = true;
			break;
		case MAX:
			max_set(&request->share, "--max", choice->soft, false);
			choice->max = true;
			break;
		case MAX_SOFT:
			max_set(&request->share, "--max-soft", choice->max, true);
			choice->soft = true;
			break;
		case WEIGHT:
			if (share_weight_parse(optarg, &request->share.weight, why))
				errx(EXIT_USAGE, "--weight: %s", why);
			request->share.flags |= KFD_PRIO_SHARE_WEIGHT;
			choice->weight = true;
			break;
		case GROUP:
			if (share_group_parse(optarg, &request->share.group, why))
				errx(EXIT_USAGE, "--group: %s", why);
			choice->group = true;
			break;
		case GROUPS:
			choice->groups = true;
			break;
		case ROOT:
			request->root = true;
			break;
		case 'l':
			choice->list = true;
			break;
		case 'J':
			request->list.json = true;
			break;
		case 'o':
			request->list.columns = optarg;
			choice->columns = true;
			break;
		case NOHEADINGS:
			request->list.noheadings = choice->columns = true;
			break;
		case RAW:
			request->list.raw = choice->columns = true;
			break;
		case 'v':
			request->verbose = true;
			break;
		case 'h':
			usage();
			exit(stdout_check(EXIT_SUCCESS));
		case 'V':
			version();
			exit(stdout_check(EXIT_SUCCESS));
		case -1:
			/* After -p what follows are PIDs, with options in between. */
			if (!choice->pid || optind >= argc || !strcmp(argv[optind - 1], "--"))
				return;
			pid_add(request, argv[optind++]);
			break;
		default:
			fputs("Try 'kfdprio --help' for more information.\n", stderr);
			exit(EXIT_USAGE);
		}
	}
}

/* Of processes that exist.  What could not be put into its group keeps its priority, too. */
static int change(const struct kfd_dev *dev, struct kfdprio_request *request)
{
	int status = EXIT_SUCCESS;

	if (request->shares)
		status = kfdprio_share(dev, request);
	if (!request->sets)
		return status;
	if (request->group == GROUP_CGROUP && status)
		return status;
	if (request->group != GROUP_NONE)
		return kfdprio_set_group(dev, request);
	return kfdprio_set(dev, request) ? EXIT_FAILURE : status;
}

int main(int argc, char **argv)
{
	struct kfdprio_request request = { .priority = KFD_PRIO_UNSET };
	struct choice choice = { 0 };
	char why[KFDLIB_WHY];
	struct kfd_dev dev;
	int status, failure;

	setlocale(LC_CTYPE, "");
	/* getopt(3) begins its messages with this, err(3) its own with the short name. */
	argv[0] = program_invocation_short_name;
	/* kfdprio help [VERB] is kfdprio [VERB] --help */
	if (argc > 1 && !strcmp(argv[1], "help")) {
		static char help[] = "--help";

		if (argc > 3)
			usage_error("help: one verb at most, '%s' is too many", argv[3]);
		if (argc == 3 && strcmp(argv[2], "doctor") && strcmp(argv[2], "rules") &&
		    strcmp(argv[2], "oci-hook") && strcmp(argv[2], "metrics"))
			usage_error("help: unknown verb '%s'", argv[2]);
		argv[1] = argc == 3 ? argv[2] : help;
		argv[2] = argc == 3 ? help : NULL;
	}
	if (argc > 1 && !strcmp(argv[1], "doctor"))
		return stdout_check(kfdprio_doctor(argc - 1, argv + 1));
	if (argc > 1 && !strcmp(argv[1], "rules"))
		return stdout_check(kfdprio_rules(argc - 1, argv + 1));
	if (argc > 1 && !strcmp(argv[1], "oci-hook"))
		return stdout_check(kfdprio_oci_hook(argc - 1, argv + 1));
	if (argc > 1 && !strcmp(argv[1], "metrics"))
		return stdout_check(kfdprio_metrics(argc - 1, argv + 1));
	request.pids = calloc(argc, sizeof(*request.pids));
	if (!request.pids)
		err(EXIT_FAILURE, "cannot start");

	options_parse(argc, argv, &choice, &request);
	if (choice.pid)
		while (optind < argc)
			pid_add(&request, argv[optind++]);
	request.command = argv + optind;
	request.sets = choice.set || choice.reset || choice.park;
	request.shares = request.share.flags || request.share.group;
	choice_check(&choice, &request);
	group_find(&request);
	if (choice.groups ? kfdprio_groups_check(&request.list, why) : kfdprio_list_check(&request.list, why))
		usage_error("%s", why);

	failure = *request.command ? EXIT_OWN : EXIT_FAILURE;
	if (kfd_dev_open(&dev, why))
		errx(failure, "%s", why);
	if (choice.park && !choice.set && !choice.reset)
		request.flags |= KFD_PRIO_SET_KEEP;
	if (choice.park && dev.version.minor < PARK_MINOR)
		errx(failure,
		     "the loaded driver cannot park processes (interface %u.%u, needed is 1.%d): load the amdgpu of this kfdprio",
		     dev.version.major, dev.version.minor, PARK_MINOR);
	if ((request.shares || choice.groups) && !kfd_dev_has_shares(&dev, why))
		errx(failure, "%s", why);
	if (choice.groups)
		status = kfdprio_groups(&dev, &request);
	else if (choice.list)
		status = kfdprio_list(&dev, &request);
	else if (*request.command)
		status = kfdprio_run(&dev, &request);
	else if (request.sets || request.shares)
		status = change(&dev, &request);
	else
		status = kfdprio_show(&dev, &request);
	kfd_dev_close(&dev);
	free(request.pids);
	return stdout_check(status);
}
