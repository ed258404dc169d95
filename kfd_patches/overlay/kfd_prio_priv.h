/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* kfdprio: what its own files share. */
#ifndef KFD_PRIO_PRIV_H_INCLUDED
#define KFD_PRIO_PRIV_H_INCLUDED

#include <linux/jump_label.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include "kfd_prio_compat.h"
#include "kfd_prio.h"
#include "kfd_prio_policy.h"

/**
 * enum kfd_prio_source - who changed a priority, in the event kfd_set_priority
 * @KFD_PRIO_SOURCE_IOCTL: KFD_PRIO_IOC_SET
 * @KFD_PRIO_SOURCE_FORK: inherited from the parent
 */
enum kfd_prio_source {
	KFD_PRIO_SOURCE_IOCTL,
	KFD_PRIO_SOURCE_FORK,
};

/* @filter of kfd_unmap_queues when MES removes one queue; KFD's own are 0..3 */
#define KFD_PRIO_UNMAP_MES_QUEUE 0x80

/* kfd_prio_table.c */
void kfd_prio_table_init(void);
void kfd_prio_table_exit(void);
bool kfd_prio_table_inherits(void);
int kfd_prio_table_get(struct pid *pid);
int kfd_prio_table_set(struct task_struct *task, int prio, bool may_raise, int *old);

/* kfd_prio_queue.c */
int kfd_prio_of_process(struct kfd_process *p);
u32 kfd_prio_of_queue(struct queue *q);
int kfd_prio_apply(struct pid *pid, u32 *nr_queues);

/* kfd_prio_dqm.inc.c */
int kfd_prio_dqm_apply(struct kfd_process_device *pdd, u32 *nr_queues);

/* kfd_prio_knobs.c */
void kfd_prio_knobs_read(struct kfd_prio_knobs *k);
u64 kfd_prio_safety_poll_ns(void);

#endif /* KFD_PRIO_PRIV_H_INCLUDED */
