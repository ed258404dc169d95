// SPDX-License-Identifier: GPL-2.0
/*
 * The plugin of Slurm: from a choice to groups of processes.
 *
 * With cgroup2 the cgroup of the job has the group of the job: it has the processes of all steps, and logins through
 * pam_slurm_adopt, too.  Otherwise each step has a group of its own: slurmstepd is put in it, and its tasks inherit it.
 * What a step asks for beside the limit of its job is always in such a group, and both hold: a group for the cgroup of
 * the step would take the place of that of the job.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "step-share.h"

/* The cgroup of the job that this slurmstepd is of, in the hierarchy of the second version; -errno: there is none */
static int job_cgroup_open(uint64_t *id)
{
	char path[KFDLIB_PATH];
	const char *number, *end;
	int ret = cgroup_of(getpid(), path, sizeof(path));

	if (ret)
		return ret;
	end = cgroup_slurm_job(path, &number);
	if (!end)
		return -ENOENT;
	path[end - path] = '\0';
	return cgroup_name_open(path, id);
}

/* Each step asks for it: once it is set, nothing changes. */
static bool is_set(const struct kfd_dev *dev, uint64_t id, const struct share_setting *setting)
{
	struct share_setting now = { .max = KFD_PRIO_MAX_NONE };
	const struct kfd_prio_share_entry *entry;
	struct kfd_prio_share_entry *entries;
	size_t nr;

	if (kfd_dev_shares(dev, &entries, &nr))
		return false;
	entry = share_entry_of_cgroup(entries, nr, id);
	if (entry)
		now = share_entry_setting(entry);
	free(entries);
	return share_same(&now, setting);
}

/* 0; -EINVAL: the host or Slurm has no cgroup2; or another error */
static int job_set(const struct kfd_dev *dev, const struct share_setting *setting)
{
	struct kfd_prio_share_args args = { .flags = KFD_PRIO_SHARE_CGROUP };
	uint64_t id;
	int ret = 0;

	args.cgroup = job_cgroup_open(&id);
	if (args.cgroup < 0)
		return -EINVAL;
	share_args_set(&args, setting);
	if (!is_set(dev, id, setting))
		ret = kfd_dev_share(dev, &args);
	close(args.cgroup);
	return ret;
}

static int own_set(const struct kfd_dev *dev, const struct share_setting *setting, char *why)
{
	struct kfd_prio_share_args args = { .flags = KFD_PRIO_SHARE_PROCESS | KFD_PRIO_SHARE_NEW, .pid = getpid() };
	char text[SHARE_TEXT];
	int ret;

	ret = proc_open(args.pid, &args.pidfd, why);
	if (ret)
		return ret;
	share_args_set(&args, setting);
	ret = kfd_dev_share(dev, &args);
	close(args.pidfd);
	if (ret == -EBUSY)
		snprintf(why, KFDLIB_WHY, "slurmd is in a group of processes itself, which its steps inherit, and %s is not set: start it by its unit",
			 share_text(setting, text, sizeof(text)));
	else if (ret)
		snprintf(why, KFDLIB_WHY, "the driver refuses %s for a step: %s; see 'dmesg'",
			 share_text(setting, text, sizeof(text)), strerror(-ret));
	return ret;
}

static bool any(const struct share_setting *setting)
{
	return setting->max < KFD_PRIO_MAX_NONE || setting->weight != KFD_PRIO_WEIGHT_NONE;
}

/**
 * step_share_set() - set the share of a job and of a step
 * @dev: the device
 * @choice: of job_share_choose()
 * @tasks: the step has tasks, which this process will fork; else it is the one in which pam_slurm_adopt puts logins
 * @done: out: what was set
 * @why: on failure, what is wrong; KFDLIB_WHY bytes
 *
 * In slurmstepd as root, before it forks the tasks.
 *
 * Return: 0 or -errno: what is not in @done is not set.
 */
int step_share_set(const struct kfd_dev *dev, const struct job_share_choice *choice, bool tasks, struct step_share *done, char *why)
{
	struct share_setting own = { .max = choice->step_max };
	char text[SHARE_TEXT];
	int ret;

	*done = (struct step_share){ 0 };
	/* also where the job has none any more */
	ret = choice->given ? job_set(dev, &choice->job) : 0;
	done->cgroup = any(&choice->job) && !ret;
	if (ret && ret != -EINVAL) {
		snprintf(why, KFDLIB_WHY, "the driver refuses %s for the cgroup of a job: %s; see 'dmesg'",
			 share_text(&choice->job, text, sizeof(text)), strerror(-ret));
		return ret;
	}
	if (ret && own.max >= KFD_PRIO_MAX_NONE)
		own = choice->job;
	else if (ret)
		own.weight = choice->job.weight;
	if (!tasks || !any(&own))
		return 0;
	ret = own_set(dev, &own, why);
	done->own = !ret;
	done->own_setting = own;
	return ret;
}
