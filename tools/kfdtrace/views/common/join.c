// SPDX-License-Identifier: GPL-2.0
/*
 * ROCm's log joined to the queues of a recording.
 *
 * What the log calls HWq is the ring of the queue, which is what the kernel is told, too.  HIP 5
 * prints the address of the HSA queue instead: the amd_queue_t of the HSA ABI begins with it and
 * has the write index, whose address the kernel is told, at a fixed place.
 */
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "join.h"

#define WRITE_INDEX  56 /* offset of write_dispatch_id in amd_queue_t, fixed by the HSA ABI */
#define MAX_THREADS  64
#define MAX_UNJOINED 64

/**
 * struct joiner - what is remembered while the log is read
 * @paths: filled in
 * @view: the recording
 * @thread: the last threads that looked for a queue, and when
 * @next_thread: which of them is forgotten first
 * @stranger: names that are no queue of the recording
 * @last: path of the line before, by far the likeliest one
 */
struct joiner {
	struct paths *paths;
	const struct view *view;
	struct {
		uint64_t tid;
		int32_t pid;
		uint64_t ts;
	} thread[MAX_THREADS];
	unsigned int next_thread;
	uint64_t stranger[MAX_UNJOINED];
	struct queue_path *last;
};

/* The log has the PID that the process has for itself. */
static bool pid_fits(const struct joiner *joiner, const struct queue_path *path, int32_t pid)
{
	int known = path->queue->client->process->pid, inner;

	if (pid < 0 || pid == known)
		return true;
	return view_inner_pid(joiner->view, known, &inner) && inner == pid;
}

static bool address_fits(const struct queue_path *path, uint64_t hwq, bool *by_object)
{
	if (!hwq)
		return false;
	/* the first paths->nr have a queue: NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
	if (path->queue->ring_base == hwq) {
		*by_object = false;
		return true;
	}
	*by_object = true;
	return path->queue->wptr == hwq + WRITE_INDEX;
}

/* The address may be used again: the queue that was there at that time. */
static struct queue_path *path_find(struct joiner *joiner, const struct amdlog_entry *entry,
				    bool *by_object)
{
	struct queue_path *path, *best = NULL;
	bool object;
	size_t i;

	path = joiner->last;
	if (path && entry->kind >= AMDLOG_DISPATCH &&
	    address_fits(path, entry->v[LOG_HWQ], by_object) && pid_fits(joiner, path, entry->pid) &&
	    (!path->queue->destroyed || entry->ts <= path->queue->destroyed))
		return path;
	for (i = 0; i < joiner->paths->nr; i++) {
		path = &joiner->paths->path[i];
		if (!address_fits(path, entry->v[LOG_HWQ], &object) ||
		    !pid_fits(joiner, path, entry->pid))
			continue;
		if (best && path->queue->created > entry->ts)
			break;
		best = path;
		*by_object = object;
	}
	joiner->last = best;
	return best;
}

static void thread_remember(struct joiner *joiner, const struct amdlog_entry *entry)
{
	unsigned int i;

	for (i = 0; i < MAX_THREADS; i++)
		if (joiner->thread[i].ts && joiner->thread[i].tid == entry->tid &&
		    joiner->thread[i].pid == entry->pid)
			break;
	if (i == MAX_THREADS) {
		i = joiner->next_thread;
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

static void stranger_note(struct joiner *joiner, uint64_t hwq)
{
	uint64_t i;

	for (i = 0; i < joiner->paths->unjoined; i++)
		if (joiner->stranger[i] == hwq)
			return;
	if (i < MAX_UNJOINED)
		joiner->stranger[joiner->paths->unjoined++] = hwq;
}

static void path_join(struct joiner *joiner, struct queue_path *path,
		      const struct amdlog_entry *entry, bool by_object)
{
	struct paths *paths = joiner->paths;
	int64_t gap = entry->ts - path->queue->created;

	if (path->hwq)
		return;
	path->hwq = entry->v[LOG_HWQ];
	path->by_object = by_object;
	/* The line has microseconds: it may seem to be that much too early. */
	if (gap < 0 && gap > -1000)
		gap = 0;
	if (!paths->joined || gap < paths->min_gap)
		paths->min_gap = gap;
	if (!paths->joined || gap > paths->max_gap)
		paths->max_gap = gap;
	paths->joined++;
}

static void entry_take(struct joiner *joiner, const struct amdlog_entry *entry)
{
	struct queue_path *path;
	bool by_object = false;

	if (entry->kind == AMDLOG_ALLOCATING) {
		thread_remember(joiner, entry);
		return;
	}
	if (!(entry->has & 1U << LOG_HWQ))
		return;
	path = path_find(joiner, entry, &by_object);
	if (!path) {
		stranger_note(joiner, entry->v[LOG_HWQ]);
		return;
	}
	path_join(joiner, path, entry, by_object);
	switch (entry->kind) {
	case AMDLOG_CREATED:
		path->ts[STEP_CREATED] = entry->ts;
		path->ts[STEP_ALLOCATING] = thread_recall(joiner, entry);
		break;
	case AMDLOG_ACQUIRED:
		if (!path->ts[STEP_ACQUIRED])
			path->ts[STEP_ACQUIRED] = entry->ts;
		break;
	case AMDLOG_DISPATCH:
		if (!path->dispatches++)
			path->ts[STEP_DISPATCH] = entry->ts;
		else
			path->ts[STEP_LAST_DISPATCH] = entry->ts;
		break;
	default:
		break;
	}
}

static void log_read(struct joiner *joiner, const char *name, int32_t pid)
{
	struct amdlog *log = joiner->paths->log;
	struct amdlog_entry entry;
	FILE *file = log_open(name);
	struct amdlog before = { .lines = log->lines, .headed = log->headed, .dispatches = log->dispatches };
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
	struct joiner joiner = { .paths = paths, .view = view };
	struct log_names names;
	size_t i;

	log_names_find(&names, view);
	if (names.nr && !trace_clock_is_log(view->file)) {
		warnx("%s: ROCm's log is not read: its clock is mono, that of the recording is %s",
		      view->options->dir, trace_clock(view->file));
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

		if (!view_shows(view, queue->client))
			continue;
		path = &paths->path[paths->nr++];
		path->queue = queue;
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
