// SPDX-License-Identifier: GPL-2.0
/* What a file has that is not of kfd: which events, or which other format. For messages. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "amdlog.h"
#include "file.h"

#define USTAR_AT  257 /* where the header of tar has its magic */
#define MAX_NAMED 5 /* events that a message names */

/**
 * trace_format_note() - remember the name of an event of another system
 * @file: the file
 * @system: its system
 * @text: the begin of its format
 *
 * Without memory the event has no name in messages.
 */
void trace_format_note(struct trace_file *file, const char *system, const char *text)
{
	struct other_name *grown, name;
	const char *id = strstr(text, "\nID: ");

	if (!id || sscanf(text, "name: %63[^\n]", name.name) != 1)
		return;
	name.id = strtoul(id + 5, NULL, 10);
	snprintf(name.system, sizeof(name.system), "%s", system);
	grown = reallocarray(file->names, file->nr_names + 1, sizeof(*grown));
	if (!grown)
		return;
	file->names = grown;
	file->names[file->nr_names++] = name;
}

/**
 * trace_other_count() - count an event that is none of kfd's
 * @file: the file
 * @record: the event
 */
void trace_other_count(struct trace_file *file, const struct trace_record *record)
{
	uint16_t id;

	file->foreign++;
	if (!file->others)
		file->others = calloc(UINT16_MAX + 1, sizeof(*file->others));
	if (!file->others || record->size < sizeof(id))
		return;
	memcpy(&id, record->data, sizeof(id));
	file->others[id]++;
}

static void name_print(const struct trace_file *file, unsigned int id, char *text, size_t size)
{
	struct tep_event *event = file->seven ? tep_find_event(trace_seven_tep(file), id) : NULL;
	size_t i;

	for (i = 0; i < file->nr_names; i++)
		if (file->names[i].id == id)
			break;
	if (event)
		snprintf(text, size, "%s:%s", event->system, event->name);
	else if (i < file->nr_names)
		snprintf(text, size, "%s:%s", file->names[i].system, file->names[i].name);
	else
		snprintf(text, size, "event %u", id);
}

/**
 * trace_others() - which events there are, the most frequent first
 * @file: the file, read
 * @text: out: "sched:sched_switch (12 times), ..."; any bytes
 * @size: bytes of @text
 *
 * Return: whether there are any.
 */
bool trace_others(const struct trace_file *file, char *text, size_t size)
{
	unsigned int id, best, named, seen[MAX_NAMED];
	char name[160];
	size_t used = 0;

	*text = '\0';
	for (named = 0; file->others && used < size; named++) {
		best = 0;
		for (id = 1; id <= UINT16_MAX; id++) {
			unsigned int i;

			if (file->others[id] <= file->others[best])
				continue;
			for (i = 0; i < named && seen[i] != id; i++)
				;
			if (i == named)
				best = id;
		}
		if (!best)
			break;
		if (named == MAX_NAMED) {
			snprintf(text + used, size - used, " and others");
			break;
		}
		seen[named] = best;
		name_print(file, best, name, sizeof(name));
		used += snprintf(text + used, size - used, "%s%s (%" PRIu64 " times)", named ? ", " : "", name,
				 file->others[best]);
	}
	return file->foreign;
}

/* Text that names an event of kfd, or begins as that of trace-cmd report does; @head ends with a 0. */
static bool is_text_of_trace(const char *head, size_t size)
{
	return strlen(head) == size && (!strncmp(head, "cpus=", 5) || strstr(head, " kfd_") || strstr(head, ":kfd_"));
}

/* Text with a line of ROCm's log; @head is changed */
static bool is_log_of_rocm(char *head)
{
	struct amdlog_entry entry;
	const char *message;
	char *line, *rest;

	for (line = strtok_r(head, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (amdlog_line(line, &entry, &message))
			return true;
	return false;
}

struct kind {
	const char *begin;
	unsigned char bytes;
	const char *kind;
};

static const char *kind_find(const struct kind *kinds, size_t nr, const char *head, size_t size)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (size >= kinds[i].bytes && !memcmp(head, kinds[i].begin, kinds[i].bytes))
			return kinds[i].kind;
	return NULL;
}

/**
 * trace_packed() - is a file compressed, or in another encoding?
 * @head: its first bytes
 * @size: how many
 *
 * Return: words of a message, NULL: not as far as is known.
 */
const char *trace_packed(const char *head, size_t size)
{
	static const struct kind kinds[] = {
		{ "\x1f\x8b", 2, "compressed by gzip: unpack it first" },
		{ "\xfd" "7zXZ", 5, "compressed by xz: unpack it first" },
		{ "\x28\xb5\x2f\xfd", 4, "compressed by zstd: unpack it first" },
		{ "BZh", 3, "compressed by bzip2: unpack it first" },
		{ "\x04\x22\x4d\x18", 4, "compressed by lz4: unpack it first" },
		{ "PK\3\4", 4, "a zip archive: unpack it first" },
		{ "\xff\xfe", 2, "text in UTF-16: convert it with 'iconv -f UTF-16 -t UTF-8' first" },
		{ "\xfe\xff", 2, "text in UTF-16: convert it with 'iconv -f UTF-16 -t UTF-8' first" },
	};

	return kind_find(kinds, sizeof(kinds) / sizeof(*kinds), head, size);
}

/**
 * trace_kind() - what a file is that is no trace.dat
 * @fd: open
 *
 * Return: words of a message, which name the way to a trace.dat where there is one.
 */
const char *trace_kind(int fd)
{
	static const struct kind kinds[] = {
		{ "PERFILE2", 8, "a recording of perf, which only perf reads: record with 'kfdtrace record' or 'trace-cmd record -e kfd'" },
		{ "# tracer:", 9, "the text of a trace, as tracefs prints it: record with 'kfdtrace record' or 'trace-cmd record -e kfd'" },
		{ "Attaching ", 10, "the output of bpftrace: record with 'kfdtrace record' or 'trace-cmd record -e kfd'" },
		{ "{", 1, "JSON (a session of KernelShark?): give the trace.dat itself" },
		{ "\x7f" "ELF", 4, "a program" },
	};
	char head[4096] = "";
	ssize_t got = pread(fd, head, sizeof(head) - 1, 0);
	const char *kind;

	if (got <= 0)
		return "the magic number is missing";
	kind = trace_packed(head, got);
	if (!kind)
		kind = kind_find(kinds, sizeof(kinds) / sizeof(*kinds), head, got);
	if (kind)
		return kind;
	if (got > USTAR_AT && !strncmp(head + USTAR_AT, "ustar", 5))
		return "an archive of tar: unpack it first";
	if (is_text_of_trace(head, got))
		return "the text of a trace, as trace-cmd report and perf script print it: give the trace.dat itself";
	if (is_log_of_rocm(head))
		return "ROCm's log: give the recording, and this file with kfdtrace path --amd-log";
	return "the magic number is missing";
}
