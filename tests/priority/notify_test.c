// SPDX-License-Identifier: GPL-2.0
/*
 * notify_test - KFD_PRIO_IOC_NOTIFY: which processes a descriptor tells of, in which order, what it
 * does when it is full, who may have one.  Runs in the VM.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/kfd_prio.h>
#include "tap.h"

#define TICK_NS		10000000ULL	/* of the times in /proc/PID/stat */
#define TIMEOUT_MS	10000

static int kfd;

static int notify_open_sized(int fd, unsigned int size, struct kfd_prio_notify_args *a)
{
	*a = (struct kfd_prio_notify_args){ .record_size = size, .fd = -1 };
	return ioctl(fd, KFD_PRIO_IOC_NOTIFY, a) ? errno : 0;
}

static int notify_open_flags(unsigned int flags)
{
	struct kfd_prio_notify_args a = { .record_size = sizeof(struct kfd_prio_notify_record), .flags = flags };

	if (ioctl(kfd, KFD_PRIO_IOC_NOTIFY, &a))
		tap_bail("KFD_PRIO_IOC_NOTIFY: %s", strerror(errno));
	fcntl(a.fd, F_SETFL, O_RDONLY | O_NONBLOCK);
	return a.fd;
}

static int notify_open(void)
{
	return notify_open_flags(0);
}

/* The next record; type 0: there is none within @ms. */
static struct kfd_prio_notify_record next(int fd, int ms)
{
	struct kfd_prio_notify_record record = { 0 };
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, ms) == 1 && read(fd, &record, sizeof(record)) != sizeof(record))
		record.type = 0;
	return record;
}

static bool is(const struct kfd_prio_notify_record *r, unsigned int type, pid_t pid)
{
	if (r->type == type && r->pid == pid && !r->lost)
		return true;
	tap_diag("type %u, PID %d, lost %llu", r->type, r->pid, r->lost);
	return false;
}

static unsigned long long start_of(pid_t pid)
{
	unsigned long long start = 0;
	char path[64], line[1024];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	line[fread(line, 1, sizeof(line) - 1, f)] = '\0';
	fclose(f);
	sscanf(strrchr(line, ')') + 1,
	       " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*u %*d %llu",
	       &start);
	return start;
}

/* A child that does what it is told, a letter for each step, and answers each. */
struct child {
	pid_t pid;
	int to, from;
};

static void child_main(int from, int to)
{
	char order, *self[] = { "/proc/self/exe", "--child", NULL };

	while (read(from, &order, 1) == 1) {
		switch (order) {
		case 'o':	/* open KFD */
			if (open("/dev/kfd", O_RDWR | O_CLOEXEC) < 0)
				_exit(1);
			break;
		case '3':	/* open it for our ioctls alone */
			if (open("/dev/kfd", O_ACCMODE | O_CLOEXEC) < 0)
				_exit(1);
			break;
		case 'u':	/* become another user; that user may open it all the same */
			if (setresuid(-1, 1000, -1) || setfsuid(0) != 1000)
				_exit(1);
			break;
		case 'x':	/* exec; the new program answers */
			dup2(from, 0);
			dup2(to, 1);
			execv(self[0], self);
			_exit(1);
		}
		if (write(to, "!", 1) != 1)
			break;
	}
	_exit(0);
}

static struct child child_new(void)
{
	int to[2], from[2];
	struct child c;

	if (pipe(to) || pipe(from))
		tap_bail("pipe: %s", strerror(errno));
	fflush(stdout);
	c.pid = fork();
	if (!c.pid) {
		close(to[1]);
		close(from[0]);
		child_main(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	c.to = to[1];
	c.from = from[0];
	return c;
}

static void child_do(const struct child *c, char order)
{
	char answer;

	if (write(c->to, &order, 1) != 1 || read(c->from, &answer, 1) != 1)
		tap_bail("a child did not do '%c'", order);
}

static void child_end(const struct child *c)
{
	close(c->to);
	waitpid(c->pid, NULL, 0);
	close(c->from);
}

static void test_args(void)
{
	struct kfd_prio_notify_args a;
	char buf[256];
	int fd, status;

	tap_eq(sizeof(struct kfd_prio_notify_args), 16, "size of kfd_prio_notify_args");
	tap_eq(sizeof(struct kfd_prio_notify_record), 40, "size of kfd_prio_notify_record");
	tap_eq(KFD_PRIO_IOC_NOTIFY, 0xc0104bf4, "number of _NOTIFY");
	tap_eq(notify_open_sized(kfd, 24, &a), EINVAL, "records narrower than 1.5's: EINVAL");
	tap_eq(notify_open_sized(kfd, 36, &a), EINVAL, "records not a multiple of 8: EINVAL");
	a = (struct kfd_prio_notify_args){ .record_size = 32, .flags = KFD_PRIO_NOTIFY_NO_GONE << 1 };
	tap_eq(ioctl(kfd, KFD_PRIO_IOC_NOTIFY, &a) ? errno : 0, EINVAL, "an unknown flag: EINVAL");
	a = (struct kfd_prio_notify_args){ .record_size = 32, .pad = 1 };
	tap_eq(ioctl(kfd, KFD_PRIO_IOC_NOTIFY, &a) ? errno : 0, EINVAL, "a pad that is not 0: EINVAL");
	tap_eq(ioctl(kfd, KFD_PRIO_IOC_NOTIFY, NULL) ? errno : 0, EFAULT, "NULL: EFAULT");
	tap_eq(notify_open_sized(kfd, 256, &a), 0, "wider records");
	tap_eq(a.record_size, 40, "are read as the driver's");
	tap_eq(fcntl(a.fd, F_GETFD), FD_CLOEXEC, "close-on-exec");
	tap_ok(write(a.fd, buf, 32) < 0 && lseek(a.fd, 0, SEEK_SET) < 0, "neither written nor sought");
	tap_ok(read(a.fd, buf, 39) < 0 && errno == EINVAL, "no room for a record: EINVAL");
	fcntl(a.fd, F_SETFL, O_NONBLOCK);
	tap_ok(read(a.fd, buf, 40) < 0 && errno == EAGAIN, "none there, O_NONBLOCK: EAGAIN");
	close(a.fd);

	fflush(stdout);
	if (!fork()) {
		/* the descriptor of /dev/kfd is inherited, the capability is gone */
		if (setresuid(1000, 1000, 1000))
			_exit(1);
		_exit(notify_open_sized(kfd, 32, &a) == EPERM ? 0 : 2);
	}
	wait(&status);
	tap_eq(status, 0, "without CAP_SYS_NICE: EPERM");
	fd = notify_open();
	tap_ok(next(fd, 100).type == 0, "nothing happens: no record");
	close(fd);
}

static void test_life(void)
{
	struct kfd_prio_notify_record r;
	struct child c = child_new();
	int fd = notify_open(), late;
	unsigned long long serial;

	child_do(&c, '3');
	tap_ok(next(fd, 100).type == 0, "access mode 3 is no use of KFD");
	child_do(&c, 'o');
	r = next(fd, TIMEOUT_MS);
	tap_ok(is(&r, KFD_PRIO_NOTIFY_OPENED, c.pid), "the first open");
	tap_eq(r.start_ns / TICK_NS, start_of(c.pid), "its start is that of /proc/PID/stat");
	serial = r.serial;
	late = notify_open();
	child_do(&c, 'o');
	tap_ok(next(fd, 100).type == 0, "a second open says nothing");
	child_do(&c, 'x');
	r = next(fd, TIMEOUT_MS);
	tap_ok(is(&r, KFD_PRIO_NOTIFY_GONE, c.pid), "execve: gone");
	tap_ok(serial && r.serial == serial, "with the serial that it had");
	child_do(&c, 'o');
	r = next(fd, TIMEOUT_MS);
	tap_ok(is(&r, KFD_PRIO_NOTIFY_OPENED, c.pid), "and opened by the new program");
	tap_ok(r.serial > serial, "which has another serial");
	child_end(&c);
	r = next(fd, TIMEOUT_MS);
	tap_ok(is(&r, KFD_PRIO_NOTIFY_GONE, c.pid), "the end: gone");
	tap_ok(next(fd, 100).type == 0, "and nothing else");
	close(fd);
	r = next(late, TIMEOUT_MS);
	tap_ok(is(&r, KFD_PRIO_NOTIFY_GONE, c.pid), "a descriptor that came later has what came after it");
	close(late);
}

/* A record names the process for _SET and _GET, without a pidfd; @ns: the start that is given to them */
static int set_of(const struct kfd_prio_notify_record *r, unsigned long long ns, int prio)
{
	struct kfd_prio_set_args a = { .pid = r->pid, .pidfd = -1, .priority = prio, .flags = KFD_PRIO_SET_RULE, .start_ns = ns };

	return ioctl(kfd, KFD_PRIO_IOC_SET, &a) ? errno : 0;
}

static int get_of(const struct kfd_prio_notify_record *r, unsigned long long ns)
{
	struct kfd_prio_get_args a = { .pid = r->pid, .pidfd = -1, .start_ns = ns };

	return ioctl(kfd, KFD_PRIO_IOC_GET, &a) ? -errno : a.priority;
}

static void test_named(void)
{
	struct kfd_prio_notify_record r;
	struct child c = child_new();
	int fd = notify_open_flags(KFD_PRIO_NOTIFY_NO_GONE);

	child_do(&c, 'o');
	r = next(fd, TIMEOUT_MS);
	tap_ok(is(&r, KFD_PRIO_NOTIFY_OPENED, c.pid) && !r.euid && !r.pad, "NO_GONE: a process that opens it, of root");
	tap_eq(set_of(&r, r.start_ns, 3), 0, "_SET by PID and start");
	tap_eq(get_of(&r, r.start_ns), 3, "_GET by PID and start");
	tap_eq(set_of(&r, r.start_ns - 1, 4), ESRCH, "_SET: a process with that PID began before: ESRCH");
	tap_eq(get_of(&r, r.start_ns + 1), -ESRCH, "_GET: after: ESRCH");
	tap_eq(set_of(&r, 0, 4), EBADF, "_SET: neither start nor pidfd: EBADF");
	tap_eq(get_of(&r, r.start_ns), 3, "these have changed nothing");
	child_do(&c, 'x');
	tap_eq(set_of(&r, r.start_ns, 5), 0, "execve: it is the same process");
	child_do(&c, 'u');
	child_do(&c, 'o');
	r = next(fd, TIMEOUT_MS);
	tap_ok(is(&r, KFD_PRIO_NOTIFY_OPENED, c.pid) && r.euid == 1000, "which opens it again, now as user %u", r.euid);
	child_end(&c);
	tap_eq(set_of(&r, r.start_ns, 3), ESRCH, "it has ended: ESRCH");
	tap_ok(next(fd, 100).type == 0, "neither execve nor the end is reported");
	close(fd);
}

static void test_blocking(void)
{
	struct kfd_prio_notify_args a;
	struct kfd_prio_notify_record r[4];
	struct child c = child_new();
	struct pollfd p;
	int status;
	pid_t pid;

	if (notify_open_sized(kfd, sizeof(r[0]), &a))
		tap_bail("no descriptor");
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(read(a.fd, r, sizeof(r)) == sizeof(r[0]) &&
		      is(&r[0], KFD_PRIO_NOTIFY_OPENED, c.pid) ? 0 : 1);
	usleep(200000);
	tap_eq(waitpid(pid, NULL, WNOHANG), 0, "a reader waits");
	child_do(&c, 'o');
	waitpid(pid, &status, 0);
	tap_eq(status, 0, "until there is a record, and takes it");
	child_end(&c);
	p = (struct pollfd){ .fd = a.fd, .events = POLLIN };
	tap_ok(poll(&p, 1, TIMEOUT_MS) == 1 && p.revents == POLLIN, "poll tells of the next");
	tap_eq(read(a.fd, r, sizeof(r)), sizeof(r[0]), "which is read");
	pid = fork();
	if (!pid)
		_exit(read(a.fd, r, sizeof(r)) != 0);
	usleep(200000);
	kill(pid, SIGTERM);
	waitpid(pid, &status, 0);
	tap_ok(WIFSIGNALED(status), "a signal ends a reader that waits");
	close(a.fd);
}

/* In a PID namespace: what is seen there, and what of it is seen outside. */
static int inner(void *unused)
{
	struct kfd_prio_notify_record r;
	int fd = notify_open();
	struct child c = child_new();

	(void)unused;
	child_do(&c, 'o');
	r = next(fd, TIMEOUT_MS);
	if (!is(&r, KFD_PRIO_NOTIFY_OPENED, c.pid) || c.pid > 100)
		return 1;
	r = next(fd, 1500);
	if (r.type) {
		tap_diag("PID %d of outside is seen", r.pid);
		return 2;
	}
	child_end(&c);
	return 0;
}

static void test_namespace(void)
{
	struct kfd_prio_notify_record r;
	struct child c = child_new();
	char *stack = malloc(65536);
	int fd = notify_open(), status;
	pid_t pid;

	fflush(stdout);
	pid = clone(inner, stack + 65536, CLONE_NEWPID | SIGCHLD, NULL);
	if (pid < 0)
		tap_bail("clone: %s", strerror(errno));
	r = next(fd, TIMEOUT_MS);
	tap_ok(r.type == KFD_PRIO_NOTIFY_OPENED && r.pid > pid,
	       "a process of a namespace below: PID %d", r.pid);
	child_do(&c, 'o');
	r = next(fd, TIMEOUT_MS);
	tap_ok(is(&r, KFD_PRIO_NOTIFY_OPENED, c.pid), "one outside of it");
	waitpid(pid, &status, 0);
	tap_eq(status, 0, "in it, the former has its number there, and the latter is not seen");
	child_end(&c);
	close(fd);
	free(stack);
}

static void test_overflow(void)
{
	enum { PAIRS = KFD_PRIO_NOTIFY_ROOM / 2 + 10 };
	static struct kfd_prio_notify_record r[KFD_PRIO_NOTIFY_ROOM + 8];
	int fd = notify_open(), i, twice = 0;
	struct child c;
	ssize_t n;
	pid_t first = 0, pid;

	for (i = 0; i < PAIRS; i++) {
		pid = fork();
		if (!pid)
			_exit(open("/dev/kfd", O_RDWR) < 0);
		waitpid(pid, NULL, 0);
		first = first ?: pid;
	}
	n = read(fd, r, sizeof(r)) / (ssize_t)sizeof(r[0]);
	tap_eq(n, KFD_PRIO_NOTIFY_ROOM + 1, "full: so many records, and one more");
	tap_ok(r[0].type == KFD_PRIO_NOTIFY_OPENED && r[0].pid == first, "the oldest first");
	for (i = 1; i < KFD_PRIO_NOTIFY_ROOM; i += 2)
		twice += r[i].type == KFD_PRIO_NOTIFY_GONE && r[i].pid == r[i - 1].pid;
	tap_eq(twice, KFD_PRIO_NOTIFY_ROOM / 2, "each process once opened, once gone, in this order");
	tap_ok(n > KFD_PRIO_NOTIFY_ROOM && r[n - 1].type == KFD_PRIO_NOTIFY_OVERFLOW &&
	       r[n - 1].lost == 2 * PAIRS - KFD_PRIO_NOTIFY_ROOM && !r[n - 1].pid,
	       "the last says how many were lost: %llu", n > 0 ? r[n - 1].lost : 0);
	tap_ok(next(fd, 100).type == 0, "that once");
	c = child_new();
	child_do(&c, 'o');
	r[0] = next(fd, TIMEOUT_MS);
	tap_ok(is(&r[0], KFD_PRIO_NOTIFY_OPENED, c.pid), "and goes on");
	child_end(&c);
	close(fd);
}

static int module_users(void)
{
	FILE *f = fopen("/sys/module/amdgpu/refcnt", "r");
	int users = -1;

	if (f && fscanf(f, "%d", &users) != 1)
		users = -1;
	if (f)
		fclose(f);
	return users;
}

static void test_module(void)
{
	int before = module_users(), fd = notify_open();

	tap_eq(module_users(), before + 1, "an open descriptor keeps the module");
	close(fd);
	tap_eq(module_users(), before, "a closed one does not");
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--child")) {
		if (write(1, "!", 1) == 1)
			child_main(0, 1);
		return 1;
	}
	kfd = open("/dev/kfd", O_ACCMODE | O_CLOEXEC);
	if (kfd < 0)
		tap_bail("/dev/kfd: %s", strerror(errno));
	test_args();
	test_life();
	test_named();
	test_blocking();
	test_namespace();
	test_overflow();
	test_module();
	return tap_done();
}
