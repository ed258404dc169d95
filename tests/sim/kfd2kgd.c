// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the HIQ and the kfd2kgd tables.
 *
 * amdkfd picks the table by the version of the graphics core. Only the members that are
 * reached with HWS are filled; the others stay NULL or complain (kgd.c explains).
 */
#include "hws.h"
#include "debugger.h"
#include "kfd_priv.h"

#define NOT_REACHED()	WARN_ONCE(1, "kfdsim: %s() is not modelled\n", __func__)

/*
 * "Was there a fatal error?" No; but amdkfd asks this just before it rings the HIQ's
 * doorbell, and while it waits for a fence.
 */
bool amdgpu_amdkfd_is_fed(struct amdgpu_device *adev)
{
	sim_hws_kick(to_sim(adev));
	return false;
}

/* ---- HIQ ---- */

int amdgpu_amdkfd_unmap_hiq(struct amdgpu_device *adev, u32 doorbell_off, u32 inst)
{
	sim_hws_unload_hiq(to_sim(adev), inst);
	return 0;
}

static int hiq_mqd_load(struct amdgpu_device *adev, void *mqd, uint32_t pipe_id, uint32_t queue_id,
			uint32_t doorbell_off, uint32_t inst)
{
	sim_hws_load_hiq(to_sim(adev), mqd, doorbell_off, inst);
	return 0;
}

/* amdkfd destroys the HIQ this way too */
static int hqd_destroy(struct amdgpu_device *adev, void *mqd, enum kfd_preempt_type reset_type,
		       unsigned int timeout, uint32_t pipe_id, uint32_t queue_id, uint32_t inst)
{
	sim_hws_unload_hiq(to_sim(adev), inst);
	return 0;
}

/* ---- registers: there are none, and what amdkfd writes has no effect on the model ---- */

static void program_sh_mem_settings(struct amdgpu_device *adev, uint32_t vmid,
				    uint32_t sh_mem_config, uint32_t sh_mem_ape1_base,
				    uint32_t sh_mem_ape1_limit, uint32_t sh_mem_bases,
				    uint32_t inst)
{
}

static int set_pasid_vmid_mapping(struct amdgpu_device *adev, u32 pasid, unsigned int vmid,
				  uint32_t inst)
{
	return 0;
}

static int init_interrupts(struct amdgpu_device *adev, uint32_t pipe_id, uint32_t inst)
{
	return 0;
}

static void get_iq_wait_times(struct amdgpu_device *adev, uint32_t *wait_times, uint32_t inst)
{
	*wait_times = sim_wait_time2();
}

static void __maybe_unused build_grace_period_packet_info(struct amdgpu_device *adev, uint32_t wait_times,
					   uint32_t grace_period, uint32_t *reg_offset,
					   uint32_t *reg_data)
{
	sim_hws_quiet(adev);
	*reg_offset = SIM_IQ_WAIT_TIME2;
	/* 0 would never end, so amdgpu makes it 1 */
	*reg_data = (wait_times & ~SIM_SCH_WAVE_MASK) |
		    (max(grace_period, 1u) << SIM_SCH_WAVE_SHIFT & SIM_SCH_WAVE_MASK);
}

static void program_trap_handler_settings(struct amdgpu_device *adev, uint32_t vmid,
					  uint64_t tba_addr, uint64_t tma_addr, uint32_t inst)
{
}

static void __maybe_unused get_cu_occupancy(struct amdgpu_device *adev, struct kfd_cu_occupancy *occ,
			     int *max_waves_per_cu, uint32_t inst)
{
	sim_hws_occupancy(to_sim(adev), inst, occ, max_waves_per_cu);
}

/* debugfs hqds: what the HQDs hold is in kfdsim's own debugfs */
static int hqd_dump(struct amdgpu_device *adev, uint32_t pipe_id, uint32_t queue_id,
		    uint32_t (**dump)[2], uint32_t *n_regs, uint32_t inst)
{
	*n_regs = 0;
	*dump = kmalloc(8, GFP_KERNEL);
	return *dump ? 0 : -ENOMEM;
}

static int hqd_sdma_dump(struct amdgpu_device *adev, uint32_t engine_id, uint32_t queue_id,
			 uint32_t (**dump)[2], uint32_t *n_regs)
{
	return hqd_dump(adev, 0, 0, dump, n_regs, 0);
}

/* ---- without HWS only ---- */

static int hqd_load(struct amdgpu_device *adev, void *mqd, uint32_t pipe_id, uint32_t queue_id,
		    uint32_t __user *wptr, uint32_t wptr_shift, uint32_t wptr_mask,
		    struct mm_struct *mm, uint32_t inst)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

static int hqd_sdma_load(struct amdgpu_device *adev, void *mqd, uint32_t __user *wptr,
			 struct mm_struct *mm)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

static bool hqd_is_occupied(struct amdgpu_device *adev, uint64_t queue_address, uint32_t pipe_id,
			    uint32_t queue_id, uint32_t inst)
{
	NOT_REACHED();
	return false;
}

static int wave_control_execute(struct amdgpu_device *adev, uint32_t gfx_index_val,
				uint32_t sq_cmd, uint32_t inst)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

static void set_vm_context_page_table_base(struct amdgpu_device *adev, uint32_t vmid,
					   uint64_t page_table_base)
{
	NOT_REACHED();
}

static bool hqd_sdma_is_occupied(struct amdgpu_device *adev, void *mqd)
{
	NOT_REACHED();
	return false;
}

static int hqd_sdma_destroy(struct amdgpu_device *adev, void *mqd, unsigned int timeout)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

/*
 * ---- single queue reset ----
 *
 * The HQD of a queue that the firmware has given up (fault hang_queue).  Which of them it is, is not
 * modelled: the first that amdkfd asks about.  The amdgpu of 6.12 has this for gfx9 alone.
 */

static uint64_t hqd_get_pq_addr(struct amdgpu_device *adev, uint32_t pipe_id, uint32_t queue_id,
				uint32_t inst)
{
	struct sim_hws *h = to_sim(adev)->hws;
	u32 hqd = inst << 16 | pipe_id << 8 | queue_id;

	if (!READ_ONCE(h->hung_ring) || to_sim(adev)->prof->gc >= IP_VERSION(10, 0, 0))
		return 0;
	if (READ_ONCE(h->hung_hqd) == ~0U)
		WRITE_ONCE(h->hung_hqd, hqd);
	return READ_ONCE(h->hung_hqd) == hqd ? READ_ONCE(h->hung_ring) : 0;
}

static uint64_t __maybe_unused hqd_reset(struct amdgpu_device *adev, uint32_t pipe_id, uint32_t queue_id,
			  uint32_t inst, unsigned int utimeout)
{
	struct sim_hws *h = to_sim(adev)->hws;
	u64 ring = hqd_get_pq_addr(adev, pipe_id, queue_id, inst);

	if (ring) {
		WRITE_ONCE(h->hung_ring, 0);
		WRITE_ONCE(h->n_hqd_reset, h->n_hqd_reset + 1);
		sim_fault_clear(to_sim(adev), SIM_FAULT_HANG_QUEUE);
	}
	return ring;
}

/*
 * Each table has what the real one of its GPU has (amdgpu_amdkfd_*.c of 6.12): amdkfd does things
 * otherwise where one is missing, or relies on it.
 */
#define SIM_KFD2KGD_MES								\
	.init_interrupts = init_interrupts,					\
	.hqd_dump = hqd_dump,							\
	.hqd_sdma_dump = hqd_sdma_dump,						\
	.wave_control_execute = wave_control_execute

#define SIM_KFD2KGD_QUEUES							\
	SIM_KFD2KGD_MES,							\
	.program_sh_mem_settings = program_sh_mem_settings,			\
	.set_pasid_vmid_mapping = set_pasid_vmid_mapping,			\
	.hqd_load = hqd_load,							\
	.hiq_mqd_load = hiq_mqd_load,						\
	.hqd_sdma_load = hqd_sdma_load,						\
	.hqd_is_occupied = hqd_is_occupied,					\
	.hqd_destroy = hqd_destroy,						\
	.hqd_sdma_is_occupied = hqd_sdma_is_occupied,				\
	.hqd_sdma_destroy = hqd_sdma_destroy,					\
	.set_vm_context_page_table_base = set_vm_context_page_table_base	\
	SIM_KFD2KGD_RESET							\
	SIM_KFD2KGD_NEW_QUEUES

#define SIM_KFD2KGD_GFX10							\
	SIM_KFD2KGD_QUEUES,							\
	.get_iq_wait_times = get_iq_wait_times,					\
	SIM_KFD2KGD_WAIT_TIMES,							\
	.program_trap_handler_settings = program_trap_handler_settings

#define SIM_KFD2KGD_GFX9							\
	SIM_KFD2KGD_GFX10,							\
	SIM_KFD2KGD_OCCUPANCY

/* kfd_device.c declares them for itself */
#define SIM_KFD2KGD_TABLE(name, members)		\
	extern const struct kfd2kgd_calls name;		\
	const struct kfd2kgd_calls name = { members }

SIM_KFD2KGD_TABLE(gfx_v7_kfd2kgd, SIM_KFD2KGD_QUEUES);	/* no profile */
SIM_KFD2KGD_TABLE(gfx_v8_kfd2kgd, SIM_KFD2KGD_QUEUES);	/* no profile */
SIM_KFD2KGD_TABLE(gfx_v9_kfd2kgd, SIM_KFD2KGD_GFX9 SIM_KFD2KGD_GLOBAL_DEBUGGER);
SIM_KFD2KGD_TABLE(arcturus_kfd2kgd, SIM_KFD2KGD_GFX9 SIM_KFD2KGD_GLOBAL_DEBUGGER);
SIM_KFD2KGD_TABLE(aldebaran_kfd2kgd, SIM_KFD2KGD_GFX9 SIM_KFD2KGD_VMID_DEBUGGER);
SIM_KFD2KGD_TABLE(gc_9_4_3_kfd2kgd, SIM_KFD2KGD_GFX9 SIM_KFD2KGD_VMID_DEBUGGER);
SIM_KFD2KGD_TABLE(gfx_v10_kfd2kgd, SIM_KFD2KGD_GFX10 SIM_KFD2KGD_GLOBAL_DEBUGGER);
SIM_KFD2KGD_TABLE(gfx_v10_3_kfd2kgd, SIM_KFD2KGD_GFX10 SIM_KFD2KGD_GLOBAL_DEBUGGER);
SIM_KFD2KGD_TABLE(gfx_v11_kfd2kgd, SIM_KFD2KGD_QUEUES SIM_KFD2KGD_VMID_DEBUGGER);
SIM_KFD2KGD_TABLE(gfx_v12_kfd2kgd, SIM_KFD2KGD_MES SIM_KFD2KGD_VMID_DEBUGGER);
SIM_KFD2KGD_NEW_TABLES
