/* SPDX-License-Identifier: GPL-2.0 */
/* Dispatches by PM4 of the kernels of execute.h; each program includes it once */
#ifndef CHECK_EXECUTE_PM4_H
#define CHECK_EXECUTE_PM4_H

#include "execute.h"

enum { PROP_SCRATCH = 0, PROP_PACKET = 1, PROP_KERNARG = 3, PROP_FLAT = 5, PROP_FIXED = 7 };

#define LDS_SIZE(bytes)	(((bytes) + 511) / 512 << 15)	/* COMPUTE_PGM_RSRC2 */
#define TAKES_NS	(20 * MS)

/* The registers that say what the descriptor of a kernel says */
static inline struct kfdc_pm4_code registers(const struct test *t)
{
	static const uint32_t widths[PROP_FIXED] = { 4, 2, 2, 2, 2, 2, 1 };
	uint64_t kd = descriptor(t->name), args = (uintptr_t)&mem->args, packet = (uintptr_t)&mem->packet,
		 base = (uintptr_t)scratch.va;
	uint32_t i, properties = field(kd, KD_PROPERTIES);
	struct kfdc_pm4_code code = {
		.size = { GROUP, 1, 1 }, .wave32 = properties >> 10 & 1,
		.rsrc = { field(kd, KD_RSRC1), field(kd, KD_RSRC2) | LDS_SIZE(field(kd, KD_GROUP_BYTES) + t->lds), field(kd, KD_RSRC3) },
		.tmpring = scratch_slots(), .scratch = base,
	};
	int64_t distance;

	memcpy(&distance, (const char *)(uintptr_t)kd + KD_ENTRY, sizeof(distance));
	code.entry = kd + distance;
	if (code.entry % 256)
		tap_bail("%s: its code begins at %#llx, which is no multiple of 256", t->name, (unsigned long long)code.entry);
	for (i = 0; i < PROP_FIXED; i++) {
		if (!(properties >> i & 1))
			continue;
		if (i == PROP_KERNARG)
			memcpy(&code.user[code.nuser], &args, sizeof(args));
		else if (i == PROP_PACKET)
			memcpy(&code.user[code.nuser], &packet, sizeof(packet));
		else if (i == PROP_SCRATCH)
			scratch_resource(&code.user[code.nuser], code.wave32 ? 32 : 64);
		else if (i == PROP_FLAT)
			memcpy(&code.user[code.nuser], &base, sizeof(base));
		code.nuser += widths[i];
	}
	return code;
}

/* @at: where the number of work-groups is to lie; NULL: in the packet */
static inline void begin_pm4(struct kfdc_ring *r, const struct test *t, struct kfdc_signal *s, uint32_t *at)
{
	struct kfdc_pm4_code code = registers(t);
	uint32_t groups[3] = { t->groups, 1, 1 };

	set_up(t);
	/* kernels of hipcc look here for their sizes */
	mem->packet = (struct aql_dispatch){ .setup = 1, .wg = { GROUP, 1, 1 }, .grid = { t->groups * GROUP, 1, 1 } };
	if (at)
		memcpy(at, groups, sizeof(groups));
	kfdc_signal_set(s, 1);
	must(kfdc_pm4_code(r, &code));
	must(kfdc_pm4_groups(r, &code, groups, at));
	must(kfdc_pm4_signal(r, s));
	kfdc_ring_submit(r);
}

static inline void begin_direct(void *ring, const struct test *t, struct kfdc_signal *s)
{
	begin_pm4(ring, t, s, NULL);
}

static inline void toggle_pm4(void *ring)
{
	must(kfdc_ring_update(ring, 0, 7));
	must(kfdc_ring_update(ring, 100, 7));
}

static const struct way pm4 = { "PM4: ", begin_direct, toggle_pm4 };

#endif
