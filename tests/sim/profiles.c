// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: GPU profiles.
 *
 * Sources, unless a profile says otherwise
 *	PCI ID and revision			libdrm, amdgpu.ids
 *	clocks, memory, compute units		AMD's data sheets and architecture papers
 *	pipes, queues per pipe			gfx_v*_sw_init() of amdgpu (first MEC only);
 *						8 of them the kernel's: amdgpu_gfx.c,
 *						AMDGPU_MAX_COMPUTE_RINGS
 *	first_kfd_vmid				gmc_v*_sw_init()
 *	SDMA engines, doorbell indices		amdgpu_doorbell.h, *_doorbell_index_init()
 *	state per compute unit			kfd_queue.c: VGPRs, SGPRs, LDS, registers
 *	firmware versions			at or above what kfd_device.c and
 *						kfd_topology.c ask for; otherwise a guess
 */
#include "sim.h"
#include <drm/amdgpu_drm.h>

/* kfd_queue.c: SGPR_SIZE_PER_CU + LDS_SIZE_PER_CU + HWREG_SIZE_PER_CU, beside the VGPRs */
#define CTX_BESIDE_VGPRS	(0x4000 + 0x10000 + 0x1000)

static const struct sim_profile profiles[] = {
	{
		/*
		 * Instinct MI210: one die of an MI250, gfx90a, 104 CUs, 64 GB HBM2e at
		 * 1638 GB/s. VGPRs: 512 KiB with the accumulation registers.
		 */
		.name = "mi210",
		.marketing = "Instinct MI210",
		.asic_type = CHIP_ALDEBARAN,
		.family = AMDGPU_FAMILY_AI,
		.gc = IP_VERSION(9, 4, 2),
		.sdma = IP_VERSION(4, 4, 0),
		.device_id = 0x740f,
		.pci_rev = 0x02,
		.rev_id = 2,
		.xgmi = true,
		.num_xcc = 1,
		.num_se = 8,
		.sa_per_se = 1,
		.cu_per_sa_max = 14,
		.cu_per_xcc = 104,
		.simd_per_cu = 4,
		.waves_per_simd = 8,
		.wave_size = 64,
		.lds_kb = 64,
		.scratch_slots = 32,
		.pipes = 4,
		.queues_per_pipe = 8,
		.kernel_queues = 8,
		.first_kfd_vmid = 8,
		.num_sdma = 5,
		.sdma_doorbell = AMDGPU_VEGA20_DOORBELL_sDMA_ENGINE0,
		.sdma_doorbells = 10,
		.last_non_cp = AMDGPU_VEGA20_DOORBELL64_LAST_NON_CP,
		.ctx_bytes_per_cu = 0x80000 + CTX_BESIDE_VGPRS,
		.vram_mb = 65536,
		.mem_bw_gbs = 1638,
		.vram_bits = 4096,
		.vram_type = AMDGPU_VRAM_TYPE_HBM,
		.engine_mhz = 1700,
		.mem_mhz = 1600,
		.cu_per_sqc = 2,
		.mec_fw = 78,
		.sdma_fw = 8,
	},
	{
		/*
		 * Instinct MI300X in SPX mode: 8 XCCs of 38 CUs (of 40), 192 GB HBM3 at
		 * 5.3 TB/s, 256 MB last level cache, 4 SDMA engines on each of 4 I/O dies.
		 * AMD CDNA 3 white paper: L1 32 KB, 64 KB instruction cache and 16 KB scalar
		 * cache per 2 CUs, 4 MB L2 per XCC. KFD's VMIDs begin at 3 (gmc_v9_0.c).
		 */
		.name = "mi300x",
		.marketing = "Instinct MI300X",
		.asic_type = CHIP_IP_DISCOVERY,
		.family = AMDGPU_FAMILY_AI,
		.gc = IP_VERSION(9, 4, 3),
		.sdma = IP_VERSION(4, 4, 2),
		.device_id = 0x74a1,
		.rev_id = 1,
		.xgmi = true,
		.num_xcc = 8,
		.num_se = 4,
		.sa_per_se = 1,
		.cu_per_sa_max = 10,
		.cu_per_xcc = 38,
		.simd_per_cu = 4,
		.waves_per_simd = 8,
		.wave_size = 64,
		.lds_kb = 64,
		.scratch_slots = 32,
		.pipes = 4,
		.queues_per_pipe = 8,
		.kernel_queues = 8,
		.first_kfd_vmid = 3,
		.num_sdma = 16,
		.sdma_doorbell = AMDGPU_DOORBELL_LAYOUT1_sDMA_ENGINE_START,
		.sdma_doorbells = 10,
		.last_non_cp = AMDGPU_DOORBELL_LAYOUT1_LAST_NON_CP,
		.ctx_bytes_per_cu = 0x80000 + CTX_BESIDE_VGPRS,
		.vram_mb = 196608,
		.mem_bw_gbs = 5325,
		.vram_bits = 8192,
		.vram_type = AMDGPU_VRAM_TYPE_HBM,
		.engine_mhz = 2100,
		.mem_mhz = 1300,
		.l1_kb = 32,
		.l1i_kb = 64,
		.l1s_kb = 16,
		.cu_per_sqc = 2,
		.l2_kb = 4096,
		.mall_mb = 256,
		.mec_fw = 155,
		.sdma_fw = 19,
	},
	{
		/*
		 * Radeon RX 6900 XT (Navi21, Sienna Cichlid): 80 CUs in 4 shader engines
		 * of 2 arrays, wave32, 16 GB GDDR6 at 512 GB/s, 128 MB last level cache.
		 * gfx_v10_0.c: 4 pipes of 4 queues, 2 SIMDs. Four SDMA engines:
		 * sdma_v5_2_early_init() of Linux 5.15.
		 */
		.name = "navi21",
		.marketing = "Radeon RX 6900 XT",
		.asic_type = CHIP_SIENNA_CICHLID,
		.family = AMDGPU_FAMILY_NV,
		.gc = IP_VERSION(10, 3, 0),
		.sdma = IP_VERSION(5, 2, 0),
		.device_id = 0x73bf,
		.pci_rev = 0xc0,
		.rev_id = 1,
		.num_xcc = 1,
		.num_se = 4,
		.sa_per_se = 2,
		.cu_per_sa_max = 10,
		.cu_per_xcc = 80,
		.simd_per_cu = 2,
		.waves_per_simd = 16,
		.wave_size = 32,
		.lds_kb = 64,
		.scratch_slots = 32,
		.pipes = 4,
		.queues_per_pipe = 4,
		.kernel_queues = 8,
		.first_kfd_vmid = 8,
		.num_sdma = 4,
		.sdma_doorbell = AMDGPU_NAVI10_DOORBELL_sDMA_ENGINE0,
		.sdma_doorbells = 10,
		.last_non_cp = AMDGPU_NAVI10_DOORBELL64_LAST_NON_CP,
		.ctx_bytes_per_cu = 0x40000 + CTX_BESIDE_VGPRS,
		.vram_mb = 16384,
		.mem_bw_gbs = 512,
		.vram_bits = 256,
		.vram_type = AMDGPU_VRAM_TYPE_GDDR6,
		.engine_mhz = 2250,
		.mem_mhz = 1000,
		.cu_per_sqc = 2,
		.mall_mb = 128,
		.mec_fw = 116,
		.sdma_fw = 83,
	},
	{
		/*
		 * Radeon RX 7900 XTX (Navi31): 96 CUs in 6 shader engines of 2 arrays, wave32,
		 * 24 GB GDDR6 at 960 GB/s, 96 MB last level cache. gfx_v11_0.c: 4 pipes of 4
		 * queues, two of each MES's (amdgpu_mes.c, compute_hqd_mask). ROCr 5.2 of
		 * Debian 12 knows no gfx11 at all, whatever the device ID.
		 */
		.name = "navi31",
		.marketing = "Radeon RX 7900 XTX",
		.asic_type = CHIP_IP_DISCOVERY,
		.family = AMDGPU_FAMILY_GC_11_0_0,
		.gc = IP_VERSION(11, 0, 0),
		.sdma = IP_VERSION(6, 0, 0),
		.device_id = 0x744c,
		.rev_id = 1,
		.mes = true,
		.num_xcc = 1,
		.num_se = 6,
		.sa_per_se = 2,
		.cu_per_sa_max = 8,
		.cu_per_xcc = 96,
		.simd_per_cu = 2,
		.waves_per_simd = 16,
		.wave_size = 32,
		.lds_kb = 64,
		.scratch_slots = 32,
		.pipes = 4,
		.queues_per_pipe = 4,
		.kernel_queues = 8,
		.first_kfd_vmid = 8,
		.num_sdma = 2,
		.sdma_doorbell = AMDGPU_NAVI10_DOORBELL_sDMA_ENGINE0,
		.sdma_doorbells = 10,
		.last_non_cp = AMDGPU_NAVI10_DOORBELL64_LAST_NON_CP,
		.ctx_bytes_per_cu = 0x60000 + CTX_BESIDE_VGPRS,
		.vram_mb = 24576,
		.mem_bw_gbs = 960,
		.vram_bits = 384,
		.vram_type = AMDGPU_VRAM_TYPE_GDDR6,
		.engine_mhz = 2499,
		.mem_mhz = 1249,
		.l1_kb = 32,
		.l1i_kb = 32,
		.l1s_kb = 16,
		.cu_per_sqc = 2,
		.gl1_kb = 256,
		.l2_kb = 6144,
		.mall_mb = 96,
		.mec_fw = 550,
		.sdma_fw = 21,
	},
	{
		/*
		 * Radeon RX 9070 XT (Navi48): 64 CUs in 4 shader engines of 2 arrays, wave32,
		 * 16 GB GDDR6 at 640 GB/s, 64 MB last level cache. gfx_v12_0.c: 2 pipes of 4
		 * queues, two of each MES's (amdgpu_mes.c, compute_hqd_mask).
		 */
		.name = "gfx12",
		.marketing = "Radeon RX 9070 XT",
		.asic_type = CHIP_IP_DISCOVERY,
		.family = AMDGPU_FAMILY_GC_12_0_0,
		.gc = IP_VERSION(12, 0, 1),
		.sdma = IP_VERSION(7, 0, 1),
		.device_id = 0x7550,
		.rev_id = 1,
		.mes = true,
		.num_xcc = 1,
		.num_se = 4,
		.sa_per_se = 2,
		.cu_per_sa_max = 8,
		.cu_per_xcc = 64,
		.simd_per_cu = 2,
		.waves_per_simd = 16,
		.wave_size = 32,
		.lds_kb = 64,
		.scratch_slots = 32,
		.pipes = 2,
		.queues_per_pipe = 4,
		.kernel_queues = 4,
		.first_kfd_vmid = 8,
		.num_sdma = 2,
		.sdma_doorbell = AMDGPU_NAVI10_DOORBELL_sDMA_ENGINE0,
		.sdma_doorbells = 10,
		.last_non_cp = AMDGPU_NAVI10_DOORBELL64_LAST_NON_CP,
		.ctx_bytes_per_cu = 0x60000 + CTX_BESIDE_VGPRS,
		.vram_mb = 16384,
		.mem_bw_gbs = 640,
		.vram_bits = 256,
		.vram_type = AMDGPU_VRAM_TYPE_GDDR6,
		.engine_mhz = 2970,
		.mem_mhz = 1258,
		.l1_kb = 32,
		.l1i_kb = 32,
		.l1s_kb = 16,
		.cu_per_sqc = 2,
		.l2_kb = 8192,
		.mall_mb = 64,
		.mec_fw = 2100,
		.sdma_fw = 23,
	},
};

/**
 * sim_profile_find - look a profile up
 * @name: its name, need not be terminated
 * @len: length of @name
 */
const struct sim_profile *sim_profile_find(const char *name, size_t len)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(profiles); i++)
		if (strlen(profiles[i].name) == len && !strncmp(profiles[i].name, name, len))
			return &profiles[i];
	return NULL;
}

/**
 * sim_profile_names - all names, separated by blanks, for messages
 *
 * Not reentrant: called while the module is loaded only.
 */
const char *sim_profile_names(void)
{
	static char buf[128];
	int i, n = 0;

	for (i = 0; i < ARRAY_SIZE(profiles); i++)
		n += scnprintf(buf + n, sizeof(buf) - n, "%s%s", i ? " " : "", profiles[i].name);
	return buf;
}
