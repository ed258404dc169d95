// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: buffers shared between processes and GPUs as dma-bufs.
 *
 * An import is another user of the same buffer, on whichever simulated GPU. Another GPU than
 * the exporter's sees system memory: a buffer in VRAM goes to GTT for it and stays there, as
 * with amdgpu where GPUs do not reach each other's memory (no CONFIG_DMABUF_MOVE_NOTIFY).
 * The buffer lives as long as the last of: its exporter, the dma-buf, its importers; it counts
 * as the exporter's VRAM. Other drivers cannot attach to it: that is refused.
 */
#include "sim.h"
#include "amdgpu_object.h"
#include <linux/dma-buf.h>
#include <uapi/linux/kfd_ioctl.h>
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_prime.h>

static int attach(struct dma_buf *dmabuf, struct dma_buf_attachment *attachment)
{
	return -EOPNOTSUPP;	/* there is no bus on which another device could reach it */
}

static struct sg_table *map(struct dma_buf_attachment *attachment, enum dma_data_direction dir)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static void unmap(struct dma_buf_attachment *attachment, struct sg_table *sgt,
		  enum dma_data_direction dir)
{
}

static const struct dma_buf_ops sim_dmabuf_ops = {
	.attach = attach,
	.map_dma_buf = map,
	.unmap_dma_buf = unmap,
	.release = drm_gem_dmabuf_release,
	.mmap = drm_gem_dmabuf_mmap,
};

/* The buffer behind a dma-buf of ours, no reference; NULL: not ours */
static struct sim_bo *dmabuf_bo(struct dma_buf *dmabuf)
{
	return dmabuf->ops == &sim_dmabuf_ops ? to_sbo(gem_to_amdgpu_bo(dmabuf->priv)) : NULL;
}

static struct dma_buf *export_bo(struct sim_bo *s, bool writable)
{
	struct drm_gem_object *obj = &s->bo.tbo.base;
	struct dma_buf_export_info info = {
		.exp_name = "amdgpu",
		.owner = THIS_MODULE,
		.ops = &sim_dmabuf_ops,
		.size = obj->size,
		.flags = writable ? O_RDWR : 0,
		.priv = obj,
		.resv = obj->resv,
	};

	return drm_gem_dmabuf_export(obj->dev, &info);
}

int amdgpu_amdkfd_gpuvm_export_dmabuf(struct kgd_mem *mem, struct dma_buf **dmabuf)
{
	struct sim_bo *s = to_sbo(mem->bo);
	struct dma_buf *d;
	int r = 0;

	if (s->kind != SIM_BO_RAM)
		return -EPERM;		/* userptrs are the process's own */
	mutex_lock(&mem->lock);
	if (!mem->dmabuf) {
		d = export_bo(s, mem->alloc_flags & KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE);
		if (IS_ERR(d))
			r = PTR_ERR(d);
		else
			mem->dmabuf = d;
	}
	if (!r) {
		get_dma_buf(mem->dmabuf);
		*dmabuf = mem->dmabuf;
	}
	mutex_unlock(&mem->lock);
	return r;
}

static int import_bo(struct sim_bo *s, struct dma_buf *dmabuf, u64 va, void *drm_priv,
		     struct sim_mem *m)
{
	struct sim_info *info = to_sinfo(drm_priv_to_vm(drm_priv)->process_info);
	const u32 flags = KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE | KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE;
	bool vram = s->bo.preferred_domains & AMDGPU_GEM_DOMAIN_VRAM;
	int r;

	if (to_svm(drm_priv_to_vm(drm_priv))->gpu != sim_bo_gpu(s)) {
		vram = false;
		r = sim_place_share(s);
		if (r)
			return r;
	}
	r = drm_vma_node_allow(&s->bo.tbo.base.vma_node, drm_priv);
	if (r)
		return r;
	mutex_lock(&info->info.lock);
	amdgpu_bo_ref(&s->bo);
	sim_mem_attach(m, info, s, flags | (vram ? KFD_IOC_ALLOC_MEM_FLAGS_VRAM :
						   KFD_IOC_ALLOC_MEM_FLAGS_GTT), va);
	m->m.domain = vram ? AMDGPU_GEM_DOMAIN_VRAM : AMDGPU_GEM_DOMAIN_GTT;
	get_dma_buf(dmabuf);
	m->m.dmabuf = dmabuf;
	m->m.is_imported = true;
	if (!s->pinned && !dma_fence_is_signaled(&info->info.eviction_fence->base))
		r = sim_bo_fence(s, info);
	if (r)
		sim_mem_detach(m);
	mutex_unlock(&info->info.lock);
	if (r) {
		drm_vma_node_revoke(&s->bo.tbo.base.vma_node, drm_priv);
		dma_buf_put(dmabuf);
		amdgpu_bo_unref(&m->m.bo);
		mutex_destroy(&m->m.lock);
	}
	return r;
}

/**
 * sim_dmabuf_import - a process uses the buffer behind a dma-buf
 * @dmabuf: the dma-buf
 * @va: address on the GPU
 * @drm_priv: the process's file of that GPU
 * @mem: set
 * @size: set if not NULL, bytes
 * @mmap_offset: set if not NULL
 *
 * Return: 0, -ENOMEM, or -EINVAL: it is none of ours
 */
int sim_dmabuf_import(struct dma_buf *dmabuf, u64 va, void *drm_priv, struct kgd_mem **mem,
		      u64 *size, u64 *mmap_offset)
{
	struct sim_bo *s = dmabuf_bo(dmabuf);
	struct sim_mem *m;
	int r;

	if (!s)
		return -EINVAL;
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		return -ENOMEM;
	r = import_bo(s, dmabuf, va, drm_priv, m);
	if (r) {
		kfree(m);
		return r;
	}
	if (size)
		*size = s->size;
	if (mmap_offset)
		*mmap_offset = drm_vma_node_offset_addr(&s->bo.tbo.base.vma_node);
	*mem = &m->m;
	return 0;
}

int amdgpu_amdkfd_gpuvm_import_dmabuf_fd(struct amdgpu_device *adev, int fd, uint64_t va,
					 void *drm_priv, struct kgd_mem **mem, uint64_t *size,
					 uint64_t *mmap_offset)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);
	int r;

	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	r = sim_dmabuf_import(dmabuf, va, drm_priv, mem, size, mmap_offset);
	dma_buf_put(dmabuf);
	return r;
}

int amdgpu_amdkfd_get_dmabuf_info(struct amdgpu_device *adev, int dma_buf_fd,
				  struct amdgpu_device **dmabuf_adev, uint64_t *bo_size,
				  void **metadata_buffer, size_t buffer_size,
				  uint32_t *metadata_size, uint32_t *flags, int8_t *xcp_id)
{
	struct dma_buf *dmabuf = dma_buf_get(dma_buf_fd);
	struct sim_bo *s;
	bool vram;

	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	s = dmabuf_bo(dmabuf);
	if (!s) {
		dma_buf_put(dmabuf);
		return -EINVAL;
	}
	vram = s->bo.preferred_domains & AMDGPU_GEM_DOMAIN_VRAM;
	if (dmabuf_adev)
		*dmabuf_adev = &sim_bo_gpu(s)->adev;
	if (bo_size)
		*bo_size = s->size;
	if (metadata_size)
		*metadata_size = 0;	/* it is for images; only graphics sets some */
	if (flags) {
		*flags = vram ? KFD_IOC_ALLOC_MEM_FLAGS_VRAM : KFD_IOC_ALLOC_MEM_FLAGS_GTT;
		if (s->bo.flags & AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED)
			*flags |= KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC;
	}
	if (xcp_id)
		*xcp_id = vram ? 0 : -1;
	dma_buf_put(dmabuf);
	return 0;
}
