// SPDX-License-Identifier: GPL-2.0
/* Unit tests of kfd_patches/overlay/kfd_prio_policy.c: who is preempted, why and until when. */
#include "fixture.h"

int main(void)
{
	return table_tests() + state_tests() + random_tests() + park_tests() + backoff_tests() != 0;
}
