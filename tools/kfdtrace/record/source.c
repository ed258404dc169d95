// SPDX-License-Identifier: GPL-2.0
/* Where the events of a recording come from: a trace instance, or probes of a driver that has no events. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "record.h"
#include "stock/stock.h"
#include "upstream-names.h"
#include "write.h"

#define RING_KB	   8192
#define PART_BUFFER (64 << 10)

/* Of a stock driver's events there are those of kfd alone, and no loop: a recording of anything else needs no driver */
static enum record_driver driver_of(const struct record_options *options)
{
	enum record_driver driver = record_driver_find("", options->driver, options->instance);

	if (driver == RECORD_STOCK && options->driver == RECORD_AUTO &&
	    (options->loop || options->instance || strcmp(options->events[0], "kfd") || options->events[1]))
		driver = RECORD_KFDPRIO;
	return driver;
}

/* "kfd" means the events of the driver */
static void events_of_upstream(const struct record_options *options)
{
	static char upstream[] = UPSTREAM_EVENTS;
	char **text;

	for (text = options->events; *text; text++)
		if (!strcmp(*text, "kfd"))
			*text = upstream;
}

static FILE *part(struct recording *rec, int cpu)
{
	int fd;

	if (!rec->parts[cpu]) {
		fd = dup(rec->part_fds[cpu]);
		rec->parts[cpu] = fd < 0 ? NULL : fdopen(fd, "w");
		if (!rec->parts[cpu] && fd >= 0)
			close(fd);
		else if (rec->parts[cpu])
			setvbuf(rec->parts[cpu], NULL, _IOFBF, PART_BUFFER);
	}
	return rec->parts[cpu];
}

/* Kept as it comes; record_stats() makes pages of it. */
static int keep(void *context, const struct stock_record *record, size_t size)
{
	static const char zeros[8];
	struct recording *rec = context;
	size_t pad = STOCK_ALIGN(size) - size;
	FILE *to;

	if (record->cpu >= (unsigned int)rec->nr_cpus || rec->full)
		return 0;
	if (rec->options->max_bytes && rec->bytes + size > rec->options->max_bytes) {
		rec->full = true;
		return 0;
	}
	to = part(rec, record->cpu);
	if (!to || fwrite(record, 1, size, to) != size || fwrite(zeros, 1, pad, to) != pad)
		return errno ? -errno : -ENOSPC;
	rec->bytes += size;
	return 0;
}

/* What was read is in the files from now on, whatever becomes of us. */
static int keep_all(struct recording *rec)
{
	int cpu;

	for (cpu = 0; cpu < rec->nr_cpus; cpu++)
		if (rec->parts[cpu] && fflush(rec->parts[cpu]))
			return errno ? -errno : -ENOSPC;
	return 0;
}

static void tell_missing(const struct stock *stock)
{
	const struct stock_symbol *symbols = stock_attached(stock);
	int i;

	for (i = 0; i < NR_STOCK_PROBES; i++)
		if (*symbols[i].why && !stock_probes[i].optional)
			warnx("no probe of '%s': %s; the recording lacks: %s",
			      *symbols[i].name ? symbols[i].name : stock_probes[i].names[0], symbols[i].why,
			      stock_probes[i].what);
}

static int probes_open(struct recording *rec, char *why)
{
	const struct record_options *options = rec->options;
	struct stock_sink sink = { keep, rec };

	if (record_cpus(rec, why))
		return -ENOMEM;
	rec->parts = calloc(rec->nr_cpus, sizeof(FILE *));
	if (!rec->parts) {
		snprintf(why, RECORD_WHY, "out of memory");
		return -ENOMEM;
	}
	rec->wanted_kb = options->buffer_kb ? options->buffer_kb : RING_KB;
	rec->stock = stock_open(options->btf, rec->wanted_kb, &sink, why);
	if (!rec->stock)
		return -EIO;
	rec->buffer_kb = stock_ring_kb(rec->stock);
	/* one for all CPUs */
	rec->raw_fds[0] = dup(stock_fd(rec->stock));
	if (rec->raw_fds[0] < 0) {
		snprintf(why, RECORD_WHY, "cannot read the ring buffer: %s", strerror(errno));
		return -errno;
	}
	tell_missing(rec->stock);
	return 0;
}

/**
 * record_open() - get ready to record
 * @rec: the recording
 * @why: on failure, what is wrong; RECORD_WHY bytes
 *
 * Return: 0 or -errno.
 */
int record_open(struct recording *rec, char *why)
{
	int ret;

	rec->driver = driver_of(rec->options);
	if (rec->driver == RECORD_STOCK)
		return probes_open(rec, why);
	if (rec->driver == RECORD_UPSTREAM)
		events_of_upstream(rec->options);
	ret = instance_open(rec, why);
	if (!ret)
		ret = instance_events(rec, why);
	if (!ret)
		ret = instance_size(rec, why);
	return ret ? ret : watch_open(rec, why);
}

/**
 * record_start() - record from now on
 * @rec: the recording
 *
 * Return: 0 or -errno, which was printed.
 */
int record_start(struct recording *rec)
{
	if (rec->stock) {
		stock_switch(rec->stock, true);
		return 0;
	}
	if (!tracefs_trace_on(rec->instance))
		return 0;
	warn("cannot switch on the trace instance '%s'", tracefs_instance_get_name(rec->instance));
	return -EIO;
}

/**
 * record_stop() - record no more
 * @rec: the recording
 */
void record_stop(struct recording *rec)
{
	if (rec->stock)
		stock_switch(rec->stock, false);
	else
		tracefs_trace_off(rec->instance);
}

/**
 * record_over() - whether the source has ended the recording
 * @rec: the recording; why it ended is filled in
 *
 * Return: whether.
 */
bool record_over(struct recording *rec)
{
	if (rec->stock && stock_gone(rec->stock))
		rec->ended_by = RECORD_END_UNLOADED;
	else if (!rec->stock && watch_stopped(rec))
		rec->ended_by = RECORD_END_PREEMPTION;
	else
		return false;
	return true;
}

/**
 * record_drain() - read what there is
 * @rec: the recording
 * @cpu: of this CPU; probes have one buffer for all
 * @why: on failure, what is wrong; RECORD_WHY bytes
 *
 * Return: 0 or -errno.
 */
int record_drain(struct recording *rec, int cpu, char *why)
{
	int ret;

	if (!rec->stock)
		return instance_drain(rec, cpu, why);
	ret = cpu ? 0 : stock_drain(rec->stock);
	if (!ret && !cpu)
		ret = keep_all(rec);
	if (ret)
		snprintf(why, RECORD_WHY, "cannot write the recording: %s", strerror(-ret));
	return ret;
}

/**
 * record_stats() - what was counted, and the pages are ready
 * @rec: the recording, at its end; its numbers of lost and read events are filled in
 * @stats: out: text for each CPU, to be freed with free(3), or NULL
 * @why: on failure, what is wrong; RECORD_WHY bytes
 *
 * Return: 0 or -errno.
 */
int record_stats(struct recording *rec, char **stats, char *why)
{
	int cpu, ret = 0;

	if (rec->stock)
		ret = stock_lost(rec->stock, rec->lost, rec->nr_cpus);
	if (ret)
		snprintf(why, RECORD_WHY, "cannot read how many events were lost: %s", strerror(-ret));
	for (cpu = 0; cpu < rec->nr_cpus && !ret; cpu++) {
		if (!rec->stock) {
			stats[cpu] = instance_stats(rec, cpu);
			continue;
		}
		ret = stock_pages(rec->part_fds[cpu], sysconf(_SC_PAGESIZE), &rec->entries[cpu], why);
		if (asprintf(&stats[cpu], "CPU: %d\nentries: 0\noverrun: %" PRIu64 "\nread events: %" PRIu64 "\n", cpu,
			     rec->lost[cpu], rec->entries[cpu]) < 0)
			stats[cpu] = NULL;
	}
	return ret;
}

/**
 * record_texts() - the formats of the events of probes
 *
 * Return: the texts, to be freed with record_texts_free(); NULL: out of memory.
 */
struct trace_texts *record_texts(void)
{
	struct trace_texts *texts = calloc(1, sizeof(*texts));
	bool whole;

	if (!texts)
		return NULL;
	texts->header_page = stock_header_page(sysconf(_SC_PAGESIZE));
	texts->header_event = strdup(stock_header_event());
	texts->formats = calloc(stock_formats(), sizeof(char *));
	whole = texts->header_page && texts->header_event && texts->formats;
	for (; whole && texts->nr < stock_formats(); texts->nr++) {
		texts->formats[texts->nr] = stock_format(texts->nr);
		whole = texts->formats[texts->nr];
	}
	if (whole)
		return texts;
	record_texts_free(texts);
	return NULL;
}

/**
 * record_texts_free() - free them
 * @texts: of record_texts(), or NULL
 */
void record_texts_free(struct trace_texts *texts)
{
	unsigned int i;

	if (!texts)
		return;
	for (i = 0; i < texts->nr; i++)
		free(texts->formats[i]);
	free(texts->formats);
	free(texts->header_event);
	free(texts->header_page);
	free(texts);
}

/**
 * record_close() - end it
 * @rec: the recording
 */
void record_close(struct recording *rec)
{
	int cpu;

	instance_close(rec);
	for (cpu = 0; rec->parts && cpu < rec->nr_cpus; cpu++)
		if (rec->parts[cpu])
			fclose(rec->parts[cpu]);
	free(rec->parts);
	rec->parts = NULL;
	stock_close(rec->stock);
	rec->stock = NULL;
}
