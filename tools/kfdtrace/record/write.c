// SPDX-License-Identifier: GPL-2.0
/*
 * Writes trace.dat, version 6: what trace-cmd and KernelShark open.  See trace-cmd.dat.v6(5).
 * libtracecmd of Debian 12 reads such files but has no public way to write one.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "write.h"

enum {
	OPTION_DONE = 0,
	OPTION_CPUSTAT = 2,
	OPTION_TRACECLOCK = 4,
	OPTION_UNAME = 5,
};

/**
 * struct out - the file in work
 * @file: buffered
 * @why: for the first failure
 * @failed: -errno of it
 */
struct out {
	FILE *file;
	char *why;
	int failed;
};

static __attribute__((format(printf, 3, 4))) void out_fail(struct out *out, int err,
							   const char *format, ...)
{
	va_list args;

	if (out->failed)
		return;
	va_start(args, format);
	vsnprintf(out->why, WRITE_WHY, format, args);
	va_end(args);
	out->failed = -err;
}

static void put(struct out *out, const void *data, size_t size)
{
	if (!out->failed && size && fwrite(data, size, 1, out->file) != 1)
		out_fail(out, errno, "cannot write trace.dat: %s", strerror(errno));
}

static void put32(struct out *out, uint32_t value)
{
	put(out, &value, sizeof(value));
}

static void put64(struct out *out, uint64_t value)
{
	put(out, &value, sizeof(value));
}

static void put_option(struct out *out, uint16_t option, const char *text)
{
	uint32_t size = strlen(text) + 1;

	put(out, &option, sizeof(option));
	put32(out, size);
	put(out, text, size);
}

/* A file of tracefs, whose size stat(2) does not know. */
static char *slurp(const char *dir, const char *name, size_t *size)
{
	char path[512], *text = NULL;
	size_t room = 0;
	FILE *file;
	int ret;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	*size = 0;
	for (;;) {
		char *grown;

		if (room - *size < 4096) {
			room += 16384;
			grown = realloc(text, room);
			if (!grown)
				break;
			text = grown;
		}
		ret = fread(text + *size, 1, room - *size - 1, file);
		if (ret <= 0)
			break;
		*size += ret;
	}
	if (ferror(file) || !text) {
		free(text);
		text = NULL;
	} else {
		text[*size] = '\0';
	}
	fclose(file);
	return text;
}

/* The size in 64 bits, then the text. */
static void put_file(struct out *out, const char *dir, const char *name)
{
	size_t size;
	char *text = slurp(dir, name, &size);

	if (!text) {
		out_fail(out, errno ? errno : EIO, "cannot read %s/%s: %s", dir, name, strerror(errno));
		return;
	}
	put64(out, size);
	put(out, text, size);
	free(text);
}

static void put_text(struct out *out, const char *text)
{
	put64(out, strlen(text));
	put(out, text, strlen(text));
}

static int no_dot(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* The number of events in 32 bits, then their formats. */
static void put_system(struct out *out, const char *events_dir, const char *system)
{
	char dir[512], name[1024];
	struct dirent **entries;
	uint32_t count = 0;
	int nr, i;

	snprintf(dir, sizeof(dir), "%s/%s", events_dir, system);
	nr = scandir(dir, &entries, no_dot, alphasort);
	if (nr < 0) {
		out_fail(out, errno, "cannot read %s: %s", dir, strerror(errno));
		return;
	}
	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "%s/%s/format", dir, entries[i]->d_name);
		if (access(name, F_OK))
			entries[i]->d_name[0] = '\0';
		else
			count++;
	}
	put32(out, count);
	for (i = 0; i < nr; i++) {
		if (entries[i]->d_name[0]) {
			snprintf(name, sizeof(name), "%s/format", entries[i]->d_name);
			put_file(out, dir, name);
		}
		free(entries[i]);
	}
	free(entries);
}

/* The same, of formats that tracefs does not have. */
static void put_texts(struct out *out, const struct trace_texts *texts)
{
	unsigned int i;

	put32(out, texts->nr);
	for (i = 0; i < texts->nr; i++)
		put_text(out, texts->formats[i]);
}

static void put_head(struct out *out, const struct trace_parts *parts)
{
	const struct trace_texts *texts = parts->texts;
	uint32_t systems = 0;
	unsigned int i;

	put(out, "\x17\x08\x44tracing6", 12);
	put(out, __BYTE_ORDER == __BIG_ENDIAN ? "\1\10" : "\0\10", 2);
	put32(out, sysconf(_SC_PAGESIZE));
	put(out, "header_page", 12);
	if (texts)
		put_text(out, texts->header_page);
	else
		put_file(out, parts->events_dir, "header_page");
	put(out, "header_event", 13);
	if (texts)
		put_text(out, texts->header_event);
	else
		put_file(out, parts->events_dir, "header_event");
	put32(out, 0); /* formats of ftrace's own events: none is recorded */
	while (parts->systems[systems])
		systems++;
	put32(out, systems);
	for (i = 0; i < systems; i++) {
		put(out, parts->systems[i], strlen(parts->systems[i]) + 1);
		if (texts)
			put_texts(out, texts);
		else
			put_system(out, parts->events_dir, parts->systems[i]);
	}
	put32(out, 0); /* kallsyms: no event has an address of the kernel */
	put32(out, strlen(parts->printk_formats));
	put(out, parts->printk_formats, strlen(parts->printk_formats));
	put64(out, strlen(parts->cmdlines));
	put(out, parts->cmdlines, strlen(parts->cmdlines));
	put32(out, parts->nr_cpus);
}

static void put_options(struct out *out, const struct trace_parts *parts)
{
	static const uint16_t done = OPTION_DONE;
	struct utsname uts;
	char text[512];
	int i;

	put(out, "options  ", 10);
	for (i = 0; i < parts->nr_cpus; i++)
		if (parts->cpu_stats[i])
			put_option(out, OPTION_CPUSTAT, parts->cpu_stats[i]);
	snprintf(text, sizeof(text), "[%s]", parts->clock);
	put_option(out, OPTION_TRACECLOCK, text);
	if (!uname(&uts)) {
		snprintf(text, sizeof(text), "%s %s %s", uts.sysname, uts.release, uts.machine);
		put_option(out, OPTION_UNAME, text);
	}
	put(out, &done, sizeof(done));
}

/* Each part is emptied once it is copied: the disk needs little more than one recording. */
static void put_pages(struct out *out, const struct trace_parts *parts, uint64_t offset)
{
	static const char zeros[4096];
	size_t room = 1 << 20;
	char *buffer = malloc(room);
	uint64_t at = ftello(out->file);
	ssize_t got;
	int i;

	if (!buffer)
		out_fail(out, ENOMEM, "out of memory");
	while (!out->failed && at < offset) {
		size_t pad = offset - at < sizeof(zeros) ? offset - at : sizeof(zeros);

		put(out, zeros, pad);
		at += pad;
	}
	for (i = 0; i < parts->nr_cpus && !out->failed; i++) {
		if (lseek(parts->cpu_fds[i], 0, SEEK_SET) < 0)
			out_fail(out, errno, "cannot read the pages of CPU %d: %s", i, strerror(errno));
		while (!out->failed && (got = read(parts->cpu_fds[i], buffer, room)) != 0) {
			if (got < 0)
				out_fail(out, errno, "cannot read the pages of CPU %d: %s", i,
					 strerror(errno));
			else
				put(out, buffer, got);
		}
		if (!out->failed && fflush(out->file))
			out_fail(out, errno, "cannot write trace.dat: %s", strerror(errno));
		if (!out->failed && ftruncate(parts->cpu_fds[i], 0))
			out_fail(out, errno, "cannot empty the pages of CPU %d: %s", i,
				 strerror(errno));
	}
	free(buffer);
}

/**
 * trace_write() - write a trace.dat
 * @fd: where to; is closed
 * @parts: what it is made of; the contents of @cpu_fds are gone afterwards
 * @why: on failure, what is wrong; WRITE_WHY bytes
 *
 * Return: 0 or -errno.
 */
int trace_write(int fd, const struct trace_parts *parts, char *why)
{
	struct out out = { .why = why, .file = fdopen(fd, "w") };
	uint64_t page = sysconf(_SC_PAGESIZE), offset, start;
	struct stat status;
	int i;

	if (!out.file) {
		close(fd);
		snprintf(why, WRITE_WHY, "cannot write trace.dat: %s", strerror(errno));
		return -errno;
	}
	put_head(&out, parts);
	put_options(&out, parts);
	put(&out, "flyrecord", 10);
	start = ftello(out.file) + 16ULL * parts->nr_cpus;
	start = (start + page - 1) & ~(page - 1);
	offset = start;
	for (i = 0; i < parts->nr_cpus; i++) {
		if (fstat(parts->cpu_fds[i], &status))
			out_fail(&out, errno, "cannot read the pages of CPU %d: %s", i,
				 strerror(errno));
		put64(&out, offset);
		put64(&out, status.st_size);
		offset += status.st_size;
	}
	put_pages(&out, parts, start);
	if (fclose(out.file))
		out_fail(&out, errno, "cannot write trace.dat: %s", strerror(errno));
	return out.failed;
}
