/* SPDX-License-Identifier: GPL-2.0 */
/* What the unit tests of a recording's directory share. */
#ifndef RECORD_FIXTURE_H
#define RECORD_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/record.h"

#define OTHER	 65534 /* a user who is not root */
#define CPUS	 2
#define MESSAGE	 4096

/**
 * struct made - a recording, and what was made of it
 * @options: what is asked for
 * @rec: the recording
 * @part_fds: of @rec
 * @trace_fd, @meta_fd: of dir_make()
 * @message: what it printed
 */
struct made {
	struct record_options options;
	struct recording rec;
	int part_fds[CPUS];
	int trace_fd, meta_fd;
	char message[MESSAGE];
};

void made_begin(struct made *made, const char *dir);
int made_make(struct made *made);
void made_end(struct made *made);
mode_t mode_of(const char *path);
bool is_root(void);

/* what happens right after mkdirat(2) */
extern void (*after_mkdir)(void);

/* one function per test-*.c; the number of failures */
int modes_tests(void);
int others_tests(void);
int log_tests(void);
int driver_tests(void);

#endif /* RECORD_FIXTURE_H */
