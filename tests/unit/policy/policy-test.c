// SPDX-License-Identifier: GPL-2.0
/* Unit tests of kfd_patches/overlay/kfd_prio_policy.c: who is preempted, why and until when. */
#include "rate.h"

int main(void)
{
	if (getenv("TABLES")) {
		rate_tables();
		return 0;
	}
	return table_tests() + state_tests() + random_tests() + park_tests() + backoff_tests() + rate_tests() != 0;
}
