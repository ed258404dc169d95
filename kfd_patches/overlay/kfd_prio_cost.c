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

/* Queues that are read before whatever else waits for the DQM lock has its turn */
#define KFD_PRIO_COST_QUEUES	8

/* So many times the mean a save counts at most for the next mean */
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
 * struct kfd_prio_cost_pass - one part of the reading
 * @now: when it began, ktime_get_ns()
 * @queues: read so far
 * @xccs: MQDs of a queue, 0: no queue was read whose stamps have changed
 * @stride: from one to the next, the same for all compute queues of a GPU
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
 * The longest save of a queue, of all XCCs, at most @limit ticks; 0: not known.  What began so long
 * before @first, the save of the first XCC, is of an earlier unmap.
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
	/* without saved waves they are of some earlier unmap */
	return saved ? longest : 0;
}

static void kfd_prio_cost_add(struct kfd_prio_cost *c, u64 ns)
{
	c->count++;
	c->sum_ns += ns;
	c->max_ns = max(c->max_ns, ns);
}

/*
 * The longest save of a process that is off, in ticks; 0: not known.  Of a queue whose first XCC
 * has saved nothing since it was last read, that one stamp is all that is read: the XCCs of a queue
 * save together (on an MI308X within 16 us).
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
		limit = div_u64(p->now - qpd->prio.taken_at, KFD_PRIO_STAMP_NS);
		longest = max(longest, kfd_prio_save_ticks(qpd->dqm, p, m, first, limit));
	}
	return longest;
}

/*
 * All are read.  Single saves stand out: a GPU's median was 327 us, its longest 754.  One that is
 * far longer must not limit preemption for long.
 */
static void kfd_prio_cost_end(struct kfd_prio_dqm *d)
{
	u64 longest = d->save_part_ns;

	d->save_part_ns = 0;
	if (longest && d->save_recent_ns)
		longest = min(longest, d->save_recent_ns * KFD_PRIO_STANDS_OUT);
	if (longest)
		d->save_recent_ns = d->save_recent_ns ?
				    (d->save_recent_ns * 7 + longest) / 8 : longest;
}

/* Not while they are taken off, which a ring waits for */
static void kfd_prio_cost_list(struct device_queue_manager *dqm)
{
	struct device_process_node *cur;

	dqm->prio.taken = false;
	list_for_each_entry(cur, &dqm->queues, list) {
		struct kfd_prio_qpd *qp = &cur->qpd->prio;

		if (!qp->preempted || qp->parked || qp->cost_seen == qp->taken_count)
			continue;
		qp->cost_seen = qp->taken_count;
		if (hlist_unhashed(&qp->cost))
			hlist_add_head(&qp->cost, &dqm->prio.costs);
	}
}

/**
 * kfd_prio_cost_look() - read what the saves of the last unmap of ours cost
 * @dqm: of the GPU
 *
 * An MQD may lie in VRAM, where a read takes a microsecond: so not in the fault of a doorbell, and
 * not before the runlist without the victims was sent.  Some KFD_PRIO_COST_QUEUES queues are read,
 * those of one process together; the caller lets go of the lock before it asks for more.  The
 * queues of a preemption that ends before they are read are not read.
 *
 * Context: our thread; DQM lock
 * Return: true if there are more
 */
bool kfd_prio_cost_look(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct qcm_process_device *qpd;
	struct kfd_prio_cost_pass p = {};
	u64 ns;

	lockdep_assert_held(&dqm->lock_hidden);
	if ((!d->taken && hlist_empty(&d->costs)) || d->unmap_pending || d->missed)
		return false;
	if (d->taken)
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
