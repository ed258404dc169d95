// SPDX-License-Identifier: GPL-2.0
/*
 * kfdpriod - gives processes that use AMD GPUs priorities by rules, kfdprio.conf(5)
 *
 * It looks at a process when that opens /dev/kfd, at all of them when it starts and when rules are
 * read anew, and at orphans every ten seconds.  It keeps no state of processes: when it ends, whatever it has set
 * stays, and processes that come later are as on a host without it.  Which groups of processes are those of which rule
 * it keeps in a file (state.c).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <linux/capability.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "kfdpriod.h"
#include "message.h"

/* The period at which orphans are examined, ms */
#define ORPHANS_MS 10000

static void usage(void)
{
	fputs("\n"
	      "Usage:\n"
	      " kfdpriod [options]\n"
	      "\n"
	      "Give processes that open /dev/kfd the priorities and the shares of GPU time of the\n"
	      "rules in /etc/kfdprio.conf.\n"
	      "SIGHUP: read the rules again.\n"
	      "\n"
	      "Options:\n"
	      " -v, --verbose        report each process that is given a priority or a share\n"
	      " -h, --help           display this help\n"
	      " -V, --version        display the version of this program\n"
	      "\n"
	      "For more details see kfdpriod(8) and kfdprio.conf(5).\n",
	      stdout);
}

static void options_parse(int argc, char **argv, struct service *s)
{
	static const struct option options[] = {
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = option_next(argc, argv, "vhV", options)) != -1) {
		switch (option) {
		case 'v':
			s->verbose = true;
			break;
		case 'h':
			usage();
			exit(stdout_check(EXIT_SUCCESS));
		case 'V':
			puts("kfdpriod " KFDPRIO_VERSION);
			exit(stdout_check(EXIT_SUCCESS));
		default:
			fputs("Try 'kfdpriod --help' for more information.\n", stderr);
			exit(EXIT_USAGE);
		}
	}
	if (optind < argc) {
		warnx("kfdpriod takes no argument");
		fputs("Try 'kfdpriod --help' for more information.\n", stderr);
		exit(EXIT_USAGE);
	}
}

static void errors_log(const struct rules *rules)
{
	const struct rules_error *error;

	for (error = rules->errors; error < rules->errors + rules->nr_errors; error++) {
		if (error->column)
			log_line(LOG_LEVEL_ERROR, "%s:%u:%u: %s", error->file, error->line, error->column, error->why);
		else if (error->line)
			log_line(LOG_LEVEL_ERROR, "%s:%u: %s", error->file, error->line, error->why);
		else
			log_line(LOG_LEVEL_ERROR, "%s: %s", error->file, error->why);
	}
}

/* Without the capability the program of another user's process cannot be seen, nor of one that has more. */
static void exe_check(const struct service *s)
{
	if (s->look & RULES_LOOK_EXE && prctl(PR_CAPBSET_READ, CAP_SYS_PTRACE) != 1)
		log_line(LOG_LEVEL_WARNING,
			 "rules with exe= do not match processes whose program cannot be seen: that needs CAP_SYS_PTRACE; see kfdpriod(8)");
}

/* The rules of the system take the place of those in force, unless they have an error. */
static bool rules_take(struct service *s)
{
	struct rules rules;

	if (rules_load(&rules)) {
		errors_log(&rules);
		rules_free(&rules);
		return false;
	}
	rules_free(&s->rules);
	s->rules = rules;
	s->look = rules_look(&rules);
	log_line(LOG_LEVEL_INFO, "%zu rule%s in %zu file%s", rules.nr, rules.nr == 1 ? "" : "s",
		 rules.nr_files, rules.nr_files == 1 ? "" : "s");
	pending_begin(s);
	exe_check(s);
	return true;
}

/* A group that loses its rule loses its limit after its processes were put in those of other rules. */
static void apply_all(struct service *s)
{
	shares_check(s);
	shares_update(s);
	apply_listed(s);
	shares_release(s);
}

static void reload(struct service *s)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu",
		   now.tv_sec * 1000000ull + now.tv_nsec / 1000);
	if (rules_take(s)) {
		s->refused = s->unbound = false;
		apply_all(s);
	} else {
		log_line(LOG_LEVEL_ERROR, "the rules stay as they were");
	}
	sd_notify(0, "READY=1");
}

static int signals_open(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	fd = sigprocmask(SIG_BLOCK, &set, NULL) ? -1 : signalfd(-1, &set, SFD_CLOEXEC);
	if (fd < 0)
		err(EXIT_FAILURE, "cannot wait for signals");
	return fd;
}

/* Returns the exit status. */
static int serve(struct service *s, int signals)
{
	struct pollfd polls[] = { { .fd = signals, .events = POLLIN },
				  { .fd = s->notify, .events = POLLIN } };
	long long left, names, orphans_at = now_ms() + ORPHANS_MS;
	struct signalfd_siginfo info;
	int ret;

	for (;;) {
		left = orphans_at - now_ms();
		names = pending_left(s);
		if (names >= 0 && names < left)
			left = names;
		if (poll(polls, 2, left > 0 ? left : 0) < 0 && errno != EINTR)
			err(EXIT_FAILURE, "cannot wait");
		if (now_ms() >= orphans_at) {
			apply_orphans(s);
			orphans_at = now_ms() + ORPHANS_MS;
		}
		if (!pending_left(s) && pending_retry(s))
			apply_listed(s);
		if (polls[0].revents) {
			if (read(signals, &info, sizeof(info)) != sizeof(info))
				continue;
			if (info.ssi_signo != SIGHUP)
				return EXIT_SUCCESS;
			reload(s);
		}
		if (!polls[1].revents)
			continue;
		ret = apply_records(s);
		if (ret) {
			log_line(LOG_LEVEL_ERROR, "cannot read notifications any more: %s", strerror(-ret));
			return EXIT_FAILURE;
		}
	}
}

int main(int argc, char **argv)
{
	struct service s = { .notify = -1 };
	char why[KFDLIB_WHY];
	int signals, status;

	setlocale(LC_CTYPE, "");
	/* getopt(3) begins its messages with this, err(3) its own with the short name. */
	argv[0] = program_invocation_short_name;
	options_parse(argc, argv, &s);
	log_begin();
	/* before anything that takes time: a reload that comes early is not lost */
	signals = signals_open();
	if (!rules_take(&s)) {
		log_line(LOG_LEVEL_ERROR, "the rules cannot be used: correct the files; see 'kfdprio rules check'");
		return EXIT_CONFIG;
	}
	if (kfd_dev_open(&s.dev, why)) {
		log_line(LOG_LEVEL_ERROR, "%s", why);
		return EXIT_FAILURE;
	}
	/* this first, then the list: a process that comes in between is in one of them */
	if (kfd_dev_notify(&s.dev, &s.notify, why)) {
		log_line(LOG_LEVEL_ERROR, "%s", why);
		return EXIT_FAILURE;
	}
	shares_begin(&s);
	apply_all(&s);
	sd_notify(0, "READY=1");
	status = serve(&s, signals);
	sd_notify(0, "STOPPING=1");
	close(s.notify);
	kfd_dev_close(&s.dev);
	rules_free(&s.rules);
	groups_free(&s.groups);
	return status;
}
