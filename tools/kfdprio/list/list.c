// SPDX-License-Identifier: GPL-2.0
/* kfdprio -l, and the JSON of kfdprio -p: one row per process and GPU. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "container.h"
#include "json-out.h"
#include "kfdprio.h"
#include "message.h"
#include "notes.h"
#include "queues.h"
#include "shares.h"

/* Of the interface, from which on KFD_PRIO_LIST_PREEMPT_OFF is told */
#define BREAKER_MINOR	2
/* The same, of saved_count and what follows it */
#define SAVED_MINOR 3
/* The same, of parking */
#define PARKED_MINOR 4

enum column {
	COLUMN_PID,
	COLUMN_UID,
	COLUMN_USER,
	COLUMN_PRIORITY,
	COLUMN_EFFECTIVE,
	COLUMN_QUEUES,
	COLUMN_ACTIVE,
	COLUMN_STATE,
	COLUMN_IS_EVICTED,
	COLUMN_IS_PREEMPTED,
	COLUMN_IS_PREEMPTING,
	COLUMN_IS_OFF,
	COLUMN_IS_PARKED,
	COLUMN_IS_NEVER_PARKED,
	COLUMN_IS_ORPHAN,
	COLUMN_SHARED_BY,
	COLUMN_SERIAL,
	COLUMN_PREEMPTED,
	COLUMN_PREEMPTED_TIME,
	COLUMN_PREEMPTING,
	COLUMN_PARKED,
	COLUMN_PARKED_TIME,
	COLUMN_SAVED,
	COLUMN_SAVE_TIME,
	COLUMN_MAX_SAVE,
	/* in the order of enum list_share */
	COLUMN_GROUP,
	COLUMN_CGROUP_GROUP,
	COLUMN_MAX,
	COLUMN_IS_SOFT,
	COLUMN_WEIGHT,
	COLUMN_IS_THROTTLED,
	COLUMN_THROTTLED,
	COLUMN_THROTTLED_TIME,
	/* in the order of enum container_column */
	COLUMN_POD,
	COLUMN_POD_UID = COLUMN_POD + CONTAINER_COLUMN_POD_UID,
	COLUMN_HIP,
	COLUMN_SMI,
	COLUMN_GPU,
	COLUMN_NODE,
	COLUMN_NAME,
	COLUMN_GFX,
	COLUMN_PCI,
	COLUMN_PRODUCT,
	COLUMN_COMMAND,
	NR_COLUMNS
};

/* output.rst describes each column with its unit. */
static const struct list_column columns[NR_COLUMNS] = {
	[COLUMN_PID] = { "PID", "pid", LIST_NUMBER, LIST_EVERYWHERE },
	[COLUMN_UID] = { "UID", "uid", LIST_COUNT, LIST_WIDE },
	[COLUMN_USER] = { "USER", "user", LIST_WORD, LIST_EVERYWHERE },
	[COLUMN_PRIORITY] = { "PRIORITY", "priority", LIST_NUMBER, LIST_EVERYWHERE },
	[COLUMN_EFFECTIVE] = { "EFFECTIVE", "effective_priority", LIST_NUMBER, LIST_EVERYWHERE },
	[COLUMN_QUEUES] = { "QUEUES", "queue_count", LIST_COUNT, LIST_EVERYWHERE },
	[COLUMN_ACTIVE] = { "ACTIVE", "active_queue_count", LIST_COUNT, LIST_EVERYWHERE },
	[COLUMN_STATE] = { "STATE", "state", LIST_TEXT, LIST_EVERYWHERE },
	[COLUMN_IS_EVICTED] = { "IS-EVICTED", "is_evicted", LIST_FLAG, LIST_WIDE },
	[COLUMN_IS_PREEMPTED] = { "IS-PREEMPTED", "is_preempted", LIST_FLAG, LIST_WIDE },
	[COLUMN_IS_PREEMPTING] = { "IS-PREEMPTING", "is_preempting", LIST_FLAG, LIST_WIDE },
	[COLUMN_IS_OFF] = { "IS-PREEMPTION-OFF", "is_preemption_off", LIST_FLAG, LIST_WIDE },
	[COLUMN_IS_PARKED] = { "IS-PARKED", "is_parked", LIST_FLAG, LIST_WIDE },
	[COLUMN_IS_NEVER_PARKED] = { "IS-NEVER-PARKED", "is_never_parked", LIST_FLAG, LIST_WIDE },
	[COLUMN_IS_ORPHAN] = { "IS-ORPHAN", "is_orphan", LIST_FLAG, LIST_WIDE },
	[COLUMN_SHARED_BY] = { "SHARED-BY", "sharing_process_count", LIST_COUNT, LIST_WIDE },
	[COLUMN_SERIAL] = { "SERIAL", "serial", LIST_COUNT, LIST_WIDE },
	[COLUMN_PREEMPTED] = { "PREEMPTED", "preempted_count", LIST_COUNT, LIST_EVERYWHERE },
	[COLUMN_PREEMPTED_TIME] = { "PREEMPTED-TIME", "preempted_ns", LIST_DURATION, LIST_EVERYWHERE },
	[COLUMN_PREEMPTING] = { "PREEMPTING", "preempting_count", LIST_COUNT, LIST_WIDE },
	[COLUMN_PARKED] = { "PARKED", "parked_count", LIST_COUNT, LIST_WIDE },
	[COLUMN_PARKED_TIME] = { "PARKED-TIME", "parked_ns", LIST_DURATION, LIST_WIDE },
	[COLUMN_SAVED] = { "SAVED", "saved_count", LIST_COUNT, LIST_WIDE },
	[COLUMN_SAVE_TIME] = { "SAVE-TIME", "saved_ns", LIST_DURATION, LIST_WIDE },
	[COLUMN_MAX_SAVE] = { "MAX-SAVE", "saved_max_ns", LIST_DURATION, LIST_WIDE },
	[COLUMN_GROUP] = { "GROUP", "share", LIST_COUNT, LIST_WIDE },
	[COLUMN_CGROUP_GROUP] = { "CGROUP-GROUP", "cgroup_share", LIST_COUNT, LIST_WIDE },
	[COLUMN_MAX] = { "MAX", "max_percent", LIST_PERCENT, LIST_WIDE },
	[COLUMN_IS_SOFT] = { "IS-SOFT", "is_soft", LIST_FLAG, LIST_WIDE },
	[COLUMN_WEIGHT] = { "WEIGHT", "weight", LIST_COUNT, LIST_WIDE },
	[COLUMN_IS_THROTTLED] = { "IS-THROTTLED", "is_throttled", LIST_FLAG, LIST_WIDE },
	[COLUMN_THROTTLED] = { "THROTTLED", "throttled_count", LIST_COUNT, LIST_WIDE },
	[COLUMN_THROTTLED_TIME] = { "THROTTLED-TIME", "throttled_ns", LIST_DURATION, LIST_WIDE },
	CONTAINER_COLUMNS(COLUMN_POD),
	[COLUMN_HIP] = { "HIP", "hip_index", LIST_NUMBER, LIST_EVERYWHERE },
	[COLUMN_SMI] = { "SMI", "smi_index", LIST_NUMBER, LIST_EVERYWHERE },
	[COLUMN_GPU] = { "GPU", "gpu_id", LIST_COUNT, LIST_EVERYWHERE },
	[COLUMN_NODE] = { "NODE", "node", LIST_COUNT, LIST_WIDE },
	[COLUMN_NAME] = { "NAME", "name", LIST_WORD, LIST_WIDE },
	[COLUMN_GFX] = { "GFX", "gfx", LIST_WORD, LIST_EVERYWHERE },
	[COLUMN_PCI] = { "PCI", "pci", LIST_WORD, LIST_EVERYWHERE },
	[COLUMN_PRODUCT] = { "PRODUCT", "product", LIST_WORD, LIST_EVERYWHERE },
	[COLUMN_COMMAND] = { "COMMAND", "command", LIST_TEXT, LIST_EVERYWHERE },
};

/**
 * struct row - a process on a GPU
 * @entry: what the driver says; its gpu_id is 0 if it is bound to none
 * @gpu: of the topology, NULL if it is not in there
 * @known: /proc shows the process
 * @uid: effective UID
 * @user: its name, empty if it has none
 * @command: raw bytes
 * @container: that it is in
 */
struct row {
	struct kfd_prio_list_entry entry;
	const struct kfd_gpu *gpu;
	bool known;
	uid_t uid;
	char user[KFDLIB_NAME];
	char command[KFDLIB_NAME];
	struct container container;
};

/**
 * struct rows - all of them
 * @row: array of @nr
 * @counted: the driver counts preemptions
 * @breaker: the driver reports circuit breakers
 * @saved: the driver tells what saves cost
 * @parked: the driver tells of parking
 * @orphans: the driver tells of orphans, serials and users
 * @shares: the groups
 * @containers: of the rows
 * @choice: how the rows are printed
 * @topo: the GPUs
 */
struct rows {
	struct row *row;
	size_t nr;
	bool counted;
	bool breaker;
	bool saved;
	bool parked;
	bool orphans;
	struct list_shares shares;
	struct containers containers;
	const struct list_choice *choice;
	struct kfd_topology topo;
};

static void cell_process(const struct row *row, unsigned int column, struct list_value *value)
{
	switch (column) {
	case COLUMN_PID:
		list_number(value, true, row->entry.pid);
		break;
	case COLUMN_UID:
		list_known_count(value, row->known, row->uid);
		break;
	case COLUMN_USER:
		list_text(value, *row->user ? row->user : NULL);
		break;
	case COLUMN_PRIORITY:
		list_number(value, row->entry.priority != KFD_PRIO_UNSET, row->entry.priority);
		break;
	default:
		list_text(value, row->known ? row->command : NULL);
	}
}

static void cell_gpu(const struct row *row, unsigned int column, struct list_value *value)
{
	const struct kfd_gpu *gpu = row->gpu;

	switch (column) {
	case COLUMN_HIP:
		list_number(value, gpu && gpu->hip_index >= 0, gpu ? gpu->hip_index : 0);
		break;
	case COLUMN_SMI:
		list_number(value, gpu && gpu->smi_index >= 0, gpu ? gpu->smi_index : 0);
		break;
	case COLUMN_GPU:
		list_known_count(value, row->entry.gpu_id, row->entry.gpu_id);
		break;
	case COLUMN_NODE:
		list_known_count(value, gpu, gpu ? gpu->node : 0);
		break;
	case COLUMN_NAME:
		list_text(value, gpu && *gpu->name ? gpu->name : NULL);
		break;
	case COLUMN_GFX:
		list_text(value, gpu && *gpu->gfx ? gpu->gfx : NULL);
		break;
	case COLUMN_PCI:
		list_text(value, gpu ? gpu->pci : NULL);
		break;
	default:
		list_text(value, gpu && *gpu->product ? gpu->product : NULL);
	}
}

static void flag(struct list_value *value, const struct row *row, uint32_t mask)
{
	value->known = row->entry.gpu_id;
	value->flag = row->entry.flags & mask;
}

static void cell(void *context, size_t at, unsigned int column, struct list_value *value)
{
	const struct rows *rows = context;
	const struct row *row = &rows->row[at];
	const struct kfd_prio_list_entry *entry = &row->entry;
	bool counted = rows->counted && entry->gpu_id, saved = rows->saved && entry->gpu_id;
	bool parked = rows->parked && entry->gpu_id;

	switch (column) {
	case COLUMN_EFFECTIVE:
		list_number(value, entry->effective != KFD_PRIO_UNSET, entry->effective);
		break;
	case COLUMN_QUEUES:
		list_count(value, entry->nr_queues);
		break;
	case COLUMN_ACTIVE:
		list_count(value, entry->nr_active);
		break;
	case COLUMN_STATE:
		list_text(value, kfd_state_name(kfd_state(entry)));
		value->marked = entry->flags & (KFD_PRIO_LIST_EVICTED | KFD_PRIO_LIST_PREEMPTED |
						KFD_PRIO_LIST_THROTTLED);
		break;
	case COLUMN_IS_EVICTED:
		flag(value, row, KFD_PRIO_LIST_EVICTED);
		break;
	case COLUMN_IS_PREEMPTED:
		flag(value, row, KFD_PRIO_LIST_PREEMPTED);
		break;
	case COLUMN_IS_PREEMPTING:
		flag(value, row, KFD_PRIO_LIST_PREEMPTING);
		break;
	case COLUMN_IS_OFF:
		flag(value, row, KFD_PRIO_LIST_PREEMPT_OFF);
		value->known &= rows->breaker;
		break;
	case COLUMN_IS_PARKED:
		flag(value, row, KFD_PRIO_LIST_PARKED);
		value->known &= rows->parked;
		break;
	case COLUMN_IS_NEVER_PARKED:
		value->known = rows->parked;
		value->flag = entry->flags & KFD_PRIO_LIST_PARK_NEVER;
		break;
	case COLUMN_IS_ORPHAN:
		value->known = rows->orphans && entry->serial;
		value->flag = entry->flags & KFD_PRIO_LIST_ORPHAN;
		break;
	case COLUMN_SHARED_BY:
		list_known_count(value, entry->flags & KFD_PRIO_LIST_ORPHAN, entry->nr_groups);
		break;
	case COLUMN_SERIAL:
		list_known_count(value, entry->serial, entry->serial);
		break;
	case COLUMN_PREEMPTED:
		list_known_count(value, counted, entry->preempted_count);
		break;
	case COLUMN_PREEMPTED_TIME:
		list_known_count(value, counted, entry->preempted_ns);
		break;
	case COLUMN_PREEMPTING:
		list_known_count(value, counted, entry->preempting_count);
		break;
	case COLUMN_PARKED:
		list_known_count(value, parked, entry->parked_count);
		break;
	case COLUMN_PARKED_TIME:
		list_known_count(value, parked, entry->parked_ns);
		break;
	case COLUMN_SAVED:
		list_known_count(value, saved, entry->saved_count);
		break;
	case COLUMN_SAVE_TIME:
		list_known_count(value, saved, entry->saved_ns);
		break;
	case COLUMN_MAX_SAVE:
		list_known_count(value, saved && entry->saved_count, entry->saved_max_ns);
		break;
	case COLUMN_PID:
	case COLUMN_UID:
	case COLUMN_USER:
	case COLUMN_PRIORITY:
	case COLUMN_COMMAND:
		cell_process(row, column, value);
		break;
	case COLUMN_GROUP ... COLUMN_THROTTLED_TIME:
		list_shares_cell(&rows->shares, entry, rows->choice, column - COLUMN_GROUP, value);
		break;
	case COLUMN_POD ... COLUMN_POD_UID:
		container_cell(&row->container, column - COLUMN_POD, !rows->choice->json && !rows->choice->csv, value);
		break;
	default:
		cell_gpu(row, column, value);
	}
}

/**
 * rows_open() - no rows yet
 * @dev: the device
 *
 * Return: to be freed with rows_close(); does not return without memory.
 */
struct rows *rows_open(const struct kfd_dev *dev)
{
	struct rows *rows = calloc(1, sizeof(*rows));

	if (!rows || kfd_topology_read(&rows->topo))
		errx(EXIT_FAILURE, "out of memory");
	rows->counted = dev->version.features & KFD_PRIO_FEATURE_PREEMPT;
	rows->breaker = dev->version.minor >= BREAKER_MINOR;
	rows->saved = dev->version.minor >= SAVED_MINOR;
	rows->parked = dev->version.minor >= PARKED_MINOR;
	rows->orphans = dev->version.minor >= KFDLIB_ORPHAN_MINOR;
	list_shares_read(dev, &rows->shares);
	return rows;
}

/**
 * rows_add() - add a process on a GPU, unless it has ended
 * @rows: of rows_open()
 * @entry: what the driver says about it
 *
 * Its user is the one that the driver tells: what has the PID in /proc may be another program by then.
 */
void rows_add(struct rows *rows, const struct kfd_prio_list_entry *entry)
{
	bool left = entry->flags & KFD_PRIO_LIST_ORPHAN && !entry->nr_groups;
	struct row *row;
	struct proc_info info;
	int ret;

	/* of an orphan that nobody has, the PID is none any more, or that of another process */
	ret = left ? -ENOENT : proc_read(entry->pid, &info);
	if (ret == -ESRCH)
		return;
	rows->row = reallocarray(rows->row, rows->nr + 1, sizeof(*row));
	if (!rows->row)
		errx(EXIT_FAILURE, "out of memory");
	row = &rows->row[rows->nr++];
	*row = (struct row){ .entry = *entry, .known = !ret,
			     .gpu = kfd_topology_find(&rows->topo, entry->gpu_id) };
	if (ret)
		return;
	row->uid = rows->orphans && entry->serial ? entry->euid : info.euid;
	user_name(row->uid, row->user, sizeof(row->user));
	memcpy(row->command, info.comm, sizeof(row->command));
	container_of(&rows->containers, entry->pid, &row->container);
}

/**
 * rows_close() - free them
 * @rows: of rows_open()
 */
void rows_close(struct rows *rows)
{
	kfd_topology_free(&rows->topo);
	list_shares_free(&rows->shares);
	containers_free(&rows->containers);
	free(rows->row);
	free(rows);
}

/* A table has the columns of groups and of containers without being asked for if a process in it is in one. */
static void columns_place(const struct rows *rows, struct list_column *placed)
{
	static const unsigned int shares[] = { COLUMN_MAX, COLUMN_WEIGHT, COLUMN_THROTTLED_TIME };
	bool own = false, cgroup = false;
	size_t i;

	memcpy(placed, columns, sizeof(columns));
	for (i = 0; i < rows->nr; i++) {
		own |= rows->row[i].entry.share;
		cgroup |= rows->row[i].entry.cgroup_share;
		container_columns_show(&rows->row[i].container, placed, COLUMN_POD);
	}
	if (own)
		placed[COLUMN_GROUP].place = LIST_EVERYWHERE;
	if (cgroup)
		placed[COLUMN_CGROUP_GROUP].place = LIST_EVERYWHERE;
	for (i = 0; (own || cgroup) && i < sizeof(shares) / sizeof(*shares); i++)
		placed[shares[i]].place = LIST_EVERYWHERE;
}

/**
 * rows_print() - print them
 * @rows: of rows_open()
 * @choice: what the user wants
 * @queues: for JSON: processes with DRM user queues, or NULL
 */
void rows_print(struct rows *rows, const struct list_choice *choice, const struct list_queues *queues)
{
	/* Columns that a narrow terminal has no room for: another column has nearly the same, or most rows have the same value */
	static const unsigned int leave[] = { COLUMN_PRODUCT, COLUMN_SMI, COLUMN_HIP, COLUMN_PCI, COLUMN_GFX, COLUMN_ACTIVE,
					      COLUMN_EFFECTIVE, COLUMN_PREEMPTED, COLUMN_QUEUES, COLUMN_THROTTLED_TIME, COLUMN_GPU,
					      COLUMN_CGROUP_GROUP, COLUMN_WEIGHT, COLUMN_MAX, COLUMN_POD + CONTAINER_COLUMN_NAMESPACE };
	struct list_column placed[NR_COLUMNS];
	const struct list list = { .columns = placed, .nr_columns = NR_COLUMNS, .nr_rows = rows->nr,
				   .value = cell, .context = rows, .choice = choice,
				   .leave = leave, .nr_leave = sizeof(leave) / sizeof(*leave) };

	columns_place(rows, placed);
	rows->choice = choice;
	if (!choice->json) {
		list_print(&list);
		return;
	}
	json_stdout(JSON_ROWS);
	json_number("version", JSON_FORMAT);
	json_simulated("simulated", kfd_simulated(kfd_system_root));
	list_json_columns(&list);
	list_json(&list, "processes");
	if (queues)
		list_queues_json(queues, &rows->topo);
	json_stdout_end();
}

/**
 * kfdprio_list_check() - whether the list can be printed as the user wants
 * @choice: what the user wants
 * @why: on failure, what is wrong; KFDLIB_WHY bytes
 *
 * Return: 0 or -EINVAL.
 */
int kfdprio_list_check(const struct list_choice *choice, char *why)
{
	return list_check(columns, NR_COLUMNS, choice, why);
}

/**
 * kfdprio_list() - list the processes that use KFD
 * @dev: the device
 * @request: how to print them
 *
 * Return: the exit status.
 */
int kfdprio_list(const struct kfd_dev *dev, const struct kfdprio_request *request)
{
	struct kfd_prio_list_entry *entries;
	struct list_queues queues;
	struct rows *rows;
	size_t nr, i;
	int ret;

	ret = kfd_dev_list(dev, &entries, &nr);
	if (ret) {
		warnx("cannot list the processes that use KFD: %s", strerror(-ret));
		return EXIT_FAILURE;
	}
	rows = rows_open(dev);
	for (i = 0; i < nr; i++)
		rows_add(rows, &entries[i]);
	list_queues_read(&queues);
	rows_print(rows, &request->list, &queues);
	if (rows->shares.ret && rows->shares.ret != -EOPNOTSUPP)
		warnx("cannot list the groups, whose limits and weights are not known: %s", strerror(-rows->shares.ret));
	if (!request->list.json) {
		list_note_breakers(entries, nr);
		list_note_orphans(entries, nr);
		list_queues_note(&queues);
	}
	list_queues_free(&queues);
	if (!request->list.json && !nr && !rows->topo.nr)
		warnx("KFD's topology has no GPU: run 'kfdprio doctor' for the reason");
	rows_close(rows);
	free(entries);
	return EXIT_SUCCESS;
}
