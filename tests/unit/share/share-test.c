// SPDX-License-Identifier: GPL-2.0
#include "share.h"

static u64 seed = 1;

u64 rnd(u64 below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

int main(void)
{
	const char *s = getenv("SEED");

	if (s)
		seed = strtoull(s, NULL, 0) | 1;
	return quota_tests() + turn_tests();
}
