// SPDX-License-Identifier: GPL-2.0
/* Unit tests of tools/lib/rules-*.c and share-parse.c. */
#define _GNU_SOURCE
#include "fixture.h"

static int user(const char *name, uid_t *uid)
{
	bool anna = !strcmp(name, "anna") || !strcmp(name, "1000");

	*uid = anna ? 1000 : 1001;
	return anna || !strcmp(name, "ben") ? 0 : -ENOENT;
}

static int group(const char *name, gid_t *gid)
{
	*gid = !strcmp(name, "gpu") ? 44 : 45;
	return !strcmp(name, "gpu") || !strcmp(name, "batch") ? 0 : -ENOENT;
}

const struct rules_names test_names = { .user = user, .group = group };

void test_parse(struct rules *rules, const char *text)
{
	memset(rules, 0, sizeof(*rules));
	assert_int_equal(rules_parse(rules, "f", text, strlen(text), &test_names), 0);
}

int main(void)
{
	return parse_tests() + match_tests() + share_tests() + random_tests() != 0;
}
