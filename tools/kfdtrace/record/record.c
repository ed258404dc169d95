// SPDX-License-Identifier: GPL-2.0
/* kfdtrace record */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kfdlib.h"
#include "kfdtrace.h"
#include "message.h"
#include "record.h"
#include "stock/stock.h"

#define SCAN_MS	    200	 /* the interval of reading the list of KFD processes */
#define TEARDOWN_MS 5000 /* for what KFD does after the end of the command, or of a process */
#define ENDING_MS   10	 /* the interval of looking whether it has */

static void child_reap(struct recording *rec, int flags)
{
	int status;

	if (rec->child && rec->child_status < 0 && waitpid(rec->child, &status, flags) == rec->child)
		rec->child_status = status;
}

/* A key on the terminal reaches the command itself; what was sent to us alone is passed on. */
static bool stop_asked(struct recording *rec, int signal_fd, int *times)
{
	struct signalfd_siginfo info;

	if (read(signal_fd, &info, sizeof(info)) != sizeof(info))
		return false;
	if (info.ssi_signo == SIGCHLD) {
		child_reap(rec, WNOHANG);
		return false;
	}
	/* the command has ended already */
	if (rec->child && rec->child_status >= 0)
		return true;
	rec->ended_by = RECORD_END_SIGNAL;
	if (info.ssi_signo == SIGUSR1)
		return true;
	if (!rec->child || ++*times > 1) {
		rec->abandoned = true;
		return true;
	}
	if (info.ssi_code != SI_KERNEL)
		kill(rec->child, info.ssi_signo);
	return false;
}

/* What is looked at without an event that says so */
static int wait_ms(const struct record_options *options, bool ending)
{
	uint64_t mqd_ms = options->mqd_ns / 1000000;

	if (ending)
		return ENDING_MS;
	return mqd_ms && mqd_ms < SCAN_MS ? (int)mqd_ms : SCAN_MS;
}

/* The command, or all processes of --pid, have ended; what KFD does then is recorded, too. */
static bool ending(struct recording *rec, int left, uint64_t *until)
{
	if (rec->child && rec->child_status >= 0)
		rec->ended_by = RECORD_END_COMMAND;
	else if (rec->options->pids.nr && !left)
		rec->ended_by = RECORD_END_PROCESS;
	else
		return false;
	if (!*until)
		*until = record_now() + TEARDOWN_MS * 1000000ULL;
	return true;
}

/* Until the command or the process ends, or a signal ends the recording. */
static int loop(struct recording *rec, int signal_fd, const int *pidfds)
{
	int nr_pids = rec->options->pids.nr, left = nr_pids, i;
	int nr = rec->nr_cpus + 1 + nr_pids, cpu, times = 0, ret = 0;
	struct pollfd *fds = calloc(nr, sizeof(*fds));
	uint64_t scanned = 0, until = 0, now;
	char why[RECORD_WHY];

	if (!fds)
		return -ENOMEM;
	for (cpu = 0; cpu < rec->nr_cpus; cpu++)
		/* in a loop, nothing is read until the end */
		fds[cpu] = (struct pollfd){ .fd = rec->options->loop ? -1 : rec->raw_fds[cpu],
					    .events = POLLIN };
	fds[rec->nr_cpus] = (struct pollfd){ .fd = signal_fd, .events = POLLIN };
	for (i = 0; i < nr_pids; i++)
		fds[rec->nr_cpus + 1 + i] = (struct pollfd){ .fd = pidfds[i], .events = POLLIN };
	for (;;) {
		if (poll(fds, nr, wait_ms(rec->options, until)) < 0 && errno != EINTR) {
			ret = -errno;
			warn("cannot wait");
			break;
		}
		for (cpu = 0; cpu < rec->nr_cpus && !ret; cpu++)
			if (fds[cpu].revents & POLLIN || rec->stock)
				ret = record_drain(rec, cpu, why);
		if (ret) {
			warnx("%s", why);
			break;
		}
		if (fds[rec->nr_cpus].revents && stop_asked(rec, signal_fd, &times))
			break;
		for (i = rec->nr_cpus + 1; i < nr; i++)
			if (fds[i].revents) {
				/* poll(2) leaves it out from now on */
				fds[i].fd = -1;
				left--;
			}
		now = record_now();
		if (ending(rec, left, &until) && (teardown_done(rec) || now >= until)) {
			teardown_tell(rec);
			break;
		}
		if (rec->full) {
			rec->ended_by = RECORD_END_SIZE;
			break;
		}
		if (record_over(rec))
			break;
		mqd_sample(rec, false);
		if (now - scanned >= SCAN_MS * 1000000ULL) {
			processes_scan(rec);
			if (rec->child)
				process_see(rec, rec->child);
			watch_scan(rec);
			scanned = now;
		}
	}
	free(fds);
	return ret;
}

static void tell(const struct recording *rec)
{
	static const char *const reasons[] = {
		[RECORD_END_SIGNAL] = "", [RECORD_END_COMMAND] = "", [RECORD_END_PROCESS] = "",
		[RECORD_END_SIZE] = "; --max-size was reached",
		[RECORD_END_PREEMPTION] = "; a preemption took longer than --slow-preemption-ms",
		[RECORD_END_UNLOADED] = "; the driver was unloaded, and the probes with it",
	};
	uint64_t entries = 0, lost = 0;
	int cpu;

	for (cpu = 0; cpu < rec->nr_cpus; cpu++) {
		if (rec->entries[cpu] != RECORD_UNKNOWN)
			entries += rec->entries[cpu];
		if (rec->lost[cpu] != RECORD_UNKNOWN)
			lost += rec->lost[cpu];
		else
			warnx("how many events CPU %d lost is not known: its statistics cannot be read", cpu);
	}
	if (!rec->options->quiet)
		warnx("recorded %s%" PRIu64 " events in %.3f s, into %s%s",
		      rec->options->loop ? "the last " : "", entries,
		      (rec->end_ns - rec->start_ns) / 1e9, rec->options->dir, reasons[rec->ended_by]);
	if (rec->stock)
		stock_warn(rec->stock);
	if (!lost)
		return;
	warnx("LOST %" PRIu64
	      " EVENTS: this recording has gaps. Record again with a --buffer-size larger than %luK.",
	      lost, rec->buffer_kb);
	for (cpu = 0; cpu < rec->nr_cpus; cpu++)
		if (rec->lost[cpu] && rec->lost[cpu] != RECORD_UNKNOWN)
			warnx("  CPU %d lost %" PRIu64, cpu, rec->lost[cpu]);
}

static int pids_open(const struct pids *pids, int **pidfds)
{
	char why[KFDLIB_WHY];
	size_t i;
	int ret;

	*pidfds = calloc(pids->nr + 1, sizeof(**pidfds));
	if (!*pidfds) {
		warnx("out of memory");
		return -ENOMEM;
	}
	for (i = 0; i < pids->nr; i++) {
		ret = proc_open(pids->pid[i], &(*pidfds)[i], why);
		if (ret) {
			warnx("%s", why);
			return ret;
		}
	}
	return 0;
}

/* Tracing on, command or process, tracing off.  @exec_errno as of child_go(). */
static int run(struct recording *rec, const int *pidfds, int *exec_errno)
{
	static const int stops[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGUSR1 };
	int signal_fd, go_fd = -1, ret, cpu;
	char why[RECORD_WHY];
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(stops) / sizeof(*stops); i++)
		if (stops[i] != SIGUSR1 || rec->options->loop)
			sigaddset(&set, stops[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (signal_fd < 0) {
		warn("cannot wait for signals");
		return -errno;
	}
	if (rec->options->command && child_fork(rec, &go_fd, why)) {
		warnx("%s", why);
		return -EAGAIN;
	}
	record_began(rec);
	if (record_start(rec))
		return -EIO;
	/* before the command: none of its queues is older than the recording */
	watch_begin(rec);
	ret = rec->child ? child_go(rec, go_fd, exec_errno) : 0;
	if (!ret && !*exec_errno)
		ret = loop(rec, signal_fd, pidfds);
	if (!ret && !*exec_errno && rec->ended_by != RECORD_END_SIZE && rec->ended_by != RECORD_END_PREEMPTION &&
	    rec->ended_by != RECORD_END_UNLOADED)
		rec->end = state_read();
	/* A command outlives a full disk, and its exit status is still wanted. */
	record_stop(rec);
	rec->end_ns = record_now();
	mqd_sample(rec, true);
	processes_scan(rec);
	for (cpu = 0; cpu < rec->nr_cpus && !ret; cpu++) {
		ret = record_drain(rec, cpu, why);
		if (ret)
			warnx("%s", why);
	}
	if (ret || *exec_errno)
		child_reap(rec, 0);
	close(signal_fd);
	return ret;
}

/* A recording may end before its command does, whose exit status is still wanted. */
static void command_wait(struct recording *rec)
{
	siginfo_t info;
	sigset_t set;

	if (!rec->child || rec->child_status >= 0 || rec->abandoned)
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	if (!rec->options->quiet)
		warnx("waiting for the command to end");
	for (;;) {
		child_reap(rec, WNOHANG);
		if (rec->child_status >= 0)
			return;
		if (sigwaitinfo(&set, &info) > 0 && info.si_signo != SIGCHLD && info.si_code != SI_KERNEL)
			kill(rec->child, info.si_signo);
	}
}

static int exit_status(const struct recording *rec, int ret)
{
	int status = rec->child_status;

	if (ret)
		return rec->options->command ? EXIT_OWN : EXIT_FAILURE;
	if (!rec->options->command)
		return EXIT_SUCCESS;
	/* stopped by a second signal: the command goes on */
	if (status < 0)
		return EXIT_OWN;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/**
 * kfdtrace_record() - the verb
 * @argc: number of @argv
 * @argv: options
 *
 * Return: the exit status.
 */
int kfdtrace_record(int argc, char **argv)
{
	struct record_options options = { .verb = "record", .prefix = "kfdtrace" };
	struct recording rec = { .options = &options, .dir_fd = -1, .parent_fd = -1, .child_status = -1 };
	int trace_fd = -1, meta_fd = -1, *pidfds, exec_errno = 0, ret;
	char why[RECORD_WHY], name[64];
	time_t now = time(NULL);
	struct tm tm;

	record_options_parse(argc, argv, &options);
	if (!options.dir) {
		localtime_r(&now, &tm);
		strftime(name, sizeof(name), "kfdtrace-%Y%m%d-%H%M%S", &tm);
		options.dir = name;
	}
	if (!access(options.dir, F_OK)) {
		warnx("%s: %s; give a new directory with --output", options.dir, strerror(EEXIST));
		return options.command ? EXIT_OWN : EXIT_FAILURE;
	}
	ret = pids_open(&options.pids, &pidfds);
	if (ret)
		return EXIT_FAILURE;
	caller_find(&rec.caller);
	ret = record_open(&rec, why);
	if (!ret)
		ret = mqd_begin(&rec, why);
	if (ret) {
		warnx("%s", why);
		goto out;
	}
	if (rec.buffer_kb < rec.wanted_kb)
		warnx("not enough memory for a trace buffer of %lu KiB per CPU: recording with %lu KiB",
		      rec.wanted_kb, rec.buffer_kb);
	ret = dir_make(&rec, &trace_fd, &meta_fd);
	if (!ret)
		ret = run(&rec, pidfds, &exec_errno);
	if (exec_errno) {
		warnx("failed to execute '%s': %s", options.command[0], strerror(exec_errno));
		dir_remove(&rec);
		record_close(&rec);
		return exec_errno == ENOENT ? EXIT_EXEC_ENOENT : EXIT_EXEC_FAILED;
	}
	if (rec.start_ns && rec.dir_fd >= 0) {
		/* what there is, even if the disk was full in between */
		int kept = finish(&rec, trace_fd, meta_fd);

		if (!kept)
			tell(&rec);
		ret = ret ? ret : kept;
		parts_remove(&rec);
		record_close(&rec);
		if (!ret)
			command_wait(&rec);
	} else if (ret != -EEXIST) {
		dir_remove(&rec);
	}
out:
	mqd_end(&rec);
	watch_free(&rec);
	record_close(&rec);
	dir_close(&rec);
	return exit_status(&rec, ret);
}
