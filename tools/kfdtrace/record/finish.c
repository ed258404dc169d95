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
#include "names.h"
#include "write.h"

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

/* Names of threads: those that were read while recording, and those of the kernel. */
static char *cmdlines(const struct recording *rec)
{
	char *kernel = tracefs_instance_file_read(NULL, "saved_cmdlines", NULL), *text = NULL;
	struct record_name *known = calloc(rec->nr_seen + 1, sizeof(*known));
	size_t i;

	for (i = 0; known && i < rec->nr_seen; i++)
		known[i] = (struct record_name){ rec->seen[i].pid, rec->seen[i].comm };
	if (known)
		text = record_names(kernel ? kernel : "", known, rec->nr_seen, record_name_read);
	free(known);
	free(kernel);
	return text;
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
