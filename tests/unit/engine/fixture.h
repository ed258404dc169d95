/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the unit tests of tests/sim/engine.c share: one GPU whose clock is driven by hand, and
 * queues that are lists of dispatches of given times. Times are in ns, written with US and MS.
 */
#ifndef ENGINE_FIXTURE_H
#define ENGINE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine.h"

#define US		1000ULL
#define MS		1000000ULL
#define MAX_ITEMS	512

/**
 * struct item - a packet
 * @ns: time it takes
 * @avail: when it came
 * @bytes: live state while it runs
 * @slot: a dispatch
 * @blocks: a barrier
 * @hold: not launchable yet
 * @launched: when it was given its slot, or its avail if that is later
 * @completed: when it was complete
 * @completions: how often
 */
struct item {
	u64 ns, avail, bytes;
	bool slot, blocks, hold;
	u64 launched, completed;
	unsigned int completions;
};

/**
 * struct tq - a queue
 * @q: its part in the engine; first
 * @item: its packets
 * @n: valid entries of @item
 * @next: the next to launch
 * @endless: begin again behind the last one
 */
struct tq {
	struct eng_queue q;
	struct item item[MAX_ITEMS];
	u32 n, next;
	bool endless;
	u32 saved;
	u64 saved_left_ns;
};

/**
 * struct world - the GPU of a test
 * @e: the engine
 * @launches: so far
 */
struct world {
	struct engine e;
	u64 launches;
};

extern struct world w;

int setup(void **state);
int teardown(void **state);

struct eng_proc *proc(void);
struct tq *queue(struct eng_proc *p, u32 pipe, u32 prio);
struct item *add(struct tq *q, u64 ns);
void add_n(struct tq *q, u32 n, u64 ns);
u32 done(const struct tq *q);
u64 unmap(struct eng_proc *p, u64 now);
void remap(struct eng_proc *p, struct tq *q);

#define T(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

/* one function per test-*.c; the number of failures */
int launch_tests(void);
int fair_tests(void);
int cwsr_tests(void);
int cost_tests(void);
int map_tests(void);
int mes_tests(void);
int random_tests(void);
int reference_tests(void);
int share_tests(void);
int calibrate_tests(void);

#endif
