/* SPDX-License-Identifier: GPL-2.0 */
/* Tables, CSV and JSON that are written as they come, in constant memory. */
#ifndef KFDTRACE_OUTPUT_H
#define KFDTRACE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CELL 256 /* bytes of a cell */

/**
 * struct column - one column of a table
 * @title: over it, in a table; NULL for one that only CSV has
 * @key: over it, in CSV
 * @right: numbers
 */
struct column {
	const char *title;
	const char *key;
	bool right;
};

/**
 * typedef cell_fn - what is in a cell
 * @context: the caller's
 * @row: 0 and up
 * @column: 0 and up
 * @csv: bare numbers: ns, no units
 * @text: filled in, CELL bytes; all zero before
 */
typedef void (*cell_fn)(void *context, size_t row, unsigned int column, bool csv, char *text);

void table_print(const struct column *columns, unsigned int nr_columns, size_t nr_rows,
		 cell_fn cell, void *context, bool csv);
void duration_format(char *text, size_t size, uint64_t ns);

/* JSON: values are written at once; @key is NULL in an array */
void json_in_page(bool value);
void json_open(const char *key, char bracket);
void json_close(char bracket);
void json_number(const char *key, int64_t value);
void json_count(const char *key, uint64_t value);
void json_literal(const char *key, const char *text);
void json_real(const char *key, double value);
void json_text(const char *key, const char *raw);
void json_flag(const char *key, bool value);
void json_null(const char *key);
void json_address(const char *key, uint64_t value);

#endif /* KFDTRACE_OUTPUT_H */
