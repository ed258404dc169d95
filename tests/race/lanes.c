// SPDX-License-Identifier: GPL-2.0
/* Lanes: threads that wait for orders, meet, and carry them out */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "kfdclient.h"
#include "race.h"
#include "simgpu.h"

#define SPIN_NS		50000		/* then sleep: others want the CPU */
#define MEET_NS		2000000000ULL	/* the other may die instead of coming */
#define WHILE_NS	5000000u	/* longest, however long the other's operation takes */

struct shared *shared;

static enum who me;
static int (*act)(struct lane *l, int nr, enum phase phase);

uint32_t lane_random(struct lane *l, uint32_t n)
{
	return sim_random(&l->number) % n;
}

/* Is the other there, within so many ns? */
static bool spin(atomic_uint *count, unsigned int want, uint64_t ns)
{
	uint64_t end = kfdc_now() + ns;

	while (atomic_load(count) < want)
		if (kfdc_now() > end)
			return false;
	return true;
}

/*
 * Both lanes at once, as far as that can be. Whoever sleeps before the first half is late when it is woken: the second is
 * for that
 */
static void meet(void)
{
	struct timespec slice = { .tv_nsec = 20000000 };
	uint64_t end = kfdc_now() + MEET_NS;
	unsigned int have;

	if (atomic_fetch_add(&shared->met, 1)) {
		syscall(SYS_futex, &shared->met, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	} else if (!spin(&shared->met, 2, SPIN_NS)) {
		while ((have = atomic_load(&shared->met)) < 2 && kfdc_now() < end)
			syscall(SYS_futex, &shared->met, FUTEX_WAIT, have, &slice, NULL, 0);
	}
	atomic_fetch_add(&shared->ready, 1);
	while (!spin(&shared->ready, 2, SPIN_NS) && kfdc_now() < end)
		sched_yield();
}

/*
 * A while. @met: from nothing to as long as the other's operation takes, and the other does the same: they overlap, and
 * each point of one meets each point of the other. Later, when both go on by themselves, less, lest they keep step.
 */
static void linger(struct lane *l, bool met)
{
	uint32_t most = atomic_load(&shared->took[l->other]);
	uint64_t until = kfdc_now();

	most = most < WHILE_NS ? most : WHILE_NS;
	until += lane_random(l, (met ? most : most / 4) + 1);
	while (kfdc_now() < until)
		;
}

/* How long an operation takes: a quarter take less, so that it is the operation's own time, not the host's */
static void learn(enum op op, uint64_t ns)
{
	uint32_t old = atomic_load(&shared->took[op]);

	atomic_store(&shared->took[op], ns < old ? old - old / 16 : old + old / 48 + 1);
}

/* @since becomes now */
static void spent(int nr, enum phase phase, uint64_t *since)
{
	uint64_t now = kfdc_now();

	atomic_fetch_add(&shared->spent[nr][phase], now - *since);
	*since = now;
}

/*
 * The lanes meet once, then each goes on by itself: on a busy host a barrier costs a hundred times what an operation
 * does. Who is faster goes on until the other has done its rounds, too.
 */
static int carry_out(struct lane *l, int nr)
{
	unsigned int n = l->rounds ? l->rounds : 1, i;
	uint64_t since = kfdc_now();
	int err, first;

	if (l->phase != GO)
		return act(l, nr, l->phase);
	first = act(l, nr, BEGIN);
	spent(nr, BEGIN, &since);
	for (i = 0; i < n || (n > 1 && i < ROUNDS_MAX && atomic_load(&shared->round[!nr]) < n); i++) {
		struct stamp *s = &shared->stamp[nr][i];

		err = act(l, nr, PREPARE);
		first = first ? first : err;
		spent(nr, PREPARE, &since);
		if (!i)
			meet();
		linger(l, !i);
		spent(nr, MEET, &since);
		atomic_store(&s->begin, since);
		err = act(l, nr, GO);
		first = first ? first : err;
		spent(nr, GO, &since);
		atomic_store(&s->end, since);
		learn(l->op, since - atomic_load(&s->begin));
		atomic_store(&shared->round[nr], i + 1);
		err = l->rounds ? act(l, nr, FINISH) : 0;
		first = first ? first : err;
		spent(nr, FINISH, &since);
	}
	err = act(l, nr, END);
	spent(nr, END, &since);
	return first ? first : err;
}

static void *lane_main(void *arg)
{
	int nr = (int)(intptr_t)arg;
	struct lane *l = &shared->lane[me][nr];
	unsigned int seen = atomic_load(&l->done);
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(nr, &cpu);
	/* with one CPU they take turns there */
	sched_setaffinity(0, sizeof(cpu), &cpu);
	for (;;) {
		while (atomic_load(&l->go) == seen)
			syscall(SYS_futex, &l->go, FUTEX_WAIT, seen, NULL, NULL, 0);
		seen = atomic_load(&l->go);
		l->err = carry_out(l, nr);
		atomic_store(&l->done, seen);
		syscall(SYS_futex, &l->done, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	}
	return NULL;
}

void lanes_run(enum who who, int (*fn)(struct lane *l, int nr, enum phase phase), int fd)
{
	pthread_t t[2];
	intptr_t i;

	me = who;
	act = fn;
	prctl(PR_SET_TIMERSLACK, 1);
	for (i = 0; i < 2; i++) {
		/* an order to one that is dead stays behind */
		atomic_store(&shared->lane[who][i].done, atomic_load(&shared->lane[who][i].go));
		if (pthread_create(&t[i], NULL, lane_main, (void *)i))
			_exit(3);
	}
	if (write(fd, "x", 1) != 1)
		_exit(3);
	for (;;)
		pause();
}
