// SPDX-License-Identifier: GPL-2.0
/*
 * kfdpriod: a rule for a cgroup ends the groups that annotations have made for containers below it.
 *
 * Of the groups of cgroups above a process, the nearest one counts.  The hook of containers makes none below a cgroup that has a
 * group, or gets one by a rule.  A rule that is written later, for a cgroup in which containers with annotations run, would not
 * hold for these.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "kfdpriod.h"
#include "oci-groups.h"

static int group_end(struct service *s, uint64_t number)
{
	const struct share_setting none = { .max = KFD_PRIO_MAX_NONE };
	struct kfd_prio_share_args args = { .group = number };

	share_args_set(&args, &none);
	return kfd_dev_share(&s->dev, &args);
}

/**
 * annotated_end() - end the groups of annotations below a cgroup
 * @s: the service
 * @rule: the rule that has bound a group to the cgroup
 * @cgroup: its path
 */
void annotated_end(struct service *s, const struct rule *rule, const char *cgroup)
{
	struct kfd_prio_share_entry *entries;
	struct oci_group *groups;
	size_t nr, found, i;
	int ret;

	if (kfd_dev_shares(&s->dev, &entries, &nr))
		return;
	found = oci_groups_read(entries, nr, &groups);
	for (i = 0; i < found; i++) {
		if (!cgroup_below(groups[i].cgroup, cgroup) || !strcmp(groups[i].cgroup, cgroup) ||
		    group_of_number(&s->groups, groups[i].number))
			continue;
		ret = group_end(s, groups[i].number);
		if (ret && ret != -ENOENT)
			log_line(LOG_LEVEL_ERROR, "group %llu: the driver refuses to end it, and %s:%u does not hold for its container: %s",
				 (unsigned long long)groups[i].number, rule->file, rule->line, strerror(-ret));
		else if (!ret)
			log_line(LOG_LEVEL_WARNING, "group %llu, of the annotation of a container, has ended: %s:%u gives a share to a cgroup that the container is in",
				 (unsigned long long)groups[i].number, rule->file, rule->line);
	}
	oci_groups_free(groups, found);
	free(entries);
}
