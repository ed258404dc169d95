// SPDX-License-Identifier: GPL-2.0
/* Unit tests of tools/kfdtrace/record/dir.c and driver.c, in a directory of their own, which is the current one. */
#define _GNU_SOURCE
#include <ftw.h>

#include "fixture.h"

void (*after_mkdir)(void);

int __real_mkdirat(int dir, const char *path, mode_t mode);
int __wrap_mkdirat(int dir, const char *path, mode_t mode);

int __wrap_mkdirat(int dir, const char *path, mode_t mode)
{
	int ret = __real_mkdirat(dir, path, mode);

	if (!ret && after_mkdir)
		after_mkdir();
	return ret;
}

void made_begin(struct made *made, const char *dir)
{
	int cpu;

	memset(made, 0, sizeof(*made));
	made->options.dir = (char *)dir;
	made->rec = (struct recording){ .options = &made->options, .dir_fd = -1, .parent_fd = -1, .nr_cpus = CPUS,
					.part_fds = made->part_fds, .caller = { geteuid(), getegid() } };
	made->trace_fd = -1;
	made->meta_fd = -1;
	for (cpu = 0; cpu < CPUS; cpu++)
		made->part_fds[cpu] = -1;
}

/* dir_make(), whose messages are kept */
int made_make(struct made *made)
{
	FILE *terminal = stderr;
	int ret;

	stderr = fmemopen(made->message, sizeof(made->message), "w");
	assert_non_null(stderr);
	ret = dir_make(&made->rec, &made->trace_fd, &made->meta_fd);
	fclose(stderr);
	stderr = terminal;
	after_mkdir = NULL;
	/* a failure says why, and says it once */
	assert_int_equal(!!ret, !!strchr(made->message, '\n'));
	return ret;
}

void made_end(struct made *made)
{
	int cpu;

	if (made->trace_fd >= 0)
		close(made->trace_fd);
	if (made->meta_fd >= 0)
		close(made->meta_fd);
	for (cpu = 0; cpu < CPUS; cpu++)
		if (made->part_fds[cpu] >= 0)
			close(made->part_fds[cpu]);
	dir_close(&made->rec);
}

mode_t mode_of(const char *path)
{
	struct stat status;

	if (lstat(path, &status))
		fail_msg("%s: %s", path, strerror(errno));
	return status.st_mode & 07777;
}

bool is_root(void)
{
	if (!geteuid())
		return true;
	puts("# SKIP a part that needs root");
	return false;
}

static int each_remove(const char *path, const struct stat *status, int kind, struct FTW *ftw)
{
	(void)status;
	(void)kind;
	(void)ftw;
	return remove(path);
}

int main(void)
{
	char dir[] = "/tmp/kfdprio-record.XXXXXX";
	int failed;

	if (!mkdtemp(dir) || chdir(dir) || chmod(dir, 0755)) {
		perror(dir);
		return 1;
	}
	failed = modes_tests() + others_tests() + log_tests() + driver_tests();
	umask(0022);
	if (chdir("/") || nftw(dir, each_remove, 16, FTW_DEPTH | FTW_PHYS))
		perror(dir);
	return failed != 0;
}
