// SPDX-License-Identifier: GPL-2.0
/*
 * A frame: what each process got of each GPU since the frame before.
 *
 * Times and counts of preemption and throttling are those of the driver, as long as it lists
 * the process; the events tell the rest, and all of a process that has ended.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live.h"

static int events_read(struct live *live, uint64_t until, char *why)
{
	int ret = live_events_read(&live->events, &live->model, until);

	if (ret == -ENODEV)
		snprintf(why, RECORD_WHY, "the driver was unloaded, and the probes with it");
	else if (ret)
		snprintf(why, RECORD_WHY, "cannot read the events: %s", strerror(-ret));
	return ret;
}

/**
 * live_drain() - take in the events so far
 * @live: begun
 * @why: on failure, what is wrong; RECORD_WHY bytes
 *
 * Return: 0 or -errno.
 */
int live_drain(struct live *live, char *why)
{
	return live->events.open ? events_read(live, record_now(), why) : 0;
}

static void counts_of_client(struct live_counts *counts, const struct client *client, uint64_t ts)
{
	counts->any_ns = client->any_ns;
	counts->told_ns = client->preempted_ns;
	if (client->mapped_queues && ts > client->any_since)
		counts->any_ns += ts - client->any_since;
	if (client->preempted && ts > client->preempted_since)
		counts->told_ns += ts - client->preempted_since;
	counts->told_suffered = client->preemptions;
	counts->told_caused = client->preempting;
	counts->told_throttled_ns = client->throttled_ns;
	if (client->throttled && ts > client->throttling.from)
		counts->told_throttled_ns += ts - client->throttling.from;
	counts->told_throttles = client->throttle_count;
}

static const struct client *client_find(const struct live *live, uint32_t gpu_id, pid_t pid)
{
	const struct client *client;
	const struct gpu *gpu;

	for (gpu = live->model.gpus; gpu; gpu = gpu->next)
		if (gpu->gpu_id == gpu_id)
			for (client = gpu->clients; client; client = client->next)
				if (client->process->pid == pid)
					return client;
	return NULL;
}

static const struct live_counts *last_find(const struct live *live, uint32_t gpu_id, pid_t pid)
{
	size_t i;

	for (i = 0; i < live->nr_last; i++)
		if (live->last[i].gpu_id == gpu_id && live->last[i].pid == pid)
			return &live->last[i];
	return NULL;
}

static bool listed(void *context, int32_t pid)
{
	const struct live *live = context;
	size_t i;

	for (i = 0; i < live->nr_list; i++)
		if (live->list[i].pid == pid)
			return true;
	return false;
}

static bool gone(void *context, int32_t pid)
{
	return !listed(context, pid);
}

/* Percent.  Nothing is known of a frame that has not lasted. */
static double part(uint64_t now, uint64_t before, uint64_t span)
{
	double value = now > before ? now - before : 0;

	if (!span)
		return -1;
	return value > span ? 100 : 100 * value / span;
}

static double rate(uint64_t now, uint64_t before, uint64_t span)
{
	if (!span)
		return -1;
	return now > before ? (now - before) * 1e9 / span : 0;
}

static void name_read(struct live *live, struct live_row *row)
{
	struct proc_info info;

	if (proc_read(row->pid, &info))
		*row->command = '\0';
	else
		snprintf(row->command, sizeof(row->command), "%s", info.comm);
	container_of(&live->containers, row->pid, &row->container);
}

/*
 * The counters are read after the events: of a process that preempts by now, the last event may be the end of the
 * preemption before, whose reason (IDLE) is not that of this one.
 */
static void reason_fill(struct live_row *row, const struct client *client)
{
	const struct gpu *gpu = client->gpu;

	if (row->state == KFD_STATE_PREEMPTING && !(gpu->preempting && gpu->begin.pid == row->pid))
		return;
	row->reason = client->last_reason ? kfd_reason_name(client->last_reason) : NULL;
	row->by = client->last_by;
}

static void throttled_fill(struct live *live, struct live_row *row, const struct live_counts *now,
			   const struct live_counts *last, const struct client *client)
{
	const char *reason = client && client->throttle_count ?
			     kfd_throttle_text(client->throttling.reason, row->throttle_reason) : NULL;

	if (reason && reason != row->throttle_reason)
		snprintf(row->throttle_reason, sizeof(row->throttle_reason), "%s", reason);
	if (!now->listed) {
		row->throttled = part(now->told_throttled_ns, last->told_throttled_ns, live->span_ns);
		row->throttles = rate(now->told_throttles, last->told_throttles, live->span_ns);
	} else if (live->stock || live->dev.version.features & KFD_PRIO_FEATURE_SHARES) {
		row->throttled = part(now->throttled_ns, last->throttled_ns, live->span_ns);
		row->throttles = rate(now->throttles, last->throttles, live->span_ns);
	} else {
		/* the driver has no groups */
		row->throttled = row->throttles = -1;
	}
}

static void row_fill(struct live *live, struct live_row *row, const struct live_counts *now,
		     const struct client *client)
{
	static const struct live_counts none;
	const struct live_counts *last = last_find(live, now->gpu_id, now->pid);

	last = last ? last : &none;
	row->pid = now->pid;
	row->gpu_id = now->gpu_id;
	row->mapped = live->events.open ? part(now->any_ns, last->any_ns, live->span_ns) : -1;
	if (now->listed && !live->stock && !(live->dev.version.features & KFD_PRIO_FEATURE_PREEMPT)) {
		/* the driver does not count preemptions */
		row->preempted = -1;
		row->suffered = -1;
		row->caused = -1;
	} else if (now->listed) {
		row->preempted = part(now->preempted_ns, last->preempted_ns, live->span_ns);
		row->suffered = rate(now->suffered, last->suffered, live->span_ns);
		row->caused = rate(now->caused, last->caused, live->span_ns);
	} else {
		row->preempted = part(now->told_ns, last->told_ns, live->span_ns);
		row->suffered = rate(now->told_suffered, last->told_suffered, live->span_ns);
		row->caused = rate(now->told_caused, last->told_caused, live->span_ns);
	}
	throttled_fill(live, row, now, last, client);
	if (client && client->last_by)
		reason_fill(row, client);
	name_read(live, row);
}

static void row_listed(struct live *live, struct live_row *row, struct live_counts *now,
		       const struct kfd_prio_list_entry *entry)
{
	const struct client *client = client_find(live, entry->gpu_id, entry->pid);

	now->pid = entry->pid;
	now->gpu_id = entry->gpu_id;
	now->listed = true;
	now->preempted_ns = entry->preempted_ns;
	now->suffered = entry->preempted_count;
	now->caused = entry->preempting_count;
	now->throttled_ns = entry->throttled_ns;
	now->throttles = entry->throttled_count;
	if (client)
		counts_of_client(now, client, live->ts);
	row->priority = entry->priority;
	row->effective = entry->effective;
	row->queues = entry->nr_queues;
	row->active = entry->nr_active;
	row->state = kfd_state(entry);
	row_fill(live, row, now, client);
	if (live->stock)
		live_stock_row(row, client);
}

/* It has ended, and so is shown once more; or it came after the driver made its list. */
static void row_unlisted(struct live *live, struct live_row *row, struct live_counts *now,
		      const struct client *client)
{
	now->pid = client->process->pid;
	now->gpu_id = client->gpu->gpu_id;
	counts_of_client(now, client, live->ts);
	row->priority = client->process->prio;
	row->effective = KFD_PRIO_UNSET;
	row->queues = client->live;
	row->active = client->mapped_queues;
	row->state = row->active ? KFD_STATE_ACTIVE : row->queues ? KFD_STATE_INACTIVE : KFD_STATE_ENDED;
	row_fill(live, row, now, client);
	if (live->stock)
		live_stock_row(row, client);
}

/* The names of those that have ended are those of the frame before. */
static void names_keep(struct live_row *rows, size_t nr, const struct live_row *before,
		       size_t nr_before)
{
	size_t i, j;

	for (i = 0; i < nr; i++) {
		if (rows[i].state != KFD_STATE_ENDED)
			continue;
		*rows[i].command = '\0';
		rows[i].container = (struct container){ .place.length = 0 };
		for (j = 0; j < nr_before; j++)
			if (before[j].pid == rows[i].pid) {
				memcpy(rows[i].command, before[j].command, sizeof(rows[i].command));
				rows[i].container = before[j].container;
			}
	}
}

/**
 * live_rows() - the rows of the processes that are there, and of those that have ended in between
 * @live: its list is of now
 * @why: on failure, what is wrong; RECORD_WHY bytes
 *
 * Return: 0 or -ENOMEM.
 */
int live_rows(struct live *live, char *why)
{
	size_t room = live->nr_list, nr = 0, i;
	struct live_counts *counts;
	const struct client *client;
	const struct gpu *gpu;
	struct live_row *rows;

	for (gpu = live->model.gpus; gpu; gpu = gpu->next)
		for (client = gpu->clients; client; client = client->next)
			room++;
	rows = calloc(room + 1, sizeof(*rows));
	counts = calloc(room + 1, sizeof(*counts));
	if (!rows || !counts) {
		free(rows);
		free(counts);
		return live_oom(why);
	}
	for (i = 0; i < live->nr_list; i++)
		if (live->list[i].gpu_id) {
			row_listed(live, &rows[nr], &counts[nr], &live->list[i]);
			nr++;
		}
	for (gpu = live->model.gpus; gpu; gpu = gpu->next)
		for (client = gpu->clients; client; client = client->next)
			if (!listed(live, client->process->pid)) {
				row_unlisted(live, &rows[nr], &counts[nr], client);
				nr++;
			}
	names_keep(rows, nr, live->rows, live->nr_rows);
	free(live->rows);
	free(live->last);
	live->rows = rows;
	live->last = counts;
	live->nr_last = live->nr_rows = nr;
	return 0;
}

static void rows_filter(struct live *live)
{
	size_t i, nr = 0;

	for (i = 0; i < live->nr_rows; i++)
		if (pids_have(&live->options->pids, live->rows[i].pid))
			live->rows[nr++] = live->rows[i];
	live->nr_rows = nr;
}

/**
 * live_frame() - make the rows of the time since the last frame
 * @live: begun
 * @why: on failure, what is wrong; RECORD_WHY bytes
 *
 * Return: 0 or -errno.
 */
int live_frame(struct live *live, char *why)
{
	uint64_t before = live->ts, lost;
	int ret;

	ret = live_list(live, why);
	if (ret)
		return ret;
	live->ts = record_now();
	live->span_ns = live->ts - before;
	if (live->events.open) {
		ret = events_read(live, live->ts, why);
		if (ret)
			return ret;
	}
	live->event_rate = rate(live->events.all, live->seen, live->span_ns);
	live->seen = live->events.all;
	ret = live_rows(live, why);
	if (ret)
		return ret;
	rows_filter(live);
	live_rows_sort(live, live->options->sort, false);
	model_prune(&live->model, gone, live);
	if (!live->events.open)
		return 0;
	lost = live_events_lost(&live->events);
	if (lost != live->lost &&
	    live_sync(live, live->model.last > live->ts ? live->model.last : live->ts))
		return live_oom(why);
	live->lost = lost;
	return 0;
}

/* More first, but for PIDs. */
static int compare_by(const struct live_row *a, const struct live_row *b, enum live_column sort)
{
	int left, right;

	switch (sort) {
	case LIVE_PRIORITY:
		left = a->priority != KFD_PRIO_UNSET ? a->priority : a->effective;
		right = b->priority != KFD_PRIO_UNSET ? b->priority : b->effective;
		return (left < right) - (left > right);
	case LIVE_MAPPED:
		return (a->mapped < b->mapped) - (a->mapped > b->mapped);
	case LIVE_PREEMPTED:
		return (a->preempted < b->preempted) - (a->preempted > b->preempted);
	case LIVE_PREEMPTED_RATE:
		return (a->suffered < b->suffered) - (a->suffered > b->suffered);
	case LIVE_PREEMPTING_RATE:
		return (a->caused < b->caused) - (a->caused > b->caused);
	default:
		return 0;
	}
}

struct order {
	enum live_column sort;
	bool reverse;
};

static int row_compare(const void *left, const void *right, void *context)
{
	const struct live_row *a = left, *b = right;
	const struct order *order = context;
	int ret = compare_by(a, b, order->sort);

	if (!ret)
		ret = (a->pid > b->pid) - (a->pid < b->pid);
	if (!ret)
		ret = (a->gpu_id > b->gpu_id) - (a->gpu_id < b->gpu_id);
	return order->reverse ? -ret : ret;
}

/**
 * live_rows_sort() - put the rows in order
 * @live: with a frame
 * @sort: by what; then by PID
 * @reverse: the other way round
 */
void live_rows_sort(struct live *live, enum live_column sort, bool reverse)
{
	struct order order = { .sort = sort, .reverse = reverse };

	if (live->nr_rows)
		qsort_r(live->rows, live->nr_rows, sizeof(*live->rows), row_compare, &order);
}
