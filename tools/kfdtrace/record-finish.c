// SPDX-License-Identifier: GPL-2.0
/* The end of a recording: trace.dat and meta.json. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "record.h"
#include "trace-file.h"

/* The systems of the events, each once. */
static char **systems_of(char **events)
{
	size_t nr = 0, i, j;
	char **systems;

	while (events[nr])
		nr++;
	systems = calloc(nr + 1, sizeof(*systems));
	if (!systems)
		return NULL;
	for (i = 0, nr = 0; events[i]; i++) {
		char *system = strndup(events[i], strcspn(events[i], ":"));

		if (!system) {
			while (nr)
				free(systems[--nr]);
			free(systems);
			return NULL;
		}
		for (j = 0; j < nr; j++)
			if (!strcmp(systems[j], system))
				break;
		if (j < nr)
			free(system);
		else
			systems[nr++] = system;
	}
	return systems;
}

/* Names of threads: those of the kernel, and those that were read while recording. */
static char *cmdlines(const struct recording *rec)
{
	char *kernel = tracefs_instance_file_read(NULL, "saved_cmdlines", NULL), *text = NULL;
	size_t size, i;
	FILE *file = open_memstream(&text, &size);

	if (!file) {
		free(kernel);
		return NULL;
	}
	if (kernel)
		fputs(kernel, file);
	for (i = 0; i < rec->nr_seen; i++)
		fprintf(file, "%d %s\n", rec->seen[i].pid, rec->seen[i].comm);
	free(kernel);
	return fclose(file) ? NULL : text;
}

/**
 * finish() - write what was recorded
 * @rec: the recording, which has ended
 * @trace_fd: trace.dat; is closed
 * @meta_fd: meta.json; is left open
 *
 * Return: 0 or -errno, which was printed.
 */
int finish(struct recording *rec, int trace_fd, int meta_fd)
{
	char *events_dir = rec->stock ? NULL : tracefs_instance_get_file(rec->instance, "events");
	struct trace_texts *texts = rec->stock ? record_texts() : NULL;
	char *printk = tracefs_instance_file_read(NULL, "printk_formats", NULL);
	struct trace_parts parts = { .events_dir = events_dir,
				     .texts = texts,
				     .systems = systems_of(rec->options->events),
				     .clock = RECORD_CLOCK,
				     .cpu_fds = rec->part_fds,
				     .cpu_stats = calloc(rec->nr_cpus, sizeof(char *)),
				     .nr_cpus = rec->nr_cpus,
				     .cmdlines = cmdlines(rec),
				     .printk_formats = printk ? printk : "" };
	char why[RECORD_WHY];
	int ret = -ENOMEM, cpu, i;

	snprintf(why, sizeof(why), "out of memory");
	if ((events_dir || texts) && parts.systems && parts.cpu_stats && parts.cmdlines) {
		ret = record_stats(rec, parts.cpu_stats, why);
		if (!ret) {
			ret = trace_write(trace_fd, &parts, why);
			trace_fd = -1;
		}
		if (!ret)
			ret = meta_write(rec, meta_fd, why);
		for (cpu = 0; cpu < rec->nr_cpus; cpu++)
			free(parts.cpu_stats[cpu]);
	}
	if (ret)
		warnx("%s/trace.dat: %s", rec->options->dir, why);
	if (trace_fd >= 0)
		close(trace_fd);
	for (i = 0; parts.systems && parts.systems[i]; i++)
		free(parts.systems[i]);
	free(parts.systems);
	free(parts.cpu_stats);
	free((char *)parts.cmdlines);
	free(printk);
	record_texts_free(texts);
	tracefs_put_tracing_file(events_dir);
	return ret;
}
