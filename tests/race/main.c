// SPDX-License-Identifier: GPL-2.0
/*
 * race [-lv] [-s SECONDS] [-n ROUNDS] [-r SEED] [-t FILE [-k KEY]] [PAIR...] - two operations at once, again and again.
 *
 *	-s	a pair stops after so many seconds (default 1), -n after so many rounds (default 100000)
 *	-t	table: what was done before counts towards -n, what is done is added to it; with -s, pairs
 *		take turns until all are done.  A line: KEY KERNEL GPU PAIR ROUNDS OVERLAPPED BARE UNLOADED SECONDS
 *	-k	only lines with this key are ours (default "-"): what went in
 *	-r	seed (default: that of the VM)
 *	-v	where the time goes
 *	-l	list the pairs
 *	PAIR	as in -l, set+create; an operation alone means all pairs with it.  Without: all
 *
 * Each pair ends with a test point: rounds, and those in which both operations were under way at once, by
 * time stamps: too few are a failure, too.  Runs in the VM, as root, TAP.  The process that runs
 * this never opens /dev/kfd for longer than a call.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "kfd.h"
#include "race.h"
#include "simgpu.h"
#include "tap.h"

#define ENOUGH		100	/* rounds of which a share can be told */
#define SHARE		20	/* one in so many must overlap */

static struct options {
	unsigned long rounds;
	double secs;
	const char *table, *key;
	bool list, verbose;
} opt = { .rounds = 100000, .secs = 1, .key = "-" };

/* What a pair has, with what the table says */
static struct score total[OPS][OPS];
static bool failed[OPS][OPS];
static struct utsname self;

static const char *name_of(enum op a, enum op b)
{
	static char name[32];

	snprintf(name, sizeof(name), "%s+%s", operations[a].name, operations[b].name);
	return name;
}

static bool wanted(enum op a, enum op b, char **arg)
{
	char name[32], back[32];

	if (!*arg)
		return true;
	snprintf(name, sizeof(name), "%s", name_of(a, b));
	snprintf(back, sizeof(back), "%s", name_of(b, a));
	for (; *arg; arg++)
		if (!strcmp(*arg, name) || !strcmp(*arg, back) || !strcmp(*arg, operations[a].name) ||
		    !strcmp(*arg, operations[b].name))
			return true;
	return false;
}

/* ---- the table ---- */

static void add(struct score *to, const struct score *s)
{
	to->rounds += s->rounds;
	to->overlapped += s->overlapped;
	to->bare += s->bare;
	to->unloaded += s->unloaded;
	to->ns += s->ns;
}

static const char *gpus(void)
{
	const char *gpu = getenv("KFDPRIO_SIM_GPU");

	return gpu && *gpu ? gpu : "-";
}

/* Return: rounds of all pairs */
static unsigned long table_read(void)
{
	char line[256], key[80], kernel[80], gpu[80], pair[32];
	struct score s = { 0 };
	unsigned long n = 0;
	double secs;
	FILE *f;
	int a, b;

	f = opt.table ? fopen(opt.table, "re") : NULL;
	if (opt.table && !f && errno != ENOENT)
		tap_bail("%s: %s", opt.table, strerror(errno));
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%79s %79s %79s %31s %lu %lu %lu %lu %lf", key, kernel, gpu, pair, &s.rounds, &s.overlapped,
			   &s.bare, &s.unloaded, &secs) != 9 || strcmp(key, opt.key) || strcmp(kernel, self.release) ||
		    strcmp(gpu, gpus()))
			continue;
		s.ns = secs * 1e9;
		n += s.rounds;
		for (a = 0; a < OPS; a++)
			for (b = a; b < OPS; b++)
				if (!strcmp(pair, name_of(a, b)))
					add(&total[a][b], &s);
	}
	if (f)
		fclose(f);
	return n;
}

static void table_add(enum op a, enum op b, const struct score *s)
{
	FILE *f;

	if (!opt.table || !s->rounds)
		return;
	f = fopen(opt.table, "ae");
	if (!f || fprintf(f, "%s %s %s %s %lu %lu %lu %lu %.1f\n", opt.key, self.release, gpus(), name_of(a, b), s->rounds,
			  s->overlapped, s->bare, s->unloaded, s->ns / 1e9) < 0 || fflush(f) || fsync(fileno(f)) || fclose(f))
		tap_bail("%s: %s", opt.table, strerror(errno));
}

/* ---- pairs ---- */

static void tell(enum op a, enum op b, const struct score *s)
{
	static const char *const phases[PHASES] = { "begin", "prepare", "meet", "go", "finish", "end" };
	unsigned long n = s->rounds ? s->rounds : 1;
	char rest[128] = "";
	int i, len = 0;

	if (s->parks)
		len += snprintf(rest + len, sizeof(rest) - len, ", parked %lu times", s->parks);
	if (s->preempted)
		len += snprintf(rest + len, sizeof(rest) - len, ", %llu preemptions", s->preempted);
	if (s->bare)
		snprintf(rest + len, sizeof(rest) - len, ", %lu without a process, of which %lu unloaded it", s->bare,
			 s->unloaded);
	tap_diag("%s: %.1f rounds/s%s", name_of(a, b), s->rounds * 1e9 / (double)(s->ns ? s->ns : 1), rest);
	if (!opt.verbose)
		return;
	printf("#   us of a round: order %.0f, after %.0f, look %.0f; in an order", s->order / 1e3 / n, s->after / 1e3 / n,
	       s->look / 1e3 / n);
	for (i = 0; i < HOLD; i++)
		printf("%s %s %.0f/%.0f", i ? "," : "", phases[i], shared->spent[0][i] / 1e3 / n,
		       shared->spent[1][i] / 1e3 / n);
	printf("\n");
}

/*
 * A group that stays, of a process that does not use the GPU, until the driver is unloaded.  The driver patches code when the
 * first group of the host is made, and after the last has ended; if that happens often, QEMU 7.2 executes a stale int3 now and
 * then (tests/vm/lib-qemu.sh).
 */
static void group_hold(void)
{
	struct kfd_prio_share_entry e;
	static uint64_t group;
	static pid_t holder;
	int err;

	if (group && kfd_share_get(group, &e))
		return;
	if (!holder) {
		holder = fork();
		if (!holder) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			while (true)
				pause();
		}
	}
	group = 0;
	err = holder < 0 ? ECHILD : kfd_share(holder, KFD_PRIO_SHARE_NEW | KFD_PRIO_SHARE_MAX, 9900 /* 99 % */, 0, &group);
	if (err)
		tap_bail("a group that stays: %s", strerror(err));
}

/* Return: rounds that were made */
static unsigned long run_pair(enum op a, enum op b)
{
	struct score s, *t = &total[a][b];
	bool ok, enough;

	if (a == OP_SHARE || b == OP_SHARE)
		group_hold();
	ok = rounds_run(a, b, opt.secs, opt.rounds - t->rounds, &s);
	add(t, &s);
	enough = t->rounds < ENOUGH || t->overlapped * SHARE >= t->rounds;
	/* one that works all the time, or has ended, is not parked */
	if (a >= OP_PARK && s.rounds >= ENOUGH && !tap_ok(s.parks * SHARE >= s.rounds, "%s: parked %lu times in %lu rounds",
							  name_of(a, b), s.parks, s.rounds))
		ok = false;
	tap_ok(ok && enough, "%s: %lu rounds, %lu overlapped", name_of(a, b), t->rounds, t->overlapped);
	if (!enough)
		tap_diag("that is less than one in %d: hardly a race", SHARE);
	failed[a][b] = !ok || !enough;
	if (ok)
		table_add(a, b, &s);
	tell(a, b, &s);
	return s.rounds;
}

/* All pairs in turn, once. Return: rounds that were made */
static unsigned long turn(char **arg, unsigned int *pairs)
{
	unsigned long n = 0;
	int a, b;

	*pairs = 0;
	for (a = 0; a < OPS; a++)
		for (b = a; b < OPS; b++) {
			if (!wanted(a, b, arg))
				continue;
			++*pairs;
			if (opt.list)
				printf("%s\n", name_of(a, b));
			else if (total[a][b].rounds < opt.rounds && !failed[a][b])
				n += run_pair(a, b);
		}
	return n;
}

int main(int argc, char **argv)
{
	uint64_t seed = sim_seed();
	unsigned long made, n = 0, before = 0;
	unsigned int pairs;
	int c;

	while ((c = getopt(argc, argv, "lvs:n:r:t:k:")) != -1)
		switch (c) {
		case 'l': opt.list = true; break;
		case 'v': opt.verbose = true; break;
		case 's': opt.secs = atof(optarg); break;
		case 'n': opt.rounds = strtoul(optarg, NULL, 0); break;
		case 'r': seed = strtoull(optarg, NULL, 0); break;
		case 't': opt.table = optarg; break;
		case 'k': opt.key = optarg; break;
		default: tap_bail("usage: race [-lv] [-s SECONDS] [-n ROUNDS] [-r SEED] [-t FILE [-k KEY]] [PAIR...]");
		}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || opt.secs <= 0 || !opt.rounds)
		tap_bail("nothing to do");
	if (!opt.list) {
		if (uname(&self))
			tap_bail("uname: %s", strerror(errno));
		before = table_read();
		/* what goes on is not the same again */
		seed += before;
		tap_diag("seed %llu, %g s or %lu rounds a pair; %lu rounds before", (unsigned long long)seed, opt.secs,
			 opt.rounds, before);
		rounds_begin(seed);
	}
	do {
		made = turn(argv + optind, &pairs);
		n += made;
	} while (opt.table && made);
	if (opt.list)
		return 0;
	if (!pairs)
		tap_bail("no such pair; -l lists them");
	rounds_end();
	tap_diag("%lu rounds of %u pairs", n, pairs);
	return tap_done();
}
