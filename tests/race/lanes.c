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
#include <unistd.h>
#include "kfdclient.h"
#include "race.h"
#include "simgpu.h"

struct shared *shared;

static enum who me;
static int (*act)(struct lane *l, int nr, enum phase phase);

uint32_t lane_random(struct lane *l, uint32_t n)
{
	return sim_random(&l->number) % n;
}

/* Both lanes at once, as far as that can be, the @nth time; the other may die instead of coming */
static void meet(struct lane *l, unsigned int nth)
{
	uint64_t end = kfdc_now() + 2000000000ULL, until;
	unsigned int spins = 0;

	atomic_fetch_add(&shared->met, 1);
	while (atomic_load(&shared->met) < 2 * nth && kfdc_now() < end)
		if (++spins > 200)
			sched_yield();
	until = kfdc_now() + lane_random(l, shared->window_us + 1) * 1000ULL;
	while (kfdc_now() < until)
		;
}

static int carry_out(struct lane *l, int nr)
{
	int err = 0, first = 0;
	unsigned int i;

	if (l->phase != GO)
		return act(l, nr, l->phase);
	for (i = 0; !i || i < l->rounds; i++) {
		err = act(l, nr, PREPARE);
		first = first ? first : err;
		meet(l, i + 1);
		err = act(l, nr, GO);
		first = first ? first : err;
		err = l->rounds ? act(l, nr, FINISH) : 0;
		first = first ? first : err;
	}
	return first;
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
