// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: what amdkfd calls for shared virtual memory, where the kernel has that
 * (CONFIG_HSA_AMD_SVM: Debian's since 7.x; a 6.12 that has it: svm-612.c).
 *
 * It is not modelled: no simulated GPU has struct pages for its VRAM (kfd.pgmap), so amdkfd
 * itself refuses SVM on all of them (KFD_IS_SVM_API_SUPPORTED) and none of this is reached.
 */
#include "sim.h"

#if IS_ENABLED(CONFIG_HSA_AMD_SVM) && SIM_BOUNDARY >= 0x702
#include "amdgpu_hmm.h"
#include "amdgpu_job.h"
#include "amdgpu_object.h"
#include "amdgpu_xgmi.h"

#define NOT_REACHED()	WARN_ONCE(1, "kfdsim: %s() is not modelled\n", __func__)

/* amdgpu's defaults */
uint amdgpu_svm_default_granularity = 9;
int amdgpu_mtype_local = -1;

/* ---- limits: SVM's own share of what limit.c counts ---- */

int amdgpu_amdkfd_reserve_mem_limit(struct amdgpu_device *adev, uint64_t size, u32 alloc_flag,
				    int8_t xcp_id)
{
	NOT_REACHED();
	return -ENOMEM;
}

void amdgpu_amdkfd_unreserve_mem_limit(struct amdgpu_device *adev, uint64_t size, u32 alloc_flag,
				       int8_t xcp_id)
{
	NOT_REACHED();
}

void amdgpu_amdkfd_reserve_system_mem(uint64_t size)
{
	NOT_REACHED();
}

/* ---- buffers in VRAM ---- */

#if SIM_BOUNDARY >= 0x703
int amdgpu_bo_create(struct amdgpu_device *adev, struct amdgpu_bo_param *bp,
		     struct amdgpu_bo **bo_ptr)
#else
int amdgpu_bo_create_user(struct amdgpu_device *adev, struct amdgpu_bo_param *bp,
			  struct amdgpu_bo_user **ubo_ptr)
#endif
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

void amdgpu_bo_fence(struct amdgpu_bo *bo, struct dma_fence *fence, bool shared)
{
	NOT_REACHED();
}

void amdgpu_bo_placement_from_domain(struct amdgpu_bo *abo, u32 domain)
{
	NOT_REACHED();
}

int amdgpu_bo_sync_wait(struct amdgpu_bo *bo, void *owner, bool intr)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

uint64_t amdgpu_ttm_domain_start(struct amdgpu_device *adev, uint32_t type)
{
	NOT_REACHED();
	return 0;
}

bool amdgpu_ttm_tt_affect_userptr(struct ttm_tt *ttm, unsigned long start, unsigned long end,
				  unsigned long *userptr)
{
	NOT_REACHED();
	return false;
}

bool amdgpu_xgmi_same_hive(struct amdgpu_device *adev, struct amdgpu_device *bo_adev)
{
	NOT_REACHED();
	return false;
}

/* ---- pages of a process ---- */

struct amdgpu_hmm_range *amdgpu_hmm_range_alloc(struct amdgpu_bo *bo)
{
	NOT_REACHED();
	return NULL;
}

void amdgpu_hmm_range_free(struct amdgpu_hmm_range *range)
{
	NOT_REACHED();
}

int amdgpu_hmm_range_get_pages(struct mmu_interval_notifier *notifier, uint64_t start,
			       uint64_t npages, bool readonly, void *owner,
			       struct amdgpu_hmm_range *range)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

bool amdgpu_hmm_range_valid(struct amdgpu_hmm_range *range)
{
	NOT_REACHED();
	return false;
}

/* ---- page tables ---- */

int amdgpu_vm_lock_pd(struct amdgpu_vm *vm, struct drm_exec *exec, unsigned int num_fences)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

bool amdgpu_vm_ready(struct amdgpu_vm *vm)
{
	NOT_REACHED();
	return false;
}

int amdgpu_vm_validate(struct amdgpu_device *adev, struct amdgpu_vm *vm,
		       struct ww_acquire_ctx *ticket,
		       int (*callback)(void *p, struct amdgpu_bo *bo), void *param)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

int amdgpu_vm_update_pdes(struct amdgpu_device *adev, struct amdgpu_vm *vm, bool immediate)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

int amdgpu_vm_update_range(struct amdgpu_device *adev, struct amdgpu_vm *vm, bool immediate,
			   bool unlocked, bool flush_tlb, bool allow_override,
			   struct amdgpu_sync *sync, uint64_t start, uint64_t last, uint64_t flags,
			   uint64_t offset, uint64_t vram_base, struct ttm_resource *res,
			   dma_addr_t *pages_addr, struct dma_fence **fence)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

/* ---- retry faults ---- */

void amdgpu_gmc_filter_faults_remove(struct amdgpu_device *adev, uint64_t addr, uint16_t pasid)
{
	NOT_REACHED();
}

int amdgpu_ih_wait_on_checkpoint_process_ts(struct amdgpu_device *adev, struct amdgpu_ih_ring *ih)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

/* ---- migration: copies by the kernel's SDMA queue ---- */

int amdgpu_copy_buffer(struct amdgpu_device *adev, struct amdgpu_ttm_buffer_entity *entity,
		       uint64_t src_offset, uint64_t dst_offset, uint32_t byte_count,
		       struct dma_resv *resv, struct dma_fence **fence, bool vm_needs_flush,
		       uint32_t copy_flags)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

void amdgpu_gart_map(struct amdgpu_device *adev, uint64_t offset, int pages, dma_addr_t *dma_addr,
		     uint64_t flags, void *dst)
{
	NOT_REACHED();
}

int amdgpu_job_alloc_with_ib(struct amdgpu_device *adev, struct drm_sched_entity *entity,
			     void *owner, size_t size, enum amdgpu_ib_pool_type pool_type,
			     SIM_JOB_ALLOC_ARGS)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

struct dma_fence *amdgpu_job_submit(struct amdgpu_job *job)
{
	NOT_REACHED();
	return NULL;
}
#endif
