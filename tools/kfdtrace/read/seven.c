// SPDX-License-Identifier: GPL-2.0
/*
 * trace.dat of version 7, which trace-cmd 3 writes and may compress, and of version 6 with several buffers:
 * libtracecmd reads them.
 *
 * Unlike the other files of version 6, such as we write ourselves, such a file is read by a library that trusts
 * it: damage is refused, or not noticed.  What the library has no function for is in options.c.
 *
 * Each trace instance has a buffer of its own in the file.  The same event may have been enabled in several:
 * an event type is taken from the buffer that has the most of it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file.h"

#ifdef HAVE_TRACECMD
#include <trace-cmd.h>

#define SLOWEST 500000 /* bytes of a file that the library reads in a second of CPU time, at least */

/**
 * struct seven_stream - the records of one CPU in one buffer
 * @input: libtracecmd's, of the buffer
 * @buffer: its number, 0 for the main one
 * @cpu: the CPU
 * @next: the record that comes next, or NULL
 * @last: time of the last record
 */
struct seven_stream {
	struct tracecmd_input *input;
	int buffer, cpu;
	struct tep_record *next;
	uint64_t last;
};

/**
 * struct trace_seven - a file of version 7
 * @input: libtracecmd's, of each buffer; the first is the main one
 * @nr_inputs: how many
 * @stream: of each CPU and buffer
 * @nr_streams: how many
 * @given: the stream whose record was given out and is done with, or NULL
 * @owner: from which buffer an event is taken
 */
struct trace_seven {
	struct tracecmd_input **input;
	int nr_inputs;
	struct seven_stream *stream;
	int nr_streams;
	struct seven_stream *given;
	int owner[NR_KFD_EVENTS];
};

/* An open file of its own: libtracecmd moves the offset, and closes the descriptor. */
static struct tracecmd_input *open_again(int fd)
{
	struct tracecmd_input *input;
	char path[32];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_CLOEXEC);
	if (again < 0)
		return NULL;
	input = tracecmd_open_fd(again, TRACECMD_FL_LOAD_NO_PLUGINS | TRACECMD_FL_LOAD_NO_SYSTEM_PLUGINS);
	if (!input)
		close(again);
	return input;
}

static void records_read(struct tracecmd_input *input)
{
	int cpus = tep_get_cpus(tracecmd_get_tep(input)), cpu;
	struct tep_record *record;

	for (cpu = 0; cpu < cpus; cpu++) {
		record = tracecmd_read_cpu_first(input, cpu);
		for (; record; record = tracecmd_read_data(input, cpu))
			tracecmd_free_record(record);
	}
}

/*
 * Read all of it in a child first: some damaged files kill the library, and in others it turns for ever.  The limit
 * is far above the time that it needs.
 * Return: whether it can be read.
 */
static bool try_first(int fd, uint64_t size)
{
	struct tracecmd_input *input, *buffer;
	int status, i;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child < 0)
		return false;
	if (!child) {
		const struct rlimit none = { 0, 0 }, seconds = { 5 + size / SLOWEST, RLIM_INFINITY };

		setrlimit(RLIMIT_CORE, &none);
		setrlimit(RLIMIT_CPU, &seconds);
		input = open_again(fd);
		if (!input)
			_exit(1);
		records_read(input);
		for (i = 0; i < tracecmd_buffer_instances(input); i++) {
			buffer = tracecmd_buffer_instance_handle(input, i);
			if (!buffer)
				_exit(1);
			records_read(buffer);
		}
		_exit(0);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Each buffer: the main one, and those with names. */
static int buffers_open(struct trace_file *file)
{
	struct trace_seven *seven = file->seven;
	struct tracecmd_input *input = open_again(file->fd);
	int nr, i;

	if (!input)
		return trace_fail(file, EPROTO, "damaged or truncated: libtracecmd cannot read it");
	/* the times of the trace clock are wanted: those of day, with --date, are not */
	if (file->added)
		tracecmd_add_ts_offset(input, -file->added);
	nr = tracecmd_buffer_instances(input);
	seven->input = calloc(nr + 1, sizeof(struct tracecmd_input *));
	if (!seven->input) {
		tracecmd_close(input);
		return trace_fail(file, ENOMEM, "out of memory");
	}
	seven->input[seven->nr_inputs++] = input;
	for (i = 0; i < nr; i++) {
		seven->input[i + 1] = tracecmd_buffer_instance_handle(input, i);
		if (!seven->input[i + 1])
			return trace_fail(file, EPROTO, "damaged: libtracecmd cannot read buffer %d", i);
		seven->nr_inputs++;
	}
	return 0;
}

static void streams_rewind(struct trace_seven *seven)
{
	struct seven_stream *stream;

	for (stream = seven->stream; stream < seven->stream + seven->nr_streams; stream++) {
		tracecmd_free_record(stream->next);
		stream->last = 0;
		stream->next = tracecmd_read_cpu_first(stream->input, stream->cpu);
	}
	seven->given = NULL;
}

static int streams_make(struct trace_file *file)
{
	struct trace_seven *seven = file->seven;
	int buffer, cpu;

	seven->stream = calloc((size_t)seven->nr_inputs * file->nr_cpus, sizeof(*seven->stream));
	if (!seven->stream)
		return trace_fail(file, ENOMEM, "out of memory");
	for (buffer = 0; buffer < seven->nr_inputs; buffer++)
		for (cpu = 0; cpu < file->nr_cpus; cpu++)
			seven->stream[seven->nr_streams++] =
				(struct seven_stream){ .input = seven->input[buffer], .buffer = buffer, .cpu = cpu };
	streams_rewind(seven);
	return 0;
}

/* NULL at the end */
static struct seven_stream *stream_next(struct trace_seven *seven)
{
	struct seven_stream *stream, *first = NULL;

	stream = seven->given;
	if (stream) {
		stream->last = stream->next->ts;
		tracecmd_free_record(stream->next);
		stream->next = tracecmd_read_data(stream->input, stream->cpu);
	}
	for (stream = seven->stream; stream < seven->stream + seven->nr_streams; stream++)
		if (stream->next && (!first || stream->next->ts < first->next->ts))
			first = stream;
	seven->given = first;
	return first;
}

/* Read all to know which buffer has the most of each event. */
static int owners_find(struct trace_file *file)
{
	struct trace_seven *seven = file->seven;
	uint64_t (*count)[NR_KFD_EVENTS] = calloc(seven->nr_inputs, sizeof(*count));
	struct seven_stream *stream;
	struct kfd_event event;
	int type, buffer;

	if (!count)
		return trace_fail(file, ENOMEM, "out of memory");
	while ((stream = stream_next(seven)))
		if (kfd_decode(&file->decoder, stream->next->data, stream->next->size, &event) > 0)
			count[stream->buffer][event.type]++;
	for (type = 0; type < NR_KFD_EVENTS; type++) {
		seven->owner[type] = -1;
		for (buffer = 0; buffer < seven->nr_inputs; buffer++)
			if (count[buffer][type] &&
			    (seven->owner[type] < 0 || count[buffer][type] > count[seven->owner[type]][type]))
				seven->owner[type] = buffer;
	}
	free(count);
	streams_rewind(seven);
	return 0;
}

/* The clock of the buffers from which events are taken. */
static int clock_find(struct trace_file *file)
{
	struct trace_seven *seven = file->seven;
	const char *clock = NULL, *other;
	bool found = false;
	char *copy;
	int type;

	for (type = 0; type < NR_KFD_EVENTS; type++) {
		int buffer = seven->owner[type];

		if (buffer < 0)
			continue;
		other = trace_buffer_clock(
			file, buffer ? tracecmd_buffer_instance_name(seven->input[0], buffer - 1) : NULL);
		if (found && (other ? !clock || strcmp(clock, other) : !!clock))
			return trace_fail(file, EPROTO,
					  "the kfd events are in buffers of several clocks (%s, %s): record them with one",
					  clock ? clock : "unknown", other ? other : "unknown");
		clock = other;
		found = true;
	}
	if (!found)
		clock = trace_buffer_clock(file, NULL);
	copy = clock ? strdup(clock) : NULL;
	free(file->clock);
	file->clock = copy;
	return trace_clock_check(file);
}

/**
 * trace_seven_open() - open a file of version 7, or of 6 with several buffers
 * @file: open; its options were read
 *
 * Return: 0 or -errno.
 */
int trace_seven_open(struct trace_file *file)
{
	struct trace_seven *seven = calloc(1, sizeof(*seven));
	int ret;

	if (!seven)
		return trace_fail(file, ENOMEM, "out of memory");
	file->seven = seven;
	tracecmd_set_loglevel(TEP_LOG_NONE);
	if (!try_first(file->fd, file->size))
		return trace_fail(file, EPROTO, "damaged or truncated: libtracecmd cannot read it");
	ret = buffers_open(file);
	if (ret)
		return ret;
	file->nr_cpus = tep_get_cpus(trace_seven_tep(file));
	if (file->nr_cpus < 1)
		return trace_fail(file, EPROTO, "the file has no events");
	ret = kfd_decoder_init(&file->decoder, trace_seven_tep(file));
	if (ret < 0)
		return trace_fail(file, EPROTO, "the kfd events lack fields: the file is from another release of kfdprio");
	file->no_kfd = !ret;
	ret = streams_make(file);
	if (!ret)
		ret = owners_find(file);
	return ret ? ret : clock_find(file);
}

/**
 * trace_seven_tep() - the formats of a file
 * @file: opened by trace_seven_open()
 *
 * Return: libtraceevent's handle, owned by @file.
 */
struct tep_handle *trace_seven_tep(const struct trace_file *file)
{
	return tracecmd_get_tep(file->seven->input[0]);
}

/**
 * trace_seven_close() - close what trace_seven_open() opened
 * @file: the file
 */
void trace_seven_close(struct trace_file *file)
{
	struct trace_seven *seven = file->seven;
	int i;

	if (!seven)
		return;
	for (i = 0; i < seven->nr_streams; i++)
		tracecmd_free_record(seven->stream[i].next);
	free(seven->stream);
	/* the main one is last: the others refer to it */
	for (i = seven->nr_inputs - 1; i >= 0; i--)
		tracecmd_close(seven->input[i]);
	free(seven->input);
	free(seven);
}

/**
 * trace_seven_next() - the next record of all CPUs and buffers, in the order of time
 * @file: the file
 * @record: filled in; valid until the next call
 *
 * Return: 1; 0 at the end.
 */
int trace_seven_next(struct trace_file *file, struct trace_record *record)
{
	struct trace_seven *seven = file->seven;
	struct seven_stream *stream;
	struct kfd_event event;
	struct tep_record *r;

	do {
		stream = stream_next(seven);
		if (!stream)
			return 0;
		r = stream->next;
		if (r->missed_events) {
			file->loss.gaps++;
			trace_gap_add(file, stream->cpu, stream->last, r->ts);
		}
	} while (seven->nr_inputs > 1 && kfd_decode(&file->decoder, r->data, r->size, &event) > 0 &&
		 seven->owner[event.type] != stream->buffer);
	*record = (struct trace_record){ r->ts, stream->cpu, r->data, r->size };
	return 1;
}

/**
 * trace_seven_comm() - the name that a thread had when it recorded an event
 * @file: the file
 * @pid: the thread
 *
 * Return: its name, owned by @file, or NULL.
 */
const char *trace_seven_comm(const struct trace_file *file, int32_t pid)
{
	struct tep_handle *tep = trace_seven_tep(file);

	return tep_is_pid_registered(tep, pid) ? tep_data_comm_from_pid(tep, pid) : NULL;
}

#else /* built without libtracecmd */

int trace_seven_open(struct trace_file *file)
{
	size_t i;

	for (i = 0; i < file->nr_buffers; i++)
		if (file->buffers[i].name && *file->buffers[i].name)
			return trace_fail(file, EPROTO,
					  "there are events in the buffer %s, and kfdtrace was built without libtracecmd, which reads it: use 'trace-cmd extract' or 'trace-cmd split' of that buffer",
					  file->buffers[i].name);
	return trace_fail(file, EPROTO,
			  "trace.dat of version 7, and kfdtrace was built without libtracecmd: convert the file with"
			  " 'trace-cmd convert --file-version 6 -i FILE -o NEW'");
}

struct tep_handle *trace_seven_tep(const struct trace_file *file)
{
	return file->tep;
}

void trace_seven_close(struct trace_file *file)
{
	(void)file;
}

int trace_seven_next(struct trace_file *file, struct trace_record *record)
{
	(void)file;
	(void)record;
	return 0;
}

const char *trace_seven_comm(const struct trace_file *file, int32_t pid)
{
	(void)file;
	(void)pid;
	return NULL;
}

#endif
