// SPDX-License-Identifier: GPL-2.0
/* kfdtrace report */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kfdlib.h"
#include "kfdtrace.h"
#include "message.h"
#include "views/common/claimed.h"
#include "views/common/queues.h"
#include "report.h"
#include "views/common/options.h"

#define MAX_LINES 50 /* of queues, pairs and anomalies; --json has all */
#define BAR	  40

static void print_head(const struct view *view)
{
	const struct model *model = &view->model;
	struct json_object *kernel = view_meta_value(view, "kernel", json_type_string);
	const char *clock = trace_clock(view->file);
	uint64_t events = 0;
	int i;

	for (i = 0; i < NR_KFD_EVENTS; i++)
		events += model->events[i];
	text_line(stdout, "%s: %" PRIu64 " kfd events in %.6f s on %d CPU%s, clock %s, kernel %s",
		  view->options->dir, events, (model->last - model->first) / 1e9,
		  trace_cpus(view->file), trace_cpus(view->file) == 1 ? "" : "s", clock ? clock : "unknown",
		  kernel ? json_object_get_string(kernel) : "unknown");
	view_simulated_print(view);
	if (view_stock(view))
		puts("stock driver: it has no priorities of processes and no preemption. Which queues are mapped is known,\n"
		     "not which of them run");
	if (!view_driver(view))
		puts("driver: unknown");
	if (view_stock(view) && !claims_known(view))
		puts("record --mqd samples when queues had work, as their processes claim");
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

	for (i = 0; view_knows_victims(rows->view) && i < rows->nr; i++)
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

static void print_reasons(const struct view *view, enum kfd_event_type event, const char *what,
			  const uint64_t *counts, int nr, const char *(*name)(int64_t reason))
{
	const char *comma = "";
	int i;

	printf("  %s:", what);
	if (!view_knows(view, event)) {
		puts(" -");
		return;
	}
	for (i = 0; i <= nr; i++)
		if (counts[i]) {
			printf("%s %s %" PRIu64, comma, i < nr ? name(i) : "UNKNOWN", counts[i]);
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
		printf("  over-subscribed: %" PRIu64 " runlists", gpu->over_subscribed);
		if (!gpu->over_subscribed || view_knows(view, EV_UNMAP_QUEUES_DONE))
			printf(", %.1f %% of the time", span ? 100.0 * gpu->over_ns / span : 0.0);
		putchar('\n');
	}
	if (!view_stock(view)) {
		print_reasons(view, EV_PREEMPT_BEGIN, "preemptions began", gpu->begins, NR_KFD_REASONS, kfd_reason_name);
		print_reasons(view, EV_PREEMPT_END, "and ended", gpu->ends, NR_KFD_REASONS, kfd_reason_name);
	}
	if (view->model.events[EV_PARK] || view->model.events[EV_UNPARK]) {
		print_reasons(view, EV_PARK, "processes parked", gpu->parks, NR_KFD_PARK_REASONS, kfd_park_name);
		print_reasons(view, EV_UNPARK, "and parked no longer", gpu->unparks, NR_KFD_UNPARK_REASONS,
			      kfd_unpark_name);
	}
	if (view->model.events[EV_THROTTLE_BEGIN])
		print_reasons(view, EV_THROTTLE_BEGIN, "processes throttled", gpu->throttles, NR_KFD_THROTTLES, kfd_throttle_name);
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
	throttles_print(rows);
	for (gpu = view->model.gpus; gpu; gpu = gpu->next)
		print_gpu(view, gpu);
	saves_print(view);
	claims_print(view);
	anomalies_print(view);
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
	struct view_options options = { .verb = "report", .columns = client_columns,
					.nr_columns = nr_client_columns };
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
