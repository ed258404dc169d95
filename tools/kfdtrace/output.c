// SPDX-License-Identifier: GPL-2.0
/* Tables, CSV and JSON. */
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kfdlib.h"
#include "output.h"

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

static void cell_put(const struct column *column, const char *text, size_t width, bool first, bool last)
{
	int pad = width - text_width(text);

	printf("%s%*s%s", first ? "" : " ", column->right ? pad : 0, "", text);
	/* no blanks at the end of a line */
	if (!column->right && !last)
		printf("%*s", pad, "");
}

/**
 * table_print() - print rows, with titles
 * @columns: what they are
 * @nr_columns: how many, up to 32
 * @nr_rows: number of rows
 * @cell: is asked for each cell, twice: for its width first
 * @context: for @cell
 * @csv: CSV instead of a table
 */
void table_print(const struct column *columns, unsigned int nr_columns, size_t nr_rows,
		 cell_fn cell, void *context, bool csv)
{
	size_t widths[32] = { 0 }, row, width;
	char text[CELL];
	unsigned int c;

	/* those of CSV alone are the last ones */
	while (!csv && !columns[nr_columns - 1].title)
		nr_columns--;
	for (c = 0; c < nr_columns && !csv; c++)
		widths[c] = strlen(columns[c].title);
	for (row = 0; row < nr_rows && !csv; row++)
		for (c = 0; c < nr_columns; c++) {
			memset(text, 0, sizeof(text));
			cell(context, row, c, false, text);
			width = text_width(text);
			if (width > widths[c])
				widths[c] = width;
		}
	for (c = 0; c < nr_columns; c++)
		if (csv)
			printf("%s%s", c ? "," : "", columns[c].key);
		else
			cell_put(&columns[c], columns[c].title, widths[c], !c, c == nr_columns - 1);
	putchar('\n');
	for (row = 0; row < nr_rows; row++) {
		for (c = 0; c < nr_columns; c++) {
			memset(text, 0, sizeof(text));
			cell(context, row, c, csv, text);
			if (csv) {
				if (c)
					putchar(',');
				csv_put(text);
			} else {
				cell_put(&columns[c], text, widths[c], !c, c == nr_columns - 1);
			}
		}
		putchar('\n');
	}
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

static unsigned int depth;
static bool fresh = true; /* nothing in this bracket yet */
static bool in_page;

/**
 * json_in_page() - whether what comes is inside of a page, where text must not end it
 * @value: whether
 */
void json_in_page(bool value)
{
	in_page = value;
}

static void json_key(const char *key)
{
	if (!fresh)
		putchar(',');
	if (depth)
		printf("\n%*s", 2 * depth, "");
	if (key)
		printf("\"%s\": ", key);
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
	putchar(bracket);
	depth++;
	fresh = true;
}

/**
 * json_close() - end it
 * @bracket: } or ]
 */
void json_close(char bracket)
{
	depth--;
	if (!fresh)
		printf("\n%*s", 2 * depth, "");
	putchar(bracket);
	fresh = false;
	if (!depth) {
		putchar('\n');
		fresh = true;
	}
}

/* The names say it all. */
void json_number(const char *key, int64_t value)
{
	json_key(key);
	printf("%" PRId64, value);
}

void json_count(const char *key, uint64_t value)
{
	json_key(key);
	printf("%" PRIu64, value);
}

void json_real(const char *key, double value)
{
	json_key(key);
	printf("%.6g", value);
}

void json_literal(const char *key, const char *text)
{
	json_key(key);
	fputs(text, stdout);
}

void json_flag(const char *key, bool value)
{
	json_key(key);
	fputs(value ? "true" : "false", stdout);
}

void json_null(const char *key)
{
	json_key(key);
	fputs("null", stdout);
}

/* JSON has no hexadecimal numbers, and no exact ones of 64 bits everywhere. */
void json_address(const char *key, uint64_t value)
{
	json_key(key);
	printf("\"0x%" PRIx64 "\"", value);
}

void json_text(const char *key, const char *raw)
{
	char *text, *at;

	if (!raw) {
		json_null(key);
		return;
	}
	text = text_utf8(raw);
	if (!text)
		errx(EXIT_FAILURE, "out of memory");
	json_key(key);
	putchar('"');
	for (at = text; *at; at++) {
		if (*at == '"' || *at == '\\')
			printf("\\%c", *at);
		else if ((unsigned char)*at < 0x20 || *at == 0x7f || (in_page && *at == '<'))
			printf("\\u%04x", *at);
		else
			putchar(*at);
	}
	putchar('"');
	free(text);
}
