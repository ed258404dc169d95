// SPDX-License-Identifier: GPL-2.0
/* Unit tests of tools/lib/container*.c. */
#include "fixture.h"

int main(void)
{
	return parse_tests() + find_tests() != 0;
}
