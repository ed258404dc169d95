// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the boundary of Linux 7.2 and 7.3, see kgd_compat_7.h.
 */
#include "hws.h"

#if SIM_BOUNDARY >= 0x702
#include "amdgpu_mes.h"
#include "amdgpu_object.h"
#include "amdgpu_ras.h"
#include "amdgpu_ras_mgr.h"
#include "amdgpu_sdma.h"
#include "kfd_priv.h"

#define NOT_REACHED()	WARN_ONCE(1, "kfdsim: %s() is not modelled\n", __func__)

/* a hang is first tried to be met by a reset of its queue, see kfd2kgd.c; amdgpu's default */
int amdgpu_gpu_recovery = -1;

/* name, default and meaning are amdgpu's; no simulated GPU has such queues */
int amdgpu_user_queue = -1;
module_param_named(user_queue, amdgpu_user_queue, int, 0444);
MODULE_PARM_DESC(user_queue, "as amdgpu; nothing is modelled");

/* ---- the one partition that a GPU in SPX mode is ---- */

/**
 * sim_xcp_init - partitions of a GPU with XCCs
 * @adev: the device
 *
 * amdkfd looks at interrupts of XCCs only where there are partitions.
 * Return: 0 or -ENOMEM
 */
int sim_xcp_init(struct amdgpu_device *adev)
{
	struct amdgpu_xcp_mgr *mgr;

	if (to_sim(adev)->prof->num_xcc == 1)
		return 0;
	mgr = devm_kzalloc(adev->dev, sizeof(*mgr), GFP_KERNEL);
	if (!mgr)
		return -ENOMEM;
	mgr->adev = adev;
	mgr->mode = AMDGPU_SPX_PARTITION_MODE;
	mgr->num_xcps = 1;
	mgr->xcp[0].valid = true;
	mgr->xcp[0].ddev = &adev->ddev;
	mgr->xcp[0].xcp_mgr = mgr;
	adev->xcp_mgr = mgr;
	return 0;
}

int amdgpu_xcp_get_inst_details(struct amdgpu_xcp *xcp, enum AMDGPU_XCP_IP_BLOCK ip,
				uint32_t *inst_mask)
{
	*inst_mask = xcp->xcp_mgr->adev->gfx.xcc_mask;
	return 0;
}

/* ---- processes ---- */

/**
 * sim_context_id - which of the KFD processes of an mm
 * @process_info: kgd_process_info of that process, as amdgpu's init_kfd_vm() takes it
 */
u16 sim_context_id(void **process_info)
{
	return container_of(process_info, struct kfd_process, kgd_process_info)->context_id;
}

struct amdgpu_task_info *amdgpu_vm_get_task_info_vm(struct amdgpu_vm *vm)
{
	return amdgpu_vm_get_task_info_pasid(&to_svm(vm)->gpu->adev, vm->pasid);
}

/* ---- buffers; the kernel's have an address in GART, wherever they are said to be ---- */

int amdgpu_amdkfd_alloc_kernel_mem(struct amdgpu_device *adev, size_t size, u32 domain,
				   void **mem_obj, uint64_t *gpu_addr, void **cpu_ptr,
				   bool mqd_gfx9)
{
	return sim_alloc_kernel_mem(adev, size, mem_obj, gpu_addr, cpu_ptr, mqd_gfx9);
}

#if SIM_BOUNDARY >= 0x703
int amdgpu_amdkfd_gpuvm_map_bo_to_kernel(struct kgd_mem *mem, void **kptr, u64 *size, u32 domain)
{
	return sim_gpuvm_map_bo_to_kernel(mem, kptr, size);
}

/* MQDs in VRAM are evicted for hibernation (in_s4), which is not modelled */
int amdgpu_bo_pin(struct amdgpu_bo *bo, u32 domain)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

void amdgpu_bo_unpin(struct amdgpu_bo *bo)
{
	NOT_REACHED();
}

int amdgpu_bo_kmap(struct amdgpu_bo *bo, void **ptr)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

void amdgpu_bo_kunmap(struct amdgpu_bo *bo)
{
	NOT_REACHED();
}
#endif

/* ---- reset ---- */

int amdgpu_in_reset(struct amdgpu_device *adev)
{
	return atomic_read(&adev->reset_domain->in_gpu_reset);
}

/* after each unmap: an SDMA queue that did not leave its engine would be told by its doorbell */
uint32_t sim_hqd_sdma_get_doorbell(struct amdgpu_device *adev, int engine, int queue)
{
	return 0;
}

int amdgpu_sdma_reset_engine(struct amdgpu_device *adev, uint32_t instance_id,
			     bool caller_handles_kernel_queues)
{
	NOT_REACHED();	/* none did */
	return -EOPNOTSUPP;
}

/* ---- how long a dequeue waits ---- */

void sim_build_dequeue_wait_counts(struct amdgpu_device *adev, uint32_t wait_times,
				   uint32_t sch_wave, uint32_t que_sleep, uint32_t *reg_offset,
				   uint32_t *reg_data)
{
	sim_hws_quiet(adev);
	*reg_offset = SIM_IQ_WAIT_TIME2;
	*reg_data = wait_times;
	if (sch_wave)
		*reg_data = (*reg_data & ~SIM_SCH_WAVE_MASK) |
			    (sch_wave << SIM_SCH_WAVE_SHIFT & SIM_SCH_WAVE_MASK);
	if (que_sleep)
		*reg_data = (*reg_data & ~0xff) | que_sleep;
}

/* ---- MES: one for all XCCs ---- */

#undef amdgpu_mes_suspend
int amdgpu_mes_suspend(struct amdgpu_device *adev, u32 xcc_id)
{
	return sim_mes_suspend_all(adev);
}

#undef amdgpu_mes_resume
int amdgpu_mes_resume(struct amdgpu_device *adev, u32 xcc_id)
{
	return sim_mes_resume_all(adev);
}

#undef amdgpu_mes_flush_shader_debugger
int amdgpu_mes_flush_shader_debugger(struct amdgpu_device *adev, uint64_t process_context_addr,
				     uint32_t xcc_id)
{
	return sim_mes_flush_shader_debugger(adev, process_context_addr);
}

#undef amdgpu_mes_set_shader_debugger
int amdgpu_mes_set_shader_debugger(struct amdgpu_device *adev, uint64_t process_context_addr,
				   uint32_t spi_gdbg_per_vmid_cntl, const uint32_t *tcp_watch_cntl,
				   uint32_t flags, bool trap_en, uint32_t xcc_id)
{
	return sim_mes_set_shader_debugger(adev, process_context_addr, spi_gdbg_per_vmid_cntl,
					   tcp_watch_cntl, flags, trap_en);
}

/* with 7.2: GFX 12.1 only, which no profile is; with 7.3 as if the firmware were the newest */
bool amdgpu_mes_queue_reset_by_mes_supported(struct amdgpu_device *adev)
{
	return SIM_BOUNDARY >= 0x703;
}

int amdgpu_mes_get_hung_queue_db_array_size(struct amdgpu_device *adev)
{
	return 0;
}

int amdgpu_mes_detect_and_reset_hung_queues(struct amdgpu_device *adev, int queue_type,
					    bool detect_only, unsigned int *hung_db_num,
					    u32 *hung_db_array, uint32_t xcc_id)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

/* ---- RAS: nothing is poisoned ---- */

bool amdgpu_uniras_enabled(struct amdgpu_device *adev)
{
	return false;
}

uint64_t amdgpu_ras_mgr_gen_ras_event_seqno(struct amdgpu_device *adev,
					    enum ras_seqno_type seqno_type)
{
	NOT_REACHED();
	return 0;
}

void amdgpu_ras_set_err_poison(struct amdgpu_device *adev, enum amdgpu_ras_block block)
{
	NOT_REACHED();
}

/* ---- retry faults: none, kgd2kfd_vmfault_fast_path() is not called ---- */

void amdgpu_mm_wdoorbell(struct amdgpu_device *adev, u32 index, u32 v)
{
	NOT_REACHED();
}

#if SIM_BOUNDARY >= 0x703
/*
 * A queue that MES did not remove, or that has a bad packet: all gangs are suspended, and if that
 * works the queue is taken away. Which queues hang if it does not is not asked: the GPU is reset.
 */
int amdgpu_gfx_reset_mes_compute(struct amdgpu_device *adev, struct amdgpu_ring *ring,
				 struct amdgpu_fence *guilty_fence,
				 struct amdgpu_usermode_queue *uq, unsigned int *hung_queue_count,
				 void *faulty_queue_input)
{
	int r = sim_mes_suspend_all(adev);

	if (!r && down_read_trylock(&adev->reset_domain->sem)) {
		amdgpu_mes_lock(&adev->mes);
		r = adev->mes.funcs->remove_hw_queue(&adev->mes, faulty_queue_input);
		amdgpu_mes_unlock(&adev->mes);
		up_read(&adev->reset_domain->sem);
	} else if (!r) {
		r = -EIO;
	}
	sim_mes_resume_all(adev);
	return r;
}

int amdgpu_mes_reset_queue_mmio(struct amdgpu_device *adev, int queue_type, unsigned int vmid,
				unsigned int me, unsigned int pipe, unsigned int queue,
				uint32_t xcc_id)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

int amdgpu_mes_reset_user_queue(struct amdgpu_device *adev, int queue_type,
				unsigned int doorbell_index, unsigned int xcc_id)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

/* amdgpu writes who it was to the log */
void amdgpu_vm_print_task_info(struct amdgpu_device *adev, struct amdgpu_task_info *task_info)
{
}

/* contexts in the memory of MES: only where it has use_rs64mem; freeing is asked for always */
int amdgpu_mes_alloc_proc_ctx_index(struct amdgpu_mes *mes, uint32_t *index)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

void amdgpu_mes_free_proc_ctx_index(struct amdgpu_mes *mes, uint32_t index)
{
}

int amdgpu_mes_alloc_gang_ctx_index(struct amdgpu_mes *mes, uint32_t *index)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

void amdgpu_mes_free_gang_ctx_index(struct amdgpu_mes *mes, uint32_t index)
{
}
#endif

/* ---- links between GPUs: no GPU is in a hive ---- */

int amdgpu_xgmi_get_hops_count(struct amdgpu_device *adev, struct amdgpu_device *peer_adev)
{
	return sim_get_xgmi_hops_count(adev, peer_adev);
}

int amdgpu_xgmi_get_bandwidth(struct amdgpu_device *adev, struct amdgpu_device *peer_adev,
			      enum amdgpu_xgmi_bw_mode bw_mode, enum amdgpu_xgmi_bw_unit bw_unit,
			      uint32_t *min_bw, uint32_t *max_bw)
{
	return sim_get_xgmi_bandwidth_mbytes(adev, peer_adev, true);
}

bool amdgpu_xgmi_get_is_sharing_enabled(struct amdgpu_device *adev,
					struct amdgpu_device *peer_adev)
{
	NOT_REACHED();
	return false;
}
#endif
