// SPDX-License-Identifier: GPL-2.0
/*
 * nth - every operation with its 1st, 2nd, 3rd, ... allocation or copy from or to the user failing
 *
 *   nth [-v] [OPERATION...]		in the VM with a debug kernel: tests/vm/run --debug -- ...
 *   nth -l				list the operations, "load" and "functions" among them
 *
 * /proc/self/fail-nth makes the N-th fault site fail that the calling thread comes to: slab and page
 * allocations, copy_from_user() and copy_to_user().  Each N is a child of its own: it makes ready,
 * notes what there is, arms, does the one thing, disarms, and
 *  - an error must be one that the interface names, and must have changed nothing, but for what the
 *    interface says of EFAULT: the result could not be written, what was asked for is done;
 *  - the same thing, done again without a fault, must succeed.
 * Three in a row that nothing comes to end it: the operation must have succeeded.
 *
 * "load", loading the module, is tried only if it is named: KFD itself does not survive all of it.  It has over a
 * thousand sites and takes seconds: SAMPLES of them, evenly spread from a place that the seed chooses.  It must be
 * refused or, if it is a GPU that cannot be had, leave the module without one; it must unload, and load again with its
 * GPU.
 *
 * "functions": functions of the kernel that our code calls fail instead (fail_function, with ENOMEM), each call of them
 * in turn: what must be without them is said by try_functions().
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "nth.h"
#include "simgpu.h"
#include "tap.h"

#define MAX_SITES	2000	/* of one operation: more is an endless loop */
#define PATIENCE_MS	120000	/* for one child */
#define MISSES		3	/* in a row: nothing comes to any more */

/* ---- faults ---- */

struct nth_fault fault = { .fd = -1 };

void arm(void)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", fault.nth);

	fault.hit = false;
	if (fault.nth && fault.function)
		function_arm(fault.nth);
	else if (fault.nth && pwrite(fault.fd, text, len, 0) != len)
		tap_bail("/proc/thread-self/fail-nth: %s", strerror(errno));
}

void disarm(void)
{
	int err = errno;
	char text[16] = "";

	if (fault.nth && fault.function) {
		fault.hit = function_disarm();
	} else if (fault.nth) {
		/* the reading itself may be struck: then nothing before it was */
		fault.hit = pread(fault.fd, text, sizeof(text) - 1, 0) > 0 && !atoi(text);
		fault.left = atoi(text);
		/* and so may be this */
		while (pwrite(fault.fd, "0", 1, 0) != 1)
			;
	}
	fault.nth = 0;
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
	if (cmd != fault.cmd)
		return syscall(SYS_ioctl, fd, cmd, arg);
	fault.cmd = 0;
	arm();
	ret = syscall(SYS_ioctl, fd, cmd, arg);
	disarm();
	return ret;
}

static const char *const fault_dirs[] = { "failslab", "fail_page_alloc", "fail_usercopy" };
#define NR_DIRS	(sizeof(fault_dirs) / sizeof(*fault_dirs))

static void fault_attr(const char *dir, const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", dir, name);
	if (sim_poke(path, value))
		tap_bail("%s: %s: a kernel with fault injection is needed, see tests/vm/run --debug", path,
			 strerror(errno));
}

void faults_init(bool verbose)
{
	unsigned int i;

	for (i = 0; i < NR_DIRS; i++)
		fault_attr(fault_dirs[i], "verbose", verbose ? "2" : "0");
	fault_attr("failslab", "ignore-gfp-wait", "N");
	fault_attr("fail_page_alloc", "ignore-gfp-wait", "N");
	fault_attr("fail_page_alloc", "ignore-gfp-highmem", "N");
	fault_attr("fail_page_alloc", "min-order", "0");
}

/* Where the code of a function begins and ends */
static void range_of(const char *function, char *first, char *end, size_t size)
{
	unsigned long long at, from = 0, to = ~0ULL;
	char line[256], name[160];
	int pass;
	FILE *f;

	for (pass = 0; pass < 2; pass++) {
		f = fopen("/proc/kallsyms", "re");
		while (f && fgets(line, sizeof(line), f)) {
			if (sscanf(line, "%llx %*c %159s", &at, name) != 2)
				continue;
			if (!pass && !strcmp(name, function))
				from = at;
			else if (pass && at > from && at < to)
				to = at;
		}
		if (f)
			fclose(f);
		if (!from)
			tap_bail("/proc/kallsyms: no function %s", function);
	}
	snprintf(first, size, "0x%llx", from);
	snprintf(end, size, "0x%llx", to);
}

void faults_filter(const char *within, const char *without)
{
	char require[2][24] = { "0", "0xffffffffffffffff" }, reject[2][24] = { "0", "0" };
	unsigned int i;

	if (within)
		range_of(within, require[0], require[1], sizeof(require[0]));
	if (without)
		range_of(without, reject[0], reject[1], sizeof(reject[0]));
	for (i = 0; i < NR_DIRS; i++) {
		fault_attr(fault_dirs[i], "stacktrace-depth", within || without ? "32" : "0");
		fault_attr(fault_dirs[i], "require-start", require[0]);
		fault_attr(fault_dirs[i], "require-end", require[1]);
		fault_attr(fault_dirs[i], "reject-start", reject[0]);
		fault_attr(fault_dirs[i], "reject-end", reject[1]);
	}
}

/* ---- one child ---- */

struct result {
	bool hit, late, clean;
	int err;		/* of the struck attempt */
	int again;		/* of the next one */
	bool changed;		/* a failure changed something */
	char before[1024], after[1024];
};

bool clean_error(int err)
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
	fault.fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fault.fd < 0)
		tap_bail("/proc/thread-self/fail-nth: %s", strerror(errno));
	op->ready();
	state(before);
	fault.nth = nth;
	r.err = op->run();
	fault.nth = fault.cmd = 0;
	r.hit = fault.hit;
	r.clean = clean_error(r.err) || (r.err == EINVAL && (op->flags & REMAP));
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
	if (!r->clean)
		return "that is no error which the interface names for it";
	if (r->late)
		return NULL;
	if (r->changed)
		return "it failed and changed something";
	if (r->again)
		return "the same without a fault failed afterwards";
	return NULL;
}

static const struct op *op_named(const char *name)
{
	unsigned int i;

	for (i = 0; i < nr_ops; i++)
		if (!strcmp(ops[i].name, name))
			return &ops[i];
	return NULL;
}

static void load_anew(const char *name)
{
	int err = sim_unload();

	err = err ? err : sim_load("");
	if (err)
		tap_bail("%s: the module cannot be loaded anew: %s", name, strerror(err));
}

/* @fresh: load the module anew each time, as what is to fail is done once */
static void try(const struct op *op, bool fresh)
{
	unsigned int nth, tried = 0, missed = 0, failed = 0, late = 0, absorbed = 0, wrong = 0;
	struct sim_child ch;
	struct result r;
	int status;
	char name[80];
	const char *why;

	snprintf(name, sizeof(name), "%s%s%s", op->name, fault.function ? "/" : "",
		 fault.function ? fault.function : "");
	faults_filter(op->within, op->without);
	for (nth = 1; nth <= MAX_SITES; nth++) {
		if (fresh)
			load_anew(name);
		ch = sim_child(child, (void *[]){ (void *)op, &nth });
		if (!sim_child_hear(&ch, &r, sizeof(r), PATIENCE_MS)) {
			status = sim_child_end(&ch, 1);
			tap_diag("%s, site %u: the child ended without a word, or hangs: wait status %#x", name, nth,
				 status);
			wrong++;
			if (wrong > 3)
				break;
			continue;
		}
		sim_child_end(&ch, PATIENCE_MS);
		why = judge(&r);
		if (why) {
			wrong++;
			tap_diag("%s, site %u: %s: %s%s%s", name, nth, strerror(r.err), why,
				 r.again ? ": " : "", r.again ? strerror(r.again) : "");
			if (r.changed)
				tap_diag("before: %s\nafter: %s", r.before, r.after);
		} else if (verbose && r.hit) {
			tap_diag("%s, site %u: %s%s", name, nth, r.err ? strerror(r.err) : "survived",
				 r.late ? ", done all the same" : "");
		}
		/*
		 * The number of sites differs a little from time to time, with what slabs have left, and the GPU's thread may
		 * send the runlist before the fault does.
		 */
		if (!r.hit && ++missed == (tried ? MISSES : 2 * MISSES))
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
	faults_filter(NULL, NULL);
	tap_ok(!wrong && nth <= MAX_SITES && tried, "%s: each of its %u faults is survived", name,
	       tried);
	tap_diag("faults of %-32s %4u: %u clean errors, %u done but not told, %u no matter, %u wrong",
		 name, tried, failed, late, absorbed, wrong);
}

/* The module is loaded while a function fails, which it does without; then an operation ends with @want */
static void try_load_without(const char *function, const char *op, int want)
{
	struct sim_child ch;
	struct result r = { .err = ECHILD };
	unsigned int none = 0;
	int err = sim_unload();

	fault.function = function;
	function_choose(function);
	err = err ? err : load_struck(1);
	function_forget(function);
	fault.function = NULL;
	if (err || !has_gpu())
		tap_bail("load without %s: %s", function, err ? strerror(err) : "no GPU");
	ch = sim_child(child, (void *[]){ (void *)op_named(op), &none });
	sim_child_hear(&ch, &r, sizeof(r), PATIENCE_MS);
	sim_child_end(&ch, PATIENCE_MS);
	tap_ok(fault.hit && r.err == want, "load without %s: its fault is survived; then %s: %s", function, op,
	       strerror(r.err));
	tap_diag("faults of load/%-27s %4u: %u clean errors, %u done but not told, %u no matter, %u wrong", function,
		 fault.hit, 0, 0, fault.hit && r.err == want, !fault.hit || r.err != want);
}

/* What fails by a function, and the operation that comes to it */
static void try_functions(void)
{
	static const struct {
		const char *function, *op;
		bool fresh;
	} pairs[] = {
		{ "alloc_anon_inode", "open" },
		{ "sysfs_create_file_ns", "open" },
		{ "tracepoint_probe_register", "set", true },
		{ "kthread_create_on_node", "set", true },
		{ "mempool_alloc_noprof", "set" },
		{ "mempool_alloc_noprof", "fork-alone" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		fault.function = pairs[i].function;
		function_choose(fault.function);
		try(op_named(pairs[i].op), pairs[i].fresh);
		function_forget(fault.function);
		fault.function = NULL;
	}
	try_load_without("kern_mount", "preempt", 0);
	try_load_without("debugfs_lookup", "preempt", 0);
	try_load_without("mempool_create_node_noprof", "set", EOPNOTSUPP);
}

static void try_one(const char *name)
{
	if (!strcmp(name, "load"))
		try_load(verbose);
	else if (!strcmp(name, "functions"))
		try_functions();
	else
		try(op_named(name), false);
}

int main(int argc, char **argv)
{
	static const char *const others[] = { "load", "functions" };
	long long pages;
	unsigned int i;
	int opt, k;

	while ((opt = getopt(argc, argv, "lv")) != -1)
		switch (opt) {
		case 'v':
			verbose = true;
			break;
		case 'l':
			for (i = 0; i < nr_ops; i++)
				puts(ops[i].name);
			puts("load\nfunctions");
			return 0;
		default:
			fprintf(stderr, "usage: nth [-v] [OPERATION...], nth -l\n");
			return 2;
		}
	for (k = optind; k < argc; k++)
		if (!op_named(argv[k]) && strcmp(argv[k], others[0]) && strcmp(argv[k], others[1])) {
			fprintf(stderr, "nth: no operation '%s', see nth -l\n", argv[k]);
			return 2;
		}
	/*
	 * The kernel writes the CPU's number into memory of a thread that has registered it (rseq), after each switch,
	 * and SIGSEGV ends who has no memory for that then: glibc must not register it
	 */
	if (!getenv("GLIBC_TUNABLES")) {
		setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
		execv("/proc/self/exe", argv);
		tap_bail("execv: %s", strerror(errno));
	}
	pages = sim_counter(0, "ram_pages");
	faults_init(verbose);
	for (k = optind; k < argc; k++)
		if (op_named(argv[k]))
			try_one(argv[k]);
	for (i = 0; optind == argc && i < nr_ops; i++)
		if (!(ops[i].flags & FUNCTION))
			try_one(ops[i].name);
	tap_ok(sim_clean(0, pages), "nothing is left of any of them");
	/* these load the module anew; "load" is only for who asks */
	for (i = 0; i < 2; i++) {
		for (k = optind; k < argc && strcmp(argv[k], others[i]); k++)
			;
		if (optind < argc ? k == argc : i == 0)
			continue;
		try_one(others[i]);
		load_anew(others[i]);
		pages = sim_counter(0, "ram_pages");
		tap_eq(sim_use(0, false), 0, "and the GPU works afterwards");
		tap_ok(sim_clean(0, pages), "nothing is left");
	}
	return tap_done();
}
