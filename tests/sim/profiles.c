// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: GPU profiles.
 *
 * Sources: amdkfd (kfd_queue.c for the state per compute unit, kfd_device.c for
 * firmware requirements), AMD's data sheets for clocks, memory and compute units.
 */
#include "amdgpu.h"
#include "profiles.h"

static const struct sim_profile profiles[] = {
	{
		/*
		 * Instinct MI210: one die of an MI250, gfx90a, 104 CUs, 64 GB HBM2e at
		 * 1638 GB/s. Four pipes of eight queues, eight of them the kernel's.
		 * State per CU: 512 KiB VGPRs (incl. accumulation registers), 16 KiB
		 * SGPRs, 64 KiB LDS, 4 KiB of hardware registers.
		 */
		.name = "mi210",
		.marketing = "Instinct MI210",
		.asic_type = CHIP_ALDEBARAN,
		.gc = IP_VERSION(9, 4, 2),
		.sdma = IP_VERSION(4, 4, 0),
		.device_id = 0x740f,
		.rev_id = 2,
		.num_se = 8,
		.cu_per_se = 13,
		.cu_per_se_max = 14,
		.simd_per_cu = 4,
		.waves_per_simd = 8,
		.num_sdma = 5,
		.ctx_bytes_per_cu = 0x80000 + 0x4000 + 0x10000 + 0x1000,
		.vram_mb = 65536,
		.mem_bw_gbs = 1638,
		.vram_bits = 4096,
		.engine_mhz = 1700,
		.mem_mhz = 1600,
		.hqds = 24,
		.mec_fw = 78,
		.sdma_fw = 8,
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
