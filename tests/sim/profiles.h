/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* kfdsim: the GPUs that can be modelled, as data */
#ifndef KFDSIM_PROFILES_H
#define KFDSIM_PROFILES_H

#include <linux/types.h>

/**
 * struct sim_profile - figures of one GPU
 * @name: value of the module parameter gpu=
 * @marketing: for the log
 * @asic_type: enum amd_asic_type
 * @gc: version of the graphics core, IP_VERSION()
 * @sdma: version of the SDMA engines, IP_VERSION()
 * @device_id: PCI device ID that user space sees
 * @rev_id: chip revision
 * @num_se: shader engines
 * @cu_per_se: active compute units in each
 * @cu_per_se_max: physical ones
 * @simd_per_cu: SIMDs in a compute unit
 * @waves_per_simd: waves a SIMD can hold
 * @num_sdma: SDMA engines
 * @ctx_bytes_per_cu: state of one compute unit at full occupancy, bytes
 * @vram_mb: VRAM, MiB
 * @mem_bw_gbs: peak memory bandwidth, GB/s
 * @vram_bits: memory bus width
 * @engine_mhz: highest engine clock
 * @mem_mhz: highest memory clock
 * @hqds: compute queue slots left to KFD
 * @mec_fw: firmware version reported for the compute engine
 * @sdma_fw: firmware version reported for SDMA
 */
struct sim_profile {
	const char *name;
	const char *marketing;
	int asic_type;
	u32 gc;
	u32 sdma;
	u16 device_id;
	u8 rev_id;
	u8 num_se;
	u8 cu_per_se;
	u8 cu_per_se_max;
	u8 simd_per_cu;
	u8 waves_per_simd;
	u8 num_sdma;
	u32 ctx_bytes_per_cu;
	u32 vram_mb;
	u32 mem_bw_gbs;
	u32 vram_bits;
	u32 engine_mhz;
	u32 mem_mhz;
	u8 hqds;
	u32 mec_fw;
	u32 sdma_fw;
};

const struct sim_profile *sim_profile_find(const char *name, size_t len);
const char *sim_profile_names(void);

static inline u32 sim_num_cu(const struct sim_profile *p)
{
	return p->num_se * p->cu_per_se;
}

static inline u32 sim_waves_per_cu(const struct sim_profile *p)
{
	return p->simd_per_cu * p->waves_per_simd;
}

#endif
