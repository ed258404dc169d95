// SPDX-License-Identifier: GPL-2.0
/*
 * record --mqd: how long saves and restores of waves (CWSR) took.  The GPU's firmware writes it into the MQD of each queue,
 * which keeps the last save alone, so that the times are samples.  claimed.c samples whether queues had work.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "claimed.h"
#include "json-out.h"
#include "mqds.h"
#include "record.h"

#define PATH	   "/sys/kernel/debug/kfd/mqds"
#define MAX_SAVES  50000 /* in meta.json */
#define COST_LIMIT 20	 /* reading takes at most one part in so many of the time */

/**
 * struct record_mqd - the samples of a recording
 * @last: the dump before, in which saves are not new
 * @saves: new ones, @nr of them
 * @ts: when each was read
 * @nr, @left_out: how many are here, and were too many
 * @begin, @took: when the last reading began, and how long it took; CLOCK_MONOTONIC, ns
 * @claimed: whether queues had work
 * @damaged: dumps that could not be read
 */
struct record_mqd {
	struct mqds last;
	struct mqd_times *saves;
	uint64_t *ts;
	size_t nr;
	uint64_t left_out, begin, took, damaged;
	struct claimed *claimed;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static int dump(struct mqds *mqds, char *why)
{
	char text[128];
	FILE *file = fopen(PATH, "re");
	int ret;

	*mqds = (struct mqds){ 0 };
	if (!file) {
		ret = -errno;
		snprintf(why, RECORD_WHY, "--mqd: cannot read " PATH ": %s; %s", strerror(-ret),
			 ret == -ENOENT ? "it needs debugfs, and a kernel with CONFIG_DEBUG_FS" : "use sudo kfdtrace record");
		return ret;
	}
	ret = mqds_read(file, mqds, text, sizeof(text));
	fclose(file);
	if (ret)
		snprintf(why, RECORD_WHY, "--mqd: " PATH ", %s", text);
	return ret;
}

static bool same_mqd(const struct mqd_times *a, const struct mqd_times *b)
{
	return a->pid == b->pid && a->gpu_id == b->gpu_id && a->queue == b->queue && a->xcc == b->xcc &&
	       a->wptr == b->wptr;
}

/* Dumps are in the same order, but for queues that come and go. */
static const struct mqd_times *before(const struct mqds *last, const struct mqd_times *now, size_t at)
{
	size_t i;

	if (at < last->nr && same_mqd(&last->times[at], now))
		return &last->times[at];
	for (i = 0; i < last->nr; i++)
		if (same_mqd(&last->times[i], now))
			return &last->times[i];
	return NULL;
}

/* What was saved when it was read last, and is restored now */
static void restored(struct record_mqd *mqd, const struct mqd_times *now)
{
	size_t i;

	for (i = mqd->nr; i-- > 0;)
		if (same_mqd(&mqd->saves[i], now)) {
			if (mqd->saves[i].saved_at == now->saved_at)
				mqd->saves[i] = *now;
			return;
		}
}

/* A save for which there is no room, or no memory, is counted as left out */
static void saves_add(struct record_mqd *mqd, const struct mqd_times *now, uint64_t ts)
{
	struct mqd_times *saves;
	uint64_t *times;

	if (mqd->nr == MAX_SAVES) {
		mqd->left_out++;
		return;
	}
	if (!(mqd->nr & (mqd->nr - 1))) {
		size_t room = mqd->nr ? 2 * mqd->nr : 1;

		saves = reallocarray(mqd->saves, room, sizeof(*saves));
		if (saves)
			mqd->saves = saves;
		times = reallocarray(mqd->ts, room, sizeof(*times));
		if (times)
			mqd->ts = times;
		if (!saves || !times) {
			mqd->left_out++;
			return;
		}
	}
	mqd->saves[mqd->nr] = *now;
	mqd->ts[mqd->nr++] = ts;
}

/* The PIDs of a dump are those of the initial PID namespace. */
static dev_t kfd_device(void)
{
	struct stat status;

	if (!proc_outer_namespace() || stat(KFDLIB_DEVICE, &status) || !S_ISCHR(status.st_mode))
		return 0;
	return status.st_rdev;
}

/**
 * mqd_begin() - saves from now on are new
 * @rec: the recording; does nothing without --mqd
 * @why: on failure, what is wrong; RECORD_WHY bytes
 *
 * Return: 0 or -errno.
 */
int mqd_begin(struct recording *rec, char *why)
{
	int ret;

	if (!rec->options->mqd_ns)
		return 0;
	rec->mqd = calloc(1, sizeof(*rec->mqd));
	if (rec->mqd)
		rec->mqd->claimed = claimed_begin(kfd_device());
	if (!rec->mqd || !rec->mqd->claimed) {
		snprintf(why, RECORD_WHY, "out of memory");
		return -ENOMEM;
	}
	ret = dump(&rec->mqd->last, why);
	/* a queue that goes in between cuts the dump: the next one may be whole */
	return ret == -EINVAL ? 0 : ret;
}

/* When it is time for the next reading */
static bool is_due(const struct recording *rec, uint64_t now)
{
	const struct record_mqd *mqd = rec->mqd;
	uint64_t least = mqd->took * COST_LIMIT;

	return now >= mqd->begin + (least > rec->options->mqd_ns ? least : rec->options->mqd_ns);
}

/**
 * mqd_sample() - read the time stamps and whether queues have work, if it is time to
 * @rec: the recording
 * @last: the recording ends: read them whatever the time
 */
void mqd_sample(struct recording *rec, bool last)
{
	struct record_mqd *mqd = rec->mqd;
	uint64_t begin = now_ns(), ticks = claimed_ticks();
	const struct mqd_times *old;
	char why[RECORD_WHY];
	struct mqds now;
	size_t i;

	if (!mqd)
		return;
	mqd->took += claimed_collect(mqd->claimed);
	if (!last && mqd->begin && !is_due(rec, begin))
		return;
	/* the missing part of a dump may show that a PID is ambiguous */
	if (dump(&now, why))
		mqd->damaged++;
	else if (!last)
		claimed_sample(mqd->claimed, &now, ticks, begin);
	for (i = 0; i < now.nr; i++) {
		if (!now.times[i].saved)
			continue;
		old = before(&mqd->last, &now.times[i], i);
		if (!old || !old->saved || old->saved_at != now.times[i].saved_at)
			saves_add(mqd, &now.times[i], begin);
		else if (now.times[i].restored && !old->restored)
			restored(mqd, &now.times[i]);
	}
	free(mqd->last.times);
	mqd->last = now;
	mqd->begin = begin;
	mqd->took = now_ns() - begin;
}

/**
 * mqd_json() - the members of meta.json
 * @rec: the recording; nothing without --mqd
 */
void mqd_json(const struct recording *rec)
{
	const struct record_mqd *mqd = rec->mqd;
	size_t i;

	if (!mqd)
		return;
	json_count("mqd_interval_ns", rec->options->mqd_ns);
	json_count("left_out_save_count", mqd->left_out);
	json_count("damaged_dump_count", mqd->damaged);
	json_open("saves", '[');
	for (i = 0; i < mqd->nr; i++) {
		const struct mqd_times *t = &mqd->saves[i];

		json_open(NULL, '{');
		json_count("ts_ns", mqd->ts[i]);
		json_count("pid", t->pid);
		json_count("gpu_id", t->gpu_id);
		json_count("compute_queue_index", t->queue);
		json_count("xcc_index", t->xcc);
		json_count("save_ns", t->save_ns);
		json_known_count("save_to_restore_ns", t->restored, t->gap_ns);
		json_known_count("restore_ns", t->restored, t->restore_ns);
		json_close('}');
	}
	json_close(']');
	claimed_json(mqd->claimed);
}

/**
 * mqd_end() - free the samples
 * @rec: the recording
 */
void mqd_end(struct recording *rec)
{
	if (!rec->mqd)
		return;
	claimed_end(rec->mqd->claimed);
	free(rec->mqd->last.times);
	free(rec->mqd->saves);
	free(rec->mqd->ts);
	free(rec->mqd);
	rec->mqd = NULL;
}
