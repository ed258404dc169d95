// SPDX-License-Identifier: GPL-2.0
/*
 * kfdtrace live on a driver without events: probes tell what happens, KFD's directories which queues there are.
 * That driver knows no priorities of processes and no preemption.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live.h"
#include "stock/stock.h"
#include "record/write.h"

#define BUFFER_KB 8192 /* of all CPUs; it is emptied at each event */
#define KFD_PROC  "/sys/class/kfd/kfd/proc"

/**
 * struct live_record - an event that is not in the model yet
 * @ts: its time
 * @order: as it came
 * @cpu, @size: of it
 * @data: the event
 */
struct live_record {
	uint64_t ts, order;
	uint32_t cpu, size;
	char data[256];
};

static int keep(void *context, const struct stock_record *record, size_t size)
{
	struct live_events *events = context;
	struct live_record *at;

	if (record->size > sizeof(at->data) || sizeof(*record) + record->size > size)
		return -EPROTO;
	if (events->nr_pending == events->room_pending) {
		size_t room = events->room_pending ? 2 * events->room_pending : 64;

		at = reallocarray(events->pending, room, sizeof(*at));
		if (!at)
			return -ENOMEM;
		events->pending = at;
		events->room_pending = room;
	}
	at = &events->pending[events->nr_pending];
	*at = (struct live_record){ .ts = record->ts, .order = events->nr_pending++, .cpu = record->cpu,
				    .size = record->size };
	memcpy(at->data, record + 1, record->size);
	return 0;
}

static int formats_make(struct live_events *events)
{
	struct trace_texts *texts = record_texts();
	unsigned int i;
	int ret = 0;

	events->tep = tep_alloc();
	tep_set_loglevel(TEP_LOG_NONE);
	for (i = 0; texts && events->tep && i < texts->nr && !ret; i++)
		ret = tep_parse_event(events->tep, texts->formats[i], strlen(texts->formats[i]), "kfd");
	if (!texts || !events->tep)
		ret = -ENOMEM;
	if (!ret && kfd_decoder_init(&events->decoder, events->tep) <= 0)
		ret = -EPROTO;
	record_texts_free(texts);
	return ret;
}

/**
 * live_stock_open() - probe the driver, and count from now on
 * @events: all zero; filled in, to be closed with live_events_close() also on failure
 * @btf: of --btf, or NULL
 * @why: on failure, what is wrong; RECORD_WHY bytes
 *
 * Return: 0 or -errno.
 */
int live_stock_open(struct live_events *events, const char *btf, char *why)
{
	struct stock_sink sink = { keep, events };

	events->options = (struct record_options){ .verb = "live" };
	events->rec = (struct recording){ .options = &events->options, .dir_fd = -1 };
	if (record_cpus(&events->rec, why))
		return -ENOMEM;
	if (formats_make(events)) {
		snprintf(why, RECORD_WHY, "cannot make the formats of the events");
		return -EPROTO;
	}
	events->rec.stock = stock_open(btf, BUFFER_KB, &sink, why);
	if (!events->rec.stock)
		return -EIO;
	events->rec.raw_fds[0] = dup(stock_fd(events->rec.stock));
	if (events->rec.raw_fds[0] < 0) {
		snprintf(why, RECORD_WHY, "cannot read the ring buffer: %s", strerror(errno));
		return -errno;
	}
	stock_switch(events->rec.stock, true);
	events->open = true;
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct live_record *a = left, *b = right;

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

/**
 * live_stock_read() - read what there is into a model
 * @events: open
 * @model: where to
 * @until: CLOCK_MONOTONIC, ns; what is later is left for the next time
 *
 * A call is reported when it returns, with the time when it began: the model has a later event by then if two
 * reads are in between, and takes the time of that.
 *
 * Return: 0, -ENODEV if the driver was unloaded, or -errno.
 */
int live_stock_read(struct live_events *events, struct model *model, uint64_t until)
{
	struct kfd_event event;
	size_t i;
	int ret;

	if (stock_gone(events->rec.stock))
		return -ENODEV;
	ret = stock_drain(events->rec.stock);
	if (ret)
		return ret;
	if (events->nr_pending)
		qsort(events->pending, events->nr_pending, sizeof(*events->pending), compare);
	for (i = 0; i < events->nr_pending && events->pending[i].ts <= until; i++) {
		const struct live_record *record = &events->pending[i];

		ret = kfd_decode(&events->decoder, record->data, record->size, &event);
		events->damaged += ret < 0;
		if (ret <= 0)
			continue;
		event.ts = record->ts > model->last ? record->ts : model->last;
		event.cpu = record->cpu;
		if (model_event(model, &event))
			return -ENOMEM;
		events->all++;
	}
	events->nr_pending -= i;
	memmove(events->pending, events->pending + i, events->nr_pending * sizeof(*events->pending));
	for (i = 0; i < events->nr_pending; i++)
		events->pending[i].order = i;
	return 0;
}

/* Of one queue; 0 if it is gone. */
static uint32_t gpu_of(const char *pid, const char *queue)
{
	unsigned int gpu_id = 0;
	char path[768];
	FILE *file;

	snprintf(path, sizeof(path), KFD_PROC "/%s/queues/%s/gpuid", pid, queue);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%u", &gpu_id) != 1)
		gpu_id = 0;
	fclose(file);
	return gpu_id;
}

/* Which of the queues are active, KFD does not say: all, until the next runlist. */
static int queue_add(struct kfd_prio_list_entry **list, size_t *nr, pid_t pid, uint32_t gpu_id)
{
	struct kfd_prio_list_entry *entry;
	size_t i;

	for (i = 0; i < *nr; i++) {
		entry = &(*list)[i];
		if (entry->pid == pid && entry->gpu_id == gpu_id) {
			entry->nr_active = ++entry->nr_queues;
			return 0;
		}
	}
	entry = reallocarray(*list, *nr + 1, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	*list = entry;
	entry[(*nr)++] = (struct kfd_prio_list_entry){ .pid = pid, .gpu_id = gpu_id,
						       .priority = KFD_PRIO_UNSET, .effective = KFD_PRIO_UNSET,
						       .nr_queues = 1, .nr_active = 1 };
	return 0;
}

static int queues_of(const char *pid, struct kfd_prio_list_entry **list, size_t *nr)
{
	struct dirent *queue;
	char path[512];
	uint32_t gpu_id;
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), KFD_PROC "/%s/queues", pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while (!ret && (queue = readdir(dir))) {
		gpu_id = *queue->d_name == '.' ? 0 : gpu_of(pid, queue->d_name);
		if (gpu_id)
			ret = queue_add(list, nr, atoi(pid), gpu_id);
	}
	closedir(dir);
	return ret;
}

/**
 * live_stock_list() - which processes have queues on which GPU
 * @list: out: array of @nr, to be freed with free(3)
 * @nr: out
 *
 * Return: 0 or -ENOMEM.
 */
int live_stock_list(struct kfd_prio_list_entry **list, size_t *nr)
{
	struct dirent *process;
	int ret = 0;
	DIR *dir;

	*list = NULL;
	*nr = 0;
	dir = opendir(KFD_PROC);
	if (!dir)
		return 0;
	while (!ret && (process = readdir(dir)))
		if (*process->d_name >= '1' && *process->d_name <= '9')
			ret = queues_of(process->d_name, list, nr);
	closedir(dir);
	if (ret)
		free(*list);
	return ret;
}

/**
 * live_stock_row() - what a row has from the events, as this driver lists less than ours
 * @row: its queues are counted; the rest is filled in
 * @client: of the model, or NULL
 */
void live_stock_row(struct live_row *row, const struct client *client)
{
	const struct queue *queue;

	row->active = client ? client->mapped_queues : 0;
	row->state = client && client->evicted ? KFD_STATE_EVICTED :
		     row->active	       ? KFD_STATE_ACTIVE :
		     row->queues	       ? KFD_STATE_INACTIVE :
						 KFD_STATE_ENDED;
	row->preempted = row->suffered = row->caused = row->throttled = row->throttles = -1;
	row->effective = KFD_PRIO_UNSET;
	/* not known if one of them is older than the view */
	for (queue = client ? client->queues : NULL; queue; queue = queue->client_next) {
		if (!queue->created_seen) {
			row->effective = KFD_PRIO_UNSET;
			return;
		}
		if (queue->prio > row->effective)
			row->effective = queue->prio;
	}
}
