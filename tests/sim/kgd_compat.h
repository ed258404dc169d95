/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdsim: what differs between the kernels whose amdkfd is simulated.
 *
 * The only file that looks at LINUX_VERSION_CODE; kgd_compat.c has what needs code. The sources
 * are written for the boundary of 6.12. For another kernel this file
 * gives its names to what is missing, and where a function or a table of the boundary has
 * another shape there, renames ours (sim_...); kgd_compat.c then defines the one that the other
 * amdkfd wants and translates. The driver of ROCm's amdgpu-dkms has no kernel's boundary: what its
 * release has is asked of its headers, see Kbuild and kgd_compat_rocm.h. To be included after
 * amdgpu.h, amdgpu_amdkfd.h and amdgpu_reset.h, before anything else of amdgpu's.
 */
#ifndef KFDSIM_KGD_COMPAT_H
#define KFDSIM_KGD_COMPAT_H

#include <linux/version.h>

#ifdef SIM_ROCM

#include "kgd_compat_rocm.h"
#define SIM_KFD_NODE	kfd_node

#elif LINUX_VERSION_CODE >= KERNEL_VERSION(7, 2, 0) && LINUX_VERSION_CODE < KERNEL_VERSION(7, 4, 0)

#define SIM_BOUNDARY	(LINUX_VERSION_CODE >> 8)
#include "kgd_compat_7.h"
#define SIM_KFD_NODE	kfd_node

#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0) && LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)

#define SIM_BOUNDARY	0x60c

/* a GPU, or a part of one */
#define SIM_KFD_NODE	kfd_node

/* drm_gem_mmap() needs file offsets above 4 GiB */
#define SIM_DRM_FOPS_EXTRA	.fop_flags = FOP_UNSIGNED_OFFSET,

/* queues that use a mapping; 6.12 refuses to unmap it meanwhile */
#define SIM_BO_VA_QUEUE_REFS(bo_va)	((bo_va)->queue_refcount)

/*
 * amdkfd calls amdgpu_amdkfd_is_fed() before it rings the HIQ's doorbell, so the
 * firmware can sleep until then. Without it: poll the HIQ always.
 */
#define SIM_HIQ_KICK	1

/* processes that hold a part of the device, until it is freed */
#define SIM_KFD_USERS(kfd)	atomic_read(&(kfd)->kfd_processes_count)
#define SIM_KFD_GRACE_MS	0
#define SIM_KFD_SMI_IDLE(kfd)	list_empty(&(kfd)->nodes[0]->smi_clients)
#define SIM_KFD_GPU_ID(kfd)	((kfd)->nodes[0]->id)
/* a queue is refused if its save area is smaller than the topology says */
#define SIM_KFD_SAVE_AREA	1

/* keeps new processes off */
#define sim_kfd_processes_lock()	mutex_lock(&kfd_processes_mutex)
#define sim_kfd_processes_unlock()	mutex_unlock(&kfd_processes_mutex)

/* kgd2kfd_device_exit() wants kgd2kfd_suspend() first */
#define SIM_KFD_EXIT_UNLOCKS	0

/* argument of kgd2kfd_suspend() and _resume(): processes, too */
#define SIM_KFD_SUSPEND_ALL	false

#define SIM_DRM_DATE	.date = "20260101",

#define SIM_IMPORT_NS(ns)	MODULE_IMPORT_NS(ns)

/* who asks for a reset, in an initialiser of struct amdgpu_reset_context */
#define SIM_RESET_SRC(who)	.src = AMDGPU_RESET_SRC_##who,

/* a member that an older kernel lacks; there, what is written to it goes nowhere (and u32 suffices) */
#define SIM_NEWER(obj, member)		((obj)->member)

/* a shader debugger: AMDKFD_IOC_DBG_TRAP, and MES knows how to set it up (MISC) */
#define SIM_DEBUGGER	1

/* amdgpu_mes_suspend() does something with GFX 12 */
#define SIM_MES_SUSPEND_12	0

/* who a VM belongs to */
#define SIM_TASK_PID(ti)	((ti)->pid)
#define SIM_TASK_NAME(ti)	((ti)->task_name)

/* a VM has a PASID when it is opened; else it gets the process's */
#define SIM_VM_HAS_PASID	0

/* a number that tells the KFD processes of one mm apart */
#define SIM_CONTEXT_ID(process_info)		0
#define SIM_INFO_CONTEXT(info)			((u16){ 0 })
#define SIM_FENCE_CREATE(context, mm, id)	amdgpu_amdkfd_fence_create(context, mm, NULL)

/* kfd2kgd: the reset of a queue; members that came later, of queues; how the time that a dequeue waits is set */
#define SIM_KFD2KGD_RESET	, .hqd_get_pq_addr = hqd_get_pq_addr, .hqd_reset = hqd_reset
#define SIM_KFD2KGD_NEW_QUEUES
#define SIM_KFD2KGD_NEW_TABLES
#define SIM_KFD2KGD_WAIT_TIMES	.build_grace_period_packet_info = build_grace_period_packet_info

/* no partitions, although amdgpu has one in SPX mode: amdkfd does without */
#define sim_xcp_init(adev)	0

/* GFX 12 */
#include "v12_structs.h"

/* amdgpu_gfx.mec_bitmap: the compute queues of an XCC that are the kernel's */
#define SIM_MEC_BITMAP(gfx, xcc)	((gfx)->mec_bitmap[xcc].queue_bitmap)

/* amdgpu_cu_info.bitmap: the compute units of an XCC, [4][4] */
#define SIM_CU_BITMAP(cu, xcc)		((cu)->bitmap[xcc])

#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 0) && LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)

#define SIM_BOUNDARY	0x601

#define SIM_KFD_NODE	kfd_dev

#include <linux/mm.h>
#include <drm/amdgpu_drm.h>
#include <uapi/linux/kfd_ioctl.h>
#include "amdgpu_ras.h"

#define SIM_DRM_FOPS_EXTRA		/* DRM says so itself, in drm_open() */
#define SIM_BO_VA_QUEUE_REFS(bo_va)	0	/* queues do not pin their buffers */
#define SIM_HIQ_KICK			0
/* no count; a process is out of the table a little before it lets go */
#define SIM_KFD_USERS(kfd) \
	(!hash_empty(kfd_processes_table) || !ida_is_empty(&(kfd)->doorbell_ida))
#define SIM_KFD_GRACE_MS		200
#define SIM_KFD_SMI_IDLE(kfd)		list_empty(&(kfd)->smi_clients)
#define SIM_KFD_GPU_ID(kfd)		((kfd)->id)
#define sim_kfd_processes_lock()	do { } while (0)	/* it is amdkfd's own: nobody is kept off */
#define sim_kfd_processes_unlock()	do { } while (0)
#define SIM_DRM_DATE			.date = "20260101",
#define SIM_IMPORT_NS(ns)		MODULE_IMPORT_NS(ns)
#define SIM_KFD_EXIT_UNLOCKS		0
#define SIM_KFD_SUSPEND_ALL		false
#define SIM_MES_SUSPEND_12		0
#define amdgpu_mes_suspend_resume_all_supported	sim_mes_suspend_supported
bool sim_mes_suspend_supported(struct amdgpu_device *adev);
#define SIM_TASK_PID(ti)		((ti)->pid)
#define SIM_TASK_NAME(ti)		((ti)->task_name)
#define SIM_VM_HAS_PASID		0
#define SIM_CONTEXT_ID(process_info)	0
#define SIM_INFO_CONTEXT(info)		((u16){ 0 })
#define SIM_FENCE_CREATE(context, mm, id)	amdgpu_amdkfd_fence_create(context, mm, NULL)
#define SIM_KFD2KGD_RESET		, .hqd_get_pq_addr = hqd_get_pq_addr, .hqd_reset = hqd_reset
#define SIM_KFD2KGD_NEW_QUEUES
#define SIM_KFD2KGD_NEW_TABLES
#define SIM_KFD2KGD_WAIT_TIMES		.build_grace_period_packet_info = build_grace_period_packet_info
#define SIM_RESET_SRC(who)
#define SIM_NEWER(obj, member)		((u32){ 0 })
#define SIM_DEBUGGER			0
#define SIM_MEC_BITMAP(gfx, xcc)	((gfx)->mec.queue_bitmap)
#define SIM_CU_BITMAP(cu, xcc)		((cu)->bitmap)

/* ---- the kernel's and DRM's ---- */

static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

/* ---- types and numbers that came later; values as in the uapi of 6.12 ---- */

#define AMDGPU_GEM_DOMAIN_DOORBELL	0x40
#define AMDGPU_MAX_QUEUES		KGD_MAX_QUEUES

/* the waves of a process are asked for, not those of each queue */
#define SIM_OCCUPANCY_OF_PROCESS

/* codes of queue errors, which the debugger came with; 6.1 knows only that there was one */
enum {
	EC_QUEUE_PACKET_DISPATCH_DIM_INVALID = 16,
	EC_QUEUE_PACKET_DISPATCH_GROUP_SEGMENT_SIZE_INVALID,
	EC_QUEUE_PACKET_DISPATCH_CODE_INVALID,
	EC_QUEUE_PACKET_RESERVED,
	EC_QUEUE_PACKET_UNSUPPORTED,
	EC_QUEUE_PACKET_DISPATCH_WORK_GROUP_SIZE_INVALID,
	EC_QUEUE_PACKET_DISPATCH_REGISTER_INVALID,
	EC_QUEUE_PACKET_VENDOR_UNSUPPORTED,
};

/* GFX 12, for profiles that sim_compat_refuses() */
#define AMDGPU_FAMILY_GC_12_0_0		152
#define v12_compute_mqd			v11_compute_mqd
#define v12_sdma_mqd			v11_sdma_mqd

/* amdgpu_doorbell.h of 6.12, for profiles that sim_compat_refuses() */
#define AMDGPU_DOORBELL_LAYOUT1_sDMA_ENGINE_START	0x100
#define AMDGPU_DOORBELL_LAYOUT1_LAST_NON_CP		0x1e8

struct amdgpu_xcp;
struct amdgpu_xcp_mgr;
enum AMDGPU_XCP_IP_BLOCK { AMDGPU_XCP_GFX };
enum { AMDGPU_SPX_PARTITION_MODE };
enum ras_event_type { RAS_EVENT_TYPE_INVALID };
typedef void (*pasid_notify)(struct amdgpu_device *adev, uint16_t pasid, void *data);

struct kfd_cu_occupancy {
	u32 wave_cnt;
	u32 doorbell_off;
};

/* ---- what we call ---- */

#define kgd2kfd_device_init(kfd, res) \
	kgd2kfd_device_init(kfd, adev_to_drm(sim_kfd_adev(kfd)), res)
#define kgd2kfd_pre_reset(kfd, context)	((void)(context), kgd2kfd_pre_reset(kfd))

struct amdgpu_device *sim_kfd_adev(struct kfd_dev *kfd);

/* ---- what we define: another shape on 6.1, see kgd_compat.c ---- */

#define amdgpu_amdkfd_get_local_mem_info		sim_get_local_mem_info
#define amdgpu_amdkfd_get_dmabuf_info			sim_get_dmabuf_info
#define amdgpu_amdkfd_gpuvm_set_vm_pasid		sim_gpuvm_set_vm_pasid
#define amdgpu_amdkfd_gpuvm_acquire_process_vm		sim_gpuvm_acquire_process_vm
#define amdgpu_amdkfd_get_available_memory		sim_get_available_memory
#define amdgpu_amdkfd_map_gtt_bo_to_gart		sim_map_gtt_bo_to_gart
#define amdgpu_amdkfd_ras_poison_consumption_handler	sim_ras_poison_consumption_handler
#define amdgpu_amdkfd_bo_mapped_to_dev			sim_bo_mapped_to_dev

void sim_get_local_mem_info(struct amdgpu_device *adev, struct kfd_local_mem_info *mi,
			    struct amdgpu_xcp *xcp);
int sim_get_dmabuf_info(struct amdgpu_device *adev, int dma_buf_fd,
			struct amdgpu_device **dmabuf_adev, uint64_t *bo_size,
			void **metadata_buffer, size_t buffer_size, uint32_t *metadata_size,
			uint32_t *flags, int8_t *xcp_id);
int sim_gpuvm_set_vm_pasid(struct amdgpu_device *adev, struct amdgpu_vm *avm, u32 pasid);
int sim_gpuvm_acquire_process_vm(struct amdgpu_device *adev, struct amdgpu_vm *avm,
				 void **process_info, struct dma_fence **ef);
size_t sim_get_available_memory(struct amdgpu_device *adev, uint8_t xcp_id);
int sim_map_gtt_bo_to_gart(struct amdgpu_bo *bo, struct amdgpu_bo **bo_gart);
void sim_ras_poison_consumption_handler(struct amdgpu_device *adev, enum amdgpu_ras_block block,
					uint32_t reset);
bool sim_bo_mapped_to_dev(void *drm_priv, struct kgd_mem *mem);

/* the kfd2kgd tables: @inst came later, as did the debugger and the reset of a queue */
#define kfd2kgd_calls		sim_kfd2kgd_calls
#define gfx_v7_kfd2kgd		sim_gfx_v7_kfd2kgd
#define gfx_v8_kfd2kgd		sim_gfx_v8_kfd2kgd
#define gfx_v9_kfd2kgd		sim_gfx_v9_kfd2kgd
#define arcturus_kfd2kgd	sim_arcturus_kfd2kgd
#define aldebaran_kfd2kgd	sim_aldebaran_kfd2kgd
#define gc_9_4_3_kfd2kgd	sim_gc_9_4_3_kfd2kgd
#define gfx_v10_kfd2kgd		sim_gfx_v10_kfd2kgd
#define gfx_v10_3_kfd2kgd	sim_gfx_v10_3_kfd2kgd
#define gfx_v11_kfd2kgd		sim_gfx_v11_kfd2kgd
#define gfx_v12_kfd2kgd		sim_gfx_v12_kfd2kgd

struct sim_kfd2kgd_calls {
	void (*program_sh_mem_settings)(struct amdgpu_device *adev, uint32_t vmid,
					uint32_t sh_mem_config, uint32_t sh_mem_ape1_base,
					uint32_t sh_mem_ape1_limit, uint32_t sh_mem_bases,
					uint32_t inst);
	int (*set_pasid_vmid_mapping)(struct amdgpu_device *adev, u32 pasid, unsigned int vmid,
				      uint32_t inst);
	int (*init_interrupts)(struct amdgpu_device *adev, uint32_t pipe_id, uint32_t inst);
	int (*hqd_load)(struct amdgpu_device *adev, void *mqd, uint32_t pipe_id, uint32_t queue_id,
			uint32_t __user *wptr, uint32_t wptr_shift, uint32_t wptr_mask,
			struct mm_struct *mm, uint32_t inst);
	int (*hiq_mqd_load)(struct amdgpu_device *adev, void *mqd, uint32_t pipe_id,
			    uint32_t queue_id, uint32_t doorbell_off, uint32_t inst);
	int (*hqd_sdma_load)(struct amdgpu_device *adev, void *mqd, uint32_t __user *wptr,
			     struct mm_struct *mm);
	int (*hqd_dump)(struct amdgpu_device *adev, uint32_t pipe_id, uint32_t queue_id,
			uint32_t (**dump)[2], uint32_t *n_regs, uint32_t inst);
	int (*hqd_sdma_dump)(struct amdgpu_device *adev, uint32_t engine_id, uint32_t queue_id,
			     uint32_t (**dump)[2], uint32_t *n_regs);
	bool (*hqd_is_occupied)(struct amdgpu_device *adev, uint64_t queue_address,
				uint32_t pipe_id, uint32_t queue_id, uint32_t inst);
	int (*hqd_destroy)(struct amdgpu_device *adev, void *mqd, enum kfd_preempt_type reset_type,
			   unsigned int timeout, uint32_t pipe_id, uint32_t queue_id,
			   uint32_t inst);
	bool (*hqd_sdma_is_occupied)(struct amdgpu_device *adev, void *mqd);
	int (*hqd_sdma_destroy)(struct amdgpu_device *adev, void *mqd, unsigned int timeout);
	int (*wave_control_execute)(struct amdgpu_device *adev, uint32_t gfx_index_val,
				    uint32_t sq_cmd, uint32_t inst);
	void (*set_vm_context_page_table_base)(struct amdgpu_device *adev, uint32_t vmid,
					       uint64_t page_table_base);
	void (*get_cu_occupancy)(struct amdgpu_device *adev, struct kfd_cu_occupancy *occ,
				 int *max_waves_per_cu, uint32_t inst);
	void (*program_trap_handler_settings)(struct amdgpu_device *adev, uint32_t vmid,
					      uint64_t tba_addr, uint64_t tma_addr, uint32_t inst);
	/* nothing of 6.1 asks for these */
	void (*get_iq_wait_times)(struct amdgpu_device *adev, uint32_t *wait_times, uint32_t inst);
	void (*build_grace_period_packet_info)(struct amdgpu_device *adev, uint32_t wait_times,
					       uint32_t grace_period, uint32_t *reg_offset,
					       uint32_t *reg_data);
	uint64_t (*hqd_get_pq_addr)(struct amdgpu_device *adev, uint32_t pipe_id,
				    uint32_t queue_id, uint32_t inst);
	uint64_t (*hqd_reset)(struct amdgpu_device *adev, uint32_t pipe_id, uint32_t queue_id,
			      uint32_t inst, unsigned int utimeout);
};

#else
#error "kfdsim: no boundary known for this kernel's amdgpu, see kgd_compat.h"
#endif

/* kfd2kgd: who counts waves */
#ifndef SIM_KFD2KGD_OCCUPANCY
#define SIM_KFD2KGD_OCCUPANCY	.get_cu_occupancy = get_cu_occupancy
#endif

struct sim_profile;

/* kgd_compat.c */
void sim_compat_occupancy(struct amdgpu_device *adev, int pasid, int *wave_cnt,
			  int *max_waves_per_cu, u32 inst);
const char *sim_compat_refuses(const struct sim_profile *p);
int sim_compat_set_funcs(struct amdgpu_device *adev);

#endif
