// SPDX-License-Identifier: GPL-2.0 OR MIT
/* kfdsim: the few render node ioctls that libdrm_amdgpu needs to accept the device */
#include "sim.h"
#include <drm/amdgpu_drm.h>
#include <drm/drm_ioctl.h>

static int reply(struct drm_amdgpu_info *in, const void *data, size_t size)
{
	size_t n = min_t(size_t, in->return_size, size);

	return copy_to_user(u64_to_user_ptr(in->return_pointer), data, n) ? -EFAULT : 0;
}

static int info_device(struct amdgpu_device *adev, struct drm_amdgpu_info *in)
{
	const struct sim_profile *p = to_sim(adev)->prof;
	struct drm_amdgpu_info_device d = {
		.device_id = adev->pdev->device,
		.chip_rev = adev->rev_id,
		.pci_rev = p->pci_rev,
		.family = p->family,
		.num_shader_engines = p->num_se * p->num_xcc,
		.num_shader_arrays_per_engine = p->sa_per_se,
		.gpu_counter_freq = 100000,	/* kHz, see sim_gpu_clock() */
		.max_engine_clock = p->engine_mhz * 1000,
		.max_memory_clock = p->mem_mhz * 1000,
		.cu_active_number = sim_num_cu(p),
		.virtual_address_offset = 0x200000,
		.virtual_address_max = AMDGPU_GMC_HOLE_START,
		.virtual_address_alignment = PAGE_SIZE,
		.pte_fragment_size = 2 << 20,
		.gart_page_size = PAGE_SIZE,
		.vram_type = p->vram_type,
		.vram_bit_width = p->vram_bits,
		.wave_front_size = adev->gfx.cu_info.wave_front_size,
	};

	return reply(in, &d, sizeof(d));
}

static int info_memory(struct amdgpu_device *adev, struct drm_amdgpu_info *in)
{
	struct drm_amdgpu_memory_info m = {};
	struct sim_gpu *g = to_sim(adev);
	u64 used = sim_placed(g, SIM_VRAM) + READ_ONCE(g->pressure);

	m.vram.total_heap_size = adev->gmc.real_vram_size;
	m.vram.usable_heap_size = adev->gmc.real_vram_size;
	m.vram.heap_usage = used;
	m.vram.max_allocation = adev->gmc.real_vram_size - used;
	m.cpu_accessible_vram = m.vram;
	m.gtt.total_heap_size = sim_gtt_size();
	m.gtt.usable_heap_size = m.gtt.total_heap_size;
	m.gtt.heap_usage = sim_placed(g, SIM_GTT);
	m.gtt.max_allocation = m.gtt.total_heap_size;
	return reply(in, &m, sizeof(m));
}

/* One ring each of compute and SDMA for those who submit by DRM; there are no graphics */
static int info_hw_ip(struct amdgpu_device *adev, struct drm_amdgpu_info *in)
{
	struct drm_amdgpu_info_hw_ip ip = {};
	u32 version = 0;

	if (in->query_hw_ip.type == AMDGPU_HW_IP_COMPUTE)
		version = to_sim(adev)->prof->gc;
	else if (in->query_hw_ip.type == AMDGPU_HW_IP_DMA)
		version = to_sim(adev)->prof->sdma;
	if (version) {
		ip.hw_ip_version_major = IP_VERSION_MAJ(version);
		ip.hw_ip_version_minor = IP_VERSION_MIN(version);
		ip.ib_start_alignment = 256;
		ip.ib_size_alignment = 4;
		ip.available_rings = 1;
	}
	return reply(in, &ip, sizeof(ip));
}

/**
 * sim_info - DRM_IOCTL_AMDGPU_INFO
 * @dev: DRM device
 * @data: struct drm_amdgpu_info
 * @file: who asks
 */
int sim_info(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct amdgpu_device *adev = drm_to_adev(dev);
	struct drm_amdgpu_info *in = data;
	u32 one = 1;

	switch (in->query) {
	case AMDGPU_INFO_ACCEL_WORKING:
		return reply(in, &one, sizeof(one));
	case AMDGPU_INFO_DEV_INFO:
		return info_device(adev, in);
	case AMDGPU_INFO_MEMORY:
		return info_memory(adev, in);
	case AMDGPU_INFO_HW_IP_INFO:
		return info_hw_ip(adev, in);
	case AMDGPU_INFO_READ_MMR_REG:
	case AMDGPU_INFO_FW_VERSION:
	case AMDGPU_INFO_VRAM_GTT:
		/* registers and graphics engines that are not there read as 0 */
		return clear_user(u64_to_user_ptr(in->return_pointer), in->return_size) ?
			-EFAULT : 0;
	}
	return -EINVAL;
}
