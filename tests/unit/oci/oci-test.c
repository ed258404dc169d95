// SPDX-License-Identifier: GPL-2.0
/* Unit tests of tools/lib/oci.c, and of container-max=, annotation-gpu-time= and annotation-weight= in rules. */
#include "fixture.h"

/* A message is one line of ASCII, whatever a container has written. */
void test_no_control(const char *text)
{
	const char *at;

	for (at = text; *at; at++)
		if (*at < ' ' || *at > '~')
			fail_msg("byte %#x in: %s", (unsigned char)*at, text);
}

int main(void)
{
	return state_tests() + choose_tests() + share_tests() + random_tests() != 0;
}
