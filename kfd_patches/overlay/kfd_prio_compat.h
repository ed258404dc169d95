/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: how each supported tree spells a KFD type or call. Only this file has conditionals on
 * the kernel. KFD_PRIO_HAVE_* come from the compile probes of kfd_prio_probes.sh, never from
 * version numbers.
 */
#ifndef KFD_PRIO_COMPAT_H_INCLUDED
#define KFD_PRIO_COMPAT_H_INCLUDED

#include "kfd_prio_probes.h"
#include "kfd_priv.h"
#include "kfd_device_queue_manager.h"
#include "kfd_kernel_queue.h"
#include "kfd_topology.h"
#include "v9_structs.h"
#include "v10_structs.h"
#include "v11_structs.h"
#ifdef KFD_PRIO_HAVE_V12_MQD
#include "v12_structs.h"
#endif
#ifdef KFD_PRIO_HAVE_SCHED_HALT
#include "amdgpu_reset.h"
#endif

/* 6.1 has a struct kfd_dev for each GPU, later trees a struct kfd_node for each partition */
#ifdef KFD_PRIO_HAVE_KFD_NODE
#define kfd_prio_uses_mes(dqm)	((dqm)->dev->kfd->shared_resources.enable_mes)
#else
#define kfd_prio_uses_mes(dqm)	((dqm)->dev->shared_resources.enable_mes)
#endif

/* Returns the number of XCCs of a partition */
static inline unsigned int kfd_prio_xccs(struct device_queue_manager *dqm)
{
#ifdef KFD_PRIO_HAVE_KFD_NODE
	return hweight32(dqm->dev->xcc_mask);
#else
	return 1;
#endif
}

/*
 * Waves of a process in flight. Newer trees count them per queue of the GPU, on one XCC; older
 * trees per process; trees between these per process on one XCC, for which KFD uses the first.
 * @occupancy: buffer of KFD_PRIO_OCCUPANCY_SIZE bytes.
 *
 * kfd_prio_compat_count() returns whether there are waves: of any process if KFD_PRIO_COUNTS_ALL,
 * else of the process of @pdd. kfd_prio_compat_waves() returns whether the process has waves in the
 * last count.
 */
#ifdef KFD_PRIO_HAVE_OCCUPANCY_BY_QUEUE
#define KFD_PRIO_COUNTS_ALL	true
#define KFD_PRIO_OCCUPANCY_SIZE	(AMDGPU_MAX_QUEUES * sizeof(struct kfd_cu_occupancy))
static inline bool kfd_prio_compat_count(struct kfd_process_device *pdd, void *occupancy)
{
	struct kfd_cu_occupancy *o = occupancy;
	int i, max_waves_per_cu = 0;

	memset(o, 0, KFD_PRIO_OCCUPANCY_SIZE);
	pdd->dev->kfd2kgd->get_cu_occupancy(pdd->dev->adev, o, &max_waves_per_cu,
					    ffs(pdd->dev->xcc_mask) - 1);
	for (i = 0; i < AMDGPU_MAX_QUEUES; i++)
		if (o[i].wave_cnt)
			return true;
	return false;
}

static inline bool kfd_prio_compat_waves(struct kfd_process_device *pdd, void *occupancy)
{
	struct kfd_cu_occupancy *o = occupancy;
	u32 format;
	int i;

	for (i = 0; i < AMDGPU_MAX_QUEUES; i++)
		if (o[i].wave_cnt && kfd_dqm_is_queue_in_process(pdd->dev->dqm, &pdd->qpd,
								 o[i].doorbell_off, &format))
			return true;
	return false;
}
#else
#define KFD_PRIO_COUNTS_ALL	false
#define KFD_PRIO_OCCUPANCY_SIZE	1
static inline bool kfd_prio_compat_count(struct kfd_process_device *pdd, void *occupancy)
{
	int waves = 0, max_waves_per_cu = 0;

#ifdef KFD_PRIO_HAVE_OCCUPANCY_OF_XCC
	pdd->dev->kfd2kgd->get_cu_occupancy(pdd->dev->adev, pdd->process->pasid, &waves,
					    &max_waves_per_cu, 0);
#else
	pdd->dev->kfd2kgd->get_cu_occupancy(pdd->dev->adev, pdd->process->pasid, &waves,
					    &max_waves_per_cu);
#endif
	return waves > 0;
}

static inline bool kfd_prio_compat_waves(struct kfd_process_device *pdd, void *occupancy)
{
	return true;
}
#endif

/* Offsets of the members of an MQD that kfdprio reads */
#define KFD_PRIO_AT_STACK(type)		offsetof(struct type, cp_hqd_cntl_stack_offset)
#define KFD_PRIO_AT_STACK_SIZE(type)	offsetof(struct type, cp_hqd_cntl_stack_size)
#define KFD_PRIO_AT_WAVES(type)		offsetof(struct type, cp_hqd_wg_state_offset)
#define KFD_PRIO_AT_SAVE_START(type)	offsetof(struct type, cp_mqd_save_start_time_lo)
#define KFD_PRIO_AT_SAVE_END(type)	offsetof(struct type, cp_mqd_save_end_time_hi)
#define KFD_PRIO_AT_DOORBELL(type)	offsetof(struct type, queue_doorbell_id0)

/*
 * Returns the MQD of a compute queue for one XCC of its partition; each XCC has an MQD of its own.
 * Returns NULL if the MQD is not found, or was unpinned for hibernation and may not be pinned
 * again. The members that kfdprio reads are at the same offset on all ASICs, except for those of
 * kfd_prio_mqd_save_times().
 */
static inline const struct v9_mqd *kfd_prio_mqd(struct queue *q, unsigned int xcc)
{
	u64 stride = 0;

	BUILD_BUG_ON(KFD_PRIO_AT_STACK(v10_compute_mqd) != KFD_PRIO_AT_STACK(v9_mqd));
	BUILD_BUG_ON(KFD_PRIO_AT_STACK_SIZE(v10_compute_mqd) != KFD_PRIO_AT_STACK_SIZE(v9_mqd));
	BUILD_BUG_ON(KFD_PRIO_AT_WAVES(v10_compute_mqd) != KFD_PRIO_AT_WAVES(v9_mqd));
	BUILD_BUG_ON(KFD_PRIO_AT_STACK(v11_compute_mqd) != KFD_PRIO_AT_STACK(v9_mqd));
	BUILD_BUG_ON(KFD_PRIO_AT_STACK_SIZE(v11_compute_mqd) != KFD_PRIO_AT_STACK_SIZE(v9_mqd));
	BUILD_BUG_ON(KFD_PRIO_AT_WAVES(v11_compute_mqd) != KFD_PRIO_AT_WAVES(v9_mqd));
	BUILD_BUG_ON(KFD_PRIO_AT_SAVE_START(v10_compute_mqd) != KFD_PRIO_AT_SAVE_START(v9_mqd));
	BUILD_BUG_ON(KFD_PRIO_AT_SAVE_START(v11_compute_mqd) != KFD_PRIO_AT_SAVE_START(v9_mqd));
#ifdef KFD_PRIO_HAVE_V12_MQD
	BUILD_BUG_ON(KFD_PRIO_AT_STACK(v12_compute_mqd) != KFD_PRIO_AT_STACK(v9_mqd));
	BUILD_BUG_ON(KFD_PRIO_AT_STACK_SIZE(v12_compute_mqd) != KFD_PRIO_AT_STACK_SIZE(v9_mqd));
	BUILD_BUG_ON(KFD_PRIO_AT_WAVES(v12_compute_mqd) != KFD_PRIO_AT_WAVES(v9_mqd));
	BUILD_BUG_ON(KFD_PRIO_AT_SAVE_START(v12_compute_mqd) != KFD_PRIO_AT_SAVE_START(v9_mqd));
#endif
#ifdef KFD_PRIO_HAVE_V12_1_MQD
	BUILD_BUG_ON(KFD_PRIO_AT_STACK(v12_1_compute_mqd) != KFD_PRIO_AT_STACK(v9_mqd));
	BUILD_BUG_ON(KFD_PRIO_AT_STACK_SIZE(v12_1_compute_mqd) != KFD_PRIO_AT_STACK_SIZE(v9_mqd));
	BUILD_BUG_ON(KFD_PRIO_AT_WAVES(v12_1_compute_mqd) != KFD_PRIO_AT_WAVES(v9_mqd));
#endif
#ifdef KFD_PRIO_HAVE_MQD_STRIDE
	if (xcc) {
		struct mqd_manager *mm = q->device->dqm->mqd_mgrs[KFD_MQD_TYPE_CP];

		stride = mm->mqd_stride(mm, &q->properties);
	}
#endif
	return q->mqd && (!xcc || stride) ? q->mqd + xcc * stride : NULL;
}

/**
 * struct kfd_prio_save_times - the last save of the waves of a queue, in time stamps of CP firmware
 * @start_lo: begin of the save, low half
 * @start_hi: begin of the save, high half
 * @end_lo: end of the save, low half
 * @end_hi: end of the save, high half
 *
 * Part of each MQD, at another offset on gfx12.1.
 */
struct kfd_prio_save_times {
	u32 start_lo;
	u32 start_hi;
	u32 end_lo;
	u32 end_hi;
};

static inline const struct kfd_prio_save_times *
kfd_prio_mqd_save_times(struct device_queue_manager *dqm, const struct v9_mqd *m)
{
	const void *at = m;
	size_t offset = KFD_PRIO_AT_SAVE_START(v9_mqd);

	BUILD_BUG_ON(KFD_PRIO_AT_SAVE_END(v9_mqd) != KFD_PRIO_AT_SAVE_START(v9_mqd) +
		     offsetof(struct kfd_prio_save_times, end_hi));
#ifdef KFD_PRIO_HAVE_V12_1_MQD
	BUILD_BUG_ON(KFD_PRIO_AT_SAVE_END(v12_1_compute_mqd) !=
		     KFD_PRIO_AT_SAVE_START(v12_1_compute_mqd) +
		     offsetof(struct kfd_prio_save_times, end_hi));
	/* As device_queue_manager_init() selects the MQD manager */
	if (KFD_GC_VERSION(dqm->dev) >= IP_VERSION(12, 1, 0))
		offset = KFD_PRIO_AT_SAVE_START(v12_1_compute_mqd);
#endif
	return at + offset;
}

/*
 * Whether CWSR has saved waves of the queue on the XCC of an MQD. The CP writes to the MQD how far
 * it has filled the control stack, which grows down from its size, and the wave state, which grows
 * up from there (KFD reads both in get_wave_state()).
 */
static inline bool kfd_prio_mqd_saved(const struct v9_mqd *m)
{
	return m->cp_hqd_cntl_stack_offset != m->cp_hqd_cntl_stack_size ||
	       m->cp_hqd_wg_state_offset != m->cp_hqd_cntl_stack_size;
}

/*
 * Whether CWSR has saved waves of a compute queue on any XCC; true as well if an MQD is not found.
 * The queue must be off the hardware.
 */
static inline bool kfd_prio_compat_saved(struct queue *q)
{
	const struct v9_mqd *m;
	unsigned int i;

	for (i = 0; i < kfd_prio_xccs(q->device->dqm); i++) {
		m = kfd_prio_mqd(q, i);
		if (!m || kfd_prio_mqd_saved(m))
			return true;
	}
	return false;
}

/**
 * struct kfd_prio_sdma_left - what an unmap has left of an SDMA queue in its MQD
 * @rptr: read position in the ring
 * @wptr: write position in the ring
 * @ib: an indirect buffer was not finished
 */
struct kfd_prio_sdma_left {
	u64 rptr;
	u64 wptr;
	bool ib;
};

#define kfd_prio_sdma_left_of(type, mqd)					\
({										\
	const struct type *_m = (mqd);						\
										\
	(struct kfd_prio_sdma_left) {						\
		.rptr = (u64)READ_ONCE(_m->sdmax_rlcx_rb_rptr_hi) << 32 |	\
			READ_ONCE(_m->sdmax_rlcx_rb_rptr),			\
		.wptr = (u64)READ_ONCE(_m->sdmax_rlcx_rb_wptr_hi) << 32 |	\
			READ_ONCE(_m->sdmax_rlcx_rb_wptr),			\
		.ib = READ_ONCE(_m->sdmax_rlcx_ib_size) ||			\
		      READ_ONCE(_m->sdmax_rlcx_ib_sub_remain),			\
	};									\
})

/* Reads the MQD of an SDMA queue, whose layout changed with SDMA 6 (gfx11) and 7 (gfx12) */
static inline struct kfd_prio_sdma_left kfd_prio_sdma_left(struct queue *q)
{
	BUILD_BUG_ON(offsetof(struct v9_sdma_mqd, sdmax_rlcx_ib_size) !=
		     offsetof(struct v10_sdma_mqd, sdmax_rlcx_ib_size));
	BUILD_BUG_ON(offsetof(struct v9_sdma_mqd, sdmax_rlcx_ib_sub_remain) !=
		     offsetof(struct v10_sdma_mqd, sdmax_rlcx_ib_sub_remain));
#ifdef KFD_PRIO_HAVE_V12_MQD
	if (KFD_GC_VERSION(q->device) >= IP_VERSION(12, 0, 0))
		return kfd_prio_sdma_left_of(v12_sdma_mqd, q->mqd);
#endif
	if (KFD_GC_VERSION(q->device) >= IP_VERSION(11, 0, 0))
		return kfd_prio_sdma_left_of(v11_sdma_mqd, q->mqd);
	return kfd_prio_sdma_left_of(v9_sdma_mqd, q->mqd);
}

/*
 * Returns the doorbell of a compute queue that HWS gave up on in the last unmap, in dwords of the
 * doorbell BAR as in queue_properties.doorbell_off; 0: there is none, or the GPU has MES. Only the
 * first XCC is read. MEC firmware writes the value to the MQD of the HIQ; KFD clears it in some
 * trees when it reads it.
 */
static inline u32 kfd_prio_unresponsive_doorbell(struct device_queue_manager *dqm)
{
	const struct kernel_queue *hiq = dqm->packet_mgr.priv_queue;
	const struct v9_mqd *m;

	BUILD_BUG_ON(KFD_PRIO_AT_DOORBELL(v10_compute_mqd) != KFD_PRIO_AT_DOORBELL(v9_mqd));
	if (kfd_prio_uses_mes(dqm) || !hiq || !hiq->queue || !hiq->queue->mqd)
		return 0;
	m = hiq->queue->mqd;
	return READ_ONCE(m->queue_doorbell_id0);
}

/* Without CWSR an unmap waits until the waves end, for an unlimited time */
static inline bool kfd_prio_has_cwsr(struct device_queue_manager *dqm)
{
#ifdef KFD_PRIO_HAVE_KFD_NODE
	return dqm->dev->kfd->cwsr_enabled;
#else
	return dqm->dev->cwsr_enabled;
#endif
}

/* KFD refuses updates of the queues of a process after a queue of it was reset alone */
static inline bool kfd_prio_has_reset_queue(struct kfd_process_device *pdd)
{
#ifdef KFD_PRIO_HAVE_RESET_QUEUE
	return pdd->has_reset_queue;
#else
	return false;
#endif
}

/*
 * KFD remembers whether the last runlist was over-subscribed, and prints a line when that changes.
 * kfd_prio_over_subscribes() uses the conditions of pm_calc_rlib_size().
 */
#ifdef KFD_PRIO_HAVE_OVER_SUBSCRIPTION
static inline bool kfd_prio_over_subscription_get(struct device_queue_manager *dqm)
{
	return dqm->packet_mgr.is_over_subscription;
}

static inline void kfd_prio_over_subscription_set(struct device_queue_manager *dqm)
{
	dqm->packet_mgr.is_over_subscription = true;
}

/*
 * On some gfx9 GPUs processes with and without XNACK run in turns. @all: whether processes that are
 * left out of the runlist are considered.
 */
static inline bool kfd_prio_xnack_conflicts(struct device_queue_manager *dqm, bool all)
{
#ifdef KFD_PRIO_HAVE_XNACK_CHAIN
	struct device_process_node *cur;
	int first = -1;

	if (!(dqm->dev->adev->gmc.xnack_flags & AMDGPU_GMC_XNACK_FLAG_CHAIN))
		return false;
	list_for_each_entry(cur, &dqm->queues, list) {
		if (cur->qpd->prio.skip && !all)
			continue;
		if (first < 0)
			first = cur->qpd->pqm->process->xnack_enabled;
		else if (cur->qpd->pqm->process->xnack_enabled != first)
			return true;
	}
#endif
	return false;
}

/*
 * @processes: dqm->processes_count, with or without the processes that are left out of the runlist
 */
static inline bool kfd_prio_over_subscribes(struct device_queue_manager *dqm,
					    unsigned int processes, unsigned int compute_queues)
{
	return processes > max(dqm->dev->max_proc_per_quantum, 1U) ||
	       compute_queues > get_cp_queues_num(dqm) || dqm->gws_queue_count > 1 ||
	       kfd_prio_xnack_conflicts(dqm, processes == dqm->processes_count);
}
#else
static inline bool kfd_prio_over_subscription_get(struct device_queue_manager *dqm)
{
	return false;
}

static inline void kfd_prio_over_subscription_set(struct device_queue_manager *dqm)
{
}

static inline bool kfd_prio_over_subscribes(struct device_queue_manager *dqm,
					    unsigned int processes, unsigned int compute_queues)
{
	return false;
}
#endif

/* Queue of a debugger; newer trees have none */
static inline bool kfd_prio_is_diq(enum kfd_queue_type type)
{
#ifdef KFD_PRIO_HAVE_DIQ
	return type == KFD_QUEUE_TYPE_DIQ;
#else
	return false;
#endif
}

/* A queue that was reset alone stays off the hardware; older trees record it for processes only */
static inline bool kfd_prio_queue_is_reset(struct queue *q)
{
#ifdef KFD_PRIO_HAVE_QUEUE_IS_RESET
	return q->properties.is_reset;
#else
	return false;
#endif
}

/* A queue that a debugger has suspended is inactive until the debugger resumes it */
static inline bool kfd_prio_queue_is_suspended(struct queue *q)
{
#ifdef KFD_PRIO_HAVE_IS_SUSPENDED
	return q->properties.is_suspended;
#else
	return false;
#endif
}

/*
 * Hibernation does not save pinned memory. KFD unpins the MQDs in VRAM of a process that it evicts
 * for hibernation, and pins them when it restores the process. Only kfd_device_queue_manager.c can
 * use these.
 */
#ifdef KFD_PRIO_HAVE_MQD_REPIN
#define kfd_prio_mqd_unpin(dqm, q)	dqm_evict_mqd_bo(dqm, q)
#define kfd_prio_mqd_repin(dqm, q)	dqm_repin_mqd_bo(dqm, q)
#else
static inline void kfd_prio_mqd_unpin(struct device_queue_manager *dqm, struct queue *q)
{
}

static inline int kfd_prio_mqd_repin(struct device_queue_manager *dqm, struct queue *q)
{
	return 0;
}
#endif

/* KFD omits this initialisation for a process that gets no sysfs directory */
static inline void kfd_prio_drain_init(struct kfd_process *p)
{
#ifdef KFD_PRIO_HAVE_IRQ_DRAIN
	init_waitqueue_head(&p->wait_irq_drain);
#endif
}

/* Ends the wait of kfd_process_drain_interrupts(), as the interrupt handler does */
static inline void kfd_prio_drain_end(struct kfd_process *p)
{
#ifdef KFD_PRIO_HAVE_IRQ_DRAIN
	WRITE_ONCE(p->irq_drain_is_open, false);
	wake_up_all(&p->wait_irq_drain);
#endif
}

/*
 * Whether KFD handles the interrupt for which kfd_process_drain_interrupts() waits. The handler of
 * GFX10 discards it, because its list of clients does not have KFD_IRQ_FENCE_CLIENTID.
 */
static inline bool kfd_prio_drain_ends(struct kfd_process_device *pdd)
{
#ifdef KFD_PRIO_HAVE_IRQ_DRAIN
	return pdd->dev->kfd->device_info.event_interrupt_class != &event_interrupt_class_v10;
#else
	return true;
#endif
}

/* ROCm can unmap doorbells itself, to leave idle processes evicted; it handles their rings then */
static inline bool kfd_prio_doorbells_are_kfds(void)
{
#ifdef KFD_PRIO_HAVE_KEEP_IDLE_EVICTED
	return keep_idle_process_evicted;
#else
	return false;
#endif
}

/*
 * DRM user queues, which amdgpu creates from 6.16 on if its parameter user_queue is 1 or 2. KFD
 * does not know them. With 0, with -1 (the default) and without the parameter there are none.
 */
static inline int kfd_prio_user_queues(void)
{
#ifdef KFD_PRIO_HAVE_USER_QUEUES
	return amdgpu_user_queue;
#else
	return 0;
#endif
}

/* Arguments of the tracepoint sched_process_exit */
#ifdef KFD_PRIO_HAVE_EXIT_GROUP_DEAD
#define KFD_PRIO_EXIT_ARGS(task)	struct task_struct *(task), bool group_dead
#else
#define KFD_PRIO_EXIT_ARGS(task)	struct task_struct *(task)
#endif

static inline bool kfd_prio_sched_runs(struct device_queue_manager *dqm)
{
#ifdef KFD_PRIO_HAVE_SCHED_HALT
	return dqm->sched_running && !dqm->sched_halt;
#else
	return dqm->sched_running;
#endif
}

/*
 * Whether a reset of the GPU is on its way, which is the meaning of -EIO. Older trees lack the
 * semaphore of resets: there -EIO has no other reason.
 */
static inline bool kfd_prio_in_reset(struct device_queue_manager *dqm)
{
#ifdef KFD_PRIO_HAVE_SCHED_HALT
	return dqm->sched_halt || atomic_read(&dqm->dev->adev->reset_domain->in_gpu_reset);
#else
	return true;
#endif
}

/* Whether the GPU is being reset, also while KFD has not refused a command yet */
static inline bool kfd_prio_resetting(struct device_queue_manager *dqm)
{
#ifdef KFD_PRIO_HAVE_SCHED_HALT
	return atomic_read(&dqm->dev->adev->reset_domain->in_gpu_reset);
#elif defined(KFD_PRIO_HAVE_IS_RESETTING)
	return dqm->is_resetting;
#else
	return false;
#endif
}

/*
 * Where KFD flushes the TLB of a process that it has evicted from MES, kfdprio must flush it for a
 * process whose queues preemption had removed before.
 */
#ifdef KFD_PRIO_HAVE_FLUSH_TLB_NO_TYPE
#define kfd_prio_flush_tlb(pdd)		kfd_flush_tlb(pdd)
#else
#define kfd_prio_flush_tlb(pdd)		kfd_flush_tlb(pdd, TLB_FLUSH_HEAVYWEIGHT)
#endif

/*
 * Size of the save area that KFD requires for a queue on one XCC, bytes; 0 if KFD accepts any size
 */
static inline u32 kfd_prio_save_area(struct kfd_topology_device *t)
{
#ifdef KFD_PRIO_HAVE_SAVE_AREA
	return t->node_props.cwsr_size;
#else
	return 0;
#endif
}

static inline void kfd_prio_timer_init(struct hrtimer *timer,
				       enum hrtimer_restart (*fn)(struct hrtimer *))
{
#ifdef KFD_PRIO_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	timer->function = fn;
#endif
}

/*
 * Whether the tree can set the grace period, in which waves may end before CWSR saves them. KFD
 * sets it with a packet on the HIQ that writes a register, for the suspend of a debugger.
 */
static inline bool kfd_prio_tree_has_grace(struct device_queue_manager *dqm)
{
#if defined(KFD_PRIO_HAVE_GRACE_PERIOD)
	return dqm->packet_mgr.pmf->set_grace_period_size &&
	       dqm->dev->kfd2kgd->build_grace_period_packet_info;
#elif defined(KFD_PRIO_HAVE_DEQUEUE_WAIT)
	return dqm->packet_mgr.pmf->config_dequeue_wait_counts_size &&
	       dqm->dev->kfd2kgd->build_dequeue_wait_counts_packet_info;
#else
	return false;
#endif
}

/*
 * Trees that define USE_DEFAULT_GRACE_PERIOD take the grace period as an argument of the unmap. For
 * 0 KFD sets its minimum, 1000 cycles.
 */
#ifdef USE_DEFAULT_GRACE_PERIOD
#define kfd_prio_unmap_dynamic(dqm)						\
	unmap_queues_cpsch(dqm, KFD_UNMAP_QUEUES_FILTER_DYNAMIC_QUEUES, 0,	\
			   USE_DEFAULT_GRACE_PERIOD, false)
#define kfd_prio_execute_dynamic(dqm, at_once)					\
	execute_queues_cpsch(dqm, KFD_UNMAP_QUEUES_FILTER_DYNAMIC_QUEUES, 0,	\
			     (at_once) ? 0 : USE_DEFAULT_GRACE_PERIOD)
#else
#define kfd_prio_unmap_dynamic(dqm)						\
	unmap_queues_cpsch(dqm, KFD_UNMAP_QUEUES_FILTER_DYNAMIC_QUEUES, 0, false)
#define kfd_prio_execute_dynamic(dqm, at_once)					\
	((void)(at_once),							\
	 execute_queues_cpsch(dqm, KFD_UNMAP_QUEUES_FILTER_DYNAMIC_QUEUES, 0))
#endif

/* Whether the GPU has had a fatal error (RAS). Its firmware does not answer until the reset. */
static inline bool kfd_prio_is_fed(struct device_queue_manager *dqm)
{
#ifdef KFD_PRIO_HAVE_FATAL_ERROR
	return amdgpu_amdkfd_is_fed(dqm->dev->adev);
#else
	return false;
#endif
}

#endif /* KFD_PRIO_COMPAT_H_INCLUDED */
