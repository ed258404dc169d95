// SPDX-License-Identifier: GPL-2.0
/*
 * Reads trace.dat (version 6): the head into libtraceevent, then the pages of all CPUs in
 * the order of time.
 *
 * Memory does not grow with the file: each CPU has a window of a few pages.  The pages are
 * taken apart here and not by a library because a damaged file may say anything: each
 * length is checked against the page before it is believed.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <traceevent/event-parse.h>

#include "trace-file.h"

#define MAX_CPUS    4096
#define MAX_TEXT    (64U << 20) /* kallsyms, the largest, has about 15 MB */
#define MAX_FORMAT  (1U << 20)
#define MAX_EVENTS  100000
#define MAX_COMMS   1000000
#define PAGE_HEAD   16 /* timestamp and commit, of a 64-bit kernel */
#define WINDOW	    (256U << 10)

/* Of the page's commit: flags and length. */
#define COMMIT_MISSED (1U << 31)
#define COMMIT_LENGTH 0xfffffU

enum record_type {
	RECORD_LONG = 0,
	RECORD_PADDING = 29,
	RECORD_TIME_EXTEND = 30,
	RECORD_TIME_STAMP = 31,
};

#define DELTA_BITS 27
#define STAMP_TOP  (~0ULL << 59) /* bits that an absolute time stamp has no room for */

/**
 * struct stream - the pages of one CPU
 * @cpu: its number
 * @pos: offset in the file of what is not in the window yet
 * @end: offset of the end
 * @window: pages that were read, @have bytes
 * @have: bytes in @window
 * @page: offset in @window of the page in work
 * @at: offset in the page of the next record
 * @limit: end of the records in the page
 * @ts: time of the record
 * @data: the record that comes next, @size bytes
 * @size: its size
 */
struct stream {
	int cpu;
	uint64_t pos, end;
	char *window;
	size_t have, page;
	unsigned int at, limit;
	uint64_t ts;
	const char *data;
	unsigned int size;
};

/**
 * struct comm - a task's name
 * @pid: thread
 * @name: name, raw bytes
 */
struct comm {
	int32_t pid;
	char name[TRACE_COMM + 1];
};

struct trace_file {
	int fd;
	const char *path;
	uint64_t size, pos;
	uint32_t page_size;
	struct tep_handle *tep;
	struct kfd_decoder decoder;
	struct stream *streams;
	int nr_cpus;
	/* a heap of those that have a record, the earliest first */
	struct stream **heap;
	int nr_heap;
	bool taken; /* the record of heap[0] was given out */
	struct trace_loss loss;
	uint64_t foreign;
	char *clock;
	struct comm *comms;
	size_t nr_comms;
	char *why;
};

static __attribute__((format(printf, 3, 4))) int fail(struct trace_file *file, int err,
						      const char *format, ...)
{
	va_list args;
	int n;

	n = snprintf(file->why, TRACE_WHY, "%s: ", file->path);
	if (n < 0 || n >= TRACE_WHY)
		n = 0;
	va_start(args, format);
	vsnprintf(file->why + n, TRACE_WHY - n, format, args);
	va_end(args);
	return -err;
}

static int take(struct trace_file *file, void *to, size_t size)
{
	ssize_t got;

	if (size > file->size - file->pos)
		return fail(file, EPROTO, "the file ends in the middle of its head: truncated");
	got = pread(file->fd, to, size, file->pos);
	if (got < 0)
		return fail(file, errno, "%s", strerror(errno));
	if ((size_t)got != size)
		return fail(file, EPROTO, "the file ends in the middle of its head: truncated");
	file->pos += size;
	return 0;
}

static int skip(struct trace_file *file, uint64_t size)
{
	if (size > file->size - file->pos)
		return fail(file, EPROTO, "the file ends in the middle of its head: truncated");
	file->pos += size;
	return 0;
}

/* Text of @size bytes, with a 0 after it. */
static int take_text(struct trace_file *file, uint64_t size, uint64_t max, char **text)
{
	int ret;

	if (size > max)
		return fail(file, EPROTO, "damaged: a part of %" PRIu64 " bytes at offset %" PRIu64,
			    size, file->pos);
	*text = malloc(size + 1);
	if (!*text)
		return fail(file, ENOMEM, "out of memory");
	ret = take(file, *text, size);
	if (ret) {
		free(*text);
		*text = NULL;
		return ret;
	}
	(*text)[size] = '\0';
	return 0;
}

static int take_magic(struct trace_file *file)
{
	static const char magic[] = "\x17\x08\x44tracing";
	char head[10], version[8] = "";
	unsigned char flags[2];
	unsigned int i;
	int ret;

	if (file->size < sizeof(head) + 8)
		return fail(file, EPROTO, "not a trace.dat: it has only %" PRIu64 " bytes", file->size);
	ret = take(file, head, sizeof(head));
	if (ret)
		return ret;
	if (memcmp(head, magic, sizeof(head)))
		return fail(file, EPROTO, "not a trace.dat: it does not begin as one");
	for (i = 0; i < sizeof(version); i++) {
		ret = take(file, &version[i], 1);
		if (ret)
			return ret;
		if (!version[i])
			break;
	}
	if (i == sizeof(version))
		return fail(file, EPROTO, "damaged: its version is no number");
	if (!strcmp(version, "7"))
		return fail(file, EPROTO,
			    "trace.dat of version 7, this program reads version 6: convert it with"
			    " 'trace-cmd convert --file-version 6 -i FILE -o NEW'");
	if (strcmp(version, "6"))
		return fail(file, EPROTO, "trace.dat of a version that is not 6");
	ret = take(file, flags, sizeof(flags));
	if (ret)
		return ret;
	if (flags[0] != (__BYTE_ORDER == __BIG_ENDIAN) || flags[1] != 8)
		return fail(file, EPROTO, "recorded on a machine of another byte order or of 32 bits");
	ret = take(file, &file->page_size, 4);
	if (ret)
		return ret;
	if (file->page_size < 4096 || file->page_size > 65536 || file->page_size & (file->page_size - 1))
		return fail(file, EPROTO, "damaged: pages of %u bytes", file->page_size);
	return 0;
}

static int take_headers(struct trace_file *file)
{
	uint64_t size;
	char name[16];
	char *text;
	int ret;

	ret = take(file, name, 12);
	if (ret)
		return ret;
	if (memcmp(name, "header_page", 12))
		return fail(file, EPROTO, "damaged: no header_page where it must be");
	ret = take(file, &size, 8);
	if (!ret)
		ret = take_text(file, size, MAX_FORMAT, &text);
	if (ret)
		return ret;
	ret = tep_parse_header_page(file->tep, text, size, 8);
	free(text);
	if (ret || tep_get_header_page_size(file->tep) != 8 || tep_is_old_format(file->tep))
		return fail(file, EPROTO, "its ring buffer is not that of a 64-bit kernel");
	ret = take(file, name, 13);
	if (ret)
		return ret;
	if (memcmp(name, "header_event", 13))
		return fail(file, EPROTO, "damaged: no header_event where it must be");
	ret = take(file, &size, 8);
	return ret ? ret : skip(file, size);
}

/*
 * Only fields are wanted: how to print them is a program of its own, which nobody
 * should have to trust.
 */
static int format_parse(struct trace_file *file, char *text)
{
	static const char no_print[] = "print fmt: \"\"\n";
	char *print = strstr(text, "print fmt:");

	if (!print)
		return -EPROTO;
	/* there is room: what is replaced is never shorter in a format of the kernel's */
	if (strlen(print) < sizeof(no_print) - 1)
		return -EPROTO;
	memcpy(print, no_print, sizeof(no_print));
	return tep_parse_event(file->tep, text, strlen(text), "kfd") ? -EPROTO : 0;
}

/* The formats of kfd go to libtraceevent, those of other systems are nothing to us. */
static int take_formats(struct trace_file *file, const char *system, uint32_t count)
{
	uint64_t size;
	char *text;
	int ret;

	if (count > MAX_EVENTS)
		return fail(file, EPROTO, "damaged: %u events in one system", count);
	while (count--) {
		ret = take(file, &size, 8);
		if (ret)
			return ret;
		if (strcmp(system, "kfd")) {
			ret = skip(file, size);
		} else {
			ret = take_text(file, size, MAX_FORMAT, &text);
			if (!ret) {
				if (format_parse(file, text))
					ret = fail(file, EPROTO, "damaged: the format of a kfd event");
				free(text);
			}
		}
		if (ret)
			return ret;
	}
	return 0;
}

static int take_systems(struct trace_file *file)
{
	uint32_t systems, count;
	char name[256];
	unsigned int i;
	int ret;

	ret = take(file, &count, 4);
	if (!ret)
		ret = take_formats(file, "ftrace", count);
	if (!ret)
		ret = take(file, &systems, 4);
	if (ret)
		return ret;
	if (systems > MAX_EVENTS)
		return fail(file, EPROTO, "damaged: %u event systems", systems);
	while (systems--) {
		for (i = 0; i < sizeof(name); i++) {
			ret = take(file, &name[i], 1);
			if (ret)
				return ret;
			if (!name[i])
				break;
		}
		if (i == sizeof(name))
			return fail(file, EPROTO, "damaged: the name of an event system has no end");
		ret = take(file, &count, 4);
		if (!ret)
			ret = take_formats(file, name, count);
		if (ret)
			return ret;
	}
	return 0;
}

static int comm_compare(const void *left, const void *right)
{
	const struct comm *a = left, *b = right;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

/* Lines "PID NAME". */
static int take_cmdlines(struct trace_file *file)
{
	char *text, *line, *rest;
	uint64_t size;
	size_t lines = 0;
	int ret;

	ret = take(file, &size, 8);
	if (!ret)
		ret = take_text(file, size, MAX_TEXT, &text);
	if (ret)
		return ret;
	for (line = text; (line = strchr(line, '\n')); line++)
		lines++;
	lines = lines < MAX_COMMS ? lines : MAX_COMMS;
	file->comms = calloc(lines + 1, sizeof(*file->comms));
	if (!file->comms) {
		free(text);
		return fail(file, ENOMEM, "out of memory");
	}
	for (line = strtok_r(text, "\n", &rest); line && file->nr_comms < lines;
	     line = strtok_r(NULL, "\n", &rest)) {
		struct comm *comm = &file->comms[file->nr_comms];

		if (sscanf(line, "%d %16[^\n]", &comm->pid, comm->name) == 2)
			file->nr_comms++;
	}
	free(text);
	qsort(file->comms, file->nr_comms, sizeof(*file->comms), comm_compare);
	return 0;
}

static void stats_count(struct trace_file *file, const char *text)
{
	static const char *const what[] = { "\noverrun: ", "\ncommit overrun: ", "\ndropped events: " };
	const char *at;
	unsigned int i;

	for (i = 0; i < sizeof(what) / sizeof(*what); i++) {
		at = strstr(text, what[i]);
		if (at)
			file->loss.overrun += strtoull(at + strlen(what[i]), NULL, 10);
	}
}

enum option {
	OPTION_DONE = 0,
	OPTION_CPUSTAT = 2,
	OPTION_TRACECLOCK = 4,
};

static int take_options(struct trace_file *file)
{
	uint16_t option;
	uint32_t size;
	char *text, *open, *close;
	int ret;

	for (;;) {
		ret = take(file, &option, 2);
		if (ret || option == OPTION_DONE)
			return ret;
		ret = take(file, &size, 4);
		if (ret)
			return ret;
		if (option != OPTION_CPUSTAT && option != OPTION_TRACECLOCK) {
			ret = skip(file, size);
			if (ret)
				return ret;
			continue;
		}
		ret = take_text(file, size, MAX_FORMAT, &text);
		if (ret)
			return ret;
		if (option == OPTION_CPUSTAT) {
			stats_count(file, text);
		} else {
			/* the one in use is in brackets, as in the file trace_clock */
			open = strchr(text, '[');
			close = open ? strchr(open, ']') : NULL;
			if (close && !file->clock)
				file->clock = strndup(open + 1, close - open - 1);
		}
		free(text);
	}
}

static int take_cpus(struct trace_file *file)
{
	uint32_t cpus;
	char kind[10];
	uint64_t place[2];
	unsigned int i;
	int ret;

	ret = take(file, &cpus, 4);
	if (!ret)
		ret = take(file, kind, sizeof(kind));
	if (!ret && !memcmp(kind, "options  ", 10)) {
		ret = take_options(file);
		if (!ret)
			ret = take(file, kind, sizeof(kind));
	}
	if (ret)
		return ret;
	if (!memcmp(kind, "latency  ", 10))
		return fail(file, EPROTO, "it has text of a latency tracer and no events");
	if (memcmp(kind, "flyrecord", 10))
		return fail(file, EPROTO, "damaged: no events where they must be");
	if (!cpus || cpus > MAX_CPUS)
		return fail(file, EPROTO, "damaged: %u CPUs", cpus);
	file->streams = calloc(cpus, sizeof(*file->streams));
	file->heap = calloc(cpus, sizeof(struct stream *));
	if (!file->streams || !file->heap)
		return fail(file, ENOMEM, "out of memory");
	file->nr_cpus = cpus;
	for (i = 0; i < cpus; i++) {
		ret = take(file, place, sizeof(place));
		if (ret)
			return ret;
		if (place[0] > file->size || place[1] > file->size - place[0])
			return fail(file, EPROTO,
				    "the events of CPU %u end after the file: truncated", i);
		file->streams[i].cpu = i;
		file->streams[i].pos = place[0];
		file->streams[i].end = place[0] + place[1];
	}
	return 0;
}

/* 1: there is a page; 0: the end; else -errno */
static int page_load(struct trace_file *file, struct stream *stream)
{
	uint64_t head[2], left;
	size_t want;
	ssize_t got;

	for (;;) {
		stream->page += file->page_size;
		if (!stream->window || stream->page + file->page_size > stream->have) {
			left = stream->end - stream->pos;
			if (left < file->page_size)
				return 0;
			if (!stream->window) {
				/* many CPUs share what one may have */
				stream->window = malloc(WINDOW);
				if (!stream->window)
					return fail(file, ENOMEM, "out of memory");
			}
			want = file->nr_cpus > 64 ? file->page_size : WINDOW;
			want = left < want ? left - left % file->page_size : want;
			got = pread(file->fd, stream->window, want, stream->pos);
			if (got < 0)
				return fail(file, errno, "%s", strerror(errno));
			if ((size_t)got < want)
				return fail(file, EPROTO, "the file has become shorter");
			stream->have = got;
			stream->pos += got;
			stream->page = 0;
		}
		memcpy(head, stream->window + stream->page, sizeof(head));
		if (head[1] & COMMIT_MISSED)
			file->loss.gaps++;
		stream->limit = head[1] & COMMIT_LENGTH;
		if (stream->limit > file->page_size - PAGE_HEAD) {
			file->loss.damaged++;
			continue;
		}
		if (!stream->limit)
			continue;
		stream->limit += PAGE_HEAD;
		stream->at = PAGE_HEAD;
		stream->ts = head[0];
		return 1;
	}
}

/* The next record of one CPU.  1: there is one; 0: the end; else -errno */
static int stream_next(struct trace_file *file, struct stream *stream)
{
	uint32_t word, more, type, room, length;
	const char *page;
	int ret;

	for (;;) {
		if (stream->at >= stream->limit) {
			ret = page_load(file, stream);
			if (ret <= 0)
				return ret;
		}
		page = stream->window + stream->page;
		room = stream->limit - stream->at;
		if (room < 4)
			goto damaged;
		memcpy(&word, page + stream->at, 4);
		type = word & 31;
		if (type > RECORD_LONG && type < RECORD_PADDING) {
			length = type * 4;
			if (length > room - 4)
				goto damaged;
			stream->ts += word >> 5;
			stream->data = page + stream->at + 4;
			stream->size = length;
			stream->at += 4 + length;
			return 1;
		}
		if (type == RECORD_PADDING && !(word >> 5)) {
			/* nothing more on this page */
			stream->at = stream->limit;
			continue;
		}
		if (room < 8)
			goto damaged;
		memcpy(&more, page + stream->at + 4, 4);
		if (type == RECORD_TIME_EXTEND) {
			stream->ts += ((uint64_t)more << DELTA_BITS) + (word >> 5);
			stream->at += 8;
			continue;
		}
		if (type == RECORD_TIME_STAMP) {
			stream->ts = (stream->ts & STAMP_TOP) |
				     (((uint64_t)more << DELTA_BITS) + (word >> 5));
			stream->at += 8;
			continue;
		}
		/* @more is the length and counts itself */
		if (more < 4 || more > room - 4)
			goto damaged;
		stream->ts += word >> 5;
		stream->data = page + stream->at + 8;
		stream->size = more - 4;
		stream->at += 4 + ((more + 3) & ~3U);
		if (type == RECORD_LONG)
			return 1;
		continue;
damaged:
		file->loss.damaged++;
		stream->at = stream->limit;
	}
}

static bool earlier(const struct stream *a, const struct stream *b)
{
	return a->ts != b->ts ? a->ts < b->ts : a->cpu < b->cpu;
}

static void heap_sink(struct trace_file *file, int at)
{
	struct stream **heap = file->heap;
	int child;

	while ((child = 2 * at + 1) < file->nr_heap) {
		struct stream *moved = heap[at];

		if (child + 1 < file->nr_heap && earlier(heap[child + 1], heap[child]))
			child++;
		if (!earlier(heap[child], moved))
			return;
		heap[at] = heap[child];
		heap[child] = moved;
		at = child;
	}
}

static int head_read(struct trace_file *file)
{
	uint32_t size;
	int ret, i;

	ret = take_magic(file);
	if (!ret)
		ret = take_headers(file);
	if (!ret)
		ret = take_systems(file);
	if (!ret)
		ret = take(file, &size, 4);	/* kallsyms */
	if (!ret)
		ret = skip(file, size);
	if (!ret)
		ret = take(file, &size, 4);	/* printk formats */
	if (!ret)
		ret = skip(file, size);
	if (!ret)
		ret = take_cmdlines(file);
	if (!ret)
		ret = take_cpus(file);
	if (ret)
		return ret;
	ret = kfd_decoder_init(&file->decoder, file->tep);
	if (ret < 0)
		return fail(file, EPROTO, "its kfd events lack fields: of another release of kfdprio");
	if (!ret)
		return fail(file, EPROTO, "it has no kfd events: was it recorded with '-e kfd'?");
	for (i = 0; i < file->nr_cpus; i++) {
		ret = stream_next(file, &file->streams[i]);
		if (ret < 0)
			return ret;
		if (ret)
			file->heap[file->nr_heap++] = &file->streams[i];
	}
	for (i = file->nr_heap / 2 - 1; i >= 0; i--)
		heap_sink(file, i);
	return 0;
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
		fail(file, errno, "%s", strerror(errno));
		goto err_close;
	}
	if (!S_ISREG(status.st_mode)) {
		fail(file, EINVAL, "not a file");
		goto err_close;
	}
	file->size = status.st_size;
	posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	file->tep = tep_alloc();
	if (!file->tep) {
		fail(file, ENOMEM, "out of memory");
		goto err_close;
	}
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(file->tep, 8);
	if (head_read(file))
		goto err_close;
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
	for (i = 0; i < file->nr_cpus; i++)
		free(file->streams[i].window);
	free(file->streams);
	free(file->heap);
	free(file->comms);
	free(file->clock);
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
	struct stream *stream;
	int ret;

	file->why = why;
	while (file->nr_heap) {
		stream = file->heap[0];
		if (file->taken) {
			file->taken = false;
			ret = stream_next(file, stream);
			if (ret < 0)
				return ret;
			if (!ret)
				file->heap[0] = file->heap[--file->nr_heap];
			heap_sink(file, 0);
			continue;
		}
		file->taken = true;
		event->ts = stream->ts;
		event->cpu = stream->cpu;
		ret = kfd_decode(&file->decoder, stream->data, stream->size, event);
		if (ret > 0)
			return 1;
		if (ret)
			file->loss.damaged++;
		else
			file->foreign++;
	}
	return 0;
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
 * Return: its name, owned by @file, "?" if the file does not tell.
 */
const char *trace_clock(const struct trace_file *file)
{
	return file->clock ? file->clock : "?";
}

/**
 * trace_comm() - the name that a thread had when it recorded an event
 * @file: the file
 * @pid: the thread
 *
 * Return: its name, raw bytes, owned by @file, or NULL.
 */
const char *trace_comm(const struct trace_file *file, int32_t pid)
{
	struct comm key = { .pid = pid };
	const struct comm *found = bsearch(&key, file->comms, file->nr_comms, sizeof(key), comm_compare);

	return found ? found->name : NULL;
}
