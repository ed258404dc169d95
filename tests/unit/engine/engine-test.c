// SPDX-License-Identifier: GPL-2.0
/* Unit tests of tests/sim/engine.c: the model of the GPU's queue hardware. */
#include "fixture.h"

int main(void)
{
	return launch_tests() + fair_tests() + cwsr_tests() + cost_tests() + map_tests() + mes_tests() +
	       random_tests() + reference_tests() != 0;
}
