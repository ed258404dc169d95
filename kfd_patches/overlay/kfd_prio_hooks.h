/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: every hook that hooks.cocci puts into amdkfd, and the lock it runs
 * under.  Included by kfd_priv.h before KFD's own structures exist, so it must
 * not look into them.
 *
 * No hook can fail its caller, and none takes a lock that KFD takes around it.
 */
#ifndef KFD_PRIO_HOOKS_H_INCLUDED
#define KFD_PRIO_HOOKS_H_INCLUDED

#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/sysfs.h>
#include <linux/types.h>

struct device_queue_manager;
struct qcm_process_device;
struct queue;

/**
 * struct kfd_prio_queue - what we keep in each struct queue
 * @requested: priority the owner asked for, 0..15; the one in force is
 *	queue_properties.priority.  Protected by the DQM lock, but for the owner's
 *	update request, which KFD serialises with the process lock
 * @announced: kfd_create_queue was traced, kfd_destroy_queue is due
 */
struct kfd_prio_queue {
	u32 requested;
	bool announced;
};

/**
 * struct kfd_prio_dqm - what we keep in each struct device_queue_manager
 * @unmap_start: when the unmap in progress began; protected by the DQM lock
 * @unmap_seq: its number, joins kfd_unmap_queues to kfd_unmap_queues_done;
 *	protected by the DQM lock
 * @unmap_running: an unmap was announced and is not done; protected by the
 *	DQM lock
 */
struct kfd_prio_dqm {
	ktime_t unmap_start;
	u32 unmap_seq;
	bool unmap_running;
};

/**
 * enum kfd_prio_destroy_reason - why kfd_destroy_queue was traced
 * @KFD_PRIO_DESTROY_IOCTL: its owner asked for it
 * @KFD_PRIO_DESTROY_EXIT: its process has ended, or closed KFD
 * @KFD_PRIO_DESTROY_CREATE_FAILED: creation was announced and failed later
 */
enum kfd_prio_destroy_reason {
	KFD_PRIO_DESTROY_IOCTL,
	KFD_PRIO_DESTROY_EXIT,
	KFD_PRIO_DESTROY_CREATE_FAILED,
};

/* Module load and unload; no lock.  At unload no process and no open file is left. */
void kfd_prio_hook_module_init(void);
void kfd_prio_hook_module_exit(void);

/* /dev/kfd; no lock.  open: true if the file is for ioctls alone and is done with. */
bool kfd_prio_hook_open(struct file *filep);
bool kfd_prio_owns_ioctl(struct file *filep, unsigned int cmd);
long kfd_prio_hook_ioctl(struct file *filep, unsigned int cmd, unsigned long arg);

/* /sys/class/kfd/kfd/proc/<pid>; kfd_processes_mutex at creation, none at show */
bool kfd_prio_owns_attr(const struct attribute *attr);
ssize_t kfd_prio_hook_procfs_show(struct kobject *kobj, char *buffer);
void kfd_prio_hook_process_sysfs(struct kobject *kobj);

/* Process lock; destroy_queue also from the last release of a process, no lock */
void kfd_prio_hook_request_priority(struct queue *q, u32 priority);
void kfd_prio_hook_destroy_queue(struct queue *q, enum kfd_prio_destroy_reason reason, int ret);

/* DQM lock */
void kfd_prio_hook_create_queue(struct device_queue_manager *dqm, struct queue *q);
void kfd_prio_hook_init_mqd(struct device_queue_manager *dqm, struct queue *q, bool restored);
void kfd_prio_hook_resolve_priority(struct device_queue_manager *dqm, struct queue *q);
void kfd_prio_hook_update_queue(struct device_queue_manager *dqm, struct queue *q, int ret);
void kfd_prio_hook_map_queues(struct device_queue_manager *dqm, int ret);
void kfd_prio_hook_unmap_queues(struct device_queue_manager *dqm, u32 filter, u32 param);
void kfd_prio_hook_unmap_sent(struct device_queue_manager *dqm, int ret);
void kfd_prio_hook_unmap_done(struct device_queue_manager *dqm, int ret);
void kfd_prio_hook_evict_process(struct device_queue_manager *dqm,
				 struct qcm_process_device *qpd, int ret);
void kfd_prio_hook_restore_process(struct device_queue_manager *dqm,
				   struct qcm_process_device *qpd, int ret);
void kfd_prio_hook_hws_hang(struct device_queue_manager *dqm);

/* DQM lock, MES lock for all but the first */
void kfd_prio_hook_mes_priority(struct queue *q, u32 *level);
void kfd_prio_hook_mes_added(struct device_queue_manager *dqm, struct queue *q, u32 level,
			     int ret);
void kfd_prio_hook_mes_remove(struct device_queue_manager *dqm, struct queue *q);

#endif /* KFD_PRIO_HOOKS_H_INCLUDED */
