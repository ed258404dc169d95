// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the cost of preemption, from the time stamps that CP firmware stores in each MQD when it
 * saves the waves of a queue (CWSR).
 *
 * A stamp counts a clock of 100 MHz. Some firmware may not write stamps, and it is not known
 * whether MES does. So the following counts as not known: no stamp, an end before the begin, stamps
 * of an earlier save, and a save that is longer than the time since the unmap. If no waves were
 * saved, the stamps are those of an earlier unmap.
 */
#include "kfd_prio_priv.h"

/* Period of the clock of the stamps, ns, as dumps taken 35 s and 200 s apart show */
#define KFD_PRIO_STAMP_NS	10ULL

/* Number of queues that are read before the DQM lock is dropped */
#define KFD_PRIO_COST_QUEUES	8

/* A save counts as this many times the previous mean at most */
#define KFD_PRIO_STANDS_OUT	4

static u64 kfd_prio_stamp(u32 lo, u32 hi)
{
	return (u64)hi << 32 | lo;
}

static u64 kfd_prio_save_start(struct device_queue_manager *dqm, const struct v9_mqd *m)
{
	const struct kfd_prio_save_times *t = kfd_prio_mqd_save_times(dqm, m);

	return kfd_prio_stamp(READ_ONCE(t->start_lo), READ_ONCE(t->start_hi));
}

static u64 kfd_prio_save_end(struct device_queue_manager *dqm, const struct v9_mqd *m)
{
	const struct kfd_prio_save_times *t = kfd_prio_mqd_save_times(dqm, m);

	return kfd_prio_stamp(READ_ONCE(t->end_lo), READ_ONCE(t->end_hi));
}

/**
 * struct kfd_prio_cost_pass - state of one call of kfd_prio_cost_read()
 * @now: begin of the call, ktime_get_ns()
 * @queues: number of queues that were visited so far
 * @xccs: number of MQDs of a queue; 0: not known, because no queue with a new stamp was read so far
 * @stride: bytes from one MQD to the next, the same for all compute queues of a GPU
 */
struct kfd_prio_cost_pass {
	u64 now;
	unsigned int queues;
	unsigned int xccs;
	size_t stride;
};

static void kfd_prio_cost_layout(struct queue *q, struct kfd_prio_cost_pass *p)
{
	unsigned int xccs = kfd_prio_xccs(q->device->dqm);
	const void *first = kfd_prio_mqd(q, 0), *next = xccs > 1 ? kfd_prio_mqd(q, 1) : NULL;

	p->xccs = next ? xccs : 1;
	p->stride = next ? next - first : 0;
}

/*
 * Returns the longest save of a queue on all XCCs, in ticks, @limit at most; 0: not known. @first
 * is the begin of the save on the first XCC. A save that began more than @limit before it belongs
 * to an earlier unmap.
 */
static u64 kfd_prio_save_ticks(struct device_queue_manager *dqm,
			       const struct kfd_prio_cost_pass *p, const struct v9_mqd *m,
			       u64 first, u64 limit)
{
	u64 start, end, longest = 0;
	bool saved = false;
	unsigned int i;

	for (i = 0; i < p->xccs; i++, m = (const void *)m + p->stride) {
		saved |= kfd_prio_mqd_saved(m);
		start = kfd_prio_save_start(dqm, m);
		end = kfd_prio_save_end(dqm, m);
		if (start && start + limit >= first && end > start && end - start <= limit)
			longest = max(longest, end - start);
	}
	/* If no waves were saved, the stamps are those of an earlier unmap */
	return saved ? longest : 0;
}

static void kfd_prio_cost_add(struct kfd_prio_cost *c, u64 ns)
{
	c->count++;
	c->sum_ns += ns;
	c->max_ns = max(c->max_ns, ns);
}

/*
 * Returns the longest save of a process that is taken off, in ticks; 0: not known. If the begin
 * stamp of the first XCC of a queue has not changed since it was last read, the other MQDs of the
 * queue are not read: the XCCs of a queue save together (on an MI308X within 16 us).
 */
static u64 kfd_prio_process_save_ticks(struct qcm_process_device *qpd,
				       struct kfd_prio_cost_pass *p)
{
	const struct v9_mqd *m;
	u64 first, limit, longest = 0;
	struct queue *q;

	list_for_each_entry(q, &qpd->queues_list, list) {
		p->queues++;
		m = kfd_prio_mqd(q, 0);
		if (!m || !q->prio.off || q->properties.type != KFD_QUEUE_TYPE_COMPUTE)
			continue;
		first = kfd_prio_save_start(qpd->dqm, m);
		if (first == q->prio.save_seen)
			continue;
		q->prio.save_seen = first;
		if (!p->xccs)
			kfd_prio_cost_layout(q, p);
		limit = div_u64(p->now - qpd->prio.marked_at, KFD_PRIO_STAMP_NS);
		longest = max(longest, kfd_prio_save_ticks(qpd->dqm, p, m, first, limit));
	}
	return longest;
}

/*
 * Updates the mean after all processes were read. Single saves are far longer than the others: on
 * one GPU the median was 327 us, and the longest 754 us. Such a save must not limit preemption for
 * long, so it is cut to KFD_PRIO_STANDS_OUT times the mean.
 */
static void kfd_prio_cost_end(struct kfd_prio_dqm *d)
{
	u64 longest = d->save_part_ns;

	d->save_part_ns = 0;
	if (longest)
		d->save_short_ns = d->save_short_ns && longest > d->save_short_ns ?
				   (d->save_short_ns * 7 + longest) / 8 : longest;
	if (longest && d->save_recent_ns)
		longest = min(longest, d->save_recent_ns * KFD_PRIO_STANDS_OUT);
	if (longest)
		d->save_recent_ns = d->save_recent_ns ?
				    (d->save_recent_ns * 7 + longest) / 8 : longest;
}

/*
 * Adds the processes that were taken off to the list of costs. kfd_prio_mark() does not do this,
 * because a ring waits for it.
 */
static void kfd_prio_cost_list(struct device_queue_manager *dqm)
{
	struct device_process_node *cur;

	dqm->prio.marked = false;
	list_for_each_entry(cur, &dqm->queues, list) {
		struct kfd_prio_qpd *qp = &cur->qpd->prio;

		if (!qp->preempted || qp->park.parked || qp->cost_count == qp->marked_count)
			continue;
		qp->cost_count = qp->marked_count;
		if (hlist_unhashed(&qp->cost))
			hlist_add_head(&qp->cost, &dqm->prio.costs);
	}
}

/**
 * kfd_prio_cost_read() - read how long the saves of the last unmap for preemption took
 * @dqm: device queue manager of the GPU
 *
 * The results are kfd_prio_dqm.save, .save_ns, .save_recent_ns and .save_short_ns, and
 * kfd_prio_qpd.save of each process.
 *
 * An MQD may lie in VRAM, where a read takes a microsecond. So the MQDs are not read in the fault
 * of a doorbell, and not before the runlist without the victims was sent. One call reads processes
 * until KFD_PRIO_COST_QUEUES queues were read, and each process completely; the caller drops the
 * lock before the next call. A process that is put back before its MQDs were read is left out.
 *
 * Context: the GPU's thread; DQM lock
 * Return: true if processes are left to be read
 */
bool kfd_prio_cost_read(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct qcm_process_device *qpd;
	struct kfd_prio_cost_pass p = {};
	u64 ns;

	lockdep_assert_held(&dqm->lock_hidden);
	if ((!d->marked && hlist_empty(&d->costs)) || kfd_prio_state_owes(d->state))
		return false;
	if (d->marked)
		kfd_prio_cost_list(dqm);
	if (hlist_empty(&d->costs))
		return false;
	p.now = ktime_get_ns();
	do {
		qpd = hlist_entry(d->costs.first, struct qcm_process_device, prio.cost);
		hlist_del_init(&qpd->prio.cost);
		ns = kfd_prio_process_save_ticks(qpd, &p) * KFD_PRIO_STAMP_NS;
		if (!ns)
			continue;
		kfd_prio_cost_add(&qpd->prio.save, ns);
		kfd_prio_cost_add(&d->save, ns);
		d->save_ns = max(d->save_ns, ns);
		d->save_part_ns = max(d->save_part_ns, ns);
	} while (!hlist_empty(&d->costs) && p.queues < KFD_PRIO_COST_QUEUES);
	if (!hlist_empty(&d->costs))
		return true;
	kfd_prio_cost_end(d);
	return false;
}
