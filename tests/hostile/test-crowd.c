// SPDX-License-Identifier: GPL-2.0
/*
 * What processes of lower priority can cost together. Each of them goes on doing one thing that makes KFD or the engine
 * update the runlist; a request of the online process has at most one update more beside many of them than beside one.
 *
 * The guest has one CPU, so that times say little here: updates are counted, in the driver's events.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/kfd_ioctl.h>
#include "dbgtrap.h"
#include "hostile.h"

#define MANY		(long_form ? 100u : 40u)
#define REQUESTS	(long_form ? 20 : 5)
#define REQUEST_NS	(20 * MS)
#define PAUSE_NS	(40 * MS)
#define CALL_NS		(10 * MS)	/* between two calls of a debugger that the driver lets through: KFD_PRIO_DEBUG_NS */
#define EVERY_NS	(15 * MS)	/* each does something so often: at least once in a request */

enum { COUNT_DONE, COUNT_STOP, COUNT_FAILED, COUNT_KERNELS, COUNT_BUSY };

/* ---- in a user's process ---- */

static struct kfdc_bo userptr;

static long ring(unsigned int n)
{
	(void)n;
	/* it may be off for long */
	return kfdc_queue_full(me.q[0]) ? 0 : kfdc_dispatch(me.q[0], &(struct kfdc_dispatch){ .ns = 10 * US });
}

static long update(unsigned int n)
{
	return kfdc_queue_update(me.q[0], 99 + n % 2, 7);
}

static long toggle(unsigned int n)
{
	return kfdc_queue_update(me.q[0], n % 2 ? 100 : 0, 7);
}

static long cu_mask(unsigned int n)
{
	uint32_t mask[2] = { n % 2 ? 0xffff : 0xffffffff, 0xffffffff };
	struct kfd_ioctl_set_cu_mask_args a = { .queue_id = me.q[0]->id, .num_cu_mask = 64, .cu_mask_ptr = (uintptr_t)mask };

	return ioctl(kfdc_fd(me.c), AMDKFD_IOC_SET_CU_MASK, &a) ? -errno : 0;
}

/* Each is as it was before: to raise it would need a right */
static long set(unsigned int n)
{
	(void)n;
	return -kfd_set(getpid(), 5, NULL);
}

static long create(unsigned int n)
{
	static struct kfdc_queue *q;
	long r;

	if (n % 2)
		return kfdc_queue_destroy(q);
	r = kfdc_queue_create(me.c, NULL, &q);
	return r;
}

/* A process that comes, has a queue, and ends */
static long come_and_go(unsigned int n)
{
	struct kfdc_queue *q;
	struct kfdc *c;
	int status;
	pid_t pid = fork();

	(void)n;
	if (!pid)
		_exit(kfdc_open(&c, 0) || kfdc_queue_create(c, NULL, &q) ||
		      kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 10 * US }));
	return pid < 0 || waitpid(pid, &status, 0) != pid || status ? -EIO : 0;
}

static long evict(unsigned int n)
{
	if (!n)
		return 0;
	if (madvise(userptr.va, userptr.size, MADV_DONTNEED))
		return -errno;
	memset(userptr.va, n, userptr.size);
	return 0;
}

static long trap(enum dbgtrap_op op, struct dbgtrap *t)
{
	return dbgtrap(kfdc_fd(me.c), getpid(), op, t);
}

static long debug_mode(unsigned int n)
{
	return trap(TRAP_SET_LAUNCH_MODE, &(struct dbgtrap){ .launch.mode = n % 2 });
}

static long debug_flags(unsigned int n)
{
	long r = trap(TRAP_SET_FLAGS, &(struct dbgtrap){ .flags.flags = n % 2 });

	/* A GPU without precise memory operations: no flag can be set, and to clear them does the same work */
	return r == -EACCES ? trap(TRAP_SET_FLAGS, &(struct dbgtrap){ 0 }) : r;
}

static long debug_watch(unsigned int n)
{
	static struct dbgtrap t;

	if (n % 2)
		return trap(TRAP_CLEAR_WATCH, &(struct dbgtrap){ .clear = { .gpu_id = kfdc_gpu_id(me.c), .id = t.watch.id } });
	t = (struct dbgtrap){ .watch = { .addr = (uintptr_t)me.q[0]->ring, .mask = ~0u, .gpu_id = kfdc_gpu_id(me.c) } };
	return trap(TRAP_SET_WATCH, &t);
}

static long debug_suspend(unsigned int n)
{
	uint32_t ids[1] = { me.q[0]->id };
	struct dbgtrap t = {};
	long r;

	if (n % 2) {
		t.resume.ids = (uintptr_t)ids;
		t.resume.count = 1;
	} else {
		t.suspend.ids = (uintptr_t)ids;
		t.suspend.count = 1;
	}
	r = trap(n % 2 ? TRAP_RESUME : TRAP_SUSPEND, &t);
	return r == 1 ? 0 : r < 0 ? r : -EPROTO;
}

static long runtime(unsigned int n)
{
	struct dbgtrap_runtime a = { .mode = n % 2 };

	return ioctl(kfdc_fd(me.c), IOC_RUNTIME_ENABLE, &a) ? -errno : 0;
}

/* A process without a debugger, for which KFD would wait, and without a queue, with which KFD enables nothing */
static long be_debuggable(void)
{
	struct dbgtrap_runtime on = { .mode = 1 };

	if (!ioctl(kfdc_fd(me.c), IOC_RUNTIME_ENABLE, &on))
		return 0;
	return errno == EINVAL || errno == ENOTTY ? not_here("this kernel's amdkfd has no AMDKFD_IOC_DBG_TRAP") : -errno;
}

/* A process that is its own debugger, for which it needs no right */
static long be_debugged(void)
{
	struct dbgtrap_runtime_info info;
	struct dbgtrap t = { .enable = { .info = (uintptr_t)&info, .info_size = sizeof(info) } };
	struct dbgtrap_queue entry[MAX_QUEUES];
	struct dbgtrap all = { .snapshot = { .exceptions = EC_MASK(EC_NEW_QUEUE), .buf = (uintptr_t)entry,
					     .count = MAX_QUEUES, .entry_size = sizeof(entry[0]) } };
	int fds[2];
	long r = be_debuggable();

	if (r)
		return r;
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	t.enable.fd = fds[1];
	r = trap(TRAP_ENABLE, &t);
	if (!r && info.state == RUNTIME_ENABLED_BUSY)
		__atomic_fetch_add(&shared->count[COUNT_BUSY], 1, __ATOMIC_SEQ_CST);
	r = r ? r : act_create(1, 7);
	return r ? r : trap(TRAP_QUEUE_SNAPSHOT, &all);
}

static long plain(void)
{
	void *p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long r;

	if (p == MAP_FAILED)
		return -errno;
	memset(p, 1, 65536);
	r = kfdc_userptr(me.c, p, 65536, &userptr);
	return r ? r : act_create(1, 7);
}

/**
 * struct deed - what each of many processes does again and again
 * @test: to which it belongs
 * @what: the same in words
 * @again: does it; @n counts
 * @scarce: only some can do it at a time: KFD has four address watches for all processes of a GPU
 */
static const struct deed {
	const char *test, *what;
	long (*again)(unsigned int n);
	bool scarce;
} deeds[] = {
	{ "crowd", "ring", ring },
	{ "crowd", "update a queue", update },
	{ "crowd", "switch a queue on and off", toggle },
	{ "crowd", "set a CU mask", cu_mask },
	{ "crowd", "set a priority", set },
	{ "crowd", "create and destroy a queue", create },
	{ "crowd", "come and go", come_and_go },
	{ "crowd", "are evicted by their userptr", evict },
	{ "crowd_debug", "set the launch mode of their waves", debug_mode },
	{ "crowd_debug", "set a debugger's flags", debug_flags },
	{ "crowd_debug", "watch an address", debug_watch, .scarce = true },
	{ "crowd_debug", "suspend and resume their queue", debug_suspend },
	{ "crowd_runtime", "enable and disable the runtime", runtime },
	{}
};

static long act_begin(long unused, long unused2)
{
	(void)unused, (void)unused2;
	if (!strcmp(test_name, "crowd_debug"))
		return be_debugged();
	return strcmp(test_name, "crowd_runtime") ? plain() : be_debuggable();
}

static long act_deed(long which, long seed)
{
	uint64_t state = sim_seed() * 1000 + seed;
	unsigned int n;
	long r = 0;

	for (n = 0; !shared->count[COUNT_STOP]; n++) {
		nap_ns(EVERY_NS / 2 + sim_random(&state) % EVERY_NS);
		r = deeds[which].again(n);
		if (r)
			__atomic_fetch_add(&shared->count[COUNT_FAILED], 1, __ATOMIC_SEQ_CST);
		__atomic_fetch_add(&shared->count[COUNT_DONE], 1, __ATOMIC_SEQ_CST);
	}
	return 0;
}

/* ---- the online process beside them ---- */

/* The most unmaps while one request was under way, and their mean */
static unsigned int unmaps_of_requests(const struct events *e, double *mean)
{
	unsigned int i, n, most = 0, sum = 0;
	const struct event *ev;

	for (i = 0; i < REQUESTS; i++) {
		for (n = 0, ev = NULL; (ev = events_find(e, ev, "kfd_unmap_queues", NULL, 0));)
			n += ev->ns >= shared->begin[i] && ev->ns < shared->end[i];
		most = n > most ? n : most;
		sum += n;
	}
	*mean = (double)sum / REQUESTS;
	return most;
}

static unsigned int beside(const struct actor *on, struct actor *user, unsigned int n, unsigned int which, struct times *t)
{
	uint64_t done, failed;
	struct events *e;
	unsigned int i, most;
	double mean;
	long r;

	shared->count[COUNT_STOP] = shared->count[COUNT_DONE] = shared->count[COUNT_FAILED] = 0;
	for (i = 0; i < n; i++)
		actor_tell(&user[i], act_deed, which, i);
	nap_ns(3 * EVERY_NS);
	e = events_start_one("kfd", "kfd_unmap_queues");
	done = shared->count[COUNT_DONE];
	*t = requests(on, REQUESTS, REQUEST_NS, PAUSE_NS);
	events_stop(e);
	done = shared->count[COUNT_DONE] - done;
	failed = shared->count[COUNT_FAILED];
	shared->count[COUNT_STOP] = 1;
	for (i = 0; i < n; i++)
		if (!actor_hear(&user[i], &r, 60000))
			tap_bail("%s: process %d does not answer", deeds[which].what, user[i].pid);
	most = unmaps_of_requests(e, &mean);
	events_free(e);
	tap_diag("%u that %s: %llu times, %llu failed; requests of 20 ms: P50 %llu us, longest %llu us; unmaps in one: %.1f, most %u",
		 n, deeds[which].what, (unsigned long long)done, (unsigned long long)failed,
		 (unsigned long long)t->p50 / 1000, (unsigned long long)t->max / 1000, mean, most);
	if (!done || (failed && !deeds[which].scarce && !shared->count[COUNT_BUSY]))
		tap_ok(false, "%s: processes that %s did it", test_name, deeds[which].what);
	return most;
}

/*
 * The updates that are allowed in a request beside many processes, of which the longest took @ns: one more than beside
 * one of them. A request that is longer than the interval of a debugger's calls has one update for each call more:
 * beside one process, which calls less often than that, it may have had fewer.
 */
static unsigned int updates_allowed(unsigned int one, unsigned int more, uint64_t ns)
{
	unsigned int calls = 1 + ns / CALL_NS;

	if (!strcmp(test_name, "crowd") || has_mes(0))
		return one + more;
	return 1 + (one > calls ? one : calls);
}

/* MES takes queues one by one: one update is a removal of each queue */
static void crowd(void)
{
	unsigned int which, i, one, many, allowed, more = has_mes(0) ? MANY : 1;
	struct actor on, *user;
	struct times t;
	long r = 0;

	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 2048, 2048 });
	user = calloc(MANY, sizeof(*user));
	if (!user)
		tap_bail("out of memory");
	on = online_start(0, 12);
	for (i = 0; i < MANY && !r; i++) {
		user[i] = user_start(0);
		r = actor_do(&user[i], act_begin, 0, 0);
	}
	if (r == NOT_HERE)
		tap_skip(test_name, user_why());
	else if (r)
		tap_bail("%s: process %u: %s", test_name, i, strerror(-r));
	/* without a trap for each VMID (GFX10), KFD lets one process be debugged at a time: the calls of the others fail */
	if (shared->count[COUNT_BUSY])
		tap_eq(shared->count[COUNT_BUSY], MANY - 1, "%s: this GPU lets one process be debugged at a time", test_name);
	for (which = 0; deeds[which].test && !r; which++) {
		if (strcmp(deeds[which].test, test_name))
			continue;
		one = beside(&on, user, 1, which, &t);
		many = beside(&on, user, MANY, which, &t);
		allowed = updates_allowed(one, more, t.max);
		tap_ok(many <= allowed, "%s: %u processes that %s: %u updates in a request, %u with one of them, at most %u",
		       test_name, MANY, deeds[which].what, many, one, allowed);
	}
	for (i = 0; i < MANY; i++)
		actor_kill(&user[i]);
	free(user);
	actor_kill(&on);
}

/* ---- an online process that always has work ---- */

#define KERNEL_NS	(200 * US)
#define BATCH		8

/* Two batches in flight until the parent says stop */
static long act_busy(long unused, long unused2)
{
	struct kfdc_signal *s[2];
	unsigned int i, n;
	long r = 0;

	(void)unused, (void)unused2;
	setpriority(PRIO_PROCESS, 0, -20);
	for (i = 0; i < 2 && !r; i++)
		r = kfdc_signal_create(me.c, true, &s[i]);
	for (n = 0; !r && !shared->count[COUNT_STOP]; n++) {
		if (n > 1) {
			r = kfdc_signal_wait(s[n % 2], 10 * SEC);
			shared->count[COUNT_KERNELS] += BATCH;
		}
		kfdc_signal_set(s[n % 2], 1);
		for (i = 0; i < BATCH && !r; i++)
			r = kfdc_dispatch(me.q[0], &(struct kfdc_dispatch){
				.ns = KERNEL_NS, .barrier = true, .signal = i == BATCH - 1 ? s[n % 2] : NULL });
	}
	return r;
}

/* Its queue has had work once, and has none: it is not preempted for its work */
static long act_idle_updates(long updates, long unused)
{
	unsigned int i;
	long r = act_create(1, 7);

	(void)unused;
	if (!r)
		r = act_request(10 * US, 0) < 0 ? -EIO : 0;
	for (i = 0; !r && !shared->count[COUNT_STOP]; i++) {
		if (updates) {
			r = update(i);
			shared->count[COUNT_DONE]++;
		} else {
			nap_ns(10 * MS);
		}
	}
	return r;
}

/* Kernels of the online process in a second, beside an idle process that updates its queue, or not */
static uint64_t kernels_beside(bool updates)
{
	struct actor on = online_start(0, 12), off = user_start(0);
	uint64_t kernels, done;
	long r;

	shared->count[COUNT_STOP] = shared->count[COUNT_KERNELS] = shared->count[COUNT_DONE] = 0;
	actor_tell(&off, act_idle_updates, updates, 0);
	nap_ns(20 * MS);
	actor_tell(&on, act_busy, 0, 0);
	/* past the first second's floor */
	nap_ns(300 * MS);
	kernels = shared->count[COUNT_KERNELS];
	done = shared->count[COUNT_DONE];
	nap_ns(SEC);
	kernels = shared->count[COUNT_KERNELS] - kernels;
	done = shared->count[COUNT_DONE] - done;
	shared->count[COUNT_STOP] = 1;
	if (!actor_hear(&on, &r, 60000) || r || !actor_hear(&off, &r, 60000) || r)
		tap_bail("busy_updates: a process failed: %s", strerror(-r));
	tap_diag("beside an idle process and %llu updates a second: %llu kernels of 0.2 ms a second", (unsigned long long)done,
		 (unsigned long long)kernels);
	actor_kill(&on);
	actor_kill(&off);
	wait_mapped(0, 0);
	return kernels;
}

static void busy_updates(void)
{
	uint64_t without = kernels_beside(false), with = kernels_beside(true);

	tap_ok(with >= without * 9 / 10,
	       "busy_updates: an online process that always has work keeps 9 of 10 kernels beside a stream of updates (%llu, %llu)",
	       (unsigned long long)with, (unsigned long long)without);
}

/* ---- doorbells without a pause ---- */

#define RINGERS	10

static long act_ring_on(long unused, long unused2)
{
	(void)unused, (void)unused2;
	while (!shared->count[COUNT_STOP])
		kfdc_ring(me.q[0]);
	return 0;
}

/*
 * Processes without work ring and ring. The kernel may take the CPU from one of them in the fault of its doorbell, and
 * run the others, for milliseconds: the fault must not hold the lock that a request needs.
 */
static void ring_storm(void)
{
	struct actor on = online_start(0, 12), user[RINGERS];
	struct times t;
	unsigned int i;
	long r = 0;

	for (i = 0; i < RINGERS; i++) {
		user[i] = user_start(0);
		r = actor_do(&user[i], act_create, 1, 7);
		if (r)
			tap_bail("ring_storm: a user's queue: %s", strerror(-r));
	}
	for (i = 0; i < RINGERS; i++)
		actor_tell(&user[i], act_ring_on, 0, 0);
	nap_ns(50 * MS);
	t = requests(&on, 60, MS, 20 * MS);
	shared->count[COUNT_STOP] = 1;
	for (i = 0; i < RINGERS; i++) {
		if (!actor_hear(&user[i], &r, 60000) || r)
			tap_bail("ring_storm: a user: %s", strerror(-r));
		actor_kill(&user[i]);
	}
	tap_diag("requests of 1 ms beside %u processes that ring without a pause: P50 %llu us, longest %llu us", RINGERS,
		 (unsigned long long)t.p50 / 1000, (unsigned long long)t.max / 1000);
	tap_ok(t.max <= 2 * MS, "ring_storm: no request of 1 ms takes 2 ms");
	actor_kill(&on);
}

const struct test tests_crowd[] = {
	{ "ring_storm", ring_storm },
	{ "crowd", crowd },
	{ "crowd_debug", crowd },
	{ "crowd_runtime", crowd },
	{ "busy_updates", busy_updates },
	{}
};
