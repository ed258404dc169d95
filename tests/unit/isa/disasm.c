// SPDX-License-Identifier: GPL-2.0
/* Instructions as text, as LLVM's disassembler writes them. Of what is a wait, the mnemonic only. */
#include <stdarg.h>
#include "fixture.h"

static char *at, *end;
static bool flat_scratch;	/* s102 and s103 have that name */

static void put(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	at += vsnprintf(at, end - at, format, ap);
	va_end(ap);
	assert_true(at < end);
}

static void registers(char kind, u32 first, u32 width)
{
	if (width == 1)
		put("%c%u", kind, first);
	else
		put("%c[%u:%u]", kind, first, first + width - 1);
}

/* As LLVM writes constants: those that need no literal as such */
static void number(u32 value)
{
	if ((s32)value >= -16 && (s32)value <= 64)
		put("%d", (s32)value);
	else
		put("0x%x", value);
}

static void operand(const struct isa_insn *insn, u32 code, u32 width)
{
	static const char *const floats[] = { "0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0",
					      "-4.0" };

	if (flat_scratch && (code == 102 || code == 103))
		put("flat_scratch%s", width == 2 ? "" : code == 102 ? "_lo" : "_hi");
	else if (code >= ISA_VGPR)
		registers('v', code - ISA_VGPR, width);
	else if (code < ISA_VCC)
		registers('s', code, width);
	else if (code == ISA_VCC || code == ISA_EXEC)
		put("%s%s", code == ISA_VCC ? "vcc" : "exec", width == 1 ? "_lo" : "");
	else if (code == ISA_VCC + 1 || code == ISA_EXEC + 1)
		put("%s_hi", code == ISA_VCC + 1 ? "vcc" : "exec");
	else if (code == ISA_M0)
		put("m0");
	else if (code == ISA_NULL)
		put("null");
	else if (code == ISA_SHARED_BASE)
		put("src_shared_base");
	else if (code < ISA_INT_N1)
		put("%u", code - ISA_INT_0);
	else if (code < ISA_SHARED_BASE)
		put("-%u", code - ISA_INT_N1 + 1);
	else if (code < ISA_FLOAT + 8)
		put("%s", floats[code - ISA_FLOAT]);
	else if (code == ISA_FLOAT + 8)
		put("%s", width == 2 ? "0.15915494309189532" : "0.15915494");
	else
		number(insn->literal);
}

static void source(const struct isa_insn *insn, u32 i)
{
	bool neg = insn->neg >> i & 1, abs = insn->abs >> i & 1;
	bool constant = insn->src[i] >= ISA_INT_0 && insn->src[i] < ISA_VGPR && neg && !abs;

	put("%s%s", constant ? "neg(" : neg ? "-" : "", abs ? "|" : "");
	operand(insn, insn->src[i], isa_rows[insn->op].src[i]);
	put("%s%s", abs ? "|" : "", constant ? ")" : "");
}

static void sources(const struct isa_insn *insn, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (isa_rows[insn->op].src[i]) {
			put(i ? ", " : "");
			source(insn, i);
		}
}

static void policy(enum isa_target t, const struct isa_insn *insn)
{
	bool sc = t == ISA_GFX942;

	put("%s", insn->mods & ISA_GLC ? sc && insn->format != ISA_SMEM ? " sc0" : " glc" : "");
	put("%s", insn->mods & ISA_SLC ? sc ? " nt" : " slc" : "");
	put("%s%s", insn->mods & ISA_DLC ? " dlc" : "", insn->mods & ISA_SC1 ? " sc1" : "");
}

static void scalar(enum isa_target t, const struct isa_insn *insn)
{
	const struct isa_row *row = &isa_rows[insn->op];

	if (insn->format == ISA_SOPP) {
		if (row->flags & (ISA_WAIT | ISA_BARE) || insn->op == OP_s_sendmsg)
			return;
		if (row->flags & ISA_BRANCH)
			put(" %u", (u16)(insn->imm - 1));
		else if (insn->op == OP_s_clause || insn->op == OP_s_inst_prefetch)
			put(" 0x%x", insn->imm);
		else
			put(" "), number((u32)insn->imm);
		return;
	}
	if (insn->format == ISA_SMEM) {
		if (row->flags & ISA_BARE)
			return;
		put(" ");
		operand(insn, insn->dst, row->dst);
		put(", ");
		operand(insn, insn->src[0], row->src[0]);
		put(", ");
		if (insn->src[1] != ISA_NONE) {
			operand(insn, insn->src[1], 1);
			if (insn->imm)
				put(" offset:");
		}
		if (insn->src[1] == ISA_NONE && !insn->imm && isa_generation(t))
			put("null");
		else if (insn->src[1] == ISA_NONE || insn->imm)
			put("%s0x%x", insn->imm < 0 ? "-" : "", abs(insn->imm));
		policy(t, insn);
		return;
	}
	put(" ");
	if (insn->op == OP_s_setreg_b32)
		put("hwreg(HW_REG_FLAT_SCR_%s), ", insn->imm & 1 ? "HI" : "LO");
	if (row->dst)
		operand(insn, insn->dst, row->dst);
	if (insn->op == OP_s_getreg_b32) {
		put(", hwreg(HW_REG_SH_MEM_BASES, 0, 16)");
		return;
	}
	if (insn->op == OP_s_setreg_b32) {
		operand(insn, insn->src[0], 1);
		return;
	}
	if (insn->format == ISA_SOPK) {
		if (!row->dst)
			operand(insn, insn->src[0], 1);
		put(", 0x%x", (u16)insn->imm);
		return;
	}
	if (row->dst && row->src[0])
		put(", ");
	sources(insn, 3);
}

static void vector(u32 lanes, const struct isa_insn *insn)
{
	const struct isa_row *row = &isa_rows[insn->op];
	u32 i;

	if (row->flags & ISA_BARE)
		return;
	if (insn->format == ISA_VOPD || row->flags & ISA_SDST)
		put(" ");
	else if (insn->format == ISA_VOP3 && row->format != ISA_VOP3)
		put("_e64 ");
	else
		put(row->format == ISA_VOP3 || row->format == ISA_VOP3P || row->flags & (ISA_MK | ISA_AK) ? " " :
		    "_e32 ");
	if (row->flags & ISA_CMP) {
		if (insn->sdst != ISA_NONE) {
			operand(insn, insn->sdst, lanes / 32);
			put(", ");
		}
	} else {
		operand(insn, insn->dst, row->dst);
		put(", ");
	}
	if (row->flags & ISA_COUT) {
		operand(insn, insn->sdst, lanes / 32);
		put(", ");
	}
	if (row->flags & (ISA_MK | ISA_AK)) {
		operand(insn, insn->src[0], 1);
		for (i = 1; i < 3; i++) {
			put(", ");
			if (insn->src[i] == ISA_LITERAL)
				put("0x%x", insn->literal);
			else
				operand(insn, insn->src[i], 1);
		}
		return;
	}
	sources(insn, 3);
	/* the one that VOPD's instruction reads is not written */
	if (row->flags & ISA_CIN && insn->format != ISA_VOPD) {
		put(", ");
		operand(insn, insn->src[2], lanes / 32);
	}
	if (row->format == ISA_VOP3P && insn->mods)
		put(" op_sel:[%u,%u]", !!(insn->mods & ISA_OPSEL_0), !!(insn->mods & ISA_OPSEL_1));
}

static void lds(const struct isa_insn *insn)
{
	const struct isa_row *row = &isa_rows[insn->op];
	u32 i;

	put(" ");
	if (row->dst) {
		operand(insn, insn->dst, row->dst);
		put(", ");
	}
	operand(insn, insn->src[0], 1);
	for (i = 0; i < 2; i++)
		if (row->src[i]) {
			put(", ");
			operand(insn, insn->src[1 + i], row->src[i]);
		}
	if (!(row->flags & ISA_TWO)) {
		if (insn->imm)
			put(" offset:%u", insn->imm);
		return;
	}
	if (insn->imm & 0xff)
		put(" offset0:%u", insn->imm & 0xff);
	if (insn->imm >> 8)
		put(" offset1:%u", insn->imm >> 8);
}

static void address_or_off(const struct isa_insn *insn, u32 code)
{
	if (code == ISA_NONE)
		put("off");
	else
		operand(insn, code, 1);
}

static void memory(enum isa_target t, const struct isa_insn *insn)
{
	const struct isa_row *row = &isa_rows[insn->op];
	u32 width = !!(insn->mods & ISA_OFFEN) + !!(insn->mods & ISA_IDXEN);
	bool buffer = insn->format == ISA_MUBUF;

	if (row->flags & ISA_BARE) {
		policy(t, insn);
		return;
	}
	put(" ");
	if (buffer) {
		operand(insn, row->src[0] ? insn->src[1] : insn->dst, row->src[0] ? row->src[0] : row->dst);
		put(", ");
		if (width)
			operand(insn, insn->src[0], width);
		else
			put("off");
		put(", ");
		operand(insn, insn->src[2], 4);
		put(", ");
		operand(insn, insn->sdst, 1);
		put("%s%s", insn->mods & ISA_IDXEN ? " idxen" : "", insn->mods & ISA_OFFEN ? " offen" : "");
	} else if (insn->format == ISA_SCRATCH) {
		if (insn->dst != ISA_NONE) {
			operand(insn, insn->dst, row->dst);
			put(", ");
		}
		address_or_off(insn, insn->src[0]);
		put(", ");
		if (row->src[0]) {
			operand(insn, insn->src[1], row->src[0]);
			put(", ");
		}
		address_or_off(insn, insn->src[2]);
	} else {
		if (insn->dst != ISA_NONE) {
			operand(insn, insn->dst, row->dst);
			put(", ");
		}
		operand(insn, insn->src[0], insn->src[2] == ISA_NONE ? 2 : 1);
		if (row->src[0]) {
			put(", ");
			operand(insn, insn->src[1], row->src[0]);
		}
		if (insn->format == ISA_GLOBAL && insn->src[2] == ISA_NONE) {
			put(", off");
		} else if (insn->format == ISA_GLOBAL) {
			put(", ");
			operand(insn, insn->src[2], 2);
		}
	}
	if (insn->imm)
		put(" offset:%d", insn->imm);
	policy(t, insn);
}

/**
 * disassemble - an instruction as text
 * @t: whose
 * @lanes: of a wave
 * @insn: the instruction, of VOPD both halves
 * @text: gets it
 * @n: its size
 */
void disassemble(enum isa_target t, u32 lanes, const struct isa_insn *insn, char *text, size_t n)
{
	static const char *const prefix[ISA_FORMATS] = {
		[ISA_FLAT] = "flat_", [ISA_GLOBAL] = "global_", [ISA_MUBUF] = "buffer_",
		[ISA_SCRATCH] = "scratch_",
	};
	const char *name = isa_name(t, insn->op);

	at = text;
	end = text + n;
	flat_scratch = t == ISA_GFX900 || t == ISA_GFX90A;
	if (prefix[insn->format] && isa_rows[insn->op].format == ISA_VMEM)
		put("%s", prefix[insn->format]);
	if (insn->format == ISA_VOPD) {
		put("v_dual_%s", name + 2);
		vector(lanes, insn);
		put(" :: v_dual_%s", isa_name(t, insn[1].op) + 2);
		vector(lanes, insn + 1);
		return;
	}
	put("%s", name);
	if (isa_rows[insn->op].flags & ISA_WAIT)
		return;
	if (insn->format <= ISA_SMEM)
		scalar(t, insn);
	else if (insn->format <= ISA_VOPD)
		vector(lanes, insn);
	else if (insn->format == ISA_DS)
		lds(insn);
	else
		memory(t, insn);
}
