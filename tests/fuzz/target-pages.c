// SPDX-License-Identifier: GPL-2.0
/*
 * Pages behind a good head, which is read once.  The input is a sequence of pages, each of them a byte for
 * the CPU, two for the length and as many bytes as that; the rest of the page is zero.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "views/common/queues.h"
#include "views/report/report.h"
#include "read/file.h"

#define PAGE	 4096
#define CPUS	 4
#define MAX_PAGE 64 /* of each CPU */

static struct trace_file *file;
static struct stream streams[CPUS], *heap[CPUS];
static uint8_t pages[CPUS * MAX_PAGE * PAGE];

static void begin(void)
{
	char why[TRACE_WHY];
	uint8_t *bytes;
	size_t size;

	bytes = fuzz_read(fuzz_data("preempt/trace.dat"), &size);
	file = trace_open(fuzz_file(bytes, size), why);
	if (!file)
		abort();
	free(bytes);
	free(file->streams[0].window);
	free(file->streams);
	free(file->heap);
	file->streams = streams;
	file->heap = heap;
	file->nr_cpus = CPUS;
}

static size_t pages_put(const uint8_t *bytes, size_t size, unsigned int cpu, size_t at)
{
	unsigned int nr = 0;
	size_t length;

	for (; size >= 3; bytes += 3 + length, size -= 3 + length) {
		length = bytes[1] | bytes[2] << 8;
		if (length > PAGE)
			length = PAGE;
		if (length > size - 3)
			length = size - 3;
		if (bytes[0] % CPUS != cpu || nr == MAX_PAGE)
			continue;
		memset(pages + at, 0, PAGE);
		memcpy(pages + at, bytes + 3, length);
		at += PAGE;
		nr++;
	}
	return at;
}

static void one(const uint8_t *bytes, size_t size)
{
	static const struct view_options options = { .verb = "fuzz", .slow_ns = 1000000 };
	struct view view = { .options = &options, .file = file };
	char why[TRACE_WHY];
	unsigned int cpu;
	size_t at = 0;

	memset(streams, 0, sizeof(streams));
	for (cpu = 0; cpu < CPUS; cpu++) {
		streams[cpu].cpu = cpu;
		streams[cpu].pos = at;
		at = pages_put(bytes, size, cpu, at);
		streams[cpu].end = at;
	}
	/* the file that @file has open */
	fuzz_file(pages, at);
	file->size = at;
	file->nr_heap = 0;
	file->taken = false;
	file->foreign = 0;
	file->nr_gaps = 0;
	file->loss = (struct trace_loss){ 0 };
	file->why = why;
	if (trace_pages_start(file))
		abort();
	fuzz_events(&view);
	/* slow beside the rest, and it repeats itself */
	if (size % 8 == 0) {
		report_json(&view, NULL);
		queues_table(&view, 50, &(struct list_choice){ .csv = true });
	}
	model_free(&view.model);
	for (cpu = 0; cpu < CPUS; cpu++)
		free(streams[cpu].window);
}

const struct fuzz_target fuzz_pages = { "pages", begin, one };
