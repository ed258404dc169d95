// SPDX-License-Identifier: GPL-2.0
/* kfdprio -p PID... */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kfdprio.h"
#include "message.h"
#include "shares.h"

static void show_text(pid_t pid, const struct kfd_prio_get_args *args)
{
	if (args->priority != KFD_PRIO_UNSET)
		printf("PID %d: priority %d (%s), ", pid, args->priority, prio_band(args->priority));
	else if (args->effective != KFD_PRIO_UNSET)
		printf("PID %d: priority unset (queues keep their own priorities, highest %d), ", pid,
		       args->effective);
	else
		printf("PID %d: priority unset, ", pid);
	if (!args->nr_queues)
		puts("no queues");
	else
		printf("%u queue%s\n", args->nr_queues, args->nr_queues == 1 ? "" : "s");
}

/* The rows that the driver lists for a process; a process that does not use KFD has one row. */
static void rows_add_process(struct rows *rows, const struct kfd_prio_list_entry *entries, size_t nr,
			     pid_t pid, const struct kfd_prio_get_args *args)
{
	const struct kfd_prio_list_entry none = { .pid = pid, .priority = args->priority,
						  .effective = KFD_PRIO_UNSET };
	bool found = false;
	size_t i;

	for (i = 0; i < nr; i++)
		if (entries[i].pid == pid && (!(entries[i].flags & KFD_PRIO_LIST_ORPHAN) || entries[i].nr_groups)) {
			rows_add(rows, &entries[i]);
			found = true;
		}
	if (!found)
		rows_add(rows, &none);
}

/* What shares the memory of an orphan is not the process of KFD, but its queues are of interest all the same. */
static void show_orphans(const struct kfd_prio_list_entry *entries, size_t nr, pid_t pid)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct kfd_prio_list_entry *e = &entries[i];

		if (e->pid != pid || !(e->flags & KFD_PRIO_LIST_ORPHAN) || !e->nr_groups || !e->nr_queues)
			continue;
		printf("PID %d: shares the memory of an orphan (serial %llu): ", pid, (unsigned long long)e->serial);
		if (e->priority != KFD_PRIO_UNSET)
			printf("priority %d (%s), ", e->priority, prio_band(e->priority));
		else
			printf("priority unset, it counts as the lowest, ");
		printf("%u queue%s on GPU %u\n", e->nr_queues, e->nr_queues == 1 ? "" : "s", e->gpu_id);
	}
}

/* Its groups are the same on all GPUs. */
static void show_shares(const struct list_shares *shares, const struct kfd_prio_list_entry *entries, size_t nr, pid_t pid)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (entries[i].pid == pid && !(entries[i].flags & KFD_PRIO_LIST_ORPHAN)) {
			list_shares_show(shares, pid, &entries[i]);
			return;
		}
}

/* Of the processes that use KFD */
static void show_listed(const struct kfd_dev *dev, pid_t pid)
{
	struct kfd_prio_list_entry *entries;
	struct list_shares shares;
	size_t nr;

	if (dev->version.minor < KFDLIB_ORPHAN_MINOR || kfd_dev_list(dev, &entries, &nr))
		return;
	list_shares_read(dev, &shares);
	show_shares(&shares, entries, nr, pid);
	show_orphans(entries, nr, pid);
	list_shares_free(&shares);
	free(entries);
}

static int show_json(const struct kfd_dev *dev, const struct kfdprio_request *request)
{
	struct kfd_prio_list_entry *entries;
	struct kfd_prio_get_args args;
	int status = EXIT_SUCCESS;
	char why[KFDLIB_WHY];
	struct rows *rows;
	size_t nr, i;
	int ret;

	ret = kfd_dev_list(dev, &entries, &nr);
	if (ret) {
		warnx("cannot list the processes that use KFD: %s", strerror(-ret));
		return EXIT_FAILURE;
	}
	rows = rows_open(dev);
	for (i = 0; i < request->nr_pids; i++) {
		if (process_get(dev, request->pids[i], &args, why)) {
			warnx("%s", why);
			status = EXIT_FAILURE;
			continue;
		}
		rows_add_process(rows, entries, nr, request->pids[i], &args);
	}
	rows_print(rows, &request->list, NULL);
	rows_close(rows);
	free(entries);
	return status;
}

/**
 * kfdprio_show() - print the priority of processes
 * @dev: the device
 * @request: the processes, and whether to print JSON
 *
 * Goes on after a process that fails.
 *
 * Return: EXIT_FAILURE if any failed.
 */
int kfdprio_show(const struct kfd_dev *dev, const struct kfdprio_request *request)
{
	struct kfd_prio_get_args args;
	int status = EXIT_SUCCESS;
	char why[KFDLIB_WHY];
	size_t i;

	if (request->list.json)
		return show_json(dev, request);
	for (i = 0; i < request->nr_pids; i++) {
		if (process_get(dev, request->pids[i], &args, why)) {
			warnx("%s", why);
			status = EXIT_FAILURE;
			continue;
		}
		show_text(request->pids[i], &args);
		show_listed(dev, request->pids[i]);
	}
	return status;
}
