// SPDX-License-Identifier: GPL-2.0 OR MIT
/* kfdprio: KFD_PRIO_IOC_GPUS, totals of each GPU, which do not decrease when a process ends. */
#include "kfd_prio_priv.h"

/* Sizes of the structs in version 1.5, the first one that has them */
#define KFD_PRIO_GPUS_SIZE_1_5		24
#define KFD_PRIO_GPU_ENTRY_SIZE_1_5	96

static void kfd_prio_totals_read(struct kfd_prio_dqm *d, struct kfd_prio_gpu_entry *e)
{
	struct device_queue_manager *dqm = d->dqm;
	struct device_process_node *cur;
	u64 now;

	dqm_lock(dqm);
	now = ktime_get_ns();
	*e = (struct kfd_prio_gpu_entry) {
		.gpu_id = dqm->dev->id,
		.flags = d->breaker != KFD_PRIO_BREAKER_CLOSED ? KFD_PRIO_GPU_PREEMPT_OFF : 0,
		.nr_preempted = d->counted,
		.nr_parked = d->parked,
		.preemption_count = d->begun,
		.preempted_count = d->totals.preempted_count,
		.preempted_ns = d->totals.preempted_ns,
		.parked_count = d->totals.parked_count,
		.parked_ns = d->totals.parked_ns,
		.saved_count = d->save.count,
		.saved_ns = d->save.sum_ns,
		.saved_max_ns = d->save.max_ns,
		.update_ns = d->totals.update_ns,
		.throttled_count = d->totals.throttled_count,
		.throttled_ns = d->totals.throttled_ns,
	};
	list_for_each_entry(cur, &dqm->queues, list) {
		const struct kfd_prio_qpd *qp = &cur->qpd->prio;

		e->nr_processes += cur->qpd->queue_count > 0;
		e->nr_queues += cur->qpd->queue_count;
		if (qp->park.parked)
			e->parked_ns += now - qp->park.at;
		else if (kfd_prio_is_preempted(qp))
			e->preempted_ns += now - qp->preempted_at;
		if (qp->share.throttle != KFD_PRIO_THROTTLE_NONE)
			e->throttled_ns += now - qp->share.at;
	}
	dqm_unlock(dqm);
}

/* Fills in an entry for each GPU, @room entries at most, and returns the number of GPUs */
static u32 kfd_prio_totals_collect(struct kfd_prio_gpu_entry *entries, u32 room)
{
	struct kfd_prio_dqm *d;
	u32 n = 0;

	kfd_prio_gpu_lock();
	for (d = kfd_prio_gpu_first(); d; d = kfd_prio_gpu_next(d), n++)
		if (n < room)
			kfd_prio_totals_read(d, &entries[n]);
	kfd_prio_gpu_unlock();
	return n;
}

/**
 * kfd_prio_totals_ioctl() - KFD_PRIO_IOC_GPUS
 * @arg: struct kfd_prio_gpus_args of the caller
 * @size: size of the struct as the caller knows it
 *
 * Context: process, may sleep; takes the DQM lock of each GPU, so it waits for an unmap in progress
 * Return: 0, or an error that kfd_prio.h lists
 */
long kfd_prio_totals_ioctl(void __user *arg, size_t size)
{
	struct kfd_prio_gpu_entry *entries = NULL;
	struct kfd_prio_gpus_args a;
	u32 room, n;
	int ret;

	if (size < KFD_PRIO_GPUS_SIZE_1_5)
		return -EINVAL;
	ret = copy_struct_from_user(&a, sizeof(a), arg, size);
	if (ret)
		return ret;
	if (a.flags || a.pad || a.entry_size < KFD_PRIO_GPU_ENTRY_SIZE_1_5 || a.entry_size % 8)
		return -EINVAL;

	/* Allocate no more than there are entries, whatever the caller offers */
	room = min(a.nr_entries, kfd_prio_totals_collect(NULL, 0));
	if (room) {
		entries = kvmalloc_array(room, sizeof(*entries), GFP_KERNEL_ACCOUNT);
		if (!entries)
			return -ENOMEM;
	}
	n = kfd_prio_totals_collect(entries, room);
	ret = kfd_prio_entries_to_user(a.entries, &a.entry_size, entries, sizeof(*entries),
				       min(room, n));
	kvfree(entries);
	if (ret)
		return ret;
	a.nr_entries = n;
	return copy_to_user(arg, &a, min(size, sizeof(a))) ? -EFAULT : 0;
}
