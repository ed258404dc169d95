// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: observation, which finds out whether a process has work on a GPU.
 *
 * A queue has work that was not launched while its read and write indices differ. The indices are
 * in memory of the process. They are read through its mm without faulting pages in, because a fault
 * may wait for memory or for another process. If an index of a claim cannot be read, the claim
 * counts as unchanged; the process brings the page back when it writes its next packet. If an index
 * of another process cannot be read, the process counts as having work.
 *
 * An observation never proves that a process has no work; only MQDs do, see kfd_prio_proof.c.
 *
 * A queue with equal indices may have work, because hardware advances the read index of an AQL
 * queue when it launches the packet. Where the ASIC counts waves (gfx9), a wave in flight is work.
 * On a partition of several XCCs only the first XCC is counted, so a count of zero proves nothing.
 * Where waves are not counted, or not all of them, the packets of a claim show whether it has work
 * (kfd_prio_aql.c), and linger_us covers the cases that they do not show. Where waves are counted,
 * the packets of a claim only make some counts unnecessary.
 */
#include <linux/kthread.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/uaccess.h>
#include "kfd_prio_priv.h"

/**
 * kfd_prio_snapshot() - copy the data that observing a process without the DQM lock needs
 * @qpd: the process on a GPU
 * @s: out: the snapshot
 *
 * Inactive queues are left out, unless only kfdprio keeps them inactive: the process cannot run
 * them, whatever their indices are. Queues that were reset are among these.
 *
 * UPDATE_QUEUE writes address, size and percentage of the ring before it takes the DQM lock, so the
 * snapshot may mix old and new values. This is harmless: the addresses are only used to read memory
 * of the process without faults, and the update then causes another observation.
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
		/*
		 * PM4: the indices count dwords, and the read index wraps at the size of the ring
		 */
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

/* Reads an index of 64 bits, or one of 32 bits with a mask. Returns false if it cannot be read. */
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
	/* In this order: if both are equal, the queue was empty when wptr was read */
	return kfd_prio_read_index(r, x->rptr, x->mask) && kfd_prio_read_index(w, x->wptr, x->mask);
}

/**
 * kfd_prio_observe() - read the indices and packets of a process
 * @s: snapshot by kfd_prio_snapshot()
 * @mm: mm of the process
 * @seen: out: the result, without @waves and @counted
 *
 * Context: kernel thread without an mm; no lock
 * Return: false if the mm has no user any more
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
		/* Indices of 64 bits never wrap: if both are 0, no packet was ever launched */
		seen->unused &= x->mask == ~0ULL && !r && !w;
		if (!seen->runs)
			kfd_prio_aql_read(x, r, w, seen);
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
 * A count takes about a hundred register reads under two mutexes. After a count, the next one waits
 * for so many times its duration.
 */
#define KFD_PRIO_COUNT_REST	8

/**
 * kfd_prio_counts_waves() - whether the waves of a process are counted
 * @pdd: the process on a GPU
 *
 * They are not counted if the ASIC cannot count them (only gfx9 can), if the process has no queue,
 * and on a virtual function, where each register read is a message to the host, for which other
 * guests wait as well.
 *
 * Context: any
 */
bool kfd_prio_counts_waves(struct kfd_process_device *pdd)
{
	return pdd->dev->kfd2kgd->get_cu_occupancy && pdd->qpd.queue_count &&
	       !amdgpu_sriov_vf(pdd->dev->adev);
}

/**
 * kfd_prio_sees_waves() - whether a count shows all waves in flight of a process
 * @qpd: the process on a GPU
 *
 * A count does not show them where kfd_prio_counts_waves() returns false, and on a GPU of several
 * XCCs, of which one is counted. The same holds while the runlist is over-subscribed: a process
 * that waits for its turn has saved waves, and none in flight.
 *
 * Context: any
 */
bool kfd_prio_sees_waves(struct qcm_process_device *qpd)
{
	return !READ_ONCE(qpd->dqm->prio.crowded) && kfd_prio_xccs(qpd->dqm) == 1 &&
	       kfd_prio_counts_waves(qpd_to_pdd(qpd));
}

/**
 * kfd_prio_count_waves() - count the waves in flight on a GPU, unless the last count was too recent
 * @pdd: a process on the GPU, held, for which kfd_prio_counts_waves() returns true
 * @s: out: the count, for kfd_prio_waves()
 *
 * The next count is permitted after KFD_PRIO_COUNT_REST times the duration of this one.
 *
 * Context: the GPU's thread; no lock
 * Return: true if waves were counted; false if no count is permitted yet, and @s is unchanged
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
 * kfd_prio_waves() - whether a process had waves in flight in the last count
 * @pdd: the process on a GPU, held; unless KFD_PRIO_COUNTS_ALL it must be the one that was counted
 * @s: the count
 *
 * Context: the GPU's thread; no lock
 */
bool kfd_prio_waves(struct kfd_process_device *pdd, struct kfd_prio_snapshot *s)
{
	return s->counted && kfd_prio_compat_waves(pdd, s->occupancy);
}

/**
 * kfd_prio_early() - how much earlier than after its interval the next observation is due
 * @d: state of the GPU
 * @ns: the interval
 *
 * While there are groups, that is random: when the thread runs can be seen in /proc, and a process
 * that hides its work could have its kernels between two counts of waves.
 *
 * Context: DQM lock
 * Return: time, ns, below @ns; 0 while there is no group
 */
u64 kfd_prio_early(const struct kfd_prio_dqm *d, u64 ns)
{
	return list_empty(&d->accounts) ? 0 : mul_u64_u32_shr(ns, get_random_u32(), 32);
}
