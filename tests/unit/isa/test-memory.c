// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions that reach memory, with random addresses, against what C does with a copy of the
 * memory, lane by lane.
 */
#include "memory.h"

struct test_memory m;

static void *page(void *ctx, u64 va, enum isa_access access)
{
	u64 i = (va - VA) / ISA_PAGE;

	(void)ctx;
	assert_int_equal(va % ISA_PAGE, 0);
	if (i >= PAGES || m.gone[i] || (access == ISA_WRITE && m.readonly[i]))
		return NULL;
	return m.data + i * ISA_PAGE;
}

void fresh(void)
{
	u32 i;

	for (i = 0; i < BYTES; i++)
		m.data[i] = (u8)(rnd(4) ? rnd32() : rnd(3) - 1);
	memcpy(m.shadow, m.data, BYTES);
	memset(m.gone, 0, sizeof(m.gone));
	memset(m.readonly, 0, sizeof(m.readonly));
	m.mem = (struct isa_memory){ .page = page };
	group()->mem = &m.mem;
}

static struct access understand(const char *name)
{
	struct access a = { 0 };
	char type[16] = "";

	if (sscanf(name, "load_%15s", type) == 1 || sscanf(name, "store_%15s", type) == 1) {
		a.store = *name == 's';
		a.is_signed = *type == 's' && strcmp(type, "short");
		a.bytes = strstr(type, "byte") ? 1 : strstr(type, "short") ? 2 : 4;
		if (strstr(type, "dwordx"))
			a.bytes *= (u32)atoi(type + 6);
		return a;
	}
	a.atomic = true;
	a.bytes = strstr(name, "_x2") ? 8 : 4;
	sscanf(name, "atomic_%15[a-z]", a.kind);
	return a;
}

/* What is there after an atomic operation, for 4 or 8 bytes */
static u64 changed(const char *kind, u32 bytes, u64 old, u64 x, u64 compare)
{
	s64 so = bytes == 4 ? (s32)old : (s64)old, sx = bytes == 4 ? (s32)x : (s64)x;

	if (!strcmp(kind, "swap") || !strcmp(kind, "wrxchg"))
		return x;
	if (!strcmp(kind, "cmpswap") || !strcmp(kind, "cmpst"))
		return old == compare ? x : old;
	if (!strcmp(kind, "add"))
		return old + x;
	if (!strcmp(kind, "sub"))
		return old - x;
	if (!strcmp(kind, "smin"))
		return so < sx ? old : x;
	if (!strcmp(kind, "umin"))
		return old < x ? old : x;
	if (!strcmp(kind, "smax"))
		return so > sx ? old : x;
	if (!strcmp(kind, "umax"))
		return old > x ? old : x;
	if (!strcmp(kind, "and"))
		return old & x;
	if (!strcmp(kind, "or"))
		return old | x;
	if (!strcmp(kind, "xor"))
		return old ^ x;
	if (!strcmp(kind, "inc"))
		return old >= x ? 0 : old + 1;
	assert_string_equal(kind, "dec");
	return old == 0 || old > x ? x : old - 1;
}

/* One lane's access to bytes of ours; @data: its registers before, @got: those of the result */
void model(const struct access *a, u8 *at, const u32 *data, u32 *got)
{
	u64 old = 0, x = data[0], compare = data[1], new;

	if (!a->atomic && a->store) {
		memcpy(at, data, a->bytes);
	} else if (!a->atomic) {
		memset(got, 0, 16);
		memcpy(got, at, a->bytes);
		if (a->is_signed)
			got[0] = a->bytes == 1 ? (u32)(s8)got[0] : (u32)(s16)got[0];
	} else {
		memcpy(&old, at, a->bytes);
		if (a->bytes == 8) {
			x |= (u64)data[1] << 32;
			compare = data[2] | (u64)data[3] << 32;
		}
		new = changed(a->kind, a->bytes, old, x, compare);
		memcpy(at, &new, a->bytes);
		got[0] = (u32)old;
		got[1] = (u32)(old >> 32);
	}
}

/* All lanes at random places; @form: FLAT, GLOBAL or MUBUF */
static void once(u32 op, enum isa_format form, u32 lanes)
{
	const struct isa_row *row = &isa_rows[op];
	struct access a = understand(row->name[0]);
	bool saddr = form == ISA_GLOBAL && rnd(2), returns = !a.atomic || rnd(2);
	struct isa_insn insn = { .op = (u16)op, .format = (u8)form, .dwords = 2, .sdst = ISA_INT_0,
				 .src = { ISA_VGPR + ADDR, ISA_VGPR + DATA, ISA_NONE },
				 .dst = (u16)(row->dst && returns ? ISA_VGPR + DST : ISA_NONE) };
	u32 l, i, got[4], want[ISA_LANES][4], at, data[4], unit = a.atomic || rnd(2) ? (a.bytes & -a.bytes) : 1;
	u64 exec = rnd(2) ? ~0ULL : interesting(), base = VA;
	struct isa_wave *w = machine(lanes, &insn);

	fresh();
	if (!row->src[0])
		insn.src[1] = ISA_NONE;
	exec = lanes == 64 ? exec : (u32)exec;
	w->s[ISA_EXEC] = (u32)exec;
	w->s[ISA_EXEC + 1] = (u32)(exec >> 32);
	insn.imm = form == ISA_GLOBAL ? (s32)rnd(64) - 32 : (s32)rnd(64);
	insn.imm &= ~15;
	if (saddr || form == ISA_MUBUF) {
		insn.src[2] = 8;
		if (saddr)
			base -= insn.imm;
		w->s[8] = (u32)base;
		w->s[9] = (u32)(base >> 32);
		w->s[10] = BYTES;
		w->s[11] = lanes == 32 ? 3u << 28 : 0;
		insn.mods = form == ISA_MUBUF ? ISA_OFFEN : 0;
	}
	for (l = 0; l < lanes; l++) {
		at = rnd((BYTES - 64) / unit) * unit;
		/* some lanes meet */
		if (rnd(4) == 0)
			at = 64;
		for (i = 0; i < 4; i++)
			data[i] = vgpr(DATA + i)[l] = rnd(3) ? (u32)interesting() : rnd(3);
		/* what is compared is there */
		if (!strcmp(a.kind, "cmpswap") && rnd(2)) {
			memcpy(&data[row->dst], m.shadow + at, a.bytes);
			for (i = 0; i < row->dst; i++)
				vgpr(DATA + row->dst + i)[l] = data[row->dst + i];
		}
		if (saddr) {
			vgpr(ADDR)[l] = at;
		} else if (form == ISA_MUBUF) {
			vgpr(ADDR)[l] = at - (u32)insn.imm;
			/* an offset below 0 is out of range */
			if (at < (u32)insn.imm)
				vgpr(ADDR)[l] = 0, at = (u32)insn.imm;
		} else {
			vgpr(ADDR)[l] = (u32)(VA + at - insn.imm);
			vgpr(ADDR + 1)[l] = (u32)((VA + at - insn.imm) >> 32);
		}
		for (i = 0; i < 4; i++)
			want[l][i] = got[i] = vgpr(DST + i)[l];
		if (!(exec >> l & 1))
			continue;
		model(&a, m.shadow + at, data, got);
		if (returns)
			memcpy(want[l], got, row->dst * 4u);
	}
	reload(&insn);
	step();
	assert_int_equal(w->state, ISA_RUNS);
	if (memcmp(m.data, m.shadow, BYTES))
		fail_msg("%s, encoding %u: memory differs", row->name[0], form);
	for (l = 0; l < lanes; l++)
		for (i = 0; i < 4; i++)
			if (vgpr(DST + i)[l] != want[l][i])
				fail_msg("%s, encoding %u: lane %u, dword %u is %#x, not %#x", row->name[0], form, l, i,
					 vgpr(DST + i)[l], want[l][i]);
}

static void test_memory(void **state)
{
	u32 op, i;

	(void)state;
	for (op = OP_load_ubyte; op < OP_END_VMEM; op++)
		for (i = 0; i < 8; i++) {
			once(op, ISA_GLOBAL, i % 2 ? 64 : 32);
			once(op, ISA_FLAT, i % 2 ? 64 : 32);
			once(op, ISA_MUBUF, i % 2 ? 64 : 32);
		}
}

/* An access that faults: the wave stops at the instruction, lanes before it are done */
static void test_faults(void **state)
{
	static const struct {
		u32 op;
		bool readonly, faults;
	} cases[] = {
		{ OP_load_dword, false, true }, { OP_load_dword, true, false },
		{ OP_store_dword, false, true }, { OP_store_dword, true, true },
		{ OP_atomic_add, true, true }, { OP_store_byte, true, true },
	};
	struct isa_insn insn = { .format = ISA_GLOBAL, .dwords = 2, .sdst = ISA_NONE };
	struct isa_wave *w;
	u32 i, l;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		insn.op = (u16)cases[i].op;
		insn.src[0] = ISA_VGPR + ADDR;
		insn.src[1] = isa_rows[insn.op].src[0] ? ISA_VGPR + DATA : ISA_NONE;
		insn.src[2] = ISA_NONE;
		insn.dst = isa_rows[insn.op].dst ? ISA_VGPR + DST : ISA_NONE;
		w = machine(64, &insn);
		fresh();
		m.gone[1] = !cases[i].readonly;
		m.readonly[1] = cases[i].readonly;
		for (l = 0; l < 64; l++) {
			vgpr(ADDR)[l] = (u32)(VA + (l < 5 ? 4 * l : ISA_PAGE + 4 * l));
			vgpr(ADDR + 1)[l] = (u32)(VA >> 32);
		}
		step();
		if (!cases[i].faults) {
			assert_int_equal(w->state, ISA_RUNS);
			continue;
		}
		assert_int_equal(w->state, ISA_FAULTED);
		assert_int_equal(w->pc, 0);
		assert_int_equal(m.mem.fault_va, VA + ISA_PAGE + 20);
		assert_int_equal(m.mem.fault_access, isa_rows[insn.op].src[0] ? ISA_WRITE : ISA_READ);
		assert_ptr_equal(isa_group_stopped(group()), w);
		if (insn.op == OP_store_dword)
			assert_memory_equal(m.data + 16, &vgpr(DATA)[4], 4);
		/* nothing that could not be done again */
		if (insn.op == OP_atomic_add)
			assert_memory_equal(m.data, m.shadow, ISA_PAGE);
		assert_memory_equal(m.data + ISA_PAGE, m.shadow + ISA_PAGE, ISA_PAGE);
		assert_int_equal(isa_group_run(group(), 10), 0);
	}
	/* a load into its own address, which goes on when the page is there */
	insn.op = OP_load_dword;
	insn.src[1] = ISA_NONE;
	insn.dst = ISA_VGPR + ADDR;
	w = machine(64, &insn);
	fresh();
	m.gone[1] = true;
	for (l = 0; l < 64; l++) {
		vgpr(ADDR)[l] = (u32)(VA + (l < 5 ? 4 * l : ISA_PAGE + 4 * l));
		vgpr(ADDR + 1)[l] = (u32)(VA >> 32);
	}
	step();
	assert_int_equal(w->state, ISA_FAULTED);
	m.gone[1] = false;
	w->state = ISA_RUNS;
	isa_memory_forget(&m.mem);
	step();
	for (l = 0; l < 64; l++)
		assert_memory_equal(&vgpr(ADDR)[l], m.shadow + (l < 5 ? 4 * l : ISA_PAGE + 4 * l), 4);
	insn.dst = ISA_NONE;
	/* an atomic operation must be aligned */
	insn.op = OP_atomic_add;
	insn.src[1] = ISA_VGPR + DATA;
	w = machine(64, &insn);
	fresh();
	for (l = 0; l < 64; l++) {
		vgpr(ADDR)[l] = (u32)VA + 2;
		vgpr(ADDR + 1)[l] = (u32)(VA >> 32);
	}
	step();
	assert_int_equal(w->state, ISA_FAULTED);
}

/* Buffers: what is out of range reads as 0 and is not written */
static void test_buffers(void **state)
{
	struct isa_insn insn = { .op = OP_load_dword, .format = ISA_MUBUF, .dwords = 2, .dst = ISA_VGPR + DST,
				 .sdst = 20, .src = { ISA_VGPR + ADDR, ISA_NONE, 8 },
				 .mods = ISA_OFFEN | ISA_IDXEN };
	struct isa_wave *w = machine(64, &insn);
	u32 l, at, got;

	(void)state;
	fresh();
	w->s[8] = (u32)VA;
	w->s[9] = (u32)(VA >> 32) | 16 << 16;	/* stride */
	w->s[10] = 40;				/* records */
	w->s[11] = 0;
	w->s[20] = 64;
	for (l = 0; l < 64; l++) {
		vgpr(ADDR)[l] = l;
		vgpr(ADDR + 1)[l] = 4 * (l % 4);
	}
	step();
	for (l = 0; l < 64; l++) {
		at = 64 + 16 * l + 4 * (l % 4);
		memcpy(&got, m.data + at, 4);
		assert_int_equal(vgpr(DST)[l], l < 40 ? got : 0);
	}
	w->s[9] |= 1u << 31;			/* swizzled */
	reload(&insn);
	step();
	assert_int_equal(w->state, ISA_REFUSED);
	w->s[9] = (u32)(VA >> 32);		/* raw */
	w->s[10] = 40;
	insn.op = OP_store_dword;
	insn.dst = ISA_NONE;
	insn.src[1] = ISA_VGPR + DATA;
	insn.mods = ISA_OFFEN;
	insn.sdst = ISA_INT_0;
	for (l = 0; l < 64; l++)
		vgpr(ADDR)[l] = 4 * l;
	reload(&insn);
	step();
	assert_memory_equal(m.data, vgpr(DATA), 40);
	assert_memory_equal(m.data + 40, m.shadow + 40, BYTES - 40);
}

static void test_scalar_loads(void **state)
{
	struct isa_insn insn = { .format = ISA_SMEM, .dwords = 2, .dst = 16, .sdst = ISA_NONE,
				 .src = { 4, ISA_NONE, ISA_NONE } };
	struct isa_wave *w;
	u32 op, i, n, at, before;

	(void)state;
	for (op = OP_s_load_dword; op <= OP_s_load_dwordx16; op++)
		for (i = 0; i < 20; i++) {
			insn.op = (u16)op;
			n = isa_rows[op].dst;
			insn.src[1] = rnd(2) ? 6 : ISA_NONE;
			insn.imm = (s32)rnd(200) - 100;
			at = 4 * rnd((BYTES - 512) / 4) + 256;
			w = machine(64, &insn);
			fresh();
			w->s[6] = 4 * rnd(20);
			w->s[4] = (u32)VA + at - (u32)(insn.imm & ~3) - (insn.src[1] == 6 ? w->s[6] : 0);
			w->s[5] = (u32)(VA >> 32);
			w->s[16 + n] = before = rnd32();
			step();
			assert_memory_equal(&w->s[16], m.data + at, 4 * n);
			assert_int_equal(w->s[16 + n], before);
		}
	m.gone[2] = true;
	isa_memory_forget(&m.mem);
	insn.src[1] = ISA_NONE;
	insn.imm = 0;
	/* cppcheck-suppress uninitvar; the loops were run */
	w->s[4] = (u32)VA + 2 * ISA_PAGE - 8;
	reload(&insn);
	step();
	assert_int_equal(w->state, ISA_FAULTED);
	assert_int_equal(m.mem.fault_va, VA + 2 * ISA_PAGE);
	/* a buffer: what is behind its end is 0 */
	insn.op = OP_s_buffer_load_dwordx4;
	w = machine(64, &insn);
	fresh();
	w->s[4] = (u32)VA;
	w->s[5] = (u32)(VA >> 32);
	w->s[6] = 72;
	insn.imm = 64;
	reload(&insn);
	step();
	assert_memory_equal(&w->s[16], m.data + 64, 8);
	assert_int_equal(w->s[18] | w->s[19], 0);
}

int memory_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory), cmocka_unit_test(test_faults), cmocka_unit_test(test_buffers),
		cmocka_unit_test(test_scalar_loads),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
