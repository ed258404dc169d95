/* SPDX-License-Identifier: GPL-2.0 */
/* Groups, and processes that always have work, for the tests of shares */
#ifndef TESTS_PREEMPT_BUSY_H
#define TESTS_PREEMPT_BUSY_H

#include "preempt.h"

#define PCT	100U

/* Puts an actor in a group of its own that has a limit, or a weight. Return: its number; ends the program if that is refused */
uint64_t limit(const struct actor *a, unsigned int max);
uint64_t weigh(const struct actor *a, unsigned int weight);

/* Do all groups end within 20 s? */
bool none_left(void);

/**
 * struct busy - an actor that has work of @ns each for a second or longer
 * @a: the actor
 * @ns: of a dispatch
 * @n: dispatches that fit into its queue
 * @left: how many of them it had not done at the last call
 */
struct busy {
	struct actor a;
	long ns, n, left;
};

struct busy busy(long ns);

/* Submits work for a second again. Return: the work that was done since the last call, ns of dispatches */
long long busy_done(struct busy *b);

/*
 * Measures the work of each of @n processes for @ns from now on, in ns of dispatches, and submits more meanwhile.
 * Return: the time, ns
 */
uint64_t measure(struct busy *b, unsigned int n, uint64_t ns, long long *work);

/* @part of @all, in thousandths */
long long per_mille(long long part, long long all);

/**
 * struct group_time - time that a group was mapped with work
 * @group: its number
 * @ns: of it at the last call
 * @at: time of the last call, ns
 */
struct group_time {
	uint64_t group, ns, at;
};

/* Begin to measure a group; thousandths since then, or since the last call */
struct group_time group_time(uint64_t group);
long long group_ran(struct group_time *t);

#endif
