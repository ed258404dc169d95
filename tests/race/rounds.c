// SPDX-License-Identifier: GPL-2.0
/* Rounds: who does it, what they are told, what came of it */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kfdclient.h"
#include "race.h"
#include "simgpu.h"
#include "tap.h"

#define SEC	1000000000ULL
#define ORDER	(60 * SEC)	/* longest time for one order */
#define FEW	16		/* rounds of most orders, at most */
#define BARE	16		/* one order in so many finds nobody on the GPU, if the module may go */

const struct operation operations[OPS] = {
	[OP_SET]	= { "set", HELPER, ROUNDS },
	[OP_CREATE]	= { "create", SUBJECT, ROUNDS },
	[OP_UPDATE]	= { "update", SUBJECT, ROUNDS },
	[OP_DESTROY]	= { "destroy", SUBJECT, ROUNDS },
	[OP_EVICT]	= { "evict", SUBJECT, ROUNDS },
	[OP_RESTORE]	= { "restore", SUBJECT, ROUNDS },
	[OP_PREEMPT]	= { "preempt", PREEMPTOR, ROUNDS },
	[OP_EXIT]	= { "exit", SUBJECT, 1 },
	[OP_RESET]	= { "reset", HELPER, 1, .dead = true, .errors = true },
	[OP_UNLOAD]	= { "unload", HELPER, 64 },
	[OP_SUSPEND]	= { "suspend", HELPER, 32, .errors = true },
	[OP_SHARE]	= { "share", HELPER, ROUNDS },
	/* each waits until there is something to park: milliseconds */
	[OP_PARK]	= { "park", HELPER, 32 },
	/* after 10 wakes in a second a process is not parked for 10 s (KFD_PRIO_PARK_WAKES): each order has a new one */
	[OP_UNPARK]	= { "unpark", SUBJECT, 10 },
};

static uint64_t seed;
static pid_t pids[WHO];
static long long pages;

uint32_t rnd(uint32_t n)
{
	return sim_random(&seed) % n;
}

static bool parks(enum op op)
{
	return op == OP_PARK || op == OP_UNPARK;
}

static int load(void)
{
	int err = sim_load("");

	if (!err) {
		poll_seldom();
		pages = sim_counter(0, "ram_pages");
	}
	return err;
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

static void give(enum who who, int nr, enum op op, enum op other, enum phase phase, unsigned int rounds)
{
	struct lane *l = &shared->lane[who][nr];

	l->op = op;
	l->other = other;
	l->phase = phase;
	l->rounds = rounds;
	l->number = sim_random(&seed);
	l->err = 0;
	atomic_fetch_add(&l->go, 1);
	syscall(SYS_futex, &l->go, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Its errno; ECHILD if its process has died, which is looked at every @ms */
static int result(enum who who, int nr, unsigned int ms)
{
	struct lane *l = &shared->lane[who][nr];
	uint64_t until = kfdc_now() + ORDER;
	struct timespec slice = { .tv_nsec = ms * 1000000L };
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
	give(who, nr, op, op, phase, 0);
	return result(who, nr, 20);
}

#define WRONG(...)	(snprintf(shared->why, sizeof(shared->why), __VA_ARGS__), false)

/* ---- a round ---- */

/* @nr: the lane; two that exit are two processes */
static enum who who_does(enum op op, enum op other, int nr)
{
	if (op == OP_EXIT && other == OP_EXIT && nr)
		return PREEMPTOR;
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

/* Before an order */
static void fresh(void)
{
	unsigned int i;

	shared->unloaded = false;
	shared->why[0] = 0;
	atomic_store(&shared->met, 0);
	atomic_store(&shared->ready, 0);
	for (i = 0; i < 2; i++) {
		/* and the one in which it died */
		memset(shared->stamp[i], 0, (atomic_load(&shared->round[i]) + 1) * sizeof(shared->stamp[i][0]));
		atomic_store(&shared->round[i], 0);
	}
}

/*
 * Counts the last order.  A round is an operation of the lane that did fewer; it overlapped if the other lane's was
 * under way at some time of it.  What has not ended died at @now.
 */
static void count(struct score *s, uint64_t now)
{
	struct stamp *few = shared->stamp[0], *many = shared->stamp[1];
	unsigned int n[2] = { 0, 0 }, i, j = 0;

	for (i = 0; i < 2; i++)
		while (n[i] < ROUNDS_MAX && shared->stamp[i][n[i]].begin)
			n[i]++;
	if (n[0] > n[1]) {
		few = shared->stamp[1];
		many = shared->stamp[0];
	}
	s->rounds += n[0] < n[1] ? n[0] : n[1];
	for (i = 0; i < n[0] && i < n[1]; i++) {
		uint64_t end = few[i].end ? few[i].end : now;

		while (j < ROUNDS_MAX && many[j].begin && many[j].end && many[j].end < few[i].begin)
			j++;
		s->overlapped += j < ROUNDS_MAX && many[j].begin && many[j].begin < end;
	}
}

/* amdkfd lets go of an ended process a little later: until then the module is in use */
static void wait_unused(void)
{
	uint64_t until = kfdc_now() + 5 * SEC;
	char text[16] = "";
	int fd, n;

	do {
		fd = open("/sys/module/amdgpu/refcnt", O_RDONLY | O_CLOEXEC);
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
		if (n > 0 && text[0] == '0')
			return;
		usleep(2000);
	} while (kfdc_now() < until);
}

/* Nobody has /dev/kfd open; afterwards there is a module again */
static bool bare_round(enum op a, enum op b, struct score *s)
{
	int ra, rb, err;

	end(SUBJECT);
	/* with exit, the last user goes while the module does */
	if (a == OP_EXIT || b == OP_EXIT) {
		start(PREEMPTOR);
		kill(pids[PREEMPTOR], SIGKILL);
	} else {
		end(PREEMPTOR);
		/* mostly; else the last user's end is one more that takes part */
		if (rnd(4))
			wait_unused();
	}
	fresh();
	shared->bare = true;
	give(HELPER, 0, a, b, GO, 0);
	give(HELPER, 1, b, a, GO, 0);
	ra = result(HELPER, 0, 20);
	rb = result(HELPER, 1, 20);
	shared->bare = false;
	end(PREEMPTOR);
	count(s, kfdc_now());
	s->bare++;
	s->unloaded += shared->unloaded;
	if (ra || rb || shared->why[0])
		return shared->why[0] ? false : WRONG("%s", strerror(ra ? ra : rb));
	if (shared->unloaded) {
		err = load();
		if (err)
			return WRONG("the module cannot be loaded: %s", strerror(err));
	}
	err = sim_use(0, false);
	return err ? WRONG("the GPU does not work: %s", strerror(err)) : true;
}

/* For as long as the order takes, about, somebody shall be preempted */
static bool hold(enum op a, enum op b, unsigned int n)
{
	uint64_t ns = n * (atomic_load(&shared->took[a]) + atomic_load(&shared->took[b]) + 200000ULL);

	start(PREEMPTOR);
	shared->hold_ns = ns < 4000000 ? 4000000 : ns > 200000000 ? 200000000 : ns;
	return !order(PREEMPTOR, 0, OP_PREEMPT, HOLD);
}

/* They were there, and are not any more: amdkfd has destroyed their queues, and nothing is to come of it */
static void gone(enum who who)
{
	uint64_t until = kfdc_now() + 5 * SEC;
	char path[64];

	if (!pids[who])
		return;
	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d", pids[who]);
	end(who);
	while (!access(path, F_OK) && kfdc_now() < until)
		usleep(1000);
	sim_write(0, "reset", "0");
}

/* Resets since it was asked last */
static long long resets(void)
{
	static long long before;
	long long now = sim_counter(0, "resets"), n = now - before;

	before = now;
	return n > 0 ? n : 0;
}

/*
 * May the GPU be reset though nobody asks for it?  Stock amdkfd, MES: stop_cpsch() removes queues that are still active
 * (their process was not suspended because it exits, or that failed) and leaves them so; when they are destroyed they are
 * removed again, which MES refuses, and KFD resets the GPU.
 */
static bool may_reset(enum op a, enum op b)
{
	return operations[a].dead || operations[b].dead ||
	       ((operations[a].errors || operations[b].errors) && sim_counter(0, "mes_adds"));
}

/*
 * The subject is as it must be, and has worked just before.  If it was preempted when that work was done, it stays off
 * until it rings again
 */
static bool settled(enum op a)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (look_settled(pids[SUBJECT], 2))
			return true;
		if (order(SUBJECT, 0, a, WORK))
			return WRONG("it does not work again");
	}
	return look_settled(pids[SUBJECT], 20);
}

/* Both are there again, as far as they are needed, and the subject works */
static bool put_right(enum op a, enum op b, bool dead, bool held, bool look, struct score *s)
{
	bool left = a == OP_EXIT || b == OP_EXIT;
	uint64_t begin = kfdc_now();
	int err = 0;

	if (parks(a) || parks(b))
		parking(false);
	if (dead || (a == OP_EXIT && b == OP_EXIT))
		gone(PREEMPTOR);
	if (dead || (left && (operations[a].errors || operations[b].errors)))
		gone(SUBJECT);
	else if (left)
		end(SUBJECT);
	if (resets()) {
		if (!may_reset(a, b))
			return WRONG("the GPU was reset");
		/* it may have hit a preemption */
		sim_poke("/sys/module/amdgpu/parameters/kfd_preempt", "1");
		gone(PREEMPTOR);
		gone(SUBJECT);
	}
	start(SUBJECT);
	if (held && pids[PREEMPTOR])
		err = order(PREEMPTOR, 0, OP_PREEMPT, FINISH);
	err = err ? err : order(SUBJECT, 0, a, WORK);
	s->after += kfdc_now() - begin;
	if (err) {
		look_say(pids[SUBJECT]);
		return WRONG("afterwards: %s", strerror(err));
	}
	if (!look)
		return true;
	/* before the next preemption, whose runlist puts right what this one may have forgotten */
	begin = kfdc_now();
	if (!settled(a))
		return false;
	s->preempted += look_preemptions(pids[PREEMPTOR]);
	if (pids[PREEMPTOR])
		err = order(PREEMPTOR, 0, a, WORK);
	s->look += kfdc_now() - begin;
	return err ? WRONG("the preemptor, afterwards: %s", strerror(err)) : true;
}

/* @n rounds; one time in three the subject is preempted when they begin */
static bool rounds_of(enum op a, enum op b, unsigned int n, bool look, struct score *s)
{
	bool dead = operations[a].dead || operations[b].dead;
	bool held = a != OP_PREEMPT && b != OP_PREEMPT && !(a == OP_EXIT && b == OP_EXIT) && !rnd(3);
	unsigned int ms = a == OP_EXIT || b == OP_EXIT ? 1 : 20;
	enum who wa = who_does(a, b, 0), wb = who_does(b, a, 1);
	uint64_t begin = kfdc_now(), died;
	int ra, rb;

	if (a == OP_UNPARK || b == OP_UNPARK)
		end(SUBJECT);
	start(SUBJECT);
	if (a == OP_PREEMPT || b == OP_PREEMPT || wb == PREEMPTOR)
		start(PREEMPTOR);
	fresh();
	if (held && !hold(a, b, n))
		return WRONG("before: nobody can be preempted");
	if (parks(a) || parks(b))
		parking(true);
	/* what a reset has taken is not waited for */
	give(wa, 0, a, b, GO, dead ? 0 : n);
	give(wb, 1, b, a, GO, dead ? 0 : n);
	ra = result(wa, 0, ms);
	died = kfdc_now();
	rb = result(wb, 1, ms);
	if (a != OP_EXIT)
		died = kfdc_now();
	s->order += kfdc_now() - begin;
	count(s, died);
	if (!allowed(a, b, ra) || !allowed(a, b, rb))
		return WRONG("%s: %s, %s: %s", operations[a].name, strerror(ra), operations[b].name, strerror(rb));
	/* whose queues are dead, or who knows */
	dead |= (operations[a].errors || operations[b].errors) && (ra || rb);
	return put_right(a, b, dead, held, look, s);
}

static unsigned int at_most(enum op a, enum op b)
{
	unsigned int x = operations[a].burst, y = operations[b].burst;

	return x < y ? x : y;
}

/* Of @n rounds, those that end by @until, as far as is known; always one */
static unsigned int in_time(const struct score *s, unsigned int n, uint64_t until)
{
	uint64_t now = kfdc_now(), left = until > now ? until - now : 0, fit;

	if (!s->rounds)
		return n < 8 ? n : 8;
	fit = left / (s->order / s->rounds + 1);
	return fit < 1 ? 1 : fit < n ? fit : n;
}

static bool needs_extras(enum op op)
{
	return op == OP_CREATE || op == OP_DESTROY || op == OP_EVICT || op == OP_RESTORE;
}

/**
 * rounds_begin() - before any
 * @random: a seed
 */
void rounds_begin(uint64_t random)
{
	seed = random;
	poll_seldom();
	pages = sim_counter(0, "ram_pages");
}

/**
 * rounds_run() - rounds of one pair, until time or number is reached
 * @a, @b: the pair
 * @secs: how long
 * @rounds: how many, a few more at most
 * @s: set
 *
 * Afterwards nobody has the GPU, and the next pair begins with a good one whatever was found.
 *
 * Return: was all right? If not, it was said why
 */
bool rounds_run(enum op a, enum op b, double secs, unsigned long rounds, struct score *s)
{
	uint64_t begin = kfdc_now(), until = begin + (uint64_t)(secs * SEC), first = seed;
	unsigned int most = at_most(a, b), i, n, turn;
	bool ok = true, clean;

	memset(s, 0, sizeof(*s));
	memset(shared->spent, 0, sizeof(shared->spent));
	atomic_store(&shared->parks, 0);
	atomic_store(&shared->refused, 0);
	for (i = 0; i < OPS; i++)
		atomic_store(&shared->took[i], 100000);
	shared->extras = needs_extras(a) || needs_extras(b);
	start(HELPER);
	for (turn = 0; ok && s->rounds < rounds && kfdc_now() < until; turn++) {
		/* lanes change places */
		enum op x = turn % 2 ? b : a, y = turn % 2 ? a : b;

		/* an eviction by memory pressure, which the helper makes, or by userptrs */
		shared->evict_by_fence = !rnd(16);
		if (most < ROUNDS)
			hurry(rnd(4));
		/* many that go on without a look are more of a race; what the next operation puts right, only few show */
		n = 1 + rnd(rnd(4) ? (most < FEW ? most : FEW) : most);
		if (n > rounds - s->rounds)
			n = rounds - s->rounds;
		n = in_time(s, n, until);
		/* can it be unloaded? All that has it open is gone in these pairs */
		if ((a == OP_UNLOAD || b == OP_UNLOAD) && !rnd(BARE))
			ok = bare_round(x, y, s);
		else
			ok = rounds_of(x, y, n, rnd(4), s);
	}
	if (ok && s->rounds) {
		start(SUBJECT);
		ok = (!order(SUBJECT, 0, a, WORK) || WRONG("at the end: it does not work")) && settled(a);
		s->preempted += look_preemptions(pids[PREEMPTOR]);
	}
	end(SUBJECT);
	end(PREEMPTOR);
	hurry(false);
	clean = look_clean(&pages);
	s->ns = kfdc_now() - begin;
	s->parks = atomic_load(&shared->parks);
	if (!ok)
		tap_diag("%s+%s, round %lu of the seed %#llx: %s\n%s", operations[a].name, operations[b].name, s->rounds,
			 (unsigned long long)first, shared->why, sim_read(0, "state"));
	if (!ok || !clean) {
		/* the others begin anew */
		end(HELPER);
		if (sim_unload() || load())
			tap_bail("the module cannot be loaded anew");
	}
	return ok && clean;
}

/* rounds_end() - nobody is left */
void rounds_end(void)
{
	end(HELPER);
}
