// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the circuit breaker, one per GPU.
 *
 * An unmap that fails costs a reset of the GPU, and with it the work of every process on it.
 * Where that has happened once, the next preemption may do it again: so preemption is off on
 * that GPU, and on no other one, for a time that doubles with each failure (kfd_prio_backoff.h), or
 * until the administrator writes kfd_preempt.  Any user who can have a GPU reset can open a
 * breaker, so it must not stay open for good.
 *
 * Where CWSR is known to fail, the breaker is open from the start (kfd_prio_breaker_known()), and
 * nothing but the administrator closes it, then or later.
 *
 * While the breaker is open the GPU is as with kfd_preempt=0: kfd_prio_gpu_params() says so to the
 * engine, which restores every process by the same path, and its thread drops the claims.
 */
#include "kfd_prio_priv.h"
#include "kfd_prio_events.h"

/**
 * struct kfd_prio_known - a GPU on which CWSR fails with some drivers
 * @target: gfx_target_version
 * @save_per_cu: bytes that it saves for a compute unit at least: its VGPRs.  The driver is one of
 *	those if the save area that it asks for is smaller
 *
 * GPUs of one XCC only: KFD's size is that of one.
 */
static const struct kfd_prio_known {
	u32 target;
	u32 save_per_cu;
} kfd_prio_known[] = {
	/*
	 * gfx1151: before Linux 6.18 KFD took it to have 256 KiB of VGPRs in a compute unit; it has
	 * 384, which kfd_get_vgpr_size_per_cu() says since.  legacy-rocm-build issue 5991
	 */
	{ 110501, 0x60000 },
};

/**
 * kfd_prio_breaker_cause() - what has opened a breaker, for a person to read
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
 * kfd_prio_gpu_params() - module parameters as they hold for one GPU, for what a save costs there
 * @dqm: of the GPU
 * @k: out
 *
 * Context: DQM lock
 */
void kfd_prio_gpu_params(struct device_queue_manager *dqm, struct kfd_prio_params *k)
{
	lockdep_assert_held(&dqm->lock_hidden);
	kfd_prio_params_read(k);
	kfd_prio_policy_cost(k, dqm->prio.save_recent_ns);
	if (dqm->prio.breaker != KFD_PRIO_BREAKER_CLOSED) {
		k->enabled = false;
		k->park_ns = 0;
	}
}

/**
 * kfd_prio_park_ns() - after how long without work are processes parked on a GPU?
 * @dqm: of the GPU
 *
 * Context: any
 * Return: ns; 0: none is, or the breaker is open
 */
u64 kfd_prio_park_ns(struct device_queue_manager *dqm)
{
	return READ_ONCE(dqm->prio.breaker) == KFD_PRIO_BREAKER_CLOSED ?
	       (u64)READ_ONCE(kfd_prio_param_idle_park_ms.value) * NSEC_PER_MSEC : 0;
}

/**
 * kfd_prio_breaker_suspect() - a queue is in the way of the scheduler: its process is named if a
 * breaker opens for that
 * @dqm: of the GPU
 * @q: the queue; NULL: none is
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
 * kfd_prio_breaker_suspect_hws() - an unmap is over: which queue has HWS given up, if any?
 * @dqm: of the GPU
 *
 * Context: DQM lock; before KFD looks itself, which may clear the answer
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
 * kfd_prio_breaker_culprit() - the process for which a breaker has opened, for a person to read
 * @dqm: of the GPU
 * @text: out, of KFD_PRIO_CULPRIT_SIZE bytes
 *
 * A process chooses its name: whatever is no letter, digit or simple sign is written as \xNN.
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
 * kfd_prio_breaker_trip() - preemption may have hurt a GPU: it is off there from now on
 * @dqm: of the GPU
 * @cause: what has happened
 *
 * The first cause stands.  Nothing happens on a GPU where no priority that may preempt was ever
 * set, or while kfd_preempt is 0.  The hardware is not touched: the GPU's thread puts back what is
 * preempted, not before KFD_PRIO_RETRY_NS, in which KFD begins the reset.  Another unmap before
 * that would keep the reset waiting.
 *
 * Context: DQM lock, MES lock or none
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
	/* amdgpu does not tell KFD why it resets a GPU */
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
 * kfd_prio_breaker_known() - is CWSR known to fail on a GPU with this driver?
 * @dqm: of the GPU
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
 * kfd_prio_breaker_rearm() - the administrator has written kfd_preempt
 * @dqm: of a GPU
 *
 * What has failed before is forgotten.
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
 * kfd_prio_breaker_due() - when does the breaker of a GPU close by itself?
 * @dqm: of the GPU
 *
 * Context: DQM lock
 * Return: the time, ktime_get_ns(); KFD_PRIO_NEVER if it is closed, or only the administrator
 * closes it
 */
u64 kfd_prio_breaker_due(struct device_queue_manager *dqm)
{
	lockdep_assert_held(&dqm->lock_hidden);
	return dqm->prio.breaker == KFD_PRIO_BREAKER_CLOSED ? KFD_PRIO_NEVER :
							      dqm->prio.breaker_until;
}

/**
 * kfd_prio_breaker_closes() - close the breaker of a GPU if it has been open for long enough
 * @dqm: of the GPU
 * @now: ktime_get_ns()
 *
 * Context: our thread; DQM lock
 * Return: true if it was closed: processes must be given their roles
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
