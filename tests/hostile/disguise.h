/* SPDX-License-Identifier: GPL-2.0 */
/* Ways in which a batch process hides its work from the driver */
#ifndef TESTS_HOSTILE_DISGUISE_H
#define TESTS_HOSTILE_DISGUISE_H

#include "hostile.h"

/* Who stops the process once it is at work */
enum stop { STOP_NOT, STOP_SIGNAL, STOP_TRACED };

/**
 * struct disguise - what a batch process does to look idle
 * @name: of the test
 * @what: the same in words
 * @before: done when the queue is there, before its work; NULL: nothing
 * @after: done when its work was submitted
 * @again: done by a thread every @every ns from then on; n counts
 * @every: see @again
 * @dispatches: of 25 ms each, one after the other; 0: 100 s of them; 1: one of 100 s; -1: none
 * @signalled: they have a completion signal, whose value stays 0
 * @silent: they are written without a ring
 * @stop: who stops it
 * @start: instead of all that, but @after and @again
 */
struct disguise {
	const char *name, *what;
	long (*before)(struct kfdc_queue *q);
	long (*after)(struct kfdc_queue *q);
	void (*again)(struct kfdc_queue *q, unsigned int n);
	uint64_t every;
	long dispatches;
	bool signalled, silent;
	enum stop stop;
	long (*start)(void);
};

#define HONEST	0
extern const struct disguise disguises[];

/* The one of a test; ends the program if there is none */
int disguise_of(const char *name);

/* In an actor: be at work, with kernels of @ns, 0: of 25 ms; 0, -errno or NOT_HERE */
long act_batch(long which, long ns);

/* In an actor: trace and stop a process of the same user */
long act_trace_stop(long pid, long unused);

/* In an actor with the disguise hide_sdma: copies that were done */
long act_sdma_done(long unused, long unused2);

/* fuse.c: a page of a file whose reads never end, at @at; 0, -errno or NOT_HERE */
long fuse_page(void *at);

#endif
