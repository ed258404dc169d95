// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the boundary of older kernels, translated to the one that the sources are written for.
 *
 * kgd_compat.h explains. What is defined here has the names and prototypes of the kernel that is
 * built for; the renames of kgd_compat.h are undone first.
 */
#include "hws.h"
#include "fault.h"
#include "kfd_priv.h"
#include "amdgpu_dma_buf.h"

#if SIM_BOUNDARY >= 0x607

static enum amdgpu_memory_partition query_mem_partition_mode(struct amdgpu_device *adev)
{
	return AMDGPU_NPS1_PARTITION_MODE;
}

static const struct amdgpu_gmc_funcs gmc_funcs = {
	.query_mem_partition_mode = query_mem_partition_mode,
};

static enum amdgpu_pkg_type get_pkg_type(struct amdgpu_device *adev)
{
	return AMDGPU_PKG_TYPE_OAM;
}

static const struct amdgpu_smuio_funcs smuio_funcs = {
	.get_pkg_type = get_pkg_type,
};

/**
 * sim_compat_set_funcs - where amdkfd looks for partitions
 * @adev: the device; before 6.12 there is nothing
 *
 * Return: 0 or -ENOMEM
 */
int sim_compat_set_funcs(struct amdgpu_device *adev)
{
	adev->gmc.gmc_funcs = &gmc_funcs;
	adev->smuio.funcs = &smuio_funcs;
	return sim_xcp_init(adev);
}

int amdgpu_xcp_query_partition_mode(struct amdgpu_xcp_mgr *mgr, u32 flags)
{
	return AMDGPU_SPX_PARTITION_MODE;
}

#if SIM_BOUNDARY < 0x702
int amdgpu_xcp_get_inst_details(struct amdgpu_xcp *xcp, enum AMDGPU_XCP_IP_BLOCK ip,
				uint32_t *inst_mask)
{
	WARN_ONCE(1, "kfdsim: %s() is not modelled\n", __func__);	/* no partitions */
	return -EINVAL;
}
#endif

/**
 * sim_compat_refuses - GPUs that are younger than the kernel's amdkfd
 * @p: a profile
 *
 * Return: NULL, or why amdkfd does not know such a GPU
 */
const char *sim_compat_refuses(const struct sim_profile *p)
{
#if defined(SIM_ROCM) && !defined(SIM_ROCM_GFX12)
	if (p->gc >= IP_VERSION(12, 0, 0))
		return "the amdkfd of this release of ROCm knows no gfx12";
#endif
	return NULL;
}

#else

int sim_compat_set_funcs(struct amdgpu_device *adev)
{
	return 0;
}

const char *sim_compat_refuses(const struct sim_profile *p)
{
	if (p->num_xcc > 1)
		return "the amdkfd of Linux 6.1 knows no XCCs and no gfx9.4.3 (since 6.5)";
	if (p->gc >= IP_VERSION(12, 0, 0))
		return "the amdkfd of Linux 6.1 knows no gfx12";
	return NULL;
}

struct amdgpu_device *sim_kfd_adev(struct kfd_dev *kfd)
{
	return kfd->adev;
}

/* ---- parameters, information ---- */

int debug_largebar;
int ignore_crat;

#undef amdgpu_amdkfd_get_local_mem_info
void amdgpu_amdkfd_get_local_mem_info(struct amdgpu_device *adev, struct kfd_local_mem_info *mi)
{
	sim_get_local_mem_info(adev, mi, NULL);
}

void amdgpu_amdkfd_get_cu_info(struct amdgpu_device *adev, struct kfd_cu_info *info)
{
	const struct amdgpu_gfx_config *c = &adev->gfx.config;
	const struct amdgpu_cu_info *cu = &adev->gfx.cu_info;

	*info = (struct kfd_cu_info){
		.num_shader_engines = c->max_shader_engines,
		.num_shader_arrays_per_engine = c->max_sh_per_se,
		.num_cu_per_sh = c->max_cu_per_sh,
		.cu_active_number = cu->number,
		.cu_ao_mask = cu->ao_cu_mask,
		.simd_per_cu = cu->simd_per_cu,
		.max_waves_per_simd = cu->max_waves_per_simd,
		.wave_front_size = cu->wave_front_size,
		.max_scratch_slots_per_cu = cu->max_scratch_slots_per_cu,
		.lds_size = cu->lds_size,
	};
	memcpy(info->cu_bitmap, cu->bitmap, sizeof(info->cu_bitmap));
}

#undef amdgpu_amdkfd_get_available_memory
size_t amdgpu_amdkfd_get_available_memory(struct amdgpu_device *adev)
{
	return sim_get_available_memory(adev, 0);
}

/* nothing to do: there are no TLBs */
int amdgpu_amdkfd_flush_gpu_tlb_vmid(struct amdgpu_device *adev, uint16_t vmid)
{
	return 0;
}

int amdgpu_amdkfd_flush_gpu_tlb_pasid(struct amdgpu_device *adev, uint16_t pasid,
				      enum TLB_FLUSH_TYPE flush_type)
{
	return 0;
}

bool amdgpu_amdkfd_ras_query_utcl2_poison_status(struct amdgpu_device *adev)
{
	return false;	/* a fault is never a memory error */
}

#undef amdgpu_amdkfd_ras_poison_consumption_handler
void amdgpu_amdkfd_ras_poison_consumption_handler(struct amdgpu_device *adev, bool reset)
{
	sim_ras_poison_consumption_handler(adev, AMDGPU_RAS_BLOCK__GFX, reset);
}

/* ---- address spaces and buffers ---- */

static struct amdgpu_vm *file_vm(struct file *file)
{
	struct amdgpu_fpriv *fpriv;
	int r = amdgpu_file_to_fpriv(file, &fpriv);

	return r ? ERR_PTR(r) : &fpriv->vm;
}

#undef amdgpu_amdkfd_gpuvm_acquire_process_vm
int amdgpu_amdkfd_gpuvm_acquire_process_vm(struct amdgpu_device *adev, struct file *filp,
					   void **process_info, struct dma_fence **ef)
{
	struct amdgpu_vm *vm = file_vm(filp);

	return IS_ERR(vm) ? PTR_ERR(vm) : sim_gpuvm_acquire_process_vm(adev, vm, process_info, ef);
}

#undef amdgpu_amdkfd_gpuvm_set_vm_pasid
int amdgpu_amdkfd_gpuvm_set_vm_pasid(struct amdgpu_device *adev, struct file *filp, u32 pasid)
{
	struct amdgpu_vm *vm = file_vm(filp);

	return IS_ERR(vm) ? PTR_ERR(vm) : sim_gpuvm_set_vm_pasid(adev, vm, pasid);
}

#undef amdgpu_amdkfd_map_gtt_bo_to_gart
int amdgpu_amdkfd_map_gtt_bo_to_gart(struct amdgpu_device *adev, struct amdgpu_bo *bo)
{
	struct amdgpu_bo *gart;

	return sim_map_gtt_bo_to_gart(bo, &gart);	/* the reference is on @bo itself */
}

#undef amdgpu_amdkfd_bo_mapped_to_dev
bool amdgpu_amdkfd_bo_mapped_to_dev(struct amdgpu_device *adev, struct kgd_mem *mem)
{
	WARN_ONCE(1, "kfdsim: %s() is not modelled\n", __func__);	/* CRIU only */
	return false;
}

#undef amdgpu_amdkfd_get_dmabuf_info
int amdgpu_amdkfd_get_dmabuf_info(struct amdgpu_device *adev, int dma_buf_fd,
				  struct amdgpu_device **dmabuf_adev, uint64_t *bo_size,
				  void **metadata_buffer, size_t buffer_size,
				  uint32_t *metadata_size, uint32_t *flags)
{
	return sim_get_dmabuf_info(adev, dma_buf_fd, dmabuf_adev, bo_size, metadata_buffer,
				   buffer_size, metadata_size, flags, NULL);
}

int amdgpu_amdkfd_gpuvm_import_dmabuf(struct amdgpu_device *adev, struct dma_buf *dmabuf,
				      uint64_t va, void *drm_priv, struct kgd_mem **mem,
				      uint64_t *size, uint64_t *mmap_offset)
{
	return sim_dmabuf_import(dmabuf, va, drm_priv, mem, size, mmap_offset);
}

struct dma_buf *amdgpu_gem_prime_export(struct drm_gem_object *obj, int flags)
{
	WARN_ONCE(1, "kfdsim: %s() is not modelled\n", __func__);	/* CRIU only */
	return ERR_PTR(-EOPNOTSUPP);
}

/*
 * ---- doorbells: no buffer objects; amdkfd divides the BAR into slices by itself, but with MES
 * it asks. Slice n begins at n times its size; 0 is the kernel's.
 */

int amdgpu_mes_alloc_process_doorbells(struct amdgpu_device *adev, unsigned int *doorbell_index)
{
	unsigned int size = amdgpu_mes_doorbell_process_slice(adev), n = size >> PAGE_SHIFT;
	struct sim_gpu *g = to_sim(adev);
	unsigned long p;

	if (sim_fault(g, SIM_FAULT_ALLOC_DOORBELL))
		return -ENOMEM;
	mutex_lock(&g->db_lock);
	p = bitmap_find_next_zero_area(g->db_pages, g->db_npages, n, n, n - 1);
	if (p < g->db_npages)
		bitmap_set(g->db_pages, p, n);
	mutex_unlock(&g->db_lock);
	if (p >= g->db_npages)
		return -ENOSPC;
	memset_io((void __iomem *)g->db + p * PAGE_SIZE, 0xff, size);	/* nothing is rung */
	*doorbell_index = p / n;
	return *doorbell_index;
}

void amdgpu_mes_free_process_doorbells(struct amdgpu_device *adev, unsigned int doorbell_index)
{
	unsigned int n = amdgpu_mes_doorbell_process_slice(adev) >> PAGE_SHIFT;
	struct sim_gpu *g = to_sim(adev);

	mutex_lock(&g->db_lock);
	bitmap_clear(g->db_pages, doorbell_index * n, n);
	mutex_unlock(&g->db_lock);
}

unsigned int amdgpu_mes_get_doorbell_dw_offset_in_bar(struct amdgpu_device *adev,
						      uint32_t doorbell_index,
						      unsigned int doorbell_id)
{
	return doorbell_index * amdgpu_mes_doorbell_process_slice(adev) / 4 + doorbell_id * 2;
}

/* ---- kfd2kgd ---- */

#undef kfd2kgd_calls

#define OURS	sim_gfx_v9_kfd2kgd	/* has all members */

extern const struct sim_kfd2kgd_calls OURS;

static void program_sh_mem_settings(struct amdgpu_device *adev, uint32_t vmid,
				    uint32_t sh_mem_config, uint32_t sh_mem_ape1_base,
				    uint32_t sh_mem_ape1_limit, uint32_t sh_mem_bases)
{
	OURS.program_sh_mem_settings(adev, vmid, sh_mem_config, sh_mem_ape1_base,
				     sh_mem_ape1_limit, sh_mem_bases, 0);
}

static int set_pasid_vmid_mapping(struct amdgpu_device *adev, u32 pasid, unsigned int vmid)
{
	return OURS.set_pasid_vmid_mapping(adev, pasid, vmid, 0);
}

static int init_interrupts(struct amdgpu_device *adev, uint32_t pipe_id)
{
	return OURS.init_interrupts(adev, pipe_id, 0);
}

static int hqd_load(struct amdgpu_device *adev, void *mqd, uint32_t pipe_id, uint32_t queue_id,
		    uint32_t __user *wptr, uint32_t wptr_shift, uint32_t wptr_mask,
		    struct mm_struct *mm)
{
	return OURS.hqd_load(adev, mqd, pipe_id, queue_id, wptr, wptr_shift, wptr_mask, mm, 0);
}

static int hiq_mqd_load(struct amdgpu_device *adev, void *mqd, uint32_t pipe_id, uint32_t queue_id,
			uint32_t doorbell_off)
{
	return OURS.hiq_mqd_load(adev, mqd, pipe_id, queue_id, doorbell_off, 0);
}

static int hqd_sdma_load(struct amdgpu_device *adev, void *mqd, uint32_t __user *wptr,
			 struct mm_struct *mm)
{
	return OURS.hqd_sdma_load(adev, mqd, wptr, mm);
}

static int hqd_dump(struct amdgpu_device *adev, uint32_t pipe_id, uint32_t queue_id,
		    uint32_t (**dump)[2], uint32_t *n_regs)
{
	return OURS.hqd_dump(adev, pipe_id, queue_id, dump, n_regs, 0);
}

static int hqd_sdma_dump(struct amdgpu_device *adev, uint32_t engine_id, uint32_t queue_id,
			 uint32_t (**dump)[2], uint32_t *n_regs)
{
	return OURS.hqd_sdma_dump(adev, engine_id, queue_id, dump, n_regs);
}

static bool hqd_is_occupied(struct amdgpu_device *adev, uint64_t queue_address, uint32_t pipe_id,
			    uint32_t queue_id)
{
	return OURS.hqd_is_occupied(adev, queue_address, pipe_id, queue_id, 0);
}

static int hqd_destroy(struct amdgpu_device *adev, void *mqd, enum kfd_preempt_type reset_type,
		       unsigned int timeout, uint32_t pipe_id, uint32_t queue_id)
{
	return OURS.hqd_destroy(adev, mqd, reset_type, timeout, pipe_id, queue_id, 0);
}

static bool hqd_sdma_is_occupied(struct amdgpu_device *adev, void *mqd)
{
	return OURS.hqd_sdma_is_occupied(adev, mqd);
}

static int hqd_sdma_destroy(struct amdgpu_device *adev, void *mqd, unsigned int timeout)
{
	return OURS.hqd_sdma_destroy(adev, mqd, timeout);
}

static int wave_control_execute(struct amdgpu_device *adev, uint32_t gfx_index_val, uint32_t sq_cmd)
{
	return OURS.wave_control_execute(adev, gfx_index_val, sq_cmd, 0);
}

static void set_vm_context_page_table_base(struct amdgpu_device *adev, uint32_t vmid,
					   uint64_t page_table_base)
{
	OURS.set_vm_context_page_table_base(adev, vmid, page_table_base);
}

static void program_trap_handler_settings(struct amdgpu_device *adev, uint32_t vmid,
					  uint64_t tba_addr, uint64_t tma_addr)
{
	OURS.program_trap_handler_settings(adev, vmid, tba_addr, tma_addr, 0);
}

static void get_cu_occupancy(struct amdgpu_device *adev, int pasid, int *wave_cnt,
			     int *max_waves_per_cu)
{
	sim_compat_occupancy(adev, pasid, wave_cnt, max_waves_per_cu, 0);
}

/* the members that differ, as in 6.1's tables: no cu_occupancy but on gfx9, and so on */
#define SIM_TABLE(name, occupancy, trap)					\
extern const struct kfd2kgd_calls name;						\
const struct kfd2kgd_calls name = {						\
	.program_sh_mem_settings = program_sh_mem_settings,			\
	.set_pasid_vmid_mapping = set_pasid_vmid_mapping,			\
	.init_interrupts = init_interrupts,					\
	.hqd_load = hqd_load,							\
	.hiq_mqd_load = hiq_mqd_load,						\
	.hqd_sdma_load = hqd_sdma_load,						\
	.hqd_dump = hqd_dump,							\
	.hqd_sdma_dump = hqd_sdma_dump,						\
	.hqd_is_occupied = hqd_is_occupied,					\
	.hqd_destroy = hqd_destroy,						\
	.hqd_sdma_is_occupied = hqd_sdma_is_occupied,				\
	.hqd_sdma_destroy = hqd_sdma_destroy,					\
	.wave_control_execute = wave_control_execute,				\
	.set_vm_context_page_table_base = set_vm_context_page_table_base,	\
	.get_cu_occupancy = occupancy,						\
	.program_trap_handler_settings = trap,					\
}

#undef gfx_v7_kfd2kgd
#undef gfx_v8_kfd2kgd
#undef gfx_v9_kfd2kgd
#undef arcturus_kfd2kgd
#undef aldebaran_kfd2kgd
#undef gfx_v10_kfd2kgd
#undef gfx_v10_3_kfd2kgd
#undef gfx_v11_kfd2kgd

SIM_TABLE(gfx_v7_kfd2kgd, NULL, NULL);
SIM_TABLE(gfx_v8_kfd2kgd, NULL, NULL);
SIM_TABLE(gfx_v9_kfd2kgd, get_cu_occupancy, program_trap_handler_settings);
SIM_TABLE(arcturus_kfd2kgd, get_cu_occupancy, program_trap_handler_settings);
SIM_TABLE(aldebaran_kfd2kgd, get_cu_occupancy, program_trap_handler_settings);
SIM_TABLE(gfx_v10_kfd2kgd, NULL, program_trap_handler_settings);
SIM_TABLE(gfx_v10_3_kfd2kgd, NULL, program_trap_handler_settings);
SIM_TABLE(gfx_v11_kfd2kgd, NULL, NULL);

#endif

#ifdef SIM_OCCUPANCY_OF_PROCESS
/**
 * sim_compat_occupancy - the waves of a process, where sim_hws_occupancy() has those of each queue
 * @adev: the device
 * @pasid: of the process
 * @wave_cnt: set
 * @max_waves_per_cu: set
 * @inst: on which XCC
 */
void sim_compat_occupancy(struct amdgpu_device *adev, int pasid, int *wave_cnt,
			  int *max_waves_per_cu, u32 inst)
{
	struct sim_gpu *g = to_sim(adev);
	struct sim_hws *h = g->hws;
	struct eng_queue *q;
	struct eng_proc *p;
	u32 n = 0;

	sim_hws_occupancy_cost(h);
	mutex_lock(&h->lock);
	for (p = h->eng.procs; p; p = p->next)
		for (q = p->queues; q && to_sp(p)->pasid == pasid; q = q->next)
			n += sim_xcc_occupancy(h, to_sq(q), inst);
	mutex_unlock(&h->lock);
	*wave_cnt = n;
	*max_waves_per_cu = sim_waves_per_cu(g->prof);
}
#endif

/*
 * amdkfd's own allocator, linked with --wrap (Kbuild): once the GPU runs, what it allocates there are
 * runlists.
 */
int __real_kfd_gtt_sa_allocate(struct SIM_KFD_NODE *node, unsigned int size,
			       struct kfd_mem_obj **mem_obj);
int __wrap_kfd_gtt_sa_allocate(struct SIM_KFD_NODE *node, unsigned int size,
			       struct kfd_mem_obj **mem_obj);

int __wrap_kfd_gtt_sa_allocate(struct SIM_KFD_NODE *node, unsigned int size,
			       struct kfd_mem_obj **mem_obj)
{
	if (sim_fault(to_sim(node->adev), SIM_FAULT_ALLOC_RUNLIST))
		return -ENOMEM;
	return __real_kfd_gtt_sa_allocate(node, size, mem_obj);
}

static struct amdgpu_device *first_gpu(void)
{
	struct SIM_KFD_NODE *node;
	u8 i;

	for (i = 0; !kfd_topology_enum_kfd_devices(i, &node); i++)
		if (node)
			return node->adev;
	return NULL;
}

/*
 * The kernel's, linked with --wrap likewise: as if a signal were pending. The process is in amdkfd's table for
 * as long as all locks of a big address space take. With the fixes of contrib/rfc it is not in the table yet.
 */
struct mmu_notifier *__real_mmu_notifier_get_locked(const struct mmu_notifier_ops *ops,
						    struct mm_struct *mm);
struct mmu_notifier *__wrap_mmu_notifier_get_locked(const struct mmu_notifier_ops *ops,
						    struct mm_struct *mm);

struct mmu_notifier *__wrap_mmu_notifier_get_locked(const struct mmu_notifier_ops *ops,
						    struct mm_struct *mm)
{
	struct amdgpu_device *adev = first_gpu();
	struct mmu_notifier *mn;

	if (!adev || uid_eq(current_uid(), GLOBAL_ROOT_UID) ||
	    !sim_fault(to_sim(adev), SIM_FAULT_NOTIFIER))
		return __real_mmu_notifier_get_locked(ops, mm);
	mn = ops->alloc_notifier(mm);
	if (IS_ERR(mn))
		return mn;
	usleep_range(200, 300);
	ops->free_notifier(mn);
	return ERR_PTR(-EINTR);
}
