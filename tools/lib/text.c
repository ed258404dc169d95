// SPDX-License-Identifier: GPL-2.0
/*
 * Text from elsewhere, made fit for a terminal or a JSON document.
 *
 * A process chooses its own name, and may choose one that clears the screen
 * or hides a line of a list: nothing of the kind must be printed as it is.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <langinfo.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "kfdlib.h"

/* Surrogates, overlong forms and what lies beyond U+10FFFF are not valid. */
static size_t utf8_decode(const unsigned char *text, unsigned int *code)
{
	static const unsigned int least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len, i;

	if (text[0] < 0x80) {
		*code = text[0];
		return 1;
	}
	if ((text[0] & 0xe0) == 0xc0)
		len = 2;
	else if ((text[0] & 0xf0) == 0xe0)
		len = 3;
	else if ((text[0] & 0xf8) == 0xf0)
		len = 4;
	else
		return 0;
	*code = text[0] & (0x7f >> len);
	for (i = 1; i < len; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (text[i] & 0x3f);
	}
	if (*code < least[len] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return len;
}

/**
 * text_decode() - the character at the beginning of a text
 * @text: any bytes
 * @code: out: its number
 *
 * Return: its bytes in UTF-8; 0: there is none.
 */
size_t text_decode(const char *text, unsigned int *code)
{
	return utf8_decode((const unsigned char *)text, code);
}

/* Characters that are not seen, as they come with text from a page or a chat */
static const struct {
	unsigned int first, last;
	const char *name;
	bool part; /* of words and of emoji, or a blank */
} unseen[] = {
	{ 0x80, 0x9f, "a control character", false },
	{ 0xa0, 0xa0, "a no-break space", true },
	{ 0xad, 0xad, "a soft hyphen", false },
	{ 0x34f, 0x34f, "a joiner", true },
	{ 0x61c, 0x61c, "a mark of direction", false },
	{ 0x115f, 0x1160, "a filler", false },
	{ 0x1680, 0x1680, "a space", true },
	{ 0x17b4, 0x17b5, "a vowel without a shape", false },
	{ 0x180b, 0x180f, "a separator or selector", true },
	{ 0x2000, 0x200a, "a space", true },
	{ 0x200b, 0x200b, "a space without a width", false },
	{ 0x200c, 0x200d, "a joiner", true },
	{ 0x200e, 0x200f, "a mark of direction", false },
	{ 0x2028, 0x2029, "a separator of lines", false },
	{ 0x202a, 0x202e, "a mark of direction", false },
	{ 0x202f, 0x202f, "a narrow no-break space", true },
	{ 0x205f, 0x205f, "a space", true },
	{ 0x2060, 0x206f, "a character without a width", false },
	{ 0x2800, 0x2800, "an empty pattern of Braille", false },
	{ 0x3000, 0x3000, "a wide space", true },
	{ 0x3164, 0x3164, "a filler", false },
	{ 0xfe00, 0xfe0f, "a selector of shapes", true },
	{ 0xfeff, 0xfeff, "a byte order mark", false },
	{ 0xffa0, 0xffa0, "a filler", false },
	{ 0xfff9, 0xfffb, "an annotation", false },
	{ 0x16fe4, 0x16fe4, "a filler", false },
	{ 0x1bca0, 0x1bca3, "a format of shorthand", false },
	{ 0x1d173, 0x1d17a, "a format of music", false },
	{ 0xe0000, 0xe00ff, "a character without a shape", false },
	{ 0xe0100, 0xe01ef, "a selector of shapes", true },
	{ 0xe01f0, 0xe0fff, "a character without a shape", false },
};

/**
 * text_unseen() - is a character one that is not seen?
 * @code: its number
 * @part: out, if it is wanted: whether it is a part of words and of emoji, or a blank
 *
 * Return: what it is, NULL: it is seen, or of ASCII.
 */
const char *text_unseen(unsigned int code, bool *part)
{
	size_t i;

	for (i = 0; i < sizeof(unseen) / sizeof(*unseen); i++)
		if (code >= unseen[i].first && code <= unseen[i].last) {
			if (part)
				*part = unseen[i].part;
			return unseen[i].name;
		}
	return NULL;
}

/* Characters that act on a terminal, or on how the text round them is read, or that hide in a text. */
static bool code_acts(unsigned int code)
{
	bool part = false;

	return code < 0x20 || code == 0x7f || (code >= 0x80 && text_unseen(code, &part) && !part);
}

/**
 * text_escape() - a copy of @raw that does nothing to a terminal but show itself
 * @raw: any bytes
 * @charset: which characters the reader of the copy can read
 *
 * Bytes of a character that acts on a terminal, and bytes that are no character of
 * @charset, become \xNN; everything else stays as it is.  To escape a text twice
 * changes nothing.  All foreign text that the tools print passes here, in whatever
 * form; tests/lint/check-foreign knows what is foreign.
 *
 * Return: to be freed with free(3); NULL without memory.
 */
char *text_escape(const char *raw, enum text_charset charset)
{
	bool utf8 = charset == TEXT_UTF8 || (charset == TEXT_LOCALE && !strcmp(nl_langinfo(CODESET), "UTF-8"));
	char *copy = malloc(4 * strlen(raw) + 1);
	char *out = copy;

	if (!copy)
		return NULL;
	while (*raw) {
		unsigned int code;
		size_t len = utf8_decode((const unsigned char *)raw, &code);

		if (len && !code_acts(code) && (len == 1 || utf8)) {
			out = mempcpy(out, raw, len);
		} else {
			len = 1;
			out += sprintf(out, "\\x%02x", (unsigned char)*raw);
		}
		raw += len;
	}
	*out = '\0';
	return copy;
}

/**
 * text_printable() - text_escape() for the locale's encoding (UTF-8, else only ASCII is shown)
 * @raw: any bytes
 *
 * Return: to be freed with free(3); NULL without memory.
 */
char *text_printable(const char *raw)
{
	return text_escape(raw, TEXT_LOCALE);
}

/**
 * text_utf8() - a copy of @raw that is valid UTF-8, for JSON
 * @raw: any bytes
 *
 * Bytes that are not UTF-8 become U+FFFD, the replacement character.
 *
 * Return: to be freed with free(3); NULL without memory.
 */
char *text_utf8(const char *raw)
{
	char *copy = malloc(3 * strlen(raw) + 1);
	char *out = copy;

	if (!copy)
		return NULL;
	while (*raw) {
		unsigned int code;
		size_t len = utf8_decode((const unsigned char *)raw, &code);

		if (len)
			out = mempcpy(out, raw, len);
		else
			out = mempcpy(out, "\xef\xbf\xbd", 3);
		raw += len ? len : 1;
	}
	*out = '\0';
	return copy;
}

/**
 * text_json_printable() - a copy of a JSON document that is safe on a terminal
 * @json: valid JSON in UTF-8
 *
 * JSON lets strings hold DEL, C1 control characters and direction overrides as
 * they are.  Outside of strings there are none, so that all become \uNNNN.
 *
 * Return: to be freed with free(3); NULL without memory.
 */
char *text_json_printable(const char *json)
{
	char *copy = malloc(6 * strlen(json) + 1);
	char *out = copy;

	if (!copy)
		return NULL;
	while (*json) {
		unsigned int code;
		size_t len = utf8_decode((const unsigned char *)json, &code);

		if (len && code >= 0x7f && code_acts(code))
			out += sprintf(out, "\\u%04x", code);
		else
			out = mempcpy(out, json, len ? len : 1);
		json += len ? len : 1;
	}
	*out = '\0';
	return copy;
}

/**
 * text_shown() - text_escape() in place, in ASCII, for a log
 * @text: a message; what does not fit any more is cut off
 * @size: its bytes
 *
 * Return: @text.
 */
const char *text_shown(char *text, size_t size)
{
	char *safe = text_escape(text, TEXT_ASCII);

	text_copy(text, size, safe ? safe : "out of memory");
	free(safe);
	return text;
}

/**
 * text_copy() - copy what fits of a text, in whole characters
 * @to: filled in
 * @size: its bytes, 1 at least
 * @text: from text_escape() or text_printable()
 */
void text_copy(char *to, size_t size, const char *text)
{
	unsigned int code;
	size_t len;

	while (*text) {
		len = utf8_decode((const unsigned char *)text, &code);
		len = len ? len : 1;
		if (len >= size)
			break;
		to = mempcpy(to, text, len);
		size -= len;
		text += len;
	}
	*to = '\0';
}

/**
 * text_width() - columns that a text takes on a terminal
 * @text: from text_printable()
 *
 * Return: the number of columns.
 */
size_t text_width(const char *text)
{
	mbstate_t state = { 0 };
	size_t width = 0;
	wchar_t wide;

	while (*text) {
		size_t len = mbrtowc(&wide, text, strlen(text), &state);
		if (len == (size_t)-1 || len == (size_t)-2) {
			memset(&state, 0, sizeof(state));
			len = 1;
			width++;
		} else {
			int columns = wcwidth(wide);

			width += columns > 0 ? columns : 0;
		}
		text += len;
	}
	return width;
}

/**
 * duration_format() - a duration with three digits and a unit
 * @text: filled in
 * @size: its bytes
 * @ns: the duration
 */
void duration_format(char *text, size_t size, uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = ns;
	unsigned int unit = 0;

	while (value >= 999.5 && unit < 3) {
		value /= 1000;
		unit++;
	}
	if (!unit)
		snprintf(text, size, "%" PRIu64 " ns", ns);
	else
		snprintf(text, size, "%.*f %s",
			 value < 9.995 ? 2 :
			 value < 99.95 ? 1 :
					 0,
			 value, units[unit]);
}

/**
 * text_time() - a point in time, in seconds, to the microsecond
 * @text: filled in
 * @size: its bytes
 * @ns: the time, of some clock
 * @zero_ns: where zero is, of the same clock
 */
void text_time(char *text, size_t size, uint64_t ns, uint64_t zero_ns)
{
	bool before = ns < zero_ns;

	ns = before ? zero_ns - ns : ns - zero_ns;
	snprintf(text, size, "%s%" PRIu64 ".%06" PRIu64, before ? "-" : "", ns / 1000000000,
		 ns / 1000 % 1000000);
}
