// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: how much memory KFD processes may allocate, by amdgpu's rules.
 *
 * What counts is what was asked for, wherever it is and whether it has pages. All processes
 * together get the VRAM of a GPU less a reserve for page tables, 63/64 of the host's memory
 * less 1.5 GiB for GTT and userptrs, and half of it for GTT. So KFD processes alone never
 * exceed VRAM: pressure comes from others (debugfs vram_pressure). The host is one that would
 * carry such a GPU, not the guest that runs the model (host_mb).
 */
#include "sim.h"
#include "amdgpu_vm.h"
#include <linux/module.h>
#include <linux/seq_file.h>
#include <uapi/linux/kfd_ioctl.h>

static uint vram_mb;
module_param(vram_mb, uint, 0444);
MODULE_PARM_DESC(vram_mb, "VRAM of each GPU, MiB, 0: the profile's");

static uint host_mb = 65536;
module_param(host_mb, uint, 0444);
MODULE_PARM_DESC(host_mb, "memory of the host that is modelled, MiB: what KFD's limits for system memory follow from");

static uint gtt_mb;
module_param(gtt_mb, uint, 0644);
MODULE_PARM_DESC(gtt_mb, "memory that GPUs may address as GTT, MiB, 0: half of host_mb (amdgpu: TTM's limit)");

bool no_system_mem_limit;
module_param(no_system_mem_limit, bool, 0644);
MODULE_PARM_DESC(no_system_mem_limit, "as amdgpu");

#define VRAM_ALIGN	(2u << 20)	/* as amdgpu: the tail of a buffer does not fragment */
#define HOST_RESERVE	(3ULL << 29)

static DEFINE_SPINLOCK(limit_lock);	/* the following, and limit_* of all GPUs */
static u64 system_used, gtt_used, vram_total;

static u64 host_bytes(void)
{
	return (u64)host_mb << 20;
}

static u64 system_limit(void)
{
	u64 mem = host_bytes() - (host_bytes() >> 6);

	return mem < 2 * HOST_RESERVE ? mem / 2 : mem - HOST_RESERVE;
}

/**
 * sim_gtt_size - bytes that all GPUs may have in GTT
 */
u64 sim_gtt_size(void)
{
	return READ_ONCE(gtt_mb) ? (u64)READ_ONCE(gtt_mb) << 20 : host_bytes() / 2;
}

/**
 * sim_vram_size - bytes of VRAM
 * @g: the GPU; called once for each
 */
u64 sim_vram_size(struct sim_gpu *g)
{
	u64 size = (u64)(vram_mb ? : g->prof->vram_mb) << 20;

	spin_lock(&limit_lock);
	vram_total += size;
	spin_unlock(&limit_lock);
	return size;
}

/* An 8-byte entry for every 4 KiB page would be 1/512; amdgpu hopes for mostly large ones */
static u64 page_tables(void)
{
	return max((host_bytes() + vram_total) >> 14, (u64)AMDGPU_VM_RESERVED_VRAM);
}

static u64 vram_limit(struct sim_gpu *g)
{
	u64 size = g->adev.gmc.real_vram_size, pt = page_tables();

	return size > pt ? size - pt : 0;
}

/**
 * sim_limit_reserve - may a process have this much more?
 * @g: the GPU that it is for; may be NULL if @flags ask for system memory only
 * @size: bytes, whole pages
 * @flags: KFD_IOC_ALLOC_MEM_FLAGS_*
 *
 * Return: 0, until sim_limit_release(), or -ENOMEM
 */
int sim_limit_reserve(struct sim_gpu *g, u64 size, u32 flags)
{
	u64 system = 0, gtt = 0, vram = 0;
	int r = -ENOMEM;

	if (flags & KFD_IOC_ALLOC_MEM_FLAGS_VRAM)
		vram = size;
	else if (flags & KFD_IOC_ALLOC_MEM_FLAGS_GTT)
		system = gtt = size;
	else if (flags & KFD_IOC_ALLOC_MEM_FLAGS_USERPTR)
		system = size;
	spin_lock(&limit_lock);
	if (system_used + system > system_limit())
		pr_debug("Set no_system_mem_limit=1 if using shared memory\n");
	if ((system_used + system > system_limit() && !READ_ONCE(no_system_mem_limit)) ||
	    gtt_used + gtt > sim_gtt_size() ||
	    (g && g->limit_used + vram > vram_limit(g))) {
		pr_debug("Insufficient memory\n");
		goto out;
	}
	system_used += system;
	gtt_used += gtt;
	if (g) {
		g->limit_used += vram;
		g->limit_aligned += ALIGN(vram, VRAM_ALIGN);
	}
	r = 0;
out:
	spin_unlock(&limit_lock);
	return r;
}

/**
 * sim_limit_release - undo sim_limit_reserve()
 * @g: the GPU
 * @size: bytes
 * @flags: KFD_IOC_ALLOC_MEM_FLAGS_*, 0: nothing was reserved
 */
void sim_limit_release(struct sim_gpu *g, u64 size, u32 flags)
{
	spin_lock(&limit_lock);
	if (flags & KFD_IOC_ALLOC_MEM_FLAGS_VRAM) {
		g->limit_used -= size;
		g->limit_aligned -= ALIGN(size, VRAM_ALIGN);
	} else if (flags & KFD_IOC_ALLOC_MEM_FLAGS_GTT) {
		system_used -= size;
		gtt_used -= size;
	} else if (flags & KFD_IOC_ALLOC_MEM_FLAGS_USERPTR) {
		system_used -= size;
	}
	WARN_ONCE(g && (s64)g->limit_used < 0, "KFD VRAM memory accounting unbalanced");
	WARN_ONCE((s64)gtt_used < 0, "KFD TTM memory accounting unbalanced");
	WARN_ONCE((s64)system_used < 0, "KFD system memory accounting unbalanced");
	spin_unlock(&limit_lock);
}

size_t amdgpu_amdkfd_get_available_memory(struct amdgpu_device *adev, uint8_t xcp_id)
{
	struct sim_gpu *g = to_sim(adev);
	u64 limit, used;

	spin_lock(&limit_lock);
	limit = vram_limit(g);
	used = g->limit_aligned;
	spin_unlock(&limit_lock);
	return used < limit ? ALIGN_DOWN(limit - used, VRAM_ALIGN) : 0;
}

int kfd_debugfs_kfd_mem_limits(struct seq_file *m, void *data)
{
	spin_lock(&limit_lock);
	seq_printf(m, "System mem used %lldM out of %lluM\n", system_used >> 20,
		   system_limit() >> 20);
	seq_printf(m, "TTM mem used %lldM out of %lluM\n", gtt_used >> 20, sim_gtt_size() >> 20);
	spin_unlock(&limit_lock);
	return 0;
}
