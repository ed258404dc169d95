// SPDX-License-Identifier: GPL-2.0
/* Tests of preemption: what can be seen of the GPU, the engine and its parameters */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <time.h>
#include <unistd.h>
#include "preempt.h"

#define PARAM	"/sys/module/amdgpu/parameters/"
#define WAIT	(20 * SEC)

void nap_ns(uint64_t ns)
{
	nanosleep(&(struct timespec){ .tv_sec = ns / SEC, .tv_nsec = ns % SEC }, NULL);
}

int mapped(unsigned int gpu)
{
	const char *state = sim_read(gpu, "state"), *s = state ? strstr(state, "\nprocesses ") : NULL;
	int n;

	if (!s || sscanf(s, "\nprocesses %*d queues %d", &n) != 1)
		tap_bail("the GPU's debugfs file state has no number of queues");
	return n;
}

bool wait_mapped(unsigned int gpu, int n)
{
	uint64_t begin = kfdc_now(), now;

	while (mapped(gpu) != n) {
		now = kfdc_now();
		if (now - begin > WAIT) {
			tap_diag("%d queues are mapped, not %d:\n%s", mapped(gpu), n,
				 sim_read(gpu, "state"));
			return false;
		}
		/* with --icount only sleep is cheap */
		nap_ns(now - begin < 50 * MS ? 200 * US : 2 * MS);
	}
	return true;
}

bool wait_resets(unsigned int gpu, long long n)
{
	uint64_t end = kfdc_now() + 30 * SEC;

	while (sim_counter(gpu, "resets") < n && kfdc_now() < end)
		nap_ns(5 * MS);
	return sim_counter(gpu, "resets") >= n;
}

struct commands commands(unsigned int gpu)
{
	/* a queue that MES removes is an unmap of the simulated scheduler, too */
	return (struct commands){
		.unmaps = sim_counter(gpu, has_mes(gpu) ? "mes_removes" : "unmaps"),
		.maps = sim_counter(gpu, has_mes(gpu) ? "mes_adds" : "runlists"),
	};
}

static long long read_number(const char *path)
{
	long long v = -1;
	FILE *f = fopen(path, "re");

	if (f) {
		if (fscanf(f, "%lld", &v) != 1)
			v = -1;
		fclose(f);
	}
	return v;
}

static char profile[8][16];

static void read_profiles(void)
{
	const char *s = getenv("KFDPRIO_SIM_GPU");
	unsigned int i, n;

	for (i = 0; s && *s && i < 8; i++) {
		n = strcspn(s, ",");
		snprintf(profile[i], sizeof(profile[i]), "%.*s", (int)n, s);
		s += n + (s[n] == ',');
	}
}

bool has_mes(unsigned int gpu)
{
	read_profiles();
	return !strcmp(profile[gpu], "navi31") || !strcmp(profile[gpu], "gfx12");
}

bool has_occupancy(unsigned int gpu)
{
	read_profiles();
	return !strncmp(profile[gpu], "mi", 2);
}

bool sees_waves(unsigned int gpu)
{
	return has_occupancy(gpu) && strcmp(profile[gpu], "mi300x");
}

/* The order of topology nodes is that of the GPUs; node 0 and others of gpu_id 0 are CPUs */
unsigned int gpu_id(unsigned int gpu)
{
	char path[96];
	long long id;
	int n;

	for (n = 0; n < 64; n++) {
		snprintf(path, sizeof(path), "/sys/class/kfd/kfd/topology/nodes/%d/gpu_id", n);
		id = read_number(path);
		if (id < 0)
			break;
		if (id && !gpu--)
			return id;
	}
	tap_bail("no such GPU in the topology");
}

long long stat_of(const struct actor *a, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), KFD_PROC "/%d/stats_%u/%s", a->pid, gpu_id(a->gpu), name);
	return read_number(path);
}

/* ---- parameters ---- */

static struct {
	const char *name;
	long value;
	bool known;
} params[] = {
	{ "kfd_preempt" }, { "preempt_min_prio" }, { "linger_us" }, { "floor_pct" }, { "floor_period_ms" },
	{ "max_preempt_per_s" }, { "safety_poll_us" }, { "busy_budget_ms" },
	{ "max_switch_pct" }, { "short_grace" }, { "mes_suspend" },
	/* of the simulated GPU and of amdgpu */
	{ "save_us" }, { "restore_us" }, { "queue_preemption_timeout_ms" }, { "poll_us" }, { "poll_idle_us" },
	{ "sdma_gbs" }, { "occupancy_us" }, { "mqd_times" }, { "reset_delay_ms" },
};

static void path_of(char *path, size_t n, const char *name)
{
	snprintf(path, n, PARAM "%s", name);
}

bool in_time(long long ns, long long limit)
{
	bool slow = ns >= limit && sim_debug_kernel();

	if (slow)
		tap_diag("%lld us, not less than %lld: on a debug kernel", ns / 1000, limit / 1000);
	return ns >= 0 && (ns < limit || slow);
}

uint64_t longer(uint64_t ns)
{
	return sim_debug_kernel() ? 8 * ns : ns;
}

long param(const char *name)
{
	char path[96];

	path_of(path, sizeof(path), name);
	return read_number(path);
}

static void read_word(const char *name, char *value, int size)
{
	char path[96];
	FILE *f;

	path_of(path, sizeof(path), name);
	f = fopen(path, "re");
	if (!f || !fgets(value, size, f))
		value[0] = '\0';
	if (f)
		fclose(f);
	value[strcspn(value, "\n")] = '\0';
}

bool param_is(const char *name, const char *text)
{
	char value[16];

	read_word(name, value, sizeof(value));
	return !strcmp(value, text);
}

int param_try(const char *name, const char *text)
{
	char path[96];

	path_of(path, sizeof(path), name);
	return sim_poke(path, text);
}

void param_set(const char *name, long value)
{
	char text[24];
	int err;

	snprintf(text, sizeof(text), "%ld", value);
	err = param_try(name, text);
	if (err)
		tap_bail("parameter %s=%ld: %s", name, value, strerror(err));
}

/* Parameters that are, or may be, a word */
static struct {
	const char *name;
	char value[16];
} words[] = { { "max_switch_policy" }, { "idle_park_ms" } };

static void words_reset(bool read)
{
	char now[16];
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!read) {
			read_word(words[i].name, words[i].value, sizeof(words[i].value));
			continue;
		}
		read_word(words[i].name, now, sizeof(now));
		if (words[i].value[0] && strcmp(now, words[i].value))
			param_try(words[i].name, words[i].value);
	}
}

void params_reset(void)
{
	static bool read;
	unsigned int i;

	/* tests that are about parking set it */
	if (!read)
		param_try("idle_park_ms", "0");
	words_reset(read);

	/* kfd_preempt is the first: to write it closes the breaker */
	for (i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
		if (!read) {
			params[i].value = param(params[i].name);
			params[i].known = params[i].value >= 0;
		} else if (params[i].known && (param(params[i].name) != params[i].value || !i)) {
			param_set(params[i].name, params[i].value);
		}
	}
	read = true;
}

bool debugfs_shows(unsigned int gpu, const char *text)
{
	FILE *f = fopen("/sys/kernel/debug/kfd/preempt", "re");
	bool here = false, shows = false;
	unsigned int id;
	char line[512];

	if (!f)
		tap_bail("debugfs: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "GPU %u", &id) == 1)
			here = id == gpu_id(gpu);
		shows |= here && strstr(line, text);
	}
	fclose(f);
	return shows;
}

/* ---- processes ---- */

void prioritise(const struct actor *a, int prio)
{
	int err = kfd_set(a->pid, prio, NULL);

	if (err)
		tap_bail("priority %d of process %d: %s", prio, a->pid, strerror(err));
}

struct actor online_start(unsigned int gpu, int prio)
{
	struct actor a = actor_start(gpu, 1, 7);

	prioritise(&a, prio);
	if (actor_do(&a, act_request, MS, 0) < 0)
		tap_bail("the online process's first request failed");
	/* nothing but its next ring shows that its doorbells are trapped */
	nap_ns(param("linger_us") * US + 10 * MS);
	return a;
}

struct actor offline_start(unsigned int gpu, long ns, long n)
{
	struct actor a = actor_start(gpu, 1, 7);

	/* there it takes seconds to start the others and a recording: the work must not be over by then */
	if (actor_do(&a, act_submit, longer(ns), n))
		tap_bail("the offline process's work was refused");
	return a;
}

/* Kernel threads whose name begins with @name */
static int threads(const char *name)
{
	DIR *d = opendir("/proc");
	char path[288], comm[32];
	struct dirent *e;
	int n = 0;
	FILE *f;

	if (!d)
		tap_bail("/proc: %s", strerror(errno));
	while ((e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		f = e->d_name[0] >= '0' && e->d_name[0] <= '9' ? fopen(path, "re") : NULL;
		if (!f)
			continue;
		if (fgets(comm, sizeof(comm), f))
			n += !strncmp(comm, name, strlen(name));
		fclose(f);
	}
	closedir(d);
	return n;
}

bool engine_thread(void)
{
	return threads("kfd-prio/");
}

bool engine_thread_named(unsigned int gpu)
{
	char name[32];

	snprintf(name, sizeof(name), "kfd-prio/%u\n", gpu_id(gpu));
	return threads(name) == 1 && !threads("kfd-prio/0\n");
}

struct ran engine_ran(void)
{
	char path[300], comm[32];
	struct ran sum = { 0 };
	long long ns, runs;
	struct dirent *de;
	DIR *dir = opendir("/proc");
	FILE *f;

	if (!dir)
		tap_bail("/proc: %s", strerror(errno));
	while ((de = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", de->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (!fgets(comm, sizeof(comm), f))
			*comm = 0;
		fclose(f);
		if (strncmp(comm, "kfd-prio/", 9))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/schedstat", de->d_name);
		f = fopen(path, "r");
		if (!f || fscanf(f, "%lld %*d %lld", &ns, &runs) != 2)
			tap_bail("%s: %s", path, strerror(errno));
		fclose(f);
		sum.ns += ns;
		sum.runs += runs;
	}
	closedir(dir);
	return sum;
}

int log_lines(const char *what)
{
	static char log[4 << 20];
	const char *s = log;
	int len = klogctl(3 /* SYSLOG_ACTION_READ_ALL */, log, sizeof(log) - 1), n = 0;

	if (len < 0)
		tap_bail("the kernel's log: %s", strerror(errno));
	log[len] = 0;
	while ((s = strstr(s, what))) {
		s += strlen(what);
		n++;
	}
	return n;
}

bool paired(const struct events *e)
{
	const struct event *ev;
	long long open = 0;
	size_t i;

	for (i = 0; i < e->nr; i++) {
		ev = &e->event[i];
		if (!strcmp(ev->name, "kfd_preempt_begin"))
			open++;
		else if (!strcmp(ev->name, "kfd_preempt_end") && --open < 0)
			return false;
	}
	return !open;
}

bool completes(const struct actor *a)
{
	long left = actor_do(a, act_wait, 30000, 0);

	if (!left) {
		nap_ns(5 * MS);	/* nothing completes twice */
		left = actor_do(a, act_left, 0, 0);
	}
	if (left)
		tap_diag("process %d: %ld not complete", a->pid, left);
	return !left;
}

void pressure_on(const struct actor *a)
{
	char text[16];
	int err;

	snprintf(text, sizeof(text), "%d", a->pid);
	err = sim_write(0, "evict", text);
	if (err)
		tap_bail("evict %d: %s", a->pid, strerror(err));
}

void machine_sleeps(bool down)
{
	int err = sim_write(0, "sleep", down ? "1" : "0");

	if (err)
		tap_bail("sleep: %s", strerror(err));
}

void reset_gpu(void)
{
	int err = sim_write(0, "reset", "1");

	if (err)
		tap_bail("reset: %s", strerror(err));
}
