// SPDX-License-Identifier: GPL-2.0
/*
 * uaf [-L] [NAME...] - processes of KFD that end before they were made, and processes that execute another program with
 * a descriptor of /dev/kfd open, beside whatever finds processes: is anything used after it was freed?  The kernel's log
 * has the answer: tests/vm/run fails if there is a report in it.
 *
 *	fault	opens that get no MMU notifier, by the simulated GPU's fault point: 300, with -L 10000
 *	signal	the same by a signal that is pending: 20, with -L 500
 *	exec	a second open after exec, beside the process of the first; two queues, one of them destroyed; exit
 *	table	an open beside 50 failed ones that wait for a look-up in KFD's table
 *	grace	an open that fails while a look-up goes on: does it wait?
 *	unseen	only for the fixes of contrib/rfc: an open that fails is found by no look-up, and waits for none
 *	held	opens that fail while a look-up has a reference: is the process freed? Needs poison
 *	context	Linux 7.x: contexts of a process whose main thread has ended, 50
 *
 * All but what looks at the end is done as UID 65534.  On a driver without kfdprio DBG_TRAP alone finds processes, and "exec"
 * and "table" are not for it.  TAP.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/kfd_ioctl.h>
#include "kfdclient.h"
#include "simgpu.h"
#include "tap.h"
#include "uaf.h"

#define NOBODY		65534
#define WAITING		50
#define CONTEXTS	50
#define DOORBELLS	(3ULL << 62)
#define GPU_ID(id)	((unsigned long long)(id) << 46)
#ifndef AMDKFD_IOC_CREATE_PROCESS
#define AMDKFD_IOC_CREATE_PROCESS	AMDKFD_IO(0x27)
#endif

struct shared *st;

static bool long_form;
static char *self;
static unsigned int gpu_id;

static void become_nobody(void)
{
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		tap_bail("cannot become UID %d: %s", NOBODY, strerror(errno));
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* A child of UID 65534 that calls @fn until the end */
static pid_t start(void (*fn)(void))
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		tap_bail("fork: %s", strerror(errno));
	if (pid)
		return pid;
	become_nobody();
	while (!st->over)
		fn();
	_exit(0);
}

static int inherited;	/* a descriptor of /dev/kfd of another process */

static void *map_doorbells(void *over)
{
	void *m;

	while (!*(volatile bool *)over) {
		m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, inherited, (off_t)(DOORBELLS | GPU_ID(gpu_id)));
		if (m != MAP_FAILED)
			count(&st->mapped);
		nap_us(20);
	}
	return NULL;
}

static void note_open(int fd)
{
	if (fd >= 0)
		count(&st->opened);
	else
		count(errno == EINTR ? &st->failed : &st->other);
}

/* A process that opens KFD a few times while a thread of it maps doorbells, and exits */
static void open_by_fault(void)
{
	volatile bool over = false;
	pthread_t t;
	int i;

	if (pthread_create(&t, NULL, map_doorbells, (void *)&over))
		_exit(1);
	for (i = 0; i < 10; i++)
		note_open(open("/dev/kfd", O_RDWR | O_CLOEXEC));
	over = true;
	pthread_join(t, NULL);
}

static void nop(int sig)
{
	(void)sig;
}

/* Timers tick faster than all locks of an address space are taken */
static void open_by_signal(void)
{
	struct itimerval tick = { .it_value.tv_usec = 100, .it_interval.tv_usec = 100 };
	struct sigaction sa = { .sa_handler = nop };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &tick, NULL);
	note_open(open("/dev/kfd", O_RDWR | O_CLOEXEC));
	setitimer(ITIMER_REAL, &(struct itimerval){ }, NULL);
}

/* By the fault point, one at a time, and not again so soon that the next process takes the memory of the last one */
static void open_alone(void)
{
	note_open(open("/dev/kfd", O_RDWR | O_CLOEXEC));
	nap_us(500000);
}

static void openers(int slot, void (*fn)(void))
{
	while (!st->over) {
		pid_t pid = fork();

		if (!pid) {
			st->opener[slot] = getpid();
			fn();
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

/* Without a limit of time: how long it takes depends on the host, and the VM has one */
static void open_until(const char *name, void (*fn)(void), long n)
{
	pid_t pids[OPENERS + FINDERS];
	unsigned int i, k = 0;

	memset(st, 0, sizeof(*st));
	for (i = is_ours() ? 0 : FINDERS - 1; i < FINDERS; i++)
		pids[k++] = start(finders[i]);
	/* the debugger's own open must not fail */
	while (!st->debugs && waitpid(pids[k - 1], NULL, WNOHANG) != pids[k - 1])
		nap_us(10000);
	if (fn == open_by_fault)
		sim_fault_set(0, "notifier", "always");
	for (i = 0; i < OPENERS; i++) {
		fflush(stdout);
		pids[k] = fork();
		if (!pids[k]) {
			become_nobody();
			openers(i, fn);
			_exit(0);
		}
		k++;
	}
	while (st->failed < n)
		nap_us(10000);
	st->over = true;
	while (k)
		waitpid(pids[--k], NULL, 0);
	sim_fault_set(0, "notifier", "0");
	tap_diag("%s: %ld failed, %ld opened, %ld other; LIST %ld GET %ld SET %ld sysfs %ld DBG_TRAP %ld", name,
		 st->failed, st->opened, st->other, st->lists, st->gets, st->sets, st->reads, st->traps);
	tap_ok(st->failed >= n, "%s: %ld opens failed (%ld)", name, n, st->failed);
	tap_ok((!is_ours() || (st->lists && st->gets && st->sets && st->reads)) && (st->traps || sim_old_kernel()),
	       "%s: processes were looked for meanwhile", name);
	tap_eq(st->bad, 0, "%s: nothing was found that is not there", name);
	tap_eq(st->mapped, 0, "%s: no doorbell of a process that is not there was mapped", name);
}

static void test_fault(void)
{
	inherited = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	open_until("fault", open_by_fault, long_form ? 10000 : 300);
	close(inherited);
}

static void test_signal(void)
{
	open_until("signal", open_by_signal, long_form ? 500 : 20);
}

/* In the program that exec made: the first descriptor is open */
static int second_open(void)
{
	struct kfdc_queue *destroyed, *left;
	struct kfdc *gpu;
	char buf[64];

	snprintf(buf, sizeof(buf), PROC "/%d", getpid());
	if (kfdc_open(&gpu, 0) || kfdc_queue_create(gpu, NULL, &destroyed) || kfdc_queue_create(gpu, NULL, &left) ||
	    kfdc_queue_destroy(destroyed))
		return 1;
	read_file(buf, "priority");
	/* on its way out: KFD ends both processes, and a queue that has no directory either */
	return 0;
}

static void test_exec(void)
{
	int i, status, bad = 0;

	for (i = 0; i < 10; i++) {
		pid_t pid = fork();

		if (!pid) {
			become_nobody();
			if (open("/dev/kfd", O_RDWR) < 0)
				_exit(99);
			execl(self, self, "--second-open", NULL);
			_exit(98);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			bad++;
	}
	/* KFD frees them in its own time */
	nap_us(500000);
	tap_eq(bad, 0, "exec: KFD can be opened again after exec, beside the process of before, and has queues");
	st->over = false;
	do_list();
	do_sysfs();
	tap_eq(st->bad, 0, "exec: nothing of them is left");
}

static void open_once(void)
{
	note_open(open("/dev/kfd", O_RDWR | O_CLOEXEC));
	nap_us(10000000);
}

static void test_table(void)
{
	long long struck = sim_fault_struck(0, "notifier");
	pid_t pids[WAITING], reader, honest;
	int i;

	memset(st, 0, sizeof(*st));
	sim_fault_set(0, "notifier", "always");
	fflush(stdout);
	reader = fork();
	if (!reader)
		_exit(sim_write(0, "table_lock", "300000"));
	nap_us(200000);
	for (i = 0; i < WAITING; i++)
		pids[i] = start(open_once);
	/* each has gone through the fault point */
	while (sim_fault_struck(0, "notifier") < struck + WAITING && waitpid(reader, NULL, WNOHANG) != reader)
		nap_us(10000);
	honest = fork();
	if (!honest) {
		/* its end waits for the look-up, as on the stock driver */
		open_once();
		_exit(0);
	}
	while (!st->opened && waitpid(reader, NULL, WNOHANG) != reader)
		nap_us(10000);
	tap_eq(st->opened, 1, "table: an open does not wait for %d that have failed and wait for a look-up", WAITING);
	tap_eq(st->failed, 0, "table: none of them is freed while the look-up goes on");
	kill(reader, SIGKILL);
	kill(honest, SIGKILL);
	waitpid(honest, NULL, 0);
	for (i = 0; i < WAITING; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	sim_fault_set(0, "notifier", "0");
}

/* The child, as UID 65534: opens that get no notifier, until the end */
static pid_t start_failing(void)
{
	memset(st, 0, sizeof(*st));
	sim_fault_set(0, "notifier", "always");
	return start(open_alone);
}

/* How long it takes, ms, until an open has failed beside a look-up in KFD's table of 3000 ms, which begins first */
static long failing_beside_look_up(void)
{
	struct timespec began, failed;
	pid_t reader, child;

	clock_gettime(CLOCK_MONOTONIC, &began);
	fflush(stdout);
	reader = fork();
	if (!reader)
		_exit(sim_write(0, "table_lock", "3000"));
	nap_us(200000);
	child = start_failing();
	while (!st->failed)
		nap_us(1000);
	clock_gettime(CLOCK_MONOTONIC, &failed);
	st->over = true;
	waitpid(child, NULL, 0);
	waitpid(reader, NULL, 0);
	sim_fault_set(0, "notifier", "0");
	return (failed.tv_sec - began.tv_sec) * 1000 + (failed.tv_nsec - began.tv_nsec) / 1000000;
}

static void test_grace(void)
{
	long ms = failing_beside_look_up();

	tap_ok(ms >= 3000, "grace: an open that fails waits for a look-up in KFD's table (%ld ms, the look-up took 3000)", ms);
}

static void test_held(void)
{
	char text[32];
	pid_t child;
	int err;

	child = start_failing();
	snprintf(text, sizeof(text), "%d 200", child);
	err = sim_write(0, "process_hold", text);
	tap_ok(err != ESRCH, "held: a look-up has found a process that fails");
	tap_ok(!err, "held: the process is not freed while the look-up has a reference (%s)", strerror(err));
	st->over = true;
	waitpid(child, NULL, 0);
	tap_ok(st->failed > 0, "held: opens have failed");
	sim_fault_set(0, "notifier", "0");
}

/*
 * A driver that adds a process to KFD's table when nothing can fail any more (contrib/rfc/fixes): look-ups find none that fails,
 * and an open that fails waits for none
 */
static void test_unseen(void)
{
	char text[32];
	pid_t child;
	long ms;
	int err;

	child = start_failing();
	snprintf(text, sizeof(text), "%d 200", child);
	err = sim_write(0, "process_hold", text);
	tap_ok(err == ESRCH, "unseen: a look-up finds no process that fails (%s)", strerror(err));
	st->over = true;
	waitpid(child, NULL, 0);
	tap_ok(st->failed > 0, "unseen: opens have failed");
	ms = failing_beside_look_up();
	tap_ok(ms < 3000, "unseen: an open fails while a look-up goes on (after %ld ms, the look-up took 3000)", ms);
}

static int files[CONTEXTS];
static pthread_t leader;

static void *make_contexts(void *unused)
{
	int i;

	(void)unused;
	pthread_join(leader, NULL);
	nap_us(10000);
	for (i = 0; i < CONTEXTS; i++)
		if (ioctl(files[i], AMDKFD_IOC_CREATE_PROCESS))
			count(errno == ESRCH ? &st->failed : &st->other);
		else
			count(&st->opened);
	_exit(0);
}

static void test_context(void)
{
	pid_t lists, pid;
	pthread_t t;
	int i;

	if (!sim_new_kernel()) {
		tap_skip("context", "contexts came with Linux 7.x");
		return;
	}
	memset(st, 0, sizeof(*st));
	lists = is_ours() ? start(do_list) : -1;
	pid = fork();
	if (!pid) {
		become_nobody();
		for (i = 0; i < CONTEXTS; i++)
			files[i] = open("/dev/kfd", O_RDWR | O_CLOEXEC);
		leader = pthread_self();
		if (pthread_create(&t, NULL, make_contexts, NULL))
			_exit(1);
		pthread_exit(NULL);
	}
	waitpid(pid, NULL, 0);
	st->over = true;
	if (lists > 0)
		waitpid(lists, NULL, 0);
	tap_eq(st->failed, CONTEXTS, "context: none is made for a process without its main thread (%ld made, %ld other)",
	       st->opened, st->other);
}

static unsigned int first_gpu(void)
{
	char path[128];
	unsigned int i, id = 0;
	FILE *f;

	for (i = 0; i < 16 && !id; i++) {
		snprintf(path, sizeof(path), "/sys/class/kfd/kfd/topology/nodes/%u/gpu_id", i);
		f = fopen(path, "r");
		if (f) {
			if (fscanf(f, "%u", &id) != 1)
				id = 0;
			fclose(f);
		}
	}
	return id;
}

static const struct {
	const char *name;
	void (*run)(void);
	bool named;	/* only if it is named */
} tests[] = {
	{ "fault", test_fault }, { "signal", test_signal }, { "exec", test_exec }, { "table", test_table },
	{ "grace", test_grace }, { "held", test_held }, { "unseen", test_unseen, true }, { "context", test_context },
};

int main(int argc, char **argv)
{
	unsigned int i;
	int n;

	self = argv[0];
	st = mmap(NULL, sizeof(*st), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (st == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	if (argc > 1 && !strcmp(argv[1], "--second-open"))
		return second_open();
	if (argc > 1 && !strcmp(argv[1], "-L")) {
		long_form = true;
		argc--;
		argv++;
	}
	gpu_id = first_gpu();
	if (!gpu_id)
		tap_bail("no GPU in the topology");
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		for (n = 1; n <= (argc > 1 ? argc - 1 : 1); n++)
			if (argc < 2 ? !tests[i].named : !strcmp(argv[n], tests[i].name)) {
				long long pages = sim_counter(0, "ram_pages");

				tests[i].run();
				if (sim_old_kernel() || !strcmp(tests[i].name, "context"))
					continue;
				tap_ok(sim_clean(0, pages), "%s: nothing is left on the GPU", tests[i].name);
			}
	return tap_done();
}
