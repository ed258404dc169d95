// SPDX-License-Identifier: GPL-2.0
/*
 * kfdprio.so: a SPANK plugin of Slurm that gives the tasks of a job their GPU priority, and jobs their share of GPU time.
 *
 * slurmstepd asks slurmctld once a step for QOS and partition of the job: the environment of the
 * job is the user's.  Each task sets its own priority while it has the privileges for that;
 * children inherit it.  Shares are set by slurmstepd (step-share.c).  Whatever is wrong with the driver or
 * with slurmctld, the job runs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All else is hidden: the programs that load the plugin have many functions of their own. */
#pragma GCC visibility push(default)
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/spank.h>
SPANK_PLUGIN(kfdprio, 1)
#pragma GCC visibility pop

#include "job-prio.h"
#include "step-share.h"

/* The step that this slurmstepd is for; tasks are forked with it. */
static struct {
	struct job_prio_options options;
	struct job_prio_choice choice;
	struct job_share_choice share;
	int asked;
	uint32_t asked_max; /* 0: not given */
} step = { .options.others = KFD_PRIO_UNSET, .choice.priority = KFD_PRIO_UNSET, .asked = KFD_PRIO_UNSET };

/* srun: a wrong value ends it.  slurmstepd: the value is of srun, or of a user who has forged it. */
static int asked_parse(int value, const char *text, int remote)
{
	char why[KFDLIB_WHY];

	(void)value;
	if (text && !prio_parse(text, &step.asked, why))
		return SLURM_SUCCESS;
	step.asked = KFD_PRIO_UNSET;
	slurm_error("kfdprio: --gpu-priority: %s", text ? text_shown(why, sizeof(why)) : "its argument is missing");
	return remote ? SLURM_SUCCESS : SLURM_ERROR;
}

static int asked_max_parse(int value, const char *text, int remote)
{
	char why[KFDLIB_WHY];

	(void)value;
	if (text && !job_max_parse(text, &step.asked_max, why))
		return SLURM_SUCCESS;
	step.asked_max = 0;
	slurm_error("kfdprio: --gpu-max: %s", text ? text_shown(why, sizeof(why)) : "its argument is missing");
	return remote ? SLURM_SUCCESS : SLURM_ERROR;
}

static struct spank_option gpu_priority = {
	.name = "gpu-priority",
	.arginfo = "low|normal|high|0..15",
	.usage = "lower the GPU priority of the job, or of the step",
	.has_arg = 1,
	.cb = asked_parse,
};

static struct spank_option gpu_max = {
	.name = "gpu-max",
	.arginfo = "30%",
	.usage = "limit the GPU time of the step",
	.has_arg = 1,
	.cb = asked_max_parse,
};

/**
 * slurm_spank_init() - the line of plugstack.conf
 * @spank: of Slurm
 * @argc: options of the line
 * @argv: the options
 *
 * slurmd reads the options too, so that an error is in its log when it starts.
 *
 * Return: SLURM_ERROR if an option is wrong.
 */
int slurm_spank_init(spank_t spank, int argc, char *argv[])
{
	spank_context_t context = spank_context();
	char why[KFDLIB_WHY];

	if (context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR || context == S_CTX_REMOTE) {
		if (spank_option_register(spank, &gpu_priority) != ESPANK_SUCCESS)
			slurm_error("kfdprio: cannot register --gpu-priority: does another plugin in plugstack.conf have it?");
		if (spank_option_register(spank, &gpu_max) != ESPANK_SUCCESS)
			slurm_error("kfdprio: cannot register --gpu-max: does another plugin in plugstack.conf have it?");
	}
	if (context != S_CTX_REMOTE && context != S_CTX_SLURMD)
		return SLURM_SUCCESS;
	job_prio_free(&step.options);
	if (job_prio_parse(&step.options, argc, argv, why)) {
		slurm_error("kfdprio: plugstack.conf: %s; no option of the line holds", text_shown(why, sizeof(why)));
		return SLURM_ERROR;
	}
	return SLURM_SUCCESS;
}

/* The priority that the tasks would inherit. */
static int inherited_ask(const struct kfd_dev *dev, uint32_t job_id, int *inherited)
{
	struct kfd_prio_get_args now = { .pid = getpid() };
	char why[KFDLIB_WHY];
	int ret;

	ret = proc_open(now.pid, &now.pidfd, why);
	if (!ret) {
		ret = kfd_dev_get(dev, &now);
		close(now.pidfd);
		snprintf(why, sizeof(why), "%s", strerror(-ret));
	}
	if (ret)
		slurm_error("kfdprio: job %u has no GPU priority: cannot read that of slurmstepd: %s",
			    job_id, text_shown(why, sizeof(why)));
	*inherited = ret ? KFD_PRIO_UNSET : now.priority;
	return ret;
}

static const char *by_text(enum job_prio_by by)
{
	switch (by) {
	case JOB_PRIO_BY_QOS:
		return "its QOS";
	case JOB_PRIO_BY_PARTITION:
		return "its partition";
	case JOB_PRIO_BY_DEFAULT:
		return "default= in plugstack.conf";
	case JOB_PRIO_BY_JOB:
		return "--gpu-priority";
	default:
		return "nothing";
	}
}

/* Array jobs and heterogeneous jobs have a record for each task or component. */
static const job_info_t *record_find(const job_info_msg_t *records, uint32_t job_id)
{
	uint32_t i;

	for (i = 0; i < records->record_count; i++) {
		if (records->job_array[i].job_id == job_id)
			return &records->job_array[i];
	}
	return NULL;
}

static void priority_choose(uint32_t job_id, const struct job_share_job *of, int inherited)
{
	const struct job_prio_job job = { .known = of->known, .qos = of->qos, .partition = of->partition,
					  .asked = step.asked, .inherited = inherited };

	job_prio_choose(&step.options, &job, &step.choice);
	if (step.choice.priority != KFD_PRIO_UNSET)
		slurm_verbose("kfdprio: job %u: QOS %s, partition %s: GPU priority %d (%s), by %s",
			      job_id, job.qos ? job.qos : "unknown",
			      job.partition ? job.partition : "unknown", step.choice.priority,
			      prio_band(step.choice.priority), by_text(step.choice.by));
}

/* @tasks: the step has some */
static void share_set(const struct kfd_dev *dev, uint32_t job_id, const struct job_share_job *job, bool tasks)
{
	char why[KFDLIB_WHY], text[SHARE_TEXT];
	struct step_share done;

	if (!job_share_given(&step.options.share) && !job->asked)
		return;
	job_share_choose(&step.options.share, job, &step.share);
	if (!kfd_dev_has_shares(dev, why)) {
		slurm_info("kfdprio: job %u has no share of GPU time: %s", job_id, text_shown(why, sizeof(why)));
		return;
	}
	if (step_share_set(dev, &step.share, tasks, &done, why))
		slurm_error("kfdprio: job %u: %s", job_id, text_shown(why, sizeof(why)));
	if (done.cgroup)
		slurm_verbose("kfdprio: job %u: QOS %s, partition %s: %s for its cgroup", job_id, job->qos ? job->qos : "unknown",
			      job->partition ? job->partition : "unknown", share_text(&step.share.job, text, sizeof(text)));
	if (done.own)
		slurm_verbose("kfdprio: job %u: %s for the step", job_id, share_text(&done.own_setting, text, sizeof(text)));
}

/* @tasks: the step has some: the one for pam_slurm_adopt has none, and no priority */
static void step_begin(const struct kfd_dev *dev, uint32_t job_id, bool tasks)
{
	struct job_share_job job = { .asked = tasks ? step.asked_max : 0 };
	job_info_msg_t *records = NULL;
	const job_info_t *record;
	int inherited;

	if (job_prio_by_name(&step.options)) {
		if (slurm_load_job(&records, job_id, SHOW_LOCAL) != SLURM_SUCCESS) {
			slurm_error("kfdprio: job %u: slurmctld does not report QOS and partition: %s; the GPU priority is that of default=, normal at most, and the share is the lowest of all",
				    job_id, slurm_strerror(errno));
			records = NULL;
		}
		record = records ? record_find(records, job_id) : NULL;
		job.known = record;
		job.qos = record ? record->qos : NULL;
		job.partition = record ? record->partition : NULL;
	}
	if (tasks && !inherited_ask(dev, job_id, &inherited))
		priority_choose(job_id, &job, inherited);
	share_set(dev, job_id, &job, tasks);
	if (records)
		slurm_free_job_info_msg(records);
}

/**
 * slurm_spank_init_post_opt() - choose the priority of a step, and set its share
 * @spank: of Slurm
 * @argc: options of the line
 * @argv: the options
 *
 * In slurmstepd as root, before it drops privileges and forks the tasks.
 *
 * Return: SLURM_SUCCESS.
 */
int slurm_spank_init_post_opt(spank_t spank, int argc, char *argv[])
{
	uint32_t job_id = 0, step_id = 0;
	char why[KFDLIB_WHY];
	struct kfd_dev dev;
	bool tasks;

	(void)argc;
	(void)argv;
	if (spank_context() != S_CTX_REMOTE)
		return SLURM_SUCCESS;
	if (spank_get_item(spank, S_JOB_ID, &job_id) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_STEPID, &step_id) != ESPANK_SUCCESS) {
		slurm_error("kfdprio: Slurm does not report the number of the job: it has no GPU priority");
		return SLURM_SUCCESS;
	}
	tasks = step_id != SLURM_EXTERN_CONT;
	if (!job_share_given(&step.options.share) &&
	    (!tasks || (!job_prio_by_name(&step.options) && step.options.others == KFD_PRIO_UNSET &&
			step.asked == KFD_PRIO_UNSET && !step.asked_max)))
		return SLURM_SUCCESS;
	if (kfd_dev_open(&dev, why)) {
		slurm_info("kfdprio: job %u has no GPU priority: %s", job_id, text_shown(why, sizeof(why)));
		return SLURM_SUCCESS;
	}
	step_begin(&dev, job_id, tasks);
	kfd_dev_close(&dev);
	return SLURM_SUCCESS;
}

/**
 * slurm_spank_user_init() - report to the user what was not done
 * @spank: of Slurm
 * @argc: options of the line
 * @argv: the options
 *
 * The first call at which messages reach the user.
 *
 * Return: SLURM_SUCCESS.
 */
int slurm_spank_user_init(spank_t spank, int argc, char *argv[])
{
	char max[16], text[SHARE_TEXT];

	(void)spank;
	(void)argc;
	(void)argv;
	if (step.choice.refused)
		slurm_spank_log("kfdprio: --gpu-priority=%d is ignored: it can only lower, and the GPU priority of the job is %d (%s)",
				step.asked, step.choice.limit, prio_band(step.choice.limit));
	if (step.share.refused)
		slurm_spank_log("kfdprio: --gpu-max=%s is ignored: it can only lower, and the job has %s",
				kfd_max_text(step.asked_max, max, sizeof(max)), share_text(&step.share.job, text, sizeof(text)));
	return SLURM_SUCCESS;
}

/**
 * slurm_spank_task_init_privileged() - a task sets its own priority
 * @spank: of Slurm
 * @argc: options of the line
 * @argv: the options
 *
 * In the process of the task, which is still root.
 *
 * Return: SLURM_SUCCESS.
 */
int slurm_spank_task_init_privileged(spank_t spank, int argc, char *argv[])
{
	struct kfd_prio_set_args set = { .pid = getpid(), .priority = step.choice.priority };
	char why[KFDLIB_WHY];
	struct kfd_dev dev;
	int ret;

	(void)spank;
	(void)argc;
	(void)argv;
	if (step.choice.priority == KFD_PRIO_UNSET)
		return SLURM_SUCCESS;
	if (kfd_dev_open(&dev, why)) {
		slurm_error("kfdprio: a task has no GPU priority: %s", text_shown(why, sizeof(why)));
		return SLURM_SUCCESS;
	}
	if (proc_open(set.pid, &set.pidfd, why)) {
		slurm_error("kfdprio: a task has no GPU priority: %s", text_shown(why, sizeof(why)));
		goto close_dev;
	}
	ret = kfd_dev_set(&dev, &set);
	if (ret)
		slurm_error("kfdprio: the driver refuses GPU priority %d (%s) for a task: %s; see 'dmesg'",
			    set.priority, prio_band(set.priority), strerror(-ret));
	close(set.pidfd);
close_dev:
	kfd_dev_close(&dev);
	return SLURM_SUCCESS;
}

/**
 * slurm_spank_exit() - the step has ended
 * @spank: of Slurm
 * @argc: options of the line
 * @argv: the options
 *
 * Return: SLURM_SUCCESS.
 */
int slurm_spank_exit(spank_t spank, int argc, char *argv[])
{
	(void)spank;
	(void)argc;
	(void)argv;
	job_prio_free(&step.options);
	return SLURM_SUCCESS;
}
