// SPDX-License-Identifier: GPL-2.0
/* JSON; see json-out.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json-out.h"
#include "message.h"

#define LINES 2 /* brackets one inside the other whose members have lines of their own */

static FILE *out;
static enum json_layout layout;
static unsigned int depth;
static bool fresh; /* nothing in this bracket yet */
static bool in_page;
static int failed;

/**
 * json_begin() - begin a document
 * @file: where to
 * @how: where lines end
 */
void json_begin(FILE *file, enum json_layout how)
{
	out = file;
	layout = how;
	depth = 0;
	fresh = true;
	in_page = false;
	failed = 0;
}

/**
 * json_end() - end the document
 *
 * Return: 0 or -ENOMEM; whether it was written is for the caller to ask, with ferror(3).
 */
int json_end(void)
{
	putc('\n', out);
	return failed;
}

/**
 * json_stdout() - begin a document on standard output
 * @how: where lines end
 */
void json_stdout(enum json_layout how)
{
	json_begin(stdout, how);
	json_open(NULL, '{');
}

/**
 * json_stdout_end() - end it; does not return without memory
 */
void json_stdout_end(void)
{
	json_close('}');
	if (json_end())
		errx(EXIT_FAILURE, "out of memory");
}

/**
 * json_in_page() - whether what comes is inside of a page, where text must not end it
 * @value: whether
 */
void json_in_page(bool value)
{
	in_page = value;
}

static bool lines(void)
{
	return layout == JSON_ROWS && depth && depth <= LINES;
}

static void json_key(const char *key)
{
	if (!fresh)
		putc(',', out);
	if (lines())
		fprintf(out, "\n%*s", 2 * depth, "");
	if (key)
		fprintf(out, layout == JSON_ROWS && depth <= LINES ? "\"%s\": " : "\"%s\":", key);
	fresh = false;
}

/**
 * json_open() - begin an object or an array
 * @key: its name, NULL in an array and for the document
 * @bracket: { or [
 */
void json_open(const char *key, char bracket)
{
	json_key(key);
	putc(bracket, out);
	depth++;
	fresh = true;
}

/**
 * json_close() - end it
 * @bracket: } or ]
 */
void json_close(char bracket)
{
	bool own = lines() && !fresh;

	depth--;
	if (own)
		fprintf(out, "\n%*s", 2 * depth, "");
	putc(bracket, out);
	fresh = false;
}

/* The names say it all. */
void json_number(const char *key, int64_t value)
{
	json_key(key);
	fprintf(out, "%" PRId64, value);
}

void json_count(const char *key, uint64_t value)
{
	json_key(key);
	fprintf(out, "%" PRIu64, value);
}

/* JSON has no word for what is not a number. */
void json_real(const char *key, double value)
{
	json_key(key);
	if (isfinite(value))
		fprintf(out, "%.9g", value);
	else
		fputs("null", out);
}

void json_literal(const char *key, const char *text)
{
	json_key(key);
	fputs(text, out);
}

void json_flag(const char *key, bool value)
{
	json_literal(key, value ? "true" : "false");
}

void json_null(const char *key)
{
	json_literal(key, "null");
}

void json_known_count(const char *key, bool known, uint64_t value)
{
	if (known)
		json_count(key, value);
	else
		json_null(key);
}

void json_known_number(const char *key, bool known, int64_t value)
{
	if (known)
		json_number(key, value);
	else
		json_null(key);
}

/* JSON has no hexadecimal numbers, and no exact ones of 64 bits everywhere. */
void json_address(const char *key, uint64_t value)
{
	json_key(key);
	fprintf(out, "\"0x%" PRIx64 "\"", value);
}

/* Null if none is set. */
void json_priority(const char *key, int priority)
{
	if (priority == KFD_PRIO_UNSET)
		json_null(key);
	else
		json_number(key, priority);
}

void json_simulated(const char *key, enum simulated simulated)
{
	if (simulated == SIMULATED_UNKNOWN)
		json_null(key);
	else
		json_flag(key, simulated == SIMULATED_YES);
}

static bool plain(const char *text)
{
	/* whether a char has a sign differs between architectures */
	for (; *text; text++)
		if (*text < 0x20 || *text >= 0x7f || strchr("\"\\<", *text))
			return false;
	return true;
}

/* Characters with a meaning in JSON, in HTML or on a terminal are written as \uNNNN. */
static void string_put(const char *text)
{
	char *safe = text_json_printable(text);
	const char *at;

	if (!safe) {
		failed = -ENOMEM;
		return;
	}
	for (at = safe; *at; at++) {
		/* text_json_printable() wrote these itself, and escapes no backslash that was there */
		if ((unsigned char)*at < 0x20 || (in_page && *at == '<'))
			fprintf(out, "\\u%04x", *at);
		else
			putc(*at, out);
	}
	free(safe);
}

/* Backslashes before quotes and backslashes. */
static char *quote(const char *text)
{
	char *copy = malloc(2 * strlen(text) + 1), *to = copy;

	for (; copy && *text; text++) {
		if (*text == '"' || *text == '\\')
			*to++ = '\\';
		*to++ = *text;
	}
	if (copy)
		*to = '\0';
	return copy;
}

void json_text(const char *key, const char *raw)
{
	char *text, *quoted;

	if (!raw) {
		json_null(key);
		return;
	}
	json_key(key);
	putc('"', out);
	if (plain(raw)) {
		fputs(raw, out);
	} else {
		text = text_utf8(raw);
		quoted = text ? quote(text) : NULL;
		if (quoted)
			string_put(quoted);
		else
			failed = -ENOMEM;
		free(quoted);
		free(text);
	}
	putc('"', out);
}
