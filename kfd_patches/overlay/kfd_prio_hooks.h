/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: the hooks that hooks.cocci adds to amdkfd, and the lock that each runs under. kfd_priv.h
 * includes this file, and with it the members that kfdprio adds to KFD's structures, before these
 * are defined, so nothing here may use their members.
 *
 * A hook cannot make its caller fail, and takes no lock that KFD holds around it.
 */
#ifndef KFD_PRIO_HOOKS_H_INCLUDED
#define KFD_PRIO_HOOKS_H_INCLUDED

#include <linux/fs.h>
#include <linux/sysfs.h>
#include "kfd_prio_dqm.h"
#include "kfd_prio_members.h"

struct kfd_process;
struct kfd_process_device;
struct mutex;
struct mqd_update_info;
struct qcm_process_device;
struct vm_area_struct;

/* Module load and unload; no lock. At unload no process and no open file is left. */
void kfd_prio_hook_module_init(void);
void kfd_prio_hook_module_exit(void);

/*
 * /dev/kfd; no lock. kfd_prio_hook_open() returns true if the file is for ioctls only: kfd_open()
 * then returns at once and creates no process.
 */
bool kfd_prio_hook_open(struct file *filep);
bool kfd_prio_owns_ioctl(struct file *filep, unsigned int cmd);
long kfd_prio_hook_ioctl(struct file *filep, unsigned int cmd, unsigned long arg);

/*
 * /sys/class/kfd/kfd/proc/<pid> and its stats_<gpuid>. Creation: kfd_processes_mutex; show: no
 * lock.
 */
bool kfd_prio_owns_attr(const struct attribute *attr);
ssize_t kfd_prio_hook_procfs_show(struct kobject *kobj, char *buffer);
void kfd_prio_hook_process_sysfs(struct kobject *kobj);
ssize_t kfd_prio_hook_stats_show(struct kobject *kobj, struct attribute *attr, char *buffer);
void kfd_prio_hook_stats_sysfs(struct kobject *kobj);

/*
 * Life of a process and its doorbells. Locks:
 * - process_created, process_nameless, context_created: kfd_processes_mutex;
 * - process_failed: the same, which the hook drops and takes again;
 * - process_found: kfd_processes_srcu;
 * - process_opened: none;
 * - process_exit: none; the last user of the mm of the process has gone;
 * - process_release, process_free: none; begin and end of the last release of the process;
 * - doorbell_mmap: mmap_lock of the process, for writing;
 * - unmap_range: none of KFD's; a GPU is being reset.
 */
void kfd_prio_hook_process_created(struct kfd_process *p);
void kfd_prio_hook_process_failed(struct kfd_process *p, struct mutex *processes_mutex,
				  unsigned int refs);
void kfd_prio_hook_process_found(struct kfd_process **p);
void kfd_prio_hook_process_nameless(struct kfd_process *p);
void kfd_prio_hook_process_opened(struct kfd_process *p, struct file *filep);
void kfd_prio_hook_context_created(struct kfd_process *p, struct file *filep);
void kfd_prio_hook_process_exit(struct kfd_process *p);
void kfd_prio_hook_process_release(struct kfd_process *p);
void kfd_prio_hook_process_free(struct kfd_process *p);
bool kfd_prio_hook_doorbell_mmap(struct kfd_process_device *pdd, struct vm_area_struct *vma,
				 phys_addr_t address);
void kfd_prio_hook_unmap_range(loff_t start, loff_t len);

/* An operation of a debugger begins; no lock, because these hooks may wait */
void kfd_prio_hook_debug_trap(u32 op);
void kfd_prio_hook_runtime_enable(void);

/*
 * drain_interrupts, queue_nameless: process lock, or none while the mm of the process goes or the
 * process is released; process_unhashed: kfd_processes_mutex
 */
bool kfd_prio_hook_drain_interrupts(struct kfd_process_device *pdd);
void kfd_prio_hook_process_unhashed(struct kfd_process *p);
bool kfd_prio_hook_queue_nameless(struct queue *q);

/* A worker of KFD that handles interrupts; no lock */
void kfd_prio_hook_signal(struct kfd_process *p);

/* A GPU is added or removed; no lock */
void kfd_prio_hook_dqm_init(struct device_queue_manager *dqm);
void kfd_prio_hook_dqm_uninit(struct device_queue_manager *dqm);

/* Process lock; destroy_queue also from the last release of a process, without a lock */
bool kfd_prio_hook_request_priority(struct queue *q, u32 priority);
void kfd_prio_hook_destroy_queue(struct queue *q, enum kfd_prio_destroy_reason reason, int ret);

/* DQM lock */
void kfd_prio_hook_create_queue(struct device_queue_manager *dqm, struct qcm_process_device *qpd,
				struct queue *q);
void kfd_prio_hook_init_mqd(struct device_queue_manager *dqm, struct queue *q, bool restored);
void kfd_prio_hook_resolve_priority(struct device_queue_manager *dqm, struct queue *q);
void kfd_prio_hook_update_queue(struct device_queue_manager *dqm, struct queue *q, int ret);
void kfd_prio_hook_map_queues(struct device_queue_manager *dqm, int ret);
void kfd_prio_hook_unmap_queues(struct device_queue_manager *dqm, u32 filter, u32 param);
void kfd_prio_hook_unmap_sent(struct device_queue_manager *dqm, int ret);
bool kfd_prio_hook_unmap_wait(struct device_queue_manager *dqm, int *ret);
void kfd_prio_hook_unmap_done(struct device_queue_manager *dqm, int ret);
void kfd_prio_hook_evict_process(struct device_queue_manager *dqm,
				 struct qcm_process_device *qpd, int ret);
void kfd_prio_hook_restore_process(struct device_queue_manager *dqm,
				   struct qcm_process_device *qpd, int ret);
void kfd_prio_hook_hws_hang(struct device_queue_manager *dqm);
void kfd_prio_hook_queue_reset(struct queue *q);
void kfd_prio_hook_map_prepare(struct device_queue_manager *dqm);
void kfd_prio_hook_runlist_size(struct device_queue_manager *dqm, unsigned int *processes);
bool kfd_prio_hook_runlist_skip(struct qcm_process_device *qpd);
bool kfd_prio_hook_terminate_preempted(struct device_queue_manager *dqm,
				       struct qcm_process_device *qpd, u32 filter);
void kfd_prio_hook_fence_wait(void);
void kfd_prio_hook_unregister_process(struct device_queue_manager *dqm,
				      struct qcm_process_device *qpd);

/*
 * DQM lock; compiled into the object that calls it. The call must stay a call, because
 * kfd_prio_hooked.sh looks for it in that object.
 */
noinline __noclone
bool kfd_prio_hook_update_preempted(struct kfd_process_device *pdd, struct queue *q,
				    struct mqd_update_info *minfo, int *ret);

/* DQM lock; the MES lock as well for all but the first */
void kfd_prio_hook_mes_priority(struct queue *q, u32 *level);
void kfd_prio_hook_mes_added(struct device_queue_manager *dqm, struct queue *q, u32 level,
			     int ret);
void kfd_prio_hook_mes_remove(struct device_queue_manager *dqm, struct queue *q);

#endif /* KFD_PRIO_HOOKS_H_INCLUDED */
