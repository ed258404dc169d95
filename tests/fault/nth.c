// SPDX-License-Identifier: GPL-2.0
/*
 * nth - every operation with its 1st, 2nd, 3rd, ... allocation or copy from or to the user failing
 *
 *   nth [-v] [OPERATION...]		in the VM with a debug kernel: tests/vm/run --debug -- ...
 *   nth -l				list the operations
 *
 * /proc/self/fail-nth makes the N-th fault site fail that the calling thread comes to: slab and page
 * allocations, copy_from_user() and copy_to_user().  Each N is a child of its own: it makes ready,
 * notes what there is, arms, does the one thing, disarms, and
 *  - an error must be one that the interface names, and must have changed nothing, but for what the
 *    interface says of EFAULT: the result could not be written, what was asked for is done;
 *  - the same thing, done again without a fault, must succeed.
 * Three in a row that nothing comes to end it: the operation must have succeeded.
 *
 * "load", loading the module, has over a thousand sites and takes seconds: SAMPLES of them, evenly spread from a
 * place that the seed chooses.  It must be refused or, if it is a GPU that cannot be had, leave the module
 * without one; it must unload, and load again with its GPU.
 */
#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <linux/kfd_ioctl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kfd.h"
#include "kfdclient.h"
#include "simgpu.h"
#include "tap.h"

#define MAX_SITES	2000	/* of one operation: more is an endless loop */
#define PATIENCE_MS	120000	/* for one child */
#define STATE_MAX	8192
#define MISSES		3	/* in a row: nothing comes to any more */
#define SAMPLES		40	/* of load */
#define FAR		1000000	/* sites that nothing comes to */

/* ---- faults ---- */

static int nth_fd = -1;		/* /proc/thread-self/fail-nth of this process */
static unsigned long armed_cmd;	/* the ioctl that is to be struck, 0: none */
static unsigned int armed_nth;	/* at which site, 0: not at all */
static bool hit;		/* it was */
static unsigned int left;	/* sites until it would have been */

static void arm(void)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", armed_nth);

	hit = false;
	if (armed_nth && pwrite(nth_fd, text, len, 0) != len)
		tap_bail("/proc/thread-self/fail-nth: %s", strerror(errno));
}

/* Leaves errno alone */
static void disarm(void)
{
	int err = errno;
	char text[16] = "";

	if (armed_nth) {
		/* the reading itself may be struck: then nothing before it was */
		hit = pread(nth_fd, text, sizeof(text) - 1, 0) > 0 && !atoi(text);
		left = atoi(text);
		/* and so may be this */
		while (pwrite(nth_fd, "0", 1, 0) != 1)
			;
		armed_nth = 0;
	}
	errno = err;
}

/* The client library's, too: so that only the call in question is struck */
int ioctl(int fd, unsigned long cmd, ...)
{
	va_list ap;
	void *arg;
	int ret;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (cmd != armed_cmd)
		return syscall(SYS_ioctl, fd, cmd, arg);
	armed_cmd = 0;
	arm();
	ret = syscall(SYS_ioctl, fd, cmd, arg);
	disarm();
	return ret;
}

static void fault_attr(const char *dir, const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", dir, name);
	if (sim_poke(path, value))
		tap_bail("%s: %s: a kernel with fault injection is needed, see tests/vm/run --debug", path,
			 strerror(errno));
}

/* Which sites there are: all, those that may wait for memory as well */
static void faults_init(bool verbose)
{
	static const char *const dirs[] = { "failslab", "fail_page_alloc", "fail_usercopy" };
	unsigned int i;

	for (i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		fault_attr(dirs[i], "verbose", verbose ? "2" : "0");
	fault_attr("failslab", "ignore-gfp-wait", "N");
	fault_attr("fail_page_alloc", "ignore-gfp-wait", "N");
	fault_attr("fail_page_alloc", "ignore-gfp-highmem", "N");
	fault_attr("fail_page_alloc", "min-order", "0");
}

/* ---- what there is ---- */

static char *put(char *p, char *end, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static char *put(char *p, char *end, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(p, end - p, fmt, ap);
	va_end(ap);
	return n < end - p ? p + n : end;
}

/* Names below a directory of sysfs, sorted, and what some of the files say */
static char *put_tree(char *p, char *end, const char *dir, unsigned int depth)
{
	struct dirent **e;
	char path[512], text[64];
	int n = scandir(dir, &e, NULL, alphasort), i, fd;
	ssize_t len;

	for (i = 0; i < n; i++) {
		if (e[i]->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", dir, e[i]->d_name);
			p = put(p, end, "%s", e[i]->d_name);
			if (e[i]->d_type == DT_DIR && depth) {
				p = put(p, end, " { ");
				p = put_tree(p, end, path, depth - 1);
				p = put(p, end, "}");
			} else if (!strcmp(e[i]->d_name, "priority") || !strcmp(e[i]->d_name, "size")) {
				fd = open(path, O_RDONLY | O_CLOEXEC);
				len = read(fd, text, sizeof(text) - 1);
				close(fd);
				text[len > 0 ? len : 0] = '\0';
				p = put(p, end, "=%.*s", (int)strcspn(text, "\n"), text);
			}
			p = put(p, end, " ");
		}
		free(e[i]);
	}
	if (n >= 0)
		free(e);
	return p;
}

/* What kfdprio -l and sysfs show of this process, without what time changes */
static void state(char *buf)
{
	struct kfd_prio_list_entry e[64];
	struct kfd_prio_list_args l = {
		.entries = (uintptr_t)e, .entry_size = sizeof(*e), .nr_entries = 64,
	};
	struct kfd_prio_get_args g = kfd_get(getpid());
	int kfd = open("/dev/kfd", O_ACCMODE | O_CLOEXEC);
	/* cppcheck-suppress ctuPointerArith; one past the end is no overflow */
	char *end = buf + STATE_MAX, *p = buf, dir[64];
	unsigned int i;

	memset(buf, 0, STATE_MAX);
	if (kfd < 0 || ioctl(kfd, KFD_PRIO_IOC_LIST, &l))
		tap_bail("KFD_PRIO_IOC_LIST: %s", strerror(errno));
	close(kfd);
	p = put(p, end, "priority %d effective %d queues %u\n", g.priority, g.effective, g.nr_queues);
	for (i = 0; i < l.nr_entries && i < 64; i++)
		if (e[i].pid == getpid())
			p = put(p, end, "gpu %u priority %d effective %d queues %u flags %#x\n", e[i].gpu_id,
				e[i].priority, e[i].effective, e[i].nr_queues, e[i].flags);
	snprintf(dir, sizeof(dir), "/sys/class/kfd/kfd/proc/%d", getpid());
	put_tree(p, end, dir, 2);
}

/* ---- the operations ---- */

static struct kfdc *gpu;
static struct kfdc_queue *queue;
static int kfd, pidfd;
static volatile uint64_t *bell;

static void need_file(void)
{
	kfd = open("/dev/kfd", O_ACCMODE | O_CLOEXEC);
	pidfd = syscall(SYS_pidfd_open, getpid(), 0);
	if (kfd < 0 || pidfd < 0)
		tap_bail("/dev/kfd: %s", strerror(errno));
}

static void need_gpu(void)
{
	need_file();
	if (kfdc_open(&gpu, 0))
		tap_bail("%s", kfdc_error());
}

static void need_queue(void)
{
	struct kfdc_queue_attr attr = KFDC_QUEUE_DEFAULT;

	need_gpu();
	attr.packets = 64;
	if (kfdc_queue_create(gpu, &attr, &queue))
		tap_bail("%s", kfdc_error());
	bell = queue->doorbell;
}

static void need_priority(void)
{
	int err;

	need_queue();
	err = kfd_set(getpid(), 9, NULL);
	if (err)
		tap_bail("set: %s", strerror(err));
}

static int do_ioctl(unsigned long cmd, void *arg)
{
	armed_cmd = cmd;
	return ioctl(kfd, cmd, arg) ? errno : 0;
}

static int do_version(void)
{
	struct kfd_prio_version_args v;

	return do_ioctl(KFD_PRIO_IOC_VERSION, &v);
}

static int do_get(void)
{
	struct kfd_prio_get_args g = { .pid = getpid(), .pidfd = pidfd };

	return do_ioctl(KFD_PRIO_IOC_GET, &g);
}

static int do_set_to(int prio)
{
	struct kfd_prio_set_args s = { .pid = getpid(), .pidfd = pidfd, .priority = prio };

	return do_ioctl(KFD_PRIO_IOC_SET, &s);
}

static int do_set(void)
{
	return do_set_to(13);
}

static int do_unset(void)
{
	return do_set_to(KFD_PRIO_UNSET);
}

static int do_list(void)
{
	struct kfd_prio_list_entry e[8];
	struct kfd_prio_list_args l = {
		.entries = (uintptr_t)e, .entry_size = sizeof(*e), .nr_entries = 8,
	};

	return do_ioctl(KFD_PRIO_IOC_LIST, &l);
}

static int do_create(void)
{
	struct kfdc_queue_attr attr = KFDC_QUEUE_DEFAULT;

	attr.packets = 64;
	armed_cmd = AMDKFD_IOC_CREATE_QUEUE;
	return -kfdc_queue_create(gpu, &attr, &queue);
}

static int do_update(void)
{
	armed_cmd = AMDKFD_IOC_UPDATE_QUEUE;
	return -kfdc_queue_update(queue, 100, 3);
}

static int do_destroy(void)
{
	struct kfd_ioctl_destroy_queue_args a = { .queue_id = queue->id };

	armed_cmd = AMDKFD_IOC_DESTROY_QUEUE;
	return ioctl(kfdc_fd(gpu), AMDKFD_IOC_DESTROY_QUEUE, &a) ? errno : 0;
}

static int do_open_as(int mode)
{
	int fd, err;

	arm();
	fd = syscall(SYS_openat, AT_FDCWD, "/dev/kfd", mode | O_CLOEXEC);
	disarm();
	err = fd < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	return err;
}

static int do_open(void)
{
	return do_open_as(O_RDWR);
}

static int do_open_ioctl_only(void)
{
	return do_open_as(O_ACCMODE);
}

/* The doorbells once more, and touched */
static int do_mmap(void)
{
	size_t size = 8192;
	void *p;

	arm();
	p = (void *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, kfdc_fd(gpu),
			    queue->doorbell_offset & ~(uint64_t)(size - 1));
	disarm();
	if (p == MAP_FAILED)
		return errno;
	munmap(p, size);
	return 0;
}

/* A child that inherits: it must, as the ledger has a reserve for it */
static int do_fork(void)
{
	int status, err;
	pid_t pid;

	arm();
	pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!pid) {
		armed_nth = 0;	/* nth_fd is the parent's; a child begins without */
		_exit(kfd_get(getpid()).priority == 9 ? 0 : 1);
	}
	disarm();
	if (pid < 0)
		return errno;
	err = waitpid(pid, &status, 0) == pid && !status ? 0 : EPROTO;
	return err;
}

static struct kfdc_signal *done;
static pid_t other;	/* somebody to preempt */

static void need_victim(void)
{
	need_file();
	/* before this process is in the runlist, so that it owns nothing of it */
	other = kfd_child(7, true);
	need_queue();
	if (kfdc_signal_create(gpu, false, &done) || kfd_set(getpid(), 13, NULL))
		tap_bail("%s", kfdc_error());
}

/* The first ring after the priority was set: the page fault on the trapped doorbell, and the preemption */
static int do_preempt(void)
{
	struct kfdc_dispatch d = { .ns = 1000, .barrier = true, .signal = done, .no_ring = true };
	uint64_t at = *queue->wptr;
	int err;

	kfdc_signal_set(done, 1);
	err = kfdc_dispatch(queue, &d);
	if (err)
		return -err;
	arm();
	*bell = at;
	disarm();
	return -kfdc_signal_wait(done, 60000000000ULL);
}

static void undo_preempt(void)
{
	kfd_child_end(other);
}

/*
 * LATE: EFAULT may come after it was done.  Our SET says so; KFD does the same wherever it has a result to
 * copy out, and a queue then stays until its process ends
 * STOCK: KFD's update_queue() stores what was asked for before it makes the runlist, whose ENOMEM it returns
 */
enum { LATE = 1, STOCK = 2 };

static const struct op {
	const char *name;
	void (*ready)(void);
	int (*run)(void);
	void (*undo)(void);
	unsigned int flags;
} ops[] = {
	{ "version", need_file, do_version },
	{ "get", need_queue, do_get },
	{ "set", need_queue, do_set, NULL, LATE },
	{ "change", need_priority, do_set, NULL, LATE },
	{ "unset", need_priority, do_unset, NULL, LATE },
	{ "list", need_queue, do_list },
	{ "open", need_file, do_open, NULL, LATE },
	{ "open-ioctl-only", need_file, do_open_ioctl_only },
	{ "create", need_gpu, do_create, NULL, LATE },
	{ "update", need_queue, do_update, NULL, STOCK },
	{ "destroy", need_queue, do_destroy, NULL, LATE },
	{ "mmap", need_queue, do_mmap },
	{ "fork", need_priority, do_fork },
	{ "preempt", need_victim, do_preempt, undo_preempt },
};

/* ---- one child ---- */

struct result {
	bool hit, late;
	int err;		/* of the struck attempt */
	int again;		/* of the next one */
	bool changed;		/* a failure changed something */
	char before[1024], after[1024];
};

static bool clean_error(int err)
{
	return err == ENOMEM || err == EFAULT || err == EAGAIN || err == EINTR || err == ENOBUFS;
}

static int child(int fd, void *arg)
{
	static char before[STATE_MAX], after[STATE_MAX];
	static struct result r;		/* pages touched: none is due while armed */
	const struct op *op = ((void **)arg)[0];
	unsigned int nth = *(unsigned int *)((void **)arg)[1];

	memset(&r, 0, sizeof(r));
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		tap_bail("/proc/thread-self/fail-nth: %s", strerror(errno));
	op->ready();
	state(before);
	armed_nth = nth;
	r.err = op->run();
	armed_nth = armed_cmd = 0;
	r.hit = hit;
	if (r.err) {
		state(after);
		r.changed = strcmp(before, after);
		r.late = r.changed && ((r.err == EFAULT && (op->flags & LATE)) ||
					(r.err == ENOMEM && (op->flags & STOCK)));
		snprintf(r.before, sizeof(r.before), "%.1023s", before);
		snprintf(r.after, sizeof(r.after), "%.1023s", after);
		if (!r.late)
			r.again = op->run();
	}
	if (op->undo)
		op->undo();
	return write(fd, &r, sizeof(r)) == sizeof(r) ? 0 : 1;
}

static bool verbose;

/* What is wrong with it, or NULL */
static const char *judge(const struct result *r)
{
	if (!r->err)
		return NULL;
	if (!r->hit)
		return "it failed without a fault";
	if (!clean_error(r->err))
		return "that is no error which the interface names for it";
	if (r->late)
		return NULL;
	if (r->changed)
		return "it failed and changed something";
	if (r->again)
		return "the same without a fault failed afterwards";
	return NULL;
}

static void try(const struct op *op)
{
	unsigned int nth, tried = 0, missed = 0, failed = 0, late = 0, absorbed = 0, wrong = 0;
	struct sim_child ch;
	struct result r;
	const char *why;

	for (nth = 1; nth <= MAX_SITES; nth++) {
		ch = sim_child(child, (void *[]){ (void *)op, &nth });
		if (!sim_child_hear(&ch, &r, sizeof(r), PATIENCE_MS)) {
			tap_diag("%s, site %u: the child ended without a word, or hangs", op->name, nth);
			sim_child_kill(&ch);
			wrong++;
			if (wrong > 3)
				break;
			continue;
		}
		sim_child_end(&ch, PATIENCE_MS);
		why = judge(&r);
		if (why) {
			wrong++;
			tap_diag("%s, site %u: %s: %s%s%s", op->name, nth, strerror(r.err), why,
				 r.again ? ": " : "", r.again ? strerror(r.again) : "");
			if (r.changed)
				tap_diag("before: %s\nafter: %s", r.before, r.after);
		} else if (verbose && r.hit) {
			tap_diag("%s, site %u: %s%s", op->name, nth, r.err ? strerror(r.err) : "survived",
				 r.late ? ", done all the same" : "");
		}
		/* how many sites there are differs a little from time to time, with what slabs have left */
		if (!r.hit && ++missed == MISSES)
			break;
		if (!r.hit)
			continue;
		missed = 0;
		tried++;
		if (!r.err)
			absorbed++;
		else if (r.late)
			late++;
		else
			failed++;
	}
	tap_ok(!wrong && nth <= MAX_SITES && tried, "%s: each of its %u faults is survived", op->name,
	       tried);
	tap_diag("faults of %-15s %4u: %u clean errors, %u done but not told, %u no matter, %u wrong",
		 op->name, tried, failed, late, absorbed, wrong);
}

/* ---- the module ---- */

static int load_struck(unsigned int nth)
{
	int err;

	armed_nth = nth;
	arm();
	err = sim_load("");
	disarm();
	return err;
}

static bool has_gpu(void)
{
	return sim_read(0, "counters") != NULL;
}

static void try_load(void)
{
	unsigned int total, i, nth, failed = 0, without = 0, absorbed = 0, wrong = 0;
	uint64_t seed = sim_seed();
	int err;

	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	err = nth_fd < 0 ? errno : sim_unload();
	err = err ? err : load_struck(FAR);
	if (err || left >= FAR)
		tap_bail("load: %s", strerror(err));
	total = FAR - left;
	nth = sim_random(&seed) % total;
	for (i = 0; i < SAMPLES; i++, nth += total / SAMPLES + 1) {
		err = sim_unload();
		if (err)
			tap_bail("load, site %u: the module does not unload before: %s", nth % total + 1, strerror(err));
		err = load_struck(nth % total + 1);
		if (verbose)
			tap_diag("load, site %u: %s", nth % total + 1, err ? strerror(err) : has_gpu() ? "survived" : "no GPU");
		if (err) {
			failed++;
			wrong += !clean_error(err) || !access("/sys/module/amdgpu", F_OK);
		} else {
			if (has_gpu())
				absorbed++;
			else
				without++;
			err = sim_unload();
			if (err)
				tap_bail("load, site %u: the module does not unload: %s", nth % total + 1, strerror(err));
		}
		err = sim_load("");
		if (err || !has_gpu()) {
			tap_diag("load, site %u: not without a fault, either: %s", nth % total + 1, strerror(err));
			wrong++;
		}
	}
	close(nth_fd);
	tap_ok(!wrong, "load: each of %u of its %u faults is survived", SAMPLES, total);
	tap_diag("faults of %-15s %4u: %u clean errors, %u without the GPU, %u no matter, %u wrong", "load",
		 SAMPLES, failed, without, absorbed, wrong);
}

int main(int argc, char **argv)
{
	long long pages;
	unsigned int i;
	int opt, k;

	while ((opt = getopt(argc, argv, "lv")) != -1) {
		if (opt == 'v') {
			verbose = true;
		} else if (opt == 'l') {
			for (i = 0; i < sizeof(ops) / sizeof(*ops); i++)
				puts(ops[i].name);
			puts("load");
			return 0;
		} else {
			fprintf(stderr, "usage: nth [-v] [OPERATION...], nth -l\n");
			return 2;
		}
	}
	pages = sim_counter(0, "ram_pages");
	faults_init(verbose);
	for (k = optind; k < argc; k++) {
		if (!strcmp(argv[k], "load")) {
			try_load();
			pages = sim_counter(0, "ram_pages");
			continue;
		}
		for (i = 0; i < sizeof(ops) / sizeof(*ops) && strcmp(ops[i].name, argv[k]); i++)
			;
		if (i == sizeof(ops) / sizeof(*ops)) {
			fprintf(stderr, "nth: no operation '%s', see nth -l\n", argv[k]);
			return 2;
		}
		try(&ops[i]);
	}
	for (i = 0; optind == argc && i < sizeof(ops) / sizeof(*ops); i++)
		try(&ops[i]);
	if (optind == argc) {
		tap_ok(sim_clean(0, pages), "nothing is left before the module is loaded anew");
		try_load();
		pages = sim_counter(0, "ram_pages");
	}
	tap_ok(sim_clean(0, pages), "nothing is left of any of them");
	return tap_done();
}
