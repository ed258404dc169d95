// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of tests/sim/engine.c: the model of the GPU's queue hardware.
 * engine-test [calibrate]: all of them, or the calibration only, for make bench
 */
#include "fixture.h"

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "calibrate"))
		return calibrate_tests() != 0;
	return launch_tests() + fair_tests() + cwsr_tests() + cost_tests() + map_tests() +
	       mes_tests() + random_tests() + reference_tests() + share_tests() +
	       calibrate_tests() != 0;
}
