// SPDX-License-Identifier: GPL-2.0
/*
 * kfdprio oci-hook: a container gets the priority and the share of GPU time that it asks for, within the limits of the host.
 *
 * The container's runtime calls it at the stage createRuntime, in its own namespaces, while the first
 * process of the container waits.  Whatever is wrong, the container starts: one line says why it has no
 * priority or no share, and the exit status is 0.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "oci-hook.h"
#include "input.h"
#include "message.h"
#include "oci-share.h"

#define SECONDS 5 /* a runtime, or a driver, that takes longer is not waited for */

/**
 * struct hook - a call of the hook
 * @argument: of --priority, or NULL
 * @verbose: of -v
 * @container: what the runtime says
 */
struct hook {
	const char *argument;
	bool verbose;
	struct oci_container container;
};

static void usage(void)
{
	fputs("\n"
	      "Usage:\n"
	      " kfdprio oci-hook [options] <STATE\n"
	      "\n"
	      "A hook for container runtimes (OCI), at the stage createRuntime: give the container\n"
	      "that is being created the priority of its annotation org.kfdprio.priority: low,\n"
	      "normal or high; and the limit of GPU time and the weight of its annotations\n"
	      "org.kfdprio.max and org.kfdprio.weight. The exit status is 0 even if it is refused.\n"
	      "\n"
	      "Options:\n"
	      "     --priority PRIO  for CDI devices: low, normal or high. With an annotation,\n"
	      "                        the lower one of both\n"
	      " -v, --verbose        report the priority that the container is given\n"
	      " -h, --help           display this help\n"
	      " -V, --version        display the version of this program\n"
	      "\n"
	      "For more details see kfdprio-oci-hook(1).\n",
	      stdout);
}

/* One line on standard error, and one in the system's log. */
static __attribute__((format(printf, 3, 4))) void say(const struct hook *hook, int level,
						       const char *format, ...)
{
	char id[4 * OCI_SHOWN + 4], text[KFDLIB_WHY + KFDLIB_NAME], *safe;
	va_list args;

	oci_show(id, hook->container.id ? hook->container.id : "?");
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	safe = text_escape(text, TEXT_ASCII);
	fprintf(stderr, "kfdprio: oci-hook: container %s: %s\n", id, safe ? safe : "out of memory");
	syslog(level, "oci-hook: container %s: %s", id, safe ? safe : "out of memory");
	free(safe);
}

static __attribute__((noreturn)) void too_late(int signal)
{
	static const char text[] = "kfdprio: oci-hook: gave up after 5 s: the container starts without a priority\n";

	(void)signal;
	/* there is nobody to report a failure to */
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(EXIT_SUCCESS);
	_exit(EXIT_SUCCESS);
}

/* Also where a function of the tools ends the program. */
static void end_well(void)
{
	_exit(EXIT_SUCCESS);
}

static void options_parse(int argc, char **argv, struct hook *hook)
{
	enum { PRIORITY = 256 };
	static const struct option options[] = {
		{ "priority", required_argument, NULL, PRIORITY },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	const char *wrong = NULL;
	int option;

	opterr = 0;
	while ((option = option_next(argc, argv, "vhV", options)) != -1) {
		switch (option) {
		case PRIORITY:
			hook->argument = optarg;
			break;
		case 'v':
			hook->verbose = true;
			break;
		case 'h':
			usage();
			exit(stdout_check(EXIT_SUCCESS));
		case 'V':
			puts("kfdprio " KFDPRIO_VERSION);
			exit(stdout_check(EXIT_SUCCESS));
		default:
			wrong = wrong ? wrong : argv[optind - 1];
		}
	}
	if (!wrong && optind < argc)
		wrong = argv[optind];
	if (wrong) {
		say(hook, LOG_WARNING,
		    "wrong usage, '%.128s', no priority is set: see 'kfdprio oci-hook --help' and correct the hook's file, or the CDI device",
		    wrong);
		exit(EXIT_SUCCESS);
	}
}

static int state_read(struct hook *hook, char *why)
{
	char *text;
	size_t size;
	int ret = input_read(STDIN_FILENO, OCI_JSON_MAX, &text, &size);

	/* one that is too large is for the parser to refuse */
	if (ret && ret != -EFBIG)
		snprintf(why, KFDLIB_WHY, "cannot read the state on standard input: %s", strerror(-ret));
	else
		ret = oci_state_parse(text, size, &hook->container, why);
	free(text);
	return ret;
}

/* A FIFO or a device is not waited for. */
static int file_read(const char *path, char **text, size_t *size)
{
	int fd = input_open(path), ret;

	*text = NULL;
	if (fd < 0)
		return fd;
	ret = input_read(fd, OCI_JSON_MAX, text, size);
	close(fd);
	return ret == -EFBIG ? 0 : ret;
}

/* The annotations, for runtimes whose state has none.  A device asks for something without them. */
static int config_read(struct hook *hook, char *why)
{
	char *path, *text;
	size_t size = 0;
	int ret;

	if (!hook->container.bundle || hook->container.annotation || hook->container.asked_max || hook->container.asked_weight)
		return 0;
	if (asprintf(&path, "%s/config.json", hook->container.bundle) < 0) {
		snprintf(why, KFDLIB_WHY, "out of memory");
		return -ENOMEM;
	}
	ret = file_read(path, &text, &size);
	if (!ret)
		ret = oci_config_parse(text, size, &hook->container, why);
	else if (hook->argument)
		ret = 0;
	else
		snprintf(why, KFDLIB_WHY, "cannot read config.json in the bundle: %s",
			 ret == -EINVAL ? "it is not a regular file" : strerror(-ret));
	free(path);
	free(text);
	return ret;
}

static void refusal(const struct hook *hook, int priority, int err)
{
	switch (err) {
	case EPERM:
		say(hook, LOG_WARNING,
		    "priority %d (%s) is refused by the driver: raising, or changing another user's process, needs CAP_SYS_NICE in the initial user namespace, which rootless containers do not have",
		    priority, prio_band(priority));
		break;
	case EEXIST:
		say(hook, LOG_WARNING,
		    "priority %d (%s) is not set: process %d has inherited one that was set by hand",
		    priority, prio_band(priority), hook->container.pid);
		break;
	case ESRCH:
		say(hook, LOG_WARNING, "process %d has ended", hook->container.pid);
		break;
	case EIO:
	case ETIME:
		say(hook, LOG_WARNING,
		    "priority %d (%s) is set, but a GPU did not take it: %s; see 'dmesg'", priority,
		    prio_band(priority), strerror(err));
		break;
	default:
		say(hook, LOG_WARNING, "priority %d (%s) is refused by the driver: %s", priority,
		    prio_band(priority), strerror(err));
	}
}

/*
 * As a rule does, so that the administrator's rules and settings win.  What the process has already,
 * from its parent or from another hook, is lowered and not raised: then the order of hooks does not matter.
 */
static void priority_set(const struct hook *hook, const struct kfd_dev *dev, int priority)
{
	struct kfd_prio_get_args now = { .pid = hook->container.pid };
	struct kfd_prio_set_args set = { .pid = hook->container.pid, .priority = priority,
					 .flags = KFD_PRIO_SET_RULE };
	char why[KFDLIB_WHY];
	int ret;

	if (proc_open(hook->container.pid, &now.pidfd, why)) {
		say(hook, LOG_WARNING, "%s", why);
		return;
	}
	set.pidfd = now.pidfd;
	ret = kfd_dev_get(dev, &now);
	if (!ret && now.priority != KFD_PRIO_UNSET && now.priority < priority) {
		say(hook, LOG_WARNING,
		    "priority %d (%s) is not set: process %d has %d already, which a container may only lower",
		    priority, prio_band(priority), hook->container.pid, now.priority);
	} else if (!ret && now.priority != priority) {
		ret = kfd_dev_set(dev, &set);
	}
	close(now.pidfd);
	if (ret)
		refusal(hook, priority, -ret);
	else if (hook->verbose && (now.priority == KFD_PRIO_UNSET || now.priority >= priority))
		say(hook, LOG_INFO, "process %d: priority %d (%s)", hook->container.pid, priority,
		    prio_band(priority));
}

static void share_set(const struct hook *hook, const struct kfd_dev *dev, const struct rules *rules,
		      const struct share_setting *share)
{
	char why[KFDLIB_WHY], text[SHARE_TEXT];
	uint64_t group;

	share_text(share, text, sizeof(text));
	if (oci_share_set(dev, rules, hook->container.pid, share, &group, why))
		say(hook, LOG_WARNING, "%s is not set: %s", text, why);
	else if (hook->verbose)
		say(hook, LOG_INFO, "%s: group %llu of its cgroup", text, (unsigned long long)group);
}

static bool shares(const struct share_setting *share)
{
	return share->max < KFD_PRIO_MAX_NONE || share->weight != KFD_PRIO_WEIGHT_NONE;
}

/* @priority: KFD_PRIO_UNSET: none is to be set */
static void driver_ask(const struct hook *hook, const struct rules *rules, int priority, const struct share_setting *share)
{
	char why[KFDLIB_WHY], text[SHARE_TEXT];
	struct kfd_dev dev;

	if (kfd_dev_open(&dev, why)) {
		if (priority != KFD_PRIO_UNSET)
			say(hook, LOG_WARNING, "priority %d (%s) is not set: %s", priority, prio_band(priority), why);
		if (shares(share))
			say(hook, LOG_WARNING, "%s is not set: %s", share_text(share, text, sizeof(text)), why);
		return;
	}
	if (shares(share))
		share_set(hook, &dev, rules, share);
	if (priority == KFD_PRIO_UNSET)
		;
	else if (dev.version.features & KFD_PRIO_FEATURE_RULES)
		priority_set(hook, &dev, priority);
	else
		say(hook, LOG_WARNING,
		    "priority %d (%s) is not set: the driver has version %u.%u of the kfdprio interface, and 1.5 is needed: install the driver of kfdprio " KFDPRIO_VERSION ", then reboot or reload amdgpu",
		    priority, prio_band(priority), dev.version.major, dev.version.minor);
	kfd_dev_close(&dev);
}

/**
 * kfdprio_oci_hook() - kfdprio oci-hook
 * @argc: of the arguments, "oci-hook" first
 * @argv: the arguments
 *
 * Return: EXIT_SUCCESS; every refusal is one line, on standard error and in the system's log.
 */
int kfdprio_oci_hook(int argc, char **argv)
{
	struct hook hook = { .argument = NULL };
	const struct oci_container *container = &hook.container;
	struct share_setting share;
	struct rules rules = { 0 };
	char why[KFDLIB_WHY];
	int priority;

	/* what is printable does not depend on the environment that the runtime has */
	setlocale(LC_CTYPE, "C");
	argv[0] = "kfdprio oci-hook";
	openlog("kfdprio", LOG_PID, LOG_DAEMON);
	options_parse(argc, argv, &hook);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGALRM, too_late);
	atexit(end_well);
	alarm(SECONDS);

	if (state_read(&hook, why) || config_read(&hook, why)) {
		say(&hook, LOG_WARNING, "no priority is set: %s", why);
	} else if (hook.argument || container->annotation || container->asked_max || container->asked_weight) {
		rules_load(&rules);
		if (oci_priority_choose(container, hook.argument, &rules, &priority, why)) {
			say(&hook, LOG_WARNING, "no priority is set: %s", why);
			priority = KFD_PRIO_UNSET;
		}
		if (oci_share_choose(container, &rules, &share, why)) {
			say(&hook, LOG_WARNING, "no limit and no weight is set: %s", why);
			share = (struct share_setting){ .max = KFD_PRIO_MAX_NONE };
		}
		/* the container of a pod that only holds its namespaces needs no group */
		if (container->sandbox)
			share = (struct share_setting){ .max = KFD_PRIO_MAX_NONE };
		if (priority != KFD_PRIO_UNSET || shares(&share))
			driver_ask(&hook, &rules, priority, &share);
		rules_free(&rules);
	}
	oci_container_free(&hook.container);
	return EXIT_SUCCESS;
}
