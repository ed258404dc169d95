// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the circuit breaker of each GPU.
 *
 * A failed unmap leads to a reset of the GPU, in which every process on it loses its work. The next
 * preemption may fail in the same way. So a failure opens the breaker, which switches preemption
 * off on that GPU alone. The breaker closes after a time that doubles with each failure
 * (kfd_prio_backoff.h), or when the administrator writes kfd_preempt. It does not stay open for
 * good, because any user who can cause a reset of the GPU can open it.
 *
 * Where CWSR is known to fail (kfd_prio_breaker_known()), the breaker is open from the start and
 * only the administrator closes it, then and after later failures.
 *
 * An open breaker has the effect of kfd_preempt=0 on the GPU: kfd_prio_gpu_params() disables
 * preemption for the engine, which puts all processes back as usual, and the GPU's thread drops all
 * claims.
 */
#include "kfd_prio_priv.h"
#include "kfd_prio_events.h"

/**
 * struct kfd_prio_known - a GPU on which CWSR fails with some drivers
 * @target: gfx_target_version
 * @save_per_cu: least bytes that CWSR saves for a compute unit, which is the size of its VGPRs.
 *	CWSR fails if the save area that KFD requires is smaller
 *
 * Only for GPUs of one XCC, because KFD's size is that of one XCC.
 */
static const struct kfd_prio_known {
	u32 target;
	u32 save_per_cu;
} kfd_prio_known[] = {
	/*
	 * gfx1151: a compute unit has 384 KiB of VGPRs. KFD assumed 256 KiB before Linux 6.18,
	 * which corrected kfd_get_vgpr_size_per_cu(). legacy-rocm-build issue 5991
	 */
	{ 110501, 0x60000 },
};

/**
 * kfd_prio_breaker_cause() - text for the cause of an open breaker
 * @cause: enum kfd_prio_breaker, not KFD_PRIO_BREAKER_CLOSED
 *
 * Context: any
 */
const char *kfd_prio_breaker_cause(enum kfd_prio_breaker cause)
{
	switch (cause) {
	case KFD_PRIO_BREAKER_UNMAP:
		return "the scheduler did not unmap queues in time";
	case KFD_PRIO_BREAKER_HANG:
		return "the scheduler has failed";
	case KFD_PRIO_BREAKER_RESET:
		return "the GPU was reset while processes were preempted";
	case KFD_PRIO_BREAKER_KNOWN:
		return "CWSR is known to fail on this GPU with this driver (save area too small)";
	default:
		return "the breaker is closed";
	}
}

/**
 * kfd_prio_gpu_params() - read the module parameters as they apply to one GPU
 * @dqm: device queue manager of the GPU
 * @k: out: the parameters, adapted to the measured cost of a save on the GPU, and with preemption
 *	and parking disabled while the breaker is open
 *
 * Context: DQM lock
 */
void kfd_prio_gpu_params(struct device_queue_manager *dqm, struct kfd_prio_params *k)
{
	lockdep_assert_held(&dqm->lock_hidden);
	kfd_prio_params_read(k);
	kfd_prio_policy_cost(k, dqm->prio.save_recent_ns);
	k->park_ns = kfd_prio_park_ns(dqm);
	if (dqm->prio.breaker != KFD_PRIO_BREAKER_CLOSED)
		k->enabled = false;
}

/**
 * kfd_prio_breaker_suspect() - record the process whose queue HWS or MES could not unmap or add
 * @dqm: device queue manager of the GPU
 * @q: the queue; NULL: none is known, which clears the record
 *
 * If the breaker opens next, kfdprio reports that process as the culprit.
 *
 * Context: DQM lock
 */
void kfd_prio_breaker_suspect(struct device_queue_manager *dqm, struct queue *q)
{
	struct kfd_prio_suspect *s = &dqm->prio.suspect;

	lockdep_assert_held(&dqm->lock_hidden);
	s->pid = 0;
	if (!q)
		return;
	s->pid = q->process->lead_thread->tgid;
	strscpy(s->comm, q->process->lead_thread->comm, sizeof(s->comm));
}

/**
 * kfd_prio_breaker_suspect_hws() - record the process whose queue HWS could not unmap
 * @dqm: device queue manager of the GPU
 *
 * Finds the queue by the doorbell that HWS has reported for the last unmap. If HWS has reported
 * none, the record is cleared.
 *
 * Context: DQM lock; before KFD reads the doorbell of that queue, which may clear it
 */
void kfd_prio_breaker_suspect_hws(struct device_queue_manager *dqm)
{
	u32 doorbell = kfd_prio_unresponsive_doorbell(dqm);
	struct device_process_node *cur;
	struct queue *q;

	lockdep_assert_held(&dqm->lock_hidden);
	kfd_prio_breaker_suspect(dqm, NULL);
	if (!doorbell)
		return;
	list_for_each_entry(cur, &dqm->queues, list)
		list_for_each_entry(q, &cur->qpd->queues_list, list)
			if (q->properties.doorbell_off == doorbell)
				kfd_prio_breaker_suspect(dqm, q);
}

/**
 * kfd_prio_breaker_culprit() - text for the process that caused a breaker to open
 * @dqm: device queue manager of the GPU
 * @text: out: buffer of KFD_PRIO_CULPRIT_SIZE bytes
 *
 * A process chooses its own name: each character but letters, digits and simple signs is written as
 * \xNN.
 *
 * Context: DQM lock
 */
void kfd_prio_breaker_culprit(struct device_queue_manager *dqm, char *text)
{
	const struct kfd_prio_suspect *s = &dqm->prio.culprit;
	const char *c;
	int n;

	lockdep_assert_held(&dqm->lock_hidden);
	if (!s->pid) {
		strscpy(text, "the process that caused it is not known", KFD_PRIO_CULPRIT_SIZE);
		return;
	}
	n = scnprintf(text, KFD_PRIO_CULPRIT_SIZE, "caused by process ");
	for (c = s->comm; *c; c++) {
		bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
			     (*c >= '0' && *c <= '9') || strchr("-_.:/+@", *c);

		n += scnprintf(text + n, KFD_PRIO_CULPRIT_SIZE - n, plain ? "%c" : "\\x%02x",
			       (u8)*c);
	}
	scnprintf(text + n, KFD_PRIO_CULPRIT_SIZE - n, " pid %d", s->pid);
}

static void kfd_prio_breaker_log(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	char culprit[KFD_PRIO_CULPRIT_SIZE];

	if (d->breaker_until == KFD_PRIO_NEVER) {
		dev_err(dqm->dev->adev->dev,
			"kfdprio: preemption is off on GPU %u: %s. To switch it on, write 1 to /sys/module/amdgpu/parameters/kfd_preempt\n",
			dqm->dev->id, kfd_prio_breaker_cause(d->breaker));
		return;
	}
	kfd_prio_breaker_culprit(dqm, culprit);
	dev_err(dqm->dev->adev->dev,
		"kfdprio: preemption is off on GPU %u for %llu s: %s, %s. To switch it on before that, write 1 to /sys/module/amdgpu/parameters/kfd_preempt\n",
		dqm->dev->id, div_u64(d->breaker_until - d->breaker_at, NSEC_PER_SEC),
		kfd_prio_breaker_cause(d->breaker), culprit);
}

/**
 * kfd_prio_breaker_trip() - open the breaker of a GPU
 * @dqm: device queue manager of the GPU
 * @cause: the cause, not KFD_PRIO_BREAKER_CLOSED
 *
 * Does nothing while the breaker is open already, while neither preemption nor parking is enabled,
 * or if the GPU has no thread. Otherwise it records the culprit, traces and logs the opening, and
 * kicks the thread. The function does not touch the hardware. The GPU's thread puts the processes
 * back that kfdprio has taken off, but not before KFD_PRIO_RETRY_NS have passed, in which KFD
 * begins the reset: another unmap before the reset would delay it.
 *
 * Context: DQM lock; the MES lock may be held
 */
void kfd_prio_breaker_trip(struct device_queue_manager *dqm, enum kfd_prio_breaker cause)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct kfd_prio_params k;

	lockdep_assert_held(&dqm->lock_hidden);
	kfd_prio_gpu_params(dqm, &k);
	if (!d->thread || (!k.enabled && !k.park_ns))
		return;
	d->breaker = cause;
	d->breaker_at = ktime_get_ns();
	d->breaker_known |= cause == KFD_PRIO_BREAKER_KNOWN;
	d->breaker_until = d->breaker_known ? KFD_PRIO_NEVER :
			   d->breaker_at + kfd_prio_backoff_fail(&d->backoff, d->breaker_at);
	/* amdgpu does not pass KFD the reason of a reset */
	if (cause == KFD_PRIO_BREAKER_RESET)
		kfd_prio_breaker_suspect(dqm, NULL);
	d->culprit = d->suspect;
	kfd_prio_breaker_suspect(dqm, NULL);
	d->retry_at = d->breaker_at + KFD_PRIO_RETRY_NS;
	trace_kfd_preempt_breaker(dqm);
	kfd_prio_breaker_log(dqm);
	kfd_prio_gpu_kick(dqm);
}

/**
 * kfd_prio_breaker_known() - whether CWSR is known to fail on a GPU with this driver
 * @dqm: device queue manager of the GPU
 *
 * Context: process, may sleep; not under the DQM lock
 */
bool kfd_prio_breaker_known(struct device_queue_manager *dqm)
{
	struct kfd_topology_device *t = kfd_topology_device_by_id(dqm->dev->id);
	u32 i, cus;

	for (i = 0; t && i < ARRAY_SIZE(kfd_prio_known); i++) {
		if (t->node_props.gfx_target_version != kfd_prio_known[i].target)
			continue;
		cus = t->node_props.simd_count / max(t->node_props.simd_per_cu, 1U);
		return kfd_prio_save_area(t) / max(cus, 1U) < kfd_prio_known[i].save_per_cu;
	}
	return false;
}

static void kfd_prio_breaker_close(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	d->breaker = KFD_PRIO_BREAKER_CLOSED;
	d->culprit = (struct kfd_prio_suspect) {};
	kfd_prio_backoff_on(&d->backoff, ktime_get_ns());
	trace_kfd_preempt_breaker(dqm);
}

/**
 * kfd_prio_breaker_rearm() - the administrator has written kfd_preempt: close the breaker
 * @dqm: device queue manager of a GPU
 *
 * The record of failures is cleared.
 *
 * Context: DQM lock
 */
void kfd_prio_breaker_rearm(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	lockdep_assert_held(&dqm->lock_hidden);
	d->backoff = (struct kfd_prio_backoff) {};
	if (d->breaker != KFD_PRIO_BREAKER_CLOSED)
		kfd_prio_breaker_close(dqm);
}

/**
 * kfd_prio_breaker_due() - time at which the breaker of a GPU closes by itself
 * @dqm: device queue manager of the GPU
 *
 * Context: DQM lock
 * Return: ktime_get_ns() of that time; KFD_PRIO_NEVER if the breaker is closed, or only the
 *	administrator closes it
 */
u64 kfd_prio_breaker_due(struct device_queue_manager *dqm)
{
	lockdep_assert_held(&dqm->lock_hidden);
	return dqm->prio.breaker == KFD_PRIO_BREAKER_CLOSED ? KFD_PRIO_NEVER :
							      dqm->prio.breaker_until;
}

/**
 * kfd_prio_breaker_closes() - close the breaker of a GPU if it is due to close by itself
 * @dqm: device queue manager of the GPU
 * @now: ktime_get_ns()
 *
 * Context: the GPU's thread; DQM lock
 * Return: true if the breaker was closed: the caller assigns roles to the processes
 */
bool kfd_prio_breaker_closes(struct device_queue_manager *dqm, u64 now)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	if (now < kfd_prio_breaker_due(dqm))
		return false;
	kfd_prio_breaker_close(dqm);
	d->recheck = true;
	dev_warn(dqm->dev->adev->dev,
		 "kfdprio: preemption is on again on GPU %u, after %llu s. It will be off for %llu s after the next failure, less if that comes late\n",
		 dqm->dev->id, div_u64(now - d->breaker_at, NSEC_PER_SEC),
		 div_u64(kfd_prio_backoff_next(&d->backoff, now), NSEC_PER_SEC));
	return true;
}
