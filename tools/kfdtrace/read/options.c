// SPDX-License-Identifier: GPL-2.0
/*
 * The options of a trace.dat that say how to read it: clocks, buffers, offsets of time, lost events.
 *
 * The library that reads version 7 has no function for them, so they are read here.  In version 7 they are in
 * sections, each of which names the next; they are never compressed.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

#define MAX_TEXT     (1U << 20)
#define MAX_SECTIONS 64
#define MAX_BUFFERS  256
#define SECTION_HEAD 16

/* A count of at most 2^63 - 1, with the line that ends after it */
static bool count_read(const char *text, uint64_t *count)
{
	char *end;

	errno = 0;
	*count = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !errno && *count <= INT64_MAX && (!*end || *end == '\n');
}

/* Lost events of the statistics of a CPU. Text of other kinds, as the name of a buffer, has no counts. */
static void stats_count(struct trace_file *file, const char *text)
{
	/* probes have the first one alone */
	static const char *const what[] = { "\noverrun: ", "\ncommit overrun: ", "\ndropped events: " };
	uint64_t lost = 0, count;
	const char *at;
	unsigned int i;

	if (!strstr(text, *what))
		return;
	for (i = 0; i < sizeof(what) / sizeof(*what); i++) {
		at = strstr(text, what[i]);
		if (!at)
			continue;
		if (!count_read(at + strlen(what[i]), &count) || count > INT64_MAX - lost) {
			file->loss.miscounted++;
			return;
		}
		lost += count;
	}
	file->loss.counted++;
	file->loss.overrun = lost > UINT64_MAX - file->loss.overrun ? UINT64_MAX : file->loss.overrun + lost;
}

/* The clock in use is in brackets, as in the file trace_clock. */
static void clock_note(struct trace_file *file, const char *text)
{
	const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	if (close && !file->clock)
		file->clock = strndup(open + 1, close - open - 1);
}

/* A named buffer, with its clock in version 7; the main one has no name. */
static void buffer_note(struct trace_file *file, const char *text, uint32_t size, bool with_clock)
{
	const char *name = text + 8, *clock = size > 8 ? memchr(name, '\0', size - 8) : NULL;
	struct trace_buffer *grown;

	if (!clock || file->nr_buffers == MAX_BUFFERS)
		return;
	clock++;
	if (!with_clock || !memchr(clock, '\0', text + size - clock))
		clock = NULL;
	grown = reallocarray(file->buffers, file->nr_buffers + 1, sizeof(*grown));
	if (!grown)
		return;
	file->buffers = grown;
	grown[file->nr_buffers++] = (struct trace_buffer){ strdup(name), clock ? strdup(clock) : NULL };
}

/**
 * trace_option() - take an option
 * @file: the file
 * @option: its number
 * @text: its value, with a 0 after it
 * @size: bytes of the value
 * @version: of the file
 */
void trace_option(struct trace_file *file, unsigned int option, const char *text, uint32_t size, int version)
{
	switch (option) {
	case OPTION_CPUSTAT:
		stats_count(file, text);
		break;
	case OPTION_TRACECLOCK:
		clock_note(file, text);
		break;
	case OPTION_BUFFER:
		buffer_note(file, text, size, version == 7);
		break;
	case OPTION_DATE: /* microseconds */
		file->added += 1000 * strtoull(text, NULL, 0);
		break;
	case OPTION_OFFSET:
		file->added += strtoull(text, NULL, 0);
		break;
	case OPTION_TSC2NSEC:
		file->converted = true;
		break;
	default:
		break;
	}
}

/**
 * trace_option_wanted() - whether trace_option() does something
 * @option: the number
 *
 * Return: whether.
 */
bool trace_option_wanted(unsigned int option)
{
	return option == OPTION_CPUSTAT || option == OPTION_TRACECLOCK || option == OPTION_BUFFER ||
	       option == OPTION_DATE || option == OPTION_OFFSET || option == OPTION_TSC2NSEC;
}

static bool get(const struct trace_file *file, uint64_t at, void *to, size_t size)
{
	return at <= file->size && size <= file->size - at && pread(file->fd, to, size, at) == (ssize_t)size;
}

/* Return: where the next section is, 0: nowhere. */
static uint64_t section_read(struct trace_file *file, uint64_t at)
{
	uint16_t head[2], option;
	uint64_t next = 0;
	uint32_t size;
	char *text;

	if (!get(file, at, head, sizeof(head)) || head[0] || head[1] & 1)
		return 0;
	for (at += SECTION_HEAD; get(file, at, &option, 2) && get(file, at + 2, &size, 4); at += size) {
		at += 6;
		if (option == OPTION_DONE) {
			if (size != sizeof(next) || !get(file, at, &next, sizeof(next)))
				next = 0;
			return next;
		}
		if (!trace_option_wanted(option) || size > MAX_TEXT)
			continue;
		text = malloc(size + 1);
		if (text && get(file, at, text, size)) {
			text[size] = '\0';
			trace_option(file, option, text, size, 7);
		}
		free(text);
	}
	return 0;
}

/**
 * trace_options_seven() - read the options of a file of version 7
 * @file: open; its magic number and version were read
 *
 * Of a damaged file, and of one of another byte order, fewer options are known, or none.
 */
void trace_options_seven(struct trace_file *file)
{
	unsigned char flags[2];
	uint64_t at = file->pos, next;
	unsigned int i;
	char c = 1;

	if (!get(file, at, flags, 2) || flags[0] != (__BYTE_ORDER == __BIG_ENDIAN))
		return;
	at += 6; /* flags, size of pages */
	for (i = 0; i < 2; i++) { /* the compression and its version */
		do {
			if (!get(file, at++, &c, 1))
				return;
		} while (c);
	}
	if (!get(file, at, &next, sizeof(next)))
		return;
	for (i = 0; next && i < MAX_SECTIONS; i++)
		next = section_read(file, next);
}

/**
 * trace_buffer_clock() - the clock of a buffer
 * @file: the file
 * @name: of the buffer; "" or NULL: the main one
 *
 * trace-cmd stores the file trace_clock of the main buffer; for the others there is what it was told to set, and
 * in version 6 nothing.
 *
 * Return: its name, owned by @file, or NULL.
 */
const char *trace_buffer_clock(const struct trace_file *file, const char *name)
{
	size_t i;

	if ((!name || !*name) && file->clock)
		return file->clock;
	for (i = 0; i < file->nr_buffers; i++)
		if (file->buffers[i].name && !strcmp(file->buffers[i].name, name ? name : ""))
			return file->buffers[i].clock ? file->buffers[i].clock : file->clock;
	return NULL;
}

/**
 * trace_clock_check() - whether the times of a file are nanoseconds
 * @file: its clock is known
 *
 * Return: 0, or -errno if they count something else, which was said.
 */
int trace_clock_check(struct trace_file *file)
{
	static const char *const others[] = { "x86-tsc", "ppc-tb", "counter", "uptime" };
	size_t i;

	for (i = 0; file->clock && !file->converted && i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(file->clock, others[i]))
			return trace_fail(file, EPROTO,
					  "the clock of the recording is %s, which does not count nanoseconds, so that no time and no duration is known: record with '-C mono'",
					  file->clock);
	return 0;
}

/**
 * trace_clock_is_log() - whether the times are of the clock of ROCm's log
 * @file: the file
 *
 * Return: whether.
 */
bool trace_clock_is_log(const struct trace_file *file)
{
	return file->clock && !strcmp(file->clock, "mono");
}
