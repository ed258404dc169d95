// SPDX-License-Identifier: GPL-2.0
/*
 * ROCm's log.  A line is
 *
 *	:LEVEL:FILE :LINE : TIME us: [pid:PID tid: 0xTID] MESSAGE	HIP 6 and later
 *	:LEVEL:FILE :LINE : TIME us: PID : [tid:0xTID] MESSAGE		HIP 5
 *	:LEVEL:FILE :LINE : TIMEd us: MESSAGE				some of HIP 6.3
 *	:LEVEL:FILE :LINE : TIME us: MESSAGE				level 3 since HIP 6.3
 *
 * with blanks here and there.  The thread is hexadecimal, with 0x or without.  A line may be broken
 * after the bracket.  Programs that collect logs put a prefix before the line: a time, a name, a rank,
 * JSON.  The line begins where this format fits, wherever that is.  amdlog-stream.c reads the lines.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>

#include "amdlog.h"

#define LEVEL_OF_DISPATCH 4
#define MIN_CUT	    4	/* bytes of a message that is cut: as "SWq=" */
#define MAX_BRACKET 128 /* bytes of [pid:PID tid: TID]; more is none */

/*
 * The messages.  In a pattern, a % and a letter is a number that is kept: a pointer or a
 * decimal one; %w is a word that is not; %k is any number of "key=value," (priority=1, virtual_pipe_id=3,).
 * A blank is any number of them.  A pattern that begins
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
	{ AMDLOG_DISPATCH, "*SWq=%S, HWq=%H, id=%i,%k Dispatch Header" },
	{ AMDLOG_BARRIER, "*SWq=%S, HWq=%H, id=%i,%k Barrier" },
	{ AMDLOG_PACKET, "*SWq=%S, HWq=%H, id=%i" },
	{ AMDLOG_DISPATCH, "*HWq=%H,%k Dispatch Header" },
	{ AMDLOG_BARRIER, "*HWq=%H,%k Barrier" },
	{ AMDLOG_PACKET, "*HWq=%H" },
	{ AMDLOG_COMMAND, "Command (%w) enqueued: %C to queue: %Q" },
	{ AMDLOG_COMMAND, "command is enqueued: %C" },
};

enum fit {
	FIT_NOT,
	FIT_CUT, /* the text ends before the pattern does */
	FIT,
};

static const char *blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* NULL if there is no digit, or the number is too large. */
static const char *digits(const char *at, unsigned int base, uint64_t *value)
{
	const char *start = at;
	unsigned int digit;

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

static bool is_hexadecimal(const char *at)
{
	return at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
}

/* Decimal, or hexadecimal with 0x.  NULL if there is none, or it is too large. */
static const char *number(const char *at, uint64_t *value)
{
	return is_hexadecimal(at) ? digits(at + 2, 16, value) : digits(at, 10, value);
}

/* "key=value," any number of times */
static const char *pairs(const char *at)
{
	for (;;) {
		const char *pair = blanks(at);
		size_t length = strspn(pair, "abcdefghijklmnopqrstuvwxyz_");

		if (!length || pair[length] != '=')
			return at;
		length += strcspn(pair + length, " \t,");
		if (pair[length] != ',')
			return at;
		at = pair + length + 1;
	}
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

/* The text ends within the pattern. */
static enum fit ends(const char *start, const char *text)
{
	return !*text && text - start >= MIN_CUT ? FIT_CUT : FIT_NOT;
}

static enum fit match_here(const char *pattern, const char *text, struct amdlog_entry *entry)
{
	const char *start = text;
	bool half_pair = false;
	uint64_t value;

	for (; *pattern; pattern++) {
		if (*pattern == ' ') {
			text = blanks(text);
		} else if (*pattern == '%' && pattern[1] == 'w') {
			pattern++;
			if (!strcspn(text, " \t()"))
				return ends(start, text);
			text += strcspn(text, " \t()");
		} else if (*pattern == '%' && pattern[1] == 'k') {
			pattern++;
			text = pairs(text);
			half_pair = !blanks(text)[strcspn(blanks(text), " \t,")];
		} else if (*pattern == '%') {
			int field = field_of(*++pattern);

			if (!*text || !strcmp(text, "0") || !strcmp(text, "0x"))
				return ends(start, text + strlen(text));
			text = number(text, &value);
			if (!text)
				return FIT_NOT;
			entry->v[field] = value;
			entry->has |= 1U << field;
			if (field == LOG_HWQ)
				entry->name_last = !*text;
		} else if (*pattern != *text) {
			return half_pair ? FIT_CUT : ends(start, text);
		} else {
			text++;
		}
	}
	return FIT;
}

static enum fit match(const char *pattern, const char *text, struct amdlog_entry *entry)
{
	enum fit fit = FIT_NOT;
	char first;

	if (*pattern != '*')
		return match_here(pattern, text, entry);
	first = *++pattern;
	for (; fit == FIT_NOT && (text = strchr(text, first)); text++) {
		entry->has = 0;
		fit = match_here(pattern, text, entry);
	}
	return fit;
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
	enum fit fit = FIT_NOT;
	bool cut = false;
	size_t i;

	message = blanks(message);
	for (i = 0; i < sizeof(patterns) / sizeof(*patterns) && fit != FIT; i++) {
		entry->has = 0;
		fit = match(patterns[i].pattern, message, entry);
		entry->kind = patterns[i].kind;
		cut |= fit == FIT_CUT && strstr(patterns[i].pattern, "%H");
	}
	/* a shorter pattern may be all that is left of one above */
	entry->cut = cut && (fit != FIT || entry->kind == AMDLOG_PACKET || entry->name_last);
	return fit == FIT || entry->cut;
}

/* [pid:1 tid: 0x2], [pid:1 tid: 2], [tid:0x2]; HIP pads a short one with blanks after 0x */
static const char *bracket(const char *at, struct amdlog_entry *entry)
{
	const char *end = memchr(at, ']', strnlen(at, MAX_BRACKET)), *tag;
	uint64_t value;

	if (!end)
		return NULL;
	tag = memmem(at, end - at, "pid:", 4);
	if (tag && digits(blanks(tag + 4), 10, &value) && value <= INT32_MAX)
		entry->pid = value;
	tag = memmem(at, end - at, "tid:", 4);
	if (tag) {
		tag = blanks(tag + 4);
		if (is_hexadecimal(tag))
			tag = blanks(tag + 2);
		if (digits(tag, 16, &value))
			entry->tid = value;
	}
	return end + 1;
}

/* What comes before the message, if it is here; else NULL. */
static const char *head(const char *at, struct amdlog_entry *entry)
{
	const char *us;
	uint64_t value;
	size_t length;

	entry->pid = -1;
	entry->tid = 0;
	entry->has = 0;
	at = digits(at + 1, 10, &value); /* level */
	if (!at || *at++ != ':')
		return NULL;
	entry->detailed = value >= LEVEL_OF_DISPATCH;
	length = strcspn(at, ": \t"); /* file */
	if (!length)
		return NULL;
	at = blanks(at + length);
	if (*at++ != ':')
		return NULL;
	at = digits(blanks(at), 10, &value); /* line */
	if (!at)
		return NULL;
	at = blanks(at);
	if (*at++ != ':')
		return NULL;
	at = digits(blanks(at), 10, &value);
	if (!at || value > UINT64_MAX / 1000)
		return NULL;
	at += *at == 'd'; /* a format that went wrong in HIP 6.3 */
	us = blanks(at);
	if (strncmp(us, "us:", 3))
		return NULL;
	entry->ts = value * 1000;
	at = blanks(us + 3);
	us = digits(at, 10, &value); /* PID : [tid:0x..] */
	if (us && value <= INT32_MAX && *blanks(us) == ':') {
		entry->pid = value;
		at = blanks(blanks(us) + 1);
	}
	if (!strncmp(at, "[pid:", 5) || !strncmp(at, "[tid:", 5))
		at = bracket(at, entry);
	return at ? blanks(at) : NULL;
}

/**
 * amdlog_line() - find what comes before the message
 * @line: without its newline, and without escape sequences
 * @entry: ts, pid and tid are filled in
 * @message: out: what follows, maybe empty
 *
 * Return: where ROCm's line begins in @line, after the prefix of a program that collects logs; NULL if it is
 * none.
 */
const char *amdlog_line(const char *line, struct amdlog_entry *entry, const char **message)
{
	const char *at;

	for (at = line; (at = strchr(at, ':')); at++) {
		*message = head(at, entry);
		if (*message)
			return at;
	}
	return NULL;
}
