// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: what preemption costs: the time stamps that CP firmware leaves in each MQD when it saves
 * the waves of a queue (CWSR).
 *
 * A stamp is a count of a clock of 100 MHz.  Not every firmware may write them, and nothing is
 * known of MES.  So a figure that makes no sense counts as not known: no stamp, an end before the
 * begin, the stamps of an earlier save, or a save that is longer than the time since the unmap.
 * Where no waves were saved, the stamps are those of some earlier unmap.
 */
#include "kfd_prio_priv.h"

/* Of the clock that the stamps count, in ns: dumps taken 35 s and 200 s apart show it */
#define KFD_PRIO_STAMP_NS	10ULL

/* So many times the mean a save counts at most for the next mean */
#define KFD_PRIO_STANDS_OUT	4

static u64 kfd_prio_stamp(u32 lo, u32 hi)
{
	return (u64)hi << 32 | lo;
}

/* How long did the last save of a queue take, at most @limit ns?  0: not known. */
static u64 kfd_prio_save_ns(struct queue *q, u64 limit)
{
	u64 start, end, seen = q->prio.saved_at, longest = 0;
	const struct v9_mqd *m;
	unsigned int i;

	for (i = 0; i < kfd_prio_xccs(q->device->dqm); i++) {
		m = kfd_prio_mqd(q, i);
		if (!m)
			break;
		start = kfd_prio_stamp(READ_ONCE(m->cp_mqd_save_start_time_lo),
				       READ_ONCE(m->cp_mqd_save_start_time_hi));
		end = kfd_prio_stamp(READ_ONCE(m->cp_mqd_save_end_time_lo),
				     READ_ONCE(m->cp_mqd_save_end_time_hi));
		if (!start || start <= seen || end <= start ||
		    end - start > div_u64(limit, KFD_PRIO_STAMP_NS))
			continue;
		q->prio.saved_at = max(q->prio.saved_at, end);
		longest = max(longest, (end - start) * KFD_PRIO_STAMP_NS);
	}
	return longest;
}

static void kfd_prio_cost_add(struct kfd_prio_cost *c, u64 ns)
{
	c->count++;
	c->sum_ns += ns;
	c->max_ns = max(c->max_ns, ns);
}

/* The longest save of a process that is off; 0: not known */
static u64 kfd_prio_process_save_ns(struct qcm_process_device *qpd, u64 now)
{
	u64 longest = 0;
	struct queue *q;

	list_for_each_entry(q, &qpd->queues_list, list)
		if (q->prio.off && q->properties.type == KFD_QUEUE_TYPE_COMPUTE &&
		    kfd_prio_compat_saved(q))
			longest = max(longest, kfd_prio_save_ns(q, now - qpd->prio.preempted_at));
	return longest;
}

/**
 * kfd_prio_cost_look() - read what the saves of the last unmap of ours cost
 * @dqm: of the GPU
 *
 * An MQD may lie in VRAM, where a read takes a microsecond: so not in the fault of a doorbell.  The
 * queues of a preemption that ends before the thread runs are not read.
 *
 * Context: our thread; DQM lock
 */
void kfd_prio_cost_look(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct device_process_node *cur;
	u64 ns, now = ktime_get_ns(), longest = 0;

	lockdep_assert_held(&dqm->lock_hidden);
	if (!d->cost_due || d->unmap_pending || d->missed)
		return;
	d->cost_due = false;
	list_for_each_entry(cur, &dqm->queues, list) {
		struct kfd_prio_qpd *qp = &cur->qpd->prio;

		if (!qp->preempted || !qp->cost_due)
			continue;
		qp->cost_due = false;
		ns = kfd_prio_process_save_ns(cur->qpd, now);
		if (!ns)
			continue;
		kfd_prio_cost_add(&qp->save, ns);
		kfd_prio_cost_add(&d->save, ns);
		d->save_ns = max(d->save_ns, ns);
		longest = max(longest, ns);
	}
	/*
	 * Single ones stand out: a GPU's median was 327 us, its longest 754.  One that is far
	 * longer must not limit preemption for long.
	 */
	if (longest && d->save_recent_ns)
		longest = min(longest, d->save_recent_ns * KFD_PRIO_STANDS_OUT);
	if (longest)
		d->save_recent_ns = d->save_recent_ns ?
				    (d->save_recent_ns * 7 + longest) / 8 : longest;
}
