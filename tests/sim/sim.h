/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdsim: a simulated GPU below the real amdkfd. What amdkfd sees as "amdgpu" is here.
 *
 * Locks, outermost first
 *	(amdkfd's own: process mutex, DQM lock, event locks; all may be held on entry)
 *	sim_hws.lock	mutex. The firmware: HIQ, runlist, engine, interrupts to be
 *			sent. Held by the firmware thread for one step, and by those
 *			who look at or change its state from outside.
 *	sim_gpu.vm_lock	mutex. The list of VMs, their mappings, their page directory
 *			numbers. The firmware holds it while it touches user memory.
 *	sim_bo.lock	mutex. A buffer's kernel mapping; its pages are an xarray.
 *	sim_gpu.gart_lock spinlock. GART entries.
 *	sim_gpu.db_lock	mutex. Doorbell pages of the BAR.
 *	sim_gpu.fault_lock spinlock, interrupts off. Settings of faults; innermost.
 *	sim_hws.irq_lock mutex, alone: kgd2kfd_interrupt() runs under it and under
 *			none of the above.
 * The mmap lock of a process is only ever tried under these (userptr pages): the
 * firmware must not wait for whoever waits for it. Nothing here calls into amdkfd
 * with a lock held, but for irq_lock.
 */
#ifndef KFDSIM_SIM_H
#define KFDSIM_SIM_H

#include "amdgpu.h"
#include "amdgpu_amdkfd.h"
#include "amdgpu_reset.h"
#include <linux/xarray.h>
#include <drm/drm_file.h>
#include "kgd_compat.h"
#include "profiles.h"
#include "fault.h"

struct sim_hws;

/**
 * struct sim_gpu - one simulated GPU
 * @adev: what amdkfd sees; must stay first
 * @prof: the figures of the GPU that is modelled
 * @pdev: QEMU's ivshmem-plain device
 * @real_vendor: its PCI vendor, restored at removal
 * @real_device: its PCI device, restored at removal
 * @index: number of the GPU among the simulated ones
 * @gart_lock: guards @gart and @gart_next
 * @gart: GART entries, see mem.c
 * @gart_next: next free GART address
 * @vm_lock: guards @vms, each VM's mappings and @pd_next
 * @vms: open render files
 * @pd_next: next page directory number
 * @db_lock: guards @db_pages
 * @db: doorbell BAR
 * @db_pages: its pages in use
 * @db_npages: how many it has
 * @ram_pages: guest pages behind the BOs
 * @vram_used: bytes of VRAM allocated
 * @hws: the firmware
 * @leaving: it is being removed, no reset begins (READ_ONCE)
 * @reset_why: of the next reset, for the log and the SMI event
 * @n_reset: resets done
 * @dbg: debugfs directory
 * @fault_lock: guards @faults
 * @faults: settings of the faults on request
 */
struct sim_gpu {
	struct amdgpu_device adev;
	const struct sim_profile *prof;
	struct pci_dev *pdev;
	u16 real_vendor, real_device;
	unsigned int index;
	spinlock_t gart_lock;
	struct list_head gart;
	u64 gart_next;
	struct mutex vm_lock;
	struct list_head vms;
	u64 pd_next;
	struct mutex db_lock;
	u64 __iomem *db;
	unsigned long *db_pages;
	unsigned int db_npages;
	atomic_long_t ram_pages;
	atomic64_t vram_used;
	struct sim_hws *hws;
	bool leaving;
	const char *reset_why;
	atomic64_t n_reset;
	struct dentry *dbg;
	spinlock_t fault_lock;
	struct sim_fault_point faults[SIM_FAULTS];
};

enum sim_bo_kind {
	SIM_BO_RAM,		/* guest pages, allocated when first touched */
	SIM_BO_USER,		/* pages of a process (userptr), pinned when first touched */
	SIM_BO_DOORBELL,	/* pages of the doorbell BAR */
	SIM_BO_NONE,		/* an address without memory: I/O seen by the GPU, VM roots */
};

/**
 * struct sim_bo - a buffer object
 * @bo: what amdkfd sees; must stay first
 * @kind: what is behind it
 * @size: bytes, whole pages
 * @vram: bytes counted in sim_gpu.vram_used
 * @lock: guards @kaddr
 * @pages: page index -> struct page
 * @kaddr: kernel mapping of all of it, or NULL
 * @mm: SIM_BO_USER: whose memory
 * @uaddr: SIM_BO_USER: where
 * @db_first: SIM_BO_DOORBELL: first page of the BAR
 * @gart_addr: its address in GART, 0 when not bound
 */
struct sim_bo {
	struct amdgpu_bo bo;
	enum sim_bo_kind kind;
	size_t size;
	size_t vram;
	struct mutex lock;
	struct xarray pages;
	void *kaddr;
	struct mm_struct *mm;
	unsigned long uaddr;
	unsigned int db_first;
	u64 gart_addr;
};

/**
 * struct sim_vm - a GPU address space: one open render node file
 * @fpriv: what amdkfd sees; must stay first, it is drm_file.driver_priv
 * @link: in sim_gpu.vms
 * @maps: struct sim_va, most recently used first
 * @gpu: whose
 * @pd: number that stands for its page directory in MAP_PROCESS
 */
struct sim_vm {
	struct amdgpu_fpriv fpriv;
	struct list_head link, maps;
	struct sim_gpu *gpu;
	u64 pd;
};

static inline struct sim_gpu *to_sim(struct amdgpu_device *adev)
{
	return container_of(adev, struct sim_gpu, adev);
}

static inline struct sim_bo *to_sbo(struct amdgpu_bo *bo)
{
	return container_of(bo, struct sim_bo, bo);
}

static inline struct sim_vm *to_svm(struct amdgpu_vm *vm)
{
	return container_of(vm, struct sim_vm, fpriv.vm);
}

/* mem.c */
int sim_mem_init(struct sim_gpu *g);
void sim_mem_fini(struct sim_gpu *g);
struct sim_bo *sim_bo_new(struct sim_gpu *g, enum sim_bo_kind kind, size_t size);
void sim_bo_put(struct sim_bo *s);
struct page *sim_bo_page(struct sim_bo *s, pgoff_t idx);
void *sim_bo_vmap(struct sim_bo *s);
void *sim_gart_ptr(struct sim_gpu *g, u64 addr, size_t len);
bool sim_gart_write(struct sim_gpu *g, u64 addr, const void *data, size_t len);

/* gpuvm.c */
int sim_drm_open(struct drm_device *dev, struct drm_file *file);
void sim_drm_postclose(struct drm_device *dev, struct drm_file *file);
struct sim_vm *sim_vm_by_pd(struct sim_gpu *g, u64 pd);
void *sim_vm_ptr(struct sim_vm *vm, u64 va, size_t len);
struct dma_fence *sim_vm_eviction_fence(struct sim_gpu *g, pid_t pid);
extern const struct file_operations sim_drm_fops;

/* drm_info.c */
extern const struct drm_ioctl_desc sim_ioctls[];
extern const int sim_num_ioctls;

/* remove.c */
void sim_kfd_stop(struct sim_gpu *g);

/* reset.c */
#define SIM_RESET_HANG	"scheduler hang"
void sim_reset_work(struct work_struct *work);
void sim_reset_request(struct sim_gpu *g);

/* kgd.c */
u64 sim_gpu_clock(void);

#endif
