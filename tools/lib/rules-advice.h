/* SPDX-License-Identifier: GPL-2.0 */
/* Rules: why a condition is refused.  A @why that is NULL takes no text: the caller only asks whether it is refused. */
#ifndef RULES_ADVICE_H
#define RULES_ADVICE_H

#include "rules.h"

/* rules-advice.c */
int rules_refuse(char *why, const char *format, ...) __attribute__((format(printf, 2, 3)));
int rules_refuse_as(char *why, const char *lead, const char *key, const char *value, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
int rules_quotes_check(const char *key, const char *value, char *why);
int rules_list_check(const char *key, const char *value, size_t *at, char *why);

/* rules-pattern.c */
const char *rules_bracket_end(const char *from, bool path, char *why);
void rules_path_normalize(const char *path, char *to, size_t size);
int rules_part_check(const char *key, const char *pattern, size_t *at, const char *chars, char *why);
int rules_path_check(const char *key, const char *pattern, size_t *at, char *why);
bool rules_pattern_example(const char *pattern, char *text, size_t size);

#endif /* RULES_ADVICE_H */
