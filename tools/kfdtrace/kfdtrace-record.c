// SPDX-License-Identifier: GPL-2.0
/* kfdtrace record */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
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
#include "record.h"
#include "trace-file.h"

#define SCAN_MS 200 /* the interval of reading the list of KFD processes */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Time in suspend.  Between the two readings, time passes that is not of it. */
static int64_t boot_offset(void)
{
	uint64_t before = clock_ns(CLOCK_MONOTONIC), boot = clock_ns(CLOCK_BOOTTIME);

	return (int64_t)(boot - before) / 1000000 * 1000000;
}

static void part_name(char *name, size_t size, int cpu)
{
	snprintf(name, size, ".cpu%d.part", cpu);
}

/*
 * Everything in DIR is made before DIR is given to the user who called sudo: later, one
 * of them might be a link to a file of root's.
 */
static int dir_make(struct recording *rec, int *trace_fd, int *meta_fd)
{
	const char *dir = rec->options->dir;
	char name[64];
	int cpu;

	if (mkdir(dir, 0755)) {
		warnx("%s: %s%s", dir, strerror(errno),
		      errno == EEXIST ? "; give a new directory with --output" : "");
		return -errno;
	}
	rec->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (rec->dir_fd < 0)
		goto err_why;
	*trace_fd = openat(rec->dir_fd, "trace.dat", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	*meta_fd = openat(rec->dir_fd, "meta.json", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (*trace_fd < 0 || *meta_fd < 0)
		goto err_why;
	for (cpu = 0; cpu < rec->nr_cpus; cpu++) {
		part_name(name, sizeof(name), cpu);
		rec->part_fds[cpu] =
			openat(rec->dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (rec->part_fds[cpu] < 0)
			goto err_why;
	}
	if (rec->uid != geteuid() &&
	    (fchown(*trace_fd, rec->uid, rec->gid) || fchown(*meta_fd, rec->uid, rec->gid) ||
	     fchown(rec->dir_fd, rec->uid, rec->gid)))
		goto err_why;
	return 0;

err_why:
	warn("%s", dir);
	return -errno;
}

static void parts_remove(struct recording *rec)
{
	char name[64];
	int cpu;

	for (cpu = 0; cpu < rec->nr_cpus; cpu++) {
		if (rec->part_fds[cpu] < 0)
			continue;
		part_name(name, sizeof(name), cpu);
		unlinkat(rec->dir_fd, name, 0);
		close(rec->part_fds[cpu]);
		rec->part_fds[cpu] = -1;
	}
}

/* As if nothing had been asked for. */
static void dir_remove(struct recording *rec)
{
	if (rec->dir_fd < 0)
		return;
	parts_remove(rec);
	unlinkat(rec->dir_fd, "trace.dat", 0);
	unlinkat(rec->dir_fd, "meta.json", 0);
	unlinkat(rec->dir_fd, AMD_LOG_FILE, 0);
	rmdir(rec->options->dir);
}

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
		rec->ended_by = RECORD_END_COMMAND;
		return rec->child && rec->child_status >= 0;
	}
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

/* Until the command or the process ends, or a signal ends the recording. */
static int loop(struct recording *rec, int signal_fd, const int *pidfds)
{
	int nr_pids = rec->options->pids.nr, left = nr_pids, i;
	int nr = rec->nr_cpus + 1 + nr_pids, cpu, times = 0, ret = 0;
	struct pollfd *fds = calloc(nr, sizeof(*fds));
	uint64_t scanned = 0, now;
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
		if (poll(fds, nr, SCAN_MS) < 0 && errno != EINTR) {
			ret = -errno;
			warn("cannot wait");
			break;
		}
		for (cpu = 0; cpu < rec->nr_cpus && !ret; cpu++)
			if (fds[cpu].revents & POLLIN)
				ret = instance_drain(rec, cpu, why);
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
		if (nr_pids && !left) {
			rec->ended_by = RECORD_END_PROCESS;
			break;
		}
		if (rec->full) {
			rec->ended_by = RECORD_END_SIZE;
			break;
		}
		if (instance_stopped(rec)) {
			rec->ended_by = RECORD_END_PREEMPTION;
			break;
		}
		now = clock_ns(CLOCK_MONOTONIC);
		if (now - scanned >= SCAN_MS * 1000000ULL) {
			processes_scan(rec);
			if (rec->child)
				process_see(rec, rec->child);
			scanned = now;
		}
	}
	free(fds);
	return ret;
}

/* The systems of the events, each once. */
static char **systems_of(char **events)
{
	size_t nr = 0, i, j;
	char **systems;

	while (events[nr])
		nr++;
	systems = calloc(nr + 1, sizeof(*systems));
	if (!systems)
		return NULL;
	for (i = 0, nr = 0; events[i]; i++) {
		char *system = strndup(events[i], strcspn(events[i], ":"));

		if (!system) {
			while (nr)
				free(systems[--nr]);
			free(systems);
			return NULL;
		}
		for (j = 0; j < nr; j++)
			if (!strcmp(systems[j], system))
				break;
		if (j < nr)
			free(system);
		else
			systems[nr++] = system;
	}
	return systems;
}

/* Names of threads: those of the kernel, and those that were read while recording. */
static char *cmdlines(const struct recording *rec)
{
	char *kernel = tracefs_instance_file_read(NULL, "saved_cmdlines", NULL), *text = NULL;
	size_t size, i;
	FILE *file = open_memstream(&text, &size);

	if (!file) {
		free(kernel);
		return NULL;
	}
	if (kernel)
		fputs(kernel, file);
	for (i = 0; i < rec->nr_seen; i++)
		fprintf(file, "%d %s\n", rec->seen[i].pid, rec->seen[i].comm);
	free(kernel);
	return fclose(file) ? NULL : text;
}

static int finish(struct recording *rec, int trace_fd, int meta_fd)
{
	char *events_dir = tracefs_instance_get_file(rec->instance, "events");
	char *printk = tracefs_instance_file_read(NULL, "printk_formats", NULL);
	struct trace_parts parts = { .events_dir = events_dir,
				     .systems = systems_of(rec->options->events),
				     .clock = RECORD_CLOCK,
				     .cpu_fds = rec->part_fds,
				     .cpu_stats = calloc(rec->nr_cpus, sizeof(char *)),
				     .nr_cpus = rec->nr_cpus,
				     .cmdlines = cmdlines(rec),
				     .printk_formats = printk ? printk : "" };
	char why[RECORD_WHY];
	int ret = -ENOMEM, cpu, i;

	snprintf(why, sizeof(why), "out of memory");
	if (events_dir && parts.systems && parts.cpu_stats && parts.cmdlines) {
		for (cpu = 0; cpu < rec->nr_cpus; cpu++)
			parts.cpu_stats[cpu] = instance_stats(rec, cpu);
		ret = trace_write(trace_fd, &parts, why);
		trace_fd = -1;
		if (!ret)
			ret = meta_write(rec, meta_fd, why);
		for (cpu = 0; cpu < rec->nr_cpus; cpu++)
			free(parts.cpu_stats[cpu]);
	}
	if (ret)
		warnx("%s/trace.dat: %s", rec->options->dir, why);
	if (trace_fd >= 0)
		close(trace_fd);
	for (i = 0; parts.systems && parts.systems[i]; i++)
		free(parts.systems[i]);
	free(parts.systems);
	free(parts.cpu_stats);
	free((char *)parts.cmdlines);
	free(printk);
	tracefs_put_tracing_file(events_dir);
	return ret;
}

static void tell(const struct recording *rec)
{
	static const char *const reasons[] = {
		[RECORD_END_SIGNAL] = "", [RECORD_END_COMMAND] = "", [RECORD_END_PROCESS] = "",
		[RECORD_END_SIZE] = "; --max-size was reached",
		[RECORD_END_PREEMPTION] = "; a preemption took longer than --slow-preemption-ms",
	};
	uint64_t entries = 0, lost = 0;
	int cpu;

	for (cpu = 0; cpu < rec->nr_cpus; cpu++) {
		entries += rec->entries[cpu];
		lost += rec->lost[cpu];
	}
	if (!rec->options->quiet)
		warnx("recorded %s%" PRIu64 " events in %.3f s, into %s%s",
		      rec->options->loop ? "the last " : "", entries,
		      (rec->end_ns - rec->start_ns) / 1e9, rec->options->dir, reasons[rec->ended_by]);
	if (!lost)
		return;
	warnx("LOST %" PRIu64
	      " EVENTS: this recording has gaps. Record again with a --buffer-size larger than %luK.",
	      lost, rec->buffer_kb);
	for (cpu = 0; cpu < rec->nr_cpus; cpu++)
		if (rec->lost[cpu])
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
	rec->start_ns = clock_ns(CLOCK_MONOTONIC);
	rec->start_real_ns = clock_ns(CLOCK_REALTIME);
	rec->boot_offset_ns = boot_offset();
	if (tracefs_trace_on(rec->instance)) {
		warn("cannot switch on the trace instance '%s'",
		     tracefs_instance_get_name(rec->instance));
		return -EIO;
	}
	ret = rec->child ? child_go(rec, go_fd, exec_errno) : 0;
	if (!ret && !*exec_errno)
		ret = loop(rec, signal_fd, pidfds);
	/* A command outlives a full disk, and its exit status is still wanted. */
	tracefs_trace_off(rec->instance);
	rec->end_ns = clock_ns(CLOCK_MONOTONIC);
	processes_scan(rec);
	for (cpu = 0; cpu < rec->nr_cpus && !ret; cpu++) {
		ret = instance_drain(rec, cpu, why);
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
	struct recording rec = { .options = &options, .dir_fd = -1, .child_status = -1 };
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
	caller_find(&rec);
	ret = instance_open(&rec, why);
	if (!ret)
		ret = instance_events(&rec, why);
	if (!ret)
		ret = instance_size(&rec, why);
	if (!ret)
		ret = instance_watch(&rec, why);
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
		instance_close(&rec);
		return exec_errno == ENOENT ? EXIT_EXEC_ENOENT : EXIT_EXEC_FAILED;
	}
	if (rec.start_ns && rec.dir_fd >= 0) {
		/* what there is, even if the disk was full in between */
		int kept = finish(&rec, trace_fd, meta_fd);

		if (!kept)
			tell(&rec);
		ret = ret ? ret : kept;
		parts_remove(&rec);
		instance_close(&rec);
		if (!ret)
			command_wait(&rec);
	} else if (ret != -EEXIST) {
		dir_remove(&rec);
	}
out:
	instance_close(&rec);
	return exit_status(&rec, ret);
}
