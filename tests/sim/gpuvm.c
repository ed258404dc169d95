// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: GPU address spaces and the gpuvm half of amdkfd's boundary.
 *
 * A VM is a list of mappings. Its "page directory" is a number that amdkfd carries in
 * MAP_PROCESS packets, by which the firmware finds the VM again.
 * Not modelled: page tables, TLBs, migration, MMU notifiers (a userptr keeps the pages
 * it had when they were first touched), peer access, dma-buf.
 */
#include "sim.h"
#include "amdgpu_object.h"
#include <uapi/linux/kfd_ioctl.h>
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>

/* userptrs up to this size are pinned when they are registered, in the caller's context */
#define EAGER_PIN_SIZE	(4u << 20)

struct sim_va {
	struct list_head link;
	struct amdgpu_bo_va bo_va;
	struct amdgpu_bo_va_mapping m;
};

/* ---- render node files ---- */

/**
 * sim_drm_open - a new GPU address space
 * @dev: DRM device
 * @file: the new file
 */
int sim_drm_open(struct drm_device *dev, struct drm_file *file)
{
	struct sim_gpu *g = to_sim(drm_to_adev(dev));
	struct sim_vm *vm = kzalloc(sizeof(*vm), GFP_KERNEL);
	struct sim_bo *root;

	if (!vm)
		return -ENOMEM;
	root = sim_bo_new(g, SIM_BO_NONE, PAGE_SIZE);	/* amdkfd reserves it, no more */
	if (!root) {
		kfree(vm);
		return -ENOMEM;
	}
	INIT_LIST_HEAD(&vm->maps);
	vm->gpu = g;
	vm->fpriv.vm.root.bo = &root->bo;
	vm->fpriv.vm.root.vm = &vm->fpriv.vm;
	vm->fpriv.vm.last_tlb_flush = dma_fence_get_stub();	/* 6.1 looks at its lock */
	mutex_lock(&g->vm_lock);
	vm->pd = g->pd_next;
	g->pd_next += PAGE_SIZE;
	list_add(&vm->link, &g->vms);
	mutex_unlock(&g->vm_lock);
	file->driver_priv = &vm->fpriv;
	return 0;
}

static void va_del(struct sim_va *v)
{
	struct amdgpu_bo *bo = v->bo_va.base.bo;

	list_del(&v->link);
	kfree(v);
	amdgpu_bo_unref(&bo);
}

/**
 * sim_drm_postclose - the end of a GPU address space
 * @dev: DRM device
 * @file: the file being closed
 */
void sim_drm_postclose(struct drm_device *dev, struct drm_file *file)
{
	struct amdgpu_fpriv *fpriv = file->driver_priv;
	struct sim_vm *vm = container_of(fpriv, struct sim_vm, fpriv);
	struct sim_va *v, *n;

	mutex_lock(&vm->gpu->vm_lock);
	list_del(&vm->link);
	list_for_each_entry_safe(v, n, &vm->maps, link)
		va_del(v);
	mutex_unlock(&vm->gpu->vm_lock);
	amdgpu_amdkfd_gpuvm_destroy_cb(&vm->gpu->adev, &fpriv->vm);
	amdgpu_bo_unref(&fpriv->vm.root.bo);
	dma_fence_put(fpriv->vm.last_tlb_flush);
	kfree(vm);
}

const struct file_operations sim_drm_fops = {
	.owner = THIS_MODULE,
	.open = drm_open,
	.release = drm_release,
	.unlocked_ioctl = drm_ioctl,
	.compat_ioctl = drm_compat_ioctl,
	.mmap = drm_gem_mmap,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	SIM_DRM_FOPS_EXTRA
};

int amdgpu_file_to_fpriv(struct file *filp, struct amdgpu_fpriv **fpriv)
{
	struct drm_file *file;

	if (filp->f_op != &sim_drm_fops)
		return -EINVAL;
	file = filp->private_data;
	*fpriv = file->driver_priv;
	return 0;
}

/* ---- address translation ---- */

/**
 * sim_vm_by_pd - the VM that a MAP_PROCESS packet names
 * @g: the GPU, vm_lock held
 * @pd: page directory number
 */
struct sim_vm *sim_vm_by_pd(struct sim_gpu *g, u64 pd)
{
	struct sim_vm *vm;

	lockdep_assert_held(&g->vm_lock);
	list_for_each_entry(vm, &g->vms, link)
		if (vm->pd == pd)
			return vm;
	return NULL;
}

static struct sim_va *va_find(struct sim_vm *vm, u64 pfn)
{
	struct sim_va *v;

	lockdep_assert_held(&vm->gpu->vm_lock);
	list_for_each_entry(v, &vm->maps, link)
		if (pfn >= v->m.start && pfn <= v->m.last) {
			list_move(&v->link, &vm->maps);
			return v;
		}
	return NULL;
}

/**
 * sim_vm_ptr - kernel address of a range of GPU virtual memory
 * @vm: the address space, vm_lock of its GPU held
 * @va: GPU virtual address
 * @len: bytes, must not cross a page
 *
 * Return: the address, valid until vm_lock is dropped; or -EFAULT (nothing mapped, or
 * nothing that has memory), -ENOMEM, -EAGAIN (ask again later).
 */
void *sim_vm_ptr(struct sim_vm *vm, u64 va, size_t len)
{
	struct sim_va *v = va_find(vm, va >> PAGE_SHIFT);
	struct page *page;

	if (!v || offset_in_page(va) + len > PAGE_SIZE)
		return ERR_PTR(-EFAULT);
	page = sim_bo_page(to_sbo(v->bo_va.base.bo), (va >> PAGE_SHIFT) - v->m.start);
	if (IS_ERR(page))
		return ERR_CAST(page);
	return page_address(page) + offset_in_page(va);
}

struct amdgpu_bo_va_mapping *amdgpu_vm_bo_lookup_mapping(struct amdgpu_vm *vm, uint64_t addr)
{
	struct sim_vm *sv = to_svm(vm);
	struct sim_va *v;

	mutex_lock(&sv->gpu->vm_lock);
	v = va_find(sv, addr);
	mutex_unlock(&sv->gpu->vm_lock);
	return v ? &v->m : NULL;
}

struct amdgpu_bo_va *amdgpu_vm_bo_find(struct amdgpu_vm *vm, struct amdgpu_bo *bo)
{
	struct sim_vm *sv = to_svm(vm);
	struct amdgpu_bo_va *found = NULL;
	struct sim_va *v;

	mutex_lock(&sv->gpu->vm_lock);
	list_for_each_entry(v, &sv->maps, link)
		if (v->bo_va.base.bo == bo) {
			found = &v->bo_va;
			break;
		}
	mutex_unlock(&sv->gpu->vm_lock);
	return found;
}

/* ---- processes ---- */

static struct amdgpu_amdkfd_fence *new_eviction_fence(struct mm_struct *mm)
{
	return amdgpu_amdkfd_fence_create(dma_fence_context_alloc(1), mm, NULL);
}

int amdgpu_amdkfd_gpuvm_acquire_process_vm(struct amdgpu_device *adev, struct amdgpu_vm *avm,
					   void **process_info, struct dma_fence **ef)
{
	struct amdkfd_process_info *info;

	if (avm->process_info)
		return -EINVAL;
	if (!*process_info) {
		info = kzalloc(sizeof(*info), GFP_KERNEL);
		if (!info)
			return -ENOMEM;
		info->eviction_fence = new_eviction_fence(current->mm);
		if (!info->eviction_fence) {
			kfree(info);
			return -ENOMEM;
		}
		mutex_init(&info->lock);
		sim_info_lock_init(info);
		INIT_LIST_HEAD(&info->vm_list_head);
		INIT_LIST_HEAD(&info->kfd_bo_list);
		INIT_LIST_HEAD(&info->userptr_valid_list);
		INIT_LIST_HEAD(&info->userptr_inval_list);
		info->pid = get_task_pid(current->group_leader, PIDTYPE_PID);
		*process_info = info;
	}
	info = *process_info;
	if (ef)
		*ef = dma_fence_get(&info->eviction_fence->base);
	avm->process_info = info;
	avm->is_compute_context = true;
	mutex_lock(&info->lock);
	info->n_vms++;
	mutex_unlock(&info->lock);
	return 0;
}

void amdgpu_amdkfd_gpuvm_destroy_cb(struct amdgpu_device *adev, struct amdgpu_vm *vm)
{
	struct amdkfd_process_info *info = vm->process_info;
	bool last;

	if (!info)
		return;
	mutex_lock(&info->lock);
	vm->process_info = NULL;
	last = !--info->n_vms;
	mutex_unlock(&info->lock);
	if (!last)
		return;
	dma_fence_put(&info->eviction_fence->base);
	put_pid(info->pid);
	mutex_destroy(&info->lock);
	sim_info_lock_destroy(info);
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

/**
 * sim_vm_eviction_fence - the fence that evicts a process when memory is short
 * @g: the GPU
 * @pid: process, in the caller's PID namespace
 *
 * Return: the fence with a reference, or NULL
 */
struct dma_fence *sim_vm_eviction_fence(struct sim_gpu *g, pid_t pid)
{
	struct amdkfd_process_info *info;
	struct dma_fence *ef = NULL;
	struct sim_vm *vm;

	mutex_lock(&g->vm_lock);
	list_for_each_entry(vm, &g->vms, link) {
		info = vm->fpriv.vm.process_info;
		if (!info || pid_vnr(info->pid) != pid)
			continue;
		mutex_lock(&info->lock);
		ef = dma_fence_get(&info->eviction_fence->base);
		mutex_unlock(&info->lock);
		break;
	}
	mutex_unlock(&g->vm_lock);
	return ef;
}

int amdgpu_amdkfd_gpuvm_restore_process_bos(void *process_info, struct dma_fence __rcu **ef)
{
	struct amdkfd_process_info *info = process_info;
	struct amdgpu_amdkfd_fence *new;
	int r = 0;

	mutex_lock(&info->lock);
	if (!dma_fence_is_signaled(&info->eviction_fence->base))
		goto out;
	new = new_eviction_fence(info->eviction_fence->mm);
	if (!new) {
		r = -ENOMEM;
		goto out;
	}
	dma_fence_put(&info->eviction_fence->base);
	info->eviction_fence = new;
	dma_fence_put(rcu_replace_pointer(*ef, dma_fence_get(&new->base), true));
out:
	mutex_unlock(&info->lock);
	return r;
}

/* ---- buffers ---- */

size_t amdgpu_amdkfd_get_available_memory(struct amdgpu_device *adev, uint8_t xcp_id)
{
	return adev->gmc.real_vram_size - atomic64_read(&to_sim(adev)->vram_used);
}

static int user_bo_init(struct sim_bo *s, u64 addr)
{
	unsigned long i;
	struct page *page;
	int retries = 100;

	if (!addr || offset_in_page(addr))
		return -EINVAL;
	mmgrab(current->mm);
	s->mm = current->mm;
	s->uaddr = addr;
	for (i = 0; s->size <= EAGER_PIN_SIZE && i < s->size >> PAGE_SHIFT; i++) {
		page = sim_bo_page(s, i);
		while (page == ERR_PTR(-EAGAIN) && retries--) {
			cond_resched();
			page = sim_bo_page(s, i);
		}
		/* what could not be pinned now is pinned when it is touched */
		if (IS_ERR(page) && page != ERR_PTR(-EAGAIN))
			return PTR_ERR(page);
	}
	return 0;
}

int amdgpu_amdkfd_gpuvm_alloc_memory_of_gpu(struct amdgpu_device *adev, uint64_t va, uint64_t size,
					    void *drm_priv, struct kgd_mem **mem,
					    uint64_t *offset, uint32_t flags, bool criu_resume)
{
	const u32 io = KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL | KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP;
	enum sim_bo_kind kind = SIM_BO_RAM;
	struct sim_gpu *g = to_sim(adev);
	struct kgd_mem *m;
	struct sim_bo *s;
	int r = -ENOMEM;

	if (!size)
		return -EINVAL;
	if (!(flags & io) && sim_fault(g, flags & KFD_IOC_ALLOC_MEM_FLAGS_VRAM ?
					  SIM_FAULT_ALLOC_VRAM : SIM_FAULT_ALLOC_GTT))
		return -ENOMEM;
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		return -ENOMEM;
	if (flags & KFD_IOC_ALLOC_MEM_FLAGS_USERPTR)
		kind = SIM_BO_USER;
	else if (flags & io)
		kind = SIM_BO_NONE;
	s = sim_bo_new(g, kind, size);
	if (!s)
		goto err_free;
	if (flags & KFD_IOC_ALLOC_MEM_FLAGS_VRAM) {
		s->vram = s->size;
		if (atomic64_add_return(s->vram, &g->vram_used) > adev->gmc.real_vram_size)
			goto err_put;
	}
	if (kind == SIM_BO_USER) {
		r = user_bo_init(s, *offset);
		if (r)
			goto err_put;
	} else if (kind == SIM_BO_RAM) {
		r = drm_gem_create_mmap_offset(&s->bo.tbo.base);
		if (!r)
			r = drm_vma_node_allow(&s->bo.tbo.base.vma_node, drm_priv);
		if (r)
			goto err_put;
		if (offset)
			*offset = drm_vma_node_offset_addr(&s->bo.tbo.base.vma_node);
	}
	mutex_init(&m->lock);
	INIT_LIST_HEAD(&m->attachments);
	m->bo = &s->bo;
	m->va = va;
	m->alloc_flags = flags;
	m->bo->kfd_bo = m;
	*mem = m;
	return 0;

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

	if (mem->mapped_to_gpu_memory > 0)
		return -EBUSY;
	if (size)
		*size = s->vram;
	if (s->kind == SIM_BO_RAM)
		drm_vma_node_revoke(&s->bo.tbo.base.vma_node, drm_priv);
	mem->bo->kfd_bo = NULL;
	amdgpu_bo_unref(&mem->bo);
	mutex_destroy(&mem->lock);
	kfree(mem);
	return 0;
}

int amdgpu_amdkfd_gpuvm_map_memory_to_gpu(struct amdgpu_device *adev, struct kgd_mem *mem,
					  void *drm_priv)
{
	const u32 local = KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL |
			  KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP;
	struct sim_vm *vm = to_svm(drm_priv_to_vm(drm_priv));
	struct sim_va *v, *new = NULL;

	/*
	 * Another GPU's VRAM is reached over xGMI, which no GPU here has, or over PCIe, which
	 * amdgpu_device_is_peer_accessible() allows with CONFIG_HSA_AMD_P2P only: Debian's
	 * kernels do not have that. System memory is everybody's.
	 */
	if (adev != drm_to_adev(mem->bo->tbo.base.dev) && (mem->alloc_flags & local))
		return -EINVAL;
	if (!sim_fault(vm->gpu, SIM_FAULT_MAP_MEMORY))
		new = kzalloc(sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	mutex_lock(&vm->gpu->vm_lock);
	list_for_each_entry(v, &vm->maps, link)
		if (v->bo_va.base.bo == mem->bo) {
			kfree(new);		/* mapped already */
			goto out;
		}
	new->bo_va.base.vm = &vm->fpriv.vm;
	new->bo_va.base.bo = amdgpu_bo_ref(mem->bo);
	new->m.bo_va = &new->bo_va;
	new->m.start = mem->va >> PAGE_SHIFT;
	new->m.last = new->m.start + (to_sbo(mem->bo)->size >> PAGE_SHIFT) - 1;
	list_add(&new->link, &vm->maps);
	mem->mapped_to_gpu_memory++;
out:
	mutex_unlock(&vm->gpu->vm_lock);
	return 0;
}

int amdgpu_amdkfd_gpuvm_unmap_memory_from_gpu(struct amdgpu_device *adev, struct kgd_mem *mem,
					      void *drm_priv)
{
	struct sim_vm *vm = to_svm(drm_priv_to_vm(drm_priv));
	struct sim_va *v, *n;
	int r = 0;

	mutex_lock(&vm->gpu->vm_lock);
	list_for_each_entry_safe(v, n, &vm->maps, link) {
		if (v->bo_va.base.bo != mem->bo)
			continue;
		if (SIM_BO_VA_QUEUE_REFS(&v->bo_va)) {	/* a queue still uses it */
			r = -EBUSY;
			break;
		}
		va_del(v);
		mem->mapped_to_gpu_memory--;
		break;
	}
	mutex_unlock(&vm->gpu->vm_lock);
	return r;
}

int amdgpu_amdkfd_gpuvm_map_gtt_bo_to_kernel(struct kgd_mem *mem, void **kptr, uint64_t *size)
{
	*kptr = sim_bo_vmap(to_sbo(mem->bo));
	if (size)
		*size = to_sbo(mem->bo)->size;
	return *kptr ? 0 : -ENOMEM;
}

void amdgpu_amdkfd_gpuvm_unmap_gtt_bo_from_kernel(struct kgd_mem *mem)
{
	/* the mapping goes with the buffer */
}

int amdgpu_amdkfd_map_gtt_bo_to_gart(struct amdgpu_bo *bo, struct amdgpu_bo **bo_gart)
{
	if (!amdgpu_bo_gpu_offset(bo))
		return -ENOMEM;
	*bo_gart = amdgpu_bo_ref(bo);
	return 0;
}

bool amdgpu_amdkfd_bo_mapped_to_dev(void *drm_priv, struct kgd_mem *mem)
{
	return amdgpu_vm_bo_find(drm_priv_to_vm(drm_priv), mem->bo);
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
