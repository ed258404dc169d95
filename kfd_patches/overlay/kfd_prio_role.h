/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: the standing of a process on a GPU: its rank, whether it has work, and whether a level
 * keeps it off. The functions are inline for kfd_prio_dqm_mark(), because a ring waits for its walk
 * over all processes.
 */
#ifndef KFD_PRIO_ROLE_H
#define KFD_PRIO_ROLE_H

#include "kfd_prio_priv.h"
#include "kfd_prio_share.h"

/**
 * struct kfd_prio_weight - whether a process is to be kept off, and whether it has work
 * @off: the process is to be kept off
 * @works: the process has work that it could run, or may have some
 * @quiet: the process seems to have no work, or makes room for the level
 * @idle: the process is proved to have no work
 */
struct kfd_prio_weight {
	bool off;
	bool works;
	bool quiet;
	bool idle;
};

/**
 * kfd_prio_is_armed() - whether the next ring of a process faults, and no work of it is known
 * @qpd: the process on a GPU
 *
 * Where waves are not counted, the last kernel of a claim may run for all that.
 *
 * Context: DQM lock; a ring may come at any time, see kfd_prio_engine_rung()
 */
static inline bool kfd_prio_is_armed(struct qcm_process_device *qpd)
{
	const struct kfd_prio_qpd *qp = &qpd->prio;

	return kfd_prio_trap_armed(qp) && !qp->work && kfd_prio_doorbell_traps(qpd);
}

/**
 * kfd_prio_seems_idle() - whether a process seems to have no work on a GPU
 * @qpd: the process on the GPU
 *
 * An armed trap alone does not suffice: the doorbells of a claim that has exceeded busy_budget_ms
 * are trapped although it has work. The process may have forged that it has none.
 *
 * Context: DQM lock; a ring may come at any time, see kfd_prio_engine_rung()
 */
static inline bool kfd_prio_seems_idle(struct qcm_process_device *qpd)
{
	return kfd_prio_is_armed(qpd) && kfd_prio_armed_is_quiet(qpd);
}

/**
 * kfd_prio_share_works() - whether a process has work on a GPU, or may have some, for its groups
 * @qpd: the process on the GPU
 *
 * A process that KFD has evicted has none. Where waves are counted, a claim has none from when its
 * work has ended, and not only from when its trap is armed again. If work of its groups was found
 * that no ring announced, it may have work while it is on the GPU.
 *
 * Context: DQM lock
 */
static inline bool kfd_prio_share_works(struct qcm_process_device *qpd)
{
	if (qpd->evicted > qpd->prio.preempted)
		return false;
	if (!qpd->prio.preempted && kfd_prio_share_unrung(qpd))
		return true;
	if (qpd->prio.role == KFD_PRIO_ROLE_CLAIM && !qpd->prio.work)
		return !kfd_prio_sees_waves(qpd) && !kfd_prio_armed_is_quiet(qpd);
	return !kfd_prio_seems_idle(qpd);
}

/**
 * kfd_prio_is_idle() - whether a process is proved to have no work on a GPU
 * @qpd: the process on the GPU
 *
 * Context: DQM lock; a ring may come at any time
 */
static inline bool kfd_prio_is_idle(struct qcm_process_device *qpd)
{
	return qpd->prio.proved && kfd_prio_seems_idle(qpd);
}

/* Without the members that only kfd_prio_policy_spares() reads, which kfd_prio_spares() sets */
static inline struct kfd_prio_standing
kfd_prio_standing(struct qcm_process_device *qpd)
{
	const struct kfd_prio_qpd *qp = &qpd->prio;
	bool quiet = kfd_prio_seems_idle(qpd);

	return (struct kfd_prio_standing) {
		.rank = qp->prio,
		.claim = qp->role == KFD_PRIO_ROLE_CLAIM ? qp->claim.prio : KFD_PRIO_UNSET,
		.idle = quiet && qp->proved,
		.quiet = quiet,
		.off = kfd_prio_is_off(qp),
		.evicted = qpd->evicted > qp->preempted,
		.ends = READ_ONCE(qp->exiting),
	};
}

/**
 * kfd_prio_weigh() - whether a process is to be kept off a GPU, and whether it has work
 * @qpd: the process on the GPU
 * @f: the level and the throttle in force
 * @throttle: whether a group of the process keeps it off, kfd_prio_share_throttle()
 *
 * Reads the state of the process once for both, for walks over many processes.
 *
 * Context: DQM lock
 */
static __always_inline struct kfd_prio_weight
kfd_prio_weigh(struct qcm_process_device *qpd, const struct kfd_prio_force *f,
	       enum kfd_prio_throttle throttle)
{
	struct kfd_prio_standing s;

	if (!kfd_prio_may_be_victim(qpd))
		return (struct kfd_prio_weight) {};
	s = kfd_prio_standing(qpd);
	s.throttled = throttle != KFD_PRIO_THROTTLE_NONE;
	s.closed = throttle == KFD_PRIO_THROTTLE_MAX;
	if (unlikely(s.claim != KFD_PRIO_UNSET) && !s.throttled && kfd_prio_spares(qpd, f))
		return (struct kfd_prio_weight) {
			.off = !s.idle || s.off,
			.quiet = true,
			.idle = s.idle,
		};
	return (struct kfd_prio_weight) {
		.off = kfd_prio_policy_off(f, &s),
		.works = kfd_prio_policy_works(&s),
		.quiet = s.quiet,
		.idle = s.idle,
	};
}

#endif
