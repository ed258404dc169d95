// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: shared virtual memory with the amdkfd of 6.12, where the kernel has it: those of
 * tests/vm/build-debug-kernel do, Debian's do not (7.x: svm.c).
 *
 * With the parameter svm a GPU has struct pages for a little VRAM, and amdkfd offers SVM. Ranges
 * and their attributes are then the driver's own, with its notifiers, splits and limits, and
 * the pages of a process are really looked up. Page tables and copies of such ranges are not
 * modelled: what would map a range to a GPU or move it to VRAM answers an error, as when the
 * GPU's memory is full.
 */
#include "sim.h"

#if IS_ENABLED(CONFIG_HSA_AMD_SVM) && SIM_BOUNDARY < 0x702
#include <linux/hmm.h>
#include "amdgpu_gem.h"
#include "amdgpu_hmm.h"
#include "amdgpu_job.h"
#include "amdgpu_object.h"

static bool svm;
module_param(svm, bool, 0444);
MODULE_PARM_DESC(svm, "SVM: ranges, their attributes and pages; nothing can be mapped to a GPU");

#define SVM_VRAM	(64ull << 20)	/* has struct pages; nothing is ever put there */

/* Only after a mapping or a copy began, which never is */
#define NOT_REACHED()	WARN_ONCE(1, "kfdsim: %s() is not modelled\n", __func__)

/* amdgpu's defaults */
uint amdgpu_svm_default_granularity = 9;
int amdgpu_mtype_local = -1;

/* The rings of interrupts are always empty: they are given to amdkfd as they come */
static u32 ih_wptr(struct amdgpu_device *adev, struct amdgpu_ih_ring *ih)
{
	return ih->rptr;
}

static const struct amdgpu_ih_funcs ih_funcs = { .get_wptr = ih_wptr };

/**
 * sim_svm_init - offer shared virtual memory, if that was asked for
 * @g: the GPU, before amdkfd knows it. The pages go with its device
 */
void sim_svm_init(struct sim_gpu *g)
{
	u64 size = g->adev.gmc.real_vram_size;

	if (!svm)
		return;
	g->adev.irq.ih_funcs = &ih_funcs;
	g->adev.gmc.real_vram_size = min(size, SVM_VRAM);
	if (kgd2kfd_init_zone_device(&g->adev))
		pr_warn("no struct pages for VRAM: no SVM\n");
	g->adev.gmc.real_vram_size = size;
}

/* ---- limits: of system memory, see limit.c; @adev is NULL then ---- */

int amdgpu_amdkfd_reserve_mem_limit(struct amdgpu_device *adev, uint64_t size, u32 alloc_flag,
				    int8_t xcp_id)
{
	return sim_limit_reserve(adev ? to_sim(adev) : NULL, size, alloc_flag);
}

void amdgpu_amdkfd_unreserve_mem_limit(struct amdgpu_device *adev, uint64_t size, u32 alloc_flag,
				       int8_t xcp_id)
{
	sim_limit_release(adev ? to_sim(adev) : NULL, size, alloc_flag);
}

/* struct pages of the VRAM: a MiB that nobody misses */
void amdgpu_amdkfd_reserve_system_mem(uint64_t size)
{
}

/* ---- pages of a process ---- */

int amdgpu_hmm_range_get_pages(struct mmu_interval_notifier *notifier, uint64_t start,
			       uint64_t npages, bool readonly, void *owner, struct page **pages,
			       struct hmm_range **found)
{
	struct hmm_range *range = kzalloc(sizeof(*range), GFP_KERNEL);
	int r = -ENOMEM;
	u64 i;

	if (!range)
		return -ENOMEM;
	range->hmm_pfns = kvcalloc(npages, sizeof(*range->hmm_pfns), GFP_KERNEL);
	if (!range->hmm_pfns)
		goto err_range;
	range->notifier = notifier;
	range->start = start;
	range->end = start + (npages << PAGE_SHIFT);
	range->default_flags = HMM_PFN_REQ_FAULT | (readonly ? 0 : HMM_PFN_REQ_WRITE);
	range->dev_private_owner = owner;
	range->notifier_seq = mmu_interval_read_begin(notifier);
	r = hmm_range_fault(range);
	if (r)
		goto err_pfns;
	for (i = 0; pages && i < npages; i++)
		pages[i] = hmm_pfn_to_page(range->hmm_pfns[i]);
	*found = range;
	return 0;

err_pfns:
	kvfree(range->hmm_pfns);
err_range:
	kfree(range);
	return r == -EBUSY ? -EAGAIN : r;
}

bool amdgpu_hmm_range_get_pages_done(struct hmm_range *range)
{
	bool changed = mmu_interval_read_retry(range->notifier, range->notifier_seq);

	kvfree(range->hmm_pfns);
	kfree(range);
	return changed;
}

/* ---- what a mapping begins with: refused ---- */

int amdgpu_vm_lock_pd(struct amdgpu_vm *vm, struct drm_exec *exec, unsigned int num_fences)
{
	return -EOPNOTSUPP;
}

/* ---- what a move to VRAM begins with: refused; amdkfd then leaves the range where it is ---- */

int amdgpu_bo_create_user(struct amdgpu_device *adev, struct amdgpu_bo_param *bp,
			  struct amdgpu_bo_user **ubo_ptr)
{
	return -ENOMEM;
}

uint64_t amdgpu_gem_va_map_flags(struct amdgpu_device *adev, uint32_t flags)
{
	return 0;
}

bool amdgpu_ttm_tt_affect_userptr(struct ttm_tt *ttm, unsigned long start, unsigned long end,
				  unsigned long *userptr)
{
	return false;
}

/* ---- what would come after ---- */

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

/* Only to unmap: what was never mapped is not */
int amdgpu_vm_update_range(struct amdgpu_device *adev, struct amdgpu_vm *vm, bool immediate,
			   bool unlocked, bool flush_tlb, bool allow_override,
			   struct amdgpu_sync *sync, uint64_t start, uint64_t last, uint64_t flags,
			   uint64_t offset, uint64_t vram_base, struct ttm_resource *res,
			   dma_addr_t *pages_addr, struct dma_fence **fence)
{
	return 0;
}

void amdgpu_gmc_filter_faults_remove(struct amdgpu_device *adev, uint64_t addr, uint16_t pasid)
{
	NOT_REACHED();
}

/* No retry faults, so there is none to wait for */
int amdgpu_ih_wait_on_checkpoint_process_ts(struct amdgpu_device *adev, struct amdgpu_ih_ring *ih)
{
	return 0;
}

int amdgpu_copy_buffer(struct amdgpu_ring *ring, uint64_t src_offset, uint64_t dst_offset,
		       uint32_t byte_count, struct dma_resv *resv, struct dma_fence **fence,
		       bool direct_submit, bool vm_needs_flush, uint32_t copy_flags)
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
			     struct amdgpu_job **job, u64 k_job_id)
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
