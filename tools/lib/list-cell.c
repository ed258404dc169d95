// SPDX-License-Identifier: GPL-2.0
/* The cells of a list; see list.h. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kfdlib.h"
#include "list.h"
#include "message.h"

uint64_t list_zero_ns;

static void printable(const char *raw, bool word, char *text, size_t size)
{
	char *safe = text_printable(raw), *at;

	if (!safe)
		errx(EXIT_FAILURE, "out of memory");
	for (at = safe; word && *at; at++)
		if (*at == ' ')
			*at = '_';
	text_copy(text, size, *safe ? safe : "-");
	free(safe);
}

/* No blank before the unit: columns can be counted. */
static void duration(uint64_t ns, char *text, size_t size)
{
	char *blank;

	if (!ns) {
		snprintf(text, size, "0");
		return;
	}
	duration_format(text, size, ns);
	blank = strchr(text, ' ');
	if (blank)
		memmove(blank, blank + 1, strlen(blank));
}

/**
 * list_cell() - a value as in a table
 * @value: the value
 * @text: filled in; does nothing to a terminal but show itself
 * @size: its bytes
 */
void list_cell(const struct list_value *value, char *text, size_t size)
{
	if (!value->known) {
		snprintf(text, size, "-");
		return;
	}
	switch (value->kind) {
	case LIST_TEXT:
	case LIST_WORD:
		printable(value->text, value->kind == LIST_WORD, text, size);
		break;
	case LIST_COUNT:
		snprintf(text, size, "%" PRIu64, value->count);
		break;
	case LIST_NUMBER:
		snprintf(text, size, "%" PRId64, value->number);
		break;
	case LIST_DURATION:
		duration(value->count, text, size);
		break;
	case LIST_TIME:
		text_time(text, size, value->count, list_zero_ns);
		break;
	case LIST_ADDRESS:
		snprintf(text, size, "0x%" PRIx64, value->count);
		break;
	case LIST_PERCENT:
		snprintf(text, size, "%.1f", value->real);
		break;
	case LIST_RATE:
		snprintf(text, size, "%.*f", value->real < 99.95, value->real);
		break;
	case LIST_REAL:
		snprintf(text, size, "%.4g", value->real);
		break;
	case LIST_FLAG:
		snprintf(text, size, "%s", value->flag ? "yes" : "no");
		break;
	}
}

/**
 * list_value_get() - what is in a cell
 * @list: the list
 * @row: its row
 * @column: its column
 * @value: filled in
 */
void list_value_get(const struct list *list, size_t row, unsigned int column, struct list_value *value)
{
	*value = (struct list_value){ .kind = list->columns[column].kind };
	list->value(list->context, row, column, value);
}
