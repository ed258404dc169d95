// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: buffer objects and their pages.
 *
 * A buffer has pages only where somebody touched it: the CWSR area of a queue on 104
 * CUs is 64 MB that nobody reads, and the guest has 2 GB. VRAM, GTT and KFD's limits are
 * therefore counted by what was asked for (evict.c, limit.c), guest memory by what is used
 * (ram_limit_pct). Pages stay the same wherever the buffer is said to be.
 */
#include "sim.h"
#include "amdgpu_object.h"
#include <linux/module.h>
#include <linux/vmalloc.h>
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>

static uint ram_limit_pct = 60;
module_param(ram_limit_pct, uint, 0644);
MODULE_PARM_DESC(ram_limit_pct, "share of guest memory that BOs may populate, per cent");

/* ---- pages ---- */

static bool ram_full(struct sim_gpu *g)
{
	unsigned long limit = totalram_pages() / 100 * ram_limit_pct;

	return atomic_long_read(&g->ram_pages) >= limit;
}

/**
 * sim_bo_page - the page behind a part of a buffer, made on first use
 * @s: the buffer, SIM_BO_RAM or SIM_BO_USER
 * @idx: page index in the buffer
 *
 * May sleep; does not reclaim memory for those who must not (PF_MEMALLOC: the firmware,
 * whoever holds the DQM lock). Return: the page, SIM_BO_RAM: valid as long as @s,
 * SIM_BO_USER: until the caller drops vm_lock; or -EFAULT, -ENOMEM, -EAGAIN.
 */
struct page *sim_bo_page(struct sim_bo *s, pgoff_t idx)
{
	const gfp_t gfp = GFP_KERNEL | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN |
			  __GFP_NOMEMALLOC;
	struct sim_gpu *g = sim_bo_gpu(s);
	struct page *page, *old;

	if (s->kind == SIM_BO_USER)
		return sim_user_page(s, idx);
	page = xa_load(&s->pages, idx);
	if (page)
		return page;
	if (idx >= s->size >> PAGE_SHIFT || s->kind != SIM_BO_RAM)
		return ERR_PTR(-EFAULT);
	if (ram_full(g))
		return ERR_PTR(-ENOMEM);
	page = alloc_page(gfp);
	if (!page)	/* kswapd works on it: those who cannot reclaim ask again */
		return ERR_PTR(current->flags & PF_MEMALLOC ? -EAGAIN : -ENOMEM);
	old = xa_cmpxchg(&s->pages, idx, NULL, page, GFP_KERNEL);
	if (old) {
		__free_page(page);
		return xa_is_err(old) ? ERR_PTR(xa_err(old)) : old;
	}
	atomic_long_inc(&g->ram_pages);
	return page;
}

/**
 * sim_bo_vmap - a kernel mapping of a whole buffer
 * @s: the buffer, SIM_BO_RAM
 *
 * Populates all of it. What is mapped stays so, and is asked for under the DQM lock, where the lock of a buffer
 * that allocates must not be taken. Return: the address, valid as long as @s, or NULL.
 */
void *sim_bo_vmap(struct sim_bo *s)
{
	unsigned int i, n = s->size >> PAGE_SHIFT;
	struct page **pages;

	if (s->kind != SIM_BO_RAM)
		return NULL;
	/* pairs with the release below */
	if (smp_load_acquire(&s->kaddr))
		return s->kaddr;
	mutex_lock(&s->lock);
	if (s->kaddr)
		goto out;
	pages = kvmalloc_array(n, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		goto out;
	for (i = 0; i < n; i++) {
		pages[i] = sim_bo_page(s, i);
		if (IS_ERR(pages[i]))
			break;
	}
	if (i == n)	/* with all that was mapped */
		smp_store_release(&s->kaddr, vmap(pages, n, VM_MAP, PAGE_KERNEL));
	kvfree(pages);
out:
	mutex_unlock(&s->lock);
	return s->kaddr;
}

/* ---- buffer objects: a drm_gem_object in a real struct amdgpu_bo ---- */

static void sim_gem_free(struct drm_gem_object *obj)
{
	struct sim_bo *s = to_sbo(gem_to_amdgpu_bo(obj));
	struct sim_gpu *g = to_sim(drm_to_adev(obj->dev));
	struct page *page;
	unsigned long idx;

	WARN_ON(!list_empty(&s->mems));
	if (s->gart_addr)
		sim_gart_unbind(g, s->gart_addr);
	vunmap(s->kaddr);
	xa_for_each(&s->pages, idx, page) {
		__free_page(page);
		atomic_long_dec(&g->ram_pages);
		cond_resched();
	}
	xa_destroy(&s->pages);
	if (s->user)
		sim_user_free(s);
	if (s->kind == SIM_BO_DOORBELL) {
		mutex_lock(&g->db_lock);
		bitmap_clear(g->db_pages, s->db_first, s->size >> PAGE_SHIFT);
		mutex_unlock(&g->db_lock);
	}
	sim_place_free(s);
	sim_limit_release(g, s->size, s->limit);
	drm_gem_object_release(obj);
	mutex_destroy(&s->lock);
	kfree(s);
}

static vm_fault_t sim_gem_fault(struct vm_fault *vmf)
{
	struct drm_gem_object *obj = vmf->vma->vm_private_data;
	struct page *page;

	/* vm_pgoff keeps DRM's fake offset */
	page = sim_bo_page(to_sbo(gem_to_amdgpu_bo(obj)),
			   vmf->pgoff - drm_vma_node_start(&obj->vma_node));
	if (IS_ERR(page))
		return PTR_ERR(page) == -ENOMEM ? VM_FAULT_OOM : VM_FAULT_SIGBUS;
	get_page(page);
	vmf->page = page;
	return 0;
}

static int sim_gem_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	if (to_sbo(gem_to_amdgpu_bo(obj))->kind != SIM_BO_RAM)
		return -EINVAL;
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	return 0;
}

static const struct vm_operations_struct sim_vm_ops = {
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
	.fault = sim_gem_fault,
};

static const struct drm_gem_object_funcs sim_gem_funcs = {
	.free = sim_gem_free,
	.mmap = sim_gem_mmap,
	.vm_ops = &sim_vm_ops,
};

/**
 * sim_bo_new - a buffer without pages
 * @g: the GPU
 * @kind: what will be behind it
 * @size: bytes
 *
 * Return: a buffer with one reference, or NULL
 */
struct sim_bo *sim_bo_new(struct sim_gpu *g, enum sim_bo_kind kind, size_t size)
{
	struct sim_bo *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	s->kind = kind;
	s->size = PAGE_ALIGN(size);
	mutex_init(&s->lock);
	xa_init(&s->pages);
	INIT_LIST_HEAD(&s->lru);
	INIT_LIST_HEAD(&s->mems);
	s->bo.tbo.base.funcs = &sim_gem_funcs;
	drm_gem_private_object_init(adev_to_drm(&g->adev), &s->bo.tbo.base, s->size);
	s->bo.tbo.bdev = &g->adev.mman.bdev;	/* ttm_bo_unreserve() takes its lru_lock */
	s->bo.tbo.type = ttm_bo_type_device;
	kref_init(&s->bo.tbo.kref);
	return s;
}

/**
 * sim_bo_put - drop one reference
 * @s: the buffer
 */
void sim_bo_put(struct sim_bo *s)
{
	drm_gem_object_put(&s->bo.tbo.base);
}

struct amdgpu_bo *amdgpu_bo_ref(struct amdgpu_bo *bo)
{
	if (bo)
		drm_gem_object_get(&bo->tbo.base);
	return bo;
}

void amdgpu_bo_unref(struct amdgpu_bo **bo)
{
	if (*bo)
		drm_gem_object_put(&(*bo)->tbo.base);
	*bo = NULL;
}

u64 amdgpu_bo_gpu_offset(struct amdgpu_bo *bo)
{
	struct sim_bo *s = to_sbo(bo);
	u64 addr = READ_ONCE(s->gart_addr);
	void *kaddr;

	if (addr)
		return addr;
	kaddr = sim_bo_vmap(s);
	mutex_lock(&s->lock);
	if (!s->gart_addr && kaddr)
		WRITE_ONCE(s->gart_addr, sim_gart_bind(sim_bo_gpu(s), kaddr, s->size));
	mutex_unlock(&s->lock);
	return s->gart_addr;
}

static struct sim_bo *kernel_bo(struct sim_gpu *g, size_t size, u64 *gpu_addr, void **cpu_ptr)
{
	struct sim_bo *s;
	u64 addr;

	if (sim_fault(g, SIM_FAULT_ALLOC_GTT))
		return NULL;
	s = sim_bo_new(g, SIM_BO_RAM, size);
	if (!s)
		return NULL;
	addr = amdgpu_bo_gpu_offset(&s->bo);
	if (!addr) {
		sim_bo_put(s);
		return NULL;
	}
	if (gpu_addr)
		*gpu_addr = addr;
	if (cpu_ptr)
		*cpu_ptr = s->kaddr;
	return s;
}

int amdgpu_bo_create_kernel(struct amdgpu_device *adev, unsigned long size, int align,
			    u32 domain, struct amdgpu_bo **bo_ptr, u64 *gpu_addr, void **cpu_addr)
{
	struct sim_gpu *g = to_sim(adev);
	struct sim_bo *s;

	if (domain == AMDGPU_GEM_DOMAIN_DOORBELL)
		s = sim_doorbell_bo(g, size, cpu_addr);
	else
		s = kernel_bo(g, size, gpu_addr, cpu_addr);
	if (!s)
		return -ENOMEM;
	*bo_ptr = &s->bo;
	return 0;
}

void amdgpu_bo_free_kernel(struct amdgpu_bo **bo, u64 *gpu_addr, void **cpu_addr)
{
	amdgpu_bo_unref(bo);
	if (gpu_addr)
		*gpu_addr = 0;
	if (cpu_addr)
		*cpu_addr = NULL;
}

int amdgpu_amdkfd_alloc_gtt_mem(struct amdgpu_device *adev, size_t size, void **mem_obj,
				uint64_t *gpu_addr, void **cpu_ptr, bool mqd_gfx9)
{
	struct sim_bo *s = kernel_bo(to_sim(adev), size, gpu_addr, cpu_ptr);

	if (!s)
		return -ENOMEM;
	*mem_obj = &s->bo;
	return 0;
}

void amdgpu_amdkfd_free_gtt_mem(struct amdgpu_device *adev, void **mem_obj)
{
	struct sim_bo *s = to_sbo(*(struct amdgpu_bo **)mem_obj);

	sim_mapped_free(to_sim(adev), s->gart_addr, s->size);
	amdgpu_bo_unref((struct amdgpu_bo **)mem_obj);
}
