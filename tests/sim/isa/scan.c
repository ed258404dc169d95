// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the reachable code of a kernel is decoded before it runs, and all of it: there is no
 * indirect branch in the subset.
 */
#include "isa-int.h"

#define WORD_BITS	32
#define WORDS		(ISA_CODE_DWORDS / WORD_BITS)

/* Dwords of the code, one bit each: to be decoded; inside of an instruction */
struct marks {
	u32 todo[WORDS];
	u32 inside[WORDS];
};

static bool get(const u32 *bits, u32 at)
{
	return bits[at / WORD_BITS] >> at % WORD_BITS & 1;
}

static void set(u32 *bits, u32 at)
{
	bits[at / WORD_BITS] |= 1u << at % WORD_BITS;
}

static void use(struct isa_program *prog, u32 code, u32 width)
{
	if (code != ISA_NONE && code >= ISA_VGPR && code - ISA_VGPR + width > prog->vgprs)
		prog->vgprs = code - ISA_VGPR + width;
}

/* Vector registers that it names */
static void count(struct isa_program *prog, const struct isa_insn *insn)
{
	const struct isa_row *row = &isa_rows[insn->op];
	u32 i;

	use(prog, insn->dst, row->dst);
	if (row->format == ISA_VMEM) {
		if (insn->format == ISA_MUBUF)
			use(prog, insn->src[0], !!(insn->mods & ISA_OFFEN) + !!(insn->mods & ISA_IDXEN));
		else
			use(prog, insn->src[0], insn->src[2] == ISA_NONE && insn->format != ISA_SCRATCH ? 2 : 1);
		use(prog, insn->src[1], row->src[0]);
	} else if (row->format == ISA_DS) {
		use(prog, insn->src[0], 1);
		use(prog, insn->src[1], row->src[0]);
		use(prog, insn->src[2], row->src[1]);
	} else {
		for (i = 0; i < 3; i++)
			use(prog, insn->src[i], row->src[i] ? row->src[i] : 1);
	}
}

static enum isa_reason decode_at(struct isa_program *prog, struct isa_memory *mem, struct marks *marks,
				 u32 at, u32 *word)
{
	struct isa_insn insn[2];
	enum isa_reason r;
	u32 words[3], n;

	for (n = 0; n < 3 && at + n < ISA_CODE_DWORDS; n++)
		if (!isa_read(mem, prog->entry + 4ULL * (at + n), &words[n], 4, ISA_FETCH))
			break;
	if (!n)
		return at < ISA_CODE_DWORDS ? ISA_UNREADABLE : ISA_TOO_LONG;
	*word = words[0];
	if (get(marks->inside, at))
		return ISA_BAD_BRANCH;
	r = isa_decode(prog->target, prog->lanes, words, n, at, insn);
	if (r)
		return r == ISA_TOO_LONG && at + 3 <= ISA_CODE_DWORDS ? ISA_UNREADABLE : r;
	for (n = 1; n < insn->dwords; n++) {
		if (prog->insn[at + n].dwords)
			return ISA_BAD_BRANCH;
		set(marks->inside, at + n);
	}
	prog->insn[at] = insn[0];
	count(prog, &insn[0]);
	if (insn->format == ISA_VOPD) {
		prog->insn[at + 1] = insn[1];
		count(prog, &insn[1]);
	}
	prog->insns++;
	if (prog->dwords < at + insn->dwords)
		prog->dwords = at + insn->dwords;
	return ISA_OK;
}

/* Decode on from a dword, to the end of the wave or what was decoded before */
static enum isa_reason follow(struct isa_program *prog, struct isa_memory *mem, struct marks *marks,
			      u32 *at, u32 *word)
{
	const struct isa_insn *insn;
	enum isa_reason r;

	while (!prog->insn[*at].dwords) {
		r = decode_at(prog, mem, marks, *at, word);
		if (r)
			return r;
		insn = &prog->insn[*at];
		if (insn->op == OP_s_endpgm)
			return ISA_OK;
		if (isa_rows[insn->op].flags & ISA_BRANCH) {
			if (insn->imm < 0)
				return ISA_BAD_BRANCH;
			if (insn->imm >= ISA_CODE_DWORDS)
				return ISA_TOO_LONG;
			if (get(marks->inside, insn->imm))
				return ISA_BAD_BRANCH;
			set(marks->todo, insn->imm);
		}
		if (insn->op == OP_s_branch)
			return ISA_OK;
		*at += insn->dwords;
		if (*at >= ISA_CODE_DWORDS)
			return ISA_TOO_LONG;
	}
	return ISA_OK;
}

/**
 * isa_scan - decode the reachable code of a kernel
 * @prog: filled
 * @target: whose code it is
 * @lanes: of a wave, 64 or 32
 * @mem: where the code is
 * @entry: its first instruction
 * @why: says why it cannot be executed
 *
 * Return: true: all of it can be.
 */
bool isa_scan(struct isa_program *prog, enum isa_target target, u32 lanes, struct isa_memory *mem,
	      u64 entry, struct isa_why *why)
{
	struct marks marks;
	u32 at = 0, i;

	memset(prog, 0, sizeof(*prog));
	memset(&marks, 0, sizeof(marks));
	prog->target = target;
	prog->lanes = lanes;
	prog->entry = entry;
	memset(why, 0, sizeof(*why));
	if (entry & 3 || (lanes != 64 && (lanes != 32 || !isa_generation(target)))) {
		why->reason = ISA_UNREADABLE;
		return false;
	}
	set(marks.todo, 0);
	for (i = 0; i < WORDS; i++) {
		if (!marks.todo[i])
			continue;
		at = i * WORD_BITS + (u32)__builtin_ctz(marks.todo[i]);
		marks.todo[i] &= marks.todo[i] - 1;
		why->reason = follow(prog, mem, &marks, &at, &why->word);
		why->at = at;
		if (why->reason)
			return false;
		i = ~0u;	/* a branch may have led back */
	}
	return true;
}

/**
 * isa_reason_name - a reason in words
 * @reason: the reason
 */
const char *isa_reason_name(enum isa_reason reason)
{
	static const char *const names[ISA_REASONS] = {
		[ISA_OK] = "executed", [ISA_UNKNOWN] = "instruction", [ISA_OPERAND] = "operand",
		[ISA_TOO_LONG] = "too_long", [ISA_BAD_BRANCH] = "branch",
		[ISA_UNREADABLE] = "unreadable", [ISA_REGISTERS] = "registers",
		[ISA_DISPATCH] = "dispatch",
	};

	return names[reason];
}
