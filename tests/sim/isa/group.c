// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: a work-group begins as the kernel descriptor and the packet say: LLVM's "User Guide for AMDGPU Backend",
 * "Kernel Descriptor" and "Initial Kernel Execution State".
 */
#include "isa-int.h"

/* Fields of a kernel descriptor, bytes from its begin */
#define KD_GROUP_BYTES		0
#define KD_PRIVATE_BYTES	4
#define KD_ENTRY		16
#define KD_RSRC3		44
#define KD_RSRC1		48
#define KD_RSRC2		52
#define KD_PROPERTIES		56
#define KD_PRELOAD		58

/* Their bits */
#define RSRC1_VGPRS(r)		((r) & 0x3f)
#define RSRC1_ROUND_32(r)	((r) >> 12 & 3)
#define RSRC1_DENORM_32(r)	((r) >> 16 & 3)
#define DENORM_FLUSH		0
#define DENORM_KEEP		3
#define RSRC2_PRIVATE(r)	((r) & 1)
#define RSRC2_USER_SGPRS(r)	((r) >> 1 & 0x1f)
#define RSRC2_ID(r, i)		((r) >> (7 + (i)) & 1)
#define RSRC2_INFO(r)		((r) >> 10 & 1)
#define RSRC2_ITEM_ID(r)	((r) >> 11 & 3)
#define RSRC2_LDS(r)		((r) >> 15 & 0x1ff)
#define LDS_UNIT		512	/* bytes, of COMPUTE_PGM_RSRC2.LDS_SIZE */
#define PROP_WAVE32		(1 << 10)
#define PROP_DYNAMIC_STACK	(1 << 11)

static u32 field(const struct isa_dispatch *d, u32 at)
{
	u32 value;

	memcpy(&value, d->descriptor + at, sizeof(value));
	return value;
}

/* The item's numbers share a register */
static bool packed_ids(enum isa_target target)
{
	return target == ISA_GFX90A || target == ISA_GFX942 || target == ISA_GFX1100;
}

/**
 * isa_describe - what a descriptor would say of a kernel that registers describe, as PM4 does
 * @d: its descriptor is set
 * @rsrc: COMPUTE_PGM_RSRC1, 2, 3
 * @wave32: COMPUTE_DISPATCH_INITIATOR.CS_W32_EN
 */
void isa_describe(struct isa_dispatch *d, const u32 rsrc[3], bool wave32)
{
	u32 lds = RSRC2_LDS(rsrc[1]) * LDS_UNIT, properties = wave32 ? PROP_WAVE32 : 0;

	memset(d->descriptor, 0, sizeof(d->descriptor));
	memcpy(d->descriptor + KD_GROUP_BYTES, &lds, sizeof(lds));
	memcpy(d->descriptor + KD_RSRC3, &rsrc[2], sizeof(rsrc[2]));
	memcpy(d->descriptor + KD_RSRC1, &rsrc[0], 2 * sizeof(rsrc[0]));
	memcpy(d->descriptor + KD_PROPERTIES, &properties, sizeof(properties));
}

/**
 * isa_entry - where the code of a kernel begins
 * @d: the descriptor is there
 * @descriptor_va: its address
 */
u64 isa_entry(const struct isa_dispatch *d, u64 descriptor_va)
{
	u64 offset;

	memcpy(&offset, d->descriptor + KD_ENTRY, sizeof(offset));
	return descriptor_va + offset;
}

/**
 * isa_lanes - lanes of a kernel's waves
 * @target: whose
 * @d: the descriptor is there
 */
u32 isa_lanes(enum isa_target target, const struct isa_dispatch *d)
{
	return isa_generation(target) && field(d, KD_PROPERTIES) & PROP_WAVE32 ? 32 : 64;
}

static u32 vgprs(const struct isa_program *prog, const struct isa_dispatch *d)
{
	u32 unit = prog->target == ISA_GFX90A || prog->target == ISA_GFX942 || prog->lanes == 32 ? 8 : 4;
	u32 n = (RSRC1_VGPRS(field(d, KD_RSRC1)) + 1) * unit;

	return n > ISA_VGPRS ? ISA_VGPRS : n;
}

/**
 * isa_check - can a dispatch of a kernel be executed?
 * @prog: what isa_scan() has made of its code
 * @d: the dispatch; @size and @grid are as the packet processor accepts them
 *
 * Return: ISA_OK, or why not: ISA_REGISTERS, ISA_DISPATCH.
 */
enum isa_reason isa_check(const struct isa_program *prog, const struct isa_dispatch *d)
{
	u32 rsrc1 = field(d, KD_RSRC1), rsrc2 = field(d, KD_RSRC2), prop = field(d, KD_PROPERTIES);
	u32 denorm = RSRC1_DENORM_32(rsrc1);

	if (prog->vgprs > vgprs(prog, d))
		return ISA_REGISTERS;
	/* arguments in registers */
	if (prop & PROP_DYNAMIC_STACK || field(d, KD_PRELOAD) & 0xffff)
		return ISA_DISPATCH;
	if (RSRC1_ROUND_32(rsrc1) || (denorm != DENORM_FLUSH && denorm != DENORM_KEEP))
		return ISA_DISPATCH;
	if (field(d, KD_GROUP_BYTES) > ISA_LDS_BYTES || d->group_bytes > ISA_LDS_BYTES)
		return ISA_DISPATCH;
	/* the registers of a group's numbers follow those */
	return RSRC2_USER_SGPRS(rsrc2) > 16 ? ISA_DISPATCH : ISA_OK;
}

/**
 * isa_scratch_bytes - does a dispatch need scratch memory?
 * @d: the dispatch
 * @bytes: gets the size, of a work-item; 0: registers do not tell it
 */
bool isa_scratch_bytes(const struct isa_dispatch *d, u32 *bytes)
{
	*bytes = field(d, KD_PRIVATE_BYTES);
	if (d->private_bytes > *bytes)
		*bytes = d->private_bytes;
	return *bytes || RSRC2_PRIVATE(field(d, KD_RSRC2));
}

/**
 * isa_groups - work-groups of a dispatch
 * @d: the dispatch
 * @count: gets their number in each dimension
 */
void isa_groups(const struct isa_dispatch *d, u32 count[3])
{
	u32 i;

	for (i = 0; i < 3; i++)
		count[i] = i < d->dims ? d->grid[i] / d->size[i] + !!(d->grid[i] % d->size[i]) : 1;
}

/**
 * isa_group_init - what all groups of a dispatch have in common
 * @g: filled
 * @prog: the code; isa_check() accepts the dispatch
 * @mem: the memory of the process
 * @d: the dispatch
 */
void isa_group_init(struct isa_group *g, const struct isa_program *prog, struct isa_memory *mem,
		    const struct isa_dispatch *d)
{
	u32 items = 1, i, bytes = field(d, KD_GROUP_BYTES);

	for (i = 0; i < d->dims; i++)
		items *= d->size[i];
	memset(g, 0, sizeof(*g));
	g->prog = prog;
	g->mem = mem;
	g->lanes = prog->lanes;
	g->nwaves = (items + g->lanes - 1) / g->lanes;
	g->vgprs = vgprs(prog, d);
	bytes = bytes > d->group_bytes ? bytes : d->group_bytes;
	g->lds_bytes = (bytes + 3) & ~3u;
	g->denormals = RSRC1_DENORM_32(field(d, KD_RSRC1)) == DENORM_KEEP;
}

/**
 * isa_group_bytes - memory that a group needs
 * @g: from isa_group_init()
 */
size_t isa_group_bytes(const struct isa_group *g)
{
	return (size_t)g->nwaves * g->vgprs * g->lanes * 4 + g->lds_bytes;
}

/* The buffer resource of scratch memory: with more than one number of lanes, the packet processor says which it is */
static void resource(const struct isa_group *g, const struct isa_dispatch *d, u32 *s)
{
	memcpy(s, d->scratch.rsrc, sizeof(d->scratch.rsrc));
	if (isa_generation(g->prog->target))
		s[3] = (s[3] & ~(3u << 21)) | (g->lanes == 64 ? 3u : 2u) << 21;
}

/* The registers that the kernel asks for, then those of the group's number, and where the wave's scratch memory is */
static void scalars(const struct isa_group *g, const struct isa_dispatch *d, const u32 id[3], u32 wave, u32 *s)
{
	static const u8 widths[] = { 4, 2, 2, 2, 2, 2, 1 };
	u32 prop = field(d, KD_PROPERTIES), rsrc2 = field(d, KD_RSRC2), n = 0, i;
	const u64 values[] = { 0, d->packet, d->queue, d->kernarg, d->id, d->scratch.base, d->private_bytes };
	u64 offset = (u64)(d->scratch.first + wave) * d->scratch.wave_bytes;

	for (i = 0; d->user && i < RSRC2_USER_SGPRS(rsrc2); i++)
		s[i] = d->user[i];
	for (i = 0; i < 7; i++) {
		if (!(prop & 1 << i))
			continue;
		s[n] = (u32)values[i];
		if (!i)
			resource(g, d, s);
		else if (widths[i] > 1)
			s[n + 1] = (u32)(values[i] >> 32);
		n += widths[i];
	}
	n = RSRC2_USER_SGPRS(rsrc2);
	for (i = 0; i < 3; i++)
		if (RSRC2_ID(rsrc2, i))
			s[n++] = id[i];
	if (RSRC2_INFO(rsrc2))
		s[n++] = 0;
	if (isa_architected(g->prog->target)) {
		s[isa_flat_scratch(g->prog->target)] = (u32)(d->scratch.base + offset);
		s[isa_flat_scratch(g->prog->target) + 1] = (u32)((d->scratch.base + offset) >> 32);
	} else if (RSRC2_PRIVATE(rsrc2)) {
		s[n] = (u32)offset;
	}
}

/* The number of an item in its group; an item that the grid does not have is not in its wave */
static void items(struct isa_group *g, const struct isa_dispatch *d, const u32 size[3])
{
	/* cppcheck-suppress ctuArrayIndex; an array of the caller */
	u32 n = RSRC2_ITEM_ID(field(d, KD_RSRC2)), i, l, item, total = size[0] * size[1] * size[2];
	u32 x, y, z;

	for (i = 0; i < g->nwaves; i++) {
		struct isa_wave *w = &g->wave[i];

		for (l = 0; l < g->lanes; l++) {
			item = i * g->lanes + l;
			if (item >= total)
				break;
			w->s[ISA_EXEC + l / 32] |= 1u << l % 32;
			x = item % size[0];
			y = n > 0 ? item / size[0] % size[1] : 0;
			z = n > 1 ? item / size[0] / size[1] : 0;
			if (packed_ids(g->prog->target)) {
				w->v[l] = x | y << 10 | z << 20;
				continue;
			}
			w->v[l] = x;
			if (n > 0 && g->vgprs > 1)
				w->v[g->lanes + l] = y;
			if (n > 1 && g->vgprs > 2)
				w->v[2 * g->lanes + l] = z;
		}
	}
}

/**
 * isa_group_start - a work-group begins
 * @g: from isa_group_init()
 * @d: the dispatch
 * @id: the group's number in each dimension
 * @space: isa_group_bytes() of memory, aligned for u64
 *
 * A group at the end of the grid may have fewer items, and fewer waves.
 */
void isa_group_start(struct isa_group *g, const struct isa_dispatch *d, const u32 id[3], void *space)
{
	u32 size[3], total = 1, i, left;
	u32 *v = space;

	for (i = 0; i < 3; i++) {
		size[i] = 1;
		if (i < d->dims) {
			left = d->grid[i] - id[i] * d->size[i];
			size[i] = left < d->size[i] ? left : d->size[i];
		}
		total *= size[i];
	}
	g->nwaves = (total + g->lanes - 1) / g->lanes;
	memset(space, 0, isa_group_bytes(g));
	memset(g->wave, 0, sizeof(g->wave));
	g->turn = 0;
	g->turn_left = ISA_TURN;
	for (i = 0; i < g->nwaves; i++) {
		g->wave[i].v = v;
		v += (size_t)g->vgprs * g->lanes;
		scalars(g, d, id, i, g->wave[i].s);
	}
	g->lds = (u8 *)v;
	items(g, d, size);
}
