/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdsim: a simulated GPU below the real amdkfd. What amdkfd sees as "amdgpu" is here.
 *
 * Locks, outermost first
 *	kfd_process.mutex amdkfd's; held by most ioctls
 *	sim_info.info.lock mutex. The buffers of a process, its eviction fence; held
 *			while memory is found for them and while the pages of userptrs
 *			are looked up. Waits for eviction fences of OTHER processes: what
 *			signals those takes none of the locks above.
 *	restore_mutex	(evict.c) one process at a time gets its buffers back.
 *	kgd_mem.lock	mutex. Where one buffer is mapped.
 *	mmap_lock	of a process, for hmm_range_fault() and its notifiers
 *	sim_info.notifier_lock mutex. Which userptrs are invalid. Taken by MMU notifiers, so
 *			nothing that allocates memory with reclaim, or waits for an
 *			mmap lock, may hold it or anything below it.
 *	DQM lock	amdkfd's; its holders do not reclaim (memalloc_noreclaim). They
 *			wait for the firmware.
 *	gpus_lock	(vm.c) mutex. The list of GPUs.
 *	sim_hws.lock	mutex. The firmware: HIQ, runlist, engine, interrupts to be
 *			sent. Held by the firmware thread for one step, and by those
 *			who look at or change its state from outside.
 *	sim_gpu.vm_lock	mutex. The list of VMs, their mappings, their page directory
 *			numbers. The firmware holds it while it touches user memory:
 *			whoever has taken and dropped it knows that the firmware has
 *			forgotten all pages it had found before (sim_vm_sync()).
 *	sim_bo.lock	mutex. A buffer's kernel mapping; its pages are an xarray. Not
 *			taken by the firmware, so it may allocate.
 *	dma_resv	of a buffer: its fences. One at a time, held for moments only.
 *	sim_gpu.gart_lock spinlock. GART entries.
 *	sim_gpu.db_lock	mutex. Doorbell pages of the BAR.
 *	sim_gpu.place_lock spinlock. Where buffers are (VRAM, GTT, system), who uses them.
 *	sim_info.ef_lock spinlock. The pointer to the eviction fence, for readers without
 *			sim_info.info.lock.
 *	sim_gpu.fault_lock spinlock, interrupts off. Settings of faults; innermost.
 *	sim_hws.irq_lock mutex, alone: kgd2kfd_interrupt() runs under it and under
 *			none of the above.
 * The firmware thread never waits for an mmap lock and never reclaims memory: pages of
 * userptrs that it lacks are looked up by a worker (userptr.c), and it asks again.
 * kgd2kfd_quiesce_mm() and _resume_mm() are called with notifier_lock held, as by amdgpu;
 * nothing else here calls into amdkfd with a lock of this list held, but for irq_lock.
 */
#ifndef KFDSIM_SIM_H
#define KFDSIM_SIM_H

#ifdef SIM_ROCM
#include "backport/backport.h"
#endif
#include "amdgpu.h"
#include "amdgpu_amdkfd.h"
#include "amdgpu_reset.h"
#include <linux/mmu_notifier.h>
#include <linux/xarray.h>
#include <drm/drm_file.h>
#include "kgd_compat.h"
#include "profiles.h"
#include "fault.h"

struct seq_file;
struct sim_hws;
struct sim_info;
struct sim_user;

#define SIM_WATCHES	4	/* watch points of the shader debugger */

/* Where the memory of a buffer is. Its pages stay the same, only the accounting moves. */
enum sim_place { SIM_NOWHERE, SIM_VRAM, SIM_GTT, SIM_SYSTEM, SIM_PLACES };

/**
 * struct sim_place_stats - what memory pressure did; sim_gpu.place_lock guards it
 * @evictions: buffers moved out of VRAM
 * @restores: buffers moved back
 * @restored: processes that got their buffers back
 * @restored_gtt: their buffers that had to stay outside VRAM
 * @failed: attempts to do so that failed
 */
struct sim_place_stats {
	u64 evictions, restores, restored, restored_gtt, failed;
};

/**
 * struct sim_gpu - one simulated GPU
 * @adev: what amdkfd sees; must stay first
 * @prof: the figures of the GPU that is modelled
 * @pdev: QEMU's ivshmem-plain device
 * @real_vendor: its PCI vendor, restored at removal
 * @real_device: its PCI device, restored at removal
 * @index: number of the GPU among the simulated ones
 * @link: in the list of all GPUs
 * @gart_lock: guards @gart and @gart_next
 * @gart: GART entries by address, see mem.c
 * @gart_next: next free GART address
 * @vm_lock: guards @vms, each VM's mappings and @pd_next
 * @vms: open render files
 * @pd_next: next page directory number
 * @db_lock: guards @db_pages
 * @db: doorbell BAR
 * @db_pages: its pages in use
 * @db_npages: how many it has
 * @ram_pages: guest pages behind the BOs
 * @left_by_stock: of them, those that a known fault of stock amdkfd leaves, as debugfs was told
 * @user_pages: pages of userptrs that the GPU knows
 * @notified: invalidations of userptrs by their process's address space
 * @user_restores: times that the pages of a process's userptrs were looked up again
 * @place_lock: guards the following, and @place, @hold, @lru and @mems of buffers
 * @placed: bytes in each place
 * @lru: buffers in VRAM, those longest there first
 * @pressure: bytes of VRAM that somebody else has
 * @stats: what pressure did
 * @limit_used: bytes of VRAM promised to KFD processes, see limit.c
 * @limit_aligned: the same, each buffer rounded up to 2 MiB
 * @hws: the firmware
 * @leaving: it is being removed, no reset begins (READ_ONCE)
 * @reset_why: of the next reset, for the log and the SMI event
 * @n_reset: resets done
 * @mapped_freed: memory of a queue that was freed while the queue was mapped, see mapped.c
 * @mapped_moved: processes whose buffers moved while a queue of them was mapped, likewise
 * @asleep: suspended to RAM (xchg)
 * @dbg: debugfs directory
 * @fault_lock: guards @faults
 * @faults: settings of the faults on request
 * @dbg_regs: registers of the shader debugger (READ_ONCE), see debugger.c: TCP_WATCH?_ADDR and _CNTL,
 *	SPI_GDBG_TRAP_MASK, SPI_GDBG_WAVE_CNTL2
 */
struct sim_gpu {
	struct amdgpu_device adev;
	const struct sim_profile *prof;
	struct pci_dev *pdev;
	u16 real_vendor, real_device;
	unsigned int index;
	struct list_head link;
	spinlock_t gart_lock;
	struct rb_root gart;
	u64 gart_next;
	struct mutex vm_lock;
	struct list_head vms;
	u64 pd_next;
	struct mutex db_lock;
	u64 __iomem *db;
	unsigned long *db_pages;
	unsigned int db_npages;
	atomic_long_t ram_pages;
	u32 left_by_stock;
	atomic_long_t user_pages;
	atomic64_t notified, user_restores;
	spinlock_t place_lock;
	u64 placed[SIM_PLACES];
	struct list_head lru;
	u64 pressure;
	struct sim_place_stats stats;
	u64 limit_used, limit_aligned;
	struct sim_hws *hws;
	bool leaving;
	const char *reset_why;
	atomic64_t n_reset;
	atomic64_t mapped_freed, mapped_moved;
	bool asleep;
	struct dentry *dbg;
	spinlock_t fault_lock;
	struct sim_fault_point faults[SIM_FAULTS];
	struct {
		u64 watch_addr[SIM_WATCHES];
		u32 watch_cntl[SIM_WATCHES];
		u32 trap_mask;
		u32 wave_cntl2;
	} dbg_regs;
};

enum sim_bo_kind {
	SIM_BO_RAM,		/* guest pages, allocated when first touched */
	SIM_BO_USER,		/* pages of a process (userptr), see userptr.c */
	SIM_BO_DOORBELL,	/* pages of the doorbell BAR */
	SIM_BO_RINGS,		/* a process's doorbells again, for its GPU to ring */
	SIM_BO_NONE,		/* an address without memory: VM roots, remapped registers */
};

/**
 * struct sim_bo - a buffer object
 * @bo: what amdkfd sees; must stay first
 * @kind: what is behind it
 * @size: bytes, whole pages
 * @limit: KFD_IOC_ALLOC_MEM_FLAGS_* under which its size counts, 0: none
 * @lock: guards @kaddr and @gart_addr
 * @pages: SIM_BO_RAM: page index -> struct page
 * @kaddr: kernel mapping of all of it, or NULL
 * @gart_addr: its address in GART, 0 when not bound
 * @db_first: SIM_BO_DOORBELL and _RINGS: first page of the BAR
 * @user: SIM_BO_USER: whose memory
 * @place: where it is
 * @lru: in sim_gpu.lru while @place is SIM_VRAM
 * @hold: who is about to move it or needs it to stay, NULL: nobody
 * @pinned: it stays where it is
 * @mems: struct sim_mem, who uses it
 */
struct sim_bo {
	struct amdgpu_bo bo;
	enum sim_bo_kind kind;
	size_t size;
	u32 limit;
	struct mutex lock;
	struct xarray pages;
	void *kaddr;
	u64 gart_addr;
	unsigned int db_first;
	struct sim_user *user;
	enum sim_place place;
	struct list_head lru;
	const void *hold;
	bool pinned;
	struct list_head mems;
};

/**
 * struct sim_mem - a buffer of a process
 * @m: what amdkfd sees; must stay first
 * @info: whose
 * @link: in sim_info.mems or sim_info.users, under sim_info.info.lock
 * @bo_link: in sim_bo.mems
 */
struct sim_mem {
	struct kgd_mem m;
	struct sim_info *info;
	struct list_head link, bo_link;
};

/**
 * struct sim_info - the memory of a process, on all GPUs
 * @info: what amdkfd sees; must stay first
 * @mems: its buffers, but for userptrs and I/O
 * @users: its userptrs
 * @ef_lock: guards info.eviction_fence together with info.lock: either to read, both to write
 * @notifier_lock: guards @invalidated and which userptrs are invalid
 * @invalidated: invalidations of userptrs since all were valid; not 0: queues are stopped
 */
struct sim_info {
	struct amdkfd_process_info info;
	struct list_head mems, users;
	spinlock_t ef_lock;
	struct mutex notifier_lock;
	u32 invalidated;
};

/**
 * struct sim_vm - a GPU address space: one open render node file
 * @fpriv: what amdkfd sees; must stay first, it is drm_file.driver_priv
 * @link: in sim_gpu.vms
 * @maps: struct sim_va, most recently used first
 * @gpu: whose
 * @pd: number that stands for its page directory in MAP_PROCESS
 * @client_lock: guards what is in @ctxs and @lists; outside all of evict.c's
 * @ctxs: of command submission: struct sim_ctx by ID
 * @lists: struct sim_bo_list by handle
 */
struct sim_vm {
	struct amdgpu_fpriv fpriv;
	struct list_head link, maps;
	struct sim_gpu *gpu;
	u64 pd;
	struct mutex client_lock;
	struct xarray ctxs, lists;
};

static inline struct sim_gpu *to_sim(struct amdgpu_device *adev)
{
	return container_of(adev, struct sim_gpu, adev);
}

static inline struct sim_bo *to_sbo(struct amdgpu_bo *bo)
{
	return container_of(bo, struct sim_bo, bo);
}

static inline struct sim_mem *to_smem(struct kgd_mem *mem)
{
	return container_of(mem, struct sim_mem, m);
}

static inline struct sim_info *to_sinfo(struct amdkfd_process_info *info)
{
	return container_of(info, struct sim_info, info);
}

/* The GPU that a buffer belongs to */
static inline struct sim_gpu *sim_bo_gpu(struct sim_bo *s)
{
	return to_sim(drm_to_adev(s->bo.tbo.base.dev));
}

static inline struct sim_vm *to_svm(struct amdgpu_vm *vm)
{
	return container_of(vm, struct sim_vm, fpriv.vm);
}

/* mem.c: GART, doorbells */
int sim_mem_init(struct sim_gpu *g);
void sim_mem_fini(struct sim_gpu *g);
void sim_mem_counters(struct sim_gpu *g, struct seq_file *m);
u64 sim_gart_bind(struct sim_gpu *g, void *kptr, size_t size);
void sim_gart_unbind(struct sim_gpu *g, u64 addr);
void *sim_gart_ptr(struct sim_gpu *g, u64 addr, size_t len);
bool sim_gart_write(struct sim_gpu *g, u64 addr, const void *data, size_t len);
bool sim_gart_change(struct sim_gpu *g, u64 addr, size_t len, void (*change)(void *p, void *arg), void *arg);
struct sim_bo *sim_doorbell_bo(struct sim_gpu *g, size_t size, void **cpu_ptr);

/* bo.c */
struct sim_bo *sim_bo_new(struct sim_gpu *g, enum sim_bo_kind kind, size_t size);
void sim_bo_put(struct sim_bo *s);
struct page *sim_bo_page(struct sim_bo *s, pgoff_t idx);
void *sim_bo_vmap(struct sim_bo *s);

/* vm.c: address spaces */
int sim_drm_open(struct drm_device *dev, struct drm_file *file);
void sim_drm_postclose(struct drm_device *dev, struct drm_file *file);
int sim_vm_add_gpu(struct sim_gpu *g);
void sim_vm_sync(void);
struct sim_vm *sim_vm_by_pd(struct sim_gpu *g, u64 pd);
void *sim_vm_ptr(struct sim_vm *vm, u64 va, size_t len, bool write);
int sim_vm_map(struct sim_vm *vm, struct sim_mem *mem);
int sim_vm_unmap(struct sim_vm *vm, struct sim_mem *mem);
int sim_vm_map_bo(struct sim_vm *vm, struct sim_bo *s, u64 va, u64 offset, u64 size, bool readonly);
int sim_vm_unmap_bo(struct sim_vm *vm, u64 va);
bool sim_vm_mapped(struct sim_vm *vm, struct kgd_mem *mem);

/* gpuvm.c: processes and their buffers */
void sim_mem_attach(struct sim_mem *m, struct sim_info *info, struct sim_bo *s, u32 flags, u64 va);
void sim_mem_detach(struct sim_mem *m);
struct dma_fence *sim_vm_eviction_fence(struct sim_gpu *g, pid_t pid);
int sim_vm_user_restore(struct sim_gpu *g, pid_t pid);

/* limit.c: what KFD processes may allocate */
u64 sim_vram_size(struct sim_gpu *g);
u64 sim_gtt_size(void);
int sim_limit_reserve(struct sim_gpu *g, u64 size, u32 flags);
void sim_limit_release(struct sim_gpu *g, u64 size, u32 flags);

/* svm-612.c: shared virtual memory with 6.12 */
#if IS_ENABLED(CONFIG_HSA_AMD_SVM) && SIM_BOUNDARY < 0x702
void sim_svm_init(struct sim_gpu *g);
#else
static inline void sim_svm_init(struct sim_gpu *g)
{
}
#endif

/* mapped.c: memory that goes too early */
void sim_mapped_free(struct sim_gpu *g, u64 addr, size_t size);
void sim_mapped_unmap(struct sim_vm *vm, u64 va, size_t size);
void sim_mapped_move(struct sim_gpu *g, const struct amdkfd_process_info *info);

/* evict.c: VRAM, and what happens when it is short */
void sim_place_init(struct sim_gpu *g);
int sim_place(struct sim_bo *s, enum sim_place where, const struct sim_info *info, bool wait);
void sim_place_free(struct sim_bo *s);
void sim_place_pin(struct sim_bo *s);
int sim_place_share(struct sim_bo *s);
int sim_place_all(struct sim_bo **s, u32 n);
int sim_bo_fence(struct sim_bo *s, struct sim_info *info);
void sim_bo_unfence(struct sim_bo *s, struct sim_info *info);
u64 sim_placed(struct sim_gpu *g, enum sim_place where);
void sim_mem_debugfs(struct sim_gpu *g);

/* dmabuf.c */
int sim_dmabuf_import(struct dma_buf *dmabuf, u64 va, void *drm_priv, struct kgd_mem **mem,
		      u64 *size, u64 *mmap_offset);

/* userptr.c */
int sim_user_init(struct sim_mem *m, u64 addr);
void sim_user_fini(struct sim_bo *s);
void sim_user_free(struct sim_bo *s);
struct page *sim_user_page(struct sim_bo *s, pgoff_t idx);
void sim_user_restore_work(struct work_struct *work);

extern const struct file_operations sim_drm_fops;

/* drm_info.c */
int sim_info(struct drm_device *dev, void *data, struct drm_file *file);

/* gem.c: clients of DRM without KFD */
extern const struct drm_ioctl_desc sim_ioctls[];
extern const int sim_num_ioctls;
void sim_client_init(struct sim_vm *vm);
void sim_client_fini(struct sim_vm *vm);

/* remove.c */
void sim_kfd_stop(struct sim_gpu *g);

/* reset.c */
#define SIM_RESET_HANG	"scheduler hang"
void sim_reset_work(struct work_struct *work);
void sim_reset_request(struct sim_gpu *g);
int sim_sleep(struct sim_gpu *g, bool down);

/* kgd.c */
u64 sim_gpu_clock(void);

#endif
