/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: declarations of kfd_prio_poll.c, kfd_prio_claim.c and kfd_prio_detect.c for
 * each other and for the GPU's thread.
 */
#ifndef KFD_PRIO_CLAIM_H
#define KFD_PRIO_CLAIM_H

#include "kfd_prio_priv.h"

/*
 * A pass over the claims ends after so many reads, each of the indices and packets of a queue. Its
 * length must be below KFD_PRIO_REPEAT: a process whose doorbells have faulted must run before they
 * are trapped again, to repeat its store, and may need the CPU of the GPU's thread.
 */
#define KFD_PRIO_POLL_READS	256

/* An observation of a claim takes as long as so many reads, besides its reads */
#define KFD_PRIO_POLL_CLAIM	20

/* Reading the MQD of a queue takes as long as so many reads, as it may lie in VRAM */
#define KFD_PRIO_POLL_MQD	2

/*
 * The thread observes a claim at this time after the interrupt, ns. The process that waits for the
 * event may need the CPU on which the thread runs, and runs first. On the simulated GPU a process
 * ran again 16 to 23 us after the end of its work.
 */
#define KFD_PRIO_SIGNAL_WAIT	40000ULL

/**
 * struct kfd_prio_claim_pass - a pass of the GPU's thread over the claims that are due
 * @begin: begin of the pass, ktime_get_ns(): later claims are not due in it
 * @list: the list from which the next claim is selected; at the end, KFD_PRIO_PASS_RUNG
 * @left: number of claims of rung_claims that the pass has not reached yet
 * @reads: where the reads of the selected claim are counted
 * @rung_reads: number of reads of claims of rung_claims
 * @ns: time that the observations have taken, ns
 */
struct kfd_prio_claim_pass {
	u64 begin;
	enum {
		KFD_PRIO_PASS_TRAPPED,
		KFD_PRIO_PASS_FRESH,
		KFD_PRIO_PASS_RUNG,
	} list;
	unsigned int left;
	u32 *reads;
	u32 rung_reads;
	u64 ns;
};

/**
 * kfd_prio_claim_of() - the data of a claim that the policy uses
 * @qp: the process on a GPU
 *
 * Context: DQM lock
 */
static inline struct kfd_prio_claim kfd_prio_claim_of(const struct kfd_prio_qpd *qp)
{
	return (struct kfd_prio_claim) {
		.prio = qp->claim.prio,
		.rung = qp->claim.rung,
		.work = qp->work,
		.work_at = qp->claim.work_at,
		.progress_at = qp->progress_at,
	};
}

/* kfd_prio_poll.c */
void kfd_prio_claim_pass_begin(struct device_queue_manager *dqm, struct kfd_prio_claim_pass *pass);
struct kfd_prio_qpd *kfd_prio_claim_pass_next(struct device_queue_manager *dqm,
					      struct kfd_prio_claim_pass *pass,
					      const struct kfd_prio_params *k);
void kfd_prio_claim_pass_end(struct device_queue_manager *dqm,
			     const struct kfd_prio_claim_pass *pass);
void kfd_prio_claim_observed(struct device_queue_manager *dqm, struct kfd_prio_qpd *qp, u64 at);

/* kfd_prio_claim.c */
void kfd_prio_claim_works(struct qcm_process_device *qpd, enum kfd_prio_wake wake, bool in_fault,
			  u64 now);

/* kfd_prio_detect.c */
bool kfd_prio_claim_observe(struct device_queue_manager *dqm, struct kfd_prio_snapshot *s,
			    struct kfd_prio_claim_pass *pass);

#endif
