/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UAF_H
#define UAF_H
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#define PROC		"/sys/class/kfd/kfd/proc"
/* How many processes open /dev/kfd at once, and fail */
#define OPENERS		2
/* How many look processes up meanwhile: LIST, GET, SET, sysfs, and last DBG_TRAP */
#define FINDERS		5

/*
 * What the processes of a test share: who opens now, how many opens failed, succeeded or failed otherwise, doorbells
 * that were mapped and should not have been; how many look-ups there were, and how many found what is not there.
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
