// SPDX-License-Identifier: GPL-2.0
/* The head of a trace.dat, version 6 (7: seven.c): into libtraceevent what is about kfd, the rest is skipped. */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "model/upstream.h"

#define MAX_CPUS   4096
#define MAX_TEXT   (64U << 20) /* kallsyms, the largest, has about 15 MB */
#define MAX_FORMAT (1U << 20)
#define MAX_EVENTS 100000
#define FORMAT_BEGIN 192 /* bytes of a format that has the name and the number of its event */
#define MAX_COMMS  1000000
#define MAX_OFFSET (1ULL << 48) /* 256 TB */

static int take(struct trace_file *file, void *to, size_t size)
{
	ssize_t got;

	if (size > file->size - file->pos)
		return trace_fail(file, EPROTO, "truncated: the file ends inside its header");
	got = pread(file->fd, to, size, file->pos);
	if (got < 0)
		return trace_fail(file, EIO, "%s", strerror(errno));
	if ((size_t)got != size)
		return trace_fail(file, EPROTO, "truncated: the file ends inside its header");
	file->pos += size;
	return 0;
}

static int skip(struct trace_file *file, uint64_t size)
{
	if (size > file->size - file->pos)
		return trace_fail(file, EPROTO, "truncated: the file ends inside its header");
	file->pos += size;
	return 0;
}

/* Text of @size bytes, with a 0 after it. */
static int take_text(struct trace_file *file, uint64_t size, uint64_t max, char **text)
{
	int ret;

	if (size > max)
		return trace_fail(file, EPROTO,
				  "damaged: a part of %" PRIu64 " bytes at offset %" PRIu64, size,
				  file->pos);
	*text = malloc(size + 1);
	if (!*text)
		return trace_fail(file, ENOMEM, "out of memory");
	ret = take(file, *text, size);
	if (ret) {
		free(*text);
		*text = NULL;
		return ret;
	}
	(*text)[size] = '\0';
	return 0;
}

/* 1: it is of version 7; 0: of version 6, whose own head follows; else -errno */
static int take_magic(struct trace_file *file)
{
	static const char magic[] = "\x17\x08\x44tracing";
	char head[10], version[8] = "";
	unsigned char flags[2];
	unsigned int i;
	int ret;

	if (file->size < sizeof(head) + 8)
		return trace_fail(file, EPROTO, "not a trace.dat: the file has only %" PRIu64 " bytes",
				  file->size);
	ret = take(file, head, sizeof(head));
	if (ret)
		return ret;
	if (memcmp(head, magic, sizeof(head)))
		return trace_fail(file, EPROTO, "not a trace.dat: %s", trace_kind(file->fd));
	for (i = 0; i < sizeof(version); i++) {
		ret = take(file, &version[i], 1);
		if (ret)
			return ret;
		if (!version[i])
			break;
	}
	if (i == sizeof(version))
		return trace_fail(file, EPROTO, "damaged: the version is not a number");
	if (!strcmp(version, "7"))
		return 1;
	if (strcmp(version, "6"))
		return trace_fail(file, EPROTO, "unknown version: kfdtrace reads trace.dat of version 6 and 7");
	ret = take(file, flags, sizeof(flags));
	if (ret)
		return ret;
	if (flags[0] != (__BYTE_ORDER == __BIG_ENDIAN) || flags[1] != 8)
		return trace_fail(file, EPROTO,
				  "recorded on a machine with another byte order or with 32 bits");
	ret = take(file, &file->page_size, 4);
	if (ret)
		return ret;
	if (file->page_size < 4096 || file->page_size > 65536 ||
	    file->page_size & (file->page_size - 1))
		return trace_fail(file, EPROTO, "damaged: pages of %u bytes", file->page_size);
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
		return trace_fail(file, EPROTO, "damaged: header_page is missing");
	ret = take(file, &size, 8);
	if (!ret)
		ret = take_text(file, size, MAX_FORMAT, &text);
	if (ret)
		return ret;
	ret = tep_parse_header_page(file->tep, text, size, 8);
	free(text);
	if (ret || tep_get_header_page_size(file->tep) != 8 || tep_is_old_format(file->tep))
		return trace_fail(file, EPROTO, "the ring buffer is not that of a 64-bit kernel");
	ret = take(file, name, 13);
	if (ret)
		return ret;
	if (memcmp(name, "header_event", 13))
		return trace_fail(file, EPROTO, "damaged: header_event is missing");
	ret = take(file, &size, 8);
	return ret ? ret : skip(file, size);
}

/*
 * Only fields are wanted: how to print them is a program of its own, which nobody
 * should have to trust.
 */
static int format_parse(struct trace_file *file, const char *system, char *text)
{
	static const char no_print[] = "print fmt: \"\"\n";
	char *print = strstr(text, "print fmt:");

	if (!print)
		return -EPROTO;
	/* there is room: what is replaced is never shorter in a format of the kernel's */
	if (strlen(print) < sizeof(no_print) - 1)
		return -EPROTO;
	memcpy(print, no_print, sizeof(no_print));
	return tep_parse_event(file->tep, text, strlen(text), system) ? -EPROTO : 0;
}

/* Of an event of another system, only the name is wanted, for a message. */
static int format_skip(struct trace_file *file, const char *system, uint64_t size)
{
	char begin[FORMAT_BEGIN + 1];
	size_t want = size < FORMAT_BEGIN ? size : FORMAT_BEGIN;
	int ret;

	ret = take(file, begin, want);
	if (ret)
		return ret;
	begin[want] = '\0';
	trace_format_note(file, system, begin);
	return skip(file, size - want);
}

#define UPSTREAM_NAME "name: " UPSTREAM_PREFIX

/* The formats of kfd go to libtraceevent, those of other systems are nothing to us. */
static int take_formats(struct trace_file *file, const char *system, uint32_t count)
{
	uint64_t size;
	char *text;
	int ret;

	if (count > MAX_EVENTS)
		return trace_fail(file, EPROTO, "damaged: %u events in one system", count);
	while (count--) {
		ret = take(file, &size, 8);
		if (ret)
			return ret;
		if (strcmp(system, "kfd") && strcmp(system, UPSTREAM_SYSTEM)) {
			ret = format_skip(file, system, size);
		} else {
			ret = take_text(file, size, MAX_FORMAT, &text);
			if (!ret) {
				/* AMD's package has events of its own in the same system */
				if (*system != 'k' && strncmp(text, UPSTREAM_NAME, sizeof(UPSTREAM_NAME) - 1))
					trace_format_note(file, system, text);
				else if (format_parse(file, system, text))
					ret = trace_fail(file, EPROTO,
							 "damaged: the format of a kfd event");
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
		return trace_fail(file, EPROTO, "damaged: %u event systems", systems);
	while (systems--) {
		for (i = 0; i < sizeof(name); i++) {
			ret = take(file, &name[i], 1);
			if (ret)
				return ret;
			if (!name[i])
				break;
		}
		if (i == sizeof(name))
			return trace_fail(file, EPROTO,
					  "damaged: the name of an event system has no end");
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
		return trace_fail(file, ENOMEM, "out of memory");
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

static int take_options(struct trace_file *file)
{
	uint16_t option;
	uint32_t size;
	char *text;
	int ret;

	for (;;) {
		ret = take(file, &option, 2);
		if (ret || option == OPTION_DONE)
			return ret;
		ret = take(file, &size, 4);
		if (ret)
			return ret;
		if (!trace_option_wanted(option)) {
			ret = skip(file, size);
			if (ret)
				return ret;
			continue;
		}
		ret = take_text(file, size, MAX_FORMAT, &text);
		if (ret)
			return ret;
		trace_option(file, option, text, size, 6);
		free(text);
	}
}

/* Of a truncated file, what is whole: pages. */
static void stream_place(struct trace_file *file, struct stream *stream, uint64_t pos, uint64_t size)
{
	uint64_t have = pos < file->size ? file->size - pos : 0;

	if (have < size) {
		have -= have % file->page_size;
		file->loss.cut += size - have;
		stream->cut = true;
		size = have;
	}
	file->loss.whole += size;
	stream->pos = pos;
	stream->end = pos + size;
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
		return trace_fail(file, EPROTO, "the file has the text of a latency tracer and no events");
	if (memcmp(kind, "flyrecord", 10))
		return trace_fail(file, EPROTO, "damaged: the events are missing");
	if (!cpus || cpus > MAX_CPUS)
		return trace_fail(file, EPROTO, "damaged: %u CPUs", cpus);
	file->streams = calloc(cpus, sizeof(*file->streams));
	file->heap = calloc(cpus, sizeof(struct stream *));
	if (!file->streams || !file->heap)
		return trace_fail(file, ENOMEM, "out of memory");
	file->nr_cpus = cpus;
	for (i = 0; i < cpus; i++) {
		ret = take(file, place, sizeof(place));
		if (ret)
			return ret;
		if (place[0] > MAX_OFFSET || place[1] > MAX_OFFSET)
			return trace_fail(file, EPROTO, "damaged: the position of the events of CPU %u", i);
		stream_place(file, &file->streams[i], place[0], place[1]);
		file->streams[i].cpu = i;
	}
	if (file->loss.cut && !file->loss.whole)
		return trace_fail(file, EPROTO, "truncated: no page of events is complete");
	return 0;
}

/**
 * trace_head_read() - read everything before the pages
 * @file: open
 *
 * Return: 0 or -errno.
 */
int trace_head_read(struct trace_file *file)
{
	uint32_t size = 0;
	int ret;

	ret = take_magic(file);
	if (ret > 0) {
		trace_options_seven(file);
		return trace_seven_open(file);
	}
	if (!ret)
		ret = take_headers(file);
	if (!ret)
		ret = take_systems(file);
	if (!ret)
		ret = take(file, &size, 4); /* kallsyms */
	if (!ret)
		ret = skip(file, size);
	if (!ret)
		ret = take(file, &size, 4); /* printk formats */
	if (!ret)
		ret = skip(file, size);
	if (!ret)
		ret = take_cmdlines(file);
	if (!ret)
		ret = take_cpus(file);
	if (ret)
		return ret;
	if (file->nr_buffers || file->converted)
		return trace_seven_open(file);
	ret = kfd_decoder_init(&file->decoder, file->tep);
	if (ret < 0)
		return trace_fail(file, EPROTO,
				  "the kfd events lack fields: the file is from another release of kfdprio");
	file->no_kfd = !ret;
	return trace_clock_check(file);
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
	const struct comm *found;

	if (file->seven)
		return trace_seven_comm(file, pid);
	found = bsearch(&key, file->comms, file->nr_comms, sizeof(key), comm_compare);
	return found ? found->name : NULL;
}
