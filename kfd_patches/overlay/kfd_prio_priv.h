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

/**
 * enum kfd_prio_wake - how work of a process was noticed, in kfd_doorbell_wake
 * @KFD_PRIO_WAKE_FAULT: it rang while its doorbells were trapped
 * @KFD_PRIO_WAKE_POLL: its indices had moved without that
 */
enum kfd_prio_wake {
	KFD_PRIO_WAKE_FAULT,
	KFD_PRIO_WAKE_POLL,
};

/* A process has at most that many queues on a GPU: KFD_MAX_NUM_OF_QUEUES_PER_PROCESS */
#define KFD_PRIO_MAX_INDEX	1024

/**
 * struct kfd_prio_index - indices of a queue, in the memory of its process
 * @rptr: address of the read index
 * @wptr: address of the write index
 * @mask: of both; ~0 if they are 64 bits wide
 */
struct kfd_prio_index {
	const void __user *rptr;
	const void __user *wptr;
	u64 mask;
};

/**
 * struct kfd_prio_snapshot - what is needed to look at a process without the DQM lock
 * @nr: number of queues
 * @index: their indices
 * @occupancy: room for the answer of the ASIC
 */
struct kfd_prio_snapshot {
	u32 nr;
	struct kfd_prio_index index[KFD_PRIO_MAX_INDEX];
	u64 occupancy[DIV_ROUND_UP(KFD_PRIO_OCCUPANCY_SIZE, sizeof(u64))];
};

/**
 * struct kfd_prio_seen - what was seen of a process
 * @work: read and write index of a queue differ
 * @waves: it has waves in flight
 * @unreadable: the indices of a queue could not be read
 * @rptr_sum: of its queues
 * @wptr_sum: of its queues
 */
struct kfd_prio_seen {
	bool work;
	bool waves;
	bool unreadable;
	u64 rptr_sum;
	u64 wptr_sum;
};

/**
 * struct kfd_prio_marked - what a change of level did to the queues of a GPU
 * @preempted: processes that are preempted now and were not
 * @restored: the other way round
 * @off: queues that must leave the hardware
 * @on: queues that may go back
 */
struct kfd_prio_marked {
	u32 preempted;
	u32 restored;
	u32 off;
	u32 on;
};

/* One claim per priority stands for all of it */
#define KFD_PRIO_MAX_CLAIMS	(KFD_PRIO_MAX + 1)

/* kfd_prio_table.c */
bool kfd_prio_table_used(void);
void kfd_prio_table_init(void);
void kfd_prio_table_exit(void);
bool kfd_prio_table_inherits(void);
int kfd_prio_table_get(struct pid *pid);
int kfd_prio_table_set(struct task_struct *task, int prio, bool may_raise, int *old);

/* kfd_prio_queue.c */
int kfd_prio_of_process(struct kfd_process *p);
u32 kfd_prio_of_queue(struct queue *q);
int kfd_prio_apply(struct pid *pid, u32 *nr_queues);

/* kfd_prio_knobs.c */
void kfd_prio_knobs_read(struct kfd_prio_knobs *k);
u64 kfd_prio_safety_poll_ns(void);

/* kfd_prio_doorbell.c */
void kfd_prio_doorbell_init(void);
void kfd_prio_doorbell_exit(void);
bool kfd_prio_doorbell_arm(struct kfd_process_device *pdd);

/* kfd_prio_observe.c */
void kfd_prio_snapshot(struct qcm_process_device *qpd, struct kfd_prio_snapshot *s);
bool kfd_prio_observe(const struct kfd_prio_snapshot *s, struct mm_struct *mm,
		      struct kfd_prio_seen *seen);
bool kfd_prio_waves(struct kfd_process_device *pdd, struct kfd_prio_snapshot *s);

/* kfd_prio_claim.c */
void kfd_prio_refresh(struct qcm_process_device *qpd);
bool kfd_prio_is_victim(struct qcm_process_device *qpd, int level);
void kfd_prio_claim_update(struct device_queue_manager *dqm, struct qcm_process_device *qpd);
void kfd_prio_claim_drop(struct device_queue_manager *dqm, struct qcm_process_device *qpd);
int kfd_prio_claim_fold(struct device_queue_manager *dqm, const struct kfd_prio_knobs *k,
			bool in_fault, u64 now, struct kfd_prio_claim *claims,
			struct qcm_process_device **owners);
void kfd_prio_claim_skip(struct device_queue_manager *dqm, u64 since);
bool kfd_prio_claim_rings(struct device_queue_manager *dqm);
u64 kfd_prio_claim_poll_at(struct device_queue_manager *dqm, const struct kfd_prio_knobs *k,
			   u64 now);
void kfd_prio_claim_look(struct device_queue_manager *dqm, struct kfd_prio_snapshot *s);

/* kfd_prio_engine.c */
void kfd_prio_engine_step(struct device_queue_manager *dqm, bool in_fault, bool execute);
void kfd_prio_engine_rung(struct kfd_process_device *pdd);
void kfd_prio_engine_unmapping(struct device_queue_manager *dqm);
void kfd_prio_engine_queue_created(struct device_queue_manager *dqm,
				   struct qcm_process_device *qpd, struct queue *q);
void kfd_prio_engine_priority_changed(struct device_queue_manager *dqm,
				      struct qcm_process_device *qpd);
void kfd_prio_engine_queue_changed(struct queue *q);

/* kfd_prio_gpu.c */
void kfd_prio_gpu_start(int prio);
void kfd_prio_gpu_reconfigure(void);
void kfd_prio_gpu_kick(struct device_queue_manager *dqm);
struct kfd_prio_dqm *kfd_prio_gpu_first(void);
struct kfd_prio_dqm *kfd_prio_gpu_next(struct kfd_prio_dqm *d);
void kfd_prio_gpu_last(void);

/* kfd_prio_debugfs.c */
void kfd_prio_debugfs_init(void);

/**
 * kfd_prio_preempted_ns() - how long a process has been preempted on a GPU in all
 * @prio: of the process on the GPU
 *
 * Context: DQM lock
 */
static inline u64 kfd_prio_preempted_ns(const struct kfd_prio_qpd *prio)
{
	return prio->preempted_ns + (prio->preempted ? ktime_get_ns() - prio->preempted_at : 0);
}

/* kfd_prio_dqm.inc.c */
void kfd_prio_dqm_mark(struct device_queue_manager *dqm, int level, u64 now,
		       struct kfd_prio_marked *m);
void kfd_prio_dqm_mark_one(struct device_queue_manager *dqm, struct qcm_process_device *qpd,
			   bool victim, u64 now, struct kfd_prio_marked *m);
bool kfd_prio_dqm_takes(struct device_queue_manager *dqm, int level);
int kfd_prio_dqm_execute(struct device_queue_manager *dqm);
void kfd_prio_dqm_unpin(struct device_queue_manager *dqm, struct qcm_process_device *qpd);
void kfd_prio_dqm_repin(struct device_queue_manager *dqm, struct qcm_process_device *qpd);
int kfd_prio_dqm_apply(struct kfd_process_device *pdd, u32 *nr_queues);

/* kfd_prio_knobs.c */
void kfd_prio_knobs_read(struct kfd_prio_knobs *k);
u64 kfd_prio_safety_poll_ns(void);

#endif /* KFD_PRIO_PRIV_H_INCLUDED */
