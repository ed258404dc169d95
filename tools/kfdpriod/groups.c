// SPDX-License-Identifier: GPL-2.0
/* kfdpriod: the groups of processes by rules, in memory.  Does not return without memory. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "kfdpriod.h"
#include "message.h"

static bool same(const char *one, const char *other)
{
	return one && other ? !strcmp(one, other) : one == other;
}

/**
 * group_of_key() - the group that is not bound to a cgroup, of a rule
 * @groups: the groups
 * @key: of rule_key()
 * @cgroup: the cgroup that could not be bound; NULL: none
 * @limit: the rule only limits
 *
 * Return: the group or NULL.
 */
struct group *group_of_key(const struct groups *groups, const char *key, const char *cgroup, bool limit)
{
	size_t i;

	for (i = 0; i < groups->nr; i++)
		if (same(groups->all[i].key, key) && same(groups->all[i].cgroup, cgroup) && groups->all[i].limit == limit)
			return &groups->all[i];
	return NULL;
}

/**
 * group_of_cgroup() - the group that is bound to a cgroup
 * @groups: the groups
 * @cgroup_id: number of the cgroup
 *
 * Return: the group or NULL.
 */
struct group *group_of_cgroup(const struct groups *groups, uint64_t cgroup_id)
{
	size_t i;

	for (i = 0; i < groups->nr; i++)
		if (groups->all[i].cgroup_id == cgroup_id)
			return &groups->all[i];
	return NULL;
}

/**
 * group_of_number() - the group of a rule that has a number
 * @groups: the groups
 * @number: of the driver
 *
 * Return: the group or NULL.
 */
struct group *group_of_number(const struct groups *groups, uint64_t number)
{
	size_t i;

	for (i = 0; i < groups->nr; i++)
		if (groups->all[i].number == number)
			return &groups->all[i];
	return NULL;
}

static char *copied(const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		err(EXIT_FAILURE, "cannot note a group");
	return copy;
}

/**
 * group_add() - note a group
 * @groups: in, out
 * @group: its texts are copied
 */
void group_add(struct groups *groups, const struct group *group)
{
	struct group *more = reallocarray(groups->all, groups->nr + 1, sizeof(*more));

	if (!more)
		err(EXIT_FAILURE, "cannot note a group");
	groups->all = more;
	more[groups->nr] = *group;
	more[groups->nr].cgroup = copied(group->cgroup);
	more[groups->nr].key = copied(group->key);
	groups->nr++;
	groups->changed = true;
}

/**
 * group_drop() - forget a group
 * @groups: in, out; pointers to its groups are not valid any more
 * @group: one of them
 */
void group_drop(struct groups *groups, struct group *group)
{
	free(group->cgroup);
	free(group->key);
	*group = groups->all[--groups->nr];
	groups->changed = true;
}

/**
 * groups_prune() - forget the groups that the driver does not have any more
 * @groups: in, out; pointers to its groups are not valid any more
 * @entries: all groups of the driver
 * @nr: how many
 *
 * With it there are no more groups than the driver has, however many cgroups come and go.
 */
void groups_prune(struct groups *groups, const struct kfd_prio_share_entry *entries, size_t nr)
{
	const struct kfd_prio_share_entry *entry;
	size_t i = 0;

	while (i < groups->nr) {
		entry = share_entry_find(entries, nr, groups->all[i].number);
		if (entry && entry->cgroup == groups->all[i].cgroup_id)
			i++;
		else
			group_drop(groups, &groups->all[i]);
	}
}

/**
 * groups_free() - forget all
 * @groups: empty afterwards
 */
void groups_free(struct groups *groups)
{
	while (groups->nr)
		group_drop(groups, &groups->all[groups->nr - 1]);
	free(groups->all);
	*groups = (struct groups){ 0 };
}
