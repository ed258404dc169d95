// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: what DRM clients do that do not use KFD: buffers (GEM), contexts, command submission, enough
 * of it that libdrm_amdgpu works and another client's buffers push KFD's out of VRAM.
 *
 * A buffer goes to the place that was asked for, VRAM or GTT, and back to it at each submission that names it
 * (BO list), as amdgpu's does: what is in the way is evicted, KFD's processes too. In between
 * anybody may push it out, since no fence holds it. An indirect buffer must lie in the client's address
 * space; it is not executed. Its fence is signaled when CS returns.
 * Everything else (metadata, sync objects, user fences of several engines, userptrs) is refused.
 */
#include "sim.h"
#include "amdgpu_object.h"
#include <linux/sched/signal.h>
#include <drm/amdgpu_drm.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>

#define MAX_CHUNKS	16
#define MAX_LIST	1024	/* buffers of a list */

/* A context: submissions so far, and resets of the GPU when it was made */
struct sim_ctx {
	u64 seq;
	s64 resets;
};

struct sim_bo_list {
	u32 n;
	struct sim_bo *bo[];
};

static struct sim_vm *file_vm(struct drm_file *file)
{
	return container_of(file->driver_priv, struct sim_vm, fpriv);
}

/* ---- buffers ---- */

/* With a reference; NULL: no such handle */
static struct sim_bo *lookup(struct drm_file *file, u32 handle)
{
	struct drm_gem_object *obj = drm_gem_object_lookup(file, handle);

	return obj ? to_sbo(gem_to_amdgpu_bo(obj)) : NULL;
}

static int gem_create(struct drm_device *dev, void *data, struct drm_file *file)
{
	union drm_amdgpu_gem_create *args = data;
	const u64 domains = AMDGPU_GEM_DOMAIN_VRAM | AMDGPU_GEM_DOMAIN_GTT | AMDGPU_GEM_DOMAIN_CPU;
	bool vram = args->in.domains & AMDGPU_GEM_DOMAIN_VRAM;
	struct sim_gpu *g = to_sim(drm_to_adev(dev));
	struct sim_bo *s;
	u32 handle;
	int r;

	if (!args->in.bo_size || !(args->in.domains & domains) || args->in.domains & ~domains)
		return -EINVAL;
	if (sim_fault(g, vram ? SIM_FAULT_ALLOC_VRAM : SIM_FAULT_ALLOC_GTT))
		return -ENOMEM;
	s = sim_bo_new(g, SIM_BO_RAM, args->in.bo_size);
	if (!s)
		return -ENOMEM;
	s->bo.preferred_domains = vram ? AMDGPU_GEM_DOMAIN_VRAM : AMDGPU_GEM_DOMAIN_GTT;
	r = sim_place(s, vram ? SIM_VRAM : SIM_GTT, NULL, true);
	if (r && vram)
		r = sim_place(s, SIM_GTT, NULL, true);
	if (!r)
		r = drm_gem_handle_create(file, &s->bo.tbo.base, &handle);
	sim_bo_put(s);
	if (r)
		return r;
	args->out = (struct drm_amdgpu_gem_create_out){ .handle = handle };
	return 0;
}

static int gem_mmap(struct drm_device *dev, void *data, struct drm_file *file)
{
	union drm_amdgpu_gem_mmap *args = data;
	struct sim_bo *s = lookup(file, args->in.handle);
	int r;

	if (!s)
		return -ENOENT;
	r = drm_gem_create_mmap_offset(&s->bo.tbo.base);
	if (!r)
		args->out.addr_ptr = drm_vma_node_offset_addr(&s->bo.tbo.base.vma_node);
	sim_bo_put(s);
	return r;
}

static int gem_wait_idle(struct drm_device *dev, void *data, struct drm_file *file)
{
	union drm_amdgpu_gem_wait_idle *args = data;
	struct sim_bo *s = lookup(file, args->in.handle);

	if (!s)
		return -ENOENT;
	args->out.status = 0;
	args->out.domain = READ_ONCE(s->place) == SIM_VRAM ? AMDGPU_GEM_DOMAIN_VRAM :
							     AMDGPU_GEM_DOMAIN_GTT;
	sim_bo_put(s);
	return 0;
}

static int gem_va(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_amdgpu_gem_va *args = data;
	struct sim_vm *vm = file_vm(file);
	struct sim_bo *s;
	int r;

	if (offset_in_page(args->va_address) || offset_in_page(args->offset_in_bo) ||
	    offset_in_page(args->map_size))
		return -EINVAL;
	if (args->operation == AMDGPU_VA_OP_UNMAP)
		return sim_vm_unmap_bo(vm, args->va_address);
	if (args->operation != AMDGPU_VA_OP_MAP)
		return -EINVAL;
	s = lookup(file, args->handle);
	if (!s)
		return -ENOENT;
	r = sim_vm_map_bo(vm, s, args->va_address, args->offset_in_bo, args->map_size,
			  !(args->flags & AMDGPU_VM_PAGE_WRITEABLE));
	sim_bo_put(s);
	return r;
}

/* ---- lists of buffers ---- */

static void list_free(struct sim_bo_list *l)
{
	u32 i;

	for (i = 0; l && i < l->n; i++)
		if (l->bo[i])
			sim_bo_put(l->bo[i]);
	kvfree(l);
}

static struct sim_bo_list *list_read(struct drm_file *file, const struct drm_amdgpu_bo_list_in *in)
{
	const struct drm_amdgpu_bo_list_entry __user *u = u64_to_user_ptr(in->bo_info_ptr);
	struct drm_amdgpu_bo_list_entry e;
	struct sim_bo_list *l;
	u32 i;

	if (in->bo_info_size != sizeof(e) || in->bo_number > MAX_LIST)
		return ERR_PTR(-EINVAL);
	l = kvzalloc(struct_size(l, bo, in->bo_number), GFP_KERNEL);
	if (!l)
		return ERR_PTR(-ENOMEM);
	l->n = in->bo_number;
	for (i = 0; i < l->n; i++) {
		if (copy_from_user(&e, u + i, sizeof(e))) {
			list_free(l);
			return ERR_PTR(-EFAULT);
		}
		l->bo[i] = lookup(file, e.bo_handle);
		if (!l->bo[i]) {
			list_free(l);
			return ERR_PTR(-ENOENT);
		}
	}
	return l;
}

static int bo_list(struct drm_device *dev, void *data, struct drm_file *file)
{
	union drm_amdgpu_bo_list *args = data;
	struct sim_vm *vm = file_vm(file);
	struct sim_bo_list *l;
	u32 handle = args->in.list_handle;
	int r = 0;

	switch (args->in.operation) {
	case AMDGPU_BO_LIST_OP_CREATE:
		l = list_read(file, &args->in);
		if (IS_ERR(l))
			return PTR_ERR(l);
		r = xa_alloc(&vm->lists, &handle, l, XA_LIMIT(1, INT_MAX), GFP_KERNEL);
		if (r)
			list_free(l);
		break;
	case AMDGPU_BO_LIST_OP_DESTROY:
		mutex_lock(&vm->client_lock);
		list_free(xa_erase(&vm->lists, handle));
		mutex_unlock(&vm->client_lock);
		handle = 0;
		break;
	default:
		r = -EINVAL;
	}
	if (!r)
		args->out = (struct drm_amdgpu_bo_list_out){ .list_handle = handle };
	return r;
}

/* ---- contexts ---- */

static int ctx(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct sim_gpu *g = to_sim(drm_to_adev(dev));
	union drm_amdgpu_ctx *args = data;
	struct sim_vm *vm = file_vm(file);
	u32 op = args->in.op, id = args->in.ctx_id;
	struct sim_ctx *c;
	int r = 0;

	if (op == AMDGPU_CTX_OP_ALLOC_CTX) {
		c = kzalloc(sizeof(*c), GFP_KERNEL);
		if (!c)
			return -ENOMEM;
		c->resets = atomic64_read(&g->n_reset);
		r = xa_alloc(&vm->ctxs, &id, c, XA_LIMIT(1, INT_MAX), GFP_KERNEL);
		if (r)
			kfree(c);
		memset(args, 0, sizeof(*args));
		args->out.alloc.ctx_id = id;
		return r;
	}
	mutex_lock(&vm->client_lock);
	c = xa_load(&vm->ctxs, id);
	if (!c) {
		r = -EINVAL;
	} else if (op == AMDGPU_CTX_OP_FREE_CTX) {
		kfree(xa_erase(&vm->ctxs, id));
	} else if (op == AMDGPU_CTX_OP_QUERY_STATE2) {
		memset(args, 0, sizeof(*args));
		if (c->resets != atomic64_read(&g->n_reset))
			args->out.state.flags = AMDGPU_CTX_QUERY2_FLAGS_RESET;
	} else {
		r = -EINVAL;
	}
	mutex_unlock(&vm->client_lock);
	return r;
}

/* ---- command submission ---- */

/**
 * struct submission - what the chunks of a CS say
 * @list: buffers that were passed with it
 * @fence: buffer that gets the sequence number
 * @fence_offset: where
 * @ibs: indirect buffers
 */
struct submission {
	struct sim_bo_list *list;
	struct sim_bo *fence;
	u32 fence_offset;
	u32 ibs;
};

static int read_ib(struct sim_vm *vm, const struct drm_amdgpu_cs_chunk_ib *ib)
{
	void *p = ERR_PTR(-EINVAL);
	u64 va = ib->va_start & ~3ULL;

	if (!ib->ib_bytes || (ib->ip_type != AMDGPU_HW_IP_COMPUTE && ib->ip_type != AMDGPU_HW_IP_DMA) ||
	    ib->ip_instance || ib->ring)
		return -EINVAL;
	mutex_lock(&vm->gpu->vm_lock);
	p = sim_vm_ptr(vm, va, 4, false);
	mutex_unlock(&vm->gpu->vm_lock);
	return PTR_ERR_OR_ZERO(p);
}

static int read_chunk(struct drm_file *file, const struct drm_amdgpu_cs_chunk *c, struct submission *sub)
{
	void __user *u = u64_to_user_ptr(c->chunk_data);
	union {
		struct drm_amdgpu_cs_chunk_ib ib;
		struct drm_amdgpu_cs_chunk_fence fence;
		struct drm_amdgpu_bo_list_in list;
	} d = {};
	struct sim_bo_list *l;

	if (copy_from_user(&d, u, min_t(size_t, c->length_dw * 4ULL, sizeof(d))))
		return -EFAULT;
	switch (c->chunk_id) {
	case AMDGPU_CHUNK_ID_IB:
		sub->ibs++;
		return c->length_dw * 4 < sizeof(d.ib) ? -EINVAL : read_ib(file_vm(file), &d.ib);
	case AMDGPU_CHUNK_ID_FENCE:
		if (c->length_dw * 4 < sizeof(d.fence) || sub->fence)
			return -EINVAL;
		sub->fence = lookup(file, d.fence.handle);
		sub->fence_offset = d.fence.offset;
		if (!sub->fence)
			return -ENOENT;
		return d.fence.offset % 8 || d.fence.offset >= sub->fence->size ? -EINVAL : 0;
	case AMDGPU_CHUNK_ID_BO_HANDLES:
		if (c->length_dw * 4 < sizeof(d.list) || sub->list)
			return -EINVAL;
		l = list_read(file, &d.list);
		if (IS_ERR(l))
			return PTR_ERR(l);
		sub->list = l;
		return 0;
	case AMDGPU_CHUNK_ID_DEPENDENCIES:
	case AMDGPU_CHUNK_ID_SCHEDULED_DEPENDENCIES:
		return 0;	/* all that came before is complete */
	}
	return -EINVAL;
}

static int read_chunks(struct drm_file *file, const struct drm_amdgpu_cs_in *in, struct submission *sub)
{
	const u64 __user *u = u64_to_user_ptr(in->chunks);
	struct drm_amdgpu_cs_chunk c;
	u64 at;
	u32 i;
	int r;

	if (!in->num_chunks || in->num_chunks > MAX_CHUNKS)
		return -EINVAL;
	for (i = 0; i < in->num_chunks; i++) {
		if (get_user(at, u + i) || copy_from_user(&c, u64_to_user_ptr(at), sizeof(c)))
			return -EFAULT;
		r = read_chunk(file, &c, sub);
		if (r)
			return r;
	}
	return sub->ibs ? 0 : -EINVAL;
}

/* The sequence number, as the engine writes it */
static int write_fence(const struct submission *sub, u64 seq)
{
	struct page *page = sim_bo_page(sub->fence, sub->fence_offset >> PAGE_SHIFT);

	if (IS_ERR(page))
		return PTR_ERR(page);
	WRITE_ONCE(*(u64 *)(page_address(page) + offset_in_page(sub->fence_offset)), seq);
	return 0;
}

static int cs(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct sim_vm *vm = file_vm(file);
	union drm_amdgpu_cs *args = data;
	struct submission sub = {};
	struct sim_bo_list *l;
	struct sim_ctx *c;
	int r;

	r = read_chunks(file, &args->in, &sub);
	if (r)
		goto out;
	mutex_lock(&vm->client_lock);
	c = xa_load(&vm->ctxs, args->in.ctx_id);
	l = args->in.bo_list_handle ? xa_load(&vm->lists, args->in.bo_list_handle) : sub.list;
	if (!c || (args->in.bo_list_handle && !l))
		r = !c ? -EINVAL : -ENOENT;
	if (!r && l)
		r = sim_place_all(l->bo, l->n);
	if (!r && sub.fence)
		r = write_fence(&sub, c->seq + 1);
	if (!r)
		args->out.handle = ++c->seq;
	mutex_unlock(&vm->client_lock);
out:
	if (sub.fence)
		sim_bo_put(sub.fence);
	list_free(sub.list);
	return r;
}

static int wait_cs(struct drm_device *dev, void *data, struct drm_file *file)
{
	union drm_amdgpu_wait_cs *args = data;
	struct sim_vm *vm = file_vm(file);
	struct sim_ctx *c;
	int r = 0;

	mutex_lock(&vm->client_lock);
	c = xa_load(&vm->ctxs, args->in.ctx_id);
	if (!c || (args->in.handle > c->seq && args->in.handle != ~0ULL))
		r = -EINVAL;
	mutex_unlock(&vm->client_lock);
	if (!r)
		args->out.status = 0;
	return r;
}

/**
 * sim_client_init - a render node file is opened
 * @vm: its address space
 */
void sim_client_init(struct sim_vm *vm)
{
	mutex_init(&vm->client_lock);
	xa_init_flags(&vm->ctxs, XA_FLAGS_ALLOC1);
	xa_init_flags(&vm->lists, XA_FLAGS_ALLOC1);
}

/**
 * sim_client_fini - it is closed
 * @vm: its address space
 */
void sim_client_fini(struct sim_vm *vm)
{
	struct sim_bo_list *l;
	struct sim_ctx *c;
	unsigned long i;

	xa_for_each(&vm->ctxs, i, c)
		kfree(c);
	xa_for_each(&vm->lists, i, l)
		list_free(l);
	xa_destroy(&vm->ctxs);
	xa_destroy(&vm->lists);
	mutex_destroy(&vm->client_lock);
}

const struct drm_ioctl_desc sim_ioctls[] = {
	DRM_IOCTL_DEF_DRV(AMDGPU_GEM_CREATE, gem_create, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AMDGPU_GEM_MMAP, gem_mmap, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AMDGPU_CTX, ctx, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AMDGPU_BO_LIST, bo_list, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AMDGPU_CS, cs, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AMDGPU_INFO, sim_info, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AMDGPU_GEM_WAIT_IDLE, gem_wait_idle, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AMDGPU_GEM_VA, gem_va, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AMDGPU_WAIT_CS, wait_cs, DRM_RENDER_ALLOW),
};
const int sim_num_ioctls = ARRAY_SIZE(sim_ioctls);
