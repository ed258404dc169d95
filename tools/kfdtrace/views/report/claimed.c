// SPDX-License-Identifier: GPL-2.0
/* Whether queues had work, as their processes claim: what record --mqd has sampled. */
#include <inttypes.h>
#include <stdlib.h>

#include "message.h"
#include "report.h"
#include "views/common/claimed.h"

#define MAX_LINES 50 /* --json has all */

/* The queues of a process are printed in their order, not in that of their addresses. */
static int index_compare(const void *left, const void *right)
{
	const struct claim *a = left, *b = right;

	if (a->gpu_id != b->gpu_id)
		return a->gpu_id < b->gpu_id ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

static void claims_ordered(struct claims *claims, const struct view *view)
{
	claims_read(claims, view);
	view_meta_warn(view, "claimed_work", claims->damaged);
	qsort(claims->list, claims->nr, sizeof(*claims->list), index_compare);
}

static void print_claim(const struct claim *claim)
{
	char first[32], last[32];

	if (claim->queue)
		printf("    queue %u: ", claim->queue->queue_id);
	else
		printf("    compute queue number %" PRId64 ", queue ID -: ", claim->index);
	if (claim->work < 0) {
		printf("claimed work in - of %" PRId64 " samples, all unknown\n", claim->samples);
		return;
	}
	printf("claimed work in %" PRId64 " of %" PRId64 " samples", claim->work, claim->samples - claim->unknown);
	if (claim->unknown)
		printf(", %" PRId64 " more unknown", claim->unknown);
	if (claim->work) {
		text_time(first, sizeof(first), claim->first_work, list_zero_ns);
		text_time(last, sizeof(last), claim->last_work, list_zero_ns);
		printf("; between %s and %s", first, last);
	}
	putchar('\n');
}

/**
 * claims_print() - as text
 * @view: the recording; nothing if it was made without --mqd
 */
void claims_print(const struct view *view)
{
	struct claims claims;
	size_t i;

	if (!claims_known(view))
		return;
	claims_ordered(&claims, view);
	puts("\nWork that processes claim to have: samples of indices of queues in their own memory");
	for (i = 0; i < claims.nr && i < MAX_LINES; i++) {
		const struct claim *claim = &claims.list[i];

		if (!i || claim->pid != claim[-1].pid || claim->gpu_id != claim[-1].gpu_id) {
			char *name = text_printable(view_command(view, claim->pid));

			printf("  process %" PRId64 " (%s) on GPU %" PRId64 "\n", claim->pid, name ? name : "?",
			       claim->gpu_id);
			free(name);
		}
		print_claim(claim);
	}
	if (!claims.nr)
		puts("  none was sampled");
	if (i < claims.nr)
		printf("  and %zu more queues: see --json\n", claims.nr - i);
	claims_free(&claims);
}

/**
 * claims_json() - a member of the document
 * @view: the recording; null if it was made without --mqd
 */
void claims_json(const struct view *view)
{
	struct claims claims;
	size_t i;

	if (!claims_known(view)) {
		json_null("claimed_work");
		return;
	}
	claims_ordered(&claims, view);
	json_open("claimed_work", '[');
	for (i = 0; i < claims.nr; i++) {
		const struct claim *claim = &claims.list[i];

		json_open(NULL, '{');
		json_number("gpu_id", claim->gpu_id);
		json_number("pid", claim->pid);
		json_known_number("queue_id", claim->queue, claim->queue ? claim->queue->queue_id : 0);
		json_number("compute_queue_index", claim->index);
		json_number("claimed_sample_count", claim->samples);
		json_number("claimed_unknown_count", claim->unknown);
		json_known_number("claimed_work_count", claim->work >= 0, claim->work);
		json_number("claimed_first_sample_ts_ns", claim->first);
		json_number("claimed_last_sample_ts_ns", claim->last);
		json_known_number("claimed_work_first_ts_ns", claim->work > 0, claim->first_work);
		json_known_number("claimed_work_last_ts_ns", claim->work > 0, claim->last_work);
		json_close('}');
	}
	json_close(']');
	claims_free(&claims);
}
