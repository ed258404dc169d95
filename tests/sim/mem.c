// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: memory. GART, buffer objects, doorbell pages.
 *
 * A buffer has pages only where somebody touched it: the CWSR area of a queue on 104
 * CUs is 64 MB that nobody reads, and the guest has 2 GB. VRAM is therefore counted by
 * what was asked for (profile: vram_mb), guest memory by what is used (ram_limit_pct).
 */
#include "sim.h"
#include "amdgpu_object.h"
#include <linux/module.h>
#include <linux/vmalloc.h>
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_managed.h>

static uint ram_limit_pct = 60;
module_param(ram_limit_pct, uint, 0644);
MODULE_PARM_DESC(ram_limit_pct, "share of guest memory that BOs may populate, per cent");

struct sim_gart {
	struct list_head link;
	u64 addr;
	size_t size;
	void *kptr;
};

/* ---- GART: addresses of what the kernel shares with the firmware ---- */

static u64 gart_bind(struct sim_gpu *g, void *kptr, size_t size)
{
	struct sim_gart *e = kzalloc(sizeof(*e), GFP_KERNEL);

	if (!e)
		return 0;
	e->size = PAGE_ALIGN(size);
	e->kptr = kptr;
	spin_lock(&g->gart_lock);
	e->addr = g->gart_next;
	g->gart_next += e->size + PAGE_SIZE;	/* guard page */
	list_add(&e->link, &g->gart);
	spin_unlock(&g->gart_lock);
	return e->addr;
}

static void gart_unbind(struct sim_gpu *g, u64 addr)
{
	struct sim_gart *e;

	spin_lock(&g->gart_lock);
	list_for_each_entry(e, &g->gart, link)
		if (e->addr == addr) {
			list_del(&e->link);
			spin_unlock(&g->gart_lock);
			kfree(e);
			return;
		}
	spin_unlock(&g->gart_lock);
	WARN_ONCE(1, "kfdsim: GART address %#llx was not bound\n", addr);
}

/**
 * sim_gart_ptr - kernel address of a GART range
 * @g: the GPU
 * @addr: GART address
 * @len: bytes that must be there
 *
 * Return: NULL when the range is not bound. Valid as long as the owner keeps it.
 */
void *sim_gart_ptr(struct sim_gpu *g, u64 addr, size_t len)
{
	struct sim_gart *e;
	void *p = NULL;

	spin_lock(&g->gart_lock);
	list_for_each_entry(e, &g->gart, link)
		if (addr >= e->addr && addr + len <= e->addr + e->size) {
			p = e->kptr + (addr - e->addr);
			break;
		}
	spin_unlock(&g->gart_lock);
	return p;
}

/**
 * sim_gart_write - write to a GART range if it is still bound
 * @g: the GPU
 * @addr: GART address
 * @data: what to write
 * @len: bytes
 *
 * For late answers of the firmware: the owner may have given up and freed the memory.
 */
bool sim_gart_write(struct sim_gpu *g, u64 addr, const void *data, size_t len)
{
	struct sim_gart *e;
	bool ok = false;

	spin_lock(&g->gart_lock);
	list_for_each_entry(e, &g->gart, link)
		if (addr >= e->addr && addr + len <= e->addr + e->size) {
			memcpy(e->kptr + (addr - e->addr), data, len);
			ok = true;
			break;
		}
	spin_unlock(&g->gart_lock);
	return ok;
}

/* ---- pages ---- */

static bool ram_full(struct sim_gpu *g)
{
	unsigned long limit = totalram_pages() / 100 * ram_limit_pct;

	return atomic_long_read(&g->ram_pages) >= limit;
}

/* Pins one page of a userptr. -EAGAIN: the mmap lock is taken, try later. */
static struct page *user_page(struct sim_bo *s, pgoff_t idx)
{
	unsigned long addr = s->uaddr + (idx << PAGE_SHIFT);
	struct page *page;
	int locked = 1;
	long n;

	if (!mmget_not_zero(s->mm))
		return ERR_PTR(-EFAULT);
	if (!mmap_read_trylock(s->mm)) {
		mmput_async(s->mm);
		return ERR_PTR(-EAGAIN);
	}
	n = pin_user_pages_remote(s->mm, addr, 1, FOLL_WRITE | FOLL_LONGTERM, &page, &locked);
	if (locked)
		mmap_read_unlock(s->mm);
	mmput_async(s->mm);
	return n == 1 ? page : ERR_PTR(n < 0 ? n : -EFAULT);
}

static void page_drop(struct sim_bo *s, struct page *page)
{
	if (s->kind == SIM_BO_USER) {
		unpin_user_pages_dirty_lock(&page, 1, true);
		return;
	}
	__free_page(page);
	atomic_long_dec(&to_sim(drm_to_adev(s->bo.tbo.base.dev))->ram_pages);
}

/**
 * sim_bo_page - the page behind a part of a buffer, made on first use
 * @s: the buffer, SIM_BO_RAM or SIM_BO_USER
 * @idx: page index in the buffer
 *
 * May sleep. Return: the page, valid as long as @s; or -EFAULT, -ENOMEM, -EAGAIN.
 */
struct page *sim_bo_page(struct sim_bo *s, pgoff_t idx)
{
	struct sim_gpu *g = to_sim(drm_to_adev(s->bo.tbo.base.dev));
	struct page *page = xa_load(&s->pages, idx), *old;

	if (page)
		return page;
	if (idx >= s->size >> PAGE_SHIFT || s->kind > SIM_BO_USER)
		return ERR_PTR(-EFAULT);
	if (s->kind == SIM_BO_USER) {
		page = user_page(s, idx);
		if (IS_ERR(page))
			return page;
	} else {
		if (ram_full(g))
			return ERR_PTR(-ENOMEM);
		page = alloc_page(GFP_KERNEL | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
		if (!page)
			return ERR_PTR(-ENOMEM);
		atomic_long_inc(&g->ram_pages);
	}
	old = xa_cmpxchg(&s->pages, idx, NULL, page, GFP_KERNEL);
	if (old) {
		page_drop(s, page);
		return xa_is_err(old) ? ERR_PTR(xa_err(old)) : old;
	}
	return page;
}

/**
 * sim_bo_vmap - a kernel mapping of a whole buffer
 * @s: the buffer, SIM_BO_RAM
 *
 * Populates all of it. Return: the address, valid as long as @s, or NULL.
 */
void *sim_bo_vmap(struct sim_bo *s)
{
	unsigned int i, n = s->size >> PAGE_SHIFT;
	struct page **pages;

	if (s->kind != SIM_BO_RAM)
		return NULL;
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
	if (i == n)
		s->kaddr = vmap(pages, n, VM_MAP, PAGE_KERNEL);
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

	if (s->gart_addr)
		gart_unbind(g, s->gart_addr);
	vunmap(s->kaddr);
	xa_for_each(&s->pages, idx, page) {
		page_drop(s, page);
		cond_resched();
	}
	xa_destroy(&s->pages);
	if (s->kind == SIM_BO_DOORBELL) {
		mutex_lock(&g->db_lock);
		bitmap_clear(g->db_pages, s->db_first, s->size >> PAGE_SHIFT);
		mutex_unlock(&g->db_lock);
	}
	if (s->mm)
		mmdrop(s->mm);
	atomic64_sub(s->vram, &g->vram_used);
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
	void *kaddr = sim_bo_vmap(s);

	mutex_lock(&s->lock);
	if (!s->gart_addr && kaddr)
		s->gart_addr = gart_bind(to_sim(drm_to_adev(bo->tbo.base.dev)), kaddr, s->size);
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

/* Doorbells: ~0 means "not rung". The firmware takes a ring out with xchg(). */
static struct sim_bo *doorbell_bo(struct sim_gpu *g, size_t size, void **cpu_ptr)
{
	struct sim_bo *s;
	unsigned long p;

	if (sim_fault(g, SIM_FAULT_ALLOC_DOORBELL))
		return NULL;
	s = sim_bo_new(g, SIM_BO_NONE, size);
	if (!s)
		return NULL;
	mutex_lock(&g->db_lock);
	p = bitmap_find_next_zero_area(g->db_pages, g->db_npages, 0, s->size >> PAGE_SHIFT, 0);
	if (p < g->db_npages) {
		bitmap_set(g->db_pages, p, s->size >> PAGE_SHIFT);
		s->kind = SIM_BO_DOORBELL;
		s->db_first = p;
	}
	mutex_unlock(&g->db_lock);
	if (s->kind != SIM_BO_DOORBELL) {
		dev_err(g->adev.dev, "kfdsim: no doorbell pages left of %u\n", g->db_npages);
		sim_bo_put(s);
		return NULL;
	}
	memset_io((void __iomem *)g->db + p * PAGE_SIZE, 0xff, s->size);
	if (cpu_ptr)
		*cpu_ptr = (__force void *)g->db + p * PAGE_SIZE;
	return s;
}

int amdgpu_bo_create_kernel(struct amdgpu_device *adev, unsigned long size, int align,
			    u32 domain, struct amdgpu_bo **bo_ptr, u64 *gpu_addr, void **cpu_addr)
{
	struct sim_gpu *g = to_sim(adev);
	struct sim_bo *s;

	if (domain == AMDGPU_GEM_DOMAIN_DOORBELL)
		s = doorbell_bo(g, size, cpu_addr);
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

uint32_t amdgpu_doorbell_index_on_bar(struct amdgpu_device *adev, struct amdgpu_bo *db_bo,
				      uint32_t idx, uint32_t db_size)
{
	return to_sbo(db_bo)->db_first * (PAGE_SIZE / 4) + idx * DIV_ROUND_UP(db_size, 4);
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
	amdgpu_bo_unref((struct amdgpu_bo **)mem_obj);
}

/* ---- global wave sync: what is shared is the hardware's; a token stands for it ---- */

int amdgpu_amdkfd_alloc_gws(struct amdgpu_device *adev, size_t size, void **mem_obj)
{
	struct sim_bo *s = sim_bo_new(to_sim(adev), SIM_BO_NONE, PAGE_SIZE);

	if (!s)
		return -ENOMEM;
	*mem_obj = &s->bo;
	return 0;
}

void amdgpu_amdkfd_free_gws(struct amdgpu_device *adev, void *mem_obj)
{
	struct amdgpu_bo *bo = mem_obj;

	amdgpu_bo_unref(&bo);
}

int amdgpu_amdkfd_add_gws_to_process(void *info, void *gws, struct kgd_mem **mem)
{
	struct kgd_mem *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return -ENOMEM;
	mutex_init(&m->lock);
	m->bo = amdgpu_bo_ref(gws);
	*mem = m;
	return 0;
}

int amdgpu_amdkfd_remove_gws_from_process(void *info, void *mem)
{
	struct kgd_mem *m = mem;

	amdgpu_bo_unref(&m->bo);
	mutex_destroy(&m->lock);
	kfree(m);
	return 0;
}

/**
 * sim_mem_init - before anything of amdkfd runs on this GPU
 * @g: the GPU
 */
int sim_mem_init(struct sim_gpu *g)
{
	spin_lock_init(&g->gart_lock);
	INIT_LIST_HEAD(&g->gart);
	g->gart_next = 0x7fff00000000ULL;
	mutex_init(&g->vm_lock);
	mutex_init(&g->db_lock);
	INIT_LIST_HEAD(&g->vms);
	g->pd_next = 0x100000;
	spin_lock_init(&g->adev.mman.bdev.lru_lock);
	g->db = devm_ioremap(&g->pdev->dev, g->adev.doorbell.base, g->adev.doorbell.size);
	if (g->db)
		memset_io(g->db, 0xff, g->adev.doorbell.size);	/* nothing is rung */
	g->db_npages = g->adev.doorbell.size >> PAGE_SHIFT;
	g->db_pages = drmm_kcalloc(&g->adev.ddev, BITS_TO_LONGS(g->db_npages),
				   sizeof(long), GFP_KERNEL);
	return g->db && g->db_pages ? 0 : -ENOMEM;
}

/**
 * sim_mem_fini - after amdkfd is gone
 * @g: the GPU
 */
void sim_mem_fini(struct sim_gpu *g)
{
	WARN(!list_empty(&g->gart), "kfdsim: GART entries left\n");
	WARN(!list_empty(&g->vms), "kfdsim: VMs left\n");
	WARN(atomic_long_read(&g->ram_pages), "kfdsim: %ld pages left\n",
	     atomic_long_read(&g->ram_pages));
	WARN(atomic64_read(&g->vram_used), "kfdsim: %lld bytes of VRAM left\n",
	     atomic64_read(&g->vram_used));
}
