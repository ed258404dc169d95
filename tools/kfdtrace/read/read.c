// SPDX-License-Identifier: GPL-2.0
/* Reads trace.dat: what others call. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

static int record_next(struct trace_file *file, struct trace_record *record)
{
	const struct stream *stream;
	int ret;

	if (file->seven)
		return trace_seven_next(file, record);
	ret = trace_pages_next(file, &stream);
	if (ret > 0)
		*record = (struct trace_record){ stream->ts, stream->cpu, stream->data, stream->size };
	return ret;
}

/* Without a format of kfd, no event is one: say which there are. */
static void others_say(struct trace_file *file)
{
	struct trace_record record;
	char others[TRACE_WHY / 2];

	while (record_next(file, &record) > 0)
		trace_other_count(file, &record);
	if (trace_others(file, others, sizeof(others)))
		trace_say(file, "the file has no kfd events: record with '-e kfd'; it has %s", others);
	else
		trace_say(file, "the file has no kfd events, and no others: record with '-e kfd'");
}

/**
 * trace_open() - open a trace.dat and read its head
 * @path: the file; must outlive the result
 * @why: on failure, what is wrong; TRACE_WHY bytes
 *
 * Return: the file, to be closed with trace_close(), or NULL.
 */
struct trace_file *trace_open(const char *path, char *why)
{
	struct trace_file *file = calloc(1, sizeof(*file));
	struct stat status;

	if (!file) {
		snprintf(why, TRACE_WHY, "out of memory");
		return NULL;
	}
	file->path = path;
	file->why = why;
	/* not to wait for the writer of a pipe */
	file->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (file->fd < 0 || fstat(file->fd, &status)) {
		trace_say(file, "%s", strerror(errno));
		goto err_close;
	}
	if (!S_ISREG(status.st_mode)) {
		trace_say(file, "not a file");
		goto err_close;
	}
	file->size = status.st_size;
	posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	file->tep = tep_alloc();
	if (!file->tep) {
		trace_say(file, "out of memory");
		goto err_close;
	}
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(file->tep, 8);
	if (trace_head_read(file) || (!file->seven && trace_pages_start(file)))
		goto err_close;
	if (file->no_kfd) {
		others_say(file);
		goto err_close;
	}
	return file;

err_close:
	trace_close(file);
	return NULL;
}

/**
 * trace_close() - close what trace_open() opened
 * @file: the file, or NULL
 */
void trace_close(struct trace_file *file)
{
	int i;

	if (!file)
		return;
	trace_seven_close(file);
	for (i = 0; file->streams && i < file->nr_cpus; i++)
		free(file->streams[i].window);
	free(file->streams);
	free(file->heap);
	free(file->comms);
	free(file->clock);
	free(file->others);
	free(file->names);
	for (i = 0; i < (int)file->nr_buffers; i++) {
		free(file->buffers[i].name);
		free(file->buffers[i].clock);
	}
	free(file->buffers);
	if (file->tep)
		tep_free(file->tep);
	if (file->fd >= 0)
		close(file->fd);
	free(file);
}

/**
 * trace_next() - the next kfd event of all CPUs, in the order of time
 * @file: the file
 * @event: filled in
 * @why: on failure, what is wrong; TRACE_WHY bytes
 *
 * Events of other systems are counted and left out.
 *
 * Return: 1; 0 at the end; -errno if the file cannot be read.
 */
int trace_next(struct trace_file *file, struct kfd_event *event, char *why)
{
	struct trace_record record;
	int ret;

	file->why = why;
	while ((ret = record_next(file, &record)) > 0) {
		event->ts = record.ts;
		event->cpu = record.cpu;
		/* the model cannot go back */
		ret = record.ts < file->last ? -EPROTO :
					       kfd_decode(&file->decoder, record.data, record.size, event);
		if (record.ts > file->last)
			file->last = record.ts;
		if (ret > 0) {
			kfd_unmap_complete(&file->unmaps, event);
			return 1;
		}
		if (ret)
			file->loss.damaged++;
		else if (!kfd_is_idle(&file->decoder, record.data, record.size))
			trace_other_count(file, &record);
	}
	return ret;
}

/**
 * trace_knows() - whether the driver that was recorded has an event
 * @file: open
 * @type: the event
 *
 * Return: whether the file has its format.
 */
bool trace_knows(const struct trace_file *file, enum kfd_event_type type)
{
	return memchr(file->decoder.type_of, type, sizeof(file->decoder.type_of));
}

/**
 * trace_loss() - what was found missing so far
 * @file: the file
 *
 * Return: the numbers, owned by @file.
 */
const struct trace_loss *trace_loss(const struct trace_file *file)
{
	return &file->loss;
}

/**
 * trace_gaps() - where events are missing, as far as the file was read
 * @file: the file
 * @gaps: out: the places, owned by @file
 *
 * Return: how many.
 */
size_t trace_gaps(const struct trace_file *file, const struct trace_gap **gaps)
{
	*gaps = file->gaps;
	return file->nr_gaps;
}

/**
 * trace_foreign() - events of other systems so far
 * @file: the file
 *
 * Return: their number.
 */
uint64_t trace_foreign(const struct trace_file *file)
{
	return file->foreign;
}

/**
 * trace_cpus() - CPUs of the recording
 * @file: the file
 *
 * Return: their number.
 */
int trace_cpus(const struct trace_file *file)
{
	return file->nr_cpus;
}

/**
 * trace_clock() - clock of the recording
 * @file: the file
 *
 * Return: its name, owned by @file, NULL if the file does not tell.
 */
const char *trace_clock(const struct trace_file *file)
{
	return file->clock;
}
