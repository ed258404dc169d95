/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: declarations of the engine (Documentation/design.rst, "The layers"), the lowest file
 * first.
 */
#ifndef KFD_PRIO_ENGINE_H_INCLUDED
#define KFD_PRIO_ENGINE_H_INCLUDED

#include "kfd_prio_priv.h"

/**
 * enum kfd_prio_step_by - the caller of a step of the engine
 * @KFD_PRIO_STEP_FAULT: the fault of a doorbell
 * @KFD_PRIO_STEP_RING: the GPU's thread, for a ring, before it observes
 * @KFD_PRIO_STEP_OBSERVED: the GPU's thread after it has observed, a changed module parameter, and
 *	a runlist of KFD (kfd_prio_prepare()), which need not wait for an observation
 */
enum kfd_prio_step_by {
	KFD_PRIO_STEP_FAULT,
	KFD_PRIO_STEP_RING,
	KFD_PRIO_STEP_OBSERVED,
};

/**
 * struct kfd_prio_step - a step of the engine, or the decision that a runlist of KFD causes
 * @by: the caller
 * @k: module parameters as they apply to the GPU
 * @now: when the decision was made, ktime_get_ns()
 * @dec: decision of the policy
 * @preemptor: the process whose claim holds the level; NULL if there is no level
 * @m: changes of the marks
 * @saves: number of processes with work that the last marking in the step has taken off: the GPU
 *	saves their waves
 * @unexpected: an event came that the state does not expect
 */
struct kfd_prio_step {
	enum kfd_prio_step_by by;
	struct kfd_prio_params k;
	u64 now;
	struct kfd_prio_decision dec;
	struct qcm_process_device *preemptor;
	struct kfd_prio_marked m;
	u32 saves;
	bool unexpected;
};

/**
 * struct kfd_prio_end - a preemption that ends, traced after its victims were put back
 * @pid: PID of the process that began it
 * @level: its level
 * @seq: its number
 * @begun_at: when it began, ktime_get_ns(); 0: no preemption ends
 * @save_ns: its longest save, ns; 0: not known
 * @reason: why it ends
 */
struct kfd_prio_end {
	s32 pid;
	int level;
	u32 seq;
	u64 begun_at;
	u64 save_ns;
	enum kfd_prio_reason reason;
};

/* kfd_prio_commit.c */
u8 kfd_prio_engine_event(struct device_queue_manager *dqm, enum kfd_prio_event ev);
bool kfd_prio_decide(struct device_queue_manager *dqm, struct kfd_prio_step *s);
void kfd_prio_decided(struct device_queue_manager *dqm, const struct kfd_prio_step *s);
void kfd_prio_commit(struct device_queue_manager *dqm, struct kfd_prio_step *s, bool by_kfd,
		     struct kfd_prio_end *end);
void kfd_prio_commit_nothing(struct device_queue_manager *dqm, const struct kfd_prio_step *s);
void kfd_prio_mark_runlist(struct device_queue_manager *dqm, struct kfd_prio_step *s, bool by_kfd);
void kfd_prio_prepare(struct device_queue_manager *dqm, bool by_kfd);
void kfd_prio_ended(struct device_queue_manager *dqm, const struct kfd_prio_end *end,
		    const struct kfd_prio_marked *m, int ret);
bool kfd_prio_changes(const struct kfd_prio_dqm *d, const struct kfd_prio_step *s);

/* kfd_prio_engine.c */
void kfd_prio_engine_step(struct device_queue_manager *dqm, enum kfd_prio_step_by by);
void kfd_prio_engine_charge(struct device_queue_manager *dqm);
void kfd_prio_engine_rung(struct kfd_process_device *pdd);
int kfd_prio_engine_settle(struct device_queue_manager *dqm);
void kfd_prio_engine_unmap(struct device_queue_manager *dqm);
void kfd_prio_engine_unmap_sent(struct device_queue_manager *dqm, int ret);
bool kfd_prio_engine_unmap_wait(struct device_queue_manager *dqm, int *ret);
void kfd_prio_engine_unmap_done(struct device_queue_manager *dqm, int ret);
void kfd_prio_engine_mapping(struct device_queue_manager *dqm);
void kfd_prio_engine_mapped(struct device_queue_manager *dqm, int ret);

/* kfd_prio_process.c */
int kfd_prio_process_apply(struct pid *pid, u32 *nr_queues);
int kfd_prio_process_apply_orphan(u64 family, u32 *nr_queues);
void kfd_prio_process_orphans(struct device_queue_manager *dqm);
void kfd_prio_process_orphans_now(void);
void kfd_prio_process_queue_created(struct device_queue_manager *dqm,
				    struct qcm_process_device *qpd, struct queue *q);
void kfd_prio_process_queue_changed(struct queue *q);

/* kfd_prio_thread.c */
void kfd_prio_thread_use(int prio);
void kfd_prio_thread_start_all(void);
void kfd_prio_thread_opened(void);
void kfd_prio_thread_reconfigure(bool rearm);

#endif /* KFD_PRIO_ENGINE_H_INCLUDED */
