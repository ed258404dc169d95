// SPDX-License-Identifier: GPL-2.0
/* Rules of kfdprio.conf(5), and a process that they are asked about. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "rules.h"

static int number(const char *name, unsigned int *id)
{
	*id = strlen(name);
	return *name == 'x' ? -ENOENT : 0;
}

static void one(const uint8_t *bytes, size_t size)
{
	const struct rules_names names = { .user = number, .group = number };
	static const gid_t gids[] = { 3 };
	const struct rules_subject subject = { .cgroup = "/a.slice/b.service/c", .exe = "/usr/bin/x",
					       .uid = 4, .gids = gids, .nr_gids = 1 };
	struct rules_result result;
	struct rules rules = { 0 };
	size_t i;

	if (rules_parse(&rules, "fuzz", (const char *)bytes, size, &names))
		abort();
	for (i = 0; i < rules.nr; i++)
		if ((rules.rule[i].exe && (rules.rule[i].priority > KFD_PRIO_NORMAL || rules.rule[i].weight)) ||
		    rules.rule[i].max > KFD_PRIO_MAX_NONE || rules.rule[i].weight > KFD_PRIO_WEIGHT_MAX)
			abort();
	if (rules_container_max(&rules) < KFD_PRIO_MIN || rules_container_max(&rules) > KFD_PRIO_MAX)
		abort();
	rules_match(&rules, &subject, &result);
	/* a rule without priority= leaves the limit of another */
	if (result.rule && result.rule->priority != KFD_PRIO_UNSET && result.priority > result.rule->priority)
		abort();
	if (result.share && (result.share->exe || result.share != result.rule))
		abort();
	rules_free(&rules);
}

const struct fuzz_target fuzz_rules = { "rules", NULL, one };
