/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* kfdsim: the GPUs that can be modelled, as data */
#ifndef KFDSIM_PROFILES_H
#define KFDSIM_PROFILES_H

#include <linux/types.h>

/*
 * CWSR as it was measured: time stamps that CP firmware left in 64 MQDs of 16 compute queues on
 * MI308X GPUs (gfx9.4.3, 4 XCCs, 80 CUs, 1420 MHz, MEC firmware 165) with the stock driver:
 * github.com/zhenhantech/Rampup_clean, topic/queues/kfd/log/.
 *	save			37 to 754 us, median 327
 *	its end to the restore	97 to 277 us; of the first queue of each process 137 to 199
 * How many waves those queues had is not known.  The model takes the least for a queue with next to
 * none, and the median for one that fills the GPU; so a save takes
 *	SIM_SAVE_US + (SIM_SAVE_FULL_US - SIM_SAVE_US) * live state / state of a full GPU
 * Every profile has these figures: that they hold for a GPU of another scale is a guess, and so is
 * that waves come back at the rate at which they are saved, for which there is no measurement.
 */
#define SIM_SAVE_US		37
#define SIM_SAVE_FULL_US	327
#define SIM_RESTORE_US		150

/**
 * struct sim_profile - figures of one GPU
 * @name: value of the module parameter gpu=
 * @marketing: for the log
 * @asic_type: enum amd_asic_type
 * @family: AMDGPU_FAMILY_* that libdrm sees
 * @gc: version of the graphics core, IP_VERSION()
 * @sdma: version of the SDMA engines, IP_VERSION()
 * @device_id: PCI device ID that user space sees
 * @pci_rev: PCI revision, by which libdrm knows the marketing name
 * @rev_id: chip revision
 * @mes: the scheduler is MES, otherwise HWS
 * @xgmi: the chip has xGMI links (none is connected): amdkfd leaves two SDMA engines to PCIe
 * @num_xcc: accelerator dies (XCCs); each has what the following say
 * @num_se: shader engines of an XCC
 * @sa_per_se: shader arrays of a shader engine
 * @cu_per_sa_max: physical compute units of a shader array
 * @cu_per_xcc: active compute units of an XCC, spread evenly over its arrays
 * @simd_per_cu: SIMDs in a compute unit
 * @waves_per_simd: waves a SIMD can hold
 * @wave_size: work-items of a wave
 * @lds_kb: local data share of a compute unit, KiB
 * @scratch_slots: waves of a compute unit that can have scratch memory
 * @pipes: compute pipes of the first MEC, the only one that KFD uses
 * @queues_per_pipe: hardware queue slots of each
 * @kernel_queues: compute queues that amdgpu keeps on it for itself, unless num_kcq says otherwise
 * @first_kfd_vmid: the first VMID that is KFD's; the rest up to 15 are too
 * @num_sdma: SDMA engines
 * @sdma_doorbell: index of the first SDMA doorbell, in 64-bit doorbells
 * @sdma_doorbells: distance from one engine to the next
 * @last_non_cp: last doorbell index that is not the compute engine's
 * @ctx_bytes_per_cu: state of one compute unit at full occupancy, bytes
 * @vram_mb: VRAM, MiB
 * @mem_bw_gbs: peak memory bandwidth, GB/s
 * @vram_bits: memory bus width
 * @vram_type: AMDGPU_VRAM_TYPE_*
 * @engine_mhz: highest engine clock
 * @mem_mhz: highest memory clock
 * @l1_kb: L1 (TCP) of a compute unit, KiB. The sizes from here on count where amdkfd asks
 *	the device for its caches (9.4.3, 11, 12) instead of having a table
 * @l1i_kb: instruction cache, KiB
 * @l1s_kb: scalar data cache, KiB
 * @cu_per_sqc: compute units that share these two; never 0, which amdkfd does not survive
 * @gl1_kb: GL1 of a shader array, KiB (11, 12)
 * @l2_kb: L2 of an XCC, KiB
 * @mall_mb: last level cache, MiB
 * @mec_fw: firmware version reported for the compute engine
 * @sdma_fw: firmware version reported for SDMA
 */
struct sim_profile {
	const char *name;
	const char *marketing;
	int asic_type;
	int family;
	u32 gc;
	u32 sdma;
	u16 device_id;
	u8 pci_rev;
	u8 rev_id;
	bool mes;
	bool xgmi;
	u8 num_xcc;
	u8 num_se;
	u8 sa_per_se;
	u8 cu_per_sa_max;
	u8 cu_per_xcc;
	u8 simd_per_cu;
	u8 waves_per_simd;
	u8 wave_size;
	u8 lds_kb;
	u8 scratch_slots;
	u8 pipes;
	u8 queues_per_pipe;
	u8 kernel_queues;
	u8 first_kfd_vmid;
	u8 num_sdma;
	u16 sdma_doorbell;
	u16 sdma_doorbells;
	u16 last_non_cp;
	u32 ctx_bytes_per_cu;
	u32 vram_mb;
	u32 mem_bw_gbs;
	u32 vram_bits;
	u32 vram_type;
	u32 engine_mhz;
	u32 mem_mhz;
	u16 l1_kb;
	u16 l1i_kb;
	u16 l1s_kb;
	u8 cu_per_sqc;
	u16 gl1_kb;
	u32 l2_kb;
	u16 mall_mb;
	u32 mec_fw;
	u32 sdma_fw;
};

const struct sim_profile *sim_profile_find(const char *name, size_t len);
const char *sim_profile_names(void);

/* Active compute units of the whole GPU */
static inline u32 sim_num_cu(const struct sim_profile *p)
{
	return p->num_xcc * p->cu_per_xcc;
}

static inline u32 sim_waves_per_cu(const struct sim_profile *p)
{
	return p->simd_per_cu * p->waves_per_simd;
}

/* Waves that one XCC holds */
static inline u32 sim_xcc_max_waves(const struct sim_profile *p)
{
	return p->cu_per_xcc * sim_waves_per_cu(p);
}

/* Waves that the whole GPU holds */
static inline u32 sim_max_waves(const struct sim_profile *p)
{
	return sim_num_cu(p) * sim_waves_per_cu(p);
}

/* Compute queues that amdgpu keeps for itself; dev.c */
u32 sim_kernel_queues(const struct sim_profile *p);

/* Compute queue slots left to KFD, the same on each XCC: a queue takes one on all of them */
static inline u32 sim_hqds(const struct sim_profile *p)
{
	return p->pipes * p->queues_per_pipe - sim_kernel_queues(p);
}

/* VMIDs left to KFD */
static inline u32 sim_vmids(const struct sim_profile *p)
{
	return 16 - p->first_kfd_vmid;
}

#endif
