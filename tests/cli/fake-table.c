// SPDX-License-Identifier: GPL-2.0
/* A driver made of text files, see fake-kfd.c: the processes, and the totals of the GPUs. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fake-kfd.h"

/* Its identity: of a process that has ended, as far as /proc tells, nobody's */
static void entry_identify(struct kfd_prio_list_entry *entry)
{
	FILE *file = file_open("orphans", "re");
	struct proc_task task;
	unsigned int groups;
	unsigned long long serial;
	pid_t pid;

	entry->serial = entry->pid;
	entry->euid = proc_task_read(entry->pid, &task) ? (uid_t)-1 : task.euid;
	while (file && fscanf(file, "%d %llu %u", &pid, &serial, &groups) == 3) {
		if (pid != entry->pid)
			continue;
		entry->flags |= KFD_PRIO_LIST_ORPHAN;
		entry->serial = serial;
		entry->nr_groups = groups;
	}
	if (file)
		fclose(file);
}

bool entry_read(FILE *table, struct kfd_prio_list_entry *entry)
{
	unsigned long long counts[8] = { 0 };
	char line[256];
	int fields;

	*entry = (struct kfd_prio_list_entry){ 0 };
	if (!table || !fgets(line, sizeof(line), table))
		return false;
	fields = sscanf(line, "%d %u %d %d %u %u %u %llu %llu %llu %llu %llu %llu %llu %llu", &entry->pid, &entry->gpu_id,
			&entry->priority, &entry->effective, &entry->nr_queues, &entry->nr_active,
			&entry->flags, &counts[0], &counts[1], &counts[2], &counts[3], &counts[4], &counts[5],
			&counts[6], &counts[7]);
	if (fields != 7 && fields != 10 && fields != 13 && fields != 15)
		abort();
	entry->preempted_count = counts[0];
	entry->preempted_ns = counts[1];
	entry->preempting_count = counts[2];
	entry->saved_count = counts[3];
	entry->saved_ns = counts[4];
	entry->saved_max_ns = counts[5];
	entry->parked_count = counts[6];
	entry->parked_ns = counts[7];
	entry_identify(entry);
	entry_share(entry);
	return true;
}

void process_read(pid_t pid, int *priority, int *effective, unsigned int *nr_queues)
{
	FILE *table = file_open("table", "re");
	struct kfd_prio_list_entry entry;

	*priority = *effective = KFD_PRIO_UNSET;
	*nr_queues = 0;
	while (entry_read(table, &entry)) {
		if (entry.pid != pid)
			continue;
		*priority = entry.priority;
		*nr_queues += entry.nr_queues;
		if (entry.effective > *effective)
			*effective = entry.effective;
	}
	if (table)
		fclose(table);
}

/* KFD_PRIO_LIST_* of the first row of a process */
unsigned int flags_of(pid_t pid)
{
	FILE *table = file_open("table", "re");
	struct kfd_prio_list_entry entry;
	unsigned int flags = 0;

	while (entry_read(table, &entry))
		if (entry.pid == pid) {
			flags = entry.flags;
			break;
		}
	if (table)
		fclose(table);
	return flags;
}

int list(struct kfd_prio_list_args *args)
{
	char *to = (char *)(uintptr_t)args->entries;
	struct kfd_prio_list_entry entry;
	struct kfd_prio_version_args has = { 0 };
	size_t size = sizeof(entry);
	unsigned int nr = 0;
	FILE *table;

	if (args->flags || args->pad || args->entry_size < sizeof(entry))
		return fail(EINVAL);
	/* An older driver has shorter entries, which end before this member */
	if (!version(&has) && !has.minor)
		size = offsetof(struct kfd_prio_list_entry, preempted_count);
	else if (!(has.features & KFD_PRIO_FEATURE_SHARES))
		size = offsetof(struct kfd_prio_list_entry, share);
	if (fault("list"))
		return fail(fault("list"));
	table = file_open("table", "re");
	for (; entry_read(table, &entry); nr++)
		if (nr < args->nr_entries)
			memcpy(to + nr * args->entry_size, &entry, size);
	if (table)
		fclose(table);
	args->nr_entries = nr;
	args->entry_size = size;
	return 0;
}

int gpus(struct kfd_prio_gpus_args *args)
{
	struct kfd_prio_gpu_entry *to = (void *)(uintptr_t)args->entries, e;
	FILE *file = file_open("gpu-totals", "re");
	unsigned int nr = 0;
	char line[512];

	if (args->flags || args->pad || args->entry_size != sizeof(e))
		return fail(EINVAL);
	if (fault("gpus"))
		return fail(fault("gpus"));
	if (!file)
		return fail(ENOTTY);
	while (fgets(line, sizeof(line), file)) {
		/* The last two may be left out: 0 */
		e.throttled_count = e.throttled_ns = 0;
		if (sscanf(line, "%u %u %u %u %u %u %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu", &e.gpu_id, &e.flags,
			   &e.nr_processes, &e.nr_queues, &e.nr_preempted, &e.nr_parked, &e.preemption_count,
			   &e.preempted_count, &e.preempted_ns, &e.parked_count, &e.parked_ns, &e.saved_count, &e.saved_ns,
			   &e.saved_max_ns, &e.update_ns, &e.throttled_count, &e.throttled_ns) < 15)
			break;
		if (nr++ < args->nr_entries)
			to[nr - 1] = e;
	}
	fclose(file);
	args->nr_entries = nr;
	return 0;
}
