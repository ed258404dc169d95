// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: observation: has a process work on a GPU?
 *
 * A queue has work that was not launched while its read and write index differ.  They
 * are in the process's own memory, possibly in pages that are not there: they are read
 * through its mm without faulting anything in: a fault may wait, for memory or for another process.
 * What cannot be read of a claim counts as unchanged; the process brings it back when it writes its
 * next packet.  What cannot be read of another process counts as work.
 *
 * What is read here never proves that a process has no work: kfd_prio_rest.c.
 *
 * Equal indices do not mean idle: hardware advances the read index of an AQL queue when it
 * launches the packet.  Where the ASIC counts waves (gfx9), a wave in flight is work.  On a
 * partition of several XCCs it counts those of the first one only, so that no wave there
 * proves nothing.  Where waves are not counted, or not all, the packets of a claim tell
 * (kfd_prio_aql.c), and linger_us covers the rest.  Where they are counted, the packets of a claim
 * only spare some of the counts.
 */
#include <linux/kthread.h>
#include <linux/log2.h>
#include <linux/sched/mm.h>
#include <linux/uaccess.h>
#include "kfd_prio_priv.h"

/**
 * kfd_prio_snapshot() - the queues whose indices tell whether a process has work
 * @qpd: the process on a GPU
 * @s: filled in
 *
 * Queues that are off for another reason than preemption are left out, those that were reset
 * too: the process cannot run them, whatever their indices say.
 *
 * UPDATE_QUEUE writes address, size and percentage of the ring before it takes the DQM lock.  A mix
 * of old and new ones does no harm: what is read with them is the process's own memory, without
 * faults, and the update that follows makes us look again.
 *
 * Context: DQM lock
 */
void kfd_prio_snapshot(struct qcm_process_device *qpd, struct kfd_prio_snapshot *s)
{
	bool ours = qpd->prio.preempted && qpd->evicted == 1;
	bool claim = qpd->prio.role == KFD_PRIO_ROLE_CLAIM;
	struct queue *q;

	lockdep_assert_held(&qpd->dqm->lock_hidden);
	s->nr = 0;
	s->packets = (claim || kfd_prio_park_ns(qpd->dqm)) && !kfd_prio_sees_waves(qpd);
	list_for_each_entry(q, &qpd->queues_list, list) {
		struct queue_properties *p = &q->properties;
		struct kfd_prio_index *i = &s->index[s->nr];
		u32 percent = READ_ONCE(p->queue_percent);
		u64 size = READ_ONCE(p->queue_size);

		if (!p->is_active && !(ours && q->prio.off && percent && size))
			continue;
		if (s->nr == ARRAY_SIZE(s->index))
			break;
		i->rptr = (void __user *)p->read_ptr;
		i->wptr = (void __user *)p->write_ptr;
		i->mask = ~0ULL;
		/* PM4: dwords, the read index wraps at the size of the ring */
		if (p->type == KFD_QUEUE_TYPE_COMPUTE && p->format == KFD_QUEUE_FORMAT_PM4)
			i->mask = size / 4 - 1;
		i->ring = NULL;
		if ((claim || s->packets) && p->type == KFD_QUEUE_TYPE_COMPUTE &&
		    p->format == KFD_QUEUE_FORMAT_AQL && is_power_of_2(size))
			i->ring = (void __user *)READ_ONCE(p->queue_address);
		i->packets_mask = size / 64 - 1;
		s->nr++;
	}
}

static bool kfd_prio_read_index(u64 *v, const void __user *ptr, u64 mask)
{
	u32 v32;

	if (mask == ~0ULL)
		return !copy_from_user_nofault(v, ptr, sizeof(*v));
	if (copy_from_user_nofault(&v32, ptr, sizeof(v32)))
		return false;
	*v = v32 & mask;
	return true;
}

static bool kfd_prio_read_indices(const struct kfd_prio_index *x, u64 *r, u64 *w)
{
	/* in this order: equal, and the queue was empty when wptr was read */
	return kfd_prio_read_index(r, x->rptr, x->mask) && kfd_prio_read_index(w, x->wptr, x->mask);
}

/**
 * kfd_prio_observe() - read the indices of a snapshot
 * @s: made by kfd_prio_snapshot()
 * @mm: of the process
 * @seen: filled in but for waves
 *
 * Context: kernel thread without mm; no lock
 * Return: false if the process has no memory any more
 */
bool kfd_prio_observe(const struct kfd_prio_snapshot *s, struct mm_struct *mm,
		      struct kfd_prio_seen *seen)
{
	u64 r, w;
	u32 i;

	memset(seen, 0, sizeof(*seen));
	seen->unused = true;
	if (!mmget_not_zero(mm))
		return false;
	kthread_use_mm(mm);
	for (i = 0; i < s->nr; i++) {
		const struct kfd_prio_index *x = &s->index[i];

		if (!kfd_prio_read_indices(x, &r, &w)) {
			seen->unreadable = true;
			continue;
		}
		seen->work |= r != w;
		/* 64 bits never wrap: nothing was ever launched from it */
		seen->unused &= x->mask == ~0ULL && !r && !w;
		if (!seen->runs)
			kfd_prio_aql_look(x, r, w, seen);
		seen->rptr_sum += r;
		seen->wptr_sum += w;
	}
	kthread_unuse_mm(mm);
	mmput_async(mm);
	seen->in_flight = seen->runs || seen->pending;
	seen->ended &= !seen->in_flight;
	if (!s->packets) {
		seen->runs = false;
		seen->pending = false;
	}
	return true;
}

/*
 * Counting takes some hundred register reads under two mutexes: after it nothing is counted
 * for so many times as long as it took.
 */
#define KFD_PRIO_COUNT_REST	8

/**
 * kfd_prio_counts_waves() - does it make sense to count the waves of a process?
 * @pdd: the process on a GPU
 *
 * On a virtual function each register is a message to the host, which other guests wait for too.
 */
bool kfd_prio_counts_waves(struct kfd_process_device *pdd)
{
	return pdd->dev->kfd2kgd->get_cu_occupancy && pdd->qpd.queue_count &&
	       !amdgpu_sriov_vf(pdd->dev->adev);
}

/**
 * kfd_prio_sees_waves() - does a count show all waves in flight of a process?
 * @qpd: the process on a GPU
 *
 * One XCC of several is counted; and in an over-subscribed runlist a process that waits for its
 * turn has saved waves, and none in flight.
 *
 * Context: any
 */
bool kfd_prio_sees_waves(struct qcm_process_device *qpd)
{
	return !READ_ONCE(qpd->dqm->prio.crowded) && kfd_prio_xccs(qpd->dqm) == 1 &&
	       kfd_prio_counts_waves(qpd_to_pdd(qpd));
}

/**
 * kfd_prio_count_waves() - count the waves in flight on a GPU, if it is time again
 * @pdd: a process on the GPU, referenced; one that kfd_prio_counts_waves()
 * @s: out: the answer, for kfd_prio_waves()
 *
 * Context: our thread; no lock
 * Return: false if the last count was too short a time ago
 */
bool kfd_prio_count_waves(struct kfd_process_device *pdd, struct kfd_prio_snapshot *s)
{
	struct kfd_prio_dqm *d = &pdd->dev->dqm->prio;
	u64 start = ktime_get_ns(), end;

	if (start < d->count_at)
		return false;
	s->counted = kfd_prio_compat_count(pdd, s->occupancy);
	end = ktime_get_ns();
	d->count_at = end + KFD_PRIO_COUNT_REST * (end - start);
	return true;
}

/**
 * kfd_prio_waves() - had a process waves in flight when they were counted last?
 * @pdd: the process on a GPU, referenced; unless KFD_PRIO_COUNTS_ALL the one that they were
 *	counted for
 * @s: what was counted
 *
 * Context: our thread; no lock
 */
bool kfd_prio_waves(struct kfd_process_device *pdd, struct kfd_prio_snapshot *s)
{
	return s->counted && kfd_prio_compat_waves(pdd, s->occupancy);
}
