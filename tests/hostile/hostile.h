/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests in which an ordinary user tries to defeat preemption. The user is a process of UID 65534 that may open
 * /dev/kfd and the render node, and nothing else.
 *
 * Users are actors of the tests of preemption (preempt.h): a function and two numbers go to the child, a result
 * comes back. The online process is an actor of root whose priority is 12.
 */
#ifndef TESTS_HOSTILE_H
#define TESTS_HOSTILE_H

#include "preempt.h"

/* At a time */
#define MAX_REQUESTS	1024

/* Not an errno: what act_*() was to do cannot be done on this host, and user_why() tells the reason */
#define NOT_HERE	(-5000)

/* -L: the long forms */
extern bool long_form;

/* The test that runs */
extern const char *test_name;

/* Set by a test: why stock amdkfd keeps memory of processes that have ended */
extern const char *stock_leaks;

/* An actor of UID 65534 with the GPU open and no queue; ends the program if that cannot be */
struct actor user_start(unsigned int gpu);

/* A user without the GPU, for programs that open it themselves */
struct actor user_bare(unsigned int gpu);

/* In an actor: become UID 65534; 0 or -errno */
long act_become(long unused, long unused2);

/* In an actor: give up with NOT_HERE, and a reason that user_why() of the parent returns */
long not_here(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *user_why(void);

/**
 * struct times - how long requests took, from their submission to the GPU's end of them
 * @n: how many there were
 * @p50: median, ns
 * @p99: ns; of less than 100 requests the longest
 * @max: ns
 */
struct times {
	uint64_t n, p50, p99, max;
};

/* @n requests of @ns one after the other, each after a pause of about @pause; ends the program if one fails */
struct times requests(const struct actor *on, unsigned int n, uint64_t ns, uint64_t pause);

/*
 * Took requests no longer than beside an honest batch process (@h), but for one save and 15 us? Not judged on a debug
 * kernel, whose CPU is several times slower while the simulated GPU is not
 */
bool no_later(const struct times *t, const struct times *h, uint64_t save_ns);

/* All that was shared between the program and its actors: zero at the start of each test */
struct shared {
	char why[256];
	struct times times;
	uint64_t begin[MAX_REQUESTS], end[MAX_REQUESTS];	/* of the requests, kfdc_now() */
	volatile uint64_t count[16];
};

extern struct shared *shared;

/* Voluntary context switches of the engine's threads so far */
long long engine_wakes(void);

extern const struct test tests_hide[], tests_share_places[], tests_timers[], tests_crowd[], tests_unmap[], tests_parked[], tests_fuzz[];

#endif
