/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* kfdsim: declarations that the files of the executor share */
#ifndef KFDSIM_ISA_INT_H
#define KFDSIM_ISA_INT_H

#include "isa.h"

/* s_sendmsg: what the host gets */
#define ISA_MSG_INTERRUPT	1

/* s_getreg_b32, s_setreg_b32: bits, offset, register. 16 bits of SH_MEM_BASES, and 32 of FLAT_SCR_LO, before FLAT_SCR_HI */
#define ISA_HWREG(bits, offset, reg)	(((bits) - 1) << 11 | (offset) << 6 | (reg))
#define ISA_HWREG_APERTURES		ISA_HWREG(16, 0, 15)
#define ISA_HWREG_SCRATCH		ISA_HWREG(32, 0, 20)

/* isa_fcmp() */
#define ISA_LT	1
#define ISA_EQ	2
#define ISA_GT	4

/* The base of a wave's scratch memory is set up by the hardware, and not by the kernel */
static inline bool isa_architected(enum isa_target target)
{
	return target == ISA_GFX942 || target == ISA_GFX1100;
}

/*
 * Where a wave has that base: FLAT_SCRATCH is two SGPRs on GFX900 and GFX90A, and a register of its own on the others, which
 * is kept where no operand reaches.
 */
static inline u32 isa_flat_scratch(enum isa_target target)
{
	return target == ISA_GFX900 || target == ISA_GFX90A ? 102 : 108;
}

/* Lanes that are active */
static inline u64 isa_exec(const struct isa_group *g, const struct isa_wave *w)
{
	return w->s[ISA_EXEC] | (g->lanes == 64 ? (u64)w->s[ISA_EXEC + 1] << 32 : 0);
}

/* A register that null names is not there */
static inline void isa_write32(struct isa_wave *w, u32 dst, u32 value)
{
	if (dst != ISA_NULL)
		w->s[dst] = value;
}

static inline void isa_write64(struct isa_wave *w, u32 dst, u64 value)
{
	if (dst == ISA_NULL)
		return;
	w->s[dst] = (u32)value;
	w->s[dst + 1] = (u32)(value >> 32);
}

/* One bit a lane */
static inline void isa_write_lanes(const struct isa_group *g, struct isa_wave *w, u32 dst, u64 value)
{
	if (g->lanes == 64)
		isa_write64(w, dst, value);
	else
		isa_write32(w, dst, (u32)value);
}

/* A vector register, ISA_VGPR + its number */
static inline u32 *isa_vgpr(const struct isa_group *g, const struct isa_wave *w, u32 code)
{
	return w->v + (size_t)(code - ISA_VGPR) * g->lanes;
}

/* Bits that are set; the kernel has no function that the compiler could call for its own */
static inline u32 isa_count(u64 a)
{
	a -= a >> 1 & 0x5555555555555555ULL;
	a = (a & 0x3333333333333333ULL) + (a >> 2 & 0x3333333333333333ULL);
	a = (a + (a >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (u32)(a * 0x0101010101010101ULL >> 56);
}

/* Of a sum of signed numbers */
static inline bool isa_overflow(u32 a, u32 b, u32 sum)
{
	return (~(a ^ b) & (a ^ sum)) >> 31;
}

/* table.c */
u32 isa_find(enum isa_target target, enum isa_format format, u32 code);

/* decode.c */
bool isa_scalar_ok(enum isa_target target, u32 code, u32 width, bool dst);
bool isa_vgprs_ok(enum isa_target target, u32 first, u32 width);

/* decode-memory.c */
enum isa_reason isa_decode_smem(enum isa_target target, const u32 *words, struct isa_insn *insn);
enum isa_reason isa_decode_ds(enum isa_target target, const u32 *words, struct isa_insn *insn);
enum isa_reason isa_decode_flat(enum isa_target target, const u32 *words, struct isa_insn *insn);
enum isa_reason isa_decode_mubuf(enum isa_target target, const u32 *words, struct isa_insn *insn);

/* scalar.c, scalar-two.c */
u32 isa_scalar32(const struct isa_wave *w, const struct isa_insn *insn, u32 code);
u64 isa_scalar64(const struct isa_group *g, const struct isa_wave *w, const struct isa_insn *insn,
		 u32 code);
void isa_scalar(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn);
void isa_scalar_two(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn);

/* vector.c, vector-wide.c */
void isa_vector(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn);
void isa_dual(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn);
void isa_compare(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn);
bool isa_vector_wide(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn);
u64 isa_lanes_mask(const struct isa_group *g, const struct isa_wave *w,
		   const struct isa_insn *insn, u32 code);
void isa_carry(const struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn,
	       u64 exec, u32 *d, const u32 *a, const u32 *b);
bool isa_lane(const struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn, u64 exec);
const u32 *isa_source(const struct isa_group *g, const struct isa_wave *w,
		      const struct isa_insn *insn, u32 i, u32 half, u32 *space);

/* memory.c, lds.c */
bool isa_memory_copy(struct isa_memory *mem, u64 va, u8 *data, u32 bytes, enum isa_access access);
u8 *isa_memory_find(struct isa_memory *mem, u64 va, enum isa_access access);
u32 isa_small(u32 op, bool *is_signed);
void isa_loaded(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn, u32 l, u32 *data, u32 bytes,
		bool is_signed);
void isa_smem(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn);
void isa_vmem(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn);
void isa_lds(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn);
void isa_lds_flat(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn, u32 l, u32 at);
u64 isa_atomic(u32 kind, u32 width, u64 old, u64 data, u64 compare);

/* scratch.c */
bool isa_buffer_swizzled(const struct isa_group *g, const struct isa_wave *w, const struct isa_insn *insn);
bool isa_buffer_scratch(const struct isa_group *g, const struct isa_wave *w, const struct isa_insn *insn);
bool isa_scratch_there(const struct isa_group *g, const struct isa_wave *w, const struct isa_insn *insn, u32 l, u32 bytes,
		       enum isa_access access);
bool isa_scratch(struct isa_group *g, struct isa_wave *w, const struct isa_insn *insn, u32 l);

enum isa_atomic_kind {
	ISA_SWAP, ISA_CMPSWAP, ISA_ADD, ISA_SUB, ISA_SMIN, ISA_UMIN, ISA_SMAX, ISA_UMAX, ISA_AND, ISA_OR,
	ISA_XOR, ISA_INC, ISA_DEC,
};

/* float.c */
u32 isa_fma(u32 a, u32 b, u32 c, bool denormals);
u32 isa_fadd(u32 a, u32 b, bool denormals);
u32 isa_fmul(u32 a, u32 b, bool denormals);
u32 isa_frcp(u32 a, bool denormals);
u32 isa_fcmp(u32 a, u32 b, bool denormals);
u32 isa_from_int(u32 a, bool is_signed);
u32 isa_to_int(u32 a, bool is_signed);

#endif
