/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdsim: the boundary of the driver in ROCm's amdgpu-dkms, in terms of that of 6.12. A part of
 * kgd_compat.h, which explains; kgd_compat_rocm.c has what needs code.
 *
 * A release of that driver has the boundary of no kernel, and its version does not say which one it
 * has. Kbuild asks the headers of the release, and defines SIM_ROCM_* for each thing that came in
 * the course of time. What 6.7.0 and the fork of 6.14.14 have, beside what 6.12 has:
 *
 *	all				AMD's own: amdgpu_amdkfd_alloc_gtt_mem(.., is_uswc_mode),
 *					kgd2kfd_suspend(.., force), metadata of a dma-buf without its
 *					allocation; IPC, peer-direct, SPM; parameters
 *	6.7.0				as 6.1: the process's buffer in GART, tasks of a VM, waves
 *					of a process, no count of processes, no reset of a queue
 *	6.14.14				as 7.2: PASID of a VM, time that a dequeue waits
 *
 * Only 6.7.0 was compiled; 6.14.14 also needs functions of kgd_compat_7.c, which are for 7.2 there.
 *
 * The kernel below is another matter: LINUX_VERSION_CODE.
 */
#ifndef KFDSIM_KGD_COMPAT_ROCM_H
#define KFDSIM_KGD_COMPAT_ROCM_H

#include <linux/mm.h>
#include <uapi/linux/kfd_ioctl.h>
#include "amdgpu_ras.h"

#define SIM_BOUNDARY	0x607	/* between 6.1 and 6.12 */

/* ---- the kernel's ---- */

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#define SIM_DRM_FOPS_EXTRA	.fop_flags = FOP_UNSIGNED_OFFSET,
#else
#define SIM_DRM_FOPS_EXTRA	/* DRM says so itself, in drm_open() */
#endif
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define SIM_DRM_DATE		.date = "20260101",
#else
#define SIM_DRM_DATE		/* gone */
#endif
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define SIM_IMPORT_NS(ns)	MODULE_IMPORT_NS(ns)
#else
#define SIM_IMPORT_NS(ns)	MODULE_IMPORT_NS(#ns)
#endif

/* ---- as in 6.12 ---- */

#define SIM_HIQ_KICK			1
#define SIM_DEBUGGER			1
#define SIM_MES_SUSPEND_12		0
#define SIM_KFD_SMI_IDLE(kfd)		list_empty(&(kfd)->nodes[0]->smi_clients)
#define SIM_KFD_GPU_ID(kfd)		((kfd)->nodes[0]->id)
#define sim_kfd_processes_lock()	mutex_lock(&kfd_processes_mutex)
#define sim_kfd_processes_unlock()	mutex_unlock(&kfd_processes_mutex)
#define SIM_KFD_EXIT_UNLOCKS		0
#define SIM_NEWER(obj, member)		((obj)->member)
#define SIM_CONTEXT_ID(process_info)	0
#define SIM_INFO_CONTEXT(info)		((u16){ 0 })
#define SIM_FENCE_CREATE(context, mm, id)	amdgpu_amdkfd_fence_create(context, mm, NULL)
#define SIM_MEC_BITMAP(gfx, xcc)	((gfx)->mec_bitmap[xcc].queue_bitmap)
#define SIM_CU_BITMAP(cu, xcc)		((cu)->bitmap[xcc])
#define SIM_TASK_PID(ti)		((ti)->pid)
#define SIM_TASK_NAME(ti)		((ti)->task_name)
#define sim_xcp_init(adev)		0
#define SIM_KFD2KGD_NEW_TABLES

/* ---- what came in the course of time ---- */

#ifdef SIM_ROCM_QUEUE_REFS
#define SIM_BO_VA_QUEUE_REFS(bo_va)	((bo_va)->queue_refcount)
#else
#define SIM_BO_VA_QUEUE_REFS(bo_va)	0	/* queues do not pin their buffers */
#endif

#ifdef SIM_ROCM_PROCESS_COUNT
#define SIM_KFD_USERS(kfd)		atomic_read(&(kfd)->kfd_processes_count)
#define SIM_KFD_GRACE_MS		0
#else
/* a process is out of the table a little before it lets go */
#define SIM_KFD_USERS(kfd)		(!hash_empty(kfd_processes_table))
#define SIM_KFD_GRACE_MS		200
#endif

#ifdef SIM_ROCM_SAVE_AREA
#define SIM_KFD_SAVE_AREA		1
#endif

#ifdef SIM_ROCM_RESET_SRC
#define SIM_RESET_SRC(who)		.src = AMDGPU_RESET_SRC_##who,
#else
#define SIM_RESET_SRC(who)
#endif

/* the process's PASID, or that of the VM when it is opened */
#ifdef SIM_ROCM_VM_PASID
#define SIM_VM_HAS_PASID		1
#else
#define SIM_VM_HAS_PASID		0
#endif

#ifdef SIM_ROCM_SUSPEND_PROC
#define SIM_KFD_SUSPEND_ALL		true
#else
#define SIM_KFD_SUSPEND_ALL		false	/* not only at runtime */
#endif

#ifdef SIM_ROCM_RESET_QUEUE
#define SIM_KFD2KGD_RESET	, .hqd_get_pq_addr = hqd_get_pq_addr, .hqd_reset = hqd_reset
#else
#define SIM_KFD2KGD_RESET
#endif

#ifndef SIM_ROCM_OCCUPANCY_OF_QUEUES
#define SIM_KFD2KGD_OCCUPANCY	.get_cu_occupancy = sim_compat_occupancy
#define SIM_OCCUPANCY_OF_PROCESS

struct kfd_cu_occupancy {
	u32 wave_cnt;
	u32 doorbell_off;
};
#endif

#ifdef SIM_ROCM_DEQUEUE_WAIT
#define SIM_KFD2KGD_WAIT_TIMES	.build_dequeue_wait_counts_packet_info = sim_build_dequeue_wait_counts
void sim_build_dequeue_wait_counts(struct amdgpu_device *adev, uint32_t wait_times,
				   uint32_t sch_wave, uint32_t que_sleep, uint32_t *reg_offset,
				   uint32_t *reg_data);
#else
#define SIM_KFD2KGD_WAIT_TIMES	.build_grace_period_packet_info = build_grace_period_packet_info
#endif

#ifdef SIM_ROCM_SDMA_DOORBELL
#define SIM_KFD2KGD_NEW_QUEUES	, .hqd_sdma_get_doorbell = sim_hqd_sdma_get_doorbell
uint32_t sim_hqd_sdma_get_doorbell(struct amdgpu_device *adev, int engine, int queue);
#else
#define SIM_KFD2KGD_NEW_QUEUES
#endif

#ifdef SIM_ROCM_GFX12
#include "v12_structs.h"
#else
/* for profiles that sim_compat_refuses() */
#define AMDGPU_FAMILY_GC_12_0_0		152
#define v12_compute_mqd			v11_compute_mqd
#define v12_sdma_mqd			v11_sdma_mqd
#endif

#ifndef SIM_ROCM_RAS_EVENT
enum ras_event_type { RAS_EVENT_TYPE_INVALID };
typedef void (*pasid_notify)(struct amdgpu_device *adev, uint16_t pasid, void *data);
#endif

/* ---- what we call: as amdgpu_amdkfd_suspend() does ---- */

#define kgd2kfd_suspend(kfd, all)	kgd2kfd_suspend(kfd, all, true)
#ifndef SIM_ROCM_RESET_CONTEXT
#define kgd2kfd_pre_reset(kfd, context)	((void)(context), kgd2kfd_pre_reset(kfd))
#endif

/* ---- what we define: another shape there, see kgd_compat_rocm.c ---- */

#define amdgpu_amdkfd_alloc_gtt_mem		sim_alloc_gtt_mem
#define amdgpu_amdkfd_get_dmabuf_info		sim_get_dmabuf_info

int sim_alloc_gtt_mem(struct amdgpu_device *adev, size_t size, void **mem_obj, uint64_t *gpu_addr,
		      void **cpu_ptr, bool mqd_gfx9);
int sim_get_dmabuf_info(struct amdgpu_device *adev, int dma_buf_fd,
			struct amdgpu_device **dmabuf_adev, uint64_t *bo_size,
			void **metadata_buffer, size_t buffer_size, uint32_t *metadata_size,
			uint32_t *flags, int8_t *xcp_id);

#ifndef SIM_ROCM_FREE_POINTER
#define amdgpu_amdkfd_free_gtt_mem		sim_free_gtt_mem
void sim_free_gtt_mem(struct amdgpu_device *adev, void **mem_obj);
#endif

#ifndef SIM_ROCM_GART_BO
#define amdgpu_amdkfd_map_gtt_bo_to_gart	sim_map_gtt_bo_to_gart
int sim_map_gtt_bo_to_gart(struct amdgpu_bo *bo, struct amdgpu_bo **bo_gart);
#endif

#ifndef SIM_ROCM_MAPPED_TO_VM
#define amdgpu_amdkfd_bo_mapped_to_dev		sim_bo_mapped_to_dev
bool sim_bo_mapped_to_dev(void *drm_priv, struct kgd_mem *mem);
#endif

#ifndef SIM_ROCM_DMAUNMAP_FAILS
#define amdgpu_amdkfd_gpuvm_dmaunmap_mem	sim_gpuvm_dmaunmap_mem
int sim_gpuvm_dmaunmap_mem(struct kgd_mem *mem, void *drm_priv);
#endif

#ifndef SIM_ROCM_POISON_PASID
#define amdgpu_amdkfd_ras_poison_consumption_handler	sim_ras_poison_consumption_handler
void sim_ras_poison_consumption_handler(struct amdgpu_device *adev, enum amdgpu_ras_block block,
					uint32_t reset);
#endif

#ifndef SIM_ROCM_TASK_INFO
struct amdgpu_task_info *amdgpu_vm_get_task_info_pasid(struct amdgpu_device *adev, u32 pasid);
void amdgpu_vm_put_task_info(struct amdgpu_task_info *task_info);
#endif

#ifdef SIM_ROCM_VM_PASID
/* nobody asks any more; PASIDs are for ourselves */
#define amdgpu_pasid_alloc				sim_pasid_alloc
#define amdgpu_pasid_free				sim_pasid_free
#define amdgpu_amdkfd_gpuvm_release_process_vm		sim_gpuvm_release_process_vm
#define amdgpu_amdkfd_gpuvm_set_vm_pasid		sim_gpuvm_set_vm_pasid

int sim_pasid_alloc(unsigned int bits);
void sim_pasid_free(u32 pasid);
void sim_gpuvm_release_process_vm(struct amdgpu_device *adev, void *drm_priv);
int sim_gpuvm_set_vm_pasid(struct amdgpu_device *adev, struct amdgpu_vm *avm, u32 pasid);
#endif

#ifdef SIM_ROCM_XGMI
#include "amdgpu_xgmi.h"
#define amdgpu_amdkfd_get_xgmi_hops_count		sim_get_xgmi_hops_count
#define amdgpu_amdkfd_get_xgmi_bandwidth_mbytes		sim_get_xgmi_bandwidth_mbytes

uint8_t sim_get_xgmi_hops_count(struct amdgpu_device *dst, struct amdgpu_device *src);
int sim_get_xgmi_bandwidth_mbytes(struct amdgpu_device *dst, struct amdgpu_device *src,
				  bool is_min);
#endif

#endif
