// SPDX-License-Identifier: GPL-2.0
/* kfdprio doctor --mqds: how long saves and restores took, from a dump of any driver. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "json-out.h"
#include "list.h"
#include "message.h"
#include "mqds.h"

enum column { COLUMN_PID, COLUMN_GPU, COLUMN_QUEUE, COLUMN_XCC, COLUMN_SAVE, COLUMN_GAP, COLUMN_RESTORE, NR_COLUMNS };

static const struct list_column columns[NR_COLUMNS] = {
	[COLUMN_PID] = { "PID", "pid", LIST_COUNT, LIST_EVERYWHERE },
	[COLUMN_GPU] = { "GPU", "gpu_id", LIST_COUNT, LIST_EVERYWHERE },
	[COLUMN_QUEUE] = { "QUEUE", "compute_queue_index", LIST_COUNT, LIST_EVERYWHERE },
	[COLUMN_XCC] = { "XCC", "xcc_index", LIST_COUNT, LIST_EVERYWHERE },
	[COLUMN_SAVE] = { "SAVE-TIME", "save_ns", LIST_DURATION, LIST_EVERYWHERE },
	[COLUMN_GAP] = { "GAP", "save_to_restore_ns", LIST_DURATION, LIST_EVERYWHERE },
	[COLUMN_RESTORE] = { "RESTORE-TIME", "restore_ns", LIST_DURATION, LIST_EVERYWHERE },
};

static void cell(void *context, size_t row, unsigned int column, struct list_value *value)
{
	const struct mqds *mqds = context;
	const struct mqd_times *t = mqds->times + row;

	switch (column) {
	case COLUMN_PID:
		list_count(value, t->pid);
		break;
	case COLUMN_GPU:
		list_count(value, t->gpu_id);
		break;
	case COLUMN_QUEUE:
		list_count(value, t->queue);
		break;
	case COLUMN_XCC:
		list_count(value, t->xcc);
		break;
	case COLUMN_SAVE:
		list_known_count(value, t->saved, t->save_ns);
		break;
	case COLUMN_GAP:
		list_known_count(value, t->restored, t->gap_ns);
		break;
	case COLUMN_RESTORE:
		list_known_count(value, t->restored, t->restore_ns);
		break;
	}
}

/* A FIFO without a writer is empty, and does not make this wait; one with a writer is read to its end. */
static FILE *dump_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	FILE *in = fd < 0 || fcntl(fd, F_SETFL, 0) ? NULL : fdopen(fd, "re");

	if (!in)
		err(EXIT_FAILURE, "cannot read '%s'", path);
	return in;
}

/**
 * doctor_mqds() - print the times of a dump
 * @path: the file; - for standard input
 * @json: as JSON
 *
 * Return: the exit status: 1 if it is no dump, or not a whole one; what was whole is printed.
 */
int doctor_mqds(const char *path, bool json)
{
	static const struct list_choice choice;
	struct list list = { .columns = columns, .nr_columns = NR_COLUMNS, .value = cell, .choice = &choice };
	FILE *in = strcmp(path, "-") ? dump_open(path) : stdin;
	struct mqds mqds;
	char why[128];
	int ret;

	ret = mqds_read(in, &mqds, why, sizeof(why));
	if (in != stdin)
		fclose(in);
	list.nr_rows = mqds.nr;
	list.context = &mqds;
	if (json) {
		json_stdout(JSON_ROWS);
		json_number("version", JSON_FORMAT);
		json_null("simulated");
		list_json(&list, "mqds");
		json_count("sdma_queue_count", mqds.sdma);
		json_stdout_end();
	} else if (mqds.nr) {
		list_print(&list);
	}
	if (ret == -EIO)
		warnx("cannot read '%s': %s", path, why);
	else if (ret)
		warnx("'%s', %s", path, why);
	else if (!mqds.nr && !json)
		warnx("'%s' has no compute queue: make the dump while a program uses the GPU", path);
	free(mqds.times);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
