/* SPDX-License-Identifier: GPL-2.0 */
/* The plugin of Slurm: from a choice to groups of processes.  Without types of Slurm. */
#ifndef STEP_SHARE_H
#define STEP_SHARE_H

#include "job-share.h"

/**
 * struct step_share - what was set
 * @cgroup: the cgroup of the job has the group of the job
 * @own: the step has a group of its own, with @own_setting
 * @own_setting: of that
 */
struct step_share {
	bool cgroup, own;
	struct share_setting own_setting;
};

int step_share_set(const struct kfd_dev *dev, const struct job_share_choice *choice, bool tasks, struct step_share *done, char *why);

#endif /* STEP_SHARE_H */
