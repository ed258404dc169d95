/* SPDX-License-Identifier: GPL-2.0 */
/*
 * JSON, written as it comes and in constant memory: the one way in which the tools print it.
 *
 * One document at a time.  Between json_begin() and json_end() values are added; @key is NULL in
 * an array and for the document itself.  What is not known is null.  Strings are UTF-8, and do
 * nothing to a terminal but show themselves.
 */
#ifndef JSON_OUT_H
#define JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "kfdlib.h"

/* Where lines end. */
enum json_layout {
	JSON_ROWS, /* each member of the document, and each row of an array among them, has a line */
	JSON_LINE, /* the whole document is one line */
};

void json_begin(FILE *out, enum json_layout layout);
int json_end(void);
void json_stdout(enum json_layout layout);
void json_stdout_end(void);
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

/* Null if it is not known */
void json_known_count(const char *key, bool known, uint64_t value);
void json_known_number(const char *key, bool known, int64_t value);
void json_address(const char *key, uint64_t value);
void json_priority(const char *key, int priority);
void json_simulated(const char *key, enum simulated simulated);

#endif /* JSON_OUT_H */
