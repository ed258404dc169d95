// SPDX-License-Identifier: GPL-2.0
/*
 * ROCm's log joined to the queues of a recording: find.c finds the queue of a line, repeats.c lines that are there twice.
 *
 * A log may have its lines in any order: newest first, or shuffled.  The times of the lines decide what is first
 * and last, never their order.
 */
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "joiner.h"

static void thread_remember(struct joiner *joiner, const struct amdlog_entry *entry)
{
	unsigned int i;

	for (i = 0; i < MAX_THREADS; i++)
		if (joiner->thread[i].ts && joiner->thread[i].tid == entry->tid &&
		    joiner->thread[i].pid == entry->pid)
			break;
	if (i == MAX_THREADS) {
		i = joiner->next_thread;
		joiner->forgot |= joiner->thread[i].ts != 0;
		joiner->next_thread = (i + 1) % MAX_THREADS;
	}
	joiner->thread[i].tid = entry->tid;
	joiner->thread[i].pid = entry->pid;
	joiner->thread[i].ts = entry->ts;
}

static uint64_t thread_recall(const struct joiner *joiner, const struct amdlog_entry *entry)
{
	unsigned int i;

	for (i = 0; i < MAX_THREADS; i++)
		if (joiner->thread[i].ts && joiner->thread[i].tid == entry->tid &&
		    joiner->thread[i].pid == entry->pid)
			return joiner->thread[i].ts;
	return 0;
}

/* The name of the queue is that of its earliest line. */
static void path_join(struct joiner *joiner, const struct found *found, const struct amdlog_entry *entry)
{
	struct queue_path *path = found->path;

	if (!path->hwq)
		joiner->paths->joined += path->shown;
	else if (entry->ts > path->named || (entry->ts == path->named && found->by_object))
		return;
	path->hwq = entry->v[LOG_HWQ];
	path->by_object = found->by_object;
	path->named = entry->ts;
}

static void first(uint64_t *at, uint64_t ts)
{
	if (!*at || ts < *at)
		*at = ts;
}

/* The earliest line while the queue lives, or else the earliest.  A queue is created once. */
static void created_take(struct joiner *joiner, const struct found *found, const struct amdlog_entry *entry)
{
	struct queue_path *path = found->path;

	if (found->lives && path->created_alive && path->queue->created_seen)
		path->created_again |= path->ts[STEP_CREATED] != entry->ts || path->creator_tid != entry->tid;
	if (path->ts[STEP_CREATED] && path->created_alive >= found->lives &&
	    (path->created_alive > found->lives || path->ts[STEP_CREATED] <= entry->ts))
		return;
	path->created_alive = found->lives;
	path->ts[STEP_CREATED] = entry->ts;
	path->ts[STEP_ALLOCATING] = thread_recall(joiner, entry);
	path->creator_pid = entry->pid;
	path->creator_tid = entry->tid;
}

static void path_take(struct joiner *joiner, const struct found *found, const struct amdlog_entry *entry)
{
	struct queue_path *path = found->path;

	path_join(joiner, found, entry);
	if (found->lives)
		joiner->paths->placed += path->shown;
	else
		joiner->paths->misplaced += path->shown;
	if (entry->kind == AMDLOG_CREATED)
		created_take(joiner, found, entry);
	if (!found->lives)
		return;
	switch (entry->kind) {
	case AMDLOG_ACQUIRED:
		first(&path->ts[STEP_ACQUIRED], entry->ts);
		break;
	case AMDLOG_DISPATCH:
		path->dispatches++;
		first(&path->ts[STEP_DISPATCH], entry->ts);
		if (entry->ts > path->ts[STEP_LAST_DISPATCH])
			path->ts[STEP_LAST_DISPATCH] = entry->ts;
		break;
	default:
		break;
	}
}

static void entry_take(struct joiner *joiner, const struct amdlog_entry *entry)
{
	struct paths *paths = joiner->paths;
	struct found found;

	if (entry->kind == AMDLOG_ALLOCATING || entry->kind == AMDLOG_CREATED) {
		joiner->unsorted |= entry->ts < joiner->newest;
		if (entry->ts > joiner->newest)
			joiner->newest = entry->ts;
	}
	if (entry->kind == AMDLOG_ALLOCATING) {
		thread_remember(joiner, entry);
		return;
	}
	if (!(entry->has & 1U << LOG_HWQ))
		return;
	if (entry->kind == AMDLOG_DISPATCH)
		repeats_take(&joiner->repeats, entry);
	paths->pidless += entry->pid < 0;
	found = path_find(joiner, entry);
	if (found.path && found.other >= 0) {
		if (!paths->ambiguous++) {
			paths->ambiguous_pids[0] = found.path->queue->client->process->pid;
			paths->ambiguous_pids[1] = found.other;
		}
		return;
	}
	if (found.path)
		path_take(joiner, &found, entry);
	else
		stranger_note(joiner, entry);
}

/* A thread looks for a queue before it makes one: the latest such line before the creation counts. */
static void allocation_take(struct paths *paths, const struct amdlog_entry *entry)
{
	size_t i;

	for (i = 0; i < paths->nr; i++) {
		struct queue_path *path = &paths->path[i];

		if (path->ts[STEP_CREATED] && path->creator_pid == entry->pid && path->creator_tid == entry->tid &&
		    entry->ts <= path->ts[STEP_CREATED] && entry->ts > path->ts[STEP_ALLOCATING])
			path->ts[STEP_ALLOCATING] = entry->ts;
	}
}

/* Read the logs again for the searches, where one pass cannot find them: memory does not grow with the log. */
static void allocations_read(struct paths *paths, const struct log_names *names)
{
	struct amdlog *log = malloc(sizeof(*log));
	struct amdlog_entry entry;
	size_t i;
	int ret;

	if (!log)
		errx(EXIT_FAILURE, "out of memory");
	for (i = 0; i < paths->nr; i++)
		paths->path[i].ts[STEP_ALLOCATING] = 0;
	amdlog_init(log);
	for (i = 0; i < names->nr; i++) {
		FILE *file = log_open(names->name[i].path);

		amdlog_file(log, file, names->name[i].pid);
		while ((ret = amdlog_next(log, &entry)) > 0)
			if (entry.kind == AMDLOG_ALLOCATING)
				allocation_take(paths, &entry);
		if (ret)
			errx(EXIT_FAILURE, "%s: %s", names->name[i].path, strerror(-ret));
		fclose(file);
	}
	free(log);
}

/*
 * What is known when all lines are: how long after the creation its line is; one dispatch is the first, not the last.
 * Other lines than that of the creation may be much later, which says nothing about the clock.
 */
static void paths_end(struct paths *paths)
{
	size_t i;

	for (i = 0; i < paths->nr; i++) {
		struct queue_path *path = &paths->path[i];
		int64_t gap;

		if (path->dispatches < 2)
			path->ts[STEP_LAST_DISPATCH] = 0;
		if (!path->hwq || !path->shown)
			continue;
		paths->created_again += path->created_again;
		if (!path->ts[STEP_CREATED])
			paths->uncreated++;
		if (!path->ts[STEP_CREATED] || !path->queue->created_seen)
			continue;
		gap = path->ts[STEP_CREATED] - path->queue->created;
		if (gap < 0 && gap > -LINE_UNIT_NS)
			gap = 0;
		if (!paths->timed || gap < paths->min_gap)
			paths->min_gap = gap;
		if (!paths->timed || gap > paths->max_gap)
			paths->max_gap = gap;
		paths->timed++;
	}
}

static void log_read(struct joiner *joiner, const char *name, int32_t pid)
{
	struct amdlog *log = joiner->paths->log;
	struct amdlog_entry entry;
	FILE *file = log_open(name);
	struct amdlog before = { .lines = log->lines, .headed = log->headed, .dispatches = log->dispatches,
				 .orphans = log->orphans, .cut_off = log->cut_off, .cut = log->cut,
				 .partial = log->partial, .shortened = log->shortened };
	int ret;

	amdlog_file(log, file, pid);
	while ((ret = amdlog_next(log, &entry)) > 0)
		entry_take(joiner, &entry);
	if (ret)
		errx(EXIT_FAILURE, "%s: %s", name, strerror(-ret));
	fclose(file);
	log_warn(log, name, &before);
}

/* Read the logs that there are: a recording without one is a recording all the same. */
static void logs_read(struct paths *paths, const struct view *view)
{
	struct joiner joiner = { .paths = paths, .view = view, .repeats.limit = UINT64_MAX };
	const char *clock = trace_clock(view->file);
	struct log_names names;
	size_t i;

	log_names_find(&names, view);
	if (names.nr && !trace_clock_is_log(view->file)) {
		warnx("%s: ROCm's log is not read: its clock is mono, that of the recording is %s",
		      view->options->dir, clock ? clock : "unknown");
		paths->unread = true;
		log_names_free(&names);
		return;
	}
	if (names.nr) {
		paths->log = malloc(sizeof(*paths->log));
		if (!paths->log)
			errx(EXIT_FAILURE, "out of memory");
		amdlog_init(paths->log);
	}
	for (i = 0; i < names.nr; i++)
		log_read(&joiner, names.name[i].path, names.name[i].pid);
	if (joiner.unsorted || joiner.forgot)
		allocations_read(paths, &names);
	paths_end(paths);
	strangers_end(&joiner);
	repeats_end(&joiner.repeats, paths);
	log_names_free(&names);
}

/**
 * paths_make() - read the logs and join them; does not return if that fails
 * @paths: filled in, to be freed with paths_free()
 * @view: the recording, read
 */
void paths_make(struct paths *paths, const struct view *view)
{
	size_t i;

	memset(paths, 0, sizeof(*paths));
	paths->path = calloc(view->model.nr_queues + 1, sizeof(*paths->path));
	if (!paths->path)
		errx(EXIT_FAILURE, "out of memory");
	for (i = 0; i < view->model.nr_queues; i++) {
		const struct queue *queue = view->model.queues[i];
		struct queue_path *path;

		/* those that are not asked for have lines, too */
		path = &paths->path[paths->nr++];
		path->queue = queue;
		path->shown = view_shows(view, queue->client);
		path->ts[STEP_IOCTL] = queue->asked;
		path->ts[STEP_CREATE] = queue->created;
		path->ts[STEP_INIT_MQD] = queue->mqd_init;
		path->ts[STEP_MAP] = queue->first_map;
		path->ts[STEP_DESTROY] = queue->destroyed;
	}
	logs_read(paths, view);
}

/**
 * paths_free() - free what paths_make() allocated
 * @paths: the paths
 */
void paths_free(struct paths *paths)
{
	free(paths->path);
	free(paths->log);
}
