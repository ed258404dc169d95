/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TAP for tests in C.  Each tap_*() is one test point; main() returns tap_done().
 */
#ifndef TESTS_LIB_TAP_H
#define TESTS_LIB_TAP_H

#include <stdbool.h>

/**
 * tap_ok() - one test point
 * @pass: did it hold?
 * @fmt: its name
 *
 * Return: @pass
 */
bool tap_ok(bool pass, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * tap_eq() - two numbers must be equal; shows both if not
 * @have: what was found
 * @want: what must be
 * @fmt: name of the test point
 */
bool tap_eq(long long have, long long want, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A remark in the output */
void tap_diag(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A test point that cannot be tried here, and why */
void tap_skip(const char *name, const char *why);

/* Nothing further makes sense: ends the program with status 1 */
void tap_bail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Prints the plan; returns the exit status of the program */
int tap_done(void);

/**
 * tap_wanted() - is this test among the arguments of the program, or are there none?
 * @name: of a test
 * @names: that were asked for
 * @n: how many
 */
bool tap_wanted(const char *name, char **names, int n);

#endif
