// SPDX-License-Identifier: GPL-2.0
/*
 * Whole programs: what the scan refuses, and random ones: whatever is in memory, the executor reads and writes
 * only what is its own (the sanitizers watch it), and stops.
 */
#include "fixture.h"

#define VA	0x10000ULL
#define DWORDS	(ISA_CODE_DWORDS + 16)
#define S_ENDPGM	0xbf810000u
#define S_NOP	0xbf800000u
#define S_BRANCH(n)	(0xbf820000u | (u16)(n))
#define S_CBRANCH_SCC0(n)	(0xbf840000u | (u16)(n))

static union {
	u32 word[DWORDS];
	u8 page[DWORDS / 1024 + 1][ISA_PAGE];
} code;

static u8 data[ISA_PAGE];
static struct isa_program prog;

static void *page(void *ctx, u64 va, enum isa_access access)
{
	u64 i = (va - VA) / ISA_PAGE;

	(void)ctx;
	if (i < sizeof(code.page) / ISA_PAGE)
		return access == ISA_WRITE ? NULL : code.page[i];
	/* a half of all addresses is memory, the same page */
	return va & ISA_PAGE ? data : NULL;
}

static enum isa_reason scan(struct isa_why *why)
{
	struct isa_memory mem = { .page = page };

	bool ok = isa_scan(&prog, ISA_GFX90A, 64, &mem, VA, why);

	assert_int_equal(ok, why->reason == ISA_OK);
	return why->reason;
}

static void fill(u32 word)
{
	u32 i;

	for (i = 0; i < DWORDS; i++)
		code.word[i] = word;
}

static void test_refused(void **state)
{
	struct isa_memory mem = { .page = page };
	struct isa_why why;

	(void)state;
	fill(S_ENDPGM);
	assert_int_equal(scan(&why), ISA_OK);
	assert_int_equal(prog.insns, 1);
	code.word[0] = 0xbe801d00;	/* s_setpc_b64 s[0:1]: an indirect branch */
	assert_int_equal(scan(&why), ISA_UNKNOWN);
	assert_int_equal(why.at, 0);
	assert_int_equal(why.word, 0xbe801d00);
	code.word[0] = S_CBRANCH_SCC0(4);	/* to what is not known */
	code.word[5] = 0xbe801d00;
	assert_int_equal(scan(&why), ISA_UNKNOWN);
	assert_int_equal(why.at, 5);
	code.word[0] = S_BRANCH(3);	/* which is not reachable */
	code.word[1] = 0xbe801d00;
	code.word[5] = 0xbe801d00;
	assert_int_equal(scan(&why), ISA_OK);
	assert_int_equal(prog.insns, 2);
	code.word[0] = S_BRANCH(-2);
	assert_int_equal(scan(&why), ISA_BAD_BRANCH);
	fill(S_NOP);
	assert_int_equal(scan(&why), ISA_TOO_LONG);
	fill(S_ENDPGM);
	code.word[0] = S_CBRANCH_SCC0(1);
	code.word[1] = 0xbe8000ff;	/* s_mov_b32 s0, a literal, into which the branch leads */
	code.word[2] = S_ENDPGM;
	assert_int_equal(scan(&why), ISA_BAD_BRANCH);
	code.word[0] = S_BRANCH(4000);
	assert_int_equal(scan(&why), ISA_OK);
	code.word[0] = S_BRANCH(4095);
	assert_int_equal(scan(&why), ISA_TOO_LONG);
	assert_false(isa_scan(&prog, ISA_GFX90A, 64, &mem, 0x2000, &why));
	assert_int_equal(why.reason, ISA_UNREADABLE);
	assert_false(isa_scan(&prog, ISA_GFX90A, 32, &mem, VA, &why));
	assert_false(isa_scan(&prog, ISA_GFX90A, 64, &mem, VA + 2, &why));
}

/* A descriptor: registers, LDS, user registers */
static struct isa_dispatch dispatch(u32 rsrc1, u32 rsrc2, u32 prop)
{
	struct isa_dispatch d = { .dims = 3, .grid = { 10, 9, 3 }, .size = { 8, 4, 2 }, .kernarg = 0x1122334455667788,
				  .packet = 0x99aabbccddeeff00, .group_bytes = 512 };

	memcpy(d.descriptor + 48, &rsrc1, 4);
	memcpy(d.descriptor + 52, &rsrc2, 4);
	memcpy(d.descriptor + 56, &prop, 4);
	return d;
}

#define DENORMALS	(3u << 16)

static void test_start(void **state)
{
	static u32 space[8 * 64 * 4 + 4096];
	static struct isa_group g;
	/* packet and arguments, 4 registers; numbers of the group in x and z; of the item in all */
	struct isa_dispatch d = dispatch(DENORMALS, 4 << 1 | 1 << 7 | 1 << 9 | 2 << 11, 1 << 1 | 1 << 3);
	struct isa_memory mem = { .page = page };
	u32 groups[3], id[3] = { 0, 0, 0 }, bad, bytes;
	struct isa_why why;
	u64 x;

	(void)state;
	fill(S_ENDPGM);
	assert_int_equal(scan(&why), ISA_OK);
	assert_int_equal(isa_check(&prog, &d), ISA_OK);
	isa_groups(&d, groups);
	assert_int_equal(groups[0], 2);
	assert_int_equal(groups[1], 3);
	assert_int_equal(groups[2], 2);
	isa_group_init(&g, &prog, &mem, &d);
	assert_int_equal(g.nwaves, 1);
	assert_int_equal(g.vgprs, 8);
	assert_int_equal(g.lds_bytes, 512);
	assert_true(g.denormals);
	isa_group_start(&g, &d, id, space);
	memcpy(&x, g.wave[0].s, 8);
	assert_int_equal(x, d.packet);
	memcpy(&x, g.wave[0].s + 2, 8);
	assert_int_equal(x, d.kernarg);
	memcpy(&x, &g.wave[0].s[ISA_EXEC], 8);
	assert_int_equal(x, ~0ULL);
	assert_int_equal(g.wave[0].v[63], 7 | 3 << 10 | 1 << 20);
	/* the last group: 2 x 1 x 1 items */
	id[0] = 1;
	id[1] = 2;
	id[2] = 1;
	isa_group_start(&g, &d, id, space);
	assert_int_equal(g.wave[0].s[4], 1);
	assert_int_equal(g.wave[0].s[5], 1);
	memcpy(&x, &g.wave[0].s[ISA_EXEC], 8);
	assert_int_equal(x, 3);
	assert_int_equal(g.wave[0].v[1], 1);
	assert_int_equal(isa_group_run(&g, 10), 1);
	assert_true(isa_group_ended(&g));
	/* scratch memory is asked for by the packet, the descriptor, or a register */
	assert_false(isa_scratch_bytes(&d, &bytes));
	d.private_bytes = 8;
	assert_true(isa_scratch_bytes(&d, &bytes));
	assert_int_equal(bytes, 8);
	bytes = 12;
	memcpy(d.descriptor + 4, &bytes, 4);
	assert_true(isa_scratch_bytes(&d, &bytes));
	assert_int_equal(bytes, 12);
	d = dispatch(0, 1, 0);
	assert_true(isa_scratch_bytes(&d, &bytes));
	assert_int_equal(bytes, 0);
	/* what is refused: more registers, rounding, denormals of results only, arguments in registers */
	prog.vgprs = 9;
	assert_int_equal(isa_check(&prog, &d), ISA_REGISTERS);
	prog.vgprs = 8;
	d = dispatch(0, 0, 0);
	assert_int_equal(isa_check(&prog, &d), ISA_OK);
	d = dispatch(1 << 12, 0, 0);
	assert_int_equal(isa_check(&prog, &d), ISA_DISPATCH);
	d = dispatch(1 << 16, 0, 0);
	assert_int_equal(isa_check(&prog, &d), ISA_DISPATCH);
	d = dispatch(0, 0, 1 << 16);
	assert_int_equal(isa_check(&prog, &d), ISA_DISPATCH);
	d = dispatch(0, 0, 0);
	bad = ISA_LDS_BYTES + 4;
	memcpy(d.descriptor, &bad, 4);
	assert_int_equal(isa_check(&prog, &d), ISA_DISPATCH);
}

/* What registers say is what a descriptor would, and a wave begins with those that the queue has set */
static void test_registers(void **state)
{
	static u32 space[8 * 64 * 4 + 4096];
	static struct isa_group g;
	const u32 user[16] = { 11, 12, 13, 14, 15, 16 };
	/* 6 user registers, the number of the group in x, two units of LDS */
	const u32 rsrc[3] = { DENORMALS, 6 << 1 | 1 << 7 | 2 << 15, 0x1234 };
	struct isa_dispatch d = { .dims = 3, .grid = { 70, 1, 1 }, .size = { 64, 1, 1 }, .user = user };
	struct isa_memory mem = { .page = page };
	u32 id[3] = { 1, 0, 0 }, i, rsrc3;
	struct isa_why why;

	(void)state;
	fill(S_ENDPGM);
	assert_int_equal(scan(&why), ISA_OK);
	isa_describe(&d, rsrc, true);
	assert_int_equal(isa_lanes(ISA_GFX1030, &d), 32);
	assert_int_equal(isa_lanes(ISA_GFX90A, &d), 64);
	isa_describe(&d, rsrc, false);
	assert_int_equal(isa_lanes(ISA_GFX1030, &d), 64);
	memcpy(&rsrc3, d.descriptor + 44, 4);
	assert_int_equal(rsrc3, 0x1234);
	assert_int_equal(isa_check(&prog, &d), ISA_OK);
	isa_group_init(&g, &prog, &mem, &d);
	assert_int_equal(g.lds_bytes, 1024);
	isa_group_start(&g, &d, id, space);
	for (i = 0; i < 6; i++)
		assert_int_equal(g.wave[0].s[i], user[i]);
	assert_int_equal(g.wave[0].s[6], 1);
	assert_int_equal(g.wave[0].s[7], 0);
	assert_int_equal(g.wave[0].s[ISA_EXEC], 0x3f);
	/* and behind the number of the group, where scratch memory of the wave is */
	isa_describe(&d, (const u32 []){ DENORMALS, 6 << 1 | 1 << 7 | 1, 0 }, false);
	d.size[0] = 128;
	d.grid[0] = 256;
	d.scratch = (struct isa_scratch){ .wave_bytes = 2048, .first = 3 };
	isa_group_init(&g, &prog, &mem, &d);
	isa_group_start(&g, &d, id, space);
	assert_int_equal(g.wave[0].s[6], 1);
	assert_int_equal(g.wave[0].s[7], 3 * 2048);
	assert_int_equal(g.wave[1].s[7], 4 * 2048);
	isa_describe(&d, (const u32 []){ 0, 17 << 1, 0 }, false);
	assert_int_equal(isa_check(&prog, &d), ISA_DISPATCH);
	isa_describe(&d, (const u32 []){ 0, 129 << 15, 0 }, false);	/* more LDS than there is */
	assert_int_equal(isa_check(&prog, &d), ISA_DISPATCH);
}

/* A random instruction that the decoder accepts; how many dwords */
static u32 random_insn(enum isa_target t, u32 lanes, u32 *w)
{
	static const enum isa_format memory[] = { ISA_FLAT, ISA_GLOBAL, ISA_MUBUF };
	struct isa_insn insn[2];
	enum isa_format form;
	u32 op;

	for (;;) {
		op = rnd(ISA_OPS);
		if (!(isa_rows[op].targets & 1 << t) || op == OP_s_endpgm || isa_rows[op].flags & ISA_BRANCH)
			continue;
		form = isa_rows[op].format;
		if (form == ISA_VMEM)
			form = memory[rnd(3)];
		if ((form == ISA_VOP1 || form == ISA_VOP2 || form == ISA_VOPC) && rnd(2) &&
		    !(isa_rows[op].flags & (ISA_MK | ISA_AK | ISA_BARE | ISA_SDST)))
			form = ISA_VOP3;
		/* what ends most programs early */
		if ((op == OP_s_trap || op == OP_s_sethalt || form == ISA_SMEM || form == ISA_FLAT ||
		     form == ISA_MUBUF) && rnd(20))
			continue;
		instance(t, &isa_rows[op], form, w);
		if (!isa_decode(t, lanes, w, 4, 0, insn))
			return insn->dwords;
	}
}

static void random_program(enum isa_target t, u32 lanes)
{
	u32 i, n, starts[64], insns = 1 + rnd(60), branch[64], nbranch = 0, to, at = 0;
	static const u32 ends[] = { 0xbf810000, 0xbf810000, 0xbfb00000 };
	u32 g = isa_generation(t);

	for (i = 0; i < insns; i++) {
		starts[i] = at;
		if (rnd(8) == 0) {
			branch[nbranch++] = i;
			at++;
			continue;
		}
		n = random_insn(t, lanes, code.word + at);
		at += n;
	}
	starts[insns] = at;
	code.word[at] = ends[g];
	for (i = 0; i < nbranch; i++) {
		to = rnd(insns + 1);
		/* cppcheck-suppress uninitvar; there are nbranch of them */
		code.word[starts[branch[i]]] = 0xbf800000u |
			(u32)isa_rows[OP_s_branch + rnd(7)].code[g] << 16 |
			(u16)(starts[to] - starts[branch[i]] - 1);
	}
}

static void fuzz_one(enum isa_target t, u32 lanes, bool valid)
{
	static u32 space[8 * ISA_VGPRS * 64 + ISA_LDS_BYTES / 4];
	static struct isa_group g;
	struct isa_memory mem = { .page = page };
	struct isa_dispatch d = dispatch(rnd(64) | DENORMALS, rnd32() & 0x1ffe, rnd(128));
	u32 i, id[3] = { rnd(2), rnd(3), rnd(2) }, done;
	struct isa_why why;

	for (i = 0; i < 256; i++)
		code.word[i] = rnd(3) ? rnd32() : rnd32() & rnd32();
	if (valid)
		random_program(t, lanes);
	if (!isa_scan(&prog, t, lanes, &mem, VA, &why)) {
		if (valid)
			fail_msg("%s: %s at dword %u: %#x", gpus[t].name, isa_reason_name(why.reason), why.at, why.word);
		return;
	}
	/* what is free of the descriptor */
	d.size[0] = (u16)(1 + rnd(8));
	d.size[1] = (u16)(1 + rnd(8));
	if (isa_check(&prog, &d))
		return;
	isa_group_init(&g, &prog, &mem, &d);
	if (isa_group_bytes(&g) > sizeof(space))
		return;
	for (i = 0; i < 3; i++)
		d.grid[i] = d.size[i] * 3;
	isa_group_start(&g, &d, id, space);
	for (i = 0; i < ISA_VCC; i++)
		g.wave[0].s[i] = rnd(2) ? rnd32() : rnd(8192);
	for (i = done = 0; i < 20; i++)
		done += isa_group_run(&g, 37);
	assert_true(done <= 20 * 37);
	assert_true(isa_group_ended(&g) || isa_group_stopped(&g) || done == 20 * 37);
}

static void test_fuzz(void **state)
{
	u32 i, n = option("STEPS", 20000) / 4, t, lanes;

	(void)state;
	for (i = 0; i < n; i++) {
		t = rnd(ISA_TARGETS);
		lanes = isa_generation(t) && rnd(2) ? 32 : 64;
		fuzz_one(t, lanes, i % 2);
	}
}

int scan_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused), cmocka_unit_test(test_start), cmocka_unit_test(test_registers),
		cmocka_unit_test(test_fuzz),
	};

	return cmocka_run_group_tests_name("programs", tests, NULL, NULL);
}
