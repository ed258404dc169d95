// SPDX-License-Identifier: GPL-2.0
/*
 * kfdtrace compare
 *
 * Noise: a count is taken as one of events that come independently of each other (Poisson), a
 * percentile has the interval of the order statistics that cover it, both at 95 %.  What
 * does not differ by more than that, or by more than a histogram resolves, is within noise.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kfdtrace.h"
#include "message.h"
#include "views/common/latency.h"
#include "views/common/options.h"

#define Z	   1.96 /* 95 % of a normal distribution */
#define RESOLUTION 1.01 /* of a histogram */
#define MAX_ROWS   (10 + 2 * NR_LATENCIES)

enum verdict {
	VERDICT_NONE,
	VERDICT_NOISE,
	VERDICT_MORE,
	VERDICT_LESS,
	VERDICT_FEW
};

static const char *const verdicts[] = {
	[VERDICT_NONE] = NULL,	 [VERDICT_NOISE] = "noise", [VERDICT_MORE] = "more",
	[VERDICT_LESS] = "less", [VERDICT_FEW] = "few",
};

/**
 * struct row - one thing that is compared
 * @key: in JSON and CSV
 * @title: in words
 * @duration: the values are ns
 * @known: whether the recording, A or B, can have it
 * @value: of A and B
 * @rate: the values per second, of a count or a sum; < 0 if there is none
 * @count: of a percentile: how many durations it is of
 * @ratio: B to A, of the rates if there are any; 0 if there is none
 * @verdict: what to make of it
 */
struct row {
	char key[32];
	char title[64];
	bool duration, known[2];
	double value[2], rate[2];
	uint64_t count[2];
	double ratio;
	enum verdict verdict;
};

/* What a value needs to be known: an event, or what several events show */
enum {
	KNOWS_VICTIMS = NR_KFD_EVENTS,
	KNOWS_THROTTLES,
	KNOWS_ANOMALIES,
	NR_KNOWS
};

/**
 * struct sums - what one recording has
 * @seconds: between its first and last event
 * @queues, @maps, @unmaps, @runlists, @over, @preemptions, @throttles, @anomalies: counts
 * @preempted, @throttled: sums over processes, in s
 * @knows: which events the recording can have, and what else its events show
 * @driver: of view_driver()
 * @simulated: whether it is of the simulated GPU
 * @hist: of all GPUs together
 */
struct sums {
	double seconds, preempted, throttled;
	uint64_t queues, maps, unmaps, runlists, over, preemptions, throttles, anomalies;
	bool knows[NR_KNOWS];
	const char *driver;
	enum simulated simulated;
	struct hist hist[NR_LATENCIES];
};

struct rows {
	struct row row[MAX_ROWS];
	size_t nr;
	struct sums sums[2];
};

static void sums_read(struct sums *sums, const struct view_options *options, const char *dir)
{
	struct view_options own = *options;
	const struct client *client;
	const struct gpu *gpu;
	struct view view;
	int i;

	own.dir = dir;
	view_open(&view, &own);
	view_read(&view);
	view_losses(&view);
	sums->simulated = view_simulated(&view);
	sums->driver = view_driver(&view);
	for (i = 0; i < NR_KFD_EVENTS; i++)
		sums->knows[i] = view_knows(&view, i);
	sums->knows[KNOWS_VICTIMS] = view_knows_victims(&view);
	sums->knows[KNOWS_THROTTLES] = view_knows_throttles(&view);
	sums->knows[KNOWS_ANOMALIES] = view_knows_anomalies(&view);
	sums->seconds = (view.model.last - view.model.first) / 1e9;
	sums->unmaps = view.model.events[EV_UNMAP_QUEUES_DONE];
	sums->preemptions = view.model.events[EV_PREEMPT_BEGIN];
	sums->anomalies = anomalies_count(&view.model);
	for (gpu = view.model.gpus; gpu; gpu = gpu->next) {
		sums->runlists += gpu->runlists;
		sums->over += gpu->over_subscribed;
		for (i = 0; i < NR_LATENCIES; i++)
			hist_merge(&sums->hist[i], latencies[i].of(gpu));
		for (client = gpu->clients; client; client = client->next) {
			sums->queues += client->created;
			sums->maps += client->maps;
			sums->preempted += client->preempted_ns / 1e9;
			sums->throttles += client->throttle_count;
			sums->throttled += client->throttled_ns / 1e9;
		}
	}
	view_close(&view);
}

static struct row *row_add(struct rows *rows, const char *key, const char *title)
{
	struct row *row = &rows->row[rows->nr++];

	row->rate[0] = row->rate[1] = -1;
	row->known[0] = row->known[1] = true;
	snprintf(row->key, sizeof(row->key), "%s", key);
	snprintf(row->title, sizeof(row->title), "%s", title);
	return row;
}

/*
 * Values that grow with the length of the recording: compared per second. They are not known of a recording that cannot
 * have the event.
 */
static struct row *sum_add(struct rows *rows, int needs, const char *key, const char *title, double a,
			   double b)
{
	struct row *row = row_add(rows, key, title);
	int i;

	row->value[0] = a;
	row->value[1] = b;
	for (i = 0; i < 2; i++) {
		row->known[i] = rows->sums[i].knows[needs];
		if (row->known[i] && rows->sums[i].seconds > 0)
			row->rate[i] = row->value[i] / rows->sums[i].seconds;
	}
	row->ratio = row->rate[0] > 0 && row->rate[1] >= 0 ? row->rate[1] / row->rate[0] : 0;
	return row;
}

static void count_add(struct rows *rows, int needs, const char *key, const char *title, uint64_t a,
		      uint64_t b)
{
	struct row *row = sum_add(rows, needs, key, title, a, b);
	double ta = rows->sums[0].seconds, tb = rows->sums[1].seconds;

	if (row->rate[0] < 0 || row->rate[1] < 0)
		return;
	if (fabs(row->rate[1] - row->rate[0]) <= Z * sqrt(a / (ta * ta) + b / (tb * tb)))
		row->verdict = VERDICT_NOISE;
	else
		row->verdict = row->rate[1] > row->rate[0] ? VERDICT_MORE : VERDICT_LESS;
}

/* The durations between which the percentile of what was sampled is; false if there are too few. */
static bool interval(const struct hist *hist, double percent, uint64_t *low, uint64_t *high)
{
	double n = hist->count, p = percent / 100, half = Z * sqrt(n * p * (1 - p));
	double from = floor(n * p - half), to = ceil(n * p + half) + 1;

	if (from < 1 || to > n)
		return false;
	*low = hist_rank(hist, from);
	*high = hist_rank(hist, to);
	return true;
}

static void percentile_add(struct rows *rows, int latency, double percent)
{
	const struct hist *a = &rows->sums[0].hist[latency], *b = &rows->sums[1].hist[latency];
	uint64_t low_a, high_a, low_b, high_b;
	char key[32], title[64];
	struct row *row;

	if (!a->count && !b->count)
		return;
	snprintf(key, sizeof(key), "%s_p%.0f_ns", latencies[latency].key, percent);
	snprintf(title, sizeof(title), "%s, P%.0f", latencies[latency].title, percent);
	row = row_add(rows, key, title);
	row->duration = true;
	row->count[0] = a->count;
	row->count[1] = b->count;
	row->value[0] = hist_percentile(a, percent);
	row->value[1] = hist_percentile(b, percent);
	if (!a->count || !b->count)
		return;
	row->ratio = row->value[0] > 0 ? row->value[1] / row->value[0] : 0;
	if (!interval(a, percent, &low_a, &high_a) || !interval(b, percent, &low_b, &high_b))
		row->verdict = VERDICT_FEW;
	else if ((low_b <= high_a && low_a <= high_b) ||
		 (row->ratio < RESOLUTION && row->ratio > 1 / RESOLUTION))
		row->verdict = VERDICT_NOISE;
	else
		row->verdict = row->value[1] > row->value[0] ? VERDICT_MORE : VERDICT_LESS;
}

static void rows_make(struct rows *rows)
{
	const struct sums *a = &rows->sums[0], *b = &rows->sums[1];
	struct row *row;
	int i;

	row = row_add(rows, "recording_s", "seconds recorded");
	row->value[0] = a->seconds;
	row->value[1] = b->seconds;
	count_add(rows, EV_CREATE_QUEUE, "created_queue_count", "queues created", a->queues, b->queues);
	count_add(rows, EV_MAP_QUEUE, "map_count", "queues mapped", a->maps, b->maps);
	count_add(rows, EV_UNMAP_QUEUES_DONE, "unmap_count", "unmaps", a->unmaps, b->unmaps);
	count_add(rows, EV_MAP_QUEUES, "over_subscribed_count", "over-subscribed runlists", a->over, b->over);
	count_add(rows, EV_PREEMPT_BEGIN, "preemption_count", "preemptions", a->preemptions, b->preemptions);
	sum_add(rows, KNOWS_VICTIMS, "preempted_s", "seconds preempted, of all processes", a->preempted,
		b->preempted);
	count_add(rows, EV_THROTTLE_BEGIN, "throttled_count", "processes throttled", a->throttles, b->throttles);
	sum_add(rows, KNOWS_THROTTLES, "throttled_s", "seconds throttled, of all processes", a->throttled, b->throttled);
	count_add(rows, KNOWS_ANOMALIES, "anomaly_count", "anomalies", a->anomalies, b->anomalies);
	for (i = 0; i < NR_LATENCIES; i++) {
		percentile_add(rows, i, 50);
		percentile_add(rows, i, 99);
	}
}

enum column_id {
	COL_DESCRIPTION,
	COL_WHAT,
	COL_A,
	COL_B,
	COL_A_RATE,
	COL_B_RATE,
	COL_RATIO,
	COL_VERDICT,
	COL_A_SIMULATED,
	COL_B_SIMULATED,
	NR_COLS
};

/* output.rst describes each column; WHAT has the unit of a value. */
static const struct list_column columns[NR_COLS] = {
	[COL_DESCRIPTION] = { "DESCRIPTION", "description", LIST_TEXT, LIST_TABLE },
	[COL_WHAT] = { "WHAT", "what", LIST_WORD, LIST_WIDE },
	[COL_A] = { "A", "a_value", LIST_REAL, LIST_EVERYWHERE },
	[COL_B] = { "B", "b_value", LIST_REAL, LIST_EVERYWHERE },
	[COL_A_RATE] = { "A/S", "a_per_s", LIST_REAL, LIST_EVERYWHERE },
	[COL_B_RATE] = { "B/S", "b_per_s", LIST_REAL, LIST_EVERYWHERE },
	[COL_RATIO] = { "B/A", "b_to_a_ratio", LIST_REAL, LIST_EVERYWHERE },
	[COL_VERDICT] = { "VERDICT", "verdict", LIST_WORD, LIST_EVERYWHERE },
	[COL_A_SIMULATED] = { "A-SIMULATED", "a_simulated", LIST_FLAG, LIST_CSV },
	[COL_B_SIMULATED] = { "B-SIMULATED", "b_simulated", LIST_FLAG, LIST_CSV },
};

static void cell_value(const struct row *row, int which, struct list_value *value)
{
	double real = row->value[which];

	if (row->duration) {
		value->kind = LIST_DURATION;
		list_known_count(value, row->count[which], real);
	} else if (real == floor(real)) {
		value->kind = LIST_COUNT;
		list_known_count(value, row->known[which], real);
	} else {
		list_real(value, row->known[which], real);
	}
}

static void cell_simulated(enum simulated simulated, struct list_value *value)
{
	value->known = simulated != SIMULATED_UNKNOWN;
	value->flag = simulated == SIMULATED_YES;
}

static void cell(void *context, size_t at, unsigned int column, struct list_value *value)
{
	const struct rows *rows = context;
	const struct row *row = &rows->row[at];

	switch (column) {
	case COL_DESCRIPTION:
		list_text(value, row->title);
		break;
	case COL_WHAT:
		list_text(value, row->key);
		break;
	case COL_A:
	case COL_B:
		cell_value(row, column - COL_A, value);
		break;
	case COL_A_RATE:
	case COL_B_RATE:
		list_real(value, row->rate[column - COL_A_RATE] >= 0, row->rate[column - COL_A_RATE]);
		break;
	case COL_RATIO:
		list_real(value, row->ratio > 0, row->ratio);
		break;
	case COL_VERDICT:
		list_text(value, verdicts[row->verdict]);
		break;
	default:
		cell_simulated(rows->sums[column - COL_A_SIMULATED].simulated, value);
	}
}

static void print_json(const struct rows *rows, const struct list *list, const struct view_options *options)
{
	json_stdout(JSON_ROWS);
	json_number("version", JSON_FORMAT);
	json_text("a_recording", options->dir);
	json_text("b_recording", options->other);
	json_simulated("a_simulated", rows->sums[0].simulated);
	json_simulated("b_simulated", rows->sums[1].simulated);
	json_text("a_driver", rows->sums[0].driver);
	json_text("b_driver", rows->sums[1].driver);
	list_json_columns(list);
	list_json(list, "rows");
	json_stdout_end();
}

static void print_names(const struct view_options *options, const struct sums *sums)
{
	static const char *const notes[] = {
		[SIMULATED_UNKNOWN] = " (the recording does not contain whether the GPU was simulated)",
		[SIMULATED_NO] = "",
		[SIMULATED_YES] = " (SIMULATED GPU: no time was measured on hardware)",
	};
	bool stock[2];
	int i;

	text_line(stdout, "A: %s%s", options->dir, notes[sums[0].simulated]);
	text_line(stdout, "B: %s%s", options->other, notes[sums[1].simulated]);
	for (i = 0; i < 2; i++)
		stock[i] = sums[i].driver && strcmp(sums[i].driver, "kfdprio");
	if (stock[0] || stock[1])
		printf("%s of a stock driver, which has no preemption and no event of it\n",
		       stock[0] && stock[1] ? "A and B are" : stock[0] ? "A is" : "B is");
	putchar('\n');
}

static void usage(void)
{
	fputs("\n"
	      "Usage:\n"
	      " kfdtrace compare [options] A B\n"
	      "\n"
	      "Compare two recordings: counts and latencies, and which of them differ by more than\n"
	      "noise.\n"
	      "\n"
	      "Options:\n"
	      " -s, --slow-ms MS        report a longer unmap as an anomaly (default 100)\n"
	      " -o, --output COLUMNS    print these columns; +COLUMNS adds columns\n"
	      "     --noheadings        print no header line\n"
	      "     --raw               separate columns by one blank, for scripts\n"
	      " -J, --json              print JSON\n"
	      " -C, --csv               print CSV\n"
	      " -h, --help              display this help\n"
	      " -V, --version           display the version of this program\n"
	      "\n"
	      "A/S and B/S are values per second; B/A is their ratio, or that of A and B.\n"
	      "VERDICT is more, less, noise, or few (too few durations for a verdict).\n"
	      "For more details see kfdtrace(1).\n",
	      stdout);
}

/**
 * kfdtrace_compare() - the verb
 * @argc: number of @argv
 * @argv: options
 *
 * Return: the exit status; a difference is no failure.
 */
int kfdtrace_compare(int argc, char **argv)
{
	struct view_options options = { .verb = "compare", .two = true, .columns = columns,
					.nr_columns = NR_COLS };
	struct rows *rows = calloc(1, sizeof(*rows));
	struct list list;

	if (!rows)
		errx(EXIT_FAILURE, "out of memory");
	view_options_parse(argc, argv, "s:o:JChV", usage, &options);
	sums_read(&rows->sums[0], &options, options.dir);
	sums_read(&rows->sums[1], &options, options.other);
	rows_make(rows);
	if (rows->sums[0].simulated != rows->sums[1].simulated &&
	    (rows->sums[0].simulated == SIMULATED_YES || rows->sums[1].simulated == SIMULATED_YES))
		warnx("only %s is known to be from a simulated GPU: do not compare their times",
		      rows->sums[0].simulated == SIMULATED_YES ? "A" : "B");
	list = (struct list){ .columns = columns, .nr_columns = NR_COLS, .nr_rows = rows->nr,
			      .value = cell, .context = rows, .choice = &options.list };
	if (options.list.json) {
		print_json(rows, &list, &options);
	} else {
		if (!options.list.csv && !options.list.raw && !options.list.noheadings)
			print_names(&options, rows->sums);
		list_print(&list);
	}
	free(rows);
	return stdout_check(EXIT_SUCCESS);
}
