// SPDX-License-Identifier: GPL-2.0 OR MIT
/* kfdsim: the tables of instructions; see ops-*.h */
#include "isa-int.h"

/* What the rows name */
#define FLOAT	ISA_FLOAT_OPS
#define CMP	ISA_CMP
#define CMPX	ISA_CMPX
#define ACC	ISA_ACC
#define MK	ISA_MK
#define AK	ISA_AK
#define CIN	ISA_CIN
#define COUT	ISA_COUT
#define SDST	ISA_SDST
#define WLANE	ISA_WLANE
#define WAIT	ISA_WAIT
#define BARE	ISA_BARE
#define BRANCH	ISA_BRANCH
#define TWO	ISA_TWO
#define ATOMIC	ISA_ATOMIC

#define G900	(1 << ISA_GFX900)
#define G90A	(1 << ISA_GFX90A)
#define G942	(1 << ISA_GFX942)
#define G1010	(1 << ISA_GFX1010)
#define G1030	(1 << ISA_GFX1030)
#define G11	(1 << ISA_GFX1100)
#define G9	(G900 | G90A | G942)
#define G10	(G1010 | G1030)
#define G10P	(G10 | G11)
#define G942P	(G942 | G10P)
#define G90AP	(G90A | G942P)
#define ALL	(G9 | G10P)

#define ROW(op, enc, d, a, b, c, f, c9, c10, c11, t, n10, n11)				\
	[OP_##op] = { .name = { #op, n10, n11 }, .code = { c9, c10, c11 },		\
		      .format = ISA_##enc, .dst = (d), .src = { a, b, c }, .flags = (f), \
		      .targets = (t) },

const struct isa_row isa_rows[ISA_OPS] = {
	ISA_SOP2_OPS(ROW)
	ISA_SOPK_OPS(ROW)
	ISA_SOP1_OPS(ROW)
	ISA_SOPC_OPS(ROW)
	ISA_SOPP_OPS(ROW)
	ISA_SMEM_OPS(ROW)
	ISA_VOP1_OPS(ROW)
	ISA_VOP2_OPS(ROW)
	ISA_VOPC_OPS(ROW)
	ISA_VOP3_OPS(ROW)
	ISA_VOP3P_OPS(ROW)
	ISA_DS_OPS(ROW)
	ISA_VMEM_OPS(ROW)
	ISA_MUBUF_OPS(ROW)
};

/* Rows of an encoding: from the first on, before the end */
static const struct {
	u16 first, end;
} ranges[ISA_FORMATS] = {
	[ISA_SOP2] = { 0, OP_END_SOP2 },
	[ISA_SOPK] = { OP_END_SOP2 + 1, OP_END_SOPK },
	[ISA_SOP1] = { OP_END_SOPK + 1, OP_END_SOP1 },
	[ISA_SOPC] = { OP_END_SOP1 + 1, OP_END_SOPC },
	[ISA_SOPP] = { OP_END_SOPC + 1, OP_END_SOPP },
	[ISA_SMEM] = { OP_END_SOPP + 1, OP_END_SMEM },
	[ISA_VOP1] = { OP_END_SMEM + 1, OP_END_VOP1 },
	[ISA_VOP2] = { OP_END_VOP1 + 1, OP_END_VOP2 },
	[ISA_VOPC] = { OP_END_VOP2 + 1, OP_END_VOPC },
	[ISA_VOP3] = { OP_END_VOPC + 1, OP_END_VOP3 },
	[ISA_VOP3P] = { OP_END_VOP3 + 1, OP_END_VOP3P },
	[ISA_DS] = { OP_END_VOP3P + 1, OP_END_DS },
	[ISA_VMEM] = { OP_END_DS + 1, OP_END_VMEM },
	[ISA_MUBUF] = { OP_END_VMEM + 1, ISA_OPS },
};

/**
 * isa_generation - which columns of the tables a target uses
 * @target: the target
 *
 * Return: 0: GFX9, 1: GFX10, 2: GFX11
 */
u32 isa_generation(enum isa_target target)
{
	return target <= ISA_GFX942 ? 0 : target <= ISA_GFX1030 ? 1 : 2;
}

/**
 * isa_find - the instruction of an opcode
 * @target: whose
 * @format: its encoding
 * @code: the opcode
 *
 * Return: enum isa_op, ISA_OPS: none.
 */
u32 isa_find(enum isa_target target, enum isa_format format, u32 code)
{
	u32 i, generation = isa_generation(target);

	for (i = ranges[format].first; i < ranges[format].end; i++)
		if (isa_rows[i].code[generation] == (s32)code && isa_rows[i].targets & 1 << target)
			return i;
	return ISA_OPS;
}

/**
 * isa_name - the mnemonic of an instruction
 * @target: whose
 * @op: enum isa_op
 *
 * Return: without the suffix of an encoding; of VMEM, without the first part.
 */
const char *isa_name(enum isa_target target, u32 op)
{
	const char *name = isa_rows[op].name[isa_generation(target)];

	return name ? name : isa_rows[op].name[0];
}
