// SPDX-License-Identifier: GPL-2.0
/* Tests with hostile users: users, and how long the requests of others take beside them */
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include "hostile.h"

#define NOBODY		65534
#define MARGIN_NS	(15 * US)

struct shared *shared;

long not_here(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(shared->why, sizeof(shared->why), fmt, ap);
	va_end(ap);
	return NOT_HERE;
}

const char *user_why(void)
{
	return shared->why;
}

long act_become(long unused, long unused2)
{
	(void)unused, (void)unused2;
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		return -errno;
	/* the first is lost with the UID; without the second the user may not trace its own processes */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 1);
	return 0;
}

/* Not act_open(): that reads debugfs, which is root's */
static long act_user_open(long gpu, long unused)
{
	struct kfdc *other;
	unsigned int i;
	int r = kfdc_open(&me.c, gpu);

	(void)unused;
	/* all GPUs, as act_open() does */
	for (i = 0; !r && i < 8; i++)
		if (i != gpu && kfdc_open(&other, i))
			break;
	return r ? r : kfdc_signal_create(me.c, true, &me.s);
}

struct actor user_bare(unsigned int gpu)
{
	struct actor a = actor_bare(gpu);

	if (actor_do(&a, act_become, 0, 0))
		tap_bail("actor %d cannot become UID %d", a.pid, NOBODY);
	return a;
}

struct actor user_start(unsigned int gpu)
{
	struct actor a = user_bare(gpu);

	if (actor_do(&a, act_user_open, gpu, 0))
		tap_bail("UID %d cannot use the GPU", NOBODY);
	return a;
}

/* ---- requests ---- */

static int by_value(const void *l, const void *r)
{
	const uint64_t *a = l, *b = r;

	return *a < *b ? -1 : *a > *b;
}

struct order {
	unsigned int n;
	uint64_t ns, pause;
};

static struct order order;

static long act_order(long ns, long pause)
{
	order.ns = ns;
	order.pause = pause;
	return 0;
}

/*
 * Before other programs of the guest, which has one CPU, but behind the engine's thread. The pause varies by a
 * quarter: no request may always meet the same moment of a period of the driver, or of a neighbour.
 */
static long act_requests(long n, long unused)
{
	static uint64_t took[MAX_REQUESTS];
	uint64_t state = sim_seed() + 1;
	long i, r;

	(void)unused;
	if (n > MAX_REQUESTS)
		return -E2BIG;
	setpriority(PRIO_PROCESS, 0, -20);
	for (i = 0; i < n; i++) {
		nap_ns(order.pause * 7 / 8 + sim_random(&state) % (order.pause / 4 + 1));
		shared->begin[i] = kfdc_now();
		r = act_request(order.ns, 0);
		if (r < 0)
			return r;
		took[i] = r;
		shared->end[i] = act_done_at(0, 0);
	}
	setpriority(PRIO_PROCESS, 0, 0);
	qsort(took, n, sizeof(took[0]), by_value);
	shared->times = (struct times){ n, took[n / 2], took[n * 99 / 100], took[n - 1] };
	return 0;
}

struct times requests(const struct actor *on, unsigned int n, uint64_t ns, uint64_t pause)
{
	long r = 0;

	actor_do(on, act_order, ns, pause);
	actor_tell(on, act_requests, n, 0);
	if (!actor_hear(on, &r, 300000) || r)
		tap_bail("the online process's requests: %s", r ? strerror(-r) : "no answer in 5 minutes");
	return shared->times;
}

bool no_later(const struct times *t, const struct times *h, uint64_t save_ns)
{
	uint64_t more = save_ns + MARGIN_NS;
	bool fine = t->p50 <= h->p50 + more && t->p99 <= h->p99 + more;

	if (!fine && sim_debug_kernel()) {
		tap_diag("later than that: on a debug kernel");
		return true;
	}
	return fine;
}

/* ---- the engine's threads ---- */

long long engine_wakes(void)
{
	DIR *d = opendir("/proc");
	char path[288], line[256];
	long long sum = 0, n;
	struct dirent *e;
	bool ours;
	FILE *f;

	if (!d)
		tap_bail("/proc: %s", strerror(errno));
	while ((e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%s/status", e->d_name);
		f = e->d_name[0] >= '0' && e->d_name[0] <= '9' ? fopen(path, "re") : NULL;
		ours = false;
		while (f && fgets(line, sizeof(line), f)) {
			ours |= !strncmp(line, "Name:\tkfd-prio/", 15);
			if (ours && sscanf(line, "voluntary_ctxt_switches: %lld", &n) == 1)
				sum += n;
		}
		if (f)
			fclose(f);
	}
	closedir(d);
	return sum;
}
