// SPDX-License-Identifier: GPL-2.0
/* What the targets share. */
#define _GNU_SOURCE
#include <err.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "kfdtrace.h"
#include "views/common/view.h"

/* Where the recordings are that the corpus was made of, from the Makefile. */
#ifndef FUZZ_DATA
#error FUZZ_DATA
#endif

/**
 * fuzz_quiet() - what the verbs print goes nowhere
 */
void fuzz_quiet(void)
{
	static FILE *nowhere;

	if (nowhere)
		return;
	nowhere = fopen("/dev/null", "we");
	if (!nowhere)
		err(EXIT_FAILURE, "/dev/null");
	stdout = nowhere;
}

/**
 * fuzz_file() - bytes as a file
 * @bytes: the bytes
 * @size: their number
 *
 * Return: its path, good until the next call.
 */
const char *fuzz_file(const uint8_t *bytes, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		if (fd < 0)
			err(EXIT_FAILURE, "memfd_create");
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (ftruncate(fd, 0) || pwrite(fd, bytes, size, 0) != (ssize_t)size)
		err(EXIT_FAILURE, "cannot write %zu bytes", size);
	return path;
}

/**
 * fuzz_data() - the path of one of the recordings that the tests have
 * @name: in their directory
 *
 * Return: the path, good until the next call.
 */
const char *fuzz_data(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", FUZZ_DATA, name);
	return path;
}

/**
 * fuzz_read() - a whole file
 * @name: its path
 * @size: out: its bytes
 *
 * Return: the bytes, to be freed with free(3).
 */
void *fuzz_read(const char *name, size_t *size)
{
	FILE *file = fopen(name, "re");
	char *bytes;

	if (!file || fseek(file, 0, SEEK_END))
		err(EXIT_FAILURE, "%s", name);
	*size = ftell(file);
	rewind(file);
	bytes = malloc(*size + 1);
	if (!bytes || fread(bytes, 1, *size, file) != *size)
		err(EXIT_FAILURE, "%s", name);
	fclose(file);
	return bytes;
}

/**
 * fuzz_view() - a recording that is good, read
 * @view: filled in; stays until the end
 * @name: its directory
 */
void fuzz_view(struct view *view, const char *name)
{
	static struct view_options options = { .verb = "fuzz", .slow_ns = 100000000 };
	static char dir[4096];

	snprintf(dir, sizeof(dir), "%s", fuzz_data(name));
	options.dir = dir;
	view_open(view, &options);
	view_read(view);
}

/**
 * fuzz_events() - all events of an open file into its model
 * @view: file and options are there; the model is filled in
 *
 * Ends in abort(3) if they do not add up.
 */
void fuzz_events(struct view *view)
{
	uint64_t events = 0, counted = 0;
	struct kfd_event event;
	char why[TRACE_WHY];
	int i;

	if (model_init(&view->model, view->options->slow_ns))
		abort();
	while (trace_next(view->file, &event, why) > 0) {
		events++;
		if (!model_event(&view->model, &event))
			continue;
		if (!view->model.too_many_gpus)
			abort();
		break;
	}
	model_end(&view->model);
	for (i = 0; i < NR_KFD_EVENTS; i++)
		counted += view->model.events[i];
	if (counted != events)
		abort();
}
