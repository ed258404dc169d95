// SPDX-License-Identifier: GPL-2.0
/* Lists; see list.h.  Tables are made by libsmartcols, as those of util-linux. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <libsmartcols/libsmartcols.h>

#include "json-out.h"
#include "kfdlib.h"
#include "list.h"
#include "message.h"

#define COLOR_BOLD   "\033[1m"
#define COLOR_YELLOW "\033[33m"

void list_count(struct list_value *value, uint64_t count)
{
	list_known_count(value, true, count);
}

void list_known_count(struct list_value *value, bool known, uint64_t count)
{
	value->known = known;
	value->count = count;
}

void list_number(struct list_value *value, bool known, int64_t number)
{
	value->known = known;
	value->number = number;
}

void list_real(struct list_value *value, bool known, double real)
{
	value->known = known;
	value->real = real;
}

void list_text(struct list_value *value, const char *text)
{
	value->known = text;
	value->text = text;
}

static bool right(enum list_kind kind)
{
	return kind != LIST_TEXT && kind != LIST_WORD && kind != LIST_FLAG;
}

static void csv_put(const char *text)
{
	if (!strpbrk(text, ",\"\n\r")) {
		fputs(text, stdout);
		return;
	}
	putchar('"');
	for (; *text; text++) {
		if (*text == '"')
			putchar('"');
		putchar(*text);
	}
	putchar('"');
}

/* Bare numbers, and text in UTF-8. */
static void csv_cell(const struct list_value *value)
{
	char text[LIST_CELL], *utf8;

	if (!value->known)
		return;
	switch (value->kind) {
	case LIST_TEXT:
	case LIST_WORD:
		utf8 = text_escape(value->text, TEXT_UTF8);
		if (!utf8)
			errx(EXIT_FAILURE, "out of memory");
		csv_put(utf8);
		free(utf8);
		break;
	case LIST_DURATION:
	case LIST_TIME:
		printf("%" PRIu64, value->count);
		break;
	case LIST_PERCENT:
	case LIST_RATE:
	case LIST_REAL:
		printf("%.9g", value->real);
		break;
	case LIST_FLAG:
		fputs(value->flag ? "true" : "false", stdout);
		break;
	default:
		list_cell(value, text, sizeof(text));
		fputs(text, stdout);
	}
}

static void csv_print(const struct list *list, const unsigned int *chosen, int nr)
{
	struct list_value value;
	size_t row;
	int i;

	for (i = 0; i < nr && !list->choice->noheadings; i++)
		printf("%s%s%s", i ? "," : "", list->columns[chosen[i]].key, i == nr - 1 ? "\n" : "");
	for (row = 0; row < list->nr_rows; row++)
		for (i = 0; i < nr; i++) {
			list_value_get(list, row, chosen[i], &value);
			if (i)
				putchar(',');
			csv_cell(&value);
			if (i == nr - 1)
				putchar('\n');
		}
}

static void json_cell(const char *key, const struct list_value *value)
{
	if (!value->known) {
		json_null(key);
		return;
	}
	switch (value->kind) {
	case LIST_TEXT:
	case LIST_WORD:
		json_text(key, value->text);
		break;
	case LIST_COUNT:
	case LIST_DURATION:
	case LIST_TIME:
		json_count(key, value->count);
		break;
	case LIST_NUMBER:
		json_number(key, value->number);
		break;
	case LIST_ADDRESS:
		json_address(key, value->count);
		break;
	case LIST_PERCENT:
	case LIST_RATE:
	case LIST_REAL:
		json_real(key, value->real);
		break;
	case LIST_FLAG:
		json_flag(key, value->flag);
		break;
	}
}

/**
 * list_json_columns() - a member "columns" of the document, if columns were asked for
 * @list: the list
 */
void list_json_columns(const struct list *list)
{
	unsigned int chosen[LIST_COLUMNS];
	const char *bad;
	int nr, i;

	if (!list->choice->columns)
		return;
	nr = list_choose(list->columns, list->nr_columns, list->choice, chosen, &bad);
	json_open("columns", '[');
	for (i = 0; i < nr; i++)
		json_text(NULL, list->columns[chosen[i]].key);
	json_close(']');
}

/**
 * list_json() - an array of the rows, as a member of the document
 * @list: the list; its columns were checked
 * @key: of the array
 */
void list_json(const struct list *list, const char *key)
{
	unsigned int chosen[LIST_COLUMNS];
	struct list_value value;
	const char *bad;
	size_t row;
	int nr, i;

	nr = list_choose(list->columns, list->nr_columns, list->choice, chosen, &bad);
	json_open(key, '[');
	for (row = 0; row < list->nr_rows; row++) {
		json_open(NULL, '{');
		for (i = 0; i < nr; i++) {
			list_value_get(list, row, chosen[i], &value);
			json_cell(list->columns[chosen[i]].key, &value);
		}
		json_close('}');
	}
	json_close(']');
}

static void *checked(void *made)
{
	if (!made)
		errx(EXIT_FAILURE, "out of memory");
	return made;
}

static void check(int ret)
{
	if (ret)
		errx(EXIT_FAILURE, "cannot make the table: %s", strerror(-ret));
}

static bool stdout_colored(void)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_color && *no_color) && term && strcmp(term, "dumb");
}

static struct libscols_table *table_make(const struct list *list, const unsigned int *chosen, int nr)
{
	struct libscols_table *table = checked(scols_new_table());
	bool colored = stdout_colored() && !list->choice->raw;
	struct libscols_column *column;
	int i;

	check(scols_table_enable_raw(table, list->choice->raw));
	check(scols_table_enable_noheadings(table, list->choice->noheadings));
	/* what is printed is safe; and a line is as long as it is */
	check(scols_table_enable_noencoding(table, 1));
	check(scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER));
	check(scols_table_enable_colors(table, colored));
	for (i = 0; i < nr; i++) {
		const struct list_column *of = &list->columns[chosen[i]];

		column = checked(scols_table_new_column(table, of->name, 0,
							right(of->kind) ? SCOLS_FL_RIGHT : 0));
		if (colored)
			check(scols_cell_set_color(scols_column_get_header(column), COLOR_BOLD));
	}
	return table;
}

/* @last: what a terminal has room for in the last column */
static void table_print(const struct list *list, const unsigned int *chosen, int nr, int last)
{
	struct libscols_table *table = table_make(list, chosen, nr);
	struct libscols_line *line;
	struct list_value value;
	char text[LIST_CELL];
	size_t row;
	int i;

	for (row = 0; row < list->nr_rows; row++) {
		line = checked(scols_table_new_line(table, NULL));
		for (i = 0; i < nr; i++) {
			list_value_get(list, row, chosen[i], &value);
			list_cell(&value, text, sizeof(text));
			if (i == nr - 1)
				list_cell_cut(text, last);
			check(scols_line_set_data(line, i, text));
			if (value.marked)
				check(scols_cell_set_color(scols_line_get_cell(line, i), COLOR_YELLOW));
		}
	}
	/* of an empty table it prints nothing, and a script counts lines */
	if (!list->nr_rows && !list->choice->noheadings) {
		for (i = 0; i < nr; i++)
			printf("%s%s", i ? " " : "", list->columns[chosen[i]].name);
		putchar('\n');
	}
	check(scols_print_table(table));
	scols_unref_table(table);
}

/**
 * list_print() - print a list on standard output: a table, raw, or CSV
 * @list: the list; its columns were checked
 */
void list_print(const struct list *list)
{
	unsigned int chosen[LIST_COLUMNS];
	const char *bad;
	int nr = list_choose(list->columns, list->nr_columns, list->choice, chosen, &bad), last;

	if (list->choice->csv) {
		csv_print(list, chosen, nr);
	} else {
		nr = list_fit(list, chosen, nr, &last);
		table_print(list, chosen, nr, last);
	}
}
