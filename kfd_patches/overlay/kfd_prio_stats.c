// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the window.
 *
 * /sys/class/kfd/kfd/proc/<pid>/priority (read-only): the priority that is set
 * for the process, 0..15, or -1 if none is.
 */
#include "kfd_prio_priv.h"

static struct attribute kfd_prio_attr_priority = {
	.name = "priority",
	.mode = 0444,
};

/**
 * kfd_prio_owns_attr() - is this attribute of a process directory ours?
 * @attr: what is being read
 */
bool kfd_prio_owns_attr(const struct attribute *attr)
{
	return attr == &kfd_prio_attr_priority;
}

/**
 * kfd_prio_hook_process_sysfs() - a process directory was made, add our files
 * @kobj: the directory; KFD removes it with everything in it
 *
 * Context: kfd_processes_mutex
 */
void kfd_prio_hook_process_sysfs(struct kobject *kobj)
{
	if (sysfs_create_file(kobj, &kfd_prio_attr_priority))
		pr_warn("kfdprio: no file 'priority' for process %s\n", kobject_name(kobj));
}

/**
 * kfd_prio_hook_procfs_show() - read the file "priority"
 * @kobj: directory of the process
 * @buffer: a page
 *
 * The process is found by its directory, not by the number in its name, which
 * may belong to another process by the time of a late read.
 *
 * Return: number of bytes, or -ESRCH if the process is gone
 */
ssize_t kfd_prio_hook_procfs_show(struct kobject *kobj, char *buffer)
{
	ssize_t ret = -ESRCH;
	struct kfd_process *p;
	unsigned int bkt;
	int idx;

	idx = srcu_read_lock(&kfd_processes_srcu);
	hash_for_each_rcu(kfd_processes_table, bkt, p, kfd_processes)
		if (p->kobj == kobj) {
			ret = sysfs_emit(buffer, "%d\n", kfd_prio_of_process(p));
			break;
		}
	srcu_read_unlock(&kfd_processes_srcu, idx);
	return ret;
}
