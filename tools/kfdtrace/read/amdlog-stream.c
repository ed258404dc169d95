// SPDX-License-Identifier: GPL-2.0
/*
 * ROCm's log, read line by line: headers, and the messages that belong to them.
 *
 * A line that is broken after the bracket has its message in a line of its own.  Lines of other processes, ranks or
 * containers, and of the program, may come between.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "amdlog.h"

#define SIZE_BYTES 8 /* of a message in the journal's export */

/**
 * amdlog_init() - begin to read
 * @log: filled in; amdlog_file() must follow
 */
void amdlog_init(struct amdlog *log)
{
	memset(log, 0, offsetof(struct amdlog, line));
}

/**
 * amdlog_file() - begin with a file; the counters go on
 * @log: the log
 * @file: open; stays the caller's
 * @pid: of lines that name none; -1: not known
 */
void amdlog_file(struct amdlog *log, FILE *file, int32_t pid)
{
	size_t i;

	log->file = file;
	log->pid = pid;
	log->nr_pending = 0;
	log->rest = NULL;
	log->size_left = 0;
	log->unended = false;
	log->held = false;
	for (i = 0; i < AMDLOG_STREAMS; i++)
		log->parts[i].length = log->parts[i].cut = 0;
	log->files++;
	*log->first_line = '\0';
	*log->first_rocm = '\0';
	*log->first_packet = '\0';
	*log->first_orphan = '\0';
	*log->first_detailed = '\0';
	*log->first_shortened = '\0';
}

/*
 * The journal's export has "MESSAGE" in a line of its own before a message that does not print, then its size in 8
 * bytes, then the message.  A byte of the size may be a newline.
 */
static void size_remove(struct amdlog *log, size_t length)
{
	size_t left = log->size_left;

	if (left > length) {
		log->size_left -= length + 1;
		return;
	}
	log->size_left = 0;
	/* no message has more than 2 bytes of size: the others are 0 */
	if (left && strspn(log->line + (left > 6 ? left - 6 : 0), " ") >= (left > 6 ? 6 : left))
		memmove(log->line, log->line + left, length - left + 1);
	else if (!strcmp(log->line, "MESSAGE"))
		log->size_left = SIZE_BYTES;
}

/* 1: a line is in @line, of AMDLOG_LINE bytes, without newline; 0: the end; else -errno */
static int line_read(struct amdlog *log, char *line)
{
	size_t length = 0;
	bool cut = false;
	int c;

	errno = 0;
	while ((c = getc_unlocked(log->file)) != EOF && c != '\n') {
		/* a 0 is a blank: it is in the size before a message in the journal's export, and in damaged lines */
		if (length < AMDLOG_LINE - 1)
			line[length++] = c ? c : ' ';
		else
			cut = true;
	}
	if (ferror(log->file))
		return -(errno ? errno : EIO);
	if (c == EOF && !length)
		return 0;
	log->lines++;
	/* some programs end a line with CR alone */
	log->unended = c == EOF && line[length - 1] != '\r';
	log->cut += cut;
	if (length && line[length - 1] == '\r')
		length--;
	line[length] = '\0';
	return 1;
}

/* The part of a line that a container runtime has cut becomes log->line. */
static void part_take(struct amdlog *log, struct amdlog_part *part)
{
	memcpy(log->line, part->text, part->length + 1);
	log->cut += part->cut;
	part->length = 0;
	part->cut = false;
}

static void part_add(struct amdlog_part *part, const char *text)
{
	size_t length = strlen(text), room = AMDLOG_LINE - 1 - part->length;

	if (length > room) {
		part->cut = true;
		length = room;
	}
	memcpy(part->text + part->length, text, length);
	part->length += length;
	part->text[part->length] = '\0';
}

/* At the end of the file: a line whose last record is not there */
static int part_last(struct amdlog *log)
{
	size_t i;

	for (i = 0; i < AMDLOG_STREAMS; i++) {
		if (!log->parts[i].length)
			continue;
		part_take(log, &log->parts[i]);
		log->partial++;
		return 1;
	}
	return 0;
}

/*
 * Reads a line into log->line, as line_read(). Records into which a container runtime has cut a line are joined. A record of
 * the other stream may come between them. A record that begins with a header of ROCm begins a new line.
 */
static int line_get(struct amdlog *log)
{
	struct amdlog_part *part;
	struct amdlog_entry entry;
	const char *message;
	size_t prefix;
	bool more;
	int ret;

	for (;;) {
		ret = log->held ? 1 : line_read(log, log->next);
		log->held = false;
		if (ret <= 0)
			return ret ? ret : part_last(log);
		prefix = amdlog_record(log->next, &more);
		if (!prefix) {
			memcpy(log->line, log->next, strlen(log->next) + 1);
			size_remove(log, strlen(log->line));
			return 1;
		}
		part = &log->parts[log->next[prefix - 4] == 'r']; /* stdout or stderr: their last letter */
		if (part->length && amdlog_line(log->next + prefix, &entry, &message) == log->next + prefix) {
			part_take(log, part);
			log->partial++;
			log->held = true;
			return 1;
		}
		if (part->length) {
			part_add(part, log->next + prefix);
		} else {
			/* as the prefix of a whole line, with which others are compared */
			log->next[prefix - 2] = 'F';
			part_add(part, log->next);
		}
		if (!more) {
			part_take(log, part);
			return 1;
		}
	}
}

/* Keep the first such line of a file, for a message. */
static void sample(char *kept, const char *line)
{
	if (!*kept)
		snprintf(kept, AMDLOG_SAMPLE, "%.*s", AMDLOG_SAMPLE - 1, line);
}

static void head_take(struct amdlog *log, const struct amdlog_entry *entry)
{
	log->headers++;
	log->head = *entry;
	if (log->head.pid < 0)
		log->head.pid = log->pid;
	if (!log->first || log->head.ts < log->first)
		log->first = log->head.ts;
	if (log->head.ts > log->last)
		log->last = log->head.ts;
}

/* The line is broken after the bracket: keep the header for the next message of the same writer with the same prefix. */
static void header_keep(struct amdlog *log)
{
	struct amdlog_header *header = NULL, *oldest = log->pending;
	const char *rest;
	unsigned int i;

	if (log->prefix >= sizeof(header->prefix))
		return;
	for (i = 0; i < log->nr_pending && !header; i++) {
		struct amdlog_header *at = &log->pending[i];
		char end = log->line[log->prefix];

		log->line[log->prefix] = '\0';
		rest = at->origin == log->origin ? amdlog_after(at->prefix, log->line) : NULL;
		log->line[log->prefix] = end;
		if (rest == log->line + log->prefix)
			header = at;
		if (at->line < oldest->line)
			oldest = at;
	}
	if (header) {
		/* two headers at once: which message is of which of them is not known, unless one thread wrote both */
		header->doubtful = !header->seen && header->entry.ts &&
				   (header->entry.pid != log->head.pid || header->entry.tid != log->head.tid);
	} else {
		header = log->nr_pending < AMDLOG_PENDING ? &log->pending[log->nr_pending++] : oldest;
		header->doubtful = false;
	}
	header->entry = log->head;
	header->origin = log->origin;
	header->line = log->lines;
	header->seen = false;
	memcpy(header->prefix, log->line, log->prefix);
	header->prefix[log->prefix] = '\0';
}

/* A thread writes its lines one after the other: a whole one ends the wait for the message of an earlier header. */
static void header_end(struct amdlog *log)
{
	unsigned int i;

	for (i = 0; i < log->nr_pending; i++) {
		struct amdlog_header *at = &log->pending[i];

		if (at->origin == log->origin && at->entry.pid == log->head.pid && at->entry.tid == log->head.tid)
			at->entry.ts = 0;
	}
}

/* A line without header: is it the message of one that was kept?  Among several, of that with the longest prefix. */
static const char *header_find(struct amdlog *log, struct amdlog_entry *entry)
{
	struct amdlog_header *best = NULL;
	const char *message = NULL, *rest;
	unsigned int i;

	for (i = 0; i < log->nr_pending; i++) {
		struct amdlog_header *at = &log->pending[i];

		if (at->origin != log->origin || log->lines - at->line > AMDLOG_WAIT)
			continue;
		rest = amdlog_after(at->prefix, log->line);
		if (!rest)
			continue;
		/* the message of an earlier header, or a line of the program */
		at->seen = true;
		if (at->doubtful || !at->entry.ts || !amdlog_message(rest, entry) ||
		    (best && strlen(best->prefix) >= strlen(at->prefix)))
			continue;
		best = at;
		message = rest;
	}
	if (!best)
		return NULL;
	log->head = best->entry;
	best->entry.ts = 0;
	return message;
}

/* A message about a queue without a header that it could belong to: it has no time. */
static void orphan_note(struct amdlog *log, struct amdlog_entry *entry)
{
	if (!amdlog_message(log->line, entry) || !(entry->has & 1U << LOG_HWQ))
		return;
	log->orphans++;
	sample(log->first_orphan, log->line);
}

/* The last line of a file ends within a header of ROCm: ":LEVEL:FILE", and not all of the rest */
static bool header_begins(const char *line)
{
	for (; (line = strchr(line, ':')); line++)
		if (line[1] >= '0' && line[1] <= '9' && line[2] == ':' &&
		    (!line[3] || (line[3] | 32) == '_' || ((line[3] | 32) >= 'a' && (line[3] | 32) <= 'z')))
			return true;
	return false;
}

/* The next header and its message, or the next message whose header was kept; 0 at the end. */
static int message_next(struct amdlog *log, struct amdlog_entry *entry, const char **message)
{
	struct amdlog_entry other;
	const char *start, *ignored;
	int ret;

	for (;;) {
		if (log->rest) {
			/* another header in the same line */
			*log->rest = ':';
			start = amdlog_line(log->rest, entry, message);
			log->rest = NULL;
		} else {
			ret = line_get(log);
			if (ret <= 0)
				return ret;
			sample(log->first_line, log->line);
			log->origin = amdlog_unwrap(log->line);
			amdlog_plain(log->line);
			start = amdlog_line(log->line, entry, message);
			if (start) {
				log->headed++;
				log->cut_off += log->unended;
				log->prefix = start - log->line;
				sample(log->first_rocm, start);
				if (entry->detailed)
					sample(log->first_detailed, start);
			}
		}
		if (!start) {
			*message = header_find(log, entry);
			log->cut_off += log->unended && (*message || (log->headed && header_begins(log->line)));
			if (*message)
				return 1;
			orphan_note(log, entry);
			continue;
		}
		head_take(log, entry);
		log->rest = (char *)amdlog_line(*message, &other, &ignored);
		if (log->rest)
			*log->rest = '\0';
		if (**message) {
			header_end(log);
			return 1;
		}
		header_keep(log);
	}
}

/**
 * amdlog_next() - the next message that says something about queues
 * @log: the log
 * @entry: filled in
 *
 * Return: 1; 0 at the end of the file; -errno if it cannot be read.
 */
int amdlog_next(struct amdlog *log, struct amdlog_entry *entry)
{
	const char *message;
	int ret;

	while ((ret = message_next(log, entry, &message)) > 0) {
		*entry = log->head;
		if (!amdlog_message(message, entry))
			continue;
		/* the end of the file is reported as such */
		if (log->unended && (entry->cut || (entry->has & 1U << LOG_HWQ && entry->name_last)))
			continue;
		if (entry->cut) {
			log->shortened++;
			sample(log->first_shortened, message);
			continue;
		}
		entry->message = message;
		log->known++;
		log->dispatches += entry->kind == AMDLOG_DISPATCH;
		if (entry->kind == AMDLOG_PACKET)
			sample(log->first_packet, message);
		return 1;
	}
	return ret;
}
