// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: GPU address spaces.
 *
 * A VM is a list of mappings. Its "page directory" is a number that amdkfd carries in
 * MAP_PROCESS packets, by which the firmware finds the VM again. A mapping names a buffer,
 * whichever GPU that belongs to: a peer's memory is reached as one's own.
 * Not modelled: page tables, TLBs, access rights but for memory that is read-only.
 */
#include "sim.h"
#include "amdgpu_object.h"
#include <uapi/linux/kfd_ioctl.h>
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>

/* A buffer of a process at an address; twice for AQL rings of GFX7 and 8 */
struct sim_va {
	struct list_head link;
	struct sim_mem *mem;
	bool readonly;
	u64 offset;	/* in the buffer, pages */
	struct amdgpu_bo_va bo_va;
	struct amdgpu_bo_va_mapping m;
};

static DEFINE_MUTEX(gpus_lock);
static LIST_HEAD(gpus);

static void del_gpu(void *data)
{
	struct sim_gpu *g = data;

	mutex_lock(&gpus_lock);
	list_del(&g->link);
	mutex_unlock(&gpus_lock);
}

/**
 * sim_vm_add_gpu - a GPU that will have address spaces, until its device is unbound
 * @g: the GPU
 */
int sim_vm_add_gpu(struct sim_gpu *g)
{
	mutex_init(&g->vm_lock);
	INIT_LIST_HEAD(&g->vms);
	g->pd_next = 0x100000;
	mutex_lock(&gpus_lock);
	list_add(&g->link, &gpus);
	mutex_unlock(&gpus_lock);
	return devm_add_action_or_reset(&g->pdev->dev, del_gpu, g);
}

/**
 * sim_vm_sync - wait until no firmware uses a page that it found before
 *
 * As a flush of all TLBs: whoever has made pages unreachable may then give them away. Called
 * from MMU notifiers, so neither lock may be held while memory is reclaimed.
 */
void sim_vm_sync(void)
{
	struct sim_gpu *g;

	mutex_lock(&gpus_lock);
	list_for_each_entry(g, &gpus, link) {
		mutex_lock(&g->vm_lock);
		mutex_unlock(&g->vm_lock);
	}
	mutex_unlock(&gpus_lock);
}

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
	struct amdgpu_bo *bo;
	int r;

	if (!vm)
		return -ENOMEM;
	root = sim_bo_new(g, SIM_BO_NONE, PAGE_SIZE);	/* amdkfd reserves it, no more */
	if (!root) {
		kfree(vm);
		return -ENOMEM;
	}
	INIT_LIST_HEAD(&vm->maps);
	vm->gpu = g;
	sim_client_init(vm);
	if (SIM_VM_HAS_PASID) {
		r = amdgpu_pasid_alloc(16);
		if (r < 0)
			goto err_root;
		vm->fpriv.vm.pasid = r;
	}
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

err_root:
	sim_client_fini(vm);
	bo = &root->bo;
	amdgpu_bo_unref(&bo);
	kfree(vm);
	return r;
}

/* Frees mappings that are not reachable any more. Not under vm_lock: BOs may go with them */
static void free_vas(struct list_head *list)
{
	struct sim_va *v, *n;
	struct amdgpu_bo *bo;

	list_for_each_entry_safe(v, n, list, link) {
		bo = v->bo_va.base.bo;
		amdgpu_bo_unref(&bo);
		kfree(v);
	}
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
	LIST_HEAD(gone);

	mutex_lock(&vm->gpu->vm_lock);
	list_del(&vm->link);
	list_splice(&vm->maps, &gone);
	mutex_unlock(&vm->gpu->vm_lock);
	free_vas(&gone);
	sim_client_fini(vm);
	amdgpu_amdkfd_gpuvm_destroy_cb(&vm->gpu->adev, &fpriv->vm);
	if (SIM_VM_HAS_PASID)
		amdgpu_pasid_free(fpriv->vm.pasid);
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
 * sim_vm_by_pd - the VM that a MAP_PROCESS packet names; the one used last is found first
 * @g: the GPU, vm_lock held
 * @pd: page directory number
 */
struct sim_vm *sim_vm_by_pd(struct sim_gpu *g, u64 pd)
{
	struct sim_vm *vm;

	lockdep_assert_held(&g->vm_lock);
	list_for_each_entry(vm, &g->vms, link)
		if (vm->pd == pd) {
			/* the firmware asks with each access; there may be a thousand */
			list_move(&vm->link, &g->vms);
			return vm;
		}
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
 * @write: it may be written to
 *
 * Return: the address, valid until vm_lock is dropped; or -EFAULT (nothing mapped, or
 * nothing that has memory), -EACCES (read-only), -ENOMEM, -EAGAIN (ask again later).
 */
void *sim_vm_ptr(struct sim_vm *vm, u64 va, size_t len, bool write)
{
	struct sim_va *v = va_find(vm, va >> PAGE_SHIFT);
	struct page *page;
	struct sim_bo *s;

	if (!v || offset_in_page(va) + len > PAGE_SIZE)
		return ERR_PTR(-EFAULT);
	if (write && v->readonly)
		return ERR_PTR(-EACCES);
	s = to_sbo(v->bo_va.base.bo);
	if (s->kind == SIM_BO_RINGS)
		return (__force void *)sim_bo_gpu(s)->db + ((u64)s->db_first << PAGE_SHIFT) +
		       (va - (v->m.start << PAGE_SHIFT));
	page = sim_bo_page(s, (va >> PAGE_SHIFT) - v->m.start + v->offset);
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

/* With several mappings of a BO: the one that queues use */
struct amdgpu_bo_va *amdgpu_vm_bo_find(struct amdgpu_vm *vm, struct amdgpu_bo *bo)
{
	struct sim_vm *sv = to_svm(vm);
	struct amdgpu_bo_va *found = NULL;
	struct sim_va *v;

	mutex_lock(&sv->gpu->vm_lock);
	list_for_each_entry(v, &sv->maps, link)
		if (v->bo_va.base.bo == bo && (!found || SIM_BO_VA_QUEUE_REFS(&v->bo_va)))
			found = &v->bo_va;
	mutex_unlock(&sv->gpu->vm_lock);
	return found;
}

/* ---- mappings ---- */

static bool is_mapped(struct sim_vm *vm, struct kgd_mem *mem)
{
	struct sim_va *v;

	lockdep_assert_held(&vm->gpu->vm_lock);
	list_for_each_entry(v, &vm->maps, link)
		if (v->mem == to_smem(mem))
			return true;
	return false;
}

/**
 * sim_vm_mapped - is a buffer mapped here?
 * @vm: the address space
 * @mem: the buffer
 */
bool sim_vm_mapped(struct sim_vm *vm, struct kgd_mem *mem)
{
	bool r;

	mutex_lock(&vm->gpu->vm_lock);
	r = is_mapped(vm, mem);
	mutex_unlock(&vm->gpu->vm_lock);
	return r;
}

static bool overlaps(struct sim_vm *vm, u64 first, u64 last)
{
	struct sim_va *v;

	list_for_each_entry(v, &vm->maps, link)
		if (first <= v->m.last && last >= v->m.start)
			return true;
	return false;
}

static struct sim_va *new_va(struct sim_vm *vm, struct sim_mem *mem, u64 va)
{
	struct sim_va *v = kzalloc(sizeof(*v), GFP_KERNEL);

	if (!v)
		return NULL;
	v->mem = mem;
	v->readonly = !(mem->m.alloc_flags & KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE);
	v->bo_va.base.vm = &vm->fpriv.vm;
	v->bo_va.base.bo = amdgpu_bo_ref(mem->m.bo);
	v->m.bo_va = &v->bo_va;
	v->m.start = va >> PAGE_SHIFT;
	v->m.last = v->m.start + (to_sbo(mem->m.bo)->size >> PAGE_SHIFT) - 1;
	return v;
}

/**
 * sim_vm_map - map a buffer at its address; nothing to do if it is already
 * @vm: the address space
 * @mem: the buffer, its lock held
 *
 * Return: 0, -ENOMEM, or -EINVAL: something else is mapped there
 */
int sim_vm_map(struct sim_vm *vm, struct sim_mem *mem)
{
	size_t size = to_sbo(mem->m.bo)->size;
	u64 first = mem->m.va >> PAGE_SHIFT, last;
	struct sim_va *v;
	LIST_HEAD(new);
	int i, r = 0;

	lockdep_assert_held(&mem->m.lock);
	for (i = 0; i <= mem->m.aql_queue; i++) {
		v = new_va(vm, mem, mem->m.va + i * size);
		if (!v) {
			free_vas(&new);
			return -ENOMEM;
		}
		list_add(&v->link, &new);
	}
	last = first + i * (size >> PAGE_SHIFT) - 1;
	mutex_lock(&vm->gpu->vm_lock);
	if (!is_mapped(vm, &mem->m)) {
		if (overlaps(vm, first, last)) {
			r = -EINVAL;
		} else {
			list_splice_init(&new, &vm->maps);
			mem->m.mapped_to_gpu_memory += i;
		}
	}
	mutex_unlock(&vm->gpu->vm_lock);
	free_vas(&new);
	if (r)
		dev_err(vm->gpu->adev.dev, "kfdsim: va %#llx-%#llx conflicts with another mapping\n",
			first << PAGE_SHIFT, (last + 1) << PAGE_SHIFT);
	return r;
}

/**
 * sim_vm_unmap - undo sim_vm_map()
 * @vm: the address space
 * @mem: the buffer, its lock held
 *
 * Return: 0, -EBUSY: a queue uses it, -EINVAL: it is not mapped
 */
int sim_vm_unmap(struct sim_vm *vm, struct sim_mem *mem)
{
	struct sim_va *v, *n;
	LIST_HEAD(gone);
	int r = -EINVAL;

	lockdep_assert_held(&mem->m.lock);
	mutex_lock(&vm->gpu->vm_lock);
	list_for_each_entry_safe(v, n, &vm->maps, link) {
		if (v->mem != mem)
			continue;
		if (SIM_BO_VA_QUEUE_REFS(&v->bo_va)) {
			r = -EBUSY;
			break;
		}
		list_move(&v->link, &gone);
		mem->m.mapped_to_gpu_memory--;
		r = 0;
	}
	mutex_unlock(&vm->gpu->vm_lock);
	free_vas(&gone);
	return r;
}

/**
 * sim_vm_map_bo - map a buffer of a DRM client
 * @vm: the address space
 * @s: the buffer
 * @va: where
 * @offset: where the mapping begins in the buffer
 * @size: bytes
 * @readonly: not to be written to
 *
 * All in whole pages. Return: 0, -ENOMEM, -EINVAL: not in the buffer, or something else is mapped there
 */
int sim_vm_map_bo(struct sim_vm *vm, struct sim_bo *s, u64 va, u64 offset, u64 size, bool readonly)
{
	struct sim_va *v;
	int r = -EINVAL;

	if (!size || offset >= s->size || size > s->size - offset || va + size < va)
		return -EINVAL;
	v = kzalloc(sizeof(*v), GFP_KERNEL);
	if (!v)
		return -ENOMEM;
	v->readonly = readonly;
	v->offset = offset >> PAGE_SHIFT;
	v->bo_va.base.vm = &vm->fpriv.vm;
	v->m.bo_va = &v->bo_va;
	v->m.start = va >> PAGE_SHIFT;
	v->m.last = v->m.start + (size >> PAGE_SHIFT) - 1;
	mutex_lock(&vm->gpu->vm_lock);
	if (!overlaps(vm, v->m.start, v->m.last)) {
		v->bo_va.base.bo = amdgpu_bo_ref(&s->bo);
		list_add(&v->link, &vm->maps);
		r = 0;
	}
	mutex_unlock(&vm->gpu->vm_lock);
	if (r)
		kfree(v);
	return r;
}

/**
 * sim_vm_unmap_bo - undo sim_vm_map_bo()
 * @vm: the address space
 * @va: where it begins
 *
 * Return: 0, or -ENOENT: no such mapping
 */
int sim_vm_unmap_bo(struct sim_vm *vm, u64 va)
{
	struct sim_va *v;
	LIST_HEAD(gone);

	mutex_lock(&vm->gpu->vm_lock);
	list_for_each_entry(v, &vm->maps, link)
		if (!v->mem && v->m.start == va >> PAGE_SHIFT) {
			list_move(&v->link, &gone);
			break;
		}
	mutex_unlock(&vm->gpu->vm_lock);
	if (list_empty(&gone))
		return -ENOENT;
	free_vas(&gone);
	return 0;
}
