// SPDX-License-Identifier: GPL-2.0
/* kfdtrace report */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kfdlib.h"
#include "kfdtrace.h"
#include "message.h"
#include "queues.h"
#include "report.h"
#include "view-options.h"

#define MAX_LINES 50 /* of queues, pairs and anomalies; --json has all */
#define BAR	  40

enum column_id {
	COL_GPU,
	COL_PID,
	COL_INNER,
	COL_PRIORITY,
	COL_CREATED,
	COL_DESTROYED,
	COL_MAX,
	COL_MAPS,
	COL_MAPPED_TIME,
	COL_PREEMPTED,
	COL_PREEMPTED_TIME,
	COL_PREEMPTING,
	COL_PREEMPTING_TIME,
	COL_WAKES,
	COL_PARKED,
	COL_PARKED_TIME,
	COL_EVICTED,
	COL_EVICTED_TIME,
	COL_COMMAND,
	COL_SIMULATED,
	NR_COLS
};

/* output.rst describes each column with its unit. */
static const struct list_column columns[NR_COLS] = {
	[COL_GPU] = { "GPU", "gpu_id", LIST_COUNT, LIST_EVERYWHERE },
	[COL_PID] = { "PID", "pid", LIST_NUMBER, LIST_EVERYWHERE },
	[COL_INNER] = { "INNER-PID", "inner_pid", LIST_NUMBER, LIST_EVERYWHERE },
	[COL_PRIORITY] = { "PRIORITY", "priority", LIST_NUMBER, LIST_EVERYWHERE },
	[COL_CREATED] = { "CREATED-QUEUES", "created_queue_count", LIST_COUNT, LIST_EVERYWHERE },
	[COL_DESTROYED] = { "DESTROYED-QUEUES", "destroyed_queue_count", LIST_COUNT, LIST_WIDE },
	[COL_MAX] = { "MAX-QUEUES", "max_queue_count", LIST_COUNT, LIST_WIDE },
	[COL_MAPS] = { "MAPS", "map_count", LIST_COUNT, LIST_EVERYWHERE },
	[COL_MAPPED_TIME] = { "QUEUE-MAPPED-TIME", "queue_mapped_ns", LIST_DURATION, LIST_EVERYWHERE },
	[COL_PREEMPTED] = { "PREEMPTED", "preempted_count", LIST_COUNT, LIST_EVERYWHERE },
	[COL_PREEMPTED_TIME] = { "PREEMPTED-TIME", "preempted_ns", LIST_DURATION, LIST_EVERYWHERE },
	[COL_PREEMPTING] = { "PREEMPTING", "preempting_count", LIST_COUNT, LIST_EVERYWHERE },
	[COL_PREEMPTING_TIME] = { "PREEMPTING-TIME", "preempting_ns", LIST_DURATION, LIST_EVERYWHERE },
	[COL_WAKES] = { "WAKES", "wake_count", LIST_COUNT, LIST_EVERYWHERE },
	[COL_PARKED] = { "PARKED", "parked_count", LIST_COUNT, LIST_WIDE },
	[COL_PARKED_TIME] = { "PARKED-TIME", "parked_ns", LIST_DURATION, LIST_WIDE },
	[COL_EVICTED] = { "EVICTED", "evicted_count", LIST_COUNT, LIST_EVERYWHERE },
	[COL_EVICTED_TIME] = { "EVICTED-TIME", "evicted_ns", LIST_DURATION, LIST_EVERYWHERE },
	[COL_COMMAND] = { "COMMAND", "command", LIST_TEXT, LIST_EVERYWHERE },
	[COL_SIMULATED] = { "SIMULATED", "simulated", LIST_FLAG, LIST_CSV },
};

static const struct hist *of_unmap(const struct gpu *gpu)
{
	return &gpu->unmap;
}

static const struct hist *of_take(const struct gpu *gpu)
{
	return &gpu->take;
}

static const struct hist *of_preempt(const struct gpu *gpu)
{
	return &gpu->preempt;
}

static const struct hist *of_wake(const struct gpu *gpu)
{
	return &gpu->wake;
}

static const struct hist *of_save(const struct gpu *gpu)
{
	return &gpu->save;
}

static const struct hist *of_unpark(const struct gpu *gpu)
{
	return &gpu->unpark;
}

const struct latency latencies[NR_LATENCIES] = {
	{ "unmap", "unmap, request to confirmation", of_unmap },
	{ "take", "preemption, begin to victims unmapped", of_take },
	{ "wake", "doorbell to victims unmapped", of_wake },
	{ "preempt", "preemption, begin to end", of_preempt },
	{ "unpark", "doorbell of a parked process to its queues' return", of_unpark },
	{ "save", "save of waves (CWSR), measured by the GPU's firmware", of_save },
};

/* Of the time of one of its queues nothing is known. */
static bool unknown_queue(const struct client *client)
{
	const struct queue *queue;

	for (queue = client->queues; queue; queue = queue->client_next)
		if (queue->unknown)
			return true;
	return false;
}

/* What a recording that has no @event shows of it is not known: it is not 0. */
static void of_event(const struct view *view, enum kfd_event_type event, struct list_value *value, uint64_t count)
{
	list_known_count(value, trace_knows(view->file, event), count);
}

static void cell_times(const struct view *view, const struct client *client, unsigned int column,
		       struct list_value *value)
{
	switch (column) {
	case COL_MAPPED_TIME:
		list_known_count(value, !unknown_queue(client), client->mapped_ns);
		break;
	case COL_PREEMPTED_TIME:
		of_event(view, EV_PREEMPT_BEGIN, value, client->preempted_ns);
		break;
	case COL_PREEMPTING_TIME:
		of_event(view, EV_PREEMPT_BEGIN, value, client->preempting_ns);
		break;
	case COL_PARKED_TIME:
		of_event(view, EV_PARK, value, client->parked_ns);
		break;
	default:
		of_event(view, EV_EVICT_PROCESS, value, client->evicted_ns);
	}
}

static void cell_counts(const struct view *view, const struct client *client, unsigned int column,
			struct list_value *value)
{
	switch (column) {
	case COL_CREATED:
		of_event(view, EV_CREATE_QUEUE, value, client->created);
		break;
	case COL_DESTROYED:
		of_event(view, EV_DESTROY_QUEUE, value, client->destroyed);
		break;
	case COL_MAX:
		list_count(value, client->max_live);
		break;
	case COL_MAPS:
		of_event(view, EV_MAP_QUEUE, value, client->maps);
		break;
	case COL_PREEMPTED:
		of_event(view, EV_PREEMPT_BEGIN, value, client->preemptions);
		break;
	case COL_PREEMPTING:
		of_event(view, EV_PREEMPT_BEGIN, value, client->preempting);
		break;
	case COL_WAKES:
		of_event(view, EV_DOORBELL_WAKE, value, client->wakes);
		break;
	case COL_PARKED:
		of_event(view, EV_PARK, value, client->parks);
		break;
	default:
		of_event(view, EV_EVICT_PROCESS, value, client->evictions);
	}
}

static void cell(void *context, size_t row, unsigned int column, struct list_value *value)
{
	const struct client_rows *rows = context;
	const struct client *client = rows->clients[row];
	bool known;
	int inner = 0;

	switch (column) {
	case COL_GPU:
		list_count(value, client->gpu->gpu_id);
		break;
	case COL_PID:
		list_number(value, true, client->process->pid);
		break;
	case COL_INNER:
		known = view_inner_pid(rows->view, client->process->pid, &inner);
		list_number(value, known, inner);
		break;
	case COL_PRIORITY:
		list_number(value, client->process->prio != NO_PRIO, client->process->prio);
		break;
	case COL_MAPPED_TIME:
	case COL_PREEMPTED_TIME:
	case COL_PREEMPTING_TIME:
	case COL_PARKED_TIME:
	case COL_EVICTED_TIME:
		cell_times(rows->view, client, column, value);
		break;
	case COL_SIMULATED:
		view_simulated_value(rows->view, value);
		break;
	case COL_COMMAND:
		list_text(value, view_command(rows->view, client->process->pid));
		break;
	default:
		cell_counts(rows->view, client, column, value);
	}
}

/**
 * client_rows_list() - the list of processes
 * @rows: of client_rows_make()
 * @choice: how to print it
 *
 * Return: the list; @rows and @choice must outlive it.
 */
struct list client_rows_list(struct client_rows *rows, const struct list_choice *choice)
{
	return (struct list){ .columns = columns, .nr_columns = NR_COLS, .nr_rows = rows->nr,
			      .value = cell, .context = rows, .choice = choice };
}

static int client_compare(const void *left, const void *right)
{
	const struct client *a = *(const struct client *const *)left;
	const struct client *b = *(const struct client *const *)right;

	if (a->process->pid != b->process->pid)
		return a->process->pid < b->process->pid ? -1 : 1;
	return (a->gpu->gpu_id > b->gpu->gpu_id) - (a->gpu->gpu_id < b->gpu->gpu_id);
}

/**
 * client_rows_make() - the processes to show, in the order of PID and GPU
 * @rows: filled in; @clients is to be freed with free(3)
 * @view: the recording, read
 */
void client_rows_make(struct client_rows *rows, const struct view *view)
{
	const struct client *client;
	const struct gpu *gpu;
	size_t room = 0;

	*rows = (struct client_rows){ .view = view };
	for (gpu = view->model.gpus; gpu; gpu = gpu->next)
		for (client = gpu->clients; client; client = client->next) {
			if (!view_shows(view, client))
				continue;
			if (rows->nr == room) {
				room = room ? 2 * room : 64;
				rows->clients =
					reallocarray(rows->clients, room, sizeof(struct client *));
				if (!rows->clients)
					errx(EXIT_FAILURE, "out of memory");
			}
			rows->clients[rows->nr++] = client;
		}
	if (rows->nr)
		qsort(rows->clients, rows->nr, sizeof(struct client *), client_compare);
}

static void print_head(const struct view *view)
{
	const struct model *model = &view->model;
	struct json_object *value;
	uint64_t events = 0;
	const char *kernel = "?";
	int i;

	for (i = 0; i < NR_KFD_EVENTS; i++)
		events += model->events[i];
	if (view->meta && json_object_object_get_ex(view->meta, "kernel", &value))
		kernel = json_object_get_string(value);
	text_line(stdout, "%s: %" PRIu64 " kfd events in %.6f s on %d CPUs, clock %s, kernel %s",
		  view->options->dir, events, (model->last - model->first) / 1e9,
		  trace_cpus(view->file), trace_clock(view->file), kernel ? kernel : "?");
	view_simulated_print(view);
	if (view_stock(view))
		puts("stock driver: it has no priorities of processes and no preemption. Which queues are mapped is known,\n"
		     "not which of them run");
	if (trace_foreign(view->file))
		printf("%" PRIu64
		       " events of other systems are not shown; trace-cmd report shows them\n",
		       trace_foreign(view->file));
}

static void print_pairs(const struct client_rows *rows)
{
	const struct pair *pair;
	char text[32];
	size_t i, lines = 0, more = 0;

	for (i = 0; i < rows->nr; i++)
		for (pair = rows->clients[i]->by; pair; pair = pair->next) {
			if (lines == MAX_LINES) {
				more++;
				continue;
			}
			if (!lines++)
				printf("\nPreemptions by process\n");
			duration_format(text, sizeof(text), pair->ns);
			printf("  %d was preempted by %d on GPU %u: %" PRIu64 " times, for %s\n",
			       rows->clients[i]->process->pid, pair->pid,
			       rows->clients[i]->gpu->gpu_id, pair->count, text);
		}
	if (more)
		printf("  and %zu more: see --json\n", more);
}

static void print_reasons(const char *what, const uint64_t *counts, int nr,
			  const char *(*name)(int64_t reason))
{
	const char *comma = "";
	int i;

	printf("  %s:", what);
	for (i = 0; i < nr; i++)
		if (counts[i]) {
			printf("%s %s %" PRIu64, comma, name(i), counts[i]);
			comma = ",";
		}
	puts(*comma ? "" : " none");
}

static void print_hist(const struct latency *latency, const struct hist *hist)
{
	char min[32], p50[32], p90[32], p99[32], max[32], low[32];
	uint64_t most = 0, count;
	unsigned int power, first = 64, last = 0;

	if (!hist->count)
		return;
	duration_format(min, sizeof(min), hist->min);
	duration_format(p50, sizeof(p50), hist_percentile(hist, 50));
	duration_format(p90, sizeof(p90), hist_percentile(hist, 90));
	duration_format(p99, sizeof(p99), hist_percentile(hist, 99));
	duration_format(max, sizeof(max), hist->max);
	printf("  %s: %" PRIu64 " times; min %s, P50 %s, P90 %s, P99 %s, max %s\n", latency->title,
	       hist->count, min, p50, p90, p99, max);
	for (power = 0; power < 64; power++) {
		count = hist_octave(hist, power);
		if (!count)
			continue;
		most = count > most ? count : most;
		first = first == 64 ? power : first;
		last = power;
	}
	for (power = first; power <= last; power++) {
		count = hist_octave(hist, power);
		duration_format(low, sizeof(low), power ? 1ULL << power : 0);
		printf("    from %8s %8" PRIu64 "%s%.*s\n", low, count, count ? " " : "",
		       (int)(count ? 1 + count * (BAR - 1) / most : 0),
		       "########################################");
	}
}

static void print_gpu(const struct view *view, const struct gpu *gpu)
{
	const char *name = view_gpu_label(view, gpu->gpu_id);
	uint64_t span = view->model.last - view->model.first;
	int i;

	putchar('\n');
	text_line(stdout, "GPU %u%s%s", gpu->gpu_id, name ? ", " : "", name ? name : "");
	if (gpu->runlists) {
		printf("  runlists: %" PRIu64 ", with %.1f queues on average, at most %" PRIu64 " of %" PRIu64
		       " processes\n",
		       gpu->runlists, (double)gpu->runlist_queues / gpu->runlists, gpu->max_queues,
		       gpu->max_processes);
		printf("  over-subscribed: %" PRIu64 " runlists, %.1f %% of the time\n",
		       gpu->over_subscribed, span ? 100.0 * gpu->over_ns / span : 0.0);
	}
	if (!view_stock(view)) {
		print_reasons("preemptions began", gpu->begins, NR_KFD_REASONS, kfd_reason_name);
		print_reasons("and ended", gpu->ends, NR_KFD_REASONS, kfd_reason_name);
	}
	if (view->model.events[EV_PARK] || view->model.events[EV_UNPARK]) {
		print_reasons("processes parked", gpu->parks, NR_KFD_PARK_REASONS, kfd_park_name);
		print_reasons("and parked no longer", gpu->unparks, NR_KFD_UNPARK_REASONS,
			      kfd_unpark_name);
	}
	for (i = 0; i < NR_LATENCIES; i++)
		print_hist(&latencies[i], latencies[i].of(gpu));
}

static void print_text(const struct view *view, struct client_rows *rows, const struct paths *paths)
{
	static const struct list_choice all;
	struct list list = client_rows_list(rows, &view->options->list);
	const struct gpu *gpu;
	size_t more;

	print_head(view);
	puts("\nProcesses");
	list_print(&list);
	puts("\nQueues");
	more = queues_table(view, MAX_LINES, &all) + view->model.queues_left_out;
	if (more)
		printf("and %zu more: see kfdtrace queues\n", more);
	print_pairs(rows);
	for (gpu = view->model.gpus; gpu; gpu = gpu->next)
		print_gpu(view, gpu);
	saves_print(view);
	anomalies_print(&view->model);
	if (!paths->log)
		return;
	putchar('\n');
	log_print(paths);
}

static void usage(void)
{
	fputs("\n"
	      "Usage:\n"
	      " kfdtrace report [options] [DIR]\n"
	      "\n"
	      "Summarise a recording. DIR may be a trace.dat; without DIR, the newest recording in\n"
	      "the current directory is read.\n"
	      "\n"
	      "Options:\n"
	      " -p, --pid PID           show only this process; may be repeated\n"
	      " -s, --slow-ms MS        report a longer unmap as an anomaly (default 100)\n"
	      " -o, --output COLUMNS    list processes with these columns; +COLUMNS adds columns\n"
	      "     --noheadings        print only the processes, without a header line\n"
	      "     --raw               print only the processes, columns separated by one blank\n"
	      " -z, --zero              print times in text from the first event on\n"
	      " -J, --json              print JSON, with everything\n"
	      " -C, --csv               print the processes as CSV\n"
	      " -h, --help              display this help\n"
	      " -V, --version           display the version of this program\n"
	      "\n"
	      "Without --zero, times are seconds of the trace clock, as in trace-cmd report.\n"
	      "For more details see kfdtrace(1).\n",
	      stdout);
}

/**
 * kfdtrace_report() - the verb
 * @argc: number of @argv
 * @argv: options
 *
 * Return: the exit status.
 */
int kfdtrace_report(int argc, char **argv)
{
	struct view_options options = { .verb = "report", .columns = columns, .nr_columns = NR_COLS };
	struct client_rows rows;
	struct paths paths;
	struct list list;
	struct view view;

	view_options_parse(argc, argv, "p:s:o:zJChV", usage, &options);
	view_open(&view, &options);
	view_read(&view);
	view_losses(&view);
	view_pids_check(&view);
	client_rows_make(&rows, &view);
	paths_make(&paths, &view);
	list = client_rows_list(&rows, &options.list);
	if (options.list.json)
		report_json(&view, &paths);
	else if (options.list.csv || options.list.raw || options.list.noheadings)
		list_print(&list);
	else
		print_text(&view, &rows, &paths);
	paths_free(&paths);
	free(rows.clients);
	view_close(&view);
	return stdout_check(EXIT_SUCCESS);
}
