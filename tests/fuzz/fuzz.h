/* SPDX-License-Identifier: GPL-2.0 */
/* The parsers of kfdtrace, and of rules, as functions of bytes that may say anything. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct fuzz_target - one parser
 * @name: of it, and of its corpus
 * @begin: once, before the first @one; may be NULL
 * @one: must come back whatever the bytes are, and leave nothing behind
 */
struct fuzz_target {
	const char *name;
	void (*begin)(void);
	void (*one)(const uint8_t *bytes, size_t size);
};

extern const struct fuzz_target fuzz_trace;  /* a whole trace.dat, to the report in JSON */
extern const struct fuzz_target fuzz_pages;  /* the pages of a trace.dat whose head is good */
extern const struct fuzz_target fuzz_amdlog; /* ROCm's log, joined to a recording */
extern const struct fuzz_target fuzz_meta;   /* meta.json */
extern const struct fuzz_target fuzz_rules;  /* kfdprio.conf */

void fuzz_quiet(void);
const char *fuzz_file(const uint8_t *bytes, size_t size);
void *fuzz_read(const char *name, size_t *size);
const char *fuzz_data(const char *name);

struct view;
void fuzz_view(struct view *view, const char *name);
void fuzz_events(struct view *view);

#endif /* FUZZ_H */
