/* SPDX-License-Identifier: GPL-2.0 */
/* Operations on /dev/kfd of which one allocation, copy or function fails: see nth.c */
#ifndef TESTS_FAULT_NTH_H
#define TESTS_FAULT_NTH_H

#include <stdbool.h>

#define STATE_MAX	8192

/*
 * LATE: EFAULT may come after it was done.  Our SET says so; KFD does the same wherever it has a result to
 * copy out, and a queue then stays until its process ends
 * STOCK: KFD's update_queue() stores what was asked for before it makes the runlist, whose ENOMEM it returns
 * REMAP: remap_pfn_range() turns ENOMEM of the memory type's bookkeeping into EINVAL
 * FUNCTION: for "functions" only
 */
enum { LATE = 1, STOCK = 2, REMAP = 4, FUNCTION = 8 };

/**
 * struct op - an operation
 * @name: on the command line
 * @ready: makes ready, in a process of its own
 * @run: does it, with one call armed; returns 0 or an errno
 * @undo: ends what @ready began outside the process, or NULL
 * @flags: LATE, STOCK, REMAP, FUNCTION
 * @within, @without: see faults_filter()
 */
struct op {
	const char *name;
	void (*ready)(void);
	int (*run)(void);
	void (*undo)(void);
	unsigned int flags;
	const char *within, *without;
};

extern const struct op ops[];
extern const unsigned int nr_ops;

/**
 * struct nth_fault - the fault that this process is about to meet
 * @fd: /proc/thread-self/fail-nth
 * @cmd: the ioctl that is to be struck, 0: none
 * @function: the function that is to fail, instead of an allocation or a copy; NULL: none
 * @nth: at which site, or which call of the function, 0: not at all
 * @hit: it was
 * @left: sites until it would have been
 */
struct nth_fault {
	int fd;
	unsigned long cmd;
	const char *function;
	unsigned int nth;
	bool hit;
	unsigned int left;
};

extern struct nth_fault fault;

/* The next call, and no other, of this thread meets the fault; disarm() leaves errno alone */
void arm(void);
void disarm(void);

/* Which sites there are: all, those that may wait for memory as well; @verbose: tell the kernel log of each */
void faults_init(bool verbose);

/* Of these, only what comes from the function @within, and nothing that comes from @without; NULL: any, none */
void faults_filter(const char *within, const char *without);

/* Make a function ready to fail with ENOMEM or NULL, and no longer; the @nth call of this thread does; did one? */
void function_choose(const char *name);
void function_forget(const char *name);
void function_arm(unsigned int nth);
bool function_disarm(void);

/* Is that an error which the interfaces name for a lack of memory, or a page that is not there? */
bool clean_error(int err);

/* What kfdprio -l and sysfs show of this process, without what time changes; STATE_MAX bytes */
void state(char *buf);

/* Load the module, with its @nth site failing; returns 0 or an errno */
int load_struck(unsigned int nth);

/* Is there a GPU? */
bool has_gpu(void);

/* Some of the sites of loading the module; @verbose: tell of each */
void try_load(bool verbose);

#endif
