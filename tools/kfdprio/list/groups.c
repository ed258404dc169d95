// SPDX-License-Identifier: GPL-2.0
/* kfdprio --groups: one row per group. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "container.h"
#include "json-out.h"
#include "message.h"
#include "share.h"
#include "shares.h"

enum column {
	COLUMN_GROUP,
	COLUMN_OWNER_UID,
	COLUMN_OWNER,
	COLUMN_MAX,
	COLUMN_IS_SOFT,
	COLUMN_WEIGHT,
	COLUMN_STATE,
	COLUMN_IS_THROTTLED,
	COLUMN_IS_UNENFORCED,
	COLUMN_PROCESSES,
	COLUMN_RUNNING,
	COLUMN_PERIOD,
	COLUMN_RAN_TIME,
	COLUMN_SHARED_TIME,
	COLUMN_THROTTLED,
	COLUMN_THROTTLED_TIME,
	COLUMN_CGROUP_ID,
	/* in the order of enum container_column */
	COLUMN_POD,
	COLUMN_POD_UID = COLUMN_POD + CONTAINER_COLUMN_POD_UID,
	COLUMN_CGROUP,
	NR_COLUMNS
};

/* output.rst describes each column with its unit. */
static const struct list_column columns[NR_COLUMNS] = {
	[COLUMN_GROUP] = { "GROUP", "share", LIST_COUNT, LIST_EVERYWHERE },
	[COLUMN_OWNER_UID] = { "OWNER-UID", "owner_uid", LIST_COUNT, LIST_WIDE },
	[COLUMN_OWNER] = { "OWNER", "owner", LIST_WORD, LIST_EVERYWHERE },
	[COLUMN_MAX] = { "MAX", "max_percent", LIST_PERCENT, LIST_EVERYWHERE },
	[COLUMN_IS_SOFT] = { "IS-SOFT", "is_soft", LIST_FLAG, LIST_WIDE },
	[COLUMN_WEIGHT] = { "WEIGHT", "weight", LIST_COUNT, LIST_EVERYWHERE },
	[COLUMN_STATE] = { "STATE", "state", LIST_TEXT, LIST_EVERYWHERE },
	[COLUMN_IS_THROTTLED] = { "IS-THROTTLED", "is_throttled", LIST_FLAG, LIST_WIDE },
	[COLUMN_IS_UNENFORCED] = { "IS-UNENFORCED", "is_unenforced", LIST_FLAG, LIST_WIDE },
	[COLUMN_PROCESSES] = { "PROCESSES", "process_count", LIST_COUNT, LIST_EVERYWHERE },
	[COLUMN_RUNNING] = { "RUNNING", "running_gpu_count", LIST_COUNT, LIST_WIDE },
	[COLUMN_PERIOD] = { "PERIOD", "period_ns", LIST_DURATION, LIST_EVERYWHERE },
	[COLUMN_RAN_TIME] = { "RAN-TIME", "ran_ns", LIST_DURATION, LIST_EVERYWHERE },
	[COLUMN_SHARED_TIME] = { "SHARED-TIME", "shared_ns", LIST_DURATION, LIST_EVERYWHERE },
	[COLUMN_THROTTLED] = { "THROTTLED", "throttled_count", LIST_COUNT, LIST_EVERYWHERE },
	[COLUMN_THROTTLED_TIME] = { "THROTTLED-TIME", "throttled_ns", LIST_DURATION, LIST_EVERYWHERE },
	[COLUMN_CGROUP_ID] = { "CGROUP-ID", "cgroup_id", LIST_COUNT, LIST_WIDE },
	CONTAINER_COLUMNS(COLUMN_POD),
	[COLUMN_CGROUP] = { "CGROUP", "cgroup", LIST_TEXT, LIST_EVERYWHERE },
};

/**
 * struct groups - the groups
 * @entries: array of @nr
 * @cgroups: of each; its path is NULL if the group is bound to none, or if it was not found
 * @containers: whose cgroups these are, or that have them
 * @nr: how many
 * @choice: how they are printed
 */
struct groups {
	struct kfd_prio_share_entry *entries;
	struct cgroup_id *cgroups;
	struct container *containers;
	size_t nr;
	const struct list_choice *choice;
};

/* The first that applies; NULL: the group has no work, as far as is known */
static const char *state_name(const struct kfd_prio_share_entry *entry)
{
	if (share_entry_unenforced(entry))
		return "unenforced";
	if (entry->flags & KFD_PRIO_SHARE_IS_THROTTLED)
		return "throttled";
	return entry->nr_running ? "running" : NULL;
}

/* In a table, a cgroup whose path was not found has its number. */
static void cell_cgroup(const struct groups *groups, size_t at, struct list_value *value)
{
	const char *path = groups->cgroups[at].path;

	list_text(value, path);
	if (path || !groups->entries[at].cgroup || groups->choice->json)
		return;
	snprintf(value->room, sizeof(value->room), "inode:%llu", (unsigned long long)groups->entries[at].cgroup);
	list_text(value, value->room);
}

static void cell(void *context, size_t at, unsigned int column, struct list_value *value)
{
	const struct groups *groups = context;
	const struct kfd_prio_share_entry *entry = &groups->entries[at];

	switch (column) {
	case COLUMN_GROUP:
		list_count(value, entry->group);
		break;
	case COLUMN_OWNER_UID:
		list_count(value, entry->euid);
		break;
	case COLUMN_OWNER:
		list_text(value, user_name(entry->euid, value->room, sizeof(value->room)) ? value->room : NULL);
		break;
	case COLUMN_MAX:
		list_limit(value, entry, groups->choice);
		break;
	case COLUMN_IS_SOFT:
		value->known = entry->max != KFD_PRIO_MAX_NONE;
		value->flag = entry->flags & KFD_PRIO_SHARE_IS_SOFT;
		break;
	case COLUMN_WEIGHT:
		list_known_count(value, entry->weight != KFD_PRIO_WEIGHT_NONE, entry->weight);
		break;
	case COLUMN_STATE:
		list_text(value, state_name(entry));
		value->marked = share_entry_unenforced(entry);
		break;
	case COLUMN_IS_THROTTLED:
		value->known = true;
		value->flag = entry->flags & KFD_PRIO_SHARE_IS_THROTTLED;
		break;
	case COLUMN_IS_UNENFORCED:
		value->known = true;
		value->flag = share_entry_unenforced(entry);
		break;
	case COLUMN_PROCESSES:
		list_count(value, entry->nr_processes);
		break;
	case COLUMN_RUNNING:
		list_count(value, entry->nr_running);
		break;
	case COLUMN_PERIOD:
		list_known_count(value, entry->period_ns, entry->period_ns);
		break;
	case COLUMN_RAN_TIME:
		list_count(value, entry->ran_ns);
		break;
	case COLUMN_SHARED_TIME:
		list_count(value, entry->shared_ns);
		break;
	case COLUMN_THROTTLED:
		list_count(value, entry->throttled_count);
		break;
	case COLUMN_THROTTLED_TIME:
		list_count(value, entry->throttled_ns);
		break;
	case COLUMN_CGROUP_ID:
		list_known_count(value, entry->cgroup, entry->cgroup);
		break;
	case COLUMN_POD ... COLUMN_POD_UID:
		container_cell(&groups->containers[at], column - COLUMN_POD, !groups->choice->json && !groups->choice->csv, value);
		break;
	default:
		cell_cgroup(groups, at, value);
	}
}

/**
 * kfdprio_groups_check() - whether the groups can be printed as the user wants
 * @choice: what the user wants
 * @why: on failure, what is wrong; KFDLIB_WHY bytes
 *
 * Return: 0 or -EINVAL.
 */
int kfdprio_groups_check(const struct list_choice *choice, char *why)
{
	return list_check(columns, NR_COLUMNS, choice, why);
}

/* Does not return without memory */
static void cgroups_find(struct groups *groups)
{
	struct cgroup_id *bound;
	size_t i, nr = 0;

	groups->cgroups = calloc(groups->nr + 1, sizeof(*groups->cgroups));
	bound = calloc(groups->nr + 1, sizeof(*bound));
	if (!groups->cgroups || !bound)
		errx(EXIT_FAILURE, "out of memory");
	for (i = 0; i < groups->nr; i++)
		if (groups->entries[i].cgroup)
			bound[nr++].id = groups->entries[i].cgroup;
	cgroup_find(bound, nr);
	for (nr = i = 0; i < groups->nr; i++)
		if (groups->entries[i].cgroup)
			groups->cgroups[i] = bound[nr++];
	free(bound);
}

/* Likewise */
static void containers_find(struct groups *groups)
{
	struct containers known = { .nr = 0 };
	size_t i;

	groups->containers = calloc(groups->nr + 1, sizeof(*groups->containers));
	if (!groups->containers)
		errx(EXIT_FAILURE, "out of memory");
	for (i = 0; i < groups->nr; i++)
		if (groups->cgroups[i].path)
			container_find(&known, groups->cgroups[i].path, &groups->containers[i]);
	containers_free(&known);
}

static void groups_print(struct groups *groups)
{
	/* Columns that a narrow terminal has no room for */
	static const unsigned int leave[] = { COLUMN_THROTTLED, COLUMN_PERIOD, COLUMN_SHARED_TIME, COLUMN_OWNER,
					      COLUMN_PROCESSES, COLUMN_RAN_TIME, COLUMN_POD + CONTAINER_COLUMN_NAMESPACE };
	struct list_column placed[NR_COLUMNS];
	const struct list list = { .columns = placed, .nr_columns = NR_COLUMNS, .nr_rows = groups->nr,
				   .value = cell, .context = groups, .choice = groups->choice,
				   .leave = leave, .nr_leave = sizeof(leave) / sizeof(*leave) };
	size_t i;

	memcpy(placed, columns, sizeof(columns));
	for (i = 0; i < groups->nr; i++)
		container_columns_show(&groups->containers[i], placed, COLUMN_POD);
	if (groups->choice->json) {
		json_stdout(JSON_ROWS);
		json_number("version", JSON_FORMAT);
		json_simulated("simulated", kfd_simulated(kfd_system_root));
		list_json_columns(&list);
		list_json(&list, "groups");
		json_stdout_end();
		return;
	}
	list_print(&list);
	for (i = 0; i < groups->nr; i++)
		if (share_entry_unenforced(&groups->entries[i]))
			warnx("group %llu: its limit and its weight do not hold on each GPU: preemption is off on a GPU where it has processes, or is not possible there: run 'kfdprio doctor' for the reason",
			      (unsigned long long)groups->entries[i].group);
}

/**
 * kfdprio_groups() - list the groups
 * @dev: the device, whose driver has groups
 * @request: how to print them
 *
 * Return: the exit status.
 */
int kfdprio_groups(const struct kfd_dev *dev, const struct kfdprio_request *request)
{
	struct groups groups = { .choice = &request->list };
	size_t i;
	int ret;

	ret = kfd_dev_shares(dev, &groups.entries, &groups.nr);
	if (ret) {
		warnx("cannot list the groups: %s", strerror(-ret));
		return EXIT_FAILURE;
	}
	cgroups_find(&groups);
	containers_find(&groups);
	groups_print(&groups);
	for (i = 0; i < groups.nr; i++)
		free(groups.cgroups[i].path);
	free(groups.cgroups);
	free(groups.containers);
	free(groups.entries);
	return EXIT_SUCCESS;
}
