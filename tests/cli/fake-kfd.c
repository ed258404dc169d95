// SPDX-License-Identifier: GPL-2.0
/*
 * A driver made of text files, for tests without one.
 *
 * Linked into kfdprio and kfdtrace with --wrap: what they ask of /dev/kfd is answered from
 * the directory $FAKE_KFD.  Everything else reaches the real system.  Files:
 *
 *	open pidfd get set list gpus	an errno name (EPERM): that call fails so; likewise share and share-list
 *	version			"MAJOR MINOR", or an errno name; with MINOR 0 it is the driver of 1.0
 *	regular			/dev/kfd is a regular file
 *	stat			"MODE GID" of /dev/kfd, in octal and decimal, and " MAJOR MINOR" if it is a device
 *	table			lines "PID GPU_ID PRIORITY EFFECTIVE QUEUES ACTIVE FLAGS", then, if
 *				any, " PREEMPTED_COUNT PREEMPTED_NS PREEMPTING_COUNT"; its serial is PID
 *	orphans			lines "PID SERIAL GROUPS": the rows of PID are those of an orphan
 *	members			lines "PID GROUP CGROUP_GROUP THROTTLED_COUNT THROTTLED_NS": the groups of a process, 0: none; written, too
 *	shares			lines of the fields of struct kfd_prio_share_entry, in their order; written, too
 *	cgroup1			cgroups are not of the second version
 *	gpu-totals		lines of the fields of struct kfd_prio_gpu_entry, in their order; missing: the driver
 *				has no KFD_PRIO_IOC_GPUS
 *	nodes/			the topology
 *	root/			what kfdprio doctor takes for /: /proc, /sys, /dev and so on
 *	share.log		written: a line for each change of a group, see fake-share.c
 *	set.log			written: a line "PID PRIORITY" for each change, with " rule" for a rule's
 *	admin			lines "PID": the priority was set by the administrator
 *	notify			a FIFO with records for KFD_PRIO_IOC_NOTIFY; or an errno name
 *	users groups		lines "NAME NUMBER": they exist beside those of the system
 *	set.hook		a shell script that is run with the PID before the next change, once
 *
 * A second of kfdprio doctor --power takes $FAKE_SECOND_MS, if that is set.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "fake-kfd.h"
#include "rules.h"

int __real_open(const char *path, int flags, ...);
int __real_ioctl(int fd, unsigned long request, ...);
int __real_stat(const char *path, struct stat *st);
struct passwd *__real_getpwnam(const char *name);
struct group *__real_getgrnam(const char *name);
struct passwd *__wrap_getpwnam(const char *name);
struct group *__wrap_getgrnam(const char *name);
int __real_pidfd_open(pid_t pid, unsigned int flags);
int __wrap_open(const char *path, int flags, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_stat(const char *path, struct stat *st);
int __real_fstatfs(int fd, struct statfs *fs);
int __wrap_fstatfs(int fd, struct statfs *fs);
int __wrap_pidfd_open(pid_t pid, unsigned int flags);

/* kfdtrace has none */
#pragma weak doctor_root
#pragma weak doctor_second_ms
#pragma weak rules_owner

#define TICK_NS 10000000 /* of the times in /proc/PID/stat */

static int device_fd = -1;

void path_of(char *path, const char *name)
{
	const char *dir = getenv("FAKE_KFD");

	if (!dir) {
		fprintf(stderr, "fake-kfd: set FAKE_KFD to a directory\n");
		abort();
	}
	snprintf(path, PATH_MAX, "%s/%s", dir, name);
}

FILE *file_open(const char *name, const char *mode)
{
	char path[PATH_MAX];

	path_of(path, name);
	return fopen(path, mode);
}

bool exists(const char *name)
{
	char path[PATH_MAX];

	path_of(path, name);
	return !access(path, F_OK);
}

static bool text_read(const char *name, char *text, int size)
{
	FILE *file = file_open(name, "re");

	if (!file)
		return false;
	if (!fgets(text, size, file))
		abort();
	text[strcspn(text, "\n")] = '\0';
	fclose(file);
	return true;
}

/* The errno that the file asks for, 0 if it asks for none. */
int fault(const char *name)
{
	char text[64];
	int err;

	if (!text_read(name, text, sizeof(text)))
		return 0;
	for (err = 1; err < 256; err++)
		if (strerrorname_np(err) && !strcmp(strerrorname_np(err), text))
			return err;
	return 0;
}

int fail(int err)
{
	errno = err;
	return -1;
}

int version(struct kfd_prio_version_args *args)
{
	char text[64];

	args->major = KFD_PRIO_VERSION_MAJOR;
	args->minor = KFD_PRIO_VERSION_MINOR;
	if (fault("version") || exists("regular"))
		return fail(exists("regular") ? ENOTTY : fault("version"));
	if (text_read("version", text, sizeof(text)) &&
	    sscanf(text, "%u %u", &args->major, &args->minor) != 2)
		abort();
	args->features = KFD_PRIO_FEATURE_INHERIT;
	if (args->minor)
		args->features |= KFD_PRIO_FEATURE_PREEMPT;
	if (args->minor >= 4)
		args->features |= KFD_PRIO_FEATURE_RULES;
	if (args->minor >= 7)
		args->features |= KFD_PRIO_FEATURE_SHARES;
	return 0;
}

/* The pidfd must be of that very process, or that must have begun then, as the driver demands. */
int target_check(pid_t pid, int pidfd, uint64_t start_ns, unsigned int flags)
{
	struct proc_task task;
	char path[64], line[128];
	pid_t named = -1;
	FILE *file;

	if (flags || pid <= 0)
		return EINVAL;
	if (start_ns)
		return !proc_stat_read(pid, &task) && start_ns / TICK_NS == task.start ? 0 : ESRCH;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	file = fopen(path, "re");
	if (!file)
		return EBADF;
	while (fgets(line, sizeof(line), file))
		sscanf(line, "Pid: %d", &named);
	fclose(file);
	return named == pid ? 0 : ESRCH;
}

static void hook_run(pid_t pid)
{
	char command[128];

	if (!exists("set.hook"))
		return;
	snprintf(command, sizeof(command),
		 "hook=$(cat \"$FAKE_KFD/set.hook\"); rm \"$FAKE_KFD/set.hook\"; set -- %d; eval \"$hook\"",
		 pid);
	if (system(command))
		abort();
}

static bool by_admin(pid_t pid)
{
	FILE *file = file_open("admin", "re");
	bool found = false;
	pid_t line;

	while (file && !found && fscanf(file, "%d", &line) == 1)
		found = line == pid;
	if (file)
		fclose(file);
	return found;
}

static int set(struct kfd_prio_set_args *args)
{
	int effective;
	FILE *log;
	int err;

	if (args->flags & KFD_PRIO_SET_ORPHAN)
		err = args->serial ? 0 : EINVAL;
	else if (args->serial && args->serial != (uint64_t)args->pid)
		err = ESRCH;
	else
		err = target_check(args->pid, args->pidfd, args->start_ns,
				   args->flags & ~(KFD_PRIO_SET_PARK_NEVER | KFD_PRIO_SET_PARK_AUTO |
						   KFD_PRIO_SET_KEEP | KFD_PRIO_SET_RULE));
	if (!err && args->flags & KFD_PRIO_SET_RULE && by_admin(args->pid))
		err = EEXIST;
	if (!err && (args->priority < KFD_PRIO_UNSET || args->priority > KFD_PRIO_MAX))
		err = EINVAL;
	if (err)
		return fail(err);
	err = fault("set");
	if (err && err != EIO && err != ETIME)
		return fail(err);
	hook_run(args->pid);
	process_read(args->pid, &args->old_priority, &effective, &args->nr_queues);
	log = file_open("set.log", "ae");
	if (!log)
		abort();
	fprintf(log, "%d %d%s", args->pid, args->priority,
		args->flags & KFD_PRIO_SET_RULE ? " rule" : "");
	if (args->flags & ~KFD_PRIO_SET_RULE)
		fprintf(log, " flags %#x", args->flags & ~KFD_PRIO_SET_RULE);
	if (args->flags & KFD_PRIO_SET_ORPHAN)
		fprintf(log, " serial %llu", (unsigned long long)args->serial);
	fputc('\n', log);
	fclose(log);
	return err ? fail(err) : 0;
}

static int get(struct kfd_prio_get_args *args)
{
	int err;

	err = target_check(args->pid, args->pidfd, args->start_ns, args->flags);
	if (!err)
		err = fault("get");
	if (err)
		return fail(err);
	process_read(args->pid, &args->priority, &args->effective, &args->nr_queues);
	args->set_by = KFD_PRIO_BY_NOBODY;
	if (args->priority != KFD_PRIO_UNSET)
		args->set_by = by_admin(args->pid) ? KFD_PRIO_BY_ADMIN : KFD_PRIO_BY_RULE;
	args->never_parked_by = KFD_PRIO_BY_NOBODY;
	if (flags_of(args->pid) & KFD_PRIO_LIST_PARK_NEVER)
		args->never_parked_by = by_admin(args->pid) ? KFD_PRIO_BY_ADMIN : KFD_PRIO_BY_RULE;
	return 0;
}

static int notify(struct kfd_prio_notify_args *args)
{
	char path[PATH_MAX];
	struct stat st;

	path_of(path, "notify");
	if (args->flags & ~KFD_PRIO_NOTIFY_NO_GONE || args->pad || args->record_size != sizeof(struct kfd_prio_notify_record))
		return fail(EINVAL);
	if (stat(path, &st) || !S_ISFIFO(st.st_mode))
		return fail(fault("notify") ? fault("notify") : ENOTTY);
	/* for writing, too: it does not end when a writer does */
	args->fd = __real_open(path, O_RDWR | O_CLOEXEC);
	return args->fd < 0 ? -1 : 0;
}

int __wrap_open(const char *path, int flags, ...)
{
	unsigned int mode = 0;
	va_list va;

	va_start(va, flags);
	if (flags & O_CREAT)
		mode = va_arg(va, unsigned int);
	va_end(va);
	if (strcmp(path, KFDLIB_DEVICE))
		return __real_open(path, flags, mode);
	if (fault("open"))
		return fail(fault("open"));
	/* Access mode 3 and no other, lest the tool become a KFD process. */
	if (flags != (O_ACCMODE | O_CLOEXEC))
		abort();
	device_fd = __real_open(exists("regular") ? "/etc/passwd" : "/dev/null", O_RDONLY | O_CLOEXEC);
	return device_fd;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list va;
	void *args;

	va_start(va, request);
	args = va_arg(va, void *);
	va_end(va);
	if (fd != device_fd)
		return __real_ioctl(fd, request, args);
	switch (request) {
	case KFD_PRIO_IOC_VERSION:
		return version(args);
	case KFD_PRIO_IOC_SET:
		return set(args);
	case KFD_PRIO_IOC_GET:
		return get(args);
	case KFD_PRIO_IOC_LIST:
		return list(args);
	case KFD_PRIO_IOC_NOTIFY:
		return notify(args);
	case KFD_PRIO_IOC_GPUS:
		return gpus(args);
	case KFD_PRIO_IOC_SHARE:
		return share(args);
	case KFD_PRIO_IOC_SHARES:
		return shares(args);
	}
	return fail(ENOTTY);
}

int __wrap_stat(const char *path, struct stat *st)
{
	unsigned int number[2];
	char text[64];
	int fields;

	if (strcmp(path, KFDLIB_DEVICE))
		return __real_stat(path, st);
	memset(st, 0, sizeof(*st));
	fields = text_read("stat", text, sizeof(text)) ?
			 sscanf(text, "%o %u %u %u", &st->st_mode, &st->st_gid, &number[0], &number[1]) : 0;
	if (fields < 2)
		return fail(ENOENT);
	if (fields == 4) {
		st->st_mode |= S_IFCHR;
		st->st_rdev = makedev(number[0], number[1]);
	}
	return 0;
}

/* Directories of the hierarchy below root/ are cgroups. */
int __wrap_fstatfs(int fd, struct statfs *fs)
{
	char name[64], path[PATH_MAX], mount[PATH_MAX], *real;
	ssize_t len;
	int ret = __real_fstatfs(fd, fs);

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	len = readlink(name, path, sizeof(path) - 1);
	path_of(mount, "root/sys/fs/cgroup");
	real = realpath(mount, NULL);
	if (!ret && len > 0 && real && !exists("cgroup1")) {
		path[len] = '\0';
		if (!strncmp(path, real, strlen(real)))
			fs->f_type = CGROUP2_SUPER_MAGIC;
	}
	free(real);
	return ret;
}

int __wrap_pidfd_open(pid_t pid, unsigned int flags)
{
	if (fault("pidfd"))
		return fail(fault("pidfd"));
	return __real_pidfd_open(pid, flags);
}

static bool number_find(const char *file_name, const char *name, unsigned int *number)
{
	FILE *file = file_open(file_name, "re");
	bool found = false;
	char word[64];

	while (file && !found && fscanf(file, "%63s %u", word, number) == 2)
		found = !strcmp(word, name);
	if (file)
		fclose(file);
	return found;
}

struct passwd *__wrap_getpwnam(const char *name)
{
	static struct passwd passwd;

	return number_find("users", name, &passwd.pw_uid) ? &passwd : __real_getpwnam(name);
}

struct group *__wrap_getgrnam(const char *name)
{
	static struct group group;

	return number_find("groups", name, &group.gr_gid) ? &group : __real_getgrnam(name);
}

static __attribute__((constructor)) void topology_point(void)
{
	static char path[PATH_MAX], root[PATH_MAX];

	if (!getenv("FAKE_KFD"))
		return;
	path_of(path, "nodes");
	kfd_topology_path = path;
	path_of(root, "root");
	kfd_system_root = root;
	/* the files of root are those of the user who runs the tests */
	if (&rules_owner)
		rules_owner = geteuid();
	if (&doctor_root)
		doctor_root = root;
	if (&doctor_second_ms && getenv("FAKE_SECOND_MS"))
		doctor_second_ms = strtoul(getenv("FAKE_SECOND_MS"), NULL, 10);
}
