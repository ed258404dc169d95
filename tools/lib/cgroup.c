// SPDX-License-Identifier: GPL-2.0
/*
 * Cgroups: which one a process is in, and which processes are in one.
 *
 * A user who owns a cgroup may nest others in it until their path is longer than any path that the
 * kernel takes or shows.  So the tree is walked by descriptor, one at a time, and a process whose
 * cgroup /proc cannot show is not a process without a cgroup.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cgroup.h"
#include "rules-advice.h"

/* Bytes of /proc/PID/cgroup: a line for each hierarchy of the first version */
#define CGROUPS_MAX (16 * KFDLIB_PATH)

/* Where the hierarchy is mounted that systemd keeps its units in. */
static const struct {
	const char *mount;
	const char *probe;
	const char *line;
} hierarchies[] = {
	/* of the second version alone; beside the first; none of the second */
	{ "/sys/fs/cgroup", "cgroup.controllers", "0::" },
	{ "/sys/fs/cgroup/unified", "cgroup.controllers", "0::" },
	{ "/sys/fs/cgroup/systemd", "cgroup.procs", ":name=systemd:" },
};

/* Its index, -1 if there is none.  Once found it is not looked for again. */
static int hierarchy_find(void)
{
	static int found = -1;
	char path[KFDLIB_PATH];
	size_t i;

	if (found >= 0)
		return found;
	for (i = 0; i < sizeof(hierarchies) / sizeof(*hierarchies); i++) {
		snprintf(path, sizeof(path), "%s%s/%s", kfd_system_root, hierarchies[i].mount,
			 hierarchies[i].probe);
		if (!access(path, F_OK)) {
			found = i;
			break;
		}
	}
	return found;
}

/*
 * Never outside of @top.  Where a filter of system calls does not know openat2(2), the path has no "..", and no user
 * can make a link in a hierarchy.
 */
static int open_below(int top, const char *path, int flags)
{
	struct open_how how = { .flags = flags | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };
	int fd = syscall(SYS_openat2, top, path, &how, sizeof(how));

	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = openat(top, path, flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* @flags: O_RDONLY or O_PATH */
static int open_with(const char *path, int flags)
{
	char mount[KFDLIB_PATH];
	int at = hierarchy_find(), top, fd;

	if (at < 0)
		return -ENOENT;
	snprintf(mount, sizeof(mount), "%s%s", kfd_system_root, hierarchies[at].mount);
	top = open(mount, flags | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return -errno;
	path += strspn(path, "/");
	if (!*path)
		return top;
	fd = open_below(top, path, flags);
	close(top);
	return fd;
}

/**
 * cgroup_open() - a descriptor of a cgroup
 * @path: of cgroup_check()
 *
 * Return: the descriptor, or -errno.
 */
int cgroup_open(const char *path)
{
	return open_with(path, O_RDONLY);
}

/**
 * cgroup_name_open() - a descriptor that names a cgroup to the driver
 * @path: of cgroup_check()
 * @id: out: number of the cgroup, as struct kfd_prio_share_entry has it
 *
 * It needs no permission to read the cgroup, whose owner may take that away.
 *
 * Return: the descriptor, or -errno.
 */
int cgroup_name_open(const char *path, uint64_t *id)
{
	int fd = open_with(path, O_PATH), ret;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st)) {
		ret = -errno;
		close(fd);
		return ret;
	}
	*id = st.st_ino;
	return fd;
}

/**
 * cgroup_is_v2() - is a directory a cgroup of the second version?
 * @fd: descriptor of the directory
 *
 * Return: whether it is.
 */
bool cgroup_is_v2(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* Has a path a component ".."?  Resolved as text it may lead to a cgroup, for example the root, that its writer did not mean */
static bool has_parent(const char *text)
{
	for (; text; text = strchr(text, '/')) {
		text += *text == '/';
		if (!strncmp(text, "..", 2) && (text[2] == '/' || !text[2]))
			return true;
	}
	return false;
}

/**
 * cgroup_check() - a cgroup as people write it
 * @text: its path in the hierarchy, as in /proc/PID/cgroup, or without the slash at its beginning, as systemd-cgls(1)
 *	prints it; or below /sys/fs/cgroup
 * @path: out: the path in the hierarchy, without a slash at its end; "" is the root
 * @size: bytes of @path
 * @why: on failure, what is wrong with it; KFDLIB_WHY bytes
 *
 * Return: 0; -EINVAL (no path, or one with ".."); -ENOENT (no such cgroup, or no hierarchy is mounted).
 */
int cgroup_check(const char *text, char *path, size_t size, char *why)
{
	char *shown = text_printable(text), *normal = malloc(strlen(text) + 2);
	int at = hierarchy_find(), fd, ret = -ENOENT;
	size_t len, mount;
	bool absolute;

	if (!normal) {
		ret = -ENOMEM;
		snprintf(why, KFDLIB_WHY, "out of memory");
		goto out;
	}
	if (at < 0) {
		snprintf(why, KFDLIB_WHY,
			 "no cgroup hierarchy that systemd uses is mounted: there is neither a cgroup2 file system below /sys/fs/cgroup nor /sys/fs/cgroup/systemd");
		goto out;
	}
	mount = strlen(hierarchies[at].mount);
	if (!*text) {
		ret = -EINVAL;
		snprintf(why, KFDLIB_WHY,
			 "'' is not the path of a cgroup: give it from the root of the hierarchy, as 'system.slice/serve.service', or as a directory of %s",
			 hierarchies[at].mount);
		goto out;
	}
	if (has_parent(text)) {
		ret = -EINVAL;
		snprintf(why, KFDLIB_WHY,
			 "'%.128s' has '..': give the path of the cgroup from the root of the hierarchy, as 'system.slice/serve.service'",
			 shown ? shown : "");
		goto out;
	}
	absolute = text[0] == '/';
	rules_path_normalize(text, normal, strlen(text) + 2);
	text = normal;
	if (absolute && !strncmp(text, hierarchies[at].mount, mount) && (text[mount] == '/' || !text[mount]))
		text += mount;
	len = strcmp(text, "/") ? strlen(text) : 0;
	if (len >= size) {
		ret = -EINVAL;
		snprintf(why, KFDLIB_WHY,
			 "the path '%.128s...' has %zu bytes, more than %zu: give a cgroup above that one",
			 shown ? shown : "", len, size - 1);
		goto out;
	}
	snprintf(path, size, "%.*s", (int)len, text);
	fd = cgroup_open(path);
	if (fd >= 0)
		ret = faccessat(fd, "cgroup.procs", R_OK, 0) ? -errno : 0;
	else
		ret = fd;
	if (fd >= 0)
		close(fd);
	if (ret) {
		snprintf(why, KFDLIB_WHY, "no cgroup '%.128s' below %s: %s", shown ? shown : "",
			 hierarchies[at].mount, strerror(-ret));
		ret = -ENOENT;
	}
out:
	free(normal);
	free(shown);
	return ret;
}

static int cgroups_read(pid_t pid, char *text, size_t size)
{
	char name[KFDLIB_PATH];

	snprintf(name, sizeof(name), "%s/proc/%d/cgroup", kfd_system_root, pid);
	return proc_text_read(name, text, size);
}

/**
 * cgroup_of() - the cgroup that a process is in
 * @pid: PID in the caller's PID namespace
 * @path: out: as in /proc/PID/cgroup, "/" for the root
 * @size: bytes of @path
 *
 * Of a path with PATH_MAX bytes or more the kernel shows the first PATH_MAX - 1, before 6.8 nothing (ENAMETOOLONG).
 *
 * Return: 0; -ENAMETOOLONG: it is in one, but the path is longer than the kernel shows, or than @size;
 * -ESRCH.
 */
int cgroup_of(pid_t pid, char *path, size_t size)
{
	char text[CGROUPS_MAX];
	char *line, *end, *found;
	int at = hierarchy_find(), ret;

	if (at < 0)
		return -ESRCH;
	ret = cgroups_read(pid, text, sizeof(text));
	if (ret)
		return ret;
	for (line = text; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		found = strstr(line, hierarchies[at].line);
		if (!found || (hierarchies[at].line[0] == '0' && found != line))
			continue;
		found += strlen(hierarchies[at].line);
		if (strlen(found) >= size || strlen(found) >= PATH_MAX - 1)
			return -ENAMETOOLONG;
		strcpy(path, found);
		return 0;
	}
	/* what has no end did not fit */
	return *line ? -ENAMETOOLONG : -ESRCH;
}

/**
 * cgroup_below() - is a cgroup another one, or below it?
 * @cgroup: of cgroup_of()
 * @path: of cgroup_check()
 *
 * Return: whether it is.
 */
bool cgroup_below(const char *cgroup, const char *path)
{
	size_t len = strlen(path);

	return !strncmp(cgroup, path, len) && (cgroup[len] == '/' || !cgroup[len]);
}

/* @text: "/slurm/uid_1000/job_12/step_0", or below a scope; the number of @word in it, and what follows */
static const char *numbered(const char *text, const char *word, const char **number)
{
	size_t len = strlen(word), digits;

	if (strncmp(text, word, len))
		return NULL;
	digits = strspn(text + len, "0123456789");
	*number = text + len;
	return digits ? text + len + digits : NULL;
}

/**
 * cgroup_slurm_job() - the Slurm job that a cgroup belongs to
 * @cgroup: its path in a hierarchy
 * @number: out: where the number of the job begins
 *
 * Slurm makes /system.slice/slurmstepd.scope/job_N/step_... in the second version, and
 * /slurm/uid_N/job_N/step_... in the hierarchies of controllers of the first one; with more than one slurmd on
 * a host, NODE_slurmstepd.scope and slurm_NODE.  Only root makes cgroups at these places: below others, users
 * may give the same names.
 *
 * Return: where the name of the job ends in @cgroup; NULL: it belongs to none.
 */
const char *cgroup_slurm_job(const char *cgroup, const char **number)
{
	static const char slice[] = "/system.slice/", scope[] = "slurmstepd.scope", old[] = "/slurm";
	const char *at, *end;

	if (!strncmp(cgroup, slice, strlen(slice))) {
		at = cgroup + strlen(slice);
		end = strchrnul(at, '/');
		if (end - at < (ptrdiff_t)strlen(scope) || memcmp(end - strlen(scope), scope, strlen(scope)))
			return NULL;
		if (end - strlen(scope) != at && (end - strlen(scope) == at + 1 || end[-1 - strlen(scope)] != '_'))
			return NULL;
	} else if (!strncmp(cgroup, old, strlen(old))) {
		at = cgroup + strlen(old);
		end = strchrnul(at, '/');
		if (end != at && (*at != '_' || end == at + 1))
			return NULL;
		end = numbered(end, "/uid_", number);
		if (!end)
			return NULL;
	} else {
		return NULL;
	}
	end = numbered(end, "/job_", number);
	if (!end || (*end && strncmp(end, "/step_", strlen("/step_"))))
		return NULL;
	return end;
}

/**
 * cgroup_slurm() - the Slurm job that a process belongs to
 * @pid: PID in the caller's PID namespace
 * @path: out: the cgroup of the job
 * @size: bytes of @path
 * @job: out: its number
 * @job_size: bytes of @job
 *
 * Return: 0; -ENOENT: it belongs to none; or as cgroup_of().
 */
int cgroup_slurm(pid_t pid, char *path, size_t size, char *job, size_t job_size)
{
	const char *end, *number;
	char text[CGROUPS_MAX];
	char *line, *rest = text, *at;
	int ret;

	ret = cgroups_read(pid, text, sizeof(text));
	if (ret)
		return ret;
	/* "4:memory:/slurm/..." */
	while ((line = strsep(&rest, "\n"))) {
		at = strchr(line, ':');
		at = at ? strchr(at + 1, ':') : NULL;
		end = at ? cgroup_slurm_job(at + 1, &number) : NULL;
		if (!end || (size_t)(end - at) > size || (size_t)(end - number) >= job_size)
			continue;
		snprintf(path, size, "%.*s", (int)(end - at - 1), at + 1);
		snprintf(job, job_size, "%.*s", (int)(end - number), number);
		return 0;
	}
	return -ENOENT;
}
