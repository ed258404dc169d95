// SPDX-License-Identifier: GPL-2.0
/* Rules: what is wrong with a text, and characters that nobody sees.  Pure. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rules-advice.h"

/**
 * rules_refuse() - say what is wrong with a condition
 * @why: out: NULL: nothing is said
 * @format: what is wrong
 *
 * Return: -EINVAL.
 */
int rules_refuse(struct rules_refusal *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (why) {
		vsnprintf(why->text, sizeof(why->text), format, args);
		*why->value = '\0';
	}
	va_end(args);
	return -EINVAL;
}

/**
 * rules_refuse_as() - say what is wrong with a condition, and the spelling that matches
 * @why: out: NULL: nothing is said
 * @lead: what stands before the spelling, as ": write "
 * @key: of the spelling
 * @value: of the spelling, without quotes; NULL: none is known
 * @format: what is wrong
 *
 * Whether the spelling is one that can match is tried later, by rules_parse().
 *
 * Return: -EINVAL.
 */
int rules_refuse_as(struct rules_refusal *why, const char *lead, const char *key, const char *value, const char *format, ...)
{
	va_list args;

	if (!why)
		return -EINVAL;
	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
	why->lead = lead;
	why->key = key;
	snprintf(why->value, sizeof(why->value), "%s", value ?: "");
	return -EINVAL;
}

/* Characters that are not seen, as they come with text from a page or a chat */
static const struct {
	unsigned int first, last;
	const char *name;
} unseen[] = {
	{ 0x80, 0x9f, "a control character" },
	{ 0xa0, 0xa0, "a no-break space" },
	{ 0xad, 0xad, "a soft hyphen" },
	{ 0x34f, 0x34f, "a joiner" },
	{ 0x61c, 0x61c, "a mark of direction" },
	{ 0x115f, 0x1160, "a filler" },
	{ 0x1680, 0x1680, "a space" },
	{ 0x17b4, 0x17b5, "a vowel without a shape" },
	{ 0x180b, 0x180f, "a separator or selector" },
	{ 0x2000, 0x200a, "a space" },
	{ 0x200b, 0x200b, "a space without a width" },
	{ 0x200c, 0x200d, "a joiner" },
	{ 0x200e, 0x200f, "a mark of direction" },
	{ 0x2028, 0x2029, "a separator of lines" },
	{ 0x202a, 0x202e, "a mark of direction" },
	{ 0x202f, 0x202f, "a narrow no-break space" },
	{ 0x205f, 0x205f, "a space" },
	{ 0x2060, 0x206f, "a character without a width" },
	{ 0x2800, 0x2800, "an empty pattern of Braille" },
	{ 0x3000, 0x3000, "a wide space" },
	{ 0x3164, 0x3164, "a filler" },
	{ 0xfe00, 0xfe0f, "a selector of shapes" },
	{ 0xfeff, 0xfeff, "a byte order mark" },
	{ 0xffa0, 0xffa0, "a filler" },
	{ 0xfff9, 0xfffb, "an annotation" },
	{ 0xe0000, 0xe0fff, "a character without a shape" },
};

/**
 * rules_text_check() - is there a character that nobody sees in a word?
 * @text: any bytes
 * @at: out: where
 * @why: out: what it is
 *
 * With a backslash before it, it is meant.
 *
 * Return: 0 or -EINVAL.
 */
int rules_text_check(const char *text, size_t *at, struct rules_refusal *why)
{
	unsigned int code;
	size_t len, i;

	for (*at = 0; text[*at]; *at += len) {
		len = text_decode(text + *at, &code) ?: 1;
		if (*at && text[*at - 1] == '\\')
			continue;
		/* blanks are seen */
		if ((text[*at] > 0 && text[*at] < ' ' && !strchr("\t\r\f\v", text[*at])) || text[*at] == 0x7f)
			return rules_refuse(why, "%s stands here and is not seen: remove it; in a name that has it, write a backslash before it",
					    text[*at] == 0x1b && text[*at + 1] == '[' ? "an escape sequence of a terminal" :
										       "a control character");
		if (len == 1)
			continue;
		for (i = 0; i < sizeof(unseen) / sizeof(*unseen); i++)
			if (code >= unseen[i].first && code <= unseen[i].last)
				return rules_refuse(why, "U+%04X, %s, stands here and is not seen: remove it, or write a blank; in a name that has it, a backslash before it",
					      code, unseen[i].name);
	}
	return 0;
}

/**
 * rules_text_wide() - the encoding of a text whose characters have two or four bytes
 * @text: any bytes
 * @size: how many
 *
 * Return: its name, as iconv(1) takes it; NULL: it is none.
 */
const char *rules_text_wide(const char *text, size_t size)
{
	if (size < 4)
		return NULL;
	if (!memcmp(text, "\xff\xfe\0\0", 4) || !memcmp(text, "\0\0\xfe\xff", 4))
		return "UTF-32";
	if (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2))
		return "UTF-16";
	/* without a mark of the order: characters of ASCII */
	if (text[0] && !text[1] && text[2] && !text[3])
		return "UTF-16LE";
	if (!text[0] && text[1] && !text[2] && text[3])
		return "UTF-16BE";
	return NULL;
}
