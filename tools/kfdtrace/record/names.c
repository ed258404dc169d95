// SPDX-License-Identifier: GPL-2.0
/*
 * Names of threads for trace.dat, lines "PID NAME" as those of the kernel's saved_cmdlines.
 *
 * A thread chooses its own name, and a line feed in it begins a line that seems to be about another thread; the
 * kernel writes it as it is.  So a line of the kernel's is used as it is only if no name before it is long
 * enough to hold it, and in what is written each line is one thread's.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kfdlib.h"
#include "names.h"

#define COMM_BYTES 15 /* of a name in saved_cmdlines: TASK_COMM_LEN without the 0 */

/* What can act on a terminal or end the line is shown as "?", byte by byte. */
static void name_put(FILE *file, pid_t pid, const char *name)
{
	const unsigned char *at = (const unsigned char *)name;

	fprintf(file, "%d ", pid);
	for (; *at; at++)
		putc(*at < 0x20 || *at >= 0x7f ? '?' : *at, file);
	putc('\n', file);
}

/* "PID NAME": where the name begins; NULL: it is no such line */
static const char *line_name(const char *line, size_t len, pid_t *pid)
{
	size_t digits = strspn(line, "0123456789");

	if (!digits || digits > 9 || digits >= len || line[digits] != ' ')
		return NULL;
	*pid = strtol(line, NULL, 10);
	return line + digits + 1;
}

/* Whether a line may be a part of the name in a line before it. */
static bool is_doubtful(const char *text, const char *line, size_t len)
{
	const char *begin, *name;
	size_t inside = len, size;
	pid_t pid;

	for (; line > text; line = begin) {
		begin = line - 1;
		while (begin > text && begin[-1] != '\n')
			begin--;
		size = line - 1 - begin;
		name = line_name(begin, size, &pid);
		if (name && (size_t)(line - 1 - name) + 1 + inside <= COMM_BYTES)
			return true;
		inside += size + 1;
		if (inside > COMM_BYTES)
			return false;
	}
	return false;
}

static bool is_known(const struct record_name *known, size_t nr, pid_t pid)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (known[i].pid == pid)
			return true;
	return false;
}

/**
 * record_name_read() - the name that a thread has now
 * @pid: the thread
 * @name: out: raw bytes
 * @size: bytes of @name
 *
 * Return: false: there is no such thread.
 */
bool record_name_read(pid_t pid, char *name, size_t size)
{
	char path[64];
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if (proc_text_read(path, name, size))
		return false;
	len = strlen(name);
	if (len && name[len - 1] == '\n')
		name[len - 1] = '\0';
	return true;
}

/**
 * record_names() - names of threads, one line each
 * @kernel: text of saved_cmdlines
 * @known: threads whose names are known
 * @nr: how many
 * @read: for a thread about which @kernel leaves a doubt
 *
 * A thread about which there is a doubt, and that has ended, has no name.
 *
 * Return: the lines, to be freed with free(3); NULL without memory.
 */
char *record_names(const char *kernel, const struct record_name *known, size_t nr, record_name_fn read)
{
	char name[NAME_MAX_BYTES], *text = NULL;
	size_t size, len, i;
	FILE *file = open_memstream(&text, &size);
	const char *line, *at;
	pid_t pid;

	if (!file)
		return NULL;
	for (i = 0; i < nr; i++)
		name_put(file, known[i].pid, known[i].name);
	for (line = kernel; *line; line += len + !!line[len]) {
		len = strcspn(line, "\n");
		at = line_name(line, len, &pid);
		if (!at || is_known(known, nr, pid))
			continue;
		if (is_doubtful(kernel, line, len)) {
			if (!read(pid, name, sizeof(name)))
				continue;
		} else {
			snprintf(name, sizeof(name), "%.*s", (int)(line + len - at), at);
		}
		name_put(file, pid, name);
	}
	if (fclose(file)) {
		free(text);
		return NULL;
	}
	return text;
}
