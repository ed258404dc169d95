// SPDX-License-Identifier: GPL-2.0
/*
 * The shader of kfdprio doctor --soak, preempted all the time, against what the doctor expects of a GPU.
 * tests/doctor/shader has GFX12 as well, and knows the mnemonics only.
 */
#include "kernel.h"
#include "doctor/shader.h"

#define GROUPS	4
#define MASK	2047	/* results have more room than the work-groups need */

static void soak(enum isa_target t, const struct shader *s, u32 rounds, u32 seed)
{
	struct shader_arguments args = { (uintptr_t)arena.out, rounds, seed, MASK };
	struct kernel *k = load_raw(t, s->code, s->code_bytes, s->descriptor);
	u32 i, want;

	memcpy(&arena.args, &args, sizeof(args));
	memset(arena.out, 0, sizeof(arena.out));
	assert_true(run_kernel(k, GROUPS, 0, preempt) != 0);
	for (i = 0; i < GROUPS * SHADER_GROUP; i++) {
		want = shader_result(shader_step(rounds), i, seed);
		if (arena.out[i] != want)
			fail_msg("%s: item %u stores %#x, not %#x", s->target, i, arena.out[i], want);
	}
	assert_int_equal(arena.out[i], 0);
	free(k);
}

static void test_soak(void **state)
{
	const struct shader *s;
	u32 t, n = 0;

	(void)state;
	for (s = doctor_shaders; *s->target; s++)
		for (t = 0; t < ISA_TARGETS; t++)
			if (!strcmp(s->target, gpus[t].name)) {
				soak(t, s, 1, 0);
				soak(t, s, 700 + rnd(50), rnd32());
				n++;
			}
	if (!n) {
		print_message("# no llvm-mc: no shader was assembled\n");
		skip();
	}
	print_message("# %u of %u targets\n", n, ISA_TARGETS);
}

int soak_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_soak),
	};

	return cmocka_run_group_tests_name("the shader of the doctor", tests, NULL, NULL);
}
