// SPDX-License-Identifier: GPL-2.0
/*
 * soak SECONDS [SEED] - everything that can happen to preemption, at random, for so many seconds of guest
 * time: priorities, kills, queues that come and go, evictions, resets, parameters.  At the end
 * everything stops, and nothing may be left, lost or repeated.  TAP; a line of status every 5 s.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "soak.h"

#define VRAM_MB		128
#define EVENTS		"/sys/kernel/tracing/events/kfd/"
#define RESET_EVERY	(15 * SEC)

struct shared *shared;
static uint64_t seed;
static struct {
	long born, killed, dead, failed, resets, evictions, pressures, priorities, params, ended;
	long sent, done, lost, repeated, disordered, copies, corrupt;
} sum;

static unsigned int rnd(unsigned int n)
{
	return sim_random(&seed) % n;
}

/* ---- how many preemptions: a histogram in the kernel, which loses nothing ---- */

static bool counted;	/* events are */

/* False: the kernel has no CONFIG_HIST_TRIGGERS (a debug kernel) */
static bool count_events(const char *event, bool on)
{
	char path[128];
	int err;

	snprintf(path, sizeof(path), EVENTS "%s/hist", event);
	if (access(path, F_OK))
		return false;
	snprintf(path, sizeof(path), EVENTS "%s/trigger", event);
	err = sim_poke(path, on ? "hist:keys=reason" : "!hist:keys=reason");
	if (err)
		tap_bail("%s: %s", path, strerror(err));
	return true;
}

static long long hits(const char *event)
{
	char path[128], line[256];
	long long n = 0;
	FILE *f;

	if (!counted)
		return 0;
	snprintf(path, sizeof(path), EVENTS "%s/hist", event);
	f = fopen(path, "re");
	if (!f)
		tap_bail("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " Hits: %lld", &n) == 1)
			break;
	fclose(f);
	return n;
}

/* ---- the workers ---- */

static void settle(struct slot *s)
{
	sum.sent += s->sent;
	sum.done += s->done;
	sum.lost += s->lost;
	sum.repeated += s->repeated;
	sum.disordered += s->disordered;
	sum.copies += s->copies;
	sum.corrupt += s->corrupt;
	memset(s, 0, sizeof(*s));
}

static void start(struct slot *s)
{
	uint64_t number = sim_random(&seed);
	pid_t pid;

	s->born = shared->resets;
	fflush(stdout);
	pid = fork();
	if (!pid)
		worker(s, number);
	if (pid < 0)
		tap_bail("fork: %s", strerror(errno));
	s->pid = pid;
	sum.born++;
}

/* One that has ended */
static void buried(struct slot *s, int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == WORKER_RESET) {
		sum.dead++;
		s->sent = s->done;	/* the reset took what was under way */
	} else if (WIFEXITED(status) && !WEXITSTATUS(status) && s->finished) {
		sum.ended++;
	} else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
		sum.killed++;
		s->sent = s->done;
	} else {
		tap_diag("worker %d: wait status %#x: %s", s->pid, status, s->why);
		sum.failed++;
	}
	settle(s);
}

static void reap(void)
{
	struct slot *s;
	int status, i;

	for (i = 0; i < WORKERS; i++) {
		s = &shared->slot[i];
		if (s->pid && waitpid(s->pid, &status, WNOHANG) == s->pid)
			buried(s, status);
		if (!s->pid && !shared->stop)
			start(s);
	}
}

/* ---- what happens to them ---- */

static void torment_params(void)
{
	static const struct {
		const char *name;
		unsigned int min, max;
	} k[] = {
		{ "kfd_preempt", 0, 1 }, { "preempt_min_prio", 6, 14 }, { "linger_us", 0, 5000 },
		{ "floor_pct", 2, 60 }, { "floor_period_ms", 50, 2000 }, { "max_preempt_per_s", 5, 3000 },
		{ "safety_poll_us", 1000, 100000 }, { "busy_budget_ms", 2, 200 },
		{ "max_switch_pct", 0, 100 }, { "short_grace", 0, 1 }, { "mes_suspend", 0, 1 }, { "idle_park_ms", 0, 20 },
	};
	unsigned int i = rnd(sizeof(k) / sizeof(k[0]));

	param_set(k[i].name, k[i].min + rnd(k[i].max - k[i].min + 1));
	if (!i && !param("kfd_preempt") && rnd(4))
		param_set("kfd_preempt", 1);
	sum.params++;
}

static void torment(void)
{
	static unsigned long long pressure;
	static uint64_t last_reset;
	struct slot *s = &shared->slot[rnd(WORKERS)];
	unsigned int what = rnd(100);
	char text[32];
	int err;

	if (!last_reset)
		last_reset = kfdc_now();
	if (what < 45) {
		err = rnd(4) ? kfd_set(s->pid, (int)rnd(17) - 1, NULL) : kfd_may_park(s->pid, rnd(2));
		/* it may be a zombie; the GPU may be reset */
		if (err && err != ESRCH && err != EIO && err != ETIME)
			tap_bail("priority: %s", strerror(err));
		sum.priorities++;
	} else if (what < 50) {
		kill(s->pid, SIGKILL);
	} else if (what < 60) {
		snprintf(text, sizeof(text), "%d", s->pid);
		sum.evictions += !sim_write(0, "evict", text);
	} else if (what < 70) {
		pressure = pressure ? 0 : (VRAM_MB - 8 - rnd(8)) * 1048576ull;
		snprintf(text, sizeof(text), "%llu", pressure);
		sum.pressures += !sim_write(0, "vram_pressure", text);
	} else if (what < 85) {
		torment_params();
	} else if (kfdc_now() - last_reset > RESET_EVERY && !rnd(10)) {
		last_reset = kfdc_now();
		/* first: calls fail while it goes on, and whoever was born before has dead queues */
		shared->resets++;
		sim_write(0, "reset", "1");
		/* it may have hit a preemption */
		param_set("kfd_preempt", 1);
		sum.resets++;
	}
}

static void status(uint64_t start_ns)
{
	long sent = sum.sent;
	int i;

	for (i = 0; i < WORKERS; i++)
		sent += shared->slot[i].sent;
	tap_diag("%3llu s: %ld packets, %lld preemptions, %ld processes, %ld killed, %ld evictions, %ld resets",
		 (unsigned long long)(kfdc_now() - start_ns) / SEC, sent,
		 hits("kfd_preempt_begin"), sum.born, sum.killed, sum.evictions, sum.resets);
}

static void stop(void)
{
	uint64_t end = kfdc_now() + DRAIN_NS + 30 * SEC;
	int i, left = 1;

	sim_write(0, "vram_pressure", "0");
	params_reset();
	shared->stop = true;
	while (left && kfdc_now() < end) {
		nap_ns(20 * MS);
		reap();
		for (left = 0, i = 0; i < WORKERS; i++)
			left += shared->slot[i].pid != 0;
	}
	if (left)
		tap_diag("%d processes do not end:\n%s", left, sim_read(0, "state"));
	tap_eq(left, 0, "all processes end");
	for (i = 0; i < WORKERS; i++)
		if (shared->slot[i].pid) {
			kill(shared->slot[i].pid, SIGKILL);
			waitpid(shared->slot[i].pid, NULL, 0);
			settle(&shared->slot[i]);
		}
}

int main(int argc, char **argv)
{
	double secs = argc > 1 ? atof(argv[1]) : 60;
	uint64_t start_ns, end, told;
	char params[64];
	long long pages, resets;
	int err;

	seed = argc > 2 ? strtoull(argv[2], NULL, 0) : sim_seed();
	if (secs <= 0)
		tap_bail("usage: soak SECONDS [SEED]");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	tap_diag("seed %llu, %.0f s", (unsigned long long)seed, secs);
	/* little VRAM, so that there is pressure */
	snprintf(params, sizeof(params), "vram_mb=%d queue_preemption_timeout_ms=3000", VRAM_MB);
	err = sim_unload();
	err = err ? err : sim_load(params);
	if (err)
		tap_bail("the module cannot be loaded anew: %s", strerror(err));
	params_reset();
	pages = sim_counter(0, "ram_pages");
	resets = sim_counter(0, "resets");
	counted = count_events("kfd_preempt_begin", true) && count_events("kfd_preempt_end", true) &&
		  count_events("kfd_park", true) && count_events("kfd_unpark", true);
	start_ns = kfdc_now();
	told = start_ns;
	end = start_ns + (uint64_t)(secs * SEC);
	while (kfdc_now() < end) {
		reap();
		torment();
		nap_ns(rnd(30) * MS);
		if (kfdc_now() - told >= 5 * SEC) {
			told = kfdc_now();
			status(start_ns);
		}
	}
	stop();
	status(start_ns);
	tap_diag("%ld priorities, %ld parameters, %ld changes of memory pressure, %ld SDMA copies, %ld ended by a reset",
		 sum.priorities, sum.params, sum.pressures, sum.copies, sum.dead);
	tap_eq(sum.failed, 0, "no process failed");
	tap_eq(sim_counter(0, "resets") - resets, sum.resets, "amdkfd asked for no reset");
	tap_ok(!sum.lost && sum.done == sum.sent, "no packet is lost: %ld sent, %ld complete", sum.sent,
	       sum.done);
	tap_eq(sum.repeated, 0, "none completes twice");
	tap_eq(sum.disordered, 0, "none overtakes another");
	tap_eq(sum.corrupt, 0, "no copy is wrong");
	/* not more than that: an emulated CPU, and a busy host */
	tap_ok(sum.done > 20 * secs, "they did work");
	if (counted) {
		tap_ok(hits("kfd_preempt_begin") > 2 * secs, "and there were %lld preemptions",
		       hits("kfd_preempt_begin"));
		tap_eq(hits("kfd_preempt_end"), hits("kfd_preempt_begin"), "each of which has ended");
		tap_ok(hits("kfd_park") > secs / 10, "processes were parked %lld times", hits("kfd_park"));
		tap_eq(hits("kfd_unpark"), hits("kfd_park"), "and returned, or ended, each time");
		count_events("kfd_preempt_begin", false);
		count_events("kfd_preempt_end", false);
		count_events("kfd_park", false);
		count_events("kfd_unpark", false);
	} else {
		tap_skip("how many preemptions there were", "no CONFIG_HIST_TRIGGERS");
	}
	tap_ok(sim_clean(0, pages), "nothing is left on the GPU");
	tap_eq(sim_use(0, true), 0, "which works");
	tap_eq(sim_unload(), 0, "the module can be unloaded");
	tap_ok(!engine_thread(), "and its thread is gone");
	err = sim_load("");
	if (err)
		tap_bail("the module cannot be loaded anew: %s", strerror(err));
	return tap_done();
}
