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
	const char *name;
	unsigned int code;
	size_t len;

	for (*at = 0; text[*at]; *at += len) {
		len = text_decode(text + *at, &code) ?: 1;
		if (*at && text[*at - 1] == '\\')
			continue;
		/* blanks are seen */
		if ((text[*at] > 0 && text[*at] < ' ' && !strchr("\t\r\f\v", text[*at])) || text[*at] == 0x7f)
			return rules_refuse(why, "%s stands here and is not seen: remove it; in a name that has it, write a backslash before it",
					    text[*at] == 0x1b && text[*at + 1] == '[' ? "an escape sequence of a terminal" :
										       "a control character");
		name = len > 1 ? text_unseen(code, NULL) : NULL;
		if (name)
			return rules_refuse(why, "U+%04X, %s, stands here and is not seen: remove it, or write a blank; in a name that has it, a backslash before it",
					    code, name);
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
