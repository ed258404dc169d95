// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the boundary of the driver in ROCm's amdgpu-dkms, see kgd_compat_rocm.h.
 *
 * The prototypes are those of the release that is built; the renames of kgd_compat_rocm.h are undone first.
 */
#include "hws.h"

#ifdef SIM_ROCM
#include "amdgpu_dma_buf.h"
#include "amdgpu_object.h"
#include "amdgpu_ras.h"
#include "kfd_priv.h"

#define NOT_REACHED()	WARN_ONCE(1, "kfdsim: %s() is not modelled\n", __func__)

/* ---- AMD's own parameters, with amdgpu's defaults ---- */

int amdgpu_noretry = -1;
int priv_cp_queues;

bool keep_idle_process_evicted;
module_param(keep_idle_process_evicted, bool, 0444);
MODULE_PARM_DESC(keep_idle_process_evicted, "as amdgpu");

/* ---- buffers ---- */

#undef amdgpu_amdkfd_alloc_gtt_mem
int amdgpu_amdkfd_alloc_gtt_mem(struct amdgpu_device *adev, size_t size, void **mem_obj,
				uint64_t *gpu_addr, void **cpu_ptr, bool mqd_gfx9,
				bool is_uswc_mode)
{
	return sim_alloc_gtt_mem(adev, size, mem_obj, gpu_addr, cpu_ptr, mqd_gfx9);
}

#ifndef SIM_ROCM_FREE_POINTER
#undef amdgpu_amdkfd_free_gtt_mem
void amdgpu_amdkfd_free_gtt_mem(struct amdgpu_device *adev, void *mem_obj)
{
	sim_free_gtt_mem(adev, &mem_obj);
}
#endif

#undef amdgpu_amdkfd_get_dmabuf_info
int amdgpu_amdkfd_get_dmabuf_info(struct amdgpu_device *adev, int dma_buf_fd,
				  struct amdgpu_device **dmabuf_adev, uint64_t *bo_size,
				  void *metadata_buffer, size_t buffer_size,
				  uint32_t *metadata_size, uint32_t *flags, int8_t *xcp_id)
{
	return sim_get_dmabuf_info(adev, dma_buf_fd, dmabuf_adev, bo_size, NULL, 0, metadata_size,
				   flags, xcp_id);
}

#ifndef SIM_ROCM_GART_BO
#undef amdgpu_amdkfd_map_gtt_bo_to_gart
int amdgpu_amdkfd_map_gtt_bo_to_gart(struct amdgpu_device *adev, struct amdgpu_bo *bo)
{
	struct amdgpu_bo *gart;

	return sim_map_gtt_bo_to_gart(bo, &gart);	/* the reference is on @bo itself */
}
#endif

#ifndef SIM_ROCM_MAPPED_TO_VM
#undef amdgpu_amdkfd_bo_mapped_to_dev
bool amdgpu_amdkfd_bo_mapped_to_dev(struct amdgpu_device *adev, struct kgd_mem *mem)
{
	NOT_REACHED();	/* CRIU only */
	return false;
}
#endif

#ifndef SIM_ROCM_DMAUNMAP_FAILS
#undef amdgpu_amdkfd_gpuvm_dmaunmap_mem
void amdgpu_amdkfd_gpuvm_dmaunmap_mem(struct kgd_mem *mem, void *drm_priv)
{
	sim_gpuvm_dmaunmap_mem(mem, drm_priv);
}
#endif

/* amdgpu_bo_unreserve() calls it; TTM is not linked, and our buffers have no resource that it could move */
void ttm_bo_move_to_lru_tail(struct ttm_buffer_object *bo)
{
	WARN_ON_ONCE(bo->resource);
}

/* amdgpu's answer without CONFIG_HSA_AMD_P2P, which Debian's kernels do not have */
bool amdgpu_device_is_peer_accessible(struct amdgpu_device *adev, struct amdgpu_device *peer_adev)
{
	return false;
}

/* what VRAM is taken, for the topology */
uint64_t amdgpu_amdkfd_get_vram_usage(struct amdgpu_device *adev)
{
	return sim_placed(to_sim(adev), SIM_VRAM);
}

/* ---- IPC: refused, a user can ask for it ---- */

int amdgpu_amdkfd_gpuvm_export_ipc_obj(struct amdgpu_device *adev, void *vm, struct kgd_mem *mem,
				       struct kfd_ipc_obj **ipc_obj, uint32_t flags,
				       uint32_t *restore_handle)
{
	return -EOPNOTSUPP;
}

int amdgpu_amdkfd_gpuvm_import_ipcobj(struct amdgpu_device *adev, struct dma_buf *dmabuf,
				      struct kfd_ipc_obj *ipc_obj, uint64_t va, void *drm_priv,
				      struct kgd_mem **mem, uint64_t *size, uint64_t *mmap_offset)
{
	NOT_REACHED();	/* nothing was exported */
	return -EOPNOTSUPP;
}

/* ---- peer-direct: only where the module ib_core of AMD's or NVIDIA's network driver asks ---- */

struct amdgpu_bo *amdgpu_amdkfd_gpuvm_get_bo_ref(struct kgd_mem *mem, uint32_t *flags)
{
	NOT_REACHED();
	return NULL;
}

void amdgpu_amdkfd_gpuvm_put_bo_ref(struct amdgpu_bo *bo)
{
	NOT_REACHED();
}

int amdgpu_amdkfd_gpuvm_pin_bo(struct amdgpu_bo *bo, u32 domain)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

void amdgpu_amdkfd_gpuvm_unpin_bo(struct amdgpu_bo *bo)
{
	NOT_REACHED();
}

int amdgpu_amdkfd_gpuvm_get_sg_table(struct amdgpu_device *adev, struct amdgpu_bo *bo,
				     uint32_t flags, uint64_t offset, uint64_t size,
				     struct device *dma_dev, enum dma_data_direction dir,
				     struct sg_table **ret_sg)
{
	NOT_REACHED();
	return -EOPNOTSUPP;
}

void amdgpu_amdkfd_gpuvm_put_sg_table(struct amdgpu_bo *bo, struct device *dma_dev,
				      enum dma_data_direction dir, struct sg_table *sg)
{
	NOT_REACHED();
}

/* ---- SPM, a stream of counters: refused, a user can ask for it ---- */

#ifdef SIM_ROCM_SPM_XCC
#define SIM_XCC	, int xcc_id
#else
#define SIM_XCC
#endif

int amdgpu_amdkfd_rlc_spm_acquire(struct amdgpu_device *adev SIM_XCC, struct amdgpu_vm *vm,
				  u64 gpu_addr, u32 size)
{
	return -EOPNOTSUPP;
}

void amdgpu_amdkfd_rlc_spm_release(struct amdgpu_device *adev SIM_XCC, struct amdgpu_vm *vm)
{
	NOT_REACHED();
}

void amdgpu_amdkfd_rlc_spm_cntl(struct amdgpu_device *adev SIM_XCC, bool cntl)
{
	NOT_REACHED();
}

void amdgpu_amdkfd_rlc_spm_set_rdptr(struct amdgpu_device *adev SIM_XCC, u32 rptr)
{
	NOT_REACHED();
}

/* ---- information ---- */

#ifndef SIM_ROCM_TASK_INFO
void amdgpu_vm_get_task_info(struct amdgpu_device *adev, u32 pasid,
			     struct amdgpu_task_info *task_info)
{
	struct amdgpu_task_info *ti = amdgpu_vm_get_task_info_pasid(adev, pasid);

	if (!ti)
		return;		/* as amdgpu's: the caller has zeroed it */
	*task_info = *ti;
	amdgpu_vm_put_task_info(ti);
}
#endif

#ifndef SIM_ROCM_POISON_PASID
bool amdgpu_amdkfd_ras_query_utcl2_poison_status(struct amdgpu_device *adev)
{
	return false;	/* a fault is never a memory error */
}

#undef amdgpu_amdkfd_ras_poison_consumption_handler
void amdgpu_amdkfd_ras_poison_consumption_handler(struct amdgpu_device *adev,
						  enum amdgpu_ras_block block, bool reset)
{
	sim_ras_poison_consumption_handler(adev, block, reset);
}
#endif
#endif
