// SPDX-License-Identifier: GPL-2.0
/* kfdprio metrics: groups of processes that share GPU time. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "metrics.h"
#include "message.h"

/* The paths of the first @named groups that are bound to a cgroup; no path that is longer than a file name may be */
static void cgroups_find(struct metrics_groups *groups, unsigned int named)
{
	struct cgroup_id *bound = calloc(groups->nr + 1, sizeof(*bound));
	size_t i, nr = 0, at = 0;

	groups->cgroups = calloc(groups->nr + 1, sizeof(*groups->cgroups));
	if (!bound || !groups->cgroups)
		err(EXIT_FAILURE, "cannot list the groups of processes");
	for (i = 0; i < groups->nr && nr < named; i++)
		if (groups->entries[i].cgroup)
			bound[nr++].id = groups->entries[i].cgroup;
	cgroup_find(bound, nr);
	for (i = 0; i < groups->nr && at < nr; i++) {
		if (!groups->entries[i].cgroup)
			continue;
		groups->cgroups[i] = bound[at++].path;
		if (groups->cgroups[i] && strlen(groups->cgroups[i]) >= KFDLIB_PATH) {
			free(groups->cgroups[i]);
			groups->cgroups[i] = NULL;
		}
	}
	free(bound);
}

/**
 * metrics_groups_read() - ask the driver for the groups
 * @dev: a device that has some
 * @named: how many cgroups are to be named at most
 * @groups: out, to be freed with metrics_groups_free()
 * @why: on failure, what is wrong; KFDLIB_WHY bytes
 *
 * Return: 0 or -errno.
 */
int metrics_groups_read(const struct kfd_dev *dev, unsigned int named, struct metrics_groups *groups, char *why)
{
	int ret;

	ret = kfd_dev_shares(dev, &groups->entries, &groups->nr);
	if (ret) {
		snprintf(why, KFDLIB_WHY, "cannot list the groups of processes: %s", strerror(-ret));
		return ret;
	}
	cgroups_find(groups, named);
	return 0;
}

/**
 * metrics_groups_containers() - find the containers of the groups, whose labels are then printed
 * @groups: of metrics_groups_read()
 * @known: containers that were looked up
 */
void metrics_groups_containers(struct metrics_groups *groups, struct containers *known)
{
	size_t i;

	groups->containers = calloc(groups->nr + 1, sizeof(*groups->containers));
	if (!groups->containers)
		err(EXIT_FAILURE, "cannot list the groups of processes");
	for (i = 0; i < groups->nr; i++)
		if (groups->cgroups[i])
			container_find(known, groups->cgroups[i], &groups->containers[i]);
}

enum group_metric { RAN, THROTTLED, MAX, WEIGHT };

static void value_print(FILE *out, const struct kfd_prio_share_entry *group, enum group_metric metric)
{
	switch (metric) {
	case RAN:
		metrics_seconds(out, group->ran_ns);
		break;
	case THROTTLED:
		metrics_seconds(out, group->throttled_ns);
		break;
	case MAX:
		fprintf(out, "%u.%04u\n", group->max / KFD_PRIO_MAX_NONE, group->max % KFD_PRIO_MAX_NONE);
		break;
	case WEIGHT:
		fprintf(out, "%u\n", group->weight);
		break;
	}
}

/**
 * metrics_groups() - print the groups
 * @out: where
 * @groups: of metrics_groups_read()
 */
void metrics_groups(FILE *out, const struct metrics_groups *groups)
{
	static const struct {
		const char *name, *type, *help;
	} all[] = {
		[RAN] = { "kfdprio_group_ran_seconds_total", "counter",
			  "How long the group was mapped with work on some GPU: what its limit limits." },
		[THROTTLED] = { "kfdprio_group_throttled_seconds_total", "counter",
				"How long the group was off a GPU with work, by its limit or the turn of another group, summed over GPUs." },
		[MAX] = { "kfdprio_group_max_ratio", "gauge", "The limit of the group, a part of the time; 1: none." },
		[WEIGHT] = { "kfdprio_group_weight", "gauge", "The weight of the group; 0: none of its own." },
	};
	size_t metric, i;

	for (metric = 0; metric < sizeof(all) / sizeof(*all); metric++) {
		metrics_family(out, all[metric].name, all[metric].type, all[metric].help);
		for (i = 0; i < groups->nr; i++) {
			fprintf(out, "%s{group=\"%llu\",cgroup=\"", all[metric].name,
				(unsigned long long)groups->entries[i].group);
			metrics_label(out, groups->cgroups[i] ?: "");
			putc('"', out);
			if (groups->containers)
				metrics_container(out, &groups->containers[i]);
			fputs("} ", out);
			value_print(out, &groups->entries[i], metric);
		}
	}
}

/**
 * metrics_groups_free() - free what metrics_groups_read() allocated
 * @groups: empty afterwards
 */
void metrics_groups_free(struct metrics_groups *groups)
{
	size_t i;

	for (i = 0; i < groups->nr; i++)
		free(groups->cgroups[i]);
	free(groups->cgroups);
	free(groups->containers);
	free(groups->entries);
	*groups = (struct metrics_groups){ 0 };
}
