// SPDX-License-Identifier: GPL-2.0
/*
 * ROCm's log joined to the queues of a recording.
 *
 * What the log calls HWq is the ring of the queue, which is what the kernel is told, too.  HIP 5
 * prints the address of the HSA queue instead: the amd_queue_t of the HSA ABI begins with it and
 * has the write index, whose address the kernel is told, at a fixed place.
 *
 * A log may have its lines in any order: newest first, or shuffled.  The times of the lines decide what is first
 * and last, never their order.
 */
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "join.h"

#define WRITE_INDEX  56 /* offset of write_dispatch_id in amd_queue_t, fixed by the HSA ABI */
#define MAX_THREADS  64
#define MAX_UNJOINED 64
#define LINE_UNIT_NS 1000 /* the log has microseconds: a line may seem to be that much too early */

/**
 * struct joiner - what is remembered while the log is read
 * @paths: filled in
 * @view: the recording
 * @thread: the last threads that looked for a queue, and when
 * @next_thread: which of them is forgotten first
 * @stranger: names that are no queue of the recording, and the lowest PID of their lines
 * @forgot: a thread was forgotten
 * @newest: ns, the latest line about the search for a queue or the creation of one
 * @unsorted: a line of these is older than one before it
 * @last: what path_find() has found for the line before
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
	struct {
		uint64_t hwq;
		int32_t pid;
	} stranger[MAX_UNJOINED];
	bool forgot, unsorted;
	uint64_t newest;
	struct {
		struct queue_path *path;
		bool by_object;
		uint64_t hwq, from, to;
		int32_t pid;
	} last;
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

/* Between two bounds, path_find() finds the same. */
static void bound(struct joiner *joiner, uint64_t ts, uint64_t at)
{
	if (at > ts && at < joiner->last.to)
		joiner->last.to = at;
	else if (at <= ts && at > joiner->last.from)
		joiner->last.from = at;
}

/*
 * The address may be used again: the queue that was there at that time, or the newest before, or the first one.  The
 * paths are sorted by creation.
 */
static struct queue_path *path_find(struct joiner *joiner, const struct amdlog_entry *entry,
				    bool *by_object)
{
	uint64_t hwq = entry->v[LOG_HWQ], ts = entry->ts, created, gone;
	struct queue_path *path, *best = NULL;
	bool object, lives = false;
	size_t i;

	if (joiner->last.path && joiner->last.hwq == hwq && joiner->last.pid == entry->pid &&
	    ts >= joiner->last.from && ts < joiner->last.to) {
		*by_object = joiner->last.by_object;
		return joiner->last.path;
	}
	joiner->last.from = 0;
	joiner->last.to = UINT64_MAX;
	for (i = 0; i < joiner->paths->nr; i++) {
		path = &joiner->paths->path[i];
		if (!address_fits(path, hwq, &object) || !pid_fits(joiner, path, entry->pid))
			continue;
		created = path->queue->created > LINE_UNIT_NS ? path->queue->created - LINE_UNIT_NS + 1 : 0;
		gone = path->queue->destroyed ? path->queue->destroyed + 1 : UINT64_MAX;
		bound(joiner, ts, created);
		bound(joiner, ts, gone);
		if (best && (created > ts || (lives && gone <= ts)))
			continue;
		best = path;
		*by_object = object;
		lives = created <= ts && gone > ts;
	}
	joiner->last.path = best;
	joiner->last.by_object = *by_object;
	joiner->last.hwq = hwq;
	joiner->last.pid = entry->pid;
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

static void stranger_note(struct joiner *joiner, const struct amdlog_entry *entry)
{
	uint64_t hwq = entry->v[LOG_HWQ], i;

	for (i = 0; i < joiner->paths->unjoined; i++) {
		if (joiner->stranger[i].hwq != hwq)
			continue;
		if (entry->pid < joiner->stranger[i].pid)
			joiner->stranger[i].pid = entry->pid;
		return;
	}
	if (i == MAX_UNJOINED)
		return;
	joiner->stranger[i].hwq = hwq;
	joiner->stranger[i].pid = entry->pid;
	joiner->paths->unjoined++;
}

/* Names that are in the recording under another PID, in queues that no line of the log names. */
static void strangers_end(const struct joiner *joiner)
{
	struct paths *paths = joiner->paths;
	uint64_t i;
	size_t at;
	bool object;
	int inner;

	for (i = 0; i < paths->unjoined; i++) {
		for (at = 0; at < paths->nr; at++)
			if (!paths->path[at].hwq && address_fits(&paths->path[at], joiner->stranger[i].hwq, &object))
				break;
		if (at == paths->nr)
			continue;
		if (!paths->other_pid++) {
			paths->log_pid = joiner->stranger[i].pid;
			paths->recorded_pid = paths->path[at].queue->client->process->pid;
			paths->pid_mapped = view_inner_pid(joiner->view, paths->recorded_pid, &inner);
		}
	}
}

/* The name of the queue is that of its earliest line. */
static void path_join(struct joiner *joiner, struct queue_path *path,
		      const struct amdlog_entry *entry, bool by_object)
{
	if (!path->hwq)
		joiner->paths->joined++;
	else if (entry->ts > path->named || (entry->ts == path->named && by_object))
		return;
	path->hwq = entry->v[LOG_HWQ];
	path->by_object = by_object;
	path->named = entry->ts;
}

static void first(uint64_t *at, uint64_t ts)
{
	if (!*at || ts < *at)
		*at = ts;
}

static void created_take(struct joiner *joiner, struct queue_path *path, const struct amdlog_entry *entry)
{
	if (path->ts[STEP_CREATED] && path->ts[STEP_CREATED] <= entry->ts)
		return;
	path->ts[STEP_CREATED] = entry->ts;
	path->ts[STEP_ALLOCATING] = thread_recall(joiner, entry);
	path->creator_pid = entry->pid;
	path->creator_tid = entry->tid;
}

static void entry_take(struct joiner *joiner, const struct amdlog_entry *entry)
{
	struct queue_path *path;
	bool by_object = false;

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
	path = path_find(joiner, entry, &by_object);
	if (!path) {
		stranger_note(joiner, entry);
		return;
	}
	path_join(joiner, path, entry, by_object);
	switch (entry->kind) {
	case AMDLOG_CREATED:
		created_take(joiner, path, entry);
		break;
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
		if (!path->hwq)
			continue;
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
				 .orphans = log->orphans, .cut_off = log->cut_off };
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
	if (joiner.unsorted || joiner.forgot)
		allocations_read(paths, &names);
	paths_end(paths);
	strangers_end(&joiner);
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
