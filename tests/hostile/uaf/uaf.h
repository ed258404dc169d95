/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UAF_H
#define UAF_H
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#define PROC		"/sys/class/kfd/kfd/proc"
/* How many processes open /dev/kfd at once, and fail */
#define OPENERS		2
/* How many look processes up meanwhile: LIST, GET, SET, sysfs, and last DBG_TRAP, which alone the stock driver has */
#define FINDERS		5

/*
 * Shared memory of the processes of a test.
 * @opener: PIDs of the processes that open /dev/kfd now
 * @failed, @opened, @other: opens that failed as the test wants, that succeeded, and that failed with another error
 * @mapped: mappings of doorbells that succeeded for a process that KFD does not have
 * @lists, @gets, @sets, @reads, @traps: look-ups of each kind
 * @bad: look-ups that found a process that is not there
 * @over: the processes end
 * @debugs: the process that sends DBG_TRAP has opened /dev/kfd
 */
struct shared {
	volatile pid_t opener[OPENERS];
	volatile long failed, opened, other, mapped;
	volatile long lists, gets, sets, reads, traps, bad;
	volatile bool over, debugs;
};

extern struct shared *st;

/* Each looks processes up once.  The last one sets st->debugs when it has opened /dev/kfd. */
extern void (*const finders[FINDERS])(void);
/* Does the driver have kfdprio? */
bool is_ours(void);
void do_list(void);
void do_sysfs(void);
/* Reads @dir/@name, if it is there. */
void read_file(const char *dir, const char *name);

static inline void count(volatile long *n)
{
	__sync_fetch_and_add(n, 1);
}

static inline void nap_us(long us)
{
	nanosleep(&(struct timespec){ .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 }, NULL);
}

#endif
