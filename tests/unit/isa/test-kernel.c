// SPDX-License-Identifier: GPL-2.0
/* Compiled kernels: results as the host computes them; the same with waves saved and restored in the middle */
#include <time.h>
#include "kernel.h"
#include "kernel/host.h"

static u32 *const a = arena.a, *const b = arena.b, *const out = arena.out, want[OUT];

struct test {
	const char *name;
	u32 groups, n;
	void (*host)(u32 n);
};

static void add(u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		want[i] = a[i] + b[i];
}

static void copy(u32 n)
{
	memcpy(want, a, n / 2 * 8);
}

static void reduce(u32 n)
{
	u32 g, i, k, sum;

	for (g = 0; g < 4; g++)
		for (i = 0; i < 256; i++) {
			sum = 0;
			for (k = g * 256 + i; k < n; k += 1024)
				sum += a[k] * b[k];
			want[0] += sum;
			want[1 + sum % 16]++;
		}
}

static void gemm(u32 n)
{
	u32 i, j, k;

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			for (k = 0; k < n; k++)
				want[i * n + j] += a[i * n + k] * b[k * n + j];
}

static void mixed(u32 n)
{
	u32 i, k, rounds;
	u64 x;

	for (i = 0; i < n; i++) {
		x = a[i] | (u64)b[i] << 32;
		rounds = a[i] % 23 + 1;
		for (k = 0; k < rounds; k++) {
			if (x & 1)
				x = x * 3 + 1;
			else
				x = (x >> 3) ^ (x << 17) ^ b[(i + k) % n] / (a[i] % 7 + 1);
			x += (s8)(x >> 5) < (int)k ? (u64)-5 : 3;
		}
		want[i] = (u32)(x ^ x >> 32);
	}
}

static void stack(u32 n)
{
	host_stack(a, b, want, n);
}

static const struct test tests[] = {
	{ "add", 5, 1100, add }, { "copy", 4, 2000, copy }, { "reduce", 4, ALL, reduce },
	{ "gemm", 16, N, gemm }, { "mixed", 3, 700, mixed }, { "stack", 3, 700, stack },
};

static void prepare(void)
{
	u32 i;

	for (i = 0; i < ALL; i++) {
		a[i] = rnd32();
		b[i] = rnd32();
	}
}

static u64 run(struct kernel *k, const struct test *t,
	       void (*pause)(struct isa_group *g, const struct isa_dispatch *d, const u32 *id, void *space))
{
	memset(out, 0, sizeof(arena.out));
	memset(want, 0, sizeof(want));
	t->host(t->n);
	return run_kernel(k, t->groups, t->n, pause);
}

/* State as bytes, and where in it the next piece goes */
static u8 saved[1 << 20];
static size_t place;
static u64 saves;

static bool put(void *ctx, void *data, size_t bytes)
{
	(void)ctx;
	assert_true(place + bytes <= sizeof(saved));
	memcpy(saved + place, data, bytes);
	place += bytes;
	return true;
}

static bool take(void *ctx, void *data, size_t bytes)
{
	(void)ctx;
	memcpy(data, saved + place, bytes);
	place += bytes;
	return true;
}

/**
 * preempt - save a group, forget it, and bring it back: in memory that was something else's
 * @g: the group
 * @d: its dispatch
 * @id: its number
 * @space: its memory
 */
void preempt(struct isa_group *g, const struct isa_dispatch *d, const u32 *id, void *space)
{
	size_t bytes = isa_group_bytes(g);

	if (isa_group_ended(g))
		return;
	saves++;
	place = 0;
	assert_true(isa_save(g, put, NULL));
	assert_int_equal(place, isa_save_bytes(g));
	memset(space, 0xa5, bytes);
	memset(g->wave, 0xa5, sizeof(g->wave));
	g->turn = 77;
	isa_group_start(g, d, id, space);
	place = 0;
	assert_true(isa_restore(g, take, NULL));
}

static void compare(enum isa_target t, const char *options, const struct test *test)
{
	u32 i;

	for (i = 0; i < OUT; i++)
		if (out[i] != want[i])
			fail_msg("%s, %s, %s: out[%u] is %#x, not %#x", gpus[t].name, options, test->name, i, out[i],
				 want[i]);
}

static void saxpy(enum isa_target t, const u8 *file, size_t bytes)
{
	float *x = (float *)a, *y = (float *)b, z;
	struct isa_why why;
	struct kernel *k = load(t, file, bytes, "saxpy", &why);
	u32 i, contracted = 0, plain = 0, x2, word;

	assert_non_null(k);
	for (i = 0; i < 1000; i++) {
		x[i] = (float)(s32)rnd32() / 65536;
		y[i] = (float)(s32)rnd32() / 1048576;
	}
	memset(out, 0, sizeof(arena.out));
	assert_true(run_kernel(k, 4, 1000, NULL) != 0);
	/* one of the products may be part of an fma */
	for (i = 0; i < 1000; i++) {
		float s = x[i] * 2.5f, q = y[i] * y[i];

		z = __builtin_fmaf(y[i], y[i], s);
		memcpy(&word, &z, 4);
		contracted += word == out[i];
		z = __builtin_fmaf(x[i], 2.5f, q);
		memcpy(&word, &z, 4);
		contracted += word == out[i];
		z = s + q;
		memcpy(&x2, &z, 4);
		plain += x2 == out[i];
	}
	if (contracted < 1000 && plain < 1000)
		fail_msg("%s: saxpy: %u and %u of 1000 are right", gpus[t].name, contracted, plain);
	free(k);
}

/* Whole, and with each group saved and restored */
static void run_all(enum isa_target t, const char *options, const u8 *file, size_t bytes, u32 n)
{
	struct isa_why why;
	struct kernel *k;
	u32 i;

	for (i = 0; i < n; i++) {
		k = load(t, file, bytes, tests[i].name, &why);
		if (!k)
			fail_msg("%s, %s, %s: %s at dword %u, %#x", gpus[t].name, options, tests[i].name,
				 isa_reason_name(why.reason), why.at, why.word);
		prepare();
		assert_true(run(k, &tests[i], NULL) != 0);
		compare(t, options, &tests[i]);
		prepare();
		saves = 0;
		assert_true(run(k, &tests[i], preempt) != 0);
		compare(t, options, &tests[i]);
		if (i > 1)
			assert_true(saves > 10);
		free(k);
	}
}

/* LDS of the dispatch's size; of @lds dwords, fewer than the kernel wants: what is not there is lost, and read as 0 */
static void dynamic(enum isa_target t, const u8 *file, size_t bytes, u32 n, u32 lds)
{
	struct isa_why why;
	struct kernel *k = load(t, file, bytes, "dynamic", &why);
	u32 g, i, j, sum, at;

	assert_non_null(k);
	prepare();
	memset(out, 0, sizeof(arena.out));
	k->d.group_bytes = lds * 4;
	assert_true(run_kernel(k, 2, n, preempt) != 0);
	for (g = 0; g < 2; g++)
		for (i = 0; i < 256; i++) {
			for (sum = 0, j = i; j < n; j += 256) {
				at = n - 1 - j;
				sum = sum * 3 + (at < lds ? a[at % 4096] + at : 0);
			}
			if (out[g * 256 + i] != sum + b[i])
				fail_msg("%s: %u of %u dwords of LDS: out[%u] is %#x, not %#x", gpus[t].name, lds, n,
					 g * 256 + i, out[g * 256 + i], sum + b[i]);
		}
	free(k);
}

static u32 messages, message;

static void hear(void *ctx, u32 data)
{
	(void)ctx;
	messages++;
	message = data;
}

/* A kernel sets a signal and interrupts the host */
static void notify(enum isa_target t, const u8 *file, size_t bytes)
{
	u64 signal[4] = { 1, 3, 0, 0xab }, *at = (u64 *)&out[ALL];
	struct isa_why why;
	struct kernel *k = load(t, file, bytes, "notify", &why);

	assert_non_null(k);
	memset(out, 0, sizeof(arena.out));
	signal[2] = (uintptr_t)(at + 4);
	memcpy(at, signal, sizeof(signal));
	arena.args = (struct arguments){ a, (u32 *)at, out, 77 };
	messages = 0;
	kernel_message = hear;
	assert_true(run_kernel(k, 3, 0, preempt) != 0);
	kernel_message = NULL;
	assert_int_equal(messages, 1);
	assert_int_equal(message, 0xab);
	assert_int_equal(at[1], 0);
	assert_int_equal(at[4], 0xab);
	assert_int_equal(out[700], a[700] ^ 77);
	free(k);
}

static const char *const options[] = { "-O1", "-O2" };

static void target(enum isa_target t)
{
	const char *error;
	size_t bytes;
	u8 *file;
	u32 o;

	for (o = 0; o < 2; o++) {
		file = compile(t, options[o], &bytes, &error);
		if (!file) {
			print_message("# %s: %s\n", gpus[t].name, error);
			skip();
		}
		run_all(t, options[o], file, bytes, sizeof(tests) / sizeof(*tests));
		saxpy(t, file, bytes);
		dynamic(t, file, bytes, 2048, 2048);
		dynamic(t, file, bytes, 2048, 1024);
		dynamic(t, file, bytes, 16384, 16384);
		notify(t, file, bytes);
		free(file);
	}
}

/* What hipcc makes of the first four */
static void test_hip(void **state)
{
	size_t bytes;
	u8 *file;
	u32 o;

	(void)state;
	for (o = 0; o < 2; o++) {
		file = compile_hip(options[o], &bytes);
		if (!file) {
			print_message("# no hipcc\n");
			skip();
		}
		run_all(ISA_GFX90A, options[o], file, bytes, 4);
		free(file);
	}
}

static void test_gfx900(void **state)
{
	(void)state;
	target(ISA_GFX900);
}

static void test_gfx90a(void **state)
{
	(void)state;
	target(ISA_GFX90A);
}

static void test_gfx942(void **state)
{
	(void)state;
	target(ISA_GFX942);
}

static void test_gfx1010(void **state)
{
	(void)state;
	target(ISA_GFX1010);
}

static void test_gfx1030(void **state)
{
	(void)state;
	target(ISA_GFX1030);
}

static void test_gfx1100(void **state)
{
	(void)state;
	target(ISA_GFX1100);
}

/* What of the saved state is changed by the next pause, and whether it has been */
static size_t spoil;
static bool spoilt;

static void spoil_one(struct isa_group *g, const struct isa_dispatch *d, const u32 *id, void *space)
{
	(void)d;
	(void)id;
	(void)space;
	if (spoilt || id[0] || isa_group_ended(g) || g->wave[0].count < 150)
		return;
	place = 0;
	assert_true(isa_save(g, put, NULL));
	saved[spoil] ^= 0x10;
	place = 0;
	if (!isa_restore(g, take, NULL)) {
		saved[spoil] ^= 0x10;
		place = 0;
		assert_true(isa_restore(g, take, NULL));
		return;
	}
	spoilt = true;
}

/*
 * State that is saved wrong shows: each vector register of a lane of the matrix product's first wave is spoilt in its own
 * run, once, then each scalar register and some of LDS. What is alive makes the result wrong or stops the wave.
 */
static u32 spoil_range(struct kernel *k, size_t from, size_t to, size_t step)
{
	u32 wrong = 0;

	for (spoil = from; spoil < to; spoil += step) {
		spoilt = false;
		if (!run(k, &tests[3], spoil_one) || memcmp(out, want, sizeof(want)))
			wrong++;
	}
	return wrong;
}

static void test_spoilt(void **state)
{
	struct isa_why why;
	struct kernel *k;
	const char *error;
	size_t bytes, vectors, wave, all;
	u32 v, s, l;
	u8 *file = compile(ISA_GFX90A, "-O1", &bytes, &error);
	static struct isa_group g;

	(void)state;
	if (!file) {
		print_message("# %s\n", error);
		skip();
	}
	k = load(ISA_GFX90A, file, bytes, "gemm", &why);
	assert_non_null(k);
	prepare();
	isa_group_init(&g, &k->prog, &k->mem, &k->d);
	vectors = g.vgprs * 64 * 4;
	all = isa_save_bytes(&g);
	wave = (all - g.lds_bytes) / g.nwaves;
	v = spoil_range(k, 5 * 4, vectors, 64 * 4);
	s = spoil_range(k, vectors, wave, 4);
	l = spoil_range(k, all - g.lds_bytes, all, 400);
	print_message("# spoilt state that shows: %u of %u vector registers, %u of %zu dwords behind them, %u of %u places in LDS\n",
		      v, g.vgprs, s, (wave - vectors) / 4, l, (g.lds_bytes + 399) / 400);
	assert_true(v >= 3 && s >= 6 && l >= 1);
	free(k);
	free(file);
}

/* One saved dword that no wave can have is refused */
static void test_refused(void **state)
{
	static struct isa_program prog;
	static struct isa_group g;
	static u32 space[64];
	u32 i, hw = 64 + ISA_SGPRS;
	const struct { u32 at, value; } bad[] = {
		{ hw, ISA_CODE_DWORDS }, { hw, 1 }, { hw + 1, 2 }, { hw + 2, 99 }, { hw + 6, 1 },
		{ hw + 7, ISA_TURN + 1 },
	};

	(void)state;
	prog.lanes = 64;
	prog.insn[0].dwords = 2;
	prog.insn[0].op = OP_s_endpgm;
	g = (struct isa_group){ .prog = &prog, .lanes = 64, .nwaves = 1, .vgprs = 1, .turn_left = 1 };
	g.wave[0].v = space;
	for (i = 0; i <= sizeof(bad) / sizeof(*bad); i++) {
		place = 0;
		assert_true(isa_save(&g, put, NULL));
		if (i < sizeof(bad) / sizeof(*bad))
			memcpy(saved + 4 * bad[i].at, &bad[i].value, 4);
		place = 0;
		assert_int_equal(isa_restore(&g, take, NULL), i == sizeof(bad) / sizeof(*bad));
	}
}

/**
 * speed - instructions of a wave that are executed in a second; prints them
 */
int speed(void)
{
	struct isa_why why;
	struct kernel *k;
	struct timespec from, to;
	const char *error;
	size_t bytes;
	u32 i, n;
	u8 *file = compile(ISA_GFX90A, "-O2", &bytes, &error);
	u64 count;
	double s;

	if (!file) {
		printf("%s\n", error);
		return 1;
	}
	for (i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		k = load(ISA_GFX90A, file, bytes, tests[i].name, &why);
		if (!k)
			return 1;
		prepare();
		count = 0;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
		for (n = 0; n < 50; n++)
			count += run_kernel(k, tests[i].groups, tests[i].n, NULL);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
		s = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
		printf("%-8s %8.0f instructions, %6.2f million in a second\n", tests[i].name, (double)count / 50,
		       (double)count / s / 1e6);
		free(k);
	}
	free(file);
	return 0;
}

int kernel_tests(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(test_gfx900), cmocka_unit_test(test_gfx90a), cmocka_unit_test(test_gfx942),
		cmocka_unit_test(test_gfx1010), cmocka_unit_test(test_gfx1030), cmocka_unit_test(test_gfx1100),
		cmocka_unit_test(test_hip), cmocka_unit_test(test_spoilt), cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("kernels, whole and preempted", all, NULL, NULL);
}
