// SPDX-License-Identifier: GPL-2.0
/* Names of threads for trace.dat: a name with a line feed names no other thread. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "record/names.h"

/* Threads that there are now. */
static bool now(pid_t pid, char *name, size_t size)
{
	if (pid == 77)
		snprintf(name, size, "sshd");
	else if (pid == 123)
		snprintf(name, size, "x\n77 evil");
	else
		return false;
	return true;
}

static const struct {
	const char *kernel, *names;
} table[] = {
	{ "", "" },
	{ "5 kworker/0:1-events\n", "5 kworker/0:1-events\n" },
	{ "5 a name of 15 by\n6 python3.11-long\n", "5 a name of 15 by\n6 python3.11-long\n" },
	/* a forged line, before or after the thread's own, or without it */
	{ "123 x\n77 evil\n77 sshd-and-more-xx\n", "123 x\n77 sshd\n77 sshd-and-more-xx\n" },
	{ "123 x\n77 evil\n", "123 x\n77 sshd\n" },
	{ "124 x\n78 evil\n", "124 x\n" },
	/* 15 bytes: "123456\n78 gone!"; with one more it cannot be in the name */
	{ "9 123456\n78 gone!\n", "9 123456\n" },
	{ "9 1234567\n78 gone!\n", "9 1234567\n78 gone!\n" },
	/* a name of several lines, one of which is a line about a thread */
	{ "9 a\n1 b\n\n78 evil\n", "9 a\n" },
	{ "9 a\n\n\n\n78 evil\n", "9 a\n" },
	/* the first line of the text is no part of a name */
	{ "78 x\n", "78 x\n" },
	/* no lines about threads */
	{ "x\n 78 y\n-1 z\n78\n1234567890 z\n78  two blanks\n", "78  two blanks\n" },
	/* what acts on a terminal */
	{ "9 \033[2J\177\t\302\233x\n", "9 ?[2J????x\n" },
	/* known ones */
	{ "40 forged-and-long-name\n41 x\n", "" },
};

static void test_names(void **state)
{
	const struct record_name known[] = { { 40, "load\n41 x" }, { 41, "wait" } };
	char *names, want[512];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(*table); i++) {
		names = record_names(table[i].kernel, known, 2, now);
		snprintf(want, sizeof(want), "40 load?41 x\n41 wait\n%s", table[i].names);
		assert_string_equal(names, want);
		free(names);
	}
}

int run_names(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
