/* SPDX-License-Identifier: GPL-2.0 */
/* Rules: why a condition is refused.  A @why that is NULL takes no text: the caller only asks whether it is refused. */
#ifndef RULES_ADVICE_H
#define RULES_ADVICE_H

#include "rules.h"

/**
 * struct rules_refusal - why a line is refused
 * @text: what is wrong
 * @lead: what stands before a spelling, as ": write "
 * @key: of the spelling
 * @value: of the spelling; empty: none is known
 * @column: in characters, from 1 on; 0: the whole line
 */
struct rules_refusal {
	char text[KFDLIB_WHY];
	const char *lead, *key;
	char value[2 * RULES_LINE_MAX];
	unsigned int column;
};

/* rules-parse.c */
int rules_line_parse(struct rules *rules, const char *file, unsigned int line, const char *text, bool newlines,
		     const struct rules_names *names, struct rules_refusal *why);

/* rules-text.c */
int rules_refuse(struct rules_refusal *why, const char *format, ...) __attribute__((format(printf, 2, 3)));
int rules_refuse_as(struct rules_refusal *why, const char *lead, const char *key, const char *value, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* rules-advice.c */
bool rules_quoted_word(const char *word, char *key, char *value, bool ends);
int rules_quotes_check(const char *key, const char *value, struct rules_refusal *why);
int rules_list_check(const char *key, const char *value, size_t *at, struct rules_refusal *why);

/* rules-condition.c */
int rules_cgroup_check(const char *pattern, size_t *at, struct rules_refusal *why);
int rules_exe_check(const char *pattern, size_t *at, struct rules_refusal *why);
int rules_unit_check(const char *pattern, size_t *at, struct rules_refusal *why);
int rules_name_check(const char *key, const char *name, size_t *at, struct rules_refusal *why);
int rules_text_check(const char *text, size_t *at, struct rules_refusal *why);

/* rules-share.c */
int rules_max_check(const char *key, const char *value, uint32_t *max, struct rules_refusal *why);
int rules_weight_check(const char *key, const char *value, uint32_t *weight, struct rules_refusal *why);
int rules_priority_check(const char *key, const char *value, int *priority, struct rules_refusal *why);

/* rules-both.c */
bool rules_unit_possible(const char *pattern);
int rules_both_check(const struct rule *rule, struct rules_refusal *why);

/* rules-pattern.c */
size_t rules_token_len(const char *pattern);
const char *rules_bracket_end(const char *from, bool path, struct rules_refusal *why);
void rules_path_normalize(const char *path, char *to, size_t size);
int rules_part_check(const char *key, const char *pattern, size_t *at, const char *chars, struct rules_refusal *why);
int rules_path_check(const char *key, const char *pattern, size_t *at, struct rules_refusal *why);
bool rules_pattern_example(const char *pattern, char *text, size_t size);

#endif /* RULES_ADVICE_H */
