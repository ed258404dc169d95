// SPDX-License-Identifier: GPL-2.0
/*
 * kfdtrace compare
 *
 * Noise: a count is taken as one of events that come independently of each other (Poisson), a
 * percentile has the interval of the order statistics that cover it, both at 95 %.  What
 * does not differ by more than that, or by more than a histogram resolves, is within noise.
 */
#define _GNU_SOURCE
#include <err.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kfdtrace.h"
#include "output.h"
#include "report.h"
#include "view-options.h"

#define Z	   1.96 /* 95 % of a normal distribution */
#define RESOLUTION 1.01 /* of a histogram */
#define MAX_ROWS   (8 + 2 * NR_LATENCIES)

enum verdict {
	VERDICT_NONE,
	VERDICT_NOISE,
	VERDICT_MORE,
	VERDICT_LESS,
	VERDICT_FEW
};

static const char *const verdicts[] = {
	[VERDICT_NONE] = "-",
	[VERDICT_NOISE] = "within noise",
	[VERDICT_MORE] = "B is more",
	[VERDICT_LESS] = "B is less",
	[VERDICT_FEW] = "too few to tell",
};

static const char *const verdict_keys[] = {
	[VERDICT_NONE] = NULL,	 [VERDICT_NOISE] = "noise", [VERDICT_MORE] = "more",
	[VERDICT_LESS] = "less", [VERDICT_FEW] = "few",
};

/**
 * struct row - one thing that is compared
 * @key: in JSON and CSV
 * @title: in words
 * @duration: the values are ns
 * @value: of A and B
 * @rate: the values per second, of a count or a sum; < 0 if there is none
 * @count: of a percentile: how many durations it is of
 * @ratio: B to A, of the rates if there are any; 0 if there is none
 * @verdict: what to make of it
 */
struct row {
	char key[32];
	char title[64];
	bool duration;
	double value[2], rate[2];
	uint64_t count[2];
	double ratio;
	enum verdict verdict;
};

/**
 * struct sums - what one recording has
 * @seconds: between its first and last event
 * @queues, @maps, @unmaps, @runlists, @over, @preemptions, @anomalies: counts
 * @preempted: sum over processes, in s
 * @simulated: whether it is of the simulated GPU
 * @hist: of all GPUs together
 */
struct sums {
	double seconds, preempted;
	uint64_t queues, maps, unmaps, runlists, over, preemptions, anomalies;
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
		}
	}
	view_close(&view);
}

static struct row *row_add(struct rows *rows, const char *key, const char *title)
{
	struct row *row = &rows->row[rows->nr++];

	row->rate[0] = row->rate[1] = -1;
	snprintf(row->key, sizeof(row->key), "%s", key);
	snprintf(row->title, sizeof(row->title), "%s", title);
	return row;
}

/* What is more in a longer recording: compared per second. */
static struct row *sum_add(struct rows *rows, const char *key, const char *title, double a, double b)
{
	struct row *row = row_add(rows, key, title);
	int i;

	row->value[0] = a;
	row->value[1] = b;
	for (i = 0; i < 2; i++)
		if (rows->sums[i].seconds > 0)
			row->rate[i] = row->value[i] / rows->sums[i].seconds;
	row->ratio = row->rate[0] > 0 && row->rate[1] >= 0 ? row->rate[1] / row->rate[0] : 0;
	return row;
}

static void count_add(struct rows *rows, const char *key, const char *title, uint64_t a, uint64_t b)
{
	struct row *row = sum_add(rows, key, title, a, b);
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

	row = row_add(rows, "seconds", "seconds");
	row->value[0] = a->seconds;
	row->value[1] = b->seconds;
	count_add(rows, "queues", "queues created", a->queues, b->queues);
	count_add(rows, "maps", "queues mapped", a->maps, b->maps);
	count_add(rows, "unmaps", "unmaps", a->unmaps, b->unmaps);
	count_add(rows, "over_subscribed", "over-subscribed runlists", a->over, b->over);
	count_add(rows, "preemptions", "preemptions", a->preemptions, b->preemptions);
	sum_add(rows, "preempted_seconds", "seconds preempted, of all processes", a->preempted, b->preempted);
	count_add(rows, "anomalies", "anomalies", a->anomalies, b->anomalies);
	for (i = 0; i < NR_LATENCIES; i++) {
		percentile_add(rows, i, 50);
		percentile_add(rows, i, 99);
	}
}

static const struct column columns[] = {
	{ "", "what", false },
	{ "A", "a", true },
	{ "B", "b", true },
	{ "A/S", "a_per_s", true },
	{ "B/S", "b_per_s", true },
	{ "B/A", "ratio", true },
	{ "VERDICT", "verdict", false },
	{ NULL, "a_simulated", false },
	{ NULL, "b_simulated", false },
};

static void value_format(const struct row *row, int which, bool csv, char *text)
{
	if (row->duration && !row->count[which])
		snprintf(text, CELL, "%s", csv ? "" : "-");
	else if (row->duration && !csv)
		duration_format(text, CELL, row->value[which]);
	else
		snprintf(text, CELL, "%.*f", row->value[which] == floor(row->value[which]) ? 0 : 3,
			 row->value[which]);
}

static void cell(void *context, size_t at, unsigned int column, bool csv, char *text)
{
	const struct rows *rows = context;
	const struct row *row = &rows->row[at];

	switch (column) {
	case 0:
		snprintf(text, CELL, "%s", csv ? row->key : row->title);
		break;
	case 1:
	case 2:
		value_format(row, column - 1, csv, text);
		break;
	case 3:
	case 4:
		if (row->rate[column - 3] >= 0)
			snprintf(text, CELL, "%.4g", row->rate[column - 3]);
		else if (!csv)
			snprintf(text, CELL, "-");
		break;
	case 5:
		if (row->ratio > 0)
			snprintf(text, CELL, "%.3f", row->ratio);
		else if (!csv)
			snprintf(text, CELL, "-");
		break;
	case 7:
	case 8:
		snprintf(text, CELL, "%s", view_simulated_word(rows->sums[column - 7].simulated));
		break;
	default:
		if (!csv)
			snprintf(text, CELL, "%s", verdicts[row->verdict]);
		else if (verdict_keys[row->verdict])
			snprintf(text, CELL, "%s", verdict_keys[row->verdict]);
	}
}

static void rate_json(const char *key, double rate)
{
	if (rate >= 0)
		json_real(key, rate);
	else
		json_null(key);
}

static void print_json(const struct rows *rows, const struct view_options *options)
{
	size_t i;

	json_open(NULL, '{');
	json_number("version", 1);
	json_text("a", options->dir);
	json_text("b", options->other);
	view_simulated_json("a_simulated", rows->sums[0].simulated);
	view_simulated_json("b_simulated", rows->sums[1].simulated);
	json_open("rows", '[');
	for (i = 0; i < rows->nr; i++) {
		const struct row *row = &rows->row[i];

		json_open(NULL, '{');
		json_text("what", row->key);
		json_real("a", row->value[0]);
		json_real("b", row->value[1]);
		rate_json("a_per_s", row->rate[0]);
		rate_json("b_per_s", row->rate[1]);
		if (row->ratio > 0)
			json_real("ratio", row->ratio);
		else
			json_null("ratio");
		json_text("verdict", verdict_keys[row->verdict]);
		json_close('}');
	}
	json_close(']');
	json_close('}');
}

static void usage(void)
{
	fputs("\n"
	      "Usage:\n"
	      " kfdtrace compare [options] A B\n"
	      "\n"
	      "Two recordings side by side: counts, latencies, and which of them differ by more\n"
	      "than noise.\n"
	      "\n"
	      "Options:\n"
	      " -s, --slow-ms MS        an unmap that takes longer is an anomaly (default 100)\n"
	      " -J, --json              print JSON\n"
	      " -C, --csv               print CSV\n"
	      " -h, --help              display this help\n"
	      "\n"
	      "A/S and B/S are per second; B/A is the ratio of these, else that of A and B.\n"
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
	static const char *const notes[] = {
		[SIMULATED_UNKNOWN] = " (whether the GPU was a simulated one is not recorded)",
		[SIMULATED_NO] = "",
		[SIMULATED_YES] = " (SIMULATED GPU: no time is one of hardware)",
	};
	struct view_options options = { .verb = "compare", .two = true };
	struct rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		errx(EXIT_FAILURE, "out of memory");
	view_options_parse(argc, argv, "s:JCh", usage, &options);
	sums_read(&rows->sums[0], &options, options.dir);
	sums_read(&rows->sums[1], &options, options.other);
	rows_make(rows);
	if (rows->sums[0].simulated != rows->sums[1].simulated &&
	    (rows->sums[0].simulated == SIMULATED_YES || rows->sums[1].simulated == SIMULATED_YES))
		warnx("only %s is known to be of a simulated GPU: their times cannot be compared",
		      rows->sums[0].simulated == SIMULATED_YES ? "A" : "B");
	if (options.json) {
		print_json(rows, &options);
	} else {
		if (!options.csv)
			printf("A: %s%s\nB: %s%s\n\n", options.dir, notes[rows->sums[0].simulated],
			       options.other, notes[rows->sums[1].simulated]);
		table_print(columns, sizeof(columns) / sizeof(*columns), rows->nr, cell, rows,
			    options.csv);
	}
	free(rows);
	return stdout_check(EXIT_SUCCESS);
}
