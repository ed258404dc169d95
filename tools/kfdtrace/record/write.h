/* SPDX-License-Identifier: GPL-2.0 */
/* Writing a trace.dat, version 6; see trace-cmd.dat.v6(5). */
#ifndef KFDTRACE_WRITE_H
#define KFDTRACE_WRITE_H

#define WRITE_WHY 512 /* bytes of a message that says why */

/**
 * struct trace_texts - formats of a recording whose events tracefs does not know
 * @header_page: as the files of tracefs
 * @header_event: the same
 * @formats: of the events of the only system
 * @nr: how many
 */
struct trace_texts {
	char *header_page;
	char *header_event;
	char **formats;
	unsigned int nr;
};

/**
 * struct trace_parts - what a trace.dat is made of
 * @events_dir: events directory of the trace instance
 * @texts: instead of @events_dir, or NULL
 * @systems: event systems whose formats are written, ends with NULL
 * @clock: name of the clock
 * @cpu_fds: files with the pages of each CPU's ring buffer; emptied when they are copied
 * @cpu_stats: text of each CPU's statistics, may be NULL
 * @nr_cpus: number of both
 * @cmdlines: text of saved_cmdlines
 * @printk_formats: text of printk_formats
 */
struct trace_parts {
	const char *events_dir;
	const struct trace_texts *texts;
	char **systems;
	const char *clock;
	int *cpu_fds;
	char **cpu_stats;
	int nr_cpus;
	const char *cmdlines;
	const char *printk_formats;
};

int trace_write(int fd, const struct trace_parts *parts, char *why);

#endif /* KFDTRACE_WRITE_H */
