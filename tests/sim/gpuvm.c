// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the gpuvm half of amdkfd's boundary: processes, their buffers, and where those
 * are mapped. Limits are in limit.c, VRAM in evict.c, userptrs in userptr.c, sharing in
 * dmabuf.c, address spaces in vm.c.
 */
#include "sim.h"
#include "amdgpu_object.h"
#include <linux/dma-buf.h>
#include <uapi/linux/kfd_ioctl.h>
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>

/* ---- processes ---- */

static struct sim_info *new_info(void **process_info)
{
	struct sim_info *info = kzalloc(sizeof(*info), GFP_KERNEL);

	if (!info)
		return NULL;
	SIM_INFO_CONTEXT(&info->info) = SIM_CONTEXT_ID(process_info);
	info->info.eviction_fence = SIM_FENCE_CREATE(dma_fence_context_alloc(1), current->mm,
						     SIM_CONTEXT_ID(process_info));
	if (!info->info.eviction_fence) {
		kfree(info);
		return NULL;
	}
	mutex_init(&info->info.lock);
	mutex_init(&info->notifier_lock);
	spin_lock_init(&info->ef_lock);
	INIT_LIST_HEAD(&info->mems);
	INIT_LIST_HEAD(&info->users);
	INIT_DELAYED_WORK(&info->info.restore_userptr_work, sim_user_restore_work);
	info->info.pid = get_task_pid(current->group_leader, PIDTYPE_PID);
	return info;
}

int amdgpu_amdkfd_gpuvm_acquire_process_vm(struct amdgpu_device *adev, struct amdgpu_vm *avm,
					   void **process_info, struct dma_fence **ef)
{
	struct sim_info *info;

	if (avm->process_info)
		return -EINVAL;
	if (!*process_info) {
		info = new_info(process_info);
		if (!info)
			return -ENOMEM;
		*process_info = &info->info;
	}
	info = to_sinfo(*process_info);
	mutex_lock(&info->info.lock);
	if (ef)
		*ef = dma_fence_get(&info->info.eviction_fence->base);
	info->info.n_vms++;
	mutex_unlock(&info->info.lock);
	mutex_lock(&to_sim(adev)->vm_lock);
	avm->process_info = &info->info;
	avm->is_compute_context = true;
	mutex_unlock(&to_sim(adev)->vm_lock);
	return 0;
}

void amdgpu_amdkfd_gpuvm_destroy_cb(struct amdgpu_device *adev, struct amdgpu_vm *vm)
{
	struct sim_info *info;
	bool last;

	if (!vm->process_info)
		return;
	info = to_sinfo(vm->process_info);
	mutex_lock(&info->info.lock);
	vm->process_info = NULL;
	last = !--info->info.n_vms;
	mutex_unlock(&info->info.lock);
	if (!last)
		return;
	WARN_ON(!list_empty(&info->mems));
	WARN_ON(!list_empty(&info->users));
	cancel_delayed_work_sync(&info->info.restore_userptr_work);
	dma_fence_put(&info->info.eviction_fence->base);
	put_pid(info->info.pid);
	mutex_destroy(&info->info.lock);
	mutex_destroy(&info->notifier_lock);
	kfree(info);
}

void amdgpu_amdkfd_gpuvm_release_process_vm(struct amdgpu_device *adev, void *drm_priv)
{
	/* the VM lives as long as its file, see sim_drm_postclose() */
}

int amdgpu_amdkfd_gpuvm_set_vm_pasid(struct amdgpu_device *adev, struct amdgpu_vm *avm, u32 pasid)
{
	avm->pasid = pasid;
	return 0;
}

uint64_t amdgpu_amdkfd_gpuvm_get_process_page_dir(void *drm_priv)
{
	return to_svm(drm_priv_to_vm(drm_priv))->pd;
}

/* Those listed are alive */
static struct sim_info *info_of(struct sim_gpu *g, pid_t pid)
{
	struct sim_vm *vm;

	lockdep_assert_held(&g->vm_lock);
	list_for_each_entry(vm, &g->vms, link)
		if (vm->fpriv.vm.process_info && pid_vnr(vm->fpriv.vm.process_info->pid) == pid)
			return to_sinfo(vm->fpriv.vm.process_info);
	return NULL;
}

/**
 * sim_vm_eviction_fence - the fence that evicts a process when memory is short
 * @g: the GPU
 * @pid: process, in the caller's PID namespace
 *
 * Return: the fence with a reference, or NULL
 */
struct dma_fence *sim_vm_eviction_fence(struct sim_gpu *g, pid_t pid)
{
	struct dma_fence *ef = NULL;
	struct sim_info *info;

	mutex_lock(&g->vm_lock);
	info = info_of(g, pid);
	if (info) {
		spin_lock(&info->ef_lock);
		ef = dma_fence_get(&info->info.eviction_fence->base);
		spin_unlock(&info->ef_lock);
	}
	mutex_unlock(&g->vm_lock);
	return ef;
}

/**
 * sim_vm_user_restore - look up userptrs now that the worker would look up a little later, and wait for that
 * @g: the GPU
 * @pid: process, in the caller's PID namespace
 *
 * Return: 0, also if nothing was invalidated; -ESRCH; -EINTR; -ETIMEDOUT after 20 s
 */
int sim_vm_user_restore(struct sim_gpu *g, pid_t pid)
{
	unsigned long end = jiffies + 20 * HZ;
	struct sim_info *info;
	bool wait;

	for (;;) {
		mutex_lock(&g->vm_lock);
		info = info_of(g, pid);
		/* without its lock: whoever invalidates meanwhile comes later */
		wait = info && (READ_ONCE(info->invalidated) || work_busy(&info->info.restore_userptr_work.work));
		if (wait && delayed_work_pending(&info->info.restore_userptr_work))
			mod_delayed_work(system_freezable_wq, &info->info.restore_userptr_work, 0);
		mutex_unlock(&g->vm_lock);
		if (!wait)
			return info ? 0 : -ESRCH;
		if (signal_pending(current))
			return -EINTR;
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		usleep_range(10, 20);
	}
}

void amdgpu_amdkfd_block_mmu_notifications(void *p)
{
	/* CRIU's restore of userptrs is refused, see amdgpu_amdkfd_gpuvm_alloc_memory_of_gpu() */
}

/* ---- buffers ---- */

#define KIND_IO (KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL | KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP)

/**
 * sim_mem_attach - a process gets a buffer
 * @m: zeroed
 * @info: the process, info.lock held
 * @s: the buffer; @m takes over a reference
 * @flags: KFD_IOC_ALLOC_MEM_FLAGS_*
 * @va: address on the GPU
 */
void sim_mem_attach(struct sim_mem *m, struct sim_info *info, struct sim_bo *s, u32 flags, u64 va)
{
	struct sim_gpu *g = sim_bo_gpu(s);

	lockdep_assert_held(&info->info.lock);
	mutex_init(&m->m.lock);
	INIT_LIST_HEAD(&m->m.attachments);
	m->m.bo = &s->bo;
	m->m.va = va;
	m->m.alloc_flags = flags;
	m->m.domain = s->bo.preferred_domains;
	m->m.process_info = &info->info;
	m->info = info;
	spin_lock(&g->place_lock);
	list_add_tail(&m->bo_link, &s->mems);
	spin_unlock(&g->place_lock);
	if (s->kind == SIM_BO_USER)
		list_add_tail(&m->link, &info->users);
	else if (s->kind == SIM_BO_RAM)
		list_add_tail(&m->link, &info->mems);
	else
		INIT_LIST_HEAD(&m->link);
}

/**
 * sim_mem_detach - a process gives a buffer up, but for its reference
 * @m: the process's part, info.lock held
 */
void sim_mem_detach(struct sim_mem *m)
{
	struct sim_bo *s = to_sbo(m->m.bo);
	struct sim_gpu *g = sim_bo_gpu(s);
	struct sim_mem *other;
	bool last = true;

	lockdep_assert_held(&m->info->info.lock);
	list_del_init(&m->link);
	spin_lock(&g->place_lock);
	list_del_init(&m->bo_link);
	list_for_each_entry(other, &s->mems, bo_link)
		last &= other->info != m->info;
	spin_unlock(&g->place_lock);
	if (last && s->kind == SIM_BO_RAM)
		sim_bo_unfence(s, m->info);
}

/* Memory behind the buffer. Return: 0 or why there is none */
static int find_memory(struct sim_mem *m, u64 user_addr)
{
	struct sim_bo *s = to_sbo(m->m.bo);
	struct sim_info *info = m->info;
	int r;

	switch (s->kind) {
	case SIM_BO_USER:
		return sim_user_init(m, user_addr);
	case SIM_BO_RAM:
		r = sim_place(s, m->m.domain == AMDGPU_GEM_DOMAIN_VRAM ? SIM_VRAM : SIM_GTT, info,
			      true);
		/* evicted: the restore adds the fence */
		if (!r && !dma_fence_is_signaled(&info->info.eviction_fence->base))
			r = sim_bo_fence(s, info);
		return r;
	default:
		return 0;
	}
}

static struct sim_bo *new_bo(struct sim_gpu *g, u64 size, u32 flags)
{
	enum sim_bo_kind kind = SIM_BO_RAM;
	struct sim_bo *s;

	if (flags & KFD_IOC_ALLOC_MEM_FLAGS_USERPTR)
		kind = SIM_BO_USER;
	else if (flags & KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL)
		kind = SIM_BO_RINGS;
	else if (flags & KIND_IO)
		kind = SIM_BO_NONE;
	if (sim_limit_reserve(g, size, flags))
		return NULL;
	s = sim_bo_new(g, kind, size);
	if (!s) {
		sim_limit_release(g, size, flags);
		return NULL;
	}
	s->limit = flags;
	s->bo.preferred_domains = flags & KFD_IOC_ALLOC_MEM_FLAGS_VRAM ? AMDGPU_GEM_DOMAIN_VRAM :
								AMDGPU_GEM_DOMAIN_GTT;
	if (flags & KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC)
		s->bo.flags |= AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED;
	SIM_NEWER(&s->bo, xcp_id) = flags & KFD_IOC_ALLOC_MEM_FLAGS_VRAM ? 0 : -1;
	return s;
}

static int check_flags(u32 flags, const u64 *offset, bool criu_resume)
{
	if (!(flags & (KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_GTT |
		       KFD_IOC_ALLOC_MEM_FLAGS_USERPTR | KIND_IO)))
		return -EINVAL;
	if (!(flags & KFD_IOC_ALLOC_MEM_FLAGS_USERPTR))
		return 0;
	if (!offset || !*offset || offset_in_page(*offset))
		return -EINVAL;
	return criu_resume ? -EOPNOTSUPP : 0;
}

int amdgpu_amdkfd_gpuvm_alloc_memory_of_gpu(struct amdgpu_device *adev, uint64_t va, uint64_t size,
					    void *drm_priv, struct kgd_mem **mem,
					    uint64_t *offset, uint32_t flags, bool criu_resume)
{
	struct sim_info *info = to_sinfo(drm_priv_to_vm(drm_priv)->process_info);
	struct sim_gpu *g = to_sim(adev);
	struct sim_mem *m;
	struct sim_bo *s;
	int r;

	r = check_flags(flags, offset, criu_resume);
	if (r)
		return r;
	/* the ring is mapped twice, half of it is allocated */
	size = PAGE_ALIGN(flags & KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM ? size >> 1 : size);
	if (!size)
		return -EINVAL;
	if (!(flags & KIND_IO) && sim_fault(g, flags & KFD_IOC_ALLOC_MEM_FLAGS_VRAM ?
					       SIM_FAULT_ALLOC_VRAM : SIM_FAULT_ALLOC_GTT))
		return -ENOMEM;
	r = -ENOMEM;
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		return r;
	s = new_bo(g, size, flags);
	if (!s)
		goto err_free;
	if (s->kind == SIM_BO_RAM) {
		r = drm_gem_create_mmap_offset(&s->bo.tbo.base);
		if (!r)
			r = drm_vma_node_allow(&s->bo.tbo.base.vma_node, drm_priv);
		if (r)
			goto err_put;
	}
	if (s->kind == SIM_BO_RINGS && offset)	/* their bus address */
		s->db_first = (*offset - g->adev.doorbell.base) >> PAGE_SHIFT;
	mutex_lock(&info->info.lock);
	sim_mem_attach(m, info, s, flags, va);
	m->m.aql_queue = flags & KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM;
	s->bo.kfd_bo = &m->m;
	r = find_memory(m, offset ? *offset : 0);
	if (r)
		sim_mem_detach(m);
	mutex_unlock(&info->info.lock);
	if (r)
		goto err_memory;
	if (s->kind == SIM_BO_RAM && offset)
		*offset = drm_vma_node_offset_addr(&s->bo.tbo.base.vma_node);
	*mem = &m->m;
	return 0;

err_memory:
	sim_user_fini(s);
	mutex_destroy(&m->m.lock);
	if (s->kind == SIM_BO_RAM)
		drm_vma_node_revoke(&s->bo.tbo.base.vma_node, drm_priv);
err_put:
	sim_bo_put(s);
err_free:
	kfree(m);
	return r;
}

int amdgpu_amdkfd_gpuvm_free_memory_of_gpu(struct amdgpu_device *adev, struct kgd_mem *mem,
					   void *drm_priv, uint64_t *size)
{
	struct sim_bo *s = to_sbo(mem->bo);
	struct sim_mem *m = to_smem(mem);
	unsigned int mapped;

	mutex_lock(&mem->lock);
	mapped = mem->mapped_to_gpu_memory;
	mutex_unlock(&mem->lock);
	if (mapped) {
		pr_debug("BO VA 0x%llx size 0x%zx is still mapped.\n", mem->va, s->size);
		return -EBUSY;
	}
	if (size)
		*size = !mem->is_imported && mem->domain == AMDGPU_GEM_DOMAIN_VRAM ? s->size : 0;
	mutex_lock(&m->info->info.lock);
	sim_mem_detach(m);
	mutex_unlock(&m->info->info.lock);
	sim_user_fini(s);
	if (s->kind == SIM_BO_RAM)
		drm_vma_node_revoke(&s->bo.tbo.base.vma_node, drm_priv);
	if (mem->dmabuf)
		dma_buf_put(mem->dmabuf);
	if (mem->bo->kfd_bo == mem)
		mem->bo->kfd_bo = NULL;
	amdgpu_bo_unref(&mem->bo);
	mutex_destroy(&mem->lock);
	kfree(m);
	return 0;
}

int amdgpu_amdkfd_gpuvm_map_memory_to_gpu(struct amdgpu_device *adev, struct kgd_mem *mem,
					  void *drm_priv)
{
	const u32 local = KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL |
			  KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP;
	struct sim_vm *vm = to_svm(drm_priv_to_vm(drm_priv));
	int r;

	/*
	 * Another GPU's VRAM is reached over xGMI, which no GPU here has, or over PCIe, which
	 * amdgpu_device_is_peer_accessible() allows with CONFIG_HSA_AMD_P2P only: Debian's
	 * kernels do not have that. System memory is everybody's.
	 */
	if (adev != drm_to_adev(mem->bo->tbo.base.dev) && (mem->alloc_flags & local))
		return -EINVAL;
	if (sim_fault(vm->gpu, SIM_FAULT_MAP_MEMORY))
		return -ENOMEM;
	if (!mem->va) {
		pr_err("Invalid VA when adding BO to VM\n");
		return -EINVAL;
	}
	mutex_lock(&mem->process_info->lock);
	mutex_lock(&mem->lock);
	r = sim_vm_map(vm, to_smem(mem));
	mutex_unlock(&mem->lock);
	mutex_unlock(&mem->process_info->lock);
	return r;
}

int amdgpu_amdkfd_gpuvm_unmap_memory_from_gpu(struct amdgpu_device *adev, struct kgd_mem *mem,
					      void *drm_priv)
{
	int r;

	mutex_lock(&mem->lock);
	r = sim_vm_unmap(to_svm(drm_priv_to_vm(drm_priv)), to_smem(mem));
	if (!r)
		sim_mapped_unmap(to_svm(drm_priv_to_vm(drm_priv)), mem->va, to_sbo(mem->bo)->size);
	mutex_unlock(&mem->lock);
	return r;
}

/* Used by the kernel from now on: it stays where it is, and its process is not evicted for it */
static void pin(struct sim_bo *s)
{
	struct sim_gpu *g = sim_bo_gpu(s);
	struct sim_info *info = NULL;
	struct sim_mem *m;

	sim_place_pin(s);
	spin_lock(&g->place_lock);
	m = list_first_entry_or_null(&s->mems, struct sim_mem, bo_link);
	if (m)
		info = m->info;
	spin_unlock(&g->place_lock);
	if (!info)
		return;
	mutex_lock(&info->info.lock);
	sim_bo_unfence(s, info);
	mutex_unlock(&info->info.lock);
}

int amdgpu_amdkfd_gpuvm_map_gtt_bo_to_kernel(struct kgd_mem *mem, void **kptr, uint64_t *size)
{
	struct sim_bo *s = to_sbo(mem->bo);

	if (s->kind != SIM_BO_RAM) {
		pr_err("userptr can't be mapped to kernel\n");
		return -EINVAL;
	}
	*kptr = sim_bo_vmap(s);
	if (!*kptr)
		return -ENOMEM;
	pin(s);
	if (size)
		*size = s->size;
	return 0;
}

void amdgpu_amdkfd_gpuvm_unmap_gtt_bo_from_kernel(struct kgd_mem *mem)
{
	/* the mapping and the pin go with the buffer */
}

int amdgpu_amdkfd_map_gtt_bo_to_gart(struct amdgpu_bo *bo, struct amdgpu_bo **bo_gart)
{
	if (!amdgpu_bo_gpu_offset(bo))
		return -ENOMEM;
	pin(to_sbo(bo));
	*bo_gart = amdgpu_bo_ref(bo);
	return 0;
}

bool amdgpu_amdkfd_bo_mapped_to_dev(void *drm_priv, struct kgd_mem *mem)
{
	return sim_vm_mapped(to_svm(drm_priv_to_vm(drm_priv)), mem);
}

/* memory is coherent and there are no TLBs: nothing to do */
int amdgpu_amdkfd_gpuvm_dmaunmap_mem(struct kgd_mem *mem, void *drm_priv)
{
	return 0;
}

int amdgpu_amdkfd_gpuvm_sync_memory(struct amdgpu_device *adev, struct kgd_mem *mem, bool intr)
{
	return 0;
}
