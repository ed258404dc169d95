// SPDX-License-Identifier: GPL-2.0
/*
 * race [-l] [-s SECONDS] [-n ROUNDS] [-r SEED] [PAIR...] - two operations at once, again and again.
 *
 *	-s	a pair stops after so many seconds (default 1), -n after so many rounds (default 100000)
 *	-r	seed (default: that of the VM)
 *	-l	list the pairs
 *	PAIR	as in -l, set+create; an operation alone means all pairs with it.  Without: all
 *
 * Each pair ends with a test point; rounds and rounds per second are told. Runs in the VM, as root,
 * TAP.  The process that runs this never opens /dev/kfd.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "kfd.h"
#include "kfdclient.h"
#include "race.h"
#include "simgpu.h"
#include "tap.h"

#define SEC	1000000000ULL
#define ORDER	(60 * SEC)	/* longest time for one order */
#define BURST	16

const struct operation operations[OPS] = {
	[OP_SET]	= { "set", HELPER, 300 },
	[OP_CREATE]	= { "create", SUBJECT, 300 },
	[OP_UPDATE]	= { "update", SUBJECT, 300 },
	[OP_DESTROY]	= { "destroy", SUBJECT, 300 },
	[OP_EVICT]	= { "evict", SUBJECT, 300 },
	[OP_RESTORE]	= { "restore", SUBJECT, 2000 },
	[OP_PREEMPT]	= { "preempt", PREEMPTOR, 300 },
	[OP_EXIT]	= { "exit", SUBJECT, 2000, .heavy = true },
	[OP_RESET]	= { "reset", HELPER, 3000, .heavy = true, .dead = true, .errors = true },
	[OP_UNLOAD]	= { "unload", HELPER, 1000, .heavy = true },
	[OP_SUSPEND]	= { "suspend", HELPER, 1000, .errors = true },
};

static uint64_t seed;
static pid_t pids[WHO];
static long long pages;

static uint32_t rnd(uint32_t n)
{
	return sim_random(&seed) % n;
}

/* ---- processes ---- */

static void start(enum who who)
{
	static void (*const life[WHO])(int fd) = { subject, preemptor, helper };
	int fds[2];
	char ch;

	if (pids[who])
		return;
	fflush(stdout);
	if (pipe2(fds, O_CLOEXEC))
		tap_bail("pipe: %s", strerror(errno));
	pids[who] = fork();
	if (!pids[who]) {
		close(fds[0]);
		life[who](fds[1]);
	}
	close(fds[1]);
	if (pids[who] < 0 || read(fds[0], &ch, 1) != 1)
		tap_bail("process %d cannot be started: %s", who, shared->why);
	close(fds[0]);
	if (who == SUBJECT)
		shared->subject = pids[who];
}

static void end(enum who who)
{
	if (!pids[who])
		return;
	kill(pids[who], SIGKILL);
	waitpid(pids[who], NULL, 0);
	pids[who] = 0;
}

static void give(enum who who, int nr, enum op op, enum phase phase, unsigned int rounds)
{
	struct lane *l = &shared->lane[who][nr];

	l->op = op;
	l->phase = phase;
	l->rounds = rounds;
	l->number = sim_random(&seed);
	l->err = 0;
	atomic_fetch_add(&l->go, 1);
	syscall(SYS_futex, &l->go, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Its errno; ECHILD if its process has died */
static int result(enum who who, int nr)
{
	struct lane *l = &shared->lane[who][nr];
	uint64_t until = kfdc_now() + ORDER;
	struct timespec slice = { .tv_nsec = 20000000 };
	unsigned int want = atomic_load(&l->go), have;
	siginfo_t info;

	while ((have = atomic_load(&l->done)) != want) {
		syscall(SYS_futex, &l->done, FUTEX_WAIT, have, &slice, NULL, 0);
		if (atomic_load(&l->done) == want)
			break;
		memset(&info, 0, sizeof(info));
		if (!waitid(P_PID, pids[who], &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid)
			return ECHILD;
		if (kfdc_now() > until)
			return ETIMEDOUT;
	}
	return l->err;
}

static int order(enum who who, int nr, enum op op, enum phase phase)
{
	give(who, nr, op, phase, 0);
	return result(who, nr);
}

/* ---- what must be right after a round ---- */

static bool listed(pid_t pid, struct kfd_prio_list_entry *found)
{
	struct kfd_prio_list_entry e[16] = { 0 };
	struct kfd_prio_list_args l = {
		.entries = (unsigned long)e, .entry_size = sizeof(*e), .nr_entries = 16,
	};
	int kfd = open("/dev/kfd", O_ACCMODE | O_CLOEXEC);
	unsigned int i;

	if (kfd < 0 || ioctl(kfd, KFD_PRIO_IOC_LIST, &l))
		tap_bail("KFD_PRIO_IOC_LIST: %s", strerror(errno));
	close(kfd);
	for (i = 0; i < l.nr_entries && i < 16; i++)
		if (e[i].pid == pid) {
			*found = e[i];
			return true;
		}
	return false;
}

/* Does the hardware have a queue of that priority mapped? */
static bool on_hardware(int prio)
{
	const char *state = sim_read(0, "state");
	char text[32];

	snprintf(text, sizeof(text), " queue_prio %d ", prio);
	return state && strstr(state, text);
}

#define WRONG(...)	(snprintf(shared->why, sizeof(shared->why), __VA_ARGS__), false)

/*
 * It has its two queues, with the priority that is set, or that it asked for; the active one's MQD has it, too; and
 * within 20 s neither preemption nor eviction holds it off
 */
static bool settled(pid_t pid)
{
	uint64_t until = kfdc_now() + 20 * SEC;
	struct kfd_prio_list_entry e = { 0 };
	int want;

	for (;;) {
		if (!listed(pid, &e))
			return WRONG("process %d is not listed", pid);
		want = e.priority == KFD_PRIO_UNSET ? SUBJECT_PRIO : e.priority;
		if (e.nr_queues != 2)
			return WRONG("it has %u queues instead of 2", e.nr_queues);
		if (e.effective != want)
			return WRONG("priority %d, its queue has %d", e.priority, e.effective);
		if (e.nr_active == 1 && !e.flags && (!kfdc_has_queue_priority() || on_hardware(want)))
			return true;
		if (kfdc_now() > until)
			return WRONG("priority %d: %u active, flags %#x, its MQD is %s", want, e.nr_active, e.flags,
				     on_hardware(want) ? "right" : "not mapped or not right");
		usleep(200);
	}
}

/* ---- a round ---- */

static enum who who_does(enum op op)
{
	return op == OP_EVICT && shared->evict_by_fence ? HELPER : operations[op].who;
}

static bool allowed(enum op a, enum op b, int err)
{
	if (!err || operations[a].errors || operations[b].errors)
		return err != ETIMEDOUT;
	/* its process is gone */
	if (a == OP_EXIT || b == OP_EXIT)
		return err == ECHILD || err == ESRCH;
	return false;
}

static void revive(void)
{
	start(PREEMPTOR);
	start(SUBJECT);
}

/* Nobody has /dev/kfd open; afterwards there is a module again */
static bool bare_round(enum op a, enum op b)
{
	int ra, rb, err;

	end(SUBJECT);
	/* with exit, the last user goes while the module does */
	if (a == OP_EXIT || b == OP_EXIT) {
		start(PREEMPTOR);
		kill(pids[PREEMPTOR], SIGKILL);
	} else {
		end(PREEMPTOR);
	}
	shared->bare = true;
	shared->unloaded = false;
	shared->why[0] = 0;
	atomic_store(&shared->met, 0);
	give(HELPER, 0, a, GO, 0);
	give(HELPER, 1, b, GO, 0);
	ra = result(HELPER, 0);
	rb = result(HELPER, 1);
	shared->bare = false;
	end(PREEMPTOR);
	if (ra || rb || shared->why[0])
		return shared->why[0] ? false : WRONG("%s", strerror(ra ? ra : rb));
	if (shared->unloaded) {
		err = sim_load("");
		if (err)
			return WRONG("the module cannot be loaded: %s", strerror(err));
		pages = sim_counter(0, "ram_pages");
	}
	err = sim_use(0, false);
	return err ? WRONG("the GPU does not work: %s", strerror(err)) : true;
}

/* @n rounds; one time in three the subject is preempted when they begin */
static bool rounds_of(enum op a, enum op b, unsigned int n, bool look)
{
	bool dead = operations[a].dead || operations[b].dead;
	bool held = a != OP_PREEMPT && b != OP_PREEMPT && !rnd(3);
	enum who wa = who_does(a), wb = who_does(b);
	int ra, rb, err = 0;

	shared->unloaded = false;
	shared->why[0] = 0;
	atomic_store(&shared->met, 0);
	if (held)
		err = order(PREEMPTOR, 0, OP_PREEMPT, HOLD);
	if (err)
		return WRONG("before: %s", strerror(err));
	/* what a reset has taken is not waited for */
	give(wa, 0, a, GO, dead ? 0 : n);
	give(wb, 1, b, GO, dead ? 0 : n);
	ra = result(wa, 0);
	rb = result(wb, 1);
	if (!allowed(a, b, ra) || !allowed(a, b, rb))
		return WRONG("%s: %s, %s: %s", operations[a].name, strerror(ra), operations[b].name, strerror(rb));
	/* whose queues are dead, or who knows */
	if (dead || ((operations[a].errors || operations[b].errors) && (ra || rb))) {
		end(PREEMPTOR);
		end(SUBJECT);
		held = false;
	}
	if (a == OP_EXIT || b == OP_EXIT)
		end(SUBJECT);
	revive();
	if (held)
		err = order(PREEMPTOR, 0, OP_PREEMPT, FINISH);
	err = err ? err : order(SUBJECT, 0, a, WORK);
	/* before the next preemption, whose runlist puts right what this one may have forgotten */
	if (!err && look && !settled(pids[SUBJECT]))
		return false;
	if (!err && look)
		err = order(PREEMPTOR, 0, a, WORK);
	return err ? WRONG("afterwards: %s", strerror(err)) : true;
}

/* Can it be unloaded? All that has it open is gone in these pairs */
static bool is_bare(enum op a, enum op b)
{
	return (a == OP_UNLOAD || b == OP_UNLOAD) && rnd(2);
}

static unsigned long run_pair(enum op a, enum op b, double secs, unsigned long rounds)
{
	uint64_t begin = kfdc_now(), until = begin + (uint64_t)(secs * SEC), first = seed;
	/* at most that many before somebody looks */
	unsigned int burst = operations[a].heavy || operations[b].heavy || operations[a].errors ||
			     operations[b].errors ? 1 : BURST, k;
	bool ok = true, clean;
	unsigned long n = 0, turn;

	shared->window_us = operations[a].window_us > operations[b].window_us ? operations[a].window_us :
			    operations[b].window_us;
	start(HELPER);
	for (turn = 0; ok && n < rounds && kfdc_now() < until; turn++) {
		/* lanes change places */
		enum op x = turn % 2 ? b : a, y = turn % 2 ? a : b;

		/* an eviction by memory pressure, which the helper makes, or by userptrs */
		shared->evict_by_fence = !rnd(16);
		k = shared->evict_by_fence ? 1 : 1 + rnd(burst);
		if (is_bare(a, b)) {
			ok = bare_round(x, y);
		} else {
			revive();
			ok = rounds_of(x, y, k, turn % 2);
		}
		n += k;
	}
	if (ok && n) {
		revive();
		ok = settled(pids[SUBJECT]);
	}
	end(SUBJECT);
	end(PREEMPTOR);
	clean = sim_clean(0, pages);
	tap_ok(ok && clean, "%s+%s: %lu rounds", operations[a].name, operations[b].name, n);
	if (!ok)
		tap_diag("round %lu of the seed %#llx: %s\n%s", n, (unsigned long long)first, shared->why,
			 sim_read(0, "state"));
	if (!ok || !clean) {
		/* the others begin anew */
		end(HELPER);
		if (sim_unload() || sim_load(""))
			tap_bail("the module cannot be loaded anew");
		pages = sim_counter(0, "ram_pages");
	}
	tap_diag("%s+%s: %.0f rounds/s", operations[a].name, operations[b].name,
		 n * 1e9 / (double)(kfdc_now() - begin));
	return n;
}

static bool wanted(enum op a, enum op b, char **arg)
{
	char name[32], back[32];

	if (!*arg)
		return true;
	snprintf(name, sizeof(name), "%s+%s", operations[a].name, operations[b].name);
	snprintf(back, sizeof(back), "%s+%s", operations[b].name, operations[a].name);
	for (; *arg; arg++)
		if (!strcmp(*arg, name) || !strcmp(*arg, back) || !strcmp(*arg, operations[a].name) ||
		    !strcmp(*arg, operations[b].name))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	unsigned long rounds = 100000, total = 0, pairs = 0;
	double secs = 1;
	bool list = false;
	int a, b, c;

	seed = sim_seed();
	while ((c = getopt(argc, argv, "ls:n:r:")) != -1)
		switch (c) {
		case 'l': list = true; break;
		case 's': secs = atof(optarg); break;
		case 'n': rounds = strtoul(optarg, NULL, 0); break;
		case 'r': seed = strtoull(optarg, NULL, 0); break;
		default: tap_bail("usage: race [-l] [-s SECONDS] [-n ROUNDS] [-r SEED] [PAIR...]");
		}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || secs <= 0 || !rounds)
		tap_bail("nothing to do");
	if (!list) {
		tap_diag("seed %llu, %g s or %lu rounds a pair", (unsigned long long)seed, secs, rounds);
		pages = sim_counter(0, "ram_pages");
	}
	for (a = 0; a < OPS; a++)
		for (b = a; b < OPS; b++) {
			if (!wanted(a, b, argv + optind))
				continue;
			pairs++;
			if (list)
				printf("%s+%s\n", operations[a].name, operations[b].name);
			else
				total += run_pair(a, b, secs, rounds);
		}
	if (list)
		return 0;
	if (!pairs)
		tap_bail("no such pair; -l lists them");
	end(HELPER);
	tap_diag("%lu rounds of %lu pairs", total, pairs);
	return tap_done();
}
