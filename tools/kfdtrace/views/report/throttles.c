// SPDX-License-Identifier: GPL-2.0
/* kfdtrace report: for which reasons processes were throttled. */
#include <inttypes.h>
#include <stdio.h>

#include "kfdlib.h"
#include "report.h"
#include "views/common/throttle.h"

#define MAX_LINES 50 /* --json has all */

/* In which groups a process waited for the turn of another one; of a limit, the text names the group */
static void print_groups(const struct throttle *throttle)
{
	if (throttle->reason == KFD_PRIO_THROTTLE_MAX || throttle->share < 0)
		return;
	if (throttle->share && throttle->cgroup_share)
		printf(", in groups %" PRId64 " and %" PRId64 ",", throttle->share, throttle->cgroup_share);
	else if (throttle->share || throttle->cgroup_share)
		printf(", in group %" PRId64 ",", throttle->share ? throttle->share : throttle->cgroup_share);
	else
		printf(", in no group,");
}

static void print_one(const struct client *client, const struct throttle *throttle)
{
	char text[THROTTLE_TEXT], lasted[32];

	throttle_text(throttle->reason, throttle->share, throttle->cgroup_share, text);
	duration_format(lasted, sizeof(lasted), throttle->ns);
	printf("  %d", client->process->pid);
	print_groups(throttle);
	printf(" %s on GPU %u: %" PRIu64 " times, for %s\n", text, client->gpu->gpu_id, throttle->count, lasted);
}

/**
 * throttles_print() - a line for each process, GPU, reason and groups; nothing if no process was throttled
 * @rows: the processes to show
 */
void throttles_print(const struct client_rows *rows)
{
	const struct throttle *throttle;
	size_t i, lines = 0, more = 0;

	for (i = 0; i < rows->nr; i++)
		for (throttle = rows->clients[i]->throttles; throttle; throttle = throttle->next) {
			/* what the state at the begin had, and an event has completed */
			if (!throttle->count)
				continue;
			if (lines == MAX_LINES) {
				more++;
				continue;
			}
			if (!lines++)
				puts("\nThrottled processes");
			print_one(rows->clients[i], throttle);
		}
	if (more)
		printf("  and %zu more: see --json\n", more);
}

/**
 * throttles_json() - a member "throttled_by" of the document; null if the recording cannot have it
 * @rows: the processes to show
 */
void throttles_json(const struct client_rows *rows)
{
	const struct throttle *throttle;
	size_t i;

	if (!view_knows_throttles(rows->view) && !view_stock(rows->view)) {
		json_null("throttled_by");
		return;
	}
	json_open("throttled_by", '[');
	for (i = 0; i < rows->nr; i++)
		for (throttle = rows->clients[i]->throttles; throttle; throttle = throttle->next) {
			if (!throttle->count)
				continue;
			json_open(NULL, '{');
			json_count("gpu_id", rows->clients[i]->gpu->gpu_id);
			json_number("pid", rows->clients[i]->process->pid);
			throttle_json(throttle->reason, throttle->share, throttle->cgroup_share);
			json_count("throttled_count", throttle->count);
			json_count("throttled_ns", throttle->ns);
			json_close('}');
		}
	json_close(']');
}
