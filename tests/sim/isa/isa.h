/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdsim: a GPU's instructions, decoded and executed.
 *
 * Pure C: no amdkfd types, no clock, no allocation, no locks, no floating point. The same files are linked
 * into the module and into the unit tests of tests/unit/isa.
 *
 * Encodings and opcodes are those of AMD's "Vega", "Instinct MI200", "Instinct MI300", "RDNA 1", "RDNA 2" and "RDNA 3"
 * instruction set architecture documents; tests/unit/isa compares them with LLVM.
 *
 * Vocabulary
 *	program	the reachable code of a kernel, decoded once by isa_scan(), which refuses
 *		what is outside the subset: an instruction that it has accepted is always executed
 *	group	a work-group: its LDS and its waves
 *	wave	64 or 32 lanes and their registers
 *
 * A wave's memory accesses are complete when the instruction is: s_waitcnt has nothing to wait for.
 * Caches are not modelled. The order among waves is that of their turns, of ISA_TURN instructions each, which is
 * one of the orders that hardware allows.
 */
#ifndef KFDSIM_ISA_H
#define KFDSIM_ISA_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/string.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#define fallthrough __attribute__((__fallthrough__))
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
#endif

#define ISA_CODE_DWORDS	4096	/* most code of a kernel that is executed, from its entry on */
#define ISA_LANES	64
#define ISA_SGPRS	128	/* registers that a scalar operand may name */
#define ISA_VGPRS	256
#define ISA_LDS_BYTES	65536
#define ISA_WAVES	32	/* most of a work-group: 1024 work-items, 32 in a wave */
#define ISA_PAGE	4096	/* unit of isa_memory.page */
#define ISA_TURN	256	/* instructions of a wave before it is the next one's turn */
#define ISA_DESCRIPTOR	64	/* bytes of a kernel descriptor */

/* Scalar operands, as the fields of GFX9 and GFX10 have them; the decoder translates those of GFX11 */
#define ISA_VCC		106
#define ISA_M0		124
#define ISA_NULL	125
#define ISA_EXEC	126
#define ISA_INT_0	128	/* 0 to 64, then -1 to -16 */
#define ISA_INT_N1	193
#define ISA_SHARED_BASE	235
#define ISA_FLOAT	240	/* 0.5 -0.5 1.0 -1.0 2.0 -2.0 4.0 -4.0 1/(2 pi) */
#define ISA_LITERAL	255
#define ISA_VGPR	256
#define ISA_NONE	0xffff

enum isa_target { ISA_GFX900, ISA_GFX90A, ISA_GFX942, ISA_GFX1010, ISA_GFX1030, ISA_GFX1100, ISA_TARGETS };

/* VOPD: two instructions of VOP2's kind in one, on GFX11 */
enum isa_format {
	ISA_SOP2, ISA_SOPK, ISA_SOP1, ISA_SOPC, ISA_SOPP, ISA_SMEM,
	ISA_VOP1, ISA_VOP2, ISA_VOPC, ISA_VOP3, ISA_VOP3P, ISA_VOPD,
	ISA_DS, ISA_VMEM, ISA_FLAT, ISA_GLOBAL, ISA_MUBUF, ISA_SCRATCH,
	ISA_FORMATS
};

/* What a row of the tables says of its instruction */
#define ISA_FLOAT_OPS	0x0001	/* operands are f32: may be negated, and their sign ignored */
#define ISA_CMP		0x0002	/* the result is one bit a lane */
#define ISA_CMPX	0x0004	/* which goes to EXEC; on GFX9 to both */
#define ISA_ACC		0x0008	/* the destination is a source, too */
#define ISA_MK		0x0010	/* a literal follows, which is the second source */
#define ISA_AK		0x0020	/* or the third */
#define ISA_CIN		0x0040	/* one bit a lane is a source */
#define ISA_COUT	0x0080	/* or a second result */
#define ISA_SDST	0x0100	/* the destination is an SGPR */
#define ISA_WLANE	0x0200	/* v_writelane_b32: the sources are not vectors */
#define ISA_WAIT	0x0400	/* nothing is to be done for it */
#define ISA_BARE	0x0800	/* has no operands */
#define ISA_BRANCH	0x1000
#define ISA_TWO		0x2000	/* DS: two addresses */
#define ISA_ATOMIC	0x4000	/* VMEM */

#include "ops-scalar.h"
#include "ops-vector.h"
#include "ops-memory.h"

#define ISA_ENUM(name, ...)	OP_##name,

/* One an instruction; each encoding ends with a number that no instruction has */
enum isa_op {
	ISA_SOP2_OPS(ISA_ENUM) OP_END_SOP2,
	ISA_SOPK_OPS(ISA_ENUM) OP_END_SOPK,
	ISA_SOP1_OPS(ISA_ENUM) OP_END_SOP1,
	ISA_SOPC_OPS(ISA_ENUM) OP_END_SOPC,
	ISA_SOPP_OPS(ISA_ENUM) OP_END_SOPP,
	ISA_SMEM_OPS(ISA_ENUM) OP_END_SMEM,
	ISA_VOP1_OPS(ISA_ENUM) OP_END_VOP1,
	ISA_VOP2_OPS(ISA_ENUM) OP_END_VOP2,
	ISA_VOPC_OPS(ISA_ENUM) OP_END_VOPC,
	ISA_VOP3_OPS(ISA_ENUM) OP_END_VOP3,
	ISA_VOP3P_OPS(ISA_ENUM) OP_END_VOP3P,
	ISA_DS_OPS(ISA_ENUM) OP_END_DS,
	ISA_VMEM_OPS(ISA_ENUM) OP_END_VMEM,
	ISA_MUBUF_OPS(ISA_ENUM) ISA_OPS
};

/**
 * struct isa_row - an instruction
 * @name: on GFX9, GFX10 and GFX11; NULL: there is none
 * @code: opcode there, or -1
 * @format: its encoding
 * @dst: dwords of the destination
 * @src: dwords of each source
 * @flags: ISA_FLOAT_OPS and the following
 * @targets: those that have it, a bit for each enum isa_target
 */
struct isa_row {
	const char *name[3];
	s16 code[3];
	u8 format;
	u8 dst;
	u8 src[3];
	u16 flags;
	u8 targets;
};

extern const struct isa_row isa_rows[ISA_OPS];

/* isa_insn.mods */
#define ISA_GLC		0x01	/* GFX942: sc0 */
#define ISA_SLC		0x02	/* GFX942: nt */
#define ISA_DLC		0x04
#define ISA_SC1		0x08
#define ISA_OFFEN	0x10
#define ISA_IDXEN	0x20
#define ISA_OPSEL_0	0x40	/* v_pk_mov_b32: the upper half of the first source */
#define ISA_OPSEL_1	0x80	/* of the second */

/**
 * struct isa_insn - a decoded instruction
 * @op: enum isa_op
 * @format: enum isa_format, as encoded: VOP3 for an instruction of VOP1, VOP2 or VOPC in that form
 * @dwords: length; 0: not decoded
 * @dst: register, as a source would name it; ISA_NONE: none
 * @sdst: second result, or that of a comparison; MUBUF: the scalar offset
 * @src: sources, ISA_NONE: none. SMEM: base, offset register. DS: address, data, data. VMEM: address,
 *	data, scalar address or resource
 *	(SCRATCH: the address may be missing, too)
 * @neg: sources that are negated, one bit each, after @abs
 * @abs: sources whose sign is ignored
 * @mods: ISA_GLC and the following
 * @literal: what ISA_LITERAL means
 * @imm: 16-bit constant, offset in bytes. Branches: the target, in dwords from the entry. DS with two addresses: the
 *	offsets as encoded, the second in bits 8 to 15
 */
struct isa_insn {
	u16 op;
	u8 format;
	u8 dwords;
	u16 dst;
	u16 sdst;
	u16 src[3];
	u8 neg;
	u8 abs;
	u8 mods;
	u32 literal;
	s32 imm;
};

/**
 * struct isa_program - the code of a kernel
 * @target: whose instructions these are
 * @lanes: of a wave, 64 or 32
 * @entry: GPU virtual address of the first instruction
 * @dwords: length of the window that was scanned, from @entry on
 * @vgprs: vector registers that the code names
 * @insns: number of instructions
 * @insn: at each dword that is reachable; the second half of VOPD is at the dword behind the first
 */
struct isa_program {
	enum isa_target target;
	u32 lanes;
	u64 entry;
	u32 dwords;
	u32 vgprs;
	u32 insns;
	struct isa_insn insn[ISA_CODE_DWORDS];
};

/* Why code is not executed, or what a wave has met */
enum isa_reason {
	ISA_OK,
	ISA_UNKNOWN,	/* an instruction outside the subset */
	ISA_OPERAND,	/* an operand or a modifier outside the subset */
	ISA_TOO_LONG,	/* the code leaves ISA_CODE_DWORDS */
	ISA_BAD_BRANCH,	/* a branch leads before the entry or into an instruction */
	ISA_UNREADABLE,	/* the code is not in memory */
	ISA_REGISTERS,	/* the code names more registers than the kernel has */
	ISA_DISPATCH,	/* scratch memory or another thing that the kernel wants is not there */
	ISA_REASONS
};

/**
 * struct isa_why - a refusal
 * @reason: the kind
 * @at: dword of the instruction, from the entry on
 * @word: its first dword
 */
struct isa_why {
	enum isa_reason reason;
	u32 at;
	u32 word;
};

enum isa_access { ISA_READ, ISA_WRITE, ISA_FETCH };

/**
 * struct isa_memory - the memory of the process
 * @page: address of the page of ISA_PAGE bytes at @va, for this access; NULL: it faults
 * @ctx: for @page
 * @va: the pages found last, one for each access; isa_memory_forget() when they may have gone
 * @ptr: where they are
 * @fault_va: where the last access faulted
 * @fault_access: which it was
 */
struct isa_memory {
	void *(*page)(void *ctx, u64 va, enum isa_access access);
	void *ctx;
	u64 va[3];
	u8 *ptr[3];
	u64 fault_va;
	enum isa_access fault_access;
};

enum isa_state {
	ISA_RUNS,
	ISA_WAITS,	/* at a barrier */
	ISA_ENDED,
	ISA_HALTED,	/* by s_sethalt */
	ISA_TRAPPED,	/* by s_trap */
	ISA_FAULTED,	/* by a memory access, see isa_memory.fault_va; at the instruction */
	ISA_REFUSED,	/* by data that makes an instruction one outside the subset: a swizzled buffer */
};

/**
 * struct isa_wave - a wave
 * @pc: of the next instruction, in dwords from the entry on
 * @scc: 0 or 1
 * @state: enum isa_state
 * @trap: ISA_TRAPPED: its number
 * @count: instructions so far
 * @s: scalar registers, VCC, M0 and EXEC among them
 * @v: vector registers, each of isa_group.lanes dwords
 */
struct isa_wave {
	u32 pc;
	u32 scc;
	u32 state;
	u32 trap;
	u64 count;
	u32 s[ISA_SGPRS];
	u32 *v;
};

/**
 * struct isa_group - a work-group
 * @prog: what it runs
 * @mem: what it reaches
 * @lanes: of a wave, 64 or 32
 * @nwaves: its waves; isa_group_init(): of a whole group
 * @vgprs: vector registers of each
 * @lds_bytes: its LDS
 * @turn: the wave whose turn it is
 * @turn_left: instructions of that turn that are left
 * @denormals: f32 results and sources that are denormal are kept, not flushed to 0
 * @shared_base: upper half of the address of LDS in flat accesses
 * @private_base: that of scratch memory; 0: there is none
 * @message: s_sendmsg of an interrupt, with M0 and isa_memory.ctx; NULL: nothing is to be done for it
 * @lds: LDS, whole dwords
 * @wave: the waves
 */
struct isa_group {
	const struct isa_program *prog;
	struct isa_memory *mem;
	u32 lanes;
	u32 nwaves;
	u32 vgprs;
	u32 lds_bytes;
	u32 turn;
	u32 turn_left;
	bool denormals;
	u32 shared_base;
	u32 private_base;
	void (*message)(void *ctx, u32 data);
	u8 *lds;
	struct isa_wave wave[ISA_WAVES];
};

/**
 * struct isa_scratch - scratch memory: a slot for each wave, in which the dwords of the lanes alternate
 * @base: GPU virtual address of the first slot
 * @wave_bytes: of a slot
 * @first: slot of the first wave of a work-group
 * @rsrc: AQL: the queue's buffer resource of it
 */
struct isa_scratch {
	u64 base;
	u32 wave_bytes;
	u32 first;
	u32 rsrc[4];
};

/**
 * struct isa_dispatch - what a kernel is started with
 * @descriptor: of the kernel
 * @grid: work-items in each dimension
 * @size: of a work-group
 * @dims: dimensions
 * @packet: GPU virtual address of the AQL packet
 * @queue: of the amd_queue_t
 * @kernarg: of the arguments
 * @id: number of the dispatch
 * @group_bytes: LDS of the packet
 * @private_bytes: scratch of the packet, of a work-item
 * @scratch: where that is
 * @user: PM4: the 16 registers that it sets, in place of what the descriptor asks for; otherwise NULL
 */
struct isa_dispatch {
	u8 descriptor[ISA_DESCRIPTOR];
	u32 grid[3];
	u16 size[3];
	u8 dims;
	u64 packet;
	u64 queue;
	u64 kernarg;
	u64 id;
	u32 group_bytes;
	u32 private_bytes;
	struct isa_scratch scratch;
	const u32 *user;
};

/* decode.c */
enum isa_reason isa_decode(enum isa_target target, u32 lanes, const u32 *words, u32 n, u32 at,
			   struct isa_insn insn[2]);

/* table.c */
const char *isa_name(enum isa_target target, u32 op);
u32 isa_generation(enum isa_target target);

/* scan.c */
bool isa_scan(struct isa_program *prog, enum isa_target target, u32 lanes, struct isa_memory *mem,
	      u64 entry, struct isa_why *why);
const char *isa_reason_name(enum isa_reason reason);

/* group.c */
void isa_describe(struct isa_dispatch *d, const u32 rsrc[3], bool wave32);
u64 isa_entry(const struct isa_dispatch *d, u64 descriptor_va);
u32 isa_lanes(enum isa_target target, const struct isa_dispatch *d);
enum isa_reason isa_check(const struct isa_program *prog, const struct isa_dispatch *d);
bool isa_scratch_bytes(const struct isa_dispatch *d, u32 *bytes);
void isa_groups(const struct isa_dispatch *d, u32 count[3]);
void isa_group_init(struct isa_group *g, const struct isa_program *prog, struct isa_memory *mem,
		    const struct isa_dispatch *d);
size_t isa_group_bytes(const struct isa_group *g);
void isa_group_start(struct isa_group *g, const struct isa_dispatch *d, const u32 id[3], void *space);

/* exec.c */
u32 isa_group_run(struct isa_group *g, u32 count);
bool isa_group_ended(const struct isa_group *g);
const struct isa_wave *isa_group_stopped(const struct isa_group *g);

/* save.c */
typedef bool (*isa_copy)(void *ctx, void *data, size_t bytes);
size_t isa_save_bytes(const struct isa_group *g);
bool isa_save(struct isa_group *g, isa_copy copy, void *ctx);
bool isa_restore(struct isa_group *g, isa_copy copy, void *ctx);

/* memory.c */
bool isa_read(struct isa_memory *mem, u64 va, void *data, u32 bytes, enum isa_access access);
void isa_memory_forget(struct isa_memory *mem);

#endif
