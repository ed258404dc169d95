// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the rest of amdkfd's boundary: amdgpu's parameters, information, reset and
 * the kfd2kgd tables.
 *
 * Three kinds of function: those that do what they say; those that have nothing to do
 * on a GPU without registers, caches and links ("nothing to do"); and those that the
 * simulated GPU never reaches: NOT_REACHED() says so once, with a stack trace, so that a
 * test which does reach one fails.
 */
#include "hws.h"
#include "amdgpu_ras.h"
#include "amdgpu_dpm.h"
#include "kfd_priv.h"
#include <linux/module.h>

#define NOT_REACHED()	WARN_ONCE(1, "kfdsim: %s() is not modelled\n", __func__)

/* ---- parameters that amdgpu owns and amdkfd reads, with amdgpu's defaults ---- */

int amdgpu_emu_mode;
int amdgpu_exp_hw_support;
int amdgpu_use_xgmi_p2p = 1;
uint amdgpu_sdma_phase_quantum = 32;
int amdgpu_no_queue_eviction_on_vm_fault;
int send_sigterm;
bool hws_gws_support;

int sched_policy = KFD_SCHED_POLICY_HWS;
module_param(sched_policy, int, 0444);
MODULE_PARM_DESC(sched_policy, "as amdgpu: 0 HWS, 1 HWS without over-subscription");

int hws_max_conc_proc = -1;
module_param(hws_max_conc_proc, int, 0444);
MODULE_PARM_DESC(hws_max_conc_proc, "as amdgpu: most processes mapped at once, -1: all VMIDs");

int cwsr_enable = 1;
module_param(cwsr_enable, int, 0444);
MODULE_PARM_DESC(cwsr_enable, "as amdgpu");

int max_num_of_queues_per_device = KFD_MAX_NUM_OF_QUEUES_PER_DEVICE_DEFAULT;
module_param(max_num_of_queues_per_device, int, 0444);
MODULE_PARM_DESC(max_num_of_queues_per_device, "as amdgpu");

int halt_if_hws_hang;
module_param(halt_if_hws_hang, int, 0644);
MODULE_PARM_DESC(halt_if_hws_hang, "as amdgpu");

int queue_preemption_timeout_ms = 9000;
module_param(queue_preemption_timeout_ms, int, 0644);
MODULE_PARM_DESC(queue_preemption_timeout_ms, "as amdgpu");

bool debug_evictions;
module_param(debug_evictions, bool, 0644);
MODULE_PARM_DESC(debug_evictions, "as amdgpu");

const char *amdgpu_asic_name[] = {
	[0 ... CHIP_LAST] = "SIMULATED",
	[CHIP_ALDEBARAN] = "ALDEBARAN",
	[CHIP_SIENNA_CICHLID] = "SIENNA_CICHLID",
	[CHIP_IP_DISCOVERY] = "IP DISCOVERY",
};

/* ---- information ---- */

/**
 * sim_gpu_clock - the GPU's clock counter, 100 MHz
 */
u64 sim_gpu_clock(void)
{
	return div_u64(ktime_get_ns(), 10);
}

uint64_t amdgpu_amdkfd_get_gpu_clock_counter(struct amdgpu_device *adev)
{
	return sim_gpu_clock();
}

uint32_t amdgpu_amdkfd_get_fw_version(struct amdgpu_device *adev, enum kgd_engine_type type)
{
	const struct sim_profile *p = to_sim(adev)->prof;

	return type == KGD_ENGINE_SDMA1 || type == KGD_ENGINE_SDMA2 ? p->sdma_fw : p->mec_fw;
}

void amdgpu_amdkfd_get_local_mem_info(struct amdgpu_device *adev, struct kfd_local_mem_info *mi,
				      struct amdgpu_xcp *xcp)
{
	*mi = (struct kfd_local_mem_info){
		.local_mem_size_public = adev->gmc.real_vram_size,
		.vram_width = to_sim(adev)->prof->vram_bits,
		.mem_clk_max = to_sim(adev)->prof->mem_mhz,
	};
}

uint32_t amdgpu_amdkfd_get_max_engine_clock_in_mhz(struct amdgpu_device *adev)
{
	return to_sim(adev)->prof->engine_mhz;
}

uint8_t amdgpu_amdkfd_get_xgmi_hops_count(struct amdgpu_device *dst, struct amdgpu_device *src)
{
	NOT_REACHED();	/* no GPU is in a hive */
	return 0;
}

int amdgpu_amdkfd_get_xgmi_bandwidth_mbytes(struct amdgpu_device *dst, struct amdgpu_device *src,
					    bool is_min)
{
	NOT_REACHED();
	return 0;
}

int amdgpu_amdkfd_get_pcie_bandwidth_mbytes(struct amdgpu_device *adev, bool is_min)
{
	return 31504;	/* PCIe 4.0 x16 */
}

int amdgpu_amdkfd_get_tile_config(struct amdgpu_device *adev, struct tile_config *config)
{
	memset(config, 0, sizeof(*config));	/* no image hardware */
	return 0;
}

bool amdgpu_amdkfd_have_atomics_support(struct amdgpu_device *adev)
{
	return true;
}

u64 amdgpu_amdkfd_xcp_memory_size(struct amdgpu_device *adev, int xcp_id)
{
	return adev->gmc.real_vram_size;
}

int amdgpu_amdkfd_gpuvm_get_vm_fault_info(struct amdgpu_device *adev,
					  struct kfd_vm_fault_info *info)
{
	NOT_REACHED();	/* CIK only */
	return -EOPNOTSUPP;
}

uint64_t amdgpu_dpm_get_thermal_throttling_counter(struct amdgpu_device *adev)
{
	return 0;	/* it never throttles */
}

bool amdgpu_sriov_xnack_support(struct amdgpu_device *adev)
{
	return true;	/* as on bare metal */
}

int amdgpu_queue_mask_bit_to_set_resource_bit(struct amdgpu_device *adev, int bit)
{
	return bit;
}

void amdgpu_queue_mask_bit_to_mec_queue(struct amdgpu_device *adev, int bit, int *mec, int *pipe,
					int *queue)
{
	*queue = bit % adev->gfx.mec.num_queue_per_pipe;
	*pipe = bit / adev->gfx.mec.num_queue_per_pipe % adev->gfx.mec.num_pipe_per_mec;
	*mec = bit / adev->gfx.mec.num_queue_per_pipe / adev->gfx.mec.num_pipe_per_mec;
}

/* ---- PASIDs ---- */

static DEFINE_IDA(pasid_ida);

int amdgpu_pasid_alloc(unsigned int bits)
{
	return ida_alloc_range(&pasid_ida, 0x8000, (1 << bits) - 1, GFP_KERNEL);
}

void amdgpu_pasid_free(u32 pasid)
{
	ida_free(&pasid_ida, pasid);
}

/* whose fault, for SMI events; amdgpu keeps it in the VM */
struct amdgpu_task_info *amdgpu_vm_get_task_info_pasid(struct amdgpu_device *adev, u32 pasid)
{
	struct amdgpu_task_info *ti = kzalloc(sizeof(*ti), GFP_KERNEL);
	struct task_struct *task = NULL;
	struct sim_gpu *g = to_sim(adev);
	struct sim_vm *vm;

	if (!ti)
		return NULL;
	mutex_lock(&g->vm_lock);
	list_for_each_entry(vm, &g->vms, link)
		if (vm->fpriv.vm.pasid == pasid && vm->fpriv.vm.process_info) {
			task = get_pid_task(vm->fpriv.vm.process_info->pid, PIDTYPE_TGID);
			break;
		}
	mutex_unlock(&g->vm_lock);
	if (!task) {
		kfree(ti);
		return NULL;
	}
	SIM_TASK_PID(ti) = task->pid;
	ti->tgid = task->tgid;
	get_task_comm(SIM_TASK_NAME(ti), task);
	get_task_comm(ti->process_name, task);
	put_task_struct(task);
	return ti;
}

void amdgpu_vm_put_task_info(struct amdgpu_task_info *task_info)
{
	kfree(task_info);
}

/* ---- nothing to do: no power gating, caches, TLBs ---- */

void amdgpu_amdkfd_set_compute_idle(struct amdgpu_device *adev, bool idle)
{
}

void amdgpu_gfx_off_ctrl(struct amdgpu_device *adev, bool enable)
{
}

void amdgpu_device_flush_hdp(struct amdgpu_device *adev, struct amdgpu_ring *ring)
{
}

void amdgpu_amdkfd_debug_mem_fence(struct amdgpu_device *adev)
{
}

int amdgpu_vm_flush_compute_tlb(struct amdgpu_device *adev, struct amdgpu_vm *vm,
				uint32_t flush_type, uint32_t xcc_mask)
{
	return 0;
}

/* amdkfd waits for this one: all that came before it has then been handled */
int amdgpu_amdkfd_send_close_event_drain_irq(struct amdgpu_device *adev, uint32_t *payload)
{
	return sim_hws_irq_drain(to_sim(adev), payload);
}

/* ---- not modelled ---- */

void amdgpu_amdkfd_ras_poison_consumption_handler(struct amdgpu_device *adev,
						  enum amdgpu_ras_block block, uint32_t reset)
{
	NOT_REACHED();
}

void amdgpu_amdkfd_ras_pasid_poison_consumption_handler(struct amdgpu_device *adev,
		enum amdgpu_ras_block block, uint16_t pasid, pasid_notify pasid_fn, void *data,
		uint32_t reset)
{
	NOT_REACHED();
}

u64 amdgpu_ras_acquire_event_id(struct amdgpu_device *adev, enum ras_event_type type)
{
	NOT_REACHED();
	return 0;
}

int amdgpu_ras_mark_ras_event_caller(struct amdgpu_device *adev, enum ras_event_type type,
				     const void *caller)
{
	NOT_REACHED();
	return 0;
}

void amdgpu_ras_event_log_print(struct amdgpu_device *adev, u64 event_id, const char *fmt, ...)
{
	NOT_REACHED();
}

/* Checkpoint and restore of buffers: refused, a user can ask for it */
int amdgpu_amdkfd_criu_resume(void *p)
{
	return -EOPNOTSUPP;
}

int amdgpu_amdkfd_submit_ib(struct amdgpu_device *adev, enum kgd_engine_type engine, uint32_t vmid,
			    uint64_t gpu_addr, uint32_t *ib_cmd, uint32_t ib_len)
{
	NOT_REACHED();	/* without HWS only */
	return -EOPNOTSUPP;
}

int amdgpu_ttm_tt_get_userptr(const struct ttm_buffer_object *tbo, uint64_t *user_addr)
{
	NOT_REACHED();	/* CRIU only */
	return -EOPNOTSUPP;
}
