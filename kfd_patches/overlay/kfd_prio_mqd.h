/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: the members of MQDs that kfdprio reads. Each ASIC has a layout of its own. A part of
 * kfd_prio_compat.h, which includes this file.
 */
#ifndef KFD_PRIO_MQD_H_INCLUDED
#define KFD_PRIO_MQD_H_INCLUDED

#include "v9_structs.h"
#include "v10_structs.h"
#include "v11_structs.h"
#ifdef KFD_PRIO_HAVE_V12_MQD
#include "v12_structs.h"
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

/* Returns where the MQD @m has the time stamps of the last save */
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

#endif /* KFD_PRIO_MQD_H_INCLUDED */
