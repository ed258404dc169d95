// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of tests/sim/isa: instructions of the simulated GPU are decoded and executed.
 * isa-test [speed]: all of them, or how many instructions are executed in a second
 * ISA_STOP=1: not beyond the first group of tests that fails, for ./mutate
 */
#include "fixture.h"

int main(int argc, char **argv)
{
	static int (*const groups[])(void) = {
		decode_tests, scalar_tests, vector_tests, float_tests, memory_tests, lds_tests, scan_tests,
		kernel_tests, soak_tests,
	};
	int failed = 0;
	size_t i;

	if (argc == 2 && !strcmp(argv[1], "speed"))
		return speed();
	for (i = 0; i < sizeof(groups) / sizeof(*groups) && !(failed && getenv("ISA_STOP")); i++)
		failed += groups[i]();
	return failed != 0;
}
