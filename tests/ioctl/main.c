// SPDX-License-Identifier: GPL-2.0
/*
 * ioctl-fuzz [-n CALLS] [-s SECONDS] [-r SEED] [-e] [-b] - ioctls of ours and of KFD's queues and memory at random,
 * from several processes of several threads, half of them ordinary users: structs that are nearly right, descriptors
 * that are passed, inherited and closed, processes that fork, exec and are killed, queues that have work.
 *
 *	-n	calls in all (default 50000); -s at most so many seconds (default 600)
 *	-r	seed (default: that of the VM).  What one thread does follows from it; how threads interleave does not
 *	-e	with the driver's trace events on
 *	-b	also what stock KFD is known to answer with a kernel warning (Documentation/testing.rst)
 *
 * Prints calls by ioctl and errno, how long one took on average, waiting for others included, and calls per second.
 * What the kernel reports meanwhile is tests/vm/run's business.  Runs in the VM as root; TAP.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <glob.h>
#include <linux/kfd_prio.h>
#include "ioctl.h"
#include "kfdclient.h"
#include "simgpu.h"
#include "tap.h"

#define SEC	1000000000ULL

static int socks[WORKERS][2];
static uint64_t preempted;

static void open_to_all(void)
{
	glob_t g = { 0 };
	size_t i;

	if (chmod("/dev/kfd", 0666) || glob("/dev/dri/renderD*", 0, NULL, &g))
		tap_bail("/dev/kfd, /dev/dri: %s", strerror(errno));
	for (i = 0; i < g.gl_pathc; i++)
		chmod(g.gl_pathv[i], 0666);
	globfree(&g);
}

static void start(unsigned int nr, uint64_t *seed, uint64_t limit)
{
	/* what one sends the next receives */
	int sock[2] = { socks[nr][0], socks[(nr + 1) % WORKERS][1] };
	uint64_t number = sim_random(seed);
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		worker(nr, number, limit, sock);
	if (pid < 0)
		tap_bail("fork: %s", strerror(errno));
	counts->pid[nr] = pid;
	counts->born++;
}

/* Reads what the driver tells of all processes; of one that ends between two looks, @preempted lacks the last */
static void look(void)
{
	static char text[65536];
	static const char *const files = "/sys/class/kfd/kfd/proc/%d/stats_%*[^/]/preempted_count";
	static uint64_t last[65536];
	unsigned long long v;
	glob_t g = { 0 };
	size_t i;
	FILE *f;
	int pid;

	glob("/sys/class/kfd/kfd/proc/*/stats_*/preempted_count", 0, NULL, &g);
	for (i = 0; i < g.gl_pathc; i++) {
		f = fopen(g.gl_pathv[i], "re");
		if (f && fscanf(f, "%llu", &v) == 1 && sscanf(g.gl_pathv[i], files, &pid) == 1) {
			pid %= 65536;
			preempted += v - (v < last[pid] ? 0 : last[pid]);
			last[pid] = v;
		}
		if (f)
			fclose(f);
	}
	globfree(&g);
	f = fopen("/sys/kernel/debug/kfd/preempt", "re");
	if (f) {
		while (fread(text, 1, sizeof(text), f) == sizeof(text))
			;
		fclose(f);
	}
	cover_take();
}

/* Until all calls are done; a worker that was killed is replaced */
static unsigned int run(uint64_t seed, uint64_t limit, double secs)
{
	uint64_t begin = kfdc_now(), end = begin + (uint64_t)(secs * SEC), told = begin;
	unsigned int i, alive, failed = 0;
	int status;

	for (i = 0; i < WORKERS; i++)
		start(i, &seed, limit);
	do {
		usleep(50000);
		if (kfdc_now() > end)
			counts->stop = true;
		for (alive = 0, i = 0; i < WORKERS; i++) {
			if (counts->pid[i] && waitpid(counts->pid[i], &status, WNOHANG) == counts->pid[i]) {
				counts->pid[i] = 0;
				failed += WIFEXITED(status) ? WEXITSTATUS(status) != 0 : WTERMSIG(status) != SIGKILL;
				if (!counts->stop && counts->total < limit)
					start(i, &seed, limit);
			}
			alive += counts->pid[i] != 0;
		}
		look();
		if (kfdc_now() - told > 10 * SEC) {
			told = kfdc_now();
			tap_diag("%llu s: %llu calls, %llu processes", (unsigned long long)((told - begin) / SEC),
				 (unsigned long long)counts->total, (unsigned long long)counts->born);
		}
	} while (alive && kfdc_now() < end + 60 * SEC);
	tap_diag("%.0f calls/s", counts->total * 1e9 / (double)(kfdc_now() - begin));
	tap_eq(alive, 0, "no call lasts for ever");
	for (i = 0; i < WORKERS; i++)
		if (counts->pid[i]) {
			kill(counts->pid[i], SIGKILL);
			waitpid(counts->pid[i], NULL, 0);
		}
	return failed;
}

static uint64_t of(const char *name, int err)
{
	unsigned int i;

	for (i = 0; i < n_calls; i++)
		if (!strcmp(calls[i].name, name))
			return counts->call[i][err];
	return 0;
}

static void print_counts(void)
{
	static const char *const names[EXTRAS] = { "doorbell", "mmap", "fork", "pass a descriptor", "receive one",
						   "open, close", "new pages" };
	char line[512];
	unsigned int i, e;
	uint64_t n;

	for (i = 0; i < n_calls; i++) {
		line[0] = 0;
		for (n = 0, e = 0; e < ERRNOS; n += counts->call[i][e++])
			if (counts->call[i][e])
				snprintf(line + strlen(line), sizeof(line) - strlen(line), " %s:%llu",
					 !e ? "ok" : e == ERRNOS - 1 ? "odd" : strerrorname_np(e) ?: "?",
					 (unsigned long long)counts->call[i][e]);
		tap_diag("%-38s%6.0f us %s", calls[i].name, n ? counts->call_ns[i] / 1e3 / (double)n : 0, line);
	}
	if (counts->odd)
		tap_diag("odd: an errno of %d", counts->odd);
	for (i = 0; i < EXTRAS; i++) {
		n = counts->extra[i][0] + counts->extra[i][1];
		tap_diag("%-38s%6.0f us  ok:%llu not:%llu", names[i], n ? counts->extra_ns[i] / 1e3 / (double)n : 0,
			 (unsigned long long)counts->extra[i][1], (unsigned long long)counts->extra[i][0]);
	}
	tap_diag("GPU: runlists:%lld adds:%lld removes:%lld dispatches:%lld, processes preempted at least %llu times",
		 sim_counter(0, "runlists"), sim_counter(0, "mes_adds"), sim_counter(0, "mes_removes"),
		 sim_counter(0, "dispatches"), (unsigned long long)preempted);
}

/* What must have been seen if the fuzzer is any good; a short run has not the time for the rare ones */
static void check_counts(uint64_t limit)
{
	static const struct {
		const char *name;
		int err[8];
	} want[] = {
		{ "KFD_PRIO_IOC_SET", { 0, EINVAL, ESRCH, EPERM, EBADF, EFAULT, -1 } },
		{ "KFD_PRIO_IOC_GET", { 0, EINVAL, ESRCH, EBADF, EFAULT, -1 } },
		{ "KFD_PRIO_IOC_LIST", { 0, EINVAL, EFAULT, -1 } },
		{ "KFD_PRIO_IOC_SHARE", { 0, EINVAL, ESRCH, EPERM, ENOENT, EFAULT, -1 } },
		{ "KFD_PRIO_IOC_SHARES", { 0, EINVAL, EFAULT, -1 } },
		{ "AMDKFD_IOC_CREATE_QUEUE", { 0, EINVAL, EBADF, -1 } },
		{ "AMDKFD_IOC_UPDATE_QUEUE", { 0, EINVAL, EBADF, -1 } },
		{ "AMDKFD_IOC_DESTROY_QUEUE", { 0, EINVAL, EBADF, -1 } },
	};
	unsigned int i, k;

	if (!of("KFD_PRIO_IOC_VERSION", 0)) {
		tap_skip("answers that must have been seen", "the stock driver");
		return;
	}
	if (limit < 10000) {
		tap_skip("answers that must have been seen", "fewer than 10000 calls");
		return;
	}
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		for (k = 0; want[i].err[k] >= 0 && of(want[i].name, want[i].err[k]); k++)
			;
		if (!tap_ok(want[i].err[k] < 0, "%s: each kind of answer was seen", want[i].name))
			tap_diag("not: %s", want[i].err[k] ? strerrorname_np(want[i].err[k]) : "success");
	}
	tap_ok(preempted && (counts->no_work || sim_counter(0, "dispatches")), "%sprocesses were preempted",
	       counts->no_work ? "" : "there was work, and ");
}

int main(int argc, char **argv)
{
	uint64_t seed = sim_seed(), limit = 50000;
	bool coverage, events = false;
	unsigned int failed, i;
	double secs = 600;
	long long pages;
	int c;

	while ((c = getopt(argc, argv, "n:s:r:eb")) != -1)
		switch (c) {
		case 'n': limit = strtoull(optarg, NULL, 0); break;
		case 's': secs = atof(optarg); break;
		case 'r': seed = strtoull(optarg, NULL, 0); break;
		case 'e': events = true; break;
		case 'b': stock_bugs = true; break;
		default: tap_bail("usage: ioctl-fuzz [-n CALLS] [-s SECONDS] [-r SEED] [-e] [-b]");
		}
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counts == MAP_FAILED || !limit || secs <= 0)
		tap_bail("nothing to do");
	tap_diag("seed %llu, %llu calls, %u processes of %u threads", (unsigned long long)seed,
		 (unsigned long long)limit, WORKERS, THREADS);
	open_to_all();
	if (events && sim_poke("/sys/kernel/tracing/events/kfd/enable", "1"))
		tap_bail("no events/kfd");
	for (i = 0; i < WORKERS; i++)
		if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, socks[i]))
			tap_bail("socketpair: %s", strerror(errno));
	coverage = cover_init();
	cover_prepare();
	cover_start(0);
	pages = sim_counter(0, "ram_pages");
	failed = run(seed, limit, secs);
	for (i = 0; i < WORKERS; i++) {
		close(socks[i][0]);
		close(socks[i][1]);
	}
	print_counts();
	tap_eq(failed, 0, "no worker failed%s%s", counts->why[0] ? ": " : "", counts->why);
	tap_eq(counts->overrun, 0, "no call wrote behind its struct");
	tap_eq(sim_counter(0, "resets"), 0, "the GPU did not hang");
	check_counts(counts->total);
	if (coverage)
		cover_print();
	else
		tap_skip("coverage", "the kernel has no CONFIG_KCOV, or debugfs is not mounted");
	if (events)
		tap_eq(sim_poke("/sys/kernel/tracing/events/kfd/enable", "0"), 0, "events off");
	tap_ok(sim_clean(0, pages), "nothing is left on the GPU");
	tap_eq(sim_use(0, true), 0, "which works");
	tap_eq(sim_unload(), 0, "the module can be unloaded");
	tap_eq(sim_load(""), 0, "and loaded");
	return tap_done();
}
