/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What KFD's debugfs shows of queues and HQDs, for the check of the profiles; included by it once.
 */
#ifndef CHECK_DUMPS_H
#define CHECK_DUMPS_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "tap.h"

#define KFD_DEBUGFS	"/sys/kernel/debug/kfd/"

/* Dwords of a compute MQD, v11_structs.h */
enum {
	MQD_DOORBELL_CONTROL = 143,
	MQD_PQ_CONTROL = 145,
	MQD_CNTL_STACK_OFFSET = 174,
	MQD_CNTL_STACK_SIZE = 175,
	MQD_AQL_CONTROL = 181,
	MQD_DWORDS = 256,
};

/*
 * Two registers of an AQL queue of 1 MiB on a gfx1151, Linux 7.1.3, as its HQD had them (legacy-rocm-build issue 6437), by the fields of
 * gc_11_0_0_sh_mask.h. CP_HQD_PQ_CONTROL was 0x18084511: QUEUE_SIZE 17 (2^18 dwords), RPTR_BLOCK_SIZE 5, QUEUE_FULL_EN,
 * SLOT_BASED_WPTR 2, NO_UPDATE_RPTR, UNORD_DISPATCH; PQ_EMPTY (bit 15) was 0. CP_HQD_PQ_DOORBELL_CONTROL was 0xe000400a: DOORBELL_BIF_DROP,
 * DOORBELL_OFFSET 0x1002, and three bits that are the hardware's, DOORBELL_SCHD_HIT, _EN, _HIT.
 */
#define GFX1151_RING_BYTES		(1u << 20)
#define GFX1151_PQ_CONTROL		0x18084511u
#define GFX1151_DOORBELL_CONTROL	0xe000400au
#define PQ_CONTROL_UNORD_DISPATCH	(1u << 28)	/* amdkfd of 6.1 does not set it */
#define DOORBELL_CONTROL_OFFSET		0x0ffffffcu
#define DOORBELL_CONTROL_HARDWARE	0xe0000000u

/* The first MQD of the last compute queue on the GPU of that ID; others are not created meanwhile. Return: dwords that were read */
static inline unsigned int dump_mqd(uint32_t gpu_id, uint32_t mqd[MQD_DWORDS])
{
	char line[256], title[64];
	unsigned int at, n = 0;
	bool mine = false;
	uint32_t dw[8];
	FILE *f = fopen(KFD_DEBUGFS "mqds", "r");

	snprintf(title, sizeof(title), "  Compute queue on device %x\n", gpu_id);
	while (f && fgets(line, sizeof(line), f)) {
		if (strstr(line, "queue on device ")) {
			mine = !strcmp(line, title);
			n = mine ? 0 : n;
		}
		if (!mine || sscanf(line, " %x: %x %x %x %x %x %x %x %x", &at, &dw[0], &dw[1], &dw[2], &dw[3], &dw[4], &dw[5],
				    &dw[6], &dw[7]) != 9 || at != n * 4 || n > MQD_DWORDS - 8)
			continue;
		memcpy(mqd + n, dw, sizeof(dw));
		n += 8;
	}
	if (f)
		fclose(f);
	return n;
}

/* Headings of KFD's list of HQDs that begin with @what, of the GPU of that ID */
static inline unsigned int dump_hqds(uint32_t gpu_id, const char *what)
{
	char line[256], id[32];
	unsigned int n = 0;
	bool mine = false;
	FILE *f = fopen(KFD_DEBUGFS "hqds", "r");

	snprintf(id, sizeof(id), ", gpu_id %x:\n", gpu_id);
	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "Node ", 5))
			mine = strstr(line, id);
		n += mine && strstr(line, what);
	}
	if (f)
		fclose(f);
	return n;
}

#endif
