// SPDX-License-Identifier: GPL-2.0
/* From a choice to groups: what slurmstepd asks of the driver, in which cgroup. */
#define _GNU_SOURCE
#include <linux/kfd_prio.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"

#define ROOT "/tmp/kfdprio-slurm-test.XXXXXX"
#define JOB  "/system.slice/slurmstepd.scope/job_12"

/* The driver: the calls as text, and what it answers */
static char calls[512];
static int cgroup_errno, process_errno, list_errno;
static struct kfd_prio_share_entry bound;
static char root[] = ROOT;

int __wrap_ioctl(int fd, unsigned long request, void *arg);

static void call_note(const struct kfd_prio_share_args *a)
{
	char *at = calls + strlen(calls), link[64], path[256];
	struct share_setting setting = { a->max, a->flags & KFD_PRIO_SHARE_SOFT, a->weight };
	char text[SHARE_TEXT];
	ssize_t len;

	share_text(&setting, text, sizeof(text));
	if (a->flags & KFD_PRIO_SHARE_CGROUP) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", a->cgroup);
		len = readlink(link, path, sizeof(path) - 1);
		assert_true(len > 0);
		path[len] = '\0';
		sprintf(at, "cgroup %s %s;", strstr(path, "/job_") ?: path, text);
	} else {
		assert_int_equal(a->flags & (KFD_PRIO_SHARE_PROCESS | KFD_PRIO_SHARE_NEW), KFD_PRIO_SHARE_PROCESS | KFD_PRIO_SHARE_NEW);
		assert_int_equal(a->pid, getpid());
		assert_true(a->pidfd >= 0 && !a->group);
		sprintf(at, "own %s;", text);
	}
}

int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	struct kfd_prio_shares_args *list = arg;

	assert_int_equal(fd, 77);
	if (request == KFD_PRIO_IOC_SHARES) {
		errno = list_errno;
		*(struct kfd_prio_share_entry *)(uintptr_t)list->entries = bound;
		list->nr_entries = !!bound.group;
		return list_errno ? -1 : 0;
	}
	assert_int_equal(request, KFD_PRIO_IOC_SHARE);
	errno = ((struct kfd_prio_share_args *)arg)->flags & KFD_PRIO_SHARE_CGROUP ? cgroup_errno : process_errno;
	if (errno)
		return -1;
	call_note(arg);
	return 0;
}

static void file_write(const char *path, const char *text)
{
	char name[256];
	FILE *file;

	snprintf(name, sizeof(name), "%s%s", root, path);
	file = fopen(name, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void directories_make(const char *path)
{
	char name[256], *slash;

	snprintf(name, sizeof(name), "%s%s/", root, path);
	for (slash = name + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		assert_true(!mkdir(name, 0755) || errno == EEXIST);
	}
}

/* slurmstepd is in this cgroup, as /proc shows it */
static void cgroup_set(const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", getpid());
	directories_make(path);
	strcat(path, "/cgroup");
	file_write(path, text);
}

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	kfd_system_root = root;
	directories_make("/sys/fs/cgroup" JOB "/step_0/slurm");
	file_write("/sys/fs/cgroup/cgroup.controllers", "");
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void check(const struct job_share_choice *choice, bool tasks, int wanted, const char *wanted_calls)
{
	const struct kfd_dev dev = { .fd = 77 };
	struct step_share done;
	char why[KFDLIB_WHY] = "";
	int ret;

	*calls = '\0';
	ret = step_share_set(&dev, choice, tasks, &done, why);
	if (ret != wanted || strcmp(calls, wanted_calls))
		fail_msg("returns %d, calls '%s', not '%s'", ret, calls, wanted_calls);
	/* a failure has a reason */
	assert_int_equal(!*why, !ret);
}

#define CHOICE(max, soft, weight, step) { .given = true, .job = { max, soft, weight }, .step_max = step }

static const struct job_share_choice both = CHOICE(3000, false, 50, 2000), job_only = CHOICE(3000, true, 0, NONE),
				     weight_only = CHOICE(NONE, false, 50, NONE), none = CHOICE(NONE, false, 0, NONE),
				     step_only = { .job = { .max = NONE }, .step_max = 2000 };

/* cgroup2: the job by its cgroup, and what a step asks for beside it */
static void test_cgroup(void **state)
{
	(void)state;
	cgroup_set("0::" JOB "/step_0/slurm\n");
	check(&job_only, true, 0, "cgroup /job_12 max-soft=30%;");
	check(&both, true, 0, "cgroup /job_12 max=30% weight=50;own max=20%;");
	check(&weight_only, true, 0, "cgroup /job_12 weight=50;");
	/* --gpu-max alone leaves the cgroup as it is */
	check(&step_only, true, 0, "own max=20%;");
	/* where pam_slurm_adopt puts logins there is no task */
	check(&both, false, 0, "cgroup /job_12 max=30% weight=50;");
	check(&step_only, false, 0, "");
}

/* Each step asks for it again */
static void test_again(void **state)
{
	struct stat st;
	char path[256];

	(void)state;
	cgroup_set("0::" JOB "/step_0/slurm\n");
	snprintf(path, sizeof(path), "%s/sys/fs/cgroup" JOB, root);
	assert_int_equal(stat(path, &st), 0);
	bound = (struct kfd_prio_share_entry){ .group = 3, .cgroup = st.st_ino, .max = 3000, .weight = 50 };
	check(&both, true, 0, "own max=20%;");
	/* by a QOS that it has now */
	check(&weight_only, true, 0, "cgroup /job_12 weight=50;");
	check(&none, true, 0, "cgroup /job_12 max=none;");
	/* without such options it may be one by hand */
	check(&step_only, true, 0, "own max=20%;");
	/* that of another cgroup */
	bound.cgroup++;
	check(&both, true, 0, "cgroup /job_12 max=30% weight=50;own max=20%;");
	check(&none, true, 0, "");
	list_errno = ENOMEM;
	bound.cgroup--;
	check(&job_only, true, 0, "cgroup /job_12 max-soft=30%;");
	list_errno = 0;
	bound = (struct kfd_prio_share_entry){ 0 };
}

/* Without it: one group for each step, with the lower limit */
static void test_own(void **state)
{
	static const char *const texts[] = {
		"0::/system.slice/slurmd.service\n",
		"12:memory:/slurm/uid_1000/job_12/step_0/task_0\n1:name=systemd:/system.slice/slurmd.service\n",
		"4:memory:/slurm/uid_1000/job_12/step_0\n0::/system.slice/slurmd.service\n",
		/* a name that a user can give */
		"0::/user.slice/slurmstepd.scope/job_12/step_0\n",
		/* a job whose cgroup is gone */
		"0::/system.slice/slurmstepd.scope/job_13/step_0\n",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		cgroup_set(texts[i]);
		check(&job_only, true, 0, "own max-soft=30%;");
		check(&both, true, 0, "own max=20% weight=50;");
		check(&weight_only, true, 0, "own weight=50;");
		check(&step_only, true, 0, "own max=20%;");
		check(&none, true, 0, "");
		check(&both, false, 0, "");
	}
	/* the driver does not take the directory for a cgroup */
	cgroup_set("0::" JOB "/step_0/slurm\n");
	cgroup_errno = EINVAL;
	check(&both, true, 0, "own max=20% weight=50;");
	cgroup_errno = 0;
}

static void test_refused(void **state)
{
	(void)state;
	cgroup_set("0::" JOB "/step_0/slurm\n");
	cgroup_errno = ENOSPC;
	check(&both, true, -ENOSPC, "");
	cgroup_errno = 0;
	process_errno = EPERM;
	check(&both, true, -EPERM, "cgroup /job_12 max=30% weight=50;");
	process_errno = EBUSY;
	check(&step_only, true, -EBUSY, "");
	process_errno = 0;
}

int step_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cgroup),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
