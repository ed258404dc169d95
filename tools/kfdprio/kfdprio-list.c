// SPDX-License-Identifier: GPL-2.0
/* kfdprio -l */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kfdprio.h"

#define COLOR_BOLD   "\033[1m"
#define COLOR_YELLOW "\033[33m"
#define COLOR_RESET  "\033[0m"

enum column {
	COLUMN_PID,
	COLUMN_USER,
	COLUMN_PRIO,
	COLUMN_EFFECTIVE,
	COLUMN_QUEUES,
	COLUMN_ACTIVE,
	COLUMN_STATE,
	COLUMN_PREEMPTED,
	COLUMN_SECONDS,
	COLUMN_HIP,
	COLUMN_SMI,
	COLUMN_GPU,
	COLUMN_PRODUCT,
	COLUMN_COMMAND,
	NR_COLUMNS
};

static const struct {
	const char *title;
	bool right;
} columns[NR_COLUMNS] = {
	[COLUMN_PID] = { "PID", .right = true },
	[COLUMN_USER] = { "USER", .right = false },
	[COLUMN_PRIO] = { "PRIO", .right = true },
	[COLUMN_EFFECTIVE] = { "EFFECTIVE", .right = true },
	[COLUMN_QUEUES] = { "QUEUES", .right = true },
	[COLUMN_ACTIVE] = { "ACTIVE", .right = true },
	[COLUMN_STATE] = { "STATE", .right = false },
	[COLUMN_PREEMPTED] = { "PREEMPTED", .right = true },
	[COLUMN_SECONDS] = { "SECONDS", .right = true },
	[COLUMN_HIP] = { "HIP", .right = true },
	[COLUMN_SMI] = { "SMI", .right = true },
	[COLUMN_GPU] = { "GPU", .right = false },
	[COLUMN_PRODUCT] = { "PRODUCT", .right = false },
	[COLUMN_COMMAND] = { "COMMAND", .right = false },
};

/**
 * struct row - one line of the table
 * @cells: printable text, owned by the row
 * @off: the queues are off the GPU: preempted or evicted
 */
struct row {
	char *cells[NR_COLUMNS];
	bool off;
};

static char *cell_raw(const char *raw)
{
	char *text = text_printable(raw);

	if (!text)
		errx(EXIT_FAILURE, "out of memory");
	return text;
}

static char *cell_number(long long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", number);
	return cell_raw(text);
}

static char *cell_count(unsigned long long count)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", count);
	return cell_raw(text);
}

static char *cell_prio(int prio)
{
	return prio == KFD_PRIO_UNSET ? cell_raw("-") : cell_number(prio);
}

/* Seconds, to the millisecond: what is preempted briefly is so often. */
static char *cell_seconds(unsigned long long ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu.%03llu", ns / 1000000000, ns / 1000000 % 1000);
	return cell_raw(text);
}

static char *cell_index(int index)
{
	return index < 0 ? cell_raw("-") : cell_number(index);
}

/* A name without spaces, so that the columns can be counted; of @text, which is changed. */
static char *cell_word(char *text)
{
	char *at;

	for (at = text; *at; at++)
		if (*at == ' ' || *at == '\t')
			*at = '_';
	return cell_raw(*text ? text : "-");
}

/* gpu_id:name@pci */
static char *cell_gpu(const struct kfd_prio_list_entry *entry, const struct kfd_gpu *gpu)
{
	char text[2 * KFDLIB_NAME + 64];

	if (!entry->gpu_id)
		return cell_raw("-");
	if (!gpu)
		return cell_number(entry->gpu_id);
	snprintf(text, sizeof(text), "%u:%s@%s", entry->gpu_id, kfd_gpu_name(gpu), gpu->pci);
	return cell_word(text);
}

/* What the driver does is told first; what it does not know is told by the queues. */
static const char *state_of(const struct kfd_prio_list_entry *entry)
{
	if (entry->flags & KFD_PRIO_LIST_EVICTED)
		return "evicted";
	if (entry->flags & KFD_PRIO_LIST_PREEMPTED)
		return "preempted";
	if (entry->flags & KFD_PRIO_LIST_PREEMPTING)
		return "preempting";
	if (entry->nr_active)
		return "active";
	return entry->nr_queues ? "inactive" : "-";
}

/* Returns false if the process has ended meanwhile. */
static bool row_fill(struct row *row, const struct kfd_prio_list_entry *entry, bool counted,
		     const struct kfd_topology *topo)
{
	const struct kfd_gpu *gpu = kfd_topology_find(topo, entry->gpu_id);
	char user[KFDLIB_NAME] = "?", product[KFDLIB_NAME];
	struct proc_info info;
	int ret;

	ret = proc_read(entry->pid, &info);
	if (ret == -ESRCH)
		return false;
	if (!ret)
		user_name(info.euid, user, sizeof(user));
	row->off = entry->flags & (KFD_PRIO_LIST_EVICTED | KFD_PRIO_LIST_PREEMPTED);
	row->cells[COLUMN_PID] = cell_number(entry->pid);
	row->cells[COLUMN_USER] = cell_raw(user);
	row->cells[COLUMN_PRIO] = cell_prio(entry->priority);
	row->cells[COLUMN_EFFECTIVE] = cell_prio(entry->effective);
	row->cells[COLUMN_QUEUES] = cell_number(entry->nr_queues);
	row->cells[COLUMN_ACTIVE] = cell_number(entry->nr_active);
	row->cells[COLUMN_STATE] = cell_raw(state_of(entry));
	counted = counted && entry->gpu_id;
	row->cells[COLUMN_PREEMPTED] = counted ? cell_count(entry->preempted_count) : cell_raw("-");
	row->cells[COLUMN_SECONDS] = counted ? cell_seconds(entry->preempted_ns) : cell_raw("-");
	row->cells[COLUMN_HIP] = cell_index(gpu ? gpu->hip_index : -1);
	row->cells[COLUMN_SMI] = cell_index(gpu ? gpu->smi_index : -1);
	row->cells[COLUMN_GPU] = cell_gpu(entry, gpu);
	snprintf(product, sizeof(product), "%s", gpu ? gpu->product : "");
	row->cells[COLUMN_PRODUCT] = cell_word(product);
	row->cells[COLUMN_COMMAND] = cell_raw(ret ? "?" : info.comm);
	return true;
}

static bool stdout_colored(void)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_color && *no_color) && term && strcmp(term, "dumb");
}

static void cell_print(const char *text, int column, size_t width, const char *color)
{
	int pad = width - text_width(text);
	bool right = columns[column].right;

	printf("%s%*s%s%s%s", column ? " " : "", right ? pad : 0, "", color, text,
	       *color ? COLOR_RESET : "");
	/* No blanks at the end of a line. */
	if (!right && column != NR_COLUMNS - 1)
		printf("%*s", pad, "");
}

static void table_print(struct row *rows, size_t nr)
{
	bool colored = stdout_colored();
	size_t widths[NR_COLUMNS];
	size_t i;
	int c;

	for (c = 0; c < NR_COLUMNS; c++) {
		widths[c] = strlen(columns[c].title);
		for (i = 0; i < nr; i++) {
			size_t width = text_width(rows[i].cells[c]);

			if (width > widths[c])
				widths[c] = width;
		}
		cell_print(columns[c].title, c, widths[c], colored ? COLOR_BOLD : "");
	}
	putchar('\n');
	for (i = 0; i < nr; i++) {
		for (c = 0; c < NR_COLUMNS; c++) {
			bool marked = colored && rows[i].off && c == COLUMN_STATE;

			cell_print(rows[i].cells[c], c, widths[c], marked ? COLOR_YELLOW : "");
		}
		putchar('\n');
	}
}

static void list_table(const struct kfd_prio_list_entry *entries, size_t nr, bool counted,
		       const struct kfd_topology *topo)
{
	struct row *rows;
	size_t filled = 0;
	size_t i;
	int c;

	rows = calloc(nr ? nr : 1, sizeof(*rows));
	if (!rows)
		errx(EXIT_FAILURE, "out of memory");
	for (i = 0; i < nr; i++)
		if (row_fill(&rows[filled], &entries[i], counted, topo))
			filled++;
	table_print(rows, filled);
	for (i = 0; i < filled; i++)
		for (c = 0; c < NR_COLUMNS; c++)
			free(rows[i].cells[c]);
	free(rows);
}

/* Once for each GPU, on standard error: the table has a line for each process. */
static void list_notes(const struct kfd_prio_list_entry *entries, size_t nr)
{
	size_t i, before;

	for (i = 0; i < nr; i++) {
		if (!(entries[i].flags & KFD_PRIO_LIST_PREEMPT_OFF))
			continue;
		for (before = 0; before < i; before++)
			if (entries[before].gpu_id == entries[i].gpu_id)
				break;
		if (before == i)
			warnx("GPU %u: preemption is off, its circuit breaker is open: see 'kfdprio doctor'",
			      entries[i].gpu_id);
	}
}

static void list_json(const struct kfd_prio_list_entry *entries, size_t nr,
		      const struct kfd_dev *dev, const struct kfd_topology *topo)
{
	struct json_object *document = json_begin();
	size_t first = 0, past;

	while (first < nr) {
		for (past = first + 1; past < nr; past++)
			if (entries[past].pid != entries[first].pid)
				break;
		json_add_process(document, entries[first].pid, entries[first].priority,
				 entries + first, past - first, dev, topo);
		first = past;
	}
	json_end(document);
}

/**
 * kfdprio_list() - list the processes that use KFD
 * @dev: the device
 * @request: whether to print JSON
 *
 * Return: the exit status.
 */
int kfdprio_list(const struct kfd_dev *dev, const struct kfdprio_request *request)
{
	struct kfd_prio_list_entry *entries;
	bool counted = dev->version.features & KFD_PRIO_FEATURE_PREEMPT;
	struct kfd_topology topo;
	size_t nr;
	int ret;

	ret = kfd_dev_list(dev, &entries, &nr);
	if (ret) {
		warnx("cannot list the processes that use KFD: %s", strerror(-ret));
		return EXIT_FAILURE;
	}
	if (kfd_topology_read(&topo))
		errx(EXIT_FAILURE, "out of memory");
	if (request->json)
		list_json(entries, nr, dev, &topo);
	else
		list_table(entries, nr, counted, &topo);
	if (!request->json)
		list_notes(entries, nr);
	if (!request->json && !nr && !topo.nr)
		warnx("there is no GPU in KFD's topology");
	kfd_topology_free(&topo);
	free(entries);
	return EXIT_SUCCESS;
}
