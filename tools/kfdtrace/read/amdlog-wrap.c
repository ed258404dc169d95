// SPDX-License-Identifier: GPL-2.0
/*
 * What programs that collect logs put around a line: escape sequences, JSON, a prefix.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "amdlog.h"

#define DIGITS "0123456789"
#define FNV_BASIS 0xcbf29ce484222325ULL
#define FNV_PRIME 0x100000001b3ULL

static const char *blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/**
 * amdlog_plain() - remove the escape sequences of a terminal: colours, titles
 * @line: changed
 */
void amdlog_plain(char *line)
{
	char *from = strchr(line, '\033'), *to = from;

	if (!from)
		return;
	while (*from) {
		if (*from != '\033') {
			*to++ = *from++;
			continue;
		}
		from++;
		if (*from == '[') { /* parameters, intermediate bytes, one that ends it */
			from++;
			from += strspn(from, "0123456789:;<=>?");
			from += strspn(from, " !\"#$%&'()*+,-./");
			from += *from != '\0';
		} else if (*from == ']') { /* text up to BEL, or ESC and backslash */
			from += strcspn(from, "\a\033");
			from += *from == '\a';
			if (*from == '\033' && from[1] == '\\')
				from += 2;
		} else {
			from += *from != '\0';
		}
	}
	*to = '\0';
}

/* The value of a member of JSON, after its colon; NULL if there is none.  @key has its quotation marks. */
static const char *value(const char *json, const char *key)
{
	const char *at = json;

	while ((at = strstr(at, key))) {
		at = blanks(at + strlen(key));
		if (*at == ':')
			return blanks(at + 1);
	}
	return NULL;
}

/* A message that the journal has written as an array of bytes, for it has escape sequences. */
static void bytes(char *to, const char *from)
{
	/* a number and what comes before it are longer than the byte */
	do {
		char *end;
		unsigned long byte = strtoul(blanks(from + 1), &end, 10);

		if (end == from + 1 || byte > UINT8_MAX)
			break;
		*to++ = byte ? byte : ' ';
		from = blanks(end);
	} while (*from == ',');
	*to = '\0';
}

/* A string of JSON, from after its quotation mark.  A newline is a blank, and what is not ASCII is replaced. */
static void string(char *to, const char *from)
{
	unsigned int code;

	for (; *from && *from != '"'; from++) {
		if (*from != '\\') {
			*to++ = *from;
			continue;
		}
		if (!*++from)
			break;
		if (*from == 'u') {
			char digits[5] = { 0 };

			memcpy(digits, from + 1, strnlen(from + 1, 4));
			code = strtoul(digits, NULL, 16);
			*to++ = !code || code == '\n' || code == '\r' ? ' ' : code < 0x80 ? (char)code : '?';
			from += strnlen(from + 1, 4);
		} else {
			*to++ = strchr("nrtbf", *from) ? ' ' : *from;
		}
	}
	*to = '\0';
}

static const char *string_end(const char *from)
{
	while (*from && *from != '"')
		from += from[0] == '\\' && from[1] ? 2 : 1;
	return from;
}

/* A record with several messages, or with that of ROCm elsewhere: it is read as text, where each header is found. */
static bool others_have_it(const char *json, const char *from)
{
	struct amdlog_entry entry;
	const char *message, *at;

	if (*from != '"')
		return false;
	at = amdlog_line(json, &entry, &message);
	return (at && at < from) || amdlog_line(string_end(from + 1), &entry, &message);
}

/* The process or the container that wrote a record, as a number; 0 if the record does not say it. */
static uint64_t origin(const char *json)
{
	static const char *const keys[] = { "\"_HOSTNAME\"", "\"_PID\"", "\"pod_name\"", "\"container_name\"",
					    "\"container_id\"", "\"tag\"" };
	uint64_t hash = 0;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const char *at = value(json, keys[i]);

		if (!at || *at++ != '"')
			continue;
		hash ^= i + FNV_BASIS;
		for (; *at && *at != '"'; at++)
			hash = (hash ^ (unsigned char)*at) * FNV_PRIME;
	}
	return hash;
}

/**
 * amdlog_unwrap() - take the message out of a record of JSON, as Docker, the journal and Fluent Bit write it
 * @line: changed if it is one: it becomes the message
 *
 * Return: the process or the container that wrote the record, as a number; 0 if it is not known.
 */
uint64_t amdlog_unwrap(char *line)
{
	static const char *const keys[] = { "\"MESSAGE\"", "\"log\"", "\"message\"", "\"msg\"" };
	char *json = strchr(line, '{');
	const char *from = NULL, *message;
	struct amdlog_entry entry;
	uint64_t writer;
	size_t i;

	for (i = 0; json && !from && i < sizeof(keys) / sizeof(*keys); i++)
		from = value(json, keys[i]);
	if (!from || (*from != '"' && *from != '['))
		return 0;
	/* a message of ROCm may have JSON in it */
	*json = '\0';
	message = amdlog_line(line, &entry, &message);
	*json = '{';
	if (message)
		return 0;
	if (others_have_it(json, from))
		return 0;
	writer = origin(json);
	if (*from == '[')
		bytes(line, from);
	else
		string(line, from + 1);
	return writer;
}

/* Bytes of a time of day, with a date or without, or of one in seconds with six digits or more after the point; 0: none */
static size_t time_length(const char *at)
{
	size_t length = strspn(at, DIGITS ":.,TZ+-"), i;
	bool is_time = false;

	if (!strspn(at, DIGITS))
		return 0;
	for (i = 1; i < length && !is_time; i++) {
		if (at[i] == ':')
			is_time = i >= 2 && strspn(at + i - 2, DIGITS) == 2 && strspn(at + i + 1, DIGITS) == 2;
		else if (at[i] == '.')
			is_time = strspn(at + i + 1, DIGITS) >= 6;
	}
	if (!is_time)
		return 0;
	while (strchr(":.,+-T", at[length - 1]))
		length--;
	return length;
}

/**
 * amdlog_record() - the prefix of a record of a container runtime: "TIME stdout|stderr P|F "
 * @line: any line
 * @more: out: P, the line of the program goes on in the next record of the stream; F is its end
 *
 * A runtime cuts lines of the program into records of 16 KiB (CRI, the format of files in /var/log/pods).
 *
 * Return: bytes of the prefix, 0 if there is none.
 */
size_t amdlog_record(const char *line, bool *more)
{
	size_t length = time_length(line);
	const char *at = line + length;

	if (!length || (strncmp(at, " stdout ", 8) && strncmp(at, " stderr ", 8)) || (at[8] != 'P' && at[8] != 'F') ||
	    at[9] != ' ')
		return 0;
	*more = at[8] == 'P';
	return length + 10;
}

/* Bytes of the number of a line, as grep -n writes it at the end of a prefix: digits and a colon; 0: none */
static size_t line_number_length(const char *at)
{
	size_t length = strspn(at, DIGITS);

	return length && (at[length] == ':' || at[length] == '-') ? length + 1 : 0;
}

/**
 * amdlog_after() - what follows the prefix of another line
 * @prefix: that prefix
 * @line: this line
 *
 * Times and the numbers of lines may differ; a rank, a name or a PID may not.
 *
 * Return: in @line, after the prefix; NULL if @line has another one.
 */
const char *amdlog_after(const char *prefix, const char *line)
{
	bool inside = false; /* a number that began before */

	while (*prefix) {
		size_t length = inside ? 0 : time_length(prefix), here = inside ? 0 : time_length(line);

		if (length && here) {
			prefix += length;
			line += here;
			continue;
		}
		length = inside ? 0 : line_number_length(prefix);
		here = inside ? 0 : line_number_length(line);
		if (length && here && !prefix[length])
			return line + here;
		if (*prefix != *line)
			return NULL;
		inside = strspn(line, DIGITS) > 0;
		prefix++;
		line++;
	}
	return line;
}
