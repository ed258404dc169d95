// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: files in sysfs, read-only.
 *
 * /sys/class/kfd/kfd/proc/<pid>/priority: the priority that is set for the process, 0..15, or -1 if
 * none is.
 *
 * /sys/class/kfd/kfd/proc/<pid>/stats_<gpuid>/, of the process on that GPU:
 *	preempted_count		how often the process was preempted
 *	preempted_us		total time preempted, us, including a preemption in force
 *	preempting_count	how many preemptions of others the process has begun
 *	parked_count		how often the process was parked
 *	parked_us		total time parked, us, including the present time
 *	saved_count		number of its preemptions for which CP firmware gives a save time
 *	saved_us		sum of the longest save of each of these, us
 *	saved_max_us		the longest of these, us
 */
#include "kfd_prio_priv.h"

#define KFD_PRIO_ATTR(attr)				\
static struct attribute kfd_prio_attr_##attr = {	\
	.name = #attr,					\
	.mode = 0444,					\
}

KFD_PRIO_ATTR(priority);
KFD_PRIO_ATTR(preempted_count);
KFD_PRIO_ATTR(preempted_us);
KFD_PRIO_ATTR(preempting_count);
KFD_PRIO_ATTR(parked_count);
KFD_PRIO_ATTR(parked_us);
KFD_PRIO_ATTR(saved_count);
KFD_PRIO_ATTR(saved_us);
KFD_PRIO_ATTR(saved_max_us);

static struct attribute *const kfd_prio_stats[] = {
	&kfd_prio_attr_preempted_count,
	&kfd_prio_attr_preempted_us,
	&kfd_prio_attr_preempting_count,
	&kfd_prio_attr_parked_count,
	&kfd_prio_attr_parked_us,
	&kfd_prio_attr_saved_count,
	&kfd_prio_attr_saved_us,
	&kfd_prio_attr_saved_max_us,
};

/**
 * kfd_prio_owns_attr() - whether an attribute in a process or statistics directory belongs to
 * kfdprio
 * @attr: the attribute that is read
 *
 * Context: any
 */
bool kfd_prio_owns_attr(const struct attribute *attr)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(kfd_prio_stats); i++)
		if (attr == kfd_prio_stats[i])
			return true;
	return attr == &kfd_prio_attr_priority;
}

/**
 * kfd_prio_hook_process_sysfs() - KFD has created the directory of a process: add kfdprio's file
 * @kobj: the directory, which KFD removes with all its files
 *
 * Context: kfd_processes_mutex
 */
void kfd_prio_hook_process_sysfs(struct kobject *kobj)
{
	if (sysfs_create_file(kobj, &kfd_prio_attr_priority))
		pr_warn("kfdprio: cannot create sysfs file 'priority' of process %s\n",
			kobject_name(kobj));
}

/**
 * kfd_prio_hook_procfs_show() - read the file "priority"
 * @kobj: directory of the process
 * @buffer: a page
 *
 * The process is found by its directory, because the PID in the name of the directory may belong to
 * another process at the time of a late read.
 *
 * Context: process, no lock
 * Return: number of bytes, or -ESRCH if the process is gone
 */
ssize_t kfd_prio_hook_procfs_show(struct kobject *kobj, char *buffer)
{
	ssize_t ret = -ESRCH;
	struct kfd_process *p = NULL;

	while ((p = kfd_prio_processes_next(p)))
		if (READ_ONCE(p->kobj) == kobj && !READ_ONCE(p->prio.gone)) {
			ret = sysfs_emit(buffer, "%d\n", kfd_prio_process_values(p).prio);
			kfd_prio_process_drop(p);
			break;
		}
	return ret;
}

/**
 * kfd_prio_hook_stats_sysfs() - KFD has created a statistics directory: add kfdprio's files
 * @kobj: the directory, of a process on a GPU, which KFD removes with all its files
 *
 * Context: kfd_processes_mutex
 */
void kfd_prio_hook_stats_sysfs(struct kobject *kobj)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(kfd_prio_stats); i++)
		if (sysfs_create_file(kobj, kfd_prio_stats[i]))
			pr_warn("kfdprio: cannot create sysfs file '%s' in %s\n",
				kfd_prio_stats[i]->name, kobject_name(kobj));
}

/* Reads the value of a file; 0 if the GPU was removed. Takes the DQM lock */
static u64 kfd_prio_stat(struct kfd_process_device *pdd, const struct attribute *attr)
{
	struct device_queue_manager *dqm = pdd->qpd.dqm;
	struct kfd_prio_qpd *prio = &pdd->qpd.prio;
	u64 value;

	if (!kfd_prio_gpu_hold(dqm))
		return 0;
	dqm_lock(dqm);
	if (attr == &kfd_prio_attr_preempted_count)
		value = prio->preempted_count;
	else if (attr == &kfd_prio_attr_preempted_us)
		value = div_u64(kfd_prio_preempted_ns(prio), NSEC_PER_USEC);
	else if (attr == &kfd_prio_attr_preempting_count)
		value = prio->preempting_count;
	else if (attr == &kfd_prio_attr_parked_count)
		value = prio->park.count;
	else if (attr == &kfd_prio_attr_parked_us)
		value = div_u64(kfd_prio_parked_ns(prio), NSEC_PER_USEC);
	else if (attr == &kfd_prio_attr_saved_count)
		value = prio->save.count;
	else if (attr == &kfd_prio_attr_saved_us)
		value = div_u64(prio->save.sum_ns, NSEC_PER_USEC);
	else
		value = div_u64(prio->save.max_ns, NSEC_PER_USEC);
	dqm_unlock(dqm);
	kfd_prio_gpu_drop(dqm);
	return value;
}

/**
 * kfd_prio_hook_stats_show() - read a file of kfdprio in a statistics directory
 * @kobj: the directory
 * @attr: the file, for which kfd_prio_owns_attr() returns true
 * @buffer: a page
 *
 * Context: takes the DQM lock, so the read waits for an unmap in progress
 * Return: number of bytes, or -ESRCH if the process is gone
 */
ssize_t kfd_prio_hook_stats_show(struct kobject *kobj, struct attribute *attr, char *buffer)
{
	ssize_t ret = -ESRCH;
	struct kfd_process *p = NULL;
	int i;

	while ((p = kfd_prio_processes_next(p)))
		for (i = 0; i < p->n_pdds; i++)
			if (READ_ONCE(p->pdds[i]->kobj_stats) == kobj && !READ_ONCE(p->prio.gone)) {
				ret = sysfs_emit(buffer, "%llu\n", kfd_prio_stat(p->pdds[i], attr));
				kfd_prio_process_drop(p);
				return ret;
			}
	return ret;
}
