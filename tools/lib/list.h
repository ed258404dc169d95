/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lists: a table, the same for scripts (--raw), CSV and JSON, of one description of the columns.
 *
 * In a table a value carries its unit itself (452ms); in CSV and JSON the key does (preempted_ns).
 * An unknown value is - in a table, empty in CSV, null in JSON.  output.rst has all names.
 */
#ifndef LIST_H
#define LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIST_CELL    512 /* bytes of a cell */
#define LIST_COLUMNS 48  /* of a list at most */

enum list_kind {
	LIST_TEXT,     /* raw bytes */
	LIST_WORD,     /* the same; in a table a blank in it is _ */
	LIST_COUNT,    /* not negative */
	LIST_NUMBER,
	LIST_DURATION, /* ns */
	LIST_TIME,     /* ns of a clock; in a table seconds, as trace-cmd prints them */
	LIST_ADDRESS,
	LIST_PERCENT,
	LIST_RATE,     /* per second */
	LIST_REAL,
	LIST_FLAG,
};

/* Where a column is without being asked for. */
enum list_place {
	LIST_EVERYWHERE,
	LIST_WIDE, /* CSV and JSON */
	LIST_CSV, /* CSV: JSON says it once, for all rows */
	LIST_TABLE, /* a table */
};

/**
 * struct list_column - the description of a column
 * @name: its title, and for --output
 * @key: in CSV and JSON
 * @kind: of its values
 * @place: where it is without being asked for
 */
struct list_column {
	const char *name;
	const char *key;
	enum list_kind kind;
	enum list_place place;
};

/**
 * struct list_value - what is in a cell
 * @known: else it is shown as not known
 * @marked: the row has a problem: shown in colour on a terminal
 * @kind: that of the column, unless it is changed
 * @count: LIST_COUNT, LIST_DURATION, LIST_TIME, LIST_ADDRESS
 * @number: LIST_NUMBER
 * @real: LIST_PERCENT, LIST_RATE, LIST_REAL
 * @flag: LIST_FLAG
 * @text: LIST_TEXT, LIST_WORD
 * @room: for @text to point to
 */
struct list_value {
	bool known, marked;
	enum list_kind kind;
	union {
		uint64_t count;
		int64_t number;
		double real;
		bool flag;
		const char *text;
	};
	char room[LIST_CELL];
};

void list_count(struct list_value *value, uint64_t count);
void list_known_count(struct list_value *value, bool known, uint64_t count);
void list_number(struct list_value *value, bool known, int64_t number);
void list_real(struct list_value *value, bool known, double real);
void list_text(struct list_value *value, const char *text);

/**
 * struct list_choice - what the user wants of a list
 * @columns: of --output, NULL if it was not given
 * @noheadings: of --noheadings
 * @raw: of --raw
 * @csv: of --csv
 * @json: of --json
 */
struct list_choice {
	const char *columns;
	bool noheadings, raw, csv, json;
};

/**
 * struct list - a list
 * @columns: array of @nr_columns
 * @nr_columns: up to LIST_COLUMNS
 * @nr_rows: number of rows
 * @value: what is in a cell; @value->known is false before
 * @context: for @value
 * @choice: what the user wants
 * @leave: columns that a table leaves out, the first one first, where a terminal has no room for all; NULL: none
 * @nr_leave: how many
 */
struct list {
	const struct list_column *columns;
	unsigned int nr_columns;
	size_t nr_rows;
	void (*value)(void *context, size_t row, unsigned int column, struct list_value *value);
	void *context;
	const struct list_choice *choice;
	const unsigned int *leave;
	unsigned int nr_leave;
};

/* Times in tables count from this, ns. */
extern uint64_t list_zero_ns;

void list_print(const struct list *list);
void list_json(const struct list *list, const char *key);
void list_json_columns(const struct list *list);

/* list-cell.c */
void list_cell(const struct list_value *value, char *text, size_t size);
void list_value_get(const struct list *list, size_t row, unsigned int column, struct list_value *value);

/* list-choose.c */
int list_check(const struct list_column *columns, unsigned int nr, const struct list_choice *choice,
	       char *why);
int list_find(const struct list_column *columns, unsigned int nr, const char *name, size_t len);
int list_choose(const struct list_column *columns, unsigned int nr, const struct list_choice *choice,
		unsigned int *chosen, const char **bad);

/* list-fit.c */
int list_fit(const struct list *list, unsigned int *chosen, int nr, int *last);
void list_cell_cut(char *text, int most);

#endif /* LIST_H */
