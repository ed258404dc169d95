// SPDX-License-Identifier: GPL-2.0
/* Unit tests of tools/slurm, but for kfdprio.c. */
#include "fixture.h"

/* A line of plugstack.conf behind "optional kfdprio.so", as Slurm splits it. */
int test_parse(struct job_prio_options *options, const char *line, char *why)
{
	char *copy = strdup(line), *rest = copy, *word;
	char *argv[16];
	int argc = 0, ret;

	assert_non_null(copy);
	while ((word = strsep(&rest, " "))) {
		if (*word) {
			assert_true(argc < 16);
			argv[argc++] = word;
		}
	}
	ret = job_prio_parse(options, argc, argv, why);
	free(copy);
	return ret;
}

int main(void)
{
	return parse_tests() + choose_tests() + share_tests() + step_tests() != 0;
}
