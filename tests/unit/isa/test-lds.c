// SPDX-License-Identifier: GPL-2.0
/* Instructions that reach LDS, with random addresses, against what C does with a copy of it, lane by lane */
#include "memory.h"

/* LDS, by the names of the rows: ds_read2st64_b64 is two times 8 bytes, 512 apart */
static void lds_once(u32 op, u32 lanes)
{
	const struct isa_row *row = &isa_rows[op];
	const char *name = row->name[0];
	struct isa_insn insn = { .op = (u16)op, .format = ISA_DS, .dwords = 2, .sdst = ISA_NONE,
				 .src = { ISA_VGPR + ADDR, ISA_NONE, ISA_NONE },
				 .dst = (u16)(row->dst ? ISA_VGPR + DST : ISA_NONE) };
	u32 bits = (u32)atoi(strrchr(name, '_') + 2), bytes = bits / 8, l, i, k, at, data[2][4], got[4] = { 0 };
	u32 unit = strstr(name, "st64") ? 64 * bytes : bytes, want[ISA_LANES][4], from;
	bool twice = strstr(name, "read2") || strstr(name, "write2"), store = strstr(name, "write");
	u64 exec = rnd(2) ? ~0ULL : interesting();
	struct isa_wave *w = machine(lanes, &insn);
	struct access a = { .bytes = bytes, .store = store, .is_signed = strstr(name, "_i") };
	u8 shadow[TEST_LDS];

	fresh();
	exec = lanes == 64 ? exec : (u32)exec;
	w->s[ISA_EXEC] = (u32)exec;
	w->s[ISA_EXEC + 1] = (u32)(exec >> 32);
	memcpy(group()->lds, m.data, TEST_LDS);
	memcpy(shadow, m.data, TEST_LDS);
	if (row->src[0])
		insn.src[1] = ISA_VGPR + DATA;
	if (row->src[1])
		insn.src[2] = ISA_VGPR + DATA + 4;
	insn.imm = (s32)(twice ? rnd(4) | rnd(4) << 8 : rnd(256));
	if (!store && !strstr(name, "read")) {
		a.atomic = true;
		sscanf(name, "ds_%15[a-z]", a.kind);
		if (!strcmp(a.kind, "min") || !strcmp(a.kind, "max")) {
			memmove(a.kind + 1, a.kind, 4);
			a.kind[0] = strrchr(name, '_')[1] == 'i' ? 's' : 'u';
		}
	}
	for (l = 0; l < lanes; l++) {
		at = rnd(4) ? rnd(TEST_LDS / 4) * 4 : 64;
		vgpr(ADDR)[l] = at;
		for (i = 0; i < 4; i++) {
			data[0][i] = vgpr(DATA + i)[l] = rnd(3) ? (u32)interesting() : rnd(3);
			data[1][i] = vgpr(DATA + 4 + i)[l] = rnd(3) ? (u32)interesting() : data[0][i];
			want[l][i] = vgpr(DST + i)[l];
		}
		if (!strncmp(name, "ds_cmpst", 8) && rnd(2) && at + (u32)insn.imm + bytes <= TEST_LDS) {
			memcpy(data[0], shadow + at + insn.imm, bytes);
			for (i = 0; i < bytes / 4; i++)
				vgpr(DATA + i)[l] = data[0][i];
		}
		if (!(exec >> l & 1))
			continue;
		for (k = 0; k < (twice ? 2 : 1); k++) {
			from = at + (twice ? (insn.imm >> 8 * k & 0xff) * unit : (u32)insn.imm);
			if (!strncmp(name, "ds_cmpst", 8)) {
				/* GFX9 and 10: the first is what is compared */
				u32 n = bytes / 4, both[4] = { data[1][0], data[0][0], 0, 0 };

				if (n == 2) {
					memcpy(both, data[1], 8);
					memcpy(both + 2, data[0], 8);
				}
				memcpy(data[0], both, 16);
			}
			memset(got, 0, sizeof(got));
			if (from + bytes <= TEST_LDS) {
				model(&a, shadow + from, data[k], got);
			} else if (a.atomic) {
				u8 none[8] = { 0 };

				model(&a, none, data[k], got);
			}
			for (i = 0; row->dst && i < (bytes + 3) / 4; i++)
				want[l][k * bytes / 4 + i] = got[i];
		}
	}
	reload(&insn);
	step();
	if (memcmp(group()->lds, shadow, TEST_LDS))
		fail_msg("%s: LDS differs", name);
	for (l = 0; l < lanes; l++)
		for (i = 0; i < 4; i++)
			if (vgpr(DST + i)[l] != want[l][i])
				fail_msg("%s: lane %u, dword %u is %#x, not %#x", name, l, i, vgpr(DST + i)[l], want[l][i]);
}

static void test_lds(void **state)
{
	u32 op, i;

	(void)state;
	for (op = OP_END_VOP3P + 1; op < OP_END_DS; op++)
		for (i = 0; op != OP_ds_bpermute_b32 && i < 16; i++)
			lds_once(op, i % 2 ? 64 : 32);
}

static void test_bpermute(void **state)
{
	struct isa_insn insn = { .op = OP_ds_bpermute_b32, .format = ISA_DS, .dwords = 2, .sdst = ISA_NONE,
				 .src = { ISA_VGPR + ADDR, ISA_VGPR + ADDR, ISA_NONE }, .dst = ISA_VGPR + ADDR };
	u32 l, before[64];
	struct isa_wave *w;

	(void)state;
	w = machine(64, &insn);
	w->s[ISA_EXEC] = 0xfffffffe;
	memcpy(before, vgpr(ADDR), sizeof(before));
	step();
	for (l = 0; l < 64; l++)
		assert_int_equal(vgpr(ADDR)[l], !l ? before[0] : before[l] / 4 % 64 ? before[before[l] / 4 % 64] : 0);
}

/* GFX11: the first operand is what is stored, as in memory */
static void test_cmpstore(void **state)
{
	struct isa_insn insn = { .op = OP_ds_cmpst_b32, .format = ISA_DS, .dwords = 2, .sdst = ISA_NONE,
				 .src = { ISA_VGPR + ADDR, ISA_VGPR + DATA, ISA_VGPR + DST }, .dst = ISA_NONE };
	struct isa_wave *w = machine(32, &insn);
	u32 word = 5;

	(void)state;
	w->s[ISA_EXEC] = 1;
	vgpr(ADDR)[0] = 8;
	vgpr(DATA)[0] = 7;
	vgpr(DST)[0] = 5;
	memcpy(group()->lds + 8, &word, 4);
	step();
	memcpy(&word, group()->lds + 8, 4);
	assert_int_equal(word, 5);
	machine_target(ISA_GFX1100);
	reload(&insn);
	step();
	memcpy(&word, group()->lds + 8, 4);
	assert_int_equal(word, 7);
}

/* A flat address in LDS */
static void test_flat_lds(void **state)
{
	struct isa_insn insn = { .op = OP_store_dwordx2, .format = ISA_FLAT, .dwords = 2, .sdst = ISA_NONE,
				 .dst = ISA_NONE, .src = { ISA_VGPR + ADDR, ISA_VGPR + DATA, ISA_NONE } };
	struct isa_wave *w = machine(64, &insn);
	u32 l, word;

	(void)state;
	fresh();
	for (l = 0; l < 64; l++) {
		vgpr(ADDR)[l] = 8 * l;
		vgpr(ADDR + 1)[l] = SHARED_BASE;
	}
	step();
	assert_int_equal(w->state, ISA_RUNS);
	memcpy(&word, group()->lds + 8 * 5 + 4, 4);
	assert_int_equal(word, vgpr(DATA + 1)[5]);
	insn.op = OP_load_ubyte;
	insn.dst = ISA_VGPR + DST;
	insn.src[1] = ISA_NONE;
	reload(&insn);
	step();
	assert_int_equal(vgpr(DST)[7], vgpr(DATA)[7] & 0xff);
	insn.op = OP_atomic_add;
	insn.src[1] = ISA_VGPR + DATA;
	reload(&insn);
	step();
	assert_int_equal(vgpr(DST)[7], vgpr(DATA)[7]);
	memcpy(&word, group()->lds + 8 * 7, 4);
	assert_int_equal(word, 2 * vgpr(DATA)[7]);
}

int lds_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lds), cmocka_unit_test(test_bpermute), cmocka_unit_test(test_cmpstore),
		cmocka_unit_test(test_flat_lds),
	};

	return cmocka_run_group_tests_name("LDS", tests, NULL, NULL);
}
