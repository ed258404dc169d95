// SPDX-License-Identifier: GPL-2.0
/* Saves and restores of waves that record --mqd has sampled: of each process on each GPU. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/hist.h"
#include "message.h"
#include "report.h"

enum { SAVE, GAP, RESTORE, NR_TIMES };

static const char *const keys[NR_TIMES] = { "save_ns", "save_to_restore_ns", "restore_ns" };

struct save {
	int64_t pid, gpu_id;
	int64_t ns[NR_TIMES]; /* -1: not known */
};

/* Those of a process on a GPU */
struct saves {
	int64_t pid, gpu_id;
	struct hist times[NR_TIMES];
};

static int64_t number_of(struct json_object *save, const char *key)
{
	struct json_object *value;

	int64_t number;

	if (!json_object_object_get_ex(save, key, &value) || !json_object_is_type(value, json_type_int))
		return -1;
	number = json_object_get_int64(value);
	/* a larger one is read as this one */
	return number < INT64_MAX ? number : -1;
}

static int save_compare(const void *left, const void *right)
{
	const struct save *a = left, *b = right;

	if (a->gpu_id != b->gpu_id)
		return a->gpu_id < b->gpu_id ? -1 : 1;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

/* By GPU and process.  Damaged entries are left out, which a warning reports. */
static struct save *saves_read(const struct view *view, struct json_object *array, size_t *nr)
{
	size_t all = json_object_array_length(array), i;
	struct save *list = calloc(all + 1, sizeof(*list)), *save = list;
	size_t damaged = 0;
	int t;

	if (!list)
		errx(EXIT_FAILURE, "out of memory");
	for (i = 0; i < all; i++) {
		struct json_object *entry = json_object_array_get_idx(array, i);

		if (!json_object_is_type(entry, json_type_object)) {
			damaged++;
			continue;
		}
		save->pid = number_of(entry, "pid");
		save->gpu_id = number_of(entry, "gpu_id");
		for (t = 0; t < NR_TIMES; t++)
			save->ns[t] = number_of(entry, keys[t]);
		if (save->pid < 1 || save->pid > KFD_MAX_PID || save->gpu_id < 0 || save->gpu_id > UINT32_MAX ||
		    save->ns[SAVE] < 0)
			damaged++;
		else if (pids_have(&view->options->pids, save->pid))
			save++;
	}
	view_meta_warn(view, "saves", damaged);
	*nr = save - list;
	qsort(list, *nr, sizeof(*list), save_compare);
	return list;
}

/* Calls @show for each process on each GPU. */
static size_t saves_each(const struct view *view, struct json_object *array,
			 void (*show)(const struct view *view, const struct saves *saves))
{
	struct saves *saves = malloc(sizeof(*saves));
	struct save *list;
	size_t nr, i;
	int t;

	list = saves_read(view, array, &nr);
	if (!saves)
		errx(EXIT_FAILURE, "out of memory");
	for (i = 0; i < nr; i++) {
		if (!i || save_compare(&list[i], &list[i - 1])) {
			memset(saves, 0, sizeof(*saves));
			saves->pid = list[i].pid;
			saves->gpu_id = list[i].gpu_id;
		}
		for (t = 0; t < NR_TIMES; t++)
			if (list[i].ns[t] >= 0)
				hist_add(&saves->times[t], list[i].ns[t]);
		if (i + 1 == nr || save_compare(&list[i], &list[i + 1]))
			show(view, saves);
	}
	free(list);
	free(saves);
	return nr;
}

static void print_times(const char *what, const struct hist *hist)
{
	char min[32], median[32], max[32];

	if (!hist->count)
		return;
	duration_format(min, sizeof(min), hist->min);
	duration_format(median, sizeof(median), hist_percentile(hist, 50));
	duration_format(max, sizeof(max), hist->max);
	printf("    %s: %" PRIu64 ", min %s, P50 %s, max %s\n", what, hist->count, min, median, max);
}

static void print_saves(const struct view *view, const struct saves *saves)
{
	char *name = text_printable(view_command(view, saves->pid));

	printf("  process %" PRId64 " (%s) on GPU %" PRId64 "\n", saves->pid, name ? name : "?", saves->gpu_id);
	free(name);
	print_times("save", &saves->times[SAVE]);
	print_times("end of save to begin of restore", &saves->times[GAP]);
	print_times("restore", &saves->times[RESTORE]);
}

/**
 * saves_print() - as text
 * @view: the recording; nothing if it was made without --mqd
 */
void saves_print(const struct view *view)
{
	struct json_object *array = view_meta_value(view, "saves", json_type_array);

	if (!array)
		return;
	puts("\nSaves and restores (CWSR), a sample of the time stamps in MQDs");
	if (!saves_each(view, array, print_saves))
		puts("  none");
}

static void json_saves(const struct view *view, const struct saves *saves)
{
	static const char *const members[NR_TIMES] = { "save", "save_to_restore", "restore" };
	int t;

	(void)view;
	json_open(NULL, '{');
	json_count("gpu_id", saves->gpu_id);
	json_number("pid", saves->pid);
	for (t = 0; t < NR_TIMES; t++)
		report_hist_json(members[t], &saves->times[t]);
	json_close('}');
}

/**
 * saves_json() - a member of the document
 * @view: the recording; nothing if it was made without --mqd
 */
void saves_json(const struct view *view)
{
	struct json_object *array = view_meta_value(view, "saves", json_type_array);

	if (!array)
		return;
	json_open("saves", '[');
	saves_each(view, array, json_saves);
	json_close(']');
}
