// SPDX-License-Identifier: GPL-2.0
/* A trace instance of our own: its buffer, its events, its pages. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kfdlib.h"
#include "record.h"
#include "upstream-names.h"

#define MIN_KB	   64	/* per CPU: below this a burst of one runlist may not fit */
#define DEFAULT_KB 8192 /* per CPU: 80,000 events, 0.1 s and more of the fastest churn */

static void why_no_access(const struct recording *rec, char *why)
{
	const struct passwd *user = getpwuid(geteuid());
	const char *name = user ? user->pw_name : "USER";
	bool runs = !strcmp(rec->options->verb, "record");

	snprintf(why, RECORD_WHY,
		 "no access to /sys/kernel/tracing, which belongs to root. Run 'sudo kfdtrace %s%s'%s%s%s, or have root make a trace instance of KFD's events for you, once per boot, and use --instance: see kfdtrace(1), ACCESS",
		 rec->options->verb, runs ? " ..." : "", runs ? " (the command runs as you, '" : "", runs ? name : "",
		 runs ? "')" : "");
}

/**
 * record_cpus() - memory for what a recording keeps for each CPU
 * @rec: the recording; no file is open
 * @why: set after an error, RECORD_WHY bytes
 *
 * Return: 0 or -ENOMEM.
 */
int record_cpus(struct recording *rec, char *why)
{
	int cpu;

	rec->nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	rec->raw_fds = malloc(rec->nr_cpus * sizeof(int));
	rec->part_fds = malloc(rec->nr_cpus * sizeof(int));
	rec->lost = calloc(rec->nr_cpus, sizeof(*rec->lost));
	rec->entries = calloc(rec->nr_cpus, sizeof(*rec->entries));
	rec->oldest_ns = calloc(rec->nr_cpus, sizeof(*rec->oldest_ns));
	if (!rec->raw_fds || !rec->part_fds || !rec->lost || !rec->entries || !rec->oldest_ns) {
		snprintf(why, RECORD_WHY, "out of memory");
		return -ENOMEM;
	}
	for (cpu = 0; cpu < rec->nr_cpus; cpu++)
		rec->raw_fds[cpu] = rec->part_fds[cpu] = -1;
	return 0;
}

static int raw_open(struct recording *rec, char *why)
{
	char name[64];
	int cpu;

	if (record_cpus(rec, why))
		return -ENOMEM;
	for (cpu = 0; cpu < rec->nr_cpus; cpu++) {
		snprintf(name, sizeof(name), "per_cpu/cpu%d/trace_pipe_raw", cpu);
		rec->raw_fds[cpu] = tracefs_instance_file_open(rec->instance, name,
							       O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		/* A CPU that was never on has no buffer. */
		if (rec->raw_fds[cpu] < 0 && errno != ENOENT) {
			snprintf(why, RECORD_WHY, "cannot read the trace buffer of CPU %d: %s", cpu,
				 strerror(errno));
			return -errno;
		}
	}
	return 0;
}

/* Which events there are, and the clock.  An instance in which root alone may choose them must have this clock. */
static int set_up(struct recording *rec)
{
	char *clock;

	if (tracefs_instance_file_write(rec->instance, "events/enable", "0") >= 0)
		return tracefs_instance_file_write(rec->instance, "trace_clock", RECORD_CLOCK) < 0 ? -1 : 0;
	if (!rec->options->instance || errno != EACCES)
		return -1;
	clock = tracefs_get_clock(rec->instance);
	rec->prepared = clock && !strcmp(clock, RECORD_CLOCK);
	free(clock);
	errno = EACCES;
	return rec->prepared ? 0 : -1;
}

/* The size of the buffer of an instance that is root's. */
static int size_read(struct recording *rec, char *why)
{
	char *text = tracefs_instance_file_read(rec->instance, "buffer_size_kb", NULL);

	if (!text) {
		snprintf(why, RECORD_WHY, "cannot read the size of the trace buffer: %s", strerror(errno));
		return -errno;
	}
	rec->buffer_kb = strtoul(text, NULL, 10);
	if (!rec->options->buffer_kb)
		rec->wanted_kb = rec->buffer_kb;
	free(text);
	return raw_open(rec, why);
}

static void no_kfd_events(char *why)
{
	char missing[KFDLIB_WHY];

	if (kfd_dev_missing(missing))
		snprintf(why, RECORD_WHY, "this kernel has no kfd events: %s", missing);
	else
		snprintf(why, RECORD_WHY, "this kernel has no kfd events: run 'kfdprio doctor'");
}

/* Without a driver no right to trace is of use. */
static void no_access_or_events(const struct recording *rec, char *why)
{
	char missing[KFDLIB_WHY];

	if (!strcmp(rec->options->events[0], "kfd") && kfd_dev_missing(missing))
		snprintf(why, RECORD_WHY, "this kernel has no kfd events: %s", missing);
	else
		why_no_access(rec, why);
}

/*
 * Libtracefs takes the first mount that it finds, and mounts tracefs itself where there is none: the choice between several
 * mounts, and the reason why none can be used, are ours.
 */
static int tracing_use(const struct recording *rec, char *why)
{
	struct tracing tracing;
	int ret = tracing_find("", &tracing);

	if (ret == -ENOENT && tracefs_tracing_dir())
		ret = tracing_find("", &tracing);
	/* without the right to look into it, a user cannot even see whether it is there */
	if (geteuid() && (ret == -ENOENT ||
			  (!ret && !rec->options->instance && access(tracing.dir, R_OK | W_OK | X_OK)))) {
		no_access_or_events(rec, why);
		return -EACCES;
	}
	if (!ret && tracefs_set_tracing_dir(tracing.dir))
		ret = -ENOENT;
	if (ret)
		snprintf(why, RECORD_WHY, "%s%s%.500s", *tracing.why ? tracing.why : "cannot use tracefs",
			 *tracing.todo ? ": " : "", tracing.todo);
	return ret;
}

/**
 * instance_open() - make a trace instance, or take the one that was named
 * @rec: the recording
 * @why: on failure, what is wrong; RECORD_WHY bytes
 *
 * The instance has the clock of ROCm's log and records nothing yet.
 *
 * Return: 0 or -errno.
 */
int instance_open(struct recording *rec, char *why)
{
	char name[64], *clock;
	int ret = tracing_use(rec, why);

	if (ret)
		return ret;
	if (rec->options->instance) {
		if (!tracefs_instance_exists(rec->options->instance)) {
			snprintf(why, RECORD_WHY, "trace instance '%s': it does not exist, or you have no access",
				 rec->options->instance);
			return -ENOENT;
		}
		rec->instance = tracefs_instance_alloc(NULL, rec->options->instance);
	} else {
		snprintf(name, sizeof(name), "%s-%d", rec->options->prefix, getpid());
		rec->instance = tracefs_instance_create(name);
		rec->owned = rec->instance && tracefs_instance_is_new(rec->instance);
	}
	if (!rec->instance) {
		if (errno == EACCES || errno == EPERM)
			why_no_access(rec, why);
		else
			snprintf(why, RECORD_WHY, "cannot make a trace instance: %s", strerror(errno));
		return -(errno ? errno : EIO);
	}
	if (tracefs_trace_off(rec->instance) || set_up(rec)) {
		int err = errno;

		clock = tracefs_get_clock(rec->instance);
		snprintf(why, RECORD_WHY, "cannot set up the trace instance '%s' (clock %s, is %s): %s",
			 tracefs_instance_get_name(rec->instance), RECORD_CLOCK,
			 clock ? clock : "unknown", strerror(err));
		free(clock);
		return -err;
	}
	tracefs_instance_file_clear(rec->instance, "trace");
	return 0;
}

/* The size that leaves enough memory for the rest of the machine. */
static unsigned long sensible_kb(int cpus)
{
	unsigned long available = 0, kb;
	char line[128];
	FILE *file = fopen("/proc/meminfo", "re");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %lu", &available) == 1)
			break;
	if (file)
		fclose(file);
	kb = available / 16 / cpus;
	if (kb > DEFAULT_KB || !available)
		kb = DEFAULT_KB;
	return kb < MIN_KB ? MIN_KB : kb;
}

/**
 * instance_size() - get a buffer, as large as asked for or as there is memory for
 * @rec: the recording
 * @why: on failure, what is wrong; RECORD_WHY bytes
 *
 * Steps down by half while the kernel says that there is not enough memory.
 *
 * Return: 0 or -errno.
 */
int instance_size(struct recording *rec, char *why)
{
	unsigned long kb;
	char text[32];
	int ret;

	kb = rec->options->buffer_kb ? rec->options->buffer_kb :
				       sensible_kb(sysconf(_SC_NPROCESSORS_ONLN));
	rec->wanted_kb = kb;
	if (rec->prepared)
		return size_read(rec, why);
	for (;;) {
		snprintf(text, sizeof(text), "%lu", kb);
		ret = tracefs_instance_file_write(rec->instance, "buffer_size_kb", text);
		if (ret >= 0)
			break;
		ret = -errno;
		if (ret != -ENOMEM || kb <= MIN_KB) {
			snprintf(why, RECORD_WHY, "cannot get a trace buffer of %lu KiB per CPU: %s",
				 kb, strerror(-ret));
			return ret;
		}
		kb = kb / 2 > MIN_KB ? kb / 2 : MIN_KB;
	}
	rec->buffer_kb = kb;
	/* Wake us when a quarter is full; kernels before 5.0 do so for each page. */
	tracefs_instance_file_write(rec->instance, "buffer_percent", "25");
	return raw_open(rec, why);
}

/* Whether a system is there, for SYSTEM and SYSTEM:EVENT. */
static bool events_there(struct recording *rec, const char *system, const char *event)
{
	char name[256];

	snprintf(name, sizeof(name), "events/%s%s%s/enable", system, event ? "/" : "",
		 event ? event : "");
	return tracefs_file_exists(rec->instance, name);
}

static int event_switch(struct recording *rec, const char *name, const char *event, char *why)
{
	char *text;
	bool on;

	if (tracefs_instance_file_write(rec->instance, name, "1") >= 0)
		return 0;
	if (rec->prepared) {
		text = tracefs_instance_file_read(rec->instance, name, NULL);
		on = text && *text == '1';
		free(text);
		if (on)
			return 0;
		snprintf(why, RECORD_WHY, "only root may switch on the events '%s' in the trace instance '%s', and they are off",
			 event, rec->options->instance);
		return -EACCES;
	}
	snprintf(why, RECORD_WHY, "cannot switch on the events '%s': %s", event, strerror(errno));
	return -errno;
}

static void no_such_events(const char *text, char *why)
{
	bool upstream = !strcmp(text, UPSTREAM_EVENTS);
	const char *reason = upstream ? record_driver_lacks_upstream("") : NULL;
	char missing[KFDLIB_WHY];

	/* an open of the device of a driver that is loaded would make a KFD process of this program */
	if (upstream && !reason && kfd_dev_missing(missing))
		reason = missing;
	snprintf(why, RECORD_WHY, "this kernel has no events '%s'%s%s", text, reason ? ": " : "", reason ? reason : "");
}

/* SYSTEM:PREFIX*, each alone: a driver may have others in that system */
static int events_switch(struct recording *rec, const char *text, const char *system, const char *prefix, char *why)
{
	char **events = tracefs_system_events(NULL, system);
	size_t len = strlen(prefix) - 1;
	int ret = -ENOENT, i;

	for (i = 0; events && events[i] && (!ret || ret == -ENOENT); i++) {
		char name[256];

		if (strncmp(events[i], prefix, len) || !events_there(rec, system, events[i]))
			continue;
		snprintf(name, sizeof(name), "events/%s/%s/enable", system, events[i]);
		ret = event_switch(rec, name, events[i], why);
	}
	tracefs_list_free(events);
	if (ret == -ENOENT)
		no_such_events(text, why);
	return ret;
}

/**
 * instance_events() - switch on the events that were asked for
 * @rec: the recording
 * @why: on failure, what is wrong; RECORD_WHY bytes
 *
 * Return: 0, -ENOENT if this kernel does not have them, else -errno.
 */
int instance_events(struct recording *rec, char *why)
{
	char **text, *system, *event;
	int ret = 0;

	/* also if none of them is asked for: the recording says whose it is */
	if (rec->driver == RECORD_UPSTREAM && !events_there(rec, UPSTREAM_SYSTEM, UPSTREAM_EVENT)) {
		no_such_events(UPSTREAM_EVENTS, why);
		return -ENOENT;
	}
	for (text = rec->options->events; *text && !ret; text++) {
		char name[256];

		system = strdup(*text);
		if (!system) {
			snprintf(why, RECORD_WHY, "out of memory");
			return -ENOMEM;
		}
		event = strchr(system, ':');
		if (event)
			*event++ = '\0';
		if (event && *event && event[strlen(event) - 1] == '*') {
			ret = events_switch(rec, *text, system, event, why);
		} else if (!events_there(rec, system, event)) {
			if (!strcmp(system, "kfd") && !events_there(rec, "kfd", NULL))
				no_kfd_events(why);
			else
				snprintf(why, RECORD_WHY, "this kernel has no events '%s'", *text);
			ret = -ENOENT;
		} else {
			snprintf(name, sizeof(name), "events/%s%s%s/enable", system,
				 event ? "/" : "", event ? event : "");
			ret = event_switch(rec, name, *text, why);
		}
		free(system);
	}
	return ret;
}

/* In a loop, overwritten events are not lost events. */
static void loop_begins(char *page)
{
	uint64_t commit;

	memcpy(&commit, page + 8, sizeof(commit));
	commit &= ~(3ULL << 30);
	memcpy(page + 8, &commit, sizeof(commit));
}

/**
 * instance_drain() - read what one CPU's buffer has
 * @rec: the recording
 * @cpu: the CPU
 * @why: on failure, what is wrong; RECORD_WHY bytes
 *
 * Not more than fits into the buffer: what reading adds to it, when system calls are recorded,
 * must not keep us here for ever.
 *
 * Return: 0 or -errno.
 */
int instance_drain(struct recording *rec, int cpu, char *why)
{
	static char page[65536];
	size_t size = sysconf(_SC_PAGESIZE), done;
	uint64_t left = (uint64_t)rec->buffer_kb * 1024 + 2 * size;
	ssize_t got, put;

	if (rec->raw_fds[cpu] < 0)
		return 0;
	for (; left >= size; left -= size) {
		if (rec->options->max_bytes && rec->bytes + size > rec->options->max_bytes) {
			rec->full = true;
			return 0;
		}
		got = read(rec->raw_fds[cpu], page, size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno != EAGAIN) {
			snprintf(why, RECORD_WHY, "cannot read the trace buffer of CPU %d: %s", cpu,
				 strerror(errno));
			return -errno;
		}
		if (got <= 0)
			return 0;
		if (rec->options->loop && got >= 16 && !lseek(rec->part_fds[cpu], 0, SEEK_CUR)) {
			/* a page begins with the time of its first event */
			memcpy(&rec->oldest_ns[cpu], page, sizeof(*rec->oldest_ns));
			loop_begins(page);
		}
		for (done = 0; done < (size_t)got; done += put) {
			put = write(rec->part_fds[cpu], page + done, got - done);
			if (put <= 0) {
				int err = put ? errno : ENOSPC;

				snprintf(why, RECORD_WHY, "cannot write the recording: %s",
					 strerror(err));
				/* whole pages only */
				if (ftruncate(rec->part_fds[cpu],
					      lseek(rec->part_fds[cpu], 0, SEEK_CUR) / size * size))
					return -errno;
				return -err;
			}
		}
		rec->bytes += got;
	}
	return 0;
}

static uint64_t stat_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : RECORD_UNKNOWN;
}

/**
 * instance_stats() - what the kernel counted on one CPU
 * @rec: the recording; its numbers of lost and read events are filled in
 * @cpu: the CPU
 *
 * Return: the text, with the CPU's number before it, to be freed with free(3); NULL if
 * there is none.
 */
char *instance_stats(struct recording *rec, int cpu)
{
	uint64_t overrun, commit, dropped;
	char name[64], *text, *whole = NULL;

	snprintf(name, sizeof(name), "per_cpu/cpu%d/stats", cpu);
	rec->entries[cpu] = RECORD_UNKNOWN;
	rec->lost[cpu] = rec->options->loop ? 0 : RECORD_UNKNOWN;
	text = tracefs_instance_file_read(rec->instance, name, NULL);
	if (!text)
		return NULL;
	rec->entries[cpu] = stat_of(text, "\nread events: ");
	overrun = stat_of(text, "\noverrun: ");
	if (rec->options->loop) {
		/* from then on, no CPU has lost an event */
		if (overrun && rec->oldest_ns[cpu] > rec->complete_ns)
			rec->complete_ns = rec->oldest_ns[cpu];
		free(text);
		return NULL;
	}
	commit = stat_of(text, "\ncommit overrun: ");
	dropped = stat_of(text, "\ndropped events: ");
	if (overrun != RECORD_UNKNOWN && commit != RECORD_UNKNOWN && dropped != RECORD_UNKNOWN)
		rec->lost[cpu] = overrun + commit + dropped;
	if (asprintf(&whole, "CPU: %d\n%s", cpu, text) < 0)
		whole = NULL;
	free(text);
	return whole;
}

/**
 * instance_close() - end tracing, and remove the instance if it is ours
 * @rec: the recording
 */
void instance_close(struct recording *rec)
{
	int cpu;

	for (cpu = 0; cpu < rec->nr_cpus; cpu++) {
		if (rec->raw_fds[cpu] >= 0)
			close(rec->raw_fds[cpu]);
		rec->raw_fds[cpu] = -1;
	}
	if (!rec->instance)
		return;
	tracefs_trace_off(rec->instance);
	watch_end(rec);
	if (!rec->prepared)
		tracefs_instance_file_write(rec->instance, "events/enable", "0");
	if (rec->owned)
		tracefs_instance_destroy(rec->instance);
	tracefs_instance_free(rec->instance);
	rec->instance = NULL;
}
