// SPDX-License-Identifier: GPL-2.0
/*
 * ROCm's log.  A line is
 *
 *	:LEVEL:FILE :LINE : TIME us: [pid:PID tid: 0xTID] MESSAGE	HIP 6.1 and later
 *	:LEVEL:FILE :LINE : TIME us: PID : [tid:0xTID] MESSAGE		HIP 5
 *	:LEVEL:FILE :LINE : TIMEd us: MESSAGE				some of HIP 6.3
 *
 * with blanks here and there, and a line may be broken after the bracket.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "amdlog.h"

/*
 * The messages.  In a pattern, a % and a letter is a number that is kept: a pointer or a
 * decimal one; %w is a word that is not.  A blank is any number of them.  A pattern that begins
 * with * may stand anywhere in the message.  The first one that fits counts.
 */
static const struct {
	enum amdlog_kind kind;
	const char *pattern;
} patterns[] = {
	{ AMDLOG_ALLOCATING, "number of allocated hardware queues" },
	{ AMDLOG_ALLOCATING, "Number of allocated hardware queues" },
	{ AMDLOG_CREATED, "created hardware queue %H with size %z with priority %p" },
	{ AMDLOG_CREATED, "created hardware queue %H" },
	{ AMDLOG_CREATED, "Created SWq=%S to map on HWq=%H with size %z with priority %p" },
	{ AMDLOG_CREATED, "Created SWq=%S to map on HWq=%H" },
	{ AMDLOG_ACQUIRED, "acquireQueue refCount: %H (%r)" },
	{ AMDLOG_SELECTED, "selected queue refCount: %H (%r)" },
	{ AMDLOG_SELECTED, "Selected queue refCount: %H (%r)" },
	{ AMDLOG_RELEASED, "releaseQueue refCount: %H (%r)" },
	{ AMDLOG_DELETED, "deleting hardware queue %H" },
	{ AMDLOG_DELETED, "Deleting hardware queue %H" },
	{ AMDLOG_DISPATCH, "*SWq=%S, HWq=%H, id=%i, Dispatch Header" },
	{ AMDLOG_BARRIER, "*SWq=%S, HWq=%H, id=%i, Barrier" },
	{ AMDLOG_PACKET, "*SWq=%S, HWq=%H, id=%i" },
	{ AMDLOG_DISPATCH, "*HWq=%H, Dispatch Header" },
	{ AMDLOG_BARRIER, "*HWq=%H, Barrier" },
	{ AMDLOG_PACKET, "*HWq=%H" },
	{ AMDLOG_COMMAND, "Command (%w) enqueued: %C to queue: %Q" },
	{ AMDLOG_COMMAND, "command is enqueued: %C" },
};

static const char *blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* Decimal, or hexadecimal with 0x.  NULL if there is none, or it is too large. */
static const char *number(const char *at, uint64_t *value)
{
	unsigned int base = 10, digit;
	const char *start;

	if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
		base = 16;
		at += 2;
	}
	start = at;
	for (*value = 0;; at++) {
		if (*at >= '0' && *at <= '9')
			digit = *at - '0';
		else if (base == 16 && (*at | 32) >= 'a' && (*at | 32) <= 'f')
			digit = (*at | 32) - 'a' + 10;
		else
			break;
		if (*value > (UINT64_MAX - digit) / base)
			return NULL;
		*value = *value * base + digit;
	}
	return at == start ? NULL : at;
}

static int field_of(char letter)
{
	switch (letter) {
	case 'H':
		return LOG_HWQ;
	case 'S':
		return LOG_SWQ;
	case 'C':
		return LOG_COMMAND;
	case 'Q':
		return LOG_QUEUE;
	case 'r':
		return LOG_REFS;
	case 'z':
		return LOG_SIZE;
	case 'p':
		return LOG_PRIO;
	default:
		return LOG_ID;
	}
}

static bool match_here(const char *pattern, const char *text, struct amdlog_entry *entry)
{
	uint64_t value;

	for (; *pattern; pattern++) {
		if (*pattern == ' ') {
			text = blanks(text);
		} else if (*pattern == '%' && pattern[1] == 'w') {
			pattern++;
			if (!strcspn(text, " \t()"))
				return false;
			text += strcspn(text, " \t()");
		} else if (*pattern == '%') {
			int field = field_of(*++pattern);

			text = number(text, &value);
			if (!text)
				return false;
			entry->v[field] = value;
			entry->has |= 1U << field;
		} else if (*pattern != *text++) {
			return false;
		}
	}
	return true;
}

static bool match(const char *pattern, const char *text, struct amdlog_entry *entry)
{
	char first;

	if (*pattern != '*')
		return match_here(pattern, text, entry);
	first = *++pattern;
	for (; (text = strchr(text, first)); text++) {
		entry->has = 0;
		if (match_here(pattern, text, entry))
			return true;
	}
	return false;
}

/**
 * amdlog_message() - understand what comes after the bracket
 * @message: the text
 * @entry: kind and fields are filled in
 *
 * Return: whether it is known.
 */
bool amdlog_message(const char *message, struct amdlog_entry *entry)
{
	size_t i;

	/* escape sequences of colours */
	while (*message == '\033') {
		message++;
		message += *message == '[';
		message += strspn(message, "0123456789;");
		message += *message != '\0';
	}
	message = blanks(message);
	for (i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		entry->has = 0;
		if (match(patterns[i].pattern, message, entry)) {
			entry->kind = patterns[i].kind;
			return true;
		}
	}
	return false;
}

/* [pid:1 tid: 0x2], [tid:0x2] */
static const char *bracket(const char *at, struct amdlog_entry *entry)
{
	const char *end = strchr(at, ']'), *tag;
	uint64_t value;

	if (!end)
		return NULL;
	tag = strstr(at, "pid:");
	if (tag && tag < end && number(blanks(tag + 4), &value) && value <= INT32_MAX)
		entry->pid = value;
	tag = strstr(at, "tid:");
	if (tag && tag < end && number(blanks(tag + 4), &value))
		entry->tid = value;
	return end + 1;
}

/**
 * amdlog_line() - understand what comes before the message
 * @line: without its newline
 * @entry: ts, pid and tid are filled in
 * @message: out: what follows, maybe empty
 *
 * Return: whether it begins as a line of ROCm's.
 */
bool amdlog_line(const char *line, struct amdlog_entry *entry, const char **message)
{
	const char *at = line, *us;
	uint64_t value;

	entry->pid = -1;
	entry->tid = 0;
	entry->has = 0;
	if (*at++ != ':')
		return false;
	at = number(at, &value); /* level */
	if (!at || *at++ != ':')
		return false;
	at = strchr(at, ':'); /* file */
	if (!at)
		return false;
	at = number(blanks(at + 1), &value); /* line */
	if (!at)
		return false;
	at = blanks(at);
	if (*at++ != ':')
		return false;
	at = number(blanks(at), &value);
	if (!at || value > UINT64_MAX / 1000)
		return false;
	at += *at == 'd'; /* a format that went wrong in HIP 6.3 */
	us = blanks(at);
	if (strncmp(us, "us:", 3))
		return false;
	entry->ts = value * 1000;
	at = blanks(us + 3);
	us = number(at, &value); /* PID : [tid:0x..] */
	if (us && value <= INT32_MAX && *blanks(us) == ':') {
		entry->pid = value;
		at = blanks(blanks(us) + 1);
	}
	if (!strncmp(at, "[pid:", 5) || !strncmp(at, "[tid:", 5)) {
		at = bracket(at, entry);
		if (!at)
			return false;
	}
	*message = blanks(at);
	return true;
}

/**
 * amdlog_init() - begin to read
 * @log: filled in
 * @file: open; stays the caller's
 */
void amdlog_init(struct amdlog *log, FILE *file)
{
	memset(log, 0, offsetof(struct amdlog, line));
	log->file = file;
}

/* 1: a line is in log->line, without newline; 0: the end; else -errno */
static int line_get(struct amdlog *log)
{
	size_t length;
	int c;

	errno = 0;
	if (!fgets(log->line, sizeof(log->line), log->file))
		return ferror(log->file) ? -(errno ? errno : EIO) : 0;
	log->lines++;
	/* A 0 in a damaged line ends it. */
	length = strlen(log->line);
	if (length && log->line[length - 1] == '\n') {
		log->line[--length] = '\0';
	} else if (length == sizeof(log->line) - 1) {
		log->cut++;
		do {
			c = getc_unlocked(log->file);
		} while (c != EOF && c != '\n');
	}
	if (length && log->line[length - 1] == '\r')
		log->line[length - 1] = '\0';
	return 1;
}

/**
 * amdlog_next() - the next line that says something about queues
 * @log: the log
 * @entry: filled in
 *
 * Return: 1; 0 at the end; -errno if it cannot be read.
 */
int amdlog_next(struct amdlog *log, struct amdlog_entry *entry)
{
	const char *message;
	int ret;

	while ((ret = line_get(log)) > 0) {
		if (amdlog_line(log->line, entry, &message)) {
			log->head = *entry;
			log->headed++;
			if (!log->first || log->head.ts < log->first)
				log->first = log->head.ts;
			if (log->head.ts > log->last)
				log->last = log->head.ts;
			/* broken after the bracket: what it says is in the next line */
			log->pending = !*message;
		} else if (log->pending) {
			log->pending = false;
			message = log->line;
		} else {
			continue;
		}
		*entry = log->head;
		if (*message && amdlog_message(message, entry)) {
			log->known++;
			return 1;
		}
	}
	return ret;
}
