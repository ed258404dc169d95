/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdsim: the boundary of Linux 7.2 and 7.3, in terms of that of 6.12. A part of kgd_compat.h,
 * which explains; kgd_compat_7.c has what needs code.
 *
 * What differs, for whoever ports to the next kernel:
 *
 *	6.12					7.2
 *	PASID of a process			PASID of a render node file: amdgpu gives each VM
 *						one when it is opened, amdkfd keeps it in its pdd;
 *						amdgpu_amdkfd_gpuvm_set_vm_pasid() is gone
 *	interrupts of a GPU with XCCs		those of a GPU with partitions (xcp_mgr)
 *	a process per mm			several: the eviction fence, and who asks for an
 *						eviction, name the context_id of the kfd_process
 *	amdgpu_amdkfd_alloc_gtt_mem(..)		amdgpu_amdkfd_alloc_kernel_mem(.., domain, ..);
 *	amdgpu_amdkfd_free_gtt_mem()		amdgpu_amdkfd_free_kernel_mem(). Some MQDs
 *						are in VRAM
 *	..._gpuvm_release_process_vm()		gone
 *	kgd2kfd_suspend(kfd, run_pm)		suspend_proc, the opposite; likewise resume
 *	kgd2kfd_device_exit()			undoes the lock that kgd2kfd_suspend() took: amdgpu
 *						suspends, has the processes end, then exits
 *	amdgpu_amdkfd_get_xgmi_hops_count()	amdgpu_xgmi_get_hops_count()
 *	.._get_xgmi_bandwidth_mbytes()		amdgpu_xgmi_get_bandwidth()
 *	amdgpu_vm_get_task_info_pasid()		amdgpu_vm_get_task_info_vm(), task.pid, task.comm
 *	RAS: one kind				and "uniras" beside it
 *	kfd2kgd .build_grace_period_packet_info	.build_dequeue_wait_counts_packet_info(sch_wave,
 *						que_sleep)
 *	(none)					kfd2kgd .hqd_sdma_get_doorbell: after an unmap;
 *						an SDMA queue that is still there makes
 *						amdgpu_sdma_reset_engine(); .ptl_ctrl
 *	MES: one instance			one for each XCC: an argument of all calls
 *	(none)					amdgpu_mes_detect_and_reset_hung_queues() and its
 *						like: with GFX 12.1 only
 *	a REMOVE_QUEUE that fails resets	only if SUSPEND fails, too; with 7.3 see
 *						amdgpu_gfx_reset_mes_compute()
 *
 *	7.2					7.3
 *	amdgpu_amdkfd_fence_create(.., svm_bo,	no svm_bo
 *		context_id)
 *	.._gpuvm_map_gtt_bo_to_kernel()		.._gpuvm_map_bo_to_kernel(.., domain);
 *	.._gpuvm_unmap_gtt_bo_from_kernel()	.._gpuvm_unmap_bo_from_kernel()
 *	kfd2kgd: no SDMA counter		.hqd_sdma_get_counter
 *	dma_fence_enable_sw_signaling()		dma_fence_enable_signaling()
 */
#ifndef KFDSIM_KGD_COMPAT_7_H
#define KFDSIM_KGD_COMPAT_7_H

#include "amdgpu_xgmi.h"
#include "v12_structs.h"

struct sim_gpu;

#define SIM_DRM_FOPS_EXTRA		.fop_flags = FOP_UNSIGNED_OFFSET,
#define SIM_DRM_DATE			/* gone */
#define SIM_IMPORT_NS(ns)		MODULE_IMPORT_NS(#ns)
#define SIM_BO_VA_QUEUE_REFS(bo_va)	((bo_va)->queue_refcount)
#define SIM_HIQ_KICK			1
#define SIM_KFD_USERS(kfd)		atomic_read(&(kfd)->kfd_processes_count)
#define SIM_KFD_GRACE_MS		0
#define SIM_KFD_SMI_IDLE(kfd)		list_empty(&(kfd)->nodes[0]->smi_clients)
#define SIM_KFD_GPU_ID(kfd)		((kfd)->nodes[0]->id)
#define SIM_KFD_SAVE_AREA		1
/* kgd2kfd_suspend() keeps new processes off, until kgd2kfd_device_exit() */
#define SIM_KFD_EXIT_UNLOCKS		1
#define sim_kfd_processes_lock()	do { } while (0)
#define sim_kfd_processes_unlock()	do { } while (0)
#define SIM_KFD_SUSPEND_ALL		true
#define SIM_RESET_SRC(who)		.src = AMDGPU_RESET_SRC_##who,
#define SIM_NEWER(obj, member)		((obj)->member)
#define SIM_DEBUGGER			1
#define SIM_MES_SUSPEND_12		1
#define SIM_MEC_BITMAP(gfx, xcc)	((gfx)->mec_bitmap[xcc].queue_bitmap)
#define SIM_CU_BITMAP(cu, xcc)		((cu)->bitmap[xcc])
#define SIM_TASK_PID(ti)		((ti)->task.pid)
#define SIM_TASK_NAME(ti)		((ti)->task.comm)

/* ---- the PASID of a VM, and the process that it is of ---- */

#define SIM_VM_HAS_PASID		1
#define SIM_CONTEXT_ID(process_info)	sim_context_id(process_info)
#define SIM_INFO_CONTEXT(info)		((info)->context_id)

u16 sim_context_id(void **process_info);
int sim_xcp_init(struct amdgpu_device *adev);

#if SIM_BOUNDARY >= 0x703
#define dma_fence_enable_sw_signaling	dma_fence_enable_signaling
#define SIM_FENCE_CREATE(context, mm, id)	amdgpu_amdkfd_fence_create(context, mm, id)
#define amdgpu_amdkfd_gpuvm_map_gtt_bo_to_kernel	sim_gpuvm_map_bo_to_kernel
#define amdgpu_amdkfd_gpuvm_unmap_gtt_bo_from_kernel	amdgpu_amdkfd_gpuvm_unmap_bo_from_kernel

#define SIM_JOB_ALLOC_ARGS	u64 k_job_id, struct amdgpu_job **job

int sim_gpuvm_map_bo_to_kernel(struct kgd_mem *mem, void **kptr, uint64_t *size);
#else
#define SIM_JOB_ALLOC_ARGS	struct amdgpu_job **job, u64 k_job_id
#define SIM_FENCE_CREATE(context, mm, id)	amdgpu_amdkfd_fence_create(context, mm, NULL, id)
#endif

/* ---- what we define: another shape or name there, see kgd_compat_7.c ---- */

#define amdgpu_amdkfd_alloc_gtt_mem		sim_alloc_kernel_mem
#define amdgpu_amdkfd_free_gtt_mem		amdgpu_amdkfd_free_kernel_mem
#define amdgpu_mes_suspend			sim_mes_suspend_all
#define amdgpu_mes_resume			sim_mes_resume_all
#define amdgpu_mes_flush_shader_debugger	sim_mes_flush_shader_debugger
#define amdgpu_mes_set_shader_debugger		sim_mes_set_shader_debugger

int sim_alloc_kernel_mem(struct amdgpu_device *adev, size_t size, void **mem_obj,
			 uint64_t *gpu_addr, void **cpu_ptr, bool mqd_gfx9);
int sim_mes_suspend_all(struct amdgpu_device *adev);
int sim_mes_resume_all(struct amdgpu_device *adev);
int sim_mes_flush_shader_debugger(struct amdgpu_device *adev, uint64_t process_context_addr);
int sim_mes_set_shader_debugger(struct amdgpu_device *adev, uint64_t process_context_addr,
				uint32_t spi_gdbg_per_vmid_cntl, const uint32_t *tcp_watch_cntl,
				uint32_t flags, bool trap_en);

/* nobody asks any more; PASIDs are for ourselves */
#define amdgpu_pasid_alloc				sim_pasid_alloc
#define amdgpu_pasid_free				sim_pasid_free
#define amdgpu_amdkfd_gpuvm_release_process_vm		sim_gpuvm_release_process_vm
#define amdgpu_amdkfd_gpuvm_set_vm_pasid		sim_gpuvm_set_vm_pasid
#define amdgpu_amdkfd_get_xgmi_hops_count		sim_get_xgmi_hops_count
#define amdgpu_amdkfd_get_xgmi_bandwidth_mbytes		sim_get_xgmi_bandwidth_mbytes

int sim_pasid_alloc(unsigned int bits);
void sim_pasid_free(u32 pasid);
void sim_gpuvm_release_process_vm(struct amdgpu_device *adev, void *drm_priv);
int sim_gpuvm_set_vm_pasid(struct amdgpu_device *adev, struct amdgpu_vm *avm, u32 pasid);
uint8_t sim_get_xgmi_hops_count(struct amdgpu_device *dst, struct amdgpu_device *src);
int sim_get_xgmi_bandwidth_mbytes(struct amdgpu_device *dst, struct amdgpu_device *src,
				  bool is_min);

/* kfd2kgd tables: members of the queues that HWS knows, and of all that have wait times */
#define SIM_KFD2KGD_RESET	, .hqd_get_pq_addr = hqd_get_pq_addr, .hqd_reset = hqd_reset
#define SIM_KFD2KGD_NEW_QUEUES							\
	, .hqd_sdma_get_doorbell = sim_hqd_sdma_get_doorbell
#define SIM_KFD2KGD_NEW_TABLES							\
	SIM_KFD2KGD_TABLE(gfx_v12_1_kfd2kgd, SIM_KFD2KGD_MES SIM_KFD2KGD_VMID_DEBUGGER);	/* no profile */
#define SIM_KFD2KGD_WAIT_TIMES							\
	.build_dequeue_wait_counts_packet_info = sim_build_dequeue_wait_counts

uint32_t sim_hqd_sdma_get_doorbell(struct amdgpu_device *adev, int engine, int queue);
void sim_build_dequeue_wait_counts(struct amdgpu_device *adev, uint32_t wait_times,
				   uint32_t sch_wave, uint32_t que_sleep, uint32_t *reg_offset,
				   uint32_t *reg_data);

#endif
