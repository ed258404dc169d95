// SPDX-License-Identifier: GPL-2.0
/*
 * The pages of a trace.dat: records of all CPUs in the order of time.
 *
 * Memory does not grow with the file: each CPU has a window of a few pages.  The pages are
 * taken apart here and not by a library because a damaged file may say anything: each
 * length is checked against the page before it is believed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

#define PAGE_HEAD 16 /* timestamp and commit, of a 64-bit kernel */
#define WINDOW	  (256U << 10)

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
 * trace_gap_add() - note where events of one CPU are missing
 * @file: the file
 * @cpu: its number
 * @from: ns, see struct trace_gap
 * @to: the same
 */
void trace_gap_add(struct trace_file *file, int cpu, uint64_t from, uint64_t to)
{
	struct trace_gap *last = &file->gaps[TRACE_MAX_GAPS - 1];

	if (file->nr_gaps < TRACE_MAX_GAPS) {
		file->gaps[file->nr_gaps++] =
			(struct trace_gap){ .cpu = cpu, .from = from, .to = to };
		return;
	}
	if (from < last->from)
		last->from = from;
	if (to > last->to)
		last->to = to;
}

static void gap_end(struct trace_file *file, struct stream *stream, uint64_t to)
{
	if (!stream->gap)
		return;
	stream->gap = false;
	trace_gap_add(file, stream->cpu, stream->last, to);
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
			if (left < file->page_size) {
				stream->gap |= stream->cut;
				gap_end(file, stream, UINT64_MAX);
				return 0;
			}
			/* many CPUs share what one may have */
			want = file->nr_cpus > 64 ? file->page_size : WINDOW;
			want = left < want ? left - left % file->page_size : want;
			if (!stream->window) {
				/* the first is the largest */
				stream->window = malloc(want);
				if (!stream->window)
					return trace_fail(file, ENOMEM, "out of memory");
			}
			got = pread(file->fd, stream->window, want, stream->pos);
			if (got < 0)
				return trace_fail(file, EIO, "%s", strerror(errno));
			if ((size_t)got < want)
				return trace_fail(file, EPROTO, "the file has become shorter");
			stream->have = got;
			stream->pos += got;
			stream->page = 0;
		}
		memcpy(head, stream->window + stream->page, sizeof(head));
		if (head[1] & COMMIT_MISSED) {
			file->loss.gaps++;
			stream->gap = true;
		}
		stream->limit = head[1] & COMMIT_LENGTH;
		if (stream->limit > file->page_size - PAGE_HEAD) {
			file->loss.damaged++;
			stream->gap = true;
			continue;
		}
		if (!stream->limit)
			continue;
		if (head[0] >= stream->last)
			gap_end(file, stream, head[0]);
		stream->limit += PAGE_HEAD;
		stream->at = PAGE_HEAD;
		stream->ts = head[0];
		return 1;
	}
}

/* The times of a CPU do not go back: what a kernel whose clock was set back, or a damaged file, has later is not known. */
static bool goes_back(struct stream *stream)
{
	if (stream->ts < stream->last)
		return true;
	stream->last = stream->ts;
	return false;
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
			if (goes_back(stream))
				goto damaged;
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
		if (type != RECORD_LONG)
			continue;
		if (!goes_back(stream))
			return 1;
	damaged:
		file->loss.damaged++;
		stream->gap = true;
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

/**
 * trace_pages_start() - find the first record of each CPU
 * @file: its head was read
 *
 * Return: 0 or -errno.
 */
int trace_pages_start(struct trace_file *file)
{
	int ret, i;

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
 * trace_pages_next() - the earliest record that was not given out
 * @file: started
 * @next: out: its CPU, time and data; good until the next call
 *
 * Return: 1; 0 at the end; else -errno.
 */
int trace_pages_next(struct trace_file *file, const struct stream **next)
{
	struct stream *stream;
	int ret;

	if (file->taken) {
		stream = file->heap[0];
		ret = stream_next(file, stream);
		if (ret < 0)
			return ret;
		if (!ret)
			file->heap[0] = file->heap[--file->nr_heap];
		heap_sink(file, 0);
	}
	file->taken = file->nr_heap > 0;
	*next = file->heap[0];
	return file->taken;
}
