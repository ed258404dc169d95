// SPDX-License-Identifier: GPL-2.0
/*
 * The decoder: each row of the tables, with random operands, says what LLVM's disassembler says of the
 * same words; and random words, which it may refuse.
 */
#include <unistd.h>
#include "fixture.h"

#define SAMPLES	6	/* of each row and form */
#define TRIES	4000

/**
 * instance - words of a form of a row: its opcode, and random fields
 * @t: the target
 * @row: the row
 * @form: the encoding
 * @w: gets them; the decoder may refuse what is there
 */
void instance(enum isa_target t, const struct isa_row *row, enum isa_format form, u32 w[4])
{
	u32 g = isa_generation(t), code = row->code[g], null = g == 2 ? 124 : 125, i;
	u32 zeros = rnd(8) ? rnd32() | rnd32() << 16 : 0;

	for (i = 0; i < 4; i++)
		w[i] = rnd32();
	for (i = 0; i < 8; i++)
		if (zeros >> i & 1)
			w[i / 4] &= ~(0xffu << i % 4 * 8);
	switch (form) {
	case ISA_SOP2:
		w[0] = (w[0] & 0x7fffff) | 2u << 30 | code << 23;
		break;
	case ISA_SOPK:
		w[0] = (w[0] & 0x7fffff) | 0xbu << 28 | code << 23;
		if (row->flags & ISA_WAIT)
			w[0] = (w[0] & ~0x7f0000u) | null << 16;
		if (row == &isa_rows[OP_s_getreg_b32])
			w[0] = (w[0] & ~0xffffu) | 15 << 11 | 15;
		if (row == &isa_rows[OP_s_setreg_b32])
			w[0] = (w[0] & ~0xffffu) | 31 << 11 | (20 + rnd(2));
		break;
	case ISA_SOP1:
		w[0] = (w[0] & 0x7f00ff) | 0x17du << 23 | code << 8;
		break;
	case ISA_SOPC:
		w[0] = (w[0] & 0xffff) | 0x17eu << 23 | code << 16;
		break;
	case ISA_SOPP:
		w[0] = (w[0] & 0xffff) | 0x17fu << 23 | code << 16;
		if (row == &isa_rows[OP_s_sendmsg])
			w[0] = (w[0] & ~0xffffu) | (g == 2 && rnd(2) ? 3 : 1);
		break;
	case ISA_SMEM:
		w[0] = (w[0] & 0x3ffff) | (g ? 0x3du : 0x30u) << 26 | code << 18;
		if (g && rnd(2))
			w[1] = (w[1] & 0x1fffff) | null << 25;
		break;
	case ISA_VOP1:
		w[0] = (w[0] & 0x1fe01ff) | 0x3fu << 25 | code << 9;
		break;
	case ISA_VOP2:
		w[0] = (w[0] & 0x1ffffff) | code << 25;
		break;
	case ISA_VOPC:
		w[0] = (w[0] & 0x1ffff) | 0x3eu << 25 | code << 17;
		break;
	case ISA_VOP3:
		if (row->format == ISA_VOP2)
			code += 0x100;
		if (row->format == ISA_VOP1)
			code += g ? 0x180 : 0x140;
		w[0] = (w[0] & 0xffff) | (g ? 0x35u : 0x34u) << 26 | code << 16;
		if (row->flags & ISA_CMPX && g)
			w[0] = (w[0] & ~0xffu) | 126;
		break;
	case ISA_VOP3P:
		w[0] = (w[0] & 0x18ff) | 0x1a7u << 23 | code << 16 | 1 << 14;
		w[1] = (w[1] & 0x3ffff) | 3 << 27;
		break;
	case ISA_DS:
		w[0] = (w[0] & 0xffff) | 0x36u << 26 | code << (g ? 18 : 17);
		break;
	case ISA_SCRATCH:
		w[0] = (w[0] & 0x3ffff) | 0x37u << 26 | code << 18;
		w[0] = (w[0] & ~(3u << (g == 2 ? 16 : 14))) | 1u << (g == 2 ? 16 : 14);
		if (rnd(2))
			w[1] = (w[1] & ~0x7f0000u) | (g ? null : 127) << 16;
		break;
	case ISA_FLAT:
	case ISA_GLOBAL:
		w[0] = (w[0] & 0x203ffff) | 0x37u << 26 | code << 18;
		w[0] = (w[0] & ~(3u << (g == 2 ? 16 : 14))) | (form == ISA_GLOBAL ? 2u : 0u) << (g == 2 ? 16 : 14);
		if (rnd(2))
			w[1] = (w[1] & ~0x7f0000u) | (g ? null : form == ISA_GLOBAL ? 127 : 0) << 16;
		break;
	default:
		w[0] = (w[0] & (g ? 0x3ffff : 0x203ffff)) | 0x38u << 26 | code << 18;
	}
}

/* VOPD has no rows of its own */
static void dual(u32 w[4])
{
	w[0] = (rnd32() & 0x3ffffff) | 0x32u << 26;
	w[1] = rnd32();
	w[2] = rnd32();
	if (rnd(2))
		w[1] &= ~0x1fe00u;
	if (rnd(2))
		w[0] &= ~0x1fe00u;
}

struct sample {
	char text[128];
};

/* Instructions of a target, and what LLVM is given and must answer */
struct samples {
	enum isa_target t;
	u32 lanes, n, max;
	struct sample *s;
	FILE *in;
};

static void keep(struct samples *all, const u32 *w, const struct isa_insn *insn)
{
	u32 i;

	if (all->n == all->max) {
		all->max = all->max * 2 + 1024;
		all->s = realloc(all->s, all->max * sizeof(*all->s));
		assert_non_null(all->s);
	}
	disassemble(all->t, all->lanes, insn, all->s[all->n++].text, sizeof(all->s->text));
	if (!all->in)
		return;
	fputc('[', all->in);
	for (i = 0; i < insn->dwords * 4u; i++)
		fprintf(all->in, "%s0x%02x", i ? "," : "", w[i / 4] >> i % 4 * 8 & 0xff);
	fputs("]\n", all->in);
}

/* Some instances of a form of a row; a row of which none can be made is an error */
static void sample_row(struct samples *all, u32 op, enum isa_format form)
{
	const struct isa_row *row = &isa_rows[op];
	struct isa_insn insn[2];
	u32 w[4], i, n = 0;

	for (i = 0; i < TRIES && n < SAMPLES; i++) {
		instance(all->t, row, form, w);
		if (isa_decode(all->t, all->lanes, w, 4, 0, insn))
			continue;
		assert_int_equal(insn->op, op);
		assert_int_equal(insn->format, form);
		keep(all, w, insn);
		n++;
	}
	if (!n)
		fail_msg("%s: no instance of %s in encoding %u", gpus[all->t].name,
			 isa_name(all->t, op), form);
}

static void sample_rows(struct samples *all)
{
	struct isa_insn insn[2];
	u32 op, i, n, w[4];

	for (op = 0; op < ISA_OPS; op++) {
		const struct isa_row *row = &isa_rows[op];

		if (!(row->targets & 1 << all->t))
			continue;
		if (row->format == ISA_VMEM) {
			sample_row(all, op, ISA_FLAT);
			sample_row(all, op, ISA_GLOBAL);
			sample_row(all, op, ISA_MUBUF);
			if ((all->t == ISA_GFX942 || all->t == ISA_GFX1100) && !(row->flags & ISA_ATOMIC))
				sample_row(all, op, ISA_SCRATCH);
			continue;
		}
		sample_row(all, op, row->format);
		if ((row->format == ISA_VOP1 || row->format == ISA_VOP2 || row->format == ISA_VOPC) &&
		    !(row->flags & (ISA_MK | ISA_AK | ISA_BARE | ISA_SDST)))
			sample_row(all, op, ISA_VOP3);
	}
	if (all->t != ISA_GFX1100 || all->lanes != 32)
		return;
	for (i = n = 0; n < 300; i++) {
		assert_true(i < 100000);
		dual(w);
		if (isa_decode(all->t, 32, w, 4, 0, insn))
			continue;
		assert_int_equal(insn->format, ISA_VOPD);
		keep(all, w, insn);
		n++;
	}
}

/* Random words that are decoded are instructions of LLVM, too */
static void sample_random(struct samples *all, u32 n)
{
	struct isa_insn insn[2];
	u32 w[4], i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < 4; k++)
			w[k] = rnd(3) ? rnd32() : rnd32() & rnd32() & rnd32();
		if (!isa_decode(all->t, all->lanes, w, 4, 0, insn))
			keep(all, w, insn);
	}
}

/* White space as one space; no offset of 0; of what is a wait, the mnemonic */
static void normal(char *line, char *text, size_t n)
{
	static const char none[] = " offset:0x0";
	char *at = strstr(line, none);
	size_t i = 0;

	if (at && (at[sizeof(none) - 1] == ' ' || at[sizeof(none) - 1] == '\n'))
		memmove(at, at + sizeof(none) - 1, strlen(at + sizeof(none) - 1) + 1);

	for (; *line && *line != '\n' && *line != ';' && i + 1 < n; line++)
		if (*line != ' ' && *line != '\t')
			text[i++] = *line;
		else if (i && text[i - 1] != ' ')
			text[i++] = ' ';
	while (i && text[i - 1] == ' ')
		i--;
	text[i] = 0;
	if (!strncmp(text, "s_wait", 6) || !strncmp(text, "s_delay", 7) || !strncmp(text, "s_sendmsg", 9))
		text[strcspn(text, " ")] = 0;
}

static void ask_llvm(struct samples *all, const char *mc, const char *dir)
{
	char command[512], line[256], text[256], path[64];
	u32 n = 0, wrong = 0, refused = 0, at;
	FILE *out;

	snprintf(command, sizeof(command), "%s -triple=amdgcn-amd-amdhsa -mcpu=%s -mattr=%s -disassemble %s/in 2>%s/err",
		 mc, gpus[all->t].name, all->t < ISA_GFX1010 ? "" : all->lanes == 32 ?
		 "+wavefrontsize32,-wavefrontsize64" : "-wavefrontsize32,+wavefrontsize64", dir, dir);
	out = popen(command, "r");
	assert_non_null(out);
	while (fgets(line, sizeof(line), out)) {
		normal(line, text, sizeof(text));
		if (!*text || *text == '.')
			continue;
		if (n < all->n && strcmp(text, all->s[n].text) && wrong++ < 20)
			print_message("# %s: \"%s\" is \"%s\" to LLVM\n", gpus[all->t].name, all->s[n].text,
				      text);
		n++;
	}
	assert_int_equal(pclose(out), 0);
	/* what is no instruction to LLVM */
	snprintf(path, sizeof(path), "%s/err", dir);
	out = fopen(path, "r");
	assert_non_null(out);
	while (fgets(line, sizeof(line), out)) {
		if (sscanf(line, "%*[^:]:%u:%*u: warning", &at) == 1 && at <= all->n && refused++ < 20)
			print_message("# %s: \"%s\" is nothing to LLVM\n", gpus[all->t].name, all->s[at - 1].text);
	}
	fclose(out);
	unlink(path);
	assert_int_equal(refused, 0);
	assert_int_equal(n, all->n);
	assert_int_equal(wrong, 0);
}

static void target(enum isa_target t, u32 lanes)
{
	struct samples all = { .t = t, .lanes = lanes };
	char dir[] = "/tmp/isa-XXXXXX", path[64], mc[256];
	bool compare = llvm("llvm-mc", gpus[t].llvm, mc, sizeof(mc));

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/in", dir);
	all.in = fopen(path, "w");
	assert_non_null(all.in);
	sample_rows(&all);
	sample_random(&all, option("STEPS", 20000));
	fclose(all.in);
	if (compare)
		ask_llvm(&all, mc, dir);
	unlink(path);
	rmdir(dir);
	free(all.s);
	if (!compare) {
		print_message("# no llvm-mc of LLVM %d or later: %s is not compared\n", gpus[t].llvm,
			      gpus[t].name);
		skip();
	}
}

static void test_gfx900(void **s)
{
	(void)s;
	target(ISA_GFX900, 64);
}

static void test_gfx90a(void **s)
{
	(void)s;
	target(ISA_GFX90A, 64);
}

static void test_gfx942(void **s)
{
	(void)s;
	target(ISA_GFX942, 64);
}

static void test_gfx1010(void **s)
{
	(void)s;
	target(ISA_GFX1010, 32);
}

static void test_gfx1030(void **s)
{
	(void)s;
	target(ISA_GFX1030, 32);
}

static void test_gfx1030_wave64(void **s)
{
	(void)s;
	target(ISA_GFX1030, 64);
}

static void test_gfx1100(void **s)
{
	(void)s;
	target(ISA_GFX1100, 32);
}

static void test_gfx1100_wave64(void **s)
{
	(void)s;
	target(ISA_GFX1100, 64);
}

int decode_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gfx900), cmocka_unit_test(test_gfx90a),
		cmocka_unit_test(test_gfx942), cmocka_unit_test(test_gfx1010),
		cmocka_unit_test(test_gfx1030), cmocka_unit_test(test_gfx1030_wave64),
		cmocka_unit_test(test_gfx1100), cmocka_unit_test(test_gfx1100_wave64),
	};

	return cmocka_run_group_tests_name("the decoder, against LLVM", tests, NULL, NULL);
}
