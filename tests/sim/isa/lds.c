// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: LDS. What is beyond its end reads as 0 and is not written. A group's waves take turns, so
 * nothing here need be atomic.
 */
#include "isa-int.h"

static void read(const struct isa_group *g, u64 at, void *data, u32 bytes)
{
	memset(data, 0, bytes);
	if (at + bytes <= g->lds_bytes)
		memcpy(data, g->lds + at, bytes);
}

static void write(struct isa_group *g, u64 at, const void *data, u32 bytes)
{
	if (at + bytes <= g->lds_bytes)
		memcpy(g->lds + at, data, bytes);
}

static u64 update(struct isa_group *g, u64 at, u32 kind, u32 width, u64 data, u64 compare)
{
	u64 old = 0, value;

	read(g, at, &old, 4 * width);
	value = isa_atomic(kind, width, old, data, compare);
	write(g, at, &value, 4 * width);
	return old;
}

static u64 operand(const struct isa_group *g, const struct isa_wave *w, u32 code, u32 width, u32 l)
{
	return isa_vgpr(g, w, code)[l] | (width == 2 ? (u64)isa_vgpr(g, w, code + 1)[l] << 32 : 0);
}

static void result(const struct isa_group *g, const struct isa_wave *w, u32 code, u32 width, u32 l,
		   u64 value)
{
	isa_vgpr(g, w, code)[l] = (u32)value;
	if (width == 2)
		isa_vgpr(g, w, code + 1)[l] = (u32)(value >> 32);
}

/* Rows of the atomic operations: each without and with a result, swap and comparison behind */
static void atomic(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn, u32 l, u64 at)
{
	static const u8 kinds[] = {
		ISA_ADD, ISA_SUB, ISA_INC, ISA_DEC, ISA_SMIN, ISA_SMAX, ISA_UMIN, ISA_UMAX, ISA_AND, ISA_OR,
		ISA_XOR, ISA_SWAP, ISA_CMPSWAP,
	};
	const struct isa_row *row = &isa_rows[insn->op];
	u32 width = row->src[0];
	u32 i = insn->op - (width == 2 ? OP_ds_add_u64 : OP_ds_add_u32);
	u32 kind = i < 22 ? kinds[i / 2] : i == 22 ? ISA_SWAP : ISA_CMPSWAP;
	u64 data = operand(g, w, insn->src[1], width, l), compare = 0, old;

	if (kind == ISA_CMPSWAP) {
		/* before GFX11 what is compared is the first */
		compare = operand(g, w, insn->src[2], width, l);
		if (isa_generation(g->prog->target) != 2) {
			old = data;
			data = compare;
			compare = old;
		}
	}
	old = update(g, at, kind, width, data, compare);
	if (row->dst)
		result(g, w, insn->dst, width, l, old);
}

/* Bytes of a load or store that are not whole dwords; 0: dwords */
static u32 small(u32 op)
{
	switch (op) {
	case OP_ds_read_u8:
	case OP_ds_read_i8:
	case OP_ds_write_b8:
		return 1;
	case OP_ds_read_u16:
	case OP_ds_read_i16:
	case OP_ds_write_b16:
		return 2;
	}
	return 0;
}

static void two(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn, u32 l, u32 addr)
{
	const struct isa_row *row = &isa_rows[insn->op];
	u32 width = row->dst ? row->dst / 2 : row->src[0], unit = 4 * width, i, data[4];

	switch (insn->op) {
	case OP_ds_read2st64_b32:
	case OP_ds_read2st64_b64:
	case OP_ds_write2st64_b32:
	case OP_ds_write2st64_b64:
		unit *= 64;
	}
	if (!row->dst) {
		for (i = 0; i < 2; i++) {
			u64 value = operand(g, w, insn->src[1 + i], width, l);

			write(g, (u64)addr + (insn->imm >> 8 * i & 0xff) * unit, &value, 4 * width);
		}
		return;
	}
	read(g, (u64)addr + (insn->imm & 0xff) * unit, data, 4 * width);
	read(g, (u64)addr + (insn->imm >> 8 & 0xff) * unit, data + width, 4 * width);
	for (i = 0; i < row->dst; i++)
		isa_vgpr(g, w, insn->dst + i)[l] = data[i];
}

static void one(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn, u32 l, u64 at)
{
	const struct isa_row *row = &isa_rows[insn->op];
	u32 data[4] = { 0 }, i, bytes = small(insn->op);

	for (i = 0; i < row->src[0]; i++)
		data[i] = isa_vgpr(g, w, insn->src[1] + i)[l];
	if (row->src[0]) {
		write(g, at, data, bytes ? bytes : 4u * row->src[0]);
		return;
	}
	read(g, at, data, bytes ? bytes : 4u * row->dst);
	if (insn->op == OP_ds_read_i8)
		data[0] = (u32)(s8)data[0];
	if (insn->op == OP_ds_read_i16)
		data[0] = (u32)(s16)data[0];
	for (i = 0; i < row->dst; i++)
		isa_vgpr(g, w, insn->dst + i)[l] = data[i];
}

/* Each lane reads another one's register */
static void bpermute(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn, u64 exec)
{
	u32 *addr = isa_vgpr(g, w, insn->src[0]), *data = isa_vgpr(g, w, insn->src[1]);
	u32 l, from, values[ISA_LANES];

	for (l = 0; l < g->lanes; l++) {
		from = (addr[l] + (u32)insn->imm) / 4 % g->lanes;
		values[l] = exec >> from & 1 ? data[from] : 0;
	}
	for (l = 0; l < g->lanes; l++)
		if (exec >> l & 1)
			isa_vgpr(g, w, insn->dst)[l] = values[l];
}

/**
 * isa_lds - execute an access to LDS by each lane
 * @g: the group
 * @w: the wave
 * @insn: the instruction
 */
void isa_lds(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn)
{
	const u32 *addr = isa_vgpr(g, w, insn->src[0]);
	u64 exec = isa_exec(g, w), at;
	u32 l;

	if (insn->op == OP_ds_bpermute_b32) {
		bpermute(g, w, insn, exec);
		return;
	}
	for (l = 0; l < g->lanes; l++) {
		if (!(exec >> l & 1))
			continue;
		at = (u64)addr[l] + (u32)insn->imm;
		if (insn->op >= OP_ds_add_u32)
			atomic(g, w, insn, l, at);
		else if (isa_rows[insn->op].flags & ISA_TWO)
			two(g, w, insn, l, addr[l]);
		else
			one(g, w, insn, l, at);
	}
}

/**
 * isa_lds_flat - one lane's access of FLAT, whose address is in LDS
 * @g: the group
 * @w: the wave
 * @insn: the instruction
 * @l: the lane
 * @at: the address in LDS
 */
void isa_lds_flat(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn, u32 l, u32 at)
{
	const struct isa_row *row = &isa_rows[insn->op];
	u32 data[4] = { 0 }, i, bytes = 0, width = row->dst;
	u64 old;

	for (i = 0; i < row->src[0]; i++)
		data[i] = isa_vgpr(g, w, insn->src[1] + i)[l];
	if (row->flags & ISA_ATOMIC) {
		u64 wide = data[0] | (u64)data[1] << 32, compare = data[2] | (u64)data[3] << 32;

		old = update(g, at, (insn->op - OP_atomic_swap) / 2, width, width == 2 ? wide : data[0],
			     width == 2 ? compare : data[1]);
		if (insn->dst != ISA_NONE)
			result(g, w, insn->dst, width, l, old);
		return;
	}
	if (insn->op == OP_load_ubyte || insn->op == OP_load_sbyte || insn->op == OP_store_byte)
		bytes = 1;
	if (insn->op == OP_load_ushort || insn->op == OP_load_sshort || insn->op == OP_store_short)
		bytes = 2;
	if (row->src[0]) {
		write(g, at, data, bytes ? bytes : 4u * row->src[0]);
		return;
	}
	read(g, at, data, bytes ? bytes : 4u * row->dst);
	if (insn->op == OP_load_sbyte)
		data[0] = (u32)(s8)data[0];
	if (insn->op == OP_load_sshort)
		data[0] = (u32)(s16)data[0];
	for (i = 0; i < row->dst; i++)
		isa_vgpr(g, w, insn->dst + i)[l] = data[i];
}
