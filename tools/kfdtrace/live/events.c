// SPDX-License-Identifier: GPL-2.0
/*
 * The events of all CPUs as they come, in the order of time.
 *
 * One page of each CPU is in memory.  What is later than the moment when reading began stays
 * for the next time: another CPU, read before, may have something earlier.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <traceevent/kbuffer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live.h"
#include "message.h"
#include "model/upstream.h"
#include "stock/stock.h"

#define BUFFER_KB 2048 /* per CPU; it is emptied when a quarter is full */
#define PREFIX	  "kfdtrace-live"

static char *kfd_alone[] = { "kfd", NULL };
static char *upstream_alone[] = { UPSTREAM_EVENTS, NULL };

static bool maker_lives(int pid)
{
	struct proc_info info;

	return !proc_read(pid, &info) && !info.zombie &&
	       !strcmp(info.comm, program_invocation_short_name);
}

/*
 * A killed kfdtrace live could not remove its instance.  No process reads it: the kernel refuses to
 * remove one whose buffer is open, so that one of another PID namespace is safe.
 */
static void leftovers_remove(void)
{
	const char *tracing = tracefs_tracing_dir();
	char path[512], name[64];
	struct dirent *entry;
	DIR *dir;
	int pid;

	snprintf(path, sizeof(path), "%s/instances", tracing ? tracing : "");
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (sscanf(entry->d_name, PREFIX "-%d", &pid) != 1 || pid <= 0)
			continue;
		snprintf(name, sizeof(name), PREFIX "-%d", pid);
		if (strcmp(name, entry->d_name) || maker_lives(pid))
			continue;
		snprintf(path, sizeof(path), "%s/instances/%s", tracing, name);
		if (!rmdir(path))
			warnx("removed the trace instance '%s', which a killed kfdtrace live had left",
			      name);
		else if (errno != EBUSY && errno != ENOENT)
			warn("cannot remove the trace instance '%s', which a killed kfdtrace live has left",
			     name);
	}
	closedir(dir);
}

static int formats_read(struct live_events *events, char *why)
{
	static const char *const systems[] = { "kfd", UPSTREAM_SYSTEM, NULL };
	char *dir = tracefs_instance_get_dir(events->rec.instance);
	int ret;

	tep_set_loglevel(TEP_LOG_NONE);
	events->tep = dir ? tracefs_local_events_system(dir, systems) : NULL;
	ret = events->tep ? kfd_decoder_init(&events->decoder, events->tep) : -EIO;
	tracefs_put_tracing_file(dir);
	if (ret > 0)
		return 0;
	snprintf(why, RECORD_WHY, "cannot read the formats of the kfd events%s",
		 ret == -EPROTO ? ": a field is missing; install kfdtrace and the driver from the same release" : "");
	return ret ? ret : -EPROTO;
}

static int cpus_make(struct live_events *events, char *why)
{
	size_t size = sysconf(_SC_PAGESIZE);
	int cpu;

	events->cpus = calloc(events->rec.nr_cpus, sizeof(*events->cpus));
	for (cpu = 0; events->cpus && cpu < events->rec.nr_cpus; cpu++) {
		events->cpus[cpu].page = malloc(size);
		events->cpus[cpu].kbuf = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
		if (!events->cpus[cpu].page || !events->cpus[cpu].kbuf)
			break;
	}
	if (events->cpus && cpu == events->rec.nr_cpus)
		return 0;
	snprintf(why, RECORD_WHY, "out of memory");
	return -ENOMEM;
}

/**
 * live_events_open() - make a trace instance, or take the one that was named, and switch it on
 * @events: all zero; filled in, to be closed with live_events_close() also on failure
 * @instance: name of one that exists, or NULL
 * @driver: whose events
 * @why: on failure, what is wrong; RECORD_WHY bytes
 *
 * Return: 0 or -errno.
 */
int live_events_open(struct live_events *events, const char *instance, enum record_driver driver, char *why)
{
	int ret;

	events->options = (struct record_options){ .verb = "live",
						   .prefix = PREFIX,
						   .events = driver == RECORD_UPSTREAM ? upstream_alone : kfd_alone,
						   .buffer_kb = BUFFER_KB,
						   .instance = instance };
	events->rec = (struct recording){ .options = &events->options, .dir_fd = -1 };
	if (!instance)
		leftovers_remove();
	ret = instance_open(&events->rec, why);
	if (!ret)
		ret = instance_events(&events->rec, why);
	if (!ret)
		ret = instance_size(&events->rec, why);
	if (!ret)
		ret = formats_read(events, why);
	if (!ret)
		ret = cpus_make(events, why);
	if (ret)
		return ret;
	if (tracefs_trace_on(events->rec.instance)) {
		ret = -errno;
		snprintf(why, RECORD_WHY, "cannot switch on the trace instance '%s': %s",
			 tracefs_instance_get_name(events->rec.instance), strerror(-ret));
		return ret;
	}
	events->open = true;
	return 0;
}

/* The next record of a CPU; none if its buffer is empty. */
static int cpu_next(struct live_events *events, int cpu)
{
	struct live_cpu *stream = &events->cpus[cpu];
	size_t size = sysconf(_SC_PAGESIZE);
	ssize_t got;

	if (stream->data)
		stream->data = kbuffer_next_event(stream->kbuf, &stream->ts);
	while (!stream->data) {
		do
			got = read(events->rec.raw_fds[cpu], stream->page, size);
		while (got < 0 && errno == EINTR);
		if (got <= 0)
			return got && errno != EAGAIN ? -errno : 0;
		if (kbuffer_load_subbuffer(stream->kbuf, stream->page))
			return -EPROTO;
		stream->data = kbuffer_read_event(stream->kbuf, &stream->ts);
	}
	return 0;
}

/* The CPU with the earliest record; @next: the time of the earliest of the others. */
static int cpu_earliest(const struct live_events *events, uint64_t *next)
{
	int cpu, best = -1;

	*next = UINT64_MAX;
	for (cpu = 0; cpu < events->rec.nr_cpus; cpu++) {
		if (!events->cpus[cpu].data)
			continue;
		if (best < 0 || events->cpus[cpu].ts < events->cpus[best].ts) {
			if (best >= 0)
				*next = events->cpus[best].ts;
			best = cpu;
		} else if (events->cpus[cpu].ts < *next) {
			*next = events->cpus[cpu].ts;
		}
	}
	return best;
}

/**
 * live_events_read() - read what there is into a model
 * @events: open
 * @model: where to
 * @until: CLOCK_MONOTONIC, ns; what is later is left for the next time
 *
 * Return: 0 or -errno.
 */
int live_events_read(struct live_events *events, struct model *model, uint64_t until)
{
	struct kfd_event event;
	struct live_cpu *stream;
	uint64_t next;
	int cpu, ret;

	if (events->rec.stock)
		return live_stock_read(events, model, until);
	for (cpu = 0; cpu < events->rec.nr_cpus; cpu++) {
		if (events->rec.raw_fds[cpu] < 0 || events->cpus[cpu].data)
			continue;
		ret = cpu_next(events, cpu);
		if (ret)
			return ret;
	}
	while ((cpu = cpu_earliest(events, &next)) >= 0 && events->cpus[cpu].ts <= until) {
		stream = &events->cpus[cpu];
		while (stream->data && stream->ts <= next && stream->ts <= until) {
			ret = kfd_decode(&events->decoder, stream->data, kbuffer_event_size(stream->kbuf), &event);
			events->damaged += ret < 0;
			if (ret > 0) {
				/* two clocks may differ by a little */
				event.ts = stream->ts > model->last ? stream->ts : model->last;
				event.cpu = cpu;
				kfd_unmap_complete(&events->unmaps, &event);
				if (model_event(model, &event))
					return -ENOMEM;
				events->all++;
			}
			ret = cpu_next(events, cpu);
			if (ret)
				return ret;
		}
	}
	return 0;
}

/**
 * live_events_lost() - events that the kernel could not keep
 * @events: open
 *
 * Return: how many since the start.
 */
uint64_t live_events_lost(struct live_events *events)
{
	uint64_t lost = 0;
	int cpu;

	/* what was counted last, if it cannot be read now */
	if (events->rec.stock)
		stock_lost(events->rec.stock, events->rec.lost, events->rec.nr_cpus);
	for (cpu = 0; cpu < events->rec.nr_cpus; cpu++) {
		if (!events->rec.stock)
			free(instance_stats(&events->rec, cpu));
		lost += events->rec.lost[cpu];
	}
	return lost;
}

/**
 * live_events_close() - remove the instance, or leave one that was named as it was found
 * @events: of live_events_open()
 */
void live_events_close(struct live_events *events)
{
	int cpu;

	record_close(&events->rec);
	for (cpu = 0; events->cpus && cpu < events->rec.nr_cpus; cpu++) {
		free(events->cpus[cpu].page);
		if (events->cpus[cpu].kbuf)
			kbuffer_free(events->cpus[cpu].kbuf);
	}
	free(events->cpus);
	free(events->pending);
	free(events->rec.raw_fds);
	free(events->rec.part_fds);
	free(events->rec.lost);
	free(events->rec.entries);
	free(events->rec.oldest_ns);
	if (events->tep)
		tep_free(events->tep);
	*events = (struct live_events){ 0 };
}
