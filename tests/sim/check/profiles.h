/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What real GPUs have: from AMD's data sheets, the CDNA 3 white paper and topology listings of real GPUs, not from the
 * simulator. Included by sim-profiles once.
 */
#ifndef CHECK_PROFILES_H
#define CHECK_PROFILES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * @arrays: shader arrays of the whole GPU, @cu_array: compute units of each, if none were disabled
 * @ctx_kb: state of a compute unit: VGPRs, 16 KiB SGPRs, 64 KiB LDS, 4 KiB of registers
 * @gbs: memory bandwidth, GB/s
 * @occupancy: KFD can ask how many waves are in flight (gfx9)
 */
static const struct sheet {
	const char *name;
	uint16_t device;
	uint32_t gfx, cus, xccs, wave, simds, waves_simd, arrays, se_arrays, cu_array, mhz;
	uint32_t hqds, vmids, sdma, sdma_xgmi, sdma_queues;
	uint32_t vram_mb, bits, gbs, ctx_kb, l1_kb, l2_kb, l3_mb;
	bool occupancy, mes;
} sheets[] = {
	{ "mi210", 0x740f, 90010, 104, 1, 64, 4, 8, 8, 1, 14, 1700,
	  24, 8, 2, 3, 8, 65536, 4096, 1638, 512 + 84, 16, 8192, 0, true, false },
	{ "mi300x", 0x74a1, 90402, 304, 8, 64, 4, 8, 32, 1, 10, 2100,
	  24, 13, 2, 14, 8, 196608, 8192, 5325, 512 + 84, 32, 4096, 256, true, false },
	{ "navi21", 0x73bf, 100300, 80, 1, 32, 2, 16, 8, 2, 10, 2250,
	  8, 8, 4, 0, 8, 16384, 256, 512, 256 + 84, 16, 4096, 128, false, false },
	{ "navi31", 0x744c, 110000, 96, 1, 32, 2, 16, 12, 2, 8, 2499,
	  8, 8, 2, 0, 6, 24576, 384, 960, 384 + 84, 32, 6144, 96, false, true },
	{ "gfx12", 0x7550, 120001, 64, 1, 32, 2, 16, 8, 2, 8, 2970,
	  4, 8, 2, 0, 6, 16384, 256, 640, 384 + 84, 32, 8192, 64, false, true },
};

#endif
