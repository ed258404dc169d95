/* SPDX-License-Identifier: GPL-2.0 */
/* The ioctl fuzzer: a table of calls, what a process has to fill them with, counters */
#ifndef TESTS_IOCTL_H
#define TESTS_IOCTL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WORKERS		4
#define THREADS		2	/* of each worker */
#define ARGS_MAX	256	/* bytes of the largest struct, and room behind it */
#define RING		4096	/* bytes of a queue's ring */
#define INDICES		4	/* pairs of a write and a read index, 512 bytes apart; queues share them */
#define POOL		32
#define ERRNOS		135	/* 0, all errnos of Linux, and one for what is none */

/* Calls that are no ioctls: counted like them */
enum extra { X_RING, X_MMAP, X_FORK, X_PASS, X_RECEIVE, X_CLOSE, X_REMAP, EXTRAS };

/**
 * struct pool - numbers that calls have returned, or that exist from the start; threads race for them on purpose
 */
struct pool {
	volatile uint64_t v[POOL];
};

/* What one process has */
struct worker {
	unsigned int nr;
	struct kfdc *gpu;
	int fd[8];			/* of /dev/kfd, of either kind; -1: none */
	int pidfd[WORKERS + 2];
	pid_t pid[WORKERS + 2];
	int sock[2];			/* descriptors come and go here */
	struct pool queues, bells, events, handles, mmap_offsets;
	char *ring, *pm4, *sdma, *pointers, *cwsr, *eop, *user;	/* memory that KFD knows */
	uint64_t ctl, cwsr_size;
	char *doorbells;
	uint64_t doorbells_at;		/* their offset in /dev/kfd */
	uint32_t gpu_id;
};

/**
 * struct call - an ioctl
 * @name: as printed
 * @cmd: its number
 * @busy: how often, relative to the others, while a thread makes queues come and go
 * @quiet: the same while it mostly looks on: what changes the runlist costs a hundred times what only reads
 * @fill: a struct that KFD would most likely take; @size bytes, zeroed
 * @guard: after a field was changed: keep what would only wait, or what stock KFD is known to answer badly
 * @took: the call has succeeded: keep what it returned
 */
struct call {
	const char *name;
	unsigned long cmd;
	unsigned int busy, quiet;
	void (*fill)(struct worker *w, void *args, uint64_t *seed);
	void (*guard)(void *args);
	void (*took)(struct worker *w, const void *args);
};

extern const struct call calls[];
extern const unsigned int n_calls;

/* All counters of a run, shared by all processes */
struct counts {
	volatile uint64_t call[64][ERRNOS];
	volatile uint64_t extra[EXTRAS][2];	/* failed, worked */
	volatile uint64_t call_ns[64], extra_ns[EXTRAS];	/* all of them together took */
	volatile uint64_t total, born, overrun;
	volatile int odd;		/* an errno that is none */
	volatile bool stop;
	volatile bool no_work;		/* the driver answers bad packets badly: queues read none */
	volatile pid_t pid[WORKERS];
	char why[256];
};

extern struct counts *counts;
extern bool stock_bugs;
extern uint64_t zero_index;	/* on MES: the write index of all queues, which have no work */

uint64_t below(uint64_t *seed, uint64_t n);
uint64_t pick(struct pool *p, uint64_t *seed);
void keep(struct pool *p, uint64_t v);

/* The life of a worker; @limit calls of all workers together, no return */
void worker(unsigned int nr, uint64_t seed, uint64_t limit, int sock[2]) __attribute__((noreturn));

/*
 * Coverage, if the kernel can: in the main process cover_init() before all others, false if it cannot, and cover_print()
 * at the end.  Each process prepares while it is still root; of its tasks, each of a slot of its own, those are followed
 * that start, until they end, and what was reached is taken while they run.
 */
#define COVER_SLOTS	(THREADS + 1)	/* the last is for a child of a worker; of two children at once it is one's */

bool cover_init(void);
void cover_prepare(void);
void cover_start(unsigned int slot);
void cover_take(void);
void cover_print(void);

#endif
